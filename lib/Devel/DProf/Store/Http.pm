package Devel::DProf::Store::Http;

# Sends requests to a server. An answer is a success, or a failure with or without retry.

use strict;
use warnings;

use HTTP::Tiny;
use JSON::PP ();
use MIME::Base64 qw(encode_base64);
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use Devel::DProf::Core;
use Devel::DProf::Store qw(failed);
use Devel::DProf::Text qw(bytes shown);

our $VERSION = $Devel::DProf::Core::VERSION;

# The most bytes of an answer, of the part that a failure keeps, and of the part in a message; and
# the most interim answers (1xx) before the final one.
use constant { MOST_BYTES => 1 << 24, MOST_KEPT => 65_536, MOST_SHOWN => 300, MOST_INTERIM => 20 };

# A request may take LONGEST times the timeout, and GRACE seconds after a request to stop. The
# timeout alone only limits silence, and a server may send for ever.
use constant { LONGEST => 10, GRACE => 10 };

# Statuses after which the same request may succeed later: the server did not get all of it in time
# (408), is too busy, or does not work.
my $LATER = qr/\A(?:408|429|5\d\d|3\d\d|1\d\d)\z/;

# Returns a client for the address of a store. NAME is its name in messages. Tests replace `stop`
# and `now`.
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

# Sends a request by POST. Returns the answer, a hash as HTTP::Tiny makes it. Dies if no complete
# answer came.
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

# Calls CODE, which performs a request, within the request's time limit, and returns the answer.
# While the request is written and answered, an alarm checks the clock each second, because a server
# that sends a byte now and then never reaches the timeout. The alarm does not interrupt the
# connection phase, which has its own timeout. HTTP::Tiny turns an exception into an answer with
# status 599.
sub bounded {
    my ($self, $code) = @_;
    my ($is_open, $interim) = (0, 0);
    my ($write, $read, $connect)
        = map { HTTP::Tiny::Handle->can($_) } qw(write_request read_response_header connect);
    no warnings 'redefine';
    local *HTTP::Tiny::Handle::connect = sub {
        my $handle = $connect->(@_);
        without_delay($handle->{fh});
        return $handle;
    };
    local *HTTP::Tiny::Handle::write_request = sub { alarm($is_open = 1); goto &$write };
    local *HTTP::Tiny::Handle::read_response_header = sub {
        die 'the server has sent ' . MOST_INTERIM . " interim answers, and no final one\n"
            if ++$interim > MOST_INTERIM;
        goto &$read;
    };
    my $is_in_time = $self->time_limit;
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

# Lets a socket send each write at once. HTTP::Tiny writes a request's head and body separately.
# Otherwise the kernel would hold the body back until the server acknowledges the head, which takes
# 40 ms. A failure costs only that time.
sub without_delay {
    my ($socket) = @_;
    setsockopt $socket, IPPROTO_TCP, TCP_NODELAY, 1;
    return;
}

# Returns a sub that returns whether a request that begins now may still continue.
sub time_limit {
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

# Sends a request. Returns the body of the answer, or dies with a Failure that says whether trying
# again later may help.
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

# Returns the header with a user and a password. The password may have any bytes; Base64 hides them
# from HTTP::Tiny, which would refuse some and show them in its message.
sub basic {
    my ($user, $password) = @_;
    failed('DPROF_STORE_USER: must not contain a colon or a control character')
        if $user =~ /[:\x00-\x1f\x7f]/;
    return (Authorization => 'Basic '
        . encode_base64(bytes($user) . ':' . bytes($password // ''), ''));
}

# Returns the seconds that the server asks us to wait, if its Retry-After is a number.
sub retry_seconds {
    my ($response) = @_;
    my $after = $response->{headers}{'retry-after'} // '';
    return $after =~ /\A\d{1,6}\z/ ? $after + 0 : undef;
}

# Returns the text of an answer's body in one line: the message if the body is JSON, else its first
# line.
sub answer_line {
    my ($body) = @_;
    my $json = $body =~ /\A\s*\{/ ? eval { JSON::PP::decode_json($body) } : undef;
    my $text = $json && !ref($json->{message} // []) ? bytes("$json->{message}") : $body;
    my ($line) = $text =~ /(\S[^\r\n]*)/;
    $line = shown(($line // '') =~ s/\s+\z//r);
    return length $line > MOST_SHOWN ? substr($line, 0, MOST_SHOWN) . ' ...' : $line;
}

# Returns text as a part of a URL.
sub escape {
    my ($text) = @_;
    return bytes($text) =~ s/([^A-Za-z0-9_.~-])/sprintf '%%%02X', ord $1/ger;
}

# Returns the query of a URL from pairs of name and value, in their order.
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

Devel::DProf::Store::Http - sends requests to a server, and interprets its answers

=head1 DESCRIPTION

All requests to receivers of profiles and to databases go through this module. It follows no
redirections, since these would take passwords elsewhere, and it checks certificates. It is internal
to this distribution.

=head1 METHODS

=over

=item new NAME, URL, NAME => VALUE, ...

NAME begins each message. timeout: a request ends after so many seconds of silence (30), and after
ten times as many in any case. stop: a sub that returns whether the process has to end; then a
request has ten seconds more. now: a clock, for tests.

=item ask PATH, HEADERS, CONTENT, NAME => VALUE, ...

Sends bytes. Returns any answer, as L<HTTP::Tiny/request> does. That method gets the further
options. If no answer comes, C<ask> dies with a L<Devel::DProf::Store::Failure> with retry.

=item post PATH, HEADERS, CONTENT

Sends bytes. Returns the body of a successful answer, and dies with a
L<Devel::DProf::Store::Failure> after any other. A status of 4xx, except for 408 and 429, means that
the server has refused the request, so it should not be repeated. After 408, 429, 5xx, a redirection
or no answer, the failure has retry; its C<after> is the number of seconds that the server asks for.

=back

=head1 FUNCTIONS

=over

=item basic USER, PASSWORD

Returns the header, name and value, with which a user authenticates.

=item answer_line ANSWER

Returns the text of an answer, in one line.

=item retry_seconds ANSWER

Returns the seconds that an answer asks us to wait, or undef.

=item query NAME => VALUE, ...

Returns the query of an address, escaped. Values are characters or bytes.

=item escape TEXT

Escapes one part of an address.

=back

=cut
