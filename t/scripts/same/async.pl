# local $_, nested data, string increments, closures in loops, recursion in closures, local on
# elements.
use strict; my @c; for my $i (1 .. 3) { push @c, sub { $i++ } }
print map({ $_->(), $_->() } @c), "\n"; my $fact;
$fact = sub { my $n = shift; $n < 2 ? 1 : $n * $fact->($n - 1) }; print $fact->(10), "\n";
use feature 'current_sub', 'state';
my $fib = sub { my $n = shift; $n < 2 ? $n : __SUB__->($n - 1) + __SUB__->($n - 2) };
print $fib->(12), "\n"; sub counter { state $n = 5; $n++ } counter() for 1 .. 3;
print counter(), "\n";
our @g = (1, 2); sub show { "@g" } sub loc { local $g[0] = 9; show() } print loc(), show(), "\n";
my %d = (a => { b => [sub { 'deep' }] }); print $d{a}{b}[0]->(), "\n";
print ((sub { &{ $_[0] } })->(sub { 'amp' . scalar @_ }), "\n");
