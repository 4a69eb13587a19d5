# dprofreport prints the golden files byte by byte. DPROF_GOLDEN=1 rewrites them; review the diff.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(data root run_tool slurp spew);

my @flags = ('', '--format perf', '-n --show-total-period --per-call', '--per-call -m cpu',
    '--no-children -n', '-g',
    '-g fractal', '-g flat', '-g folded,0,period', '-g graph,0,count',
    '-G', '-G --no-children', '--callers main::__ANON__', '--callees main::run', '--histogram -O 2',
    '-s package,sub --hierarchy',
    '-s phase,sub', '-t ,',
    map({ ("--format $_", "--format $_ -g -n --show-total-period") } qw(csv json markdown html)));

my $golden = root() . '/t/golden';
for my $profile (qw(ours classic)) {
    for my $flags (@flags) {
        my $name = "dprofreport.$profile" . ($flags =~ s/[^-+\w]+/_/gr =~ s/^(?=.)/./r);
        my $run = run_tool('dprofreport', ['-f', '-m', 'real', split(' ', $flags), "$profile.out"],
            dir => data('.'));
        my $text = "$run->{out}--- stderr\n$run->{err}--- status $run->{status}\n";
        spew("$golden/$name", $text) if $ENV{DPROF_GOLDEN};
        is($text, -e "$golden/$name" ? slurp("$golden/$name") : '', "$name is the golden file");
    }
}

done_testing;
