# dproflist: what is listed, by which patterns; layout; JSON; made-up processors and PMUs.
use strict;
use warnings;
use File::Glob ':bsd_glob';
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew in_process run_tool);
use File::Path 'make_path';
use JSON::PP ();
use Devel::DProf::Tool::Dproflist;

my $sysfs = scratch();
delete @ENV{qw(PERF_CPUID DPROFLIST_OPTS)};

# Defines PMUs in the words of sysfs.
my %pmu = (
    'cpu/type' => 4, 'cpu/format/event' => 'config:0-7', 'cpu/format/umask' => 'config:8-15',
    'cpu/events/mem-loads' => 'event=0xcd,umask=0x1',
    'cpu/events/cpu-cycles' => 'event=0x3c', 'uncore_imc_0/type' => 13, 'uncore_imc_0/cpumask' => 0,
    'uncore_imc_0/format/event' => 'config:0-7',
    'uncore_imc_0/events/cas_count_read' => 'event=0x04', 'software/type' => 1,
);
for my $path (keys %pmu) {
    make_path("$sysfs/" . $path =~ s{/[^/]*\z}{}r);
    spew("$sysfs/$path", "$pmu{$path}\n");
}
$ENV{DPROFLIST_SYSFS} = $sysfs;

sub list { my @args = @_; return in_process('dproflist', @args) }

sub json {
    my @args = @_;
    my $run = list('--json', @args);
    is("$run->{status} $run->{err}", '0 ', "dproflist --json @args succeeds");
    return eval { JSON::PP->new->utf8->decode($run->{out}) } // { events => [] };
}

sub names { my ($json) = @_; return join ' ', map { $_->{name} } @{ $json->{events} } }

# ---- the whole list ----

subtest 'dproflist lists all events' => sub {
    local $ENV{PERF_CPUID} = 'None-1';
    my $all = json();
    my %group;
    push @{ $group{ $_->{group} } }, $_ for @{ $all->{events} };
    my @order = do { my %seen; grep { !$seen{$_}++ } map { $_->{group} } @{ $all->{events} } };
  SKIP: {
        skip 'the kernel is no Linux', 6 if $^O ne 'linux';
        is("@order", 'perl software hardware cache pmu', 'the groups come in their order');
        is(join(' ', map { $_->{name} } @{ $group{perl} }), 'ops svs bytes noise',
            "perl's own events are listed");
        is(scalar(grep { $_->{name} eq 'page-faults' && $_->{alias} eq 'faults'
            && $_->{unit} eq 'faults' } @{ $group{software} }), 1,
                'the event page-faults is listed with its alias and unit');
        is(scalar(grep { $_->{name} eq 'L1-dcache-load-misses' && $_->{description} =~ /data cache/
            && $_->{unit} eq 'misses' } @{ $group{cache} }), 1, 'an event of caches is listed');
        is(join(' ', sort map { $_->{name} } @{ $group{pmu} }), 'cpu/cpu-cycles/ mem-loads',
            'events of PMUs are listed, by bare names where these are free');
        like(names(json('--all')), qr{ cpu/cpu-cycles/ .*uncore_imc_0/cas_count_read/(?: |\z)},
            '--all lists PMUs of the whole machine, too');
    }
    is(join(' ', map { $_->{name} } grep { ($_->{works} ? 1 : 0) == (defined $_->{why} ? 1 : 0) }
        @{ $all->{events} }), '', 'each event that does not work has a reason');
    is(join(' ', map { $_->{name} } grep { !$_->{description} && $_->{group} ne 'pmu' }
        @{ $all->{events} }), '', 'each event has a description');
    is(join(' ', map { $_->{name} } grep { !$_->{works} } @{ $group{perl} }[0, 1]), '',
        "perl's own events work");
    ok(!exists $all->{processor}{table}, 'an unknown processor has no table');
    my $all_tables = json('--all')->{tables};
    my $way_out = @{ $all_tables } ? 'PERF_CPUID=ID' : 'a build';
    like(list()->{out} =~ s/\s+/ /gr,
        qr/This processor \(None-1\) has no table of events\. .*\/; $way_out /,
        'a message says that the processor is unknown');
    my ($imc) = grep { $_->{name} =~ /^uncore/ } @{ json('--all')->{events} };
    ok($^O ne 'linux' || ($imc && !$imc->{works} && !$imc->{per_thread}
        && $imc->{why} =~ /whole machine/),
        'a PMU of the whole machine does not work for a program');
};

# ---- a processor's table, against the lists that it was made from ----

SKIP: {
    my $lists = 'src/pmu-events/arch/x86';
    local $ENV{PERF_CPUID} = 'GenuineIntel-6-55-4';
    my $json = json('--all');
    my ($row) = grep { 'GenuineIntel-6-55-4' =~ /\A(?:$_->[0])\z/ } map { chomp;
    [split /,/] } do { open my $in, '<', "$lists/mapfile.csv" or die; <$in> };
    my $own = $json->{processor}{table};
    skip 'other lists were built in', 6
        if !$own || "$own->{cpuid} $own->{version}" ne "$row->[0] $row->[1]";
    my %topic;
    for my $file (glob "$lists/$row->[2]/*.json") {
        my ($topic) = $file =~ m{([^/]*)\.json\z};
        $topic{ lc $_->{EventName} } = $topic =~ s/-/ /gr
            for grep { defined $_->{EventName} } @{ JSON::PP->new->utf8->decode(slurp($file)) };
    }
    my %got = map { $_->{name} => $_->{topic} } grep { $_->{group} eq 'table'
        && $_->{table} eq $row->[0] } @{ $json->{events} };
    is_deeply(\%got, \%topic, "the processor's table is listed, by topic");
    my %other = map { $_->{table} => 1 } grep { $_->{group} eq 'table' } @{ $json->{events} };
    is(scalar keys %other, scalar keys %{ { map { $_->{table} => 1 } @{ $json->{tables} } } },
        '--all lists all other tables, once');
    is(join(' ', map { $_->{name} } grep { $_->{group} eq 'table' && $_->{table} ne $row->[0]
        && ($_->{works} || $_->{why} !~ /other processors/) } @{ $json->{events} }), '',
        'the events of other tables do not work here');
    like(list('--cpuid')->{out},
        qr/^Processor\ \ GenuineIntel-6-55-4,\ as\ PERF_CPUID\ says\n
            Table\ \ \ \ \ \ \Q$row->[0]\E,\ version\ \Q$row->[1]\E,/x,
                '--cpuid prints the processor and its table');
    my $text = list('--all')->{out} =~ s/\s+/ /gr;
    like($text,
        qr/Events\ of\ this\ processor\ \(GenuineIntel-6-55-4\):\ branch\ .*Events\ of\ other
            \ processors\ \([^:]*,\ [^:]*\):\ branch/x, 'tables of several processors name them');
    my $run = list('BR_INST_retired.near_call');
    is($run->{out} =~ s/^\[\w+\] .*\n(?:    .*\n)*\z//rm =~ s/^\[\w+\]/   /gmr,
        <<'END', 'the text of the table has topics, events and reasons');
Events of this processor (GenuineIntel-6-55-4): branch

    br_inst_retired.near_call  Calls of C functions retired; system calls are
                               not among them

END
}

my ($run);
subtest 'Patterns select events' => sub {
    $ENV{PERF_CPUID} = 'None-1';

    for (['page-faults' => 'page-faults'],
        ['FAULTS' => 'page-faults minor-faults major-faults alignment-faults emulation-faults'],
        ['faults' => qr/^page-faults /],
        ['??nor-*' => 'minor-faults'], ['[mn]?[jn]or-faults' => 'minor-faults major-faults'],
        ['[!a-z]*' => qr/^(?!.*\bops\b)/], ['page-f*' => 'page-faults'],
        ['cs' => qr/\bcontext-switches\b/], ['c?' => 'context-switches'],
        ['had to read from' => 'major-faults'],
        ['software' => qr/^(?=.*\bcpu-clock\b)(?!.*instructions)/],
        ['perl has executed' => 'ops']) {
        my ($pattern, $want) = @$_;
        last if $^O ne 'linux';
        my $json = $pattern eq '[!a-z]*' ? { events => [] } : json($pattern);
        my $got = names($json);
        ref $want ? like($got, $want, "the pattern $pattern finds its events") : is($got, $want,
            "the pattern $pattern finds these events alone");
    }
    is(names(json('ops', 'b?tes')), 'ops bytes', 'several patterns list what matches any');

    for (['page-falts' => qr/^dproflist: .*page-falts.*did you mean page-faults\?$/m],
        ['*nothing*' =>
            qr/^dproflist: \*nothing\*: no event has such a name; dproflist lists all$/m],
        ["x\e[1m" => qr/\\x1b/]) {
        my ($pattern, $like) = @$_;
        my $run = list($pattern);
        is("$run->{status} $run->{out}", '1 ', 'a pattern that matches nothing gives status 1');
        like($run->{err}, $like, 'a pattern that matches nothing gives a suggestion');
    }
    $run = list('ops', 'no-such-event');
    is($run->{status}, 0, 'the status is 0 if one of two patterns matches');
    like($run->{err}, qr/no-such-event/, 'a message names the pattern that matches nothing');
};

# An event that is in no list is tried as written.
SKIP: {
    skip 'the kernel is no Linux', 4 if $^O ne 'linux';
    my ($event) = @{ json('cpu/event=0x3c,umask=1/u')->{events} };
    is("$event->{name} $event->{group}", 'cpu/event=0x3c,umask=1/u given',
        'an event may be given by its code');
    my $bad = list('cpu/evnt=1/');
    is($bad->{status}, 1, 'a wrong term gives status 1');
    like($bad->{err}, qr/evnt/, 'a message names the wrong term');
    like(list('-l', 'mem-loads')->{out}, qr{ cpu/event=0xcd,umask=0x1/; unit: events$}m,
        '--long prints terms and unit');
}

{
    package Made;
    my %works = map { $_ => 1 } qw(good old other);
    sub new { return bless { asked => [] }, shift }
    sub list {
        my @all = map { +{ name => $_, group => 'table', topic => 'cache', table => 'Me-1',
            deprecated => $_ eq 'old' ? 1 : 0, per_thread => $_ eq 'whole' ? 0 : 1,
            description => 'What ' . ('it counts is told in very many words, ' x 9) . 'and more',
            pmu => 'cpu' } } qw(good bad worse old whole);
        push @all, { name => 'other', group => 'table', topic => 'cache', table => 'You-1',
            deprecated => 0, per_thread => 1, description => 'Theirs' } if $_[1];
        return \@all;
    }
    sub tables {
        return [{ cpuid => 'Me-1', table => 0 }, { cpuid => 'You-1', table => 1 },
            { cpuid => 'You-2', table => 1 }];
    }
    sub try {
        my ($self, $name) = @_;
        push @{ $self->{asked} }, $name;
        return $name eq 'good' ? { works => 1, name => 'good:u' } : $works{$name}
            ? { works => 1, name => $name } : { works => 0,
                why => 'there is nothing to count it with' };
    }
}

sub made_up {
    my ($width, $opt, @patterns) = @_;
    no warnings 'redefine';
    local *Devel::DProf::Tool::Dproflist::terminal_width = sub { $width };
    my $made = Made->new;
    my $processor = { cpuid => 'Me-1', row => 'Me-1', version => 'v1', pmu => 'cpu', hidden => 0 };
    my @items = Devel::DProf::Tool::Dproflist::chosen($opt, $made, @patterns);
    Devel::DProf::Tool::Dproflist::tried($made, $processor, $_) for @items;
    return (Devel::DProf::Tool::Dproflist::list_text($opt, $made, $processor, !@patterns, @items),
        $made);
}

subtest 'The text fits its width and explains marks' => sub {
    for my $width (40, 80, 200) {
        my ($text) = made_up($width, { a => 1, l => 1 });
        my @wide = grep { length > $width } split /\n/, $text;
        is("@wide", '', "no line is wider than $width columns");
        my $longest = (sort { $b <=> $a } map { length } split /\n/, $text)[0];
        cmp_ok($longest, '>', $width - 12, "the lines use the $width columns");
    }
    my ($text, $made) = made_up(80, {});
    is(join(' ', $text =~ /^(?:\[.\]|   ) (\w+)  /mg), 'good bad worse',
        'deprecated events and those of the whole machine are left out');
    is("@{ $made->{asked} }", 'good bad worse', 'only listed events are tried');
    is(scalar(() = $text =~ /there is nothing to count it with/g), 1, 'a reason is printed once');
    like($text, qr/^\[u\] good /m, 'a counter of the program alone is marked with u');
    like($text, qr/^\[1\] bad .*^\[1\] worse .*^\[1\] there is.*^\[u\] without /ms,
        'events that do not work have numbers of reasons, which come at the end');
    ($text) = made_up(80, {}, 'OLD');
    like($text, qr/^    old  .*and more\n? *\(deprecated\)$/ms,
        'a deprecated event is listed by its name, and marked');
    ($text, $made) = made_up(80, { a => 1 });
    like($text, qr/\(whole machine\)/, '--all lists events of the whole machine, marked');
    like($text, qr/^Events of other processors \(You-1, You-2\): cache$/m,
        '--all lists other tables with their processors');
    like($text, qr/^    other  Theirs$/m, '--all puts no marks on events of other tables');
    is("@{ $made->{asked} }", 'good bad worse old',
        '--all does not try the events of other tables');
};

subtest 'The command line is checked' => sub {
    for (['--bogus'], ['--cpuid', 'ops']) {
        my $run = list(@$_);
        is("$run->{status} $run->{out}", '2 ', "dproflist @$_ gives status 2");
        like($run->{err}, qr/Try 'dproflist -h'/, "dproflist @$_ names -h");
    }
    like(list('-V')->{out}, qr/^dproflist version: \d/, '-V prints the version');
    like(list('-h')->{out}, qr/^dproflist \[options\] \[pattern \.\.\.\]\n/, '-h prints the usage');
    $run = run_tool('dproflist', ['svs'], env => { DPROFLIST_OPTS => '--json' });
    is(names(eval { JSON::PP->new->utf8->decode($run->{out}) } // { events => [] }), 'svs',
        'DPROFLIST_OPTS gives options');
};

done_testing;
