# Coro: coroutines that call, yield in the middle of calls and die. Their frames stay apart.
# needs: Coro
# expect: main::work 6
# expect: main::after 1
use strict; use Coro; my @log;
sub after { 1 } sub work { my ($n, $i) = @_; push @log, "$n$i"; cede; push @log, "$n$i." }
my @c = map { my $n = $_; async { work($n, $_) for 1 .. 3; 1 } } 'a', 'b'; $_->join for @c; after(); print "@log\n";
