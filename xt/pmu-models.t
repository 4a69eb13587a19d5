#!/usr/bin/perl
# Compares the lists of events in src/pmu-events/arch with those of the kernel, Linux 6.1: the same
# processors, the same codes, and words of our own. PMU_EVENTS_TREE names a kernel's
# tools/perf/pmu-events/arch (Debian: package linux-source-6.1).
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Models;
use Test::More;

my $tree = $ENV{PMU_EVENTS_TREE};
plan skip_all => 'no kernel tree: PMU_EVENTS_TREE is to name its tools/perf/pmu-events/arch'
    unless defined $tree;
-e "$tree/x86/mapfile.csv" or die "PMU_EVENTS_TREE: $tree/x86/mapfile.csv is not there\n";

# Later kernels have these and 6.1 has not. A model that is not in the tree is compared with none.
my %later_models = map { $_ => 1 } qw(x86/amdzen4);
my %later_rows = map { $_ => 1 } (
    'GenuineIntel-6-CF',                                    # as 8F
    # 6.1 also gives the table of Zen 3 to Zen 4.
    'AuthenticAMD-25-([245][[:xdigit:]]|[[:xdigit:]])',
    'AuthenticAMD-25-[[:xdigit:]]+',
    '0x00000000410fd4f0',                                   # as 490
);

# Returns the kernel's events of a model by name and PMU; a name may have several.
sub by_name {
    my ($events) = @_;
    my %by;
    for my $event (@$events) {
        push @{ $by{ lc($event->{EventName}) . ' ' . ($event->{Unit} // '') } }, $event
            if defined $event->{EventName};
    }
    return \%by;
}

sub deprecated {
    return ($_[0]{Deprecated} // '0') ne '0'
        || ($_[0]{BriefDescription} // '') =~ /event is deprecated/i;
}

sub of_model {
    my ($ours, $theirs) = @_;
    my $by = by_name($theirs);
    my @bad;
    for my $event (@$ours) {
        my $name = lc $event->{EventName};
        my @same = @{ $by->{ $name . ' ' . ($event->{Unit} // '') } // [] };
        push @bad, "$name: not in the kernel's list" unless @same;
        for (@same) {
            my ($have, $want) = (encoding($event), encoding($_));
            push @bad, "$name: $have, the kernel has $want" if $have ne $want;
            push @bad, "$name: deprecated" if deprecated($_);
        }
    }
    return @bad;
}

sub of_rows {
    my ($ours, $theirs) = @_;
    my %theirs = map { $_->{cpuid} => join ',', @$_{qw(version model type)} } @$theirs;
    my @bad;
    for my $row (grep { !$later_rows{ $_->{cpuid} } } @$ours) {
        my ($have, $want) = (join(',', @$row{qw(version model type)}),
            $theirs{ $row->{cpuid} } // 'no such row');
        push @bad, "$row->{cpuid}: $have, the kernel has $want" if $have ne $want;
    }
    return @bad;
}

# Returns sentences without what does not change their meaning.
sub words {
    my ($text) = @_;
    return join ' ', lc($text // '') =~ /[a-z0-9]+/g;
}

sub borrowed {
    my ($ours, $theirs) = @_;
    my %theirs;
    for my $event (@$theirs) {
        $theirs{ words($_) } = 1
            for grep { defined } @$event{qw(BriefDescription PublicDescription)};
    }
    my %twice;
    return grep { !$twice{$_}++ && $theirs{ words($_) } }
        map { grep { defined } @$_{qw(BriefDescription PublicDescription)} } @$ours;
}

my ($ours) = read_lists(Models::files_below('src/pmu-events/arch'));
# Takes those of the kernel's hundred models that we have, and the standard events.
my %there = %{ Models::files_below($tree) };
my %wanted = map {
    my $arch = $_;
    map { ("$arch/$_" => 1) } keys %{ $ours->{$arch}{events} }
} keys %$ours;
delete @there{ grep {
    my ($model) = m{^([^/]+/.+)/[^/]+$};
    $model && !$wanted{$model}
} keys %there };
my ($theirs) = read_lists(\%there);
for my $arch (sort keys %$ours) {
    my ($we, $they) = ($ours->{$arch}, $theirs->{$arch} // { rows => [], events => {} });
    is(join("\n", of_rows($we->{rows}, $they->{rows})), '', "$arch has the map of the kernel");
    for my $model (sort keys %{ $we->{events} }) {
      SKIP: {
            my $events = $they->{events}{$model};
            skip "$arch/$model: not in this tree", 1 if !$events && $later_models{"$arch/$model"};
            is(join("\n", of_model($we->{events}{$model}, $events // [])), '',
                "$arch/$model has the kernel's events: " . @{ $we->{events}{$model} });
        }
    }
    is(join("\n", borrowed([ map { @$_ } values %{ $we->{events} } ],
        [ map { @$_ } values %{ $they->{events} } ])), '',
            "$arch has descriptions in our own words");
}

# Tries each comparison on a difference.
my %event = (EventName => 'A', EventCode => '0x3c', UMask => '0x01', CounterMask => '1',
    BriefDescription => 'A counts.');
my $against = sub { return join "\n", of_model([ {%event} ], [ { %event, @_ } ]) };
is($against->(EventCode => '0x3C', UMask => '1', Invert => '0', EdgeDetect => '0x0',
    SampleAfterValue => '7'), '', 'the check accepts other spellings of the same');
is($against->(EventCode => '60, 61'), '', 'only the first of several codes counts');
like($against->($_ => '2'), qr/the kernel has .*$_=0x2/, "the check notices another $_")
    for qw(EventCode UMask CounterMask Invert EdgeDetect AnyThread MSRIndex MSRValue ExtSel);
like($against->(EventName => 'B'), qr/not in the kernel's/, 'the check notices another name');
like($against->(Unit => 'cpu_atom'), qr/not in the kernel's/, 'the check notices another PMU');
like($against->(Deprecated => '1'), qr/deprecated/, 'the check notices a deprecated event');
like($against->(BriefDescription => 'This event is deprecated. See B'), qr/deprecated/,
    'the check notices an event that its words call deprecated');
my %row = (cpuid => '1', version => 'v1', model => 'm', type => 'core');
like(join("\n", of_rows([ {%row} ], [ { %row, @$_ } ])), qr/^1: /,
    "the check notices another row: @$_")
    for [ cpuid => 2 ], [ version => 'v2' ], [ model => 'n' ], [ type => 'uncore' ];
is(join(' ', borrowed([ {%event} ], [ { PublicDescription => 'a counts' } ])), 'A counts.',
    'the check notices words of others');
done_testing;
