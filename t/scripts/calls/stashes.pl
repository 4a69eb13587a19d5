# Stashes deleted and undef'd while their subs run; subs called after that.
# expect: Gone::f 1
# expect: main::after 5

no warnings;
sub after { 1 }
{
    package Gone;
    sub f { delete $main::{'Gone::'}; main::after(); 'f' } sub late { main::after(); 'late' }
}
my $late = \&Gone::late;
my @got = Gone::f();
push @got, $late->();
{ package Undefd; sub f { undef %Undefd::; main::after(); 'undefd' } sub g { main::after(); 'g' } }
my $g = \&Undefd::g;
push @got, Undefd::f();
push @got, $g->();
{ package Renamed; sub f { main::after(); 'moved' } }
*{'New::'} = *{'Renamed::'};
delete $main::{'Renamed::'};
push @got, New->can('f') ? New->can('f')->() : do { after(); 'lost' };
print "@got\n";
