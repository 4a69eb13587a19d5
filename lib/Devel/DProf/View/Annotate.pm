package Devel::DProf::View::Annotate;

# dprofreport --annotate: prints source with the costs of its lines in front.

use strict;
use warnings;

use Devel::DProf::Text qw(shown plural);
use Devel::DProf::View ();
use Devel::DProf::View::Layout qw(grouped);
use Devel::DProf::View::Layout qw(grouped);
use Devel::DProf::View::Lines;
use Devel::DProf::View::Source;

our $VERSION = $Devel::DProf::Core::VERSION;

# These are percent of the total, as in the tables.
use constant { WARM => 0.5, HOT => 5 };
my %COLOUR = (hot => "\e[31m", warm => "\e[33m", less => "\e[32m", calls => "\e[36m");
# Of one name.
use constant MOST => 6;

# how: metric (a Devel::DProf::Metric), colour, symfs (folders).
sub new {
    my ($class, $profile, %fields) = @_;
    my $self = bless { %fields, profile => $profile }, $class;
    my $metric = $fields{metric};
    $self->{lines} = Devel::DProf::View::Lines->new($profile, $metric->number, $metric->counter);
    $self->{total} = $metric->total($profile);
    return $self;
}

# Returns the text for a word, as characters; dies with what is wrong.
sub text_of {
    my ($self, $word) = @_;
    my $lines = $self->{lines};
    my @found = $lines->find($word) or die "there is no sub or file $word in the profile"
        . Devel::DProf::View::meant_subs($word, $self->{profile}) . "\n";
    refuse_many($word, map { $_->[0] // $_->[1] } grep { !$_->[4] } @found);
    return join "\n", map { $self->part(@$_) } @found;
}

# Dies where a word means more than somebody wants to see.
sub refuse_many {
    my ($word, @names) = @_;
    die "$word: there are " . @names . ' of that name, such as ' . join(', ', @names[0 .. 2]) . "\n"
        if @names > MOST;
    return;
}

# Returns the lines of a sub or a file, as they are shown.
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

my %TOLD = (
    generated => 'The source was no file, but text that the program had.',
    gone => 'The source is not there; --symfs DIR tells where it is.',
    changed => 'The file has changed since it was recorded: costs may stand beside other lines.',
    'kept out' => 'The source is left out, as nothing shows that the profile was made of it;'
        . ' --source-dir DIR shows what is below DIR.',
);
# Where there is no text.
use constant CHANGED => 'The file has changed since it was recorded; --source-dir DIR shows what is'
    . ' below DIR nevertheless.';

sub head {
    my ($self, $label, $file, $first, $end, $source) = @_;
    my $what = defined $label ? shown($label) . '  ' : '';
    my @head = ("# $what" . shown($file) . ($label ? ":$first-$end" : ''));
    my $is_bare = $source->state eq 'changed' && !defined $source->text;
    push @head, map { "# $_" } $is_bare ? CHANGED : $TOLD{ $source->state } // ();
    push @head, '# The profile has no costs of statements, but calls: record with lines.'
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

# A line in the colour of what it costs, in percent of the total, or of what it has grown by.
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
    push @lines, "# and of $more more" if $more;
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

Devel::DProf::View::Annotate - source with what its lines cost: dprofreport --annotate

=head1 DESCRIPTION

What C<dprofreport --annotate> prints. It is internal to this distribution.

=head1 METHODS

=over

=item new PROFILE, metric => METRIC, colour => BOOLEAN, symfs => [FOLDER, ...]

Takes a L<Devel::DProf::Profile>, and a L<Devel::DProf::Metric> of it.

=item text_of WORD

The text, as characters. WORD is a sub or a file, as L<Devel::DProf::View::Lines> finds it. Dies
with a message that ends with a newline if there is none, or if there are many.

=back

=head1 FUNCTIONS

What L<Devel::DProf::Compare::AnnotateDiff> does, too.

=over

=item refuse_many WORD, NAME, ...

Dies if there are too many names of subs or files that a word means.

=item tinted LINE, PERCENT

A line in the colour of its share of the total, for a terminal.

=back

=cut
