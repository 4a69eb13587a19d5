# dprofpp prints the golden files byte by byte. DPROF_GOLDEN=1 rewrites them; review the diff.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest;

my @flags = ('', '-I', '-r', '-s', '-u', '-l', '-a', '-v', '-U', '-d', '-R', '-A', '-S',
    '-T', '-t', '-q',
    '-O 2', '--program', '-S --program', '-G bar|wanted', '-G bar|wanted -P', '-f bar',
    '-g main::run', '-S -g main::run',
    '-T -g main::foo', '-V', '-TR', '--no-classic', '--no-classic -Ir', '--no-classic -qO 3',
    '--no-classic -S');

for my $profile (qw(ours classic manual-old manual-new)) {
    for my $flags (@flags) {
        my $name = "dprofpp.$profile" . ($flags =~ s/\|/+/gr =~ s/[^-+\w]+/_/gr =~ s/^(?=.)/./r);
        my @run = dprofpp({ dir => data('.') }, '-F', split(' ', $flags), "$profile.out");
        my $text = "$run[0]--- stderr\n$run[1]--- status $run[2]\n";
        my $golden = root() . "/t/golden/$name";
        spew($golden, $text) if $ENV{DPROF_GOLDEN};
        is($text, -e $golden ? slurp($golden) : '', "$name is the golden file");
    }
}

done_testing;
