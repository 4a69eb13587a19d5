package Devel::DProf;


our $VERSION = '20261120.00';

# Nothing else is loaded: ops that were compiled before the hooks are set go
# unseen, and what we load the program could see.
require XSLoader;

my $started;

# A perl that the compiled part was not built for cannot load it, or finds nothing in it. It may
# have been told to by PERL5OPT: its program runs, and as if it had not been. This is compiled only then, for a variable
# like $^P that is mentioned is there from then on, and a program could see it.
if (!eval { XSLoader::load('Devel::DProf', $VERSION); defined &_start }) {
    my $why = $@ =~ s/ at \S+ line .*//sr;
    die $@ if $why =~ /^Can't locate/;
    eval q{
        $why ||= "the module was built for another perl than $^X";
        print STDERR "DProf: $why; the program is not profiled\n";
        delete $ENV{PERL5DB} if ($ENV{PERL5DB} // '') =~ /^(?:use|no) Devel::DProf/;
        $^P = 0;
    };
    $started = 1;
}

sub import {
    shift;
    _start(@_) unless $started++;
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

    perl -d:DProf=tree,callsites=1 script.pl arguments
    perl -d:DProf=help

=head1 DESCRIPTION

Devel::DProf records when each sub of a program is entered and left, and how much
time passed in between, and writes that to the file F<tmon.out>. L<dprofpp> turns
the file into a report or a call tree, L<dprofreport> into tables, L<dprofflame> into a flame graph; L<dprofdiff> compares two.

Every call counts: of subs written in Perl or in C, methods, C<BEGIN>, C<END> and C<import>,
C<DESTROY>, methods of tied variables, overloaded operators, signal handlers, code in string evals
and required files, callbacks from C, sort comparators, and the blocks of List::Util. Every exit is seen when it
happens: C<return>, the end of the sub, C<die> through any number of frames, C<last> and C<next> out of a
sub, C<goto &sub>, C<exit>.

The profiled program does not notice. No debugger flag stays set, no frame is added to C<caller>,
no variable, handler or timer is used (but for the options C<signal> and C<toggle>). Output, exit status and the order of destruction are those of
the plain run. What it can see is listed under L</WHAT A PROGRAM CAN STILL SEE>.

It is a successor to the classic Devel::DProf by name, file format and options: what read its files reads
these, and its files are read by these tools.

=head1 TRACE AND TREE

A I<trace>, the default, has every entry and exit in the order in which they happened. Its size grows with the
number of calls, some 20 bytes each.

A I<tree> (C<-d:DProf=tree>) sums up by calling context: for each chain of callers how often it was called, its own user, system and
real time, the longest and the shortest call, and the ops executed; and for each sub how many calls took
how long, in powers of two. Its size grows with the number of different contexts only, so it suits programs that run for days. What it does not have is the order
of the calls: C<dprofpp -T> and C<-t> need a trace.

The B<ops> are the steps that perl's interpreter takes. With the environment variables PERL_HASH_SEED=0 and PERL_PERTURB_KEYS=0 the same program with the
same input executes the same number of them each time: a measure of cost without noise. They are
counted while perl's own run loop is in use, not under perl's flag B<-D> or beside a module that
brings a loop of its own.

A trace that has reached its limit (C<limit>, 1 GiB) goes on as a tree.

=head1 OPTIONS

Options stand behind C<-d:DProf=>, separated by commas. Each can also be set in the environment, as C<PERL_DPROF_>
and its name in capitals; the command line goes first. C<-d:DProf=help> prints this list. An unknown option, or one
without its value, is an error before the program starts, in one line that says what may have been meant.

=over

=item mode=trace, mode=tree

See above. The word C<tree> or C<trace> alone is enough.

=item out=FILE

The file to write. In it C<%p> stands for the process, C<%t> for the thread (0 is the first),
C<%n> for the program's name and C<%%> for a percent sign. Where there is no C<%p>, the files of forked children have it at their end, those of threads
both. F<tmon.out> if not set. Only from the command line for setuid programs and under C<-T>.

=item ticks=N

Ticks per second in the file, 10000000 if not set, at most 1000000000. Time is not lost to coarser ticks: the
remainders are carried.

=item buffer=N

How many marks of a trace are kept in memory before they are written, 16384 if not set. They are written after a second in any
case. 0 writes each mark at once, which is slow.

=item limit=N

Bytes of a trace after which it goes on as a tree; K, M or G may stand behind the number. 0 is no limit.

=item contexts=N

The most contexts of a tree, a million if not set (some 120 MB). Beyond it, recursion counts in the nearest context of the same sub above, and
other calls in one right below the program. The file says how many calls that were.

=item callsites=1

A tree tells callers apart by file and line.

=item ops=0

A tree does not count ops.

=item only=REGEX, skip=REGEX

Subs that do not match, or that match, are not recorded. Their time belongs to the nearest recorded caller, and what
they call is recorded under that one. With both, C<only> goes first. The patterns are perl's, and see characters:

    My::Package::name
    My::Package::__ANON__[lib/My/Package.pm:12]     anonymous subs
    CORE:print                                      builtins, with builtins=slow

A call that ends in an C<AUTOLOAD> is matched by the name that was wanted. Each name is looked at once. A bad pattern is an
error before the program starts, and so are code in a pattern, patterns that call their own groups, C<\N{NAME}>, and C<\p{Is...}>
and C<\p{In...}>, which may be subs of the program; with a perl before 5.32, all of C<\p{...}>. (There, the program also finds
F<utf8.pm> and F<utf8_heavy.pl> loaded, and what they load, when a pattern has C<(?i)>.)

Commas separate options, so a pattern with a comma (C<a{1,2}>) must stand in the environment:

    PERL_DPROF_ONLY='^My::(?:A|B{1,2})::' perl -d:DProf program.pl

Under C<-T> and in setuid programs only the command line is heard.

=item events=EVENT+EVENT

Counters beside the times: C<events=page-faults+svs>. See L</EVENTS>.

=item builtins=slow

Slow builtins are recorded, too, as C<CORE:print> under the sub that uses them. See L</Builtins>.

=item fork=no, threads=no

Children or threads are not recorded.

=item start=begin, start=main, start=mark, start=no

When recording begins: with the program's first BEGIN block, with its main part, with the first phase that it marks, in each process and thread, or when it says so, see L<Devel::DProf::Control>. A
server that marks its requests is recorded from the first one on by C<start=mark>.

=item compress=N

Writes the file packed by gzip: 1 is fast, 9 small, 0 (the default) plain. The name stays the same, and all tools read it. A trace
takes a tenth of the room or less. The time that packing takes is the profiler's own. The file consists of gzip members, one
for each time that something is written, so it can be read as far as it goes whatever becomes of the process; with C<buffer=0> that
makes it larger. C<limit> counts the bytes of the packed file.

=item checkpoint=SECONDS

Writes the tree again whenever so much time has passed, see L</SAVING>. There is no timer: the time is looked at when a sub is entered or left. For a trace the option does
nothing: what it has recorded is written after a second in any case.

=item signal=USR1

The signal that has the program write its file, see L</SAVING>. A name as in C<%SIG>, with or without C<SIG> before it; one that there is not, or that cannot be caught, is an error before the program
starts. Not from the environment for setuid programs and under C<-T>.

=item toggle=USR2

The signal that stops recording, and starts it again, see L</SWITCHING>. A name as for C<signal>, and not the same one.

=item clock=NAME

C<monotonic> for C<clock_gettime> in place of the processor's counter, C<tsc> or C<cntvct> for the counter even
if the kernel does not use it, C<counting> or C<counting:NS> for a clock
that moves by so many ns (1000) at each reading and makes profiles exactly repeatable: for tests.

=back

=head1 SAVING

A program that runs for days has a profile only when it ends, unless it is made to save it. With the option C<signal=USR1>,

    kill -USR1 PID

brings the file up to date at the next entry or exit of a sub, in each of the program's threads; C<checkpoint=60> does so for a tree once a minute.
The program goes on. A saved file is complete in itself and can be copied, and sent elsewhere: it has all
calls up to then, and the sums of their times. The tools say that the recording did not come to its end. (While the program
runs the tools find what is newer than the file in F<tmon.out.live> anyway, on the same machine.)

A trace is saved by writing what is still in memory. A tree is written to a new file, F<tmon.out.new>, with the owner and mode of the old one, which then takes its
place, so that nobody ever sees half of one. Where that cannot be done (the directory is not writable any more, the disk is full, the profile was moved away, or is
a device or pipe), the file stays as it is, and nothing is said: it is written at the end. Should there be no room for the tree at the end, the one that was
saved last stays, and one line says so. After an orderly end the file is as it would have been without saves.

The time that saving takes is the profiler's own, and in no sub's time.

This profiler sets a handler for this signal, and one for L<toggle|/SWITCHING>, and only when asked to. They are not in C<%SIG>. A program that sets a handler for that signal replaces ours: then nothing is saved.
As any signal that is caught, it ends a C<sleep> or C<select> early. Forked children have the handler, too; a child that has recorded nothing yet
writes no file. A program that is executed does not have it, and may be killed by the signal.

=head1 SWITCHING

    perl -d:DProf=tree,start=no,toggle=USR2 app.pl daemon
    kill -USR2 PID              # records from here on
    kill -USR2 PID              # up to here

With the option C<toggle=USR2> a running program is profiled for as long as you want, without a change to it: each signal stops recording
where it is on, and starts it where it is off, as L<Devel::DProf::Control> does from within. Without C<start=no> recording
is on at first. The switch is thrown where perl would run a handler of C<%SIG>, between two operations, and
in all threads. While recording is off, the tools read what was recorded up to then; subs that run when it starts
again go on, and count as no new calls.

A forked child begins as its parent was, and follows signals that it gets itself: C<kill> each process of a preforking server, or its process
group. What was said about the signal that saves holds for this one, too: a program that sets a handler for it replaces ours, and a
C<sleep> or C<select> ends early.

=head1 EVENTS

    perl -d:DProf=events=svs+bytes script.pl
    dprofreport -m bytes

Time is one cost. With C<events> each sub also has what else it cost, and all tools report, fold, draw and compare by any of these counters as by
time: C<-m NAME>. L<dproflist> lists what there is, and what of it works on this machine.

Events are separated by C<+> (in the environment, PERL_DPROF_EVENTS, by commas or blanks, too); a profile has room for 16 counters. An event that is unknown, not there or not permitted is an
error before the program starts, which says why. With a C<?> before it, it is left out then, and the header names it: C<events=?instructions+ops>.

=head2 Perl's own counters

They need nothing of the processor or the kernel, and cost some tens of ns a call (F<bench/events.pl> measures that).

=over

=item ops

The ops executed. A tree has them anyway.

=item svs

Live scalars, arrays, hashes, subs and so on: all that perl has a head for. They come and go, so there are two counters. Between two events of the profile the number has either grown
or shrunk: what it has grown is in C<svs>, what it has shrunk in C<svs-freed>. So C<svs> less C<svs-freed> of a sub with all that it called is what it has left behind; temporary
values that come and go between two events are in neither.

=item bytes

Memory that perl has taken and not given back, as C<malloc_usable_size> has it, in C<bytes> and C<bytes-freed> likewise. Perl keeps much of what it has freed for the next
time: a variable of a sub its string, the interpreter its heads and bodies. That is not given back. Memory that C libraries take by themselves is not counted. On 64-bit Linux, with any allocator but perl's own
(C<usemymalloc>), or one before which a library has put functions of its own that do not tell sizes: while a profile counts bytes, perl's calls of malloc, calloc, realloc and free go through counting ones, some ns each.

=back

=head2 The kernel's and the processor's

On Linux, by perf_event_open(2), for the thread that runs; forked children and threads have their own.

=over

=item Software events

C<page-faults> (C<faults>), C<minor-faults>, C<major-faults>, C<context-switches> (C<cs>), C<cpu-migrations>, C<task-clock> and C<cpu-clock> (ns), ... work
everywhere, in virtual machines, too.

=item Hardware and cache events

C<instructions>, C<cycles>, C<branches>, C<branch-misses>, C<cache-references>, C<cache-misses>, ...; C<L1-dcache-load-misses>, C<LLC-loads>, C<dTLB-load-misses>, ... as perf(1) calls them.

=item Events of this processor

by the names that its maker gave them: C<ls_dc_accesses>, C<frontend_retired.l1i_miss>. There are tables for some thirty processors of servers and a few others by Intel, AMD, Arm, Ampere and IBM. A processor is found as
perf finds it; the environment variable PERF_CPUID is believed instead if it is set. Names of a processor's own events have no meaning for another one's.

=item The kernel's aliases and raw events

What stands in F</sys/bus/event_source/devices/PMU/events>; C<cpu/event=0x3c,umask=0x1,name=mine/> with the terms in that PMU's F<format>; C<r01c4> is a number that the processor understands.

=item Modifiers

C<:u> counts the program only, C<:k> the kernel only: C<instructions:u>. As perf does it, where the kernel does not permit to count its own part (kernel.perf_event_paranoid is 2) and no modifier is
given, the program's part is counted and the counter is called C<instructions:u>. C<-m instructions> finds it.

=back

Where the kernel allows programs to read the processor's counters by themselves (x86-64, commonly), that is done on arriving in the profiler and on leaving it, and what it uses itself is left out. All others are read by a system call, one
for all, on arriving; on leaving only if the profiler had more to do than usual (a new sub, a new context, a file to write). What it does usually has been measured when recording began, as the least of many times, and is taken off. So a call
costs one to three microseconds more with them, which are in no sub's time; and some tens of instructions of the profiler remain in each call.

A processor has few counters, four to eight. If more events are asked for, they take turns, and their numbers are estimates: what was counted is multiplied by the time it should have been counted, divided by the time it was. The file
says which share that is (C<$dprof_shares>), and the tools say it, too.

A forked child opens counters of its own at its first event; what it did before, page faults for the most part, is in no file. Perl's own counters have it.

A program that closes all file descriptors, as daemons do, or puts files of its own in the places of ours, ends the counting of the kernel's events: the file says that it ended early (C<$dprof_events_lost>). Perl's own go on.

Tested on real counters: software events and perl's own, in a virtual machine. Of hardware events, names, encodings, what the kernel is asked for, grouping, reading by instruction and the estimates were tested against tables and a kernel that tests made up; no run on
a processor with its counters at hand has been made yet.

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

=item Names that count up

A program may make new subs for as long as it runs: C<Anon1234::new>, C<main::gen77>. From 1,000 names on that stand in one
place and differ in nothing but numbers, further ones are recorded with a C<#> for each number: C<Anon#::new>.

=item Very many names

From 65,536 names on, a new one counts as C<(others)> of its package, its numbers replaced by C<#> too; and from 1,000 such packages on, as
C<main::(others)>. What was known before keeps its name.

=back

=head2 Builtins

With C<builtins=slow> these are calls: what asks the system, and what may work on much data.

    accept backtick bind binmode chdir chmod chown chroot close closedir
    connect crypt dbmclose dbmopen eof fcntl flock fork getc getlogin
    getpeername getsockname getsockopt glob ioctl link listen lstat match
    mkdir open opendir pack pipe print printf read readdir readline
    readlink recv regcomp rename rewinddir rmdir say seek seekdir select
    send setsockopt shutdown sleep socket socketpair sort stat subst
    substcont symlink syscall sysopen sysread sysseek system syswrite
    truncate unlink unpack utime wait waitpid
    -r -w -x -o -R -W -X -O -e -z -s -f -d -l -p -S -u -g -k -b -c -t -T
    -B -M -A -C
    gethost* getnet* getproto* getserv* getpw* getgr* (by name or number, and -ent)
    shmget shmctl shmread shmwrite msgget msgctl msgsnd msgrcv semget
    semctl semop

C<match> is C<m//>; C<subst> is C<s///>, and C<substcont> each further step of one whose replacement is
code (C<s///e>, or with variables in it): that code itself runs outside of both. C<regcomp> is the compilation of a pattern with variables in it, or
the finding that it has not changed. C<backtick> is C<readpipe>, too. C<split> matches
by itself.

What a builtin calls is below it: comparators and the subs that a C<sort> block calls, methods of tied handles,
overloaded operators, signal handlers, C<$SIG{__WARN__}>.

C<require>, C<do FILE>, C<eval>, C<exec> and C<write> are not among them. A forked child begins in the sub that forked, not in
C<fork>. Perl runs some builtins when it compiles (C<pack> of constants): these are calls, too.

Each such call costs as much as a call of a sub. Without the option builtins cost nothing.

=head2 Phases

A program goes through phases: C<BEGIN> while it is compiled, C<main>, C<END>. It can mark its own, stop
and start recording, with L<Devel::DProf::Control>. C<dprofpp --phases> tells them apart.

=head2 Without the start-up

A server that has loaded a framework and answered some requests has a profile that tells of loading. All tools that show profiles take the option C<--main>:

    dprofpp --main

It leaves out the phase C<BEGIN>: calls, times and counters of all that ran before the main program's first statement, C<use> and its C<import> among it, in traces
and in trees. What the main program requires or evaluates by itself stays, with the C<BEGIN> blocks in it, and so does what came after a
phase that a C<BEGIN> block has marked itself. The histograms of trees are left out with it, since they know of no phases. Profiles without phases, of the old Devel::DProf, are taken as they are; C<dprofpp -T>
and C<-t> show every call, and refuse the option. Not to record the start-up at all is C<start=main>.

=head2 Processes and threads

The first process and thread writes F<tmon.out>, a forked child F<tmon.out.PID>, and another thread
F<tmon.out.PID.TID>, each as soon as it has something to write.
A child's file begins with the frames that it was forked in.

=head1 TERMS

A sub's B<self> time is what passed in its own code. Its B<inclusive> time is what passed from its entry to its exit, with all that it
called. The same goes for counters. The tools that imitate others keep their headings:

    here          dprofpp       dprofreport, perf   Devel::NYTProf
    ............  ............  ..................  ..............

    self          Exclusive     Self                Exclusive Time
                  ExclSec
    inclusive     Cumulative    Children            Inclusive Time
                  CumulS
    calls         #Calls        Calls               Calls
    share         %Time         Overhead            -
    sub           Name          Symbol              Subroutine

Without its column Children (C<--no-children>), dprofreport calls self Overhead, as perf does. A B<baseline> is the side that others are compared with; a difference is
B<significant> when chance alone would hardly make one like it, see L<dprofdiff/Is it significant?>. A B<stack> is a chain of callers, and I<folded> when it stands on one line.

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

User and system time together, plus the profiler's own, is what C<getrusage> tells of the thread from the beginning of the
recording to its end. What the process takes after that, to free its memory, is in no profile.

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

The classic name of the option C<out>.

=item PERL_DPROF_BUFFER, PERL_DPROF_TICKS, PERL_DPROF_MODE, ...

The options above.

=back

=head1 FILES

=over

=item tmon.out

The profile. L<Devel::DProf::Format> has its format. A profile of an earlier run is renamed to F<tmon.out.old>, and those of its children and
threads, F<tmon.out.PID> and F<tmon.out.PID.TID> with the same run id, to F<tmon.out.old.PID> and so on; what was there of the run before that is removed. (A child that still
runs keeps its file.) One that a
running program is writing is left alone, and F<tmon.out.PID> written instead. A file that is no
profile is never overwritten: the program does not start then. The default name is not followed through a symbolic link.

=item tmon.out.new

Is there for the moment in which a tree is saved. One that a killed process has left is removed by the next run.

=item tmon.out.live

What is not in the profile yet, while the program runs. It goes when the recording ends in order. When the program is killed, even by
C<kill -9>, it stays, and the tools find in it what the profile lacks: keep the two together. It also stays when the program may not
remove it any more (L<perldoc> gives up root's rights): beside a profile that is complete it may be deleted.

=back

=head2 When the file is made

F<tmon.out> appears, and the one before moves, when the main program begins, which is after all C<BEGIN> blocks, C<use> and C<CHECK> blocks. What
they did is kept in ordinary memory until then, and is in the profile. It is made earlier when more than a second has been recorded, when the buffer is full (C<buffer>), when the program
saves it, and when the program ends itself, by C<exit> or C<exec>. So a perl that only compiles (C<-c>), only tells (C<-v>, C<-V>), or whose
program fails to compile leaves nothing, and an earlier profile where it is, also with C<PERL5OPT=-d:DProf>. Killed before its main program begins, a process leaves
nothing either. Whether the file can be made is looked at before anything runs.

The command line tools of this module leave no profile of themselves, and record none: each begins with a call of C<Devel::DProf::_forget>. So
they can be used where C<PERL5OPT=-d:DProf> is set.

The profile is written through a descriptor above 100 that is closed on exec. If the program closes
it, it is opened again; if the program uses its number for a file of its own, that file is not touched. When
the file cannot be written, the profiler says so once, in one line on the standard error it was started with,
and the program runs on.

=head1 DIAGNOSTICS

=over

=item DProf: cannot write FILE: REASON; the profile is the one that was saved last

The disk is full, and the tree that was saved before (see L</SAVING>) is worth more than a part of the last one.

=item DProf: signal=NAME: there is no such signal; ...

=item DProf: signal=NAME: a program cannot catch that; ...

=item DProf: signal=NAME and toggle=NAME are one signal; ...

The program was not started. Use C<USR1>, C<USR2>, or another that the program does not use itself; C<toggle> takes the same names.

=item DProf: run perl with -d to use DProf.

The module was loaded with C<use> or C<-M>. It must be there before the code that it profiles is compiled: C<perl -d:DProf>.

=item DProf: FILE exists and is no profile; ...

Something else has the name that the profile would get. The program was not started.

=item DProf: cannot write FILE: REASON; ...

The profile ends here, or there is none; the program goes on.

=item DProf: the module was built for another perl than PERL; the program is not profiled

=item DProf: Can't load 'FILE' for module Devel::DProf: ...; the program is not profiled

This perl is of another version than the one that has built the module, or was built with other options (assertions, threads), and has
come by it through PERL5OPT or PERL5LIB. The program runs as if nobody had asked for a profile.

=item DProf: FILE was removed while the program ran; there is no profile

Where nothing has the name any more when the recording ends, there is nothing to complete.

=back

=head1 WHAT A PROGRAM CAN STILL SEE

=over

=item *

C<%INC> has F<Devel/DProf.pm> and F<XSLoader.pm>, and the symbol table their packages.

=item *

An open file with a number above 100.

=item *

PERL5DB is set by C<perl -d:> itself; it is taken out of C<%ENV> again, so that a C<perl -d> that the program starts gets its debugger.

=item *

Where its values lie in memory. So two objects that live until the very end, and do not refer to each other, may be destroyed in
another order, as they are when the environment gets longer: perl takes them as they lie.

=back

=head1 LIMITS

=over

=item *

Builtin functions are not measured by themselves, unless the option C<builtins=slow> asks for it, and then not all of
them; their time belongs to the sub that calls them.

=item *

An XS sub that is reached through an overloaded C<&{}> or as an C<AUTOLOAD> written in C is not seen; its time
counts for its caller.

=item *

Each different sub costs the profiler memory for as long as the process lives, some 500 bytes in a trace and
1.2 kB in a tree, even if the sub itself is gone. There are bounds, see L</Names>.

=item *

A closure that was given a name of its own (Sub::Util) and is gone may leave its name to the next closure of the same code.

=item *

A thread that still runs when the process ends leaves what a killed process leaves: all its calls, in a profile cut short.

=item *

A module that brings a run loop of its own (Devel::Cover with C<-replace_ops,0>) hides sort comparators and blocks of List::Util, and
when a C<die> is caught. Recordings that end so say it, and L<dprofpp> does.

=item *

A perl that the program starts is a run of its own, if it is profiled (PERL5OPT).

=item *

Perl 5.26 and newer on POSIX systems.

Tested as of commit 1caa1d667540 (2026-11-22): Debian 12 (perl 5.36.0), Debian 13 as an
ordinary user (perl 5.40.1), Debian experimental as an ordinary user (perl 5.44.0), perl
5.42.3 without threads; as of commit dfdeb158ad9f (2026-11-22): Debian sid as an
ordinary user (perl 5.42.3), 32-bit x86 (perl 5.40.1).

=back

=head1 SEE ALSO

L<dprofpp>, L<dprofreport>, L<dprofdiff>, L<dprofflame>, L<dproffold>, L<dprofmerge>, L<dproflist>, L<dprof>, L<Devel::DProf::Cookbook>, L<Devel::DProf::Control>,
L<Devel::DProf::FromNYTProf>, L<Devel::DProf::Format>, L<Test::DProf>, L<App::Prove::Plugin::DProf>

=head1 COPYRIGHT AND LICENSE

Copyright (C) 2026 by the Devel::DProf developers.

This is free software; you can redistribute it and/or modify it under the same terms as Perl itself.

=cut
