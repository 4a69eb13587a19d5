package Devel::DProf::Profile;

use strict;
use warnings;

use Devel::DProf::Constants qw(
    DP_E_TRUNCATED DP_E_NOTPROFILE DP_E_IO DP_E_ARG DP_FORCE
    DP_T_CPU DP_T_USER DP_T_SYSTEM DP_T_REAL
    DP_BY_TIME DP_BY_CALLS DP_BY_NAME DP_BY_AVERAGE DP_UNSORTED
    DP_WRITE_BASELINE DP_WRITE_COUNTERS DP_KEEP DP_DROP DP_GROUP DP_OTHER DP_SEPARATE_CROWDED
);

our $VERSION = $Devel::DProf::Core::VERSION;

use constant {
    TRUNCATED => DP_E_TRUNCATED, NOTPROFILE => DP_E_NOTPROFILE, CANNOT_READ => DP_E_IO,
    NO_SUCH => DP_E_ARG,
    FORCE => DP_FORCE,
    CPU => DP_T_CPU, USER => DP_T_USER, SYSTEM => DP_T_SYSTEM, REAL => DP_T_REAL,
    BY_TIME => DP_BY_TIME, BY_CALLS => DP_BY_CALLS, BY_NAME => DP_BY_NAME,
    BY_AVERAGE => DP_BY_AVERAGE, UNSORTED => DP_UNSORTED,
    BASELINE => DP_WRITE_BASELINE, COUNTERS => DP_WRITE_COUNTERS,
    KEEP => DP_KEEP, DROP => DP_DROP, GROUP => DP_GROUP, OTHER => DP_OTHER,
    CROWDED => DP_SEPARATE_CROWDED,
};

sub CLONE_SKIP { 1 }

# Returns whether all files come from tools that measure real time alone.
sub has_real_time_alone {
    my ($self) = @_;
    for my $file (0 .. $self->files - 1) {
        my %header = $self->header($file);
        return 0 if ($header{dprof_time} // '') ne 'real';
    }
    return $self->files ? 1 : 0;
}

# Returns the metric that a word means in this profile (Devel::DProf::Metric); undef if the profile
# lacks it.
sub metric {
    my ($self, $word) = @_;
    require Devel::DProf::Metric;
    return Devel::DProf::Metric->of($word, $self);
}

# Returns the names of the counters that all files have, without their units.
sub counter_names {
    require Devel::DProf::Metric;
    return grep { length } map { Devel::DProf::Metric::name_of($_) } $_[0]->counters;
}

# Returns whether all files have a counter of this name.
sub has_counter {
    my ($self, $name) = @_;
    return scalar grep { $_ eq $name } $self->counter_names;
}

# Returns a string with one byte for each sub: the number that $role->($name) returns. Views take
# such strings.
sub roles {
    my ($self, $how, $role) = @_;
    return join '', map { chr $role->($_) }
        $self->names({ map { $_ => $how->{$_} } qw(separate autoload) });
}

# Writes the profile as a tree file, whole or not at all. Returns undef, or the reason why it
# failed.
sub save {
    my ($self, $path, $version, $how) = @_;
    require Devel::DProf::Write;
    my $tree = sub { return $self->write_tree($_[0], $version, $how // {}) };
    return Devel::DProf::Write::whole($path, $tree);
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Profile - a profile, read back

=head1 SYNOPSIS

    use Devel::DProf::Profile;

    my $profile = Devel::DProf::Profile->new;
    $profile->add('tmon.out');
    for my $row ($profile->rows({ time => Devel::DProf::Profile::REAL, rows => 1000 })) {
        my ($name, $calls, $self, $inclusive) = @$row;      # times in ticks of 1/hz s
    }

=head1 DESCRIPTION

An object of this class is one profile, read from one or more files: subs, and the tree of their
calls with the times of each context. Reading never starts the profiler and never evaluates anything
in a file.

=head1 METHODS

=over

=item new

An empty profile.

=item add PATH [FLAGS [PROGRESS]]

Reads a file; C<-> is standard input. gzip is recognized automatically. Returns 0, or a negative
code whose details L</outcome> has. In any case the profile has what could be read. FLAGS: C<FORCE>
skips exits that have no entry. PROGRESS is called now and then with the bytes read so far and the
file's size (0: unknown).

=item add_header PATH

Reads only a file's header.

=item detail

Call this before the first C<add>: a trace then also gives the longest and shortest calls and the
histograms that a tree has. Profiles that are merged or written need it.

=item phases

Call this before the first C<add>: phases of the program (L<Devel::DProf::Control>) are then shown
separately. Each phase is like a sub that the program calls, with a name like C<(main)>, and what
ran in the phase is below it.

=item only_main

Call this before the first C<add>: what ran in the phase C<BEGIN>, before the main program began, is
left out.

=item chart TIME

Call this before the first C<add>: contexts are then stretches of time, in order and not added up,
for a flame chart of that time.

=item declare_unit NAME

Call this before the first C<add>: declares what the counts of folded stacks are: C<s>, C<ms>,
C<us>, C<ns>, C<calls>, or any other word, such as C<samples>. Returns false if NAME is not a unit.

=item unit

The unit of C<hz> ticks: C<s>, a second; or what folded stacks or other tools' files count; or the
empty string if nobody declared the unit.

=item no_calls

True if some of the profile comes from folded stacks, or from files of other tools, that do not give
the number of calls.

=item window [FROM, TO, PERCENT], ...

Call this before the first C<add>: only these intervals of each file are read, and the files must be
traces. FROM and TO are seconds from the beginning of the file, or percent of its real time. If TO
is undef, the interval extends to the end. Intervals are in ascending order and do not overlap.

=item Devel::DProf::Profile::add_all LIST [, THREADS [, PROGRESS]]

A function: reads files, each given as [PROFILE, PATH, FLAGS], those of one profile together, in
that many threads (0: one for each processor). The outcomes of the profiles say how each file was
read. PROGRESS is the same as for C<add>, for the files that the caller's thread reads.

=item waits

Call this before the first C<add_all>, which then packs each profile until a method needs it. Many
profiles that are compared one by one then take a fifth of the memory.

=item merge OTHER

Adds all of another profile. Returns undef, or a message that says what is wrong.

=item take OTHER, HOW

Adds a part of another profile, as C<merge> adds all of it. HOW is a hash. phase is the name of a
phase (both profiles with C<phases>): only its contexts are taken, and if there are several files,
only those that have the phase. The phase then becomes the root.

below is the PACKAGE::NAME of a sub in the phase: what it called becomes part of the root, and the
frames above it, which were running when the phase began, are left out. bases is a list of pairs: a
beginning of paths, and its replacement. Histograms do not distinguish phases, and are left out with
phase. Returns undef, or a message that says what is wrong: C<there is no such phase>.

=item counters_differ

True if not all files have the same counters. A counter that one of the files lacks is left out.

=item write_tree HANDLE, VERSION [HOW]

Writes the profile as a tree file (see L<Devel::DProf::Format>). The bytes do not depend on the
order in which the profile was put together. HOW is a hash: gzip; kind, which is 0, BASELINE
(without what distinguishes one recording from another) or COUNTERS (also without times). The last
two take counters, a list of the names of the counters to keep. Returns 0, or a negative code.

=item save PATH, VERSION [HOW]

The same, to a file that is written whole or not at all (L<Devel::DProf::Write>). Returns undef, or
the reason why the file could not be written.

=item files

The number of files that were added.

=item outcome INDEX [HOW]

The result of reading a file: a hash with path, code, message, line, byte, errno, marks, contexts,
tree (true if the file is a tree, or ends as one), folded (true for folded stacks), foreign (true
for another tool's file), fault_count and faults (lines or values that were left out: their
number, and message, line and byte of the first ten), open_count, open (the names of the subs still
running at the end, the outermost first) and odd (pairs: the name in an exit, and the sub that the
exit ended).

=item header [INDEX]

The header's names and values, in the file's order.

=item hz, total TIME, contexts

Ticks per second; all ticks of one kind of time (CPU, USER, SYSTEM, REAL); the number of distinct
calling contexts.

=item calls, counted N

The number of all calls; the total of counter number N (from 0, in the order of L</counters>).

=item requests

The requests of a server that L<Plack::Middleware::DProf> or L<Mojolicious::Plugin::DProf> has
counted, by name, over all files: a list of [NAME, SEEN, KEPT, SUM, P50, P95, LONGEST] each. KEPT is
the number of those that are in the profile; the other numbers are times in nanoseconds.

=item spans LIST, HOW

A function. The spans of a profile, in a hash of lists of hashes: kinds (kind, texts, calls, incl),
phases (kind, phase, calls), rows (kind, text, file, line, calls, self, incl, longest, rows, caller,
callers) and repeats (kind, text, phase, calls, begun, path). LIST has one side, as for
print_report. HOW has metric (a number); kind, to choose one; repeated, the number of calls that a
repeat exceeds; and names' separate and autoload. Values are in ticks, and rows is undef if it is
unknown. F<src/dprof/spans.h> says more.

=item server

The names of the server's subs that were running when requests began.

=item has_real_time_alone

True if all files come from tools that measure real time alone.

=item holders

Who holds values (C<heap-holders>): a list of [PLACE, SUB, CHAIN] each. PLACE is FILE:LINE, or empty
if it is unknown, SUB the sub that has made the value, CHAIN a text that leads from a variable to
the value.

=item names HOW

The names of all subs. HOW is a hash: C<separate> distinguishes anonymous subs (with CROWDED, only
those whose place is known and whose package has several), C<autoload> combines all autoloaded subs
into one.

=item roles HOW, CODE

The role that CODE returns for each name: KEEP, DROP, GROUP or OTHER. Pass the result on as
C<roles>.

=item rows HOW

The flat table: name, calls, self and inclusive ticks. HOW may have time, order, reverse, inclusive,
program, only, roles, group, and the keys that L</names> takes.

=item edges NAME, HOW

Who calls the sub of that name: a list of [NAME, CALLS, SELF, INCLUSIVE, SITE] each, the largest
first. NAME is the caller, SELF and INCLUSIVE are what these calls of the sub cost, in ticks or
counts, and SITE is the place of the call, or undef if it is unknown. Returns undef if there is no
such sub. HOW may have callees (what the sub calls, instead), metric and counter, and the keys that
L</names> takes.

=item print_flat HANDLE, HOW

=item print_merged HANDLE, HOW

=item Devel::DProf::Profile::print_calls PATH, HANDLE, HOW

These print L<dprofpp>'s table, its C<-S> and its C<-T>. C<print_calls> is a function; it prints
while it reads, and returns an outcome.

=item subs HOW

A list for each sub: label, package, file and line. File is empty if it is unknown.

=item counters

The names of the counters, each perhaps with its unit after its last colon. The name of a counter
that a file lacks is an empty string.

=item counter_names, has_counter NAME

The names, without units, of the counters that all files have; whether NAME is one of them.

=item metric WORD

The L<Devel::DProf::Metric> that a word means in this profile: a kind of time, calls, or a counter;
undef if the profile lacks it.

=item Devel::DProf::Profile::print_report HANDLE, SIDES, HOW

=item Devel::DProf::Profile::print_diff HANDLE, SIDES, HOW

They print the output of L<dprofreport> and L<dprofdiff>. For print_report, SIDES are [PROFILE,
FLAGS, SCRIPT, PID, THREAD] each, where FLAGS has a byte for each sub and one for the program. For
print_diff, SIDES are hashes of a name and runs, and runs are lists of such arrays. HOW has the
fields of C<struct dp_report> and C<struct dp_diff_how> in F<src/dprof/>; see
L<Devel::DProf::Compare::Diff>.

=item Devel::DProf::Profile::print_table HANDLE, COLUMNS, ROWS, HOW

Prints the table of a L<Devel::DProf::Table>. HOW has the fields of C<struct dp_given_table> in
F<src/dprof/table.h>. Returns 0, or a negative code.

=item Devel::DProf::Profile::check_diff SIDES, HOW

What print_diff would return, without printing: the result of the gate.

=item Devel::DProf::Profile::compared SIDES, HOW, PERCENT

The same comparison of the first two sides, as rows. Returns a hash: failed, undecided, needed (the
numbers of findings, and how many runs could decide); total, with baseline and value; rows, the
subs; lines, the call tree from the program down; findings. Each of the last three is a list of
hashes.

A row has name, status (both, new or gone), baseline, value, change, baseline_calls and calls; times
are in seconds, and a value that a side does not have is undef.

If there are several keys, other is the second one. A row that is a line of source
(L<Devel::DProf::Compare::Diff>, keys) also has file, the name that both sides have in common;
baseline_file and own_file, its names on the two sides, where a side has it; baseline_line and line,
its numbers on the two sides, 0 where a side is not known to have it; and fate: kept, moved (past
other lines of its sub), inserted, deleted, or unknown if the sources are unknown.

A line of the call tree also has level. Siblings that each change by less than PERCENT of the total
are one line, which has no name, and their number in more. A finding has rule, name, side,
undecided; if the rule is about growth, baseline and value; and if name is a line of source, the sub
of that line.

=item Devel::DProf::Profile::changepoints SERIES, SIZES, ALPHA

Where series of numbers changed, by the test of B<dprofdiff --bisect>. SERIES is a list of lists,
each with the values of consecutive groups of these SIZES. Returns a hash: decides, whether the
clearest change of so few values could have a p of ALPHA or less; found, a list of [SERIES, GROUP,
P] for each change with such a p. GROUP is the first changed group; both numbers count from 0.

=item Devel::DProf::Profile::reach RUNS, OTHER_RUNS, ALPHA

The least change that the test of B<dprofdiff> detects with 80 % power, in multiples of the spread
of a value among the runs of a side; infinite if so few runs cannot show any change.

=item pairs

Call this before the first C<add>: folded stacks may then have two counts on each line. The second
count is the time, as in other files; the first is a counter, C<before>. Without this call such a
file is refused.

=item may_be_empty

Call this before the first C<add>: a file that has only comments is then an empty file of folded
stacks. Without this call such a file is refused.

=item Devel::DProf::Profile::stacks_formats

The formats in which stacks can be printed, a hash each: name; suffixes of files, separated by
blanks; for, which is C<eyes> (L<dprofflame>), C<programs> (L<dproffold>) or C<tools>, those of
others (L<dprofexport>). These are true or false. layout: its boxes have positions; metrics: it has
several metrics; apart: it shows each process and thread; labels: its samples have labels; base: its
tools subtract one file from another; timeline: it shows what ran when in a trace; sites: it shows
which line of a frame made the call.

=item Devel::DProf::Profile::print_stacks HANDLE, SIDES, HOW

Prints the output of L<dproffold>, L<dprofflame> and L<dprofexport>. SIDES are those of
C<print_diff>, one or two. HOW has format, a name; the fields of C<struct dp_fold_how>, C<struct
dp_flame_how> or C<struct dp_export_how>, as the format needs them, and of C<struct dp_stacks_job>,
in F<src/dprof/stacks.h>; and columns: for each metric, and within it for each side, a hash of
metric and, if the metric is a counter, counters, the counter's number in each profile of the side.

Returns a hash of code (0, or a negative number), what C<struct dp_stacks_outcome> has, such as
recursion (calls that were combined with their callers because of the limit C<recursion>), and
colours: the drawn names and their colours, in pairs.

=item Devel::DProf::Profile::paired_labels LIST, HOW

The names of subs as a difference shows them: a list for each [PROFILE, SIDE], in the order of
L</subs>.

=item line_rows METRIC [, COUNTER]

Lines of source, as a reference to a list of [file, line, sub or undef, count, self, inclusive,
calls, [[sub, calls, inclusive], ...]] by file, line and sub; subs are numbers in the order of
L</subs>, values are ticks, or what the counter counts. L<Devel::DProf::View::Lines> gives them to
tools.

=item line_files

The names of the files that the profile has places in, as a reference to a list.

=item line_detail

The data that the profile has for statements, a number of the list C<lines> of
L<Devel::DProf::Constants>. 0: none, but perhaps calls by line; 1: counts; 2: counts and times.

=item line_text FILE

The text of a source, as bytes; undef if the profile does not have it.

=item line_source FILE

Size and CRC-32 of a source as it was recorded. Two zeros if the files of the profile disagree; an
empty list if they are not known.

=item line_sources

A list of [FILE, SIZE, CRC] for each source whose size and CRC-32 the profile has.

=item Devel::DProf::Profile::align_texts OLD, NEW

Aligns two versions of a source, given as bytes. Returns for each line of NEW the number, from 1, of
the same line in OLD, or 0 if the line was inserted. Lines that differ only in white space at their
ends are the same.

=item Devel::DProf::Profile::dump_text PATH, HANDLE

Prints a file's lines with their numbers and places. Returns undef, or a message that says what is
wrong.

=item Devel::DProf::Profile::escape BYTES

The bytes, with control characters made visible.

=back

=cut
