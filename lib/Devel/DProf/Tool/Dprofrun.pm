package Devel::DProf::Tool::Dprofrun;

# dprofrun: records a command with all its processes, and reports.

use strict;
use warnings;

use Devel::DProf::Input;
use Devel::DProf::Metric;
use Devel::DProf::Text qw(bytes);
use Devel::DProf::Tool qw(OK FAILED complain terminal_width);
use Devel::DProf::Tool::Options;
use Devel::DProf::Tool::Record;
use Devel::DProf::Tools;
use Devel::DProf::View::Processes;

our $VERSION = $Devel::DProf::Core::VERSION;

use constant { DIR => 'dprof.run', NOT_RUN => 127, BY_SIGNAL => 128 };

my $TOOL = Devel::DProf::Tool::Options->new(
    lists => { METRICS => Devel::DProf::Metric::for_help() },
    name => 'dprofrun', command => 1, settings => \&settings, run => \&run_command,
    text => <<'END',
dprofrun [options] [--] COMMAND [ARG ...]
dprofrun [options] RECORDER-OPTION,... -- COMMAND [ARG ...]

Records a command with all perls that it starts, waits for it, and reports where the time went.
The options of the recorder are those of -d:DProf=; perl -d:DProf=help lists them.

= html  o|output=s(some)
    --html              writes a page, dprof.html, in place of the report;  -o FILE  elsewhere
= m|metric=s
    -m METRIC           {METRICS}
                        or another counter (dproflist lists them)
= O|rows=i(positive)
    -O N                the first N rows of the report
= keep=s(some)
    --keep DIR          the folder for the profiles, which stay (default: dprof.run, in which
                        the next run replaces them)
    -V  -h  -H          version, this help, the manual
END
);

sub main { return $TOOL->main(@_) }
sub command { return $TOOL }

# Checks that options go together, and returns them. Most are passed on to other tools, which would
# report a mistake only after the recording. Dies with a message.
sub settings {
    my ($opt) = @_;
    die "-o - would mix the page with the command's output; name a file\n"
        if ($opt->{o} // '') eq '-';
    die "-o FILE is the page's: dprof run --html -o FILE -- COMMAND\n"
        if defined $opt->{o} && !$opt->{html};
    die "-O N is the report's, and a page has all rows; leave out -O or --html\n"
        if defined $opt->{O} && $opt->{html};
    return $opt;
}

# Runs the tool: records a command with all perls that it starts, then reports. The status is the
# command's, or that of the report if the command succeeded.
sub run_command {
    my ($opt, undef, $names, $behind) = @_;
    my @recorder = $behind ? @$names : ();
    my @command = $behind ? @$behind : @$names;
    return $TOOL->usage('there is no command: dprof run -- perl PROGRAM')
        if !length($command[0] // '');
    my $dir = eval { profile_folder($opt->{keep}) } // return fail_with($@);
    my $absolute = File::Spec->rel2abs($dir);
    my $options = join ',', @recorder;
    my $wrong = wrong_option($options)
        // Devel::DProf::Tool::Record::wrong_options($absolute, $options);
    return $TOOL->usage($wrong) if defined $wrong;
    my ($status, undef, $why)
        = Devel::DProf::Tool::Record::record_as_is($absolute, $options, @command);
    if (defined $why) {
        my $is_command = $behind || !is_option($absolute, $command[0]);
        rmdir $dir;             # if it has no other files
        return not_run($why, $command[0], $is_command);
    }
    my $own = $status & 127 ? BY_SIGNAL + ($status & 127) : $status >> 8;
    # From here on, all output goes to the standard error, so that it does not mix with the
    # command's output.
    open STDOUT, '>&', \*STDERR or return fail_with("the standard error: $!\n");
    complain("dprofrun: $command[0]: " . Devel::DProf::Tool::Record::how_it_ended($status))
        if $status;
    my $reported = report_profiles($opt, $dir, $command[0]);
    return $own || $reported;
}

# Prints why the tool cannot go on. Returns the exit status.
sub fail_with {
    my ($why) = @_;
    complain('dprofrun: ' . $why =~ s/\n\z//r);
    return FAILED;
}

# Returns whether the recorder has an option of that name.
sub is_option {
    my ($dir, $word) = @_;
    return (Devel::DProf::Tool::Record::wrong_options($dir, $word) // '') !~ /\Aunknown option/;
}

# Prints that the command cannot be run. Returns the exit status. is_command: the command stood
# behind --.
sub not_run {
    my ($why, $command, $is_command) = @_;
    my $program = Devel::DProf::Tool::is_program($command) ? $command : 'PROGRAM';
    complain("dprofrun: $command cannot be run: $why" . (!$is_command
        ? "; if it is an option: dprof run $command -- COMMAND"
        : Devel::DProf::Tool::is_profile($command) ? "; dprof report $command shows a profile"
        : "; dprof run -- perl $program records a program"));
    return NOT_RUN;
}

# Returns what is wrong with recorder options that would move the profiles to another place.
sub wrong_option {
    my ($options) = @_;
    return "$options: options of the recorder have no blanks; set PERL_DPROF_NAME=VALUE for those"
        if $options =~ /\s/;
    my ($word) = $options =~ /(?:\A|,)(out|spool|slice|help)(?=[=,]|\z)/ or return undef;
    return $word eq 'help' ? 'perl -d:DProf=help lists the options of the recorder'
        : "$word= goes with perl -d:DProf; here, --keep DIR says where the profiles go";
}

# Makes the folder of the profiles, or removes the profiles of the last run from it. Dies with what
# is wrong.
sub profile_folder {
    my ($keep) = @_;
    require File::Spec;
    my $dir = $keep // DIR;
    die "$dir is a symbolic link; remove it, or name another folder with --keep DIR\n"
        if !defined $keep && -l $dir;
    -d $dir or mkdir $dir or die "$dir: $!; --keep DIR names another folder\n";
    my @old = Devel::DProf::Tool::Record::glob_in($dir, qr/\A\d+\.out(?:\.[\w.]+)?\z/);
    die "--keep $keep: the folder has an earlier run; name another folder, or remove it\n"
        if defined $keep && @old;
    for my $file (@old) { unlink $file or die "$file: $!\n" }
    return $dir;
}

# ---- the report ----

# Reports what the command left: lists its processes if there are several, and prints a table, or
# with --html writes a page. Returns the exit status.
sub report_profiles {
    my ($opt, $dir, $command) = @_;
    # A process that ends before its main program begins may leave an empty file.
    my @files = grep { -s || -e "$_.live" } @{ Devel::DProf::Tool::Record::profiles_in($dir) };
    if (!@files) {
        rmdir $dir;
        return fail_with("$command has left no profile; is it a Perl program?");
    }
    my @processes = Devel::DProf::View::Processes::of_headers(
        map { +{ Devel::DProf::Input::header_of($_) } } @files);
    print bytes(Devel::DProf::View::Processes::as_text(
        terminal_width() || Devel::DProf::Tool::PIPE_WIDTH, @processes))
        if @processes > 1;
    my @metric = defined $opt->{m} ? ('-m', $opt->{m}) : ();
    return write_page($opt, @metric, @files) if $opt->{html};
    my $status = tool_main('report')->(@metric, defined $opt->{O} ? ('-O', $opt->{O}) : (), @files);
    complain("The profiles are in $dir: dprofreport -h says what else can be shown of $dir/*.out*")
        if $status == OK;
    return $status;
}

# Returns the main function of another tool.
sub tool_main {
    my ($word) = @_;
    return Devel::DProf::Tools::load(Devel::DProf::Tools::tool($word))->can('main');
}

# Writes the page of dprofhtml to -o FILE or its usual place. Returns the exit status.
sub write_page {
    my ($opt, @args) = @_;
    return tool_main('html')->(@args) if !defined $opt->{o};
    my $status = tool_main('html')->('-o', $opt->{o}, @args);
    complain("wrote $opt->{o}; open it in a browser") if $status == OK;
    return $status;
}

1;
