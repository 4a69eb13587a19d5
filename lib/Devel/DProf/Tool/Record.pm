package Devel::DProf::Tool::Record;

# Runs commands under the recorder, each into a folder of its own.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(include_dirs module_folder record_into record_as_is);

# Returns the folders that a perl of this installation would not search by itself.
sub include_dirs {
    require Config;
    require Cwd;
    my %known = map { $_ => 1 } grep { defined && length } @Config::Config{qw(
        privlibexp archlibexp sitelibexp sitearchexp vendorlibexp vendorarchexp)};
    my $object = "auto/Devel/DProf/DProf.$Config::Config{dlext}";
    my @dirs = ($Devel::DProf::Core::Dir,
        grep { !ref && (-e "$_/Devel/DProf.pm" || -e "$_/$object") } @INC);
    my %seen;
    return grep { !$known{$_} && !$seen{$_}++ } map { Cwd::abs_path($_) // $_ } grep { -d } @dirs;
}

# Makes the folder DIR for PERL5LIB, and returns DIR. It has the two parts of the recorder and
# nothing else, in the places that they have after installation. If the parts are in other places
# (blib), XSLoader falls back to DynaLoader, and the program executes code that it loads. Dies with
# what is wrong.
sub module_folder {
    my ($dir) = @_;
    require Config;
    require Cwd;
    require File::Path;
    my $object = "auto/Devel/DProf/DProf.$Config::Config{dlext}";
    my $ours = $INC{'Devel/DProf/Core.pm'} =~ s{/Devel/DProf/Core\.pm\z}{}r;
    my ($module) = grep { -e } map { "$_/Devel/DProf.pm" } grep { !ref } $ours, @INC;
    my ($built) = grep { -e } map { "$_/$object" } grep { !ref } $Devel::DProf::Core::Dir, @INC;
    die "DProf: Devel/DProf.pm and $object are not where Devel::DProf::Core is\n"
        if !defined $module || !defined $built;
    my $mine = "$dir/$Config::Config{version}/$Config::Config{archname}";
    File::Path::make_path("$dir/Devel", "$mine/Devel", "$mine/auto/Devel/DProf");
    for (["$mine/Devel/DProf.pm", $module], ["$mine/$object", $built]) {
        -e $_->[0] or symlink Cwd::abs_path($_->[1]), $_->[0] or die "DProf: $_->[0]: $!\n";
    }
    # Perls of other versions or architectures cannot load the object: they run as without the
    # profiler.
    open my $out, '>', "$dir/Devel/DProf.pm" or die "DProf: $dir/Devel/DProf.pm: $!\n";
    print $out "package Devel::DProf;\n\$^P = 0;\ndelete \$ENV{PERL5DB};\nsub import {}\n1;\n";
    close $out or die "DProf: $dir/Devel/DProf.pm: $!\n";
    return $dir;
}

# Returns the environment in which all perls record into the folder, given by its absolute name,
# with these options of the recorder, as a hash. A value of undef removes a variable. If a folder
# for the recorder was made, returns that, too: the caller removes it when no process runs any more.
# INC: more folders for modules.
sub recorder_environment {
    my ($dir, $options, @inc) = @_;
    require Config;
    my @dirs = include_dirs();
    my @module = @dirs ? module_folder("$dir/module") : ();
    return ({
        PERL5LIB => join($Config::Config{path_sep}, @module, @inc,
            grep({ length } $ENV{PERL5LIB} // ''), @dirs),
        # If PERL5OPT had two recorders, the first would count.
        PERL5OPT => join(' ', grep({ !/\A-d:DProf(?:=|\z)/ } split ' ', $ENV{PERL5OPT} // ''),
            '-d:DProf' . (length $options ? "=$options" : '')),
        PERL_DPROF_OUT_FILE_NAME => ($dir =~ s/%/%%/gr) . '/%p.out',
        PERL_DPROF_RUN => join('', map { sprintf '%04x', int rand 1 << 16 } 1 .. 8),
        # These variables would move the profiles, too.
        map { ("PERL_DPROF_$_" => undef) } qw(OUT SLICE SPOOL),
    }, @module);
}

# Starts a child process in that environment, and returns what fork returns.
sub fork_in {
    my ($env) = @_;
    my $pid = fork;
    return $pid if $pid || !defined $pid;
    defined $env->{$_} ? $ENV{$_} = $env->{$_} : delete $ENV{$_} for keys %$env;
    return 0;
}

# Turns a child process into a command. Returns only if that fails, with the reason in $! or $@:
# exec may die under -T, and no eval of the parent may catch that.
sub become_command {
    my (@words) = @_;
    no warnings 'exec';
    return eval { exec { $words[0] } @words };
}

# Returns what is wrong with options of the recorder, or undef. It runs an empty program under the
# recorder to find out, and removes its profile.
sub wrong_options {
    my ($dir, $options) = @_;
    require POSIX;
    my ($env, @module) = recorder_environment($dir, $options);
    pipe my $said, my $in or return "$!";
    my $pid = fork_in($env) // return "$!";
    if (!$pid) {
        open STDERR, '>&', $in;
        become_command($^X, '-e', '1');
        POSIX::_exit(127);
    }
    close $in;
    my @lines = <$said>;
    waitpid $pid, 0;
    my $status = $?;
    unlink glob_in($dir, qr/\A$pid\.out/);
    File::Path::remove_tree(@module) if @module;
    my ($why) = map { /\ADProf: (.*)/ ? $1 : () } @lines;
    return $status ? $why // "perl cannot load the recorder: $lines[0]" =~ s/\s+\z//r : undef;
}

# Runs a command, a list of words, with these options of the recorder; its perls write to the
# folder, given by its absolute name. The command has the input, output and error output of this
# process. Signals of a terminal reach both processes, and others are passed on. Returns the status
# of wait, the files, and, if the command could not be run, the reason.
sub record_as_is {
    my ($dir, $options, @command) = @_;
    require POSIX;
    my ($env, @module) = recorder_environment($dir, $options);
    pipe my $why, my $in or return (-1, [], "$!");
    my $pid;
    my %own = map { $_ => $SIG{$_} || 'DEFAULT' } qw(INT QUIT TERM HUP);
    local @SIG{qw(INT QUIT)} = ('IGNORE') x 2;
    local @SIG{qw(TERM HUP)} = map {
        my $name = $_;
        $own{$name} eq 'IGNORE' ? 'IGNORE' : sub { kill $name => $pid if $pid };
    } qw(TERM HUP);
    $pid = fork_in($env) // return (-1, [], "$!");
    if (!$pid) {
        @SIG{ keys %own } = values %own;
        become_command(@command);
        print {$in} $@ || "$!";
        close $in;
        POSIX::_exit(127);
    }
    close $in;
    my ($reason) = <$why>;
    waitpid $pid, 0;
    my $status = $?;
    File::Path::remove_tree(@module) if @module;
    return ($status, profiles_in($dir), $reason);
}

# Returns the profiles that a run has left in its folder. The reader takes FILE.live with FILE.
sub profiles_in {
    my ($dir) = @_;
    return [sort grep { !/\.(?:live|new)\z/ } glob_in($dir, qr/\A\d+\.out/)];
}

my $child;      # the process group of the command that runs

# Runs a shell command, or a list of words without a shell, in tree mode, with hash seeds pinned;
# all its perls write to the folder, given by its absolute name. Its input is empty or the file
# `stdin'. Its output is discarded, or goes to the standard error (`show'), or, with `output', to
# the files stdout and said in the folder, which then stay. `env': more variables; `detail',
# `events' and `lines': these options of the recorder; `inc': more folders for its modules. Returns
# the status of wait, the files, and the end of the error output if the command failed.
sub record_into {
    my ($dir, $command, %how) = @_;
    require POSIX;
    my ($env, @module) = recorder_environment($dir, 'mode=tree', @{ $how{inc} || [] });
    my %env = (%$env, PERL_HASH_SEED => 0, PERL_PERTURB_KEYS => 0,
        (map { ("PERL_DPROF_\U$_" => $how{$_}) } grep { defined $how{$_} } qw(detail events lines)),
        %{ $how{env} || {} });
    my $said = "$dir/said";
    defined(my $pid = fork_in(\%env)) or return (-1, [], "fork: $!");
    if (!$pid) {
        POSIX::setpgid(0, 0);
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP QUIT);
        open STDIN, '<', $how{stdin} // '/dev/null';
        if ($how{show}) {
            open STDOUT, '>&', \*STDERR;
        } else {
            open STDOUT, '>', $how{output} ? "$dir/stdout" : '/dev/null';
            open STDERR, '>', $said;
        }
        become_command(ref $command ? @$command : ('/bin/sh', '-c', $command));
        print STDERR $@;
        POSIX::_exit(127);
    }
    POSIX::setpgid($pid, $pid);
    $child = $pid;
    waitpid $pid, 0;
    my $status = $?;
    undef $child;
    my $text = $status ? tail_of($said) : '';
    unlink $said if !$how{output};
    File::Path::remove_tree(@module) if @module;
    return ($status, profiles_in($dir), $text);
}

my $temp;       # the folder of record_in_turn, removed with this object

# Records the commands in turn, for a number of rounds. Each run has a folder of its own, in `keep'
# or in a folder that with_signals removes. HOW: rounds; warmup, rounds that do not count; first,
# the number of the first command in the folders' names; show, as for record_into. The others are
# functions: progress, called before a run with its round (below 1: it does not count), the rounds,
# and the command; done, called after a run; failed, called with the output of a failed command;
# enough, called after a round with the round and the lists recorded so far, which returns whether
# to stop. Returns for each command the lists of its runs' files. Dies if a run fails, because the
# sides could not be compared.
sub record_in_turn {
    my ($commands, %how) = @_;
    require File::Spec;
    my $top = folder_for_runs($how{keep});
    my @runs = map { [] } @$commands;
    for my $round (1 - $how{warmup} .. $how{rounds}) {
        # The order alternates, so that neither side has the faster half of a machine that warms up.
        my @order = $round % 2 ? 0 .. $#$commands : reverse 0 .. $#$commands;
        for my $k (@order) {
            $how{progress}->($round, $how{rounds}, $commands->[$k]);
            my $dir = "$top/" . ($round > 0 ? '' : 'warmup.') . ($how{first} + $k) . ".$round";
            mkdir $dir or die "$dir: $!\n";
            my ($status, $files, $said) = record_into($dir, $commands->[$k],
                show => $how{show}, events => with_noise(),
                env => { PERL_DPROF_LAYOUT => random_layout() });
            $how{done}->();
            if ($status) {
                $how{failed}->($said);
                die "$commands->[$k]: " . how_it_ended($status, $said)
                    . "; nothing was compared\n";
            }
            die "$commands->[$k]: the command left no profile; is it a Perl program?\n" if !@$files;
            push @{ $runs[$k] }, $files if $round > 0;
        }
        last if $how{enough} && $round > 0 && $how{enough}->($round, @runs);
    }
    return @runs;
}

# Returns the events to count: those of the user, and the noise of each sub.
sub with_noise { return join ',', grep { length } $ENV{PERL_DPROF_EVENTS} // '', '?noise' }

# Returns a number for the recorder's option layout. The speed of code depends on the addresses of
# code and data, which any edit moves; so each run of both sides moves them. The number's length
# moves the stack. (C. Curtsinger, E. D. Berger: Stabilizer: statistically sound performance
# evaluation, ASPLOS 2013; T. Mytkowicz and others: Producing wrong data without doing anything
# obviously wrong, ASPLOS 2009.)
sub random_layout { return sprintf '%0*d', 10 + int rand 4000, 1 + int rand 0x7ffffffe }

# Returns in words how a command has ended, from its status.
sub how_it_ended {
    my ($status, $said) = @_;
    return $status == -1 ? $said
        : $status & 127 ? 'killed by signal ' . ($status & 127) : 'exit status ' . ($status >> 8);
}

# Returns the folder for the profiles of recorded runs: that of --keep, which must have no earlier
# runs, or one that is removed at the end.
sub folder_for_runs {
    my ($keep) = @_;
    require File::Glob;
    require File::Temp;
    $temp = File::Temp->newdir('dprofdiff-XXXXXX', TMPDIR => 1) if !defined $keep;
    my $top = $temp // File::Spec->rel2abs($keep);
    mkdir $top if !-d $top;
    die "$top: $!\n" if !-d $top || !-w _;
    die "--keep $keep: the folder has earlier runs; name another folder, or remove them\n"
        if defined $keep && grep { m{/(?:warmup\.)?\d+\.\d+\z} } File::Glob::bsd_glob("$top/*");
    return $top;
}

# Calls CODE, and removes the folder of the runs at the end. A signal ends the running command, the
# folder is removed, and this process ends by the signal. DONE is called before the folder is
# removed. Returns what CODE returns, or undef if CODE died.
sub with_signals {
    my ($done, $code) = @_;
    my $caught;
    my $result;
    my $handler = sub {
        my $is_first = !$caught;
        $caught = $_[0];
        stop_command();
        die "interrupted\n" if $is_first;
    };
    {
        local @SIG{qw(INT TERM HUP QUIT)} = ($handler) x 4;
        $result = eval { $code->() };
        # A second signal, as timeout sends it, must not prevent the removal of the folder.
        $done->();
        undef $temp;
    }
    if ($caught) {
        $SIG{$caught} = 'DEFAULT';
        kill $caught => $$;
    }
    return $result;
}

# Ends the running command, and all processes that it has started.
sub stop_command {
    kill TERM => -$child if $child;
    return;
}

# Returns the last lines of a file, at most 4,000 bytes, for a message; '' if it cannot be read.
sub tail_of {
    my ($path) = @_;
    open my $in, '<:raw', $path or return '';
    my $size = -s $in;
    seek $in, $size - 4000, 0 if $size > 4000;
    local $/;
    my $text = <$in> // '';
    $text =~ s/\A[^\n]*\n// if $size > 4000;
    return $text;
}

# Returns the paths of a folder's files whose names match a regular expression.
sub glob_in {
    my ($dir, $re) = @_;
    opendir my $in, $dir or return;
    return map { "$dir/$_" } grep { $_ =~ $re } readdir $in;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool::Record - runs commands under the recorder

=head1 DESCRIPTION

This module is for the tools of this distribution. C<module_folder(DIR)> makes a folder with links
to the recorder's two parts, and returns it. C<include_dirs> returns the folders of this module that
perl does not search by itself. C<record_into(DIR, COMMAND, show =E<gt> BOOL)> runs a command in a
process group of its own, for comparisons. C<record_as_is(DIR, OPTIONS, WORD, ...)> runs a command
with the input, output and signals of this process. C<wrong_options(DIR, OPTIONS)> returns what is
wrong with options of the recorder.

=cut
