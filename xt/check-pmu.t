#!/usr/bin/perl
# The lists of events in src/pmu-events/arch are strict JSON. Their names and descriptions
# distinguish events, each model has a row in the map, and existing CPUs get the right row.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Author;
use Models;
use Test::More;

my %known = map { $_ => 1 }
    qw(EventName ArchStdEvent EventCode UMask CounterMask Invert EdgeDetect AnyThread MSRIndex
        MSRValue
    Unit BriefDescription PublicDescription);
my %topics = map { $_ => 1 }
    qw(pipeline branch frontend cache memory virtual-memory floating-point exception);

sub of_event {
    my ($event) = @_;
    my $name = $event->{EventName} // $event->{ArchStdEvent} // 'no name';
    my @bad = map { "the key $_" } grep { !/^ / && !$known{$_} } sort keys %$event;
    push @bad, 'is no name' unless $name =~ /^[A-Za-z][\w.]*$/;
    for my $key (qw(EventCode UMask CounterMask Invert EdgeDetect AnyThread MSRIndex MSRValue)) {
        next unless defined $event->{$key};
        push @bad, "$key $event->{$key}" unless $event->{$key} =~ /^(?:0x[0-9a-fA-F]+|0|[1-9]\d*)$/;
    }
    for (grep { defined } @$event{qw(BriefDescription PublicDescription)}) {
        push @bad, "'$_' is no sentence of one line" unless /^[A-Z][ -~]*[^ .]\.$/;
    }
    push @bad, 'has no description' unless defined $event->{BriefDescription};
    push @bad, 'says too much: ' . length $event->{BriefDescription}
        if length($event->{BriefDescription} // '') > 120;
    return map { "$event->{' path'}: $name: $_" } @bad;
}

# Checks one model. A limit of 0 is none.
sub of_model {
    my ($arch, $model, $list, $least, $most) = @_;
    my @events = @{ $list->{events}{$model} };
    my (@bad, %by);
    for my $event (@events) {
        my $name = lc($event->{EventName} // 'no name');
        push @{ $by{name}{$name} }, $name;
        push @{ $by{description}{ $event->{BriefDescription} // '' } }, $name;
        push @{ $by{encoding}{ encoding($event) } }, $name;
    }
    for my $what (sort keys %by) {
        push @bad, map { "$what '$_' twice: @{ $by{$what}{$_} }" } grep { @{ $by{$what}{$_} } > 1 }
            sort keys %{ $by{$what} };
    }
    push @bad, scalar(@events) . " events, not $least to $most"
        if $most && (@events < $least || @events > $most);
    push @bad, map { "the topic $_" } grep { !$topics{ s/\.json$//r } } @{ $list->{files}{$model} };
    push @bad, 'no row in the map' unless grep { $_->{model} eq $model } @{ $list->{rows} };
    return map { "$arch/$model: $_" } @bad;
}

# Checks that an event that several models have has one description.
sub of_descriptions {
    my ($arch, $list) = @_;
    my %as;
    for my $event (map { @$_ } values %{ $list->{events} }) {
        $as{ lc($event->{EventName} // '') }{ $event->{BriefDescription} // '' } = 1;
    }
    return map { "$arch: $_ is described in several ways" } grep { keys %{ $as{$_} } > 1 }
        sort keys %as;
}

sub of_rows {
    my ($arch, $list) = @_;
    my (@bad, %seen);
    for my $row (@{ $list->{rows} }) {
        my $cpuid = $row->{cpuid} // '';
        push @bad, "$cpuid does not compile" unless eval { qr/\A(?:$cpuid)\z/ };
        push @bad, "$cpuid twice" if $seen{$cpuid}++;
        push @bad, "$cpuid: no lists in " . ($row->{model} // '')
            unless $list->{events}{ $row->{model} // '' };
        push @bad, "$cpuid: the type is not core" if ($row->{type} // '') ne 'core';
    }
    push @bad, 'no map' unless @{ $list->{rows} };
    return map { "$arch/mapfile.csv: $_" } @bad;
}

sub complaints {
    my ($files) = @_;
    my ($lists, @bad) = read_lists($files);
    for my $arch (sort keys %$lists) {
        my $list = $lists->{$arch};
        my ($least, $most) = $arch =~ /^(?:x86|arm64)$/ ? (30, 60) : (0, 0);
        push @bad, of_rows($arch, $list), of_descriptions($arch, $list);
        for my $model (sort keys %{ $list->{events} }) {
            push @bad, of_model($arch, $model, $list, $least, $most),
                map { of_event($_) } @{ $list->{events}{$model} };
        }
    }
    return @bad;
}

my $ours = Models::files_below('src/pmu-events/arch');
is(join("\n", complaints($ours)), '', scalar(keys %$ours) . ' files keep the rules');
my ($lists) = read_lists($ours);
is(join(' ', sort keys %$lists), 'arm64 powerpc s390 x86',
    'the lists are those of four architectures');
cmp_ok(scalar(map { keys %{ $_->{events} } } values %$lists), '>=', 12,
    'the lists have a dozen models or more');

# CPUIDs, and the model that each must get.
my @cpus = (
    [ x86 => 'GenuineIntel-6-3F', 'haswellx' ], [ x86 => 'GenuineIntel-6-4F', 'broadwellx' ],
    [ x86 => 'GenuineIntel-6-55-4', 'skylakex' ], [ x86 => 'GenuineIntel-6-55-7', 'cascadelakex' ],
    [ x86 => 'GenuineIntel-6-55-B', 'cascadelakex' ],
    [ x86 => 'GenuineIntel-6-6A', 'icelakex' ], [ x86 => 'GenuineIntel-6-8F', 'sapphirerapids' ],
    [ x86 => 'GenuineIntel-6-CF', 'sapphirerapids' ],
    [ x86 => 'GenuineIntel-6-8E', 'skylake' ], [ x86 => 'GenuineIntel-6-7E', 'icelake' ],
    [ x86 => 'GenuineIntel-6-8C', 'tigerlake' ],
    [ x86 => 'GenuineIntel-6-9A', 'alderlake' ], [ x86 => 'GenuineIntel-6-B7', 'alderlake' ],
    [ x86 => 'GenuineIntel-6-1A', 'none' ],
    [ x86 => 'AuthenticAMD-23-1', 'amdzen1' ], [ x86 => 'AuthenticAMD-23-18', 'amdzen1' ],
    [ x86 => 'AuthenticAMD-23-31', 'amdzen2' ],
    [ x86 => 'AuthenticAMD-25-1', 'amdzen3' ], [ x86 => 'AuthenticAMD-25-21', 'amdzen3' ],
    [ x86 => 'AuthenticAMD-25-50', 'amdzen3' ],
    [ x86 => 'AuthenticAMD-25-11', 'amdzen4' ], [ x86 => 'AuthenticAMD-25-61', 'amdzen4' ],
    [ x86 => 'AuthenticAMD-21-2', 'none' ],
    [ arm64 => '0x00000000410fd080', 'arm/cortex-a57-a72' ],
    [ arm64 => '0x00000000410fd0c0', 'arm/cortex-a76-n1' ],
    [ arm64 => '0x00000000410fd400', 'arm/neoverse-v1' ],
    [ arm64 => '0x00000000410fd490', 'arm/neoverse-n2' ],
    [ arm64 => '0x00000000410fd4f0', 'arm/neoverse-n2' ],
    [ arm64 => '0x00000000500f0000', 'ampere/emag' ], [ arm64 => '0x00000000410fd030', 'none' ],
    [ powerpc => '004d0200', 'power8' ], [ powerpc => '004e1202', 'power9' ],
    [ powerpc => '00800200', 'power10' ], [ powerpc => '003f0201', 'none' ],
    [ s390 => 'IBM,3906,704,M04,3.5,002f', 'cf_z14' ],
    [ s390 => 'IBM,8561,703,T01,3.6,002f', 'cf_z15' ],
    [ s390 => 'IBM,3931,704,A01,3.7,002f', 'cf_z16' ],
);
is(mapped($lists->{ $_->[0] }{rows}, $_->[1]), $_->[2], "the model of $_->[1] is $_->[2]")
    for @cpus;

# Tries each check on a bad list.
my $good = sub {
    my (%change) = @_;
    my %event = (EventName => 'A.B', EventCode => '0x1', BriefDescription => 'A counts.', %change);
    delete @event{ grep { !defined $event{$_} } keys %event };
    return '{' . join(',', map { qq("$_":"$event{$_}") } sort keys %event) . '}';
};
my $with = sub {
    my ($json, %files) = @_;
    return join "\n", complaints({ 'p/mapfile.csv' => "head\n1,1,m,core\n",
        'p/m/cache.json' => "[$json]\n", %files });
};
is($with->($good->()), '', 'the check accepts a good list');
my @bad = (
    [ $good->() . ',', qr/cache\.json: / => 'a comma at the end' ],
    [ '', qr/empty/ => 'no events' ],
    [ '"x"', qr/not only objects/ => 'no object' ],
    [ '{"EventName":"A","EventCode":1,"BriefDescription":"A counts."}',
        qr/no string/ => 'a number' ],
    [ '{"EventName":"A","EventName":"B","EventCode":"1","BriefDescription":"A counts."}',
        qr/key twice/ => 'a key twice' ],
    [ $good->(Umask => '0x1'), qr/the key Umask/ => 'a key in other letters' ],
    [ $good->(Deprecated => '1'), qr/the key Deprecated/ => 'what is deprecated' ],
    [ $good->(EventCode => '017'), qr/EventCode 017/ => 'an octal number' ],
    [ $good->(BriefDescription => undef), qr/no description/ => 'no description' ],
    [ $good->(BriefDescription => 'A counts'), qr/no sentence/ => 'no dot' ],
    [ $good->(BriefDescription => 'A' x 120 . '.'), qr/too much: 121/ => 'a long description' ],
    [ $good->() . ',' . $good->(EventCode => '2', BriefDescription => 'Other.'),
        qr/name 'a\.b' twice/ => 'a name twice' ],
    [ $good->() . ',' . $good->(EventName => 'C', EventCode => '2'),
        qr/description 'A counts\.' twice: a\.b c/ => 'a description twice' ],
    [ $good->() . ',' . $good->(EventName => 'C', EventCode => '0x01', BriefDescription => 'C.'),
        qr/encoding 'EventCode=0x1' twice/ => 'one event by two names' ],
    [ '{"ArchStdEvent":"X"}', qr/no standard event X/ => 'a standard event that is none' ],
    [ $good->(), qr/the topic gossip/ => 'a topic of its own',
        'p/m/gossip.json' => '[' . $good->(EventName => 'C', EventCode => '2',
            BriefDescription => 'C.') . ']' ],
    [ $good->(), qr/n: no row/ => 'a model without a row',
        'p/n/cache.json' => '[' . $good->() . ']' ],
    [ $good->(), qr/described in several ways/ => 'two descriptions of an event',
        'p/n/cache.json' => '[' . $good->(BriefDescription => 'Other.') . ']' ],
    [ $good->(), qr/no lists in n/ => 'a row without a model',
        'p/mapfile.csv' => "head\n1,1,m,core\n2,1,n,core\n" ],
    [ $good->(), qr/does not compile/ => 'a bad expression',
        'p/mapfile.csv' => "head\n(1,1,m,core\n" ],
    [ $good->(), qr/not four fields/ => 'a short row', 'p/mapfile.csv' => "head\n1,,m\n" ],
    [ $good->(), qr/no map/ => 'a first line that is data', 'p/mapfile.csv' => "1,1,m,core\n" ],
    [ $good->(), qr/newline/ => 'a map without an end', 'p/mapfile.csv' => "head\n1,1,m,core" ],
);
for (@bad) {
    my ($json, $like, $what, %files) = @$_;
    like($with->($json, %files), $like, "the check notices $what");
}
like(join("\n", complaints({ 'x86/mapfile.csv' => "head\n1,1,m,core\n",
    'x86/m/cache.json' => '[' . $good->() . ']' })), qr/1 events, not 30 to 60/,
    'the check notices too few events');
done_testing;
