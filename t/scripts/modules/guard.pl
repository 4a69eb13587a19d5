# Guard: guards and scope_guard, dying ones too.
# needs: Guard
# expect: main::freed 3
# expect: main::after 2
use Guard;
sub freed { print "freed $_[0]\n" } sub after { 1 }
sub f { my $g = guard { freed(1) }; 1 } f(); after();
sub s { scope_guard { freed(2) }; print "in s\n" } main::s();
$Guard::DIED = sub { print "died $@" };
sub d {
    scope_guard { freed(3); die "g\n" };
    1;
} d(); after();
