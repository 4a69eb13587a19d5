# Long names, Unicode, blanks, control characters, percent signs, slashes, quotes.
# needs: Sub::Util 1.50
use utf8;
no strict 'refs';
binmode STDOUT, ':utf8';
my %odd = (
    'long' . 'x' x 10_000 => 1,
    "caf\x{e9}" => 2,
    "\x{3b1}\x{3b2}\x{4e2d}" => 3,
    "with blank" => 4,
    "new\nline" => 5,
    "+ 1" => 6,
    "per%cent%41" => 7,
    "esc\e[31m" => 8,
    "nul\0byte" => 9,
    "semi;colon" => 10,
    "quote\"\\" => 11,
    "\x{85}\x{a0}\x{ff}" => 12,
    "del\x7f" => 13,
    "\x{1F600}" => 14,
    "@ 1 2 3" => 15,
);
my $n = 0;
for my $name (sort keys %odd) {
    my $times = $odd{$name};
    *{"Some Package\n%::$name"} = eval "package Elsewhere; sub { \$n++ }" or die $@;
    require Sub::Util;
    *{"Odd::$name"} = Sub::Util::set_subname("Odd::$name", eval 'sub { $n++ }');
    &{"Odd::$name"}() for 1 .. $times;
}
package Größe { sub maß { $n++ } }
Größe::maß();
sub naïve { $n++ }
naïve();
print "$n\n";
# What the names are is told in the test's own terms, or the file could not hold them.
END {
    open my $out, '>:utf8', $ENV{EXPECT} or die;
    for (sort keys %odd) {
        next if /\n/;
        print {$out} "Odd::$_ $odd{$_}\n";
    }
    print {$out} "Größe::maß 1\nmain::naïve 1\n";
}
