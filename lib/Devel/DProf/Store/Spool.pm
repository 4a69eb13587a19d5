package Devel::DProf::Store::Spool;

# The folder where recorders leave slices: what is in it, whose it is, what is merged, what was
# refused.

use strict;
use warnings;

use Digest::MD5 ();
use Fcntl qw(LOCK_EX LOCK_NB);
use Devel::DProf::Input ();
use Devel::DProf::Store qw(escaped unescaped failed);
use Devel::DProf::Write;

our $VERSION = $Devel::DProf::Core::VERSION;

sub new {
    my ($class, $folder) = @_;
    -d $folder or failed(-e $folder ? "$folder is no folder" : "$folder: there is no such folder");
    return bless { folder => $folder }, $class;
}

# Two that merge and remove at the same time would send some files twice: once in each merged one.
# Returns false if another process has the spool.
sub lock {
    my ($self) = @_;
    open my $lock, '>>', "$self->{folder}/.lock"
        or failed("$self->{folder}/.lock could not be written: $!", retry => 1);
    $self->{lock} = $lock if flock $lock, LOCK_EX | LOCK_NB;
    return defined $self->{lock};
}

# Removes each NAME.part.live whose slice is NAME.tree already: a process that was killed in the
# middle of a cut leaves it, with nothing that the slice does not have. The process locks NAME.tree
# as long as it lives.
sub clear {
    my ($self) = @_;
    opendir my $in, $self->{folder} or return;
    for my $stem (map { /\A([^.].*)\.part\.live\z/s ? "$self->{folder}/$1" : () } readdir $in) {
        my ($live, $slice) = ("$stem.part.live", "$stem.tree");
        next if lstat "$stem.part" or !$!{ENOENT} or -l $slice or !-f _;
        open my $file, '<:raw', $slice or next;
        unlink $live if flock($file, LOCK_EX | LOCK_NB) && is_live($live);
    }
    return;
}

# Is it a file of pieces, which is empty for a moment, or begins with its magic in either order of
# bytes?
sub is_live {
    my ($path) = @_;
    return 0 if -l $path || !-f _;
    open my $in, '<:raw', $path or return 0;
    read $in, my $magic, 8;
    return $magic =~ /\A(?:.RpDuneL|LenuDpR.|\0{8})?\z/s ? 1 : 0;
}

# ---- what is there ----

# Returns the files that can be pushed: merged profiles that did not arrive yet, whole slices, and
# what processes left that were killed. A hash each: path, name; lock, of a part, which keeps others
# away while it lives.
sub entries {
    my ($self) = @_;
    my @merged = $self->resumed;
    my %is_merged = map { $_->{name} => 1 } @merged;
    opendir my $in, $self->{folder} or failed("$self->{folder} cannot be read: $!", retry => 1);
    my @names = sort grep { /\A[^.].*\.(?:tree(?:\.gz)?|part)\z/s && !$is_merged{$_} } readdir $in;
    return (@merged, map { $self->entry($_) } @names);
}

sub entry {
    my ($self, $name) = @_;
    my $path = "$self->{folder}/$name";
    !-l $path && -f _ or return;
    return { path => $path, name => $name } if $name !~ /\.part\z/;
    open my $file, '<:raw', $path or return;
    # A process holds the lock as long as it lives. If it has finished meanwhile, the name is gone.
    return if !flock $file, LOCK_EX | LOCK_NB;
    my @opened = stat $file;
    my @named = stat $path or return;
    return if $opened[1] != $named[1];
    return { path => $path, name => $name, lock => $file };
}

# Any other file that is to be pushed.
sub single {
    my ($path) = @_;
    -f $path or failed(-e $path ? "$path is no file" : "$path: there is no such file");
    return { path => $path, name => $path =~ s{.*/}{}sr, single => 1 };
}

# ---- what it is ----

# Adds to an entry run, start, seconds and script, from the file's header. Dies with a Failure if it
# is no profile.
sub identify {
    my ($entry) = @_;
    my ($outcome, %header) = Devel::DProf::Input::header($entry->{path});
    my $why = %header ? undef : Devel::DProf::Store::unusable($outcome);
    failed($why) if defined $why;
    my $seconds = seconds(\%header);
    my $start = ($header{dprof_start} // '') =~ /\A(\d{1,11}(?:\.\d{1,9})?)\z/ ? $1 : undef;
    my $modified = (stat $entry->{path})[9] // time;
    %$entry = (%$entry, run => identity($entry->{path}, \%header), seconds => $seconds,
        start => $start // ($modified > $seconds ? int($modified - $seconds) : 0),
        script => ($header{dprof_script} // '') =~ s{.*/}{}sr);
    return $entry;
}

# The recorder's own time passed, too.
sub seconds {
    my ($header) = @_;
    my ($hz, $ticks, $own) = map { $_ // '' } @$header{qw(hz rrun_rtime dprof_own_real)};
    return 0 if $hz !~ /\A[1-9]\d{0,11}\z/ || $ticks !~ /\A\d{1,18}\z/;
    $ticks += $own if $own =~ /\A\d{1,18}\z/;
    return sprintf('%.6f', $ticks / $hz) + 0;
}

# A file that does not say whose it is has its contents as identity.
sub identity {
    my ($path, $header) = @_;
    my ($run, @numbers) = map { $header->{"dprof_$_"} // '' } qw(run pid tid slice);
    $_ = $_ =~ /\A\d{1,15}\z/ ? $_ + 0 : 0 for @numbers;
    return join '-', $run, @numbers if $run =~ /\A[0-9A-Za-z.]{1,64}\z/;
    my $digest = Digest::MD5->new;
    for my $file (grep { -f } $path, "$path.live") {
        open my $in, '<:raw', $file or failed("$file cannot be read: $!");
        $digest->addfile($in);
    }
    return 'md5.' . $digest->hexdigest . '-0-0-0';
}

# ---- what becomes of it ----

# The files of an entry: a part may have others beside it.
sub files {
    my ($entry) = @_;
    my $path = $entry->{path};
    return $path if $entry->{name} !~ /\.part\z/;
    return ($path, grep { -e } map { "$path.$_" } qw(live new));
}

# Removes a file that has arrived. Returns nothing, or why it could not be removed.
sub remove {
    my ($entry) = @_;
    for my $path (files($entry), $entry->{merged} // ()) {
        next if unlink $path or $!{ENOENT};
        return "$path could not be removed: $!";
    }
    return;
}

# Moves what was refused to refused/, with the answer beside it. Returns the new path; dies if that
# is impossible, for it would be sent for ever.
sub move_aside {
    my ($self, $entry, $failure) = @_;
    my $to = "$self->{folder}/refused";
    my $why = Devel::DProf::Write::move($entry->{path}, "$to/$entry->{name}");
    failed("$entry->{path} could not be moved to $to: $why", retry => 1) if defined $why;
    for my $more (grep { -e } map { "$entry->{path}.$_" } qw(live new)) {
        Devel::DProf::Write::move($more, "$to/" . $more =~ s{.*/}{}sr);
    }
    unlink $entry->{merged} if defined $entry->{merged};
    my $answer = length $failure->answer ? $failure->answer =~ s/\n?\z/\n/r : '';
    Devel::DProf::Write::whole("$to/$entry->{name}.why", sub {
        return print({ $_[0] } $failure->message, "\n", $answer) ? 0 : 1;
    }, replace => 1);
    return "$to/$entry->{name}";
}

# Removes the profiles that were refused first, with their answers, until refused/ has no more than
# so many bytes. The path of the last one stays: somebody was just told where it is. Returns the
# number of what went.
sub trim_refused {
    my ($self, $limit, $last) = @_;
    my $folder = "$self->{folder}/refused";
    opendir my $in, $folder or return 0;
    my ($sum, %of) = (0);
    for my $name (grep { !/\A\.\.?\z/ } readdir $in) {
        my @stat = lstat "$folder/$name";
        next if !@stat || !-f _;
        my $one = $of{ $name =~ s/\.(?:why|live|new)\z//r } //= { size => 0, time => 0 };
        push @{ $one->{names} }, $name;
        $one->{size} += $stat[7];
        $sum += $stat[7];
        # A profile keeps its own time when it is moved: its answer tells when that was.
        $one->{ $name =~ /\.why\z/ ? 'answered' : 'time' } = $stat[9];
    }
    $_->{time} = $_->{answered} // $_->{time} for values %of;
    my @oldest = grep { "$folder/$_" ne $last }
        sort { $of{$a}{time} <=> $of{$b}{time} || $a cmp $b } keys %of;
    my $gone = 0;
    while (@oldest && $sum > $limit) {
        my $one = $of{ shift @oldest };
        next if grep { !unlink("$folder/$_") && !$!{ENOENT} } @{ $one->{names} };
        $sum -= $one->{size};
        $gone++;
    }
    return $gone;
}

# ---- merging ----

# A merged profile is made in steps that can be interrupted anywhere: a list of what goes into it
# (.ID.merged), the profile (ID.tree), the removal of what went into it. As long as there is a list,
# the profile is one of those that did not arrive yet, and the members that are left are no others.

# Merges entries that are identified, those of each service's intervals of SECONDS; with NOW only of
# intervals that are over. Returns the entries to push. TOLD is called with a message and an entry
# that cannot be merged.
sub merged {
    my ($self, $entries, $seconds, $told, $now) = @_;
    my (%group, @done);
    for my $entry (@$entries) {
        my $interval = sprintf '%012d', $entry->{start} / $seconds;
        if (defined $entry->{merged}) { push @done, $entry }
        else { push @{ $group{"$interval $entry->{service}"} }, $entry }
    }
    for my $key (sort keys %group) {
        my ($longest) = sort { $b <=> $a } map { $_->{seconds} } @{ $group{$key} };
        # A slice comes when it is over, which may be after the interval.
        next if defined $now && $now < ($key =~ s/ .*//sr + 1) * $seconds + $longest;
        push @done, $self->one_of($group{$key}, $told);
    }
    return @done;
}

sub one_of {
    my ($self, $entries, $told) = @_;
    my %bad;
    my $input = Devel::DProf::Input->new(detail => 1, phases => 1);
    my %entry = map { $_->{path} => $_ } @$entries;
    my ($sum) = $input->sum({}, sub {
        my ($o, $why) = @_;
        $why = defined $why ? "$o->{path}: $why" : Devel::DProf::Store::unusable($o) // return 1;
        $bad{ $o->{path} } = 1;
        $told->($why, $entry{ $o->{path} });
        return 0;
    }, map { $_->{path} } @$entries);
    my @good = grep { !$bad{ $_->{path} } } @$entries;
    return @good ? $self->staged($sum, @good) : ();
}

sub staged {
    my ($self, $sum, @members) = @_;
    my ($start) = sort { $a <=> $b } map { $_->{start} } @members;
    my ($end) = sort { $b <=> $a } map { $_->{start} + $_->{seconds} } @members;
    my $run = 'merged.' . Digest::MD5::md5_hex(join "\n", sort map { $_->{run} } @members)
        . '-0-0-0';
    my %entry = (run => $run, name => "$run.tree", path => "$self->{folder}/$run.tree",
        merged => "$self->{folder}/.$run.merged", start => $start,
        seconds => sprintf('%.6f', $end - $start) + 0, script => $members[0]{script});
    my $list = join '', "$run $entry{start} $entry{seconds} " . escaped($entry{script}) . "\n",
        map { escaped($_->{name}) . "\n" } @members;
    my $why = Devel::DProf::Write::whole($entry{merged},
        sub { return print({ $_[0] } $list) ? 0 : 1 }, replace => 1)
        // $sum->save($entry{path}, $VERSION);
    if (defined $why) {
        unlink $entry{merged};
        failed("$entry{path} could not be written: $why", retry => 1);
    }
    for my $member (@members) {
        my $why = remove($member);
        failed($why, retry => 1) if defined $why;
    }
    return \%entry;
}

# Goes on where a process was interrupted that merged. Returns the merged profiles that did not
# arrive yet, as entries.
sub resumed {
    my ($self) = @_;
    opendir my $in, $self->{folder} or return;
    my @names = sort readdir $in;
    my @entries;
    # With the lock, nobody else is writing these.
    unlink map { "$self->{folder}/$_" } grep { /\A\.?merged\.[^\/]+\.[0-9a-f]+\.new\z/ } @names
        if $self->{lock};
    for my $list (grep { /\A\.merged\..*\.merged\z/ } @names) {
        my $path = "$self->{folder}/$list";
        open my $file, '<:raw', $path or next;
        my ($head, @members) = map { s/\n\z//r } readline $file;
        my ($run, $start, $seconds, $script)
            = ($head // '') =~ /\A([^\s\/\0]+) (\d+(?:\.\d+)?) (\d+(?:\.\d+)?) (\S+)\z/;
        my $tree = defined $run ? "$self->{folder}/$run.tree" : undef;
        if (!defined $tree || !-f $tree) {
            unlink $path;
            next;
        }
        for my $name (grep { !m{[/\0]} } map { unescaped($_) } @members) {
            unlink map { "$self->{folder}/$name$_" } '', $name =~ /\.part\z/ ? qw(.live .new) : ();
        }
        push @entries, { run => $run, start => $start, seconds => $seconds, path => $tree,
            name => "$run.tree", script => unescaped($script), merged => $path };
    }
    return @entries;
}

1;
