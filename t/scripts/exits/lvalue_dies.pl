# Exceptions out of lvalue subs and out of what is assigned to them.
# trace: +lv /lv +after -after +value /value +after -after +value /value +after -after
sub after { 1 }
my $v = 0;
sub lv : lvalue { die "lv\n" if !$v; $v }
sub lv2 : lvalue { $v }
sub value { die "value\n" }
eval { lv() = 1 }; after();
eval { lv() = value() }; after();
eval { (lv2()) = (value()) }; after();
print "$@";
