# &foo; shares the caller's @_ .
# trace: +outer +inner -inner +inner2 -inner2 -outer +outer +inner -inner +inner2 -inner2 -outer
# expect: main::outer > main::inner 2
sub inner { push @_, 'x'; scalar @_ }
sub inner2 { scalar @_ }
sub outer { my $n = &inner; my $m = &inner2(); "$n $m " . scalar(@_) . "@_" }
print outer(1, 2), "\n", outer(), "\n";
