#!/usr/bin/perl
# How often dprofdiff raises a false alarm about sampled profiles, and what it finds. Compares a
# program with itself ROUNDS (10,000) times in each of several ways, and with one that has a slower
# sub ROUNDS / 10 times. The seeds are fixed, and so is the result. It takes hours; with ROUNDS=200
# it takes some minutes. After `make', type: perl xt/sampled.pl
#
# A program has 20 subs, whose costs spread as those of programs do: the dearest takes some 17 % of
# its ten seconds of CPU time. Runs differ by 20 % in speed as a whole, or by 5 % where it says
# "quiet", and each sub by so many percent in its time (standard deviations of the logarithms). The
# baseline is sampled 100 times a second, the other side 1,000 times, so that it has ten times as
# many samples; or both are 250 times.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib", "$FindBin::Bin/../blib/lib", "$FindBin::Bin/../blib/arch";
use DProfTest qw(scratch spew in_process);
use MadeUp;

use constant { SUBS => 20, SECONDS => 10, POOL => 400 };
my $rounds = $ENV{ROUNDS} || 10_000;
my $dir = scratch();
$| = 1;

sub normal { return sqrt(-2 * log(1 - rand)) * cos(6.283185307179586 * rand) }

# How often something happens that is expected so often.
sub poisson {
    my ($mean) = @_;
    if ($mean > 200) {
        my $n = int($mean + sqrt($mean) * normal() + 0.5);
        return $n > 0 ? $n : 0;
    }
    my ($left, $p, $n) = (exp(-$mean), rand, 0);
    while ($p > $left) { $p *= rand; $n++ }
    return $n;
}

my @cost = map { 1 / ($_ + 4) } 1 .. SUBS;
my $all = 0;
$all += $_ for @cost;

# Makes a pool of runs; sub number WHICH takes FACTOR times as much.
sub pool {
    my ($name, $rate, $speeds, $noise, $which, $factor) = @_;
    return [map {
        my $speed = exp($speeds * normal());
        my %subs = map {
            my $time = SECONDS * $cost[$_] / $all * $speed * exp($noise * normal())
                * ($_ == $which ? $factor : 1);
            my $samples = poisson($rate * $time);
            ("s$_" => [$samples, int($samples * 1e6 / $rate)]);
        } 0 .. SUBS - 1;
        spew("$dir/$name.$_", sampled_text($rate, %subs));
    } 1 .. POOL];
}

# Takes runs at random, none of them twice.
sub some_of {
    my ($n, $pool) = @_;
    my %taken;
    $taken{int rand @$pool} = 1 while keys %taken < $n;
    return join ',', map { $pool->[$_] } sort { $a <=> $b } keys %taken;
}

# Returns the subs that are called significant.
sub found {
    my ($runs, $alpha, $old, $new) = @_;
    my $out = in_process('dprofdiff', '--alpha', $alpha, '-t', ',', some_of($runs, $old),
        some_of($runs, $new))->{out};
    return $out =~ /^[^#\n]*,[-+]\d[\d.]*%,[^,\n(~]*,[^,\n]*,A::(s\d+)$/mg;
}

for my $way ([1, 0], [2, 0], [5, 0], [2, 0.1], [3, 0.1], [5, 0.1], [10, 0.1], [1, 0.03]) {
    my ($runs, $noise) = @$way;
    for my $rates ([100, 1000], [250, 250]) {
        srand 1;
        my @pools = map { pool("p$_", $rates->[$_], 0.2, $noise, -1, 1) } 0, 1;
        for my $alpha (0.05, 0.005) {
            my $alarms = grep { scalar found($runs, $alpha, @pools) } 1 .. $rounds;
            printf '%2d a side, subs vary by %2.0f %%, %4d and %4d a second: '
                . "%d alarms of %d at %g\n", $runs, 100 * $noise, @$rates, $alarms, $rounds, $alpha;
        }
    }
}
for my $way ([1, 0, 0.2], [1, 0, 0.05], [5, 0.03, 0.2], [5, 0.03, 0.05], [10, 0.03, 0.2],
    [10, 0.03, 0.05]) {
    my ($runs, $noise, $speeds) = @$way;
    for my $factor (1.2, 1.5, 2) {
        srand 2;
        my $which = 3;
        my @pools = (pool('old', 250, $speeds, $noise, -1, 1),
            pool('new', 250, $speeds, $noise, $which, $factor));
        my ($own, $other) = (0, 0);
        for (1 .. $rounds / 10) {
            my @found = found($runs, 0.005, @pools);
            $own++ if grep { $_ eq "s$which" } @found;
            $other++ if grep { $_ ne "s$which" } @found;
        }
        printf '%2d a side, subs vary by %.0f %%, runs by %.0f %%: +%.0f %% of a sub of %.0f %%'
            . " found in %.1f %%, others in %.1f %%\n", $runs, 100 * $noise, 100 * $speeds,
            100 * ($factor - 1), 100 * $cost[$which] / $all, 1000 * $own / $rounds,
            1000 * $other / $rounds;
    }
}
