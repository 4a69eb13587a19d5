# A local $SIG{__DIE__} that dies, one that returns, one that calls; die in __WARN__.
# trace: +f +handler /handler ~/f +after -after +g +quiet -quiet /g +after -after +w +warner /warner
# trace: ~/w +after -after
# trace: +nested +handler2 +f2 /f2 +after -after -handler2 /nested +after -after
sub after { 1 }
sub handler { die "from handler: $_[0]" }
sub f { local $SIG{__DIE__} = \&handler; die "f\n" }
eval { f() }; print $@;
after();
sub quiet { 1 }
sub g { local $SIG{__DIE__} = \&quiet; die "g\n" }
eval { g() }; print $@;
after();
sub warner { die "warned to death: $_[0]" }
sub w { local $SIG{__WARN__} = \&warner; warn "w\n" }
eval { w() }; print $@;
after();
sub f2 { die "f2\n" }
sub handler2 { eval { f2() }; after() }
sub nested { local $SIG{__DIE__} = \&handler2; die "n\n" }
eval { nested() }; print $@;
after();
