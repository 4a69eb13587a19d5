# A million self-gotos would be a loop in constant space; ten thousand show it.
# expect: main::count 10001
# expect: (program) > main::count 10001
# expect: main::count > main::count 0
sub count { my $n = shift; return 'done' unless $n; @_ = ($n - 1); goto &count }
print count(10_000), "\n";
