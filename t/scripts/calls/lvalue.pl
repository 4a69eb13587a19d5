# Lvalue subs: assigned to, read, nested, with return, as methods, in foreach.
# trace: +lv -lv +lv -lv +nested +lv -lv -nested +ret -ret +meth -meth +lv -lv
# expect: main::nested > main::lv 1
my $v = 1;
sub lv : lvalue { $v }
sub nested : lvalue { lv() }
sub ret : lvalue { return $v }
sub meth : lvalue { $_[0]{x} }
lv() = 5;
print lv(), "\n";
nested() += 2;
(ret()) = 9;
my $o = bless {};
$o->meth = 3;
$_++ for lv();
print "$v $o->{x}\n";
