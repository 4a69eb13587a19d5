# Perls that a profiled program starts belong to its run, if they record. --processes finds their
# files, in whatever way they were started, and the program's %ENV shows nothing of that.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use Devel::DProf::Input;
use Devel::DProf::Sides;

my %RECORD = (counting(), profiler_env(), PERL_DPROF_OUT => '%p.out');

my $KID = 'sub g { 1 } g() for 1 .. 5; if (!fork) { g(); exit } wait';

sub headers { return map { +{ Devel::DProf::Input::header_of($_) } } @_ }

# Runs a program with the recorder in PERL5OPT, in a folder of its own, where it may start kid.pl.
# Returns the folder and the output.
sub run_started {
    my ($code, %env) = @_;
    my $dir = scratch();
    spew("$dir/kid.pl", $KID);
    my $run = run_program([$^X, '-e', $code], dir => $dir, env => { %RECORD, %env });
    is("$run->{raw} $run->{err}", '0 ', 'the program succeeds');
    return ($dir, $run->{out});
}

subtest 'All perls of a command are one run' => sub {
    my ($dir) = run_started(<<'END');
sub f { 1 } f() for 1 .. 3;
system $^X, 'kid.pl'; system qq{"$^X" kid.pl}; my $text = qx{"$^X" -e 1};
open my $in, '-|', $^X, '-e', 1 or die; close $in;
if (!fork) { exec $^X, '-e', 'sub h { 1 } h()' } wait; f();
END
    my @files = bsd_glob("$dir/*.out*");
    my @headers = headers(@files);
    my ($first) = map { $_->{dprof_run} } grep { !defined $_->{dprof_of_run} } @headers;
    my %runs = map { $_->{dprof_run} => 1 } @headers;
    is(scalar keys %runs, 6, 'each perl has a run of its own');
    is(scalar @files, 8, 'forked children leave files, too');
    is(scalar(grep { ($_->{dprof_of_run} // $_->{dprof_run}) eq $first } @headers), 8,
        'all files name the first perl');
    is(join(' ', map { scalar(my @found = Devel::DProf::Input::processes($_)) } @files),
        join(' ', (8) x 8), 'all files are found from each of them');
    my $report = run_tool('dprofreport', ['--processes', $files[0]])->{out};
    like($report, qr/^Processes: 8: -e 4, kid\.pl 4; -s script and -s pid show them apart$/m,
        'the report counts the processes of each program');
    my %calls = reverse $report =~ /(\d+)  (main::\w+)$/mg;
    is_deeply(\%calls, { 'main::f' => 4, 'main::g' => 12, 'main::h' => 1 },
        'the report has the calls of all perls');
    run_started('sub f { 1 } f()', PERL_DPROF_OUT => "$dir/%p.out");
    is(scalar(my @found = Devel::DProf::Input::processes($files[0])), 8,
        'another command in the same folder is another run');
    is(scalar @{ Devel::DProf::Sides::runs(0, bsd_glob("$dir/*.out*")) }, 2,
        'two commands are two runs of a side');
};

subtest 'A program and the perls that it starts are found by tmon.out' => sub {
    my ($dir) = run_started('sub f { 1 } f(); system $^X, "kid.pl"; f();',
        PERL_DPROF_OUT => undef);
    is(scalar(my @found = Devel::DProf::Input::processes("$dir/tmon.out")), 3,
        'the run of tmon.out has three processes');
};

subtest 'The program does not notice' => sub {
    my $names = 'print join(" ", grep { /DPROF_RUN/ } sort keys %ENV), "|",'
        . ' exists $ENV{PERL_DPROF_RUN} ? 1 : 0, "|", scalar(keys %ENV), "\n";';
    my $plain = run_program([$^X, '-e', $names], dir => scratch(),
        env => { %RECORD, PERL5OPT => undef });
    my ($count) = $plain->{out} =~ /\|(\d+)$/m;
    my $want = '|0|' . ($count + 1) . "\n";
    my (undef, $out) = run_started("\$| = 1; $names exec \$^X, '-e', '$names'");
    is($out, $want x 2, 'the first perl and the second see PERL5OPT alone in %ENV');
    (undef, $out) = run_started($names, PERL_DPROF_RUN => '0123456789abcdef' x 2);
    is($out, $want, 'a run in the environment is taken out of %ENV');
    my $run = profiled(['-e', 'print qx{env}'], env => { counting() });
    unlike($run->{out}, qr/DPROF_RUN/,
        'without PERL5OPT, the environment of other programs has no run');
    (undef, $out) = run_started('$ENV{A} = 1; delete $ENV{A}; local $ENV{B} = 2;'
        . ' %ENV = (%ENV, C => 3); system $^X, "-e", q{print "$ENV{B}$ENV{C}\n"}');
    is($out, "23\n", 'a program can change its %ENV');
};

subtest 'Wrong runs are ignored' => sub {
    for my $wrong ('', 'x', "a'b", '0' x 40, '../x') {
        my ($dir) = run_started('1', PERL_DPROF_RUN => $wrong);
        my ($header) = headers(bsd_glob("$dir/*.out"));
        ok(!defined $header->{dprof_of_run}, "'$wrong' is ignored");
    }
    my ($dir) = run_started('1', PERL_DPROF_RUN => 'abc123');
    is((headers(bsd_glob("$dir/*.out")))[0]{dprof_of_run}, 'abc123', 'a run is used');
};

subtest 'dprof run reports one run' => sub {
    my $dir = scratch();
    spew("$dir/a.pl", "sub g { 1 } g(); system \$^X, '-e', 'sub h { 1 } h() for 1, 2'");
    my $got = run_tool('dprof', ['run', '--', 'sh', '-c', "'$^X' a.pl; '$^X' a.pl"],
        fresh => 1, dir => $dir, env => { counting() });
    is($got->{status}, 0, 'dprof run records a shell');
    my @files = bsd_glob("$dir/dprof.run/*.out");
    my %of = map { $_->{dprof_of_run} // 'none' => 1 } headers(@files);
    is(scalar @files, 4, 'four perls have run');
    is(scalar keys %of, 1, 'all of them belong to one run');
    is(scalar(my @found = Devel::DProf::Input::processes($files[2])), 4,
        '--processes finds them, although a shell has started them');
};

done_testing();
