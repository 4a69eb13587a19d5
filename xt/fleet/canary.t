# A canary beside a stable version: processes record slices, agents take them to a store, and a gate
# compares the two. It finds the sub that has become slower, and no other; an unchanged canary
# passes. The recorder's clock counts what happens, so that the verdicts are always the same.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use ClickHouse;
use DProfTest;
use Slices;
use Test::More;

my $dir = scratch();
# price() calls itself, and so does nobody else's work. Requests differ from each other.
my $program = spew("$dir/shop.pl", <<'END_OF_SHOP');
package Shop;
sub parse { word() for 1 .. 10 + int rand 10 }
sub word { return 1 }
sub price { my ($n) = @_; return $n < 1 ? 0 : 1 + price($n - 1) }
sub stock { item($_) for 1 .. 8 + int rand 6 }
sub item { return $_[0] }
sub request { parse(); price($ENV{DEEP} + rand 4); stock(); return 1 }
package main;
my ($seed, $requests) = @ARGV;
srand $seed;
Shop::request() for 1 .. $requests;
END_OF_SHOP

sub tool {
    my ($name, @args) = @_;
    my $run = run_tool($name, \@args, dir => $dir);
    return [@$run{qw(out err status)}];
}

# Records processes of a version on each host in slices, and pushes them to the store.
sub served {
    my ($store, $version, $deep, $requests, @hosts) = @_;
    for my $host (@hosts) {
        my $seed = unpack '%32C*', "$version $host";
        profiled([$program, $seed, $requests], dir => $dir, env => { PERL_HASH_SEED => 0,
            PERL_DPROF_CLOCK => 'counting:100000', PERL_DPROF_SLICE => 1,
            PERL_DPROF_SPOOL => "spool-$version", DEEP => $deep });
        my $pushed = tool('dprofstore', 'push', '--to', $store, '--service', 'shop', '--version',
            $version, '--host', $host, '--delete', "spool-$version");
        is_deeply([@$pushed[1, 2]], ['', 0], "$version on $host is pushed");
    }
    return;
}

sub compared {
    my ($store, $rules, $versions, @options) = @_;
    return tool('dprofdiff', '--format=perf', '--from', $store, '--fail-if', $rules, @options,
        '--run-set',
        map { "service=shop version=$_" } @$versions);
}

sub findings { return [$_[0] =~ /^FAIL +[^:]+: (\S+):/mg] }

sub canary {
    my ($store) = @_;
    my $got = tool('dprofstore', 'init', '--to', $store);
    is($got->[2], 0, 'a store') or diag $got->[1];
    served($store, 'stable', 5, 700, 'a' .. 'd');
    served($store, 'good', 5, 1400, 'x', 'y');
    served($store, 'slow', 7, 1400, 'x', 'y');
    served($store, 'short', 7, 100, 'x');
    my $rule = 'incl > 2%';
    my $slow = compared($store, $rule, [qw(stable slow)]);
    is($slow->[2], 3, 'the slow canary fails');
    is_deeply(findings($slow->[0]), ['Shop::request'],
        '... for the sub that calls more, and no other') or diag $slow->[0];
    like($slow->[0], qr/^# $_->[0]: service=shop version=$_->[1] \(\d+ profiles of $_->[2] hosts,/m,
        "... hosts are counted: $_->[1]") for ['Baseline', 'stable', 4], ['New', 'slow', 2];
    like($slow->[0], qr/^# Mix: Shop::price \+20\.0 %/m, '... and what it calls more is named');
    my $share = compared($store, 'self > 5%', [qw(stable slow)], '-n');
    is_deeply(findings($share->[0]), ['Shop::price'], 'shares find what is called more')
        or diag $share->[0];
    my $good = compared($store, $rule, [qw(stable good)]);
    is($good->[2], 0, 'the unchanged canary passes') or diag $good->[0];
    is_deeply(findings($good->[0]), [], '... without a finding');
    like($good->[0], qr/^\#\ Power:\ a\ growth\ of\ \d+\.\d\ %\ in\ half\ of\ the\ \d+\ tested,
        \ and\ of\ \d+\.\d\ %\ in\ all\ of\ them,\ is\ seen\ four\ times\ of\ five;
        \ \d+\ hosts\ a\ side\ needed\ for\ incl\ >\ 2%\ in\ all\ of\ them$/mx,
        '... and says what it could have seen');
    my $short = compared($store, $rule, [qw(stable short)]);
    is($short->[2], 0, 'one host is not decided');
    like($short->[0], qr/^# Too few: one host a side: a difference may come from the host or /m,
        '... and says why');
    like($short->[0], qr/^# Not enough hosts: 2 a side needed to decide$/m,
        '... and how many are needed');
    $got = compared($store, $rule, [qw(stable short)], '--strict');
    is($got->[2], 3, '... and fails if strict');
    $got = compared($store, $rule, [qw(stable slow)]);
    is($got->[0], $slow->[0], 'the same again is the same');
    return;
}

subtest 'A folder' => sub { canary("dir:$dir/store") };

subtest 'ClickHouse' => sub {
    ClickHouse::need();
    my ($server) = ClickHouse::start_all($dir, 1);
    canary('clickhouse:' . $server->url . '/dprof');
};

subtest 'Two agents beside the programs that write' => sub {
    mkdir "$dir/live";
    tool('dprofstore', 'init', '--to', 'dir:two');
    my @agents = map { agent('dir:two', 'live') } 1, 2;
    my @pids = map { recorder($_) } 1 .. 4;
    my @status = map { waitpid $_, 0; $? } @pids;
    is("@status", '0 0 0 0', 'four programs end');
    kill TERM => $_ for @agents;
    is(join(' ', map { waitpid $_, 0; $? } @agents), '0 0', 'and so do two agents');
    is(tool('dprofstore', 'push', '--to', 'dir:two', '--service', 'shop', '--merge', 2, '--delete',
        'live')->[2], 0, 'the rest is pushed');
    is_deeply([grep { !/\A\.lock\z/ } files_in("$dir/live")], [], 'nothing is left');
    is_deeply(calls('--from', 'dir:two', '--run-set', 'service=shop'), { map { $_ => 4 * 2000 }
        qw(Shop::parse Shop::stock Shop::request) }, 'nothing is lost, nothing counts twice');
};

# The calls of the subs that each request calls once.
sub calls {
    my %calls;
    for (split /\n/, tool('dproffold', '-m', 'calls', @_)->[0]) {
        $calls{$1} += $2 if /(?:\A|;)(Shop::(?:parse|stock|request)) (\d+)\z/;
    }
    return \%calls;
}

sub started {
    my ($code) = @_;
    my $pid = fork // die "fork: $!";
    return $pid if $pid;
    chdir $dir or POSIX::_exit(126);
    open STDOUT, '>', '/dev/null' or POSIX::_exit(126);
    open STDERR, '>>', "$dir/said" or POSIX::_exit(126);
    $code->();
    POSIX::_exit(127);
}

sub agent {
    my ($store, $spool) = @_;
    my @command = tool_command('dprofstore', 'agent', '--to', $store, '--service', 'shop',
        '--every', 1, '--merge', 2, $spool);
    return started(sub { exec @command });
}

sub recorder {
    my ($seed) = @_;
    my @command = ($^X, PROFILER(), $program, $seed, 2000);
    return started(sub {
        @ENV{qw(PERL_DPROF_CLOCK PERL_DPROF_SLICE PERL_DPROF_SPOOL DEEP)}
            = ('counting:100000', 1, 'live', 5);
        exec @command;
    });
}

done_testing;
