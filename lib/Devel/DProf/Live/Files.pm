package Devel::DProf::Live::Files;

# Finds the files that a running program writes, by its process, and follows slices.

use strict;
use warnings;

use Devel::DProf::Input qw(of_runs header_of);
use Devel::DProf::Live::Watch;

our $VERSION = $Devel::DProf::Core::VERSION;

# Makes the list of files to read again and again. all: read the files of all processes of a run. A
# name is a file, or the number of a process, which stands for the files that it writes.
sub new {
    my ($class, $all, @names) = @_;
    my $self = bless { all => $all, pids => [], follows => [], skipped => 0 }, $class;
    for my $name (@names) {
        if ($name =~ /\A[0-9]+\z/ && !-e $name) {
            push @{ $self->{pids} }, $name;
            $self->follow(of_process($name));
        } else {
            die Devel::DProf::Live::Watch::not_again($name), "\n"
                if Devel::DProf::Live::Watch::is_read_once($name);
            $self->follow($name);
        }
    }
    return $self;
}

# ---- files that are followed ----

# Adds files to the followed ones. If a file is a slice, its successors are followed, too: a slice
# has a number in its name, and its successor a higher one. Its file is NAME.part, and NAME.tree
# once the slice is complete.
sub follow {
    my ($self, @paths) = @_;
    for my $path (@paths) {
        my ($stem, $number) = $path =~ /\A(.*-)([0-9]+)\.part\z/s;
        my $key = $stem // $path;
        next if $self->{known}{$key}++;
        push @{ $self->{follows} }, { path => $path, stem => $stem, number => $number };
    }
    return;
}

# Returns whether a program still writes, or has not begun, and then the existing files. The caller
# reads the files afterwards, so if no program writes, it reads complete files.
sub files {
    my ($self) = @_;
    $self->{skipped} = 0;
    $self->follow(map { profiles_of($_) } @{ $self->{pids} });
    $self->follow(of_runs(1, 1, grep { -s } map { $self->newest($_) } @{ $self->{follows} }))
        if $self->{all};
    my @found = map { [$_->{stem} ? $self->slices($_) : grep { -s } $_->{path}] }
        @{ $self->{follows} };
    my @all = map { @$_ } @found;
    my $running = grep { Devel::DProf::Live::Watch::is_recorded($_) } @all;
    # Between two slices there is a moment in which the program writes no file.
    if (!$running && grep { $_->{stem} } @{ $self->{follows} }) {
        select undef, undef, undef, 0.05;
        $running = grep { Devel::DProf::Live::Watch::is_recorded($_) }
            map { $self->newest($_) } @{ $self->{follows} };
    }
    return ($running || !@all ? 1 : 0, @all);
}

# Returns the path of the last slice of a followed recording, or of its file if there are no slices.
sub newest {
    my ($self, $one) = @_;
    return $one->{path} if !$one->{stem};
    my %slice = slices_from($one);
    my ($last) = sort { $b <=> $a } keys %slice;
    return defined $last ? $slice{$last} : $one->{path};
}

# Returns the files of a followed recording from the slice that the previous call returned last up
# to the current last one, and counts those that are already removed.
sub slices {
    my ($self, $one) = @_;
    my %slice = slices_from($one);
    my @numbers = sort { $a <=> $b } keys %slice or return;
    $self->{skipped} += $numbers[-1] - $one->{number} + 1 - @numbers;
    $one->{number} = $numbers[-1];
    return grep { -s } @slice{@numbers};
}

# Returns, as a hash by number, the files of a followed recording's slices, from its current slice
# up.
sub slices_from {
    my ($one) = @_;
    my ($dir, $base) = $one->{stem} =~ m{\A(.*/)?([^/]*)\z}s;
    opendir my $in, $dir // '.' or return;
    my %slice;
    for my $name (readdir $in) {
        next if $name !~ /\A\Q$base\E([0-9]+)\.(?:part|tree)\z/ || $1 < $one->{number};
        $slice{$1} = ($dir // '') . $name;
    }
    return %slice;
}

# Returns the number of slices that were removed before the last call of files could see them.
sub skipped { return $_[0]{skipped} }

# ---- processes ----

# Returns the profiles that a process writes. Dies with the reason if there are none.
sub of_process {
    my ($pid) = @_;
    my @profiles = profiles_of($pid);
    return @profiles if @profiles;
    die "there is no process $pid, and no file of that name\n" if !kill(0, $pid) && $!{ESRCH};
    die "process $pid writes no profile\n";
}

# Returns whether a process exists, but writes no profile now.
sub is_unrecorded {
    my ($pid) = @_;
    return -d "/proc/$pid" && !profiles_of($pid);
}

# Returns the profiles of a process. A forked child has its parent's files open until it records
# something, so the header must have the child's own process ID.
sub profiles_of {
    my ($pid) = @_;
    my %is = map { $_ => 1 } $pid, numbers_in_namespaces($pid);
    my %seen;
    my @open = grep { !$seen{$_}++ && is_recorded_by($_, %is) } open_files($pid);
    return @open ? @open : grep { is_recorded_by($_, %is) } "tmon.out.$pid", 'tmon.out';
}

# Returns whether a file is the profile of one of these process IDs, the keys of %IS, and is being
# recorded now.
sub is_recorded_by {
    my ($path, %is) = @_;
    return 0 if !-s $path || !-f _;
    my %header = header_of($path);
    return $is{ $header{dprof_pid} // '' } && Devel::DProf::Live::Watch::is_recorded($path);
}

# Returns the process's IDs in containers, as its profile has the ID that the process itself sees.
sub numbers_in_namespaces {
    my ($pid) = @_;
    open my $in, '<', "/proc/$pid/status" or return;
    return map { /\ANSpid:\s*(.*)/ ? split ' ', $1 : () } readline $in;
}

# Returns the regular files that a process has open, by paths that are valid in this process.
sub open_files {
    my ($pid) = @_;
    opendir my $in, "/proc/$pid/fd" or return;
    return map { name_of($pid, "/proc/$pid/fd/$_") } sort { $a <=> $b } grep { /\A\d+\z/ }
        readdir $in;
}

# Returns the path of a process's open file, given its link in /proc, or nothing if the file has no
# path any more. The process may have another root.
sub name_of {
    my ($pid, $link) = @_;
    my $name = readlink $link // return;
    my @is = stat $link or return;
    return if !-f _;
    for my $path ($name, "/proc/$pid/root$name") {
        my @there = stat $path or next;
        return $path if "@is[0, 1]" eq "@there[0, 1]";
    }
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Live::Files - finds the files that a running program writes, and follows slices

=head1 DESCRIPTION

L<dproftop> gets the files to read from this module. It writes nothing, and does not affect the
program. It is internal to this distribution.

=head1 METHODS

=over

=item new ALL, NAME, ...

A NAME is a file or, if no such file exists, a process ID. The files of a process are those that it
has open, or else F<tmon.out.PID> or F<tmon.out> in the current folder. If ALL is true, the files of
its whole run are followed, too. Dies with one line if no such process exists, or if it writes no
profile.

=item files

Returns whether a program still writes or no file exists yet, and the paths of the files to read. If
the program writes slices (L<Devel::DProf/SLICES>), these are the last one of the previous call and
all that the program has written since.

=item skipped

Returns the number of slices that were removed before the last call of C<files> could see them.

=item follow PATH, ...

Follows these files, too, from now on.

=back

=head1 FUNCTIONS

=over

=item of_process PID

Returns the profiles that a process writes. Dies with the reason if there are none.

=item is_unrecorded PID

Returns whether a process exists, but writes no profile now.

=back

=cut
