# dprofdiff prints the golden files byte by byte. DPROF_GOLDEN=1 rewrites them; review the diff.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(data root run_tool slurp spew);

my @gate = ('--fail-if', 'calls > 0, /total|check/ ops > 2%, self > 5% & 1ms, new, gone');
my @flags = ([], ['--format=perf'], ['-m', 'calls'], ['--format=perf', '-m', 'calls'],
    ['-m', 'ops', '--tree'],
    ['--tree', '--percent-limit', 0, '--format', 'json'], ['-c', 'ratio', '-p'],
    ['-c', 'wdiff:1,2', '-F'], ['-v', '--children'],
    ['-n', '-O', 3], ['-t', ','], ['-s', 'package'], ['--callers', 'Shop::price'],
    ['--callees', 'Shop::total', '-m', 'calls'],
    map({ ['--format', $_, @gate] } qw(text csv json markdown html tap junit github)));

my $golden = root() . '/t/golden';
for my $flags (@flags) {
    my $name = 'dprofdiff.shop'
        . (join(' ', map { /^calls >/ ? 'GATE' : $_ } @$flags) =~ s/[^-+\w]+/_/gr =~ s/^(?=.)/./r);
    my $run = run_tool('dprofdiff', [@$flags, 'shop-old.out', 'shop-new.out'], dir => data('.'));
    my $text = "$run->{out}--- stderr\n$run->{err}--- status $run->{status}\n";
    spew("$golden/$name", $text) if $ENV{DPROF_GOLDEN};
    is($text, -e "$golden/$name" ? slurp("$golden/$name") : '', "$name is the golden file");
}

done_testing;
