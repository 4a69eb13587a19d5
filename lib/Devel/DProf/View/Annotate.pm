package Devel::DProf::View::Annotate;

# dprofreport --annotate: prints source with the costs of its lines in front.

use strict;
use warnings;

use Devel::DProf::Text qw(shown plural);
use Devel::DProf::View ();
use Devel::DProf::View::Layout qw(grouped);
use Devel::DProf::View::Lines;
use Devel::DProf::View::Source;

our $VERSION = $Devel::DProf::Core::VERSION;

# Percentages of the total from which lines are coloured, as in the tables.
use constant { WARM => 0.5, HOT => 5 };
my %COLOUR = (hot => "\e[31m", warm => "\e[33m", less => "\e[32m", calls => "\e[36m");
# The most subs or files that one word may mean.
use constant MOST => 6;

# how: metric (a Devel::DProf::Metric), colour, symfs (folders).
sub new {
    my ($class, $profile, %how) = @_;
    my $self = bless { %how, profile => $profile }, $class;
    my $metric = $how{metric};
    $self->{lines} = Devel::DProf::View::Lines->new($profile, $metric->number, $metric->counter);
    $self->{total} = $metric->total($profile);
    return $self;
}

# Returns the text for a word, as characters. Dies with a message if nothing has that name.
sub text_of {
    my ($self, $word) = @_;
    my $lines = $self->{lines};
    my @found = $lines->find($word) or die "there is no sub or file $word in the profile"
        . Devel::DProf::View::meant_subs($word, $self->{profile}) . "\n";
    refuse_many($word, map { $_->[0] // $_->[1] } grep { !$_->[4] } @found);
    return join "\n", map { $self->part(@$_) } @found;
}

# Dies if a word means more subs or files than anyone would want to see.
sub refuse_many {
    my ($word, @names) = @_;
    die "$word: there are " . @names . ' of that name, such as ' . join(', ', @names[0 .. 2]) . "\n"
        if @names > MOST;
    return;
}

# Returns the text of a sub or a file: source lines with their costs.
sub part {
    my ($self, $label, $file, $first, $last, $is_part) = @_;
    my $lines = $self->{lines};
    my $source = Devel::DProf::View::Source->find($file, [$self->{profile}], @{ $self->{symfs} });
    my @texts = @{ $source->lines || [] };
    my %has = map { $_ => 1 } $lines->numbers($file);
    my $is_of_others = sub { $lines->is_of_others($file, $_[0], $label) };
    $first = $source->beginning_of($label, $first, $is_of_others) if !$is_part;
    my ($most) = sort { $b <=> $a } keys %has, $first, scalar @texts;
    $last //= $most;
    my $end = $is_part ? $last : $source->end_of($label, $first, $last, $is_of_others);
    my @out = $self->head($label, $file, $first, $end, $source);
    my $width = length $end;
    for my $line (grep { $_ <= @texts || $has{$_} } $first .. $end) {
        my $text = Devel::DProf::View::Source::printable($texts[ $line - 1 ] // '');
        push @out, $self->line($file, $label, $line, $width, $text);
        push @out, $self->calls($file, $label, $line, $width, $text);
    }
    return join '', map { "$_\n" } @out;
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

sub head {
    my ($self, $label, $file, $first, $end, $source) = @_;
    my $what = defined $label ? shown($label) . '  ' : '';
    my @head = ("# $what" . shown($file) . ($label ? ":$first-$end" : ''));
    my $is_bare = $source->state eq 'changed' && !defined $source->text;
    push @head, map { "# $_" } $is_bare ? CHANGED : $NOTE_ON{ $source->state } // ();
    push @head, '# The profile has calls but no costs of statements: record with lines.'
        if !$self->{lines}->detail;
    return (@head, sprintf('%9s %9s %9s %s', 'Children', 'Self', 'Count', 'Line'));
}

sub line {
    my ($self, $file, $label, $line, $width, $text) = @_;
    my ($count, $self_cost, $incl) = $self->{lines}->cost($file, $line, $label);
    my $gutter = defined $count
        ? sprintf '%9s %9s %9s', $self->share($incl), $self->share($self_cost),
            $count ? grouped($count) : ''
        : ' ' x 29;
    my $shown = sprintf '%s %*d  %s', $gutter, $width, $line, $text;
    my $percent = $self->{total} ? 100 * ($incl // 0) / $self->{total} : 0;
    return $self->{colour} ? tinted($shown, $percent) : $shown;
}

# Colours a line by its cost, or by the growth of its cost, in percent of the total.
sub tinted {
    my ($line, $percent) = @_;
    my $tint = $percent >= HOT ? 'hot' : $percent >= WARM ? 'warm'
        : $percent <= -WARM() ? 'less' : return $line;
    return "$COLOUR{$tint}$line\e[m";
}

sub calls {
    my ($self, $file, $label, $line, $width, $text) = @_;
    my ($indent) = $text =~ /\A( *)/;
    my @calls = $self->{lines}->calls($file, $line, $label);
    my $more = @calls > 5 ? @calls - 5 : 0;
    splice @calls, 5;
    my @lines = map {
        '# ' . ($_->[1] ? plural(grouped($_->[1]), 'call') . ' of ' : '') . shown($_->[0])
            . ($_->[2] ? ', ' . $self->share($_->[2]) : '')
    } @calls;
    push @lines, "# and calls of $more more" if $more;
    return map {
        my $shown = ' ' x (29 + 1 + $width + 2) . $indent . $_;
        $self->{colour} ? "$COLOUR{calls}$shown\e[m" : $shown;
    } @lines;
}

sub share {
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

=item new PROFILE, metric => METRIC, colour => BOOLEAN, symfs => [FOLDER, ...]

Makes an object for a L<Devel::DProf::Profile> and one L<Devel::DProf::Metric> of it.

=item text_of WORD

Returns the text, as characters. WORD is a sub or a file, as L<Devel::DProf::View::Lines> finds it.
Dies with a message that ends with a newline if WORD means nothing, or too many subs or files.

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
