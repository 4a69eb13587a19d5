#!/usr/bin/perl
# What heap=exact costs on top of a tree: a plain statement, one that makes values, and a call. Runs
# with and without it alternate; the medians are printed, in ns.
#
#   perl Makefile.PL && make
#   perl bench/heap.pl [PAIRS]
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib";
use DProfTest;

my $pairs = shift // 5;
my $program = spew(scratch() . '/heap.pl', <<'END');
sub f { my ($x) = @_; my $y = $x + 1; return $y }
sub ns {
    my ($n, $code) = @_;
    my $began = (times)[0];
    $code->();
    return ((times)[0] - $began) / $n * 1e9;
}
my ($x, $i, @kept);
printf "%.2f %.2f %.2f\n",
    ns(10e6, sub { $i = 0; while ($i < 2e6) { $x = $i; $x += 2; $x -= 1; $x = $x; $i++ } }),
    ns(1.8e6, sub { $i = 0; while ($i < 600_000) { $kept[$i & 1023] = { a => $i };
        my @list = ($i, $i, $i); $i++ } }),
    ns(1e6, sub { $i = 0; while ($i < 1e6) { f($i); $i++ } });
END

sub costs { my (@options) = @_;
    return split ' ', profiled([$program], env => { PERL_DPROF_MODE => 'tree', @options })->{out} }

my (@without, @with);
for (1 .. $pairs) {
    my @plain = costs();
    my @exact = costs(PERL_DPROF_HEAP => 'exact');
    push @{ $without[$_] }, $plain[$_] for 0 .. 2;
    push @{ $with[$_] }, $exact[$_] - $plain[$_] for 0 .. 2;
}
my @what = ('a plain statement', 'a statement that makes values', 'a call');
for my $n (0 .. 2) {
    my ($plain, $more) = map { (sort { $a <=> $b } @{ $_->[$n] })[$pairs / 2] } \@without, \@with;
    printf "%-30s %6.1f ns in a tree, %+5.1f ns with heap=exact\n", $what[$n], $plain, $more;
}
