package Devel::DProf::Store::ClickHouse::Server;

# Talks to a ClickHouse database over HTTP: statements, rows, and quoted values.

use strict;
use warnings;

use Compress::Raw::Zlib ();
use Devel::DProf::Core;
use Devel::DProf::Store qw(failed);
use Devel::DProf::Store::Http;
use Devel::DProf::Text qw(bytes);

our $VERSION = $Devel::DProf::Core::VERSION;

# Seconds to wait for an answer. A server that writes much answers late, because it answers only
# when all is done.
use constant TIMEOUT => 120;

# Longer statements need a setting, which a user may not be allowed to change.
use constant LONGEST => 200_000;

# Inserts of more bytes are large enough for a part of their own on the server.
use constant SMALL_INSERT => 1 << 20;

# The most bytes that are read of an answer; no statement of ours needs half as many. Tests set a
# smaller limit. MOST_ERROR is the limit for an error.
our $Most = 1 << 28;
use constant MOST_ERROR => 1 << 16;

# Error codes that mean the rows are wrong, so the server would refuse them again. All other errors
# can be repaired: a missing table, a wrong password, no memory, no disk space, a limit of the
# server.
my %IS_REFUSAL = map { $_ => 1 } 6, 26, 27, 33, 38, 41, 53, 69, 72, 117, 130, 131;

# Advice for some error codes.
my %REMEDY = (
    (map { $_ => 'run dprofstore init, which makes missing databases, tables and columns' }
        16, 47, 60, 81),
    (map { $_ => 'set DPROF_STORE_USER, and DPROF_STORE_PASSWORD or DPROF_STORE_PASSWORD_FILE' }
        192, 193, 194, 516),
);

# Returns the server of a store clickhouse:URL/DATABASE; nothing is asked of it yet. User and
# password come from the environment.
sub new {
    my ($class, $place, %opt) = @_;
    my ($url, $database) = $place
        =~ m{\A(https?://$Devel::DProf::Store::HOST)/([A-Za-z_][A-Za-z0-9_]{0,127})/?\z}
        or die Devel::DProf::Store::without_secrets("clickhouse:$place")
            . ": a store is written clickhouse:http[s]://HOST:PORT/DATABASE\n";
    my ($user, $password) = map { $_ // '' } Devel::DProf::Store::credentials();
    my %headers = length "$user$password"
        ? Devel::DProf::Store::Http::basic(length $user ? $user : 'default', $password) : ();
    my $http = $opt{http}
        // Devel::DProf::Store::Http->new("clickhouse:$place", $url, timeout => TIMEOUT,
            stop => $opt{stop});
    return bless { place => "clickhouse:$place", database => $database, http => $http,
        headers => \%headers }, $class;
}

sub database { return $_[0]{database} }
sub place { return $_[0]{place} }

# ---- statements ----

# Sends a statement, and calls CODE with each line of the answer, without its end. Fields are
# escaped.
sub each_line {
    my ($self, $sql, $code, %how) = @_;
    my ($rest, $error, $sum) = ('', '', 0);
    my %query = ($how{outside} ? () : (database => $self->{database}),
        length $sql > LONGEST ? (max_query_size => 2 * length $sql) : ());
    my $answer = $self->ask(\%query, $sql, {},
        sub {
            my ($bytes, $answer) = @_;
            if ($answer->{status} != 200) {
                $error .= $bytes if length $error < MOST_ERROR;
                return;
            }
            $sum += length $bytes;
            die "the answer has more than $Most bytes\n" if $sum > $Most;
            $rest .= $bytes;
            return if index($bytes, "\n") < 0;
            my @lines = split /\n/, $rest, -1;
            $rest = pop @lines;
            $code->($_) for @lines;
        });
    $answer->{content} = $error if length $error;
    $self->check($answer);
    return;
}

# Sends a statement, and returns the rows of the answer as lists of fields. HOW: outside, if the
# database may not exist yet.
sub rows {
    my ($self, $sql, %how) = @_;
    my @rows;
    $self->each_line($sql, sub { push @rows, [fields($_[0])] }, %how);
    return @rows;
}

# Sends a statement, and returns the first field of the answer, or undef.
sub value {
    my ($self, $sql, %how) = @_;
    my ($row) = $self->rows($sql, %how);
    return $row ? $row->[0] : undef;
}

# Sends a statement without an answer.
sub run {
    my ($self, $sql, %how) = @_;
    $self->each_line($sql, sub { }, %how);
    return;
}

# Inserts rows, and waits until all servers have them: otherwise a table on several servers would
# distribute them later, and a listed profile would be incomplete for a while. A server that can
# collects the small inserts of several clients, and answers when the rows are durable.
sub insert {
    my ($self, $table, $columns, $rows) = @_;
    my $query = "INSERT INTO $table (" . join(', ', @$columns) . ') FORMAT TabSeparated';
    my %together = length $rows <= SMALL_INSERT && $self->collects_inserts
        ? (async_insert => 1, wait_for_async_insert => 1) : ();
    $self->check($self->ask({ database => $self->{database}, query => $query, %together,
        insert_distributed_sync => 1 }, packed($rows), { 'Content-Encoding' => 'gzip' }));
    return;
}

# Returns whether the server can collect the small inserts of many clients (21.11 and newer).
sub collects_inserts {
    my ($self) = @_;
    return $self->{collects} //= ($self->value('SELECT count() FROM system.settings WHERE name IN '
        . "('async_insert', 'wait_for_async_insert')") // 0) == 2 ? 1 : 0;
}

# Returns bytes compressed by gzip. The lowest level is best here, as most of the text is repeated
# names.
sub packed {
    my ($bytes) = @_;
    my ($stream, $code) = Compress::Raw::Zlib::Deflate->new(-Level => 1, -AppendOutput => 1,
        -WindowBits => Compress::Raw::Zlib::WANT_GZIP());
    my $packed = '';
    failed("gzip: $code") if !$stream || $stream->deflate($bytes, $packed) != 0
        || $stream->flush($packed) != 0;
    return $packed;
}

# Sends a query with its body. Returns the HTTP answer, whatever its status is.
sub ask {
    my ($self, $query, $body, $headers, $callback) = @_;
    # Without this, the server could begin an answer with status 200 and report an error later in
    # it.
    my %query = (%$query, wait_end_of_query => 1);
    return $self->{http}->ask('/?' . Devel::DProf::Store::Http::query(
        map { $_ => $query{$_} } sort keys %query),
        { %{ $self->{headers} }, 'Content-Type' => 'text/plain', %$headers }, $body,
        $callback ? (data_callback => $callback) : ());
}

# Dies if an answer is an error. The Failure says whether trying again can help, and $REMEDY what
# else does.
sub check {
    my ($self, $answer) = @_;
    return if $answer->{status} == 200;
    my $text = $answer->{content} // '';
    my $code = $text =~ /\bCode: (\d+)/ ? $1 : 0;
    my $line = Devel::DProf::Store::Http::answer_line($text);
    $line = "$answer->{status} $answer->{reason}" if !length $line;
    $line .= "; $REMEDY{$code}" if $REMEDY{$code};
    failed(bytes($self->place . ": $line"), answer => $text,
        after => Devel::DProf::Store::Http::retry_seconds($answer),
        retry => $IS_REFUSAL{$code} || $answer->{status} == 413 ? 0 : 1);
}

# ---- values ----

my %ESCAPE = ("\\" => '\\\\', "'" => "\\'", "\t" => '\\t', "\n" => '\\n', "\r" => '\\r',
    "\0" => '\\0');
my %MEANS = (t => "\t", n => "\n", r => "\r", 0 => "\0", b => "\b", f => "\f");

# Returns any bytes as a literal of SQL, or of an array.
sub quoted { return "'" . $_[0] =~ s/([\\'\t\n\r\0])/$ESCAPE{$1}/gr . "'" }

# Returns any bytes as a field of a row to send.
sub field { return $_[0] =~ s/([\\\t\n\r\0])/$ESCAPE{$1}/gr }

# Returns the bytes of an escaped field, or of a literal without its quotes.
sub unescape { return index($_[0], '\\') < 0 ? $_[0] : $_[0] =~ s/\\(.)/$MEANS{$1} \/\/ $1/gser }

# Returns the fields of a line, unescaped. A line has at least one field, which may be empty.
sub fields { return length $_[0] ? map { unescape($_) } split(/\t/, $_[0], -1) : '' }

# Returns strings as the text of an array for a field of a row.
sub array { return '[' . join(',', map { quoted($_) } @_) . ']' }

# Returns the strings of an array in a field of a row, which array() has made.
sub elements {
    my ($text) = @_;
    my @elements;
    push @elements, unescape($1) while $text =~ /'((?:[^'\\]|\\.)*)'/gs;
    return @elements;
}

# Returns the condition in SQL that a column has one of some values.
sub one_of {
    my ($column, @values) = @_;
    return '0' if !@values;
    return "$column = " . quoted($values[0]) if @values == 1;
    return "$column IN (" . join(', ', map { quoted($_) } @values) . ')';
}

1;
