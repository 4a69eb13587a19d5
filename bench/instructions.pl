#!/usr/bin/perl
# Counts the instructions that recording adds to a call and to a statement, by valgrind. The number
# is the same each time for the same build, whatever else the machine does. For calls, the counting
# clock replaces the counter (one more function call for each reading), since valgrind slows time.
# That function call would cost more than a statement, so for statements the counter itself is read,
# and only the hooks are counted, without the functions that they call after a long gap. The exit
# status is 1 if a statement costs more than its limit.
#
# The numbers must not grow for programs that use no events. This table has, for each way of
# recording, the instructions of a call before there were counters of events (left) and since
# (right), on a perl 5.36 for x86-64 with threads (plain perl's instructions included, counting
# clock, gcc 12):
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
use Bench qw(sides table scratch ours_version);

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
my ($plain, $trace, $tree, @with) = sides('plain', 'DProf', 'DProf, tree', 'DProf, lines=count',
    'DProf, lines', 'DProf, sample=1');
my $sampled = pop @with;

sub instructions {
    my ($side, $code, $n, $clock, $only) = @_;
    my (undef, $options, $env) = @$side;
    local @ENV{ keys %$env, 'PERL_HASH_SEED' } = (values %$env, 0);
    local $ENV{PERL_DPROF_CLOCK} = $clock;
    my $file = scratch() . '/callgrind';
    my $valgrind = "valgrind --tool=callgrind --compress-strings=no --callgrind-out-file=$file";
    my $text = qx{$valgrind $^X @$options -e '$code' $n 2>&1};
    die "bench: valgrind: $text\n" if $text !~ /Collected : (\d+)/;
    return $only ? of_functions($file, $only) : $1;
}

# Returns the instructions of functions with such names, without those of their callees.
sub of_functions {
    my ($file, $name) = @_;
    my ($sum, $is_one, $called) = (0);
    open my $in, '<', $file or die "bench: $file: $!\n";
    while (my $line = <$in>) {
        if ($line =~ /^fn=(\S+)/) { $is_one = $1 =~ $name }
        elsif ($line =~ /^calls=/) { $called = 1 }
        elsif ($line =~ /^[-+*\d]\S* (\d+)$/) {
            $sum += $1 if $is_one && !$called;
            $called = 0;
        }
    }
    return $sum;
}

# Returns { side => instructions } of one turn of a loop of n. $only: only functions with such
# names.
sub per_turn {
    my ($code, $clock, $only, @of) = @_;
    my %per;
    for my $side (@of) {
        my ($small, $large) = map { instructions($side, $code, $_, $clock, $only) } 20_000, 60_000;
        $per{ $side->[0] } = ($large - $small) / 40_000;
    }
    return %per;
}

my @rows;
for my $program (@programs) {
    my ($name, $code) = @$program;
    my %per = per_turn($code, 'counting:15', undef, $plain, $trace, $tree);
    push @rows, [ $name, map { sprintf '%.1f', $_ } $per{plain}, $per{DProf} - $per{plain},
        $per{'DProf, tree'} - $per{plain} ];
}
print "instructions a call (for the comparator: an eighth of the elements, all comparisons)\n";
table([ '', 'plain', 'added by a trace', 'by a tree' ], @rows);

my ($clock) = ours_version() =~ /clock (\w+)/;

# ---- samples ----

# Sampling once a second, which gives a run a few samples; with a look at each call for spans; and
# with recording stopped, no samples.
my ($name, $options, @env) = @$sampled;
my $stopped = [ 'stopped', [ map { s/sample=1$/sample=1000,start=no/r } @$options ], @env ];
my $detailed = [ 'detail=all', [ map { s/sample=1$/sample=1,detail=all/r } @$options ], @env ];
print "instructions that sampling adds between samples, and while it is stopped\n";
table([ '', 'plain', 'added', 'detail=all', 'stopped' ], map {
    my %per = per_turn($_->[1], $clock, undef, $plain, $sampled, $detailed, $stopped);
    [ $_->[0], map { sprintf '%.1f', $_ } $per{plain}, map { $per{$_} - $per{plain} } $name,
        'detail=all', 'stopped' ];
} @programs);

# ---- statements ----

if (system("$^X @{ $with[0][1] } -e 1 >/dev/null 2>&1")) {
    print "this perl has no place for lines: a statement is not measured\n";
    exit 0;
}
# A loop of twelve statements minus one of six gives the cost of six statements. The rest of the
# loop of six is the cost of the end of a turn.
my $hooks = qr/^(?:nextstate_|unstack_|begins_sub)/;
my @turns = map { my $more = $_;
    +{ per_turn('my ($x, $y, $z) = (1, 2, 3); my $n = shift; my $i = 0; while ($i < $n) { '
        . '$x = $y; $y = $z; $z = $x; $x = $z; $y = $x; ' . $more . '$i++; }', $clock, $hooks,
        @with) } } '', '$x = $y; $y = $z; $z = $x; $x = $z; $y = $x; $z = $y; ';
my %most = ('DProf, lines=count' => [ 13, 0 ], 'DProf, lines' => [ 45, 45 ]);
my ($bad, @added) = (0);
for my $side (@with) {
    my ($name) = @$side;
    my ($six, $twelve) = map { $_->{$name} } @turns;
    my $statement = ($twelve - $six) / 6;
    my @is = map { sprintf '%.1f', $_ } $statement, abs($six - 6 * $statement);
    $bad ||= !$statement || ($clock eq 'tsc' && grep { $is[$_] > $most{$name}[$_] } 0, 1);
    push @added, [ $name, map { ($is[$_], $most{$name}[$_]) } 0, 1 ];
}
print "instructions that lines add, clock $clock\n";
table([ '', 'to a statement', 'at most', 'to the end of a turn', 'at most' ], @added);
print "a statement takes more instructions than it may\n" if $bad;
exit $bad;
