package Mojolicious::Plugin::DProf;

our $DPROF_AROUND;      # this package is not recorded: see Devel::DProf::Control

use strict;
use warnings;

use parent 'Mojolicious::Plugin';
use Devel::DProf::Requests ();

our $VERSION = '20261120.00';

use constant {
    KEY      => 'dprof.rename',
    NO_ROUTE => '(no route)',       # until one is found
};

# Without a recorder there is a helper that does nothing.
sub register {
    my ($self, $app, $conf) = @_;
    $app->helper(dprof_name => sub { rename_request(@_); return });
    return if !Devel::DProf::Requests::is_recorded();
    my $requests = Devel::DProf::Requests->new(%{ $conf // {} });
    $app->hook(around_dispatch => sub { return dispatched($requests, @_) });
    $app->hook(around_action => sub { return acted($requests, @_) });
    return;
}

# A mounted application shares the stash, and Plack's middleware may be around all of it: the
# outermost has begun the request.
sub dispatched {
    my ($requests, $next, $c) = @_;
    my $stash = $c->stash;
    return $next->() if $stash->{ +KEY } || $c->req->env->{ +KEY };
    my $request = $requests->begin(NO_ROUTE);
    $stash->{ +KEY } = $request->renamer;
    my $section = $request->section;
    follow($c->tx, $request);
    return $next->();
}

# The transaction holds the request until it ends: when its response is whole, or else when the
# connection has done with it. A WebSocket lasts for as long as people look at a page; its request
# is the handshake.
sub follow {
    my ($tx, $request) = @_;
    return if $tx->is_websocket;
    $tx->on(finish => sub { $request->end });
    $tx->on(resume => sub { $request->end if !$_[0]->res->content->is_dynamic });
    return;
}

sub acted {
    my ($requests, $next, $c) = @_;
    my $stash = $c->stash;
    my $is_named = $stash->{'dprof.named'};
    rename_to($c, $requests->name_of(route_name($c), $c)) if !$is_named;
    return $next->();
}

sub route_name {
    my ($c) = @_;
    my $endpoint = $c->match->endpoint or return NO_ROUTE;
    my $method = $c->tx->is_websocket ? 'WEBSOCKET'
        : Devel::DProf::Requests::method_name($c->req->method);
    my $pattern = $endpoint->to_string;
    return $method . ' ' . (length $pattern ? $pattern : '/');
}

# A name that the application has given stays.
sub rename_request {
    my ($c, $name) = @_;
    return if !Devel::DProf::Requests::is_name($name);
    $c->stash->{'dprof.named'} = 1;
    rename_to($c, $name);
    return;
}

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

Mojolicious::Plugin::DProf - what each route of a Mojolicious application costs

=head1 SYNOPSIS

    # Mojolicious::Lite
    plugin 'DProf';

    # Mojolicious
    $self->plugin('DProf');
    $self->plugin('DProf', { slower => 0.5 });      # of these requests alone

    perl -d:DProf=tree app.pl prefork
    dprofreport --processes -s phase,sub

    PERL5OPT=-d:DProf=tree hypnotoad app.pl

    perl -d:DProf=sample=100 app.pl daemon

=head1 DESCRIPTION

While a request is handled, the phase of the profile (L<Devel::DProf::Control/mark>) is its method
and route: C<GET /user/:id>. Outside of requests it is the one that was before, mostly C<main>. So
C<dprofreport -s phase,sub>, C<dprofpp --phases> and the page of L<dprofflame> tell what each
route costs, in calls, times, samples and counters.

Until a route is found, the phase is C<(no route)>: there are the hooks that come before routing,
static files, and pages that do not exist. Methods other than GET, HEAD, POST, PUT, PATCH, DELETE
and OPTIONS are C<OTHER>; the handshake of a WebSocket is C<WEBSOCKET /route>.

Each process of a preforking server writes a file of its own, and C<--processes> reads all of them.
L<hypnotoad> starts a new perl in its own place, so only PERL5OPT reaches the application; its
first file, F<tmon.out.old>, is of no use.

Without C<-d:DProf> the plugin adds a helper that does nothing, and no hook. Responses are the same
with and without it. The plugin's own subs are not in the profile. Under PSGI, with
L<Plack::Middleware::DProf> around the application, the request is the middleware's, and gets
the route as its name. Of mounted applications that have the plugin, too, the outermost has the
request, and the route is the innermost one.

=head1 OPTIONS

=over

=item name => CODE

CODE gets the controller when a route has been found, and returns the request's name. If it returns
nothing, or dies, the name is the usual one; a message says once that it died.

=item every => N

Only every N-th request of each process is recorded, as L<Plack::Middleware::DProf/OPTIONS> tells.

=item slower => SECONDS

Only requests that take SECONDS or longer are recorded, in real time, from the beginning to the end
of the request; SECONDS may be a fraction. What other requests have recorded is dropped, and nothing
of it is left. Outside of requests recording is as it was: with C<-d:DProf=tree,start=no>, slow
requests are all that is recorded. It takes a tree or samples (C<sample=100>). With a trace, which
cannot drop calls, a warning is given and all requests are recorded.

A file that is saved in the middle of a request has nothing of it, and a slice has the requests that
end in it. L<Devel::DProf::Control/settle> says more, also of programs that end, fork or die
meanwhile. With C<every>, of every N-th request those are recorded that are slow.

=back

A mistake in the options is reported, and does not end the program.

=head1 HELPERS

=over

=item dprof_name

    $c->dprof_name('search, by ' . $c->param('by'));

Gives the request a name from this moment on, in place of its route. After 1,000 names of a process,
further ones are C<other>.

=back

=head1 METHODS

=over

=item register

Called by L<Mojolicious> when the plugin is loaded.

=back

=head1 WHAT BELONGS TO A REQUEST

All that the hook C<around_dispatch> has around it always runs in the phase of its request: routing,
actions, templates. A request is open until its response has been rendered. If the response is
delayed (C<render_later>, promises) or written in chunks, the request is open until the response is
rendered, or until the connection has done with it.

Meanwhile the event loop goes on with other things. What it runs then, timers and promises of the
application too, is in the phase of the open request if there is only one; the time in which the
loop waits is as well. While several requests are open, it cannot be told for whom a callback
runs: the phase is C<(overlapping requests)>. With C<every>, such a stretch is recorded if one of
its requests is; with C<slower> it is always recorded, since nobody knows whether it belongs to a
slow request.

What arrives on a WebSocket after its handshake is outside of requests.

=head1 SEE ALSO

L<Plack::Middleware::DProf>, L<Devel::DProf::Cookbook>, L<Devel::DProf::Control>, L<Devel::DProf>,
L<Mojolicious>

=cut
