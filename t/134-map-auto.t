# --map auto compares once more, with the rules of the first comparison.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest qw(scratch spew in_process);
use MadeUp;

my $dir = scratch();

# Makes a profile of subs: name => [microseconds, ops, units of a counter].
sub profile {
    my ($name, %subs) = @_;
    my @names = sort keys %subs;
    my $total = 0;
    my @lines = ('= 0 0 1 0 0 0 0 0 0 0', map {
        my ($time, $ops, $units) = @{ $subs{ $names[$_] } };
        $total += $time;
        sprintf '= 1 %x 10 %d 0 %d 0 0 %d %d', $_ + 1, $time, $time, $ops, $units;
    } 0 .. $#names);
    return spew("$dir/$name", profile_text(format => 'tree', hz => 1_000_000,
        times => [$total, 0, $total], counters => 'ops:ops units:units', complete => 1,
        header => "\$dprof_run='$name'; \$dprof_hash_seed=0; \$dprof_perturb_keys=0;",
        subs => [map { "P $_ p.pl:1" } @names], lines => \@lines));
}

my @sides = (profile('old', f => [10_000, 500, 100], b => [20_000, 700, 300]),
    profile('new', f => [90_000, 500, 900], z => [20_000, 700, 300]));

for (['self > 5%', 1], ['/::f/ self > 5%', 1], ['/::z/ self > 5%', 0], ['units > 5%', 1],
    ['/::f/ units > 5%', 1], ['gone', 0], ['new', 0]) {
    my ($rule, $fails) = @$_;
    my $run = in_process('dprofdiff', '--time-floor', 0, '--map', 'auto', '--fail-if', $rule,
        '--format', 'json', @sides);
    is($run->{status}, $fails ? 3 : 0, $rule) or diag $run->{err};
    my @subs = $run->{out} =~ /"rule": "\Q$rule\E", .*?"(?:name|symbol)": "P::(\w+)"/g;
    is("@subs", $fails ? 'f' : '', '... finds the sub that it is about');
}

done_testing;
