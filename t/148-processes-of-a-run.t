# dprof run and dprofreport --processes list the processes of a run, grouped by program.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use Devel::DProf::View::Processes;

# Returns the header of a file: program, process, parent, begin, duration and CPU time in ticks.
sub header {
    my ($script, $pid, $parent, $start, $took, $cpu, %more) = @_;
    return { dprof_script => $script, dprof_pid => $pid, dprof_ppid => $parent, hz => 1000,
        dprof_start => $start, rrun_rtime => $took, rrun_utime => $cpu, rrun_stime => 1,
        dprof_run => "r$pid", %more };
}

sub text_of {
    my ($width, @headers) = @_;
    return Devel::DProf::View::Processes::as_text($width,
        Devel::DProf::View::Processes::of_headers(@headers));
}

my @run = (header('make.pl', 10, 9, 100, 5000, 99), header('kid.pl', 11, 10, '100.5', 1000, 999),
    header('kid.pl', 12, 10, 102, 500, 1999), header('kid.pl', 13, 10, 103, 250, 9));
is(text_of(0, @run), <<'END', 'processes of the same program stand together, with their sum');
4 processes:
     CPU s    Begin s     Took s      PID   Parent  Program
    3.0100           3 processes                    kid.pl
    2.0000     2.0000     0.5000       12       10    kid.pl
    1.0000     0.5000     1.0000       11       10    kid.pl
    0.0100     3.0000     0.2500       13       10    kid.pl
    0.1000     0.0000     5.0000       10        9  make.pl
END

is(text_of(0, @run[0, 1], header('kid.pl', 11, 10, 101, 3000, 0, dprof_tid => 1)),
    <<'END', 'the threads of a process are one row');
2 processes:
     CPU s    Begin s     Took s      PID   Parent  Program
    1.0010     0.5000     3.5000       11       10  kid.pl
    0.1000     0.0000     5.0000       10        9  make.pl
END
is(text_of(0, @run[0, 1], header('other.pl', 11, 10, 101, 3000, 0, dprof_run => 'exec')) =~ tr/\n//,
    5, 'a program that another one has become is a row of its own');
is(text_of(0, $run[0], { dprof_pid => 5 }), <<'END', 'what a header lacks is left open');
2 processes:
     CPU s    Begin s     Took s      PID   Parent  Program
    0.1000     0.0000     5.0000       10        9  make.pl
    0.0000          -          -        5        ?  ?
END

# Against a plain form, on runs of any size.
srand 148;
for my $round (1 .. 50) {
    my @headers = map { header('p' . int(rand 4) . '.pl', 100 + $_, 1, 50 + int rand 9,
        int rand 999, int rand 999) } 1 .. 2 + int rand 20;
    my @lines = split /\n/, text_of(0, @headers);
    my $all = @headers;
    my $more = $all > 10 ? $all - 10 : 0;
    my @processes = grep { /^ +[\d.]+ +[\d.]+ +[\d.]+ +\d+ +1 / } @lines;
    my %sum;
    $sum{ $_->{dprof_script} } += ($_->{rrun_utime} + 1) / 1000 for @headers;
    my @bad = grep { my ($sum, $name) = /^ *([\d.]+) +\d+ processes +(\S+)\z/;
        defined $name && abs($sum - $sum{$name}) > 1e-9 } @lines;
    my $says_more = $lines[-1] =~ /^\.\.\. and (\d+) more\z/ ? $1 : 0;
    is("$lines[0] @{[scalar @processes]} $says_more @bad",
        "$all processes: " . ($all - $more) . " $more ", "round $round");
}

my $long = 'bin/' . 'very-' x 30 . 'long.pl';
my @wide = grep { length > 80 } split /\n/, text_of(80, map { header($long, $_, 1, 1, 1, 1) } 1, 2);
is("@wide", '', 'names are cut to the width');
like(text_of(80, header($long, 1, 1, 1, 1, 1), $run[0]), qr/ bin\/ver.*\.\.\..*long\.pl$/m,
    'a name is cut in the middle');
unlike(text_of(0, header("a\nb", 1, 1, 1, 1, 1)), qr/^b/m, 'a name makes no line');

subtest 'The tools print that' => sub {
    my $dir = scratch();
    spew("$dir/kid.pl", 'sub g { 1 } g()');
    my $run = run_program([$^X, '-e',
        'sub f { 1 } f(); system $^X, "kid.pl", "secret-word" for 1, 2'],
        dir => $dir, env => { counting(), profiler_env(), PERL_DPROF_OUT => '%p.out' });
    is($run->{raw}, 0, 'the program succeeds');
    my ($file) = bsd_glob("$dir/*.out");
    my $report = run_tool('dprofreport', ['--processes', $file]);
    is($report->{status}, 0, 'dprofreport --processes succeeds');
    like($report->{out}, qr/^Next: [^\n]*\n\n3 processes:\n/m, 'the list stands below the answer');
    my $row = qr/ +[\d.]+ +[\d.]+ +[\d.]+ +\d+ +$run->{pid} +kid\.pl\n/;
    like($report->{out}, qr/^ +[\d.]+ +2 processes +kid\.pl\n(?:$row){2}/m,
        'the list has program, process and parent');
    unlike($report->{out}, qr/secret/, 'arguments of a command are not in a profile');
    for my $args ([$file], ['--processes', '--format', 'json', $file],
        ['--processes', '--format', 'perf', $file]) {
        unlike(run_tool('dprofreport', $args)->{out}, qr/^3 processes:/m, "@$args: no list");
    }
};

done_testing;
