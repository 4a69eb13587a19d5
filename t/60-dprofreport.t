# dprofreport agrees with a naive model, stack by stack; its options.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch spew run_program tool_command run_tool profiled counting no_terminal
    on_terminal);
use JSON::PP ();
use Devel::DProf::Profile;

my $dir = scratch();
my $n = 0;

sub report {
    my ($text, @args) = @_;
    my $file = spew("$dir/" . ++$n . '.in', $text);
    return tool(@args, $file);
}

sub tool {
    my (@args) = @_;
    my %env = ref $args[0] ? %{ shift @args } : ();
    return run_tool('dprofreport', ['--format=perf', @args], env => \%env);
}

# Folded text -> symbol => [children, self], computed as the definition says.
sub naive {
    my ($text, %how) = @_;
    my (%row, $total);
    for my $line (split /\n/, $text) {
        my ($stack, $value) = $line =~ /^(.*) (\d+)$/ or next;
        my @frames = ('(program)', grep { $_ ne '(program)' } split /;/, $stack);
        @frames = map { $how{key}->($_) } @frames if $how{key};
        $total += $value;
        $row{ $frames[-1] }[1] += $value;
        my %seen;
        $row{$_}[0] += $value for grep { !$seen{$_}++ } @frames;
    }
    return ({ map { $_ => [map { sprintf '%.2f', 100 * ($_ // 0) / $total } @{ $row{$_} }[0, 1]] }
        keys %row }, $total);
}

sub rows {
    my ($run) = @_;
    my $json = JSON::PP->new->utf8->decode($run->{out});
    return { map { $_->{symbol} => [map { sprintf '%.2f', $_ // 0 }
        @$_{qw(children_pct self_pct)}] } @{ $json->{rows} } };
}

# This is the example of perf report's manual.
{
    my $text = "__libc_start_main;main;bar;foo 60\n__libc_start_main;main;bar 40\n";
    my $squeeze = sub {
        join '', map { s/^ +//r =~ s/ +/ /gr } grep { !/^\s*\|?\s*$/ && !/^#/ && !/^\.\./ }
            split /^/, $_[0];
    };
    my $run = report($text, '-g', '--skip', '^\(program\)$');
    is($squeeze->($run->{out}), <<'END', 'the report has Children and Self');
Children Self Symbol
100.00% 0.00% __libc_start_main
--- __libc_start_main
100.00% 0.00% main
--- main
__libc_start_main
100.00% 40.00% bar
--- bar
main
__libc_start_main
60.00% 60.00% foo
--- foo
bar
main
__libc_start_main
END
    $run = report($text, '-g', '--no-children');
    is($squeeze->($run->{out}), <<'END', 'the report of --no-children has Overhead');
Overhead Symbol
60.00% foo
--- foo
bar
main
__libc_start_main
40.00% bar
--- bar
main
__libc_start_main
END
    is("$run->{err}$run->{raw}", '0', 'the example is reported without a message');
}

# With random stacks every number is that of the model, for subs and for packages.
srand 4;
for my $round (1 .. TestEnvironment::rounds(2, 12)) {
    my @subs = map { ('main', 'A', 'B::C')[rand 3] . "::s$_" } 0 .. 6;
    my $text = join '', map { join(';', map { $subs[rand @subs] } 0 .. rand 9) . ' ' . int(rand 50)
        . "\n" } 1 .. 40;
    $text .= "(program) 17\n";
    my ($want) = naive($text);
    my $got = rows(report($text, '--format', 'json'));
    is_deeply($got, $want, "random stacks $round: Children and Self are those of the model");
    my $sum = 0;
    $sum += $_->[1] for values %$got;
    ok(abs($sum - 100) < 0.05, 'Self adds up to 100 %');
    my ($packages) = naive($text, key => sub { $_[0] =~ /^(.*)::/ ? $1 : $_[0] });
    my $json = JSON::PP->new->utf8->decode(report($text, '-s', 'package', '--format',
        'json')->{out});
    is_deeply({ map { $_->{package} => [map { sprintf '%.2f', $_ } @$_{qw(children_pct self_pct)}] }
        @{ $json->{rows} } }, $packages, '-s package: Children and Self are those of the model');
}

# Recorded profiles have the same numbers as in dprofpp, to the tick.
my $script = spew("$dir/p.pl", <<'END');
use strict; use warnings;
package Low {
    sub work { my $x = 0; $x += $_ for 1 .. $_[0]; $x }
    sub rec { my $n = shift; work($n); $n ? rec($n - 1) : 0 }
}
package Mid {
    sub run { Low::work(30); Low::rec(3) for 1 .. 2; callee() }
    sub callee { Low::work(1) }
}
sub idle { 1 }
Mid::run() for 1 .. 5;
idle();
END
for my $mode (qw(trace tree)) {
    my $run = profiled([$script], env => { counting(), PERL_DPROF_MODE => $mode,
        PERL_DPROF_CALLSITES => 1 });
    my $profile = $run->{profile};
    my $json = JSON::PP->new->utf8->decode(tool('--format', 'json', '-m', 'real', '-n',
        '--show-total-period', $profile)->{out});
    my $read = Devel::DProf::Profile->new;
    $read->add($profile);
    my %want = map { $_->[0] => [$_->[1], $_->[2], $_->[3]] }
        $read->rows({ rows => 1000, time => Devel::DProf::Profile::REAL, program => 1 });
    $want{'(program)'}[0] = 0;
    my %got = map { $_->{symbol} => [$_->{calls},
        map { int($_ * 1e7 + 0.5) } @$_{qw(self children)}] } @{ $json->{rows} };
    is_deeply(\%got, \%want, "$mode: the numbers are those of dprofpp");

    my %edges;
    $edges{ $_->[0] } += $_->[1] for @{ $read->edges('Low::work', { separate => 1 }) };
    my %of = map { $_->[0] => 1 } map { @{ $read->edges($_, { callees => 1 }) } } keys %edges;
    is_deeply(\%edges, { 'Mid::run' => 5, 'Low::rec' => 40, 'Mid::callee' => 5 },
        "$mode: edges are rows with calls");
    ok($of{'Low::work'}, "$mode: the edges to a sub are found, too");
    is($read->edges('no::such', {}), undef, "$mode: an unknown sub has no edges");

    my $callers = tool('--callers', 'Low::work', '-m', 'real', '--format', 'csv', $profile)->{out};
    like($callers, qr/,"?35"?,Mid::run|,5,Mid::run/, "$mode: --callers has calls") or diag $callers;
    is(tool('--callers', 'work', '-m', 'real', '--format', 'csv', $profile)->{out}, $callers,
        "$mode: the name without its package is enough");
    is(tool('--callers', 'no::such', $profile)->{err}, "there is no sub no::such in $profile; "
            . "dprofreport lists the subs\n",
        "$mode: --callers of an unknown sub is an error");
    my $callees = tool('--callees', 'Mid::run', '-m', 'real', '--format', 'csv', $profile)->{out};
    like($callees, qr/Mid::callee/, "$mode: --callees has the called sub");
    unlike($callees, qr/idle/, "$mode: --callees has no other sub");
    like($callees, qr/p\.pl:7/, '--callees has the place of the call') if $mode eq 'tree';
    like(tool('--histogram', $profile)->{out}, qr/from .* us +#+ \d+/,
        "$mode: --histogram prints bars");
    like(tool('--per-call', '-S', 'Low::work', '-q', $profile)->{out},
        qr/^ +\S+% +\S+% +[\d.]+ +[\d.]+ +[\d.]+  Low::work$/m,
        "$mode: --per-call prints average, shortest, longest");
    # The program waits: its real time is much more than its cpu time.
    my ($head, @calls) = split /\n/, tool('--per-call', '-n', '-S', 'Low::work', '-m', 'cpu',
        '--format', 'csv', $profile)->{out};
    my @columns = split /,/, $head;
    my %cpu; @cpu{@columns} = split /,/, $calls[0];
    my %real; @real{@columns} = split /,/,
        (split /\n/, tool('--per-call', '-n', '-S', 'Low::work', '-m', 'real', '--format', 'csv',
            $profile)->{out})[1];
    is_deeply([map { $_->{avg_per_call} } \%cpu], [map { $_->{avg_per_call} } \%real],
        "$mode: averages of the same clock as the shortest call");
    cmp_ok($cpu{min_per_call}, '<=', $cpu{avg_per_call},
        "$mode: the average is no less than the shortest call");
    cmp_ok($cpu{avg_per_call}, '<=', $cpu{max_per_call},
        "$mode: the average is no more than the longest call");
    like(tool('--per-call', $profile)->{out}, qr/  Avg real s +Min real s +Max real s  Symbol$/m,
        "$mode: headings name the clock and the unit");
    my $ops = $mode eq 'tree' ? tool('--per-call', '-m', 'ops', $profile)->{out} : '';
    like($ops, qr/  Avg\/call +Min real s +Max real s  Symbol$/m,
        "$mode: the average of a counter has no clock") if $ops;
    unlike(tool('-F', 'avg', $profile)->{out}, qr/real/, "$mode: -F avg is of the metric of -m");
    like(tool('-s', 'package,sub', '--hierarchy', '-q', $profile)->{out},
        qr/^.*%  Low\n.*%    Low::rec\n.*%    Low::work$/m,
        "$mode: --hierarchy indents one key below the other");
    like(tool('-s', 'phase', '-q', '--no-children', $profile)->{out}, qr/%  main$/m,
        "$mode: -s phase has the phase");
    like(tool('-s', 'pid,sub', '-q', $profile)->{out}, qr/%  \d+ +Low::work$/m,
        "$mode: -s pid has the process");
    like(tool('-s', 'srcline', '-q', $profile)->{out}, qr/p\.pl:3$/m,
        "$mode: -s srcline has the places");
    like(tool('-s', 'sub,caller', '-q', $profile)->{out}, qr/Low::work +Low::rec$/m,
        "$mode: -s caller has the callers");
    is(tool('-m', 'nonsense', $profile)->{status}, 1,
        "$mode: a metric that the profile lacks gives status 1");
    my $asked = tool('-m', 'ops', '-q', $profile);
    is($asked->{status}, $mode eq 'tree' ? 0 : 1, "$mode: -m ops works where the profile has ops")
        or diag $asked->{err};
}

# Filters and shapes are tried on a small profile.
{
    my $text = "a;b;c 50\na;b 30\na;d;c 15\n(program) 5\n";
    my $q = sub { report($text, '-q', @_)->{out} =~ s/^ +//mgr =~ s/ +/ /gr };
    is($q->('-S', 'c,b'), "80.00% 30.00% b\n65.00% 65.00% c\n", '-S keeps the subs named');
    is($q->('-S', 'c', '--percentage', 'relative'), "100.00% 100.00% c\n",
        '--percentage relative divides by what is shown');
    is($q->('--only', '^[ad]$'), "95.00% 0.00% a\n15.00% 0.00% d\n", '--only keeps what matches');
    is($q->('--skip', '[abc(]'), "15.00% 0.00% d\n", '--skip drops what matches');
    is($q->('--percent-limit', 70), "100.00% 5.00% (program)\n95.00% 0.00% a\n80.00% 30.00% b\n",
        '--percent-limit drops small rows');
    is($q->('-O', 1), "100.00% 5.00% (program)\n", '-O limits the rows');
    is($q->('--ignore-callees', '^b$', '--skip', 'program'),
        "95.00% 0.00% a\n80.00% 80.00% b\n15.00% 0.00% d\n15.00% 15.00% c\n",
        '--ignore-callees charges a sub with what it calls');
    is($q->('--max-stack', 1), "100.00% 5.00% (program)\n95.00% 95.00% a\n",
        '--max-stack cuts the stacks');
    is($q->('--parent', '^[bd]$', '-s', 'parent', '--no-children'),
        "80.00% b\n15.00% d\n5.00% [other]\n", '--parent takes the match nearest the leaf');
    is($q->('--parent', '^[bd]$', '-x', '-s', 'parent', '--no-children'),
        "80.00% b\n15.00% d\n", '-x drops rows without a parent');
    is($q->('-F', 'sub,overhead', '-S', 'c'), "c 65.00%\n", '-F chooses the columns')
        or diag $q->('-F', 'sub,overhead', '-S', 'c');
    my $list = spew("$dir/list", "c\r\n# no\n\nb");
    is($q->('-S', "file://$list"), "80.00% 30.00% b\n65.00% 65.00% c\n",
        '-S reads names from file://');
    is(report($text, '-t', ',', '-S', 'c')->{out} =~ s/^#.*\n//mgr, "65.00%,65.00%,c\n",
        '-t sets the separator');
    my $g = sub {
        report($text, '-q', '-S', 'c', @_)->{out} =~ s/^65.*?\n//r =~ s/^ {12}//mgr
            =~ s/^ +65.*\n//mr;
    };
    is($g->('-g', 'graph,0'), <<'END', '-g graph prints a graph in callee order');
|
--- c
    |
    |--50.00%-- b
    |          a
    |
     --15.00%-- d
               a

END
    is($g->('-g', 'fractal,30'),
        <<'END', '-g fractal prints shares of the line above, and the rest');
|
--- c
    |
    |--76.92%-- b
    |          a
    |
     --23.08%-- [...]

END
    is($g->('-g', 'folded,0'), "50.00% c;b;a\n15.00% c;d;a\n\n",
        '-g folded prints stacks on one line')
        or diag $g->('-g', 'folded,0');
    is($g->('-G', '-g', 'graph,0'),
        <<'END', '-G prints a graph in caller order, from the program down');
|
--- a
    |
    |--50.00%-- b
    |          c
    |
     --15.00%-- d
               c

END
}

# Small branches, calls, doubled columns, and names with a semicolon follow.
{
    my $text = join '', map { "a;z$_;c 4\n" } 1 .. 100;
    $text .= "q 700\n";
    my $q = sub { report($_[0], '-q', @_[1 .. $#_])->{out} =~ s/^ +//mgr =~ s/ +/ /gr };
    is($q->($text, '-g', 'folded', '-S', 'c'), "36.36% 36.36% c\n",
        'chains below the threshold are not printed');
    is(() = $q->($text, '-g', 'folded,0.2', '-S', 'c') =~ /^0\.36% c;z\d+;a$/mg, 100,
        'a lower threshold prints the chains');
    is($q->("a;b 3\n", '-F', 'sub,sub,overhead,overhead', '-s', 'package,sub', '--hierarchy'),
        "0.00% (program)\n0.00% (program)\n100.00% main\n0.00% a\n100.00% b\n",
        'a column given twice is printed once');
    is($q->("a%3Bb;c 3\n", '-g', 'folded', '-S', 'c'), "100.00% 100.00% c\n100.00% c;a%3Bb\n\n",
        'a semicolon within a name is escaped');
    my $run = report("a;b 94\na 1\nc 5\n", '--color', 'always', '-q');
    is($run->{out} =~ s/ +/ /gr, <<"END" =~ s/ +/ /gr, 'each share has its own colour');
 \e[31m100.00%\e[m 0.00% (program)
 \e[31m95.00%\e[m \e[32m1.00%\e[m a
 \e[31m94.00%\e[m \e[31m94.00%\e[m b
 \e[31m5.00%\e[m \e[31m5.00%\e[m c
END
}

subtest 'A branch at each level does not make lines grow without end' => sub {
    my $run = report(join('', map { 'r;' x $_ . "r 1\n" } 1 .. 400), '-q', '--no-children', '-g',
        'graph,0', '--max-stack', 1000);
    is((sort { $b <=> $a } map { length } split /\n/, $run->{out})[0] < 2500, 1,
        'no line is indented by more than 200 levels');
    like($run->{out}, qr/-- \[201\] r\n/, 'deeper levels are numbered');
    like(report(join('', map { 'r;' x $_ . "r 1\n" } 1 .. 400), '-q', '--no-children', '-G', '-g',
        'flat,0', '--max-stack', 1000)->{out},
        qr/(?: {16}r\n){401}/, 'flat chains have all levels');
};

subtest 'Files that -s keeps apart make one sum' => sub {
    # Files that -s keeps apart still make one sum: of one unit, and of what all of them have.
    my $folded = spew("$dir/apart.in", "a;b 3\n");
    my %file = map { $_ => profiled([$script],
        env => { counting(), PERL_DPROF_MODE => $_ })->{profile} } qw(trace tree);
    for my $keys ('sub', 'pid,sub') {
        my $run = tool('-s', $keys, $file{tree}, $folded);
        like($run->{err}, qr/^\Q$folded\E: its times are in an unknown unit/,
            "$keys: a message names the file of another unit")
            or diag $run->{out};
        is($run->{status}, 1, "$keys: different units give status 1");
    }
    my $run = tool('-s', 'pid,sub', '-m', 'ops', $file{tree}, $file{trace});
    is("$run->{status} $run->{out}", '1 ', 'a counter that one file lacks gives status 1');
    like($run->{err}, qr/^\Q$file{trace}\E: it has no ops/,
        'the message names the file that lacks the counter');
    is(tool('-s', 'pid,sub', $file{tree}, spew("$dir/s.in", "a;b 3\n"), '--unit', 's')->{status},
        0, '--unit gives the folded stacks a unit');
};

# With several programs all are named.
{
    my $second = spew("$dir/second.pl", 'sub f { 1 } f()');
    my @files = map { profiled([$_], env => { counting() })->{profile} } $script, $second;
    for my $keys ('sub', 'script') {
        is(JSON::PP->new->utf8->decode(tool('--format', 'json', '-s', $keys,
            @files)->{out})->{script}, "$script, $second",
                "-s $keys names the scripts of all files");
    }
}

# Leaving a pager early is neither an error nor a death.
SKIP: {
    my $tool = join ' ', map { "'$_'" } tool_command('dprofreport');
    my $no_terminal = no_terminal();
    skip $no_terminal, 47 if defined $no_terminal;
    my $file = spew("$dir/long.in", join '', map { "a$_;b$_ 1\n" } 1 .. 20000);
    my $run = on_terminal("TERM=vt100 DPROF_PAGER='head -3' $tool --format perf '$file';"
        . " echo status \$?",
        limit => 60);
    like($run->{out}, qr/Profile.*status 0\r?\n\z/s, 'a pager that is left early gives status 0');

    # Returns the lines on a terminal that a pager has marked, and all lines.
    my $paged = sub {
        my ($env, @command) = @_;
        my $got = on_terminal("TERM=vt100 $env " . join(' ', map { "'$_'" } tool_command(@command)),
            limit => 60);
        my @lines = split /\r?\n/, $got->{out};
        return scalar(grep { /^P:/ } @lines) . ' of ' . @lines;
    };
    my $mark = "DPROF_PAGER='sed s/^/P:/'";
    my $ours = DProfTest::data('ours.out');
    for (['dprofreport', $ours], ['dprofpp', $ours], ['dprofpp', '-S', $ours],
        ['dprofpp', '-T', $ours], ['dprofdiff', $ours, $ours], ['dproflist', 'ops'],
        ['dprofpp', '-H'], ['dprofreport', '-H']) {
        my ($tool, @args) = @$_;
        like($paged->($mark, @$_), qr/^([1-9]\d*) of \1\z/, "@$_ goes through the pager");
        like($paged->("$mark PAGER=cat", @$_), qr/^([1-9]\d*) of \1\z/,
            "@$_: DPROF_PAGER comes first");
        next if grep { $_ eq '-H' } @args;
        for my $no ($mark, 'DPROF_PAGER=cat', 'DPROF_PAGER=', 'PAGER=cat', "$mark TERM=dumb") {
            like($paged->($no, $tool, $no eq $mark ? '--no-pager' : (), @args),
                qr/^0 of [1-9]/, "@$_: no pager with $no" . ($no eq $mark ? ' --no-pager' : ''));
        }
    }
}

subtest 'A program that waits is told apart from one that computes' => sub {
    my $waits = profiled(['-e', 'sub nap { select undef, undef, undef, 0.3 } nap()']);
    like(run_tool('dprofreport', [$waits->{profile}])->{out},
        qr/\A.*\nTotal: .*\nWaited: \d+ % of [\d.]+ m?s real time; -m real shows where\n\n/,
        'CPU time is a small part of the real time, and a line says so');
    unlike(run_tool('dprofreport', ['-m', 'real', $waits->{profile}])->{out}, qr/^Waited/m,
        '... but not of real time');
    my $computes = profiled(['-e', 'sub f {} f() for 1 .. 1000'], env => { counting() });
    unlike(run_tool('dprofreport', [$computes->{profile}])->{out}, qr/^Waited/m,
        'a program that computes has no line');
    is(tool('-s', 'line', '-m', 'calls', $waits->{profile})->{out},
        tool('-s', 'srcline', '-m', 'calls', $waits->{profile})->{out}, 'line means srcline');
};

subtest 'Wrong command lines give a message' => sub {
    for (['-s', 'nonsense'], ['--format', 'pdf'], ['-g=tree'], ['--only', '('],
        ['-S', 'file:///no/such/file'], ['--percentage', 'x'],
         ['-t', '.'], ['-x'], ['--callers', 'a', '--callees', 'b'], ['--nonsense'], ['-O', 0],
         ['-F', 'nonsense']) {
        my $run = report("a 1\n", @$_);
        is("$run->{status} " . ($run->{err} =~ tr/\n// <= 2 ? 'short' : $run->{err})
            . " $run->{out}",
            '2 short ', "dprofreport @$_ gives status 2 and a short message");
    }
    is(tool('/no/such/file')->{status}, 1, 'a missing file gives status 1');
    is(tool({ DPROFREPORT_OPTS => '-q -S c' }, spew("$dir/x", "a;c 3\nb 1\n"))->{out} =~ s/ +/ /gr,
        " 75.00% 75.00% c\n", 'DPROFREPORT_OPTS gives options');
    {
        my $file = spew("$dir/y", "a;c 3\nb 1\n");
        my $inclusive = tool('-q', $file)->{out};
        my %default = (DPROFREPORT_OPTS => '--no-children');
        isnt(tool(\%default, '-q', $file)->{out}, $inclusive,
            'DPROFREPORT_OPTS may hold --no-children');
        is(tool(\%default, '-q', '--children', $file)->{out}, $inclusive,
            'the command line overrides --no-children of DPROFREPORT_OPTS');
    }
    like(tool('-h')->{out}, qr/--callers/, '-h prints the usage');
};

done_testing;
