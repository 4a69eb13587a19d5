# Measures dprofflame and dproffold on folded stacks of programs of many sizes, beside
# flamegraph.pl, difffolded.pl and inferno, if these are installed. Prints user CPU seconds, the
# best of RUNS (3; from a million stacks on 1), peak memory in MB, and MB written.
# DPROF_BENCH_STACKS: the numbers of stacks (10000,100000,1000000); a million takes 4 GB of TMPDIR.
# DPROF_FLAMEGRAPH: the folder of flamegraph.pl and difffolded.pl; without it, Devel::NYTProf's copy
# of flamegraph.pl is used. inferno must be in PATH. FULL=1: flamegraph.pl --reverse of more than
# 100,000 stacks, too (minutes, and gigabytes of memory).
use strict;
use warnings;
use FindBin ();
use lib $FindBin::Bin;
use Bench qw(compiled note scratch table tool);

my @sizes = grep { $_ > 0 } split /[,\s]+/, $ENV{DPROF_BENCH_STACKS} || '10000,100000,1000000';
my $dir = scratch();
my ($gen, $measure) = map { compiled($_) } qw(gen-folded measure);
my %they = they();

for my $n (@sizes) {
    note("$n stacks are made");
    system("$gen $n before > $dir/before && $gen $n after > $dir/after && $gen $n before unsorted "
        . "> $dir/unsorted && $gen $n after unsorted > $dir/unsorted2") == 0
        or die "gen-folded failed\n";
    printf "%s stacks, %.0f MB\n", thousands($n), (-s "$dir/before") / 1e6;
    my ($before, $after, $unsorted, $unsorted2, $two, $out) = map { "$dir/$_" }
        qw(before after unsorted unsorted2 two out);
    system(tool('dproffold', '--diff', '-o', $two, $before, $after)) == 0
        or die "dproffold failed\n";
    my @graph = ('dprofflame', '-o', $out, '--format');
    my $reverse = $n <= 100_000 || $ENV{FULL};
    table(['what', 'tool', 'user s', 'ratio', 'MB held', 'ratio', 'MB written'],
        compared($n, 'graph', [@graph, 'svg', $before], "{flamegraph.pl} $before",
            "{inferno-flamegraph} $before"),
        compared($n, 'graph, unsorted', [@graph, 'svg', $unsorted], "{flamegraph.pl} $unsorted",
            "{inferno-flamegraph} $unsorted"),
        compared($n, '--minwidth 0', [@graph, 'svg', '--minwidth', 0, $before],
            "{flamegraph.pl} --minwidth 0 $before", "{inferno-flamegraph} --minwidth 0 $before"),
        compared($n, '--reverse', [@graph, 'svg', '--reverse', $before],
            $reverse ? "{flamegraph.pl} --reverse $before" : (),
            "{inferno-flamegraph} --reverse $before"),
        compared($n, 'page', [@graph, 'html', $before]),
        compared($n, '--diff', [@graph, 'svg', '--diff', $before, $after],
            "{difffolded.pl} $before $after | {flamegraph.pl}",
            "{inferno-diff-folded} $before $after | {inferno-flamegraph}"),
        compared($n, '--diff, unsorted', [@graph, 'svg', '--diff', $unsorted, $unsorted2],
            "{difffolded.pl} $unsorted $unsorted2 | {flamegraph.pl}",
            "{inferno-diff-folded} $unsorted $unsorted2 | {inferno-flamegraph}"),
        compared($n, '--diff, page', [@graph, 'html', '--diff', $before, $after]),
        compared($n, 'two counts', [@graph, 'svg', $two], "{flamegraph.pl} $two",
            "{inferno-flamegraph} $two"),
        compared($n, 'dproffold --diff', ['dproffold', '--diff', '-o', $out, $before, $after],
            "{difffolded.pl} $before $after", "{inferno-diff-folded} $before $after"));
}

# Returns the row of our tool, then those of the others with their ratio to ours. {TOOL} in a
# command is another tool, which may be missing.
sub compared {
    my ($n, $what, $ours, @others) = @_;
    my $best = best_of($n, tool(@$ours));
    my @rows = [$what, $ours->[0], numbers($best)];
    for my $command (@others) {
        my @tools = $command =~ /\{([\w.-]+)\}/g;
        next if grep { !$they{$_} } @tools;
        my $they = best_of($n, $command =~ s/\{([\w.-]+)\}/$they{$1}/gr . " > $dir/out");
        push @rows, ['', join(' | ', @tools), numbers($they, $best)];
    }
    return @rows;
}

sub numbers {
    my ($it, $of) = @_;
    my @ratio = map { $of ? sprintf '%.1f', $it->[$_] / ($of->[$_] || 0.01) : '' } 0, 1;
    return (sprintf('%.2f', $it->[0]), $ratio[0], sprintf('%.0f', $it->[1]), $ratio[1],
        sprintf('%.2f', $it->[2]));
}

# Returns user seconds, peak memory in MB, and MB written.
sub best_of {
    my ($n, $command) = @_;
    my $best;
    note($command);
    for (1 .. ($n < 1_000_000 ? $ENV{RUNS} || 3 : 1)) {
        my $told = `$measure '@{[ $command =~ s/'/'\\''/gr ]}'`;
        die "this failed: $command\n" if $?;
        my ($user, undef, undef, $kb) = split ' ', $told;
        $best = [$user, $kb / 1024, (-s "$dir/out") / 1e6] if !$best || $user < $best->[0];
    }
    return $best;
}

# Returns the installed ones of the other tools, by name, as shell commands.
sub they {
    my %they;
    my $folder = $ENV{DPROF_FLAMEGRAPH};
    for my $name (qw(flamegraph.pl difffolded.pl)) {
        $they{$name} = quotemeta "$folder/$name" if defined $folder && -e "$folder/$name";
    }
    if (!$they{'flamegraph.pl'}) {
        my ($copy) = grep { -e } map { "$_/Devel/NYTProf/flamegraph.pl" } @INC;
        $they{'flamegraph.pl'} = "$^X " . quotemeta $copy if $copy;
        print $copy ? "flamegraph.pl is the copy of Devel::NYTProf\n"
            : "flamegraph.pl is not here (DPROF_FLAMEGRAPH; Debian has a copy in "
                . "libdevel-nytprof-perl): not compared\n";
    }
    print "difffolded.pl is not here (DPROF_FLAMEGRAPH): not compared\n" if !$they{'difffolded.pl'};
    for my $name (qw(inferno-flamegraph inferno-diff-folded)) {
        my ($path) = grep { -x } map { "$_/$name" } split /:/, $ENV{PATH};
        $they{$name} = quotemeta $path if $path;
    }
    print "inferno is not in PATH: not compared\n" if !$they{'inferno-flamegraph'};
    return %they;
}

sub thousands { return scalar reverse((reverse $_[0]) =~ s/(\d{3})(?=\d)/$1,/gr) }
