# What perl's argument stack makes visible: lists, contexts, swaps, slices, hash flattening, chained
# methods.
use strict;
sub l { @_ } sub n { () } sub h { %{ $_[0] } } sub s { scalar @_ } sub sw { @_[1, 0] }
sub last_ { (@_)[-1] }
print join(',', l(1, n(), 2, l(l(3), n())), &s(l(1 .. 5)),
    sw(1, 2), scalar(l(4, 5, 6)), scalar(n()) // 'undef', last_(7, 8)), "\n";
my %x = h({ a => 1 }); print %x, "\n"; my ($a1, @r) = l(1 .. 4); print "$a1 @r\n";
print "@{[ map { l($_, $_) } 1 .. 2 ]}\n"; my @e = (l())[0, 1]; print scalar @e, "\n";
{ package C; sub new { bless {} } sub a { $_[0]{n} .= 'a'; $_[0] }
    sub b { $_[0]{n} .= 'b'; $_[0] } }
print C->new->a->b->a->{n}, "\n"; print "@{[ reverse l(1, 2, 3) ]}\n";
my @big = l(1 .. 50_000); print scalar @big, "\n"; print scalar(my ($p, $q) = n()), "\n";
print join(',', (sub { wantarray ? 'list' : 'scalar' })->(),
    scalar((sub { wantarray ? 'list' : 'scalar' })->())), "\n";
