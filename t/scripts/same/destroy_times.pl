# When objects go: temporaries, arguments, return values, closures, code with a DESTROY of its own.
package D; sub new { bless { n => $_[1] } } sub DESTROY { print "  gone $_[0]{n}\n" }
sub n { $_[0]{n} }
package main;
sub take { print "in take\n"; shift; print "shifted\n"; 1 }
take(D->new('arg')); print "after take\n";
sub give { D->new('given') } give(); print "after give\n";
print give()->n, "\n"; print "after chain\n";
sub lexical { my $d = D->new('lexical'); print "leaving\n"; return $d->n } print lexical(), "\n";
my $c = do { my $d = D->new('closed over'); sub { $d->n } }; print $c->(), "\n"; undef $c;
print "closure gone\n";
sub dies { my $d = D->new('unwound'); die D->new('exception') } eval { dies() }; print "caught\n";
$@ = ''; print "cleared\n";
for my $i (1, 2) { my $d = D->new("loop $i"); next if $i == 1; print "second\n" }
my $code = bless sub { 'code' }, 'D2'; sub D2::DESTROY { print "  code gone\n" }
print $code->(), "\n"; undef $code; print "code undef'd\n";
sub temp { (bless sub { 'tmp' }, 'D2')->() } print temp(), "\n"; print "after temp\n";
{ my %h = (x => D->new('value')); delete local $h{x}; print "deleted\n" } print "scope end\n";
{ local $main::g = D->new('localized'); f() } sub f { print "f\n" } print "restored\n";
@a = (D->new('elem')); @a = (); print "emptied\n"; goto_it(D->new('goto'));
sub goto_it { goto &gone } sub gone { print "in gone\n" } print "end goto\n";
our $left = D->new('global'); END { print "END\n" }
use B (); print B::svref_2object(\&f)->REFCNT, ' ', Internals::SvREFCNT(@a), "\n";
my $o = D->new('rc'); take_rc($o); sub take_rc { print Internals::SvREFCNT(%{ $_[0] }), "\n" }
