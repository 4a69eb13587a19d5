# Subs redefined, undefined and deleted while they run, or between calls.
# expect: main::f 3
# expect: main::g 1
# expect: main::g > main::inside 0
# expect: main::h 1
# expect: main::h > main::inside 1
# expect: main::k 2
# expect: main::d 1
# expect: main::d > main::inside 2
# expect: main::self_undef 1
no warnings;
sub inside { 1 }
sub f { 'old' }
my @got = f();
*f = sub { 'new' };
require Sub::Util;
*f = Sub::Util::set_subname('main::f', sub { 'named' });
push @got, f();
eval 'sub f { "eval" }';
push @got, f();
sub g { undef &g; inside(); 'survived' }
push @got, eval { g() } // 'undefined';
sub h { *h = sub { 'other' }; inside(); 'redefined' }
push @got, h();
sub k { eval 'sub k { inside2() }' if !$done++; 'k' }
sub inside2 { 'k2' }
push @got, k(), k();
sub d { inside(); delete $main::{d}; inside(); 'deleted' }
push @got, d();
sub self_undef { my $x = shift; undef *self_undef; return "$x" }
push @got, self_undef('u');
print "@got\n";
