package Devel::DProf::Store::Bisect;

# dprofdiff --bisect: finds the version of a store's history in which a sub became slower, or does
# more.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_TEXT DP_CSV DP_JSON DP_MARKDOWN DP_HTML);
use Devel::DProf::Input qw(used);
use Devel::DProf::OptionValues qw(only_beside);
use Devel::DProf::Profile;
use Devel::DProf::Sides qw(parts);
use Devel::DProf::Store::Sides;
use Devel::DProf::Table;
use Devel::DProf::Text qw(bytes text plural);
use Devel::DProf::Tool qw(FAILED complain output written);
use Devel::DProf::View::Layout qw(grouped);

our $VERSION = $Devel::DProf::Core::VERSION;

# A long history has many tests, and each false alarm may cost a day of work.
use constant { ALPHA => 0.001, FLOOR => 0.5 };
# Shares whose relative difference is at most this are equal, like ops in dprofdiff. Even if each
# run counts the same, adjusted shares differ in their last bits, and always in one direction.
use constant EQUAL => 0.001;
# The least subs from which the unchanged ones can be estimated.
use constant LEAST_SUBS => 5;

# The columns: title for people, key for programs, whether cells are left-aligned.
my @COLUMNS = (['Sub', 'sub', 1], ['Metric', 'metric', 1], ['Last good', 'last_good'],
    ['First bad', 'first_bad'], ['Before', 'before'], ['After', 'after'], ['Change', 'change_pct'],
    ['p', 'p']);

# Makes the object from a tool's options. HOW: with the format; DIFF: the
# Devel::DProf::Compare::Diff. Dies if another option does not go with --bisect.
sub of_options {
    my ($class, $opt, $how, $diff) = @_;
    only_beside($opt, '--bisect', qw(bisect m modules children map symfs unit S d only skip O
        percent-limit v alpha floor format title q color pager main from run-set buckets f R A));
    die "--bisect prints text, CSV, JSON, Markdown or HTML\n" if $how->{flame}
        || !grep { $how->{format} == $_ } DP_TEXT, DP_CSV, DP_JSON, DP_MARKDOWN, DP_HTML;
    return $class->new(diff => $diff, format => $how->{format}, title => $how->{title},
        say => sub { complain('dprofdiff: ' . bytes($_[0])) },
        metric => $opt->{m}, verbose => $opt->{v}, children => $opt->{children},
        alpha => $opt->{alpha}, floor => $opt->{floor}, percent_limit => $opt->{'percent-limit'},
        rows => $opt->{O}, quiet => $opt->{q}, force => $opt->{f});
}

# HOW: diff, the Devel::DProf::Compare::Diff that reads profiles and names subs; say, a function for
# messages; metric, or undef for shares of time, and for calls and ops if they are exact; children,
# alpha, floor, percent_limit, rows, verbose, quiet.
sub new {
    my ($class, %fields) = @_;
    my %given = map { $_ => $fields{$_} } grep { defined $fields{$_} } keys %fields;
    return bless { alpha => ALPHA, floor => FLOOR, percent_limit => 0, found => [], tested => 0,
        %given }, $class;
}

# ---- reading ----

# Returns the versions of profiles as sides, in the order of their first profiles. As with run-sets,
# the values of a side are its hosts, or the runs of one host. HAS_TREE: not only the subs' own
# values are wanted.
sub sides_of_versions {
    my ($store, $buckets, $has_tree, @profiles) = @_;
    my (%of, @order, %hosts);
    $hosts{ $_->{host} // '' } = 1 for @profiles;
    for my $p (sort { $a->{start} <=> $b->{start} || $a->{run} cmp $b->{run} } @profiles) {
        my $version = $p->{version} // '';
        push @order, $version if !$of{$version};
        push @{ $of{$version} }, $p;
    }
    my @runs = map {
        [keys %hosts > 1 ? Devel::DProf::Store::Sides::hosts($buckets, @{ $of{$_} })
            : Devel::DProf::Store::Sides::bucketed($buckets,
                Devel::DProf::Store::Sides::runs(@{ $of{$_} }))];
    } @order;
    my @files = Devel::DProf::Store::Sides::files_of_groups($store,
        { $has_tree ? (brief => 1) : (flat => 1) }, map { @$_ } @runs);
    return map {
        { name => length $order[$_] ? text($order[$_]) : '-',
            runs => [splice @files, 0, scalar @{ $runs[$_] }],
            weights => [map { scalar(() = Devel::DProf::Store::Sides::runs(@$_)) }
                @{ $runs[$_] }] };
    } 0 .. $#order;
}

# Reads the versions of the selected profiles. Returns false, after messages, if that fails, or if
# there are no two versions.
sub read {
    my ($self, $report, $store, $buckets, @selected) = @_;
    my $diff = $self->{diff};
    $self->are_of_one_kind($store, @selected) or return 0;
    my %hosts = map { $_->{host} // '' => 1 } @selected;
    $self->{by_host} = keys %hosts > 1;
    $diff->reader->read($report, sides_of_versions($store, $buckets,
        $self->{children} || $diff->reader->leaves_out, @selected))
        && $diff->settle or return 0;
    my @metrics = map { $diff->reader->measure($_) // return 0 }
        $self->{metric} // 'cpu', $self->other_metrics;
    $self->{is_whole} = !grep({ is_cut($_->{run}) } @selected)
        && !grep({ is_slice($_) } map { parts($_) } $diff->sides);
    my @measures = map { +{ metric => $_, of_run => [$self->values_of($_)] } } @metrics;
    $measures[0]{calls_of_run} = [$self->values_of($diff->reader->measure('calls'))]
        if $self->{by_host} && $metrics[0]->is_time && !$self->lacks_calls;
    return $self->groups(@measures);
}

# Returns whether some profiles have samples instead of calls.
sub lacks_calls {
    my ($self) = @_;
    return scalar grep { $_->no_calls } map { parts($_) } $self->{diff}->sides;
}

# Returns whether all profiles are sampled, or all exact; if not, prints a message. Reads only the
# headers.
sub are_of_one_kind {
    my ($self, $store, @selected) = @_;
    my (%kinds, @order);
    my @sampled = $store->are_sampled(\@selected);
    for my $p (@selected) {
        my $kind = shift @sampled ? 'samples' : 'every call';
        my $name = length($p->{version} // '') ? text($p->{version}) : '-';
        push @order, $name if !$kinds{$name};
        $kinds{$name}{$kind} = 1;
    }
    my %all = map { $_ => 1 } map { keys %$_ } values %kinds;
    return 1 if keys %all < 2 || $self->{force};
    $self->{say}->('some versions have samples, and others every call, so they cannot be compared; '
        . 'since= or version= selects versions of one kind');
    $self->{say}->("version $_: " . join ' and ', sort keys %{ $kinds{$_} }) for @order;
    return 0;
}

# Returns whether an identity is that of a later slice, or of several merged slices.
sub is_cut {
    my ($identity) = @_;
    return $identity !~ /-[01]\z/ || $identity =~ /\Amerged\./;
}

# Returns whether a profile's files were recorded with slice=. Without slice=, a file in a spool has
# the number of a slice but is a whole run, unless the program or a signal has cut it; then a second
# slice exists.
sub is_slice {
    my ($profile) = @_;
    return grep { $_->{dprof_slice} && ($_->{dprof_options} // '') !~ /\bslice=0\b/ }
        map { { $profile->header($_) } } 0 .. $profile->files - 1;
}

# Returns the names of the metrics that are compared besides the first one: calls and ops, if all
# profiles have them and the user has chosen no metric.
sub other_metrics {
    my ($self) = @_;
    return if defined $self->{metric};
    my $has_ops = !grep { !$_->has_counter('ops') } map { parts($_) } $self->{diff}->sides;
    return ($self->lacks_calls ? () : 'calls', $has_ops ? 'ops' : ());
}

# Returns, for each run, a hash with the total of a metric and its values by sub.
sub values_of {
    my ($self, $metric) = @_;
    my @counters = $metric->counters;
    my $is_calls = $metric->is_calls;
    my $at = $self->{children} ? 3 : 2;
    my @runs;
    for my $side ($self->{diff}->sides) {
        for my $run (@{ $side->{profiles} }) {
            push @runs, { total => 0, value => {} };
            for my $profile (@$run) {
                my $counter = shift @counters;
                my ($name_of, $shown, %how) = $self->{diff}->names_of($profile);
                @{ $self->{shown} }{keys %$shown} = ();
                $how{defined $counter ? 'counter' : 'time'} = defined $counter ? $counter + 1
                    : $is_calls ? Devel::DProf::Profile::CPU : $metric->number;
                $runs[-1]{total} += defined $counter ? $profile->counted($counter)
                    : $is_calls ? $profile->calls : $profile->total($metric->number) / $profile->hz;
                my %sum;
                for my $row ($profile->rows({ %how, order => Devel::DProf::Profile::UNSORTED })) {
                    my $name = $name_of->{ $row->[0] } // next;
                    $sum{$name} += $row->[$is_calls ? 1 : $at];
                }
                # The last bits of a sum of seconds would depend on the order of the rows.
                my $hz = $is_calls || defined $counter ? 1 : $profile->hz;
                $runs[-1]{value}{$_} += $sum{$_} / $hz for keys %sum;
            }
        }
    }
    return @runs;
}

# Leaves out runs without any value of the first measure, and versions that have only such runs, and
# notes the names and sizes of the others. Returns false, after a message, if fewer than two
# versions are left.
sub groups {
    my ($self, @measures) = @_;
    my ($first, $at) = ($measures[0]{of_run}, 0);
    my (@names, @sizes, @kept, @weights);
    for my $side ($self->{diff}->sides) {
        my @weight = @{ $side->{weights} };
        my @of_side = $at .. $at + $#weight;
        my @with = grep { $first->[$_]{total} > 0 } @of_side;
        push @kept, @with;
        push @weights, map { $weight[$_ - $at] } @with;
        $at += @weight;
        if (!@with) {
            $self->{say}->("version $side->{name}: nothing was recorded; it is left out");
            next;
        }
        push @names, $side->{name};
        push @sizes, scalar @with;
    }
    for my $m (@measures) {
        @$_ = @$_[@kept] for grep { defined } @$m{qw(of_run calls_of_run)};
    }
    @$self{qw(measures names sizes weights)} = (\@measures, \@names, \@sizes, \@weights);
    return 1 if @names > 1;
    $self->{say}->(@names ? "there is only one version, $names[0]; a change needs two"
        : 'nothing was recorded in any version');
    return 0;
}

# ---- finding ----

# Finds the changes, and keeps them in {found}, the largest first. The first measure is tested as
# shares, unless it is exact.
sub find {
    my ($self) = @_;
    my ($first, @beside) = @{ $self->{measures} };
    my $why = !$self->{is_whole} ? 'slices of a process do different work'
        : $self->{diff}->reader->why_unpinned;
    my $is_count = $first->{metric}->is_exact;
    $self->{not_exact} = $why if @beside || $is_count;
    my @found;
    if ($is_count && !defined $why) { push @found, $self->exact_changes($first) }
    else { push @found, $self->significant_changes($first) }
    push @found, map { $self->exact_changes($_) } defined $why ? () : @beside;
    @found = grep { $_->{points} >= $self->{percent_limit} } @found;
    my %order = map { $self->{measures}[$_]{metric}->name => $_ } 0 .. $#{ $self->{measures} };
    $self->{found} = [sort { $order{ $a->{metric} } <=> $order{ $b->{metric} }
        || $b->{points} <=> $a->{points} || $a->{sub} cmp $b->{sub} || $a->{at} <=> $b->{at} }
        @found];
    return;
}

# Returns the names of the subs for which a measure has values, sorted.
sub names_in {
    my ($m) = @_;
    my %names = map { $_ => 1 } map { keys %{ $_->{value} } } @{ $m->{of_run} };
    return sort keys %names;
}

# Returns the changes of exact counts: only subs with equal counts in all runs of each version have
# any.
sub exact_changes {
    my ($self, $m) = @_;
    my @runs = @{ $m->{of_run} };
    my @found;
    for my $name (grep { exists $self->{shown}{$_} } names_in($m)) {
        my @values = map { ($runs[$_]{value}{$name} // 0) / $self->{weights}[$_] } 0 .. $#runs;
        my @of_version = $self->grouped_values(@values);
        next if grep { my $v = $_; grep { $_ != $v->[0] } @$v } @of_version;
        $m->{counted}++;
        for my $at (1 .. $#of_version) {
            my ($before, $after) = ($of_version[ $at - 1 ][0], $of_version[$at][0]);
            next if $before == $after;
            my $first = 0;
            $first += $_ for @{ $self->{sizes} }[0 .. $at - 1];
            my $total = $runs[$first]{total} / $self->{weights}[$first];
            push @found, $self->change($name, $m, $at, $before, $after, undef,
                $total ? 100 * abs($after - $before) / $total : 100);
        }
    }
    return @found;
}

# Returns the values of runs, in order, as one list for each version.
sub grouped_values {
    my ($self, @values) = @_;
    return map { [splice @values, 0, $_] } @{ $self->{sizes} };
}

# Returns the significant changes of shares, by the test for change points.
sub significant_changes {
    my ($self, $m) = @_;
    my ($names, $series) = $self->shares($m);
    $self->{tested} = @$names;
    my $result = Devel::DProf::Profile::changepoints($series, $self->{sizes}, $self->{alpha});
    $self->{decides} = $result->{decides} || !@$names;
    my (%at, @found);
    push @{ $at{ $_->[0] } }, $_ for @{ $result->{found} };
    for my $s (sort { $a <=> $b } keys %at) {
        my @ends = ((map { $_->[1] } @{ $at{$s} }), scalar @{ $self->{sizes} });
        my @of_version = $self->grouped_values(@{ $series->[$s] });
        my $from = 0;
        my @levels = map { my $level = median(map { @$_ } @of_version[$from .. $_ - 1]);
            $from = $_; $level } @ends;
        push @found, grep { $_->{points} > EQUAL * $_->{before} } map {
            my ($before, $after) = @levels[$_, $_ + 1];
            $self->change($names->[$s], $m, @{ $at{$s}[$_] }[1], $before, $after, $at{$s}[$_][2],
                abs($after - $before) * $self->{points_of}{ $names->[$s] });
        } 0 .. $#{ $at{$s} };
    }
    return @found;
}

# Returns two lists: the names of the subs whose share is worth a test, and for each its values, one
# a run: shares in percent or, if the calls of hosts are known, seconds per call. Subs that the
# filters hide still take part in the adjustment.
sub shares {
    my ($self, $m) = @_;
    my @runs = @{ $m->{of_run} };
    my (@names, @series);
    for my $name (names_in($m)) {
        my @shares = map { 100 * ($_->{value}{$name} // 0) / $_->{total} } @runs;
        next if !grep { median(@$_) >= $self->{floor} } $self->grouped_values(@shares);
        my @values = $m->{calls_of_run} ? $self->per_call($m, $name) : @shares;
        push @names, $name;
        push @series, \@values;
        my $usual = median(@values);
        $self->{points_of}{$name} = $m->{calls_of_run} && $usual ? median(@shares) / $usual : 1;
    }
    $self->{adjusted} = adjust_shares(@series);
    my @shown = grep { exists $self->{shown}{ $names[$_] } } 0 .. $#names;
    return ([@names[@shown]], [@series[@shown]]);
}

# Returns a sub's seconds per call for each run. A run without calls gets the median of the other
# runs of its version, or 0 if none of them has calls.
sub per_call {
    my ($self, $m, $name) = @_;
    my ($times, $calls) = @$m{qw(of_run calls_of_run)};
    my @values = map {
        my $n = $calls->[$_]{value}{$name};
        $n ? ($times->[$_]{value}{$name} // 0) / $n : undef;
    } 0 .. $#$times;
    return map {
        my @of_version = @$_;
        my $usual = median(grep { defined } @of_version);
        map { $_ // $usual } @of_version;
    } $self->grouped_values(@values);
}

# Adjusts shares, lists with a value for each run, because a sub that takes more leaves less for all
# others. Each run's shares are divided by the median of their ratios to the usual shares; a few
# changed subs do not move that median. Returns whether there were enough subs to do so.
sub adjust_shares {
    my (@series) = @_;
    my @usual = map { median(@$_) } @series;
    my @steady = grep { $usual[$_] > 0 } 0 .. $#series;
    return 0 if @steady < LEAST_SUBS;
    for my $r (0 .. $#{ $series[0] }) {
        my $scale = median(map { $series[$_][$r] / $usual[$_] } @steady);
        next if $scale <= 0;
        $_->[$r] /= $scale for @series;
    }
    return 1;
}

# Returns the median of numbers, or 0 without any.
sub median {
    my @sorted = sort { $a <=> $b } @_ or return 0;
    return ($sorted[$#sorted / 2] + $sorted[@sorted / 2]) / 2;
}

# Returns a change as a hash: of the sub and its values before and after the version with the number
# AT, with p, or undef if no test was needed. points: the size of the change in percentage points.
sub change {
    my ($self, $sub, $m, $at, $before, $after, $p, $points) = @_;
    return { sub => $sub, metric => $m->{metric}->name, at => $at,
        before => $before, after => $after, unit => $m->{calls_of_run} && defined $p ? 's' : '%',
        last_good => $self->{names}[ $at - 1 ], first_bad => $self->{names}[$at], p => $p,
        points => $points, change => $before ? 100 * ($after - $before) / $before : undef };
}

# ---- printing ----

# Reads sides of a store, and prints the changes. Returns the exit status of the tool.
sub report {
    my ($self, $tool, $opt, @sides) = @_;
    return $tool->usage('--bisect takes run-sets, and no files') if grep { !ref } @sides;
    $self->read(sub { used(@_, $opt->{f}) }, $sides[0]{store}, $opt->{buckets},
        map { @{ $_->{selected} } } @sides) or return FAILED;
    $self->find;
    my $format = $self->{format};
    my ($out) = output($opt->{pager} // 1, $format == DP_TEXT);
    my $is_quiet = $self->{quiet} && $format == DP_TEXT;
    my ($table, @below) = $self->table($format, map { $_->{name} } @sides);
    my $code = $table->print($out, format => $format, quiet => $is_quiet ? 1 : 0,
        title => $self->{title} // 'Changes in ' . join ', ', map { $_->{name} } @sides);
    print {$out} map { "$_\n" } $format == DP_TEXT && !$is_quiet ? @below : ();
    return written($tool->name, $out, $code);
}

# Returns the label of a metric in facts.
sub label_of {
    my ($metric) = @_;
    return $metric->is_time ? $metric->label : $metric->name;
}

# Returns the facts above the table: [LABEL, TEXT] of each.
sub facts {
    my ($self) = @_;
    my @names = @{ $self->{names} };
    my ($first, @beside) = @{ $self->{measures} };
    my $how = $self->{children} ? 'inclusive' : 'self';
    my ($runs, $buckets) = (0, scalar @{ $self->{weights} });
    $runs += $_ for @{ $self->{weights} };
    my @facts = (['Versions', @names . ", from $names[0] to $names[-1]; " . plural($runs, 'run')
        . ($self->{by_host} ? '; each host of a version is one value'
            : $runs > $buckets ? " in $buckets buckets" : '')]);
    push @facts, ['Metric', label_of($first->{metric}) . ", $how"
        . (!defined $self->{decides} ? ', exact'
            : $first->{calls_of_run} ? ', per call' : ', as share of its run')];
    push @facts, ['Tested', plural($self->{tested}, 'sub') . " of $self->{floor} % or more; "
        . "significant up to a p of $self->{alpha}"] if defined $self->{decides};
    push @facts, ['Adjusted', ($first->{calls_of_run} ? 'times' : 'shares')
        . ' are scaled so that the other subs take their usual values']
        if $self->{adjusted};
    push @facts, ['Too few runs', 'no change of a share could be significant']
        if defined $self->{decides} && !$self->{decides};
    push @facts, ['Not exact', join(' and ', map { $_->{metric}->name } @beside ? @beside : $first)
        . ($self->{metric} ? '' : ' are not compared') . ": $self->{not_exact}"]
        if defined $self->{not_exact};
    return @facts;
}

# Returns the changes as a table for a format, and the lines below it. Formats for programs have all
# changes. NAMES are those of the run-sets.
sub table {
    my ($self, $format, @names) = @_;
    my $is_for_programs = $format == DP_CSV || $format == DP_JSON;
    my @all = @{ $self->{found} };
    my @found = $self->{verbose} || $is_for_programs ? @all
        : grep { $_->{after} > $_->{before} } @all;
    my $more = $self->{rows} && @found > $self->{rows} ? @found - $self->{rows} : 0;
    splice @found, $self->{rows} if $more;
    my $table = Devel::DProf::Table->new(@COLUMNS);
    if ($format == DP_JSON) {
        $table->json(history => \@names);
        $table->json(versions => $self->{names});
        $table->json(alpha => $self->{alpha} + 0);
    } else {
        $table->fact('History', 'history', join ', ', @names);
    }
    for (grep { $format != DP_JSON || $_->[0] ne 'Versions' } $self->facts) {
        my ($label, $text) = @$_;
        $table->fact($label, lc($label) =~ tr/ /_/r, $text);
    }
    $table->row(cells($_)) for @found;
    my $less = grep { $_->{after} < $_->{before} } @all;
    return ($table, @found ? () : '# No sub became slower or does more.',
        $more ? '# ' . plural($more, 'more change') . ' (-O)' : (),
        $less && !$self->{verbose} ? '# ' . plural($less, 'decrease') . ' (-v shows them)' : ());
}

# Returns the cells of a change's row. Without p, the metric is exact, and its change needs no test.
sub cells {
    my ($f) = @_;
    my $is_tested = defined $f->{p};
    my @values = map { !$is_tested ? [$_, grouped($_)]
        : $f->{unit} eq 's' ? [sprintf('%.9f', $_), sprintf '%.3f us', 1e6 * $_]
        : [sprintf('%.4f', $_), sprintf '%.2f%%', $_] } @$f{qw(before after)};
    my $change = $f->{change};
    return (@$f{qw(sub metric last_good first_bad)}, @values,
        defined $change ? [sprintf('%.4f', $change), sprintf '%+.2f%%', $change] : [undef, 'new'],
        !$is_tested ? [undef, 'exact'] : [sprintf('%.3g', $f->{p}),
            $f->{p} < 0.0001 ? '<0.0001' : sprintf '%.4f', $f->{p}]);
}

1;
