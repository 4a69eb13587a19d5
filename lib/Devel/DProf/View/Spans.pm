package Devel::DProf::View::Spans;

# Spans as a table: statements of SQL, requests to other servers, templates and so on, by text.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_JSON DP_T_REAL);
use Devel::DProf::Core;
use Devel::DProf::Profile;
use Devel::DProf::Table;
use Devel::DProf::Text qw(plural shown);
use Devel::DProf::View::Layout qw(cut grouped middle seconds wrapped);

our $VERSION = $Devel::DProf::Core::VERSION;

# The most columns of a caller, and the fewest of a text; the most repeated texts.
use constant { CALLER => 32, LEAST => 24, WIDTH => 100, REPEATS => 10 };

# Kinds that loops execute by nature: what they repeat is shown only if it is asked for.
my %OF_LOOPS = map { $_ => 1 } qw(regex file);

# What the texts of a kind are.
my %NOUN = (sql => 'statement', http => 'request', template => 'template', command => 'command',
    file => 'file', regex => 'regex', cache => 'cache');

# Returns an object with the spans of a profile. SIDE is a list, as print_report takes it. HOW has
# metric, a Devel::DProf::Metric; kind, undef for all; repeated, a number of calls; all, whether
# all repeated texts are shown; and separate and autoload, for names. Dies with a message if there
# are no such spans.
sub new {
    my ($class, $side, %how) = @_;
    my $profile = $side->[0];
    my $spans = Devel::DProf::Profile::spans([$side], { metric => $how{metric}->number,
        map { defined $how{$_} ? ($_ => $how{$_}) : () } qw(kind repeated separate autoload) });
    my $self = bless { %how, %$spans, profile => $profile }, $class;
    $self->{total} = $how{metric}->total($profile);
    $self->{is_one} = @{ $spans->{kinds} } == 1;
    my %most;
    for my $repeat (@{ $self->{repeats} }) {
        my $key = label($repeat);
        $most{$key} = $repeat->{calls} if $repeat->{calls} > ($most{$key} // 0);
    }
    $_->{repeated} = $most{ label($_) } // 0 for @{ $self->{rows} };
    return $self if @{ $spans->{rows} };
    die missing($side, $how{kind}) . "\n";
}

# Returns why there are no spans of a kind.
sub missing {
    my ($side, $kind) = @_;
    my @kinds = kinds_of($side->[0]);
    return 'no spans were recorded; perl -d:DProf=tree,detail=all records them' if !@kinds;
    return 'the filters leave out all spans' if !defined $kind || grep { $_ eq $kind } @kinds;
    return 'there are no spans of the kind ' . shown($kind) . '; there are ' . join ', ',
        map { shown($_) } sort @kinds;
}

# Returns the kinds of spans that a profile has.
sub kinds_of {
    my ($profile) = @_;
    return map { $_->{kind} } @{ spans_of($profile)->{kinds} };
}

# Returns the name of the span with that text, if exactly one has it, or begins with it.
sub named {
    my ($text, @profiles) = @_;
    my %label = map { label($_) => $_->{text} } map { @{ spans_of($_)->{rows} } } @profiles;
    my @same = grep { $label{$_} eq $text || $_ eq $text } keys %label;
    @same = grep { index($label{$_}, $text) == 0 } keys %label if !@same;
    return @same == 1 ? $same[0] : undef;
}

sub spans_of { return Devel::DProf::Profile::spans([[$_[0]]], { metric => DP_T_REAL }) }

sub label { return "$_[0]{kind}:$_[0]{text}" }

# ---- values ----

sub number {
    my ($self, $value) = @_;
    return $self->{metric}->is_time ? $value / $self->{profile}->hz : $value;
}

# Returns a value as people read it.
sub text_of {
    my ($self, $value) = @_;
    return seconds($self->number($value)) || '0 s'
        if $self->{metric}->is_time && $self->is_in_seconds;
    return grouped(sprintf $value == int $value ? '%.0f' : '%.1f', $self->number($value));
}

sub is_in_seconds { return $_[0]{profile}->unit eq 's' }

sub percent {
    my ($self, $value) = @_;
    return $self->{total} ? 100 * $value / $self->{total} : 0;
}

# ---- sentences ----

# Returns for each kind its name and a sentence: the answer.
sub answers {
    my ($self) = @_;
    my $of = $self->{metric}->label;
    return map {
        my $noun = $NOUN{ $_->{kind} } // 'text';
        $noun = plural($_->{texts}, $noun) =~ s/regexs\z/regexes/r;
        [$_->{kind}, sprintf('%s took %.1f %% of the %s (%s of %s)', $noun,
            $self->percent($_->{incl}), $of, $self->text_of($_->{incl}),
            $self->text_of($self->{total}))
            . ($_->{calls} ? ' in ' . plural($_->{calls}, 'call') : '')];
    } @{ $self->{kinds} };
}

# Returns what the recorder could not keep apart, as sentences.
sub bounds {
    my ($self) = @_;
    my ($other, $cut) = (0, 0);
    for my $file (0 .. $self->{profile}->files - 1) {
        my %header = $self->{profile}->header($file);
        $other += $header{dprof_spans_other} // 0;
        $cut += $header{dprof_spans_cut} // 0;
    }
    return ($other ? plural($other, 'call') . ' of further texts are in "other", as there were'
        . ' too many texts' : (),
        $cut ? plural($cut, 'text') . ($cut == 1 ? ' was' : ' were') . ' too long and cut' : ());
}

# Returns how often, and where, a text is repeated.
sub how_often {
    my ($repeat) = @_;
    my ($calls, $begun) = @$repeat{qw(calls begun)};
    my $where = length $repeat->{phase} ? " in phase $repeat->{phase}" : '';
    return grouped($calls) . " times$where"
        . ($begun > 1 ? sprintf ', which ran %s times: a mean of %s', grouped($begun),
            grouped(sprintf '%.1f', $calls / $begun) =~ s/\.0\z//r : '');
}

# Returns the callers of what is repeated that belong to the program itself.
sub own_path { return @{ $_[0]{own_path} } ? @{ $_[0]{own_path} } : '(program)' }

# Returns the repeated texts to show, those with the most calls, and a line about the others.
sub repeats {
    my ($self) = @_;
    my @shown = @{ $self->{repeats} };
    return (\@shown) if $self->{all};
    @shown = grep { !$OF_LOOPS{ $_->{kind} } } @shown if !defined $self->{kind};
    my $loops = @{ $self->{repeats} } - @shown;
    splice @shown, REPEATS if @shown > REPEATS;
    my $others = @{ $self->{repeats} } - @shown or return (\@shown);
    my $of = join ' and ', sort keys %OF_LOOPS;
    return (\@shown, grouped($others) . ' more' . (!$loops ? ''
        : $loops == $others ? " of the kinds $of" : ', ' . grouped($loops) . " of the kinds $of")
        . ': --all');
}

# ---- the table ----

# Returns the Devel::DProf::Table. HOW has rows, the number of rows (0: all), percent_limit and
# format. The number of rows that were left out is then in {left_out}.
sub table {
    my ($self, %how) = @_;
    my $is_time = $self->{metric}->is_time && $self->is_in_seconds;
    my $s = $is_time ? ' s' : '';
    my $has_places = grep { length $_->{file} } @{ $self->{rows} };
    my $table = Devel::DProf::Table->new(['Incl.', 'incl_pct'], ["Inclusive$s", 'incl'],
        ["Self$s", 'self'], ['Calls', 'calls'], ["Mean$s", 'mean'], ['Longest s', 'longest'],
        ['Rows', 'rows'], ['Repeated', 'repeated'], ['Caller', 'caller', 1],
        ['Callers', 'callers'], $has_places ? ['Place', 'place', 1] : (), ['Kind', 'kind', 1],
        ['Text', 'text', 1]);
    my @rows = $self->rows(%how);
    $table->row($self->cells($_, $has_places)) for @rows;
    $self->add_facts($table, $how{format});
    return $table;
}

# Returns the rows to show, and notes how many were left out.
sub rows {
    my ($self, %how) = @_;
    my @rows = grep { $self->percent($_->{incl}) >= ($how{percent_limit} // 0) }
        @{ $self->{rows} };
    splice @rows, $how{rows} if $how{rows} && @rows > $how{rows};
    $self->{left_out} = @{ $self->{rows} } - @rows;
    return @rows;
}

sub cells {
    my ($self, $row, $has_places) = @_;
    my $amount = sub { [$self->number($_[0]), $self->text_of($_[0])] };
    my $percent = sprintf '%.2f', $self->percent($row->{incl});
    my ($longest) = $self->longest($row);
    return ([$percent, "$percent%"], map({ $amount->($_) } @$row{qw(incl self)}),
        $row->{calls} ? (count($row->{calls}), $amount->($row->{incl} / $row->{calls}))
        : (undef, undef), $longest ? [$longest, seconds($longest)] : undef,
        defined $row->{rows} ? count($row->{rows}) : undef, count($row->{repeated}),
        $row->{caller}, count($row->{callers}), $has_places ? place($row) : (),
        @$row{qw(kind text)});
}

# Returns the seconds of the longest call; undef if they are unknown: samples count no calls, and if
# further calls fetch the rows of a statement, its executions take longer than any of the calls.
sub longest {
    my ($self, $row) = @_;
    return if !$row->{calls} || !$row->{longest}
        || ($self->{metric}->is_time && $row->{longest} < $row->{incl} / $row->{calls});
    return $row->{longest} / $self->{profile}->hz;
}

sub count { return [$_[0], grouped($_[0])] }

sub place { return length $_[0]{file} ? "$_[0]{file}:$_[0]{line}" : undef }

# Adds the answers and what is repeated: as data in JSON, and as sentences elsewhere.
sub add_facts {
    my ($self, $table, $format) = @_;
    if ($format == DP_JSON) {
        $table->json(kinds => [map { {%$_, incl => $self->number($_->{incl}),
            incl_pct => sprintf('%.2f', $self->percent($_->{incl})) + 0 } } @{ $self->{kinds} }]);
        $table->json(repeats => $self->{repeats});
    } else {
        $table->fact($_->[0], $_->[0], $_->[1]) for $self->answers;
        my ($repeats, $others) = $self->repeats;
        $table->fact('Repeated', 'repeated', $_) for map({ how_often($_) . ': ' . label($_)
            . ', by ' . join ' > ', own_path($_) } @$repeats), $others // ();
    }
    $table->fact('Bounds', 'bounds', $_) for join('; ', $self->bounds) || ();
    return;
}

# ---- text ----

# Returns the table as text for people. HOW has rows, percent_limit, width (0: not cut), quiet and
# title.
sub text {
    my ($self, %how) = @_;
    my @rows = $self->rows(%how);
    my $width = $how{width} || 0;
    my @cells = ([qw(Incl. Inclusive Self Calls Mean Longest Rows), 'Caller', 'Text'],
        map { [$self->text_cells($_)] } @rows);
    my @widths = map { my $i = $_; (sort { $b <=> $a } map { length $_->[$i] } @cells)[0] } 0 .. 7;
    my @right = grep { my $i = $_; grep { length $_->[$i] } @cells[1 .. $#cells] } 0 .. 6;
    my @lines = map {
        my $cells = $_;
        my $line = '  ' . join('  ', map { sprintf '%*s', $widths[$_], $cells->[$_] } @right)
            . sprintf '  %-*s  ', $widths[7], $cells->[7];
        my $room = $width - length $line;
        $line . ($width ? cut($cells->[8], $room < LEAST ? LEAST : $room) : $cells->[8]);
    } @cells;
    return join "\n", @lines[1 .. $#lines], '' if $how{quiet};
    return join "\n", shown($how{title}), (map { shown($_->[0]) . ": $_->[1]" } $self->answers),
        $self->bounds, '',
        $lines[0], '', @lines[1 .. $#lines], $self->below($width), '';
}

sub text_cells {
    my ($self, $row) = @_;
    my $caller = middle(shown($row->{caller}), CALLER);
    $caller .= ' +' . ($row->{callers} - 1) if $row->{callers} > 1;
    my ($longest) = $self->longest($row);
    my $text = shown($self->{is_one} ? $row->{text} : label($row));
    return (sprintf('%.1f%%', $self->percent($row->{incl})), $self->text_of($row->{incl}),
        $self->text_of($row->{self}), $row->{calls} ? (grouped($row->{calls}),
            $self->text_of($row->{incl} / $row->{calls})) : ('', ''),
        $longest ? seconds($longest) : '', defined $row->{rows} ? grouped($row->{rows}) : '',
        $caller, $text . (length $row->{file} ? ' at ' . shown(place($row)) : ''));
}

# Returns the lines below the rows.
sub below {
    my ($self, $width) = @_;
    my ($repeats, $others) = $self->repeats;
    return ($self->{left_out} ? ('', plural($self->{left_out}, 'further text')
        . ($self->{left_out} == 1 ? ' is' : ' are') . ' left out; -O N shows more') : (),
        @$repeats || defined $others
            ? ('', "Repeated: one path executes a text more than $self->{repeated} times"
            . ' (--repeated N).') : (),
        map({ $self->text_of_repeat($_, $width) } @$repeats),
        defined $others ? "  $others" : (), '',
        'Incl.: with the subs and spans that the span calls. Caller: the nearest sub outside of'
        . ' libraries;', '+N: and N others.');
}

sub text_of_repeat {
    my ($self, $repeat, $width) = @_;
    my $text = '    ' . shown(label($repeat));
    my @path = map { shown($_) } own_path($repeat);
    $path[$_] = " > $path[$_]" for 1 .. $#path;
    return ('  ' . shown(how_often($repeat)), $width ? cut($text, $width) : $text,
        wrapped($width || WIDTH, '    ', '        ', @path));
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Spans - spans as a table: statements, requests, templates, by text

=head1 DESCRIPTION

This class makes the table of C<dprofreport -s span>. It is internal to this distribution.

=head1 METHODS

=over

=item new SIDE, HOW

The spans of a profile. SIDE is a list as L<Devel::DProf::Profile/print_report> takes it; HOW is a
list of metric (a L<Devel::DProf::Metric>), kind, repeated, all, separate and autoload. Dies if
there are no spans, or none of that kind.

=item table NAME => VALUE, ...

The L<Devel::DProf::Table>, with format, rows and percent_limit.

=item text NAME => VALUE, ...

The table as text for people, with rows, percent_limit, width, quiet and title.

=back

=head1 FUNCTIONS

=over

=item named TEXT, PROFILE, ...

The name KIND:TEXT of the one span that has the text, or begins with it; undef if there is none, or
several.

=item kinds_of PROFILE

The kinds of spans that a profile has.

=back

=cut
