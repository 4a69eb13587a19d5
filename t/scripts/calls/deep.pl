# Recursion 100,000 deep, and a die through all of it; a twentieth of it where a user waits.
# clocks: default
# expect: main::after 2
no warnings 'recursion';
my $levels = $ENV{EXTENDED_TESTING} ? 100_000 : 5_000;
sub deep { my $n = shift; $n ? 1 + deep($n - 1) : 0 }
sub dies { my $n = shift; $n ? 1 + dies($n - 1) : die "deep\n" }
sub after { 1 }
print deep($levels - 1), "\n";
after();
eval { dies($levels - 1) };
print $@;
after();
END {
    open my $out, '>', $ENV{EXPECT} or die;
    print {$out} "main::deep $levels\nmain::deep > main::deep ", $levels - 1,
        "\nmain::dies $levels\n";
}
