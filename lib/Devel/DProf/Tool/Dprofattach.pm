package Devel::DProf::Tool::Dprofattach;

# dprofattach: samples processes that run already, into profiles.

use strict;
use warnings;

use Devel::DProf::Live::Attach;
use Devel::DProf::Text qw(plural);
use Devel::DProf::Tool qw(OK FAILED complain);
use Devel::DProf::Tool::Options;
use Time::HiRes ();

our $VERSION = $Devel::DProf::Core::VERSION;

use constant { NOT_RUN => 127, MANY_GIVEN_UP => 0.01, PATIENCE => 5, MOST_RATE => 10000 };

my $TOOL = Devel::DProf::Tool::Options->new(
    name => 'dprofattach', command => 'behind', settings => \&settings, run => \&attach,
    text => <<'END',
dprofattach [options] PID ...
dprofattach [options] -- COMMAND [ARG ...]

Samples perls that run already, from outside, into a profile that all tools read. The programs need
not to have loaded the profiler; they get no signal, and are not stopped. Control-C ends it.

= for=s
    --for 10s           for so long: 500ms, 10s, 5m, 1h (default: until Control-C)
= rate=f(positive)
    --rate 100          samples a second
= o|output=s(some)
    -o FILE             the profile (tmon.out); further processes write FILE.PID
= children
    --children          also the processes that they have started, or will start
= threads
    --threads           all threads that run a perl
= pause
    --pause             stops the program for each sample, with ptrace: where it cannot be followed
                        to its processor. May interrupt its system calls
Slices, as those of a recorder with slice=:
= slice=s  spool=s
    --slice 60s         a profile of each minute
    --spool DIR         the folder for them (tmon.spool)
    -V  -h  -H          version, this help, the manual
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Returns seconds from a text such as 500ms, 10s or 5m. Dies with what is wrong.
sub seconds_of {
    my ($option, $text) = @_;
    return undef if !defined $text;
    my %unit = (ms => 0.001, s => 1, m => 60, h => 3600, '' => 1);
    my ($number, $unit) = $text =~ /\A([0-9]*\.?[0-9]+)\s*(ms|s|m|h|)\z/
        or die "$option $text: a time is a number with ms, s, m or h: $option 10s\n";
    my $seconds = $number * $unit{$unit};
    die "$option $text: it must be a positive time\n" if $seconds <= 0;
    return $seconds;
}

# Checks that options go together. Returns the seconds of --for and --slice as a hash. Dies with
# what is wrong.
sub settings {
    my ($opt) = @_;
    die "--spool is for slices: --slice 60s --spool $opt->{spool}\n"
        if defined $opt->{spool} && !defined $opt->{slice};
    die "-o is for one profile; with --slice $opt->{slice}, --spool names the folder of slices\n"
        if defined $opt->{o} && defined $opt->{slice};
    die "-o -: profiles go to files; name one\n" if ($opt->{o} // '') eq '-';
    die '--rate ' . $opt->{rate} . ': at most ' . MOST_RATE . "\n"
        if ($opt->{rate} // 0) > MOST_RATE;
    return { map { $_ => seconds_of("--$_", $opt->{$_}) } qw(for slice) };
}

# Returns what to type in place of a word that is no process.
sub instead_of {
    my ($word) = @_;
    return "dprofreport $word shows a profile" if Devel::DProf::Tool::is_profile($word);
    my $perl = Devel::DProf::Tool::is_program($word) && !-x $word ? 'perl ' : '';
    return "dprofattach -- $perl" . (length $word ? $word : 'PROGRAM') . ' starts a command';
}

# Runs the tool: samples the processes PIDS, or the command that it starts, and writes the profiles.
# Returns the exit status.
sub attach {
    my ($opt, $how, $pids, $command) = @_;
    return $TOOL->usage('which process? dprofattach PID, or dprofattach -- COMMAND')
        if !@$pids && !$command;
    return $TOOL->usage('either processes or a command: dprofattach PID, or dprofattach -- COMMAND')
        if @$pids && $command;
    my ($word) = grep { !/\A[0-9]+\z/ } @$pids;
    return $TOOL->usage("$word: not the number of a process; " . instead_of($word))
        if defined $word;
    my $session = Devel::DProf::Live::Attach->new(
        (map { $_ => $opt->{$_} } qw(children threads pause)),
        rate => $opt->{rate} // 100, out => $opt->{o} // 'tmon.out',
        defined $how->{slice} ? (seconds => $how->{slice}, spool => $opt->{spool} // 'tmon.spool')
            : ());
    my $problem = spool_problem($session) // ($command ? undef : attach_to($session, @$pids));
    return report_failure($problem) if defined $problem;
    return run_command($session, $how, @$command) if $command;
    sample($session, $how->{for}, sub { 0 });
    return write_profiles($session);
}

# Prints why the tool cannot go on. Returns the exit status.
sub report_failure {
    my ($why) = @_;
    complain('dprofattach: ' . $why =~ s/\n\z//r);
    return FAILED;
}

# Makes the folder for slices if it is missing. Returns what is wrong with it, or undef.
sub spool_problem {
    my ($session) = @_;
    my $dir = $session->{spool} // return undef;
    return -d $dir || mkdir($dir) ? undef : "$dir: $!; --spool names another folder";
}

# Attaches to processes and, with --children, to those that they have started. Returns what is wrong
# with the first that cannot be attached to, or undef.
sub attach_to {
    my ($session, @pids) = @_;
    for my $pid (@pids) {
        next if $session->{is_known}{$pid};
        eval { $session->add($pid); 1 } and next;
        my $why = $@ =~ s/\n\z//r;
        return $why =~ /\bprocess $pid\b/ ? $why : "process $pid: $why";
    }
    $session->add_children if $session->{children};
    return undef;
}

# Takes samples until a signal comes, or CODE returns true.
sub sample {
    my ($session, $seconds, $is_over) = @_;
    my $stop = 0;
    local @SIG{qw(INT TERM HUP)} = (sub { $stop = 1 }) x 3;
    my $n = @{ $session->{targets} };
    complain('dprofattach: sampling ' . plural($n, 'process', 'processes')
        . (defined $seconds ? '' : '; Control-C ends it')) if $n && -t STDERR;
    $session->sample($seconds, sub { $stop || $is_over->() });
    return;
}

# ---- commands ----

# Starts a command, and samples it as soon as it is a perl. Returns the exit status.
sub run_command {
    my ($session, $how, @words) = @_;
    pipe my $why, my $in or return report_failure("$!");
    my $pid = fork // return report_failure("cannot fork: $!");
    if (!$pid) {
        no warnings 'exec';
        exec { $words[0] } @words;
        print {$in} "$!";
        require POSIX;
        close $in;
        POSIX::_exit(NOT_RUN);
    }
    close $in;
    my ($reason) = <$why>;
    if (defined $reason) {
        waitpid $pid, 0;
        complain("dprofattach: $words[0] cannot be run: $reason");
        return NOT_RUN;
    }
    my ($status, $is_over) = (0, 0);
    my $has_ended = sub {
        return 1 if $is_over;
        $is_over = waitpid($pid, 1) == $pid;
        $status = $? if $is_over;
        return $is_over;
    };
    $session->{is_open} = sub { !$has_ended->() };
    $session->{root} = $pid if $session->{children};
    # Signals of the terminal reach the command, too; it decides what they mean.
    local $SIG{QUIT} = 'IGNORE';
    my $last = attach_soon($session, $pid, $has_ended);
    sample($session, $how->{for}, $has_ended) if !defined $last;
    waitpid $pid, 0 and $status = $? if !$is_over && !defined $last && defined $how->{for};
    if (!$is_over) {
        waitpid $pid, 0;
        $status = $?;
    }
    return report_failure("$words[0]: $last") if defined $last;
    my $reported = write_profiles($session);
    return $status & 127 ? 128 + ($status & 127) : $status >> 8 || $reported;
}

# Tries to attach until the command has begun to run perl. Returns the reason if it never does. Once
# the kernel has refused, that is the reason, also if the command has ended when it is tried again.
sub attach_soon {
    my ($session, $pid, $has_ended) = @_;
    my ($until, $why) = (Time::HiRes::time() + PATIENCE);
    until ($has_ended->()) {
        return undef if eval { $session->add($pid); 1 };
        $why = $@ =~ s/\n\z//r if ($why // '') !~ / may not be read: /;
        $session->add_children if $session->{children};
        return undef if @{ $session->{targets} };
        last if Time::HiRes::time() > $until;
        Time::HiRes::sleep(0.001);
    }
    return $why // 'it had ended before it could be looked at';
}

# ---- the end ----

# Writes the profiles, and says what to type next. Returns the exit status.
sub write_profiles {
    my ($session) = @_;
    my %sum = $session->totals;
    if ($session->{spool}) {
        eval { $session->write_slices; 1 } or return report_failure($@);
        complain('dprofattach: ' . plural($session->{slices} // 0, 'slice', 'slices')
            . " in $session->{spool}; dprofreport $session->{spool}/*.tree shows them");
        return OK;
    }
    my @names = eval { $session->write_files };
    return report_failure($@) if $@;
    return report_failure('no sample was taken: the program ended, or was not running perl')
        if !@names;
    complain("dprofattach: wrote $names[0]" . (@names > 1 ? ' and ' . plural(@names - 1,
        'file', 'files') . " $session->{out}.PID" : '') . ' with '
        . plural($sum{samples}, 'sample', 'samples') . '; '
        . (@names > 1 ? "dprofreport $session->{out}*" : "dprofreport $names[0]") . ' shows it');
    my $bad = $sum{given_up} + $sum{unread};
    my $due = $sum{samples} + $bad;
    complain("dprofattach: $bad of $due samples could not be read, and the time of each is in the "
        . 'next one; --pause loses fewer') if $bad > MANY_GIVEN_UP * $due;
    complain('dprofattach: ' . plural($sum{behind}, 'sample was', 'samples were')
        . ' left out, since the machine is busy; '
        . 'try a lower --rate') if $sum{behind} > MANY_GIVEN_UP * $sum{samples};
    return OK;
}

1;
