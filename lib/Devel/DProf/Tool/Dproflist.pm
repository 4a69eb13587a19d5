package Devel::DProf::Tool::Dproflist;

# dproflist: options, the events as text and as a table.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_TEXT);
use Devel::DProf::Events;
use Devel::DProf::Input;
use Devel::DProf::Outcome;
use Devel::DProf::Table;
use Devel::DProf::Text qw(bytes text shown);
use Devel::DProf::Tool qw(FAILED complain output written result terminal_width);
use Devel::DProf::Tool::Options;
use Devel::DProf::View::Layout qw(beside wrapped);

our $VERSION = $Devel::DProf::Core::VERSION;

my $TOOL = Devel::DProf::Tool::Options->new(
    name => 'dproflist', settings => \&settings, run => \&list, choices => [[qw(json format)]],
    text => <<'END',
dproflist [options] [pattern ...]
dproflist --clock [profile ...]

Lists the names that -d:DProf=events=... takes, and what they count. A pattern is a word
in a name, topic or description, or a wildcard for names. Events that match any pattern
are listed.

= a|all
    -a, --all           also tables of all processors, deprecated events, PMUs of the whole machine
= l|long
    -l, --long          long descriptions, terms, units
= cpuid
    --cpuid             this processor and its table
= clock
    --clock             how the named profiles (tmon.out) measured time, and how accurately
= format=s  json
    --format text|csv|json|markdown|html    else the suffix of FILE decides;  --json  as JSON
= o|output=s(some)
    -o FILE             the output (default: standard output)
= pager!
    --no-pager          does not use a pager
    -V  -h  -H          version, this help, the manual
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Groups in the order of the list, and their headings.
my @GROUPS = qw(given perl software hardware cache pmu table);
my %TITLE = (
    given => 'As written', perl => "Perl's own counters", software => 'Software events',
    hardware => 'Hardware events', cache => 'Cache events',
);
use constant {
    WHOLE_MACHINE => 'it counts for the whole machine, not for one program',
    ELSEWHERE => 'it belongs to other processors',
};

# Returns the format of the output, as a hash. Dies with what is wrong.
sub settings {
    my ($opt) = @_;
    die "--json is --format json, and does not go with --format $opt->{format}\n"
        if $opt->{json} && defined $opt->{format};
    return { format => Devel::DProf::Table::format_of($opt->{json} ? 'json' : $opt->{format},
        $opt->{o}) };
}

# Runs the tool: lists events or, by option, describes the processor, or the clocks of profiles.
# Returns the exit status.
sub list {
    my ($opt, $how, $patterns) = @_;
    return $TOOL->usage('--cpuid describes the processor, and takes no pattern')
        if $opt->{cpuid} && @$patterns;
    return list_clocks($opt, $how, @$patterns ? @$patterns : 'tmon.out') if $opt->{clock};
    my $events = Devel::DProf::Events->new($ENV{DPROFLIST_SYSFS} // ());
    my $processor = $events->processor;
    return processor($opt, $how, $events, $processor) if $opt->{cpuid};
    my @items = chosen($opt, $events, map { text($_) } @$patterns) or return FAILED;
    tried($events, $processor, $_) for @items;
    return print_table($opt, make_table($opt, $events, $processor, @items), %$how,
        rows_key => 'events', title => 'Events',
        text => sub { list_text($opt, $events, $processor, !@$patterns, @items) });
}

# Prints a table to the place that the options name. Returns the exit status.
sub print_table {
    my ($opt, $table, %how) = @_;
    my $print = sub { $table->print($_[0], %how) };
    return result('dproflist', $opt->{o}, $print) if defined $opt->{o};
    my ($out) = output($opt->{pager} // 1, $how{format} == DP_TEXT);
    return written('dproflist', $out, $print->($out));
}

# Returns the width of the output.
sub text_columns { return defined $_[0]{o} ? 80 : terminal_width() || 80 }

# Returns a cell that is true or false, in words for people and as JSON has it for programs.
sub bool_cell { return $_[0] ? ['true', 'yes'] : ['false', 'no'] }

# ---- clocks ----

my %CLOCK_NAME = (
    tsc => "the processor's counter (tsc)", cntvct => "the processor's counter (cntvct)",
    monotonic => 'clock_gettime, which takes longer than a counter', counting => 'a clock of tests',
);

my @CLOCK_COLUMNS = (['File', 'file', 1], ['Clock', 'clock', 1], ['Call ns', 'call_ns'],
    ['Statement ns', 'statement_ns'], ['Own %', 'own_pct'], ['Disagreement %', 'disagreement_pct']);

# Prints the clocks that recorded each file (--clock): how long a reading takes, and how well the
# clocks agree. Returns the exit status.
sub list_clocks {
    my ($opt, $how, @files) = @_;
    my (@clocks, $failed);
    for my $file (@files) {
        my ($outcome, %header) = Devel::DProf::Input::header($file);
        if (!%header) {
            complain(map { "dproflist: $_" } Devel::DProf::Outcome::lines($outcome,
                Devel::DProf::Outcome::verdict($outcome), 1));
            $failed = 1;
            next;
        }
        push @clocks, clock_of($file, \%header);
    }
    return FAILED if !@clocks;
    my $table = Devel::DProf::Table->new(@CLOCK_COLUMNS);
    for my $clock (@clocks) {
        $table->row(@$clock{qw(file clock)}, map { [$clock->{$_}, defined $clock->{$_}
            ? sprintf '%.1f', $clock->{$_} : ''] } map { $_->[1] } @CLOCK_COLUMNS[2 .. 5]);
    }
    my $status = print_table($opt, $table, %$how, rows_key => 'clocks', title => 'Clocks',
        text => sub { join "\n", map { clock_text($_) } @clocks });
    return $failed ? FAILED : $status;
}

# Returns what a file's header says about its clock, as a hash of numbers in ns and percent; undef
# if the header does not have one.
sub clock_of {
    my ($file, $header) = @_;
    my $of = sub {
        my ($name) = @_;
        return ($header->{"dprof_$name"} // '') =~ /\A(\d{1,15}(?:\.\d{1,9})?)\z/ ? $1 + 0 : undef;
    };
    my %number = map { $_ => $of->($_) } qw(clock_zero clock_line own_cpu);
    # Only recorded calls and statements read the clock.
    delete $number{clock_zero} if ($header->{dprof_counters} // '') =~ /\bsamples\b/;
    my $cpu = ($header->{rrun_utime} // 0) + ($header->{rrun_stime} // 0);
    return {
        file => $file, clock => $header->{dprof_clock}, call_ns => $number{clock_zero},
        statement_ns => $number{clock_line},
        own_pct => defined $number{own_cpu} && $cpu ? 100 * $number{own_cpu} / $cpu : undef,
        disagreement_pct => Devel::DProf::Outcome::disagreement($header),
    };
}

# Returns the lines about the clock of a file, for people.
sub clock_text {
    my ($c) = @_;
    my $name = defined $c->{clock} ? $CLOCK_NAME{ $c->{clock} } // $c->{clock} : 'not known';
    my $off = $c->{disagreement_pct};
    my @lines = (
        "$c->{file}: " . (!defined $off
            ? 'too short, a thread or a child: nothing shows how accurate its times are'
            : $off > Devel::DProf::Outcome::WORTH_SAYING
            ? sprintf('times are too small: the CPU clock counted %.1f %% more than passed', $off)
            : sprintf('the clocks agree: CPU time beyond the time that passed is %.1f %%', $off)),
        "  clock               $name",
    );
    push @lines, sprintf '  taken off           %.1f ns from each interval between calls and '
        . 'returns', $c->{call_ns} if defined $c->{call_ns};
    $lines[-1] .= sprintf '; %.1f ns between statements', $c->{statement_ns}
        if defined $c->{statement_ns};
    push @lines, sprintf "  recorder's own CPU  %.1f %% of the program's, in no sub's time",
        $c->{own_pct} if defined $c->{own_pct};
    return join '', map { shown($_) . "\n" } @lines;
}

# ---- selection ----

# Returns the events that the patterns select, in the order of groups; an empty list, after a
# message, if there are none.
sub chosen {
    my ($opt, $events, @patterns) = @_;
    my %rank = map { $GROUPS[$_] => $_ } 0 .. $#GROUPS;
    my @all = @{ $events->list($opt->{a} ? 1 : 0) };
    my @found = grep { my $item = $_; !@patterns || grep { matches_pattern($_,
        $item) } @patterns } @all;
    @found = grep {
        my $item = $_;
        $opt->{a} || ($item->{per_thread}
            && (!$item->{deprecated} || grep { is_named($_, $item) } @patterns));
    } @found;
    for my $pattern (@patterns) {
        next if grep { matches_pattern($pattern, $_) } @found;
        my $is_glob = $pattern =~ /[*?\[]/ && $pattern !~ m{/};
        my $tried = $is_glob ? { error => "$pattern: no event has such a name" }
            : $events->try(bytes($pattern));
        if (defined $tried->{error}) {
            complain("dproflist: $tried->{error}"
                . (-f $pattern ? "; dprofreport $pattern shows a profile"
                    : $tried->{error} =~ /did you mean/ ? '' : '; dproflist lists all'));
            next;
        }
        push @found, {
            %$tried, name => $pattern, group => 'given', per_thread => 1, deprecated => 0,
        };
    }
    complain('dproflist: there are no events') if !@patterns && !@found;
    return sort { $rank{ $a->{group} } <=> $rank{ $b->{group} } } @found;
}

# Returns whether an event has exactly this name, in any case.
sub is_named {
    my ($pattern, $item) = @_;
    return grep { defined && lc $_ eq lc $pattern } @$item{qw(name alias)};
}

# Returns whether an event matches a pattern: a wildcard for the whole name, or a word anywhere in
# it.
sub matches_pattern {
    my ($pattern, $item) = @_;
    if ($pattern =~ /[*?\[]/) {
        my $re = glob_re($pattern);
        return grep { defined && /$re/ } @$item{qw(name alias)};
    }
    my $word = lc $pattern;
    return grep { defined && index(lc $_, $word) >= 0 }
        @$item{qw(name alias topic description)}, $TITLE{ $item->{group} };
}

# Returns a wildcard for whole names as a regular expression. It knows *, ? and [...]. A wildcard
# that makes no regular expression stands for itself.
sub glob_re {
    my ($glob) = @_;
    my $re = '';
    for ($glob) {
        while (pos() // 0 < length) {
            if (/\G\*/gc) { $re .= '.*' }
            elsif (/\G\?/gc) { $re .= '.' }
            elsif (/\G\[([!^]?)(\]?[^\]]*)\]/gc) {
                $re .= '[' . ($1 ? '^' : '') . ($2 =~ s/([\[\]\\^&~])/\\$1/gr) . ']';
            }
            elsif (/\G(.)/gcs) { $re .= quotemeta $1 }
            else { last }
        }
    }
    return eval { no warnings; qr/\A$re\z/is } // qr/\A\Q$glob\E\z/i;
}

# Adds to an event whether it works here and now, by opening its counter.
sub tried {
    my ($events, $processor, $item) = @_;
    my $is_elsewhere = $item->{group} eq 'table' && $item->{table} ne ($processor->{row} // '');
    my $tried = $is_elsewhere ? { why => ELSEWHERE }
        : !$item->{per_thread} ? { why => WHOLE_MACHINE }
        : defined $item->{works} ? $item : $events->try($item->{name});
    $item->{elsewhere} = 1 if $is_elsewhere;
    $item->{works} = $tried->{works} ? 1 : 0;
    $item->{unit} = $tried->{unit} if defined $tried->{unit};
    $item->{why} = $tried->{why} // $tried->{error} if !$item->{works};
    $item->{recorded_as} = $tried->{name}
        if $item->{works} && $item->{group} ne 'given' && lc $tried->{name} ne lc $item->{name};
    return;
}

# ---- as text ----

# Returns the list for people: events below the titles of their groups, with marks for the reasons
# why one cannot be counted. The reasons follow at the end.
sub list_text {
    my ($opt, $events, $processor, $is_all, @items) = @_;
    my $width = text_columns($opt);
    my (@text, %number, @reasons, $user_only);
    for my $item (grep { !$_->{works} && !$_->{elsewhere} } @items) {
        next if $number{ $item->{why} };
        push @reasons, $item->{why};
        $number{ $item->{why} } = @reasons;
    }
    my $left = @reasons > 9 ? 5 : 4;
    my $names = name_width($width, @items);
    my $title = '';
    for my $item (@items) {
        my $above = group_title($events, $processor, $item);
        if ($above ne $title) {
            push @text, length $title ? '' : (), folded_lines($above, $width, ''), '';
            $title = $above;
        }
        my $only = ($item->{recorded_as} // '') =~ /u\z/;
        $user_only ||= $only;
        my $mark = $only ? '[u]'
            : $item->{works} || $item->{elsewhere} ? '' : "[$number{ $item->{why} }]";
        push @text, item_lines($opt, $item, sprintf("%-${left}s", $mark), $names, $width);
    }
    my @notes = map { "[$number{$_}] $_" } @reasons;
    push @notes, '[u] without the part of the kernel, which this user may not count: the counter '
        . 'is called NAME:u' if $user_only;
    push @notes, no_table($events, $processor) if $is_all && !defined $processor->{row};
    push @text, '', map { folded_lines($_, $width, ' ' x $left) } @notes if @notes;
    return join '', map { "$_\n" } @text;
}

# Returns the title of the group that an event is in.
sub group_title {
    my ($events, $processor, $item) = @_;
    my $group = $item->{group};
    return $TITLE{$group} if $TITLE{$group};
    return "Events of the PMU $item->{pmu}" if $group eq 'pmu';
    my $topic = $item->{topic} // 'other';
    return "Events of this processor ($processor->{cpuid}): $topic" if !$item->{elsewhere};
    return 'Events of other processors (' . join(', ', processors_of($events, $item)) . "): $topic";
}

# Returns the identifications of all processors that share an event's table.
sub processors_of {
    my ($events, $item) = @_;
    my @rows = @{ $events->tables };
    my ($own) = grep { $_->{cpuid} eq $item->{table} } @rows;
    return map { $_->{cpuid} } grep { $_->{table} == $own->{table} } @rows;
}

# Returns the width of the column of names, enough for most of them; a longer name has a line of its
# own.
sub name_width {
    my ($width, @items) = @_;
    my $most = int($width * 0.38);
    my @lengths = sort { $a <=> $b } grep { $_ <= $most } map { length event_name($_) } @items;
    return @lengths ? $lengths[-1] : $most;
}

# Returns an event's name, and its alias in parentheses.
sub event_name {
    my ($item) = @_;
    my $name = $item->{name} . (defined $item->{alias} ? " ($item->{alias})" : '');
    return shown($name);
}

# Returns the lines of an event: its mark and name, and beside them what it counts; with -l also how
# it is encoded.
sub item_lines {
    my ($opt, $item, $mark, $names, $width) = @_;
    my $column = length($mark) + $names + 2;
    my @lines;
    my $desc = ($item->{description} // '') . ($item->{deprecated} ? ' (deprecated)' : '')
        . ($opt->{a} && !$item->{per_thread} ? ' (whole machine)' : '');
    push @lines, $desc if length $desc;
    if ($opt->{l}) {
        my $long = $item->{long_description};
        push @lines, $long if defined $long && $long ne $desc;
        push @lines, join '; ', grep { length }
            event_terms($item), defined $item->{unit} ? "unit: $item->{unit}" : '';
    }
    @lines = map { folded_lines(shown($_ =~ s/\s+/ /gr), $width - $column,
        '') } grep { /\S/ } @lines;
    return beside($mark . event_name($item), $column, @lines);
}

# Returns the terms that an event stands for: cpu/event=0x3c/, or ''.
sub event_terms {
    my ($item) = @_;
    return '' if !defined $item->{event};
    return ($item->{pmu} // 'cpu') . "/$item->{event}/";
}

# Returns text broken into lines; all but the first have an indent.
sub folded_lines {
    my ($text, $width, $indent) = @_;
    my @words = split ' ', $text;
    return wrapped($width, shift @words // '', $indent, map { " $_" } @words);
}

# ---- the processor ----

# Returns the remark that this build has no table of events for the processor.
sub no_table {
    my ($events, $processor) = @_;
    my $id = length $processor->{cpuid} ? $processor->{cpuid} : 'unknown';
    my $others = @{ $events->tables } ? 'PERF_CPUID=ID uses the table of another processor; '
        . 'dproflist --all lists them; and ' : '';
    return "This processor ($id) has no table of events. Events can be given by their codes, like "
        . "r01c4 or cpu/event=0xc4,umask=1/; "
        . "${others}a build with PMU_EVENTS=DIR uses the lists of a kernel.";
}

# Describes the processor (--cpuid). Returns the exit status.
sub processor {
    my ($opt, $how, $events, $processor) = @_;
    my $count = grep { $_->{group} eq 'table' } @{ $events->list };
    my $table = Devel::DProf::Table->new(['Processor', 'cpuid', 1], ['Core PMU', 'pmu', 1],
        ['Shown', 'pmu_shown'], ['Table', 'table', 1], ['Version', 'version', 1],
        ['Events', 'events']);
    $table->json(processor => processor_fields($processor));
    $table->row(@$processor{qw(cpuid pmu)}, bool_cell(!$processor->{hidden}),
        @$processor{qw(row version)}, [$count, $count]);
    return print_table($opt, $table, %$how, title => 'Processor',
        text => sub { processor_text(text_columns($opt), $events, $processor, $count) });
}

# Returns the description of the processor, for people. COUNT: the number of events in its table.
sub processor_text {
    my ($width, $events, $processor, $count) = @_;
    my @lines = (['Processor', length $processor->{cpuid} ? $processor->{cpuid}
        . (length($ENV{PERF_CPUID} // '') ? ', as PERF_CPUID says' : '') : 'unknown']);
    push @lines, ['Table', defined $processor->{row}
        ? "$processor->{row}, version $processor->{version}, $count events" : 'none'];
    push @lines, ['Core PMU', $processor->{pmu}
        . ($processor->{hidden} ? ', which the kernel does not show: this machine has no hardware '
        . 'counters' : '')];
    my @text = map { beside($_->[0], 11, folded_lines($_->[1], $width - 11, '')) } @lines;
    push @text, '', folded_lines(no_table($events, $processor), $width,
        '') if !defined $processor->{row};
    return join '', map { "$_\n" } @text;
}

# ---- as a table ----

# Returns the processor as a hash for JSON.
sub processor_fields {
    my ($processor) = @_;
    my %fields = (cpuid => $processor->{cpuid}, pmu => $processor->{pmu},
        pmu_shown => \($processor->{hidden} ? 0 : 1));
    $fields{table} = { cpuid => $processor->{row}, version => $processor->{version} }
        if defined $processor->{row};
    return \%fields;
}

my @TEXTS = qw(name alias group topic description long_description event unit pmu table why
    recorded_as);
my @BOOLS = qw(works deprecated per_thread);

# Returns the table of events for formats that programs read, with all that is known of each.
sub make_table {
    my ($opt, $events, $processor, @items) = @_;
    my $table = Devel::DProf::Table->new(map { [ucfirst tr/_/ /r =~ s/^pmu$/PMU/r, $_, 1] }
        @TEXTS, @BOOLS);
    $table->json(processor => processor_fields($processor));
    $table->json(tables => [map { +{ %$_{qw(cpuid version table)} } } @{ $events->tables }])
        if $opt->{a};
    $table->row(@$_{@TEXTS}, map { bool_cell($_) } @$_{@BOOLS}) for @items;
    return $table;
}

1;
