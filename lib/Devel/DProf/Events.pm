package Devel::DProf::Events;

use strict;
use warnings;

use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;

sub CLONE_SKIP { 1 }

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Events - what can be counted

=head1 SYNOPSIS

    use Devel::DProf::Events;

    my $events = Devel::DProf::Events->new;
    for my $item (@{ $events->list }) {
        my $tried = $events->try($item->{name});
        print "$item->{name}: ", $tried->{works} ? 'works' : $tried->{why} // $tried->{error}, "\n";
    }

=head1 DESCRIPTION

The counters that the option C<events> of the recorder takes, by name (L<Devel::DProf/EVENTS>): perl's own, the kernel's, this processor's. L<dproflist> prints them.

=head1 METHODS

=over

=item new [SYSFS]

What there is on this machine. The environment variable PERF_CPUID has another processor's id in place of this one's. SYSFS is for tests: a folder in place
of F</sys/bus/event_source/devices>.

=item list [ALL]

An array of hashes, one for each name: name, alias, topic, description, long_description, event (its terms), unit, pmu, table (of a processor's table: the pattern of ids that it is for), group
(C<perl>, C<hardware>, C<cache>, C<software>, C<pmu>, C<table>), deprecated, per_thread (false: its PMU counts for the whole machine, and not for a program). What does not apply is not there. ALL: the
tables of all processors.

=item tables

The rows of the map of processors to tables: hashes of cpuid (a pattern), version and table, a number.

=item processor

A hash of this processor: cpuid, row and version of its table (not there where it has none), pmu (the core's), hidden (the kernel does not show that PMU).

=item try EVENT

Asks for an event, as the recorder would. A hash: works; name, as its column would be called; unit; description; why it does not work. Or of error alone, where
there is no such event.

=back

=cut
