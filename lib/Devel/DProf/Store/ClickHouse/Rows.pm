package Devel::DProf::Store::ClickHouse::Rows;

# Turns tree files into rows of tables, as text to send.

use strict;
use warnings;

use Digest::MD5 qw(md5 md5_hex);
use Devel::DProf::Core;
use Devel::DProf::Store::ClickHouse::Server;

our $VERSION = $Devel::DProf::Core::VERSION;

# The most contexts remembered between profiles, and the most bytes of names on one path.
use constant { MOST_CONTEXTS => 1_000_000, LONGEST_PATH => 16_384 };

# The form of a profile's rows. 1: they can be added up with those of others, because the lines of
# subs are as dprofmerge writes them, and all times are in the rows. 0: they cannot; so it is with
# rows of earlier versions.
use constant FORM => 1;

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
    return bless { has_form => 1, rows => {}, bytes => 0, sent => {}, pending => [], line => {},
        ctx => {}, context => {} }, $class;
}

# Notes the columns of dprof_profiles that the store has.
sub columns {
    my ($self, @columns) = @_;
    $self->{has_form} = grep { $_ eq 'form' } @columns;
    return;
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
# false, and adds nothing, if the lines have another order than the recorder and dprofmerge give
# them: rows do not keep the order of lines, which Trees.pm derives from their contents.
sub add {
    my ($self, $text, $profile) = @_;
    my $end = index $$text, "\nPART3\n";
    return 0 if $end < 0 || has_leading_zeros($text);
    my $file = { text => $text, profile => $profile, lines => [''], gid => [0], is_used => [1],
        index => { 0 => 0 }, ids => '', end => '', has_form => $self->{has_form} };
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
# otherwise be lost, and those numbered subs that no context has: the others of their places need
# them, even if histograms and statements are not read.
sub profile_row {
    my ($file) = @_;
    my ($p, $lines) = @$file{qw(profile lines)};
    my @unused = @$lines[grep { !$file->{is_used}[$_] } 1 .. $#$lines];
    return $file->{prefix} . join("\t", field($p->{env}), @$p{qw(start duration)},
        $file->{n_contexts}, $file->{n_statements} // 0,
        Devel::DProf::Store::ClickHouse::Server::array(@unused), field($file->{header}),
        $file->{has_form} ? (has_all_times($file) ? FORM : 0, $file->{ids}) : ()) . "\n";
}

# Returns whether the line of a sub has a number.
sub is_numbered { return index($_[0], ' seq=') >= 0 }

# Returns whether the contexts have all times that the header has, as the last line says. Readers
# add the rest to the root.
sub has_all_times {
    my ($file) = @_;
    my %total = $file->{header} =~ /\$rrun_([usr])time=(\d+)/g;
    my %sum = $file->{end} =~ / ([usr])[a-z]+=(\d+)/g;
    return !grep { ($total{$_} // 0) > ($sum{$_} // 0) } qw(u s r);
}

# ---- lines of a tree: each function returns false if they are out of order ----

# Reads the names of subs from pos($$text). Their IDs must ascend, as the recorder and dprofmerge
# write them; otherwise returns 0. The rows have the lines as dprofmerge would write them: anonymous
# subs that share a place are numbered from 1 up, and others have no number, so that all processes
# have the same rows. {ids} keeps what differs from that; {index} has the place of an ID in {lines}.
sub names {
    my ($self, $file) = @_;
    my ($text, $lines, $index) = @$file{qw(text lines index)};
    my ($last, $differs, @ids, %numbered, %other) = (0, 0);
    while ($$text =~ /\G& ([0-9a-f]{1,8}) ([^\x00-\x1f\x7f]+)\n/gc) {
        my ($id, $line) = (hex $1, $2);
        return 0 if $id <= $last;
        $index->{$1} = @$lines;
        if ($line =~ /\A(\S+ (?:\S*:)?(?:__ANON__|BEGIN|END) \S+)/) {
            my $place = $1;
            if (index($line, ' seq=') >= 0) { push @{ $numbered{$place} }, scalar @$lines }
            else { return 0 if $other{$place}++ }
        }
        push @ids, $id - $last - 1;
        $differs ||= $ids[-1];
        $last = $id;
        push @$lines, $line;
    }
    # Subs of a place without a number could not be told from those with one.
    return 0 if grep { $other{$_} } keys %numbered;
    my $codes = %numbered ? renumber($lines, \%numbered) // return 0 : {};
    for my $i (1 .. $#$lines) { return 0 if $lines->[$i] le $lines->[ $i - 1 ] }
    push @{ $file->{gid} }, map { $self->{line}{$_} //= 1 + keys %{ $self->{line} } }
        @$lines[1 .. $#$lines];
    $file->{ids} = join ' ', map { $ids[$_] . ($codes->{ $_ + 1 } // '') } 0 .. $#ids
        if $differs || %$codes;
    return 1;
}

# Gives the lines of anonymous subs the numbers that dprofmerge would give them. $numbered: lists of
# places in @$lines by package, name and place of the sub. Returns, by place in @$lines, the numbers
# that the file had: `^N' behind the place of the sub, or `:N' at the end of the line, and in each
# case `:HASH', where HASH stands for the sub. Returns undef if a number has no known form.
sub renumber {
    my ($lines, $numbered) = @_;
    my %codes;
    for my $place (keys %$numbered) {
        my @subs = map { [$_, $lines->[$_] =~ / seq=(\d{1,18})(?= |\z)/] } @{ $numbered->{$place} };
        my %seen;
        return undef if grep { @$_ != 2 || $lines->[ $_->[0] ] =~ / autoload=/ } @subs;
        # Subs with the same number are the same sub.
        return undef if grep { $seen{ $_->[1] + 0 }++ } @subs;
        my ($ordinal, $digits) = (0, length scalar @subs);
        for (sort { $a->[1] <=> $b->[1] } @subs) {
            my ($i, $seq) = @$_;
            $ordinal++;
            my $line = $lines->[$i];
            my $rest = substr($line, length $place) =~ s/ seq=\d+(?= |\z)//r;
            my $new = $place . (@subs > 1 ? sprintf ' seq=%0*d', $digits, $ordinal : '') . $rest;
            my $form = $line eq $new ? '' : $line eq "$place$rest seq=$seq" ? ':'
                : $line eq "$place seq=$seq$rest" ? '^' : return undef;
            $lines->[$i] = $new;
            $codes{$i} = "$form$seq:" . substr md5_hex("$place $ordinal"), 0, 8 if length $form;
        }
    }
    return \%codes;
}

# Makes the rows of contexts and of their values from pos($$text). Returns 0 if the text is not as
# dprofmerge writes it: siblings ascend by their ids, and then by the places of their calls.
sub contexts {
    my ($self, $file) = @_;
    my ($text, $gid, $is_used, $prefix, $index) = @$file{qw(text gid is_used prefix index)};
    my ($ctx_of, $n, $last, $rows) = ($self->{ctx}, 0, -1, '');
    my (@ctx, @id, @at, %all);
    while ($$text =~ /\G=\ (\d+)\ ([0-9a-f]+)\ (\d+\ \d+\ \d+\ \d+\ \d+\ \d+)((?:\ \d+)*)
            (?:\ at=([^\x00-\x20\x7f]+))?((?:\ [a-z_]+=[^\x00-\x20\x7f]*)*)\n/gcx) {
        my ($depth, $id, $values, $counters, $at, $more)
            = ($1, $index->{$2}, $3, $4, $5 // '', $6);
        return 0 if !defined $id;
        if ($depth) {
            return 0 if $depth > $last + 1 || !$id
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
    my ($text, $lines, $is_used, $prefix, $index) = @$file{qw(text lines is_used prefix index)};
    my ($last, $rows) = (0, '');
    while ($$text =~ /\Gh ([0-9a-f]+)((?: \d+:\d+)+)\n/gc) {
        my ($id, $pairs) = ($index->{$1}, $2);
        return 0 if !defined $id || $id <= $last;
        $last = $id;
        my @pairs = map { [split /:/] } split / /, substr $pairs, 1;
        return 0 if grep { $_->[0] > 63 } @pairs;
        $rows .= $prefix . join("\t", field($lines->[$id]),
            map { my $i = $_; '[' . join(',', map { $_->[$i] } @pairs) . ']' } 0, 1) . "\n";
        $is_used->[$id] ||= !is_numbered($lines->[$id]);
    }
    $file->{rows}{dprof_histograms} = $rows if length $rows;
    return 1;
}

# Makes the rows of statements, and of the files that they are in, from pos($$text). Returns 0 if
# the text is not as dprofmerge writes it.
sub statements {
    my ($self, $file) = @_;
    my ($text, $lines, $is_used, $prefix, $index) = @$file{qw(text lines is_used prefix index)};
    my ($pos, $rows) = (0, '');
    while ($$text =~ /\G#f ([^\x00-\x1f\x7f]+)\n/gc) {
        my $line = $1;
        my $number = unpack('Q>', md5($line));
        $file->{files}{$number} = $line;
        $rows .= $prefix . join("\t", $pos++, FILE, $number, 0, '', 0, 0, 0, 0, '[]', '') . "\n";
        while ($$text =~ /\G\#l\ (\d+)\ ([0-9a-f]+)\ (\d+)(?:\ (\d+\ \d+\ \d+)((?:\ \d+)*))?
                ((?:\ [a-z_]+=[^\x00-\x20\x7f]*)*)\n/gcx) {
            my ($at, $id, $count, $times, $counters, $more)
                = ($1, $index->{$2}, $3, $4, $5 // '', $6);
            return 0 if !defined $id;
            $is_used->[$id] ||= !is_numbered($lines->[$id]);
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
    my ($text, $lines, $is_used, $index) = @$file{qw(text lines is_used index)};
    my ($last, $kept) = (0, '');
    while ($$text =~ /\G#s ([0-9a-f]+) rows=(\d+)\n/gc) {
        my ($id, $rows) = ($index->{$1}, $2);
        return 0 if !defined $id || $id <= $last || $rows =~ /^0\d/;
        $last = $id;
        $is_used->[$id] ||= !is_numbered($lines->[$id]);
        $kept .= "#s $rows $lines->[$id]\n";
    }
    $kept .= $1 while $$text =~ /\G(#a [^\x00-\x1f\x7f]+\n)/gc;
    $kept .= $1 while $$text =~ /\G(#r [^\x00-\x1f\x7f]+\n)/gc;
    substr $file->{header}, -length("PART3\n"), 0, $kept;
    # Trees.pm computes the last line from all others.
    $file->{end} = $1 if $$text =~ /\G# end([^\x00-\x1f\x7f]*)\n/gc;
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
