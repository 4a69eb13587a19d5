# Class::XSAccessor patches the calling op; all calls are counted.
# needs: Class::XSAccessor
# expect: Acc::name 25
# expect: Acc::new 5
package Acc; use Class::XSAccessor constructor => 'new', accessors => [qw(name)],
    getters => { get_x => 'x' };
package main;
for my $i (1 .. 5) {
    my $o = Acc->new(name => $i, x => 2);
    $o->name for 1 .. 3;
    $o->name($i + 1);
    print $o->name, $o->get_x, "\n";
}
