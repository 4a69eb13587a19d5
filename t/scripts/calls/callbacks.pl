# Callbacks that XS code makes: call_sv and MULTICALL, sort among them.
# expect: main::is_two 2
# expect: List::Util::first > main::is_two 2
# expect: main::adds 3
# expect: List::Util::reduce > main::adds 3
# expect: main::maps 2
# expect: List::Util::pairmap > main::maps 2
# expect: main::inner_of_first 2
# expect: main::__ANON__ > main::inner_of_first 2
# expect: List::Util::any > main::__ANON__ 2
# expect: List::Util::any 1
# expect: List::Util::sum 1
# expect: main::cmp_in_callback 3
# expect: main::sorts_in_callback 2
# expect: main::sorts_in_callback > main::cmp_in_callback 2
# expect: main::sorts > main::cmp_in_callback 1
use strict;
use List::Util qw(first any reduce sum pairmap);
sub is_two { $_ == 2 }
sub adds { $a + $b }
sub maps { $a }
sub inner_of_first { $_[0] > 1 }
print first(\&is_two, 1 .. 3), "\n";
print reduce(\&adds, 1 .. 4), "\n";
print join(',', pairmap(\&maps, 1 .. 4)), "\n";
print any(sub { inner_of_first($_) }, 1 .. 3), "\n";
print sum(1 .. 3), "\n";
sub cmp_in_callback { $a <=> $b }
sub sorts_in_callback { my @s = sort cmp_in_callback 2, $_[0]; @s }
sub sorts { my @x = sort cmp_in_callback 2, $_[0]; @x }
first { sorts_in_callback($_); 0 } 1, 2;
print join(',', sorts(1)), "\n";
