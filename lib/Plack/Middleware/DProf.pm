package Plack::Middleware::DProf;

our $DPROF_AROUND;      # this package is not recorded: see Devel::DProf::Control

use strict;
use warnings;

use parent 'Plack::Middleware';
use Devel::DProf::Requests ();
use Scalar::Util qw(blessed reftype);

our $VERSION = '20261120.00';

# Without a recorder there is the application, and nothing around it. The sub that is returned is
# one of this package, which is not recorded.
sub to_app {
    my ($self) = @_;
    my $app = $self->{app};
    $app = $app->to_app if blessed $app && $app->can('to_app');
    return $app if !Devel::DProf::Requests::is_recorded();
    $self->{app} = $app;
    $self->prepare_app;
    return sub { return $self->call(@_) };
}

sub prepare_app {
    my ($self) = @_;
    my %opt = map { $_ => $self->{$_} } grep { $_ ne 'app' } keys %$self;
    $self->{requests} = Devel::DProf::Requests->new(%opt);
    return;
}

sub call {
    my ($self, $env) = @_;
    my $app = $self->{app};
    return $app->($env) if $env->{'dprof.rename'};      # one more of these is around this one
    my $request = $self->{requests}->begin($self->request_name($env));
    my $section = $request->section;
    $env->{'dprof.rename'} = $request->renamer;
    my $response = $app->($env);
    $request->set_name($env->{'dprof.name'});
    undef $section;
    return ref $response eq 'CODE' ? streamed($request, $response) : answered($request, $response);
}

sub request_name {
    my ($self, $env) = @_;
    my $given = $env->{'dprof.name'};
    return $given if Devel::DProf::Requests::is_name($given);
    my $path = ($env->{SCRIPT_NAME} // '') . ($env->{PATH_INFO} // '');
    my $usual = Devel::DProf::Requests::path_name($env->{REQUEST_METHOD}, $path);
    return $self->{requests}->name_of($usual, $env);
}

# A response whose body is an object goes on. Any other one is whole: it runs no more code of the
# application. The array may be one that the application returns again and again.
sub answered {
    my ($request, $response) = @_;
    my $body = ref $response eq 'ARRAY' ? $response->[2] : undef;
    if (!goes_on($body)) {
        $request->end;
        return $response;
    }
    my @copy = @$response;
    $copy[2] = stream($request, $body);
    return \@copy;
}

# A filehandle is the server's, which may send the file by a system call.
sub goes_on {
    my ($body) = @_;
    return ref $body && ref $body ne 'ARRAY' && blessed $body
        && reftype($body) !~ /\A(?:GLOB|IO)\z/ && $body->can('getline');
}

sub streamed {
    my ($request, $code) = @_;
    return sub {
        my ($respond, @more) = @_;
        my $section = $request->section;
        return $code->(responder($request, $respond), @more);
    };
}

# Without a body, the server gives a writer for it.
sub responder {
    my ($request, $respond) = @_;
    return sub {
        my ($response, @more) = @_;
        my $section = $request->section;
        my $has_body = ref $response ne 'ARRAY' || defined $response->[2];
        return $respond->(answered($request, $response), @more) if $has_body;
        my $writer = $respond->($response, @more);
        return blessed $writer ? stream($request, $writer) : $writer;
    };
}

sub stream {
    my ($request, $inner) = @_;
    return bless { request => $request, inner => $inner }, 'Plack::Middleware::DProf::Stream';
}

sub pass {
    my ($method, $stream, @args) = @_;
    my $section = $stream->{request}->section;
    return $stream->{inner}->$method(@args);
}

# A body or a writer, each method of which is a section of its request. It can what the one inside
# can: servers and other middleware ask for more than PSGI has.
package    # for PAUSE
    Plack::Middleware::DProf::Stream;

our ($AUTOLOAD, $DPROF_AROUND);

sub getline { return Plack::Middleware::DProf::pass('getline', @_) }
sub write { return Plack::Middleware::DProf::pass('write', @_) }

sub close {
    my ($self, @args) = @_;
    my $section = $self->{request}->section;
    $self->{request}->end;
    return $self->{inner}->close(@args);
}

sub can {
    my ($self, $method) = @_;
    return $self->SUPER::can($method) if !ref $self;
    return undef if !$self->{inner}->can($method);
    return sub { my $self = shift; return $self->$method(@_) };
}

sub isa {
    my ($self, $class) = @_;
    return $self->SUPER::isa($class) || ref $self && $self->{inner}->isa($class);
}

sub AUTOLOAD {
    return Plack::Middleware::DProf::pass($AUTOLOAD =~ s/.*:://sr, @_);
}

sub DESTROY { }

1;

__END__

=encoding UTF-8

=head1 NAME

Plack::Middleware::DProf - what each request of a PSGI application costs

=head1 SYNOPSIS

    # app.psgi
    use Plack::Builder;
    builder {
        enable 'DProf';
        $app;
    };

    PERL5OPT=-d:DProf=tree starman app.psgi
    dprofreport --processes -s phase,sub

    perl -d:DProf=sample=100 -S plackup app.psgi

    # in production: samples of slow requests alone
    enable 'DProf', slower => 0.5;
    PERL5OPT=-d:DProf=sample=100,start=no starman app.psgi

=head1 DESCRIPTION

While a request is handled, the phase of the profile (L<Devel::DProf::Control/mark>) is the
request's name, C<GET /page/N>. Outside of requests it is the one that was before, mostly C<main>.
So C<dprofreport -s phase,sub>, C<dprofpp --phases> and the page of L<dprofflame> tell what
each kind of request costs, in calls, times, samples and counters.

Each process of a preforking server writes a file of its own, and C<--processes> reads all of them.
With slices (L<Devel::DProf/SLICES>), each slice has the phases.

Without C<-d:DProf> the middleware is not there at all: C<wrap> returns the application itself. With
it, a response has the same status, headers and bytes, and what the application throws goes to the
server as it was thrown. The middleware's own subs are not in the profile. If it is enabled
twice around a request, the outer one counts.

=head1 OPTIONS

=over

=item name => CODE

CODE gets the environment of the request, and returns its name:

    enable 'DProf', name => sub { my ($env) = @_; return $env->{HTTP_HOST} };

If it returns nothing, or dies, the name is the usual one; a message says once that it died.

=item every => N

Only every N-th request of each process is recorded, from the first on, and recording is stopped
during the others. Outside of requests recording is as it was: with C<-d:DProf=tree,start=no>, these
requests are all that is recorded.

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

=head1 NAMES

These count, the first that there is:

=over

=item *

C<< $env->{'dprof.name'} >>, as it is when the request reaches the middleware

=item *

what C<name> returns

=item *

the method and the path: C<GET /user/N/page>. Numbers, and parts of a path that look like ids in
hexadecimal, are C<N>. Methods other than GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS are
C<OTHER>. After 200 names of this kind in a process, further ones are C<GET (other paths)>. Clients
ask for whatever they like, so an application that has a router should give names.

=back

An application that learns only from its router what a request is calls C<<
$env->{'dprof.rename'}->($name) >>, if there is such a function (without C<-d:DProf> there is none);
the name holds from that moment on. It may also set C<< $env->{'dprof.name'} >>, which is looked at
again when the application has returned, and holds for what comes after. After 1,000 names of a
process, further ones are C<other>. The application may mark phases of its own; they end with the
request at the latest.

=head1 WHAT BELONGS TO A REQUEST

These always run in the phase of their request:

=over

=item *

the application, until it returns or dies

=item *

the function of a streaming or delayed response, and what it calls

=item *

the methods C<getline> and C<close> of a body that is an object

=item *

the server's functions that the application calls: the responder, and a writer's C<write> and
C<close>

=back

A request is open until the application has returned a response with an array or a filehandle, until
the body or the writer is closed, or until nobody holds these any longer. A filehandle is read by
the server, which may send it by a system call: that is outside of the request.

Servers with an event loop, such as L<Twiggy>, go on with other things while a response is delayed.
What they run then, timers and callbacks of the application too, is in the phase of the open request
if there is only one; the time in which the loop waits is as well.

While several requests are open, it cannot be told for whom a callback runs: the phase is
C<(overlapping requests)>. The same holds for coroutines (L<Coro>) while several of them are in the
application. With C<every>, such a stretch is recorded if one of its requests is; with C<slower> it
is always recorded, since nobody knows whether it belongs to a slow request.

Cleanup handlers (C<psgix.cleanup>) and connections that the application takes over (C<psgix.io>)
are outside of requests.

=head1 SEE ALSO

L<Mojolicious::Plugin::DProf>, L<Devel::DProf::Cookbook>, L<Devel::DProf::Control>,
L<Devel::DProf>, L<Plack>

=cut
