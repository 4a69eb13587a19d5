# Devel::DProf::Sample: a program that takes samples of itself, from its beginning or while it runs.
use strict;
use warnings;
use Config;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;

# A sample at every safe point.
my $LIBRARIES = join ':', map { root() . "/blib/$_" } qw(lib arch);
my %env = (PERL5LIB => $LIBRARIES, PERL_HASH_SEED => 0, PERL_DPROF_CLOCK => 'counting:10000');
my $HZ = 'hz => 100_000';

# Runs a program that has PROFILE for the profile's name. Returns what run_perl does, and that name.
sub run {
    my ($program, @switches) = @_;
    my $profile = scratch() . '/p.out';
    my $run = run_perl([@switches, '-e', $program =~ s/PROFILE/'$profile'/gr],
        env => { %env, PERL_DPROF_OUT_FILE_NAME => $profile });
    return { %$run, profile => $profile };
}

# The samples by stack.
sub folded {
    my (@args) = @_;
    my $run = run_tool('dproffold', ['-m', 'samples', @args]);
    return { map { /\A(.*) (\d+)\z/ ? ($1 => $2) : () } split /\n/, $run->{out} };
}

sub samples_in {
    my ($sub, @profiles) = @_;
    my $of = folded(@profiles);
    my $sum = 0;
    $sum += $of->{$_} for grep { /(?:\A|;)\Q$sub\E(?:;|\z)/ } keys %$of;
    return $sum;
}

my $WORK = 'sub work { my $s = 0; $s += $_ for 1 .. 100; $s } sub early { work() } '
    . 'sub late { work() } sub child { work() } ';

{
    my $run = run("use Devel::DProf::Sample $HZ; $WORK late(); late(); print 'x'; exit 3");
    is("$run->{out} $run->{err}" . ($run->{raw} >> 8), 'x 3', 'a program runs with the module');
    cmp_ok(samples_in('main::late', $run->{profile}), '>', 200, 'the module samples the program');
    my $text = slurp($run->{profile});
    like($text, qr/\$dprof_complete=1;/, 'the module samples until the program exits');
    like($text, qr/^& \w+ % main - kind=phase$/m, 'the samples belong to the main phase');
}
{
    my $run = run("$WORK early(); require Devel::DProf::Sample; "
        . "Devel::DProf::Sample->import($HZ); Devel::DProf::Sample->import($HZ); late(); "
        . 'if (!fork) { child(); exit 4 } wait; print $? >> 8; exec $^X, "-e", "print 5"');
    is("$run->{out} $run->{err}$run->{raw}", '45 0', 'a running program can begin to sample');
    my ($file, @more) = bsd_glob("$run->{profile}*");
    is(scalar(@more), 1, 'the program and its child have a file each');
    is(samples_in('main::early', $file), 0, 'the file has no sample from before the beginning');
    cmp_ok(samples_in('main::late', $file), '>', 100,
        'the file has samples from after the beginning');
    cmp_ok(samples_in('main::child', $more[0] // $file), '>', 100, "the child's file has samples");
    is(scalar(grep { slurp($_) =~ /\$dprof_complete=1;/ } $file, @more), 2,
        'the files are whole before an exec and an exit that were compiled before');
}
{
    my $run = run("$WORK use Devel::DProf::Control qw(start recording); "
        . "use Devel::DProf::Sample $HZ, start => 'no', out => PROFILE . 'x'; "
        . 'early(); print recording() ? 1 : 0; start(); print recording() ? 1 : 0; late()');
    is("$run->{out} $run->{err}$run->{raw}", '01 0',
        'the module Control works if it was loaded before');
    is(samples_in('main::early', "$run->{profile}x"), 0, 'nothing is sampled before start()');
    cmp_ok(samples_in('main::late', "$run->{profile}x"), '>', 100,
        'the program is sampled after start()');
}
{
    my $run = run("use Devel::DProf::Sample hz => 1; $WORK late()", '-d:DProf');
    is("$run->{out}$run->{err}$run->{raw}", '0', 'a program under -d:DProf can load the module');
    like(slurp($run->{profile}), qr/^\$dprof_format='trace 1'/m,
        'a program under -d:DProf is recorded as without the module');
}
{
    my $broken = scratch();
    mkdir $_ or die "$_: $!" for "$broken/Devel", "$broken/Devel/DProf";
    spew("$broken/Devel/DProf/Core.pm", "die qq{no such object at x line 1.\\n}");
    my $run = run("use Devel::DProf::Sample $HZ; $WORK late(); print 6", "-I$broken");
    is("$run->{out} $run->{err}$run->{raw}",
        "6 DProf: no such object; the program is not profiled\n0",
            "a program runs if the module's object is missing");
    $run = run('require Devel::DProf::Sample; $@ = 7; $SIG{__DIE__} = sub { print "dies: @_" }; '
        . "Devel::DProf::Sample->import($HZ); print \$@", "-I$broken");
    is($run->{out}, '7', "the module leaves the program's \$@ and \$SIG{__DIE__} alone");
}
SKIP: {
    skip 'this perl has no threads', 6 if !$Config{useithreads};
    my $signal = '$| = 1; $SIG{USR1} = sub { print "s" }; '
        . 'sub by_signal { threads->self->kill("USR1") } ';
    my $other = 'by_signal(); early(); if (!fork) { early(); CORE::exit(4) } wait; print $? >> 8; ';
    my $run = run("use threads; use threads::shared; my \$begun :shared; $WORK $signal"
        . 'my $thread = threads->create(sub { select undef, undef, undef, 0.01 until $begun; '
        . "$other}); require Devel::DProf::Sample; Devel::DProf::Sample->import($HZ, "
        . 'out => PROFILE); $begun = 1; $thread->join; late()');
    is("$run->{out} $run->{err}$run->{raw}", 's4 0',
        'a running thread goes on when the program begins to sample');
    is(samples_in('main::early', $run->{profile}), 0, 'a running thread is not sampled');
    cmp_ok(samples_in('main::late', $run->{profile}), '>', 100,
        'the program is sampled beside a running thread');
    $run = run("use threads; $WORK $signal"
        . 'threads->create(sub { require Devel::DProf::Sample; '
        . "Devel::DProf::Sample->import($HZ, out => PROFILE . \$_[0]); late(); late() }, \$_)"
        . "->join for 1, 2; $other");
    is(join(' ', @$run{qw(out err raw)}, map { samples_in('main::late', "$run->{profile}$_") > 200 }
            1, 2), 's4  0 1 1', 'threads sample themselves while the program does not');
    my $begin = "require Devel::DProf::Sample; Devel::DProf::Sample->import($HZ, "
        . "threads => 'no', out => PROFILE . ";
    $run = run("use threads; use threads::shared; my \$ended :shared; $WORK "
        . "my \$tid = threads->create(sub { $begin 1); late(); threads->create(sub { "
        . "select undef, undef, undef, 0.01 until \$ended; $begin 2); late(); early() })->tid "
        . '})->join; $ended = 1; threads->object($tid)->join; print 7');
    is("$run->{out} $run->{err}$run->{raw}", '7 0',
        'a thread of a thread that has ended can begin to sample');
    cmp_ok(samples_in('main::early', "$run->{profile}2"), '>', 100,
        'a thread of a thread that has ended is sampled');
}

for (['hz => 0', qr/^use Devel::DProf::Sample: hz must be a whole number .* at -e line 1/],
    ['hz => undef', qr/: hz must be a whole number/],
    ['"hz"', qr/: options are NAME => VALUE at -e line 1/],
    ['hz => 100_001', qr/^DProf: sample=100001 is not a whole number from 0 to 100000$/m],
    ['out => undef', qr/\A(?!.*uninit).*: out has no value at -e line 1/],
    ['ratio => 2', qr/^DProf: .*ratio/m]) {
    my ($options, $message) = @$_;
    my $run = run("use Devel::DProf::Sample $options; print 1");
    like($run->{err}, $message, "the option $options gives a message");
    is($run->{out}, '', "the option $options stops the program");
}

done_testing();
