package Devel::DProf::Store::Sides;

# Turns run-sets of a store into sides of files, so that tools treat them like files.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_K_SCRIPT DP_K_PID DP_K_THREAD);
use Devel::DProf::Store;
use Devel::DProf::Store::RunSet;
use Devel::DProf::Text qw(text plural);
use Devel::DProf::Tool qw(OK FAILED complain);
use Devel::DProf::View qw(key);

our $VERSION = $Devel::DProf::Core::VERSION;

# If sides are compared and have more than MOST_RUNS hosts or runs, these are put into buckets.
use constant { MOST_RUNS => 50, BUCKETS => 20 };
# The least pairs; with fewer, a comparison of all hosts detects more than the pairs' differences.
use constant LEAST_PAIRS => 6;
use constant WARM => Devel::DProf::Store::RunSet::WARM;

# Temporary folders with the files that stores have written for us.
my @FOLDERS;

# Replaces names on a tool's command line by the sides that its options select from a store. Returns
# 0 and the sides and other names, or, after a message, an exit status.
sub take {
    my ($tool, $opt, $names) = @_;
    my ($url, $bisect) = @$opt{qw(from bisect)};
    my @sets = (@{ $opt->{'run-set'} || [] }, $bisect // ());
    return $tool->usage('--buckets goes with --run-set SET') if !defined $url && !@sets;
    # A single run-set has all sides of --bisect.
    my $compares = ($tool->compares || $opt->{diff}) && !defined $bisect;
    my @sides = eval {
        sides_of($url // $ENV{DPROF_STORE}, \@sets, $names, buckets => $opt->{buckets},
            sums => takes_sums($tool->name, $opt),
            later => defined $bisect || defined $opt->{history} ? 1 : 0, compares => $compares,
            warm => defined $bisect || defined $opt->{history} ? WARM : 0,
            option => defined $bisect ? '--bisect' : '--run-set');
    };
    if (!@sides) {
        return $tool->usage($@) if !ref $@;
        complain($tool->name . ': ' . $@->message);
        return FAILED;
    }
    return $tool->usage('a second side is missing: --run-set A B')
        if $compares && @sides < 2 && !$opt->{run};
    return (OK, @sides);
}

# Tools that only add up what a side's profiles have.
my %SUMS = map { $_ => 1 } qw(dprofreport dprofdiff dproffold dprofmerge);

# The keys that tell files apart. Words that are no key, such as span, tell them apart, too.
my %OF_FILE = map { $_ => 1 } DP_K_SCRIPT, DP_K_PID, DP_K_THREAD;

# Returns whether a tool with these options reads sums of profiles like the profiles.
sub takes_sums {
    my ($name, $opt) = @_;
    # Repeated spans that are equally frequent stand in the order in which profiles were read. The
    # growth is that from one profile to the next.
    return 0 if !$SUMS{$name}
        || grep { defined $opt->{$_} } qw(time pid tid C processes kind growth);
    my @keys = grep { length } split /,/, $opt->{s} // '';
    return !grep { $OF_FILE{ eval { key($_) } // DP_K_PID } } @keys;
}

# Returns the sides of run-sets: those of the options, then those among NAMES, such as service=web
# if no file has that name. Other names are those of files, and are returned unchanged, in their
# place. HOW: compares, if the sides are compared; buckets, their number; warm, as in
# choose_profiles(); sums, if the tool can read sums of profiles; later, if it calls
# files_of_groups() itself, and takes `store' and `selected' of the sides; option, for messages. If
# run-sets alone are compared, compared_sides() makes their runs. If sides are added up, a profile
# counts once. Dies with a string if the words are wrong, and with a Failure if the store fails or
# has no such profiles.
sub sides_of {
    my ($url, $sets, $names, %how) = @_;
    my @words = ((map { [$_, 1] } @$sets),
        map { [$_, /\A\s*[a-z]+=/ && !-e ? 1 : 0] } @$names);
    die "--run-set says which profiles of the store: --run-set 'service=web since=1h'\n"
        if !grep { $_->[1] } @words;
    die "$how{option} needs a store: --from STORE, or DPROF_STORE in the environment\n"
        if !length($url // '');
    my $now = time;
    $_->[2] = Devel::DProf::Store::RunSet::parse($_->[0], $now) for grep { $_->[1] } @words;
    my $store = Devel::DProf::Store::open($url);
    $store->can('select')
        or Devel::DProf::Store::failed("$url is a receiver, which cannot give profiles back");
    if ($how{compares} && @words == grep { $_->[1] } @words) {
        my @sets = map {
            my ($said, @selected) = choose_profiles($store, @$_[0, 2], WARM);
            [$_->[0], $said, \@selected];
        } @words;
        return compared_sides(\@sets, $store, %how);
    }
    # If sets are added up, a profile that is in several of them counts once.
    my $seen = $how{compares} ? undef : {};
    return map { $_->[1] ? side_of_set($store, @$_[0, 2], $seen, %how) : $_->[0] } @words;
}

# Selects the profiles of a run-set from the store. Returns a remark about which of them were left
# out, then the profiles. WARM: the first seconds of each process that are left out if the set has
# no warm=.
sub choose_profiles {
    my ($store, $words, $set, $warm) = @_;
    my @selected = $store->select($set)
        or Devel::DProf::Store::failed("$words: the store has no such profiles; dprofstore list "
            . 'shows what it has');
    my @warm = Devel::DProf::Store::RunSet::warmed($set, $warm, @selected);
    Devel::DProf::Store::failed("$words: no process was recorded for longer than warm=")
        if !@warm && $set->{warm};
    my $name = $warm && defined $set->{warm} ? $set->{warm} . 's' : '2m';
    my $said = !@warm ? "all of them from the first $name of a process"
        : @warm < @selected ? "without the first $name of each process" : '';
    return ($said, @warm ? @warm : @selected);
}

# Gets the files of profiles from the store. Returns a list of paths for each group, a list of
# profiles. SUMS: undef if each profile must have its file; else the options of the store's sums(),
# which makes few files for many profiles. Folders with such files are removed when the process
# ends.
sub files_of_groups {
    my ($store, $sums, @groups) = @_;
    require File::Temp;
    push @FOLDERS, my $folder = File::Temp->newdir;
    if ($sums && $store->can('sums')) {
        my @paths = $store->sums(\@groups, "$folder", %$sums);
        return @paths if @paths;
    }
    my @paths = $store->fetch([map { @$_ } @groups], "$folder");
    return map { [splice @paths, 0, scalar @$_] } @groups;
}

# Returns a run-set as a side: its profiles are grouped into runs or, if there are too many, into
# buckets of runs, if the sides are compared; otherwise, they are one run. SEEN leaves out profiles
# that an earlier side has.
sub side_of_set {
    my ($store, $words, $set, $seen, %how) = @_;
    my ($warm, @selected) = choose_profiles($store, $words, $set, $how{warm} // 0);
    @selected = grep { !$seen->{ Devel::DProf::Store::recording($_) }++ } @selected
        if $seen;
    my @runs = $how{later} ? () : $how{compares} ? runs(@selected) : \@selected;
    my $count = @runs;
    @runs = bucketed($how{buckets}, @runs) if $how{compares};
    my $name = name_side($words, join ', ', grep { length } $warm, @runs < $count
        ? "$count runs in " . plural(@runs + 0, 'bucket') : '');
    return { name => $name, selected => \@selected, store => $store,
        bucketed => @runs < $count ? 1 : 0,
        runs => [@runs ? files_of_groups($store, $how{sums} ? {} : undef, @runs) : ()] };
}

# Returns the name of a side: the words of its run-set, and facts in parentheses.
sub name_side {
    my ($words, $facts) = @_;
    my $name = text($words =~ s/\A\s+|\s+\z//gr);
    return length $facts ? ($name eq '' ? '' : "$name ") . "($facts)"
        : $name eq '' ? 'all profiles' : $name;
}

# ---- sides that are compared ----

# Turns run-sets, [WORDS, REMARK, [PROFILE, ...]] each, into sides with a run for each host, because
# all profiles of a host share what distinguishes it from others. If all profiles come from one
# host, each of its processes is a run; and if none of these has several slices, they are ordinary
# runs.
sub compared_sides {
    my ($sets, $store, %options) = @_;
    my %how = (unit => 'host', wanted => $options{buckets}, sums => $options{sums});
    my @groups = map { by_unit('host', @{ $_->[2] }) } @$sets;
    my %hosts = map { $_ => 1 } map { keys %$_ } @groups;
    if (keys %hosts < 2) {
        $how{unit} = 'process';
        @groups = map { by_unit('process', @{ $_->[2] }) } @$sets;
    }
    $how{is_server} = $how{unit} eq 'host'
        || grep { @$_ > 1 && is_sliced(@$_) } map { values %$_ } @groups;
    $how{pairs} = [paired_hosts(@groups)] if $how{unit} eq 'host' && @groups == 2;
    return map { side_of_units($store, $groups[$_], \%how, @{ $sets->[$_] }) } 0 .. $#$sets;
}

# Returns a run-set as a side whose values are hosts or processes, or pairs of hosts, and not runs.
# $of: lists of their profiles by name.
sub side_of_units {
    my ($store, $of, $how, $words, $warm, $selected) = @_;
    my @pairs = @{ $how->{pairs} || [] };
    my @all = @pairs ? map({ $of->{$_} } @pairs) : in_time(values %$of);
    my @units = bucketed_units($how->{wanted}, @pairs ? 1 : 0, @all);
    my $facts = side_facts($how, scalar @$selected, scalar @all, scalar @units);
    return { selected => $selected, bucketed => @units < @all ? 1 : 0,
        $how->{is_server} ? (unit => $how->{unit}, paired => @pairs ? 1 : 0) : (),
        runs => [files_of_groups($store, $how->{sums} ? {} : undef, @units)],
        name => name_side($words, join ', ', grep { length } $facts, $warm) };
}

# Returns profiles grouped by host, or by process: a reference to a hash of lists.
sub by_unit {
    my ($unit, @profiles) = @_;
    my %of;
    for my $p (@profiles) {
        my $process = $p->{run} =~ /\A(?!md5\.|merged\.)(.*)-\d+-\d+-\d+\z/s ? $1 : $p->{run};
        push @{ $of{ $unit eq 'host' ? $p->{host} // '' : $process } }, $p;
    }
    return \%of;
}

# Returns whether one of the profiles is a second or later slice of its process.
sub is_sliced { return scalar grep { Devel::DProf::Store::RunSet::slice_of($_) > 1 } @_ }

# Returns lists of profiles sorted by the start of their first profiles.
sub in_time {
    return sort { $a->[0]{start} <=> $b->[0]{start} || $a->[0]{run} cmp $b->[0]{run} } @_;
}

# Returns the hosts that ran both versions, if all hosts of the smaller side did: then differences
# between hosts cancel out.
sub paired_hosts {
    my ($one, $other) = @_;
    my @both = sort grep { $other->{$_} } keys %$one;
    my ($fewer) = sort { $a <=> $b } map { scalar keys %$_ } $one, $other;
    return @both == $fewer && @both >= LEAST_PAIRS ? @both : ();
}

# Returns the profiles of hosts in buckets if there are too many hosts, in the same way on both
# sides if the hosts are paired. There are never more buckets than hosts.
sub bucketed_units {
    my ($wanted, $is_paired, @units) = @_;
    return @units if @units <= ($wanted || MOST_RUNS);
    $wanted ||= BUCKETS;
    return of_hosts($wanted, @units) if !$is_paired;
    my @buckets;
    push @{ $buckets[$_ % $wanted] }, @{ $units[$_] } for 0 .. $#units;
    return @buckets;
}

# Returns in words how many profiles, units and buckets a side has.
sub side_facts {
    my ($how, $profiles, $count, $buckets) = @_;
    my $in = $buckets < $count ? ' in ' . plural($buckets, 'bucket') : '';
    return length $in ? "$count runs$in" : '' if !$how->{is_server};
    my $units = plural($count, $how->{unit}, $how->{unit} eq 'host' ? 'hosts' : 'processes');
    return plural($profiles, 'profile') . " of $units"
        . (@{ $how->{pairs} || [] } ? ' that ran both' : '') . $in;
}

# Returns profiles as a list of runs, as Devel::DProf::Sides does with files: processes and threads
# of a run belong together, slices do not.
sub runs {
    my (%run_of, @runs);
    for my $profile (@_) {
        my ($id, $slice) = $profile->{run} =~ /\A(.*)-\d+-\d+-(\d+)\z/s;
        my $is_alone = !defined $id || $slice || $id =~ /\A(?:md5|merged)\./;
        my $run = $is_alone ? undef : $run_of{$id};
        if (!$run) {
            push @runs, $run = [];
            $run_of{$id} = $run if !$is_alone;
        }
        push @$run, $profile;
    }
    return @runs;
}

# Returns buckets of runs if there are too many runs, else the runs. WANTED: the number of
# --buckets, or undef.
sub bucketed {
    my ($wanted, @runs) = @_;
    return @runs <= ($wanted || MOST_RUNS) ? @runs : buckets($wanted || BUCKETS, @runs);
}

# Returns profiles as a run for each host, or for each bucket of hosts.
sub hosts {
    my ($wanted, @profiles) = @_;
    my $of = by_unit('host', @profiles);
    return bucketed_units($wanted, 0, map { $of->{$_} } sort keys %$of);
}

# Returns runs in buckets by host, because all runs of a host share what distinguishes it. The runs
# of a single host are put together by time, because a disturbance lasts for a while.
sub buckets {
    my ($wanted, @runs) = @_;
    my %of;
    push @{ $of{ $_->[0]{host} // '' } }, $_ for @runs;
    my @hosts = map { $of{$_} } sort { @{ $of{$b} } <=> @{ $of{$a} } || $a cmp $b } keys %of;
    return map { [map { @$_ } @$_] } @hosts == 1 ? of_times($wanted, @hosts)
        : of_hosts($wanted < @hosts ? $wanted : scalar @hosts, @hosts);
}

# Returns WANTED buckets of whole hosts: each host goes to the bucket with the fewest runs, largest
# hosts first.
sub of_hosts {
    my ($wanted, @hosts) = @_;
    my @buckets = map { [] } 1 .. $wanted;
    for my $host (@hosts) {
        my ($least) = sort { @{ $buckets[$a] } <=> @{ $buckets[$b] } || $a <=> $b } 0 .. $#buckets;
        push @{ $buckets[$least] }, @$host;
    }
    return @buckets;
}

# Returns WANTED buckets of runs that follow one another.
sub of_times {
    my ($wanted, $runs) = @_;
    $wanted = @$runs if $wanted > @$runs;
    my @cut = map { int(@$runs * $_ / $wanted) } 0 .. $wanted;
    return map { [@$runs[$cut[$_] .. $cut[ $_ + 1 ] - 1]] } 0 .. $wanted - 1;
}

1;
