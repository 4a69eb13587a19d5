package Devel::DProf::Tool::Dprofexport;

# dprofexport: options, files of other tools.

use strict;
use warnings;

use Devel::DProf::Input;
use Devel::DProf::OptionValues qw(list_of);
use Devel::DProf::Text qw(text);
use Devel::DProf::Tool qw(OK FAILED complain end_transient progress result written);
use Devel::DProf::Tool::Options;
use Devel::DProf::View::Export qw(stacks metrics part_of);
use Devel::DProf::View::Stacks;

our $VERSION = $Devel::DProf::Core::VERSION;

my @FORMATS = Devel::DProf::View::Stacks::names_of(Devel::DProf::View::Stacks::formats('tools'));
my @LABELS = qw(phase pid tid);

my $TOOL = Devel::DProf::Tool::Options->new(
    lists => { METRICS => Devel::DProf::Metric::for_help(), LABELS => \@LABELS },
    name => 'dprofexport', settings => \&settings, run => \&export,
    text => <<'END' =~ s/\@FORMATS\@/join '|', @FORMATS/er,
dprofexport [options] [profile ...]
dprofexport --diff -o FILE [options] baseline other

Writes profiles as files of other tools. No file: reads standard input if it is a pipe or a file,
else tmon.out. Several files are added up, unless the format shows processes and threads.

= format=s
    --format @FORMATS@
                        (default: by the suffix of FILE, else pprof)
= o|output=s(some)
    -o FILE             the output (default: standard output)
= list
    --list              lists the formats and their suffixes
= m|metric=s@
    -m METRIC,...       {METRICS}
                        or another counter (default: all that the profile has)
= label=s@
    --label LABEL,...   {LABELS}: labels of samples, if the format has labels
= phase=s
    --phase NAME        only what ran in this phase
= only=s  skip=s  kind=s
    --only REGEX --skip REGEX       only frames whose names match, or do not match;
    --kind KIND                     only spans of this kind: sql, http ...;
                        the others count for their callers
= fold-recursion
    --fold-recursion    a sub that calls itself directly is one frame
= diff|d
    --diff              writes two sides: FILE, and the baseline with .base in its name
= R|separate-anon!
    --no-separate-anon  anonymous subs without file and line
= A|autoload
    -A                  autoloaded subs as *::AUTOLOAD
= s|x|strip-hex
    -s, -x              addresses in names (0x12ab) become 0x...
= strip-words
    --strip-words       -s, and addresses without 0x, too
= map=s@  symfs=s@
    --map OLD=NEW --symfs DIR       with --diff: pairs names that differ
= unit=s(unit)
    --unit UNIT         what folded stacks count: s, ms, us, ns, calls, samples ...
= pid=s  tid=s
    --pid LIST --tid LIST           only the files of these processes, threads
= time=s
    --time RANGE        slices of traces: START,STOP in seconds, A%-B%, A%/N
= processes
    --processes         reads all files of each run
= from=s  run-set=s@
    --from STORE --run-set SET      profiles of a store (dprofstore), in place of files
= main
    --main              leaves out what ran before the main program
= f|F|force
    -f                  works in spite of different units; silent about profiles cut short
    -V  -h  -H          version, this help, the manual
END
);

# Runs the tool with these arguments. Returns the exit status.
sub main {
    my @args = @_;
    my @rest = without_folded(@args) or return $TOOL->main(@args);
    # dproffold writes folded stacks, and takes the options that make sense for them.
    require Devel::DProf::Tool::Dproffold;
    return Devel::DProf::Tool::Dproffold::main(@rest[1 .. $#rest]);
}

# Returns 1 and the arguments without --format folded; nothing if that is not among them.
sub without_folded {
    my @args = @_;
    for my $i (0 .. $#args) {
        last if $args[$i] eq '--';
        return (1, @args[0 .. $i - 1, $i + 1 .. $#args]) if $args[$i] =~ /\A--?format=folded\z/;
        return (1, @args[0 .. $i - 1, $i + 2 .. $#args])
            if $args[$i] =~ /\A--?format\z/ && ($args[ $i + 1 ] // '') =~ m{\Afolded\z};
    }
    return;
}

sub command { return $TOOL }

# Returns the stacks to write, a Devel::DProf::View::Stacks. Dies with what is wrong.
sub settings {
    my ($opt) = @_;
    return Devel::DProf::View::Stacks->new({}) if $opt->{list};
    my ($first) = Devel::DProf::View::Stacks::formats('tools');
    my $format = Devel::DProf::View::Stacks::format_of('tools', $opt->{format}, $opt->{o})
        // (($opt->{o} // '-') eq '-' ? $first : undef)
        // die "-o $opt->{o}: no format has that suffix; use --format " . join('|',
            @FORMATS) . "\n";
    my %label = map { $_ => 1 } map { list_of('--label', $_) } @{ $opt->{label} || [] };
    for my $label (sort keys %label) {
        die "--label $label: must be " . join(', ', @LABELS) . "\n"
            if !grep { $_ eq $label } @LABELS;
        die "--label $label: $format->{name} has no labels\n" if !$format->{labels};
    }
    die "--fold-recursion: $format->{name} has each call by itself\n"
        if $format->{trace} && $opt->{'fold-recursion'};
    die "--format $format->{name} shows each call, which only a trace has, and a store keeps "
        . "trees: name a file that was recorded without `tree`, or use another format, such as "
        . "$first->{name}\n" if $format->{trace} && (defined $opt->{from} || $opt->{'run-set'});
    if ($opt->{diff}) {
        die "--diff: $format->{name} has no way to compare two files; dprofdiff compares\n"
            if !$format->{base};
        die "--diff writes two files: name the second one, -o FILE\n"
            if ($opt->{o} // '-') eq '-';
        die "--phase goes with one side\n" if defined $opt->{phase};
    }
    my %how = (
        by_sub => $opt->{diff} ? 0 : 1,
        by_part => $format->{apart} || $label{pid} || $label{tid} ? 1 : 0,
        phase => defined $opt->{phase} ? text($opt->{phase}) : undef,
        (map { ("label_$_" => $label{$_} ? 1 : 0) } @LABELS),
    );
    return stacks($opt, $format, \%how,
        phases => $label{phase} || defined $opt->{phase} ? 1 : 0);
}

# Runs the tool: exports profiles in a format of another tool. Without -m, it exports all metrics
# that the format can show. Returns the exit status.
sub export {
    my ($opt, $stacks, $names) = @_;
    return list_formats() if $opt->{list};
    my @names = Devel::DProf::View::Stacks::names($opt, @$names);
    return $TOOL->usage(Devel::DProf::View::Stacks::TWO_SIDES) if !@names;
    return $TOOL->usage('a terminal cannot show the result; use -o FILE, or > FILE')
        if ($opt->{o} // '-') eq '-' && -t STDOUT;
    my @metrics = map { list_of('-m', $_) } @{ $opt->{m} || [] };
    my $format = Devel::DProf::View::Stacks::format_of('tools', $stacks->format);
    return export_calls($opt, $stacks, \@names, @metrics) if $format->{trace};
    $stacks->read(@names) or return FAILED;
    push @metrics, grep { $_ eq 'calls' } $stacks->has
        if @metrics && $stacks->shows_calls && !grep { $_ eq 'calls' } @metrics;
    @metrics = metrics($stacks) if !@metrics;
    $stacks->settle(@metrics) or return FAILED;
    my $is_timed = $stacks->has_timeline && grep { $_ eq 'real' } @metrics;
    my @timeline = $is_timed ? $stacks->timeline : ();
    return print_side($stacks, $opt->{o}, 0, timeline => \@timeline) if !$opt->{diff};
    return print_side($stacks, base_of($opt->{o}, $stacks->format), 0)
        || print_side($stacks, $opt->{o}, 1);
}

# Writes the calls of traces directly from the files, as formats without sums need them. Returns the
# exit status.
sub export_calls {
    my ($opt, $stacks, $names, @metrics) = @_;
    my $format = $stacks->format;
    my ($metric) = @metrics ? $metrics[0] eq 'wall' ? 'real' : $metrics[0] : 'real';
    return $TOOL->usage("-m: $format has one time: real (wall), cpu, user or system")
        if @metrics > 1 || !Devel::DProf::Metric::is_time_word($metric);
    my @paths = $stacks->paths(@$names) or return FAILED;
    my $failed;
    my $status = result('dprofexport', $opt->{o}, sub {
        (my $result, $failed) = $stacks->print_trace($_[0], $format, $metric, @paths);
        complain($stacks->nothing_left('there are no calls'))
            if !$result->{code} && !$failed && !$result->{lines};
        $failed ||= $stacks->failed;
        return ($result->{code}, $result->{empty});
    });
    return $status || ($failed ? FAILED : OK);
}

# Returns the name of the baseline's file: FILE.base.pb.gz for FILE.pb.gz.
sub base_of {
    my ($path, $name) = @_;
    my $format = Devel::DProf::View::Stacks::format_of('tools', $name);
    for my $suffix (sort { length $b <=> length $a } split ' ', $format->{suffixes}) {
        return $path if $path =~ s/(\Q$suffix\E)\z/.base$1/i;
    }
    return "$path.base";
}

# Prints a side of the stacks to a file, or to standard output. Returns the exit status.
sub print_side {
    my ($stacks, $path, $side, %more) = @_;
    my $progress = progress(
        ($path // '-') eq '-' ? 'standard output' : $path);
    my $status = result('dprofexport', $path, sub {
        my $result = $stacks->print($_[0], $stacks->format, side => $side, %more,
            progress => $progress, parts => [map { part_of($_) } $stacks->profiles($side)]);
        end_transient();
        complain($_) for grep { defined } $stacks->left_out($result), $stacks->unmatched;
        complain($stacks->nothing_left('nothing has a value'))
            if !$result->{code} && $result->{empty};
        return $result->{code};
    });
    return $status || ($stacks->failed ? FAILED : OK);
}

# Prints the formats with the suffixes of their files (--list). Returns the exit status.
sub list_formats {
    printf "%-12s %s\n", @$_{qw(name suffixes)} for Devel::DProf::View::Stacks::formats('tools');
    return written('dprofexport', \*STDOUT, 0);
}

1;
