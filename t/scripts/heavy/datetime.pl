# DateTime, namespace::autoclean and B::Hooks::EndOfScope: code that runs when a scope has been
# compiled.
# needs: DateTime
# needs: namespace::autoclean
# needs: B::Hooks::EndOfScope
# expect: main::f 3
# expect: main::at_end 1
use strict; sub f { 1 }
BEGIN {
    package Clean;
    $INC{'Clean.pm'} = 1;
    use Scalar::Util 'blessed';
    use namespace::autoclean;
    sub new { main::f(); bless [], shift } sub has { blessed($_[0]) ? 'object' : 'none' }
}
my $o = Clean->new; print $o->has, ' ', $o->can('blessed') ? 'left' : 'cleaned', "\n";
sub at_end { print "end of scope\n" }
{
    use B::Hooks::EndOfScope;
    BEGIN { on_scope_end { main::f(); main::at_end() } }
    my $x = 1;
}
use DateTime; my $d = DateTime->new(year => 2024, month => 2, day => 28)->add(days => 2);
print $d->ymd, ' ', $d->day_name, "\n"; f();
