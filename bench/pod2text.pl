# Runs pod2text as a program of its own, and prints the CPU time at the end.
use strict;
use warnings;
use Pod::Text;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my $text = '';
my $parser = Pod::Text->new;
$parser->output_string(\$text);
$parser->parse_file($ARGV[0]);
END { printf "=cpu %.6f\n=length %d\n", clock_gettime(CLOCK_PROCESS_CPUTIME_ID), length $text }
