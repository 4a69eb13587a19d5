# dprofreport beside dprofpp, in one go: a trace of 10 million marks (MARKS), and a tree of 100,000 contexts.
# User and system seconds, the best of 5 runs (RUNS).
use strict;
use warnings;
use File::Temp ();
use FindBin ();

my $root = "$FindBin::Bin/..";
my $marks = $ENV{MARKS} || 10_000_000;
my $dir = File::Temp->newdir;

system($ENV{CC} || 'cc', '-O2', '-o', "$dir/gen", "$root/bench/gen-marks.c") == 0 or die "no C compiler\n";
system("$dir/gen $marks > $dir/trace.out") == 0 or die "gen-marks failed\n";
tree("$dir/tree.out", 100_000, 2000);

sub tree {
    my ($path, $contexts, $subs) = @_;
    srand 1;
    open my $out, '>', $path or die "$path: $!";
    print {$out} "#fOrTyTwO\n\$hz=10000000;\n\$dprof_format='tree 1'; \$dprof_complete=1;\n\nPART3\n";
    printf {$out} "& %x P%d s%d f.pl:%d\n", $_, $_ % 50, $_, $_ for 1 .. $subs;
    print {$out} "= 0 0 1 10 0 10 0 0\n";
    my $depth = 0;
    for (2 .. $contexts) {
        $depth = 1 + int rand($depth < 40 ? $depth + 1 : 40);
        my $ticks = int rand 1000;
        printf {$out} "= %d %x %d %d 0 %d 10 1\n", $depth, 1 + int rand $subs, 1 + int rand 100, $ticks, $ticks;
    }
    close $out or die "$path: $!";
}

sub seconds {
    my @command = @_;
    my $best;
    for (1 .. $ENV{RUNS} || 5) {
        my @before = times;
        system("@command >/dev/null 2>&1");
        my @after = times;
        my $t = $after[2] + $after[3] - $before[2] - $before[3];
        $best = $t if !defined $best || $t < $best;
    }
    return $best;
}

my %tool = map { $_ => "$^X -I$root/blib/lib -I$root/blib/arch $root/bin/$_" } qw(dprofpp dprofreport);
printf "perl's start: %.3f s\n", seconds("$tool{dprofreport} -V");
for my $file ("$dir/trace.out", "$dir/tree.out") {
    my ($name) = $file =~ m{(\w+)\.out$};
    printf "%-6s dprofpp %.3f s, dprofreport %.3f s, with -g %.3f s\n", $name,
        map { seconds($_) } "$tool{dprofpp} -F $file", "$tool{dprofreport} -f $file", "$tool{dprofreport} -f -g $file";
}
