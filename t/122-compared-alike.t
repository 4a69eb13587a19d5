# What two sides are compared as, in tables and pictures alike. Measured values are no samples;
# counts are shown as counts; an interval contains the change that it stands beside.
use strict;
use warnings;
use lib 't/lib';
use DProfTest qw(scratch spew in_process);
use MadeUp;
use Test::More;
use JSON::PP ();

my $dir = scratch();

# Makes a tree: calls, ticks of a millionth of a second and ops by sub.
sub tree {
    my ($name, %subs) = @_;
    my ($n, @names, @contexts) = (0);
    for my $sub (sort keys %subs) {
        my ($calls, $ticks, $ops) = @{ $subs{$sub} };
        push @names, "A $sub a.pl:" . ++$n;
        push @contexts, sprintf '= 1 %x %d %d 0 %d 1 1 %d', $n, $calls, $ticks, $ticks, $ops;
    }
    return spew("$dir/$name", profile_text(format => 'tree', hz => 1_000_000,
        counters => 'ops:ops', header => q{$dprof_hash_seed='0'; $dprof_perturb_keys='0';},
        times => [1, 0, 1], complete => 1, subs => \@names,
        lines => ['= 0 0 1 0 0 0 0 0 0', @contexts]));
}

sub sampled { my ($name, @more) = @_; return spew("$dir/$name", sampled_text(@more)) }

my $old = tree('old', a => [200, 600_000, 100], b => [10, 300_000, 50], x => [10, 300_000, 0]);
my $new = tree('new', a => [40_200, 600_000, 100], b => [10, 300_000, 50], x => [10, 290_000, 2]);
my $fast = sampled('fast', 100, a => [600, 6_000_000], b => [300, 3_000_000]);
my $slow = sampled('slow', 10, a => [60, 6_000_000], b => [30, 3_000_000]);

subtest 'Samples and measured calls are not mixed in a comparison' => sub {
    my $refused = in_process('dprofdiff', '--format=perf', $fast, $old);
    is($refused->{status}, 1, 'dprofdiff refuses samples beside measured calls');
    like($refused->{err}, qr/^some profiles are sampled, and others have every call; /,
        'the message says why samples and measured calls do not mix');
    my $rates = in_process('dprofdiff', '--format=perf', '-m', 'samples', $fast, $slow);
    like($rates->{err}, qr/^samples: the profiles have different sampling rates/,
        'dprofdiff refuses numbers of samples at different rates');
    my @pictures = (['dproffold', '--diff'], ['dprofflame', '--diff'],
        ['dprofhtml', '--diff', '-o', "$dir/page.html"]);
    for (@pictures) {
        my ($tool, @options) = @$_;
        my $run = in_process($tool, @options, $fast, $old);
        is_deeply([@$run{qw(out err status)}], ['', $refused->{err}, 1],
            "$tool refuses samples beside measured calls with the same message");
        is(in_process($tool, @options, '-m', 'samples', $fast, $slow)->{err}, $rates->{err},
            "$tool refuses numbers of samples at different rates with the same message");
        is(in_process($tool, @options, $old, $new)->{status}, 0, "$tool compares trees");
        is(in_process($tool, @options, $fast, $slow)->{status}, 0,
            "$tool compares times of samples at different rates");
        is(in_process($tool, @options, '-f', $fast, $old)->{status}, 0,
            "$tool -f compares samples and measured calls");
        next if $tool eq 'dprofhtml';
        is(in_process($tool, @options, '-n', $fast, $old)->{status}, 0,
            "$tool -n compares samples and measured calls");
    }
};

subtest 'Counts are shown as numbers' => sub {
    my $text = in_process('dprofdiff', '--format=perf', '-m', 'calls', $old, $new)->{out};
    like($text, qr/^Baseline +New +Change +Change % +Symbol\n/m,
        '-m calls has no column of shares');
    like($text, qr/^ +200 +40,200 +\+40000 +\+20000\.00% +A::a$/m,
        '-m calls prints the numbers of both sides');
    unlike($text, qr/share/, '-m calls prints nothing about shares');
    like(in_process('dprofdiff', '--format=perf', '-m', 'ops', $old, $new)->{out},
        qr/^ +0 +2 +\+2 +A::x$/m,
        '-m ops prints the numbers of both sides');
    like(in_process('dprofdiff', '--format=perf', '-m', 'calls', '-c', 'delta', $old, $new)->{out},
        qr/^Baseline +Delta +Change +Change % /m, '-c prints shares');
    my $verbose = in_process('dprofdiff', '--format=perf', '-m', 'calls', '-v', $old, $new)->{out};
    like($verbose, qr/^ *Base period +Base calls +Change +Change % +Period +Calls +Symbol$/m,
        '-v prints each number once');
    like(in_process('dprofdiff', '--format=perf', '-m', 'calls', "$old,$new", "$new,$old")->{out},
        qr/^ *Median +New median +Change/m, 'several runs have medians');
};

subtest 'A sub in C may have ops' => sub {
    my $text = in_process('dprofdiff', '--format=perf', $old, $new)->{out};
    like($text, qr/ A::x$/m, 'the table has the sub in C');
    unlike($text, qr/from 0/, 'the table says nothing about growth from 0');
    like($text, qr/^# Ops: A::x \+2;/m, 'the line above the table has the number of ops');
};

subtest 'An interval contains its change' => sub {
    # Each side has fast and slow runs, the new one some more slow ones: the medians are those of a
    # fast run and of a slow one.
    my @sides = map {
        my $side = $_;
        join ',', map {
            my $ticks = ($_ <= ($side ? 14 : 16) ? 1000 : 2000) + 100 * $side + $_;
            tree("uneven.$side.$_", a => [1, $ticks, 10], b => [1, 5000, 10]);
        } 1 .. 30;
    } 0, 1;
    my $json = in_process('dprofdiff', '--format=perf', '--format', 'json', '--as-measured',
        @sides)->{out};
    my @rows = grep { defined $_->{change_low} } @{ JSON::PP->new->decode($json)->{rows} };
    cmp_ok(scalar @rows, '>=', 1, 'a row has an interval');
    my @out = grep { $_->{change} < $_->{change_low} || $_->{change} > $_->{change_high} } @rows;
    is_deeply([map { $_->{symbol} } @out], [], 'each interval contains the change');
};

done_testing;
