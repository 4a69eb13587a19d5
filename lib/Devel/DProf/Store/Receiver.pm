package Devel::DProf::Store::Receiver;

# The base class of receivers: servers that get profiles as pprof files and show them.

use strict;
use warnings;

use Encode ();
use Devel::DProf::Core;
use Devel::DProf::Input ();
use Devel::DProf::Store qw(credentials failed);
use Devel::DProf::Store::Http;
use Devel::DProf::Text qw(bytes shown);
use Devel::DProf::View::Export qw(nanoseconds);

our $VERSION = $Devel::DProf::Core::VERSION;

# The labels of each profile, and the fields with their values.
my @LABELS = (service_name => 'service', version => 'version', env => 'env', host => 'host');

# Makes the receiver at an address. The subclass checks its options (settle), and returns headers
# and the rules that labels must follow.
sub new {
    my ($class, $place, %opt) = @_;
    my $name = Devel::DProf::Store::without_secrets(lc($class =~ s/.*:://r) . ":$place");
    my $self = bless { labels => { %{ $opt{labels} // {} } } }, $class;
    my %known = map { $_ => 1 } qw(labels timeout stop), $self->options;
    for my $option (grep { !$known{$_} } sort keys %opt) {
        failed("$name: has no option --" . $option =~ tr/_/-/r);
    }
    $self->settle($name, \%opt);
    $self->{http} = Devel::DProf::Store::Http->new($name, $place, timeout => $opt{timeout},
        stop => $opt{stop});
    $self->{headers} = { $self->headers };
    $self->check({ service_name => 'any', %{ $self->{labels} } });
    return $self;
}

# Returns the names of the options that only this class of receivers has.
sub options { return }

# Takes the options of this class of receivers from $opt. Dies if one is wrong.
sub settle { return }

# ---- authorization ----

# Returns the headers of every request, as pairs.
sub headers { my ($self) = @_; return ($self->authorization, $self->tenant) }

# Returns the header with the credentials from the environment as a pair, or nothing without
# credentials.
sub authorization {
    my ($self) = @_;
    my ($user, $password) = credentials();
    my $token = token();
    failed('DPROF_STORE_USER and DPROF_STORE_TOKEN are both set; unset one of them')
        if defined $user && defined $token;
    return (Authorization => "Bearer $token") if defined $token;
    return defined $user ? Devel::DProf::Store::Http::basic($user, $password) : ();
}

# Returns the token from the environment, checked, or undef.
sub token { return header_value('DPROF_STORE_TOKEN', Devel::DProf::Store::token()) }

# Returns the header with the tenant from the environment as a pair, or nothing.
sub tenant {
    my $tenant = header_value('DPROF_STORE_TENANT', $ENV{DPROF_STORE_TENANT});
    return defined $tenant ? ('X-Scope-OrgID' => $tenant) : ();
}

# Returns the value for a header, or undef if it is empty. Dies if it is more than printable ASCII:
# a newline in it would begin another header.
sub header_value {
    my ($name, $value) = @_;
    return undef if !defined $value || !length $value;
    return $value if $value =~ /\A[\x21-\x7e]+\z/;
    failed("$name: must be printable ASCII without blanks");
}

# ---- labels ----

# Returns the rules of a class for names and values of labels and for the service: [pattern,
# message].
sub rules {
    my $any = [qr/\A.+\z/s, 'must not be empty'];
    return { value => $any, service => $any,
        name => [qr/\A[A-Za-z_][A-Za-z0-9_]*\z/, 'must be letters, digits and _, no digit first'] };
}

# Returns whether the receiver reserves this name of a label for itself.
sub is_reserved { return $_[1] =~ /\A__/ }

use constant { MOST_LABELS => 20, MOST_NAME => 1024, MOST_VALUE => 2048 };

# Dies with a Failure unless the receiver accepts these labels: it needs a service_name, refuses too
# many labels and reserved names, and has rules for names and values.
sub check {
    my ($self, $labels) = @_;
    my $rules = $self->rules;
    failed('label service_name is missing: the profile has no service')
        if !length($labels->{service_name} // '');
    failed(keys(%$labels) . ' labels are too many: the most is ' . MOST_LABELS)
        if keys %$labels > MOST_LABELS;
    for my $name (sort keys %$labels) {
        my $value = $labels->{$name};
        my $shown = 'label ' . bytes(shown($name));
        check_text($shown, $name, $rules->{name}, MOST_NAME);
        failed("$shown: this name is reserved") if $self->is_reserved($name);
        check_text("$shown=" . bytes(shown($value)), $value,
            $name eq 'service_name' ? $rules->{service} : $rules->{value}, MOST_VALUE);
    }
    return;
}

# Dies if a text has more bytes than a receiver allows, or does not match its rule: [PATTERN,
# MESSAGE]. shown: the text as messages show it.
sub check_text {
    my ($shown, $text, $rule, $most) = @_;
    my ($pattern, $meaning) = @$rule;
    my $bytes = bytes($text);
    failed(substr($shown, 0, 80) . "...: must not have more than $most bytes")
        if length $bytes > $most;
    my $decoded = eval { Encode::decode('UTF-8', $bytes, Encode::FB_CROAK) }
        // failed("$shown: is not UTF-8");
    failed("$shown: $meaning") if $decoded !~ $pattern;
    return;
}

# Returns a profile's labels as a hash: its service, version, host and environment, and those of the
# option --label.
sub labels_of {
    my ($self, $profile) = @_;
    my %of = @LABELS;
    my %labels = ((map { $_ => $profile->{ $of{$_} } } keys %of), %{ $self->{labels} });
    delete @labels{grep { !length($labels{$_} // '') } keys %labels};
    return \%labels;
}

# ---- profiles ----

# Returns whether the receiver regards the time of a profile as that of its end.
sub is_timed_by_end { return 0 }

# Returns the profile as the bytes of a pprof file, with its times, as receivers want it.
sub pprof {
    my ($self, $profile) = @_;
    my %is = (at_end => $self->is_timed_by_end);
    for my $field (['start', 'start'], ['seconds', 'duration']) {
        my ($from, $to) = @$field;
        $is{$to} = nanoseconds($profile->{$from}) if $profile->{$from};
    }
    return Devel::DProf::View::Export::pprof([$profile->{file}], %is)
        // failed(Devel::DProf::Input::shown_as($profile->{file})
            . ': no pprof file can be made from it');
}

# Sends a profile, a hash as Devel::DProf::Store::Push makes it. Dies with a Failure if that fails.
sub take {
    my ($self, $profile) = @_;
    my $labels = $self->labels_of($profile);
    $self->check($labels);
    return $self->send({ pprof => $self->pprof($profile), labels => $labels,
        map { $_ => $profile->{$_} } qw(run start seconds) });
}

# Sends a profile that is already a hash of pprof, labels, run, start and seconds.
sub send {
    my ($self, $profile) = @_;
    $self->check($profile->{labels});
    my ($path, $headers, $content) = $self->request($profile);
    $self->{http}->post($path, { %{ $self->{headers} }, %$headers }, $content);
    return;
}

# ---- for the classes ----

# Returns the name of the profiles from the options: by default the one that Grafana's pages show
# first.
sub profile_name {
    my ($opt) = @_;
    my $name = $opt->{profile_name} // 'process_cpu';
    failed("the profile's name $name: must be letters, digits and _, no digit first")
        if $name !~ /\A[A-Za-z_][A-Za-z0-9_]*\z/;
    return $name;
}

# Returns labels as a list of { name, value }, sorted by name, in characters, for messages in JSON.
sub label_pairs {
    my (%labels) = @_;
    return [map { { name => $_, value => Encode::decode('UTF-8', bytes($labels{$_})) } }
        sort keys %labels];
}

# Returns data as JSON, in bytes.
sub json {
    my ($data) = @_;
    return JSON::PP->new->utf8->canonical->encode($data);
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Store::Receiver - the base class of receivers: labels, authorization, pprof files

=head1 SYNOPSIS

    my $receiver = Devel::DProf::Store::open('pyroscope:http://host:4040',
        labels => { region => 'eu' });
    $receiver->take({ file => 'tmon.out', service => 'web', version => '1.3' });

=head1 DESCRIPTION

A receiver takes profiles and gives none back. Profiles are sent as pprof files with all metrics,
and with the known ones of the labels C<service_name>, C<version>, C<env> and C<host>. The process
is no label: each set of labels is a series of its own, and servers limit the number of series.

The classes follow the sources of L<Pyroscope|https://github.com/grafana/pyroscope> 2.2,
L<Parca|https://github.com/parca-dev/parca> and L<Coroot|https://github.com/coroot/coroot> of 2026.
They are B<tested against a mock>: t/lib/StandIn.pm makes the checks found in these sources. The
pages of real servers and the requirements of their clouds have not been tested.

None of these servers knows the identity of a profile. If its answer is lost after it has taken a
profile, the profile is sent again and counts twice.

This module is internal to this distribution.

=head1 ENVIRONMENT

DPROF_STORE_USER and DPROF_STORE_PASSWORD or DPROF_STORE_PASSWORD_FILE are sent as basic
authorization. DPROF_STORE_TOKEN, or the first line of the file DPROF_STORE_TOKEN_FILE, is sent as
bearer token, or to Coroot as its API key. DPROF_STORE_TENANT is sent as X-Scope-OrgID.

=head1 METHODS

All methods die with a L<Devel::DProf::Store::Failure> if they fail.

=over

=item new PLACE, NAME => VALUE, ...

PLACE is the address of the server. labels: a hash of more labels, which override those of a
profile. timeout: a request ends after so many seconds of silence (30). The classes have more
options.

=item take PROFILE

Sends a profile, a hash as for a store's C<add>.

=item send PROFILE

Sends a hash: pprof, labels, and, if they are known, run, start and seconds.

=item pprof PROFILE

Returns the pprof file, in bytes, for this receiver. PROFILE is a hash as for C<take>.

=item labels_of PROFILE

Returns the labels of a profile.

=item check LABELS

Dies if the receiver would refuse a label. The message names the label, and what is allowed.

=back

=head1 METHODS OF A CLASS

=over

=item options, settle NAME, OPTIONS

The first returns the names of the options of the class. The second takes their values.

=item request PROFILE

Returns the path, a hash of headers, and the content of the request that sends a profile.

=item rules, is_reserved NAME, is_timed_by_end, headers

Return what the receiver allows and needs.

=back

=cut
