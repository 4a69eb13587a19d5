# Exceptions that perl and XS code throw: division, missing methods, Carp, UNIVERSAL::VERSION.
# packages: main UNIVERSAL
# trace: +div /div +after -after +nomethod /nomethod +after -after
# trace: +version +UNIVERSAL::VERSION /UNIVERSAL::VERSION ~/version +after -after
# trace: +strict /strict +after -after +compile +after -after -compile
sub after { 1 }
sub div { 1 / $_[0] }
eval { div(0) }; after();
sub nomethod { main->nothing_there }
eval { nomethod() }; after();
sub version { main->VERSION(5) }
eval { version() }; after();
sub strict { use strict; my $x = 'name'; @$x }
eval { strict() }; after();
sub compile { eval '1 +* 2'; after() }
compile();
print "$@" ? "done\n" : "no error\n";
