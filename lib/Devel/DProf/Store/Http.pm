package Devel::DProf::Store::Http;

# Requests to a server, whose answers become success or a failure that says whether to try again.

use strict;
use warnings;

use HTTP::Tiny;
use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use Devel::DProf::Core;
use Devel::DProf::Store qw(failed);
use Devel::DProf::Text qw(bytes shown);

our $VERSION = $Devel::DProf::Core::VERSION;

# A longer answer is none, a part of it is kept, and less stands in a message. A server that says
# "wait" (1xx) more often than that says nothing else.
use constant { MOST_BYTES => 1 << 24, MOST_KEPT => 65_536, MOST_SHOWN => 300, MOST_INTERIM => 20 };

# A request takes so many times the silence that ends it, and so many seconds once we are to stop: a
# server may keep silent for no longer than that, and yet send for ever.
use constant { LONGEST => 10, GRACE => 10 };

# These say that the same request may succeed later: the server did not get it whole in its time
# (408), has too much to do, or is out of order.
my $LATER = qr/\A(?:408|429|5\d\d|3\d\d|1\d\d)\z/;

sub new {
    my ($class, $name, $url, %fields) = @_;
    my ($scheme) = $url =~ m{\A(https?)://$Devel::DProf::Store::HOST(?:/[^?#\@\s]*)?\z}
        or failed(Devel::DProf::Store::without_secrets($name)
            . ': must be an address like http://HOST:PORT');
    if ($scheme eq 'https') {
        my ($can) = HTTP::Tiny->can_ssl;
        $can or failed("$name: https needs the Perl module IO::Socket::SSL "
            . '(Debian: libio-socket-ssl-perl)');
    }
    my $timeout = $fields{timeout} // 30;
    my $http = HTTP::Tiny->new(agent => "dprofstore/$VERSION", timeout => $timeout,
        max_redirect => 0, max_size => MOST_BYTES, verify_SSL => 1);
    return bless { name => $name, url => $url =~ s{/+\z}{}r, http => $http, timeout => $timeout,
        longest => LONGEST * $timeout, stop => $fields{stop} // sub { return 0 },
        now => $fields{now} // sub { return time } }, $class;
}

# Returns the answer as HTTP::Tiny does; dies if none came, or none that is whole.
sub ask {
    my ($self, $path, $headers, $content, %more) = @_;
    my $response = $self->bounded(sub {
        return $self->{http}->request('POST', $self->{url} . $path,
            { headers => $headers, content => $content, %more });
    });
    failed(bytes("$self->{name}: no answer: " . answer_line($response->{content} // '')),
        retry => 1)
        if $response->{status} == 599;
    return $response;
}

# Looks at the clock each second while a request is written and answered: a server that sends a byte
# now and then is never silent. A signal would end the making of a connection, which has a time of
# its own, and gets none before that is over. HTTP::Tiny makes an answer with 599 of an exception.
sub bounded {
    my ($self, $code) = @_;
    my ($is_open, $interim) = (0, 0);
    my ($write, $read) = map { HTTP::Tiny::Handle->can($_) } qw(write_request read_response_header);
    no warnings 'redefine';
    local *HTTP::Tiny::Handle::write_request = sub { alarm($is_open = 1); goto &$write };
    local *HTTP::Tiny::Handle::read_response_header = sub {
        die 'the server says ' . MOST_INTERIM . " times to go on, and gives no answer\n"
            if ++$interim > MOST_INTERIM;
        goto &$read;
    };
    my $is_in_time = $self->limit;
    local $SIG{ALRM} = sub {
        die "the answer takes too long\n" if !$is_open || !$is_in_time->();
        alarm 1;
    };
    alarm $self->{timeout} + 1;
    my $response = eval { my $r = $code->(); alarm 0; $r };
    my $why = $@;
    alarm 0;
    return $response // { status => 599, content => $why };
}

# Returns a sub that tells whether a request that begins now may go on.
sub limit {
    my ($self) = @_;
    my ($now, $stop) = @$self{qw(now stop)};
    my ($end, $is_over) = ($now->() + $self->{longest}, 0);
    return sub {
        my $time = $now->();
        if (!$is_over && $stop->()) {
            $is_over = 1;
            $end = $time + GRACE if $end > $time + GRACE;
        }
        return $time < $end;
    };
}

sub post {
    my ($self, $path, $headers, $content) = @_;
    my $response = $self->ask($path, $headers, $content);
    my $body = $response->{content} // '';
    return $body if $response->{success};
    my $status = join ' ', grep { length } map { shown($_ // '') } @$response{qw(status reason)};
    my $is_later = $response->{status} =~ $LATER ? 1 : 0;
    my $why = $response->{status} =~ /\A3/ ? shown($response->{headers}{location} // '')
        : answer_line($body);
    failed(bytes(join ': ', $self->{name}, $is_later ? $status : "refused, $status",
        length $why ? $why : ()), retry => $is_later, after => retry_seconds($response),
        answer => bytes($status) . "\n" . substr $body, 0, MOST_KEPT);
}

# The header of a user with a password, which may have any bytes: in a header of its own, HTTP::Tiny
# would refuse some of them, with a message that has them.
sub basic {
    my ($user, $password) = @_;
    failed('DPROF_STORE_USER: a name holds no colon and no control character')
        if $user =~ /[:\x00-\x1f\x7f]/;
    return (Authorization => 'Basic '
        . encode_base64(bytes($user) . ':' . bytes($password // ''), ''));
}

# Returns how many seconds the server asks to wait, if it says that as a number.
sub retry_seconds {
    my ($response) = @_;
    my $after = $response->{headers}{'retry-after'} // '';
    return $after =~ /\A\d{1,6}\z/ ? $after + 0 : undef;
}

# Returns what an answer says, in one line: the message of one in JSON, else its first line.
sub answer_line {
    my ($body) = @_;
    my $json = $body =~ /\A\s*\{/ ? eval { JSON::PP::decode_json($body) } : undef;
    my $text = $json && !ref($json->{message} // []) ? bytes("$json->{message}") : $body;
    my ($line) = $text =~ /(\S[^\r\n]*)/;
    $line = shown(($line // '') =~ s/\s+\z//r);
    return length $line > MOST_SHOWN ? substr($line, 0, MOST_SHOWN) . ' ...' : $line;
}

sub escape {
    my ($text) = @_;
    return bytes($text) =~ s/([^A-Za-z0-9_.~-])/sprintf '%%%02X', ord $1/ger;
}

# The fields of a query, in their order.
sub query {
    my (@fields) = @_;
    my @pairs;
    while (my ($name, $value) = splice @fields, 0, 2) {
        push @pairs, escape($name) . '=' . escape($value);
    }
    return join '&', @pairs;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Store::Http - requests to a server, and what its answers mean

=head1 DESCRIPTION

Receivers of profiles and databases are asked through this module. It follows no redirections, since
they would take passwords elsewhere, and it checks certificates. It is internal to this
distribution.

=head1 METHODS

=over

=item new NAME, URL, NAME => VALUE, ...

NAME begins each message. timeout: so many seconds of silence end a request (30), and ten
times as many in any case. stop: a sub that tells whether the process is to end; then a request has
ten seconds more. now: a clock, for tests.

=item ask PATH, HEADERS, CONTENT, NAME => VALUE, ...

Sends bytes. Returns any answer, as L<HTTP::Tiny/request> does, which gets the further options.
Dies with a L<Devel::DProf::Store::Failure>, to be repeated, if no answer comes.

=item post PATH, HEADERS, CONTENT

Sends bytes. Returns the body of a successful answer; dies with a L<Devel::DProf::Store::Failure>
of any other. An answer with 4xx has been refused, and is not to be repeated, except for 408 and
429. Those, 5xx, redirections, and no answer are to be repeated; C<after> of the failure is the
number of seconds that the server asks for.

=back

=head1 FUNCTIONS

=over

=item basic USER, PASSWORD

A header, name and value, that says who sends.

=item answer_line ANSWER

What an answer says, in one line.

=item retry_seconds ANSWER

The seconds that an answer asks to wait, or undef.

=item query NAME => VALUE, ...

The query of an address, escaped. Values are characters or bytes.

=item escape TEXT

One part of an address.

=back

=cut
