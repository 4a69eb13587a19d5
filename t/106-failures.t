# Recording fails at any event of a program, the last one included: another program cuts the mapped
# file, or memory runs out. In each way of recording, in the program itself, in a forked child and
# in a thread, the output and the exit status are as plain.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use Test::More;
use DProfTest;
use RunReader;

my $CUT_SHORT = -4;     # DP_E_TRUNCATED
my @TREE = (PERL_DPROF_MODE => 'tree');
my @ways = (
    [trace => { counting() }], [tree => { counting(@TREE) }],
    (grep { $_->[0] eq 'lines' } MODES),
    ['lines=count' => { counting(@TREE, PERL_DPROF_LINES => 'count') }],
    [samples => { PERL_DPROF_SAMPLE => 5000 }],
    ['samples of lines' => { @TREE, PERL_DPROF_SAMPLE => 5000 }],
    [slices => { counting(@TREE, PERL_DPROF_SLICE => 1) }],
    ['callers by line' => { counting(@TREE, PERL_DPROF_CALLSITES => 1) }],
    [counters => { counting(@TREE, PERL_DPROF_EVENTS => 'ops+?svs', PERL_DPROF_COMPRESS => 1) }],
    (grep { $_->[0] eq 'limit' } MODES),
    ['saved all the time' => { counting(@TREE, PERL_DPROF_CHECKPOINT => 1) }],
    ['default clock' => {}],
);
@ways = grep { $_->[0] !~ /lines/ } @ways if !grep { $_->[0] eq 'lines' } @ways;

# The program's events, one after the other.
my @events = (
    ['a call' => 'f()'],
    ['calls of a comparator' => 'my @s = sort { g($a); $a <=> $b } 3, 1, 2'],
    ['a die' => 'eval { dies() }; print $@'],
    ['a statement' => '$sum++; $sum += 2'],
    ['a goto' => 'goes(); f()'],
    ['a string eval' => 'eval "sub of_eval { f() } of_eval()"; print $@'],
    ['a phase' => 'mark("next")'],
    ['a stop' => 'stop()'],
    ['a start' => 'start()'],
    ['a stretch' => 'my $held = hold(1e-9)'],
    ['a settling' => 'settle($held)'],
    ['a stretch that is dropped' => '$held = hold(1e6); f(); settle($held)'],
    ['a save' => 'save()'],
    ['a destructor' => 'my $o = bless []; undef $o'],
    ['a callback of XS' => 'print first { f(); $_ > 1 } 1, 2, 3'],
    ['an exec that fails' => '{ no warnings; exec "/nowhere/at/all" }'],
    ['a command' => 'system $^X, "-e", "exit 3"; print $? >> 8'],
    ['a child' => 'my $pid = fork; if (!$pid) { f(); exit 5 } waitpid $pid, 0; print $? >> 8'],
    ['a child that does nothing' =>
        'my $empty = fork; POSIX::_exit(6) if !$empty; waitpid $empty, 0; print $? >> 8'],
    ($Config{useithreads}
        ? ['a thread' => 'threads->create(sub { f() })->join'] : ()),
);
# What a program ends with, where nothing follows.
my @ends = (
    [exit => 'exit 7'], [die => 'die "dead\n"'], [_exit => 'POSIX::_exit(7)'],
    ['a signal' => 'kill TERM => $$'], ['exec' => 'exec $^X, "-e", "exit 4"'],
    ['an END block' => 'END { f() }'], ['a global destructor' => 'our $last = bless []'],
    ['nothing' => ''],
);

my $BEGIN = ($Config{useithreads} ? 'use threads; ' : '') . <<'END';
use strict; use warnings; use POSIX (); use List::Util 'first'; use File::Glob ':bsd_glob';
use Devel::DProf::Control qw(start stop mark save hold settle);
$| = 1; my $sum = 0; my $x = 'x' x 100; { my @spare = map { $_ x 50 } 1 .. 40_000 }
sub f { return $sum += 3 } sub g { return f() } sub dies { f(); die "out\n" }
sub goes { goto &f } sub DESTROY { f(); return }
sub deep { my ($n) = @_; return $n ? deep($n - 1) : f() }
deep(20); f() for 1 .. 40;
END

# What lets recording fail. The file of another process is cut as well.
my %failure = (cut => 'truncate $_, 0 for glob "{.,tmon.spool}/*.live"');
my %setrlimit = (x86_64 => 160, aarch64 => 164, riscv64 => 164, ppc64 => 75, ppc64le => 75,
    s390x => 75);
my ($machine) = $Config{archname} =~ /^([^-]+)/;
my $no_limit = $^O ne 'linux' || !$setrlimit{$machine} || $Config{ivsize} < 8
    ? "the number of setrlimit on $Config{archname} is not known here" : undef;
$failure{memory} = $no_limit ? '' : <<"END";
{ open my \$in, '<', '/proc/self/statm'; my (\$pages) = split ' ', <\$in>; my \$most =
pack 'Q2', (\$pages * @{[POSIX::sysconf(POSIX::_SC_PAGESIZE())]} - 400_000) x 2;
syscall($setrlimit{$machine}, 9, \$most) == 0 or die }
END

# Puts the program's own part into the program, a child or a thread.
my %where = (
    'the program' => sub { "$BEGIN$_[0];" },
    'a child' => sub {
        "$BEGIN my \$forked = fork; if (!\$forked) { $_[0]; exit 9 } waitpid \$forked, 0; "
            . 'print "child $?\n"; f(); exit 7;';
    },
    ($Config{useithreads}
        ? ('a thread' => sub { "$BEGIN threads->create(sub { $_[0]; 1 })->join; f(); "
            . 'exit 7' }) : ()),
);

# A case is a name and a part: it fails before an event, and goes on, or that was the last one.
sub cases {
    my ($fails) = @_;
    my @cases;
    for my $n (0 .. $#events) {
        my @all = map { $_->[1] } @events;
        splice @all, $n, 0, "$fails; \$! = 5";
        push @cases, ["$events[$n][0], and all others", join(";\n", @all, 'print $sum; exit 7')],
            ["$events[$n][0] at the end", join ";\n", @all[0 .. $n + 1]];
    }
    push @cases, map { ["the end: $_->[0]", join ";\n", $fails, '$! = 5', $_->[1]] } @ends;
    return @cases;
}

my $said = qr/^DProf:\ (?:\S+\.live\ was\ cut\ off\ by\ another\ program;\ the\ recording\ of
    \ process\ \d+\ has\ ended,\ the\ program\ goes\ on
    |out\ of\ memory;\ process\ \d+\ is\ not\ profiled
    |[^\n]*Cannot\ allocate\ memory[^\n]*|[^\n]*;\ the\ slice\ goes\ on|out\ of\ memory;\ there\ is
    \ no\ tree\ in\ [^\n]+|[^\n]*a\ trace\ cannot\ drop\ what\ was\ fast[^\n]*)\n/mx;

# Returns what is wrong with a recorded run.
sub wrong {
    my ($plain, $run) = @_;
    my $err = $run->{err};
    $run->{err} =~ s/$said//g;
    # Perl says this, or it does not, depending on which thread is the first to end.
    s/^Perl exited with active threads:\n(?:\t.*\n)+//m for $plain->{err}, $run->{err};
    my @wrong = grep { length } same_as_plain($plain, $run);
    return "$wrong[0]\n$err" if @wrong;
    my (undef, @outcomes) = -e $run->{profile} ? calls_of_run($run->{profile}) : ();
    return map { "read: $_->{message}" } grep { $_->{code} && $_->{code} != $CUT_SHORT } @outcomes;
}

my $n = 0;
for my $failure (sort keys %failure) {
  SKIP: {
        skip $no_limit, 1 if $failure eq 'memory' && $no_limit;
        for my $where (sort keys %where) {
            my ($noted, @wrong) = (0);
            for my $case (TestEnvironment::sample(5, cases($failure{$failure}))) {
                my ($name, $part) = @$case;
                my $file = spew(scratch() . '/p.pl', $where{$where}->($part));
                my $plain = plain([$file], env => { PERL5LIB => tree() });
                # Perl itself may need more memory than there is.
                next if $failure eq 'memory'
                    && "$plain->{out}$plain->{err}" =~ /memory|abort|map segment/i;
                for my $way (some_modes($n++, @ways)) {
                    my $run = profiled([$file], env => $way->[1]);
                    $noted += $run->{err} =~ /$said/;
                    push @wrong, map { "$name, $way->[0]: $_" } wrong($plain, $run);
                }
            }
            is(join("\n", @wrong), '',
                "programs run as plain after the failure of $failure in $where");
            cmp_ok($noted, '>', 0, "the recording fails by $failure in $where ($noted times)");
        }
    }
}
done_testing;
