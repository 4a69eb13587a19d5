package Devel::DProf::View::Stacks;

# Profiles as stacks, for dproffold, dprofflame and dprofexport: reads one side or two, and chooses
# the metrics.

use strict;
use warnings;

use Devel::DProf::Constants qw(options given DP_M_COUNTER);
use Devel::DProf::Input qw(of_runs report_outcome used);
use Devel::DProf::Metric;
use Devel::DProf::Profile;
use Devel::DProf::Sides qw(side);
use Devel::DProf::Text qw(text unknown);
use Devel::DProf::Tool qw(complain progress end_transient);
use Devel::DProf::View qw(filters filters_names given_filters flags folders nothing_shown
    meant_selected shows_name);

our $VERSION = $Devel::DProf::Core::VERSION;

use constant REAL => Devel::DProf::Profile::REAL;
# The most calls of a timeline: pages of other tools become slow, and then fail, beyond some million
# events.
use constant MOST_IN_ORDER => 1_000_000;

# Returns the options that these tools share, as new() takes them: a hash of those of C, then pairs
# for the object. Dies with a message if an option is wrong.
sub settings {
    my ($opt) = @_;
    require Cwd;
    my @symfs = folders($opt->{symfs});
    my %fields = (
        filters($opt, qw(only skip kind)), diff => $opt->{diff} ? 1 : 0,
        processes => $opt->{processes}, main => $opt->{main}, force => $opt->{f} ? 1 : 0,
        unit => $opt->{unit},
        symfs => [@symfs, folders($opt->{'source-dir'})],
    );
    my %how = (
        separate => $opt->{R} // 1, autoload => $opt->{A} ? 1 : 0,
        recursion => $opt->{'fold-recursion'} ? 1 : 1000, strip_hex => $opt->{s} ? 1 : 0,
        strip_words => $opt->{'strip-words'} ? 1 : 0, bases => [@symfs, text(Cwd::getcwd() // '')],
    );
    # These options are rare, so the module that parses them is loaded only if needed.
    return (\%how, %fields) if !grep { defined $opt->{$_} } qw(map time pid tid);
    require Devel::DProf::OptionValues;
    my @maps = @{ $opt->{map} || [] };
    $fields{map_auto} = grep { $_ eq 'auto' } @maps;
    $how{renames} = [map { Devel::DProf::OptionValues::renames($_) } grep { $_ ne 'auto' } @maps];
    $fields{windows} = Devel::DProf::OptionValues::windows($opt->{time}) if defined $opt->{time};
    for my $name (grep { defined $opt->{$_} } qw(pid tid)) {
        $fields{$name}
            = { map { $_ => 1 } Devel::DProf::OptionValues::list_of("--$name", $opt->{$name}) };
    }
    return (\%how, %fields);
}

use constant TWO_SIDES => '--diff takes two sides, a baseline and another one; '
    . 'join the files of one side by commas';

# Returns the names of the files, or of the sides. Without a name, a filter reads standard input if
# that is a pipe or file; otherwise the recorder's default file. Returns nothing if there are more
# than two sides; TWO_SIDES is the message for that.
sub names {
    my ($opt, @names) = @_;
    return @names ? @names : -p STDIN || -f STDIN ? '-' : 'tmon.out' if !$opt->{diff};
    @names = ('tmon.out.old', @names ? @names : 'tmon.out') if @names < 2;
    return @names == 2 ? @names : ();
}

# ---- formats ----

# Returns C's descriptions of formats: those for "eyes", for "programs", or of other "tools".
sub formats {
    my ($for) = @_;
    return grep { $_->{for} eq $for } @{ Devel::DProf::Profile::stacks_formats() };
}

# Returns the names of formats.
sub names_of { return map { $_->{name} } @_ }

# Viewers whose names people give for the format that they read.
my %ALIAS = (kcachegrind => 'callgrind', qcachegrind => 'callgrind');

# Returns the format that --format names, or that a file's suffix stands for; undef if neither does.
# Dies if --format names no format.
sub format_of {
    my ($for, $name, $path) = @_;
    my @formats = formats($for);
    if (defined $name) {
        my $known = $ALIAS{$name} // $name;
        my ($named) = grep { $_->{name} eq $known } @formats;
        return $named
            // die '--format: ' . unknown('format', $name, names_of(@formats)) . "\n";
    }
    my %of = map { my $format = $_; map { $_ => $format } split ' ', $format->{suffixes} } @formats;
    my ($suffix) = grep { lc($path // '') =~ /[^\/]\Q$_\E\z/ }
        sort { length $b <=> length $a } keys %of;
    return $of{$suffix} if defined $suffix;
    my ($begin) = lc($path // '') =~ m{(?:^|/)(\w+)\.out(?:\.[^/]*)?\z} or return;
    my ($format) = grep { $_->{name} eq $begin } @formats;
    return $format;
}

# Returns the text of the option --format for a tool's help, or '' if there is only one format.
sub format_option {
    my @names = names_of(formats('programs'));
    return @names < 2 ? '' : "= format=s\n    --format " . join('|', @names)
        . "  how stacks are printed; else the suffix of FILE decides\n";
}

# HOW: options of C. FIELDS: kind, the view in C (fold, flame, export); fields of filters(); diff
# (two sides), unit (of folded stacks), processes, force, windows, symfs, pid, tid (hashes of wanted
# ones).
sub new {
    my ($class, $how, %fields) = @_;
    my $options = options($fields{kind} // 'fold', separate => 1, recursion => 1000, renames => [],
        %$how);
    return bless { symfs => [], %fields, failed => 0, how => $options,
        map { $_ => $options->{$_} } qw(separate autoload) }, $class;
}

# Reads the files of one side, or the two sides. Returns false, after a message, if a side cannot be
# used.
sub read {
    my ($self, @names) = @_;
    my @sides;
    # A user who selects processes or threads knows that there are several.
    my $quiet = $self->{force} || defined $self->{pid} || defined $self->{tid};
    if ($self->{diff}) {
        @sides = map { side($_, $self->{processes}, $quiet) // return } @names;
    } else {
        my @named = map { side($_, $self->{processes}, 1) // return } @names;
        my @paths = map { @$_ } map { @{ $_->{runs} } } @named;
        of_runs($self->{processes}, $quiet || scalar(grep { ref } @names), @paths);
        my @shown = map { ref ? $_->{name} : $_ } @names;
        my $name = join ', ', @shown > 3 ? (@shown[0 .. 2], '...') : @shown;
        @sides = { name => $name, runs => [\@paths] };
    }
    $self->begin_parts(@sides);
    my $reader = $self->{reader} = Devel::DProf::Sides->new(
        (map { $_ => $self->{$_} } qw(force main unit windows)),
        chart => $self->{chart_time}, progress => 1,
        pairs => !$self->{diff} && !$self->{how}{chart},
        (map { $_ => $self->{$_} } qw(phases detail)),
        may_be_empty => $self->{diff}, waits => $self->{diff},
        apart => $self->{how}{by_part} || defined $self->{pid} || defined $self->{tid},
        say => sub { complain($_[0]) },
    );
    $self->{comparison} = $self->comparison if $self->{diff};
    $reader->read(sub { $self->use_of(@_) }, @sides) or return;
    $reader->only_of($_, $self->{$_}) or return for qw(pid tid);
    $self->split_pairs or return;
    return !$self->{map_auto} || !$self->{comparison} || $self->{pairs} || $self->map_certain;
}

# --map auto: pairs subs that certainly were renamed. Returns false, after a message, if the sides
# cannot be compared.
sub map_certain {
    my ($self) = @_;
    my ($metric) = Devel::DProf::Metric::words($self->{metric} // 'cpu');
    my $diff = $self->{comparison}->with({}, metric_name => $metric, empty => 1);
    $diff->settle or return;
    $diff = $diff->with_certain_names // return;
    $self->{how}{renames} = [$diff->renames];
    $self->{comparison} = $self->comparison;
    return 1;
}

# Returns the comparison of what the reader has, by whose names two sides are shown.
sub comparison {
    my ($self) = @_;
    require Devel::DProf::Compare::Diff;
    # Formats of other tools have no option to normalize.
    my %how = map { $_ => $self->{how}{$_} }
        grep { exists $self->{how}{$_} } qw(separate autoload renames bases normalize);
    return Devel::DProf::Compare::Diff->new($self->{reader}, \%how,
        map { $_ => $self->{$_} } qw(re_only re_skip re_kind));
}

# A hook of subclasses: chooses which files and phases are kept apart when they are read.
sub begin_parts { }

# Returns the paths of one side's files, which are not read. Returns nothing, after a message, if
# there are none.
sub paths {
    my ($self, @names) = @_;
    my @wanted = grep { defined $self->{$_} } qw(pid tid);
    my @named = map { side($_, $self->{processes}, 1) // return } @names;
    my @paths = map { @$_ } map { @{ $_->{runs} } } @named;
    of_runs($self->{processes}, $self->{force} || @wanted || scalar(grep { ref } @names), @paths);
    for my $name (@wanted) {
        @paths = grep {
            my %header = Devel::DProf::Input::header_of($_);
            $self->{$name}{ $header{"dprof_$name"} // '' };
        } @paths;
        next if @paths;
        complain(join(', ', map { ref ? $_->{name} : $_ } @names) . ": there is no $name "
            . join(', ', sort keys %{ $self->{$name} }));
        return;
    }
    return @paths;
}

# Returns the state of a file as the reader takes it: fine, cut, bad ... A file with faulty lines or
# values is used without these.
sub use_of {
    my ($self, $o, $header) = @_;
    my $what = used($o, $header, $self->{force});
    return $what if $what ne 'bad' || !$o->{fault_count} || !$o->{contexts};
    $self->{failed} = 1;
    return 'fine';
}

# Turns folded stacks with two counts on each line into two sides.
sub split_pairs {
    my ($self) = @_;
    return 1 if $self->{diff};
    my @parts = map { @$_ } @{ ($self->sides)[0]{profiles} };
    my @two = grep { is_pair($_) } @parts;
    return 1 if !@two;
    if (@two < @parts || grep { $_->counters_differ } @parts) {
        complain('some of the files have two counts on each line, and others have one');
        return;
    }
    $self->{diff} = $self->{pairs} = 1;
    $self->{reader}->as_sides(qw(before after));
    $self->{comparison} = $self->comparison;
    return 1;
}

# Returns whether a profile comes from folded stacks with two counts on each line.
sub is_pair {
    my ($profile) = @_;
    return grep {
        my %header = $profile->header($_);
        ($header{dprof_format} // '') =~ /^folded/ && (() = $profile->counters);
    } 0 .. $profile->files - 1;
}

# Returns the calls of traces in order of real time, for formats that show them beside the sums, as
# the sides that C takes. Reads the same files once more. Returns nothing if a file is no trace or
# cannot be read again, or, after a message, if there are too many calls.
sub timeline {
    my ($self) = @_;
    my @outcomes = map { my $profile = $_; map { $profile->outcome($_) } 0 .. $profile->files - 1 }
        $self->profiles(0);
    return if @outcomes != $self->profiles(0) || $self->unit ne 's'
        || grep { !$_->{marks} || $_->{tree} || !-f $_->{path} } @outcomes;
    my $calls = 0;
    $calls += $_->calls for $self->profiles(0);
    if ($calls > MOST_IN_ORDER) {
        complain("$calls calls are too many to show in order of time; --time selects a part of "
            . 'the trace');
        return;
    }
    # force suppresses the messages about the files, which the first reading has printed.
    my $again = Devel::DProf::View::Stacks->new({ %{ $self->{how} }, chart => 1 }, %$self,
        chart_time => REAL, phases => 1, force => 1, processes => 0, pid => undef, tid => undef);
    $again->read(map { $_->{path} } @outcomes) or return;
    return @{ $again->parts };
}

sub sides { return $_[0]{reader}->sides }

# Returns the profiles of a side.
sub profiles {
    my ($self, $side) = @_;
    return map { @$_ } @{ ($self->sides)[$side]{profiles} };
}

sub format { return $_[0]{how}{format} }

# Returns whether the format shows calls in order of time.
sub has_timeline { return $_[0]{has_timeline} ? 1 : 0 }

# Returns whether the format has calls beside the metric.
sub shows_calls {
    my ($self) = @_;
    return format_of('tools', $self->{how}{format})->{calls};
}

sub has_two_sides { return $_[0]{diff} ? 1 : 0 }

# Returns whether something could not be read, or the filters have left nothing.
sub failed { return $_[0]{failed} || defined $_[0]->unmatched ? 1 : 0 }

# Returns the message, after printing, if the filters show no sub at all.
sub unmatched {
    my ($self) = @_;
    my $nothing = nothing_shown($self->{comparison} // $self) // return undef;
    return $nothing . meant_selected($self);
}

# Returns messages about calls and frames that printing left out, from the result of C.
sub left_out {
    my ($self, $result) = @_;
    my @messages;
    push @messages, "$result->{recursion} calls in a recursion of more than 1,000 frames are "
        . 'counted with the last of these' if $result->{recursion} && $self->{how}{recursion} > 1;
    push @messages, "$result->{shortened} stacks of more than $result->{most} frames lack their "
        . 'middle ones, which would be too many to write' if $result->{shortened};
    return @messages;
}

# Returns the message for a result without content.
sub nothing_left {
    my ($self, $why) = @_;
    my $filters = join ' and ', given_filters($self);
    return "nothing is left: $why" . (length $filters ? " after $filters" : '');
}

# Chooses the metrics by their words, the first of them for the widths. Returns false, after a
# message, if a side lacks one.
sub settle {
    my ($self, @names) = @_;
    my $reader = $self->{reader};
    my @sides = $self->sides;
    $self->{how}{columns} = [];
    $self->{how}{metrics} = [];
    for my $name (@names) {
        my $metric = $reader->metric($name);
        $reader->same_unit or return if $metric && $metric->is_time;
        my $measure = $reader->measure($name) or return;
        return if $name eq $names[0] && !$self->same_kind($name);
        $reader->doubt_counter($measure, !$self->{diff}) if $name eq $names[0];
        my @counters = $measure->counters;
        for my $s (0 .. $#sides) {
            my @parts = map { @$_ } @{ $sides[$s]{profiles} };
            my @own = splice @counters, 0, scalar @parts;
            my $has_none = $self->{pairs} && $s == 0 && !$measure->is_counter;
            push @{ $self->{how}{columns} }, $has_none
                ? { metric => DP_M_COUNTER, counters => [(0) x @parts] }
                : { metric => $measure->number, @own ? (counters => \@own) : () };
        }
        push @{ $self->{how}{metrics} }, { key => $measure->name, words_of_metric($measure) };
    }
    return 1;
}

# Returns false, after a message, if two sides are compared whose values are of different kinds.
sub same_kind {
    my ($self, $name) = @_;
    return 1 if !$self->{diff} || $self->{pairs};
    return $self->{comparison}->same_kind($name);
}

# Returns, as pairs, a metric's label and its unit: "s", or the word for what it counts.
sub words_of_metric {
    my ($metric) = @_;
    my $unit = $metric->unit;
    return (label => length $unit ? $metric->label : 'samples', unit => $unit) if $metric->is_time;
    return (label => $metric->label,
        unit => $unit =~ /\A(?:|events|s)\z/ ? $metric->name : $unit);
}

# Returns whether the values of the first metric are seconds.
sub in_seconds { return $_[0]{how}{metrics}[0]{unit} eq 's' }

# Returns the unit of times, "s"; of folded stacks, the unit of their counts, "" if it is unknown.
sub unit {
    my ($self) = @_;
    return ($self->sides)[0]{profiles}[0][0]->unit;
}

# Returns the names of all metrics that every side has.
sub has {
    my ($self) = @_;
    my @lists = map { [$self->{reader}->has($_)] }
        map { @$_ } map { @{ $_->{profiles} } } $self->sides;
    return grep { my $name = $_; !grep { !grep { $_ eq $name } @$_ } @lists } @{ $lists[0] };
}

# Prints in the format of that name. HOW: further fields for Devel::DProf::Profile::print_stacks.
# Returns the result of C.
sub print {
    my ($self, $out, $format, %how) = @_;
    my $sides = $self->parts;
    my @names = map { $_->{name} } @$sides;
    my $no_program = $self->{re_skip} && '(program)' =~ $self->{re_skip} ? 1 : 0;
    return Devel::DProf::Profile::print_stacks($out, $sides, {
        title => join(', ', @names), given($self->{how}), no_program => $no_program,
        side_names => \@names, version => $VERSION, format => $format, %how });
}

# Prints the calls of traces in the format of that name, from files that were not read before.
# Returns the result of C, and whether one of the files could not be used.
sub print_trace {
    my ($self, $out, $format, $metric, @paths) = @_;
    my ($failed, $next) = (0, 0);
    my $progress = progress($paths[0]);
    my %callbacks = (
        told => sub {
            my ($outcome) = @_;
            $failed = 1 if !Devel::DProf::Input::usable(report_outcome($outcome, $self->{force}));
            $progress = progress($paths[ ++$next ]) if $next < $#paths;
            return;
        },
        (filters_names($self) ? (shown => sub { $self->is_shown($_[0]) }) : ()),
        ($progress ? (progress => sub { $progress->(@_) }) : ()),
    );
    my $result = Devel::DProf::Profile::print_stacks($out, [], {
        given($self->{how}), %callbacks, format => $format, paths => \@paths,
        (map { $_ => $self->{$_} ? 1 : 0 } qw(main force)),
        columns => [{ metric => Devel::DProf::Metric->known($metric)->number }],
        metrics => [{ key => $metric, label => $metric, unit => 's' }], side_names => [''],
        ranges => ($self->{windows} || [])->[0] || [] });
    end_transient();
    return ($result, $failed);
}

# Returns whether the filters show a sub of this name, and counts the subs shown.
sub is_shown {
    my ($self, $name) = @_;
    my $is_shown = shows_name($self, $name) ? 1 : 0;
    $self->{shown} += $is_shown;
    return $is_shown;
}

# Returns the sides as C takes them: hashes of name, cut, and runs, which are lists of parts.
sub parts {
    my ($self) = @_;
    $self->{comparison}->learn_labels if $self->{diff} && filters_names($self);
    my @sides = map {
        my @runs = map { [map { $self->part($_) } @$_] } @{ $_->{profiles} };
        +{ name => $_->{name}, cut => $_->{cut}, runs => \@runs }
    } $self->sides;
    return \@sides;
}

# Returns a profile as C takes it, [PROFILE, FLAGS ...].
sub part {
    my ($self, $profile) = @_;
    return $self->{comparison}->part($profile) if $self->{diff};
    return [$profile, flags($self, $profile, {})];
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Stacks - profiles as stacks: what dproffold and dprofflame share

=head1 DESCRIPTION

L<dproffold>, L<dprofflame> and L<dprofexport> share this module, which reads the files of one side
or two and chooses the metrics. It is internal to this distribution.

=cut
