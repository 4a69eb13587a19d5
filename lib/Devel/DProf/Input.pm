package Devel::DProf::Input;

# From what a person names to profiles: paths, sides, files of a run; reading; what is said of each
# file.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Profile;
use Devel::DProf::Text qw(text plural);
use Devel::DProf::Tool qw(complain transient end_transient);

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(of_runs side used told usable readable run_loop reason header_of processes);

# ---- files of runs ----

# The files of the run that a file belongs to, itself first: those beside it that are called like it
# but for numbers (tmon.out, tmon.out.PID, tmon.out.PID.TID; PID.prof) and whose headers have its
# run id.
sub processes {
    my ($path) = @_;
    # a pipe gives its header once, and one that nobody writes to gives none
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
        # Whoever names the file of a child knows that its parent has one, too.
        next if -f ($path =~ s/(?:\.\d+){1,2}\z//r) && $path =~ /\.\d+\z/;
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
    $runs{ run_of($_) // '' } = 1 for grep { $given{$_} } keys %given;
    delete $runs{''};
    return scalar grep { $runs{ run_of($_) // '' } } @more;
}

sub run_of {
    my ($path) = @_;
    my %header = header_of($path);
    return $header{dprof_run};
}

# The outcome of looking at a file's header, and the names and values in it.
sub header {
    my ($path) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->add_header($path);
    return ($profile->outcome(0), $profile->header(0));
}

sub header_of {
    my ($path) = @_;
    my (undef, @header) = header($path);
    return @header;
}

# The files to read: those named, or with `all' those of their whole runs. If the runs have files
# that are not named, one line says so, unless the tool is to be quiet.
my %told_runs;

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

# ---- sides ----

# The side of that name: { name, runs => [[path, ...], ...] }. With `quiet' no message says that the
# runs have more files. Returns undef, after a message, if there are no such files.
sub side {
    my ($name, $processes, $quiet) = @_;
    my @paths = paths($name);
    of_runs(0, $quiet, @paths) if !$processes;
    return { name => text($name), runs => runs($processes, @paths) } if @paths;
    complain(length $name ? "$name: no files match" : 'an empty name is not a file');
    return undef;
}

# The files of a side: separated by commas, with wildcards; without what belongs to others of them.
sub paths {
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

# Files of one run are one: those that have its id. A copy of a recording does not count twice.
sub runs {
    my ($processes, @paths) = @_;
    my (%run_of, @runs, %seen, %recording);
    for my $path (@paths) {
        next if $seen{$path};
        my %header = @paths > 1 && $path ne '-' && -f $path ? header_of($path) : ();
        my $id = $header{dprof_run} // '';
        my $recording = join ' ', map { $_ // '' } @header{qw(dprof_run dprof_pid dprof_tid)};
        if (length $id && !$header{dprof_merged} && defined $recording{$recording}) {
            complain("$path is the same recording as $recording{$recording}, and is left out");
            next;
        }
        $recording{$recording} = $path;
        my $run = length $id ? $run_of{$id} : undef;
        if (!$run) {
            push @runs, $run = [];
            $run_of{$id} = $run if length $id;
        }
        push @$run, grep { !$seen{$_}++ } $processes ? processes($path) : $path;
    }
    return \@runs;
}

# ---- reading ----

sub new {
    my ($class, %how) = @_;
    return bless {%how}, $class;
}

# An empty profile, prepared for the files that it is to take.
sub profile {
    my ($self, $window) = @_;
    my $profile = Devel::DProf::Profile->new;
    $profile->declare_unit($self->{unit}) if defined $self->{unit};
    $profile->pairs if $self->{pairs};
    $profile->chart($self->{chart}) if defined $self->{chart};
    $profile->only_main if $self->{main};
    $profile->phases if $self->{phases};
    $profile->detail if $self->{detail};
    $profile->window(@$window) if $window;
    return $profile;
}

sub is_unit {
    my ($unit) = @_;
    return Devel::DProf::Profile->new->declare_unit($unit) ? 1 : 0;
}

sub flags { return $_[0]{force} ? Devel::DProf::Profile::FORCE : 0 }

sub read {
    my ($self, $profile, $path, @how) = @_;
    $profile->add($path, $self->flags, $self->{progress} ? progress($path) : undef);
    end_transient();
    return $profile->outcome($profile->files - 1, @how);
}

# Each file is read by itself first, so that nothing of a bad one gets in.
sub sum {
    my ($self, $take, $told, @paths) = @_;
    my $sum = (ref $self)->new(detail => 1, phases => 1)->profile;
    my $any = 0;
    for my $path (@paths) {
        my $one = $self->profile;
        my $o = $self->read($one, $path);
        $told->($o) or next;
        my $why = $sum->take($one, $take);
        if (defined $why) { $told->($o, $why) }
        else { $any++ }
    }
    return ($sum, $any);
}

sub read_sides {
    my ($self, $told, @sides) = @_;
    my $windows = $self->{windows} || [];
    my @jobs;
    for my $s (0 .. $#sides) {
        for my $run (@{ $sides[$s]{runs} }) {
            my $profile;
            for my $path (@$run) {
                $profile = $self->profile($windows->[ $s < @$windows ? $s : -1 ])
                    if !$profile || $self->{apart};
                push @jobs, [$profile, $path, $self->flags];
            }
        }
    }
    Devel::DProf::Profile::add_all(\@jobs, 0, $self->{progress} ? progress('profiles') : undef);
    end_transient();
    my ($ok, %seen) = (1);
    for my $side (@sides) {
        my @runs;
        $side->{cut} = 0;
        for my $run (@{ $side->{runs} }) {
            my @parts;
            for my $path (@$run) {
                my $profile = (shift @jobs)->[0];
                my $index = $seen{$profile}++;
                my $what = $told->($profile->outcome($index), { $profile->header($index) });
                $side->{cut} = 1 if $what eq 'cut';
                $ok = 0 if $what eq 'bad';
                push @parts, $profile if !$index;
            }
            push @runs, \@parts;
        }
        $side->{profiles} = \@runs;
    }
    return $ok;
}

# Called now and then while a file is read; speaks to terminals only, and not before it has taken a
# second.
sub progress {
    my ($path) = @_;
    return undef if !-t STDERR;
    my $name = Devel::DProf::Profile::escape($path);
    my $start = time;
    return sub {
        my ($done, $total) = @_;
        return if time - $start < 2;
        my $how_far = $total ? int(100 * $done / $total) . ' %' : int($done / 1e6) . ' MB';
        transient("$name: $how_far");
    };
}

# ---- what became of a file ----

sub verdict {
    my ($o) = @_;
    my $code = $o->{code};
    return $o->{open_count} ? 'open' : 'fine' if !$code;
    return 'cut' if $code == Devel::DProf::Profile::TRUNCATED;
    return 'none' if $code == Devel::DProf::Profile::NOTPROFILE;
    return 'none' if $code == Devel::DProf::Profile::CANNOT_READ && ($o->{errno} || -d $o->{path});
    return $o->{marks} + $o->{contexts} > 0 ? 'part' : 'bad';
}

sub usable { return $_[0] =~ /\A(?:fine|open|cut)\z/ ? 1 : 0 }

sub readable { return $_[0] eq 'part' || usable($_[0]) ? 1 : 0 }

sub told {
    my ($o, $quiet) = @_;
    my $what = verdict($o);
    complain($_) for $quiet && usable($what) ? () : lines($o, $what);
    return $what;
}

# Of a file of a side that is compared.
sub used {
    my ($o, $header, $force) = @_;
    run_loop($o->{path}, $force, %$header);
    my $what = told($o, $force);
    return 'cut' if $what eq 'cut' || ($what eq 'part' && $force);
    return usable($what) ? 'fine' : 'bad';
}

# What all tools say of an outcome.
sub lines {
    my ($o, $what) = @_;
    my $path = $o->{path};
    my $open = plural($o->{open_count}, 'call');
    return () if $what eq 'fine';
    return "$path: $open had not ended" if $what eq 'open';
    return "$path: profile cut short: $o->{message}" . place($o)
        . ($o->{open_count} ? "; $open had not ended" : '') if $what eq 'cut';
    return no_profile($o) if $what eq 'none';
    # the classic words stay in front
    my $first = $o->{message} =~ /^(?:Garbled|Bad) profile/
        ? "$o->{message} ($path, line $o->{line}, byte $o->{byte})"
        : "$path: $o->{message}" . place($o);
    my (undef, @more) = @{ $o->{faults} };
    my $rest = $o->{fault_count} - @{ $o->{faults} };
    return ($first, (map { "$path: $_->{message}" . place($_) } @more),
        $rest ? "$path: ... and $rest more lines that cannot be read" : ());
}

sub no_profile {
    my ($o) = @_;
    my $path = $o->{path};
    if ($o->{code} == Devel::DProf::Profile::NOTPROFILE) {
        return "$path: $o->{message}" if $o->{message} =~ /^this is/;
        return "Not a perl profile: $path" . ($o->{message} =~ /empty/ ? ' (it is empty)' : '');
    }
    if ($o->{errno}) {
        local $! = $o->{errno};
        return "Unable to open $path: $!" . (-e $path ? '' : missing($path));
    }
    return "$path is a directory; name the profiles in it"
        . (-e "$path/tmon.out" ? ", such as $path/tmon.out" : '');
}

sub place {
    my ($o) = @_;
    return $o->{line} ? " (line $o->{line}, byte $o->{byte})"
        : $o->{byte} ? " (byte $o->{byte})" : '';
}

# What to do about a profile that is not there; of those alone that the recorder would have named
# so.
sub missing {
    my ($path) = @_;
    return '; run perl -d:DProf PROGRAM first' if $path =~ m{(?:^|/)tmon\.out\z};
    return '; the recorder keeps the previous tmon.out there: run perl -d:DProf PROGRAM twice'
        if $path =~ m{(?:^|/)tmon\.out\.old\z};
    return '';
}

# Why a file cannot be used, or not as a whole, where its name stands elsewhere.
sub reason {
    my ($o) = @_;
    if ($o->{code} == Devel::DProf::Profile::CANNOT_READ && $o->{errno}) {
        local $! = $o->{errno};
        return "$!";
    }
    return ($o->{code} == Devel::DProf::Profile::TRUNCATED ? 'it was cut short: ' : '')
        . ($o->{message} || 'not a profile');
}

# What the header of a file has to say about how far it can be trusted.
sub run_loop {
    my ($path, $quiet, %header) = @_;
    return if !$header{dprof_runops_taken} || $quiet;
    complain("$path: another module took over perl's run loop: sort comparators may be missing, "
        . "and exits by die were seen late");
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Input - from paths to profiles

=head1 SYNOPSIS

    use Devel::DProf::Input qw(of_runs told usable);

    my $input = Devel::DProf::Input->new(force => 0, progress => 1);
    my $profile = $input->profile;
    for my $path (of_runs($with_all_processes, $quiet, @names)) {
        my $what = told($input->read($profile, $path), $quiet);
        die if !usable($what);
    }

=head1 DESCRIPTION

All tools and libraries of this distribution that take names of files go this way: names become
paths (L</FILES AND SIDES>), paths become profiles (L</READING>), and what became of each file is
said on the standard error in the same words (L</OUTCOMES>). It is internal to this distribution.

=head1 FILES AND SIDES

Functions; paths are bytes.

=over

=item of_runs ALL, QUIET, NAME, ...

The paths to read: those named, or with ALL those of their whole runs. If the runs have files that
are not named, one line says so, once for the same names, unless QUIET.

=item side NAME, ALL, QUIET

The files of a side: a path, paths joined by commas, a wildcard or a folder. Returns a hash of name,
as characters, and runs, a list of lists of paths; files with one run id are one run. Returns undef,
after a message, if there are no such files. ALL and QUIET as above.

=item processes PATH

The files of the run that a file belongs to, the file itself first. The others are files in the same
folder whose names are the same except for numbers, and that have the same C<$dprof_run>.

=item other_processes PATH, ...

The number of further files in the same folders that belong to the runs of these files, as
C<processes> finds them. The file of a child or a thread whose parent's file exists in the same
folder does not count as one of the given files.

=item header_of PATH

The names and values of a file's header, in its order. Only the header is read. Nothing if it cannot
be read.

=item header PATH

The same, behind the outcome (L<Devel::DProf::Profile/outcome>).

=back

=head1 READING

=over

=item new NAME => VALUE, ...

How files are read. force: faults of a file are tolerated. progress: a terminal is told how far it
is. unit, pairs, chart, main, phases, detail: as the methods of L<Devel::DProf::Profile> that have
these names (main: C<only_main>). For C<read_sides>, apart: each file has a profile of its own;
windows: for each side the ranges of L<Devel::DProf::Profile/window>, or undef; the last of them
is for all sides that follow.

=item profile [WINDOW]

An empty L<Devel::DProf::Profile> for such files. WINDOW: a list of ranges.

=item read PROFILE, PATH [, HOW]

Adds one file to such a profile, and returns the outcome: L<Devel::DProf::Profile/outcome>, which
HOW is for.

=item sum TAKE, TOLD, PATH, ...

For an object with detail and phases. Reads each file into a profile of its own and adds that to one
profile, which has both, too:
TAKE is the hash of L<Devel::DProf::Profile/take>. TOLD is called with the outcome of each file, and
returns whether to use it; and again, with the reason, if it could not be added. Returns the profile
and the number of files in it.

=item read_sides TOLD, SIDE, ...

Reads sides, as C<side> returns them, in parallel if there are several processors. TOLD is called
with each outcome and header (a hash), and returns C<fine>, C<cut> (cut short: the file is used) or
C<bad>. Each SIDE gets profiles, for each run a list, and cut. Returns false if a file was bad.

=item is_unit WORD

A function: can folded stacks count that?

=back

=head1 OUTCOMES

Functions.

=over

=item verdict OUTCOME

One word: C<fine>; C<open>, all was read, and calls had not ended; C<cut>, the file ends too early,
and what is there counts; C<part>, something was read in spite of faults; C<bad>, nothing was;
C<none>, there is no profile.

=item usable WORD

True of fine, open and cut.

=item readable WORD

True of these and of part.

=item told OUTCOME, QUIET

Says what there is to say of a file; QUIET leaves that out where the file is usable. Returns the
verdict.

=item used OUTCOME, HEADER, FORCE

The same for files that are compared, with C<run_loop>; FORCE is quiet, and takes what was read in
spite of faults. Returns what TOLD of C<read_sides> has to.

=item reason OUTCOME

Why a file cannot be used, or not as a whole: text without its name.

=item run_loop PATH, QUIET, HEADER

Says, unless QUIET, what a header (names and values) tells about how far the file can be trusted.

=back

=cut
