# Makes six kinds of calls in turn, each in a sub of its own. Prints the CPU seconds of each, to be
# compared with those of a profile.
use strict;
use warnings;
use Scalar::Util ();
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

sub tiny { return $_[0] + 1 }
sub steps { my ($x, $n) = @_; $x = ($x * 3 + 1) % 1009 for 1 .. $n; return $x }

# All of these subs take about the same time.
sub tiny_calls { my $x = 0; $x = tiny($x) for 1 .. 10_000; return $x }
sub calls_of_100ns { my $x = 0; $x = steps($x, 1) for 1 .. 5_000; return $x }
sub calls_of_1us { my $x = 0; $x = steps($x, 40) for 1 .. 900; return $x }
sub calls_of_10us { my $x = 0; $x = steps($x, 450) for 1 .. 90; return $x }
sub xs_calls { my $x = 0; $x += Scalar::Util::looks_like_number($x) for 1 .. 18_000; return $x }
sub computing { my $x = 0; $x = ($x * 3 + 1) % 1009 for 1 .. 38_000; return $x }

my @kinds = qw(tiny_calls calls_of_100ns calls_of_1us calls_of_10us xs_calls computing);
my %cpu;
for (1 .. shift // 100) {
    for my $kind (@kinds) {
        my $before = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
        main->can($kind)->();
        $cpu{$kind} += clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $before;
    }
}
printf "=%s %.9f\n", $_, $cpu{$_} for @kinds;
