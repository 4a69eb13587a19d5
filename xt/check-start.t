#!/usr/bin/perl
# A profiled start costs little: at most 4 % more instructions than a plain one, as bench/start.pl
# counts them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

my $text = qx{$^X bench/start.pl};
plan skip_all => 'valgrind is not installed' if $text =~ /^valgrind is not installed/;
my ($trace, $tree) = $text =~ /^perl -MTest::More -e1 .*? ([\d.]+) % .*? ([\d.]+) %/m;
like($text, qr/^perl -e1 /m, 'bench/start.pl measures') or diag $text;
cmp_ok($trace // 100, '<=', 4, 'a trace makes perl -MTest::More -e1 at most 4 % slower');
cmp_ok($tree // 100, '<=', 4, 'a tree makes perl -MTest::More -e1 at most 4 % slower');
done_testing;
