# An application of Mojolicious on DBIx::Class: mojo.pl DSN USER URL LOG. It logs each request, and
# ends at /quit.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Mojolicious::Lite;
use Mojo::Server::Daemon;
use Shop;

my ($dsn, $user, $url, $log) = @ARGV;
my $shop = Shop->filled($dsn, $user);
my $daemon;
app->log->level('fatal');
app->renderer->paths(["$FindBin::Bin/templates"]);
hook before_dispatch => sub {
    my ($c) = @_;
    open my $out, '>>', $log or die "$log: $!\n";
    print {$out} join(' ', $c->req->method, $c->req->url->path), "\n";
};
get '/artists' => sub {
    my ($c) = @_;
    $c->render(template => 'artists', artists => [$shop->resultset('Artist')->all]);
};
any '/artist/:id' => sub {
    my ($c) = @_;
    my $artist = $shop->resultset('Artist')->find($c->param('id')) or return $c->reply->not_found;
    $c->render(template => 'artist', artist => $artist);
};
get '/inline' => sub { shift->render(inline => 'in <%= 1 + 1 %> line') };
get '/moved' => sub { shift->redirect_to('/text') };
any '/text' => sub { shift->render(text => 'ok') };
get '/quit' => sub {
    my ($c) = @_;
    $c->render(text => 'bye');
    Mojo::IOLoop->timer(0.1 => sub { Mojo::IOLoop->stop });
};
$daemon = Mojo::Server::Daemon->new(app => app, listen => [$url], silent => 1);
$daemon->run;
