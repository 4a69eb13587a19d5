# times, alarm, sleep, select: nothing of ours is in the way, and signals arrive once.
use strict; my $n = 0; $SIG{ALRM} = sub { $n++ }; require Time::HiRes; print alarm(0), "\n";
my @i = map { join ',', map { $_ // 'u' } Time::HiRes::getitimer($_) } 0, 1, 2; print "@i\n";
# Again and again: the first ones may be over before select has begun, on a machine that is slow.
Time::HiRes::ualarm(2000, 2000);
my $left = select undef, undef, undef, 60;
my $why = $! + 0;
Time::HiRes::ualarm(0);
print $n > 0 ? 'some' : 'none', " $why\n";
$n = 0; sub w { 1 until $n } Time::HiRes::ualarm(2000); w(); print "$n\n";
print join(',', sort grep { ref $SIG{$_} || $SIG{$_} } keys %SIG), "\n";
open my $s, '<', '/proc/self/status'; # But for SIGBUS, 7, which the profiler catches.
print map { s/(?<=^SigCgt).*\K(.)(?=.$)/sprintf '%x', hex($1) & ~4/er } grep /^Sig(?:Blk|Ign|Cgt)/,
    <$s>;
