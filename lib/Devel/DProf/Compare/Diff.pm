package Devel::DProf::Compare::Diff;

# Profiles compared: sides (Devel::DProf::Sides) brought to what the comparison in C takes.

use strict;
use warnings;

use Devel::DProf::Compare::Rules qw(rules_of limit_of);
use Devel::DProf::Constants qw(options given DP_T_CPU DP_T_REAL
                               DP_LINES_TIMES DP_K_SUB DP_K_SRCLINE DP_K_PHASE DP_K_CALLER
                               DP_K_PARENT DP_V_FLAT DP_V_TREE DP_V_CALLERS DP_RULE_GROWTH
                               DP_RULE_CALLS
                               DP_DIFF_BY_CHANGE DP_C_DELTA DP_C_DELTA_ABS DP_C_RATIO DP_C_WDIFF
                               DP_F_SHOWN);
use Devel::DProf::Metric;
use Devel::DProf::Profile;
use Devel::DProf::Sides qw(parts);
use Devel::DProf::Text qw(few);
use Devel::DProf::View qw(flags);
use Devel::DProf::View::Layout qw(grouped);

our $VERSION = $Devel::DProf::Core::VERSION;
our @ISA = ('Devel::DProf::Sides');

# HOW: what struct dp_diff_how has. FIELDS: what to read, filters(), and how to settle the
# comparison.
# say: prints what is said of files, by line.
sub new {
    my ($class, $how, %fields) = @_;
    my %given = (
        keys => [DP_K_SUB], separate => 1, order => DP_DIFF_BY_CHANGE, compute => DP_C_DELTA,
        floor => 0.5, alpha => 0.005, layout => 10, time_floor => 0.001, time_floor_percent => 0.5,
        confidence => 0.95, facts => [], rules => [], %$how,
    );
    return $class->SUPER::new(
        metric_name => 'cpu', symfs => [], waits => !$fields{flame} && !$fields{annotate}, %fields,
        (map { $_ => $given{$_} } qw(keys separate autoload)),
        given => \%given, how => options('diff', %given),
    );
}

# Returns another comparison of the same sides, which is to be settled.
sub with {
    my ($self, $how, %fields) = @_;
    my %kept = %$self;
    delete @kept{qw(parsed patterns)};
    return ref($self)->new({ %{ $self->{given} }, %$how }, %kept, %fields);
}

# Makes a comparison of what was read as one side. NAMES are those of the sides that it becomes.
sub of_sides {
    my ($class, $sides, @names) = @_;
    my $self = $class->new({ map { $_ => $sides->{$_} } qw(separate autoload renames bases) },
        %$sides);
    $self->as_sides(@names);
    return $self;
}

# ---- questions of callers ----

sub alpha { return $_[0]{how}{alpha} }

# Whether times of several runs are adjusted for the speed of the runs.
sub is_adjusted { return $_[0]{how}{work} ? 1 : 0 }

# Returns the names of --map, old and new in turn.
sub renames { return @{ $_[0]{how}{renames} || [] } }

# Returns the rules as gate() has parsed them.
sub given_rules { return @{ $_[0]{parsed} || [] } }

sub take_rules {
    my ($self, @rules) = @_;
    $self->{parsed} = [@rules];
    return;
}

# Gives options of C other values, until they are used.
sub set {
    my ($self, %how) = @_;
    $self->{how}{$_} = $how{$_} for keys %how;
    return;
}

# Has a side several runs?
sub has_runs {
    my ($self) = @_;
    return scalar grep { @{ $_->{profiles} } > 1 } $self->sides;
}

# Returns the options that a picture of the same sides shares.
sub for_picture {
    my ($self) = @_;
    return ({ map { $_ => $self->{how}{$_} } qw(separate autoload renames bases normalize title) },
        metric => $self->{metric_name},
        map { $_ => $self->{$_} } qw(force unit symfs re_only re_skip));
}

# Are a measure's values seconds? Of none: those of the table.
sub in_seconds {
    my ($self, $measure) = @_;
    $measure ||= $self->{how}{measures}[0];
    return $measure->is_time && $self->is_time;
}

# Do the values of the table repeat exactly?
sub is_exact { return $_[0]{how}{measures}[0]->is_exact }

# ---- what is compared ----

# Settles the metric. Returns false, after a message, if a side lacks it.
sub settle {
    my ($self) = @_;
    my @sides = @{ $self->{sides} };
    for my $side (@sides) {
        my @parts = parts($side);
        next if $self->{force} || $self->{empty} || grep {
            (!$self->{windows} && $_->contexts > 1) || $_->total(Devel::DProf::Profile::REAL)
        } @parts;
        my $why = $self->{windows} ? 'no part of it lies within --time'
            : 'nothing was recorded in it';
        $self->{say}->("$side->{name}: $why");
        return 0;
    }
    $self->settle_lines or return 0;
    my $metric = $self->metric($self->{metric_name});
    $self->same_unit or return 0 if $metric && $metric->is_time;
    my $measure = $self->measure($self->{metric_name}) or return 0;
    $self->{how}{measures} = [$measure];
    $self->{how}{metric} = $measure->number;
    $self->doubt_counter($measure, 0);
    $self->know_samples($measure) or return 0;
    $self->know_units($measure);
    $self->{how}{paired} = 1 if $self->is_in_turn;
    $self->{label} = $measure->label;
    # A share of a number of calls says less than the number. Who gives -c or -o wants the column.
    $self->{how}{amounts} = 1 if $measure->is_exact && !$self->{how}{formula}
        && !$self->{how}{normalize} && $self->{how}{compute} == DP_C_DELTA
        && $self->{how}{order} == DP_DIFF_BY_CHANGE;
    $self->know_work if $measure->is_time && !$self->{how}{normalize} && !$self->{how}{units};
    return 1;
}

# Returns the least that the profiles of a side know of lines: 0, nothing; 1, counts; 2, times and
# counters, too.
sub line_detail {
    my ($side) = @_;
    return (sort { $a <=> $b } map { $_->line_detail } parts($side))[0] // 0;
}

# Whether something can be compared line by line; if not, a message says why. name: the metric;
# undef: any.
sub has_lines {
    my ($self, $what, $name) = @_;
    my ($without) = grep { !line_detail($_) } $self->sides;
    if ($without) {
        $self->{say}->("$what: $without->{name} has no lines; record it with lines=time");
        return 0;
    }
    my ($counts) = grep { line_detail($_) < DP_LINES_TIMES } $self->sides;
    return 1 if !$counts || !defined $name || $name eq 'calls';
    $self->{say}->("$what: the lines of $counts->{name} have calls only, and no $name; record it"
        . ' with lines=time');
    return 0;
}

# Decides what entries by srcline are: lines, if all sides have them; the places of subs, if none
# has.
sub settle_lines {
    my ($self) = @_;
    my $what = $self->{annotate} ? '--annotate' : 'srcline';
    if (!$self->{annotate}) {
        return 1 if !grep { $_ == DP_K_SRCLINE } @{ $self->{how}{keys} };
        return 1 if grep { $_ == DP_K_PHASE || $_ == DP_K_CALLER || $_ == DP_K_PARENT }
            @{ $self->{how}{keys} };
        return 1 if !grep { line_detail($_) } $self->sides;
    }
    return $self->{force} && !$self->{annotate} ? 1 : 0 if !$self->has_lines($what);
    my $counts = grep { line_detail($_) < DP_LINES_TIMES } $self->sides;
    $self->{metric_name} = 'calls' if $counts && !$self->{metric_given};
    return $self->{force} || $self->has_lines($what, $self->{metric_name});
}

# Where all sides are of a store, its hosts are compared (Devel::DProf::Store::Sides): times of subs
# by call, all else as shares.
sub know_units {
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

# Whether run k of each side was recorded in turn with run k of the others: --pid and --tid may have
# left some out.
sub is_in_turn {
    my ($self) = @_;
    return !grep { !$_->{in_turn} || @{ $_->{profiles} } != @{ $_->{runs} } } $self->sides;
}

# Returns what so few hosts cannot tell, or undef.
sub few_units {
    my ($self) = @_;
    return undef if !$self->{how}{units} || !grep { @{ $_->{profiles} } < 2 } $self->sides;
    return $self->{how}{units} eq 'host'
        ? 'one host: what differs between hosts cannot be told from the version'
        : 'one process: what differs between processes cannot be told from the version';
}

# Reads ops beside times: they are exact. With several runs a side they also tell a slow run from a
# slow sub.
sub know_work {
    my ($self) = @_;
    for my $profile (map { parts($_) } @{ $self->{sides} }) {
        return if $profile->unit ne 's' || !$profile->has_counter('ops');
    }
    push @{ $self->{how}{measures} }, $self->measure('ops');
    $self->{how}{beside} = $#{ $self->{how}{measures} };
    $self->{how}{work} = $self->{how}{beside} if !$self->{as_measured} && $self->has_runs;
    my $all_of_it = grep { $self->{how}{metric} == $_ } DP_T_CPU, DP_T_REAL;
    $self->know_noise if $self->{how}{work} && $all_of_it;
    return;
}

# Reads by how much subs were disturbed, where all runs know it: they are compared without, too.
sub know_noise {
    my ($self) = @_;
    return if grep { !$_->has_counter('noise') } map { parts($_) } @{ $self->{sides} };
    push @{ $self->{how}{measures} }, $self->measure('noise');
    $self->{how}{noise} = $#{ $self->{how}{measures} };
    return;
}

my $ADVICE = '-n compares shares, -f compares them all the same';

# Returns how many profiles have samples. Undef, after a message, if others have measured every
# call: measured values are no sampled ones.
sub sampled {
    my ($self) = @_;
    my @all = map { parts($_) } $self->sides;
    my @sampled = grep { $self->is_sampled($_) } @all;
    return scalar @sampled if !@sampled || $self->{how}{normalize} || $self->{force}
        || !grep { !$self->is_sampled($_) && !$_->no_calls } @all;
    $self->{say}->("some profiles have samples, and others measured every call; $ADVICE");
    for my $side ($self->sides) {
        my $n = grep { $self->is_sampled($_) } parts($side);
        $self->{say}->("$side->{name}: " . (!$n ? 'every call'
            : $n < parts($side) ? 'samples in some runs' : 'samples'));
    }
    return undef;
}

# Returns false, after a message, if numbers of samples are compared that were not taken equally
# often.
sub same_rates {
    my ($self) = @_;
    my @rates = map { [$self->sample_rates($_)] } $self->sides;
    my %rates = map { $_ => 1 } map { @$_ } @rates;
    return 1 if keys %rates < 2 || $self->{how}{normalize} || $self->{force};
    $self->{say}->('samples: they were not taken equally often, so that their numbers tell'
        . " nothing; -m cpu compares times, $ADVICE");
    $self->{say}->("$self->{sides}[$_]{name}: " . join(' and ', @{ $rates[$_] }) . ' a second')
        for 0 .. $#rates;
    return 0;
}

# Returns false, after a message, if the values of a metric are measured on one side and sampled on
# the other, or are numbers of samples that were not taken equally often.
sub same_kind {
    my ($self, $name) = @_;
    my $sampled = $self->sampled // return 0;
    return $name ne 'samples' || $sampled < (() = map { parts($_) } $self->sides)
        || $self->same_rates;
}

# Reads the number of samples, by which sampled profiles are tested. Returns false, after a message,
# if values are not comparable.
sub know_samples {
    my ($self, $measure) = @_;
    $self->same_kind($measure->name) or return 0;
    return 1 if grep { !$self->is_sampled($_) } map { parts($_) } $self->sides;
    push @{ $self->{how}{measures} }, $self->measure('samples');
    $self->{how}{counts} = $#{ $self->{how}{measures} };
    # how fast a run was is told by the most of its subs
    $self->{how}{work} = $self->{how}{counts} if $measure->is_time && $self->has_runs
        && !$self->{as_measured} && !$self->{how}{normalize};
    return 1;
}

# Returns how many samples each side has, and how often they were taken.
sub fact_of_samples {
    my ($self) = @_;
    my @counters = $self->{how}{measures}[ $self->{how}{counts} ]->counters;
    my @sides;
    for my $side ($self->sides) {
        my $n = 0;
        $n += $_->counted(shift @counters) for parts($side);
        my @rates = $self->sample_rates($side);
        push @sides, grouped($n) . (@rates ? ' at ' . join(' and ', @rates) . ' a second' : '');
    }
    return ('Samples', 'samples_of_sides', join(', ', @sides)
        . '; a change is one of the share of samples and of the value');
}

# Returns texts of what the sides differ in, where it matters.
sub differences {
    my ($self, $of_commands) = @_;
    my @told;
    my $times = !grep { $self->has_no_times($_) } map { parts($_) } @{ $self->{sides} };
    my %names = (
        dprof_perl => 'perl', $times ? (dprof_clock => 'the clock') : (),
        dprof_only => 'only', dprof_skip => 'skip', builtins => 'builtins',
        $of_commands ? () : (program => 'the program'),
    );
    for my $name (sort keys %names) {
        my (%values, @order);
        for my $side (@{ $self->{sides} }) {
            for my $profile (parts($side)) {
                my %header = %{ $self->header($profile) };
                next if !defined $header{dprof_format};
                my $options = $header{dprof_options};
                my $ours = $header{dprof_format} =~ /^(?:trace|tree|folded)\b/;
                $header{builtins} = $options =~ /\bbuiltins=(\w+)/ ? $1 : 'no'
                    if defined($options //= $ours ? '' : undef);
                $header{program} = $header{dprof_script} =~ s{.*/}{}r
                    if defined $header{dprof_script};
                next if !$ours && !defined $header{$name};      # other tools do not tell it
                my $value = $header{$name} // '';
                push @order, length $value ? $value : 'none' if !$values{$value}++;
            }
        }
        push @told, "$names{$name} is not the same: " . join(', ', @order) if @order > 1;
    }
    return @told;
}

# Returns lines about what a gate's rules cannot know of these runs.
sub doubts {
    my ($self) = @_;
    my @doubts;
    my @growth = grep { $_->{kind} == DP_RULE_GROWTH } @{ $self->{how}{rules} };
    my $why = $self->why_unpinned;
    my $of_counts = grep {
        $_->{measure} == DP_RULE_CALLS || $self->{how}{measures}[ $_->{measure} ]->is_exact
    } @growth;
    if (defined $why && $of_counts) {
        push @doubts, "$why, so that calls and ops may differ by chance; "
            . 'PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 make them repeat';
    }
    return @doubts;
}

# Returns what rules ask for that a single run a side cannot tell from chance, in words; or nothing.
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

# Names, after printing, rules and renames that matched nothing.
sub idle {
    my ($self, $result) = @_;
    my @unmatched = grep { $_->{pattern} >= 0 && !$result->{matched}{ $_->{pattern} } }
        @{ $self->{how}{rules} };
    my @idle = map { "--fail-if $_->{text}: no " . ($_->{by_line} ? 'line' : 'sub') . ' matches' }
        @unmatched;
    my %option = (re_only => '--only', re_skip => '--skip', packages => '-d', scripts => '-C');
    my $filter = join ' and ', map { $option{$_} }
        grep { $self->{$_} } qw(re_only re_skip packages scripts);
    push @idle, "$filter: nothing is left" if length $filter && !$result->{rows};
    my ($names, @renames) = ($self->{subs} || {}, @{ $self->{how}{renames} || [] });
    return @idle if !%$names && !@renames;
    my @subs = map { $_->subs({ autoload => $self->{autoload} }) }
        map { parts($_) } @{ $self->{sides} };
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
            . (@like ? '; there is ' . join(', ', @like) : '');
    }
    return @idle;
}

# ---- rules ----

# Adds rules. Dies with what is wrong with one.
sub gate {
    my ($self, $text) = @_;
    push @{ $self->{parsed} }, rules_of($text);
    return;
}

# Turns rules into what C takes. Called after the metric is settled; dies with what is wrong with a
# rule, returns false, after a message, if a side lacks its metric.
sub settle_rules {
    my ($self) = @_;
    for my $parsed (@{ $self->{parsed} || [] }) {
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

# Returns 1. Dies if not all sides have the ops that a rule asks for.
sub with_ops {
    my ($self, $parsed) = @_;
    return 1 if $self->{how}{beside} && !$parsed->{by_line};
    my $why = $parsed->{by_line} ? 'rules about lines cannot ask for ops'
        : 'it compares times of sides that all have ops, as trees do (mode=tree), without -n';
    die "--fail-if: $parsed->{text}: $why\n";
}

sub rule_measure {
    my ($self, $name, $rule) = @_;
    $rule->{incl} = $name eq 'incl' ? 1 : 0;
    return 0 if $name eq 'self' || $name eq 'incl' || $name eq $self->{how}{measures}[0]->name;
    if ($name eq 'calls') {
        return DP_RULE_CALLS
            if $self->{force} || !grep { $_->no_calls } map { parts($_) } @{ $self->{sides} };
    }
    die "--fail-if: $rule->{text}: a time is compared as self or incl, and -m selects the time\n"
        if $name ne 'calls' && Devel::DProf::Metric->known($name);
    my $measure = $self->measure($name) or return undef;
    my ($known) = grep { $self->{how}{measures}[$_]->name eq $measure->name }
        0 .. $#{ $self->{how}{measures} };
    return $known if defined $known;
    $self->doubt_counter($measure, 0);
    push @{ $self->{how}{measures} }, $measure;
    return $#{ $self->{how}{measures} };
}

# Whether a counter is one of time, such as task-clock.
sub is_in_ns {
    my ($self, $measure) = @_;
    return $measure->is_counter && $measure->unit eq 'ns';
}

# ---- output ----

# Returns the facts above the table: label, key and text of each.
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
    my $why = $measure->is_exact ? $self->why_unpinned : undef;
    if (defined $why) {
        push @facts, 'Not exact', 'not_exact',
            "$why; PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 make it repeat"
            . ($self->tolerance($measure) ? '. Up to 0.1 % is taken for equal' : '');
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

sub facts_of_units {
    my ($self) = @_;
    my $few = $self->few_units;
    my $times = !$self->{how}{per_call} ? ''
        : $self->{how}{counts} ? ', whose values are shares of the time of each phase, put together'
            . ' with the weights of the baseline'
        : ', whose times are those of the calls that the baseline has on average, phase by phase';
    my $what = "each $self->{how}{units}";
    $what = "what $what has on both sides" if $self->{how}{paired};
    return ('Units', 'units', "$what is one value$times",
        defined $few ? ('Too few', 'too_few', $few) : ());
}

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

# Compares and prints. Returns what C reports: code, rows, failed, undecided, needed, findings; and
# matched, the patterns of rules that matched; undef, after a message, if a pattern cannot be used.
sub print {
    my ($self, $out, %how) = @_;
    return $self->result(sub { Devel::DProf::Profile::print_diff($out, @_) }, %how);
}

# Returns what print would return, without printing.
sub check { my ($self) = @_; return $self->result(\&Devel::DProf::Profile::check_diff) }

# Returns the comparison as rows: what Devel::DProf::Profile::compared returns, or undef, as print
# does. What has changed by less than that share of the total is joined with others in one line of
# the call tree.
sub compared {
    my ($self, $lines_percent, %how) = @_;
    return $self->result(
        sub { eval { Devel::DProf::Profile::compared(@_, $lines_percent) } }, %how);
}

# Calls a function of C. Returns its result, or undef, after a message, if a pattern cannot be used.
sub result {
    my ($self, $code, %how) = @_;
    my (%matched, $wrong);
    my $patterns = $self->{patterns};
    # A pattern is checked only when used for undefined properties.
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
    die "it cannot be compared\n" if !defined $wrong;
    $self->{say}->("--fail-if: $wrong");
    return undef;
}

sub sides_for_c {
    my ($self) = @_;
    $self->know_sources if $self->needs_lines;
    $self->learn_labels if grep { $self->{$_} } qw(subs re_only re_skip);
    return [map {
        my $side = $_;
        +{ name => $side->{name}, cut => $side->{cut}, bucketed => $side->{bucketed},
            runs => [map { [map { $self->part($_) } @$_] } @{ $side->{profiles} }] };
    } @{ $self->{sides} }];
}

# Whether anything is about lines of source.
sub needs_lines {
    my ($self) = @_;
    return scalar(grep({ $_ == DP_K_SRCLINE } @{ $self->{how}{keys} })
        || grep { $_->{by_line} } @{ $self->{how}{rules} });
}

# Reads the sources that differ and are found, whose lines pair by their texts.
sub know_sources {
    my ($self) = @_;
    require Devel::DProf::View::Source;
    $self->{sources} ||= [Devel::DProf::View::Source->differing(
        [map { [parts($_)] } $self->sides], @{ $self->{symfs} })];
    return;
}

# A source of a side, which has a text only if that is what was recorded.
sub source_of {
    my ($self, $side, $file) = @_;
    require Devel::DProf::View::Source;
    for my $profile (defined $file ? $self->profiles_of($side) : ()) {
        my $source = Devel::DProf::View::Source->find($file, [$profile], @{ $self->{symfs} });
        return $source if $source->state eq 'same';
    }
    return Devel::DProf::View::Source->new('gone');
}

# Returns lines of source and their subs as rows, of a measure or of the first: what compared
# returns.
sub line_rows {
    my ($self, $measure) = @_;
    $self->know_sources;
    my %of = !$measure ? () : (measures => [$measure], metric => $measure->number, work => 0,
        beside => 0, counts => 0);
    return $self->compared(0, keys => [DP_K_SRCLINE, DP_K_SUB], rules => [], view => DP_V_FLAT,
        rows => 0, percent_limit => 0, baseline_only => 0, %of);
}

# Returns the profiles of a side.
sub profiles_of { my ($self, $side) = @_; return parts($self->{sides}[$side]) }

# Returns, by label as a difference shows it, the line where a sub of the side begins.
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

# Returns, by the names that a profile has for its subs, the names that all sides share; of the
# latter, those that the filters show; and the options by which views have the former.
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

# Returns the options of the comparison as C takes them, some of them replaced. They cannot change
# any more.
sub in_c {
    my ($self, %how) = @_;
    %how = (given($self->{how}), %how);
    $how{measures} = [map { $self->measure_in_c($_) } @{ $how{measures} }] if $how{measures};
    return \%how;
}

sub measure_in_c {
    my ($self, $metric) = @_;
    return {
        name => $metric->name, metric => $metric->number, exact => $metric->is_exact,
        tolerance => $self->tolerance($metric),
        $metric->is_counter ? (counters => [$metric->counters]) : (),
    };
}

# Applies filters to names as they are shown.
sub learn_labels {
    my ($self) = @_;
    my @sides = @{ $self->{sides} };
    my @list = map { my $s = $_; map { [$_, $s] } parts($sides[$s]) } 0 .. $#sides;
    my $labels = Devel::DProf::Profile::paired_labels(\@list,
        { map { $_ => $self->{how}{$_} } qw(separate autoload renames bases) });
    $self->{labels}{ $list[$_][0] } = $labels->[$_] for 0 .. $#list;
    return;
}

sub part {
    my ($self, $profile) = @_;
    my $header = $self->header($profile);
    my $script = $header->{dprof_script};
    # Other checkouts have the script elsewhere: its name alone identifies it where that is unique.
    $script =~ s{.*/}{} if defined $script && !$self->ambiguous($script);
    my $flags = flags($self, $profile, $header, $self->{labels}{$profile});
    return [$profile, $flags, $script, @$header{qw(dprof_pid dprof_tid)}];
}

sub ambiguous {
    my ($self, $script) = @_;
    $self->{scripts_by_name} ||= do {
        my %by;
        for my $s (0 .. $#{ $self->{sides} }) {
            for my $profile (parts($self->{sides}[$s])) {
                my $path = $self->header($profile)->{dprof_script} // next;
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

    my $say = sub { warn "$_[0]\n" };
    my $diff = Devel::DProf::Compare::Diff->new({}, metric_name => 'calls', say => $say);
    $diff->gate('calls > 0');
    my $read = $diff->read(sub { $_[0]{code} ? 'bad' : 'fine' },
        { name => 'old.out', runs => [['old.out']] }, { name => 'new.out', runs => [['new.out']] });
    $read or die;
    $diff->settle && $diff->settle_rules or die;
    my $result = $diff->print(\*STDOUT);
    die "slower\n" if $result->{failed};

=head1 DESCRIPTION

L<dprofdiff> and L<Test::DProf> share this module: it chooses a metric, settles what rules need, and
calls the comparison in C.

=head1 METHODS

The object is one of L<Devel::DProf::Sides>, too, which has the methods that read sides.

=over

=item new HOW, FIELD => VALUE, ...

HOW is a hash of options of the comparison in C, those of C<struct dp_diff_how> in
F<src/dprof/diff.h>; another key is an error.

The FIELDs are those of L<Devel::DProf::Sides>, and these: metric_name, the metric to compare
(C<cpu>, C<user>, C<system>, C<real>, C<calls>, C<ops> or another counter; C<cpu> by default);
empty, which compares sides that have recorded nothing, too; as_measured, which does not adjust
times for the speed of the runs; symfs, folders that sources may be below; metric_given: the metric
was asked for, so that calls of lines do not take its place where lines have nothing else; annotate,
which needs lines on all sides.

=item of_sides SIDES, NAME, ...

Another constructor: one side that was read, a L<Devel::DProf::Sides>, stands for several with these
names.

=item gate TEXT

Adds rules, in the syntax of L<dprofdiff/--fail-if>. Dies with a message if a rule is wrong.

=item has_runs

True if a side has several runs.

=item line_rows [MEASURE]

What L<Devel::DProf::Profile/compared> returns for lines of source and their subs, of the metric or
of another measure, as C<measure NAME> returns it (undef, after a message, if a side lacks it).

=item has_lines WHAT [, METRIC]

True if all sides have lines, and these the metric; if not, it is said, with WHAT in front.

=item profiles_of SIDE, shown_labels SIDE, source_of SIDE, FILE

Of a side, by number: its L<Devel::DProf::Profile> objects; a hash of the names that its subs have
in a difference, and the lines where they begin; and the L<Devel::DProf::View::Source> of a file,
which has a text if it is what was recorded.

=item given_rules, take_rules RULE, ...

The rules as C<gate> has parsed them, which are those of L<Devel::DProf::Compare::Rules/rules_of>.
The second method replaces them.

=item set NAME => VALUE, ...

Gives options of C other values. It is an error after the first comparison, which has used them.

=item with HOW, FIELD => VALUE, ...

Another comparison of the same sides, which differs in these, as C<new> takes them; it is to be
settled.

=item alpha, is_adjusted

The level of significance; whether times are adjusted for the speed of the runs (after settle).

=item for_picture

What a L<Devel::DProf::View::Flame> of the same sides has, too: as its C<new> takes it.

=item in_c [FIELD => VALUE, ...]

The options of the comparison as C takes them, some of them with other values. Those of the object
cannot change any more.

=item facts

What stands above the table, after settle: a list of label, key and text for each fact.

=item settle

Chooses the metric. Returns false, after a message through say, if nothing was recorded, if a side
lacks the metric, or if the units differ.

=item same_kind METRIC

False, after a message, if some profiles have samples and others measured every call, or if numbers
of samples are compared that were not taken equally often. Pictures of two sides ask for it, too.

=item in_seconds, is_exact

After settle: whether the values of the table are seconds; whether they repeat exactly.

=item settle_rules

Prepares the rules, after settle. Returns false if a side lacks what a rule needs. Dies with a
message if a rule is wrong.

=item doubts

What makes the rules doubtful in these runs, as lines: random hash seeds.

=item is_chancy

If there is a single run a side: the values that rules use and that differ from run to run, C<times>
or the names of counters. Otherwise empty.

=item idle

After print, with its result: rules whose pattern no sub or line matched, renames of names that no
side has, filters that leave nothing; as lines.

=item differences [COMMANDS]

What else the sides differ in, as lines. If COMMANDS is true, their programs are known, and are not
compared.

=item print HANDLE [, FIELD => VALUE, ...]

Compares and prints, with other options of C than those of C<new> where some are given. Returns a
hash, or, after a message, undef if a pattern could not be used. The hash has code (0, or a negative
number as in L<Devel::DProf::Profile>), rows, failed and undecided (findings of the rules), findings
(the findings as lines of text), needed (the number of runs a side that could decide the undecided
ones), and matched (the numbers of the patterns that matched something).

=back

=cut
