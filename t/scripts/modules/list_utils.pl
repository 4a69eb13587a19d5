# List::Util and its kin: each callback is a call, of what it is.
# needs: List::Util 1.54
# expect: main::odd 4
# expect: main::acc 3
# expect: main::keyer 2
# expect: List::Util::first 21
# expect: main::dies 1
# expect: main::after 1
use strict;
use List::Util qw(first any all none notall reduce reductions pairmap pairgrep max sum shuffle
    uniq);
sub odd { $_ % 2 } sub acc { $a + $b } sub keyer { $a } sub dies { die "in all\n" } sub after { 1 }
print any(\&odd, 2, 3), reduce(\&acc, 1 .. 4), join('', pairmap(\&keyer, a => 1, b => 2)),
    scalar(all(\&odd, 1)), scalar(none(\&odd, 3) || 0), "\n";
print eval { all(\&dies, 1) } // $@; after(); print first(sub {
    return 1 if $_ == 2;
    0;
}, 1 .. 3), max(1, 2), sum(1, 2), scalar(uniq(1, 1)), "\n";
sub rec { my $n = shift; $n ? first { rec($n - 1); 1 } 1 : 0 } rec(20); print "ok\n";
