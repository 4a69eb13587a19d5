package Devel::DProf::Live::Watch;

# dprofpp --watch: prints a report every so many seconds while a program writes to the profiles.

use strict;
use warnings;

use Devel::DProf::Input qw(of_runs);
use Devel::DProf::Tool qw(OK complain);
use Fcntl ();
use POSIX ();

our $VERSION = $Devel::DProf::Core::VERSION;

# Returns what is wrong with the interval or the names of --watch, or undef.
sub wrong {
    my ($seconds, @names) = @_;
    return "$seconds: the seconds between two reports must be positive" if $seconds <= 0;
    my ($once) = grep { is_read_once($_) } @names;
    return defined $once ? not_again($once) : undef;
}

sub is_read_once { return $_[0] eq '-' || -e $_[0] && !-f _ }

# Returns the message about a name that is no file which can be read again and again.
sub not_again {
    my ($name) = @_;
    require Devel::DProf::Outcome;
    return -d $name ? Devel::DProf::Outcome::of_folder($name)
        : "$name: not a file that can be read again; dprofreport reads it once";
}

# Shows the report of a running program every SECONDS, until its recording ends or SIGINT comes.
# SHOWN prints the report of the files that it gets, and returns the tool's status.
sub watch {
    my ($seconds, $processes, $names, $shown) = @_;
    my $screen = -t STDOUT;
    my ($stop, $waiting, $reports) = (0, 0, 0);
    local $SIG{INT} = sub { $stop = 1 };
    until ($stop) {
        my @there = grep { -s } @$names;
        my @all = of_runs($processes, 1, @there);
        # This check comes before the files are read, so that the last report is complete.
        my $running = @there < @$names || grep { is_recorded($_) } @all;
        if (@there) {
            print $screen ? "\e[H\e[2J" : $reports++ ? "\n" : '';
            STDOUT->flush;      # messages follow on standard error
            my $status = $shown->($running, @all);
            return $status if $status != OK;
        } elsif (!$waiting++) {
            complain("dprofpp: waiting for @$names");
        }
        last if !$running;
        select undef, undef, undef, $seconds if !$stop;
    }
    return OK;
}

# Returns whether a run is still writing to a file that has a header: the recorder holds a lock on
# it as long as it lives. The recorder locks before it writes, so this check of a file that is not
# empty cannot prevent the recorder's lock.
sub is_recorded {
    my ($path) = @_;
    open my $in, '<', $path or return 0;
    return !flock($in, Fcntl::LOCK_SH() | Fcntl::LOCK_NB()) && $! == POSIX::EWOULDBLOCK();
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Live::Watch - reports while a program runs: dprofpp --watch

=head1 DESCRIPTION

This module implements L<dprofpp/--watch>. It is internal to this distribution.

=head1 FUNCTIONS

=over

=item wrong SECONDS, NAME, ...

Returns the reason why these files cannot be watched, or undef.

=item watch SECONDS, ALL, NAMES, CODE

Calls CODE every so many seconds, until the runs have ended, CODE returns a status other than 0, or
the user presses Ctrl-C. CODE gets a boolean, whether a run still goes on, and the paths to read
(ALL has the same meaning as for L<Devel::DProf::Input/of_runs>). Returns the exit status.

=back

=cut
