# Many signals in the middle of many calls.
# expect: main::main_loop 1
use strict; my ($n, $done, $ticks) = (0, 0, $ENV{EXTENDED_TESTING} ? 20 : 8); require Time::HiRes;
$SIG{ALRM} = sub { tick() };
sub tick { $n++; $done = 1 if $n >= $ticks }
sub work { my $x = shift; $x > 0 ? work($x - 1) : 1 }
Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), 0.001, 0.001);
sub main_loop {
    until ($done) { work(5); eval { die { n => 1 } }; my @s = sort { $a <=> $b } 3, 2, 1 }
}
main_loop();
Time::HiRes::setitimer(Time::HiRes::ITIMER_REAL(), 0); print $n >= $ticks ? "ticked\n" : "no\n";
