package Devel::DProf::Live::Files;

# The files that a program writes while it runs: found by its process, followed from slice to slice.

use strict;
use warnings;

use Devel::DProf::Input qw(of_runs header_of);
use Devel::DProf::Live::Watch;

our $VERSION = $Devel::DProf::Core::VERSION;

sub new {
    my ($class, $all, @names) = @_;
    my $self = bless { all => $all, pids => [], follows => [], skipped => 0 }, $class;
    for my $name (@names) {
        if ($name =~ /\A[0-9]+\z/ && !-e $name) {
            push @{ $self->{pids} }, $name;
            $self->follow(of_process($name));
        } else {
            die "$name: not a file that can be read again\n" if $name eq '-' || -e $name && !-f _;
            $self->follow($name);
        }
    }
    return $self;
}

# ---- files that are followed ----

# A slice has a number in its name, which its successor's is above. Its file is NAME.part, and
# NAME.tree when it is whole.
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

# Returns whether a program still writes, or has not begun, and the files that there are. This is
# looked up before they are read, so that what is read after the end is complete.
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
    # Between two slices there is a moment without one that is being written.
    if (!$running && grep { $_->{stem} } @{ $self->{follows} }) {
        select undef, undef, undef, 0.05;
        $running = grep { Devel::DProf::Live::Watch::is_recorded($_) }
            map { $self->newest($_) } @{ $self->{follows} };
    }
    return ($running || !@all ? 1 : 0, @all);
}

sub newest {
    my ($self, $one) = @_;
    return $one->{path} if !$one->{stem};
    my %slice = slices_from($one);
    my ($last) = sort { $b <=> $a } keys %slice;
    return defined $last ? $slice{$last} : $one->{path};
}

# Returns the slices from the one that was the last at the look before up to the last one. The next
# call begins with that.
sub slices {
    my ($self, $one) = @_;
    my %slice = slices_from($one);
    my @numbers = sort { $a <=> $b } keys %slice or return;
    $self->{skipped} += $numbers[-1] - $one->{number} + 1 - @numbers;
    $one->{number} = $numbers[-1];
    return grep { -s } @slice{@numbers};
}

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

# Returns how many slices were gone before they were seen, at the last call of files.
sub skipped { return $_[0]{skipped} }

# ---- processes ----

# Returns the profiles that a process writes; dies with why there are none.
sub of_process {
    my ($pid) = @_;
    my @profiles = profiles_of($pid);
    return @profiles if @profiles;
    die "there is no process $pid, and no file of that name\n" if !kill(0, $pid) && $!{ESRCH};
    die "process $pid cannot be looked at: $!; name its profile\n"
        if -d "/proc/$pid" && !opendir my $in, "/proc/$pid/fd";
    die "process $pid has the profiler, and no profile yet: that is made when its main program "
        . "begins, or a forked child calls its first sub; with start=no or start=mark, when "
        . "recording starts\n" if has_profiler($pid);
    die "process $pid is not recorded: the profiler is loaded when a program starts, and not "
        . "later. Start the program with perl -d:DProf=sample=100, or with "
        . "PERL5OPT=-d:DProf=sample=100 in its environment\n";
}

sub has_profiler {
    my ($pid) = @_;
    open my $in, '<', "/proc/$pid/maps" or return 0;
    return scalar grep { m{/Devel/DProf/DProf\.\w+$} } readline $in;
}

# A forked child has its parent's files open until it records something: so the header must have the
# process's own number.
sub profiles_of {
    my ($pid) = @_;
    my %is = map { $_ => 1 } $pid, numbers_in_namespaces($pid);
    my %seen;
    my @open = grep { !$seen{$_}++ && is_of($_, %is) } open_files($pid);
    return @open ? @open : grep { is_of($_, %is) } "tmon.out.$pid", 'tmon.out';
}

sub is_of {
    my ($path, %is) = @_;
    return 0 if !-s $path || !-f _;
    my %header = header_of($path);
    return $is{ $header{dprof_pid} // '' } && Devel::DProf::Live::Watch::is_recorded($path);
}

# In a container a process has another number, which is the one in its profile.
sub numbers_in_namespaces {
    my ($pid) = @_;
    open my $in, '<', "/proc/$pid/status" or return;
    return map { /\ANSpid:\s*(.*)/ ? split ' ', $1 : () } readline $in;
}

# Returns the regular files that a process has open, under names that mean them here.
sub open_files {
    my ($pid) = @_;
    opendir my $in, "/proc/$pid/fd" or return;
    return map { name_of($pid, "/proc/$pid/fd/$_") } sort { $a <=> $b } grep { /\A\d+\z/ }
        readdir $in;
}

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

Devel::DProf::Live::Files - the files that a program writes while it runs: by process, from slice to
slice

=head1 DESCRIPTION

What L<dproftop> looks at. It is internal to this distribution. Nothing is written, and nothing of
the program changes.

=head1 METHODS

=over

=item new ALL, NAME, ...

A NAME is a file, or, where there is no such file, the number of a process, whose files are those
that it has open, or else F<tmon.out.PID> or F<tmon.out> here. ALL: those of its whole run, too.
Dies with what is wrong, as a line: there is no such process, or it did not load the profiler.

=item files

Whether a program still writes, or no file is there yet; and the paths of the files to read. A slice
(L<Devel::DProf/SLICES>) is followed by its successors: all that were written since the call before
are among the paths, and the one that was the last one then.

=item skipped

The number of slices that were gone before the last call of C<files> could see them.

=item follow PATH, ...

From now on, these files, too.

=back

=head1 FUNCTIONS

=over

=item of_process PID

The profiles that a process writes. Dies with why there are none.

=back

=cut
