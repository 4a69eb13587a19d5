# Files of callgrind in the tools: what they show of a call graph, which value, and what they say of
# damaged ones. t/c/26-callgrind.c tries each line of the format, and random call graphs.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew in_process);
use Foreign 'callgrind_text';
use GrindReader 'read_callgrind';
use IO::Compress::Gzip;
use LineReader;
use MadeUp;
use NaiveStacks ();

my $dir = scratch();

# What a tool prints, if it says nothing and is content; else that.
sub shown {
    my $run = in_process(@_);
    return $run->{status} || length $run->{err} ? "$run->{status}: $run->{err}" : $run->{out};
}

my @graph = (['main', [100, 5], ['N::a', 2, [300, 0]], ['N::b', 1, [200, 9]]],
    ['N::a', [100, 0], ['N::c', 4, [200, 0]]], ['N::b', [100, 3], ['N::c', 6, [100, 6]]],
    ['N::c', [300, 6]]);
my $file = spew("$dir/callgrind.out", callgrind_text('Ir Dw', @graph));

subtest 'A call graph is read as a tree' => sub {
    is(shown('dproffold', $file), <<'END', 'callers get shares of a callee');
main 100
main;N::a 100
main;N::a;N::c 200
main;N::b 100
main;N::b;N::c 100
END
    is(shown('dproffold', '-m', 'Dw', $file), <<'END', '-m selects an event');
main 5
main;N::b 3
main;N::b;N::c 6
END
    is(shown('dproffold', '-m', 'calls', $file), <<'END', '-m calls prints calls');
main;N::a 2
main;N::a;N::c 4
main;N::b 1
main;N::b;N::c 6
END
    is(shown('dprofpp', $file), <<'END', 'dprofpp prints a table');
Total = 600 Ir
Exclusive Counts
 %All    Excl  Cumul #Calls   Excl/c Cuml/c  Name
 50.0     300    300     10   30.000 30.000  N::c
 16.7     100    600      0   100.00 600.00  main
 16.7     100    200      1   100.00 200.00  N::b
 16.7     100    300      2   50.000 150.00  N::a
END
    is(shown('dprofreport', '--format=perf', '-m', 'Ir', $file), <<"END", 'dprofreport prints Ir');
# Profile: $file
# Metric: Ir
# Total: 600 Ir
#
Children      Self  Symbol
........  ........  .........

 100.00%     0.00%  (program)
 100.00%    16.67%  main
  50.00%    16.67%  N::a
  50.00%    50.00%  N::c
  33.33%    16.67%  N::b
END
};

subtest 'Compressed, merged and named call graphs are read' => sub {
    IO::Compress::Gzip::gzip($file => "$dir/packed");
    is(shown('dproffold', "$dir/packed"), shown('dproffold', $file),
        'dproffold reads a compressed file');
    is(shown('dprofmerge', '-o', "$dir/merged", $file, $file), '',
        'dprofmerge merges a file with itself without a message');
    is(shown('dproffold', "$dir/merged"), shown('dproffold', $file, $file),
        'the merged stacks are the sums of both files');
    is(join("\n", sort split /\n/, shown('dprofpp', "$dir/merged")),
        join("\n", sort split /\n/, shown('dprofpp', $file, $file)),
            'the merged calls are the sums of both files');
    like(slurp("$dir/merged"), qr/^\$dprof_unit='Ir';\n\$dprof_calls=1;$/m,
        'the merged file names its unit and says that it has calls');
    is(shown('dprofpp', '-V', $file) =~ s/.*?\n//r, "format: callgrind\n",
        'dprofpp -V names the format');
    like(in_process('dprofpp', '-T', $file)->{err},
        qr/this is a file of callgrind, which has no order of calls; use -S/,
            'dprofpp -T of a call graph is an error');
};

subtest 'Call graphs are compared' => sub {
    $graph[3][1][0] += 300;
    $graph[2][2][2][0] += 300;
    $graph[0][3][2][0] += 300;
    my $new = spew("$dir/new.out", callgrind_text('Ir Dw', @graph));
    my $table = shown('dprofdiff', '--format=perf', '-m', 'Ir', $file, $new);
    like($table, qr/^# Metric: Ir, self$/m, 'dprofdiff compares the first event');
    like($table, qr/^ +50\.00% +\+16\.67% +\+300 +\+100\.00% +N::c$/m,
        'dprofdiff prints the growth of the changed sub');
    like($table, qr/^# 4 subs did not change/m, 'dprofdiff finds no change in the other subs');
    like(shown('dprofdiff', '--format=perf', '-m', 'calls', $file, $new), qr/^# Metric: calls/m,
        'dprofdiff -m calls compares calls');
    my $time = spew("$dir/time.out", callgrind_text('Time_(10ns)', ['N::c', [500]]));
    my $ours = spew("$dir/ours", profile_text(format => 'tree', hz => 10_000_000,
        times => [100, 0, 100], subs => ['N c N.pm:12'],
        lines => ['= 0 0 0 0 0 0 0 0', '= 1 1 4 100 0 100 0 0']));
    like(shown('dprofdiff', '--format=perf', $ours, $time), qr/^# New total: 0\.000005\S* s/m,
        'dprofdiff compares times of a call graph with those of a profile');
    is(in_process('dprofdiff', '--format=perf', $ours, $file)->{status}, 1,
        'dprofdiff refuses to compare times with other events');
};

subtest 'Relative lines are read' => sub {
    my $text = join "\n", 'events: Ir', 'fl=m.c', 'fn=main', '16 4', 'cfi=f.c', 'cfn=f',
        'calls=3 +4', '+1 30', 'cfn=g', 'calls=1 -7', '* 2', 'cfn=h', 'calls=1 *', '1 2', '';
    my $out = shown('dprofexport', '--format', 'callgrind', spew("$dir/relative", $text));
    my %begin = $out =~ /^cfn=\(\d+\) ([fgh])\ncalls=\d+ (\d+)$/mg;
    is_deeply(\%begin, { f => 20, g => 10, h => 17 }, 'subs begin at the lines that calls name')
        or diag($out);
};

# What lines have, as a tree has them that dprofmerge makes of files: { FILE:LINE => "CPU REAL" }.
sub merged_lines {
    my ($scale, @files) = @_;
    is(shown('dprofmerge', '-o', "$dir/lined", @files), '',
        'dprofmerge writes the lines without a message');
    my $got = LineReader::read_file("$dir/lined");
    is(join("\n", LineReader::problems($got)), '', 'the lines of the merged tree add up');
    my %lines;
    for my $at (keys %{ $got->{times} }) {
        my ($user, $system, $real) = map { $_ * $scale } @{ $got->{times}{$at} };
        $lines{$at} = $user + $system . " $real";
    }
    return \%lines;
}

subtest 'Lines of a call graph have their costs' => sub {
    my $source = spew("$dir/m.c", "int f() {\n  x();\n}\nint main() {\n  f();\n}\n");
    my $text = join "\n", 'events: Ir Dw', "fl=$source", 'fn=main', '4 5 1', 'cfn=f', 'calls=2 1',
        '5 60 2', 'fn=f', '1 10 2', 'fi=inline.h', '+6 20 0', "fe=$source", '2 30', '';
    my $lined = spew("$dir/lined.out", $text);
    is(shown(qw(dprofreport -s srcline), $lined) =~ s/^(?:#|\.\.).*\n//mgr,
        <<"END", 'dprofreport -s srcline sorts the lines of a call graph');
Children      Self  Source:Line

  46.15%    46.15%  $source:2
  30.77%    30.77%  inline.h:7
  15.38%    15.38%  $source:1
   7.69%     7.69%  $source:4
END
    my @vouched = ('--source-dir', $dir);
    my $text_of_f = shown(qw(dprofreport --annotate f), @vouched, $lined);
    is($text_of_f =~ s/^#.*\n| +$//mgr, <<'END', '--annotate prints the source');
 Children      Self     Count Line
   15.38%    15.38%           1  int f() {
   46.15%    46.15%           2    x();
                              3  }

 Children      Self     Count Line
   30.77%    30.77%           7
END
    like(shown(qw(dprofreport -m Dw --annotate f), @vouched, $lined),
        qr/^ +66\.67% +66\.67% +1  int f/m,
        '--annotate -m prints the shares of another event');
    is_deeply(merged_lines(1, $lined, $lined), { "$source:4" => '10 10', "$source:1" => '20 20',
        'inline.h:7' => '40 40', "$source:2" => '60 60' }, 'lines of two files are added up');
    my $more = spew("$dir/more.out", $text =~ s/^2 30$/2 40/mr);
    like(shown(qw(dprofdiff -m Ir -s srcline), $lined, $more),
        qr/^ +46\.15% +\+7\.18% +\+10 +\+33\.33% +\Q$source\E:2$/m,
            'dprofdiff -s srcline compares lines');
    is(shown(qw(dprofflame -f -o), "$dir/page.html", $lined), '',
        'dprofflame writes a page with lines without a message');
    my ($side) = @{ NaiveStacks::lines_of_page(slurp("$dir/page.html"))->{sides} };
    is_deeply([sort map { s/.*\///r } grep { length } keys %{ $side->{lines} }],
        [qw(inline.h:7 m.c:1 m.c:2 m.c:4)], 'the page has the lines of the call graph');
};

# User, system and real time of user and system time and what was waited.
sub times_of {
    my ($user, $system, $wait) = @_;
    return "$user $system " . ($user + $system + $wait);
}

# A tree of random subs, whose lines have exactly what the subs have.
sub random_tree {
    my @subs = map { "N f$_ lib/" . int($_ / 2) . ".pm:@{[ 10 * $_ + 1 ]}" } 0 .. 5;
    my (@lines, %own, %at, @path);
    for (1 .. 30) {
        splice @path, int rand(@path + 1);
        push @path, int rand @subs;
        my @own = map { int rand 100 } 0 .. 2;
        $own{ $path[-1] }[$_] += $own[$_] for 0 .. 2;
        push @lines, sprintf '= %d %x 1 %s 0 0', scalar @path, $path[-1] + 1, times_of(@own);
    }
    for my $sub (keys %own) {
        my @left = @{ $own{$sub} };
        for my $n (reverse 0 .. 4) {
            my @part = map { $n ? int rand $_ : $_ } @left;
            $left[$_] -= $part[$_] for 0 .. 2;
            my $file = 'lib/' . ($n == 3 ? 'other' : int $sub / 2) . '.pm';
            push @{ $at{$file} }, sprintf '#l %d %x 1 %s', 10 * $sub + 1 + $n, $sub + 1,
                times_of(@part);
        }
    }
    return profile_text(format => 'tree', hz => 1000, complete => 1, subs => \@subs,
        header => "\$dprof_lines='time'; \$dprof_script='p.pl';", times => [0, 0, 0],
        lines => ['= 0 0 1 0 0 0 0 0', @lines, map { ("#f $_", @{ $at{$_} }) } sort keys %at]);
}

subtest 'Random trees with lines are exported and read again' => sub {
    srand($ENV{DPROF_SEED} // 7);
    for my $round (1 .. ($ENV{DPROF_RUNS} || TestEnvironment::rounds(5, 50))) {
        my $ours = spew("$dir/tree", random_tree());
        my $theirs = "$dir/tree.callgrind";
        is(shown('dprofexport', '-o', $theirs, $ours), '',
            "round $round: dprofexport writes a tree as a call graph without a message");
        my ($want, $got) = (merged_lines(1e6, $ours), merged_lines(1, $theirs));
        delete @$want{ grep { $want->{$_} eq '0 0' } keys %$want };
        is_deeply($got, $want,
            "round $round: the lines are the same when they are read again") or last;
        is(shown('dprofexport', '-o', "$dir/again.callgrind", $theirs), '',
            "round $round: dprofexport writes a call graph from a call graph without a message");
        my ($one, $two) = map { read_callgrind(slurp($_))->{lines} } $theirs,
            "$dir/again.callgrind";
        for my $of ($one, $two) {
            $#$_ = 1 for map { values %$_ } values %$of;        # Cpu and Wall
        }
        is_deeply($two, $one,
            "round $round: each function has the same lines after the second export") or last;
    }
};

subtest 'Damaged call graphs give a message' => sub {
    my $says = sub {
        my ($text, $want, $what) = @_;
        my $run = in_process('dprofreport', '--format=perf', spew("$dir/x", $text));
        is("$run->{status} $run->{err}", "1 $dir/x: $want\n", $what);
        is($run->{out}, '', "dprofreport shows nothing of a damaged file: $what");
    };
    my $head = "version: 1\ncreator: x\n";
    $says->($head, "there is no line `events:' (line 3, byte 22)", 'no events');
    $says->("${head}events: Ir\nfn=f\n1 5\n2 x\n", 'this is no cost: x (line 6, byte 42)',
        'a word');
    $says->("${head}events: Ir\nfn=(1)\n1 5\n",
        'no name was given for this number: (1) (line 4, byte 33)', 'a number without a name');
};

subtest 'Counters beyond the limit are left out with a message' => sub {
    my $words = sub { join ' ', map { "E$_" } 1 .. $_[0] };
    my $file = spew("$dir/many", callgrind_text($words->(19), ['main', [1 .. 19]]));
    my $says = "$file: there is no room for these counters: E18 E19 (16 of 18 are read)\n";
    for my $tool ([qw(dprofpp)], [qw(dprofreport)], [qw(dproffold -m E17)],
        [qw(dprofmerge -o), "$dir/few"]) {
        my $run = in_process(@$tool, $file);
        is("$run->{status} $run->{err}", "0 $says",
            "$tool->[0] names the counters that it leaves out");
    }
    is(in_process('dprofreport', '--format=perf', '-f', $file)->{err}, '',
        'dprofreport -f does not name the counters that it leaves out');
    is(shown('dprofpp', spew("$dir/full", callgrind_text($words->(17), ['main', [1 .. 17]])))
        =~ /^Total = 1 E1$/m, 1, 'dprofpp prints no message if there is room for all counters');
};

done_testing;
