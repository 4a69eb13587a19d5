# Measures dprofexport on a tree of a million contexts (CONTEXTS), in each format that a tree can be
# written in, or in FORMAT. Prints elapsed and CPU seconds, the best of 3 runs (RUNS), peak memory
# in MB, and MB written. For comparison, dprofreport -O 1 reads the same file and writes a line.
use strict;
use warnings;
use FindBin ();
use lib $FindBin::Bin;
use Bench qw(gen_tree note scratch table took tool);

my $dir = scratch();
my $contexts = $ENV{CONTEXTS} || 1_000_000;
note("a tree of $contexts contexts is made");
gen_tree("$dir/tree.out", $contexts, 2000, 1, 1);
printf "%d contexts, %.0f MB\n", $contexts, (-s "$dir/tree.out") / 1e6;

my @formats = map { (split)[0] } split /\n/, qx{@{[ tool('dprofexport', '--list') ]}};
@formats = grep { $_ eq $ENV{FORMAT} } @formats if $ENV{FORMAT};
my @rows = ['dprofreport', map({ sprintf '%.2f', $_ }
        took(tool('dprofreport', '-f', '-O', 1, "$dir/tree.out"))), ''];
for my $format (@formats) {
    my @best = took(tool('dprofexport', '--format', $format, '-o', "$dir/out", "$dir/tree.out"));
    push @rows, [$format, map({ sprintf '%.2f', $_ } @best), sprintf '%.1f', (-s "$dir/out") / 1e6]
        if @best;
    unlink "$dir/out";
}
table(['format', 'seconds', 'CPU', 'MB held', 'MB written'], @rows);
