#!/usr/bin/perl
# Instructions that recording adds to a call, by valgrind: the same number each
# time for the same build, whatever else the machine does. The counting clock stands in for
# the counter (a function call more for each reading), since valgrind slows time.
#
# The numbers must not grow for programs that ask for no events. This table has, for each way of
# recording, what a call took before there were counters of events (left) and what it has taken
# since (right), on a perl 5.36 for x86-64 with threads (plain perl's instructions included,
# counting clock, gcc 12):
#
#                      trace              tree
#     Perl sub          959.6    957.6     909.1    909.1
#     XS sub           1920.6   1916.5    1865.1   1865.1
#     goto             2299.8   2252.8    2548.2   2496.2
#     die, 3 frames    5175.1   5159.1    5031.2   5015.2
#     last             1476.6   1462.6    1433.1   1422.1
#     List::Util       4056.9   4037.9    3860.2   3860.2
#     builtins=slow    1546.6   1510.6    1497.1   1464.1
#     skip=            1712.1   1711.1    1718.1   1717.1
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(sides table scratch);

unless (grep { -x "$_/valgrind" } split /:/, $ENV{PATH}) {
    print "valgrind is not installed: instructions are not counted\n";
    exit 0;
}
my @programs = (
    [ 'Perl sub', 'sub f { $_[0] } my $n = shift; f($_) for 1 .. $n' ],
    [ 'method',   'sub f { $_[0] } my $o = bless []; my $n = shift; $o->f for 1 .. $n' ],
    [ 'XS sub',
        'use Scalar::Util "blessed"; my $o = bless []; my $n = shift; blessed($o) for 1 .. $n' ],
    [ 'comparator',
        'sub by { $a <=> $b } my $n = shift; my @x = sort by map { $_ ^ 1 } 1 .. $n / 8' ],
    [ 'goto', 'sub g { 1 } sub f { goto &g } my $n = shift; f($_) for 1 .. $n' ],
    [ 'die',
        'sub d { die 1 } sub e { d() } sub f { e() } my $n = shift; for (1 .. $n) { eval { f($_) } '
            . '}' ],
    [ 'last', 'sub f { last } my $n = shift; no warnings; for (1 .. $n) { for (1) { f() } }' ],
    [ 'no call', 'my $x; my $n = shift; $x += $_ for 1 .. $n' ],
);
my @sides = sides('plain', 'DProf', 'DProf, tree');

sub instructions {
    my ($side, $code, $n) = @_;
    my (undef, $options, $env) = @$side;
    local @ENV{ keys %$env, 'PERL_DPROF_CLOCK', 'PERL_HASH_SEED' } = (values %$env,
        'counting:15', 0);
    my $file = scratch() . '/callgrind';
    my $text =
        qx{valgrind --tool=callgrind --callgrind-out-file=$file $^X @$options -e '$code' $n 2>&1};
    return $text =~ /Collected : (\d+)/ ? $1 : die "bench: valgrind: $text\n";
}

my @rows;
for my $program (@programs) {
    my ($name, $code) = @$program;
    my %per;
    for my $side (@sides) {
        my ($small, $large) = map { instructions($side, $code, $_) } 20_000, 60_000;
        $per{ $side->[0] } = ($large - $small) / 40_000;
    }
    push @rows, [ $name, map { sprintf '%.1f', $_ } $per{plain}, $per{DProf} - $per{plain},
        $per{'DProf, tree'} - $per{plain} ];
}
print "instructions a call (for the comparator: an eighth of the elements, all comparisons)\n";
table([ '', 'plain', 'added by a trace', 'by a tree' ], @rows);
