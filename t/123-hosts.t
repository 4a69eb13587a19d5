# dprofdiff --from of versions on several hosts: units, pairs, calls, phases, beginnings. A host is
# one value; time per call, phase by phase; warm=; what is said of few hosts, of pairs, and where
# all or the traffic moved. How often it is right, xt/fleet-truth.pl measures.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(scratch spew run_tool in_process);
use MadeUp;
use Test::More;
use JSON::PP ();
use Devel::DProf::Store;
use Devel::DProf::Store::RunSet;

my $dir = scratch();
my $state = 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }
# 1, more or less by so many percent.
sub about { my ($percent) = @_; return 1 + $percent * (rnd(2001) - 1000) / 100_000 }

my @SUBS = 'a' .. 'h';
my $BEGIN = 1_795_348_800;

# Adds a version to a store: hosts; slices of each; HOW: a factor of a sub's time by its name, calls
# likewise; speed; steady: hosts that do not differ; phases, [part, factor of sub a's time] each;
# without: subs that are never called; on_host: the same by host; without_phase.
sub version {
    my ($store, $version, $hosts, $slices, %how) = @_;
    my $to = Devel::DProf::Store::open("dir:$dir/$store");
    $to->init if !-d "$dir/$store";
    my @profiles;
    for my $host (@$hosts) {
        my $speed = ($how{steady} ? 1 : about(20)) * ($how{speed} // 1);
        for my $slice (1 .. $slices) {
            my $start = $BEGIN + 60 * $slice;
            my $run = "$version." . ($host =~ s/\D//gr || 0) . '.1';
            my $load = about(30);
            my @subs = map { "A $_ a.pl:1" } @SUBS;
            my @phases = @{ $how{phases} || [[1, 1]] };
            push @subs, map { "% r$_ - kind=phase" } 0 .. $#phases if $how{phases};
            my @lines = '= 0 0 0 0 0 0 0 0';
            for my $p (0 .. $#phases) {
                next if defined $how{without_phase} && $how{without_phase} == $p;
                push @lines, sprintf '= 1 %x 1 0 0 0 0 0', @SUBS + 1 + $p if $how{phases};
                for my $n (0 .. $#SUBS) {
                    my $sub = $SUBS[$n];
                    next if (($how{without} // '') . ($how{on_host}{$host} // '')) =~ /$sub/;
                    my $calls = int 1000 * $load * $phases[$p][0] * ($how{calls}{$sub} // 1);
                    my $each = 1000 * $speed * about(3) * ($how{time}{$sub} // 1)
                        * ($n ? 1 : $phases[$p][1])
                        * ($how{cold} && $slice < 3 && $n < 2 ? 2 : 1);
                    push @lines, sprintf '= %d %x %d %d 0 %d 0 0', $how{phases} ? 2 : 1, $n + 1,
                        $calls, ($calls * $each) x 2;
                }
            }
            my $file = spew("$dir/slice.tree", profile_text(format => 'tree', hz => 1_000_000,
                times => [60, 0, 60], complete => 1, subs => \@subs, lines => \@lines,
                header => "\$dprof_run='$run'; \$dprof_pid=7; \$dprof_tid=0; \$dprof_slice=$slice; "
                    . "\$dprof_start=$start; \$dprof_options='mode=tree,slice=60';"));
            $to->add([{ file => $file, run => "$run-7-0-$slice", service => 'web',
                version => $version, host => $host, env => '', start => $start, seconds => 60 }]);
        }
    }
    return;
}

sub compared {
    my ($store, @options) = @_;
    my @args = (@options, '--from', "dir:$dir/$store", '--run-set', 'version=1', 'version=2');
    return (in_process('dprofdiff', '--format', 'json', '--fail-if', 'self > 5%', @args),
        in_process('dprofdiff', '--format=perf', '--fail-if', 'self > 5%', @args));
}

# The text that people get by default.
sub answer {
    my ($store) = @_;
    return in_process('dprofdiff', '--from', "dir:$dir/$store", '--run-set', 'version=1',
        'version=2')->{out};
}

sub significant {
    my ($run) = @_;
    my $json = eval { JSON::PP->new->decode($run->{out}) } or return $run->{err};
    return join ' ', map { $_->{symbol} =~ s/.*:://r } grep { $_->{verdict} eq 'significant' }
        @{ $json->{rows} };
}

my @ten = map { "h$_" } 10 .. 19;

subtest 'Each host is one value' => sub {
    version('few', 1, \@ten, 4);
    version('few', 2, ['h20', 'h21'], 4);
    my ($json, $text) = compared('few');
    is(significant($json), '', 'two equal versions have no significant sub');
    like($text->{out},
        qr/^# Baseline: version=1 \(20 profiles of 10 hosts, without the first 2m of /m,
            'the header says that the baseline is ten hosts');
    like($text->{out}, qr/^# New: version=2 \(4 profiles of 2 hosts, /m,
        'the header says that the other side is two hosts');
    like($text->{out}, qr/^# Units: each host is one value; /m,
        'the header says that each host is one value');
    like($text->{out}, qr/^# Power: .*; \d+ hosts a side needed for |^# Power: .* enough for /m,
        'the power counts hosts');
    my ($narrow) = compared('few', '--buckets', 40);
    is($narrow->{out}, $json->{out}, '--buckets above the number of hosts changes nothing');
    my ($wide, $wide_text) = compared('few', '--buckets', 5);
    like($wide_text->{out}, qr/of 10 hosts in 5 buckets/,
        '--buckets below the number of hosts joins hosts');
    version('slower', 1, \@ten, 4);
    version('slower', 2, ['h20', 'h21', 'h22'], 4, time => { e => 1.2 });
    ($json, $text) = compared('slower');
    is(significant($json), 'e', 'three canaries show the sub that became slower');
    is($json->{status}, 3, 'the gate fails for the sub that became slower');
};

subtest 'One host decides nothing' => sub {
    version('one', 1, \@ten, 4);
    version('one', 2, ['h20'], 40, time => { e => 3 });
    my ($json, $text) = compared('one');
    is(significant($json), '', 'one host makes no sub significant');
    like($text->{out},
        qr/^# Too few: one host a side: a difference may come from the host or from the version$/m,
        'the header says that one host is too few');
    like(answer('one'), qr/^Too few: one host a side: a difference /m,
        'the answer says that one host is too few');
    like($text->{err}, qr/^dprofdiff: one host a side: /m,
        'the standard error says that one host is too few');
    is($text->{status}, 0, 'the gate passes with one host');
    my ($strict) = compared('one', '--strict');
    is($strict->{status}, 3, 'the gate fails with one host under --strict');
    version('same', 1, \@ten, 4);
    version('same', 2, ['h20'], 4);
    ($strict) = compared('same', '--strict');
    is($strict->{status}, 3,
        'the gate fails with one host under --strict, whatever the values are');
};

subtest 'Hosts that ran both versions are pairs' => sub {
    version('pairs', 1, \@ten, 4);
    version('pairs', 2, [@ten[0 .. 7]], 4, time => { b => 1.1 });
    my ($json, $text) = compared('pairs');
    is(significant($json), 'b', 'pairs of hosts show the sub that became slower');
    like($text->{out}, qr/^# Baseline: .* of 8 hosts that ran both/m,
        'the header counts the hosts that ran both versions');
    like($text->{out}, qr/^# Units: the difference within each host is one value/m,
        'the header says that both sides of a host are one value');
};

subtest 'Traffic, slow hosts and first minutes are no changes of subs' => sub {
    version('mix', 1, \@ten, 4);
    version('mix', 2, ['h20', 'h21'], 4, calls => { d => 1.5 });
    my ($json, $text) = compared('mix');
    is(significant($json), '', 'more calls are no change of a sub');
    like($text->{out}, qr/^# Mix: A::d \+4\d\.\d %.* of all calls; times are per call/m,
        'the header names the sub with more calls');
    like(answer('mix'), qr/; 10 and 2 hosts.*^Mix: A::d \+4\d\.\d %/ms,
        'the answer names the sub with more calls');
    version('alike', 1, \@ten, 4);
    version('alike', 2, [map { "h$_" } 20 .. 25], 4, speed => 1.5);
    ($json, $text) = compared('alike');
    is(significant($json), '', 'slower hosts are no change of a sub');
    like(answer('alike'), qr/^Speed: all subs moved alike, by \+[3-7]\d\.\d%; /m,
        'the answer says that all subs moved alike');
    like($text->{out}, qr/^# Speed: .* by \+[3-7]\d\.\d % between .*: all subs moved alike; /m,
        'the header says that all subs moved alike');
    version('cold', 1, \@ten, 4);
    version('cold', 2, ['h20', 'h21', 'h22'], 6, cold => 1);
    ($json, $text) = compared('cold');
    is(significant($json), '', 'the first two minutes of a process are left out');
    ($json) = (in_process('dprofdiff', '--format', 'json', '--from', "dir:$dir/cold", '--run-set',
        'version=1 warm=0', 'version=2 warm=0'));
    like(significant($json), qr/a b/, 'warm=0 compares the first two minutes');
    my $none = in_process('dprofdiff', '--from', "dir:$dir/cold", '--run-set', 'version=1',
        'version=2 warm=1h');
    is($none->{err}, "dprofdiff: version=2 warm=1h: no process was recorded for longer than "
        . "warm=\n", 'a warm= longer than every process is an error');
};

sub row_of {
    my ($json, $name) = @_;
    my ($row) = grep { $_->{symbol} eq "A::$name" }
        @{ JSON::PP->new->decode($json->{out})->{rows} };
    return $row;
}

sub total_change { JSON::PP->new->decode($_[0]{out})->{total_change_pct} }

subtest 'Subs that one side does not call are compared' => sub {
    my @canaries = map { "h$_" } 20 .. 22;
    version('new', 1, \@ten, 4, steady => 1, without => 'h');
    version('new', 2, \@canaries, 4, steady => 1);
    my ($json, $text) = compared('new');
    is(significant($json), 'h', 'a sub that the baseline never calls is new, and significant');
    is($json->{status}, 3, 'the gate fails for a new sub');
    cmp_ok(abs(total_change($json) - 100 / 7), '<', 2, 'the total has the time of the new sub');
    unlike($text->{out}, qr/^# Not compared/m, 'no header says that something was not compared');
    version('gone', 1, \@ten, 4, steady => 1);
    version('gone', 2, \@canaries, 4, steady => 1, without => 'h');
    ($json) = compared('gone');
    is(significant($json), 'h', 'a sub that the new side never calls is gone');
    cmp_ok(abs(total_change($json) + 100 / 8), '<', 2,
        'the total lacks the time of the sub that is gone');
    version('silent', 1, \@ten, 4, on_host => { h13 => 'e' });
    version('silent', 2, \@canaries, 4, time => { e => 1.3 }, on_host => { h21 => 'f' });
    ($json, $text) = compared('silent');
    is(significant($json), 'e', 'a host that does not call a sub leaves it to the others');
    ok(defined row_of($json, 'f')->{p},
        'a host of the other side that does not call a sub leaves the sub to the others');
    is(row_of($json, 'f')->{verdict}, 'not significant',
        'a host that does not call a sub is not counted as a value of zero');
    cmp_ok(abs(row_of($json, 'f')->{change_pct}), '<', 6,
        'hosts that do not call a sub do not change its time')
        or diag explain row_of($json, 'f');
    version('one calls', 1, \@ten, 4);
    version('one calls', 2, \@canaries, 4, on_host => { h20 => 'e', h22 => 'e' });
    ($json) = compared('one calls', '--strict');
    is(significant($json), '', 'one host alone decides nothing about a sub');
    version('pair', 1, \@ten, 4, on_host => { h11 => 'c' });
    version('pair', 2, \@ten, 4, time => { c => 1.1 }, on_host => { h12 => 'c' });
    ($json) = compared('pair');
    is(significant($json), 'c',
        'a sub that one host of a pair does not call is left out on both sides');
};

subtest 'Phases that one side does not have are left out' => sub {
    my @phases = ([0.5, 1], [0.3, 3], [0.2, 1]);
    version('route', 1, \@ten, 4, phases => \@phases, steady => 1);
    version('route', 2, ['h20', 'h21', 'h22'], 4, steady => 1, phases => \@phases,
        without_phase => 2);
    my ($json, $text) = compared('route');
    is(significant($json), '', 'a route that the canaries do not have changes no sub');
    cmp_ok(abs(total_change($json)), '<', 2,
        'a route that the canaries do not have does not change the total');
    version('new route', 1, \@ten, 4, phases => \@phases, without_phase => 1);
    version('new route', 2, ['h20', 'h21', 'h22'], 4, phases => \@phases);
    ($json, $text) = compared('new route');
    is(significant($json), '', 'a route that the baseline does not have changes no sub');
    like($text->{out}, qr/^# Not compared: 3[45]\.\d % of one side's time belongs to phases, /m,
        'the header says how much time belongs to phases of one side');
};

subtest 'Each phase is compared with itself' => sub {
    # Sub a takes 1 in one phase and 9 in the other.
    my @phases = ([0.5, 1], [0.5, 9]);
    version('phases', 1, \@ten, 4, phases => \@phases);
    version('phases', 2, ['h20', 'h21', 'h22'], 4, phases => [[0.35, 1], [0.65, 9]]);
    my ($json, $text) = compared('phases');
    is(significant($json), '', 'more of a phase is no change of a sub');
    version('slow phase', 1, \@ten, 4, phases => \@phases);
    version('slow phase', 2, ['h20', 'h21', 'h22'], 4, phases => [[0.35, 1], [0.65, 11.7]]);
    ($json, $text) = compared('slow phase');
    is(significant($json), 'a', 'a slower sub in a phase is found') or diag $text->{out};
    my ($row) = grep { $_->{symbol} eq 'A::a' } @{ JSON::PP->new->decode($json->{out})->{rows} };
    cmp_ok(abs($row->{change_pct} - 27), '<', 3,
        'the phases have the weights of the baseline: (1 + 11.7) / (1 + 9)');
};

subtest 'warm= leaves out the first slices' => sub {
    my @slices = map { { run => "6b.1.1-7-0-$_", start => 60 * $_, seconds => 60 } } 1 .. 4;
    my $left = sub {
        my ($words, $seconds, @all) = @_;
        my $set = Devel::DProf::Store::RunSet::parse($words);
        return join ' ', map { $_->{run} =~ /(\d+)\z/ }
            Devel::DProf::Store::RunSet::warmed($set, $seconds, @all);
    };
    is($left->('warm=2m', 0, @slices), '3 4', 'warm=2m leaves out the first two slices');
    is($left->('warm=90s', 0, @slices), '3 4',
        'warm=90s leaves out the slices that begin within it');
    is($left->('', 60, @slices), '2 3 4', 'the default of a store leaves out the first slice');
    is($left->('warm=0', 60, @slices), '1 2 3 4', 'warm=0 leaves out no slice');
    is($left->('warm=2m', 0, $slices[0]), '1', 'warm= keeps a process that has one slice');
    my $merged = { run => 'merged.77', start => 0, seconds => 60 };
    is(scalar(() = Devel::DProf::Store::RunSet::warmed({ warm => 60 }, 0, $merged, @slices)), 4,
        'warm= keeps a profile that an older version merged');
    my @merged = map { { run => "merged.77-0-0-$_", start => 60, seconds => 240 } } 0 .. 2;
    is($left->('warm=2m', 0, @merged), '0 2',
        'warm= leaves out what was merged of the first slices');
    my @short = map { { run => "6b.1.1-7-0-$_", start => 60 * $_, seconds => $_ == 4 ? 3 : 60 } }
        1 .. 4;
    is($left->('warm=2m', 0, @short), '3 4', 'a short last slice is not taken for a first one');
    is(eval { Devel::DProf::Store::RunSet::parse('warm=x'); 1 } ? '' : $@,
        "warm=x: must be a time, such as 90s or 2m, or 0\n", 'a wrong warm= is an error');
};

done_testing;
