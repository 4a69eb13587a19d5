package Devel::DProf::Tools;

# The tools, one row each. `make lists` makes the tables of README.md and of two manuals from this
# one.

use strict;
use warnings;

use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;

# In the order of lists: the word after `dprof'; the purpose; the text that follows the purpose in
# README.md and in the manual of dprof, which have more room.
my @ROWS = (
    [ run    => 'records a command, and reports where its time goes', '' ],
    [ report => 'which subs cost how much: shares, callers, callees', '; CSV, JSON, HTML' ],
    [ diff   => 'what changed between two runs, and whether it is significant', '; rules for CI' ],
    [ top    => 'what a running program does: rates since the last update', ', by sub or line' ],
    [ attach => 'samples a program that runs already, without having loaded anything', '' ],
    [ dump   => 'what a running or hung program does now', ': its stack; core files' ],
    [ flame  => 'flame graphs, of one profile or of two', ': one SVG, or a page to click through' ],
    [ html   => 'a page: the source, and what each line and sub costs', ', whom it calls' ],
    [ fold   => 'folded stacks, for other programs', ', such as speedscope and inferno' ],
    [ export => 'files of other tools: pprof, speedscope, callgrind ...', '' ],
    [ merge  => 'one profile of many', '' ],
    [ store  => 'keeps the profiles of many machines: push, list, prune', '' ],
    [ list   => 'what can be counted on this machine', ': memory, ops, page faults, cache misses' ],
    [ pp     => 'the classic table: self and inclusive seconds', '; call trees (-S, -T)' ],
);
my @ALL = map {
    my ($word, $purpose, $more) = @$_;
    +{ word => $word, name => "dprof$word", module => "Devel::DProf::Tool::Dprof$word",
        env => 'DPROF' . uc($word) . '_OPTS', purpose => $purpose, more => $more }
} @ROWS;

# Returns the rows of all tools, hashes: word, name, module, purpose, env.
sub all { return @ALL }

# Returns the row of a tool, from its word or its command's name, or undef.
sub tool {
    my ($name) = @_;
    my ($found) = grep { $name eq $_->{word} || $name eq $_->{name} } @ALL;
    return $found;
}

# Loads the module of a tool, given by its row. Returns the module's name.
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

L<dprof>, completion and F<tools/lists.pl>, which makes the tables of tools in texts, read this
table. It is internal to this distribution.

A row is a hash: word, which follows C<dprof>; name, the name of the command; module, which has a
C<main(@ARGV)> that does the work and returns the exit status, and a C<command> that returns the
L<Devel::DProf::Tool::Options>; env, the variable with default options; purpose, half a line for
lists; more, which follows the purpose if there is room.

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
