# dprofdiff with several runs a side: medians, tests, the speed of runs, --run.
use strict;
use warnings;
use File::Glob ':bsd_glob';
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew slurp run_program tool_command run_tool in_process no_terminal
    on_terminal);
use MadeUp;
use JSON::PP ();

my $dir = scratch();

sub tool {
    my (@args) = @_;
    my %how = ref $args[0] ? %{ shift @args } : ();
    return run_tool('dprofdiff', ['--format=perf', @args], fresh => 1, %how);
}

sub json {
    my $run = in_process('dprofdiff', '--format', 'json', @_);
    return eval { JSON::PP->new->utf8->decode($run->{out}) } // { rows => [], err => $run->{err} };
}

sub by_name { my ($json) = @_; return { map { $_->{symbol} => $_ } @{ $json->{rows} } } }

# Makes a run: [ticks, ops] by sub.
sub run_file {
    my ($path, %subs) = @_;
    my $n = 0;
    my (@names, @contexts);
    my $noise = grep { defined $_->[2] } values %subs;
    for my $name (sort keys %subs) {
        $n++;
        push @names, "A $name a.pl:$n";
        my ($time, $ops, $us, $calls, $longest) = @{ $subs{$name} };
        push @contexts, sprintf('= 1 %x %d %d 0 %d %d 1 %d', $n, $calls // 1, $time, $time,
            $longest // 1, $ops) . ($noise ? ' ' . 1000 * ($us // 0) : '');
    }
    return spew($path, profile_text(format => 'tree', hz => 1_000_000,
        counters => $noise ? 'ops:ops noise:ns' : 'ops:ops',
        header => q{$dprof_hash_seed='0'; $dprof_perturb_keys='0';}, times => [1, 0, 1],
        complete => 1, subs => \@names,
        lines => ['= 0 0 1 0 0 0 0 0 0' . ($noise ? ' 0' : ''), @contexts]));
}

my $sets = 0;
# Makes the runs of a side: a value of each sub, with noise of so many percent, times a speed that
# differs from run to run.
sub set {
    my ($runs, $noise, $speeds, %subs) = @_;
    my $set = ++$sets;
    for my $k (1 .. $runs) {
        my $speed = 1 + $speeds * rand;
        run_file("$dir/$set.$k",
            map { $_ => [int($subs{$_}[0] * $speed
                * (1 + $noise / 100 * (rand() + rand() + rand() - 1.5))), $subs{$_}[1]] } sort
                keys %subs);
    }
    return "$dir/$set.*";
}

my $seed = $ENV{DPROF_SEED} // 11;
srand $seed;
my %subs = map { $_ => [10_000, 1000] } 'a' .. 'j';

# ---- the output ----

subtest 'Several runs a side have medians, intervals and verdicts' => sub {
    my @x = (101, 99, 104, 97, 100);
    my @y = (121, 118, 125, 119, 122);
    my @same = ([50, 51, 50, 49, 50], [49, 50, 51, 50, 50]);
    run_file("$dir/x.$_", f => [$x[$_], 5], g => [$same[0][$_], 5]) for 0 .. 4;
    run_file("$dir/y.$_", f => [$y[$_], 5], g => [$same[1][$_], 5]) for 0 .. 4;
    my $json = json('--alpha', 0.05, "$dir/x.*", "$dir/y.*");
    my $f = by_name($json)->{'A::f'};
    is($f->{baseline} * 1e6, 100, 'the baseline is the median of its runs');
    is($f->{value} * 1e6, 121, "the value is the median of the other side's runs");
    is(sprintf('%.0f', $f->{baseline_spread} * 1e6), 1,
        'the spread is 1.4826 times the median of 1, 1, 4, 3, 0');
    is(sprintf('%.6f', $f->{p}), sprintf('%.6f', 2 / 252 * 2),
        'p is the least of five runs a side, for two tests');
    is($f->{verdict}, 'significant', 'the change is significant at 0.05');
    is(sprintf('%.2f', $f->{change_pct}), '21.00', 'the change is in percent');
    ok($f->{change_low} * 1e6 >= 14 && $f->{change_high} * 1e6 <= 28
        && $f->{change_low} < $f->{change_high},
        'the change is in its interval');
    is(by_name($json)->{'A::g'}{verdict}, 'not significant', 'an unchanged sub is not significant');
    is($json->{rows}[0]{symbol}, 'A::f', 'significant subs come first');
    is($json->{total_verdict}, 'significant', 'the total is significant');
    my $text = tool('--alpha', 0.05, "$dir/x.*", "$dir/y.*")->{out};
    like($text, qr/^# Baseline: .+ \(5 runs\)$/m, 'the header has the number of runs');
    like($text,
        qr/^\#\ Tested:\ 2\ with\ at\ least\ 0\.5\ %\ of\ the\ total;\ a\ change\ is\ true\ when
            \ its\ corrected\ p\ is\ at\ most\ 0\.05;\ intervals\ are\ of\ 95\ %,\ each\ for
            \ itself$/mx, 'the header names the test');
    like($text,
        qr/100\.0\ us\ \x{c2}\x{b1}1%.*121\.0\ us\ \x{c2}\x{b1}2%\s+\+21\.00%\ \(ops\ equal\)
            \s+\+\S+\ to\ \+\S+%\s+0\.01587\ \ A::f$/mx, 'a row has change, interval and p');
    like($text, qr/  50\.00 us\s+~ .* A::g$/m,
        '~ stands where there is no difference') or diag $text;
    my $few = tool("$dir/x.*", "$dir/y.*");
    like($few->{out}, qr/^# Not enough runs: 6 a side needed to decide$/m,
        'five runs cannot decide two tests at 0.005') or diag $few->{out};
    like($few->{out}, qr/\s\?\s.*A::f$/m, 'a row of too few runs has ? in place of a change');
    is(by_name(json("$dir/x.*", "$dir/y.*"))->{'A::f'}{verdict}, 'too few runs',
        'JSON says that the runs are too few');
    my $gate = tool('--fail-if', 'self > 5%', "$dir/x.*", "$dir/y.*");
    is($gate->{status}, 0, 'a finding that cannot be decided passes');
    like($gate->{err}, qr/undecided: not enough runs, 6 a side needed/,
        'a warning counts the findings that cannot be decided');
    like($gate->{out}, qr/^# Power: these runs can show nothing; 15 runs a side needed for self/m,
        'the header has the number of runs that would show such a growth');
    my $power = '# Power: a growth of %s %% in half of the %d tested, and of %s %% in all of them, '
        . 'is seen four times of five; ';
    my $some = tool('--alpha', 0.1, '--fail-if', 'self > 50%, /g/ self > 1%', "$dir/x.*",
        "$dir/y.*")->{out};
    for ([qr/\d\.\d/, 2, 'that is enough for self > 50%'],
        [qr/\d\.\d/, 1, qr{\d+ runs a side needed for /g/ self > 1% in all of them}]) {
        my ($number, $tests, $end) = @$_;
        my $line = sprintf $power, $number, $tests, $number;
        like($some, qr/^$line$end$/m, "the header says what $tests tests can show");
    }
    unlike(tool('--alpha', 0.1, "$dir/x.*", "$dir/y.*")->{out}, qr/Power/,
        'a comparison without a gate says nothing about its power');
    my $numbers = json('--alpha', 0.1, '--fail-if', 'self > 50%', "$dir/x.*", "$dir/y.*");
    cmp_ok($numbers->{seen_pct_1_1}, '<=', $numbers->{seen_in_all_pct_1_1},
        'JSON has the growth that can be seen');
    cmp_ok($numbers->{runs_to_see_1_1}, '<=', 5, 'JSON has the number of runs needed');
    is(tool('--strict', '--fail-if', 'self > 5%', "$dir/x.*", "$dir/y.*")->{status}, 3,
        '--strict makes an undecided finding fail');
    is(tool('--alpha', 0.05, '--fail-if', 'self > 5%', "$dir/x.*", "$dir/y.*")->{status}, 3,
        'a significant change fails');
    is(tool('--alpha', 0.05, '--fail-if', 'self > 25%', "$dir/x.*", "$dir/y.*")->{status}, 0,
        'a significant change within the limit passes');
    is(tool('--alpha', 0.05, '--fail-if', '/g/ self > 0%', "$dir/x.*", "$dir/y.*")->{status}, 0,
        'a change that is not significant passes');
    my $exact = json('-m', 'ops', "$dir/x.*", "$dir/y.*");
    is_deeply({ map { $_->{symbol} => $_->{verdict} } @{ $exact->{rows} } },
        { map { $_ => 'equal' } qw(A::f A::g (program)) },
        'ops that agree in all runs need no test');
    for (['dprofflame', '--diff'], ['dprofdiff', '--format', 'flame-svg']) {
        my $picture = in_process(@$_, '--alpha', 0.05, "$dir/x.*", "$dir/y.*");
        is("$picture->{status} $picture->{err}", '0 ',
            "the picture of several runs is drawn: $_->[0]");
        like($picture->{out}, qr/coloured: significant differences \(0\.05, /,
            "the picture of $_->[0] says which differences are coloured");
    }
    my $one = json("$dir/x.0", "$dir/y.*");
    is(by_name($one)->{'A::f'}{verdict}, 'too few runs', 'one run against five is too few');
    run_file("$dir/z.$_", f => [100, 5 + $_], g => [50, 5]) for 0 .. 4;
    my $ops = by_name(json('-m', 'ops', "$dir/x.*", "$dir/z.*"));
    is($ops->{'A::f'}{verdict}, 'too few runs',
        'ops that differ among the runs of a side are tested');
    is($ops->{'A::g'}{verdict}, 'equal', 'ops that agree among the runs are exact');
    my $floor = by_name(json('--floor', 40, "$dir/x.*", "$dir/y.*"));
    is($floor->{'A::g'}{verdict}, 'not tested', '--floor leaves small subs untested');
    like(tool('--floor', 40, "$dir/x.*", "$dir/y.*")->{out}, qr/^# Tested: 1 with /m,
        '--floor makes fewer tests');
};

# ---- are the differences real? ----

subtest 'Verdicts are right about made-up programs' => sub {
    my ($alarms, $found, $others) = (0, 0, 0);
    my $rounds = $ENV{DPROF_RUNS} || TestEnvironment::rounds(2, 20);
    for (1 .. $rounds) {
        my $same = json('--layout', 0, set(10, 3, 0.5, %subs), set(10, 3, 0.5, %subs));
        $alarms += grep { $_->{verdict} eq 'significant' } @{ $same->{rows} };
        my $slow = json('--layout', 0, set(10, 2, 0.5, %subs),
            set(10, 2, 0.5, %subs, d => [10_500, 1000]));
        $found++ if by_name($slow)->{'A::d'}{verdict} eq 'significant';
        $others += grep { $_->{verdict} eq 'significant' && $_->{symbol} ne 'A::d' }
            @{ $slow->{rows} };
    }
    # One alarm in two hundred is to be expected: that is what p means.
    cmp_ok($alarms, "<=", 1 + $rounds / 50,
        "$rounds comparisons of a program with itself on an unsteady machine give $alarms alarms");
    cmp_ok($found, '>=', $rounds - 2,
        "a sub that became 5 % slower, with 1 % of noise, is found in $found of $rounds "
            . 'comparisons');
    cmp_ok($others, "<=", 1 + $rounds / 20, "the comparisons call $others other subs slower");
    my ($old, $new) = (set(10, 1, 0, %subs),
        set(10, 1, 0, map { $_ => [2 * $subs{$_}[0], 2 * $subs{$_}[1]] } keys %subs));
    my $twice = json($old, $new);
    is(scalar(grep { abs(($_->{change_pct} // 0) - 100) < 3 } @{ $twice->{rows} }), 10,
        'twice the work is not taken for a slow machine');
    my $slower = json($old,
        set(10, 1, 0, map { $_ => [1.5 * $subs{$_}[0], $subs{$_}[1]] } keys %subs));
    is(scalar(grep { $_->{verdict} eq 'significant' } @{ $slower->{rows} }), 10,
        'if all subs are slower by the same, all are significant');
    is($slower->{total_verdict}, 'significant', 'the total is significant if all subs are slower');
    is($slower->{adjusted_for_speed}, 0, 'times are not adjusted if all subs are slower');
    cmp_ok(abs($slower->{speed_change_pct} - 50), '<', 3,
        'the change of speed is reported if all subs are slower');
    my %mostly = map { $_ => [($_ lt 'g' ? 1.2 + 0.1 * ord($_) % 3 : 1) * $subs{$_}[0],
        $subs{$_}[1]] } keys %subs;
    my $most = json($old, set(10, 1, 0, %mostly));
    is(join(' ', sort map { s/A:://r } map { $_->{symbol} } grep { $_->{verdict} eq 'significant' }
        @{ $most->{rows} }), 'a b c d e f', 'if most subs are slower, only those are significant');
    is(scalar(grep { $_->{change_pct} < -2 } grep { $_->{symbol} =~ /^A/ } @{ $most->{rows} }), 0,
        'no sub looks faster if most subs are slower');
    my $measured = json('--as-measured', $old,
        set(10, 1, 0, map { $_ => [1.5 * $subs{$_}[0], $subs{$_}[1]] } keys %subs));
    is(scalar(grep { $_->{verdict} eq 'significant' } @{ $measured->{rows} }), 10,
        '--as-measured does not adjust times');
    my $few = json(map { set(10, 1, 0.5, a => [100, 10], b => [200, 10]) } 1, 2);
    is($few->{adjusted_for_speed}, undef, 'two subs are too few to estimate the speed');
};

# ---- what is known beside the times ----

# Ten runs: subs a to l, each by a function of the run's number that returns time, ops, noise, and
# perhaps calls and the longest one.
sub ten {
    my ($name, %other) = @_;
    return join ',', map {
        my $k = $_;
        run_file("$dir/known.$name.$k", map {
            my $sub = $_;
            $sub => $other{$sub} ? [$other{$sub}->($k)] : [10_000 + $k * ord($sub) % 7, 1000, 0]
        } 'a' .. 'l')
    } 0 .. 9;
}

subtest 'Ops, layout and noise help to judge times' => sub {
    my $base = ten('base');
    my $at_most = sub {
        my ($p, $want, $what) = @_;
        ok(abs($p - $want) < 1e-6, "$what: p is $want");
    };
    my $p = 2 / 184_756;            # of ten values that are all greater than ten others
    my %same = %{ by_name(json($base, ten('same', d => sub { (12_000 + $_[0], 1000, 0) }))) };
    is($same{'A::d'}{verdict}, 'significant', 'a sub that does the same, but slower, is found');
    $at_most->($same{'A::d'}{p}, 12 * $p / 0.9, 'the p of the slower sub is that of twelve tests');
    my $more = json($base, ten('more', d => sub { (10_300 + $_[0], 1030, 0) }));
    is(by_name($more)->{'A::d'}{verdict}, 'significant', 'a sub that does 3 % more is found');
    $at_most->(by_name($more)->{'A::d'}{p}, $p / 0.9 / 0.9 / 1.9,
        'the p of more ops is that of nine tenths of alpha in one direction');
    is($more->{ops_differ}, 1, 'only the sub that does more has other ops');
    my $less = by_name(json($base, ten('less', d => sub { (10_300 + $_[0], 970, 0) })));
    $at_most->($less->{'A::d'}{p}, $p / 0.9 / 0.9 / 0.1, 'slower with fewer ops is less expected');

    # A tenth of alpha could decide none of 90 others, so they have a quarter.
    my @many = map { my $d = $_; join ',', map { my $k = $_; run_file("$dir/many.$d.$k",
        'd' => [10_000 + $d + $k, 1000 + $d, 0], map { $_ => [10_000 + $k, 1000, 0] } 'aa' .. 'dm')
        } 0 .. 9 } 0, 300;
    $at_most->(by_name(json('--floor', 0, @many))->{'A::d'}{p}, $p / 0.9 / 0.75 / 1.9,
        'where there are many others, less of alpha is left');

    my @args = ($base, ten('layout', d => sub { (10_900 + $_[0], 1000, 0) }));
    is(by_name(json(@args))->{'A::d'}{verdict}, 'within layout',
        'a sub that does the same work and is 9 % slower may lie elsewhere');
    is(by_name(json('--layout', 5, @args))->{'A::d'}{verdict}, 'significant',
        '--layout 5 makes the same change significant');
    my $told = tool('--fail-if', 'self > 1%', @args);
    is($told->{status}, 0, 'a gate passes a sub that may lie elsewhere');
    like($told->{out}, qr/ \(\+9\.\d+%, within layout\) \(ops equal\) .* A::d$/m,
        'the row of a sub that may lie elsewhere says so');
    like($told->{out}, qr/^# Layout: up to 10\.0 % may come of where .+ lie, in subs that did /m,
        'the header says how much the layout may explain');
    like($told->{out}, qr/^# Ops: as many as before in every sub, exactly$/m,
        'the header says that ops are equal');

    # In every other run a sub is disturbed, by as much as it has become slower.
    my $disturbed = sub {
        my ($more, $known) = @_;
        return sub {
            my $noise = $_[0] % 2 ? 1500 + 10 * $_[0] : 0;
            return (10_000 + $more + $_[0] + $noise, 1000 + $more / 10, $known ? $noise : 0);
        };
    };
    for my $known (0, 1) {
        my $both = json(ten("calm.$known", a => sub { (10_000, 1000, 1) },
                d => $disturbed->(0, $known)),
            ten("calmer.$known", a => sub { (10_000, 1000, 1) }, d => $disturbed->(500, $known)));
        is(by_name($both)->{'A::d'}{verdict}, $known ? 'significant' : 'not significant',
            $known ? 'noise that is known does not hide a change' : 'noise hides a change');
    }
    # The recorder has seen no noise, but the longest of four calls takes more than the others.
    my $longest = sub {
        my ($more) = @_;
        return sub {
            my $noise = $_[0] % 2 ? 1500 + 10 * $_[0] : 0;
            my $time = 10_000 + $more + $_[0];
            return ($time + $noise, 1000 + $more / 10, 0, 4, int($time / 4) + $noise);
        };
    };
    my $calls = json(map { ten("calls.$_", d => $longest->($_)) } 0, 500);
    is(by_name($calls)->{'A::d'}{verdict}, 'significant',
        'a call that was disturbed does not hide a change');
    # Where the longest call does most of the work, it is not taken for a disturbed one.
    my $uneven = json(map { my $more = $_; ten("uneven.$_", d => sub {
        (10_000 + $more + $_[0], 1000 + $more / 10, 0, 4, 7000 + $more + $_[0])
    }) } 0, 300);
    $at_most->(by_name($uneven)->{'A::d'}{p}, $p / 0.9 / 0.9 / 1.9,
        'a change of the call that does most is no noise');
    # A rare long stretch looks like noise, but it is the change.
    my $rare = json(ten('rare', d => sub { (10_000 + $_[0], 1000, 0) }),
        ten('rarer', d => sub { (11_500 + $_[0], 1000, 1500) }));
    is(by_name($rare)->{'A::d'}{verdict}, 'significant', 'a change that looks like noise is found');
};

# Long stretches that are the work of a sub, such as a sort or an XS call: those of the counter, or
# a longest call, on one side or on both. The values are those that were measured.
subtest 'Long stretches of work are no noise' => sub {
    my @kinds = qw(counter longest);
    my $side = sub {
        my ($kind, $runs, $base, $long) = @_;
        my $set = ++$sets;
        for my $k (1 .. $runs) {
            my $stretch = int($long * (0.97 + 0.06 * rand));
            my $time = int($base * (0.99 + 0.02 * rand)) + $stretch;
            run_file("$dir/long.$set.$k",
                (map { $_ => [10_000 + int(rand 50), 1000, 0] } 'a' .. 'l'),
                z => $kind eq 'counter' ? [$time, 1000, $stretch]
                    : [$time, 0, 0, 4, int($base / 4) + $stretch]);
        }
        return "$dir/long.$set.*";
    };
    my (@wrong, $tried);
    for my $kind (@kinds) {
        for my $runs ([10, 10], [6, 6], [7, 12], [12, 7], [3, 3], [1, 1]) {
            for my $long ([0, 50_000], [50_000, 0], [0, 1000], [0, 300], [300, 0], [20_000, 50_000],
                [50_000, 20_000], [1000, 1000], [200, 200], [100, 400]) {
                my @sides = map { $side->($kind, $runs->[$_], 645, $long->[$_]) } 0, 1;
                # a third side in whose runs nothing takes long must not change what is said
                my @third = $runs->[0] == 10 ? $side->($kind, 10, 645, 0) : ();
                my $row = by_name(json('--floor', 0, @sides, @third))->{'A::z'};
                my $true = by_name(json('--floor', 0, '--as-measured', @sides))->{'A::z'};
                my ($value, $change, $low, $high, $verdict) = @third
                    ? @{$row}{qw(value_1 change_1 change_low_1 change_high_1 verdict_1)}
                    : @{$row}{qw(value change change_low change_high verdict)};
                my $far = grep { abs($_->[0] - $_->[1]) > 0.06 * $_->[1] }
                    [$row->{baseline}, $true->{baseline}], [$value, $true->{value}];
                my $excluded = defined $low
                    && ($true->{change} < $low - 2e-5 || $true->{change} > $high + 2e-5);
                my $unseen = $runs->[0] > 6 && abs($true->{change}) > 3e-4
                    && $verdict ne 'significant';
                $tried++;
                push @wrong, "$kind, @$runs runs, @$long: $row->{baseline} -> $value instead of "
                    . "$true->{baseline} -> $true->{value}, $verdict"
                    if $far || $excluded || $unseen;
            }
        }
    }
    is($tried, 120, 'all kinds were compared');
    is(join("\n", @wrong), '', 'values, intervals and verdicts are those of the measured times');
};

subtest 'Counters that do not repeat exactly are tested' => sub {
    my $of = sub {
        my ($name, @counts) = @_;
        return join ',', map { run_file("$dir/counter.$name.$_", f => [100, 5, $counts[$_]],
            g => [50, 5, 10]) } 0 .. $#counts;
    };
    my $by = sub { by_name(json('-m', 'noise', @_))->{'A::f'} };
    is($by->($of->('a', 20, 21, 22), $of->('b', 60, 61, 63))->{verdict}, 'significant',
        'three runs a side are enough');
    is($by->($of->('c', 20, 21, 22), $of->('d', 21, 22, 20))->{verdict}, 'not significant',
        "a difference within the runs' own is chance");
    is($by->($of->('e', 20, 2, 40), $of->('f', 30, 60, 4))->{verdict}, 'not significant',
        "a great difference within the runs' own is chance");
    is($by->($of->('g', 20), $of->('h', 60))->{verdict}, 'single',
        'one run a side has no verdict about chance');
};

subtest 'A rule may ask for time and ops together' => sub {
    my @sides = (ten('rule.a'), ten('rule.b', c => sub { (13_000 + $_[0], 1000, 0) },
        d => sub { (13_000 + $_[0], 1300, 0) }, e => sub { (10_000 + $_[0], 1300, 0) }));
    my $names = sub {
        my ($rule) = @_;
        my $text = tool('--fail-if', $rule, @sides)->{out};
        return join ' ', sort $text =~ /^FAIL  .*?: A::(\w):/mg;
    };
    is($names->('self > 5%'), 'c d', 'a rule about time finds the slower subs');
    is($names->('ops > 5%'), 'd e', 'a rule about ops finds the subs with more ops');
    is($names->('self > 5% and ops'), 'd', 'a rule about time and ops finds the sub with both');
    is($names->('self > 5%, ops > 5%'), 'c d d e', 'two rules find all subs');
    like(tool('--fail-if', 'self > 5% and calls', @sides)->{err}, qr/a comma, or the end/,
        'a rule cannot join time and calls');
    my @varying = (ten('vary.a', f => sub { (10_000 + $_[0], 1000 + $_[0], 0) }),
        ten('vary.b', f => sub { (13_000 + $_[0], 1300 + $_[0], 0) }));
    my $vary = tool('--fail-if', 'self > 5% and ops', @varying);
    like($vary->{out}, qr/^FAIL  self > 5% and ops: A::f:/m,
        'ops that are significantly more count');
    like($vary->{out}, qr/^# Ops: not certain: there is a sub that does not execute as many /m,
        'ops that vary are not called exact');
    like(tool('-n', '--fail-if', 'self > 5% and ops', map { ('--run', 'true') } 1, 2)->{err},
        qr/self > 5% and ops: it is for times, without -n/,
            '-n with such a rule is refused before a program runs');
    like(tool('-m', 'calls', '--fail-if', 'self > 5% and ops', @sides)->{err},
        qr/this needs a time, ops on all sides/, '-m calls with such a rule is refused');
};

subtest 'Runs are recorded until each sub is decided, or time ends' => sub {
    require Devel::DProf::Compare::Sequential;
    my $looks = Devel::DProf::Compare::Sequential->new(1000);
    my (@at, $sum);
    for my $round (1 .. $looks->most) {
        my $share = $looks->share_at($round) or next;
        push @at, $round;
        $sum += $share;
        is($looks->looked($round, { count => 2, names => 'a, b' }), $round == 40 ? 1 : 0,
            "round $round ends the runs only if it is the last");
    }
    is("@at", '8 12 18 27 40', 'the results are tested after these rounds');
    ok(abs($sum - 1) < 1e-9, 'all tests together spend alpha');
    is(Devel::DProf::Compare::Sequential->new(1000)->looked(8, { count => 0 }), 1,
        'the runs end if no sub is undecided');
    my $short = Devel::DProf::Compare::Sequential->new(0);
    is($short->share_at(1), 0.1, 'the results are tested when time ends');
    for ([['-N', 'x'], qr/-N x: must be a positive number, or auto/],
        [['-N', 0], qr/-N 0: must/],
        [['-N', 'auto', '--effect', 0], qr/positive/],
        [['-N', 'auto', '-'], qr/can read the standard input only once/],
        [['--effect', 3], qr/--effect is meaningful only with -N auto/],
        [['-N', 'auto', '--max-time', 'long'], qr/--max-time long: must be like 90s, 5m or 1h/]) {
        my ($args, $wrong) = @$_;
        my $run = tool(@$args, '--run', 'true', '--run', 'true');
        is($run->{status}, 2, "dprofdiff @$args is a usage error");
        like($run->{err}, $wrong, "dprofdiff @$args says what is wrong");
    }
};

# ---- --run ----

SKIP: {
    TestEnvironment::skip_long_block();
    my $home = scratch();
    spew("$home/f.pl",
        'sub f { my $x = 0; $x += $_ for 1 .. 100 } sub g { 1 } f() for 1 .. $ARGV[0]; g(); '
            . 'print "output\n"; print STDERR "noise\n"; '
        . 'open my $log, ">>", "log"; print $log "$ARGV[0] $ENV{PERL_HASH_SEED}\n"; '
        . 'exit($ARGV[1] // 0)');
    spew("$home/Mod.pm", '1');
    my $env = { PERL5LIB => $home, PERL5OPT => '-MMod' };
    my $run = tool({ dir => $home, env => $env }, '--run', "$^X f.pl 3", '--run', "$^X f.pl 5",
        '-N', 3, '--warmup', 1, '--keep', "$home/kept", '-m', 'calls', '--fail-if', 'calls > 10%');
    is($run->{status}, 3, '--run records, compares, and the gate fails') or diag $run->{err};
    like($run->{out},
        qr/^\#\ Gate:\ failed,\ 2\ findings\n\#\ Baseline:\ \S+\ f\.pl\ 3\ \(3\ runs\)\n
            \#\ New:\ \S+\ f\.pl\ 5\ \(3\ runs\)\n/x,
                'the header names the sides by their commands');
    like($run->{out}, qr/^FAIL  calls > 10%: main::f: 3 -> 5 \(\+66\.67%\)$/m,
        'the report has the finding');
    like($run->{out}, qr/^# Exact: /m, 'the hash seeds of the runs are pinned');
    unlike($run->{out} . $run->{err}, qr/output|noise/,
        'the output of the commands is not shown');
    is(slurp("$home/log"), join('', map { "$_ 0\n" } 5, 3, 3, 5, 5, 3, 3, 5),
        'the commands alternate in pairs after a warm-up');
    is(scalar(() = $run->{err} =~ /^dprofdiff: record/mg), 2,
        'the log has two lines about the runs');
    like($run->{err}, qr/^dprofdiff: recording 3 runs a side$/m,
        'the log has a line before the runs');
    like($run->{err}, qr/^dprofdiff: recorded 3 runs a side in \d+\.\d s$/m,
        'the log has a line after the runs');
    is_deeply([sort map { s{.*/}{}r } glob "$home/kept/*"],
        [qw(0.1 0.2 0.3 1.1 1.2 1.3 warmup.0.0 warmup.1.0)],
            '--keep keeps the profile of each run');
    my $again = tool({ dir => $home }, '-m', 'calls', 'kept/0.*/*', 'kept/1.*/*');
    like($again->{out}, qr/^# Baseline: \S+ \(3 runs\)$/m,
        'the kept profiles can be compared later');
    like(join('', map { slurp($_) } glob "$home/kept/0.1/*"), qr/mode=tree/,
        'the kept profiles are trees');
    my $mixed = tool({ dir => $home }, '-q', '-m', 'calls', '--fail-if', '/main::f/ calls > 10%',
        'kept/0.1/*', '--run', "$^X f.pl 5", '-N', 1, '--warmup', 0);
    is($mixed->{status}, 3, 'a file is compared with a recorded side');
    is($mixed->{err}, "dprofdiff: 1 finding of --fail-if\n", '-q prints the finding alone');
    like(tool({ dir => $home }, 'nothing.out', '--run', 'false')->{err},
        qr/\AUnable to open nothing\.out: No such file/,
        'a missing file gives a message before anything is run');
    like(tool({ dir => $home }, '-o', 2, '--run', 'false', '--run', 'false')->{err},
        qr/\A-o 2: the sides are numbered 0 to 1\n/, '-o gives a message before anything is run');
    my $bad = tool({ dir => $home }, '--run', "$^X f.pl 3", '--run', "$^X f.pl 5 7", '-N', 2, '-q');
    is($bad->{status}, 1, 'a run that fails gives status 1');
    is($bad->{out}, '', 'a run that fails gives no comparison');
    like($bad->{err},
        qr/\Adprofdiff:\ -N\ 2:\ [^\n]*\nnoise\n
            dprofdiff:\ \S+\ f\.pl\ 5\ 7:\ exit\ status\ 7;\ nothing\ was\ compared\n\z/x,
        'a run that fails shows its own message');
    like(tool('--run', 'true', '--run', 'true')->{err}, qr/left no profile; is it a Perl program/,
        'a command that is no Perl program gives a message');
    like(tool({ dir => $home }, '--run', "$^X f.pl 1; kill -9 \$\$", '--run', 'true', '-q',
        '--warmup', 0)->{err}, qr/killed by signal 9/, 'a run that is killed gives a message');
    my $shown = tool({ dir => $home }, '-N', 1, '--warmup', 0, '-q', '--show-output', '--run',
        "$^X f.pl 3", '--run', "$^X f.pl 3");
    like($shown->{err}, qr/output/, '--show-output prints the output of the commands');
    my $two = tool({ dir => $home }, '-q', '-m', 'calls', '-N', 2, '--warmup', 0, '-t', ',',
        '--run', "$^X f.pl 1; $^X f.pl 2", '--run', "$^X f.pl 4");
    like($two->{out}, qr/,\+1,\+33\.33%,main::f$/m, 'all perls of a command count');
    like(tool({ dir => $home }, '-N', 1, '--keep', 'kept', '--run', 'true', '--run', 'true')->{err},
        qr/--keep kept: the folder has earlier runs/, '--keep refuses a folder with earlier runs');
    is(tool({ dir => $home }, '-q', '-N', 1, '--warmup', 0, '--keep', 'k%p',
        map { ('--run', "cd / && $^X -e 1") } 1, 2)->{status}, 0,
        '--keep takes any name, and commands may change directory');
    # A signal ends the running command, and the folder is removed.
    my $pid = open(my $out, '-|') // die "fork: $!";
    if (!$pid) {
        $ENV{TMPDIR} = $home;
        chdir $home;
        open STDERR, '>', '/dev/null';
        exec tool_command('dprofdiff'), '-q', '--show-output', '--run',
            "$^X -e 'open my \$o, q{>}, q{$home/started}; print {\$o} \$\$; close \$o; "
                . "rename q{$home/started}, q{$home/runs}; sleep 100'", '--run', 'true',
                '--warmup', 0;
    }
    select undef, undef, undef, 0.02 until -e "$home/runs" || !kill 0, $pid;
    kill TERM => $pid;
    close $out;
    is($? & 127, 15, 'SIGTERM ends dprofdiff --run');
    is_deeply([glob "$home/dprofdiff-*"], [], 'SIGTERM removes the folder of dprofdiff --run');
    my $command = slurp("$home/runs");
    my $tries = 0;
    select undef, undef, undef, 0.02 while runs($command) && $tries++ < 500;
    SKIP: {
        skip 'without /proc an ended process that nobody waits for cannot be told from one that '
            . 'runs', 1 if kill(0, $command) && !-e "/proc/$$/stat";
        ok(!runs($command), 'SIGTERM ends the command that dprofdiff runs');
    }
    is_deeply([glob "$home/tmon*"], [], '--run leaves nothing in the current folder');
    # With the counting clock all runs are the same, so that the first look decides.
    my $auto = tool({ dir => $home, env => { %$env, PERL_DPROF_CLOCK => 'counting' } },
        '-N', 'auto', '--warmup', 0, '--keep', "$home/auto", map { ('--run', "$^X f.pl $_") } 3, 5);
    is($auto->{status}, 0, '-N auto succeeds') or diag $auto->{err};
    like($auto->{out}, qr/^# Baseline: \S+ f\.pl 3 \(8 runs\)$/m,
        '-N auto ends when every sub is decided');
    like($auto->{err}, qr/^dprofdiff: recorded 8 runs a side in /m,
        'the log of -N auto counts the runs');
    my %layouts = map { slurp($_) =~ /layout=(\d+)/ ? ($1 => 1) : () } glob "$home/auto/*/*";
    is(scalar keys %layouts, 16, 'each run has data elsewhere');
    my @noise = grep { slurp($_) =~ /\$dprof_counters='ops:ops noise:ns'/ }
        glob "$home/auto/*/*";
    is(scalar @noise, 16, 'each run counts noise');
}


# ---- ops beside times that cannot decide ----

subtest 'Ops are shown beside times that cannot decide' => sub {
    my @files = map { my ($name, $ops) = @$_;
    join ',', map { run_file("$dir/beside.$name.$_", 'Inv::price' => [10_000 + $_ % 3, $ops],
        'Inv::same' => [10_000 + $_ % 5, 500],
        'Inv::more' => [$name eq 'new' ? 20_000 + $_ : 10_000 + $_, $ops],
        'Inv::constant' => [7, 7]) } 1 .. 8 } ['old', 1000], ['new', 1177];
    my $out = tool(@files)->{out};
    like($out, qr/ ~ \(ops \+17\.7 %, exact\) .* A::Inv::price$/m,
        'ops are shown if time cannot decide');
    like($out, qr/ ~ \(ops equal\) .* A::Inv::same$/m, 'equal ops are shown if time cannot decide');
    like($out, qr/ \+\d+\.\d+% \(ops \+17\.7 %, exact\) +\S+ to \S+ .* A::Inv::more$/m,
        'ops are shown if time decides');
    like($out, qr/^# Ops: A::Inv::more \+17\.7 %, A::Inv::price \+17\.7 %; the others /m,
        'the header names the subs whose ops changed for certain');
    unlike($out, qr/Inv::constant/, 'a sub that did not change has no row');
    like($out, qr/^# 2 subs did not change \(-v shows them\)$/m,
        'the subs that did not change are counted');
    like(tool('-v', @files)->{out}, qr/ A::Inv::constant$/m, '-v prints its row');
    my $rows = by_name(json(@files));
    is_deeply([@{ $rows->{'A::Inv::price'} }{qw(ops_baseline ops ops_change_pct ops_verdict
        verdict)}], [1000, 1177, 17.7, 'exact', 'not significant'], 'JSON has the fields of ops');
    ok($rows->{'A::Inv::constant'}, 'JSON has all rows');
    like(tool('--format', 'csv', @files)->{out},
        qr/,ops_baseline,ops,ops_change_pct,ops_verdict\n
            .*^both,.*A::Inv::price,.*,1000,1177,17\.70,exact$/msx, 'CSV has the fields of ops');
    my @one = map { s/,.*//r } @files;
    like(tool(@one)->{out}, qr/ 0\.00% \(ops \+17\.7 %, exact\)  A::Inv::price$/m,
        'ops are shown with one run a side');
    my $fields = tool('-t', '|', @one)->{out};
    unlike($fields, qr/\(ops|did not change/, '-t prints numbers only');
    like($fields, qr/\|A::Inv::constant$/m, '-t prints all rows');
    unlike(tool('-m', 'real', '-n', @files)->{out}, qr/\(ops/,
        '-n shows no ops, as they are normalized');
    my $unpinned = spew("$dir/unpinned", slurp($one[1]) =~ s/hash_seed='0'/hash_seed='1'/r);
    like(tool($one[0], $unpinned)->{out}, qr/\(ops \+17\.7 %\)/,
        'ops are not called exact where the seeds differ');
};

# ---- --run: runs that cannot decide ----

SKIP: {
    TestEnvironment::skip_long_block();
    my $home = scratch();
    my $program = spew("$home/p.pl", 'sub f { 1 } f()');
    my @run = ({ dir => $home }, map({ ('--run', "$^X p.pl") } 1, 2), '--warmup', 0);
    my ($how, @more) = @run;
    my $few = 'with so few runs no difference of times can be significant at';
    like(tool($how, @more, '-N', 3)->{err},
        qr/\Adprofdiff: -N 3: $few 0\.005; -N 6 is the least\ndprofdiff: recording /,
        'a message before the runs says that they are too few');
    like(tool($how, @more, '-N', 3, '--alpha', 0.05)->{err},
        qr/at 0\.05; -N 4 is the least\n/,
        'the message names the runs that another level needs');
    unlike(tool($how, @more, '-N', 4, '--alpha', 0.05)->{err}, qr/with so few runs/,
        'enough runs give no message');
    unlike(tool($how, @more, '-N', 1, '-m', 'calls')->{err}, qr/with so few runs/,
        'calls give no message about one run');
}

# ---- one run a side: what is too little to count ----

subtest 'Times below --time-floor do not count' => sub {
    my ($old, $new) = map {
        my $by = $_;
        run_file("$dir/floor.$by", tiny => [100 + 50 * $by, 10],
            large => [500_000 + 100_000 * $by, 10], middle => [200_000 + 2000 * $by, 10 + $by])
    } 0, 1;
    my $gate = sub {
        my $run = tool('--fail-if', 'self > 0.1%', @_, $old, $new);
        return join ' ', $run->{status}, $run->{out} =~ /^FAIL  .*: (\S+): /mg;
    };
    is($gate->(), '3 (total) A::large', 'the default floor is 1 ms and 0.5 %');
    is($gate->('--time-floor', 0), '3 (total) A::large A::middle A::tiny',
        '--time-floor 0 sets none');
    is($gate->('--time-floor', '1ms'), '3 (total) A::large A::middle', '--time-floor takes a time');
    is($gate->('--time-floor', '20%'), '0', '--time-floor takes a share');
    is($gate->('--time-floor', '50us'), '3 (total) A::large A::middle A::tiny',
        'a time at the floor counts');
    my $out = tool('--fail-if', 'self > 0.1%', $old, $new)->{out};
    like($out,
        qr/\A\#\ Gate:\ failed,\ 2\ findings;\ 2\ times\ that\ have\ grown\ by\ less\ than\ 1\ ms
            \ or\ 0\.5\ %\ of\ the\ total\ do\ not\ count\ \(--time-floor\)\n.*\n
            Gate:\ failed,\ 2\ findings;\ 2\ times[^\n]*\n\z/sx,
                'the result stands first and last');
    like(tool('--fail-if', 'self > 90%', $old, $new)->{out},
        qr/\A# Gate: passed, 1 rule\n.*\nok    1 rule\n\z/s,
        'a gate that passes stands first and last');
    is(tool('--fail-if', 'ops > 0', $old, $new)->{status}, 3, 'ops have no floor');
    is(tool('--time-floor', $_, $old, $new)->{status}, 2, "--time-floor $_ is a usage error")
        for '5', '1ms,', 'x%', '';
};

# ---- never wider than the terminal ----

SKIP: {
    my $no_terminal = no_terminal();
    skip $no_terminal, 12 if defined $no_terminal;
    my $command = join ' ', map { "'$_'" } tool_command('dprofdiff');
    my $long = 'Very::Long::' . 'Middle::' x 12 . 'end';
    my @one = map {
        my $by = $_;
        run_file("$dir/wide.$by", $long => [1000 * $by, 10], short => [20, 10 * $by])
    } 1, 2;
    my @many = map {
        my $by = $_;
        join ',', map { run_file("$dir/wide.$by.$_", $long => [1000 * $by + $_, 10],
            short => [20 * $by + $_, 10]) } 1 .. 7
    } 1, 2;
    for my $case ([80, @one], [60, @one], [40, @one], [80, @many], [132, @many],
        [50, '--tree', @one]) {
        my ($columns, @args) = @$case;
        my $args = join ' ', map { "'$_'" } '--format=perf', '--fail-if', 'self > 5%',
            @args;
        my $run = on_terminal("stty cols 200; COLUMNS=$columns DPROF_PAGER=cat $command "
            . "--color never $args 2>/dev/null", limit => 60);
        my @lines = split /\r?\n/, $run->{out} =~ s/\xc2\xb1/+/gr;
        is_deeply([grep { length > $columns } @lines], [],
            "no line is wider than $columns columns");
        like($run->{out}, qr/^(?!#|FAIL| {6}\S).* A?:?:?\S*\.\.\.\S*end\r?$/m,
            "the end of a name that was cut is shown in $columns columns");
    }
    like(tool({ env => { %ENV, COLUMNS => 40 } }, @one)->{out}, qr/ A::\Q$long\E$/m,
        'a pipe gets whole names');
}

done_testing;
# A process that has ended without anybody waiting for it is not running: in a container the first
# process may wait for none.
sub runs {
    my ($pid) = @_;
    return 0 unless kill 0, $pid;
    open my $fh, '<', "/proc/$pid/stat" or return 1;
    return (<$fh> // '') !~ /\) Z /;
}
