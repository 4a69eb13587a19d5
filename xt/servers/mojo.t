# Mojolicious::Plugin::DProf under real servers: prefork, hypnotoad, and the plain daemon.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use Test::More;
use DProfTest;
use PhaseReader;
use Servers;

plan skip_all => 'there is no Mojolicious' if !PhaseReader::has('Mojolicious::Lite');

my $port = free_port();
my $app = spew(scratch() . '/app.pl', <<"END" . <<'END');
use Mojolicious::Lite;
app->config(hypnotoad => { listen => ['http://127.0.0.1:$port'], workers => 3 });
END
app->log->level('fatal'); app->mode('production'); app->secrets(['x']);
plugin 'DProf';
sub Shop::row { 1 } sub Shop::page { Shop::row() for 1 .. $_[0]; return "page $_[0]" }
get '/page/:n' => sub { $_[0]->render(text => Shop::page($_[0]->param('n'))) };
get '/stream' => sub { my ($c) = @_; my $left = 3;
    my $more; $more = sub { Shop::row(); $left-- ? $c->write_chunk("part\n", $more) : $c->finish };
    $more->() };
get '/dies' => sub { Shop::row(); die "dead\n" };
app->start;
END

sub ask {
    my ($port) = @_;
    is(get($port, "/page/$_"), "200 page $_", "page $_") for 1 .. 12;
    is(get($port, '/stream'), "200 part\npart\npart\n", 'a stream') for 1, 2;
    like(get($port, '/dies'), qr/^500 /, 'an action that dies');
    return;
}

# hypnotoad starts a new perl in its place, which has no -d.
my %anew = (PERL5OPT => '-d:DProf', PERL5LIB => join(':', tree(), root() . '/blib/lib'));
my $listen = "http://127.0.0.1:$port";
for my $server (['daemon', [$app, 'daemon', '-l', $listen], 'TERM'],
    ['prefork', [$app, 'prefork', '-w', 3, '-P', scratch() . '/pid', '-l', $listen], 'QUIT'],
    ['hypnotoad', [program('hypnotoad'), '-f', $app], 'QUIT']) {
    my ($name, $args, $signal) = @$server;
    subtest $name => sub {
        plan skip_all => "there is no $name" if grep { !defined } @$args;
        my $dir = serve(\&ask, port => $port, args => $args, signal => $signal,
            env => $name eq 'hypnotoad' ? \%anew : {});
        my @files = files_of($dir);
        cmp_ok(scalar @files, '>=', 4, 'each worker has its file') if $name ne 'daemon';
        my $calls = PhaseReader::calls(\@files, qr/^Shop::(?:row|page)\z/);
        is_deeply($calls, { 'GET /page/:n Shop::page' => 12, 'GET /page/:n Shop::row' => 78,
            'GET /stream Shop::row' => 8, 'GET /dies Shop::row' => 1 },
            'each route has its calls, in all processes') or diag explain $calls;
    };
}

done_testing();
