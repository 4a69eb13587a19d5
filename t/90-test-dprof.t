# Test::DProf: small test files run under a child perl; their TAP and diagnostics are compared word
# by word; what the program could notice.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(built_perl root run_program scratch);
use Config;
use Fcntl ();
use File::Copy 'copy';
use File::Glob ':bsd_glob';
use Test::More;
use Devel::DProf::Constants qw(time_words);

my $root = root();
my $dir = scratch();
delete @ENV{grep {
    /^(?:PERL_HASH_SEED|PERL_PERTURB_KEYS|PERL_DPROF_|PERL5OPT|PERL5DB|DPROF_|HARNESS_|
        AUTHOR_TESTING)/x } keys %ENV};
$ENV{TMPDIR} = "$dir/tmp";
mkdir "$dir/$_" for qw(tmp lib bin t);

sub spew {
    my ($path, $text) = @_;
    open my $out, '>', "$dir/$path" or die "$path: $!";
    print $out $text;
    close $out;
    return;
}

copy('t/lib/My.pm', "$dir/lib/My.pm") or die "My.pm: $!";
spew('bin/tool', <<'END');
use strict; use My;
print My::run($ARGV[0] // 4), "\n";
my $in = <STDIN>;
print "in: ", $in // 'none', "\n";
if (my $pid = fork) { waitpid $pid, 0 } else { My::run(2); exit 0 }
warn "oops\n";
exit($ENV{ST} // 0);
END

# Runs perl; returns standard output, error output, status. Processes that it left have ended, too.
sub run {
    my ($how, @args) = @_;
    my %env = (%ENV, %{ $how->{env} || {} });
    local $^F = 100;
    pipe my $all, my $alive or die "pipe: $!";
    fcntl $all, Fcntl::F_SETFD(), Fcntl::FD_CLOEXEC() or die "fcntl: $!";
    my $run = run_program([$^X, @{ $how->{perl} || [] }, (built_perl())[1, 2], '-Ilib', @args],
        dir => $dir, env => \%env);
    close $alive;
    readline $all;
    return (@$run{qw(out err)}, $run->{signal} ? "signal $run->{raw}" : $run->{status});
}

my $begin = "use strict;\nuse warnings;\n";
my $modules = "use Test::DProf;\nuse Test::More;\nuse My;\n";

# Runs a test file; returns TAP, and diagnostics without what differs between runs.
sub test_file {
    my ($text, %how) = @_;
    my $head = $how{head} // "$begin$modules";
    my $name = 't/x.t';
    spew($name, "$head#line 1 \"$name\"\n$text\n" . ($how{open} ? '' : "done_testing;\n"));
    my ($out, $err, $status) = run(\%how, $name);
    return ($out, $err, $status);
}

sub is_tap {
    my ($name, $text, $tap, $diag, %how) = @_;
    subtest "Test::DProf gives the right TAP: $name" => sub {
        my ($out, $err) = test_file($text, %how);
        is($out, $tap, 'the TAP is as expected');
        # Other perls run other numbers of ops.
        $err =~ s/^#\s+\d+\s+\d+\s+(\d+)\s+(.*)/# N N $1 $2/mg;
        $err =~ s/\bis \d+, wanted/is N, wanted/g;
        is($err =~ s/^# Looks like you failed.*\n//mgr, $diag, 'the diagnostics are as expected');
    };
    return;
}

is_tap('A block is recorded, and queried', <<'END', <<'TAP', '');
my $r;
my $p = profile_ok { $r = My::run(5) } 'runs';
is $r, 30, 'it ran';
calls_ok $p, 'My::fetch', '==', 5;
calls_ok $p, 'My::fetch', '<=', 5, 'a name';
calls_ok $p, 'My::never', '==', 0;
cost_ok $p, 'My::parse', 'incl ops', '>', 5;
cost_ok $p, '(total)', 'ops', '<', 1000;
cost_ok $p, 'My::parse', 'incl', '<', 1000;
is_deeply [$p->subs], ['My::__ANON__[lib/My.pm:7]', 'My::fetch', 'My::parse', 'My::run'];
is_deeply [$p->counters], ['ops'];
is_deeply [$p->callers('My::fetch')], [['My::parse', 5]];
is $p->calls('My::__ANON__'), 1;
like $p->report('-O', 5), qr/My::run/;
ok -e $p->file;
TAP: for my $n (1 .. 3) {
    my $x = profile_ok { My::run($n) } "loop $n";
    is $x->calls('My::fetch'), $n;
}
is ref(scalar profile_ok { 1 } 'scalar'), 'Test::DProf::Profile';
END
ok 1 - runs
ok 2 - it ran
ok 3 - My::fetch: calls == 5
ok 4 - a name
ok 5 - My::never: calls == 0
ok 6 - My::parse: incl ops > 5
ok 7 - (total): ops < 1000
ok 8 - My::parse: incl < 1000
ok 9
ok 10
ok 11
ok 12
ok 13
ok 14
ok 15 - loop 1
ok 16
ok 17 - loop 2
ok 18
ok 19 - loop 3
ok 20
ok 21 - scalar
ok 22
1..22
TAP

my $times = join ', ', time_words();
is_tap('A failure says what was measured, and what is near',
    <<'END', <<'TAP', <<'DIAG' =~ s/TIMES/$times/r);
my $p = profile_ok { My::run(5); My::fetch(1) } 'runs';
calls_ok $p, 'My::fetch', '<=', 4;
calls_ok $p, 'My::fecth', '<=', 4;
calls_ok $p, 'Nobody::knows', '==', 0;
cost_ok $p, 'My::parse', 'ops', '<', 3;
cost_ok $p, 'My::parse', 'cycles', '<', 3;
my $q = profile_ok { My::run(3); die "Oh\nno" } 'dies';
calls_ok $q, 'My::fetch', '==', 3;
profile_ok { profile_ok { 1 } 'inner' } 'outer';
profile_ok { no warnings; last } 'last';
END
ok 1 - runs
not ok 2 - My::fetch: calls <= 4
not ok 3 - My::fecth: calls <= 4
not ok 4 - Nobody::knows: calls == 0
not ok 5 - My::parse: ops < 3
not ok 6 - My::parse: cycles < 3
not ok 7 - dies
ok 8 - My::fetch: calls == 3
not ok 9 - outer
not ok 10 - last
1..10
TAP
# Failed test 'My::fetch: calls <= 4'
# at t/x.t line 2.
# My::fetch was called 6 times, wanted <= 4
# called by:
#          5  My::parse
#          1  (program)
# Failed test 'My::fecth: calls <= 4'
# at t/x.t line 3.
# there is no sub My::fecth, neither in the profile nor in the process; perhaps
#   My::fetch
# Failed test 'Nobody::knows: calls == 0'
# at t/x.t line 4.
# there is no sub Nobody::knows, neither in the profile nor in the process
# Failed test 'My::parse: ops < 3'
# at t/x.t line 5.
# ops of My::parse is N, wanted < 3
# the most ops:
#           self     inclusive     calls  sub
# N N 1 My::parse
# N N 6 My::fetch
# N N 1 My::run
# N N 1 (program)
# N N 1 My::__ANON__[lib/My.pm:7]
# the hash seed is random, and ops differ from run to run: PERL_HASH_SEED=0
#   PERL_PERTURB_KEYS=0 in the environment, or `use Test::DProf -pinned', make
#   them repeat
# Failed test 'My::parse: cycles < 3'
# at t/x.t line 6.
# the profile has no cycles; it has self, incl, TIMES, ops
# Failed test 'dies'
# at t/x.t line 7.
# the block died: Oh
# no at t/x.t line 7.
# Failed test 'outer'
# at t/x.t line 9.
# the block died: profile_ok `inner' within profile_ok `outer': blocks cannot be
#   nested at t/x.t line 9.
# Failed test 'last'
# at t/x.t line 10.
# the block died: Can't "last" outside a loop block at t/x.t line 10.
DIAG

is_tap('Subtests and TODO are obeyed', <<'END', <<'TAP', <<'DIAG');
subtest inner => sub {
    my $p = profile_ok { My::run(2) } 'runs';
    calls_ok $p, 'My::run', '==', 1;
    done_testing;
};
TODO: {
    our $TODO = 'later';
    my $p = profile_ok { My::run(2) } 'runs';
    calls_ok $p, 'My::run', '==', 2;
}
END
# Subtest: inner
    ok 1 - runs
    ok 2 - My::run: calls == 1
    1..2
ok 1 - inner
ok 2 - runs # TODO later
not ok 3 - My::run: calls == 2 # TODO later
# Failed test 'My::run: calls == 2'
# at t/x.t line 9.
# My::run was called once, wanted == 2
# called by:
#          1  (program)
1..3
TAP
DIAG

is_tap('What was compiled too early is named',
    <<'END', <<'TAP', <<'DIAG', head => "${begin}use My;\nuse Test::DProf;\nuse Test::More;\n");
profile_ok { My::run(5) } 'early';
profile_ok { 1 } 'nothing of it is called';
END
not ok 1 - early
ok 2 - nothing of it is called
1..2
TAP
# Failed test 'early'
# at t/x.t line 1.
# compiled before Test::DProf was loaded, so that some of its calls may be
#   missing:
#   lib/My.pm (My::run, My::__ANON__[lib/My.pm:7], My::parse, ...)
# put `use Test::DProf;' above what loads My
DIAG

is_tap('Children belong to the block, and exit ends it', <<'END', <<'TAP', '');
my $p = profile_ok {
    for (1 .. 2) { my $pid = fork; if (!$pid) { My::run(7); exit 0 } waitpid $pid, 0 }
    My::run(1);
} 'forks';
calls_ok $p, 'My::fetch', '==', 15;
calls_ok $p, 'My::run', '==', 3;
my $main; BEGIN { $main = $$ }
END { if ($$ == $main) { is $?, 5; done_testing; $? = 0 } }
profile_ok { exit 5 } 'not reached';
END
ok 1 - forks
ok 2 - My::fetch: calls == 15
ok 3 - My::run: calls == 3
ok 4
1..4
TAP

is_tap('A child that lives on is recorded as far as it has come', <<'END', <<'TAP', '');
pipe my $in, my $out or die;
pipe my $begun, my $begins or die;
profile_ok {
    if (!fork) {
        close $out;
        My::run(1);
        close $begins;
        readline $in;
        My::run(3);
        exit 0;
    }
    close $begins;
    readline $begun;
} 'forks';
ok !Devel::DProf::_is_shown(), 'the hooks see no recorder outside of a block';
my $shown;
profile_ok { $shown = Devel::DProf::_is_shown() } 'but within';
ok $shown;
END
ok 1 - forks
ok 2 - the hooks see no recorder outside of a block
ok 3 - but within
ok 4
1..4
TAP

SKIP: {
    skip 'perl has no threads', 1 if !$Config{useithreads};
    is_tap('Threads belong to the block, and have blocks of their own',
        <<'END', <<'TAP', '', head => "${begin}use threads;\n$modules");
my $p = profile_ok { threads->create(sub { My::run(4) })->join; My::run(1) } 'thread';
calls_ok $p, 'My::fetch', '==', 5;
threads->create(sub {
    my $p = profile_ok { My::run(4) } 'in a thread';
    calls_ok $p, 'My::fetch', '==', 4;
})->join;
END
ok 1 - thread
ok 2 - My::fetch: calls == 5
ok 3 - in a thread
ok 4 - My::fetch: calls == 4
1..4
TAP
}

is_tap('Scripts are recorded in a child process', <<'END', <<'TAP', <<'DIAG');
my $p = profile_script_ok 'bin/tool', 6;
calls_ok $p, 'My::fetch', '==', 8;
calls_ok $p, 'My::fecth', '==', 1;
calls_ok $p, 'My::never', '==', 0;
is $p->stdout, "42\nin: none\n";
is $p->stderr, "oops\n";
my $q = profile_script_ok { stdin => "hello", env => { ST => 3 }, status => 3, name => 'status 3' },
    'bin/tool', 6;
is $q->stdout, "42\nin: hello\n";
is $q->status, 3 << 8;
is $p->cost('(total)', 'ops') <=> 10, 1;
profile_script_ok { env => { ST => 3 } }, 'bin/tool', 6;
profile_script_ok 'bin/nothing';
is $ENV{ST}, undef;
END
ok 1 - bin/tool 6
ok 2 - My::fetch: calls == 8
not ok 3 - My::fecth: calls == 1
ok 4 - My::never: calls == 0
ok 5
ok 6
ok 7 - status 3
ok 8
ok 9
ok 10
not ok 11 - bin/tool 6
not ok 12 - bin/nothing
ok 13
1..13
TAP
# Failed test 'My::fecth: calls == 1'
# at t/x.t line 3.
# My::fecth was called 0 times, wanted == 1
# the profile has no sub My::fecth; it has My::fetch
# Failed test 'bin/tool 6'
# at t/x.t line 12.
# bin/tool ended with status 3, wanted status 0
# its output:
#   42
#   in: none
# its error output:
#   oops
# Failed test 'bin/nothing'
# at t/x.t line 13.
# bin/nothing ended with status 2, wanted status 0
# its error output:
#   Can't open perl script "bin/nothing": No such file or directory
DIAG

subtest 'The program does not notice Test::DProf' => sub {
    my $looks = <<'END';
print "perldb $^P, name $0, ", join(',', map { fileno } do { open my $in, '<', $0; $in }), "\n";
print "env $_=$ENV{$_}\n" for grep { !/^(?:_|PWD|SHLVL)\z/ } sort keys %ENV;
print "sig $_\n" for grep { defined $SIG{$_} } sort keys %SIG;
srand 5; print int rand 1000, "\n";
$! = 2; $@ = 'e'; my @c; sub look { @c = caller 0; return } look(); print "$!|$@|@c[0..3]\n";
exit 7;
END
    spew('look.pl', $looks);
    my @plain = run({}, 'look.pl');
    my @with = run({}, '-MTest::DProf', 'look.pl');
    is_deeply(\@with, \@plain, 'a program does not notice Test::DProf');

    spew('in.pl',
        "use Test::DProf;\nuse Test::More;\nmy \$p;\nmy \@is;\n\$! = 2; "
            . "\$@ = 'e';\nprofile_ok { \@is = (\$^P, scalar caller(0)) } "
            . "'x';\nis \$is[0], 0;\nis \$@, 'e';\nopen my \$in, '<', \$0; "
            . "is fileno \$in, 3;\ndone_testing;\n");
    is((run({}, 'in.pl'))[0], "ok 1 - x\nok 2\nok 3\nok 4\n1..4\n",
        'a program does not notice that it is in a block');
    is_deeply([map { s{.*/}{}r } glob "$dir/tmp/*"], [], 'no temporary file is left after a block');
};

# ---- perls where it cannot record ----

my $simple =
    "my \$p = profile_ok { My::run(5) } 'runs';\ncalls_ok \$p, 'My::fetch', '==', 6;\ncost_ok \$p, "
        . "'My::run', 'ops', '<', 1;\nno_regression_ok \$p, baseline => 'none';\n";

subtest 'Tests are skipped under a debugger' => sub {
    my ($out, $err, $status) = test_file($simple, perl => ['-d'],
        env => { PERL5DB => 'sub DB::DB {}' });
    like($out,
        qr/^ok\ 1\ -\ runs\ \#\ skip\ a\ debugger\ or\ another\ profiler\ is\ running.*\n
            ok\ 2\ .*\#\ skip.*\nok\ 3\ .*\#\ skip.*\nok\ 4\ .*\#\ skip.*\n1\.\.4\n\z/x,
        'tests are skipped under a debugger');
    is($status, 0, 'a test that is skipped under a debugger passes');
};

subtest 'Tests are skipped under Devel::Cover' => sub {
    mkdir "$dir/cover";
    mkdir "$dir/cover/Devel";
    spew('cover/Devel/Cover.pm', "package Devel::Cover;\n1;\n");
    my ($out, $err, $status) = test_file($simple . "profile_script_ok 'bin/tool';\n",
        perl => ['-Icover', '-MDevel::Cover'],
        env => { PERL5OPT => '-MDevel::Cover', PERL5LIB => "$dir/cover" });
    like($out,
        qr/^ok\ 1\ -\ runs\ \#\ skip\ Devel::Cover\ is\ running.*\nok\ 2\ .*\#\ skip.*\n
            ok\ 3\ .*\#\ skip.*\nok\ 4\ .*\#\ skip.*\nok\ 5\ .*\#\ skip.*\n1\.\.5\n\z/x,
        'tests are skipped under Devel::Cover');
    is($status, 0, 'a test that is skipped under Devel::Cover passes');
};

subtest 'Tests are skipped where the object cannot be loaded' => sub {
    mkdir "$dir/broken";
    mkdir "$dir/broken/Devel";
    mkdir "$dir/broken/Devel/DProf";
    spew('broken/Devel/DProf/Core.pm', "package Devel::DProf::Core; die \"no object\\n\";\n");
    my ($out, $err, $status) = test_file($simple, perl => ['-Ibroken'],
        head => "use lib 'broken';\nuse Test::DProf;\nuse Test::More;\nuse My;\n");
    like($out, qr/^ok 1 - runs # skip Devel::DProf cannot be loaded by this perl: no object\nok 2 /,
        'tests are skipped without the compiled part');
    is($status, 0, 'a test that is skipped without the compiled part passes');
};

for my $mode ('tree', 'trace') {
    subtest "Under -d:DProf=$mode a block is a part of the whole" => sub {
        my ($out, $err, $status) =
            test_file("sub outer { my \$p = profile_ok { My::run(5) } 'runs'; My::run(2); \$p }\n"
                . "my \$p = outer();\nMy::run(9);\ncalls_ok \$p, 'My::fetch', '==', 5;\n"
                . "is_deeply [\$p->subs], "
                . "['My::__ANON__[lib/My.pm:7]', 'My::fetch', 'My::parse', 'My::run'];\n",
            perl => ["-I$root/blib/lib", "-I$root/blib/arch", "-d:DProf=$mode,out=$dir/whole.out"]);
        is($out, "ok 1 - runs\nok 2 - My::fetch: calls == 5\nok 3\n1..3\n",
            'a block works in a program that is profiled');
        is($err, '', 'a block in a profiled program prints no message');
        my ($table) = run({}, "$root/blib/script/dprofpp", '-q', '-g', 'My::fetch',
            "$dir/whole.out");
        like($table, qr/\b16\b/, "the whole profile has the block's calls");
    };
}

subtest 'Times are in seconds, and exact with the counting clock' => sub {
    my ($out, $err) =
        test_file("my \$p = profile_ok { My::run(1) } 'runs';\nprint '# ', "
            . "\$p->cost('(total)', 'real') > 0 ? 'time' : 'none', ' ', "
            . "\$p->cost('My::fetch', 'real') * 1e9, \"\\n\";\n",
            env => { PERL_DPROF_CLOCK => 'counting' });
    like($out, qr/^ok 1 - runs\n# time (?:\d+)\n1\.\.1\n\z/, 'times are in seconds');
};

subtest 'The hash seed is pinned where that can be done' => sub {
    my $text =
        "is \$ENV{PERL_HASH_SEED}, 0;\nmy \$p = profile_ok "
            . "{ My::run(3); my %h = map { \$_ => 1 } 'a' .. 'z'; join '', keys %h } "
            . "'x';\nprint '# ', \$p->cost('(total)', 'ops'), \" \@ARGV\\n\";\n";
    my $head = "use Test::DProf -pinned;\nuse Test::More;\nuse My;\n";
    my @runs = map { join '', (test_file($text, head => $head))[0, 1] } 1 .. 2;
    like($runs[0], qr/^ok 1\nok 2 - x\n# \d+ \n1\.\.2\n\z/, '-pinned starts the program again');
    is($runs[1], $runs[0], 'ops repeat from run to run with -pinned');
    my ($out, $err, $status) = test_file('ok 1;',
        head => "use Test::More;\nBEGIN { ok 1 }\nuse Test::DProf -pinned;\n");
    like($err, qr/must come before the first test and the plan/, '-pinned after a test is refused');
    ($out, $err, $status) = test_file('ok 1;', perl => ['-T'], head => $head);
    like($err, qr/not under -T/, '-pinned is refused under -T');
    ($out, $err, $status) =
        test_file("my \$p = profile_ok { My::run(5) } 'runs';\ncalls_ok \$p, 'My::fetch', '==', "
            . "5;\n", perl => ['-T'],
        head => "use lib 'lib';\nuse Test::DProf;\nuse Test::More;\nuse My;\n");
    is($out, "ok 1 - runs\nok 2 - My::fetch: calls == 5\n1..2\n", 'blocks are recorded under -T');
    ($out, $err, $status) =
        test_file("ok !eval { profile_script_ok 'bin/tool'; 1 };\nlike \$@, qr/^profile_script_ok: "
            . "not under -T/;\n", perl => ['-T'],
        head => "use strict;\nuse warnings;\nuse Test::DProf;\nuse Test::More;\n");
    is($out, "ok 1\nok 2\n1..2\n", 'scripts are not recorded under -T');
};

subtest 'Counters of events that the test asks for are in the profile' => sub {
    my ($out, $err) =
        test_file("my \$p = profile_ok { my \@x = map { [] } 1 .. 100 } "
            . "'x';\nis_deeply [\$p->counters], ['ops', 'svs', 'svs-freed'];\ncost_ok \$p, "
            . "'(program)', 'svs', '>=', 100;\n",
            head => "use Test::DProf events => 'svs';\nuse Test::More;\n");
    is($out, "ok 1 - x\nok 2\nok 3 - (program): svs >= 100\n1..3\n",
        'events => gives counters') or diag $err;
    ($out, $err) = test_file('',
        head => "use Test::DProf events => 'nonsense';\nuse Test::More;\n");
    like($err, qr/nonsense/, 'an unknown event gives a message');
};

subtest 'Test::DProf works with Test2::V0' => sub {
    plan skip_all => 'Test2::V0 is not installed' if !eval { require Test2::V0; 1 };
    my ($out) =
        test_file("my \$p = profile_ok { My::run(5) } 'runs';\ncalls_ok \$p, 'My::fetch', '==', "
            . "5;\n", head => "use Test::DProf;\nuse Test2::V0;\nuse My;\n");
    is($out =~ s/^# Seeded.*\n//mr, "ok 1 - runs\nok 2 - My::fetch: calls == 5\n1..2\n",
        'Test::DProf works beside Test2::V0');
};

my @misuses = (
    ['calls_ok 1, "x", "<", 2', 'the first argument must be a profile'],
    ['calls_ok $p, "x", "about", 2', "the limit is given as '<=', 12"],
    ['calls_ok $p, "x", "<", "2ms"', 'the limit must be a number'],
    ['no_regression_ok $p', 'baseline => FILE is missing'],
    ['no_regression_ok $p, baseline => "x", fial_if => 1', 'unknown option fial_if'],
    ['profile_script_ok', 'no script is given'],
    ['calls_ok $p, undef, "<", 2', 'the second argument must be the name of a sub'],
    ['cost_ok $p, "x", undef, "<", 2', 'no metric is given'],
    ['no_regression_ok $p, "x"', 'options are NAME => VALUE'],
    ['&profile_ok("x")', 'the first argument must be a block'],
    ['&profile_ok()', 'the first argument must be a block'],
);
subtest 'A wrong argument gives a message with the line of the test' => sub {
    for my $bad (@misuses) {
        my ($out, $err) = test_file("my \$p = profile_ok { 1 } 'x';\n$bad->[0];\n");
        like($err, qr/^\w+: \Q$bad->[1]\E.* at t\/x\.t line 2\.$/m,
            "a wrong argument gives the message: $bad->[0]");
        unlike($err, qr/uninitialized|Odd number/,
            "a wrong argument gives no warning of perl: $bad->[0]");
    }
};

is_deeply([map { s{.*/}{}r } glob "$dir/tmp/*"], [], 'no temporary file is left at the end');

done_testing;
