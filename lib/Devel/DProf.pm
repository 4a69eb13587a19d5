package Devel::DProf;


our $VERSION = '20261120.00';

# Nothing else is loaded: ops that were compiled before the hooks are set go
# unseen, and what we load the program could see.
require XSLoader;
XSLoader::load('Devel::DProf', $VERSION);

my $started;

sub import {
    _start() unless $started++;
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf - a profiler that records every sub's entry and exit

=head1 SYNOPSIS

    perl -d:DProf script.pl arguments
    dprofpp

=head1 DESCRIPTION

Devel::DProf records when each sub of a program is entered and left, and how much
time passed in between, and writes that to the file F<tmon.out>. L<dprofpp> turns
the file into a report or a call tree.

Every call counts: of subs written in Perl or in C, methods, C<BEGIN>, C<END> and C<import>,
C<DESTROY>, methods of tied variables, overloaded operators, signal handlers, code in string evals
and required files, callbacks from C, sort comparators, and the blocks of List::Util. Every exit is seen when it
happens: C<return>, the end of the sub, C<die> through any number of frames, C<last> and C<next> out of a
sub, C<goto &sub>, C<exit>.

The profiled program does not notice. No debugger flag stays set, no frame is added to C<caller>,
no variable, handler or timer is used. Output, exit status and the order of destruction are those of
the plain run.

It is a successor to the classic Devel::DProf by name, file format and options: what read its files reads
these, and its files are read by these tools.

=head1 WHAT IS RECORDED

=head2 Names

A sub is recorded as package and name, and with the file and line of its first statement. Names are
taken at the first call.

=over

=item Anonymous subs

are called C<__ANON__>, as everywhere in perl. File and line tell them apart, the sub around them and
their order of compilation two on one line. All closures of one piece of code are one sub, unless
they were given names of their own (Sub::Util).

=item AUTOLOAD

A call that ends in an C<AUTOLOAD> is recorded under the name that was wanted, as the variable C<$AUTOLOAD>
tells it. From 1,000 names on, further ones count under plain C<AUTOLOAD>.

=item String evals

Code that is compiled over and over gets a new name each time, C<(eval N)>. From 1,000 names on that
differ in nothing but these numbers, further ones are recorded without the number.

=back

=head2 Processes and threads

The first process and thread writes F<tmon.out>, a forked child F<tmon.out.PID>, and another thread
F<tmon.out.PID.TID>, each as soon as it has something to write.
A child's file begins with the frames that it was forked in.

=head1 HOW TIME IS MEASURED

Times are kept in ticks of 100 ns.

B<Real time> is read from the processor's own counter (the TSC on x86-64, the generic counter on
arm64) if it runs at a constant rate and the kernel itself uses it, and otherwise from
C<clock_gettime>. The header of the file names the clock. Each event reads the clock twice: when the
profiler is entered, and when it is left again. The time in between, writing the file included,
is the profiler's own: it is in no sub's time, and the header tells the sum of it. What is left in the gap between two events
is the reading of the clock itself, 10 ns or so: the least distance of two readings in a row. It is measured when recording begins
(the header has it), and taken off each gap, never below zero.

B<User and system time> is the CPU time of the thread. Reading that costs a system call, some 350 ns, so it is
read only when a gap between two events was longer than 5 us, and at least once in a
millisecond. A shorter gap counts as CPU time as a whole, and the next reading corrects it if that was wrong. A program with
many computing gaps of 5 to 20 us has only one in eight of these read, until waiting shows up among them again.

What holds:

=over

=item *

Real times of all subs and of the time outside of any sub add up to the elapsed time less the profiler's own, to the tick.

=item *

User and system time together, plus the profiler's own, is what C<getrusage> tells of the thread.

=item *

User plus system time of a sub is right within 1 % and 5 us for each call in which it waits.
A sub that sleeps or waits for a pipe shows real time and no CPU time.

=back

What must not be read out of it:

=over

=item *

User and system time apart. The kernel splits CPU time by where it finds the process at its own
ticks (every 4 ms, commonly), and a sub gets the share of the stretch of time that it ran in. Below half a second of CPU
time the split says nothing.

=item *

Single calls below 100 ns. A few ns of the hooks' own work remain in each call.

=item *

Comparisons between machines.

=back

CPU time that a library's helper threads use is in no sub. Time that the machine gave to another guest counts as CPU time: the
kernel does not know better.

=head1 ENVIRONMENT

=over

=item PERL_DPROF_OUT_FILE_NAME

The file to write, F<tmon.out> if not set. Ignored for setuid programs and under C<-T>.

=item PERL_DPROF_BUFFER

How many marks are kept in memory before they are written, 16384 (2**14) if not set. 0 writes
each mark at once, which is slow, and loses nothing whatever happens.

=item PERL_DPROF_TICKS

Ticks per second in the file, 10000000 if not set, at most 1000000000. Time is not lost to coarser ticks: the
remainders are carried.

=item PERL_DPROF_CLOCK

C<monotonic> for C<clock_gettime> in place of the processor's counter, C<tsc> or C<cntvct> for the counter even
if the kernel does not use it, C<counting> or C<counting:NS> for a clock
that moves by so many ns (1000) at each reading and makes profiles exactly repeatable: for tests.

=back

=head1 FILES

=over

=item tmon.out

The profile. L<Devel::DProf::Format> has its format. A profile of an earlier run is renamed to F<tmon.out.old>; one that a
running program is writing is left alone, and F<tmon.out.PID> written instead. A file that is no
profile is never overwritten: the program does not start then. The default name is not followed through a symbolic link.

=back

The profile is written through a descriptor above 100 that is closed on exec. If the program closes
it, it is opened again; if the program uses its number for a file of its own, that file is not touched. When
the file cannot be written, the profiler says so once, in one line on the standard error it was started with,
and the program runs on.

=head1 DIAGNOSTICS

=over

=item DProf: run perl with -d to use DProf.

The module was loaded with C<use> or C<-M>. It must be there before the code that it profiles is compiled: C<perl -d:DProf>.

=item DProf: FILE exists and is no profile; ...

Something else has the name that the profile would get. The program was not started.

=item DProf: cannot write FILE: REASON; ...

The profile ends here, or there is none; the program goes on.

=back

=head1 WHAT A PROGRAM CAN STILL SEE

=over

=item *

C<%INC> has F<Devel/DProf.pm> and F<XSLoader.pm>, and the symbol table their packages.

=item *

An open file with a number above 100.

=item *

PERL5DB is set by C<perl -d:> itself; it is taken out of C<%ENV> again, so that a C<perl -d> that the program starts gets its debugger.

=back

=head1 LIMITS

=over

=item *

Builtin functions are not measured by themselves; their time belongs to the sub that calls them.

=item *

An XS sub that is reached through an overloaded C<&{}> or as an C<AUTOLOAD> written in C is not seen; its time
counts for its caller.

=item *

Perl 5.24 and newer on POSIX systems.

=back

=head1 SEE ALSO

L<dprofpp>, L<Devel::DProf::Format>

=head1 COPYRIGHT AND LICENSE

Copyright (C) 2026 by the Devel::DProf developers.

This is free software; you can redistribute it and/or modify it under the same terms as Perl itself.

=cut
