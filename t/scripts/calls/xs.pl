# XS subs, by name, by reference, as methods, through a symbolic name. (Not blessed and reftype:
# newer perls have ops for these.)
# packages: main Scalar::Util
# trace: +Scalar::Util::dualvar -Scalar::Util::dualvar +f +Scalar::Util::isvstring
# trace: -Scalar::Util::isvstring -f
# trace: +Scalar::Util::dualvar -Scalar::Util::dualvar +Scalar::Util::dualvar -Scalar::Util::dualvar
# trace: +Scalar::Util::looks_like_number -Scalar::Util::looks_like_number
# expect: main::f > Scalar::Util::isvstring 1
# expect: UNIVERSAL::isa 2
# expect: UNIVERSAL::can 1
# expect: Internals::SvREFCNT 1
use Scalar::Util qw(dualvar isvstring looks_like_number);
my $o = bless [];
my @got = dualvar(5, 'five');
sub f { isvstring(v1.2) ? 1 : 0 }
push @got, f();
my $ref = \&dualvar;
push @got, $ref->(6, 'six');
push @got, &{'dualvar'}(7, 'seven');
push @got, Scalar::Util->can('looks_like_number')->(17);
push @got, $o->isa('main'), main->isa('Foo') || 0, Internals::SvREFCNT($got[0]);
print "@got\n";
