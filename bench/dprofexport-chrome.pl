# Measures dprofexport --format chrome on a trace of many marks, to a file, and through pipes on
# both sides. Prints elapsed seconds, the best of RUNS (3), MB written a second, and peak memory in
# MB. MARKS is the number of marks (10,000,000). TMPDIR needs room for 70 bytes a mark.
use strict;
use warnings;
use FindBin ();
use lib $FindBin::Bin;
use Bench qw(gen_marks scratch table took tool);

my $marks = $ENV{MARKS} || 10_000_000;
my $dir = scratch();
my ($in, $out) = ("$dir/tmon.out", "$dir/x.trace.json");
gen_marks($in, $marks);
printf "%d marks, %.0f MB\n", $marks, (-s $in) / 1e6;
table(['what', 's', 'MB written', 'MB/s', 'MB held'],
    row('file to file', tool('dprofexport', '-o', $out, $in)),
    row('--only', tool('dprofexport', '--only', '1', '-o', $out, $in)),
    row('-m cpu', tool('dprofexport', '-m', 'cpu', '-o', $out, $in)),
    row('pipe to pipe', "cat $in | " . tool(qw(dprofexport --format chrome -)) . " | cat > $out"));

# Returns a row with the time and memory of a shell command.
sub row {
    my ($what, $command) = @_;
    my ($seconds, undef, $held) = took($command) or die "this failed: $command\n";
    my $mb = (-s $out) / 1e6;
    return [$what, sprintf('%.2f', $seconds), sprintf('%.0f', $mb),
        sprintf('%.0f', $mb / $seconds), sprintf('%.0f', $held)];
}
