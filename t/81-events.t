# Counters of events are recorded for real: the kernel's software events, and perl's own.
use strict;
use warnings;
use File::Glob ':bsd_glob';
use Test::More;
use lib 't/lib';
use Config;
use DProfTest;
use FuzzProgram;
use NaiveProfile;
use StrictProfile;

my %pinned = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);

# Records a program with events; checks that its profile is well formed. Returns the run.
sub recorded {
    my ($program, $events, %env) = @_;
    my $file = $program =~ /\.pl\z/ ? $program : spew(scratch() . '/program.pl', $program);
    my $cut = delete $env{cut};
    my $run = profiled([$file], env => { %pinned, PERL_DPROF_EVENTS => $events, %env });
    diag $run->{err} if $run->{raw} && !$cut;
    my @wrong = $cut || $env{PERL_DPROF_COMPRESS} ? ()
        : map { StrictProfile::problems($_) } glob "$run->{dir}/tmon.out*";
    is(join("\n", @wrong), '', "the profile with $events is well formed") if @wrong;
    return $run;
}

# Returns "a;b" => { counter => value } of a file, by sub or path. Where the kernel hides its own
# part, `page-faults` is `page-faults:u`: pages that the program touches belong to the program.
sub counts {
    my ($run, $file) = @_;
    my $counts = NaiveProfile->new(slurp($file // $run->{profile}))->{counts};
    for my $of (values %$counts) {
        $of->{s/:u\z//r} = delete $of->{$_} for grep { /:u\z/ } keys %$of;
    }
    return $counts;
}

# Returns the sum of a counter over all paths that end in a sub.
sub of {
    my ($counts, $sub, $counter) = @_;
    my $sum = 0;
    for (keys %$counts) { $sum += $counts->{$_}{$counter} if /(?:^|;)\Q$sub\E\z/ }
    return $sum;
}
sub total {
    my ($counts, $counter) = @_;
    my $sum = 0;
    $sum += $_->{$counter} // 0 for values %$counts;
    return $sum;
}

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

# AddressSanitizer keeps memory of its own beside the program's, and causes page faults there.
my $asan = ($ENV{LD_PRELOAD} // '') =~ /libasan/;

# Another module may have replaced the run loop.
my $ops = slurp(recorded('1', '?ops')->{profile}) =~ /dprof_counters='ops/;

# ---- ops ----

subtest 'Each run counts the same ops, in traces and trees' => sub {
    plan skip_all => 'ops are not counted here' if !$ops;
    my $program =
        'sub g { my $s = 0; $s += $_ for 1 .. 100; $s } sub f { g() for 1 .. $_[0]; 1 } '
            . 'f($_) for 1 .. 4; sub h { goto &g } h(); eval { die_in() }; sub die_in { g(); die }';
    my %seen;
    for my $n (1 .. TestEnvironment::rounds(2, 20)) {
        my $counts = counts(recorded($program, 'ops', $n % 2 ? () : (PERL_DPROF_MODE => 'tree')));
        $seen{ join ' ', map { of($counts, "main::$_", 'ops') } qw(f g h die_in) }++;
    }
    is(scalar keys %seen, 1, 'each run counts the same ops, in traces and trees')
        or diag explain \%seen;
    my ($f, $g) = split ' ', (keys %seen)[0];
    near($g, 13 * 300, 13 * 600, 'main::g has the ops of a loop of 100 rounds, run 12 times');
};

subtest "perl -Dt counts ops as far as perl's run loop goes" => sub {
    plan skip_all => 'this perl has no assertions' if !grep { / DEBUGGING / } Internals::V();
    my @program = ('-e',
        'sub f { my $s = 0; $s += $_ for 1 .. $_[0]; $s } f(100); $^D = 8; f(2); $^D = 0; f(100); '
            . 'print "ran\n"');
    my $ran = plain([@program]);
    my $run = profiled([@program], env => { counting(), PERL_DPROF_EVENTS => 'ops',
        PERL_DPROF_MODE => 'tree' });
    is($run->{out}, $ran->{out}, 'a program that sets -Dt under assertions runs');
    like($run->{err}, qr/leavesub/, 'perl -Dt prints the ops');
    is(scalar(split /^/, $run->{err}), scalar(split /^/, $ran->{err}),
        'perl -Dt prints as many ops as without the profiler');
    near(of(counts($run), 'main::f', 'ops'), 300, 600,
        'the ops before and after perl -Dt are counted');
};

# For each call path, a trace has the ops and SVs of the tree: the recorder computes them in two
# ways.
sub both_modes {
    my ($what, $program) = @_;
    my %env = (counting(), PERL_DPROF_LIMIT => 0);
    my ($trace, $tree) = map { recorded($program, '?ops+svs', %env,
        PERL_DPROF_MODE => $_)->{profile} } qw(trace tree);
    for my $counter ($ops ? 'ops' : (), qw(svs svs-freed)) {
        my (%of, @wrong);
        for my $file ($trace, $tree) {
            /(.*) (\d+)$/ and $of{$1}{$file} = $2
                for split /\n/, in_process('dproffold', '-m', $counter, $file)->{out}
        }
        for my $path (sort keys %of) {
            my ($a, $b) = map { $of{$path}{$_} // 0 } $trace, $tree;
            push @wrong, "$path: $counter: $a in the trace, $b in the tree" if $a != $b;
        }
        is(join("\n", @wrong[0 .. ($#wrong < 4 ? $#wrong : 4)]), '',
            "$what: $counter of each call path is equal in both modes");
        cmp_ok(scalar keys %of, '>', 20, "$what: the profile has more than twenty paths");
    }
}
for my $seed (201 .. TestEnvironment::rounds(200, 203)) {
    subtest "Random program $seed: a trace and a tree count alike" => sub {
        my $file = spew(scratch() . "/fuzz$seed.pl",
            FuzzProgram::program($seed, 3, scalar grep { / DEBUGGING / } Internals::V()));
        my $plain = plain([$file], limit => 30);
        plan skip_all => "program $seed does not run"
            if $plain->{raw} || $plain->{out} !~ /^checks /m;
        my $run = profiled([$file],
            env => { counting(), PERL_DPROF_EVENTS => '?ops+svs+?page-faults+?bytes' });
        is(same_as_plain($plain, $run), '', "random program $seed runs as plain");
        both_modes("random program $seed", $file);
    };
}

# ---- SVs and bytes ----

subtest 'SVs count if they stay, and if they go' => sub {
    my $program =
        'my (@keep, $x); sub keep { push @keep, map { [] } 1 .. 1000; return } '
            . 'sub drop { @keep = (); return }'
        . ' sub pass { my @tmp = map { [] } 1 .. 1000; return } keep(); pass(); drop();';
    for my $mode (qw(trace tree)) {
        my $counts = counts(recorded($program, 'svs', PERL_DPROF_MODE => $mode));
        near(of($counts, 'main::keep', 'svs') - of($counts, 'main::keep', 'svs-freed'), 2000, 2100,
            "$mode: 1000 references to arrays are counted while they stay");
        near(of($counts, 'main::drop', 'svs-freed') - of($counts, 'main::drop', 'svs'), 2000,
            2100, "$mode: the references count as freed when they go");
        near(of($counts, 'main::pass', 'svs') - of($counts, 'main::pass', 'svs-freed'), -5, 40,
            'SVs that come and go within a call add up to nothing');
    }
};

subtest 'Bytes count if they are taken, appended or given back' => sub {
    plan skip_all => 'bytes are not counted here' if !$bytes;
    # perl 5.42 would make a constant of a number known at compile time, and share it.
    my $program =
        'my $x; sub keep { $x = "a" x $_[0]; return } sub drop { undef $x; return } '
            . 'sub grow { $x .= "b" x 1_000_000 for 1 .. 5; return } keep(3_000_000); grow(); '
            . 'drop();';
    for my $mode (qw(trace tree)) {
        my $counts = counts(recorded($program, 'bytes', PERL_DPROF_MODE => $mode));
        my ($keep, $grow, $drop) = map { of($counts, "main::$_", 'bytes') - of($counts, "main::$_",
            'bytes-freed') } qw(keep grow drop);
        near($keep, 3_000_000, 6_100_000, "$mode: three million bytes are allocated");
        near($keep + $grow, 8_000_000, 16_000_000,
            'a sub that appends allocates five million more');
        near($keep + $grow + $drop, 0, 4_200_000,
            'the bytes are freed, but for what perl keeps for the next time');
    }
};

subtest 'A child has what it did before its first event, and has it once' => sub {
    my $program =
        'sub f { 1 } f(); sub g { my $pid = fork; return waitpid $pid, 0 if $pid; my $s = 0; '
            . '$s += $_ for 1 .. 1000; my @a = map { [] } 1 .. 500; f(); exit } g();';
    for my $mode (qw(trace tree)) {
        my $run = recorded($program, '?ops+svs', PERL_DPROF_MODE => $mode);
        my ($child) = glob "$run->{dir}/tmon.out.*";
        my $counts = counts($run, $child);
        $ops and near(of($counts, 'main::g', 'ops'), 3000, 12000,
            "$mode: ops of a child before its first event count where it was forked");
        near(of($counts, 'main::g', 'svs'), 1000, 1100,
            "$mode: SVs of a child before its first event count where it was forked");
        near(total($counts, 'svs') - of($counts, 'main::g', 'svs'), 0, 500,
            "$mode: SVs of a child before its first event count once");
    }
};

subtest 'A thread has its own bytes, and none of the thread that made it' => sub {
    plan skip_all => 'no bytes of threads here' if !$bytes || !$Config{useithreads};
    my $program =
        'use threads; my @x; sub take { push @x, "a" x 5_000_000; 1 } take(); '
            . 'sub CLONE { my $c = 1; $c } sub work { my $y = "b" x 1_000_000; 1 } '
            . 'threads->create(sub { work(); 1 })->join;';
    for my $mode (qw(trace tree)) {
        my $run = recorded($program, 'bytes', PERL_DPROF_MODE => $mode);
        my ($thread) = glob "$run->{dir}/tmon.out.*.1";
        my $counts = counts($run, $thread);
        near(of($counts, 'main::work', 'bytes'), 1_000_000, 1_100_000,
            "$mode: bytes of a sub in a thread are counted");
        near(total($counts, 'bytes') - of($counts, 'main::work', 'bytes') + total($counts,
            'bytes-freed'), 0, 1_000_000, 'bytes of the parent thread do not count in the thread');
    }
};

subtest 'An allocator behind another one is not asked for sizes' => sub {
    plan skip_all => 'bytes are not counted here' if !$bytes;
    plan skip_all => 'AddressSanitizer wants to be the first' if $asan;
    my $cc = $Config{cc};
    my $dir = scratch();
    my $wrap = spew("$dir/wrap.c", <<'END');
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
/* 16 bytes before each block, as memory profilers add them; for perl's functions alone. */
static char early[65536];
static size_t used;

static void *real(size_t n)
{
    static void *(*f)(size_t);
    if (!f)
        f = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    return f(n);
}

void *malloc(size_t n)
{
    char *p = real(n + 16);
    return p ? p + 16 : p;
}

void *calloc(size_t n, size_t m)
{
    if (used + n * m < sizeof early && !used) {
        char *p = early + used + 16;
        used += n * m + 16;
        return p;
    }
    char *p = malloc(n * m);
    for (size_t i = 0; p && i < n * m; i++)
        p[i] = 0;
    return p;
}

void free(void *p)
{
    static void (*f)(void *);
    if (!f)
        f = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    if (p && ((char *)p < early || (char *)p >= early + sizeof early))
        f((char *)p - 16);
}

void *realloc(void *p, size_t n)
{
    static void *(*f)(void *, size_t);
    if (!f)
        f = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    if (!p)
        return malloc(n);
    char *q = f((char *)p - 16, n + 16);
    return q ? q + 16 : q;
}
END
    # LD_PRELOAD takes no name with blanks, so the library is named from its own folder.
    plan skip_all => 'no library to load before the allocator'
        if system("$cc -shared -fPIC -o '$dir/wrap.so' '$wrap' -ldl 2>/dev/null")
        or run_program([$^X, '-e', 'print 1'], dir => $dir,
            env => { LD_PRELOAD => './wrap.so' })->{out} ne '1';
    my $run = profiled(['-e', 'print "ran"'], dir => $dir,
        env => { PERL_DPROF_EVENTS => 'bytes', LD_PRELOAD => './wrap.so' });
    like($run->{err},
        qr/^DProf: event 'bytes': the allocator does not tell how large its blocks are$/m,
        'an allocator behind another one is not asked for sizes');
};

# ---- the kernel's events ----

my $no_perf = 'this kernel counts no software events for us';
my $touch = 'sub touch { my $n = shift; my $x = "\0" x (4096 * $n); return } ';

subtest 'Page faults are counted where pages are touched, beside a clock, too' => sub {
    plan skip_all => $no_perf if !$perf;
    for my $mode (qw(trace tree)) {
        my $counts = counts(recorded("$touch touch(1000);", 'page-faults',
            PERL_DPROF_MODE => $mode));
        near(of($counts, 'main::touch', 'page-faults'), 990, $asan ? 1300 : 1100,
            "$mode: 1,000 fresh pages are 1,000 faults");
        near(total($counts, 'page-faults') - of($counts, 'main::touch', 'page-faults'), 0, 300,
            "$mode: few page faults are elsewhere");
    }
    for my $clock (qw(task-clock cpu-clock)) {
        my ($least) = sort { $a <=> $b }
            map { of(counts(recorded("$touch touch(1000);", "page-faults+$clock")), 'main::touch',
                'page-faults') } 1 .. 3;
        near($least, 990, $asan ? 1300 : 1100, "page faults are counted beside $clock");
    }
};

subtest 'Switches and the clock of the task show waiting' => sub {
    plan skip_all => $no_perf if !$perf;
    my $counts =
        counts(recorded('sub nap { select undef, undef, undef, 0.001 for 1 .. 20; return } '
            . 'sub none { 1 } nap(); none() for 1 .. 20;', '?context-switches+task-clock'));
  SKIP: {
        skip 'switches are not counted for us', 1
            if !grep { exists $_->{'context-switches'} } values %$counts;
        near(of($counts, 'main::nap', 'context-switches'), 15, 10000,
            'sleeping 20 times causes context switches');
    }
    near(of($counts, 'main::nap', 'task-clock'), 0, 15_000_000,
        'a sleeping sub uses less than 15 ms of CPU in 20 ms');
    cmp_ok(total($counts, 'task-clock'), '>', 0, 'task-clock counts time');
};

subtest 'Each process and each thread has its own events' => sub {
    plan skip_all => $no_perf if !$perf;
    my $run =
        recorded("$touch touch(100); if (my \$pid = fork) { waitpid \$pid, 0; touch(200) } "
            . "else { touch(900); exit }", 'page-faults');
    my ($child) = glob "$run->{dir}/tmon.out.*";
    near(of(counts($run), 'main::touch', 'page-faults'), 195, 500,
        'page faults of a forked child do not count in its parent');
    near(of(counts($run, $child), 'main::touch', 'page-faults'), 880, 1300,
        'page faults of a forked child count in its own file');

  SKIP: {
        skip 'perl has no threads', 3 if !$Config{useithreads};
        my $run =
            recorded("use threads; $touch touch(50); "
                . "threads->create(sub { touch(1000); 1 })->join; touch(60);",
                'page-faults+?ops+?bytes');
        my ($thread) = glob "$run->{dir}/tmon.out.*.1";
        near(of(counts($run), 'main::touch', 'page-faults'), 55, 400,
            'page faults of a thread do not count in its parent');
        near(of(counts($run, $thread), 'main::touch', 'page-faults'), 990, 1400,
            'page faults of a thread count in its own file');
        skip 'bytes are not counted here', 1 if !$bytes;
        near(of(counts($run), 'main::touch', 'bytes'), 60 * 4096, 400_000,
            'bytes still count after a thread has ended');
    }
};

subtest 'A program that closes all descriptors ends the counting of the kernel\'s events' => sub {
    plan skip_all => $no_perf if !$perf;
    my $run = recorded('use POSIX (); sub f { my $x = "\0" x 409600; 1 } f(); '
        . 'open my $fh, "<", $0; print fileno($fh), "\n"; POSIX::close($_) for 4 .. 1100;'
        . ' our @keep; sub keep { push @keep, [] } keep() for 1 .. 9; '
        . 'print scalar(() = <$fh>), "\n";', 'page-faults+svs');
    is($run->{out}, "3\n1\n", 'the program gets descriptor 3, and reads its own file');
    my $text = slurp($run->{profile});
    like($text, qr/\$dprof_events_lost=1;/,
        'closing all descriptors ends the counting, and the file says so');
    near(of(counts($run), 'main::keep', 'svs'), 18, 40, 'perl\'s own counters continue');
};

subtest 'A descriptor that the program has made another file is neither read nor closed' => sub {
    plan skip_all => $no_perf if !$perf;
    plan skip_all => 'no /proc/self/fd' if !-e '/proc/self/fd';
    my $theirs = 'my ($ours) = grep { (readlink("/proc/self/fd/$_") // "") =~ /perf_event/ } '
        . '3 .. 1100; pipe my $r, my $w; syswrite $w, "x" x 2000; '
        . 'POSIX::dup2(fileno $r, $ours);'
        . ' f() for 1 .. 3; sysread $r, my $got, 3000; print length $got; '
        . 'if (my $pid = fork) { waitpid $pid, 0 } else { f(); '
        . 'print readlink("/proc/self/fd/$ours") =~ /pipe/ ? " theirs" : " gone"; exit }';
    my $run = recorded("use POSIX (); \$| = 1; sub f { 1 } f(); $theirs", 'page-faults');
    is($run->{out}, '2000 theirs', 'a file of the program in the place of a counter is neither '
        . 'read nor closed');
    like(slurp($run->{profile}), qr/\$dprof_events_lost=1;/,
        'the file says that counting ended with the descriptor');
};

subtest 'Where descriptors are too few, none of the kernel\'s events is counted' => sub {
    plan skip_all => $no_perf if !$perf;
    my $few = run_program(['sh', '-c', 'ulimit -n 8; exec "$@"', 'sh', $^X, '-I' . tree(),
        '-d:DProf=events=' . join('+',
            qw(page-faults page-faults:u cpu-clock minor-faults minor-faults:u major-faults
                task-clock)), '-e', 'print "ran"']);
    like("$few->{out} $few->{err}",
        qr/^ran\ DProf:\ \S+:\ Too\ many\ open\ files;\ the\ kernel's\ events\ are\ not\ counted\ in
            \ process\ \d+,\ thread\ 0$/mx,
        'a limit of descriptors gives a message');
};

subtest 'Where the kernel keeps its own part to itself, the program\'s is counted' => sub {
    plan skip_all => $no_perf if !$perf;
    # Root may count everything.
    my $level = slurp('/proc/sys/kernel/perf_event_paranoid') // '';
    plan skip_all => 'needs kernel.perf_event_paranoid of 2' if $level !~ /^2$/;
    my ($as, $perl) = without_privileges();
    plan skip_all => $perl if !$as;
    my $refused = sub {
        my ($events) = @_;
        my $dir = scratch();
        chmod 0777, $dir;
        return run_program([@$as, @$perl, '-e', 'sub f { 1 } f()'], dir => $dir,
            env => { PERL_DPROF_EVENTS => $events });
    };
    my $run = $refused->('page-faults');
    like(slurp("$run->{dir}/tmon.out") // $run->{err},
        qr/dprof_counters='page-faults:u:faults'/,
        'an unprivileged user counts the program\'s part, as the name says');
    like($refused->('context-switches')->{err},
        qr/^DProf:\ event\ 'context-switches':\ not\ permitted:\ .*\ there\ is\ no\ other;\ set
            \ it\ to\ 1\n/x, 'an event of the kernel alone is refused, not counted as 0');
    like($refused->('page-faults:k')->{err},
        qr/^DProf: event 'page-faults:k': not permitted: kernel.perf_event_paranoid is 2.*\n/,
        'an event that needs the kernel\'s part is refused with the reason');
};

# ---- intervals, ends, limits ----

my $loop = 'sub f { my $s = 0; $s += $_ for 1 .. 1000; 1 } ';
my $one = $ops && of(counts(recorded("$loop f();", 'ops')), 'main::f', 'ops');

for my $mode (qw(trace tree)) {
    subtest "$mode: no event is lost or counted twice where recording stops or ends" => sub {
        plan skip_all => 'ops are not counted here' if !$ops;
        my @mode = (PERL_DPROF_MODE => $mode);
        my $counts =
            counts(recorded("use Devel::DProf::Control; $loop f(); Devel::DProf::Control::stop(); "
                . "f() for 1 .. 50; Devel::DProf::Control::start(); f();", 'ops', @mode));
        is(of($counts, 'main::f', 'ops'), 2 * $one,
            "$mode: what runs while recording is stopped is not counted");
        my $run = recorded("$loop f() for 1 .. 50; kill 9, \$\$;", 'ops+svs', @mode, cut => 1);
        my $fold = in_process('dproffold', '-F', '-m', 'ops', $run->{profile});
        like($fold->{out}, qr/^main::f @{[ 50 * $one ]}$/m,
            "$mode: a killed process loses no ops") or diag $fold->{err};
        $run = recorded("$loop f(); { no warnings; exec '/no/such/program' } f(); "
            . "exec \$^X, '-e', '1';", 'ops', @mode);
        is(of(counts($run), 'main::f', 'ops'), 2 * $one,
            "$mode: ops are right after an exec that fails and one that succeeds");
    };
}

subtest 'Counters stand in every form of the file' => sub {
    plan skip_all => 'ops are not counted here' if !$ops;
    my $counts = counts(recorded("$loop sub g { f(); f() } g() for 1 .. 500;", 'ops',
        PERL_DPROF_LIMIT => '2K', PERL_DPROF_BUFFER => 64));
    is(of($counts, 'main::f', 'ops'), 1000 * $one,
        'a trace that goes on as a tree still counts');
    my $file = recorded("$loop f() for 1 .. 10;", 'ops', PERL_DPROF_COMPRESS => 6)->{profile};
    like(in_process('dproffold', '-m', 'ops', $file)->{out}, qr/^main::f @{[ 10 * $one ]}$/m,
        'a compressed trace has the counter');
    my $run = recorded("$loop f() for 1 .. 10;", 'ops', PERL_DPROF_LIMIT => 0);
    my ($column) = map { (split)[4] } grep { /^@/ } split /\n/, slurp($run->{profile});
    like($column, qr/^\d+\z/, 'the counter comes after the times');
};

# ---- refusals ----

sub refusal {
    my ($events, %env) = @_;
    my $run = profiled(['-e', 'print "ran"'], env => { PERL_DPROF_EVENTS => $events, %env });
    return "$run->{status} $run->{out}$run->{err}";
}

subtest 'An event that there is not is an error that names it' => sub {
    like(refusal('pagefaults'), qr/^\d+ DProf: event 'pagefaults': no such event.*page-faults/,
        'a misspelled event gives a message with a similar name');
    like(refusal('svs+nonsense/foo=1/'),
        qr{^\d+ DProf: event 'nonsense/foo=1/': no such event or PMU},
            'an unknown PMU gives a message');
    like(refusal('r' x 700), qr/^\d+ DProf: event 'r{60,70}\.\.\.': no such event/,
        'a long name leaves room for the reason');
};

subtest 'There is room for 16 counters of different names' => sub {
    plan skip_all => $no_perf if !$perf;
    plan skip_all => '/sys has no PMU called software'
        if !-e '/sys/bus/event_source/devices/software/type';
    my @many = map { "software/config=2,name=n$_/" } 1 .. 16;
    my $run = recorded('1', join '+', @many);
    like(slurp($run->{profile}), qr/dprof_counters='(?:n\d+(?::u)?:events ?){16}'/,
        'there is room for 16 counters');
    is(refusal(join ' ', @many, $many[0], '?page-faults', '?svs'), '0 ran',
        'repeated and optional events need no room');
    like(refusal(join ' ', @many, 'page-faults'),
        qr/^\d+\ DProf:\ event\ 'page-faults':\ a\ profile\ has\ room\ for\ 16\ counters,\ and\ this
            \ is\ one\ too\ many$/mx, 'one counter more than 16 is refused');
    like(refusal(join ' ', @many[0 .. 14], 'svs'), qr/event 'svs': a profile has room/,
        'svs need two counters');
    like(refusal('software/config=2,name=svs-freed/ svs'),
        qr{name=svs-freed/': profiles have something else of this name$}m,
        'an event may not have the name of perl\'s own counters');
    like(refusal('software/config=2,name=real/'),
        qr{name=real/': profiles have something else of this name$}m,
            'an event cannot have the name of a time');
    like(refusal('software/config=2,name=a/ software/config=5,name=a/'),
        qr{config=5,name=a/': another event in the list has this name$}m,
        'an event cannot have the name of another event');
};

subtest 'In a container it is the filter of system calls that forbids' => sub {
    plan skip_all => $no_perf if !$perf;
    my $cc = $Config{cc};
    my $dir = scratch();
    my $filter = spew("$dir/filter.c", <<'END');
#include <linux/seccomp.h>
#include <linux/filter.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
    };
    struct sock_fprog p = { 4, f };
    return argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, 2, &p)
        || execvp(argv[1], argv + 1);
}
END
    plan skip_all => 'no filter of system calls'
        if system "$cc -o '$dir/filter' '$filter' 2>/dev/null && '$dir/filter' true";
    my $run = run_program(["$dir/filter", $^X, '-I' . tree(), '-d:DProf=events=page-faults',
        '-e', '1']);
    like($run->{err}, qr/^DProf: event 'page-faults': not permitted, by a container's filter/,
        'a container\'s filter is named as the reason');
};

subtest 'An event with a ? is optional, and the file says what is missing' => sub {
    is(refusal('?nonsense+svs'), '0 ran', 'an unknown event with ? is no error');
    like(slurp(recorded('1', '?nonsense+svs')->{profile}),
        qr/dprof_counters='svs:SVs svs-freed:SVs'.*\$dprof_events_missing='nonsense'/s,
        'the file names the missing event');
};

subtest 'The command line names events, commas and all; under -T the environment does not' => sub {
    my $run = run_program([$^X, '-I' . tree(), '-d:DProf=events=?ops+svs,tree', '-e', '1']);
    like(slurp("$run->{dir}/tmon.out"), $ops ? qr/dprof_counters='ops:ops svs:SVs svs-freed:SVs'/
        : qr/svs:SVs svs-freed:SVs/,
            'the command line may name events with commas, and a tree has ops once');
    $run = run_program([$^X, '-I' . tree(), '-d:DProf=events=cpu/event=0x3c,umask=0x1/,tree',
        '-e', '1']);
    ok(($run->{err} =~ m{^DProf: event 'cpu/event=0x3c,umask=0x1/': } xor !$run->{raw}),
        'commas between slashes do not separate options') or diag $run->{err};
    $run = run_program([$^X, '-I' . tree(), '-T', '-d:DProf', '-e', '1'],
        env => { PERL_DPROF_EVENTS => 'nonsense' });
    is($run->{status}, 0, '-T ignores events in the environment');
};

done_testing;
