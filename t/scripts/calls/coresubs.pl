# &CORE:: subs, CORE::GLOBAL overrides, prototypes with blocks, constant subs.
# expect: main::my_sleep 2
# expect: main::block_taker 1
# expect: main::__ANON__ 1
use strict;
BEGIN { *CORE::GLOBAL::sleep = \&my_sleep }
sub my_sleep { $_[0] }
sub block_taker (&@) { my $c = shift; $c->(@_) }
print sleep(5), "\n", sleep(6), "\n";
print block_taker { "@_" } 1, 2;
print "\n", &CORE::lc('ABC'), "\n";
