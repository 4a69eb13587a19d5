# Measures dprofdiff on many runs a side, of 516 contexts each: 100, 500 and 1,000 (RUNS_A_SIDE,
# separated by commas). Prints elapsed and CPU seconds and the peak memory in MB, the best of 3
# (RUNS). Time and memory should be proportional to the runs.
use strict;
use warnings;
use FindBin ();
use lib $FindBin::Bin;
use Bench qw(scratch took tool);

my @sizes = split /,/, $ENV{RUNS_A_SIDE} || '100,500,1000';
my ($contexts, $subs) = (516, 100);
my ($most) = sort { $b <=> $a } @sizes;
my $dir = scratch();

srand 7;
my @tree;       # depth, sub, calls, ticks
my $depth = 0;
for (2 .. $contexts) {
    $depth = 1 + int rand($depth < 20 ? $depth + 1 : 20);
    push @tree, [$depth, 1 + int rand $subs, 1 + int rand 100, 100 + int rand 100_000];
}

# Writes a run: the whole run is slower or faster by up to 10 %, and each context by up to 5 %. One
# sub of the new side takes a tenth more.
sub write_run {
    my ($path, $is_new) = @_;
    my $speed = 1 + 0.1 * rand;
    open my $out, '>', $path or die "$path: $!";
    print {$out} "#fOrTyTwO\n\$hz=10000000;\n\$dprof_format='tree 1';\n",
        "\$rrun_utime=0; \$rrun_stime=0; \$rrun_rtime=0;\n\$dprof_complete=1;\n\nPART3\n";
    printf {$out} "& %x P%d s%d f.pl:%d\n", $_, $_ % 20, $_, $_ for 1 .. $subs;
    print {$out} "= 0 0 1 10 0 10 0 0\n";
    for (@tree) {
        my ($level, $sub, $calls, $ticks) = @$_;
        my $t = int $ticks * $speed * (0.95 + 0.1 * rand) * ($is_new && $sub == 3 ? 1.1 : 1);
        printf {$out} "= %d %x %d %d 0 %d 10 1\n", $level, $sub, $calls, $t, $t;
    }
    close $out or die "$path: $!";
}

for my $size (@sizes) {
    mkdir "$dir/$_$size" or die "$dir/$_$size: $!" for qw(old new);
}
for my $run (1 .. $most) {
    for my $side (qw(old new)) {
        write_run("$dir/$side.$run", $side eq 'new');
        link "$dir/$side.$run", "$dir/$side$_/$run" or die "link: $!"
            for grep { $_ >= $run } @sizes;
    }
}

for my $size (@sizes) {
    for my $how ([], ['--tree'], ['--as-measured', '--format', 'json']) {
        my $command = tool('dprofdiff', @$how, map { "$dir/$_$size" } qw(old new));
        my @took = took($command) or die "dprofdiff failed\n";
        printf "2 x %5d runs%-28s %6.2f s (CPU %6.2f) %4d MB\n", $size,
            join('', map { " $_" } @$how), @took;
    }
}
