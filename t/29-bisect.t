# dprofdiff --bisect: changes that were planted in histories of made-up profiles, and none where
# there are none; what is exact; buckets; messages.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use MadeUp;
use Test::More;
use Devel::DProf::Store;
use JSON::PP ();

my $dir = scratch();
my $state = 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }

my @SUBS = map { "P::$_" } 'a' .. 'h';
my @VERSIONS = ('1.8', '1.9', '1.10', '2.0', '2.1', '=3');
my $BEGIN = 1_795_348_800;

# The text of a profile: cost (ticks), calls and ops of each sub.
sub text_of {
    my (%how) = @_;
    my $lines = "= 0 0 0 0 0 0 0 0 0\n";
    my $total = 0;
    for my $n (0 .. $#SUBS) {
        my $cost = $how{cost}[$n];
        $total += $cost;
        $lines .= sprintf "= 1 %d %d %d 0 0 0 0 %d\n", $n + 1, $how{calls}[$n], $cost,
            $how{ops}[$n];
    }
    my $slice = $how{slice} ? "\$dprof_slice=$how{slice}; "
        . "\$dprof_options='mode=tree,slice=$how{every},spool-limit=0'; " : '';
    my $seed = $how{seed} // "'0'";
    return profile_text(format => 'tree', hz => 10_000_000, times => [$total, 0, $total],
        counters => 'ops:ops',
        header => "\$dprof_run='$how{run}'; \$dprof_pid=7; \$dprof_tid=0; $slice"
            . "\$dprof_start=$how{start}; \$dprof_script='/srv/web.pl'; \$dprof_hash_seed=$seed; "
            . "\$dprof_perturb_keys='0'; ",
        subs => [map { my $line = $_ + 1; $SUBS[$_] =~ s/::/ /r . " web.pl:$line" } 0 .. $#SUBS],
        lines => $lines);
}

# Makes a store of runs of each version; planted->(version's number, cost, calls, ops) changes what
# a run of it takes.
sub history {
    my ($name, $runs, $planted, %how) = @_;
    my $store = Devel::DProf::Store::open("dir:$dir/$name");
    $store->init;
    my (@profiles, $k);
    for my $v (0 .. $#VERSIONS) {
        for my $r (1 .. $runs) {
            my $load = 1 + rnd(1000) / 1000;
            my @cost = map { 10_000 * $load * $_ * (1 + (rnd(81) - 40) / 1000) } 10 .. 17;
            my (@calls, @ops) = ();
            @calls = (100) x 8;
            @ops = (1000) x 8;
            $planted->($v, \@cost, \@calls, \@ops);
            my %is = (run => '6b.' . ++$k . '.1', start => $BEGIN + 60 * $k,
                slice => $how{slice} ? $how{slice}->($r) : 0, every => $how{every} // 60);
            my $file = spew("$dir/one-$name-$k", text_of(%is, seed => $how{seed}, calls => \@calls,
                ops => \@ops, cost => [map { int } @cost]));
            push @profiles, { file => $file, run => "$is{run}-7-0-$is{slice}", service => 'web',
                host => $how{hosts} ? 'a' . $r % $how{hosts} : 'a', env => '',
                version => $VERSIONS[$v], start => $is{start}, seconds => 60 };
        }
    }
    $store->add(\@profiles);
    return;
}

sub bisect {
    my ($name, @args) = @_;
    my $run = run_tool('dprofdiff', ['--from', "dir:$name", '--bisect', 'service=web', @args],
        dir => $dir);
    return [@$run{qw(out err status)}];
}

sub rows_of {
    my ($name, @args) = @_;
    my ($out, $err, $status) = @{ bisect($name, '--format', 'json', @args) };
    is("$err$status", '0', "dprofdiff --bisect of $name @args prints no message");
    return @{ JSON::PP->new->utf8->decode($out)->{rows} };
}

sub places { return map { "$_->{sub} $_->{metric} $_->{last_good} $_->{first_bad}" } @_ }

history('same', 8, sub { });
history('slower', 8, sub {
    my ($v, $cost, $calls, $ops) = @_;
    $cost->[3] *= 1.2 if $v >= 3;           # P::d, from 2.0 on
    $cost->[0] *= 0.7 if $v >= 5;           # P::a is faster in the last version
    $calls->[1] += 5 if $v >= 1;            # P::b, from 1.9 on
    $ops->[2] += 10 if $v >= 4;             # P::c
    $ops->[4] -= 10 if $v >= 4;             # P::e
    $ops->[5] = 1000 + rnd(50);             # P::f never counts the same
});

subtest 'Changes of a history are found at their version' => sub {
    is_deeply([rows_of('same')], [], 'a history without changes has no rows');
    my $text = bisect('same')->[0];
    like($text, qr/^# No sub became slower or does more\.$/m,
        'the report says that no sub became slower');
    my @rows = rows_of('slower');
    is_deeply([sort(places(@rows))], [sort 'P::d cpu 1.10 2.0', 'P::a cpu 2.1 =3',
        'P::b calls 1.8 1.9', 'P::c ops 2.0 2.1', 'P::e ops 2.0 2.1'],
        '--bisect finds every planted change and no other');
    my ($d) = grep { $_->{sub} eq 'P::d' } @rows;
    ok(abs($d->{change_pct} - 20) < 3,
        'a change of 20 % is reported within 3 %') or diag($d->{change_pct});
    ok($d->{p} > 0 && $d->{p} < 0.001, 'a change of time has a p below 0.001');
    my ($b) = grep { $_->{sub} eq 'P::b' } @rows;
    is_deeply([@$b{qw(before after change_pct p)}], [100, 105, 5, undef],
        'a change of a count is exact and has no p');
};

subtest 'The report and its formats name what was compared' => sub {
    my ($text, $err) = @{ bisect('slower') };
    like($text, qr/^# History: service=web$/m, 'the report names the history');
    like($text, qr/^# Versions: 6, from 1\.8 to =3; 48 runs$/m,
        'the report names the versions and counts the runs');
    like($text, qr/^# Metric: user\+system time, self, as share of its run$/m,
        'the report names the metric');
    like($text, qr/^# Tested: 8 subs of 0\.5 % or more; significant up to a p of 0\.001$/m,
        'the report says how many subs were tested at which p');
    like($text, qr/^P::d +cpu +1\.10 +2\.0 +1\d\.\d\d% +1\d\.\d\d% +\+\d\d\.\d\d% +<0\.0001$/m,
        'a row of time has shares and a p');
    like($text, qr/^P::b +calls +1\.8 +1\.9 +100 +105 +\+5\.00% +exact$/m,
        'a row of a count has numbers and the word exact');
    unlike($text, qr/^P::[ae] /m, 'the report leaves out improvements');
    like($text, qr/^# 2 decreases \(-v shows them\)$/m, 'the report counts the decreases');
    like(bisect('slower', '-v')->[0], qr/^P::e +ops .* 1,000 +990 +-1\.00% +exact$/m,
        '-v shows improvements');
    my $csv = bisect('slower', '--format', 'csv')->[0];
    like($csv, qr/\Asub,metric,last_good,first_bad,before,after,change_pct,p\n/, 'CSV has a head');
    like($csv, qr/^P::a,cpu,2\.1,'=3,[\d.]+,[\d.]+,-(?:29|30)\.\d+,[\d.e-]+$/m,
        'CSV quotes a version that looks like a formula, and prints bare numbers');
    like($csv, qr/^P::b,calls,1\.8,1\.9,100,105,5\.0000,$/m,
        'CSV has an empty p for an exact change');
    my $quiet = bisect('slower', '-q')->[0];
    is(scalar(() = $quiet =~ /^P::/mg) . ($quiet =~ tr/\n//), '33', '-q prints rows only');
};

subtest 'Options select subs, metrics and limits' => sub {
    is_deeply([places(rows_of('slower', '--only', 'P::d'))], ['P::d cpu 1.10 2.0'],
        '--only selects a sub');
    is_deeply([places(rows_of('slower', '-S', 'P::b'))], ['P::b calls 1.8 1.9'],
        '-S selects a sub');
    is_deeply([grep { /P::d/ } places(rows_of('slower', '--skip', 'P::d'))], [],
        '--skip leaves out a sub');
    is_deeply([places(rows_of('slower', '-m', 'calls'))], ['P::b calls 1.8 1.9'],
        '-m calls compares only calls');
    is_deeply([places(rows_of('slower', '-m', 'ops', '--only', '[c]$'))], ['P::c ops 2.0 2.1'],
        '-m ops compares only ops');
    is(scalar(rows_of('slower', '-O', '1')), 1, '-O 1 prints one row');
    my @large = rows_of('slower', '--percent-limit', '2');
    is_deeply([grep { /P::[bce] / } places(@large)], [], '--percent-limit leaves out small subs');
    ok(@large, '--percent-limit keeps large subs');
    is_deeply([rows_of('slower', '--alpha', '1e-30', '-m', 'cpu')], [],
        '--alpha sets the level of significance');
    is_deeply([rows_of('slower', '--floor', '60', '-m', 'cpu')], [],
        '--floor leaves out subs with a small share');
};

subtest 'Slices, random seeds and many runs are compared as shares' => sub {
    my $planted = sub { $_[1][3] *= 1.2 if $_[0] >= 3; $_[2][1] += 5 if $_[0] >= 1 };
    for (['slices', sub { $_[0] }], ['first slices', sub { 1 }], ['slices that a signal has cut',
        sub { $_[0] < 8 ? 1 : 2 }, 0]) {
        my ($what, $slice, $every) = @$_;
        my $name = $what =~ tr/ /-/r;
        history($name, 8, $planted, slice => $slice, every => $every);
        is_deeply([places(rows_of($name))], ['P::d cpu 1.10 2.0'], "no count of $what is exact");
        like(bisect($name)->[0], qr/^# Not exact: calls and ops are not compared: slices of a /m,
            "the report says that counts of $what are not compared");
    }
    history('uneven', 8, sub {
        my ($v, undef, undef, $ops) = @_;
        @$ops = map { 101 * $_ } 3 .. 10;
        $ops->[3] *= 1.5 if $v >= 3;
    }, slice => sub { $_[0] });
    is_deeply([places(rows_of('uneven', '-m', 'ops'))], ['P::d ops 1.10 2.0'],
        'shares that differ by rounding are equal');
    history('spool', 8, $planted, slice => sub { 1 }, every => 0);
    is_deeply([places(rows_of('spool'))], ['P::d cpu 1.10 2.0', 'P::b calls 1.8 1.9'],
        'the runs of a spool without slice= are whole, and their counts are exact');
    history('random', 8, $planted, seed => "''");
    like(bisect('random')->[0],
        qr/^# Not exact: calls and ops are not compared: the hash seed of /m,
            'the report says that random hash seeds make counts inexact');
    history('many', 60, $planted);
    my $text = bisect('many')->[0];
    like($text, qr/^# Versions: 6, .* 360 runs in 120 buckets$/m,
        'the 60 runs of a version become 20 buckets');
    like($text, qr/^P::b +calls +1\.8 +1\.9 +100 +105 /m, 'counts of buckets are those of one run');
    like(bisect('many', '--buckets', '10')->[0], qr/; 360 runs in 60 buckets$/m,
        '--buckets sets the number of buckets');
    history('few', 1, $planted);
    like(bisect('few')->[0], qr/^# Too few runs: no change of a share could be significant$/m,
        'one run of each version is too few');
};

subtest 'Many hosts of a version are many values' => sub {
    history('hosts', 16, sub { $_[1][3] *= 1.2 if $_[0] >= 3 }, hosts => 8);
    my $text = bisect('hosts')->[0];
    like($text, qr/^# Versions: 6, .*; 96 runs; each host of a version is one value$/m,
        'each host of a version is one value');
    like($text, qr/^P::d +cpu +1\.10 +2\.0 /m, '--bisect finds changes among hosts');
    like($text, qr/^# Metric: user\+system time, self, per call$/m,
        'the times of hosts are compared per call');
    like($text, qr/^P::d +cpu +1\.10 +2\.0 +\d+\.\d{3} us +\d+\.\d{3} us +\+\d\d\.\d\d%/m,
        'the report shows times per call');
    history('traffic', 16, sub {
        my ($v, $cost, $calls) = @_;
        return if $v < 3;
        $_->[3] *= 1.5 for $cost, $calls;
    }, hosts => 8);
    is_deeply([grep { /cpu/ } places(rows_of('traffic'))], [],
        'more calls of a sub are not more time per call');
    history('new', 16, sub {
        my ($v, $cost, $calls) = @_;
        $_->[3] = 0 for $v < 3 ? ($cost, $calls) : ();
    }, hosts => 8);
    is_deeply([grep { /cpu/ } places(rows_of('new'))], ['P::d cpu 1.10 2.0'],
        '--bisect finds a change beside a new sub');
    history('two', 60, sub { $_[1][3] *= 1.2 if $_[0] >= 3 }, hosts => 2);
    like(bisect('two')->[0], qr/^# Too few runs: /m, 'many runs of two hosts are two values');
    Devel::DProf::Store::open("dir:$dir/kinds")->init;
    my @kinds = map {
        my $file = spew("$dir/kind-$_", $_ ? sampled_text(100, a => [10, 100_000])
            : text_of(run => '6c.1.1', start => $BEGIN, cost => [(1) x 8], calls => [(1) x 8],
                ops => [(1) x 8]));
        { file => $file, run => "6c.$_.1-7-0-0", service => 'web', version => "1.$_", host => 'a',
            env => '', start => $BEGIN + $_, seconds => 60 }
    } 0, 1;
    Devel::DProf::Store::open("dir:$dir/kinds")->add(\@kinds);
    is_deeply([@{ bisect('kinds') }[1, 2]], ['dprofdiff: some versions have samples, and others '
        . 'every call, so they cannot be compared; '
        . "since= or version= selects versions of one kind\n"
        . "dprofdiff: version 1.0: every call\ndprofdiff: version 1.1: samples\n", 1],
        'sampled and exact versions cannot be compared');
};

subtest 'Wrong command lines and histories give a message' => sub {
    my $hint = "Try 'dprofdiff -h' for help.\n";
    my $files = run_tool('dprofdiff', ['--from', 'dir:same', '--bisect', 'service=web', 'x'],
        dir => $dir);
    is($files->{err}, "--bisect takes run-sets, and no files\n$hint",
        '--bisect with files is an error');
    my $one = run_tool('dprofdiff', ['--from', 'dir:same', '--bisect', 'version=1.8'],
        dir => $dir);
    is_deeply([@$one{qw(err status)}],
        ["dprofdiff: there is only one version, 1.8; a change needs two\n", 1],
            'a history of one version is an error');
    is_deeply([@{ bisect('same', @{ $_->[0] }) }[1, 2]], ["$_->[1]\n$hint", 2],
        "--bisect @{ $_->[0] } is a usage error") for
        [['--tree'], '--tree does not go with --bisect'],
        [['-c', 'ratio'], '-c does not go with --bisect'],
        [['--format', 'tap'], '--bisect prints text, CSV, JSON, Markdown or HTML'];
    like(bisect('same', '-m', 'x')->[1], qr/^(?:dprofdiff: )?there is no metric x\n/,
        'an unknown metric is an error');
    my $bare = run_tool('dprofdiff', ['--bisect', 'service=web'], dir => $dir);
    like($bare->{err}, qr/^--bisect needs a store: --from STORE, or /,
        '--bisect without a store is an error');
    for ([[1], [1], 'a series must be a reference to a list'],
        [[[1, 2]], [1], 'a series has not as many values as the groups'],
        [[[1]], [(2**32 - 1) x 1000], 'a series has not as many values as the groups']) {
        my ($series, $sizes, $message) = @$_;
        eval { Devel::DProf::Profile::changepoints($series, $sizes, 0.1) };
        like($@, qr/^changepoints: $message at /,
            "changepoints() refuses wrong arguments: $message");
    }
};
done_testing;
