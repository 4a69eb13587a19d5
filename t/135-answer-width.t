# The rows of answers fit a pipe: names are cut in the middle, and nothing else is. Below a table
# stand the notes that its rows need, and the next command.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(scratch spew in_process);
use MadeUp;
use Test::More;

use constant PIPE => 132;

my $dir = scratch();
my $LONG = 'Company::Department::' . 'Very::' x 40 . 'Long::name_of_a_sub';

# A profile of subs: NAME => [ticks of a microsecond, calls, ops]; further lines of the header.
sub profile {
    my ($file, $header, %subs) = @_;
    my @names = sort keys %subs;
    my $total = 100;
    $total += $_->[0] for values %subs;
    return spew("$dir/$file", profile_text(format => 'tree', hz => 1_000_000,
        times => [$total, 0, $total], counters => 'ops:ops', complete => 1,
        header => "\$dprof_hash_seed=0; \$dprof_perturb_keys=0; $header",
        subs => [map { my ($package, $sub) = /(.*)::(.*)/; "$package $sub p.pl:1" } @names],
        lines => ['= 0 0 0 100 0 100 0 0 0', map {
            my ($time, $calls, $ops) = @{ $subs{ $names[$_] } };
            sprintf '= 1 %x %d %d 0 %d 0 0 %d', $_ + 1, $calls, $time, $time, $ops;
        } 0 .. $#names]));
}

my %subs = ($LONG => [9000, 10, 100], 'P::a' => [1000, 10, 100], 'P::BEGIN' => [500, 1, 10]);
my $before = profile('before-' . 'x' x 150 . '.out', "\$dprof_script='bin/old.pl';", %subs);
my $after = profile('after.out', "\$dprof_script='bin/new.pl';", %subs,
    $LONG => [12_000, 20, 200], 'P::a' => [2000, 10, 100]);

sub out_of { my ($tool, @args) = @_; return in_process($tool, @args)->{out} }

for my $case (['dprofreport', $after], ['dprofdiff', $before, $after]) {
    my ($tool, @files) = @$case;
    my $text = out_of($tool, @files);
    my ($row) = $text =~ /^(.*Company::.*name_of_a_sub.*)$/m;
    cmp_ok(length $row, '<=', PIPE, "$tool: a row fits a pipe");
    like($row, qr/Company::Dep\S+\.\.\.\S+name_of_a_sub/, "$tool: a name loses its middle");
    like(out_of($tool, '--wide', @files), qr/\Q$LONG\E/, "$tool: --wide does not cut names");
    like(out_of($tool, '--format', 'csv', @files), qr/\Q$LONG\E/, "$tool: CSV does not cut names");
    like(out_of($tool, '--format', 'perf', @files), qr/\Q$LONG\E$/m,
        "$tool: perf's table is as wide as before");
}

my $gate = in_process('dprofdiff', '--fail-if', 'calls > 0', $before, $after)->{out};
like($gate, qr/calls > 0: \Q$LONG\E/, 'a finding names a long sub in full');
like(out_of('dprofdiff', '-v', $before, $after), qr/^# .*before-x{150}\.out/m,
    'the facts of -v are not cut');
like($gate, qr/^Sub +Before +After +Change +Why$/m, 'the heads of columns are not cut');
like(out_of('dprofdiff', $before, $after), qr/100 % more calls, each faster$/m,
    'a reason is not cut');

# A reason or an interval may be long.
my %short = ('P::' . 'n' x 37 => [9000, 10, 100], 'P::' . 'm' x 200 => [8000, 10, 100]);
my $text = in_process('dprofdiff', profile('b.out', '', %short), profile('a.out', '',
    map { ($_ => [map { 1000 * $_ } @{ $short{$_} }]) } keys %short))->{out};
like($text, qr/^P::n{37} /m, 'a name of 40 columns is not cut');

subtest 'Notes explain the names of rows' => sub {
    my $text = out_of('dprofreport', $after);
    like($text, qr/^\(program\): the code outside all subs\.$/m, '(program) is explained');
    like($text, qr/^BEGIN: a use or BEGIN block, /m, 'BEGIN is explained');
    like($text, qr/^Next: dprofreport --callers SUB \S+ shows .*\.\n\z/m,
        'the last line of dprofreport says what to type next');
    my $one = out_of('dprofreport', '--rows', 1, $after);
    unlike($one, qr/^(?:\(program\)|BEGIN)/m, 'names that have no row are not explained');
    like($one, qr/^3 other subs: 17\.81% self \(--rows N shows more\)$/m,
        'the other subs are counted');
    is(out_of('dprofreport', '-q', '--rows', 1, $after) =~ tr/\n//, 1, '-q prints rows only');
};

subtest 'One run a side asks for more, with the commands' => sub {
    my $text = out_of('dprofdiff', $before, $after);
    like($text, qr{^Next:\ dprofdiff\ --run\ 'perl\ bin/old\.pl\ ARGUMENTS'
        \ --run\ 'perl\ bin/new\.pl\ ARGUMENTS'\ records\ ten\ runs\ a\ side,}mx,
        'the last line has the scripts of both sides');
    like($text, qr/^P::a .* same work: may be chance$/m, 'a row says that the work is the same');
    like($text, qr/^same work: as many calls and ops as before, or nearly as many\.$/m,
        'a line says what the same work is');
    like($text, qr/^ops: the single steps /m, 'a line says what ops are');
    unlike(out_of('dprofdiff', '-S', $LONG, $before, $after), qr/^same work:/m,
        'words that no row has are not explained');
};

done_testing;
