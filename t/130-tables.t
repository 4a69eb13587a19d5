# Every view that Perl makes has every format: text, CSV, JSON, Markdown and HTML are parsed, and
# agree about names that are hostile to each of them.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use Test::More;
use Compress::Zlib ();
use Cwd ();
use DProfTest qw(scratch slurp spew in_process);
use JSON::PP ();
use MadeUp;
use Scalar::Util ();
use Devel::DProf::Compare::AnnotateDiff;
use Devel::DProf::Compare::Baseline;
use Devel::DProf::Constants qw(words_of);
use Devel::DProf::Live::Rates;
use Devel::DProf::Compare::Suite;
use Devel::DProf::Table;
use Devel::DProf::Tool::Dproflist;
use Devel::DProf::Tool::Dproftop;
use Devel::DProf::Live::Top;

my $dir = scratch();
my %format = words_of('format');
my @FORMATS = qw(text csv json markdown html);
# A spreadsheet takes it for a formula, Markdown for cells, HTML for a tag, CSV for two fields.
my $PACKAGE = '=1+1|<b>"x,';
my $SUB = "${PACKAGE}::f`|";

# ---- readers of formats ----

# Returns the records of CSV, by RFC 4180; dies where it is none.
sub csv {
    my ($text) = @_;
    my (@records, @record);
    while ((pos($text) // 0) < length $text) {
        $text =~ /\G(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n])/gc
            or die 'no CSV: ' . substr $text, pos($text) // 0, 60;
        my ($quoted, $plain, $end) = ($1, $2, $3);
        push @record, defined $quoted ? $quoted =~ s/""/"/gr : $plain;
        next if $end eq ',';
        push @records, [@record];
        @record = ();
    }
    return @records;
}

# Returns what CSV has for a value of JSON.
sub in_csv {
    my ($value) = @_;
    return '' if !defined $value;
    return $value ? 'true' : 'false' if ref $value;
    return $value =~ /\A *[=+\-@]/ && !Scalar::Util::looks_like_number($value) ? "'$value" : $value;
}

sub json { return JSON::PP->new->utf8->decode($_[0]) }

# Checks what a view prints in each format. PRINT takes a format. HOW: rows, the key of the rows in
# JSON; column, which has $SUB in some row.
sub agree {
    my ($name, $print, %how) = @_;
    my %text = map { $_ => $print->($_) } @FORMATS;
    my $json = eval { json($text{json}) } or return fail("$name: JSON can be parsed: $@");
    my @keys = map { $_->{key} } @{ $json->{columns} };
    my @rows = @{ $json->{ $how{rows} // 'rows' } };
    cmp_ok(scalar @rows, '>', 0, "$name: the table has rows");
    is_deeply([grep { join(' ', sort keys %$_) ne join ' ', sort @keys } @rows], [],
        "$name: JSON has each column in each row");
    is(scalar(grep { ($_->{ $how{column} } // '') eq $how{name} } @rows) > 0, 1,
        "$name: JSON has the hostile name") if $how{column};
    my ($head, @records) = csv($text{csv});
    is_deeply($head, \@keys, "$name: CSV has the columns of JSON");
    # A number may have zeros at its end, which JSON::PP does not keep.
    @records = map { [map { Scalar::Util::looks_like_number($_) ? $_ + 0 : $_ } @$_] } @records;
    is_deeply(\@records, [map { my $row = $_; [map { in_csv($_) } @$row{@keys}] } @rows],
        "$name: CSV has the rows of JSON");
    is(scalar @records, scalar @rows, "$name: CSV has as many rows as JSON");
    my @table = grep { /^\|/ } split /\n/, $text{markdown};
    is(scalar @table, 2 + @rows, "$name: Markdown has as many rows as JSON");
    is_deeply([grep { @keys != (() = /(?<!\\)\|/g) - 1 } map { s/\\\\//gr } @table], [],
        "$name: each row of Markdown has as many cells as JSON has columns");
    is(scalar(() = $text{html} =~ /<tr\b/g), 1 + @rows, "$name: HTML has as many rows as JSON");
    unlike($text{html}, qr/<(?:b|script)>/i, "$name: HTML has no tag that a name holds");
    like($text{html}, qr/&lt;b&gt;/, "$name: HTML has the hostile name, escaped") if $how{column};
    cmp_ok(length $text{text}, '>', 0, "$name: the text is not empty");
    return \%text;
}

sub printed {
    my ($table, $format, %how) = @_;
    open my $out, '>', \my $text or die "memory: $!";
    is($table->print($out, format => $format{$format}, %how), 0, "print writes $format");
    close $out;
    return $text;
}

# Returns a function that runs a tool in a format: it succeeds, and says nothing else.
sub tool {
    my ($name, @args) = @_;
    return sub {
        my $run = in_process($name, '--format', $_[0], @args);
        is("$run->{status}$run->{err}", '0',
            "$name --format $_[0] @args succeeds without a message");
        return $run->{out};
    };
}

sub profile {
    my ($name, $calls, %how) = @_;
    return spew("$dir/$name", profile_text(format => 'tree', counters => 'ops:ops', complete => 1,
        header => q{$dprof_hash_seed='0'; $dprof_perturb_keys='0'; $dprof_clock='tsc';}
            . q{$dprof_clock_zero='1.5'; $dprof_pid=7; $dprof_start=1795348800;}
            . q{$dprof_script='x.pl';},
        times => [50, 0, 50], subs => ["$PACKAGE f`| x.pl:1"],
        lines => ['= 0 0 0 0 0 0 0 0 0', "= 1 1 $calls 50 0 50 0 0 " . 10 * $calls], %how));
}

my ($old, $new) = (profile('old', 2), profile('new', 5));

# ---- dproflist ----

subtest 'dproflist prints every format' => sub {
    no warnings 'redefine';
    local *Devel::DProf::Events::list = sub { return [
        { name => $SUB, group => 'software', description => "A <b>", per_thread => 1, works => 1,
            deprecated => 0 },
        { name => 'other', group => 'software', why => 'it is not there', per_thread => 1,
            works => 0, deprecated => 0, description => '-' }] };
    my $text = agree('the list', tool('dproflist'), rows => 'events', column => 'name',
        name => $SUB);
    my $json = json($text->{json});
    is_deeply([map { $_->{works} ? 1 : 0 } @{ $json->{events} }], [1, 0],
        'the field works is true or false');
    is(in_process('dproflist', '--json')->{out}, $text->{json}, '--json is --format json');
    is(in_process('dproflist')->{out}, $text->{text}, 'text is the default');
    is(in_process('dproflist', '--json', '--format', 'csv')->{status}, 2,
        '--json goes with no other format');
    like(in_process('dproflist', '--format', 'tap')->{err},
        qr/^--format: unknown format tap; there are csv, /, 'an unknown format gives a message');
    for (['csv', 'csv'], ['json', 'json'], ['md', 'markdown'], ['htm', 'html'], ['x', 'text']) {
        my ($suffix, $format) = @$_;
        is(in_process('dproflist', '-o', "$dir/list.$suffix")->{out}, '',
            "dproflist -o list.$suffix prints nothing to the standard output");
        is(slurp("$dir/list.$suffix"), $text->{$format},
            "dproflist -o list.$suffix writes $format");
    }
    agree('the processor', tool('dproflist', '--cpuid'));
    $text = agree('clocks', tool('dproflist', '--clock', $old, $new), rows => 'clocks');
    is(json($text->{json})->{clocks}[0]{call_ns}, 1.5, 'JSON has the cost of a clock as a number');
};

# ---- dproftop ----

subtest 'dproftop prints every format' => sub {
    no warnings 'redefine';
    local *Devel::DProf::Tool::Dproftop::now = sub { return 1_795_348_802 };
    my $text = agree('a look', tool('dproftop', $old), column => 'sub', name => $SUB);
    my $json = json($text->{json});
    is($json->{rows}[0]{time}, '2026-11-22T12:00:02Z', 'a row has the time of the sample');
    is($json->{seconds}, 0.5, 'JSON has the seconds as a number');
    like($text->{text}, qr/^dproftop  .*The program has ended\.\n\z/s,
        "text is the block of a terminal's output");
    is(scalar csv(tool('dproftop', '-O', 1, $old)->('csv')), 2, '-O 1 prints one row');
    is(in_process('dproftop', '--format', 'html', '-n', 2, $old)->{status}, 2,
        'a page has one sample');
    is(in_process('dproftop', '-o', "$dir/top.csv", $old)->{out}, '',
        'dproftop -o prints nothing to the standard output');
    is((split /\n/, slurp("$dir/top.csv"))[0],
        'time,self_pct,self_ms_per_s,incl_ms_per_s,calls_per_s,sub,place',
        'dproftop -o writes the format of the suffix');
    my $n = 0;
    # The program runs at the first look, and has ended at the second one.
    local *Devel::DProf::Live::Files::files = sub { return (!$n++, $old) };
    local *Devel::DProf::Tool::Dproftop::pause = sub { };
    my @records = csv(in_process('dproftop', '--format', 'csv', $old)->{out});
    is(scalar(grep { $_->[0] eq 'time' } @records), 1, 'CSV of two samples has one heading');
    $n = 0;
    my $parser = JSON::PP->new->utf8;
    $parser->incr_parse(in_process('dproftop', '--format', 'json', $old)->{out});
    is(scalar(() = $parser->incr_parse), 2, 'JSON has an object for each sample');
};

subtest 'Lines of dproftop have every format' => sub {
    my $top = Devel::DProf::Live::Top->new(sort => 'self', delay => 2, lines => 1,
        rates => Devel::DProf::Live::Rates->new(metric => 'cpu'));
    my $look = { subs => [], lines => [[5, 6, 0, "$PACKAGE:3", $SUB]], since => 'anew',
        seconds => 2, at => 0, path => 'x', pid => 7, script => 'y', files => 1, cpu => 1,
            real => 2, count => 3,
        total => 50, detail => 2 };
    my $text = agree('lines', sub { printed($top->whole($look), $_[0]) }, column => 'sub',
        name => $SUB);
    my $json = json($text->{json});
    is_deeply($json->{rows}, [{ time => '1970-01-01T00:00:00Z', self_pct => 10,
        self_ms_per_s => 2.5, incl_ms_per_s => 3, times_per_s => 0, line => "$PACKAGE:3",
        sub => $SUB }], 'the row of a line has its runs and its sub');
    is($json->{note}, 'This is a new run: its rates begin anew.', 'JSON has the note as a fact');
};

# ---- --annotate ----

# Makes a profile with lines of a source that is there.
sub annotated {
    my ($name, @costs) = @_;
    my $source = join '', map { "line($_); # <b> | \"$name\",\n" } 0 .. $#costs;
    mkdir "$dir/$name" or die "$dir/$name: $!";
    my $file = spew("$dir/$name/x.pl", $source);
    my @lines = map { '#l ' . ($_ + 1) . " 1 3 $costs[$_] 0 $costs[$_] 7" } 0 .. $#costs;
    my $crc = sprintf '%x', Compress::Zlib::crc32($source);
    my $sum = 0;
    $sum += $_ for @costs;
    return spew("$dir/$name.out", profile_text(format => 'tree', hz => 1000, complete => 1,
        counters => 'ops:ops', version => '20261120.00', header => "\$dprof_lines='time';\n"
        . "\$dprof_hash_seed='0'; \$dprof_perturb_keys='0'; \$dprof_script='$file';",
        subs => ["$PACKAGE f`| $file:1"],
        lines => ['= 0 0 1 0 0 0 0 0 0', "= 1 1 1 $sum 0 $sum 0 0 30",
            "#f $file size=" . length($source) . " crc=$crc", @lines]));
}

subtest 'dprofreport --annotate' => sub {
    my $profile = annotated('alone', 10, 90);
    for my $word ($SUB, 'x.pl') {
        my $text = agree("--annotate $word", tool('dprofreport', '-m', 'real', '--annotate', $word,
            $profile), $word eq $SUB ? (column => 'sub', name => $SUB) : ());
        my $json = json($text->{json});
        my $row = $json->{rows}[1];
        is_deeply([@$json{qw(metric total)}, @$row{qw(children self count line)}],
            ['real time', 0.1, 0.09, 0.09, 3, 2], 'a line has what it costs');
        is($row->{source}, 'line(1); # <b> | "alone",', '... and its source');
        is($row->{file}, "$dir/alone/x.pl", '... and its file');
        is($text->{text}, <<"END", 'text has a layout of its own');
# Profile: $profile
# Metric: real time
# @{[ $word eq $SUB ? "$SUB  $dir/alone/x.pl:1-2" : "$dir/alone/x.pl" ]}
 Children      Self     Count Line
   10.00%    10.00%         3 1  line(0); # <b> | "alone",
   90.00%    90.00%         3 2  line(1); # <b> | "alone",
END
    }
    unlink "$dir/alone/x.pl" or die "x.pl: $!";
    like(json(tool('dprofreport', '--annotate', 'x.pl', $profile)->('json'))->{notes},
        qr/\AThe source file is missing/, "the notes are a fact of the table");
    is(in_process('dprofreport', '--annotate', 'x.pl', '--format', 'tap', $profile)->{status}, 2,
        'not tap');
};

subtest 'dprofdiff --annotate prints every format' => sub {
    my @sides = (annotated('before', 10, 20, 30), annotated('after', 10, 90, 30, 40));
    for my $word ($SUB, 'x.pl') {
        my $text = agree("--annotate $word", tool('dprofdiff', '--time-floor', 0, '-m', 'real',
            '--annotate', $word, @sides), $word eq $SUB ? (column => 'sub', name => $SUB) : ());
        my $json = json($text->{json});
        is_deeply([map { $_->{line} // () } @{ $json->{rows} }], [1 .. 4],
            'the annotation has all lines');
        my ($grown) = grep { ($_->{line} // 0) == 2 } @{ $json->{rows} };
        is_deeply([@$grown{qw(mark value count baseline)}], ['+', 0.09, 3, undef],
            'the annotated line has mark, value, count and no baseline');
        like($grown->{source}, qr/\Aline\(1\); # <b> \| "after",/,
            'the annotated line has its source');
    }
    for my $format (qw(tap flame)) {
        is(in_process('dprofdiff', '--annotate', $SUB, '--format', $format, @sides)->{err}
            =~ s/\n.*//sr, '--annotate prints text, CSV, JSON, Markdown or HTML',
                "dprofdiff --annotate refuses --format $format");
    }
};

# ---- baselines ----

subtest 'A compared baseline prints every format' => sub {
    my $result = Devel::DProf::Compare::Baseline::compare(old => [$old], new => [$new],
        fail_if => 'calls > 0');
    for my $name (qw(table tree)) {
        my $text = agree($name, sub { printed($result->{$name}, $_[0]) }, column => 'sub',
            name => $SUB);
        my ($row) = grep { $_->{sub} eq $SUB } @{ json($text->{json})->{rows} };
        is_deeply([@$row{qw(baseline_calls calls)}], [2, 5], "$name has the calls of both sides");
        is($row->{level}, $name eq 'tree' ? 1 : 0, "$name has the level of its sub");
    }
};

# ---- a suite ----

subtest 'The summary of a test suite prints every format' => sub {
    my $suite = sub {
        my $suite = Devel::DProf::Compare::Suite->new(top => 1, @_);
        $suite->add("$PACKAGE.t", [$old]);
        $suite->add("t/$_.t", [$new]) for 1, 2;
        $suite->add("t/none.t", []);
        return $suite;
    };
    my $text = agree('a suite', sub {
        my $path = "$dir/summary.$_[0]";
        my ($good, @lines) = $suite->(summary => $path, format => $_[0])->finish(1, $dir);
        is_deeply([$good, @lines], [1], "summary= is written as $_[0]");
        return slurp($path);
    }, column => 'sub', name => $SUB);
    my @rows = @{ json($text->{json})->{rows} };
    is_deeply([map { $_->{file} } grep { !defined $_->{sub} } @rows],
        ['t/1.t', 't/2.t', "$PACKAGE.t"], 'each test file has a row, and top= does not limit them');
    my ($sum) = grep { !defined $_->{file} && $_->{sub} eq $SUB } @rows;
    is_deeply([@$sum{qw(calls ops cpu_s)}], [12, 120, 1.5],
        'a sub has the sums of the whole suite');
    like($text->{text}, qr/and 2 more$/m, 'text is the summary, cut by top=');
    like(json($text->{json})->{remarks}, qr{Not profiled: t/none\.t},
        'JSON has the remarks as a fact');
    $suite->(summary => "$dir/by-suffix.csv")->finish(1, $dir);
    is(slurp("$dir/by-suffix.csv"), $text->{csv},
        "the suffix of the file sets the summary's format");
    ok(!eval { Devel::DProf::Compare::Suite->new(format => 'csv') },
        'the option format is refused without summary=');
    my ($good, @lines) = $suite->(summary => "$dir/none/x.csv")->finish(1, $dir);
    is($good, 0, 'a summary that cannot be written fails the suite');
    like($lines[0], qr{^DProf:\ FAIL:\ summary:\ .*none/x\.csv\ could\ not\ be\ written:\ .*;
        \ mkdir\ -p\ \Q$dir\E/none\ makes\ the\ folder$}x,
        'a line says that the summary could not be written, and what to do');
};

# ---- the order of options ----

subtest 'A word or a suffix names the format' => sub {
    my $of = \&Devel::DProf::Table::format_of;
    is($of->(undef, undef), $format{text}, 'text is the format if nothing names one');
    is($of->('json', 'x.csv'), $format{json}, 'a word comes before a suffix');
    is($of->(undef, 'x/y.HTML'), $format{html}, 'a suffix may be in capitals');
    is($of->(undef, 'csv'), $format{text}, 'a name without a dot is no suffix');
    ok(!eval { $of->('tap', undef) }, 'a format that no table has is refused');
    is($of->('tap', undef, 'text', 'tap'), $format{tap}, 'a caller can allow more formats');
};

done_testing;
