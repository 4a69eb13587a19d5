package Devel::DProf::Table;

# A table of a view that is made in Perl: columns, cells and facts, printed in any format.

use strict;
use warnings;

use Devel::DProf::Constants qw(words_of DP_TEXT DP_JSON);
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes json_text unknown);

our $VERSION = $Devel::DProf::Core::VERSION;

my %FORMAT = words_of('format');
# The suffixes of files, and the formats that they select.
my %SUFFIX = (csv => 'csv', json => 'json', md => 'markdown', html => 'html', htm => 'html');

# The formats that only a browser shows.
my %FOR_BROWSERS = map { $_ => 1 } qw(html svg);

# Returns the number of a format: that of --format or, without that, of the suffix of a file.
# @words: the formats that are possible. Dies if there is no such format.
sub format_of {
    my ($word, $path, @words) = @_;
    my ($suffix) = lc($path // '') =~ /\.(\w+)\z/;
    $word //= $SUFFIX{ $suffix // '' } // 'text';
    @words = qw(text csv json markdown html) if !@words;
    die '--format: ' . unknown('format', $word, sort @words) . "\n"
        if !grep { $_ eq $word } @words;
    die "--format $word: a terminal cannot show it; redirect it: > FILE\n"
        if $FOR_BROWSERS{$word} && !defined $path && -t STDOUT;
    return $FORMAT{$word};
}

# Makes an empty table. COLUMNS: [TITLE, KEY, IS_TEXT] each.
sub new {
    my ($class, @columns) = @_;
    return bless { columns => \@columns, rows => [], facts => [], json => [] }, $class;
}

# Adds a fact, which stands above the rows: its label for people, its key for programs, and its
# text.
sub fact {
    my ($self, $label, $key, $text) = @_;
    push @{ $self->{facts} }, $label, $key, $text;
    return;
}

# Adds data that only the format JSON has.
sub json {
    my ($self, $key, $data) = @_;
    push @{ $self->{json} }, [$key, $data];
    return;
}

# Adds a row. A cell is a text, [EXACT, TEXT] for programs and people, or undef.
sub row {
    my ($self, @cells) = @_;
    push @{ $self->{rows} }, \@cells;
    return;
}

# Returns the titles and the rows as people see them, each a reference to a list, for text with a
# layout of its own.
sub texts {
    my ($self) = @_;
    my @titles = map { $_->[0] } @{ $self->{columns} };
    return (\@titles, map { [map { (ref $_ ? $_->[1] : $_) // '' } @$_] } @{ $self->{rows} });
}

# Prints the table. HOW: format, title, quiet, and text, a function that makes the text for people.
# Without rows and that function, text has only the facts. Returns 0, or another number if that
# failed.
sub print {
    my ($self, $out, %how) = @_;
    my $text = delete $how{text};
    return print({$out} bytes($text->())) ? 0 : 1 if $text && $how{format} == DP_TEXT;
    my $is_bare = $how{format} == DP_TEXT && !@{ $self->{rows} };
    # JSON::PP is large, and other formats do not need it.
    my @json = map { ($_->[0], json_text($_->[1]) =~ s/\s+\z//r) }
        $how{format} == DP_JSON ? @{ $self->{json} } : ();
    return Devel::DProf::Profile::print_table($out, $is_bare ? [] : $self->{columns},
        $self->{rows}, { tight => 1, facts => $self->{facts}, json => \@json, %how });
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Table - a table in any format

=head1 SYNOPSIS

    my $table = Devel::DProf::Table->new(['Sub', 'sub', 1], ['Calls', 'calls']);
    $table->fact('Metric', 'metric', 'calls');
    $table->row('main::f', [1200, '1,200']);
    $table->print(\*STDOUT, format => DP_TEXT);

=head1 DESCRIPTION

This class prints the table of a view in Perl as text, CSV, JSON, Markdown or HTML, by the C code
that prints the tables of L<dprofreport> and L<dprofdiff>. It is internal to this distribution.

=head1 METHODS

=over

=item new [TITLE, KEY, LEFT], ...

The columns: a title for people, a key for programs, and whether cells are aligned to the left.

=item fact LABEL, KEY, TEXT

Adds a line above the table.

=item json KEY, DATA

Adds a fact, of any data, for JSON alone.

=item row CELL, ...

A cell is a text; or [NUMBER, TEXT], a number for programs and its text for people, where NUMBER may
be undef; or undef.

=item texts

The titles of the columns, and each row as people see it: lists of characters, for text that has a
layout of its own.

=item print HANDLE, format => NUMBER, text => CODE, NAME => VALUE, ...

Prints in a format of C<DP_FORMAT_LIST>. A view whose text has a layout of its own gives CODE, which
returns that text; it is not called for other formats. Other names are those of C<DP_GIVEN_OPTIONS>
in F<src/dprof/table.h>. Returns 0, or another number.

=back

=head1 FUNCTIONS

=over

=item format_of WORD, PATH [, ALLOWED, ...]

The number of a format: that of WORD, a value of C<--format>; if WORD is undef, that of the path's
suffix; otherwise text. Dies if the word is not among the allowed ones, by default those of tables.

=back

=cut
