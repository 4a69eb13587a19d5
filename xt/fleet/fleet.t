# What a store that is a folder, and a spool, bear of a fleet. They get profiles pushed twice,
# pushes that are killed at any moment, hosts whose clocks are wrong, disks without room.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Slices;
use Test::More;
use Time::HiRes ();
use Devel::DProf::Store;
use Devel::DProf::Store::RunSet;

my $now = time;

sub tool {
    my ($dir, $name, @args) = @_;
    my $run = run_tool($name, \@args, dir => $dir);
    return [@$run{qw(out err status)}];
}

sub selected {
    my ($dir, $words) = @_;
    return Devel::DProf::Store::open("dir:$dir/store")
        ->select(Devel::DProf::Store::RunSet::parse($words // '', $now));
}

# The calls of main::f and main::g in all of the store.
sub calls {
    my ($dir) = @_;
    my $text = tool($dir, 'dproffold', '-m', 'calls', '--from', 'dir:store', '--run-set', '')->[0];
    my %calls;
    $calls{$1} += $2 while $text =~ /\b(main::\w)[^;\s]* (\d+)$/mg;
    return "@calls{qw(main::f main::g)}";
}

subtest 'A thousand profiles, twice' => sub {
    my $dir = spool_of(1000, 'store');
    for my $time ('once', 'twice') {
        is_deeply(tool($dir, qw(dprofstore push --to dir:store spool)),
            ["1000 profiles pushed\n", '', 0], $time);
        is(scalar(my @all = selected($dir)), 1000, '... and all is there once');
        is(calls($dir), '2000 3000', '... and counts once');
    }
};

# Runs a push that is killed after so many seconds.
sub killed {
    my ($dir, $seconds, @args) = @_;
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        chdir $dir or POSIX::_exit(126);
        open STDOUT, '>', '/dev/null' or POSIX::_exit(126);
        require Devel::DProf::Tool::Dprofstore;
        POSIX::_exit(Devel::DProf::Tool::Dprofstore::main(@args));
    }
    Time::HiRes::sleep($seconds);
    kill KILL => $pid;
    waitpid $pid, 0;
    return $? == 9;
}

for my $merge ([], ['--merge', 300]) {
    subtest "Killed at any moment: @$merge" => sub {
        my ($killed, $rounds) = (0, TestEnvironment::rounds(40, 400));
        for my $round (1 .. $rounds) {
            my $dir = spool_of(25, 'store');
            my @push = (qw(push --to dir:store --delete), @$merge, 'spool');
            $killed += killed($dir, 0.002 * ($round % 40), @push) for 1, 2;
            my $last = tool($dir, 'dprofstore', @push);
            my $calls = calls($dir);
            my @left = grep { $_ ne '.lock' } files_in("$dir/spool");
            my @half = grep { !/\.tree\.gz\z|\A\.dprofstore\z/ } files_in("$dir/store");
            my $is_good = !$last->[2] && $calls eq '50 75' && !@left;
            ok($is_good, 'nothing is lost, nothing counts twice')
                or diag "round $round: status $last->[2], $calls, left: @left, $last->[1]";
            # What a killed writer leaves has no profile's name.
            my @seen = map { $_->{path} } selected($dir);
            ok(!grep({ my $half = $_; grep { $_ eq $half } @seen } @half),
                '... and what was half written is no profile');
        }
        cmp_ok($killed, '>', $rounds / 4, 'many of them were killed');
    };
}

subtest 'Clocks that are wrong' => sub {
    my $dir = spool_of(0, 'store');
    my %start = (old => 1, past => $now - 400 * 86400, right => $now - 600, ahead => $now + 3600,
        far => $now + 20 * 365 * 86400, last => 99_999_999_999);
    for my $host (sort keys %start) {
        add_slice($dir, 1, start => $start{$host}, run => "6c.$start{$host}.1", n => 1);
        my $got = tool($dir, qw(dprofstore push --to dir:store --service web --delete --host),
            $host, 'spool');
        is_deeply($got, ["1 profile pushed\n", '', 0], "a host $host");
    }
    my $hosts = sub { return join ' ', map { $_->{host} } selected($dir, $_[0]) };
    is($hosts->(''), 'old past right ahead far last', 'all are kept, by their time');
    is($hosts->('since=1h'), 'right ahead far last', 'since has what is ahead');
    is($hosts->('since=1h until=1s'), 'right', '... and until leaves it out');
    is($hosts->('older=30d'), 'old past', 'older');
    is($hosts->('until=2030-01-01'), 'old past right ahead', 'until a time to come');
    is($hosts->('limit=1'), 'last', 'limit takes what says that it is the latest');
    is($hosts->('limit=1 until=1s'), 'right', '... unless until says more');
    my $list = tool($dir, qw(dprofstore list --from dir:store));
    like($list->[0], qr/ 6 +6 +1970-01-01T00:00:01Z +5138-11-16T09:46:39Z$/m, 'list');
    my $history = tool($dir, qw(dprofreport --from dir:store --run-set), '', '--history',
        'main::f');
    is_deeply([@$history[1, 2]], ['', 0], 'a history has them all');
    my @rows = $history->[0] =~ /^(\d{4})-\d\d-\d\dT\S+ +1 /mg;
    is(scalar @rows, 6, '... a line for each, and none between') or diag $history->[0];
    is(tool($dir, qw(dprofstore prune --from dir:store older=30d))->[0], "2 profiles removed\n",
        'prune');
    add_slice($dir, 2, start => $_) for '1e99', '-5', '999999999999';
    is(tool($dir, qw(dprofstore push --to dir:store --delete spool))->[2], 0,
        'a start that is none is the time of the file');
};

# Mounts a small file system, which goes with the process that has it. Without the right to do so, a
# test is left out.
my @small = ('unshare', '-rm', 'sh', '-c',
    'mount -t tmpfs -o size=$0 none "$1" && shift && exec "$@"');
my $can_mount = !run_program([@small, '64k', scratch(), 'true'])->{raw};

subtest 'No room in the store' => sub {
    plan skip_all => 'no small file system can be mounted here' if !$can_mount;
    my $dir = spool_of(40, 'store');
    my $names = join '', map { my $n = $_ + 2; sprintf "& %x P n%s x.pm:1\n", $n,
        unpack 'H*', pack 'NNN', map { $n * 2_654_435_761 * $_ % 2**32 } 1 .. 3 } 1 .. 100;
    add_slice($dir, $_, lines => $names) for 1 .. 40;
    my $push = join ' ', map { quotemeta } tool_command('dprofstore', 'push', '--to', 'dir:full',
        '--delete', 'spool');
    my $init = join ' ', map { quotemeta } tool_command('dprofstore', 'init', '--to', 'dir:full');
    mkdir "$dir/full" or die "$dir/full: $!";
    my $run = run_program([@small, '64k', "$dir/full", 'sh', '-c',
        "$init >&2; $push; echo status \$?; find full -type f; cp -r full/. store"], dir => $dir);
    like($run->{out}, qr/^status 1$/m, 'a push fails') or diag $run->{err};
    like($run->{err}, qr/ could not be (?:written|made): No space left on device; what did not arr/,
        '... and says why') or diag $run->{err};
    is(scalar(grep { !/\.tree\.gz\z|\.dprofstore\z/ } grep { /^full/ } split /\n/, $run->{out}), 0,
        '... and leaves nothing half written');
    my @there = selected($dir);
    my @left = grep { /\.tree\z/ } files_in("$dir/spool");
    cmp_ok(scalar @there, '>', 0, 'some have arrived');
    my %once = map { $_ => 1 } map({ $_->{run} =~ /(\d+)\z/ } @there), map { /-(\d+)\.tree/ } @left;
    is(scalar keys %once, 40, '... and each of the others is in the spool');
    is(tool($dir, qw(dprofstore push --to dir:store --delete spool))->[2], 0, 'with room');
    is(calls($dir), '80 120', '... all is there, once');
};

subtest 'No room in the spool' => sub {
    plan skip_all => 'no small file system can be mounted here' if !$can_mount;
    my $dir = scratch();
    mkdir "$dir/$_" or die "$dir/$_: $!" for qw(spool kept store);
    my $program = spew("$dir/p.pl", <<'END_OF_PROGRAM');
sub f { my ($n) = @_; return $n < 1 ? 0 : 1 + f($n - 1) }
for my $i (1 .. 300) {
    eval "sub g$i { f(\$_[0]) } g$i(\$i % 20)";
    # Somebody has made room.
    if ($i == 200) { system 'mv', $_, 'kept' for <spool/*.tree> }
}
END_OF_PROGRAM
    my %env = (PERL_DPROF_CLOCK => 'counting:300000', PERL_DPROF_SLICE => 1, PERL_HASH_SEED => 0,
        PERL_DPROF_SPOOL => 'spool');
    my $command = join ' ', map { quotemeta } $^X, PROFILER(), $program;
    my $run = run_program([@small, '88k', "$dir/spool", 'sh', '-c',
        "$command; echo status \$?; cp spool/*.tree kept 2>&1; ls -A spool"], dir => $dir,
        env => \%env);
    like($run->{out}, qr/^status 0$/m, 'the program goes on') or diag $run->{err};
    my $told = qr/^DProf: cannot write \S+: No space left on device; the slice goes on$/m;
    is(scalar(() = $run->{err} =~ /$told/g), 1, '... and it is told once')
        or diag $run->{err}, $run->{out};
    my @kept = map { "kept/$_" } grep { /\.tree\z/ } files_in("$dir/kept");
    cmp_ok(scalar @kept, '>', 2, 'there are slices');
    my $fold = tool($dir, 'dproffold', '-m', 'calls', @kept);
    my $calls = 0;
    $calls += $1 while $fold->[0] =~ /main::g\d+ (\d+)$/mg;
    is($calls, 300, '... in which no call is lost') or diag $fold->[1], $run->{err};
};

done_testing;
