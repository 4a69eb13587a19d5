# Measures dprofdiff on two traces of 10 million marks each (MARKS), beside dprofpp on one, and on
# two trees of 100,000 contexts. Prints elapsed and CPU seconds, the best of 5 runs (RUNS).
use strict;
use warnings;
use FindBin ();
use lib $FindBin::Bin;
use Bench qw(best gen_marks gen_tree scratch tool);

my $dir = scratch();
gen_marks("$dir/trace$_.out", $ENV{MARKS} || 10_000_000, $_) for 1, 2;
gen_tree("$dir/tree$_.out", 100_000, 2000, $_) for 1, 2;

printf "perl's start %s\n", scalar best(tool('dprofdiff', '-V'));
for my $name (qw(trace tree)) {
    my @two = map { "$dir/$name$_.out" } 1, 2;
    printf "%-5s  dprofpp of one %s\n", $name, scalar best(tool('dprofpp', '-F', $two[0]));
    printf "       dprofdiff of two%s %s\n", join('', map { " $_" } @$_),
        scalar best(tool('dprofdiff', '-f', @$_, @two))
        for [], ['--tree'], ['--format', 'json'];
}
