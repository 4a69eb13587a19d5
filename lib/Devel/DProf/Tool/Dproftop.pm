package Devel::DProf::Tool::Dproftop;

# dproftop: options, samples of rates, screens, blocks and tables.

use strict;
use warnings;

use Devel::DProf::Constants qw(DP_TEXT DP_CSV DP_MARKDOWN DP_HTML);
use Devel::DProf::Input;
use Devel::DProf::Live::Files;
use Devel::DProf::Live::Outside;
use Devel::DProf::Live::Rates;
use Devel::DProf::Live::Terminal;
use Devel::DProf::Live::Top;
use Devel::DProf::Metric;
use Devel::DProf::Table;
use Devel::DProf::Text qw(shown);
use Devel::DProf::Tool qw(OK FAILED complain terminal_width written result);
use Devel::DProf::Tool::Options;
use Devel::DProf::View qw(filters);
use Time::HiRes ();

our $VERSION = $Devel::DProf::Core::VERSION;

use constant FIRST => 0.5;              # seconds of samples in the first update on a screen

my $TOOL = Devel::DProf::Tool::Options->new(
    lists => { METRICS => [grep { $_ ne 'calls' } @{ Devel::DProf::Metric::for_help() }] },
    name => 'dproftop', settings => \&settings, run => \&top,
    text => <<'END',
dproftop [options] [PID | profile ...]

What a running program does: rates since the last update. h shows the keys. A process without the
profiler is sampled from outside.

= d|delay=f(positive)
    -d SECONDS          between two updates (2)
= n|updates|looks=i(positive)
    -n N                ends after N updates
= b|batch
    -b, --batch         plain text, a block for each update (the default without a terminal)
= format=s
    --format text|csv|json|markdown|html    a table for each update; else by the suffix of FILE
= o|output=s(some)
    -o FILE             the output, after the last update (default: standard output)
What is counted:
= m|metric=s
    -m METRIC           {METRICS}
                        or another counter (dproflist lists them)
= l|lines
    -l, --lines         lines of source in place of subs, where the profile has them
= main
    --main              leaves out what ran before the main program
= processes
    --processes         reads all files of each run (tmon.out.PID)
Processes that are sampled from outside:
= pid=i@(positive)
    --pid PID           also if the profiler is loaded; may be repeated
= children
    --children          with the processes that they have started, or will start
= threads
    --threads           with all threads that run a perl
= pause
    --pause             stops the program for each sample, as dprofattach --pause
= rate=f(positive)
    --rate 100          samples a second
Which rows:
= only=s  skip=s  kind=s
    --only REGEX --skip REGEX   only subs whose names match, or do not match
    --kind KIND         only spans of this kind: sql, http ...
= s|sort=s  reverse
    -s ORDER            self, inclusive, or calls (samples);  --reverse  the least first
= O|rows=i(positive)
    -O N                at most N rows: 15, on a screen as many as it has
= c|full|wide
    -c, --full, --wide  full names

= F|force
    -F                  tolerates missing entries and exits
    -V, -h, -H          version, this help, the manual
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Returns the objects that read and show, as a hash: rates, top (the text), format, and left, the
# number of updates that remain. Dies with a message about options that are wrong.
sub settings {
    my ($opt) = @_;
    my @names = qw(only skip kind);     # -d is another option here
    my $rates = Devel::DProf::Live::Rates->new(
        filters({ map { $_ => $opt->{$_} } @names }, @names), force => $opt->{F},
        metric => $opt->{m} // 'cpu', main => $opt->{main});
    my $top = Devel::DProf::Live::Top->new(rates => $rates, sort => $opt->{s} // 'self',
        names_width => Devel::DProf::Tool::PIPE_WIDTH, rows => $opt->{O}, delay => $opt->{d} // 2,
        lines => $opt->{l}, full => $opt->{c}, reverse => $opt->{reverse});
    my $format = Devel::DProf::Table::format_of($opt->{format}, $opt->{o});
    die "--format html shows one update, and cannot be combined with -n $opt->{n}\n"
        if $format == DP_HTML && ($opt->{n} // 1) > 1;
    return { rates => $rates, top => $top, format => $format,
        left => $opt->{n} // ($format == DP_HTML ? 1 : undef) };
}

# Runs the tool: on a terminal as a screen, otherwise as blocks of text, or in a file that is
# written anew. Returns the exit status.
sub top {
    my ($opt, $how, $names) = @_;
    my $live = eval { open_live($opt, $how, @$names) };
    return report_failure($@) if !$live;
    my $self = { %$how, live => $live, names => $names, out => \*STDOUT };
    my $is_screen = is_screen($opt);
    my $status = eval { $is_screen ? on_screen($self)
        : defined $opt->{o} ? in_file($self, $opt->{o}) : in_blocks($self) };
    return defined $status ? $status : report_failure($@);
}

# Returns whether the tool shows a screen: on a terminal, without -b, --format or -o.
sub is_screen {
    my ($opt) = @_;
    return !grep({ defined $opt->{$_} } qw(b format o)) && Devel::DProf::Live::Terminal::is_there();
}

# Returns the object that lists the files to read. All processes are sampled from outside if the
# options ask for that, or if one of them writes no profile. Dies with a message if the options do
# not go with the names.
sub open_live {
    my ($opt, $how, @names) = @_;
    my @forced = @{ $opt->{pid} || [] };
    my ($option) = grep { defined $opt->{$_} } qw(children threads pause rate);
    my @pids = grep { /\A[0-9]+\z/ && !-e } @names;
    return Devel::DProf::Live::Files->new($opt->{processes}, @names ? @names : 'tmon.out')
        if !@forced && !defined $option
        && !grep { Devel::DProf::Live::Files::is_unrecorded($_) } @pids;
    my ($other) = grep { my $name = $_; !grep { $_ eq $name } @pids } @names;
    die "$other: no process; dproftop $other shows a profile, without options of processes\n"
        if defined $other;
    die "--$option is for processes: --$option --pid PID\n" if !@forced && !@pids;
    die "--processes is for profiles; --children shows what a process has started\n"
        if $opt->{processes};
    return Devel::DProf::Live::Outside->new([@forced, @pids],
        (map { $_ => $opt->{$_} } qw(children threads pause)), rate => $opt->{rate} // 100,
        first => is_screen($opt) ? FIRST : $how->{top}->delay);
}

# Writes the updates into a file, which appears as a whole when the tool ends. Returns the exit
# status.
sub in_file {
    my ($self, $path) = @_;
    my $status;
    my $written = result('dproftop', $path, sub {
        ($self->{out}) = @_;
        $status = in_blocks($self);
        return 0;
    });
    return $written || $status;
}

# Prints why the tool cannot go on. Returns the exit status.
sub report_failure {
    my ($why) = @_;
    complain("dproftop: $_") for split /\n/, $why;
    return FAILED;
}

# ---- samples of rates ----

sub now { return Time::HiRes::time() }

# Takes a sample, and counts it in {left}. Returns whether the program goes on, and the sample, or
# undef if there is none yet. $before_end is called before the last sample, which may print
# messages.
sub take_sample {
    my ($self, $before_end) = @_;
    my ($live, $rates) = @$self{qw(live rates)};
    my ($running, @paths) = $live->files;
    my $now = now();
    $before_end->() if !$running;
    my $sample = @paths ? $rates->sample($now, $running, @paths) : undef;
    if ($sample) {
        $sample->{skipped} = $live->skipped;
        $sample->{is_outside} = $live->isa('Devel::DProf::Live::Outside');
    }
    $self->{left}-- if $sample && $self->{left};
    return ($running, $sample);
}

# Prints a sample. Returns the exit status.
sub print_block {
    my ($self, $sample, $is_last) = @_;
    my ($top, $format, $out) = @$self{qw(top format out)};
    my $is_first = !$self->{blocks}++;
    print {$out} "\n" if !$is_first && ($format == DP_TEXT || $format == DP_MARKDOWN);
    my $code = $top->whole($sample)->print($out, format => $format, title => 'dproftop',
        quiet => $format == DP_CSV && !$is_first ? 1 : 0,
        text => sub { join '', map { "$_\n" } $top->text($sample, terminal_width()),
            $is_last ? 'The program has ended.' : () });
    return written('dproftop', $out, $code, unfinished => 1, file => 1);
}

# Prints the last sample when the program has ended. Returns the exit status.
sub finish_run {
    my ($self, $sample) = @_;
    my $status = $sample ? print_block($self, $sample, 1) : OK;
    return $status || $self->{rates}->failed;
}

sub is_enough { return defined $_[0]{left} && !$_[0]{left} }

# ---- without a terminal ----

# Prints a block of text at each update, until the recording ends or enough updates are printed.
# Returns the exit status.
sub in_blocks {
    my ($self) = @_;
    my $stop = 0;
    my ($began, $is_starting) = (now(), 1);
    local $SIG{INT} = sub { $stop = 1 };
    until ($stop) {
        my ($running, $sample) = take_sample($self, sub { });
        return finish_run($self, $sample) if !$running;
        my $status = $sample ? print_block($self, $sample) : OK;
        return $status if $status || is_enough($self);
        # A program that was started just before, as by "program & dproftop", has a second to begin
        # its profile. Only after that a message says that dproftop waits.
        if (!$sample && $is_starting && now() - $began >= 1) {
            complain(waiting_message($self));
            $is_starting = 0;
        }
        my $delay = $self->{top}->delay;
        pause(!$sample && $is_starting && $delay > 0.1 ? 0.1 : $delay) if !$stop;
    }
    return OK;
}

sub pause { select undef, undef, undef, $_[0]; return }

# Returns the message that the tool waits for a profile.
sub waiting_message {
    my ($self) = @_;
    my @names = @{ $self->{names} } ? @{ $self->{names} } : 'tmon.out';
    require Devel::DProf::Outcome;
    return "dproftop: waiting for @names" . (@names == 1
        ? Devel::DProf::Outcome::similar_file($names[0]) || ($names[0] eq 'tmon.out' || -e $names[0]
            ? '' : '; there is no such file yet (--pid N looks into a process that runs)') : '');
}

# ---- on a terminal ----

# Shows updates on the screen and obeys keys, until the recording or the user ends it. Returns the
# exit status.
sub on_screen {
    my ($self) = @_;
    my $screen = Devel::DProf::Live::Terminal->new;
    until ($screen->signal) {
        my ($running, $sample) = take_sample($self, sub { $screen->leave });
        return finish_run($self, $sample) if !$running;
        $self->{shown} = $sample // $self->{shown};
        last if !wait_for_sample($self, $screen) || is_enough($self);
    }
    my $signal = $screen->signal;
    $screen->leave;
    # The tool ends by this signal, so that its parent sees why it ended.
    kill $signal => $$ if $signal && $signal ne 'INT';
    return OK;
}

# Waits until the next sample is due, or a key asks for one; meanwhile draws the screen and obeys
# keys. Returns false if a key or a signal ends the tool.
sub wait_for_sample {
    my ($self, $screen) = @_;
    my $top = $self->{top};
    my $from = now();
    for (my $is_drawn = 0;;) {
        draw_screen($self, $screen) if !$is_drawn || $screen->is_changed;
        my $left = $from + $top->delay - now();
        my $key = $screen->key($left > 0 ? $left : 0);
        return 0 if $screen->signal;
        $is_drawn = !defined $key;
        my $asked = defined $key ? $top->key($key) : '';
        return 0 if $asked eq 'quit';
        return 1 if $asked eq 'sample' || now() >= $from + $top->delay;
    }
}

# Draws the last sample, or that dproftop waits for the first one. Returns what `show` returns.
sub draw_screen {
    my ($self, $screen) = @_;
    my ($columns, $rows) = $screen->size;
    $screen->is_changed;
    my $sample = $self->{shown};
    return $screen->show(-1, shown(waiting_message($self)), 'q: quit') if !$sample;
    my $is_help = $self->{top}->is_help;
    return $screen->show($is_help ? 0 : 3, $self->{top}->text($sample, $columns, $rows));
}

1;
