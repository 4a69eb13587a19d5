#!/usr/bin/perl
# What dprofdiff says of two versions of a service on many hosts, whose profiles are in a store. It
# counts how often it raises a false alarm where the version changes nothing, and how often it finds
# a sub that became slower. Made-up profiles of hosts go through a store of files and dprofdiff
# --from. Seeds are fixed, and so is the result.
#
#   perl xt/fleet-truth.pl [--rounds 10] [--only REGEX] [--alpha 0.005] [--verbose]
#
# --rounds 400 takes ten minutes. Exit status 1: there were more alarms, or gates that failed, than
# alpha allows (a binomial bound), fewer finds than the table wants, or a line that the table wants
# stood in fewer than nine of ten reports.
#
# A service has 200 subs in four routes; some 36 subs take 0.5 % of the time or more. A host
# has three slices of a minute (ten where it says so), in which it is busy for a third of the time.
# Standard deviations of logarithms: the speed of hosts 10 %, of a sub on a host 3 %, of a sub in a
# slice 4 %, of a route's part of the requests on a host 5 %.
use strict;
use warnings;

use File::Path 'remove_tree';
use FindBin;
use lib "$FindBin::Bin/../t/lib", "$FindBin::Bin/../blib/lib", "$FindBin::Bin/../blib/arch";
use DProfTest qw(scratch spew in_process);
use Getopt::Long 'GetOptions';
use JSON::PP ();
use MadeUp;
use Devel::DProf::Store;

my %opt = (rounds => 10, only => '', alpha => 0.005);
GetOptions(\%opt, 'rounds=i', 'only=s', 'alpha=f', 'verbose')
    or die "usage: $0 [--rounds N] [--only REGEX] [--alpha P] [--verbose]\n";
use constant { SUBS => 200, SLICES => 3, POOL => 60, SLOWER => 5 };
my $dir = scratch();
my $at = 1_795_348_800;
$| = 1;

sub normal { return sqrt(-2 * log(1 - rand)) * cos(6.283185307179586 * rand) }

sub poisson {
    my ($mean) = @_;
    my $n = int($mean + sqrt($mean) * normal() + 0.5);
    return $n > 0 ? $n : 0 if $mean > 100;
    my ($left, $p) = (exp(-$mean), rand);
    for ($n = 0; $p > $left; $n++) { $p *= rand }
    return $n;
}

# ---- hosts ----

my @ROUTES = (0.4, 0.3, 0.2, 0.1);
# The cost of a call falls off, so that 33 subs have 0.5 % or more. A sub belongs to a route; each
# eighth one to all of them; where routes are phases, with another cost in each.
my @cost = map { 3000 / ($_ + 4) ** 1.35 } 0 .. SUBS - 1;
sub is_common { return $_[0] % 8 == 7 }
sub cost_in {
    my ($sub, $route, $differ) = @_;
    return is_common($sub) ? $cost[$sub] * ($differ ? (0.25, 0.5, 2, 4)[$route] : 1)
        : $sub % 4 == $route ? 2 * $cost[$sub] / (4 * $ROUTES[$route]) : 0;
}

# What is the same in all that a host records.
sub new_host {
    return { speed => exp(0.1 * normal()), subs => [map { exp(0.03 * normal()) } 1 .. SUBS],
        mix => [map { exp(0.05 * normal()) } @ROUTES] };
}

# The text of a slice. HOW: rate of samples; phases; slower, a factor of one sub; mix, the parts of
# routes; speed; cold: what only a process that begins does.
sub slice {
    my ($host, $slice, %how) = @_;
    my @mix = map { ($how{mix} || \@ROUTES)->[$_] * $host->{mix}[$_] } 0 .. 3;
    my $load = 3000 * (0.8 + 0.4 * rand);
    my $speed = $host->{speed} * ($how{speed} || 1);
    my @noise = map { exp(0.04 * normal()) * $host->{subs}[$_] * $speed
        * ($how{cold} && $slice < 3 && $_ % 3 == 0 ? 1.5 : 1)
        * ($_ == SLOWER && $how{slower} || 1) } 0 .. SUBS - 1;
    my @names = map { "App s$_ app.pl:" . ($_ + 1) } 0 .. SUBS - 1;
    my @lines = '= 0 0 0 0 0 0 0 0' . ($how{rate} ? ' 0' : '');
    push @names, map { "% route$_ - kind=phase" } 0 .. 3 if $how{phases};
    my $depth = $how{phases} ? 2 : 1;
    for my $route (0 .. 3) {
        my $requests = int $load * $mix[$route];
        if ($how{phases}) {
            push @lines, sprintf '= 1 %x %d 0 0 0 0 0', SUBS + 1 + $route, $requests;
            $lines[-1] .= ' 0' if $how{rate};
        }
        for my $sub (grep { cost_in($_, $route) } 0 .. SUBS - 1) {
            my $calls = $requests * (1 + $sub % 5);
            my $ticks = int $requests * cost_in($sub, $route, $how{phases}) * $noise[$sub];
            my $samples = $how{rate} ? poisson($ticks * $how{rate} / 1e6) : 0;
            $ticks = int $samples * 1e6 / $how{rate} if $how{rate};
            push @lines, sprintf('= %d %x %d %d 0 %d 0 0', $depth, $sub + 1,
                $how{rate} ? 0 : $calls, $ticks, $ticks) . ($how{rate} ? " $samples" : '');
        }
    }
    if ($how{cold} && $slice == 1) {
        push @names, 'App startup app.pl:999';
        push @lines, sprintf '= 1 %x 1 9000000 0 9000000 0 0', scalar @names;
    }
    my $options = 'mode=tree,slice=60' . ($how{rate} ? ",sample=$how{rate}" : '');
    return profile_text(format => 'tree', hz => 1_000_000, times => [60, 0, 60], complete => 1,
        $how{rate} ? (counters => 'samples:samples') : (), subs => \@names, lines => \@lines,
        header => ($how{rate} ? "\$dprof_unit='s'; " : '') . "\$dprof_options='$options'; "
            . "\$dprof_slice=$slice; \$dprof_run='$host->{run}'; \$dprof_pid=7; \$dprof_tid=0; "
            . "\$dprof_start=$host->{start};");
}

# Puts the slices of hosts into a store of their own, as a version; returns the paths by host.
my $pools = 0;
sub pool {
    my ($hosts, %how) = @_;
    my $version = 'pool' . ++$pools;
    my $store = Devel::DProf::Store::open("dir:$dir/pools");
    $store->init if $pools == 1;
    my @profiles;
    for my $n (0 .. $#$hosts) {
        my $first = $how{cold} ? 1 : 4;
        for my $slice ($first .. $first - 1 + ($how{cold} ? 2 : 0) + ($how{slices} || SLICES)) {
            my %host = (%{ $hosts->[$n] }, run => "$pools.$n.1", start => $at + 60 * $slice);
            my $file = spew("$dir/slice.$n.$slice", slice(\%host, $slice, %how));
            push @profiles, { file => $file, run => "$host{run}-7-0-$slice", service => 'web',
                version => $version, host => "h$n", env => '', start => $host{start},
                seconds => 60 };
        }
    }
    $store->add(\@profiles);
    unlink map { $_->{file} } @profiles;
    my %of;
    for my $path (glob "$dir/pools/web/$version/*/*") {
        my ($n) = $path =~ /-h(\d+)-/ or next;
        push @{ $of{$n} }, $path;
    }
    return [map { $of{$_} } 0 .. $#$hosts];
}

# ---- comparing ----

# Makes a version of a store of these hosts, by links.
sub version {
    my ($store, $version, $prefix, $pool, @hosts) = @_;
    for my $n (@hosts) {
        for my $path (@{ $pool->[$n] }) {
            my ($day, $name) = $path =~ m{/([^/]+)/([^/]+)\z};
            $name =~ s/-h$n-/-$prefix$n-/;
            mkdir $_ for map { "$dir/$store/$_" } 'web', "web/$version", "web/$version/$day";
            link $path, "$dir/$store/web/$version/$day/$name" or die "$name: $!";
        }
    }
    return;
}

sub some_of {
    my ($n, @all) = @_;
    return map { splice @all, int(rand @all), 1 } 1 .. $n;
}

my $stores = 0;
# Compares N hosts of one pool with M of another; the same ones where they are pairs. Returns what
# dprofdiff says.
sub compared {
    my ($kind, $pools) = @_;
    my $store = 'store' . ++$stores;
    Devel::DProf::Store::open("dir:$dir/$store")->init;
    my @old = some_of($kind->{old}, 0 .. POOL - 1);
    my %taken = map { $_ => 1 } @old;
    my @new = $kind->{paired} ? @old
        : some_of($kind->{new}, grep { !$taken{$_} } 0 .. POOL - 1);
    version($store, '1', 'h', $pools->[0], @old);
    version($store, '2', 'h', $pools->[1], @new);
    my @args = ('--alpha', $opt{alpha}, '--fail-if', 'self > 5%', @{ $kind->{options} || [] },
        '--from', "dir:$dir/$store", '--run-set', 'version=1', 'version=2');
    my $run = in_process('dprofdiff', '--format', 'json', @args);
    my $text = $opt{verbose} || $kind->{says} ? in_process('dprofdiff', @args)->{out} : '';
    remove_tree("$dir/$store");
    my $json = eval { JSON::PP->new->decode($run->{out}) } or die "$run->{out}$run->{err}";
    my @found = grep { $_->{verdict} eq 'significant' } @{ $json->{rows} };
    my ($planted) = grep { $_->{symbol} eq 'App::s' . SLOWER } @found;
    return { alarms => scalar grep({ $_->{symbol} ne 'App::s' . SLOWER } @found),
        found => $planted && $planted->{change} > 0 ? 1 : 0, json => $json, text => $text,
        change => $planted ? $planted->{change_pct} : undef, status => $run->{status},
        tested => scalar grep { defined $_->{p} } @{ $json->{rows} } };
}

# Each kind: what it is called; hosts of the baseline and of the new version; what the new version's
# pool is like, what both are; how many of 15 are to be found; a line of the report; whether the
# gate may fail, which the total does where all hosts are slower.
my @MIXED = (mix => [0.37, 0.30, 0.23, 0.10]);
my @KINDS = (
    { name => '10 hosts against 2', old => 10, new => 2 },
    { name => '10 against 1', old => 10, new => 1, says => qr/^# Too few: one host a side: /m },
    { name => '10 against 10', old => 10, new => 10 },
    { name => '20 against 20', old => 20, new => 20 },
    { name => '10 pairs', old => 10, new => 10, paired => 1 },
    { name => '10 against 2, 3 points more of a route', old => 10, new => 2, how => [@MIXED] },
    { name => '20 against 20, 3 points more', old => 20, new => 20, how => [@MIXED],
        says => qr/^# Mix: App::s\d+ \+.* of all calls; /m },
    { name => '10 against 2, just restarted', old => 10, new => 2, how => [cold => 1] },
    { name => '10 against 2, 1.3 times slower hosts', old => 10, new => 2, how => [speed => 1.3],
        gate => 1 },
    { name => '10 against 10, 1.3 times slower hosts', old => 10, new => 10, gate => 1,
        how => [speed => 1.3], says => qr/^# Speed: .*: all subs moved alike/m },
    { name => '10 against 5, phases, samples, 3 points', old => 10, new => 5, how => [@MIXED],
        both => [rate => 100, phases => 1] },
    { name => '10 against 2, 20 % slower sub', old => 10, new => 2, how => [slower => 1.2],
        want => 11 },
    { name => '10 against 10, 20 % slower sub', old => 10, new => 10, how => [slower => 1.2],
        want => 15 },
    { name => '20 against 20, 20 % slower sub', old => 20, new => 20, how => [slower => 1.2],
        want => 15 },
    { name => '20 against 20, 10 slices, 5 % slower', old => 20, new => 20, how => [slower => 1.05],
        both => [slices => 10], want => 8 },
    { name => '20 pairs, 5 % slower sub', old => 20, new => 20, paired => 1, want => 12,
        how => [slower => 1.05] },
    { name => '20 against 20, samples, 20 % slower', old => 20, new => 20, how => [slower => 1.2],
        both => [rate => 100, phases => 1, slices => 10], want => 14 },
);

sub mean {
    my $sum = 0;
    $sum += $_ for @_;
    return @_ ? $sum / @_ : 0;
}

# The most alarms that so many rounds at alpha have by chance, but for one time in a thousand.
sub most_alarms {
    my ($n, $alpha) = @_;
    my ($p, $sum, $k) = ((1 - $alpha) ** $n, 0, 0);
    for ($sum = $p; $sum < 0.999; $sum += $p) {
        $p *= ($n - $k) / ($k + 1) * $alpha / (1 - $alpha);
        $k++;
    }
    return $k;
}

my ($bad, %shared) = 0;
for my $n (grep { $KINDS[$_]{name} =~ /$opt{only}/ } 0 .. $#KINDS) {
    my $kind = $KINDS[$n];
    srand $n;
    my @both = @{ $kind->{both} || [] };
    my $old = $shared{"@both"} //= do {
        my $hosts = [map { new_host() } 1 .. POOL];
        [pool($hosts, @both), $hosts];
    };
    my $new = $kind->{paired} || $kind->{how} ? pool($old->[1], @both, @{ $kind->{how} || [] })
        : $old->[0];
    my ($alarms, $gates, $found, $said, $tested, @changes) = (0, 0, 0, 0, 0);
    for my $round (1 .. $opt{rounds}) {
        my $got = compared($kind, [$old->[0], $new]);
        print $got->{text} if $opt{verbose} && ($round == 1 || $got->{alarms});
        $alarms++ if $got->{alarms};
        $gates++ if $got->{status} == 3;
        $found += $got->{found};
        $said++ if $kind->{says} && $got->{text} =~ $kind->{says};
        push @changes, $got->{change} if defined $got->{change};
        $tested = $got->{tested};
    }
    my $most = most_alarms($opt{rounds}, $opt{alpha});
    my $wanted = int(($kind->{want} || 0) * $opt{rounds} / 15);
    my $may_fail = $kind->{gate} || grep { $_ eq 'slower' } @{ $kind->{how} || [] };
    my $wrong = $alarms > $most || $found < $wanted
        || (!$may_fail && $gates > most_alarms($opt{rounds}, 2 * $opt{alpha}))
        || ($kind->{says} && $said < 0.9 * $opt{rounds});
    $bad ||= $wrong ? 1 : 0;
    printf "%-42s %3d tested, false alarms %3d of %d, gate fails %3d%s%s%s\n", $kind->{name},
        $tested,
        $alarms, $opt{rounds}, $gates, grep({ $_ eq 'slower' } @{ $kind->{how} || [] })
            ? sprintf(', found %d (%+.1f %%)', $found, mean(@changes)) : '',
        $kind->{says} ? ", says so in $said" : '',
        $wrong ? ': WRONG' : '';
}
exit $bad;
