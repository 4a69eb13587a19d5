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
    is($run->{raw}, 0, "the program runs: $options");
    return slurp("$dir/tmon.out");
}

subtest 'a clock of tests costs nothing' => sub {
    recorded('tree', PERL_DPROF_CLOCK => 'counting');
    my ($out, $err, $status) = list('--clock', 'tmon.out');
    is("$status$err", '0', 'dproflist --clock');
    is_deeply([split /\n/, $out], [
        'tmon.out: too short, a thread or a child: nothing shows how accurate its times are',
        '  clock               a clock of tests',
        '  taken off           0.0 ns from each interval between calls and returns',
        (grep { /own CPU/ } split /\n/, $out),
    ], 'a line each');
};

subtest 'a real clock is measured' => sub {
    my $text = recorded('tree');
    my ($clock) = $text =~ /\$dprof_clock='(\w+)'/;
    my ($zero) = $text =~ /\$dprof_clock_zero=([\d.]+);/;
    cmp_ok($zero, '<', 1000, "$clock: $zero ns");
    my ($out) = list('--clock', '--json', 'tmon.out');
    my $json = JSON::PP->new->utf8->decode($out);
    is_deeply([@{ $json->{clocks}[0] }{qw(file clock call_ns statement_ns)}],
        ['tmon.out', $clock, $zero + 0, undef], 'JSON has the same');
};

subtest 'statements are measured, too' => sub {
    my $run = profiled([$program], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => "$dir/tmon.out", PERL_DPROF_MODE => 'tree',
            PERL_DPROF_LINES => 'time', PERL_DPROF_CLOCK => '' });
    plan(skip_all => 'this perl cannot record lines') if $run->{err} =~ /lines needs a perl/;
    my $text = slurp("$dir/tmon.out");
    plan(skip_all => 'this machine has no counter') if $text !~ /\$dprof_clock='(?:tsc|cntvct)'/;
    like($text, qr/\$dprof_clock_line=[\d.]+; /, 'the header has it');
    my ($out) = list('--clock', 'tmon.out');
    like($out, qr/ ns between statements$/m, 'dproflist --clock shows it');
};

subtest 'samples read no clock at calls' => sub {
    my $run = profiled([$program], dir => $dir,
        env => { PERL_DPROF_OUT_FILE_NAME => "$dir/tmon.out", PERL_DPROF_SAMPLE => 1000 });
    is("$run->{raw}$run->{err}", 0, 'the program runs');
    my ($out) = list('--clock', 'tmon.out');
    unlike($out, qr/taken off/, 'nothing is taken off');
};

# Ticks of user time, and of CPU time that belongs to no sub.
sub made {
    my ($user, $lost) = @_;
    my $text = recorded('tree', PERL_DPROF_CLOCK => 'counting');
    $text =~ s/\$rrun_utime=\d+; \$rrun_stime=\d+;/\$rrun_utime=$user; \$rrun_stime=0;/;
    $text =~ s/\$dprof_own_cpu=\d+;/\$dprof_own_cpu=0; \$dprof_dropped_cpu=$lost;/;
    return spew("$dir/made.out", $text);
}

subtest 'sums that disagree' => sub {
    made(10_000_000, 300_000);
    is((list('--clock', 'made.out'))[0] =~ s/\n.*//sr,
        'made.out: the clocks agree: CPU time beyond the time that passed is 3.0 %', 'at 3 %');
    made(10_000_000, 310_000);
    is((list('--clock', 'made.out'))[0] =~ s/\n.*//sr,
        'made.out: times are too small: the CPU clock counted 3.1 % more than passed', 'above');
    my $said = qr/^made\.out: two clocks disagree: by one of them 3\.1 % more CPU time was used /m;
    made(9_900_000, 60_000);
    is((list('--clock', 'made.out'))[0] =~ s/\n.*//sr,
        'made.out: too short, a thread or a child: nothing shows how accurate its times are',
        'below a second');
    is(run_tool('dprofreport', ['made.out'], dir => $dir)->{err}, '', '... the tools say nothing');
    made(10_000_000, 310_000);
    for my $tool (qw(dprofreport dproffold)) {
        my $run = run_tool($tool, ['made.out'], dir => $dir);
        like($run->{err}, $said, "$tool says so");
    }
};

subtest 'what is no profile' => sub {
    my ($out, $err, $status) = list('--clock', 'none.out');
    is("$status$out", '1', 'no file');
    like($err, qr/^dproflist: Unable to open none\.out: /, '... is named');
    recorded('tree', PERL_DPROF_CLOCK => 'counting');
    ($out, $err, $status) = list('--clock', 'none.out', 'tmon.out');
    is($status, 1, 'one of two');
    like($out, qr/^tmon\.out: too short/, '... and the other one is shown');
};

done_testing;
