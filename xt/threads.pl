#!/usr/bin/perl
# Threads in every state, over and over, to find races: each has its file, the sums are right, the program ends
# as it does without us.
#
#   perl Makefile.PL && make
#   perl xt/threads.pl [ROUNDS [PROGRAM ...]]
#   perl xt/threads.pl --valgrind TOOL [PROGRAM ...]      one round each under memcheck, helgrind or drd

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib", "$FindBin::Bin/../blib/lib", "$FindBin::Bin/../blib/arch";
use Config;
use Getopt::Long;
use DProfTest;
use RunReader;

die "this perl has no threads\n" if !$Config{useithreads};
GetOptions('valgrind=s' => \my $tool) or die "see the first lines of $0\n";
my $rounds = @ARGV && $ARGV[0] =~ /^\d+$/ ? shift : $tool ? 1 : 50;
my @only = @ARGV;

# NAME => CODE, calls of f over all files; -N: at least N.
my %programs = (
    join => ['threads->create(sub { f() for 1 .. 100 })->join for 1 .. 5; f()', 501],
    together => ['my @t = map { threads->create(sub { f() for 1 .. 300 }) } 1 .. 10; $_->join for @t; f()', 3001],
    fifty => ['threads->create(\&f)->join for 1 .. 50', 50],
    detached => ['threads->create(sub { f() for 1 .. 50; done() })->detach for 1 .. 5; await(5); f()', -251],
    'still detached' => ['threads->create(sub { done(); while (1) { f() } })->detach for 1 .. 3; await(3); f() for 1 .. 1000', -1000],
    'exit while they run' => ['threads->create(sub { done(); while (1) { f(); eval { die } } }) for 1 .. 3; await(3); f() for 1 .. 1000; exit 3', -1000],
    '_exit while they run' => ['threads->create(sub { done(); while (1) { f() } }) for 1 .. 3; await(3); f() for 1 .. 1000; POSIX::_exit(0)', -1000],
    'exec while they run' => ['threads->create(sub { done(); while (1) { f() } }) for 1 .. 3; await(3); f() for 1 .. 1000; exec "true"', -1000],
    'killed while they run' => ['threads->create(sub { done(); while (1) { f() } }) for 1 .. 3; await(3); f() for 1 .. 1000; kill KILL => $$', -1000],
    'exit in a thread' => ['threads->create(sub { f(); exit 5 })->join', 1],
    'exec in a thread' => ['f(); threads->create(sub { f() for 1 .. 10; exec "true" })->join', 11],
    dies => ['threads->create(sub { f() for 1 .. 10; die "x\n" })->join for 1 .. 5; f()', 51],
    nested => ['sub nest { my $n = shift; f(); threads->create(\&nest, $n - 1)->join if $n } nest(4)', 5],
    forks => ['my @t = map { threads->create(sub { f(); my $p = fork; f(); $p ? waitpid($p, 0) : POSIX::_exit(0); f() }) } 1 .. 4; $_->join for @t; f()', 17],
    'forked while they run' => ['threads->create(sub { done(); while (1) { f() } }) for 1 .. 3; await(3); for (1 .. 10) { my $p = fork; if (!$p) { g() for 1 .. 10; POSIX::_exit(0) } waitpid $p, 0; } exit', -1],
    evals => ['my @t = map { threads->create(sub { for my $n (1 .. 50) { eval "sub e$n { f() } e$n()" } }) } 1 .. 6; $_->join for @t', 300],
    objects => ['sub D::DESTROY { f() } my $o = bless [], "D"; threads->create(sub { my $p = bless [], "D"; f() })->join for 1 .. 5', -11],
    'in BEGIN' => ['BEGIN { threads->create(sub { f() for 1 .. 5 })->join } f()', 6],
    queue => ['require Thread::Queue; my $q = Thread::Queue->new; my @t = map { threads->create(sub { f() while defined $q->dequeue }) } 1 .. 3; $q->enqueue($_) for 1 .. 200; $q->end; $_->join for @t', 200],
);

my $head = 'no warnings; use threads; use threads::shared; use POSIX (); my $done : shared = 0; sub f { 1 } sub g { 1 } '
    . 'sub done { lock $done; $done++; cond_broadcast($done) } sub await { lock $done; cond_wait($done) until $done >= $_[0] } ';
my $bad = 0;
for my $name (sort keys %programs) {
    next if @only && !grep { $name eq $_ } @only;
    my ($code, $want) = @{ $programs{$name} };
    my $file = spew(scratch() . '/t.pl', $head . $code);
    my $plain = plain([$file]);
    for (MODES) {
        my ($mode, $env) = @$_;
        my @wrong;
        for my $round (1 .. $rounds) {
            my $run;
            if ($tool) {
                my $log = scratch() . '/log';
                $run = run_program(['valgrind', '-q', "--tool=$tool", "--log-file=$log", $^X, PROFILER(), $file],
                    env => { %$env, PERL_DESTRUCT_LEVEL => 2 }, limit => 600);
                $run->{profile} = "$run->{dir}/tmon.out";
                my $text = slurp($log) // '';
                # What has none of our functions in it is perl's own.
                my @ours = grep { /dp_|dpx_/ } split /^==\d+== *\n/m, $text;
                push @wrong, @ours if @ours;
            } else {
                $run = profiled([$file], env => $env, limit => 60);
                push @wrong, grep { length } same_as_plain($plain, $run);
            }
            my ($calls, @outcomes) = calls_of_run($run->{profile});
            my $f = $calls->{'main::f'} // 0;
            push @wrong, "$f calls of f, not $want" if $want >= 0 ? $f != $want : $f < -$want;
            push @wrong, map { "outcome $_->{code}: $_->{message}" } grep { $_->{code} && $_->{code} != Devel::DProf::Profile::TRUNCATED } @outcomes;
            last if @wrong > 5;
        }
        printf "%s %s, %s\n", @wrong ? 'not ok' : 'ok', $name, $mode;
        print map { s/^/  /mgr . "\n" } @wrong;
        $bad += @wrong;
    }
}
exit($bad ? 1 : 0);
