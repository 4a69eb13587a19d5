# dprofexport writes the calls of traces in Chrome's trace event format: sums, nesting, names and
# order, against models that share no code with it.
use strict;
use warnings;
use File::Glob ':bsd_glob';
use JSON::PP;
use Test::More;
use lib 't/lib';
use ChromeReader qw(read_chrome);
use DProfTest qw(scratch slurp spew run_tool run_program tool_command in_process profiled
                 read_profile data);
use Devel::DProf::Profile;
use MadeUp;
use NaiveProfile;

my $dir = scratch();
my $n = 0;
my $runs = $ENV{DPROF_RUNS} || TestEnvironment::rounds(40, 400);
srand($ENV{DPROF_SEED} // 11);

sub file { my ($text) = @_; return spew("$dir/" . ++$n . '.out', $text) }

# Exports, and reads the result. Returns the tracks, and what the tool said.
sub exported {
    my ($what, @args) = @_;
    my $run = in_process('dprofexport', '--format', 'chrome', @args);
    my $read = length $run->{out} ? read_chrome($run->{out}) : { tracks => {}, problems => [] };
    is($read->{problems}[0] // '', '', "$what: the file keeps the rules of the format");
    return ($read->{tracks}, $run);
}

# The same of one file, which has one track.
sub track_of {
    my ($what, @args) = @_;
    my ($tracks, $run) = exported($what, @args);
    is("$run->{status} $run->{err}", '0 ', "$what: dprofexport prints no message");
    is(scalar keys %$tracks, 1, "$what: the file has one track");
    return (values %$tracks)[0] // { subs => {} };
}

# name => [calls, self, inclusive] as a model has them, in ticks, in nanoseconds.
sub in_ns {
    my ($hz, $rows) = @_;
    return { map {
        my ($calls, @times) = @{ $rows->{$_} };
        $_ eq '(program)' ? () : ($_ => [$calls, map { $_ * 1e9 / $hz } @times])
    } keys %$rows };
}

# Rows in a common form. Rows without calls and times are left out, as dprofreport leaves them out.
sub rows_of {
    my ($track) = @_;
    return { map { ($_ => [@{ $track->{subs}{$_} }[0 .. 2]]) } keys %{ $track->{subs} } };
}

sub something {
    my ($rows) = @_;
    return { map { ($_ => $rows->{$_}) } grep { grep { $_ } @{ $rows->{$_} } } keys %$rows };
}

# What the analyzers have of a file.
sub profile_rows {
    my ($file, $time, $prepare, %how) = @_;
    my $profile = Devel::DProf::Profile->new;
    $prepare->($profile) if $prepare;
    $profile->add($file, Devel::DProf::Profile::FORCE);
    return in_ns($profile->hz, { map { ($_->[0] => [@$_[1 .. 3]]) }
        $profile->rows({ time => $time, rows => 1000, separate => 1, %how }) });
}

# ---- traces at random ----

# The text of a trace: recursion, goto, die, no time between marks, phases, stretches that are not
# recorded, frames of a parent, calls that do not end, the classic recorder's overhead.
sub random_trace {
    my ($hz) = @_;
    my @names = map { "main n$_ x.pm:$_" } 1 .. 1 + rand 9;
    my (@lines, @stack);
    my $classic = rand 4 < 1;       # which had overhead, and neither phases nor stops
    my $phases = $classic ? 0 : int rand 2;
    push @lines, '& f1 % BEGIN - kind=phase', '& f2 % main - kind=phase', '# phase f1' if $phases;
    my $inherited = int rand 3;
    my $wait = 1;
    my $deep = rand 3 < 1 ? 70 : 50;
    for (1 .. 5 + rand 200) {
        push @lines, sprintf '@ %d %d %d', rand 30, rand 3, rand 400
            if $wait <= 0 && rand 3 > 1;
        $wait--;
        if ($phases && rand 30 < 1) {
            push @lines, '# phase f' . (1 + int rand 2);
        } elsif (!$classic && rand 40 < 1) {
            my @running = @stack;
            push @lines, '# suspend ' . @running, map { "/ $_" } reverse @running;
            push @lines, '@ 1 1 9' if rand 2 < 1;
            push @lines, '# resume ' . @running, map { "+ $_" } @running;
        } elsif (!@stack || rand 100 < $deep || $inherited) {
            my $id = sprintf '%x', 1 + rand @names;
            push @lines, "+ $id";
            push @stack, $id;
            $inherited-- if $inherited;
        } elsif (rand 8 < 1) {
            my $id = sprintf '%x', 1 + rand @names;
            push @lines, "* $id";
            $stack[-1] = $id;
        } else {
            push @lines, (rand 6 < 1 ? '/ ' : '- ') . pop @stack;
        }
    }
    my $head = '$dprof_pid=' . (1 + int rand 9) . ";\n";
    $head .= '$dprof_inherited=' . (grep { 1 } grep { /^\+/ } @lines[0 .. 4]) . ";\n"
        if rand 4 < 1;
    $head .= "\$over_utime=40; \$over_stime=3; \$over_rtime=500; \$over_tests=7;\n" if $classic;
    push @lines, '@ 3 1 8' if rand 2 < 1;
    return profile_text(hz => $hz, header => $head, subs => \@names, lines => \@lines,
        times => rand 3 < 1 ? [10_000, 5_000, 90_000] : undef);
}

my $good = 1;
for my $round (1 .. $runs) {
    my $hz = (100, 1000, 10_000_000)[rand 3];
    my $text = random_trace($hz);
    my $file = file($text);
    my $what = "random trace $round";
    my $naive = NaiveProfile->new($text);
    for my $time (qw(real cpu)) {
        my ($tracks, $run) = exported("$what, $time", '-f', '-m', $time, $file);
        $good &&= is("$run->{status} $run->{err}", '0 ',
            "$what, $time: dprofexport prints no message");
        my ($track) = values %$tracks;
        $good &&= is_deeply(something(rows_of($track)), something(in_ns($hz, $naive->flat($time))),
            "$what, $time: calls, self and inclusive times are those of the model");
    }
    my $half = 3_000 / $hz;
    my ($tracks) = exported("$what, --time", '-f', '--time', '0,' . $half, $file);
    my $rows = profile_rows($file, Devel::DProf::Profile::REAL,
        sub { $_[0]->window([0, $half, 0]) }, separate => 0);
    my @both = (something(rows_of((values %$tracks)[0])), something($rows));
    if ($text =~ /over_/) {         # its share of a call that an edge cuts is nobody's to tell
        for my $side (@both) {
            $side = { map { $side->{$_}[0] ? ($_ => $side->{$_}[0]) : () } keys %$side };
        }
    }
    $good &&= is_deeply(@both, "$what: --time has what dprofreport has");
    ($tracks) = exported("$what, --main", '-f', '--main', $file);
    $rows = profile_rows($file, Devel::DProf::Profile::REAL, sub { $_[0]->only_main },
        separate => 0);
    # A goto before the main program may begin a call; dprofreport has the call before that one.
    $good &&= is_deeply(something(rows_of((values %$tracks)[0])), something($rows),
        "$what: --main has what dprofreport has") if $text !~ /^\*/m;
    if (!$good) {
        diag $text;
        last;
    }
}

# ---- recorded programs ----

subtest 'Each process of a program has a track' => sub {
    my $run = profiled(['-e', <<'END']);
package Foo; sub g { my $n = shift; return $n < 1 ? 0 : 1 + g($n - 1) }
package main; sub f { Foo::g(3); (sub { 1 })->(); eval { d() } } sub d { die "x" }
sub t { goto &f } sub child { f(); exit 0 }
sub parent { my $p = fork // die; $p ? waitpid $p, 0 : child() }
f() for 1 .. 3; t(); parent();
END
    my @files = ($run->{profile}, bsd_glob("$run->{profile}.*"));
    is(scalar @files, 2, 'the program leaves two profiles');
    my ($tracks, $told) = exported('processes', '--processes', $files[0]);
    is("$told->{status} $told->{err}", '0 ', 'dprofexport prints no message about two processes');
    my @reads = map { read_profile($_) } @files;
    my @starts = map { $_->{header}{dprof_start} } @reads;
    for my $k (0, 1) {
        my ($read, $header) = ($reads[$k], $reads[$k]{header});
        my $track = $tracks->{"$header->{dprof_pid}:$header->{dprof_pid}"};
        is("$track->{process}, $track->{thread}", '-e, main',
            "process $k: the track names the program and its thread");
        my $rows = rows_of($track);
        my %calls = map { ($_ => $rows->{$_}[0]) } grep { $rows->{$_}[0] } keys %$rows;
        my %want = map { s/::BEGIN\z/::BEGIN\@1/r => $read->{calls}{$_} } keys %{ $read->{calls} };
        my %bare = map { s/\[.*|\@\d+\z//r => $calls{$_} } keys %calls;
        is_deeply(\%bare, { map { s/\@1\z//r => $want{$_} } keys %want },
            "process $k: the track has the calls of the program");
        my @phases = map { $_->[0] } @{ $track->{phases} };
        is_deeply(\@phases, $read->{phases}, "process $k: the track has the phases of the profile");
        is_deeply(something($rows), something(profile_rows($files[$k],
            Devel::DProf::Profile::REAL)), "process $k: the times are those of dprofreport");
    }
    my $child = $tracks->{"$reads[1]{header}{dprof_pid}:$reads[1]{header}{dprof_pid}"};
    cmp_ok($child->{first}, '>=', int(1e9 * ($starts[1] - $starts[0])) - 1000,
        "the child's track begins at the fork");
    is($child->{subs}{'main::parent'}[3], 1, "the caller of fork goes on in the child's track");
    my ($piped) = read_chrome(run_program(['sh', '-c', 'cat "$0" | "$@"', $files[0],
        tool_command('dprofexport', '--format', 'chrome', '-')])->{out});
    my ($track) = values %{ $piped->{tracks} };
    is_deeply(rows_of($track), rows_of($tracks->{ (keys %{ $piped->{tracks} })[0] }),
        'a profile from a pipe gives the same track');
};

subtest 'A killed program and a trace at its limit are exported' => sub {
    my $run = profiled(['-e', 'sub f { 1 } sub g { f(); kill 9, $$ } f() for 1 .. 500; g()']);
    my ($tracks, $told) = exported('killed', $run->{profile});
    is($told->{status}, 0, 'the export of a killed program gives status 0');
    like($told->{err}, qr/^\S+: profile cut short: .*1 call had not ended|2 calls had not ended/,
        "a message says that the killed program's calls had not ended");
    my ($track) = values %$tracks;
    is("$track->{subs}{'main::f'}[0] $track->{subs}{'main::g'}[0]", '501 1',
        'the track of a killed program has all calls');
    $run = profiled(['-e', 'sub f { 1 } f() for 1 .. 20_000'],
        env => { PERL_DPROF_LIMIT => 60_000 });
    ($tracks, $told) = exported('limit', $run->{profile});
    is("$told->{status} $told->{err}", "0 $run->{profile}: profile cut short: the trace had "
        . 'reached its size limit; the rest is a tree, which has no order of calls (record '
        . "with a larger limit= to get more of it)\n",
            'a message says that the trace had reached its limit')
        or diag $told->{err};
    ($track) = values %$tracks;
    cmp_ok($track->{subs}{'main::f'}[0], '>', 100, 'the track of a trace at its limit has calls');
    cmp_ok($track->{subs}{'main::f'}[0], '<', 20_000,
        'the track of a trace at its limit lacks the other calls');
};

# ---- made-up files ----

# Deep recursion, which takes no time in its innermost frames.
my $deep = 50_000;
my $track = track_of('deep', '-f', file(profile_text(hz => 1000, subs => ['main f x.pm:1'],
    lines => [('@ 0 0 1', '+ 1') x 1, ('+ 1') x ($deep - 1), '@ 0 0 7', ('- 1') x $deep])));
is_deeply($track->{subs}, { 'main::f' => [$deep, 7e6, 7e6, 0] },
    'deep recursions that begin and end together keep their times');

# A caller and what it calls, of the same time: the caller is the outer one.
$track = track_of('same times', file(profile_text(hz => 1000,
    subs => ['main a x.pm:1', 'main b x.pm:2', 'main c x.pm:3'],
    lines => ['+ 1', '+ 2', '@ 0 0 3', '+ 3', '- 3', '- 2', '- 1', '+ 3', '@ 0 0 2', '- 3'])));
is_deeply($track->{subs}, { 'main::a' => [1, 0, 3e6, 0], 'main::b' => [1, 3e6, 3e6, 0],
    'main::c' => [2, 2e6, 2e6, 0] }, 'calls that begin and end together keep their times');

my $hurtful = profile_text(subs => ['main "\\<&> x.pm:1', 'main %0A%1B[31m x.pm:1',
    "main \xc3\xa4\xff x.pm:1", 'main __ANON__ a%20b.pm:7', "main \xe2\x80\xa8 x.pm:1"],
    header => "\$dprof_script='a\"\xffb';\n\$dprof_tid=3;\n\$dprof_pid=7;\n",
    lines => [map { ("+ $_", '@ 0 0 1', "- $_") } 1 .. 5]);
$track = track_of('hurtful', file($hurtful));
is_deeply([sort keys %{ $track->{subs} }], [sort 'main::"\\<&>', "main::\n\e[31m",
    "main::\x{e4}\\xff", 'main::__ANON__[a b.pm:7]', "main::\x{2028}"],
        'hostile names of subs are escaped');
is("$track->{process}, $track->{thread}", 'a"\\xffb, thread 3',
    'hostile names of the process are escaped');

# Ticks that are no whole nanoseconds: nothing drifts.
$track = track_of('thirds', file(profile_text(hz => 3_000_000_000, subs => ['main f x.pm:1'],
    lines => [('+ 1', '@ 0 0 1', '- 1') x 3_000])));
is_deeply($track->{subs}, { 'main::f' => [3000, 1000, 1000, 0] },
    'ticks of 1/3 ns become the right times');

# Huge times stop at what a number can hold.
my ($huge) = exported('huge', '-f', file(profile_text(hz => 1, subs => ['main f x.pm:1'],
    lines => ['+ 1', ('@ 0 0 4503599627370495') x 3, '- 1', '+ 1', '@ 0 0 5', '- 1'])));
ok(scalar keys %$huge, 'huge times can be exported');

# The processes of files lie beside each other; numbers that files share become different ones.
my @beside = map {
    my ($start, $pid) = @$_;
    file(profile_text(hz => 1000, subs => ['main f x.pm:1'], lines => ['+ 1', '@ 1 0 5', '- 1'],
        header => (defined $start ? "\$dprof_start=$start;\n" : '')
            . (defined $pid ? "\$dprof_pid=$pid; \$dprof_tid=0;\n" : '')))
} ['1700000002.5', 7], ['1700000001.25', 8], ['1700000002', 7], [undef, undef], [undef, undef];
my ($tracks) = exported('beside', @beside);
is_deeply({ map { ($_ => $tracks->{$_}{first}) } keys %$tracks },
    { '7:7' => 1.25e9, '8:8' => 0, '7:8' => 0.75e9, '1:1' => 0, '2:2' => 0 },
    'each file begins at its start, on a track of its own');
($tracks) = exported('beside, cpu', '-m', 'cpu', @beside);
is(join(' ', map { $_->{first} } values %$tracks), '0 0 0 0 0', 'CPU time begins at 0 everywhere');
($tracks) = exported('beside, --pid', '--pid', 8, @beside);
is(join(' ', keys %$tracks), '8:8', '--pid selects a track');

# Phases, and parts of the time.
my $phased = file(profile_text(hz => 1000, subs => ['main f x.pm:1', 'main g x.pm:1'],
    lines => ['& f1 % BEGIN - kind=phase', '& f2 % main - kind=phase', '# phase f1', '+ 1',
        '@ 0 0 4', '# phase f2', '@ 0 0 2', '+ 2', '@ 0 0 3', '- 2', '- 1', '# phase f1', '+ 2',
        '@ 0 0 1', '- 2'], times => [0, 0, 10]));
$track = track_of('phases', $phased);
is_deeply($track->{phases}, [['BEGIN', 0], ['main', 4e6], ['BEGIN', 9e6]],
    'the file has the phases');
$track = track_of('--phase', '--phase', 'main', $phased);
is_deeply([$track->{subs}, $track->{phases}],
    [{ 'main::f' => [0, 2e6, 5e6, 1], 'main::g' => [1, 3e6, 3e6, 0] }, [['main', 4e6]]],
        '--phase selects a phase');
$track = track_of('--time', '--time', '10%-20%,50%-80%', $phased);
is_deeply([$track->{subs}, $track->{first}, $track->{last}],
    [{ 'main::f' => [0, 2e6, 4e6, 2], 'main::g' => [1, 2e6, 2e6, 0] }, 1e6, 8e6],
        '--time selects slices')
    or diag explain $track;
$track = track_of('--skip', '--skip', '::f\z', $phased);
is_deeply($track->{subs}, { 'main::g' => [2, 4e6, 4e6, 0] }, '--skip removes a sub');
$track = track_of('--only', '--only', '::f\z', $phased);
is_deeply($track->{subs}, { 'main::f' => [1, 9e6, 9e6, 0] }, '--only keeps a sub');

# Nothing to show.
my $empty = file(profile_text(subs => [], lines => []));
($tracks, my $run) = exported('empty', $empty);
is("$run->{status} $run->{err}", "0 nothing is left: there are no calls\n",
    'an empty trace gives a message');
is(scalar keys %$tracks, 1, 'an empty trace has a track');

# ---- what is refused ----

my $tree = file(profile_text(format => 'tree', subs => ['main f x.pm:1'],
    lines => ['= 0 0 1 0 0 0 0 0 0', '= 1 1 1 0 0 5 5 5 0']));
my $folded = file("a;b 3\n");
my $garbled = file(profile_text(subs => ['main f x.pm:1'], lines => ['+ 1', '@ 0 0 2', '- 1',
    '- 1']));
my $why = 'which has no order of calls; record without `tree` and `sample` to get a trace';
for (
    ['a tree', [$tree], 1, "$tree: this is a tree, $why\n", ''],
    ['a tree beside a trace', [$phased, $tree], 1, "$tree: this is a tree, $why\n", ''],
    ['folded stacks', [$folded], 1, "$folded: these are folded stacks, which have no order of "
        . "calls; record without `tree` and `sample` to get a trace\n", ''],
    ['no file', ["$dir/none"], 1, "Unable to open $dir/none: No such file or directory; "
        . "dprof run -- perl PROGRAM records one\n", ''],
    ['calls', ['-m', 'calls', $phased], 2, qr/-m: chrome has one time/, ''],
    ['two metrics', ['-m', 'cpu,real', $phased], 2, qr/-m: chrome has one time/, ''],
    ['labels', ['--label', 'pid', $phased], 2, qr/--label pid: chrome has no labels/, ''],
    ['recursion', ['--fold-recursion', $phased], 2, qr/chrome has each call by itself/, ''],
    ['garbled', [$garbled], 1, qr/^Garbled profile, missing an enter time stamp/, undef],
) {
    my ($what, $args, $status, $err, $out) = @$_;
    $run = in_process('dprofexport', '--format', 'chrome', @$args);
    is($run->{status}, $status, "dprofexport gives status $status: $what");
    ref $err ? like($run->{err}, $err,
        "dprofexport says what is wrong: $what") : is($run->{err}, $err,
        "dprofexport prints the expected message: $what");
    is($run->{out}, $out, "dprofexport prints the expected output: $what") if defined $out;
    is_deeply(read_chrome($run->{out})->{problems}, [], "the partial output can be read: $what")
        if !defined $out;
}
my $out = spew("$dir/x.trace.json", 'before');
$run = in_process('dprofexport', '-o', $out, $tree);
is(slurp($out), 'before', 'what is refused replaces no file');
$run = in_process('dprofexport', '-o', $out, $phased);
is_deeply(read_chrome(slurp($out))->{problems}, [], 'the suffix chooses the format');
like(in_process('dprofexport', '--list')->{out}, qr/^chrome +\.trace\.json \.perfetto\.json$/m,
    '--list has the suffixes of chrome');

subtest 'dprofexport writes folded stacks' => sub {
    my $profile = 't/data/classic.out';
    my $folded = in_process('dproffold', '-m', 'calls', $profile)->{out};
    for my $how (['--format', 'folded'], ['--format=folded']) {
        my $run = in_process('dprofexport', @$how, '-m', 'calls', $profile);
        is($run->{out}, $folded, "dprofexport @$how writes what dproffold writes");
    }
};

done_testing;
