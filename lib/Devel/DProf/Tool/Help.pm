package Devel::DProf::Tool::Help;

# What -h prints: the text of a tool's options without what only the parser reads.

use strict;
use warnings;

use Devel::DProf::Core;
use Devel::DProf::View::Layout qw(wrapped);

our $VERSION = $Devel::DProf::Core::VERSION;

# The width to which lists of words are filled.
use constant WIDTH => 95;

# Returns the text of a tool's help for people: without the lines that declare options, and with the
# names of lists replaced.
sub text_of {
    my ($name, $text, $lists) = @_;
    return join '', map { fill_line($name, $_, $lists) } grep { !/^==? / } split /^/, $text;
}

# Returns a line of the help with the name of a list, like {METRICS}, replaced by the list's words
# from $lists. Words that do not fit the line go on below it.
sub fill_line {
    my ($name, $line, $lists) = @_;
    my ($before, $list, $rest) = $line =~ /^(.*?)\{([A-Z]+)\}(.*)/ or return $line;
    my $words = $lists->{$list} or die "$name: the help has no list $list\n";
    my @pieces = map { " $_" } split / /, join(', ', @$words) . $rest;
    my @lines = wrapped(WIDTH, $before =~ s/ \z//r, ' ' x length $before, @pieces);
    return map { "$_\n" } @lines;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool::Help - the help of a tool: what -h prints

=head1 DESCRIPTION

This module makes the text that L<Devel::DProf::Tool::Options> prints for C<-h>. It is internal to
this distribution.

=head1 FUNCTIONS

=over

=item text_of NAME, TEXT, LISTS

The help in a tool's TEXT. LISTS is a hash of the lists of words that TEXT names; NAME is the
tool's, for messages.

=back

=cut
