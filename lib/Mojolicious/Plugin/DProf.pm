package Mojolicious::Plugin::DProf;

our $DPROF_AROUND;      # this package is not recorded (see Devel::DProf::Control)

use strict;
use warnings;

use parent 'Mojolicious::Plugin';
use Devel::DProf::Requests ();

our $VERSION = '20261120.00';

use constant {
    KEY      => 'dprof.rename',
    NO_ROUTE => '(no route)',       # the name of a request before its route is found
};

# Adds the helper and the hooks. Without a recorder, the helper does nothing and there are no hooks.
sub register {
    my ($self, $app, $conf) = @_;
    $app->helper(dprof_name => sub { rename_request(@_); return });
    return if !Devel::DProf::Requests::is_recorded();
    my $requests = Devel::DProf::Requests->new(%{ $conf // {} });
    $app->hook(around_dispatch => sub { return begin_request($requests, @_) });
    $app->hook(around_action => sub { return name_by_route($requests, @_) });
    return;
}

# Begins a request, unless an outer application or Plack's middleware has begun it. A mounted
# application shares the stash.
sub begin_request {
    my ($requests, $next, $c) = @_;
    my $stash = $c->stash;
    return $next->() if $stash->{ +KEY } || $c->req->env->{ +KEY };
    my $request = $requests->begin(NO_ROUTE);
    $stash->{ +KEY } = $request->renamer;
    my $section = $request->section;
    end_with($c->tx, $request);
    return $next->();
}

# Ends the request when its response is complete, or else when the transaction ends. A WebSocket may
# last for hours, so its request is only the handshake.
sub end_with {
    my ($tx, $request) = @_;
    return if $tx->is_websocket;
    $tx->on(finish => sub { $request->end });
    $tx->on(resume => sub { $request->end if !$_[0]->res->content->is_dynamic });
    return;
}

# Names the request by its route, unless the application has named it, when an action begins.
sub name_by_route {
    my ($requests, $next, $c) = @_;
    my $stash = $c->stash;
    my $is_named = $stash->{'dprof.named'};
    rename_to($c, $requests->name_of(route_name($c), $c)) if !$is_named;
    return $next->();
}

# Returns the method and the route of a request.
sub route_name {
    my ($c) = @_;
    my $endpoint = $c->match->endpoint or return NO_ROUTE;
    my $method = $c->tx->is_websocket ? 'WEBSOCKET'
        : Devel::DProf::Requests::method_name($c->req->method);
    my $pattern = $endpoint->to_string;
    return $method . ' ' . (length $pattern ? $pattern : '/');
}

# Gives the request the application's name, which no route replaces.
sub rename_request {
    my ($c, $name) = @_;
    return if !Devel::DProf::Requests::is_name($name);
    $c->stash->{'dprof.named'} = 1;
    rename_to($c, $name);
    return;
}

# Gives the request of a controller another name, if one was begun.
sub rename_to {
    my ($c, $name) = @_;
    my $rename = $c->stash->{ +KEY } // $c->req->env->{ +KEY };
    $rename->($name) if $rename;
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Mojolicious::Plugin::DProf - the costs of each route of a Mojolicious application

=head1 SYNOPSIS

    # Mojolicious::Lite
    plugin 'DProf';

    # Mojolicious
    $self->plugin('DProf');
    $self->plugin('DProf', { slower => 0.5 });      # only slow requests

    perl -d:DProf=tree app.pl prefork
    dprofreport --processes --requests          # how many, and how long they took
    dprofreport --processes -s phase,sub        # where the time went

    PERL5OPT=-d:DProf=tree hypnotoad app.pl

    perl -d:DProf=sample=100 app.pl daemon

=head1 DESCRIPTION

While a request is handled, the phase of the profile (L<Devel::DProf::Control/mark>) is its method
and route: C<GET /user/:id>. Outside of requests, the previous phase continues, mostly C<main>. So
C<dprofreport -s phase,sub>, C<dprofpp --phases> and the page of L<dprofflame> show the costs of
each route, in calls, times, samples and counters.

Until a route is found, the phase is C<(no route)>. It has the hooks that run before routing, static
files, and pages that do not exist. Methods other than GET, HEAD, POST, PUT, PATCH, DELETE and
OPTIONS are C<OTHER>; the handshake of a WebSocket is C<WEBSOCKET /route>.

Each process of a preforking server writes a file of its own, and C<--processes> reads all of them.
L<hypnotoad> starts a new perl in its own place, so only PERL5OPT reaches the application; its
first file, F<tmon.out.old>, is of no use.

C<dprofreport --processes --requests> shows how many requests of each route there were, how long
they took, and how many C<slower> kept; see L<Plack::Middleware::DProf/HOW MANY, AND HOW LONG>.

Without C<-d:DProf> the plugin adds a helper that does nothing, and no hook. Responses are the same
with and without C<-d:DProf>. The plugin's own subs are not in the profile. Under PSGI, if
L<Plack::Middleware::DProf> is around the application, the middleware begins and ends the request,
and the plugin gives it the route as its name. If mounted applications have the plugin, too, the
outermost one begins the request, and the innermost route names it.

=head1 OPTIONS

=over

=item name => CODE

CODE gets the controller when a route has been found, and returns the request's name. If it returns
nothing, or dies, the request gets its usual name; the first time that CODE dies, a message says so.

=item every => N

Only every N-th request of each process is recorded; see L<Plack::Middleware::DProf/OPTIONS>.

=item slower => SECONDS

Only requests that take SECONDS or longer in real time are recorded; see
L<Plack::Middleware::DProf/OPTIONS>.

=back

A mistake in the options is reported, and does not end the program.

=head1 HELPERS

=over

=item dprof_name

    $c->dprof_name('search, by ' . $c->param('by'));

Gives the request a name from this moment on, in place of its route. If a process has 1,000 names,
further ones become C<other>.

=back

=head1 METHODS

=over

=item register

L<Mojolicious> calls this method when it loads the plugin.

=back

=head1 WHAT BELONGS TO A REQUEST

All code within the hook C<around_dispatch> always runs in the phase of its request: routing,
actions, templates. A request is open until its response has been rendered. If the response is
delayed (C<render_later>, promises) or written in chunks, the request is open until the response is
rendered, or until the connection ends the transaction.

Meanwhile the event loop continues with other work. While one request is open, the phase of that
request also has the callbacks that the loop runs, including timers and promises of the application,
and the time in which the loop waits. While several requests are open, the owner of a callback is
unknown: the phase is C<(overlapping requests)>. With C<every>, such a stretch is recorded if one of
its requests is. With C<slower> it is always recorded, because it may belong to a slow request.

Messages on a WebSocket after its handshake are outside of requests.

=head1 SEE ALSO

L<Plack::Middleware::DProf>, L<Devel::DProf::Cookbook>, L<Devel::DProf::Control>, L<Devel::DProf>,
L<Mojolicious>

=cut
