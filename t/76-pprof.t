# Profiles of pprof in the tools: made-up ones against a naive sum; which value is shown; what the
# tools say of damaged ones. t/c/25-pprof.c tries each field of the format.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest qw(scratch slurp spew run_program tool_command in_process);
use Foreign 'pprof_bytes';
use IO::Compress::Gzip;
use LineReader;
use MadeUp;

my $dir = scratch();
my $n = 0;
srand($ENV{DPROF_SEED} // 7);

sub file { return spew($dir . '/' . ++$n . '.pb', pprof_bytes(@_)) }

# What a tool prints, if it says nothing and is content; else that.
sub shown {
    my $run = in_process(@_);
    return $run->{status} || length $run->{err} ? "$run->{status}: $run->{err}" : $run->{out};
}

subtest 'Random pprof files are read exactly' => sub {
    my @types = (['calls', 'count'], ['ops', 'count'], ['heap', 'bytes'], ['cpu', 'nanoseconds'],
        ['wall', 'microseconds']);
    my @names = ('main::run', 'N::b', 'CORE:open', "caf\xc3\xa9", "\xff\x80", 'f(int, char)',
        'N::__ANON__[x.pl:5]', 'CORE::GLOBAL::die', '::y');
    for my $round (1 .. ($ENV{DPROF_RUNS} || TestEnvironment::rounds(3, 30))) {
        my (%stacks, @samples);
        for (1 .. 1 + rand 60) {
            my @frames = map { $names[rand @names] } 1 .. 1 + rand 6;
            my @values = map { int rand 1000 } @types;
            push @samples, [\@frames, \@values];
            $stacks{ join ';', @frames }[$_] += $values[$_] for 0 .. $#types;
        }
        my $file = file(types => \@types, samples => \@samples);
        my $of = sub {
            my ($type, $factor) = @_;
            return join '', map { "$_ " . $stacks{$_}[$type] * $factor . "\n" }
                grep { $stacks{$_}[$type] } sort keys %stacks;
        };
        my $good = is(shown('dproffold', '--unit', 'ns', $file), $of->(3, 1),
            "round $round: dproffold prints the cpu time of a pprof file");
        $good &&= is(shown('dproffold', qw(--unit ns -m real), $file), $of->(4, 1000),
            "round $round: dproffold prints the real time of a pprof file");
        $good &&= is(shown('dproffold', '-m', $types[$_][0], $file), $of->($_, 1),
            "round $round: dproffold prints the values of $types[$_][0]") for 0 .. 2;
        $good or diag($file), last;
    }
};

my @samples = ([['main', 'N::f'], [3, 40]], [['main', 'N::f', 'N::g'], [1, 60]],
    [['main'], [0, 20]]);
my %space = (types => [['inuse_objects', 'count'], ['inuse_space', 'bytes']]);
my $heap = file(%space, samples => \@samples, places => { 'N::f' => ['N.pm', 12] });

subtest 'Bytes and objects stand in the place of times' => sub {
    my $bytes = "main 20\nmain;N::f 40\nmain;N::f;N::g 60\n";
    is(shown('dproffold', $heap), $bytes, 'dproffold prints the last type of a file');
    is(shown('dproffold', '-m', $_, $heap), $bytes,
        "dproffold -m $_ prints the bytes") for qw(bytes inuse_space);
    my $objects = "main;N::f 3\nmain;N::f;N::g 1\n";
    is(shown('dproffold', '-m', 'inuse_objects', $heap), $objects,
        'dproffold -m prints another type');
    is(shown('dproffold', file(%space, samples => \@samples, default => 'inuse_objects')),
        $objects, 'dproffold prints the default type that the file names');
    is(shown('dprofreport', '--format=perf', '-m', 'bytes', $heap),
        <<"END", 'dprofreport prints bytes with their unit');
# Profile: $heap
# Metric: bytes
# Total: 120 bytes
#
Children      Self  Symbol
........  ........  .........

 100.00%     0.00%  (program)
 100.00%    16.67%  main
  83.33%    33.33%  N::f
  50.00%    50.00%  N::g
END
    like(shown('dprofpp', $heap), qr/^Total = 120 bytes\n.*^ 50\.0 .* -  N::g$/ms,
        'dprofpp prints bytes without calls');
    is(in_process('dproffold', '-m', 'alloc_space', $heap)->{err},
        <<"END", 'the message of an unknown type lists the types of the file');
there is no metric alloc_space
$heap has cpu, user, system, real, inuse_objects, inuse_space
END
};

subtest 'Compressed, piped and merged pprof files have the same stacks' => sub {
    my $want = shown('dproffold', $heap);
    IO::Compress::Gzip::gzip($heap => "$dir/packed");
    is(shown('dproffold', "$dir/packed"), $want, 'dproffold reads a compressed file');
    my @piped = ('sh', '-c', 'file=$1; shift; cat "$file" | "$@"', 'sh', $heap);
    is(run_program([@piped, tool_command('dproffold', '-')])->{out}, $want,
        'dproffold reads a pipe');
    is(shown('dprofmerge', '-o', "$dir/merged", $heap), '',
        'dprofmerge writes a tree of a pprof file without a message');
    is(shown('dproffold', "$dir/merged"), $want, 'the merged tree has the stacks of the file');
    is(shown('dproffold', '-m', 'inuse_objects', "$dir/merged"),
        shown('dproffold', '-m', 'inuse_objects', $heap),
            'the merged tree has the objects of the file');
    is(shown('dprofpp', "$dir/merged"), shown('dprofpp', $heap), 'the merged tree has no calls');
};

subtest 'Times of a pprof file are compared with those of a profile' => sub {
    my $ours = spew("$dir/ours", profile_text(format => 'tree', hz => 10_000_000,
        times => [900, 0, 900], subs => ['main run x.pl:1', 'N f N.pm:12'],
        lines => ['= 0 0 0 0 0 0 0 0', '= 1 1 1 300 0 300 0 0', '= 2 2 4 600 0 600 0 0']));
    my $theirs = file(samples => [[['main::run'], [30_000]], [['main::run', 'N::f'], [90_000]]]);
    my $table = shown('dprofdiff', '--format=perf', $ours, $theirs);
    like($table, qr/^# Metric: user\+system time/m, 'dprofdiff compares times');
    like($table, qr/^# Baseline total: 0\.00009\S* s$/m,
        'dprofdiff prints the total of the profile');
    like($table, qr/^# New total: 0\.00012\S* s/m, 'dprofdiff prints the total of the pprof file');
    like($table, qr/\bN::f$/m, 'dprofdiff pairs a sub that both sides have');
    my $run = in_process('dprofdiff', '--format=perf', $ours, $heap);
    is($run->{status}, 1, 'dprofdiff refuses to compare times with bytes');
    like($run->{err}, qr/^the sides have different units; .*^\Q$ours\E: times\n\Q$heap\E: bytes$/ms,
        'the message names what each side counts');
};

subtest 'A profile that is exported as pprof and read again is the same' => sub {
    my $ours = 't/data/shop-new.out';
    my $theirs = "$dir/shop.pb.gz";
    is(shown('dprofexport', '--format', 'pprof', '-o', $theirs, $ours), '',
        'dprofexport writes a pprof file without a message');
    for my $metric (qw(cpu real calls)) {
        my @fold = ('dproffold', '-m', $metric, $metric eq 'calls' ? () : qw(--unit ns));
        is(shown(@fold, $theirs), shown(@fold, $ours), "the exported file has the same $metric");
    }
    like(in_process('dprofdiff', '--format=perf', $ours, $theirs)->{out},
        qr/^# 9 subs did not change/m,
        'dprofdiff finds no difference between a profile and its export');
    my $diff = in_process('dprofdiff', '--format=perf', 't/data/shop-old.out', $theirs)->{out};
    like($diff, qr/ Shop::__ANON__\[lib\/Shop\.pm:5\]  lib\/Shop\.pm:3$/m,
        'dprofdiff pairs anonymous subs of a profile and its export');
};

subtest 'The lines of a pprof file are read' => sub {
    my @types = (['inuse_objects', 'count'], ['cpu', 'nanoseconds']);
    my $file = file(types => \@types, places => { main => ['x.go', 3], f => ['x.go', 9] },
        samples => [[['main', 'f'], [1, 40]], [['main', 'f', 'f'], [2, 50]], [['main'], [1, 8]],
            [['main', 'g'], [0, 2]]]);
    my @report = (qw(dprofreport -s srcline --format csv));
    my @lines = shown(@report, $file) =~ /\b(x\.go:\d+)$/mg;
    is("@lines", 'x.go:9 x.go:3', 'dprofreport -s srcline sorts the lines of a pprof file');
    my $heap = file(places => { f => ['x.go', 9], g => ['x.go', 5] }, %space,
        samples => [[['f'], [0, 70]], [['g'], [4, 0]]]);
    @lines = shown(@report, '-m', 'inuse_objects', $heap) =~ /\b(x\.go:\d+)$/mg;
    is($lines[0], 'x.go:5', 'a line that has only another counter is a row of its own');
    is(shown('dprofmerge', '-o', "$dir/lined", $file), '',
        'dprofmerge merges a file with lines without a message');
    my $got = LineReader::read_file("$dir/lined");
    is(join("\n", LineReader::problems($got)), '', 'the lines of the merged tree add up');
    is_deeply({ map { $_ => $got->{times}{$_}[2] } keys %{ $got->{times} } },
        { 'x.go:3' => 8, 'x.go:9' => 90, ':0' => 2 },
            'the merged tree has the lines of the innermost functions');
    my $ours = spew("$dir/tree", profile_text(format => 'tree', hz => 1000, complete => 1,
        header => "\$dprof_lines='time'; \$dprof_script='p.pl';",
        subs => ['N f a.pm:1', 'N g b.pm:9'],
        lines => ['= 0 0 1 0 0 0 0 0', '= 1 1 2 5 0 9 0 0', '= 2 2 3 4 1 6 0 0', '#f a.pm',
            '#l 2 1 1 2 0 3', '#l 3 1 1 3 0 6', '#f b.pm', '#l 12 2 3 4 1 6']));
    is(shown('dprofexport', '-o', "$dir/tree.pb.gz", $ours), '',
        'dprofexport writes the lines of a tree without a message');
    is(shown('dprofmerge', '-o', "$dir/again", "$dir/tree.pb.gz"), '',
        'dprofmerge reads the exported lines without a message');
    my $lines = LineReader::read_file("$dir/again")->{times};
    is_deeply({ map { $_ => "$lines->{$_}[0] $lines->{$_}[2]" } keys %$lines },
        { 'a.pm:2' => '2000000 3000000', 'a.pm:3' => '3000000 6000000',
            'b.pm:12' => '5000000 6000000' },
                'exported lines are the same when they are read again');
};

subtest 'The labels of a pprof file become phases' => sub {
    my $file = file(samples => [[['run'], [5], 'RUN'], [['load'], [7], 'BEGIN'], [['run'], [1]]]);
    is(shown('dproffold', '--unit', 'ns', $file), "load 7\nrun 6\n",
        'phases are no frames of folded stacks');
    like(shown('dprofreport', '--format=perf', '-s', 'phase', $file),
        qr/53\.85%\s+BEGIN\n.*38\.46%\s+RUN\n/s,
        'dprofreport -s phase prints the phases');
};

subtest 'Damaged pprof files and unfit options give a message' => sub {
    my $whole = slurp($heap);
    like(in_process('dprofreport', '--format=perf', spew("$dir/x.pb", substr $whole, 0, -2))->{err},
        qr{\A\Q$dir\E/x\.pb: it is cut off or damaged: [^\n]* \(byte \d+\); record it again\n\z},
        'a file that was cut is an error');
    IO::Compress::Gzip::gzip($heap => "$dir/packed");
    my $packed = slurp("$dir/packed");
    my $half = spew("$dir/x.pb", substr $packed, 0, length($packed) - 12);
    like(in_process('dprofreport', '--format=perf', $half)->{err},
        qr{\A\Q$dir\E/x\.pb: the compressed data break off \(byte \d+\); record it again\n\z},
            'a compressed file that was cut is an error');
    like(in_process('dprofpp', '-T', $heap)->{err},
        qr/this is a file of pprof, which has no order of calls; use -S/,
            'dprofpp -T of a pprof file is an error');
    like(in_process('dprofflame', '--flamechart', '-o', "$dir/chart.svg", $heap)->{err},
        qr/a file of pprof has no order of calls, as a chart needs it/,
            'a flame chart of a pprof file is an error');
    is(shown('dprofpp', '-V', $heap) =~ s/.*?\n//r, "format: pprof\n",
        'dprofpp -V names the format');
};

done_testing;
