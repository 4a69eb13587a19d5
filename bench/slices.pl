#!/usr/bin/perl
# Measures the cost of a cut between two slices with 500, 5,000 and 50,000 contexts. The program
# enters all contexts, ends the slice, and reads its clocks before and after that.
#     perl bench/slices.pl [--rounds 9]
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(run_side median spread table ours_version scratch top);
use Getopt::Long;

GetOptions('rounds=i' => \(my $rounds = 9)) or exit 2;
print ours_version(), "\n\n";

# 100 subs call each other as a tree of ten branches, so that each call is a context of its own. The
# first slice is left out: it has the start-up.
my $program = scratch() . '/cuts.pl';
open my $out, '>', $program or die "$program: $!\n";
print {$out} <<'BEGIN', (map { "sub s$_ { " . <<'SUB' } 0 .. 99), <<'END';
use strict;
use warnings;
use Devel::DProf::Control;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID CLOCK_MONOTONIC);
my $contexts = shift;
my @clocks = (CLOCK_PROCESS_CPUTIME_ID, CLOCK_MONOTONIC);
my @subs = map { main->can("s$_") } 0 .. 99;
BEGIN
my $first = 10 * $_[0] + 1;
    for ($first .. $first + 9) { $subs[ $_ % 100 ]->($_) if $_ < $contexts }
}
SUB
s0(0);
Devel::DProf::Control::save();
s0(0);
my @before = map { clock_gettime($_) } @clocks;
Devel::DProf::Control::save();
my @after = map { clock_gettime($_) } @clocks;
printf "=%s %.6f\n", (qw(cpu real))[$_], 1e3 * ($after[$_] - $before[$_]) for 0, 1;
END
close $out or die "$program: $!\n";

# Returns the time of the cut, the contexts of the slice, and its bytes.
sub cut {
    my ($contexts) = @_;
    my $spool = scratch() . '/spool';
    my $side = ['DProf, slices', [map({ '-I' . top() . "/blib/$_" } qw(lib arch)),
        "-d:DProf=slice=3600,spool=$spool"], {}];
    my $got = run_side($side, $program, $contexts);
    my @slices = glob "$spool/*";
    my ($second) = grep { /-2\.tree\z/ } @slices or die "$program left no second slice\n";
    open my $in, '<', $second or die "$second: $!\n";
    $got->{contexts} = grep { /^=/ } readline $in;
    $got->{bytes} = -s $in;
    unlink @slices;
    return $got;
}

print "A cut, in ms, medians of $rounds runs; least and most of the CPU time\n";
table(
    ['contexts', 'CPU', 'least', 'most', 'elapsed', 'us a context', 'KB'],
    map {
        my $contexts = $_;
        my @got = map { cut($contexts) } 0 .. $rounds;
        shift @got;     # the first run warms caches
        my @cpu = map { $_->{cpu} } @got;
        [ $got[0]{contexts}, (map { sprintf '%.2f', $_ } median(@cpu), spread(@cpu),
            median(map { $_->{real} } @got), 1e3 * median(@cpu) / $got[0]{contexts}),
            sprintf '%.0f', $got[0]{bytes} / 1e3 ]
    } 500, 5_000, 50_000
);
