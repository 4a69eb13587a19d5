# Object::Pad: fields, methods, BUILD, roles, accessors.
# needs: Object::Pad
# expect: Point::move 2
# expect: Point::describe 1
# expect: main::helper 2
use strict; no warnings; use Object::Pad;
sub helper { 1 }
class Point {
    has $x = 0;
    has $y = 0;
    method move { $x++; $y += 2; main::helper(); return $self } method describe { "($x, $y)" }
}
print Point->new->move->move->describe, "\n";
