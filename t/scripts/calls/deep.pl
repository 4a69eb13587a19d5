# Recursion 100,000 deep, and a die through all of it.
# clocks: default
# expect: main::deep 100000
# expect: main::deep > main::deep 99999
# expect: main::dies 100000
# expect: main::after 2
no warnings 'recursion';
sub deep { my $n = shift; $n ? 1 + deep($n - 1) : 0 }
sub dies { my $n = shift; $n ? 1 + dies($n - 1) : die "deep\n" }
sub after { 1 }
print deep(99_999), "\n";
after();
eval { dies(99_999) };
print $@;
after();
