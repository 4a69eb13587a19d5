package Devel::DProf::Tool::Dprofreport;

# dprofreport: options, profiles, shares.

use strict;
use warnings;

use Devel::DProf::Constants qw(words_of all_words_of first_words time_words
                               DP_FIELD_KEY DP_T_CPU DP_T_REAL
                               DP_FIELD_CHILDREN DP_FIELD_SELF DP_FIELD_CALLS
                               DP_FIELD_CHILDREN_VALUE DP_FIELD_SELF_VALUE DP_FIELD_AVERAGE
                               DP_FIELD_SELF_TIME DP_FIELD_CHILDREN_TIME
                               DP_FIELD_MIN DP_FIELD_MAX DP_FIELD_HOT DP_FIELD_HOT_SHARE
                               DP_K_PARENT DP_K_SRCLINE
                               DP_TEXT DP_CHAIN_GRAPH);
use Devel::DProf::Input qw(files_of report_outcome usable readable doubts);
use Devel::DProf::Metric;
use Devel::DProf::Profile;
use Devel::DProf::Sides qw(parts);
use Devel::DProf::Text qw(bytes text few shown);
use Devel::DProf::Tool qw(OK FAILED complain output written text_widths);
use Devel::DProf::Tool::Options;
use Devel::DProf::View qw(key keys_of filters flags folders nothing_shown medium colour
    server_left_out);

our $VERSION = $Devel::DProf::Core::VERSION;

my %FIELD = all_words_of('field');
my %CHAIN = words_of('chain');
my %CHAIN_VALUE = words_of('chain_value');
# Options that select perf's table, and the number of rows without them.
my @PERFS = qw(children s p x n show-total-period per-call F histogram hierarchy annotate g G
    callers callees t percent-limit percentage history ignore-callees max-stack R);
use constant { ROWS => 20, REPEATED => 10, EDITED => 50 };
# Programs whose waits are worth a line: seconds of real time, and the largest share of CPU time.
use constant { LONG_WAIT => 0.1, MOSTLY => 0.5 };
# Options of the table of subs that tables with columns of their own do not take.
my @COLUMNS = qw(F g G annotate callers callees);
# And those of its rows that lists of places do not take.
my @OWN_ROWS = qw(s kind p x histogram hierarchy percent-limit percentage ignore-callees max-stack);
my @METRICS = (time_words(), 'calls');
# Formats that are pictures, which only a history has here.
my %PICTURE = map { $_ => 1 } qw(svg);
# Formats that editors read.
my %EDITOR = map { $_ => 1 } qw(quickfix editor);

my $TOOL = Devel::DProf::Tool::Options->new(
    lists => { METRICS => Devel::DProf::Metric::for_help(), FIELDS => [first_words('field')] },
    name => 'dprofreport', rewrite => \&bare_g, settings => \&settings, run => \&report_names,
    text => <<'END',
dprofreport [options] [profile ...]

What is counted:
= m|metric=s
    -m METRIC           {METRICS}
                        or another counter (dproflist lists them)
= children!
    --no-children       self values, without what each entry called
= s|sort=s
    -s KEY,KEY          entries: sub (default), package, script, pid, thread, srcline, phase, caller
= unit=s(unit)
    --unit UNIT         what folded stacks count: s, ms, us, ns, calls, or another word
= R|separate-anon!  A|autoload
    -R  -A              anonymous subs by file and line; autoloaded subs as one
Which entries:
= S|subs|symbols=s  d|packages|dsos=s  C|scripts|comms=s
    -S SUB,... -d PACKAGE,... -C SCRIPT,...     only these; file://NAME reads a list
= only=s  skip=s
    --only REGEX --skip REGEX                   only subs whose names match, or do not match
= all
    --all               also the subs of a server above its application; all repeated spans
= percent-limit=f(not-negative)  O|rows=i(positive)
    --percent-limit P   entries with at least P percent;  -O, --rows N  the first N
= percentage=s
    --percentage relative|absolute              100 % is the shown entries' sum, or the total
= p|parent=s  x|exclude-other
    -p, --parent REGEX  groups by the nearest caller that matches;  -x  only entries with one
= ignore-callees=s
    --ignore-callees REGEX          callees of these subs count for the subs themselves
= max-stack=i(positive)
    --max-stack N       deeper frames count for the frame at depth N
Columns:
= n|show-nr-samples|calls  show-total-period  per-call
    -n  --show-total-period  --per-call         calls; values; average, shortest and longest call
= F|fields=s
    -F FIELD,...        {FIELDS}, and keys
= histogram
    --histogram         how many calls took how long
= hierarchy
    --hierarchy         keys below one another
= kind=s  repeated=i(positive)
    -s span, --kind KIND    spans by text: sql, http, template, command, file, regex, cache, or the
                        program's own (detail=); --repeated N  what one path executes more often
= requests  growth
    --growth            what lives in the last of several snapshots and not in the first, by place,
                        with who holds it (heap=, heap-holders=)
    --requests          a server's requests, by phase: how many, how many were kept, mean, p50,
                        p95 and longest time (Plack::Middleware::DProf)
Source:
= annotate=s
    --annotate SUB|FILE     its lines, each after its cost
= symfs=s@  source-dir=s@(folder)
    --symfs DIR             looks for sources below DIR first
    --source-dir DIR        shows sources below DIR, even if the profile does not vouch for them
Calls:
= g|call-graph:s
    -g [TYPE,THRESHOLD,FRAMES,ORDER,VALUE]      call chains: graph, fractal, flat, folded;
                        callee or caller; percent, period or count
= G|inverted
    -G                  the same in caller order
= callers=s  callees=s
    --callers SUB  --callees SUB                who calls SUB, what SUB calls; with -s srcline by
                        line, and of FILE:LINE, FILE or /REGEX/ in place of SUB
Output:
= t|field-separator=s  format=s
    --format text|perf|csv|json|markdown|html|svg   perf: the table of perf report
    --format quickfix|editor    the dearest lines, for vim and emacs; all lines, as JSON
    -t SEP              text with SEP between the fields
= q|quiet  color=s  pager!  title=s  wide
    -q  --color auto|always|never  --no-pager  --title TEXT  --wide (does not cut names)
= from=s  run-set=s@
    --from STORE --run-set SET      profiles of a store (dprofstore), in place of files
= history=s  by=s
    --history SUB       what SUB cost in each interval of that store: --by 5m, 1h, 1d, version
= processes  f|force
    --processes         reads all files of each run      -f  fewer messages
= main
    --main              leaves out what ran before the main program
    -V  -h  -H          version, this help, the manual
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Runs the tool: reads the named profiles, applies the filters, and prints annotated source,
# requests or the table. Returns the exit status.
sub report_names {
    my ($opt, $how, $names) = @_;
    return $how->{history}->report($TOOL, $opt, @$names) if $how->{history};
    my @given = @$names ? @$names : 'tmon.out';
    my @paths = files_of($opt->{processes}, $opt->{f}, @given);
    return growth($opt, $how, @paths) if $opt->{growth};
    my ($failed, $metric, @sides) = sides($opt, $how, @paths);
    $names = [grep({ ref } @given) ? map { ref ? bytes($_->{name}) : $_ } @given : @paths];
    return $failed || FAILED if !@sides;
    return print_source($opt, $how, $metric, $failed, $names,
        $sides[0]) if defined $opt->{annotate};
    return requests($opt, $how->{view}, $failed, $names, $sides[0][0]) if $opt->{requests};
    return spans($opt, $how->{view}, $metric, $failed, $names, $sides[0]) if wants_spans($opt);
    my $edges = defined $how->{by_line} ? edges_of_lines($how, $names, map { $_->[0] } @sides) : [];
    return FAILED if !$edges;
    if (defined(my $nothing = nothing_shown($how->{filter}))) {
        complain("$nothing in @$names" . bytes(
            Devel::DProf::View::meant_selected($how->{filter}, map { $_->[0] } @sides)));
        return FAILED;
    }
    return for_editor($opt, $metric, $failed, @{ $sides[0] }[0, 1])
        if $EDITOR{ $opt->{format} // '' };
    sub_by_word($how->{view}, map { $_->[0] } @sides);
    my %view = (%{ $how->{view} }, metric => $metric->number,
        @$edges ? (edges_of_lines => $edges) : ());
    return report($opt, \%view, $how->{filter}, $metric, $failed, $names, @sides);
}

# ---- options ----

# Returns the options of the view, which are the fields of struct dp_report, and besides filter,
# by_line and history. Dies with what is wrong.
sub settings {
    my ($opt) = @_;
    my %naming = (autoload => $opt->{A} ? 1 : 0,
        separate => $opt->{R} // Devel::DProf::Profile::CROWDED);
    my %filter = (%naming, no_server => !$opt->{all},
        filters($opt, qw(only skip p ignore-callees)));
    my %view = %naming;
    my %how = (filter => \%filter, view => \%view);
    die "-s span is a table of its own; leave the other keys out\n"
        if lc($opt->{s} // '') =~ /\bspan\b/ && !wants_spans($opt);
    my @keys = keys_of(defined $opt->{annotate} || wants_spans($opt) ? 'sub' : $opt->{s} // 'sub');
    push @keys, DP_K_PARENT if $filter{re_p} && !grep { $_ == DP_K_PARENT } @keys;
    die "-s parent needs --parent REGEX\n" if !$filter{re_p} && grep { $_ == DP_K_PARENT } @keys;
    die "-x needs --parent REGEX\n" if $opt->{x} && !$filter{re_p};
    $view{keys} = \@keys;
    no_columns($opt, '--requests', 's', 'kind', 'm', @COLUMNS) if $opt->{requests};
    no_columns($opt, '--growth', qw(m requests), @OWN_ROWS, @COLUMNS) if $opt->{growth};
    no_columns($opt, '-s span', 'p', 'x', 'histogram', 'hierarchy', @COLUMNS) if wants_spans($opt);
    die "--repeated goes with -s span\n" if defined $opt->{repeated} && !wants_spans($opt);
    no_columns($opt, "--format $opt->{format}", qw(requests growth), @OWN_ROWS, @COLUMNS)
        if $EDITOR{ $opt->{format} // '' };
    my $is_perf = ($opt->{format} // 'text') ne 'text'
        || !wants_spans($opt) && grep { defined $opt->{$_} } @PERFS;
    $view{answer} = $view{by_self} = $is_perf ? 0 : 1;
    $view{fields} = $view{answer} ? [DP_FIELD_SELF, DP_FIELD_SELF_TIME, DP_FIELD_CHILDREN,
        DP_FIELD_CHILDREN_TIME, DP_FIELD_CALLS, DP_FIELD_KEY] : fields_of($opt, \@keys);
    # The keys share the last column.
    $view{fields} = [sort { ($a >= DP_FIELD_KEY) <=> ($b >= DP_FIELD_KEY) } @{ $view{fields} }]
        if $opt->{hierarchy};
    $view{exclude_other} = $opt->{x} ? 1 : 0;
    $view{no_children} = $opt->{children} // 1 ? 0 : 1;
    $view{percent_limit} = $opt->{'percent-limit'} // 0;
    $view{max_stack} = $opt->{'max-stack'} // 0;
    $view{rows} = $opt->{O} // ($view{answer} ? ROWS : 0);
    $view{histogram} = $opt->{histogram} ? 1 : 0;
    $view{hierarchy} = $opt->{hierarchy} ? 1 : 0;
    set_chains($opt, \%view) if defined $opt->{g} || $opt->{G};
    die "--callers and --callees: only one of them can be given\n"
        if defined $opt->{callers} && defined $opt->{callees};
    my $edges_of = $opt->{callers} // $opt->{callees};
    $view{edges_of} = text($edges_of) if defined $edges_of;
    $how{by_line} = lines_of($edges_of) if defined $edges_of
        && ($edges_of =~ /(?<!:):[0-9]+\z/ || grep { $_ == DP_K_SRCLINE } @keys);
    $view{callees} = defined $opt->{callees} ? 1 : 0;
    my $is_picture = exists $PICTURE{ $opt->{format} // '' };
    die "--format $opt->{format} goes with --history SUB\n"
        if $is_picture && !defined $opt->{history};
    medium({ %$opt, $is_picture ? (format => 'html') : (),
        ($opt->{format} // '') eq 'perf' || $EDITOR{ $opt->{format} // '' }
            ? (format => 'text') : () }, \%view,
        qw(text perf csv json markdown html quickfix editor), keys %PICTURE);
    die "--by goes with --history SUB\n" if defined $opt->{by} && !defined $opt->{history};
    if (defined $opt->{history}) {
        require Devel::DProf::Store::History;
        $how{history} = Devel::DProf::Store::History->of_options($opt, \%view);
    }
    return \%how;
}

# -s span, --kind: the table of spans.
sub wants_spans {
    my ($opt) = @_;
    return defined $opt->{kind} || lc($opt->{s} // '') eq 'span';
}

# The tables of requests and of spans have columns and rows of their own. Dies if one of the options
# that do not go with them was given.
sub no_columns {
    my ($opt, $table, @others) = @_;
    die "--kind goes with -s span\n"
        if defined $opt->{kind} && defined $opt->{s} && lc $opt->{s} ne 'span';
    my ($other) = grep { defined $opt->{$_} } @others;
    die "$table has its own columns; leave out " . (length $other > 1 ? '--' : '-') . "$other\n"
        if defined $other;
    return;
}

# Returns the lines that the value of --callers or --callees means: the text, or a compiled regular
# expression for /TEXT/.
sub lines_of {
    my ($name) = @_;
    my ($re) = $name =~ m{\A/(.+)/\z}s or return text($name);
    require Devel::DProf::OptionValues;
    return Devel::DProf::OptionValues::pattern('--callers, --callees', $re);
}

# Returns the arguments with each -g that has no value behind it replaced by --call-graph=, because
# -g may stand alone.
sub bare_g {
    my @args = @_;
    my $word = qr/(?:graph|fractal|flat|folded|none|callers?|callees?|percent|period|count
        |\d+(?:\.\d+)?)/x;
    for my $i (0 .. $#args) {
        last if $args[$i] eq '--';
        next if $args[$i] ne '-g' && $args[$i] ne '--call-graph';
        $args[$i] = '--call-graph='
            if $i == $#args || $args[ $i + 1 ] !~ /^$word(?:,$word)*\z/ || -e $args[ $i + 1 ];
    }
    return @args;
}

# Returns the numbers of the table's fields, in order. Sort keys are fields, too: a key that -F
# names and $keys lacks is added to $keys.
sub fields_of {
    my ($opt, $keys) = @_;
    my @of_keys = map { DP_FIELD_KEY + $_ } 0 .. $#$keys;
    if (defined $opt->{F}) {
        my @fields;
        my $more = $opt->{F} =~ s/^\+//;
        @fields = usual_fields($opt) if $more;
        for my $word (split /,/, $opt->{F}) {
            if (exists $FIELD{ lc $word }) {
                push @fields, DP_FIELD_HOT_SHARE if lc $word eq 'hot';      # precedes it
                push @fields, $FIELD{ lc $word };
                next;
            }
            my $key = eval { key($word) };
            my ($at) = grep { defined $key && $keys->[$_] == $key } 0 .. $#$keys;
            if (!defined $at) {
                die "Invalid --fields key: `$word'; "
                    . Devel::DProf::Text::instead(lc $word, sort(keys %FIELD),
                        @Devel::DProf::View::KEYS) . "\n" if !defined $key;
                push @$keys, $key;
                $at = $#$keys;
            }
            push @fields, DP_FIELD_KEY + $at;
        }
        my %have;
        @fields = grep { !$have{$_}++ } @fields;
        return [@fields, grep { !$have{$_} } map { DP_FIELD_KEY + $_ } 0 .. $#$keys];
    }
    return [usual_fields($opt), @of_keys];
}

# Returns the fields of the table that the options imply if -F does not list them.
sub usual_fields {
    my ($opt) = @_;
    my $children = $opt->{children} // 1;
    my @fields = ($children ? DP_FIELD_CHILDREN : (), DP_FIELD_SELF);
    push @fields, DP_FIELD_CALLS if $opt->{n};
    push @fields, $children ? DP_FIELD_CHILDREN_VALUE : (), DP_FIELD_SELF_VALUE
        if $opt->{'show-total-period'};
    push @fields, DP_FIELD_AVERAGE, DP_FIELD_MIN, DP_FIELD_MAX if $opt->{'per-call'};
    return @fields;
}

# Sets how call chains are shown, from -g TYPE,THRESHOLD,PRINT_LIMIT,ORDER,VALUE. The form of a part
# shows which it is, so the parts may be in any order.
sub set_chains {
    my ($opt, $view) = @_;
    my @numbers;
    $view->{chain} = DP_CHAIN_GRAPH;
    $view->{caller_order} = $opt->{G} ? 1 : 0;
    for my $word (split /,/, $opt->{g} // '') {
        if (exists $CHAIN{$word}) { $view->{chain} = $CHAIN{$word} }
        elsif ($word =~ /^calle[re]\z/) { $view->{caller_order} = $word eq 'caller' ? 1 : 0 }
        elsif (exists $CHAIN_VALUE{$word}) { $view->{chain_value} = $CHAIN_VALUE{$word} }
        elsif ($word =~ /^\d+(?:\.\d+)?\z/ && @numbers < 2) { push @numbers, $word }
        else {
            die "-g: `$word' is none of graph, fractal, flat, folded, none, caller, callee, "
                . "percent, period, count, or a number (the threshold in percent, then how many "
                . "frames to print)\n";
        }
    }
    $view->{threshold} = $numbers[0] // 0.5;
    $view->{print_limit} = $numbers[1] // 0;
    return;
}

# ---- profiles ----

# Reads one profile for all files, or one for each if keys distinguish files. Returns the exit
# status, the metric, and the profiles as the view takes them.
sub sides {
    my ($opt, $how, @paths) = @_;
    my ($failed, $any) = (OK, 0);
    my $sides = Devel::DProf::Sides->new(
        force => $opt->{f}, progress => 1, unit => $opt->{unit}, main => $opt->{main},
        keys => $how->{view}{keys}, scripts => $how->{filter}{scripts},
        say => sub { complain($_[0]) },
        phases => wants_spans($opt) || $opt->{requests},
        detail => $opt->{'per-call'} || $opt->{histogram} || wants_spans($opt)
            || scalar grep({ $_ == DP_FIELD_MIN || $_ == DP_FIELD_MAX } @{ $how->{view}{fields} }),
    );
    my $fits = $sides->read(sub {
        my ($o, $header) = @_;
        my $what = report_outcome($o, $opt->{f});
        doubts($o->{path}, $opt->{f}, %$header);
        $failed ||= usable($what) ? OK : FAILED;
        $any ||= readable($what);
        return readable($what) ? 'fine' : 'none';
    }, { name => '', runs => [\@paths] });
    return FAILED if !$any || !$fits;
    my @profiles = parts(($sides->sides)[0]);
    my $metric = metric($opt, $profiles[0]) or return FAILED;
    if (!$opt->{f} && wants_lines($opt, $how)) {
        require Devel::DProf::View::Lines;
        complain($_) for Devel::DProf::View::Lines::doubts($opt->{main}, @profiles);
    }
    my @sides;
    for my $p (@profiles) {
        my %header = $p->files ? $p->header(0) : ();
        my $wrong = unlike_first($metric, $p, $profiles[0]);
        if (defined $wrong) {
            complain($p->outcome(0)->{path} . ": $wrong");
            return FAILED;
        }
        my $own = $p->metric($metric->name);
        complain($_) for $opt->{f} ? () : map {
            my %of = $p->header($_);
            $own->doubts($p->outcome($_)->{path}, \%of)
        } 0 .. $p->files - 1;
        my $flags = flags($how->{filter}, $p, \%header);
        push @sides, [$p, $flags, @header{qw(dprof_script dprof_pid dprof_tid)},
            $own->counter];
    }
    return ($failed, $metric, @sides);
}

# Returns whether the report shows costs of lines.
sub wants_lines {
    my ($opt, $how) = @_;
    return defined $opt->{annotate} || $EDITOR{ $opt->{format} // '' }
        || grep({ $_ == DP_K_SRCLINE } @{ $how->{view}{keys} })
        || grep({ $_ == DP_FIELD_HOT || $_ == DP_FIELD_HOT_SHARE } @{ $how->{view}{fields} });
}

# Returns the metric of -m, or undef after a message.
sub metric {
    my ($opt, $profile) = @_;
    my $name = $opt->{m} // (wants_spans($opt) ? 'real' : 'cpu');
    my $metric = $profile->metric($name);
    my @known = (@METRICS, $profile->counter_names);
    complain($_) for $metric ? () : Devel::DProf::Metric::missing($name, \@known, undef,
        'the profile has ' . join ', ', @known);
    return $metric;
}

# Returns why a profile cannot be added up with the first one, or undef. Files that keys distinguish
# still make one sum.
sub unlike_first {
    my ($metric, $profile, $first) = @_;
    if ($metric->is_counter) {
        my $name = $metric->name;
        return undef if $profile->has_counter($name);
        return "it has no $name, which the other files have; it has "
            . join(', ', @METRICS, $profile->counter_names);
    }
    my ($unit, $others) = map { length $_ ? $_ : 'an unknown unit' } $profile->unit, $first->unit;
    return $unit eq $others || $metric->is_calls ? undef
        : "its times are in $unit, those of the other files in $others; --unit declares that of "
            . 'folded stacks';
}

# ---- source ----

# Returns a reference to a list of the lines and subs whose callers or callees the user wants, or
# undef, after a message, if there are none.
sub edges_of_lines {
    my ($how, $names, @profiles) = @_;
    require Devel::DProf::View::Lines;
    my %wanted = (%{ $how->{view} }, by_line => $how->{by_line});
    my $edges = eval { Devel::DProf::View::Lines::edges(\%wanted, "@$names", @profiles) };
    complain($@ =~ s/\n\z//r) if !$edges;
    return $edges;
}

# Prints the source of a file or sub with the costs of its lines (--annotate). Returns the exit
# status.
sub print_source {
    my ($opt, $how, $metric, $failed, $names, $side) = @_;
    if ($metric->is_calls) {
        return $TOOL->usage('-m calls: --annotate has no shares of calls; its column Count is how'
            . ' often a line ran');
    }
    require Devel::DProf::View::Annotate;
    my $annotate = Devel::DProf::View::Annotate->new($side->[0],
        name => join(', ', map { Devel::DProf::Text::shown($_) } @$names),
        metric => $metric, colour => colour($opt, -t STDOUT),
        symfs => [map { folders($_) } @$opt{qw(symfs source-dir)}]);
    my ($table, @text) = eval { $annotate->table_of(text($opt->{annotate})) };
    if (!$table) {
        complain('--annotate: ' . $@ =~ s/\n\z//r);
        return FAILED;
    }
    my $view = $how->{view};
    my ($out) = output($opt->{pager} // 1, $view->{format} == DP_TEXT);
    my $code = $table->print($out, format => $view->{format}, quiet => $view->{quiet},
        title => $view->{title} // text($opt->{annotate}), @text);
    return written('dprofreport', $out, $code) || $failed;
}

# ---- spans ----

# --callers, --callees: unless a sub has that name, it may be the text alone of a span, or the name
# of a sub without its package, if only one package has such a sub.
sub sub_by_word {
    my ($view, @profiles) = @_;
    my $name = $view->{edges_of} // return;
    my %naming = map { $_ => $view->{$_} } qw(separate autoload);
    my %labels = map { $_->[0] => 1 } map { $_->subs(\%naming) } @profiles;
    return if $labels{$name};
    require Devel::DProf::View::Spans;
    my @subs = grep { /::\Q$name\E\z/ } keys %labels;
    $view->{edges_of} = Devel::DProf::View::Spans::named($name, @profiles)
        // (@subs == 1 ? $subs[0] : $name);
    return;
}

# Prints the table of spans. Returns the tool's status.
sub spans {
    my ($opt, $view, $metric, $failed, $names, $side) = @_;
    require Devel::DProf::View::Spans;
    my $spans = eval { Devel::DProf::View::Spans->new($side, metric => $metric,
        kind => defined $opt->{kind} ? text($opt->{kind}) : undef,
        repeated => $opt->{repeated} // REPEATED, all => $opt->{all},
        map { $_ => $view->{$_} } qw(separate autoload)) };
    if (!$spans) {
        complain("@$names: " . bytes($@ =~ s/\n\z//r));
        return FAILED;
    }
    my ($out, $is_terminal) = output($opt->{pager} // 1, $view->{format} == DP_TEXT);
    my %width = text_widths($is_terminal, $opt->{wide});
    my $title = $view->{title} // join(', ', few(map { text($_) } @$names))
        . join '', map { ": $_" } join(', ', script_names($side->[0])) || ();
    my %rows = map { $_ => $view->{$_} } qw(rows percent_limit format quiet);
    my $rc = $spans->table(%rows)->print($out, rows_key => 'spans', title => $title,
        defined $view->{separator} ? () : (text => sub { $spans->text(%rows, title => $title,
            width => $width{width} || $width{names_width} * 2) }),
        map { $_ => $view->{$_} } grep { defined $view->{$_} } qw(format quiet separator));
    return written('dprofreport', $out, $rc) || $failed;
}

# ---- output ----

# Prints the table of requests (--requests). Returns the exit status.
sub requests {
    my ($opt, $view, $failed, $names, $profile) = @_;
    require Devel::DProf::View::Requests;
    my $table = Devel::DProf::View::Requests::table($profile);
    if (!$table) {
        complain("@$names: no requests were counted; Plack::Middleware::DProf and "
            . 'Mojolicious::Plugin::DProf count them');
        return FAILED;
    }
    my ($out) = output($opt->{pager} // 1, $view->{format} == DP_TEXT);
    my $rc = $table->print($out, rows_key => 'requests', title => $view->{title} // 'Requests',
        map { $_ => $view->{$_} } grep { defined $view->{$_} } qw(format quiet separator));
    return written('dprofreport', $out, $rc) || $failed;
}

# Prints the dearest lines for an editor (--format quickfix, editor). Returns the exit status.
sub for_editor {
    my ($opt, $metric, $failed, $profile, $flags) = @_;
    if ($metric->is_calls) {
        return $TOOL->usage("-m calls: --format $opt->{format} has the costs of lines, and how "
            . 'often each ran');
    }
    require Devel::DProf::View::Editor;
    my $list = Devel::DProf::View::Editor->new($profile, $metric, $flags);
    my ($out) = output(0, 0);
    my $text = $opt->{format} eq 'editor' ? $list->json : $list->quickfix($opt->{O} // EDITED);
    my $code = print({$out} bytes($text)) ? 0 : 1;
    return written('dprofreport', $out, $code) || $failed;
}

# Prints what has grown from the first to the last of several profiles (--growth). Returns the exit
# status.
sub growth {
    my ($opt, $how, @paths) = @_;
    my ($view, %filter) = ($how->{view}, %{ $how->{filter} }, no_server => 0);
    require Devel::DProf::View::Growth;
    my ($failed, $any) = (OK, 0);
    my $sides = Devel::DProf::Sides->new(force => $opt->{f}, progress => 1,
        say => sub { complain($_[0]) });
    $sides->read(sub {
        my $what = report_outcome($_[0], $opt->{f});
        $failed ||= usable($what) ? OK : FAILED;
        $any ||= readable($what);
        return readable($what) ? 'fine' : 'none';
    }, map { +{ name => $_, runs => [[$_]] } } @paths);
    return FAILED if !$any;
    my @snapshots = map {
        my ($profile) = parts($_);
        [text($_->{name}), $profile, flags(\%filter, $profile, { $profile->header(0) })];
    } $sides->sides;
    if (defined(my $nothing = nothing_shown(\%filter))) {
        complain("$nothing in @paths"
            . bytes(Devel::DProf::View::meant_selected(\%filter, map { $_->[1] } @snapshots)));
        return FAILED;
    }
    my $growth = eval { Devel::DProf::View::Growth->new(@snapshots) };
    if (!$growth) {
        complain(bytes($@ =~ s/\n\z//r));
        return FAILED;
    }
    my ($out, $is_terminal) = output($opt->{pager} // 1, $view->{format} == DP_TEXT);
    my %width = text_widths($is_terminal, $opt->{wide});
    my $rows = $view->{rows} || 0;
    my $rc = $growth->table($rows)->print($out, rows_key => 'places',
        title => $view->{title} // $growth->title,
        defined $view->{separator} ? () : (text => sub { $growth->text(rows => $rows,
            title => $view->{title}, quiet => $view->{quiet},
            width => $width{width} || $width{names_width}) }),
        map { $_ => $view->{$_} } grep { defined $view->{$_} } qw(format quiet separator));
    return written('dprofreport', $out, $rc) || $failed;
}

# Returns the fact about several processes: how many there were of each program.
sub processes_fact {
    my (%pids, %of);
    for my $p (@_) {
        for my $file (0 .. $p->files - 1) {
            my %header = $p->header($file);
            my $pid = join ' ', map { $_ // '' } @header{qw(dprof_run dprof_pid)};
            $of{ $header{dprof_script} // '?' }{$pid} = $pids{$pid} = 1;
        }
    }
    return if keys %pids < 2;
    my @programs = map { shown($_) . (keys %of > 1 ? ' ' . keys %{ $of{$_} } : '') }
        sort { keys %{ $of{$b} } <=> keys %{ $of{$a} } || $a cmp $b } keys %of;
    return ('Processes', 'processes', scalar(keys %pids) . ': ' . join(', ', few(@programs))
        . '; -s script and -s pid show them apart');
}

# Returns the fact that a program has mostly waited, where CPU time is shown.
sub waits_fact {
    my ($metric, @profiles) = @_;
    return if $metric->name ne 'cpu'
        || grep { $_->unit ne 's' || !$_->files || $_->outcome(0)->{foreign} } @profiles;
    my ($cpu, $real) = (0, 0);
    for my $profile (@profiles) {
        $cpu += $profile->total(DP_T_CPU) / $profile->hz;
        $real += $profile->total(DP_T_REAL) / $profile->hz;
    }
    return if $real < LONG_WAIT || $cpu > $real * MOSTLY;
    require Devel::DProf::View::Layout;
    return ('Waited', 'waited', sprintf '%.0f %% of %s real time; -m real shows where',
        100 * (1 - $cpu / $real), Devel::DProf::View::Layout::seconds($real));
}

# Returns the fact about requests, if there were any.
sub requests_fact {
    my ($seen, $kept) = (0, 0);
    for my $requests (map { $_->requests } @_) {
        $seen += $requests->[1];
        $kept += $requests->[2];
    }
    return if !$seen;
    return ('Requests', 'requests', "$seen seen, $kept kept; --requests shows how long they took");
}

# Returns the names of the scripts that the title shows, three at most.
sub script_names {
    my %seen;
    my @all = map {
        my $p = $_;
        map { my %header = $p->header($_); $header{dprof_script} } 0 .. $p->files - 1;
    } @_;
    my @scripts = grep { defined && length && !$seen{$_}++ } @all;
    return few(@scripts);
}

# Returns the numbers of the processes that still write the profiles' files.
sub running_processes {
    my @cut = grep { $_->{code} } map {
        my $p = $_;
        map { $p->outcome($_) } 0 .. $p->files - 1;
    } @_;
    return if !@cut;
    require Devel::DProf::Outcome;
    return grep { $_ } map { Devel::DProf::Outcome::running($_) } @cut;
}

# Returns the last line, which says what to type to see more of this profile.
sub next_step {
    my ($names, $running, @profiles) = @_;
    my ($file, @more) = map { Devel::DProf::Text::shown($_) } @$names;
    my $of = @more ? ' FILE ...' : $file eq 'tmon.out' ? '' : $file =~ m{\A[\w./+-]{1,24}\z}
        ? " $file" : ' FILE';
    my $callers = "dprofreport --callers SUB$of";
    return "Next: dproftop $running->[0] shows what the program does now, $callers who calls a sub."
        if @$running;
    return "Next: $callers shows who calls a sub, --annotate SUB its lines, -s line"
        . " --no-children the dearest lines; dprofhtml$of makes a page."
        if !grep { !$_->line_detail } @profiles;
    my $is_ours = !grep { $_->files && $_->outcome(0)->{foreign} } @profiles;
    return "Next: $callers shows who calls a sub, dprofflame$of -o FILE.html draws all calls"
        . ($is_ours ? '; perl -d:DProf='
            . join(',', 'tree', what_was_recorded($profiles[0]), 'lines') . ' records lines, too.'
            : '.');
}

# Returns the options of the recorder with which a profile has more than times and ops, so that
# another recording has that, too.
sub what_was_recorded {
    my ($profile) = @_;
    my %header = $profile->files ? $profile->header(0) : ();
    my %given = map { /\A([\w-]+)=(.*)\z/s } split /,/, $header{dprof_options} // '';
    my %usual = (heap => 'no', 'heap-interval' => 262_144, builtins => 'no', callsites => 0);
    my @options = map { "$_=$given{$_}" } grep { defined $given{$_} && $given{$_} ne $usual{$_} }
        qw(heap heap-interval builtins callsites);
    my %of_heap = map { $_ => 1 } ($given{heap} // 'no') eq 'no' ? ()
        : qw(values live-values live-bytes live-blocks allocated-blocks allocated-bytes);
    my %seen = (ops => 1, samples => 1, %of_heap);
    my @events = grep { /\A[\w:.-]+\z/ && !$seen{$_}++ } map { s/-freed\z//r }
        $profile->counter_names;
    push @options, 'events=' . join '+', @events if @events;
    my $detail = $header{dprof_detail} // '';
    push @options, "detail=$detail" if $detail =~ /\A\w+(?:\+\w+)*\z/;
    return @options;
}

# Prints the table of the sides, with facts about them above it. Returns the exit status.
sub report {
    my ($opt, $view, $filter, $metric, $failed, $names, @sides) = @_;
    my $server = server_left_out($filter);
    my @paths = few(@$names);
    my @scripts = script_names(map { $_->[0] } @sides);
    my $files = join ', ', map { text($_) } @paths;
    my $of = join ', ', @scripts;
    my @profiles = map { $_->[0] } @sides;
    my @facts = ('Profile', 'profile', $files, @scripts ? ('Script', 'script', $of) : (),
        'Metric', 'metric', $metric->label, $view->{answer} ? processes_fact(@profiles) : (),
        $view->{answer} ? waits_fact($metric, @profiles) : (), requests_fact(@profiles),
        defined $server ? ('Server', 'server', $server) : ());
    my @running = $view->{answer} ? running_processes(@profiles) : ();
    push @facts, 'Running', 'running', @running > 1 ? 'its processes still run'
        : "process $running[0] still runs" if @running;
    my $next = $view->{answer} ? next_step($names, \@running, @profiles) : undef;
    my ($out, $is_terminal) = output($opt->{pager} // 1, $view->{format} == DP_TEXT);
    my $rc = Devel::DProf::Profile::print_report($out, \@sides, {
        title => 'Profile of ' . (@scripts ? $of : $files), %$view, facts => \@facts,
        $view->{answer} ? (text_widths($is_terminal, $opt->{wide})) : (),
        next => $next,
        colour => colour($opt, $is_terminal) });
    if ($rc == Devel::DProf::Profile::NO_SUCH && defined $view->{edges_of}) {
        complain('there is no sub ' . bytes($view->{edges_of}) . " in @$names"
            . bytes(Devel::DProf::View::meant_subs($view->{edges_of}, map { $_->[0] } @sides)));
        written('dprofreport', $out, 0);
        return FAILED;
    }
    print_processes($out, $is_terminal, $opt, @profiles) if $opt->{processes} && $view->{answer};
    return written('dprofreport', $out, $rc < 0 ? $rc : 0) || $failed;
}

# Prints the processes of the profiles below the answer, if there are several.
sub print_processes {
    my ($out, $is_terminal, $opt, @profiles) = @_;
    require Devel::DProf::View::Processes;
    my @processes = Devel::DProf::View::Processes::of_headers(map {
        my $p = $_;
        map { +{ $p->header($_) } } 0 .. $p->files - 1;
    } @profiles);
    return if @processes < 2;
    my %width = text_widths($is_terminal, $opt->{wide});
    print {$out} "\n", bytes(Devel::DProf::View::Processes::as_text(
        $width{width} || $width{names_width}, @processes));
    return;
}

1;
