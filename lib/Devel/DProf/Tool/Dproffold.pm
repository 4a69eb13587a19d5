package Devel::DProf::Tool::Dproffold;

# dproffold: options, folded stacks.

use strict;
use warnings;

use Devel::DProf::Constants qw(time_words);
use Devel::DProf::Metric;
use Devel::DProf::Tool qw(OK FAILED complain result);
use Devel::DProf::Tool::Options;
use Devel::DProf::View::Stacks;

our $VERSION = $Devel::DProf::Core::VERSION;

my %PER = (s => 1, ms => 1e3, us => 1e6, ns => 1e9);

my $TOOL = Devel::DProf::Tool::Options->new(
    lists => { METRICS => Devel::DProf::Metric::for_help() },
    name => 'dproffold', settings => \&settings, run => \&fold_names,
    text => <<'END' =~ s/^\@FORMAT\@\n/Devel::DProf::View::Stacks::format_option()/emr,
dproffold [options] [profile ...]
dproffold --diff [options] baseline other

Prints folded stacks: frames separated by semicolons, callers first, and the self value of the
last frame. No file: reads standard input if it is a pipe or a file, else tmon.out.
Several files are added up.

= m|metric=s
    -m METRIC           {METRICS}
                        or another counter (dproflist lists them)
= unit=s
    --unit UNIT         s, ms, us (the default), ns; calls, ops ...; also what folded stacks count
= only=s  skip=s  kind=s
    --only REGEX --skip REGEX       only frames whose names match, or do not match;
    --kind KIND                     only spans of this kind: sql, http ...;
                        the others count for their callers
= fold-recursion
    --fold-recursion    a sub that calls itself directly is one frame
= reverse|r
    --reverse           callees first
= R|separate-anon!
    --no-separate-anon  anonymous subs without file and line
= A|autoload
    -A                  autoloaded subs as *::AUTOLOAD
= diff|d
    --diff              two sides, a count for each: 'base.*' new.out, a.out,b.out c.out
= n|normalize
    -n                  scales the first side to the second side's total
= s|x|strip-hex
    -s, -x              addresses in names (0x12ab) become 0x...
= strip-words
    --strip-words       -s, and addresses without 0x, too
= map=s@
    --map OLD=NEW       renamed subs; packages end in ::; file://NAME reads a list of them
= symfs=s@
    --symfs DIR         file names are relative to DIR
= pid=s  tid=s
    --pid LIST --tid LIST           only the files of these processes, threads
= time=s
    --time RANGE        slices of traces: START,STOP in seconds, A%-B%, A%/N;
                        for several sides, separated by colons
= processes
    --processes         reads all files of each run
= from=s  run-set=s@
    --from STORE --run-set SET      profiles of a store (dprofstore), in place of files
= main
    --main              leaves out what ran before the main program
= o|output=s(some)
    -o FILE             the output (default: standard output)
@FORMAT@
= f|F|force
    -f                  works in spite of different units; silent about profiles cut short
    -V  -h  -H          version, this help, the manual
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Reads the named profiles and prints their stacks. Returns the tool's status.
sub fold_names {
    my ($opt, $stacks, $names) = @_;
    my @names = Devel::DProf::View::Stacks::names($opt, @$names);
    return $TOOL->usage(Devel::DProf::View::Stacks::TWO_SIDES) if !@names;
    $stacks->read(@names) or return FAILED;
    my %print = eval { choose_metric($opt, $stacks) };
    return $TOOL->usage($@) if $@;
    return FAILED if !%print;
    return write_stacks($opt, $stacks, %print);
}

# Turns options into the stacks to print. Dies with a message if -m and --unit do not go together.
sub settings {
    my ($opt) = @_;
    my $metric = $opt->{m};
    my $unit = $opt->{unit};
    my @times = time_words();
    my $last = pop @times;
    die "--unit $unit and -m $metric: $unit is itself a metric; "
        . 'a unit of time goes with ' . join(', ', @times) . " or $last\n"
        if defined $unit && defined $metric && !$PER{$unit} && $unit ne $metric;
    die "--unit $unit: $metric is not a time\n" if defined $unit && defined $metric && $PER{$unit}
        && !Devel::DProf::Metric::is_time_word($metric);
    my $format = Devel::DProf::View::Stacks::format_of('programs', $opt->{format}, $opt->{o})
        // (Devel::DProf::View::Stacks::formats('programs'))[0];
    my ($how, %fields) = Devel::DProf::View::Stacks::settings($opt);
    return Devel::DProf::View::Stacks->new(
        { %$how, format => $format->{name}, normalize => $opt->{n} ? 1 : 0 }, %fields);
}

# Chooses the metric. Returns, as pairs, how to print its values: per, their number in a second, and
# whole, whether they are rounded. Dies if an option is wrong; returns an empty list, after a
# message, if a side lacks the metric.
sub choose_metric {
    my ($opt, $stacks) = @_;
    die "-n needs two sides\n" if $opt->{n} && !$stacks->has_two_sides;
    my $unit = $opt->{unit} // 'us';
    $stacks->settle($opt->{m} // ($PER{$unit} ? 'cpu' : $unit)) or return;
    my $is_time = $stacks->in_seconds;
    return (per => $is_time ? $PER{$unit} : 1, whole => $is_time && $PER{$unit} > 1e3 ? 1 : 0);
}

# Prints the stacks to -o FILE or standard output. Returns the exit status.
sub write_stacks {
    my ($opt, $stacks, %print) = @_;
    my $status = result('dproffold', $opt->{o}, sub { print_stacks($_[0], $opt, $stacks, %print) });
    return $status || ($stacks->failed ? FAILED : OK);
}

# Prints the stacks to a handle, and messages about what was left out. Returns 0, or another number
# if that failed.
sub print_stacks {
    my ($out, $opt, $stacks, %print) = @_;
    my $result = $stacks->print($out, $stacks->format, %print,
        reverse => $opt->{reverse} ? 1 : 0);
    complain($_) for grep { defined } $stacks->left_out($result), $stacks->unmatched;
    complain($stacks->nothing_left('no stack has a self value'))
        if !$result->{code} && !$result->{lines};
    return $result->{code};
}

1;
