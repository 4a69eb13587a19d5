package Devel::DProf::Live::Rates;

# The rates of a running program: costs of subs and lines between two samples of its profile.

use strict;
use warnings;

use Devel::DProf::Constants qw(time_words DP_T_CPU DP_T_REAL
                               DP_UNSORTED DP_SEPARATE_ALL);
use Devel::DProf::Input qw(report_outcome readable usable doubts);
use Devel::DProf::Metric;
use Devel::DProf::Outcome;
use Devel::DProf::Profile;
use Devel::DProf::Sides qw(parts);
use Devel::DProf::View qw(shows_name);

our $VERSION = $Devel::DProf::Core::VERSION;

# The fields of a row: three values and two names.
use constant { SELF => 0, INCL => 1, COUNT => 2, NAME => 3, PLACE => 4 };

# Makes the object that takes samples of profiles. FIELDS: metric (a word), force, main, and
# filters().
sub new {
    my ($class, %fields) = @_;
    return bless { %fields, of => {}, doubted => {} }, $class;
}

# ---- reading ----

# Reads the files, and returns what has grown since the previous call, as a hash (see
# difference_of_sums), or undef if no file can be read. now: the time; running: the program still
# writes.
sub sample {
    my ($self, $now, $running, @paths) = @_;
    my ($before, %of) = $self->{of};
    my @outcomes;
    my $sides = Devel::DProf::Sides->new(map { $_ => $self->{$_} } qw(force main));
    $sides->read(sub { push @outcomes, $_[0]; return 'fine' },
        { name => '', runs => [map { [$_] } @paths] });
    for my $profile (parts(($sides->sides)[0])) {
        my $one = $self->recording($running, shift @outcomes, $profile) // next;
        $of{ $one->{id} } = { %$one, order => scalar keys %of };
    }
    return undef if !%of;
    my %runs = map { $_->{run} => 1 } values %$before;
    my $goes_on = grep { $runs{ $_->{run} } } values %of;
    my $sample = $self->difference_of_sums($goes_on ? $before : {}, \%of);
    $sample->{since} = $goes_on ? 'last' : %$before ? 'anew' : 'start';
    $sample->{seconds} = $goes_on ? $now - $self->{at} : since_start($now, $running, values %of);
    $sample->{seconds} = 1e-6 if $sample->{seconds} <= 0;       # the clock was set back
    @$self{qw(of at)} = (\%of, $now);
    $sample->{at} = $now;
    return $sample;
}

# Returns a file's sums so far as a hash, or undef if the file cannot be read. While the program
# writes, that may be so only for a moment, and the sums of the previous sample are returned.
sub recording {
    my ($self, $running, $o, $profile) = @_;
    my $path = $o->{path};
    if ($running && -e $path && readable(Devel::DProf::Outcome::verdict($o))) {
        # Messages about the file have to wait until its program has ended.
    } elsif ($running && (!-e $path || $self->was_read($path))) {
        return $self->was_read($path);
    } else {
        my $what = report_outcome($o, $self->{force});
        $self->{failed} = 1 if !usable($what);
        return undef if !readable($what);
    }
    my %header = $profile->header(0);
    doubts($path, $self->{force} || $self->{doubted}{$path}++, %header) if !$running;
    return $self->sums_of_file($profile, $path, %header);
}

# Returns the sums that the previous sample had for a path, or undef.
sub was_read {
    my ($self, $path) = @_;
    return (grep { $_->{path} eq $path } values %{ $self->{of} })[0];
}

# Returns whether a file could not be used, after a message.
sub failed { return $_[0]{failed} ? 1 : 0 }

# Returns a file's sums so far, from which the next sample is the difference. `id` identifies the
# recording, also after its file was renamed.
sub sums_of_file {
    my ($self, $profile, $path, %header) = @_;
    die "$path: the profile has no times; dprofreport shows it\n" if $profile->unit ne 's';
    my $metric = $self->metric($profile);
    my $hz = $profile->hz;
    my $samples = $profile->metric('samples');
    my @kept = map { $_ // '' } @header{qw(dprof_run dprof_pid dprof_tid dprof_slice dprof_start)};
    return {
        path => $path, run => $header{dprof_run} // $path,
        id => join("\0", length $kept[0] ? '' : $path, @kept),
        start => $header{dprof_start}, script => $header{dprof_script}, pid => $header{dprof_pid},
        # This factor turns times into milliseconds.
        scale => $metric->is_counter ? 1 : 1000 / $hz,
        cpu => $profile->total(DP_T_CPU) / $hz, real => $profile->total(DP_T_REAL) / $hz,
        total => $metric->total($profile),
        count => $samples ? $samples->total($profile) : $profile->calls,
        is_sampled => $samples ? 1 : 0, detail => $profile->line_detail,
        subs => subs($profile, $metric, $samples),
        lines => sums_of_lines($profile, $metric, $samples),
    };
}

# Returns the metric to show, a Devel::DProf::Metric. Dies with the list of metrics if the profile
# lacks it.
sub metric {
    my ($self, $profile) = @_;
    my $word = $self->{metric};
    my $metric = $profile->metric($word);
    my @known = (time_words(), $profile->counter_names);
    die join "\n", Devel::DProf::Metric::missing($word, \@known, undef, 'the profile has '
        . join ', ', @known), '' if !$metric || $metric->is_calls;
    $self->{label} = $metric->label if $metric->is_counter;
    return $metric;
}

# Returns the name of the metric, and whether it is a counter.
sub label { my ($self) = @_; return ($self->{label} // $self->{metric}, defined $self->{label}) }

# ---- rows of one file ----

# Returns the rows of subs as a hash by name. Names of anonymous subs always include their place:
# otherwise their names would change when a second one of the package runs.
sub subs {
    my ($profile, $metric, $samples) = @_;
    my %how = (separate => DP_SEPARATE_ALL, order => DP_UNSORTED, program => 1);
    my %place = map { $_->[0] => length $_->[2] ? "$_->[2]:$_->[3]" : '' }
        $profile->subs({ separate => DP_SEPARATE_ALL });
    my %count = !$samples ? ()
        : map { @$_[0, 2] } $profile->rows({ %how, $samples->for_rows });
    return { map {
        my ($name, $calls, $self, $incl) = @$_;
        my $count = $samples ? $count{$name} : $name eq '(program)' ? 0 : $calls;
        ($name => [$self, $incl, $count, $name, $place{$name} // ''])
    } $profile->rows({ %how, $metric->for_rows }) };
}

# Returns the sums of lines: by file, line and sub, the own and inclusive ticks, the count, and
# names to show. With samples, the count is the number of samples.
sub sums_of_lines {
    my ($profile, $metric, $samples) = @_;
    return {} if !$profile->line_detail;
    my @subs = map { $_->[0] } $profile->subs({ separate => DP_SEPARATE_ALL });
    my $key = sub { join "\0", map { $_ // '' } @{ $_[0] }[0 .. 2] };
    my %count = !$samples ? () : map { $key->($_) => $_->[4] }
        @{ $profile->line_rows($samples->number, $samples->counter) };
    return { map {
        my ($file, $line, $sub, $count, $self, $incl) = @$_;
        my $id = $key->($_);
        $count = $count{$id} // 0 if $samples;
        my $name = defined $sub ? $subs[$sub] : '(program)';
        (join("\0", $file, $line, $name) => [$self, $incl, $count, "$file:$line", $name])
    } grep { length $_->[0] } @{ $profile->line_rows($metric->number, $metric->counter // 0) } };
}

# ---- differences ----

# Returns a sample, a hash with the growth between the sums of two moments, added up over all files:
# subs, lines, cpu, real, count, total. A new file has grown by all it has.
sub difference_of_sums {
    my ($self, $before, $of) = @_;
    my %sample = (subs => {}, lines => {}, detail => 0);
    for my $now (values %$of) {
        my $was = $before->{ $now->{id} } // {};
        $sample{$_} += increase($now->{$_}, $was->{$_}) for qw(cpu real count);
        $sample{total} += $now->{scale} * increase($now->{total}, $was->{total});
        $sample{detail} = $now->{detail} if $now->{detail} > $sample{detail};
        $sample{is_sampled} ||= $now->{is_sampled};
        for my $kind (['subs', NAME], ['lines', PLACE]) {
            my ($rows, $sub) = @$kind;
            $self->add_growth($sample{$rows}, $sub, $now->{scale}, $now->{$rows},
                $was->{$rows} // {});
        }
    }
    my ($first) = sort { ($a->{start} // 0) <=> ($b->{start} // 0) || $a->{order} <=> $b->{order} }
        values %$of;
    $sample{$_} = [grep { $_->[SELF] || $_->[INCL] || $_->[COUNT] } values %{ $sample{$_} }]
        for qw(subs lines);
    return { %sample, files => scalar keys %$of, map { $_ => $first->{$_} } qw(path script pid) };
}

# Returns by how much a value has grown, or 0. If the program writes while a sample is taken, a
# value may be smaller than the one before.
sub increase { my ($now, $was) = @_; return $now > ($was // 0) ? $now - ($was // 0) : 0 }

# Adds to the rows $sums how much rows of subs or lines have grown from WAS to NOW. $sub: the row's
# element that filters apply to; $scale turns ticks into milliseconds.
sub add_growth {
    my ($self, $sums, $sub, $scale, $now, $was) = @_;
    for my $key (keys %$now) {
        my ($row, $old) = ($now->{$key}, $was->{$key} // []);
        next if !shows_name($self, $row->[$sub]);
        my $sum = $sums->{$key} //= [0, 0, 0, @$row[NAME, PLACE]];
        $sum->[$_] += $scale * increase($row->[$_], $old->[$_]) for SELF, INCL;
        $sum->[COUNT] += increase($row->[COUNT], $old->[COUNT]);
    }
    return;
}

# Returns the seconds from the first start of the recordings @of until now or, if they have ended,
# the longest recorded time.
sub since_start {
    my ($now, $running, @of) = @_;
    my ($real) = sort { $b <=> $a } map { $_->{real} } @of;
    my ($start) = sort { $a <=> $b } map { $_->{start} // () } @of;
    return $running && defined $start && $now > $start ? $now - $start : $real;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Live::Rates - the costs of a program between two samples of its profile

=head1 DESCRIPTION

This module computes the numbers of L<dproftop>. It is internal to this distribution.

A recording is a file's data on one process, thread and slice. Each recording's previous values are
subtracted from its new ones, and the differences are added up. So nothing is lost when slices or
processes begin or end.

=head1 METHODS

=over

=item new NAME => VALUE, ...

The NAMEs are input, a L<Devel::DProf::Input>; metric, a word; force; re_only, re_skip and
re_kind, patterns for names of subs.

=item sample SECONDS, RUNNING, PATH, ...

Reads the files. SECONDS is the current time. Returns undef if no file can be read, or a hash:

    since               the interval of the rates: last, since the previous sample; start, since the
                        start, as this is the first sample; anew, since the start of a new run
    seconds, at         the length of the interval; the current time
    subs, lines         the rows that have changed, [self, inclusive, count, name, place] each
    total, count        the sums of all rows
    cpu, real           the sums of all files, in seconds
    files               the number of files
    path, script, pid   of the first file
    detail              as line_detail of Devel::DProf::Profile returns it

Times are milliseconds. A count is the number of samples if is_sampled is true, otherwise of calls
of subs or runs of lines. The place of a line is its sub.

Dies with one line if there is no such metric. While a program runs (RUNNING is true), no message
about files is printed.

=item failed

Returns whether a file could not be used. A message has said so.

=item label

Returns the name of the metric, and whether it is a counter.

=back

=cut
