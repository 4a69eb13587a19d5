package Devel::DProf::Store::Sides;

# Turns run-sets of a store into sides of files, so that tools treat them like files.

use strict;
use warnings;

use Devel::DProf::Store;
use Devel::DProf::Store::RunSet;
use Devel::DProf::Text qw(text plural);
use Devel::DProf::Tool qw(OK FAILED complain);

our $VERSION = $Devel::DProf::Core::VERSION;

# If sides are compared and have more than MOST_RUNS hosts or runs, these are put into buckets.
use constant { MOST_RUNS => 50, BUCKETS => 20 };
# The least pairs; with fewer, a comparison of all hosts detects more than the pairs' differences.
use constant LEAST_PAIRS => 6;
use constant WARM => Devel::DProf::Store::RunSet::WARM;

# Temporary folders with the files that stores have written for us.
my @FOLDERS;

# Returns 0, and the sides that a tool's options select in place of names; or, after a message, an
# exit status.
sub take {
    my ($tool, $opt, $names) = @_;
    my ($url, $bisect) = @$opt{qw(from bisect)};
    my @sets = (@{ $opt->{'run-set'} || [] }, $bisect // ());
    return $tool->usage('--buckets goes with --run-set SET') if !defined $url && !@sets;
    # A single run-set has all sides of --bisect.
    my $compares = ($tool->compares || $opt->{diff}) && !defined $bisect;
    my @sides = eval {
        sides($url // $ENV{DPROF_STORE}, \@sets, $names, buckets => $opt->{buckets},
            compares => $compares, warm => defined $bisect || defined $opt->{history} ? WARM : 0,
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

# Returns the sides of run-sets: those of the options, then those among NAMES, such as service=web
# if no file has that name. Other names are those of files, and are returned unchanged, in their
# place. HOW: compares, if the sides are compared; buckets, their number; warm, as in chosen();
# option, for messages. If run-sets alone are compared, compared() makes their runs. If sides are
# added up, a profile counts once. Dies with a string if the words are wrong, and with a Failure if
# the store fails or has no such profiles.
sub sides {
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
            my ($said, @selected) = chosen($store, @$_[0, 2], WARM);
            [$_->[0], $said, \@selected];
        } @words;
        return compared(\@sets, $store, $how{buckets});
    }
    # If sets are added up, a profile that is in several of them counts once.
    my $seen = $how{compares} ? undef : {};
    return map { $_->[1] ? side_of_set($store, @$_[0, 2], $seen, %how) : $_->[0] } @words;
}

# Returns a remark about the profiles of a run-set, and these profiles. WARM: the first seconds of a
# process that are left out if the set has no warm=.
sub chosen {
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

# Fetches the files of profiles into a folder that is removed when the process ends.
sub fetch_files {
    my ($store, $selected) = @_;
    require File::Temp;
    push @FOLDERS, my $folder = File::Temp->newdir;
    my @paths = $store->fetch($selected, "$folder");
    $selected->[$_]{file} = $paths[$_] for 0 .. $#paths;
    return;
}

# Returns a run-set as a side of a comparison: its profiles are fetched, and grouped into runs, or
# into buckets of runs. SEEN leaves out profiles that an earlier side has.
sub side_of_set {
    my ($store, $words, $set, $seen, %how) = @_;
    my ($warm, @selected) = chosen($store, $words, $set, $how{warm} // 0);
    @selected = grep { !$seen->{ Devel::DProf::Store::recording($_) }++ } @selected
        if $seen;
    fetch_files($store, \@selected);
    my @runs = runs(@selected);
    my $count = @runs;
    @runs = bucketed($how{buckets}, @runs) if $how{compares};
    my $name = named($words, join ', ', grep { length } $warm, @runs < $count
        ? "$count runs in " . plural(@runs + 0, 'bucket') : '');
    return { name => $name, selected => \@selected, bucketed => @runs < $count ? 1 : 0,
        runs => [map { [map { $_->{file} } @$_] } @runs] };
}

sub named {
    my ($words, $facts) = @_;
    my $name = text($words =~ s/\A\s+|\s+\z//gr);
    return length $facts ? ($name eq '' ? '' : "$name ") . "($facts)"
        : $name eq '' ? 'all profiles' : $name;
}

# ---- sides that are compared ----

# Turns [WORDS, REMARK, [PROFILE, ...]] into sides with a run for each host, because all profiles of
# a host share what distinguishes it from others. If all profiles come from one host, each of its
# processes is a run; and if none of these has several slices, they are ordinary runs.
sub compared {
    my ($sets, $store, $wanted) = @_;
    my %how = (unit => 'host', wanted => $wanted);
    my @groups = map { by_unit('host', @{ $_->[2] }) } @$sets;
    my %hosts = map { $_ => 1 } map { keys %$_ } @groups;
    if (keys %hosts < 2) {
        $how{unit} = 'process';
        @groups = map { by_unit('process', @{ $_->[2] }) } @$sets;
    }
    $how{is_server} = $how{unit} eq 'host'
        || grep { @$_ > 1 && is_sliced(@$_) } map { values %$_ } @groups;
    $how{pairs} = [pairs(@groups)] if $how{unit} eq 'host' && @groups == 2;
    return map { side_of_units($store, $groups[$_], \%how, @{ $sets->[$_] }) } 0 .. $#$sets;
}

# Returns a run-set as a side whose values are hosts or processes, or pairs of them, and not runs.
# $of: their profiles.
sub side_of_units {
    my ($store, $of, $how, $words, $warm, $selected) = @_;
    fetch_files($store, $selected);
    my @pairs = @{ $how->{pairs} || [] };
    my @all = @pairs ? map({ $of->{$_} } @pairs) : in_time(values %$of);
    my @units = bucketed_units($how->{wanted}, @pairs ? 1 : 0, @all);
    my $facts = facts($how, scalar @$selected, scalar @all, scalar @units);
    return { selected => $selected, bucketed => @units < @all ? 1 : 0,
        $how->{is_server} ? (unit => $how->{unit}, paired => @pairs ? 1 : 0) : (),
        runs => [map { [map { $_->{file} } @$_] } @units],
        name => named($words, join ', ', grep { length } $facts, $warm) };
}

# Groups profiles by host, or by process.
sub by_unit {
    my ($unit, @profiles) = @_;
    my %of;
    for my $p (@profiles) {
        my $process = $p->{run} =~ /\A(?!md5\.|merged\.)(.*)-\d+-\d+-\d+\z/s ? $1 : $p->{run};
        push @{ $of{ $unit eq 'host' ? $p->{host} // '' : $process } }, $p;
    }
    return \%of;
}

sub is_sliced { return scalar grep { Devel::DProf::Store::RunSet::slice_of($_) > 1 } @_ }

sub in_time {
    return sort { $a->[0]{start} <=> $b->[0]{start} || $a->[0]{run} cmp $b->[0]{run} } @_;
}

# Returns the hosts that ran both versions, if all hosts of the smaller side did: then differences
# between hosts cancel out.
sub pairs {
    my ($one, $other) = @_;
    my @both = sort grep { $other->{$_} } keys %$one;
    my ($fewer) = sort { $a <=> $b } map { scalar keys %$_ } $one, $other;
    return @both == $fewer && @both >= LEAST_PAIRS ? @both : ();
}

# Adds up hosts in buckets if there are too many, in the same way on both sides if they are paired.
# There are never more buckets than hosts.
sub bucketed_units {
    my ($wanted, $is_paired, @units) = @_;
    return @units if @units <= ($wanted || MOST_RUNS);
    $wanted ||= BUCKETS;
    return of_hosts($wanted, @units) if !$is_paired;
    my @buckets;
    push @{ $buckets[$_ % $wanted] }, @{ $units[$_] } for 0 .. $#units;
    return @buckets;
}

# Returns, in words, how many profiles, units and buckets a side has.
sub facts {
    my ($how, $profiles, $count, $buckets) = @_;
    my $in = $buckets < $count ? ' in ' . plural($buckets, 'bucket') : '';
    return length $in ? "$count runs$in" : '' if !$how->{is_server};
    my $units = plural($count, $how->{unit}, $how->{unit} eq 'host' ? 'hosts' : 'processes');
    return plural($profiles, 'profile') . " of $units"
        . (@{ $how->{pairs} || [] } ? ' that ran both' : '') . $in;
}

# Groups profiles as Devel::DProf::Sides does files: processes and threads of a run belong together,
# slices do not.
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

# Returns buckets if there are too many runs, else the runs. WANTED: --buckets, or undef.
sub bucketed {
    my ($wanted, @runs) = @_;
    return @runs <= ($wanted || MOST_RUNS) ? @runs : buckets($wanted || BUCKETS, @runs);
}

# Returns a run for each host, or for each bucket of hosts.
sub hosts {
    my ($wanted, @profiles) = @_;
    my $of = by_unit('host', @profiles);
    return bucketed_units($wanted, 0, map { $of->{$_} } sort keys %$of);
}

# Puts runs into buckets by host, because all runs of a host share what distinguishes it. The runs
# of a single host are put together by time, because a disturbance lasts for a while.
sub buckets {
    my ($wanted, @runs) = @_;
    my %of;
    push @{ $of{ $_->[0]{host} // '' } }, $_ for @runs;
    my @hosts = map { $of{$_} } sort { @{ $of{$b} } <=> @{ $of{$a} } || $a cmp $b } keys %of;
    return map { [map { @$_ } @$_] } @hosts == 1 ? of_times($wanted, @hosts)
        : of_hosts($wanted < @hosts ? $wanted : scalar @hosts, @hosts);
}

# Puts whole hosts into buckets: each into the bucket with the fewest runs, largest hosts first.
sub of_hosts {
    my ($wanted, @hosts) = @_;
    my @buckets = map { [] } 1 .. $wanted;
    for my $host (@hosts) {
        my ($least) = sort { @{ $buckets[$a] } <=> @{ $buckets[$b] } || $a <=> $b } 0 .. $#buckets;
        push @{ $buckets[$least] }, @$host;
    }
    return @buckets;
}

# Puts runs that follow one another into buckets.
sub of_times {
    my ($wanted, $runs) = @_;
    $wanted = @$runs if $wanted > @$runs;
    my @cut = map { int(@$runs * $_ / $wanted) } 0 .. $wanted;
    return map { [@$runs[$cut[$_] .. $cut[ $_ + 1 ] - 1]] } 0 .. $wanted - 1;
}

1;
