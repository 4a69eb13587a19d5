package Devel::DProf::Profile;

use strict;
use warnings;

use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;

# As src/dp_err.h and src/dprof.h have them.
use constant {
    TRUNCATED => -4, NOTPROFILE => -5, CANNOT_READ => -2, GARBLED => -3, NO_SUCH => -8,
    FORCE => 1,
    CPU => 0, USER => 1, SYSTEM => 2, REAL => 3,
    BY_TIME => 0, BY_CALLS => 1, BY_NAME => 2, BY_AVERAGE => 3, UNSORTED => 4,
    BASELINE => 1, COUNTERS => 2,
    KEEP => 0, DROP => 1, GROUP => 2, OTHER => 3,
    CROWDED => 2,
};

sub CLONE_SKIP { 1 }

# One byte for each name, which a view obeys: $role->($name) gives it.
sub roles {
    my ($self, $how, $role) = @_;
    return join '', map { chr $role->($_) } $self->names($how);
}

# Writes a tree file, beside the old one, which stays what it was until all is well. Returns undef, or why not.
sub save {
    my ($self, $path, $version, $how) = @_;
    my $new = -e $path && !-f _ ? $path : "$path.$$.new";   # a device, a pipe
    open my $out, '>:raw', $new or return "$!";
    my $rc = $self->write_tree($out, $version, $how // {});
    my $errno = $!;
    my $closed = close $out;
    $! = $errno if $rc && $closed;
    return undef if $closed && !$rc && ($new eq $path || rename $new, $path);
    my $why = "$!";
    unlink $new if $new ne $path;
    return $why;
}

# The files of the run that a file belongs to, itself first: those beside it that are called like it but
# for numbers (tmon.out, tmon.out.PID, tmon.out.PID.TID; PID.prof) and whose headers have its run id.
sub processes {
    my ($path) = @_;
    my $run = run_of($path);
    return $path if !defined $run || !length $run;
    my ($dir, $base, $like) = pattern_of($path) or return $path;
    opendir my $in, length $dir ? $dir : '.' or return $path;
    my @names = grep { $_ =~ $like && $_ ne $base } readdir $in;
    my %key = map { ($_ => s/(\d+)/length($1) . ".$1"/ger) } @names;
    @names = sort { $key{$a} cmp $key{$b} } @names;
    return $path, grep { (run_of($_) // '') eq $run } map { $dir . $_ } @names;
}

# Directory, name, and a pattern for the names that others of its run have.
sub pattern_of {
    my ($path) = @_;
    my ($dir, $base) = $path =~ m{^(.*/)?([^/]+)\z}s or return;
    my $like = join '\\d+', map { quotemeta } split /\d+/, $base =~ s/(?:\.\d+)+\z//r, -1;
    return ($dir // '', $base, qr/^$like(?:\.\d+)*\z/);
}

# How many more files the runs of these have: each directory and each header is read once.
sub other_processes {
    my (%given, %runs, %places);
    for my $path (grep { -f } @_) {
        $given{$path} = 0;
        next if -f ($path =~ s/(?:\.\d+){1,2}\z//r) && $path =~ /\.\d+\z/;       # who names a child's knows of its parent's
        my ($dir, $base, $like) = pattern_of($path) or next;
        $given{"$dir$base"} = 1;
        $places{$dir}{$like} = $like;
    }
    my @more;
    for my $dir (keys %places) {
        opendir my $in, length $dir ? $dir : '.' or next;
        my @like = values %{ $places{$dir} };
        for my $name (readdir $in) {
            push @more, $dir . $name if !exists $given{"$dir$name"} && -f $dir . $name && grep { $name =~ $_ } @like;
        }
    }
    return 0 if !@more;
    $runs{ run_of($_) // '' } = 1 for grep { $given{$_} } keys %given;
    delete $runs{''};
    return scalar grep { $runs{ run_of($_) // '' } } @more;
}

sub run_of {
    my ($path) = @_;
    my %header = header_of($path);
    return $header{dprof_run};
}

sub header_of {
    my ($path) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add_header($path);
    return $profile->header(0);
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

One or more files read into one profile: subs, and the tree of their calls with
the times of each context. Reading never starts the profiler and never
evaluates anything in a file.

=head1 METHODS

=over

=item new

An empty profile.

=item add PATH [FLAGS [PROGRESS]]

Reads a file; C<-> is standard input, and gzip is seen by itself. Returns 0, or a
negative code whose details L</outcome> has. What was readable is in the profile
in any case. FLAGS: C<FORCE> skips exits that have no entry. PROGRESS is called
now and then with the bytes read so far and the file's size (0: not known).

=item add_header PATH

Reads a file's header alone.

=item detail

To be called before the first C<add>: a trace, too, shall then give the longest
and shortest calls and the histograms of a tree. Profiles that are merged or
written need it.

=item phases

To be called before the first C<add>: phases of the program (L<Devel::DProf::Control>) are told apart. Each is
then like a sub that the program calls, by a name like C<(main)>, and what ran in it is below.

=item only_main

To be called before the first C<add>: what ran in the phase C<BEGIN>, before the main program began, is left out.

=item declare_unit NAME

To be called before the first C<add>: what the counts of folded stacks are: C<s>, C<ms>, C<us>, C<ns>,
C<calls>, or any other word, like C<samples>. False: it is none.

=item unit

What C<hz> ticks make: C<s>, a second; or what folded stacks count, the empty string where nobody declared it.

=item no_calls

True where some of it comes from folded stacks, which tell no calls.

=item window [FROM, TO, PERCENT], ...

To be called before the first C<add>: only these stretches of each file, which must be traces. FROM and TO are seconds from the beginning of the
file, or percent of its real time; TO undef is its end. They are ascending and do not overlap.

=item Devel::DProf::Profile::add_all LIST [, THREADS [, PROGRESS]]

A function: reads files, each given as [PROFILE, PATH, FLAGS], those of one profile together, in that many threads (0: as many as
there are processors). The outcomes of the profiles tell how it went. PROGRESS is as that of C<add>, for those files that the caller's thread reads.

=item merge OTHER

Adds all of another profile. Returns undef, or what is wrong.

=item take OTHER, HOW

Adds a part of another profile, as C<merge> does. HOW is a hash: phase, the name of a phase whose contexts alone are taken, and of several
files those of them that have it (both profiles with C<phases>): the phase is the root then; below, PACKAGE::NAME of a sub in it: what that called is one with the root, and frames above it, which ran when the phase began, are left out;
bases, a list of pairs, of beginnings of paths and what is to stand in their place. Histograms know of no phases, and are left out with phase. Returns undef, or what is wrong: C<there is no such phase>.

=item counters_differ

True if not all files count the same things. What one of them lacks is left out.

=item write_tree HANDLE, VERSION [HOW]

Writes the profile as a tree file (see L<Devel::DProf::Format>). The bytes do not
depend on the order in which it was put together. HOW is a hash: gzip; kind, 0, or BASELINE (without what tells one recording from another) or COUNTERS
(and without times), which take counters, a list of the names of those that are kept. Returns 0, or a negative code.

=item save PATH, VERSION [HOW]

The same, to a file of another name first, which then replaces the one that is there. Returns undef, or why it could not be written.

=item files

How many files were added.

=item outcome INDEX [HOW]

What became of a file: a hash with path, code, message, line, byte, errno, marks, contexts, tree (it is one, or ends as one), folded (it is folded stacks),
fault_count and faults (lines of these that were left out: how many, and message, line and byte of the first ten),
open_count, open (names of the subs still running at the end, the outermost
first) and odd (pairs: the name in an exit, and the sub that it ended).

=item header [INDEX]

The header's names and values, in the file's order.

=item hz, total TIME, contexts

Ticks per second; all ticks of one kind of time (CPU, USER, SYSTEM, REAL); the
number of distinct calling contexts.

=item calls, counted N

All calls; all that counter number N (from 0 on, in the order of L</counters>) has counted.

=item names HOW

The names of all subs. HOW is a hash: C<separate> tells anonymous subs apart (with CROWDED only those that a package
has several of, and that tell their place), C<autoload> makes one of all autoloaded subs.

=item roles HOW, CODE

For each name what CODE says of it: KEEP, DROP, GROUP or OTHER; to be passed on as
C<roles>.

=item rows HOW

The flat table: name, calls, self and inclusive ticks. HOW may hold time, order,
reverse, inclusive, program, only, roles, group, and what L</names> takes.

=item print_flat HANDLE, HOW

=item print_merged HANDLE, HOW

=item Devel::DProf::Profile::print_calls PATH, HANDLE, HOW

L<dprofpp>'s table, its C<-S> and its C<-T>. The last is a function; it prints as
it reads, and returns an outcome.

=item subs HOW

Label, package, file and line of each sub, as a list each. File is empty where it is not known.

=item counters

The names of the counters, each perhaps with its unit behind its last colon. One that a file does not have is an empty string.

=item Devel::DProf::Profile::print_report HANDLE, SIDES, HOW

=item Devel::DProf::Profile::print_diff HANDLE, SIDES, HOW

What L<dprofreport> and L<dprofdiff> print. SIDES are [PROFILE, FLAGS, SCRIPT, PID, THREAD] each, FLAGS a byte for each sub and one for the program; of a difference, hashes of a name
and runs, which are lists of such. HOW has the fields of F<src/dprof.h>; see L<Devel::DProf::Diff>.

=item pairs

To be called before the first C<add>: folded stacks may have two counts on each line. The second one is the time, as that of others; the first
is a counter, C<before>. Without this such a file is refused.

=item Devel::DProf::Profile::print_folded HANDLE, SIDES, HOW

=item Devel::DProf::Profile::print_flame HANDLE, SIDES, HOW

What L<dproffold> and L<dprofflame> print. SIDES are those of C<print_diff>, one or two. HOW has the fields of C<struct dp_fold_how> and C<struct dp_flame_how> in
F<src/dprof.h>, and columns: for each metric, and within it for each side, a hash of metric and, if that is a counter, counters, the number that it has in each profile of the side.
Both return a hash of code (0, or a negative number) and recursion (calls that were put together with their callers, for the limit of C<recursion>); print_folded has lines, print_flame frames, hidden and
hidden_percent (what was too narrow), empty, total_too_small, and colours: names and their colours in pairs, of those that were drawn.

=item Devel::DProf::Profile::palettes

The names of colours for flame graphs, in the order of the numbers that HOW takes as palette.

=item Devel::DProf::Profile::paired_labels LIST, HOW

The names of subs as a difference shows them: for each [PROFILE, SIDE] a list, in the order of L</subs>.

=item Devel::DProf::Profile::dump_text PATH, HANDLE

Prints a file's lines with their numbers and places. Returns undef, or what is wrong.

=item Devel::DProf::Profile::processes PATH

The files of the run that a file belongs to, itself first: those beside it that
are called like it, but for numbers, and have the same C<$dprof_run>.

=item Devel::DProf::Profile::other_processes LIST

How many files there are beside these that belong to the runs of these, as C<processes> finds them, but are none of them. A child's or a thread's, whose
parent's file stands beside it, does not count as one of these.

=item Devel::DProf::Profile::header_of PATH

The names and values of a file's header, which alone is read.

=item Devel::DProf::Profile::escape BYTES

The bytes with control characters made visible.

=back

=cut
