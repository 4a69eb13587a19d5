# Devel::DProf::Control: start, stop, mark, in any order, at any depth, in both modes; start=.
use strict;
use warnings;
use Config;
use File::Glob ':bsd_glob';
use Test::More;
use lib 't/lib';
use DProfTest;
use Devel::DProf::Profile;

# Returns the calls by phase and sub, from the program's own log or from the profile.
sub by_phase {
    my ($file) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->detail;
    $profile->phases;
    my $code = $profile->add($file);
    open my $to, '>', \my $text or die;
    $profile->write_tree($to, 'test');
    close $to;
    my (%name, %phase, $in, %calls);
    for (split /\n/, $text) {
        if (/^& (\w+) (\S+) (\S+) \S+(.*)/) {
            my ($id, $what) = ($1, $3);
            $name{$id} = "$2\::$3";
            $phase{$id} = $what if $4 =~ / kind=phase/;
        } elsif (/^= (\d+) (\w+) (\d+)/ && $1) {
            my ($depth, $id, $n) = ($1, $2, $3);
            $in = $phase{$id} // die "no phase above $_" if $depth == 1;
            $calls{"$in $name{$id}"} += $n if $depth > 1 && $n && $name{$id} =~ /^main::/;
        }
    }
    return ($code, \%calls);
}

my %mode = (trace => {}, tree => { PERL_DPROF_MODE => 'tree' },
    both => { PERL_DPROF_LIMIT => 20_000, PERL_DPROF_BUFFER => 64 });

# Makes a random program: named subs call one another, die through frames, goto, and stop, start and
# mark wherever they are. It logs what is to be recorded.
sub program {
    my ($seed) = @_;
    srand $seed;
    my $text = <<'END';
use strict; use warnings;
use Devel::DProf::Control qw(start stop mark);
our ($on, $phase, $depth, $left, %log) = (1, 'main', 0, 600);

END
    my @subs = map { "s$_" } 0 .. 11;
    for my $sub (@subs) {

        $text .=
            "sub $sub "
                . "{ \$log{\"\$phase main::$sub\"}++ if \$on; return if \$left-- < 0 || \$depth > "
                . "12; local \$depth = \$depth + 1;\n";
        for (1 .. 2 + int rand 5) {
            my $other = $subs[rand @subs];
            my $what = int rand 14;
            $text .= '  ' . ($what < 5 ? "$other();"
                : $what == 5 ? 'call_off();'
                : $what == 6 ? 'call_on();'
                : $what == 7 ? "call_into('p" . int(rand 4) . "');"
                : $what == 8 ? "eval { $other(); die 'out' };"
                : $what == 9 ? "die 'through' if \$depth > 3;"
                : $what == 10 ? "return $other() if \$left % 3;"
                : $what == 11 ? "() = sort { $other(); \$a <=> \$b } 2, 1;"
                : $what == 12 ? "goto &$other if \$left % 5 == 0;"
                : "for (1 .. 2) { last_out() if \$left % 7 == 0; $other() }") . "\n";
        }
        $text .= "}\n";
    }
    $text .= <<'END';
sub call_off { $log{"$phase main::call_off"}++ if $on; off_log(); }
sub off_log { $log{"$phase main::off_log"}++ if $on; stop(); $on = 0 }
sub call_on { $log{"$phase main::call_on"}++ if $on; start(); $on = 1 }
sub call_into { $log{"$phase main::call_into"}++ if $on; mark($_[0]); $phase = $_[0] }
sub last_out { $log{"$phase main::last_out"}++ if $on; no warnings 'exiting'; last }

for my $n (0 .. 11) { no strict 'refs'; eval { &{"main::s$n"}(); 1 }; $left = 600 if $left < 0 }
no strict 'refs';
open my $out, '>', $ENV{EXPECT} or die;
print {$out} "$_ $log{$_}\n" for sort grep { $log{$_} } keys %log;
close $out;
END
    return $text;
}

for my $seed (1 .. TestEnvironment::rounds(2, 12)) {
    my $file = spew(scratch() . '/p.pl', program($seed));
    for my $mode (sort keys %mode) {
        my $expect = scratch() . '/expect';
        my $run = profiled([$file], env => { counting(), EXPECT => $expect, %{ $mode{$mode} } });
        my %want = map { /^(.*) (\d+)$/ ? ($1 => $2) : () } split /\n/, slurp($expect) // '';
        my ($code, $got) = by_phase($run->{profile});
        delete @$got{ grep { /main::(?:BEGIN|END)$/ } keys %$got };
        is_deeply([$run->{err}, $code, $got], ['', 0, \%want],
            "random program $seed, $mode: calls by phase are right");
        profile_ok($run->{profile}) if $mode eq 'trace';
    }
}

# Time that passes while recording is stopped counts in $dprof_stopped alone.
{
    my $file = spew(scratch() . '/t.pl', <<'END');
use Devel::DProf::Control;
sub wait_for { Devel::DProf::_advance($_[0] * 1000, $_[1] * 1000) }
sub recorded { wait_for(1000, 1000) }
sub split_up {
    wait_for(100, 100);
    Devel::DProf::Control::stop();
    wait_for(5000, 4000);
    Devel::DProf::Control::start();
    wait_for(10, 10);
}
recorded(); split_up(); recorded();
Devel::DProf::Control::stop(); wait_for(70_000, 1); Devel::DProf::Control::stop();
END
    for my $mode (qw(trace tree)) {
        my $run = profiled([$file], env => { counting(), %{ $mode{$mode} } });
        my $profile = Devel::DProf::Profile->new;
        $profile->add($run->{profile});
        my %incl = map { ($_->[0] => $_->[3]) }
            $profile->rows({ rows => 100, time => Devel::DProf::Profile::REAL });
        my %head = $profile->header(0);
        # The unit is ticks of 100 ns; every event is a step of 1,000 ns.
        ok($incl{'main::recorded'} >= 20_000 && $incl{'main::recorded'} < 20_300,
            "$mode: time counts while recording") or diag $incl{'main::recorded'};
        ok($incl{'main::split_up'} >= 1100 && $incl{'main::split_up'} < 1400,
            "$mode: no time counts while stopped") or diag $incl{'main::split_up'};
        ok($head{dprof_stopped} >= 750_000 && $head{dprof_stopped} < 751_000,
            "$mode: the header has the stopped time") or diag $head{dprof_stopped};
        ok($head{dprof_own_real} < 3000 && $head{dprof_own_cpu} < 3000,
            "$mode: the stopped time is not counted as the recorder's own")
            or diag "$head{dprof_own_real} $head{dprof_own_cpu}";
    }
}

subtest 'Without the profiler Control does nothing and loads nothing' => sub {
    my $code =
        'use Devel::DProf::Control qw(start stop mark save phase recording hold held settle); '
            . 'stop; start; start; print hold(1) // 0 if settle(held(1)); '
            . 'mark("x"); mark(undef); save; save; stop; '
            . 'print join(" ", sort grep m{DProf|XS}, keys %INC), '
            . '"\n"';
    my $plain = plain(['-I' . tree(), '-e', $code]);
    is("$plain->{out}$plain->{err}$plain->{raw}", "Devel/DProf/Control.pm\n0",
        'start, stop and mark are no-ops without the profiler');
    my $run = profiled(['-e',
        'use Devel::DProf::Control; for (qw(start stop mark save phase recording)) { my $f = '
            . 'Devel::DProf::Control->can($_); $f->() for 1 .. 3; $f->(1, 2) } '
            . 'Devel::DProf::Control::mark([]); Devel::DProf::Control::mark("a b\n%"); '
            . 'print "fine\n"'],
        env => { counting() });
    is("$run->{out}$run->{err}$run->{raw}", "fine\n0", 'odd arguments do no harm');
    my $got = profile_ok($run->{profile});
    is((grep { /^a b\n%$/ } @{ $got->{phases} }), 1, 'a phase may have any name');
    $run = profiled(['-e',
        'use Devel::DProf::Control qw(mark stop); package Dies { use overload q("") => sub { die '
            . '"called" } } package Tied { sub TIESCALAR { bless [] } sub TIEHASH { bless {} } '
            . 'sub FETCH { die "called" } } '
        . 'tie my $t, "Tied"; tie my %h, "Tied"; mark(bless [], "Dies"); mark($t); mark($h{x}); '
        . 'mark({}); "a word" =~ /(w.*)/; mark($1); print "fine\n"'], env => { counting() });
    is("$run->{out}$run->{err}$run->{raw}", "fine\n0", 'mark runs no code of its arguments');
    is_deeply(profile_ok($run->{profile})->{phases}, [qw(BEGIN main word)],
        'mark takes strings, magical ones too, and nothing else');
    $code = 'use Devel::DProf::Control qw(phase recording mark start stop); '
        . 'sub now { print phase() // "none", recording() ? " on\n" : " off\n" } now(); '
        . 'mark("a \xe9"); stop; now(); start; mark(phase() . "!"); mark(""); now(); '
        . 'if (!fork) { stop; now(); exit } wait; END { now() }';
    is(plain(['-I' . tree(), '-e', $code])->{out}, "none off\n" x 6,
        'without the profiler there is no phase, and no recording');
    is(profiled(['-e', $code])->{out}, "main on\na \xe9 off\na \xe9! on\n"
        . "a \xe9! off\nEND off\nEND on\n",
        'phase and recording say what goes on');
    ok(!(grep { /_control_/ } map { $_->{full} } values %{ $got->{subs} }),
        'the control subs are not in the profile');
};

# start= takes begin, main, mark or no.
my $program = spew(scratch() . '/s.pl', <<'END');
use strict; use warnings;
use Devel::DProf::Control;
sub early { 1 } BEGIN { early() }
sub inner { 1 } sub outer { inner() }
outer();
sub later { Devel::DProf::Control::start(); inner() } later();
outer();
END { outer() }
END
for my $mode (qw(trace tree)) {
    my %want = (
        begin => { 'BEGIN main::early' => 1, 'main main::outer' => 2, 'main main::inner' => 3,
            'main main::later' => 1, 'END main::outer' => 1, 'END main::inner' => 1,
            'END main::END' => 1, 'BEGIN main::BEGIN' => 4 },
        main => { 'main main::outer' => 2, 'main main::inner' => 3, 'main main::later' => 1,
            'END main::outer' => 1, 'END main::inner' => 1, 'END main::END' => 1 },
        no => { 'main main::outer' => 1, 'main main::inner' => 2, 'END main::outer' => 1,
            'END main::inner' => 1, 'END main::END' => 1 },
    );
    for my $start (sort keys %want) {
        my $run = profiled([$program], env => { counting(), PERL_DPROF_START => $start,
            %{ $mode{$mode} } });
        my ($code, $got) = by_phase($run->{profile});
        is_deeply([$run->{err}, $code, $got], ['', 0, $want{$start}],
            "start=$start, $mode: the calls by phase are right");
    }
    my $run = profiled(['-e', 'sub f { 1 } f()'],
        env => { counting(), PERL_DPROF_START => 'no', %{ $mode{$mode} } });
    my ($code, $got) = by_phase($run->{profile});
    is_deeply([$code, $got], [0, {}],
        "start=no, $mode: a program that never starts has an empty profile");
}

# fork, exec and kill come while recording is stopped.
for my $mode (qw(trace tree)) {
    my $file = spew(scratch() . '/f.pl', <<'END');
use strict; use warnings; use Devel::DProf::Control qw(start stop); use POSIX ();
sub f { g() } sub g { 1 }
sub in_child { f(); start() if $_[0]; f(); f(); }
sub forks {
    for my $how (0, 1) { my $pid = fork; if (!$pid) { in_child($how); exit } waitpid $pid, 0 }
}
f(); stop(); forks(); f(); start(); f();
END
    my $run = profiled([$file], env => { counting(), %{ $mode{$mode} } });
    my @children = glob "$run->{dir}/tmon.out.*";
    is(scalar @children, 1,
        "$mode: only the child that starts leaves a file if the parent is stopped")
            or diag "@children";
    my (undef, $got) = by_phase($run->{profile});
    is_deeply([@$got{'main main::f', 'main main::g', 'main main::forks'}], [2, 2, undef],
        "$mode: the parent of both children has its calls");
    my ($code, $child) = by_phase($children[0]);
    is_deeply([$code, $child], [0, { 'main main::f' => 2, 'main main::g' => 2 }],
        "$mode: the child that starts has its calls");

    my $killed = profiled(['-e',
        'use Devel::DProf::Control qw(start stop); sub f { 1 } f() for 1 .. 5; stop; '
            . 'f() for 1 .. 100; start; f(); $ARGV[0] && stop; f(); kill 9, $$', $_],
        env => { counting(), %{ $mode{$mode} } }) for 0, 1;
    for my $stopped (0, 1) {
        my $killed = profiled(['-e',
            'use Devel::DProf::Control qw(start stop); sub f { 1 } f() for 1 .. 5; stop; '
                . 'f() for 1 .. 100; start; f(); $ARGV[0] && stop; f(); kill 9, $$', $stopped],
            env => { counting(), %{ $mode{$mode} } });
        my (undef, $got) = by_phase($killed->{profile});
        is($got->{'main main::f'}, 7 - $stopped,
            "$mode: a program that was killed has its calls"
                . ($stopped ? ' while stopped' : ' after a stop'));
    }
    my $exec = profiled(['-e',
        'use Devel::DProf::Control; sub f { 1 } f(); Devel::DProf::Control::stop(); f(); '
            . 'exec "nosuch/program" if $ARGV[0]; f(); Devel::DProf::Control::start(); f(); '
            . 'Devel::DProf::Control::stop(); exec "true"', 1],
        env => { counting(), %{ $mode{$mode} } });
    (undef, $got) = by_phase($exec->{profile});
    is($got->{'main main::f'}, 2,
        "$mode: an exec that fails while stopped and one that succeeds lose no call");
}

subtest 'dprofpp -T and -t mark subs that go on' => sub {
    my $run = profiled(['-e',
        'use Devel::DProf::Control qw(start stop); sub f { 1 } sub deep { f(); stop(); f(); '
            . 'start(); f() for 1, 2; if (!fork) { f(); exit } wait } deep()'],
            env => { counting() });
    my ($child) = glob "$run->{dir}/tmon.out.*";
    my $of = sub { run_tool('dprofpp', [@_])->{out} =~ s/.*?^(?=main::deep)//msr };
    is($of->('-T', $run->{profile}),
        "main::deep\n   main::f\nmain::deep (goes on)\n   main::f\n   main::f\n",
        'dprofpp -T marks a sub that goes on after a stop');
    is($of->('-t', $run->{profile}),
        "main::deep\n   main::f\nmain::deep (goes on)\n   main::f (2x)\n",
        'dprofpp -t marks a sub that goes on after a stop');
    is($of->('-T', $child), "main::deep (goes on)\n   main::f\n",
        'dprofpp -T of a child marks the subs that go on');
};

# A sub that goto has put in place of another goes on under its own name.
for my $mode (qw(trace tree)) {
    my $run = profiled(['-e',
        'use Devel::DProf::Control qw(start stop); sub f { 1 } sub first { goto &then } '
            . 'sub then { stop(); start(); f() } first(); f()'],
            env => { counting(), %{ $mode{$mode} } });
    my $edges = $mode eq 'tree' ? edges_of_tree($run->{profile})
        : read_profile($run->{profile})->{edges};
    is_deeply([@$edges{'main::then > main::f', 'main::first > main::f'}], [1, undef],
        "$mode: after goto and a stop the call has the right caller");
}

# Each phase counts how often it began.
for my $mode (sort keys %mode) {
    my $run = profiled(['-e',
        'use Devel::DProf::Control qw(mark); sub f { 1 } f() for 1 .. 3000; mark("again"); f(); '
            . 'mark("again"); my $p = fork; if (!$p) { mark("child"); f(); exit } waitpid $p, 0; '
            . 'f() for 1 .. 3000'],
        env => { counting(), %{ $mode{$mode} } });
    my $profile = Devel::DProf::Profile->new;
    $profile->phases;
    $profile->add($_) for my @files = glob "$run->{dir}/tmon.out*";
    my %calls = map { ($_->[0] => $_->[1]) } $profile->rows({ rows => 100 });
    is_deeply([scalar @files, @calls{'(BEGIN)', '(main)', '(again)', '(child)'}], [2, 1, 1, 3, 1],
        "$mode: a phase counts when it begins, and a child begins in its parent's")
        or diag explain \%calls;
}

SKIP: {
    skip 'perl without threads', 2 unless $Config::Config{useithreads};
    for my $mode (qw(trace tree)) {
        my $run = profiled(['-e',
            'use threads; use Devel::DProf::Control qw(start stop mark); sub f { 1 } mark("work"); '
                . 'f(); stop; threads->create(sub { f(); start; f() for 1 .. 3 })->join; f(); '
                . 'start; threads->create(sub { f() for 1 .. 4 })->join; f()'],
            env => { counting(), %{ $mode{$mode} } });
        my @threads = sort glob "$run->{dir}/tmon.out.*";
        my @got = map { (by_phase($_))[1]{'work main::f'} } $run->{profile}, @threads;
        is_deeply(\@got, [2, 3, 4],
            "$mode: threads begin recording or stopped as their parent, and in its phase")
            or diag $run->{err};
    }
}

# ---- switched by a signal ----

# Returns the calls of main::NAME in a trace or a tree, by NAME.
sub calls_in {
    my ($file) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add($file);
    my @rows = $profile->rows({ rows => 1000 });
    my %calls = map { $_->[0] =~ /^main::(\w+)$/ ? ($1 => $_->[1]) : () } @rows;
    delete @calls{qw(BEGIN END)};
    return \%calls;
}

my $switches = 'no warnings; sub a { 1 } sub b { 1 } sub c { 1 } sub d { 1 } '
    . 'sub outer { a() for 1 .. 10; kill USR2 => $$; b() for 1 .. 20; inner() } '
    . 'sub inner { b(); kill USR2 => $$; c() for 1 .. 30; 1 } outer(); c(); kill USR2 => $$; d(); '
    . 'outer() if $ENV{MORE}; ';
for my $mode (sort keys %mode) {
    my $env = { counting(), %{ $mode{$mode} }, PERL_DPROF_TOGGLE => 'USR2' };
    my $run = profiled(['-e', $switches . 'print "end"'], env => $env);
    is("$run->{out}|$run->{err}|$run->{raw}", 'end||0',
        "$mode: a signal switches the recording off and on")
        or next;
    is_deeply(calls_in($run->{profile}), { a => 10, outer => 1, c => 31, inner => 0 },
        "$mode: calls between two signals are not recorded")
        or diag explain calls_in($run->{profile});
    $run = profiled(['-e', $switches], env => { %$env, PERL_DPROF_START => 'no', MORE => 1 });
    # outer is running when recording stops for the last time.
    is_deeply(calls_in($run->{profile}), { b => 21, inner => 1, outer => 1, d => 1, a => 10,
        c => 30 },
        "$mode: start=no begins with the first signal") or diag explain calls_in($run->{profile});
    $run = profiled(['-e', '$SIG{USR1} = sub { $n++; c() }; '
        . $switches =~ s/(kill USR)2( => \$\$)/${1}1$2; $&; ${1}1$2/gr . 'print $n'], env => $env);
    is("$run->{out}|$run->{err}|$run->{raw}", '6||0',
        "$mode: signals of the program's own still work");
    $run = profiled(['-e', 'sub f { 1 } f(); $p = fork; if (!$p) { f() for 1 .. 2; '
        . 'kill USR2 => $$; f() for 1 .. 4; kill USR2 => $$; f() for 1 .. 8; exit } waitpid $p, 0; '
        . 'f() for 1 .. 16; kill USR2 => $$; f();'
        . '$p = fork; if (!$p) { f(); exit } waitpid $p, 0; $p = fork; if (!$p) { f(); '
        . 'kill USR2 => $$; f() for 1 .. 32; exit } waitpid $p, 0; f()'], env => $env);
    my @f = sort { $a <=> $b } map { calls_in($_)->{f} // 0 } glob "$run->{dir}/tmon.out*";
    is_deeply(\@f, [10, 17, 32],
        "$mode: each process switches for itself, and a child begins as its parent was")
        or diag $run->{err};
}
SKIP: {
    skip 'perl without threads', 2 unless $Config::Config{useithreads};
    for my $mode (qw(trace tree)) {
        my $run = profiled(['-e', 'use threads; use threads::shared; my $stage : shared = 0; '
            . 'sub f { 1 } sub g { 1 } sub go { lock $stage; $stage++; cond_broadcast $stage } '
            . 'sub reached { lock $stage; cond_wait $stage while $stage < $_[0] } '
            . 'my $t = threads->create(sub { f() for 1 .. 5; go(); reached(2); 1 for 1 .. 99; f(); '
            . 'go(); reached(4); 1 for 1 .. 99; f() for 1 .. 7 }); '
            . 'reached(1); g(); kill USR2 => $$; 1 for 1 .. 9; g(); go(); reached(3); '
            . 'kill USR2 => $$; 1 for 1 .. 9; g(); go(); $t->join'],
            env => { counting(), %{ $mode{$mode} }, PERL_DPROF_TOGGLE => 'SIGUSR2' });
        my @calls = map { calls_in($_) } $run->{profile}, glob "$run->{dir}/tmon.out.*";
        my @got = map { $_->{f} // $_->{g} } @calls;
        is_deeply(\@got, [2, 12], "$mode: a signal switches all threads") or diag $run->{err};
    }
}
{
    my $run = profiled(['-e', 'print "ran"'],
        env => { PERL_DPROF_TOGGLE => 'USR1', PERL_DPROF_SIGNAL => 'SIGUSR1' });
    like("$run->{out}|$run->{err}", qr/^\|DProf: signal=SIGUSR1 and toggle=USR1 are one signal/,
        'one signal for two options stops perl before the program starts');
    # Signals come from outside, at any moment.
    my $storm = TestEnvironment::rounds(40, 400);
    my $file = spew(scratch() . '/storm.pl', 'sub f { $_[0] > 0 ? 1 + f($_[0] - 1) : 0 } '
        . 'sub g { eval { die { n => f(3) } }; my @x = sort { f(1); $a <=> $b } 3, 1, 2; '
        . 'scalar @x } '
        . 'my $p = fork; if (!$p) { for (1 .. ' . $storm
        . ') { kill USR2 => getppid; select undef, undef, undef, 0.0005 } require POSIX; '
        . 'POSIX::_exit(0) } my $n = 0; until (waitpid($p, 1) > 0) { $n += g() } print $n % 3');
    for my $mode (TestEnvironment::sample(2, sort keys %mode)) {
        my $run = profiled([$file], env => { %{ $mode{$mode} }, PERL_DPROF_TOGGLE => 'USR2' });
        is("$run->{out}|$run->{err}|$run->{raw}", '0||0',
            "$mode: $storm signals at any moment do no harm");
        is(join("\n", StrictProfile::problems($run->{profile})), '',
            "$mode: the profile of a storm of signals is well formed");
    }
}

done_testing;
