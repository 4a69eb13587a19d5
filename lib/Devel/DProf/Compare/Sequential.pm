package Devel::DProf::Compare::Sequential;

# Plans the interim looks at a growing number of runs, and the part of alpha that each may spend.

use strict;
use warnings;

use Devel::DProf::Core;
use Time::HiRes ();

our $VERSION = $Devel::DProf::Core::VERSION;

# The looks: after how many rounds, and with which part of alpha. The parts add up to 1, so the
# chance of a false alarm at any look is at most alpha, even if the looks depend on each other
# (Bonferroni's inequality). This is a spending function in the sense of K. K. G. Lan and D. L.
# DeMets: Discrete sequential boundaries for clinical trials, Biometrika 70, 1983. Like that of P.
# C. O'Brien and T. R. Fleming, it spends less at first: few runs reveal only great changes, and
# these have a small p. A look that is skipped for lack of time spends nothing.
my @LOOKS = ([8, 0.1], [12, 0.15], [18, 0.2], [27, 0.25], [40, 0.3]);

# Makes the plan of a sequential test, which begins now. seconds: the time in which all runs must
# end.
sub new {
    my ($class, $seconds) = @_;
    return bless { began => Time::HiRes::time(), seconds => $seconds, at => 0, share => 1 }, $class;
}

# Returns the most rounds.
sub most { return $LOOKS[-1][0] }

# Returns the part of alpha that the test may spend after this round, or 0 if no interim analysis is
# due then. The last one is due when the time ends.
sub share_at {
    my ($self, $round) = @_;
    my $look = $LOOKS[ $self->{at} ];
    return 0 if $round < $look->[0] && $self->has_time($round);
    return $self->{share} = $look->[1];
}

# Returns whether another round is expected to end in time.
sub has_time {
    my ($self, $round) = @_;
    my $passed = Time::HiRes::time() - $self->{began};
    return $passed + $passed / ($round + 1) <= $self->{seconds};
}

# Ends an interim analysis: notes the subs that it has left undecided, { count, names }. Returns
# whether it was the last one, because all subs are decided or the time is over.
sub looked {
    my ($self, $round, $open) = @_;
    $self->{open} = $open;
    $self->{at}++;
    return !$open->{count} || $self->{at} > $#LOOKS || !$self->has_time($round) ? 1 : 0;
}

# Returns the part of alpha of the last interim analysis.
sub share { return $_[0]{share} }

# Returns a line for people before a round: the round, when the next analysis is due, and the
# undecided subs.
sub progress {
    my ($self, $round) = @_;
    my $next = "run $round, next look after $LOOKS[$self->{at}][0]";
    my $open = $self->{open} or return $next;
    my ($count, $names) = @$open{qw(count names)};
    $names .= ', ...' if $count > (() = $names =~ /, /g) + 1;
    return "$next, $count undecided ($names)";
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Compare::Sequential - the interim looks at a growing number of runs, and their alpha

=head1 DESCRIPTION

C<-N auto> of L<dprofdiff> follows this plan: it compares the runs after 8, 12, 18, 27 and 40
rounds, with 10, 15, 20, 25 and 30 % of alpha. It is internal to this distribution.

=head1 METHODS

=over

=item new SECONDS

Makes an object. No round begins that would not end within so many seconds.

=item most

Returns the most rounds, 40.

=item share_at ROUND

Returns the part of alpha for the look after a round, or 0 if none is due. The last look is due when
time ends.

=item looked ROUND, OPEN

Notes the subs that a look has left undecided, C<< { count => NUMBER, names => TEXT } >>. Returns 1
if no further round is needed or possible, else 0.

=item share

Returns the part of alpha of the last look, which the final comparison uses.

=item has_time ROUND

Returns whether the next round will end in time if it takes as long as the average of those before.

=item progress ROUND

Returns a text for people: the round, the next look, the undecided subs.

=back

=cut
