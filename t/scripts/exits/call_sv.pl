# Calls that C code makes under G_EVAL: exceptions end there, what follows is charged right.
# packages: main T
# expect: T::DESTROY 1
# trace: +T::TIESCALAR -T::TIESCALAR +f +T::FETCH /T::FETCH ~/f +after -after +T::DESTROY
# trace: /T::DESTROY +after -after
# trace: +required +after -after -required
package T;
sub TIESCALAR { bless [] }
sub FETCH { die "fetch\n" }
sub DESTROY { die "destroy\n" }
package main;
open STDERR, '>', '/dev/null';
sub after { 1 }
tie my $t, 'T';
sub f { my $x = $t + 1 }
eval { f() }; print $@;
after();
untie $t;
after();
sub required { eval { require No::Such::Module::Here }; after() }
required();
print $@ =~ /^(Can't locate \S+)/, "\n";
