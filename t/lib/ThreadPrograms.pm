package ThreadPrograms;

# Programs with threads in every state, and what their profiles must have. A thread that runs when
# its process ends leaves what a killed process does.

use strict;
use warnings;
use Exporter 'import';
use RunReader;

our @EXPORT = qw(thread_programs thread_program wrong_in_threads);

# NAME => CODE, calls of f over all files; -N: at least N.
our %programs = (
    join => ['threads->create(sub { f() for 1 .. 100 })->join for 1 .. 5; f()', 501],
    together =>
        ['my @t = map { threads->create(sub { f() for 1 .. 300 }) } 1 .. 10; $_->join for @t; f()',
            3001],
    many => ['threads->create(\&f)->join for 1 .. 20', 20],
    detached =>
        ['threads->create(sub { f() for 1 .. 50; done() })->detach for 1 .. 5; await(5); f()',
            -251],
    'still detached' =>
        ['threads->create(sub { done(); while (1) { f() } })->detach for 1 .. 3; await(3); '
            . 'f() for 1 .. 1000', -1000],
    'exit while they run' =>
        ['threads->create(sub { done(); while (1) { f(); eval { die } } }) for 1 .. 3; await(3); '
            . 'f() for 1 .. 1000; exit 3', -1000],
    '_exit while they run' =>
        ['threads->create(sub { done(); while (1) { f() } }) for 1 .. 3; await(3); '
            . 'f() for 1 .. 1000; POSIX::_exit(0)', -1000],
    'exec while they run' =>
        ['threads->create(sub { done(); while (1) { f() } }) for 1 .. 3; await(3); '
            . 'f() for 1 .. 1000; exec "true"', -1000],
    'killed while they run' =>
        ['threads->create(sub { done(); while (1) { f() } }) for 1 .. 3; await(3); '
            . 'f() for 1 .. 1000; kill KILL => $$', -1000],
    'exit in a thread' => ['threads->create(sub { f(); exit 5 })->join', 1],
    'exec in a thread' => ['f(); threads->create(sub { f() for 1 .. 10; exec "true" })->join', 11],
    dies => ['threads->create(sub { f() for 1 .. 10; die "x\n" })->join for 1 .. 5; f()', 51],
    nested =>
        ['sub nest { my $n = shift; f(); threads->create(\&nest, $n - 1)->join if $n } nest(4)', 5],
    forks =>
        ['my @t = map { threads->create(sub { f(); my $p = fork; f(); '
            . '$p ? waitpid($p, 0) : POSIX::_exit(0); f() }) } 1 .. 4; $_->join for @t; f()', 17],
    'forked while they run' =>
        ['threads->create(sub { done(); while (1) { f() } }) for 1 .. 3; await(3); '
            . 'for (1 .. 10) { my $p = fork; if (!$p) { g() for 1 .. 10; POSIX::_exit(0) } '
            . 'waitpid $p, 0; } exit', -1],
    evals =>
        ['my @t = map { threads->create(sub { for my $n (1 .. 50) { eval "sub e$n { f() } e$n()" } '
            . '}) } 1 .. 6; $_->join for @t', 300],
    objects =>
        ['sub D::DESTROY { f() } my $o = bless [], "D"; threads->create(sub { my $p = bless [], '
            . '"D"; f() })->join for 1 .. 5', -11],
    'in BEGIN' => ['BEGIN { threads->create(sub { f() for 1 .. 5 })->join } f()', 6],
    orphans =>
        ['threads->create(sub { threads->create(sub { select undef, undef, undef, 0.001 until '
            . '$done; f(); done() })->detach })->join; '
        . '{ lock $done; $done = 1 } select undef, undef, undef, 0.001 until $done == 2; f()', -2],
    queue =>
        ['require Thread::Queue; my $q = Thread::Queue->new; '
            . 'my @t = map { threads->create(sub { f() while defined $q->dequeue }) } 1 .. 3; '
            . '$q->enqueue($_) for 1 .. 200; $q->end; $_->join for @t', 200],
);

my $head =
    'no warnings; use threads; use threads::shared; use POSIX (); my $done : shared = 0; '
        . 'sub f { 1 } sub g { 1 } '
    . 'sub done { lock $done; $done++; cond_broadcast($done) } sub await { lock $done; '
    . 'cond_wait($done) until $done >= $_[0] } ';

# Returns the names of all programs with threads.
sub thread_programs { return sort keys %programs }

# Returns the text of a program.
sub thread_program { return $head . $programs{ $_[0] }[0] . "\n" }

# Returns what is wrong with the profile of a program, in words.
sub wrong_in_threads {
    my ($name, $path) = @_;
    my $want = $programs{$name}[1];
    my ($calls, @outcomes) = calls_of_run($path);
    my $f = $calls->{'main::f'} // 0;
    my @wrong = wrong_sums($path);
    push @wrong, "$f calls of f, not $want" if $want >= 0 ? $f != $want : $f < -$want;
    push @wrong, map { "outcome $_->{code}: $_->{message}" }
        grep { $_->{code} && $_->{code} != Devel::DProf::Profile::TRUNCATED } @outcomes;
    return @wrong;
}

1;
