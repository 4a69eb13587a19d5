package Devel::DProf::View::Requests;

# The requests of a server as a table: how many of each name there were, and how long they took.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_T_REAL);
use Devel::DProf::Core;
use Devel::DProf::Profile;
use Devel::DProf::Table;

our $VERSION = $Devel::DProf::Core::VERSION;

# The kind of spans that are counted by request.
use constant KIND => 'sql';
use constant { NS_PER_MS => 1e6, NAME => 0, SEEN => 1, KEPT => 2, SUM => 3, P50 => 4 };

# Returns the table of the requests in a profile, those that took the most time first; undef if
# there are none. If the profile has statements of SQL, a column has their number in a kept request.
sub table {
    my ($profile) = @_;
    my @requests = sort { $b->[SUM] <=> $a->[SUM] || $a->[NAME] cmp $b->[NAME] }
        $profile->requests or return undef;
    my $statements = statements($profile);
    my $table = Devel::DProf::Table->new(['Requests', 'seen'], ['Kept', 'kept'],
        ['Dropped', 'dropped'], $statements ? ['SQL each', 'sql_per_request'] : (),
        ['Mean ms', 'mean_ms'], ['p50 ms', 'p50_ms'], ['p95 ms', 'p95_ms'],
        ['Longest ms', 'longest_ms'], ['Phase', 'phase', 1]);
    my ($seen, $kept) = (0, 0);
    for my $one (@requests) {
        my @ms = map { [$_ / NS_PER_MS, sprintf '%.3f', $_ / NS_PER_MS] }
            $one->[SUM] / $one->[SEEN], @$one[P50 .. $#$one];
        my @counts = map { [$_, $_] } @$one[SEEN, KEPT], $one->[SEEN] - $one->[KEPT];
        my @each = $statements ? per_request($statements->{ $one->[NAME] } // 0, $one->[KEPT]) : ();
        $table->row(@counts, @each, @ms, $one->[NAME]);
        $seen += $one->[SEEN];
        $kept += $one->[KEPT];
    }
    $table->fact('Requests', 'requests', "$seen seen, $kept kept");
    return $table;
}

# Returns the cell of a mean number of statements; a route without kept requests has none.
sub per_request {
    my ($statements, $requests) = @_;
    return undef if !$requests;
    return [$statements / $requests, sprintf '%.1f', $statements / $requests];
}

# Returns how many statements were executed in each phase, or undef if the profile has none at all.
sub statements {
    my ($profile) = @_;
    my $spans = Devel::DProf::Profile::spans([[$profile]], { metric => DP_T_REAL, kind => KIND });
    my %calls = map { $_->{phase} => $_->{calls} } @{ $spans->{phases} };
    return %calls ? \%calls : undef;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Requests - the requests of a server as a table

=head1 DESCRIPTION

C<table(PROFILE)> returns a L<Devel::DProf::Table> of the requests that L<Plack::Middleware::DProf>
or L<Mojolicious::Plugin::DProf> has counted, or undef if there are none. It is internal to this
distribution.

=cut
