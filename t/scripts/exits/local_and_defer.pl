# Values restored while a scope is left: tied locals whose STORE runs, and dies.
# packages: main T
# expect: T::STORE 6
# expect: main::f > T::STORE 3
# expect: main::g > T::STORE 3
# expect: main::after 2
package T;
sub TIESCALAR { bless [0] }
sub FETCH { $_[0][0] }
sub STORE { $_[0][0] = $_[1] }
package main;
our $t;
tie $t, 'T';
sub after { 1 }
sub f { local $t = 5; 1 }
f();
after();
sub g { local $t = 6; die "g\n" }
eval { g() };
after();
print $t, "\n";
