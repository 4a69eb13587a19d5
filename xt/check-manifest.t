#!/usr/bin/perl
# What a distribution must have, and must not have. (make lists writes MANIFEST.)
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use ExtUtils::Manifest ();
use Test::More;

my $read = ExtUtils::Manifest::maniread();
my @listed = sort keys %$read;
my @never = grep { m{^(?:\.|xt/|blib/|src/build/)} || /\.(?:o|so|bs)$/
    || /^(?:Makefile|DProf\.c)$/ } @listed;
is(join("\n", @never), '', 'MANIFEST lists no built files, and none for the author alone');
my @wanted = grep { !exists $read->{$_} } qw(Makefile.PL DProf.xs README README.md LICENSE
    Changes MANIFEST tools/setup.sh examples/demo.pl lib/Devel/DProf.pm lib/Devel/DProf/Format.pod);
is(join("\n", @wanted), '', 'MANIFEST lists the files that every distribution needs');

done_testing;
