# Sort comparators of all kinds. A block is no sub.
# expect: main::by_num 1
# expect: main::sorter > main::by_num 1
# expect: main::by_proto 1
# expect: main::__ANON__ 1
# expect: main::with_return 1
# expect: main::outer_cmp 1
# expect: main::outer_cmp > main::helper 1
# expect: main::helper > main::inner_cmp 1
# expect: main::by_name_in_var 1
# expect: main::dies 1
# expect: main::in_block 1
# expect: Other::cmp 1
# expect: main::reversed 1
use strict;
sub by_num { $a <=> $b }
sub by_proto ($$) { $_[0] <=> $_[1] }
sub with_return { return $a <=> $b if $a; return 0 }
sub inner_cmp { $b <=> $a }
sub helper { my @x = sort inner_cmp 1, 2; $x[0] }
sub outer_cmp { my ($x, $y) = ($a, $b); helper(); $x <=> $y }
sub by_name_in_var { $a cmp $b }
sub dies { die "from comparator\n" }
sub in_block { $_[0] <=> $_[1] }
sub reversed { $a <=> $b }
sub Other::cmp { no strict 'refs'; $main::a <=> $main::b }
sub sorter { my @s = sort by_num 2, 1; "@s" }
my @got = sorter();
my @s = sort by_proto 2, 1;
my $ref = sub { $a <=> $b };
push @got, @s, sort $ref 2, 1;
@s = sort with_return 2, 1;
push @got, @s, sort outer_cmp 2, 1;
my $name = 'by_name_in_var';
push @got, sort $name 2, 1;
@s = eval { sort dies 2, 1 };
push @got, $@;
push @got, sort { in_block($a, $b) } 2, 1;
push @got, sort Other::cmp 2, 1;
push @got, reverse sort reversed 2, 1;
@s = (2, 1);
print "@got\n";
