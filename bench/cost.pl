#!/usr/bin/perl
# Measures the cost of a call under each profiler.
#     perl bench/cost.pl [--rounds 9] [--n 27]
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(sides rounds median spread table ours_version);
use Getopt::Long;

GetOptions('rounds=i' => \(my $rounds = 9), 'n=i' => \(my $n = 27)) or exit 2;
print ours_version(), "\n\n";

my @sides = sides();
my $all = rounds($rounds, \@sides, "$FindBin::Bin/fib.pl", $n);
my $calls = $all->{plain}{calls}[0];
# Differences are taken round by round, so that both sides ran on the machine in the same state.
my %added;
for my $name (keys %$all) {
    my @v = map { ($all->{$name}{cpu}[$_] - $all->{plain}{cpu}[$_]) * 1e9 / $calls }
        0 .. $rounds - 1;
    $added{$name} = \@v;
}
my $ratio = sub {
    my ($of, $to) = @_;
    return '' unless $added{$of} && $added{$to};
    my @r = map { $added{$to}[$_] > 0 ? $added{$of}[$_] / $added{$to}[$_] : () } 0 .. $rounds - 1;
    return sprintf '%.1f', median(@r);
};
print "fib($n), $calls calls: CPU time a call in ns, medians of $rounds interleaved rounds\n";
table(
    [ '', 'a call', 'added', 'least', 'most', 'DProf is so many times cheaper', 'as a tree',
        'with clock_gettime' ],
    map {
        my $name = $_->[0];
        my ($least, $most) = spread(@{ $added{$name} });
        [   $name, sprintf('%.0f', median(map { $_ * 1e9 / $calls } @{ $all->{$name}{cpu} })),
            $name eq 'plain' ? ('') x 6
            : ( map({ sprintf '%.0f', $_ } median(@{ $added{$name} }), $least, $most),
                $name =~ /^DProf/ ? ('') x 3 : map { $ratio->($name, $_) } 'DProf', 'DProf, tree',
                'DProf, clock_gettime' ) ]
    } @sides
);
