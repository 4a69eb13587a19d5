# Runs perltidy on a file, and prints the CPU time at the end.
use strict;
use warnings;
use Perl::Tidy;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my ($script, $file) = @ARGV;
my ($out, $err) = ('', '');
Perl::Tidy::perltidy(argv => '-npro -nst', source => $file, destination => \$out, stderr => \$err);
END { printf "=cpu %.6f\n=length %d\n", clock_gettime(CLOCK_PROCESS_CPUTIME_ID), length $out }
