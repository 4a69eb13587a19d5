# goto LABEL out of subs; within a sub; at its first statement, which is no goto &sub.
# trace: +out /out +after -after +within -within +first -first +deep1 +deep2 /deep2 ~/deep1 +after
# trace: -after
# trace: +computed -computed +top -top
# expect: main::first 1
# expect: main::within 1
# expect: main::top 1
no warnings;
sub after { 1 }
sub out { goto OUT }
out();
OUT: after();
sub within { my $n = 0; AGAIN: $n++; goto AGAIN if $n < 3; $n }
print within(), "\n";
my $n = 0;
sub first { START: $n++; goto START if $n < 4; $n }
print first(), "\n";
sub deep2 { goto DEEP }
sub deep1 { deep2() }
deep1();
DEEP: after();
sub computed { my $l = 'L' . (1 + 1); goto $l; L1: return 1; L2: return 2 }
print computed(), "\n";
my $t = 0;
sub top { TOP: goto TOP if $t++ < 2; 5 }
print top(), "\n";
