package Devel::DProf::Live::Target;

# A running perl, or a core file, that is looked at from outside.

use strict;
use warnings;

use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;

# The object holds an address, which another thread must not free again.
sub CLONE_SKIP { return 1 }

# Opens a running process to read its memory, and stops it at each sample if pause is true. threads:
# all its interpreters, not only the first. Dies with the reason if it cannot be read.
sub process {
    my ($class, $pid, %how) = @_;
    my $self = $class->_open($pid, undef, $how{threads} ? 1 : 0);
    $self->_pause if $how{pause};
    return $self;
}

# Opens a core file. Dies with the reason if it cannot be read.
sub core {
    my ($class, $path, %how) = @_;
    return $class->_open(0, $path, $how{threads} ? 1 : 0);
}

# Returns the stacks of all threads at this moment as a hash. args: with the arguments of calls.
sub stacks { my ($self, %how) = @_; return $self->_dump($how{args} ? 1 : 0) }

# Returns a reference to a list with the numbers of samples of each thread, as hashes.
sub counts { return $_[0]->_counts }

# Looks for interpreters that began after the target was opened.
sub look_for_threads { return $_[0]->_find_threads }

# Returns the profile of a thread, given by its number in counts(), as the text of a tree file.
# HEAD: facts for the header.
sub profile { my ($self, $thread, %head) = @_; return $self->_profile($thread, \%head) }

# Forgets the samples so far, as the next slice begins.
sub begin_slice { return $_[0]->_renew }

# Takes samples of all TARGETS, RATE a second, until so many SECONDS have passed or all processes
# have ended.
sub run { my ($targets, $rate, $seconds) = @_; return _run($targets, $rate, $seconds) }

# ---- processes ----

# Returns the numbers of the processes that a process has started, and of those that these have
# started.
sub children_of {
    my ($pid) = @_;
    my @children;
    for my $file (glob "/proc/$pid/task/*/children") {
        open my $in, '<', $file or next;
        push @children, split ' ', readline($in) // '';
    }
    return map { ($_, children_of($_)) } @children;
}

# Returns the number of the process that has started this one.
sub parent_of {
    my ($pid) = @_;
    open my $in, '<', "/proc/$pid/stat" or return 0;
    return (readline($in) // '') =~ /.*\) \S (\d+)/s ? $1 : 0;
}

# Returns whether a process has not ended; one that waits for its parent has.
sub is_alive {
    my ($pid) = @_;
    open my $in, '<', "/proc/$pid/stat" or return 0;
    return (readline($in) // '') =~ /.*\) ([A-Z])/is && $1 !~ /[ZX]/ ? 1 : 0;
}

# Returns the function of the kernel in which a thread waits, or ''.
sub waits_in {
    my ($pid, $tid) = @_;
    open my $in, '<', "/proc/$pid/task/$tid/wchan" or return '';
    my $name = readline($in) // '';
    return $name eq '0' ? '' : $name;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Live::Target - a running perl, or a core file, that is looked at from outside

=head1 DESCRIPTION

L<dprofattach>, L<dprofdump> and L<dproftop> look at other processes through this class. It needs
the rights of ptrace, but it stops the process only with C<pause>. It is internal to this
distribution.

=head1 METHODS

=over

=item process PID, NAME => VALUE, ...

Attaches to a process. threads: all threads that run a perl, not only the first interpreter. pause:
stops the process with ptrace for each reading. Dies with one line that says what to do.

=item core PATH, threads => 1

Opens a core file.

=item stacks args => 1

Returns a reference to a list of threads. Each one is a hash: tid; number, 0 for the first
interpreter; state, as in proc(5); op, perl's name of the op that runs; leaf, the XS sub or slow
builtin that runs, if any; inside, a list of what perl has interrupted its code for (sort, signal,
DESTROY ...), the innermost first; frames, a list of hashes, the innermost first: kind (sub, eval,
require, main), sub, file, line, args. failed: no stack was found that fits perl's structure.

=item counts

Returns a reference to a list of hashes, one for each thread: tid, number, samples, mended,
given_up, unread, behind, readings, parts, script, perl, ended.

=item look_for_threads

Looks again which threads there are.

=item profile THREAD, NAME => VALUE, ...

Returns the text of a profile of all samples so far. run, script, start (seconds since 1970), ppid,
rate, slice: values for its header.

=item begin_slice

Begins an empty profile.

=back

=head1 FUNCTIONS

=over

=item run TARGETS, RATE, SECONDS

Takes samples of the targets in a list, RATE times a second, for so many seconds. Returns earlier if
a signal comes, or if all have ended. Returns how many still run.

=item children_of PID

Returns the processes that a process has started, and those that they have started.

=item parent_of PID, is_alive PID, waits_in PID, TID

Returns the number of the parent, whether the process has not ended, and the kernel function in
which a thread waits.

=back

=cut
