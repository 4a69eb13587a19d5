#!/usr/bin/perl
# Measures the truth of profiles of calls and lines. Prints the share of each of six kinds of calls,
# and of six kinds of lines, in a profile, over its share in the CPU time without a profiler; 1 is
# the truth.
#     perl bench/truth.pl [--rounds 9] [--busy N]
# --busy N: N other processes compute at the same time. taskset -c 1 perl bench/truth.pl keeps all
# processes on one processor. The exit status is 1 if a median is outside of 0.95 to 1.05.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(sides run_side median spread table tool scratch note kinds_of_lines shares
    ours_version);
use Getopt::Long;

GetOptions('rounds=i' => \(my $rounds = 9), 'busy=i' => \(my $busy = 0)) or exit 2;
my ($LEAST, $MOST) = (0.95, 1.05);
print ours_version(), "\n\n";
my $self = $$;
my @neighbours = map { neighbour() } 1 .. $busy;
my $outside = compare('calls', "$FindBin::Bin/call-kinds.pl", \&by_sub, 'DProf', 'DProf, tree',
    'DProf, lines', 'DProf, callsites=1', 'DProf, sample=1000');
$outside += compare('lines', "$FindBin::Bin/kinds.pl", \&by_line, 'DProf, lines',
    'DProf, sample=1000');
END { kill KILL => @neighbours if @neighbours && $$ == $self }
print $outside ? "$outside medians are outside of $LEAST to $MOST\n"
    : "all medians are within $LEAST to $MOST\n";
exit($outside ? 1 : 0);

sub neighbour {
    my $pid = fork // die "bench: fork: $!\n";
    return $pid if $pid;
    my $x = 0;
    $x = ($x * 3 + 1) % 1009 while 1;
}

# Returns the percentage of each kind, including callees.
sub by_sub {
    my (undef, @names) = @_;
    my %percent = map { $_ => 0 } @names;
    my $command = tool('dprofreport', qw(-s sub --children --format csv --percent-limit 0),
        scratch() . '/out');
    open my $in, '-|', $command or die "bench: dprofreport: $!\n";
    while (<$in>) {
        $percent{$2} = $1 if /^([\d.]+),[\d.]+,main::(\w+)$/ && exists $percent{$2};
    }
    close $in or die "bench: dprofreport failed\n";
    return \%percent;
}

# Returns the percentage of each kind.
sub by_line {
    my ($path, @names) = @_;
    my @kinds = kinds_of_lines($path);
    my $command = tool('dprofreport', qw(-s srcline --format csv --percent-limit 0),
        scratch() . '/out');
    my %percent = map { $_ => 0 } @names;
    open my $in, '-|', $command or die "bench: dprofreport: $!\n";
    while (<$in>) {
        $percent{ $kinds[$2] } += $1 if /,([\d.]+),'?\Q$path\E:(\d+)'?$/ && defined $kinds[$2];
    }
    close $in or die "bench: dprofreport failed\n";
    return \%percent;
}

# Prints the table. Returns the number of medians outside of the limits.
sub compare {
    my ($what, $path, $reader, @wanted) = @_;
    my @sides = sides('plain', @wanted);
    my (@names, %true, %ratio);
    for my $round (1 .. $rounds) {
        my $plain;
        for my $side (@sides) {
            note("$what, round $round of $rounds: $side->[0]");
            my $got = run_side($side, $path);
            if ($side->[0] eq 'plain') {
                $plain = shares($got);
                @names = sort keys %$plain;
                push @{ $true{$_} }, 100 * $plain->{$_} for @names;
                next;
            }
            my $share = shares($reader->($path, @names));
            push @{ $ratio{ $side->[0] }{$_} }, ($share->{$_} // 0) / $plain->{$_} for @names;
        }
    }
    print "share of CPU time of kinds of $what, reported over unprofiled: median of $rounds "
        . "rounds, least and most\n";
    my $outside = 0;
    my @rows = map { my $of = $ratio{ $_->[0] };
        $outside += grep { $_ < $LEAST || $_ > $MOST } map { median(@$_) } values %$of;
        [ $_->[0], map { sprintf '%.3f (%.2f-%.2f)', median(@{ $of->{$_} }),
            spread(@{ $of->{$_} }) } @names ] } @sides[1 .. $#sides];
    table(['', map { tr/_/ /r } @names],
        ['unprofiled, percent', map { sprintf '%.1f', median(@{ $true{$_} }) } @names], @rows);
    print "\n";
    return $outside;
}
