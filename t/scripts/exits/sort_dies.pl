# die, return, last and next in comparators; a sort in eval in a sub.
# trace: +in_eval +dies /dies +after -after -in_eval +through +dies /dies ~/through +after -after
# trace: +nested_die +outer_cmp +dies /dies ~/outer_cmp +after -after -nested_die
sub dies { die "cmp\n" }
sub after { 1 }
sub in_eval { my @x = eval { sort dies 2, 1 }; after() }
in_eval();
sub through { my @x = sort dies 2, 1; @x }
eval { through() };
after();
sub outer_cmp { my @y = sort dies 4, 3; $a <=> $b }
sub nested_die { my @x = eval { sort outer_cmp 2, 1 }; after() }
nested_die();
print $@;
