# Spans of two profiles compared: pairs by text, gates about kinds, and tests of Test::DProf. The
# profiles are made by hand, so all numbers are known.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/lib";
use JSON::PP ();
use Test2::API qw(intercept);
use Test::More;
use Test::DProf ();
use Test::DProf::Profile;
use DProfTest;
use MadeProfile;

my $dir = scratch();
my ($USER, $ITEM, $GONE, $NEW) = ('SELECT * FROM users', 'SELECT name FROM items WHERE id = ?',
    'DELETE FROM cart', 'INSERT INTO log VALUES (?)');

# A program with so many executions of each statement, 2 ms each, and a request. Its texts and subs
# are numbered in another order on each side, and it is longer.
sub made {
    my ($name, %times) = @_;
    return MadeProfile->trace("$dir/$name", sub {
        my $to = shift;
        my @texts = sort keys %times;
        @texts = reverse @texts if $name =~ /new/;
        $to->span(sql => $_) for @texts;
        $to->sub('main::run', $name =~ /new/ ? 'run.pl:12' : 'run.pl:3');
        $to->xs('DBI::st::execute');
        $to->sub('sql::helper', 'run.pl:30');
        $to->span(template => 'page');
        $to->span(regex => '^a', $name =~ /new/ ? 'run.pl:9' : 'run.pl:5');
        $to->call('main::run', 5, sub {
            for my $text (@texts) {
                $to->call('DBI::st::execute', 1, sub { $to->call("sql:$text", 2) })
                    for 1 .. $times{$text};
            }
            $to->call('sql::helper', 1) for 1 .. ($name =~ /new/ ? 4 : 2);
            $to->call('regex:^a', 3);
            $to->call('template:page', 2, sub { $to->call('sql::helper', 1) });
        });
        $to->rows("sql:$_", $times{$_}) for @texts;
    });
}

my $old = made('old.out', $USER => 3, $ITEM => 1, $GONE => 2);
my $new = made('new.out', $USER => 3, $ITEM => 12, $NEW => 1);

sub tool { my ($name, @args) = @_; return run_tool($name, \@args) }

# ---- pairs ----
{
    my $run = tool('dprofdiff', qw(--format json -m real -f), $old, $new);
    my $json = JSON::PP->new->utf8->decode($run->{out});
    my %row = map { $_->{symbol} => $_ } @{ $json->{rows} };
    is_deeply([sort grep { /^sql:[^:]/ } keys %row],
        [sort map { "sql:$_" } $USER, $ITEM, $GONE, $NEW], 'each text is one row, on both sides')
        or diag explain [keys %row];
    is(scalar grep({ /^regex:/ } keys %row), 1, 'a regex that has moved is still the same');
    my $answer = tool('dprofdiff', '-m', 'real', '-f', $old, $new)->{out};
    like($answer, qr/^ *sql:\Q$ITEM\E +2\.0\d* ms +24\.\d+ ms .*12 times the calls/m,
        'why: more calls') or diag $answer;
    like($answer, qr/^ *sql:\Q$GONE\E .*gone/m, 'why: gone');
    like($answer, qr/^ *sql:\Q$NEW\E .*new/m, 'why: new');
    my $by_kind = tool('dprofdiff', qw(--format json -m calls -s package -f), $old, $new)->{out};
    my %kind = map { $_->{package} => $_ } @{ JSON::PP->new->utf8->decode($by_kind)->{rows} };
    ok(exists $kind{sql} && exists $kind{regex}, '-s package sums up by kind')
        or diag explain [keys %kind];
}

# ---- dprofdiff -s span ----

# The spans of a side by KIND:TEXT, as dprofreport has them.
sub reported {
    my ($file, @more) = @_;
    my $run = tool('dprofreport', qw(-s span -m real --format json), @more, $file);
    return map { ("$_->{kind}:$_->{text}" => $_) }
        @{ JSON::PP->new->utf8->decode($run->{out})->{spans} };
}
for my $given ([], ['--kind', 'sql'], ['--kind', 'regex'], ['--no-children']) {
    my @kind = grep { !/children/ } @$given;
    my %was = reported($old, @kind);
    my %is = reported($new, @kind);
    my $run = tool('dprofdiff', qw(-s span --format json -f), @$given, $old, $new);
    my $json = JSON::PP->new->utf8->decode($run->{out});
    my %row = map { $_->{symbol} => $_ } @{ $json->{rows} };
    my $name = join ' ', '-s span', @$given;
    # dprofreport has the place of a regex in a column of its own
    my %known = map { $_ => 1 } keys %was, keys %is;
    is_deeply([sort map { s/ \[run\.pl:\d+\]\z//r } keys %row], [sort keys %known],
        "$name: the rows are the spans of both sides");
    my ($self) = grep { $_ eq '--no-children' } @$given;
    my @wrong;
    for my $span (sort keys %row) {
        my $text = $span =~ s/ \[run\.pl:\d+\]\z//r;
        for (['baseline', $was{$text}], ['value', $is{$text}]) {
            my ($column, $of) = @$_;
            my $right = $of ? $of->{ $self ? 'self' : 'incl' } : 0;
            push @wrong, "$span: $column $row{$span}{$column}, not $right"
                if abs(($row{$span}{$column} // 0) - $right) > 1e-9;
        }
    }
    is(join("\n", @wrong), '', "$name: the values are those of dprofreport");
    my $answer = tool('dprofdiff', qw(-s span -f), @$given, $old, $new)->{out};
    like($answer, qr/^Span  .*Why$/m, "$name: the column has this title")
        if "@$given" !~ /regex/;
    unlike($answer, qr/main::run|sql::helper|\bother subs?\b/, "$name: subs are left out");
}
{
    # a builtin has a name with one colon, too: CORE:sort
    my $plain = profiled(['-e', 'sub f { print sort { $a <=> $b } 1 .. 9 } f()'],
        env => { PERL_DPROF_BUILTINS => 'slow' })->{profile};
    like(tool('dprofreport', '-n', $plain)->{out}, qr/ CORE:sort$/m, 'a builtin is recorded');
    my $run = tool('dprofdiff', qw(-s span -f), $plain, $plain);
    is($run->{status}, 1, '-s span: a comparison of profiles without spans fails');
    like($run->{err}, qr/^dprofdiff: -s span: no spans were recorded; -d:DProf=tree,detail=all /m,
        '... and says how to record them');
}

# ---- gates ----
{
    my @gates = (
        [3, '[sql] calls > 0', qr/\Q$ITEM\E/], [3, '[sql] calls > 10', qr/\Q$ITEM\E/],
        [0, '[sql] calls > 11'], [0, '[regex] calls > 0'],
        [3, 'new [sql]', qr/\Q$NEW\E/], [3, '[sql] new', qr/\Q$NEW\E/],
        [3, 'gone [sql]', qr/\Q$GONE\E/], [0, 'new [regex]'], [0, 'gone [regex], [regex] new'],
        [3, '/^sql::helper/ calls > 0', qr/sql::helper/],
    );
    for (@gates) {
        my ($status, $rule, $like) = @$_;
        my $run = tool('dprofdiff', '--fail-if', $rule, '-f', $old, $new);
        is($run->{status}, $status, "--fail-if '$rule': $status") or diag "$run->{out}$run->{err}";
        like($run->{out}, $like, '... and the text is named') if $like;
    }
    my $all = tool('dprofdiff', '--fail-if', '[sql] calls > 0', qw(-f --format tap), $old, $new);
    unlike($all->{out}, qr/^not ok.*sql::helper/m, 'a sub of the package sql is no span');
    my @wrong = ([1, '[http] calls > 0', qr/\[http\] calls > 0: no span matches/],
        [2, '/a/ [sql] calls > 0',
            qr{either a pattern or a kind of spans; omit /PATTERN/ or \[sql\]$}m],
        [2, 'line [sql] new', qr/lines have no spans; omit `line' or \[sql\]$/m],
        [2, '[] new', qr/is expected/]);
    for (@wrong) {
        my ($status, $rule, $like) = @$_;
        my $run = tool('dprofdiff', '--fail-if', $rule, $old, $new);
        is($run->{status}, $status, "--fail-if '$rule': $status");
        like($run->{err}, $like, '... says why');
    }
}

# ---- tests ----

sub profile_of {
    my ($file) = @_;
    return Test::DProf::Profile->new(is_block => 1, dir => sub { $dir }, read => sub {
        require Devel::DProf::Compare::Baseline;
        return Devel::DProf::Compare::Baseline::profile([$file], allow_truncated => 1);
    });
}

# Runs tests, and returns whether each passed, its name and its diagnostics.
sub results {
    my ($code) = @_;
    my $events = intercept { $code->() };
    my ($ok) = grep { $_->isa('Test2::Event::Ok') } @$events;
    my $diag = join "\n", map { $_->message } grep { $_->isa('Test2::Event::Diag') } @$events;
    return ($ok->pass ? 1 : 0, $ok->name, $diag);
}

{
    my $p = profile_of($new);
    is_deeply([results(sub { Test::DProf::calls_ok($p, { kind => 'sql' }, '<=', 16) })],
        [1, 'sql spans: calls <= 16', ''], 'calls_ok: the calls of all texts of a kind');
    my ($ok, $name, $diag) = results(sub {
        Test::DProf::calls_ok($p, { kind => 'sql' }, '<=', 15, 'a page') });
    is("$ok $name", '0 a page', '... has a limit');
    like($diag, qr/of the kind sql were executed 16 times, wanted <= 15/, '... says how many');
    like($diag, qr/^ +12  sql:\Q$ITEM\E\n +3  sql:\Q$USER\E$/m, '... and which');
    is((results(sub { Test::DProf::calls_ok($p, { kind => 'sql', text => qr/^INSERT/ }, '==', 1) }))
        [0], 1, 'text chooses among them');
    is_deeply([(results(sub { Test::DProf::calls_ok($p, { kind => 'http' }, '==', 0) }))[0, 2]],
        [1, ''], 'a kind that did not occur has 0 calls');
    for (['kind is missing', {}], ['unknown option knid', { knid => 1 }],
        ['text must be a pattern', { kind => 'sql', text => 'x' }]) {
        my ($why, $of) = @$_;
        ok(!eval { Test::DProf::calls_ok($p, $of, '==', 0); 1 }, "calls_ok dies: $why");
        like($@, qr/\Q$why\E/, '... says why');
    }
}
{
    my $p = profile_of($new);
    my ($ok, $name, $diag) = results(sub { Test::DProf::no_repeated_ok($p, kind => 'sql') });
    is("$ok $name", '0 no path repeats a sql span more than 10 times', 'no_repeated_ok');
    like($diag, qr/^ +12  sql:\Q$ITEM\E\n +by main::run > DBI::st::execute$/m,
        '... names text, calls and path');
    is((results(sub { Test::DProf::no_repeated_ok($p, kind => 'sql', max => 12) }))[0], 1,
        '... has a limit');
    is((results(sub { Test::DProf::no_repeated_ok($p, kind => 'regex', max => 1) }))[0], 1,
        '... of a kind');
    for (['SELECT', 0], ['^SELECT', 0], ['users', 1], ['no such', 1]) {
        my ($pattern, $want) = @$_;
        ($ok, $name, $diag) = results(sub {
            Test::DProf::no_repeated_ok($p, kind => 'sql', text => qr/$pattern/) });
        is("$ok $name", "$want no path repeats a matching sql span more than 10 times",
            "... of the texts that match $pattern");
        is($diag =~ /no text of the kind sql matches .* nothing was tested/ ? 1 : 0,
            $pattern eq 'no such' ? 1 : 0, '... and it says if there are none');
    }
    for (['text must be a pattern', kind => 'sql', text => 'SELECT'],
        ['max must be a whole number', kind => 'sql', max => 0], ['kind is missing'],
        ['unknown option most', kind => 'sql', most => 1]) {
        my ($why, @how) = @$_;
        ok(!eval { Test::DProf::no_repeated_ok($p, @how); 1 }, "no_repeated_ok dies: $why");
        like($@, qr/\Q$why\E/, '... says why');
    }
    my $plain = profile_of(MadeProfile->trace("$dir/plain.out", sub { $_[0]->sub('main::f');
        $_[0]->call('main::f', 1) }));
    ($ok, $name, $diag) = results(sub { Test::DProf::no_repeated_ok($plain, kind => 'sql') });
    is($ok, 1, 'a profile without spans has no repeated ones');
    like($diag, qr/no spans were recorded/, '... but the test says that it checked nothing');
}

# ---- what is recorded ----
{
    my $file = spew("$dir/match.pl", "my \$n = grep { 'aab' =~ /^a+b/ } 1 .. 4;\nprint \$n;\n");
    my $p = Test::DProf::profile_script_ok({ detail => 'regex' }, $file);
    is($p->stdout, 4, 'profile_script_ok: the script runs');
    Test::DProf::calls_ok($p, { kind => 'regex', text => qr/^\^a\+b/ }, '==', 4,
        'detail: spans of a script');
    my $plain = Test::DProf::profile_script_ok($file);
    is_deeply($plain->spans->{rows}, [], '... which only the option records');
    is_deeply([(results(sub { Test::DProf::profile_script_ok({ detail => 'xml' }, $file) }))[0]],
        [0], 'detail: an unknown kind fails');
}
{
    my $program = sub {
        my ($name, $options, $end) = @_;
        return spew("$dir/$name.t", "use Test::DProf $options;\nuse Test::More;\n"
            . "my \$p = profile_ok { 'aab' =~ /^a+b/ for 1 .. 3 };\n$end\ndone_testing;\n");
    };
    my $run_it = sub { return run_program([built_perl(), $program->(@_)]) };
    my $limit = "calls_ok \$p, { kind => 'regex' }, '==', 3;";
    my $run = $run_it->('block', "detail => 'regex'", $limit);
    is($run->{raw}, 0, 'use Test::DProf detail: spans of blocks') or diag "$run->{out}$run->{err}";
    $run = $run_it->('none', '', "calls_ok \$p, { kind => 'regex' }, '==', 0;");
    is($run->{raw}, 0, '... which only the option records') or diag "$run->{out}$run->{err}";
    like($run->{err}, qr/no spans were recorded: use Test::DProf detail => 'regex'/,
        '... as a diagnostic says');
    for (['another', "detail => 'regex'", "{ kind => 'sql' }, '<=', 3", 'the kind sql was not '
            . "recorded, but regex; detail => 'regex\\+sql' records it"],
        ['misspelt', "detail => 'regex'", "{ kind => 'regxe' }, '<=', 3",
            'there is no span of the kind regxe; did you mean regex\\?']) {
        my ($what, $options, $test, $said) = @$_;
        for my $call ("calls_ok \$p, $test;",
            'no_repeated_ok $p, ' . ($test =~ /(kind => '\w+')/)[0] . ';') {
            my $got = $run_it->($what, $options, $call);
            isnt($got->{raw}, 0, "a kind that is $what fails: $call");
            like($got->{err} =~ s/\n# */ /gr, qr/$said/, '... and says why');
        }
    }
    $run = $run_it->('wrong', "detail => 'xml'", '');
    like($run->{err}, qr/^use Test::DProf: .*detail=xml.* at \S*wrong\.t line 1\.$/m,
        'detail: an unknown kind of spans dies');
    $run = $run_it->('late', '',
        "eval q{use Test::DProf detail => 'sql'; 1};\nlike(\$@, qr/only the first use/);");
    is($run->{raw}, 0, 'detail: only the first use may have it') or diag "$run->{out}$run->{err}";
}

done_testing;
