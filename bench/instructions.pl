#!/usr/bin/perl
# Instructions that recording adds to a call, by valgrind: the same number each
# time for the same build, whatever else the machine does. The counting clock stands in for
# the counter (a function call more for each reading), since valgrind slows time.
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
