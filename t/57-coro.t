# Coroutines: random programs yield wherever code can run, and each sub counts its own calls, by
# caller too; and what a profiler could break in Coro. xt/coro.pl runs many more.
#
# DPROF_SEED and DPROF_PROGRAMS: where to begin, and how many.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use CoroProgram;
use StrictProfile;

plan skip_all => 'needs Coro' if run_perl(['-e', 'require Coro'])->{raw};

my %mode = (trace => {}, tree => { PERL_DPROF_MODE => 'tree' });
my @lib = ('-I' . tree());
my %seeds = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);

# Returns the edges of a profile, its problems, and what was noticed late.
sub of_profile {
    my ($file, %about) = @_;
    %about = (unwinding => $CoroProgram::UNWINDING, edges => {}, %about);
    my @wrong = StrictProfile::problems($file, \%about);
    push @wrong, map { "late: $_" } @{ $about{late} || [] };
    return (\%about, @wrong);
}

sub said {
    my ($run) = @_;
    return $run->{out} =~ s/^wrong: .*\n//gmr =~ s/^checks \d+\K.*//mr . "\n" . $run->{err}
}

my $first = $ENV{DPROF_SEED} // 1;
# The programs after these make Coro itself read freed memory, as memcheck shows, and may crash
# plain.
my $programs = $ENV{DPROF_PROGRAMS} // TestEnvironment::rounds(2, 9);
my ($ran, $checks) = (0, 0);
for my $seed ($first .. $first + $programs - 1) {
    my $file = spew(scratch() . '/p.pl', CoroProgram::program($seed, 1));
    my $plain = plain([@lib, $file], limit => 30, env => { %seeds });
  SKIP: {
        skip "program $seed does not run: $plain->{err}", 1
            if $plain->{raw} || !CoroProgram::ran($plain);
        my (@wrong, %edges);
        for my $mode (sort keys %mode) {
            my $run = profiled([$file], limit => 60,
                env => { counting(), %seeds, %{ $mode{$mode} } });
            if ($run->{raw}) { push @wrong, "$mode: status $run->{raw}: $run->{err}"; next }
            my ($about, @bad) = of_profile($run->{profile}, until => 'main::printing');
            if ($mode eq 'trace') {
                push @bad, CoroProgram::compare($run->{out}, $about) unless @bad;
                $checks += $1 if $run->{out} =~ /^checks (\d+)/m;
            } else {
                push @bad, $run->{out} =~ /^(wrong: .*)/mg;
            }
            my ($have, $want) = map { $_->{out} =~ /^(stacks .*)/m } $run, $plain;
            push @bad, "$have, plain $want" if $have ne $want;
            push @bad, 'prints other things than plain' if said($run) ne said($plain);
            push @wrong, map { "$mode: $_" } @bad;
            $edges{$mode} = $about->{edges};
        }
        is(join("\n", @wrong), '', "program $seed: calls and charged subs are right")
            and is_deeply($edges{tree}, $edges{trace},
                "program $seed has the same calls in both modes");
        $ran++;
    }
}
ok($ran * 2 > $programs, 'most programs run');
note "$ran programs, $checks checks of the charged sub";

my $begin = <<'END';
use strict; use warnings; use Coro; use Coro::State; use Coro::Semaphore;
BEGIN {
    no strict 'refs';
    defined &{"Devel::DProf::$_"} or *{"Devel::DProf::$_"} = sub { 'plain' }
        for qw(_charged _advance);
}
sub spin { Devel::DProf::_advance($_[0] * 1000, $_[0] * 1000) }
sub is_charged {
    my $what = $_[0] // '';
    my $who = (caller 1)[3] // '';
    print "charged $what, not $who\n" if $what ne $who && $what ne 'plain';
}
END

# Runs a program plain and in both modes; what it prints must be the same, and the profile well
# formed.
sub both {
    my ($name, $text, %opt) = @_;
    my $file = spew(scratch() . '/x.pl', $begin . $text);
    my $plain = plain([@lib, $file], env => { %seeds });
    diag $plain->{err} if $plain->{raw};
    my %got;
    for my $mode (sort keys %mode) {
        my $run = profiled([$file], env => { counting(), %seeds, %{ $mode{$mode} },
            %{ $opt{env} // {} } });
        same_as_plain($plain, $run, "$name, $mode: the program runs as plain");
        ($got{$mode}, my @wrong) = of_profile($run->{profile}, %{ $opt{about} // {} });
        is(join("\n", @wrong), '', "$name, $mode: the profile is well formed");
        $got{$mode}{files} = [sort glob "$run->{dir}/tmon.out.*"];
        $got{$mode}{text} = slurp($run->{profile});
    }
    is_deeply($got{tree}{edges}, $got{trace}{edges}, "$name: both modes have the same calls");
    return \%got;
}

# Coro tells by the height of the C stack whether coroutines may share one.
both('C stacks', <<'END');
sub waits { cede; cede }
sub many {
    my @c = map { async { waits() } } 1 .. 200;
    cede;
    print Coro::State::cctx_count(), "\n";
    $_->join for @c;
}
many(); many();
my $c = async { waits() }; cede; print eval { $c->safe_cancel; 1 } ? "cancelled\n" : $@;
$c = async {
    my @s = sort { cede; $a <=> $b } 2, 1;
    waits();
}; cede; print eval { $c->safe_cancel; 1 } ? "cancelled\n" : $@ =~ s/,.*//sr, "\n";
print Coro::State::cctx_count(), ' ', Coro::State::cctx_idle(), "\n";
END

# A visit, for which another coroutine's stacks are put in place, is over when it ends.
both('visits',
    <<'END', about => { unwinding => qr/$CoroProgram::UNWINDING|\Amain::in_it\z|hook\z/ });
package Gone { sub DESTROY { main::is_charged(Devel::DProf::_charged()); main::spin(5) } }
package Tied {
    sub TIESCALAR { bless [] } sub FETCH { 1 } sub STORE {
        main::is_charged(Devel::DProf::_charged());
        main::spin(5);
    }
}
tie our $tied, 'Tied';
sub parked { my $o = bless [], 'Gone'; local $tied = 2; while (1) { schedule } }
sub in_it { is_charged(Devel::DProf::_charged()); spin(3) }
sub late { spin(1) }
sub frees {
    my $c = new Coro \&parked;
    $c->ready;
    cede;
    undef $c;
    late();
    is_charged(Devel::DProf::_charged());
}
sub leaves { my $c = new Coro \&parked; $c->ready; cede; return 5 }
sub calls {
    my $how = shift;
    my $c = new Coro \&parked;
    $c->ready;
    cede;
    $c->$how(\&in_it);
    late();
    is_charged(Devel::DProf::_charged());
    $c->cancel;
    is_charged(Devel::DProf::_charged());
}
for (1 .. 3) { frees(); leaves(); late(); calls('call'); calls('eval') }
END

# One op calls subs that switch and subs that do not, for the first time and later, and subs that
# are not recorded.
for my $skip (undef, '^Coro::') {
    my $got = both('one op for all' . ($skip ? ', not recorded' : ''),
        <<'END', env => { PERL_DPROF_SKIP => $skip });
sub yields {
    for my $m (qw(ready cede up down try wait current cede_notself count)) {
        my $f = Coro->can($m) // Coro::Semaphore->can($m);
        my @got = $f->(Coro::Semaphore->can($m) ? Coro::Semaphore->new(3) : $Coro::current);
        inner();
    }
}
sub inner { is_charged(Devel::DProf::_charged()); spin(2) }
sub other { for (1 .. 30) { spin(7); cede } }
my @c = map { async { yields() for 1 .. 2 } } 1, 2; my $o = async { other() }; $_->join for @c, $o;
END
    is($got->{trace}{edges}{'main::yields > main::inner'}, 36,
        'the calls of a sub that does not switch are counted');
    is($got->{trace}{edges}{'main::yields > Coro::cede'} // 0, $skip ? 0 : 4,
        'the calls that switch are counted, unless skipped');
}

# While a coroutine waits, its calls do not get longer.
{
    my $got = both('longest call', <<'END');
sub short { spin(1); cede; spin(1) }
sub long { spin(100_000); cede }
my @c = (async { short() }, async { long() }); $_->join for @c;
END
    my %longest;
    my %name = map { /^& (\w+) (\S+) (\S+)/ ? ($1 => "$2::$3") : () } split /\n/,
        $got->{tree}{text};
    /^= \d+ (\w+) \d+ \d+ \d+ \d+ (\d+)/ and $longest{ $name{$1} // '' } = $2
        for split /\n/, $got->{tree}{text};
    cmp_ok($longest{'main::short'}, '<', 1000,
        'the longest call of a coroutine that waits stays short');
    cmp_ok($longest{'main::long'}, '>=', 1_000_000,
        'the longest call of a coroutine that works is long');
}

# A coroutine forks a child, in which others go on; recording may end there.
for my $fork (undef, 'no') {
    my $got = both('fork' . ($fork ? '=no' : ''), <<'END', env => { PERL_DPROF_FORK => $fork });
use POSIX ();
sub child {
    inner();
    cede for 1 .. 3;
    for my $m (qw(down wait cede cede_notself)) {
        (Coro->can($m) // Coro::Semaphore->can($m))->(Coro::Semaphore->new(1));
    }
    inner();
}
sub inner { spin(2); cede; 1 }
sub goes_on { inner() while 1 }
sub parent {
    if (my $pid = fork) { waitpid $pid, 0; print "child: $?\n" } else {
        my $ok = eval { child(); 1 };
        print STDERR $@ if !$ok;
        exit !$ok;
    }
}
$| = 1; my $c = async { goes_on() }; cede; cede;
(async { parent() })->join;
END
    is(scalar @{ $got->{trace}{files} }, $fork ? 0 : 1, 'the child has a file unless fork=no');
    for my $mode ($fork ? () : sort keys %mode) {
        my ($about, @wrong) = of_profile($got->{$mode}{files}[0]);
        is(join("\n", @wrong), '', "$mode: the child's profile is well formed");
        is($about->{edges}{'main::child > main::inner'}, 2, "$mode: the child has its calls");
    }
}

done_testing;
