package Devel::DProf::Annotate;

# dprofreport --annotate: prints source with the costs of its lines in front.

use strict;
use warnings;

use Devel::DProf::Constants qw(metric_is_time);
use Devel::DProf::Layout qw(grouped);
use Devel::DProf::Lines;
use Devel::DProf::Text qw(bytes text shown plural);

our $VERSION = $Devel::DProf::Core::VERSION;

# These are percent of the total, as in the tables.
use constant { WARM => 0.5, HOT => 5 };
my %COLOUR = (hot => "\e[31m", warm => "\e[33m", calls => "\e[36m");

# how: metric (a number), counter (its number, where the metric is one), colour, symfs (folders).
sub new {
    my ($class, $profile, %how) = @_;
    my $self = bless {%how}, $class;
    $self->{lines} = Devel::DProf::Lines->new($profile, @how{qw(metric counter)});
    $self->{total} = metric_is_time($how{metric}) ? $profile->total($how{metric})
        : $profile->counted($how{counter});
    return $self;
}

sub lines { return $_[0]{lines} }
sub total { return $_[0]{total} }

# Returns the text for a word, as characters; dies with what is wrong.
sub text_of {
    my ($self, $word) = @_;
    my $lines = $self->{lines};
    my @found = $lines->find($word) or die "there is no sub or file $word in the profile\n";
    if (@found > 6) {
        die "$word: there are " . @found . " of that name, such as "
            . join(', ', map { $_->[0] // $_->[1] } @found[0 .. 2]) . "\n";
    }
    return join "\n", map { $self->part(@$_) } @found;
}

# Returns the lines of a sub or a file, as they are shown.
sub part {
    my ($self, $label, $file, $first, $last) = @_;
    my ($source, $is_another) = $self->{lines}->source($file, @{ $self->{symfs} || [] });
    my $of = $self->{lines}{files}{$file} || {};
    my $is_of_others = sub { $self->{lines}->is_of_others($file, $_[0], $label) };
    $first = beginning_of($source, $label, $first, $is_of_others);
    my ($most) = sort { $b <=> $a } keys %$of, $first, $source ? scalar @$source : ();
    $last //= $most;
    my $end = end_of($source, $label, $first, $last, $is_of_others);
    my @out = $self->head($label, $file, $first, $end, $source, $is_another);
    my $width = length $end;
    for my $line ($first .. $end) {
        my $text = $source ? $source->[ $line - 1 ] // '' : '';
        next if $line > ($source ? @$source : 0) && !$of->{$line};
        push @out, $self->line($file, $label, $line, $width, $text);
        push @out, $self->calls($file, $label, $line, $width, $text);
    }
    return join '', map { "$_\n" } @out;
}

# Returns the line where a sub begins. A sub is known by its first statement; the line with its name
# is above, perhaps far above, with comments between them. is_of_others: tells whether a line has
# statements of another sub.
sub beginning_of {
    my ($source, $label, $first, $is_of_others) = @_;
    my ($name) = ($label // '') =~ /(\w+)\z/;
    return $first if !$source || !defined $name;
    for my $line (grep { $_ > 0 } reverse $first - 60 .. $first) {
        return $line if ($source->[ $line - 1 ] // '') =~ /\bsub\s+(?:\w+::)*$name\b/;
        last if $line < $first && $is_of_others->($line);
    }
    return $first;
}

# Returns the line where a sub ends. Its last statement is not its end: that is the next line with a
# brace no further to the right than its beginning. If other code runs before that line, the brace
# is after the last statement.
sub end_of {
    my ($source, $label, $first, $last, $is_of_others) = @_;
    return $last if !$source || !defined $label;
    my ($indent) = ($source->[ $first - 1 ] // '') =~ /\A(\s*)/;
    for my $line ($last .. $last + 20) {
        my $text = $source->[ $line - 1 ] // return $last;
        return $line if $text =~ /\A(\s*)\}/ && length $1 <= length $indent && $line > $first;
        last if $line > $last && ($text =~ /\A\s*sub\b/ || $is_of_others->($line));
    }
    return $last;
}

sub head {
    my ($self, $label, $file, $first, $end, $source, $is_another) = @_;
    my $what = defined $label ? shown($label) . '  ' : '';
    my @head = ("# $what" . shown($file) . ($label ? ":$first-$end" : ''));
    if (!$source && $file =~ /\A(?:\(eval |-e\z)/) {
        push @head, '# The source was no file, but text that the program had.';
    } elsif (!$source) {
        push @head, '# The source is not there; --symfs DIR tells where it is.';
    } elsif ($is_another) {
        push @head, '# The file has changed since it was recorded: costs may stand beside other'
            . ' lines.';
    }
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
    my $shown = sprintf '%s %*d  %s', $gutter, $width, $line, printable($text);
    my $percent = $self->{total} ? 100 * ($incl // 0) / $self->{total} : 0;
    my $tint = $percent >= HOT ? 'hot' : $percent >= WARM ? 'warm' : undef;
    return $self->{colour} && $tint ? $COLOUR{$tint} . $shown . "\e[m" : $shown;
}

sub calls {
    my ($self, $file, $label, $line, $width, $text) = @_;
    my ($indent) = printable($text) =~ /\A( *)/;
    my @calls = $self->{lines}->calls($file, $line, $label);
    my $more = @calls > 5 ? @calls - 5 : 0;
    splice @calls, 5;
    my @lines = map {
        '# ' . plural(grouped($_->[1]), 'call') . ' of ' . shown($_->[0])
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

# Escapes control characters: source may hold any, and a terminal obeys some.
sub printable {
    my ($bytes) = @_;
    1 while $bytes =~ s/\A([^\t]*)\t/$1 . ' ' x (8 - length($1) % 8)/e;
    my $copy = $bytes;
    # Bytes that are not UTF-8 are taken for Latin-1.
    utf8::upgrade($bytes), utf8::encode($bytes) if !utf8::decode($copy);
    return shown($bytes);
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Annotate - source with what its lines cost

=head1 DESCRIPTION

What C<dprofreport --annotate> prints. It is internal to this distribution.

=head1 METHODS

=over

=item new PROFILE, metric => NUMBER, counter => NUMBER, colour => BOOLEAN, symfs => [FOLDER, ...]

Of a L<Devel::DProf::Profile>.

=item text_of WORD

The text, as characters. WORD is a sub or a file, as L<Devel::DProf::Lines> finds it. Dies with a
message that ends with a newline if there is none, or if there are many.

=item lines, total

The L<Devel::DProf::Lines>, and what is 100 %: all that the profile has of the metric.

=back

=cut
