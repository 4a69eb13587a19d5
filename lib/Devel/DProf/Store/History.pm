package Devel::DProf::Store::History;

# dprofreport --history: the costs of one sub in the profiles of a store, by interval or by version.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_TEXT DP_CSV DP_JSON DP_HTML);
use Devel::DProf::Input qw(report_outcome usable);
use Devel::DProf::Metric;
use Devel::DProf::OptionValues qw(only_beside);
use Devel::DProf::Sides qw(parts);
use Devel::DProf::Store::RunSet;
use Devel::DProf::Store::Sides;
use Devel::DProf::Table;
use Devel::DProf::Text qw(bytes text shown);
use Devel::DProf::Tool qw(OK FAILED complain output written);
use Devel::DProf::View::Layout qw(grouped);

our $VERSION = $Devel::DProf::Core::VERSION;

# The most points of a line on a terminal.
use constant MOST_POINTS => 60;
# The keys of the columns after the first one, which is a version or an interval.
my @KEYS = qw(profiles self_percent per_call_us calls ops);
my @BLOCKS = map { chr } 0x2581 .. 0x2588;

# Makes the object from a tool's options. HOW: with the format. Dies with a message if an option is
# wrong.
sub of_options {
    my ($class, $opt, $how) = @_;
    die "--history needs the profiles of a store: --from STORE --run-set SET\n"
        if !defined $opt->{from} && !$opt->{'run-set'};
    only_beside($opt, '--history',
        qw(history by m format title q color pager main from run-set f));
    return $class->new(format => $how->{format}, sub => text($opt->{history}), by => $opt->{by},
        metric => $opt->{m}, quiet => $opt->{q},
        title => defined $opt->{title} ? text($opt->{title}) : undef);
}

# Makes the history of a sub, whose name is a string of characters. by: `version' or an interval
# such as 5m. Dies if it is neither.
sub new {
    my ($class, %fields) = @_;
    my $by = $fields{by} // '5m';
    my $seconds = $by eq 'version' ? 0 : Devel::DProf::Store::RunSet::duration($by);
    die "--by $by: must be version, or an interval such as 5m, 1h, 1d\n"
        if !defined $seconds || ($by ne 'version' && $seconds < 1);
    my $metric = $fields{metric} // 'cpu';
    return bless { %fields, by => $by, seconds => $seconds, metric => $metric, rows => [] }, $class;
}

# ---- reading ----

# Reads the profiles of sides of a store, and makes a row for each interval or version. Returns
# false, after messages, if a file could not be read, or if some profiles have samples and others
# every call.
sub read {
    my ($self, %how) = @_;
    my ($store, @profiles) = ($how{sides}[0]{store}, map { @{ $_->{selected} } } @{ $how{sides} });
    $how{force} || is_of_one_kind($store, @profiles) or return 0;
    my $ok = 1;
    my $sides = Devel::DProf::Sides->new(force => $how{force}, main => $how{main}, waits => 1,
        say => sub { complain(bytes($_[0])) });
    my @groups = $self->groups(@profiles);
    # Calls of the program are recordings, and each has a file.
    my $is_flat = !$how{main} && $self->{sub} ne '(program)';
    my @files = Devel::DProf::Store::Sides::files_of_groups($store,
        { seconds => $self->{seconds}, $is_flat ? (flat => 1) : (brief => 1) },
        map { $_->{profiles} } @groups);
    $sides->read(sub {
        $ok = 0 if !usable(report_outcome($_[0], $how{force}));
        return 'fine';
    }, map { +{ name => $groups[$_]{key}, runs => [$files[$_]] } } 0 .. $#groups) or $ok = 0;
    for my $side ($sides->sides) {
        my ($profile) = parts($side);
        push @{ $self->{rows} }, { key => $side->{name},
            profiles => scalar @{ (shift @groups)->{profiles} }, $self->numbers($profile) };
    }
    return $ok;
}

# Returns whether all profiles have samples, or all have every call; if not, prints a message. Reads
# only headers.
sub is_of_one_kind {
    my ($store, @profiles) = @_;
    my %kinds = map { $_ => 1 } $store->are_sampled(\@profiles);
    return 1 if keys %kinds < 2;
    complain('--history: some profiles have samples, without calls, and others have every call; '
        . 'since= or version= selects one kind, and -f takes both');
    return 0;
}

# Returns the profiles in groups, [{ key, profiles }, ...]: one for each interval or version, in the
# order of their first profiles.
sub groups {
    my ($self, @profiles) = @_;
    my (%of, @groups);
    for my $p (sort { $a->{start} <=> $b->{start} || $a->{run} cmp $b->{run} } @profiles) {
        my $key = $self->{seconds} ? int($p->{start} / $self->{seconds}) * $self->{seconds}
            : $p->{version};
        push @groups, $of{$key} = { key => $key, profiles => [] } if !$of{$key};
        push @{ $of{$key}{profiles} }, $p;
    }
    return @groups;
}

# Returns the sub's costs in a profile: its share of the metric in percent, microseconds per call,
# calls, and ops. A value is undef if the profile does not have it.
sub numbers {
    my ($self, $profile) = @_;
    my $metric = $profile->metric($self->{metric}) or return;
    my $ops = $profile->metric('ops');
    $self->{measured} = 1;
    my $total = $metric->total($profile);
    my $is_sub = $self->names_in($profile);
    my $cost = sums_of_subs($profile, $is_sub, $metric);
    my $op = $ops && $cost ? sums_of_subs($profile, $is_sub, $ops) : undef;
    $self->{found} ||= $cost ? 1 : 0;
    my ($calls, $self_value) = @{ $cost // [0, 0] };
    return (calls => $calls, share => $total ? 100 * $self_value / $total : 0,
        per_call => $metric->is_time && $calls && !$profile->no_calls
            && $self->{sub} ne '(program)' ? 1e6 * $self_value / $profile->hz / $calls : undef,
        ops => $ops ? $op ? $op->[1] : 0 : undef);
}

# Returns a hash of the names that the sub has in a profile: the given name or, if the profile lacks
# it, the names that dprofdiff would show as the given one, without the parts that differ between
# runs.
sub names_in {
    my ($self, $profile) = @_;
    my @names = map { $_->[0] } $profile->subs({ separate => 1 });
    my %is_sub = ($self->{sub} => 1);
    return \%is_sub if grep { $_ eq $self->{sub} } @names;
    my ($labels) = @{ Devel::DProf::Profile::paired_labels([[$profile, 0]],
        { separate => 1, renames => [], bases => [] }) };
    $is_sub{ $names[$_] } = 1 for grep { $labels->[$_] eq $self->{sub} } 0 .. $#names;
    return \%is_sub;
}

# Returns the sums of calls and self values of the subs in a hash of names, [CALLS, VALUE], or undef
# if the profile has none of them.
sub sums_of_subs {
    my ($profile, $is_sub, $metric) = @_;
    my @rows = grep { $is_sub->{ $_->[0] } } $profile->rows({
        program => 1, separate => 1, rows => 2**31, $metric->for_rows,
    }) or return undef;
    my ($calls, $value) = (0, 0);
    for my $row (@rows) { $calls += $row->[1]; $value += $row->[2] }
    return [$calls, $metric->is_calls ? $calls : $value];
}

# Returns the reason why there is nothing to print, or undef.
sub missing {
    my ($self) = @_;
    return "-m $self->{metric}: no profile has this metric" if !$self->{measured};
    return $self->{found} ? undef : 'there is no sub ' . bytes($self->{sub});
}

# ---- printing ----

# Reads sides of a store, and prints the history, in the format of the options. Returns the exit
# status of the tool.
sub report {
    my ($self, $tool, $opt, @sides) = @_;
    return $tool->usage('--history takes run-sets, and no files') if grep { !ref } @sides;
    my $is_whole = $self->read(sides => \@sides, force => $opt->{f}, main => $opt->{main});
    return FAILED if !@{ $self->{rows} };
    my @names = map { $_->{name} } @sides;
    if (defined(my $missing = $self->missing)) {
        complain("$missing in " . bytes(join ', ', @names));
        return FAILED;
    }
    my $format = $self->{format};
    my ($out) = output($opt->{pager} // 1, $format == DP_TEXT);
    my $picture = $format != DP_HTML ? undef
        : $opt->{format} eq 'html' ? $self->as_html(@names) : $self->as_svg(@names);
    print {$out} bytes($picture) if defined $picture;
    my $code = defined $picture ? 0 : $self->table($format, @names)->print($out,
        format => $format, quiet => $self->{quiet} && $format == DP_TEXT ? 1 : 0);
    return written($tool->name, $out, $code) || ($is_whole ? OK : FAILED);
}

# Returns the history as a table for a format. NAMES are those of the run-sets.
sub table {
    my ($self, $format, @names) = @_;
    my ($head, @cells) = $self->cells;
    my $table = Devel::DProf::Table->new([$head->[0], lc $head->[0], 1],
        map { [$head->[$_], $KEYS[ $_ - 1 ]] } 1 .. @KEYS);
    $table->fact('Profile', 'profile', join ', ', @names);
    $table->fact('History of', 'history_of', $self->{sub});
    $table->fact('Metric', 'metric', $self->metric_text);
    for (['Self:  ', 'share'], ['Call:  ', 'per_call'], ['Calls: ', 'calls'],
        ['Ops:   ', 'ops']) {
        my ($label, $key) = @$_;
        my $line = $format == DP_TEXT ? draw_sparkline(points($key, @{ $self->{rows} })) : '';
        $table->fact('', $key, "$label$line") if length $line;
    }
    for my $row (@{ $self->{rows} }) {
        my ($name, $profiles, @shown) = @{ shift @cells };
        my ($share, $per_call) = map { defined $_ ? sprintf '%.4f', $_ : undef }
            @$row{qw(share per_call)};
        $table->row($format == DP_CSV || $format == DP_JSON ? $self->key_text($row) : $name,
            [$profiles, $profiles], map { [$_, shift @shown] } $share, $per_call,
            @$row{qw(calls ops)});
    }
    return $table;
}

# Returns the heading and the rows of the table, each as a list of texts.
sub cells {
    my ($self) = @_;
    return ([$self->{seconds} ? 'From' : 'Version', 'Profiles', 'Self', 'Per call', 'Calls',
        'Ops'],
        map { my $key = $self->key_text($_); [length $key ? shown($key) : '-', $_->{profiles},
            percent_text($_->{share}), microseconds_text($_->{per_call}), number_text($_->{calls}),
            number_text($_->{ops})] } @{ $self->{rows} });
}

# Returns the name of the metric in facts and titles.
sub metric_text {
    my ($self) = @_;
    my $metric = Devel::DProf::Metric->known($self->{metric});
    return ($metric ? $metric->label : $self->{metric}) . ', self';
}

# Returns the history as an SVG picture, characters: a panel for each of share, time per call, calls
# and ops that has a value, with a point for each row. NAMES, those of the run-sets, are in the
# subtitle.
sub as_svg {
    my ($self, @names) = @_;
    require Devel::DProf::Store::HistoryPlot;
    my ($head, @cells) = $self->cells;
    my @rows = @{ $self->{rows} };
    my @panels = map {
        my ($column, $key) = @$_;
        my @values = map { $_->{$key} } @rows;
        my ($most) = sort { $b <=> $a } grep { defined } @values;
        !defined $most ? () : { name => $head->[$column], values => \@values,
            most => $key eq 'share' ? percent_text($most)
                : $key eq 'per_call' ? microseconds_text($most) : number_text($most) };
    } [2, 'share'], [3, 'per_call'], [4, 'calls'], [5, 'ops'];
    return Devel::DProf::Store::HistoryPlot::svg(title => $self->title,
        subtitle => $self->metric_text . ' - ' . join(', ', @names), panels => \@panels,
        x => [map { $self->{seconds} ? $rows[$_]{key} : $_ } 0 .. $#rows],
        labels => [map { $_->[0] } @cells],
        tips => [map { my $c = $_; join ', ', $c->[0], map { "$head->[$_] $c->[$_]" } 1 .. 5 }
            @cells]);
}

# Returns the title of the picture or page.
sub title {
    my ($self) = @_;
    return $self->{title} // 'History of ' . shown($self->{sub});
}

# Returns the picture and its numbers as an HTML page.
sub as_html {
    my ($self, @names) = @_;
    return Devel::DProf::Store::HistoryPlot::page(
        $self->title, $self->as_svg(@names), $self->cells);
}

# Returns the first cell of a row: the time when the interval begins, or the version.
sub key_text {
    my ($self, $row) = @_;
    return $row->{key} if !$self->{seconds};
    require POSIX;
    return POSIX::strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $row->{key});
}

# Returns a share as text, or "-".
sub percent_text { return defined $_[0] ? sprintf '%.2f%%', $_[0] : '-' }

# Returns a time as text, or "-".
sub microseconds_text { return defined $_[0] ? sprintf '%.3f us', $_[0] : '-' }

# Returns a number with separators, or "-".
sub number_text { return defined $_[0] ? grouped($_[0]) : '-' }

# Returns the values of rows under a key, at most as many as a line shows: if there are more,
# neighbours are replaced by their mean.
sub points {
    my ($key, @rows) = @_;
    my @values = grep { defined } map { $_->{$key} } @rows;
    return @values if @values <= MOST_POINTS;
    my @cut = map { int(@values * $_ / MOST_POINTS) } 0 .. MOST_POINTS;
    return map {
        my @some = @values[$cut[$_] .. $cut[ $_ + 1 ] - 1];
        my $sum = 0;
        $sum += $_ for @some;
        $sum / @some;
    } 0 .. MOST_POINTS - 1;
}

# Returns values as a line of blocks, from zero to the greatest value. Returns '' if all are 0.
sub draw_sparkline {
    my (@values) = @_;
    my ($least, $most) = (sort { $a <=> $b } @values)[0, -1];
    return '' if !$most;
    return join '', map { $BLOCKS[int($_ / $most * $#BLOCKS + 0.5)] } @values;
}

1;
