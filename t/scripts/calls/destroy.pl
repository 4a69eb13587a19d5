# DESTROY: at the end of a scope, by undef, in a list, and at global destruction.
# expect: D::DESTROY 6
# expect: main::f > D::DESTROY 2
# expect: (program) > D::DESTROY 4
# expect: D::DESTROY > D::log 6
# trace: +f -f
package D;
sub new { bless { n => $_[1] } }
# Which of two globals goes first depends on where they lie in memory.
sub log { print "destroyed ", $_[0]{n} < 5 ? $_[0]{n} : 'a global', "\n" }
sub DESTROY { $_[0]->log }
package main;
sub f { my $a = D->new(1); my $b = D->new(2); return 7 }
f();
my $x = D->new(3);
undef $x;
{ my $y = D->new(4) }
our $global = D->new(5);
our $cycle = D->new(6);
$cycle->{self} = $cycle;
print "end\n";
