# Overloaded numbers, with constants made by a pragma.
# expect: main::f 5
use strict; use Math::BigInt; use Math::BigFloat; sub f { $_[0] * $_[0] }
print f(Math::BigInt->new('123456789012345678901234567890')), "\n";
{ use bigint; print 2 ** 200, "\n" }
my $x = Math::BigFloat->new(2); print f($x->copy->bsqrt(30)), "\n";
print join(' ', map { f(Math::BigInt->new($_)) } 1 .. 3), "\n";
print Math::BigInt->new(10) <=> 9, "\n";
