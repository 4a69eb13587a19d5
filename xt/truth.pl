#!/usr/bin/perl
# Is what dprofdiff says true? Compares a made-up program of 60 subs, of 0.3 to 2 ms in a run, with
# itself, with versions of it that do the same in a file that is different (a comment, other digits,
# subs that nobody calls), and with versions in which one sub does 3, 5 or 10 % more; each time
# through `dprofdiff --run`, ten runs a side, on a quiet machine and on one that is busy with other
# programs. It prints how many of the changes were found and what was called changed that was not,
# by its time and by its ops. What is quiet, only the machine knows: the spread of the subs is
# printed.
#
#   perl xt/truth.pl [--rounds 40] [--runs 10] [--busy 12] [--only 'same|5 %'] [--real]
#
# --busy: processes that keep the machine busy, for the second half of the table; 0: no second half.
# --real: compares, instead, a real program with itself.
use strict;
use warnings;

use File::Temp ();
use FindBin ();
use Getopt::Long 'GetOptions';
use JSON::PP ();
use Time::HiRes qw(CLOCK_MONOTONIC clock_gettime);

my %opt = (rounds => 40, runs => 10, busy => 12, only => '');
GetOptions(\%opt, 'rounds=i', 'runs=i', 'busy=i', 'only=s', 'real')
    or die "usage: $0 [--rounds N] [--runs N] [--busy N] [--only REGEX] [--real]\n";

my $root = "$FindBin::Bin/..";
my $dir = File::Temp->newdir;
my $SUBS = 60;
my $LEAST = 14;             # of the subs before this one, each has less than 0.5 %

# ---- the program ----

# What the subs do; %d is the number of steps.
my @KINDS = (
    'my $s = 0; $s += $_ & 7 for 1 .. %d; return $s',
    'my $s = ""; $s .= chr(97 + $_ %% 26) for 1 .. %d; return length $s',
    'my %%h; $h{$_ & 63} += $_ for 1 .. %d; return scalar keys %%h',
    'my $n = 0; for (1 .. %d) { $n++ if "k$_ v" =~ /(\d+) v/ } return $n',
    'my @a = map { ($_ * 7919) %% 1009 } 1 .. %d; @a = sort { $a <=> $b } @a; return $a[0]',
    'my @a; push @a, [$_, $_ + 1] for 1 .. %d; my $s = 0; $s += $_->[1] for @a; return $s',
);
my @ns_of_step = map { ns_of_step($_) } @KINDS;

# How long a step takes on this machine: the least of many calls, of two lengths on average.
sub ns_of_step {
    my ($code) = @_;
    my $sum = 0;
    for my $steps (20, 200) {
        my $run = eval sprintf "sub { $code }", $steps or die $@;
        my $least = 1;
        for (1 .. 300) {
            my $before = clock_gettime(CLOCK_MONOTONIC);
            $run->() for 1 .. 5;
            my $took = clock_gettime(CLOCK_MONOTONIC) - $before;
            $least = $took if $took < $least;
        }
        $sum += 1e9 * $least / 5 / $steps;
    }
    return int $sum / 2 || 1;
}

# Returns its text: `slower' is the number of a sub, which does `factor' times as much; `edit' says
# what else is different.
sub program {
    my (%how) = @_;
    my $edit = $how{edit} // '';
    my $text = "use strict; use warnings;\n";
    $text .= "# a comment that somebody has added\n" x 40 if $edit eq 'comment';
    my @calls;
    for my $i (0 .. $SUBS - 1) {
        my $ns = 0.3e6 * (2 / 0.3) ** ($i / ($SUBS - 1));
        my $kind = $i * 7 % @KINDS;
        my $calls = (4, 10, 25, 60, 150)[$i % 5];
        my $steps = int($ns / $calls / $ns_of_step[$kind]) || 1;
        if (defined $how{slower} && $how{slower} == $i) {
            # Where calls are short the number of steps cannot grow by so little: then calls do.
            my $more = int($steps * $how{factor} + 0.5);
            my $off = abs($more / $steps - $how{factor});
            if ($off < 0.004) { $steps = $more } else { $calls = int($calls * $how{factor} + 0.5) }
        }
        $text .= "sub unused$i { my (\$x, \$y) = \@_; return \$x . 'unused' . \$y }\n"
            if $edit eq 'unused' && $i % 20 == 10;
        $text .= sprintf "sub w%02d { $KINDS[$kind] }\n", $i, $steps;
        push @calls, map { [$i, $_ / $calls] } 1 .. $calls;
    }
    # in an order that does not depend on what is slower
    my $place = sub {
        my ($sub, $at) = @{ $_[0] };
        my $x = sin($sub * 12.9898 + $at * 78.233) * 43758.5453;
        return $x - int $x;
    };
    @calls = map { $_->[1] } sort { $a->[0] <=> $b->[0] } map { [$place->($_), $_] } @calls;
    $text .= 'my $constant = ' . ($edit eq 'digits' ? 1234567890 : 3) . ";\n";
    return $text . join '', map { sprintf "w%02d();\n", $_->[0] } @calls;
}

sub command {
    my ($name, %how) = @_;
    my $file = "$dir/$name.pl";
    open my $out, '>', $file or die "$file: $!\n";
    print $out program(%how);
    close $out or die "$file: $!\n";
    return "$^X $file";
}

# ---- comparing ----

sub compare {
    my (@commands) = @_;
    my $run = join ' ', map { '--run ' . quotemeta } @commands;
    my $perl = "$^X -I$root/blib/lib -I$root/blib/arch";
    my $text = `$perl $root/bin/dprofdiff -q -N $opt{runs} --format json $run`;
    die "dprofdiff: status $?\n" if $?;
    return JSON::PP->new->utf8->decode($text);
}

sub median { my @sorted = sort { $a <=> $b } @_; return $sorted[$#sorted / 2] }

sub spread_of {
    my ($json) = @_;
    return median(map { 100 * $_->{baseline_spread} / $_->{baseline} }
        grep { $_->{baseline} && defined $_->{p} } @{ $json->{rows} });
}

sub report {
    my ($what, $round, $row) = @_;
    printf "    %s in round %d: %s %+.2f %%, spread %.1f %%, %d calls, p %.6f, %s\n", $what,
        $round, @$row{qw(symbol change_pct)},
        100 * $row->{baseline_spread} / $row->{baseline}, @$row{qw(calls p verdict)};
    return;
}

# The rows of a table: a name, and what makes the other program of a round.
my @versions = (
    ['same', sub { () }],
    (map { my $edit = $_; ["same, $edit", sub { (edit => $edit) }] } qw(comment digits unused)),
    map {
        my $percent = $_;
        ["one sub $percent %", sub {
            my ($round) = @_;
            return (slower => $LEAST + $round * 7 % ($SUBS - $LEAST), factor => 1 + $percent / 100);
        }]
    } 3, 5, 10,
);

# Does the comparisons of a row of the table, and prints it.
sub measure {
    my ($load, $name, $how) = @_;
    my ($base, %n, @spreads) = (command('base'));
    for my $round (1 .. $opt{rounds}) {
        my %other = $how->($round);
        my $json = compare($base, command('other', %other));
        my $slower = defined $other{slower} ? sprintf 'main::w%02d', $other{slower} : '';
        push @spreads, spread_of($json);
        for my $row (@{ $json->{rows} }) {
            my $is_it = $row->{symbol} eq $slower;
            my $is_sub = $row->{symbol} =~ /\Amain::w/;
            $n{tests} += defined $row->{p} && !$is_it;
            $n{layout} += $row->{verdict} eq 'within layout';
            my $grown = $row->{verdict} eq 'significant' && $row->{change} > 0;
            $n{found} += $is_it && $grown;
            $n{exact} += $is_it && $row->{ops_verdict} eq 'exact';
            report('missed', $round, $row) if $is_it && !$grown;
            if ($row->{verdict} eq 'significant' && !$is_it) {
                $n{false}++;
                report('false', $round, $row);
            }
            $n{false_exact} += $is_sub && !$is_it && ($row->{ops_verdict} // '') eq 'exact';
        }
    }
    my $looked = $name =~ /\d %/ ? $opt{rounds} : 0;
    printf "%-6s  %-15s  %6s  %6s  %6s  %5d of %5d  %6d  %6d  %5.1f %%\n", $load, $name,
        $looked ? (map { $_ // 0 } @n{qw(found exact)}, $looked) : ('', '', ''),
        map({ $_ // 0 } @n{qw(false tests layout false_exact)}), median(@spreads);
    return;
}

# ---- the load ----

my @busy;

sub make_busy {
    for (1 .. $opt{busy}) {
        my $pid = fork // die "fork: $!\n";
        push @busy, $pid and next if $pid;
        my ($x, %h) = (0);
        while (1) { $h{ $x & 0xffff } .= 'x'; %h = () if !(++$x & 0xfffff) }
    }
    return;
}

END { kill KILL => @busy if @busy }

$| = 1;
if ($opt{real}) {
    my ($pod) = grep { -e } map { ("$_/perlre.pod", "$_/pod/perlre.pod") } @INC;
    my $real = defined $pod ? "$^X -MPod::Text -e 'Pod::Text->new->parse_file(shift)' $pod"
        : "$^X $root/examples/sheet.pl";
    my ($false, $tests) = (0, 0);
    for (1 .. $opt{rounds}) {
        my $json = compare($real, $real);
        my @alarms = map { $_->{symbol} }
            grep { $_->{verdict} eq 'significant' } @{ $json->{rows} };
        push @alarms, '(total)' if $json->{total_verdict} eq 'significant';
        print "    round $_: @alarms\n" if @alarms;
        $false += @alarms > 0;
        $tests += grep { defined $_->{p} } @{ $json->{rows} };
    }
    print "$opt{rounds} comparisons of a real program with itself, $tests subs: "
        . "$false with an alarm\n";
    exit($false ? 1 : 0);
}
printf "%-6s  %-15s  %6s  %6s  %6s  %14s  %6s  %6s  %7s\n", 'load', 'version', 'found', 'by ops',
    'of', 'false, of', 'layout', 'by ops', 'spread';
for my $load ('quiet', $opt{busy} ? 'busy' : ()) {
    make_busy() if $load eq 'busy';
    for my $version (@versions) {
        measure($load, @$version) if $version->[0] =~ /$opt{only}/;
    }
}
