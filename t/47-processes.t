# fork, exec, threads, and ends of all kinds: which process writes which file.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;

# Runs code plain and profiled. Process numbers in the outputs are replaced, so that both compare.
sub both {
    my ($what, $code, %opt) = @_;
    my @args = ref $code ? @$code : ('-e', $code);
    my $plain = plain([@args], %opt, dir => scratch());
    my $run = profiled([@args], %opt);
    for ($plain, $run) {
        $_->{$what} = 1;
        $_->{raw_out} = $_->{out};
        s/\b\d{2,}\b/N/g for $_->{out}, $_->{err}
    }
    same_as_plain($plain, $run, "$what: the profiled program does what the plain one does");
    return $run;
}

sub files { my $run = shift; return sort map { s{.*/}{}r } glob "$run->{dir}/tmon.out*" }

subtest 'A forked child has a profile of its own' => sub {
    my $run = both('fork',
        'sub f { 1 } sub before { 1 } sub child { f() for 1 .. 5 } sub parent { f() for 1 .. 3 } '
        . 'sub forks { my $pid = fork; if (!$pid) { child(); exit 3 } waitpid $pid, 0; '
        . 'print $? >> 8, "\n"; print "$pid\n"; parent() } before(); forks(); f()');
    my ($pid) = $run->{raw_out} =~ /(\d\d+)/;
    is_deeply([files($run)], ['tmon.out', "tmon.out.$pid"], 'fork leaves two files');
    my $parent = profile_ok($run->{profile}, "the parent's profile is whole");
    my $child = profile_ok("$run->{profile}.$pid", "the child's profile is whole");
    is_deeply([map { $parent->calls("main::$_") } qw(before forks parent child f)], [1, 1, 1, 0, 4],
        "the parent's profile has the parent's calls alone");
    is_deeply([map { $child->calls("main::$_") } qw(before forks parent child f)], [0, 0, 0, 1, 5],
        "the child's profile has the child's calls alone");
    is_deeply($child->{inherited}, ['main::forks'], 'the child began in forks');
    is($child->edge('main::forks', 'main::child'), 1, 'what the child calls is below forks');
    is($child->{header}{dprof_run}, $parent->{header}{dprof_run}, 'both files have the same run');
    is($child->{header}{dprof_pid}, $pid, "the child's file has its process number");
    is($child->{header}{dprof_ppid}, $parent->{header}{dprof_pid},
        "the child's file has the process number of the parent");

    $run = both('children that record nothing',
        'sub f { 1 } f(); for (1 .. 3) { my $p = fork; if (!$p) { exec "true" } waitpid $p, 0 } '
        . 'system "true"; print `echo x`; open my $in, "-|", "echo y"; print <$in>; close $in; '
        . 'open $in, "-|", "echo", "z"; print <$in>; f()');
    is_deeply([files($run)], ['tmon.out'], 'children that record nothing have no file');
    is(profile_ok($run->{profile})->calls('main::f'), 2,
        "the parent's file is whole beside such children");

    $run = both('open -|',
        'sub f { 1 } sub kid { f() for 1 .. 7; print "from kid\n" } my $pid = open my $in, "-|"; '
            . 'if (!$pid) { kid(); exit } print <$in>; close $in; print "$pid\n"');
    ($pid) = $run->{raw_out} =~ /(\d\d+)/;
    is(profile_ok("$run->{profile}.$pid")->calls('main::f'), 7,
        'the child of open "-|" has its calls');
    is(profile_ok($run->{profile})->calls('main::f'), 0,
        q{the parent of open "-|" has none of the child's calls});

    # Buffers are full on both sides, and nothing is written twice.
    $run = both('much on both sides',
        'sub f { 1 } f() for 1 .. 10_000; my $pid = fork; f() for 1 .. 30_000; '
            . 'if ($pid) { waitpid $pid, 0; print "$pid\n" }');
    ($pid) = $run->{raw_out} =~ /(\d\d+)/;
    is(profile_ok($run->{profile})->calls('main::f'), 40_000,
        "the parent's calls are written once");
    is(profile_ok("$run->{profile}.$pid")->calls('main::f'), 30_000,
        "the child's calls are written once");

    $run = both('grandchildren',
        'sub f { 1 } sub gen { my $n = shift; f(); return if !$n; my $p = fork; '
            . 'if (!$p) { gen($n - 1); exit } waitpid $p, 0 } gen(3)');
    is(scalar(my @f = files($run)), 4, 'four generations leave four files');
    is_deeply([sort { $a <=> $b } map { scalar @{ profile_ok("$run->{dir}/$_")->{inherited} } } @f],
        [0, 1, 2, 3], 'each generation began one call deeper');

    $run = both('fork in odd places',
        'use List::Util "first"; sub f { 1 } sub cb { f(); my $p = fork; if (!$p) { f(); exit } '
            . 'waitpid $p, 0; 1 } '
        . 'first { cb() } 1; my @s = sort { cb(); 0 } 2, 1; sub cmp_it { cb(); 0 } '
        . '@s = sort cmp_it 2, 1; eval { cb() }; eval q(cb())');
    profile_ok("$run->{dir}/$_", $_) for files($run);

    $run = both('fork without wait, both end',
        'sub f { 1 } $SIG{CHLD} = "IGNORE"; my @p; for (1 .. 5) { my $p = fork; if (!$p) { f(); '
            . 'exit } push @p, $p } 1 while wait != -1; f()');
    is(scalar(@f = files($run)), 6, 'five children and their parent leave six files');
    is(profile_ok("$run->{dir}/$_")->calls('main::f'), 1, "$_ has its call") for @f;

    $run = both('fork with the first write late',
        'sub f { 1 } f() for 1 .. 10; my $p = fork; if (!$p) { require POSIX; f(); '
            . 'POSIX::_exit(4) } waitpid $p, 0; print $? >> 8, " $p\n"; f()');
    ($pid) = $run->{raw_out} =~ /(\d\d+)/;
    my $got = profile_ok("$run->{profile}.$pid",
        'the profile of a child that ends by POSIX::_exit is whole');
    is($got->calls('main::f'), 1, 'a child that ends by POSIX::_exit has its calls');
};

subtest 'A daemon keeps its profile where it started' => sub {
    my $run = run_program([$^X, PROFILER(), '-e',
        'sub f { 1 } f(); pipe my $r, my $w; my $p = fork; if (!$p) { require POSIX; '
            . 'POSIX::setsid(); '
        . 'my $q = fork; POSIX::_exit(0) if $q; chdir "/"; open STDIN, "<", "/dev/null"; '
        . 'f() for 1 .. 3; print $w "$$\n"; close $w; close STDOUT; exit } '
        . 'close $w; waitpid $p, 0; my $d = <$r>; chomp $d; print "$d\n"; '
        . '1 while kill 0 => $d and select(undef, undef, undef, 0.01) == 0 and $n++ < 300; f()']);
    chomp(my $daemon = $run->{out});
    is($run->{err}, '', 'a daemon gives no message');
    my $file = "$run->{dir}/tmon.out.$daemon";
    for (1 .. 200) {
        last if -s $file && slurp($file) =~ /dprof_complete/;
        select undef, undef, undef, 0.01;
    }
    is(profile_ok($file, "the daemon's profile is whole")->calls('main::f'), 3,
        "a daemon's profile is where the program began");
    is(profile_ok("$run->{dir}/tmon.out")->calls('main::f'), 2,
        "the program's own calls are in its file");
};

subtest 'A profile is whole whatever ends the program' => sub {
    my $run = both('POSIX::_exit',
        'use POSIX (); sub f { 1 } sub deep { f(); POSIX::_exit(5) } END { print "no" } deep()');
    my $got = profile_ok($run->{profile});
    is($got->calls('main::f'), 1, 'calls before POSIX::_exit are recorded');
    is($got->calls('POSIX::_exit'), 1, 'the call of POSIX::_exit is recorded');

    $run = both('exec', 'sub f { 1 } sub deep { f(); exec "echo", "replaced" } deep()');
    $got = profile_ok($run->{profile}, 'exec', cut => 1);
    is($got->calls('main::f'), 1, 'calls before exec are recorded');

    $run = both('exec that fails',
        'no warnings; sub f { 1 } exec "/no/such/program"; f(); print "went on\n"');
    is(profile_ok($run->{profile})->calls('main::f'), 1, 'calls after a failed exec are recorded');

    $run = both('die', 'sub f { 1 } sub deep { f(); $! = 0; die "end\n" } deep()');
    is(profile_ok($run->{profile})->calls('main::f'), 1, 'calls before die are recorded');

    $run = both('a signal that kills', 'sub f { 1 } f() for 1 .. 60_000; kill KILL => $$');
    $got = read_profile($run->{profile});
    is(join(' ', grep { !/middle of a line/ } $got->problems), '',
        'what was written before SIGKILL can be read');
    cmp_ok($got->calls('main::f'), '>', 1000, 'most calls before SIGKILL are recorded');

    $run = both('nothing at all', '');
    profile_ok($run->{profile}, 'the profile of an empty program is whole');
    $run = both('syntax error', '1 +) ;');
    is_deeply([files($run)], [], 'a program that does not compile leaves nothing');
    $run = both('-c', ['-c', '-e', 'sub f { 1 } BEGIN { f() } f()']);
    is_deeply([files($run)], [], 'perl -c leaves nothing');
    $run = both('exit in BEGIN', 'sub f { 1 } BEGIN { f(); exit 4 }');
    is(profile_ok($run->{profile})->calls('main::f'), 1, 'exit in BEGIN leaves the calls');
    $run = both('die in END', 'sub f { 1 } END { f(); die "end\n" } f()');
    is(profile_ok($run->{profile})->calls('main::f'), 2, 'die in END leaves all calls');
    $run = both('DESTROY at the very end',
        'sub D::DESTROY { f() } sub f { 1 } our $x = bless [], "D"; our $y = bless [$x], "D"; '
            . '$x->[0] = $y; END { f() }');
    is(profile_ok($run->{profile})->calls('main::f'), 3,
        'calls of objects destroyed at the very end are recorded');
};

subtest 'The environment makes children record' => sub {
    my $dir = scratch();
    my $run = run_program([$^X, '-e',
        'print system($^X, "-e", q(sub f { 1 } f(); print exists $ENV{PERL5DB} '
            . '? "seen\n" : "not seen\n")), "\n"; sub g { 1 } g()'],
        dir => $dir, env => { profiler_env() });
    is($run->{out}, "not seen\n0\n", 'PERL5OPT: parent and child run');
    my @files = files($run);
    is(scalar @files, 2, 'parent and child are profiled');
    my %calls = map {
        my $got = profile_ok("$dir/$_");
        ($_ => $got->calls('main::f') . $got->calls('main::g'))
    } @files;
    is_deeply([sort values %calls], ['01', '10'], 'each has its own calls');

    $run = run_program([$^X, '-T', '-e', 'print "tainted\n"'], env => { profiler_env() });
    is($run->{out}, "tainted\n", '-T profiles a tainted program');
};

subtest 'Each thread has a profile of its own' => sub {
    plan skip_all => 'this perl has no threads' unless $Config{useithreads};
    my $run = both('create and join',
        'use threads; sub f { 1 } sub work { f() for 1 .. $_[0]; threads->tid } f(); '
            . 'my @t = map { threads->create(\&work, $_ * 10) } 1 .. 3; print map({ $_->join } '
            . '@t), "\n"; f()');
    my @files = files($run);
    is(scalar @files, 4, 'three threads and the first leave four files');
    is(profile_ok($run->{profile})->calls('main::f'), 2, "the first thread's file has its calls");
    my ($pid) = map { /tmon\.out\.(\d+)\.1$/ } @files;
    is(profile_ok("$run->{profile}.$pid.$_")->calls('main::f'), $_ * 10,
        "thread $_ has its calls") for 1 .. 3;
    is(read_profile("$run->{profile}.$pid.2")->{header}{dprof_tid}, 2,
        'the file has the number of the thread');

    $run = both('detach',
        'use threads; use threads::shared; my $done : shared; sub f { 1 } '
            . 'threads->create(sub { f() for 1 .. 5; lock $done; $done = 1; '
            . 'cond_signal($done) })->detach; '
        . '{ lock $done; cond_wait($done) until $done } select undef, undef, undef, 0.05; '
        . 'print "end\n"');
    profile_ok("$run->{dir}/$_", $_) for files($run);

    $run = both('threads that die, exit and are nested',
        'no warnings; use threads; sub f { 1 } $SIG{__WARN__} = sub {}; '
        . 'my $t = threads->create(sub { f(); die "in thread\n" }); $t->join; '
        . 'threads->create(sub { f(); threads->exit })->join; '
        . 'print threads->create(sub { f(); threads->create(sub { f(); '
        . '"inner" })->join })->join, "\n"; eval { threads->create(sub { sub { die "x\n" }->() '
        . '})->join }; f()');
    is(scalar(@files = files($run)), 6, 'each thread leaves a file');
    is(profile_ok("$run->{dir}/$_")->calls('main::f') <= 1, 1,
        "the profile of $_ has one call at most") for @files;

    $run = both('created deep inside',
        'use threads; sub f { 1 } sub start { threads->create(sub { f(); eval { die }; '
            . 'my @s = sort { $a <=> $b } 2, 1; f() })->join; f() } sub D::DESTROY { 1 } '
        . 'sub deep { my $o = bless [], "D"; $_[0] ? deep($_[0] - 1) : start() } deep(50); '
        . 'print "ok\n"');
    profile_ok("$run->{dir}/$_", $_) for files($run);

    $run = both('fork in a thread',
        'use threads; sub f { 1 } threads->create(sub { f(); my $p = fork; if (!$p) { f(); '
            . 'require POSIX; POSIX::_exit(0) } waitpid $p, 0; f() })->join; print "ok\n"');
    profile_ok("$run->{dir}/$_", $_) for files($run);
    $run = both('the program ends while threads run',
        'no warnings; use threads; sub f { 1 } for (1 .. 2) { threads->create(sub { while (1) { '
            . 'f() } }) } select undef, undef, undef, 0.02; print "ok\n"; require POSIX; '
            . 'POSIX::_exit(0)');
    profile_ok($run->{profile}, 'the first one\'s file', cut => 1);
};

done_testing;
