# The profile as a file in somebody else's process: descriptors, directories, limits,
# old files and foreign ones. The program runs on unhurt, and one line says what is wrong.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use Fcntl qw(:flock :mode);

my $WORK = 'sub f { 1 } f() for 1 .. 100; ';
# More than a buffer holds.
my $calls = TestEnvironment::rounds(25_000, 60_000);
my $MUCH = "sub f { 1 } f() for 1 .. $calls; ";

sub clean { my $text = slurp(shift) // 'none'; return substr($text =~ s/[^ -~\n]/?/gr, 0, 200) }

sub lines { my @lines = split /\n/, shift; return scalar @lines }

# Both runs of a piece of code; returns the profiled one after comparing.
sub both {
    my ($what, $code, %opt) = @_;
    my $plain = plain(['-e', $code], %opt, dir => scratch());
    my $run = profiled(['-e', $code], %opt);
    same_as_plain($plain, $run, "$what: the program as plain") unless $opt{differs};
    return $run;
}

subtest 'where it is written' => sub {
    my $run = both('default', $WORK);
    my $got = profile_ok($run->{profile});
    is($got->calls('main::f'), 100, 'all calls');
    is_deeply([map { s{.*/}{}r } glob "$run->{dir}/*"], ['tmon.out'], 'one file');

    $run = both('named', $WORK, env => { PERL_DPROF_OUT_FILE_NAME => 'sub.prof' });
    profile_ok("$run->{dir}/sub.prof");
    ok(!-e $run->{profile}, 'not under the default name');

    $run = both('chdir', "mkdir 'd'; chdir 'd'; $WORK chdir '/'; $WORK");
    is(profile_ok($run->{profile})->calls('main::f'), 200, 'beside where the program began');
    ok(!-e "$run->{dir}/d/tmon.out", 'not where it went');

    for my $umask (0077, 0022, 0002) {
        $run = profiled(['-e', $WORK], umask => $umask);
        is((stat $run->{profile})[2] & 0777, 0666 & ~$umask,
            sprintf 'umask %04o decides the mode', $umask);
    }
    $run = profiled(['-e', "umask 0777; $WORK"], umask => 0022);
    is((stat $run->{profile})[2] & 0777, 0644, 'as it was when the program began');

    for my $name ('with blank', "q'uote", "umlaut-\xc3\xa4", 'per%41cent') {
        my $named = profiled(['-e', $WORK], env => { PERL_DPROF_OUT_FILE_NAME => $name });
        profile_ok("$named->{dir}/$name", "named $name");
    }
};

subtest 'descriptors' => sub {
    my $run = both('all closed', 'require POSIX; POSIX::close($_) for 3 .. 1023; '
        . 'my @fh; for (1 .. 200) { open $fh[$_], "+>", "own$_" or die "$_: $!"; print { $fh[$_] } '
        . '"mine $_\n" } '
        . $MUCH . 'close $_ for grep { $_ } @fh; '
        . 'for (1 .. 200) { open my $in, "<", "own$_"; local $/; '
        . 'print "foreign bytes\n" if <$in> ne "mine $_\n" } print "done\n"');
    my $got = profile_ok($run->{profile});
    is($got->calls('main::f'), $calls, 'all closed and numbers taken: the profile is whole');
    is(scalar(grep { slurp($_) ne "mine " . (/(\d+)$/)[0] . "\n" } glob "$run->{dir}/own*"), 0,
        'nothing of ours in its files');

    $run = both('closed at the end',
        $WORK . 'END { require POSIX; POSIX::close($_) for 3 .. 255 }');
    is(profile_ok($run->{profile})->calls('main::f'), 100, 'closed at the end');

    $run = both('number taken by dup2',
        $WORK . 'require POSIX; for (101 .. 110) { open my $o, ">", "d$_"; '
            . 'POSIX::dup2(fileno $o, $_) } ' . $MUCH);
    is(profile_ok($run->{profile})->calls('main::f'), $calls + 100, 'a number taken by dup2');
    is(scalar(grep { -s } glob "$run->{dir}/d*"), 0, 'nothing of ours in those');

    $run = both('STDERR to a file', 'open STDERR, ">", "err" or die; ' . $MUCH
        . 'print STDERR "mine\n"');
    profile_ok($run->{profile});
    is(slurp("$run->{dir}/err"), "mine\n", 'nothing of ours in STDERR reopened');

    $run = both('std closed',
        'close STDIN; close STDOUT; close STDERR; open my $a, ">", "a"; open my $b, ">", "b"; '
            . 'open my $c, ">", "c"; '
        . 'print $a "A"; print $b "B"; print $c fileno($a), fileno($b), fileno($c); ' . $MUCH);
    profile_ok($run->{profile});
    is(slurp("$run->{dir}/$_"), { a => 'A', b => 'B', c => '012' }->{$_}, "the program's file $_")
        for qw(a b c);

    my $dir = scratch();
    $run = run_program(['sh', '-c', 'exec "$@" 0<&- 1>&- 2>&-', 'sh', $^X, PROFILER(), '-e',
        'open my $o, ">", "o"; print $o fileno $o; ' . $WORK], dir => $dir);
    is($run->{status}, 0, 'started with 0, 1 and 2 closed');
    mkdir "$dir/Devel";
    spew("$dir/Devel/SomeXS.pm",
        'package Devel::SomeXS; $^P = 0; require XSLoader; { package Fcntl; '
            . 'XSLoader::load("Fcntl") } 1;');
    run_program(['sh', '-c', 'exec "$@" 0<&- 1>&- 2>&-', 'sh', $^X, "-I$dir", '-d:SomeXS', '-e',
        'open my $o, ">", "plain"; print $o fileno $o;'], dir => $dir);
    is(slurp("$dir/o"), slurp("$dir/plain"),
        'the first open gets the number it gets after any XS module');
    profile_ok("$dir/tmon.out");

    $run = run_program(['sh', '-c', 'ulimit -n 20; exec "$@"', 'sh', $^X, PROFILER(), '-e',
        'open my $o, "<", "/dev/null"; print fileno $o; ' . $WORK]);
    is("$run->{out}|$run->{err}", '3|', 'few descriptors allowed');
    profile_ok("$run->{dir}/tmon.out");

    $run = both('close-on-exec', 'exec "sh", "-c", q(ls -l /proc/self/fd | grep -c tmon.out)');
    like($run->{out}, qr/^0$/, 'a program that is executed does not have our descriptor');
    $run = both('close-on-exec of system', 'print `ls -l /proc/self/fd | grep -c tmon.out`');
    like($run->{out}, qr/^0$/, 'nor one that is started');
};

subtest 'the disk' => sub {
    my $run = profiled(['-e', $MUCH . 'print "alive\n"'],
        env => { PERL_DPROF_OUT_FILE_NAME => '/dev/full' });
    is("$run->{out}$run->{status}$run->{signal}", "alive\n00", '/dev/full: the program runs on');
    like($run->{err}, qr{^DProf: .*/dev/full: No space left on device.*\n\z}, 'one line says so');

  SKIP: {
        my $dir = scratch();
        my $mount = $> == 0 ? run_program(['mount', '-t', 'tmpfs', '-o', 'size=128k', 'tmpfs',
            $dir]) : undef;
        skip 'cannot mount a small file system', 4 if !$mount || $mount->{raw};
        $run = profiled(['-e', $MUCH . 'print "alive\n"; f(); exit 3'], dir => $dir);
        is("$run->{out}$run->{status}$run->{signal}", "alive\n30",
            'disk full: the program runs on');
        like($run->{err}, qr{^DProf: .*tmon\.out: No space left on device[^\n]*\n\z},
            'one line says so');
        my $got = read_profile("$dir/tmon.out");
        is(join("\n", grep { !/middle of a line/ } $got->problems), '',
            'what was recorded is readable');
        cmp_ok($got->calls('main::f'), '>', 5000,
            'calls up to there: the profile has all of the disk');
        run_program(['umount', $dir], dir => '/');
    }

    $run = run_program(['sh', '-c', 'ulimit -f 800; exec "$@"', 'sh', $^X, PROFILER(), '-e',
        '$SIG{XFSZ} = sub { print "signal\n" }; ' . $MUCH x 3 . 'print "alive\n"']);
    is("$run->{out}$run->{status}$run->{signal}", "alive\n00", 'file size limit: no SIGXFSZ');
    like($run->{err}, qr/^DProf: .*tmon\.out: File too large[^\n]*\n\z/, 'one line says so');
    my $got = profile_ok("$run->{dir}/tmon.out", 'and what was recorded is readable', cut => 1);
    cmp_ok($got->calls('main::f'), '>', 1000, 'calls up to there');

    $run = run_program(['sh', '-c', '(ulimit -f 0; exec "$@" 2>&1) | cat', 'sh', $^X, PROFILER(),
        '-e', $WORK . 'print "alive\n"']);
    like($run->{out}, qr/^DProf: [^\n]*File too large[^\n]*\nalive\n\z/,
        'no file may be written at all');
};

# A child that gets no more memory than it has records nothing, and goes on.
subtest 'no memory in a child' => sub {
    my $code = 'sub f { my $n = shift; $n ? f($n - 1) : 1 } sub g { my @x = sort { f(1); '
        . '$a <=> $b } 2, 1; eval { die f(3) }; 1 } sub within { my $pid = fork; if (!$pid) { '
        . 'open my $in, "<", "/proc/self/statm"; my ($pages) = split " ", <$in>; '
        . 'system "prlimit", "--pid", $$, "--as=" . ($pages * 4096 - 6_000_000); g() for 1 .. 50; '
        . 'print "alive\n"; exit 7 } '
        . 'waitpid $pid, 0; print "$?\n"; g() } $| = 1; f(5); within()';
    my $plain = plain(['-e', $code]);
    plan skip_all => 'there is no prlimit, or memory cannot be limited'
        if $plain->{out} ne "alive\n1792\n" || $plain->{err};
    for my $env ({}, { PERL_DPROF_MODE => 'tree' },
        { PERL_DPROF_LIMIT => 100, PERL_DPROF_BUFFER => 0 }, { PERL_DPROF_COMPRESS => 1 }) {
        my $run = profiled(['-e', $code], env => $env);
        is("$run->{out}$run->{raw}", "alive\n1792\n0", join ' ', %$env, 'the program as plain');
        like($run->{err}, qr/^(?:DProf: [^\n]*process \d+ is not profiled[^\n]*\n)?\z/,
            'one line says so');
    }
};

subtest 'the directory' => sub {
  SKIP: {
        my @as = $> == 0 ? qw(setpriv --reuid=65534 --clear-groups) : ();
        my $dir = scratch();
        chmod 0555, $dir;
        chmod 0755, $dir =~ s{/[^/]*$}{}r, tree();
        # Others may not get to where root builds.
        skip 'root can write everywhere, and setpriv does not help', 3
            if @as && run_program([@as, 'test', '-r', tree() . '/Devel/DProf.pm'])->{raw};
        my $run = run_program([@as, $^X, PROFILER(), '-e', $WORK . 'print "alive\n"'], dir => $dir);
        is("$run->{out}$run->{status}", "alive\n0", 'not writable: the program runs on');
        like($run->{err}, qr/^DProf: cannot write [^\n]*tmon\.out: Permission denied[^\n]*\n\z/,
            'one line says so');
        is_deeply([glob "$dir/*"], [], 'and nothing is there');
    }
    my $run = profiled(['-e', $WORK . 'print "alive\n"'],
        env => { PERL_DPROF_OUT_FILE_NAME => 'no/such/dir/x' });
    is("$run->{out}$run->{status}", "alive\n0", 'no such directory: the program runs on');
    like($run->{err}, qr/^DProf: cannot write [^\n]*\n\z/, 'one line says so');

    my $before = readlink '/dev/stdout';
    $run = run_program(['sh', '-c', '"$@" >said', 'sh', $^X, PROFILER(), '-e', $WORK],
        env => { PERL_DPROF_OUT => '/dev/stdout' });
  SKIP: {
        skip 'without /proc, /dev/stdout leads nowhere', 2 if !-e '/proc/self/fd/1';
        is(profile_ok("$run->{dir}/said", '/dev/stdout in a file', cut => 1)->calls('main::f'), 100,
            '... has all calls');
    }
    is(readlink '/dev/stdout', $before, '... and is the link that it was');
    is(-e "/dev/stdout$_" ? 1 : 0, 0, "... there is no /dev/stdout$_") for qw(.old .live);

    for my $option (qw(SIGNAL TOGGLE)) {
        $run = profiled(['-e', 'kill USR1 => $$; print "alive\n"'],
            env => { PERL_DPROF_OUT => '/no/such/dir/x', "PERL_DPROF_$option" => 'USR1' });
        is("$run->{out}$run->{signal}", "alive\n0", lc($option)
            . ': the signal that was agreed upon does not kill a program without a profile');
    }

    $run = profiled(['-e', $WORK . 'chdir "/"; rmdir $ARGV[0]; print "alive\n"', 'x']);
    is($run->{out}, "alive\n", 'directory gone');
};

subtest 'the file vanishes or is replaced' => sub {
    my $run = profiled(['-e', $WORK . 'unlink "tmon.out"; ' . $MUCH . 'print "alive\n"']);
    is("$run->{out}$run->{status}", "alive\n0", 'removed: the program runs on');
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out[^\n]*removed[^\n]*\n\z/, 'one line says so');

    $run = profiled(['-e',
        $WORK . 'unlink "tmon.out"; open my $o, ">", "tmon.out"; print $o "mine\n"; close $o; '
            . $MUCH]);
    is(clean($run->{profile}), "mine\n", 'replaced: the program keeps its file');
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out[^\n]*\n\z/, 'one line says so');

    $run = profiled(['-e',
        'require POSIX; POSIX::close($_) for 3 .. 255; unlink "tmon.out"; '
            . 'open my $o, ">", "tmon.out"; print $o "mine\n"; close $o; ' . $MUCH]);
    is(clean($run->{profile}), "mine\n", 'closed, removed and replaced: the same');
    is(lines($run->{err}), 1, 'one line');

    $run = profiled(['-e', $WORK . 'rename "tmon.out", "moved"; ' . $MUCH]);
    is($run->{status}, 0, 'renamed: the program runs on');
    my $moved = profile_ok("$run->{dir}/moved", 'and the file has all of it under its new name',
        cut => 1);
    cmp_ok($moved->calls('main::f'), '==', $calls + 100, 'all calls');

    $run = profiled(['-e', $WORK . 'truncate "tmon.out", 0; ' . $WORK . 'print "alive\n"']);
    is("$run->{out}$run->{status}", "alive\n0", 'truncated by somebody: the program runs on');
};

subtest 'what is there already' => sub {
    my $dir = scratch();
    spew("$dir/tmon.out", "precious\n");
    my $run = profiled(['-e', 'print "started\n"'], dir => $dir);
    is($run->{out}, '', 'a foreign file: an error before the program starts');
    isnt($run->{status}, 0, 'status');
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out exists and is no profile[^\n]*\n/, 'message');
    is(slurp("$dir/tmon.out"), "precious\n", 'and it is left alone');

    $dir = scratch();
    spew("$dir/target", "precious\n");
    symlink 'target', "$dir/tmon.out";
    $run = profiled(['-e', 'print "started\n"'], dir => $dir);
    is($run->{out}, '', 'a symbolic link: an error before the program starts');
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out is a symbolic link[^\n]*\n/, 'message');
    is(slurp("$dir/target"), "precious\n", 'its target is left alone');

    $dir = scratch();
    symlink 'nowhere', "$dir/tmon.out";
    $run = profiled(['-e', 'print "started\n"'], dir => $dir);
    is($run->{out}, '', 'a dangling link too');
    ok(!-e "$dir/nowhere", 'nothing made at its other end');

    for my $what (qw(old live)) {
        for my $mode (qw(trace tree)) {
            $dir = scratch();
            profiled(['-e', 'sub f { 1 } f()'], dir => $dir, env => { PERL_DPROF_OUT => 'show' });
            spew("$dir/show.$what", "my notes\n");
            $run = profiled(['-e', 'print "started\n"'], dir => $dir,
                env => { PERL_DPROF_OUT => 'show', PERL_DPROF_MODE => $mode });
            is($run->{out}, '', "$mode: a foreign show.$what: an error before the program starts");
            like($run->{err}, qr/^DProf: [^\n]*show\.$what exists and is no profile/,
                '... that names it');
            is(slurp("$dir/show.$what"), "my notes\n", '... and it is left alone');
        }
    }
    $dir = scratch();
    system 'mkfifo', "$dir/tmon.out";
    $run = run_program([$^X, PROFILER(), '-e', 'print "started\n"'], dir => $dir, limit => 10);
    is("$run->{out}|$run->{signal}", '|0', "somebody's pipe: an error before the program starts");
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out is no regular file/, 'message');

    $dir = scratch();
    mkdir "$dir/tmon.out";
    $run = profiled(['-e', 'print "started\n"'], dir => $dir);
    like("$run->{out}$run->{err}", qr/^DProf: [^\n]*tmon\.out is a directory\n/, 'a directory');

    $dir = scratch();
    profiled(['-e', 'sub first { 1 } first()'], dir => $dir);
    $run = profiled(['-e', 'sub second { 1 } second()'], dir => $dir);
    is($run->{err}, '', 'an old profile');
    is(profile_ok("$dir/tmon.out")->calls('main::second'), 1, 'gives way');
    is(profile_ok("$dir/tmon.out.old")->calls('main::first'), 1, 'and is kept as tmon.out.old');
    profiled(['-e', 'sub third { 1 } third()'], dir => $dir);
    is(profile_ok("$dir/tmon.out.old")->calls('main::second'), 1, 'one generation of it');

    $dir = scratch();
    spew("$dir/tmon.out", '');
    $run = profiled(['-e', $WORK], dir => $dir);
    profile_ok("$dir/tmon.out", 'an empty file is taken over');

    $dir = scratch();
    spew("$dir/target", '');
    symlink 'target', "$dir/link";
    $run = profiled(['-e', $WORK], dir => $dir, env => { PERL_DPROF_OUT_FILE_NAME => 'link' });
    ok(-s "$dir/target" || -s "$dir/link",
        'a link that was asked for by name is written somewhere');

    $dir = scratch();
    spew("$dir/hard", "precious\n");
    link "$dir/hard", "$dir/tmon.out";
    profiled(['-e', $WORK], dir => $dir);
    is(slurp("$dir/hard"), "precious\n", 'a hard link to a foreign file');

    # Two at a time: the first says when it runs and waits for the second to end.
    $dir = scratch();
    my @me = map { quotemeta } $^X, PROFILER();
    $run = profiled(['-e', 'sub outer { system(@ARGV) } outer(); print "done\n"', $^X, PROFILER(),
        '-e', 'sub inner { 1 } inner(); print "$$\n"; exec "true" if 0'], dir => $dir);
    my ($pid) = $run->{out} =~ /(\d+)/;
    is($run->{err}, '', 'two runs at a time');
    is(profile_ok("$dir/tmon.out")->calls('main::outer'), 1, "the first one's file");
    is(profile_ok("$dir/tmon.out.$pid")->calls('main::inner'), 1, "the second one's");
    ok(!-e "$dir/tmon.out.old", 'none was moved');
};

subtest 'devices and pipes' => sub {
    my $run = both('/dev/null', $MUCH, env => { PERL_DPROF_OUT_FILE_NAME => '/dev/null' });
    ok(-c '/dev/null', '/dev/null is still one');
    is($run->{err}, '', 'and no message');

    my $dir = scratch();
    require POSIX;
    POSIX::mkfifo("$dir/fifo", 0600) or die "mkfifo: $!";
    my $reader = fork // die;
    if (!$reader) {
        open my $in, '<', "$dir/fifo" or POSIX::_exit(1);
        sysread $in, my $some, 100;
        close $in;
        POSIX::_exit(0);
    }
    $run = profiled(['-e', '$SIG{PIPE} = sub { print "got a signal\n" }; ' . $MUCH
        . 'print "alive\n"'], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => 'fifo' });
    waitpid $reader, 0;
    is("$run->{out}$run->{status}$run->{signal}", "alive\n00", "a pipe's reader goes: no SIGPIPE");
    like($run->{err}, qr/^DProf: [^\n]*Broken pipe[^\n]*\n\z/, 'one line says so');

    $run = run_program(['sh', '-c', 'mkfifo p; cat p >got & "$@"; wait', 'sh', $^X, PROFILER(),
        '-e', $WORK],
        env => { PERL_DPROF_OUT_FILE_NAME => 'p' });
    is(profile_ok("$run->{dir}/got", 'a pipe with a reader', cut => 1)->calls('main::f'), 100,
        'has all calls');

    $run = run_program([$^X, PROFILER(), '-e', $WORK],
        env => { PERL_DPROF_OUT_FILE_NAME => '/dev/stdout' });
    is($run->{status}, 0, '/dev/stdout');
};

done_testing;
