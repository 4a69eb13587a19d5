package Devel::DProf::Store::Sides;

# Run-sets of a store as sides of files, so that all that follows is as with files.

use strict;
use warnings;

use Devel::DProf::Store;
use Devel::DProf::Store::RunSet;
use Devel::DProf::Text qw(text plural);
use Devel::DProf::Tool qw(OK FAILED complain);

our $VERSION = $Devel::DProf::Core::VERSION;

# More hosts than that are put into buckets, where sides are compared.
use constant { MOST_RUNS => 50, BUCKETS => 20 };
# Of fewer pairs than that their differences tell less than all hosts do.
use constant LEAST_PAIRS => 6;
use constant WARM => Devel::DProf::Store::RunSet::WARM;

# What stores have written for us goes when the process ends.
my @FOLDERS;

# Returns 0, and the profiles that a tool's options select in the place of names; or the exit status
# after a message.
sub take {
    my ($tool, $opt, $names) = @_;
    my ($url, $bisect) = @$opt{qw(from bisect)};
    my @sets = (@{ $opt->{'run-set'} || [] }, $bisect // ());
    return $tool->usage('--buckets goes with --run-set SET') if !defined $url && !@sets;
    # A bisected run-set has its sides in itself.
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

# Returns the run-sets of the options and the names that stand for one, in their order, as sides;
# other names, which are those of files, as they are. HOW: compares says that the sides are
# compared, buckets is the number of buckets, option is for messages. Dies with a string if the
# words are wrong, and with a Failure if the store fails or has no such profiles.
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
    $store->can('select') or Devel::DProf::Store::failed("$url takes profiles, and has no way to "
        . 'give them back');
    if ($how{compares} && @words == grep { $_->[1] } @words) {
        my @sets = map {
            my ($said, @selected) = chosen($store, @$_[0, 2], WARM);
            [$_->[0], $said, \@selected];
        } @words;
        return compared(\@sets, $store, $how{buckets});
    }
    # What is added up counts once, however many of the sets have it.
    my $seen = $how{compares} ? undef : {};
    return map { $_->[1] ? side($store, @$_[0, 2], $seen, %how) : $_->[0] } @words;
}

# Returns what is to be said of the profiles of a run-set, and these. WARM: the seconds of a process
# that are left out unless the set says how many.
sub chosen {
    my ($store, $words, $set, $warm) = @_;
    my @selected = $store->select($set)
        or Devel::DProf::Store::failed("$words: the store has no such profiles; dprofstore list "
            . 'shows what it has');
    my @warm = Devel::DProf::Store::RunSet::warmed($set, $warm, @selected);
    Devel::DProf::Store::failed("$words: no process has recorded for so long as warm= says")
        if !@warm && $set->{warm};
    my $name = $warm && defined $set->{warm} ? $set->{warm} . 's' : '2m';
    my $said = !@warm ? "all of them from the first $name of a process"
        : @warm < @selected ? "without the first $name of each process" : '';
    return ($said, @warm ? @warm : @selected);
}

# Brings the files of profiles into a folder, which goes when the process ends.
sub fetched {
    my ($store, $selected) = @_;
    require File::Temp;
    push @FOLDERS, my $folder = File::Temp->newdir;
    my @paths = $store->fetch($selected, "$folder");
    $selected->[$_]{file} = $paths[$_] for 0 .. $#paths;
    return;
}

sub side {
    my ($store, $words, $set, $seen, %how) = @_;
    my ($warm, @selected) = chosen($store, $words, $set, $how{warm} // 0);
    @selected = grep { !$seen->{ Devel::DProf::Store::recording($_) }++ } @selected
        if $seen;
    fetched($store, \@selected);
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

# Makes sides of [WORDS, what is said of it, [PROFILE, ...]], whose runs are those of a host: what
# differs between hosts differs in all that a host records. Where all is of one host, it is its
# processes that differ; and if none of them has several slices, they are runs as files are.
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

sub side_of_units {
    my ($store, $of, $how, $words, $warm, $selected) = @_;
    fetched($store, $selected);
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

# Returns the hosts that ran both versions, if all hosts of the smaller side did: differences of the
# same hosts have nothing of what differs between hosts.
sub pairs {
    my ($one, $other) = @_;
    my @both = sort grep { $other->{$_} } keys %$one;
    my ($fewer) = sort { $a <=> $b } map { scalar keys %$_ } $one, $other;
    return @both == $fewer && @both >= LEAST_PAIRS ? @both : ();
}

# Adds up hosts, of pairs the same ones on both sides, where there are more than are taken one by
# one. There are never more buckets than hosts.
sub bucketed_units {
    my ($wanted, $is_paired, @units) = @_;
    return @units if @units <= ($wanted || MOST_RUNS);
    $wanted ||= BUCKETS;
    return of_hosts($wanted, @units) if !$is_paired;
    my @buckets;
    push @{ $buckets[$_ % $wanted] }, @{ $units[$_] } for 0 .. $#units;
    return @buckets;
}

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

# Returns buckets where there are more runs than are taken one by one, else the runs. WANTED:
# --buckets, or undef.
sub bucketed {
    my ($wanted, @runs) = @_;
    return @runs <= ($wanted || MOST_RUNS) ? @runs : buckets($wanted || BUCKETS, @runs);
}

# Returns the profiles of each host, or of buckets of hosts, as runs are.
sub hosts {
    my ($wanted, @profiles) = @_;
    my $of = by_unit('host', @profiles);
    return bucketed_units($wanted, 0, map { $of->{$_} } sort keys %$of);
}

# Puts runs into buckets by host: what differs between hosts is the same in all runs of one. Runs
# of one host alone are put together by time, for what disturbs it disturbs it for a while.
sub buckets {
    my ($wanted, @runs) = @_;
    my %of;
    push @{ $of{ $_->[0]{host} // '' } }, $_ for @runs;
    my @hosts = map { $of{$_} } sort { @{ $of{$b} } <=> @{ $of{$a} } || $a cmp $b } keys %of;
    return map { [map { @$_ } @$_] } @hosts == 1 ? of_times($wanted, @hosts)
        : of_hosts($wanted < @hosts ? $wanted : scalar @hosts, @hosts);
}

# Whole hosts: the one with most runs to the bucket with fewest.
sub of_hosts {
    my ($wanted, @hosts) = @_;
    my @buckets = map { [] } 1 .. $wanted;
    for my $host (@hosts) {
        my ($least) = sort { @{ $buckets[$a] } <=> @{ $buckets[$b] } || $a <=> $b } 0 .. $#buckets;
        push @{ $buckets[$least] }, @$host;
    }
    return @buckets;
}

# Runs that follow one another.
sub of_times {
    my ($wanted, $runs) = @_;
    $wanted = @$runs if $wanted > @$runs;
    my @cut = map { int(@$runs * $_ / $wanted) } 0 .. $wanted;
    return map { [@$runs[$cut[$_] .. $cut[ $_ + 1 ] - 1]] } 0 .. $wanted - 1;
}

1;
