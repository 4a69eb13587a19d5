# Objects destroyed while an exception unwinds: their DESTROY stands below what is unwound.
# packages: main D
# expect: D::DESTROY 3
# expect: main::after 2
# trace: +a +b +D::DESTROY -D::DESTROY /b ~/a +after -after +c +D::DESTROY +inner /inner -D::DESTROY
# trace: /c +after -after
# trace: +D::DESTROY -D::DESTROY
package D;
sub DESTROY { eval { main::inner() } if $_[0][0]; 1 }
package main;
sub inner { die "inner\n" }
sub after { 1 }
sub b { my $x = bless [], 'D'; die "b\n" }
sub a { b() }
eval { a() }; print $@;
after();
sub c { my $x = bless [1], 'D'; die "c\n" }
eval { c() }; print $@;
after();
{ my $z = bless [], 'D' }
