# What reading the clock costs is in the header, dproflist --clock shows it, and tools say when the
# times of a profile cannot be trusted.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;
use DProfTest;

my $dir = scratch();
my $program = spew("$dir/p.pl", 'sub f { 1 } f() for 1 .. 10');

sub list {
    my (@args) = @_;
    my $run = run_tool('dproflist', \@args, dir => $dir);
    return @$run{qw(out err status)};
}

sub recorded {
    my ($options, %env) = @_;
    my $run = profiled([$program], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => "$dir/tmon.out", PERL_DPROF_MODE => $options, %env });
    is($run->{raw}, 0, "the program runs with the options: $options");
    return slurp("$dir/tmon.out");
}

subtest 'A clock of tests has no cost' => sub {
    recorded('tree', PERL_DPROF_CLOCK => 'counting');
    my ($out, $err, $status) = list('--clock', 'tmon.out');
    is("$status$err", '0', 'dproflist --clock succeeds without a message');
    is_deeply([split /\n/, $out], [
        'tmon.out: too short, a thread or a child: nothing shows how accurate its times are',
        '  clock               a clock of tests',
        '  taken off           0.0 ns from each interval between calls and returns',
        (grep { /own CPU/ } split /\n/, $out),
    ], 'dproflist --clock prints a line for each fact');
};

subtest 'A real clock is measured' => sub {
    my $text = recorded('tree');
    my ($clock) = $text =~ /\$dprof_clock='(\w+)'/;
    my ($zero) = $text =~ /\$dprof_clock_zero=([\d.]+);/;
    cmp_ok($zero, '<', 1000, "reading the clock $clock takes less than 1,000 ns");
    my ($out) = list('--clock', '--json', 'tmon.out');
    my $json = JSON::PP->new->utf8->decode($out);
    is_deeply([@{ $json->{clocks}[0] }{qw(file clock call_ns statement_ns)}],
        ['tmon.out', $clock, $zero + 0, undef], 'JSON has the clock and its cost');
};

subtest 'The cost of statements is measured' => sub {
    my $run = profiled([$program], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => "$dir/tmon.out", PERL_DPROF_MODE => 'tree',
            PERL_DPROF_LINES => 'time', PERL_DPROF_CLOCK => '' });
    plan(skip_all => 'this perl cannot record lines') if $run->{err} =~ /lines needs a perl/;
    my $text = slurp("$dir/tmon.out");
    plan(skip_all => 'this machine has no counter') if $text !~ /\$dprof_clock='(?:tsc|cntvct)'/;
    like($text, qr/\$dprof_clock_line=[\d.]+; /, 'the header has the cost of statements');
    my ($out) = list('--clock', 'tmon.out');
    like($out, qr/ ns between statements$/m, 'dproflist --clock prints the cost of statements');
};

subtest 'Samples read no clock at calls' => sub {
    my $run = profiled([$program], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => "$dir/tmon.out", PERL_DPROF_SAMPLE => 1000 });
    is("$run->{raw}$run->{err}", 0, 'a program is sampled without a message');
    my ($out) = list('--clock', 'tmon.out');
    unlike($out, qr/taken off/,
        'dproflist --clock does not say that something is taken off samples');
};

# Ticks of user time, and of CPU time that belongs to no sub.
sub made {
    my ($user, $lost) = @_;
    my $text = recorded('tree', PERL_DPROF_CLOCK => 'counting');
    $text =~ s/\$rrun_utime=\d+; \$rrun_stime=\d+;/\$rrun_utime=$user; \$rrun_stime=0;/;
    $text =~ s/\$dprof_own_cpu=\d+;/\$dprof_own_cpu=0; \$dprof_dropped_cpu=$lost;/;
    return spew("$dir/made.out", $text);
}

subtest 'Sums of clocks that disagree give a message' => sub {
    made(10_000_000, 300_000);
    is((list('--clock', 'made.out'))[0] =~ s/\n.*//sr,
        'made.out: the clocks agree: CPU time beyond the time that passed is 3.0 %',
            'dproflist --clock says that clocks agree at 3 %');
    made(10_000_000, 310_000);
    is((list('--clock', 'made.out'))[0] =~ s/\n.*//sr,
        'made.out: times are too small: the CPU clock counted 3.1 % more than passed',
            'dproflist --clock says that times are too small above 3 %');
    my $said = qr/^made\.out: user and system times are up to 3\.1 % too small: the CPU clock /m;
    made(9_900_000, 60_000);
    is((list('--clock', 'made.out'))[0] =~ s/\n.*//sr,
        'made.out: too short, a thread or a child: nothing shows how accurate its times are',
        'dproflist --clock says that less than a second is too short');
    is(run_tool('dprofreport', ['made.out'], dir => $dir)->{err}, '',
        'dprofreport prints no message about less than a second');
    made(10_000_000, 310_000);
    for my $tool (qw(dprofreport dproffold)) {
        my $run = run_tool($tool, ['made.out'], dir => $dir);
        like($run->{err}, $said, "$tool says that times are too small");
    }
};

subtest 'A missing profile gives a message' => sub {
    my ($out, $err, $status) = list('--clock', 'none.out');
    is("$status$out", '1', 'dproflist --clock fails if the file is missing');
    like($err, qr/^dproflist: Unable to open none\.out: /, 'a message names the missing file');
    recorded('tree', PERL_DPROF_CLOCK => 'counting');
    ($out, $err, $status) = list('--clock', 'none.out', 'tmon.out');
    is($status, 1, 'dproflist --clock fails if one of two files is missing');
    like($out, qr/^tmon\.out: too short/, 'dproflist --clock prints the other file');
};

done_testing;
