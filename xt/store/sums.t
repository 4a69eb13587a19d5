# Sums that ClickHouse makes are those of the folder, to the unit. Random profiles of several
# processes, versions and hosts are read by all tools that read sums; also if rows came twice.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use ClickHouse;
use DProfTest;
use List::Util qw(shuffle);
use Test::More;
use Devel::DProf::Store;
use Devel::DProf::Store::ClickHouse;
use Devel::DProf::Store::Failure;
use Devel::DProf::Store::RunSet;

ClickHouse::need();
# Another seed is another test: SEED=N.
my $dir = scratch();
my ($server) = ClickHouse::start_all($dir, 1);
my $seed = $ENV{SEED} // time;
diag("SEED=$seed");
srand $seed;
my $n = 0;

# A store of its own on the server, and one that is a folder.
sub pair {
    $n++;
    my @urls = ('clickhouse:' . $server->url . "/u$n", "dir:$dir/u$n");
    my @stores = map { Devel::DProf::Store::open($_) } @urls;
    $_->init for @stores;
    return (\@urls, @stores);
}

sub one_of { return $_[rand @_] }

# ---- random slices ----

my @names = ('main f', 'main g', 'My::A run', 'My::A __ANON__', 'My::B __ANON__', 'main BEGIN',
    '% main', 'sql SELECT%201', 'CORE sleep');

# Returns the subs that a file may have, as lines without numbers of anonymous subs.
sub subs {
    return map {
        my $name = $_;
        $name eq '% main' ? "$name - kind=phase" : $name =~ /^sql/ ? "$name - kind=span"
            : $name =~ /^CORE/ ? "$name - kind=builtin"
            : $name !~ /__ANON__|BEGIN/ ? "$name f.pl:" . length $name
            : map { "$name f.pl:$_"
                . ($name =~ /__ANON__/ && $_ == 2 ? ' in=main::f' : '') } 1 .. 3;
    } @names;
}

# Returns the text of a slice as recorders write it: IDs with gaps, numbers of anonymous subs that
# differ between processes, two anonymous subs in one place.
sub slice {
    my (%how) = (kind => 'tree', @_);
    my $process = $how{process};
    my @lines = map {
        my ($line, $i) = ($_, 0);
        $line !~ /__ANON__|BEGIN/ ? $line : map { "$line seq=" . (100 + 40 * $process + 3 * $_
            + ($line =~ /:(\d)/)[0]) } 1, 2
    } subs();
    # All slices of a process have the first sub of a place if they have the second one.
    my $has = sub { rand() < 0.7 };
    my %first;
    @lines = sort grep { my ($place) = /\A(\S+ \S+ \S+)/;
        /seq=/ ? $first{$place}++ ? $has->() : 1 : $has->() || / main -/ } @lines;
    my ($id, %line) = 0;
    $line{ $id += 1 + int rand 3 } = $_ for @lines;
    my @ids = sort { $a <=> $b } keys %line;
    my ($phase) = grep { $line{$_} =~ /kind=phase/ } @ids;
    my @counters = $how{kind} eq 'samples' ? ('samples:samples') : @{ $how{counters} };
    my ($text, @sums) = ('', (0) x 4);
    my $context = sub {
        my ($depth, $id, $at) = @_;
        my $calls = $how{kind} eq 'samples' ? 0 : int rand 20;
        my @t = map { int rand 1000 } 1 .. 3;
        my $longest = $calls && $how{kind} eq 'tree' ? int rand 50 : 0;
        $sums[$_] += ($calls, @t)[$_] for 0 .. 3;
        $text .= join(' ', '=', $depth, sprintf('%x', $id), $calls, @t, $longest,
            $longest ? int rand $longest : 0, map { int rand 300 } @counters)
            . (length $at ? " at=$at" : '')
            . ($depth && rand() < 0.1 ? ' folded=' . int rand 9 : '')
            . "\n";
    };
    my ($tree, $left) = (undef, 60);
    $tree = sub {
        my ($depth, @choice) = @_;
        for my $id (grep { rand() < 0.15 } @choice) {
            return if $left-- < 0;
            for my $at (sort map { $how{sites} ? "f.pl:$_" : '' } 1 .. ($how{sites} ? 2 : 1)) {
                $context->($depth, $id, $at);
                $tree->($depth + 1, grep { $_ != $phase } @ids) if $depth < 6;
            }
        }
    };
    $context->(0, 0, '');
    $context->(1, $phase, '');
    $tree->(2, grep { $_ != $phase } @ids);
    $tree->(1, grep { $_ > $phase } @ids);
    my $names = join '', map { sprintf "& %x %s\n", $_, $line{$_} } @ids;
    my $more = $how{kind} eq 'samples' ? '' : join '', map {
        my %b = map { int rand 30 => 1 } 1 .. 4;
        sprintf "h %x%s\n", $_, join '', map { " $_:" . (1 + int rand 9) } sort { $a <=> $b }
            keys %b } grep { rand() < 0.4 } @ids;
    if ($how{lines}) {
        $more .= join '', map { my $file = $_; "#f $file size=7 crc=1f\n", map { sprintf
            "#l %d %x %d %d %d %d%s%s\n", $_, one_of(0, @ids), 1 + rand 9, (map { int rand 99 }
            1 .. 3), join('', map { ' ' . int rand 9 } @counters), rand() < 0.3 ? ' later=1' : '' }
            1 .. rand 6 } 'f.pl', 'g.pl';
    }
    my ($span) = grep { $line{$_} =~ /kind=span/ } @ids;
    $more .= sprintf "#s %x rows=%d\n", $span, rand 9 if $span && rand() < 0.5;
    $more .= '#r GET%20/ seen=' . (3 + int rand 9) . ' kept=2 ns=' . int(rand 1e6)
        . " longest=70000 3:1 9:1\n" if rand() < 0.5;
    my $count = () = "$names$text$more" =~ /\n/g;
    return sprintf("#fOrTyTwO\n\$hz=%d;\n\$XS_VERSION='DProf 20261120.00';\n\$over_utime=0; "
        . "\$over_stime=0; \$over_rtime=0;\n\$over_tests=10000;\n\$dprof_format='tree 1'; "
        . "\$dprof_run='%032x'; \$dprof_pid=%d; \$dprof_tid=0;\n\$dprof_slice=%d;\n"
        . "\$dprof_perl='5.36.0'; \$dprof_script='%s'; \$dprof_start=%s;\n"
        . "\$dprof_options='mode=tree,callsites=%d,slice=60%s'; \$dprof_end=1;\n%s%s"
        . "\$dprof_hash_seed=''; \$dprof_perturb_keys='';\n\$rrun_utime=%d; \$rrun_stime=%d; "
        . "\$rrun_rtime=%d; \$dprof_own_cpu=%d;%s%s\n\nPART3\n", $how{hz}, $process, 50 + $process,
        $how{slice}, $how{script} // 'app.psgi', $how{start}, $how{sites} ? 1 : 0,
        $how{kind} eq 'samples' ? ',sample=100' : '',
        $how{lines} ? "\$dprof_lines='time';\n" : '',
        @counters ? "\$dprof_counters='@counters';\n" : '', @sums[1 .. 3], int rand 99,
        $how{cut} ? '' : ' $dprof_complete=1;', ' ' x rand 20) . $names . $text . $more
        . sprintf "# end lines=%d calls=%d user=%d system=%d real=%d\n", $count, @sums;
}

# Profiles of a service. HOW: kinds, or what else distinguishes slices: a list of options of
# slice(), of which each profile has one.
sub profiles {
    my ($count, @how) = @_;
    my %last;
    return map {
        my $process = int rand 9;
        my $start = 1_795_300_000 + 900 * $_;
        my %how = (process => $process, slice => ++$last{$process}, hz => 1000, start => $start,
            counters => ['ops:ops'], sites => 0, %{ one_of(@how) });
        my $path = scratch() . '/slice';
        spew($path, slice(%how));
        { file => $path, service => 'web', version => '1.' . int(4 * $_ / $count),
            host => 'h' . $process % 4, env => '', start => $start + 0.25, seconds => 60,
            run => sprintf '%032x-%d-0-%d', $process, 50 + $process, $how{slice} }
    } 1 .. $count;
}

# ---- what is compared ----

my @commands = (['dprofreport'], ['dprofreport', '--format=csv', '-m', 'real', '-F', 'max,min'],
    ['dprofreport', '-G'], ['dprofreport', '-s', 'parent,sym'], ['dprofreport', '-s', 'srcline'],
    ['dprofreport', '--children', '-m', 'calls'], ['dprofreport', '--requests'],
    ['dprofreport', '-s', 'span'], ['dprofreport', '--main'], ['dprofreport', '--per-call'],
    ['dproffold'], ['dprofmerge', '-o', '-'],
    map({ ['dprofreport', '--history', $_, '--by', 'version', '--format=json'] } 'main::f',
        'My::A::__ANON__[f.pl:2]', '(program)'),
    ['dprofreport', '--history', 'main::g', '--by', '1h', '-m', 'calls', '--format=csv'],
    ['dprofreport', '--history', 'main::g', '--by', '1h', '-m', 'ops', '--main', '--format=csv'],
    map({ ['dprofdiff', @$_, '--run-set', 'version=1.0', 'version=1.2'] } [], ['-v'],
        ['--format=csv', '-n'], ['-m', 'ops'], ['--buckets', 2]),
    map { ['dprofdiff', '--bisect', 'service=web', '-v', @$_] } [], ['-m', 'ops'], ['--children'],
        ['--alpha', '0.9', '--floor', '0']);

# Runs all commands with both stores, and compares what they print.
sub same_outputs {
    my ($what, $urls, @more) = @_;
    for my $command (@commands) {
        my ($tool, @args) = @$command;
        my @set = grep({ /^--run-set|^--bisect/ } @args) ? () : ('--run-set', 'service=web');
        my @runs = map { run_tool($tool, ['--from', $_, @args, @set, @more]) } @$urls;
        is($runs[0]{out}, $runs[1]{out}, "$what: @$command @more");
        is($runs[0]{status}, $runs[1]{status}, '... with the same status');
        diag($runs[0]{err}) if $runs[0]{status} != $runs[1]{status};
    }
    return;
}

# Calls CODE, and returns how often profiles were fetched one by one.
sub fetched {
    my ($code) = @_;
    my $count = 0;
    my $fetch = Devel::DProf::Store::ClickHouse->can('fetch_some');
    no warnings 'redefine';
    local *Devel::DProf::Store::ClickHouse::fetch_some = sub { $count += @_ - 1; goto &$fetch };
    $code->();
    return $count;
}

# What the profiles of a set add up to: the text of the tree that dprofmerge makes of it.
sub merged {
    my ($url, $set) = @_;
    return run_tool('dprofmerge', ['-o', '-', '--from', $url, '--run-set', $set])->{out};
}

for (['slices', 60, {}], ['places of calls', 30, { sites => 1 }], ['lines', 30, { lines => 1 }],
    ['several kinds of slices', 60, {}, { counters => ['ops:ops', 'svs:SVs'] }, { hz => 10_000 },
        { lines => 1 }, { script => 'other' }, { sites => 1 }, { cut => 1 }],
    ['samples', 40, { kind => 'samples' }]) {
    my ($what, $count, @how) = @$_;
    subtest "Sums of $what" => sub {
        my ($urls, @stores) = pair();
        my @profiles = shuffle(profiles($count, @how));
        $_->add(\@profiles) for @stores;
        same_outputs($what, $urls);
        my @all = $stores[0]->select({});
        my @files;
        is(fetched(sub { @files = $stores[0]->sums([\@all], scratch()) }), 0,
            'no profile is fetched by itself');
        my ($trees) = scalar grep { -s $_ > 1500 } @{ $files[0] };
        cmp_ok($trees, '<', $count / 2, 'there are fewer trees than profiles');
    };
}

subtest 'Rows that came twice count once' => sub {
    my ($urls, @stores) = pair();
    my @profiles = profiles(30, {}, { lines => 1 });
    $_->add(\@profiles) for @stores;
    {
        no warnings qw(redefine once);
        local *Devel::DProf::Store::ClickHouse::new_profiles = sub { @_[1 .. $#_] };
        $stores[0]->add([@profiles[0 .. 9]]);
    }
    same_outputs('twice', $urls);
    my $copies = [map { { %$_, service => 'copy' } } @profiles[5 .. 8]];
    $_->add($copies) for @stores;
    is(merged($urls->[0], ''), merged($urls->[1], ''), 'a profile of two services counts once');
    $server->ask("ALTER TABLE u$n.dprof_samples DELETE WHERE ctx != 0 AND run = "
        . "'$profiles[20]{run}'");
    select undef, undef, undef, 0.1 while $server->ask('SELECT count() FROM system.mutations WHERE '
        . 'NOT is_done');
    my $run = run_tool('dprofreport', ['--from', $urls->[0], '--run-set', '']);
    is($run->{status}, 1, 'missing rows are an error');
    like($run->{err}, qr/rows of the profile \S+ of web are missing/, '... which names a profile');
};

subtest 'Slices of one process that have other subs' => sub {
    my ($urls, @stores) = pair();
    my @profiles = grep { $_->{run} =~ /3-53-0/ } profiles(60, {});
    # The first anonymous sub of each place has not run in some slices.
    for my $k (0 .. $#profiles) {
        my $text = slurp($profiles[$k]{file});
        my ($id) = $text =~ /^& ([0-9a-f]+) My::A __ANON__ f\.pl:1 seq=\d+$/m;
        next if $k % 2 || $text =~ /^= \d+ $id /m || $text =~ /^h $id /m;
        $text =~ s/^& $id .*\n//m and $text =~ s/lines=(\d+)/'lines=' . ($1 - 1)/e;
        spew($profiles[$k]{file}, $text);
    }
    $_->add(\@profiles) for @stores;
    same_outputs('one process', $urls);
};

subtest 'More profiles than one statement names' => sub {
    my ($urls, @stores) = pair();
    my @profiles = profiles(30, {}, { lines => 1 });
    $_->add(\@profiles) for @stores;
    my @all = $stores[0]->select({});
    require Devel::DProf::Store::ClickHouse::Sums;
    no warnings qw(redefine once);
    local $Devel::DProf::Store::ClickHouse::Sums::Most = 4;
    my $folder = scratch();
    my ($paths) = $stores[0]->sums([\@all], $folder);
    my $out = run_tool('dprofmerge', ['-o', '-', @$paths])->{out};
    is($out, merged($urls->[1], ''), 'parts are added up');
};

done_testing;
