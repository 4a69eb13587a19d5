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
    is("$first->{status} $second->{status}", '200 200', "$kind: taken");
    is_deeply(totals($first), \%TOTALS, '... with all metrics, and their totals');
    my %own = $kind eq 'pyroscope' ? (__delta__ => 'false', pyroscope_spy => 'dprof') : ();
    is_deeply($first->{labels}, { %own, service_name => 'web', version => '1.3', env => 'prod',
        host => 'h1', region => 'eu' }, '... labels');
    is_deeply($second->{labels}, { %own, service_name => 'web', host => 'h1', region => 'eu' },
        '... without those that are empty');
    is($first->{name}, { pyroscope => 'wall', coroot => '' }->{$kind} // 'process_cpu',
        '... the name');
    my $end = $kind eq 'coroot' ? 5 : 0;
    is($first->{time}, 1e9 * ($now - 60 + $end) + 250_000_000, '... the time');
    is($first->{duration}, 5e9, '... how long it was');
    # Its bytes are those of a file that dprofexport writes.
    my ($base64) = $second->{body} =~ /"raw_?[Pp]rofile":"([^"]*)"/;
    my $bytes = defined $base64 ? decode_base64($base64) : $second->{body};
    my $read = eval { read_pprof($bytes) } // fail($@);
    my %names = map { $_->{name} => $_->{file} } grep { defined } @{ $read->{functions} };
    is_deeply(\%names, { '(program)' => 'web.pl', 'main::\\xff\\xfe' => 'x\\xff.pl',
        "main::a\"\\x0a<b>{;}=,\xe2\x82\xac" => 'x.pl' }, '... hostile names');
}

{
    my $run = profiled(['-e', 'sub f { my $x = 0; $x += $_ for 1 .. 100 } f() for 1 .. 50'],
        env => { PERL_DPROF_TREE => 1, PERL_DPROF_EVENTS => 'ops', PERL_HASH_SEED => 0 });
    my $out = "$dir/recorded.pb.gz";
    is(in_process('dprofexport', '-o', $out, $run->{profile})->{status}, 0, 'a recorded profile');
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

subtest 'times, options' => sub {
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
    is($ingest->{time}, 1e9 * ($now - 31) + 500_000_000, 'a start that is given');
    is($ingest->{duration}, 20e9, '... and seconds');
    is_deeply([@{ $ingest->{query} }{qw(from until format)}], [$now - 31, $now - 10, 'pprof'],
        '... in the query');
    is($coroot->{time}, 1e9 * ($now - 11) + 500_000_000, 'the end, for Coroot');
    is($push->{name}, 'perl', 'a name with Push');
    like($push->{id}, qr/\A[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\z/, '... a UUID');
    is($again->{id}, $push->{id}, '... the same when it is sent again');
    is("$parca->{name} $parca->{path}", 'perl /api/profiles/writeraw', 'a name for Parca');
};

subtest 'who sends' => sub {
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
        'a user, a password in a file');
    is($send->('parca', { USER => 'me', PASSWORD => "pa:ss w\xc3\xb6rd" }, @basic), 'taken',
        '... in the environment');
    is($send->('pyroscope', { USER => 'me', PASSWORD => 'x' }, @basic),
        'refused, 401 Unauthorized: invalid authentication credentials', '... a wrong one');
    is($send->('parca', { TOKEN => 'tok.en' }, token => 'tok.en'), 'taken', 'a token');
    is($send->('coroot', { TOKEN => 'k3y' }, key => 'k3y'), 'taken', 'a key');
    like($send->('coroot', {}, key => 'k3y'), qr/^refused, 404 Not Found: project not found/,
        '... that is missing');
    is($send->('push', { TENANT => 'team-a' }, tenant => 'team-a'), 'taken', 'a tenant');
    like($send->('push', { TENANT => "a\r\nX: y" }), qr/^DPROF_STORE_TENANT: must be printable/,
        'no header in a value');
    like($send->('push', { TOKEN => "a\n" }), qr/^DPROF_STORE_TOKEN: must be/, '... of a token');
    like($send->('push', { TOKEN => 'a', USER => 'b' }), qr/only one of them/, 'a token or a user');
    like($send->('push', { USER => 'a:b' }), qr/^DPROF_STORE_USER: a name holds no colon/,
        'a colon');
    like($send->('push', { TOKEN_FILE => "$dir/none" }), qr/^DPROF_STORE_TOKEN_FILE: .* cannot be/,
        'no such file');
};

# ---- what is refused ----

subtest 'times that Pyroscope does not take' => sub {
    for my $case ([pyroscope => 3700, 422], [push => 3700, 400], [pyroscope => -700, 422],
        [pyroscope => 3500, 200], [parca => 3700, 200], [coroot => 3700, 200]) {
        my ($kind, $ago, $status) = @$case;
        my $server = stand_in();
        my $failure = failure(sub {
            receiver($kind, $server->url)->take(profile(made_up($ago)));
        });
        my ($request) = $server->requests;
        is($request->{status}, $status, "$kind: $ago seconds old");
        next if $status == 200;
        like($failure, qr/refused, $status \w.*: profile is outside of ingestion window/,
            '... the message');
        like($failure->answer, qr/^$status .*\n\{"code":"invalid_argument"/, '... the answer');
        is($failure->retry, 0, '... not again');
    }
};

subtest 'sizes that Pyroscope does not take' => sub {
    my $server = stand_in();
    for my $case ([16_000, undef], [16_001, qr/refused, 422 .*: .* samples count limit/]) {
        my ($contexts, $message) = @$case;
        my $file = made_up(60, subs => [map { "main s$_ x.pl:$_" } 1 .. 400], lines => [
            '= 0 0 0 1 0 1 0 0 0 0', map { sprintf '= %d %x 1 1 0 1 0 0 1 0', 1 + int($_ / 400),
                1 + $_ % 400 } 0 .. $contexts - 2]);
        my $failure = failure(sub { receiver('pyroscope', $server->url)->take(profile($file)) });
        $message ? like($failure, $message, "$contexts contexts")
            : is($failure, undef, "$contexts contexts");
    }
};

subtest 'labels' => sub {
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
        ['pyroscope', { a => 'x,b=y' }, qr/^label a=x,b=y: must not hold , or \}/],
        ['pyroscope', { a => 'x}' }, qr/^label a=x\}: must not/],
        ['pyroscope', { a => ' x' }, qr/^label a= x: must not .* begin or end with a blank/],
        ['pyroscope', { a => "x\xc2\xa0" }, qr/^label a=x.*: must not .* with a blank/],
        ['pyroscope', { service_name => 'my shop' },
            qr{^label service_name=my shop: must be letters, digits and _ \. / -}],
        ['pyroscope push parca coroot', { a => "\xff" }, qr/^label a=\\xff: is not UTF-8/],
        ['pyroscope push parca coroot', { a => "\xed\xa0\x80" }, qr/^label a=.*: is not UTF-8/],
        ['pyroscope push parca coroot', { a => 'x' x 2049 }, qr/^label a=x+\.\.\.: must not have/],
        ['pyroscope push parca coroot', { map { ("l$_" => 1) } 1 .. 20 }, qr/21 labels: there may/],
    ) {
        my ($kinds, $labels, $message) = @$case;
        for my $kind (split ' ', $kinds) {
            my $failure = failure(sub {
                receiver($kind, $server->url, labels => $labels);
            });
            my ($first) = sort keys %$labels;
            like($failure, $message, "$kind: " . Devel::DProf::Text::shown($first));
        }
    }
    my $failure = failure(sub {
        receiver('parca', $server->url)->take(profile(made_up(60), service => ''));
    });
    like($failure, qr/^label service_name is missing/, 'no service');
    $failure = failure(sub {
        receiver('pyroscope', $server->url)->take(profile(made_up(60), host => "a\nb}"));
    });
    like($failure, qr/^label host=a\\x0ab\}: must not/, "a profile's own");
    is($failure->retry, 0, '... not again');
    is_deeply([$server->requests], [], 'nothing was sent');
};

# Values that the rules allow arrive as they are.
subtest 'hostile values' => sub {
    my @values = ('a=b', '{x', 'a"b\\c', "x\x0ay", "x\x00y", '%41+&?#', "\xc3\xa4\xe2\x82\xac",
        '{}', "'; DROP", '0', 'a b', "\xe2\x80\xae!");
    for my $kind (@KINDS) {
        my $server = stand_in();
        my @sent = grep { $kind ne 'pyroscope' || !/[,}]/ } @values, $kind eq 'pyroscope' ? ()
            : (' a,b} ', "\n");
        my $file = made_up(60);
        receiver($kind, $server->url, labels => { x => $_ })->take(profile($file)) for @sent;
        is_deeply([map { Encode::encode('UTF-8', $_->{labels}{x} // 'none') } $server->requests],
            \@sent, $kind);
    }
    my $server = stand_in();
    receiver($_, $server->url)->take(profile(made_up(60), service => "my \xe2\x82\xac, {shop}"))
        for qw(push parca coroot);
    is_deeply([map { $_->{labels}{service_name} } $server->requests],
        [("my \x{20ac}, {shop}") x 3], 'a service');
};

subtest 'files' => sub {
    my $server = stand_in();
    my $failure;
    {
        # What is wrong with a file is said by what reads it.
        open my $keep, '>&', \*STDERR or die $!;
        close STDERR;
        open STDERR, '>', "$dir/stderr" or die $!;
        $failure = failure(sub {
            receiver('pyroscope', $server->url)->take(profile(spew("$dir/bad", "no profile\n")));
        });
        open STDERR, '>&', $keep or die $!;
    }
    like(slurp("$dir/stderr"), qr/^Not a perl profile: \Q$dir\E\/bad$/, 'no profile: a message');
    like($failure, qr/\/bad: no pprof file can be made of it/, '... it fails');
    is($failure->retry, 0, '... for good');
    is_deeply([$server->requests], [], '... nothing was sent');
};

# ---- answers ----

subtest 'answers' => sub {
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
            like($failure, $message, "$kind: $does");
            like($failure, qr/\A$kind:http:[^\n]+\n\z/, '... one line that names the server');
            is($failure->retry, $retry, $retry ? '... again' : '... not again');
            is($failure->{after}, $does =~ /After: (\d+)/ ? $1 : undef, '... when');
            is(failure(sub { $receiver->take($profile) }), undef, '... then it is taken');
            is(scalar(my @all = $server->requests), 2, '... two requests');
        }
    }
};

subtest 'what an answer says' => sub {
    for my $case (['', ''], ["\n one \r\ntwo", 'one'], ['{"message":"a\nb","code":1}', 'a'],
        ['{"message":[1]}', '{"message":[1]}'], ['{"message":', '{"message":'],
        ["\e[2J", '\\x1b[2J'], ['x' x 300, 'x' x 300], ['x' x 301, 'x' x 300 . ' ...']) {
        my ($answer, $said) = @$case;
        is(Devel::DProf::Store::Http::answer_line($answer), $said, substr $said, 0, 20);
    }
};

subtest 'no answer' => sub {
    my $server = stand_in();
    my $url = $server->url;
    $server->stop;
    my $failure = failure(sub { receiver('coroot', $url)->take(profile(made_up(60))) });
    like($failure, qr/\Acoroot:\Q$url\E: no answer: Could not connect/, 'nobody is there');
    is($failure->retry, 1, '... again');
    $server = stand_in(does => ['silent']);
    my $receiver = receiver('coroot', $server->url, timeout => 0.2);
    $failure = failure(sub { $receiver->take(profile(made_up(60))) });
    like($failure, qr/: no answer: Timed out/, 'a server that says nothing');
    is($failure->retry, 1, '... again');
};

subtest 'addresses' => sub {
    for my $url ('pyroscope:host:4040', 'parca:ftp://h/', 'coroot:http://', 'coroot:http://h/?a=b',
        "parca:http://h\r\nX: y/") {
        like(failure(sub { Devel::DProf::Store::open($url) }), qr{must be an address like http://},
            Devel::DProf::Text::shown($url));
    }
    like(failure(sub { Devel::DProf::Store::open('parca:http://u:p@h/') }), qr/holds no user/,
        'a password in it');
    like(failure(sub { receiver('pyroscope', 'http://h', profile_name => 'x') }),
        qr/needs --push-api/, 'a name without Push');
    like(failure(sub { receiver('push', 'http://h', profile_name => 'x-y') }),
        qr/the profile's name x-y: must be letters/, 'a bad name');
    like(failure(sub { receiver('coroot', 'http://h', profile_name => 'x') }),
        qr/^coroot:http:\/\/h: it has no --profile-name/, 'an option of others');
    no warnings 'redefine';
    local *HTTP::Tiny::can_ssl = sub { return (0, 'absent') };
    like(failure(sub { receiver('parca', 'https://h') }), qr/needs the Perl module IO::Socket::SSL/,
        'https without its module');
    local *HTTP::Tiny::can_ssl = sub { return 1 };
    ok(receiver('parca', 'https://h')->{http}{http}->verify_SSL, 'https checks certificates');
};

subtest 'https' => sub {
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
    like($failure, qr/no answer: SSL connection failed/, 'a certificate that nobody has signed');
    ok($failure->retry, '... what is to be sent stays');
    is(scalar(my @none = $server->requests), 0, '... and no password is');
    $ENV{SSL_CERT_FILE} = "$dir/server.pem";
    receiver('parca', $server->url)->take(profile(made_up(60)));
    my @requests = $server->requests;
    is(join(' ', map { $_->{status} } @requests), '200', 'one that is known: taken');
    is_deeply(totals($requests[0]), \%TOTALS, '... whole');
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

subtest 'dprofstore push' => sub {
    my $spool = spool_of(60, 3700, 50);
    my $server = stand_in(does => ['', '', '503 Retry-After: 9']);
    my @push = ('push', '--to', 'pyroscope:' . $server->url, '--service', 'web', '--version', '1.3',
        '--host', 'h1', '--label', 'region=eu', '--delete', $spool);
    my $run = in_process('dprofstore', @push);
    is($run->{status}, 1, 'one is refused, one is to wait');
    is($run->{out}, "1 profile pushed, 1 refused\n", '... it says');
    like($run->{err}, qr/refused, 422 Unprocessable Entity: .*it is now .*\n.*: 503 .*stays where/,
        '... why');
    is(files($spool), 'web-a1.b2.c3-7-0-3.tree', 'what has arrived is gone, the rest is there');
    is(files("$spool/refused"), 'web-a1.b2.c3-7-0-2.tree web-a1.b2.c3-7-0-2.tree.why',
        'what was refused is aside');
    like(slurp("$spool/refused/web-a1.b2.c3-7-0-2.tree.why"), qr/outside of ingestion window/,
        '... with the answer');
    $run = in_process('dprofstore', @push);
    is("$run->{status} $run->{out}$run->{err}", "0 1 profile pushed\n", 'once more: the rest');
    is(files($spool), '', '... is gone');
    my @requests = $server->requests;
    is(join(' ', map { $_->{status} } @requests), '200 422 503 200', 'no profile is sent twice');
    is_deeply($requests[3]{labels}, { __delta__ => 'false', pyroscope_spy => 'dprof',
        service_name => 'web', version => '1.3', host => 'h1', region => 'eu' }, 'labels');
};

subtest 'the agent waits as long as it is asked to' => sub {
    my $spool = spool_of(60);
    my $server = stand_in(does => ['503 Retry-After: 17', '429 Retry-After: 9999', '503']);
    my @waits;
    my $push = Devel::DProf::Store::Push->new(target => receiver('pyroscope', $server->url),
        service => 'web', delete => 1, say => sub { }, stop => sub { return @waits > 3 });
    $push->loop(2, sub { push @waits, $_[0] }, sub { }, $spool);
    is("@waits", '17 300 300 2', 'no longer than five minutes');
    is(files($spool), '', 'then it has arrived');
};

subtest 'dprofstore: other receivers, what is wrong' => sub {
    my $server = stand_in();
    my $url = $server->url;
    for my $to (["pyroscope:$url", '--push-api', '--profile-name', 'perl'], ["parca:$url"],
        ["coroot:$url", '--label', 'k8s.pod=x']) {
        my $run = in_process('dprofstore', 'push', '-q', '--to', @$to, '--service', 'my shop',
            made_up(60));
        is("$run->{status}$run->{out}$run->{err}", '0', $to->[0] =~ s/:.*//r);
    }
    my @requests = $server->requests;
    is(join(' ', map { "$_->{status} $_->{labels}{service_name}" } @requests),
        '200 my shop 200 my shop 200 my shop', 'they have them');
    for my $case (
        [['--to', "pyroscope:$url", '--version', '1,2'], qr/^dprofstore: label version=1,2: must/],
        [['--to', "pyroscope:$url", '--service', 'my shop'],
            qr/: label service_name=my shop: must/],
        [['--to', "parca:$url", '--push-api'], qr/parca:\S+: it has no --push-api$/],
        [['--to', "parca:$url", '--label', 'a-b=c'], qr/: label a-b: must be/],
        [['--to', "dir:$dir/store", '--label', 'a=b'], qr/: --label is for receivers; dir:/],
        [['--to', "dir:$dir/store", '--push-api'], qr/: --push-api is for receivers; dir:/],
    ) {
        my ($args, $message) = @$case;
        my $spool = spool_of(60);
        my $run = in_process('dprofstore', 'push', '--delete', @$args, $spool);
        like($run->{err}, $message, "@$args");
        is("$run->{status} " . files($spool), '1 web-a1.b2.c3-7-0-1.tree', '... nothing is moved');
    }
    my $run = in_process('dprofstore', 'list', '--from', "parca:$url");
    like($run->{err}, qr/takes profiles, and has no way to give them back/, 'list');
    is(scalar(@requests = $server->requests), 3, 'nothing more was sent');
};

# ---- the stand-in itself ----

subtest 'the stand-in refuses what it should' => sub {
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
        is($got->{status}, $status, "$path: $status") or diag($got->{content});
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
        is($got->{status}, $status, "writeraw: $status") or diag($got->{content});
    }
};

done_testing;
