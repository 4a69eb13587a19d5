#!/usr/bin/perl
# A sample of xt/faults.pl, which takes ten minutes and more as a whole: programs do not notice that
# an allocation or a system call of the recorder fails.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

my $text = qx{$^X xt/faults.pl --step 151};
is($?, 0, 'xt/faults.pl succeeds') or diag $text;
my ($tried) = $text =~ /^(\d+) failures, 0 noticed$/m;
cmp_ok($tried // 0, '>', 40, 'xt/faults.pl tries more than forty failures');
done_testing;
