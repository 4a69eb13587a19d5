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

Devel::DProf::Events - what can be counted, as Perl sees it

=head1 SYNOPSIS

    use Devel::DProf::Events;

    my $events = Devel::DProf::Events->new;
    for my $item (@{ $events->list }) {
        my $tried = $events->try($item->{name});
        print "$item->{name}: ", $tried->{works} ? 'works' : $tried->{why} // $tried->{error}, "\n";
    }

=head1 DESCRIPTION

The counters of perl, of the kernel and of this processor, by name. The recorder's option C<events>
takes these names (L<Devel::DProf/EVENTS>), and L<dproflist> prints them.

=head1 METHODS

=over

=item new [SYSFS]

The events of this machine. The environment variable PERF_CPUID replaces this processor's id with
another's. SYSFS is for tests: a folder in place of F</sys/bus/event_source/devices>.

=item list [ALL]

A reference to an array of hashes, one for each name: name, alias, topic, description,
long_description, event (its terms), unit, pmu, table (in a processor's table: the pattern of ids
for which the table is made), group (C<perl>, C<hardware>, C<cache>, C<software>, C<pmu>, C<table>),
deprecated, per_thread (false: its PMU counts for the whole machine, and not for a program). Keys
that do not apply are missing. ALL adds the tables of all processors.

=item tables

The rows of the map from processors to tables: hashes of cpuid (a pattern), version and table, a
number.

=item processor

A hash about this processor: cpuid; row and version of its table (missing if it has none); pmu (the
core's); hidden (the kernel does not show that PMU).

=item try EVENT

Requests an event, as the recorder would. Returns a hash: works; name, the name that its column
would have; unit; description; why, the reason if it does not work. If there is no such event, the
hash has only error.

=back

=cut
