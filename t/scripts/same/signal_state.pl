# Signals caught, ignored and blocked, and timers, are those of the plain run; in a child and a
# thread, too. But for SIGBUS, 7, which the profiler catches.
use strict; use Config; use POSIX ();
sub f { 1 }
sub bits {
    my ($of, $hex) = @_;
    $hex =~ s/(.)(?=.$)/sprintf '%x', hex($1) & ~4/e if $of eq 'SigCgt';
    return $hex;
}
sub look {
    my ($who) = @_;
    f();
    open my $in, '<', '/proc/self/status' or return print "no status\n";
    print $who, ' ', join(' ', map {
        /^(Sig(?:Cgt|Ign|Blk|Pnd)|ShdPnd):\s+(\w+)/ ? "$1=" . bits($1, $2) : ()
    } <$in>), "\n";
    close $in;
    if (open my $timers, '<', '/proc/self/timers') {
        my @t = <$timers>; print scalar @t, " timers\n";
    }
    require Time::HiRes;
    print join(" ", map { 0 < (Time::HiRes::getitimer($_))[0] } Time::HiRes::ITIMER_REAL(),
        Time::HiRes::ITIMER_VIRTUAL(), Time::HiRes::ITIMER_PROF()), "\n";
    print alarm(0) ? "alarm " : "none ",
        join(' ', grep { defined $SIG{$_} && length $SIG{$_} } sort keys %SIG), "\n";
}
$| = 1;
look('first'); f() for 1 .. ($ENV{EXTENDED_TESTING} ? 50_000 : 5_000); look('later');
{ local $SIG{USR1} = sub { 1 }; kill USR1 => $$; look('with a handler') }
my $pid = fork; if (!$pid) { look('child'); exit } waitpid $pid, 0;
if ($Config{useithreads}) { require threads; threads->create(sub { look('thread') })->join }
look('last');
