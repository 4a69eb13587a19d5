# Somebody truncates tmon.out.live, which the recorder has mapped: a log rotation, an editor. The
# recording ends with one line on standard error, and the program goes on.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use Test::More;
use DProfTest;
use RunReader;

my $CUT_SHORT = -4;     # DP_E_TRUNCATED

# NAME, what is done after the 40th round, the number of processes whose recording ends.
my @cuts = (
    ['to nothing', 'truncate $live, 0', 1],
    ['to a half', 'truncate $live, (-s $live) / 2', 1],
    ['and filled again',
        'open my $f, "+<", $live or open $f, "+<", $0; local $/; my $all = <$f>; '
        . 'truncate $f, 0 if -e $live; round(3); seek $f, 0, 0; print $f $all; close $f', 1],
    ['by another process, over and over',
        'if (!fork) { for (1 .. 50) { truncate $live, 0; select undef, undef, undef, 1e-4 } '
        . 'POSIX::_exit(0) } round(300); wait', undef],
    ['in the parent of a child',
        'my $pid = fork; if (!$pid) { round(5); exit 3 } waitpid $pid, 0; '
        . 'print $? >> 8, "\n"; truncate $live, 0', 1],
    ['while a child runs',
        'pipe my $r, my $w; my $pid = fork; if (!$pid) { close $w; <$r>; round(5); exit 3 } '
        . 'truncate $live, 0; round(5); close $w; waitpid $pid, 0; print $? >> 8, "\n"', 1],
    ['of a child',
        'my $pid = fork; if (!$pid) { round(5); truncate "tmon.out.$$.live", 0; round(5); exit 3 } '
        . 'waitpid $pid, 0; print $? >> 8, "\n"', 1],
    ['and nothing more is called', 'truncate $live, 0; POSIX::_exit(5)', undef],
    ['just before the end', 'truncate $live, 0; exit 4', 1],
    ['before exec', 'truncate $live, 0; exec $^X, "-e", "print qq{there\n}"', 1],
    ['before an exec that fails',
        'truncate $live, 0; { no warnings; exec "/nowhere/at/all" } round(5)', 1],
    ['below a die', 'eval { truncate $live, 0; deep(50, sub { die "out\n" }) }; print $@', 1],
    ['in a comparator',
        'my @s = sort { truncate $live, 0; f(); $a <=> $b } 3, 1, 2; print "@s\n"', 1],
    ['when windows are full', 'truncate $live, 0; round(1000)', 1],
    $Config{useithreads}
        ? (['of a thread',
            'require threads; threads->create(sub { round(5); '
            . 'my ($mine) = glob "tmon.out.$$.*.live"; truncate $mine, 0 if $mine; '
            . 'round(5) })->join', undef]) : (),
);

my $program = <<'END';
use POSIX ();
my $n = 0; my $live = 'tmon.out.live'; $| = 1;
sub f { $n++ } sub round { for (1 .. $_[0]) { f() for 1 .. 10 } }
sub deep { my ($depth, $then) = @_; $depth ? deep($depth - 1, $then) : $then->() }
END { f(); print "end $n\n" }
round(40); # (cut)
%s;
round(40); deep(20, sub { f() }); print "n $n\n"; $? = 0; exit 7;
END

my $ended = qr/the recording of process \d+ has ended, the program goes on/;
my $said = qr/^DProf: \S+tmon\.out\S*\.live was cut off by another program; $ended\n/m;
my $n = 0;
for my $cut (TestEnvironment::sample(2, @cuts)) {
    my ($what, $code, $ended) = @$cut;
    my $file = spew(scratch() . '/p.pl', sprintf $program, $code);
    my $plain = plain([$file]);
    for (some_modes($n++, MODES, ['default clock', {}],
        ['default clock, a tree', { PERL_DPROF_MODE => 'tree' }])) {
        my ($mode, $env) = @$_;
        my $run = profiled([$file], env => $env);
        my $lines = () = $run->{err} =~ /$said/g;
        $run->{err} =~ s/$said//g;
        my @wrong = grep { length } same_as_plain($plain, $run);
        push @wrong, "$lines lines tell of it, not $ended" if defined $ended && $lines != $ended;
        push @wrong, "left: $_" for grep { /live/ && $what !~ /nothing more/ } run_files($run);
        my (undef, @outcomes) = calls_of_run($run->{profile});
        push @wrong, "read: $_->{message}"
            for grep { $_->{code} && $_->{code} != $CUT_SHORT } @outcomes;
        is(join("\n", @wrong), '', "$what, $mode: the program goes on after its file was cut")
            or diag explain [run_files($run), $run->{err}];
    }
}

subtest 'Samples beside a tree go on after the file was cut' => sub {
    plan skip_all => 'this perl has no lines' if !grep { $_->[0] eq 'lines' } MODES;
    for my $hz (1000, 5000, 20_000) {
        my $run = profiled(['-e', 'sub f { my $s = 0; $s += $_ for 1 .. 200; $s } f() for 1 .. 3; '
            . 'truncate "tmon.out.live", 0; f() for 1 .. 300; print "on\n"'],
            env => { PERL_DPROF_MODE => 'tree', PERL_DPROF_SAMPLE => $hz,
                PERL_DPROF_CLOCK => undef });
        is("$run->{raw} $run->{out}", "0 on\n", "the program goes on at $hz samples a second");
        like($run->{err}, qr/\A(?:$said)?\z/,
            "one message at most says that the file was cut at $hz samples a second");
    }
};

subtest 'SIGBUS keeps its meaning' => sub {
    my $run = profiled(['-e', 'kill BUS => $$; sleep 9']);
    is($run->{signal}, (grep { (split ' ', $Config{sig_name})[$_] eq 'BUS' } 0 .. 60)[0],
        'SIGBUS from elsewhere ends the process as without the recorder');
    $run = profiled(['-e', '$SIG{BUS} = sub { print "mine\n" }; kill BUS => $$; print "on\n"']);
    is($run->{out}, "mine\non\n", "the program's own handler of SIGBUS is called");
    $run = profiled(['-e',
        '$SIG{BUS} = "IGNORE"; exec $^X, "-e", q{kill BUS => $$; print "ignored\n"}']);
    is($run->{out}, "ignored\n", 'a SIGBUS that the program ignores stays ignored after exec');
};

SKIP: {
    skip 'perl without threads', 1 if !$Config{useithreads};
    my $run = profiled([ '-e', <<'END' ], env => { PERL_DPROF_EVENTS => '?page-faults' });
        use threads;
        my $n = 0;
        sub f { $n++ }
        sub open_files {
            opendir my $dir, '/proc/self/fd' or return 0;
            return scalar(() = readdir $dir);
        }
        f();
        my $before = open_files();
        for (1 .. 3) {
            threads->create(sub {
                f() for 1 .. 5;
                my ($mine) = glob "tmon.out.$$.*.live";
                truncate $mine, 0;
                f() for 1 .. 1000;
            })->join;
        }
        print open_files() - $before, "\n";
END
    is($run->{out}, "0\n", 'a thread whose recording has ended leaves no descriptor open')
        or diag $run->{err};
}

done_testing;
