# The file is brought up to date while the program runs: by a signal, by checkpoints. Each saved
# state can be read as what it is, and the final file is the same as without saves.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use Devel::DProf::Profile;

my %tree = (PERL_DPROF_MODE => 'tree');
my %usr1 = (PERL_DPROF_SIGNAL => 'USR1');
my $CUT = Devel::DProf::Profile::TRUNCATED;

sub read_calls {
    my ($file) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add($file);
    return ({ map { ($_->[0] => $_->[1]) } $profile->rows({ rows => 1000 }) },
        $profile->outcome(0), $profile);
}

# Returns the calls of f, and the outcome's code.
sub f_code {
    my ($calls, $o) = read_calls(shift);
    return ($calls->{'main::f'} // 0) . " $o->{code}";
}

sub header {
    my ($file) = @_;
    my ($head) = slurp($file) =~ /\A(.*?)^PART/ms;
    return { $head =~ /\$(\w+)='?([^;']*)/g };
}

# Returns the text without what differs from run to run, and without times, if need be.
sub text_of {
    my ($file, %opt) = @_;
    my $text = slurp($file);
    s/\$dprof_(?:run|start|options|pid|ppid|own_cpu|own_real|before_cpu)='?[^;]*;//g, s/ +$//mg
        for $text;
    return $text if !$opt{untimed};
    s/^@.*\n//mg, s/\$rrun_\w+=\d+;//g, s/^(= \d+ \w+ \d+) \d+ \d+ \d+ \d+ \d+/$1/mg, s/^h .*\n//mg
        for $text;
    return $text;
}

# Code that copies the file as it is at this moment; it calls no sub.
my $COPY = sub {
    '{ local $/; open my $i, "<:raw", "tmon.out" or die; '
        . qq(open my \$o, ">:raw", "$_[0]" or die; print \$o scalar <\$i> } );
};
my $SAVE = 'kill USR1 => $$; ';
my $SUBS = 'sub f { 1 } sub g { f() for 1 .. $_[0] } ';

subtest 'A trace is saved on a signal' => sub {
    my $code = $SUBS . 'g(10); ' . $SAVE . 'f(); ' . $COPY->('one') . 'g(20_000); ' . $SAVE x 3
        . 'f(); ' . $COPY->('two') . 'f() for 1 .. 5;';
    for my $more ({}, { PERL_DPROF_BUFFER => 100 }, { PERL_DPROF_COMPRESS => 1 }) {
        my $what = join ' ', %$more;
        my $run = profiled(['-e', $code], env => { counting(), %usr1, %$more });
        is("$run->{err}$run->{status}", '0', "$what: the program runs");
        is(f_code("$run->{dir}/one"), "11 $CUT", "$what: a first copy has the calls so far");
        is(f_code("$run->{dir}/two"), "20012 $CUT", "$what: a second copy has more");
        is(f_code($run->{profile}), '20017 0', "$what: the final file has all calls");
        next if $more->{PERL_DPROF_COMPRESS};
        my $one = profile_ok("$run->{dir}/one", "$what: the first copy is well formed", cut => 1);
        my $head = header("$run->{dir}/one");
        is("@$head{qw(rrun_utime rrun_stime rrun_rtime)}", "@{ $one->{sum} }",
            "$what: the copy's sums are those of its marks");
        is(join(' ', map { $_ // 'none' } @$head{qw(dprof_complete total_marks dprof_saved)}),
            'none none 1', "$what: the copy is marked as saved, not as complete");
        profile_ok($run->{profile}, "$what: the final file is well formed");
        is(header($run->{profile})->{dprof_saved}, undef,
            "$what: the final file does not mention saves");
        my $without = profiled(['-e', $code],
            env => { counting(), PERL_DPROF_SIGNAL => 'SIGUSR1', %$more, });
        my $never = profiled(['-e', $code =~ s/kill USR1 => \$\$/1/gr],
            env => { counting(), %$more });
        ok(text_of($without->{profile}) eq text_of($run->{profile}),
            "$what: SIGUSR1 means USR1, and runs repeat");
        ok(text_of($never->{profile}, untimed => 1) eq text_of($run->{profile}, untimed => 1),
            "$what: the final file has the marks of a run without saves");
        is(header($never->{profile})->{rrun_rtime}, header($run->{profile})->{rrun_rtime},
            "$what: saving counts in no time");
    }
};

subtest 'A tree is saved on a signal' => sub {
    my $code = $SUBS . 'g(10); ' . $SAVE . 'f(); ' . $COPY->('one') . 'g(20_000); ' . $SAVE x 3
        . 'f(); ' . $COPY->('two') . 'sub a { f() } a() for 1 .. 5;';
    for my $more ({}, { PERL_DPROF_COMPRESS => 6 }, { PERL_DPROF_CALLSITES => 1 }) {
        my $what = join ' ', %$more;
        my $run = profiled(['-e', $code], env => { counting(), %tree, %usr1, %$more });
        is("$run->{err}$run->{status}", '0', "$what: the program runs");
        # The event that saves is not yet in the copy.
        is(f_code("$run->{dir}/one"), "10 $CUT", "$what: a first copy has the calls so far");
        is(f_code("$run->{dir}/two"), "20011 $CUT", "$what: a second copy has more");
        is(f_code($run->{profile}), '20017 0', "$what: the final file has all calls");
        is(join(' ', sort map { s{.*/}{}r } glob "$run->{dir}/*"), 'one tmon.out two',
            "$what: no other file is left");
        next if $more->{PERL_DPROF_COMPRESS};
        my $head = header("$run->{dir}/one");
        my $real = 0;
        $real += $_ for slurp("$run->{dir}/one") =~ /^= \d+ \w+ \d+ \d+ \d+ (\d+)/mg;
        is($head->{rrun_rtime}, $real, "$what: the copy's sums are those of its contexts");
        is(join(' ', map { $_ // 'none' } @$head{qw(dprof_complete total_marks dprof_saved)}),
            'none none 1', "$what: the copy is marked as saved, not as complete");
        my $never = profiled(['-e', $code =~ s/kill USR1 => \$\$/1/gr],
            env => { counting(), %tree, %$more });
        my ($with, $no) = map { text_of($_->{profile}, untimed => 1) =~ s/ 0 \K\d+$//mgr } $run,
            $never;
        is(header($never->{profile})->{rrun_rtime}, header($run->{profile})->{rrun_rtime},
            "$what: saving counts in no time");
        s/^(= \d+ \w+ \d+) \d+/$1/mg for $with, $no;    # kill is more ops than 1
        is($with, $no, "$what: the final tree is that of a run without saves");
    }
    # The mode of the file stays, whatever the umask is now.
    my $run = profiled(['-e', "umask 077; $SUBS g(1); $SAVE f(); " . $COPY->('one')], umask => 0022,
        env => { %tree, %usr1 });
    is((stat $run->{profile})[2] & 07777, 0644, 'a saved file keeps its mode');
    is(f_code("$run->{dir}/one"), "1 $CUT", 'a saved file with another mode is saved again');
    $run = profiled(['-e', 'opendir my $d, "."; $SUBS = 1; ' . "$SUBS f(); $SAVE f(); "
        . 'open my $n, "<", "/dev/null"; print fileno $n'], env => { %tree, %usr1 });
    is($run->{out}, 4, 'saving takes no low descriptor number');
};

subtest 'A killed program keeps what was saved' => sub {
    my %mode = (tree => \%tree, trace => {}, 'trace, small windows' => { PERL_DPROF_BUFFER => 50 },
        'trace and tree' => { PERL_DPROF_LIMIT => 30_000, PERL_DPROF_BUFFER => 500 });
    for my $mode (sort keys %mode) {
        for my $packed (0, 6) {
            my $what = "$mode, compress=$packed";
            my $run = profiled(['-e', "$SUBS g(9000); $SAVE f(); " . $COPY->('one')
                . 'sub h { f() } h() for 1 .. 7; kill 9, $$'],
                env => { %usr1, %{ $mode{$mode} }, PERL_DPROF_COMPRESS => $packed });
            is(f_code($run->{profile}), "9008 $CUT",
                "$what: the profile and its .live file have each call once");
            unlink "$run->{profile}.live";
            my ($calls, $o) = read_calls($run->{profile});
            is($o->{code}, $CUT, "$what: the profile is cut short without its .live file");
            ok($calls->{'main::f'} >= 9000, "$what: at least 9,000 calls were saved");
            my ($before) = read_calls("$run->{dir}/one");
            ok($before->{'main::f'} >= 9000,
                "$what: a copy made at the save has at least 9,000 calls");
        }
    }
    # A run killed in the middle of a save leaves the file as it was, and the half-written one does
    # no harm.
    my $dir = scratch();
    my $run = profiled(['-e', "$SUBS g(10); $SAVE f(); kill 9, \$\$"], env => { %tree, %usr1 },
        dir => $dir);
    my $saved = slurp("$dir/tmon.out");
    spew("$dir/tmon.out.new", substr $saved, 0, length($saved) - 20);
    is(f_code("$dir/tmon.out"), "11 $CUT", 'a run killed in the middle of a save keeps its file');
    $run = profiled(['-e', "$SUBS g(20); $SAVE f()"], env => { %tree, %usr1 }, dir => $dir);
    is(f_code("$dir/tmon.out"), '21 0', 'the next run has its calls');
    is(join(' ', sort map { s{.*/}{}r } glob "$dir/*"), 'tmon.out tmon.out.old tmon.out.old.live',
        'the next run removes the half-written file');
    is(f_code("$dir/tmon.out.old"), "11 $CUT", 'the profile of the killed run is kept');
    $dir = scratch();
    spew("$dir/tmon.out.new", "mine\n");
    $run = profiled(['-e', "$SUBS g(20); $SAVE f(); " . $COPY->('one')], env => { %tree, %usr1 },
        dir => $dir);
    is(f_code("$dir/tmon.out") . slurp("$dir/tmon.out.new") . $run->{err}, "21 0mine\n",
        'a foreign tmon.out.new stays');
    is(f_code("$dir/one"), "0 $CUT", 'a save does not use the foreign tmon.out.new');

    # Call sites survive in the .live file.
    $run = profiled(['-e', "sub f { 1 } sub g {\n f();\n f() }\n g();\n g();\nkill 9, \$\$"],
        env => { %tree, PERL_DPROF_CALLSITES => 1 });
    my $merged = "$run->{dir}/merged";
    my $tool = run_tool('dprofmerge', ['-o', $merged, $run->{profile}]);
    is_deeply([sort map { /^= .* at=-e:(\d+)/ ? $1 : () } split /\n/, slurp($merged)],
        [2, 2, 3, 3, 4, 5], 'call sites are in the .live file');
};

subtest 'Checkpoints are saved' => sub {
    my $step = 'Devel::DProf::_advance(600_000_000, 600_000_000); ';
    my $code = $SUBS . 'f(); ' . join('', map { $step . 'f(); ' . $COPY->("c$_") } 1 .. 7);
    my $run = profiled(['-e', $code], env => { counting(), %tree, PERL_DPROF_CHECKPOINT => 1 });
    is($run->{err}, '', 'checkpoints give no message');
    is_deeply([map { (f_code("$run->{dir}/c$_") =~ /(\d+)/)[0] } 1 .. 7], [0, 2, 2, 4, 4, 6, 6],
        'a checkpoint is saved with the first event after its time');
    is(f_code($run->{profile}), '8 0', 'the final file has all calls');
    my $none = profiled(['-e', $code], env => { counting(), %tree });
    is(header($none->{profile})->{rrun_rtime}, header($run->{profile})->{rrun_rtime},
        'a checkpoint counts in no time');
    is_deeply([map { (f_code("$none->{dir}/c$_") =~ /(\d+)/)[0] } 1 .. 7], [(0) x 7],
        'nothing is saved without checkpoint=');
    $run = profiled(['-e', $code], env => { counting(), PERL_DPROF_CHECKPOINT => 1 });
    is(f_code($run->{profile}), '8 0', 'a trace with checkpoint= has all calls');
    ok(!header("$run->{dir}/c7")->{dprof_saved}, 'a trace is not saved at checkpoints');
    $run = profiled(['-e', $code], env => { counting(), PERL_DPROF_CHECKPOINT => 1,
        PERL_DPROF_LIMIT => 1, PERL_DPROF_BUFFER => 1 });
    is_deeply([map { (f_code("$run->{dir}/c$_") =~ /(\d+)/)[0] } 1 .. 7], [0, 2, 2, 4, 4, 6, 6],
        'a trace that went on as a tree is saved at checkpoints');
    is(f_code($run->{profile}), '8 0', 'a trace that went on as a tree has all calls at the end');
};

subtest 'Signals that cannot be used are refused, and others do no harm' => sub {
    for ([ 'FOO', 'no such signal' ], [ 'KILL', 'cannot catch' ], [ 'SIGSTOP', 'cannot catch' ],
        [ 'ZERO', 'no such signal' ], [ '0', 'no such signal' ]) {
        my ($name, $why) = @$_;
        my $run = profiled(['-e', 'print "started"'], env => { PERL_DPROF_SIGNAL => $name });
        like("$run->{out}|$run->{err}", qr/^\|DProf: signal=\Q$name\E: .*$why/,
            "signal=$name stops perl before the program starts");
        ok(!-e $run->{profile}, "signal=$name leaves no file");
    }
    my $deaf = profiled(['-e', 'kill USR1 => $$; print "lives"'],
        env => { PERL_DPROF_SIGNAL => 'USR1', PERL_DPROF_OUT => '/dev/full' });
    is("$deaf->{out}|$deaf->{signal}", 'lives|0',
        'a program whose profile cannot be written does not die of the signal');
    my %number;
    @number{split ' ', $Config{sig_name}} = split ' ', $Config{sig_num};
    my $ask = 'print defined $SIG{USR1} ? "set" : "not set"; ';
    my $run = profiled(['-e', $SUBS . '$SIG{USR1} = sub { f(); print "mine\n" }; f(); ' . $SAVE
        . 'f(); ' . $COPY->('one')], env => { %tree, %usr1 });
    is("$run->{out}" . f_code("$run->{dir}/one"), "mine\n0 $CUT",
        "the program's own handler replaces the recorder's");
    is(f_code($run->{profile}), '3 0', "the program's own handler is recorded");
    $run = profiled(['-e', $SUBS . 'f(); ' . $ask
        . 'kill USR1 => $$; f(); print "alive"; system $^X, "-e", "kill USR1 => \$\$"; '
        . 'print $? & 127'], env => \%usr1);
    is($run->{out}, 'not setalive' . $number{USR1},
        '%SIG has no handler, and a program started by system has none');
    $run = profiled(['-e',
        $SUBS . '$! = 5; kill USR1 => $$; $! = 5; f(); print $! + 0; $? = 3; kill USR1 => $$; f(); '
            . 'print $?; my @c = sub { kill USR1 => $$; f(); caller(0) }->(); print $c[3]'],
        env => { %tree, %usr1 });
    is($run->{out}, '53main::__ANON__', '$!, $? and caller of the program are unchanged');

    # Signals come before the first event, in comparators, at the end, beside die and goto.
    $run = profiled(['-e',
        $SUBS . 'my @s = sort { kill USR1 => $$; f(); $a <=> $b } 3, 1, 2; eval { kill USR1 => $$; '
            . 'die }; f(); sub j { kill USR1 => $$; goto &f } j(); '
        . 'sub D::DESTROY { kill USR1 => $$; f() } { my $d = bless [], "D" } '
        . 'END { kill USR1 => $$; f(); kill USR1 => $$ } use List::Util "first"; '
        . 'first { kill USR1 => $$; f(); 0 } 1 .. 3; kill USR1 => $$; exit 3'],
        env => { %$_, %usr1, counting() })
            and is("$run->{status} " . f_code($run->{profile}), '3 10 0',
                'signals in odd places lose no call')
        for {}, \%tree, { PERL_DPROF_BUFFER => 0 },
        { PERL_DPROF_BUFFER => 7, PERL_DPROF_LIMIT => 300 };
    for my $mode ({}, \%tree) {
        my $pids = profiled(['-e',
            $SUBS . 'f(); kill USR1 => $$; my $p = fork; if (!$p) { g(5); kill USR1 => $$; f(); '
                . 'rename "tmon.out.$$.live", "gone"; link "tmon.out.$$", "one"; kill 9, $$ } '
                . 'waitpid $p, 0; f(); print $p'],
            env => { %$mode, %usr1 });
        is(f_code("$pids->{dir}/one") =~ s/^6/5/r, "5 $CUT", 'a forked child saves its own calls');
        is(f_code($pids->{profile}), '2 0', 'the parent of a forked child saves its own calls');
        $pids = profiled(['-e',
            $SUBS . 'f(); my $p = fork; if (!$p) { kill USR1 => $$; exec "true" } waitpid $p, 0; '
                . 'kill USR1 => $$; $p = fork; if (!$p) { kill USR1 => $$; kill 9, $$ } '
                . 'waitpid $p, 0; f()'],
            env => { %$mode, %usr1 });
        is(join(' ', map { s{.*/}{}r } glob "$pids->{dir}/*"), 'tmon.out',
            'a child that has recorded nothing leaves nothing');
        $pids = profiled(['-e',
            $SUBS . 'no warnings; f(); kill USR1 => $$; exec "/no/such/thing"; f(); '
                . 'kill USR1 => $$; f(); ' . $COPY->('one')
                . 'f(); exec "/no/such/thing"; f(); exec "true"'],
            env => { %$mode, %usr1 });
        is(f_code("$pids->{dir}/one") =~ s/^3/2/r . ', ' . f_code($pids->{profile}), "2 $CUT, 5 0",
            'saves around execs that fail, and one that does not, lose no call');
        $pids = profiled(['-e', $SUBS . 'no warnings; g(99); exec "/no/such/thing"; '
            . $COPY->('one') . 'f(); kill 9, $$'], env => { %$mode, counting() });
        is(f_code("$pids->{dir}/one"), "99 $CUT",
            'after an exec that has failed, the file is that of a save');
        if (!%$mode) {
            my $got = profile_ok("$pids->{dir}/one", 'the saved copy is well formed', cut => 1);
            my $head = header("$pids->{dir}/one");
            is("@$head{qw(rrun_utime rrun_stime rrun_rtime dprof_saved)}", "@{ $got->{sum} } 1",
                'the sums are those of the save');
        }
    }
  SKIP: {
        skip 'this perl has no threads', 4 if !$Config{useithreads};
        for my $mode ({}, \%tree) {
            my $t = profiled(['-e', 'use threads; use Thread::Queue; ' . $SUBS
                . 'my ($in, $out) = map { Thread::Queue->new } 1, 2; '
                . 'my $t = threads->create(sub { g(100); $out->enqueue(1); $in->dequeue; f(); '
                . '$out->enqueue(1); $in->dequeue }); $out->dequeue; g(7); kill USR1 => $$; '
                . '$in->enqueue(1); $out->dequeue; f(); '
                . 'for my $f (glob "tmon.out*") { next if $f =~ /live/; local $/; '
                . 'open my $i, "<:raw", $f; open my $o, ">:raw", "c." . ($f =~ /(\.1)?$/ ? $1 // '
                . '"" : ""); print $o scalar <$i> } $in->enqueue(1); $t->join'],
                env => { %$mode, %usr1 });
            is($t->{status}, 0, 'a program with threads ends with status 0') or diag $t->{err};
            my ($main, $other) = map { f_code("$t->{dir}/$_") =~ /(\d+)/ } 'c.', 'c..1';
            ok($main >= 7 && $other >= 100, 'the main thread and the other ones have saved');
        }
    }
};

subtest 'A save that is impossible does no harm' => sub {
    my $run = profiled(['-e',
        "$SUBS g(10); $SAVE f(); rename 'tmon.out', 'moved'; f(); $SAVE f(); "
            . "print -e 'tmon.out' ? 'there' : 'moved'"], env => { %tree, %usr1 });
    is($run->{out}, 'moved', 'the program renames its profile');
    is(f_code("$run->{dir}/moved"), '13 0', 'a renamed file is saved under its new name');
    $run = profiled(['-e',
        "$SUBS g(10); $SAVE f(); unlink 'tmon.out'; open my \$o, '>', 'tmon.out'; "
            . "print \$o 'mine'; close \$o; $SAVE f(); f()"], env => { %tree, %usr1 });
    is(slurp($run->{profile}), 'mine', "the program's own file of that name is left alone");
    like($run->{err}, qr/^DProf: [^\n]*tmon\.out[^\n]*\n\z/,
        'one line says why the renamed profile was not saved');
    $run = profiled(['-e',
        "$SUBS g(10); $SAVE f(); require POSIX; POSIX::close(\$_) for 3 .. 255; $SAVE f(); f()"],
        env => { %tree, %usr1 });
    is(f_code($run->{profile}), '13 0', 'saves work after all descriptors were closed');
    $run = profiled(['-e', "$SUBS g(10); $SAVE f(); print 'alive'"],
        env => { %tree, %usr1, PERL_DPROF_OUT_FILE_NAME => '/dev/null' });
    is("$run->{out}$run->{err}", 'alive', 'a save to /dev/null gives no message');
    $run = run_program(['sh', '-c', 'mkfifo p; cat p >got & "$@"; wait', 'sh', $^X, PROFILER(),
        '-e', "$SUBS g(10); $SAVE f()"], env => { %tree, %usr1, PERL_DPROF_OUT_FILE_NAME => 'p' });
    is(f_code("$run->{dir}/got") =~ s/ .*//r, '11', 'a pipe has one tree');
  SKIP: {
        my ($as, $perl) = without_privileges();
        skip $perl, 8 if !$as;
        my $dir = scratch();
        chown 65534, 65534, $dir if $> == 0;
        $run = run_program([@$as, @$perl, '-e',
            "$SUBS g(5); $SAVE f(); g(10); chmod 0555, '.'; $SAVE f(); " . 'f()'], dir => $dir,
            env => { %tree, %usr1 });
        is("$run->{err}$run->{status}", 0,
            'a directory that has become unwritable gives no message')
            or diag $run->{err};
        ok((stat $dir)[2] & 0222 ? 0 : 1, 'the directory cannot be written');
        is(join(' ', map { s{.*/}{}r . (-s $_ ? '' : ':empty') } glob "$dir/*"),
            'tmon.out tmon.out.live:empty',
            'nothing is saved, and the .live file that cannot be removed is empty');
        is(f_code("$dir/tmon.out"), '18 0', 'the final profile is written all the same');

        # The child has its parent's memory mapped until its first event, when that file is empty.
        $dir = scratch();
        chown 65534, 65534, $dir if $> == 0;
        # The outer pipe ends when both processes have ended, the inner one when the parent has:
        # perl does not know that descriptor.
        my $child =
            'use POSIX (); pipe my $r, my $w; my $p = fork; if (!$p) { close $w; '
                . 'sysread $r, my $x, 1; my $n = -s "tmon.out.live"; chmod 0755, "."; g(30); '
                . 'print "child ", $n // "none"; exit } close $r; POSIX::dup(fileno $w); ';
        for my $env ({ %tree }, {}) {
            $run = run_program(['sh', '-c', '"$@" | cat', 'sh', @$as, @$perl, '-e',
                "$SUBS g(5); $child chmod 0555, '.'"], dir => $dir, env => { %$env });
            is("$run->{out}$run->{err}", 'child 0',
                'a child whose first event comes after that gives no message');
            my ($file) = grep { /out\.\d+\z/ } glob "$dir/*";
            is(f_code($file), '30 0', 'a child whose first event comes after that has its calls');
            unlink glob "$dir/*";
        }
    }
  SKIP: {
        my $dir = scratch();
        my $mount = $> == 0 ? run_program(['mount', '-t', 'tmpfs', '-o', 'size=420k', 'tmpfs',
            $dir]) : undef;
        skip 'cannot mount a small file system', 6 if !$mount || $mount->{raw};
        my $fill = 'open my $z, ">", "fill"; $z->autoflush(1); 1 while syswrite $z, "x" x 4096; ';
        $run = profiled(['-e', 'use IO::Handle; ' . "$SUBS g(10); $SAVE f(); $fill"
            . 'eval "sub s$_ { f() } s$_()" for 1 .. 300; ' . "$SAVE f(); " . $COPY->('/dev/null')
            . 'unlink "fill"; print "alive"'],
            dir => $dir, env => { %tree, %usr1 });
        is("$run->{out}$run->{err}", 'alive', 'a disk full while saving gives no message');
        is(f_code("$dir/tmon.out"), '312 0', 'with room at the end all calls are there');
        unlink glob "$dir/*";
        $run = profiled(['-e', 'use IO::Handle; ' . "$SUBS g(10); $SAVE f(); "
            . 'eval "sub s$_ { f() } s$_()" for 1 .. 3000; ' . "$fill print 'alive'"], dir => $dir,
            env => { %tree, %usr1 });
        is($run->{out}, 'alive', 'the program runs on if the disk is full at the end');
        if ($run->{err}) {
            like($run->{err},
                qr/^DProf:\ cannot\ write\ .*tmon\.out:\ No\ space\ left\ on\ device;\ the\ profile
                    \ is\ the\ one\ that\ was\ saved\ last\n\z/x,
                        'one line says that the saved file stays if the disk is full');
            is(f_code("$dir/tmon.out"), "10 $CUT",
                'the saved file is still there after the disk was full');
        } else {
            pass('the removal of the .live file left enough room');
            is(f_code("$dir/tmon.out"), '3011 0', 'all calls are there');
        }
        ok(!-e "$dir/tmon.out.new", 'no temporary file is left');
        run_program(['umount', $dir], dir => '/');
    }
    $run = run_program(['sh', '-c', 'ulimit -f 16; exec "$@"', 'sh', $^X, PROFILER(), '-e',
        "$SUBS g(10); $SAVE f(); " . 'eval "sub s$_ { f() } s$_()" for 1 .. 300; ' . $SAVE
            . 'f(); print "alive"'], env => { %tree, %usr1 });
    is($run->{out}, 'alive', "the program runs on below a limit of the file's size");
    like($run->{err},
        qr/^DProf:\ cannot\ write\ .*tmon\.out:\ File\ too\ large;\ the\ profile\ is\ the\ one\ that
            \ was\ saved\ last\n\z/x,
                'one line says that the saved file stays if a file is too large');
    is(f_code("$run->{dir}/tmon.out") =~ s/ .*//r, '10',
        'the saved file is still there after the limit was reached');
    like(run_tool('dprofreport', ['-q'], dir => $run->{dir})->{err},
        qr/^tmon\.out: profile cut short: the recorder could not write the rest: File too large\b/,
            'the tools say why the saved file is not the last one');
};

done_testing;
