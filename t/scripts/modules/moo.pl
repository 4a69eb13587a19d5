# Moo: generated constructors and accessors, lazy builders, modifiers, roles, DEMOLISH.
# needs: Moo
# expect: Animal::speak 2
# expect: Animal::_build_sound 1
# expect: Dog::DEMOLISH 2
# expect: main::wrapped 2
use strict; sub wrapped { 1 }
{ package Loud; $INC{'Loud.pm'} = 1; use Moo::Role; around speak => sub {
    my ($o, $s) = @_;
    main::wrapped();
    uc $s->$o;
};
  package Animal; use Moo; has sound => (is => 'lazy');
  has name => (is => 'rw', required => 1, isa => sub { die "no name\n" unless length $_[0] });
  sub _build_sound { 'growl' } sub speak { $_[0]->name . ' ' . $_[0]->sound }
  package Dog; use Moo; extends 'Animal'; with 'Loud'; sub DEMOLISH { print "gone\n" } }
my $d = Dog->new(name => 'rex'); print $d->speak, "\n", $d->speak, "\n";
eval { Dog->new(name => '') }; print $@ =~ /no name/ ? "refused\n" : $@; undef $d;
