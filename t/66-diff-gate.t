# dprofdiff's gate: rules agree with a naive model; hostile names in every format are read back;
# cases that cannot be decided.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew in_process);
use MadeUp;
use JSON::PP ();
use Cwd 'getcwd';
use TAP::Parser;
use Devel::DProf::Constants qw(time_words);
use Devel::DProf::Tool::Dprofdiff;

my $dir = scratch();
my $n_files = 0;
my $HZ = 1000;

# Runs the tool in this process: a hundred times faster than from its file.
sub diffs {
    my (@args) = @_;
    # Times here are a few microseconds.
    unshift @args, '--time-floor', 0 if !grep { $_ eq '--time-floor' } @args;
    my $here = getcwd();
    chdir $dir or die "$dir: $!";
    my $run = in_process('dprofdiff', '--format=perf', @args);
    chdir $here or die "$here: $!";
    return $run;
}

sub json_of {
    my ($run) = @_;
    return eval { JSON::PP->new->utf8->decode($run->{out}) }
        // { bad => "$@$run->{out}$run->{err}" };
}

# Returns findings as lines: the rule's number, the side, the name, both values.
sub names {
    my ($run) = @_;
    my $json = json_of($run);
    join ',', map { $_->{name} } @{ $json->{findings}
        || [{ name => $json->{bad} // "$run->{status} $run->{err}" }] }
}

sub findings {
    my ($run, @rules) = @_;
    my $json = json_of($run);
    my %number = map { $rules[$_] => $_ } 0 .. $#rules;
    return [$json->{bad} // "$run->{status} $run->{err}"] if !$json->{findings};
    return [map {
        join ' ', $number{ $_->{rule} } // "`$_->{rule}'", $_->{side}, $_->{name},
            map({ $_ // '-' } @$_{qw(baseline value)}),
            $_->{undecided} ? 'undecided' : ()
    } @{ $json->{findings} }];
}

# ---- profiles ----

sub packed {
    my ($s) = @_;
    length $s ? $s =~ s/([\x00-\x20\x7f%])/sprintf '%%%02X', ord $1/ger : '%';
}

# Makes a tree file. nodes: [depth, name, calls, user ticks, ops] in order, the first is the root;
# names: PACKAGE::NAME, or a name alone. %more: header lines; place => { name => FILE:LINE }.
sub tree {
    my ($nodes, %more) = @_;
    my $place = delete $more{place} || {};
    my %header = (dprof_hash_seed => "'0'", dprof_perturb_keys => "'0'", %more);
    my (%id, @subs, @lines);
    for (@$nodes) {
        my ($depth, $name, $calls, $ticks, $ops) = @$_;
        if ($depth && !$id{$name}) {
            my ($package, $sub) = $name =~ /^(\w+)::(.*)\z/s ? ($1, $2) : ('', $name);
            $id{$name} = sprintf '%x', 1 + keys %id;
            push @subs, join ' ', packed($package), packed($sub), $place->{$name} // '-';
        }
        push @lines, join ' ', '=', $depth, $depth ? $id{$name} : 0, $calls, $ticks, 0,
            $ticks, 0, 0,
            $ops, 2 * $ops;
    }
    return profile_text(format => 'tree', hz => $HZ, version => 'DProf 20261120.00',
        counters => 'ops:ops allocs:B', subs => \@subs, lines => \@lines,
        header => join '', map { "\$$_=$header{$_};\n" } grep { defined $header{$_} } sort
            keys %header);
}

sub file {
    my ($text) = @_;
    return spew("$dir/" . ++$n_files . '.out', $text);
}

# Makes a profile of one sub A::f and the rest, with ticks, calls, ops.
sub one {
    my ($ticks, $calls, $ops, %more) = @_;
    file(tree([[0, '', 0, 0, 0], [1, 'A::f', $calls // 1, $ticks, $ops // 0]], %more));
}

# ---- limits, to the tick ----

{
    my @cases = (
        # Each row: rule, baseline, a side that passes, a side that fails: [ticks, calls, ops].
        ['self > 5%', [1000, 1, 1], [1050, 1, 1], [1051, 1, 1]],
        ['self > 0%', [1000, 1, 1], [1000, 1, 1], [1001, 1, 1]],
        ['self > 3%', [100, 1, 1], [103, 1, 1], [104, 1, 1]],
        ['self > 0.7%', [1000, 1, 1], [1007, 1, 1], [1008, 1, 1]],
        ['self > .7%', [1000, 1, 1], [1007, 1, 1], [1008, 1, 1]],
        ['self > 1000%', [7, 1, 1], [77, 1, 1], [78, 1, 1]],
        ['self > 2ms', [1000, 1, 1], [1002, 1, 1], [1003, 1, 1]],
        ['self > 2 ms', [1000, 1, 1], [1002, 1, 1], [1003, 1, 1]],
        ['self>2000us', [1000, 1, 1], [1002, 1, 1], [1003, 1, 1]],
        ['self > 3000000ns', [1000, 1, 1], [1003, 1, 1], [1004, 1, 1]],
        ['self > 1.007s', [1000, 1, 1], [2007, 1, 1], [2008, 1, 1]],
        ['self > 0', [1000, 1, 1], [1000, 1, 1], [1001, 1, 1]],
        ['self > 5% & 60ms', [1000, 1, 1], [1060, 1, 1], [1061, 1, 1]],
        ['self > 60ms & 5%', [1000, 1, 1], [1060, 1, 1], [1061, 1, 1]],
        ['self > 5% & 40ms', [1000, 1, 1], [1050, 1, 1], [1051, 1, 1]],
        ['self>5%&40ms', [1000, 1, 1], [1050, 1, 1], [1051, 1, 1]],
        ['incl > 5% & 10ms', [1000, 1, 1], [1050, 1, 1], [1051, 1, 1]],
        ['calls > 0', [1000, 5, 1], [2000, 5, 9], [1000, 6, 1]],
        ['calls > 2', [1000, 5, 1], [1000, 7, 1], [1000, 8, 1]],
        ['calls > 20%', [1000, 5, 1], [1000, 6, 1], [1000, 7, 1]],
        ['ops > 2%', [1000, 1, 50], [1000, 1, 51], [1000, 1, 52]],
        ['ops > 10000', [1000, 1, 50], [1000, 1, 10050], [1000, 1, 10051]],
        ['ops > 2% & 10', [1, 1, 50], [1, 1, 60], [1, 1, 61]],
        ['allocs > 10', [1, 1, 50], [1, 1, 55], [1, 1, 56]],
        ['ops > 0', [1, 1, 4e15], [1, 1, 4e15], [1, 1, 4e15 + 1]],
        ['ops > 3000000000000000', [1, 1, 0], [1, 1, 3e15], [1, 1, 3e15 + 1]],
        ['ops > 10%', [1, 1, 2e15], [1, 1, 2.2e15], [1, 1, 2.2e15 + 1]],
        ['self > 10%', [1000, 1, 1], [1, 1, 1], [1101, 1, 1]],
        ['self > 900%', [0, 1, 1], [0, 1, 1], [1, 1, 1]],
    );
    for my $case (@cases) {
        my ($rule, @ticks) = @$case;
        my ($base, $fine, $bad) = map { one(@$_) } @ticks;
        my $good = diffs('--fail-if', $rule, '--format', 'json', $base, $fine);
        is("$good->{status} $good->{err}", '0 ', "a value at the limit of '$rule' passes");
        my $run = diffs('--fail-if', $rule, '--format', 'json', $base, $bad);
        is($run->{status}, 3, "a value one beyond the limit of '$rule' fails") or diag $run->{err};
        my $json = json_of($run);
        is("$json->{gate} " . join(',', sort map { $_->{name} } @{ $json->{findings} }),
            $rule =~ /^incl/ ? 'failed (program),(total),A::f' : 'failed (total),A::f',
            "the findings of '$rule' are those of each sub and of the total");
    }
}

# ---- a naive model ----

my $state = $ENV{DPROF_SEED} // 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }

sub random_nodes {
    my @nodes = ([0, '', 0, rnd(50), rnd(50)]);
    my $depth = 0;
    for (1 .. 3 + rnd(12)) {
        $depth = 1 + rnd($depth + 1);
        my $name = ('A', 'A', 'B', 'C')[rnd(4)] . '::' . ('f', 'g', 'a,b', 'x y', 'p/q',
            'new')[rnd(6)];
        push @nodes, [$depth, $name, 1 + rnd(5), rnd(3) ? rnd(1000) : 0, rnd(2000)];
    }
    return \@nodes;
}

# Keeps some values, makes some a little larger, some smaller; now and then adds or removes a
# context.
sub changed {
    my ($nodes) = @_;
    my @new = map { [@$_] } @$nodes;
    for my $node (@new) {
        for my $k ($node->[0] ? 2 .. 4 : 3 .. 4) {
            my $by = (0, 0, 1, int($node->[$k] / 20), int($node->[$k] / 20) + 1,
                int($node->[$k] / 10), -int($node->[$k] / 7), 50)[rnd(8)];
            $node->[$k] += $by;
        }
    }
    pop @new if !rnd(3);
    push @new, [1, 'D::' . ('f', 'new')[rnd(2)], 1, rnd(100), rnd(10)] if !rnd(3);
    return \@new;
}

# Returns name => { self, incl, calls, ops, allocs } as Format.pod defines them; the total is of
# all.
sub sums {
    my ($nodes) = @_;
    my (%of, @path);
    for (@$nodes) {
        my ($depth, $name, $calls, $ticks, $ops) = @$_;
        $name = '(program)' if !$depth;
        $#path = $depth - 1;
        push @path, $name;
        $of{$name}{self} += $ticks, $of{$name}{calls} += $calls, $of{$name}{ops} += $ops,
            $of{$name}{allocs} += 2 * $ops;
        my %seen;
        $of{$_}{incl} += $ticks for grep { !$seen{$_}++ } @path;
        for (['self', $ticks], ['incl', $ticks], ['calls', $calls], ['ops', $ops],
            ['allocs', 2 * $ops]) {
            $of{'(total)'}{ $_->[0] } += $_->[1];
        }
    }
    return \%of;
}

# Whether the value grows by more than all the limits, in whole numbers. A limit: [hundredths of
# percent, '%'], [ticks, 'ms'], [number, ''].
sub grows {
    my ($base, $new, @limits) = @_;
    return $new > $base && !grep { $_->[1] eq '%' ? ($new - $base) * 10_000 <= $_->[0] * $base
        : $new - $base <= $_->[0] } @limits;
}

sub expected {
    my ($rules, @sides) = @_;
    my @sums = map { sums($_) } @sides;
    my @found;
    for my $r (0 .. $#$rules) {
        my ($re, $metric, @limits) = @{ $rules->[$r]{is} };
        for my $s (1 .. $#sides) {
            my %names = map { $_ => 1 } map { keys %$_ } @sums[0, $s];
            my @of;
            for my $name (sort grep { !defined $re || /$re/ } keys %names) {
                my ($b, $v) = map { $sums[$_]{$name} } 0, $s;
                if ($metric eq 'new' || $metric eq 'gone') {
                    push @of, [0, "$r $s $name - -"] if $metric eq 'new' ? $v && !$b : $b && !$v;
                    next;
                }
                my ($from, $to) = map { $_->{$metric} // 0 } $b // {}, $v // {};
                my @shown = $metric =~ /^(?:self|incl)$/ ? map({ sprintf '%.3f', $_ / $HZ } $from,
                    $to) : ($from, $to);
                push @of, [$to - $from, "$r $s $name " . join(' ', map { 0 + $_ } @shown)]
                    if grows($from, $to, @limits);
            }
            # The sort is stable, and (program) and (total) come before the letters; of equals the
            # total is first.
            push @found, map { $_->[1] } sort { $b->[0] <=> $a->[0]
                || ($b->[1] =~ / \(total\) /) <=> ($a->[1] =~ / \(total\) /) } @of;
        }
    }
    return \@found;
}

sub random_rule {
    my @patterns = (['^A::', '^A::'], ['a,b', 'a,b'], ['x y', 'x y'], ['p\/q', 'p/q'],
        ['::[fg]$', '::[fg]$'], ['A::f|B::g', 'A::f|B::g'],
        ['^\(total\)$', '^\(total\)$'], ['program', 'program'], ['a,b, new', 'a,b, new'],
        ['^[^(]', '^[^(]'], ['\\\\', '\\\\'], ['', '']);
    my ($text, $re) = rnd(2) ? ('', undef) : @{ $patterns[rnd(scalar @patterns)] };
    my $blank = (' ', '', "\t ", "\n")[rnd(4)];
    $text = "/$text/$blank" if defined $re;
    if (!rnd(5)) {
        my $kind = ('new', 'gone')[rnd(2)];
        return { text => $text . $kind, is => [$re, $kind] };
    }
    my $metric = (qw(self incl calls ops allocs))[rnd(5)];
    my $time = $metric eq 'self' || $metric eq 'incl';
    my @limits = map {
        my $percent = (0, 50, 500, 500, 1000, 2000, 10_000)[rnd(7)];
        my $n = (0, 1, 2, 50, 100)[rnd(5)];
        rnd(2) ? [$percent / 100 . '%', $percent, '%'] : $time
            ? [(rnd(2) ? "${n}ms" : $n / 1000 . 's'), $n, ''] : [$n, $n, ''];
    } 0 .. rnd(2);
    return {
        text => "$text$metric$blank>$blank" . join("$blank&$blank", map { $_->[0] } @limits),
        is => [$re, $metric, map { [@$_[1, 2]] } @limits],
    };
}

sub plain_numbers { [map { s/(?<= )(\d+\.\d+)(?= |\z)/0 + $1/ger } @{ $_[0] }] }

for my $round (1 .. ($ENV{DPROF_RUNS} || TestEnvironment::rounds(2, 20))) {
    my @sides = random_nodes();
    push @sides, changed($sides[0]) for 0 .. (rnd(3) ? 0 : 1);
    my (%twice, @rules);
    @rules = grep { !$twice{ $_->{text} }++ } map { random_rule() } 1 .. 1 + rnd(5);
    my @files = map { file(tree($_)) } @sides;
    my $sep = (', ', ',', " ,\n ")[rnd(3)];
    my @options = rnd(2) ? ('--fail-if', join $sep, map { $_->{text} } @rules)
        : map { ('--fail-if', $_->{text}) } @rules;
    my $run = diffs(@options, '--format', 'json', @files);
    my $want = expected(\@rules, @sides);
    my $good = is_deeply(plain_numbers(findings($run, map { $_->{text} } @rules)), $want,
        "random profiles and rules $round: findings are those of the model");
    # A rule that matches no sub is an error.
    my %known = map { $_ => 1 } '(program)', '(total)',
        map { $_->[1] } map { grep { $_->[0] } @$_ } @sides;
    my $idle = grep { my $re = $_->{is}[0]; defined $re && !grep { /$re/ } keys %known } @rules;
    $good &&= is($run->{status}, @$want ? 3 : $idle ? 1 : 0,
        "random profiles and rules $round: the status is that of the model");
    next if $good;
    diag join "\n", map { $_->{text} } @rules;
    diag $run->{err};
    last;
}

# ---- filters, keys, other metrics ----

subtest 'Filters, keys and metrics choose what a gate checks' => sub {
    my @base = ([0, '', 0, 10, 1], [1, 'A::f', 2, 100, 10], [2, 'B::g', 3, 100, 10],
        [1, 'C::gone', 1, 1, 1]);
    my @new = ([0, '', 0, 10, 1], [1, 'A::f', 3, 110, 10], [2, 'B::g', 3, 130, 20],
        [1, 'C::new', 1, 1, 1]);
    my ($old, $new) = map { file(tree($_)) } \@base, \@new;
    my $got = sub { names(diffs('--format', 'json', '--fail-if', @_, $old, $new)) };
    is($got->('new, gone'), 'C::new,C::gone', 'new and gone are found');
    is($got->('/^C::g/ new, /^C::g/ gone'), 'C::gone', 'a pattern restricts new and gone');
    is($got->('gone'), 'C::gone', 'gone alone is found');
    is($got->('self > 0', '-d', 'A'), '(total),A::f', '-d restricts a gate');
    is($got->('self > 0', '-S', 'C::gone'), '(total)', '-S restricts a gate');
    is($got->('self > 0', '--only', '^B'), '(total),B::g', '--only restricts a gate');
    is($got->('self > 0', '--skip', '^B'), '(total),A::f,C::new', '--skip restricts a gate');
    is($got->('new', '--skip', 'new'), '', 'a sub that is not shown is not new');
    is($got->('self > 0', '-O', 1), '(total),B::g,A::f,C::new',
        '-O does not restrict a gate');
    is($got->('self > 0', '--tree'), '(total),B::g,A::f,C::new', '--tree has the same gate');
    is($got->('self > 0', '-s', 'package'), '(total),B,A', '-s package checks packages');
    is($got->('/^B$/ self > 0', '-s', 'package'), 'B',
        'with -s package a pattern is for the package');
    is($got->('self > 0', '-m', 'calls'), '(total),A::f,C::new', 'self is of the metric of -m');
    is($got->('incl > 0', '-m', 'ops'), '(total),(program),A::f,B::g,C::new',
        'incl is of the metric of -m');
    is($got->('calls > 0', '-m', 'calls'), '(total),A::f,C::new',
        'calls are checked with -m calls');
    is($got->('calls > 0', '-m', 'real'), '(total),A::f,C::new', 'calls are checked with -m real');
    is($got->('real > 0', '-m', 'real'), '(total),B::g,A::f,C::new',
        'a rule may name the metric of -m');
    is($got->('/^B::/ self > 0', '-s', 'package,sub'), 'B, B::g',
        'with several keys, a pattern is for the sub');
    is($got->('self > 20% & 20ms', '--map', 'C::gone=C::new'), 'B::g', 'renamed subs are compared');
    is(diffs('--fail-if', 'new, gone', '--map', 'C::gone=C::new', $old, $new)->{status}, 0,
        'renamed subs are not new');
    my $run = diffs('--fail-if', 'self > 0, calls > 0', $old, $new);
    is($run->{err},
        "dprofdiff: 7 findings of --fail-if; with one run a side, times may differ by chance\n",
        'the number of findings is printed');
    like($run->{out}, qr/^FAIL  self > 0: B::g: 100\.0 ms -> 130\.0 ms \(\+30\.00%\)\n/m,
        'each finding has a line');
    like($run->{out}, qr/^FAIL  self > 0: C::new: 0 s -> 1\.000 ms \(new\)\n/m,
        'a new sub has grown from nothing');
    $run = diffs('--fail-if', 'self > 90%, gone', '--only', '^A', $old, $new);
    is("$run->{status}$run->{err}", '0', 'a gate that passes gives status 0 and no message');
    like($run->{out}, qr/^ok    2 rules\n\z/m, 'a gate that passes says how many rules it had');
    like($run->{out}, qr/ A::f$/m, 'a gate that passes prints the table');
};

subtest "A pattern is matched as characters, and is perl's" => sub {
    my ($old, $new) =
        map { file(tree([[0, '', 0, 0, 0], [1, "A::caf\xc3\xa9", 1, $_, 0],
            [1, 'B::x', 1, $_, 0]])) } 10, 20;
    my $got = sub { names(diffs('--format', 'json', '--fail-if', @_, $old, $new)) };
    is($got->("/caf.\$/ self > 0"), "A::caf\xe9", '. in a pattern matches one character');
    is($got->("/caf\xc3\xa9/ self > 0"), "A::caf\xe9", 'a character in a pattern matches itself');
    is($got->('/(?i)^b/ self > 0'), 'B::x', 'switches within a pattern work');
    is($got->('/(?<![A-Z])::/ self > 0'), '', 'a pattern may match nothing');
    is(diffs('--fail-if', '/[a-\d]/ self > 0', $old, $new)->{err},
        "dprofdiff: 2 findings of --fail-if; with one run a side, times may differ by chance\n",
        "perl's warnings about a pattern are not printed");
    is($got->('// self > 0'), "(total),A::caf\xe9,B::x", 'the empty pattern matches all');
    is($got->('/B/ self > 0, // self > 0'), "B::x,(total),A::caf\xe9,B::x",
        'the empty pattern matches all after another pattern');
};

subtest '--unit gives the limits of folded stacks a unit' => sub {
    my ($old, $new) = map { spew("$dir/$_->[0].folded", $_->[1]) } ['old', "a;b 100\na 50\n"],
        ['new', "a;b 106\na 50\n"];
    my $status = sub { my $run = diffs('--fail-if', @_, $old, $new); $run->{status} };
    my @cases = (['self > 6', 0], ['self > 5', 3], ['self > 6%', 0], ['self > 5.9%', 3],
        ['incl > 5', 3], ['incl > 6', 0], ['self > 6ms', 2], ['new', 0],
        ['calls > 0', 1], ['ops > 0', 1], ['self > 6ms', '--unit', 'ms', 0],
        ['self > 5ms', '--unit', 'ms', 3], ['self > 6', '--unit', 'ms', 2],
        ['self > 6s', '--unit', 's', 0], ['self > 5999ms', '--unit', 's', 3],
        ['self > 6us', '--unit', 'us', 0], ['self > 5999ns', '--unit', 'us', 3],
        ['calls > 5', '--unit', 'calls', 3], ['calls > 6', '--unit', 'calls', 0],
        ['self > 6', '--unit', 'widgets', 0], ['self > 5', '--unit', 'widgets', 3],
        ['self > 5ms', '--unit', 'widgets', 2], ['user > 5', 2], ['user > 5', '-m', 'user', 3]);
    is($status->(@$_[0 .. $#$_ - 1]), $_->[-1], "folded stacks: @$_[0 .. $#$_ - 1]") for @cases;
    ($old, $new) = map { spew("$dir/$_->[0].folded", $_->[1]) } ['old', "a 1.25\n"],
        ['new', "a 1.75\n"];
    is($status->('self > 0.5'), 0, 'folded stacks: a fraction at the limit passes');
    is($status->('self > 0.49'), 3, 'folded stacks: a fraction beyond it fails');
};

subtest 'Classic traces and trees are compared' => sub {
    my $trace = sub {
        my ($ticks) = @_;
        file(profile_text(format => 'classic', hz => $HZ, version => 'DProf 20000000',
            times => [$ticks, 0, $ticks],
            lines => ['& 2 A f', '+ 2', "\@ $ticks 0 $ticks", '- 2']));
    };
    my @t = map { $trace->($_) } 100, 110, 111;
    is(diffs('--fail-if', 'self > 10%', @t[0, 1])->{status}, 0, 'traces pass at the limit');
    is(diffs('--fail-if', 'self > 10%', @t[0, 2])->{status}, 3, 'traces fail beyond the limit');
    is(diffs('--fail-if', 'calls > 0', $t[0], one(100, 2))->{status}, 3,
        'a trace and a tree are compared');
    my $run = diffs('--fail-if', 'ops > 0', $t[0], one(100, 1, 5));
    is($run->{status}, 1, 'a side that lacks what a rule asks for gives status 1');
    like($run->{err}, qr/^ops: not all sides have it; trees have ops:/m,
        'a message names the side that lacks what a rule asks for');
};

subtest 'Ops repeat only with a pinned seed' => sub {
    my %random = (dprof_hash_seed => undef, dprof_perturb_keys => undef);
    is(diffs('--fail-if', 'ops > 0', one(1, 1, 1000), one(1, 1, 1001))->{status}, 3,
        'with pinned hash seeds one op more fails');
    is(diffs('--fail-if', 'ops > 0', map { one(1, 1, $_, %random) } 1000, 1001)->{status}, 0,
        'with random seeds 0.1 % more ops pass');
    is(diffs('--fail-if', 'ops > 0', map { one(1, 1, $_, %random) } 1000, 1002)->{status}, 3,
        'with random seeds more than 0.1 % fail');
    is(diffs('--fail-if', 'calls > 0', map { one(1, $_, 1, %random) } 1000, 1001)->{status}, 3,
        'with random seeds one call more fails');
};

# ---- mistakes in rules ----

subtest 'Wrong rules give a message' => sub {
    my @files = (one(1), one(2));
    my $units = qr/the units are %, s, ms, us, ns/;
    my $limit = qr/a limit like 5%, 2ms or 10000 is expected/;
    my $rule = qr/METRIC > LIMIT, new or gone is expected/;
    my $comma = qr/a comma, or the end is expected/;
    my @cases = (
        ['self', $rule, 'self'], ['self >', $limit, ''], ['self > x', $limit, 'x'],
        ['self > -5%', $limit, '-5%'], ['self >= 5%', $limit, '= 5%'],
        ['self < 5%', $rule, 'self < 5%'], ['self = 5%', $rule, 'self = 5%'],
        ['> 5%', $rule, '> 5%'], ['5%', $rule, '5%'],
        ['self > 5% 3ms', $comma, '3ms'], ['self > 5% &', $limit, ''],
        ['self > 5% & x', $limit, 'x'], ['self > 5% && 2ms', $limit, '& 2ms'],
        ['self > 5%%', $comma, '%'], ['self > 5%, incl', $rule, 'incl'],
        ['self > 1e3', $comma, 'e3'], ['self > 5.', $comma, '.'],
        ['new > 5%', $comma, '> 5%'], ['new gone', $comma, 'gone'],
        ['gone self > 5%', $comma, 'self > 5%'], ['/x self > 5%', $rule, '/x self > 5%'],
        ['/x/', $rule, ''], ['/x/ /y/ self > 5%', $rule, '/y/ self > 5%'],
        ['/x\/ self > 5%', $rule, '/x\/ self > 5%'],
        ['self > 5%; new', $comma, '; new'], ['self > 1,000', $rule, '000'],
    );
    for (@cases) {
        my ($text, $want, $where) = @$_;
        my $run = diffs('--fail-if', $text, @files);
        is("$run->{status} $run->{out}", '2 ', "the rule `$text' is a usage error");
        like($run->{err}, qr/^--fail-if: $want at `\Q$where\E' in `\Q$text\E'; for example/,
            "the rule `$text' gives a message that says what is wanted, and where");
    }
    my @others = (
        ['', qr/^--fail-if: there is no rule$/], [' , ,', qr/^--fail-if: there is no rule$/],
        ['/(/ self > 5%', qr{^--fail-if: /\(/ is not a regular expression: Unmatched \(}],
        ['/[z-a]/ new', qr{^--fail-if: /\[z-a\]/ is not a regular expression: Invalid}],
        ['/(?{ die })/ new',
            qr{^--fail-if: /\(\?\{ die \}\)/ is not a regular expression: Eval-group}],
        ['self > 5% & 2ms & 3ms',
            qr/^--fail-if: self > 5% & 2ms & 3ms: a rule has at most two limits$/],
        ['self > 5min', qr/^--fail-if: self > 5min: min is not a unit; $units$/],
        ['self > 5% & 7h', qr/^--fail-if: self > 5% & 7h: h is not a unit; $units$/],
        ['self > 5', qr/^--fail-if: self > 5: a limit of time needs a unit: 5% or 5ms$/],
        ['incl > 10% & 3',
            qr/^--fail-if: incl > 10% & 3: a limit of time needs a unit: 3% or 3ms$/],
        ['calls > 2ms', qr/^--fail-if: calls > 2ms: 2ms is a time, and this metric is a count$/],
        ['ops > 1s', qr/^--fail-if: ops > 1s: 1s is a time, and this metric is a count$/],
        ['real > 5%',
            qr/: real > 5%: a time is compared as self or incl, and -m selects the time$/],
        ['user > 5%', qr/^--fail-if: user > 5%: a time is compared as self or incl/],
    );
    for (@others) {
        my ($text, $want) = @$_;
        my $run = diffs('--fail-if', $text, @files);
        is("$run->{status} $run->{out}", '2 ', "the rule `$text' is a usage error");
        like($run->{err} =~ s/\n.*//sr, $want, "the rule `$text' gives a message that says why");
    }
    my $run = diffs('--fail-if', 'cache-misses > 5%', @files);
    is("$run->{status} $run->{out}", '1 ', 'an event that no side has gives status 1');
    my $has = join ', ', time_words(), qw(calls ops allocs);
    like($run->{err}, qr/^there is no metric cache-misses\nboth sides have $has$/m,
        'the message lists the metrics of both sides');
    is(diffs('--fail-if', 'self > 0', @files, '/no/such/file')->{status}, 1,
        'a missing file gives status 1');
};

# ---- profiles cut short ----

{
    my $cut = one(5, 1, 1, total_marks => 9);
    my $whole = one(4);
    for my $files ([$cut, $whole], [$whole, $cut]) {
        my $run = diffs('--fail-if', 'self > 0', @$files);
        is("$run->{status} $run->{out}", '1 ', 'a gate with a side cut short gives status 1');
        like($run->{err}, qr/^\Q$cut\E was cut short/m,
            'a gate with a side cut short names the side');
        is(diffs('-f', '--fail-if', 'self > 0', @$files)->{status}, 1,
            '-f does not let a gate with a side cut short pass');
        is(diffs('--allow-truncated', '--fail-if', 'self > 0', @$files)->{status},
            $files->[0] eq $whole ? 3 : 0, '--allow-truncated lets the gate decide');
        is(diffs(@$files)->{status}, 0, 'without a gate a side cut short gives status 0');
    }
}

# ---- several runs a side ----

# Makes the runs of a side, as one argument.
sub runs { my (@ticks) = @_; join ',', map { one(ref $_ ? @$_ : $_) } @ticks }

my @formats = qw(text tap junit json csv markdown github);
{
    my ($old, $new) = (runs(1000, 1002), runs(1100, 1104));
    my %shown = (
        text => [qr/^\?\ \ \ \ \ self\ >\ 5%:\ A::f:\ 1\.001\ s\ ->\ 1\.102\ s\ \(\+10\.09%\);\ not
            \ enough\ runs:\ \d+\ a\ side\ needed\n/mx, qr/^FAIL  self > 5%: A::f: /m],
        tap => [qr/^ok\ 1\ -\ self\ >\ 5%\n(?:\#.*\n
            )*\#\ \ \ A::f:\ .*;\ not\ enough\ runs:\ \d+\ a\ side\ needed\n/mx,
        qr/^not ok 1 - self > 5%\n/m],
        junit =>
            [qr{\ failures="0"\ errors="0"\ skipped="1">\n
                .*<skipped\ message="not\ enough\ runs:\ \d+\ a\ side\ needed"/></testcase>}x,
            qr{ failures="1" errors="0" skipped="0">\n.*<failure }],
        json => [qr/"gate": "undecided",\n.*"undecided": true, "side": 1, "name": "A::f"/,
            qr/"gate": "failed",\n.*"undecided": true/],
        csv => [qr/,too few runs,self > 5%,A::f,/, qr/,too few runs,self > 5%,A::f,/],
        markdown =>
            [qr/\A\#\#\#\ \S+\ Gate\ undecided\n\n
                -\ \*\*undecided\*\*\ `self\ >\ 5%:\ .*;\ not\ enough\ runs:\ \d+\ a\ side
                \ needed`\n/x, qr/\A### \S+ Gate\ failed\n\n- \*\*failed\*\* `self > 5%: /],
        github => [qr/^::warning title=self > 5%25::A::f: .*; not enough runs: \d+ a side needed$/m,
            qr/^::error title=self > 5%25::A::f: /m],
    );
    for my $format (@formats) {
        my $run = diffs('--fail-if', 'self > 5%', '--format', $format, $old, $new);
        is($run->{status}, 0, "$format: an undecided finding passes");
        like($run->{err},
            qr/^dprofdiff: 2 findings are undecided: not enough runs, \d+ a side needed\n\z/,
            "$format: a warning counts the undecided findings");
        like($run->{out}, $shown{$format}[0], "$format: an undecided finding is shown");
        my $strict = diffs('--strict', '--fail-if', 'self > 5%', '--format', $format, $old, $new);
        is($strict->{status}, 3, "$format: --strict makes an undecided finding fail");
        like($strict->{out}, $shown{$format}[1],
            "$format: --strict shows an undecided finding as failing");
        unlike($strict->{out}, qr/^(?:\?  |ok 1 |::warning)|<skipped|\*\*undecided/m,
            "$format: --strict does not show the finding as undecided");
        next if $format eq 'csv';
        my $bad = diffs('--fail-if', 'self > 5%, new', '--format', $format, one(1000), one(1100));
        unlike($bad->{out}, qr/undecided": true|not enough runs/,
            "$format: one run a side needs no test");
        is($bad->{status}, 3, "$format: a finding with one run a side fails");
    }
    my ($needed) = diffs('--fail-if', 'self > 5%', $old, $new)->{err} =~ /(\d+) a side/;
    my $far = sub { runs(map { $_[0] + $_ } 1 .. $_[1]) };
    is(diffs('--fail-if', 'self > 5%', $far->(1000, $needed), $far->(1200, $needed))->{status}, 3,
        "$needed runs a side can decide");
    like(diffs('--fail-if', 'self > 5%', $far->(1000, $needed - 1),
        $far->(1200, $needed - 1))->{err}, qr/ undecided/, 'one run less cannot decide');

    my @three = map {
        my $by = $_;
        join ',',
            map { file(tree([[0, '', 0, 0, 0], map { [1, "A::$_", 1, $by + $_, 0] } 1 .. 20])) } 1,
            2
    } 1000, 2000;
    for (['/total/ self > 5%'], ['self > 5%', '--floor', 101]) {
        like(diffs('--fail-if', @$_, @three)->{out},
            qr/^\?\ \ \ \ \ .*:\ \(total\):\ .*;\ not\ enough\ runs:\ 6\ a\ side\ needed\n
                Gate:\ undecided,\ 1\ finding\n\z/mx, "the total has a test of its own with @$_");
    }
    like(diffs('--fail-if', '/A::7$/ self > 5%', @three)->{out},
        qr/; not enough runs: 8 a side needed\nGate: undecided, 1 finding\n\z/,
        'more subs need more runs');

    is(diffs('--strict', '--fail-if', 'self > 11%', $old, $new)->{status}, 0,
        'a change within the limit need not be decided');
    is(diffs('--fail-if', 'self > 5%', $old, runs(900, 904))->{err}, '',
        'a sub that became faster need not be decided');

    # Four runs a side can decide at 0.05: p is 2 / 70.
    my @alpha = ('--alpha', '0.05', '--format', 'json');
    my $run = diffs(@alpha, '--fail-if', 'self > 5%', runs(1000, 1001, 1002, 1003),
        runs(1200, 1201, 1202, 1203));
    is("$run->{status} " . join(',', @{ plain_numbers(findings($run, 'self > 5%')) }),
        '3 0 1 (total) 1.002 1.202,0 1 A::f 1.002 1.202',
        'a significant difference of medians fails');
    is(diffs(@alpha, '--fail-if', 'self > 10%', runs(1000, 1001, 1002, 1003),
        runs(1100, 1101, 1102, 1103))->{status}, 0,
            'a significant difference within the limit passes');
    $run = diffs(@alpha, '--strict', '--fail-if', 'self > 5%', runs(1000, 1001, 1002, 1300),
        runs(1100, 1101, 1102, 1200));
    is("$run->{status} $run->{err}" . @{ findings($run) }, '0 0',
        'a limit perhaps crossed by chance passes');
    $run = diffs(@alpha, '--strict', '--fail-if', 'calls > 0', runs([5, 7], [6, 7]),
        runs([5, 8], [6, 8]));
    is("$run->{status} " . @{ findings($run) }, '3 2',
        'calls that agree in all runs of a side need no test');
    $run = diffs('--fail-if', 'calls > 0', runs([5, 7], [6, 8]), runs([5, 19], [6, 20]));
    is($run->{status}, 0, 'calls that differ are tested');
    like($run->{err}, qr/^dprofdiff: 2 findings are undecided/,
        'two runs cannot decide calls that differ');
    is(diffs('--fail-if', 'new', runs(1, 2), join ',',
        map { file(tree([[0, '', 0, 0, 0], [1, 'B::f', 1, $_, 0]])) } 1, 2)->{status}, 3,
        'a new sub needs no test');

    # These are too small to be tested.
    my @small = map {
        my $k = $_;
        join ',', map { file(tree([[0, '', 0, 100_000, 0], [1, 'A::f', 1, $k + $_, 0]])) } 1, 2
    } 10, 90;
    is(diffs('--strict', '--fail-if', 'self > 5%', @small)->{status}, 0,
        'a time below the floor is not tested');
    $run = diffs('--fail-if', '/A/ self > 5%', @small);
    is($run->{status}, 0, 'a time below the floor passes if a pattern names the sub');
    like($run->{out}, qr/; it is below --floor, and not tested$/m,
        'a line says that the sub is below the floor');
    is(diffs('--strict', '--fail-if', '/A/ self > 5%', @small)->{status}, 3,
        '--strict fails if a pattern names a sub below the floor');
    is(diffs('--strict', '--floor', 0, '--fail-if', '/A/ self > 5%', @small)->{status}, 3,
        '--floor 0 tests a small time');

    # Files of one run count as one.
    my $pid = 0;
    my $part = sub { one($_[1], 1, 1, dprof_run => "'$_[0]'", dprof_pid => ++$pid) };
    $run = diffs('--fail-if', 'self > 10%, calls > 0', '--format', 'json',
        join(',', $part->('a', 50), $part->('a', 60)),
        join(',', $part->('b', 61), $part->('b', 61)));
    is_deeply(plain_numbers(findings($run, 'self > 10%', 'calls > 0')),
        ['0 1 (total) 0.11 0.122', '0 1 A::f 0.11 0.122'], 'files of one run are added up')
            or diag $run->{err};
}

# ---- hostile names ----

my $utf8 =
    qr/[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|\xe0[\xa0-\xbf][\x80-\xbf]
    |[\xe1-\xec\xee\xef][\x80-\xbf]{2}|\xed[\x80-\x9f][\x80-\xbf]
    |\xf0[\x90-\xbf][\x80-\xbf]{2}|[\xf1-\xf3][\x80-\xbf]{3}|\xf4[\x80-\x8f][\x80-\xbf]{2}/x;

# Decodes bytes to characters; invalid bytes become $bad->(byte).
sub characters {
    my ($bytes, $good) = @_;
    return $bytes =~ s{($utf8)|(.)}{
        if (defined $2) { sprintf '\\x%02x', ord $2 }
        else { my $c = $1; utf8::decode($c); $good->($c) }
    }gesr;
}

# Returns the bytes as terminals, and all that people read, have them.
sub shown {
    my ($bytes) = @_;
    return characters($bytes, sub {
        my ($c) = @_;
        my $n = ord $c;
        return sprintf '\\x%02x', $n if $n < 0x20 || $n == 0x7f;
        return sprintf '\\x{%x}', $n
            if ($n >= 0x80 && $n < 0xa0) || ($n >= 0x2028 && $n <= 0x202e)
            || ($n >= 0x2066 && $n <= 0x2069);
        return $c;
    });
}

sub as_json { characters($_[0], sub { $_[0] }) }

my @names = (
    "\e[31mred\e]0;title\a", "line\nok 7 - forged\n1..9\nBail out! now", "\r\n::error::forged",
    '# TODO later', 'x # SKIP it', 'a|b||c\|d', '\\', 'trailing\\',
    '`', '``a`', 'b`', join('x', map { '`' x $_ } 1 .. 33), '<script>alert(1)</script>', ']]><x>',
    '&amp;&#0;&lt', '::error::x', '::error file=a.pl,line=1::x', '%0A::warning::y', '100%25',
    '"quoted"', "it's", 'a,b', ' blank ', "\xff\xfe\x80", "cut\xe2\x82", "\xed\xa0\x80",
    "\xef\xbf\xbe", "x\xef\xbf\xbf", "\xc2\x85\xe2\x80\xae\xe2\x80\xa8", "\xe6\xbc\xa2\xe5\xad\x97",
    "e\xcc\x81\xcc\x81",
    "\xf0\x9f\x90\xab", '=1+2', '+1', '-1', '@SUM(1)', "\t=1", "\xef\xbc\x9d1", "x\0y", 'not ok 1',
    '1..0 # SKIP', 'pragma +strict', "\x7f", '$(rm)', '[link](http://x)', '<!-- -->', 'a' x 10_000,
    "caf\xc3\xa9", '%s%n', '**b**', '#1 @you', '--', 'TAP version 13',
);
my @rule = ('/[|]|^(?!\(total|fresh).*|# TODO `x` ]]><script>::error::%0A,"=/ self > 10%', 'new',
    "/\xc3\xa9|\\/\e.31m|no/ gone");
my $hostile_file = "%0A::e,r%25|`<x>\".pm";
my (@hostile, %place);
{
    my (@base, @new);
    my $line = 0;
    for my $name (@names) {
        $place{$name} = packed($hostile_file) . ':' . ++$line;
        push @base, [1, $name, 1, 1000 + $line, 1];
        push @new, [1, $name, 1, 2000 - $line, 1];
    }
    $place{fresh} = "lib/fresh.pm:7";
    my @root = [0, '', 0, 5, 1];
    my $side = sub {
        my ($name, @nodes) = @_;
        spew("$dir/$name", tree([@root, @nodes], place => \%place));
        $name;
    };
    @hostile = ($side->("old\n::error::`|.out", @base, [1, 'no more', 1, 3, 1]),
        $side->("new # TODO <b>&\e[1m.out", @new, [1, 'fresh', 1, 3, 1]));
}

# Findings come in this order: the largest growth first.
my @grown = @names;
my $rule_shown = shown($rule[0]);

sub hostile {
    my ($format, @more) = @_;
    diffs('--fail-if', join(', ', @rule), '--format', $format, @more, @hostile);
}

sub text_of { my ($bytes) = @_; utf8::decode($bytes) or die 'no UTF-8'; $bytes }

# Checks for no line break but LF, and nothing that moves a cursor.
sub is_quiet {
    my ($format, $run) = @_;
    my $text = eval { text_of($run->{out}) };
    ok(defined $text, "$format: the output is UTF-8") or return '';
    unlike($text, qr/[^\n\x20-\x7e\xa0-\x{10ffff}]|[\x{2028}-\x{202e}\x{2066}-\x{2069}]/,
        "$format: nothing that a terminal obeys is in the output");
    is($run->{status}, 3, "$format: the gate fails");
    return $text;
}

sub is_list {
    my ($got, $want, $what) = @_;
    my @off = grep { ($got->[$_] // 'nothing') ne ($want->[$_] // 'nothing') }
        0 .. ($#$got > $#$want ? $#$got : $#$want);
    return ok(!@off, "the output has all findings and numbers: $what")
        || diag(map { explain([substr($got->[$_] // 'nothing', 0, 300),
            substr($want->[$_] // 'nothing', 0, 300)]) } @off[0 .. ($#off > 2 ? 2 : $#off)]);
}

# JSON has the names as they are.
{
    my $run = hostile('json');
    my $json = json_of($run);
    is($run->{status}, 3, 'json: the gate fails');
    is_list([map { $_->{name} } grep { exists $_->{value} } @{ $json->{findings} }],
        [map { as_json($_) } @grown], 'json: the findings have all names');
    is_list([map { "$_->{rule} $_->{name}" } grep { !exists $_->{value} } @{ $json->{findings} }],
        ['new fresh', text_of($rule[2]) . ' no more'], 'json: new and gone have their names');
    is_list([map { $_->{symbol} } sort { $a->{baseline} <=> $b->{baseline} }
        grep { $_->{symbol} !~ /^(?:\(program\)|fresh|no more)$/ } @{ $json->{rows} }],
            [map { as_json($_) } @names], 'json: the rows have all names');
}

# Text has findings as lines.
{
    my $text = is_quiet('text', hostile('text'));
    my @lines = $text =~ /^(FAIL  .*)\n/mg;
    is_list([map { /^FAIL  \Q$rule_shown\E: (.*): [\d.]+ m?s -> [\d.]+ m?s \(\+[\d.]+%\)\z/ ? $1
        : $_ } @lines],
        [map({ shown($_) } @grown), 'FAIL  new: fresh: is new',
            'FAIL  ' . shown($rule[2]) . ': no more: is gone'], 'text: each finding has a line');
}

sub tap_of {
    my ($text) = @_;
    return TAP::Parser->new({ tap => length $text ? $text : "nothing\n" });
}

subtest 'TAP is what a harness takes' => sub {
    my $run = hostile('tap');
    my $text = is_quiet('tap', $run);
    my $parser = tap_of($run->{out});
    my (@tests, %types);
    while (my $result = $parser->next) {
        $types{ $result->type }++;
        push @tests, $result if $result->is_test;
    }
    is_deeply([$parser->parse_errors], [],
        'tap: TAP::Parser finds no errors') or diag $parser->parse_errors;
    is_deeply([sort keys %types], [qw(comment plan test)],
        'tap: the output has comments, tests and a plan, and nothing else');
    is($parser->plan, '1..3', 'tap: the plan has three tests');
    is(scalar @tests, 3, 'tap: each rule has a test');
    is(join(' ', map { ($_->is_actual_ok ? 'ok' : 'not') . ($_->has_directive ? ' directive' : '') }
        @tests), 'not not not', 'tap: names make no directives');
    is(text_of($tests[0]->description =~ s/^- //r) =~ s/\\([\\#])/$1/gr, $rule_shown,
        'tap: the description of a test is the rule');
    is_list([map { /^#   (.*): [\d.]+ m?s -> / ? $1 : () } split /\n/, $text],
        [map { shown($_) } @grown], 'tap: each finding has a comment');
    my $fine = tap_of(diffs('--fail-if', '/no such/ self > 5%, /\# TODO no/ new', '--format', 'tap',
        @hostile)->{out});
    $fine->run;
    is(join(' ', $fine->passed, 'of', $fine->tests_run, 'todo', $fine->todo, 'skip', $fine->skipped,
        'plan', $fine->plan), '1 2 of 2 todo skip plan 1..2', 'tap: rules that hold pass');
    my $separated = tap_of(hostile('tap', '-q', '-t', '#')->{out});
    $separated->run;
    is(join(' ', $separated->failed, 'plan', $separated->plan, 'errors', $separated->parse_errors),
        '1 2 3 plan 1..3 errors', 'tap: -t does not spoil the TAP');
};

subtest 'JUnit is well formed for any reader' => sub {
    my $run = hostile('junit');
    my $text = is_quiet('junit', $run);
    my $xml = sub { shown($_[0]) =~ s/([\x{fffe}\x{ffff}])/sprintf '\\x{%x}', ord $1/ger };
    unlike($text, qr/[^\t\n\r\x20-\x{d7ff}\x{e000}-\x{fffd}\x{10000}-\x{10ffff}]/,
        'junit: only characters that XML allows');
    unlike($text, qr/&(?!(?:amp|lt|gt|quot|apos);)/, 'junit: ampersands are escaped');
    unlike($text, qr/\]\]>/, 'junit: no end of CDATA is in the text');
    my @open;
    my $rest = $text =~ s/\A<\?xml version="1\.0" encoding="UTF-8"\?>\n//r;
    isnt($rest, $text, 'junit: the XML declaration is first');
    my $nested = 1;
    while ($rest =~ s{\A[^<]*<(/?)([\w-]+)((?: \w+="[^"<]*")*)(/?)>}{}s) {
        if ($1) { $nested = 0 if !@open || pop(@open) ne $2 } elsif (!$4) { push @open, $2 }
    }
    is("$nested @open" . ($rest =~ /\S/ ? ' rest: ' . substr $rest, 0, 80 : ''), '1 ',
        'junit: tags are closed in order');
    my %said = ('&lt;' => '<', '&gt;' => '>', '&quot;' => '"', '&amp;' => '&');
    my @cases = map { s/(&\w+;)/$said{$1}/gr }
        $text =~ /<testcase classname="dprofdiff" name="([^"]*)">/g;
    is_list(\@cases, [map { $xml->($_) } @rule], 'junit: each rule is a case');
    my ($first) = map { s/(&\w+;)/$said{$1}/gr }
        $text =~ m{<failure message="@{[scalar @grown]} crossed it">\n([^<]*)</failure>};
    is_list([map { /^(.*): [\d.]+ m?s -> / ? $1 : $_ } grep { length } split /\n/, $first // ''],
        [map { $xml->($_) } @grown], 'junit: each finding is in a case');
    like($text, qr/<testsuite name="dprofdiff" tests="3" failures="3" errors="0" skipped="0">/,
        'junit: the counts are right');
  SKIP: {
        skip 'junit: XML::Parser is not here', 1 if !eval { require XML::Parser };
        my (%of, $in, @stack);
        my $parser = XML::Parser->new(Handlers => {
            Start => sub {
                my (undef, $tag, %attr) = @_;
                push @stack, $tag;
                $of{ join '/', @stack } .= '<' . ($attr{name} // '') . '>';
            },
            Char => sub { $of{ join '/', @stack } .= $_[1] },
            End => sub { pop @stack },
        });
        my $good = eval { $parser->parse($run->{out}); 1 };
        my $why = $@;
        my @read = map { /^(.*): [\d.]+ m?s -> / ? $1 : () } split /\n/,
            $of{'testsuites/testsuite/testcase/failure'} // '';
        is_list([$good ? $of{'testsuites/testsuite/testcase'} : $why, @read],
            [join('', map { '<' . $xml->($_) . '>' } @rule), map { $xml->($_) } @grown],
            'junit: XML::Parser reads rules and names');
    }
};

# GitHub reads a workflow command in each line.
{
    my $text = is_quiet('github', hostile('github'));
    my @lines = split /\n/, $text;
    my (@got, @want);
    my $decoded = sub {
        my ($s, $property) = @_;
        $s =~ s/%(25|0D|0A)/chr hex $1/ge if !$property;
        $s =~ s/%(25|0D|0A|3A|2C)/chr hex $1/ge if $property;
        $s;
    };
    for (@lines) {
        # This parses as the runner does: up to the first :: after the command, then commas, then
        # the first =.
        my ($command, $properties, $message) = /^::(\w+)(?: (.*?))?::(.*)\z/ ? ($1, $2 // '', $3)
            : ('none', '', $_);
        my %property = map { /^([^=]*)=(.*)\z/s ? ($1 => $decoded->($2, 1)) : ($_ => '') }
            split /,/, $properties;
        push @got, join ' ', $command, map({ "[$_=$property{$_}]" } sort keys %property),
            $decoded->($message, 0) =~ s/: [\d.]+ m?s -> .*//r;
    }
    my $line = 0;
    push @want, map { 'error [file=' . shown($hostile_file) . '] [line=' . ++$line
        . "] [title=$rule_shown] " . shown($_) } @grown;
    push @want, 'error [file=lib/fresh.pm] [line=7] [title=new] fresh: is new',
        'error [title=' . shown($rule[2]) . '] no more: is gone';
    is_list(\@got, \@want, 'github: each finding is a line with file, line, title and message');
}

# In Markdown tables keep their cells, and code spans end.
{
    my $text = is_quiet('markdown', hostile('markdown'));
    # Reads a code span as CommonMark does; '' after it when it was all.
    my $span = sub {
        my ($code) = @_;
        my ($fence) = $code =~ /^(`+)/ or return $code;
        my ($in, $behind) = $code =~ /^$fence(?!`)(.*?)(?<!`)$fence(?!`)(.*)\z/s
            or return "not closed: $code";
        $in =~ s/^ (.*) \z/$1/s if $in =~ /[^ ]/;
        return $in . (length $behind ? "BEHIND: $behind" : '');
    };
    my @list = $text =~ /^- \*\*failed\*\* (.*)\n/mg;
    my $few = sub {
        my ($s) = @_;
        my %run = map { length($_) => 1 } $s =~ /(`+)/g;
        grep({ !$run{$_} } 1 .. 32) ? $s : $s =~ s/`/'/gr;
    };
    is_list([map { $span->($_) =~ s/: [\d.]+ m?s -> .*\)\z//r } @list],
        [map({ $few->("$rule_shown: " . shown($_)) } @grown), 'new: fresh: is new',
            shown($rule[2]) . ': no more: is gone'], 'markdown: each finding is in the list');
    my @facts = map { $span->($_) } $text =~ /^- (?!\*)[A-Z][^:`]*: (.*)\n/mg;
    is_list([grep { /^not closed|BEHIND/ } @facts], [],
        'markdown: code spans above the table are closed');
    like($facts[0], qr/^old\\x0a::error::`\\?\|\.out\z/, 'markdown: the file is named');
    my (%cells, @symbols, @gates);
    for (grep { /^\|/ } split /\n/, $text) {
        my @cells = map { s/^ //r =~ s/ \z//r } split /(?<!\\)\|/, s/^\|//r =~ s/\|\z//r, -1;
        $cells{@cells}++;
        next if $_ !~ /`/;
        push @symbols, $span->($cells[-1] =~ s/\\\|/|/gr);
        push @gates, $span->($cells[-2] =~ s/\\\|/|/gr) if length $cells[-2];
    }
    is(join(',', keys %cells), 6, 'markdown: each row has six cells');
    my %symbols = map { $_ => 1 } @symbols;
    my @missing = grep { !$symbols{$_} } map {
        my $s = shown($_);
        $few->($s) eq $s ? $s : $s =~ s/`/\\x60/gr
    } @names;
    is_list(\@missing, [], 'markdown: all names are in the table');
    is(scalar(grep { $_ eq $rule_shown } @gates), scalar @names,
        'markdown: all rules are in the table');
    is(scalar @symbols, @names + 2,
        'markdown: all rows are there but (program), which did not change');
}

subtest 'CSV is well formed' => sub {
    my $text = is_quiet('csv', hostile('csv'));
    my (@rows, @row);
    my $rest = $text;
    while ($rest =~ s/\A(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n])//) {
        my ($quoted, $plain, $end) = ($1, $2, $3);
        push @row, defined $quoted ? $quoted =~ s/""/"/gr : $plain;
        push @rows, [splice @row] if $end eq "\n";
    }
    is(substr($rest, 0, 80), '', 'csv: the text is well formed to its end');
    my $head = shift @rows;
    my %column = map { $head->[$_] => $_ } 0 .. $#$head;
    is(scalar(grep { @$_ != @$head } @rows), 0, 'csv: each row has as many cells');
    my @cells = sort { $a->[ $column{baseline} ] <=> $b->[ $column{baseline} ] }
        grep { $_->[ $column{status} ] eq 'both' && $_->[ $column{symbol} ] ne '(program)' } @rows;
    my $safe = sub {
        my ($name) = @_;
        my $s = shown($name);
        $name =~ /^(?: *[-=+@]|[\t]|\xef\xbc\x9d)|^\s*[\t\r\n]/ ? "'$s" : $s;
    };
    is_list([map { $_->[ $column{symbol} ] } @cells], [map { $safe->($_) } @names],
        'csv: no name is a formula');
    is_list([map { $_->[ $column{gate} ] } @cells], [($rule_shown) x @names],
        'csv: each row has its rule');
    is_list([map { $_->[ $column{place} ] } @cells],
        [map { shown($hostile_file) . ":$_" } 1 .. @names], 'csv: each row has its place');
};

subtest 'Findings name their side if there are three sides' => sub {
    my @files = map { spew("$dir/$_->[0]", tree([[0, '', 0, 0, 0], [1, 'A::f', 1, $_->[1], 0]])) }
        ['base', 10], ["a\n# TODO::", 11], ['b|', 12];
    my @more = ('--fail-if', '/A/ self > 0', @files);
    like(diffs(@more)->{out}, qr/^FAIL .* in \Q$dir\E\/a\\x0a# TODO::\nFAIL .* in \Q$dir\E\/b\|$/m,
        'text: findings name their side');
    like(diffs('--format', 'github', @more)->{out},
        qr/^::error title=\S+ self > 0::A::f: .* in \Q$dir\E\/a\\x0a# TODO::\n::error .*b\|\n\z/,
        'github: findings name their side');
    like(diffs('--format', 'markdown', @more)->{out}, qr/^- \*\*failed\*\* `.* in \Q$dir\E\/b\|`$/m,
        'markdown: findings name their side');
    my $parser = tap_of(diffs('--format', 'tap', @more)->{out});
    $parser->run;
    is(join(' ', $parser->failed, $parser->parse_errors, $parser->plan), '1 1..1',
        'tap: several sides are one test');
};

subtest 'Without rules a test says that there was a comparison' => sub {
    my @files = (one(1), one(2));
    my $parser = tap_of(diffs('--format', 'tap', @files)->{out});
    $parser->run;
    is(join(' ', $parser->passed, $parser->plan), '1 1..1', 'tap: without rules one test passes');
    like(diffs('--format', 'junit', @files)->{out},
        qr/tests="1" failures="0".*\n<testcase classname="dprofdiff" name="compared">/,
        'junit: without rules one case passes');
    is(diffs('--format', 'github', @files)->{out}, '', 'github: nothing is printed without rules');
    unlike(diffs('--format', $_, @files)->{out}, qr/gate|^### /im,
        "$_: without rules no gate is mentioned")
        for qw(json csv markdown text);
};

# ---- mistakes of the past ----

subtest 'Options of the comparison are those of the gate' => sub {
    my @calls = map {
        my $times = $_;
        spew("$dir/calls$times",
            tree([[0, '', 0, 5, 1], [1, 'A::f', 2 * $times, 100, 1],
                [1, 'A::g', 4 * $times, 100, 1]]));
        "calls$times"
    } 1, 2;
    is(diffs('-n', '--fail-if', 'calls > 0', @calls)->{status}, 0,
        '-n scales calls, too');
    is(diffs('--fail-if', 'calls > 0', @calls)->{status}, 3,
        'calls fail without -n');
    spew("$dir/more", tree([[0, '', 0, 5, 1], [1, 'A::f', 2, 100, 1], [1, 'A::h', 4, 100, 1]]));
    is(diffs('-b', '--fail-if', 'new, gone', 'calls1', 'more')->{status}, 0,
        '-b hides new subs and those that are gone from the gate');
    is(diffs('--fail-if', 'new', 'calls1', 'more')->{status}, 3, 'new subs fail without -b');
    my $run = diffs('--fail-if', '/\\p{IsNothing}/ self > 5%', 'calls1', 'calls2');
    is($run->{status}, 2, 'an undefined property is a usage error');
    like($run->{err}, qr/\A--fail-if: .*IsNothing/, 'an undefined property gives a message');
    unlike(diffs('--color', 'always', '--format', $_, '--fail-if', 'calls > 0', @calls)->{out},
        qr/\e|\\x1b/, "$_ has no colours") for qw(junit tap);
    like(diffs('-t', ',', '--fail-if', 'calls > 0', @calls)->{out},
        qr/^# FAIL  calls > 0: \(total\): 6 -> 12/m, '-t prints findings as comments');
    like(diffs('--format', 'html', '--fail-if', 'calls > 0', @calls)->{out},
        qr/<dt>Gate<\/dt><dd>failed,\ 3\ findings<\/dd>\n
            <dt>Failed<\/dt><dd>calls\ &gt;\ 0:\ \(total\):\ 6\ -&gt;\ 12/x,
        'HTML has findings above the table');
    spew("$dir/a|b", tree([[0, '', 0, 5, 1]]));
    like(diffs('--format', 'markdown', 'a|b', 'calls1')->{out}, qr/^- Baseline: `a\|b`$/m,
        'Markdown does not escape a pipe outside of tables');
};

subtest 'The rows of a comparison have the numbers of the tables' => sub {
    require Devel::DProf::Compare::Diff;
    my @files = map { spew("$dir/rows$_.out", <<"END") } 1, 2;
main::run;A::f 100
main::run;A::f;B::g @{[ 10 * $_ ]}
main::run;B::g @{[ 70 - 10 * $_ ]}
main::run@{[ $_ == 1 ? ';Old::x 5' : ';New::x 7' ]}
END
    my $reader = Devel::DProf::Sides->new(unit => 'calls');
    my $diff = Devel::DProf::Compare::Diff->new($reader, { time_floor => 0 }, metric_name => 'cpu',
        rules => [Devel::DProf::Compare::Rules::rules_of('self > 0, new, gone')]);
    ok($reader->read(sub { 'fine' }, map { { name => $_, runs => [[$_]] } } @files)
        && $diff->settle && $diff->settle_rules, 'the sides are read and settled');
    my $rows = $diff->compared(0);
    my @args = ('--unit', 'calls', '--format', 'json', @files);
    my $flat = json_of(diffs('--fail-if', 'self > 0, new, gone', @args));
    my $tree = json_of(diffs('--tree', '--percent-limit', 0, @args));
    is_deeply([map { [@$_{qw(name status baseline value change)}] } @{ $rows->{rows} }],
        [map { [@$_{qw(symbol status baseline value change)}] } @{ $flat->{rows} }],
            'the rows have the values of the flat table');
    is_deeply([map { [@$_{qw(name level baseline value change)}] } @{ $rows->{lines} }],
        [map { [@$_{qw(symbol level baseline value delta)}] } @{ $tree->{rows} }],
        'the rows of the tree have values and delta');
    is_deeply([map { [@$_{qw(rule name side baseline value)}] } @{ $rows->{findings} }],
        [map { [@$_{qw(rule name side baseline value)}] } @{ $flat->{findings} }],
            'the rows have the findings');
    is_deeply([@{ $rows->{total} }{qw(baseline value)}, $rows->{failed}],
        [@$flat{qw(baseline_total new_total)}, scalar @{ $flat->{findings} }],
            'the rows have the totals');
    my $checked = $diff->check;
    is_deeply([@$checked{qw(code failed rows)}], [0, $rows->{failed}, scalar @{ $rows->{rows} }],
        'the gate gives the same result without rows');
    my $same = diffs('--unit', 'calls', '--only', 'B::g', '--fail-if', 'calls > 0',
        @files[0, 0]);
    is($same->{status}, 0, 'a sub that --only keeps, unchanged, gives status 0');
    unlike($same->{err}, qr/nothing is left/,
        'a sub that --only keeps, unchanged, gives no message');
    like($checked->{findings}, qr/^FAIL  new: New::x: is new$/m,
        'the result has the findings as text');
};

done_testing;
