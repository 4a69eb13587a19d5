package Devel::DProf::Store::ClickHouse;

# A store in a ClickHouse database, over HTTP. Profiles become rows, SQL selects them, and rows
# become the same tree files again.

use strict;
use warnings;

use POSIX ();
use Scalar::Util qw(looks_like_number);
use Devel::DProf::Input ();
use Devel::DProf::Store qw(failed);
use Devel::DProf::Store::ClickHouse::Rows;
use Devel::DProf::Store::ClickHouse::Schema;
use Devel::DProf::Store::ClickHouse::Server;
use Devel::DProf::Store::ClickHouse::Trees;
use Devel::DProf::Store::RunSet;
use Devel::DProf::Store::Spool ();
use Devel::DProf::Write;

our $VERSION = $Devel::DProf::Core::VERSION;

# The most bytes of rows and the most days in one insert (a server makes a file per day; newer ones
# refuse more than 100), the most contexts and profiles in one query, and the most names in one
# condition.
use constant { MOST_BYTES => 16 << 20, MOST_DAYS => 50, MOST_CONTEXTS => 500_000,
    MOST_PROFILES => 500, MOST_NAMES => 10_000 };

BEGIN {
    *quoted = \&Devel::DProf::Store::ClickHouse::Server::quoted;
    *fields = \&Devel::DProf::Store::ClickHouse::Server::fields;
    *one_of = \&Devel::DProf::Store::ClickHouse::Server::one_of;
}

# Makes a store for a place URL/DATABASE. Nothing is sent yet.
sub new {
    my ($class, $place, %opt) = @_;
    return bless { server => Devel::DProf::Store::ClickHouse::Server->new($place, %opt),
        rows => Devel::DProf::Store::ClickHouse::Rows->new, trees => {} }, $class;
}

# Makes the database and the tables that are missing. Returns a report as lines.
sub init {
    my ($self) = @_;
    delete $self->{layout};
    return Devel::DProf::Store::ClickHouse::Schema::make($self->{server});
}

# Returns whether the store has a column. A table that an earlier version has made, and no later
# dprofstore init has seen, lacks the later ones.
sub has_column {
    my ($self, $table, $column) = @_;
    my $layout = $self->{layout} //= Devel::DProf::Store::ClickHouse::Schema::layout(
        $self->{server});
    # Without the table, the statement that needs it gives the error.
    return !$layout->{$table} || $layout->{$table}{$column} ? 1 : 0;
}

# Returns the columns of a table that this version knows and the store has.
sub columns {
    my ($self, $table) = @_;
    return grep { $self->has_column($table, $_) }
        Devel::DProf::Store::ClickHouse::Schema::columns($table);
}

# ---- adding ----

# Adds profiles. The row in dprof_profiles, which lists a profile, is sent last. So other rows that
# an interrupted push has left are not visible, and the next push sends the same rows again.
sub add {
    my ($self, $profiles) = @_;
    my @new = $self->new_profiles(map { checked_profile($_) } @$profiles);
    my $rows = $self->{rows};
    $rows->clear;
    $rows->columns($self->columns('dprof_profiles')) if @new;
    my %days;
    for my $p (@new) {
        $days{ int($p->{start} / 86400e6) } = 1;
        $self->finish, %days = () if keys %days > MOST_DAYS;
        $self->add_rows_of($p);
        $self->send_rows if $rows->bytes > MOST_BYTES;
    }
    $self->finish;
    return;
}

# Returns a copy of a profile with its times in microseconds, and in `day' the day until which it
# needs the rows that profiles share. Dies if its identity or its times are wrong.
sub checked_profile {
    my ($p) = @_;
    ($p->{run} // '') =~ /\A\S+-\d+-\d+-\d+\z/
        or failed(($p->{run} // '') . ': an identity is RUN-PID-TID-SLICE');
    my ($start, $seconds) = map { $_ || 0 } @$p{qw(start seconds)};
    for my $time ($start, $seconds) {
        failed("$time: times of profiles must be seconds") if !looks_like_number($time)
            || !($time >= 0 && $time < 1e11);
    }
    my $last = $start > time && $start < 4e9 ? $start : time;
    return { %$p, (map { $_ => $p->{$_} // '' } qw(service version host env)),
        start => micros($start), duration => micros($seconds),
        day => POSIX::strftime('%Y-%m-%d', gmtime $last) };
}

# Returns seconds as a whole number of microseconds.
sub micros { return sprintf '%.0f', $_[0] * 1e6 }

# Returns the key of a profile: run, service and version.
sub key_of { return join "\0", @{ $_[0] }{qw(run service version)} }

# Returns those of the profiles that the store lacks, each once. Dies if the store has another
# profile of the same identity.
sub new_profiles {
    my ($self, @profiles) = @_;
    my (%seen, %when);
    for my $row (@profiles ? $self->{server}->rows('SELECT DISTINCT run, service, version, start, '
        . 'duration FROM dprof_profiles WHERE ' . condition_for([qw(run)], @profiles)) : ()) {
        $seen{ join "\0", @$row[0 .. 2] } = 1;
        $when{ $row->[0] } = "$row->[3] $row->[4]";
    }
    for my $p (@profiles) {
        my $when = $when{ $p->{run} } //= "$p->{start} $p->{duration}";
        failed(($p->{file} // '') . ": another profile has the same run, process, thread and slice "
            . "($p->{run}), and another start or length; keep one of the two")
            if $when ne "$p->{start} $p->{duration}";
    }
    return grep { !$seen{ key_of($_) }++ } @profiles;
}

# Returns a condition in SQL on times and these columns that holds for these profiles, and for few
# others.
sub condition_for {
    my ($columns, @profiles) = @_;
    my ($first, $last) = map { Devel::DProf::Store::ClickHouse::Rows::seconds($_) }
        (sort { $a <=> $b } map { $_->{start} } @profiles)[0, -1];
    my @names = map { my $column = $_; my %all = map { $_->{$column} => 1 } @profiles;
        one_of($column, sort keys %all) } @$columns;
    return join ' AND ', @names, "ts >= toDateTime($first)", "ts <= toDateTime($last)";
}

# Adds a profile's rows to those to be sent. A file whose text is not as dprofmerge writes it is
# rewritten first.
sub add_rows_of {
    my ($self, $p) = @_;
    my ($profile, $is_whole) = Devel::DProf::Store::profile_in($p->{file});
    return if $is_whole && $self->{rows}->add(\plain_text($p->{file}), $p);
    my $text = Devel::DProf::Store::tree_text($p->{file});
    failed(Devel::DProf::Input::shown_as($p->{file}) . ': no tree could be made from it')
        if !$self->{rows}->add(\$text, $p);
    return;
}

# Returns the unpacked contents of a file. Its size is limited, because the contents are held in
# memory.
sub plain_text {
    my ($path) = @_;
    my $shown = Devel::DProf::Input::shown_as($path);
    open my $in, '<:raw', $path or failed("$shown cannot be read: $!", retry => 1);
    my $most = $Devel::DProf::Store::Spool::Most;
    my $n = read $in, my $text, $most + 1;
    failed("$shown cannot be read: $!", retry => 1) if !defined $n;
    failed("$shown: it has more than $most bytes") if $n > $most;
    return $text if $text !~ /\A\x1f\x8b/;
    $text = '';
    my $why = Devel::DProf::Store::unpacked($path, $shown, $most, sub { $text .= $_[0] });
    failed("$shown cannot be read: $why") if defined $why;
    return $text;
}

# Sends the collected rows, without those that list profiles. Rows that profiles share go first.
sub send_rows {
    my ($self) = @_;
    for my $table (Devel::DProf::Store::ClickHouse::Schema::shared(),
        grep { $_ ne 'dprof_profiles' } Devel::DProf::Store::ClickHouse::Schema::daily()) {
        $self->send_table($table);
    }
    return;
}

# Sends the collected rows of a table, if there are any.
sub send_table {
    my ($self, $table) = @_;
    my $rows = $self->{rows}->taken($table);
    $self->{server}->insert($table, [$self->columns($table)], $rows) if length $rows;
    return;
}

# Sends all collected rows, last those that list the profiles, and notes that they have arrived.
sub finish {
    my ($self) = @_;
    $self->send_rows;
    $self->send_table('dprof_profiles');
    $self->{rows}->arrived;
    return;
}

# ---- selecting ----

my @COLUMNS = qw(service version host env run start duration contexts statements);

# Returns a set's conditions, without limit, as SQL, or undef if nothing can match. Globs are
# matched here, against the values in the tables, because the server's patterns cannot match
# arbitrary bytes. One statement gets the values of all columns with globs.
sub condition {
    my ($self, $set) = @_;
    my @conditions = conditions_on_time($set);
    my @columns = grep { defined $set->{$_} } qw(service version host env);
    my @globs = grep { $set->{$_} =~ /[*?\[\\]/ } @columns;
    my %is_glob = map { $_ => 1 } @globs;
    push @conditions, map { one_of($_, $set->{$_}) } grep { !$is_glob{$_} } @columns;
    return @conditions ? join ' AND ', @conditions : '1' if !@globs;
    my $when = @conditions ? ' WHERE ' . join(' AND ', @conditions) : '';
    my @rows = $self->{server}->rows('SELECT DISTINCT ' . join(', ', @globs)
        . " FROM dprof_profiles$when");
    for my $at (0 .. $#globs) {
        my $pattern = Devel::DProf::Store::RunSet::pattern($set->{ $globs[$at] });
        my %values = map { $_ => 1 } grep { /$pattern/ } map { $_->[$at] } @rows;
        return undef if !%values;
        push @conditions, one_of($globs[$at], sort keys %values);
    }
    return join ' AND ', @conditions;
}

# Returns a set's conditions on the start as SQL: exact ones, and others on whole seconds, which
# rows are sorted by.
sub conditions_on_time {
    my ($set) = @_;
    my ($since, $at) = map { defined $set->{$_} ? micros($set->{$_} < 0 ? 0 : $set->{$_}) : undef }
        qw(since at);
    my @conditions = defined $since
        ? ("start >= $since", 'ts >= ' . datetime($since)) : ();
    for my $name (grep { defined $set->{$_} } qw(until older)) {
        my $end = micros($set->{$name} < 0 ? 0 : $set->{$name});
        push @conditions, "start < $end", 'ts <= ' . datetime($end);
    }
    push @conditions, "start <= $at", 'ts <= ' . datetime($at),
        "start + if(duration > 0, duration, 1000000) > $at" if defined $at;
    return @conditions;
}

# Returns microseconds as a DateTime in SQL.
sub datetime {
    return 'toDateTime(' . Devel::DProf::Store::ClickHouse::Rows::seconds($_[0]) . ')';
}

# Returns the statement that selects each profile of a set once, even if it was pushed several
# times.
sub statement {
    my ($set, $condition) = @_;
    return 'SELECT ' . join(', ', @COLUMNS) . " FROM dprof_profiles WHERE $condition"
        . ' ORDER BY start DESC, run DESC, service, version, host, env LIMIT 1 BY run'
        . (defined $set->{limit} ? " LIMIT $set->{limit}" : '');
}

# Returns the profiles of a run-set, without their contents: as a hash for each row of
# dprof_profiles.
sub select {
    my ($self, $set) = @_;
    my $condition = $self->condition($set) // return;
    my @profiles;
    $self->{server}->each_line(statement($set, $condition), sub {
        my %p;
        @p{@COLUMNS} = fields($_[0]);
        $p{seconds} = delete($p{duration}) / 1e6;
        $p{micros} = $p{start};
        $p{start} /= 1e6;
        push @profiles, \%p;
    });
    return Devel::DProf::Store::RunSet::in_order($set, @profiles);
}

# Returns what the store has of a run-set: a row for each service and version.
sub list {
    my ($self, $set) = @_;
    my $condition = $self->condition($set) // return;
    my @rows = map {
        my ($service, $version, $hosts, $runs, $first, $last) = @$_;
        { service => $service, version => $version, hosts => $hosts, runs => $runs,
            first => $first / 1e6, last => $last / 1e6 };
    } $self->{server}->rows('SELECT service, version, uniqExact(host), count(), min(start), '
        . 'max(start) FROM (' . statement($set, $condition) . ') GROUP BY service, version');
    return sort { $a->{service} cmp $b->{service} || $a->{version} cmp $b->{version} } @rows;
}

# ---- fetching ----

# Writes the selected profiles into files of the folder. Returns the files' paths, in the order of
# the profiles.
sub fetch {
    my ($self, $selected, $folder) = @_;
    my @profiles = map { { %{ $selected->[$_] }, path => sprintf('%s/%06d.tree', $folder, $_),
        start => $selected->[$_]{micros} // micros($selected->[$_]{start}) } } 0 .. $#$selected;
    # Profiles that are neighbours in the tables are fetched together.
    my @sorted = sort { $a->{service} cmp $b->{service} || $a->{version} cmp $b->{version}
        || $a->{start} <=> $b->{start} } @profiles;
    while (@sorted) {
        my ($n, $contexts) = (0, 0);
        while ($n < @sorted && $n < MOST_PROFILES && $contexts <= MOST_CONTEXTS
            && $sorted[$n]{service} eq $sorted[0]{service}) {
            $contexts += $sorted[ $n++ ]{contexts} // 0;
        }
        $self->fetch_some(splice @sorted, 0, $n);
    }
    return map { $_->{path} } @profiles;
}

# Returns for each of the selected profiles whether it has samples instead of calls.
sub are_sampled {
    my ($self, $selected) = @_;
    my (%is_sampled, %at);
    push @{ $at{ $_->{service} } }, $_ for @$selected;
    for my $profiles (values %at) {
        my $where = condition_for([qw(service version)],
            map { { %$_, start => $_->{micros} } } @$profiles);
        my $pattern = quoted(q(\\$dprof_counters='[^'\\n]*\\bsamples\\b));
        $self->{server}->each_line("SELECT run, match(any(header), $pattern) FROM dprof_profiles "
            . "WHERE $where GROUP BY run", sub {
                my ($run, $is) = fields($_[0]);
                $is_sampled{$run} = $is;
            });
    }
    return map { $is_sampled{ $_->{run} } // $self->incomplete($_) } @$selected;
}

# Adds up groups of profiles, lists of what select() returned, and writes files into the folder
# whose sums are those of the profiles. Returns a list of paths for each group, or nothing if the
# tables are of an earlier version. HOW: flat, brief (Sums.pm).
sub sums {
    my ($self, $groups, $folder, %how) = @_;
    return if !$self->has_column('dprof_profiles', 'form');
    require Devel::DProf::Store::ClickHouse::Sums;
    return Devel::DProf::Store::ClickHouse::Sums->new($self, $folder, %how)->paths(@$groups);
}

# Writes the trees of profiles of one service into their files. Rows are sorted by
# profile, so only one profile at a time is in memory.
sub fetch_some {
    my ($self, @profiles) = @_;
    my $where = 'WHERE ' . condition_for([qw(service version run)], @profiles);
    my $service = $profiles[0]{service};
    my $trees = $self->{trees}{$service} //= Devel::DProf::Store::ClickHouse::Trees->new;
    $self->fetch_contexts($trees, $service, $where);
    $trees->rank;
    my %tree = map { $_->{run} => $_ } @profiles;
    $_->{tree} = { samples => {}, histograms => {}, statements => [], names => [] } for @profiles;
    $self->fetch_headers(\%tree, $where);
    $self->fetch_histograms(\%tree, $where);
    $self->fetch_statements(\%tree, $service, $where) if grep { $_->{statements} } @profiles;
    my $now;
    $self->{server}->each_line('SELECT run, ctx, ' . any_of(qw(more calls user system real longest
        shortest counters)) . " FROM dprof_samples $where GROUP BY run, ctx ORDER BY run", sub {
            my ($run, $ctx, $more, $numbers) = split /\t/, $_[0], 4;
            if (!$now || $now->{id} ne $run) {
                $self->write_tree($trees, $now->{profile}) if $now;
                $now = { id => $run, profile => $tree{ (fields($run))[0] } };
            }
            $numbers =~ tr/\t,[]/  /d;
            $numbers =~ s/ \z//;
            $trees->sample($now->{profile}{tree}, $ctx, $numbers,
                length $more ? (fields($more))[0] : '');
        });
    $self->write_tree($trees, $now->{profile}) if $now;
    for my $p (grep { $_->{tree} } @profiles) { $self->incomplete($p) }
    return;
}

# Returns columns for SELECT. any() is needed because a profile that was pushed twice has each row
# twice.
sub any_of { return join ', ', map { "any($_)" } @_ }

# Reads the contexts of the profiles into the trees, which share them by their hash.
sub fetch_contexts {
    my ($self, $trees, $service, $where) = @_;
    $self->{server}->each_line('SELECT ctx, any(parent), any(line), any(at) FROM dprof_contexts '
        . 'WHERE service = ' . quoted($service)
        . " AND ctx GLOBAL IN (SELECT DISTINCT ctx FROM dprof_samples $where) GROUP BY ctx",
        sub { $trees->context(fields($_[0])) if $_[0] !~ /\A0\t/ });
    return;
}

# Adds header, names of phases, and numbers of rows to the trees, by run; the numbers show later
# whether rows are missing.
sub fetch_headers {
    my ($self, $tree, $where) = @_;
    $self->each_header($where, 'any(ids)', sub {
        my ($run, $h, $ids) = @_;
        my $p = $tree->{$run} or return;
        @$p{qw(contexts statements)} = @$h{qw(contexts statements)};
        @{ $p->{tree} }{qw(header names ids)} = (@$h{qw(header names)}, $ids);
    });
    return;
}

# Calls CODE with the identity of each profile, a hash of its row, and what the columns MORE have.
# The hash has contexts, statements, header; names, a list; and form.
sub each_header {
    my ($self, $where, $more, $code) = @_;
    my $has_form = $self->has_column('dprof_profiles', 'form');
    $more = "''" if !$has_form;
    $self->{server}->each_line('SELECT run, any(contexts), any(statements), any(header), '
        . 'any(names), ' . ($has_form ? 'any(form)' : '0') . ", $more"
        . " FROM dprof_profiles $where GROUP BY run", sub {
            my ($run, $contexts, $statements, $header, $names, $form, @more)
                = split /\t/, $_[0], -1;
            ($run, $header) = map { (fields($_))[0] } $run, $header;
            $code->($run, { contexts => $contexts, statements => $statements, form => $form,
                header => $header,
                names => [Devel::DProf::Store::ClickHouse::Server::elements($names)] }, @more);
        });
    return;
}

# Adds the durations of calls to the trees, by run, as `BUCKET:CALLS ...`.
sub fetch_histograms {
    my ($self, $tree, $where) = @_;
    $self->{server}->each_line('SELECT run, line, arrayStringConcat(arrayMap((b, c) -> '
        . "concat(toString(b), ':', toString(c)), any(buckets), any(calls)), ' ')"
        . " FROM dprof_histograms $where GROUP BY run, line", sub {
            my ($run, $line, $pairs) = fields($_[0]);
            my $p = $tree->{$run} or return;
            $p->{tree}{histograms}{$line} = $pairs;
        });
    return;
}

# Adds the statements to the trees, by run, in the order in which the profile had them. Names of
# files are in a table of their own.
sub fetch_statements {
    my ($self, $tree, $service, $where) = @_;
    my $of = $self->files_of('service = ' . quoted($service), $where);
    $self->{server}->each_line('SELECT run, pos, ' . any_of(qw(kind file number line more count
        user system real counters)) . " FROM dprof_statements $where GROUP BY run, pos "
        . 'ORDER BY run, pos', sub {
            my ($run, $pos, $kind, $file, $number, $line, $more, $numbers) = split /\t/, $_[0], 8;
            ($run, $line, $more) = map { (fields($_))[0] // '' } $run, $line, $more;
            my $p = $tree->{$run} or return;
            $numbers =~ tr/\t,[]/  /d;
            $numbers =~ s/ \z//;
            push @{ $p->{tree}{statements} }, [$kind, $of->{$file}, $number, $line, $numbers,
                $more] if defined $of->{$file};
        });
    return;
}

# Returns the lines of the files that statements are in, by number. SERVICES is a condition in SQL.
sub files_of {
    my ($self, $services, $where) = @_;
    my %file;
    $self->{server}->each_line("SELECT file, any(line) FROM dprof_files WHERE $services AND "
        . "file GLOBAL IN (SELECT DISTINCT file FROM dprof_statements $where) GROUP BY file", sub {
            my ($file, $line) = fields($_[0]);
            $file{$file} = $line;
        });
    return \%file;
}

# Writes a profile into its file, if all of its rows have arrived; others may just be deleted.
sub write_tree {
    my ($self, $trees, $p) = @_;
    my $tree = delete $p->{tree};
    $self->incomplete($p) if !defined $tree->{header} || keys %{ $tree->{samples} }
        != $p->{contexts} || @{ $tree->{statements} } != $p->{statements};
    my $text = $trees->text($tree);
    my $why = Devel::DProf::Write::whole($p->{path},
        sub { return print({ $_[0] } $text) ? 0 : 1 }, replace => 1);
    failed("$p->{path} could not be written: $why") if defined $why;
    return;
}

# Dies because rows of a profile are missing: on a replica, on one of several servers, or because
# another process is removing them.
sub incomplete {
    my ($self, $p) = @_;
    failed($self->{server}->place . ": rows of the profile $p->{run} of $p->{service} are missing",
        retry => 1);
}

# ---- removing ----

# Removes the profiles of a set, and returns their number. A day without other profiles is dropped,
# which is cheap; on other days, the server rewrites parts without the rows. Profiles are removed
# from the list first, so that a listed profile is complete.
sub prune {
    my ($self, $set) = @_;
    my $server = $self->{server};
    my %engine = Devel::DProf::Store::ClickHouse::Schema::engines($server);
    failed($server->place . ': its tables are on several servers; prune the tables of each of them')
        if grep { $_ eq 'Distributed' } values %engine;
    my $condition = $self->condition($set) // return 0;
    # All copies of a profile are removed, and count as one.
    my $latest = !defined $set->{limit} ? ''
        : ' AND run IN (SELECT run FROM (' . statement($set, $condition) . '))';
    my (%days, %runs);
    for my $row ($server->rows('SELECT DISTINCT toYYYYMMDD(ts) AS day, service, version, '
        . "toUInt32(ts), run, start FROM dprof_profiles WHERE $condition$latest")) {
        push @{ $days{ $row->[0] } }, $row;
        $runs{ $row->[4] } = 1;
    }
    $self->remove_days(\%days) if %days;
    $self->forget_shared($set);
    return scalar keys %runs;
}

# Removes profiles, given as rows by day. Dropping a partition costs the server much less than
# deleting rows, so a day whose profiles all go is dropped as a whole. If all profiles of a service
# go, a condition on the day and the service takes less than a list of them.
sub remove_days {
    my ($self, $days) = @_;
    my $server = $self->{server};
    my (%total, @whole, @conditions, @rows);
    $total{ $_->[0] }{ $_->[1] } = $_->[2] for $server->rows('SELECT toYYYYMMDD(ts) AS day, '
        . 'service, uniqExact(version, ts, run, start) FROM dprof_profiles GROUP BY day, service');
    # Other processes may be pushing profiles of today and yesterday.
    my $today = POSIX::strftime('%Y%m%d', gmtime(time - 86400));
    for my $day (sort keys %$days) {
        my %of;
        push @{ $of{ $_->[1] } }, $_ for @{ $days->{$day} };
        my @services = grep { $day < $today && @{ $of{$_} } == ($total{$day}{$_} // 0) }
            sort keys %of;
        if (@services == keys %{ $total{$day} }) {
            push @whole, $day;
            next;
        }
        push @conditions, "toYYYYMMDD(ts) = $day AND " . one_of('service', @services) if @services;
        delete @of{@services};
        push @rows, map { @$_ } values %of;
    }
    while (my @some = splice @rows, 0, MOST_NAMES) {
        push @conditions, '(service, version, ts, run) IN (' . join(', ', map {
            my ($day, $service, $version, $ts, $run) = @$_;
            '(' . join(', ', quoted($service), quoted($version), "toDateTime($ts)", quoted($run))
            . ')' } @some) . ')';
    }
    for my $table (Devel::DProf::Store::ClickHouse::Schema::daily()) {
        $server->run("ALTER TABLE $table DROP PARTITION $_") for @whole;
        $self->delete_rows($table, $_) for @conditions;
    }
    return;
}

# Removes contexts and files that no profile has used since the start of the oldest profile that
# stays.
sub forget_shared {
    my ($self, $set) = @_;
    return if !defined $set->{older} || grep { $_ ne 'older' } keys %$set;
    my $first = $self->{server}->value('SELECT min(start) FROM dprof_profiles') / 1e6;
    my $day = $first && $first < $set->{older} ? $first : $set->{older};
    return if $day < 0;
    $day = POSIX::strftime('%Y-%m-%d', gmtime $day);
    for my $table (Devel::DProf::Store::ClickHouse::Schema::shared()) {
        my $condition = "seen < toDate('$day')";
        $self->delete_rows($table, $condition) if $self->{server}->value('SELECT count() FROM '
            . "$table WHERE $condition");
    }
    $self->{rows} = Devel::DProf::Store::ClickHouse::Rows->new;
    return;
}

# Deletes rows, and waits until the server has done so. Servers from 23.3 on only mark them; others
# rewrite parts in the background.
sub delete_rows {
    my ($self, $table, $condition) = @_;
    my $server = $self->{server};
    $self->{version} //= $server->value('SELECT version()') // '';
    my ($major, $minor) = $self->{version} =~ /\A(\d+)\.(\d+)/;
    return $server->run("DELETE FROM $table WHERE $condition")
        if defined $major && ($major > 23 || $major == 23 && $minor >= 3);
    $server->run("ALTER TABLE $table DELETE WHERE $condition");
    my $todo = 'SELECT count() FROM system.mutations WHERE database = '
        . quoted($server->database) . ' AND table = ' . quoted($table) . ' AND NOT is_done';
    for (1 .. 6000) {
        return if !$server->value($todo);
        CORE::select undef, undef, undef, 0.1;
    }
    failed($server->place . ": $table: rows are still being removed", retry => 1);
}

1;
