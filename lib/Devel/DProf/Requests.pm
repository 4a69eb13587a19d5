package Devel::DProf::Requests;

# The requests of a server as phases of its profile, for Plack::Middleware::DProf and
# Mojolicious::Plugin::DProf.
#
# A request is open from its beginning to its end, and may have sections: stretches of code that
# certainly run for it, like the call of the application. In a section, the phase is that of its
# request. Between sections, an event loop may run code of any open request. Then the phase is that
# of the only open request; OVERLAPPING, if several are open; or, if none is, the phase before the
# first request. No function here dies, or catches an exception of the application.

our $DPROF_AROUND;      # this package is not recorded: see Devel::DProf::Control

use strict;
use warnings;

use Carp 'carp';
use Devel::DProf::Control ();

our $VERSION = '20261120.00';

use constant {
    OVERLAPPING => '(overlapping requests)',
    OTHER_PATHS => '(other paths)',
    PATHS_MAX   => 200,     # names made of paths: clients make them up
    LENGTH_MAX  => 200,     # of such a name
};

my %METHOD = map { $_ => 1 } qw(GET HEAD POST PUT PATCH DELETE OPTIONS);

# The states of requests, by address: { name, is_chosen, left_out, slower, held, began, process }.
# is_chosen: an option says whether the request is recorded; held: the number of its stretch; began:
# the recorder's stamp, until the request is counted.
my %open;
my @sections;   # { state, coroutine }, the innermost last
my $outside;    # what was before the first of the requests that are open: { phase, recording }
my $marked;     # the phase that was marked last, while there is $outside
my $in;         # the state whose stretch is recorded
my %path_names;

# ---- settings ----

# Returns whether a recorder is loaded. That does not change while a program runs.
sub is_recorded { return defined Devel::DProf::Control::phase() }

# Each option has a check of its value, and the text of the warning about a wrong one.
my %OPTION = (
    every  => [sub { $_[0] =~ /\A[1-9][0-9]{0,8}\z/ },
        'is not a whole number above 0; every request is recorded'],
    slower => [sub { $_[0] =~ /\A[0-9]{0,9}(?:\.[0-9]{0,9})?\z/ && $_[0] =~ /[1-9]/ },
        'is not a number of seconds above 0; requests are recorded whatever they take'],
    name   => [sub { ref $_[0] eq 'CODE' },
        'is not a code reference; requests have their usual names'],
);

# Makes the object that turns requests into phases of the profile. A mistake in the options gives a
# warning, and the wrong option is left out.
sub new {
    my ($class, %opt) = @_;
    my $self = bless { count => 0 }, $class;
    my %given = map { $_ => delete $opt{$_} } keys %OPTION;
    carp 'DProf: unknown option ' . join ', ', sort keys %opt if %opt;
    for my $name (grep { defined $given{$_} } sort keys %OPTION) {
        my ($value, $is_right, $what) = ($given{$name}, @{ $OPTION{$name} });
        if ($is_right->($value)) { $self->{$name} = $value }
        else { carp 'DProf: ' . ($name eq 'name' ? $name : "$name => $value") . " $what" }
    }
    return $self;
}

# Returns the name that the application's code (option `name') gives to a request, called with ARGS,
# or else the given name.
sub name_of {
    my ($self, $else, @args) = @_;
    my $code = $self->{name} or return $else;
    my $name;
    {
        local ($@, $SIG{__DIE__});
        eval { $name = $code->(@args); 1 }
            or $self->{told}++ or carp 'DProf: name => CODE dies: ' . ($@ =~ s/\s+\z//r);
    }
    return is_name($name) ? $name : $else;
}

# Returns whether a value can be the name of a request.
sub is_name { return defined $_[0] && !ref $_[0] && length $_[0] }

# ---- names ----

# Returns the method of a request, or OTHER if it is none of HTTP's.
sub method_name { return $METHOD{ $_[0] // '' } ? $_[0] : 'OTHER' }

# Returns a name for a request by its method and path, with N in place of numbers and the like, so
# that there are not too many names. The bytes are read as UTF-8.
sub path_name {
    my ($method, $path) = @_;
    my $name = substr $path, 0, LENGTH_MAX;
    utf8::decode($name) if $name =~ /[^\x00-\x7f]/;
    $name =~ s{(?<=/)(?=[^/]*[0-9])[0-9a-fA-F-]{8,}(?=/|\z)}{N}g;
    $name =~ s/[0-9]+/N/g;
    $method = method_name($method);
    $name = $method . ' ' . (length $name ? $name : '/');
    return "$method " . OTHER_PATHS if !$path_names{$name} && keys %path_names >= PATHS_MAX;
    $path_names{$name} = 1;
    return $name;
}

# ---- requests ----

# Begins a request. Returns an object for it; the request ends with its method `end', or when the
# last reference to it is gone.
sub begin {
    my ($self, $name) = @_;
    my ($every, $slower) = @$self{qw(every slower)};
    my $is_left_out = $every && $self->{count}++ % $every;
    my $state = { name => $name, is_chosen => $every || $slower, left_out => $is_left_out,
        slower => $is_left_out ? undef : $slower, process => process(),
        began => scalar Devel::DProf::Control::request_begin() };
    $open{$state} = $state;
    note_server($state->{process});
    return bless \$state, 'Devel::DProf::Requests::Request';
}

# Tells the recorder, once in a process, which subs are above the application: those of the server.
# Reports leave these out. Anonymous subs may be anybody's.
my $noted = '';
my $OURS = qr/\A(?:Devel::DProf::Requests|(?:Plack::Middleware|Mojolicious::Plugin)::DProf)::/;

# Records, once in each process, which subs have called the application, as these are the server's.
sub note_server {
    my ($process) = @_;
    return if $noted eq $process;
    $noted = $process;
    my %seen;
    for (my $level = 1; my $name = (caller $level)[3]; $level++) {
        next if $name =~ /::__ANON__\z|\A\(eval\)\z|::BEGIN\z/ || $name =~ $OURS || $seen{$name}++;
        Devel::DProf::Control::request_server($name);
    }
    return;
}

# Gives a request, by its state, another name, and begins the phase of that name.
sub rename_state {
    my ($state, $name) = @_;
    return if !is_name($name) || $name eq $state->{name};
    $state->{name} = $name;
    begin_phase_in_turn();
    return;
}

# Begins the phase of the request that runs now, or the phase before all requests.
sub begin_phase_in_turn {
    return if ${^GLOBAL_PHASE} eq 'DESTRUCT';
    my $whose = whose_turn();
    return $whose ? enter_request($whose) : leave_requests();
}

# Makes the recorder follow the request that runs now: starts or stops recording, and begins the
# request's phase. The first request notes the state outside of requests, which leave_requests
# restores.
sub enter_request {
    my ($whose) = @_;
    if (!$outside) {
        my $phase = Devel::DProf::Control::phase();
        return if !defined $phase;
        $outside = { phase => $phase, recording => Devel::DProf::Control::recording() };
    }
    $outside->{is_switched} = 1 if $whose->{is_chosen};
    my $records = $whose->{is_chosen} ? !$whose->{left_out} : $outside->{recording};
    Devel::DProf::Control::stop() if $outside->{is_switched} && !$records;
    hold_request($whose) if $in || $whose->{slower};
    if (!$whose->{left_out} && (!defined $marked || $marked ne $whose->{name})) {
        $marked = $whose->{name};
        Devel::DProf::Control::mark($marked);
    }
    Devel::DProf::Control::start() if $outside->{is_switched} && $records;
    return;
}

# Makes the recorder hold what the request WHOSE does from now on, if that request is kept only when
# it is slow, and ends the held stretch of the request before. A stretch begins and ends in the
# phase outside of all requests, so that a dropped stretch leaves nothing of the request's phase.
sub hold_request {
    my ($whose) = @_;
    my $next = $whose->{slower} ? $whose : undef;
    return if ($next // 0) == ($in // 0);
    if ($in) {
        Devel::DProf::Control::mark($outside->{phase});
        undef $marked;
        leave_held() if !$next || !defined $next->{held};
    }
    $in = $next or return;
    if (defined $in->{held}) { Devel::DProf::Control::held($in->{held}) }
    else { $in->{held} = Devel::DProf::Control::hold($in->{slower}) }
    return;
}

# Ends the held stretch of the request that has run, and counts the request if it is over.
sub leave_held {
    my $was = $in;
    undef $in;
    settle_request($was);
    Devel::DProf::Control::held(0);
    return;
}

# Counts a request if it is over, that is, has ended and has no section left, and keeps or drops its
# held stretch.
sub settle_request {
    my ($state) = @_;
    return if $open{$state} || grep { $_->{state} == $state } @sections;
    my $is_kept = $state->{held} ? Devel::DProf::Control::settle($state->{held})
        : !$state->{left_out} && ($state->{is_chosen} || Devel::DProf::Control::recording());
    $state->{held} = 0;
    my $began = delete $state->{began};
    Devel::DProf::Control::request_end($state->{name}, $began, $is_kept)
        if $began && $state->{process} eq process();
    return;
}

# A child process or a new thread has copies of the requests that are open in its parent, which
# counts them.
my $clones = 0;
sub CLONE { $clones++; return }

# Returns a text that differs between processes and threads.
sub process { return "$$.$clones" }

# Restores the recorder's state and phase of before the first request, when no request runs any
# more.
sub leave_requests {
    my $was = $outside or return;
    Devel::DProf::Control::stop() if $was->{is_switched} && !$was->{recording};
    Devel::DProf::Control::mark($was->{phase}) if defined $marked;
    undef $marked;
    leave_held() if $in;
    undef $outside;
    Devel::DProf::Control::start() if $was->{is_switched} && $was->{recording};
    return;
}

# Returns the state of the request that runs now, or undef. A coroutine does not report when it
# continues, so if sections of several coroutines are open, we cannot know which of them runs.
sub whose_turn {
    if (@sections) {
        my $last = $sections[-1];
        my $is_one = !grep { $_->{coroutine} != $last->{coroutine} } @sections;
        return $is_one ? $last->{state} : overlapping_requests(map { $_->{state} } @sections);
    }
    my @open = values %open;
    return @open > 1 ? overlapping_requests(@open) : $open[0];
}

# Returns a state that stands for several requests, any of them running.
sub overlapping_requests {
    my (@states) = @_;
    return { name => OVERLAPPING, is_chosen => scalar(grep { $_->{is_chosen} } @states),
        left_out => !grep { !$_->{left_out} } @states };
}

# Returns the address of the current coroutine, or 0. Coro's variable is not named in the code:
# without Coro, the program could see that it exists.
sub coroutine {
    return 0 if !$INC{'Coro.pm'};
    no strict 'refs';
    return 0 + (${'Coro::current'} // 0);
}

package    # for PAUSE
    Devel::DProf::Requests::Request;

our $DPROF_AROUND;

# Begins a section, which ends when the returned object is destroyed. So the section ends however
# the code leaves it, and no exception has to be caught.
sub section {
    my ($self) = @_;
    my $section = { state => $$self, coroutine => Devel::DProf::Requests::coroutine() };
    push @sections, $section;
    Devel::DProf::Requests::begin_phase_in_turn();
    return bless \$section, 'Devel::DProf::Requests::Section';
}

# Gives the request another name.
sub set_name {
    my ($self, $name) = @_;
    return Devel::DProf::Requests::rename_state($$self, $name);
}

# Returns a function that names the request, and that does not keep the request open.
sub renamer {
    my ($self) = @_;
    my $state = $$self;
    return sub { return Devel::DProf::Requests::rename_state($state, $_[0]) };
}

# Ends the request. Its sections may outlast it.
sub end {
    my ($self) = @_;
    return if !delete $open{$$self};
    Devel::DProf::Requests::begin_phase_in_turn();
    Devel::DProf::Requests::settle_request($$self);
    return;
}

sub DESTROY { $_[0]->end if ${^GLOBAL_PHASE} ne 'DESTRUCT'; return }

package    # for PAUSE
    Devel::DProf::Requests::Section;

our $DPROF_AROUND;

# Ends a section when the last reference to it is gone; it need not be the innermost one.
sub DESTROY {
    my ($self) = @_;
    return if ${^GLOBAL_PHASE} eq 'DESTRUCT';
    if (@sections && $sections[-1] == $$self) { pop @sections }
    else { @sections = grep { $_ != $$self } @sections }
    Devel::DProf::Requests::begin_phase_in_turn();
    Devel::DProf::Requests::settle_request($$self->{state}) if $$self->{state}{began};
    return;
}

1;
