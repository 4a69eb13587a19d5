# Random programs enter and leave subs in every way there is, and each sub counts its own calls. The
# profile must have the same counts, the sub being charged must at any moment be the one that
# caller() names, and every exit must be noticed in time. xt/fuzz.pl runs many more.
#
# DPROF_SEED and DPROF_PROGRAMS: where to begin, and how many.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use FuzzProgram;
use StrictProfile;

TestEnvironment::skip_long() if !$ENV{DPROF_PROGRAMS};

my $first = $ENV{DPROF_SEED} // 1;
my $programs = $ENV{DPROF_PROGRAMS} // TestEnvironment::rounds(5, 25);
my ($checks, $ran) = (0, 0);

for my $seed ($first .. $first + $programs - 1) {
    my $file = spew(scratch() . "/fuzz$seed.pl",
        FuzzProgram::program($seed, 3, scalar grep { / DEBUGGING / } Internals::V()));
    my $plain = plain([$file], limit => 30);
  SKIP: {
        # Such a program may bring perl itself down.
        skip "program $seed does not run: $plain->{err}", 1
            if $plain->{raw} || $plain->{out} !~ /^checks /m;
        my $run = profiled([$file], limit => 60, env => { counting() });
        skip "program $seed: perl itself crashes in it", 1
            if $run->{signal} && DProfTest::perl_crashes([$file], limit => 30);
        my %about = (until => 'main::printing', unwinding => $FuzzProgram::UNWINDING, edges => {});
        my @wrong = $run->{raw} ? "status $run->{raw}: $run->{err}"
            : StrictProfile::problems($run->{profile}, \%about);
        push @wrong, FuzzProgram::compare($run->{out}, \%about) unless @wrong;
        is(join("\n", @wrong), '', "program $seed: calls and charged subs are right");
        $ran++;
        $checks += $1 if $run->{out} =~ /^checks (\d+)/m;
    }
}
ok($ran * 2 > $programs, 'most programs run');
note "$ran programs, $checks checks of the charged sub";

done_testing;
