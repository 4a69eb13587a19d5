#!/usr/bin/perl
# README opens with two commands, each a line of its own that can be pasted into a shell. .ci/run and
# xt/bare.sh take them from there, as the first two lines that are indented by four blanks.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Test::More;

my $readme = content('README');
my @commands = ($readme =~ /^ {4}(\S.*)$/mg)[0, 1];
is($commands[0], 'sh tools/setup.sh && perl Makefile.PL && make && make demo', 'the first: a report');
is($commands[1], 'sh tools/setup.sh && perl Makefile.PL && make && make test', 'the second: the tests');
cmp_ok(scalar(() = substr($readme, 0, index($readme, $commands[1])) =~ /\n/g), '<', 20, 'both are on the first page');

# Files that the texts send people to are there.
for my $file ('README', 'HACKING') {
    my %named = map { $_ => 1 } content($file) =~ m{(?<![\w/.-])((?:\.ci|bench|bin|examples|fuzz|lib|src|t|tools|xs|xt)/[\w./-]*\w)(?![\w*-])}g;
    delete @named{qw(t/NAME.t t/NN-topic.t t/perf t/perf/run.tmon t/data/log.txt)};    # patterns, and what is the reader's own
    is(join(' ', grep { !-e } sort keys %named), '', "$file: names only what is there");
}
done_testing;
