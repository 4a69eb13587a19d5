package Devel::DProf::Tools;

# The tools, one row each. Other lists of the tools are checked against this table
# (xt/check-tools.t).

use strict;
use warnings;

use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;

# The word after `dprof', and the purpose, in the order of lists.
my @ROWS = (
    [ report => 'which subs cost how much: shares, callers, callees' ],
    [ diff   => 'what changed between two runs, and whether it is significant' ],
    [ top    => 'what a running program does: rates since the last look' ],
    [ flame  => 'flame graphs, of one profile or of two' ],
    [ html   => 'a page: the source, and what each line and sub costs' ],
    [ fold   => 'folded stacks, for other programs' ],
    [ export => 'files of other tools: pprof, speedscope, callgrind ...' ],
    [ merge  => 'one profile of many' ],
    [ store  => 'keeps the profiles of many machines: push, list, prune' ],
    [ list   => 'what can be counted here' ],
    [ pp     => 'the classic table: self and inclusive seconds' ],
);
my @ALL = map {
    my ($word, $purpose) = @$_;
    +{ word => $word, name => "dprof$word", module => "Devel::DProf::Tool::Dprof$word",
        env => 'DPROF' . uc($word) . '_OPTS', purpose => $purpose }
} @ROWS;

sub all { return @ALL }

sub tool {
    my ($name) = @_;
    my ($found) = grep { $name eq $_->{word} || $name eq $_->{name} } @ALL;
    return $found;
}

sub load {
    my ($row) = @_;
    require $row->{module} =~ s{::}{/}gr . '.pm';
    return $row->{module};
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tools - the table of the command line tools

=head1 DESCRIPTION

L<dprof>, completion, and the checks of texts that name all tools read this table. It is internal to
this distribution.

A row is a hash: word, which stands behind C<dprof>; name, that of the command; module, whose
C<main(@ARGV)> does its work and returns the exit status, and whose C<command> returns its
L<Devel::DProf::Options>;
env, the variable with default options; purpose, half a line for lists.

=head1 FUNCTIONS

=over

=item all

The rows, in the order of lists.

=item tool NAME

The row of a tool, by its word or its name. Undef if there is no such tool.

=item load ROW

Loads the module of a tool and returns the module's name. Dies with perl's message if the module
cannot be loaded.

=back

=cut
