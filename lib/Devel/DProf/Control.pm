package Devel::DProf::Control;

use strict;
use warnings;

our $VERSION = '20261120.00';

use Exporter 'import';

our @EXPORT_OK = qw(start stop mark save phase recording);

# These are the recorder's own functions if it is loaded, and no-ops otherwise, unless the program
# loads Devel::DProf::Sample later on.
for my $name (@EXPORT_OK) {
    no strict 'refs';
    my $own = "Devel::DProf::_control_$name";
    *$name = defined &$own ? \&$own : sub { return defined &$own ? &$own : () };
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
    load($_) for @ARGV;
    Devel::DProf::Control::mark('search');
    search();

    Devel::DProf::Control::save();      # the file holds everything up to here

    perl -d:DProf=start=no script.pl    # records between start and stop only
    perl script.pl                      # the calls do nothing

=head1 DESCRIPTION

A program that uses this module runs with and without the profiler. Without C<-d:DProf> the
functions do nothing, and nothing is loaded but this file. They can be imported by name. They never
appear in a profile themselves.

=head1 FUNCTIONS

The functions take and return nothing but what is listed here, and none of them dies. Each acts on
the thread that calls it.

=over

=item start

Recording continues. Subs that are running at this moment are in the profile again from here on, but
do not count as called. While recording is on, C<start> does nothing. Starts and stops do not nest:
the last one counts.

=item stop

Nothing is recorded from here on, neither calls nor time, up to the next C<start>, which may come in
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

=item phase

Returns the name of the phase that runs, so that a piece of code can mark a phase of its own and
then go back: C<my $before = phase(); mark('search'); ...; mark($before)>. Without the profiler it
returns undef.

=item recording

Returns whether recording is on: true or false, and false without the profiler.

=back

=head1 SEE ALSO

L<Plack::Middleware::DProf>, L<Mojolicious::Plugin::DProf>, L<Devel::DProf>, L<dprofpp>

=cut
