# Slices of a recording: merged, they are what one file would have been. That holds whatever the
# program does at a cut; nothing is lost where a slice cannot be written, and the spool keeps its
# limit.
use strict;
use warnings;
use Config;
use Fcntl 'LOCK_EX';
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use CoroProgram;
use FuzzProgram;
use RunReader;

# Enough for some dozens of slices of a second.
my $STEP = 'counting:300000';
my %SEED = (PERL_HASH_SEED => 0);

# Not every perl has lines.
my @LINES = (grep { $_->[0] eq 'lines' } MODES) ? ({ PERL_DPROF_LINES => 'time' }) : ();

sub slices { return bsd_glob("$_[0]/*.tree") }

# What a tree says of the program, by dprofmerge, which has one order for all.
sub tree_of {
    my ($dir, @files) = @_;
    my $merged = "$dir/merged";
    my $run = run_tool('dprofmerge', ['-o', $merged, @files], dir => $dir);
    return "no tree: $run->{err}" if $run->{status};
    my $text = slurp($merged) =~ s/\A.*?^PART3$//smr;
    return $text =~ s{/loader/0x\w+}{/loader}gr;
}

# Runs the program whole and in slices. Returns both trees, the outcomes, and the slices.
sub both {
    my ($file, $env, @args) = @_;
    my @run;
    for my $how ({ PERL_DPROF_MODE => 'tree', PERL_DPROF_OUT => 'plain.out' },
        { PERL_DPROF_SLICE => 1, PERL_DPROF_SPOOL => 'spool' }) {
        my $dir = scratch();
        push @run, profiled([$file, @args], dir => $dir, limit => 100,
            env => { %SEED, PERL_DPROF_CLOCK => $STEP, %$how, %$env });
    }
    my @slices = slices("$run[1]{dir}/spool");
    return { runs => \@run, slices => \@slices,
        whole => tree_of($run[0]{dir}, bsd_glob("$run[0]{dir}/plain.out*")),
        merged => tree_of($run[1]{dir}, @slices) };
}

sub same {
    my ($got, $name, $least) = @_;
    is($got->{runs}[1]{err}, $got->{runs}[0]{err},
        "$name: the program prints the same messages with slices");
    is($got->{runs}[1]{raw}, $got->{runs}[0]{raw}, "$name: the program ends with the same status");
    cmp_ok(scalar @{ $got->{slices} }, '>=', $least, "$name: the program leaves many slices");
    ok($got->{whole} eq $got->{merged}, "$name: the merged slices are the whole profile")
        or diag(($got->{merged} =~ /^no tree.*/) ? $got->{merged} : differing($got));
    is_deeply([grep { !/\.tree\z/ } bsd_glob("$got->{runs}[1]{dir}/spool/*")], [],
        "$name: the spool has nothing but slices");
}

sub differing {
    my ($got) = @_;
    my %in = map { $_ => 1 } split /\n/, $got->{whole};
    return join "\n", grep { defined } (grep { !$in{$_} } split /\n/, $got->{merged})[0 .. 3];
}

# ---- random programs ----

# Without defer blocks, whose code in perl itself reads freed memory.
for my $seed (1 .. TestEnvironment::rounds(2, 8)) {
    my $file = spew(scratch() . '/p.pl', FuzzProgram::program($seed, 3, 1));
    my $plain = plain([$file], limit => 30);
  SKIP: {
        skip "program $seed does not run: $plain->{err}", 5 if $plain->{raw};
        same(both($file, {}), "random program $seed", 5);
    }
}
for my $how (@LINES, (map { { PERL_DPROF_LINES => 'count' } } @LINES),
    { PERL_DPROF_CALLSITES => 1, PERL_DPROF_BUILTINS => 'slow', PERL_DPROF_COMPRESS => 1 }) {
    my $file = spew(scratch() . '/p.pl', FuzzProgram::program(4, 3, 1));
    my $plain = plain([$file], limit => 30);
  SKIP: {
        skip "program 4 does not run: $plain->{err}", 5 if $plain->{raw};
        same(both($file, $how), join(' ', map { "$_=$how->{$_}" } sort keys %$how), 5);
    }
}
# Here slices end while a loop, or an eval, goes back to its statement.
for my $seed (@LINES ? (201, 251) : ()) {
    my $file = spew(scratch() . '/p.pl', FuzzProgram::program($seed, 2, 1));
    same(both($file, { PERL_DPROF_LINES => 'time', PERL_DPROF_CLOCK => 'counting:1000000' }),
        "statements of random program $seed", 20);
}
SKIP: {
    skip 'there is no Coro', 5 if !eval { require Coro; 1 };
    # Each slice knows more anonymous subs of a line of this program than the slice before.
    my $file = spew(scratch() . '/p.pl', CoroProgram::program(25, 8));
    same(both($file, { map { %$_ } @LINES }), 'coroutines', 5);
}

# ---- what happens at a cut ----

my $control = spew(scratch() . '/p.pl', <<'END');
use Devel::DProf::Control;
sub a { b() for 1 .. 3 } sub b { c($_[0]) } sub c { my $i = 0; $i++ for 1 .. 30 }
sub replaced { goto &a } sub thrown { eval { a(); die "x\n" } }
sub no_exec { no warnings; exec '/no/such/program'; a() }
sub pause {
    Devel::DProf::Control::stop(); a() for 1 .. 20; Devel::DProf::Control::start(); a()
}
sub save { Devel::DProf::Control::save(); b() }
sub phase { Devel::DProf::Control::mark("p$_[0]"); a(); a() }
for my $i (1 .. 300) {
    a(); replaced(); thrown();
    no_exec() if $i % 7 == 0;
    pause() if $i % 11 == 0;
    phase($i % 3) if $i % 13 == 0;
    save() if $i % 17 == 0;
    next if $i % 60;
    if (!fork) { a() for 1 .. 50; no_exec(); exec $^X, '-e', 1 if $i == 120; exit 1 }
    wait;
}
$0 = 'something else'; chdir '/'; a() for 1 .. 100;
END
for my $how ({}, @LINES) {
    my $got = both($control, $how);
    same($got, 'stops, phases, saves, forks, execs' . join('', keys %$how), 50);
    next if %$how;
    my %of;
    for my $file (@{ $got->{slices} }) {
        my $text = slurp($file);
        my ($run) = $text =~ /\$dprof_run='([\w.]+)'/;
        my ($n) = $text =~ /\$dprof_slice=(\d+);/;
        my ($pid, $tid, $script) = map { $text =~ /\$dprof_$_='?([^';]+)/ } qw(pid tid script);
        is($file =~ s{.*/}{}r, "p-$run-$pid-$tid-$n.tree",
            'the name of a slice has program, run, process, thread and number')
            if $n <= 2;
        is($script, $control, "the header's script does not depend on \$0")
            if $n == 1 || $n == 90;
        like($text, qr/\$dprof_complete=1;/, 'each slice is whole') if $n <= 2;
        push @{ $of{"$run $pid"} }, $n;
    }
    is(scalar(keys %of), 6, 'each process has slices of its own');
    is_deeply([sort { $a <=> $b } @$_], [1 .. @$_], 'the slices of a process are numbered from 1')
        for values %of;
}
SKIP: {
    skip 'this perl has no threads', 5 if !$Config{useithreads};
    same(both(spew(scratch() . '/p.pl', <<'END'), {}), 'threads', 6);
use threads; sub f { g() for 1 .. 40 } sub g { 1 }
f() for 1 .. 100; threads->create(sub { f() for 1 .. 100 })->join for 1 .. 2; f();
END
}

# ---- what is left, and what cannot be written ----

my $calls = 'sub g { 1 } sub f { g() for 1 .. 10 } ';

sub totals_of {
    my (@files) = @_;
    my $run = run_tool('dprofpp', ['-qlO9', @files]);
    return { map { my @f = split; ($f[6] => $f[3]) } split /\n/, $run->{out} };
}

sub sliced {
    my ($program, $dir, %env) = @_;
    return profiled(['-e', $program], dir => $dir, env => { %SEED,
        PERL_DPROF_CLOCK => $STEP, PERL_DPROF_SLICE => 1, PERL_DPROF_SPOOL => "$dir/spool", %env });
}

{
    my $dir = scratch();
    my $run = sliced("$calls f() for 1 .. 500; kill 9, \$\$", $dir);
    my @left = bsd_glob("$dir/spool/*.part");
    is(scalar @left, 1, 'a killed process leaves the slice that it was in');
    ok(-e "$left[0].live", 'a killed process leaves the .live file of its slice');
    my $got = totals_of(slices("$dir/spool"), @left);
    is("$got->{'main::f'} $got->{'main::g'}", '500 5000', 'a killed process loses no call');
}
{
    my $dir = scratch();
    my $run = sliced("$calls f() for 1 .. 300; rename 'spool', 'taken'; f() for 1 .. 300; ",
        $dir);
    is($run->{err}, '', 'a spool that was removed is made again');
    my $got = totals_of(slices("$dir/spool"), slices("$dir/taken"));
    is("$got->{'main::f'} $got->{'main::g'}", '600 6000', 'no call is lost with the removed spool');
    my ($old) = bsd_glob("$dir/taken/*.part");
    is(-s $old, 0, 'what was moved away of the slice is empty');
    unlike(slurp("$old.live"), qr/\A[^\0]/, 'the .live file that was moved away has no beginning');
}
{
    my $run = sliced("$calls my \%seen; for (1 .. 300) { \$! = 5; f(); \$seen{\$! + 0}++ } "
        . 'print join " ", %seen;', scratch());
    is($run->{out}, '5 300', 'a cut does not touch errno');
}
# A directory has the name that the slice is to get.
my $taken = "$calls f() for 1 .. 300; my (\$to) = <spool/*.part>; mkdir \$to =~ s/part\$/tree/r; "
    . 'f() for 1 .. 300;';
for my $end ('', 'kill 9, $$', 'exec $^X, "-e1"') {
    my $dir = scratch();
    my $run = sliced("$taken $end", $dir);
    like($run->{err}, qr{\ADProf: cannot write \S+: Is a directory; the slice goes on\n\z},
        "one message names a slice that cannot get its name ($end)");
    my @left = bsd_glob("$dir/spool/*.part");
    my $got = totals_of((grep { -f } slices("$dir/spool")), @left);
    is("$got->{'main::f'} $got->{'main::g'}", '600 6000',
        "a slice that cannot get its name has all calls ($end)");
}
SKIP: {
    skip 'needs root', 2 if $> != 0;
    my $dir = scratch();
    mkdir "$dir/root";
    my $run = sliced("$calls f() for 1 .. 300; chroot 'root'; chdir '/'; f() for 1 .. 300;", $dir);
    like($run->{err}, qr{\ADProf: cannot .*; the slice goes on\n\z},
        'a program that calls chroot gets one line');
    my $got = totals_of(bsd_glob("$dir/spool/*.{tree,part}"));
    is("$got->{'main::f'} $got->{'main::g'}", '600 6000',
        'a program that calls chroot loses no call');
}
{
    my $dir = scratch();
    mkdir "$dir/spool";
    spew("$dir/spool/notes", 'x' x 5000);
    spew("$dir/spool/other.tree", 'x' x 5000);
    my $run = sliced("$calls f() for 1 .. 600", $dir, 'PERL_DPROF_SPOOL_LIMIT' => '40K');
    my @slices = grep { !/other/ } slices("$dir/spool");
    my @numbers = sort { $a <=> $b } map { /-(\d+)\.tree/ } @slices;
    cmp_ok($numbers[0], '>', 1, 'the oldest slices are removed beyond spool-limit');
    is($#numbers, $numbers[-1] - $numbers[0], 'the newest slices stay within spool-limit');
    my $size = 0;
    $size += 512 * (stat)[12] for bsd_glob("$dir/spool/*");
    cmp_ok($size, '<=', 40 * 1024, 'the slices do not exceed spool-limit');
    ok(-s "$dir/spool/notes" && -s "$dir/spool/other.tree",
        'files that are no slices stay beside spool-limit');
    is($run->{err}, "DProf: $dir/spool has reached spool-limit=40960 bytes; the oldest slices are "
        . "removed\n", 'one line says that slices were removed');
}
# A process that is killed in the middle of a cut leaves its file of pieces beside the slice that
# has its name already.
{
    my $dir = scratch();
    sliced("$calls f() for 1 .. 500; kill 9, \$\$", $dir);
    my ($part) = bsd_glob("$dir/spool/*.part");
    my $slice = $part =~ s/part\z/tree/r;
    rename $part, $slice;
    open my $lock, '<', $slice or die "$slice: $!";
    flock $lock, LOCK_EX;
    sliced('1', $dir);
    ok(-e "$part.live", 'a file that a cut has to remove stays while its process lives');
    close $lock;
    my $run = sliced("print -e '$part.live' ? 1 : 0; $calls f() for 1 .. 300; "
        . "print -e '$part.live' ? 1 : 0;", $dir);
    is($run->{out}, '10', 'a file that a cut has to remove goes with the next cut');
    ok(-e $slice, 'the next cut leaves the slice');
}
for (['out=x,spool=y', 'out= and spool= both say where profiles go; leave one out'],
    ['slice=x', 'slice=x is not a whole number from 0 to 2147483648'],
    ['spool', 'spool needs a value: spool=DIRECTORY']) {
    my ($options, $message) = @$_;
    my $run = run_perl(["-I" . DProfTest::tree(), "-d:DProf=$options", '-e', 'print "ran"']);
    is("$run->{out}$run->{err}", "DProf: $message\nBEGIN failed--compilation aborted.\n",
        "slice options $options stop perl at the start");
}
{
    my $dir = scratch();
    spew("$dir/file", '');
    my $run = run_perl(['-I' . DProfTest::tree(), '-d:DProf=spool=file', '-e', 1], dir => $dir);
    like($run->{err}, qr{\ADProf: \S+/file is no directory; name another one with spool=DIR },
        'a spool that is a file is an error');
    $run = run_perl(['-I' . DProfTest::tree(), '-d:DProf=slice=60', '-e', 1], dir => $dir);
    is(scalar(() = slices("$dir/tmon.spool")), 1, 'slices are in tmon.spool without spool=');
    $run = run_perl(['-I' . DProfTest::tree(), '-d:DProf=spool=s', '-e', 1], dir => $dir);
    is(scalar(() = slices("$dir/s")), 1, 'a spool without slice= has one slice at the end');
}

done_testing;
