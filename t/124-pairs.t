# dprofdiff --run: runs that were recorded in turn are pairs, and the total is tested by their
# differences, against a naive model that counts all signs. Whether that is better, HACKING says.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(scratch spew run_tool);
use MadeUp;
use Test::More;
use JSON::PP ();
use Devel::DProf::Constants qw(DP_JSON);
use Devel::DProf::Compare::Diff;

my $dir = scratch();
my $state = 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }

# ---- a naive model ----

# Returns the p of differences by all ways to give them signs.
sub naive_p {
    my (@d) = @_;
    my @rank = map {
        my $size = abs $_;
        my ($less, $same) = (scalar(grep { abs $_ < $size } @d),
            scalar grep { abs $_ == $size } @d);
        $size ? $less + ($same + 1) / 2 : 0;
    } @d;
    my $sum = 0;
    $sum += $rank[$_] for grep { $d[$_] > 0 } 0 .. $#d;
    my %ways = (0 => 1);
    for my $rank (grep { $_ } @rank) {
        my %next;
        for my $s (keys %ways) { $next{ $s + $_ } += $ways{$s} for 0, $rank }
        %ways = %next;
    }
    my ($below, $above, $all) = (0, 0, 0);
    for my $s (keys %ways) {
        $all += $ways{$s};
        $below += $ways{$s} if $s <= $sum;
        $above += $ways{$s} if $s >= $sum;
    }
    my $p = 2 * ($below < $above ? $below : $above) / $all;
    return $p < 1 ? $p : 1;
}

# Returns the median of the averages of any two.
sub naive_shift {
    my (@d) = @_;
    my @averages = sort { $a <=> $b } map { my $i = $_; map { ($d[$i] + $d[$_]) / 2 } 0 .. $i }
        0 .. $#d;
    return ($averages[$#averages / 2] + $averages[@averages / 2]) / 2;
}

sub median { my @v = sort { $a <=> $b } @_; return ($v[$#v / 2] + $v[@v / 2]) / 2 }

# ---- made-up runs ----

my $sets = 0;
# Makes a side of runs whose subs take so many microseconds in all.
sub side {
    my ($in_turn, @times) = @_;
    my $set = ++$sets;
    my @runs = map { [spew("$dir/$set.$_", profile_text(format => 'tree', hz => 1_000_000,
        times => [1, 0, 1], complete => 1, subs => ['A f a.pl:1'],
        lines => ['= 0 0 1 0 0 0 0 0', "= 1 1 1 $times[$_] 0 $times[$_] 1 1"]))] } 0 .. $#times;
    return { name => "side $set", runs => \@runs, in_turn => $in_turn };
}

# Returns what is said of the total.
sub compared {
    my ($how, @sides) = @_;
    my $reader = Devel::DProf::Sides->new(say => sub { diag $_[0] }, waits => 1);
    my $diff = Devel::DProf::Compare::Diff->new($reader, $how);
    $reader->read(sub { 'fine' }, @sides) && $diff->settle && $diff->settle_rules or die;
    my $file = "$dir/out.$sets";
    open my $out, '>', $file or die "$file: $!";
    $diff->print($out, facts => [$diff->facts]);
    close $out or die "$file: $!";
    open my $in, '<:raw', $file or die "$file: $!";
    local $/;
    my $text = <$in>;
    return $how->{format} ? JSON::PP->new->utf8->decode($text) : $text;
}

my %json = (format => DP_JSON);
sub near { my ($p, $q, $what) = @_; ok(abs($p - $q) <= 1e-9, "$what: p is $q") }

subtest 'The total is tested by pairs of runs' => sub {
    for my $t (1 .. 20) {
        my $n = 9 + $t % 4;
        # a machine that becomes slower, with ties and without
        my @x = map { 100_000 + 20_000 * $_ + rnd($t % 2 ? 6 : 4000) } 1 .. $n;
        my @y = map { $_ + rnd($t % 2 ? 6 : 4000) - ($t % 2 ? 2 : 1000) } @x;
        my @d = map { $y[$_] - $x[$_] } 0 .. $#x;
        my $json = compared(\%json, side(1, @x), side(1, @y));
        is($json->{total_pairs}, $n, "the total is tested by $n pairs");
        near($json->{total_p}, naive_p(@d), 'the p of the total is that of all signs');
        near($json->{new_total}, int(int(median(@x) + 0.5) + naive_shift(@d) + 0.5) / 1e6,
            'the total is the median of the baseline and the change of pairs');
    }
};

my @x = map { 100_000 + 20_000 * $_ } 1 .. 10;
my @y = map { $x[$_] + 1000 + 100 * $_ } 0 .. 9;

subtest 'Only runs that were recorded in turn are pairs' => sub {
    my $json = compared(\%json, side(1, @x), side(1, @y));
    near($json->{total_p}, 2 / 2**10, 'each run is slower than the one beside it');
    is($json->{total_verdict}, 'significant', 'the total of pairs is significant');
    my $files = compared(\%json, side(0, @x), side(0, @y));
    ok($files->{total_p} > 0.5, 'runs that were not recorded in turn are no pairs');
    is($files->{total_pairs}, undef,
        'the result names no pairs for runs that were not recorded in turn');
    ok(compared(\%json, side(1, @x), side(0, @y))->{total_p} > 0.5,
        'one side that was recorded in turn makes no pairs');
    my $few = compared(\%json, side(1, @x[0 .. 7]), side(1, @y[0 .. 7]));
    ok($few->{total_p} > 0.5, 'eight pairs are not used, as they cannot be significant at 0.005');
    is(compared({ %json, alpha => 0.01 }, side(1, @x[0 .. 7]), side(1, @y[0 .. 7]))->{total_pairs},
        8, 'eight pairs are used at 0.01');
    is(compared({ %json, spending => 0.1 }, side(1, @x), side(1, @y))->{total_pairs}, undef,
        'a test with a tenth of alpha needs more than ten pairs');
    my $three = compared(\%json, side(1, @x), side(1, @y), side(1, map { $_ - 50 } @x));
    near($three->{total_p_1}, 2 / 2**10, 'the second of three sides is paired with the baseline');
    near($three->{total_p_2}, 2 / 2**10, 'the third of three sides is paired with the baseline');
    my ($baseline, $other) = (side(1, @x), side(1, @y));
    $baseline->{name} = 'old';
    my $text = compared({}, $baseline, $other);
    like($text, qr/each for itself; the total is tested by 10 pairs of runs$/m,
        'the header says that the total is tested by pairs');
    my ($change, $low, $high) = $text
        =~ /^# New total: [\d.]+ s \S+ \(\+([\d.]+)%, \+([\d.]+) to \+([\d.]+)%, p = 0\.00195/m;
    ok(defined $high && $low <= $change && $change <= $high && $low > 0,
        'the interval contains the change, and not 0') or diag $text;
};

# The program takes longer from pair to pair, and the second command a little longer than the first.
subtest 'dprofdiff --run makes pairs' => sub {
    my $home = scratch();
    spew("$home/f.pl", <<'END');
sub f { 1 }
my $runs = -s 'runs' || 0;
open my $out, '>>', 'runs' or die;
print {$out} '.';
f() for 1 .. 1000 + 400 * int($runs / 2) + $ARGV[0];
END
    my $run = run_tool('dprofdiff', [qw(-q --warmup 0 --format json),
        map { ('--run', "$^X f.pl $_") } 0, 5],
        dir => $home, env => { PERL_DPROF_CLOCK => 'counting' }, fresh => 1);
    my $json = eval { JSON::PP->new->utf8->decode($run->{out}) } // {};
    is($json->{total_pairs}, 10, 'runs are recorded in turn') or diag $run->{err};
    near($json->{total_p}, 2 / 2**10, 'the second run of each pair is slower');
    cmp_ok(abs($json->{total_change_pct}), '<', 1,
        'the total shows the five calls, and not the drift')
        or diag explain $json;
};

done_testing;
