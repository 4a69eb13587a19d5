# Match variables, $_, @_, pos, local state across calls.
# clocks: counting
use strict;
sub f { 1 } sub g { 'zzz' =~ /z/; $& }
sub many { f() for 1 .. ($ENV{EXTENDED_TESTING} ? 20_000 : 2_000) }
if ('hello world' =~ /(\w+) (\w+)/) { f(); many(); g(); print "$1 $2 $& @- @+\n" }
my $s = 'aaa'; $s =~ /a/g; f(); many(); print pos $s, "\n";
for (1 .. 3) { f(); print; } print "\n";
my @l = map { f(); $_ * 2 } 1 .. 3; print "@l\n";
my %h = (a => 1, b => 2); my $n = 0; while (my ($k) = each %h) { f(); $n++ } print "$n\n";
local $, = '-'; local $\ = "!\n"; f(); print 1, 2;
