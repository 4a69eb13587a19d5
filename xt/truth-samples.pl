#!/usr/bin/perl

# How true samples are: the share of samples that kinds of code get, beside the share of CPU time
# that the program itself has read for each kind in the same run.
#
#   perl xt/truth-samples.pl [--runs 20] [--hz 1000] [--slices 200] [--options LIST] [names...]
#
# Needs a built tree (make), of a perl that records lines. Without names: all of these programs.
#
# kinds    bench/kinds.pl: six kinds of code, by their lines
# skid     a line that costs nothing behind a line that calls XS code for a millisecond; half a
#          percent is forgiven, since others get the processor rather there, where samples are taken
# blocks   blocks of one statement, whose nextstate perl removes, by their lines
# callers  one statement of many lines that calls a sub at five of them, by the places of the calls
#
# n samples give a share p with the binomial distribution at the widest (their times are spread more
# evenly than chance would have it). All shares of all runs, and of all runs taken together, must
# lie within it: what is printed as wrong happens to a true sampler once in a thousand such proofs.
#
# Where all processors are taken, ops that take long lose samples to others, since a tick that finds
# one pending is none; their time is theirs all the same. So be alone on the machine.
#
# The share of time stands beside: a sample is charged with the CPU time since the one before. That
# differs by the load of the machine, so this is judged by how much the runs differ, with Student's
# distribution. What a run without the profiler has stands beside, too, and is not judged: between
# two runs a shared machine changes more than the bound is wide.
# Exit status 1 if a share is beyond the bound.

use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use Getopt::Long;
use List::Util qw(min sum sum0);

my $top;
BEGIN { $top = abs_path(dirname(__FILE__) . '/..') }
use lib "$top/bench", "$top/t/lib", "$top/blib/lib", "$top/blib/arch";
use Bench qw(sides run_side table scratch note kinds_of_lines shares ours_version);
use DProfTest qw(slurp spew);

use constant ALARM => 0.001;    # how often all of this may be wrong about a true sampler

my %opt = (runs => 20, hz => 1000, slices => 200);
GetOptions(\%opt, qw(runs=i hz=i slices=i options=s)) or die "see the top of $0\n";

my ($plain, $sampled) = sides('plain', 'DProf, sample=1000');
$sampled->[1][-1] = join ',', "-d:DProf=sample=$opt{hz}", $opt{options} // ();

my $begin = <<'END';
use strict;
use warnings;
use Digest::MD5 'md5_hex';
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);
my ($turns, $bytes, $before, %cpu, $digest, $n) = (shift, 'x' x 700_000);
sub now { return clock_gettime(CLOCK_PROCESS_CPUTIME_ID) }
END
my $end = <<'END';
printf "=%s %.9f\n", $_, $cpu{$_} for sort keys %cpu;
END

# The program, and how a profile is read: by lines, or by places of calls of a sub.
my %program = (
    kinds  => { path => "$top/bench/kinds.pl" },
    skid   => { within => 0.005, text => <<'END' },
for my $turn (1 .. 5 * $turns) {
    $before = now();
# kind: XS for 1 ms
    $digest = md5_hex($bytes);
# kind: cheap
    $n++;
# kind:
    $cpu{'XS_for_1_ms'} += now() - $before;
}
$cpu{cheap} = $cpu{'XS_for_1_ms'} * 1e-4;
END
    blocks => { text => <<'END' },
$bytes = 'x' x 70_000;
for my $turn (1 .. 50 * $turns) {
    $before = now();
    if ($turn % 10 < 4) {
# kind: if
        $digest = md5_hex($bytes);
# kind:
    } elsif ($turn % 10 < 7) {
# kind: elsif
        $n = () = $bytes =~ /y?x{9,99}z?/g;
# kind:
    } else {
# kind: else
        $digest = md5_hex(substr $bytes, 0, 50_000);
# kind:
    }
    $cpu{ $turn % 10 < 4 ? 'if' : $turn % 10 < 7 ? 'elsif' : 'else' } += now() - $before;
    $before = now();
    unless ($turn % 3) {
# kind: unless
        $digest = md5_hex($bytes);
# kind:
    }
    $cpu{unless} += now() - $before;
}
END
    callers => { sub => 'main::work', text => <<'END' },
sub work {
    my ($kind, $k) = @_;
    my $start = now();
    my $x = 0;
    for my $i (1 .. $k * 1000) {
        $x += $i;
    }
    $cpu{$kind} += now() - $start;
    return $x;
}
for my $turn (1 .. 20 * $turns) {
    $n = join ' ',
# kind: block of two
        do {
            my $k = 3;
            work('block_of_two', $k);
        },
# kind: block of one
        do {
            work('block_of_one', 1);
        },
# kind: map
        map({
            work('map', 1);
        } 1),
# kind: conditional
        $turn ? do {
            work('conditional', 2);
        } : 0,
# kind: second of two
        do {
            $digest = $turn;
            work('second_of_two', 1);
        };
    if ($turn % 3) {
# kind: if
        work('if', 1);
    } else {
# kind: else
        work('else', 2);
# kind:
    }
}
END
);

# Returns { kind => [samples, CPU ticks] } of a profile, by line or by place of the call of a sub.
sub of_kinds {
    my ($profile, $path, $sub, @kinds) = @_;
    my ($text, %got, %id, $file) = (slurp($profile), ());
    for (split /\n/, $text) {
        $id{"$2::$3"} = $1 if /^& (\w+) (\S+) (\S+)/;
        $file = $1 if /^#f (\S+)/;
        my ($line, @row) = $sub
            ? /^= \d+ (\w+) \d+ (\d+) (\d+) \d+ 0 0 (\d+) \d+ at=\Q$path\E:(\d+)/ && $1 eq $id{$sub}
                ? ($5, $4, $2 + $3) : ()
            : /^#l (\d+) \w+ \d+ (\d+) (\d+) \d+ (\d+)/ && $file eq $path ? ($1, $4, $2 + $3) : ();
        my $kind = $kinds[ $line // 0 ] // next;
        $got{$kind}[$_] += $row[$_] for 0, 1;
    }
    return \%got;
}

# The chance that a true sampler is as far from the share p as k of n samples, on the same side,
# twice. Sums the terms from k outwards.
sub chance {
    my ($k, $n, $p) = @_;
    return $k == $n * $p ? 1 : 0 if $p <= 0 || $p >= 1;
    my $term = exp(ln_choose($n, $k) + $k * log($p) + ($n - $k) * log(1 - $p));
    my ($odds, $all, $up) = ($p / (1 - $p), 0, $k > $n * $p);
    while ($term > 1e-30 && $k >= 0 && $k <= $n) {
        $all += $term;
        $term *= $up ? ($n - $k) / ($k + 1) * $odds : $k / ($n - $k + 1) / $odds;
        $k += $up ? 1 : -1;
    }
    return min(1, 2 * $all);
}

# The same, where shares that are off by so much are as good.
sub chance_within {
    my ($within, $k, $n, $p) = @_;
    return 1 if abs($k / $n - $p) <= $within;
    return chance($k, $n, $k / $n > $p ? $p + $within : $p - $within);
}

# The chance that the mean of values that scatter as these do is as far from 1: Student's t, as an
# integral of a power of cosines.
sub chance_of_mean {
    my (@values) = @_;
    my $n = @values;
    my $mean = sum(@values) / $n;
    my $variance = sum(map { ($_ - $mean)**2 } @values) / ($n - 1) / $n or return 1;
    my $from = atan2(abs($mean - 1), sqrt($variance * ($n - 1)));
    my ($beyond, $all, $step) = (0, 0, 1e-4);
    for (my $at = $step / 2; $at < atan2(1, 0); $at += $step) {
        my $density = cos($at)**($n - 2);
        $all += $density;
        $beyond += $density if $at > $from;
    }
    return $beyond / $all;
}

my @ln_factorial = (0);
sub ln_choose {
    my ($n, $k) = @_;
    push @ln_factorial, $ln_factorial[-1] + log @ln_factorial while @ln_factorial <= $n;
    return $ln_factorial[$n] - $ln_factorial[$k] - $ln_factorial[ $n - $k ];
}

# Runs a program plain and sampled. Returns { kinds (names), runs ([{ kind => share by the
# program's clock }, { kind => [samples, ticks] }], ...), plain ({ kind => CPU seconds }) }.
sub runs_of {
    my ($name) = @_;
    my $path = $program{$name}{path}
        // spew(scratch() . "/$name.pl", $begin . $program{$name}{text} . $end);
    my @kinds = kinds_of_lines($path);
    my (%seen, %alone, @runs);
    for my $run (1 .. $opt{runs}) {
        note("$name: run $run of $opt{runs}");
        my $cpu = run_side($plain, $path, $opt{slices});
        $alone{$_} += $cpu->{$_} for keys %$cpu;
        $cpu = run_side($sampled, $path, $opt{slices});
        push @runs, [shares($cpu), of_kinds($sampled->[2]{PERL_DPROF_OUT_FILE_NAME}, $path,
            $program{$name}{sub}, @kinds)];
    }
    return { kinds => [grep { defined && !$seen{$_}++ } @kinds], runs => \@runs,
        plain => shares(\%alone), within => $program{$name}{within} // 0 };
}

# Adds up all runs, in the form of one: samples and ticks, and the samples to be expected.
sub pooled {
    my ($runs, $kind) = @_;
    my @all = (0) x 5;
    for (@$runs) {
        my ($share, $got) = @$_;
        my ($samples, $ticks) = map { my $at = $_; sum0(map { $_->[$at] } values %$got) } 0, 1;
        my @row = (@{ $got->{$kind} // [0, 0] }, $samples, $ticks, $samples * $share->{$kind});
        $all[$_] += $row[$_] for 0 .. 4;
    }
    return @all;
}

# Judges the shares of one kind. Returns the row of the table, and what is wrong.
sub judge_kind {
    my ($of, $kind, $least) = @_;
    my ($title, @ratios, @of_time, @wrong, @chances) = ($kind =~ tr/_/ /r);
    for my $run (@{ $of->{runs} }) {
        my $share = $run->[0]{$kind};
        my ($k, $ticks, $n, $all) = pooled([$run], $kind);
        push @chances, chance_within($of->{within}, $k, $n, $share);
        push @wrong, sprintf "%s has %d of %d samples, and %.2f %% of the time: %.1e",
            $title, $k, $n, 100 * $share, $chances[-1] if $chances[-1] < $least;
        push @ratios, $k / $n / $share;
        push @of_time, $ticks / $all / $share;
    }
    my ($k, $ticks, $n, $all, $expected) = pooled($of->{runs}, $kind);
    my $share = $expected / $n;
    my $of_samples = chance_within($of->{within}, $k, $n, $share);
    my $is_few = $of->{within} || $expected < 5 * @ratios || @ratios < 2;
    my $of_time = $is_few ? 1 : chance_of_mean(@of_time);
    push @wrong, map { sprintf '%s: all runs: %.2f %% of the %s in place of %.2f: %.1e', $title,
        100 * $_->[1], $_->[0], 100 * $share, $_->[2] }
        grep { $_->[2] < $least }
        [samples => $k / $n, $of_samples], ['time', $ticks / $all, $of_time];
    @ratios = sort { $a <=> $b } @ratios;
    return ([$title, map({ sprintf '%.2f', 100 * $_ } $of->{plain}{$kind}, $share), $k,
        sprintf('%.3f (%.2f-%.2f)', $k / $expected, @ratios[0, -1]),
        sprintf('%.3f', $ticks / $all / $share),
        map { sprintf '%.0e', $_ } min(@chances), $of_samples, $of_time], @wrong);
}

# Judges a program. Returns what is wrong.
sub judge {
    my ($name) = @_;
    my $of = runs_of($name);
    my @kinds = @{ $of->{kinds} };
    my $least = ALARM / keys(%program) / @kinds / ($opt{runs} + 2);
    my (@rows, @wrong);
    for my $kind (@kinds) {
        my ($row, @of_kind) = judge_kind($of, $kind, $least);
        push @rows, $row;
        push @wrong, map { "$name: $_" } @of_kind;
    }
    printf "%s: %d runs, %d samples; a chance below %.0e is wrong\n", $name, $opt{runs},
        sum(map { $_->[3] } @rows), $least;
    table(['', 'plain, %', 'true, %', 'samples', 'over true (runs)', 'time over true',
        'least chance', 'all: samples', 'time'], @rows);
    return @wrong;
}

print ours_version(), "\n\n";
my @names = @ARGV ? @ARGV : qw(kinds skid blocks callers);
exists $program{$_} or die "xt/truth-samples.pl: no program $_\n" for @names;
my @wrong = map { judge($_) } @names;
print "beyond the bound: $_\n" for @wrong;
print @wrong ? "not ok\n" : "ok: all shares are within the bound\n";
exit(@wrong ? 1 : 0);
