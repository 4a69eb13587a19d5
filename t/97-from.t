# --from, --run-set: what the tools say of a store is what they say of its files; buckets.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Slices;
use Test::More;
use Devel::DProf::Store;
use Devel::DProf::Store::Sides;

my $dir = scratch();
my $state = 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }

Devel::DProf::Store::open("dir:$dir/store")->init;

# Makes profiles of processes, one slice each, of a version in a folder and in the store: files in
# the order of their names. Returns their profiles.
sub recorded {
    my ($version, $count, $factor, @hosts) = @_;
    mkdir "$dir/$version";
    my @profiles;
    for my $k (1 .. $count) {
        my $host = $hosts[$k % @hosts];
        my %slice = (run => "$version.1.$k", slice => 1, n => $factor * (90 + rnd(20)),
            start => 1_795_348_800 + 60 * $k);
        my $file = spew(sprintf('%s/%s/%04d.tree', $dir, $version, $k), slice_text(%slice));
        push @profiles, { file => $file, run => "$version.1.$k-7-0-1", service => 'web',
            version => $version, host => $host, env => '', start => $slice{start}, seconds => 60 };
    }
    Devel::DProf::Store::open("dir:$dir/store")->add(\@profiles);
    return @profiles;
}

# What a tool printed, without the names of run-sets; its messages; its status.
sub lines_of {
    my ($got) = @_;
    return ($got->[0] =~ s/^# Profile: .*\n//mr, @$got[1, 2]);
}

# Runs a tool in the folder; returns standard output, error output, status.
sub tool {
    my ($name, @args) = @_;
    my $run = run_tool($name, \@args, dir => $dir);
    return [@$run{qw(out err status)}];
}

# On one host, its processes are compared, as files are. (t/123 has several hosts.)
my @old = recorded('1.2', 12, 100, 'a');
my @new = recorded('1.3', 12, 120, 'a');
my @from = ('--from', 'dir:store', '--run-set');

# The same text with other names of the sides.
sub renamed {
    my ($got) = @_;
    my ($text, @more) = @$got;
    $text =~ s{1\.(\d)/\*|service=web version=1\.(\d)}{'side ' . ($1 // $2)}ge;
    return [$text, @more];
}

subtest 'dprofdiff compares profiles of a store like files' => sub {
    my @sets = ('service=web version=1.2', 'service=web version=1.3');
    for my $options ([], ['-v'], ['--format', 'json'], ['--format', 'csv'], ['--tree'],
        ['--fail-if', 'self > 5%'], ['-m', 'calls'], ['-s', 'pid,sub']) {
        my $of_files = tool('dprofdiff', '--format=perf', @$options, '1.2/*', '1.3/*');
        my $of_store = tool('dprofdiff', '--format=perf', @$options, @from, @sets);
        is_deeply(renamed($of_store), renamed($of_files),
            "dprofdiff @$options prints the same for a store as for files");
        isnt($of_store->[0], $of_files->[0],
            'dprofdiff names run-sets for a store and files for files') if $of_files->[0] =~ /1\.2/;
    }
    my $got = tool('dprofdiff', '--format=perf', @from, @sets);
    like($got->[0], qr/^# Baseline: service=web version=1\.2 \(12 runs\)$/m,
        'each process of a run-set is a run');
    is(tool('dprofdiff', '--format=perf', '--fail-if', 'self > 5%', @from, @sets)->[2], 3,
        'a gate fails on run-sets');
    is_deeply(tool('dprofdiff', '--format=perf', '--from', 'dir:store', @sets), $got,
        'dprofdiff takes run-sets without --run-set');
    is_deeply(tool('dprofdiff', '--format=perf', @from, $sets[0], '--run-set', $sets[1]), $got,
        'dprofdiff takes a run-set as an argument and one by --run-set');
    is_deeply(renamed(tool('dprofdiff', '--format=perf', @from, $sets[0], '1.3/*')), renamed($got),
        'dprofdiff compares a run-set with files');
    is_deeply(tool('dprofdiff', '--format=perf', @from, $sets[0])->[1],
        "a second side is missing: --run-set A B\nTry 'dprofdiff -h' for help.\n",
            'one run-set is too few for dprofdiff');
    my $run = run_tool('dprofdiff', ['--format=perf', '--run-set', @sets], dir => $dir,
        env => { DPROF_STORE => 'dir:store' });
    is($run->{out}, $got->[0], 'DPROF_STORE names the store');
};

subtest 'Tools of one side read a store like files' => sub {
    my @files = map { "1.3/$_" } files_in("$dir/1.3");
    my @tried = (['dproffold'], ['dproffold', '-m', 'calls'], ['dprofmerge'],
        ['dprofreport', '--format', 'csv'], ['dprofreport', '-n', '-s', 'sub,pid'],
        ['dprofflame', '--title', 'x', '--subtitle', 'y'],
        ['dprofexport', '--format', 'callgrind'], ['dprofexport', '--format', 'pprof']);
    for (@tried) {
        my ($tool, @options) = @$_;
        my ($of_files, $of_store) = map { [$_->[0] =~ s/^# Profile: .*\n//mr, @$_[1, 2]] }
            tool($tool, @options, @files), tool($tool, @options, @from, 'version=1.3');
        if (grep { $_ eq 'pprof' } @options) {
            spew("$dir/$_", ($of_files, $of_store)[$_]->[0]) for 0, 1;
            ($of_files, $of_store) = map { in_process('dproffold', '-m', 'cpu', "$dir/$_") } 0, 1;
        }
        is_deeply($of_store, $of_files, "$tool @options prints the same for a store as for files");
    }
    like(tool('dprofreport', '--format=perf', @from, ' version=1.3 limit=2')->[0],
        qr/^# Profile: version=1\.3 limit=2$/m, 'dprofreport names the run-set');
    is_deeply(tool('dprofmerge', @from, 'version=1.2', 'version=1.3'),
        tool('dprofmerge', map { my $v = $_; map { "$v/$_" } files_in("$dir/$v") } '1.2', '1.3'),
        'dprofmerge adds up several run-sets');
    for (['dproffold'], ['dprofmerge', '-o', '-'], ['dprofreport', '-q', '--history', 'main::f']) {
        my ($tool, @options) = @$_;
        is_deeply([lines_of(tool($tool, @options, @from, 'version=1.2', 'service=web'))],
            [lines_of(tool($tool, @options, @from, 'service=web'))],
            "$tool counts a profile of two run-sets once");
    }
    is(tool('dprofhtml', @from, 'version=1.3', '-o', 'page.html')->[2], 0,
        'dprofhtml reads a store');
    like(slurp("$dir/page.html"), qr/<html/, 'dprofhtml writes a page of a store');
};

subtest 'Wrong uses of a store give a message' => sub {
    my $trees = "--format chrome shows each call, which only a trace has, and a store keeps trees: "
        . "name a file that was recorded without `tree`, or use another format, such as pprof\n"
        . "Try 'dprofexport -h' for help.\n";
    is_deeply(tool('dprofexport', @$_), ['', $trees, 2],
        "dprofexport @$_ says that a store has no traces") for
        ['--format', 'chrome', @from, 'version=1.3'],
        ['-o', 'a.trace.json', '--from', 'dir:store', 'version=1.3'];
    my @hint = ("Try 'dprofreport -h' for help.\n", 2);
    is_deeply(tool('dprofreport', '--format=perf', @{ $_->[0] }), ['', $_->[1], $_->[2] // 2],
        "dprofreport @{ $_->[0] } says what is wrong") for
        [['--from', 'dir:store'], "--run-set says which profiles of the store: --run-set "
            . "'service=web since=1h'\n$hint[0]"],
        [['--run-set', 'service=web'],
            "--run-set needs a store: --from STORE, or DPROF_STORE in the environment\n$hint[0]"],
        [[@from, 'servce=web'], "unknown condition servce; did you mean service?\n$hint[0]"],
        [[@from, 'service=api'], 'dprofreport: service=api: the store has no such profiles; '
            . "dprofstore list shows what it has\n", 1],
        [['--from', 'dir:none', '--run-set', 'service=api'],
            "dprofreport: $dir/none does not exist: dprofstore init makes it one\n", 1];
};

# ---- buckets ----

subtest 'Many runs become buckets' => sub {
    my @many = recorded('2.0', 51, 100, 'a');
    recorded('2.1', 50, 110, 'a');
    my $got = tool('dprofdiff', '--format=perf', @from, 'version=2.0', 'version=2.1');
    like($got->[0], qr/^# Baseline: version=2\.0 \(51 runs in 20 buckets\)$/m,
        'the header says that 51 runs became 20 buckets');
    like($got->[0], qr/^# New: version=2\.1 \(50 runs\)$/m, '50 runs become no buckets');
    like(tool('dprofdiff', '--format=perf', '--buckets', 7, @from, 'version=2.0',
        'version=2.1')->[0],
        qr/^# New: version=2\.1 \(50 runs in 7 buckets\)$/m,
            '--buckets sets the number of buckets');
    my @gate = ('--fail-if', '/main::g/ self > 0.1%');
    like(tool('dprofdiff', '--format=perf', '--buckets', 7, @gate, @from, 'version=2.0',
        'version=2.1')->[0],
        qr/^# Power: .*; (?:more than )?[\d,]+ buckets a side needed for /m,
        'the power of buckets says how many buckets are needed');
    like(tool('dprofdiff', '--format=perf', @gate, @from, 'version=2.0', 'version=2.1')->[0],
        qr/^# Power: .*; (?:more than )?[\d,]+ runs a side needed for /m,
        'the power says how many runs are needed if one side has no buckets');
    is_deeply([@{ tool('dprofdiff', '--format=perf', '--buckets', 7, '1.2/*', '1.2/*') }[1, 2]],
        ["--buckets goes with --run-set SET\nTry 'dprofdiff -h' for help.\n", 2],
            '--buckets of files is an error');
    my @sums = map { my $set = $_; [tool('dproffold', '--diff', @from, $set, 'version=2.1')->[0]] }
        'version=2.0', 'version=2.0 limit=51';
    is_deeply($sums[0], $sums[1], 'the sums of buckets are those of all runs');
    # A bucket is what dprofmerge makes of its runs.
    my @buckets = Devel::DProf::Store::Sides::buckets(7, map { [$_] } @many);
    mkdir "$dir/merged";
    for my $k (0 .. $#buckets) {
        tool('dprofmerge', '-o', "merged/$k", map { $_->{file} } @{ $buckets[$k] });
    }
    my $of_files = tool('dprofdiff', '--format=perf', 'merged/*', '1.2/*')->[0];
    my $of_store = tool('dprofdiff', '--format=perf', '--buckets', 7, @from, 'version=2.0',
        '1.2/*')->[0];
    is($of_store =~ s/^# Baseline:.*\n//mr, $of_files =~ s/^# Baseline:.*\n//mr,
        'dprofdiff compares buckets like merged files');
};

subtest 'Random runs are shared among buckets' => sub {
    for my $round (1 .. TestEnvironment::rounds(50, 500)) {
        my $hosts = 1 + rnd(rnd(2) ? 5 : 40);
        my $wanted = 1 + rnd(25);
        my @runs = map { [{ host => 'h' . rnd($hosts), start => $_, file => $_ }] }
            1 .. $wanted + rnd(200);
        my @buckets = Devel::DProf::Store::Sides::buckets($wanted, @runs);
        my %of = map { $_->[0]{host} => 1 } @runs;
        my $name = "$wanted buckets of " . @runs . ' runs on ' . keys(%of) . ' hosts';
        my @files = sort { $a <=> $b } map { map { $_->{file} } @$_ } @buckets;
        my $good = "@files" eq join ' ', 1 .. @runs;
        my $most = keys %of > 1 ? keys %of : @runs;
        $good &&= @buckets == ($wanted < $most ? $wanted : $most) && !grep { !@$_ } @buckets;
        if (keys %of > 1) {
            my %buckets_of;
            for my $k (0 .. $#buckets) { $buckets_of{ $_->{host} }{$k} = 1 for @{ $buckets[$k] } }
            $good &&= !grep { keys %$_ > 1 } values %buckets_of;
        } else {
            for my $bucket (@buckets) {
                my @times = map { $_->{start} } @$bucket;
                my @between = grep { $_->[0]{start} >= $times[0] && $_->[0]{start} <= $times[-1] }
                    @runs;
                $good &&= @between == @times;
            }
        }
        ok($good, "the buckets are as many, and as even, as they should be: $name") || last;
    }
};

done_testing;
