# dprofexport's files of callgrind and cachegrind, read back strictly. Subs, lines and calls have
# what a naive model has; the test also tries hostile names; several metrics; two sides.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew in_process data);
use GrindReader qw(read_callgrind read_cachegrind inclusive);
use MadeUp;
use NaiveProfile;

my $dir = scratch();
my $n = 0;
srand($ENV{DPROF_SEED} // 78);

sub file { my ($text) = @_; return spew($dir . '/' . ++$n . '.in', $text) }

# The text that dprofexport writes, and no message.
sub exported {
    my @args = @_;
    my $run = in_process('dprofexport', @args);
    is("$run->{status} $run->{err}", '0 ',
        "dprofexport @args[0 .. $#args - 1] succeeds without a message");
    return $run->{out};
}

sub callgrind { return read_callgrind(exported('--format', 'callgrind', @_)) }
sub cachegrind { return read_cachegrind(exported('--format', 'cachegrind', @_)) }

# ---- one by hand ----

# f and g call each other; f calls an XS sub.
my @subs = ('A f lib/A.pm:1', 'A g lib/A.pm:7', 'X s - kind=xs');
my @tree = ('= 0 0 1 0 0 10 0 0 1', '= 1 1 2 0 20 30 0 0 2 at=a.pl:5',
    '= 2 2 3 1 2 3 0 0 3 at=lib/A.pm:3', '= 3 1 4 2 3 4 0 0 4 at=lib/A.pm:8',
    '= 4 2 5 3 4 5 0 0 5 at=lib/A.pm:4', '= 2 3 6 4 5 6 0 0 6 at=lib/A.pm:4');
my @statements = ('#f %', '#l 0 0 0 0 0 1 0', '#f a.pl', '#l 5 0 1 0 0 9 1', '#f lib/A.pm',
    '#l 2 1 6 1 20 30 3', '#l 4 1 6 5 8 10 9', '#l 8 2 8 3 5 6 8', '#f other', '#l 9 2 1 1 0 2 0');
my $lined = file(profile_text(format => 'tree', hz => 1000, counters => 'page-faults:faults',
    header => '$dprof_lines=\'time\'; $dprof_script=\'a.pl\'; $dprof_pid=7;', subs => \@subs,
    lines => [@tree, @statements], complete => 1));
(my $text = exported('--format', 'callgrind', $lined)) =~ s/^(creator: Devel::DProf) .*/$1/m;
is($text, <<'END', 'callgrind has lines, calls and recursion');
# callgrind format
version: 1
creator: Devel::DProf
pid: 7
cmd: a.pl
positions: line
event: Cpu : cpu (nanoseconds)
event: Wall : wall (nanoseconds)
event: Calls : calls (count)
event: PageFaults : page-faults (count)
events: Cpu Wall Calls PageFaults
summary: 44000000 58000000 20 21

fl=(1) a.pl
fn=(1) (program)
0 0 1000000 0 0
5 0 9000000 0 1
cfi=(2) lib/A.pm
cfn=(2) A::f
calls=2 1
5 44000000 48000000 20 20

fl=(2)
fn=(2)
1 0 0 6 0
2 21000000 30000000 0 3
4 4000000 4000000 0 3
cfi=(2)
cfn=(3) A::g
calls=3 7
3 15000000 12000000 12 12
cfi=(2)
cfn=(3)
calls=5 7
4 0 0 0 0
cfi=(3) ???
cfn=(4) X::s
calls=6 0
4 9000000 6000000 6 6

fl=(2)
fn=(3)
7 1000000 0 8 0
8 8000000 6000000 0 8
fi=(4) other
9 1000000 2000000 0 0
fe=(2)
cfi=(2)
cfn=(2)
calls=4 1
8 0 0 0 0

fl=(3)
fn=(4)
0 9000000 6000000 6 6

totals: 44000000 58000000 20 21
END
($text = exported('--format', 'cachegrind', '-m', 'real,page-faults', $lined))
    =~ s/^(desc: Devel::DProf) .*/$1/;
is($text, <<'END', 'cachegrind has lines');
desc: Devel::DProf
cmd: a.pl
events: Wall PageFaults
fl=a.pl
fn=(program)
0 1000000 0
5 9000000 1
fl=lib/A.pm
fn=A::f
2 30000000 3
4 4000000 3
fl=lib/A.pm
fn=A::g
8 6000000 8
fl=other
fn=A::g
9 2000000 0
fl=???
fn=X::s
0 6000000 6
summary: 58000000 21
END

# ---- random trees ----

# Subs as the file has them: [PACKAGE, NAME, PLACE], and as the formats have them.
my @NAMES = (['A f lib/A.pm:1', 'lib/A.pm:A::f', 1], ['A g lib/A.pm:7', 'lib/A.pm:A::g', 7],
    ['A g lib/B.pm:7', 'lib/B.pm:A::g', 7],
    ['% (1)%20x lib/A.pm:2', 'lib/A.pm:\x281) x', 2],
    ['% (1) (2):3', '\x282):\x281)', 3],
    ["B n%0afn=(1) lib/%0aA.pm:3", 'lib/\x0aA.pm:B::n\x0afn=(1)', 3],
    ["B \xff%09 lib/A.pm:4", 'lib/A.pm:B::\xff\x09', 4],
    ["\xc3\xa9 \xe2\x82\xac \xc3\xa9.pm:5", "\xc3\xa9.pm:\xc3\xa9::\xe2\x82\xac", 5],
    ['% %20x%20%20 %20:6', '\x20:\x20x\x20\x20', 6],
    ['% % -', '???:(no name)', 0], ['X (program) - kind=xs', '???:X::(program)', 0],
    ['% (program) -', '???:(program)', 0], ['CORE open - kind=builtin', '???:CORE:open', 0]);

# A tree of these, as {text, contexts: [PATH, values of cpu, wall, calls, ops, place of the call]}.
sub random_tree {
    my (%how) = @_;
    my @subs = @NAMES[grep { rand() < .7 } 0 .. $#NAMES];
    @subs = @NAMES[0, 1] if @subs < 2;
    my @own = map { int rand 50 } 1 .. 4;
    my @lines = "= 0 0 1 $own[0] $own[1] $own[2] 0 0 $own[3]";
    my @contexts = ([[], $own[0] + $own[1], $own[2], 0, $own[3]]);
    my @path;
    for (1 .. 40) {
        my $depth = 1 + int rand(@path + 1);
        splice @path, $depth - 1;
        my $sub = int rand @subs;
        push @path, $sub;
        my ($calls, @v) = map { rand() < .2 ? 0 : int rand 1000 } 1 .. 5;
        my $at = rand() < .7 ? 1 + int rand 5 : 0;
        push @lines, sprintf '= %d %x %d %d %d %d 0 0 %d%s', $depth, $sub + 1, $calls, @v,
            $at ? " at=lib/A.pm:$at" : '';
        push @contexts, [[@path], $v[0] + $v[1], $v[2], $calls, $v[3], $at];
    }
    if ($how{lines}) {
        push @lines, '#f lib/A.pm';
        push @lines, sprintf '#l %d %x %d %d %d %d %d', 1 + rand 5, rand @subs + 1, 1,
            map { rand 300 } 1 .. 4 for 1 .. 20;
    }
    return {
        subs => \@subs, contexts => \@contexts,
        text => profile_text(format => 'tree', hz => $how{hz} // 1000, counters => 'ops:ops',
            header => '$dprof_script=\'p.pl\';'
                . ($how{lines} ? '$dprof_lines=\'time\';' : ''),
            subs => [map { $_->[0] } @subs], lines => \@lines, complete => 1),
    };
}

# The model: what the contexts amount to by function, and by caller, callee and place.
sub model {
    my ($tree) = @_;
    my @scale = (1e6, 1e6, 1, 1);
    my (%self, %calls, %places, %incl);
    my @function = map { $_->[1] } @{ $tree->{subs} };
    for my $context (@{ $tree->{contexts} }) {
        my ($path, @v) = @$context;
        my $place = @v > 4 ? splice @v, 4 : 0;
        @v = map { $v[$_] * $scale[$_] } 0 .. 3;
        my @f = ('p.pl:(program)', @function[@$path]);
        GrindReader::add($self{ $f[-1] } //= [], @v) if grep { $_ } @v;
        # each call above has it, if it is the outermost one of its sub
        my %seen;
        for my $i (1 .. $#f) {
            my $outermost = !$seen{ $f[$i] }++;
            my $own = $i == $#f;
            my $count = $own ? $context->[3] : 0;
            my @cost = $outermost ? @v : (0) x 4;
            GrindReader::add($calls{"$f[$i - 1]>$f[$i]"} //= [0, 0, 0, 0, 0], $count, @cost);
            GrindReader::add($incl{ $f[$i] } //= [0, 0, 0, 0], @cost);
        }
    }
    return { self => \%self, calls => \%calls, incl => \%incl };
}

for my $round (1 .. ($ENV{ROUNDS} || TestEnvironment::rounds(10, 100))) {
    my $tree = random_tree(lines => $round % 2);
    my $file = file($tree->{text});
    my $want = model($tree);
    my $got = callgrind($file);
    my $good = is_deeply($got->{self}, $want->{self},
        "round $round: self values are those of the model");
    $good &&= is_deeply(inclusive($got), $want->{incl},
        "round $round: inclusive values are those of the model");
    my @bad = grep {
        my ($g, $w) = ($got->{calls}{$_}, $want->{calls}{$_});
        # several lines may have a call that was never counted
        "@$g[1 .. 4]" ne "@$w[1 .. 4]" || $g->[0] < $w->[0] || ($w->[0] && $g->[0] > $w->[0] + 6)
    } keys %{ $want->{calls} };
    $good &&= is("@bad", '', "round $round: calls are those of the model");
    $good &&= is_deeply([sort keys %{ $got->{calls} }], [sort keys %{ $want->{calls} }],
        "round $round: callers are those of the model");
    my %begin = map { $_->[1] => $_->[2] } @{ $tree->{subs} };
    $good &&= is(join(' ', grep { $got->{begin}{$_} != $begin{$_} } keys %{ $got->{begin} }), '',
        "round $round: subs begin at the lines of the model");
    my $flat = cachegrind($file);
    my %lines;
    for my $at (keys %{ $got->{lines} }) {
        for my $place (keys %{ $got->{lines}{$at} }) {
            my ($in, $line) = $place =~ /\A(.*):(\d+)\z/s;
            my $name = substr $at, 1 + length(home_of($at, $tree));
            GrindReader::add($lines{"$in:$name"}{$line} //= [], @{ $got->{lines}{$at}{$place} });
        }
    }
    $good &&= is_deeply($flat->{lines}, \%lines, "round $round: cachegrind has the same lines");
    if (!$good) {
        diag("input of round $round: $file");
        spew('/tmp/callgrind-failed.in', $tree->{text}) if $ENV{DPROF_KEEP};
        last;
    }
}

# The file of a function.
sub home_of {
    my ($function, $tree) = @_;
    return 'p.pl' if $function eq 'p.pl:(program)';
    my ($sub) = grep { $_->[1] eq $function } @{ $tree->{subs} };
    my ($place) = $sub->[0] =~ /^\S+ \S+ (\S+)/;
    return '???' if $place eq '-';
    my $length = length($function) - length($function =~ s/\A.*?(?:\.pm|\\x282\)|\\x20)://sr) - 1;
    return substr $function, 0, $length;
}

# ---- ticks that are no whole nanoseconds ----

{
    my $tree = random_tree(hz => 7, lines => 1);
    my $file = file($tree->{text});
    my @sum = (0) x 4;
    GrindReader::add(\@sum, @$_[1 .. 4]) for @{ $tree->{contexts} };
    $_ = int($_ * 1e9 / 7 + .5) for @sum[0, 1];
    is("@{ callgrind($file)->{total} }", "@sum", 'the total of callgrind is the rounded sum');
    is("@{ cachegrind($file)->{total} }", "@sum", 'the total of cachegrind is the rounded sum');
}

# ---- traces of old and new recorders, against another model ----

for my $name (grep { -e data($_) } qw(classic.out ours.out manual-new.out)) {
    my $naive = NaiveProfile->new(slurp(data($name)))->flat('real');
    my $got = callgrind('-f', '--no-separate-anon', '-m', 'real', data($name));
    my ($hz) = slurp(data($name)) =~ /\$hz=(\d+)/;
    my (%self, %incl);
    $self{s/^[^:]*://r} += $got->{self}{$_}[0] for keys %{ $got->{self} };
    my $inclusive = inclusive($got);
    $incl{s/^[^:]*://r} += $inclusive->{$_}[0] for keys %$inclusive;
    my @wrong = grep {
        my ($calls, $self, $incl) = @{ $naive->{$_} };
        my $at = s/([\x00-\x1f])/sprintf '\x%02x', ord $1/ger;
        abs(($self{$at} // 0) - $self * 1e9 / $hz) > 1
            || ($_ ne '(program)' && abs(($incl{$at} // 0) - $incl * 1e9 / $hz) > 1)
    } keys %$naive;
    is("@wrong", '', "$name: all subs have their self and inclusive values");
    ok(scalar keys %$naive > 2, "$name: the naive reader finds more than two subs");
}

# ---- metrics, great and small ----

{
    my ($most, $many) = ('2305843009213693952', '4611686018427387904');
    my $file = file(profile_text(format => 'tree', hz => 1_000_000_000, complete => 1,
        counters => 'cycles:u:cycles cycles-u 0x1', subs => ['A f a.pm:1', 'A g a.pm:2'],
        lines => ['= 0 0 1 0 0 0 0 0 0 0 0', "= 1 1 1 0 0 $most 0 0 $many 0 1",
            '= 2 2 0 0 0 0 0 0 0 2 0']));
    my $got = callgrind($file);
    is("@{ $got->{events} }", 'Cpu Wall Calls CyclesU CyclesUx Event0x1',
        'each event has a name of its own');
    is($got->{long}{CyclesUx}, 'cycles-u (count)', 'a name that was changed has a long name');
    is("@{ $got->{total} }", "0 $most 1 $many 2 1", '0, 2**61 and 2**62 are exact');
    is("@{ inclusive($got)->{'a.pm:A::f'} }", "0 $most 1 $many 2 1",
        '0, 2**61 and 2**62 are exact beside calls');
    is("@{ callgrind('-m', 'cycles:u', $file)->{events} }", 'CyclesU Calls',
        '-m selects events, and calls are added');
    is("@{ cachegrind('-m', 'cycles:u', $file)->{events} }", 'CyclesU',
        'cachegrind -m selects events without calls');
}

{
    my $folded = file("a;b 3\na;b;a 4\n(program) 1\n");
    my $got = callgrind($folded);
    is_deeply($got->{calls}, { "$folded:(program)>???:a" => [1, 7], '???:a>???:b' => [1, 7],
        '???:b>???:a' => [1, 0] }, 'folded stacks have one call each, as none are known')
        or diag(explain($got->{calls}));
}

# ---- phases, filters, several files ----

{
    my $phases = file(profile_text(format => 'tree', hz => 1000, complete => 1,
        header => '$dprof_lines=\'time\'; $dprof_script=\'a.pl\';',
        subs => ['% BEGIN - kind=phase', '% main - kind=phase', 'A f a.pl:3'],
        lines => ['= 0 0 1 0 0 0 0 0', '= 1 1 1 0 0 5 0 0', '= 2 3 2 0 0 6 0 0 at=a.pl:1',
            '= 1 2 1 0 0 7 0 0', '= 2 3 4 0 0 8 0 0 at=a.pl:9', '#f a.pl', '#l 4 3 6 0 0 14']));
    my $all = callgrind('-m', 'real', $phases);
    is_deeply($all->{places}, { 'a.pl:(program)>a.pl:A::f at a.pl:1' => [2, 6e6, 2],
        'a.pl:(program)>a.pl:A::f at a.pl:9' => [4, 8e6, 4] }, 'phases are no functions');
    is_deeply($all->{lines}{'a.pl:A::f'}, { 'a.pl:3' => [0, 6], 'a.pl:4' => [14e6, 0] },
        'lines have their costs');
    my $one = callgrind('-m', 'real', '--phase', 'main', $phases);
    is_deeply($one->{lines}, { 'a.pl:(program)' => { 'a.pl:0' => [7e6, 0] },
        'a.pl:A::f' => { 'a.pl:3' => [8e6, 4] } },
        'a phase has its own times; statements of all phases are together');
    my $two = callgrind('-m', 'real', $phases, $phases);
    is("@{ $two->{total} }", '52000000 12', 'two files are added up');
    my $left = callgrind('-m', 'real', '--skip', '^A::f$', $lined);
    is_deeply($left->{lines}, { 'a.pl:(program)' => { 'a.pl:0' => [31e6, 2], 'a.pl:5' => [9e6, 0] },
        'lib/A.pm:A::g' => { 'lib/A.pm:7' => [4e6, 12], 'lib/A.pm:8' => [6e6, 0],
            'other:9' => [2e6, 0] }, '???:X::s' => { '???:0' => [6e6, 6] } },
        'what is left out counts at the first line of its caller');
}

# ---- names of files, two sides ----

for my $name (qw(callgrind.out callgrind.out.123 x.callgrind Callgrind.Out.x)) {
    exported('-o', "$dir/$name", $lined);
    ok(eval { read_callgrind(slurp("$dir/$name")) }, "the name $name is enough to choose callgrind")
        or diag($@);
}
for my $name (qw(cachegrind.out cachegrind.out.9 x.cachegrind)) {
    exported('-o', "$dir/$name", $lined);
    ok(eval { read_cachegrind(slurp("$dir/$name")) },
        "the name $name is enough to choose cachegrind") or diag($@);
}
is(in_process('dprofexport', '-o', "$dir/no-callgrind.out", $lined)->{status}, 2,
    'a name that only ends like callgrind.out is not enough');
is(in_process('dprofexport', '--diff', '-o', "$dir/x.callgrind", $lined, $lined)->{status}, 2,
    'callgrind refuses --diff');

{
    my $old = file(profile_text(format => 'tree', hz => 1000, counters => 'ops:ops', complete => 1,
        header => '$dprof_lines=\'time\'; $dprof_script=\'a.pl\';',
        subs => ['A f /old/A.pm:1', 'A gone x.pm:3'],
        lines => ['= 0 0 1 0 0 1 0 0 1', '= 1 1 2 0 0 2 0 0 20', '= 1 2 1 0 0 3 0 0 5',
            '#f /old/A.pm', '#l 3 1 1 0 0 2 20']));
    my $new = file(profile_text(format => 'tree', hz => 1000, counters => 'ops:ops', complete => 1,
        header => '$dprof_lines=\'time\'; $dprof_script=\'a.pl\';', subs => ['A f /new/A.pm:4'],
        lines => ['= 0 0 1 0 0 1 0 0 2', '= 1 1 3 0 0 2 0 0 30',
            '#f /new/A.pm', '#l 5 1 1 0 0 2 30']));
    exported('--diff', '-m', 'calls,ops', '-o', "$dir/new.cachegrind", $old, $new);
    is_deeply(read_cachegrind(slurp("$dir/new.base.cachegrind"))->{lines},
        { 'a.pl:(program)' => { 0 => [0, 1] }, '/new/A.pm:A::f' => { 4 => [2, 20] },
            'x.pm:A::gone' => { 3 => [1, 5] } }, '--diff writes the baseline');
    is_deeply(read_cachegrind(slurp("$dir/new.cachegrind"))->{lines},
        { 'a.pl:(program)' => { 0 => [0, 2] }, '/new/A.pm:A::f' => { 4 => [3, 30] } },
        '--diff writes the other side with each sub at the same place');
}

done_testing;
