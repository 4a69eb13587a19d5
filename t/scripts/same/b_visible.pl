# Op trees, CVs and symbol tables as B and Deparse show them; op addresses are not compared.
use strict; use B (); use B::Deparse;
sub f { my ($x, @y) = @_; return map { $_ * $x } @y } sub g :lvalue { my $z }
f(2, 3); my $d = B::Deparse->new; print $d->coderef2text(\&f), "\n";
my $cv = B::svref_2object(\&f);
print join(' ', $cv->GV->NAME, $cv->STASH->NAME, $cv->CvFLAGS, $cv->DEPTH, ref $cv->START,
    $cv->FILE eq $0 ? 1 : 0), "\n";
my $lex = sub { 1 }; $lex->(); $cv = B::svref_2object($lex);
print join(' ', $cv->GV->NAME, $cv->CvFLAGS), "\n";
print join(',', sort grep { !/^(?:_<|::|DB|Devel|main::|XSLoader)/ } keys %main::),
    "\n" =~ s/_<[^,]+,?//gr;
{ my sub lexsub { 5 } print lexsub(), "\n"; } print ref $main::{f}, '|', ref \$main::{f}, "\n";
{ package Q; sub only { 1 } Q::only() } print ref \$Q::{only}, '|', ref $Q::{only}, "\n";
