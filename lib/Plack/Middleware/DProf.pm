package Plack::Middleware::DProf;

our $DPROF_AROUND;      # this package is not recorded (see Devel::DProf::Control)

use strict;
use warnings;

use parent 'Plack::Middleware';
use Devel::DProf::Requests ();
use Scalar::Util qw(blessed reftype);

our $VERSION = '20261120.00';

# Returns the application itself if there is no recorder. Otherwise returns a sub of this package,
# which is not recorded.
sub to_app {
    my ($self) = @_;
    my $app = $self->{app};
    $app = $app->to_app if blessed $app && $app->can('to_app');
    return $app if !Devel::DProf::Requests::is_recorded();
    $self->{app} = $app;
    $self->prepare_app;
    return sub { return $self->call(@_) };
}

# Makes the object for requests from the middleware's options.
sub prepare_app {
    my ($self) = @_;
    my %opt = map { $_ => $self->{$_} } grep { $_ ne 'app' } keys %$self;
    $self->{requests} = Devel::DProf::Requests->new(%opt);
    return;
}

# Handles a request: begins it, calls the application, and returns the response, with a body that
# ends the request when it is complete.
sub call {
    my ($self, $env) = @_;
    my $app = $self->{app};
    return $app->($env) if $env->{'dprof.rename'};      # an outer middleware has the request
    my $request = $self->{requests}->begin($self->request_name($env));
    my $section = $request->section;
    $env->{'dprof.rename'} = $request->renamer;
    my $response = $app->($env);
    $request->set_name($env->{'dprof.name'});
    undef $section;
    return ref $response eq 'CODE' ? wrap_streaming($request, $response) : wrap_response($request,
        $response);
}

# Returns the name of a request: dprof.name, if the environment has it already; else what the code
# of the option `name' returns; else the method and path.
sub request_name {
    my ($self, $env) = @_;
    my $given = $env->{'dprof.name'};
    return $given if Devel::DProf::Requests::is_name($given);
    my $path = ($env->{SCRIPT_NAME} // '') . ($env->{PATH_INFO} // '');
    my $usual = Devel::DProf::Requests::path_name($env->{REQUEST_METHOD}, $path);
    return $self->{requests}->name_of($usual, $env);
}

# Returns a response whose body, if it is an object, ends the request at its end. Any other response
# is complete and runs no more code of the application, so the request ends now. The array is
# copied, as an application may return the same array again.
sub wrap_response {
    my ($request, $response) = @_;
    my $body = ref $response eq 'ARRAY' ? $response->[2] : undef;
    if (!runs_code($body)) {
        $request->end;
        return $response;
    }
    my @copy = @$response;
    $copy[2] = make_stream($request, $body);
    return \@copy;
}

# Returns whether a body runs code of the application when the server reads it. A filehandle does
# not, and must not be wrapped, because the server may send the file by a system call.
sub runs_code {
    my ($body) = @_;
    return ref $body && ref $body ne 'ARRAY' && blessed $body
        && reftype($body) !~ /\A(?:GLOB|IO)\z/ && $body->can('getline');
}

# Returns a delayed response: a sub that calls the application's one with a responder that ends the
# request.
sub wrap_streaming {
    my ($request, $code) = @_;
    return sub {
        my ($respond, @more) = @_;
        my $section = $request->section;
        return $code->(wrap_responder($request, $respond), @more);
    };
}

# Returns the server's responder wrapped. If the response has no body, the responder returns a
# writer for it.
sub wrap_responder {
    my ($request, $respond) = @_;
    return sub {
        my ($response, @more) = @_;
        my $section = $request->section;
        my $has_body = ref $response ne 'ARRAY' || defined $response->[2];
        return $respond->(wrap_response($request, $response), @more) if $has_body;
        my $writer = $respond->($response, @more);
        return blessed $writer ? make_stream($request, $writer) : $writer;
    };
}

# Returns an object that wraps a body or a writer, and keeps the request open as long as it lives.
sub make_stream {
    my ($request, $inner) = @_;
    return bless { request => $request, inner => $inner }, 'Plack::Middleware::DProf::Stream';
}

# Calls a method of the wrapped object in a section of the request.
sub pass_through {
    my ($method, $stream, @args) = @_;
    my $section = $stream->{request}->section;
    return $stream->{inner}->$method(@args);
}

# A wrapper around a body or a writer: each method call is a section of the request. It has all
# methods of the wrapped object, because servers and other middleware may use more than PSGI
# defines.
package    # for PAUSE
    Plack::Middleware::DProf::Stream;

our ($AUTOLOAD, $DPROF_AROUND);

sub getline { return Plack::Middleware::DProf::pass_through('getline', @_) }
sub write { return Plack::Middleware::DProf::pass_through('write', @_) }

# Ends the request, and closes the wrapped object.
sub close {
    my ($self, @args) = @_;
    my $section = $self->{request}->section;
    $self->{request}->end;
    return $self->{inner}->close(@args);
}

# Returns a method if the wrapped object has it.
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

# Calls any other method of the wrapped object.
sub AUTOLOAD {
    return Plack::Middleware::DProf::pass_through($AUTOLOAD =~ s/.*:://sr, @_);
}

sub DESTROY { }

1;

__END__

=encoding UTF-8

=head1 NAME

Plack::Middleware::DProf - the costs of each request of a PSGI application

=head1 SYNOPSIS

    # app.psgi
    use Plack::Builder;
    builder {
        enable 'DProf';
        $app;
    };

    PERL5OPT=-d:DProf=tree starman app.psgi
    dprofreport --processes --requests          # how many, and how long they took
    dprofreport --processes -s phase,sub        # where the time went

    perl -d:DProf=sample=100 -S plackup app.psgi

    # in production: samples of slow requests only
    enable 'DProf', slower => 0.5;
    PERL5OPT=-d:DProf=sample=100,start=no starman app.psgi

=head1 DESCRIPTION

While a request is handled, the phase of the profile (L<Devel::DProf::Control/mark>) is the
request's name, C<GET /page/N>. Outside of requests, the previous phase continues, mostly C<main>.
So C<dprofreport -s phase,sub>, C<dprofpp --phases> and the page of L<dprofflame> show the costs of
each kind of request, in calls, times, samples and counters.

Each process of a preforking server writes a file of its own, and C<--processes> reads all of them.
With slices (L<Devel::DProf/SLICES>), each slice has the phases.

Without C<-d:DProf> there is no middleware at all: C<wrap> returns the application itself. With
C<-d:DProf>, a response has the same status, headers and bytes, and exceptions of the application
reach the server unchanged. The middleware's own subs are not in the profile. If two of these
middlewares are around a request, the outer one counts.

=head1 OPTIONS

=over

=item name => CODE

CODE gets the environment of the request, and returns its name:

    enable 'DProf', name => sub { my ($env) = @_; return $env->{HTTP_HOST} };

If CODE returns nothing, or dies, the request gets its usual name; the first time that CODE dies, a
message says so.

=item every => N

Only every N-th request of each process is recorded, from the first on, and recording is stopped
during the others. Outside of requests, recording is not affected: with C<-d:DProf=tree,start=no>,
only these requests are recorded.

=item slower => SECONDS

Only requests that take SECONDS or longer in real time, from beginning to end, are recorded; SECONDS
may be a fraction. The data of other requests are dropped completely. Outside of requests, recording
is not affected: with C<-d:DProf=tree,start=no>, only slow requests are recorded. The option needs a
tree or samples (C<sample=100>). With a trace, which cannot drop calls, a warning is given and all
requests are recorded.

A file that is saved in the middle of a request has nothing of that request, and a slice has the
requests that end in it. L<Devel::DProf::Control/settle> also describes programs that end, fork or
die during a request. With C<every>, only the slow ones of every N-th request are recorded.

=back

A mistake in the options is reported, and does not end the program.

=head1 HOW MANY, AND HOW LONG

All requests are counted, also those that C<every> or C<slower> leave out:

    $ dprofreport --processes --requests
    # Requests: 23 seen, 4 kept
    #
    Requests  Kept  Dropped  Mean ms  p50 ms  p95 ms  Longest ms  Phase
    ........  ....  .......  .......  ......  ......  ..........  ...........
          20     4       16   10.599  10.224  19.399      20.099  GET /page/N
           3     0        3    2.099   2.163   3.080       3.099  GET /cart/N

A request counts under its last name, in the process in which it ends, with the real time from its
beginning to its end. Kept requests are those whose calls are in the profile. The percentiles p50
and p95 are wrong by 3 % at most. The requests of a process that was killed are missing.

L<dprofreport>, L<dprofflame> and L<dprofhtml> leave out the subs of the server above the
application, those that were running when a process began its first request. With B<--all> they show
these subs.

=head1 NAMES

The name of a request is the first of these that exists:

=over

=item *

C<< $env->{'dprof.name'} >>, if it is set when the request reaches the middleware

=item *

the name that C<name> returns

=item *

the method and the path: C<GET /user/N/page>. Numbers, and parts of a path that look like ids in
hexadecimal, become C<N>. Methods other than GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS become
C<OTHER>. If a process has 200 names of this kind, further ones become C<GET (other paths)>. Clients
can request any path, so an application that has a router should give names.

=back

If the application's router finds the name of a request later, the application calls C<<
$env->{'dprof.rename'}->($name) >>, provided that this function exists (without C<-d:DProf> it does
not). The name is valid from that moment on. The application may also set C<< $env->{'dprof.name'}
>>: the middleware reads it again when the application has returned, for the rest of the request. If
a process has 1,000 names, further ones become C<other>. The application may mark phases of its own;
they end with the request at the latest.

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
the body or the writer is closed, or until no reference to these is left. The server reads a
filehandle, or sends it by a system call, outside of the request.

Servers with an event loop, such as L<Twiggy>, continue with other work while a response is delayed.
While one request is open, its phase also has the callbacks that the loop runs, including timers of
the application, and the time in which the loop waits.

While several requests are open, the owner of a callback is unknown: the phase is
C<(overlapping requests)>. The same holds for coroutines (L<Coro>) while several of them are in the
application. With C<every>, such a stretch is recorded if one of its requests is. With C<slower> it
is always recorded, because it may belong to a slow request.

Cleanup handlers (C<psgix.cleanup>) and connections that the application takes over (C<psgix.io>)
are outside of requests.

=head1 SEE ALSO

L<Mojolicious::Plugin::DProf>, L<Devel::DProf::Cookbook>, L<Devel::DProf::Control>,
L<Devel::DProf>, L<Plack>

=cut
