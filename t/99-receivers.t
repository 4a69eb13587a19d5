# Sends profiles to a stand-in for Pyroscope, Parca and Coroot. The stand-in has the rules of these
# servers: it takes profiles whole and with their labels, or refuses them; what cannot be taken is
# found before it is sent.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew data profiled in_process);
use Devel::DProf::Store;
use Devel::DProf::Store::Failure;
use Devel::DProf::Store::Push;
use Encode ();
use HTTP::Tiny;
use MadeUp;
use MIME::Base64 qw(decode_base64);
use PprofReader;
use Socket qw(IPPROTO_TCP TCP_NODELAY);
use StandIn;

# The requests of this test do not leave the machine.
delete @ENV{grep { /_proxy\z/i || /\ADPROF_STORE/ } keys %ENV};
my $dir = scratch();
my $n = 0;
my @KINDS = qw(pyroscope push parca coroot);

sub stand_in { return StandIn->new(file => "$dir/" . ++$n . '.log', @_) }

sub receiver {
    my ($kind, $url, %opt) = @_;
    my %push = $kind eq 'push' ? (push_api => 1) : ();
    my $scheme = $kind eq 'push' ? 'pyroscope' : $kind;
    return Devel::DProf::Store::open("$scheme:$url", timeout => 60, %push, %opt);
}

# Returns the failure of a piece of code, or undef.
sub failure {
    my ($code) = @_;
    return eval { $code->(); 1 } ? undef : Devel::DProf::Store::Failure->of($@);
}

# ---- profiles ----

my $now = time;

# Returns the path of a made-up profile that began so many seconds ago.
sub made_up {
    my ($ago, %how) = @_;
    my $start = $now - $ago;
    return spew("$dir/" . ++$n . '.out', profile_text(format => 'tree', hz => 10_000_000,
        complete => 1, counters => 'ops:ops page-faults:events', times => [4e7, 0, 5e7],
        header => "\$dprof_script='web.pl'; \$dprof_start=$start.25;",
        subs => ['main a x.pl:1', 'main b x.pl:2'],
        lines => ['= 0 0 0 10 0 20 0 0 5 0', '= 1 1 3 1000 1 1200 0 0 17 1',
            '= 2 2 7 39998990 0 49998780 0 0 4000 2'], %how));
}

my %TOTALS = (calls => 10, ops => 4022, page_faults => 3, cpu => 4e9 + 100, wall => 5e9);

sub totals { my ($request) = @_; return { map { $_->[0] => $_->[2] } @{ $request->{totals} } } }

sub profile { my ($file, %more) = @_;
    return { file => $file, run => 'a.b.c-7-0-1', service => 'web', version => '1.3', host => 'h1',
        env => 'prod', %more } }

# ---- what is taken ----

my $hostile = made_up(60, subs => ['main %FF%FE x%FF.pl:1',
    "main a\"%0A<b>{;}=,\xe2\x82\xac x.pl:2"]);
for my $kind (@KINDS) {
    my $server = stand_in();
    my $receiver = receiver($kind, $server->url, labels => { region => 'eu' });
    $receiver->take($_) for profile(made_up(60)), profile($hostile, version => '', env => undef);
    my ($first, $second) = $server->requests;
    is("$first->{status} $second->{status}", '200 200', "$kind: the server takes both profiles");
    is_deeply(totals($first), \%TOTALS,
        "$kind: the profile arrives with all metrics and their totals");
    my %own = $kind eq 'pyroscope' ? (__delta__ => 'false', pyroscope_spy => 'dprof') : ();
    is_deeply($first->{labels}, { %own, service_name => 'web', version => '1.3', env => 'prod',
        host => 'h1', region => 'eu' }, "$kind: the profile has a label for each of its facts");
    is_deeply($second->{labels}, { %own, service_name => 'web', host => 'h1', region => 'eu' },
        "$kind: a profile sends no label whose value is empty");
    is($first->{name}, { pyroscope => 'wall', coroot => '' }->{$kind} // 'process_cpu',
        "$kind: the profile has the name that its receiver gives it");
    my $end = $kind eq 'coroot' ? 5 : 0;
    is($first->{time}, 1e9 * ($now - 60 + $end) + 250_000_000,
        "$kind: the profile has the time that the receiver wants");
    is($first->{duration}, 5e9, "$kind: the profile has the recording's duration");
    # Its bytes are those of a file that dprofexport writes.
    my ($base64) = $second->{body} =~ /"raw_?[Pp]rofile":"([^"]*)"/;
    my $bytes = defined $base64 ? decode_base64($base64) : $second->{body};
    my $read = eval { read_pprof($bytes) } // fail($@);
    my %names = map { $_->{name} => $_->{file} } grep { defined } @{ $read->{functions} };
    is_deeply(\%names, { '(program)' => 'web.pl', 'main::\\xff\\xfe' => 'x\\xff.pl',
        "main::a\"\\x0a<b>{;}=,\xe2\x82\xac" => 'x.pl' },
            "$kind: bytes that are not UTF-8 arrive as escapes");
}

{
    my $run = profiled(['-e', 'sub f { my $x = 0; $x += $_ for 1 .. 100 } f() for 1 .. 50'],
        env => { PERL_DPROF_TREE => 1, PERL_DPROF_EVENTS => 'ops', PERL_HASH_SEED => 0 });
    my $out = "$dir/recorded.pb.gz";
    is(in_process('dprofexport', '-o', $out, $run->{profile})->{status}, 0,
        'dprofexport converts a recorded profile');
    my $want = read_pprof(slurp($out));
    my @sums = map { my $k = $_; my $sum = 0; $sum += $_->{values}[$k] for @{ $want->{samples} };
        $sum } 0 .. $#{ $want->{types} };
    for my $kind (@KINDS) {
        my $server = stand_in();
        receiver($kind, $server->url)->take(profile($run->{profile}));
        my ($request) = $server->requests;
        is_deeply([map { $_->[2] } @{ $request->{totals} }], \@sums,
            "$kind: the sums are those of dprofexport's file");
    }
}

subtest 'Times and options reach each receiver' => sub {
    my $server = stand_in();
    my $file = made_up(60);
    receiver('pyroscope', $server->url)->take(profile($file, start => $now - 30.5,
        seconds => 20));
    receiver('coroot', $server->url)->take(profile($file, start => $now - 30.5, seconds => 20));
    for (1, 2) {
        receiver('push', $server->url, profile_name => 'perl')->take(profile($file));
    }
    receiver('parca', $server->url . '/', profile_name => 'perl')->take(profile($file));
    my ($ingest, $coroot, $push, $again, $parca) = $server->requests;
    is($ingest->{time}, 1e9 * ($now - 31) + 500_000_000,
        'Pyroscope gets the start that the caller gives');
    is($ingest->{duration}, 20e9, 'Pyroscope gets the duration that the caller gives');
    is_deeply([@{ $ingest->{query} }{qw(from until format)}], [$now - 31, $now - 10, 'pprof'],
        'the query has the start and the end in whole seconds');
    is($coroot->{time}, 1e9 * ($now - 11) + 500_000_000,
        'Coroot gets the end of the recording as its time');
    is($push->{name}, 'perl', 'a profile sent by Push has the name of --profile-name');
    like($push->{id}, qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/,
        'a profile sent by Push has a UUID');
    is($again->{id}, $push->{id}, 'a profile that is sent again has the same UUID');
    is("$parca->{name} $parca->{path}", 'perl /api/profiles/writeraw',
        'a profile for Parca has the name of --profile-name');
};

subtest 'Requests carry the credentials of the sender' => sub {
    my $secret = spew("$dir/secret", "pa:ss w\xc3\xb6rd\n");
    my $send = sub {
        my ($kind, $env, %wants) = @_;
        local @ENV{map { "DPROF_STORE_$_" } keys %$env} = values %$env;
        my $server = stand_in(%wants);
        my $failure = failure(sub { receiver($kind, $server->url)->take(profile(made_up(60))) });
        return $failure ? $failure->message =~ s/\A\w+:http:[^ ]* //r : 'taken';
    };
    my @basic = (basic => "me:pa:ss w\xc3\xb6rd");
    is($send->('pyroscope', { USER => 'me', PASSWORD_FILE => $secret }, @basic), 'taken',
        'Pyroscope accepts a user with a password from a file');
    is($send->('parca', { USER => 'me', PASSWORD => "pa:ss w\xc3\xb6rd" }, @basic), 'taken',
        'Parca accepts a user with a password from the environment');
    is($send->('pyroscope', { USER => 'me', PASSWORD => 'x' }, @basic),
        'refused, 401 Unauthorized: invalid authentication credentials',
            'Pyroscope refuses a wrong password');
    is($send->('parca', { TOKEN => 'tok.en' }, token => 'tok.en'), 'taken',
        'Parca accepts a token');
    is($send->('coroot', { TOKEN => 'k3y' }, key => 'k3y'), 'taken', 'Coroot accepts a key');
    like($send->('coroot', {}, key => 'k3y'), qr/^refused, 404 Not Found: project not found/,
        'Coroot refuses a request without a key');
    is($send->('push', { TENANT => 'team-a' }, tenant => 'team-a'), 'taken',
        'Push sends the tenant');
    like($send->('push', { TENANT => "a\r\nX: y" }), qr/^DPROF_STORE_TENANT: must be printable/,
        'a tenant cannot smuggle a header into the request');
    like($send->('push', { TOKEN => "a\n" }), qr/^DPROF_STORE_TOKEN: must be/,
        'a token with a newline is refused');
    like($send->('push', { TOKEN => 'a', USER => 'b' }), qr/unset one of them/,
        'a token and a user cannot be combined');
    like($send->('push', { USER => 'a:b' }), qr/^DPROF_STORE_USER: must not contain a colon/,
        "a user's name cannot hold a colon");
    like($send->('push', { TOKEN_FILE => "$dir/none" }), qr/^DPROF_STORE_TOKEN_FILE: .* cannot be/,
        'a missing file of a token is an error');
};

# ---- what is refused ----

subtest 'Pyroscope refuses profiles that are too old or too new' => sub {
    for my $case ([pyroscope => 3700, 422], [push => 3700, 400], [pyroscope => -700, 422],
        [pyroscope => 3500, 200], [parca => 3700, 200], [coroot => 3700, 200]) {
        my ($kind, $ago, $status) = @$case;
        my $server = stand_in();
        my $failure = failure(sub {
            receiver($kind, $server->url)->take(profile(made_up($ago)));
        });
        my ($request) = $server->requests;
        is($request->{status}, $status,
            "$kind answers $status to a profile that is $ago seconds old");
        next if $status == 200;
        like($failure, qr/refused, $status \w.*: profile is outside of ingestion window/,
            "$kind: the message says that the time is outside of the window");
        like($failure->answer, qr/^$status .*\n\{"code":"invalid_argument"/,
            "$kind: the failure keeps the server's answer");
        is($failure->retry, 0, "$kind: a profile of the wrong time is not sent again");
    }
};

subtest 'Pyroscope refuses profiles that are too large' => sub {
    my $server = stand_in();
    for my $case ([16_000, undef], [16_001, qr/refused, 422 .*: .* samples count limit/]) {
        my ($contexts, $message) = @$case;
        my $file = made_up(60, subs => [map { "main s$_ x.pl:$_" } 1 .. 400], lines => [
            '= 0 0 0 1 0 1 0 0 0 0', map { sprintf '= %d %x 1 1 0 1 0 0 1 0', 1 + int($_ / 400),
                1 + $_ % 400 } 0 .. $contexts - 2]);
        my $failure = failure(sub { receiver('pyroscope', $server->url)->take(profile($file)) });
        $message ? like($failure, $message, "Pyroscope refuses $contexts contexts")
            : is($failure, undef, "Pyroscope accepts $contexts contexts");
    }
};

subtest 'Labels that a receiver cannot take are refused before sending' => sub {
    my $server = stand_in();
    my $name = qr/must be letters, digits and _, no digit first/;
    for my $case (
        ['pyroscope push parca', { 'a-b' => 1 }, qr/^label a-b: $name/],
        ['pyroscope push parca', { 'a.b' => 1 }, qr/^label a\.b: $name/],
        ['pyroscope push parca coroot', { '1a' => 1 }, qr/^label 1a: must be letters/],
        ['pyroscope push parca coroot', { '' => 1 }, qr/^label : must be/],
        ['pyroscope push parca coroot', { "a\n" => 1 }, qr/^label a\\x0a: must be/],
        ['pyroscope push parca', { __name__ => 1 }, qr/^label __name__: this name is reserved/],
        ['pyroscope push', { pyroscope_spy => 1 }, qr/^label pyroscope_spy: this name is/],
        ['coroot', { 'service.name' => 1 }, qr/^label service\.name: this name is reserved/],
        ['pyroscope', { a => 'x,b=y' }, qr/^label a=x,b=y: must not contain , or \}/],
        ['pyroscope', { a => 'x}' }, qr/^label a=x\}: must not/],
        ['pyroscope', { a => ' x' }, qr/^label a= x: must not .* begin or end with a blank/],
        ['pyroscope', { a => "x\xc2\xa0" }, qr/^label a=x.*: must not .* with a blank/],
        ['pyroscope', { service_name => 'my shop' },
            qr{^label service_name=my shop: must be letters, digits and _ \. / -}],
        ['pyroscope push parca coroot', { a => "\xff" }, qr/^label a=\\xff: is not UTF-8/],
        ['pyroscope push parca coroot', { a => "\xed\xa0\x80" }, qr/^label a=.*: is not UTF-8/],
        ['pyroscope push parca coroot', { a => 'x' x 2049 }, qr/^label a=x+\.\.\.: must not have/],
        ['pyroscope push parca coroot', { map { ("l$_" => 1) } 1 .. 20 },
            qr/21 labels are too many/],
    ) {
        my ($kinds, $labels, $message) = @$case;
        for my $kind (split ' ', $kinds) {
            my $failure = failure(sub {
                receiver($kind, $server->url, labels => $labels);
            });
            my ($first) = sort keys %$labels;
            like($failure, $message,
                "$kind refuses the label " . Devel::DProf::Text::shown($first));
        }
    }
    my $failure = failure(sub {
        receiver('parca', $server->url)->take(profile(made_up(60), service => ''));
    });
    like($failure, qr/^label service_name is missing/, 'Parca refuses a profile without a service');
    $failure = failure(sub {
        receiver('pyroscope', $server->url)->take(profile(made_up(60), host => "a\nb}"));
    });
    like($failure, qr/^label host=a\\x0ab\}: must not/,
        'Pyroscope refuses a profile whose own host is no label');
    is($failure->retry, 0, 'a profile with a wrong label is not sent again');
    is_deeply([$server->requests], [], 'a wrong label sends no request');
};

# Values that the rules allow arrive as they are.
subtest 'Hostile values arrive as they are' => sub {
    my @values = ('a=b', '{x', 'a"b\\c', "x\x0ay", "x\x00y", '%41+&?#', "\xc3\xa4\xe2\x82\xac",
        '{}', "'; DROP", '0', 'a b', "\xe2\x80\xae!");
    for my $kind (@KINDS) {
        my $server = stand_in();
        my @sent = grep { $kind ne 'pyroscope' || !/[,}]/ } @values, $kind eq 'pyroscope' ? ()
            : (' a,b} ', "\n");
        my $file = made_up(60);
        receiver($kind, $server->url, labels => { x => $_ })->take(profile($file)) for @sent;
        is_deeply([map { Encode::encode('UTF-8', $_->{labels}{x} // 'none') } $server->requests],
            \@sent, "$kind gets hostile values of a label unchanged");
    }
    my $server = stand_in();
    receiver($_, $server->url)->take(profile(made_up(60), service => "my \xe2\x82\xac, {shop}"))
        for qw(push parca coroot);
    is_deeply([map { $_->{labels}{service_name} } $server->requests],
        [("my \x{20ac}, {shop}") x 3], 'the receivers get a hostile name of a service unchanged');
};

subtest 'A file that is no profile is not sent' => sub {
    my $server = stand_in();
    my $failure;
    {
        # The reader of a file prints what is wrong with it.
        open my $keep, '>&', \*STDERR or die $!;
        close STDERR;
        open STDERR, '>', "$dir/stderr" or die $!;
        $failure = failure(sub {
            receiver('pyroscope', $server->url)->take(profile(spew("$dir/bad", "no profile\n")));
        });
        open STDERR, '>&', $keep or die $!;
    }
    like(slurp("$dir/stderr"), qr/^Not a perl profile: \Q$dir\E\/bad; dprof run /,
        'the reader says that the file is no profile');
    like($failure, qr/\/bad: no pprof file can be made from it/,
        'the failure says that no pprof file can be made');
    is($failure->retry, 0, 'a file that is no profile is not sent again');
    is_deeply([$server->requests], [], 'a file that is no profile sends no request');
};

# ---- answers ----

subtest 'The answer of a server decides whether a profile is sent again' => sub {
    for my $case (
        ['400', 0, qr/refused, 400 Bad Request: as told: 400\n/],
        ['403', 0, qr/refused, 403 /], ['404', 0, qr/refused, 404 /], ['413', 0, qr/refused, 413 /],
        ['422', 0, qr/refused, 422 /],
        ['408', 1, qr/: 408 /], ['429', 1, qr/: 429 Too Many/], ['500', 1, qr/: 500 /],
        ['503 Retry-After: 17', 1, qr/: 503 /],
        ['302 Location: http://127.0.0.1:9/x', 1, qr{: 302 Something: http://127\.0\.0\.1:9/x\n}],
        ['303 Location: http://127.0.0.1:9/x', 1, qr{: 303 }],
        ['close', 1, qr/: no answer: Unexpected end/],
        ['cut header', 1, qr/: no answer: /],
        ['cut', 1, qr/: no answer: Unexpected end/],
    ) {
        my ($does, $retry, $message) = @$case;
        for my $kind ('pyroscope', 'parca') {
            my $server = stand_in(does => [$does]);
            my $receiver = receiver($kind, $server->url);
            my $profile = profile(made_up(60));
            my $failure = failure(sub { $receiver->take($profile) });
            like($failure, $message, "$kind: the failure names the answer '$does'");
            like($failure, qr/\A$kind:http:[^\n]+\n\z/,
                "$kind: the failure is one line that names the server");
            is($failure->retry, $retry,
                "$kind: the answer '$does' decides whether the profile is sent again");
            is($failure->{after}, $does =~ /After: (\d+)/ ? $1 : undef,
                "$kind: the failure of '$does' has the server's time to wait");
            is(failure(sub { $receiver->take($profile) }), undef,
                "$kind: the server takes the profile after '$does'");
            is(scalar(my @all = $server->requests), 2,
                "$kind: the profile is sent twice if the first answer is '$does'");
        }
    }
};

subtest "A failure quotes the answer's message" => sub {
    for my $case (['', ''], ["\n one \r\ntwo", 'one'], ['{"message":"a\nb","code":1}', 'a'],
        ['{"message":[1]}', '{"message":[1]}'], ['{"message":', '{"message":'],
        ["\e[2J", '\\x1b[2J'], ['x' x 300, 'x' x 300], ['x' x 301, 'x' x 300 . ' ...']) {
        my ($answer, $said) = @$case;
        is(Devel::DProf::Store::Http::answer_line($answer), $said, substr $said, 0, 20);
    }
};

subtest 'The kernel does not hold requests back' => sub {
    my $server = stand_in();
    my $send = HTTP::Tiny::Handle->can('write_request');
    my @values;
    no warnings 'redefine';
    local *HTTP::Tiny::Handle::write_request = sub {
        push @values, unpack 'i', getsockopt $_[0]{fh}, IPPROTO_TCP, TCP_NODELAY;
        goto &$send;
    };
    receiver('coroot', $server->url)->take(profile(made_up(60)));
    is(scalar(grep { $_ } @values), 1, 'the socket sends the body without waiting for the server');
};

subtest 'A server that does not answer is asked again' => sub {
    my $server = stand_in();
    my $url = $server->url;
    $server->stop;
    my $failure = failure(sub { receiver('coroot', $url)->take(profile(made_up(60))) });
    like($failure, qr/\Acoroot:\Q$url\E: no answer: Could not connect/,
        'the failure says that no server is there');
    is($failure->retry, 1, 'a profile that found no server is sent again');
    $server = stand_in(does => ['silent']);
    my $receiver = receiver('coroot', $server->url, timeout => 0.2);
    $failure = failure(sub { $receiver->take(profile(made_up(60))) });
    like($failure, qr/: no answer: Timed out/, 'the failure says that the server timed out');
    is($failure->retry, 1, 'a profile that met a silent server is sent again');
};

subtest 'Wrong addresses and options are refused' => sub {
    for my $url ('pyroscope:host:4040', 'parca:ftp://h/', 'coroot:http://', 'coroot:http://h/?a=b',
        "parca:http://h\r\nX: y/") {
        like(failure(sub { Devel::DProf::Store::open($url) }), qr{must be an address like http://},
            "the address " . Devel::DProf::Text::shown($url) . ' is refused');
    }
    like(failure(sub { Devel::DProf::Store::open('parca:http://u:p@h/') }), qr/holds no user/,
        'an address cannot hold a password');
    like(failure(sub { receiver('pyroscope', 'http://h', profile_name => 'x') }),
        qr/needs --push-api/, "Pyroscope takes a profile's name only with --push-api");
    like(failure(sub { receiver('push', 'http://h', profile_name => 'x-y') }),
        qr/the profile's name x-y: must be letters/, "a profile's name cannot hold a dash");
    like(failure(sub { receiver('coroot', 'http://h', profile_name => 'x') }),
        qr/^coroot:http:\/\/h: has no option --profile-name/,
        'Coroot has no option --profile-name');
    no warnings 'redefine';
    local *HTTP::Tiny::can_ssl = sub { return (0, 'absent') };
    like(failure(sub { receiver('parca', 'https://h') }), qr/needs the Perl module IO::Socket::SSL/,
        'an https address names the missing module');
    local *HTTP::Tiny::can_ssl = sub { return 1 };
    ok(receiver('parca', 'https://h')->{http}{http}->verify_SSL, 'https checks certificates');
};

subtest 'https checks the certificate of the server' => sub {
    plan skip_all => 'missing: IO::Socket::SSL' if !eval { require IO::Socket::SSL::Utils }
        || !(HTTP::Tiny->can_ssl)[0];
    for my $name ('server', 'other') {
        my ($cert, $key) = IO::Socket::SSL::Utils::CERT_create(
            subject => { commonName => '127.0.0.1' }, subjectAltNames => [['IP', '127.0.0.1']]);
        IO::Socket::SSL::Utils::PEM_cert2file($cert, "$dir/$name.pem");
        IO::Socket::SSL::Utils::PEM_key2file($key, "$dir/$name.key");
    }
    my $server = stand_in(tls => "$dir/server", basic => 'me:secret');
    local @ENV{qw(SSL_CERT_FILE DPROF_STORE_USER DPROF_STORE_PASSWORD)} = ("$dir/other.pem",
        'me', 'secret');
    my $failure = failure(sub { receiver('parca', $server->url)->take(profile(made_up(60))) });
    like($failure, qr/no answer: SSL connection failed/,
        'a certificate that no authority has signed ends the connection');
    ok($failure->retry, 'a profile is kept if the certificate is wrong');
    is(scalar(my @none = $server->requests), 0,
        'no password reaches a server with a wrong certificate');
    $ENV{SSL_CERT_FILE} = "$dir/server.pem";
    receiver('parca', $server->url)->take(profile(made_up(60)));
    my @requests = $server->requests;
    is(join(' ', map { $_->{status} } @requests), '200',
        'a server with a known certificate takes the profile');
    is_deeply(totals($requests[0]), \%TOTALS, 'the profile arrives whole by https');
};

# ---- dprofstore ----

# Makes a spool of slices, which began so many seconds ago.
sub spool_of {
    my (@ago) = @_;
    my $spool = scratch();
    for my $slice (1 .. @ago) {
        my $file = made_up($ago[ $slice - 1 ]);
        my $text = slurp($file) =~ s/(?=\$dprof_script)/\$dprof_run='a1.b2.c3'; \$dprof_pid=7; /r
            =~ s/(?=\$dprof_script)/\$dprof_tid=0; \$dprof_slice=$slice; /r;
        spew("$spool/web-a1.b2.c3-7-0-$slice.tree", $text);
    }
    return $spool;
}

sub files { return join ' ', map { s{.*/}{}r } sort grep { -f } glob "$_[0]/*" }

subtest 'dprofstore push deletes, keeps or moves each profile by the answer' => sub {
    my $spool = spool_of(60, 3700, 50);
    my $server = stand_in(does => ['', '', '503 Retry-After: 9']);
    my @push = ('push', '--to', 'pyroscope:' . $server->url, '--service', 'web', '--version', '1.3',
        '--host', 'h1', '--label', 'region=eu', '--delete', $spool);
    my $run = in_process('dprofstore', @push);
    is($run->{status}, 1, 'dprofstore fails if one profile is refused and one has to wait');
    is($run->{out}, "1 profile pushed, 1 refused\n",
        'dprofstore counts the profiles pushed and refused');
    like($run->{err}, qr/refused, 422 Unprocessable Entity: .*it is now .*\n.*: 503 .*stays where/,
        'dprofstore says why one profile was refused and why another one stays');
    is(files($spool), 'web-a1.b2.c3-7-0-3.tree',
        'only the profile that has to wait remains in the spool');
    is(files("$spool/refused"), 'web-a1.b2.c3-7-0-2.tree web-a1.b2.c3-7-0-2.tree.why',
        'the refused profile lies in the folder refused');
    like(slurp("$spool/refused/web-a1.b2.c3-7-0-2.tree.why"), qr/outside of ingestion window/,
        "the server's answer lies beside the refused profile");
    $run = in_process('dprofstore', @push);
    is("$run->{status} $run->{out}$run->{err}", "0 1 profile pushed\n",
        'a second push sends the profile that had to wait');
    is(files($spool), '', 'the second push leaves the spool empty');
    my @requests = $server->requests;
    is(join(' ', map { $_->{status} } @requests), '200 422 503 200',
        'dprofstore sends no profile twice');
    is_deeply($requests[3]{labels}, { __delta__ => 'false', pyroscope_spy => 'dprof',
        service_name => 'web', version => '1.3', host => 'h1', region => 'eu' },
            'the last profile arrives with its labels');
};

subtest 'The agent waits as long as the server asks' => sub {
    my $spool = spool_of(60);
    my $server = stand_in(does => ['503 Retry-After: 17', '429 Retry-After: 9999', '503']);
    my @waits;
    my $push = Devel::DProf::Store::Push->new(target => receiver('pyroscope', $server->url),
        service => 'web', delete => 1, say => sub { }, stop => sub { return @waits > 3 });
    $push->loop(2, sub { push @waits, $_[0] }, sub { }, $spool);
    is("@waits", '17 300 300 2', 'the agent waits five minutes at most');
    is(files($spool), '', 'the agent empties the spool after waiting');
};

subtest 'dprofstore knows the options of each receiver' => sub {
    my $server = stand_in();
    my $url = $server->url;
    for my $to (["pyroscope:$url", '--push-api', '--profile-name', 'perl'], ["parca:$url"],
        ["coroot:$url", '--label', 'k8s.pod=x']) {
        my $run = in_process('dprofstore', 'push', '-q', '--to', @$to, '--service', 'my shop',
            made_up(60));
        is("$run->{status}$run->{out}$run->{err}", '0',
            ($to->[0] =~ s/:.*//r) . ' takes a profile without a message');
    }
    my @requests = $server->requests;
    is(join(' ', map { "$_->{status} $_->{labels}{service_name}" } @requests),
        '200 my shop 200 my shop 200 my shop',
            'each receiver gets the service with a blank in its name');
    for my $case (
        [['--to', "pyroscope:$url", '--version', '1,2'], qr/^dprofstore: label version=1,2: must/],
        [['--to', "pyroscope:$url", '--service', 'my shop'],
            qr/: label service_name=my shop: must/],
        [['--to', "parca:$url", '--push-api'], qr/parca:\S+: has no option --push-api$/],
        [['--to', "parca:$url", '--label', 'a-b=c'], qr/: label a-b: must be/],
        [['--to', "dir:$dir/store", '--label', 'a=b'], qr/: --label is for receivers; dir:/],
        [['--to', "dir:$dir/store", '--push-api'], qr/: --push-api is for receivers; dir:/],
    ) {
        my ($args, $message) = @$case;
        my $spool = spool_of(60);
        my $run = in_process('dprofstore', 'push', '--delete', @$args, $spool);
        like($run->{err}, $message, "@$args: dprofstore explains what is wrong");
        is("$run->{status} " . files($spool), '1 web-a1.b2.c3-7-0-1.tree',
            "@$args: dprofstore fails and leaves the profile in the spool");
    }
    my $run = in_process('dprofstore', 'list', '--from', "parca:$url");
    like($run->{err}, qr/takes profiles, and has no way to give them back/,
        'dprofstore list says that Parca returns no profiles');
    is(scalar(@requests = $server->requests), 3, 'wrong options send no request');
};

# ---- the stand-in itself ----

subtest 'The stand-in refuses what the servers refuse' => sub {
    my $server = stand_in();
    my $http = HTTP::Tiny->new;
    my $whole = Devel::DProf::Store::Receiver::Coroot->new($server->url)
        ->pprof(profile(made_up(60)));
    my $plain = PprofReader->can('read_pprof') && do {
        require IO::Uncompress::Gunzip;
        IO::Uncompress::Gunzip::gunzip(\$whole, \my $bytes);
        $bytes;
    };
    my $type = $plain =~ s/cpu/c-u/r;
    my $utf8 = $plain =~ s/x\.pl/x\xffpl/r;
    # A field of 2 bytes each: a type of string 127, a sample without values.
    my ($index, $values) = ("$plain\x0a\x02\x08\x7f", "$plain\x12\x00");
    my @ingest = ('/ingest?format=pprof&name=');
    for my $case (
        ["$ingest[0]web", $whole, 200], ["$ingest[0]web%7Ba=b%7D", $plain, 200],
        ["$ingest[0]my%20shop", $whole, 400], ["$ingest[0]", $whole, 400],
        ["$ingest[0]web%7B" . join(',', map { "l$_=1" } 1 .. 27) . '%7D', $whole, 422],
        ["$ingest[0]web%7B" . join(',', map { "l$_=1" } 1 .. 26) . '%7D', $whole, 200],
        ["$ingest[0]web%7Ba-b=c%7D", $whole, 400], ["$ingest[0]web%7B1b=c%7D", $whole, 422],
        ["$ingest[0]web", $type, 422], ["$ingest[0]web", $utf8, 422],
        ["$ingest[0]web", $index, 422], ["$ingest[0]web", $values, 422],
        ["$ingest[0]web", 'x', 422], ["$ingest[0]web", substr($whole, 0, -20), 422],
        ['/ingest?name=web.ops&format=folded', "main;a 3\n", 422],
        ['/ingest?name=web.cpu&format=folded', "main;a 3\n", 200],
        ['/v1/profiles?service.name=web', $whole, 200], ['/v1/profiles?a=web', $whole, 400],
        ['/v1/profiles?service.name=web', $values, 400], ['/v1/profile', $whole, 404],
    ) {
        my ($path, $body, $status) = @$case;
        my $got = $http->post($server->url . $path, { content => $body });
        is($got->{status}, $status,
            "the stand-in answers $status to $path") or diag($got->{content});
    }
    my $json = sub {
        my ($labels, $bytes) = @_;
        return JSON::PP::encode_json({ series => [{ labels => { labels => [map { {
            name => $_->[0], value => $_->[1] } } @$labels] }, samples => [{
            raw_profile => MIME::Base64::encode_base64($bytes, '') }] }] });
    };
    my @name = ['__name__', 'process_cpu'];
    for my $case ([[@name], $whole, 200], [[], $whole, 400], [[@name, ['a.b', 1]], $whole, 400],
        [[@name, ['a', 1], ['a', 2]], $whole, 400], [[['__name__', 'a-b']], $whole, 500],
        [[@name], $type, 500], [[@name], $index, 400], [[@name], $values, 400]) {
        my ($labels, $bytes, $status) = @$case;
        my $got = $http->post($server->url . '/api/profiles/writeraw', {
            headers => { 'Content-Type' => 'application/json' },
            content => $json->($labels, $bytes) });
        is($got->{status}, $status,
            "the stand-in answers $status to writeraw") or diag($got->{content});
    }
};

done_testing;
