# However a program ends, the profile of the run before is not taken for its own. From the main
# program on, each way of recording has a file of its own, and the tools read that.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;

my @LIBRARIES = (PERL5LIB => join ':', map { root() . "/blib/$_" } qw(lib arch));
my $OLD = profiled(['-e', 'sub old_run { 1 } old_run()'])->{profile};
my $HELD = 'use Devel::DProf::Control qw(hold settle); my $held = hold(10); ';

# With this clock no sample is due before a program ends.
my @MODES = (
    ['trace', [], {}],
    ['trace, each mark at once', [], { PERL_DPROF_BUFFER => 0 }],
    ['trace, packed', [], { PERL_DPROF_COMPRESS => 1 }],
    ['tree', [], { PERL_DPROF_MODE => 'tree' }],
    ['lines', [], { PERL_DPROF_MODE => 'tree', PERL_DPROF_LINES => 'time' }],
    ['stopped', [], { PERL_DPROF_START => 'no' }],
    ['a stopped tree', [], { PERL_DPROF_MODE => 'tree', PERL_DPROF_START => 'no' }],
    ['from a mark on', [], { PERL_DPROF_START => 'mark' }],
    ['held', [], { PERL_DPROF_MODE => 'tree' }, $HELD],
    ['samples', [], { PERL_DPROF_SAMPLE => 100 }],
    ['samples, packed', [], { PERL_DPROF_SAMPLE => 100, PERL_DPROF_COMPRESS => 1 }],
    ['samples from main on', [], { PERL_DPROF_SAMPLE => 100, PERL_DPROF_START => 'main' }],
    ['stopped samples', [], { PERL_DPROF_SAMPLE => 100, PERL_DPROF_START => 'no' }],
    ['held samples', [], { PERL_DPROF_SAMPLE => 100 }, $HELD],
    ['samples in a tree', [], { PERL_DPROF_SAMPLE => 100, PERL_DPROF_MODE => 'tree' }],
    ['samples with the usual clock', [], { PERL_DPROF_SAMPLE => 1, PERL_DPROF_CLOCK => undef }],
    ['the module Sample', ['-MDevel::DProf::Sample=hz,100'], {}],
);

my %HAS_BEGUN = (
    'a die'                => 'sub f { die "no\n" } f()',
    'an exit'              => 'exit 3',
    'nothing'              => '1',
    'a kill'               => 'kill 9, $$',
    'an _exit'             => 'require POSIX; POSIX::_exit(3)',
    'an abort'             => 'require POSIX; POSIX::abort()',
    'an exec'              => 'exec $^X, "-e", 1',
    'no such module'       => 'require No::Such::Module',
    'a die in INIT'        => 'INIT { die "no\n" }',
    'a kill in INIT'       => 'INIT { kill 9, $$ }',
    'a die in END'         => 'END { die "no\n" }',
    'a kill in END'        => 'END { kill 9, $$ }',
    'an exit in BEGIN'     => 'BEGIN { exit 2 }',
    'an exec in BEGIN'     => 'BEGIN { exec $^X, "-e", 1 }',
);
my %HAS_NOT_BEGUN = (
    'a syntax error'       => '1 +) ;',
    'a die in BEGIN'       => 'BEGIN { die "no\n" }',
    'a die in CHECK'       => 'CHECK { die "no\n" }',
    'no such module, used' => 'use No::Such::Module',
);

# Runs a program beside the old profile. Returns the directory.
sub run {
    my ($mode, $code) = @_;
    my ($what, $switches, $env, $first) = @$mode;
    my $dir = scratch();
    spew("$dir/tmon.out", slurp($OLD));
    run_perl([@$switches, '-e', ($first // '') . $code], dir => $dir, profile => !@$switches,
        env => { @LIBRARIES, counting(), %$env });
    return $dir;
}

sub run_of {
    my ($file) = @_;
    return -e $file && slurp($file) =~ /\$dprof_run='([^']+)'/ ? $1 : 'none';
}

my $OLD_RUN = run_of($OLD);
like(in_process('dprofpp', $OLD)->{out}, qr/main::old_run/, 'the run before has a sub');

sub mode_ok {
    my ($mode) = @_;
    my (@wrong, @moved);
    for my $end (sort keys %HAS_BEGUN) {
        my $dir = run($mode, $HAS_BEGUN{$end});
        my $run = run_of("$dir/tmon.out");
        push @wrong, "$end: the file is of run $run" if $run eq 'none' || $run eq $OLD_RUN;
        push @wrong, "$end: the old file was not kept" if run_of("$dir/tmon.out.old") ne $OLD_RUN;
        my $shown = in_process('dprofpp', "$dir/tmon.out");
        push @wrong, "$end: dprofpp shows the run before: $shown->{out}"
            if $shown->{out} =~ /old_run/;
    }
    is(join("\n", @wrong), '', "$mode->[0]: a program that has begun has a file of its own");
    for my $end (sort keys %HAS_NOT_BEGUN) {
        my $dir = run($mode, $HAS_NOT_BEGUN{$end});
        push @moved, $end if run_of("$dir/tmon.out") ne $OLD_RUN || -e "$dir/tmon.out.old";
    }
    is("@moved", '',
        "$mode->[0]: a program that could not be compiled leaves the old file in place");
    return;
}

for my $mode (@MODES) {
    SKIP: {
        my $env = $mode->[2];
        my $has_lines = $env->{PERL_DPROF_LINES}
            || $env->{PERL_DPROF_MODE} && $env->{PERL_DPROF_SAMPLE};
        skip "$mode->[0]: " . no_lines(), 2 if $has_lines && defined no_lines();
        mode_ok($mode);
    }
}

# Slices have names of their own.
for my $env ({}, { PERL_DPROF_SAMPLE => 100 }) {
    my @wrong;
    for my $end (sort keys %HAS_BEGUN) {
        my $dir = run(['slices', [], { %$env, PERL_DPROF_SPOOL => 'spool' }], $HAS_BEGUN{$end});
        my @slices = map { glob "$dir/spool/*.$_" } qw(tree part);
        push @wrong, $end if @slices != 1 || run_of($slices[0]) =~ /none|\A\Q$OLD_RUN\E\z/;
    }
    is("@wrong", '', 'only a program that has begun leaves a slice' . (%$env ? ' of samples' : ''));
}

# With -p, dprofpp knows which program is meant.
for my $env ({}, { PERL_DPROF_SAMPLE => 100 }) {
    for my $end (sort keys %HAS_NOT_BEGUN) {
        my $dir = scratch();
        spew("$dir/tmon.out", slurp($OLD));
        spew("$dir/program", $HAS_NOT_BEGUN{$end});
        my $run = run_tool('dprofpp', ['-p', 'program'], dir => $dir, env => { @LIBRARIES, %$env });
        unlike($run->{out}, qr/old_run/, "dprofpp -p does not show the old profile: $end");
        like($run->{err}, qr/^program left no profile$/m,
            "dprofpp -p says that the program left no profile: $end");
    }
}

done_testing;
