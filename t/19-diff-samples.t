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

subtest 'Random sampled profiles agree with a naive model' => sub {
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
            ok($close && $row->{verdict} eq $verdict,
                "seed $seed, round $round: $name agrees with the model")
                or diag "p $p->{$name}, @{[ explain $row ]}";
        }
    }
    cmp_ok($verdicts{$_}, '>', 5,
        "the random profiles have more than five subs that are $_")
        for 'significant', 'not significant';
};

# ---- what dprofdiff prints ----

subtest 'One sampled run a side is tested by its samples' => sub {
    my %base = (a => [600, 600_000], b => [300, 300_000], c => [100, 100_000], d => [2, 2000]);
    my $old = sampled('old', 1000, %base);
    my $new = sampled('new', 1000, %base, b => [450, 450_000], c => [99, 99_000],
        d => [3, 3000]);
    my $json = json($old, $new);
    my $b = $json->{by}{'A::b'};
    is($b->{verdict}, 'significant', 'half as many samples again are significant');
    is("$b->{baseline_samples} $b->{samples}", '300 450', 'the row has the samples of both sides');
    ok(!exists $b->{baseline_calls} && !exists $b->{calls}, 'the row has no calls');
    is(sprintf('%.1f', $b->{change_pct}), '50.0', 'the change is that of the time');
    # R: binom.test(450, 750)$conf.int: 0.5639308 0.6353078
    is(sprintf('%.3f %.3f', map { 1 + $_ / 0.3 } @$b{qw(change_low change_high)}),
        sprintf('%.3f %.3f', map { $_ / (1 - $_) } 0.5639308, 0.6353078),
        'the interval is that of Clopper and Pearson');
    is($json->{by}{"A::$_"}{verdict}, $_ eq 'c' ? 'not significant' : 'equal',
        "$_ has a smaller share, but about the same time") for 'a', 'c';
    is($json->{by}{'A::d'}{verdict}, 'not tested', 'a sub below the floor is not tested');
    is($json->{total_verdict}, 'single', 'the samples of one run do not test the total');
    my $text = diffs($old, $new)->{out};
    like($text, qr/^# Runs: one a side: the chance of samples is known, but not how much runs/m,
        'the header says what one run a side can show');
    like($text, qr/^# Samples: 1,002 at 1000 a second, 1,152 at 1000 a second; a change is one of/m,
        'the header has the number of samples');
    like($text, qr/300\.0 ms\s+\S+\s+450\.0 ms\s+\+50\.00%\s.*<?0\.0000\S*  A::b$/m,
        'the row of a change has values, change and p') or diag $text;
    like($text, qr/99\.00 ms\s+~\s.*  A::c$/m, 'the row of no change has ~');
    like($text, qr/^Baseline +Value +Delta +New value +Change +Interval +p +Symbol$/m,
        'the heading of one run a side does not speak of medians');
    like(diffs('-v', $old, $new)->{out}, qr/ Base samples .* Samples .*\n.*\n\n.*  300  .*  450  /,
        '-v prints the samples of both sides');
    like(diffs('-m', 'samples', $old, $new)->{out}, qr/ 300 +\S+ +450 +\+50\.00% .* A::b$/m,
        '-m samples compares samples');
    is(json('--children', $old, $new)->{by}{'A::caller'}{verdict}, 'not significant',
        'a sub that all samples have in common is not significant');
    is_deeply([map { $_->{verdict} } @{ json($old, $old)->{rows} }], [('equal') x 6],
        'a profile is equal to itself');
};

subtest 'Runs of different rates are compared' => sub {
    my %of = (a => [6000, 6_000_000], b => [3000, 3_000_000], c => [1000, 1_000_000]);
    my $fast = sampled('fast', 1000, %of);
    my $slow = sampled('slow', 100, map { $_ => [$of{$_}[0] / 10, $of{$_}[1]] } keys %of);
    my $more = sampled('more', 100, a => [600, 6_000_000], b => [450, 4_500_000],
        c => [100, 1_000_000]);
    is_deeply([map { $_->{verdict} } @{ json($fast, $slow)->{rows} }], [('equal') x 5],
        'a tenth of the samples for the same time is no change');
    my $json = json($fast, $more);
    is_deeply([map { $json->{by}{"A::$_"}{verdict} } 'a' .. 'c'],
        ['equal', 'significant', 'equal'], 'more time at another rate is significant');
    my $back = json($more, $fast)->{by}{'A::b'};
    is("$back->{verdict} $back->{change_pct}", "significant -33.33",
        'less time at another rate is significant');
    my $refused = diffs('-m', 'samples', $fast, $slow);
    is($refused->{status}, 1, 'numbers of samples at different rates are not compared');
    like($refused->{err},
        qr/^samples: the profiles have different .*-m cpu .*\n.*fast: 1000 .*\n.*slow: 100 /,
        'the message names the rate of each side');
    is(json('-m', 'samples', '-n', $fast, $more)->{by}{'A::b'}{verdict}, 'significant',
        'shares of samples at different rates are compared');
    # b waits: the number of its samples does not depend on the rate, and it has no CPU time
    my $waits = sampled('waits', 1000, %of, b => [40, 0], c => [1000, 1_000_000]);
    my $other = sampled('other', 100, a => [600, 6_000_000], b => [40, 0], c => [100, 1_000_000]);
    is(json($waits, $other)->{by}{'A::b'}{verdict}, 'equal', 'waiting is not taken for CPU time');
};

subtest 'Several sampled runs a side are tested together' => sub {
    my @same = map { sampled("s.$_", 1000, a => [600 + $_, 600_000 + 1000 * $_],
        b => [300 - $_, 300_000 - 1000 * $_]) } -2 .. 2;
    my @wild = map { sampled("w.$_", 1000, a => [600, 600_000],
        b => [390 + 100 * $_, 390_000 + 100_000 * $_]) } -2 .. 2;
    my @calm = map { sampled("c.$_", 1000, a => [600, 600_000],
        b => [390 + $_, 390_000 + 1000 * $_]) } -2 .. 2;
    my ($same, $wild, $calm) = map { join ',', @$_ } \@same, \@wild, \@calm;
    is(json($same, $calm)->{by}{'A::b'}{verdict}, 'significant',
        'five calm runs a side show a change of 30 %');
    my $b = json($same, $wild)->{by}{'A::b'};
    is($b->{verdict}, 'not significant',
        'runs that differ more than samples do are not significant');
    cmp_ok($b->{change_low}, '<', 0, 'the interval of runs that differ is wide');
    like(diffs($same, $calm)->{out}, qr/ Median .* New median /,
        'the values of several runs are medians');
};

subtest 'The speed of sampled runs is estimated' => sub {
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
        'a sub that is a fifth slower differs from slower runs');
    is($json->{adjusted_for_speed}, 1, 'times are adjusted for the speed of the runs');
    like(diffs(@sides)->{out}, qr/^# Speed: the usual sub's time differed by up to /m,
        'the header says that times were adjusted');
    is(json('--as-measured', @sides)->{by}{'A::c'}{verdict}, 'not significant',
        '--as-measured does not find the sub');
    is(json('-n', @sides)->{by}{'A::c'}{verdict}, 'significant', '-n finds the sub by its share');
};

# ---- what cannot be compared ----

subtest 'Sampled and measured profiles are not mixed' => sub {
    my $old = sampled('x', 1000, a => [600, 600_000], b => [300, 300_000]);
    my $calls = measured('calls', a => 60_000, b => 30_000);
    my $run = diffs($old, $calls);
    is($run->{status}, 1, 'samples are not compared with measured calls');
    like($run->{err}, qr{^some\ profiles\ are\ sampled,\ and\ others\ have\ every\ call;\ -n
        \ .*\n.*/x:\ samples\n.*/calls:\ every\ call\n\z}x, "the message names each side's kind");
    like(diffs("$old,$calls", $old)->{err}, qr{calls: samples in some runs\n.*/x: samples\n\z},
        'samples and calls within a side give a message');
    my $shares = json('-n', $old, $calls);
    is($shares->{by}{'A::a'}{verdict}, 'equal',
        'shares of samples and of measured calls are compared');
    is(diffs('-f', $old, $calls)->{status}, 0, '-f compares samples with measured calls');
    my $lacks = diffs('-m', 'calls', $old, $old);
    like($lacks->{err}, qr/^calls: no side has it/, '-m calls finds no calls in samples');
};

# ---- the gate ----

subtest 'A gate tests samples' => sub {
    my $old = sampled('g.old', 1000, a => [600, 600_000], b => [300, 300_000], c => [100, 100_000]);
    my $grown = sampled('g.b', 1000, a => [601, 601_000], b => [450, 450_000], c => [110, 110_000]);
    my $run = diffs('--fail-if', '/::/ self > 5%', $old, $grown);
    is($run->{status}, 3, 'a significant growth fails with one run a side');
    like($run->{out}, qr{^FAIL  /::/ self > 5%: A::b: 300\.0 ms -> 450\.0 ms \(\+50\.00%, p [<=] }m,
        'the finding has its p');
    unlike($run->{out}, qr/^FAIL.*A::c/m, 'a growth that may be chance is no finding');
    is(diffs('--fail-if', '/c$/ self > 5%', $old, $grown)->{status}, 0,
        'a growth that may be chance passes alone');
    is(diffs('--fail-if', '/::/ self > 60%', $old, $grown)->{status}, 0,
        'a growth below the limit passes');
    my ($half, $all, $times) = $run->{out} =~ m{^\#\ Power:\ a\ growth\ of\ ([\d.]+)\ %\ in\ half
        \ of\ the\ 3\ tested,\ and\ of\ ([\d.]+)\ %\ in\ all\ of\ them,\ is\ seen\ four\ times
        \ of\ five;\ ([\d,]+)\ times\ as\ many\ samples\ needed\ for\ /::/\ self\ >\ 5%
        \ in\ all\ of\ them$}mx
        or diag $run->{out};
    cmp_ok($half, '<', $all, 'the power for half of the subs is a smaller growth than for all');
    # 3 tests at 0.005: 3.144 + 0.842 standard deviations of the root
    my $sight = sub { sqrt(2 / ($_[0] * (1 - $_[0] / 1000))) / 2 };
    my $growth = sub { sprintf '%.1f', 100 * ((1 + 3.98561 * $sight->($_[0]))**2 - 1) };
    is($half, $growth->(300), 'the power for half of the subs is that of a model');
    is($all, $growth->(100), 'the power for all subs is that of a model');
    is($times =~ s/,//gr, sprintf('%.0f', (3.98561 * $sight->(100) / (sqrt(1.05) - 1))**2),
        'the power says how many samples are needed');
    my $json = json('--fail-if', '/::/ self > 5%', $old, $grown);
    is(sprintf('%.0f', $json->{samples_to_see_1_1}), $times =~ s/,//gr,
        'JSON has the number of samples needed');
    is($json->{gate}, 'failed', 'JSON has the result of the gate');
    my $tap = diffs('--format', 'tap', '--fail-if', '/::/ self > 5%', $old, $grown);
    like($tap->{out}, qr/^not ok 1 /m, 'TAP has the result of the gate');
    my $total = diffs('--fail-if', 'self > 5%', $old, $grown);
    like($total->{err}, qr/with one run a side, totals may differ by chance/,
        'a message says that the totals of one run differ by chance');
    my @sides = map { my $file = $_; join ',', map { spew("$file.$_", slurp($file)) } 1 .. 5 }
        $old, $grown;
    like(diffs('--fail-if', '/::/ self > 5%', @sides)->{out},
        qr/^# Power: .*; \d+ runs a side needed for /m, 'the power of several runs counts runs');
};

done_testing;
