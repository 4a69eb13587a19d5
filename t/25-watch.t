# --watch prints one report after the other beside a program that runs. Nothing here waits for a
# time: the program goes on when a line arrives, and reports are read until one has the calls that
# were recorded.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest;

my $dir = scratch();
my @dprofpp = tool_command('dprofpp');

# Starts a command in the folder; returns its pid and the ends of two pipes, to its standard input
# and from its standard output. Its standard error goes to a file.
sub started {
    my ($err, @command) = @_;
    pipe(my $in, my $to) or die "pipe: $!";
    pipe(my $from, my $out) or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        chdir $dir or die "$dir: $!";
        open STDIN, '<&', $in or die $!;
        open STDOUT, '>&', $out or die $!;
        open STDERR, '>', $err or die $!;
        close $_ for $in, $to, $from, $out;
        alarm 120;
        exec @command or die "$command[0]: $!";
    }
    $to->autoflush;
    return { pid => $pid, to => $to, from => $from, err => "$dir/$err" };
}

sub ended {
    my ($run) = @_;
    close $run->{to};
    my $rest = join '', readline $run->{from};
    waitpid $run->{pid}, 0;
    return ($rest, $?, slurp($run->{err}));
}

# Reads up to a line that matches and returns it, or ''. Lines that were read are kept.
sub read_to {
    my ($run, $re) = @_;
    while (defined(my $line = readline $run->{from})) {
        $run->{read} .= $line;
        return $line if $line =~ $re;
    }
    return '';
}

# A program that calls f, prints so, and calls g when a line arrives. The next line decides how the
# program ends.
my $code = '$| = 1; sub f { 1 } sub g { 1 } f(); f(); print "f\n"; <STDIN>; g(); print "g\n"; '
    . 'my $how = <STDIN>; kill 9, $$ if $how =~ /kill/';
sub program {
    my $run = started('program.err', built_perl(), '-d:DProf', '-e', $code);
    read_to($run, qr/^f$/);
    return $run;
}

subtest '--watch follows a program from before its profile exists to its end' => sub {
    my $watch = started('watch.err', @dprofpp, '--watch', 0.02, '-l');
    my $tries = 0;
    # Waits for the line, however slow the machine is.
    select undef, undef, undef, 0.01 until -s $watch->{err} || $tries++ > 6000;
    my $run = program();
    like(read_to($watch, qr/main::f$/), qr/ 2 /, 'a report comes while the program runs');
    $run->{to}->print("go on\n");
    like(read_to($watch, qr/main::g$/), qr/ 1 /, 'a later report has the calls since then')
        or diag slurp($watch->{err});
    $run->{to}->print("end\n");
    is((ended($run))[1], 0, 'the watched program exits with 0');
    my ($rest, $status, $err) = ended($watch);
    is($status, 0, '--watch ends with the program, with status 0');
    is($err, "dprofpp: waiting for tmon.out\n",
        'the only message says that dprofpp waits for the profile');
    my @reports = split /\n\n/, $watch->{read} . $rest;
    cmp_ok(scalar(@reports), '>=', 2, 'an empty line separates two reports');
    is(scalar(grep { !/\ATotal Elapsed Time/ } @reports), 0, 'each report begins with its header');
    is("$reports[-1]", (dprofpp({ dir => $dir }, '-l'))[0],
        'the last report is of the whole profile');
    unlike($watch->{read} . $rest, qr/\e/, 'a pipe gets no escape sequences');
};

subtest 'A run that has ended is reported once' => sub {
    is_deeply([dprofpp({ dir => $dir }, '--watch', 100, '-l')],
        [(dprofpp({ dir => $dir }, '-l'))[0], '', 0], 'a finished profile is reported once');
};

# The subtests below share a running program.
my $running;
subtest 'Ctrl-C ends the watching, and not the program' => sub {
    $running = program();
    my $watch = started('watch.err', @dprofpp, '--watch', 0.02, '-T');
    is(read_to($watch, qr/main::f/), "main::f\n", '--watch -T prints the tree of calls');
    kill INT => $watch->{pid};
    my (undef, $status, $err) = ended($watch);
    is("$status$err", '0', 'Ctrl-C gives status 0 and no message');
};

subtest 'A program that is killed ends the watching' => sub {
    # Only after that does a line say that the profile is cut short.
    my $watch = started('watch.err', @dprofpp, '--watch', 0.02);
    read_to($watch, qr/main::f$/);
    $running->{to}->print("go on\nkill\n");
    is((ended($running))[1], 9, 'signal 9 ends the program');
    my ($rest, $status, $err) = ended($watch);
    is($status, 0, '--watch ends when the program is killed');
    like($rest, qr/main::g$/m, 'the last report of a killed program has all calls');
    is($err, 'tmon.out: profile cut short: '
        . (-d "/proc/$$/fd" ? 'the program was killed, or crashed'
            : 'the recording did not come to its end') . "\n",
        'one line says that the profile is cut short');
};

subtest 'On a terminal each report takes the place of the one before' => sub {
    my $no_terminal = no_terminal();
    plan skip_all => $no_terminal if defined $no_terminal;
    my $command = join ' ', map { "'$_'" } @dprofpp, '--watch', 1, '-l';
    my $terminal = started('script.err', 'script', '-qec', $command, "$dir/typescript");
    my ($rest, $status) = ended($terminal);
    is($status, 0, '--watch on a terminal exits with 0');
    like($rest, qr/\A(?:\^D\x08\x08)?\e\[H\e\[2Jtmon\.out: profile cut short[^\n]*\nTotal Elapsed/,
        'the terminal is cleared before messages and report') or diag $rest;
};

subtest 'Files that cannot be watched are refused' => sub {
    for (['-', 'not a file that can be read again; dprofreport reads it once'],
        ['/dev/null', 'not a file that can be read again; dprofreport reads it once']) {
        is_deeply([dprofpp('--watch', 1, $_->[0])], ['', "--watch: $_->[0]: $_->[1]\n"
            . "Try 'dprofpp -h' for help.\n", 2], "--watch refuses $_->[0]");
    }
    is((dprofpp('--watch', $_))[2], 2, "--watch $_ is a usage error") for 0, -1, 'x';
    like((dprofpp({ fresh => 1 }, '--watch', 1, '-Q', '-p', 'x.pl'))[1],
        qr/^--watch: .*not with -p$/m,
        '--watch is refused with -p');
    spew("$dir/foreign.out", "hello\n");
    is_deeply([dprofpp({ dir => $dir }, '--watch', 100, 'foreign.out')],
        ['', "Not a perl profile: foreign.out; dprof run -- perl PROGRAM records one\n", 1],
        '--watch of a file that is no profile is an error');
};

done_testing;
