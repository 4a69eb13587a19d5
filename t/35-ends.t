# However a process ends, all its calls and its children's up to then are in what the tools read,
# and the parent sees the same status as without the profiler.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use Test::More;
use DProfTest;
use RunReader;

# NAME, how the process ends, the signal that kills it, or its status.
my @ends = (
    ['exit', 'exit 7', 0, 7],
    ['end of the program', '1', 0, 0],
    ['exit in a destructor', 'my $o = bless [], "Exits"', 0, 8],
    ['die', '$! = 9; die "ends\n"', 0, 9],
    ['POSIX::_exit', 'POSIX::_exit(6)', 0, 6],
    ['exec', 'exec "sh", "-c", "exit 5"', 0, 5],
    ['POSIX::abort', 'POSIX::abort()', 'ABRT'],
    ['dump', 'no warnings; CORE::dump()', 'ABRT'],
    ['a pipe without reader', 'pipe my $r, my $w; close $r; syswrite $w, "x"; sleep 9', 'PIPE'],
    ['print to such a pipe', 'pipe my $r, my $w; close $r; print $w "x"; close $w; sleep 9',
        'PIPE'],
    ['alarm', 'Time::HiRes::ualarm(1000); sleep 9', 'ALRM'],
    ['setitimer of CPU time',
        'Time::HiRes::setitimer(Time::HiRes::ITIMER_PROF(), 0.001); 1 while 1', 'PROF'],
    ['a bad pointer', 'my $x = unpack "p", pack "J", 8', 'SEGV'],
    ['a bad pointer in a comparator', 'my @x = sort { my $x = unpack "p", pack "J", 8; 0 } 2, 1',
        'SEGV'],
    ['a signal that is ignored', '$SIG{TERM} = "IGNORE"; kill TERM => $$; exit 4', 0, 4],
    ['a signal in a handler', '$SIG{USR1} = sub { kill TERM => $$ }; kill USR1 => $$; sleep 9',
        'TERM'],
    ['a handler that gives the signal back',
        '$SIG{TERM} = sub { $SIG{TERM} = "DEFAULT"; kill TERM => $$ }; kill TERM => $$; sleep 9',
        'TERM'],
    ['a signal from a child', 'if (!fork) { kill TERM => getppid; POSIX::_exit(0) } sleep 9',
        'TERM'],
    map { [$_, "kill $_ => \$\$; sleep 9", $_] }
        qw(TERM INT HUP PIPE ALRM USR1 QUIT SEGV BUS ILL XCPU KILL),
);

my %number;
@number{ split ' ', $Config{sig_name} } = split ' ', $Config{sig_num};

my $program = <<'END';
use POSIX (); use Time::HiRes ();
sub f { 1 } sub g { f() for 1 .. 3 } sub deep { my $n = shift; $n ? deep($n - 1) : stop() }
sub work { g() for 1 .. $_[0] } sub Exits::DESTROY { exit 8 }
sub stop { %s }
$| = 1; open STDERR, '>', '/dev/null';
work(40);
my $pid = fork;
if (!$pid) { work(70); deep(3) } else {
    waitpid $pid, 0;
    print "child ", $? & 127, " ", $? >> 8, "\n";
    work(500);
    deep(9);
}
END

my $n = 0;
for my $end (TestEnvironment::sample(2, @ends)) {
    my ($what, $code, $signal, $status) = @$end;
    my $file = spew(scratch() . '/p.pl', sprintf $program, $code);
    my $plain = plain([$file]);
    my $number = $signal ? $number{$signal} : 0;
    is("$plain->{signal} $plain->{status}", $number . ' ' . ($status // 0),
        "$what: the program ends so without the profiler")
        or next;
    for (some_modes($n++, MODES)) {
        my ($mode, $env) = @$_;
        my $run = profiled([$file], env => $env);
        my @wrong = (wrong_sums($run->{profile}), grep { length } same_as_plain($plain, $run));
        my ($calls) = calls_of_run($run->{profile});
        my %want = (g => 610, f => 1830, work => 3, deep => 14, stop => 2);
        for (sort keys %want) {
            my $have = $calls->{"main::$_"} // 0;
            push @wrong, "$_: $have calls, not $want{$_}" if $have != $want{$_};
        }
        is(join("\n", @wrong), '',
            "$what, $mode: the profile has all calls, and the end is the same")
            or diag explain [run_files($run), $run->{err}];
    }
}

done_testing;
