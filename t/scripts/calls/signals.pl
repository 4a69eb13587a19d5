# Signal handlers: in a loop, while sleeping, that die; __WARN__ and __DIE__.
# expect: main::alarm_in_loop 1
# expect: main::wait_for_it > main::alarm_in_loop 1
# expect: main::alarm_dies 1
# expect: main::sleeper > main::alarm_dies 1
# expect: main::usr1 3
# expect: main::kicker > main::usr1 3
# expect: main::on_warn 2
# expect: main::warner > main::on_warn 2
# expect: main::on_die 1
# expect: main::dier > main::on_die 1
use strict;
use POSIX ();
my $flag = 0;
sub alarm_in_loop { $flag = 1 }
sub alarm_dies { die "woken\n" }
sub usr1 { $flag++ }
$SIG{ALRM} = \&alarm_in_loop;
sub set { my ($name) = @_; require Time::HiRes; Time::HiRes::ualarm(30_000) }
sub wait_for_it { set(); 1 until $flag }
wait_for_it();
$SIG{ALRM} = 'alarm_dies';
sub sleeper { set(); select undef, undef, undef, 10; die "not woken" }
eval { sleeper() };
print "caught $@";
$SIG{USR1} = \&usr1;
sub kicker { kill USR1 => $$ for 1 .. 3 }
kicker();
print $flag, "\n";
$SIG{__WARN__} = \&on_warn;
sub on_warn { print "warned: $_[0]" }
sub warner { warn "one\n"; warn "two\n" }
warner();
$SIG{__DIE__} = \&on_die;
sub on_die { print "dying: $_[0]" }
sub dier { die "three\n" }
eval { dier() };
print "got $@";
