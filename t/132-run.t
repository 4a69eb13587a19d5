# dprof run: records a command with all perls that it starts, and reports. What the command reads,
# prints and returns, and the signals that it gets, are its own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use POSIX ();
use Test::More;
use DProfTest;

my %ENV_OF_RUN = counting();

# Runs `dprof run` with the built modules, in a folder.
sub run_in {
    my ($dir, $args, %opt) = @_;
    my %env = (%ENV_OF_RUN, %{ delete $opt{env} || {} });
    return run_tool('dprof', ['run', @$args], fresh => 1, dir => $dir, env => \%env, %opt);
}

sub folder_with_programs {
    my $dir = scratch();
    spew("$dir/one.pl", 'sub f { 1 } f() for 1 .. 3; print "one\n"; print <STDIN>;'
        . ' system($^X, "two.pl") if @ARGV && $ARGV[0] eq "two"; warn "said\n";'
        . ' exit($ARGV[1] // 0)');
    spew("$dir/two.pl", 'sub g { 1 } g() for 1 .. 5; $| = 1; print "two\n";'
        . ' if (!fork) { g() for 1 .. 2; exit } wait');
    return $dir;
}

# Returns the calls of subs in a report.
sub calls_in { return { reverse $_[0] =~ /(\d+)  (main::\w+)$/mg } }

subtest 'A command: its output, its input, and a report' => sub {
    my $dir = folder_with_programs();
    my $input = spew("$dir/input", "read\n");
    my $got = run_in($dir, ['--', $^X, 'one.pl'], stdin => $input);
    is("$got->{status} $got->{out}", "0 one\nread\n", 'standard output is the command\'s');
    like($got->{err}, qr/\Asaid\n/, '... and so has standard error, first');
    is_deeply(calls_in($got->{err}), { 'main::f' => 3 }, 'the report has its calls');
    unlike($got->{err}, qr/process/, 'one process needs no table');
    my @files = bsd_glob("$dir/dprof.run/*");
    is(scalar(@files), 1, 'its profile stays, and nothing else');
    is_deeply([bsd_glob("$dir/tmon*")], [], 'the folder of the command has nothing of it');

    my $other = run_in($dir, [$^X, 'one.pl']);
    is("$other->{status} $other->{out}", "0 one\n",
        'without --, the first word begins the command');
    is(scalar(@files = bsd_glob("$dir/dprof.run/*")), 1, 'the next run replaces the profile');
    is(calls_in($other->{err})->{'main::f'}, 3, '... and is reported');
};

subtest 'All processes are one report' => sub {
    my $dir = folder_with_programs();
    my $got = run_in($dir, ['--', 'sh', '-c', "'$^X' one.pl two && '$^X' two.pl"]);
    is($got->{status}, 0, 'a shell that starts perls');
    is_deeply(calls_in($got->{err}), { 'main::f' => 3, 'main::g' => 14 },
        'system, the shell and fork: all calls add up');
    like($got->{err}, qr/^5 processes:$/m, 'there is a table of processes');
    is(join(' ', sort $got->{err} =~ /^ +[\d.]+ +\d+  (\S+)$/mg),
        'one.pl two.pl two.pl two.pl two.pl', '... that names the program of each');
    my @cpu = $got->{err} =~ /^ +([\d.]+) +\d+  \S+$/mg;
    is("@cpu", join(' ', sort { $b <=> $a } @cpu), '... those that took longest first');

    $got = run_in($dir, ['--', 'sh', '-c', join '; ', ("'$^X' one.pl") x 11]);
    like($got->{err}, qr/^11 processes:$/m, 'many processes');
    like($got->{err}, qr/^\.\.\. and 1 more$/m, '... are ten rows');
    is(calls_in($got->{err})->{'main::f'}, 33, '... and all are in the report');
};

subtest 'Exit status' => sub {
    my $dir = folder_with_programs();
    my $got = run_in($dir, ['--', $^X, 'one.pl', 'one', 7]);
    is("$got->{status} $got->{signal}", '7 0', 'the status is the one of the command');
    like($got->{err}, qr/^dprofrun: \Q$^X\E: exit status 7$/m, '... which is said');
    is(calls_in($got->{err})->{'main::f'}, 3, '... and the profile is reported');
    $got = run_in($dir, ['--', $^X, '-e', 'kill 9, $$']);
    is("$got->{status} $got->{signal}", '137 0', 'a signal is 128 and its number');
    $got = run_in($dir, ['--', 'sh', '-c', 'exit 0']);
    is("$got->{status} $got->{err}", "1 dprofrun: sh has left no profile; is it a Perl program?\n",
        'no profile is an error');
    is_deeply([bsd_glob("$dir/dprof.run*")], [], '... and leaves no folder');
    $got = run_in($dir, ['--', 'sh', '-c', 'exit 3']);
    is($got->{status}, 3, 'no profile of a command that fails: its status');
    $got = run_in($dir, ['--', './none']);
    is("$got->{status} $got->{err}", '127 dprofrun: ./none cannot be run: '
        . "No such file or directory\n", 'a command that is not there');
    $got = run_in($dir, ['lines', './none']);
    is("$got->{status} $got->{err}", '127 dprofrun: lines cannot be run: No such file or directory;'
        . " options of the recorder stand before --: dprof run lines -- COMMAND\n",
        'options of the recorder without --');
};

subtest 'Signals reach the command' => sub {
    my $dir = folder_with_programs();
    # The command sends the signal to dprof run, which is its parent and has its handlers by then.
    for my $name (qw(TERM HUP)) {
        my $got = run_in($dir, ['--', $^X, '-e',
            "\$SIG{$name} = sub { print qq{$name\\n}; exit 5 };"
            . " kill $name => getppid; sleep 1 for 1 .. 30"]);
        is("$got->{status} $got->{out}", "5 $name\n", "$name is passed on");
        like($got->{err}, qr/^Total: \S+ us/m, '... and what was recorded is reported');
    }
    my $got = run_in($dir, ['--', $^X, '-e', 'sub f { 1 } f(); kill INT => getppid; '
        . 'print defined $SIG{INT} ? "set\n" : "default\n"']);
    is("$got->{status} $got->{out}", "0 default\n", 'a terminal signals both; the command decides');
};

subtest 'Options of the recorder' => sub {
    my $dir = folder_with_programs();
    my $got = run_in($dir, ['tree,callsites=1', 'ops=0', '--', $^X, 'one.pl']);
    my ($file) = bsd_glob("$dir/dprof.run/*.out");
    like(slurp($file), qr/\$dprof_options='mode=tree,.*callsites=1,.*ops=0,/,
        'words before -- go to the recorder');
    for (['liens', 'unknown option liens; did you mean lines?'],
        ['lines', 'lines needs a tree: -d:DProf=tree,lines'],
        map({ ["tree,$_=3", "$_= goes with perl -d:DProf; here, --keep DIR says where the profiles "
            . 'go'] } qw(out slice spool)),
        ['help', 'perl -d:DProf=help lists the options of the recorder'],
        ['only=a b', 'only=a b: options of the recorder have no blanks; set PERL_DPROF_NAME=VALUE'
            . ' for those']) {
        my ($option, $message) = @$_;
        $got = run_in($dir, [$option, '--', $^X, 'one.pl']);
        is("$got->{status} $got->{out}$got->{err}", "2 $message\nTry 'dprofrun -h' for help.\n",
            "$option: the command does not start");
    }
    $got = run_in($dir, ['--', $^X, 'one.pl'], env => { PERL_DPROF_MODE => 'tree',
        PERL_DPROF_SLICE => 1, PERL_DPROF_OUT => 'elsewhere' });
    ($file) = bsd_glob("$dir/dprof.run/*.out");
    like(slurp($file), qr/\$dprof_options='mode=tree,/, 'the environment has its options');
    ok(!-e "$dir/elsewhere" && !-e "$dir/tmon.spool", '... but those that say where profiles go');
    run_in($dir, ['tree', '--', $^X, 'one.pl'], env => { PERL5OPT => '-d:DProf=trace -w' });
    ($file) = bsd_glob("$dir/dprof.run/*.out");
    like(slurp($file), qr/\$dprof_options='mode=tree,/, 'they replace those of PERL5OPT');
    is(run_in($dir, [])->{err}, "there is no command: dprof run -- perl PROGRAM\n"
        . "Try 'dprofrun -h' for help.\n", 'no command');
};

subtest 'A page, rows, a metric, a folder' => sub {
    my $dir = folder_with_programs();
    my $got = run_in($dir, ['--html', '--', $^X, 'one.pl']);
    is("$got->{status} $got->{out}$got->{err}",
        "0 one\nsaid\nwrote dprof.html; open it in a browser\n", '--html says what to open');
    ok(slurp("$dir/dprof.html") =~ /\A<!DOCTYPE html>/, '... which is a page');
    $got = run_in($dir, ['--html', '-o', 'x.html', '--', $^X, 'one.pl']);
    is($got->{err}, "said\nwrote x.html; open it in a browser\n", '-o names another file');
    ok(-s "$dir/x.html", '... which is there');
    $got = run_in($dir, ['-m', 'calls', '-O', 1, '--keep', 'mine', '--', $^X, 'one.pl', 'two']);
    like($got->{err}, qr/^Total: \d+ calls/m, '-m');
    is_deeply([keys %{ calls_in($got->{err}) }], ['main::g'], '-O');
    is(scalar(my @files = bsd_glob("$dir/mine/*")), 3, '--keep');
    $got = run_in($dir, ['--keep', 'mine', '--', $^X, 'one.pl']);
    is("$got->{status} $got->{err}", '1 dprofrun: --keep mine: the folder has an earlier run; name '
        . "another folder, or remove it\n", 'no run of a folder that was named is replaced');
    $got = run_in($dir, [$^X, 'one.pl'], env => { DPROFRUN_OPTS => '--html -o env.html' });
    ok(-s "$dir/env.html", 'DPROFRUN_OPTS has options');
    symlink 'mine', "$dir/link/dprof.run" if mkdir "$dir/link";
    $got = run_in("$dir/link", ['--', $^X, '-e', 1]);
    is($got->{status}, 1, 'dprof.run that is a link is left alone');
    is(run_in($dir, ['-o', 'x', '--', $^X, '-e', 1])->{err}, '-o FILE is the page\'s: '
        . "dprof run --html -o FILE -- COMMAND\nTry 'dprofrun -h' for help.\n",
        '-o without --html');
};

done_testing;
