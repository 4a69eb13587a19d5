package Devel::DProf::Store::ClickHouse::Rows;

# Turns tree files into rows of tables, as text to send.

use strict;
use warnings;

use Digest::MD5 qw(md5);
use Devel::DProf::Core;
use Devel::DProf::Store::ClickHouse::Server;

our $VERSION = $Devel::DProf::Core::VERSION;

# The most contexts remembered between profiles, and the most bytes of names on one path.
use constant { MOST_CONTEXTS => 1_000_000, LONGEST_PATH => 16_384 };

# Kinds of rows of dprof_statements: a source file, a counted statement, a statement with times.
use constant { FILE => 0, COUNTED => 1, TIMED => 2 };

BEGIN {
    *field = \&Devel::DProf::Store::ClickHouse::Server::field;
    *quoted = \&Devel::DProf::Store::ClickHouse::Server::quoted;
}

# Makes the object that turns trees into rows. {sent}{TABLE}{SERVICE}{KEY} is the day for which the
# server has a shared row, provided that the rows in {pending} arrive.
sub new {
    my ($class) = @_;
    return bless { rows => {}, bytes => 0, sent => {}, pending => [], line => {}, ctx => {},
        context => {} }, $class;
}

# Returns the bytes of the rows that wait.
sub bytes { return $_[0]{bytes} }

# Returns the waiting rows of a table, as text, and forgets them.
sub taken {
    my ($self, $table) = @_;
    my $rows = delete $self->{rows}{$table} // '';
    $self->{bytes} -= length $rows;
    return $rows;
}

# Adds rows, a text, to the waiting ones of a table.
sub add_rows {
    my ($self, $table, $rows) = @_;
    $self->{rows}{$table} .= $rows;
    $self->{bytes} += length $rows;
    return;
}

# Notes that all rows that were taken have arrived at the server.
sub arrived { @{ $_[0]{pending} } = () }

# Forgets rows that were not sent, and all contexts if there are too many of them.
sub clear {
    my ($self) = @_;
    delete $self->{sent}{ $_->[0] }{ $_->[1] }{ $_->[2] } for @{ $self->{pending} };
    @$self{qw(rows bytes pending)} = ({}, 0, []);
    @$self{qw(line ctx context sent)} = ({}, {}, {}, {})
        if keys %{ $self->{context} } > MOST_CONTEXTS;
    return;
}

# ---- a profile ----

# Adds the rows of a tree. TEXT is the file's text. PROFILE has service, version, host, run, env;
# start and duration in microseconds; and day, until which the shared rows are needed. Returns
# false, and adds nothing, if the text differs from the text that dprofmerge would write: rows do
# not keep the order of lines, which Trees.pm derives from their contents.
sub add {
    my ($self, $text, $profile) = @_;
    my $end = index $$text, "\nPART3\n";
    return 0 if $end < 0 || has_leading_zeros($text);
    my $file = { text => $text, profile => $profile, lines => [''], gid => [0], is_used => [1] };
    $file->{header} = substr $$text, 0, $end + 7;
    $file->{prefix} = join '', map { "$_\t" } sprintf('%010d', seconds($profile->{start})),
        map { field($profile->{$_}) } qw(service version host run);
    pos($$text) = $end + 7;
    my $is_canonical = $self->names($file) && $self->contexts($file) && $self->histograms($file)
        && $self->statements($file) && $self->rest($file) && pos($$text) == length $$text;
    return 0 if !$is_canonical;
    my $rows = $file->{rows};
    $self->add_rows($_, $rows->{$_}) for sort keys %$rows;
    $self->add_shared_rows($file);
    $self->add_rows('dprof_profiles', profile_row($file));
    return 1;
}

# Returns whether a number has leading zeros, which rows would lose. The first pattern is fast, and
# almost always decides.
sub has_leading_zeros {
    my ($text) = @_;
    return $$text =~ /[ :]0[0-9a-f]/
        && $$text =~ /^(?:[=h]|\#l) (?:[0-9a-f: ]*[ :])?0[0-9a-f]|^& 0/m;
}

# Returns microseconds as whole seconds, up to the largest DateTime.
sub seconds {
    my ($micros) = @_;
    my $seconds = int($micros / 1e6);
    return $seconds > 4294967295 ? 4294967295 : $seconds;
}

# Returns the row of the profile itself. It names the subs that no other row uses, which would
# otherwise be lost.
sub profile_row {
    my ($file) = @_;
    my ($p, $lines) = @$file{qw(profile lines)};
    my @unused = @$lines[grep { !$file->{is_used}[$_] } 1 .. $#$lines];
    return $file->{prefix} . join("\t", field($p->{env}), @$p{qw(start duration)},
        $file->{n_contexts}, $file->{n_statements} // 0,
        Devel::DProf::Store::ClickHouse::Server::array(@unused), field($file->{header})) . "\n";
}

# ---- lines of a tree: each function returns false if they are out of order ----

# Reads the names of subs from pos($$text), which must be in order and numbered without gaps, as
# dprofmerge writes them; otherwise returns 0.
sub names {
    my ($self, $file) = @_;
    my ($text, $lines, $gid) = @$file{qw(text lines gid)};
    while ($$text =~ /\G& ([0-9a-f]+) ([^\x00-\x1f\x7f]+)\n/gc) {
        return 0 if hex $1 != @$lines || $2 le $lines->[-1];
        push @$lines, $2;
        push @$gid, $self->{line}{$2} //= 1 + keys %{ $self->{line} };
    }
    return 1;
}

# Makes the rows of contexts and of their values from pos($$text). Returns 0 if the text is not as
# dprofmerge writes it: siblings ascend by their ids, and then by the places of their calls.
sub contexts {
    my ($self, $file) = @_;
    my ($text, $gid, $is_used, $prefix) = @$file{qw(text gid is_used prefix)};
    my ($ctx_of, $n, $last, $rows) = ($self->{ctx}, 0, -1, '');
    my (@ctx, @id, @at, %all);
    while ($$text =~ /\G=\ (\d+)\ ([0-9a-f]+)\ (\d+\ \d+\ \d+\ \d+\ \d+\ \d+)((?:\ \d+)*)
            (?:\ at=([^\x00-\x20\x7f]+))?((?:\ [a-z_]+=[^\x00-\x20\x7f]*)*)\n/gcx) {
        my ($depth, $id, $values, $counters, $at, $more) = ($1, hex $2, $3, $4, $5 // '', $6);
        if ($depth) {
            return 0 if $depth > $last + 1 || !$id || $id >= @$gid
                || $depth <= $last && ($id < $id[$depth]
                    || $id == $id[$depth] && $at le $at[$depth]);
            $ctx[$depth] = $ctx_of->{"$ctx[$depth - 1] $gid->[$id] $at"}
                //= $self->context($ctx[ $depth - 1 ], $depth, $file->{lines}[$id], $at);
            $is_used->[$id] = 1;
        } else {
            return 0 if $n || $id || length $at;
            $ctx[0] = 0;
        }
        ($last, $id[$depth], $at[$depth]) = ($depth, $id, $at);
        $n++;
        $values =~ tr/ /\t/;
        if (length $counters) {
            $counters =~ tr/ /,/;
            substr $counters, 0, 1, '';
        }
        $more = field($more) if length $more;
        $rows .= "$prefix$ctx[$depth]\t$values\t[$counters]\t$more\n";
        $all{ $ctx[$depth] } = 1;
    }
    # Two contexts with the same hash would become one.
    return 0 if keys %all != $n;
    @$file{qw(n_contexts ctx)} = ($n, \%all);
    $file->{rows}{dprof_samples} = $rows;
    return $n > 0;
}

# Returns the number of a context, a hash of its parent's number and its sub, so that different
# paths have different numbers. Keeps the rest of the context's row in {context}.
sub context {
    my ($self, $parent, $depth, $line, $at) = @_;
    my $ctx = unpack 'Q>', md5(pack('Q>', $parent) . "$line\0$at");
    $ctx ||= 1;
    my $sub = name_of($line);
    my $quoted = quoted($sub);
    my $subs = $self->{context}{$parent} ? $self->{context}{$parent}[1] : '';
    $subs .= length $subs ? ",$quoted" : $quoted
        if index(",$subs,", ",$quoted,") < 0 && length $subs < LONGEST_PATH;
    $self->{context}{$ctx} = [join("\t", $parent, $depth, field($sub), field($line), field($at)),
        $subs];
    return $ctx;
}

# Returns the name of a sub for people, from the rest of its line.
sub name_of {
    my ($line) = @_;
    my ($package, $name) = map { $_ eq '%' ? '' : s/%([0-9A-F]{2})/chr hex $1/ger }
        (split / /, $line, 3)[0, 1];
    my $between = $line =~ / kind=span(?: |\z)/ ? ':' : '::';
    return length $package ? $package . $between . ($name // '') : $name // '';
}

# Makes the rows of the durations of calls from pos($$text). Returns 0 if the text is not as
# dprofmerge writes it.
sub histograms {
    my ($self, $file) = @_;
    my ($text, $lines, $is_used, $prefix) = @$file{qw(text lines is_used prefix)};
    my ($last, $rows) = (0, '');
    while ($$text =~ /\Gh ([0-9a-f]+)((?: \d+:\d+)+)\n/gc) {
        my ($id, $pairs) = (hex $1, $2);
        return 0 if $id <= $last || $id >= @$lines;
        $last = $id;
        my @pairs = map { [split /:/] } split / /, substr $pairs, 1;
        return 0 if grep { $_->[0] > 63 } @pairs;
        $rows .= $prefix . join("\t", field($lines->[$id]),
            map { my $i = $_; '[' . join(',', map { $_->[$i] } @pairs) . ']' } 0, 1) . "\n";
        $is_used->[$id] = 1;
    }
    $file->{rows}{dprof_histograms} = $rows if length $rows;
    return 1;
}

# Makes the rows of statements, and of the files that they are in, from pos($$text). Returns 0 if
# the text is not as dprofmerge writes it.
sub statements {
    my ($self, $file) = @_;
    my ($text, $lines, $is_used, $prefix) = @$file{qw(text lines is_used prefix)};
    my ($pos, $rows) = (0, '');
    while ($$text =~ /\G#f ([^\x00-\x1f\x7f]+)\n/gc) {
        my $line = $1;
        my $number = unpack('Q>', md5($line));
        $file->{files}{$number} = $line;
        $rows .= $prefix . join("\t", $pos++, FILE, $number, 0, '', 0, 0, 0, 0, '[]', '') . "\n";
        while ($$text =~ /\G\#l\ (\d+)\ ([0-9a-f]+)\ (\d+)(?:\ (\d+\ \d+\ \d+)((?:\ \d+)*))?
                ((?:\ [a-z_]+=[^\x00-\x20\x7f]*)*)\n/gcx) {
            my ($at, $id, $count, $times, $counters, $more) = ($1, hex $2, $3, $4, $5 // '', $6);
            return 0 if $id >= @$lines;
            $is_used->[$id] = 1;
            $counters = substr($counters, 1) =~ tr/ /,/r if length $counters;
            $rows .= $prefix . join("\t", $pos++, defined $times ? TIMED : COUNTED, $number, $at,
                field($lines->[$id]), $count, ($times // '0 0 0') =~ tr/ /\t/r, "[$counters]",
                field($more)) . "\n";
        }
    }
    $file->{n_statements} = $pos;
    $file->{rows}{dprof_statements} = $rows if length $rows;
    return 1;
}

# Keeps the lines about rows of spans (#s), with the name of the sub in place of its ID, and those
# about a server (#a, #r). They stand before the last line of the header, where readers of a tree
# take them for comments. Returns 0 if they are not as dprofmerge writes them.
sub rest {
    my ($self, $file) = @_;
    my ($text, $lines, $is_used) = @$file{qw(text lines is_used)};
    my ($last, $kept) = (0, '');
    while ($$text =~ /\G#s ([0-9a-f]+) rows=(\d+)\n/gc) {
        my ($id, $rows) = (hex $1, $2);
        return 0 if $id <= $last || $id >= @$lines || $1 =~ /^0/ || $rows =~ /^0\d/;
        $last = $id;
        $is_used->[$id] = 1;
        $kept .= "#s $rows $lines->[$id]\n";
    }
    $kept .= $1 while $$text =~ /\G(#a [^\x00-\x1f\x7f]+\n)/gc;
    $kept .= $1 while $$text =~ /\G(#r [^\x00-\x1f\x7f]+\n)/gc;
    substr $file->{header}, -length("PART3\n"), 0, $kept;
    # Trees.pm computes the last line from all others.
    $$text =~ /\G# end [^\x00-\x1f\x7f]*\n/gc;
    return 1;
}

# ---- rows that profiles share ----

# Adds those rows that profiles share (contexts, files), if the server lacks them or does not keep
# them as long as this profile needs them.
sub add_shared_rows {
    my ($self, $file) = @_;
    my $p = $file->{profile};
    my $service = field($p->{service});
    my $context = $self->{context};
    $self->add_missing('dprof_contexts', $p, $file->{ctx}, sub {
        my $row = $_[0] ? $context->{ $_[0] } : ["0\t0\t(program)\t\t", ''];
        return "$service\t$_[0]\t$row->[0]\t[$row->[1]]\t$p->{day}\n";
    });
    $self->add_missing('dprof_files', $p, $file->{files} // {}, sub {
        my $line = $file->{files}{ $_[0] };
        my ($name) = split / /, $line;
        return join("\t", $service, $_[0], field($name =~ s/%([0-9A-F]{2})/chr hex $1/ger),
            field($line), $p->{day}) . "\n";
    });
    return;
}

# Adds the rows of a shared table whose KEYS the server does not have for the profile's day, and
# remembers them as sent. ROW makes the row of a key.
sub add_missing {
    my ($self, $table, $profile, $keys, $row) = @_;
    my ($service, $day) = @$profile{qw(service day)};
    my $sent = $self->{sent}{$table}{$service} //= {};
    my $rows = '';
    for my $key (keys %$keys) {
        next if ($sent->{$key} // '') ge $day;
        $rows .= $row->($key);
        $sent->{$key} = $day;
        push @{ $self->{pending} }, [$table, $service, $key];
    }
    $self->add_rows($table, $rows) if length $rows;
    return;
}

1;
