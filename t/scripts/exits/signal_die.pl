# Handlers that die out of loops, and out of callbacks of XS code.
# trace: +spin +handler /handler /spin +after -after +in_cb +cb +handler /handler /cb ~/in_cb +after
# trace: -after
use List::Util 'first';
sub after { 1 }
sub handler { die "signal\n" }
$SIG{USR1} = \&handler;
sub spin { kill USR1 => $$; 1 while 1 }
eval { spin() }; print $@;
after();
sub cb { kill USR1 => $$; 1 while 1 }
sub in_cb { first(\&cb, 1) }
eval { in_cb() }; print $@;
after();
