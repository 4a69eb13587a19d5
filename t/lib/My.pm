package My;
use strict;
use warnings;
sub fetch { my ($x) = @_; return $x * 2 }
sub parse { my ($n) = @_; my $s = 0; for (1 .. $n) { $s += fetch($_); extra() if $ENV{MORE} }
    return $s }
sub run { my ($n) = @_; my $f = sub { parse($_[0]) }; return $f->($n) }
sub extra { my $s = 0; $s += $_ for 1 .. 3; return $s }
sub never { 1 }
1;
