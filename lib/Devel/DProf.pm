package Devel::DProf;

# Perl compiles what follows as it does without -d. The compiled part undoes the rest of -d.
BEGIN { $^P = 0 }

our $VERSION = '20261120.00';

# Nothing else is loaded: ops compiled before the hooks are set are not recorded, and the program
# could see the modules loaded here.
require XSLoader;

my $started;

# Loads the module's object file. By itself, XSLoader looks for the object below the folder of this
# file. In blib the object is elsewhere, and XSLoader would load DynaLoader and Config, which a
# program could see. So the function loads an object that is elsewhere in @INC itself.
sub _load {
    my $object = 'auto/Devel/DProf/DProf.so';
    my ($here) = grep { -e "$_/$object" } substr(__FILE__, 0, -length '/Devel/DProf.pm'),
        grep { !ref } @INC;
    return XSLoader::load('Devel::DProf', $VERSION)
        if !defined $here || __FILE__ eq "$here/Devel/DProf.pm";
    $object = "$here/$object";
    my $library = DynaLoader::dl_load_file($object, 0) or die DynaLoader::dl_error(), "\n";
    my $boot = DynaLoader::dl_find_symbol($library, 'boot_Devel__DProf')
        or die "$object is no module of perl's\n";
    my $start = DynaLoader::dl_install_xsub('Devel::DProf::bootstrap', $boot, $object);
    return &$start('Devel::DProf', $VERSION);
}

# A perl that the compiled part was not built for cannot load it, or finds nothing in it. PERL5OPT
# may have made it load this module: its program runs as without the profiler.
if (!eval { _load(); defined &_start }) {
    my $why = $@ =~ s/ at \S+ line .*//sr;
    die $@ if $why =~ /^Can't locate/;
    eval q{
        $why ||= "the module was built for another perl than $^X";
        print STDERR "DProf: $why; the program is not profiled\n";
        delete $ENV{PERL5DB} if ($ENV{PERL5DB} // '') =~ /^(?:use|no) Devel::DProf/;
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

    perl -d:DProf program.pl arguments
    dprofreport

    perl -d:DProf=tree,callsites=1 program.pl arguments
    perl -d:DProf=help

=head1 DESCRIPTION

Devel::DProf records what the subs of a program cost: when each is entered and left, and how much
time passed in between. It writes this to the file F<tmon.out>. L<dprofreport> and L<dprofpp> make
tables of it, L<dprofflame> a flame graph, L<dprofhtml> a page with the source. L<dprofdiff>
compares two files. Which questions a profile answers depends on how it was recorded.

B<Which subs take the time?>

    $ perl -d:DProf examples/logreport.pl access.log > report.txt
    $ dprofpp -O 3
    Total Elapsed Time = 0.361336 Seconds
      User+System Time = 0.265602 Seconds
    Exclusive Times
    %Time      Excl     Cumul  #Calls  Excl/call  Cumul/call  Name
     16.7  44.35 ms  103.9 ms   20000   2.218 us    5.193 us  LogReport::Entry::parse
     14.1  37.48 ms  103.1 ms   20000   1.874 us    5.153 us  main::count
     10.0  26.63 ms  26.71 ms   71324   373.4 ns    374.5 ns  LogReport::Tree::add

B<Which lines take it, and how often do they run?> The profile needs C<lines> (see L</OPTIONS>):

    $ perl -d:DProf=tree,lines examples/logreport.pl access.log > report.txt
    $ dprofreport -q -n -s srcline --no-children -O 4
       7.73%       20000  examples/logreport.pl:12
       6.42%       20000  examples/logreport.pl:16
       6.34%       20000  examples/logreport.pl:47
       6.21%      591012  examples/logreport.pl:125

B<What does a server do, which must not become slower?> Samples say that; see L</SAMPLING>:

    $ perl -d:DProf=sample=100 server.pl
    $ dprofpp -r -O 2
    Total Elapsed Time = 3.853738 Seconds
             Real Time = 3.853738 Seconds
    Exclusive Times
    %Time      Excl     Cumul  #Calls  Excl/call  Cumul/call  Name
     46.9   1.806 s   1.806 s       -          -           -  CORE:select
     37.0   1.425 s   1.425 s       -          -           -  Shop::receipt

B<What does a program do that runs already, or hangs?> L</ATTACHING> answers that from outside.

=head2 What is in a profile

Every call counts: calls of subs written in Perl or in C, methods, C<BEGIN>, C<END> and C<import>,
C<DESTROY>, methods of tied variables, overloaded operators, signal handlers, code in string evals
and required files, callbacks from C, sort comparators, and the blocks of List::Util. Every exit is
seen when it happens: C<return>, the end of the sub, C<die> through any number of frames, C<last>
and C<next> out of a sub, C<goto &sub>, C<exit>.

The profiled program does not notice. No debugger flag stays set and no frame is added to C<caller>.
The profiler uses no variable, handler or timer, except with the options C<signal> and C<toggle>.
Output, exit status and the order of destruction are those of the plain run.
L</WHAT A PROGRAM CAN STILL SEE> lists what remains visible.

This module succeeds the classic Devel::DProf in name, file format and options: programs that read
the classic files read the new ones, and the tools here read the classic files.

=head1 TRACE AND TREE

A I<trace>, the default, holds every entry and exit in the order in which they happened. Its size
grows with the number of calls, by some 20 bytes per call.

A I<tree> (C<-d:DProf=tree>) sums up by calling context. For each chain of callers it holds the
number of calls, the chain's own user, system and real time, the longest and the shortest call, and
the ops executed. For each sub it also holds a histogram: how many calls took how long, in powers of
two. Its size grows only with the number of different contexts, so it suits programs that run for
days. A tree does not hold the order of the calls: C<dprofpp -T> and C<-t> need a trace.

The B<ops> are the steps that perl's interpreter executes. With the environment variables
PERL_HASH_SEED=0 and PERL_PERTURB_KEYS=0, the same program with the same input executes the same
number of ops each time, so ops measure cost without noise. They are counted while perl's own run
loop is in use, but not under perl's flag B<-D> or together with a module that brings its own loop.

A trace that has reached its limit (C<limit>, 1 GiB) continues as a tree.

=head1 OPTIONS

Options follow C<-d:DProf=>, separated by commas. Each option can also be set in the environment, as
C<PERL_DPROF_> and its name in capitals; the command line takes precedence. C<-d:DProf=help> prints
the list of options. An unknown option, or one without its value, is an error before the program
starts; a one-line message suggests what may have been meant.

=head2 What it records

=over

=item mode=trace, mode=tree

See L</TRACE AND TREE>. The word C<tree> or C<trace> alone is enough.

=item lines=time, lines=count

A tree also has what each statement costs; C<lines> alone is C<lines=time>. L<dprofhtml> and
L<dprofreport> show it (C<-s srcline>, C<--annotate SUB>). Each statement has its line, how often it
ran, and with C<lines=time> its time and counters: they are its own, with those of builtins and XS
subs that it calls, and without those of other subs. The sums of all statements and of all subs are
equal. The option implies C<callsites=1>.

A block of C<sort> or C<map>, or a plain C<do>, that is one statement is a part of the statement
around it: perl has no mark for it. What runs in a sub that is not recorded is a part of the
statement that called it. Perl's line of a statement that spans several is mostly the first one.
String evals that an XS module runs while it is loaded are not counted.

This takes a perl of 5.32 or newer with 64 bits. Otherwise it is an error before the program starts.

=item sample=HZ

Takes HZ samples a second of what is running, and records no calls: see L</SAMPLING>.

=item callsites=1

A tree distinguishes callers by file and line; see L</Places of calls>.

=item ops=0

A tree does not count ops.

=item events=EVENT+EVENT

Counters in addition to the times: C<events=page-faults+svs>. See L</EVENTS>.

=item heap=exact, heap=sample

What is in memory, by the sub and line that took it: see L</MEMORY>. C<heap=exact> follows each
value, in a tree. C<heap=sample> notes some of the blocks of memory that perl allocates, in a tree,
in slices and in samples, for programs in production.

=item heap-interval=BYTES

With C<heap=sample>, how many bytes perl allocates from one sample to the next, on average: from 1
to 1G, 256K by default. C<heap-interval=1> notes every block, and the numbers are exact.

=item heap-types=1

With C<heap>, the values in memory stand in frames of their own, by type and class, below the sub
that made them: C<value:HASH (Node)>.

=item heap-holders=N

With C<heap>, each snapshot, slice and saved file names who holds a value of each of the N places
whose memory has grown most since the first one: C<@My::Cache::kept -E<gt> HASH (My::Item)>. For
that, the recorder walks over all values, for a second at most: some 150 ns, and 60 bytes until the
file is written, for each.

=item builtins=slow

Slow builtins are recorded, too, with names like C<CORE:print>, below the sub that uses them. See
L</Builtins>.

=item detail=KIND+KIND

What the time was spent on: the SQL statement, the request to another server, the template, the
program, with names like C<sql:SELECT name FROM items WHERE id = ?>. The kinds are C<sql>, C<http>,
C<template>, C<command>, C<file> and C<regex>. C<detail> alone means the first four, and the word
C<all> means all. See L</Spans>.

=item span-texts=N

The number of different texts of each kind of span, 10000 if not given. Further ones count as the
text C<other>, and the header's C<$dprof_spans_other> has their number.

=item span-length=N

The length in bytes to which the text of a span is cut, 2048 if not given. The header's
C<$dprof_spans_cut> has the number of texts that were cut.

=item only=REGEX, skip=REGEX

Subs that do not match C<only>, or that match C<skip>, are not recorded. Their time belongs to the
nearest recorded caller, and their callees are recorded under that caller. If both options are
given, C<only> is applied first. The patterns are Perl's, and match characters, not bytes:

    My::Package::name
    My::Package::__ANON__[lib/My/Package.pm:12]     anonymous subs
    CORE:print                                      builtins, with builtins=slow

A call that ends in an C<AUTOLOAD> is matched by the name that was called. Each name is matched
once. A bad pattern is an error before the program starts. The same holds for code in a pattern,
patterns that call their own groups, C<\N{NAME}>, and C<\p{Is...}> and C<\p{In...}>, which may be
subs of the program. A perl before 5.32 refuses every C<\p{...}>. (With such a perl, a pattern with
C<(?i)> loads F<utf8.pm>, F<utf8_heavy.pl> and the files that these load; the program then finds
them loaded.)

Commas separate options, so a pattern with a comma (C<a{1,2}>) must be set in the environment:

    PERL_DPROF_ONLY='^My::(?:A|B{1,2})::' perl -d:DProf program.pl

Under C<-T> and in setuid programs, only the command line counts.

=item start=begin, start=main, start=mark, start=no

When recording begins:

=over

=item *

C<begin>, the default: with the program's first BEGIN block.

=item *

C<main>: with the main program.

=item *

C<mark>: with the first phase that the program marks, in each process and thread. Recording of a
server that marks its requests begins with the first request.

=item *

C<no>: when the program calls C<start>. See L<Devel::DProf::Control>.

=back

=item fork=no, threads=no

Does not record forked children, or threads.

=back

=head2 The file

=over

=item out=FILE

The file to write. In its name, C<%p> stands for the process, C<%t> for the thread (0 is the first),
C<%n> for the program's name, and C<%%> for a percent sign. Without C<%p>, the process id is
appended to the names of forked children's files, and the process and thread ids to those of
threads and of further interpreters. F<tmon.out> by default. Setuid programs and programs under
C<-T> take this option only from the command line.

=item compress=N

Compresses the file with gzip: 1 is fast, 9 is small, 0 (the default) writes plain text. The file's
name stays the same, and all tools read it. A compressed trace needs a tenth of the space or less.
The time spent on compression is the profiler's own. The file consists of gzip members, one for each
write, so whatever becomes of the process, the file can be read as far as it goes. With C<buffer=0>
this makes the file larger. C<limit> counts the bytes of the compressed file.

=item source=1

With C<lines>, the file also has the text of each source, packed to about a quarter of its size, as
the source was when its first statement ran. L<dprofreport> then shows that text, and needs no
source file. A killed process leaves no text, and a source of more than 64 MB is left out.

=item limit=N

The number of bytes after which a trace continues as a tree, 1 GiB by default. K, M or G may follow
the number. 0 means no limit.

=item contexts=N

The most contexts that a tree may hold, a million by default (some 120 MB). Beyond this limit,
recursion counts in the nearest context of the same sub above, and other calls count in a context
right below the program. The file says how many calls were counted that way.

=item buffer=N

How many marks of a trace are kept in memory before they are written, 16384 by default. They are
written after a second in any case. 0 writes each mark at once, which is slow.

=item ticks=N

Ticks per second in the file: 10000000 by default, at most 1000000000. Coarser ticks lose no time:
the remainders are carried.

=back

=head2 Programs that run for long

=over

=item slice=SECONDS

Records a tree in slices, a file for each time of this many seconds; see L</SLICES>. It implies
C<tree>. Setuid programs and programs under C<-T> do not take this option from the environment.

=item spool=DIRECTORY

The directory of the slices, F<tmon.spool> by default. The profiler makes the directory if it does
not exist; its parent must exist. F<tmon.spool> must not be a symbolic link or another user's; a
directory that this option names may be either. Without C<slice>, each process and thread leaves one
file there, at its end. C<spool> and C<out> exclude each other. Setuid programs and programs under
C<-T> do not take this option from the environment.

=item spool-limit=BYTES

The most bytes that this user's files in the spool may take: 1 GiB by default, 0 for no limit. K, M
or G may follow the number. Beyond the limit, the profiler removes this user's oldest slices when a
new one is whole, and says so in one line. This user's other files count, and stay. Other users'
files do not count, and stay, too. Setuid programs and programs under C<-T> do not take this option
from the environment.

=item checkpoint=SECONDS

Writes the tree again each time this many seconds have passed; see L</SAVING>. There is no timer:
the clock is checked when a sub is entered or left. For a trace the option does nothing, since its
marks are written after a second in any case.

With C<slice>, this option does nothing: each slice is written anyway.

=item signal=USR1

The signal that makes the program write its file; see L</SAVING>. The name is one of C<%SIG>, with
or without C<SIG> in front. A signal that does not exist, or that cannot be caught, is an error
before the program starts. Setuid programs and programs under C<-T> do not take this option from the
environment.

=item toggle=USR2

The signal that stops recording and starts it again; see L</SWITCHING>. It must differ from
C<signal>.

=back

=head2 Comparisons and tests

=over

=item layout=N

Allocates memory and values before the program is compiled, so that the program's data lies
elsewhere. Each number stands for another amount, up to 128 KB and some hundred values. A program's
speed depends on where its data lies; B<dprofdiff --run> varies that between runs by this option.

=item clock=NAME

C<monotonic> takes C<clock_gettime> in place of the processor's counter. C<tsc> or C<cntvct> takes
the counter even if the kernel does not use it. C<counting> or C<counting:NS> is for tests: a clock
that advances by NS nanoseconds (1000) at each reading and makes profiles exactly repeatable.

=back

=head1 SAVING

A program that runs for days has no complete profile until it ends, unless it is made to save one.
With the option C<signal=USR1>,

    kill -USR1 PID

brings the file up to date at the next entry or exit of a sub, in each of the program's threads.
C<checkpoint=60> does this for a tree once a minute. The program continues. A saved file is complete
in itself and can be copied or sent elsewhere: it holds all calls up to that moment, and the sums of
their times. The tools report that the recording has not come to its end. (Without a save, too, the
tools on the same machine find in F<tmon.out.live> what is newer than the file while the program
runs, and L<dproftop> shows what the program does now.)

To save a trace, the profiler writes the marks that are still in memory. To save a tree, it writes a
new file, F<tmon.out.new>, with the owner and mode of the old one, and then replaces the old file
with it, so that nobody ever sees half a tree. After an orderly end, the file is the same as without
saves.

A tree sometimes cannot be saved: the directory is no longer writable, the disk is full, the profile
was moved away, or it is a device or a pipe. Then the file stays as it is, without a message, and
the tree is written at the end. If there is no room for the tree at the end, the last saved one
stays, and a one-line message says so.

The time spent on saving is the profiler's own, and belongs to no sub.

The profiler sets a handler for this signal, and one for L<toggle|/SWITCHING>, only on request. The
handlers do not appear in C<%SIG>. A program that sets its own handler for this signal replaces the
profiler's handler, and then nothing is saved. Like any caught signal, this one ends a C<sleep> or
C<select> early. Forked children inherit the handler; a child that has not recorded anything yet
writes no file. A program started by C<exec> does not have the handler, and the signal may kill it.

=head1 SLICES

With C<slice=300>, a program that runs for weeks leaves a profile of each five minutes. A server
that others start gets the options from its environment:

    PERL5OPT=-d:DProf=slice=300,spool=/var/spool/dprof starman app.psgi

Each slice is a file in the folder of C<spool>, a tree with the calls and times of those minutes.

B<What did the server do last?> The newest file that ends in F<.tree> is the last finished slice:

    $ cd /var/spool/dprof
    $ dprofreport -q -O 3 "$(ls -t *.tree | head -1)"
      68.11%   87.26 ms    68.11%    87.26 ms        5600  Shop::receipt
      30.60%   39.20 ms    30.60%    39.20 ms          14  Shop::price
       0.71%   909.3 us    99.47%    127.4 ms          14  Shop::serve

B<What did it do in the last hour?> L<dprofmerge> makes one profile of several:

    $ dprofmerge -o hour.out $(find . -name '*.tree' -mmin -60)
    $ dprofpp -O 2 hour.out
    Total Elapsed Time = 3.032772 Seconds
      User+System Time = 0.353192 Seconds
    Exclusive Times
    %Time      Excl     Cumul  #Calls  Excl/call  Cumul/call  Name
     66.7  235.5 ms  235.5 ms   16400   14.36 us    14.36 us  Shop::receipt
     30.9  109.0 ms  109.0 ms      41   2.658 ms    2.658 ms  Shop::price

B<Is it slower than yesterday?> L<dprofdiff> compares folders, in which each slice counts as a run:

    $ mkdir yesterday today
    $ find . -maxdepth 1 -name '*.tree' -newermt 'today 00:00' -exec mv -t today {} +
    $ find . -maxdepth 1 -name '*.tree' -newermt 'yesterday 00:00' -exec mv -t yesterday {} +
    $ dprofdiff yesterday today
    yesterday -> today; 11 runs a side; user+system time, self
    Total: 121.5 ms -> 133.6 ms, +10.0% (95% interval: +4.0 to +15.4%): slower

    Sub               Before      After    Change        Interval  Why
    .............  .........  .........  ........  ..............  ...............................

    Shop::receipt   82.07 ms   96.49 ms    +17.6%  +9.2 to +22.0%  4.7 % fewer calls, 20 % more ...
    ...

If the server had more or fewer requests than yesterday, add B<-n>, which compares shares of the
total. For many machines, L<dprofstore> moves slices to a store, and C<dprofdiff --run-set> compares
days and versions there.

=head2 The files

    server-5bc50c04fe24b292b8317d1e992edc8a-11626-0-3.tree

The name has the program's name, the id of the run, the process, the thread (0 is the first), and
the number of the slice, from 1 up. The header of the file has the last four, too: C<$dprof_run>,
C<$dprof_pid>, C<$dprof_tid>, C<$dprof_slice>.

To find half past two, look at the time of the file (C<ls -l>), which is the end of the slice. The
header's C<$dprof_start>, in seconds since 1970, is its beginning. Slices count from the start of
each process, not from the clock's full minutes.

A file ends in F<.part> until it is whole. So you may read, move or delete all F<.tree> files at any
time.

=head2 How many files are kept

All, until the spool takes more than C<spool-limit> bytes, 1 GiB by default. Then the oldest slices
are removed, and one line on standard error says so.

=head2 Forks, threads and the end

Each process and each thread leaves slices of its own, from 1 up. C<fork=no> and C<threads=no> leave
them out.

At exit, the last slice is written, shorter than the others. If a process is killed, its last slice
stays as F<.part>, and what that lacks is in F<.part.live> beside it. Name the F<.part> file to a
tool: it reads both (L</FILES>).

=head2 Where slices are cut

The profiler checks the clock when a sub is entered or left, or a sample is taken; there is no
timer. So a process that waits for an hour ends its slice after that hour. To end a slice at once,
send the signal that the option C<signal=> names, or call C<save> of L<Devel::DProf::Control>. A
process whose recording is stopped leaves no slices.

A call that is running at the cut goes on in the next slice. It has time in both slices, and counts
as one call, in the first. The slice in which the call ends has its length.

=head2 What slices cost

Between cuts, nothing is slower than without slices. A cut takes as long as it takes to write the
tree. C<source=1> puts the sources into each slice. To make the recording itself nearly free, take
samples: C<sample=100,slice=300> (L</SAMPLING>).

=head2 When a slice cannot be written

The disk may be full, or the folder gone. The profiler reports that once, and the program goes on.
The slice grows, and is written when the next one is due, so nothing is lost while the process
lives. If the folder was moved away, the profiler makes a new one.

A server that gives up privileges, or changes its root directory, should still be able to write to
the folder afterwards. If it cannot, the current slice keeps its name in F<.part>, and holds all
that follows.

=head2 Slices merged

All slices of a run, merged by L<dprofmerge>, equal the file that the run would have left without
slices, with two exceptions. The limit C<contexts> holds for each slice. And if several anonymous
subs stand on one line, and some of them first run in a later slice, dprofmerge keeps those apart
only if it merges the slices of a single process and thread, as the recorder left them.

=head1 SAMPLING

With C<sample=100>, the profiler looks a hundred times a second at what is running, and records no
calls. That costs next to nothing, so it suits servers in production, and programs with many small
subs.

B<Which subs use the processor?> Samples have no numbers of calls:

    $ perl -d:DProf=sample=100 server.pl
    $ dprofpp -O 3
    Total Elapsed Time = 3.853738 Seconds
      User+System Time =  0.72975 Seconds
    Exclusive Times
    %Time      Excl     Cumul  #Calls  Excl/call  Cumul/call  Name
     66.1  482.4 ms  482.4 ms       -          -           -  Shop::receipt
     31.4  228.8 ms  228.8 ms       -          -           -  Shop::price
     0.14  1.043 ms  1.043 ms       -          -           -  CORE:select

B<What does the program wait for?> The same file has real time, that of the clock:

    $ dprofpp -r -O 2
    Total Elapsed Time = 3.853738 Seconds
             Real Time = 3.853738 Seconds
    Exclusive Times
    %Time      Excl     Cumul  #Calls  Excl/call  Cumul/call  Name
     46.9   1.806 s   1.806 s       -          -           -  CORE:select
     37.0   1.425 s   1.425 s       -          -           -  Shop::receipt

B<Which lines?> Samples have lines without any other option:

    $ dprofreport -q -s srcline --no-children
      66.10%  lib/Shop.pm:5
      31.35%  lib/Shop.pm:3
       2.20%  server.pl:3
       0.34%  [unknown]

The file is F<tmon.out>, a tree like any other, and all tools read it. The page of L<dprofflame>
also draws a heat map of it, in which you select a range of time: the file says when each context
ran, in some 5 bytes a sample, and more coarsely after 65,536 times.

=head2 Servers, forks and threads

A server that runs for weeks takes samples in L<slices|/SLICES>:

    PERL5OPT=-d:DProf=sample=100,slice=300,spool=/var/spool/dprof starman app.psgi

Forked children and threads are sampled, too, each into a file of its own (F<tmon.out.PID>,
F<tmon.out.PID.TID>); B<--processes> reads them together. A program that runs already is sampled
from outside (L</ATTACHING>). A program can begin to sample itself, at any time and without C<-d>
(L<Devel::DProf::Sample>).

=head2 How many samples

The number is samples a second. C<100> suits programs that run for ten seconds or more. C<1000>
shows ten times as much of a shorter program, and costs more.

    100 samples a second     take 0.5 to 1 % of the CPU time of a program that computes
    1000 samples a second    take 2.5 to 4 %

On a machine that other programs keep busy, a server spends up to 6.5 % on them.
F<bench/sample-switched.pl> measures that. Between two samples the program runs what it would run
without a profiler, except for a jump where a sub returns and a test where perl frees an op. It gets
no signal, none of its system calls ends early, and nothing appears in C<%SIG>.

=head2 How exact samples are

With n samples, a share p is known to about sqrt(p(1-p)/n). A hundred samples a second for ten
seconds show 50 percent to within 1.6 points, and 1 percent to within 0.3. L<dprofdiff> tests two
sampled runs by their numbers of samples (L<dprofdiff/Samples>).

Perl reaches a statement or branch a little after a tick. By then the sub that ran may have
returned. Its line is kept, below the subs that are still running, and the counter C<returned> says
how many such samples each sub has. There are few, since the profiler also looks at the ends of
subs.

=head2 What a sample has

A sample has the subs that are running, the file and line of each call, and the statement. If the
statement is in an XS sub or a builtin (C<CORE:sort>, a regex as C<CORE:match>), the sample has
that, too. The time in which perl compiles belongs to C<(compile) FILE> or C<(compile) (eval)>,
below the sub that loads the file.

A sample stands for the time that has passed between two looks of the profiler's thread, and for the
CPU time in between. An op that takes longer than that gets one sample, which stands for all of its
time. The number of samples is a counter: C<-m samples>.

=head2 Spans in samples

    perl -d:DProf=sample=100,detail=sql+http server.pl

With C<detail>, samples say how much time each statement and each request took. How often they were
executed, and which were repeated, needs a recording without C<sample>. To see which calls are
spans, the profiler looks at each call. That costs about a hundred instructions a call
(F<bench/instructions.pl>). Spans that the program itself marks with C<span>
(L<Devel::DProf::Control>) are in samples even without C<detail>, and cost nothing else.

Samples that are taken from outside have no spans (L</ATTACHING>).

=head2 Subs that wait

A sub that waits (C<accept>, C<select>, a database) has real time, and only its own CPU time. CPU
time used between the last sample and the wait goes to the next sample, or to C<(program)> of the
same phase. Much of the cost of requests that are shorter than two sampling intervals therefore
appears under C<(program)>.

=head2 Calls with sampled lines

    perl -d:DProf=tree,sample=1000 script.pl

With C<tree> beside C<sample>, all calls are recorded as without C<sample>, and samples say what
statements cost. C<lines> looks at each statement instead, which costs more. The result is a tree
with the times of lines, at the cost of a tree.

The times of subs are exact. Those of lines are as exact as the number of samples allows:
C<$dprof_line_hz> in the file says how many there were a second. The time since the previous sample
belongs to the statement that ran at the tick; the time after the last sample belongs to none. How
often statements ran is not known.

=head2 Limits of samples

=over

=item *

A process that ends by C<POSIX::_exit> leaves a file without an end, as if it had been killed.

=item *

Calls and ops are not counted. C<dprofpp -T> and all figures per call need a recording without
C<sample>. C<trace> has no effect beside C<sample>, which always writes a tree. C<builtins=slow> is
an error beside it, because samples have the builtins anyway.

=item *

The time of an XS sub belongs to its caller, if the XS sub is called as a method of an object that
neither a variable nor C<$x-E<gt>{name}> holds: C<f()-E<gt>add>.

=item *

Stacks deeper than 4,096 subs lose their middle.

=item *

The process has a second thread. So unshare(CLONE_NEWUSER) is refused, RLIMIT_NPROC counts the
thread, and F</proc/PID/status> shows signal 33 as caught, by the C library, which does that where
there are threads.

=item *

A program that waits is not woken: the thread waits with it. A forked child gets a thread of its own
at its first statement.

=item *

Where perl has no room for the numbers of statements (L<lines|/OPTIONS>), samples have the lines of
calls only, and C<sample> beside C<tree> is an error before the program starts.

=back

=head1 ATTACHING

A perl that runs already can be profiled from outside, without a restart. It need not be prepared,
and does not have to load this module.

B<What does it do now?>

    $ dprof dump 17196
    Process 17196 (perl 5.36.0) waits in Shop::DB::query at lib/Shop/DB.pm line 6, in CORE:select
    (kernel: poll_schedule_timeout).

      0  Shop::DB::query          lib/Shop/DB.pm:6
      1  Shop::Report::orders_of  lib/Shop/Report.pm:5
      2  Shop::Report::write_all  lib/Shop/Report.pm:7
      3  (program)                report.pl:3

B<Where do ten seconds of its time go?> The profile is F<tmon.out>, which all tools read:

    $ dprof attach --for 10s 17196
    dprofattach: wrote tmon.out with 989 samples; dprofreport tmon.out shows it
    $ dprof report -q -O 2
      80.43%    1.157 s    80.43%     1.157 s              Shop::receipt
      18.76%   269.8 ms    18.76%    269.8 ms              Shop::price

B<What does it do, every two seconds?>

    $ dprof top 17196
    dproftop  07:50:51  process 17196  sampled from outside  server.pl  by cpu
    2.01 s since the last update: cpu 0.305 s, real 2.013 s; 94.4 samples/s
    %self  self ms/s  incl ms/s samples/s  sub            place
     82.9      125.5      125.5      10.9  Shop::receipt  lib/Shop.pm:3
     17.1       26.0       26.0       3.5  Shop::price    lib/Shop.pm:4

C<dprof attach> and C<dprofattach> are the same command; L<dprofdump>, L<dprofattach> and
L<dproftop> are the manuals.

=head2 What it does to the program

The program is not changed, gets no signal, and is not stopped (except by C<dprof attach --pause>).
A hundred looks a second take 1.1 to 1.5 % of the program's processor, as measured on a busy machine
(F<xt/attach.pl>).

=head2 When it ends, and which processes

C<dprof attach> ends after the time of B<--for>, at Control-C, or with the program, and then writes
the profile. B<--slice> and B<--spool> write L<slices|/SLICES> instead, for as long as you like.

    dprof attach --children --for 1m 17196 && dprof report --processes

With B<--children>, it also samples the workers of a server that run, and those that the server
forks later. They have files of their own, F<tmon.out.PID>.

=head2 What is not seen from outside

Calls are not counted, nor ops, memory, other counters or phases. For these, start the program with
C<-d:DProf>; also if it runs for a second only, which is too short for samples. Times are those of
samples: in 1,000 samples, a share of 50 percent is known to within 1.6 points, and 1 percent to
within 0.3 (L</How exact samples are>).

C<dprof report> shows processor time, which a program that waits does not use. C<dprof report -m
real> has the time of waiting, too.

=head2 Rights

Run the command as the user of the program. On Ubuntu and others that is not enough: use B<sudo>,
start the program by C<dprof attach -- COMMAND>, or let it call
L<Devel::DProf::Control/allow_attach> when it starts. L<dprofdump/Permissions> has the details, also
of containers.

=head2 Which perls and systems

Linux on x86-64, with perls from 5.26 to 5.44; on other processors, a perl like the one of this
module. The perl may be another one than that which runs the tools. L<dprofdump> also reads core
files.

=head1 SWITCHING

    perl -d:DProf=tree,start=no,toggle=USR2 app.pl daemon
    kill -USR2 PID              # records from here on
    kill -USR2 PID              # up to here

With the option C<toggle=USR2> you profile a running program for as long as you want, without
changing it. Each signal stops recording where it is on, and starts it where it is off, as
L<Devel::DProf::Control> does from within. Without C<start=no>, recording is on at first. The change
takes effect where perl would run a handler of C<%SIG>, between two operations, and in all threads.
While recording is off, the tools read what was recorded up to then. Subs that are running when
recording starts again continue, and do not count as new calls.

A forked child begins as its parent was, and follows the signals that it receives itself: send the
signal to each process of a preforking server, or to its process group. As with C<signal>, a program
that sets its own handler for this signal replaces the profiler's handler, and the signal ends a
C<sleep> or C<select> early.

=head1 MEMORY

Which sub and line made what is still in memory? There are two ways to record that. C<heap=exact>
follows each value: for tests and for small programs. C<heap=sample> notes a few of the blocks of
memory that perl allocates: for programs in production. In both, memory belongs to the place that
took it for as long as it lives. What one sub makes and another one frees is nobody's leak.

B<What has the program left in memory?>

    $ perl -d:DProf=tree,lines,heap=exact daemon.pl
    $ dprofreport -m live-bytes
        Self  Self value     Incl.  Incl. value       Calls  Symbol
      74.19%     385,920    74.19%      385,920      203010  Node::new
       9.27%      48,240    83.46%      434,160        1005  main::leak

B<What grows?> Snapshots (L<Devel::DProf::Control/heap NAME>) show what was made between two moments
and still lives. Temporary values, and those of a cache that is full, do not show, as both snapshots
have as many of them:

    $ dprofdiff -m live-values tmon.out-warm tmon.out-done
    Sub            Before      After     Change  Why
    Node::new          20      4,020  +20000.0%
    main::leak         10      2,010  +20000.0%

B<Who holds it?> With C<heap-holders=10>, snapshots name the variable, or the cycle, that keeps what
each of the ten places has left behind; C<dprofreport --growth> shows that with the first snapshot
in which a place had values, and the last one in which it grew:

    $ perl -d:DProf=tree,lines,heap=exact,heap-holders=10 daemon.pl
    $ dprofreport --growth tmon.out-*
    Live memory: r1 to r4
    Live memory went from 307 kB to 533 kB, in 9,461 values now; 2 places have grown, by 225 kB.

       Bytes  Values  First seen  Last grew  Place
     +207 kB  +2,250          r1         r4  Node::new, leak.pl line 2
                                             held by my @kept of the main program -> HASH (Node)

B<Does this code leak?> In a test, C<no_growth_ok> of L<Test::DProf> answers that.

All tools report, draw and compare the counters: C<dprofflame -m live-bytes>. What lives is counted
when the main program ends, before its variables go, or calls C<exit>; and at each snapshot and each
time that the file is saved (L</SAVING>).

B<What kind of values are they?> With C<heap-types=1>, the values stand in frames by type and class:

    $ perl -d:DProf=tree,heap=exact,heap-types=1 shop.pl
    $ dproffold -m live-values
    main::keep;Node::new;value:HASH (Node) 5000
    main::keep;Node::new;value:ARRAY 5000

=head2 heap=sample

    $ perl -d:DProf=sample=100,heap=sample daemon.pl
    $ perl -d:DProf=slice=60,lines,heap=sample daemon.pl
    $ dprofdiff -m live-bytes FIRST-SLICE LAST-SLICE

Each time that perl has allocated some 256 KB (C<heap-interval>), the recorder notes one block with
the calls that led to it, and forgets the block when perl frees it. A noted block stands for all
blocks of its size that were not noted. So the numbers are estimates: the more memory a sub holds,
the better they are. For 9.4 MB in 20,000 small hashes, the standard deviation was 26 %, and 14 %
with C<heap-interval=64K>, which costs as much.

The counters are C<allocated-blocks> and C<allocated-bytes>, all that perl has allocated;
C<live-blocks>, the blocks that are not freed yet; C<live-values>, the values in these; and
C<live-bytes>, the bytes of both. Slices have the allocations of their time, and all that lives at
their end.

A value counts if its string, its array of elements or its table of hash entries is a noted block. A
number or a reference has no memory of its own. It counts with the array or hash that holds it, in
the sub that made the array or hash. A number or a reference that only another reference or a
variable holds is not counted. A string or an array that grows is a new block, and belongs to the
place where it grew last. perl keeps the heads of values that were freed for later use; such memory
is not counted.

It goes with samples, trees and slices. perltidy takes 1.3 % more instructions than with a tree,
1.6 % more than with C<sample=100>, and a loop that only makes and keeps values 2 % (callgrind). The
recorder takes 0.1 % of a heap of 300 MB. A census of all values at each save takes some 20
milliseconds for a million of values.

The recorder sees what perl allocates, and what XS code allocates by perl's functions. It does not
see what libraries in C allocate by themselves; the file and C<dprofreport --growth> name these
libraries. The event C<bytes> has the same limits (L</Perl's own counters>).

=head2 heap=exact

The counters are C<values>, all values that were made and were not freed by the same op;
C<live-values>; and C<live-bytes>, the sizes of those that live.

A scalar, an array, a hash, a sub and a glob are a value each. Compiled code
has values, too, which belong to the C<use> or C<BEGIN> that loaded it. What an XS sub makes belongs
to its caller, in the line of the call. What a sub returns is copied where the sub ends, and belongs
to the sub.

The size of a value is that of its head and body, and of its string, of its array of elements or of
its hash entries. A string that several values share is divided among them. The allocator's own
memory, pads and ops are not counted, nor is what C libraries hold.

=head2 Limits of heap=exact

=over

=item *

A plain statement takes some 4 nanoseconds longer than in a tree, a call 20, and a statement that
makes values 30 (F<bench/heap.pl>). The recorder takes 4 bytes for each 16 bytes that hold heads of
values, and 8 bytes for each free head.

=item *

Values that were there before the recording, those that a thread inherits, and those that are made
while a stretch is held back (L<Devel::DProf::Control/hold SECONDS>), are of no known place. A
forked child begins anew.

=item *

If one op frees a value and makes another one, the new one may get the head of the old one, and then
it counts where the old one was made. Perl's ops copy before they free, so this is rare.

=item *

While values are followed, perl does not notice that freed values are freed once more. That happens
only in faulty XS code.

=item *

It does not go with C<sample>, C<slice> and C<spool>. It needs perl's usual run loop: under a perl
with C<DEBUGGING>, or a module with a run loop of its own, the counters stay 0.

=back

=head1 EVENTS

    perl -d:DProf=events=svs+bytes script.pl
    dprofreport -m bytes

Time is one cost. With C<events>, the profile also holds other costs of each sub, and all tools
report, fold, draw and compare by any of these counters as they do by time: C<-m NAME>. L<dproflist>
lists the events, and says which of them work on this machine.

Events are separated by C<+>; in the environment, PERL_DPROF_EVENTS, commas or blanks may separate
them, too. A profile has room for 16 counters. An event that is unknown, not available or not
permitted is an error before the program starts, and a message says why. With a C<?> in front, the
recorder leaves such an event out instead, and the header names it: C<events=?instructions+ops>.

=head2 Perl's own counters

These counters need nothing from the processor or the kernel, and cost some tens of nanoseconds per
call (F<bench/events.pl> measures that).

=over

=item ops

The ops executed. A tree has them anyway.

=item svs

Live scalars, arrays, hashes, subs and so on: everything for which perl has a head. Values come and
go, so there are two counters. Between two events of the profile the number of live values either
grows or shrinks: C<svs> counts the growth, C<svs-freed> the decrease. So C<svs> less C<svs-freed>
of a sub and all its callees is what it has left behind. Temporary values that come and go between
two events are in neither counter.

=item bytes

Memory that perl has allocated and not yet freed, as C<malloc_usable_size> reports it, in two
counters, C<bytes> and C<bytes-freed>, that work like those of C<svs>. Perl keeps much of what it
has released for later use: a variable of a sub keeps its string, and the interpreter keeps heads
and bodies. Such memory is not freed. Memory that C libraries allocate by themselves is not counted.

This counter works on 64-bit Linux. It works neither with perl's own allocator (C<usemymalloc>) nor
when a library replaces the allocator's functions with its own that do not report sizes. While a
profile counts bytes, perl's calls of malloc, calloc, realloc and free go through counting
functions, which cost some nanoseconds each.

=item noise

Nanoseconds by which single stretches of a sub took longer than their ops usually take in that
context, if the excess is 20 microseconds or more. A stretch lies between two calls, returns or
other events of the profile. Most noise is interrupts of the kernel, and time that the machine's
host gave to others. The times include it; B<dprofdiff --run> subtracts it before it compares them.
This counter needs a tree that counts ops, and costs no time per call.

=back

=head2 Events of the kernel and the processor

These work on Linux, through perf_event_open(2), for the running thread. Forked children and threads
have counters of their own.

=over

=item Software events

C<page-faults> (C<faults>), C<minor-faults>, C<major-faults>, C<context-switches> (C<cs>),
C<cpu-migrations>, C<task-clock> and C<cpu-clock> (ns), ... These work everywhere, even in virtual
machines.

=item Hardware and cache events

C<instructions>, C<cycles>, C<branches>, C<branch-misses>, C<cache-references>, C<cache-misses>,
...; C<L1-dcache-load-misses>, C<LLC-loads>, C<dTLB-load-misses>, ... The names are those of
perf(1).

=item Events of this processor

Events by the names that the processor's maker gave them: C<ls_dc_accesses>,
C<frontend_retired.l1i_miss>. There are tables for some thirty server processors and a few others by
Intel, AMD, Arm, Ampere and IBM. The processor is identified as perf does it; the environment
variable PERF_CPUID, if set, takes precedence. One processor's own event names mean nothing on
another.

=item The kernel's aliases and raw events

The names in F</sys/bus/event_source/devices/PMU/events>; C<cpu/event=0x3c,umask=0x1,name=mine/>
with the terms in that PMU's F<format>; and C<r01c4>, a number that the processor understands.

=item Modifiers

C<:u> counts the program only, C<:k> the kernel only: C<instructions:u>. The kernel may not permit
counting its own part (kernel.perf_event_paranoid is 2). Then an event without a modifier counts the
program's part alone, as with perf, and the counter is called C<instructions:u>. C<-m instructions>
finds it.

=back

Where the kernel allows programs to read the processor's counters by themselves (commonly on
x86-64), the profiler reads them when it is entered and when it is left, so its own share is left
out.

The profiler reads all other counters through a single system call, when it is entered. When it is
left, it reads them only if it had more to do than usual (a new sub, a new context, a file to
write). What it usually needs is measured when recording begins, as the smallest of many samples,
and subtracted. So these counters cost one to three microseconds more per call, which belong to no
sub's time, and some tens of the profiler's instructions remain in each call.

A processor has few counters, four to eight. If more events are requested, they take turns and their
numbers are estimates: each count is multiplied by the time it should have been counted, and divided
by the time it was counted. The file holds this share (C<$dprof_shares>), and the tools report it.

A forked child opens its own counters at its first event. What it did before that, mostly page
faults, appears in no file. Perl's own counters do include it.

A program that closes all file descriptors, as daemons do, or that replaces the profiler's
descriptors with its own files, ends the counting of the kernel's events. The file says that it
ended early (C<$dprof_events_lost>). Perl's own counters continue.

Software events and perl's own counters were tested on real counters, in a virtual machine. The
names, encodings, requests to the kernel, grouping, reading by instruction and estimates of hardware
events were tested against tables and against a simulated kernel. No run on a processor with
accessible counters has been made yet.

=head1 WHAT IS RECORDED

=head2 Names

A sub is recorded by package and name, with the file and line of its first statement. Names are
taken at the first call.

=over

=item Anonymous subs

Anonymous subs are called C<__ANON__>, as everywhere in perl. File and line distinguish them; two on
one line are distinguished by the sub around them and their order of compilation. All closures of
one piece of code are one sub, unless they were given names of their own (Sub::Util).

=item AUTOLOAD

A call that ends in an C<AUTOLOAD> is recorded under the name that was called, which is the value of
the variable C<$AUTOLOAD>. After 1,000 names, further ones count under plain C<AUTOLOAD>.

=item String evals

Code that is compiled over and over gets a new name each time, C<(eval N)>. After 1,000 names that
differ in nothing but these numbers, further ones are recorded without the number.

=item Names that count up

A program may create new subs for as long as it runs: C<Anon1234::new>, C<main::gen77>. After 1,000
names of subs that begin in the same place and differ in nothing but numbers, further ones are
recorded with a C<#> in place of each number: C<Anon#::new>.

=item Very many names

After 65,536 names, a new one counts as C<(others)> of its package, and numbers in the package's
name become C<#>, too. After 1,000 such packages, it counts as C<main::(others)>. Names that were
recorded before stay.

=back

=head2 Builtins

With C<builtins=slow>, these builtins are recorded as calls: those that ask the system for
something, and those that may work on much data.

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

C<match> is C<m//>. C<subst> is C<s///>, and C<substcont> is each further step of a substitution
whose replacement is code (C<s///e>, or with variables in it); that code itself runs outside of
both. C<regcomp> is the compilation of a pattern with variables in it, or the check that the pattern
has not changed. C<backtick> also stands for C<readpipe>. C<split> matches by itself.

What a builtin calls is recorded below it: comparators and the subs that a C<sort> block calls,
methods of tied handles, overloaded operators, signal handlers, C<$SIG{__WARN__}>.

C<require>, C<do FILE>, C<eval>, C<exec> and C<write> are not recorded as builtins. A forked child
begins in the sub that forked, not in C<fork>. Perl runs some builtins at compile time (C<pack> of
constants); these are recorded as calls, too.

Each such call costs as much as a call of a sub. Without the option, builtins cost nothing.

=head2 Spans

A span is a frame of the call tree that is no sub. It has a kind and a text, and is shown as
C<KIND:TEXT>. It nests like a call, has calls and times like a sub, and ends however its code is
left. A program opens spans by C<span> (L<Devel::DProf::Control>). With C<detail>, the recorder
finds them by itself; the program is not changed, and nothing is loaded.

    perl -d:DProf=tree,detail=sql shop.pl
    dprofreport --kind sql

=over

=item C<sql>

Statements of L<DBI>, with each of its drivers: C<execute>, C<do>, C<select*>, C<begin_work>,
C<commit> and C<rollback>. C<prepare> is a span of its own, C<sql:prepare: SELECT ...>. The time of
C<fetch*> counts for the statement that it belongs to, and is no call. The number of rows that
C<fetch*> and C<select*> have returned is kept, too.

The text has C<?> in place of each value, and C<IN (?)> for each list, so that statements group. In
doubt, a part of a text is a value: in SQLite, and in databases that the recorder does not know, a
name in double quotes may become C<?>. Bind values are never recorded.

=item C<http>

Requests of L<LWP::UserAgent>, L<HTTP::Tiny>, L<Mojo::UserAgent> and L<Net::HTTP>: method, host and
path. A request of Net::HTTP lasts while its methods send it and read the response. In the path,
numbers, UUIDs and long hexadecimal numbers become C<*>. There is no query, no user and no header.
Requests of Mojo::UserAgent with a callback are not recorded, and neither are those of
AnyEvent::HTTP and other clients that wait in an event loop: their time passes in the loop.

=item C<template>

The name of a template: L<Template> (each INCLUDE and PROCESS of a file), Mojolicious' renderer,
L<Mojo::Template>, L<Text::Xslate>, L<HTML::Template>, HTML::Mason. A template that is a text in the
program is C<template:(text)>. An include that Text::Xslate's own machine runs belongs to the
template around it.

=item C<command>

The program's name, without its arguments: C<system>, C<exec>, backticks, C<open> with a pipe,
L<IPC::Open3>, L<IPC::Open2>, L<IPC::Run>. The time of C<open> with a pipe is that of starting the
command; the program waits for it in C<readline> and C<close>.

=item C<file>

The path, with numbers masked as in URLs: C<open>, C<opendir>, C<stat>, C<require>, C<do FILE>. The
time of C<require> and C<do> is that of finding and compiling the file. The code of the file itself
runs after that.

=item C<regex>

The pattern of each match and substitution, with its place in the source. Backtracking is part of
its time. A pattern with variables is C<regex:(a pattern with variables)>, because it has values of
the program.

=back

A call of DBI's C<execute_array>, and a loop of statements inside a driver, is what the driver makes
of it: one span, or one for each execution that goes through DBI's C<execute>. With DBI's pure-Perl
mode (C<DBI_PUREPERL>) no statement is found.

A span costs as much as a call. A statement also costs the lookup of its text. Both together took
0.3 to 0.6 microseconds where F<bench/detail.pl> was run.

=head2 Places of calls

With C<callsites=1>, with C<lines> and in samples, a call has a place, which is a file and a line.
All these recordings have the same places, but for the exceptions at the end of this section.

Where an op of the program calls, the place is that of the statement in which the op stands. Where
perl itself or an XS sub calls (a block of List::Util, a comparator, overloading, C<tie>,
C<DESTROY>, C<BEGIN>, a handler, a thread's first sub), the place is the file and line that
C<caller> returns in the called sub. For a block that C<first> or C<any> calls, this is the
statement that calls C<first> or C<any>. C<goto &sub> does not change the place of the call.

C<caller> can be wrong where the profile is not: it finds the statement of a call by the op to which
the call returns. For the last call in a branch of an C<if>, and for a call in the condition of a
loop, that op may belong to another statement.

These are the exceptions:

=over

=item *

A sample knows only the sub's name and what C<caller> would tell. If several branches of an C<if>
end with a call of the same sub, samples cannot tell these calls apart, and give the line of the
C<if>. For a C<BEGIN> block, a sample has the line that perl is compiling at that moment; while the
block itself compiles a file or a string, this is a line of the other source. In global destruction
no samples are taken.

=item *

With C<lines=time>, the place of a call is the statement whose time is running. In a C<do>, C<map>
or C<grep> block of one statement, this is the statement that contains the block. After a block of
several statements, it is the last statement of that block: in C<f(map { a(); b() } @x)>, C<f> is
called from the line of C<b()>. A call in the third part of C<for (...; ...; ...)> has the statement
of the loop's body that ran last. A C<(?{ ... })> block of a C<qr> object has the statement that
matches. A call in a sub that is not recorded has the statement that called this sub.

=back

=head2 Phases

A program goes through phases: C<BEGIN> while it is compiled, then C<main>, then C<END>. With
L<Devel::DProf::Control> it can mark phases of its own, and stop and start recording. C<dprofpp
--phases> shows phases separately. A program can also hold back a part of the recording, and keep
that part only if it was slow: L<Devel::DProf::Control/hold>.

=head2 Without the start-up

The profile of a server that has loaded a framework and answered a few requests shows mostly
loading. All tools that show profiles take the option C<--main>:

    dprofpp --main

It leaves out the phase C<BEGIN>: calls, times and counters of everything that ran before the main
program's first statement, including C<use> and its C<import>, in traces and in trees. What the main
program itself requires or evaluates stays, together with the C<BEGIN> blocks in it, and so does
what came after a phase that a C<BEGIN> block marked.

The histograms of trees and what statements cost (C<lines>) are left out as well, since they do not
distinguish phases. Profiles without phases, from the old Devel::DProf, are read as they are.
C<dprofpp -T> and C<-t> show every call, and refuse the option. To avoid recording the start-up at
all, use C<start=main>.

=head2 Processes, threads and interpreters

The first process and thread writes F<tmon.out>, a forked child writes F<tmon.out.PID>, and another
thread writes F<tmon.out.PID.TID>. A file is made when there is something to write. A child's file
begins with the subs that were running at the fork.

A program that embeds perl may have several interpreters in one process: mod_perl with
C<PerlOptions +Parent>, uWSGI with several applications, PL/Perl with plperl and plperlu. Each
interpreter that has C<-d:DProf> among its switches or in PERL5OPT is recorded, in whatever order
the interpreters begin and end; the others are left alone.

The first interpreter writes F<tmon.out>. Each further one writes F<tmon.out.PID.iN>, where PID is
the process, and N the number of the interpreter in it. Threads and interpreters share one series of
numbers, so that there may be gaps. A forked child has such files, too, with its own PID.
C<dprofreport --processes tmon.out>, and the other tools with that option, read all files of the
run.

=over

=item *

All interpreters of a process are recorded with the options of the first one; if another one has
other options, a message says that they are ignored. Only C<out=> is each interpreter's own: with
C<-d:DProf=tree,out=second.out> an interpreter writes F<second.out>, and C<--processes> does not
look for it.

=item *

perl obeys C<-d:DProf> in a later interpreter only if the first interpreter of the process has had
it, too. To profile a later interpreter, give the switch to the first one as well, which is then
recorded, too (with mod_perl, the first is the interpreter of the base server). Or take samples with
L<Devel::DProf::Sample>, which needs no switch.

=item *

C<(program)> has, in the file of each interpreter, the time that the program around perl spends
outside of perl, computing or waiting.

=back

=head1 TERMS

A sub's B<self> time is the time that passed in its own code. Its B<inclusive> time is the time from
its entry to its exit, including everything that it called. Counters use the same words. The tools
that imitate others keep their headings:

    here          dprofpp       dprofreport, perf   Devel::NYTProf
    ............  ............  ..................  ..............

    self          Exclusive     Self                Exclusive Time
                  ExclSec
    inclusive     Cumulative    Children            Inclusive Time
                  CumulS
    calls         #Calls        Calls               Calls
    share         %Time         Overhead            -
    sub           Name          Symbol              Subroutine

Without its column Children (C<--no-children>), dprofreport calls self Overhead, as perf does. A
B<baseline> is the side with which others are compared. A difference is B<significant> when chance
alone would hardly produce one like it; see L<dprofdiff/How many runs, and what is chance?>. A
B<stack> is a chain of callers; it is I<folded> when it is written on one line.

=head1 HOW TIME IS MEASURED

Times are kept in ticks of 100 ns.

B<Real time> is read from the processor's own counter (the TSC on x86-64, the generic counter on
arm64) if that counter runs at a constant rate and the kernel itself uses it, and otherwise from
C<clock_gettime>. The header of the file names the clock.

Each event reads the clock twice: when the profiler is entered, and when it is left. The time in
between, including the time to write the file, is the profiler's own: it belongs to no sub, and the
header holds its sum. The gap between two events holds the program's time, and a part of what
reading the clock costs. A reading alone takes 5 to 40 ns. But the processor does other work at the
same time, so that on the machines that we know a reading adds 1 to 2 ns to a gap.

B<That part is measured where the program runs>. A small interpreter runs a small program, once with
the recorder's own code between its calls, and once without; the difference is what a gap gains.
This takes 0.3 ms at the start. The measurement is repeated about 5, 25 and 125 ms after the start,
if the program still runs. The least result counts from then on, because other work of the processor
makes readings dearer. The result is subtracted from each gap, never below zero. The header holds
the last one, and C<dproflist --clock> shows it.

Where a statement begins (C<lines=time>), the profiler reads the processor's counter once: a second
reading would cost as much as all its other work there. So that reading, and the few instructions
that count the statement, are within a gap. They add some 5 ns, which are measured in the same way,
and subtracted from gaps that begin with a statement. With counters of events the clock is read
twice here, too.

B<User and system time> is the CPU time of the thread. Reading it takes a system call of some 350
ns. Therefore it is read only when the gap between two events was longer than 5 us, and at least
once per millisecond. A shorter gap counts as CPU time as a whole; if that was wrong, the next
reading corrects it. In a program with many computing gaps of 5 to 20 us, only one gap in eight is
followed by a reading, until waiting appears among such gaps again.

The profiler guarantees:

=over

=item *

The real times of all subs, and the time outside of any sub, add up to the elapsed time less the
profiler's own time, to the tick.

=item *

User and system time together, plus the profiler's own time, equal what C<getrusage> reports for the
thread from the beginning of the recording to its end. What the process uses after that, to free its
memory, is in no profile.

=item *

User plus system time of a sub is accurate to within 1 %, plus 5 us for each call in which it waits.
A sub that sleeps or waits for a pipe shows real time and no CPU time.

=back

The table shows how true shares are. Each number is a share in the profile divided by the share
without a profiler: at 0.90, a profile shows a tenth too little. They are medians of 11 rounds on an
EPYC that did other work, too; C<bench/truth.pl> measures them anywhere.

                        trace  tree  tree,lines  callsites=1  sample=1000
    calls of 40 ns       1.00  1.02        0.98         1.04         1.04
    calls of 100 ns      0.98  0.98        0.96         0.98         1.03
    calls of 1 us        0.99  0.99        1.00         0.99         1.00
    calls of 10 us       1.01  1.01        1.02         1.00         0.98
    XS calls of 20 ns    1.02  1.01        1.00         0.99         0.98
    computing            1.01  1.02        1.03         1.01         1.00

For lines, the numbers of six kinds of statements are 0.97 to 1.04 with C<tree,lines>, and 0.94 to
1.04 with samples. In a single run of samples they are 0.85 to 1.1, as each kind has few samples.
Where other processes are busy, some samples come late and stand for 10 ms and more. So a sub with
few samples may well have another share in a tree.

The profile does not know:

=over

=item *

The division of CPU time into user and system time. The kernel divides it by where the process is at
the kernel's own ticks (commonly every 4 ms), and a sub gets the share of the interval in which it
ran. Below half a second of CPU time, the division says nothing.

=item *

Single calls below 100 ns. A few nanoseconds of the hooks' own work remain in each call.

=item *

Comparisons between machines.

=back

CPU time that a library's helper threads use belongs to no sub. Time that the machine gave to
another guest counts as CPU time, since the kernel cannot distinguish it.

=head1 ENVIRONMENT

=over

=item PERL_DPROF_OUT_FILE_NAME

The classic name of the option C<out>.

=item PERL_DPROF_RUN

The run that a perl belongs to because another perl, or C<dprof run>, has started it. The recorder
sets it for the perls that the program starts if C<PERL5OPT> makes these record, too, and takes it
out of C<%ENV>. So B<--processes> reads the files of C<system>, C<exec>, L<prove> and L<make>.

=item PERL_DPROF_BUFFER, PERL_DPROF_TICKS, PERL_DPROF_MODE, ...

The options above.

=back

=head1 FILES

=over

=item tmon.out

The profile. L<Devel::DProf::Format> describes its format.

The profile of an earlier run is renamed to F<tmon.out.old>. The files of that run's children and
threads, F<tmon.out.PID> and F<tmon.out.PID.TID>, and those of its other interpreters, with the same
run id, are renamed to F<tmon.out.old.PID> and so on. Files of the run before that are removed. (A
child that still runs keeps its file.)

If a running program is still writing F<tmon.out>, it is left alone, and the new profile is
F<tmon.out.PID>. A file that is not a profile is never overwritten: the program does not start. The
default name is not followed through a symbolic link.

=item tmon.out.new

Exists for the moment in which a tree is saved. If a killed process has left one, the next run
removes it.

=item tmon.out.live

Holds what is not in the profile yet, while the program runs. It is removed when the recording ends
in order. When the program is killed, even by C<kill -9>, it stays, and the tools find in it what
the profile lacks: keep the two files together. It also stays when the program is no longer allowed
to remove it (L<perldoc> gives up root's privileges). Beside a complete profile it may be deleted.

=back

=head2 When the file is made

F<tmon.out> appears, and the previous one moves, when the main program begins, which is after all
C<BEGIN> blocks, C<use> and C<CHECK> blocks. What these did is kept in ordinary memory until then,
and then goes into the profile. The file is made earlier when more than a second has been recorded,
when the buffer is full (C<buffer>), when the program saves it, and when the program ends itself, by
C<exit> or C<exec>. All this holds for every way of recording, samples included. So a program that
has begun has a file of its own, even if it dies before its first sample.

So no file is made by a perl that only compiles (C<-c>), that only prints its version or
configuration (C<-v>, C<-V>), or whose program fails to compile; an earlier profile stays where it
is, even with C<PERL5OPT=-d:DProf>, and F<tmon.out> is still the profile of that earlier run
(C<dprofpp -V> prints its program and start). C<dprofpp -p> and C<dprofdiff --run> notice that, and
report that the program left no profile. A process that is killed before its main program begins
leaves no file either. Whether the file can be made is checked before anything runs.

The command line tools of this module leave no profile of themselves, and record none: each begins
with a call of C<Devel::DProf::_forget>. So they can be used where C<PERL5OPT=-d:DProf> is set.

The profile is written through a descriptor above 100 that is closed on exec. If the program closes
the descriptor, it is opened again. If the program uses its number for a file of its own, that file
is not touched. When the file cannot be written, the profiler says so once, in one line on the
standard error with which it was started, and the program continues.

=head1 DIAGNOSTICS

=over

=item DProf: cannot write FILE: REASON; the profile is the one that was saved last

The disk is full. The tree that was saved before (see L</SAVING>) is worth more than a part of the
last one, so it stays.

=item DProf: cannot write FILE: REASON; the slice goes on

A slice could not be written to the spool (see L</SLICES>). What it holds will be in the next file.

=item DProf: DIRECTORY has reached spool-limit=BYTES bytes; the oldest slices are removed

Nobody takes the slices away, or C<spool-limit> is too small for their number.

=item DProf: out= and spool= both say where profiles go; leave one out

=item DProf: DIRECTORY is no directory; ...

=item DProf: DIRECTORY is a symbolic link; ...

=item DProf: DIRECTORY is another user's; ...

=item DProf: cannot make the directory DIRECTORY: REASON

The spool cannot be used. The program was not started, or, in the last case, is not profiled.
Somebody else may have made F<tmon.spool>; name another directory with C<spool>.

=item DProf: signal=NAME: there is no such signal; ...

=item DProf: signal=NAME: a program cannot catch that; ...

=item DProf: signal=NAME and toggle=NAME are one signal; ...

The program was not started. Use C<signal=USR1>, C<toggle=USR2>, or another signal that the program
does not use itself.

=item DProf: run perl with -d to use DProf.

The module was loaded with C<use> or C<-M>. It must be loaded before the code that it profiles is
compiled: C<perl -d:DProf>.

=item DProf: FILE exists and is no profile; ...

Another file has the name that the profile would get. The program was not started.

=item DProf: cannot write FILE: REASON; ...

The profile ends here, or there is none. The program continues.

=item DProf: the module was built for another perl than PERL; the program is not profiled

=item DProf: Can't load 'FILE' for module Devel::DProf: ...; the program is not profiled

PERL5OPT or PERL5LIB made this perl load a module that another perl has built: one of another
version, or one with other build options (assertions, threads). The program runs as if no profile
had been requested.

=item DProf: FILE was removed while the program ran; there is no profile

When the recording ended, no file of that name existed, so there was nothing to complete.

=back

=head1 WHAT A PROGRAM CAN STILL SEE

=over

=item *

C<%INC> has F<Devel/DProf.pm>, F<XSLoader.pm>, and what that loads (F<strict.pm>), and the symbol
table has their packages. On a perl without threads it has the names of their files, too. With a
fixed PERL_HASH_SEED other than 0, on perl 5.36 and newer, the profiler hides them, so that the
order of keys stays the same (next point). Devel::DProf::Control works then, too.

=item *

The order of a hash's keys, but only if PERL_HASH_SEED is fixed. With 0 the order is always that of
the plain run. With another number it depends on all names that perl has met before:

=over

=item -

On perl 5.36 and newer, with integers of 64 bits, the order is that of the plain run in all modes,
as long as perl's table of names has not grown. This table grows at 2,731 names for the first time.
A small program has 200, one with POSIX has 1,500, and the profiler adds about a hundred.

=item -

In larger programs, and on other perls, the order may be another one than in the plain run, but it
is the same in all modes that take no samples.

=item -

In a thread the order may always be another one: perl copies all packages, also the hidden ones, in
the order of their addresses.

=back

=item *

An open file with a number above 100.

=item *

The time of access of its sources. When a sub of a source is first called, the profiler reads that
source, to keep its size and checksum.

=item *

The environment of the profiler: PERL5OPT and PERL_DPROF_*, where the user has set them. PERL5DB,
which C<perl -d:> itself sets, is removed from C<%ENV>, so that a C<perl -d> that the program starts
gets its debugger.

=item *

The addresses of its values in memory. Perl destroys objects that live until the very end in the
order of their addresses. That order may differ under the profiler, as it may when an environment
variable is added.

=back

A program cannot see B<-d> itself. C<$DB::single> and its like are undefined, C<%DB::> is empty,
C<$^P> is 0, and C code sees no PL_DBsub. A program that asks whether a debugger runs gets the
answer of the plain run.

=head1 LIMITS

=over

=item *

Builtin functions are not measured by themselves unless the option C<builtins=slow> asks for it, and
then not all of them are. Their time belongs to the sub that calls them.

=item *

An XS sub that is reached through an overloaded C<&{}>, or as an C<AUTOLOAD> written in C, is not
seen. Its time counts for its caller.

=item *

Each different sub costs the profiler memory for as long as the process lives, some 500 bytes in a
trace and 1.2 kB in a tree, even if the sub itself is gone. There are bounds; see L</Names>.

=item *

A closure that was given a name of its own (Sub::Util) and is gone may leave its name to the next
closure of the same code.

=item *

A thread that still runs when the process ends leaves what a killed process leaves: all its calls,
in a profile that was cut short.

=item *

The file F<tmon.out.live> is the recorder's memory as long as the program runs. If another program
truncates it (a log rotation with C<copytruncate>, an editor), the recording ends with a message and
the program goes on; the tools can read what F<tmon.out> has by then. For that the profiler catches
SIGBUS, unless the program already catches or ignores it. A program that sets C<$SIG{BUS}> itself,
or blocks SIGBUS (C<sigprocmask>) while it calls subs, is not protected.

=item *

A module that brings its own run loop (Devel::Cover with C<-replace_ops,0>) hides sort comparators
and blocks of List::Util, and the moment at which a C<die> is caught. Recordings that end under such
a loop say so, and L<dprofpp> reports it.

=item *

A perl that the program starts is a run of its own, if it is profiled (PERL5OPT).

=item *

Perl 5.26 and newer on POSIX systems.

F<doc/tested.md>, in the distribution, lists the systems and perls that it was tested on.

=back

=head1 SEE ALSO

=for made by tools/lists.pl: see-also

L<dprof>, L<dprofrun>, L<dprofreport>, L<dprofdiff>, L<dproftop>, L<dprofattach>, L<dprofdump>,
L<dprofflame>, L<dprofhtml>, L<dproffold>, L<dprofexport>, L<dprofmerge>, L<dprofstore>,
L<dproflist>, L<dprofpp>

=for made end

L<Devel::DProf::Cookbook>, L<Devel::DProf::Control>, L<Devel::DProf::FromNYTProf>,
L<Devel::DProf::Format>, L<Test::DProf>, L<App::Prove::Plugin::DProf>, L<Plack::Middleware::DProf>,
L<Mojolicious::Plugin::DProf>

=head1 COPYRIGHT AND LICENSE

Copyright (C) 2026 by the Devel::DProf developers.

This is free software; you can redistribute it and/or modify it under the same terms as Perl itself.

=cut
