package Devel::DProf::Compare::Diff;

# Compares sides (Devel::DProf::Sides): turns metric and rules into the arguments of C, and the
# result into sentences.

use strict;
use warnings;

use Devel::DProf::Compare::Rules qw(limit_of);
use Devel::DProf::Constants qw(options given DP_T_CPU DP_T_REAL
                               DP_LINES_TIMES DP_K_SUB DP_K_SRCLINE DP_K_PHASE DP_K_CALLER
                               DP_K_PARENT DP_V_FLAT DP_V_TREE DP_V_CALLERS DP_RULE_GROWTH
                               DP_RULE_CALLS
                               DP_DIFF_BY_CHANGE DP_C_DELTA DP_C_DELTA_ABS DP_C_RATIO DP_C_WDIFF
                               DP_F_SHOWN);
use Devel::DProf::Metric;
use Devel::DProf::Profile;
use Devel::DProf::Sides qw(parts);
use Devel::DProf::Text qw(few text);
use Devel::DProf::View qw(filters_names flags given_filters meant_subs meant_selected);
use Devel::DProf::View::Layout qw(grouped);

our $VERSION = $Devel::DProf::Core::VERSION;

# Makes a comparison, which is not settled yet. READER: the Devel::DProf::Sides, which may be read
# later. HOW: options of C, the fields of struct dp_diff_how. FIELDS: filters(), rules, and how to
# settle the comparison.
sub new {
    my ($class, $reader, $how, %fields) = @_;
    my %given = (
        keys => [DP_K_SUB], separate => 1, order => DP_DIFF_BY_CHANGE, compute => DP_C_DELTA,
        floor => 0.5, alpha => 0.005, layout => 10, time_floor => 0.001, time_floor_percent => 0.5,
        confidence => 0.95, facts => [], rules => [], %$how,
    );
    return bless {
        metric_name => 'cpu', symfs => [], rules => [], %fields,
        (map { $_ => $given{$_} } qw(separate autoload)),
        reader => $reader, given => \%given, how => options('diff', %given),
    }, $class;
}

# Returns another comparison of the same sides, which the caller has to settle.
sub with {
    my ($self, $how, %fields) = @_;
    return ref($self)->new($self->{reader}, { %{ $self->{given} }, %$how }, %$self, %fields);
}

# ---- questions of callers ----

sub reader { return $_[0]{reader} }

sub sides { return $_[0]{reader}->sides }

sub alpha { return $_[0]{how}{alpha} }

# Returns whether times of several runs are adjusted for the speed of the runs.
sub is_adjusted { return $_[0]{how}{work} ? 1 : 0 }

# Returns the names of --map, old and new in turn.
sub renames { return @{ $_[0]{how}{renames} || [] } }

sub given_rules { return @{ $_[0]{rules} } }

# Returns whether a side has several runs.
sub has_runs {
    my ($self) = @_;
    return scalar grep { @{ $_->{profiles} } > 1 } $self->sides;
}

# Returns the options that a picture of the same sides shares: a reference to those of C, then pairs
# for the object.
sub for_picture {
    my ($self) = @_;
    return ({ map { $_ => $self->{how}{$_} } qw(separate autoload renames bases normalize title) },
        metric => $self->{metric_name}, force => $self->{reader}->is_forced,
        map { $_ => $self->{$_} } qw(symfs re_only re_skip re_kind));
}

# Returns whether the values of a measure, by default that of the table, are seconds.
sub in_seconds {
    my ($self, $measure) = @_;
    $measure ||= $self->{how}{measures}[0];
    return $measure->is_time && $self->{reader}->is_time;
}

# Returns the script that a side's first file names, or an empty text.
sub script_of {
    my ($self, $side) = @_;
    my ($first) = parts($side);
    return $first && $self->{reader}->header($first)->{dprof_script} // '';
}

# Files of more bytes are not read again, because that would take time.
use constant READ_AGAIN => 16_000_000;

# Returns the part that start-up is of the time of each side's first run: what --main leaves out.
# Returns an empty list if it is unknown for a side, or is left out.
sub startup_shares {
    my ($self) = @_;
    my $reader = $self->{reader};
    my ($measure, @sides) = ($self->{how}{measures}[0], $self->sides);
    return if $reader->leaves_out || !$self->in_seconds || grep { $_->{unit} } @sides;
    my @shares;
    for my $side (@sides) {
        my @paths = @{ $side->{runs}[0] || [] };
        my $bytes = 0;
        $bytes += -f $_ ? -s _ : READ_AGAIN for @paths;
        return if $bytes >= READ_AGAIN;
        my $total = 0;
        $total += $measure->total($_) for @{ $side->{profiles}[0] };
        my $main = $reader->without_startup(@paths);
        return if !$total;
        push @shares, 1 - $measure->total($main) / $total;
    }
    return @shares;
}

# Returns whether the values of the table repeat exactly.
sub is_exact { return $_[0]{how}{measures}[0]->is_exact }

# ---- metric and measures ----

# Chooses the metric of the table, and the measures that are compared beside it. Returns false,
# after a message, if a side lacks the metric.
sub settle {
    my ($self) = @_;
    my @sides = $self->sides;
    for my $side (@sides) {
        my @parts = parts($side);
        next if $self->{reader}->is_forced || $self->{empty} || grep {
            (!$self->{reader}->has_windows && $_->contexts > 1)
                || $_->total(Devel::DProf::Profile::REAL)
        } @parts;
        my $why = $self->{reader}->has_windows ? 'no part of the recording lies within --time'
            : 'the profile is empty';
        $self->{reader}->say("$side->{name}: $why");
        return 0;
    }
    $self->settle_lines or return 0;
    my $metric = $self->{reader}->metric($self->{metric_name});
    $self->{reader}->same_unit or return 0 if $metric && $metric->is_time;
    my $measure = $self->{reader}->measure($self->{metric_name}) or return 0;
    $self->{how}{measures} = [$measure];
    $self->{how}{metric} = $measure->number;
    $self->{reader}->doubt_counter($measure, 0);
    $self->know_samples($measure) or return 0;
    $self->compare_by_unit($measure);
    $self->{how}{paired} = 1 if $self->is_in_turn;
    $self->{label} = $measure->label;
    # For exact values, the number says more than a share. A user who gives -c or -o wants the
    # shares.
    $self->{how}{amounts} = 1 if $measure->is_exact && !$self->{how}{formula}
        && !$self->{how}{normalize} && $self->{how}{compute} == DP_C_DELTA
        && $self->{how}{order} == DP_DIFF_BY_CHANGE;
    $self->know_work if $measure->is_time && !$self->{how}{normalize} && !$self->{how}{units};
    return 1;
}

# Returns the least detail of lines in the profiles of a side: 0, no lines; 1, counts; 2, times and
# counters, too.
sub line_detail {
    my ($side) = @_;
    return (sort { $a <=> $b } map { $_->line_detail } parts($side))[0] // 0;
}

# Returns whether the sides can be compared line by line, or false after a message. name: the
# metric; undef: any.
sub has_lines {
    my ($self, $what, $name) = @_;
    my ($without) = grep { !line_detail($_) } $self->sides;
    if ($without) {
        $self->{reader}->say("$what: $without->{name} has no lines; record it with lines=time");
        return 0;
    }
    my ($counts) = grep { line_detail($_) < DP_LINES_TIMES } $self->sides;
    return 1 if !$counts || !defined $name || $name eq 'calls';
    $self->{reader}->say("$what: the lines of $counts->{name} have calls only, and no $name;"
        . ' record it with lines=time');
    return 0;
}

# Decides the meaning of srcline: lines if all sides have lines, or the places of subs if none has.
# Returns false, after a message, if only some have lines.
sub settle_lines {
    my ($self) = @_;
    my $what = $self->{annotate} ? '--annotate' : 'srcline';
    if (!$self->{annotate}) {
        return 1 if !grep { $_ == DP_K_SRCLINE } @{ $self->{how}{keys} };
        return 1 if grep { $_ == DP_K_PHASE || $_ == DP_K_CALLER || $_ == DP_K_PARENT }
            @{ $self->{how}{keys} };
        return 1 if !grep { line_detail($_) } $self->sides;
    }
    return $self->{reader}->is_forced && !$self->{annotate} ? 1 : 0 if !$self->has_lines($what);
    my $counts = grep { line_detail($_) < DP_LINES_TIMES } $self->sides;
    $self->{metric_name} = 'calls' if $counts && !$self->{metric_given};
    return $self->{reader}->is_forced || $self->has_lines($what, $self->{metric_name});
}

# Prepares a comparison by host or process if all sides come from a store
# (Devel::DProf::Store::Sides): times of subs are then compared per call, and other values as
# shares.
sub compare_by_unit {
    my ($self, $measure) = @_;
    my @sides = $self->sides;
    my ($unit, @others) = map { $_->{unit} // '' } @sides;
    return if !length $unit || grep { $_ ne $unit } @others;
    $self->{how}{units} = $unit;
    $self->{how}{paired} = 1 if @sides == 2 && $sides[0]{paired};
    return if $self->{as_measured} || $self->{how}{normalize};
    my %key = map { $_ => 1 } @{ $self->{how}{keys} };
    my $has_calls = $self->{how}{counts} || !grep { $_->no_calls } map { parts($_) } @sides;
    if ($has_calls && $measure->is_time && $key{ DP_K_SUB() }
        && !$self->{how}{view} && !$key{ DP_K_SRCLINE() } && !$self->{annotate}) {
        $self->{how}{per_call} = 1;
    } else {
        $self->{how}{normalize} = 1;
        $self->{how}{work} = 0;
    }
    return;
}

# Returns whether run k of each side was recorded in turn with run k of the others, and --pid and
# --tid have left out no run.
sub is_in_turn {
    my ($self) = @_;
    return !grep { !$_->{in_turn} || @{ $_->{profiles} } != @{ $_->{runs} } } $self->sides;
}

# Returns a warning if a side has a single host or process, or undef.
sub few_units {
    my ($self) = @_;
    return undef if !$self->{how}{units} || !grep { @{ $_->{profiles} } < 2 } $self->sides;
    return $self->{how}{units} eq 'host'
        ? 'one host a side: a difference may come from the host or from the version'
        : 'one process a side: a difference may come from the process or from the version';
}

# Adds ops to the measures if the metric is a time and all profiles have ops. Ops are exact, so with
# several runs a side they distinguish a slow run from a slow sub.
sub know_work {
    my ($self) = @_;
    for my $profile (map { parts($_) } $self->sides) {
        return if $profile->unit ne 's' || !$profile->has_counter('ops');
    }
    push @{ $self->{how}{measures} }, $self->{reader}->measure('ops');
    $self->{how}{beside} = $#{ $self->{how}{measures} };
    $self->{how}{work} = $self->{how}{beside} if !$self->{as_measured} && $self->has_runs;
    my $all_of_it = grep { $self->{how}{metric} == $_ } DP_T_CPU, DP_T_REAL;
    $self->know_noise if $self->{how}{work} && $all_of_it;
    return;
}

# Adds the noise of each sub to the measures if all runs have it, so that C can also compare times
# without noise.
sub know_noise {
    my ($self) = @_;
    return if grep { !$_->has_counter('noise') } map { parts($_) } $self->sides;
    push @{ $self->{how}{measures} }, $self->{reader}->measure('noise');
    $self->{how}{noise} = $#{ $self->{how}{measures} };
    return;
}

my $ADVICE = '-n compares shares, -f compares the values all the same';

# Returns the number of sampled profiles. Returns undef, after a message, if some profiles are
# sampled and others have every call, because their values cannot be compared.
sub sampled {
    my ($self) = @_;
    my @all = map { parts($_) } $self->sides;
    my @sampled = grep { $self->{reader}->is_sampled($_) } @all;
    return scalar @sampled if !@sampled || $self->{how}{normalize} || $self->{reader}->is_forced
        || !grep { !$self->{reader}->is_sampled($_) && !$_->no_calls } @all;
    $self->{reader}->say("some profiles are sampled, and others have every call; $ADVICE");
    for my $side ($self->sides) {
        my $n = grep { $self->{reader}->is_sampled($_) } parts($side);
        $self->{reader}->say("$side->{name}: " . (!$n ? 'every call'
            : $n < parts($side) ? 'samples in some runs' : 'samples'));
    }
    return undef;
}

# Returns false, after a message, if numbers of samples are compared that have different rates.
sub same_rates {
    my ($self) = @_;
    my @sides = $self->sides;
    my @rates = map { [$self->{reader}->sample_rates($_)] } @sides;
    my %rates = map { $_ => 1 } map { @$_ } @rates;
    return 1 if keys %rates < 2 || $self->{how}{normalize} || $self->{reader}->is_forced;
    $self->{reader}->say('samples: the profiles have different sampling rates, so numbers of'
        . " samples cannot be compared; -m cpu compares times, $ADVICE");
    $self->{reader}->say("$sides[$_]{name}: " . join(' and ', @{ $rates[$_] }) . ' a second')
        for 0 .. $#rates;
    return 0;
}

# Returns false, after a message, if the values of a metric are exact on one side and sampled on the
# other, or are numbers of samples with different rates.
sub same_kind {
    my ($self, $name) = @_;
    my $sampled = $self->sampled // return 0;
    return $name ne 'samples' || $sampled < (() = map { parts($_) } $self->sides)
        || $self->same_rates;
}

# Adds the numbers of samples to the measures if all profiles are sampled, for the test of sampled
# profiles. Returns false, after a message, if values are not comparable.
sub know_samples {
    my ($self, $measure) = @_;
    $self->same_kind($measure->name) or return 0;
    return 1 if grep { !$self->{reader}->is_sampled($_) } map { parts($_) } $self->sides;
    push @{ $self->{how}{measures} }, $self->{reader}->measure('samples');
    $self->{how}{counts} = $#{ $self->{how}{measures} };
    # Most subs of a run share its speed, so numbers of samples can estimate it.
    $self->{how}{work} = $self->{how}{counts} if $measure->is_time && $self->has_runs
        && !$self->{as_measured} && !$self->{how}{normalize};
    return 1;
}

# Returns the fact with the number of samples and the sampling rate of each side.
sub fact_of_samples {
    my ($self) = @_;
    my @counters = $self->{how}{measures}[ $self->{how}{counts} ]->counters;
    my @sides;
    for my $side ($self->sides) {
        my $n = 0;
        $n += $_->counted(shift @counters) for parts($side);
        my @rates = $self->{reader}->sample_rates($side);
        push @sides, grouped($n) . (@rates ? ' at ' . join(' and ', @rates) . ' a second' : '');
    }
    return ('Samples', 'samples_of_sides', join(', ', @sides)
        . '; a change is one of the share of samples and of the value');
}

# Returns messages about differences between the recordings of the sides: in perl, clock, options or
# program. of_commands: the sides are different commands, so their programs may differ.
sub differences {
    my ($self, $of_commands) = @_;
    my @told;
    my $times = !grep { $self->{reader}->has_no_times($_) } map { parts($_) } $self->sides;
    my %names = (
        dprof_perl => 'perl', $times ? (dprof_clock => 'the clock') : (),
        dprof_only => 'only', dprof_skip => 'skip', builtins => 'builtins',
        $of_commands ? () : (program => 'the program'),
    );
    for my $name (sort keys %names) {
        my (%values, @order);
        for my $side ($self->sides) {
            for my $profile (parts($side)) {
                my %header = %{ $self->{reader}->header($profile) };
                next if !defined $header{dprof_format};
                my $options = $header{dprof_options};
                my $ours = $header{dprof_format} =~ /^(?:trace|tree|folded)\b/;
                $header{builtins} = $options =~ /\bbuiltins=(\w+)/ ? $1 : 'no'
                    if defined($options //= $ours ? '' : undef);
                $header{program} = $header{dprof_script} =~ s{.*/}{}r
                    if defined $header{dprof_script};
                next if !$ours && !defined $header{$name};      # files of other tools lack it
                my $value = $header{$name} // '';
                push @order, length $value ? $value : 'none' if !$values{$value}++;
            }
        }
        push @told, "$names{$name} is not the same: " . join(', ', @order) if @order > 1;
    }
    return @told;
}

# Returns warnings for a gate: random hash seeds make counts differ by chance.
sub doubts {
    my ($self) = @_;
    my @doubts;
    my @growth = grep { $_->{kind} == DP_RULE_GROWTH } @{ $self->{how}{rules} };
    my $why = $self->{reader}->why_unpinned;
    my $of_counts = grep {
        $_->{measure} == DP_RULE_CALLS || $self->{how}{measures}[ $_->{measure} ]->is_exact
    } @growth;
    if (defined $why && $of_counts) {
        push @doubts, "$why, so that calls and ops may differ by chance; "
            . 'PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 make them repeat';
    }
    return @doubts;
}

# Returns the names of those values of rules that differ by chance, if each side has a single run;
# otherwise ''.
sub is_chancy {
    my ($self) = @_;
    return '' if $self->has_runs;
    return 'totals' if $self->{how}{counts};
    my %seen;
    my @measures = map { $self->{how}{measures}[ $_->{measure} ] }
        grep { $_->{kind} == DP_RULE_GROWTH && $_->{measure} != DP_RULE_CALLS }
        @{ $self->{how}{rules} };
    my @chancy = map {
        $_->is_time ? 'times' : $_->is_exact ? () : $_->name
    } @measures;
    return join ' and ', grep { !$seen{$_}++ } @chancy;
}

# Returns the texts of the rules whose pattern matched nothing. result: what print() returned.
sub unmatched {
    my ($self, $result) = @_;
    return map { $_->{text} } grep { $_->{pattern} >= 0 && !$result->{matched}{ $_->{pattern} } }
        @{ $self->{how}{rules} };
}

# Returns messages about rules, renames and filters that matched nothing. The comparison must have
# been printed. result: what print() returned.
sub idle {
    my ($self, $result) = @_;
    my %unmatched = map { $_ => 1 } $self->unmatched($result);
    my @idle = map { "--fail-if $_->{text}: no " . ($_->{by_line} ? 'line'
            : defined $_->{span} ? 'span' : 'sub') . ' matches' }
        grep { $unmatched{ $_->{text} } } $self->given_rules;
    my $filter = join ' and ', given_filters({ %$self, subs => undef });
    push @idle, "$filter: nothing is left"
        . meant_selected({ %$self, subs => undef }) if length $filter && !$result->{rows};
    my ($names, @renames) = ($self->{subs} || {}, @{ $self->{how}{renames} || [] });
    return @idle if !%$names && !@renames;
    my @subs = map { $_->subs({ autoload => $self->{autoload} }) }
        map { parts($_) } $self->sides;
    my %labels = map { $_ => 1 } '(program)', map { $_->[0] } @subs;
    while (my ($old, $new) = splice @renames, 0, 2) {
        my $known = $old =~ /::\z/ ? grep { index($_, $old) == 0 } keys %labels : $labels{$old};
        next if $known;
        my $is_package = grep { index($_, "${old}::") == 0 } keys %labels;
        my $hint = $is_package ? '; a package ends in :: on both sides' : '';
        push @idle, "--map $old=$new: no side has $old$hint";
    }
    my %shown = map { $_ => 1 } map { @$_ } values %{ $self->{labels} || {} };
    for my $name (grep { !$labels{$_} && !$shown{$_} } sort keys %$names) {
        my @like = few(grep { /::\Q$name\E\z/ } sort keys %labels);
        push @idle, "-S $name: no sub has that name"
            . (@like ? '; did you mean ' . join(' or ', @like) . '?'
                : meant_subs($name, map { parts($_) } $self->sides));
    }
    return @idle;
}

# ---- rules ----

# Turns rules into C's form, after the metric is settled. Dies with a message if a rule is wrong.
# Returns false, after a message, if a side lacks its metric.
sub settle_rules {
    my ($self) = @_;
    $self->{patterns} = undef;
    $self->{how}{rules} = [];
    for my $parsed ($self->given_rules) {
        my %rule = (text => $parsed->{text}, kind => $parsed->{kind}, pattern => -1,
            by_line => $parsed->{by_line} ? 1 : 0);
        return 0 if $rule{by_line} && !$self->has_lines($rule{text}, $parsed->{metric});
        if ($parsed->{re}) {
            push @{ $self->{patterns} }, $parsed->{re};
            $rule{pattern} = $#{ $self->{patterns} };
        }
        if ($rule{kind} == DP_RULE_GROWTH) {
            my $measure = $self->rule_measure($parsed->{metric}, \%rule);
            return 0 if !defined $measure;
            $rule{measure} = $measure;
            my $is_time = $measure != DP_RULE_CALLS
                && $self->in_seconds($self->{how}{measures}[$measure]);
            my $per_second = $is_time ? 1 : $measure != DP_RULE_CALLS
                && $self->is_in_ns($self->{how}{measures}[$measure]) ? 1e9 : 0;
            $rule{with_ops} = $self->with_ops($parsed) if $parsed->{with_ops};
            $rule{limits} = [map { limit_of($parsed, @$_, $is_time, $per_second) }
                @{ $parsed->{limits} }];
        }
        push @{ $self->{how}{rules} }, \%rule;
    }
    return 1;
}

# Returns 1 for a rule that needs ops. Dies if not all sides have ops.
sub with_ops {
    my ($self, $parsed) = @_;
    return 1 if $self->{how}{beside} && !$parsed->{by_line};
    my $why = $parsed->{by_line} ? 'rules about lines cannot ask for ops'
        : 'this needs a time, ops on all sides (mode=tree), and no -n';
    die "--fail-if: $parsed->{text}: $why\n";
}

# Returns the number of the measure that a rule of --fail-if is about, or undef after a message. A
# counter that no table shows becomes one more measure, without a column.
sub rule_measure {
    my ($self, $name, $rule) = @_;
    $rule->{incl} = $name eq 'incl' ? 1 : 0;
    return 0 if $name eq 'self' || $name eq 'incl' || $name eq $self->{how}{measures}[0]->name;
    if ($name eq 'calls') {
        return DP_RULE_CALLS
            if $self->{reader}->is_forced || !grep { $_->no_calls } map { parts($_) } $self->sides;
    }
    die "--fail-if: $rule->{text}: a time is compared as self or incl, and -m selects the time\n"
        if $name ne 'calls' && Devel::DProf::Metric->known($name);
    my $measure = $self->{reader}->measure($name) or return undef;
    my ($known) = grep { $self->{how}{measures}[$_]->name eq $measure->name }
        0 .. $#{ $self->{how}{measures} };
    return $known if defined $known;
    $self->{reader}->doubt_counter($measure, 0);
    push @{ $self->{how}{measures} }, $measure;
    return $#{ $self->{how}{measures} };
}

# Returns whether a counter counts nanoseconds, such as task-clock.
sub is_in_ns {
    my ($self, $measure) = @_;
    return $measure->is_counter && $measure->unit eq 'ns';
}

# ---- output ----

# Returns the facts above the table as a flat list: label, key and text of each.
sub facts {
    my ($self) = @_;
    my ($view, $measure) = ($self->{how}{view} // DP_V_FLAT, $self->{how}{measures}[0]);
    my $runs = $self->has_runs;
    my @facts = ('Metric', 'metric', $self->{label}
        . ($self->{how}{children} || $view ? ', with what was called' : ', self')
        . ($self->in_seconds($measure) ? ', in seconds' : ''));
    push @facts, $view == DP_V_CALLERS ? ('Callers of', 'callers_of') : ('Called by', 'called_by'),
        $self->{how}{edges_of} if $view > DP_V_TREE;
    push @facts, 'Values', 'values', 'means of the runs; the totals are medians' if $view && $runs;
    my $why = $measure->is_exact ? $self->{reader}->why_unpinned : undef;
    if (defined $why) {
        push @facts, 'Not exact', 'not_exact',
            "$why; PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 make it repeat"
            . ($self->{reader}->tolerance($measure) ? '. Up to 0.1 % is taken for equal' : '');
    } elsif ($measure->is_exact) {
        push @facts, 'Exact', 'exact', 'it repeats from run to run: one run a side decides';
    } elsif (!$runs) {
        push @facts, 'Runs', 'runs', $self->{how}{counts}
            ? 'one a side: the chance of samples is known, but not how much runs differ'
            : 'one a side, which cannot tell a change from chance (see --run)';
    }
    push @facts, $self->facts_of_units if $self->{how}{units};
    push @facts, $self->fact_of_samples if $self->{how}{counts} && !$view;
    push @facts, 'Normalized', 'normalized', "values are as if all runs had the baseline's total"
        if $self->{how}{normalize};
    push @facts, 'Shares', 'shares', 'of what is shown' if $self->{how}{relative};
    push @facts, $self->fact_of_compute if !$view && !$self->{how}{amounts};
    return @facts;
}

# Returns facts above the table: what counts as one value of a side (a run, host or process), and
# that there are too few of them.
sub facts_of_units {
    my ($self) = @_;
    my $few = $self->few_units;
    my $times = !$self->{how}{per_call} ? ''
        : $self->{how}{counts} ? '; values are shares of the time of each phase, put together with'
            . ' the weights of the baseline'
        : '; times are those of the calls that the baseline has on average, phase by phase';
    my $what = "each $self->{how}{units}";
    $what = "the difference within $what" if $self->{how}{paired};
    return ('Units', 'units', "$what is one value$times",
        defined $few ? ('Too few', 'too_few', $few) : ());
}

# Returns the fact that explains the column of -c.
sub fact_of_compute {
    my ($self) = @_;
    my ($baseline, $other) = @{ $self->{how}{weights} || [1, 1] };
    my $share = "share of its own total less share of the baseline's; + is a greater share";
    my %rows = (
        DP_C_DELTA() => ['Delta', $share], DP_C_DELTA_ABS() => ['Delta Abs', $share],
        DP_C_RATIO() => ['Ratio', 'value / baseline'],
        DP_C_WDIFF() => ['Weighted diff', "value * $other - baseline * $baseline"],
    );
    my ($label, $text) = @{ $rows{ $self->{how}{compute} } };
    return ($label, 'compute', $text);
}

# Compares the sides, and prints the result to OUT. Returns C's result as a hash: code, rows,
# failed, undecided, needed, findings, and matched, the patterns of rules that matched. Returns
# undef, after a message, if a pattern cannot be used.
sub print {
    my ($self, $out, %how) = @_;
    return $self->result(sub { Devel::DProf::Profile::print_diff($out, @_) }, %how);
}

# Compares the sides without printing. Returns what print() would return.
sub check { my ($self) = @_; return $self->result(\&Devel::DProf::Profile::check_diff) }

# Returns the pairs of a gone and a new sub that may be one sub, from the result of print or check:
# a line for people each.
sub renamed { return split /\n/, text($_[0]{renamed} // '') }

# Returns a comparison that pairs subs which certainly were renamed (--map auto), or this one if
# there are none. It is not settled yet.
sub with_certain_names {
    my ($self) = @_;
    my $result = $self->check or return undef;
    my @names = map { split /=/, $_, 2 } split /\n/, text($result->{renames} // '');
    return @names ? $self->with({ renames => [$self->renames, @names] }) : $self;
}

# Compares the sides, and returns rows as Devel::DProf::Profile::compared does, or undef, after a
# message, if a pattern cannot be used. In the call tree, changes below LINES_PERCENT of the total
# are joined in one line.
sub compared {
    my ($self, $lines_percent, %how) = @_;
    return $self->result(
        sub { eval { Devel::DProf::Profile::compared(@_, $lines_percent) } }, %how);
}

# Calls CODE, a function of C, with the sides and options of this comparison. HOW replaces some of
# the options. Returns its result, or undef, after a message, if a pattern cannot be used.
sub result {
    my ($self, $code, %how) = @_;
    my (%matched, $wrong);
    my $patterns = $self->{patterns};
    # perl finds undefined properties in a pattern only when it matches.
    my $match = sub {
        my ($n, $name) = @_;
        my $matches = eval { $name =~ $patterns->[$n] ? 1 : 0 };
        $matched{$n} ||= $matches;
        $wrong //= $@ =~ s/ at \S+ line \d+\.?\n\z//r if !defined $matches;
        return $matches // die;
    };
    my $sides = $self->sides_for_c;
    my $result = $code->($sides, $self->in_c(sources => $self->{sources} // [],
        $patterns ? (match => $match) : (), %how));
    return { %$result, matched => \%matched } if $result && !defined $wrong;
    die "the sides cannot be compared\n" if !defined $wrong;
    $self->{reader}->say("--fail-if: $wrong");
    return undef;
}

# Returns the sides as C takes them: each run is a list of parts.
sub sides_for_c {
    my ($self) = @_;
    $self->know_sources if $self->needs_lines;
    $self->learn_labels if $self->{subs} || filters_names($self);
    return [map {
        my $side = $_;
        +{ name => $side->{name}, cut => $side->{cut}, bucketed => $side->{bucketed},
            runs => [map { [map { $self->part($_) } @$_] } @{ $side->{profiles} }] };
    } $self->sides];
}

# Returns whether the table or a rule is about lines of source.
sub needs_lines {
    my ($self) = @_;
    return scalar(grep({ $_ == DP_K_SRCLINE } @{ $self->{how}{keys} })
        || grep { $_->{by_line} } @{ $self->{how}{rules} });
}

# Reads, once, those sources that differ between the sides, so that C can pair lines by their texts.
sub know_sources {
    my ($self) = @_;
    require Devel::DProf::View::Source;
    $self->{sources} ||= [Devel::DProf::View::Source->differing(
        [map { [parts($_)] } $self->sides], @{ $self->{symfs} })];
    return;
}

# Returns the source of a file on a side, a Devel::DProf::View::Source. It has a text only if that
# is the recorded one.
sub source_of {
    my ($self, $side, $file) = @_;
    require Devel::DProf::View::Source;
    for my $profile (defined $file ? $self->profiles_of($side) : ()) {
        my $source = Devel::DProf::View::Source->find($file, [$profile], @{ $self->{symfs} });
        return $source if $source->state eq 'same';
    }
    return Devel::DProf::View::Source->new('gone');
}

# Compares the sides by line of source. Returns a hash with rows, as compared() does, each a line
# and its sub, with the values of a measure, by default the first.
sub line_rows {
    my ($self, $measure) = @_;
    $self->know_sources;
    my %of = !$measure ? () : (measures => [$measure], metric => $measure->number, work => 0,
        beside => 0, counts => 0);
    return $self->compared(0, keys => [DP_K_SRCLINE, DP_K_SUB], rules => [], view => DP_V_FLAT,
        rows => 0, percent_limit => 0, baseline_only => 0, %of);
}

# Returns the profiles of a side.
sub profiles_of { my ($self, $side) = @_; return parts(($self->sides)[$side]) }

# Returns a map from the labels that a difference shows to the lines where the side's subs begin.
sub shown_labels {
    my ($self, $side) = @_;
    $self->learn_labels if !%{ $self->{labels} || {} };
    my %begin;
    for my $profile ($self->profiles_of($side)) {
        my @subs = $profile->subs({ separate => $self->{separate} });
        $begin{ $self->{labels}{$profile}[$_] } //= $subs[$_][3] for 0 .. $#subs;
    }
    return \%begin;
}

# Returns three things: a map from the profile's sub names to the names common to all sides, the
# common names that pass the filters, and the naming options that produce the former.
sub names_of {
    my ($self, $profile) = @_;
    $self->learn_labels if !%{ $self->{labels} || {} };
    my %naming = map { $_ => $self->{$_} } qw(separate autoload);
    my @subs = $profile->subs(\%naming);
    my $flags = $self->part($profile)->[1];
    my $labels = $self->{labels}{$profile};
    my %shared = map { $subs[$_][0] => $labels->[$_] } 0 .. $#subs;
    my %shown = map { $labels->[$_] => 1 }
        grep { !defined $flags || ord(substr $flags, $_, 1) & DP_F_SHOWN } 0 .. $#subs;
    return (\%shared, \%shown, %naming);
}

# Returns the options of the comparison as C takes them, some of them replaced by HOW. Afterwards
# the options cannot change any more.
sub in_c {
    my ($self, %how) = @_;
    %how = (given($self->{how}), %how);
    $how{measures} = [map { $self->measure_in_c($_) } @{ $how{measures} }] if $how{measures};
    return \%how;
}

# Returns a measure of the comparison as C takes it, a hash: name, metric (a number), exact,
# tolerance and, for a counter, counters.
sub measure_in_c {
    my ($self, $metric) = @_;
    return {
        name => $metric->name, metric => $metric->number, exact => $metric->is_exact,
        tolerance => $self->{reader}->tolerance($metric),
        $metric->is_counter ? (counters => [$metric->counters]) : (),
    };
}

# Pairs the subs of all sides, and keeps in {labels}{PROFILE} the common name of each sub, a list by
# the sub's number. Filters are applied to these names.
sub learn_labels {
    my ($self) = @_;
    my @sides = $self->sides;
    my @list = map { my $s = $_; map { [$_, $s] } parts($sides[$s]) } 0 .. $#sides;
    my $labels = Devel::DProf::Profile::paired_labels(\@list,
        { map { $_ => $self->{how}{$_} } qw(separate autoload renames bases) });
    $self->{labels}{ $list[$_][0] } = $labels->[$_] for 0 .. $#list;
    return;
}

# Returns a profile of a side as C takes it, [PROFILE, FLAGS, SCRIPT, PID, TID]: with the flags of
# its subs by the filters, and what distinguishes its process from others.
sub part {
    my ($self, $profile) = @_;
    my $header = $self->{reader}->header($profile);
    my $script = $header->{dprof_script};
    # Checkouts have the script in different folders, so a unique name identifies it without its
    # path.
    $script =~ s{.*/}{} if defined $script && !$self->is_ambiguous($script);
    my $flags = flags($self, $profile, $header, $self->{labels}{$profile});
    return [$profile, $flags, $script, @$header{qw(dprof_pid dprof_tid)}];
}

# Returns whether a side has several scripts of this name, in different folders; then only the whole
# path distinguishes them.
sub is_ambiguous {
    my ($self, $script) = @_;
    $self->{scripts_by_name} ||= do {
        my %by;
        my @sides = $self->sides;
        for my $s (0 .. $#sides) {
            for my $profile (parts($sides[$s])) {
                my $path = $self->{reader}->header($profile)->{dprof_script} // next;
                $by{ $path =~ s{.*/}{}r }{$s}{$path} = 1;
            }
        }
        \%by;
    };
    return grep { keys %$_ > 1 } values %{ $self->{scripts_by_name}{ $script =~ s{.*/}{}r } };
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Compare::Diff - profiles compared: metric, rules, facts

=head1 SYNOPSIS

    use Devel::DProf::Compare::Rules qw(rules_of);

    my $say = sub { warn "$_[0]\n" };
    my $reader = Devel::DProf::Sides->new(say => $say);
    my $diff = Devel::DProf::Compare::Diff->new($reader, {}, metric_name => 'calls',
        rules => [rules_of('calls > 0')]);
    my $read = $reader->read(sub { $_[0]{code} ? 'bad' : 'fine' },
        { name => 'old.out', runs => [['old.out']] }, { name => 'new.out', runs => [['new.out']] });
    $read or die;
    $diff->settle && $diff->settle_rules or die;
    my $result = $diff->print(\*STDOUT);
    die "slower\n" if $result->{failed};

=head1 DESCRIPTION

L<dprofdiff> and L<Test::DProf> share this module: it chooses a metric, finds the values that rules
need, and calls the comparison in C.

=head1 METHODS

=over

=item new READER, HOW, FIELD => VALUE, ...

READER is the L<Devel::DProf::Sides> that are compared; they are read before C<settle>. HOW is a
hash of options of the comparison in C, those of C<struct dp_diff_how> in F<src/dprof/diff.h>;
another key is an error.

The FIELDs are metric_name, the metric to compare (C<cpu>, C<user>, C<system>, C<real>, C<calls>,
C<ops> or another counter; C<cpu> by default); empty, which compares sides that have recorded
nothing, too; as_measured, which does not adjust times for the speed of the runs; symfs, folders
that may contain the sources; metric_given: the user has named the metric, so it is not replaced by
calls if lines have nothing else; annotate, which needs lines on all sides; rules, those of a gate,
as L<Devel::DProf::Compare::Rules/rules_of> returns them.

=item reader, sides

The READER; its sides.

=item has_runs

True if a side has several runs.

=item line_rows [MEASURE]

Returns rows, as L<Devel::DProf::Profile/compared> does, for lines of source and their subs. MEASURE
replaces the metric; C<measure NAME> returns one, or undef, after a message, if a side lacks it.

=item has_lines WHAT [, METRIC]

Returns true if the lines of all sides have the metric. Otherwise prints a message that begins with
WHAT.

=item profiles_of SIDE, shown_labels SIDE, source_of SIDE, FILE

SIDE is a number. The methods return the L<Devel::DProf::Profile> objects of the side; a hash from
the names of its subs, as a difference shows them, to the lines where they begin; and the
L<Devel::DProf::View::Source> of a file, which has a text only if that is the recorded one.

=item given_rules

The rules of C<new>.

=item with HOW, FIELD => VALUE, ...

Returns another comparison of the same sides, with other values for some of the arguments of C<new>.
The caller has to call C<settle> on it.

=item alpha, is_adjusted

Return the level of significance; and, after settle, whether times are adjusted for the speed of the
runs.

=item for_picture

Returns the options that a picture of the same sides shares, as the C<new> of
L<Devel::DProf::View::Flame> takes them.

=item in_c [FIELD => VALUE, ...]

Returns the options of the comparison as C takes them, some of them with other values. Afterwards,
C<set> is an error.

=item facts

Returns, after settle, the facts above the table: a list of label, key and text for each.

=item settle

Chooses the metric. Returns false, after a message through say, if nothing was recorded, if a side
lacks the metric, or if the units differ.

=item same_kind METRIC

Returns false, after a message, if some profiles are sampled and others exact, or if numbers of
samples with different rates are compared. Pictures of two sides call this method, too.

=item startup_shares

The part that start-up is of the time of each side's first run, from 0 to 1, or an empty list if it
is unknown. Start-up is what B<--main> leaves out.

=item in_seconds, is_exact

Return, after settle, whether the values of the table are seconds; and whether they repeat exactly.

=item settle_rules

Prepares the rules, after settle. Returns false if a side lacks what a rule needs. Dies with a
message if a rule is wrong.

=item doubts

Returns warnings about the rules, as lines: random hash seeds make counts differ by chance.

=item is_chancy

If each side has a single run, returns the values that rules use and that differ from run to run:
C<times>, C<totals> or the names of counters. Otherwise returns an empty text.

=item idle

Takes the result of print. Returns messages about rules whose pattern matched no sub or line, about
renames of names that no side has, and about filters that leave nothing.

=item differences [COMMANDS]

Returns messages about differences between the recordings: perl, clock, options and program. If
COMMANDS is true, the programs are not compared.

=item print HANDLE [, FIELD => VALUE, ...]

Compares and prints. The FIELDs replace options of C that C<new> has got. Returns a hash, or undef,
after a message, if a pattern could not be used. The hash has code (0, or a negative number as in
L<Devel::DProf::Profile>), rows, failed and undecided (numbers of findings), findings (lines of
text), needed (the number of runs a side that could decide the undecided findings), and matched (the
numbers of the patterns that matched something).

=back

=cut
