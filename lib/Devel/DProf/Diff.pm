package Devel::DProf::Diff;

# Profiles compared: sides of runs of files, read and brought to what the comparison in C takes.

use strict;
use warnings;

use Devel::DProf::Constants qw(metric_is_time metric_is_counter metric_text time_words only_keys
                               DP_K_SUB DP_K_SCRIPT DP_K_SRCLINE
                               DP_K_PID DP_K_THREAD DP_K_PHASE DP_K_CALLER DP_K_PARENT
                               DP_M_CALLS DP_M_COUNTER DP_V_FLAT
                               DP_V_TREE DP_V_CALLERS DP_RULE_GROWTH DP_RULE_NEW DP_RULE_GONE
                               DP_RULE_CALLS DP_RULE_LIMITS DP_DIFF_BY_CHANGE DP_C_DELTA
                               DP_C_DELTA_ABS DP_C_RATIO DP_C_WDIFF);
use Devel::DProf::Input;
use Devel::DProf::Profile;
use Devel::DProf::Text qw(few);
use Devel::DProf::View qw(metric_number metric_in is_time_word counter_names counter_named
                          counter_repeats counter_label counter_unit counter_doubts flags
                          too_large);

our $VERSION = $Devel::DProf::Core::VERSION;

# Fields that the comparison in C does not know: filters, what is to be read, what became of it.
my @OWN = qw(metric_name say force progress empty apart unit as_measured windows main pairs chart
    subs packages scripts re_only re_skip color flame symfs metric_given
    annotate
    sides headers label labels doubted parsed patterns matched wrong_pattern scripts_by_name);

# How: the fields of struct dp_diff_how, and of filters(). say: what is told of files, line by line.
sub new {
    my ($class, %how) = @_;
    my $self = bless {
        keys => [DP_K_SUB], metric_name => 'cpu', separate => 1, order => DP_DIFF_BY_CHANGE,
        compute => DP_C_DELTA, floor => 0.5, alpha => 0.005, time_floor => 0.001,
        time_floor_percent => 0.5,
        confidence => 0.95, facts => [], rules => [], sides => [], %how,
    }, $class;
    $self->{say} ||= sub { };
    $self->in_c;                # a misspelled field is an error at once
    return $self;
}

# ---- files ----

# Reads sides: { name, runs => [[path, ...], ...] } each. What is said of an outcome is up to told.
# False where there is nothing to compare; that was said.
sub read {
    my ($self, $told, @sides) = @_;
    my $apart = $self->{apart} || $self->{scripts}
        || grep { $_ == DP_K_SCRIPT || $_ == DP_K_PID || $_ == DP_K_THREAD } @{ $self->{keys} };
    my $input = Devel::DProf::Input->new(
        (map { $_ => $self->{$_} } qw(unit pairs chart main windows force progress)),
        apart => $apart, phases => scalar grep { $_ == DP_K_PHASE } @{ $self->{keys} },
    );
    my $ok = $input->read_sides($told, @sides);
    $self->{sides} = \@sides;
    return $ok && $self->fits;
}

# All times become ticks of the finest rate. Returns false, after a message, if that makes a sum
# larger than a number can hold.
sub fits {
    my ($self) = @_;
    my ($hz) = sort { $b <=> $a } map { $_->hz } map { parts($_) } @{ $self->{sides} };
    my @wrong = map { too_large($hz, parts($_)) } @{ $self->{sides} };
    $self->{say}->($_) for @wrong;
    return !@wrong;
}

# ---- what others ask ----

sub sides { return @{ $_[0]{sides} } }

sub alpha { return $_[0]{alpha} }

# Times of several runs are known to be adjusted for the speed of the runs.
sub is_adjusted { return $_[0]{work} ? 1 : 0 }

# The rules as gate() has parsed them.
sub given_rules { return @{ $_[0]{parsed} || [] } }

sub take_rules {
    my ($self, @rules) = @_;
    $self->{parsed} = [@rules];
    return;
}

# Other fields than new() was given.
sub set {
    my ($self, %how) = @_;
    @$self{keys %how} = values %how;
    return;
}

# What was read as one side stands for several, which differ in what is counted.
sub as_sides {
    my ($self, @names) = @_;
    $self->{sides} = [map { { %{ $self->{sides}[0] }, name => $_ } } @names];
    return;
}

# Has a side several runs?
sub has_runs {
    my ($self) = @_;
    return scalar grep { @{ $_->{profiles} } > 1 } $self->sides;
}

# What a picture of the same sides is to do in the same way.
sub for_picture {
    my ($self) = @_;
    return (metric => $self->{metric_name}, map { $_ => $self->{$_} }
        qw(separate autoload force unit renames bases re_only re_skip normalize title));
}

sub parts {
    my ($side) = @_;
    return map { @$_ } @{ $side->{profiles} };
}

# The header of a part: of its first file. Asked for many times.
sub header {
    my ($self, $profile) = @_;
    return $self->{headers}{$profile} //= { $profile->files ? $profile->header(0) : () };
}

# Leaves out the files of other processes and threads. False where a side has nothing left.
sub only_of {
    my ($self, $name, $wanted) = @_;
    return 1 if !$wanted;
    for my $side (@{ $self->{sides} }) {
        for my $run (@{ $side->{profiles} }) {
            @$run = grep { $wanted->{ $self->header($_)->{"dprof_$name"} // '' } } @$run;
        }
        @{ $side->{profiles} } = grep { @$_ } @{ $side->{profiles} };
        next if @{ $side->{profiles} };
        $self->{say}->("$side->{name}: there is no $name " . join(', ', sort keys %$wanted));
        return 0;
    }
    return 1;
}

# Are the times times? Those of folded stacks may be anything.
sub is_time {
    my ($self) = @_;
    return (parts($self->{sides}[0]))[0]->unit eq 's';
}

# ---- what is compared ----

# Settles the metric. False where a side lacks it; that was said.
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
    my $name = metric_in((parts($sides[0]))[0]->unit, $self->{metric_name});
    $self->same_unit or return 0 if is_time_word($name);
    my $measure = $self->measure($name) or return 0;
    $self->{measures} = [$measure];
    $self->{metric} = $measure->{metric};
    my $metric = metric_number($name);
    my $label = defined $metric ? metric_text($metric)
        : counter_label((parts($sides[0]))[0], $measure->{name});
    $self->doubt_counter($measure, 0);
    my $unit = (parts($sides[0]))[0]->unit;
    $label = length $unit ? $unit : 'counts of folded stacks'
        if !$self->is_time && metric_is_time($measure->{metric});
    $self->{label} = $label;
    $self->know_work if metric_is_time($measure->{metric}) && !$self->{normalize};
    return 1;
}

# What the profiles of a side know of lines, at the least: 0, nothing; 1, counts; 2, times and
# counters, too.
sub line_detail {
    my ($side) = @_;
    return (sort { $a <=> $b } map { $_->line_detail } parts($side))[0] // 0;
}

# Can something be compared line by line? If not, it is said why. name: the metric; undef: any.
sub has_lines {
    my ($self, $what, $name) = @_;
    my ($without) = grep { !line_detail($_) } $self->sides;
    if ($without) {
        $self->{say}->("$what: $without->{name} has no lines; record it with lines=time");
        return 0;
    }
    my ($counts) = grep { line_detail($_) < 2 } $self->sides;
    return 1 if !$counts || !defined $name || $name eq 'calls';
    $self->{say}->("$what: the lines of $counts->{name} have calls only, and no $name; record it"
        . ' with lines=time');
    return 0;
}

# Entries by srcline are lines, where all sides have them; where none has, the places of subs.
sub settle_lines {
    my ($self) = @_;
    my $what = $self->{annotate} ? '--annotate' : 'srcline';
    if (!$self->{annotate}) {
        return 1 if !grep { $_ == DP_K_SRCLINE } @{ $self->{keys} };
        return 1 if grep { $_ == DP_K_PHASE || $_ == DP_K_CALLER || $_ == DP_K_PARENT }
            @{ $self->{keys} };
        return 1 if !grep { line_detail($_) } $self->sides;
    }
    return $self->{force} && !$self->{annotate} ? 1 : 0 if !$self->has_lines($what);
    my $counts = grep { line_detail($_) < 2 } $self->sides;
    $self->{metric_name} = 'calls' if $counts && !$self->{metric_given};
    return $self->{force} || $self->has_lines($what, $self->{metric_name});
}

# Ops stand beside times: they are certain. Of several runs a side they tell a slow run from a slow
# sub, too.
sub know_work {
    my ($self) = @_;
    for my $profile (map { parts($_) } @{ $self->{sides} }) {
        return if $profile->unit ne 's' || !grep { $_ eq 'ops' } @{ counter_names($profile) };
    }
    push @{ $self->{measures} }, $self->measure('ops');
    $self->{beside} = $#{ $self->{measures} };
    $self->{work} = $self->{beside} if !$self->{as_measured} && $self->has_runs;
    return;
}

# Of a baseline of counters alone?
sub has_no_times {
    my ($self, $profile) = @_;
    return $self->header($profile)->{dprof_counters_only};
}

sub has {
    my ($self, $profile) = @_;
    return ($self->has_no_times($profile) ? () : time_words(), $profile->no_calls ? () : 'calls',
        grep { length } @{ counter_names($profile) });
}

# A metric as all sides have it, or nothing: that was said.
sub measure {
    my ($self, $name) = @_;
    my ($lacking, @counters);
    my $metric = metric_number($name);
    my @all = map { parts($_) } @{ $self->{sides} };
    $name = counter_named($name, map { @{ counter_names($_) } } @all) // $name
        if !defined $metric;
    for my $side (@{ $self->{sides} }) {
        for my $profile (parts($side)) {
            my @names = @{ counter_names($profile) };
            my ($n) = grep { $names[$_] eq $name } 0 .. $#names;
            push @counters, $n;
            $lacking = 1 if !defined $metric ? !defined $n
                : $metric == DP_M_CALLS ? $profile->no_calls : $self->has_no_times($profile);
        }
    }
    if ($lacking && (!$self->{force} || !defined $metric)) {
        my $some = grep { my $p = $_; grep { $_ eq $name } $self->has($p) } @all;
        $self->{say}->("$name: " . ($some ? 'not all sides have it' : 'no side has it'));
        $self->{say}->("$_->{name} has " . join(', ', $self->has((parts($_))[0])))
            for @{ $self->{sides} };
        return;
    }
    my $counted = counter_repeats($name);
    return {
        name => $name, metric => $metric // DP_M_COUNTER,
        exact => $counted || $name eq 'calls' ? 1 : 0,
        defined $metric ? () : (counters => \@counters),
        tolerance => $counted && defined $self->why_unpinned ? 0.001 : 0,
    };
}

# Says what is to be said of a counter: of each side, or of each file.
sub doubt_counter {
    my ($self, $measure, $by_file) = @_;
    return if !metric_is_counter($measure->{metric}) || $self->{force};
    return if $self->{doubted}{ $measure->{name} }++;
    for my $side (@{ $self->{sides} }) {
        my @headers;
        for my $profile (parts($side)) {
            push @headers, map { [$profile->outcome($_)->{path}, { $profile->header($_) }] }
                0 .. $profile->files - 1;
        }
        my @told = $by_file ? map { [$_->[0], $_->[1]] } @headers
            : [$side->{name}, map { $_->[1] } @headers];
        $self->{say}->($_) for map { counter_doubts($measure->{name}, @$_) } @told;
    }
    return;
}

sub same_unit {
    my ($self) = @_;
    my %units;
    for my $side (@{ $self->{sides} }) {
        push @{ $units{ $_->unit } }, $side->{name} for parts($side);
    }
    return 1 if keys %units < 2 || $self->{force};
    $self->{say}->('the sides count different things; --unit declares what folded stacks count, '
        . '-f compares them all the same');
    for my $side (@{ $self->{sides} }) {
        my $unit = (parts($side))[0]->unit;
        my $counts = $unit eq 's' ? 'times' : length $unit ? $unit : 'an unknown unit';
        $self->{say}->("$side->{name}: $counts");
    }
    return 0;
}

# Ops and calls repeat only with the same hash seed. Why they may not here, or undef.
sub why_unpinned {
    my ($self) = @_;
    my %seeds;
    for my $side (@{ $self->{sides} }) {
        for my $profile (parts($side)) {
            my ($seed, $keys) = map { $_ // '' }
                @{ $self->header($profile) }{qw(dprof_hash_seed dprof_perturb_keys)};
            return "the hash seed of $side->{name} was random"
                if $seed eq '' || $keys =~ /^(?:1|RANDOM)\z/i;
            $seeds{"$seed/$keys"} = 1;
        }
    }
    return keys %seeds > 1 ? 'the hash seeds differ' : undef;
}

# What the sides differ in that matters: texts.
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

# What a gate's rules cannot know of these runs: lines.
sub doubts {
    my ($self) = @_;
    my @doubts;
    my @growth = grep { $_->{kind} == DP_RULE_GROWTH } @{ $self->{rules} };
    my $why = $self->why_unpinned;
    my $of_counts = grep {
        $_->{measure} == DP_RULE_CALLS || $self->{measures}[ $_->{measure} ]{exact}
    } @growth;
    if (defined $why && $of_counts) {
        push @doubts, "$why, so that calls and ops may differ by chance; "
            . 'PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 make them repeat';
    }
    return @doubts;
}

# What rules ask for that a single run a side cannot tell from chance, in words; nothing where there
# is no such.
sub is_chancy {
    my ($self) = @_;
    return '' if $self->has_runs;
    my %seen;
    my @measures = map { $self->{measures}[ $_->{measure} ] }
        grep { $_->{kind} == DP_RULE_GROWTH && $_->{measure} != DP_RULE_CALLS } @{ $self->{rules} };
    my @chancy = map {
        metric_is_time($_->{metric}) ? 'times'
            : $_->{exact} || !metric_is_counter($_->{metric}) ? () : $_->{name}
    } @measures;
    return join ' and ', grep { !$seen{$_}++ } @chancy;
}

# After printing: rules and renames that met nothing.
sub idle {
    my ($self, $result) = @_;
    my @unmatched = grep { $_->{pattern} >= 0 && !$self->{matched}{ $_->{pattern} } }
        @{ $self->{rules} };
    my @idle = map { "--fail-if $_->{text}: no " . ($_->{by_line} ? 'line' : 'sub') . ' matches' }
        @unmatched;
    my %option = (re_only => '--only', re_skip => '--skip', packages => '-d', scripts => '-C');
    my $filter = join ' and ', map { $option{$_} }
        grep { $self->{$_} } qw(re_only re_skip packages scripts);
    push @idle, "$filter: nothing is left" if length $filter && !$result->{rows};
    my ($names, @renames) = ($self->{subs} || {}, @{ $self->{renames} || [] });
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

# RULE, RULE: parsed (decisions of a gate: see the manual of dprofdiff). Dies with what is wrong.
sub gate {
    my ($self, $text) = @_;
    my @rules;
    for ($text) {
        pos = 0;
        while (1) {
            /\G[\s,]+/gc;
            last if pos == length;
            my $start = pos;
            my %rule;
            # a metric may be called so
            $rule{by_line} = 1 if /\Gline\s+(?=[^\s>])/gc;
            if (m{\G/((?:[^/\\]|\\.)*)/\s*}gcs) {
                my $re = $1;
                $rule{re} = eval { no warnings 'regexp'; qr/$re/ }
                    // die "--fail-if: /$re/ is not a regular expression: "
                        . ($@ =~ s/ at \S+ line \d+\.\n\z//r) . "\n";
            }
            if (/\G(new|gone)\b\s*/gc) {
                $rule{kind} = $1 eq 'new' ? DP_RULE_NEW : DP_RULE_GONE;
            } elsif (/\G([A-Za-z][^\s<>=,&\/]*\/[^\/>]+\/\w*|[^\s<>=,&\/]+)\s*>\s*/gc) {
                @rule{qw(kind metric)} = (DP_RULE_GROWTH, $1);
                do {
                    /\G(\d+(?:\.\d+)?|\.\d+)\s*(%|[a-z]+\b)?\s*/gc
                        or die wrong($text, pos, 'a limit like 5%, 2ms or 10000');
                    push @{ $rule{limits} }, [$1, $2 // ''];
                } while (/\G&\s*/gc);
                die "--fail-if: $text: two limits at most\n" if @{ $rule{limits} } > DP_RULE_LIMITS;
            } else {
                die wrong($text, pos, 'METRIC > LIMIT, new or gone');
            }
            $rule{text} = substr($text, $start, pos() - $start) =~ s/\s+\z//r;
            die wrong($text, pos, 'a comma, or the end')
                if pos != length && substr($text, pos, 1) ne ',';
            push @rules, \%rule;
        }
    }
    die "--fail-if: there is no rule\n" if !@rules;
    push @{ $self->{parsed} }, @rules;
    return;
}

sub wrong {
    my ($text, $at, $wanted) = @_;
    return "--fail-if: $wanted is expected at `" . substr($text, $at)
        . "' in `$text'; for example 'self > 5% & 2ms, calls > 0'\n";
}

my %SECONDS = (s => 1, ms => 1e-3, us => 1e-6, ns => 1e-9);

# Rules to what C takes. Called when the metric is settled; dies with what is wrong with a rule,
# returns false where a side lacks what it asks for: that was said.
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
                && metric_is_time($self->{measures}[$measure]{metric}) && $self->is_time;
            my $per_second = $is_time ? 1 : $measure != DP_RULE_CALLS
                && $self->is_in_ns($self->{measures}[$measure]) ? 1e9 : 0;
            $rule{limits} = [map { limit($parsed, @$_, $is_time, $per_second) }
                @{ $parsed->{limits} }];
        }
        push @{ $self->{rules} }, \%rule;
    }
    my $patterns = $self->{patterns};
    # what a pattern cannot know before it is used: properties that nobody has defined
    $self->{match} = sub {
        my ($n, $name) = @_;
        my $matches = eval { $name =~ $patterns->[$n] ? 1 : 0 };
        $self->{matched}{$n} ||= $matches;
        $self->{wrong_pattern} //= $@ =~ s/ at \S+ line \d+\.?\n\z//r if !defined $matches;
        return $matches // die;
    };
    return 1;
}

sub rule_measure {
    my ($self, $name, $rule) = @_;
    $rule->{incl} = $name eq 'incl' ? 1 : 0;
    return 0 if $name eq 'self' || $name eq 'incl' || $name eq $self->{measures}[0]{name};
    if ($name eq 'calls') {
        return DP_RULE_CALLS
            if $self->{force} || !grep { $_->no_calls } map { parts($_) } @{ $self->{sides} };
    }
    die "--fail-if: $rule->{text}: a time is compared as self or incl, and -m selects the time\n"
        if defined metric_number($name) && $name ne 'calls';
    my $measure = $self->measure($name) or return undef;
    my ($known) = grep { $self->{measures}[$_]{name} eq $measure->{name} }
        0 .. $#{ $self->{measures} };
    return $known if defined $known;
    $self->doubt_counter($measure, 0);
    push @{ $self->{measures} }, $measure;
    return $#{ $self->{measures} };
}

# A counter of time, task-clock?
sub is_in_ns {
    my ($self, $measure) = @_;
    return metric_is_counter($measure->{metric})
        && counter_unit((parts($self->{sides}[0]))[0], $measure->{name}) eq 'ns';
}

sub limit {
    my ($parsed, $value, $unit, $is_time, $per_second) = @_;
    return [$value, 1] if $unit eq '%';
    die "--fail-if: $parsed->{text}: $unit is not a unit; the units are %, s, ms, us, ns\n"
        if length $unit && !$SECONDS{$unit};
    die "--fail-if: $parsed->{text}: $value$unit is a time, and this metric is a count\n"
        if length $unit && !$per_second;
    die "--fail-if: $parsed->{text}: a limit of time needs a unit: $value% or ${value}ms\n"
        if !length $unit && $is_time && $value != 0;
    return [length $unit ? $value * $SECONDS{$unit} * $per_second : $value, 0];
}

# ---- output ----

# What stands above the table: label, key and text of each fact.
sub facts {
    my ($self) = @_;
    my ($view, $measure) = ($self->{view} // DP_V_FLAT, $self->{measures}[0]);
    my $runs = $self->has_runs;
    my @facts = ('Metric', 'metric', $self->{label}
        . ($self->{children} || $view ? ', with what was called' : ', self')
        . (metric_is_time($measure->{metric}) && $self->is_time ? ', in seconds' : ''));
    push @facts, $view == DP_V_CALLERS ? ('Callers of', 'callers_of') : ('Called by', 'called_by'),
        $self->{edges_of} if $view > DP_V_TREE;
    push @facts, 'Values', 'values', 'means of the runs; the totals are medians' if $view && $runs;
    my $why = $measure->{exact} ? $self->why_unpinned : undef;
    if (defined $why) {
        push @facts, 'Not exact', 'not_exact',
            "$why; PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 make it repeat"
            . ($measure->{tolerance} ? '. Up to 0.1 % is taken for equal' : '');
    } elsif ($measure->{exact}) {
        push @facts, 'Exact', 'exact', 'it repeats from run to run: one run a side decides';
    } elsif (!$runs) {
        push @facts, 'Runs', 'runs',
            'one a side, which cannot tell a change from chance (see --run)';
    }
    push @facts, 'Normalized', 'normalized', "values are as if all runs had the baseline's total"
        if $self->{normalize};
    push @facts, 'Shares', 'shares', 'of what is shown' if $self->{relative};
    push @facts, $self->fact_of_compute if !$view;
    return @facts;
}

sub fact_of_compute {
    my ($self) = @_;
    my ($baseline, $other) = @{ $self->{weights} || [1, 1] };
    my $share = "share of its own total less share of the baseline's; + is a greater share";
    my %rows = (
        DP_C_DELTA() => ['Delta', $share], DP_C_DELTA_ABS() => ['Delta Abs', $share],
        DP_C_RATIO() => ['Ratio', 'value / baseline'],
        DP_C_WDIFF() => ['Weighted diff', "value * $other - baseline * $baseline"],
    );
    my ($label, $text) = @{ $rows{ $self->{compute} } };
    return ($label, 'compute', $text);
}

# Compares and prints. Returns what C tells of it: code, rows, failed, undecided, needed, findings;
# undef where a pattern cannot be used, after a message.
sub print {
    my ($self, $out, %how) = @_;
    return $self->known(
        Devel::DProf::Profile::print_diff($out, $self->sides_for_c, $self->in_c(%how)));
}

# What print would return, without printing.
sub check {
    my ($self) = @_;
    return $self->known(Devel::DProf::Profile::check_diff($self->sides_for_c, $self->in_c));
}

# The comparison as rows: what Devel::DProf::Profile::compared returns, or undef, as of print. What
# has changed by less than that share of the total is one line of the call tree with others.
sub compared {
    my ($self, $lines_percent) = @_;
    my ($sides, $how) = ($self->sides_for_c, $self->in_c);
    my $rows = eval { Devel::DProf::Profile::compared($sides, $how, $lines_percent) };
    die "it cannot be compared\n" if !$rows && !defined $self->{wrong_pattern};
    return $self->known($rows);
}

sub known {
    my ($self, $result) = @_;
    return $result if !defined $self->{wrong_pattern};
    $self->{say}->("--fail-if: $self->{wrong_pattern}");
    return undef;
}

sub sides_for_c {
    my ($self) = @_;
    $self->know_sources if $self->needs_lines;
    $self->learn_labels if grep { $self->{$_} } qw(subs re_only re_skip);
    return [map {
        my $side = $_;
        +{ name => $side->{name}, cut => $side->{cut},
            runs => [map { [map { $self->part($_) } @$_] } @{ $side->{profiles} }] };
    } @{ $self->{sides} }];
}

# Is anything about lines of source?
sub needs_lines {
    my ($self) = @_;
    return scalar(grep({ $_ == DP_K_SRCLINE } @{ $self->{keys} })
        || grep { $_->{by_line} } @{ $self->{rules} });
}

# Lines pair by their texts, where the sources differ and are found.
sub know_sources {
    my ($self) = @_;
    require Devel::DProf::Source;
    $self->{sources} ||= [Devel::DProf::Source::differing(
        [map { [parts($_)] } $self->sides], @{ $self->{symfs} || [] })];
    return;
}

# Lines of source and their subs as rows, of a measure or of the first: what compared returns.
sub line_rows {
    my ($self, $measure) = @_;
    $self->know_sources;
    my %of = $measure
        ? (measures => [$measure], metric => $measure->{metric}, work => 0, beside => 0) : ();
    return $self->known(Devel::DProf::Profile::compared($self->sides_for_c,
        $self->in_c(keys => [DP_K_SRCLINE, DP_K_SUB], rules => [], view => DP_V_FLAT, rows => 0,
            percent_limit => 0, baseline_only => 0, %of), 0));
}

# The profiles of a side.
sub profiles_of { my ($self, $side) = @_; return parts($self->{sides}[$side]) }

# By label, as a difference shows it: the line where a sub of the side begins.
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

# The fields that the comparison in C takes, and others in place of some.
sub in_c {
    my ($self, %how) = @_;
    return only_keys('diff', { %$self, %how }, @OWN);
}

# Filters are for names as they are shown.
sub learn_labels {
    my ($self) = @_;
    my @sides = @{ $self->{sides} };
    my @list = map { my $s = $_; map { [$_, $s] } parts($sides[$s]) } 0 .. $#sides;
    my $labels = Devel::DProf::Profile::paired_labels(\@list,
        { map { $_ => $self->{$_} } qw(separate autoload renames bases) });
    $self->{labels}{ $list[$_][0] } = $labels->[$_] for 0 .. $#list;
    return;
}

sub part {
    my ($self, $profile) = @_;
    my $header = $self->header($profile);
    my $script = $header->{dprof_script};
    # as other checkouts have it: told by its name alone where that is no other's
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

Devel::DProf::Diff - profiles compared

=head1 SYNOPSIS

    my $diff = Devel::DProf::Diff->new(metric_name => 'calls', say => sub { warn "$_[0]\n" });
    $diff->gate('calls > 0');
    my $read = $diff->read(sub { $_[0]{code} ? 'bad' : 'fine' },
        { name => 'old.out', runs => [['old.out']] }, { name => 'new.out', runs => [['new.out']] });
    $read or die;
    $diff->settle && $diff->settle_rules or die;
    my $result = $diff->print(\*STDOUT);
    die "slower\n" if $result->{failed};

=head1 DESCRIPTION

L<dprofdiff> and L<Test::DProf> share this module: it reads sides, chooses a metric, parses rules,
and calls the comparison in C.

=head1 METHODS

=over

=item new FIELD => VALUE, ...

The FIELDs are those of C<struct dp_diff_how> in F<src/dprof/diff.h>, and these: metric_name, the
metric to compare (C<cpu>, C<user>, C<system>, C<real>, C<calls>, C<ops> or another counter; C<cpu>
by default); say, a sub that gets messages of one line each; force, which compares different units,
too; progress, which shows a terminal how far it is; empty, which compares sides that have recorded
nothing, too; apart, which keeps the files of a run apart, as only_of needs it; unit, what folded
stacks count; as_measured, which does not adjust times for the speed of the runs; time_floor and
time_floor_percent, seconds and percent of the greater total (0.001 and 0.5): with one run a side,
rules ignore a time that has grown by less; windows, for each side the ranges of
L<Devel::DProf::Profile/window>, the last ones for all sides that follow.

=item gate TEXT

Adds rules, in the syntax of L<dprofdiff/--fail-if>. Dies with a message if a rule is wrong.

=item read TOLD, SIDE, ...

Reads the files, in parallel if there are several processors. A SIDE is a hash of a name and runs.
Each run is a list of paths. The first side is the baseline. TOLD is called with the outcome of each
file (L<Devel::DProf::Profile/outcome>) and its header, and returns C<fine>, C<cut> (cut short: the
file is used) or C<bad>. Returns false if a file was bad.

=item sides

The sides, after read: hashes of name, runs, profiles (for each run a list) and cut.

=item as_sides NAME, ...

Makes the one side that was read stand for several with these names.

=item has_runs

True if a side has several runs.

=item line_rows [MEASURE]

What L<Devel::DProf::Profile/compared> returns for lines of source and their subs, of the metric or
of another measure, as C<measure NAME> returns it (undef, after a message, if a side lacks it).

=item has_lines WHAT [, METRIC]

True if all sides have lines, and these the metric; if not, it is said, with WHAT in front.

=item profiles_of SIDE, shown_labels SIDE

The L<Devel::DProf::Profile> objects of a side, by number; and a hash of the names that its subs
have in a difference, and the lines where they begin.

=item given_rules, take_rules RULE, ...

The rules as C<gate> has parsed them: hashes of text, kind, metric, limits and re. The second method
replaces them.

=item set FIELD => VALUE, ...

Changes fields that C<new> was given.

=item alpha, is_adjusted

The level of significance; whether times are adjusted for the speed of the runs (after settle).

=item for_picture

The fields that a L<Devel::DProf::Flame> of the same sides has, too.

=item in_c [FIELD => VALUE, ...]

The options of the comparison as C takes them, some of them with other values.

=item facts

What stands above the table, after settle: a list of label, key and text for each fact.

=item only_of NAME, HASH

Keeps the files whose header has one of the hash's keys as NAME: C<pid>, C<tid>. Returns false if a
side has no such file.

=item settle

Chooses the metric. Returns false, after a message through say, if nothing was recorded, if a side
lacks the metric, or if the units differ.

=item is_time

After settle: true if times are times, in seconds, and not counts of folded stacks.

=item settle_rules

Prepares the rules, after settle. Returns false if a side lacks what a rule needs. Dies with a
message if a rule is wrong.

=item why_unpinned

Why calls and ops may not repeat in these runs; undef if they do.

=item doubts

What makes the rules doubtful in these runs, as lines: random hash seeds.

=item is_chancy

If there is a single run a side: the values that rules use and that differ from run to run, C<times>
or the names of counters. Otherwise empty.

=item idle

After print, with its result: rules whose pattern no sub matched, renames of names that no side has,
filters that leave nothing; as lines.

=item differences [COMMANDS]

What else the sides differ in, as lines. If COMMANDS is true, their programs are known, and are not
compared.

=item print HANDLE [, FIELD => VALUE, ...]

Compares and prints, with other fields than those of C<new> where some are given. Returns a hash,
or, after a message, undef if a pattern could not be used. The hash has code (0, or a negative
number as in L<Devel::DProf::Profile>), rows, failed and undecided (findings of the rules), findings
(the findings as lines of text), and needed (the number of runs a side that could decide the
undecided ones).

=back

=cut
