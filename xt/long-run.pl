#!/usr/bin/perl
# Programs that run for days, in minutes: the recorder's memory and its CPU time per iteration stay
# flat.
#
#   perl Makefile.PL && make
#   perl xt/long-run.pl [-t FACTOR] [PROGRAM ...]
#
# Each program makes subs, contexts or processes without end. It runs plain and as a tree; what it
# has grown by between a third of its iterations and the end is compared, and so is what an
# iteration costs in the second third and in the last. FACTOR multiplies the iterations (0.1 for a
# first look). Exit status 0: all flat.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib", "$FindBin::Bin/../blib/lib", "$FindBin::Bin/../blib/arch";
use Config;
use Getopt::Long;
use DProfTest;

GetOptions('t=f' => \(my $factor = 1)) or die "see the first lines of $0\n";

# NAME => iterations, code of one, code before, environment.
my %programs = (
    calls => [3e6, 'f($i); first { $_ > 2 } 1 .. 3; my @x = sort by 3, 1, 2',
        'use List::Util "first"; sub by { $a <=> $b }'],
    exits => [1e6, 'eval { d() }; SKIP: { skips() } g(); N: for (1) { nexts() }',
        'sub d { die "d\n" } sub skips { no warnings; last SKIP } sub g { goto &f } '
            . 'sub nexts { no warnings; next N }'],
    evals => [3e5, 'eval q(sub fresh { f() } fresh(); my $s = sub { 2 }; $s->())', 'no warnings;'],
    'evals of packages' => [1.5e5,
        'eval "package P$i; sub m { main::f() } P$i->m"; undef %{"P$i\::"}; '
            . 'delete $main::{"P$i\::"}'],
    closures => [1e6, 'my $c = do { my $n = $i; sub { $n + f() } }; $c->()'],
    autoload => [1e6, 'Auto->${\ "m$i"}; delete $Auto::{"m$i"}',
        'package Auto; our $AUTOLOAD; sub AUTOLOAD { main::f() } package main;'],
    'numbered globs' => [5e5, '*{"gen$i"} = sub { f() }; &{"gen$i"}(); delete $main::{"gen$i"}'],
    'numbered closures' => [5e5,
        'my $s = set_subname("gen$i", do { my $n = $i; sub { $n } }); $s->()',
        'use Sub::Util "set_subname";'],
    'numbered evals' => [2e5,
        'eval "sub gen$i { my \$s = sub { f() }; \$s->() } gen$i(); delete \$main::{gen$i}"'],
    'numbered classes' => [2e5,
        '*{"Anon::C$i\::new"} = $new; eval "package Anon::C$i; sub m { 1 } main::f() for 1 .. 2; '
            . '1"; "Anon::C$i"->new->m; undef %{"Anon::C$i\::"}; delete $Anon::{"C$i\::"}',
        'my $new = sub { bless [], shift };'],
    'addresses as names' => [2e5,
        'my $k = sprintf "A0x%x", 94123456789120 + 24 * $i; eval "package Of::$k; '
            . 'sub m { main::f() } m(); 1" or die; undef %{"Of::$k\::"}; delete $Of::{"$k\::"}'],
    'words as names' => [3e5,
        'my $k = "w" . $i =~ tr/0-9/a-j/r; my $p = substr $k, 0, 5; eval "package Of::$p; '
            . 'sub $k { main::f() } $k(); 1" or die; undef %{"Of::$p\::"}; delete $Of::{"$p\::"}'],
    'one package of words' => [3e5,
        'my $k = "w" . $i =~ tr/0-9/a-j/r; eval "sub $k { f() } $k(); delete \$main::{$k}; '
            . '1" or die'],
    'places of calls' => [3e5,
        'eval "\n" x ($i % 7) . "f()"; my $n = $i % 70_000; eval "#line $n \"gen\"\nf()"', '',
        { PERL_DPROF_CALLSITES => 1 }],
    contexts => [1.5e5, 'my $n = $i; r($n)',
        'sub r { my $n = shift; return f() if !$n; $n & 1 ? r($n >> 1) : other($n >> 1) } '
            . 'sub other { r(@_) }', { PERL_DPROF_CONTEXTS => 20_000 }],
    objects => [5e5, 'my $o = bless [], "D"; $o->{x} if 0; "$o"',
        'package D; use overload q("") => sub { main::f(); "o" }; sub DESTROY { main::f() } '
            . 'package main;'],
    forks => [6e3, 'my $p = fork; if (!$p) { f(); POSIX::_exit(0) } waitpid $p, 0',
        'use POSIX ();'],
    generations => [600, 'my $p = fork; if ($p) { waitpid $p, 0; POSIX::_exit(0) } f()',
        'use POSIX ();'],
    commands => [3e3, 'system "true"; f()'],
    'failing execs' => [3e4, 'no warnings; exec "/no/such"; f()'],
    $Config{useithreads} ? (threads => [1.5e3, 'threads->create(\&f)->join; f()', 'use threads;'])
        : (),
);

my $frame = <<'END';
use strict; no strict 'refs'; no warnings 'redefine', 'recursion', 'once';
BEGIN { $^W = 0 }
%s
sub f { 1 }
my $last = %d; my @at;
sub look {
    open my $in, '<', '/proc/self/status' or die;
    my ($kb) = map { /^VmRSS:\s+(\d+)/ } <$in>;
    my @t = times;
    push @at, [$kb, $t[0] + $t[1]];
}
$| = 1; open my $mine, '>&', \*STDOUT;
for my $i (1 .. $last) { { %s } look() if $i == int($last / 3) || $i == int(2 * $last / 3) }
look();
print join(' ', map { @$_ } @at), "\n";
END

my $bad = 0;
for my $name (sort keys %programs) {
    next if @ARGV && !grep { $name eq $_ } @ARGV;
    my ($n, $code, $before, $env) = @{ $programs{$name} };
    my $file = spew(scratch() . '/long.pl', sprintf $frame, $before // '', $n * $factor, $code);
    my ($plain, $tree) = map {
        my $how = $_;
        [split ' ', run_perl([$file], profile => $how, limit => 3600,
            env => { PERL_DPROF_MODE => 'tree', %{ $env // {} } })->{out}]
    } 0, 1;
    my @wrong;
    push @wrong, 'did not run' if @$plain != 6 || @$tree != 6;
    my ($grown_plain, $grown) = map { ($_->[4] // 0) - ($_->[0] // 0) } $plain, $tree;
    my ($second, $third) = map { ($tree->[$_] // 0) - ($tree->[$_ - 2] // 0) } 3, 5;
    push @wrong, 'memory' if $grown > $grown_plain + 400;
    push @wrong, 'CPU' if $third > 1.25 * $second + 0.1;
    printf "%-6s %-22s %8d iterations: %6d kB at a third (plain %6d), grown by %d kB (plain %d); "
        . "CPU s %.2f, then %.2f%s\n", @wrong ? 'not ok' : 'ok', $name, $n * $factor,
        $tree->[0] // 0, $plain->[0] // 0, $grown, $grown_plain, $second, $third,
        @wrong ? ": @wrong" : '';
    $bad += @wrong;
}
exit($bad ? 1 : 0);
