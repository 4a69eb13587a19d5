# A store on ClickHouse, without a server: trees become rows and trees again, values are quoted,
# answers become failures. xt/store has the tests with servers.
use strict;
use warnings;
use lib 't/lib';
use DProfTest;
use Slices;
use Test::More;
use Compress::Zlib ();
use Devel::DProf::Store;
use Devel::DProf::Store::ClickHouse;
use Devel::DProf::Store::Failure;
use Devel::DProf::Store::RunSet;
use MIME::Base64 qw(encode_base64);

my $SERVER = 'Devel::DProf::Store::ClickHouse::Server';

# Gives the answers of its caller, and keeps the requests.
{
    package FakeHttp;
    sub new { my $class = shift; return bless { answers => [@_], asked => [] }, $class }
    sub ask {
        my ($self, $path, $headers, $content, %more) = @_;
        push @{ $self->{asked} }, [$path, $headers, $content];
        my $answer = shift @{ $self->{answers} } // '';
        $answer = { status => 200, reason => 'OK', content => $answer } if !ref $answer;
        my $text = delete $answer->{content};
        # Pieces of an answer do not end where lines do.
        if ($more{data_callback}) { $more{data_callback}->($_, $answer) for $text =~ /(.{1,3})/gs }
        else { $answer->{content} = $text }
        return $answer;
    }
}

sub server {
    my $http = FakeHttp->new(@_);
    return ($SERVER->new('http://h:8123/fleet', http => $http), $http);
}

sub dies {
    my ($code) = @_;
    return eval { $code->(); 1 } ? 'it lives' : Devel::DProf::Store::Failure->of($@);
}

my $all = join '', map { chr } 0 .. 255;

subtest 'Values become fields, arrays and literals' => sub {
    is($SERVER->can('unescape')->($SERVER->can('field')->($all)), $all,
        'a field gives its value back');
    unlike($SERVER->can('field')->($all), qr/[\t\n\0]/, 'a field has no tab, newline or NUL');
    is_deeply([$SERVER->can('elements')->($SERVER->can('array')->($all, '', "','", '\\'))],
        [$all, '', "','", '\\'], 'an array gives its values back');
    is($SERVER->can('quoted')->(q(a'b\\) . "\n"), q('a\\'b\\\\\\n'), 'a literal is quoted');
    is_deeply([$SERVER->can('fields')->("a\t\tb\\tc\t")], ['a', '', "b\tc", ''],
        'a line is split into its fields');
    is_deeply([$SERVER->can('fields')->('')], [''], 'an empty line is one empty field');
    is($SERVER->can('one_of')->('c', 'x'), "c = 'x'", 'one value is compared by =');
    is($SERVER->can('one_of')->('c', 'x', "'"), "c IN ('x', '\\'')",
        'two values are compared by IN');
    is($SERVER->can('one_of')->('c'), '0', 'no value makes the condition false');
};

subtest 'Statements and rows are sent and read' => sub {
    local @ENV{qw(DPROF_STORE_USER DPROF_STORE_PASSWORD)} = ('u', "p'w\xc3\xa4\n:");
    my ($server, $http) = server("1\ta\\tb\n22\t\n", "0\n", '');
    is_deeply([$server->rows('SELECT 1')], [['1', "a\tb"], ['22', '']],
        'rows that arrive in pieces are joined');
    $server->insert('t', ['a', 'b'], "x\ty\n");
    my ($select, undef, $insert) = @{ $http->{asked} };
    is($select->[0], '/?database=fleet&wait_end_of_query=1',
        'the server answers after all errors are known');
    is($select->[1]{Authorization}, 'Basic ' . encode_base64("u:p'w\xc3\xa4\n:", ''),
        'the header has the user and the password, and the address has none');
    local $ENV{DPROF_STORE_USER} = '';
    is((server())[0]{headers}{Authorization},
        'Basic ' . encode_base64("default:p'w\xc3\xa4\n:", ''),
            'a password alone belongs to the user default');
    is($select->[2], 'SELECT 1', 'a statement is the body of its request');
    like($insert->[0], qr/query=INSERT%20INTO%20t%20%28a%2C%20b%29%20FORMAT%20TabSeparated/,
        'an insertion is the query of its request');
    like($insert->[0], qr/&insert_distributed_sync=1&.*&wait_end_of_query=1\z/,
        'an insertion waits for all servers');
    is($insert->[1]{'Content-Encoding'}, 'gzip', 'rows are compressed');
    is(Compress::Zlib::memGunzip($insert->[2]), "x\ty\n", 'the rows are the body of an insertion');
    unlike($insert->[0], qr/async/, 'a server that lacks a setting does not get it');
};

subtest 'A server that can collects small inserts' => sub {
    my ($server, $http) = server("2\n");
    $server->insert('t', ['a'], $_) for "x\n", "y\n", 'z' x (1 << 21);
    my ($settings, @inserts) = map { $_->[0] } @{ $http->{asked} };
    is(@inserts, 3, 'the server is asked once what it can do');
    like($_, qr/[?&]async_insert=1&.*&wait_for_async_insert=1(?:&|\z)/,
        'it collects a small insert, and answers when that is durable') for @inserts[0, 1];
    unlike($inserts[2], qr/async/, 'a large insert is not collected');
};

subtest 'Few statements select profiles' => sub {
    my $statements = sub {
        my ($text, @answers) = @_;
        my $http = FakeHttp->new(@answers);
        my $store = Devel::DProf::Store::open('clickhouse:http://h:8123/fleet', http => $http);
        my @all = $store->select(Devel::DProf::Store::RunSet::parse($text));
        return map { $_->[2] } @{ $http->{asked} };
    };
    my @sql = $statements->(q(service=web host="a'b"));
    is(@sql, 1, 'names without wildcards need one statement');
    like($sql[0], qr/ WHERE service = 'web' AND host = 'a\\'b' /, 'it has the names');
    @sql = $statements->('service=we* version=1 host=h?', "web\th1\nmail\th22\nwe\th2\n");
    is(@sql, 2, 'names with wildcards need one statement more');
    like($sql[1], qr/service IN \('we', 'web'\) AND host IN \('h1', 'h2'\)/,
        'the second one has the names that match');
    is(scalar($statements->('service=x* host=h*', "web\th1\n")), 1,
        'a pattern without any name needs no second statement');
};

subtest 'A failure of the server is explained' => sub {
    for (['Code: 60, e.displayText() = no table', 1, qr/no table; run dprofstore init/],
        ["Code: 27, e.displayText() = bad row\nmore", 0, qr/bad row$/],
        ['Code: 241, e.displayText() = Memory limit', 1, qr/Memory limit/],
        ['Code: 193, e.displayText() = Wrong password', 1, qr/DPROF_STORE_PASSWORD/],
        ['', 1, qr{\Aclickhouse:http://h:8123/fleet: 500 Oops}]) {
        my ($text, $retry, $message) = @$_;
        my ($server) = server({ status => 500, reason => 'Oops', content => $text,
            headers => { 'retry-after' => 7 } });
        my $failure = dies(sub { $server->rows('SELECT 1') });
        like($failure->message, $message, "the message explains the answer: $text");
        is($failure->retry, $retry, "the failure decides whether to try again: $text");
        is($failure->answer, $text, "the failure keeps the answer: $text");
        is($failure->after, 7, "the failure has the server's time to wait");
    }
    is(dies(sub { Devel::DProf::Store::open("clickhouse:$_") })->message,
        "clickhouse:$_: a store is written clickhouse:http[s]://HOST:PORT/DATABASE",
            "the address clickhouse:$_ is refused")
        for 'http://h:8123', 'http://h:8123/a b', "http://h:8123/a'b", 'h:8123/x', 'http://h/x/y';
};

subtest 'Newer servers get codecs' => sub {
    my $statement = \&Devel::DProf::Store::ClickHouse::Schema::create_statement;
    for my $table (Devel::DProf::Store::ClickHouse::Schema::names()) {
        unlike($statement->($table, '18.16.1'), qr/CODEC|LowCardinality/,
            "$table has no codec on 18.16");
        like($statement->($table, $_), qr/CODEC/, "$table has codecs on $_")
            for '20.3.8.53', '26.7.1';
    }
};

# The rows of a table, as lists.
sub rows_of {
    my ($rows, $table) = @_;
    return map { [$SERVER->can('fields')->($_)] } split /\n/, $rows->taken($table);
}

sub counters { return join '', map { " $_" } $_[0] =~ /\d+/g }

# Makes rows of a tree, and of these what a server would answer, and a tree.
sub through_rows {
    my ($text) = @_;
    my $rows = Devel::DProf::Store::ClickHouse::Rows->new;
    my %p = (service => $all, version => "'", host => "\t", env => '', run => 'r-1-0-0',
        start => 5e6, duration => 7, day => '2026-11-22');
    $rows->add(\$text, \%p) or return undef;
    my $trees = Devel::DProf::Store::ClickHouse::Trees->new;
    $trees->context(@$_[1, 2, 5, 6]) for grep { $_->[1] } rows_of($rows, 'dprof_contexts');
    $trees->rank;
    my ($profile) = rows_of($rows, 'dprof_profiles');
    my %file = map { $_->[1] => $_->[3] } rows_of($rows, 'dprof_files');
    my %tree = (header => $profile->[11], names => [$SERVER->can('elements')->($profile->[10])],
        ids => $profile->[13], samples => {}, histograms => {}, statements => []);
    is_deeply([@$profile[0 .. 4]], ['0000000005', $all, "'", "\t", 'r-1-0-0'],
        "a profile's row gives its identity back");
    for my $row (rows_of($rows, 'dprof_samples')) {
        my $numbers = join(' ', @$row[6 .. 11]) . counters($row->[12]);
        $trees->sample(\%tree, $row->[5], $numbers, $row->[13]);
    }
    for my $row (rows_of($rows, 'dprof_histograms')) {
        my ($buckets, $calls) = map { [/\d+/g] } @$row[6, 7];
        $tree{histograms}{ $row->[5] } = join ' ', map { "$buckets->[$_]:$calls->[$_]" }
            0 .. $#$buckets;
    }
    for my $row (rows_of($rows, 'dprof_statements')) {
        my $numbers = join(' ', @$row[10 .. 13]) . counters($row->[14]);
        push @{ $tree{statements} }, [$row->[6], $file{ $row->[7] }, @$row[8, 9], $numbers,
            $row->[15]];
    }
    return $trees->text(\%tree);
}

# Returns a tree with three anonymous subs; the ends of their lines.
sub anonymous {
    my @ends = @_;
    return slice_text() =~ s/^& 1 .*//msr . join '', (map { '& ' . ($_ + 1)
        . " main __ANON__ a.pl$ends[$_]\n" } 0 .. 2), "= 0 0 0 1 0 0 0 0\n",
        map { "= 1 $_ 1 2 3 4 0 0\n" } 1 .. 3;
}

subtest 'All processes have the same rows' => sub {
    my @rows = map { my $rows = Devel::DProf::Store::ClickHouse::Rows->new;
        my %p = (service => 's', version => 1, host => 'h', env => '', run => 'r-1-0-0',
            start => 5e6, duration => 7, day => '2026-11-22');
        $rows->add(\$_, \%p); $rows } anonymous(':3 seq=5', ':3 seq=6', ':9 seq=7'),
        anonymous(':3 seq=105', ':3 seq=206', ':9 seq=107'),
        anonymous(':3 seq=1', ':3 seq=2', ':9');
    for my $table ('dprof_contexts', 'dprof_samples') {
        my ($one, @others) = map { join "\n", sort split /\n/, $_->taken($table) } @rows;
        is($_, $one, "$table: the numbers of anonymous subs make no difference") for @others;
    }
    my @ids = map { (rows_of($_, 'dprof_profiles'))[0][13] } @rows;
    like($ids[0], qr/\A0:5:([0-9a-f]{8}) 0:6:([0-9a-f]{8}) 0:7:([0-9a-f]{8})\z/,
        "a profile's row has its numbers");
    is($ids[1] =~ s/:\d+:/:/gr, $ids[0] =~ s/:\d+:/:/gr, 'each with a hash that says of which sub');
    is($ids[2], '', 'numbers as dprofmerge gives them take no room');
};

subtest 'Trees become rows and trees again' => sub {
    my $tree = slice_text();
    my $unused = $tree =~ s/^& 2 .*\n\K/& 3 main unused web.pl:9\n/mr;
    for (['a slice', $tree], ['a sub that never appears', $unused],
        ['histograms', "${tree}h 1 3:4 7:1\nh 2 0:5\n"],
        ['places, keys', "$tree= 1 2 1 0 0 0 0 0 at=a%20b:1\n= 2 1 1 0 0 0 0 0 folded=3\n"
            . "= 1 2 1 0 0 0 0 0 at=b:1 folded=3 new=\\'\n"],
        ['statements', "$tree#f web.pl size=9 crc=1f text=H4sI=\n#l 1 0 4 1 2 3\n#l 2 1 4 1 2 3 "
            . "later=2\n#f other\n"],
        ['statements that are counted', "$tree#f web.pl\n#l 1 0 4\n#l 1 2 5 later=1\n"],
        ['rows of spans', $tree =~ s/^& 2 .*\n\K/& 3 sql SELECT%201 - kind=span\n/mr
            . "#s 2 rows=0\n#s 3 rows=12\n"],
        ['a server', "$tree#f web.pl\n#s 1 rows=3\n#a main::run\n#r GET%20/ seen=1 kept=1 ns=2 "
            . "longest=2 0:1\n#r b seen=1 kept=0 ns=2 longest=2 0:1\n"],
        ['a corpus', slurp(root() . '/t/corpus/lines-source')],
        ['IDs with gaps', $tree =~ s/^(& |= 2 )2/${1}1f/mgr . "h 1f 3:1\n#s 1f rows=3\n"],
        ['anonymous subs of one place', anonymous(':3 seq=126', ':3 seq=128', ':3 seq=130')],
        ['numbers of dprofmerge', anonymous(':3 seq=1', ':3 seq=2', ':9')],
        ['numbers of dprofmerge with zeros', anonymous(map { ":3 seq=0$_ in=a::b" } 1 .. 3)],
        ['numbers before and behind keys', anonymous(':3 seq=7 in=a::b', ':3 in=a::c seq=9',
            ':4 in=a::d seq=6')]) {
        my ($name, $text) = @$_;
        is(through_rows($text), $text, "$name gives the same tree after the rows");
    }
    my $name = Devel::DProf::Store::ClickHouse::Rows::name_of('sql SELECT%201 - kind=span');
    is($name, 'sql:SELECT 1',
        'the name of a span, by which a server can choose its kind');
    for (['rows in another order', "$tree#s 2 rows=0\n#s 1 rows=0\n"],
        ['a context twice', "$tree= 1 1 1 0 0 0 0 0\n"], ['a comment', "$tree# x\n"],
        ['siblings in another order', "$tree= 1 2 1 0 0 0 0 0\n= 1 1 1 0 0 0 0 0\n"],
        ['an unknown ID', "$tree= 1 3 1 0 0 0 0 0\n"],
        ['a second root', "$tree= 0 0 0 0 0 0 0 0\n"],
        ['a skipped level', "$tree= 5 1 1 0 0 0 0 0\n"], ['no end', "$tree= 1 2 1 0 0 0 0 0"],
        ['nothing', ''], ['names in another order', $tree =~ s/^(& )1( .*\n& )2/${1}2${2}1/mr],
        ['a carriage return', $tree =~ s/\n/\r\n/gr],
        ['a sub without a number', anonymous(':3', ':3 in=a::b seq=4', ':4')],
        ['two of them', anonymous(':3', ':3 in=a::b', ':4')],
        ['one number twice', anonymous(':3 in=a::b seq=4', ':3 in=a::c seq=4', ':4 seq=4')],
        ['numbers out of the order of lines', anonymous(':3 seq=10', ':3 seq=9', ':4 seq=4')],
        ['numbers between keys', anonymous(':3 a=b seq=3 c=d', ':4 seq=4', ':5 seq=4')],
        ['IDs that do not ascend', $tree =~ s/^& 1/& 3/mr],
        ['a zero in front', "$tree= 1 02 1 0 0 0 0 0\n"],
        ['another one', "${tree}h 1 3:04\n"], ['of an ID', $tree =~ s/& 2/& 02/r]) {
        my ($name, $text) = @$_;
        is(through_rows($text), undef, "$name cannot be stored as it stands");
    }
};

done_testing;
