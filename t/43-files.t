# The profile is a file in somebody else's process: descriptors, directories, limits, old files and
# foreign ones. The program runs on unharmed, and one line says what is wrong.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use Fcntl qw(:flock :mode);

my $WORK = 'sub f { 1 } f() for 1 .. 100; ';
# This is more than a buffer holds.
my $calls = TestEnvironment::rounds(25_000, 60_000);
my $MUCH = "sub f { 1 } f() for 1 .. $calls; ";

sub clean { my $text = slurp(shift) // 'none'; return substr($text =~ s/[^ -~\n]/?/gr, 0, 200) }

sub lines { my @lines = split /\n/, shift; return scalar @lines }

# Runs a piece of code plain and profiled; returns the profiled run after comparing the two.
sub both {
    my ($what, $code, %opt) = @_;
    my $plain = plain(['-e', $code], %opt, dir => scratch());
    my $run = profiled(['-e', $code], %opt);
    same_as_plain($plain, $run,
        "$what: the profiled program does what the plain one does") unless $opt{differs};
    return $run;
}

subtest 'The profile is written where the program began' => sub {
    my $run = both('default', $WORK);
    my $got = profile_ok($run->{profile});
    is($got->calls('main::f'), 100, 'all calls are recorded');
    is_deeply([map { s{.*/}{}r } glob "$run->{dir}/*"], ['tmon.out'], 'the run leaves one file');

    $run = both('named', $WORK, env => { PERL_DPROF_OUT_FILE_NAME => 'sub.prof' });
    profile_ok("$run->{dir}/sub.prof");
    ok(!-e $run->{profile}, 'out= writes nothing under the default name');

    $run = both('chdir', "mkdir 'd'; chdir 'd'; $WORK chdir '/'; $WORK");
    is(profile_ok($run->{profile})->calls('main::f'), 200,
        'after chdir the profile is where the program began');
    ok(!-e "$run->{dir}/d/tmon.out", 'after chdir no profile lies where the program went');

    for my $umask (0077, 0022, 0002) {
        $run = profiled(['-e', $WORK], umask => $umask);
        is((stat $run->{profile})[2] & 0777, 0666 & ~$umask,
            sprintf 'umask %04o decides the mode', $umask);
    }
    $run = profiled(['-e', "umask 0777; $WORK"], umask => 0022);
    is((stat $run->{profile})[2] & 0777, 0644,
        'the mode follows the umask at the start of the program');

    for my $name ('with blank', "q'uote", "umlaut-\xc3\xa4", 'per%41cent') {
        my $named = profiled(['-e', $WORK], env => { PERL_DPROF_OUT_FILE_NAME => $name });
        profile_ok("$named->{dir}/$name", "the profile named $name is whole");
    }
};

subtest 'Closed and reused descriptors lose no call' => sub {
    my $run = both('all closed', 'require POSIX; POSIX::close($_) for 3 .. 1023; '
        . 'my @fh; for (1 .. 200) { open $fh[$_], "+>", "own$_" or die "$_: $!"; print { $fh[$_] } '
        . '"mine $_\n" } '
        . $MUCH . 'close $_ for grep { $_ } @fh; '
        . 'for (1 .. 200) { open my $in, "<", "own$_"; local $/; '
        . 'print "foreign bytes\n" if <$in> ne "mine $_\n" } print "done\n"');
    my $got = profile_ok($run->{profile});
    is($got->calls('main::f'), $calls,
        'the profile is whole though descriptors were closed and their numbers taken');
    is(scalar(grep { slurp($_) ne "mine " . (/(\d+)$/)[0] . "\n" } glob "$run->{dir}/own*"), 0,
        "the recorder writes nothing to the program's files");

    $run = both('closed at the end',
        $WORK . 'END { require POSIX; POSIX::close($_) for 3 .. 255 }');
    is(profile_ok($run->{profile})->calls('main::f'), 100,
        'a descriptor closed in END loses no call');

    $run = both('number taken by dup2',
        $WORK . 'require POSIX; for (101 .. 110) { open my $o, ">", "d$_"; '
            . 'POSIX::dup2(fileno $o, $_) } ' . $MUCH);
    is(profile_ok($run->{profile})->calls('main::f'), $calls + 100,
        'a number taken by dup2 loses no call');
    is(scalar(grep { -s } glob "$run->{dir}/d*"), 0,
        'the recorder writes nothing to the files of dup2');

    $run = both('STDERR to a file', 'open STDERR, ">", "err" or die; ' . $MUCH
        . 'print STDERR "mine\n"');
    profile_ok($run->{profile});
    is(slurp("$run->{dir}/err"), "mine\n", 'the recorder writes nothing to STDERR reopened');

    $run = both('std closed',
        'close STDIN; close STDOUT; close STDERR; open my $a, ">", "a"; open my $b, ">", "b"; '
            . 'open my $c, ">", "c"; '
        . 'print $a "A"; print $b "B"; print $c fileno($a), fileno($b), fileno($c); ' . $MUCH);
    profile_ok($run->{profile});
    is(slurp("$run->{dir}/$_"), { a => 'A', b => 'B', c => '012' }->{$_},
        "the program's file $_ has the program's text alone")
        for qw(a b c);

    my $dir = scratch();
    $run = run_program(['sh', '-c', 'exec "$@" 0<&- 1>&- 2>&-', 'sh', $^X, PROFILER(), '-e',
        'open my $o, ">", "o"; print $o fileno $o; ' . $WORK], dir => $dir);
    is($run->{status}, 0, 'a program started with 0, 1 and 2 closed runs');
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
    is("$run->{out}|$run->{err}", '3|', 'a program that may have few descriptors runs');
    profile_ok("$run->{dir}/tmon.out");

    $run = both('close-on-exec', 'exec "sh", "-c", q(ls -l /proc/self/fd | grep -c tmon.out)');
    like($run->{out}, qr/^0$/, 'exec does not pass the descriptor of the profile on');
    $run = both('close-on-exec of system', 'print `ls -l /proc/self/fd | grep -c tmon.out`');
    like($run->{out}, qr/^0$/, 'system does not pass it on either');
};

subtest 'A full disk does not stop the program' => sub {
    my $run = profiled(['-e', $MUCH . 'print "alive\n"'],
        env => { PERL_DPROF_OUT_FILE_NAME => '/dev/full' });
    is("$run->{out}$run->{status}$run->{signal}", "alive\n00",
        'the program runs on if the profile is /dev/full');
    like($run->{err}, qr{^DProf: .*/dev/full: No space left on device.*\n\z},
        'one line says that /dev/full has no space');

  SKIP: {
        my $dir = scratch();
        my $mount = $> == 0 ? run_program(['mount', '-t', 'tmpfs', '-o', 'size=128k', 'tmpfs',
            $dir]) : undef;
        skip 'cannot mount a small file system', 4 if !$mount || $mount->{raw};
        $run = profiled(['-e', $MUCH . 'print "alive\n"; f(); exit 3'], dir => $dir);
        is("$run->{out}$run->{status}$run->{signal}", "alive\n30",
            'the program runs on if the disk is full');
        like($run->{err}, qr{^DProf: .*tmon\.out: No space left on device[^\n]*\n\z},
            'one line says that the disk is full');
        my $got = read_profile("$dir/tmon.out");
        is(join("\n", grep { !/middle of a line/ } $got->problems), '',
            'what was recorded before the disk was full is readable');
        cmp_ok($got->calls('main::f'), '>', 5000,
            'the calls fill the disk');
        run_program(['umount', $dir], dir => '/');
    }

    $run = run_program(['sh', '-c', 'ulimit -f 800; exec "$@"', 'sh', $^X, PROFILER(), '-e',
        '$SIG{XFSZ} = sub { print "signal\n" }; ' . $MUCH x 3 . 'print "alive\n"']);
    is("$run->{out}$run->{status}$run->{signal}", "alive\n00",
        'a limit of file sizes sends the program no SIGXFSZ');
    like($run->{err}, qr/^DProf: .*tmon\.out: File too large[^\n]*\n\z/,
        'one line says that the file is too large');
    my $got = profile_ok("$run->{dir}/tmon.out",
        'what was recorded below the limit is readable', cut => 1);
    cmp_ok($got->calls('main::f'), '>', 1000, 'the profile has the calls up to the limit');
    like(run_tool('dprofreport', ['-q'], dir => $run->{dir})->{err},
        qr/^tmon\.out: profile cut short: the recorder could not write the rest: File too large\b/,
            'the tools say why the recorder could not write the rest');
    like(slurp("$run->{dir}/tmon.out"), qr/ \$dprof_unwritten='File too large';\n/,
        'the header says why');

    $run = run_program(['sh', '-c', '(ulimit -f 0; exec "$@" 2>&1) | cat', 'sh', $^X, PROFILER(),
        '-e', $WORK . 'print "alive\n"']);
    like($run->{out}, qr/^DProf: [^\n]*File too large[^\n]*\nalive\n\z/,
        'a limit of no bytes gives a message, and the program runs on');
};

# A child that gets no more memory records nothing, and goes on.
subtest 'A child without memory runs on' => sub {
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
        is("$run->{out}$run->{raw}", "alive\n1792\n0", join ' ', %$env,
            'does not stop the program of a child without memory');
        like($run->{err}, qr/^(?:DProf: [^\n]*process \d+ is not profiled[^\n]*\n)?\z/,
            'one line at most says that the child is not profiled');
    }
};

subtest 'A folder that cannot be written does not stop the program' => sub {
  SKIP: {
        my @as = $> == 0 ? qw(setpriv --reuid=65534 --clear-groups) : ();
        my $dir = scratch();
        chmod 0555, $dir;
        chmod 0755, $dir =~ s{/[^/]*$}{}r, tree();
        # Other users may have no access to the folder where root builds.
        skip 'root can write everywhere, and setpriv does not help', 3
            if @as && run_program([@as, 'test', '-r', tree() . '/Devel/DProf.pm'])->{raw};
        my $run = run_program([@as, $^X, PROFILER(), '-e', $WORK . 'print "alive\n"'], dir => $dir);
        is("$run->{out}$run->{status}", "alive\n0",
            'the program runs on if the folder is not writable');
        like($run->{err}, qr/^DProf: cannot write [^\n]*tmon\.out: Permission denied[^\n]*\n\z/,
            'one line says that the folder is not writable');
        is_deeply([glob "$dir/*"], [], 'no file is made in a folder that is not writable');
    }
    my $run = profiled(['-e', $WORK . 'print "alive\n"'],
        env => { PERL_DPROF_OUT_FILE_NAME => 'no/such/dir/x' });
    is("$run->{out}$run->{status}", "alive\n0", 'the program runs on if there is no such folder');
    like($run->{err}, qr/^DProf: cannot write [^\n]*\n\z/,
        'one line says that the profile cannot be written');

    my $before = readlink '/dev/stdout';
    $run = run_program(['sh', '-c', '"$@" >said', 'sh', $^X, PROFILER(), '-e', $WORK],
        env => { PERL_DPROF_OUT => '/dev/stdout' });
  SKIP: {
        skip 'without /proc, /dev/stdout leads nowhere', 2 if !-e '/proc/self/fd/1';
        is(profile_ok("$run->{dir}/said", '/dev/stdout in a file', cut => 1)->calls('main::f'), 100,
            '/dev/stdout in a file has all calls');
    }
    is(readlink '/dev/stdout', $before, '/dev/stdout stays the link that it was');
    is(-e "/dev/stdout$_" ? 1 : 0, 0, "the recorder makes no /dev/stdout$_") for qw(.old .live);

    for my $option (qw(SIGNAL TOGGLE)) {
        $run = profiled(['-e', 'kill USR1 => $$; print "alive\n"'],
            env => { PERL_DPROF_OUT => '/no/such/dir/x', "PERL_DPROF_$option" => 'USR1' });
        is("$run->{out}$run->{signal}", "alive\n0", lc($option)
            . ': the signal that was agreed upon does not kill a program without a profile');
    }

    $run = profiled(['-e', $WORK . 'chdir "/"; rmdir $ARGV[0]; print "alive\n"', 'x']);
    is($run->{out}, "alive\n", 'a program whose directory is removed runs on');
};

subtest 'The program may remove, replace or rename its profile' => sub {
    my $run = profiled(['-e', $WORK . 'unlink "tmon.out"; ' . $MUCH . 'print "alive\n"']);
    is("$run->{out}$run->{status}", "alive\n0", 'the program runs on if its profile is removed');
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out[^\n]*removed[^\n]*\n\z/,
        'one line says that the profile was removed');

    $run = profiled(['-e',
        $WORK . 'unlink "tmon.out"; open my $o, ">", "tmon.out"; print $o "mine\n"; close $o; '
            . $MUCH]);
    is(clean($run->{profile}), "mine\n", 'the program keeps the file that replaced the profile');
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out[^\n]*\n\z/,
        'one line says that the profile was replaced');

    $run = profiled(['-e',
        'require POSIX; POSIX::close($_) for 3 .. 255; unlink "tmon.out"; '
            . 'open my $o, ">", "tmon.out"; print $o "mine\n"; close $o; ' . $MUCH]);
    is(clean($run->{profile}), "mine\n",
        'the program keeps its file if it closes, removes and replaces the profile');
    is(lines($run->{err}), 1, 'one line says that the profile was closed and replaced');

    $run = profiled(['-e', $WORK . 'rename "tmon.out", "moved"; ' . $MUCH]);
    is($run->{status}, 0, 'the program runs on if its profile is renamed');
    my $moved = profile_ok("$run->{dir}/moved", 'the renamed file is whole',
        cut => 1);
    cmp_ok($moved->calls('main::f'), '==', $calls + 100, 'the renamed file has all calls');

    $run = profiled(['-e', $WORK . 'truncate "tmon.out", 0; ' . $WORK . 'print "alive\n"']);
    is("$run->{out}$run->{status}", "alive\n0",
        'the program runs on if another program truncates the profile');
};

subtest 'The recorder replaces old profiles and nothing else' => sub {
    my $dir = scratch();
    spew("$dir/tmon.out", "precious\n");
    my $run = profiled(['-e', 'print "started\n"'], dir => $dir);
    is($run->{out}, '', 'a foreign file ends perl before the program starts');
    isnt($run->{status}, 0, 'a foreign file gives a status that is not 0');
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out exists and is no profile[^\n]*\n/,
        'the message says that the foreign file is no profile');
    is(slurp("$dir/tmon.out"), "precious\n", 'the recorder leaves the foreign file alone');

    $dir = scratch();
    spew("$dir/target", "precious\n");
    symlink 'target', "$dir/tmon.out";
    $run = profiled(['-e', 'print "started\n"'], dir => $dir);
    is($run->{out}, '', 'a symbolic link ends perl before the program starts');
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out is a symbolic link[^\n]*\n/,
        'the message says that the name is a symbolic link');
    is(slurp("$dir/target"), "precious\n", 'the recorder leaves the target of the link alone');

    $dir = scratch();
    symlink 'nowhere', "$dir/tmon.out";
    $run = profiled(['-e', 'print "started\n"'], dir => $dir);
    is($run->{out}, '', 'a dangling link ends perl before the program starts');
    ok(!-e "$dir/nowhere", "the recorder does not make the link's target");

    for my $what (qw(old live)) {
        for my $mode (qw(trace tree)) {
            $dir = scratch();
            profiled(['-e', 'sub f { 1 } f()'], dir => $dir, env => { PERL_DPROF_OUT => 'show' });
            spew("$dir/show.$what", "my notes\n");
            $run = profiled(['-e', 'print "started\n"'], dir => $dir,
                env => { PERL_DPROF_OUT => 'show', PERL_DPROF_MODE => $mode });
            is($run->{out}, '', "$mode: a foreign show.$what ends perl before the program starts");
            like($run->{err}, qr/^DProf: [^\n]*show\.$what exists and is no profile/,
                "$mode: the message names the foreign show.$what");
            is(slurp("$dir/show.$what"), "my notes\n",
                "$mode: the recorder leaves the foreign show.$what alone");
        }
    }
    $dir = scratch();
    system 'mkfifo', "$dir/tmon.out";
    $run = run_program([$^X, PROFILER(), '-e', 'print "started\n"'], dir => $dir, limit => 10);
    is("$run->{out}|$run->{signal}", '|0',
        'a pipe of another program ends perl before the program starts');
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out is no regular file/,
        'the message says that the pipe is no regular file');

    $dir = scratch();
    mkdir "$dir/tmon.out";
    $run = profiled(['-e', 'print "started\n"'], dir => $dir);
    like("$run->{out}$run->{err}", qr/^DProf: [^\n]*tmon\.out is a directory\n/,
        'a directory in place of the profile is an error');

    $dir = scratch();
    profiled(['-e', 'sub first { 1 } first()'], dir => $dir);
    $run = profiled(['-e', 'sub second { 1 } second()'], dir => $dir);
    is($run->{err}, '', 'an old profile gives no message');
    is(profile_ok("$dir/tmon.out")->calls('main::second'), 1, 'the new profile takes the name');
    is(profile_ok("$dir/tmon.out.old")->calls('main::first'), 1,
        'the old profile is kept as tmon.out.old');
    profiled(['-e', 'sub third { 1 } third()'], dir => $dir);
    is(profile_ok("$dir/tmon.out.old")->calls('main::second'), 1, 'one old profile is kept');

    $dir = scratch();
    spew("$dir/tmon.out", '');
    $run = profiled(['-e', $WORK], dir => $dir);
    profile_ok("$dir/tmon.out", 'a profile that replaces an empty file is whole');

    $dir = scratch();
    spew("$dir/target", '');
    symlink 'target', "$dir/link";
    $run = profiled(['-e', $WORK], dir => $dir, env => { PERL_DPROF_OUT_FILE_NAME => 'link' });
    ok(-s "$dir/target" || -s "$dir/link",
        'a link that the user names is written');

    $dir = scratch();
    spew("$dir/hard", "precious\n");
    link "$dir/hard", "$dir/tmon.out";
    profiled(['-e', $WORK], dir => $dir);
    is(slurp("$dir/hard"), "precious\n",
        'the recorder leaves a foreign file with a hard link alone');

    # Two run at a time: the first tells when it runs, and waits for the second to end.
    $dir = scratch();
    my @me = map { quotemeta } $^X, PROFILER();
    $run = profiled(['-e', 'sub outer { system(@ARGV) } outer(); print "done\n"', $^X, PROFILER(),
        '-e', 'sub inner { 1 } inner(); print "$$\n"; exec "true" if 0'], dir => $dir);
    my ($pid) = $run->{out} =~ /(\d+)/;
    is($run->{err}, '', 'two runs at a time give no message');
    is(profile_ok("$dir/tmon.out")->calls('main::outer'), 1, 'the first run has the name');
    is(profile_ok("$dir/tmon.out.$pid")->calls('main::inner'), 1,
        'the second run has a file with its process number');
    ok(!-e "$dir/tmon.out.old", 'no file was renamed');
};

subtest 'Devices and pipes may take the profile' => sub {
    my $run = both('/dev/null', $MUCH, env => { PERL_DPROF_OUT_FILE_NAME => '/dev/null' });
    ok(-c '/dev/null', '/dev/null stays a device');
    is($run->{err}, '', 'out=/dev/null gives no message');

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
    is("$run->{out}$run->{status}$run->{signal}", "alive\n00",
        'a reader that closes the pipe sends the program no SIGPIPE');
    like($run->{err}, qr/^DProf: [^\n]*Broken pipe[^\n]*\n\z/,
        'one line says that the pipe is broken');

    $run = run_program(['sh', '-c', 'mkfifo p; cat p >got & "$@"; wait', 'sh', $^X, PROFILER(),
        '-e', $WORK],
        env => { PERL_DPROF_OUT_FILE_NAME => 'p' });
    is(profile_ok("$run->{dir}/got", 'a pipe with a reader', cut => 1)->calls('main::f'), 100,
        'a pipe with a reader has all calls');

    $run = run_program([$^X, PROFILER(), '-e', $WORK],
        env => { PERL_DPROF_OUT_FILE_NAME => '/dev/stdout' });
    is($run->{status}, 0, 'a program whose profile is /dev/stdout gives status 0');
};

done_testing;
