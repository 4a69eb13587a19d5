package StandIn;

# Stands in for Pyroscope, Parca and Coroot: takes their requests, and refuses what they refuse. The
# checks are those of their sources in 2026, in the words of these:
#   Pyroscope 2.2: pkg/ingester/pyroscope/ingest_handler.go, ingest_adapter.go, api/model/labelset,
#     pkg/og/convert/pprof/profile.go, pkg/validation/validate.go and limits.go
#   Parca: pkg/normalizer/normalizer.go and validate.go, pkg/profilestore/profilecolumnstore.go
#   Coroot: collector/profiles.go, collector.go; profile/profile.go of google/pprof
# xt/readers/push.t calibrates it with Pyroscope's own pusher.

use strict;
use warnings;
use AnyPprof;
use Encode ();
use IO::Select;
use IO::Socket::INET;
use JSON::PP ();
use MIME::Base64 qw(decode_base64 encode_base64);
use POSIX ();

my $NOT_OPEN = -1;

# ---- the server's process ----

# Starts a server in a process of its own, which ends with the object. file: where it keeps what it
# was sent. basic: NAME:PASSWORD that it wants; token: the bearer token; tenant; key: Coroot's API
# key. any_time: Pyroscope takes profiles of all times, as it can be told to. tls: it is asked by
# https, and has its certificate and key in the files TLS.pem and TLS.key; the caller has loaded
# IO::Socket::SSL. does: what it does with the first requests, before it behaves as it should:
#   'NUMBER'                  answers with this status
#   'NUMBER NAME: VALUE'      ... and this header
#   'cut'                     ends in the middle of the answer, 'cut header' in its first line
#   'close'                   closes the connection without an answer
#   'silent'                  keeps the connection, and says nothing until the client leaves
sub new {
    my ($class, %how) = @_;
    my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 20,
        Proto => 'tcp') or die "127.0.0.1: $!\n";
    my $self = bless { %how, owner => $$, port => $listener->sockport }, $class;
    $self->{pid} = fork // die "fork: $!\n";
    return $self if $self->{pid};
    $SIG{PIPE} = 'IGNORE';
    $SIG{TERM} = $SIG{ALRM} = 'DEFAULT';
    # A test that was killed leaves no server behind.
    alarm 600;
    my @does = @{ $how{does} // [] };
    while (my $client = $listener->accept) {
        $client = $self->secured($client) or next;
        eval { $self->serve($client, shift @does); 1 } or warn "StandIn: $@";
    }
    POSIX::_exit(0);
}

# Returns the client's connection, with TLS if the server has that; false if the client does not
# want to go on.
sub secured {
    my ($self, $client) = @_;
    return $client if !$self->{tls};
    return IO::Socket::SSL->start_SSL($client, SSL_server => 1,
        SSL_cert_file => "$self->{tls}.pem", SSL_key_file => "$self->{tls}.key");
}

sub url { return ($_[0]{tls} ? 'https' : 'http') . "://127.0.0.1:$_[0]{port}" }

# Ends the server.
sub stop {
    my ($self) = @_;
    return if $$ != $self->{owner} || !$self->{pid};
    local ($?, $!);
    kill 'TERM', $self->{pid};
    waitpid delete $self->{pid}, 0;
    return;
}

sub DESTROY { return $_[0]->stop }

# Returns what came, a hash each: method, path, query (a hash), headers, body, status, answer, and
# of a profile that was accepted name, labels, totals, time, duration.
sub requests {
    my ($self) = @_;
    open my $in, '<:raw', $self->{file} or return;
    return map { my $r = JSON::PP->new->decode($_); $r->{body} = decode_base64($r->{body}); $r }
        <$in>;
}

# Handles one request of a client. $does: what `does' of new() says for it.
sub serve {
    my ($self, $client, $does) = @_;
    my $request = read_request($client) or return;
    $does //= '';
    my ($status, $type, $answer, %more) = $does =~ /\A(\d+)(?: (.*))?\z/
        ? ($1, 'text/plain', "as told: $1\n", header => $2 // '') : $self->answer($request);
    if ($does eq 'close' || $does eq 'silent') {
        $status = $NOT_OPEN;
    }
    $self->keep({ %$request, status => $status, answer => $answer, %more });
    # Reading ends when the client leaves.
    sysread $client, my $nothing, 1 if $does eq 'silent';
    return close $client if $status == $NOT_OPEN;
    my $text = join "\r\n", "HTTP/1.1 $status " . reason($status), "Content-Type: $type",
        'Content-Length: ' . length $answer, 'Connection: close',
        grep({ length } $more{header} // ''), '', $answer;
    $text = substr $text, 0, $does eq 'cut header' ? 9 : -1 if $does =~ /\Acut/;
    syswrite $client, $text;
    return close $client;
}

# Returns the reason phrase of a status.
sub reason {
    my %reason = (200 => 'OK', 400 => 'Bad Request', 401 => 'Unauthorized', 404 => 'Not Found',
        422 => 'Unprocessable Entity', 429 => 'Too Many Requests', 500 => 'Internal Server Error',
        503 => 'Service Unavailable');
    return $reason{ $_[0] } // 'Something';
}

# Appends what a request has brought to the file of the server.
sub keep {
    my ($self, $what) = @_;
    open my $out, '>>:raw', $self->{file} or die "$self->{file}: $!\n";
    my $line = JSON::PP->new->ascii->canonical->encode({ %$what,
        body => encode_base64($what->{body}, '') });
    print {$out} "$line\n";
    return close $out;
}

# Reads a request of a client. Returns it as a hash, or nothing.
sub read_request {
    my ($client) = @_;
    my ($text, $head) = ('');
    while (!defined $head) {
        sysread $client, $text, 65_536, length $text or return;
        $head = $1 if $text =~ s/\A(.*?\r\n)\r\n//s;
    }
    my ($first, @lines) = split /\r\n/, $head;
    my ($method, $target) = $first =~ m{\A(\S+) (\S+) HTTP/1\.1\z} or return;
    my %headers = map { /\A([^:]+):\s*(.*?)\s*\z/ ? (lc $1 => $2) : () } @lines;
    my $length = $headers{'content-length'} // 0;
    while (length $text < $length) {
        sysread $client, $text, 65_536, length $text or return;
    }
    my ($path, $query) = split /\?/, $target, 2;
    return { method => $method, path => $path, headers => \%headers, body => $text,
        query => { map { my ($k, $v) = map { unescaped($_) } split /=/, $_, 2; ($k => $v // '') }
            split /&/, $query // '' } };
}

# Returns a part of a URL decoded, as characters if the bytes are UTF-8.
sub unescaped {
    my ($text) = @_;
    $text =~ tr/+/ /;
    $text =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
    utf8::decode($text);
    return $text;
}

# ---- requests ----

my %TAKES = ('/ingest' => \&ingest, '/push.v1.PusherService/Push' => \&push_service,
    '/api/profiles/writeraw' => \&parca, '/v1/profiles' => \&coroot);

# Dies with [status, message], which the server then answers.
sub refuse { my ($status, $message) = @_; die [$status, $message] }

# Returns status, type and text of the answer to a request, and, as pairs, what is to be kept of it.
sub answer {
    my ($self, $request) = @_;
    my $take = $request->{method} eq 'POST' ? $TAKES{ $request->{path} } : undef;
    return (404, 'text/plain', "404 page not found\n") if !$take;
    my $taken = eval { $self->admit($request); $take->($request, $self) };
    return (200, 'application/json', '{}', %$taken) if $taken;
    my ($status, $message) = ref $@ ? @{$@} : (500, "$@");
    return ($status, 'text/plain', "$message\n") if $request->{path} eq '/v1/profiles';
    my $code = $status == 401 ? 'unauthenticated' : 'invalid_argument';
    return ($status, 'application/json',
        JSON::PP->new->utf8->canonical->encode({ code => $code, message => $message }));
}

# Refuses a request without the credentials that the server wants.
sub admit {
    my ($self, $request) = @_;
    my $headers = $request->{headers};
    my $is = $headers->{authorization} // '';
    refuse(401, 'invalid authentication credentials')
        if defined $self->{basic} && $is ne 'Basic ' . encode_base64($self->{basic}, '')
        || defined $self->{token} && $is ne "Bearer $self->{token}";
    refuse(401, 'no org id')
        if defined $self->{tenant} && ($headers->{'x-scope-orgid'} // '') ne $self->{tenant};
    refuse(404, 'project not found (x-api-key header is missing or invalid)')
        if defined $self->{key} && ($headers->{'x-api-key'} // '') ne $self->{key};
    return;
}

# Returns what is kept of a profile that was accepted, as a hash.
sub taken {
    my ($profile, $name, $labels) = @_;
    return { name => $name, labels => $labels, totals => pprof_totals($profile),
        time => $profile->{time_nanos}, duration => $profile->{duration_nanos} };
}

# Returns the JSON in a request's body.
sub json_of {
    my ($request) = @_;
    refuse(415, 'Content-Type') if ($request->{headers}{'content-type'} // '')
        !~ m{\Aapplication/json\b};
    return eval { JSON::PP->new->utf8->decode($request->{body}) } // refuse(400, "JSON: $@");
}

# Returns the labels of a message as a hash.
sub labels_of {
    my ($pairs) = @_;
    my %labels;
    for my $pair (@$pairs) {
        refuse(400, "duplicate label name: $pair->{name}") if exists $labels{ $pair->{name} };
        $labels{ $pair->{name} } = $pair->{value};
    }
    return \%labels;
}

# ---- Pyroscope ----

# Takes a profile as Pyroscope's /ingest does. Returns what is kept of it.
sub ingest {
    my ($request, $self) = @_;
    my $query = $request->{query};
    my $labels = label_set($query->{name} // '');
    my $service = delete $labels->{__name__};
    my $type = $request->{headers}{'content-type'} // '';
    my $format = $query->{format} // '';
    my %parts = $format eq 'pprof' ? (profile => $request->{body})
        : $format eq '' && $type =~ m{multipart/form-data} ? parts_of_form($request->{body}, $type)
        : return folded($service);
    my ($profile, $size) = eval { decode_pprof($parts{profile}) } or refuse(422, "pprof: $@");
    $profile->{time_nanos} = 1e9 * ($query->{from} // time)
        if $profile->{time_nanos} < 86400 * 365 * 1e9;
    delete @$labels{grep { /\A__/ && $_ ne '__session_id__' } keys %$labels};
    refuse(422, 'duplicate label name: pyroscope_spy') if exists $labels->{pyroscope_spy};
    my %all = (service_name => $service, __delta__ => 'false',
        pyroscope_spy => $query->{spyName} // 'unknown', %$labels);
    my $name = eval { metric_name($profile, $parts{sample_type_config}) }
        // refuse(422, "panic: $@");
    pyroscope_checks(422, $profile, $size, { %all, __name__ => $name }, $self->{any_time});
    return taken($profile, $name, \%all);
}

# Returns the labels in NAME{NAME=VALUE,...}, without quotes, as a hash, like Pyroscope's
# labelset.Parse.
sub label_set {
    my ($text) = @_;
    my ($service, $rest) = split /\{/, $text, 2;
    $service = trimmed($service // '');
    refuse(400, 'name: service name is required') if !length $service;
    refuse(400, "name: invalid service name: $service: character is not allowed")
        if $service !~ m{\A[a-zA-Z0-9_./-]+\z};
    my ($key, $value, $is_value, %labels) = ('', '', 0);
    for my $char (split //, $rest // '') {
        if (!$is_value) {
            last if $char eq '}';
            if ($char eq '=') { ($is_value, $value) = (1, '') }
            else { $key .= $char }
            next;
        }
        if ($char ne ',' && $char ne '}') {
            $value .= $char;
            next;
        }
        $key = trimmed($key);
        refuse(400, "name: invalid label name: $key") if $key !~ /\A[a-zA-Z0-9_.]+\z/;
        $labels{$key} = trimmed($value);
        ($key, $is_value) = ('', 0);
        # As there, } ends the value and not the set.
    }
    return { __name__ => $service, %labels };
}

sub trimmed { return $_[0] =~ s/\A\s+|\s+\z//gr }

# Returns the parts of a form by name, as a hash.
sub parts_of_form {
    my ($body, $type) = @_;
    my ($boundary) = $type =~ /boundary="?([^";]+)/ or refuse(422, 'no boundary');
    my %parts;
    for my $part (split /(?:\r\n)?--\Q$boundary\E(?:--)?\r\n/, $body) {
        my ($head, $content) = split /\r\n\r\n/, $part, 2;
        $parts{$1} = $content if ($head // '') =~ /\bname="?([^";\r\n]+)/;
    }
    refuse(422, 'unsupported client version') if defined $parts{prev_profile};
    refuse(422, 'no profile') if !defined $parts{profile};
    return %parts;
}

# Takes folded text: the suffix of the service's name is the type, and must be known.
sub folded {
    my ($service) = @_;
    my ($type) = $service =~ /\.([^.]*)\z/ or return {};
    refuse(422, "unknown profile type: $type") if $type !~ /\A(?:cpu|wall|inuse_objects|inuse_space
        |alloc_objects|alloc_space|goroutines|mutex_count|mutex_duration|block_count
        |block_duration|itimer|alloc_in_new_tlab_objects|alloc_in_new_tlab_bytes
        |alloc_outside_tlab_objects|alloc_outside_tlab_bytes|lock_count|lock_duration|live
        |exceptions|seconds|nanoseconds|microseconds|milliseconds|bytes)\z/x;
    return {};
}

# Names under which the server shows types, unless the client sends a table of its own.
my %SHOWN = (samples => 'cpu', goroutine => 'goroutines', contentions => 'mutex_count',
    delay => 'mutex_duration');

# What /ingest takes for __name__.
sub metric_name {
    my ($profile, $config) = @_;
    my %shown = %SHOWN;
    if (defined $config) {
        my $table = JSON::PP::decode_json($config);
        %shown = map { $_ => $table->{$_}{'display-name'} } keys %$table;
    }
    my @types = map { $profile->{string_table}[ $_->{type} ] // die "index out of range\n" }
        @{ $profile->{sample_type} };
    return 'wall' if grep { $_ eq 'wall' } @types;
    my $name = '';
    for my $type (@types) {
        $name = length($shown{$type} // '') ? $shown{$type} : $type;
        return 'process_cpu' if $name =~ /cpu/;
        return 'memory' if $name =~ /alloc_|inuse_/ || $name =~ /\A(?:space|objects)\z/;
        return $1 if $name =~ /(mutex|block)_/;
        return 'goroutines' if $name =~ /goroutines/;
    }
    return $name;
}

# Takes profiles as Pyroscope's Push does. Returns what is kept of the last one.
sub push_service {
    my ($request) = @_;
    my $message = json_of($request);
    my $taken;
    for my $series (@{ $message->{series} }) {
        my $labels = labels_of($series->{labels});
        for my $sample (@{ $series->{samples} }) {
            my ($profile, $size) = eval { decode_pprof(decode_base64($sample->{rawProfile})) }
                or refuse(400, "pprof: $@");
            pyroscope_checks(400, $profile, $size, $labels);
            $taken = { %{ taken($profile, delete $labels->{__name__}, $labels) },
                id => $sample->{ID} };
        }
    }
    return $taken // refuse(400, 'no profiles received');
}

# Refuses what Pyroscope's validation.ValidateLabels and ValidateProfile refuse, with the limits
# that the server has by default.
sub pyroscope_checks {
    my ($status, $profile, $size, $labels, $any_time) = @_;
    refuse($status, 'profile series has too many label names') if keys %$labels > 30;
    refuse($status, 'invalid metric name') if !length($labels->{__name__} // '');
    refuse($status, 'service name is not provided') if !length($labels->{service_name} // '');
    for my $name (sort keys %$labels) {
        refuse($status, "invalid label name '$name'") if $name !~ /\A[a-zA-Z_.][a-zA-Z0-9_.]*\z/;
        refuse($status, "label name too long: '$name'") if length $name > 1024;
        my $value = Encode::encode('UTF-8', $labels->{$name});
        refuse($status, "label value too long: '$name'") if length $value > 2048;
    }
    my ($now, $time) = (time, $profile->{time_nanos} / 1e9);
    refuse($status, 'empty profile') if !@{ $profile->{sample_type} };
    refuse($status, 'profile is outside of ingestion window (profile timestamp: '
        . POSIX::strftime('%Y-%m-%dT%H:%M:%SZ', gmtime $time) . ')')
        if !$any_time && $time > 0 && ($time <= $now - 3600 || $time >= $now + 600);
    refuse($status, 'the profile exceeds the size limit') if $size > 4 << 20;
    refuse($status, 'the profile exceeds the samples count limit')
        if @{ $profile->{sample} } > 16_000;
    pyroscope_malformed($status, $profile);
    return;
}

# Refuses a profile whose ids or strings are wrong.
sub pyroscope_malformed {
    my ($status, $profile) = @_;
    my @strings = @{ $profile->{string_table} };
    for my $kind (qw(location function)) {
        refuse($status, "$kind id is 0") if grep { !$_->{id} } @{ $profile->{$kind} };
    }
    my $types = @{ $profile->{sample_type} };
    refuse($status, 'sample value length mismatch')
        if grep { @{ $_->{value} } != $types } @{ $profile->{sample} };
    refuse($status, 'string 0 should be empty string') if !@strings || $strings[0] ne '';
    my @indexes = ((map { $_->{type} } @{ $profile->{sample_type} }),
        (map { @$_{qw(str key)} } map { @{ $_->{label} } } @{ $profile->{sample} }),
        (map { @$_{qw(name system_name filename)} } @{ $profile->{function} }),
        map { @$_{qw(filename build_id)} } @{ $profile->{mapping} });
    refuse($status, 'string index out of range') if grep { $_ < 0 || $_ > $#strings } @indexes;
    refuse($status, 'sample type contains -')
        if grep { $strings[ $_->{type} ] =~ /-/ } @{ $profile->{sample_type} };
    for my $string (@strings) {
        refuse($status, 'invalid utf8 string hex: ' . unpack 'H*', $string)
            if !eval { Encode::decode('UTF-8', my $copy = $string, Encode::FB_CROAK); 1 };
    }
    return;
}

# ---- Parca ----

# Takes profiles as Parca's WriteRaw does. Returns what is kept of the last one.
sub parca {
    my ($request) = @_;
    my $message = json_of($request);
    my $taken;
    for my $series (@{ $message->{series} }) {
        my $labels = labels_of($series->{labels}{labels});
        my $name = delete $labels->{__name__} // '';
        for my $label (sort keys %$labels) {
            refuse(400, "invalid label name: $label") if $label !~ /\A[a-zA-Z_][a-zA-Z0-9_]*\z/;
        }
        refuse(400, 'missing __name__ label') if !length $name;
        for my $sample (@{ $series->{samples} }) {
            my ($profile) = eval { decode_pprof(decode_base64($sample->{raw_profile}
                // $sample->{rawProfile})) } or refuse(400, "failed to parse profile: $@");
            parca_checks($profile);
            parca_types($profile, $name);
            $taken = taken($profile, $name, $labels);
        }
    }
    return $taken // {};
}

# Refuses what Parca's normalizer.ValidatePprofProfile refuses.
sub parca_checks {
    my ($profile) = @_;
    my $wrong = sub { refuse(400, "invalid profile: $_[0]") };
    my @strings = @{ $profile->{string_table} };
    $wrong->('first item in string table') if @strings && $strings[0] ne '';
    my $check = sub {
        my ($what, @indexes) = @_;
        $wrong->("$what has invalid index") if grep { $_ && ($_ < 0 || $_ > $#strings) } @indexes;
    };
    my %count = map { $_ => scalar @{ $profile->{$_} } } qw(mapping location function);
    for my $kind (qw(mapping function location)) {
        my $n = 0;
        for my $is (@{ $profile->{$kind} }) {
            $wrong->("$kind id is not sequential") if $is->{id} != ++$n;
            $check->($kind, map { $is->{$_} // 0 } qw(filename build_id name system_name));
        }
    }
    for my $location (@{ $profile->{location} }) {
        $wrong->('location has invalid mapping id') if $location->{mapping_id} > $count{mapping};
        $wrong->('location has invalid function id')
            if grep { $_->{function_id} > $count{function} } @{ $location->{line} };
    }
    $check->('a type', map { @$_{qw(type unit)} } @{ $profile->{sample_type} },
        $profile->{period_type} // ());
    my $types = @{ $profile->{sample_type} };
    for my $sample (@{ $profile->{sample} }) {
        $wrong->('mismatch: values') if @{ $sample->{value} } != $types;
        $wrong->('location number is out of range')
            if grep { $_ < 1 || $_ > $count{location} } @{ $sample->{location_id} };
        $wrong->('label has no key') if grep { !$_->{key} } @{ $sample->{label} };
        $check->('label', map { @$_{qw(key str)} } @{ $sample->{label} });
    }
    return;
}

# NAME:TYPE:UNIT:TYPE:UNIT must be a name of PromQL. That it is not is status 500 there.
sub parca_types {
    my ($profile, $name) = @_;
    my $text = sub { my ($type) = @_;
        return map { $type ? $profile->{string_table}[ $type->{$_} ] : '' } qw(type unit) };
    return if !@{ $profile->{sample} };
    for my $type (@{ $profile->{sample_type} }) {
        my $whole = join ':', $name, $text->($type), $text->($profile->{period_type});
        refuse(500, "invalid profile type ($whole)")
            if $whole !~ /\A[a-zA-Z_:][a-zA-Z0-9_:]*\z/;
    }
    return;
}

# ---- Coroot ----

# Takes a profile as Coroot does. Returns what is kept of it.
sub coroot {
    my ($request) = @_;
    my %labels = %{ $request->{query} };
    my $service = delete $labels{'service.name'} // '';
    refuse(400, 'service.name is empty') if !length $service;
    my ($profile) = eval { decode_pprof($request->{body}) }
        or refuse(400, 'parsing profile: ' . $@);
    refuse(400, 'parsing profile: no samples') if !@{ $profile->{sample_type} };
    my %ids;
    for my $kind (qw(mapping function location)) {
        for my $is (@{ $profile->{$kind} }) {
            refuse(400, "malformed profile: $kind") if !$is->{id} || $ids{$kind}{ $is->{id} }++;
        }
    }
    for my $sample (@{ $profile->{sample} }) {
        refuse(400, 'malformed profile: mismatch: values')
            if @{ $sample->{value} } != @{ $profile->{sample_type} };
        refuse(400, 'malformed profile: location')
            if grep { !$ids{location}{$_} } @{ $sample->{location_id} };
    }
    return taken($profile, '', { service_name => $service, %labels });
}

1;
