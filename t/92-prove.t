# prove -PDProf: a suite of small files, side by side, with children; the summary, baselines, wrong
# options.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(built_perl root run_program scratch slurp);
use Config;
use File::Path 'make_path';
use File::Glob ':bsd_glob';
use Test::More;

my $top = root();
my $dir = scratch();
my $temp = "$dir/tmp";
delete @ENV{
    grep { /^(?:PERL5OPT|PERL5LIB|PERL_(?:DPROF|HASH|PERTURB)|PROVE_|HARNESS_|TEST_|DPROF|CI\z)/ }
    keys %ENV };
$ENV{TMPDIR} = $temp;

# Writes a file of the suite.
sub spew {
    my ($name, $text) = @_;
    make_path("$dir/$name" =~ s{/[^/]*\z}{}r);
    return DProfTest::spew("$dir/$name", $text);
}

# Runs prove in the suite's folder. Returns its output, its error output, and its exit status.
sub prove {
    my (@args) = @_;
    my $code = '$ENV{PERL5OPT} = delete $ENV{SUITE_PERL5OPT} if $ENV{SUITE_PERL5OPT}; '
        . 'my $app = App::Prove->new; $app->process_args(@ARGV); exit($app->run ? 0 : 1)';
    my $run = run_program([built_perl(), '-MApp::Prove', '-e', $code, '--', '--norc', @args],
        dir => $dir, env => { %ENV }, limit => 600);
    return @$run{qw(out err status)};
}

sub below { my ($in) = @_; return sort map { -d $_ ? below($_) : $_ } glob "$in/*" }

make_path($temp);
spew('lib/Work.pm', <<'END');
package Work;
sub sum { my ($n) = @_; my $sum = 0; $sum += step($_) for 1 .. $n; return $sum }
# The sub is costly enough to be among the ten that the summary shows, whatever loading modules
# costs on this perl.
sub step { my $x = $_[0]; $x += $_ % 7 for 1 .. 300; return $x }
1;
END
# Makes a test with one assertion, printed by hand: that is quicker than Test::More.
sub tap {
    my ($code) = @_;
    return "use strict; use warnings; use lib 'lib'; use Work;\n$code\nprint \"1..1\\n\", \$ok ? "
        . "'ok 1' : 'not ok 1', \"\\n\";\n";
}
spew('t/plain.t', tap('my $ok = Work::sum(300);'));
spew('t/fork.t',
    tap('my $pid = fork // die; if (!$pid) { Work::sum(40); exit } '
        . 'waitpid $pid, 0; my $ok = !$?;'));
spew('t/system.t',
    tap('delete $ENV{PERL5LIB}; my $ok = !system $^X, "-Ilib", "-MWork", "-e", "Work::sum(70)";'));
spew('t/taint.t', "#!/usr/bin/perl -T\n" . tap('my $ok = ${^TAINT}; Work::sum(20);'));
spew('t/deep/shell.t', "#!/bin/sh\necho 1..1\necho ok 1\n");
my @own = qw(t/deep/shell.t t/fork.t t/plain.t t/system.t t/taint.t);

# Returns the numbers of the summary's rows by name.
sub rows {
    my ($text) = @_;
    return map { /^ +[\d.]+ +[\d.]+% +([\d,]+) +([\d,]+)  (\S.*)/
        ? ($3 => { ops => $1 =~ tr/,//dr, calls => $2 =~ tr/,//dr }) : () } split /\n/, $text;
}

subtest 'prove -PDProf prints a summary of all processes' => sub {
    # A sub may be among the ten costliest on one perl, and not on another.
    my ($out, $err, $status) = prove('-r', '-j2', '-PDProf=top=1000', 't');
    is($status, 0, 'prove -PDProf exits with 0') or diag $out, $err;
    is($err, '', 'prove -PDProf prints no message on the standard error');
    like($out, qr/^Result: PASS\n\nDProf: 4 test files in 6 processes, [\d.]+ s of CPU time/m,
        'the summary follows the result and counts test files and processes');
    my %row = rows($out);
    is($row{'Work::step'}{calls}, 300 + 40 + 70 + 20,
        'calls of a sub are added up over all files, forked children, and perls that tests start');
    cmp_ok($row{'t/plain.t'}{calls}, '>', 300, 'a file has the calls of its test');
    cmp_ok($row{'t/fork.t'}{calls}, '<', 300, 'a file has no calls of other tests');
    cmp_ok($row{'t/system.t'}{calls}, '>', 70,
        'the calls of a perl without the path of the module count');
    cmp_ok($row{'t/taint.t'}{calls}, '>', 20, 'the calls of a test under -T count');
    like($out, qr/^Not profiled: t\/deep\/shell\.t$/m, 'a test that is no Perl is named');
    is(scalar(grep { length > 80 } $out =~ /^Result.*?\n(.*)/ms ? split /\n/, $1 : ()), 0,
        'no line is longer than 80 characters');
    is_deeply([below($temp)], [], 'no temporary file is left');
    is_deeply([grep { !m{/(?:out|err|lib/.*|t/.*)\z} } below("$dir")], [],
        "no temporary file is left in the suite's folder");
};

subtest 'The options of -PDProf have their effect' => sub {
    TestEnvironment::skip_long();
    my ($out) = prove('-PDProf=top=1,out=kept,html=flame.html,events=svs', 't/plain.t',
        't/taint.t');
    my %row = rows($out);
    ok($row{'... and 1 more'}, 'top=1 cuts the list of files');
    like($out, qr/ calls,\s+[\d,]+ svs, [\d,]+ svs-freed$/m,
        'the counters of events= are in the first line');
    is_deeply([map { s{^\Q$dir/}{}r } below("$dir/kept")],
        [qw(kept/all.tmon kept/t/plain.t.tmon kept/t/taint.t.tmon)],
        'out= keeps a profile for each file, and one of all');
    like(slurp("$dir/kept/all.tmon"), qr/^& \w+ Work step /m, 'the profile of out= has the subs');
    like(slurp("$dir/flame.html"), qr/<html/, 'html= writes a page');
    spew('t/match.t', "print qq(1..1\\n), 'aab' =~ /^a+b/ ? qq(ok 1\\n) : qq(not ok 1\\n);\n");
    prove('-PDProf=out=kept,detail=regex', 't/match.t');
    like(slurp("$dir/kept/t/match.t.tmon"), qr/^& \w+ regex \^a\+b /m,
        'detail= records spans');
    unlink "$dir/t/match.t" or die;
    (my $quiet, my $err) = prove('-Q', '-PDProf', 't/plain.t');
    unlike("$quiet$err", qr/DProf|CPU s/, '-Q prints no summary');
    local $ENV{PROVE_DPROF_TOP} = 1;
    ($out) = prove('-PDProf', 't/plain.t', 't/taint.t');
    like($out, qr/\.\.\. and 1 more/, 'the environment can hold the options');
    local $ENV{SUITE_PERL5OPT} = '-MWork';
    spew('t/loaded.t', 'print "1..1\n", Work->can("sum") ? "ok 1\n" : "not ok 1\n";');
    ($out, $err, my $status) = prove('-l', '-PDProf', 't/loaded.t');
    is($status, 0, 'options in PERL5OPT stay') or diag $out, $err;
    like($out, qr/ t\/loaded\.t$/m, 'a test with options in PERL5OPT is profiled');
};

subtest 'Odd names of tests are escaped' => sub {
    TestEnvironment::skip_long();
    # prove takes a name with a newline for the output of a test.
    my @names = ("t/odd\e[31m.t", "t/odd\nnot ok 1.t");
    spew($names[0], tap('my $ok = Work::sum(3);'));
    my ($out, $err, $status) = prove('-PDProf', @names);
    is($status, 1, 'odd names of tests give exit status 1') or diag $out, $err;
    my ($summary) = $out =~ /^(DProf: .*)/ms;
    like($summary, qr/ t\/odd\\x1b\[31m\.t$/m, 'odd names are escaped in the table');
    like($summary, qr/^Not profiled: t\/odd\\x0anot ok 1\.t$/m,
        'odd names are escaped in the line of unprofiled tests');
    unlike($summary, qr/^not ok|\e/m,
        'odd names print no control character and no result of a test');
    ($out) = prove('-PDProf=baseline=odd', $names[0]);
    like($out, qr/^DProf: 1 baseline recorded in odd: t\/odd\\x1b/m,
        'odd names of baselines are escaped');
    unlink "$dir/$names[0]";
};

subtest 'Wrong options are refused' => sub {
    for (TestEnvironment::sample(3, ['tpo=1' => qr/unknown option `tpo'/],
        ['top=0' => qr/top=0: must be a number, 1 or more/],
        ['fail_if=calls > 0' => qr/fail_if needs a baseline/],
        ['baseline=b,fail_if=calls = 0' => qr/fail_if: /],
        ['baseline=t/plain.t' => qr/baseline=t\/plain\.t: not a folder/],
        ['events=nonsense' => qr/cannot run here: .*nonsense/],
        ['detail=xml' => qr/cannot run here: .*detail=xml: there is no such kind/],
        ['detail' => qr/detail needs kinds of spans/],
        ['counters_only' => qr/counters_only needs a baseline/])) {
        my ($option, $message) = @$_;
        my ($out, $err, $status) = prove("-PDProf=$option", 't/plain.t');
        like($err, qr/^DProf: .*$message/m, "$option is refused");
        is($out, '', "no test runs with $option");
        isnt($status, 0, "prove fails with $option");
    }
    local $ENV{SUITE_PERL5OPT} = '-d:Other';
    my ($out, $err, $status) = prove('-PDProf', 't/plain.t');
    like($err, qr/^DProf: PERL5OPT already has `-d:Other'/,
        'another -d in PERL5OPT gives a message');
};

my @gate = ('-r', '-j2',
    '-PDProf=baseline=base,counters_only,fail_if=/^Work::[a-z]{2,}$/ calls > 0, /Work/ ops > 1%',
    't');
my @baselines = map { "base/$_.tmon" } @own[1 .. 4];
my %was;

subtest 'Baselines are recorded once' => sub {
    unlink "$dir/t/loaded.t";
    my ($out, $err, $status) = prove(@gate);
    is($status, 0, 'a run without baselines passes') or diag $out, $err;
    like($out,
        qr/^DProf:\ 4\ baselines\ recorded\ in\ base:\ t\/fork\.t,\ t\/plain\.t,\ t\/system\.t,\ and
            \ 1\ more$/mx, 'a run without baselines says what it has recorded');
    is_deeply([map { s{^\Q$dir/}{}r } below("$dir/base")], \@baselines,
        'each test file has a baseline');
    %was = map { $_ => slurp("$dir/$_") } @baselines;
    ($out, $err, $status) = prove(@gate);
    is($status, 0, 'a second run passes') or diag $out, $err;
    unlike($out, qr/recorded/, 'a second run records nothing new');
    is_deeply({ map { $_ => slurp("$dir/$_") } @baselines }, \%was,
        'the baselines are unchanged');
};

subtest 'A regression makes prove fail' => sub {
    TestEnvironment::skip_long();
    spew('t/system.t',
        tap('delete $ENV{PERL5LIB}; my $ok = !system $^X, "-Ilib", "-MWork", "-e", '
            . '"Work::sum(71)";'));
    my ($out, $err, $status) = prove(@gate);
    is($status, 1, 'a test that costs more makes prove fail');
    like($out, qr/^Result: PASS$/m, 'all tests passed in the run that costs more');
    like($out,
        qr/^DProf: t\/system\.t: Work::step: \/\^Work::\[a-z\]\{2,\}\$\/ calls > 0: 70 -> 71$/m,
        'the finding names file, sub, rule, and both numbers');
    is_deeply([$out =~ /^DProf: (\S+\.t): /mg], [('t/system.t') x (() = $out =~ /^DProf: t\//mg)],
        'no finding names another file');
    like($out, qr/^DProf: FAIL: 1 test file costs more than the baseline allows/m,
        'the last line says that the suite failed');
    is_deeply({ map { $_ => slurp("$dir/$_") } @baselines }, \%was,
        'the baselines stay after a regression');
    ($out, $err, $status) = prove('-q', @gate);
    is($status, 1, 'prove -q fails after a regression');
    like($err, qr/^DProf: t\/system\.t: Work::step: /m,
        'prove -q prints the findings to the standard error');
    local $ENV{DPROF_UPDATE_BASELINES} = 1;
    ($out, $err, $status) = prove(@gate);
    is($status, 0, 'a run with DPROF_UPDATE_BASELINES=1 passes');
    like($out, qr/^DProf: 4 baselines rewritten in base$/m,
        'a run with DPROF_UPDATE_BASELINES=1 says what it has rewritten');
    isnt(slurp("$dir/base/t/system.t.tmon"), $was{'base/t/system.t.tmon'},
        'the baseline has changed');
    is(slurp("$dir/base/t/fork.t.tmon"), $was{'base/t/fork.t.tmon'},
        'the baselines of other files have not changed');
};

subtest 'A gate that checks nothing fails' => sub {
    TestEnvironment::skip_long();
    my @rules = ('call > 5%', '/^Mine::/ calls > 5%', 'calls > 0, opcodes > 1%');
    for my $rule (@rules) {
        my ($out, $err, $status) = prove(map { s/fail_if=.*/fail_if=$rule/r } @gate);
        my ($idle) = $rule =~ /([^ ,][^,]*)\z/;
        is($status, 1, "fail_if=$rule fails");
        like($out, qr/^DProf: FAIL: these rules check nothing: \Q$idle\E$/m,
            '... and says which rule it is');
    }
    unlink "$dir/base/t/fork.t.tmon" or die;
    my @keep = map { s/,fail_if/,keep,summary=sum.json,fail_if/r } @gate;
    {
        local $ENV{CI} = 'true';
        my ($out, $err, $status) = prove(@keep);
        is($status, 1, 'in CI, a missing baseline fails');
        like($out, qr/^DProf: FAIL: 1 test file has no baseline in base: t\/fork\.t; /m,
            '... and says which');
        ok(!-e "$dir/base/t/fork.t.tmon", '... and none is written');
        like(slurp("$dir/sum.json"), qr/1 test file has no baseline/, '... as the summary says');
    }
    my ($out, $err, $status) = prove(@keep);
    is($status, 0, 'elsewhere it is recorded');
    ok(-e "$dir/base/t/fork.t.tmon", '... and written');
};

subtest 'A baseline is the last good run' => sub {
    TestEnvironment::skip_long();
    my $base = slurp("$dir/base/t/system.t.tmon");
    spew('t/system.t', tap('my $ok = !system $^X, "-Ilib", "-MWork", "-e", "Work::sum(60)";'));
    spew('t/fail.t', tap('my $ok = 0; Work::sum(5);'));
    my ($out, $err, $status) = prove(@gate);
    is($status, 1, 'a test that fails makes prove fail');
    like($out, qr/^Result: FAIL$/m, 'the result of a suite with a failing test is FAIL');
    like($out, qr/^DProf: the suite failed: baselines stay as they are$/m,
        'a line says that the baselines stay after a failure');
    is(slurp("$dir/base/t/system.t.tmon"), $base, 'a failing suite writes no baseline');
    ok(!-e "$dir/base/t/fail.t.tmon", 'the failing test gets no baseline');
    unlink "$dir/t/fail.t";
    my $plain = slurp("$dir/t/plain.t");
    spew('t/plain.t', tap('my $ok = 0; Work::sum(900);'));
    ($out) = prove(@gate);
    unlike($out, qr/^DProf: t\/plain\.t: /m, 'a test that fails is not compared');
    spew('t/plain.t', $plain);
    ($out, $err, $status) = prove(map { s/,fail_if/,keep,fail_if/r } @gate);
    is($status, 0, 'costing less is no regression');
    is(slurp("$dir/base/t/system.t.tmon"), $base, 'keep leaves the baseline');
    prove(@gate);
    isnt(slurp("$dir/base/t/system.t.tmon"), $base,
        'without keep the baseline is that of the last good run');
};

subtest 'Baselines pin hash seeds' => sub {
    spew('t/seed.t', tap('my $ok = 1; print "# seed: ", $ENV{PERL_HASH_SEED} // "none", "\n";'));
    my ($out) = prove('-v', '-PDProf', 't/seed.t');
    like($out, qr/^# seed: none$/m, 'without a baseline tests have their own hash seeds');
    ($out) = prove('-v', '-PDProf=baseline=base', 't/seed.t');
    like($out, qr/^# seed: 0$/m, 'with a baseline the seeds are pinned');
};

subtest 'A damaged baseline fails' => sub {
    TestEnvironment::skip_long();
    spew('bad/t/seed.t.tmon', "nothing\n");
    my ($out, $err, $status) = prove('-PDProf=baseline=bad', 't/seed.t');
    is($status, 1, 'a damaged baseline makes prove fail');
    my $fail = 'FAIL: 1 baseline cannot be compared; DPROF_UPDATE_BASELINES=1 rewrites them';
    like($out, qr{^DProf: t/seed\.t: cannot be compared: .*Not a perl profile\nDProf: $fail$}m,
        'a damaged baseline is not reported as a higher cost');
    is(slurp("$dir/bad/t/seed.t.tmon"), "nothing\n", 'a damaged baseline stays as it is');
};

# Where the module's two parts are in different folders, as in blib, perl would load DynaLoader, and
# count it.
subtest 'The recorder leaves no trace of its own' => sub {
    require Devel::DProf::Tool::Record;
    make_path("$dir/record");
    my ($status, $files) = Devel::DProf::Tool::Record::record_into("$dir/record",
        [$^X, '-e', 'sub f { 1 } f()']);
    is("$status @{[scalar @$files]}", '0 1', 'Record runs a perl under the recorder');
    unlike(slurp($files->[0]), qr/DynaLoader|strict/,
        'Record loads no module into the perl that it runs');
    is(join(' ', glob "$dir/record/*"), $files->[0], 'Record leaves no file but the profile');

    # A perl of another version finds no object that it could load.
    my $module = Devel::DProf::Tool::Record::module_folder("$dir/module");
    rename "$module/$Config{version}", "$module/5.0.99" or die $!;
    local @ENV{qw(PERL5LIB PERL5OPT PERL_DPROF_OUT)} = ($module, '-d:DProf', "$dir/other");
    is(`$^X -e 'sub f { 1 } f(); print "ran, \$^P", exists \$ENV{PERL5DB} ? " debugged" : ""'`,
        'ran, 0', 'a perl of another version runs as without the recorder');
    ok(!-e "$dir/other", 'a perl of another version is not recorded');
};

# prove -j sets PERL5LIB for each test, and resets it when the test has ended.
subtest "Tests that run at the same time have the same @INC" => sub {
    spew("t/inc/$_.t", tap('my $ok = 1; print "# folders: $ENV{PERL5LIB}\n";')) for 1 .. 6;
    my ($out) = prove('-v', '-l', '-j4', '-PDProf=baseline=base', 't/inc');
    my %counts = map { $_ => 1 } $out =~ /^# folders: (.+)$/mg;
    is(scalar keys %counts, 1, 'each test has the same folders in PERL5LIB')
        or diag join ', ', sort keys %counts;
};

subtest "A suite's folder has all that a harness needs" => sub {
    TestEnvironment::skip_long();
    make_path("$dir/all");
    require Devel::DProf::Compare::Suite;
    for my $test ('t/fork.t', 't/system.t') {
        local $ENV{PERL5LIB} = "$top/blib/lib$Config{path_sep}$top/blib/arch";
        local @ENV{qw(PERL5OPT PERL_DPROF_OUT)} = ('-d:DProf=tree', "$dir/all/%p.out");
        open my $in, '-|', "cd '$dir' && $^X $test" or die;
        is(join('', <$in>), "1..1\nok 1\n", "$test runs with the suite's environment");
    }
    my @by = map { [shift @$_, scalar @$_] } Devel::DProf::Compare::Suite->new->by_test("$dir/all");
    is_deeply(\@by, [['t/fork.t', 2], ['t/system.t', 2]],
        'processes count for the test that has started them');
    open my $keep, '>&', \*STDOUT or die;
    open STDOUT, '>', "$dir/out" or die;
    my $status = Devel::DProf::Compare::Suite::main("$dir/all", 'top=1');
    open STDOUT, '>&', $keep or die;
    is($status, 0, 'the command for yath runs');
    like(slurp("$dir/out"), qr/^DProf: 2 test files in 4 processes,/m,
        'the command for yath prints the summary');
};

subtest 'A suite of many files is summed up' => sub {
    TestEnvironment::skip_long();
    my $many = TestEnvironment::rounds(15, 200);
    spew(sprintf('t/many/%03d.t', $_), "print qq{1..1\\nok 1\\n};") for 1 .. $many;
    my ($out, $err, $status) = prove('-j4', '-r', '-PDProf', 't/many');
    is($status, 0, 'a suite of many files exits with 0') or diag $out, $err;
    like($out, qr/^DProf: $many test files in $many processes,/m, 'all files are counted');
    like($out, qr/ \.\.\. and @{[$many - 10]} more$/m, 'the summary shows ten of many files');
};

done_testing;
