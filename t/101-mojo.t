# Mojolicious::Plugin::DProf: what each route costs, by its phase; with the counting clock every
# call is known. Most requests come without a server.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use DProfTest;
use PhaseReader;

plan skip_all => 'there is no Mojolicious' if !PhaseReader::has('Mojolicious::Lite');

# What the programs share: an application, and transactions as a server makes them.
my $APP = <<'END';
use strict; use warnings;
use Mojolicious::Lite; use Mojo::Server; use Mojo::Promise; use Devel::DProf::Control ();
my %opt; BEGIN { %opt = eval($ENV{OPTIONS} // '') }
sub row { 1 } sub tick { 1 } sub rows { row() for 1 .. $_[0]; return "$_[0]\n" } sub step { 1 }
app->log->level('fatal'); app->secrets(['x']); app->mode('production');
plugin DProf => \%opt;
hook before_dispatch => sub { step() };
get '/' => sub { $_[0]->render(text => rows(1)) };
get '/user/:id' => sub { $_[0]->render(text => rows($_[0]->param('id'))) };
post '/user/:id' => sub { $_[0]->render(text => rows(2)) };
any '/any' => sub { $_[0]->render(text => rows(4)) };
get '/dies' => sub { row(); die "no\n" };
get '/named' => sub { $_[0]->dprof_name('a name'); row(); $_[0]->render(text => 'x') };
group { under '/in' => sub { row(); return !$_[0]->param('no') };
    get '/side' => sub { $_[0]->render(text => rows(5)) } };
our @later;
get '/later/:n' => sub { my ($c) = @_; row(); $c->render_later; push @later, $c };
get '/chunks' => sub { my ($c) = @_; row(); $c->write_chunk('a'); push @later, $c };
get '/promise' => sub { my ($c) = @_; $c->render_later; my $p = Mojo::Promise->new;
    push @later, $p; return $p->then(sub { row(); $c->render(text => 'kept') }) };
websocket '/ws' => sub { my ($c) = @_; row();
    $c->on(message => sub { tick(); $_[0]->send('ok') }) };
my $server = Mojo::Server->new(app => app); app->server($server);
sub ask { my ($method, $path) = @_; my $tx = $server->build_tx; $tx->req->method($method);
    $tx->req->url->parse($path); $server->emit(request => $tx); return $tx }
sub told { my ($tx) = @_; print $tx->res->code // 'nothing', ' ', $tx->res->body, "\n" }
END

sub phases {
    my ($name, $program, %env) = @_;
    my $file = spew(scratch() . '/p.pl', $APP . $program);
    my @with = ('-I' . root() . '/blib/lib', $file);
    $env{MOJO_REACTOR} = 'Mojo::Reactor::Poll';
    my $plain = plain([@with], env => { PERL5LIB => tree(), %env });
    is("$plain->{err}$plain->{raw}", 0, "$name runs without the profiler");
    my $run = profiled([@with], env => { counting(), PERL_DPROF_MODE => 'tree', %env });
    same_as_plain($plain, $run, "$name does the same with the profiler");
    my $calls = PhaseReader::calls($run->{profile}, qr/^main::(?:row|tick|step)\z/);
    return ($calls, $run);
}

{
    my ($calls, $run) = phases('routes', <<'END');
told(ask(GET => '/user/7')); told(ask(GET => '/user/30')); told(ask(POST => '/user/30'));
told(ask(GET => '/')); told(ask(HEAD => '/')); told(ask(MADEUP => '/any'));
told(ask(GET => '/in/side')); told(ask(GET => '/in/side?no=1')); ask(GET => '/none'); tick();
ask(GET => '/dies')->closed; tick(); told(ask(GET => '/named')); tick();
END
    is_deeply($calls, {
        'GET /user/:id main::row' => 37, 'POST /user/:id main::row' => 2, 'GET / main::row' => 1,
        'HEAD / main::row' => 1, 'OTHER /any main::row' => 4, 'GET /in/side main::row' => 7,
        'GET /dies main::row' => 1, 'a name main::row' => 1, 'main main::tick' => 3,
        '(no route) main::step' => 11,
    }, 'each route has its calls') or diag explain $calls;
    is_deeply(PhaseReader::calls($run->{profile},
        qr/^(?:Mojolicious::Plugin::DProf|Devel::DProf::Requests)::/), {},
        "the profile has none of the plugin's own subs");
}
{
    my ($calls) = phases('later', <<'END');
my $first = ask(GET => '/later/1'); tick(); my $second = ask(GET => '/chunks'); tick() for 1 .. 10;
(shift @later)->render(text => 'first'); told($first); tick() for 1 .. 100;
$second->closed; tick() for 1 .. 1000;
my $third = ask(GET => '/promise'); shift @later; my $p = shift @later; $p->resolve; $p->wait;
told($third); $_->closed for $first, $third; ask(GET => '/later/2'); undef @later; tick();
END
    is_deeply($calls, {
        'GET /later/:n main::row' => 2, 'GET /later/:n main::tick' => 1,
        'GET /chunks main::row' => 1, '(overlapping requests) main::tick' => 10,
        'GET /chunks main::tick' => 100, 'GET /promise main::row' => 1,
        'main main::tick' => 1001, '(no route) main::step' => 4,
    }, 'overlapping requests have the calls that certainly belong to them') or diag explain $calls;
}
{
    my ($calls) = phases('slower than 10 ms', <<'END', OPTIONS => 'slower => 0.01');
sub wait_for { Devel::DProf::_advance(20_000_000, 0) if defined Devel::DProf::Control::phase() }
ask(GET => '/user/7'); ask(POST => '/user/30'); tick();
my $first = ask(GET => '/later/1'); wait_for(); (shift @later)->render(text => 'x'); tick();
told(ask(GET => '/named')); hook after_dispatch => sub { wait_for() }; ask(GET => '/user/9');
END
    is_deeply($calls, { 'GET /user/:id main::row' => 9, 'GET /later/:n main::row' => 1,
        '(no route) main::step' => 2, 'main main::tick' => 2 },
        'slow requests are recorded from beginning to end, and what runs outside of them')
        or diag explain $calls;
}
{
    my ($calls) = phases('every second',
        <<'END', OPTIONS => 'every => 2', PERL_DPROF_START => 'no');
ask(GET => "/user/$_"), tick() for 1 .. 5; ask(GET => '/user/6')->closed;
END
    is_deeply($calls, { 'GET /user/:id main::row' => 9, '(no route) main::step' => 3 },
        'only what belongs to requests is recorded');
    ($calls) = phases('a name',
        'ask(GET => "/user/$_"), tick() for 1 .. 5; ask(GET => "/named"); tick()',
        OPTIONS => 'name => sub { my ($c) = @_; my $id = $c->param("id") // 0; '
            . 'die if $id == 2; $SIG{__WARN__} = sub { }; return $id % 2 ? "odd" : undef }');
    is_deeply($calls, { 'odd main::row' => 9, 'GET /user/:id main::row' => 6,
        'a name main::row' => 1, 'main main::tick' => 6, '(no route) main::step' => 6 },
        'the option names the phases')
        or diag explain $calls;
}
{
    my ($calls) = phases('a mounted application', <<'END');
my $sub = Mojolicious->new; $sub->log->level('fatal'); $sub->plugin('DProf');
$sub->routes->get('/page/:n' => sub { $_[0]->render(text => rows(3)) });
app->routes->any('/shop')->partial(1)->to(app => $sub);
told(ask(GET => '/shop/page/5')); tick();
END
    is_deeply([@$calls{'GET /shop/page/:n main::row', 'main main::tick'}], [3, 1],
        'a mounted application has its routes')
        or diag explain $calls;
}
SKIP: {
    skip 'there is no Plack', 3 if !PhaseReader::has('Plack::Middleware');
    my ($calls) = phases('under Plack', <<'END');
require Mojo::Server::PSGI; require Plack::Middleware::DProf;
my $psgi = Plack::Middleware::DProf->wrap(Mojo::Server::PSGI->new(app => app)->to_psgi_app);
open my $in, '<', \'' or die;
my $got = $psgi->({ REQUEST_METHOD => 'GET', SCRIPT_NAME => '', PATH_INFO => '/user/7',
    QUERY_STRING => '', HTTP_HOST => 'x', SERVER_PORT => 80, 'psgi.input' => $in,
    'psgi.url_scheme' => 'http' });
print $got->[2]->getline, $got->[2]->getline // '', "\n"; $got->[2]->close; tick();
END
    is_deeply($calls, { 'GET /user/:id main::row' => 7, 'GET /user/N main::step' => 1,
        'main main::tick' => 1 }, 'the middleware and the plugin together have the routes')
            or diag explain $calls;
}
{
    my ($calls) = phases('a server', <<'END');
require Test::Mojo; $ENV{HARNESS_IS_VERBOSE} = 0;
my $t = Test::Mojo->new(app);
print $t->ua->get($_)->res->body for qw(/user/3 /user/4);
print $t->ua->get("/dies")->res->code;
$t->websocket_ok('/ws')->send_ok('x')->message_ok->finish_ok for 1, 2;
tick(); Test::More::done_testing();
END
    is_deeply([@$calls{'GET /user/:id main::row', 'GET /dies main::row', 'WEBSOCKET /ws main::row',
        'main main::tick'}], [7, 1, 2, 3],
            'WebSockets are outside of requests after their handshake')
        or diag explain $calls;
}

done_testing();
