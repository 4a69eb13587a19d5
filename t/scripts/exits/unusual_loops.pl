# grep, map and sort blocks left by die, return, next; nested subs in them.
# trace: +from_map +item -item -from_map +from_grep +thrower /thrower ~/from_grep +after -after
# trace: +next_out /next_out +next_out /next_out +after -after
no warnings 'exiting';
sub after { 1 }
sub item { $_[0] }
sub from_map { map { return item($_) } 1 .. 3 }
print from_map(), "\n";
sub thrower { die "thrown\n" }
sub from_grep { grep { thrower() } 1 }
eval { from_grep() };
after();
sub next_out { next }
for (1, 2) { my @x = map { next_out() } 1, 2 }
after();
