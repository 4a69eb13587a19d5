# dprofdiff's default text: what was compared, one word about the total, what changed, and why.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(scratch spew in_process);
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

subtest 'Why' => sub {
    my $text = answer(runs(10, %base), runs(10, %base, a => [15_000, 150, 7500],
        b => [15_000, 100, 7500], c => [15_000, 100, 5000], d => [60_000, 600, 30_000],
        g => [3000, 7, 70]));
    my ($sides, $total) = split /\n/, $text;
    like($sides, qr/; 10 runs a side; user\+system time, self\z/, 'what was compared');
    is($total, 'Total: 60.33 ms -> 128.7 ms, +113.3% (+112.7 to +113.9%): slower',
        'one line, one word');
    like($text, qr/^P::a .* 50 % more calls$/m, 'more calls');
    like($text, qr/^P::b .* 50 % more ops a call$/m, 'more ops a call');
    like($text, qr/^P::c +10\.06 ms +15\.08 ms +\+50\.0% .* same work, but slower$/m, 'slower');
    like($text, qr/^P::d .* 6\.0 times the calls$/m, 'many times the calls');
    like($text, qr/^P::g +3\.016 ms +new$/m, 'new');
    unlike($text, qr/^P::[ef] /m, 'what did not change is no row');
    like($text, qr/^[23] other subs did not change significantly\.$/m, '... but counted');
    my @order = $text =~ /^P::(\w)/mg;
    is($order[0], 'd', 'the greatest change stands first');
    is($order[-1], 'g', '... and the least last');
};

subtest 'One word' => sub {
    my $slower = profile(%base, a => [12_000, 100, 5000]);
    like(answer(profile(%base), $slower),
        qr/^Total: 60\.00 ms -> 62\.00 ms, \+3\.3%: one run a side: may be chance; --run repeats$/m,
        'one run a side');
    like(answer(profile(%base), $slower), qr/^P::a .* same work: may be chance$/m,
        '... in rows, too');
    like(answer(runs(2, %base), runs(2, %base, a => [12_000, 100, 5000])),
        qr/^Total: .*: too few runs to tell$/m, 'too few runs');
    like(answer(runs(10, %base), runs(10, %base)), qr/^Total: .*: no (?:significant )?change$/m,
        'no change');
    like(answer('-m', 'ops', profile(%base), profile(%base, a => [1, 100, 6000])),
        qr/^Total: 30,000 -> 31,000, \+3\.3%: more$/m, 'counts are more or less, and certain');
    my $exact = answer(runs(2, %base), runs(2, %base, a => [10_000, 100, 5500]));
    like($exact, qr/^P::a .* ~ .* 10 % more ops, exact; too few runs to test the time$/m,
        'ops tell what the time cannot');
};

subtest 'Subs of one side, without enough runs' => sub {
    my %other = %base;
    delete $other{a};
    $other{g} = [4000, 3, 30];
    $other{b} = [12_000, 100, 5500];
    my %small = (i => [30, 7, 100]);
    for my $runs (1, 2, 10) {
        my $text = answer(runs($runs, %base, %small), runs($runs, %other, i => [40, 7, 130]));
        like($text, qr/^P::g +4\.\d+ ms +new$/m, "$runs runs: a new sub is a row");
        like($text, qr/^P::a +10\.\d+ ms +gone$/m, '... and one that is gone');
        like($text, qr/^P::b .*10 % more ops, exact; too few runs to test the time$/m,
            'ops are exact where so few runs decide nothing') if $runs == 2;
        like($text, qr/^P::i .*~ +30 % more ops, exact; too little time to test$/m,
            '... and where the time is too little') if $runs > 1;
    }
};

subtest 'Renamed' => sub {
    my %other = %base;
    $other{z} = delete $other{b};
    my @sides = (profile(%base), profile(%other));
    is(answer(@sides), answer(@sides, '--format', 'text'), '--format text is the same');
    # f does the same as b, on both sides: a name alone is not certain.
    like(answer(@sides), qr/^Renamed\? P::b -> P::z, 100 calls, the same ops: --map auto /m,
        'a sub that is gone and a new one');
    unlike(answer('--map', 'auto', @sides), qr/Renamed|P::z|P::b/, '--map auto takes it');
    $other{z} = [10_000, 100, 5001];
    my $near = answer($sides[0], profile(%other));
    like($near, qr/^Renamed\? P::b -> P::z, 100 calls: --map OLD=NEW /m, 'nearly the same');
    $other{z} = [10_000, 90, 5000];
    unlike(answer($sides[0], profile(%other)), qr/Renamed/, 'other calls');
    $other{z} = [10_000, 100, 7000];
    unlike(answer($sides[0], profile(%other)), qr/Renamed/, 'other ops');
};

subtest 'Layouts' => sub {
    my @sides = (profile(%base), profile(%base, a => [12_000, 100, 5000]));
    my $perf = answer('--format=perf', @sides);
    like($perf, qr/^# Baseline: /, "--format perf is perf's table");
    for (['-c', 'ratio'], ['-p'], ['-F'], ['-o', 1], ['-t', ',']) {
        unlike(answer(@$_, @sides), qr/^Total: /m, "@$_ asks for it");
    }
    my $verbose = answer('-v', @sides);
    like($verbose, qr/^Total: .*^# Baseline: .*^# Delta: /ms,
        '-v: the answer, and what is behind it');
    my %many = map { ("s$_" => [1000 + $_, 10, 100]) } 10 .. 40;
    my %slow = map { ("s$_" => [2000 + $_ * 2, 10, 100]) } 10 .. 40;
    my $rows = sub { scalar(() = $_[0] =~ /^P::/mg) };
    is($rows->(answer(profile(%many), profile(%slow))), 10, 'ten rows');
    is($rows->(answer('--rows', 12, profile(%many), profile(%slow))), 12, '--rows');
    like(answer(profile(%many), profile(%slow)),
        qr/^21 more changed less \(--rows N shows more\)\.$/m,
        'the others are counted');
    my $name = "evil\e[31m";
    like(answer(profile(%base, 'x%1b' => [5000, 1, 1]), profile(%base)), qr/^P::x\\x1b /m,
        'names are escaped');
};

done_testing;
