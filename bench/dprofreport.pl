# Measures dprofreport beside dprofpp, on a trace of 10 million marks (MARKS) and a tree of 100,000
# contexts. Prints user and system seconds, the best of 5 runs (RUNS).
use strict;
use warnings;
use FindBin ();
use lib $FindBin::Bin;
use Bench qw(best gen_marks gen_tree scratch tool);

my $dir = scratch();
gen_marks("$dir/trace.out", $ENV{MARKS} || 10_000_000);
gen_tree("$dir/tree.out", 100_000, 2000);

sub cpu { return (best($_[0]))[0] }

printf "perl's start: %.3f s\n", cpu(tool('dprofreport', '-V'));
for my $name (qw(trace tree)) {
    printf "%-6s dprofpp %.3f s, dprofreport %.3f s, with -g %.3f s\n", $name,
        map { cpu($_) } tool('dprofpp', '-F', "$dir/$name.out"),
        tool('dprofreport', '-f', "$dir/$name.out"),
        tool('dprofreport', '-f', '-g', "$dir/$name.out");
}
