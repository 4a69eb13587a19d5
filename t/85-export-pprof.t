# dprofexport --format pprof: files read back strictly, against a naive model of random trees. The
# test also tries labels, phases, processes, two sides, names made to hurt, deep recursion, great
# values.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew in_process run_tool profiled);
use MadeUp;
use NaiveStacks qw(shown);
use PprofReader;

my $dir = scratch();
my $n = 0;
my $rounds = $ENV{DPROF_RUNS} || TestEnvironment::rounds(25, 300);
srand($ENV{DPROF_SEED} // 76);

sub any { return $_[rand @_] }
sub encoded { return $_[0] =~ s/([\x00-\x20\x7f%])/sprintf '%%%02X', ord $1/ger }

# Runs dprofexport; returns what is in the file, or what is wrong with it.
sub export {
    my (@args) = @_;
    my $path = "$dir/" . ++$n . '.pb.gz';
    my $run = in_process('dprofexport', '-o', $path, @args);
    return "status $run->{status}: $run->{err}" if $run->{status};
    return eval { read_pprof(slurp($path)) } // "$path: $@";
}

# ---- made-up trees ----

my @hard = ('a"b\\c', '<b>&amp;', "x\x0ay", "\e[31m", '(1)', "\xff\xfe", 'a b', '{"x":1}',
    "\xc3\xa4\xe2\x82\xac", '# x', 'a;b', '__proto__', "\xe2\x80\xae", "\x00", '%20');

# Returns a tree at random: { subs => [{ name, file, line, phase }, ...], counters, hz, root }. A
# context has sub, calls, times, counts, at, kids.
sub random_tree {
    my ($seed_names, $phases) = @_;
    my @subs = map { {
        name => 'P::' . any(@$seed_names), file => any('x.pm', 'l ib/y.pm'),
        line => 1 + int rand 50,
    } } 0 .. 1 + rand 9;
    # Two subs of one name and place are one.
    my %seen;
    @subs = grep { !$seen{"@$_{qw(name file line)}"}++ } @subs;
    my @phases = $phases ? map { { name => $_, phase => 1 } } qw(BEGIN main) : ();
    my %tree = (hz => any(10_000_000, 1_000_000_000, 1000, 3), counters => ['ops', 'page-faults'],
        subs => [@phases, @subs], root => context(undef));
    my $room = 1 + int rand 60;
    my @open = $phases ? @{ $tree{root}{kids} = [map { context($_) } 0, 1] } : $tree{root};
    while ($room-- > 0) {
        my $kid = context(@phases + int rand @subs);
        push @{ any(@open)->{kids} }, $kid;
        push @open, $kid;
    }
    return \%tree;
}

sub context {
    my ($sub) = @_;
    my @times = map { any(0, 1, int rand 1000) } 0 .. 2;
    return { sub => $sub, calls => defined $sub ? any(0, 1, 7) : 0, times => \@times,
        counts => [map { any(0, int rand 100) } 0, 1], kids => [],
        at => any(undef, 'x.pm:' . int(1 + rand 9), 'z.pl:3') };
}

sub tree_text {
    my ($tree, %header) = @_;
    my @lines;
    my @sum = (0, 0, 0);
    my @todo = [0, $tree->{root}];
    while (my $next = shift @todo) {
        my ($depth, $c) = @$next;
        $sum[$_] += $c->{times}[$_] for 0 .. 2;
        my $at = defined $c->{at} && $depth && !$tree->{subs}[$c->{sub}]{phase} ? " at=$c->{at}"
            : '';
        push @lines, join(' ', '=', $depth, sprintf('%x', defined $c->{sub} ? $c->{sub} + 1 : 0),
            $c->{calls}, @{ $c->{times} }, 0, 0, @{ $c->{counts} }) . $at;
        unshift @todo, map { [$depth + 1, $_] } @{ $c->{kids} };
    }
    my @subs = map {
        my ($package, $name) = $_->{phase} ? ('%', $_->{name}) : split /::/, $_->{name}, 2;
        $_->{phase} ? "% $name - kind=phase"
            : join ' ', $package, encoded($name), encoded($_->{file}) . ":$_->{line}"
    } @{ $tree->{subs} };
    return profile_text(format => 'tree', hz => $tree->{hz}, subs => \@subs, lines => \@lines,
        counters => join(' ', map { "$_:events" } @{ $tree->{counters} }), times => \@sum,
        complete => 1, header => join("\n", "\$dprof_script='s.pl';",
            map { "\$dprof_$_=$header{$_};" } sort keys %header) . "\n");
}

# ---- the model ----

# The ticks and counts of a context, in the order of the file's types.
my %value = (
    calls => sub { $_[0]{calls} }, ops => sub { $_[0]{counts}[0] },
    page_faults => sub { $_[0]{counts}[1] }, cpu => sub { $_[0]{times}[0] + $_[0]{times}[1] },
    user => sub { $_[0]{times}[0] }, system => sub { $_[0]{times}[1] },
    wall => sub { $_[0]{times}[2] },
);

# Returns the place where a frame stands: that of its call of the next one, or where it begins.
sub frame {
    my ($tree, $c, $next) = @_;
    my $sub = defined $c->{sub} ? $tree->{subs}[$c->{sub}]
        : { name => '(program)', file => 's.pl' };
    my ($name, $file, $begin) = (@$sub{qw(name file)}, $sub->{line} // 0);
    my $line = $begin;
    if ($next && defined $next->{at}) {
        (my $at, $line) = $next->{at} =~ /(.*):(\d+)/;
        ($file, $begin) = ($at, 0) if $at ne $file;
    }
    return join '|', shown($name), $file, $begin, $line;
}

# Adds the ticks of all contexts to { stack and labels => { type => ticks } }. How: phase (only this
# one), labels, and pid and tid of the file.
sub add_model {
    my ($model, $tree, %how) = @_;
    my $label = sub { my ($key, $value) = @_;
        return defined $value && $how{labels}{$key} ? "$key=$value" : () };
    my $walk;
    $walk = sub {
        my ($c, $phase, @above) = @_;
        no warnings 'recursion';
        my $is_phase = defined $c->{sub} && $tree->{subs}[$c->{sub}]{phase};
        $phase = $tree->{subs}[$c->{sub}]{name} if $is_phase;
        push @above, $c if !$is_phase;
        if (!defined $how{phase} || ($phase // '') eq $how{phase}) {
            my @below = (@above[1 .. $#above], undef);
            my @frames = map { frame($tree, $above[$_], $below[$_]) } 0 .. $#above;
            my @labels = ($label->('phase', $phase), $label->('pid', $how{pid}),
                $label->('tid', $how{tid}));
            my $key = join "\n", @frames, '', sort @labels;
            $model->{$key}{$_} += $is_phase && $_ eq 'calls' ? 0 : $value{$_}->($c)
                for keys %value;
        }
        $walk->($_, $phase, @above) for @{ $c->{kids} };
    };
    $walk->($tree->{root}, undef);
    return $model;
}

# Returns what is wrong with a file, '' for nothing. Values are whole nanoseconds, where ticks are
# not, each may be off by less than one for each context of its stack, and the sum by a half.
sub wrong {
    my ($read, $model, $hz, @types) = @_;
    return $read if !ref $read;
    my $is = join ' ', map { "$_->[0]/$_->[1]" } @{ $read->{types} };
    my $want = join ' ', map { "$_/" . (/cpu|wall|user|system/ ? 'nanoseconds' : 'count') } @types;
    return "types $is, not $want" if $is ne $want;
    my (%got, @sum, @wanted);
    for my $sample (@{ $read->{samples} }) {
        my @frames = map { my $f = $read->{functions}[$_->[0]]; join '|', @$f{qw(name file line)},
            $_->[1] } pprof_frames($read, $sample);
        my $key = join "\n", @frames, '',
            sort map { "$_=$sample->{labels}{$_}" } keys %{ $sample->{labels} };
        $got{$key}[$_] += $sample->{values}[$_] for 0 .. $#types;
    }
    for my $key (keys %$model) {
        my $values = delete $got{$key} // [(0) x @types];
        for my $k (0 .. $#types) {
            my $scale = $types[$k] =~ /cpu|wall|user|system/ ? 1e9 / $hz : 1;
            my $wanted = $model->{$key}{ $types[$k] } * $scale;
            $sum[$k] += $values->[$k];
            $wanted[$k] += $wanted;
            return "$key\n$types[$k]: $values->[$k], not $wanted"
                if abs($values->[$k] - $wanted) > ($scale == int $scale ? 0 : 100);
        }
    }
    return 'not in the model: ' . join ', ', sort keys %got if %got;
    for my $k (0 .. $#types) {
        return "the sum of $types[$k]: $sum[$k], not $wanted[$k]"
            if abs($sum[$k] - $wanted[$k]) > 0.51;
    }
    return '';
}

my @ALL = qw(calls ops page_faults cpu wall);
my @bad;
for my $round (1 .. $rounds) {
    my $tree = random_tree(any([qw(a b c)], [@hard[map { rand @hard } 1 .. 4]]), any(0, 1));
    my ($pid, $tid) = (1 + int rand 9999, any(0, 2));
    my $file = spew("$dir/" . ++$n . '.out', tree_text($tree, pid => $pid, tid => $tid));
    my %labels = map { $_ => 1 } grep { rand() < 0.4 } qw(phase pid tid);
    my $phase = grep({ $_->{phase} } @{ $tree->{subs} }) && rand() < 0.3 ? 'main' : undef;
    my @types = any(\@ALL, ['ops', 'cpu'], ['calls'], ['user', 'system', 'wall'])->@*;
    my @metrics = "@types" eq "@ALL" ? ()
        : ('-m', join ',', map { $_ eq 'wall' ? 'real' : $_ } reverse @types);
    @types = reverse @types if @types == 3;     # user and system: as they are asked for
    @types = ('system', 'user', 'wall') if @types == 3;
    my $read = export((map { ('--label', $_) } sort keys %labels),
        defined $phase ? ('--phase', $phase) : (), @metrics, $file);
    my $model = add_model({}, $tree, labels => \%labels, phase => $phase, pid => $pid,
        tid => $tid || undef);
    my $wrong = wrong($read, $model, $tree->{hz}, @types);
    push @bad, "round $round, $file: $wrong" if $wrong;
}
is(join("\n", @bad), '', "the exports of $rounds random trees agree with the model");

subtest 'Several processes are exported as one file' => sub {
    my @trees = map { random_tree([qw(a b c)], 1) } 1 .. 3;
    $_->{hz} = 1000 for @trees;
    my @files = map {
        spew("$dir/p$_.out", tree_text($trees[ $_ - 1 ], pid => 100 + $_ % 2, tid => $_ - 1,
            start => '17000000' . $_ . '0.25'))
    } 1 .. 3;
    for my $labels ([], ['pid'], ['tid', 'phase', 'pid']) {
        my $model = {};
        add_model($model, $trees[ $_ - 1 ], labels => { map { $_ => 1 } @$labels },
            pid => 100 + $_ % 2, tid => $_ - 1 || undef) for 1 .. 3;
        my $read = export((map { ('--label', $_) } @$labels), @files);
        is(wrong($read, $model, 1000, @ALL), '', "the file has the labels @$labels");
        my ($longest) = sort { $b <=> $a } map {
            slurp($_) =~ /rrun_rtime=(\d+)/ ? $1 * 1e6 : 0
        } $files[2];
        is_deeply([@$read{qw(time duration script default period)}],
            [1700000010250000000, 20 * 1e9 + $longest, 's.pl', 'cpu', 1],
                'the file has the times and the program');
    }
    my $model = add_model({}, $trees[1], labels => {});
    is(wrong(export('--pid', 100, @files), $model, 1000, @ALL), '', '--pid selects a process');
};

subtest 'Two sides are exported as two files' => sub {
    my @trees = map { random_tree([qw(a b c)], 0) } 1, 2;
    # Subs of one name pair: no name twice on a side.
    for my $tree (@trees) {
        $tree->{hz} = 1_000_000_000;
        my $k = 0;
        $_->{name} = 'P::s' . $k++ for @{ $tree->{subs} };
    }
    my @files = map { spew("$dir/side$_.out", tree_text($trees[$_])) } 0, 1;
    my $run = in_process('dprofexport', '-f', '--diff', '-o', "$dir/new.pb.gz", @files);
    is("$run->{status}$run->{err}", '0', '--diff succeeds without a message');
    my @read = map { eval { read_pprof(slurp("$dir/$_.pb.gz")) } // die $@ } 'new.base', 'new';
    is_deeply($read[0]{types}, $read[1]{types}, 'both files have the same types');
    for my $side (0, 1) {
        my $model = add_model({}, $trees[$side], labels => {});
        my %want;
        for my $key (keys %$model) {
            my (undef, @names) = map { /^(.*?)\|/ ? $1 : () } split /\n/, $key;
            my $to = $want{ join ';', @names } //= [(0) x @ALL];
            $to->[$_] += $model->{$key}{ $ALL[$_] } for 0 .. $#ALL;
        }
        delete @want{grep { my $v = $want{$_}; !grep { $_ } @$v } keys %want};
        is_deeply(pprof_stacks($read[$side]), \%want, "side $side has its values");
    }
    # A side of several runs has their mean.
    my $mean = export('-f', '--diff', $files[0], "$files[0],$files[1]");
    my $sum = 0;
    $sum += $_->{values}[1] for @{ $mean->{samples} };
    my @each = map { my $s = 0; $s += $_->{values}[1] for @{ $_->{samples} }; $s } @read;
    cmp_ok(abs($sum - ($each[0] + $each[1]) / 2), '<=', 0.5,
        'the value is the mean of two runs, rounded once');
};

subtest 'Values that live have the names of Go\'s heap profiles' => sub {
    my $program = 'our @kept; sub keep { push @kept, [1]; return } keep() for 1 .. 5; 1;';
    my $run = profiled(['-e', $program],
        env => { PERL_DPROF_MODE => 'tree', PERL_DPROF_HEAP => 'exact' });
    my $read = export($run->{profile});
    my %type = map { $_->[0] => $_->[1] } @{ $read->{types} };
    is_deeply([@type{qw(alloc_objects inuse_objects inuse_space)}], [qw(count count bytes)],
        'the types are there');
    my ($at) = grep { $read->{types}[$_][0] eq 'inuse_objects' } 0 .. $#{ $read->{types} };
    my $stacks = pprof_stacks($read);
    my ($keep) = grep { /main::keep/ } keys %$stacks;
    is($stacks->{$keep}[$at], 15, 'a sub has its values');
};

subtest 'So do sampled blocks' => sub {
    my $program = 'our @kept; sub keep { push @kept, [1]; return } keep() for 1 .. 50; 1;';
    my $run = profiled(['-e', $program], env => { PERL_DPROF_MODE => 'tree',
        PERL_DPROF_HEAP => 'sample', PERL_DPROF_HEAP_INTERVAL => 1 });
    if (-s $run->{profile}) {
        my $read = export($run->{profile});
        my %unit = map { $_->[0] => $_->[1] } @{ $read->{types} };
        is_deeply([@unit{qw(alloc_objects alloc_space inuse_objects inuse_space live_values)}],
            [qw(count bytes count bytes count)], 'the types are there, each once');
    } else {
        like($run->{err}, qr/heap=sample: /, 'a message says why that is impossible here');
    }
};

subtest 'Subs that call each other deeply lose the middle of their stacks' => sub {
    my $deep = 7000;
    my @lines = ('= 0 0 0 5 0 5 0 0', map { sprintf '= %d %d 1 %d 0 1 0 0', $_, 1 + $_ % 2, $_ % 7 }
        1 .. $deep);
    my $file = spew("$dir/deep.out", profile_text(format => 'tree', hz => 1_000_000_000,
        subs => ['P a x.pl:1', 'P b x.pl:2'], lines => \@lines, complete => 1));
    my $path = "$dir/deep.pb.gz";
    my $run = in_process('dprofexport', '-o', $path, $file);
    my $read = read_pprof(slurp($path));
    # A depth has as many frames as there are stacks as deep.
    my ($frames, $most) = (0, 0);
    $frames += $deep - $most++ while $frames <= 1 << 24;
    like($run->{err}, qr/^@{[$deep - $most]} stacks of more than $most frames/,
        'a message counts the stacks that are too deep');
    my @names = map { defined ? $read->{functions}[$_->[0]]{name} : '' } @{ $read->{locations} };
    is("@names[1 .. 3]", '(program) P::b P::a', 'the file has a location for each sub');
    is(scalar @names, 4 + $deep - $most,
        'the file has a location for each number of frames left out');
    my (@wrong, %self);
    for my $sample (@{ $read->{samples} }) {
        # A number ends with a byte below 128.
        my $frames = $sample->{ids} =~ tr/\x00-\x7f//;
        my ($depth, $gap) = ($frames - 1, '');
        if ($sample->{ids} =~ /([\x04-\x7f]|[\x80-\xff]+[\x00-\x7f])/) {
            $gap = $names[(PprofReader::numbers($1))[0]];
            $depth += $1 - 1 if $gap =~ /^\((\d+) frames left out\)\z/;
        }
        $self{$depth} = $sample->{values}[1];
        push @wrong, "depth $depth: $frames frames, $gap"
            if $depth > $most ? !$gap || $frames != $most + 1 : $gap;
    }
    is(join("\n", @wrong), '', 'only deep stacks lack their middle');
    is_deeply(\%self, { 0 => 5, map { $_ => $_ % 7 } 1 .. $deep },
        'the file has all contexts with their values');
};

# Returns the text of a tree with statements: { sub number => { line => ticks } }; 0 is the program.
sub text_with_lines {
    my ($subs, $contexts, $lines) = @_;
    my @lines = map { my ($l, $n) = @$_; map { "#l $_ $n 1 $l->{$_} 0 $l->{$_}" } sort { $a <=> $b }
        keys %$l } map { [$lines->{$_}, sprintf '%x', $_] } sort keys %$lines;
    return profile_text(format => 'tree', hz => 1_000_000_000, complete => 1, subs => $subs,
        header => "\$dprof_lines='time'; \$dprof_script='x.pl';",
        lines => [@$contexts, '#f x.pl', @lines]);
}

# Returns { 'name line' => ticks } of a type, and { stack of names => ticks }.
sub by_line {
    my ($read, $type) = @_;
    my ($k) = grep { $read->{types}[$_][0] eq $type } 0 .. $#{ $read->{types} };
    my (%lines, %stacks);
    for my $sample (grep { $_->{values}[$k] } @{ $read->{samples} }) {
        my @frames = pprof_frames($read, $sample);
        my @names = map { $read->{functions}[$_->[0]]{name} } @frames;
        $lines{"$names[-1] $frames[-1][1]"} += $sample->{values}[$k];
        $stacks{ join ';', @names[1 .. $#names] } += $sample->{values}[$k];
    }
    return (\%lines, \%stacks);
}

subtest 'Lines are exported with their costs' => sub {
    my @wrong;
    for my $round (1 .. $rounds) {
        # Contexts of two subs below each other, or of one below the other's last one.
        my (%own, %want, @stack, @contexts);
        for my $k (0 .. 30) {
            my $depth = $k ? 1 + int rand @stack : 0;
            my $sub = $k ? 1 + int rand 2 : 0;
            my $ticks = any(0, 1, 2, int(rand 50), int rand 1e9);
            $#stack = $depth - 1;
            push @stack, (qw((program) P::a P::b))[$sub];
            push @contexts, "= $depth $sub " . ($k ? 1 : 0) . " $ticks 0 $ticks 0 0";
            $own{$sub} += $ticks;
            $want{ join ';', @stack[1 .. $#stack] } += $ticks;
        }
        # Its lines: up to twelve, at random, of together what its contexts have.
        my (%lines, %at);
        for my $sub (grep { $own{$_} } keys %own) {
            my @cuts = sort { $a <=> $b } map { int rand 1 + $own{$sub} } 1 .. rand 12;
            my $before = 0;
            for my $cut (@cuts, $own{$sub}) {
                $lines{$sub}{ 10 * $sub + 1 + keys %{ $lines{$sub} } } = $cut - $before;
                $before = $cut;
            }
            $at{ (qw((program) P::a P::b))[$sub] . " $_" } = $lines{$sub}{$_}
                for grep { $lines{$sub}{$_} } keys %{ $lines{$sub} };
        }
        my $file = spew("$dir/lines.out", text_with_lines(['P a x.pl:10', 'P b x.pl:20'],
            \@contexts, \%lines));
        my ($got_lines, $got) = by_line(my $read = export($file), 'cpu');
        delete @want{grep { !$want{$_} } keys %want};
        my ($calls) = by_line($read, 'calls');
        push @wrong, "round $round: " . explain_lines($got_lines, \%at)
            if !same($got_lines, \%at);
        push @wrong, "round $round: stacks" if !same($got, \%want);
        push @wrong, "round $round: calls" if grep { !/^P::(?:a 10|b 20)\z/ } keys %$calls;
    }
    is(join("\n", @wrong), '', 'each context has its own value, and each line its cost');

    # Too many frames for the twelve lines of one sub, and not for the two of the other.
    my $file = spew("$dir/long.out", text_with_lines(['P a x.pl:10', 'P b x.pl:40'],
        ['= 0 0 0 0 0 0 0 0', map { sprintf '= %d %d 1 12 0 12 0 0', $_, 1 + $_ % 2 } 1 .. 1500],
        { 1 => { map { $_ => 750 } 11 .. 22 }, 2 => { 41 => 4500, 42 => 4500 } }));
    my ($lines) = by_line(export($file), 'cpu');
    is_deeply($lines, { 'P::a 10' => 9000, 'P::b 41' => 4500, 'P::b 42' => 4500 },
        'the first line of the sub with most stacks gets their costs');
};

sub same {
    my ($x, $y) = @_;
    return keys %$x == keys %$y && !grep { ($y->{$_} // '') ne $x->{$_} } keys %$x;
}

sub explain_lines {
    my ($got, $want) = @_;
    my %all = (%$got, %$want);
    return join ', ', map { "$_: " . ($got->{$_} // 0) . ' not ' . ($want->{$_} // 0) } sort
        grep { ($got->{$_} // 0) != ($want->{$_} // 0) } keys %all;
}

subtest 'Great values and no values are exported' => sub {
    my $great = 1 << 60;
    my $file = spew("$dir/great.out", profile_text(format => 'tree', hz => 1_000_000_000,
        subs => ['P a x.pl:1', 'P b x.pl:2'], complete => 1, lines => [
            '= 0 0 0 0 0 0 0 0', "= 1 1 1 $great $great $great 0 0",
            "= 2 2 3 $great $great $great 0 0", '= 1 2 0 0 0 0 0 0']));
    my $read = export($file);
    is_deeply(pprof_stacks($read), { 'P::a' => [1, 2 * $great, $great],
        'P::a;P::b' => [3, 2 * $great, $great] },
            'values of 2**62 are exact, and contexts without values are left out');
    my $none = spew("$dir/none.out", profile_text(format => 'tree', hz => 1000, complete => 1,
        subs => ['P a x.pl:1'], lines => ['= 0 0 0 0 0 0 0 0', '= 1 1 0 0 0 0 0 0']));
    my $run = in_process('dprofexport', '-o', "$dir/none.pb.gz", $none);
    is($run->{status}, 0, 'a profile without values is no error');
    like($run->{err}, qr/^nothing is left/, 'a profile without values gives a message');
    is_deeply(read_pprof(slurp("$dir/none.pb.gz"))->{samples}, [],
        'a profile without values has no samples');
};

subtest 'Filters, recursion and traces are exported' => sub {
    my @lines = ('= 0 0 0 1 0 1 0 0', '= 1 1 2 10 0 10 0 0', '= 2 1 3 20 0 20 0 0',
        '= 3 2 4 40 0 40 0 0', '= 4 1 5 80 0 80 0 0');
    my $file = spew("$dir/rec.out", profile_text(format => 'tree', hz => 1_000_000_000,
        subs => ['P a x.pl:1', 'P b x.pl:2'], complete => 1, lines => \@lines));
    is_deeply(pprof_stacks(export('--fold-recursion', $file)), { '' => [0, 1, 1],
        'P::a' => [5, 30, 30], 'P::a;P::b' => [4, 40, 40], 'P::a;P::b;P::a' => [5, 80, 80] },
        '--fold-recursion folds recursions');
    is_deeply(pprof_stacks(export('--skip', '^P::a', $file)), { '' => [5, 31, 31],
        'P::b' => [9, 120, 120] }, '--skip removes subs');
    is_deeply(pprof_stacks(export('--only', '^P::a', '-m', 'cpu', $file)), { '' => [1],
        'P::a' => [10], 'P::a;P::a' => [60], 'P::a;P::a;P::a' => [80] }, '--only keeps subs');
    my $trace = spew("$dir/trace.out", profile_text(format => 'trace', hz => 1000,
        subs => ['P a x.pl:1', 'P b x.pl:2'], times => [6, 0, 6], lines => ['@ 1 0 1', '+ 1',
            '@ 2 0 2', '+ 2', '@ 1 0 1', '- 2', '@ 1 0 1', '- 1', '@ 1 0 1'], complete => 1));
    is_deeply(pprof_stacks(export($trace)), { '' => [0, 2e6, 2e6], 'P::a' => [1, 3e6, 3e6],
        'P::a;P::b' => [1, 1e6, 1e6] }, 'dprofexport exports a trace');
};

subtest 'The command line chooses the format' => sub {
    my $file = "$dir/rec.out";
    like(in_process('dprofexport', '--list')->{out}, qr/^pprof +\.pb\.gz \.pb \.pprof$/m,
        '--list has the suffixes of pprof');
    my $out = in_process('dprofexport', $file)->{out};
    ok(eval { read_pprof($out) }, 'the standard output is a pprof file') or diag($@);
    for my $case (
        [['--format', 'x'], 2, qr/--format: unknown format x; there are pprof, /],
        [['-o', "$dir/x.unknown"], 2, qr/no format has that suffix; use --format pprof\|/],
        [['--label', 'x'], 2, qr/--label x: must be phase, pid, tid/],
        [['--diff', '-o', '-', $file], 2, qr/--diff writes two files/],
        [['-m', 'cycles'], 1, qr/cycles/],
        [['-o', "$dir/none/x.pb"], 1, qr/\Q$dir\E\/none\/x\.pb/],
    ) {
        my ($args, $status, $text) = @$case;
        my $run = in_process('dprofexport', @$args, $file);
        is($run->{status}, $status, "dprofexport @$args gives status $status");
        like($run->{err}, $text, "dprofexport @$args says why");
    }
};

done_testing;
