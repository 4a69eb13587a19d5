# dproffold agrees with a naive model: random stacks, difficult names, units, sides; its messages
# about odd lines and options.
use strict;
use warnings;
use File::Glob ':bsd_glob';
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew run_tool in_process root);
use MadeUp;
use NaiveProfile;
use NaiveStacks;

my $dir = scratch();
my $n = 0;
my $runs = $ENV{DPROF_RUNS} || TestEnvironment::rounds(2, 15);
srand($ENV{DPROF_SEED} // 7);

sub file { my ($text) = @_; return spew($dir . '/' . ++$n . '.in', $text) }
sub fold { return in_process('dproffold', @_) }

# Checks for the output, and for no messages but that of filters which show nothing.
sub prints {
    my ($want, $what, @args) = @_;
    my $run = fold(@args);
    my $begin = $run->{status} == 1 && $want !~ /^(?!\(program\) )/m
        && $run->{err} =~ /\A(?:--\w+(?: and )?)+: no sub matches; dprofreport lists the subs\n\z/
        ? "1 $run->{err}" : '0 ';
    return is("$run->{status} $run->{err}$run->{out}" eq "$begin$want" ? 'same'
        : "$run->{status} $run->{err}" . first_difference($run->{out}, $want), 'same', $what);
}

sub first_difference {
    my ($got, $want) = @_;
    my @got = split /^/, $got;
    my @want = split /^/, $want;
    for my $i (0 .. (@got > @want ? @got : @want) - 1) {
        my ($x, $y) = map { substr $_ // "(nothing)\n", 0, 300 } $got[$i], $want[$i];
        return 'line ' . ($i + 1) . ":\ngot    $x\nwanted $y"
            if ($got[$i] // '') ne ($want[$i] // '');
    }
    return 'the same';
}

# Returns the lines of an output, by key, in thousandths or in the unit that `per` gives.
sub read_back { my ($text, $columns) = @_; return (stacks_of($text, $columns))[0] }

# ---- stacks at random ----

for my $round (1 .. $runs) {
    my $text = random_folded(fractions => $round % 3 == 0,
        $round % 4 == 1 ? (names => [hurtful()]) : ());
    my ($stacks) = stacks_of($text);
    my $file = file($text);
    my $what = "round $round";
    my $good = 1;
    my $nothing = !grep { $_->[0] } values %$stacks;
    next if $nothing;
    $good &&= prints(folded($stacks), "$what: every stack is printed once, in order", $file);
    my $again = file(fold($file)->{out});
    $good &&= is(slurp($again), fold($again)->{out},
        "$what: the output is read back to the same output");
    my $twice = changed($stacks, sub { @_ });
    $_->[0] *= 2 for values %$twice;
    $good &&= prints(folded($twice), "$what: two files are added up", $file, $file);
    $good &&= prints(folded(changed($stacks, sub { reverse @_ })),
        "$what: --reverse reverses the stacks",
        '--reverse', $file);
    my $merged = sub { my @f = @_; @f[grep { !$_ || $f[$_] ne $f[ $_ - 1 ] } 0 .. $#f] };
    $good &&= prints(folded(changed($stacks, $merged)), "$what: --fold-recursion merges recursion",
        '--fold-recursion', $file);
    $good &&= prints(folded(changed($stacks, sub { reverse $merged->(@_) })),
        "$what: --fold-recursion --reverse merges recursion and reverses the stacks",
            '--fold-recursion', '-r', $file);
    my $re = ('^a', 'main', ':', 'b$', '[0-9]')[$round % 5];
    $good &&= prints(folded(changed($stacks, sub { grep { /$re/ } @_ })),
        "$what: --only $re keeps the frames that match",
        '--only', $re, $file);
    $good &&= prints(folded(changed($stacks, sub { grep { !/$re/ } @_ })),
        "$what: --skip $re removes the frames that match",
        '--skip', $re, $file);
    $good &&= prints(folded(changed($stacks, sub { $merged->(grep { /b/ && !/$re/ } @_) })),
        "$what: --only, --skip and --fold-recursion work together",
            '--only', 'b', '--skip', $re, '--fold-recursion', $file);
    if (!$good) {
        diag("input of round $round: $file");
        spew('/tmp/dproffold-failed.in', $text) if $ENV{DPROF_KEEP};
        last;
    }
}

# ---- two sides ----

# Merges two sides into [baseline, other] by stack.
sub two {
    my ($old, $new) = @_;
    return { map { $_ => [($old->{$_} // [0])->[0], ($new->{$_} // [0])->[0]] } keys %$old,
        keys %$new };
}

# This is difffolded.pl as FlameGraph has it: a hash of lines.
sub difffolded {
    my ($old, $new, $normalize) = @_;
    my (%counts, @total);
    for my $side (0, 1) {
        for (split /\n/, ($old, $new)[$side]) {
            my ($stack, $count) = /^(.*)\s+?(\d+(?:\.\d*)?)$/ or next;
            $counts{$stack}[$side] += $count;
            $total[$side] += $count;
        }
    }
    return map {
        my ($x, $y) = map { $_ // 0 } @{ $counts{$_} }[0, 1];
        $x = int($x * $total[1] / $total[0]) if $normalize && $total[0] != $total[1];
        [$_, $x, $y];
    } keys %counts;
}

for my $round (1 .. $runs) {
    my @texts = map { random_folded(fractions => $round % 3 == 0,
        $round % 4 == 1 ? (names => [grep { !/\(program\)/ } hurtful()]) : ()) } 1 .. 4;
    my @stacks = map { (stacks_of($_))[0] } @texts;
    my @files = map { file($_) } @texts;
    my ($old, $new) = @stacks;
    my $both = two($old, $new);
    my $good = prints(folded($both),
        "sides $round: --diff prints the values of both sides", '--diff', @files[0, 1]);
    my $pairs = file(fold('--diff', @files[0, 1])->{out});
    $good &&= prints(slurp($pairs),
        "sides $round: the output is the same when it is read again", $pairs);
    $good &&= prints(folded(changed($both, sub { reverse @_ })),
        "sides $round: --reverse reverses stacks with two counts", '-r', $pairs);
    my ($x, $y) = (0, 0);
    ($x, $y) = ($x + $_->[0], $y + $_->[1]) for values %$both;
    if ($x && $y) {
        my $lines = read_back(fold('--diff', '-n', @files[0, 1])->{out}, 2);
        my @wrong = grep { abs($lines->{$_}[0] - $both->{$_}[0] * $y / $x) > 1.001
            || $lines->{$_}[1] != $both->{$_}[1] } grep { $both->{$_}[0] || $both->{$_}[1] }
            keys %$both;
        $good &&= is("@wrong", '', "sides $round: -n scales each line");
        # The real values are compared to six decimals.
        my ($u, $v) = (0, 0);
        for (split /\n/, fold('-n', $pairs)->{out}) {
            my ($stack, $b, $a) = /^(.*) (\S+) (\S+)\z/s or next;
            ($u, $v) = ($u + $b, $v + $a);
            $good &&= fail("$stack is lost by -n")
                if !$b && $both->{ (keys %{ (stacks_of("$stack 1"))[0] })[0] }[0];
        }
        $good &&= ok(abs($u - $v) < 1e-6 * (1 + keys %$both),
            "sides $round: -n of lines with two counts makes totals equal") || diag("$u, $v");
        if ($round % 4 != 1) {
            for my $normalize (0, 1) {
                my @got = map { [/^(.*) (\S+) (\S+)\z/s] } split /\n/,
                    fold('--diff', $normalize ? '-n' : (), @files[0, 1])->{out};
                my %got = map { $_->[0] => [@$_[1, 2]] } @got;
                my @rows = grep { $_->[1] || $_->[2] } difffolded(@texts[0, 1], 0);
                $_->[0] =~ s/\A\(program\);// for @rows;
                $good &&= is(scalar(@got), scalar(@rows),
                    "sides $round: as many rows as difffolded.pl prints");
                my %theirs = map { $_->[0] => $_ } difffolded(@texts[0, 1], $normalize);
                my @other = grep {
                    my ($t, $o) = ($theirs{$_}, $got{$_});
                    !$t || abs(($normalize ? int($o->[0] + 1e-6) : $o->[0]) - $t->[1]) > 1e-6
                        || abs($o->[1] - $t->[2]) > 1e-6;
                } keys %got;
                $good &&= is("@other", '', 'sides ' . $round . ': the rows of difffolded.pl'
                    . ($normalize ? ', but in real numbers' : ''));
            }
        }
    }
    # Several runs a side give means.
    my %mean;
    for my $k (0 .. 3) {
        for (keys %{ $stacks[$k] }) {
            $mean{$_} //= [0, 0];
            $mean{$_}[$k / 3] += $stacks[$k]{$_}[0] / ($k < 3 ? 3 : 1);
        }
    }
    my $lines = read_back(fold('--diff', join(',', @files[0 .. 2]), $files[3])->{out}, 2);
    my @wrong = grep { abs(($lines->{$_} // [0, 0])->[0] - $mean{$_}[0]) > 1.001
        || abs(($lines->{$_} // [0, 0])->[1] - $mean{$_}[1]) > 0 } keys %mean;
    $good &&= is("@wrong", '', "sides $round: three runs give their means");
    last if !$good;
}
{
    my ($old, $new) =
        (file("a;f 0\na;0x7f12ab 2\nb 0xff 3\na;7f00aa11bb22 5\nm0x1Fz 1\nfeedface 1\n"),
            file("a;0xdead 7\nb 0x0 3\na;7f99aa11bb33 6\ndeadbeef1 1\n"));
    for my $flag (qw(-s -x --strip-hex)) {
        prints("a;0x... 2 7\na;7f00aa11bb22 5 0\na;7f99aa11bb33 0 6\nb 0x... 3 3\ndeadbeef1 0 1\n"
            . "feedface 1 0\nm0x...z 1 0\n",
                "$flag strips the addresses that difffolded.pl strips", $flag,
            '--diff', $old, $new);
    }
    prints("0x... 0 1\na;0x... 7 13\nb 0x... 3 3\nfeedface 1 0\nm0x...z 1 0\n",
        '--strip-words strips addresses without 0x', '--strip-words', '--diff', $old, $new);
    for my $none (file(''), file("# a 5\n\n")) {
        prints("a;b 3 0\nc 4 0\n", 'all stacks are gone if the new side has none', '--diff',
            file("a;b 3\nc 4\n"), $none);
        prints("a;b 0 3\nc 0 4\n",
            'all stacks are new if the old side has none', '--diff', $none, file("a;b 3\nc 4\n"));
    }
    prints("0x... 1\n", '-s strips addresses from one side', '-s', file("0x1 1\n"));
    prints("word_12345678 1\nx12345678 1\n",
        '--strip-words keeps words that are no addresses', '--strip-words',
        file("word_12345678 1\nx12345678 1\n"));
    prints("a 1 0\n\x{c3}\x{a9} 0 2\n", 'sides without common stacks are printed', '--diff',
        file("a 1\n"), file("\x{c3}\x{a9} 2\n"));
    prints("A::x;A::y 3 4\n",
        '--map renames packages', '--map', 'B::=A::', '--diff', file("B::x;B::y 3\n"),
        file("A::x;A::y 4\n"));
    prints("main;g 6 6\n",
        '-n makes sides of equal shape equal', '-n', '--diff', file("main;g 2\n"),
        file("main;g 6\n"));
    prints("x 0.000001 1000000\ny 999999.999999 0\n", '-n keeps small values', '-n', '--diff',
        file("x 1\ny 999999999999\n"), file("x 1000000\n"));
    my $run = fold('-n', '--diff', file("a 0\nb 1\n"), file("a 0\nb 0\nc 0\n"));
    is($run->{out}, "b 1 0\n", '-n of a side of zeros divides by no zero');
    # Reads a side from standard input; two names are one too many.
    is(run_tool('dproffold', ['--diff', '-', $new], stdin => $old)->{out},
        fold('--diff', $old, $new)->{out}, '--diff - FILE reads a side from standard input');
}

# ---- profiles with times, calls and ops ----

# Makes a tree file of random contexts; returns [user, system, real, calls, ops] by stack.
sub random_tree {
    my ($hz) = @_;
    my %of;
    my @lines = '= 0 0 1 7 1 9 0 0 3';
    $of{''} = [7, 1, 9, 0, 3];
    my @path;
    for (1 .. 5 + rand 40) {
        splice @path, int rand(@path + 1) if @path > 6 || rand() < 0.6;
        push @path, 1 + int rand 9;
        my $key = key(map { "P::s$_" } @path);
        if ($of{$key}) {
            pop @path;
            next;
        }
        my @v = map { rand() < 0.1 ? 0 : int rand 10**(1 + rand 9) } 1 .. 5;
        $v[2] += $v[0] + $v[1];
        $of{$key} = \@v;
        push @lines, sprintf '= %d %x %d %d %d %d 0 0 %d', scalar @path, $path[-1], @v[3,
            0, 1, 2, 4];
    }
    my @sum = map { my $c = $_; my $s = 0; $s += $_->[$c] for values %of; $s } 0 .. 2;
    my $text = profile_text(format => 'tree', hz => $hz, counters => 'ops:ops', times => \@sum,
        complete => 1, subs => [map { "P s$_ lib/P.pm:$_" } 1 .. 9], lines => \@lines);
    return ($text, \%of);
}

for my $round (1 .. $runs) {
    my $hz = (10_000_000, 100, 1000, 1_000_000, 1_000_000_000, 60)[$round % 6];
    my ($text, $of) = random_tree($hz);
    my $file = file($text);
    my $good = 1;
    for (['cpu', sub { $_[0][0] + $_[0][1] }], ['user', sub { $_[0][0] }],
        ['system', sub { $_[0][1] }], ['real', sub { $_[0][2] }]) {
        my ($metric, $value) = @$_;
        my $total = 0;
        $total += $value->($_) for values %$of;
        my $run = fold('-m', $metric, $file);
        my %got = map { /^(.*) (\d+)\z/ ? ($1 eq '(program)' ? '' : $1, $2) : ("not whole: $_", 1) }
            split /\n/, $run->{out};
        my @order = map { /^(.*) / && $1 eq '(program)' ? '' : $1 } split /\n/, $run->{out};
        is_deeply(\@order, [sorted(@order)], "hz $hz, $metric: stacks are sorted") or $good = 0;
        my $sum = 0;
        $sum += $_ for values %got;
        $good &&= cmp_ok(abs($sum - $total * 1e6 / $hz), '<=', 0.5,
            "hz $hz, $metric: whole microseconds add up to the total");
        my @wrong = grep { abs(($got{$_} // 0) - ($of->{$_} ? $value->($of->{$_}) : -9) * 1e6 / $hz)
            > 1 || !($got{$_} // 1) } keys %$of, keys %got;
        $good &&= is("@wrong", '', "hz $hz, $metric: each stack is right to less than one");
    }
    next if $hz == 60;
    for (['s', 1], ['ms', 1e3], ['ns', 1e9]) {
        my ($unit, $per) = @$_;
        my $run = fold('--unit', $unit, '-m', 'real', $file);
        my %want = map { $of->{$_}[2] ? ((length ? $_ : '(program)') => $of->{$_}[2])
            : () } keys %$of;
        my %got = map { /^(.*) (\S+)\z/ ? ($1 => sprintf '%.0f', $2 * $hz / $per) : ($_ => 'bad') }
            split /\n/, $run->{out};
        $good &&= is_deeply(\%got, \%want, "hz $hz: $unit are exact") || diag $run->{out};
        $good &&= is(scalar(grep { /\.\d*0$|\.$| 0\d/ } split /\n/, $run->{out}), 0,
            "hz $hz: $unit: $unit have no superfluous zeros");
        $good &&= unlike($run->{out}, qr/ \d*\./, "hz $hz: ns are whole numbers") if $unit eq 'ns';
    }
    for (['calls', 3], ['ops', 4]) {
        my ($metric, $column) = @$_;
        my $want = folded({ map { $_ => [$of->{$_}[$column] * 1000] } keys %$of });
        $good &&= prints($want,
            "hz $hz: --unit $metric prints that unit", '--unit', $metric, $file);
        $good &&= prints($want, "hz $hz: -m $metric prints that metric", '-m', $metric, $file);
    }
    # The two sides have different clocks.
    my ($other_text, $other) = random_tree(100);
    my $run = fold('--diff', '-m', 'real', '--unit', 'ns', $file, file($other_text));
    my %got = map { /^(.*) (\d+) (\d+)\z/ ? ($1 eq '(program)' ? '' : $1, "$2 $3") : ($_ => 'bad') }
        split /\n/, $run->{out};
    my %want = map {
        my @v = map { sprintf '%.0f', $_ } ($of->{$_}[2] // 0) * 1e9 / $hz,
            ($other->{$_}[2] // 0) * 1e7;
        $v[0] || $v[1] ? ($_ => "@v") : ()
    } keys %$of, keys %$other;
    $good &&= is_deeply(\%got, \%want, "hz $hz and 100: the sides have the same unit");
    if (!$good) {
        diag("round $round: $file");
        last;
    }
}

subtest 'The recorded profiles agree with a naive reader' => sub {
    for my $path (sort glob root() . '/t/data/*.out') {
        my $name = $path =~ s{.*/}{}r;
        my $naive = NaiveProfile->new(slurp($path));
        for my $metric (qw(cpu real)) {
            my $per = 1e9 / $naive->{hz};
            my %want;
            for my $stack (keys %{ $naive->{tree} }) {
                my $t = $naive->{tree}{$stack}{self} or next;
                my $v = $metric eq 'real' ? $t->[2] : $t->[0] + $t->[1];
                $want{ line_of(key(split /;/, $stack), 1) } = sprintf '%.0f', $v * $per if $v;
            }
            my $run = fold('-f', '--unit', 'ns', '-m', $metric, '--no-separate-anon', $path);
            my %got = map { /^(.*) (\d+)\z/ ? ($1 => $2) : ($_ => 'bad') } split /\n/, $run->{out};
            is_deeply(\%got, \%want,
                "$name: $metric of each stack is that of the model") or diag $run->{out};
        }
    }
    {
        my $path = root() . '/t/data/ours.out';
        like(fold($path)->{out}, qr/^main::run;main::__ANON__\[lib\/a\.pl:11\] 2000$/m,
            'anonymous subs have their places');
        like(fold('--no-separate-anon', $path)->{out}, qr/^main::run;main::__ANON__ 20/m,
            '--no-separate-anon gives them one name');
        like(fold('-A', $path)->{out}, qr/;\*::AUTOLOAD /, '-A charges AUTOLOAD');
        unlike(fold('--skip', '\(program\)', $path)->{out}, qr/program/,
            '--skip (program) drops its line');
        my $whole = join '', map { s/ \d+$//r } grep { !/^\(program\)/ } split /^/,
            fold($path)->{out};
        is(join('', map { s/ \d+$//r } split /^/, fold('--skip', '\(program\)', $path)->{out}),
            $whole,
            '--skip (program) drops no other line');
        is(fold('--only', 'nothing like this', $path)->{out}, "(program) 2214\n",
            '--only that matches nothing leaves all to (program)');
        is(run_tool('dproffold', [], stdin => $path)->{out}, fold($path)->{out},
            'standard input is read without a name');
        is(run_tool('dproffold', ['-'], stdin => $path)->{out}, fold($path)->{out},
            '- reads standard input');
        my $home = scratch();
        spew("$home/tmon.out", slurp($path));
        is(run_tool('dproffold', [], dir => $home)->{out}, fold($path)->{out},
            'tmon.out is the default');
        is(run_tool('dproffold', ['-o', 'x.folded'], dir => $home)->{out}, '',
            '-o prints nothing on standard output');
        is(slurp("$home/x.folded"), fold($path)->{out}, '-o writes the file');
        spew("$home/tmon.out.old", slurp(root() . '/t/data/shop-old.out'));
        is(run_tool('dproffold', ['--diff', root() . '/t/data/shop-new.out'], dir => $home)->{out},
            fold('--diff', map { root() . "/t/data/shop-$_.out" } qw(old new))->{out},
            '--diff NAME compares with tmon.out.old');
        is(run_tool('dproffold', ['-m', 'calls'], dir => $home,
            env => { DPROFFOLD_OPTS => '--skip program -m ops' }, stdin => $path)->{out},
            fold('-m', 'calls', '--skip', 'program', $path)->{out},
                'the command line overrides DPROFFOLD_OPTS');
        my $full = -e '/dev/full' ? run_tool('dproffold', ['-o', '/dev/full', $path])
            : { err => 'could not be written', status => 1 };
        like("$full->{status} $full->{err}", qr/^1 .*could not be written/,
            'a full disk gives status 1');
    }
    like(fold('--diff', map { root() . "/t/data/shop-$_.out" } qw(old new))->{out},
        qr/\A\(program\) 629 674\n.*^Shop::list;Shop::__ANON__\[lib\/Shop\.pm:5\] 417 427\n/ms,
        'anonymous subs that moved pair up');
};

# ---- difficult names, one by one ----

for my $name (hurtful()) {
    my @ways = ([$name], ['first', $name], [$name, 'last'], [$name, $name, $name]);
    my %stacks = map { key(@$_) => [1000 * @$_] } @ways;
    my $text = join '', map { "$_\n" } map { line_of($_, 1) . ' ' . $stacks{$_}[0] / 1000 }
        keys %stacks;
    my $file = file($text);
    my $what = shown(length $name > 50 ? 'a long name' : $name);
    next if !prints(folded(\%stacks), "$what: the file is read and printed", $file);
    my $again = file(fold($file)->{out});
    prints(slurp($again), "$what: the output is the same when it is read again", $again);
    prints(folded(changed(two(\%stacks, { key('x') => [5000] }), sub { reverse @_ })),
        "$what: --reverse reverses the stacks of two sides", '-r', '--diff', $file, file("x 5\n"));
}

# ---- deep recursion ----

subtest 'Deep recursion is cut' => sub {
    my $deep = file(join(';', ('f') x 2000) . " 5\n" . join(';', ('f') x 2000, 'g')
        . " 7\nf;f 1\n");
    my $run = fold($deep);
    is($run->{out}, "f;f 1\n" . join(';', ('f') x 1000) . " 5\n" . join(';', ('f') x 1000, 'g')
        . " 7\n", '2,000 frames of one name become 1,000');
    is($run->{err}, "1000 calls in a recursion of more than 1,000 frames are counted with the last "
        . "of these\n", 'a message says that the recursion was cut');
    is($run->{status}, 0, 'a recursion that was cut gives status 0');
    prints("f 6\nf;g 7\n",
        '--fold-recursion makes one frame of a deep recursion', '--fold-recursion', $deep);
    my $turns = join ';', ('f', 'g') x 3000;
    prints("$turns 1\n", 'indirect recursion is not shortened', file("$turns 1\n"));
};

# ---- other profilers ----

prints(<<'END', "the output of perf's tools is read", file(<<'IN'));
perl;[unknown];Perl_sv_setsv_flags_[k] 3
perl;main;Perl_pp_entersub 12
perl;main;Perl_pp_entersub;_int_malloc+0x1f 2
swapper;secondary_startup_64_[k];cpu_idle 40
END
swapper;secondary_startup_64_[k];cpu_idle 40
perl;main;Perl_pp_entersub 12
perl;[unknown];Perl_sv_setsv_flags_[k] 3
perl;main;Perl_pp_entersub;_int_malloc+0x1f 2
IN
prints(<<'END', 'the output of async-profiler is read', file(<<"IN" =~ s/\n/\r\n/gr));
java/lang/Thread.run;Foo$$Lambda$14/0x0000000800066840.call;java/util/HashMap.<init> 17
java/lang/Thread.run;com/x/Caf%3B.m 4
END
java/lang/Thread.run;Foo\$\$Lambda\$14/0x0000000800066840.call;java/util/HashMap.<init> 17

java/lang/Thread.run;com/x/Caf%3b.m 4
IN
prints(<<"END", 'the output of py-spy is read', file(<<"IN"));
<module> (app.py:1);main (app.py:20);caf\xc3\xa9 (unicod\xc3\xa9.py:3) 31
<module> (app.py:1);thread (12);run (threading.py:892) 2
END
<module> (app.py:1);main (app.py:20);caf\xc3\xa9 (unicod\xc3\xa9.py:3) 31
<module> (app.py:1);thread (12);run (threading.py:892) 2
IN
prints(
    <<'END', 'the output of nytprofcalls is read, with interior lines and fractions', file(<<'IN'));
main::BEGIN@5 10
main::BEGIN@5;strict::import 3.5
main::BEGIN@53 2
main::RUNTIME 120
main::RUNTIME;main::run 40.25
main::RUNTIME;main::run;main::__ANON__[x.pl:4] 7
END
main::RUNTIME 120
# a comment
main::RUNTIME;main::run 40.25
main::RUNTIME;main::run;main::__ANON__[x.pl:4] 7

main::BEGIN@53 2
#
main::BEGIN@5;strict::import 3.5
main::BEGIN@5 10
IN
prints("a 2 5\nb 0.5 1.25\n", 'lines with two counts, CRLF, fractions, comments are read',
    file("# old new\r\n\r\nb .5 1\r\na 2 5\r\nb 0.5 0.25\r\n" =~ s/ \.5 1\r/ 0 1\r/r));
is(fold('--unit', 'samples', file("a 5\n"))->{out}, "a 5\n", '--unit=samples changes nothing');
is(fold('--unit', 'ms', file("a 5.5\n"))->{out}, "a 5.5\n", '--unit=ms alone changes nothing');
is(fold('-m', 'cpu', '--unit', 'ms', file("a 5.5\n"), root() . '/t/data/shop-old.out')->{err}, '',
    '--unit=ms beside a profile is accepted');

# ---- lines that cannot be read ----

{
    my $file = file("a;b 5\nrubbish\na -1\n;; 7\na;b nan\n 9\nc 1\na 1e3\n");
    my $run = fold($file);
    is($run->{out}, "(program) 7\na;b 5\nc 1\n", 'the lines beside bad ones are printed');
    is($run->{status}, 1, 'bad lines give status 1');
    my @said = split /\n/, $run->{err};
    is_deeply([map { /^\Q$file\E: .*\(line (\d+), byte \d+\)\z/ ? $1 : $_ } @said], [2, 3, 5, 6, 8],
        'each bad line is named') or diag $run->{err};
    $run = fold('--diff', $file, file("a;b 6\nmore rubbish\n"));
    is($run->{out}, "(program) 7 0\na;b 5 6\nc 1 0\n",
        'the lines of two sides beside bad ones are printed');
    is($run->{status}, 1, 'bad lines of two sides give status 1');
    like($run->{err}, qr/more rubbish \(line 2, /, 'the bad lines of both sides are named');
    prints("a%201 2\nb 3\nc%201 2\nd x 2\n", 'names may end in a number when not all lines do',
        file("a 1 2\nb 3\nc 1 2\nd x 2\n"));
    $run = fold(file("a 1\n" x 30 . "bad\n" x 30));
    like($run->{err}, qr/: \.\.\. and 20 more lines that cannot be read\n\z/,
        'a message counts the bad lines that it does not name');
    is($run->{out}, "a 30\n", 'the good lines among many bad ones are printed');
    $run = fold(file("a 1\n" . "bad\n" x 30));
    is("$run->{status} $run->{out}$run->{err}" =~ s/: .*//r, "1 Not a perl profile\n",
        'a file of mostly bad lines gives one line');
}
for (['', qr/^Not a perl profile: .* \(it is empty\); dprof run /],
    ["\n\n# x\n", qr/^Not a perl profile/],
    ["this is text\n", qr/^Not a perl profile/]) {
    my ($text, $said) = @$_;
    my $run = fold(file($text));
    is($run->{status} . $run->{out}, 1, 'a file that is no profile gives status 1 and no output');
    like($run->{err}, $said, 'a file that is no profile gives a message');
}
{
    my $run = fold("$dir/missing");
    is("$run->{status} $run->{out}$run->{err}",
        "1 Unable to open $dir/missing: No such file or directory; "
            . "dprof run -- perl PROGRAM records one\n",
            'a missing file gives a message');
    $run = fold(file("a 0\n"));
    is("$run->{status} $run->{out}$run->{err}", "0 nothing is left: no stack has a self value\n",
        'a file of zeros gives a message');
    $run = fold(file("a 1 2\n"), file("b 3\n"));
    is("$run->{status} $run->{err}", "1 some of the files have two counts on each line, and others "
        . "have one\n", 'files with one count and with two do not mix');
    $run = fold('--diff', file("b 3\n"), root() . '/t/data/shop-old.out');
    like("$run->{status} $run->{err}", qr/^1 the sides have different units/,
        'sides of different units are refused');
    $run = fold('-m', 'calls', file("b 3\n"));
    like("$run->{status} $run->{err}", qr/^1 calls: no side has it\n/,
        'a metric that no side has is an error');
    $run = fold('-m', 'bogus', root() . '/t/data/shop-old.out');
    like("$run->{status} $run->{err}", qr/^1 there is no metric bogus\n.*has cpu, .*ops/,
        'an unknown metric is an error');
}
my $side = file("a 1\n");
for ([['--bogus'], qr/Unknown option: bogus/], [['--unit', 'ms', '-m', 'ops', $side],
    qr/ops is not a time/], [['--unit', 'pages', '-m', 'cpu', $side], qr/goes with cpu/],
    [['-n', $side], qr/two sides/], [['--diff', $side, $side, $side], qr/two sides/],
    [['--only', '(', $side], qr/not a regular expression/],
    [['--skip', '[', $side], qr/not a regular expression/],
    [['--map', 'x', '--diff', $side, $side], qr/not OLD=NEW/],
    [['--time', 'x', $side], qr/--time/]) {
    my ($args, $said) = @$_;
    my $run = fold(@$args);
    is("$run->{status}$run->{out}", 2, "dproffold @$args gives status 2" =~ s/\Q$dir\E//gr);
    like($run->{err}, qr/$said.*\nTry 'dproffold -h' for help\.\n\z/,
        "dproffold @$args gives the reason" =~ s/\Q$dir\E//gr);
}
like(fold('-h')->{out}, qr/^dproffold .*--fold-recursion/s, '-h prints the usage');
like(fold('-V')->{out}, qr/^dproffold version: 2\d{7}\.\d+\n\z/, '-V prints the version');

# ---- files of different ticks ----

# Makes a tree of one sub by hand.
sub ticks {
    my ($hz, $ticks) = @_;
    return file(profile_text(format => 'tree', hz => $hz, times => [$ticks, 0, $ticks],
        complete => 1, subs => ['A f lib/A.pm:1'],
        lines => ['= 0 0 1 0 0 0 0 0', "= 1 1 3 $ticks 0 $ticks 0 0"]));
}
{
    my ($coarse, $fine) = (ticks(2, '2305843009213693953'), ticks(2, '5'));
    my $run = fold('--diff', '--unit', 's', $fine, ticks(1, '1152921504606846977'));
    is("$run->{status} $run->{out}", "0 A::f 2.5 1152921504606846977\n",
        'ticks of two rates lose no digit');
    my $large = ticks(1000, '4611686018427387904' - 1);
    my $small = ticks(1000000000000, 5);
    for (['dproffold', '--diff', $small, $large], ['dproffold', '--diff', $large, $small],
        ['dprofdiff', $small, $large],
        ['dprofreport', '--sort', 'pid,sub', $small, $large],
        ['dprofflame', '--diff', '--format', 'svg', '-o', "$dir/large.svg", $large, $small]) {
        my $run = in_process(@$_);
        isnt($run->{status}, 0,
            "dproffold @$_[0, 1] fails if times are too large for the other file's ticks");
        my $why = 'the times add up to more than fits, in the ticks of the other files'
            . ' ($hz=1000000000000, not $hz=1000)';
        like($run->{err}, qr/^(?:\w+: )?\Q$large: $why\E$/m,
            'a message names the file whose times are too large');
        is($run->{out}, '', 'times that are too large give no output');
    }
    $run = in_process('dprofreport', '--sort', 'pid,sub', $coarse, $coarse);
    like($run->{err}, qr/^\Q$coarse\E: the times add up to more than fits$/m,
        'times whose sum is too large are an error');
}

# ---- deep stacks ----

{
    my $levels = 20000;
    my $middle = 'middle ones, which would be too many to write';
    my @contexts = map { '= ' . $_ . ($_ % 2 ? ' 1' : ' 2') . ' 1 3 0 3 0 0' } 1 .. $levels;
    my $deep = file(profile_text(format => 'tree', hz => 1_000_000, times => [$levels, 0, $levels],
        complete => 1, subs => ['A a x:1', 'A b x:2'], lines => ['= 0 0 1 0 0 0 0 0', @contexts]));
    for my $reverse (0, 1) {
        my $run = fold('-o', "$dir/deep.folded", $reverse ? '--reverse' : (), $deep);
        my ($told, $most) = $run->{err}
            =~ /^(\d+) stacks of more than (\d+) frames lack their $middle$/;
        is($run->{status}, 0, 'stacks of many depths give status 0') or diag($run->{err});
        my ($lines, $sum, $shortened, $wrong) = (0, 0, 0, 0);
        open my $in, '<', "$dir/deep.folded" or die $!;
        while (my $line = <$in>) {
            my ($stack, $value) = $line =~ /^(\S.*) (\d+)$/;
            my ($left) = $stack =~ /;\((\d+) frames left out\);/;
            my $frames = 1 + $stack =~ tr/;//;
            $lines++;
            $sum += $value;
            $shortened += defined $left;
            $wrong += $frames > $most || (defined $left && $frames != $most);
            my $depth = $frames + (defined $left ? $left - 1 : 0);
            $wrong += $stack !~ ($reverse ? qr/;?A::a\z/ : qr/\AA::a/) || $depth > $levels;
            $wrong += ($reverse ? $stack =~ /^A::b/ : $stack =~ /A::b\z/) ? $depth % 2
                : !($depth % 2);
        }
        is("$lines $sum", "$levels " . 3 * $levels, 'each stack is there with its value');
        is("$shortened $wrong", "$told 0", 'deep stacks keep their two ends');
        cmp_ok(-s "$dir/deep.folded", '<', 100_000_000, 'the output is bounded');
    }
    unlink "$dir/deep.folded";
}

done_testing;
