package Devel::DProf::Tool::Dprofdiff;

# dprofdiff: options, sides, --run, the gate.

use strict;
use warnings;

use Devel::DProf::Compare::Diff;
use Devel::DProf::Compare::Rules qw(rules_of);
use Devel::DProf::Constants qw(words_of DP_K_PARENT DP_TEXT DP_CSV DP_HTML DP_TAP
                               DP_DIFF_BY_CHANGE);
use Devel::DProf::Input qw(report_outcome used);
use Devel::DProf::Metric;
use Devel::DProf::OptionValues qw(list_of windows renames);
use Devel::DProf::Profile;
use Devel::DProf::Sides qw(side parts);
use Devel::DProf::Text qw(bytes text few plural);
use Devel::DProf::Tool qw(OK FAILED USAGE complain transient end_transient output written
                          text_widths);
use Devel::DProf::Tool::Options;
use Devel::DProf::View qw(keys_of filters folders nothing_shown medium colour meant_subs);
use Time::HiRes ();

our $VERSION = $Devel::DProf::Core::VERSION;

use constant SLOWER => 3;
my %COMPUTE = words_of('compute');
my %VIEW = words_of('view');

my $TOOL = Devel::DProf::Tool::Options->new(
    lists => { METRICS => Devel::DProf::Metric::for_help() },
    compares => 1, name => 'dprofdiff', rewrite => \&bare_m, settings => \&settings,
    run => \&compare_names,
    text => <<'END',
dprofdiff [options] [baseline] [file ...]

A side is a file, files joined by commas, or a quoted wildcard: 'base.*'.
No file: compares tmon.out.old and tmon.out. One file: compares tmon.out.old and that file.

What is compared:
= m|metric=s
    -m METRIC           {METRICS}
                        or another counter (dproflist lists them)
= children!
    --children          inclusive values; without it, self values
= n|normalize
    -n                  scales all runs to the baseline's total
= time=s
    --time RANGE        slices of traces: START,STOP in seconds, A%-B%, A%/N;
                        for several sides, separated by colons
= pid=s  tid=s
    --pid LIST --tid LIST           only the files of these processes, threads
= map=s@
    --map OLD=NEW       renamed subs; packages end in ::; file://NAME reads a list of them;
                        auto: pairs those with the same calls and ops
= symfs=s@  source-dir=s@(folder)
    --symfs DIR         file names are relative to DIR, and sources are found below it
    --source-dir DIR    uses sources below DIR, even if the profile does not vouch for them
= unit=s(unit)
    --unit UNIT         what folded stacks count: s, ms, us, ns, calls, or another word
Which entries:
= s|sort=s
    -s KEY,KEY          sub (default), package, script, pid, thread, srcline, phase, caller
    -s span             spans by text; --kind chooses among them
= S|subs|symbols=s  d|packages|dsos=s  C|scripts|comms=s
    -S SUB,... -d PACKAGE,... -C SCRIPT,...     only these; file://NAME reads a list
= only=s  skip=s  kind=s
    --only REGEX --skip REGEX       only subs whose names match, or do not match
    --kind KIND                     only spans of this kind: sql, http ...
= b|baseline-only
    -b                  only entries that the baseline and another side have
= O|rows=i(positive)
    -O N                the first N of each section
= percent-limit=f(not-negative)
    --percent-limit P   entries that changed by at least P percent of the total
= percentage=s
    --percentage relative|absolute  100 % is the sum of the shown entries, or the total
How it is computed and shown:
= c|compute=s
    -c delta|ratio|wdiff:B,A        difference of the shares; value / baseline; weighted difference
= o|order=i(not-negative)
    -o N                sorts by the result for side N; 0: by the baseline
= p|period  F|formula  v|verbose
    -p  -F  -v          values; how they were computed; calls, values and unchanged entries
= tree
    --tree              the call tree of all sides
= callers=s  callees=s
    --callers SUB --callees SUB     who calls SUB, what SUB calls
= annotate=s
    --annotate SUB|FILE     the source of both sides as a diff, with what its lines cost
Is it significant?
= run=s@(some)  N|runs=s  warmup=i(not-negative)  keep=s(some)  show-output
    --run CMD           records a side itself; -N RUNS (10), --warmup N (1), --keep DIR,
                        --show-output
= max-time=s  effect=f(positive)
    -N auto             repeats until every sub is decided: --max-time 5m, --effect PERCENT (5)
= alpha=f(probability)  confidence=f(probability)  floor=f(not-negative)
    --alpha P  --floor P  --confidence P        0.005; 0.5 percent; 0.95
= layout=f(not-negative)
    --layout PERCENT    differences of time that memory layout may cause, for equal ops: 10
= as-measured
    --as-measured       does not adjust times for the speed of the runs
Gate: exit status 3 when a rule fails
= fail-if=s@
    --fail-if RULES     'self > 5% & 2ms, calls > 0, /^My::/ ops > 2%, new, gone'
= time-floor=s
    --time-floor 1ms,0.5%           with one run a side, ignores a time that has grown by less
= strict
    --strict            fails if an entry cannot be decided
= allow-truncated
    --allow-truncated   accepts profiles that were cut short
Output:
= format=s
    --format text|perf|tap|json|csv|markdown|junit|github|html|flame|flame-svg
                        perf: the table of perf diff, with the statistics
= t|field-separator=s
    -t SEP              text with SEP between the fields
= q|quiet  color=s  pager!  title=s  wide
    -q  --color auto|always|never  --no-pager  --title TEXT  --wide (does not cut names)
= D|dump-raw-trace
    -D                  prints the lines of the files first
= main
    --main              leaves out what ran before the main program
= from=s  run-set=s@  buckets=i(positive)
    --from STORE --run-set SET SET  profiles of a store (dprofstore);  --buckets N  their runs in N
= bisect=s
    --bisect SET        shows between which two versions of SET subs became slower
= processes  f|force
    --processes         reads all files of each run      -f  compares different units
    -V  -h  -H          version, this help, the manual
== modules  R|separate-anon!  A|autoload
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Compares the sides that are named on the command line, and those that --run records. All mistakes
# are reported before anything is recorded, which may take minutes.
sub compare_names {
    my ($opt, $how, $names) = @_;
    return $how->{bisect}->report($TOOL, $opt, @$names) if $how->{bisect};
    my ($status, @sides) = sides($opt, @$names);
    return $status if $status;
    my $last = $#sides + @{ $opt->{run} || [] };
    my @idle = $opt->{run} ? () : grep { defined $opt->{$_} } qw(N warmup keep show-output);
    return $TOOL->usage((length $idle[0] > 1 ? '--' : '-')
        . "$idle[0] is meaningful only with --run") if @idle;
    return $TOOL->usage('a second side is missing: give --run once more, or a profile')
        if $last < 1;
    my $wrong = wrong_runs($opt);
    return $TOOL->usage($wrong) if defined $wrong;
    return $TOOL->usage("--format $opt->{format} compares exactly two sides")
        if $how->{flame} && $last > 1;
    return $TOOL->usage('--annotate compares exactly two sides')
        if defined $opt->{annotate} && $last > 1;
    return $TOOL->usage("-o $opt->{o}: the sides are numbered 0 to $last")
        if defined $opt->{o} && $opt->{o} > $last;
    if ($opt->{run}) {
        # Report a missing file before the other side takes minutes to record.
        for my $path (grep { $_ ne '-' && !-e } map { @$_ } map { @{ $_->{runs} } } @sides) {
            complain("Unable to open $path: $!");
            return FAILED;
        }
        require Devel::DProf::Compare::Sequential;
        my $why = not_before_runs($opt, $how, @sides);
        return $TOOL->usage($why) if defined $why;
        can_find($opt, $how, @sides);
        require Devel::DProf::Tool::Record;
        my $compared = Devel::DProf::Tool::Record::with_signals(\&end_transient, sub {
            my @recorded = eval { record_sides($opt, $how, @sides) };
            return compare_all($opt, $how, @sides, @recorded) if !$@;
            complain('dprofdiff: ' . $@ =~ s/\n+\z//r);
            return FAILED;
        });
        return $compared // FAILED;
    }
    return compare_all($opt, $how, @sides);
}

# Returns a mistake in the options that would otherwise be found only after the recording, or undef.
# sides: those that are files.
sub not_before_runs {
    my ($opt, $how, @sides) = @_;
    my @paths = map { @$_ } map { @{ $_->{runs} } } @sides;
    return '-N auto reads files several times, but can read the standard input only once'
        if ($opt->{N} // '') eq 'auto' && grep { $_ eq '-' } @paths;
    my ($rule) = grep { $_->{with_ops} } $how->{diff}->given_rules;
    return "--fail-if: $rule->{text}: it is for times, without -n"
        if $rule && ($opt->{n} || !Devel::DProf::Metric::is_time_word($how->{metric_name}));
    return undef;
}

# Returns the smallest p that the test can have with N runs on one side and M on the other.
sub least_p {
    my ($n, $m) = @_;
    my $ways = 1;
    $ways *= ($m + $_) / $_ for 1 .. $n;
    return 2 / $ways;
}

# Prints, before the recording takes minutes, which changes so many runs can detect, or that they
# can detect none.
sub can_find {
    my ($opt, $how, @sides) = @_;
    my ($runs, $alpha) = ($opt->{N} // 10, $how->{diff}->alpha);
    return if $opt->{f} || !Devel::DProf::Metric::is_time_word($how->{metric_name});
    my $most = $runs eq 'auto' ? Devel::DProf::Compare::Sequential::most() : $runs;
    my $of_files = @sides ? scalar @{ $sides[0]{runs} } : $most;
    return too_few($runs, $alpha, @sides) if least_p($of_files, $most) > $alpha;
    return if $runs eq 'auto';
    my $reach = Devel::DProf::Profile::reach($of_files, $runs, $alpha);
    return if !$opt->{v} || $reach == 9**9**9;
    my $of_runs = @sides ? "$runs runs beside $of_files" : "$runs runs a side";
    complain("dprofdiff: $of_runs detect, with 80 % power, a change of a single sub by "
        . sprintf('%.1f', $reach) . ' times its spread among runs, and with many subs only greater '
        . 'changes; -N auto takes as many runs as it needs');
    return;
}

# Warns that -N runs cannot show any difference of times, and says how many runs can. @sides: the
# side of files, if the runs are compared with one.
sub too_few {
    my ($runs, $alpha, @sides) = @_;
    my $of_files = @sides ? scalar @{ $sides[0]{runs} } : 0;
    my $needed = 1;
    $needed++ while $needed < 1000 && least_p($of_files || $needed, $needed) > $alpha;
    my $wanted = $needed > 999 ? "$sides[0]{name} has too few runs"
        : @sides ? "-N $needed is the least beside the $of_files of $sides[0]{name}"
        : "-N $needed is the least";
    complain("dprofdiff: -N $runs: with so few runs no difference of times can be significant at "
        . "$alpha; $wanted");
    return;
}

# Prints the files first if -D asks for that, then compares the sides. Returns the exit status.
sub compare_all {
    my ($opt, $how, @sides) = @_;
    my $failed = $opt->{D} ? dump_files($opt, @sides) : OK;
    return $failed || compare_sides($opt, $how, @sides);
}

# Returns the arguments with each -m that has no metric behind it replaced by --modules: perf's -m
# is a switch, which has no effect here. A metric is a word, cycles:u, kmem:kfree:u, or
# cpu/event=0x3c/u.
sub bare_m {
    my @args = @_;
    for my $i (reverse 0 .. $#args) {
        next if $args[$i] ne '-m' || grep { $_ eq '--' } @args[0 .. $i];
        my $next = $args[ $i + 1 ];
        $args[$i] = '--modules'
            if !defined $next || $next !~ /^(?:$Devel::DProf::Metric::WORD)\z/
                || (!Devel::DProf::Metric->known($next) && -e $next);
    }
    return @args;
}

# ---- options ----

# Returns the options of the comparison, and in diff the object that compares. Dies with what is
# wrong.
sub settings {
    my ($opt) = @_;
    my $of_spans = lc($opt->{s} // '') eq 'span';
    my %how = (
        keys => [keys_of($of_spans ? 'sub' : $opt->{s} // 'sub')], separate => $opt->{R} // 1,
        children => $opt->{children} // $of_spans ? 1 : 0, autoload => $opt->{A} ? 1 : 0,
        normalize => $opt->{n} ? 1 : 0, baseline_only => $opt->{b} ? 1 : 0,
        strict => $opt->{strict} ? 1 : 0, period => $opt->{p} ? 1 : 0,
        formula => $opt->{F} ? 1 : 0, verbose => $opt->{v} ? 1 : 0,
    );
    $how{no_children} = !$how{children};
    $how{spans} = 1 if $of_spans || (defined $opt->{kind} && !defined $opt->{s});
    die "-s parent: only dprofreport has this key\n" if grep { $_ == DP_K_PARENT } @{ $how{keys} };
    set_compute($opt, \%how);
    my %flame = flame_formats();
    my $flame = $flame{ $opt->{format} // '' };
    if ($flame) {
        die "--format $opt->{format} cannot be combined with --tree, --callers or --callees\n"
            if grep { defined $opt->{$_} } qw(tree callers callees);
    }
    my $is_perf = ($opt->{format} // '') eq 'perf';
    # perf's options ask for perf's table.
    my $asks_for_table = grep { defined $opt->{$_} } qw(c p F o t percentage);
    $how{answer} = ($opt->{format} // 'text') ne 'text' || $asks_for_table ? 0 : 1;
    medium({ %$opt, $flame || $is_perf ? (format => 'text') : () }, \%how,
        qw(text perf csv json markdown html tap junit github), keys %flame);
    for (qw(alpha confidence layout)) {
        $how{$_} = $opt->{$_} if defined $opt->{$_};
    }
    $how{floor} = $opt->{floor} if defined $opt->{floor};
    @how{qw(time_floor time_floor_percent)} = time_floor($opt->{'time-floor'})
        if defined $opt->{'time-floor'};
    $how{order} = $opt->{o} // (defined $opt->{c} ? 1 : DP_DIFF_BY_CHANGE);
    $how{rows} = $opt->{O} // 0;
    set_view($opt, \%how);
    die "--annotate prints text, CSV, JSON, Markdown or HTML\n" if defined $opt->{annotate}
        && ($flame || $how{format} > DP_HTML);
    $how{renames} = [map { renames($_) } grep { $_ ne 'auto' } @{ $opt->{map} || [] }];
    my @symfs = folders($opt->{symfs});
    require Cwd;
    $how{bases} = [@symfs, text(Cwd::getcwd() // '')];
    my %fields = (
        $of_spans ? (re_kind => Devel::DProf::OptionValues::kind_pattern()) : (),
        filters($opt, qw(only skip kind)), metric_name => $opt->{m} // ($of_spans ? 'real' : 'cpu'),
        metric_given => defined $opt->{m}, annotate => defined $opt->{annotate},
        as_measured => $opt->{'as-measured'}, empty => defined $opt->{bisect},
        rules => [map { rules_of(text($_)) } @{ $opt->{'fail-if'} || [] }],
        symfs => [@symfs, folders($opt->{'source-dir'})],
    );
    my %read = (
        unit => $opt->{unit}, force => $opt->{f} ? 1 : 0, main => $opt->{main}, keys => $how{keys},
        apart => defined $opt->{pid} || defined $opt->{tid}, scripts => $fields{scripts},
        waits => !$flame && !defined $opt->{annotate}, say => sub { complain(bytes($_[0])) },
        defined $opt->{time} ? (windows => windows($opt->{time})) : (),
    );
    my $new_diff = sub {
        my ($more, @read) = @_;
        my $reader = Devel::DProf::Sides->new(%read, @read);
        return Devel::DProf::Compare::Diff->new($reader, { %how, %$more }, %fields);
    };
    my $diff = $new_diff->({}, progress => 1);
    my %all = (%how, flame => $flame, metric_name => $fields{metric_name}, new_diff => $new_diff,
        diff => $diff);
    if (defined $opt->{bisect}) {
        require Devel::DProf::Store::Bisect;
        $all{bisect} = Devel::DProf::Store::Bisect->of_options($opt, \%all, $diff);
    }
    return \%all;
}

# Returns the names that --format has for flame graphs: flame, a page, and flame-svg, pictures.
sub flame_formats {
    my @formats = grep { $_->{for} eq 'eyes' } @{ Devel::DProf::Profile::stacks_formats() };
    my ($page) = grep { !$_->{layout} } @formats;
    return (flame => $page->{name},
        map { ("flame-$_->{name}" => $_->{name}) } grep { $_->{layout} } @formats);
}

# Parses --time-floor: 1ms,0.5%; either alone; 0 for none. Returns seconds and percent.
sub time_floor {
    my ($text) = @_;
    my %second = (s => 1, ms => 1e-3, us => 1e-6, ns => 1e-9);
    my @floor = (0, 0);
    return @floor if $text eq '0';
    for my $limit (length $text ? split /,/, $text, -1 : '') {
        my ($n, $unit) = $limit =~ /^(\d+(?:\.\d+)?|\.\d+)(%|[mun]?s)\z/
            or die "--time-floor $text: must be like 1ms,0.5%, either of these alone, or 0\n";
        $floor[ $unit eq '%' ] = $unit eq '%' ? $n : $n * $second{$unit};
    }
    return @floor;
}

# Sets how the column of differences is computed, from -c WORD or -c wdiff:W1,W2.
sub set_compute {
    my ($opt, $how) = @_;
    my ($name, $more) = ($opt->{c} // 'delta') =~ /\A([^:]*)(?::(.*))?\z/s;
    die "-c $name: must be delta, delta-abs, ratio or wdiff:BASELINE,OTHER\n"
        if !exists $COMPUTE{$name};
    $how->{compute} = $COMPUTE{$name};
    if ($name eq 'wdiff') {
        my @weights = ($more // '') =~ /^([-+]?\d{1,6}),([-+]?\d{1,6})\z/;
        die "-c wdiff needs two whole numbers other than 0, the baseline's weight first: "
            . "wdiff:1,2\n" if @weights != 2 || !$weights[0] || !$weights[1];
        $how->{weights} = \@weights;
    } elsif (defined $more) {
        die "-c $name takes no value after a colon: `$more'\n";
    }
    return;
}

# Sets the view from --tree, --callers or --callees, with the sub whose edges are shown, and the
# share below which rows are left out.
sub set_view {
    my ($opt, $how) = @_;
    my @views = grep { defined $opt->{$_} } qw(tree callers callees);
    die '--' . join(', --', @views) . ": only one of them can be given\n" if @views > 1;
    $how->{percent_limit} = $opt->{'percent-limit'} // 0;
    return if !@views;
    $how->{view} = $VIEW{ $views[0] };
    $how->{edges_of} = text($opt->{ $views[0] }) if $views[0] ne 'tree';
    $how->{percent_limit} = 0.5 if $views[0] eq 'tree' && !defined $opt->{'percent-limit'};
    return;
}

# ---- sides ----

# Returns an exit status if a side cannot be found, else 0 and the sides: { name, runs => [[path,
# ...], ...] } each.
sub sides {
    my ($opt, @names) = @_;
    my $wanted = $opt->{run} ? @{ $opt->{run} } : 0;
    @names = ('tmon.out.old', 'tmon.out') if !@names && !$wanted;
    unshift @names, 'tmon.out.old' if @names == 1 && !$wanted;
    my $quiet = $opt->{f} || defined $opt->{pid} || defined $opt->{tid};
    my @sides = map { side($_, $opt->{processes}, $quiet) // return FAILED } @names;
    return (0, @sides);
}

# Records the sides of --run in turn, and returns them. Dies when a run fails. @already: the sides
# of files.
sub record_sides {
    my ($opt, $how, @already) = @_;
    my @commands = @{ $opt->{run} };
    my $sequential = $opt->{N} && $opt->{N} eq 'auto'
        ? Devel::DProf::Compare::Sequential->new(seconds_of($opt->{'max-time'} // '5m')) : undef;
    my $sides_of = sub {
        my @runs = @_;
        return map { +{ name => text($commands[$_]), runs => $runs[$_], in_turn => 1 } }
            0 .. $#commands;
    };
    my @runs = Devel::DProf::Tool::Record::record_in_turn(\@commands,
        rounds => $sequential ? $sequential->most : $opt->{N} // 10, warmup => $opt->{warmup} // 1,
        first => scalar @already, keep => $opt->{keep}, show => $opt->{'show-output'},
        progress => sub { say_progress($opt, $sequential, @_) }, done => \&end_transient,
        enough => $sequential && sub {
            my ($round, @so_far) = @_;
            my $share = $sequential->share_at($round) or return 0;
            return $sequential->looked($round,
                open_after($opt, $how, $share, @already, $sides_of->(@so_far)));
        },
        failed => sub {
            print STDERR map { Devel::DProf::Profile::escape($_) . "\n" } split /\n/, $_[0];
        });
    say_recorded($opt, @runs);
    $how->{diff} = $how->{diff}->with({ spending => $sequential->share }) if $sequential;
    return $sides_of->(@runs);
}

# Compares the runs recorded so far, spending the part SHARE of alpha. Returns { count, names }: the
# number of undecided subs, and the names of some. Dies if the runs cannot be compared.
sub open_after {
    my ($opt, $how, $share, @sides) = @_;
    my $diff = $how->{new_diff}->({ spending => $share, effect => $opt->{effect} // 5 });
    my $result = $diff->reader->read(sub { used(@_, $opt->{f}) }, @sides) && $diff->settle
        && $diff->settle_rules && $diff->check
        or die "the runs recorded so far cannot be compared\n";
    return { count => $result->{open}, names => $result->{open_names} // '' };
}

# Returns what is wrong with -N, --max-time or --effect, or undef.
sub wrong_runs {
    my ($opt) = @_;
    my $n = $opt->{N} // 10;
    return "-N $n: must be a positive number, or auto"
        if $n ne 'auto' && $n !~ /\A0*[1-9]\d{0,9}\z/;
    my ($idle) = grep { defined $opt->{$_} } $n eq 'auto' ? () : qw(max-time effect);
    return "--$idle is meaningful only with -N auto" if $idle;
    return "--max-time $opt->{'max-time'}: must be like 90s, 5m or 1h"
        if defined $opt->{'max-time'} && !seconds_of($opt->{'max-time'});
    return undef;
}

# Returns the seconds of a time such as 90s, 5m or 1h, or 0.
sub seconds_of {
    my ($text) = @_;
    my %seconds = (s => 1, m => 60, h => 3600);
    return $text =~ /\A(\d{1,7}(?:\.\d+)?)([smh])\z/ ? $1 * $seconds{$2} : 0;
}

# Prints on standard error which run is being recorded: on a terminal in a line that the next one
# replaces, in a log once.
sub say_progress {
    my ($opt, $sequential, $round, $rounds, $command) = @_;
    return if $opt->{q};
    my $text = Devel::DProf::Profile::escape(($round <= 0 ? 'warming up'
        : $sequential ? $sequential->progress($round) : "run $round of $rounds") . ": $command");
    if (-t STDERR) {
        transient($text);
    } elsif (!$opt->{recording_since}) {
        # In a log two lines are enough: this one, and one at the end.
        print STDERR 'dprofdiff: recording ', $sequential ? 'until each sub is decided'
            : plural($rounds, 'run') . ' a side', "\n";
    }
    $opt->{recording_since} //= Time::HiRes::time();
    return;
}

# Prints on standard error how many runs were recorded and how long that took, unless it is a
# terminal.
sub say_recorded {
    my ($opt, @runs) = @_;
    return if $opt->{q} || -t STDERR || !$opt->{recording_since};
    printf STDERR "dprofdiff: recorded %s a side in %.1f s\n", plural(scalar @{ $runs[0] }, 'run'),
        Time::HiRes::time() - $opt->{recording_since};
    return;
}

# Prints the files unchanged, each of their lines with its place (-D). Returns the exit status.
sub dump_files {
    my ($opt, @sides) = @_;
    for my $path (map { @$_ } map { @{ $_->{runs} } } @sides) {
        my $errno = $path eq '-' || -r $path ? 0 : $! + 0;
        if ($errno || -d $path) {
            my %outcome = (code => Devel::DProf::Profile::CANNOT_READ, sys_errno => $errno,
                open_count => 0);
            report_outcome({ path => $path, %outcome }, $opt->{f});
            return FAILED;
        }
        print '# ', Devel::DProf::Profile::escape($path), "\n";
        my $message = Devel::DProf::Profile::dump_text($path, \*STDOUT);
        next if !defined $message;
        complain("$path: $message");
        return FAILED;
    }
    print "\n";
    return OK;
}

# ---- comparing ----

# Returns a list of numbers in an option as a hash, or undef if the option is not given.
sub id_list {
    my ($option, $list) = @_;
    return defined $list ? { map { $_ => 1 } list_of($option, $list) } : undef;
}

# Reads the sides, checks that they can be compared, and reports their difference. Returns the exit
# status.
sub compare_sides {
    my ($opt, $how, @sides) = @_;
    my $diff = $how->{diff};
    my $reader = $diff->reader;
    $reader->read(sub { used(@_, $opt->{f}) }, @sides) or return FAILED;
    $reader->only_of('pid', id_list('--pid', $opt->{pid}))
        && $reader->only_of('tid', id_list('--tid', $opt->{tid})) or return FAILED;
    $diff->settle or return FAILED;
    my $rules = eval { $diff->settle_rules };
    return $TOOL->usage($@) if $@;
    return FAILED if !$rules;
    if (grep { $_ eq 'auto' } @{ $opt->{map} || [] }) {
        $diff = $how->{diff} = with_certain_names($diff) // return FAILED;
    }
    if (!$opt->{f}) {
        complain("the sides differ: $_; record them alike, or add -f")
            for $diff->differences($opt->{run});
    }
    complain("dprofdiff: $_") for $opt->{f} ? () : $diff->doubts;
    if ($opt->{'fail-if'} && !$opt->{'allow-truncated'}) {
        my @cut = grep { $_->{cut} } $diff->sides;
        complain("$_->{name} was cut short, and --fail-if refuses it; --allow-truncated accepts it")
            for @cut;
        return FAILED if @cut;
    }
    return report($opt, $how);
}

# Prints the result: a picture, annotated source, or the table. Returns the exit status, which
# --fail-if decides.
sub report {
    my ($opt, $how) = @_;
    return draw_picture($opt, $how) if $how->{flame};
    return show_source($opt, $how) if defined $opt->{annotate};
    my $diff = $how->{diff};
    my @names = few(map { $_->{name} } $diff->sides);
    my ($out, $is_terminal) = output($opt->{pager} // 1, $how->{format} == DP_TEXT);
    my $result = $diff->print($out,
        facts => [$diff->facts, defined $opt->{time} ? ('Time', 'time', $opt->{time}) : ()],
        title => $how->{title} // 'Difference of ' . join(', ', @names),
        colour => colour($opt, $is_terminal), next => next_step($opt, $how),
        startup => about_startup($how),
        text_widths($is_terminal, $opt->{wide}));
    if (!$result) {
        written('dprofdiff', $out, 0);
        return USAGE;
    }
    if ($result->{code} == Devel::DProf::Profile::NO_SUCH && defined $how->{edges_of}) {
        complain('there is no sub ' . bytes($how->{edges_of}
            . meant_subs($how->{edges_of}, map { parts($_) } $diff->sides)));
        written('dprofdiff', $out, 0);
        return FAILED;
    }
    my $status = written('dprofdiff', $out, $result->{code}) and return FAILED;
    return gate_status($opt, $how, $result);
}

# Returns a line of the answer if start-up is more than half of the time of a side, or undef.
sub about_startup {
    my ($how) = @_;
    my $diff = $how->{diff};
    return undef if !$how->{answer} || $diff->sides != 2;
    my @shares = $diff->startup_shares;
    return undef if !grep { $_ > 0.5 } @shares;
    return sprintf 'Start-up, before the main program begins: %.0f %% of the time before, %.0f %% '
        . 'after; --main leaves it out.', map { 100 * $_ } @shares;
}

# Returns the last line of the answer, which says what to type next, or undef.
sub next_step {
    my ($opt, $how) = @_;
    my $diff = $how->{diff};
    my @sides = $diff->sides;
    return undef if !$how->{answer} || @sides != 2;
    my ($n, $m) = map { scalar @{ $_->{profiles} } } @sides;
    return 'Next: ' . more_runs($opt, $diff) . ' ten runs a side, which tell chance from change.'
        if !$opt->{from} && $diff->in_seconds && least_p($n, $m) > $diff->alpha;
    my @more = (
        ('--annotate SUB for the lines of a sub') x !grep({
            !Devel::DProf::Compare::Diff::line_detail($_) } @sides),
        '--format flame for a flame graph', ('-v for the statistics') x !$opt->{v});
    return 'Next: this command again with ' . join(', or ', @more) . '.';
}

# Returns the command that would record more runs, with the scripts of the profiles, as the
# beginning of a sentence.
sub more_runs {
    my ($opt, $diff) = @_;
    return '-N 10 records' if $opt->{run};
    my ($old, $new) = map { $diff->script_of($_) } $diff->sides;
    my $are_known = !grep { !m{\A(?!-)[\w./+-]{1,60}\z} } $old, $new;
    ($old, $new) = !$are_known ? ('OLD.pl', 'NEW.pl')
        : $old eq $new ? map { "$_/" . $old =~ s{.*/}{}r } 'OLD', 'NEW' : ($old, $new);
    return "dprofdiff --run 'perl $old ARGUMENTS' --run 'perl $new ARGUMENTS' records";
}

# Returns a comparison that pairs those subs that certainly were renamed (--map auto), or undef
# after a message.
sub with_certain_names {
    my ($diff) = @_;
    my $other = $diff->with_certain_names // return undef;
    return $other == $diff || $other->settle && $other->settle_rules ? $other : undef;
}

# Checks the rules of --fail-if, and prints the source of both sides with its costs (--annotate).
# Returns the exit status.
sub show_source {
    my ($opt, $how) = @_;
    my $diff = $how->{diff};
    my $result = $opt->{'fail-if'} ? $diff->check : { code => 0 };
    return USAGE if !$result;
    require Devel::DProf::Compare::AnnotateDiff;
    my ($table, @text) = eval {
        Devel::DProf::Compare::AnnotateDiff->new($diff, colour => colour($opt, -t STDOUT))
            ->table_of(text($opt->{annotate}));
    };
    if (!$table) {
        complain('--annotate: ' . $@ =~ s/\n\z//r);
        return FAILED;
    }
    my ($out) = output($opt->{pager} // 1, $how->{format} == DP_TEXT);
    my $code = $table->print($out, format => $how->{format}, quiet => $how->{quiet},
        title => $how->{title} // text($opt->{annotate}), @text);
    my $status = written('dprofdiff', $out, $result->{code} || $code) and return FAILED;
    return $opt->{'fail-if'} ? gate_status($opt, $how, $result) : OK;
}

# Checks the rules of --fail-if, and draws the flame graph of both sides (--format flame). Returns
# the exit status.
sub draw_picture {
    my ($opt, $how) = @_;
    my $diff = $how->{diff};
    require Devel::DProf::View::Flame;
    return $TOOL->usage("--format $opt->{format}: a terminal cannot show a picture; "
        . "redirect it: > FILE") if -t STDOUT;
    my $result = $diff->check or return USAGE;
    my $flame = Devel::DProf::View::Flame->of_comparison($diff, { format => $how->{flame} },
        defined $opt->{alpha} ? (alpha => $opt->{alpha}) : ());
    $flame->prepare or return FAILED;
    binmode STDOUT;
    my $drawn = $flame->draw(\*STDOUT);
    my $status = written('dprofdiff', \*STDOUT, $drawn->{code}) and return FAILED;
    complain("dprofdiff: $_") for $flame->messages($drawn);
    return gate_status($opt, $how, $result);
}

# Returns the exit status of a comparison that was printed, after messages about the findings of
# --fail-if. A gate that checks nothing must not pass.
sub gate_status {
    my ($opt, $how, $result) = @_;
    my @idle = $opt->{f} ? () : $how->{diff}->idle($result);
    my $nothing = nothing_shown($how->{diff});
    @idle = $nothing if defined $nothing && !@idle;
    complain("dprofdiff: $_") for @idle;
    my $status = print_findings($opt, $how, $result);
    my $is_void = defined $nothing || @idle && $opt->{'fail-if'};
    return $status == OK && $is_void ? FAILED : $status;
}

# Prints what the rules of --fail-if have found. Returns the exit status.
sub print_findings {
    my ($opt, $how, $result) = @_;
    my ($failed, $undecided) = @$result{qw(failed undecided)};
    if ($undecided) {
        my $what = $undecided == 1 ? 'a finding is' : "$undecided findings are";
        complain("dprofdiff: $what undecided: not enough runs"
            . ($result->{needed} ? ", $result->{needed} a side needed" : ''));
    }
    my $few = $how->{diff}->few_units;
    complain("dprofdiff: $few") if defined $few;
    my $is_open = $undecided || (defined $few && $opt->{'fail-if'});
    return OK if !$failed && !($is_open && $opt->{strict});
    # In these formats, the number of findings on standard error needs the findings beside it.
    if ($how->{flame} || $how->{format} == DP_TAP || $how->{format} == DP_CSV) {
        complain("# $_") for split /\n/, bytes($result->{findings} // '');
    }
    return SLOWER if !$failed;
    my $chancy = $how->{diff}->is_chancy;
    complain('dprofdiff: ' . plural($failed, 'finding') . ' of --fail-if'
        . (length $chancy ? "; with one run a side, $chancy may differ by chance" : ''));
    return SLOWER;
}

1;
