# goto &sub: to Perl, to XS, to itself, in a chain, by AUTOLOAD, out of nested blocks, failing.
# packages: main Scalar::Util
# trace: +f *g -f +h *Scalar::Util::looks_like_number -h +self *self *self -self +c1 *c2 *c3 -c1
# trace: +wrap +f *g -f -wrap +blocks *g -blocks +caller_of +f *g +after -after -f -caller_of
# trace: +bad +after -after -bad +dies *thrower /dies +after -after +byref *g -byref +m *g -m
# expect: main::g 6
# expect: main::f > main::g 0
# expect: (program) > main::g 4
# expect: main::wrap > main::g 1
# expect: main::self 3
# expect: main::c2 1
# expect: main::c3 1
use Scalar::Util "looks_like_number";
my ($n, $deep) = (0, 0);
sub after { 1 }
sub g { after() if $deep; "g(@_)" . (caller(1))[3] }
sub f { goto &g }
print f(1, 2), "\n";
sub h { goto &looks_like_number }
print h(12), "\n";
sub self { goto &self if $n++ < 2; 'self' }
print self(), "\n";
sub c3 { 'c3' } sub c2 { goto &c3 } sub c1 { goto &c2 }
print c1(), "\n";
sub wrap { f('w') }
print wrap(), "\n";
sub blocks { for (1) { { goto &g } } }
print blocks('b'), "\n";
sub caller_of { $deep = 1; my $r = f('c'); $deep = 0; $r }
print caller_of(), "\n";
sub bad { eval { goto &g }; print $@ =~ /eval/ ? "cannot\n" : $@; after() }
bad();
sub thrower { die "thrown\n" } sub dies { goto &thrower }
eval { dies() }; print $@; after();
sub byref { my $c = \&g; goto $c }
sub m { my $c = $_[0]->can('g'); goto &$c }
print byref('r'), main->m, "\n";
