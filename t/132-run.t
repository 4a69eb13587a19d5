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

subtest 'dprof run passes input and output on, and prints a report' => sub {
    my $dir = folder_with_programs();
    my $input = spew("$dir/input", "read\n");
    my $got = run_in($dir, ['--', $^X, 'one.pl'], stdin => $input);
    is("$got->{status} $got->{out}", "0 one\nread\n", 'the standard output is that of the command');
    like($got->{err}, qr/\Asaid\n/, "the command's standard error comes before the report");
    is_deeply(calls_in($got->{err}), { 'main::f' => 3 }, 'the report has the calls of the command');
    unlike($got->{err}, qr/process/, 'a report of one process has no table of processes');
    my @files = bsd_glob("$dir/dprof.run/*");
    is(scalar(@files), 1, 'dprof run keeps one profile');
    is_deeply([bsd_glob("$dir/tmon*")], [],
        'dprof run leaves no file in the folder of the command');

    my $other = run_in($dir, [$^X, 'one.pl']);
    is("$other->{status} $other->{out}", "0 one\n",
        'a word that is no option begins the command');
    is(scalar(@files = bsd_glob("$dir/dprof.run/*")), 1, 'the next run replaces the profile');
    is(calls_in($other->{err})->{'main::f'}, 3, 'the next run is reported');
};

subtest 'All processes are one report' => sub {
    my $dir = folder_with_programs();
    my $got = run_in($dir, ['--', 'sh', '-c', "'$^X' one.pl two && '$^X' two.pl"]);
    is($got->{status}, 0, 'dprof run records a shell that starts perls');
    is_deeply(calls_in($got->{err}), { 'main::f' => 3, 'main::g' => 14 },
        'the calls of system, the shell and fork add up');
    like($got->{err}, qr/^5 processes:$/m, 'the report has a table of processes');
    my $row = qr/^ +([\d.]+) +[\d.]+ +[\d.]+ +\d+ +\d+  +/;
    is(join(' ', sort map { /$row(\S+)$/ ? $2 : () } split /\n/, $got->{err}),
        'one.pl two.pl two.pl two.pl two.pl', 'the table names the program of each process');
    my @cpu = map { /${row}two\.pl$/ ? $1 : () } split /\n/, $got->{err};
    is("@cpu", join(' ', sort { $b <=> $a } @cpu), 'a program has its costliest process first');
    like($got->{err}, qr/^ +[\d.]+ +4 processes +two\.pl$/m, 'the table counts the processes of a '
        . 'program');

    $got = run_in($dir, ['--', 'sh', '-c', join '; ', ("'$^X' one.pl") x 11]);
    like($got->{err}, qr/^11 processes:$/m, 'the table counts many processes');
    like($got->{err}, qr/^\.\.\. and 1 more$/m, 'the table of many processes has ten rows');
    is(calls_in($got->{err})->{'main::f'}, 33, 'the report has the calls of all processes');
};

subtest 'The exit status is that of the command' => sub {
    my $dir = folder_with_programs();
    my $got = run_in($dir, ['--', $^X, 'one.pl', 'one', 7]);
    is("$got->{status} $got->{signal}", '7 0', "dprof run exits with the command's status");
    like($got->{err}, qr/^dprofrun: \Q$^X\E: exit status 7$/m, "a line names the command's status");
    is(calls_in($got->{err})->{'main::f'}, 3, 'a command that fails is reported');
    $got = run_in($dir, ['--', $^X, '-e', 'kill 9, $$']);
    is("$got->{status} $got->{signal}", '137 0',
        "a command that a signal ends gives 128 and the signal's number");
    $got = run_in($dir, ['--', 'sh', '-c', 'exit 0']);
    is("$got->{status} $got->{err}", "1 dprofrun: sh has left no profile; is it a Perl program?\n",
        'a command that leaves no profile is an error');
    is_deeply([bsd_glob("$dir/dprof.run*")], [],
        'a command that leaves no profile leaves no folder');
    $got = run_in($dir, ['--', 'sh', '-c', 'exit 3']);
    is($got->{status}, 3, 'a command that fails without a profile gives its status');
    $got = run_in($dir, ['--', './none']);
    is("$got->{status} $got->{err}", '127 dprofrun: ./none cannot be run: '
        . "No such file or directory; dprof run -- perl PROGRAM records a program\n",
        'a missing command gives status 127');
    ok(!-e "$dir/dprof.run", '... and leaves no folder');
    $got = run_in($dir, ['lines', './none']);
    is("$got->{status} $got->{err}", '127 dprofrun: lines cannot be run: No such file or directory;'
        . " if it is an option: dprof run lines -- COMMAND\n",
        'a missing command that is an option gives a message about --');
};

subtest 'Signals reach the command' => sub {
    my $dir = folder_with_programs();
    # The command sends the signal to dprof run, which is its parent and has its handlers by then.
    for my $name (qw(TERM HUP)) {
        my $got = run_in($dir, ['--', $^X, '-e',
            "\$SIG{$name} = sub { print qq{$name\\n}; exit 5 };"
            . " kill $name => getppid; sleep 1 for 1 .. 30"]);
        is("$got->{status} $got->{out}", "5 $name\n", "$name reaches the command");
        like($got->{err}, qr/^Total: \S+ us/m, "the report follows $name");
    }
    my $got = run_in($dir, ['--', $^X, '-e', 'sub f { 1 } f(); kill INT => getppid; '
        . 'print defined $SIG{INT} ? "set\n" : "default\n"']);
    is("$got->{status} $got->{out}", "0 default\n",
        'a signal of the terminal reaches both, and the command decides');
};

subtest 'The recorder has its options' => sub {
    my $dir = folder_with_programs();
    my $got = run_in($dir, ['tree,callsites=1', 'ops=0', '--', $^X, 'one.pl']);
    my ($file) = bsd_glob("$dir/dprof.run/*.out");
    like(slurp($file), qr/\$dprof_options='mode=tree,.*callsites=1,.*ops=0,/,
        'words before -- are options of the recorder');
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
            "a wrong option $option stops the command");
    }
    $got = run_in($dir, ['--', $^X, 'one.pl'], env => { PERL_DPROF_MODE => 'tree',
        PERL_DPROF_SLICE => 1, PERL_DPROF_OUT => 'elsewhere' });
    ($file) = bsd_glob("$dir/dprof.run/*.out");
    like(slurp($file), qr/\$dprof_options='mode=tree,/, 'options of the environment are in force');
    ok(!-e "$dir/elsewhere" && !-e "$dir/tmon.spool",
        'options of the environment do not say where profiles go');
    run_in($dir, ['tree', '--', $^X, 'one.pl'], env => { PERL5OPT => '-d:DProf=trace -w' });
    ($file) = bsd_glob("$dir/dprof.run/*.out");
    like(slurp($file), qr/\$dprof_options='mode=tree,/,
        'options of the command line replace those of PERL5OPT');
    is(run_in($dir, [])->{err}, "there is no command: dprof run -- perl PROGRAM\n"
        . "Try 'dprofrun -h' for help.\n", 'dprof run without a command is an error');
};

subtest 'Options choose page, rows, metric and folder' => sub {
    my $dir = folder_with_programs();
    my $got = run_in($dir, ['--html', '--', $^X, 'one.pl']);
    is("$got->{status} $got->{out}$got->{err}",
        "0 one\nsaid\nwrote dprof.html; open it in a browser\n", '--html says which file to open');
    ok(slurp("$dir/dprof.html") =~ /\A<!DOCTYPE html>/, '--html writes a page');
    $got = run_in($dir, ['--html', '-o', 'x.html', '--', $^X, 'one.pl']);
    is($got->{err}, "said\nwrote x.html; open it in a browser\n", '-o names another page');
    ok(-s "$dir/x.html", '-o writes the page');
    $got = run_in($dir, ['-m', 'calls', '-O', 1, '--keep', 'mine', '--', $^X, 'one.pl', 'two']);
    like($got->{err}, qr/^Total: \d+ calls/m, '-m selects the metric');
    is_deeply([keys %{ calls_in($got->{err}) }], ['main::g'], '-O limits the rows');
    is(scalar(my @files = bsd_glob("$dir/mine/*")), 3, '--keep keeps the profiles');
    $got = run_in($dir, ['--keep', 'mine', '--', $^X, 'one.pl']);
    is("$got->{status} $got->{err}", '1 dprofrun: --keep mine: the folder has an earlier run; name '
        . "another folder, or remove it\n", '--keep does not replace an earlier run');
    $got = run_in($dir, [$^X, 'one.pl'], env => { DPROFRUN_OPTS => '--html -o env.html' });
    ok(-s "$dir/env.html", 'DPROFRUN_OPTS gives options');
    symlink 'mine', "$dir/link/dprof.run" if mkdir "$dir/link";
    $got = run_in("$dir/link", ['--', $^X, '-e', 1]);
    is($got->{status}, 1, 'dprof run does not follow a link at dprof.run');
    is(run_in($dir, ['-o', 'x', '--', $^X, '-e', 1])->{err}, '-o FILE is the page\'s: '
        . "dprof run --html -o FILE -- COMMAND\nTry 'dprofrun -h' for help.\n",
        '-o without --html is an error');
};

done_testing;
