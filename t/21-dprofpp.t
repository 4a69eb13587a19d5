# The command line of dprofpp: options, messages, exit status.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest;
use MadeUp;

my $ours = data('ours.out');
my $good = slurp($ours);
my $dir = scratch();
spew("$dir/tmon.out", $good);

# Makes a trace of the old recorder; marks begin in its line 7.
sub head { return profile_text(format => 'classic', version => 'x', lines => join '', @_) }

# Runs dprofpp on a text and checks stderr and status.
sub says {
    my ($what, $text, $args, $err, $status, $out) = @_;
    spew("$dir/x.out", $text);
    my @got = dprofpp({ dir => $dir }, @$args, 'x.out');
    is($got[1], $err, "$what: the message is as expected");
    is($got[2], $status, "$what: the exit status is as expected");
    like($got[0], $out, "$what: the report is as expected") if $out;
}

my ($default) = dprofpp($ours);
is_deeply([dprofpp({ dir => $dir })], [$default, '', 0], 'tmon.out is the default');
is((dprofpp({ stdin => $ours }, '-'))[0], $default, '- reads standard input');
is((dprofpp({ env => { DPROFPP_OPTS => qq{"$ours"} } }))[0], $default,
    'DPROFPP_OPTS may name the profile');
spew("$dir/two  blanks.out", $good);
for (q{"two  blanks.out"}, q{'two  blanks.out'}, q{two\ \ blanks.out}, q{ two"  "blanks.out }) {
    is_deeply([dprofpp({ dir => $dir, env => { DPROFPP_OPTS => $_ } })], [$default, '', 0],
        "$_: DPROFPP_OPTS may name a file with blanks");
}
for ('ANON|s\w\w', q{'ANON|s\w\w'}, q{"ANON|s\w\w"}, q{ANON|s\\\\w\w}) {
    is((dprofpp({ env => { DPROFPP_OPTS => "-qaf $_" } }, $ours))[0],
        (dprofpp('-qaf', 'ANON|s\w\w', $ours))[0], "$_: a backslash in DPROFPP_OPTS stays one");
}
for (q{-I "tmon.out}, q{'}) {
    is_deeply([dprofpp({ dir => $dir, env => { DPROFPP_OPTS => $_ } })],
        ['', "DPROFPP_OPTS: a quote is not closed: $_\nTry 'dprofpp -h' for help.\n", 2],
        "$_: an open quote in DPROFPP_OPTS is an error");
}
is((dprofpp({ env => { DPROFPP_OPTS => '-I -l' } }, '-E', '-z', $ours))[0], $default,
    'the command line overrides DPROFPP_OPTS');
is((dprofpp({ env => { DPROFPP_OPTS => '-I' } }, $ours))[0], (dprofpp('-I', $ours))[0],
    'DPROFPP_OPTS gives options');
is((dprofpp('-qIrO3', $ours))[0], (dprofpp(qw(--no-header --inclusive --real --rows 3), $ours))[0],
    'clustered short options do what the long names do');
is(scalar(my @rows = split /\n/, (dprofpp('-qO', 3, $ours))[0]), 3, '-O 3 prints three rows');
is_deeply([reverse split /\n/, (dprofpp('-qad', $ours))[0]],
    [split /\n/, (dprofpp('-qa', $ours))[0]], '-d reverses the order');
unlike($default, qr/\e/, 'no escape sequence reaches the terminal');
like($default, qr/odd name%1b\[31m|odd name\\x1b/,
    'an escape character in a name is printed in readable form');
like((dprofpp('-R', $ours))[0],
    qr/main::__ANON__\[lib\/a\.pl:11\]\n(?:.*\n)*?.*main::__ANON__\[lib\/a\.pl:11\]#2$/m,
        '-R names the place of each anonymous sub');
like((dprofpp('-A', $ours))[0], qr/ \*::AUTOLOAD$/m, '-A charges AUTOLOAD');
unlike((dprofpp('-A', $ours))[0], qr/wanted/, '-A hides the name that AUTOLOAD stood in for');
like((dprofpp('--program', $ours))[0], qr/ \(program\)$/m, '--program adds the row (program)');
unlike($default, qr/\(program\)/, 'without --program there is no row (program)');
my ($merged) = dprofpp($ours, $ours);
is_deeply([map { (split)[3] } split /\n/, (dprofpp('-qU', $ours, $ours))[0]],
    [map { 2 * (split)[3] } split /\n/, (dprofpp('-qU', $ours))[0]],
        'two files have twice the calls');

subtest '-f, -G and -P filter and group subs' => sub {
    my @all = split /\n/, (dprofpp('-qa', $ours))[0];
    is_deeply([split /\n/, (dprofpp('-qa', '-f', 'ANON|sum', $ours))[0]],
        [grep { !/ANON|sum/ } @all], '-f removes the subs that it matches');
    is_deeply([split /\n/, (dprofpp('-q', '-f', '.', $ours))[0]], [],
        '-f . leaves no row');
    like((dprofpp('-G', 'My::', $ours))[0],
        qr/\AOption\ G\ Grouping:\ \[My::\]\nGrouping\ \[My::\]\ Calls:\ \[2\]\n
        Grouping\ \[My::\]\ Times:\ \[512\]\nGrouping\ \[My::\]\ IncTimes:\ \[512\]\nTotal/x,
            '-G sums up what matches');
    like((dprofpp('-G', 'main::run', $ours))[0], qr/Calls: \[2\]\n/, '-G takes the name of a sub');
    my @none = dprofpp('-G', 'nothing at all', $ours);
    like($none[0], qr/Calls: \[0\]\n/, '-G that matches nothing counts no calls');
    is("$none[1]$none[2]", 0, '-G that matches nothing is no error');
    is(scalar(() = (dprofpp('-qP', '-G', 'My::', $ours))[0] =~ / (?:My::|other)$/mg), 2,
        '-P prints the group and the others as two rows');
    is_deeply([(dprofpp('-G', '(', $ours))[0, 2]], ['', 2], 'a bad regex ends with status 2');
    unlike((dprofpp('-f', '(?{ print "code" })', $ours))[0], qr/code/,
        'code in a regex is not run');
    is_deeply([dprofpp('-g', 'My::Pkg::no_such', @$_, $ours)],
        ['', "-g My::Pkg::no_such: there is no sub of that name in $ours; "
            . "dprofpp -O 1000 lists the subs\n", 1],
        "@$_ -g: an unknown name is an error")
        for [], ['-S'], ['-T'], ['-t'];
    is((dprofpp('-T', '-g', 'My::Pkg::wanted', $ours,
        spew("$dir/tmon.short", head("& 2 main a\n+ 2\n- 2\n"))))[2], 0,
        '-g -T is content if one of several files has the sub');
    like((dprofpp('-g', 'My::Pkg::wanted', $ours))[0], qr/ Time = 0\.000001 Seconds/,
        '-g prints the time of the sub as the total');
};

my ($status, $v);
subtest 'Wrong usage gives a message, and -h, -H and -V print help' => sub {
    is((dprofpp('--nonsense'))[2], 2, 'an unknown option ends with status 2');
    like((dprofpp('-Z'))[1], qr/Try 'dprofpp -h' for help/, 'the message names -h');
    is_deeply([(dprofpp('-Q'))[1, 2]],
        ["-Q is meaningful only when used with -p\nTry 'dprofpp -h' for help.\n", 2],
        '-Q without -p is an error');
    like((dprofpp('-h'))[0], qr/\Adprofpp \[options\]/, '-h prints the usage');
    like((dprofpp({ fresh => 1 }, '-H'))[0], qr/DESCRIPTION/, '-H prints the manual');
    ($v, undef, $status) = dprofpp('-V', $ours);
    like($v, qr/\Adprofpp version: [\d.]+\nXS_VERSION: DProf 20261120\.00\n/, '-V prints versions');
    like($v, qr/^script: it's\\x0aodd 'x' \\$/m, '-V prints the origin, escaped');
    is($status, 0, '-V exits with 0');
    is((dprofpp('-V', "$dir/none"))[2], 0, '-V needs no profile');
};

subtest 'A terminal gets times with units, and a pipe gets numbers' => sub {
    is((dprofpp('--classic', $ours))[0], $default,
        '--classic prints what a pipe gets by default');
    is((dprofpp({ env => { DPROFPP_OPTS => '--no-classic' } }, '--classic', $ours))[0], $default,
        '--classic overrides --no-classic');
    like((dprofpp('--no-classic', $ours))[0],
        qr/^%Time\ +Excl\ +Cumul\ +\#Calls\ +Excl\/call\ +Cumul\/call\ \ Name\n
        (?:\ *[\d.]+\ +(?:[\d.]{5}\ [mun]?s\ +){2}\d+\ +(?:[\d.]{5}\ [mun]?s\ +){2}\ ?\S.*\n)+
        \n[A-Z]/mx,
        '--no-classic prints units to a pipe');
};

SKIP: {
    my $no_terminal = no_terminal();
    skip $no_terminal, 2 if defined $no_terminal;
    my $tool = join ' ', map { "'$_'" } tool_command('dprofpp');
    my ($shown, $classic) = map {
        on_terminal("$tool $_ '$ours'")->{out} =~ s/\r//gr
    } '', '--classic';
    like($shown, qr/ Excl\/call .* ms /s, 'a terminal gets units');
    is($classic, $default, '--classic prints numbers on a terminal');
}

subtest 'Bad files give a message' => sub {
    is_deeply([dprofpp({ dir => $dir }, 'none')],
        ['', "Unable to open none: No such file or directory; "
            . "dprof run -- perl PROGRAM records one\n", 1], 'a missing file is an error');
    says('no profile', "hello\n", [],
        "Not a perl profile: x.out; dprof run -- perl PROGRAM records one\n", 1, qr/\A\z/);
    says('empty', '', [],
        "Not a perl profile: x.out (it is empty); dprof run -- perl PROGRAM records one\n", 1);
    is((dprofpp("$dir"))[1],
        "$dir is a directory; name the profiles in it, such as $dir/tmon.out\n",
        'a directory is an error that names the profile in it');
    mkdir "$dir/empty" or die;
    is_deeply([dprofpp({ dir => "$dir/empty" }, $_, '.')],
        ['', ". is a directory, and has no profiles; dprof run -- perl PROGRAM records one\n", 1],
        "$_: a directory without a profile is an error") for qw(-I -T);
    is_deeply([dprofpp({ dir => "$dir/empty" }, $_)],
        ['', "Unable to open tmon.out: No such file or directory; "
            . "run perl -d:DProf PROGRAM first\n",
            1], "$_: a missing tmon.out gives a message that says how to record one")
        for qw(-I -T);
    my $missing = head("& 2 main a\n& 3 main b\n+ 2\n+ 3\n+ 2\n- 2\n");
    my $outer = "main::a has 1 unstacked calls in outer\nmain::b has 1 unstacked calls in outer\n";
    says('missing exits', $missing, [],
        "${outer}Garbled profile is missing some exit time stamps:\nmain::a\nmain::b\nTry "
            . "rerunning "
            . "dprofpp with -F.\n", 1, qr/\A\z/);
    says('missing exits, -F', $missing, ['-F'], "${outer}Faking 2 exit timestamp(s).\n", 0,
        qr/main::a$/m);
    my $enter = head("& 2 main a\n+ 2\n- 2\n- 2\n");
    says('missing enter', $enter, [],
        "Garbled profile, missing an enter time stamp (x.out, line 10, byte " . (length($enter) - 4)
            . ")\n", 1, qr/main::a$/m);
    says('missing enter, -F', $enter, ['-F'], '', 0, qr/main::a$/m);
    my $bad = head("& 2 main a\n+ 2\n- 2\nfoo\e[31m bar\n");
    says('bad line', $bad, [], "Bad profile: foo\\x1b[31m bar (x.out, line 10, byte "
        . (length($bad) - 13) . ")\n", 1, qr/main::a$/m);
    says('bad line, -T', $bad, ['-T'], "Bad profile: foo\\x1b[31m bar (x.out, line 10, byte "
        . (length($bad) - 13) . ")\n", 1, qr/\Amain::a\n\z/);
    says('unexpected exit, -G', head("& 2 main a\n& 3 main b\n+ 2\n- 3\n"), ['-G', 'b'],
        "Garbled profile, unexpected exit time stamp (x.out: main::b instead of main::a)\n", 1);
    says('unexpected exit, -G -F', head("& 2 main a\n& 3 main b\n+ 2\n- 3\n"), ['-F', '-G', 'b'],
        "Garbled profile, faking exit timestamp:\n    main::b => main::a.\n", 0);
    says('unexpected exit', head("& 2 main a\n& 3 main b\n+ 2\n- 3\n"), [], '', 0);
    says('newer', profile_text(header => "\$dprof_format='trace 2';"), [],
        "x.out: the format 'trace 2' is newer than 'trace 1', the newest that this version reads\n",
        1, qr/\A\z/);
};

subtest 'A profile that was cut anywhere is read as far as it goes' => sub {
    my ($kept) = dprofpp('-T', $ours);
    my ($start) = $good =~ /\A(.*?PART2\n)/s;
    for my $cut (length($start), length($start) + 1, length($good) - 1,
        map { length($start) + 37 * $_ } 1 .. 9) {
        spew("$dir/cut.out", substr $good, 0, $cut);
        my ($out, $err, $status) = dprofpp({ dir => $dir }, '-T', 'cut.out');
        ok($status == 0 && $err =~ /\Acut\.out: profile cut short: [^\n]+\n\z/
            && index($kept, $out) == 0,
                "a profile cut at byte $cut is reported up to there") or diag $out, $err, $status;
        is_deeply([(dprofpp({ dir => $dir }, '-TF', 'cut.out'))[1, 2]], ['', 0],
            '-F silences the message of a cut profile');
    }
    spew("$dir/cut.out", substr $good, 0, 80);
    like((dprofpp({ dir => $dir }, 'cut.out'))[1],
        qr/\Acut\.out:\ profile\ cut\ short:\ the\ file\ ends\ within\ its\ header\ \(line\ \d+,
            \ byte\ 80\)\n\z/x,
        'a header that was cut gives a message');
};

# A header is read, never run.
my $flag = "$dir/flag";
says('code in a header',
    head("& 2 main a\n+ 2\n- 2\n") =~ s/\$hz=100;/\$hz=100; open F, '>$flag'; `touch $flag`;/r, [],
    qq{Bad profile: \$hz=100; open F, '>$flag'; `touch $flag`; (x.out, line 2, byte 10)\n}, 1,
    qr/main::a$/m);
ok(!-e $flag, 'code in a header is not run');

# One bad file does not keep good ones from being reported.
my @mixed = dprofpp({ dir => $dir }, 'none', $ours);
is_deeply([@mixed[0, 2]], [$default, 1],
    'a bad file among others does not keep the others from the report');

# Output that cannot be written is an error.
SKIP: {
    skip 'no /dev/full', 2 if !-w '/dev/full';
    my $run = run_program(['sh', '-c', '"$@" >/dev/full', 'sh', tool_command('dprofpp', $ours)]);
    is($run->{status}, 1, 'a full disk ends with status 1');
    like($run->{err}, qr/could not be written/, 'a full disk gives a message');
}

subtest 'Names and numbers that are too long for their columns are printed' => sub {
    my $long = 'x' x 5000;
    says('long names', head("& 2 main $long\n+ 2\n- 2\n"), ['-q'], '', 0, qr/  main::$long\n\z/);
    says('many calls', head("& 2 main a\n", "+ 2\n- 2\n" x 1_234_567), ['-q'], '', 0,
        qr/ 1234567 /);
    says('deep', head("& 2 main a\n", "+ 2\n" x 1000, "- 2\n" x 1000), ['-T'], '', 0,
        qr/\n {600}main::a\n {600}\[201\] main::a\n/);
    says('deep, -S', head("& 2 main a\n", "+ 2\n" x 1000, "- 2\n" x 1000), ['-S'], '', 0,
        qr/\n {400}\[201\] main::a x 1  \t/);
    says('-t', head("& 2 main a\n& 3 main b\n", "+ 2\n- 2\n" x 3, "+ 3\n",
        "+ 2\n- 2\n" x 2, "- 3\n"),
        ['-t'], '', 0,
        qr/\Amain::a \(3x\)\nmain::b\n   main::a \(2x\)\n\z/);
};

subtest 'The tools never start the profiler, and dprofpp loads no other tool' => sub {
    my $inc = `$^X -Mblib -e 'use Devel::DProf::Tool::Dprofpp;
    print join " ", Devel::DProf::Core->VERSION, grep /DProf/, sort keys %INC' 2>/dev/null`;
    my ($version, @loaded) = split ' ', $inc;
    require ExtUtils::MakeMaker;
    is($version, MM->parse_version('lib/Devel/DProf.pm'),
        'the tools have the version that MakeMaker finds');
    is(join(' ', grep { m{/Core\.pm|/Tool/Dprof} } @loaded),
        'Devel/DProf/Core.pm Devel/DProf/Tool/Dprofpp.pm',
        'dprofpp loads Core and its own module');
    is(join(' ', grep { m{\ADevel/DProf(?:/(?:(?:Compare|Live|View)/.*|View|Tool/Record))?\.pm\z} }
        @loaded),
        '', 'dprofpp loads no module of other tools');
};

done_testing;
