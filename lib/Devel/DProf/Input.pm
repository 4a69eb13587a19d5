package Devel::DProf::Input;

# Turns the names that a person gives into profiles: finds the files of a run, reads them, and
# reports what became of each file.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Profile;
use Devel::DProf::Tool qw(complain progress end_transient);

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(of_runs files_of used report_outcome usable readable doubts header_of processes
                    shown_outcome);

# The names that messages have for files that are copies.
our %Shown;

# Returns the name that messages use for a path: temporary copies are shown as their originals.
sub shown_as { return $Shown{ $_[0] } // $_[0] }

# Returns an outcome (a hash, see Devel::DProf::Profile) with the path as messages show it.
sub shown_outcome {
    my ($outcome) = @_;
    return { %$outcome, path => shown_as($outcome->{path}) };
}

# ---- files of runs ----

# Returns the files of the run that a file belongs to, the file itself first. The others are in the
# same folder, have the same name except for numbers (tmon.out, tmon.out.PID, tmon.out.PID.TID,
# tmon.out.PID.iN; PID.prof) and the same run id in their headers.
sub processes {
    my ($path) = @_;
    # A pipe can be read only once, and perhaps nobody writes to it.
    return $path if !-f $path;
    my $run = run_of($path);
    return $path if !defined $run || !length $run;
    my ($dir, $base, $like) = pattern_of($path) or return $path;
    opendir my $in, length $dir ? $dir : '.' or return $path;
    my @names = grep { $_ =~ $like && $_ ne $base && -f($dir . $_) } readdir $in;
    my %key = map { ($_ => s/(\d+)/length($1) . ".$1"/ger) } @names;
    @names = sort { $key{$a} cmp $key{$b} } @names;
    return $path, grep { (run_of($_) // '') eq $run } map { $dir . $_ } @names;
}

# Returns the directory and the name of a path, and a regular expression for the names that the
# other files of its run may have.
sub pattern_of {
    my ($path) = @_;
    my ($dir, $base) = $path =~ m{^(.*/)?([^/]+)\z}s or return;
    my $like = join '\\d+', map { quotemeta } split /\d+/, $base =~ s/(?:\.i?\d+)+\z//r, -1;
    return ($dir // '', $base, qr/^$like(?:\.i?\d+)*\z/);
}

# Returns how many files the runs of the given files have beside these. It reads each directory and
# each header once.
sub other_processes {
    my (%given, %runs, %places);
    for my $path (grep { -f } @_) {
        $given{$path} = 0;
        # A user who names the file of a child knows that its parent has one, too.
        next if -f ($path =~ s/(?:\.i?\d+){1,2}\z//r) && $path =~ /\.i?\d+\z/;
        my ($dir, $base, $like) = pattern_of($path) or next;
        $given{"$dir$base"} = 1;
        $places{$dir}{$like} = $like;
    }
    my @more;
    for my $dir (keys %places) {
        opendir my $in, length $dir ? $dir : '.' or next;
        my @like = values %{ $places{$dir} };
        for my $name (readdir $in) {
            next if exists $given{"$dir$name"} || !-f $dir . $name;
            push @more, $dir . $name if grep { $name =~ $_ } @like;
        }
    }
    return 0 if !@more;
    my %snapshots;
    for (grep { $given{$_} } keys %given) {
        my %header = header_of($_);
        $runs{ run_in(%header) // '' } = 1;
        $snapshots{ process_of(%header) } = 1 if !defined $header{dprof_slice};
    }
    delete $runs{''};
    return scalar grep {
        my %header = header_of($_);
        $runs{ run_in(%header) // '' } && !$snapshots{ process_of(%header) };
    } @more;
}

# Returns what all files of one process and thread share.
sub process_of {
    my (%header) = @_;
    return join ' ', map { $_ // '' } @header{qw(dprof_run dprof_pid dprof_tid)};
}

# Returns the run id in a file's header, or undef.
sub run_of { return run_in(header_of($_[0])) }

sub run_in {
    my (%header) = @_;
    return $header{dprof_of_run} // $header{dprof_run};
}

# Reads the header of a file. Returns the outcome of reading, then the header's names and values in
# pairs.
sub header {
    my ($path) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add_header($path);
    return (shown_outcome($profile->outcome(0)), $profile->header(0));
}

# Returns the header of a file as pairs of name and value.
sub header_of {
    my ($path) = @_;
    my (undef, @header) = header($path);
    return @header;
}

# Returns the files to read: those named, or with `all' those of their whole runs. If the runs have
# files that are not named, one line says so, unless `quiet'.
my %told_runs;

# Returns the files to read for the given names. With ALL, these are the files of all processes and
# threads of their runs (--processes). Otherwise the names are returned and, unless QUIET, a message
# says once that a run has more files.
sub of_runs {
    my ($all, $quiet, @names) = @_;
    # FILE.live and FILE.new hold what is not in FILE yet: the reader takes them with FILE.
    my %given = map { $_ => 1 } @names;
    @names = grep { my $stem = $_; !($stem =~ s/\.(?:live|new)\z//) || !$given{$stem} } @names;
    my %seen;
    return grep { !$seen{$_}++ } map { processes($_) } @names if $all;
    return @names if $quiet || $told_runs{ join "\0", @names }++;
    my $more = other_processes(@names);
    complain((@names == 1 ? "$names[0]: its run has " : "$names[0], ...: their runs have ")
        . ($more == 1 ? '1 more file, of another process or thread; --processes reads it, too'
            : "$more more files, of other processes and threads; --processes reads them, too"))
            if $more;
    return @names;
}

# Returns the files for the names, see of_runs(). A name may also be a hash, a side of a store,
# whose files are taken as they are.
sub files_of {
    my ($all, $quiet, @names) = @_;
    return map { ref $_ ? map { @$_ } @{ $_->{runs} } : of_runs($all, $quiet, $_) } @names
        if grep { ref } @names;
    return of_runs($all, $quiet, @names);
}

# ---- reading ----

sub new {
    my ($class, %fields) = @_;
    return bless {%fields}, $class;
}

# Makes an empty profile, prepared for reading files with these options. window: the slices of time
# to read.
sub profile {
    my ($self, $window) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->declare_unit($self->{unit}) if defined $self->{unit};
    $profile->pairs if $self->{pairs};
    $profile->may_be_empty if $self->{may_be_empty};
    $profile->chart($self->{chart}) if defined $self->{chart};
    $profile->only_main if $self->{main};
    $profile->phases if $self->{phases};
    $profile->detail if $self->{detail};
    $profile->waits if $self->{waits};
    $profile->window(@$window) if $window;
    return $profile;
}

# Returns whether a word can be the unit of folded stacks.
sub is_unit {
    my ($unit) = @_;
    return Devel::DProf::Profile->new->declare_unit($unit) ? 1 : 0;
}

# Returns the flags for Devel::DProf::Profile::add.
sub flags { return $_[0]{force} ? Devel::DProf::Profile::FORCE : 0 }

# Reads a file into a profile. Returns the outcome as a hash. HOW: options of
# Devel::DProf::Profile::outcome.
sub read {
    my ($self, $profile, $path, @how) = @_;
    $profile->add($path, $self->flags, $self->{progress} ? progress($path) : undef);
    end_transient();
    return shown_outcome($profile->outcome($profile->files - 1, @how));
}

# Adds up files, and returns the sum and whether any file was added. TAKE: options of
# Devel::DProf::Profile::take. REPORT is called with the outcome of each file, and returns false to
# leave the file out; it is called again with the reason if the file cannot be added. Each file is
# read into a profile of its own first, so that no part of a bad file is added.
sub sum {
    my ($self, $take, $report, @paths) = @_;
    my $sum = (ref $self)->new(detail => 1, phases => 1)->profile;
    my $any = 0;
    for my $path (@paths) {
        my $one = $self->profile;
        my $o = $self->read($one, $path);
        my %header = $one->header(0);
        doubts($path, $self->{force}, %header{dprof_left_out});     # the sum says the rest itself
        $report->($o) or next;
        my $why = $sum->take($one, $take);
        if (defined $why) { $report->($o, $why) }
        else { $any++ }
    }
    return ($sum, $any);
}

# ---- outcomes of files ----

# Returns whether a verdict (Devel::DProf::Outcome) means that all numbers of the file can be used.
sub usable { return $_[0] =~ /\A(?:fine|open|cut)\z/ ? 1 : 0 }

# Returns whether a verdict means that at least a part of the file can be shown.
sub readable { return $_[0] eq 'part' || usable($_[0]) ? 1 : 0 }

# Reports what is wrong with a file. Returns the verdict on the file as a word
# (Devel::DProf::Outcome); with QUIET, prints nothing about a file that can be used.
sub report_outcome {
    my ($o, $quiet) = @_;
    return 'fine' if !$o->{code} && !$o->{open_count};
    require Devel::DProf::Outcome;
    my $what = Devel::DProf::Outcome::verdict($o);
    return $what if $quiet && usable($what);
    complain($_) for Devel::DProf::Outcome::lines($o, $what, 1);
    return $what;
}

# Reports what is wrong with a file of a compared side. Returns the state of the file: fine, cut or
# bad.
sub used {
    my ($o, $header, $force) = @_;
    doubts($o->{path}, $force, %$header);
    my $what = report_outcome($o, $force);
    return 'cut' if $what eq 'cut' || ($what eq 'part' && $force);
    return usable($what) ? 'fine' : 'bad';
}

# Prints the reasons in a file's header to doubt the file's numbers, unless QUIET.
sub doubts {
    my ($path, $quiet, %header) = @_;
    my @doubtful = qw(dprof_runops_taken dprof_left_out dprof_dropped_cpu dprof_given_up);
    return if $quiet || !grep { defined } @header{@doubtful};
    require Devel::DProf::Outcome;
    complain(shown_as($path) . ": $_") for Devel::DProf::Outcome::doubts(%header);
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Input - from paths to profiles: the files of a run, reading

=head1 SYNOPSIS

    use Devel::DProf::Input qw(of_runs report_outcome usable);

    my $input = Devel::DProf::Input->new(force => 0, progress => 1);
    my $profile = $input->profile;
    for my $path (of_runs($with_all_processes, $quiet, @names)) {
        my $what = report_outcome($input->read($profile, $path), $quiet);
        die if !usable($what);
    }

=head1 DESCRIPTION

All tools and libraries of this distribution that take names of files use this module. It turns
names into paths (L</FILES>) and paths into profiles (L</READING>), and reports on the standard
error what became of each file (L</OUTCOMES>). It is internal to this distribution.

=head1 FILES

Functions; paths are bytes.

=over

=item of_runs ALL, QUIET, NAME, ...

The paths to read: those named, or with ALL those of their whole runs. If the runs have files that
are not named, one line says so, once for the same names, unless QUIET.

=item files_of ALL, QUIET, NAME, ...

The same for names among which are hashes as L<Devel::DProf::Sides/side> returns them.

=item processes PATH

The files of the run that a file belongs to, the file itself first. The others are files in the same
folder whose names are the same except for numbers, and that have the same C<$dprof_run>.

=item other_processes PATH, ...

The number of further files in the same folders that belong to the runs of these files, as
C<processes> finds them. The file of a child or a thread whose parent's file exists in the same
folder does not count as one of the given files.

=item header_of PATH

The names and values of a file's header, in their order. Only the header is read. An empty list if
it cannot be read.

=item shown_as PATH

The name of a file in messages: C<%Shown> has the names of files that are copies.

=item shown_outcome OUTCOME

A copy of an outcome, in which path is the name that C<shown_as> returns.

=item header PATH

The outcome (L<Devel::DProf::Profile/outcome>), followed by what C<header_of> returns.

=back

=head1 READING

=over

=item new NAME => VALUE, ...

How files are read. force: faults of a file are tolerated. progress: a terminal shows how far
reading is. unit, pairs, may_be_empty, chart, main, phases, detail, waits: as the methods of
L<Devel::DProf::Profile> that have these names (main: C<only_main>).

=item profile [WINDOW]

An empty L<Devel::DProf::Profile> for such files. WINDOW: a list of ranges.

=item read PROFILE, PATH [, HOW]

Adds one file to such a profile, and returns L<Devel::DProf::Profile/outcome>, which takes HOW.

=item sum TAKE, REPORT, PATH, ...

For an object with detail and phases. Reads each file into a profile of its own, and adds that
profile to one sum, which has detail and phases, too. TAKE is the hash of
L<Devel::DProf::Profile/take>. C<sum> calls REPORT with the outcome of each file, and uses the file
if REPORT returns true. If the file could not be added, C<sum> calls REPORT again, with the reason.
Returns the profile and the number of files in it.

=item is_unit WORD

A function: returns whether WORD can be the unit of folded stacks.

=back

=head1 OUTCOMES

Functions. A WORD is what L<Devel::DProf::Outcome/verdict> returns.

=over

=item usable WORD

True of fine, open and cut.

=item readable WORD

True of these and of part.

=item report_outcome OUTCOME, QUIET

Prints the messages about a file, with QUIET only if the file is not usable. Returns the verdict.

=item used OUTCOME, HEADER, FORCE

The same for files that are compared, with C<doubts>. FORCE is quiet, and accepts what was read in
spite of faults. C<used> can be the REPORT of L<Devel::DProf::Sides/read>, and returns fine, cut or
bad.

=item doubts PATH, QUIET, HEADER

Prints, unless QUIET, the doubts about a file's numbers that its header (names and values) gives
rise to.

=back

=cut
