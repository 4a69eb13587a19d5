# What is too large, or never ends: packed files of spools; servers that trickle, flood, or say
# wrong lengths. It is refused or fails in bounded memory and time, the rest goes on, and SIGTERM
# ends it. No message has a password.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Compress::Zlib ();
use IO::Socket::INET;
use POSIX ();
use Slices;
use Test::More;
use Devel::DProf::Store;
use Devel::DProf::Store::ClickHouse;
use Devel::DProf::Store::Failure;
use Devel::DProf::Store::Http;
use Devel::DProf::Store::Push;

alarm 300;
# The limits, 1/64 of what they are for users.
my $MOST = 1 << 22;
is($_, 1 << 28, 'the limit of a text is 256 MiB') for $Devel::DProf::Store::Spool::Most,
    $Devel::DProf::Store::ClickHouse::Server::Most;
$_ = $MOST for $Devel::DProf::Store::Spool::Most, $Devel::DProf::Store::ClickHouse::Server::Most;

sub dies {
    my ($code) = @_;
    return eval { $code->(); 1 } ? 'it lives' : Devel::DProf::Store::Failure->of($@)->message;
}

# ---- files ----

# A slice with a line that has no end, packed: 4 KB for each 4 MB.
sub bomb {
    my ($path, $begin, $megabytes) = @_;
    my $gz = Compress::Zlib::gzopen($path, 'wb9') or die "$path: $!";
    $gz->gzwrite($begin);
    my $zeros = "\0" x (1 << 20);
    $gz->gzwrite($zeros) for 1 .. $megabytes;
    $gz->gzclose;
    return $path;
}

{
    package Server;
    sub new { return bless { got => 0 }, shift }
    sub ask {
        my ($self, $path, $headers, $content, %more) = @_;
        $self->{got} += length $content;
        return { status => 200, content => '', headers => {} };
    }
}

for my $begin (slice_text(slice => 9), '') {
    my $dir = spool_of(2, 'store');
    my $what = length $begin ? 'a packed slice that is endless' : 'packed zeros';
    bomb("$dir/spool/a.tree.gz", $begin, 6);
    my $server = Devel::DProf::Store::ClickHouse->new('http://h:8123/d', http => Server->new);
    my @said;
    my $done = Devel::DProf::Store::Push->new(target => $server, delete => 1,
        say => sub { push @said, $_[0] })->pass("$dir/spool");
    is_deeply([@$done{qw(sent refused failure)}], [2, 1, undef],
        "$what: push sends the other profiles");
    my $why = "$dir/spool/a.tree.gz: unpacked, it has more than $MOST bytes";
    is_deeply(\@said, ["$why; it is now $dir/spool/refused/a.tree.gz"],
        "$what: push says why it moves the profile aside");
    is(slurp("$dir/spool/refused/a.tree.gz.why"), "$why\n",
        "$what: the reason lies beside the refused profile");
    is(join(' ', grep { !/\A(?:refused|\.lock)/ } files_in("$dir/spool")), '',
        "$what: push leaves no other file");
}
{
    my $dir = spool_of(2, 'store');
    open my $out, '>', "$dir/spool/a.tree" or die $!;
    truncate $out, 1 << 33;     # without blocks
    close $out;
    my $run = run_tool('dprofstore', [qw(push --to dir:store --delete spool)], dir => $dir);
    is($run->{err}, "dprofstore: spool/a.tree: the file has more than $MOST bytes; it is now "
        . "spool/refused/a.tree\n", 'a plain file above the limit is refused');
    is($run->{out}, "2 profiles pushed, 1 refused\n",
        'push sends the profiles beside the plain file');
}
{
    # What a person names is no spool's, but the rows of a tree are made in memory.
    my $file = bomb(scratch() . '/x.tree.gz', slice_text(slice => 9), 6);
    is(dies(sub { Devel::DProf::Store::ClickHouse::plain_text($file) }),
        "$file: unpacked, it has more than $MOST bytes",
            'a named file above the limit is an error');
    my ($text, $to) = (slice_text(lines => "# \n" x 100_000), scratch() . '/y');
    open my $out, '>:raw', $to or die $!;
    is(Devel::DProf::Store::gzipped(spew("$to.tree", $text), $out), 0,
        'a text can be compressed by pieces');
    close $out;
    is(gunzipped($to), $text, 'a text that was compressed by pieces is the same');
}

# ---- servers ----

# Runs a server for one request, in a process of its own; CODE gets the connection. Returns its
# address, and a sub that ends it. Its loops are bounded, and end when the client leaves.
sub server {
    my ($code) = @_;
    my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 0, Listen => 5)
        or die "127.0.0.1: $!";
    my $pid = fork // die "fork: $!";
    if (!$pid) {
        $SIG{PIPE} = 'DEFAULT';
        alarm 120;
        my $client = $listener->accept;
        my $text = '';
        my $is_whole = sub {
            my ($head, $body) = $text =~ /\A(.*?\r\n)\r\n(.*)\z/s or return 0;
            return length $body >= ($head =~ /^Content-Length: (\d+)/mi ? $1 : 0);
        };
        # A connection that is closed with unread bytes is reset.
        sysread $client, $text, 65_536, length $text or last until $is_whole->();
        $code->($client);
        POSIX::_exit(0);
    }
    return ('http://127.0.0.1:' . $listener->sockport, sub { kill 'KILL', $pid; waitpid $pid, 0 });
}

sub sends { my ($to, $text) = @_; return syswrite $to, $text }

my $OK = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";
my $MANY = 100_000_000;

sub trickle {
    my ($client) = @_;
    for (1 .. $MANY) { sends($client, 'x') or return; select undef, undef, undef, 0.05 }
    return;
}

my %SERVER = (
    'endless 100 Continue' => [sub { sends($_[0], "HTTP/1.1 100 Continue\r\n\r\n" x 100) or return
        for 1 .. $MANY }, qr/the server has sent 20 interim answers, and no final one/],
    'endless rows' => [sub { sends($_[0], "$OK\r\n");
        my $rows = ("1\t" . 'x' x 998 . "\n") x 10; sends($_[0], $rows) or return for 1 .. $MANY },
        qr/the answer has more than $MOST bytes/],
    'an endless row' => [sub { sends($_[0], "$OK\r\n");
        my $row = 'x' x 65_536; sends($_[0], $row) or return for 1 .. $MANY },
        qr/the answer has more than $MOST bytes/],
    'endless chunks' => [sub { sends($_[0], $OK . "Transfer-Encoding: chunked\r\n\r\n");
        my $row = "10000\r\n" . 'x' x 65_536 . "\r\n"; sends($_[0], $row) or return
        for 1 .. $MANY }, qr/the answer has more than $MOST bytes/],
    'an endless header' => [sub { sends($_[0], $OK); my $more = 'X-Y: ' . 'z' x 1000 . "\r\n";
        sends($_[0], $more) or return for 1 .. $MANY }, qr/no answer: /],
    'an endless error' => [sub { sends($_[0], "HTTP/1.1 500 Oops\r\n\r\n");
        my $row = 'x' x 65_536; sends($_[0], $row) or return for 1 .. 1000 },
        qr/exceeds the maximum allowed of 16777216/],
    'a length that is too large' => [sub { sends($_[0], "${OK}Content-Length: 100\r\n\r\n1\n") },
        qr/no answer: Unexpected end of stream/],
    'a byte now and then' => [sub { sends($_[0], "$OK\r\n"); trickle($_[0]) },
        qr/the answer takes too long/],
    'a header now and then' => [\&trickle, qr/the answer takes too long/],
);

sub asked {
    my ($url, %how) = @_;
    my $http = Devel::DProf::Store::Http->new('it', $url, %how);
    my $server = Devel::DProf::Store::ClickHouse::Server->new("$url/d", http => $http);
    my $n = 0;
    my $why = dies(sub { $server->each_line('SELECT 1', sub { $n++ }) });
    return ($why, $n);
}

# A clock that moves on only where it is read, so that no test waits for a real one.
sub clock { my ($step) = @_; my $time = 0; return sub { return $time += $step } }

for my $what (sort keys %SERVER) {
    my ($code, $like) = @{ $SERVER{$what} };
    my ($url, $end) = server($code);
    my ($why) = asked($url, $what =~ /now and then/ ? (now => clock(301)) : ());
    like($why, $like, "the message says what is wrong: $what");
    cmp_ok(length $why, '<', 1000, "the message is short: $what");
    $end->();
}
{
    my ($url, $end) = server(sub { sends($_[0], "${OK}Content-Length: 2\r\n\r\n1\n2\n3\n") });
    is_deeply([asked($url)], ['it lives', 1], 'a length that is too small ends the answer');
    $end->();
    ($url, $end) = server(\&trickle);
    my $stop = 0;
    is((asked($url, now => clock(6), stop => sub { return $stop++ }))[0],
        'it: no answer: the answer takes too long', 'a request that should end has a while');
    is($stop, 2, 'a request that should end asks twice');
    $end->();
}
like((asked('http://127.0.0.1:1'))[0], qr/no answer: Could not connect/,
    'a missing server gives a message');

# The agent ends while a server trickles.
{
    my ($url, $end) = server(sub { sends($_[0], "$OK\r\n"); trickle($_[0]) });
    my $dir = spool_of(1);
    my $pid = open(my $out, '-|') // die "fork: $!";
    if (!$pid) {
        chdir $dir or die "$dir: $!";
        delete @ENV{grep { /^DPROF/ } keys %ENV};
        open STDERR, '>', "$dir/err" or die $!;
        $SIG{TERM} = 'DEFAULT';
        my $sender = q{no warnings 'redefine'; require Devel::DProf::Store::Http;
            my $n = 0; my $new = \&Devel::DProf::Store::Http::new;
            # The clock moves on a second for each look, and a signal comes with the first.
            *Devel::DProf::Store::Http::new = sub { $new->(@_, now => sub {
                kill 'TERM', $$ if ++$n == 2; return 20 * $n }) };
            require Devel::DProf::Tool::Dprofstore;
            exit Devel::DProf::Tool::Dprofstore::main(@ARGV)};
        exec $^X, map({ "-I$_" } grep { !ref } @INC), '-e', $sender,
            'agent', '--to', "pyroscope:$url", 'spool';
    }
    is(join('', readline $out), '', 'SIGTERM ends the agent while an answer trickles');
    close $out;
    is($?, 0, 'the agent exits with status 0');
    like(slurp("$dir/err"), qr/\Adprofstore: pyroscope:\S+ no answer: the answer takes too long; /,
        'the agent says that the answer took too long');
    is(scalar(() = grep { /tree\z/ } files_in("$dir/spool")), 1, 'the profile stays in the spool');
    $end->();
}

# ---- passwords ----

my $SECRET = 's3cr3t';
my @bad = map { my $scheme = $_; map { "$scheme$_" } "user:$SECRET\@h:8123/d", "http:/u:$SECRET\@h",
    "http//u:$SECRET\@h/d", "http://u:$SECRET\@h:8123/d", "http://u:a/$SECRET\@h/d",
    "http://u:$SECRET", "http://h:8123/d?password=$SECRET", "http://h#$SECRET", "//u:$SECRET\@h",
    "http://u:a\@$SECRET\@h/d", "http://u:$SECRET%40h/d", "https://u:$SECRET\@", "u:$SECRET",
    "http://h:$SECRET/d", "\nhttp://u:$SECRET\@h", "http:// u:$SECRET\@h/d" }
    'clickhouse:', 'pyroscope:', 'parca:', 'coroot:', 'clickhous:', 'dri:', 'CLICKHOUSE:';
push @bad, "http://u:$SECRET\@h:8123/d", "u:x$SECRET\@h", "//u:$SECRET\@h";
my ($told, $silent) = (0, 0);
for my $url (@bad) {
    for my $command (['list', '--from'], ['push', '--to']) {
        my @args = (@$command, $url, $command->[0] eq 'push' ? 'none' : ());
        my $run = in_process('dprofstore', @args);
        $told++, diag("@args: $run->{err}") if "$run->{out}$run->{err}" =~ /$SECRET/;
        $silent++, diag("@args") if $run->{err} !~ /\Adprofstore: \S/ || !$run->{status};
    }
}
is($told, 0, 'no message about a wrong URL has its password');
is($silent, 0, 'every wrong URL gives a message');
is(dies(sub { Devel::DProf::Store::open($_) }), "$_: a store is dir:PATH, "
    . 'clickhouse:http://HOST:8123/DATABASE, or one that dprofstore -h lists',
    "the message has $_ unchanged")
    for 'ftp:x', '/var/lib/dprof', 'http://h:8123/d';

done_testing;
