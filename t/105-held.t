# Devel::DProf::Control: hold and settle, and packages around a program. What was fast is in no sum,
# and what was slow is recorded as if nothing had been held back; with the counting clock, the
# program says itself which is which.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use PhaseReader;
use RunReader qw(MODES wrong_sums);
use StrictProfile;

my %TREE = (counting(), PERL_DPROF_MODE => 'tree', PERL_HASH_SEED => 0);
my @LINES = grep { $_->[0] eq 'lines' } MODES;

# What the programs share. A job of N rows takes N ms and is slow from 10 ms on.
my $JOBS = <<'END';
use strict; use warnings;
use Devel::DProf::Control qw(start stop mark save phase recording hold held settle);
my $is_there = defined phase();
sub row { Devel::DProf::_advance(1_000_000, 1_000_000) if $is_there; return }
sub page { row() for 1 .. $_[0]; return } sub idle { 1 }
sub check { my ($got, $want, $what) = @_;
    print "$what: wrong\n" if $is_there && !$got != !$want; return }
sub job { my ($n) = @_; my $held = hold(0.01); mark("job $n"); page($n); mark('main');
    check(settle($held), $n >= 10, "job $n"); return }
END

# Checks that a file holds together. Returns its header.
sub header_of {
    my ($file, $name) = @_;
    my @wrong = StrictProfile::problems($file, \my %about);
    is(join("\n", @wrong, wrong_sums($file)), '', $name);
    return $about{header};
}

# Runs the program plain and recorded; both must do the same. Returns the calls by phase.
sub calls_of {
    my ($name, $program, %env) = @_;
    my $file = spew(scratch() . '/p.pl', $JOBS . $program);
    my $run = profiled([$file], env => { %TREE, %env });
    same_as_plain(plain([$file], env => { PERL5LIB => tree() }), $run, "$name runs as plain");
    return PhaseReader::calls($run->{profile}, qr/^main::(?:job|page|row|idle)\z/), $run;
}

my $MANY = 'for my $n (map { ($_, 20 - $_) } 1 .. 19) { job($n); idle() }';
my %MANY = (map({ ("job $_ main::row" => 2 * $_, "job $_ main::page" => 2) } 10 .. 19),
    'main main::job' => 38, 'main main::idle' => 38);

for my $how (['a tree', {}], ['call sites', { PERL_DPROF_CALLSITES => 1 }],
    (map { [lines => { %{ $_->[1] } }] } @LINES), ['ops', { PERL_DPROF_OPS => 1 }]) {
    my ($what, $env) = @$how;
    my ($calls, $run) = calls_of("$what: only slow jobs", $MANY, %$env);
    is_deeply($calls, \%MANY, 'kept calls are recorded, each in its phase') or diag explain $calls;
    my ($all, $stopped) = @{ header_of($run->{profile}, 'the sums of the file are equal') }
        {qw(rrun_rtime dprof_stopped)};
    cmp_ok($all, '>=', 290 * 10_000, 'the profile has the time of slow jobs');
    cmp_ok($all, '<', 300 * 10_000, 'the profile has no other time than that of slow jobs');
    cmp_ok($stopped, '>=', 90 * 10_000,
        'the time of fast jobs belongs to the time when recording was stopped');
    cmp_ok($stopped, '<', 95 * 10_000,
        'the time when recording was stopped is that of fast jobs alone');
}
{
    my $whole = $JOBS =~ s/hold\(0\.01\)/0/r =~ s/check\(.*?\);//r;
    my @trees;
    my $held = $JOBS =~ s/hold\(0\.01\)/hold(1e-9)/r =~ s/check\(.*?\);/settle(\$held);/r;
    for my $text ($held, $whole) {
        my $dir = scratch();
        my $run = profiled([spew("$dir/p.pl", $text . 'job($_), idle() for 1 .. 9;')],
            dir => $dir, env => { %TREE, PERL_DPROF_OUT => "$dir/out" });
        push @trees, PhaseReader::calls("$dir/out", qr/./);
    }
    is_deeply($trees[0], $trees[1], 'what is kept is recorded as if it had not been held back');
}
{
    my ($calls) = calls_of('start=no', <<'END', PERL_DPROF_START => 'no');
for my $n (3, 12, 4) { my $held = hold(0.01); start(); page($n); stop(); settle($held); idle() }
if (!fork) { my $held = hold(0.01); start(); page(30); settle($held); exit 0 } wait;
END
    is_deeply($calls, { 'main main::page' => 1, 'main main::row' => 12 },
        'a stretch and a phase can begin in either order');
}
{
    my ($calls, $run) = calls_of('a fork', <<'END');
for my $n (2, 12) { my $held = hold(0.01); mark("job $n"); page(1);
    if (!fork) { page(3); check(settle($held), 0, 'in a child'); job(5); job(50); exit 0 }
    wait; page($n); mark('main'); settle($held) }
END
    is_deeply($calls, { 'job 12 main::page' => 2, 'job 12 main::row' => 13 },
        'the parent keeps slow stretches after a fork in one');
    for my $file (grep { !/\.live\z/ } bsd_glob("$run->{profile}.*")) {
        my $child = PhaseReader::calls($file, qr/^main::(?:row|job)\z/);
        my ($in) = map { /^(job \d+) main::job/ } keys %$child;
        is_deeply($child, { "$in main::row" => 3, 'job 50 main::row' => 50, "$in main::job" => 1,
            'main main::job' => 1 },
                'a child that was forked in a stretch records from the fork on')
            or diag explain $child;
    }
}
{
    for my $end (['exit 0', 0], ['die "dead\n"', 0], ['POSIX::_exit(0)', 1],
        ['exec $^X, "-e", "0" or die', 1]) {
        my ($calls) = calls_of("$end->[0] in the middle", "use POSIX (); hold(0.005); page(3);"
            . " my \$held = hold(0.01); mark('end'); page(12); hold(0.01); page(2); $end->[0]");
        is_deeply([@$calls{'main main::row', 'end main::row', 'main main::page'}],
            [3, 12, 1], 'a save in a stretch has what is slow by then') or diag explain $calls;
    }
    my ($calls) = calls_of('an exec that fails', <<'END');
my $held = hold(0.01); page(3); { no warnings; exec '/nowhere/at/all' } idle(); page(4);
check(settle($held), 0, 'not held any more'); job(2); job(12);
END
    is_deeply([@$calls{'main main::row', 'main main::idle', 'job 12 main::row', 'job 2 main::row'}],
        [4, 1, 12, undef], 'the stop of a recording ends the stretch, and recording goes on')
            or diag explain $calls;
    ($calls) = calls_of('a die through it', <<'END');
for my $n (2, 12) { my $held; eval { $held = hold(0.01); page($n); die "out\n" }; settle($held) }
sub outer { my $held = hold(0.01); page(2); return $held } settle(outer()); idle();
END
    is_deeply($calls, { 'main main::page' => 1, 'main main::row' => 12, 'main main::idle' => 1 },
        'a return ends the stretch');
}
{
    my ($calls) = calls_of('stretches that take turns', <<'END');
my ($fast, $slow) = (hold(0.015), hold(0.015));
for (1 .. 6) { held($fast); page(1); held($slow); page(2); held(0); idle();
    if ($_ == 4) { check(held(), 0, 'none'); check(settle($fast), 0, 'fast') } }
check(settle($slow), 1, 'slow'); check(settle($slow), 0, 'over'); check(held(99), 0, 'nothing');
END
    is_deeply($calls, { 'main main::page' => 8, 'main main::row' => 14, 'main main::idle' => 6 },
        'stretches are kept or dropped by the time from beginning to end') or diag explain $calls;
}
{
    my $file = spew(scratch() . '/p.pl', $JOBS
        . 'page(1); hold(0.01); page(20); save(); page(1); kill KILL => $$;');
    my $run = profiled([$file], env => \%TREE);
    my $calls = PhaseReader::calls($run->{profile}, qr/^main::(?:row|idle)\z/);
    is_deeply($calls, { 'main main::row' => 1 },
        'the file of a process that saved and was killed in a stretch has nothing of it');
    $file = spew(scratch() . '/p.pl', $JOBS . <<'END');
for my $n (3, 12, 4, 15) { my $held = hold(0.01); mark("job $n"); page($n); save(); page($n);
    mark('main'); save() if $n == 4; settle($held); idle(); save() }
hold(1); save();
END
    my $spool = scratch() . '/spool';
    $run = profiled([$file],
        env => { %TREE, PERL_DPROF_SLICE => 60, PERL_DPROF_SPOOL => $spool });
    my @slices = bsd_glob("$spool/*.tree");
    is(scalar @slices, 11, 'the program leaves eleven slices');
    header_of($_, 'the sums of a slice are equal') for @slices;
    my @jobs = map { my $file = $_;
        grep { !/main::idle/ } map { "$_ in " . ($file =~ /(\d+)\.tree\z/)[0] }
        sort keys %{ PhaseReader::calls($file, qr/^main::(?:row|idle)\z/) } } @slices;
    is(scalar(grep { /^job 1[25] / } @jobs), 2, 'each slow job is in one slice')
        or diag explain \@jobs;
    is_deeply(PhaseReader::calls(\@slices, qr/^main::(?:row|idle)\z/), { 'job 12 main::row' => 24,
        'job 15 main::row' => 30, 'main main::idle' => 4 },
            'a slow job has all its calls in its slice');
}
{
    my $tell = qr/\ADProf: a trace cannot drop what was fast, so all is recorded; [^\n]*\n\z/;
    my $run = profiled([spew(scratch() . '/p.pl', $JOBS . 'for (2, 3) { my $h = hold(1);'
        . 'print "held\n" if $h; page($_); settle($h) }')], env => { counting() });
    like($run->{err}, $tell, 'a trace says once that it cannot drop anything');
    is($run->{out}, '', 'a trace holds nothing back');
    is(PhaseReader::calls($run->{profile}, qr/^main::row\z/)->{'main main::row'}, 5,
        'a trace records all stretches');
}
{
    my $file = spew(scratch() . '/p.pl', $JOBS . <<'END');
package Around; our $DPROF_AROUND; use strict;
sub new { my ($class, $code) = @_; return bless { code => $code }, $class }
sub call { my ($self, @args) = @_; idle(); main::job(@args); return sub { $self->{code}->(@args) } }
sub idle { 1 } sub DESTROY { main::idle() }
package Beside; sub DPROF { 1 } sub call { main::idle() }
package main; Around->new(\&page)->call(12)->(1); Beside::call();
END
    for my $env ({ %TREE }, { counting() }, map { $_->[1] } @LINES) {
        my $run = profiled([$file], env => $env);
        is_deeply(PhaseReader::calls($run->{profile}, qr/^(?:Around|Beside|main)::/), {
            'job 12 main::page' => 1, 'job 12 main::row' => 12, 'main main::idle' => 2,
            'main main::check' => 1, 'main main::job' => 1, 'main main::page' => 1,
            'main main::row' => 12, 'main Beside::call' => 1 },
            'a package that says that it is around the program is not recorded')
            or diag explain PhaseReader::calls($run->{profile}, qr/^(?:Around|Beside|main)::/);
    }
}
{
    my ($calls) = calls_of('odd arguments', <<'END');
package Tied { sub TIESCALAR { bless [] } sub FETCH { die "called" } }
package Dies { use overload '""' => sub { die "called" }, '0+' => sub { die "called" } }
package main; tie my $tied, 'Tied';
for my $f (\&hold, \&held, \&settle) {
    $f->($_) for $tied, bless([], 'Dies'), undef, '', 'x', -1, 0, [], \1, '1e999', -9**9**9,
        9**9**9;
    $f->(); }
settle() while held(); hold('0.000001'); idle(); settle(); idle();
END
    is_deeply($calls, { 'main main::idle' => 2 },
        'odd arguments do no harm') or diag explain $calls;
}
{
    my $file = spew(scratch() . '/p.pl', $JOBS
        . 'for my $n (map { ($_, 40 - $_) } 1 .. 39) { my $h = hold(0.02); mark("job $n");'
        . ' for (1 .. $n) { row(); my $x = 0; $x += $_ for 1 .. 9 } mark("main"); settle($h) }');
    my $run = profiled([$file], env => { counting(), PERL_DPROF_SAMPLE => 1000 });
    my @lines = PhaseReader::tree_of($run->{profile});
    my %jobs = map { /kind=phase/ && /job%20(\d+)/ ? ($1 => 1) : () } grep { /^& / } @lines;
    my $all = header_of($run->{profile}, 'the sums of a sampled file are equal')->{rrun_rtime};
    cmp_ok($all, '>=', 1200 * 10_000, 'a sampled profile has the time of slow jobs');
    cmp_ok($all, '<', 1300 * 10_000, 'a sampled profile has no other time than that of slow jobs');
}

done_testing();
