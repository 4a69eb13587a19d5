# Compares the user time and the memory of dprofpp with those of the old one. The old one runs on a
# part of the marks unless FULL=1. DPROF_OLD_LIB and DPROF_OLD_BIN: the old Devel::DProf and its
# dprofpp. MARKS and RUNS: the numbers of marks and runs.
use strict;
use warnings;
use File::Temp ();
use FindBin ();

my $root = "$FindBin::Bin/..";
my $marks = $ENV{MARKS} || 10_000_000;
my $runs = $ENV{RUNS} || 5;
my $part = $ENV{FULL} ? $marks : int($marks / 20);
my $dir = File::Temp->newdir;

system($ENV{CC} || 'cc', '-O2', '-o', "$dir/gen", "$root/bench/gen-marks.c") == 0
    or die "no C compiler\n";
system("$dir/gen $marks > $dir/all.out && $dir/gen $part > $dir/part.out") == 0
    or die "gen-marks failed\n";

my @ours = ($^X, "-I$root/blib/lib", "-I$root/blib/arch", "$root/bin/dprofpp");
my ($lib, $bin) = @ENV{qw(DPROF_OLD_LIB DPROF_OLD_BIN)};
$bin //= ($lib =~ s{/(?:lib|share)/.*}{}r) . '/bin/dprofpp' if $lib;
my @old = $lib && -e $bin ? ($^X, "-I$lib", $bin) : ();

# Runs a command. Returns user seconds, real seconds, and the peak memory in KB.
sub run {
    my @command = @_;
    my $pid = fork // die "fork: $!";
    require Time::HiRes;
    if (!$pid) { open STDOUT, '>', '/dev/null'; open STDERR, '>', '/dev/null'; exec @command; die }
    my $start = Time::HiRes::time();
    my @before = times;
    my $kb = 0;
    while (!waitpid $pid, 1) {          # WNOHANG
        if (open my $in, '<', "/proc/$pid/status") {
            while (<$in>) { $kb = $1 if /^VmHWM:\s*(\d+)/ && $1 > $kb }
        }
        Time::HiRes::sleep(0.002);
    }
    return ((times)[2] - $before[2], Time::HiRes::time() - $start, $kb);
}

sub median { my @x = sort { $a <=> $b } @_; $x[@x / 2] }

my (@our_user, @old_user, @small, $our_kb, $old_kb);
$our_kb = $old_kb = 0;
for (1 .. $runs) {
    my ($user, undef, $kb) = run(@ours, "$dir/all.out");
    push @our_user, $user;
    $our_kb = $kb if $kb > $our_kb;
    push @small, (run(@ours, "$root/t/data/ours.out"))[1];
    next if !@old;
    ($user, undef, $kb) = run(@old, "$dir/part.out");
    push @old_user, $user * $marks / $part;
    $old_kb = $kb if $kb > $old_kb;
}
printf "%d marks, %.0f MB, median of %d runs, user time\n", $marks,
    (-s "$dir/all.out") / 1e6, $runs;
printf "  dprofpp      %8.3f s  %6.1f ns a mark  %6.1f MB\n", median(@our_user),
    1e9 * median(@our_user) / $marks, $our_kb / 1024;
if (@old) {
    printf "  the old one  %8.3f s%s  %6.1f MB\n", median(@old_user),
        $part < $marks ? " (of $part marks, scaled)" : '', $old_kb / 1024;
    printf "  ratio        %8.1f\n", median(@old_user) / median(@our_user);
} else {
    print "  (DPROF_OLD_LIB is not set: nothing to compare with)\n";
}
printf "a small profile, from start to end: %.0f ms\n", 1000 * median(@small);
