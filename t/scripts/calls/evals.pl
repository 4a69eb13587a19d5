# Code from string evals, do and require: its subs are recorded like others.
# expect: main::from_eval 3
# expect: main::caller_of_it > main::from_eval 1
# expect: Loaded::loaded 1
# expect: main::BEGIN 1
# expect: (program) > Loaded::loaded 1
# expect: Loaded::BEGIN 1
# expect: Done::by_do 1
use strict;
eval 'sub from_eval { 1 } from_eval(); 1' or die $@;
from_eval();
sub caller_of_it { eval 'from_eval()' }
caller_of_it();
open my $out, '>', 'Loaded.pm' or die;
print $out "package Loaded; use strict; sub loaded { 1 } loaded(); 1;\n";
close $out;
require './Loaded.pm';
open $out, '>', 'done.pl' or die;
print $out "package Done; sub by_do { 5 } by_do();\n";
close $out;
print do './done.pl';
print "\n";
