# Spans: frames that are no subs. What the tools say of profiles that were made by hand, whose
# numbers are known.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test::More;
use DProfTest;
use MadeProfile;
use PprofReader;
use StrictProfile;

my $OPEN = 'SELECT * FROM orders WHERE open = ?; -- now';
my $dir = scratch();

# Runs a tool, as DProfTest::run_tool does.
sub tool { my ($name, @args) = @_; return run_tool($name, \@args) }

# Writes a trace. Times are in ms.
my $trace = MadeProfile->trace("$dir/trace.out", sub {
    my $to = shift;
    $to->sub('main::run', 'run.pl:3');
    $to->xs('DBI::st::execute');
    $to->span(sql => $OPEN);
    $to->span(sql => 'BEGIN');
    $to->span(regex => '^END', 'run.pl:7');
    $to->call('main::run', 1, sub {
        $to->call('DBI::st::execute', 1, sub { $to->call("sql:$OPEN", 10, sub { }) });
        $to->call('DBI::st::execute', 1, sub { $to->call('sql:BEGIN', 5, sub { }) });
        $to->call('regex:^END', 2, sub { });
    });
});

# ---- the file ----
{
    my $tree = "$dir/tree.out";
    my $merge = tool('dprofmerge', '-o', $tree, $trace);
    is($merge->{raw}, 0, 'a trace with spans becomes a tree') or diag $merge->{err};
    my @names = slurp($tree) =~ /^(& .* kind=span)$/mg;
    is_deeply([map { s/^& \w+ //r } @names], [
        'regex ^END run.pl:7 kind=span',
        'sql BEGIN - kind=span',
        'sql SELECT%20*%20FROM%20orders%20WHERE%20open%20=%20?;%20--%20now - kind=span',
    ], 'kinds, texts and places are written as they were read');
    my $again = "$dir/again.out";
    tool('dprofmerge', '-o', $again, $tree);
    is(slurp($again), slurp($tree), 'a tree that is written again is the same');
    my @lines = grep { /:/ } split /\n/, tool('dproffold', $tree)->{out};
    is_deeply([sort @lines], [
        'main::run 1000',
        'main::run;DBI::st::execute 2000',
        'main::run;DBI::st::execute;sql:BEGIN 5000',
        'main::run;DBI::st::execute;sql:SELECT * FROM orders WHERE open = ?%3B -- now 10000',
        'main::run;regex:^END 2000',
    ], 'names are KIND:TEXT, and a text has no semicolon of its own') or diag explain \@lines;
}

# ---- rows ----
{
    my $with = sub {
        my ($name, $rows, %header) = @_;
        return MadeProfile->trace("$dir/$name", sub {
            my $to = shift;
            $to->span(sql => 'SELECT 1');
            $to->span(sql => 'DELETE FROM t');
            $to->call('sql:SELECT 1', 1);
            $to->call('sql:DELETE FROM t', 1);
            $to->rows('sql:SELECT 1', $rows);
            $to->rows('sql:DELETE FROM t', 0) if !$rows;
        }, %header);
    };
    my @files = ($with->('a.out', 0, dprof_spans_other => 3, dprof_spans_cut => 2),
        $with->('b.out', 41), $with->('c.out', 7, dprof_spans_other => 4, hz => 20_000_000));
    tool('dprofmerge', '-o', "$dir/rows.out", @files);
    is(join("\n", slurp("$dir/rows.out") =~ /^#s (.*)$/mg), "1 rows=0\n2 rows=48",
        'rows of files are added up, and 0 is a known number');
    is_deeply([StrictProfile::problems("$dir/rows.out")], [], 'the file has no other line');
    like(slurp("$dir/rows.out"), qr/^\$dprof_spans_cut=2;\n\$dprof_spans_other=7;$/m,
        'texts that were cut, and calls of other texts, are counts: they do not scale with ticks');
    my $more = spew("$dir/d.out", slurp($files[1]) =~ s/^(#s .*)$/$1 later=3\n#s 1 rows=2/mr);
    tool('dprofmerge', '-o', "$dir/more.out", $more);
    like(slurp("$dir/more.out"), qr/^#s 2 rows=43$/m, 'unknown keys are skipped, and lines added');
    for my $bad ('#s 1 rows=x', '#s 77 rows=1', '#s rows=1') {
        my $file = spew("$dir/bad.out", slurp($files[1]) =~ s/^#s .*$/$bad/mr);
        my $run = tool('dprofmerge', '-o', "$dir/good.out", $file);
        like($run->{err}, qr{^Bad profile: \Q$bad\E .*left out}, "'$bad' is left out, and named");
    }
}

# ---- names ----
{
    my $out = tool('dproffold', '--separate', $trace)->{out};
    unlike($out, qr/sql:BEGIN@|END\[/, 'no text is taken for a BEGIN or END block');
    my $folded = spew("$dir/names.folded", <<'END');
main::a;sql:SELECT 1 1
main::a;http::Request::new 2
main::a;sql:SELECT a::b 4
main::a;http:: 8
main::a;file: 16
END
    tool('dprofmerge', '--unit', 's', '-o', "$dir/names.out", $folded);
    is_deeply([sort map { s/^& \w+ //r } slurp("$dir/names.out") =~ /^(& .*)$/mg], [
        '% file: -', 'http % -', 'http::Request new -', 'main a -',
        'sql SELECT%201 - kind=span', 'sql SELECT%20a::b - kind=span',
    ], 'folded stacks: a known kind, one colon, and a text');
    my $svg = tool('dprofflame', '-o', '-', '--format', 'svg', $trace)->{out};
    like($svg, qr/>span</, 'the legend of a flame graph has spans');
}

# ---- the report ----

# A server: each request of GET /list has a statement in a loop of 12 or 13 rounds. A template calls
# itself, and runs a statement.
my $ITEM = 'SELECT name FROM items WHERE id = ?';
my $LIST = 'SELECT * FROM orders';
my $shop = MadeProfile->trace("$dir/shop.out", sub {
    my $to = shift;
    $to->sub($_, 'shop.pl:3') for qw(main::run main::other Shop::list);
    $to->sub($_, "/usr/share/perl5/$_.pm:3") for qw(DBIx::Class::all Template::process DBIxx::all);
    $to->sub('Carp::croak', '/usr/share/perl/5.36/Carp.pm:3');
    $to->xs('DBI::st::execute');
    $to->span(sql => $ITEM);
    $to->span(sql => $LIST);
    $to->span(template => 'list.tt');
    $to->span(regex => '^END', 'shop.pl:7');
    my $sql = sub {
        my ($text, $ms) = @_;
        $to->call('DBI::st::execute', 1, sub { $to->call("sql:$text", $ms) });
    };
    $to->phase('main');
    $to->call('main::run', 1, sub {
        $to->call('Shop::list', 1, sub { $sql->($ITEM, 10) for 1 .. 10 });
        $to->call('Carp::croak', 1, sub { $sql->($LIST, 3) });
    });
    for my $rounds (12, 13) {
        $to->phase('GET /list');
        $to->call('main::other', 1, sub {
            $to->call('DBIx::Class::all', 1, sub { $sql->($ITEM, 2) for 1 .. $rounds });
            $to->call('DBIxx::all', 1, sub { $sql->($LIST, 1) });
            $to->call('template:list.tt', 1, sub {
                $to->call('Template::process', 2, sub {
                    $to->call('template:list.tt', 4, sub { $sql->($LIST, 8) });
                });
            });
            $to->call('regex:^END', 0);
        });
        $to->phase('main');
    }
    $to->rows("sql:$ITEM", 35);
    $to->requests('GET /list', 9, 2, 70);
}, dprof_script => 'shop.pl', dprof_spans_other => 1, dprof_spans_cut => 2);

my $TOTAL = 1 + 1 + 10 * 11 + 1 + 4 + 2 * (1 + 1 + 1 + 2 + 7 + 9) + 25 * 3;

sub report {
    my @args = @_;
    my $run = tool('dprofreport', @args, $shop);
    is($run->{raw}, 0, "dprofreport @args") or diag $run->{err};
    return $run->{out};
}

{
    my $json = JSON::PP->new->utf8->decode(report(qw(-s span --format json)));
    my @fields = qw(incl self calls mean longest rows caller callers repeated place);
    my %row = map { ("$_->{kind}:$_->{text}" => [@$_{@fields}]) } @{ $json->{spans} };
    is_deeply(\%row, {
        "sql:$ITEM" => [0.15, 0.15, 35, 0.15 / 35, 0.01, 35, 'Shop::list', 2, 25, undef],
        "sql:$LIST" => [0.021, 0.021, 5, 0.021 / 5, 0.008, undef, 'main::other', 3, 0, undef],
        'template:list.tt' => [0.032, 0.01, 4, 0.008, 0.016, undef, 'main::other', 1, 0, undef],
        'regex:^END' => [0, 0, 2, 0, undef, undef, 'main::other', 1, 0, 'shop.pl:7'],
    }, 'inclusive, self, calls, mean, longest, rows, caller: known numbers')
        or diag explain \%row;
    is(join(' ', map { $_->{kind} } @{ $json->{spans} }), 'sql template sql regex',
        'the most inclusive time comes first');
    is_deeply($json->{kinds}, [
        { kind => 'sql', texts => 2, calls => 40, incl => 0.171,
            incl_pct => sprintf('%.2f', 100 * 171 / $TOTAL) + 0 },
        { kind => 'template', texts => 1, calls => 4, incl => 0.032,
            incl_pct => sprintf('%.2f', 100 * 32 / $TOTAL) + 0 },
        { kind => 'regex', texts => 1, calls => 2, incl => 0, incl_pct => 0 },
    ], 'kinds: a span in one of its kind counts once') or diag explain $json->{kinds};
    is_deeply($json->{repeats}, [
        { kind => 'sql', text => $ITEM, phase => 'GET /list', calls => 25, begun => 2,
            own_path => ['main::other'],
            path => [qw(main::other DBIx::Class::all DBI::st::execute)] },
    ], 'a path in one phase: 12.5 a request are more than 10, 10 in main are not')
        or diag explain $json->{repeats};
    like($json->{bounds}, qr/^1 call of further .*; 2 texts were too long and cut$/, 'bounds');
}
{
    my $json = JSON::PP->new->utf8->decode(report(qw(--kind sql --repeated 3 --format json)));
    is(scalar @{ $json->{spans} }, 2, '--kind: the spans of one kind');
    is_deeply([map { "$_->{phase} $_->{calls} $_->{begun}" } @{ $json->{repeats} }],
        ['GET /list 25 2', 'main 10 1'], '--repeated: begun is how often a marked phase began')
        or diag explain $json->{repeats};
}
{
    my $text = report('-s', 'span');
    like($text, qr/^sql: 2 statements took [\d.]+ % of the real time \(171\.0 ms of $TOTAL/m,
        'the first lines answer: how much each kind took');
    like($text, qr/ 150\.0 ms +150\.0 ms +35 +4\.286 ms +10\.00 ms +35  Shop::list \+1 +sql:SEL/,
        'a row of text');
    my @repeated = ('  25 times in phase GET /list, which ran 2 times: a mean of 12.5',
        "    sql:$ITEM", '    main::other');
    is(join("\n", grep { /^  25 times/ .. /^    main::other/ } split /\n/, $text),
        join("\n", @repeated), 'what repeats stands below the table');
    my $one = report(qw(--kind sql -O 1));
    like($one, qr/^.* {2}SELECT name.*\n\n1 further text is left out; -O N shows more$/m,
        '--kind needs no word for the kind in each row; -O');
    is(report(qw(-s span -q)) =~ tr/\n//, 4, '-q: rows alone');
    my $calls = report(qw(-s span -m calls --format csv));
    like($calls, qr/^[\d.]+,35,35,35,1,0\.01,35,25,main::other,2,,sql,SELECT name/m, '-m calls');
    for my $format (qw(csv markdown html)) {
        my $out = report('-s', 'span', '--format', $format);
        like($out, qr/\Q$ITEM\E/, "$format has the texts");
    }
    like(report(qw(-s span -t : --no-pager)), qr/:sql:SELECT name/, '-t');
    is(report(qw(-s span --only orders -q)) =~ tr/\n//, 1, 'filters of names choose texts');
    like(report('--callers', 'SELECT name'), qr/ 35 +DBI::st::execute$/m,
        '--callers: the beginning of a text is enough');
    like(report('--callers', "sql:$LIST"), qr/ 5 +DBI::st::execute$/m, '... and so is the name');
    like(tool('dprofpp', '-O', 40, $shop)->{out}, qr/ sql:\Q$ITEM\E$/m, 'dprofpp: spans are rows');
}

# What a set-up does in a loop, before the first of many requests, after each of which the program
# returns to the phase main.
for my $requests (0, 1, 50) {
    my $file = MadeProfile->trace("$dir/setup.$requests.out", sub {
        my $to = shift;
        $to->sub('main::setup', 'shop.pl:3');
        $to->xs('DBI::st::execute');
        $to->span(sql => 'INSERT INTO t VALUES (?)');
        for my $phase ('BEGIN', 'main') {
            $to->phase($phase);
            $to->call('main::setup', 1, sub {
                $to->call('DBI::st::execute', 1, sub {
                    $to->call('sql:INSERT INTO t VALUES (?)', 1);
                }) for 1 .. 60;
            });
        }
        for (1 .. $requests) { $to->phase('GET /'); $to->phase('main') }
    });
    my $text = tool('dprofreport', '-s', 'span', $file)->{out};
    is_deeply([sort $text =~ /^  (60 times.*)$/mg],
        ['60 times in phase BEGIN', '60 times in phase main'],
        "$requests requests: what a set-up repeats is of no mean");
}
# Many repeated texts of several kinds.
{
    my @texts = ((map { [sql => "SELECT $_", 20 + $_] } 10 .. 24),
        (map { [$_ => 'END', 90] } 'regex', 'file'), [template => 'a.tt', 99]);
    my $file = MadeProfile->trace("$dir/many.out", sub {
        my $to = shift;
        $to->sub('main::run', 'shop.pl:3');
        $to->sub('Carp::croak', '/usr/share/perl/5.36/Carp.pm:3');
        $to->span(@$_[0, 1]) for @texts;
        $to->call('main::run', 1, sub { $to->call('Carp::croak', 1, sub {
            for my $span (@texts) { $to->call("$span->[0]:$span->[1]", 1) for 1 .. $span->[2] }
        }) });
    });
    my $of = sub { tool('dprofreport', '-s', 'span', @_, $file)->{out} };
    my $shown = sub { join ' ', $of->(@_) =~ /^  \d+ times\n    (\S.*)$/mg };
    is($shown->(), join(' ', 'template:a.tt', map { "sql:SELECT $_" } reverse 16 .. 24),
        'the ten texts with the most calls are shown, without regexes and files');
    like($of->(), qr/^  8 more, 2 of the kinds file and regex: --all$/m,
        'a line counts the others');
    is(() = $of->('--all') =~ /^  \d+ times$/mg, 18, '--all shows all of them');
    unlike($of->('--all'), qr/ more[,:]/, '--all leaves nothing out');
    is($shown->('--kind', 'regex'), 'regex:END', '--kind shows those of its kind');
    like($of->('--kind', 'sql'), qr/^  5 more: --all$/m, 'a line counts the others of a kind');
    like($of->(), qr/^    main::run$/m, 'paths leave out libraries');
    my $only = $of->('--only', 'END');
    like($only, qr/^  2 more of the kinds file and regex: --all$/m,
        'if nothing is left, the line says why');
    like($of->('--format', 'markdown'), qr/8 more, 2 of the kinds/, 'other formats leave them out');
    is(scalar @{ JSON::PP->new->utf8->decode($of->('--format', 'json'))->{repeats} }, 18,
        'JSON has all of them');
}
{
    my @wrong = (
        [1, qr/there are no spans of the kind x; there are regex, sql, template/, qw(--kind x)],
        [1, qr/the filters leave out all spans/, qw(-s span --only nothing_of_this)],
        [2, qr/-s span has its own columns; leave out -g/, qw(-s span -g)],
        [2, qr/--kind goes with -s span/, qw(-s pid --kind sql)],
        [2, qr/--repeated goes with -s span/, qw(--repeated 3)],
        [2, qr/--repeated/, qw(-s span --repeated 0)],
        [2, qr/--requests has its own columns; leave out --kind/, qw(--requests --kind sql)],
        [1, qr/there is no sub SELECT/, '--callers', 'SELECT'],
    );
    for (@wrong) {
        my ($status, $like, @args) = @$_;
        my $run = tool('dprofreport', @args, $shop);
        is($run->{status}, $status, "dprofreport @args") or diag $run->{err};
        like($run->{err}, $like, '... says why');
    }
    my $plain = MadeProfile->trace("$dir/plain.out", sub { $_[0]->sub('main::f');
        $_[0]->call('main::f', 1) });
    my $run = tool('dprofreport', '-s', 'span', $plain);
    like($run->{err}, qr/no spans were recorded; perl -d:DProf=tree,detail=all records them/,
        'a profile without spans');
}

# ---- --kind, as a filter ----
{
    my $lines = sub { return [sort split /\n/, tool(@_)->{out}] };
    my $fold = $lines->('dproffold', '--kind', 'sql', $shop);
    is_deeply([map { /([^;]*) \d+\z/ ? $1 : () } @$fold], ['(program)', "sql:$LIST", "sql:$ITEM"],
        'dproffold --kind: only these spans') or diag explain $fold;
    is_deeply($fold, $lines->('dproffold', '--only', '^sql:', $shop), '... as --only shows them');
    is_deeply($lines->('dproffold', '--kind', 'sql', '--only', 'orders|e', '--skip', 'items',
        $shop), $lines->('dproffold', '--only', '^sql:.*orders', $shop),
        '... beside --only and --skip');
    my $subs = MadeProfile->trace("$dir/subs.out", sub {
        $_[0]->sub('sql::f');
        $_[0]->span(sql => 'BEGIN');
        $_[0]->call($_, 1) for 'sql::f', 'sql:BEGIN';
    });
    is_deeply([map { s/ \d+\z//r } @{ $lines->('dproffold', '--kind', 'sql', $subs) }],
        ['(program)', 'sql:BEGIN'], '... without subs of a package of that name');

    my $table = tool('dprofpp', '--kind', 'sql', $shop)->{out};
    is_deeply([sort $table =~ / (\w+::?\S.*)$/mg], [sort "sql:$ITEM", "sql:$LIST"],
        'dprofpp --kind: rows') or diag $table;
    my $top = tool('dproftop', '-b', '-n', 1, '--kind', 'sql', $shop);
    is_deeply([sort map { /^ *\d[\d. ]* (\w+::?.*?) *$/ ? $1 : () } split /\n/, $top->{out}],
        [sort "sql:$ITEM", "sql:$LIST"], 'dproftop --kind: rows') or diag $top->{out};
    my $diff = JSON::PP->new->utf8->decode(tool(qw(dprofdiff -f --format json -m real --kind sql),
        $shop, $shop)->{out});
    is_deeply([sort map { $_->{symbol} } @{ $diff->{rows} }], [sort "sql:$ITEM", "sql:$LIST"],
        'dprofdiff --kind: rows') or diag explain $diff->{rows};
    my $export = tool(qw(dprofexport --format speedscope --kind template), $shop)->{out};
    is_deeply([map { $_->{name} } grep { $_->{name} ne '(program)' }
        @{ JSON::PP->new->utf8->decode($export)->{shared}{frames} }], ['template:list.tt'],
        'dprofexport --kind: frames') or diag $export;
    my $svg = tool(qw(dprofflame --format svg --kind template), $shop)->{out};
    like($svg, qr/<title>template:list\.tt /, 'dprofflame --kind: frames of the kind');
    unlike($svg, qr/<title>main::/, '... and no others');
    my $page = tool('dprofhtml', '--kind', 'sql', '-o', "$dir/kind.html", $shop);
    is($page->{raw}, 0, 'dprofhtml --kind') or diag $page->{err};
    for my $tool (qw(dproffold dprofflame dprofdiff dprofexport dprofhtml dprofpp)) {
        my @files = $tool eq 'dprofdiff' ? ($shop, $shop) : $shop;
        my $run = tool($tool, '--kind', 'htpt', $tool =~ /html/ ? ('-o', "$dir/kind.html") : (),
            @files);
        like($run->{err}, qr/--kind: (?:no span matches|nothing is left)|is left after --kind$/m,
            "$tool --kind: says that there is none") or diag explain $run;
        isnt($run->{status}, 2, '... which is no mistake in the command line');
    }
    my $run = tool('dprofpp', '-T', '--kind', 'sql', $shop);
    like($run->{err}, qr/--kind works with the table and -S/, 'dprofpp -T has no --kind');
}

# ---- requests ----
{
    my $json = JSON::PP->new->utf8->decode(report(qw(--requests --format json)));
    is_deeply([map { [@$_{qw(phase seen kept sql_per_request)}] } @{ $json->{requests} }],
        [['GET /list', 9, 2, (25 + 2 + 2) / 2]], '--requests: statements of each kept request');
    like(report('--requests'), qr/^ +9 +2 +7 +14\.5 /m, '... also as text');
    my $http = MadeProfile->trace("$dir/http.out", sub {
        my $to = shift;
        $to->span(http => 'GET a');
        $to->phase('GET /');
        $to->call('http:GET a', 1);
        $to->requests('GET /', 1, 1, 1);
    });
    my $csv = tool('dprofreport', qw(--requests --format csv), $http)->{out};
    unlike($csv, qr/sql/, '... without statements there is no such column');
}

# ---- other tools' files ----
{
    my $export = sub {
        my ($format) = @_;
        my $run = tool('dprofexport', '--format', $format, '-o', "$dir/export.$format", $shop);
        is($run->{raw}, 0, "dprofexport --format $format") or diag $run->{err};
        return slurp("$dir/export.$format");
    };
    my $chrome = JSON::PP->new->utf8->decode($export->('chrome'));
    my %cat = map { $_->{name} => $_->{cat} } grep { ($_->{ph} // '') =~ /[XB]/ }
        @{ ref $chrome eq 'HASH' ? $chrome->{traceEvents} : $chrome };
    is_deeply([@cat{ "sql:$ITEM", 'template:list.tt', 'main::run' }], [qw(sql template perl)],
        'Chrome: the category is the kind');
    my $speedscope = JSON::PP->new->utf8->decode($export->('speedscope'));
    is(scalar grep({ $_->{name} eq "sql:$ITEM" } @{ $speedscope->{shared}{frames} }), 1,
        'speedscope: a frame');
    my $firefox = JSON::PP->new->utf8->decode($export->('firefox'));
    my @strings = @{ $firefox->{shared}{stringArray} };
    my ($order) = grep { $_->{markers}{length} } @{ $firefox->{threads} };
    my $m = $order->{markers};
    my @marks = map { [$strings[ $m->{name}[$_] ], sprintf('%.0f', $m->{startTime}[$_]),
        sprintf('%.0f', $m->{endTime}[$_]), @{ $m->{data}[$_] }{qw(type kind)}] }
        0 .. $m->{length} - 1;
    my @spans = grep { $_->[3] eq 'span' } @marks;
    is(scalar @spans, 35 + 5 + 4 + 2, 'Firefox: a marker for each call of a span');
    is_deeply($spans[0], ["sql:$ITEM", 3, 13, 'span', 'sql'], '... with its time and kind');
    is(scalar grep({ $_->[3] eq 'phase' } @marks), 5, '... beside the phases')
        or diag explain \@marks;
    my $pprof = PprofReader::read_pprof($export->('pprof'));
    my %by_kind;
    for my $sample (@{ $pprof->{samples} }) {
        $by_kind{ $sample->{labels}{kind} // '' } += $sample->{values}[-1];
    }
    is_deeply(\%by_kind, { sql => 171e6, template => 16e6, regex => 0, '' => ($TOTAL - 187) * 1e6 },
        'pprof: the label kind is that of the innermost span, so that sums are disjoint')
        or diag explain \%by_kind;
}

# ---- names that are hostile ----
{
    my $odd = MadeProfile->trace("$dir/odd.out", sub {
        my $to = shift;
        $to->span(sql => "a\nb\e[31m|<b>`");
        $to->span("x\ny" => '');
        $to->call("sql:a\nb\e[31m|<b>`", 1);
        $to->call("x\ny:", 1);
    });
    for my $format (qw(text csv markdown html json)) {
        my $run = tool('dprofreport', '-s', 'span', '--format', $format, $odd);
        unlike($run->{out}, qr/\e|^b\e/m, "$format: no byte can move a cursor");
        unlike($run->{out}, qr/<b>/, '... or begin a tag') if $format eq 'html';
        is($run->{raw}, 0, '... and it is printed');
    }
}

done_testing;
