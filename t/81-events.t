# Counters of events, recorded for real: the kernel's software events, and perl's own.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use Config;
use DProfTest;
use FuzzProgram;
use NaiveProfile;
use StrictProfile;

my %pinned = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);

# A program with events, recorded; its profile is well formed. Returns the run.
sub recorded {
    my ($program, $events, %env) = @_;
    my $file = $program =~ /\.pl\z/ ? $program : spew(scratch() . '/program.pl', $program);
    my $cut = delete $env{cut};
    my $run = profiled([$file], env => { %pinned, PERL_DPROF_EVENTS => $events, %env });
    diag $run->{err} if $run->{raw} && !$cut;
    my @wrong = $cut || $env{PERL_DPROF_COMPRESS} ? () : map { StrictProfile::problems($_) } glob "$run->{dir}/tmon.out*";
    is(join("\n", @wrong), '', "$events: well formed") if @wrong;
    return $run;
}

# "a;b" => { counter => value } of a file, by sub or path.
sub counts { my ($run, $file) = @_; return NaiveProfile->new(slurp($file // $run->{profile}))->{counts} }

# The sum of a counter over all paths that end with a sub.
sub of {
    my ($counts, $sub, $counter) = @_;
    my $sum = 0;
    for (keys %$counts) { $sum += $counts->{$_}{$counter} if /(?:^|;)\Q$sub\E\z/ }
    return $sum;
}
sub total { my ($counts, $counter) = @_; my $sum = 0; $sum += $_->{$counter} // 0 for values %$counts; return $sum }

sub near {
    my ($got, $least, $most, $what) = @_;
    my $ok = ok(defined $got && $got >= $least && $got <= $most, $what);
    diag "got $got, wanted $least to $most" if !$ok;
    return $ok;
}

my $perf = do {
    my $run = recorded('1', '?page-faults');
    slurp($run->{profile}) =~ /dprof_counters='page-faults/;
};
my $bytes = slurp(recorded('1', '?bytes')->{profile}) =~ /dprof_counters='bytes/;

# ---- ops ----

{
    my $program = 'sub g { my $s = 0; $s += $_ for 1 .. 100; $s } sub f { g() for 1 .. $_[0]; 1 } f($_) for 1 .. 4; sub h { goto &g } h(); eval { die_in() }; sub die_in { g(); die }';
    my %seen;
    for my $n (1 .. 20) {
        my $counts = counts(recorded($program, 'ops', $n % 2 ? () : (PERL_DPROF_MODE => 'tree')));
        $seen{ join ' ', map { of($counts, "main::$_", 'ops') } qw(f g h die_in) }++;
    }
    is(scalar keys %seen, 1, 'ops are the same in 20 runs, in traces and trees') or diag explain \%seen;
    my ($f, $g) = split ' ', (keys %seen)[0];
    near($g, 13 * 300, 13 * 600, 'a loop of 100 rounds, run 12 times') ;
}

# A trace has, for each call path, the ops and SVs of the tree: two ways through the code.
sub both_modes {
    my ($what, $program) = @_;
    my %env = (counting(), PERL_DPROF_LIMIT => 0);
    my ($trace, $tree) = map { recorded($program, 'ops+svs', %env, PERL_DPROF_MODE => $_)->{profile} } qw(trace tree);
    for my $counter (qw(ops svs svs-freed)) {
        my (%of, @wrong);
        for my $file ($trace, $tree) { /(.*) (\d+)$/ and $of{$1}{$file} = $2 for split /\n/, in_process('Dproffold', '-m', $counter, $file)->{out} }
        for my $path (sort keys %of) {
            my ($a, $b) = map { $of{$path}{$_} // 0 } $trace, $tree;
            push @wrong, "$path: $counter: $a in the trace, $b in the tree" if $a != $b;
        }
        is(join("\n", @wrong[0 .. ($#wrong < 4 ? $#wrong : 4)]), '', "$what: $counter of each call path");
        cmp_ok(scalar keys %of, '>', 20, "$what: of many");
    }
}
for my $seed (201 .. 203) {
    my $file = spew(scratch() . "/fuzz$seed.pl", FuzzProgram::program($seed, 3, scalar grep { / DEBUGGING / } Internals::V()));
    my $plain = plain([$file], limit => 30);
  SKIP: {
        skip "program $seed does not run", 7 if $plain->{raw} || $plain->{out} !~ /^checks /m;
        my $run = profiled([$file], env => { counting(), PERL_DPROF_EVENTS => 'ops+svs+?page-faults+?bytes' });
        is(same_as_plain($plain, $run), '', "random program $seed runs as ever");
        both_modes("random program $seed", $file);
    }
}

# ---- SVs and bytes ----

{
    my $program = 'my (@keep, $x); sub keep { push @keep, map { [] } 1 .. 1000; return } sub drop { @keep = (); return }'
        . ' sub pass { my @tmp = map { [] } 1 .. 1000; return } keep(); pass(); drop();';
    for my $mode (qw(trace tree)) {
        my $counts = counts(recorded($program, 'svs', PERL_DPROF_MODE => $mode));
        near(of($counts, 'main::keep', 'svs') - of($counts, 'main::keep', 'svs-freed'), 2000, 2100, "$mode: 1000 references to arrays that stay");
        near(of($counts, 'main::drop', 'svs-freed') - of($counts, 'main::drop', 'svs'), 2000, 2100, 'and go');
        near(of($counts, 'main::pass', 'svs') - of($counts, 'main::pass', 'svs-freed'), -5, 40, 'those that come and go within a call leave nothing');
    }
}
SKIP: {
    skip 'bytes are not counted here', 6 if !$bytes;
    my $program = 'my $x; sub keep { $x = "a" x 3_000_000; return } sub drop { undef $x; return } sub grow { $x .= "b" x 1_000_000 for 1 .. 5; return } keep(); grow(); drop();';
    for my $mode (qw(trace tree)) {
        my $counts = counts(recorded($program, 'bytes', PERL_DPROF_MODE => $mode));
        my ($keep, $grow, $drop) = map { of($counts, "main::$_", 'bytes') - of($counts, "main::$_", 'bytes-freed') } qw(keep grow drop);
        near($keep, 3_000_000, 6_100_000, "$mode: three million bytes are taken");
        near($keep + $grow, 8_000_000, 16_000_000, 'and five more by a sub that appends');
        near($keep + $grow + $drop, 0, 4_200_000, 'and given back, but for what perl keeps for the next time');
    }
}

# ---- the kernel's ----

SKIP: {
    skip 'this kernel counts no software events for us', 16 if !$perf;
    my $touch = 'sub touch { my $n = shift; my $x = "\0" x (4096 * $n); return } ';
    for my $mode (qw(trace tree)) {
        my $counts = counts(recorded("$touch touch(1000);", 'page-faults', PERL_DPROF_MODE => $mode));
        near(of($counts, 'main::touch', 'page-faults'), 990, 1100, "$mode: 1,000 fresh pages are 1,000 faults");
        near(total($counts, 'page-faults') - of($counts, 'main::touch', 'page-faults'), 0, 300, "$mode: and few are elsewhere");
    }
    for my $clock (qw(task-clock cpu-clock)) {
        my ($least) = sort { $a <=> $b } map { of(counts(recorded("$touch touch(1000);", "page-faults+$clock")), 'main::touch', 'page-faults') } 1 .. 3;
        near($least, 990, 1100, "beside $clock, too");
    }
    my $counts = counts(recorded('sub nap { select undef, undef, undef, 0.001 for 1 .. 20; return } sub none { 1 } nap(); none() for 1 .. 20;', 'context-switches+task-clock'));
    near(of($counts, 'main::nap', 'context-switches'), 15, 10000, 'who sleeps 20 times is switched away from');
    near(of($counts, 'main::nap', 'task-clock'), 0, 15_000_000, 'and uses less than 15 ms of the 20');
    cmp_ok(total($counts, 'task-clock'), '>', 0, 'the clock of the task runs');

    my $run = recorded("$touch touch(100); if (my \$pid = fork) { waitpid \$pid, 0; touch(200) } else { touch(900); exit }", 'page-faults');
    my ($child) = glob "$run->{dir}/tmon.out.*";
    near(of(counts($run), 'main::touch', 'page-faults'), 195, 500, 'a forked child is not counted with its parent');
    near(of(counts($run, $child), 'main::touch', 'page-faults'), 880, 1300, 'but in its own file');

  SKIP: {
        skip 'perl has no threads', 3 if !$Config{useithreads};
        my $run = recorded("use threads; $touch touch(50); threads->create(sub { touch(1000); 1 })->join; touch(60);", 'page-faults+ops+?bytes');
        my ($thread) = glob "$run->{dir}/tmon.out.*.1";
        near(of(counts($run), 'main::touch', 'page-faults'), 55, 400, 'nor is a thread with the one that made it');
        near(of(counts($run, $thread), 'main::touch', 'page-faults'), 990, 1400, 'it has its own');
        skip 'bytes are not counted here', 1 if !$bytes;
        near(of(counts($run), 'main::touch', 'bytes'), 60 * 4096, 400_000, 'bytes are counted on when a thread has ended');
    }

    # Numbers of descriptors, and what the program does to them.
    $run = recorded('use POSIX (); sub f { my $x = "\0" x 409600; 1 } f(); open my $fh, "<", $0; print fileno($fh), "\n"; POSIX::close($_) for 4 .. 1100;'
        . ' f() for 1 .. 3; print scalar(() = <$fh>), "\n";', 'page-faults+ops');
    is($run->{out}, "3\n1\n", 'descriptors are the program\'s: the first one, and what it reads');
    my $text = slurp($run->{profile});
    like($text, qr/\$dprof_events_lost=1;/, 'who closes all descriptors ends the counting, and the file says so');
    cmp_ok(of(counts($run), 'main::f', 'ops'), '>', 3 * 4, 'perl\'s own counters go on');

    # Less than root, and a kernel that keeps its own part to itself.
  SKIP: {
        my $level = slurp('/proc/sys/kernel/perf_event_paranoid') // '';
        skip 'needs root, and kernel.perf_event_paranoid of 2', 2 if $> || $level != 2 || !eval { require POSIX };
        my $dir = scratch();
        chmod 0777, $dir;
        chmod 0711, "$dir/..";         # where the tests put their directories; their owner alone sees what is there
        my $run = run_program([$^X, '-e', 'my $u = 65534; $( = $) = "$u $u"; $< = $> = $u; exec @ARGV', $^X, '-I' . tree(), '-d:DProf=events=page-faults', '-e', 'sub f { 1 } f()'], dir => $dir);
        skip 'others cannot read this directory', 2 if $run->{raw} && $run->{err} =~ /locate|Permission denied/;
        like(slurp("$dir/tmon.out") // $run->{err}, qr/dprof_counters='page-faults:u:faults'/, 'then the program\'s part is counted, as the name says');
        $run = run_program([$^X, '-e', 'my $u = 65534; $( = $) = "$u $u"; $< = $> = $u; exec @ARGV', $^X, '-I' . tree(), '-d:DProf=events=page-faults:k', '-e', '1'], dir => $dir);
        like($run->{err}, qr/^DProf: event 'page-faults:k': not permitted: kernel.perf_event_paranoid is 2.*\n/, 'and asked for the kernel\'s, it says why not');
    }
}

# ---- stretches, ends, limits ----

{
    my $loop = 'sub f { my $s = 0; $s += $_ for 1 .. 1000; 1 } ';
    my $one = of(counts(recorded("$loop f();", 'ops')), 'main::f', 'ops');
    for my $mode (qw(trace tree)) {
        my @mode = (PERL_DPROF_MODE => $mode);
        my $counts = counts(recorded("use Devel::DProf::Control; $loop f(); Devel::DProf::Control::stop(); f() for 1 .. 50; Devel::DProf::Control::start(); f();", 'ops', @mode));
        is(of($counts, 'main::f', 'ops'), 2 * $one, "$mode: what is not recorded is not counted");
        my $run = recorded("$loop f() for 1 .. 50; kill 9, \$\$;", 'ops+svs', @mode, cut => 1);
        my $fold = in_process('Dproffold', '-F', '-m', 'ops', $run->{profile});
        like($fold->{out}, qr/^main::f @{[ 50 * $one ]}$/m, "$mode: of a process that is killed, nothing is lost") or diag $fold->{err};
        $run = recorded("$loop f(); { no warnings; exec '/no/such/program' } f(); exec \$^X, '-e', '1';", 'ops', @mode);
        is(of(counts($run), 'main::f', 'ops'), 2 * $one, "$mode: an exec that fails, and one that does not");
    }
    my $counts = counts(recorded("$loop sub g { f(); f() } g() for 1 .. 500;", 'ops', PERL_DPROF_LIMIT => '2K', PERL_DPROF_BUFFER => 64));
    is(of($counts, 'main::f', 'ops'), 1000 * $one, 'a trace that goes on as a tree goes on counting');
    my $file = recorded("$loop f() for 1 .. 10;", 'ops', PERL_DPROF_COMPRESS => 6)->{profile};
    like(in_process('Dproffold', '-m', 'ops', $file)->{out}, qr/^main::f @{[ 10 * $one ]}$/m, 'a packed file');
    my $run = recorded("$loop f() for 1 .. 10;", 'ops', PERL_DPROF_LIMIT => 0);
    my ($column) = map { (split)[4] } grep { /^@/ } split /\n/, slurp($run->{profile});
    like($column, qr/^\d+\z/, 'the counter stands behind the times');
}

# ---- what it says of what cannot be ----

sub refusal { my ($events, %env) = @_; my $run = profiled(['-e', 'print "ran"'], env => { PERL_DPROF_EVENTS => $events, %env }); return "$run->{status} $run->{out}$run->{err}" }

like(refusal('pagefaults'), qr/^\d+ DProf: event 'pagefaults': no such event.*page-faults/, 'a name that is near another');
like(refusal('ops+nonsense/foo=1/'), qr{^\d+ DProf: event 'nonsense/foo=1/': no such event or PMU}, 'no such PMU');
like(refusal(join '+', map { "software/config=2,name=n$_/" } 1 .. 17),
    $perf ? qr{^\d+ DProf: event 'software/config=2,name=n17/': a profile has room for 16 counters} : qr{DProf: event 'software/config=2,name=n1/': }, 'more than there is room for');
is(refusal(join '+', ($perf ? map { "software/config=2,name=n$_/" } 1 .. 14 : ()), 'ops', 'ops'), '0 ran', 'and what there is room for');
like(refusal("cpu/\e[31m=1/"), qr/^\d+ DProf: event 'cpu\/\\x1b\[31m=1\/': /, 'no bytes of the event change the terminal');
like(refusal('r' x 700), qr/^\d+ DProf: event 'r{60,70}\.\.\.': no such event/, 'a long name leaves room for the reason');
is(refusal('?nonsense+ops'), '0 ran', '? makes it optional');
like(slurp(recorded('1', '?nonsense+ops')->{profile}), qr/dprof_counters='ops:ops'.*\$dprof_events_missing='nonsense'/s, 'the file says what is missing');
my $run = run_program([$^X, '-I' . tree(), '-d:DProf=events=ops+svs,tree', '-e', '1']);
like(slurp("$run->{dir}/tmon.out"), qr/dprof_counters='ops:ops svs:SVs svs-freed:SVs'/, 'on the command line; ops are in a tree once');
$run = run_program([$^X, '-I' . tree(), '-d:DProf=events=cpu/event=0x3c,umask=0x1/,tree', '-e', '1']);
ok(($run->{err} =~ m{^DProf: event 'cpu/event=0x3c,umask=0x1/': } xor !$run->{raw}), 'commas between slashes separate no options') or diag $run->{err};
$run = run_program([$^X, '-I' . tree(), '-T', '-d:DProf', '-e', '1'], env => { PERL_DPROF_EVENTS => 'nonsense' });
is($run->{status}, 0, 'under -T the environment names no events');

done_testing;
