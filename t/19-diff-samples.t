# dprofdiff on samples: its tests are those of counts. A naive model, rates that differ, what cannot
# be compared, the gate.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use MadeUp;
use JSON::PP ();

my $dir = scratch();

# Writes a profile of samples: [samples, ticks of a millionth of a second] by sub.
sub sampled {
    my ($name, $rate, %subs) = @_;
    return spew("$dir/$name", sampled_text($rate, %subs));
}

# A profile of calls.
sub measured {
    my ($name, %ticks) = @_;
    my ($n, @names, @contexts) = (0);
    for my $sub (sort keys %ticks) {
        push @names, "A $sub a.pl:" . ++$n;
        push @contexts, sprintf '= 1 %x 1 %d 0 %d 1 1 7', $n, ($ticks{$sub}) x 2;
    }
    return spew("$dir/$name", profile_text(format => 'tree', hz => 1_000_000,
        header => q{$dprof_hash_seed='0'; $dprof_perturb_keys='0';}, counters => 'ops:ops',
        times => [1, 0, 1], complete => 1, subs => \@names,
        lines => ['= 0 0 1 0 0 0 0 0 0', @contexts]));
}

sub diffs { return in_process('dprofdiff', '--format=perf', @_) }

sub json {
    my $run = diffs('--format', 'json', @_);
    my $json = eval { JSON::PP->new->utf8->decode($run->{out}) } // { rows => [], bad => $run };
    $json->{by} = { map { $_->{symbol} => $_ } @{ $json->{rows} } };
    return $json;
}

# ---- the naive model ----

my @log_factorial = (0);
sub log_choose {
    my ($n, $k) = @_;
    push @log_factorial, $log_factorial[-1] + log(@log_factorial) while @log_factorial <= $n;
    return $log_factorial[$n] - $log_factorial[$k] - $log_factorial[ $n - $k ];
}

sub twice_the_tail {
    my ($k, @chances) = @_;
    my ($below, $above) = (0, 0);
    for my $i (0 .. $#chances) {
        $below += $chances[$i] if $i <= $k;
        $above += $chances[$i] if $i >= $k;
    }
    my $p = 2 * ($below < $above ? $below : $above);
    return $p < 1 ? $p : 1;
}

sub fisher {
    my ($k, $n, $l, $m) = @_;
    return twice_the_tail($l, map {
        my $other = $k + $l - $_;
        $_ > $m || $other > $n ? 0 : exp(log_choose($m, $_) + log_choose($n, $other)
            - log_choose($n + $m, $k + $l));
    } 0 .. $k + $l);
}

sub binomial {
    my ($k, $n, $l, $m) = @_;
    return twice_the_tail($l, map {
        exp(log_choose($k + $l, $_) + $_ * log($m / ($n + $m))
            + ($k + $l - $_) * log($n / ($n + $m)));
    } 0 .. $k + $l);
}

# Both tails of Student's t, by Simpson's rule.
sub t_tails {
    my ($t, $freedom) = @_;
    my $density = sub { (1 + $_[0]**2 / $freedom)**(-($freedom + 1) / 2) };
    my $sum = sub {
        my ($from, $to) = @_;
        my ($steps, $all) = (2000, 0);
        for my $i (0 .. $steps) {
            my $weight = $i == 0 || $i == $steps ? 1 : $i % 2 ? 4 : 2;
            my $angle = $from + ($to - $from) * $i / $steps;
            my $cos = cos $angle;
            next if $cos < 1e-9;
            $all += $weight * $density->(sqrt($freedom) * sin($angle) / $cos) / $cos**2;
        }
        return $all * ($to - $from);
    };
    my ($half, $angle) = (atan2(1, 0), atan2($t, sqrt $freedom));
    return $sum->($angle, $half) / $sum->(0, $half);
}

sub total { my $sum = 0; $sum += $_ for @_; return $sum }

# The p of a share, or of a rate: [count, of] for each run of both sides.
sub naive_p {
    my ($kind, $x, $y) = @_;
    my ($k, $n) = map { my $i = $_; total(map { $_->[$i] } @$x) } 0, 1;
    my ($l, $m) = map { my $i = $_; total(map { $_->[$i] } @$y) } 0, 1;
    return 1 if !$k && !$l;
    my $p = $kind eq 'share' ? fisher($k, $n, $l, $m) : binomial($k, $n, $l, $m);
    return $p if @$x + @$y == 2;
    my $rate = ($k + $l) / ($n + $m);
    my $variance = $rate * ($kind eq 'share' ? 1 - $rate : 1);
    my $chi = total(map({ ($_->[0] - $_->[1] * $k / $n)**2 / $_->[1] / $variance } @$x),
        map { ($_->[0] - $_->[1] * $l / $m)**2 / $_->[1] / $variance } @$y);
    my $freedom = @$x + @$y - 2;
    my $score = abs($l / $m - $k / $n) / sqrt($variance * (1 / $n + 1 / $m));
    return $p if $chi < 1e-9;
    my $of_runs = t_tails($score / sqrt($chi / $freedom), $freedom);
    return $of_runs > $p ? $of_runs : $p;
}

# The p of a sub before any correction: [samples, ticks] for each run, and those of all subs.
sub naive {
    my ($x, $y, $all_x, $all_y) = @_;
    my @share = map {
        my ($runs, $all) = @$_;
        [map { [$runs->[$_][0], $all->[$_][0]] } 0 .. $#$runs];
    } [$x, $all_x], [$y, $all_y];
    my @rate = map {
        my ($runs, $all) = @$_;
        my @usual = map { $_->[0] / $_->[1] } @$all;
        my $own = total(map { $_->[0] } @$runs)
            / total(map { $runs->[$_][1] * $usual[$_] } 0 .. $#$runs);
        [map { [$runs->[$_][0], $own * $usual[$_]] } 0 .. $#$runs];
    } [$x, $all_x], [$y, $all_y];
    my $up = sub {
        my ($k, $l) = @_;
        my @rates = map { total(map { $_->[0] } @$_) / total(map { $_->[1] } @$_) } $k, $l;
        return $rates[1] <=> $rates[0];
    };
    return 1 if $up->(@share) != $up->(@rate);
    my @p = sort { $a <=> $b } naive_p('share', @share), naive_p('rate', @rate);
    return $p[1];
}

sub holm {
    my (%p) = @_;
    my ($least, $left) = (0, scalar keys %p);
    for my $name (sort { $p{$a} <=> $p{$b} } keys %p) {
        my $p = $p{$name} * $left--;
        $least = $p if $p > $least;
        $p{$name} = $least < 1 ? $least : 1;
    }
    return \%p;
}

my $seed = $ENV{DPROF_SEED} // 7;
srand $seed;

subtest 'random profiles against a naive model' => sub {
    my %verdicts;
    for my $round (1 .. TestEnvironment::rounds(12, 200)) {
        my @runs = map { $round % 3 ? 1 : 1 + int rand 4 } 0, 1;
        my @rates = map { (100, 250, 1000)[rand 3] } 0, 1;
        my (@sides, @all, @files);
        for my $side (0, 1) {
            for my $run (1 .. $runs[$side]) {
                my %subs;
                for my $name ('a' .. 'f') {
                    my $usual = $rates[$side] * (ord($name) - 96) / 3
                        * ($side && $name gt 'd' ? 2 : 1) * (0.9 + rand(0.2));
                    my $samples = 1 + int($usual + sqrt($usual) * (rand(4) - 2));
                    $subs{$name} = [$samples, int(1e6 / $rates[$side] * $samples
                        * ($name eq 'c' && $side ? 0.6 : 1))];
                }
                push @{ $sides[$side]{$_} }, $subs{$_} for keys %subs;
                push @{ $all[$side] }, [map { my $i = $_; total(map { $_->[$i] } values %subs) }
                    0, 1];
                push @{ $files[$side] }, sampled("r$round.$side.$run", $rates[$side], %subs);
            }
        }
        my $json = json('--as-measured', map { join ',', @$_ } @files);
        # what is the same in all runs is not tested
        my @tested = grep {
            my %ticks = map { $_->[1] => 1 } @{ $sides[0]{$_} }, @{ $sides[1]{$_} };
            keys %ticks > 1;
        } 'a' .. 'f';
        my $p = holm(map { $_ => naive($sides[0]{$_}, $sides[1]{$_}, @all) } @tested);
        for my $name (@tested) {
            my $row = $json->{by}{"A::$name"};
            my $off = abs(($row->{p} // 9) - $p->{$name});
            my $close = $off < 1e-6 * $p->{$name} + 1e-9;
            my $verdict = $p->{$name} <= 0.005 ? 'significant' : 'not significant';
            $verdicts{$verdict}++;
            ok($close && $row->{verdict} eq $verdict, "seed $seed, round $round, $name")
                or diag "p $p->{$name}, @{[ explain $row ]}";
        }
    }
    cmp_ok($verdicts{$_}, '>', 5, "some are $_") for 'significant', 'not significant';
};

# ---- what is told ----

subtest 'one run a side' => sub {
    my %base = (a => [600, 600_000], b => [300, 300_000], c => [100, 100_000], d => [2, 2000]);
    my $old = sampled('old', 1000, %base);
    my $new = sampled('new', 1000, %base, b => [450, 450_000], c => [99, 99_000],
        d => [3, 3000]);
    my $json = json($old, $new);
    my $b = $json->{by}{'A::b'};
    is($b->{verdict}, 'significant', 'half as many samples again are significant');
    is("$b->{baseline_samples} $b->{samples}", '300 450', '... with the samples of both sides');
    ok(!exists $b->{baseline_calls} && !exists $b->{calls}, '... which are no calls');
    is(sprintf('%.1f', $b->{change_pct}), '50.0', '... and the change is that of the time');
    # R: binom.test(450, 750)$conf.int: 0.5639308 0.6353078
    is(sprintf('%.3f %.3f', map { 1 + $_ / 0.3 } @$b{qw(change_low change_high)}),
        sprintf('%.3f %.3f', map { $_ / (1 - $_) } 0.5639308, 0.6353078),
        '... in the interval of Clopper and Pearson');
    is($json->{by}{"A::$_"}{verdict}, $_ eq 'c' ? 'not significant' : 'equal',
        "$_ has a smaller share, but about the same time") for 'a', 'c';
    is($json->{by}{'A::d'}{verdict}, 'not tested', 'what is below the floor is not tested');
    is($json->{total_verdict}, 'single', 'samples tell nothing of the total');
    my $text = diffs($old, $new)->{out};
    like($text, qr/^# Runs: one a side: the chance of samples is known, but not how much runs/m,
        'it says what one run a side can tell');
    like($text, qr/^# Samples: 1,002 at 1000 a second, 1,152 at 1000 a second; a change is one of/m,
        '... and how many samples there are');
    like($text, qr/300\.0 ms\s+\S+\s+450\.0 ms\s+\+50\.00%\s.*<?0\.0000\S*  A::b$/m,
        'a row has values, change and p') or diag $text;
    like($text, qr/99\.00 ms\s+~\s.*  A::c$/m, '... or ~');
    like($text, qr/^Baseline +Value +Delta +New value +Change +Interval +p +Symbol$/m,
        '... and one run has no medians');
    like(diffs('-v', $old, $new)->{out}, qr/ Base samples .* Samples .*\n.*\n\n.*  300  .*  450  /,
        '-v has the samples');
    like(diffs('-m', 'samples', $old, $new)->{out}, qr/ 300 +\S+ +450 +\+50\.00% .* A::b$/m,
        'so does -m samples');
    is(json('--children', $old, $new)->{by}{'A::caller'}{verdict}, 'not significant',
        'what all samples have in common is the same share');
    is_deeply([map { $_->{verdict} } @{ json($old, $old)->{rows} }], [('equal') x 6],
        'a profile is equal to itself');
};

subtest 'rates' => sub {
    my %of = (a => [6000, 6_000_000], b => [3000, 3_000_000], c => [1000, 1_000_000]);
    my $fast = sampled('fast', 1000, %of);
    my $slow = sampled('slow', 100, map { $_ => [$of{$_}[0] / 10, $of{$_}[1]] } keys %of);
    my $more = sampled('more', 100, a => [600, 6_000_000], b => [450, 4_500_000],
        c => [100, 1_000_000]);
    is_deeply([map { $_->{verdict} } @{ json($fast, $slow)->{rows} }], [('equal') x 5],
        'a tenth of the samples for the same time is no change');
    my $json = json($fast, $more);
    is_deeply([map { $json->{by}{"A::$_"}{verdict} } 'a' .. 'c'],
        ['equal', 'significant', 'equal'], '... but more time is one');
    my $back = json($more, $fast)->{by}{'A::b'};
    is("$back->{verdict} $back->{change_pct}", "significant -33.33", '... and less, too');
    my $refused = diffs('-m', 'samples', $fast, $slow);
    is($refused->{status}, 1, 'numbers of samples of different rates are not compared');
    like($refused->{err}, qr/^samples: they were not .*-m cpu .*\n.*fast: 1000 .*\n.*slow: 100 /,
        '... and it says why');
    is(json('-m', 'samples', '-n', $fast, $more)->{by}{'A::b'}{verdict}, 'significant',
        '... but for their shares');
    # b waits: the number of its samples does not depend on the rate, and it has no CPU time
    my $waits = sampled('waits', 1000, %of, b => [40, 0], c => [1000, 1_000_000]);
    my $other = sampled('other', 100, a => [600, 6_000_000], b => [40, 0], c => [100, 1_000_000]);
    is(json($waits, $other)->{by}{'A::b'}{verdict}, 'equal', 'waiting is no CPU time');
};

subtest 'several runs' => sub {
    my @same = map { sampled("s.$_", 1000, a => [600 + $_, 600_000 + 1000 * $_],
        b => [300 - $_, 300_000 - 1000 * $_]) } -2 .. 2;
    my @wild = map { sampled("w.$_", 1000, a => [600, 600_000],
        b => [390 + 100 * $_, 390_000 + 100_000 * $_]) } -2 .. 2;
    my @calm = map { sampled("c.$_", 1000, a => [600, 600_000],
        b => [390 + $_, 390_000 + 1000 * $_]) } -2 .. 2;
    my ($same, $wild, $calm) = map { join ',', @$_ } \@same, \@wild, \@calm;
    is(json($same, $calm)->{by}{'A::b'}{verdict}, 'significant', 'five calm runs a side tell 30 %');
    my $b = json($same, $wild)->{by}{'A::b'};
    is($b->{verdict}, 'not significant', '... but not where runs differ more than samples do');
    cmp_ok($b->{change_low}, '<', 0, '... whose interval is wide');
    like(diffs($same, $calm)->{out}, qr/ Median .* New median /, 'values are medians');
};

subtest 'the speed of runs' => sub {
    my @speeds = (0.7, 1.3, 0.8, 1.2, 1.1, 0.9);
    my @sides = map {
        my $side = $_;
        join ',', map {
            my $run = $_;
            my $speed = $speeds[ $side ? -1 - $run : $run ];
            my %of = map { $_ => 1000 + 7 * (($run + ord) % 5 - 2) } 'a' .. 'g';
            $of{c} *= 1.2 if $side;
            sampled("speed.$side.$run", 1000,
                map { my $n = int $of{$_} * $speed; ($_ => [$n, 1000 * $n]) } keys %of);
        } 0 .. 5;
    } 0, 1;
    my $json = json(@sides);
    is_deeply([map { $json->{by}{"A::$_"}{verdict} } 'b' .. 'd'],
        ['not significant', 'significant', 'not significant'],
        'a sub that is a fifth slower is told from runs that are');
    is($json->{adjusted_for_speed}, 1, '... by the speed of the runs');
    like(diffs(@sides)->{out}, qr/^# Speed: the usual sub's time differed by up to /m,
        '... which is told');
    is(json('--as-measured', @sides)->{by}{'A::c'}{verdict}, 'not significant',
        '... and not as measured');
    is(json('-n', @sides)->{by}{'A::c'}{verdict}, 'significant', '... but as a share');
};

# ---- what cannot be compared ----

subtest 'measured and sampled' => sub {
    my $old = sampled('x', 1000, a => [600, 600_000], b => [300, 300_000]);
    my $calls = measured('calls', a => 60_000, b => 30_000);
    my $run = diffs($old, $calls);
    is($run->{status}, 1, 'samples are not compared with measured calls');
    like($run->{err}, qr{^some\ profiles\ have\ samples,\ and\ others\ measured\ every\ call;\ -n
        \ .*\n.*/x:\ samples\n.*/calls:\ every\ call\n\z}x, '... and each side is named');
    like(diffs("$old,$calls", $old)->{err}, qr{calls: samples in some runs\n.*/x: samples\n\z},
        '... within a side, too');
    my $shares = json('-n', $old, $calls);
    is($shares->{by}{'A::a'}{verdict}, 'equal', '... but for their shares');
    is(diffs('-f', $old, $calls)->{status}, 0, '... or by force');
    my $lacks = diffs('-m', 'calls', $old, $old);
    like($lacks->{err}, qr/^calls: no side has it/, 'samples are no calls');
};

# ---- the gate ----

subtest 'the gate' => sub {
    my $old = sampled('g.old', 1000, a => [600, 600_000], b => [300, 300_000], c => [100, 100_000]);
    my $grown = sampled('g.b', 1000, a => [601, 601_000], b => [450, 450_000], c => [110, 110_000]);
    my $run = diffs('--fail-if', '/::/ self > 5%', $old, $grown);
    is($run->{status}, 3, 'a significant growth fails with one run a side');
    like($run->{out}, qr{^FAIL  /::/ self > 5%: A::b: 300\.0 ms -> 450\.0 ms \(\+50\.00%, p [<=] }m,
        '... with its p');
    unlike($run->{out}, qr/^FAIL.*A::c/m, '... and what may be chance does not');
    is(diffs('--fail-if', '/c$/ self > 5%', $old, $grown)->{status}, 0, '... alone neither');
    is(diffs('--fail-if', '/::/ self > 60%', $old, $grown)->{status}, 0, 'a limit is one');
    my ($half, $all, $times) = $run->{out} =~ m{^\#\ Power:\ a\ growth\ of\ ([\d.]+)\ %\ in\ half
        \ of\ the\ 3\ tested,\ and\ of\ ([\d.]+)\ %\ in\ all\ of\ them,\ is\ seen\ four\ times
        \ of\ five;\ ([\d,]+)\ times\ as\ many\ samples\ needed\ for\ /::/\ self\ >\ 5%
        \ in\ all\ of\ them$}mx
        or diag $run->{out};
    cmp_ok($half, '<', $all, 'it says what growth it sees');
    # 3 tests at 0.005: 3.144 + 0.842 standard deviations of the root
    my $sight = sub { sqrt(2 / ($_[0] * (1 - $_[0] / 1000))) / 2 };
    my $growth = sub { sprintf '%.1f', 100 * ((1 + 3.98561 * $sight->($_[0]))**2 - 1) };
    is($half, $growth->(300), '... as a model has it');
    is($all, $growth->(100), '... in all');
    is($times =~ s/,//gr, sprintf('%.0f', (3.98561 * $sight->(100) / (sqrt(1.05) - 1))**2),
        '... and how many samples it wants');
    my $json = json('--fail-if', '/::/ self > 5%', $old, $grown);
    is(sprintf('%.0f', $json->{samples_to_see_1_1}), $times =~ s/,//gr, 'JSON has it');
    is($json->{gate}, 'failed', '... and the result');
    my $tap = diffs('--format', 'tap', '--fail-if', '/::/ self > 5%', $old, $grown);
    like($tap->{out}, qr/^not ok 1 /m, 'TAP has it');
    my $total = diffs('--fail-if', 'self > 5%', $old, $grown);
    like($total->{err}, qr/with one run a side, totals may differ by chance/,
        'totals of one run differ by chance, and it says so');
    my @sides = map { my $file = $_; join ',', map { spew("$file.$_", slurp($file)) } 1 .. 5 }
        $old, $grown;
    like(diffs('--fail-if', '/::/ self > 5%', @sides)->{out},
        qr/^# Power: .*; \d+ runs a side needed for /m, 'with several runs, runs are needed');
};

done_testing;
