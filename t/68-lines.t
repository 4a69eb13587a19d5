# lines=time and lines=count: what statements cost, and what a program can see of that. Each
# statement is counted at its place, the times of statements add up to those of the contexts, to the
# tick, and the program notices nothing.
#
# DPROF_SEED and DPROF_PROGRAMS: of the random programs, where to begin, and how many.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Config;
use File::Glob ':bsd_glob';
use Test::More;
use DProfTest;
use LineReader;
use LineProgram;

my %tree = (PERL_DPROF_MODE => 'tree');
my %timed = (%tree, PERL_DPROF_LINES => 'time');
my %counted = (%tree, PERL_DPROF_LINES => 'count');
my %repeats = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);

# Where lines cannot be recorded, one clear error says so.
{
    my $run = profiled(['-e', 'print "ran\n"'], env => { %timed });
    my $needs = qr{lines needs a perl of 5\.32 or newer\b.*};
    if ($run->{raw} && $run->{err} =~ /\ADProf: ($needs)\n/) {
        my $reason = $1;
        isnt($run->{out}, "ran\n", 'perl without lines stops before the program starts');
      SKIP: { skip $reason, 1 }
        done_testing;
        exit;
    }
    is("$run->{err}$run->{out}", "ran\n", 'a program with lines runs without a message');
}

sub read_lines {
    my ($run) = @_;
    return LineReader::read_file($run->{profile});
}

# Returns the lines that have other counts or counters in one profile than in another. The name of
# what a hook in @INC loads has an address.
sub other_lines {
    my @lines = map {
        my $got = $_;
        +{ map { (s/\b0x[0-9a-f]+/0x/r =>
            "$got->{count}{$_} times, counters @{ $got->{counters}{$_} // [] }") }
            keys %{ $got->{count} } }
    } @_;
    my %all = map { %$_ } @lines;
    return map { my $at = $_; "$at: " . join ' and ', map { $_->{$at} // 'not there' } @lines }
        grep { ($lines[0]{$_} // '') ne ($lines[1]{$_} // '') } sort keys %all;
}

# Runs a program plain, and with lines by the counting clock and by the default one, which has hooks
# of its own; a test fails if something is wrong, or if a line has other counts or ops by one clock
# than by the other. Returns the profile by the counting clock.
sub sums_ok {
    my ($what, $code, %opt) = @_;
    my @args = ref $code ? @$code : ('-e', $code);
    my $plain = plain(['-I' . tree(), @args]);
    my (@wrong, @first);
    for my $clock ('counting', undef) {
        my $run = profiled(\@args,
            env => { %timed, %repeats, PERL_DPROF_CLOCK => $clock, %{ $opt{env} // {} } });
        my %got = map { ($_ => LineReader::read_file($_)) }
            $opt{each} ? bsd_glob("$run->{dir}/tmon.out*") : $run->{profile};
        my @these = same_as_plain($plain, $run) || ();
        for my $file (sort keys %got) {
            push @these, map { $file =~ s{.*/}{}r . ": $_" } LineReader::problems($got{$file});
        }
        push @these, keys(%got) . " files, not $opt{each}"
            if $opt{each} && keys %got != $opt{each};
        push @wrong, map { ($clock // 'default') . " clock: $_" } @these;
        if (!@first) {
            @first = ($got{ $run->{profile} }, $run, \%got);
        } elsif (!$opt{each}) {
            push @wrong, other_lines($first[0], $got{ $run->{profile} });
        }
    }
    is(join("\n", @wrong), '', "the sums of $what are equal, and the program runs as plain");
    return @first;
}

# Returns the counts of a file, by line.
sub counts {
    my ($got, $file) = @_;
    return { map { /^\Q$file\E:(\d+)$/ && $got->{count}{$_} ? ($1 => $got->{count}{$_}) : () }
        keys %{ $got->{count} } };
}

subtest 'Random programs agree with their own counts' => sub {
    my $first = $ENV{DPROF_SEED} // 1;
    my $programs = $ENV{DPROF_PROGRAMS} // TestEnvironment::rounds(6, 60);
    my (%seen, $ran);
    for my $seed ($first .. $first + $programs - 1) {
        my $program = LineProgram::program($seed);
        my $file = spew(scratch() . '/p.pl', $program->{text});
        my $plain = plain([$file], limit => 20);
        next if $plain->{raw};
        $ran++;
        for my $lines ($seed % 3 ? 'count' : 'time') {
            my $run = profiled([$file], env => { %tree, PERL_DPROF_LINES => $lines });
            my @wrong = same_as_plain($plain, $run) || ();
            my $got = read_lines($run);
            push @wrong, LineReader::problems($got),
                LineProgram::compare($program, $file, $plain->{out}, $got->{count}, \%seen);
            splice @wrong, 10;
            is(join("\n", @wrong), '', "program $seed, lines=$lines: sums are equal")
                or diag("DPROF_SEED=$seed DPROF_PROGRAMS=1");
        }
    }
    cmp_ok($ran, '>=', $programs * 0.9, 'most of the programs run');
    # Known: blocks of a single statement of sort, map and grep, and a plain do, hide it.
    my @not = grep { !/^(?:do|grep|map|sort)$/ && $seen{$_}{not} } sort keys %seen;
    is("@not", '', 'a statement alone in its block is seen');
    for my $kind (sort keys %seen) {
        note "$kind: ", join ', ', map { "$_ $seen{$kind}{$_}" } sort keys %{ $seen{$kind} };
    }
};

subtest 'The sums of all kinds of programs are equal' => sub {
    my $f = 'no warnings; sub f { my $n = shift; for my $i (1 .. 3) { $n += $i } return $n } '
        . 'sub g { f(1) + f(2) } ';
    my @programs = (
        ['die',
            'sub d { f(1); die "x\n" if $_[0]; f(2) } for my $i (0 .. 5) { eval { d($i % 2) }; '
                . 'f(3); eval { eval { d(1) }; f(4); d(1); }; local $@ = 1; f(5) } print f(1)'],
        ['goto',
            'sub h { $_[0] ? goto &f : goto &g } h($_ % 2) for 1 .. 9; my $n = 0; A: $n++; '
                . 'f($n); goto A if $n < 5; sub x { goto &CORE::lc } x("A"); print $n'],
        ['back to the first statement',
            "our \$n = 0; sub back { A: \$n++; \$n += 0;\n f(\$n);\n goto A if \$n % 5 }\n"
                . 'back(); back(); print $n'],
        ['loop exits',
            'sub out { no warnings; f(1); next } for (1 .. 5) { f($_); out(); f(9) } '
                . 'L: for my $i (1 .. 4) { for my $j (1 .. 4) { f($j); next L if $j == 2 } } '
                . 'print 1'],
        ['sort',
            'sub by { f(1); $a <=> $b } my @s = sort by 3, 1, 2, 5; '
                . '@s = sort { f(2); $b <=> $a } @s; @s = sort { $a <=> $b } @s; '
                . 'my $c = sub { $b <=> $a }; @s = sort $c @s; print "@s"'],
        ['callbacks',
            'use List::Util qw(first reduce); my $v = first { f($_); $_ > 2 } 1 .. 5; '
                . '$v += reduce { f($a); $a + $b } 1 .. 5; print $v'],
        ['DESTROY',
            'sub D::DESTROY { f(1); eval { die "x" }; f(2) } for (1 .. 3) { '
                . 'my $o = bless [], "D"; f(3); undef $o; f(4); my $p = bless [], "D" } '
                . 'our $last = bless [], "D"; print 1'],
        ['tie and overload',
            'package T { sub TIESCALAR { bless [] } sub FETCH { main::f(1) } '
                . 'sub STORE { main::f(2); } } package O { use overload "+" => sub { '
                . 'main::f(1); 5 }, q("") => sub { main::f(2); "o" } } tie my $t, "T"; '
                . '$t = $t + $t; my $o = bless [], "O"; print "$o" . ($o + 1) . $t'],
        ['local and eval',
            'our $x = 1; sub l { local $x = $_[0]; local $@; eval { die "in\n" }; f($x); '
                . 'eval "f(2); die 1"; f($x) } l($_) for 1 .. 4; '
                . 'eval { l(1); die { a => 1 } }; print $@->{a}, $x'],
        ['recursion and closures',
            'sub r { my $n = shift; return f($n) if !$n; my $c = sub { r($n - 1) + f(1) }; '
                . '$c->() + $c->() } print r(4)'],
        ['phases',
            'BEGIN { f(1) } INIT { f(2); g() } CHECK { f(3) } UNITCHECK { f(1) } END { f(4); '
                . 'g() } sub BEGIN { 1 } f(1); eval q{BEGIN { f(1) } END { f(1) } f(2)}; '
                . 'print 1; exit 3'],
        ['start and stop',
            'use Devel::DProf::Control; f(1); Devel::DProf::Control::stop(); f(2); g(); '
                . 'Devel::DProf::Control::start(); f(3); for (1 .. 3) { '
                . 'Devel::DProf::Control::stop() if $_ == 2; g(); '
                . 'Devel::DProf::Control::start() if $_ == 3 } '
                . 'eval { Devel::DProf::Control::stop(); die 1 }; f(1); '
                . 'Devel::DProf::Control::start(); g(); print 1'],
        ['only=',
            'g(); f(1); sub o { f(1); g(); my $x = 3; $x++ } o(); print 1',
            { PERL_DPROF_ONLY => '^main::(?:g|o)$' }],
        ['skip=',
            'g(); f(1); sub o { f(1); g(); my $x = 3; $x++; eval { die 1 }; f(2) } o(); print 1',
            { PERL_DPROF_SKIP => '^main::(?:f|o)$' }],
        ['contexts=16',
            (join '', map { "sub c$_ { f(1); " . ($_ ? 'c' . ($_ - 1) . '(); ' : '') . 'g() } ' }
                0 .. 30) . 'c30(); c12(); f(1) for 1 .. 3; print 1', { PERL_DPROF_CONTEXTS => 16 }],
        ['builtins',
            'my @s = sort { f(1); $a <=> $b } 3, 1, 2; my $t = join ",", map { f($_) } @s; '
                . 'open my $in, "<", $0 or 1; my $l = readline $in; print $t',
            { PERL_DPROF_BUILTINS => 'slow' }],
        ['start=main',
            'BEGIN { f(1); g() } f(2); for my $i (1 .. 3) { f($i) } print 1',
            { PERL_DPROF_START => 'main' }],
        ['no children',
            'my $p = fork; if (!$p) { f($_) for 1 .. 3; exit } waitpid $p, 0; f(1); print 1',
            { PERL_DPROF_FORK => 'no', PERL_DPROF_THREADS => 'no' }],
        ['regex code',
            'for (1 .. 3) { "aa" =~ /a(?{ f(1); g() })a/; (my $s = "xx") =~ s/x/f(1)/ge } '
                . 'my $r = qr/b(??{ f(2); "c" })/; "bc" =~ $r; print 1'],
        ['no sub at all',
            'my $n = 0; for my $i (1 .. 100) { $n += $i; $n *= 1 } '
                . 'while ($n-- > 5000) { $n -= 3 } print $n'],
        ['an exec that fails',
            'f(1); { no warnings; exec "/no/such/program" } g(); '
                . 'exec { "/no/such" } "x" for 1 .. 2; f(2); print 1'],
        ['signals',
            '$SIG{USR1} = sub { f(1) }; for (1 .. 5) { f(2); kill USR1 => $$; f(3) } '
                . 'local $SIG{__WARN__} = sub { g() }; warn "x"; '
                . 'local $SIG{__DIE__} = sub { f(1) }; eval { die "y" }; print 1'],
        ['a defer of exit', 'sub e { f(1); exit 2 } eval { e() }; f(2); END { f(3) }'],
        ['require and do',
            'unshift @INC, sub { my $t = "sub m { main::f(1) } m(); main::g(); 1;"; '
                . 'open my $h, "<", \$t; $h }; require "made_up.pm"; f(1); '
                . 'do "made_up_too.pm"; f(2); print 1'],
    );
    for (@programs) {
        my ($what, $code, $env) = @$_;
        sums_ok($what, $f . $code, env => $env);
    }
    if ($ENV{EXTENDED_TESTING}) {
        for my $file (grep { !/unsafe_signals/ } bsd_glob(root() . '/t/scripts/calls/*.pl')) {
            my $run = profiled([$file], env => { %timed, PERL_DPROF_CLOCK => 'counting',
                EXPECT => scratch() . '/expect' });
            next if !-e $run->{profile};
            is(join("\n", LineReader::problems(read_lines($run))), '',
                "the sums of " . $file =~ s{.*/}{}r . ' are equal');
        }
    }
};

subtest 'A jump into the middle of a statement is counted' => sub {
    my $file = spew(scratch() . '/p.pl', <<'END');
sub a { my $n = 1;
  $n++;
  return $n }
sub b {
  return 2 }
sub x {
  return "@_" }
my $all = '';
$all .= x(a(),
          b());
$all .= x(1);
print "$all\n";
END
    my ($got) = sums_ok('sums', [$file]);
    is_deeply(counts($got, $file),
        { 1 => 1, 2 => 1, 3 => 1, 5 => 1, 7 => 2, 8 => 1, 9 => 1, 11 => 1, 12 => 1 },
            'each line has its count');
    # With the counting clock each interval from one event to the next is as long: line 9 has those
    # to the calls of a, b, x and to the next statement; a line of a sub has one, and the sub's
    # first one another from the call to it.
    my %stretches = map { ($_ => $got->{times}{"$file:$_"}[2] / 10) } 1, 2, 3, 5, 7, 8, 9, 11, 12;
    is_deeply(\%stretches,
        { 1 => 2, 2 => 1, 3 => 1, 5 => 2, 7 => 4, 8 => 1, 9 => 4, 11 => 2, 12 => 1 },
        'each line has its intervals of time') or diag explain $got->{times};
};

subtest 'Start and stop divide the statements' => sub {
    my $file = spew(scratch() . '/p.pl', <<'END');
use Devel::DProf::Control;
sub f { return 1 }
f();
Devel::DProf::Control::stop();
my $n = 0; $n++ for 1 .. 100; f(); $n++;
sub quiet {
    f();
    Devel::DProf::Control::start(), f(), f(), $n++;
    return $n;
}
quiet();
f();
END
    my ($got) = sums_ok('sums', [$file]);
    delete $got->{count}{"$file:1"};
    is_deeply(counts($got, $file), { 2 => 4, 3 => 1, 4 => 1, 9 => 1, 12 => 1 },
        'statements that run while recording is stopped are not counted');
    my %where = map { ($_ => $got->{times}{"$file:$_"}[2] / 10) }
        grep { ($got->{times}{"$file:$_"} // [])->[2] } 3 .. 12;
    is_deeply(\%where, { 3 => 2, 4 => 2, 8 => 3, 9 => 1, 11 => 1, 12 => 2 },
        'each interval belongs to its statement');
};

subtest 'A statement that is alone in its block is counted' => sub {
    my $file = spew(scratch() . '/p.pl', <<'END');
sub f { return $_[0] }
sub each_way { my ($x, $y) = @_;
    if ($x || $y) {
        f(1);
    }
    if ($x && $y) {
        f(2);
    } elsif (f($x) || f($y)) {
        f(3);
    } else {
        f(4);
    }
    unless (($x and $y) or !$x) {
        f(5);
    }
    while ($x-- > 0) {
        f(6);
    }
    until ($x >= 1 && $y) {
        $x++, $y++;
    }
    $x = $y ? do {
        f(7);
    } : do {
        f(8);
    };
    if ($x // $y) {
        return f(9);
    }
}
each_way(@$_) for [0, 0], [0, 1], [1, 0], [1, 1], [2, 0];
if (f(1)) {
    eval "f(1);\n f(2)";
}
END
    for my $lines ('time', 'count') {
        my $run = profiled([$file], env => { %tree, PERL_DPROF_LINES => $lines });
        my $got = read_lines($run);
        is(join("\n", LineReader::problems($got)), '', "lines=$lines: sums are equal");
        my $counts = counts($got, $file);
        delete @$counts{1, 2, 22, 24};      # several lines
        is_deeply($counts, { 3 => 5, 4 => 4, 6 => 5, 7 => 1, 8 => 4, 9 => 3, 11 => 1, 13 => 5,
            14 => 2, 16 => 5, 17 => 4, 19 => 5, 20 => 10, 23 => 5, 27 => 5, 28 => 5, 31 => 1,
            32 => 1, 33 => 1 }, 'each line has the count of its statements')
                or diag explain $counts;
    }
};

# Ops stand where those of freed code stood.
subtest 'Single statements in code that comes and goes are counted' => sub {
    my ($n, %want) = (300);
    for my $i (1 .. $n) {
        my $at = 10 + 10 * ($i % 7);
        $want{ $at + ($i % 3 ? 1 : 3) }++;
        $want{ $at + 4 }++ if $i % 3 == 0 && $i % 2;
    }
    my $code = 'sub f { } for my $i (1 .. ' . $n . ') { my $at = 10 + 10 * ($i % 7); '
        . 'eval qq{#line $at "gen"\nif (\$i % 3) {\nf()\n}\nelsif (\$i % 2) {\nf()\n}\n1} '
        . 'or die $@ }';
    for my $lines ('time', 'count') {
        my $run = profiled(['-e', $code], env => { %tree, PERL_DPROF_LINES => $lines });
        my $counts = counts(read_lines($run), 'gen');
        delete @$counts{ map { (10 * $_, 10 * $_ + 6) } 1 .. 7 };
        is_deeply($counts, \%want, "lines=$lines: each line has the count of its statements")
            or diag explain $counts;
    }
};

subtest 'String evals take bounded space' => sub {
    my $n = TestEnvironment::rounds(1_000, 4_000);
    my $rss = 'sub rss { open my $in, "<", "/proc/self/statm" or return 0; '
        . '(split " ", <$in>)[1] * 4 }';
    my $code = "$rss my \$n = 0; my \$at; for my \$i (1 .. $n) { "
        . "eval qq{my \\\$x = \$i;\n\\\$n += \\\$x;\nsub { \\\$x }->()\n}; "
        . "\$at = rss() if \$i == $n / 4 } open my \$out, '>', 'rss'; "
        . "print \$out rss() - \$at; close \$out; print \$n";
    my ($got, $run) = sums_ok('sums', $code);
    my $evals = grep { /eval/ } keys %{ $got->{count} };
    my $all = 0;
    $all += $got->{count}{$_} for grep { /eval.*:2$/ } keys %{ $got->{count} };
    is($all, $n, 'each eval is counted');
    cmp_ok($evals, '<', 3_200, 'string evals take few places');
    # A sanitizer keeps freed memory for a while.
    my $most = ($ENV{LD_PRELOAD} // '') =~ /asan/ ? 8_000 : 2_000;
    cmp_ok(slurp("$run->{dir}/rss") || 0, '<', $most, 'string evals take bounded memory, in kB');
};

subtest 'Each process has its own lines' => sub {
    my $f = 'no warnings; sub f { my $n = shift; $n++; $n } ';
    my ($got, $run, $all) = sums_ok('a child that runs statements alone',
        "$f f(1); my \$p = fork; if (!\$p) { my \$n = 0; \$n += \$_ for 1 .. 3; "
            . "for (1 .. 50) { \$n++; \$n-- } exit } waitpid \$p, 0; f(2); print 1", each => 2);
    my ($child) = grep { !/tmon\.out$/ } keys %$all;
    is_deeply([map { $all->{$child}{count}{'-e:1'} // 0 }  1], [4 + 100 + 1],
        'the statements of a child are counted in its file');
    (undef, undef, $all) = sums_ok('a child before its first call',
        "sub f { 1 }\nmy \$p = fork;\nif (!\$p) {\nmy \$x = 1;\n\$x++ for 1 .. 1000;\nmy \$y = 2;\n"
            . "f(1);\nexit\n}\nwaitpid \$p, 0", each => 2);
    ($child) = grep { !/tmon\.out$/ } keys %$all;
    my %own = slurp($child) =~ /^#l (\d+) 0 1 (.*)$/mg;
    my ($real, $ops) = map {
        my $n = $_;
        +{ map { $_ => (split " ", $own{$_})[$n] } keys %own };
    } 2, 3;
    is_deeply([grep { !$real->{$_} } 4 .. 7], [], 'each statement of a child has its time');
    cmp_ok($ops->{5}, '>', 2_000, 'the loop of a child has its ops');
    cmp_ok($ops->{$_}, '<', 10, "line $_ of a child has few ops") for 4, 6, 7;
    like(slurp($child), qr/^= 2 .* at=-e:7$/m, 'the call in a child has its place');
    sums_ok('children that call',
        "$f for (1 .. 3) { f(1); my \$p = fork; if (!\$p) { f(2) for 1 .. 3; my \$q = fork; f(3); "
            . "waitpid \$q, 0 if \$q; f(4); exit } waitpid \$p, 0; } f(5)", each => 7);
    sums_ok('a child that forks before its first call',
        "$f f(1); my \$p = fork; if (!\$p) { my \$q = fork; if (\$q) { waitpid \$q, 0; exit } "
            . "f(2); exit } waitpid \$p, 0; f(3)", each => 3);
    sums_ok('a child that only execs',
        "$f f(1); my \$p = fork; if (!\$p) { exec 'true' } waitpid \$p, 0; f(2)", each => 1);
    sums_ok('a child of lines=count',
        "$f f(1); my \$p = fork; if (!\$p) { f(1); for (1 .. 9) { \$p++; \$p++ } exit } "
            . "waitpid \$p, 0; f(2)", each => 2, env => \%counted);
  SKIP: {
        skip 'perl has no threads', 1 if !$Config{useithreads};
        sums_ok('threads',
            "use threads; $f my \@t = map { threads->create(sub { f(\$_) for 1 .. 5; "
                . "eval { die 1 }; my \$x = 0; for (1 .. 9) { \$x++; f(\$x) } \$x }) } 1 .. 4; "
                . "print \$_->join for \@t; f(1)", each => 5);
    }
};

subtest 'A killed process leaves equal sums' => sub {
    require Devel::DProf::Profile;
    my $code = "sub f { my \$n = shift;\n \$n++;\n return \$n }\n f(\$_) for 1 .. 3000;\n "
        . "for my \$i (1 .. 600) {\n "
        . "\$i + 1; f(1) if \$i <= 500; kill 9, \$\$ if \$i == 600; }\n";
    for my $lines ('time', 'count') {
        my $run = profiled(['-e', $code], env => { %tree, PERL_DPROF_LINES => $lines });
        is($run->{signal}, 9, "lines=$lines: the program ends by SIGKILL");
        my $out = "$run->{dir}/merged";
        my $merge = run_tool('Dprofmerge', ['-o', $out, $run->{profile}]);
        my $got = LineReader::read_file($out);
        is(join("\n", LineReader::problems($got)), '',
            'the profile of a killed program has equal sums')
            or diag $merge->{err};
        is_deeply(counts($got, '-e'),
            { 1 => 3500, 2 => 3500, 3 => 3500, 4 => 1, 5 => 1, 6 => 1800 },
            'the profile of a killed program has every statement');
    }
    my $run = profiled(['-e', 'sub f { 1 } my $end = time + 9; while (time < $end) { '
        . 'f() for 1 .. 100; select undef, undef, undef, .05; '
        . 'open my $in, "<", "tmon.out" or next; local $/; my $text = readline $in; '
        . 'next if $text !~ /^#l /m; open my $out, ">", "saved"; print $out $text; last }'],
        env => { %timed, PERL_DPROF_CHECKPOINT => 1 });
    is(join("\n", map { LineReader::problems(LineReader::read_file($_)) }
        $run->{profile}, "$run->{dir}/saved"), '',
        'checkpoint=1: sums are equal when saved, and in the end');
};

subtest 'Lines go with other options' => sub {
    my $code = 'sub f { my $n = shift; my $made = [[$n], {}]; push @$made, 1; return $n } '
        . 'for my $i (1 .. 200) { f($i); f(2) if $i % 2 } print 1';
    my ($got) = sums_ok('events', $code, env => { PERL_DPROF_EVENTS => 'ops+svs' });
    like($got->{header}{dprof_counters}, qr/svs/, 'the profile names the event');
    cmp_ok(scalar @{ $got->{lines} }, '==', 6, 'the profile has the event for each line');
    my $run = profiled(['-e', $code], env => { %timed, PERL_DPROF_COMPRESS => 6 });
    require IO::Uncompress::Gunzip;
    my ($bytes, $text) = slurp($run->{profile});
    IO::Uncompress::Gunzip::gunzip(\$bytes => \$text, MultiStream => 1);
    is(join("\n", LineReader::problems(LineReader::read_text($text))), '',
        'compress=6: sums are equal');
    $run = profiled(['-e', $code], env => { %counted, PERL_DPROF_CLOCK => 'counting' });
    $got = read_lines($run);
    is_deeply([@{ $got->{problems} }, @{ $got->{lines} }], [], 'lines=count has no times');
    my $without = profiled(['-e', $code],
        env => { %tree, PERL_DPROF_LINES => 'no', PERL_DPROF_CLOCK => 'counting' });
    is(read_lines($without)->{entries}, 0, 'lines=no records no lines');
};

subtest 'Lines without a tree are refused' => sub {
    my $run = run_perl(['-I' . tree(), '-d:DProf=lines', '-e', 'print "ran\n"']);
    is("$run->{out}|$run->{err}", "|DProf: lines needs a tree: -d:DProf=tree,lines\n"
        . "BEGIN failed--compilation aborted.\n", 'lines in a trace are refused');
    isnt($run->{raw}, 0, 'lines in a trace give a status that is not 0');
    ok(!-e $run->{profile}, 'lines in a trace write no file');
    $run = run_perl(['-I' . tree(), '-d:DProf=tree,lines=often', '-e', 'print "ran\n"']);
    is($run->{out}, '', 'an unknown word stops perl before the program starts');
    like($run->{err}, qr/\ADProf: lines=often: [^\n]*\nBEGIN failed[^\n]*\n\z/,
        'an unknown word gives a message');
    $run = run_perl(['-I' . tree(), '-d:DProf=tree,lines', '-e', 'print "ran\n"']);
    is("$run->{out}|$run->{err}", "ran\n|", 'with tree the program runs');
};

subtest 'The program cannot see that its lines are recorded' => sub {
    my $concise = q[for my $style ('basic', 'exec') { for my $name (qw(one where)) { ]
        . q[B::Concise::compile("-$style", $name)->() } }];
    my $file = spew(scratch() . '/p.pl', <<'END' . "$concise\n" . <<'END');
use B; use B::Deparse; use B::Concise;
sub where { return join ':', (caller)[1, 2] }
sub one {
    my $x = shift;
    if ($x) {
        return where();
    }
    elsif ($x eq '') {
        warn "here";
    } else {
        eval { die "there" };
        print $@;
    }
    $x and warn "and"; !$x or warn "or"; $x // warn "dor";
    for my $i (1 .. 2) { print where(), "\n" }
    my @s = sort { $a <=> $b } map { where(); $_ } 2, 1;
    unless ($x) { print where(), "\n" } else { die "not" }
    while ($x++ < 2) { warn "while" }
    return "@s";
}
my $anon = sub { my $y = shift; $y ? where() : do { warn "do"; 1 } };
print one($_), "\n" for 0, 1, '';
print $anon->($_), "\n" for 0, 1;
my $deparse = B::Deparse->new;
for my $name (qw(where one)) { print $deparse->coderef2text(\&$name), "\n" }
print $deparse->coderef2text($anon), "\n";
my ($text, %seen) = '';
B::Concise::walk_output(\$text);
B::Concise::reset_sequence();
END
$text =~ s/\b0x[0-9a-f]+//g; $text =~ s/t\d+//g;
print $text;
END
    my $plain = plain([$file]);
    is($plain->{raw}, 0, 'the program that looks at its ops runs') or diag $plain->{err};
    for my $env (\%timed, \%counted) {
        my $run = profiled([$file], env => $env);
        same_as_plain($plain, $run,
            "the program that looks at its ops runs as plain with lines=$env->{PERL_DPROF_LINES}");
    }
    my @inc = map { "-I$_" } grep { -e "$_/Coro.pm" || -e "$_/common/sense.pm" } @INC;
  SKIP: {
        skip 'needs Coro', 1 if plain([@inc, '-e', 'use Coro'])->{raw};
        require CoroProgram;
        for my $seed (1 .. TestEnvironment::rounds(2, 9)) {
            my $coro = spew(scratch() . '/p.pl', CoroProgram::program($seed, 1));
            my %seeds = (PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0);
            # A Coro that was built for another perl crashes without the profiler, too.
            next if plain([@inc, '-I' . tree(), $coro], env => \%seeds)->{raw};
            my $run = profiled([@inc, $coro],
                env => { %timed, %seeds, PERL_DPROF_CLOCK => 'counting' });
            is(join("\n", $run->{raw} ? "status $run->{raw}: $run->{err}" : (),
                LineReader::problems(read_lines($run))), '',
                    "the lines of the coroutines of program $seed have equal sums");
        }
    }
    for my $same (TestEnvironment::sample(6, bsd_glob(root() . '/t/scripts/same/*.pl'))) {
        my $say = DProfTest::directives($same);
        next if $say->{perl} || @{ $say->{needs} // [] } || $say->{switches} =~ /-T/;
        my @args = (split(' ', $say->{switches}), $same, split ' ', $say->{args});
        my $want = plain(\@args, env => { EXPECT => scratch() . '/expect' });
        my $have = profiled(\@args, env => { %timed, EXPECT => scratch() . '/expect' });
        same_as_plain($want, $have, "$same =~ s{.*/}{}r . ' runs as plain with lines'");
    }
};

subtest 'Real programs run as plain with lines' => sub {
    plan skip_all => 'it takes long: EXTENDED_TESTING=1 runs it' if !$ENV{EXTENDED_TESTING};
    require Config;
    my ($pod2text) = grep { -x } map { "$_/pod2text" } @Config{qw(installscript scriptdir)},
        '/usr/bin';
    my ($perltidy) = grep { -x } map { "$_/perltidy" } split /:/, $ENV{PATH};
    my ($pod) = grep { -r } map { "$_/pod/perlfunc.pod" } @INC;
    my @runs = ($pod2text && $pod ? [$pod2text, $pod] : (),
        $perltidy ? [$perltidy, '-st', root() . '/t/lib/DProfTest.pm'] : ());
  SKIP: {
        skip 'neither pod2text nor perltidy are here', 1 if !@runs;
        for my $args (@runs) {
            my ($plain, @with) = (plain($args, env => { PERL_HASH_SEED => 0 }),
                map { profiled($args, env => { %$_, PERL_HASH_SEED => 0 }) } \%timed, \%counted);
            same_as_plain($plain, $_, "$args->[0] runs as plain with lines") for @with;
            is(join("\n", LineReader::problems(read_lines($with[0]))), '',
                'the lines of a real program have equal sums');
        }
    }
};

done_testing;
