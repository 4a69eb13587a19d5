# Want finds the call by its return op; lvalue subs with rreturn.
# needs: Want
# expect: main::f 4
# expect: main::lv 2
use Want;
sub f { want('LIST') ? 'list' : want('SCALAR') ? 'scalar' : want('BOOL') ? 'bool' : 'void' }
my @x = f(); my $x = f(); print "$x[0] $x ", (f() ? 'true' : ''), "\n"; f();
my $v = 1; sub lv : lvalue { if (want('RVALUE')) { rreturn "r$v" } $v } lv() = 4; print lv(), "\n";
sub count { want(2) ? 'two' : 'other' } my ($p, $q) = count(); print "$p\n";
sub obj { want('OBJECT') ? bless [] : 'no' } sub m { 'method' } print obj()->m, "\n";
