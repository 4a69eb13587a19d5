# Names of 600 and of 70,000 characters, and packages as long.
# needs: Sub::Util
# expect: main::short 4
use Sub::Util 'set_subname'; no strict 'refs';
sub short { length((caller(1))[3]) }
open my $out, '>>', $ENV{EXPECT} || '/dev/null';
for my $n (600, 70_000) {
    my ($name, $package) = ('n' x $n, 'P' x $n);
    *{$name} = set_subname($name, sub { short() + length $n });
    *{"${package}::made"} = set_subname("${package}::made", sub { main::short() + $n });
    print &$name(), ' ', $package->made, "\n";
    print $out "main::$name 1\n${package}::made 1\n";
}
