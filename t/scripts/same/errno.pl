# $!, $@ and $? keep their values across calls, returns, exceptions and writes of the buffer.
# clocks: counting
# env: PERL_DPROF_BUFFER=0
use strict;
sub f { $! + 0 } sub e { "$@" } sub q_ { $? }
sub g { for (1 .. ($ENV{EXTENDED_TESTING} ? 30_000 : 3_000)) { h() } } sub h { 1 }
$! = 5; print f(), "\n"; $! = 7; g(); print $! + 0, "\n";
eval { die "kept\n" }; print e(), "\n"; g(); print $@;
$? = 256; g(); print q_(), "\n";
sub die_errno { open my $x, '<', '/nowhere/at/all' or die $! + 0, "\n" } eval { die_errno() };
print $@;
sub seterr { $! = $_[0] } seterr(9); print $! + 0, "\n"; sub ret { $! = 11; return 1 } ret();
print $! + 0, "\n";
{ package D; sub DESTROY { 1 } } sub d { my $o = bless [], 'D'; $! = 12; 1 } d();
print $! + 0, "\n";
my @x = sort { $! = 13; h(); $a <=> $b } 2, 1; print $! + 0, "\n";
