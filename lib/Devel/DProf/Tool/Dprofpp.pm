package Devel::DProf::Tool::Dprofpp;

# dprofpp: options, the table, the call trees, -p, --watch.

use strict;
use warnings;

use Devel::DProf::Constants qw(time_words DP_T_REAL);
use Devel::DProf::Input qw(of_runs report_outcome usable readable doubts);
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes text);
use Devel::DProf::Tool qw(OK FAILED USAGE complain output written terminal_width);
use Devel::DProf::Tool::Options;

our $VERSION = $Devel::DProf::Core::VERSION;

# As in the classic dprofpp, the first given option of a list counts.
my @ORDER = (
    U => Devel::DProf::Profile::UNSORTED, v => Devel::DProf::Profile::BY_AVERAGE,
    a => Devel::DProf::Profile::BY_NAME, l => Devel::DProf::Profile::BY_CALLS,
    z => Devel::DProf::Profile::BY_TIME,
);
my @TIME = (
    u => Devel::DProf::Profile::USER, r => Devel::DProf::Profile::REAL,
    s => Devel::DProf::Profile::SYSTEM,
);
my %ORDER = @ORDER;
my %TIME = @TIME;

my $TOOL = Devel::DProf::Tool::Options->new(
    lists => { TIMES => [time_words()] },
    name => 'dprofpp', own_version => 1, behind => 'p', run => \&record_and_report,
    # In these groups an option of the command line replaces that of DPROFPP_OPTS.
    choices => [[qw(E I)], [keys %ORDER], [qw(m), keys %TIME], [qw(S T t)]],
    text => <<'END',
dprofpp [options] [profile ...]

What is counted:
= g|only=s
    -g sub      only this sub, and what it calls
= f|filter=s
    -f regex    leaves out the subs that match
= kind=s
    --kind k    only spans of this kind: sql, http, template ...
= G|group=s
    -G regex    makes one row of the subs that match ...
= P|pull
    -P          ... and another of all the others
= A|autoload
    -A          counts autoloaded subs as *::AUTOLOAD
= R|separate-anon!
    -R          distinguishes the anonymous subs of a package
= processes
    --processes reads all files of each run (tmon.out.PID)
= program
    --program   shows the time outside of all subs, too
= unit=s(unit)
    --unit u    what folded stacks count: s, ms, us, ns, calls, samples ...
= main
    --main      leaves out what ran before the main program
= phases
    --phases    shows phases of the program separately: BEGIN, main, END, its own
= F|force
    -F          tolerates missing entries and exits

Which time:
= u|user  s|system  r|real
    (default)   user and system      -u  user      -s  system      -r  real
= E|exclusive
    -E          percentages and order by exclusive (self) times (default)
= I|inclusive
    -I          ... by inclusive times
= m|metric=s
    -m metric   {TIMES}, or a counter in place of the time (see dproflist)

Order and size:
= z|time  l|calls  a|alphabetic  v|average  U|unsorted
    -z  time (default)   -l  calls   -a  name   -v  time per call   -U  as called
= d|reverse
    -d          reverses the order
= O|rows=i
    -O count    number of rows (default 15)
= q|no-header
    -q          no header
= classic!
    --classic   seconds in the columns that programs expect, as in a pipe
    --no-classic    ms and us, as on a terminal
= pager!
    --no-pager      does not use a pager

Instead of the table:
= S|merged-tree
    -S          the merged call tree with times
= T|tree
    -T          every call, indented
= t|folded-tree
    -t          the same, with repetitions folded

= watch=f
    --watch s   prints a new report every s seconds, while the program runs
= p|profile=s(some)  Q|quit
    -p script   profiles the script first;  -Q  only that
    -V          version, and where the profile comes from
    -h, -H      this help, the manual
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Runs the tool: with -p records a script first, then reports the files; with --watch again and
# again.
sub record_and_report {
    my ($opt, $given, $script_args) = @_;
    my @names = @$given ? @$given
        : defined $opt->{p} && length($ENV{PERL_DPROF_OUT_FILE_NAME} // '')
            ? $ENV{PERL_DPROF_OUT_FILE_NAME} : 'tmon.out';
    return $TOOL->usage("-O $opt->{O}: the number of rows must be positive")
        if defined $opt->{O} && $opt->{O} < 1;
    return $TOOL->usage('-Q is meaningful only when used with -p')
        if $opt->{Q} && !defined $opt->{p};
    return $TOOL->usage('--main works with the table and -S; -T and -t show every call')
        if $opt->{main} && ($opt->{T} || $opt->{t});
    return $TOOL->usage('--kind works with the table and -S; -T and -t show every call')
        if defined $opt->{kind} && ($opt->{T} || $opt->{t});
    return $TOOL->usage('--metric works with the table and -S; the calls of -T and -t have times')
        if defined $opt->{m} && ($opt->{T} || $opt->{t});
    if (defined $opt->{watch}) {
        require Devel::DProf::Live::Watch;
        my $wrong = defined $opt->{p} ? 'watches a program that was started elsewhere, not with -p'
            : Devel::DProf::Live::Watch::wrong($opt->{watch}, @names);
        return $TOOL->usage("--watch: $wrong") if defined $wrong;
    }
    my $how = settings($opt) or return USAGE;
    return print_version(@names) if $opt->{V};
    my $status;
    if (defined $opt->{p}) {
        my $before = identity_of($names[0]);
        $status = record_script($opt->{p}, $script_args, $names[0]);
        return $status if $opt->{Q};
        # perl may fail before it loads the recorder; then the file belongs to another run.
        if (identity_of($names[0]) eq $before) {
            complain("$opt->{p} left no profile");
            return $status || FAILED;
        }
    }
    return Devel::DProf::Live::Watch::watch($opt->{watch}, $opt->{processes}, \@names, sub {
        my ($running, @paths) = @_;
        return report_names($opt, { %$how, running => $running }, @paths);
    }) if defined $opt->{watch};
    my $failed = report_names($opt, $how, of_runs($opt->{processes}, $opt->{F}, @names));
    return $status || $failed;
}

# Reports the files: as calls in order of time (-T, -t), or as a table or tree.
sub report_names {
    my ($opt, $how, @names) = @_;
    return $opt->{T} || $opt->{t} ? print_calls($opt, $how, @names) : report($opt, $how, @names);
}

# ---- options ----

# Returns the options that the views take, as a hash: view, the fields of struct dp_classic, and the
# patterns re_f, re_G and re_kind. Returns nothing, after a message, if one is wrong.
sub settings {
    my ($opt) = @_;
    my %how;
    my %view = (
        time      => first_of($opt, @TIME) // Devel::DProf::Profile::CPU,
        order     => first_of($opt, @ORDER) // Devel::DProf::Profile::BY_TIME,
        reverse   => $opt->{d} ? 1 : 0,
        inclusive => $opt->{I} ? 1 : 0,
        no_header => $opt->{q} ? 1 : 0,
        summed    => $opt->{processes} ? 1 : 0,
        program   => $opt->{program} ? 1 : 0,
        rows      => ($opt->{O} // 0) > 0 ? $opt->{O} : 15,
        separate  => $opt->{R} // Devel::DProf::Profile::CROWDED,
        autoload  => $opt->{A} ? 1 : 0,
    );
    $view{only} = text($opt->{g}) if defined $opt->{g};
    for my $name (grep { defined $opt->{$_} } qw(f G)) {
        my $re = text($opt->{$name});
        $how{"re_$name"} = eval { qr/$re/ };
        if (!$how{"re_$name"}) {
            my $why = $@ =~ s/ at \S+ line \d+\.\n\z//r;
            $TOOL->usage("-$name: not a regular expression: $why");
            return;
        }
        $view{group} = $re if $name eq 'G';
    }
    if (defined $opt->{kind}) {
        require Devel::DProf::View;
        %how = (%how, Devel::DProf::View::filters({ kind => $opt->{kind} }, 'kind'));
    }
    return { %how, view => \%view };
}

# Returns the options that distinguish subs of the same name.
sub naming_options {
    my ($how) = @_;
    return { map { $_ => $how->{view}{$_} } qw(separate autoload) };
}

# Returns the value of the first option in pairs of name and value that the user has given, or
# undef.
sub first_of {
    my ($opt, @pairs) = @_;
    while (my ($name, $value) = splice @pairs, 0, 2) {
        return $value if $opt->{$name};
    }
    return undef;
}

# ---- reports ----

# Prints the table, or with -S the tree, of all files together. Returns the exit status.
sub report {
    my ($opt, $how, @names) = @_;
    my $input = Devel::DProf::Input->new(force => $opt->{F}, progress => 1,
        (map { $_ => $opt->{$_} } qw(phases main unit)));
    my $profile = $input->profile;
    my ($failed, $something) = (OK, 0);
    for my $path (@names) {
        my ($status, $readable) = outcome($input->read($profile, $path, naming_options($how)), $opt,
            $how);
        doubts($path, $opt->{F}, $profile->header($profile->files - 1));
        $failed ||= $status;
        return $failed if !defined $readable;
        $something ||= $readable;
    }
    return $failed if !$something;
    my ($wrong, @metric) = metric($opt, $profile);
    return $wrong if $wrong;
    my @roles = !grep({ $how->{$_} } qw(re_f re_G re_kind)) ? ()
        : (roles => $profile->roles($how->{view}, sub { role_of($how, $opt->{P}, $_[0]) }));
    if ($how->{re_kind} && !$how->{shown}) {
        complain("@names: " . Devel::DProf::View::nothing_shown($how)
            . Devel::DProf::View::meant_selected($how, $profile));
        return FAILED;
    }
    if (defined $opt->{g}
        && !grep { $_ eq text($opt->{g}) } $profile->names(naming_options($how))) {
        return no_such_sub($opt, @names);
    }
    my $print = $opt->{S} ? 'print_merged' : 'print_flat';
    my $out = out_of($opt);
    my $rc = $profile->$print($out, { %{ $how->{view} }, @metric, @roles,
        width => terminal_width(), human => !($opt->{classic} // !-t STDOUT) ? 1 : 0 });
    return finish_output($out, $rc, $opt) || $failed;
}

# Returns an exit status if the profile lacks the metric of -m, else OK and the table's options for
# it.
sub metric {
    my ($opt, $profile) = @_;
    if (!defined $opt->{m}) {
        # Times of tools that measure real time alone are not called CPU times.
        return (OK, $profile->has_real_time_alone ? (time => DP_T_REAL) : ());
    }
    my $metric = $profile->metric($opt->{m});
    my @known = (time_words(), $profile->counter_names);
    if (!$metric || $metric->is_calls) {
        complain($_) for Devel::DProf::Metric::missing($opt->{m}, \@known, undef,
            'the table can have ' . join ', ', @known);
        return FAILED;
    }
    my @how = ($metric->for_rows, $metric->is_counter ? (counter_label => $metric->label) : ());
    for my $file (0 .. $profile->files - 1) {
        my $path = $profile->outcome($file)->{path};
        my %header = $profile->header($file);
        complain($_) for $opt->{F} ? () : $metric->doubts($path, \%header);
    }
    return (OK, @how);
}

# Prints each call of each file in order of time (-T, -t). Returns the tool's status.
sub print_calls {
    my ($opt, $how, @names) = @_;
    my ($failed, $found) = (OK, !defined $opt->{g});
    my $out = out_of($opt);
    for my $path (@names) {
        my $outcome = Devel::DProf::Profile::print_calls($path, $out,
            { fold => $opt->{t} && !$opt->{T} ? 1 : 0, phases => $opt->{phases} ? 1 : 0,
                force => $opt->{F} ? 1 : 0, only => $how->{view}{only},
                    %{ naming_options($how) } });
        my ($status, $readable) = outcome($outcome, $opt, $how);
        $failed ||= $status;
        $found ||= !$readable || $outcome->{has_only};
        last if !defined $readable;
    }
    $failed ||= no_such_sub($opt, @names) if !$found;
    return finish_output($out, 0, $opt) || $failed;
}

# Prints that no file has the sub of -g. Returns the exit status.
sub no_such_sub {
    my ($opt, @names) = @_;
    complain("-g $opt->{g}: there is no sub of that name in @names; "
        . 'dprofpp -O 1000 lists the subs');
    return FAILED;
}

# Returns what the tree does with a sub of this name (-f, -G): drop it, keep it, put it into the
# group, or count it as others. pull: whether the group is pulled out of the others.
sub role_of {
    my ($how, $pull, $name) = @_;
    return Devel::DProf::Profile::DROP
        if ($how->{re_f} && $name =~ $how->{re_f})
        || ($how->{re_kind} && $name !~ $how->{re_kind});
    $how->{shown}++;
    return Devel::DProf::Profile::KEEP if !$how->{re_G};
    return Devel::DProf::Profile::GROUP if $name =~ $how->{re_G};
    return $pull ? Devel::DProf::Profile::OTHER : Devel::DProf::Profile::KEEP;
}

# If another report follows, the output is flushed, and the handle stays open.
# Returns the handle of the output: a pager's on a terminal, unless --watch draws the screen anew,
# or --classic wants what a pipe gets.
sub out_of {
    my ($opt) = @_;
    my ($out) = output(!$opt->{watch} && ($opt->{pager} // !$opt->{classic}), 1);
    return $out;
}

sub finish_output {
    my ($out, $rc, $opt) = @_;
    return written('dprofpp', $out, $rc, unfinished => $opt->{watch});
}

# ---- messages about files ----

# Prints the messages about an outcome. Returns the exit status and whether there is something to
# report; undef if there must be no report at all.
sub outcome {
    my ($o, $opt, $how) = @_;
    if (!$o->{code}) {
        my $fine = check_exits($o, $opt, $how) && open_frames($o, $opt);
        return $fine ? (OK, 1) : (FAILED, undef);
    }
    my $what = report_outcome($o, $opt->{F} || $how->{running});
    return (usable($what) ? OK : FAILED, readable($what));
}

# Prints which calls have no end. Returns whether they are accepted.
sub open_frames {
    my ($o, $opt) = @_;
    return 1 if !$o->{open_count};
    my (%calls, @order);
    for my $name (@{ $o->{open} }) {
        push @order, $name if !$calls{$name}++;
    }
    complain("$_ has $calls{$_} unstacked calls in outer") for @order;
    if ($opt->{F}) {
        complain("Faking $o->{open_count} exit timestamp(s).");
        return 1;
    }
    my $last = $#{ $o->{open} } < 999 ? $#{ $o->{open} } : 999;
    complain('Garbled profile is missing some exit time stamps:');
    complain($_) for @{ $o->{open} }[0 .. $last];
    complain('... and ' . ($o->{open_count} - 1000) . ' more') if $o->{open_count} > 1000;
    complain('Try rerunning dprofpp with -F.');
    return 0;
}

# Prints the exits that name another sub than the one they end, which matters only for groups.
# Returns whether they are accepted.
sub check_exits {
    my ($o, $opt, $how) = @_;
    return 1 if !$how->{re_G};
    my @odd = @{ $o->{odd} };
    while (my ($named, $ended) = splice @odd, 0, 2) {
        next if $named eq $ended || $named !~ $how->{re_G} || $ended =~ /(?:^|::)AUTOLOAD\z/;
        if ($opt->{F}) {
            complain('Garbled profile, faking exit timestamp:');
            complain("    $named => $ended.");
            next;
        }
        complain('Garbled profile, unexpected exit time stamp '
            . "($o->{path}: $named instead of $ended)");
        return 0;
    }
    return 1;
}

# ---- -p, -V, -h, -H ----

# Runs a script of -p with the recorder, which writes to PATH. Returns the script's status as a
# shell has it.
sub record_script {
    my ($script, $args, $path) = @_;
    require Devel::DProf::Tool::Record;
    my @command = $args ? ($script, @$args) : split ' ', $script;
    local $ENV{PERL_DPROF_OUT_FILE_NAME} = $path;
    my @include = map { "-I$_" } Devel::DProf::Tool::Record::include_dirs();
    my $rc = system { $^X } $^X, @include, '-d:DProf', @command;
    if ($rc == -1) {
        complain("Failed: $^X -d:DProf @command: $!");
        return FAILED;
    }
    return $rc & 127 ? 128 + ($rc & 127) : $rc >> 8;
}

# Returns a text that changes when a recording writes the file anew: each recording makes a new
# file, and never writes to an earlier one.
sub identity_of {
    my ($path) = @_;
    my @stat = stat $path or return 'none';
    return -f _ ? "@stat[0, 1, 9]" : 'new each time' . rand;
}

# Prints the versions of the tool and of the file's recorder, and the header of the file (-V).
sub print_version {
    my ($path) = @_;
    print "dprofpp version: $VERSION\n";
    return OK if !-e $path && $path ne '-';
    my ($o, @header) = Devel::DProf::Input::header($path);
    return (outcome($o, {}, {}))[0] if $o->{code} == Devel::DProf::Profile::CANNOT_READ;
    @header = () if $o->{code} == Devel::DProf::Profile::NOTPROFILE;
    my %header = @header;
    print 'XS_VERSION: ', Devel::DProf::Profile::escape(bytes($header{XS_VERSION} // 'early')), "\n"
        if @header && ($header{XS_VERSION} || !$header{dprof_format});
    while (my ($name, $value) = splice @header, 0, 2) {
        next if $name !~ s/^dprof_//;
        print $name, ': ', Devel::DProf::Profile::escape(bytes($value)), "\n";
    }
    return (outcome($o, { F => 1 }, {}))[0];
}

1;
