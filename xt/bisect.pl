#!/usr/bin/perl
# How often dprofdiff --bisect raises a false alarm, and what it finds. Simulates ROUNDS (1,000)
# unchanged histories, and for changes of 5, 10 and 20 % ROUNDS / 5 histories each in which one sub
# becomes slower by that much from some version on; what a store would give is handed to
# Devel::DProf::Store::Bisect. The seeds are fixed, and so is the result. It takes some minutes;
# after `make', type: perl xt/bisect.pl
#
# A history has 12 versions with 10 runs each, and 40 subs, whose costs spread as those of programs
# do: the dearest takes some 15 %, the cheapest less than half a percent. A sub's time varies from
# run to run by 4 % (standard deviation of its logarithm), a run as a whole by 20 %; one value of
# 50 is half as much again (a page that was not there); hosts differ by 3 % per sub.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../blib/lib", "$FindBin::Bin/../blib/arch";
use Devel::DProf::Core;
use Devel::DProf::Store::Bisect;

use constant { VERSIONS => 12, RUNS => 10, SUBS => 40, HOSTS => 5, NOISE => 0.04 };
my $rounds = $ENV{ROUNDS} || 1000;

sub normal { return sqrt(-2 * log(1 - rand)) * cos(6.283185307179586 * rand) }

# Returns runs as Devel::DProf::Store::Bisect keeps them; sub number WHICH takes FACTOR times as
# much from version AT on.
sub history {
    my ($which, $at, $factor) = @_;
    my @cost = map { 1 / ($_ + 5) } 1 .. SUBS;
    my @of_host = map { [map { exp(0.03 * normal()) } 1 .. SUBS] } 1 .. HOSTS;
    my @runs;
    for my $version (0 .. VERSIONS - 1) {
        for my $run (1 .. RUNS) {
            my $speed = exp(0.2 * normal());
            my (%value, $total);
            for my $n (0 .. SUBS - 1) {
                my $cost = $cost[$n] * $speed * $of_host[$run % HOSTS][$n] * exp(NOISE * normal());
                $cost *= 1.5 if rand() < 0.02;
                $cost *= $factor if $n == $which && $version >= $at;
                $total += $value{"sub$n"} = $cost;
            }
            push @runs, { total => $total, value => \%value };
        }
    }
    return @runs;
}

# Returns the changes that are found in runs.
sub found {
    my (@runs) = @_;
    my $bisect = Devel::DProf::Store::Bisect->new(sizes => [(RUNS) x VERSIONS],
        weights => [map { 1 } @runs], names => [0 .. VERSIONS - 1], shown => $runs[0]{value});
    return $bisect->tested({ name => 'cpu', of_run => \@runs });
}

printf "%d versions of %d runs, %d subs; p up to %g\n", VERSIONS, RUNS, SUBS,
    Devel::DProf::Store::Bisect::ALPHA;
srand 1;
my $alarms = grep { scalar found(history(-1, 0, 1)) } 1 .. $rounds;
print "unchanged: an alarm in $alarms of $rounds histories\n";

for my $percent (5, 10, 20) {
    my (%count, $others);
    for my $round (1 .. $rounds / 5) {
        srand 1_000_000 * $percent + $round;
        my ($which, $at) = (int rand SUBS, 1 + int rand VERSIONS - 1);
        my $is_last = $at == VERSIONS - 1 ? 'last' : 'earlier';
        my @all = found(history($which, $at, 1 + $percent / 100));
        my @own = grep { $_->{sub} eq "sub$which" && $_->{after} > $_->{before} } @all;
        $others += @all != @own;
        $count{$is_last}{all}++;
        $count{$is_last}{found}++ if @own;
        $count{$is_last}{place}++ if grep { $_->{at} == $at } @own;
    }
    for my $where (sort keys %count) {
        my ($all, $found, $place) = map { $_ // 0 } @{ $count{$where} }{qw(all found place)};
        printf "%2d %% slower from %s on: found %.0f %%, at the right version %.0f %% of %d\n",
            $percent, $where eq 'last' ? 'the last version' : 'an earlier version',
            100 * $found / $all, 100 * $place / $all, $all;
    }
    print "      other subs in $others of @{[$rounds / 5]} histories\n";
}
