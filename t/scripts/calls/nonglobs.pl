# Stash entries that are no globs: constants, forward declarations, prototypes.
# expect: main::forward 1
# expect: main::proto 1
# expect: main::sum_it 1
# expect: main::sub_ref_entry 2
use constant PI => 3;
use constant LIST => (1, 2);
sub forward;
sub proto ($$);
BEGIN { $main::{lazy_const} = \42 }
sub sum_it { my $s = 0; $s += $_ for @_; $s }
print PI, ' ', sum_it(LIST), ' ', proto(1, 2), ' ', (forward 3), ' ', lazy_const(), "\n";
sub proto ($$) { $_[0] + $_[1] }
sub forward { "f@_" }
sub sub_ref_entry { 1 }
sub_ref_entry();
&{"sub_ref_entry"}();
print eval { undefined_one(); 1 } ? '' : $@;
print eval { main->no_method; 1 } ? '' : $@;
sub declared_only;
print eval { declared_only(); 1 } ? '' : $@;
