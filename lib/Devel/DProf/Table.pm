package Devel::DProf::Table;

# A table of a view that is made in Perl: columns, cells and facts, printed in any format.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_TEXT DP_JSON);
use Devel::DProf::Profile;
use Devel::DProf::Text qw(json_text);

our $VERSION = $Devel::DProf::Core::VERSION;

sub new {
    my ($class, @columns) = @_;
    return bless { columns => \@columns, rows => [], facts => [], json => [] }, $class;
}

sub fact {
    my ($self, $label, $key, $text) = @_;
    push @{ $self->{facts} }, $label, $key, $text;
    return;
}

sub json {
    my ($self, $key, $data) = @_;
    push @{ $self->{json} }, $key, json_text($data) =~ s/\s+\z//r;
    return;
}

sub row {
    my ($self, @cells) = @_;
    push @{ $self->{rows} }, \@cells;
    return;
}

# Prints, and returns 0 or a negative code. HOW: format, title, quiet. Without rows, text is the
# facts alone.
sub print {
    my ($self, $out, %how) = @_;
    my $is_bare = $how{format} == DP_TEXT && !@{ $self->{rows} };
    my @json = $how{format} == DP_JSON ? (json => $self->{json}) : ();
    return Devel::DProf::Profile::print_table($out, $is_bare ? [] : $self->{columns},
        $self->{rows}, { tight => 1, facts => $self->{facts}, @json, %how });
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

What a view in Perl has to show becomes text, CSV, JSON, Markdown or HTML by the code in C that
prints the tables of L<dprofreport> and L<dprofdiff>. It is internal to this distribution.

=head1 METHODS

=over

=item new [TITLE, KEY, LEFT], ...

The columns: a title for people, a key for programs, and whether cells are aligned to the left.

=item fact LABEL, KEY, TEXT

What stands above the table.

=item json KEY, DATA

A fact for JSON alone, of any data.

=item row CELL, ...

A cell is a text; or [NUMBER, TEXT], a number for programs and its text for people, of which NUMBER
is undef where there is none; or undef.

=item print HANDLE, format => NUMBER, NAME => VALUE, ...

Prints in a format of C<DP_FORMAT_LIST>. Other names are those of C<DP_PRINT_OPTIONS> in
F<src/dprof/table.h>. Returns 0, or a negative code.

=back

=cut
