# Makes many cheap calls, so that the cost of a call shows. Prints CPU seconds and calls.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my $n = shift // 27;
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub calls {
    my $n = shift;
    my ($a, $b) = (1, 1);
    ($a, $b) = ($b, $a + $b) for 1 .. $n;
    return 2 * $a - 1;
}

my $before = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
fib($n);
my $after = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
printf "=cpu %.9f\n=calls %d\n", $after - $before, calls($n);
