package Devel::DProf::View::Annotate;

# dprofreport --annotate: source as a table of lines with their costs, which text shows in front of
# the lines.

use strict;
use warnings;

use Devel::DProf::Table;
use Devel::DProf::Text qw(shown plural);
use Devel::DProf::View ();
use Devel::DProf::View::Layout qw(grouped aligned);
use Devel::DProf::View::Lines;
use Devel::DProf::View::Source;

our $VERSION = $Devel::DProf::Core::VERSION;

# Percentages of the total from which lines are coloured, as in the tables.
use constant { WARM => 0.5, HOT => 5 };
my %COLOUR = (hot => "\e[31m", warm => "\e[33m", less => "\e[32m", calls => "\e[36m");
# The most subs or files that one word may mean.
use constant MOST => 6;
my @COLUMNS = (['Children', 'children'], ['Self', 'self'], ['Count', 'count'], ['Line', 'line'],
    ['Source', 'source', 1], ['Calls', 'calls', 1], ['Sub', 'sub', 1], ['File', 'file', 1]);
# The widths of the first columns in text.
my @WIDTHS = (9, 9, 9);

# Makes the object that shows the source of a profile with its costs. FIELDS: name (of the profile,
# as it is shown), metric (a Devel::DProf::Metric), colour, symfs (folders).
sub new {
    my ($class, $profile, %fields) = @_;
    my $self = bless { %fields, profile => $profile }, $class;
    my $metric = $fields{metric};
    $self->{lines} = Devel::DProf::View::Lines->new($profile, $metric->number, $metric->counter);
    $self->{total} = $metric->total($profile);
    $self->{unit} = $metric->is_time ? $profile->hz : 1;
    return $self;
}

# Returns the lines of the sub or file that WORD means as a table, and a pair `text' with a function
# that returns the table as text. Dies with a message if nothing has that name.
sub table_of {
    my ($self, $word) = @_;
    my $lines = $self->{lines};
    my @found = $lines->find($word) or die "there is no sub or file $word in the profile"
        . Devel::DProf::View::meant_subs($word, $self->{profile}) . "\n";
    refuse_many($word, map { $_->[0] // $_->[1] } grep { !$_->[4] } @found);
    my $table = Devel::DProf::Table->new(@COLUMNS);
    my @facts = (['Profile', 'profile', $self->{name}],
        ['Metric', 'metric', $self->{metric}->label]);
    $table->fact(@$_) for @facts;
    $table->json(total => $self->{total} / $self->{unit});
    my @parts = map { $self->add_part($table, @$_) } @found;
    my @notes = map { @{ $_->{notes} } } @parts;
    $table->fact('Notes', 'notes', join ' ', @notes) if @notes;
    return ($table, text => sub {
        join '', map({ "# $_->[0]: $_->[2]\n" } @facts), $self->text($table, @parts);
    });
}

# Dies if a word means more subs or files than anyone would want to see.
sub refuse_many {
    my ($word, @names) = @_;
    die "$word: there are " . @names . ' of that name, such as ' . join(', ', @names[0 .. 2]) . "\n"
        if @names > MOST;
    return;
}

# Adds the lines of a sub or a file to the table. Returns the other pieces of their text, as a hash:
# head, notes, width, and for each line its share of the total and its calls.
sub add_part {
    my ($self, $table, $label, $file, $first, $last, $is_part) = @_;
    my $lines = $self->{lines};
    my $source = Devel::DProf::View::Source->find($file, [$self->{profile}], @{ $self->{symfs} });
    my @texts = @{ $source->lines || [] };
    my %has = map { $_ => 1 } $lines->numbers($file);
    my $is_of_others = sub { $lines->is_of_others($file, $_[0], $label) };
    $first = $source->beginning_of($label, $first, $is_of_others) if !$is_part;
    my ($most) = sort { $b <=> $a } keys %has, $first, scalar @texts;
    $last //= $most;
    my $end = $is_part ? $last : $source->end_of($label, $first, $last, $is_of_others);
    my @lines;
    for my $line (grep { $_ <= @texts || $has{$_} } $first .. $end) {
        my ($count, $self_cost, $incl) = $lines->cost($file, $line, $label);
        my @calls = $self->calls($file, $label, $line);
        $table->row(defined $count ? (map({ [$_ / $self->{unit}, $self->share_text($_)] } $incl,
                $self_cost), [$count, $count ? grouped($count) : '']) : (undef) x 3,
            [$line, $line], Devel::DProf::View::Source::printable($texts[ $line - 1 ] // ''),
            join('; ', @calls), $label, $file);
        push @lines, [$self->{total} ? 100 * ($incl // 0) / $self->{total} : 0, @calls];
    }
    my $what = defined $label ? shown($label) . '  ' : '';
    return { lines => \@lines, width => length $end, notes => [$self->notes($source)],
        head => $what . shown($file) . ($label ? ":$first-$end" : '') };
}

my %NOTE_ON = (
    generated => 'The source was not in a file: the program had it as a string.',
    gone => 'The source file is missing; --symfs DIR names the folder that has it.',
    changed => 'The file has changed since the recording: costs may stand beside wrong lines.',
    'kept out' => 'The source is left out: nothing proves that the profile was made from it;'
        . ' --source-dir DIR shows files below DIR.',
);
# The note if the changed text is not shown.
use constant CHANGED => 'The file has changed since the recording; --source-dir DIR shows files'
    . ' below DIR nevertheless.';

# Returns the remarks that stand above a file's lines: why its text is missing or may be wrong, and
# whether the profile has no costs of statements. There may be none.
sub notes {
    my ($self, $source) = @_;
    my $is_bare = $source->state eq 'changed' && !defined $source->text;
    return ($is_bare ? CHANGED : $NOTE_ON{ $source->state } // (),
        $self->{lines}->detail ? ()
            : 'The profile has calls but no costs of statements: record with lines.');
}

# Returns the text of the table: each part has its heading, and as many rows of the table as it has
# lines.
sub text {
    my ($self, $table, @parts) = @_;
    my ($titles, @rows) = $table->texts;
    return join "\n", map {
        my $part = $_;
        join '', map { "$_\n" } map({ "# $_" } $part->{head}, @{ $part->{notes} }),
            aligned([@WIDTHS, 0], ' ', @$titles[0 .. 3]),
            map { $self->text_lines(shift @rows, $part->{width}, @$_) } @{ $part->{lines} };
    } @parts;
}

# Returns a row of the table as lines of text: the line of source, and below it the calls from it.
sub text_lines {
    my ($self, $row, $width, $percent, @calls) = @_;
    my $line = aligned([@WIDTHS, $width], ' ', @$row[0 .. 3]) . "  $row->[4]";
    my $indent = aligned([@WIDTHS, $width], ' ', ('') x 4) . '  ' . ($row->[4] =~ /\A( *)/)[0];
    return ($self->{colour} ? tinted($line, $percent) : $line,
        map { $self->{colour} ? "$COLOUR{calls}$indent# $_\e[m" : "$indent# $_" } @calls);
}

# Returns a line coloured by its cost, or by the growth of its cost, in percent of the total.
sub tinted {
    my ($line, $percent) = @_;
    my $tint = $percent >= HOT ? 'hot' : $percent >= WARM ? 'warm'
        : $percent <= -WARM() ? 'less' : return $line;
    return "$COLOUR{$tint}$line\e[m";
}

# Returns the calls from a line, in words.
sub calls {
    my ($self, $file, $label, $line) = @_;
    my @calls = $self->{lines}->calls($file, $line, $label);
    my $more = @calls > 5 ? @calls - 5 : 0;
    splice @calls, 5;
    return (map({
        ($_->[1] ? plural(grouped($_->[1]), 'call') . ' of ' : '') . shown($_->[0])
            . ($_->[2] ? ', ' . $self->share_text($_->[2]) : '')
    } @calls), $more ? "and calls of $more more" : ());
}

# Returns a cost as text, in percent of the total; '' for 0.
sub share_text {
    my ($self, $cost) = @_;
    return '' if !$cost;
    return sprintf '%.2f%%', $self->{total} ? 100 * $cost / $self->{total} : 0;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Annotate - source with the costs of its lines: dprofreport --annotate

=head1 DESCRIPTION

This module makes the text of C<dprofreport --annotate>. It is internal to this distribution.

=head1 METHODS

=over

=item new PROFILE, name => TEXT, metric => METRIC, colour => BOOLEAN, symfs => [FOLDER, ...]

Takes a L<Devel::DProf::Profile>, its name for people, and a L<Devel::DProf::Metric> of it.

=item table_of WORD

A L<Devel::DProf::Table>, and the option C<text> of its C<print>. WORD is a sub or a file, as
L<Devel::DProf::View::Lines> finds it. Dies with a message that ends with a newline if there is
none, or if there are many.

=back

=head1 FUNCTIONS

L<Devel::DProf::Compare::AnnotateDiff> calls these functions, too.

=over

=item refuse_many WORD, NAME, ...

Dies if a word means too many subs or files.

=item tinted LINE, PERCENT

Returns a line in the colour of its share of the total, for a terminal.

=back

=cut
