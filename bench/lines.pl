#!/usr/bin/perl
# Measures the cost of recording statements, and the truth of their times.
#     perl bench/lines.pl [--rounds 9] [--no-costs] [--no-truth] [PROGRAM]
# Costs: real programs, or the one of that name (pod2text, perltidy), plain, as a tree, as a tree
# with lines, and under Devel::NYTProf.
# Truth: a program of six kinds of code. Prints the share of each in the CPU time by the lines of a
# profile, over its share without a profiler; 1 is the truth.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(sides run_side rounds programs median spread table tool scratch note kinds_of_lines
    shares ours_version);
use Getopt::Long;

GetOptions('rounds=i' => \(my $rounds = 9), 'costs!' => \(my $costs = 1),
    'truth!' => \(my $truth = 1)) or exit 2;
print ours_version(), "\n\n";

my ($MOST_OVER_TREE, $LEAST_TIMES) = ('1.10', 25);

my @sides = sides('plain', 'DProf, tree', 'DProf, lines=count', 'DProf, lines', 'NYTProf',
    'NYTProf, subs=0');
my @true = sides('plain', 'DProf, lines', 'DProf, sample=1000', 'NYTProf');
if ($costs) {
    my ($name) = @ARGV;
    costs($_) for grep { !defined $name || $_->[0] =~ /^\Q$name\E/ } programs();
}
truth(@true) if $truth;

sub costs {
    my ($title, @command) = @{ $_[0] };
    my $all = rounds($rounds, \@sides, @command);
    print "$title: CPU seconds of the whole run, $rounds interleaved rounds, and ratios: median "
        . "(least-most), and\nthe least over the least\n";
    table(
        [ '', 'median', 'least', 'times plain', 'least', 'times a tree', 'least' ],
        map {
            my $name = $_->[0];
            my $cpu = $all->{$name}{cpu};
            [ $name, map({ sprintf '%.3f', $_ } median(@$cpu), least(@$cpu)),
                ratio($cpu, $all->{plain}{cpu}),
                $name =~ /lines/ ? ratio($cpu, $all->{'DProf, tree'}{cpu}) : () ]
        } @sides
    );
    added($all);
}

sub least { return (spread(@_))[0] }

# Returns ratios taken round by round, so that both sides ran on the machine in the same state.
sub ratio {
    my ($of, $to) = @_;
    my @r = map { $of->[$_] / $to->[$_] } 0 .. $rounds - 1;
    return (sprintf('%.2f (%.2f-%.2f)', median(@r), spread(@r)),
        sprintf '%.2f', least(@$of) / least(@$to));
}

# Prints how many times more NYTProf adds. The addition of lines is a small difference of two large
# numbers, so it is computed twice: from the least values, which other processes have disturbed the
# least, and from medians.
sub added {
    my ($all) = @_;
    my %median = map { $_ => median(@{ $all->{$_}{cpu} }) } keys %$all;
    my %least = map { $_ => least(@{ $all->{$_}{cpu} }) } keys %$all;
    printf "%-24s %9s %9s\n", 'in CPU time', 'by median', 'by least';
    my $say = sub {
        my ($what, $of, $wanted) = @_;
        printf "%-24s %9s %9s%s\n", $what, map({ $of->($_) } \%median, \%least),
            $wanted ? "  ($wanted)" : '';
    };
    my $over = sub { sprintf '%.2f', $_[0]{'DProf, lines'} / $_[0]{'DProf, tree'} };
    $say->('lines over a tree', $over, "at most $MOST_OVER_TREE is wanted");
    for my $peer (grep { $all->{$_} } 'NYTProf', 'NYTProf, subs=0') {
        my $times = sub {
            my ($cpu, $from) = @_;
            my $adds = $cpu->{'DProf, lines'} - $cpu->{$from};
            return $adds > 0 ? sprintf '%.0f', ($cpu->{$peer} - $cpu->{plain}) / $adds : 'no end';
        };
        print "$peer adds, times what\n";
        $say->('  lines add to a tree', sub { $times->(@_, 'DProf, tree') },
            $peer eq 'NYTProf' ? "at least $LEAST_TIMES is wanted" : '');
        $say->('  a tree with lines adds', sub { $times->(@_, 'plain') });
    }
    print "Devel::NYTProf is not installed: what it adds is not known\n" if !$all->{NYTProf};
    print "\n";
}

# ---- truth ----

# Returns percent by line, from dprofreport.
sub by_dprofreport {
    my ($path) = @_;
    my $command = tool('dprofreport', qw(-s srcline --format csv --percent-limit 0),
        scratch() . '/out');
    my %percent;
    open my $in, '-|', $command or die "bench: dprofreport: $!\n";
    while (<$in>) { $percent{$2} = $1 if /,([\d.]+),'?\Q$path\E:(\d+)'?$/ }
    close $in or die "bench: dprofreport failed\n";
    return \%percent;
}

# Returns seconds by line, from NYTProf's own data.
sub by_nytprof {
    my ($path) = @_;
    my $code = <<'END';
use Devel::NYTProf::Data;
my ($file, $path) = @ARGV;
my $p = Devel::NYTProf::Data->new({ filename => $file, quiet => 1 });
my $lines = $p->get_fid_line_data('line')->[ $p->fileinfo_of($path)->fid ];
print "$_ $lines->[$_][0]\n" for grep { $lines->[$_] } 0 .. $#$lines;
END
    open my $in, '-|', $^X, '-e', $code, scratch() . '/out.nyt', $path
        or die "bench: NYTProf: $!\n";
    my %seconds = map { split } <$in>;
    close $in or die "bench: NYTProf cannot read its file\n";
    return \%seconds;
}

sub reported {
    my ($by_line, @kinds) = @_;
    my %sum;
    $sum{ $kinds[$_] } += $by_line->{$_} for grep { defined $kinds[$_] } keys %$by_line;
    return shares(\%sum);
}

sub truth {
    my (@sides) = @_;
    my $path = "$FindBin::Bin/kinds.pl";
    my @kinds = kinds_of_lines($path);
    my %seen;
    my @names = grep { defined && !$seen{$_}++ } @kinds;
    my (%true, %ratio);
    for my $round (1 .. $rounds) {
        my $plain;
        for my $side (@sides) {
            note("round $round of $rounds: $side->[0]");
            my $got = run_side($side, $path);
            if ($side->[0] eq 'plain') {
                $plain = shares($got);
                push @{ $true{$_} }, 100 * $plain->{$_} for @names;
                next;
            }
            my $by_line = $side->[0] eq 'NYTProf' ? by_nytprof($path) : by_dprofreport($path);
            my $share = reported($by_line, @kinds);
            push @{ $ratio{ $side->[0] }{$_} }, ($share->{$_} // 0) / $plain->{$_} for @names;
        }
    }
    print "share of CPU time by lines, reported over unprofiled: median of $rounds rounds, least "
        . "and most (1 = true)\n";
    table(
        [ '', map { tr/_/ /r } @names ],
        [ 'unprofiled, percent', map { sprintf '%.1f', median(@{ $true{$_} }) } @names ],
        map {
            my $of = $ratio{ $_->[0] };
            [ $_->[0], map { sprintf '%.2f (%.2f-%.2f)', median(@{ $of->{$_} }),
                spread(@{ $of->{$_} }) } @names ]
        } @sides[ 1 .. $#sides ]
    );
}
