# A server of Mojolicious that answers a number of requests on eight connections at once, and then
# prints its CPU time. The client is a process of its own, without a profiler. Other benchmarks load
# this file for `answers`.
use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my ($requests, $port) = caller ? () : @ARGV;
$port ? client() : server() if !caller;

sub client {
    require IO::Socket::INET;
    my @open = map { IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $port)
            || die "bench: $!\n" } 1 .. 8;
    for my $turn (1 .. $requests / @open) {
        syswrite $_, "GET /page/$turn HTTP/1.1\r\nHost: localhost\r\n\r\n" for @open;
        answer($_) for @open;
    }
    return;
}

sub answer {
    my ($socket) = @_;
    my ($text, $end) = ('');
    while (!defined $end || length $text < $end) {
        sysread $socket, $text, 65536, length $text or exit 1;      # the server has ended
        next if $text !~ /\r\n\r\n/;
        $end = $+[0] + ($text =~ /^Content-Length: (\d+)/m)[0];
    }
    die "bench: $text\n" if $text !~ /\AHTTP\S+ 200 /;
    return;
}

sub listening {
    require Mojolicious::Lite;
    require Mojo::Server::Daemon;
    Mojolicious::Lite->import;
    my $app = app();
    $app->mode('production');
    $app->log->level('fatal');
    $app->secrets(['x']);
    get('/page/:n' => sub {
        my ($c) = @_;
        my $n = $c->param('n');
        my @rows = map { { id => $_, name => "row $_ of $n" } } 1 .. 20;
        $c->render(template => 'page', rows => \@rows);
    });
    my $daemon = Mojo::Server::Daemon->new(app => $app, listen => ['http://127.0.0.1'], silent => 1,
        max_requests => 1_000_000_000, max_clients => 100);
    $daemon->start;
    $app->hook(after_dispatch => $_[0]) if $_[0];
    return $daemon;
}

my ($client, $said);        # the client's process ID, and a handle that waits for its end
END { kill TERM => $client if $client }

# Starts a client that sends requests until this process ends. Returns a function that answers a
# given number of requests.
sub answers {
    my $answered = 0;
    my $daemon = listening(sub { $answered++ });
    $client = open $said, '-|', $^X, __FILE__, 1_000_000_000, $daemon->ports->[0]
        or die "bench: $!\n";
    return sub {
        my $end = $answered + $_[0];
        $daemon->ioloop->one_tick while $answered < $end;
        return;
    };
}

sub server {
    my $daemon = listening();
    open my $ends, '-|', $^X, $0, $requests, $daemon->ports->[0] or die "bench: $!\n";
    my $loop = Mojo::IOLoop->singleton;
    $loop->reactor->io($ends => sub { $loop->stop })->watch($ends, 1, 0);
    $loop->start;
    $loop->reactor->remove($ends);
    close $ends or die "bench: the client failed\n";
    return;
}

END { printf "=cpu %.6f\n", clock_gettime(CLOCK_PROCESS_CPUTIME_ID) if $requests && !$port }

1;

__DATA__
@@ page.html.ep
<html><head><title>Page <%= $n %></title></head><body><table>
% for my $row (@$rows) {
<tr><td><%= $row->{id} %></td><td><%= $row->{name} %></td></tr>
% }
</table></body></html>
