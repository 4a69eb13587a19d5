#!/usr/bin/perl
# Measures real programs, plain and profiled: CPU time of the whole run.
#     perl bench/real.pl [--rounds 9]
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(sides rounds programs median table ours_version);
use Getopt::Long;

GetOptions('rounds=i' => \(my $rounds = 9)) or exit 2;
print ours_version(), "\n\n";

my @sides = sides('plain', 'DProf', 'DProf, tree', 'NYTProf, stmts=0', 'old DProf');
for my $program (programs()) {
    my ($title, @command) = @$program;
    my $all = rounds($rounds, \@sides, @command);
    print "$title: CPU seconds of the whole run, medians of $rounds interleaved rounds\n";
    table(
        [ '', 'CPU s', 'times plain' ],
        map {
            my $cpu = $all->{ $_->[0] }{cpu};
            my @r = map { $cpu->[$_] / $all->{plain}{cpu}[$_] } 0 .. $rounds - 1;
            [ $_->[0], sprintf('%.3f', median(@$cpu)), sprintf('%.2f', median(@r)) ]
        } @sides
    );
}
