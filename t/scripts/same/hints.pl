# %^H and lexical pragmas, at compile time and through caller; feature bundles; charnames.
use strict;
BEGIN { package Prag; $INC{'Prag.pm'} = 1; sub import { $^H{'Prag/x'} = $_[1] }
    sub unimport { delete $^H{'Prag/x'} }
        sub here { my $h = (caller(0))[10]; $h && $h->{'Prag/x'} // 'none' } }
sub f { 1 }
{ use Prag "five"; print Prag::here(), "\n"; BEGIN { f() } print Prag::here(), "\n";
    { no Prag; print Prag::here(), "\n" } eval 'print Prag::here(), "\n"' }
print Prag::here(), "\n"; use feature ':5.10'; say 'said'; use integer; print 7 / 2, "\n";
print "\N{GREEK SMALL LETTER ALPHA}" eq "\x{3b1}", "\n";
BEGIN { $^H{mine} = 'yes' } BEGIN { f(); print $^H{mine}, "\n" } use re 'eval';
print join(',', sort grep /^mine|Prag/, keys %{ (caller_hints())[0] || {} }), "\n";
sub caller_hints { (caller(0))[10] }
