# Scope::Upper: reap, localize, unwind, uplevel.
# needs: Scope::Upper
# expect: main::helper 4
# expect: main::hidden > main::later 1
# expect: main::holder > main::later 1
# expect: main::holder > main::hidden 1
# expect: main::after 3
use Scope::Upper qw(reap localize unwind uplevel want_at :words);
sub helper { 1 } sub after { 1 }
sub reaps { reap { print "reaped\n"; helper() } UP; 1 }
{ reaps(); print "in block\n" } after();
sub unwinds {
    unwind 1, 2, 3 => SUB UP;
    print "not here\n";
}
sub outer { my @x = (unwinds(), 4); 'no' } print join(',', outer()), "\n"; after();
sub target {
    my @c = caller(0);
    helper();
    "$c[3] @_";
}
sub ups { uplevel { target(@_) } @_ => CALLER(1) } sub around { ups(5, 6) } print around(), "\n";
after();
sub loc { localize '$main::v' => 7, UP }
{ loc(); print "$main::v\n"; helper() }
print defined $main::v ? 1 : 0, "\n";
sub later { 1 } sub hidden {
    my $r = uplevel { target(7); 'done' } CALLER(1);
    later();
    $r;
}
sub holder { my $r = hidden(); later(); $r } print holder(), "\n";
