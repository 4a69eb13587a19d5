package Devel::DProf::View::Layout;

# Text in lines and columns: what fits a line, and where it stands. As
# Devel::DProf::Text does, it loads nothing of the compiled part.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Text qw(shown);

our $VERSION = '20261120.00';
our @EXPORT_OK = qw(fitted cut grouped wrapped aligned columns beside);

# ---- what fits ----

# Cuts the beginning of a long name, which says less than the end.
sub fitted { return length $_[0] > $_[1] ? '...' . substr $_[0], 3 - $_[1] : $_[0] }

sub cut { return length $_[0] > $_[1] ? substr($_[0], 0, $_[1] - 3) . '...' : $_[0] }

sub grouped {
    my ($n) = @_;
    1 while $n =~ s/\A(\d+)(\d{3})/$1,$2/;
    return $n;
}

# ---- lines ----

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

sub aligned {
    my ($widths, $between, @cells) = @_;
    return join $between, map { sprintf '%*s', $widths->[$_], $cells[$_] } 0 .. $#cells;
}

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
(Reports are tables in C, which know more formats.) It is internal to this distribution.

Texts are characters, widths are columns, one for each character. No function prints or dies.

=head1 FUNCTIONS

=over

=item fitted TEXT, WIDTH

The end of a text that is too long, behind C<...>.

=item cut TEXT, WIDTH

The beginning of a text that is too long, before C<...>.

=item grouped NUMBER

With a comma for each thousand.

=item wrapped WIDTH, FIRST, INDENT, PIECE, ...

Lines of pieces, each piece with the blanks in front of it. FIRST begins the first line, INDENT the
others, where a piece loses its blanks. A line is longer than WIDTH only if one piece is.

=item aligned WIDTHS, BETWEEN, CELL, ...

Cells at the right end of columns of these widths (a list), with BETWEEN between them.

=item columns WIDTH, LEAST, ROW, ...

Lines of rows, which are lists of as many cells each: columns as wide as their widest cell, empty
ones left out, and a last one of names, which are fitted to the rest of WIDTH, but not to less than
LEAST. Blanks in front of a name stay.

=item beside LABEL, COLUMN, LINE, ...

Lines from that column on, with a label left of the first, or above them if it is too long.

=back

=cut
