# dproftop beside programs that wait for a step of the test. The time of day and the wait between
# two looks are the test's, so that all rates are exact.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use Cwd 'getcwd';
use File::Glob ':bsd_glob';
use POSIX ();
use Test::More;
use DProfTest;
use Devel::DProf::Constants qw(time_words);
use Devel::DProf::Input;
use Devel::DProf::Tool::Dproftop;

my %SEED = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);

# Each number on a line of the standard input calls f so often. f takes 2 us of its own, and g one.
my $program = spew(scratch() . '/p.pl', <<'END');
$| = 1;
sub f { return g() }
sub g { return 1 }
BEGIN { sub early { 1 } early() if $ENV{EARLY} } my $anon = sub { return 1 };
sub bad { require Sub::Util; Sub::Util::set_subname("main::bad\e[2Jname", sub { 1 })->() }
print "ready\n";
while (my $line = <STDIN>) {
    f() for 1 .. $line;
    if ($line =~ /anon/) { $anon->(); my $other = sub { return 2 }; $other->() }
    bad() if $line =~ /bad/;
    kill 9, $$ if $line =~ /kill/;
    print "done\n";
}
END

# Starts the program, or other perl; returns its pid and the ends of two pipes.
sub started {
    my ($dir, $env, @args) = @_;
    @args = (PROFILER(), $program) if !@args;
    pipe(my $in, my $to) or die "pipe: $!";
    pipe(my $from, my $out) or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        chdir $dir or die "$dir: $!";
        %ENV = (%ENV, %SEED, %$env);
        # The test's own STDOUT may be memory.
        POSIX::dup2(fileno $in, 0);
        POSIX::dup2(fileno $out, 1);
        close $_ for $in, $to, $from, $out;
        alarm 120;
        exec $^X, @args or die "$^X: $!";
    }
    close $_ for $in, $out;
    $to->autoflush;
    my $run = { pid => $pid, to => $to, from => $from };
    chomp($run->{ready} = readline $from);
    return $run;
}

sub step {
    my ($run, $line) = @_;
    local $SIG{PIPE} = 'IGNORE';
    print { $run->{to} } "$line\n";
    readline($run->{from}) // die "the program has ended\n" if $line !~ /kill/;
    return;
}

sub ended {
    my ($run) = @_;
    close $run->{to};
    waitpid $run->{pid}, 0;
    return $?;
}

# Runs dproftop. Between two looks it calls the next of these functions, and two seconds pass; the
# first look is four seconds after the start of the recording.
sub top {
    my ($dir, $args, @between) = @_;
    my $file = (grep { -s } "$dir/tmon.out", bsd_glob("$dir/spool/*"))[0];
    my %header = $file ? Devel::DProf::Input::header_of($file) : ();
    my $now = ($header{dprof_start} // 0) + 4;
    no warnings 'redefine';
    local *Devel::DProf::Tool::Dproftop::now = sub { return $now };
    local *Devel::DProf::Tool::Dproftop::pause = sub {
        my $next = shift @between // die "there is no further look\n";
        $next->();
        $now += 2;
    };
    # In this process, which has started the program, and waits for its end.
    my $cwd = getcwd();
    chdir $dir or die "$dir: $!";
    my $run = in_process('dproftop', @$args);
    chdir $cwd or die "$cwd: $!";
    return $run;
}

# Returns the blocks of an output: the sentence about the interval, notes, rows by name.
sub blocks {
    my ($run) = @_;
    return map {
        my ($title, $sentence, @lines) = split /\n/;
        my (@notes, %rows, @order);
        push @notes, shift @lines while @lines && $lines[0] !~ /\A *%self/;
        shift @lines;
        for (@lines) {
            my @cells = /\A *(\S+) +(\S+) +(\S+) +(\S+)  (\S+(?: \S+)*?)(?:  +(.*))?\z/;
            push(@notes, $_), next if !@cells;
            my $name = splice @cells, 4, 1;
            $rows{$name} = [grep { defined } @cells];
            push @order, $name;
        }
        { title => $title, sentence => $sentence, notes => \@notes, rows => \%rows,
            order => \@order }
    } split /\n\n/, $run->{out};
}

for my $mode ('mode=trace', 'mode=tree', 'limit=20000', 'mode=trace,compress=6',
    'mode=tree,compress=6') {
    subtest "dproftop shows the rates between two samples: $mode" => sub {
        my $dir = scratch();
        my %env = map { /(.*)=(.*)/ ? ('PERL_DPROF_' . uc $1, $2) : () } split /,/, $mode;
        my $run = started($dir, { PERL_DPROF_CLOCK => 'counting:1000', %env });
        step($run, 4000);
        my $top = top($dir, [], sub { step($run, 1000) }, sub { step($run, '500 anon') }, sub { },
            sub { step($run, 3); ended($run) });
        is("$top->{err}$top->{status}", '0', 'dproftop ends with the program, in silence');
        my @look = blocks($top);
        is(scalar @look, 5, 'dproftop takes five samples');
        like($look[0]{title},
            qr/\Adproftop  \d\d:\d\d:\d\d  tmon\.out  process $run->{pid}  \S+p\.pl  /,
            'the first line names the program and the process');
        is($look[0]{sentence}, '4.00 s since the start: cpu 0.016 s, real 0.016 s; 2000.2 calls/s',
            'the first sample covers the time since the start, with BEGIN');
        is_deeply($look[0]{rows}{'main::f'}, ['50.0', '2.0', '3.0', '1000.0', "$program:2"],
            'the first sample has the rates since the start');
        is($look[1]{sentence}, '2.00 s since the last update: cpu 0.004 s, real 0.004 s; '
            . '1000.0 calls/s', 'the second sample says what passed since the first');
        is_deeply($look[1]{rows}, { 'main::f' => ['50.0', '1.0', '1.5', '500.0', "$program:2"],
            'main::g' => ['25.0', '0.5', '0.5', '500.0', "$program:3"],
            '(program)' => ['25.0', '0.5', '2.0', '-'] },
                'the second sample has the rates since the first alone');
        is_deeply($look[1]{order}, ['main::f', '(program)', 'main::g'],
            'the rows have the order of self, then inclusive time');
        is($look[2]{rows}{'main::f'}[3], '250.0', 'the third sample has its own rates');
        is_deeply([map { $look[2]{rows}{"main::__ANON__[$program:$_]"}[3] } 4, 9], ['0.5', '0.5'],
            'anonymous subs have their place');
        is_deeply($look[3]{rows}, {}, 'a sample in which nothing ran has no rows');
        is_deeply($look[4]{notes}, ['The program has ended.'],
            'the last sample says that the program has ended');
        is($look[4]{rows}{'main::f'}[3], '1.5',
            'the last sample has the calls since the one before');
    };
}

# The sums of folded stacks by sub: self and inclusive.
sub folded {
    my ($file, $metric) = @_;
    my (%self, %incl);
    for (split /\n/, run_tool('dproffold', ['-F', '-m', $metric, $file])->{out}) {
        my ($stack, $n) = /\A(.*) (\d+)\z/;
        my @frames = split /;/, $stack;
        $self{ $frames[-1] } += $n;
        my %twice = ('(program)' => $frames[0] eq '(program)');
        $incl{$_} += $n for grep { !$twice{$_}++ } '(program)', @frames;
        $incl{'(program)'} += $n if $frames[0] eq '(program)';
    }
    return (\%self, \%incl);
}

subtest 'dproftop shows rates of a sampled program beside those of folded stacks' => sub {
    my $dir = scratch();
    my $run = started($dir, { PERL_DPROF_CLOCK => 'counting:1000', PERL_DPROF_SAMPLE => 10_000 });
    step($run, 500);
    my $before = "$dir/before";
    my $copy = sub { spew("$before$_", slurp("$dir/tmon.out$_")) for '', '.live' };
    my $top = top($dir, ['-s', 'calls', '-O', 9], sub { $copy->(); step($run, 2000) },
        sub { ended($run) });
    my (undef, $look) = blocks($top);
    # What was recorded between the first two looks, once more, from files of the same moments.
    my $again = started(my $other = scratch(),
        { PERL_DPROF_CLOCK => 'counting:1000', PERL_DPROF_SAMPLE => 10_000 });
    step($again, $_) for 500, 2000;
    my %want;
    for my $metric ('cpu', 'samples') {
        my ($self, $incl) = folded("$other/tmon.out", $metric);
        my ($self_before, $incl_before) = folded($before, $metric);
        $want{$metric}{$_} = [$self->{$_} - $self_before->{$_}, $incl->{$_} - $incl_before->{$_}]
            for 'main::f', 'main::g';
    }
    for my $sub ('main::f', 'main::g') {
        my ($cpu, $samples) = map { $want{$_}{$sub} } qw(cpu samples);
        cmp_ok($samples->[0], '>', 9, "$sub has samples");
        is_deeply([@{ $look->{rows}{$sub} }[1 .. 3]],
            [map { sprintf '%.1f', $_ } (map { $_ / 2000 } @$cpu), $samples->[0] / 2],
            "$sub has the rates of the folded stacks");
    }
    like($look->{sentence}, qr/ [1-9][\d.]* samples\/s\z/,
        'the second line has the number of samples a second');
    ended($again);

    $run = started($dir, { PERL_DPROF_CLOCK => 'counting:1000', PERL_DPROF_SAMPLE => 10_000 });
    $top = top($dir, ['-l'], sub { step($run, 2000) }, sub { ended($run) });
    (undef, $look) = blocks($top);
  SKIP: {
        skip 'this perl has no lines', 3 if !grep { $_ eq "$program:2" } @{ $look->{order} };
        is($look->{rows}{"$program:2"}[4], 'main::f', '-l gives each line its sub');
        cmp_ok($look->{rows}{"$program:2"}[3], '>', 0, '-l counts samples of a line');
        my $sum = 0;
        $sum += $_->[3] for values %{ $look->{rows} };
        like($look->{sentence}, qr{; \Q@{[sprintf '%.1f', $sum]}\E samples/s\z},
            'the samples of the lines add up to all samples');
    }
};

subtest 'dproftop shows counters, other times, filters and orders' => sub {
    my $dir = scratch();
    my $run = started($dir, { PERL_DPROF_CLOCK => 'counting:1000', PERL_DPROF_MODE => 'tree',
        EARLY => 1 });
    my $rows = sub {
        my (@args) = @_;
        my $top = top($dir, ['-n', 2, @args], sub { step($run, 1000) });
        is($top->{status}, 0, "dproftop @args takes two samples while the program runs");
        return (blocks($top))[1];
    };
    my $look = $rows->('-m', 'ops');
    my ($ops) = folded("$dir/tmon.out", 'ops');
    cmp_ok($ops->{'main::g'}, '>=', 2000, 'the program executes ops');
    is($look->{rows}{'main::g'}[1], sprintf('%.1f', $ops->{'main::g'} / 2),
        'the rate of a counter is its count per second');
    is_deeply($rows->('-m', 'system')->{rows}{'main::g'}, ['0.0', '0.0', '0.0', '500.0',
        "$program:3"], 'a time that does not pass has a rate of zero');
    is_deeply($rows->('--only', '::[fg]$', '--skip', 'f')->{order}, ['main::g'],
        '--only and --skip select subs');
    is_deeply($rows->('--reverse')->{order}, ['main::g', '(program)', 'main::f'],
        '--reverse reverses the order');
    is_deeply($rows->('-s', 'inclusive', '-O', 1)->{order}, ['(program)'],
        '-s sorts the rows and -O limits them');
    is_deeply($rows->('--batch', '--main')->{order}, ['main::f', '(program)', 'main::g'],
        '--main leaves the order as it is');
    my $early = sub { (blocks(top($dir, ['-n', 1, @_])))[0]{rows}{'main::early'}[3] };
    is($early->(), '0.2', 'dproftop shows what ran before the main program');
    is($early->('--main'), undef, '--main leaves out what ran before the main program');
    my $lines = $rows->('-l');
    like("@{ $lines->{notes} }", qr/no lines: record with/,
        '-l of a profile without lines says how to record them');
    my $none = top($dir, ['-m', 'nonsense']);
    is($none->{err},
        "dproftop: there is no metric nonsense\ndproftop: the profile has "
            . join(', ', time_words(), 'ops') . "\n",
        'an unknown metric gives a message that lists the metrics');
    is($none->{status}, 1, 'an unknown metric gives status 1');
    like(top($dir, ['-m', 'calls'])->{err}, qr/the profile has cpu, user/,
        'dproftop refuses -m calls');
    step($run, '1 bad');
    my $bad = top($dir, ['-n', 1, '--only', 'bad']);
    unlike($bad->{out}, qr/\e/, 'a hostile name cannot clear a terminal');
    like($bad->{out}, qr/main::bad\\x1b\[2Jname/,
        'dproftop shows the control characters of a hostile name as escapes');
    step($run, '1 kill');
    is(ended($run), 9, 'the program ends by SIGKILL');
    my $dead = top($dir, []);
    like($dead->{out}, qr/^The program has ended\.$/m, 'dproftop ends with a killed program');
    is($dead->{err}, 'tmon.out: profile cut short: '
        . (-d "/proc/$$/fd" ? 'the program was killed, or crashed'
            : 'the recording did not come to its end') . "\n",
        "dproftop says that a killed program's recording did not end");
    is(top($dir, ['-F'])->{err}, '', '-F silences the message of a recording that did not end');
};

subtest 'dproftop -l shows how often lines ran' => sub {
    my $dir = scratch();
    my $run = eval { started($dir, { PERL_DPROF_CLOCK => 'counting:1000', PERL_DPROF_MODE => 'tree',
        PERL_DPROF_LINES => 'time' }) };
    plan skip_all => 'this perl has no lines' if !-s "$dir/tmon.out";
    my $top = top($dir, ['-l', '-n', 2], sub { step($run, 1000) });
    my (undef, $look) = blocks($top);
    is_deeply([@{ $look->{rows}{"$program:3"} }[3, 4]], ['500.0', 'main::g'],
        'a line has the number of its runs a second');
    like($top->{out}, qr/ times\/s  line /, "the column of a line's runs has the heading times/s");
    ended($run);
};

subtest 'dproftop follows a program from slice to slice' => sub {
    my $dir = scratch();
    my $run = started($dir, { PERL_DPROF_CLOCK => 'counting:3000000', PERL_DPROF_SLICE => 1,
        PERL_DPROF_SPOOL => "$dir/spool" });
    step($run, 10);
    my ($part) = bsd_glob("$dir/spool/*.part");
    my $removed;
    my $top = top($dir, [$part], (sub { step($run, 1000) }) x 2, sub {
        step($run, 400);
        # An agent has sent some of them away.
        my @trees = sort { ($a =~ /(\d+)\.tree/)[0] <=> ($b =~ /(\d+)\.tree/)[0] }
            bsd_glob("$dir/spool/*.tree");
        unlink @trees[-1, -2];
    }, sub { step($run, 100); ended($run) });
    is("$top->{err}$top->{status}", '0', 'dproftop follows slices to the end of the program');
    my @look = blocks($top);
    is(scalar @look, 5, 'dproftop takes five samples of slices');
    cmp_ok(scalar(() = bsd_glob("$dir/spool/*.tree")), '>', 8,
        'the program leaves more than eight slices');
    is_deeply([map { @{ $_->{rows}{'main::f'} }[1 .. 3] } @look[1, 2]],
        [('3000.0', '4500.0', '500.0') x 2], 'rates across many slices are exact');
    is_deeply($look[3]{notes},
        ['2 slices were removed before this update, and could not be counted.'],
        'dproftop counts the slices that were removed');
    cmp_ok($look[3]{rows}{'main::f'}[3], '<', 200,
        'the calls of removed slices are missing from the rates');
    is($look[4]{rows}{'main::f'}[3], '50.0', 'the next sample has all calls again');
};

subtest 'dproftop begins anew with a new run of the program' => sub {
    my $dir = scratch();
    my $run = started($dir, { PERL_DPROF_CLOCK => 'counting:1000' });
    step($run, 5000);
    my $top = top($dir, [], sub {
        ended($run);
        $run = started($dir, { PERL_DPROF_CLOCK => 'counting:1000' });
        step($run, 30);
    }, sub { step($run, 20); ended($run) });
    is($top->{err}, '', 'dproftop goes on if a new run begins');
    my @look = blocks($top);
    is_deeply($look[1]{notes}, ['This is a new run: its rates begin anew.'],
        'a line says that a new run began');
    like($look[1]{sentence}, qr/ s since a new run began: cpu 0\.000 s, /,
        'the second line counts the time since the new run began');
    is($look[2]{rows}{'main::f'}[3], '10.0', "the sample after a new run has the new run's rates");
};

subtest 'dproftop finds the profile of a process' => sub {
    plan skip_all => 'there is no /proc' if !-e "/proc/$$/fd";
    my $dir = scratch();
    my $run = started($dir, { PERL_DPROF_CLOCK => 'counting:1000', PERL_DPROF_OUT => 'my.prof' });
    step($run, 1);
    my $top = top(my $elsewhere = scratch(), [$run->{pid}, '-n', 2], sub { step($run, 1000) });
    my (undef, $look) = blocks($top);
    is($look->{rows}{'main::f'}[3], '500.0', "dproftop finds a process's profile under any name");
    like($look->{title}, qr{  \Q$dir\E/my\.prof  process $run->{pid}  },
        'the first line names the profile and the process');
    is(in_process('dprofreport', "$dir/my.prof")->{err},
        "$dir/my.prof: process $run->{pid} still runs; the figures are those up to now\n",
        'a profile whose program runs is not called cut short');
    my $live = Devel::DProf::Live::Files->new(0, ($run->{pid}) x 2);
    is_deeply([map { [$live->files] } 1, 2], [([1, "$dir/my.prof"]) x 2],
        "dproftop lists a process's profile once");
    ended($run);
    $top = top($elsewhere, [$run->{pid}]);
    is($top->{err}, "dproftop: there is no process $run->{pid}, and no file of that name\n",
        'the number of a process that has ended gives a message');
    is($top->{status}, 1, 'the number of a process that has ended gives status 1');

    # Each of these is sampled from outside: a process without the profiler, also beside the profile
    # of another one; one that has recorded nothing yet; a child with its parent's file.
    my $code = '$| = 1; print "ready\n"; <STDIN>';
    my $plain = started($dir, {}, '-e', $code);
    my $beside = started($dir, {});
    my $idle = started($dir, {}, PROFILER(), '-e', "BEGIN { $code }");
    my $parent = started($dir, {}, PROFILER(), '-e', 'use POSIX (); $| = 1; pipe my $in, my $out;'
        . 'my $pid = fork; if (!$pid) { close $out; readline $in; POSIX::_exit(0) }'
        . 'print "$pid\n"; readline STDIN; close $out; wait');
    my $cwd = getcwd();
    chdir $dir or die "$dir: $!";
    ok(Devel::DProf::Live::Files::is_unrecorded($_), 'a process without a profile has none')
        for $plain->{pid}, $idle->{pid}, $parent->{ready};
    ok(!Devel::DProf::Live::Files::is_unrecorded($_), 'a process with a profile is known')
        for $beside->{pid}, $parent->{pid};
    chdir $cwd or die "$cwd: $!";
    $top = top($elsewhere, [$parent->{pid}, '-n', 1]);
    is("$top->{err}$top->{status}", '0', "dproftop shows the parent's file for the parent");
    ended($_) for $beside, $plain, $idle, $parent;
    is_deeply([bsd_glob("$elsewhere/*")], [], 'dproftop leaves no file');
};

subtest 'dproftop adds up the threads of a process' => sub {
    plan skip_all => 'this perl has no threads' if !$Config{usethreads};
    plan skip_all => 'there is no /proc' if !-e "/proc/$$/fd";
    my $run = started(my $dir = scratch(), { PERL_DPROF_CLOCK => 'counting:1000' }, PROFILER(),
        '-e', 'use threads; sub f { 1 } f() for 1 .. 100; $| = 1;'
            . ' threads->create(sub { f() for 1 .. 50; print "ready\n"; readline STDIN })->join');
    my ($look) = blocks(top($dir, [$run->{pid}, '-n', 1]));
    is($look->{rows}{'main::f'}[3], '37.5', 'the rates of a process are those of all its threads');
    like($look->{title}, qr{/tmon\.out and 1 more file  process $run->{pid} },
        'the first line counts the files of the threads');
    ended($run);
};

subtest 'dproftop --processes adds up the processes of a run' => sub {
    my $dir = scratch();
    my $forks = spew("$dir/forks.pl", <<'END');
$| = 1; sub f { return 1 } print "ready\n"; my (@to, @from);
for (1, 2) {
    pipe(my $in, my $out); pipe(my $back, my $there); my $pid = fork;
    if (!$pid) {
        close $out; $there->autoflush; f();
        while (my $n = <$in>) { f() for 1 .. $n; print $there "done\n" }
        exit;
    }
    $out->autoflush; push @to, $out; push @from, $back; close $in; close $there;
}
while (my $n = <STDIN>) {
    f() for 1 .. $n;
    for (0, 1) { print { $to[$_] } $n; readline $from[$_] }
    print "done\n";
}
close $_ for @to; wait; wait;
END
    my $run = started($dir, { PERL_DPROF_CLOCK => 'counting:1000' }, PROFILER(), $forks);
    step($run, 10);
    my $top = top($dir, ['--processes', '-n', 2], sub { step($run, 100) });
    my (undef, $look) = blocks($top);
    is($look->{rows}{'main::f'}[3], '150.0', '--processes adds the rates of children');
    like($look->{title}, qr/ tmon\.out and 2 more files /,
        'the first line counts the files of children');
    $top = top($dir, ['-n', 2], sub { step($run, 100) });
    is((blocks($top))[1]{rows}{'main::f'}[3], '50.0',
        'dproftop leaves children out without --processes');
    ended($run);
};

subtest 'Files without times and mistakes in the command line give a message' => sub {
    my $dir = scratch();
    spew("$dir/foreign", "hello\n");
    is_deeply([@{ top($dir, ['foreign']) }{qw(out err status)}],
        ['', "Not a perl profile: foreign; dprof run -- perl PROGRAM records one\n", 1],
        'a file that is no profile is an error');
    spew("$dir/folded", "a;b 3\nc 4\n");
    is_deeply([@{ top($dir, ['folded']) }{qw(out err status)}],
        ['', "dproftop: folded: the profile has no times; dprofreport shows it\n", 1],
            'a profile without times is an error');
    is(top($dir, ['-'])->{err},
        "dproftop: -: not a file that can be read again; dprofreport reads it once\n",
        'a pipe is an error');
    for (['-d', 0], ['-n', 0], ['-s', 'nonsense'], ['--only', '(']) {
        is(top($dir, $_)->{status}, 2, "@$_ is a usage error");
    }
    my $waits = top($dir, [], sub { kill INT => $$ });
    is_deeply([@$waits{qw(out err status)}], ['', '', 0],
        'dproftop waits in silence for a missing profile until Ctrl-C');
    $waits = top($dir, [], sub { }, sub { }, sub { kill INT => $$ });
    is_deeply([@$waits{qw(out err status)}], ['', "dproftop: waiting for tmon.out\n", 0],
        'dproftop says once, after a second, that it waits');
    my $done = top($dir, [data('classic.out')]);
    like($done->{out}, qr/\A.*? s since the start: .*\nThe program has ended\.\n\z/s,
        'a run that has ended has one sample');
    is($done->{status}, 0, 'a run that has ended gives status 0');
};

done_testing;
