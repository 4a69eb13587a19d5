package Devel::DProf::Store::Sides;

# Run-sets of a store as sides of files, so that all that follows is as with files.

use strict;
use warnings;

use Devel::DProf::Store;
use Devel::DProf::Store::RunSet;
use Devel::DProf::Text qw(text plural);
use Devel::DProf::Tool qw(OK FAILED complain);

our $VERSION = $Devel::DProf::Core::VERSION;

# More runs than that are put into buckets, where sides are compared.
use constant { MOST_RUNS => 50, BUCKETS => 20 };

# What stores have written for us goes when the process ends.
my @FOLDERS;

# Puts the profiles that a tool's options select in the place of names. Returns 0, or the exit
# status after a message.
sub take {
    my ($tool, $opt, $names) = @_;
    my ($url, $bisect) = @$opt{qw(from bisect)};
    my @sets = (@{ $opt->{'run-set'} || [] }, $bisect // ());
    return $tool->usage('--buckets goes with --run-set SET') if !defined $url && !@sets;
    # A bisected run-set has its sides in itself.
    my $compares = ($tool->compares || $opt->{diff}) && !defined $bisect;
    my @sides = eval {
        sides($url // $ENV{DPROF_STORE}, \@sets, $names, buckets => $opt->{buckets},
            compares => $compares, option => defined $bisect ? '--bisect' : '--run-set');
    };
    if (!@sides) {
        return $tool->usage($@) if !ref $@;
        complain($tool->name . ': ' . $@->message);
        return FAILED;
    }
    return $tool->usage('a second side is missing: --run-set A B')
        if $compares && @sides < 2 && !$opt->{run};
    @$names = @sides;
    return OK;
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
    # What is added up counts once, however many of the sets have it.
    my $seen = $how{compares} ? undef : {};
    return map { $_->[1] ? side($store, @$_[0, 2], $seen, %how) : $_->[0] } @words;
}

sub side {
    my ($store, $words, $set, $seen, %how) = @_;
    my @selected = $store->select($set)
        or Devel::DProf::Store::failed("$words: the store has no such profiles; dprofstore list "
            . 'shows what it has');
    @selected = grep { !$seen->{ Devel::DProf::Store::recording($_) }++ } @selected
        if $seen;
    require File::Temp;
    push @FOLDERS, my $folder = File::Temp->newdir;
    my @paths = $store->fetch(\@selected, "$folder");
    $selected[$_]{file} = $paths[$_] for 0 .. $#paths;
    my @runs = runs(@selected);
    my $name = text($words =~ s/\A\s+|\s+\z//gr);
    my $count = @runs;
    @runs = bucketed($how{buckets}, @runs) if $how{compares};
    if (@runs < $count) {
        $name = ($name eq '' ? '' : "$name ") . "($count runs in " . plural(@runs + 0, 'bucket')
            . ')';
    }
    $name = 'all profiles' if $name eq '';
    return { name => $name, selected => \@selected, bucketed => @runs < $count ? 1 : 0,
        runs => [map { [map { $_->{file} } @$_] } @runs] };
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

# Puts runs into buckets: first by host, for what disturbs one host does not disturb another, and
# then by time, for what disturbs a host disturbs it for a while.
sub buckets {
    my ($wanted, @runs) = @_;
    my %of;
    push @{ $of{ $_->[0]{host} // '' } }, $_ for @runs;
    my @hosts = map { $of{$_} } sort { @{ $of{$b} } <=> @{ $of{$a} } || $a cmp $b } keys %of;
    return map { [map { @$_ } @$_] } @hosts >= $wanted ? of_hosts($wanted, @hosts)
        : of_times($wanted, @hosts);
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

# Each host has buckets in proportion to its runs, one at least, of runs that follow one another.
sub of_times {
    my ($wanted, @hosts) = @_;
    my @share = map { 1 } @hosts;
    for (@hosts + 1 .. $wanted) {
        my ($most) = sort { @{ $hosts[$b] } / $share[$b] <=> @{ $hosts[$a] } / $share[$a]
            || $a <=> $b } grep { @{ $hosts[$_] } > $share[$_] } 0 .. $#hosts;
        last if !defined $most;
        $share[$most]++;
    }
    my @buckets;
    for my $h (0 .. $#hosts) {
        my $runs = $hosts[$h];
        my @cut = map { int(@$runs * $_ / $share[$h]) } 0 .. $share[$h];
        push @buckets, map { [@$runs[$cut[$_] .. $cut[ $_ + 1 ] - 1]] } 0 .. $share[$h] - 1;
    }
    return @buckets;
}

1;
