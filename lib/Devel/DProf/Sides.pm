package Devel::DProf::Sides;

# Sides: each has runs, which have files. This class finds them by name, reads them, and answers
# what they count. A graph or folded stacks have one side; a comparison has several
# (Devel::DProf::Compare::Diff).

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Constants qw(time_words DP_K_SCRIPT DP_K_PID DP_K_THREAD DP_K_PHASE);
use Devel::DProf::Input qw(of_runs header_of processes shown_outcome);
use Devel::DProf::Metric;
use Devel::DProf::Profile;
use Devel::DProf::Text qw(text few);
use Devel::DProf::Tool qw(complain progress end_transient);
use Devel::DProf::View qw(too_large);

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(side parts);

# The most sides whose profiles stay unpacked; those of more sides are packed until they are needed.
use constant MANY => 8;

# ---- names ----

# Returns the side that a name on the command line stands for: { name, runs => [[path, ...], ...] }.
# With `quiet' no message says that the runs have more files. Returns undef, after a message, if
# there are no such files.
sub side {
    my ($name, $processes, $quiet) = @_;
    # A store has already made the side.
    return $name if ref $name;
    my @paths = paths_of($name);
    of_runs(0, $quiet, @paths) if !$processes;
    return { name => text($name), runs => runs($processes, @paths) } if @paths;
    require Devel::DProf::Outcome;
    complain(-d $name ? Devel::DProf::Outcome::of_folder($name)
        : length $name ? "$name: no files match; dprof run -- perl PROGRAM records a profile"
        : Devel::DProf::Outcome::EMPTY_NAME());
    return undef;
}

# Returns the files of a side from a name: several names with commas between them, or wildcards.
# FILE.live and FILE.new are left out, because the reader takes them with FILE.
sub paths_of {
    my ($name) = @_;
    return $name if $name eq '-' || (-e $name && !-d _);
    require File::Glob;
    return grep { -f && !/\.(?:live|new)\z/ }
        File::Glob::bsd_glob(($name =~ s/([\\*?\[\]{}~])/\\$1/gr) . '/*') if -d $name;
    my %seen;
    my @paths = grep { !$seen{$_}++ } map { -e $_ || !/[*?\[{]/ ? $_ : File::Glob::bsd_glob($_) }
        grep { length } split /,(?![^{]*\})/, $name;
    return grep { my $stem = $_; !($stem =~ s/\.(?:live|new)\z//) || !-e $stem } @paths;
}

# Returns files as a list of runs, [path, ...] each: files with the same run id are one run, but
# each slice of a process is a run of its own. A copy of a recording is left out.
sub runs {
    my ($processes, @paths) = @_;
    my (%run_of, @runs, %seen, %recording);
    for my $path (@paths) {
        next if $seen{$path};
        my %header = @paths > 1 && $path ne '-' && -f $path ? header_of($path) : ();
        my $id = $header{dprof_of_run} // $header{dprof_run} // '';
        my $recording = join ' ', map { $_ // '' }
            @header{qw(dprof_run dprof_pid dprof_tid dprof_slice dprof_start)};
        if (length $id && !$header{dprof_merged} && defined $recording{$recording}) {
            complain("$path is the same recording as $recording{$recording}, and is left out");
            next;
        }
        $recording{$recording} = $path;
        my $is_alone = !length $id || $header{dprof_slice};
        my $run = $is_alone ? undef : $run_of{$id};
        if (!$run) {
            push @runs, $run = [];
            $run_of{$id} = $run if !$is_alone;
        }
        push @$run, grep { !$seen{$_}++ } $processes ? processes($path) : $path;
    }
    return \@runs;
}

# ---- reading ----

# Makes the reader of a comparison's sides. FIELDS: say, a function for messages, and options of
# reading (see the manual).
sub new {
    my ($class, %fields) = @_;
    my $self = bless { sides => [], %fields }, $class;
    $self->{say} ||= sub { };
    return $self;
}

# Reads sides, { name, runs => [[path, ...], ...] } each, into profiles, without changing these
# hashes. REPORT is called with the outcome and header of each file; it prints messages, and returns
# fine, cut, bad or none. Returns false, after a message, if the caller cannot go on.
sub read {
    my ($self, $report, @named) = @_;
    my $input = Devel::DProf::Input->new(
        (map { $_ => $self->{$_} } qw(unit pairs may_be_empty chart main force detail)),
        waits => $self->{waits} && (@named > MANY || scalar grep { @{ $_->{runs} } > 1 } @named),
        # The phases are needed for sides of hosts: each host has more of one phase and less of
        # another.
        phases => $self->{phases} || scalar(grep { $_->{unit} } @named)
            || scalar grep { $_ == DP_K_PHASE } @{ $self->{keys} || [] },
    );
    my $windows = $self->{windows} || [];
    my @planned = map { [$self->jobs($input, $windows->[ $_ < @$windows ? $_ : -1 ],
        @{ $named[$_]{runs} })] } 0 .. $#named;
    my @jobs = map { @$_ } map { @$_ } @planned;
    my $progress = $self->{progress}
        ? progress(@jobs == 1 ? $jobs[0][1] : 'profiles') : undef;
    Devel::DProf::Profile::add_all(\@jobs, 0, $progress);
    end_transient();
    my ($ok, %seen) = (1);
    my $tell = sub {
        my ($profile) = @_;
        my $index = $seen{$profile}++;
        my $what = $report->(shown_outcome($profile->outcome($index)),
            { $profile->header($index) });
        $ok = 0 if $what eq 'bad';
        return $what;
    };
    $self->{sides} = [map { $self->side_of($tell, $named[$_], @{ $planned[$_] }) } 0 .. $#named];
    return $ok && $self->fits;
}

# Returns whether each file of a run has a profile of its own.
sub is_apart {
    my ($self) = @_;
    return $self->{apart} || $self->{scripts}
        || grep { $_ == DP_K_SCRIPT || $_ == DP_K_PID || $_ == DP_K_THREAD }
            @{ $self->{keys} || [] };
}

# Returns, for each run, the files to read as a list of [profile, path, flags]. The files of a run
# share one profile, unless they are kept apart; the slices of a process and thread always share
# one.
sub jobs {
    my ($self, $input, $window, @runs) = @_;
    my $apart = $self->is_apart;
    my @jobs;
    for my $run (@runs) {
        my ($profile, $last);
        my %slice_of = $apart && @$run > 1 ? map { $_ => slice_of($_) } @$run : ();
        push @jobs, [];
        for my $path (slices_together(\%slice_of, @$run)) {
            my $process = $slice_of{$path} // '';
            $profile = $input->profile($window)
                if !$profile || ($apart && ($process eq '' || $process ne $last));
            $last = $process;
            push @{ $jobs[-1] }, [$profile, $path, $input->flags];
        }
    }
    return @jobs;
}

# Returns the process and thread of a slice; '' if the file is no slice.
sub slice_of {
    my ($path) = @_;
    my %header = $path ne '-' && -f $path ? header_of($path) : ();
    return '' if !$header{dprof_slice};
    return join ' ', map { $_ // '' } @header{qw(dprof_run dprof_pid dprof_tid)};
}

# Returns paths with the slices of each process next to each other, as files of one profile must be.
sub slices_together {
    my ($slice_of, @paths) = @_;
    my %at;
    my @at = map { my $of = $slice_of->{ $paths[$_] } // ''; length $of ? $at{$of} //= $_ : $_ }
        0 .. $#paths;
    return @paths[sort { $at[$a] <=> $at[$b] || $a <=> $b } 0 .. $#paths];
}

# Returns a side that was read as a hash: name, runs (in the order of reading), profiles (a list for
# each run), and cut. TELL returns the state of a profile's files.
sub side_of {
    my ($self, $tell, $named, @runs) = @_;
    my ($cut, %kept, @profiles) = (0);
    for my $run (@runs) {
        my @parts;
        for my $profile (map { $_->[0] } @$run) {
            my $what = $tell->($profile);
            $cut = 1 if $what eq 'cut';
            push @parts, $profile
                if !($what eq 'none' && $self->is_apart) && !$kept{$profile}++;
        }
        push @profiles, \@parts;
    }
    return { %$named, cut => $cut, profiles => \@profiles,
        runs => [map { [map { $_->[1] } @$_] } @runs] };
}

# Returns whether the sums of all sides fit their numbers after all times have become ticks of the
# finest rate; if not, prints messages.
sub fits {
    my ($self) = @_;
    my ($hz) = sort { $b <=> $a } map { $_->hz } map { parts($_) } @{ $self->{sides} };
    my @wrong = map { too_large($hz, parts($_)) } @{ $self->{sides} };
    $self->{say}->($_) for @wrong;
    return !@wrong;
}

# ---- what was read ----

sub sides { return @{ $_[0]{sides} } }

# Prints a message by the function of the option `say'.
sub say {
    my ($self, $text) = @_;
    $self->{say}->($text);
    return;
}

sub is_forced { return $_[0]{force} ? 1 : 0 }

# Returns whether only parts of the profiles were read (--time).
sub has_windows { return $_[0]{windows} ? 1 : 0 }

# Returns whether only parts of the files were read: no start-up, or some processes or times.
sub leaves_out { return $_[0]{main} || $_[0]{apart} || $_[0]->has_windows ? 1 : 0 }

# Reads files once more, without the start-up. Returns the profile.
sub without_startup {
    my ($self, @paths) = @_;
    my $input = Devel::DProf::Input->new(
        (map { $_ => $self->{$_} } qw(unit pairs may_be_empty force)), main => 1);
    my $profile = $input->profile;
    Devel::DProf::Profile::add_all([map { [$profile, $_, $input->flags] } @paths], 0, undef);
    return $profile;
}

# Turns the one side that was read into several, one for each of the metrics NAMES.
sub as_sides {
    my ($self, @names) = @_;
    $self->{sides} = [map { { %{ $self->{sides}[0] }, name => $_ } } @names];
    return;
}

# Returns the profiles of a side.
sub parts {
    my ($side) = @_;
    return map { @$_ } @{ $side->{profiles} };
}

# Returns the header of a profile's first file, a hash. The hash is kept, because it is needed many
# times.
sub header {
    my ($self, $profile) = @_;
    return $self->{headers}{$profile} //= { $profile->files ? $profile->header(0) : () };
}

# Leaves out the files of other processes or threads. name: pid or tid; wanted: a hash of the
# numbers to keep, or undef for all. Returns false, after a message, if a side has no file left.
sub only_of {
    my ($self, $name, $wanted) = @_;
    return 1 if !$wanted;
    my $is_wanted = sub { $wanted->{ $self->header($_[0])->{"dprof_$name"} // '' } };
    my @left = map {
        my @runs = map { [grep { $is_wanted->($_) } @$_] } @{ $_->{profiles} };
        +{ %$_, profiles => [grep { @$_ } @runs] };
    } $self->sides;
    my ($at) = grep { !@{ $left[$_]{profiles} } } 0 .. $#left;
    my $empty = defined $at ? ($self->sides)[$at] : undef;
    my %has = $empty ? map { $self->header($_)->{"dprof_$name"} // '' => 1 } parts($empty) : ();
    $self->{say}->("$empty->{name}: there is no $name " . join(', ', sort keys %$wanted)
        . (keys %has ? '; it has ' . join ', ', few(sort keys %has) : '')) if $empty;
    $self->{sides} = \@left;
    return !$empty;
}

# ---- what is counted ----

# Returns whether the times of the profiles are times: the counts of folded stacks may be anything.
sub is_time {
    my ($self) = @_;
    return (parts($self->{sides}[0]))[0]->unit eq 's';
}

# Returns whether the profile is a baseline of counters alone.
sub has_no_times {
    my ($self, $profile) = @_;
    return $self->header($profile)->{dprof_counters_only};
}

# Returns whether a profile has samples, which it then counts as a counter.
sub is_sampled { return $_[1]->has_counter('samples') }

# Returns the different numbers of samples a second that the profiles of a side were recorded with,
# as far as known.
sub sample_rates {
    my ($self, $side) = @_;
    my %rates;
    for my $options (map { $self->header($_)->{dprof_options} // '' } parts($side)) {
        $rates{$1} = 1 if $options =~ /\bsample=([1-9]\d*)/;
    }
    return sort { $a <=> $b } keys %rates;
}

# Returns the words of all metrics that a profile has: times, calls, counters.
sub has {
    my ($self, $profile) = @_;
    return ($self->has_no_times($profile) ? () : time_words(), $profile->no_calls ? () : 'calls',
        $profile->counter_names);
}

# Returns the metric that a word means in the profiles, or undef if no profile has it.
sub metric {
    my ($self, $word) = @_;
    return Devel::DProf::Metric->of($word, map { parts($_) } @{ $self->{sides} });
}

# Returns the metric that a word means if all sides have it, or, with -f, also times or calls that
# some lack. Otherwise prints that it is missing, and which metrics the sides have, and returns
# nothing.
sub measure {
    my ($self, $word) = @_;
    my $metric = $self->metric($word);
    my $name = $metric ? $metric->name : $word;
    my @all = map { parts($_) } @{ $self->{sides} };
    my $is_lacking = !$metric ? 1 : $metric->is_counter ? grep { !defined } $metric->counters
        : $metric->is_calls ? grep { $_->no_calls } @all : grep { $self->has_no_times($_) } @all;
    return $metric if !$is_lacking || ($self->{force} && $metric && !$metric->is_counter);
    my $some = grep { my $p = $_; grep { $_ eq $name } $self->has($p) } @all;
    my @lists = map { join ', ', $self->has((parts($_))[0]) } @{ $self->{sides} };
    my $is_one = !grep { $_ ne $lists[0] } @lists;
    my @names = map { $_->{name} } @{ $self->{sides} };
    my $is_all = @names > 1 && $is_one;
    my $have = $is_all ? (@names > 2 ? 'all' : 'both') . " sides have $lists[0]"
        : join '; ', few(map { "$names[$_] has $lists[$_]" } 0 .. ($is_one ? 0 : $#names));
    $self->{say}->($_) for Devel::DProf::Metric::missing($name,
        $metric ? [] : [map { $self->has($_) } @all],
        !$metric ? undef : $some ? 'not all sides have it' : 'no side has it', $have);
    return;
}

# Returns the share by which two counts may differ by chance and still count as equal.
sub tolerance {
    my ($self, $metric) = @_;
    return $metric->is_counter && $metric->is_exact && defined $self->why_unpinned ? 0.001 : 0;
}

# Prints, once for each counter, the reasons to doubt its numbers, for each side or for each file.
sub doubt_counter {
    my ($self, $metric, $by_file) = @_;
    return if !$metric->is_counter || $self->{force} || $self->{doubted}{ $metric->name }++;
    for my $side (@{ $self->{sides} }) {
        my @headers;
        for my $profile (parts($side)) {
            push @headers, map { [$profile->outcome($_)->{path}, { $profile->header($_) }] }
                0 .. $profile->files - 1;
        }
        my @told = $by_file ? map { [$_->[0], $_->[1]] } @headers
            : [$side->{name}, map { $_->[1] } @headers];
        $self->{say}->($_) for map { $metric->doubts(@$_) } @told;
    }
    return;
}

# Returns whether all sides have the same unit, so that they can be compared; otherwise, unless
# forced, false after a message.
sub same_unit {
    my ($self) = @_;
    my %units;
    for my $side (@{ $self->{sides} }) {
        push @{ $units{ $_->unit } }, $side->{name} for parts($side);
    }
    return 1 if keys %units < 2 || $self->{force};
    $self->{say}->('the sides have different units; --unit declares the unit of folded stacks, '
        . '-f compares them anyway');
    for my $side (@{ $self->{sides} }) {
        my $unit = (parts($side))[0]->unit;
        my $counts = $unit eq 's' ? 'times' : length $unit ? $unit : 'an unknown unit';
        $self->{say}->("$side->{name}: $counts");
    }
    return 0;
}

# Returns why ops and calls may differ from run to run here, or undef: they repeat only with the
# same hash seed.
sub why_unpinned {
    my ($self) = @_;
    my %seeds;
    for my $side (@{ $self->{sides} }) {
        for my $profile (parts($side)) {
            my ($seed, $keys) = map { $_ // '' }
                @{ $self->header($profile) }{qw(dprof_hash_seed dprof_perturb_keys)};
            return "the hash seed of $side->{name} was random"
                if $seed eq '' || $keys =~ /^(?:1|RANDOM)\z/i;
            $seeds{"$seed/$keys"} = 1;
        }
    }
    return keys %seeds > 1 ? 'the hash seeds differ' : undef;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Sides - sides of runs of files: found by name, read, what they count

=head1 SYNOPSIS

    use Devel::DProf::Input qw(used);
    use Devel::DProf::Sides qw(side);

    my $side = side('base.*', $with_all_processes, $quiet) or die;
    my $sides = Devel::DProf::Sides->new(say => sub { warn "$_[0]\n" });
    $sides->read(\&used, $side) or die;

=head1 DESCRIPTION

All tools that compare or sum up profiles read them through this module, several at a time if there
are several processors. L<dproffold>, L<dprofflame> and L<dprofdiff> also find sides by name through
it. L<Devel::DProf::Compare::Diff> compares them. It is internal to this distribution.

=head1 FUNCTIONS

=over

=item side NAME, ALL, QUIET

The files of a side: a path, paths joined by commas, a wildcard or a folder. Returns a hash of name,
as characters, and runs, a list of lists of paths; files with the same run id are one run, but each
slice is a run of its own. Returns undef, after a message, if there are no such files. ALL and QUIET
are those of L<Devel::DProf::Input/of_runs>. A NAME that is such a hash, from a store
(L<Devel::DProf::Tool::Options>), is returned.

=item parts SIDE

The profiles of all runs of a side, after read.

=back

=head1 METHODS

=over

=item new FIELD => VALUE, ...

say, a sub that gets messages of one line each; force, which takes different units, too; progress,
which shows on a terminal how far reading is; keys, numbers of sort keys; apart, which keeps the
files of a run apart, as only_of needs it; unit, what folded stacks count; windows, for each side
the ranges of L<Devel::DProf::Profile/window>, the last ones for all sides that follow; pairs,
may_be_empty, chart, detail, main and waits (where a side has several runs, or where there are many
sides), as the methods of L<Devel::DProf::Profile> that have these names (main: C<only_main>).

=item read REPORT, SIDE, ...

Reads the files, in parallel if there are several processors. A SIDE is a hash of a name and runs.
Each run is a list of paths. The first side is the baseline. REPORT is called with the outcome of
each file (L<Devel::DProf::Profile/outcome>) and its header, and returns C<fine>, C<cut> (cut short:
the file is used), C<none> (where files are kept apart, this one is left out) or C<bad>. Returns
false if a file was bad. The SIDEs stay as they are.

=item sides

The sides, after read: hashes of name, runs, profiles (for each run a list) and cut.

=item say TEXT, is_forced, has_windows

Gives C<say> of C<new> a line; whether C<new> got force, or windows.

=item is_sampled PROFILE, sample_rates SIDE

Whether a profile has samples; the rates at which the profiles of a side were sampled, as far as
known.

=item leaves_out

Whether the options leave out a part of the files: start-up, processes, or times.

=item without_startup PATH, ...

Reads files once more, and returns a profile of what ran in the main program and after it.

=item as_sides NAME, ...

Turns the one side that was read into several with these names.

=item only_of NAME, HASH

Keeps the files whose header has one of the hash's keys as NAME: C<pid>, C<tid>. Returns false if a
side has no such file.

=item is_time

True if times are times, in seconds, and not counts of folded stacks.

=item metric WORD, measure WORD

The L<Devel::DProf::Metric> that a word means in all profiles of the sides; undef if none has it.
C<measure> is for a metric that all sides need: undef, after a message, if a side lacks it.

=item tolerance METRIC

The share by which counts may differ and still be equal: more than 0 where hash seeds differ.

=item why_unpinned

Why calls and ops may not repeat in these runs; undef if they do repeat.

=back

=cut
