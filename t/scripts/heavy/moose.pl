# Moose: generated and inlined methods, modifiers, immutable classes, anonymous classes, types with
# long names.
# needs: Moose
# expect: main::f 6
# expect: Point::_build_z 1
# expect: Point::DEMOLISH 2
use strict; sub f { 1 }
{ package Point; use Moose; use Moose::Util::TypeConstraints;
subtype 'Small' . 'X' x 600, as 'Int', where { main::f(); $_ < 100 };
  has x => (is => 'rw', isa => 'Small' . 'X' x 600);
  has z => (is => 'ro', lazy => 1, builder => '_build_z'); sub _build_z {
      main::f();
      3;
  }
  sub DEMOLISH { print "gone\n" }
  around x => sub {
      my ($o, $s, @a) = @_;
      main::f();
      $s->$o(@a);
  }; __PACKAGE__->meta->make_immutable }
{
    my $p = Point->new(x => 5);
    print $p->x + $p->z, "\n";
    eval { $p->x(1000) };
    print $@ ? "refused\n" : "taken\n";
    my $c = Moose::Meta::Class->create_anon_class(superclasses => ['Point']);
    my $q = $c->new_object;
    $q->can('x');
    print ref $q ? "anonymous\n" : '';
}
main::f() for 1; print "end\n";
