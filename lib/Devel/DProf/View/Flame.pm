package Devel::DProf::View::Flame;

# Draws flame graphs of profiles, for dprofflame and dprofdiff --format=flame.

use strict;
use warnings;

use Devel::DProf::Constants qw(words_of time_words);
use Devel::DProf::Metric;
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes text json_text shown few unknown plural);
use Devel::DProf::Tool qw(complain);
use Devel::DProf::View qw(given_filters);
use Devel::DProf::View::Stacks;

our $VERSION = $Devel::DProf::Core::VERSION;
our @ISA = ('Devel::DProf::View::Stacks');

my %ORDER = words_of('flame_order');
my %WIDTH = words_of('flame_width');
my %GRADIENT = (
    yellow => ['#eeeeee', '#eeeeb0'], blue => ['#eeeeee', '#e0e0ff'],
    green => ['#eef2ee', '#e0ffe0'], grey => ['#f8f8f8', '#e8e8e8'],
    gray => ['#f8f8f8', '#e8e8e8'],
);

# The most marks of a time line; a page holds about 2.5 bytes for each.
use constant MOST_MARKS => 20_000_000;
# The most profiles that a page offers for selection.
use constant MOST_PARTS => 64;
use constant MAP => 'palette.map';
my @ATTRIBUTES = qw(id class href target title g_extra a_extra);

# HOW: options of C. FIELDS: fields of Devel::DProf::View::Stacks, and those options of dprofflame
# that C does not know.
sub new {
    my ($class, $how, %fields) = @_;
    my $self = $class->SUPER::new($how, kind => 'flame', %fields);
    my %palette = words_of('palette');
    $palette{perl} = $palette{package};
    my $colors = $self->{colors} // 'package';
    die '--colors: ' . unknown('palette', $colors, sort keys %palette) . "\n"
        if !exists $palette{$colors};
    $self->{how}{palette} = $palette{$colors};
    if (defined(my $background = $self->{bgcolors})) {
        my $is_colour = $background =~ /^#[0-9a-fA-F]{6}\z/;
        $self->{how}{background} = $GRADIENT{$background}
            // ($is_colour ? [($background) x 2] : undef)
            or die "--bgcolors $background: must be yellow, blue, green, grey or a colour like "
                . "#ffffff\n";
    }
    my $encoding = $self->{how}{encoding};
    die "--encoding $encoding: must be the name of an encoding that includes ASCII, like UTF-8 or "
        . "ISO-8859-1\n"
        if defined $encoding && ($encoding !~ /^[A-Za-z][\w.:-]*\z/
            || $encoding =~ /^(?:utf|ucs)-?(?:16|32|2|4)/i);
    $self->{how}{encoding} = undef if defined $encoding && $encoding =~ /^utf-?8\z/i;
    for ([order => \%ORDER], [width_of => \%WIDTH], [delta => { self => 0, total => 1 }],
        [view => { graph => 0, pair => 1, triple => 2 }]) {
        my ($name, $known) = @$_;
        die "--$name: " . unknown('word', $self->{$name}, sort keys %$known) . "\n"
            if defined $self->{$name} && !exists $known->{ $self->{$name} };
    }
    my $format = Devel::DProf::View::Stacks::format_of('eyes', $self->{how}{format});
    @$self{qw(is_page has_metrics)} = (!$format->{layout}, $format->{metrics});
    die "--view $self->{view} needs a page: --format " . pages() . "\n"
        if ($self->{view} // 'graph') ne 'graph' && !$self->{is_page};
    die "--flamechart takes one side, and cannot be combined with --reverse\n"
        if $self->{flamechart} && ($self->{diff} || $self->{how}{reverse});
    if ($self->{flamechart}) {
        my $metric = $self->{metric} // 'cpu';
        die "--flamechart -m $metric: must be a time: " . join(', ', time_words()) . "\n"
            if !Devel::DProf::Metric::is_time_word($metric);
        # A page has one frame for each stack and sorts the frames by time.
        ($self->{how}{chart}, $self->{chart_time})
            = (1, Devel::DProf::Metric->known($metric)->number) if !$self->{is_page};
    }
    $self->{order} = $self->{flamechart} ? 'time' : 'name' if !defined $self->{order};
    $self->{how}{attributes} = $self->attributes_of($self->{nameattr}) if defined $self->{nameattr};
    $self->{how}{fills} = $self->read_map if $self->{cp};
    return $self;
}

# Returns the formats without a fixed layout: pages that a reader explores.
sub pages {
    return join ' or ', Devel::DProf::View::Stacks::names_of(
        grep { !$_->{layout} } Devel::DProf::View::Stacks::formats('eyes'));
}

# Makes the picture of two sides from the files of a finished comparison.
sub of_comparison {
    my ($class, $diff, $how, %fields) = @_;
    my ($shared, %shared) = $diff->for_picture;
    my $self = $class->new({ %$shared, %$how }, diff => 1, %shared, %fields);
    @$self{qw(reader comparison)} = ($diff->reader, $diff);
    return $self;
}

# Reads the file of --nameattr, and returns a list of names and attributes as C takes it. Each line
# has a name and attributes, separated by tabs. Dies with the line and the fault if one is wrong.
sub attributes_of {
    my ($self, $file) = @_;
    open my $in, '<:raw', $file or die "--nameattr: $file cannot be read: $!\n";
    my @attributes;
    while (defined(my $line = <$in>)) {
        $line =~ s/\r?\n\z//;
        next if !length $line;
        my ($name, @fields) = split /\t/, $line;
        die "--nameattr $file, line $.: must be a name and key=value, separated by tabs\n"
            if !length($name // '') || !@fields || grep { !/^\w[\w:-]*=/ } @fields;
        for my $field (@fields) {
            my ($key, $value) = $field =~ /^([^=]*)=(.*)\z/s;
            die "--nameattr $file, line $.: $key is not one of " . join(', ', @ATTRIBUTES) . "\n"
                if !grep { $_ eq $key } @ATTRIBUTES;
            # A browser would execute addresses like javascript:...
            die "--nameattr $file, line $.: href=$value: an address begins with http:, https:, "
                . "mailto:, ftp: or file:, or is a path\n"
                if $key eq 'href' && $value =~ m{^[^/?#]*:}
                    && $value !~ m{^(?:https?|mailto|ftp|file):}i;
        }
        push @attributes, text($name), text(join "\t", @fields);
    }
    close $in;
    return \@attributes;
}

# Reads the file of --cp, which keeps the colours of names from picture to picture. Returns a
# reference to a list of names and colours in turn.
sub read_map {
    my ($self) = @_;
    open my $in, '<:raw', MAP or return [];
    my @fills;
    while (defined(my $line = <$in>)) {
        chomp $line;
        # In files that flamegraph.pl wrote, the root has no name.
        my ($name, $r, $g, $b) = $line =~ /^(.*)->rgb\((\d+),(\d+),(\d+)\)\z/s
            or die '--cp: ' . MAP . ", line $.: must be NAME->rgb(R,G,B)\n";
        push @fills, text($name), sprintf '#%02x%02x%02x', map { $_ > 255 ? 255 : $_ } $r, $g, $b;
    }
    close $in;
    return \@fills;
}

# Writes the file of --cp. Dies with the reason if it cannot be written.
sub write_map {
    my ($self, @drawn) = @_;
    my %colour = (@{ $self->{how}{fills} }, @drawn);
    require Devel::DProf::Write;
    my $why = Devel::DProf::Write::whole(MAP, sub {
        my ($out) = @_;
        # Each line holds one name, so names with newlines are not written.
        for my $name (grep { !/\n/ } sort keys %colour) {
            my $bytes = $name;
            utf8::encode($bytes) if utf8::is_utf8($bytes);
            my @rgb = map { hex } unpack '(A2)*', substr $colour{$name}, 1;
            print {$out} $bytes, '->rgb(', join(',', @rgb), ")\n";
        }
        return 0;
    });
    die MAP . " could not be written: $why\n" if defined $why;
    return;
}

# ---- metrics and style ----

# Makes the reader keep processes, threads and phases apart, as a page lets its user select among
# them.
sub begin_parts {
    my ($self, @sides) = @_;
    return if !$self->{is_page};
    my @paths = map { @$_ } map { @{ $_->{runs} } } @sides;
    $self->{phases} = 1;
    $self->{detail} = @sides == 1;          # the longest call of a span
    $self->{how}{by_part} = 1 if @sides == 1 && @paths > 1 && @paths <= MOST_PARTS;
    return;
}

# Keeps processes, threads and phases apart in the page, unless a time line of calls shows them.
sub end_parts {
    my ($self, $how) = @_;
    my $timed = @{ $how->{traces} } > 0 && !$self->{sampled};
    my @profiles = $self->{how}{by_part} && !$self->{two} ? $self->profiles(0) : ();
    my $apart = @profiles > 1 && !$timed;
    $how->{by_part} = $apart ? 1 : 0;
    @$how{qw(no_phases marked_phases)} = ($timed ? 1 : 0, 1);
    $how->{part_names} = $apart ? [part_names(@profiles)] : [];
    return;
}

# Returns a unique name for each profile: process and script, and the file if several have the same.
sub part_names {
    my (@profiles) = @_;
    require Devel::DProf::View::Export;
    my %times;
    my @names = map {
        my $part = Devel::DProf::View::Export::part_of($_);
        my $thread = $part->{tid} ? "thread $part->{tid} of " : '';
        $part->{pid} ? "$thread$part->{pid} $part->{name}" : $part->{name};
    } @profiles;
    $times{$_}++ for @names;
    my @long = map {
        $times{ $names[$_] } > 1 ? "$names[$_] (" . text($profiles[$_]->outcome(0)->{path}) . ')'
            : $names[$_];
    } 0 .. $#names;
    my %seen;
    return map { $seen{$_}++ ? "$_ $seen{$_}" : $_ } @long;
}

# Chooses the metric, or two of them, and the style, after read. Dies with a message if an option is
# wrong. Returns false, after a message, if a side lacks a metric.
sub prepare {
    my ($self) = @_;
    my @wanted = Devel::DProf::Metric::words($self->{metric} // 'cpu');
    die "-m $self->{metric}: must be one metric, or two\n"
        if !@wanted || @wanted > 2 || grep { !length } @wanted;
    if (@wanted == 2) {
        die "-m $self->{metric}: two metrics are already two sides, and cannot be combined with "
            . "--diff\n" if $self->{diff};
        $self->settle($_) or return 0 for @wanted;
        $self->{file_name} = ($self->sides)[0]{name};
        $self->{reader}->as_sides(@wanted);
        my @both = map { $self->settle($_) or return 0;
            [$self->{how}{columns}, $self->{how}{metrics}[0]] } @wanted;
        $self->{how}{columns} = [$both[0][0][0], $both[1][0][1]];
        $self->{how}{metrics} = [$both[0][1]];
        # Each counter is its own unit; times are not.
        my $unit = (grep { !$self->{reader}->metric($_)->is_time } @wanted) ? '' : $self->unit;
        @{ $self->{how}{metrics}[0] }{qw(label unit)} = (join(' and ', @wanted), $unit);
        $self->{how}{is_pair} = 1;
    } else {
        my @all = $self->{has_metrics} && !$self->{pairs} ? $self->other_metrics($wanted[0]) : ();
        $self->settle($wanted[0], @all) or return 0;
    }
    my $two = $self->{two} = $self->{diff} || $self->{how}{is_pair} ? 1 : 0;
    # --negate of one side changes nothing, as with flamegraph.pl
    my %of_two = (%$self{qw(delta width_of)}, %{ $self->{how} }{qw(hue normalize)});
    my @idle = $two ? () : grep { $of_two{$_} } qw(delta hue width_of normalize);
    die '--' . ($idle[0] eq 'width_of' ? "width $self->{width_of}" : $idle[0])
        . " needs two sides\n" if @idle;
    # difffolded.pl's files for --negate have the sides swapped: the second column is the baseline.
    if ($self->{pairs} && $self->{negate}) {
        @{ $self->{how}{columns} } = reverse @{ $self->{how}{columns} };
    }
    $self->compare_sides($wanted[0]) or return 0 if $self->{diff} && !$self->{pairs};
    $self->style;
    return 1;
}

# Compares the sides as dprofdiff does: finds subs that may be one sub under two names, and prepares
# the test for significant differences, if both sides have several runs.
sub compare_sides {
    my ($self, $metric) = @_;
    my $diff = $self->{comparison}->with({ normalize => $self->{how}{normalize}, discoveries => 1,
        alpha => $self->{alpha} // 0.05, no_children => 1 }, metric_name => $metric, empty => 1);
    $diff->settle or return 0;
    $self->{truth} = $diff if !grep { @{ $_->{profiles} } < 2 } $self->sides;
    $self->{renamed} = [Devel::DProf::Compare::Diff::renamed($diff->check || {})];
    return 1;
}

# Returns the other metrics for a page: those that all sides have, without times that are zero.
sub other_metrics {
    my ($self, $first) = @_;
    my @profiles = map { @$_ } map { @{ $_->{profiles} } } $self->sides;
    my %time = words_of('time');
    return () if $self->unit ne 's' && !grep { $_ eq 'calls' } $self->has;
    my $has_times = $self->unit eq 's';
    return grep {
        my $name = $_;
        $name ne $first && (!exists $time{$name}
            || ($has_times && grep { $_->total($time{$name}) } @profiles));
    } $self->has;
}

# Sets the options of C for titles, layout and colours.
sub style {
    my ($self) = @_;
    my @sides = map { $_->{name} } $self->sides;
    my $two = $self->{two};
    my ($before, $after) = @sides;
    my $width = $self->{how}{hue} ? 'change'
        : $self->{width_of} // ($self->{negate} ? 'before' : 'after');
    my $sides_title = $two && ($self->{how}{is_pair} ? "$after against $before"
        : "$before \x{2192} $after");
    my $titled = length($self->{how}{title} // '');
    my %usual = (
        title => $self->{how}{title} // ($self->{is_page} ? $self->page_title($sides_title)
            : $two ? $sides_title : $self->{flamechart} ? 'Flame Chart'
            : $self->{how}{inverted} ? 'Icicle Graph' : 'Flame Graph'),
        nametype => 'Function:', font => $self->{fonttype} // 'Verdana',
        font_size => $self->{fontsize} // 12, font_width => $self->{fontwidth} // 0.59,
        factor => 1, height => 16, min_width => 0.1, min_percent => 0,
    );
    $self->{how}{$_} //= $usual{$_} for keys %usual;
    $self->{how}{width} //= 1200;
    $self->{how}{title} = $usual{title} if !length $self->{how}{title};
    $self->{how}{document} = ($two || $titled || $self->{is_page} ? '' : "$sides[0]: ")
        . $self->{how}{title};
    if (!$self->{how}{is_pair} && !defined $self->{how}{subtitle}) {
        my $metric = $self->{how}{metrics}[0];
        my $when = $self->{is_page} && join ' and ', map { recorded_at($_) } $self->headers;
        $self->{how}{subtitle} = $when ? "recorded $when" : "$metric->{label} of $sides[0]"
            if $when || !$two && $metric->{label} ne 'samples';
    }
    $self->{how}{subtitle} //= $self->renamed_in_short if !$self->{is_page};
    $self->{width_number} = $WIDTH{$width};
    $self->{width_word} = $width;
    $self->{how}{legend} = $self->legend($width, $before, $after) if $two;
    $self->{how}{seed} = $self->{random} ? 1 + int rand 2**31 : 0;
    return;
}

# Returns the first pair that may be one sub, and the number of the others, or undef.
sub renamed_in_short {
    my ($self) = @_;
    my ($first, @more) = @{ $self->{renamed} || [] } or return undef;
    return "Renamed? $first" . (@more ? '; and ' . plural(scalar @more, 'more pair') : '');
}

# Returns the header of the first profile of each side.
sub headers {
    my ($self) = @_;
    my @sides = ($self->sides)[0 .. ($self->{two} && !$self->{how}{is_pair} ? 1 : 0)];
    return map { $self->{reader}->header($_->{profiles}[0][0]) } @sides;
}

# Returns the title of a page: the program. With two sides, PROGRAM: SIDES, or BEFORE -> AFTER if
# the programs differ. If a program's name is missing, the title names only the sides.
sub page_title {
    my ($self, $sides_title) = @_;
    my @programs = map { text(($_->{dprof_script} // '') =~ s{.*/}{}sr) } $self->headers;
    return $self->{two} ? $sides_title : ($self->sides)[0]{name} if grep { !length } @programs;
    my ($before, $after) = @programs;
    return $before if !$self->{two};
    return "$before: $sides_title" if $self->{how}{is_pair} || $before eq $after;
    return "$before \x{2192} $after";
}

# Returns when a recording began, as text; nothing if its header does not say.
sub recorded_at {
    my ($header) = @_;
    my ($second) = ($header->{dprof_start} // '') =~ /^(\d{1,12})(?:\.\d*)?\z/ or return;
    my @at = gmtime $second or return;
    return sprintf '%d-%02d-%02d %02d:%02d:%02d UTC', $at[5] + 1900, $at[4] + 1, @at[3, 2, 1, 0];
}

# Returns the legend: the meaning of widths and colours, and whether values are normalized.
sub legend {
    my ($self, $width, $before, $after) = @_;
    my $of = {
        after => "wide: $after", before => "wide: $before",
        union => 'wide: the greater of both', change => 'wide: what differs',
    }->{$width};
    my $delta = $self->{how}{hue} || ($self->{delta} // 'self') eq 'total' ? 'inclusive' : 'self';
    return "red: a larger share of $after than of $before, blue: a smaller one, $delta; $of"
        if $self->{how}{is_pair};
    my $normalized = $self->{how}{normalize} ? "; $before as if it had the total of $after" : '';
    my $verb = $self->{negate} ? "there will be in $after than in $before"
        : "in $after than in $before";
    $normalized .= '; times adjusted for the speed of the runs, where that is known'
        if $self->{truth} && $self->{truth}->is_adjusted;
    my $alpha = $self->{truth} ? '; coloured: significant differences ('
        . $self->{truth}->alpha . ', Benjamini-Hochberg)' : '';
    my $marks = $width eq 'after' ? '; outlined: new'
        : $width eq 'before' ? '; dashed: gone' : '; dashed: gone, outlined: new';
    return "red: more, blue: less $verb, $delta; $of$marks$normalized$alpha";
}

# ---- drawing ----

# Prints the picture or page. Returns C's result: code, what was hidden, the colours of names; --cp
# saves the colours for later pictures.
sub draw {
    my ($self, $out) = @_;
    my %how = (
        order => $ORDER{ $self->{order} }, width_of => $self->{width_number},
        by_total => ($self->{delta} // 'self') eq 'total' ? 1 : 0,
    );
    $self->for_page(\%how) if $self->{is_page};
    $how{truth} = $self->{truth}->in_c if $self->{truth};
    my $result = $self->print($out, $self->{how}{format}, %how);
    if ($self->{cp} && !$result->{code} && !$self->{two} && !$self->{is_page}) {
        eval { $self->write_map(@{ $result->{colours} }); 1 }
            or $self->{map_failed} = $@ =~ s/\n\z//r;
    }
    return $result;
}

# Sets, in $how, the options of C that a page needs beside those of a picture.
sub for_page {
    my ($self, $how) = @_;
    require JSON::PP;
    my $bool = sub { $_[0] ? JSON::PP::true() : JSON::PP::false() };
    my %options = (
        order => $self->{order}, metric => $self->{how}{metrics}[0]{key}, search => '',
        start => $self->{start} // 'graph',
        (map { $_ => $bool->($self->{how}{$_}) } qw(inverted reverse)),
        merged => $bool->($self->{how}{recursion} == 1),
    );
    require Cwd;
    # Names of files below the current folder are those of the forge.
    @options{qw(source_url source_root)} = ($self->{source_url}, text(Cwd::getcwd() // ''))
        if defined $self->{source_url};
    $how->{notes_of_page} = [$self->notes_of_page];
    $how->{sources} = [$self->sources_of_page] if !$self->{no_source};
    $how->{traces} = [$self->traces];
    $options{sampled} = $bool->($self->{sampled});
    $how->{options} = '"options":' . json_text(\%options);
    $self->end_parts($how);
    return if !$self->{two};
    my ($before, $after) = map { $_->{name} } $self->sides;
    my %diff = (
        view => $self->{view} // 'graph', width => $self->{width_word},
        colour => $self->{delta} // 'self', negate => $bool->($self->{negate}),
        normalized => $self->{how}{normalize} ? "$before as if it had the total of $after" : '',
        runs => [map { scalar @{ $_->{profiles} } } $self->sides],
        mode => $self->{how}{is_pair} ? 'pair-metric' : 'diff',
    );
    $how->{difference} = json_text(\%diff) =~ s/\A\{(.*)\}\z/$1/sr;
    return;
}

# Returns the sources of all sides, as C takes them: side, file, text and state of each. The text of
# a changed source is left out.
sub sources_of_page {
    my ($self) = @_;
    require Devel::DProf::View::Source;
    my @sides = map { [map { @$_ } @{ $_->{profiles} }] } $self->sides;
    my (@sources, %is_kept_out, @lacking);
    for my $side (0 .. ($self->{how}{is_pair} ? 0 : $#sides)) {
        my %with;
        for my $profile (@{ $sides[$side] }) {
            push @{ $with{$_} }, $profile for @{ $profile->line_files };
        }
        for my $file (sort keys %with) {
            my $source = Devel::DProf::View::Source->find($file, $with{$file}, @{ $self->{symfs} });
            my $state = $source->state;
            my $is_shown = $state ne 'changed';
            push @lacking, $file if $state eq 'changed' || ($state eq 'gone' && $source->is_known);
            $is_kept_out{$file} = 1 if $state eq 'kept out';
            # The page must not tell strangers which files exist on this machine.
            $state = 'kept out' if $state eq 'gone' && !$source->is_known;
            push @sources, $side, $file, ($is_shown ? $source->characters : undef) // '',
                $state;
        }
    }
    tell_kept_out(sort keys %is_kept_out) if !$self->{force};
    tell_lacking(@lacking) if !$self->{force} && !grep { length } map { $sources[ 4 * $_ + 2 ] }
        0 .. $#sources / 4;
    return @sources;
}

# Warns of the sources that were left out of the page: nothing proves that the profile was made from
# them, and strangers may get the page.
sub tell_kept_out {
    my @files = @_ or return;
    my @shown = map { bytes(shown($_)) } few(@files);
    complain('the page lacks the source of ' . join(', ', @shown) . ': nothing proves that the'
        . ' profile was made from it; --source-dir DIR includes files below DIR');
    return;
}

# Says that the page has no source at all, as for the profile of another checkout.
sub tell_lacking {
    my @files = @_ or return;
    my @shown = map { bytes(shown($_)) } few(@files);
    complain('the page has no source: ' . join(', ', @shown) . ' changed since the recording, or '
        . 'cannot be found; --source-dir DIR includes files below DIR');
    return;
}

# Returns the origin of the page, in pairs of label and text: files, recordings, filters.
sub notes_of_page {
    my ($self) = @_;
    my @notes;
    for my $side ($self->sides) {
        my $label = !$self->{diff} ? 'Profile'
            : $side == ($self->sides)[0] ? 'Baseline' : 'Other side';
        my $runs = @{ $side->{profiles} };
        push @notes, $label, ($self->{file_name} // $side->{name})
            . ($runs > 1 ? ", $runs runs" : '') . ($side->{cut} ? ', cut short' : '');
        my %header = %{ $self->{reader}->header($side->{profiles}[0][0]) };
        my @facts = map { tr/_/ /r . ' ' . $header{"dprof_$_"} }
            grep { length($header{"dprof_$_"} // '') } qw(script perl clock hash_seed);
        push @facts, recorded_at(\%header);
        push @notes, 'Recorded', text(join ', ', @facts) if @facts;
        last if $self->{how}{is_pair};
    }
    push @notes, 'Notes', $self->{how}{notes} if length($self->{how}{notes} // '');
    push @notes, map { ('Renamed?', $_) } @{ $self->{renamed} || [] };
    my @filters = map { $self->{"re_$_"} ? "--$_ " . $self->{"re_$_"} : () } qw(only skip);
    push @filters, defined $self->{kind_name} ? "--kind $self->{kind_name}" : '-s span'
        if $self->{re_kind};
    push @notes, 'Filter', join ', ', @filters if @filters;
    push @notes, 'Server', 'subs above the application are left out; --all shows them'
        if $self->{no_server} && !$self->{diff} && grep { $_->server } $self->profiles(0);
    return map { text("$_") } @notes;
}

# Returns the end of a message: the --width that draws something, if only the other side has values.
sub other_side {
    my ($self) = @_;
    my $other = { after => 0, before => 1 }->{ $self->{width_word} };
    return '' if !$self->{two} || $self->{how}{is_pair} || $self->{pairs} || !defined $other;
    my $metric = $self->{how}{columns}[$other]{metric};
    return '' if !grep { $_->total($metric) } $self->profiles($other);
    my ($word, $name) = ((qw(before after))[$other], ($self->sides)[1 - $other]{name});
    return ": $name has nothing; --width $word or --width union draws what the other side has";
}

# Returns the paths of the files that are read once more for a time line: the traces of one side,
# its samples or its slices. Returns nothing if a file does not say what ran when, or cannot be read
# again, or if an option selects a part of them.
sub traces {
    my ($self) = @_;
    return if $self->{two} || $self->{no_timeline} || $self->unit ne 's'
        || grep { defined $self->{$_} && length $self->{$_} } qw(main pid tid)
        or @{ $self->{windows} || [] };
    my @outcomes = map { my $profile = $_; map { $profile->outcome($_) } 0 .. $profile->files - 1 }
        $self->profiles(0);
    return if grep { !-f $_->{path} } @outcomes;
    my $timed = grep { $_->{when} || ($_->{slice} && @outcomes > 1) } @outcomes;
    my $traces = grep { $_->{marks} && !$_->{tree} } @outcomes;
    return if $timed != @outcomes && $traces != @outcomes;
    $self->{sampled} = $timed;
    my $marks = 0;
    $marks += $_->{ $timed ? 'contexts' : 'marks' } for @outcomes;
    return map { $_->{path} } @outcomes if $marks <= MOST_MARKS;
    $self->{too_long} = $marks;
    return;
}

sub failed { return $_[0]->SUPER::failed || defined $_[0]{map_failed} }

# Returns the messages to print after drawing, one line each.
sub messages {
    my ($self, $result) = @_;
    my @messages;
    my $filters = join ' and ', given_filters($self);
    push @messages, 'there is nothing to draw' . (length $filters ? " after $filters" : '')
        . $self->other_side if $result->{empty};
    push @messages, "no frame is left after $filters"
        if length $filters && !$result->{empty} && $result->{frames} < 2;
    my @of_picture = (defined $self->{how}{total} ? '--total' : (),
        defined $self->{nameattr} ? '--nameattr' : ());
    push @messages, join(' and ', @of_picture) . ' affects pictures only, not a page'
        if $self->{is_page} && @of_picture;
    push @messages, '--countname is not used: the unit of a time is fixed'
        if defined $self->{how}{countname} && $self->{how}{metrics}[0]{unit} eq 's';
    push @messages, "--total $self->{how}{total} is less than the profile's total, and is not used"
        if $result->{total_too_small};
    push @messages, "the page has no time line: $self->{too_long} marks are too many"
        if $self->{too_long};
    push @messages, $self->left_out($result);
    push @messages, 'too few runs to find significant differences;'
        . " $result->{needed} a side would do"
        if $result->{needed};
    push @messages, $self->{map_failed} if defined $self->{map_failed};
    return @messages;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Flame - flame graphs of profiles, for dprofflame and dprofdiff --format=flame

=head1 DESCRIPTION

This module draws the flame graphs of L<dprofflame> and C<dprofdiff --format flame>. It is internal
to this distribution.

=cut
