package Devel::DProf::Text;

# Text for people: names as they may be shown, what fits a line, columns, lists of words. It does
# not need the compiled part, so that tests can be skipped where that cannot be loaded.

use strict;
use warnings;

use Exporter 'import';

our $VERSION = '20261120.00';
our @EXPORT_OK = qw(bytes text shown fitted cut grouped plural few wrapped aligned columns beside);

# ---- names ----

sub bytes {
    my ($text) = @_;
    utf8::encode($text) if utf8::is_utf8($text);
    return $text;
}

# Decodes a name: names are UTF-8 if they can be, and so are arguments of a shell.
sub text {
    my ($bytes) = @_;
    utf8::decode($bytes);
    return $bytes;
}

# Escapes what could begin a line of its own or move a cursor.
sub shown {
    my ($name) = @_;
    require Devel::DProf::Profile;
    return text(Devel::DProf::Profile::escape(bytes("$name")));
}

# Cuts the beginning of a long name, which says less than the end.
sub fitted { return length $_[0] > $_[1] ? '...' . substr $_[0], 3 - $_[1] : $_[0] }

sub cut { return length $_[0] > $_[1] ? substr($_[0], 0, $_[1] - 3) . '...' : $_[0] }

# ---- numbers, lists ----

sub grouped {
    my ($n) = @_;
    1 while $n =~ s/\A(\d+)(\d{3})/$1,$2/;
    return $n;
}

sub plural {
    my ($n, $word, $more) = @_;
    return "$n " . ($n eq '1' ? $word : $more // "${word}s");
}

sub few { return @_ > 3 ? (@_[0 .. 2], 'and ' . (@_ - 3) . ' more') : @_ }

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

Devel::DProf::Text - text for people

=head1 DESCRIPTION

Everything in this distribution that Perl prints in lines and columns goes through these functions.
(Reports are tables in C, which know more formats.) It is internal to this distribution.

Texts are characters, widths are columns, one for each character. No function prints or dies.

=head1 FUNCTIONS

=over

=item bytes TEXT, text BYTES

To UTF-8, and back where bytes are UTF-8; what is none stays as it is.

=item shown NAME

A name as people may see it: characters, control characters made visible.

=item fitted TEXT, WIDTH

The end of a text that is too long, behind C<...>.

=item cut TEXT, WIDTH

The beginning of a text that is too long, before C<...>.

=item grouped NUMBER

With a comma for each thousand.

=item plural NUMBER, WORD [, WORDS]

C<1 call>, C<2 calls>; the number may be grouped.

=item few ITEM, ...

The first three of a list, and how many more there are.

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
