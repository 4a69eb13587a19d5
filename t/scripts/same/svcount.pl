# The number of SVs does not grow with calls, exceptions, jumps.
# needs: B
no warnings;

sub svs { my $x = 0; $x += 0; scalar keys %main:: } sub dies { die "x\n" } sub lasts { last }
sub f { my $x = [1]; $x->[0] }
my @before = keys %main::; for (1 .. 1000) { eval { dies() }; { lasts() } f() }
my @after = keys %main::; print @after - @before, "\n";
my $probe = \my $x; for (1 .. 1000) { eval { dies($probe) }; f($probe) }
print Internals::SvREFCNT($x), "\n";
