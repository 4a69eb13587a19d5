package Devel::DProf::Store::Spool;

# A spool, the folder where recorders leave slices: lists, identifies, merges and removes its files,
# and moves refused ones aside.

use strict;
use warnings;

use Digest::MD5 ();
use Fcntl qw(:flock :mode);
use File::Temp ();
use Devel::DProf::Dir;
use Devel::DProf::Input ();
use Devel::DProf::Store qw(escaped unescaped failed);
use Devel::DProf::Store::RunSet;
use Devel::DProf::Write;

our $VERSION = $Devel::DProf::Core::VERSION;

# The most bytes of a file of a spool, packed and unpacked; the recorder's default limit, a million
# contexts, takes a quarter. Tests set a smaller limit. CHUNK is the number of bytes read at once.
our $Most = 1 << 28;
use constant { CHUNK => 1 << 16, MOST_LIST => 1 << 24 };

# Opens a spool, the folder where recorders leave slices. USERS: the numbers of other users, besides
# this one and root, whose slices are taken. Dies if there is no such folder.
sub new {
    my ($class, $folder, @users) = @_;
    my $dir = Devel::DProf::Dir->open($folder)
        // failed($!{ENOENT} ? "$folder: there is no such folder"
            : $!{ENOTDIR} ? "$folder is no folder" : "$folder cannot be opened: $!",
            retry => !$!{ENOENT} && !$!{ENOTDIR});
    return bless { dir => $dir, users => \@users, foreign => 0 }, $class;
}

# Returns the number of slices that stay because they belong to other users.
sub foreign { return $_[0]{foreign} }

# Locks the spool; returns false if another process has locked it. Without the lock, two processes
# could merge the same files, and send them twice. Other users cannot open the lock file, and so
# cannot block us.
sub lock {
    my ($self) = @_;
    my $path = $self->{dir}->path('.lock');
    my $lock = $self->{dir}->keep('.lock', 0600)
        // failed($!{EINVAL} ? "$path " . Devel::DProf::Dir::why() . '; remove it'
            : "$path could not be written: $!", retry => 1);
    chmod 0600, $lock if ((stat $lock)[2] & 0077) && (stat _)[4] == $>;
    $self->{lock} = $lock if flock $lock, LOCK_EX | LOCK_NB;
    return defined $self->{lock};
}

# Removes each NAME.part.live whose slice is already NAME.tree. A process that was killed in the
# middle of a cut leaves such a file, and the slice has all of its contents. The process locks
# NAME.tree as long as it lives.
sub clear {
    my ($self) = @_;
    my $dir = $self->{dir};
    for my $stem (map { /\A([^.].*)\.part\.live\z/s ? $1 : () } $dir->names) {
        next if $dir->is_there("$stem.part");
        my $slice = $dir->read("$stem.tree", @{ $self->{users} }) // next;
        my $live = $dir->read("$stem.part.live", @{ $self->{users} }) // next;
        $dir->remove("$stem.part.live", stat $live)
            if flock($slice, LOCK_EX | LOCK_NB) && is_live($live);
    }
    return;
}

# Returns whether a file is one of pieces: it begins with their magic number in either byte order,
# or is still empty.
sub is_live {
    my ($in) = @_;
    sysread $in, my $magic, 8;
    return $magic =~ /\A(?:.RpDuneL|LenuDpR.|\0{8})?\z/s ? 1 : 0;
}

# ---- entries ----

# Returns the files that can be pushed: merged profiles that did not arrive yet, complete slices,
# and parts that killed processes left. Each is a hash: spool; name; path, for messages; lock, of a
# part, which keeps other processes away as long as the hash exists.
sub entries {
    my ($self) = @_;
    my @merged = $self->resumed;
    my %is_merged = map { $_->{name} => 1 } @merged;
    my @names = sort grep { /\A[^.].*\.(?:tree(?:\.gz)?|part)\z/s && !$is_merged{$_} }
        $self->{dir}->names;
    $self->{foreign} = 0;
    return (@merged, map { $self->entry($_) } @names);
}

# Returns the entry of a file, a hash (see entries), or nothing if the file is another user's, is
# gone, or is the part of a process that still records.
sub entry {
    my ($self, $name) = @_;
    my $file = $self->{dir}->read($name, @{ $self->{users} });
    if (!$file) {
        $self->{foreign}++ if $!{EINVAL} && Devel::DProf::Dir::why() eq q(is another user's);
        return;
    }
    my $entry = $self->make_entry(name => $name);
    return $entry if $name !~ /\.part\z/;
    # The recorder holds the lock as long as it lives. If it has just finished, the name is gone.
    return if !flock $file, LOCK_EX | LOCK_NB;
    my @named = $self->{dir}->stat($name) or return;
    return if $named[1] != (stat $file)[1];
    return { %$entry, lock => $file };
}

# Returns an entry with these fields: a hash that also has the spool and the path.
sub make_entry {
    my ($self, %entry) = @_;
    return { %entry, spool => $self, path => $self->{dir}->path($entry{name}) };
}

# Returns an entry for a file that is in no spool.
sub single {
    my ($path) = @_;
    require Devel::DProf::Outcome;
    -f $path or failed(-e $path ? "$path is no file; name profiles, or a spool: a folder"
        : "$path: there is no such file" . Devel::DProf::Outcome::instead_of($path));
    return { path => $path, name => $path =~ s{.*/}{}sr, single => 1 };
}

# ---- identity ----

# Returns the path where an entry's file can be read. A spool's file is copied to a private folder
# first, so that it is opened once, its size is limited, and nobody changes it. remove_copies()
# removes the copy.
sub file_of {
    my ($entry) = @_;
    return $entry->{path} if $entry->{single};
    return $entry->{copy} if defined $entry->{copy};
    my $folder = $entry->{spool}{copies} //= File::Temp->newdir('dprofstore-XXXXXXXX', TMPDIR => 1);
    my $to = "$folder/$entry->{name}";
    $Devel::DProf::Input::Shown{$to} = $entry->{path};
    $entry->{copy} = $to;
    return $to if eval { $entry->{spool}->copy($entry, $to); 1 };
    my $failure = $@;
    remove_copies($entry);
    die $failure;
}

# Removes the private copies of entries' files.
sub remove_copies {
    my (@entries) = @_;
    for my $path (grep { defined } map { delete $_->{copy} } @entries) {
        delete $Devel::DProf::Input::Shown{$path};
        unlink $path, "$path.live";
    }
    return;
}

# Copies a spool's file to a path, and the NAME.part.live of its process if there is one.
sub copy {
    my ($self, $entry, $to) = @_;
    my ($dir, @users) = ($self->{dir}, @{ $self->{users} });
    my $in = $dir->read($entry->{name}, @users)
        // failed("$entry->{path} cannot be read: " . failure_reason());
    $entry->{is} = [(stat $in)[0, 1, 2, 7, 9]];
    copy_bytes($in, $to, $entry->{path});
    return if $entry->{name} !~ /\.part\z/;
    my $live = $dir->read("$entry->{name}.live", @users) // return;
    return copy_bytes($live, "$to.live", "$entry->{path}.live");
}

# Returns why the last call of the spool's folder has failed, as text.
sub failure_reason { return $!{EINVAL} ? 'it ' . Devel::DProf::Dir::why() : "$!" }

# Copies an open file to a path, unpacked if it is packed with gzip. Dies if it has more than $Most
# bytes, which no slice of a recorder has.
sub copy_bytes {
    my ($in, $to, $path) = @_;
    my ($sum, $bytes, $is_packed, $n) = (0, '', 0);
    open my $out, '>:raw', $to or failed("$to could not be written: $!", retry => 1);
    while ($n = sysread $in, $bytes, CHUNK) {
        $is_packed = $bytes =~ /\A\x1f\x8b/ if !$sum;
        $sum += $n;
        failed("$path: the file has more than $Most bytes") if $sum > $Most;
        print {$out} $bytes or failed("$to could not be written: $!", retry => 1);
    }
    defined $n or failed("$path cannot be read: $!");
    close $out or failed("$to could not be written: $!", retry => 1);
    Devel::DProf::Store::unpacked($to, $path, $Most, sub { }) if $is_packed;
    return;
}

# Adds to an entry run, start, seconds and script, from the file's header. Dies with a Failure if it
# is no profile.
sub identify {
    my ($entry) = @_;
    my $file = file_of($entry);
    my ($outcome, %header) = Devel::DProf::Input::header($file);
    my $why = %header ? undef
        : Devel::DProf::Store::unusable($outcome, $entry->{single});
    failed($why) if defined $why;
    my $seconds = seconds_of(\%header);
    my $start = ($header{dprof_start} // '') =~ /\A(\d{1,11}(?:\.\d{1,9})?)\z/ ? $1 : undef;
    my $modified = $entry->{is} ? $entry->{is}[4] : (stat $file)[9] // time;
    my ($of_slice) = ($header{dprof_options} // '') =~ /\bslice=(\d{1,9})(?!\d)/;
    %$entry = (%$entry, run => identity_of($file, \%header), seconds => $seconds,
        seconds_of_slice => $of_slice || $seconds,
        start => $start // ($modified > $seconds ? int($modified - $seconds) : 0),
        script => ($header{dprof_script} // '') =~ s{.*/}{}sr);
    remove_copies($entry);
    return $entry;
}

# Returns the seconds of a recording from its header, including the recorder's own time.
sub seconds_of {
    my ($header) = @_;
    my ($hz, $ticks, $own) = map { $_ // '' } @$header{qw(hz rrun_rtime dprof_own_real)};
    return 0 if $hz !~ /\A[1-9]\d{0,11}\z/ || $ticks !~ /\A\d{1,18}\z/;
    $ticks += $own if $own =~ /\A\d{1,18}\z/;
    return sprintf('%.6f', $ticks / $hz) + 0;
}

# Returns the identity of a recording, RUN-PID-TID-SLICE, from its header. If the header has no run,
# a digest of the contents replaces that.
sub identity_of {
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

# ---- removal ----

# Returns the names of an entry's files in its spool: beside a part there may be two others.
sub names {
    my ($entry) = @_;
    my $name = $entry->{name};
    return $name if $name !~ /\.part\z/;
    return ($name, grep { $entry->{spool}{dir}->is_there($_) } map { "$name.$_" } qw(live new));
}

# Removes the files of an entry. Returns undef, or the reason if one could not be removed.
sub remove {
    my ($entry) = @_;
    return unlink($entry->{path}) || $!{ENOENT} ? undef : "$entry->{path} could not be removed: $!"
        if $entry->{single};
    my $dir = $entry->{spool}{dir};
    for my $name (names($entry), $entry->{merged} // ()) {
        my @is = $name eq $entry->{name} && $entry->{is} ? @{ $entry->{is} } : $dir->stat($name);
        next if !@is || $dir->remove($name, @is) || $!{ENOENT};
        return $dir->path($name) . ' could not be removed: ' . failure_reason();
    }
    return;
}

# Moves a refused entry to refused/, with the answer beside it. Returns the new path. Dies if that
# is impossible.
sub move_aside {
    my ($self, $entry, $failure) = @_;
    my ($dir, $name) = ($self->{dir}, $entry->{name});
    my $to = $dir->below('refused', make => 1)
        // failed($dir->path('refused') . ($!{EINVAL} ? ' ' . Devel::DProf::Dir::why()
            . '; remove it' : " could not be opened: $!"));
    for my $more (names($entry)) {
        next if $dir->move($more, $to, $more) || $more ne $name;
        failed($dir->path($name) . ' could not be moved to ' . $to->path . ": $!");
    }
    $dir->remove($entry->{merged}, $dir->stat($entry->{merged})) if defined $entry->{merged};
    my $answer = length $failure->answer ? $failure->answer =~ s/\n?\z/\n/r : '';
    Devel::DProf::Write::whole("$name.why", sub {
        return print({ $_[0] } $failure->message, "\n", $answer) ? 0 : 1;
    }, dir => $to);
    return $to->path($name);
}

# Removes the profiles that were refused first, with their answers, until refused/ has at most LIMIT
# bytes. LAST stays, because a message has just named its path. Returns the number of removed
# profiles.
sub trim_refused {
    my ($self, $limit, $last) = @_;
    my $dir = $self->{dir}->below('refused') // return 0;
    my ($sum, %of) = (0);
    for my $name ($dir->names) {
        my @is = $dir->stat($name);
        next if !@is || !S_ISREG($is[2]);
        my $one = $of{ $name =~ s/\.(?:why|live|new)\z//r } //= { size => 0, time => 0 };
        push @{ $one->{files} }, [$name, @is];
        $one->{size} += $is[3];
        $sum += $is[3];
        # Moving a profile keeps its mtime, so the mtime of the answer (.why) says when it was
        # refused.
        $one->{ $name =~ /\.why\z/ ? 'answered' : 'time' } = $is[4];
    }
    $_->{time} = $_->{answered} // $_->{time} for values %of;
    my @oldest = grep { $dir->path($_) ne $last }
        sort { $of{$a}{time} <=> $of{$b}{time} || $a cmp $b } keys %of;
    my $gone = 0;
    while (@oldest && $sum > $limit) {
        my $one = $of{ shift @oldest };
        next if grep { !$dir->remove(@$_) && !$!{ENOENT} } @{ $one->{files} };
        $sum -= $one->{size};
        $gone++;
    }
    return $gone;
}

# ---- merging ----

# A merged profile is made in three steps, which can be interrupted anywhere: write the list of its
# members (.ID.merged), write the profile (ID.tree), remove the members. As long as the list exists,
# the profile has not arrived yet, and members that still exist must not be pushed on their own.

# Merges identified entries by service and by intervals of SECONDS, with the first seconds of
# processes apart from the others, and returns the entries to push. Entries that are merged already
# stay as they are. If NOW is given, only intervals are merged that no slice can belong to any more:
# those that ended longer ago than a slice lasts. REPORT is called with a message and an entry that
# cannot be merged.
sub merged {
    my ($self, $entries, $seconds, $report, $now) = @_;
    my (%group, @done);
    for my $entry (@$entries) {
        my $interval = sprintf '%012d', $entry->{start} / $seconds;
        if (defined $entry->{merged}) { push @done, $entry }
        else {
            my $kind = Devel::DProf::Store::RunSet::kind_of_slice($entry);
            push @{ $group{"$interval $entry->{service} $kind"} }, $entry;
        }
    }
    for my $key (sort keys %group) {
        my ($longest) = sort { $b <=> $a } map { $_->{seconds} } @{ $group{$key} };
        # A slice arrives when it ends, which may be after the end of the interval.
        next if defined $now && $now < ($key =~ s/ .*//sr + 1) * $seconds + $longest;
        push @done, $self->merge_group($group{$key}, $key =~ s/.* //sr, $report);
    }
    return @done;
}

# Merges entries into one, and returns that, or nothing if none can be read. Entries that cannot be
# read are reported and stay.
sub merge_group {
    my ($self, $entries, $kind, $report) = @_;
    my (%bad, %entry);
    my $input = Devel::DProf::Input->new(detail => 1, phases => 1);
    my ($sum) = $input->sum({}, sub {
        my ($o, $why) = @_;
        $why = defined $why ? "$o->{path}: $why" : Devel::DProf::Store::unusable($o) // return 1;
        my $entry = $entry{ $o->{path} };
        $bad{ $entry->{path} } = 1;
        $report->($why, $entry);
        return 0;
    }, map { $entry{ $_->{path} } = $_; $self->copy_to_read($_, \%bad, $report) } @$entries);
    remove_copies(@$entries);
    my @good = grep { !$bad{ $_->{path} } } @$entries;
    return @good ? $self->replace_by_merged($sum, $kind, @good) : ();
}

# Returns the path of a copy, or nothing, after a report, if the file cannot be copied any more.
sub copy_to_read {
    my ($self, $entry, $bad, $report) = @_;
    my $path = eval { file_of($entry) };
    return $path if defined $path;
    my $failure = Devel::DProf::Store::Failure->of($@);
    die $failure if $failure->retry;
    $bad->{ $entry->{path} } = 1;
    $report->($failure->message, $entry);
    return;
}

# Writes a merged profile into the spool, then removes its members. The list .RUN.merged is written
# first, so that a process that dies in between leaves what `resumed` needs.
sub replace_by_merged {
    my ($self, $sum, $kind, @members) = @_;
    my ($start) = sort { $a <=> $b } map { $_->{start} } @members;
    my ($end) = sort { $b <=> $a } map { $_->{start} + $_->{seconds} } @members;
    my $run = 'merged.' . Digest::MD5::md5_hex(join "\n", sort map { $_->{run} } @members)
        . "-0-0-$kind";
    my $entry = $self->make_entry(run => $run, name => "$run.tree", merged => ".$run.merged",
        start => $start, seconds => sprintf('%.6f', $end - $start) + 0,
        script => $members[0]{script});
    my $list = join '', "$run $entry->{start} $entry->{seconds} " . escaped($entry->{script})
        . "\n", map { escaped($_->{name}) . "\n" } @members;
    my $dir = $self->{dir};
    my $why = Devel::DProf::Write::whole($entry->{merged},
        sub { return print({ $_[0] } $list) ? 0 : 1 }, dir => $dir)
        // Devel::DProf::Write::whole($entry->{name},
            sub { return $sum->write_tree($_[0], $VERSION, {}) }, dir => $dir);
    if (defined $why) {
        $dir->remove($entry->{merged}, $dir->stat($entry->{merged}));
        failed("$entry->{path} could not be written: $why", retry => 1);
    }
    for my $member (@members) {
        my $why = remove($member);
        failed($why, retry => 1) if defined $why;
    }
    return $entry;
}

# Completes the work of a process that was interrupted while it merged. Returns the merged profiles
# that did not arrive yet, as entries. A list causes files to be removed, so only lists of this user
# or root are trusted.
sub resumed {
    my ($self) = @_;
    my $dir = $self->{dir};
    my @names = sort $dir->names;
    my @entries;
    # We have the lock, so no other process is writing these.
    $self->drop(grep { /\A\.?merged\.[^\/]+\.[0-9a-f]+\.new\z/ } @names) if $self->{lock};
    for my $list (grep { /\A\.merged\..*\.merged\z/s } @names) {
        my $file = $dir->read($list) // next;
        read $file, my $text, MOST_LIST;
        my ($head, @members) = split /\n/, $text // '';
        my ($run, $start, $seconds, $script)
            = ($head // '') =~ /\A([^\s\/\0]+) (\d+(?:\.\d+)?) (\d+(?:\.\d+)?) (\S+)\z/;
        if (!defined $run || !$dir->read("$run.tree")) {
            $self->drop($list);
            next;
        }
        for my $name (grep { !m{[/\0]} } map { unescaped($_) } @members) {
            my @files = map { "$name$_" } '', $name =~ /\.part\z/ ? qw(.live .new) : ();
            $dir->remove($_, $dir->stat($_)) for grep { $dir->is_there($_) } @files;
        }
        push @entries, $self->make_entry(run => $run, start => $start, seconds => $seconds,
            name => "$run.tree", script => unescaped($script), merged => $list);
    }
    return @entries;
}

# Removes files of the spool, if they belong to this user or to root.
sub drop {
    my ($self, @names) = @_;
    for my $name (@names) {
        my $file = $self->{dir}->read($name) // next;
        $self->{dir}->remove($name, stat $file);
    }
    return;
}

1;
