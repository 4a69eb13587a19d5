package Devel::DProf::Store::Receiver::Parca;

# The receiver Parca, and Polar Signals, which has the same interface.

use strict;
use warnings;

use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use Devel::DProf::Core;
use Devel::DProf::Store::Receiver;

our $VERSION = $Devel::DProf::Core::VERSION;
our @ISA = ('Devel::DProf::Store::Receiver');

sub options { return qw(profile_name) }

# Takes the option profile_name; the constructor calls this.
sub settle {
    my ($self, $name, $opt) = @_;
    $self->{profile_name} = Devel::DProf::Store::Receiver::profile_name($opt);
    return;
}

# Returns path, headers and body of the request for a profile.
sub request {
    my ($self, $profile) = @_;
    my $labels = Devel::DProf::Store::Receiver::label_pairs(%{ $profile->{labels} },
        __name__ => $self->{profile_name});
    my $series = { labels => { labels => $labels },
        samples => [{ raw_profile => encode_base64($profile->{pprof}, '') }] };
    return ('/api/profiles/writeraw', { 'Content-Type' => 'application/json' },
        Devel::DProf::Store::Receiver::json({ normalized => JSON::PP::true(),
            series => [$series] }));
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Store::Receiver::Parca - sends profiles to Parca (WriteRaw)

=head1 DESCRIPTION

See L<Devel::DProf::Store::Receiver>. Each metric becomes a profile type of its own, such as
C<process_cpu:cpu:nanoseconds:cpu:nanoseconds:delta>; C<profile_name> replaces C<process_cpu>.

=cut
