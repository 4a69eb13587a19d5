# goto to a sub that is not there, and to one that AUTOLOAD makes.
# expect: main::after 2
# expect: Auto::made 1
no warnings;
sub after { 1 }
sub f { goto &nothing_there }
eval { f() };
print $@;
after();
{ package Auto; our $AUTOLOAD; sub AUTOLOAD { "auto $AUTOLOAD" } }
sub g { goto &Auto::made }
print g(), "\n";
after();
