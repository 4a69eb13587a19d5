# What a sub frees when it ends is its own time, in samples, too: no safe point comes before its
# caller goes on.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

plan(skip_all => no_lines()) if no_lines();

my $dir = scratch();
my $program = spew("$dir/p.pl", <<'END');
use strict;
my ($n, %made);
sub release {
    my $all = delete $made{all};
    $n += $_ for 1 .. 100_000;
    return $n;
}
for my $turn (1 .. 8) {
    $made{all}{$_} = [$_] for 1 .. 40_000;
    release();
    $n++;
}
END

# The percent of each line.
sub by_line {
    my $run = run_tool('dprofreport', ['-s', 'srcline', '--format', 'csv', '--percent-limit', 0],
        dir => $dir);
    return { map { /,([\d.]+),'?\Q$program\E:(\d+)'?$/ ? ($2 => $1) : () }
        split /\n/, $run->{out} };
}

for my $mode ('sample=1000', 'tree,sample=1000') {
    my $run = profiled([$program], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => "$dir/tmon.out", mode_env($mode) });
    is($run->{raw}, 0, "$mode: the program runs") or diag $run->{err};
    my $line = by_line();
    cmp_ok($line->{6} // 0, '>', 3 * (($line->{11} // 0) + ($line->{10} // 0)),
        "$mode: the time of what is freed when the sub returns does not belong to its caller")
        or diag explain $line;
}

sub mode_env {
    my ($mode) = @_;
    return (PERL_DPROF_SAMPLE => 1000, $mode =~ /tree/ ? (PERL_DPROF_MODE => 'tree') : ());
}

done_testing;
