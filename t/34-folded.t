# Folded stacks of other profilers agree with a naive model; the tools' messages; merging.
use strict;
use warnings;
use Test::More;
use lib 't/lib';
use DProfTest;
use MadeUp;
use Devel::DProf::Profile;
use IO::Compress::Gzip;
use List::Util 'sum0';
use Math::BigFloat;

my $dir = scratch();
my $state = 1;
sub rnd { $state = ($state * 1103515245 + 12345) % 2**31; ($state >> 8) % $_[0] }

# Reads as Format.pod, "FOLDED STACKS", says, line by line. Returns self and inclusive counts by
# name, with the root's under ''; contexts; bad lines.
sub naive {
    my ($text) = @_;
    my (%flat, %tree, @bad);
    my $n = 0;
    for my $line (split /\n/, $text =~ s/\A\xef\xbb\xbf//r) {
        $n++;
        $line =~ s/[ \t\r]+\z//;
        next if $line eq '' || $line =~ /\A#(?:[ \t]|\z)/;
        if ($line !~ /\A(.*[^ \t])[ \t]+(\d+(?:\.\d*)?)\z/s || $2 >= 2**62) {
            push @bad, $n;
            next;
        }
        my ($stack, $number) = ($1, $2);
        my $count = Math::BigFloat->new($number =~ s/\.\z//r);
        $stack =~ s/\A\(program\)(?:;|\z)//;
        my @frames = map { s/%(3B|2[35]|[01][0-9A-F]|7F)/chr hex $1/gier } grep { length }
            split /;/, $stack;
        $tree{ join ';', @frames[0 .. $_] } //= Math::BigFloat->bzero for 0 .. $#frames;
        $tree{ join ';', @frames } += $count;
        my %seen;
        $flat{$_} //= [Math::BigFloat->bzero, Math::BigFloat->bzero] for @frames, '';
        $flat{ @frames ? $frames[-1] : '' }[0] += $count;
        $flat{$_}[1] += $count for grep { !$seen{$_}++ } @frames, '';
    }
    return (\%flat, \%tree, \@bad);
}

sub in_units { my ($ticks, $hz) = @_; (Math::BigFloat->new($ticks) / $hz)->bstr }

sub check {
    my ($what, $text) = @_;
    my ($flat, $tree, $bad) = naive($text);
    my $profile = Devel::DProf::Profile->new;
    $profile->add(spew("$dir/folded.out", $text));
    my $o = $profile->outcome(0);
    my $good = is($o->{fault_count}, @$bad,
        "$what: as many lines are bad as in the model") || diag explain $o;
    my @named = @$bad[0 .. ($#$bad < 9 ? $#$bad : 9)];
    $good &&= is_deeply([map { $_->{line} } @{ $o->{faults} }], \@named,
        "$what: the same lines are bad");
    for my $time (qw(CPU USER REAL)) {
        my $number = Devel::DProf::Profile->can($time)->();
        my @rows = $profile->rows({ time => $number, order => Devel::DProf::Profile::UNSORTED });
        my %got = map { (bytes($_->[0]) => [map { in_units($_, $profile->hz) } @$_[2, 3]]) } @rows;
        my $root = Math::BigFloat->new($profile->total($number));
        $got{''} = [map { in_units($_, $profile->hz) } $root - sum0(map { $_->[2] } @rows), $root];
        my %want = map { ($_ => [map { $_->bstr } @{ $flat->{$_} }]) } keys %$flat;
        $good &&= is_deeply(\%got, \%want, "$what: $time counts are those of the model");
    }
    $good &&= is($profile->contexts, 1 + grep({ length } keys %$tree),
        "$what: as many contexts as in the model");
    $good &&= is(scalar(grep { $_->[1] } $profile->rows({})), 0, "$what: no sub has calls");
    return $good;
}

sub bytes { my ($s) = @_; utf8::encode($s) if utf8::is_utf8($s); $s }

# Makes stacks such as profilers write: sorted or not, names that begin alike, recursion, fractions,
# and sometimes rubbish.
sub random_text {
    my ($seed) = @_;
    $state = $seed * 7919 + 1;
    my @names = ('a', 'aa', 'ab', 'a::b', 'a::bb', 'main::run', 'main::r', "caf\xc3\xa9",
        "\xff\x80", 'f(int, char)', 'List::Util::first',
        'thread 12', '[unknown]', 'x_[k]', 'g+0x1f', '%3Bx', '100%', '%25', 'CORE:print', '::y',
        'y::', '#z', '(program)', ' lead');
    my $hostile = rnd(3) == 0;
    my $fractions = rnd(3) == 0;
    my @lines = map {
        my @frames = map { $names[rnd(rnd(2) ? 6 : scalar @names)] } 0 .. rnd(rnd(9) ? 7 : 60);
        my $count = rnd(9) ? rnd(1000) : rnd(2) ? 0 : 12345678 + rnd(99) * 1e9;
        $count .= '.' . ('', 5, 25, '0', '001', '1250')[rnd(6)] if $fractions && !rnd(4);
        join(rnd(50) || !$hostile ? ';' : ';;', @frames) . ' ' . $count;
    } 0 .. rnd(200);
    @lines = sort @lines if rnd(2);
    if ($hostile) {
        my @rubbish = ('rubbish', 'a -1', 'a nan', '7', ' 7', '', '# a 5', '#', "\t ", 'a 1e3',
            ';a 3', 'a; 3', '; 2', 'a 3 ', "a\t3",
            '(program) 5', '(program);a 5', 'a 99999999999999999999', 'a .5', "z\0 4", 'x y');
        splice @lines, 1 + rnd(scalar @lines), 0, $rubbish[rnd(scalar @rubbish)] for 1 .. rnd(40);
    }
    my $end = $hostile && rnd(2) ? "\r\n" : "\n";
    return ($hostile && rnd(2) ? "\xef\xbb\xbf" : '') . join($end, @lines) . (rnd(2) ? $end : '');
}

subtest 'Random text reads as the naive model reads it' => sub {
    for my $seed (1 .. ($ENV{DPROF_RUNS} || TestEnvironment::rounds(3, 25))) {
        my $text = random_text($seed);
        next if check("seed $seed", $text);
        diag("seed $seed");
        last;
    }
    check('nothing but the root', "(program) 5\n");
};

my $plain = spew("$dir/plain", "main;a;b 10\nmain;a 5\nmain;c 7\n(program) 3\n");

subtest 'dprofpp prints folded stacks, plain or compressed, from a file or a pipe' => sub {
    my ($table, $err, $status) = dprofpp($plain);
    is($status . $err, '0', 'folded stacks are read without a message');
    is($table, <<'END', 'the report has the counts');
Total = 25 (unit unknown)
Exclusive Counts
 %All    Excl  Cumul #Calls   Excl/c Cuml/c  Name
 40.0      10     10      -        -      -  b
 28.0       7      7      -        -      -  c
 20.0       5     15      -        -      -  a
 0.00       0     22      -        -      -  main
END
    IO::Compress::Gzip::gzip($plain => "$dir/packed");
    is((dprofpp("$dir/packed"))[0], $table, 'gzipped stacks give the same report');
    is((dprofpp({ stdin => $plain }, '-'))[0], $table, 'standard input gives the same report');
    my @piped = ('sh', '-c', 'file=$1; shift; cat "$file" | "$@"', 'sh', $plain);
    is(run_program([@piped, tool_command('dprofpp', '-')])->{out}, $table,
        'a pipe gives the same report');
};

subtest 'Compressed text that breaks off counts as far as its lines are whole' => sub {
    spew("$dir/cut", substr slurp("$dir/packed"), 0, -12);
    my (undef, $said, $rc) = dprofpp("$dir/cut");
    like($said, qr/^\Q$dir\E\/cut: profile cut short: the compressed data break off/,
        'a message says that compressed stacks break off');
    is($rc, 0, 'compressed stacks that break off give no error status');
    my $long = spew("$dir/long", join '', map { 'name' . rnd(1e9) . " 1000\n" } 1 .. 2000);
    IO::Compress::Gzip::gzip($long => "$dir/long.gz");
    my $packed = slurp("$dir/long.gz");
    my %total;
    for my $cut (1 .. 60) {
        my $profile = Devel::DProf::Profile->new;
        $profile->add(spew("$dir/cut", substr $packed, 0, -7 * $cut));
        $total{ $profile->total / 1000 }++;
    }
    ok(keys %total > 20 && !grep({ /\D/ } keys %total),
        'a count cut off at the end of the data is not used')
        or diag explain \%total;
};

subtest 'A declared unit is the one of the report' => sub {
    like((dprofpp('--unit', 'samples', $plain))[0], qr/\ATotal = 25 samples\n/,
        '--unit=samples prints samples');
    like((dprofpp('--unit=ms', $plain))[0],
        qr/\ATotal Elapsed Time = +0\.025 Seconds\n.* 40\.0 +0\.010 +0\.010 +- +- +-  b\n/s,
        '--unit=ms prints seconds');
    like((dprofpp('--unit=calls', '-l', $plain))[0], qr/^ 40\.0 +10 +10 +10 +1\.0000 1\.0000  b\n/m,
        '--unit=calls prints calls');
    is((dprofpp('--unit', 'a b', $plain))[2], 2, '--unit refuses a word that is no unit');
    is((dprofpp('-S', $plain))[0],
        "main  \t22 = (0 + 22)\n  a  \t15 = (5 + 10)\n    b  \t10\n  c  \t7\n",
        '-S prints the tree');
    like((dprofpp('-S', spew("$dir/frac", "a 1.5\na;b 2\n")))[0],
        qr/^a  \t3\.5 = \(1\.5 \+ 2\.0\)$/m,
        '-S prints fractions');
    for my $flag (qw(-T -t)) {
        is_deeply([dprofpp($flag, $plain)],
            ['', "$plain: these are folded stacks, which have no order of calls; use -S\n", 1],
            "$flag of folded stacks is an error");
    }
    is((dprofpp('-V', $plain))[0] =~ s/.*\n//r, "format: folded\n", '-V names the format');
};

# Checks what dprofpp says of a text; returns the report that it makes in spite of that.
sub says {
    my ($what, $text, $want, $want_status, @args) = @_;
    spew("$dir/x.out", $text);
    my ($out, $err, $status) = dprofpp({ dir => $dir }, @args, 'x.out');
    is($err, $want, "the message is as expected: $what");
    is($status, $want_status, "the exit status is as expected: $what");
    return $out;
}
subtest 'Lines that are no stacks give a message, and the others count' => sub {
    like(says('a bad line', "a;b 5\nrub\e[1mbish\na 2\n",
        "x.out: there is no count at the end of the line: rub\\x1b[1mbish (line 2, byte 6)\n", 1),
        qr/^ 71\.4 +5 +5 .*b\n 28\.6 +2 +7 .*a\n/m, 'lines beside a bad one are counted');
    says('many', "a 1\n" x 15 . "bad line\n" x 15,
        join('', map { "x.out: there is no count at the end of the line: bad line (line $_, byte "
            . (60 + 9 * ($_ - 16)) . ")\n" } 16 .. 25)
        . "x.out: ... and 5 more lines that cannot be read\n", 1);
    says('negative', "a -5\nb 1\n", "x.out: the count is negative: -5 (line 1, byte 0)\n", 1);
    is(says('two counts', "a;b 3 5\nc 0 1\n",
        'x.out: these are folded stacks with two counts on each line, those of two profiles '
        . "(difffolded.pl makes them); give the two that it was made of (line 1, byte 0)\n", 1), '',
        'stacks with two counts give no report');
    my $record = "; dprof run -- perl PROGRAM records one\n";
    is(says('empty', '', "Not a perl profile: x.out (it is empty)$record", 1), '',
        'an empty file gives no report');
    is(says('comments alone', "# a 5\n\n", "Not a perl profile: x.out$record", 1), '',
        'comments alone give no report');
    is(says('a text', "This is text.\na 5\n", 'x.out: this is no profile: its lines look like '
        . "folded stacks, but there is no count at the end of line 1: This is text.\n", 1), '',
        'a text gives no report');
    is(says('a text below a comment', "# first\n\nThis is text.\na 5\nb;c 6\n", 'x.out: this is no '
        . 'profile: its lines look like folded stacks, but there is no count at the end of line 3: '
        . "This is text.\n", 1), '', 'a text below a comment gives a message that names its line');
    is(says('a text that begins with a number',
        "Chapter 1\nThis is text.\nAnd more.\nPage 1\nof it.\n",
        "Not a perl profile: x.out$record", 1), '',
        'a text that begins with a number gives no report');
};

my $small = sub { pack "$_[0]*", 0, 3, 0, 10000, 0, 1, 2, 3 };
my %foreign = (
    perf => ["PERFILE2\x68\0\0\0\0\0\0\0" . "\0" x 200, "2ELIFREP\0\0\0\0\0\0\0\x68" . "\0" x 200],
    pprof => [map { $small->($_) } qw(L< L> Q< Q>)],
);

# Every reader of profiles names the foreign tool and says what to do, for packed files, too.
subtest 'Files of other tools are recognized' => sub {
    for my $tool (sort keys %foreign) {
        for my $text (@{ $foreign{$tool} }) {
            my $file = spew("$dir/foreign", $text);
            IO::Compress::Gzip::gzip($file => "$dir/foreign.gz");
            for my $path ($file, "$dir/foreign.gz") {
                my @run = dprofpp($path);
                like($run[1], qr/\A\Q$path\E:\ this\ is\ a\ file\ of\ \Q$tool\E\b[^:]*:\ [^\n]*makes
                    \ (?:folded\ stacks|text|one)\ of\ it[^\n]*\n\z/x,
                    "$tool: one line names the tool of a foreign file");
                is("$run[0]$run[2]", 1, "$tool: a foreign file gives no report");
            }
            is_deeply([dprofpp('-T', $file)], [dprofpp($file)],
                "$tool: dprofpp -T gives the same line");
        }
    }
};

subtest 'Files that only look foreign are read' => sub {
    for my $text ("version: 1\n", "desc: 3\nmain;a 5\n", "NYTProf::f;g 3\n",
        "NYTProf 12\n", "NYTProf 12\nNYTProf;a 3\n", "PERFILE 2\n") {
        is((dprofpp(spew("$dir/alike", $text)))[2], 0,
            "a text that begins like a foreign file is read: $text");
    }
};

my $trace = spew("$dir/trace.out", profile_text(format => 'classic',
    times => [5, 0, 5], lines => ['& 2 main a', '+ 2', '@ 5 0 5', '- 2']));

subtest 'Folded stacks beside other files need a unit' => sub {
    my (undef, $err, $status) = dprofpp($trace, $plain);
    is($err,
        "$plain: its times are in an unknown unit, those of the other files in s; "
            . "--unit declares that of folded stacks\n",
                'a message names files of different units');
    is($status, 1, 'files of different units give status 1');
    (my $table, $err, $status) = dprofpp('--unit', 'ms', $trace, $plain);
    is($status . $err, '0', 'a trace and folded stacks of a declared unit are read');
    like($table, qr/Elapsed Time = +0\.075 Seconds/,
        'a trace and folded stacks of a declared unit are added up');
    is((dprofpp($plain, $plain))[0] =~ s/.*\n.*\n.*\n//r,
        <<'END', 'the counts of a file that is named twice are doubled');
 40.0      20     20      -        -      -  b
 28.0      14     14      -        -      -  c
 20.0      10     30      -        -      -  a
 0.00       0     44      -        -      -  main
END
};

sub dprofmerge {
    my $run = run_tool('dprofmerge', [@_]);
    spew("$dir/merged", $run->{out});
    return (@$run{qw(err status)});
}

subtest 'dprofmerge adds up folded stacks in any order' => sub {
    is_deeply([dprofmerge('--unit=samples', $plain, "$dir/frac")], ['', 0],
        'dprofmerge takes folded stacks');
    my $merged = slurp("$dir/merged");
    like($merged, qr/^\$dprof_unit='samples';$/m, 'the merged file has the unit');
    like((dprofpp("$dir/merged"))[0],
        qr/\ATotal = 28\.5 samples\n.*\n.*\n 42\.1 +12\.0 +12\.0 +- +- +-  b\n/,
        'dprofpp reads the merged file');
    dprofmerge('--unit=samples', "$dir/frac", $plain);
    is(slurp("$dir/merged"), $merged, 'the order of files does not matter');
    dprofmerge($plain);
    like((dprofpp("$dir/merged"))[0], qr/\ATotal = 25 \(unit unknown\)\n/,
        'without --unit the unit is unknown');
    is_deeply([dprofmerge($trace, $plain)],
        ["$plain: its times are in an unknown unit, those of the other files in s; "
        . "--unit declares that of folded stacks\n$plain is left out\n", 1],
            'dprofmerge refuses a trace beside stacks of an unknown unit');
    is_deeply([dprofmerge('--unit', 'us', $trace, $plain)], ['', 0],
        'dprofmerge takes both when the unit is known');
    like(slurp("$dir/merged"), qr/^\$dprof_unit='s';$/m, 'the merged file is in seconds');
};

done_testing;
