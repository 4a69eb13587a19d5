# A store that is a database of ClickHouse gives back what went in, as a folder does, however names
# look and whatever is interrupted. Two servers that share the profiles do so, too.
use strict;
use warnings;
use lib 't/lib', 'xt/lib';
use ClickHouse;
use DProfTest;
use Slices;
use Test::More;
use Devel::DProf::Store;
use Devel::DProf::Store::Failure;
use Devel::DProf::Store::RunSet;

ClickHouse::need();
my $dir = scratch();
my ($server, $second) = ClickHouse::start_all($dir, 2);
my $n = 0;
my @TABLES = map { "dprof_$_" } qw(profiles contexts samples histograms statements files schema);

# A store of its own on the server, and one that is a folder.
sub pair {
    my (%opt) = @_;
    $n++;
    my @stores = (Devel::DProf::Store::open('clickhouse:' . $server->url . "/s$n", %opt),
        Devel::DProf::Store::open("dir:$dir/s$n"));
    $_->init for @stores;
    return @stores;
}

sub set { return Devel::DProf::Store::RunSet::parse($_[0], 1_795_348_800) }

sub dies {
    my ($code) = @_;
    return eval { $code->(); 1 } ? 'it lives' : Devel::DProf::Store::Failure->of($@);
}

# The text of each profile that a set selects, by its identity.
sub texts {
    my ($store, $set) = @_;
    my @selected = $store->select($set // {});
    my $folder = scratch();
    my @paths = $store->fetch(\@selected, $folder);
    return { map { $selected[$_]{run} => gunzipped($paths[$_]) } 0 .. $#paths };
}

# What is told of profiles, apart from what each store keeps for itself.
sub told {
    return [map { my $p = $_; join ' ', map { "$_=$p->{$_}" } qw(run service version host env start
        seconds) } @_];
}

sub profile {
    my ($file, %how) = @_;
    return { file => $file, run => '1-1-0-0', service => 'web', version => '1.2', host => 'h',
        env => '', start => 1_795_348_700.25, seconds => 60, %how };
}

sub slice {
    my (%how) = @_;
    my $path = scratch() . '/slice';
    spew($path, slice_text(%how));
    return $path;
}

subtest 'init can be repeated' => sub {
    my $store = Devel::DProf::Store::open('clickhouse:' . $server->url . '/fresh');
    my ($version, @said) = $store->init;
    like($version, qr/\AClickHouse \d+\./, $version);
    is_deeply(\@said, ['database fresh was made', map { "table $_ was made" } @TABLES], 'made');
    (undef, @said) = $store->init;
    is_deeply(\@said, ['database fresh is there', map { "table $_ is there" } @TABLES], 'there');
};

# Recorded here, with places of calls, and with statements and their sources.
sub recorded {
    my @paths;
    my $script = scratch() . '/script.pl';
    spew($script, "sub f { my \$n = shift; g(\$_) for 1 .. \$n; f(\$n - 1) if \$n }\n"
        . "sub g { return join ',', map { \$_ * 2 } 1 .. \$_[0] }\nf(5); f(2);\n");
    for my $options ('tree', 'tree,callsites=1', 'tree,lines,source=1', 'tree,lines=count',
        'trace') {
        my $path = scratch() . '/out';
        run_program([$^X, (PROFILER)[0], "-d:DProf=$options,out=$path", $script], dir => $dir);
        push @paths, $path if ok(-s $path, "recorded with $options");
    }
    return @paths;
}

my @hostile = ('', '%', '.', '..', '/', "'", '\\', "\\'", '\\N', "a\tb", "a\nb", "a\rb", "a\0b",
    "\xff\xfe", "\xc3\xa4", q(') . ' OR 1=1 --', '`', 'a b', '*', '[a]', ',', ')', "\b\f");

subtest 'What went in comes out' => sub {
    my ($store, $folder) = pair();
    my $count = 0;
    for my $file (recorded(), (map { data($_) } qw(classic.out ours.out manual-new.out nytprof)),
        map { root() . "/t/corpus/$_" } qw(tree lines lines-source counters trace-then-tree cut.gz
            folded pprof perf)) {
        my $p = profile($file, run => ++$count . '-1-0-0', seconds => $count / 7,
            start => 1_795_300_000.5 + 86400 * $count);
        $_->add([$p]) for $store, $folder;
    }
    my @profiles = map { profile(slice(n => $_ + 1), run => "h-$_-0-0", service => $hostile[$_],
        version => $hostile[-$_], host => $hostile[ $_ - 1 ], env => $hostile[ $_ - 2 ]) }
        0 .. $#hostile;
    $_->add(\@profiles) for $store, $folder;
    is_deeply(told($store->select({})), told($folder->select({})), 'the same is told of all');
    is_deeply(texts($store), texts($folder), 'the same bytes');
    is(scalar keys %{ texts($store) }, $count + @hostile, 'all of them');
    is_deeply([$store->list({})], [$folder->list({})], 'the same list');
    for my $name (@hostile) {
        my $set = { service => $name =~ s/([\\*?\[])/\\$1/gr };
        is_deeply(told($store->select($set)), told($folder->select($set)), 'a service of its own');
    }
};

subtest 'Names of subs may have any bytes' => sub {
    my ($store, $folder) = pair();
    my @subs = sort map { 'P ' . s/([\x00-\x20\x7f%])/sprintf '%%%02X', ord $1/ger . ' -' }
        grep { length } @hostile;
    my $text = slice_text() =~ s/& .*//sr;
    $text .= join '', (map { sprintf "& %x %s\n", $_ + 1, $subs[$_] } 0 .. $#subs),
        "= 0 0 0 5 0 5 0 0\n",
        map { sprintf "= 1 %x 1 2 3 4 5 6 at=%s\n= 2 %x 1 2 3 4 5 6 folded=%d\n", $_, "a'b\\c:$_",
            $_, $_ } 1 .. @subs;
    my $path = scratch() . '/tree';
    spew($path, $text . "h 2 3:4 5:6\n");
    $_->add([profile($path)]) for $store, $folder;
    is_deeply(texts($store), texts($folder), 'the same bytes');
    is(texts($store)->{'1-1-0-0'}, $text . "h 2 3:4 5:6\n", '... which are those of the file');
    is($server->ask("SELECT count() FROM s$n.dprof_contexts WHERE sub = 'P::\\'' AND depth = 1"), 1,
        'and so SQL has them');
};

subtest 'A tree that is not in order is put in order' => sub {
    my ($store) = pair();
    my $text = slice_text(lines => "= 1 1 1 7 0 7 0 0\n# a comment\n");
    my $path = scratch() . '/tree';
    spew($path, $text);
    $store->add([profile($path)]);
    my ($out) = values %{ texts($store) };
    like($out, qr/^= 1 1 3 47 0 57 /m, 'a context that stands twice is added up');
};

# Profiles of many services, versions, hosts and days, in both stores.
sub many {
    my (@stores) = @_;
    srand 7;
    my @profiles = map { profile(slice(n => 1 + $_ % 5, pid => $_), run => "r-$_-0-1",
        service => ('web', 'mail', 'we')[rand 3], version => ('1.2', '1.3', '')[rand 3],
        host => 'h' . int rand 4, env => ('prod', 'canary')[rand 2],
        start => 1_795_348_800 - int(rand 5 * 86400) + int(rand 4) / 4, seconds => int rand 90) }
        1 .. 60;
    $_->add(\@profiles) for @stores;
    return @profiles;
}

my @sets = ('', 'service=web', 'service=we*', 'version=""', 'service=[mw]* version=1.?', 'host=h1',
    'env=c*', 'since=1d', 'until=2d', 'since=3d until=1d service=web', 'limit=7', 'at=36h',
    'service=web limit=2', 'service=nobody', 'since=2026-11-20T00:00:00Z',
    'host=h[!1] env=prod since=90h');

subtest 'A run-set selects the same in both' => sub {
    my ($store, $folder) = pair();
    many($store, $folder);
    local $ENV{DPROF_STORE_USER} = 'reader';
    my $reader = Devel::DProf::Store::open('clickhouse:' . $server->url . "/s$n");
    is_deeply(texts($reader), texts($folder), 'a user who may change nothing can read');
    ok(ref dies(sub { $reader->prune({}) }), '... and prune nothing');
    for my $text (@sets) {
        is_deeply(told($store->select(set($text))), told($folder->select(set($text))),
            "select '$text'");
        is_deeply([$store->list(set($text))], [$folder->list(set($text))], "list '$text'");
    }
};

subtest 'The tools print the same' => sub {
    my ($store, $folder) = pair();
    many($store, $folder);
    my @url = ('clickhouse:' . $server->url . "/s$n", "dir:$dir/s$n");
    for (['dprofreport', '--run-set', 'service=web'], ['dprofmerge', '-o', '-', '--run-set', ''],
        ['dprofdiff', '--run-set', 'service=web version=1.2', 'service=web version=1.3'],
        ['dproffold', '--run-set', 'since=2026-11-20T12:00Z'],
        ['dprofstore', 'list', 'service=we*']) {
        my ($tool, @args) = @$_;
        my @runs = map { run_tool($tool, [@args[0 .. ($tool eq 'dprofstore' ? 0 : -1)], '--from',
            $_, @args[($tool eq 'dprofstore' ? 1 : 0) .. $#args]]) } @url;
        is($runs[0]{out}, $runs[1]{out}, "@$_");
        is($runs[0]{status}, $runs[1]{status}, '... with the same status');
        ok(length $runs[0]{out}, '... and something');
    }
};

subtest 'Spans keep their kinds, and no values' => sub {
    plan skip_all => 'missing: DBI (Debian: libdbi-perl)' if !eval { require DBI };
    my ($store) = pair();
    my $script = scratch() . '/script.pl';
    spew($script, <<'END');
use DBI;
use FakeDBD 'Pg';
use HTTP::Tiny;
use Devel::DProf::Control 'span';
my $dbh = DBI->connect('dbi:Pg:', '', '', { RaiseError => 1 });
for my $i (1 .. 5) {
    $dbh->do("SELECT a FROM t WHERE b = 'Tok7a' AND c IN (7310000$i, 'Tok7b')", undef, 'Tok7c');
}
$dbh->selectall_arrayref('SELECT a FROM t WHERE b = ?', undef, 'Tok7d') for 1 .. 2;
HTTP::Tiny->new(default_headers => { 'X-A' => 'Tok7e' })
    ->get("http://Tok7f:Tok7g\@127.0.0.1:1/items/7310000$_?a=Tok7h#Tok7i") for 1 .. 3;
system $^X, '-e', 1, 'Tok7j';
`echo Tok7k; echo Tok7l`;
opendir my $dir, "/nowhere/7310000$_" for 1 .. 4;
'x' =~ /$_/ for 'Tok7m';
span('cache', 'get', sub { return 'Tok7n' }) for 1 .. 6;
span('a:b', 'it', sub { 1 });
END
    my $path = scratch() . '/out';
    run_program([$^X, (PROFILER)[0], '-Mlib=' . root() . '/t/lib',
        "-d:DProf=tree,detail=all,out=$path", $script, 'Tok7o'], dir => $dir);
    my @pushed = profile($path);
    $store->add(\@pushed);
    my %rows = map { $_ => $server->ask("SELECT * FROM s$n.$_ FORMAT TabSeparated") } @TABLES;
    is_deeply([map { $rows{$_} =~ /Tok7\w|7310000\d/g } @TABLES], [], 'no value is in any table');
    my $calls = sub {
        my ($what, $condition) = @_;
        my %calls = map { reverse split /\t/, $_, 2 } split /\n/, $server->ask(
            "SELECT sum(c), s FROM (SELECT c, $what AS s FROM (SELECT run, ctx, any(calls) AS c "
            . "FROM s$n.dprof_samples GROUP BY run, ctx) AS x ANY LEFT JOIN (SELECT ctx, sub, line "
            . "FROM s$n.dprof_contexts) AS y USING (ctx) WHERE $condition) GROUP BY s");
        return \%calls;
    };
    is_deeply($calls->('sub', "sub LIKE 'sql:%'"), { 'sql:SELECT a FROM t WHERE b = ?' => 2,
        'sql:SELECT a FROM t WHERE b = ? AND c IN (?)' => 5 }, 'rows of statements');
    is_deeply($calls->('sub', "sub LIKE 'http:%'"), { 'http:GET http://127.0.0.1:1/items/*' => 3 },
        'rows of requests');
    my $kinds = $calls->(q{substring(sub, 1, position(sub, ':'))}, q{line LIKE '% kind=span%'});
    is_deeply({ map { $_ => $kinds->{"$_:"} } qw(sql http command cache a) },
        { sql => 7, http => 3, command => 2, cache => 6, a => 1 }, 'calls by kind');
};

subtest 'What is pushed twice counts once' => sub {
    my ($store, $folder) = pair();
    my @profiles = many($store, $folder);
    my $rows = sub { join ' ', map { $server->ask("SELECT count() FROM s$n.$_") } @TABLES };
    my $before = $rows->();
    $store->add(\@profiles) for 1 .. 3;
    is($rows->(), $before, 'a profile that is there is not sent again');
    # Two may push the same at the same time.
    my $other = Devel::DProf::Store::open('clickhouse:' . $server->url . "/s$n");
    {
        no warnings qw(redefine once);
        local *Devel::DProf::Store::ClickHouse::new_profiles = sub { @_[1 .. $#_] };
        $other->add(\@profiles);
    }
    isnt($rows->(), $before, 'rows may come twice');
    is_deeply(told($store->select({})), told($folder->select({})), '... and count once');
    is_deeply([$store->list({})], [$folder->list({})], '... in the list');
    is_deeply(texts($store), texts($folder), '... in trees');
};

subtest 'The statement of the manual' => sub {
    my ($store) = pair();
    my @profiles = map { profile(slice(n => $_), run => "$_-1-0-0", version => '1.3') } 1, 2;
    $store->add([@profiles, profile(slice(n => 9), run => '9-1-0-0')]);
    {
        no warnings qw(redefine once);
        local *Devel::DProf::Store::ClickHouse::new_profiles = sub { @_[1 .. $#_] };
        $store->add(\@profiles);
    }
    my ($sql) = slurp(root() . '/bin/dprofstore') =~ /^    (SELECT s, .*? LIMIT 20)\n/ms;
    $sql =~ s/now\(\) - 3600/toDateTime(1795348000)/ or fail('it asks for the last hour');
    $sql =~ s/\b(dprof_\w+)/s$n.$1/g;
    is($server->ask($sql), "main::f\t177\nmain::g\t57", 'adds up what subs cost inclusively');
};

# The n-th request kills the server, before it gets it or after.
{
    package Killer;
    sub new { return bless { http => $_[1], at => $_[2], after => $_[3] }, $_[0] }
    sub ask {
        my ($self, @args) = @_;
        return $self->{http}->ask(@args) if $self->{at}--;
        $server->stop('KILL') if !$self->{after};
        my $answer = $self->{http}->ask(@args);
        $server->stop('KILL');
        Devel::DProf::Store::failed('killed', retry => 1);
    }
}

subtest 'The server is killed in the middle of a push' => sub {
    my ($store, $folder) = pair();
    my @profiles = map { profile($_->[0], run => "k-$_->[1]-0-0") }
        [root() . '/t/corpus/lines-source', 1], [slice(), 2];
    $folder->add(\@profiles);
    my $database = "s$n";
    my $at = 0;
    for my $round (0 .. 30) {
        my $pushing = Devel::DProf::Store::open('clickhouse:' . $server->url . "/$database");
        $pushing->{server}{http}
            = Killer->new($pushing->{server}{http}, int($round / 2), $round % 2);
        my $failure = dies(sub { $pushing->add(\@profiles) });
        last if !ref $failure;
        $at++;
        ok($failure->retry, "killed at request $round: what did not arrive is to be sent again");
        $server->start;
        my $texts = texts($store);
        my $whole = texts($folder);
        is_deeply($texts, { map { $_ => $whole->{$_} } keys %$texts }, 'what is listed is whole');
        next if $round % 4;
        $store->add(\@profiles);
        is_deeply(texts($store), $whole, 'all is there when it was pushed again');
        $database = 's' . ++$n;
        $store = Devel::DProf::Store::open('clickhouse:' . $server->url . "/$database");
        $store->init;
    }
    cmp_ok($at, '>', 6, "$at places");
};

subtest 'Failures' => sub {
    my $url = 'clickhouse:' . $server->url;
    my $failure = dies(sub { Devel::DProf::Store::open("$url/none")->select({}) });
    like($failure->message, qr/\A\Q$url\E\/none: Code: 81.*; run dprofstore init, which makes/,
        'no such database');
    ok($failure->retry, '... which can be made');
    {
        local @ENV{qw(DPROF_STORE_USER DPROF_STORE_PASSWORD)} = (ClickHouse::USER, 'wrong');
        $failure = dies(sub { Devel::DProf::Store::open("$url/s1")->select({}) });
        like($failure->message, qr/DPROF_STORE_PASSWORD_FILE/, 'a wrong password');
        ok($failure->retry, '... keeps the spool');
        my $file = scratch() . '/password';
        spew($file, ClickHouse::PASSWORD . "\n");
        local $ENV{DPROF_STORE_PASSWORD_FILE} = $file;
        is(dies(sub { Devel::DProf::Store::open("$url/s1")->select({}) }), 'it lives',
            'the right one');
    }
    my $bad = profile(slice(), run => 'x');
    ok(!dies(sub { Devel::DProf::Store::open("$url/s1")->add([$bad]) })->retry,
        'what is no identity is refused');
    $failure = dies(sub { Devel::DProf::Store::open('clickhouse:http://127.0.0.1:1/x')->init });
    like($failure->message, qr/no answer/, 'nobody is there');
    ok($failure->retry, '... now');
    $server->ask("DROP TABLE s1.dprof_samples");
    $server->ask('CREATE TABLE s1.dprof_samples (a UInt8) ENGINE = Memory');
    like(dies(sub { Devel::DProf::Store::open("$url/s1")->init })->message,
        qr/table dprof_samples has no column ts/, 'a table of somebody else');
};

subtest 'prune removes the same from both' => sub {
    for my $text ('', 'limit=7', 'host=h[!1] env=prod since=90h', 'older=2d',
        'older=1h service=web') {
        my ($store, $folder) = pair();
        my @copies = map { { %$_, service => 'copy' } } (many($store, $folder))[0 .. 9];
        $_->add(\@copies) for $store, $folder;
        my $count = () = $folder->select(set($text));
        is_deeply([map { $_->prune(set($text)) } $store, $folder], [$count, $count],
            "prune '$text': so many as it selects");
        is_deeply(told($store->select({})), told($folder->select({})), 'the same is left');
        is_deeply(texts($store), texts($folder), '... and whole');
        is($server->ask("SELECT count() FROM s$n.dprof_samples WHERE run NOT IN "
            . "(SELECT run FROM s$n.dprof_profiles)"), 0, 'no rows of others');
    }
    my ($store) = pair();
    many($store);
    is($store->prune({ older => 4e9 }), 60, 'all go');
    is($server->ask("SELECT count() FROM s$n.dprof_contexts"), 0, '... and their contexts');
    is($store->prune({ older => 4e9 }), 0, 'nothing is left');
};

subtest 'A service of a day is pruned by a condition' => sub {
    my ($store, $folder) = pair();
    my @profiles = map { profile(slice(n => 1 + $_ % 5), run => "s-$_-0-1",
        service => ('web', 'mail')[$_ % 2], start => 1_795_348_800 - 86_400 * (3 + $_ % 3)) }
        1 .. 30;
    $_->add(\@profiles) for $store, $folder;
    my @statements;
    my $run = Devel::DProf::Store::ClickHouse::Server->can('run');
    no warnings qw(redefine once);
    local *Devel::DProf::Store::ClickHouse::Server::run = sub {
        push @statements, $_[1];
        goto &$run;
    };
    my $set = set('service=web');
    is($store->prune($set), $folder->prune($set), 'as many as in the folder');
    my $named = grep { /s-\d+-0-1/ } @statements;
    is($named, 0, 'no statement names profiles');
    is_deeply(texts($store), texts($folder), 'the other service stays');
    $set = set('service=mail host=h');
    is($store->prune($set), $folder->prune($set), 'the last service goes');
    like("@statements", qr/DROP PARTITION/, '... with its days');
};

# The schema of the version before, and statements and rows of its tools.
sub as_before(&) {
    my ($code) = @_;
    no warnings 'once';
    local $Devel::DProf::Store::ClickHouse::Schema::Version = 1;
    return $code->();
}

subtest 'Tools of two versions use one store' => sub {
    my $url = 'clickhouse:' . $server->url . '/s' . ++$n;
    my $folder = Devel::DProf::Store::open("dir:$dir/s$n");
    $folder->init;
    my $open = sub { return Devel::DProf::Store::open($url) };
    my @profiles = many($folder);
    my $whole = texts($folder);
    my $is_whole = sub {
        my ($what, $store, $last) = @_;
        is_deeply(texts($store), { map { $_->{run} => $whole->{ $_->{run} } }
            @profiles[0 .. $last] }, $what);
    };
    as_before { $open->()->init };
    ok(!$server->ask("EXISTS TABLE s$n.dprof_schema"), 'an earlier version has made the tables');
    as_before { $open->()->add([@profiles[0 .. 9]]) };
    $open->()->add([@profiles[10 .. 19]]);
    $is_whole->('this version reads and writes them', $open->(), 19);
    as_before { $is_whole->('... and the earlier one still does', $open->(), 19) };
    is_deeply([$open->()->sums([[$open->()->select({})]], scratch())], [],
        'rows without a form are not added up');
    my @said = $open->()->init;
    ok(scalar(grep { $_ eq 'table dprof_profiles is there; added: form, ids' } @said),
        'init adds columns');
    ok(scalar(grep { $_ eq 'table dprof_schema was made' } @said), '... and the table of versions');
    is_deeply([grep { /added|made/ } $open->()->init], [], 'once');
    $is_whole->('all profiles are there', $open->(), 19);
    as_before { $is_whole->('... for the earlier version, too', $open->(), 19) };
    as_before { $open->()->add([@profiles[20 .. 39]]) };
    $open->()->add([@profiles[40 .. 59]]);
    $is_whole->('both can write', $open->(), 59);
    as_before { $is_whole->('... and read', $open->(), 59) };
    is(run_tool('dprofreport', ['--from', $url, '--run-set', ''])->{out},
        run_tool('dprofreport', ['--from', "dir:$dir/s$n", '--run-set', ''])->{out},
        'rows of both are added up');
    is($server->ask("SELECT max(version) FROM s$n.dprof_schema"), 2, 'the store has its version');
    $server->ask("INSERT INTO s$n.dprof_schema (version, oldest, made) VALUES (9, 9, now())");
    for my $does (sub { $open->()->add([profile(slice(), run => 'z-1-0-0')]) },
        sub { texts($open->()) }, sub { $open->()->init }) {
        my $failure = dies($does);
        like($failure->message,
            qr/need tools of schema 9 or newer, and these have schema 2; install/,
            'a later version that changed everything says so');
        ok($failure->retry, '... and profiles stay in the spool');
    }
};

subtest 'Two servers share the profiles' => sub {
    my @local = map { Devel::DProf::Store::open('clickhouse:' . $_->url . '/dprof_local') }
        $server, $second;
    $_->init for @local;
    my %shard = (map({ $_ => 'cityHash64(run)' } @TABLES), dprof_contexts => 'ctx',
        dprof_files => 'file');
    for my $entry ($server, $second) {
        $entry->ask('CREATE DATABASE dprof');
        $entry->ask("CREATE TABLE dprof.$_ AS dprof_local.$_ "
            . "ENGINE = Distributed(both, dprof_local, $_, $shard{$_})")
            for grep { !/schema/ } @TABLES;
    }
    my ($store, $other) = map { Devel::DProf::Store::open('clickhouse:' . $_->url . '/dprof') }
        $server, $second;
    my (undef, $folder) = pair();
    my @profiles = many($folder);
    my @said = ($store->init)[2 .. 8];
    $other->init;
    is(pop @said, 'table dprof_schema was made', 'each database has its version');
    is_deeply(\@said, [map { "table $_ is there, on several servers" } grep { !/schema/ } @TABLES],
        'init makes nothing else');
    $store->add([@profiles[0 .. 29]]);
    $other->add([@profiles[20 .. 59]]);
    for ($store, $other) {
        is_deeply(told($_->select({})), told($folder->select({})), 'all are selected');
        is_deeply(texts($_), texts($folder), '... and the same bytes');
        is_deeply([$_->list({})], [$folder->list({})], '... and listed');
    }
    my @count = map { $_->ask('SELECT uniqExact(run) FROM dprof_local.dprof_samples') } $server,
        $second;
    is($count[0] + $count[1], 60, 'no profile is on both');
    ok($count[0] && $count[1], 'both have some');
    like(dies(sub { $store->prune({ older => 4e9 }) })->message, qr/prune the tables of each/,
        'each server is pruned on its own');
    my $whole = texts($folder);
    $second->stop('KILL');
    my $failure = dies(sub { texts($store) });
    ok(ref $failure && $failure->retry, 'one server is down: what it has is not there, and that is '
        . 'said');
    $second->start;
    is_deeply(texts($store), $whole, 'it is back');
    is($local[0]->prune({ older => 4e9 }) + $local[1]->prune({ older => 4e9 }), 60, 'pruned');
    is_deeply([$other->list({})], [], 'nothing is left');
};

done_testing;
