# dprofdiff agrees with a naive model; the tables of perf's manual, pairing, slices of time,
# messages.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew slurp run_tool in_process);
use MadeUp;
use JSON::PP ();
use Devel::DProf::Constants qw(time_words);

my $dir = scratch();
my $n = 0;

sub file { my ($text, $name) = @_; return spew($dir . '/' . ($name // ++$n . '.in'), $text) }

sub tool {
    my (@args) = @_;
    my %how = ref $args[0] ? %{ shift @args } : ();
    return run_tool('dprofdiff', ['--format=perf', @args], %how);
}

sub json {
    my $run = in_process('dprofdiff', '--format', 'json', @_);
    return eval { JSON::PP->new->utf8->decode($run->{out}) }
        // { rows => [], err => $run->{err}, status => $run->{status} };
}

sub by_name { my ($json) = @_; return { map { $_->{symbol} => $_ } @{ $json->{rows} } } }

# Turns weights by stack into folded text.
sub folded { my (%weight) = @_; return file(join '', map { "$_ $weight{$_}\n" } sort keys %weight) }

# Turns counts by stack into [self, inclusive] by sub, and the total.
sub naive {
    my (%weight) = @_;
    my (%row, $total);
    for my $stack (keys %weight) {
        my @frames = ('(program)', split /;/, $stack);
        my %seen;
        $row{ $frames[-1] }[0] += $weight{$stack};
        $row{$_}[1] += $weight{$stack} for grep { !$seen{$_}++ } @frames;
        $total += $weight{$stack};
    }
    return ($total, map { $_ => [map { $_ // 0 } @{ $row{$_} }[0, 1]] } keys %row);
}

# ---- the three tables of perf diff's manual ----

my %manual = (A => { f1 => 177, f2 => 349, f3 => 87, f4 => 259, f6 => 42 },
    B => { f2 => 267, f4 => 335, f5 => 128 },
    C => { f1 => 183, f2 => 176, f5 => 176 });
my %path = map { $_ => folded(%{ $manual{$_} }) } keys %manual;
for (['A B C', { f1 => 'b x', f2 => 'bxx', f3 => 'b  ', f4 => 'bx ', f6 => 'b  ', f5 => ' xx' }],
    ['B A C', { f2 => 'bxx', f4 => 'bx ', f5 => 'b x', f1 => ' xx', f3 => ' x ', f6 => ' x ' }],
    ['C B A', { f1 => 'b x', f2 => 'bxx', f5 => 'bx ', f3 => '  x', f4 => ' xx', f6 => '  x' }]) {
    my ($order, $want) = @$_;
    for my $compute (('delta', 'ratio', 'wdiff:1,2')) {
        my $run = tool('--unit', 'samples', '-t', '|', '-q', '--skip', '^\(program\)$', '-c',
            $compute, map { $path{$_} } split(' ', $order));
        my %got = map {
            my @f = split /\|/, $_, -1;
            ($f[-1] => ($f[0] ne '' ? 'b' : ' ') . join '', map { $_ ne '' ? 'x' : ' ' } @f[1, 4])
        }
            split /\n/, $run->{out};
        is_deeply(\%got, $want, "diff $order, $compute: the rows are those of the manual");
    }
    my $run = tool('--unit', 'samples', map { $path{$_} } split ' ', $order);
    like($run->{out}, qr/^# Baseline: \Q$path{ substr $order, 0, 1 }\E\n# File 1: .*\n# File 2: /,
        "$order: the header names the sides");
    like($run->{out},
        qr/^Baseline\/0\ \ Delta\/1\ \ Change\/1\ \ Change\ %\/1\ \ Delta\/2\ \ Change\/2\ \ Change
            \ %\/2\ \ Symbol$/mx, "$order: the header has the titles of all sides");
}

# ---- formulas ----

subtest "Columns follow perf's formulas" => sub {
    my @two = ('--unit', 'samples', @path{qw(A B)});
    my $rows = by_name(json(@two));
    is(sprintf('%.2f', $rows->{f4}{delta}), '17.55',
        'delta is 335 / 730 - 259 / 914, in percentage points');
    is($rows->{f4}{change}, 76, 'change is the difference of values');
    is($rows->{f4}{status} . $rows->{f3}{status} . $rows->{f5}{status}, 'bothgonenew',
        'status tells common, gone and new subs');
    is($rows->{f5}{baseline_pct}, undef, 'a new sub has no baseline');
    is(sprintf('%.2f', $rows->{f5}{delta}), '17.53', 'the delta of a new sub is its share');
    is($rows->{f3}{delta}, undef, 'a sub that is gone has no delta');
    is(by_name(json('-c', 'wdiff:1,2', @two))->{f4}{wdiff}, 335 * 2 - 259,
        'wdiff is new * its weight - baseline * its weight');
    is(sprintf('%.6f', by_name(json('-c', 'ratio', @two))->{f4}{ratio}), '1.293436',
        'ratio is new / baseline');
    my $text = tool('-c', 'wdiff:1,2', '-F', '-p', '-t', '|', '-q', @two)->{out};
    like($text, qr/^28\.34%\|259\|\+?411\|\(335 \* 2\) - \(259 \* 1\)\|\+76\|\+29\.34%\|335\|f4$/m,
        '-F and -p print the formula of wdiff') or diag $text;
    like($text, qr/^\|0\|N\/A\|\(128 \* 2\) - \(0 \* 1\)\|\+128\|\|128\|f5$/m,
        '-F and -p print the formula of wdiff for a new sub');
    like($text, qr/^9\.52%\|87\|\|\|-87\|\|\|f3$/m,
        '-F and -p print no formula of wdiff for a sub that is gone');
    $text = tool('-F', '-t', '|', '-q', @two)->{out};
    like($text,
        qr/^28\.34%\|\+17\.55%\|\(335\ \*\ 100\ \/\ 730\)\ -\ \(259\ \*\ 100\ \/
            \ 914\)\|\+76\|\+29\.34%\|f4$/mx, '-F prints the formula of delta');
    like(tool('-c', 'ratio', '-F', '-t', '|', '-q', @two)->{out},
        qr/^28\.34%\|1\.293436\|335 \/ 259\|\+76\|\+29\.34%\|f4$/m,
        '-F prints the formula of ratio');
    unlike(tool('-b', @two)->{out}, qr/ f[356]$/m, '-b drops new subs and those that are gone');
    like(tool('-b', @two)->{out}, qr/28\.34%/, '-b leaves the shares as they are');
    like(tool('-v', '-q', '-t', '|', @two, '-S', 'f4')->{out},
        qr/\A28\.34%\|259\|0\|\+17\.55%\|\+76\|\+29\.34%\|335\|0\|f4\n\z/,
        '-v prints values and calls of both sides');
    my $relative = by_name(json('--percentage', 'relative', '-S', 'f2,f4', @two));
    is(sprintf('%.2f', $relative->{f2}{delta}), sprintf('%.2f', 100 * 267 / 602 - 100 * 349 / 608),
        '--percentage relative divides by what each side shows');
    my $normal = by_name(json('-n', @two));
    is($normal->{f4}{value}, int(335 * 914 / 730 + 0.5),
        '-n scales the new side to the total of the baseline');
    like(tool('-n', @two)->{out}, qr/^# Normalized: /m, 'the header says that -n was given');
    like(tool(@two)->{out},
        qr/^# Metric: samples, self\n.*^# Baseline total: 914\n# New total: 730 \(-20\.13%\)/ms,
        'the header has metric and totals');
    like(tool('-q', '-O', 1, @two)->{out}, qr/\A.*f2\n\n?.*f5\n\n?.*f1\n\z/,
        '-O limits each section');
    like(tool('-s', 'package', '-q', '-t', '|', @two)->{out},
        qr/^100\.00%\|0\.00%\|-184\|-20\.13%\|main$/m, '-s package adds up by package');
};

# ---- random stacks: the model, and what must always hold ----

my $seed = $ENV{DPROF_SEED} // 7;
srand $seed;
sub random_stacks {
    my %weight;
    for (1 .. 3 + int rand 12) {
        my $stack = join ';', map { (qw(A::a A::b A::c A::d A::e B::x))[rand 6] }
            1 .. 1 + int rand 5;
        $weight{$stack} = 1 + int rand 1000;
    }
    return %weight;
}
my ($wrong, @why) = (0);
for my $round (1 .. TestEnvironment::rounds(2, 25)) {
    my %old = random_stacks();
    my %new = rand() < 0.3 ? (%old, random_stacks()) : random_stacks();
    my ($old, $new) = (folded(%old), folded(%new));
    my ($t, %b) = naive(%old);
    my ($u, %a) = naive(%new);
    for my $which (0, 1) {
        my $json = json('--unit', 'samples', ($which ? '--children' : ()), $old, $new);
        my $back = by_name(json('--unit', 'samples', ($which ? '--children' : ()), $new, $old));
        my $rows = by_name($json);
        my %all = map { $_ => 1 } keys %a, keys %b;
        push @why, "$round: names" if join(' ', sort keys %all) ne join ' ', sort keys %$rows;
        for my $name (keys %all) {
            my $row = $rows->{$name};
            my ($x, $y) = map { $_->[$which] // 0 } $b{$name} || [], $a{$name} || [];
            my $delta = 100 * $y / $u - 100 * $x / $t;
            push @why, "$round $which $name: change"
                if $row->{change} != $y - $x || $back->{$name}{change} != $x - $y;
            push @why, "$round $which $name: delta"
                if $a{$name} && abs($row->{delta} - $delta) > 0.00501;
            push @why, "$round $which $name: mirror"
                if $a{$name} && $b{$name} && abs($row->{delta} + $back->{$name}{delta}) > 1e-9;
            push @why, "$round $which $name: status"
                if $row->{status} ne (!$b{$name} ? 'new' : !$a{$name} ? 'gone' : 'both');
        }
        my @sizes = map { abs $_->{change} } grep { $_->{status} eq 'both' } @{ $json->{rows} };
        push @why, "$round $which: order" if grep { $sizes[$_] > $sizes[ $_ - 1 ] } 1 .. $#sizes;
        @sizes = map { abs $_->{delta} } grep { $_->{status} eq 'both' && $_->{change} }
            @{ json('--unit', 'samples', '-o', 1, ($which ? '--children' : ()), $old,
                $new)->{rows} };
        push @why, "$round $which: order of -o 1"
            if grep { $sizes[$_] > $sizes[ $_ - 1 ] + 0.011 } 1 .. $#sizes;
    }
    my $tree = json('--unit', 'samples', '--tree', '--percent-limit', rand() < 0.5 ? 0 : 20,
        $old, $new);
    my $sum = 0;
    $sum += $_->{self_delta} for @{ $tree->{rows} };
    push @why, "$round: the tree's own deltas add up to $sum"
        if $sum != $u - $t || $tree->{rows}[0]{delta} != $u - $t;
    my @above;
    my %below;
    for my $row (@{ $tree->{rows} }) {
        splice @above, $row->{level};
        push @above, $row;
        $below{ 0 + $above[-2] } += $row->{delta} if @above > 1;
    }
    push @why, "$round: $_->{symbol}: its branches"
        for grep { exists $below{ 0 + $_ } && $below{ 0 + $_ } + $_->{self_delta} != $_->{delta} }
        @{ $tree->{rows} };
    my $same = json('--unit', 'samples', $old, $old);
    push @why, "$round: a file and itself"
        if grep { $_->{change} || $_->{delta} || $_->{verdict} ne 'equal' } @{ $same->{rows} };
}
is("@why[0 .. ($#why < 5 ? $#why : 5)]", '',
    '25 random pairs agree with the model and with each other');

# ---- trees: calls, ops, callers ----

sub tree_file {
    my ($subs, $lines, %how) = @_;
    my $header = join '', map { "\$$_='$how{$_}'; " } sort grep { $_ ne 'name' } keys %how;
    return file(profile_text(format => 'tree', hz => 1000, counters => 'ops:ops',
        times => [9, 0, 9], header => $header,
        lines => [map({ "& $_" } @$subs), map { "= $_" } @$lines]),
        $how{name});
}

subtest 'Trees are compared by calls, ops and callers' => sub {
    my @subs = ('1 A f a.pl:1', '2 A g a.pl:2', '3 A h a.pl:3');
    my %pinned = (dprof_hash_seed => 0, dprof_perturb_keys => 0);
    my $old = tree_file(\@subs, ['0 0 1 10 0 10 0 0 5', '1 1 3 100 0 100 0 0 1000',
        '2 3 6 30 0 30 0 0 600', '1 2 1 50 0 50 0 0 400'], %pinned);
    my $new = tree_file(\@subs, ['0 0 1 10 0 10 0 0 5', '1 1 3 100 0 100 0 0 1000',
        '2 3 9 45 0 45 0 0 900', '1 2 1 50 0 50 0 0 400', '2 3 1 5 0 5 0 0 100'], %pinned);
    my $calls = json('-m', 'calls', $old, $new);
    is_deeply({ map { $_->{symbol} => $_->{change} } @{ $calls->{rows} } },
        { 'A::f' => 0, 'A::g' => 0, 'A::h' => 4, '(program)' => 0 }, '-m calls compares calls');
    is($calls->{rows}[0]{symbol}, 'A::h',
        'changed subs come first, however small their shares are');
    like($calls->{exact}, qr/repeats/, 'the result says that calls repeat exactly');
    is(by_name(json('-m', 'ops', $old, $new))->{'A::h'}{change}, 400, '-m ops compares ops');
    is(by_name(json('-m', 'ops', '--children', $old, $new))->{'A::f'}{change}, 300,
        '-m ops --children compares inclusive ops');
    is(by_name(json($old, $new))->{'A::h'}{change}, 0.02, 'times are compared in seconds');
    my %random = (dprof_hash_seed => '', dprof_perturb_keys => '');
    my $unpinned = tree_file(\@subs,
        ['0 0 1 10 0 10 0 0 5', '1 1 3 100 0 100 0 0 1001', '2 3 6 30 0 30 0 0 602',
            '1 2 1 50 0 50 0 0 400'], %random);
    my $ops = json('-m', 'ops', $old, $unpinned);
    like($ops->{not_exact}, qr/\Q$unpinned\E was random.*0\.1 %/,
        'the result names the profile whose hash seed was random');
    is_deeply({ map { $_->{symbol} => $_->{verdict} } @{ $ops->{rows} } },
        { 'A::f' => 'equal', 'A::g' => 'equal', 'A::h' => 'exact', '(program)' => 'equal' },
        'a random hash seed makes 0.1 % of ops equal');
    my $callers = json('--callers', 'A::h', '-m', 'calls', $old, $new);
    is_deeply([map { [@$_{qw(caller baseline value delta)}] } @{ $callers->{rows} }],
        [['A::f', 6, 9, 3], ['A::g', 0, 1, 1]], '--callers has the calls of each caller');
    my $callees = json('--callees', 'A::g', $old, $new);
    is_deeply([map { [@$_{qw(callee baseline_calls calls)}] } @{ $callees->{rows} }],
        [['A::h', 0, 1]], '--callees has the calls of each callee');
    my $none = tool('--callers', 'A::nothing', $old, $new);
    is("$none->{status} $none->{err}", "1 there is no sub A::nothing; dprofreport lists the subs\n",
        '--callers of an unknown sub is an error');
    my $mixed = tool('-m', 'ops', $old, folded('A::f' => 3));
    is($mixed->{status}, 1, 'a metric that one side lacks gives status 1');
    my $times = join ', ', time_words();
    my $hint = 'trees have ops: record with -d:DProf=tree';
    like($mixed->{err},
        qr/\Aops: not all sides have it; $hint\n\Q$old\E has $times, calls, ops; /,
        'the message lists the metrics of the side that has more');
    like($mixed->{err}, qr/\n.* has $times\n\z/, 'the message lists the metrics of the other side');
    my $units = tool($old, folded('A::f' => 3));
    is($units->{status}, 1, 'times against an unknown unit give status 1');
    like($units->{err}, qr/--unit declares.*\n\Q$old\E: times\n.*: an unknown unit\n\z/,
        'the message names the units of both sides');
    is(tool('--unit', 'ms', $old, folded('A::f' => 3))->{status}, 0,
        '--unit lets times be compared with folded stacks');
    my $other = tree_file(\@subs, ['0 0 1 10 0 10 0 0 5', '1 1 3 1 0 1 0 0 9'],
        dprof_perl => '5.40.1', dprof_options => 'builtins=slow');
    my $here = tree_file(\@subs, ['0 0 1 10 0 10 0 0 5', '1 1 3 1 0 1 0 0 9'],
        dprof_perl => '5.36.0', dprof_options => 'builtins=no');
    is(tool($here, $other)->{err},
        "the sides differ: builtins is not the same: no, slow; record them alike, or add -f\n"
            . "the sides differ: perl is not the "
            . "same: 5.36.0, 5.40.1; record them alike, or add -f\n",
        'a message names each condition in which the sides differ');
    is(tool('-f', $here, $other)->{err}, '', '-f silences the message about conditions');
};

# ---- which subs are the same ----

subtest 'Subs of two sides pair up' => sub {
    my $context = sub {
        my ($subs) = @_;
        return ['0 0 1 1 0 1 0 0 0', map { "1 $_ 1 " . (10 * $_) . " 0 1 0 0 0" } 1 .. $subs];
    };
    my $pairs = sub {
        my ($old, $new, @args) = @_;
        my $json = json(@args, '--skip', 'program',
            tree_file($old, $context->(scalar @$old), dprof_script => 'x.pl'),
            tree_file($new, $context->(scalar @$new), dprof_script => 'x.pl'));
        return { map { $_->{symbol} => $_->{status}
            . ($_->{moved_from} ? " from $_->{moved_from}" : '') } @{ $json->{rows} } };
    };
    is_deeply($pairs->(['1 My __ANON__ /srv/a/old/lib/My.pm:10 in=My::f seq=5',
        '2 My f /srv/a/old/lib/My.pm:9'],
            ['1 My __ANON__ /srv/b/new/lib/My.pm:10 in=My::f seq=7',
                '2 My f /srv/b/new/lib/My.pm:9']),
        { 'My::__ANON__[lib/My.pm:10]' => 'both', 'My::f' => 'both' },
        'subs of another checkout pair up');
    is_deeply($pairs->(['1 My __ANON__ lib/My.pm:10 seq=5'],
        ['1 My __ANON__ /srv/b/new/lib/My.pm:10 seq=7']),
        { 'My::__ANON__[lib/My.pm:10]' => 'both' },
        'a file-level sub pairs up with relative and absolute path');
    is_deeply($pairs->(['1 main __ANON__ x.pl:10 seq=5'], ['1 main __ANON__ x.pl:12 seq=5']),
        { 'main::__ANON__[x.pl:12]' => 'both from x.pl:10' },
        'an anonymous sub of the script pairs up when it moves');
    is_deeply($pairs->(['1 My __ANON__ My.pm:10 in=My::f seq=5',
        '2 My __ANON__ My.pm:20 in=My::f seq=6'],
            ['1 My __ANON__ My.pm:15 in=My::f seq=5', '2 My __ANON__ My.pm:21 in=My::f seq=6']),
        { 'My::__ANON__[My.pm:15]' => 'both from My.pm:10',
            'My::__ANON__[My.pm:21]' => 'both from My.pm:20' },
            'anonymous subs pair up by their order in the sub around them');
    is_deeply($pairs->(['1 My __ANON__ My.pm:10 in=My::f seq=5',
        '2 My __ANON__ My.pm:20 in=My::f seq=6', '3 My __ANON__ My.pm:30 in=My::f seq=7'],
            ['1 My __ANON__ My.pm:23 in=My::f seq=5', '2 My __ANON__ My.pm:33 in=My::f seq=6']),
        { 'My::__ANON__[My.pm:10]' => 'gone', 'My::__ANON__[My.pm:23]' => 'both from My.pm:20',
            'My::__ANON__[My.pm:33]' => 'both from My.pm:30' },
        'when one is gone, those at the same distance pair up');
    is_deeply($pairs->(['1 My __ANON__ My.pm:10 in=My::f seq=5',
        '2 My __ANON__ My.pm:10 in=My::f seq=6'],
            ['1 My __ANON__ My.pm:10 in=My::f seq=5', '2 My __ANON__ My.pm:10 in=My::f seq=6']),
        { 'My::__ANON__[My.pm:10]' => 'both', 'My::__ANON__[My.pm:10]#2' => 'both' },
        'two anonymous subs on a line pair up in order');
    is_deeply($pairs->(['1 My __ANON__ (eval%2012):3 in=My::f seq=5', '2 My g (eval%207):1'],
        ['1 My __ANON__ (eval%2099):3 in=My::f seq=5', '2 My g (eval%208):1']),
        { 'My::__ANON__[(eval):3]' => 'both', 'My::g' => 'both' },
        'string evals pair up without their numbers');
    is_deeply($pairs->(['1 My __ANON__ My.pm:10 seq=5'], ['1 Other __ANON__ My.pm:10 seq=5']),
        { 'My::__ANON__[My.pm:10]' => 'gone', 'Other::__ANON__[My.pm:10]' => 'new' },
        'a sub of another package does not pair up');
    is_deeply($pairs->(['1 My END My.pm:10'], ['1 My END My.pm:14']),
        { 'My::END[My.pm:14]' => 'both from My.pm:10' }, 'END pairs up when it moves');
    is_deeply($pairs->(['1 My __ANON__ My.pm:10 seq=5', '2 My __ANON__ My.pm:20 seq=6'],
        ['1 My __ANON__ My.pm:10 seq=5'], '--no-separate-anon'),
        { 'My::__ANON__' => 'both' },
            '--no-separate-anon pairs up all anonymous subs of a package');
    my @old = ('1 Old f o.pm:1', '2 Old::In g o.pm:2', '3 Old __ANON__ o.pm:3 in=Old::f',
        '4 main same x.pl:1');
    my @new = ('1 New f o.pm:1', '2 New::In g o.pm:2', '3 New __ANON__ o.pm:3 in=New::f',
        '4 main other x.pl:1');
    my %renamed = ('New::f' => 'both', 'New::In::g' => 'both', 'New::__ANON__[o.pm:3]' => 'both',
        'main::other' => 'both');
    is_deeply($pairs->(\@old, \@new, '--map', 'Old::=New::', '--map', 'main::same=main::other'),
        \%renamed, '--map renames packages and subs');
    is_deeply($pairs->(\@old, \@new, '--map',
        'file://' . file("# renamed\nOld::=New::\r\n main::same = main::other")), \%renamed,
        '--map reads renames from a file');
    is_deeply($pairs->(['1 main a x.pl:1', '2 main b x.pl:2'],
        ['1 main a x.pl:1', '2 main b x.pl:2'], '--map', 'main::a=main::b'),
        { 'main::a' => 'both', 'main::b' => 'both' },
        '--map leaves a side alone that has the new name already');
    my $packages = json('--map', 'Old::=New::', '-s', 'package', tree_file(\@old, $context->(4)),
        tree_file(\@new, $context->(4)));
    is_deeply({ map { $_->{package} => $_->{status} } @{ $packages->{rows} } },
        { New => 'both', 'New::In' => 'both', main => 'both', '(program)' => 'both' },
        '--map renames packages, too');
    is_deeply($pairs->(['1 My __ANON__ /opt/a/My.pm:10 seq=5'],
        ['1 My __ANON__ /opt/b/c/My.pm:10 seq=5'], '--symfs', '/opt/a', '--symfs', '/opt/b/c/'),
        { 'My::__ANON__[My.pm:10]' => 'both' }, '--symfs removes the folder before a path');
    my $other = json(tree_file(['1 My __ANON__ lib/My.pm:10 in=My::f'], $context->(1)), '--unit',
        'ms', folded('My::__ANON__[/x/lib/My.pm:10]' => 10, 'My::f' => 3));
    is(by_name($other)->{'My::__ANON__[lib/My.pm:10]'}{status}, 'both',
        'folded stacks with places pair up without the sub around');
    $other = json(tree_file(['1 My __ANON__ lib/My.pm:10'], $context->(1)), '--unit', 'ms',
        folded('My::__ANON__[/x/lib/My.pm:10]' => 10));
    is(by_name($other)->{'My::__ANON__[lib/My.pm:10]'}{status}, 'both',
        'folded stacks without places pair up');
};

# ---- names as they are shown ----

subtest 'Names are those of the output' => sub {
    my $context = ['0 0 1 1 0 1 0 0 0', map { "1 $_ 1 1$_ 0 1 0 0 0" } 1 .. 3];
    my $old = tree_file(['1 My __ANON__ /a/My.pm:10 in=My::f seq=5', '2 My __ANON__ - kind=xs',
        '3 My f /a/My.pm:1'], $context);
    my $new = tree_file(['1 My __ANON__ /b/My.pm:12 in=My::f seq=5', '2 My __ANON__ - kind=xs',
        '3 My f /b/My.pm:1'], $context);
    my $names = sub { join ' ', sort map { $_->{symbol} } @{ json(@_, $old, $new)->{rows} } };
    is($names->(), '(program) My::__ANON__ My::__ANON__[My.pm:12] My::f',
        'names have places, but for an XS sub without one');
    is($names->('-S', 'My::__ANON__[My.pm:12]'), 'My::__ANON__[My.pm:12]',
        '-S takes names with places');
    is($names->('--only', 'My\\.pm:12\\]$'), 'My::__ANON__[My.pm:12]',
        '--only takes names with places');
    is($names->('-S', 'My::__ANON__'), 'My::__ANON__ My::__ANON__[My.pm:12]',
        '-S takes all anonymous subs of a package');
    my @closures = map { "$_ Gen __ANON__ (eval%20$_):1 in=Gen::f" . ($_ < 3 ? 1 : 2) . " seq=$_" }
        1 .. 3;
    is(join(' ', sort map { $_->{symbol} } grep { $_->{symbol} =~ /^Gen/ }
        @{ json(tree_file(\@closures, $context), tree_file(\@closures, $context))->{rows} }),
        'Gen::__ANON__[(eval):1] Gen::__ANON__[(eval):1] in Gen::f1',
        'closures of string evals are named by the sub around them');
    my $run = tool('--fail-if', '/nothing/ calls > 0', '--map', 'No::such=My::other', $old, $new);
    is($run->{err},
        "dprofdiff: the hash seed of $old was random, so that calls and ops may differ by chance; "
            . "PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 make them repeat\n"
        . "dprofdiff: --fail-if /nothing/ calls > 0: no sub matches\ndprofdiff: --map "
        . "No::such=My::other: no side has No::such\n",
        'a message names the rules and renames that match nothing');
    my $moved = json('--map', 'My::=Your::',
        tree_file(['1 My __ANON__ lib/My.pm:3'], ['0 0 1 1 0 1 0 0 0', '1 1 1 1 0 1 0 0 0']),
        tree_file(['1 Your __ANON__ lib/Your.pm:3'], ['0 0 1 1 0 1 0 0 0', '1 1 1 1 0 1 0 0 0']));
    is(by_name($moved)->{'Your::__ANON__[lib/Your.pm:3]'}{status}, 'both',
        'a renamed package in a renamed file pairs up');
    is_deeply([map { $_->{script} }
        @{ json('-s', 'script',
            map { tree_file([], ['0 0 1 1 0 1 0 0 0', '0 0 0 5 0 5 0 0 0'], dprof_script => $_) }
                qw(/a/x.pl /b/x.pl))->{rows} }], ['x.pl'],
                'a script in another checkout has one name');
    my $copy = file(slurp(tree_file([], ['0 0 1 1 0 1 0 0 0'], dprof_run => 'r', dprof_pid => 1)));
    like(tool("$copy," . file(slurp($copy)), $copy)->{err},
        qr/is the same recording as \Q$copy\E, and is left out/,
        'a copy of a recording is left out');
    like(tool('-m', 'nothing', $old, $new)->{err}, qr/\Athere is no metric nothing\n/,
        'a metric that no side has is an error');
    like(tool('-N', 3, $old, $new)->{err}, qr/\A-N is meaningful only with --run/,
        '-N without --run is an error');
    like(json('--tree', $old, $new)->{metric}, qr/with what was called/,
        '--tree has inclusive values');
    is(json('--callers', 'My::f', $old, $new)->{callers_of}, 'My::f',
        '--callers names the sub in JSON');
    like(tool($old, $new)->{out},
        qr/^\#\ Baseline\ total:\ .*\n\#\ New\ total:\ .*\n
            \#\ nothing\ changed:\ 4\ subs\ did\ not\ change\ \(-v\ shows\ them\)\n\#\n/mx,
        'if nothing changed, no sub is named');
    is(tool('--percent-limit', 50, '-q',
        tree_file(['1 A f a:1', '2 A g a:2'],
            ['0 0 1 0 0 0 0 0 0', '1 1 1 100 0 1 0 0 0', '1 2 1 100 0 1 0 0 0']),
        tree_file(['1 A f a:1', '2 A g a:2'],
            ['0 0 1 0 0 0 0 0 0', '1 1 1 101 0 1 0 0 0', '1 2 1 900 0 1 0 0 0']))->{out}
                =~ s/.*  //r, "A::g\n", '--percent-limit hides subs below it');
};

# ---- sides ----

sub trace {
    my ($subs, $marks, %how) = @_;
    my $header = join '', map { "\$$_='$how{$_}'; " } sort grep { $_ ne 'name' } keys %how;
    return file(profile_text(hz => 1000, times => [100, 0, 100], header => $header,
        lines => [map({ "& $_" } @$subs), @$marks]), $how{name});
}

subtest 'Slices of time, tmon.out.old and sets of runs are sides' => sub {
    my @subs = ('1 main f x.pl:1', '2 main g x.pl:2');
    my @marks = ('@ 10 0 10', '+ 1', '@ 20 0 20', '+ 2', '@ 30 0 30', '- 2', '@ 5 0 5', '- 1',
        '@ 35 0 35', '+ 2', '@ 0 0 0', '- 2');
    my $t = trace(\@subs, \@marks);
    my $slice = sub {
        my ($time, @more) = @_;
        my $json = json('--time', $time, '-v', @more ? @more : ($t, $t));
        return { map { $_->{symbol} => sprintf '%.3f/%d', @$_{qw(baseline baseline_calls)} }
            @{ $json->{rows} } };
    };
    is_deeply($slice->('0%-100%'), { '(program)' => '0.045/0', 'main::f' => '0.025/1',
        'main::g' => '0.030/2' }, '--time 0%-100% is the whole');
    is_deeply($slice->('0,0.020'), { '(program)' => '0.010/0', 'main::f' => '0.010/1' },
        '--time takes the first 20 ms');
    is_deeply($slice->('0.020,0.040'),
        { '(program)' => '0.000/0', 'main::f' => '0.010/0', 'main::g' => '0.010/1' },
        '--time: a sub that ran before the slice has no call');
    is_deeply($slice->('50%/2'), { '(program)' => '0.035/0', 'main::f' => '0.005/0',
        'main::g' => '0.010/1' }, '--time takes the second half');
    is_deeply($slice->('0%-10%,60%-65%'), { '(program)' => '0.010/0', 'main::f' => '0.005/0' },
        '--time takes two slices');
    my $two = by_name(json('--time', '0,0.020:0.020,', $t, $t));
    is("$two->{'main::f'}{baseline} $two->{'main::f'}{value}", '0.01 0.015',
        '--time takes a slice for each side');
    like(tool('--time', '0,1', $path{A}, $path{A})->{err},
        qr/slice of time can be taken of a trace only/, '--time of folded stacks is an error');
    for (['5', 'none of START,STOP'], ['5,2', 'nothing lies between'],
        ['50%-101%', 'ends at 100 %'], ['0%-10%,5%-20%', 'overlap'], ['50%/0', 'none of']) {
        my $run = tool('--time', $_->[0], $t, $t);
        like("$run->{status} $run->{err}", qr/\A2 --time\b.*$_->[1]/,
            "--time $_->[0] is a usage error");
    }
    my $home = scratch();
    spew("$home/tmon.out.old", slurp($t));
    spew("$home/tmon.out", slurp($t));
    spew("$home/third.out", slurp($t));
    like(tool({ dir => $home })->{out}, qr/\A# Baseline: tmon\.out\.old\n# New: tmon\.out\n/,
        'without files tmon.out is compared with tmon.out.old');
    like(tool({ dir => $home }, 'third.out')->{out},
        qr/\A# Baseline: tmon\.out\.old\n# New: third\.out\n/,
        'one file is compared with tmon.out.old');
    for my $k (1 .. 3) {
        trace(\@subs, ['@ 10 0 10', '+ 1', "\@ 2$k 0 2$k", '- 1'], dprof_run => "run$k",
            dprof_pid => 100 + $k, name => "set.$k");
        trace(\@subs, ['+ 1', '@ 1 0 1', '- 1'], dprof_run => "run$k", dprof_pid => 200 + $k,
            name => "set.$k.9");
    }
    spew("$dir/set.1.live", 'x');
    my $set = json("$dir/set.*", $t);
    is($set->{baseline}, "$dir/set.* (3 runs)",
        'files of one run count as one, and a leftover .live file does not count');
    is(by_name($set)->{'main::f'}{baseline}, '0.023',
        'the baseline is the median of the runs with their children');
    is(by_name(json("$dir/set.1,$dir/set.2", $t))->{'main::f'}{baseline}, 0.022,
        'a comma joins files: the value is the median of 21 and 22, rounded');
    is(by_name(json('--pid', '101', "$dir/set.1,$dir/set.1.9",
        "$dir/set.1"))->{'main::f'}{baseline}, 0.021, '--pid selects a process');
    my $run = tool('--pid', '4711', "$dir/set.1", "$dir/set.1");
    is("$run->{status} $run->{err}", "1 $dir/set.1: there is no pid 4711; it has 101\n",
        '--pid of an unknown process is an error');
    is(json('-s', 'pid,sub', "$dir/set.1,$dir/set.1.9", "$dir/set.1")->{rows}[0]{pid} // '',
        '101', '-s pid tells processes apart');
};

subtest 'Traces, trees, folded stacks and threads are sides' => sub {
    # Reads a trace, a gzipped tree and folded text of the same calls, then a thread's file.
    my $trace = trace(['1 main f x.pl:1'], ['@ 10 0 10', '+ 1', '@ 90 0 90', '- 1']);
    my $tree = tree_file(['1 main f x.pl:1'], ['0 0 1 10 0 10 0 0 0', '1 1 1 90 0 90 0 0 0']);
    my $packed = file('');
    require IO::Compress::Gzip;
    IO::Compress::Gzip::gzip(\slurp($tree), $packed) or die 'gzip';
    my $folded = file("main::f 90\n(program) 10\n");
    my $rows = json('-f', '--unit', 'ms', $trace, $packed, $folded)->{rows};
    is(join(' ', map { "$_->{symbol} $_->{change_1} $_->{change_2}" =~ s/\.0+\b//gr }
        sort { $a->{symbol} cmp $b->{symbol} } @$rows),
        '(program) 0 0 main::f 0 0', 'a trace, a gzipped tree and folded stacks compare as equal');
    my @threads = map { trace(['1 main f x.pl:1'], ['+ 1', "\@ $_ 0 $_", '- 1'],
        dprof_run => 'threads', dprof_pid => 1, dprof_tid => $_) } 1, 2;
    is(by_name(json('--tid', 2, join(',', @threads), $threads[1]))->{'main::f'}{baseline},
        0.002, '--tid selects a thread');
};

# ---- messages ----

for ([undef, 'Unable to open DIR/missing: No such file or directory'],
    ['', 'Not a perl profile: DIR/empty (it is empty)', 'empty'],
    ["nothing\n", 'Not a perl profile: DIR/text', 'text'],
    [profile_text(format => 'tree', header => "\$dprof_format='tree 9';"),
        'DIR/newer: .*9', 'newer'],
    [profile_text(format => 'classic', header => '$total_marks=0;'),
        'DIR/bare: the profile is empty', 'bare'],
    [profile_text(format => 'classic', times => undef, lines => ['- 5']),
        'Garbled profile.*\(DIR/garbled, line 5', 'garbled']) {
    my ($text, $message, $name) = @$_;
    my $path = defined $name ? file($text, $name) : "$dir/missing";
    $message =~ s/DIR/\Q$dir\E/g;
    $message =~ s/\(it/\\(it/, $message =~ s/\)$/\\)/ if $message =~ /it is empty/;
    for my $args ([$path, $path{A}], [$path{A}, $path]) {
        my $run = tool('--unit', 'samples', @$args);
        is($run->{status}, 1, ($name // 'missing') . ': a file that cannot be read gives status 1');
        like($run->{err}, qr/\A$message.*\n\z/,
            ($name // 'missing') . ': a file that cannot be read gives one line');
        is($run->{out}, '', ($name // 'missing') . ': a file that cannot be read gives no table');
    }
}
for (['-c', 'bogus', 'delta, delta-abs, ratio or wdiff'], ['-c', 'wdiff', 'two whole numbers'],
    ['-c', 'wdiff:0,1', 'two whole'], ['-c', 'wdiff:1.5,1', 'two whole'],
    ['-c', 'delta:1', 'no value after a colon'],
    ['-o', '5', 'sides are numbered 0 to 1'], ['-o', '-1', 'must not be negative'],
    ['-s', 'bogus', 'Unknown --sort key'], ['-t', '.', 'non valid'],
    ['--format', 'xml', 'unknown format xml; there are csv, '],
    ['--percentage', 'x', 'relative or absolute'], ['--map', 'x', 'not OLD=NEW'],
    ['--map', 'A::=b', 'ends in ::'], ['--tree', '--callers', 'x', 'only one of them'],
    ['--alpha', 2, 'between'],
    ['-O', 0, 'positive'], ['--bogus', 'Unknown option'], ['-s', 'parent', 'dprofreport'],
    ['--only', '(', 'not a regular']) {
    my @args = @$_;
    my $message = pop @args;
    my $run = tool(@args, @path{qw(A B)});
    is($run->{status}, 2, "dprofdiff @args exits with 2");
    like($run->{err}, qr/\Q$message\E.*\nTry 'dprofdiff -h' for help\.\n\z/,
        "dprofdiff @args says what is wrong");
}
like(tool('-m', $path{A}, '--unit', 'x', $path{B})->{out},
    qr/^# Baseline: \Q$path{A}\E\n# New: \Q$path{B}\E/, "perf's -m changes nothing");
like(tool('-m', 'real', '--unit', 'x', @path{qw(A B)})->{out}, qr/^# Baseline: \Q$path{A}/,
    '-m takes a metric before the file');
is(tool({ env => { DPROFDIFF_OPTS => '-m calls' } }, '-m', 'cpu', '--unit', 'x',
    @path{qw(A B)})->{status}, 0, 'the command line overrides DPROFDIFF_OPTS');
like(tool('-D', '--unit', 'x', $path{C}, $path{C})->{out},
    qr/\A# \Q$path{C}\E\n       1 0x00000000  f1 183\n       2 0x00000007  f2 176\n/,
        '-D lists the subs of each file');
{
    my $home = scratch();
    my $old = 'Unable to open tmon.out.old: No such file or directory; '
        . 'run perl -d:DProf PROGRAM twice to get it';
    for my $args (['-D'], ['-D', $path{A}], []) {
        my $run = tool({ dir => $home }, @$args);
        is(($run->{err} =~ /(.*)/)[0], $old,
            "@$args: a message says how to record the missing baseline");
        is($run->{status}, 1, "@$args: a missing baseline gives status 1");
    }
    my $run = tool({ dir => $home }, '-D', $path{A}, 'none');
    like($run->{err}, qr/^Unable to open none: No such file or directory; dprof run /m,
        '-D names another missing file');
}
like(tool('-V')->{out}, qr/\Adprofdiff version: \d{8}\.\d\d\n\z/, '-V prints the version');
is(tool('-h')->{status}, 0, '-h exits with 0');
my $cut = file(profile_text(times => undef, subs => ['main f x:1'],
    lines => ['@ 1 0 1', '+ 1', '@ 5 0 5']));
my $run = tool($cut, $cut);
is($run->{status}, 0, 'a profile cut short gives status 0');
like($run->{out}, qr/^# Baseline: .* \(cut short\)$/m,
    'the header says that the profile was cut short');
is(tool('--fail-if', 'self > 5%', $cut, $cut)->{status}, 1, 'a profile cut short fails a gate');
is(tool('--fail-if', 'self > 5%', '--allow-truncated', $cut, $cut)->{status}, 0,
    '--allow-truncated lets a profile cut short pass a gate');
unlike(tool($_, $_)->{out}, qr/nan|inf/i,
    'totals of zero give no nan or inf') for folded('a' => 0), file("a 0\n");

done_testing;
