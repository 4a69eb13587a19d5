#!/usr/bin/perl
# Writes one of the pages that readers are asked about: perl -Mblib xt/comprehension/page.pl NAME
# PAGE.html. NAME is page or page-diff.
use strict;
use warnings;
use Cwd ();
use FindBin;
use lib $FindBin::Bin, "$FindBin::Bin/../../t/lib";

my ($name, $file) = @ARGV == 2 ? ($ARGV[0], Cwd::abs_path($ARGV[1])) : ();
require Texts;                  # goes to a folder of its own
die "usage: page.pl @{[ join '|', Texts::pages() ]} PAGE.html\n"
    if !defined $file || !grep { $_ eq $name } Texts::pages();
Texts::page($name, $file);
