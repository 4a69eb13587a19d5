# die in DESTROY, then work: the work is not DESTROY's.
# packages: main D
# trace: +f +D::DESTROY /D::DESTROY -f +after -after +D::DESTROY +D::deep /D::deep ~/D::DESTROY
# trace: +after -after
# trace: +g +D::DESTROY +D::deep /D::deep ~/D::DESTROY +after -after -g
package D;
sub deep { die "deeper\n" }
sub DESTROY { $_[0][0] ? deep() : die "destroy\n" }
package main;
$SIG{__WARN__} = undef;
open STDERR, '>', '/dev/null';
sub after { 1 }
sub f { my $x = bless [], 'D'; 1 }
f();
after();
{ my $x = bless [1], 'D' }
after();
sub g { { my $y = bless [1], 'D' } after() }
g();
print "ok\n";
