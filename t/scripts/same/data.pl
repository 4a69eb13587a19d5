# DATA handles of two packages, __END__, seek and tell in them, source that reads itself.
package Other;
package main;
sub f { 1 }
f();
my $at = tell DATA;
print while <DATA>;
seek DATA, $at, 0;
print scalar <DATA>;
print $at > 0 ? "told\n" : '';
open my $self, '<', $0 or die;
print scalar(() = <$self>), " lines\n";
__END__
one
two
