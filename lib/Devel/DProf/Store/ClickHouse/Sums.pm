package Devel::DProf::Store::ClickHouse::Sums;

# Adds up groups of profiles in ClickHouse. Each group becomes a few tree files, which readers take
# like the trees of all its profiles.

use strict;
use warnings;

use Devel::DProf::Core;
use Devel::DProf::Store qw(failed);
use Devel::DProf::Store::ClickHouse::Rows;
use Devel::DProf::Store::ClickHouse::Server;
use Devel::DProf::Store::ClickHouse::Trees;

our $VERSION = $Devel::DProf::Core::VERSION;

# The most profiles in one statement, which names all of them. Tests set a smaller number.
our $Most = 3000;

# The parts of a header that decide how rows are read. Profiles that agree on them have rows that
# can be added up; other profiles of a group get trees of their own.
my $SHAPE = qr/\$(?:hz|over_\w+|dprof_(?:format|unit|calls|counters|lines|line_hz|counters_only))
    =[^;\n]*/x;
# In trees without headers of the others, these also say what is to be reported about profiles.
my $STATE = qr/\$dprof_(?:complete|saved|unwritten|cut|merged|shares|runops_taken|left_out
    |dropped_cpu|given_up|events_lost)=[^;\n]*/x;

BEGIN {
    *fields = \&Devel::DProf::Store::ClickHouse::Server::fields;
    *elements = \&Devel::DProf::Store::ClickHouse::Server::elements;
    *one_of = \&Devel::DProf::Store::ClickHouse::Server::one_of;
}

# Makes the object that adds up groups of profiles of a Devel::DProf::Store::ClickHouse. FOLDER:
# where files are written. HOW: flat, if the contexts of a sub become one, and only calls, times and
# counters are wanted, without the headers of all but the first profiles; brief, if histograms and
# statements are left out; seconds, if groups are intervals of that length.
sub new {
    my ($class, $store, $folder, %how) = @_;
    return bless { %how, store => $store, server => $store->{server}, folder => $folder, files => 0,
        trees => Devel::DProf::Store::ClickHouse::Trees->new }, $class;
}

# Adds up groups, lists of profiles that select() returned. Returns a list of paths for each group.
sub paths {
    my ($self, @groups) = @_;
    $self->read_headers(map { @$_ } @groups);
    my (@units, @apart);
    for my $g (0 .. $#groups) {
        my ($sum, $alone) = $self->units_of(@{ $groups[$g] });
        push @units, map { { group => $g, profiles => $_ } } @$sum;
        push @apart, map { [$g, $_] } @$alone;
    }
    my @paths = map { [] } @groups;
    $self->add_up(@units) if @units;
    push @{ $paths[ $_->{group} ] }, @{ $_->{paths} } for @units;
    my @fetched = $self->{store}->fetch([map { $_->[1] } @apart], $self->{folder});
    push @{ $paths[ $apart[$_][0] ] }, $fetched[$_] for 0 .. $#apart;
    return @paths;
}

# Reads the rows of profiles from dprof_profiles into {row} of each.
sub read_headers {
    my ($self, @profiles) = @_;
    my @rest = @profiles;
    while (my @some = splice @rest, 0, $Most) {
        my %of = map { $_->{run} => $_ } @some;
        $self->{store}->each_header('WHERE ' . condition(@some), 'any(ids), '
            . 'any(cityHash64(run))', sub {
                my ($run, $row, $ids, $hash) = @_;
                if ($of{$run}) {
                    $of{$run}{row} = { %$row, ids => $ids, key => $hash, hash => $hash % 2**32 };
                } else {
                    $self->{has_others} = 1;
                }
            });
    }
    $self->{has_others} = 1 if @profiles > $Most;
    $self->{store}->incomplete($_) for grep { !$_->{row} } @profiles;
    return;
}

# Returns a condition in SQL that holds for the rows of these profiles, and for others.
sub condition {
    return Devel::DProf::Store::ClickHouse::condition_for([qw(service version)],
        map { { %$_, start => $_->{micros} } } @_);
}

# ---- which rows can be added up ----

# Returns two lists: one of lists of profiles whose rows can be added up, and one of profiles that
# are fetched as they are.
sub units_of {
    my ($self, @profiles) = @_;
    my @alone = grep { !can_be_added($_) } @profiles;
    @profiles = grep { can_be_added($_) } @profiles;
    return ([], [@alone, @profiles]) if is_one_process(@profiles) && have_other_subs(@profiles);
    my (%of, @order);
    for my $p (@profiles) {
        my $header = $p->{row}{header};
        my $shape = join "\n", $header =~ /$SHAPE/g, $header =~ /\$dprof_merged=/ ? 1 : 0,
            $self->{flat} ? $header =~ /$STATE/g : ();
        push @order, $shape if !$of{$shape};
        push @{ $of{$shape} }, $p;
    }
    return ([@of{@order}], \@alone);
}

# Returns whether a profile's rows are like those of other profiles: earlier versions kept numbers
# of anonymous subs that mean something in that file only. In files from before the line `# end',
# the times in the header must be those of the rows.
sub can_be_added {
    my ($p) = @_;
    return $p->{row}{form} == Devel::DProf::Store::ClickHouse::Rows::FORM
        && $p->{row}{header} =~ /\$dprof_end=1;/;
}

# Returns whether profiles are slices of one process and thread. The numbers of its anonymous subs
# mean the same in each.
sub is_one_process {
    my %processes = map { my $h = $_->{row}{header}; join(' ', map {
        $h =~ /\$dprof_$_=([^;\n]*)/ ? $1 : '?' } qw(run pid tid)) => 1 } @_;
    return keys %processes == 1;
}

# Returns whether a sub of one profile would be taken for another sub of another profile, because a
# slice names only those anonymous subs of a place that have run.
sub have_other_subs {
    my %number;
    for my $p (@_) {
        my $ids = $p->{row}{ids};
        while ($ids =~ /[:^]0*(\d+):([0-9a-f]{8})/g) {
            return 1 if ($number{$2} //= $1) ne $1;
        }
    }
    return 0;
}

# ---- statements ----

# Adds up the rows of units, and writes their files. Units are hashes: profiles; paths, the result.
sub add_up {
    my ($self, @units) = @_;
    my (@batches, $n);
    for my $unit (@units) {
        my @rest = @{ $unit->{profiles} };
        $unit->{parts} = int((@rest + $Most - 1) / $Most);
        while (my @some = splice @rest, 0, $Most) {
            push @batches, [] if !@batches || $n + @some > $Most;
            $n = 0 if !@{ $batches[-1] };
            push @{ $batches[-1] }, [$unit, @some];
            $n += @some;
        }
    }
    $self->add_batch(@$_) for @batches;
    return;
}

# Adds up the rows of parts of units, [unit, profile, ...] each, and writes the units that are
# complete.
sub add_batch {
    my ($self, @parts) = @_;
    my @profiles = map { @$_[1 .. $#$_] } @parts;
    my $where = condition(@profiles);
    my @services = do { my %seen; grep { !$seen{$_}++ } map { $_->{service} } @profiles };
    my %batch = (parts => \@parts, where => $where,
        services => one_of('service', sort @services));
    $batch{by} = $self->columns_by(@parts) // by_run(@parts);
    $self->read_contexts(\%batch) if !$self->{flat};
    if (!$self->{flat} && !$self->{brief}) {
        $self->add_histograms(\%batch);
        $self->add_statements(\%batch) if grep { $_->{statements} } map { $_->{row} } @profiles;
    }
    $self->add_samples(\%batch, 0);
    return;
}

# A way to group rows by parts is a hash: select, columns of SELECT; names, the names of these;
# count, their number; part_of, the numbers of the parts, from 1 up, by the columns' values; where,
# a condition.

# Returns a way that names each profile of the parts.
sub by_run {
    my (@parts) = @_;
    my (@runs, @numbers);
    for my $i (0 .. $#parts) {
        my (undef, @profiles) = @{ $parts[$i] };
        push @runs, map { $_->{row}{key} } @profiles;
        push @numbers, ($i + 1) x @profiles;
    }
    # Numbers are found faster than names.
    return { select => 'transform(cityHash64(run), [' . join(',', @runs) . '], ['
        . join(',', @numbers) . '], 0) AS g', names => 'g', count => 1, where => ' AND g > 0',
        part_of => { map { $_ => $_ } 1 .. @parts } };
}

# Returns a way without such names, which the server finds faster, or undef if there is none: the
# rows of a part are those with the same version, host or interval, and there are no other profiles.
# If unlisted rows exist, the sums show it.
sub columns_by {
    my ($self, @parts) = @_;
    return undef if $self->{has_others};
    my %value = (version => sub { $_[0]{version} }, host => sub { $_[0]{host} });
    my %sql = (version => 'version', host => 'host');
    my @choices = ([], ['version'], ['host'], ['version', 'host']);
    if (my $seconds = $self->{seconds}) {
        $value{g} = sub { return int(int($_[0]{micros} / 1e6) / $seconds) };
        $sql{g} = "intDiv(toUInt32(ts), $seconds) AS g";
        @choices = (['g']);
    }
    for my $columns (@choices) {
        my $part_of = part_by(\@parts, map { $value{$_} } @$columns) // next;
        return { select => @$columns ? join(', ', map { $sql{$_} } @$columns) : '1 AS g',
            names => @$columns ? join(', ', @$columns) : 'g', count => @$columns || 1,
            where => '', part_of => @$columns ? $part_of : { 1 => 1 } };
    }
    return undef;
}

# Returns the numbers of parts by the values of their profiles, joined by NUL, or undef if parts and
# values do not go together.
sub part_by {
    my ($parts, @values) = @_;
    my %part_of;
    for my $i (0 .. $#$parts) {
        my (undef, @profiles) = @{ $parts->[$i] };
        for my $p (@profiles) {
            my $key = join "\0", map { $_->($p) } @values;
            return undef if ($part_of{$key} //= $i + 1) != $i + 1;
        }
    }
    return keys %part_of == @$parts ? \%part_of : undef;
}

# Returns the number of the part that a row belongs to, and the rest of the row.
sub part_of {
    my ($by, $line) = @_;
    my @columns = split /\t/, $line, $by->{count} + 1;
    my $rest = pop @columns;
    my $key = join "\0", @columns;
    $key = join "\0", map { (fields($_))[0] } @columns if index($key, '\\') >= 0;
    return ($by->{part_of}{$key} // 0, $rest);
}

# Reads the contexts that the profiles may have.
sub read_contexts {
    my ($self, $batch) = @_;
    my $trees = $self->{trees};
    $self->{server}->each_line('SELECT ctx, any(parent), any(line), any(at) FROM dprof_contexts '
        . "WHERE $batch->{services} AND ctx GLOBAL IN (SELECT DISTINCT ctx FROM dprof_samples "
        . "WHERE $batch->{where}) GROUP BY ctx",
        sub { $trees->context(fields($_[0])) if $_[0] !~ /\A0\t/ });
    $trees->rank;
    return;
}

# Returns the columns of SELECT with the sums of samples. X is appended to the columns' names, and Y
# to the names of the sums. The first two are the number of rows, and a sum that shows which
# profiles the rows are of.
sub sums_of_samples {
    my ($self, $x, $y) = @_;
    my @detail = $self->{flat} ? () : (['longest', "max(longest$x)"],
        ['shortest', "minIf(shortest$x, longest$x > 0)"]);
    return join ', ', map { "$_->[1] AS $_->[0]$y" } ['rows', 'count()'],
        ['runs', 'sum(toUInt32(cityHash64(run)))'],
        (map { [$_, "sum($_$x)"] } qw(calls user system real)), @detail,
        ['counters', "sumForEach(counters$x)"], $self->{flat} ? ()
            : ['folded', "sum(toUInt64OrZero(extract(more$x, 'folded=([0-9]+)')))"];
}

# Returns the statement that adds up the samples, by context. ONCE: rows may have been sent twice,
# and count once.
sub statement {
    my ($self, $batch, $once) = @_;
    my ($select, $names) = @{ $batch->{by} }{qw(select names)};
    my $from = "dprof_samples WHERE $batch->{where}$batch->{by}{where}";
    my $sql = $once ? "SELECT $names, ctx, " . $self->sums_of_samples('_one', '_sum')
        . " FROM (SELECT $select, run, ctx, "
        . join(', ', map { "any($_) AS ${_}_one" } qw(calls user system real longest shortest
            counters more)) . " FROM $from GROUP BY $names, run, ctx) GROUP BY $names, ctx"
        : "SELECT $select, ctx, " . $self->sums_of_samples('', '_sum')
        . " FROM $from GROUP BY $names, ctx";
    return "$sql ORDER BY $names" if !$self->{flat};
    # The contexts of a sub become one.
    return "SELECT $names, line, sum(rows_sum), sum(runs_sum), sum(calls_sum), sum(user_sum), "
        . 'sum(system_sum), sum(real_sum), 0, 0, sumForEach(counters_sum) FROM (SELECT * FROM '
        . "($sql) AS x ANY LEFT JOIN (SELECT ctx, line FROM dprof_contexts WHERE "
        . "$batch->{services}) AS y USING (ctx)) GROUP BY $names, line ORDER BY $names";
}

# Adds up the samples of parts, and writes the units that are complete. ONCE: as in statement().
# DONE: the numbers of the parts that are complete already.
sub add_samples {
    my ($self, $batch, $once, %done) = @_;
    my ($parts, $by) = @$batch{qw(parts by)};
    my (%rows, %runs, %sums, @again);
    my $end = sub {
        my ($g) = @_;
        my ($unit, @profiles) = @{ $parts->[ $g - 1 ] };
        if (is_all($rows{$g} // 0, $runs{$g} // 0, 'contexts', @profiles)) {
            $self->take($unit, $sums{$g});
            $done{$g} = 1;
        } elsif ($once) { $self->{store}->incomplete($profiles[0]) }
        delete $sums{$g};
    };
    my $now = 0;
    $self->{server}->each_line($self->statement($batch, $once), sub {
        my ($g, $row) = part_of($by, $_[0]);
        return if !$g || $done{$g};
        my ($key, $n, $hash, $numbers) = split /\t/, $row, 4;
        if ($g != $now) {
            $end->($now) if $now;
            $now = $g;
        }
        $rows{$g} += $n;
        $runs{$g} += $hash;
        $numbers =~ tr/\t,[]/  /d;
        $sums{$g}{$key} = $numbers;
    });
    $end->($_) for grep { !$done{$_} && ($_ == $now || $once) } 1 .. @$parts;
    return if keys %done == @$parts;
    $batch->{by} = by_run(@$parts);
    $self->add_samples($batch, 1, %done);
    return;
}

# Returns whether rows are all rows of the profiles, and none of them twice. ROWS: their number;
# RUNS: the sum of the hashes of their profiles; COUNT: what has the number of a profile's rows.
sub is_all {
    my ($rows, $runs, $count, @profiles) = @_;
    my ($all, $sum) = (0, 0);
    for my $row (map { $_->{row} } @profiles) {
        $all += $row->{$count};
        $sum += $row->{$count} * $row->{hash};
    }
    return $rows == $all && $runs == $sum;
}

# Adds up the durations of calls, by sub: {histograms}{LINE}{BUCKET} of the units. ONCE: rows may
# have been sent twice.
sub add_histograms {
    my ($self, $batch, $once) = @_;
    # Unlisted rows of a profile that is being pushed would not be noticed.
    my $by = by_run(@{ $batch->{parts} });
    my ($select, $names) = @$by{qw(select names)};
    my $from = "dprof_histograms WHERE $batch->{where}$by->{where}";
    my (@rows, $is_twice);
    $self->{server}->each_line($once ? "SELECT $names, line, sumMap(b, c), 0, 0 FROM (SELECT "
        . "$select, run, line, any(buckets) AS b, any(calls) AS c FROM $from "
        . "GROUP BY $names, run, line) GROUP BY $names, line"
        : "SELECT $select, line, sumMap(buckets, calls), count(), "
        . "uniqExact(cityHash64(run)) FROM $from GROUP BY $names, line", sub {
            my ($g, $row) = part_of($by, $_[0]);
            my ($line, $map, $rows, $runs) = split /\t/, $row;
            $is_twice ||= $rows != $runs;
            push @rows, [$g, (fields($line))[0], $map] if !$is_twice;
        });
    return $self->add_histograms($batch, 1) if $is_twice && !$once;
    for (@rows) {
        my ($g, $line, $map) = @$_;
        my ($buckets, $calls) = map { [split /,/] } $map =~ /\[([^\]]*)\]/g;
        my $to = $batch->{parts}[ $g - 1 ][0]{histograms}{$line} //= {};
        $to->{ $buckets->[$_] } += $calls->[$_] for 0 .. $#$buckets;
    }
    return;
}

# Adds up statements, by file and line: {statements} of the units. ONCE: rows may have been sent
# twice.
sub add_statements {
    my ($self, $batch, $once) = @_;
    my ($parts, $where) = @$batch{qw(parts where)};
    my $by_part = $once ? by_run(@$parts) : $batch->{by};
    my ($select, $names) = @$by_part{qw(select names)};
    my $file = $self->{store}->files_of($batch->{services}, "WHERE $where");
    my @keys = qw(kind file number line more);
    my @sums = qw(count user system real);
    my $from = "dprof_statements WHERE $where$by_part->{where}";
    my $by = join ', ', @keys;
    my $sums = sub {
        my ($x) = @_;
        return join ', ', 'count()', 'sum(toUInt32(cityHash64(run)))', (map { "sum($_$x)" } @sums),
            "sumForEach(counters$x)";
    };
    my $sql = $once ? "SELECT $names, $by, " . $sums->('_one') . ' FROM (SELECT '
        . join(', ', $select, 'run', 'pos', (map { "any($_) AS ${_}_one" } @sums,
            'counters'), @keys) . " FROM $from GROUP BY $names, run, pos, $by)"
        : "SELECT $select, $by, " . $sums->('') . " FROM $from";
    my (%rows, %runs, %of);
    $sql .= " GROUP BY $names, $by ORDER BY $names, file, kind, number";
    $self->{server}->each_line($sql, sub {
        my ($g, $row) = part_of($by_part, $_[0]);
        my ($kind, $of, $at, $line, $more, $n, $hash, $numbers) = split /\t/, $row, 8;
        return if !$g;
        $rows{$g} += $n;
        $runs{$g} += $hash;
        $numbers =~ tr/\t,[]/  /d;
        $numbers =~ s/ \z//;
        push @{ $of{$g} }, [$kind, $file->{$of} // return, $at,
            (map { (fields($_))[0] // '' } $line), $numbers, (fields($more))[0] // ''];
    });
    for my $g (1 .. @$parts) {
        my ($unit, @profiles) = @{ $parts->[ $g - 1 ] };
        next if is_all($rows{$g} // 0, $runs{$g} // 0, 'statements', @profiles);
        $self->{store}->incomplete($profiles[0]) if $once;
        return $self->add_statements($batch, 1);
    }
    push @{ $parts->[ $_ - 1 ][0]{statements} }, @{ $of{$_} } for keys %of;
    return;
}

# ---- files ----

# Takes the sums of a part of a unit, and writes the unit when it is complete.
sub take {
    my ($self, $unit, $sums) = @_;
    if ($unit->{sums}) { add_to($unit->{sums}, $_, $sums->{$_}) for keys %$sums }
    else { $unit->{sums} = {%$sums} }
    return if --$unit->{parts};
    $unit->{paths} = [$self->write($self->{flat} ? $self->flat_text($unit)
        : $self->text_of($unit))];
    delete @$unit{qw(sums histograms statements)};
    return if $self->{flat};
    my @others = @{ $unit->{profiles} };
    shift @others;
    push @{ $unit->{paths} }, map { $self->write($self->header_alone($_->{row}{header})) } @others;
    return;
}

# Adds the sums of a context, as text, to those of the same context.
sub add_to {
    my ($to, $key, $sums) = @_;
    if (!defined $to->{$key}) {
        $to->{$key} = $sums;
        return;
    }
    my ($x, $y) = map { [split / /] } $to->{$key}, $sums;
    my @sum = map { $x->[$_] + $y->[$_] } 0 .. $#$x;
    $sum[4] = $x->[4] > $y->[4] ? $x->[4] : $y->[4];
    # Without a longest call, there is no shortest one.
    $sum[5] = !$x->[4] ? $y->[5] : !$y->[4] || $x->[5] < $y->[5] ? $x->[5] : $y->[5];
    $to->{$key} = join ' ', @sum;
    return;
}

# Writes a tree into the next file of the folder. Returns its path.
sub write {
    my ($self, $text) = @_;
    my $path = sprintf '%s/s%06d.tree', $self->{folder}, $self->{files}++;
    open my $out, '>:raw', $path or failed("$path could not be written: $!");
    print {$out} $text and close $out or failed("$path could not be written: $!");
    return $path;
}

# Returns a header for files that have no times of samples, and without the blanks that its writer
# has reserved.
sub header_of {
    my ($header) = @_;
    return $header =~ s/\$dprof_when=[^;\n]*;//r =~ s/ +$//mgr;
}

# Returns a tree without any costs, which stands for the header of a profile whose costs are in
# another tree.
sub header_alone {
    my ($self, $header) = @_;
    # Readers would add times that the contexts do not have to the root.
    $header =~ s/\$rrun_[usr]time=\K\d+/0/g;
    my ($counters) = $header =~ /\$dprof_counters='([^'\n]*)'/;
    my $count = () = ($counters // '') =~ /\S+/g;
    return $self->{trees}->text({ header => header_of($header), names => [], histograms => {},
        samples => { 0 => join ' ', (0) x (6 + $count) }, statements => [] });
}

# Returns the text of a unit's tree, with the header of its first profile.
sub text_of {
    my ($self, $unit) = @_;
    my ($trees, $sums) = ($self->{trees}, $unit->{sums});
    my %names = map { $_ => 1 } map { @{ $_->{row}{names} } } @{ $unit->{profiles} };
    my %tree = (samples => {}, names => [sort keys %names], histograms => $unit->{histograms} // {},
        statements => $unit->{statements} // [],
        header => header_of($unit->{profiles}[0]{row}{header}));
    my $renamed = renumbered(@{ $tree{names} }, keys %{ $tree{histograms} },
        (map { $_->[3] } @{ $tree{statements} }), map { $trees->line($_) } keys %$sums);
    ($trees, $sums) = rename_subs(\%tree, $renamed, $trees, $sums) if $renamed;
    for my $key (keys %$sums) {
        my $at = rindex $sums->{$key}, ' ';
        my $folded = substr $sums->{$key}, $at + 1;
        # Without counters, there are two blanks.
        $at-- if substr($sums->{$key}, $at - 1, 1) eq ' ';
        $trees->sample(\%tree, $key, substr($sums->{$key}, 0, $at),
            $folded ? " folded=$folded" : '');
    }
    for my $buckets (values %{ $tree{histograms} }) {
        $buckets = join ' ', map { "$_:$buckets->{$_}" } sort { $a <=> $b } keys %$buckets;
    }
    delete @{ $tree{histograms} }{ grep { !length $tree{histograms}{$_} }
        keys %{ $tree{histograms} } };
    return $trees->text(\%tree);
}

# Returns the text of a unit's tree in which the root calls each sub. The sums are those by the
# subs' escaped lines.
sub flat_text {
    my ($self, $unit) = @_;
    my $sums = $unit->{sums};
    my %names = map { $_ => 1 } map { @{ $_->{row}{names} } } @{ $unit->{profiles} };
    my %plain = map { index($_, '\\') < 0 ? $_ : (fields($_))[0] => $sums->{$_} } keys %$sums;
    if (my $new = renumbered(keys %names, keys %plain)) {
        %names = map { $new->{$_} // $_ => 1 } keys %names;
        my %sums;
        add_to(\%sums, $new->{$_} // $_, $plain{$_}) for keys %plain;
        %plain = %sums;
    }
    my $root = delete $plain{''} // '';
    delete @names{ keys %plain };
    my @lines = sort keys %plain, keys %names;
    # Without $dprof_end, there is no last line with sums.
    my $text = header_of($unit->{profiles}[0]{row}{header} =~ s/\$dprof_end=1;//r
        =~ s/\$rrun_[usr]time=\K\d+/0/gr =~ s/^#[sar] .*\n//mgr);
    $text .= sprintf "& %x %s\n", $_ + 1, $lines[$_] for 0 .. $#lines;
    $text .= "= 0 0 $root\n" if length $root;
    for my $i (0 .. $#lines) {
        my $numbers = $plain{ $lines[$i] } // next;
        $text .= sprintf "= 1 %x %s\n", $i + 1, $numbers;
    }
    return $text;
}

# Returns, for lines of anonymous subs that profiles have numbered differently, the line with the
# same number for all: a profile with one sub of a place has no number, and one with ten has two
# digits. Returns undef if all lines go together.
sub renumbered {
    my (%at, %new);
    for my $line (@_) {
        next if index($line, '__ANON__') < 0 && $line !~ / (?:\S*:)?(?:BEGIN|END) /;
        my ($place) = $line =~ /\A(\S+ (?:\S*:)?(?:__ANON__|BEGIN|END) \S+)/ or next;
        $at{$place}{$line} = $line =~ / seq=(\d+)(?= |\z)/ ? $1 + 0 : 1;
    }
    for my $place (keys %at) {
        my $number = $at{$place};
        my ($most) = sort { $b <=> $a } values %$number;
        next if $most < 2;
        for my $line (keys %$number) {
            my $rest = substr($line, length $place) =~ s/ seq=\d+(?= |\z)//r;
            my $to = $place . sprintf(' seq=%0*d', length $most, $number->{$line}) . $rest;
            $new{$line} = $to if $to ne $line;
        }
    }
    return %new ? \%new : undef;
}

# Renames subs in a tree, and adds up what has the same name then. Returns trees with the contexts
# of the sums, and these sums.
sub rename_subs {
    my ($tree, $renamed, $trees, $sums) = @_;
    my $new = sub { return $renamed->{ $_[0] } // $_[0] };
    $tree->{names} = [map { $new->($_) } @{ $tree->{names} }];
    $_ = [@$_[0 .. 2], $new->($_->[3]), @$_[4, 5]] for @{ $tree->{statements} };
    my %histograms;
    for my $line (keys %{ $tree->{histograms} }) {
        my ($to, $from) = ($histograms{ $new->($line) } //= {}, $tree->{histograms}{$line});
        $to->{$_} += $from->{$_} for keys %$from;
    }
    $tree->{histograms} = \%histograms;
    my $own = Devel::DProf::Store::ClickHouse::Trees->new;
    my (%key, %sums) = (0 => 0);
    # Parents come before their children.
    for my $ctx ($trees->in_order(keys %$sums)) {
        if ($ctx ne '0') {
            my ($parent, $line, $at) = $trees->parts($ctx);
            $key{$ctx} = join "\0", $key{$parent} // 0, $new->($line), $at;
            $own->context($key{$ctx}, $key{$parent} // 0, $new->($line), $at);
        }
        add_to(\%sums, $key{$ctx}, $sums->{$ctx});
    }
    $own->rank;
    return ($own, \%sums);
}

1;
