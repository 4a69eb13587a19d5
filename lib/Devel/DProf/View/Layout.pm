package Devel::DProf::View::Layout;

# Arranges text in lines and columns. Like Devel::DProf::Text, it does not load the compiled part.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Text qw(shown);

our $VERSION = '20261120.00';
our @EXPORT_OK = qw(fitted middle cut grouped seconds wrapped aligned columns beside);

# ---- cells ----

# Returns a name of at most that length: the beginning of a longer name is cut, because its end says
# more.
sub fitted { return length $_[0] > $_[1] ? '...' . substr $_[0], 3 - $_[1] : $_[0] }

# Returns a text of at most that length: the middle of a longer one is cut.
sub middle {
    my ($text, $width) = @_;
    return $text if length $text <= $width;
    my $front = int(($width - 3) / 2);
    return substr($text, 0, $front) . '...' . substr $text, $front + 3 - $width;
}

# Returns a text of at most that length: the end of a longer one is cut.
sub cut { return length $_[0] > $_[1] ? substr($_[0], 0, $_[1] - 3) . '...' : $_[0] }

# Returns a number with commas between groups of three digits.
sub grouped {
    my ($n) = @_;
    1 while $n =~ s/\A(\d+)(\d{3})/$1,$2/;
    return $n;
}

# Returns seconds in a unit that fits; '' for 0.
sub seconds {
    my ($value) = @_;
    return '' if !$value;
    my ($unit) = grep { $value * $_->[0] >= 1 } [1, 's'], [1e3, 'ms'], [1e6, 'us'];
    $unit ||= [1e9, 'ns'];
    my $number = $value * $unit->[0];
    return sprintf '%.*f %s', $number < 10 ? 3 : $number < 100 ? 2 : 1, $number, $unit->[1];
}

# ---- lines ----

# Returns pieces of text as lines of WIDTH characters at most; the first line begins with FIRST, the
# others with INDENT.
sub wrapped {
    my ($width, $first, $indent, @pieces) = @_;
    my @lines = $first;
    for my $piece (@pieces) {
        if (length($lines[-1]) + length $piece > $width && $lines[-1] =~ /\S/) {
            push @lines, $indent . $piece =~ s/\A\s+//r;
        } else {
            $lines[-1] .= $piece;
        }
    }
    return @lines;
}

# Returns cells as one text, each right-aligned in its width, with the text BETWEEN between them.
sub aligned {
    my ($widths, $between, @cells) = @_;
    return join $between, map { sprintf '%*s', $widths->[$_], $cells[$_] } 0 .. $#cells;
}

# Returns rows as lines of aligned columns, without those that are empty in all rows. The last
# column is a name, cut so that the line fits WIDTH, but to no fewer than LEAST characters.
sub columns {
    my ($width, $least, @rows) = @_;
    my @widths;
    for my $row (@rows) {
        for my $i (0 .. $#$row - 1) {
            $widths[$i] = length $row->[$i] if length $row->[$i] > ($widths[$i] // 0);
        }
    }
    my @shown = grep { $widths[$_] } 0 .. $#widths;
    return map {
        my $line = aligned([@widths[@shown]], '  ', @$_[@shown]) . '  ';
        my ($indent, $name) = $_->[-1] =~ /\A( *)(.*)\z/s;
        my $room = $width - length("$line$indent");
        $line . $indent . fitted($name, $room < $least ? $least : $room);
    } @rows;
}

# Returns lines with a label in front: the lines begin at COLUMN, and a label that is too long has a
# line of its own.
sub beside {
    my ($label, $column, @lines) = @_;
    my @all = map { ' ' x $column . $_ } @lines;
    return ($label, @all) if !@lines || length $label > $column - 2;
    substr $all[0], 0, length $label, $label;
    return @all;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Layout - text in lines and columns

=head1 DESCRIPTION

Everything in this distribution that Perl prints in lines and columns goes through these functions.
Reports, which have more formats, are tables in C. It is internal to this distribution.

Texts are strings of characters. Widths are numbers of columns, one for each character. No function
prints or dies.

=head1 FUNCTIONS

=over

=item fitted TEXT, WIDTH

Returns the text, or C<...> and its end if it is too long.

=item middle TEXT, WIDTH

Returns the text, or its beginning, C<...> and its end if it is too long.

=item cut TEXT, WIDTH

Returns the text, or its beginning and C<...> if it is too long.

=item seconds NUMBER

Returns a time in s, ms, us or ns, whichever fits; an empty string for 0.

=item grouped NUMBER

Returns the number with commas between groups of three digits.

=item wrapped WIDTH, FIRST, INDENT, PIECE, ...

Breaks pieces into lines. FIRST begins the first line, and INDENT the others. A piece brings the
blanks in front of it, and loses them at the beginning of a line. A line is longer than WIDTH only
if a single piece does not fit.

=item aligned WIDTHS, BETWEEN, CELL, ...

Returns a line of right-aligned cells. WIDTHS is a list of their widths; BETWEEN separates them.

=item columns WIDTH, LEAST, ROW, ...

Returns a line for each row, a list of cells. A column is as wide as its widest cell; empty columns
are left out. The last cell of a row is a name, which is cut to the rest of WIDTH, or to LEAST if
that is more. Blanks in front of a name stay.

=item beside LABEL, COLUMN, LINE, ...

Returns the lines indented to that column, with the label left of the first line, or above it if
the label is too long.

=back

=cut
