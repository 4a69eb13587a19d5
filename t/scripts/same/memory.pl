# Memory after many abnormal exits is what it is without us.
# clocks: default
# needs: Devel::Peek
no warnings;
my ($rounds, $limit) = $ENV{EXTENDED_TESTING} ? (20_000, 3000) : (6_000, 2000);
# A sanitizer keeps what is freed for a while: 2.3 MB in a plain run.
$limit *= 3 if ($ENV{LD_PRELOAD} // "") =~ /asan/;
sub rss { open my $f, '<', '/proc/self/statm' or return 0; (split ' ', <$f>)[1] * 4 }
sub dies { die "x\n" } sub lasts { last } sub nexts { next } sub gotos { goto OUT }
sub through { dies() } sub g { 1 } sub gs { goto &g }
sub D::DESTROY { die "y\n" } open STDERR, '>', '/dev/null';
sub round {
    for (1 .. $_[0]) {
        eval { through() }; { lasts() } for (1) { nexts() } gs();
        OUT1: eval { my @s = sort dies2 2, 1 };
        { my $d = bless [], 'D' } eval 'die' if $_ % 50 == 0;
    }
}
sub dies2 { die "z\n" }
round(2000); my $before = rss(); round($rounds); my $grown = rss() - $before;
for (1 .. $rounds) { gotos(); OUT: } my $grown2 = rss() - $before;
print $grown < $limit ? "steady\n" : "grew by $grown kB\n",
    $grown2 < $limit ? "steady\n" : "grew by $grown2 kB after gotos\n";
