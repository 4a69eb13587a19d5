# EV: callbacks from a loop in C, of timers, pipes and children; one dies, one leaves the loop.
# needs: EV
# expect: main::tick 3
# expect: main::readable 1
# expect: main::reaped 1
# expect: main::f 5
use strict; use EV; sub f { 1 } my $n = 0;
$EV::DIED = sub { print "died: $@" };
sub tick {
    f();
    die "third\n" if ++$n == 3;
}
sub readable {
    f();
    sysread $_[0]->fh, my $x, 9;
    print "read $x\n";
}
sub reaped { f(); print 'status ', $_[0]->rstatus >> 8, "\n"; EV::break() }
pipe my $r, my $w; my $io = EV::io $r, EV::READ, sub {
    readable($_[0]);
    undef $_[0];
}; my $io2; my $t; $t = EV::timer 0, 0.001, sub { if ($n == 2) { undef $t } tick() };
syswrite $w, 'hello'; my $pid = fork; if (!$pid) {
    require POSIX;
    select undef, undef, undef, 0.2;
    POSIX::_exit(3);
}
my $c = EV::child $pid, 0, \&reaped; EV::run; print "$n\n";
