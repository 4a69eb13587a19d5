#!/usr/bin/perl
# Measures the cost that counters of events add to a call: perl's own counters are read from memory,
# and the kernel's by one system call for all of them.
#     perl bench/events.pl [--rounds 9] [--n 22]
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(sides rounds median spread table ours_version);
use Getopt::Long;

GetOptions('rounds=i' => \(my $rounds = 9), 'n=i' => \(my $n = 22)) or exit 2;
print ours_version(), "\n\n";

my @sides = sides('plain', 'DProf', 'DProf, tree');
my ($plain, $trace, $tree) = @sides;
my @with;
for my $events ('ops', 'svs', 'bytes', 'page-faults', 'page-faults+context-switches+task-clock',
    'instructions', 'instructions+cycles+cache-misses') {
    for ([ 'trace', $trace ], [ 'tree', $tree ]) {
        my ($mode, $side) = @$_;
        next if $events eq 'ops' && $mode eq 'tree';    # a tree always counts ops
        my (undef, $options, $env) = @$side;
        my %env = (%$env, PERL_DPROF_EVENTS => $events);
        local @ENV{ keys %env } = values %env;
        if (system("$^X @$options -e 1 2>/dev/null") != 0) {
            print "$events: not to be had here, not measured\n" if $mode eq 'trace';
            next;
        }
        push @with, [ "$mode, $events", $options, \%env ];
    }
}
my $all = rounds($rounds, [ @sides, @with ], "$FindBin::Bin/fib.pl", $n);
my $calls = $all->{plain}{calls}[0];
print "fib($n), $calls calls: CPU time in ns that recording adds to a call, medians of $rounds "
    . "interleaved rounds\n";
table(
    [ '', 'added', 'least', 'most' ],
    map {
        my $name = $_->[0];
        my @added = map { ($all->{$name}{cpu}[$_] - $all->{plain}{cpu}[$_]) * 1e9 / $calls }
            0 .. $rounds - 1;
        [ $name, map { sprintf '%.0f', $_ } median(@added), spread(@added) ]
    } @sides[1, 2], @with
);
