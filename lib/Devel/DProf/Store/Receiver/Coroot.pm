package Devel::DProf::Store::Receiver::Coroot;

# The receiver Coroot.

use strict;
use warnings;

use Devel::DProf::Core;
use Devel::DProf::Store::Http;
use Devel::DProf::Store::Receiver;

our $VERSION = $Devel::DProf::Core::VERSION;
our @ISA = ('Devel::DProf::Store::Receiver');

# Returns the header with the key from the environment as a pair, or nothing.
sub headers {
    my $key = Devel::DProf::Store::Receiver::token();
    return defined $key ? ('X-API-Key' => $key) : ();
}

# Returns the rules for labels: here their names may have dots.
sub rules {
    my ($self) = @_;
    return { %{ $self->SUPER::rules },
        name => [qr/\A[A-Za-z_][A-Za-z0-9_.]*\z/,
            'must be letters, digits, _ and ., no digit or . first'] };
}

sub is_reserved { return $_[1] eq 'service.name' }

sub is_timed_by_end { return 1 }

# Returns path, headers and body of the request for a profile.
sub request {
    my ($self, $profile) = @_;
    my %labels = %{ $profile->{labels} };
    my $service = delete $labels{service_name};
    return ('/v1/profiles?' . Devel::DProf::Store::Http::query('service.name' => $service,
        map { $_ => $labels{$_} } sort keys %labels),
        { 'Content-Type' => 'application/octet-stream' }, $profile->{pprof});
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Store::Receiver::Coroot - sends profiles to Coroot (/v1/profiles)

=head1 DESCRIPTION

See L<Devel::DProf::Store::Receiver>. DPROF_STORE_TOKEN is the API key of the project. Coroot takes
the time of a profile for that of its end, so the end is sent.

=cut
