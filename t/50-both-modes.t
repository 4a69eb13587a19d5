# A tree has the same calls as a trace. It is tried with random programs in both modes, on the
# counting clock (t/40-calls.t and t/41-exits.t do this with those of the corpus); then cases of
# trees alone.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use FuzzProgram;
use StrictProfile;

TestEnvironment::skip_long();

sub both_modes {
    my ($what, @program) = @_;
    my %env = (counting(), PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);
    my $trace = profiled([@program], env => \%env);
    is(join("\n", modes_differ($trace,
        profiled([@program], env => { %env, PERL_DPROF_MODE => 'tree' }))), '',
            "$what: both modes record the same");
    unlink $trace->{profile};
}

for my $seed (101 .. TestEnvironment::rounds(103, 106)) {
    my $file = spew(scratch() . "/fuzz$seed.pl",
        FuzzProgram::program($seed, 3, scalar grep { / DEBUGGING / } Internals::V()));
    my $plain = plain([$file], limit => 30);
  SKIP: {
        skip "program $seed does not run", 1 if $plain->{raw} || $plain->{out} !~ /^checks /m;
        both_modes("random program $seed", $file);
    }
}

subtest 'A call that runs when a child is forked belongs to the parent' => sub {
    # A sub that is running when a child is forked, or when a trace has become too long, was called
    # elsewhere: it ends here, but is no call of this tree.
    my %about;
    my $file = spew(scratch() . '/forks.pl',
        'sub inner { 1 } sub outer { inner(); exit if !defined(my $pid = fork); '
            . 'waitpid $pid, 0 if $pid; inner(); inner() } outer();');
    my $run = profiled([$file], env => { counting(), PERL_DPROF_MODE => 'tree' });
    my ($child) = grep { /tmon\.out\.\d+\z/ } glob "$run->{dir}/tmon.out.*";
    is(join("\n", StrictProfile::problems($child, \%about)), '',
        'the tree of a forked child is well formed');
    my %calls = map { ($about{names}{$_} => $about{calls}{$_}) } keys %{ $about{calls} };
    is_deeply(\%calls, { 'main::inner' => 2 }, 'the tree of a forked child has its calls');
    my ($outer) = grep { $about{names}{$_} eq 'main::outer' } keys %{ $about{names} };
    like(slurp($child), qr/^= 2 $outer 0 \d+ \d+ \d+ 0 0 /m,
        'a call that began in the parent has no longest call');
    unlike(slurp($child), qr/^h $outer /m, 'a call that began in the parent has no histogram');

    $file = spew(scratch() . '/limit.pl',
        'sub inner { 1 } sub outer { inner() for 1 .. 2000 } outer(); outer();');
    $run = profiled([$file], env => { counting(), PERL_DPROF_LIMIT => '4K',
        PERL_DPROF_BUFFER => 64 });
    is(join("\n", StrictProfile::problems($run->{profile}, \%about)), '',
        'a trace that goes on as a tree is well formed');
    %calls = map { ($about{names}{$_} => $about{calls}{$_}) } keys %{ $about{calls} };
    is($calls{'main::outer'}, 1, 'the call that began in the trace is not in the tree');
    ($outer) = grep { $about{names}{$_} eq 'main::outer' } keys %{ $about{names} };
    like(slurp($run->{profile}), qr/^h $outer \d+:1$/m,
        'the call that began in the trace is counted in no other histogram');

    $file = spew(scratch() . '/stops.pl',
        'use Devel::DProf::Control; sub inner { 1 } sub outer { inner(); '
            . 'Devel::DProf::Control::start(); inner() }'
        . ' for (1 .. 3) { Devel::DProf::Control::stop(); outer() } outer();');
    $run = profiled([$file], env => { counting(), PERL_DPROF_MODE => 'tree' });
    is(join("\n", StrictProfile::problems($run->{profile}, \%about)), '',
        'a tree with stops in it is well formed');
    %calls = map { ($about{names}{$_} => $about{calls}{$_}) } keys %{ $about{calls} };
    is_deeply([@calls{qw(main::inner main::outer)}], [5, 1],
        'calls that began while nothing was recorded are not counted');

    # The program has more contexts than the limit.
    $file = spew(scratch() . '/deep.pl',
        'no warnings; sub r { r($_[0] - 1) if $_[0] } r(4999); eval "sub s$_ { t() } '
            . 's$_()" for 1 .. 99; sub t { 1 }');
    for my $sites (0, 1) {
        $run = profiled([$file], env => { counting(), PERL_DPROF_MODE => 'tree',
            PERL_DPROF_CONTEXTS => 16, PERL_DPROF_CALLSITES => $sites });
        is(join("\n", StrictProfile::problems($run->{profile}, \%about)), '',
            "contexts=16, callsites=$sites: the tree is well formed");
        %calls = map { ($about{names}{$_} => $about{calls}{$_}) } keys %{ $about{calls} };
        is_deeply([@calls{qw(main::r main::t main::s99)}], [5000, 99, 1],
            "no call is lost with contexts=16 and callsites=$sites");
        my ($r) = grep { $about{names}{$_} eq 'main::r' } keys %{ $about{names} };
        my ($folded, $own) = (0, 0);
        for (split /\n/, slurp($run->{profile})) {
            my ($id, $calls, $n) = /^= \d+ (\w+) (\d+) .* folded=(\d+)/ or next;
            $folded += $n;
            $own += $n if $id eq $r;
        }
        is($own + (() = slurp($run->{profile}) =~ /^= \d+ $r /mg), 5000,
            'folded calls and calls with a context are all the calls');
        ok($about{header}{dprof_folded} >= $folded && $about{header}{dprof_folded} <= 5300,
            'the header has the number of folded contexts') or diag $about{header}{dprof_folded};
    }
};

done_testing;
