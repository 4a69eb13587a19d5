# Anonymous subs: two on one line, one in a named sub, one in another, one in a package.
# expect: main::__ANON__ 6
# expect: main::holder > main::__ANON__ 1
# expect: main::__ANON__ > main::__ANON__ 1
# expect: Pkg::__ANON__ 1
my ($a1, $b1) = (sub { 1 }, sub { 2 }); print $a1->(), $a1->(), $b1->(), "\n";
sub holder { my $in = sub { 3 }; $in->() }
print holder(), "\n";
my $outer = sub { my $inner = sub { 4 }; $inner->() };
print $outer->(), "\n";
print do { package Pkg; sub { 5 } }->(), "\n";
