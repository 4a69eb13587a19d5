package Devel::DProf::Store::Dir;

# A store in a folder: DIR/SERVICE/VERSION/YYYYMMDD/HHMMSS-HOST-IDENTITY-ENV-SECONDS.tree.gz. The
# path has all facts of a profile, so no file has to be opened to find it.

use strict;
use warnings;

use Cwd ();
use Errno ();
use POSIX ();
use Time::Local ();
use Devel::DProf::Store qw(failed escaped unescaped);
use Devel::DProf::Store::RunSet;
use Devel::DProf::Write;

our $VERSION = $Devel::DProf::Core::VERSION;

# The longest name that file systems allow, less the letters of a temporary name.
use constant LONGEST => 190;

# Makes a store in a folder, which need not exist yet.
sub new {
    my ($class, $path) = @_;
    # A tool may change to another folder before it reads.
    $path = Cwd::getcwd() . "/$path" if $path !~ m{\A/};
    return bless { path => $path =~ s{(?<=.)/+\z}{}r }, $class;
}

# Returns the path of the file that marks a folder as a store. If a file system is not mounted, the
# file is missing; then nothing must be written there, and no original be removed as if it had
# arrived.
sub mark { return "$_[0]{path}/.dprofstore" }

# Makes the folder a store, by a file that marks it. Returns what was done, for people.
sub init {
    my ($self) = @_;
    return "$self->{path} is a store" if -e $self->mark;
    my $is_there = -d $self->{path};
    make_folder($self->{path});
    my $why = Devel::DProf::Write::whole($self->mark,
        sub { return print({ $_[0] } "1\n") ? 0 : 1 }, replace => 1);
    failed($self->mark . " could not be written: $why", retry => 1) if defined $why;
    return "$self->{path} was " . ($is_there ? 'there, and is a store now' : 'made');
}

# Dies if the folder is no store.
sub check {
    my ($self) = @_;
    return if -e $self->mark;
    failed("$self->{path} " . (-d $self->{path} ? 'is no store' : 'does not exist')
        . ': dprofstore init makes it one', retry => 1);
}

# Makes a folder and those above it. Other processes may do so at the same time.
sub make_folder {
    my ($path) = @_;
    return if -d $path;
    return if mkdir $path;
    if ($!{ENOENT} && $path =~ m{\A(.*[^/])/+[^/]+\z}s) {
        make_folder($1);
        return if mkdir $path;
    }
    return if $!{EEXIST} && -d $path;
    failed("$path: the folder could not be made: $!", retry => 1);
}

# ---- names ----

# Returns where the store keeps a profile: the folder below that of the store, and the name in it.
# Dies if a fact about the profile cannot be in a name.
sub place_of {
    my ($p) = @_;
    my $identity = $p->{run} // '';
    $identity =~ /\A[^-\/%\s]+-\d+-\d+-\d+\z/
        or failed("$identity: an identity is RUN-PID-TID-SLICE");
    my $start = $p->{start} || 0;
    failed("$start: a profile's start must be seconds since 1970")
        if $start !~ /\A\d{1,11}(?:\.\d+)?\z/;
    my ($whole, $fraction) = split /(?=\.)/, sprintf '%.6f', $start;
    my ($day, $time) = split / /, POSIX::strftime('%Y%m%d %H%M%S', gmtime $whole);
    my ($service, $version, $host, $env) = map { escaped($_ // '') } @$p{qw(service version host
        env)};
    my $name = join '-', $time . $fraction, $host, $identity,
        $env =~ s/-/%2D/gr, sprintf('%.6f', $p->{seconds} || 0);
    for ($service, $version, $name) {
        failed("$_: the name is too long for a folder of profiles") if length > LONGEST;
    }
    return ("$service/$version/$day", "$name.tree.gz");
}

my $NAME = qr/\A(\d\d)(\d\d)(\d\d)(\.\d{6})-(.+)-([^-]+-\d+-\d+-\d+)-([^-]+)-(\d+\.\d{6})
    \.tree\.gz\z/xs;

# Returns the facts about a profile, as a hash, from the names of its folders and file, or nothing
# if the file is none of this store's.
sub profile_of {
    my ($service, $version, $day, $name) = @_;
    my ($year, $month, $mday) = $day =~ /\A(\d{4,5})(\d\d)(\d\d)\z/ or return;
    my ($h, $m, $s, $fraction, $host, $run, $env, $seconds) = $name =~ $NAME or return;
    my $time = eval { Time::Local::timegm($s, $m, $h, $mday, $month - 1, $year) } // return;
    return {
        run => $run, start => $time + $fraction, seconds => $seconds + 0,
        service => unescaped($service), version => unescaped($version),
        host => unescaped($host), env => unescaped($env),
        path => "$service/$version/$day/$name",
    };
}

# ---- adding ----

# Adds profiles, each as a file in the folder of its day. A file that is there already is the same
# profile, sent again after a failure.
sub add {
    my ($self, $profiles) = @_;
    $self->check;
    # A profile that cannot be kept makes this fail before any is written.
    my @places = map { [place_of($_)] } @$profiles;
    my %days;
    for my $i (0 .. $#$profiles) {
        my ($day) = $places[$i][0] =~ m{([^/]+)\z};
        $self->refuse_other($profiles->[$i], $days{$day} //= $self->of_day($day, $profiles));
    }
    for my $i (0 .. $#$profiles) {
        my ($folder, $name) = @{ $places[$i] };
        next if -e "$self->{path}/$folder/$name";
        make_folder("$self->{path}/$folder");
        $self->keep_profile("$folder/$name", $profiles->[$i]{file});
    }
    return;
}

# Returns paths by identity: the profiles of a day that have the identity of one in the list.
sub of_day {
    my ($self, $day, $profiles) = @_;
    my %of = map { $_->{run} => [] } @$profiles;
    for my $service (names_in($self->{path})) {
        for my $version (names_in("$self->{path}/$service")) {
            my $folder = "$self->{path}/$service/$version/$day";
            for my $name (names_in($folder)) {
                my ($run) = $name =~ /-([^-]+-\d+-\d+-\d+)-[^-]+-[^-]+\.tree\.gz\z/
                    or next;
                push @{ $of{$run} }, "$folder/$name" if $of{$run};
            }
        }
    }
    return \%of;
}

# Dies if the store has a profile of the same identity with other contents: only one of the two
# would be counted. of_day: the paths of the day's profiles by identity.
sub refuse_other {
    my ($self, $p, $of_day) = @_;
    my $there = $of_day->{ $p->{run} };
    for my $path (grep { -e } @$there) {
        next if $path eq $p->{file} || Devel::DProf::Store::is_same($path, $p->{file});
        failed("$p->{file}: another profile has the same run, process, thread and slice "
            . "($p->{run}), and other contents: $path; keep one of the two");
    }
    push @$there, $p->{file};
    return;
}

# Writes the profile in FILE to PLACE in the store, as a whole or not at all.
sub keep_profile {
    my ($self, $place, $file) = @_;
    my $code = Devel::DProf::Store::tree_writer($file);
    my $why = Devel::DProf::Write::whole("$self->{path}/$place", sub {
        my ($out) = @_;
        my $rc = $code->($out);
        # The caller removes the original next, so the copy must be on the disk.
        return $rc || ($out->flush && ($out->sync || $!{EINVAL}) ? 0 : 1);
    }, replace => 1);
    failed("$self->{path}/$place could not be written: $why", retry => 1) if defined $why;
    return;
}

# ---- finding ----

# Returns the names in a folder, sorted, without those that begin with a dot.
sub names_in {
    my ($path) = @_;
    opendir my $in, $path or return;
    return sort grep { !/\A\./ } readdir $in;
}

# Calls CODE with each profile of a run-set, a hash, regardless of limit. Folders that cannot match
# are not read.
sub each_of {
    my ($self, $set, $code) = @_;
    $self->check;
    my $is_in = Devel::DProf::Store::RunSet::matcher($set);
    my %wanted = map { $_ => glob_matcher($set->{$_}) } qw(service version);
    my ($first, $last) = bounds($set);
    for my $service (grep { $wanted{service}->($_) } names_in($self->{path})) {
        for my $version (grep { $wanted{version}->($_) } names_in("$self->{path}/$service")) {
            for my $day (names_in("$self->{path}/$service/$version")) {
                next if $day lt substr($first, 0, 8) || $day gt substr $last, 0, 8;
                for my $name (names_in("$self->{path}/$service/$version/$day")) {
                    my $second = $day . substr $name, 0, 6;
                    next if $second lt $first || $second gt $last;
                    my $profile = profile_of($service, $version, $day, $name) or next;
                    $code->($profile) if $is_in->($profile);
                }
            }
        }
    }
    return;
}

# Returns a sub that returns whether the name of a folder matches a glob; undef matches everything.
sub glob_matcher {
    my ($glob) = @_;
    return sub { return 1 } if !defined $glob;
    my $pattern = Devel::DProf::Store::RunSet::pattern($glob);
    return sub { return unescaped($_[0]) =~ $pattern };
}

# Returns the first and the last second that a run-set allows, in the form in which names begin, so
# that most names need not be parsed. With `at' there is no first second, as a profile may have
# begun long before.
sub bounds {
    my ($set) = @_;
    my ($end) = sort { $a <=> $b } grep { defined } @$set{qw(until older at)};
    my $name = sub { return POSIX::strftime('%Y%m%d%H%M%S', gmtime($_[0] < 0 ? 0 : $_[0])) };
    return (defined $set->{since} ? $name->($set->{since}) : '',
        defined $end ? $name->($end) : '99999999999999');
}

# Returns the profiles of a run-set, as hashes.
sub select {
    my ($self, $set) = @_;
    return without_copies($set, $self->all_of($set));
}

# Returns all profiles that meet the conditions of a run-set, even if they are copies.
sub all_of {
    my ($self, $set) = @_;
    my @all;
    $self->each_of($set, sub { push @all, $_[0] });
    return @all;
}

# Returns those of the profiles that a run-set selects. A profile that was pushed twice, for example
# under two services, counts once.
sub without_copies {
    my ($set, @all) = @_;
    my %seen;
    return Devel::DProf::Store::RunSet::in_order($set,
        grep { !$seen{ Devel::DProf::Store::recording($_) }++ } @all);
}

# Returns the paths of the selected profiles' files.
sub fetch {
    my ($self, $selected) = @_;
    return map { "$self->{path}/$_->{path}" } @$selected;
}

# Returns for each of the selected profiles whether it has samples instead of calls.
sub are_sampled {
    my ($self, $selected) = @_;
    return map { my %header = Devel::DProf::Input::header_of("$self->{path}/$_->{path}");
        ($header{dprof_counters} // '') =~ /\bsamples\b/ ? 1 : 0 } @$selected;
}

# Returns what the store has of a run-set: a row for each service and version. Without limit=,
# profiles are counted one by one, as a list of all would take much memory.
sub list {
    my ($self, $set) = @_;
    return Devel::DProf::Store::rows_of($self->select($set)) if $set->{limit};
    my (%seen, %rows);
    $self->each_of($set, sub {
        Devel::DProf::Store::counted(\%rows, $_[0])
            if !$seen{ Devel::DProf::Store::recording($_[0]) }++;
    });
    return Devel::DProf::Store::rows(\%rows);
}

# Removes files that killed pushes have left incomplete: those older than a day, as no push takes
# that long.
sub remove_incomplete {
    my ($folder) = @_;
    for my $path (map { "$folder/$_" } grep { /\.[0-9a-f]{16}\.new\z/ } names_in($folder)) {
        unlink $path if -M $path > 1;
    }
    return;
}

# Removes the profiles of a run-set, and folders that become empty. Returns the number of recordings
# that are gone.
sub prune {
    my ($self, $set) = @_;
    my @all = $self->all_of($set);
    my %is_selected = map { Devel::DProf::Store::recording($_) => 1 } without_copies($set, @all);
    my (%gone, %folders);
    for my $profile (grep { $is_selected{ Devel::DProf::Store::recording($_) } } @all) {
        my $path = "$self->{path}/$profile->{path}";
        if (unlink $path) { $gone{ Devel::DProf::Store::recording($profile) } = 1 }
        elsif (!$!{ENOENT}) { failed("$path could not be removed: $!", retry => 1) }
        $folders{ $profile->{path} =~ s{/[^/]+\z}{}r } = 1;
    }
    remove_incomplete("$self->{path}/$_") for keys %folders;
    # rmdir keeps folders that are not empty.
    for my $folder (sort keys %folders) {
        while (rmdir "$self->{path}/$folder") { $folder =~ s{/[^/]+\z}{} or last }
    }
    return scalar keys %gone;
}

1;
