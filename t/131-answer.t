# dprofdiff's default text: what was compared, one word about the total, what changed, and why.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(scratch spew in_process profiled counting);
use MadeUp;
use Test::More;
use JSON::PP ();

my $dir = scratch();
my $n = 0;

# A profile of subs of package P: NAME => [ticks of a microsecond, calls, ops].
sub profile {
    my (%subs) = @_;
    my @names = sort keys %subs;
    my $total = 0;
    $total += $_->[0] for values %subs;
    my @lines = ('= 0 0 0 0 0 0 0 0 0', map {
        my ($time, $calls, $ops) = @{ $subs{ $names[$_] } };
        sprintf '= 1 %x %d %d 0 %d 0 0 %d', $_ + 1, $calls, $time, $time, $ops;
    } 0 .. $#names);
    return spew("$dir/" . ++$n . '.out', profile_text(format => 'tree', hz => 1_000_000,
        times => [$total, 0, $total], counters => 'ops:ops', complete => 1,
        header => "\$dprof_run='6b.$n.1'; \$dprof_hash_seed=0; \$dprof_perturb_keys=0;",
        subs => [map { "P $_ p.pl:1" } @names], lines => \@lines));
}

# Several runs of them, whose times differ a little.
sub runs {
    my ($many, %subs) = @_;
    return join ',', map {
        my $k = $_;
        profile(map { my ($t, @more) = @{ $subs{$_} }; ($_ => [int($t * (1 + $k / 1000)), @more]) }
            keys %subs);
    } 1 .. $many;
}

sub answer { return in_process('dprofdiff', @_)->{out} =~ s{\Q$dir\E/}{}gr }

my %base = (a => [10_000, 100, 5000], b => [10_000, 100, 5000], c => [10_000, 100, 5000],
    d => [10_000, 100, 5000], e => [10_000, 100, 5000], f => [10_000, 100, 5000]);

subtest 'The answer says why a sub changed' => sub {
    my $text = answer(runs(10, %base), runs(10, %base, a => [15_000, 150, 7500],
        b => [15_000, 100, 7500], c => [15_000, 100, 5000], d => [60_000, 600, 30_000],
        g => [3000, 7, 70]));
    my ($sides, $total) = split /\n/, $text;
    like($sides, qr/; 10 runs a side; user\+system time, self\z/,
        'the first line says what was compared');
    is($total, 'Total: 60.33 ms -> 128.7 ms, +113.3% (95% interval: +112.7 to +113.9%): slower',
        'the line of the total ends in one word');
    like($text, qr/^P::a .* 50 % more calls$/m, 'a row says that a sub has more calls');
    like($text, qr/^P::b .* 50 % more ops a call$/m,
        'a row says that a sub has more ops in each call');
    like($text, qr/^P::c +10\.06 ms +15\.08 ms +\+50\.0% .* same work, but slower$/m,
        'a row says that a sub does the same work, but slower');
    like($text, qr/^P::d .* 6\.0 times the calls$/m,
        'a row says that a sub has many times the calls');
    like($text, qr/^P::g +3\.016 ms +new$/m, 'a row says that a sub is new');
    unlike($text, qr/^P::[ef] /m, 'a sub that did not change has no row');
    like($text, qr/^[23] other subs did not change significantly: any difference may be chance/m,
        'the subs that did not change are counted');
    my @order = $text =~ /^P::(\w)/mg;
    is($order[0], 'd', 'the sub with the greatest change stands first');
    is($order[-1], 'g', 'the sub with the smallest change stands last');
};

# With a filter, the line Shown has the sum of the rows, as JSON has them, for one run and for many.
subtest 'The answer has the sum of what filters leave' => sub {
    my %other = (%base, a => [15_000, 150, 7500], b => [7000, 10, 500], g => [500, 1, 10]);
    for my $runs (1, 10) {
        my @sides = (runs($runs, %base), runs($runs, %other));
        for my $filter (['--only', 'a|b|g'], ['--skip', '[cdef]$|program'], ['-S', 'P::a,P::e'],
            ['--only', 'P::g'], ['-m', 'calls', '--only', 'a|b'],
            ['-m', 'ops', '--skip', '[ab]$']) {
            my $text = answer(@$filter, @sides);
            my $json = JSON::PP->new->utf8->decode(answer(@$filter, '--format', 'json', @sides));
            my %sum;
            for my $key (qw(baseline value)) {
                $sum{$key} += $_->{$key} // 0 for @{ $json->{rows} };
            }
            my $amount = qr/\d[\d,.]*(?<!,)(?: [mun]?s)?/;
            my ($from, $to) = $text =~ /^Shown \(self\): ($amount) -> ($amount)/m;
            my @got = map { my ($n, $unit) = ($_ // '') =~ /\A([\d.,]+)(?: (\w+))?\z/ or next;
                ($n =~ tr/,//dr) * { s => 1, ms => 1e-3, us => 1e-6, ns => 1e-9 }->{ $unit // 's' }
            } $from, $to;
            ok(2 == grep({ abs($got[$_] - $sum{ (qw(baseline value))[$_] })
                <= 6e-3 * $sum{ (qw(baseline value))[$_] } } 0 .. $#got),
                "$runs runs, @$filter: " . ($from // '') . ' -> ' . ($to // ''))
                or diag $text, explain \%sum;
        }
        unlike(answer(@sides), qr/^Shown/m, "$runs runs: without a filter, there is no such line");
    }
    my @same = (runs(10, %base), runs(10, %base, a => [15_000, 150, 7500]));
    like(answer('--only', 'P::a', @same), qr/^Shown \(self\): .*: slower$/m,
        'it is tested: slower');
    like(answer('--only', 'P::b', @same), qr/^Shown \(self\): [^%]*: no /m, '... no change');
};

# A count that repeats from run to run is decided by one run a side; nothing else is.
subtest 'One run a side decides about counts that repeat' => sub {
    my @kinds = (['calls', 'ops:ops', 1], ['ops', 'ops:ops', 1],
        ['svs', 'ops:ops svs:SVs svs-freed:SVs', 1],
        (map { [$_, 'values:values live-values:values live-bytes:bytes', !/bytes/] }
            qw(values live-values live-bytes)),
        (map { [$_, join(' ', map({ "allocated-$_:$_" } qw(blocks bytes)),
            'live-blocks:blocks live-values:values live-bytes:bytes'), 0] }
            qw(allocated-blocks allocated-bytes live-blocks live-values live-bytes)),
        (map { [$_, "$_:events", 0] } qw(instructions page-faults bytes noise)), ['cpu', '', 0]);
    for my $kind (@kinds) {
        my ($metric, $counters, $is_exact) = @$kind;
        my @sides = map {
            my $value = $_;
            my $counts = join '', map { " $value" } split ' ', $counters;
            spew("$dir/" . ++$n . '.out', profile_text(format => 'tree', hz => 1_000_000,
                times => [$value, 0, $value], counters => $counters, complete => 1,
                header => q{$dprof_hash_seed=0; $dprof_perturb_keys=0;}, subs => ['P a p.pl:1'],
                lines => ['= 0 0 0 0 0 0 0 0' . ' 0' x split(' ', $counters),
                    "= 1 1 $value $value 0 $value 0 0$counts"]));
        } 1000, 3000;
        my ($total) = answer('-m', $metric, @sides) =~ /^Total: (.*)$/m;
        like($total // '', $is_exact ? qr/: more\z/ : qr/: one run a side: may be chance;/,
            "$metric of $counters: " . ($is_exact ? 'exact' : 'may be chance'));
    }
};

# Whatever changes in a sub, `same` is said only of what is the same, and calls that changed are
# named: of Perl subs, and of XS subs, which execute no ops.
subtest 'The answer says what is the same only of what is' => sub {
    my (@wrong, $tried);
    for my $many (1, 2, 10) {
        my (%before, %after);
        for my $ops (0, 5000) {
            for my $calls (30, 63, 99, 100, 101, 104, 160, 900) {
                for my $time (0.01, 0.2, 0.7, 1, 1.6, 8, 300) {
                    my $name = join '_', $ops, $calls, $time * 100;
                    $before{$name} = [10_000, 100, $ops];
                    $after{$name} = [int(10_000 * $time), $calls, int($ops * $calls / 100)];
                }
            }
        }
        my $text = answer('--rows', 1000, '--floor', 0, runs($many, %base, %before),
            runs($many, %base, %after));
        my $row = qr/^P::((\d+)_(\d+)_(\d+)) +[\d.]+ [mu]?s +[\d.]+ [mu]?s +(\S+) +(.*)$/m;
        while ($text =~ /$row/g) {
            my ($name, $ops, $calls, $time, $why) = ($1, $2, $3, $4, $6);
            my $near = $ops ? 2 : 0;        # ops say that nearly as many are the same work
            my $says = $why =~ /(?:more|fewer) (?:calls|ops(?! a call))|times the (?:calls|ops)/;
            my $same = $why =~ /same (?:calls|work)/;
            $tried++;
            push @wrong, "$many runs, $name: $why" if $same && abs($calls - 100) > $near
                || $says && $calls == 100 || !$ops && $calls != 100 && !$says
                || $why =~ /\bops\b/ && !$ops;
        }
    }
    ok($tried > 200, "$tried rows have a reason");
    is(join("\n", @wrong), '', 'each says the same of calls as the profiles');
    my $xs = sub { profile(%base, x => [5000, $_[0], 0], y => [500, 7, 0]) };
    my $line = sub { (answer('-v', @_) =~ /^# Ops: (.*)$/m)[0] };
    is($line->($xs->(4890), $xs->(3090)), 'as many as before in every sub, exactly; '
        . 'XS subs have no ops, but other calls: P::x -36.8 %', 'the line of ops names XS subs');
    is($line->($xs->(4890), $xs->(4890)), 'as many as before in every sub, exactly',
        'the line of ops does not name XS subs with as many calls');
};

subtest 'The total has one word for its change' => sub {
    my $slower = profile(%base, a => [12_000, 100, 5000]);
    like(answer(profile(%base), $slower),
        qr/^Total: 60\.00 ms -> 62\.00 ms, \+3\.3%: one run a side: may be chance; --run repeats$/m,
        'the total says that one run a side may be chance');
    like(answer(profile(%base), $slower), qr/^P::a .* same work: may be chance$/m,
        'a row says that one run a side may be chance');
    like(answer(runs(2, %base), runs(2, %base, a => [12_000, 100, 5000])),
        qr/^Total: .*: too few runs to tell$/m, 'the total says that there are too few runs');
    like(answer(runs(10, %base), runs(10, %base)), qr/^Total: .*: no (?:significant )?change$/m,
        'the total says that nothing changed');
    like(answer('-m', 'ops', profile(%base), profile(%base, a => [1, 100, 6000])),
        qr/^Total: 30,000 -> 31,000, \+3\.3%: more$/m, 'counts are more or less, and certain');
    my $exact = answer(runs(2, %base), runs(2, %base, a => [10_000, 100, 5500]));
    like($exact, qr/^P::a .* ~ .* 10 % more ops, exact; too few runs to test the time$/m,
        'ops show a change that the time cannot show');
};

subtest 'Subs of one side and ops have rows if there are few runs' => sub {
    my %other = %base;
    delete $other{a};
    $other{g} = [4000, 3, 30];
    $other{b} = [12_000, 100, 5500];
    my %small = (i => [30, 7, 100]);
    for my $runs (1, 2, 10) {
        my $text = answer(runs($runs, %base, %small), runs($runs, %other, i => [40, 7, 130]));
        like($text, qr/^P::g +4\.\d+ ms +new$/m, "$runs runs: a new sub has a row");
        like($text, qr/^P::a +10\.\d+ ms +gone$/m, "$runs runs: a sub that is gone has a row");
        like($text, qr/^P::b .*10 % more ops, exact; too few runs to test the time$/m,
            "$runs runs: ops are exact if the runs are too few to test the time") if $runs == 2;
        like($text, qr/^P::i .*~ +30 % more ops, exact; too little time to test$/m,
            "$runs runs: ops are exact if the time is too small to test") if $runs > 1;
    }
};

# The line about the start-up says what --main leaves out, as it is, and only if that is much.
subtest 'The answer says that start-up dominates' => sub {
    my $time = sub { (in_process('dprofreport', @_)->{out} =~ /^# Total: ([\d.]+) s/m)[0] };
    my (%side, %share);
    for my $mode ('tree', 'trace', 'tree,lines') {
        for my $startup (0, 40, 70, 100, 130, 300) {
            my $run = profiled(['-e', 'sub work { 1 } BEGIN { work() for 1 .. ' . $startup
                . ' } sub f { work() } f() for 1 .. 100'],
                env => { counting(PERL_DPROF_MODE => $mode =~ s/,.*//r,
                    $mode =~ /lines/ ? (PERL_DPROF_LINES => 'time') : ()) });
            my $file = $side{"$mode $startup"} = $run->{profile};
            my ($all, $main) = ($time->('-n', $file), $time->('-n', '--main', $file));
            $share{$file} = 100 * (1 - $main / $all);
        }
    }
    my ($said, $silent, @wrong) = (0, 0);
    for my $base (sort keys %side) {
        for my $new (grep { (split)[0] eq (split ' ', $base)[0] } sort keys %side) {
            my @files = @side{$base, $new};
            my @shares = map { sprintf '%.0f %%', $share{$_} } @files;
            my ($line) = answer('-f', @files) =~ /^(Start-up.*)/m;
            my $right = (grep { $share{$_} > 50 } @files) ? 'Start-up, before the main program '
                . "begins: $shares[0] of the time before, $shares[1] after; --main leaves it out."
                : undef;
            $right ? $said++ : $silent++;
            push @wrong, "$base, $new: " . ($line // 'nothing') . ' instead of '
                . ($right // 'nothing') if ($line // '') ne ($right // '');
            push @wrong, "$base, $new: --main does not help"
                if answer('-f', '--main', @files) =~ /^Start-up/m;
        }
    }
    cmp_ok($said, '>', 10, 'some comparisons have the line');
    cmp_ok($silent, '>', 10, 'some have not');
    is(join("\n", @wrong), '', 'the line is there if it is needed, and its shares are right');
};

subtest 'The answer recognizes renamed subs' => sub {
    my %other = %base;
    $other{z} = delete $other{b};
    my @sides = (profile(%base), profile(%other));
    is(answer(@sides), answer(@sides, '--format', 'text'), '--format text prints the answer');
    # f does the same as b, on both sides: a name alone is not certain.
    like(answer(@sides), qr/^Renamed\? P::b -> P::z, 100 calls, the same ops: --map auto /m,
        'the answer asks whether a sub that is gone is the new one');
    unlike(answer('--map', 'auto', @sides), qr/Renamed|P::z|P::b/,
        '--map auto pairs the renamed sub');
    $other{z} = [10_000, 100, 5001];
    my $near = answer($sides[0], profile(%other));
    like($near, qr/^Renamed\? P::b -> P::z, 100 calls: --map OLD=NEW /m,
        'the answer asks about subs with slightly different ops');
    $other{z} = [10_000, 90, 5000];
    unlike(answer($sides[0], profile(%other)), qr/Renamed/,
        'the answer does not ask about subs with different calls');
    $other{z} = [10_000, 100, 7000];
    unlike(answer($sides[0], profile(%other)), qr/Renamed/,
        'the answer does not ask about subs with different ops');
};

subtest "Options choose between the answer and perf's table" => sub {
    my @sides = (profile(%base), profile(%base, a => [12_000, 100, 5000]));
    my $perf = answer('--format=perf', @sides);
    like($perf, qr/^# Baseline: /, "--format perf prints perf's table");
    for (['-c', 'ratio'], ['-p'], ['-F'], ['-o', 1], ['-t', ',']) {
        unlike(answer(@$_, @sides), qr/^Total: /m, "@$_ prints perf's table");
    }
    my $verbose = answer('-v', @sides);
    like($verbose, qr/^Total: .*^# Baseline: .*^# Delta: /ms,
        '-v prints the answer and the table');
    my %many = map { ("s$_" => [1000 + $_, 10, 100]) } 10 .. 40;
    my %slow = map { ("s$_" => [2000 + $_ * 2, 10, 100]) } 10 .. 40;
    my $rows = sub { scalar(() = $_[0] =~ /^P::/mg) };
    is($rows->(answer(profile(%many), profile(%slow))), 10, 'the answer has ten rows');
    is($rows->(answer('--rows', 12, profile(%many), profile(%slow))), 12,
        '--rows sets the number of rows');
    like(answer(profile(%many), profile(%slow)),
        qr/^21 more changed less \(--rows N shows more\)\.$/m,
        'the answer counts the rows that it leaves out');
    my $name = "evil\e[31m";
    like(answer(profile(%base, 'x%1b' => [5000, 1, 1]), profile(%base)), qr/^P::x\\x1b /m,
        'the answer escapes names');
};

done_testing;
