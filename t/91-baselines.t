# Baselines: the same bytes for the same code, wherever it is; messages where one is missing, or
# others are compared; what a failure shows.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(built_perl root run_program scratch slurp spew);
use File::Copy 'copy';
use File::Glob ':bsd_glob';
use Test::More;
use Devel::DProf::Compare::Baseline;
use Devel::DProf::Profile;

my $root = root();
my $dir = scratch();
delete @ENV{grep {
    /^(?:PERL_HASH_SEED|PERL_PERTURB_KEYS|PERL_DPROF_|PERL5OPT|PERL5DB|DPROF_|HARNESS_)/ }
        keys %ENV};
my %pinned = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);
$ENV{TMPDIR} = "$dir/tmp";
mkdir "$dir/$_" for qw(tmp one two);


for my $project ("$dir/one", "$dir/two") {
    mkdir "$project/$_" for qw(lib t);
    copy('t/lib/My.pm', "$project/lib/My.pm") or die "My.pm: $!";
    spew("$project/prog.pl",
        "use My;\nmy %h = map { \$_ => 1 } 'a' .. 'zz';\nMy::fetch(ord) for keys %h;\nmy \@a = "
            . "sort { \$b cmp \$a } keys %h;\nprint My::run(\$ARGV[0] || 5), \"\\n\";\n");
    spew("$project/t/perf.t", <<'END');
use Test::DProf;
use Test::More; use My; my %more = $ENV{RULES} ? (fail_if => $ENV{RULES}) : ();
my $n = $ENV{N} || 5; my $file = $ENV{FILE} || 't/perf/run.tmon';
my $p = profile_ok { My::run($n) } 'runs';
no_regression_ok $p, baseline => $file, %more, counters_only => !$ENV{TIMES};
done_testing;
END
}

# Runs perl in the folder of a project; returns standard output, error output, status.
sub run {
    my ($project, $env, @args) = @_;
    my $run = run_program([built_perl(), @args], dir => "$dir/$project", env => { %ENV, %$env });
    return @$run{qw(out err status)};
}

sub recorded {
    my ($project, $file, $env, @args) = @_;
    run($project, { %pinned, PERL_DPROF_OUT => "$dir/$file", %{ $env || {} } }, '-Ilib',
        '-d:DProf=tree', 'prog.pl', @args);
    return "$dir/$file";
}

# ---- the files ----

my $first = recorded('one', 'first');
my $again = recorded('one', 'again');
my $other = recorded('two', 'other');
Devel::DProf::Compare::Baseline::write("$dir/first.tmon", [$first],
    counters_only => 1, root => "$dir/one");
Devel::DProf::Compare::Baseline::write("$dir/again.tmon", [$again],
    counters_only => 1, root => "$dir/one");
Devel::DProf::Compare::Baseline::write("$dir/other.tmon", [$other],
    counters_only => 1, root => "$dir/two");
my $text = slurp("$dir/first.tmon");
is(slurp("$dir/again.tmon"), $text, 'with counters only, the same code gives the same bytes');
is(slurp("$dir/other.tmon"), $text, 'another folder gives the same bytes');
unlike($text, qr/\Q$dir\E|\Q$root\E/, 'a baseline has no paths of this machine');
unlike($text, qr/^\$dprof_(?:run|pid|ppid|tid|start|clock|own_cpu)|^h |\$XS_VERSION/m,
    'a baseline has nothing that differs from run to run');
like($text, qr/^& \w+ My fetch lib\/My\.pm:4$/m, 'paths are relative to the project');
like($text, qr/^& \w+ strict import strict\.pm:\d+$/m,
    'paths of other modules are relative to their folder');
like($text, qr/^\$dprof_perl='?5\./m, 'the version of perl is kept');
is_deeply([grep { /^=/ && !/^= \d+ \w+ \d+ 0 0 0 0 0 \d+$/ } split /\n/, $text], [],
    'a baseline with counters only has no times');
{
    my ($out, $err, $status) = run('one', {}, "$root/blib/script/dprofmerge",
        '--counters-only', $first);
    is("$out$err$status", "${text}0", 'dprofmerge --counters-only writes the same');
    # This is recorded in another way, with options that calls do not depend on.
    my $otherwise = slurp($first) =~ s/,start=\w+/,start=main/r =~ s/buffer=\d+/buffer=64/r;
    spew("$dir/otherwise", $otherwise);
    isnt($otherwise, slurp($first), 'profiles with other options differ');
    is(join("", run("one", {}, "$root/blib/script/dprofmerge", "--counters-only",
        "$dir/otherwise")), "${out}0", 'options of the recorder do not change the baseline');
    my $profile = Devel::DProf::Profile->new;
    $profile->add("$dir/first.tmon");
    is($profile->outcome(0)->{code}, 0, 'a baseline is a profile');
    ($out, $err, $status) = run('one', {}, "$root/blib/script/dprofdiff",
        "$dir/first.tmon", $first);
    like($err, qr/^cpu: not all sides have it$/m, 'dprofdiff says that a baseline has no times');
    is($status, 1, 'dprofdiff fails if a baseline has no times');
    ($out, $err, $status) = run('one', {}, "$root/blib/script/dprofdiff", '-m', 'ops', '--fail-if',
        'calls > 0, ops > 0, new, gone', "$dir/first.tmon", $first);
    is("$err$status", 0, 'a baseline does not differ from its own profile');
    ($out, $err, $status) = run('one', {}, "$root/blib/script/dprofdiff", '-m', 'ops', '--fail-if',
        'calls > 0, ops > 0, new, gone', "$dir/first.tmon", $other);
    is($status, 0, 'a baseline does not differ from that of another checkout') or diag $out;
}

sub without_times {
    return $_[0] =~ s/^(= \d+ \w+ \d+) \d+ \d+ \d+ \d+ \d+/$1/mgr =~ s/^h .*\n//mgr
        =~ s/^(# end .*?) user=.*/$1/mr
        =~ s/^\$(?:rrun_|dprof_(?:own|before|dropped)).*\n//mgr;
}
for (['again', $again, 'one'], ['other', $other, 'two'], ['first', $first, 'one']) {
    my ($name, $file, $project) = @$_;
    Devel::DProf::Compare::Baseline::write("$dir/$name.times", [$file], root => "$dir/$project");
}
$text = slurp("$dir/first.times");
is(without_times(slurp("$dir/$_.times")), without_times($text),
    "with times, $_ differs in times alone") for qw(again other);
like($text, qr/^h /m, 'a baseline with times has histograms');

subtest 'Several files add up to one baseline' => sub {
    # Several files add up; no file is left beside one that cannot be written.
    Devel::DProf::Compare::Baseline::write("$dir/two.tmon", [$first, $other], counters_only => 1,
        root => $dir);
    like(slurp("$dir/two.tmon"), qr/^\$dprof_merged=2;/m, 'two files make one baseline');
    for my $bad (["$dir/no/x.tmon", [$first],
        qr{^\Q$dir\E/no/x\.tmon could not be written: No such file}],
        ["$dir/x.tmon", ["$dir/nofile"], qr{^\Q$dir\E/nofile: No such file}],
        ["$dir/x.tmon", ["$root/MANIFEST"], qr{MANIFEST: }], ["$dir/x.tmon", [], qr/no files/]) {
        eval { Devel::DProf::Compare::Baseline::write($bad->[0], $bad->[1], counters_only => 1) };
        like($@, $bad->[2], "a wrong baseline is refused: $bad->[2]");
    }
    is_deeply([map { glob "$dir/$_" } qw(x.tmon* *.new)], [], 'refused baselines leave no file');
};

# ---- comparing ----

my $more = recorded('one', 'more', { MORE => 1 }, 7);
my %compare = (old => ["$dir/first.tmon"], root => "$dir/one");
{
    my $same = Devel::DProf::Compare::Baseline::compare(%compare, new => [$again],
        fail_if => 'calls > 0, ops > 0, new, gone');
    is_deeply([@$same{qw(failed undecided branch)}, $same->{findings}, $same->{messages}],
        [0, 0, '', [], []],
        'an unchanged program has no findings') or diag explain $same->{messages};
    like($same->{text}, qr/^total: \d+ ops\nno sub has changed\n\z/,
        'the text says that no sub has changed');

    my $result = Devel::DProf::Compare::Baseline::compare(%compare, new => [$more],
        fail_if => ['calls > 0', '/fetch/ ops > 2%', 'new']);
    my %found = map { ("$_->{rule}: $_->{sub}" => [@$_{qw(old new)}]) } @{ $result->{findings} };
    is($result->{failed}, scalar keys %found, 'the result counts the findings');
    is_deeply($found{'calls > 0: My::fetch'}, [707, 709], 'more calls of a sub are found');
    is_deeply($found{'new: My::extra'}, [undef, undef], 'a new sub is found');
    ok($found{'/fetch/ ops > 2%: My::fetch'} ? 0 : 1,
        'a limit that is not crossed gives no finding');
    like($result->{text}, qr/^ *0 -> 7 +0 -> \d+ +new +My::extra \(new\)$/m,
        'the table has old and new numbers');
    like($result->{branch},
        qr/^\ *1\ +\d+\ ->\ \d+\ \ \ \ My::run\n\ *1\ +\d+\ ->\ \d+\ \ \ \ \ \ My::__ANON__\[.*\]\n
            \ *1\ +\d+\ ->\ \d+\ \ \ \ \ \ \ \ My::parse\n/mx,
                'the branch of the change is printed');
    unlike($result->{branch} . $result->{text}, qr/strict::|main::BEGIN/,
        'what has not changed is not printed');
    is_deeply([grep { length > 78 } split /\n/, $result->{text} . $result->{branch}], [],
        'no line is longer than 78 characters');

    # A sub costs more, below one that does not, beside many that cost much less.
    my $row = sub {
        my ($level, $name, $old, $new) = @_;
        return { level => $level, more => 0, name => $name, baseline_calls => 1, calls => 1,
            baseline => $old, value => $new, change => $new - $old };
    };
    my $rows = [$row->(0, '(program)', 900, 500), (map { $row->(1, "M::less$_", 200, 100) } 1 .. 4),
        $row->(1, 'M::same', 100, 100), $row->(2, 'M::more', 10, 20),
        $row->(2, 'M::' . 'x' x 99, 90, 80)];
    my $branch = sub {
        return (Devel::DProf::Compare::Baseline::describe_tree({ lines => $rows },
            { metric => 'ops', findings => [{ sub => 'M::more' }] }, @_))[0];
    };
    is($branch->(4),
        <<'END', "the branch of the rule's sub goes first, and begins at the program");
calls         ops  call tree
    1  900 -> 500  (program)
    1  200 -> 100    M::less1
    1         100    M::same
    1    10 -> 20      M::more
... and 4 more
END
    like($branch->(9), qr/^ +1 +90 -> 80      \.\.\.x{40,}$/m, 'a long name is cut, not moved');

    my $times = Devel::DProf::Compare::Baseline::compare(%compare, new => [$again],
        fail_if => 'self > 5% & 1ms, calls > 0');
    is_deeply($times->{messages},
        ['rule self > 5% & 1ms was not checked: the baseline has counters only, and no times'],
        'a message says that a rule about times was not checked');
    my $events = Devel::DProf::Compare::Baseline::compare(%compare, new => [$again],
        fail_if => 'cycles > 5%, calls > 0');
    is_deeply($events->{messages}, ['rule cycles > 5% was not checked: not both sides have cycles'],
        'a message says that a rule about a counter was not checked');
    spew("$dir/old.tmon", slurp("$dir/first.tmon") =~ s/^\$dprof_perl=.*/\$dprof_perl='5.8.1';/mr);
    my $perls = Devel::DProf::Compare::Baseline::compare(%compare, old => ["$dir/old.tmon"],
        new => [$more],
        fail_if => 'ops > 0, calls > 0');
    my $why = qr/recorded by different perls \(5\.\d+\.\d+, 5\.\d+\.\d+\)/;
    like($perls->{messages}[0], qr/^rule ops > 0 was not checked: $why$/,
        'rules about ops are not checked between different perls');
    ok($perls->{failed}, 'calls are compared between different perls');
    my $random = Devel::DProf::Compare::Baseline::compare(%compare,
        new => [recorded('one', 'random', { PERL_HASH_SEED => 'random' })], fail_if => 'ops > 2%');
    like("@{ $random->{messages} }", qr/hash seed/, 'a message names the random hash seed');
    for my $bad (['calls >', qr/a limit/], ['ops > 2ms', qr/this metric is a count/]) {
        eval {
            Devel::DProf::Compare::Baseline::compare(%compare,
                new => [$again], fail_if => $bad->[0]);
        };
        like($@, $bad->[1], "the rule $bad->[0] is refused");
    }
    eval {
        Devel::DProf::Compare::Baseline::compare(%compare,
            new => ["$dir/nofile"], fail_if => 'new');
    };
    like($@, qr/nofile: No such file/, 'a missing file is an error');
}

my $run = 't/perf/run.tmon';
sub perf {
    my (%env) = @_;
    my ($out, $err, $status) = run('one', { %pinned, DPROF_ARTIFACTS => "$dir/art", %env }, '-Ilib',
        't/perf.t');
    return ($out, $err =~ s/^# Looks like.*\n//mr, $status);
}

subtest 'no_regression_ok() compares a run with its baseline' => sub {
    is_deeply([perf()], ["ok 1 - runs\nnot ok 2 - no regression since $run\n1..2\n",
        <<"END", 1], 'a missing baseline is a failure');
# Failed test 'no regression since $run'
# at t/perf.t line 5.
# there is no baseline $run
# this writes it: DPROF_UPDATE_BASELINES=1 prove t/perf.t
END
    is_deeply([perf(DPROF_UPDATE_BASELINES => 1)],
        ["ok 1 - runs\nok 2 - no regression since $run\n1..2\n",
            "# baseline $run was written\n", 0],
        'DPROF_UPDATE_BASELINES=1 writes the baseline');
    my $baseline = slurp("$dir/one/$run");
    is_deeply([perf()], ["ok 1 - runs\nok 2 - no regression since $run\n1..2\n", '', 0],
        'the baseline is compared');
    perf(DPROF_UPDATE_BASELINES => 1);
    is(slurp("$dir/one/$run"), $baseline, 'writing it again gives the same bytes');
    is_deeply([$baseline =~ /^& \w+ (.*)/mg],
        ['My __ANON__ lib/My.pm:7 in=My::run', 'My fetch lib/My.pm:4', 'My parse lib/My.pm:5',
            'My run lib/My.pm:7'], 'the baseline has the calls of the block');
    my ($out, $err, $status) = perf(N => 9, MORE => 1);
    is($out, "ok 1 - runs\nnot ok 2 - no regression since $run\n1..2\n", 'a change fails');
    # The line is broken at blanks, and TMPDIR may contain blanks.
    like($err =~ s/\s*\n#\s*/ /gr, qr{flame graph of the difference: \Q$dir\E/art/dprof-},
        'the failure names the picture');
    $err =~ s{(flame graph of the difference:).*?/art/}{$1\n# $dir/art/}s;
    is($err =~ s/(\d+ -> )?\d+(?= -> \d+)|(?<= -> )\d+|(?<=\s)\d+(?=\s)/N/gr =~ s/\+[\d.]+%/+N%/gr
        =~ s/ +/ /gr, <<"END" =~ s/ +/ /gr, 'the failure prints the findings');
# Failed test 'no regression since $run'
# at t/perf.t line 5.
# FAIL calls > 0: (total): N -> N
# FAIL calls > 0: My::extra: N -> N
# FAIL calls > 0: My::fetch: N -> N
# FAIL ops > 2%: (total): N -> N
# FAIL ops > 2%: My::extra: N -> N
# FAIL ops > 2%: My::parse: N -> N
# ... and N more
# total: N -> N ops
#  calls ops sub
# N -> N N -> N new My::extra (new)
#  N N -> N +N% My::parse
# N -> N N -> N +N% My::fetch
# what changed in the call tree:
# calls ops call tree
# N N -> N (program)
# N N -> N My::run
# N N -> N My::__ANON__[lib/My.pm:7]
# N N -> N My::parse
# N -> N N -> N My::extra
# N -> N N -> N My::fetch
# flame graph of the difference:
# $dir/art/dprof-t-perf.t-no-regression-since-t-perf-run.tmon.html
END
    ok(-s "$dir/art/dprof-t-perf.t-no-regression-since-t-perf-run.tmon.html",
        'the flame graph is written');
    like(slurp("$dir/art/dprof-t-perf.t-no-regression-since-t-perf-run.tmon.html"), qr/<html/,
        'the flame graph is a page');
    ($out, $err, $status) = perf(N => 9, RULES => 'gone');
    is($status, 0, 'no_regression_ok() passes with rules that hold');
    ($out, $err, $status) = perf(RULES => 'calls > x');
    like($err, qr/^# --fail-if: a limit like/m, 'a bad rule gives a message');
    isnt($status, 0, 'a bad rule fails');
    ($out, $err, $status) = perf(RULES => 'self > 5%, calls > 0');
    is("$err$status",
        "# rule self > 5% was not checked: the baseline has counters only, and no times\n0",
        'a rule that was not checked gives a message');
    ($out, $err, $status) = run('one',
        { PERL_HASH_SEED => 'random', DPROF_ARTIFACTS => "$dir/art", N => 9 }, '-Ilib', 't/perf.t');
    like($err =~ s/\n#\s*/ /gr,
        qr/PERL_HASH_SEED=0\ PERL_PERTURB_KEYS=0\ in\ the\ environment,\ or\ `use\ Test::DProf
        \ -pinned',\ make\ them\ repeat/x, 'the message says how to pin the hash seed');
    ($out, $err, $status) = perf(DPROF_UPDATE_BASELINES => 1, FILE => 'lib/My.pm/x.tmon');
    like($err =~ s/\n#\s*/ /gr, qr{the baseline lib/My\.pm/x\.tmon could not be written: },
        'a baseline that cannot be written gives a message');
    is($status, 1, 'a baseline that cannot be written fails');
    ($out, $err, $status) = perf(FILE => 'lib/My.pm');
    like($err, qr{^# lib/My\.pm: }m, 'a baseline that is no profile gives a message');
    is($status, 1, 'a baseline that is no profile fails');
    perf(DPROF_UPDATE_BASELINES => 1, TIMES => 1, FILE => 'times.tmon');
    ($out, $err, $status) = perf(FILE => 'times.tmon', RULES => 'incl > 100000%, calls > 0');
    is("$err$status", '0', 'a baseline with times is compared');
    is_deeply([map { s{.*/}{}r } glob "$dir/tmp/*"], [], 'no temporary file is left');
};

done_testing;
