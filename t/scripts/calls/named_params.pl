# Parameters with names, methods of a class, its readers and writers.
# perl: 5.44
# packages: main Point
# expect: main::area 3
# expect: main::height 1
# expect: main::area > main::height 1
# expect: Point::new 1
# expect: Point::move 2
# expect: Point::back 1
# expect: Point::move > Point::back 1
# expect: Point::x 1
# expect: Point::set_x 1
use v5.44;
no warnings;
use feature 'class';
use experimental 'signature_named_parameters';
sub height { 8 }
sub area ($n, :$wide, :$high = height(), %) { $n * $wide * $high }
class Point {
    field $x :reader :writer :param = 2;
    my method back { $x-- }
    method move (:$by = 4) { $self->&back if $by < 0; $x += $by }
}
say area(1, wide => 2), ' ', area(1, wide => 2, high => 3), ' ', eval { area(1) } // 'died';
my $point = Point->new;
say $point->move, ' ', $point->move(by => -2);
$point->set_x(5);
say $point->x;
