# The ids of runs: 128 random bits, the same in all files of a run and in no other. Where two
# profiles have one identity all the same, a store reports the second one and drops neither.
use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use Devel::DProf::Store::ClickHouse;
use Devel::DProf::Store::Failure;
use DProfTest;
use Slices;

my $LIBRARIES = join ':', map { root() . "/blib/$_" } qw(lib arch);

# The ids in files, each once.
sub ids_in {
    my %seen;
    return grep { !$seen{$_}++ } map { slurp($_) =~ /\$dprof_run='([^']*)'/ ? $1 : 'none' } @_;
}

# ---- ids ----

subtest 'Each run has an id of its own' => sub {
    my ($any, $all, @ids) = ("\0" x 16, "\xff" x 16);
    my $dir = scratch();
    profiled(['-e', 1], env => { PERL_DPROF_OUT => "$dir/%p.out" }) for 1 .. 60;
    @ids = ids_in(bsd_glob("$dir/*.out"));
    is(scalar(@ids), 60, '60 runs have 60 ids');
    is(scalar(grep { !/\A[0-9a-f]{32}\z/ } @ids), 0, 'each id has 32 hexadecimal digits');
    for (@ids) { $any |= pack 'H*', $_; $all &= pack 'H*', $_ }
    is(unpack('H*', $any), 'f' x 32, 'each bit is set in some id');
    is(unpack('H*', $all), '0' x 32, 'each bit is clear in some id');
};

subtest 'All files of a run have its id' => sub {
    my $threads = $Config{useithreads} ? 'use threads; threads->create(sub { f() })->join; ' : '';
    my $code = "sub f { 1 } f(); ${threads}for (1, 2) { my \$pid = fork // die; "
        . 'if (!$pid) { f(); if (!fork) { f(); exit } wait; exit } waitpid $pid, 0 } f()';
    for my $env ({}, { PERL_DPROF_MODE => 'tree' }, { PERL_DPROF_SAMPLE => 100_000 }) {
        my $run = profiled(['-e', $code], env => { counting(), %$env });
        my @files = bsd_glob("$run->{dir}/tmon.out*");
        is(scalar(@files), $threads ? 6 : 5, 'each process and each thread leaves a file');
        is(scalar(ids_in(@files)), 1, 'all files of a run have one id');
        my $all = run_tool('dprofpp', ['--processes', $run->{profile}]);
        is($all->{err}, '', '--processes finds the files by their id');
    }
    my $run = profiled(['-e', 'sub f { 1 } f(); exec $^X, "-d:DProf", "-e", "1"'],
        env => { PERL5LIB => tree(), PERL_DPROF_OUT => '%p.%n' });
    $run = profiled(['-e', 'sub f { 1 } f(); if (!fork) { exec $^X, "-d:DProf", "-e", 1 } wait'],
        env => { PERL5LIB => tree(), PERL_DPROF_OUT => 'p%p.out' });
    is(scalar(ids_in(bsd_glob("$run->{dir}/p*.out"))), 2, 'another perl has another id');
};

subtest 'What a killed process leaves has its id' => sub {
    for my $env ({}, { PERL_DPROF_MODE => 'tree' }) {
        my $run = profiled(['-e', 'sub f { 1 } f() for 1 .. 7; kill 9, $$'], env => $env);
        my ($id) = ids_in($run->{profile});
        like(slurp("$run->{profile}.live"), qr/\Q$id\E\0/,
            'the pieces of a killed process have the id');
        my $shown = run_tool('dprofreport', ['-F', 'calls,sub', $run->{profile}]);
        like($shown->{out}, qr/^ *7 +main::f$/m,
            'the pieces of a killed process belong to its profile');
    }
    my $run = profiled(['-e', 'sub f { 1 } f()'], env => { PERL_DPROF_SPOOL => 'spool' });
    my ($slice) = bsd_glob("$run->{dir}/spool/*.tree");
    my ($id) = ids_in($slice);
    like($slice, qr{/_e-\Q$id\E-$run->{pid}-0-1\.tree\z}, 'a slice has the id in its name');
};

# ---- identities that are not ----

# Runs dprofstore in a folder; returns standard output, error output, status.
sub dprofstore {
    my ($dir, @args) = @_;
    my $run = run_tool('dprofstore', \@args, dir => $dir);
    return [@$run{qw(out err status)}];
}

my $BEGAN = 1_795_348_800.25;
my $EXPLAINED
    = qr/: another profile has the same run, process, thread and slice \(6b\.1\.1-7-0-1\)/;

# What differs between two profiles of one identity.
my %OTHER = (
    'a sum'    => [g => 4],
    'a start'  => [n => 2, start => $BEGAN + 5],
    'a length' => [n => 2, start => $BEGAN],
);
for my $what (sort keys %OTHER) {
    subtest "Two of one identity differ in $what" => sub {
        my $dir = spool_of(0, 'store');
        my @push = qw(push --to dir:store --host h);
        spew("$dir/1.tree", slice_text());
        spew("$dir/2.tree", slice_text(@{ $OTHER{$what} }));
        is_deeply(dprofstore($dir, @push, '1.tree'), ["1 profile pushed\n", '', 0],
            'push sends the first file');
        is_deeply(dprofstore($dir, @push, '--service', 'again', '1.tree'),
            ["1 profile pushed\n", '', 0], 'push sends the first file as another service');
        for my $service ('web.pl', 'other') {
            my $run = dprofstore($dir, @push, '--service', $service, '2.tree');
            like($run->[1],
                qr{^dprofstore: 2\.tree$EXPLAINED, and other contents: \S+/store/\S+; }m,
                "push of the second file as service $service is an error");
            is($run->[2], 1, "push of the second file as service $service fails");
        }
        my @kept = grep { /tree/ } files_in("$dir/store");
        is(scalar(@kept), 2, 'the store keeps the two profiles of the first file');
        # The same with one batch.
        my $both = spool_of(0, 'store');
        spew("$both/spool/1.tree", slice_text());
        spew("$both/spool/2.tree", slice_text(@{ $OTHER{$what} }));
        my $run = dprofstore($both, @push, '--delete', 'spool');
        is($run->[0], "1 profile pushed, 1 refused\n", 'push of both files sends one');
        like($run->[1], qr/$EXPLAINED/, 'push of both files reports the other');
        is(join(' ', grep { $_ ne '.lock' } files_in("$both/spool")),
            'refused/2.tree refused/2.tree.why', 'push of both files moves the other aside');
    };
}

subtest 'A trace that becomes a tree is the same when it comes again' => sub {
    my $dir = spool_of(0, 'store');
    my $run = profiled(['-e', 'sub f { 1 } f() for 1 .. 5; kill 9, $$'], dir => $dir);
    is_deeply(dprofstore($dir, qw(push --to dir:store --version), $_, 'tmon.out'),
        ["1 profile pushed\n", '', 0], "push sends the trace as version $_") for 1, 2;
    my @all = Devel::DProf::Store::open("dir:$dir/store")->select({});
    is(scalar(@all), 1, 'the trace is stored once');
};

# As a store may have them that was filled before this was checked.
subtest 'Two stored profiles of one identity are both selected' => sub {
    my $dir = spool_of(0, 'store');
    my $store = Devel::DProf::Store::open("dir:$dir/store");
    for my $n (1, 2) {
        no warnings qw(redefine once);
        local *Devel::DProf::Store::Dir::refuse_other = sub { };
        my $start = sprintf '%.6f', $BEGAN + $n / 1e6;
        $store->add([{ run => '6b.1.1-1-0-0', service => 'web', start => $start, seconds => 60,
            file => spew("$dir/$n.out", slice_text(pid => 1, slice => 0, n => $n,
                start => $start)) }]);
    }
    is(scalar(my @all = $store->select({})), 2, 'select returns both profiles');
    is(($store->list({}))[0]{runs}, 2, 'list counts both runs');
    my $shown = run_tool('dprofreport', ['-F', 'calls,sub', '--from', 'dir:store', '--run-set', ''],
        dir => $dir);
    like($shown->{out}, qr/^ *6 +main::g$/m, 'dprofpp adds up both stored profiles')
        or diag explain $shown;
    $shown = run_tool('dprofreport', ['-F', 'calls,sub', '1.out', '2.out'], dir => $dir);
    like($shown->{out}, qr/^ *6 +main::g$/m, 'dprofpp adds up both files') or diag explain $shown;
    is($store->prune({ limit => 1 }), 1, 'prune removes the profile that it selects');
    is(scalar(@all = $store->select({})), 1, 'prune leaves the other profile');
};

subtest 'ClickHouse refuses other contents of one identity' => sub {
    my @asked;
    my $server = bless {}, 'Server109';
    my $store = bless { server => $server }, 'Devel::DProf::Store::ClickHouse';
    my @there;
    {
        no warnings 'once';
        *Server109::rows = sub { push @asked, $_[1]; return @there };
    }
    my %p = (file => '2.tree', run => '6b.1.1-7-0-1', service => 'web', version => 1,
        start => 5_000_000, duration => 60);
    my $dies = sub { return eval { $store->new_profiles(@_) . '' }
        // Devel::DProf::Store::Failure->of($@)->message };
    is($dies->({ %p }), 1, 'a new profile is new');
    is($dies->({ %p }, { %p }), 1, 'a profile that comes twice is new once');
    is($dies->({ %p }, { %p, service => 'other' }), 2, 'a profile of two services is new for each');
    @there = ([@p{qw(run service version start duration)}]);
    is($dies->({ %p }), 0, 'a stored profile is not new');
    is($dies->({ %p, service => 'other' }), 1, 'a stored profile is new for another service');
    my $error = qr/\A2\.tree$EXPLAINED, and another start or length; keep one of the two\z/;
    like($dies->({ %p, start => 5_000_001 }), $error,
        'another start of the same identity is an error');
    like($dies->({ %p, service => 'other', duration => 61 }), $error,
        'another duration of the same identity is an error');
    @there = ();
    like($dies->({ %p }, { %p, duration => 61 }), $error, 'two durations in one push are an error');
    unlike($asked[-1], qr/\bservice (?:=|IN)/, 'the server is asked about all services');
};

done_testing;
