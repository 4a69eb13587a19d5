package Devel::DProf::Compare::AnnotateDiff;

# dprofdiff --annotate: makes a table of source lines of two sides with their costs, which text
# shows as a unified diff.

use strict;
use warnings;

use Devel::DProf::Profile;
use Devel::DProf::Table;
use Devel::DProf::Text qw(shown);
use Devel::DProf::View ();
use Devel::DProf::View::Annotate;
use Devel::DProf::View::Layout qw(grouped aligned seconds);
use Devel::DProf::View::Source;

our $VERSION = $Devel::DProf::Core::VERSION;

# The number of lines shown above and below a line that differs.
use constant CONTEXT => 3;
# The widths of the numbers' columns in text.
my @WIDTHS = (10, 10, 9, 9, 5, 5);
my @COLUMNS = (['Baseline', 'baseline'], ['New', 'value'], ['Count', 'baseline_count'],
    ['Count', 'count'], ['Line', 'baseline_line'], ['Line', 'line'], ['', 'mark', 1],
    ['Source', 'source', 1], ['Sub', 'sub', 1], ['File', 'file', 1]);

# Makes the object that shows source of two sides with its costs. diff: a
# Devel::DProf::Compare::Diff of two sides, after settle. how: colour. Dies if the sides cannot be
# compared.
sub new {
    my ($class, $diff, %fields) = @_;
    my $self = bless { diff => $diff, %fields }, $class;
    my $rows = $diff->line_rows or die "the lines of the two sides cannot be compared\n";
    my ($most) = sort { $b <=> $a } map { $_ // 0 } @{ $rows->{total} }{qw(baseline value)};
    $self->{total} = $most;
    $self->{labels} = [map { $diff->shown_labels($_) } 0, 1];
    $self->add_line($_) for grep { defined $_->{file} } @{ $rows->{rows} };
    return $self;
}

# Adds the costs that a line has on both sides to the sums by file and line number: to those of all
# subs, and to those of the sub that the row is about.
sub add_line {
    my ($self, $row) = @_;
    my $file = $self->{files}{ $row->{file} } ||= { names => [@$row{qw(baseline_file own_file)}] };
    $file->{names}[$_] //= $row->{ (qw(baseline_file own_file))[$_] } for 0, 1;
    my @number = @$row{qw(baseline_line line)};
    my @cost = ([@$row{qw(baseline baseline_calls)}], [@$row{qw(value calls)}]);
    for my $side (0, 1) {
        next if !$number[$side] || !defined $cost[$side][0];
        for my $of ('', $row->{other}) {
            my $sum = $file->{cost}{$of}[$side]{ $number[$side] } ||= [0, 0];
            $sum->[$_] += $cost[$side][$_] // 0 for 0, 1;
        }
    }
    $file->{pair}{ $number[1] } = $number[0] if $number[0] && $number[1];
    return;
}

# ---- the meaning of a word ----

# Returns the lines of the sub or file that WORD means as a table, and a pair `text' with a function
# that returns the table as text. Dies if the word means neither.
sub table_of {
    my ($self, $word) = @_;
    my @parts = $self->find_files($word);
    Devel::DProf::View::Annotate::refuse_many($word, map { $_->{file} } @parts);
    @parts = $self->find_subs($word) if !@parts;
    die "the profiles have no lines of a sub or file $word"
        . Devel::DProf::View::meant_names($word, $self->subs) . "\n" if !@parts;
    my @names = map { shown($_->{name}) } $self->{diff}->sides;
    my (undef, undef, $metric) = $self->{diff}->facts;
    my $table = Devel::DProf::Table->new(@COLUMNS);
    $table->fact(@$_) for ['Baseline', 'baseline', $names[0]], ['New', 'new', $names[1]],
        ['Metric', 'metric', $metric];
    @parts = map { $self->add_part($_, $table) } @parts;
    my @notes = map { @{ $_->{notes} } } @parts;
    $table->fact('Notes', 'notes', join ' ', @notes) if @notes;
    return ($table, text => sub {
        join '', map({ "# $_\n" } "Baseline: $names[0]", "New: $names[1]", "Metric: $metric"),
            $self->text($table, @parts);
    });
}

# Returns the files that a word of --annotate means, as hashes { file => NAME }: by their full name
# on either side or, if there is none, by the end of it.
sub find_files {
    my ($self, $word) = @_;
    my $files = $self->{files};
    my $has = sub {
        my ($matches) = @_;
        return grep { my $f = $_; grep { defined && $matches->($_) } $f, @{ $files->{$f}{names} } }
            sort keys %$files;
    };
    my @found = $has->(sub { $_[0] eq $word });
    @found = $has->(sub { $_[0] =~ m{(?:\A|/)\Q$word\E\z} }) if !@found;
    return map { { file => $_ } } @found;
}

# Returns the names of the subs that have lines.
sub subs { return grep { length } map { keys %{ $_->{cost} } } values %{ $_[0]{files} } }

# Returns the sub that a word of --annotate means, as { file, label }: one hash for each file that
# has lines of the sub.
sub find_subs {
    my ($self, $word) = @_;
    my %files_of;
    for my $file (sort keys %{ $self->{files} }) {
        push @{ $files_of{$_} }, $file for grep { length } keys %{ $self->{files}{$file}{cost} };
    }
    my @found = grep { $_ eq $word } keys %files_of;
    @found = grep { /(?:\A|::)\Q$word\E\z/ } sort keys %files_of if !@found;
    Devel::DProf::View::Annotate::refuse_many($word, @found);
    return map { my $label = $_; map { { label => $label, file => $_ } } @{ $files_of{$label} } }
        @found;
}

# ---- a part ----

# Adds the lines of a part, { file, label }, to the table. Returns the other pieces of the part's
# text, as a hash: head, notes, and for each line its change in percent of the total.
sub add_part {
    my ($self, $part, $table) = @_;
    my $file = $self->{files}{ $part->{file} };
    my $cost = $file->{cost}{ $part->{label} // '' };
    my @sources = map { $self->{diff}->source_of($_, $file->{names}[$_]) } 0, 1;
    my @texts = map { $_->lines } @sources;
    my @ranges = map { $self->range($part, $file, $_, $sources[$_]) } 0, 1;
    my @rows = $self->rows($file, $cost, \@texts, \@ranges);
    my @lines = defined $part->{label} ? map { [$_] } 0 .. $#rows : $self->hunks($cost, \@rows);
    for my $line (@lines) {
        my $row = $rows[ $line->[0] ];
        my @cost = $self->costs($row, $cost);
        $line->[0] = 100 * pop(@cost) / ($self->{total} || 1);
        $table->row($self->cells($row, @cost), $part->{label},
            $file->{names}[1] // $file->{names}[0]);
    }
    return { lines => \@lines, notes => [$self->notes($file, \@texts)],
        head => [$self->heading_of($part, $file, \@ranges)] };
}

# Returns the first and the last line of a part on a side, [FIRST, LAST]: those of the file, or of
# the sub from its name to its last brace.
sub range {
    my ($self, $part, $file, $side, $source) = @_;
    my $of = $file->{cost}{ $part->{label} // '' };
    my @numbers = sort { $a <=> $b } keys %{ $of->[$side] || {} };
    my $texts = $source->lines;
    return [1, 0] if !@numbers && (defined $part->{label} || !$texts);
    return [$texts ? 1 : $numbers[0], $texts ? scalar @$texts : $numbers[-1]]
        if !defined $part->{label};
    my $label = $part->{label};
    my $begin = $self->{labels}[$side]{$label};
    my $first = $begin && $begin <= $numbers[0] ? $begin : $numbers[0];
    my @others = grep { length && $_ ne $label && !/::__ANON__\b/ } keys %{ $file->{cost} };
    my $is_of_others = sub { my ($n) = @_; grep { $file->{cost}{$_}[$side]{$n} } @others };
    $first = $source->beginning_of($label, $first, $is_of_others);
    return [$first, $source->end_of($label, $first, $numbers[-1], $is_of_others)];
}

# Returns the lines to be shown, [MARK, NUMBER ON SIDE 0, NUMBER ON SIDE 1, TEXT] each; the mark is
# "-" for a removed line, "+" for an added one, or a blank.
sub rows {
    my ($self, $file, $cost, $texts, $ranges) = @_;
    my @numbers = map {
        my ($side, $range) = ($_, $ranges->[$_]);
        [grep { $texts->[$side] || $cost->[$side]{$_} } $range->[0] .. $range->[1]];
    } 0, 1;
    my $pair = $self->pair_lines($file, $texts, $ranges);
    my $known = $texts->[0] && $texts->[1];
    my (@rows, @added);
    my ($at, $old) = (0, $numbers[0]);
    my $text = sub { my ($side, $n) = @_; $texts->[$side] ? $texts->[$side][ $n - 1 ] : undef };
    my $gone = sub {
        my ($to) = @_;
        while ($at < @$old && $old->[$at] < $to) {
            my $n = $old->[ $at++ ];
            push @rows, [$known || $cost->[0]{$n} ? '-' : ' ', $n, undef, $text->(0, $n)];
        }
        push @rows, splice @added;
    };
    for my $n (@{ $numbers[1] }) {
        my $was = $pair->{$n};
        if (!defined $was || $was < $ranges->[0][0] || $was > $ranges->[0][1]
            || ($at < @$old ? $was < $old->[$at] : 1)) {
            push @added, [$known || $cost->[1]{$n} ? '+' : ' ', undef, $n, $text->(1, $n)];
            next;
        }
        $gone->($was);
        $at++ if $at < @$old && $old->[$at] == $was;
        push @rows, [' ', $was, $n, $text->(1, $n) // $text->(0, $was)];
    }
    $gone->(9**9**9);
    return @rows;
}

# Returns a hash from the line numbers of side 1 to the numbers that the same lines have on side 0.
# The texts of both sides decide; without texts, the pairs that C found among the lines that ran.
sub pair_lines {
    my ($self, $file, $texts, $ranges) = @_;
    return $file->{pair} || {} if !$texts->[0] || !$texts->[1];
    my @parts = map {
        my ($first, $last) = @{ $ranges->[$_] };
        join '', map { "$_\n" } map { $_ // '' } @{ $texts->[$_] }[$first - 1 .. $last - 1];
    } 0, 1;
    my $to = Devel::DProf::Profile::align_texts(@parts);
    return { map { $to->[$_] ? ($ranges->[1][0] + $_ => $ranges->[0][0] + $to->[$_] - 1) : () }
        0 .. $#$to };
}

# ---- lines of text ----

# Returns the lines above a part: the sub's name and, as in a unified diff, the place on each side.
sub heading_of {
    my ($self, $part, $file, $ranges) = @_;
    my @where = map {
        my ($first, $last) = @{ $ranges->[$_] };
        !defined $file->{names}[$_] || $last < $first ? 'nowhere'
            : shown($file->{names}[$_]) . (defined $part->{label} ? ":$first-$last" : '');
    } 0, 1;
    return (defined $part->{label} ? shown($part->{label}) : (), "--- $where[0]", "+++ $where[1]");
}

# Returns remarks about each side whose source is not available, since pairs of lines are uncertain
# without it.
sub notes {
    my ($self, $file, $texts) = @_;
    my @names = map { $_->{name} } $self->{diff}->sides;
    my @without = grep { !$texts->[$_] } 0, 1;
    return (map({ shown($names[$_]) . ': the source is missing or has changed; --symfs DIR names'
        . ' the folder that has it.' } grep { defined $file->{names}[$_] } @without),
        @without && !grep({ !defined $file->{names}[$_] } 0, 1)
            ? 'Lines are paired by their distances, which may be wrong.' : ());
}

# Returns the text: for each part its heading, its notes and its rows of the table.
sub text {
    my ($self, $table, @parts) = @_;
    my ($titles, @rows) = $table->texts;
    my $numbers = sub { aligned(\@WIDTHS, ' ', @{ $_[0] }[0 .. $#WIDTHS]) };
    return join "\n", map {
        join '', map { "$_\n" } map({ "# $_" } @{ $_->{head} }, @{ $_->{notes} }),
            $numbers->($titles), @{ $_->{lines} } ? () : '# nothing differs', map {
                my ($percent, @above) = @$_;
                my $row = shift @rows;
                my $line = $numbers->($row) . " $row->[6]$row->[7]" =~ s/ +\z//r;
                (@above, $self->{colour}
                    ? Devel::DProf::View::Annotate::tinted($line, $percent) : $line);
            } @{ $_->{lines} };
    } @parts;
}

# Returns a value as people read it: seconds in a unit that fits, counts with separators; '' for 0.
sub value_text {
    my ($self, $value) = @_;
    return '' if !$value;
    return $self->{diff}->in_seconds ? seconds($value) : grouped($value);
}

# Returns the costs of a row on both sides, each [VALUE, CALLS] or undef, and the difference of the
# two values.
sub costs {
    my ($self, $row, $cost) = @_;
    my @of = map { my $n = $row->[ 1 + $_ ]; defined $n ? $cost->[$_]{$n} : undef } 0, 1;
    return (@of, ($of[1] ? $of[1][0] : 0) - ($of[0] ? $of[0][0] : 0));
}

# Returns the cells of a table's row: values, calls and line numbers of both sides, mark and text.
sub cells {
    my ($self, $row, @cost) = @_;
    return (map({ $_ ? [$_->[0], $self->value_text($_->[0])] : undef } @cost),
        map({ $_ ? [$_->[1], grouped($_->[1])] : undef } @cost),
        map({ [$_, $_] } @$row[1, 2]), $row->[0],
        defined $row->[3] ? Devel::DProf::View::Source::printable($row->[3]) : '');
}

# Returns the rows of a file that differ in text or cost, with CONTEXT rows around them, as a list
# of [NUMBER OF THE ROW, HEADER]. Only the first row of each range has a header.
sub hunks {
    my ($self, $cost, $rows) = @_;
    my $least = $self->{diff}->is_exact ? 0
        : $self->{total} * Devel::DProf::View::Annotate::WARM / 100;
    my @wanted;
    for my $i (0 .. $#$rows) {
        my ($old, $new, $grown) = $self->costs($rows->[$i], $cost);
        my $calls = ($new ? $new->[1] : 0) != ($old ? $old->[1] : 0);
        next if $rows->[$i][0] eq ' ' && !$calls && abs $grown <= $least;
        $wanted[$_] = 1 for grep { $_ >= 0 && $_ <= $#$rows } $i - CONTEXT .. $i + CONTEXT;
    }
    return map { [$_, $_ && $wanted[ $_ - 1 ] ? () : hunk_header($rows, $_)] }
        grep { $wanted[$_] } 0 .. $#wanted;
}

# Returns `@@ -12 +14 @@`, which precedes a range of lines.
sub hunk_header {
    my ($rows, $i) = @_;
    my @first = map {
        my $side = $_;
        (map { $_->[ 1 + $side ] // () } @$rows[$i .. $#$rows])[0] // 0;
    } 0, 1;
    return "\@\@ -$first[0] +$first[1] \@\@";
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Compare::AnnotateDiff - source of two sides with its costs: dprofdiff --annotate

=head1 DESCRIPTION

This module makes the text of C<dprofdiff --annotate>. It is internal to this distribution.

=head1 METHODS

=over

=item new DIFF, colour => BOOLEAN

Makes an object for a L<Devel::DProf::Compare::Diff> of two sides, after its C<settle>. Dies with a
message that ends with a newline if the sides cannot be compared.

=item table_of WORD

Returns a L<Devel::DProf::Table>, and C<< text => CODE >> for its C<print>. WORD is the name of a
sub or a file, or the end of that name. Dies with a message that ends with a newline if WORD means
nothing, or too many subs or files.

=back

=cut
