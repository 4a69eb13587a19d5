package Devel::DProf::Compare::Sequential;

# When a growing number of runs is looked at, and which part of alpha each look may spend.

use strict;
use warnings;

use Devel::DProf::Core;
use Time::HiRes ();

our $VERSION = $Devel::DProf::Core::VERSION;

# After so many rounds, with that part of alpha. The parts add up to 1, so that the chance of a
# false alarm at any of the looks is no greater than alpha, however they depend on each other
# (Bonferroni's inequality). That is a spending function in the sense of K. K. G. Lan and D. L.
# DeMets: Discrete sequential boundaries for clinical trials, Biometrika 70, 1983; it spends less at
# first, as P. C. O'Brien and T. R. Fleming do, because with few runs only great changes are found,
# whose p is small. A look that the time leaves out spends nothing.
my @LOOKS = ([8, 0.1], [12, 0.15], [18, 0.2], [27, 0.25], [40, 0.3]);

# seconds: all runs are done after so long.
sub new {
    my ($class, $seconds) = @_;
    return bless { began => Time::HiRes::time(), seconds => $seconds, at => 0, share => 1 }, $class;
}

# The most rounds.
sub most { return $LOOKS[-1][0] }

# Returns the part of alpha of a look after that round, or 0 where there is none: it is not yet
# time. The last look is where time ends.
sub share_at {
    my ($self, $round) = @_;
    my $look = $LOOKS[ $self->{at} ];
    return 0 if $round < $look->[0] && $self->has_time($round);
    return $self->{share} = $look->[1];
}

# Will another round end in time?
sub has_time {
    my ($self, $round) = @_;
    my $passed = Time::HiRes::time() - $self->{began};
    return $passed + $passed / ($round + 1) <= $self->{seconds};
}

# Notes what a look has left open: { count, names }. Returns whether that was the last one.
sub looked {
    my ($self, $round, $open) = @_;
    $self->{open} = $open;
    $self->{at}++;
    return !$open->{count} || $self->{at} > $#LOOKS || !$self->has_time($round) ? 1 : 0;
}

# Returns the part of alpha of the last look.
sub share { return $_[0]{share} }

# Returns what is open, in words: before a round.
sub progress {
    my ($self, $round) = @_;
    my $next = "run $round, next look after $LOOKS[$self->{at}][0]";
    my $open = $self->{open} or return $next;
    my ($count, $names) = @$open{qw(count names)};
    $names .= ', ...' if $count > (() = $names =~ /, /g) + 1;
    return "$next, $count open ($names)";
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Compare::Sequential - looks at a growing number of runs, and what each may spend of
alpha

=head1 DESCRIPTION

What C<-N auto> of L<dprofdiff> goes by: after 8, 12, 18, 27 and 40 rounds the runs are compared,
with 10, 15, 20, 25 and 30 % of alpha. It is internal to this distribution.

=head1 METHODS

=over

=item new SECONDS

An object; after so many seconds no further round begins.

=item most

The most rounds, 40.

=item share_at ROUND

The part of alpha for the look after a round; 0 if none is due. The last look is due where time
ends.

=item looked ROUND, OPEN

Notes what a look has left open, C<< { count => NUMBER, names => TEXT } >>. Returns 1 if no further
round is needed or possible, else 0.

=item share

The part of alpha of the last look: what the final comparison goes by.

=item has_time ROUND

Whether a round after that one will end in time, as far as those before tell.

=item progress ROUND

A text for people: the round, the next look, what is open.

=back

=cut
