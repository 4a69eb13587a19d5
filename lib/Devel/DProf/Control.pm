package Devel::DProf::Control;

use strict;
use warnings;

our $VERSION = '20261120.00';

use Exporter 'import';

our $DPROF_AROUND;      # the Perl subs of this package are not recorded

our @EXPORT_OK = qw(start stop mark save heap phase recording hold held settle allow_attach);

# With a fixed seed of hashes, the recorder hides what it has added to the symbol table.
load_core() if !defined &Devel::DProf::_start && ($ENV{PERL_HASH_SEED} // 0) ne '0';

# These are the recorder's own functions if it is loaded, and no-ops otherwise, unless the program
# loads Devel::DProf::Sample later on. The last three are for Devel::DProf::Requests.
for my $name (@EXPORT_OK, qw(request_begin request_end request_server)) {
    no strict 'refs';
    my $own = "Devel::DProf::_control_$name";
    *$name = defined &$own ? \&$own : sub {
        load_core() if $name eq 'allow_attach';
        return defined &$own ? &$own : ();
    };
}

push @EXPORT_OK, 'span';

# The recorder's function makes the call of this sub the span, or the rest of the caller's scope.
sub span {
    return defined &Devel::DProf::_control_span
        ? Devel::DProf::_control_span($_[0], $_[1], 1) : undef if @_ < 3;
    Devel::DProf::_control_span($_[0], $_[1], 0) if defined &Devel::DProf::_control_span;
    return $_[2]->();
}

# Loads the compiled part of Devel::DProf without the recorder. Returns false if that fails; then
# the functions of this module do nothing.
sub load_core {
    local ($@, $SIG{__DIE__});
    return eval { require Devel::DProf::Core };
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Control - start and stop recording from the program, mark its phases

=head1 SYNOPSIS

    use Devel::DProf::Control;

    Devel::DProf::Control::stop();
    read_configuration();               # not recorded
    Devel::DProf::Control::start();

    Devel::DProf::Control::mark('load');
    load_core($_) for @ARGV;
    Devel::DProf::Control::mark('search');
    search();

    Devel::DProf::Control::save();      # the file holds everything up to here

    perl -d:DProf=start=no script.pl    # records between start and stop only
    perl script.pl                      # the calls do nothing

=head1 DESCRIPTION

A program that uses this module runs with and without the profiler. Without C<-d:DProf> the
functions do nothing, and nothing is loaded but this file; C<allow_attach> is the exception. The
functions can be imported by name. They never appear in a profile themselves.

=head1 FUNCTIONS

The functions take and return nothing but what is listed here, and none of them dies. Each acts on
the thread that calls it.

=over

=item start

Recording continues. Subs that are running at this moment are in the profile again from here on, but
do not count as called. While recording is on, C<start> does nothing. Starts and stops do not nest:
the last one counts.

=item stop

From here on, neither calls nor time are recorded, up to the next C<start>, which may come in
another sub, at any depth. The file's header says how long recording was stopped
(C<$dprof_stopped>). A child process or a thread begins in the state of its parent.

While recording is stopped, a call still costs about as much as a recorded one.

=item mark NAME

A phase of this name begins, and the previous phase ends. A profile begins in phase C<BEGIN>. The
phase C<main> begins with the main program, and C<END> with the first END block; the recorder marks
these by itself. A name may be used again.

Subs that run when a phase begins have their time up to then in the old phase, and later time in the
new one. Their call counts in the phase in which it happened. C<dprofpp --phases> shows phases
separately.

NAME is a string. An empty or undefined one does nothing; neither does a reference or a tied
variable, which might run code of the program. After 1,000 different names, further ones are
recorded as C<other>.

=item save

Brings the file up to date while the program continues. L<Devel::DProf/SAVING> describes how to do
that from outside.

=item heap NAME

Writes a snapshot of the values that live now, a profile of its own, F<FILE-NAME> beside the
profile F<FILE>, and goes on. L<dprofdiff> compares two of them: what was made since the first one
and still lives, by sub and line.

    Devel::DProf::Control::heap('warm');
    handle($_) for @requests;
    Devel::DProf::Control::heap('done');

    $ dprofdiff -m live-values tmon.out-warm tmon.out-done

C<dprofreport --growth FILE-*> shows what has grown over several snapshots, and, with the option
C<heap-holders>, who holds it.

Characters of NAME other than letters, digits, C<_> and C<.> become C<_>. Returns whether the
snapshot was written: it is not without the option C<heap> (L<Devel::DProf/MEMORY>), nor with
slices: each slice has what lives at its end.

=item hold SECONDS

A stretch of the recording begins here, and is held back. If it takes SECONDS or longer, in real
time, it is kept, and otherwise dropped. So a worker of many jobs records the slow ones only:

    my $held = Devel::DProf::Control::hold(0.5);
    work_on($job);
    Devel::DProf::Control::settle($held);

C<hold> returns a number above 0 for the stretch, or 0 if nothing is held back and all is recorded.
That happens without the profiler, if SECONDS is no number above 0, if memory is short, and in a
trace, which cannot take back what it has written. A message says that once. Record as a tree or by
samples.

A second C<hold> begins another stretch, which does not belong to the first.

=item settle NUMBER

Ends the stretch of this number, or without NUMBER the current one, and returns whether the stretch
was kept. From here on, calls are recorded at once. A number that is not, or no longer, a stretch's
does nothing.

A dropped stretch counts like the time between C<stop> and C<start>: it is in no sum, and its time
is part of C<$dprof_stopped>. Calls that were running go on as if the stretch had taken no time. A
kept stretch is recorded as if there had been no C<hold>, in the phases that were marked meanwhile.

A file that is saved in the middle of a stretch has nothing of that stretch; neither has the file of
a process that was killed in the middle. A slice has the whole of each stretch that ends in it.
Stretches that are open when the program ends, dies or calls exec are kept if they have taken long
enough by then. A forked child has its own file, in which nothing is held back until it calls
C<hold> itself.

=item held NUMBER

From here on, calls belong to the stretch of this number, or to none if the number is 0. So
stretches can take turns, as requests in an event loop do. A stretch lasts from its C<hold> to its
C<settle>, whatever runs in between. C<held> returns the number of the stretch that was current
until now; without NUMBER it does nothing else.

=item phase

Returns the name of the current phase, so that a piece of code can mark a phase of its own and then
go back: C<my $before = phase(); mark('search'); ...; mark($before)>. Without the profiler it
returns undef.

=item recording

Returns whether recording is on: true or false, and false without the profiler.

=item span KIND, TEXT, CODE

Calls CODE without arguments, and returns what it returns. In the profile, the time of the call is a
span, a frame C<KIND:TEXT> (L<Devel::DProf/Spans>):

    my $rows = span('cache', 'prices', sub { $cache->get('prices') });

KIND is a word of your own, or one that the recorder uses: C<sql>, C<http>, C<template>, C<command>,
C<file>, C<regex>, C<cache>. TEXT is any string. Use few different texts: after 10,000 of a kind,
further ones are recorded as C<other>. Leave out what is secret, and what differs from call to call.

If KIND or TEXT is empty, undefined, a reference or a tied variable, CODE is called all the same,
and there is no span. Without the profiler C<span> only calls CODE.

=item span KIND, TEXT

Without CODE, the rest of the caller's scope is the span. It ends when the value that C<span>
returns is freed, so keep that in a C<my> variable:

    my $span = span('template', 'invoice');

If the value is freed while a sub that was called in the span still runs, the span ends with that
sub. Without the profiler the value is C<undef>.

=item allow_attach

From here on, other processes of the same user may look at this process: L<dprofattach>,
L<dprofdump>, L<dproftop>, and debuggers. Many systems, Ubuntu among them, permit that to parents
and root alone, by Yama and the sysctl C<kernel.yama.ptrace_scope=1>. Who may look can read all of
the process's memory, its secrets included. So a program calls this only if it trusts the other
processes of its user.

Returns true if the kernel has accepted it, and false on systems without Yama, where nothing forbids
it. It needs no profiler: it loads the compiled part of this distribution, which records nothing. A
forked child needs a call of its own. The permission ends with the process. With
C<ptrace_scope=2> or C<3> the permission has no effect.

=back

=head1 PACKAGES AROUND THE PROGRAM

A plugin or middleware that calls these functions around an application's code would be in each
stack of the application. A package that declares a variable C<$DPROF_AROUND> is not in the profile:
the time of its subs, and the calls that they make, count for their callers. Put the declaration
before the first C<use>, whose C<BEGIN> would be recorded otherwise. The variable needs no value,
and the package need not load this module.

    package My::Plugin;
    our $DPROF_AROUND;
    use Devel::DProf::Control qw(mark);

=head1 SEE ALSO

L<Plack::Middleware::DProf>, L<Mojolicious::Plugin::DProf>, L<Devel::DProf>, L<dprofpp>

=cut
