# The next descriptor is still 3; ours is above 100 and closed in programs that are started.
use strict; open my $a, '<', $0 or die; pipe my $r, my $w or die;
print fileno $a, fileno $r, fileno $w, "\n"; require POSIX; my $fd = POSIX::open('/dev/null');
print "$fd\n";
print `ls /proc/self/fd | grep -c '^[0-9]\\{3\\}'`; system 'ls /proc/self/fd | wc -l';
print join(' ', sort { $a <=> $b } grep { $_ < 100 } map { m{(\d+)$} } glob "/proc/$$/fd/*"), "\n";
