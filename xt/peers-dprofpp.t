# The old dprofpp reads the same files: same calls, same tree, same rows; times but for the digit
# that it cuts. DPROF_OLD_LIB: the folder with its Devel/DProf.pm; DPROF_OLD_BIN: its dprofpp.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest;
use MadeUp;

my ($lib, $bin) = @ENV{qw(DPROF_OLD_LIB DPROF_OLD_BIN)};
plan skip_all => 'DPROF_OLD_LIB is not set' if !$lib;
$bin //= (grep { -e } "$lib/dprofpp", ($lib =~ s{/(?:lib|share)/.*}{}r) . '/bin/dprofpp')[0];
plan skip_all => 'the old dprofpp was not found; set DPROF_OLD_BIN'
    if !$bin || !-e "$lib/Devel/DProf.pm";

my $dir = scratch();
sub old {
    my ($file, @args) = @_;
    my $out = qx{$^X -I$lib $bin @args $file 2>/dev/null};
    return $out;
}

sub compare {
    my ($what, $file) = @_;
    is((dprofpp('-T', $file))[0], old($file, '-T'), "$what: -T prints what the old dprofpp prints");
    is((dprofpp('-t', $file))[0], old($file, '-t'), "$what: -t prints what the old dprofpp prints");
    for my $flags ('-U', '-a', '-l', '-U -I', '-U -r', '-U -u', '-U -s', '-a -d') {
        my @ours = map { [split] } split /\n/,
            (dprofpp('-q', '-O', 10000, split(' ', $flags), $file))[0];
        my @theirs = map { [split] } split /\n/, old($file, '-q -O 10000', $flags);
        is_deeply([map { "@$_[3, 6]" } @ours], [map { "@$_[3, 6]" } @theirs],
            "$what: $flags prints the rows and calls of the old dprofpp");
        my @off;
        for my $i (0 .. $#ours) {
            for my $k (0, 1, 2, 4, 5) {
                my ($x, $y) = ($ours[$i][$k], $theirs[$i][$k] // 0);
                my ($digits) = $y =~ /\.(\d*)/;
                my $unit = 10 ** -length($digits // '');
                push @off, "$ours[$i][6], column $k: $x, old $y" if abs($x - $y) > 1.01 * $unit;
            }
        }
        is_deeply(\@off, [], "$what: $flags prints the times of the old dprofpp");
    }
    my ($tree) = dprofpp('-S', $file);
    is_deeply([sort split /\n/, $tree], [sort split /\n/, old($file, '-S')],
        "$what: -S prints the lines of the old dprofpp in its own order");
}

# Makes plain programs with times that add up: no overhead, no goto.
my $state = 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }
for my $seed (1 .. 10) {
    $state = $seed;
    my ($trace, @stack, %named) = ('');
    my @sum = (0, 0, 0);
    my $marks = 600;
    while ($marks-- > 0 || @stack) {
        my @t = (1 + rnd(500), rnd(9), 1 + rnd(900));
        $sum[$_] += $t[$_] for 0 .. 2;
        $trace .= "@ @t\n";
        if (!@stack || ($marks > 0 && @stack < 30 && rnd(2))) {
            push @stack, my $id = 2 + rnd(20);
            $trace .= sprintf "& %x P%d n%d lib/x.pm:1 kind=xs\n", $id, $id % 3, $id
                if !$named{$id}++;
            $trace .= sprintf "+ %x\n", $id;
        } else {
            $trace .= sprintf "%s %x\n", rnd(3) ? '-' : '/', pop @stack;
        }
    }
    # The old dprofpp computes %Time from seconds with three decimals.
    my $hz = (100, 1000)[rnd(2)];
    my $over = "\$over_utime=0; \$over_stime=0; \$over_rtime=0;\n\$over_tests=100;\n";
    compare("seed $seed", spew("$dir/peer$seed.out", profile_text(hz => $hz, version => 'x',
        header => $over, times => \@sum, lines => $trace)));
}

# The old recorder records a program of all that it can do.
spew("$dir/prog.pl", <<'P');
sub leaf { 1 } sub fib { my $n = shift; leaf(); $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub jump { goto &leaf } sub boom { die "x" } my $anon = sub { leaf() };
sub AUTOLOAD { leaf() }
fib(8); jump() for 1 .. 3; eval { boom() } for 1 .. 2; $anon->(); main->missing; fib(3);
P
system "cd $dir && $^X -I$lib -d:DProf prog.pl";
my $real = "$dir/tmon.out";
is((dprofpp('-T', $real))[0], old($real, '-T'), 'a recorded profile has the -T of the old dprofpp');
is((dprofpp('-t', $real))[0], old($real, '-t'), 'a recorded profile has the -t of the old dprofpp');
is_deeply([sort map { join ' ', (split)[3, 6] } split /\n/, (dprofpp('-qO', 1000, $real))[0]],
    [sort map { join ' ', (split)[3, 6] } grep { !/ -\s/ || 1 } split /\n/,
        old($real, '-q -O 1000') =~ s/ - / 0 /gr],
    'a recorded profile has the calls of the old dprofpp');

done_testing;
