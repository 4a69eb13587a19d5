#!/usr/bin/perl
# Measures the cost of samples: the CPU time of whole runs, including the ticking thread.
#     perl bench/sample.pl [--rounds 21] [--fib 30] [--requests 4000] [NAME]
# Runs real programs, a server of Mojolicious under load, and a program of many calls, or only NAME:
# plain, with the profiler loaded but stopped, with 100 and 1,000 samples a second, and under
# Devel::StatProfiler, if DPROF_STATPROFILER names the folder where it was built. Ratios are those
# of the runs of one round; in brackets is the 95 % confidence interval of the median, by the sign
# test. The share of the ticking thread is measured by its own CPU clock. (bench/lines.pl and
# xt/truth-samples.pl measure the truth of samples.)
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(sides rounds programs median table ours_version sign_interval);
use Getopt::Long;

GetOptions('rounds=i' => \(my $rounds = 21), 'fib=i' => \(my $fib = 30),
    'requests=i' => \(my $requests = 4000)) or exit 2;
my ($only) = @ARGV;
print ours_version(), "\n\n";

my @sides = sides('plain', 'DProf, stopped', 'DProf, sample=100', 'DProf, sample=1000',
    'StatProfiler, 100', 'StatProfiler, 1000');
push @{ $_->[1] }, "-I$FindBin::Bin", '-MOtherThreads' for @sides;
print "DPROF_STATPROFILER does not name Devel::StatProfiler, built: not compared\n" if @sides == 4;
my @programs = (programs(), [ "fib($fib)", "$FindBin::Bin/fib.pl", $fib ]);
if (eval { require Mojolicious }) {
    push @programs, [ "Mojolicious, $requests requests", "$FindBin::Bin/mojo.pl", $requests ];
} else {
    print "Mojolicious not found (Debian: libmojolicious-perl)\n";
}
for my $program (grep { !defined $only || $_->[0] =~ /^\Q$only\E/ } @programs) {
    my ($title, @command) = @$program;
    my $all = rounds($rounds, \@sides, @command);
    print "$title: CPU seconds, medians of $rounds interleaved rounds, and ratios\n";
    table([ '', 'CPU s', 'least', 'times plain', '', 'times stopped', '', 'its thread' ],
        map {
            [ row($_->[0], map { $_->{cpu} } @$all{ $_->[0], 'plain', 'DProf, stopped' }),
                of_threads(@{ $all->{ $_->[0] } }{qw(threads cpu)}) ]
        } @sides);
}

# Returns the share of the CPU time that threads other than the program's have.
sub of_threads {
    my ($threads, $cpu) = @_;
    return sprintf '%.2f %%', 100 * median(map { $threads->[$_] / $cpu->[$_] } 0 .. $#$cpu);
}

sub row {
    my ($name, $cpu, @bases) = @_;
    my @sorted = sort { $a <=> $b } @$cpu;
    return ($name, sprintf('%.3f', median(@$cpu)), sprintf('%.3f', $sorted[0]),
        map { my $base = $_; sign_interval(3, map { $cpu->[$_] / $base->[$_] } 0 .. $rounds - 1) }
            @bases);
}
