package Devel::DProf::Store::ClickHouse::Schema;

# The tables in ClickHouse, and the statements that make missing ones.

use strict;
use warnings;

use Devel::DProf::Core;
use Devel::DProf::Store qw(failed);

our $VERSION = $Devel::DProf::Core::VERSION;

# A table has columns, each with a name, a type, and a kind for newer servers; key, the columns that
# identify a row; newest, the column that decides which of several rows with that key stays; and
# daily, whether there is a partition for each day. The columns that all rows of a profile share
# come first: sorted by them, they take almost no room.
my @PROFILE = (['ts', 'DateTime', 'time'], ['service', 'String', 'few'],
    ['version', 'String', 'few'], ['host', 'String', 'few'], ['run', 'String', 'few']);
my @KEY = qw(service version ts run);
my @TIMES = map { [$_, 'UInt64', 'number'] } qw(user system real);

my @TABLES = (
    { name => 'dprof_profiles', columns => [@PROFILE, ['env', 'String', 'few'],
        # These are microseconds; ts has the whole seconds.
        ['start', 'UInt64', 'time'], ['duration', 'UInt64', 'number'],
        ['contexts', 'UInt64', 'number'], ['statements', 'UInt64', 'number'],
        # Subs that are named but never appear in a context.
        ['names', 'Array(String)', 'text'], ['header', 'String', 'text']],
        key => [@KEY], daily => 1 },
    { name => 'dprof_contexts', columns => [['service', 'String', 'few'], ['ctx', 'UInt64', ''],
        ['parent', 'UInt64', ''], ['depth', 'UInt32', 'number'], ['sub', 'String', 'text'],
        ['line', 'String', 'text'], ['at', 'String', 'text'], ['subs', 'Array(String)', 'text'],
        ['seen', 'Date', '']],
        key => ['service', 'ctx'], newest => 'seen' },
    { name => 'dprof_samples', columns => [@PROFILE, ['ctx', 'UInt64', ''],
        (map { [$_, 'UInt64', 'number'] } 'calls'), @TIMES,
        (map { [$_, 'UInt64', 'number'] } qw(longest shortest)),
        ['counters', 'Array(UInt64)', 'text'], ['more', 'String', 'text']],
        key => [@KEY, 'ctx'], daily => 1 },
    { name => 'dprof_histograms', columns => [@PROFILE, ['line', 'String', 'text'],
        ['buckets', 'Array(UInt8)', 'text'], ['calls', 'Array(UInt64)', 'text']],
        key => [@KEY, 'line'], daily => 1 },
    { name => 'dprof_statements', columns => [@PROFILE, ['pos', 'UInt32', 'number'],
        ['kind', 'UInt8', ''], ['file', 'UInt64', ''], ['number', 'UInt64', 'number'],
        ['line', 'String', 'text'], ['count', 'UInt64', 'number'], @TIMES,
        ['counters', 'Array(UInt64)', 'text'], ['more', 'String', 'text']],
        key => [@KEY, 'pos'], daily => 1 },
    { name => 'dprof_files', columns => [['service', 'String', 'few'], ['file', 'UInt64', ''],
        ['name', 'String', 'text'], ['line', 'String', 'text'], ['seen', 'Date', '']],
        key => ['service', 'file'], newest => 'seen' },
);

# Servers of 2018 know neither codecs nor dictionaries.
my %NEWER = (
    few => sub { return "LowCardinality($_[0])" },
    number => sub { return "$_[0] CODEC(T64, ZSTD(1))" },
    time => sub { return "$_[0] CODEC(DoubleDelta, ZSTD(1))" },
    text => sub { return "$_[0] CODEC(ZSTD(1))" },
    '' => sub { return $_[0] },
);

# Returns the names of all tables.
sub names { return map { $_->{name} } @TABLES }

# Returns the tables with rows of single profiles, which are stored by day.
sub daily { return map { $_->{name} } grep { $_->{daily} } @TABLES }

# Returns the tables with rows that profiles share.
sub shared { return map { $_->{name} } grep { $_->{newest} } @TABLES }

# Returns the names of a table's columns.
sub columns {
    my ($name) = @_;
    my ($table) = grep { $_->{name} eq $name } @TABLES;
    return map { $_->[0] } @{ $table->{columns} };
}

# Returns the statement that makes a table on a server of that version.
sub create_statement {
    my ($name, $version) = @_;
    my ($table) = grep { $_->{name} eq $name } @TABLES;
    my $is_newer = $version =~ /\A(\d+)/ && $1 >= 20;
    my @columns = map {
        my ($column, $type, $kind) = @$_;
        "    $column " . ($is_newer ? $NEWER{$kind}->($type) : $type);
    } @{ $table->{columns} };
    return "CREATE TABLE IF NOT EXISTS $name (\n" . join(",\n", @columns) . "\n)\n"
        . 'ENGINE = ReplacingMergeTree' . ($table->{newest} ? "($table->{newest})" : '') . "\n"
        . ($table->{daily} ? "PARTITION BY toYYYYMMDD(ts)\n" : '')
        . 'ORDER BY (' . join(', ', @{ $table->{key} }) . ')';
}

# Makes the database and the tables that a server lacks. Returns a report as lines.
sub make {
    my ($server) = @_;
    my $database = $server->database;
    my $version = $server->value('SELECT version()', outside => 1);
    my @done = ("ClickHouse $version");
    my $is_there = $server->value('SELECT count() FROM system.databases WHERE name = '
        . Devel::DProf::Store::ClickHouse::Server::quoted($database), outside => 1);
    $server->run("CREATE DATABASE IF NOT EXISTS $database", outside => 1) if !$is_there;
    push @done, "database $database " . ($is_there ? 'is there' : 'was made');
    my %engine = engines($server);
    for my $name (names()) {
        my $engine = $engine{$name};
        if (!defined $engine) { $server->run(create_statement($name, $version)) }
        else { check_columns($server, $name) }
        push @done, "table $name " . (!defined $engine ? 'was made'
            : $engine eq 'Distributed' ? 'is there, on several servers' : 'is there');
    }
    return @done;
}

# Returns the engines of our existing tables, by table.
sub engines {
    my ($server) = @_;
    return map { @$_ } $server->rows('SELECT name, engine FROM system.tables WHERE database = '
        . Devel::DProf::Store::ClickHouse::Server::quoted($server->database)
        . " AND name LIKE 'dprof_%'");
}

# Dies if a table of the database lacks a column that this version needs.
sub check_columns {
    my ($server, $name) = @_;
    my %has = map { $_->[0] => 1 } $server->rows("DESCRIBE TABLE $name");
    my @missing = grep { !$has{$_} } columns($name);
    failed($server->place . ": table $name has no column " . join(', ', @missing)
        . '; dprofstore init did not make this table; name another database', retry => 1)
        if @missing;
    return;
}

1;
