# Files of callgrind in the tools: what they show of a call graph, which value, and what they say of
# damaged ones. t/c/26-callgrind.c tries each line of the format, and random call graphs.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew in_process);
use Foreign 'callgrind_text';
use IO::Compress::Gzip;
use MadeUp;

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

subtest 'A call graph, as a tree' => sub {
    is(shown('dproffold', $file), <<'END', 'folded: shares of the callers');
main 100
main;N::a 100
main;N::a;N::c 200
main;N::b 100
main;N::b;N::c 100
END
    is(shown('dproffold', '-m', 'Dw', $file), <<'END', 'another event');
main 5
main;N::b 3
main;N::b;N::c 6
END
    is(shown('dproffold', '-m', 'calls', $file), <<'END', 'calls');
main;N::a 2
main;N::a;N::c 4
main;N::b 1
main;N::b;N::c 6
END
    is(shown('dprofpp', $file), <<'END', 'a table');
Total = 600 Ir
Exclusive Counts
 %All    Excl  Cumul #Calls   Excl/c Cuml/c  Name
 50.0     300    300     10   30.000 30.000  N::c
 16.7     100    600      0   100.00 600.00  main
 16.7     100    200      1   100.00 200.00  N::b
 16.7     100    300      2   50.000 150.00  N::a
END
    is(shown('dprofreport', '-m', 'Ir', $file), <<"END", 'a report');
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

subtest 'Packed, merged, named' => sub {
    IO::Compress::Gzip::gzip($file => "$dir/packed");
    is(shown('dproffold', "$dir/packed"), shown('dproffold', $file), 'packed');
    is(shown('dprofmerge', '-o', "$dir/merged", $file, $file), '', 'two are merged');
    is(shown('dproffold', "$dir/merged"), shown('dproffold', $file, $file), '... as they add up');
    is(join("\n", sort split /\n/, shown('dprofpp', "$dir/merged")),
        join("\n", sort split /\n/, shown('dprofpp', $file, $file)), '... with their calls');
    like(slurp("$dir/merged"), qr/^\$dprof_unit='Ir';\n\$dprof_calls=1;$/m, '... which is told');
    is(shown('dprofpp', '-V', $file) =~ s/.*?\n//r, "format: callgrind\n", 'what it is');
    like(in_process('dprofpp', '-T', $file)->{err},
        qr/this is a file of callgrind, which has no order of calls; use -S/, 'no order of calls');
};

subtest 'Compared' => sub {
    $graph[3][1][0] += 300;
    $graph[2][2][2][0] += 300;
    $graph[0][3][2][0] += 300;
    my $new = spew("$dir/new.out", callgrind_text('Ir Dw', @graph));
    my $table = shown('dprofdiff', '-m', 'Ir', $file, $new);
    like($table, qr/^# Metric: Ir, self$/m, 'by the first event');
    like($table, qr/^ +50\.00% +\+16\.67% +\+300 +\+100\.00% +N::c$/m, 'what came to it');
    like($table, qr/^# 4 subs did not change/m, '... and to no other');
    like(shown('dprofdiff', '-m', 'calls', $file, $new), qr/^# Metric: calls/m, 'by calls');
    my $time = spew("$dir/time.out", callgrind_text('Time_(10ns)', ['N::c', [500]]));
    my $ours = spew("$dir/ours", profile_text(format => 'tree', hz => 10_000_000,
        times => [100, 0, 100], subs => ['N c N.pm:12'],
        lines => ['= 0 0 0 0 0 0 0 0', '= 1 1 4 100 0 100 0 0']));
    like(shown('dprofdiff', $ours, $time), qr/^# New total: 0\.000005\S* s/m, 'times with times');
    is(in_process('dprofdiff', $ours, $file)->{status}, 1, '... and not with others');
};

subtest 'Lines that are relative to the one before' => sub {
    my $text = join "\n", 'events: Ir', 'fl=m.c', 'fn=main', '16 4', 'cfi=f.c', 'cfn=f',
        'calls=3 +4', '+1 30', 'cfn=g', 'calls=1 -7', '* 2', 'cfn=h', 'calls=1 *', '1 2', '';
    my $out = shown('dprofexport', '--format', 'callgrind', spew("$dir/relative", $text));
    my %begin = $out =~ /^cfn=\(\d+\) ([fgh])\ncalls=\d+ (\d+)$/mg;
    is_deeply(\%begin, { f => 20, g => 10, h => 17 }, 'subs begin where their calls go')
        or diag($out);
};

subtest 'What cannot be read' => sub {
    my $says = sub {
        my ($text, $want, $what) = @_;
        my $run = in_process('dprofreport', spew("$dir/x", $text));
        is("$run->{status} $run->{err}", "1 $dir/x: $want\n", $what);
        is($run->{out}, '', '... and nothing is shown');
    };
    my $head = "version: 1\ncreator: x\n";
    $says->($head, "there is no line `events:' (line 3, byte 22)", 'no events');
    $says->("${head}events: Ir\nfn=f\n1 5\n2 x\n", 'this is no cost: x (line 6, byte 42)',
        'a word');
    $says->("${head}events: Ir\nfn=(1)\n1 5\n",
        'no name was given for this number: (1) (line 4, byte 33)', 'a number without a name');
};

subtest 'More counters than there is room for' => sub {
    my $words = sub { join ' ', map { "E$_" } 1 .. $_[0] };
    my $file = spew("$dir/many", callgrind_text($words->(19), ['main', [1 .. 19]]));
    my $says = "$file: there is no room for these counters: E18 E19 (16 of 18 are read)\n";
    for my $tool ([qw(dprofpp)], [qw(dprofreport)], [qw(dproffold -m E17)],
        [qw(dprofmerge -o), "$dir/few"]) {
        my $run = in_process(@$tool, $file);
        is("$run->{status} $run->{err}", "0 $says", "$tool->[0] says which");
    }
    is(in_process('dprofreport', '-f', $file)->{err}, '', '... and with -f does not');
    is(shown('dprofpp', spew("$dir/full", callgrind_text($words->(17), ['main', [1 .. 17]])))
        =~ /^Total = 1 E1$/m, 1, 'nothing is said where there is room');
};

done_testing;
