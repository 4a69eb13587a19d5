# Warnings and messages: their texts and line numbers, Carp's traces, warnings in lexical scope.
# switches: -w
use strict;
use warnings;
use Carp qw(carp croak cluck confess longmess shortmess);
sub f { my $x; my $y = "a$x"; 1 + 'abc' } f();
sub c { carp 'carped' } sub d { c(1, 'two', [3] ? 'ref' : 0) } d();
sub l { cluck 'clucked' } l('x');
eval { croak 'croaked' }; print $@; sub cr { croak 'in sub' } eval { cr() }; print $@;
eval { confess 'confessed' }; print $@;
sub mess { print longmess('long'), shortmess('short') } mess(4);
{ no warnings; f() } sub deep { my $n = shift; deep($n - 1) if $n } deep(120);
sub redef { 1 } eval 'sub redef { 2 }'; warn "plain\n"; warn 'with line'; eval { die { a => 1 } };
print ref $@, "\n";
local $SIG{__WARN__} = sub { print "W: $_[0]" }; f(); my @s = sort { $a <=> $b } 'x', 1;
undef_sub() if 0; eval 'my $z; my $z; 1';
