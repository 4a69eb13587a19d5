# Subs that perl keeps in a stash without a glob, and those that a program puts there.
# packages: main Plain Put
# expect: Plain::first 2
# expect: Plain::second 3
# expect: Plain::first > Plain::second 2
# expect: Plain::lvalue 2
# expect: Plain::later 1
# expect: Put::__ANON__ 2
# expect: Put::named 1
use strict; use warnings;
package Plain {
    sub first { second() } sub second { 1 } my $v;
    sub lvalue :lvalue { $v } sub later;
}
package Put { $Put::{code} = sub { 2 }; $Put::{other} = \&named; sub named { 3 } }
print Plain::first(), Plain->first, &Plain::second(), "\n";
Plain::lvalue() = 3;
print Plain->lvalue, eval 'package Plain; sub later { 4 } later()', "\n";
print eval 'Put::code() . Put->code . Put::other()', $@, "\n";
