# caller, wantarray, @_ aliasing, DB::args, hints and warning bits as caller tells them.
# switches: -w
use strict;
sub show { my @c = caller($_[0]); $c[9] = defined $c[9] ? unpack('H*', $c[9]) : 'undef';
    $c[10] = $c[10] ? 'hints' : '';
           print join('|', map { defined() ? $_ : 'undef' } @c), "\n" }
sub frames {
    my $i = 0;
    while (my @c = caller($i++)) {
        print "  $i $c[3] line $c[2] args $c[4] want ", defined $c[5] ? $c[5] : 'undef', "\n";
    }
}
sub a { b(@_) } sub b { show(0); show(1); show(2); frames(); my @x = &c; scalar c() }
sub c { show(1); wantarray ? (1, 2) : 3 }
a(1, 2);
my $anon = sub { show(1) }; $anon->();
eval { show(1); 1 }; eval 'show(1)';
sub alias { $_[0]++; $_[1] = 'new' } my ($p, $q) = (1, 2); alias($p, $q); print "$p $q\n";
sub args { package DB; my @c = caller(1); print "args: @DB::args\n" }
sub with_args { main::args(); shift; main::args() } with_args(5, 6, 7);
my @s = sort { show(1); $a <=> $b } 2, 1;
sub cmp_it { frames(); $a <=> $b } @s = sort cmp_it 2, 1;
print ((caller) ? 'caller' : 'no caller', "\n");
sub void { print defined wantarray ? 'not void' : 'void', "\n" } void(); my $v = void();
my ($l) = void();
sub Pkg::dest { frames() } { package Ob; sub DESTROY { main::frames() } my $o = bless []; }
sub lv : lvalue { print defined wantarray ? wantarray : 'undef', "\n"; my $x } lv() = 1; (lv()) = 1;
