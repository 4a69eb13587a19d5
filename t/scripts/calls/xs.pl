# XS subs, by name, by reference, as methods, through a symbolic name.
# packages: main Scalar::Util
# trace: +Scalar::Util::blessed -Scalar::Util::blessed +f +Scalar::Util::reftype -Scalar::Util::reftype -f
# trace: +Scalar::Util::blessed -Scalar::Util::blessed +Scalar::Util::blessed -Scalar::Util::blessed
# trace: +Scalar::Util::looks_like_number -Scalar::Util::looks_like_number
# expect: main::f > Scalar::Util::reftype 1
# expect: UNIVERSAL::isa 2
# expect: UNIVERSAL::can 1
# expect: Internals::SvREFCNT 1
use Scalar::Util qw(blessed reftype looks_like_number);
my $o = bless [];
my @got = blessed($o);
sub f { reftype($o) }
push @got, f();
my $ref = \&blessed;
push @got, $ref->($o);
push @got, &{'blessed'}($o);
push @got, Scalar::Util->can('looks_like_number')->(17);
push @got, $o->isa('main'), main->isa('Foo') || 0, Internals::SvREFCNT($got[0]);
print "@got\n";
