# dproftop beside programs that have loaded nothing of ours.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use Devel::DProf::Live::Outside;
use Devel::DProf::Live::Target;

plan skip_all => 'processes are looked at through the /proc of Linux'
    if $^O ne 'linux' || !-e "/proc/$$/maps";

# A program that works in one sub until its standard input ends. With Yama, it has to permit others
# to look at it.
my $program = spew(scratch() . '/worker.pl', <<'END_PROGRAM');
use Devel::DProf::Control;
Devel::DProf::Control::allow_attach();
$| = 1;
my $bits = '';
vec($bits, 0, 1) = 1;
sub work { my $x = 0; $x += $_ for 1 .. 10_000; return $x }
sub forked {
    Devel::DProf::Control::allow_attach();
    work() while getppid() == $_[0];
    exit;
}
my $parent = $$;
for (1 .. $ARGV[0] // 0) { fork or forked($parent) }
print "ready\n";
work() while !select my $is_there = $bits, undef, undef, 0;
END_PROGRAM

# Starts the program, perhaps with a number of children. Returns its pid and its input.
sub started {
    my (@args) = @_;
    pipe my $in, my $to or die "pipe: $!";
    pipe my $from, my $out or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        require POSIX;
        POSIX::dup2(fileno $in, 0);
        POSIX::dup2(fileno $out, 1);
        close $_ for $in, $to, $from, $out;
        alarm 600;
        exec built_perl(), $program, @args or die "$^X: $!";
    }
    close $_ for $in, $out;
    readline $from;
    return { pid => $pid, to => $to };
}

sub ended {
    my ($run) = @_;
    kill TERM => $run->{pid};
    return waitpid $run->{pid}, 0;
}

my $run = started();
if (!eval { Devel::DProf::Live::Target->process($run->{pid}) }) {
    my $why = $@;
    ended($run);
    plan skip_all => "no process can be looked at here: $why" if $why =~ / may not be read: /;
    die $why;
}

my $tmp = $ENV{TMPDIR} = scratch();

# Runs dproftop until its output fits: a machine that is busy may leave no sample for a while.
sub top_until {
    my ($like, @args) = @_;
    my $top;
    for (1 .. 20) {
        $top = in_process('dproftop', @args);
        last if $top->{status} || $top->{out} =~ $like;
    }
    return $top;
}

my $top = top_until(qr/ main::work .* main::work /s, '-n', 2, '-d', 0.3, $run->{pid});
is("$top->{err}$top->{status}", '0', 'dproftop looks at a program without the profiler');
my @blocks = split /\n\n/, $top->{out};
is(scalar @blocks, 2, 'dproftop takes as many samples as -n says');
like($_, qr/\Adproftop  \S+  process $run->{pid}  sampled from outside  \Q$program\E  by cpu\n/,
    'the first line says that the program is sampled from outside') for @blocks;
like($_, qr/^ *\d+\.\d +\d+\.\d +\d+\.\d +\d+\.\d  main::work +\Q$program\E:6$/m,
    'the sub that works has samples') for @blocks;
like($blocks[1], qr/^\S+ s since the last update: cpu /m, 'the second block has rates');

$top = top_until(qr/,main::work$/m, '-n', 1, '-d', 0.3, '-l', '--format', 'csv', '--pid',
    $run->{pid});
is("$top->{err}$top->{status}", '0', '--pid looks at a program, too');
like($top->{out}, qr/\Atime,[^\n]*,line,sub\n/, 'formats and lines are those of other profiles');
like($top->{out}, qr/,\Q$program\E:6,main::work$/m, 'a sampled program has lines');
is_deeply([bsd_glob("$tmp/*")], [], 'nothing is left in the folder for temporary files');

my $outside = Devel::DProf::Live::Outside->new([$run->{pid}], rate => 100, first => 0.1);
my ($is_left, @paths) = $outside->files;
for (1 .. 100) { ($is_left, @paths) = $outside->files if !@paths }
ok($is_left && @paths == 1 && -s $paths[0], 'the profile is there while the program runs');
ended($run);
($is_left) = $outside->files;
is($is_left, 0, 'the end of the program is noticed');
my $text = slurp($paths[0]);
my $counts = join ' ', map { "\\\$dprof_$_=\\d+;" } qw(attached mended given_up);
like($text, qr/^$counts \$dprof_behind=\d+;$/m,
    'its header says how well the samples were read');
undef $outside;
is_deeply([bsd_glob("$tmp/*")], [], 'the profile goes with the object');

# 10 seconds at 100 Hz, whose header says that 9 and 11 samples were given up.
$text =~ s/\$rrun_rtime=\d+/\$rrun_rtime=100000000/ or die 'no real time';
for my $n (9, 11) {
    my $file = spew("$tmp/$n.out", $text =~ s/\$dprof_given_up=\d+/\$dprof_given_up=$n/r);
    my $said = $n < 10 ? qr/\A\z/ : qr/\A\Q$file\E: 1\.1 % of the samples could not be read, and /;
    like(in_process($_->[0], @$_[1 .. $#$_], $file)->{err}, $said, "$_->[0] says what $n lost mean")
        for ['dprofreport'], ['dprofpp'], ['dprofflame', '-o', "$tmp/x.svg"],
        ['dprofhtml', '-o', "$tmp/x.html"];
    unlink bsd_glob("$tmp/*");
}

my $server = started(2);
$top = top_until(qr/ and 2 more /, '-n', 1, '-d', 0.5, '--children', $server->{pid});
is("$top->{err}$top->{status}", '0', 'dproftop looks at children, too');
like($top->{out}, qr/  process $server->{pid} and 2 more  sampled from outside  /,
    'the first line has the number of processes');

# ---- what cannot be shown ----

for my $case ([[$server->{pid}, $program],
    qr/\A\S+ \Q$program\E: no process; dproftop \Q$program\E shows a profile, /],
    [['--children'], qr/\A\S+ --children is for processes: --children --pid PID$/],
    [['--processes', $server->{pid}], qr/\A\S+ --processes is for profiles; --children shows /],
    [['--pid', 2**30], qr/\A\S+ there is no process 1073741824$/]) {
    my ($args, $message) = @$case;
    my $got = in_process('dproftop', @$args);
    like($got->{err}, $message, "dproftop @$args says what is wrong");
    is($got->{status}, 1, "dproftop @$args has status 1");
}
ended($server);
like(in_process('dproftop', '--pid', $server->{pid})->{err}, qr/: there is no process /,
    'a process that has ended gives a message');
is_deeply([bsd_glob("$tmp/*")], [], 'nothing is left after errors');

done_testing;
