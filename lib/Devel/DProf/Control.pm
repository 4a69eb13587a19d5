package Devel::DProf::Control;

use strict;
use warnings;

our $VERSION = '20261120.00';

use Exporter 'import';

our @EXPORT_OK = qw(start stop mark save);

# The recorder's own functions where it is there, and nothing at all otherwise.
for my $name (@EXPORT_OK) {
    no strict 'refs';
    *$name = defined &{"Devel::DProf::_control_$name"} ? \&{"Devel::DProf::_control_$name"} : sub { return };
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Control - start and stop recording from the program, mark its phases

=head1 SYNOPSIS

    use Devel::DProf::Control;

    Devel::DProf::Control::stop();
    read_configuration();               # of no interest
    Devel::DProf::Control::start();

    Devel::DProf::Control::mark('load');
    load($_) for @ARGV;
    Devel::DProf::Control::mark('search');
    search();

    Devel::DProf::Control::save();      # the file has all up to here

    perl -d:DProf=start=no script.pl    # records between start and stop only
    perl script.pl                      # the calls do nothing

=head1 DESCRIPTION

A program that uses this module runs with and without the profiler. Without C<-d:DProf> the functions
do nothing, and nothing is loaded but this file. They can be imported by name. They never appear in
a profile themselves.

=head1 FUNCTIONS

None takes or returns anything but what is said here, and none dies. Each acts on the thread that calls it.

=over

=item start

Recording goes on. What runs by now is in the profile again from here on, but does not
count as called. Does nothing while recording is on: starts and stops are not counted, the last one holds.

=item stop

Nothing is recorded from here on, neither calls nor time, up to the next C<start>. It may come in another sub, at any
depth. The file's header tells how long recording was stopped (C<$dprof_stopped>). A child process or a thread
begins as its parent was.

While recording is stopped, a call still costs about as much as a recorded one.

=item mark NAME

A phase of this name begins, and the one before it ends. A profile begins in phase C<BEGIN>; when the
main program starts, C<main> begins, and C<END> with the first END block: those are marked without being asked.
A name may come again. Subs that run when a phase begins have their time up to then in the old phase,
later time in the new one, and were called in the phase that they were called in. C<dprofpp --phases> tells
phases apart. NAME is a string: an empty or undefined one does nothing, nor does a reference or a tied variable, which
might run code of the program's. From 1,000 different names on, further ones are C<other>.

=item save

Brings the file up to date while the program goes on; see L<Devel::DProf/"signal=NAME"> for doing that from
outside.

=back

=head1 SEE ALSO

L<Devel::DProf>, L<dprofpp>

=cut
