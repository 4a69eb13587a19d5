package Devel::DProf::Store::ClickHouse::Schema;

# The tables in ClickHouse, and the statements that make missing ones.

use strict;
use warnings;

use Devel::DProf::Core;
use Devel::DProf::Store qw(failed);

our $VERSION = $Devel::DProf::Core::VERSION;

# The version of the tables that init makes, and the oldest one whose tools work with them. A column
# is added with its version as the fourth element; whatever cannot be added as a column is a new
# table beside the old one. Then tools of both versions work. Tests set an earlier version.
our $Version = 2;
use constant OLDEST => 1;

# A table has columns, each with a name, a type, a kind for newer servers, and, if it is not in the
# first version, its version; key, the columns that identify a row; newest, the column that decides
# which of several rows with that key stays; and daily, whether there is a partition for each day.
# The columns that all rows of a profile share come first: sorted by them, they take almost no room.
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
        ['names', 'Array(String)', 'text'], ['header', 'String', 'text'],
        # What lines of subs look like in the rows, and what they were in the file (Rows.pm: names).
        ['form', 'UInt8', '', 2], ['ids', 'String', 'text', 2]],
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
    # The versions of the tables that this database has had.
    { name => 'dprof_schema', columns => [['version', 'UInt32', ''], ['oldest', 'UInt32', ''],
        ['made', 'DateTime', 'time']], key => ['version'], since => 2 },
);

# Servers of 2018 know neither codecs nor dictionaries.
my %NEWER = (
    few => sub { return "LowCardinality($_[0])" },
    number => sub { return "$_[0] CODEC(T64, ZSTD(1))" },
    time => sub { return "$_[0] CODEC(DoubleDelta, ZSTD(1))" },
    text => sub { return "$_[0] CODEC(ZSTD(1))" },
    '' => sub { return $_[0] },
);

# Returns the tables of the version.
sub tables { return grep { ($_->{since} // 1) <= $Version } @TABLES }

# Returns the names of all tables.
sub names { return map { $_->{name} } tables() }

# Returns the tables with rows of single profiles, which are stored by day.
sub daily { return map { $_->{name} } grep { $_->{daily} } tables() }

# Returns the tables with rows that profiles share.
sub shared { return map { $_->{name} } grep { $_->{newest} } tables() }

# Returns the columns of a table in the version, as in @TABLES.
sub columns_of {
    my ($name) = @_;
    my ($table) = grep { $_->{name} eq $name } @TABLES;
    return grep { ($_->[3] // 1) <= $Version } @{ $table->{columns} };
}

# Returns the names of a table's columns.
sub columns { return map { $_->[0] } columns_of(@_) }

# Returns the columns that the tables of a database have, as a hash of hashes by table and column.
# Tables that do not exist are missing. Dies if this version cannot use the tables.
sub layout {
    my ($server) = @_;
    my %has;
    $has{ $_->[0] }{ $_->[1] } = 1 for $server->rows('SELECT table, name FROM system.columns WHERE '
        . 'database = ' . Devel::DProf::Store::ClickHouse::Server::quoted($server->database)
        . " AND table LIKE 'dprof_%'");
    check_version($server) if $has{dprof_schema} && $Version > 1;
    return \%has;
}

# Dies if the tables need newer tools.
sub check_version {
    my ($server) = @_;
    my ($oldest) = map { $_->[0] } $server->rows('SELECT max(oldest) FROM dprof_schema');
    failed($server->place . ": its tables need tools of schema $oldest or newer, and these have "
        . "schema $Version; install the Devel::DProf that the store's other users have", retry => 1)
        if ($oldest // 0) > $Version;
    return;
}

# Returns a column's name and type for a server of that version.
sub column_sql {
    my ($row, $version) = @_;
    my ($column, $type, $kind) = @$row;
    return "$column " . ($version =~ /\A(\d+)/ && $1 >= 20 ? $NEWER{$kind}->($type) : $type);
}

# Returns the statement that makes a table on a server of that version.
sub create_statement {
    my ($name, $version) = @_;
    my ($table) = grep { $_->{name} eq $name } @TABLES;
    my @columns = map { '    ' . column_sql($_, $version) } columns_of($name);
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
        my @added;
        if (!defined $engine) { $server->run(create_statement($name, $version)) }
        else { @added = add_columns($server, $name, $version) }
        push @done, "table $name " . (!defined $engine ? 'was made'
            : ($engine eq 'Distributed' ? 'is there, on several servers' : 'is there')
            . (@added ? '; added: ' . join ', ', @added : ''));
    }
    note_version($server) if $Version > 1;
    return @done;
}

# Notes the version of the tables, unless the database has it or a later one.
sub note_version {
    my ($server) = @_;
    check_version($server);
    my $had = $server->value('SELECT max(version) FROM dprof_schema') // 0;
    $server->run("INSERT INTO dprof_schema (version, oldest, made) SELECT $Version, "
        . OLDEST . ', now()') if $had < $Version;
    return;
}

# Returns the engines of our existing tables, by table.
sub engines {
    my ($server) = @_;
    return map { @$_ } $server->rows('SELECT name, engine FROM system.tables WHERE database = '
        . Devel::DProf::Store::ClickHouse::Server::quoted($server->database)
        . " AND name LIKE 'dprof_%'");
}

# Adds the columns to a table that it lacks because an earlier version has made it. Returns their
# names. Dies if no version can have made the table.
sub add_columns {
    my ($server, $name, $version) = @_;
    my %has = map { $_->[0] => 1 } $server->rows("DESCRIBE TABLE $name");
    my @missing = grep { !$has{ $_->[0] } } columns_of($name);
    my @first = map { $_->[0] } grep { !$_->[3] } @missing;
    failed($server->place . ": table $name has no column " . join(', ', @first)
        . '; dprofstore init did not make this table; name another database', retry => 1)
        if @first;
    $server->run("ALTER TABLE $name ADD COLUMN " . column_sql($_, $version)) for @missing;
    return map { $_->[0] } @missing;
}

1;
