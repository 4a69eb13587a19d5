# times, alarm, sleep, select: nothing of ours is in the way, and signals arrive once.
use strict; my $n = 0; $SIG{ALRM} = sub { $n++ }; require Time::HiRes; print alarm(0), "\n";
my @i = map { join ',', map { $_ // 'u' } Time::HiRes::getitimer($_) } 0, 1, 2; print "@i\n";
# A machine that is busy may be late for the select.
my $left = 0; until ($left < 0) { $n = 0; Time::HiRes::ualarm(2000); $left = select undef, undef, undef, 5 } print $n, ' ', $! + 0, "\n"; sub w { 1 until $n > 1 } Time::HiRes::ualarm(2000); w(); print "$n\n";
print join(',', sort grep { ref $SIG{$_} || $SIG{$_} } keys %SIG), "\n"; open my $s, '<', '/proc/self/status'; print grep /^Sig(?:Blk|Ign|Cgt)/, <$s>;
