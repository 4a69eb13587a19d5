# What depends on who calls: wrapped require, hints, next::method, autouse, Memoize, SelfLoader,
# Exporter, loggers.
# needs: Memoize
# needs: autouse
# needs: SelfLoader
# expect: main::my_require 4
# expect: main::slow 4
# expect: Base::who 1
# expect: Derived::who 1
# expect: Logger::say_where 2
# expect: main::exported 1
# expect: Counted::FETCH 1
# expect: main::f 5
# expect: Self::loaded 3
BEGIN { *CORE::GLOBAL::require = \&my_require }
sub my_require {
    my $f = shift;
    print "require $f, hints ", join(',', grep /mine/, sort keys %{ (caller(0))[10] || {} }), "\n";
    return CORE::require($f);
}
use strict; use warnings; sub f { 1 }
BEGIN { $^H{mine} = 1; $^H |= 0x20000 }
require Text::Tabs; require Text::Abbrev;
BEGIN { delete $CORE::GLOBAL::{require} }
use Memoize 'memoize';
sub slow { my $n = shift; return wantarray ? ($n, 'list') : "$n scalar" }
memoize('slow');
print join(' ', slow(1), scalar(slow(1)), slow(1), slow(2), scalar(slow(1)), scalar(slow(3))), "\n";
{
    package Base;
    sub new { bless [], shift } sub who {
        main::f();
        'base ' . ((caller(0))[3] || '') . ' from ' . ((caller(1))[3] || 'none');
    }
}
{
    package Derived;
    our @ISA = 'Base';
    use mro 'c3';
    require Sub::Util;
    no strict 'refs';
    *{"Derived::who"} = Sub::Util::set_subname('Derived::who',
        sub { 'derived ' . $_[0]->next::method });
}
print Derived->new->who, "\n";
use autouse 'Text::Wrap' => qw(wrap);
print wrap('', '  ', 'some words'), "\n";
{
    package Logger;
    sub say_where { main::f(); my @c = caller; my @up = caller(1); print "$c[2] $up[3]\n" }
}
sub logs { Logger::say_where('x') }
logs(); (sub { Logger::say_where('y') })->();
BEGIN {
    package Exp;
    $INC{'Exp.pm'} = 1;
    require Exporter;
    our @ISA = 'Exporter';
    our @EXPORT_OK = 'exported';
    *exported = \&main::exported;
}
sub exported { f(); return join ' ', (caller(0))[3], (caller(0))[0] }
{ package Uses; use Exp 'exported'; print exported(), "\n" }
{
    package Counted;
    sub TIESCALAR { bless [0], shift } sub FETCH { my $s = shift; $s->[0]++; return \&main::f }
}
tie my $tied, 'Counted'; &$tied; print 'fetched ', tied($tied)->[0], "\n"; print "warn $^W\n";
{ package Self; use SelfLoader; }
print Self::loaded() + Self::loaded(), "\n";
package Self;
__DATA__
sub loaded { 21 }
