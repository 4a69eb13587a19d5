# dprofreport --format quickfix and editor: the dearest lines for editors.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;
use DProfTest;
use MadeUp;

# A profile of three lines of two subs, with known costs.
my $header = "\$dprof_script='shop.pl';\n\$dprof_lines='time';";
my @subs = ('Shop price lib/Shop.pm:3', 'main sum shop.pl:7');
my @tree = ('= 0 0 0 0 0 0 0 0', '= 1 2 1 300000 0 300000 300000 300000',
    '= 2 1 40 700000 0 700000 17500 17500');
my @lines = ('#f lib/Shop.pm', '#l 4 1 40 500000 0 500000', '#l 5 1 40 200000 0 200000',
    '#f shop.pl', '#l 8 2 1 300000 0 300000');
sub written {
    my ($name, $head, @rows) = @_;
    return spew(scratch() . "/$name", profile_text(format => 'tree', hz => 1_000_000,
        header => $head, times => [1_000_000, 0, 1_000_000], complete => 1, subs => \@subs,
        lines => \@rows));
}
my $with = written('lines.out', $header, @tree, @lines);
my $without = written('subs.out', "\$dprof_script='shop.pl';", @tree);

is(run_tool('dprofreport', ['--format', 'quickfix', $with])->{out}, <<'END', 'the dearest lines');
lib/Shop.pm:4: 50.00% self (500.0 ms), 40 times, Shop::price
shop.pl:8: 30.00% self (300.0 ms), 1 time, main::sum
lib/Shop.pm:5: 20.00% self (200.0 ms), 40 times, Shop::price
END
is(run_tool('dprofreport', ['--format', 'quickfix', '-O', 1, $with])->{out},
    "lib/Shop.pm:4: 50.00% self (500.0 ms), 40 times, Shop::price\n", '... or the first of them');
is(run_tool('dprofreport', ['--format', 'quickfix', '--only', 'sum', $_])->{out},
    $_ eq $with ? "shop.pl:8: 30.00% self (300.0 ms), 1 time, main::sum\n"
    : "shop.pl:7: 30.00% self (300.0 ms), 1 call, main::sum\n", '... or of the subs that match')
    for $with, $without;
is(run_tool('dprofreport', ['--format', 'quickfix', $without])->{out}, <<'END',
lib/Shop.pm:3: 70.00% self (700.0 ms), 40 calls, Shop::price
shop.pl:7: 30.00% self (300.0 ms), 1 call, main::sum
END
    'without costs of lines, the subs at their first lines');
is_deeply(JSON::PP::decode_json(run_tool('dprofreport', ['--format', 'editor', $with])->{out}),
    { version => 1, metric => 'user+system time', unit => 's', places => 'lines', files => [
        { file => 'lib/Shop.pm', lines => [
            { line => 4, sub => 'Shop::price', count => 40, calls => 0, self => 0.5,
                inclusive => 0.5 },
            { line => 5, sub => 'Shop::price', count => 40, calls => 0, self => 0.2,
                inclusive => 0.2 }] },
        { file => 'shop.pl', lines => [
            { line => 8, sub => 'main::sum', count => 1, calls => 0, self => 0.3,
                inclusive => 0.3 }] }] }, 'all lines as JSON');
for (['-m', 'calls'], ['-s', 'sub']) {
    my $wrong = run_tool('dprofreport', ['--format', 'quickfix', @$_, $with]);
    is($wrong->{status}, 2, "@$_ does not go with it");
}

# A name cannot forge a line.
{
    my $odd = spew(scratch() . '/odd.out', profile_text(format => 'tree', hz => 1_000_000,
        header => "\$dprof_script='x';", times => [1_000_000, 0, 1_000_000], complete => 1,
        subs => ['A b%0Ax.pl:1:%20forged x%0Ay.pl:3'],
        lines => ['= 0 0 0 0 0 0 0 0', '= 1 1 1 1000000 0 1000000 1 1']));
    is(run_tool('dprofreport', ['--format', 'quickfix', $odd])->{out},
        "x\\x0ay.pl:3: 100.00% self (1.000 s), 1 call, A::b\\x0ax.pl:1: forged\n",
        'a name with a newline stays in its line');
}

done_testing();
