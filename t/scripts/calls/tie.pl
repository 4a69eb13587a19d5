# Methods of tied scalars, arrays, hashes and handles.
# expect: T::TIESCALAR 1
# expect: T::FETCH 3
# expect: T::STORE 2
# expect: T::STORE > main::deep 2
# expect: main::user > T::FETCH 2
# expect: H::FETCH 1
# expect: H::STORE 1
# expect: H::FIRSTKEY 1
# expect: H::NEXTKEY 1
# expect: H::DELETE 1
# expect: A::FETCHSIZE 1
# expect: Out::PRINT 1
# expect: Out::PRINTF 1
package T;
sub TIESCALAR { bless [$_[1]] }
sub FETCH { $_[0][0] }
sub STORE { main::deep(); $_[0][0] = $_[1] }
package H;
sub TIEHASH { bless {} }
sub FETCH { $_[0]{ $_[1] } }
sub STORE { $_[0]{ $_[1] } = $_[2] }
sub FIRSTKEY { my $a = keys %{ $_[0] }; each %{ $_[0] } }
sub NEXTKEY { each %{ $_[0] } }
sub DELETE { delete $_[0]{ $_[1] } }
package A;
sub TIEARRAY { bless [] }
sub FETCHSIZE { 3 }
package Out;
sub TIEHANDLE { bless [] }
sub PRINT { shift; CORE::print STDOUT "tied: @_" }
sub PRINTF { shift; CORE::printf STDOUT @_ }
package main;
sub deep { 1 }
tie my $s, 'T', 4;
sub user { my $n = $s + 0; $n += $s }
$s = user();
$s = $s + 1;
tie my %h, 'H';
$h{a} = 1;
print "$h{a} ", join(',', keys %h), "\n";
delete $h{a};
tie my @a, 'A';
print scalar(@a), "\n";
tie *OUT, 'Out';
print OUT "hello\n";
printf OUT "%d\n", 3;
