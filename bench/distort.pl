# One sub makes 400,000 tiny calls, another computes without any call for about twice as long.
# Prints their real times, to be compared with those of a profile.
use strict;
use warnings;
use Time::HiRes 'time';

sub tiny { $_[0] + 1 }
sub callheavy { my $x = 0; $x = tiny($x) for 1 .. 400_000; return $x }
sub compute { my $x = 0; for my $i (1 .. 2_600_000) { $x = ($x + $i) % 1_000_003 } return $x }

my ($h, $c) = (0, 0);
for (1 .. 5) {
    my $t0 = time;
    callheavy();
    my $t1 = time;
    compute();
    my $t2 = time;
    $h += $t1 - $t0;
    $c += $t2 - $t1;
}
printf "=callheavy %.6f\n=compute %.6f\n", $h, $c;
