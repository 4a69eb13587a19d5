package Devel::DProf::Store::Receiver::Pyroscope;

# The receivers Pyroscope and Grafana Cloud Profiles: /ingest, or Push of the newer interface.

use strict;
use warnings;

use Digest::MD5 ();
use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use POSIX ();
use Devel::DProf::Core;
use Devel::DProf::Store qw(failed);
use Devel::DProf::Store::Http;
use Devel::DProf::Store::Receiver;

our $VERSION = $Devel::DProf::Core::VERSION;
our @ISA = ('Devel::DProf::Store::Receiver');

sub options { return qw(push_api profile_name) }

# Takes the options of this kind of receiver; the constructor calls it.
sub settle {
    my ($self, $name, $opt) = @_;
    $self->{is_push} = $opt->{push_api} ? 1 : 0;
    failed("$name: --profile-name needs --push-api")
        if defined $opt->{profile_name} && !$self->{is_push};
    $self->{profile_name} = Devel::DProf::Store::Receiver::profile_name($opt);
    return;
}

# Returns whether the server sets a label of this name itself.
sub is_reserved { return $_[1] =~ /\A(?:__.*|pyroscope_spy)\z/s }

# Returns the rules for labels. The address of /ingest has labels as NAME{NAME=VALUE,...}, without
# quotes, and the server drops blanks at the ends of a value.
sub rules {
    my ($self) = @_;
    my $rules = $self->SUPER::rules;
    return $rules if $self->{is_push};
    return { %$rules,
        service => [qr{\A[A-Za-z0-9_./-]+\z},
            'must be letters, digits and _ . / - (any text with --push-api)'],
        value => [qr/\A(?!\s)[^,}]+(?<!\s)\z/,
            'must not contain , or } or begin or end with a blank (any text with --push-api)'] };
}

# Returns path, headers and body of the request for a profile, for the API that the options chose.
sub request {
    my ($self, $profile) = @_;
    return $self->{is_push} ? $self->push_request($profile) : ingest_request($profile);
}

# Returns the request of the older API, which has labels and times in the path.
sub ingest_request {
    my ($profile) = @_;
    my %labels = %{ $profile->{labels} };
    my $service = delete $labels{service_name};
    my $labels = join ',', map { "$_=" . Devel::DProf::Text::bytes($labels{$_}) } sort keys %labels;
    my @times = $profile->{start} ? (from => int $profile->{start},
        until => POSIX::ceil($profile->{start} + ($profile->{seconds} || 0))) : ();
    return ('/ingest?' . Devel::DProf::Store::Http::query(name => "$service\{$labels}",
        format => 'pprof', @times, spyName => 'dprof'),
        { 'Content-Type' => 'application/octet-stream' }, $profile->{pprof});
}

# Returns the request of the newer API (--push-api), whose labels are in JSON.
sub push_request {
    my ($self, $profile) = @_;
    my $labels = Devel::DProf::Store::Receiver::label_pairs(%{ $profile->{labels} },
        __name__ => $self->{profile_name});
    my $series = { labels => $labels, samples => [{ ID => id_of($profile),
        rawProfile => encode_base64($profile->{pprof}, '') }] };
    return ('/push.v1.PusherService/Push', { 'Content-Type' => 'application/json' },
        Devel::DProf::Store::Receiver::json({ series => [$series] }));
}

# Returns an id for a profile in the form of a UUID, always the same for the same profile.
sub id_of {
    my ($profile) = @_;
    my $hex = Digest::MD5::md5_hex($profile->{run} // $profile->{pprof});
    return join '-', unpack 'A8 A4 A4 A4 A12', $hex;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Store::Receiver::Pyroscope - sends profiles to Pyroscope (/ingest, Push)

=head1 DESCRIPTION

See L<Devel::DProf::Store::Receiver>. The server names a profile after its metrics if it comes by
/ingest, C<wall> in most cases. With C<push_api>, the profile gets the name C<process_cpu>, which
Grafana's pages show first, or that of C<profile_name>; labels may then have any text.

The server refuses a profile that began more than an hour ago, unless it is configured otherwise.

=cut
