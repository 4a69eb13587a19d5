package Devel::DProf::Tool;

# What the command line tools share: messages, progress, and where files are.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Profile;

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(OK FAILED USAGE ABOUT env_words complain bytes text place progress end_progress
                    told_of run_loop parsed about list_of pattern output written target placed
                    usage terminal_width of_runs);

use constant { OK => 0, FAILED => 1, USAGE => 2 };

# Options that all tools have, as rows of Getopt::Long; about() does what they ask for.
use constant ABOUT => ('V|version', 'h|help', 'H|manual');

# Calls a command's main function and returns the exit status that it returns. If the function dies,
# which it should not, the status is 1: perl would end with errno, and 2 and 3 have meanings here.
sub status {
    my ($tool, $main, @args) = @_;
    my $status = eval { $main->(@args) };
    return $status if defined $status;
    my $why = $@ =~ s/\s+\z//r =~ s/\s*\n\s*/; /gr;
    end_progress();
    complain("$tool: it could not go on: $why");
    return FAILED;
}

sub complain { print STDERR Devel::DProf::Profile::escape(bytes($_[0])), "\n" }

sub bytes {
    my ($text) = @_;
    utf8::encode($text) if utf8::is_utf8($text);
    return $text;
}

# Names are UTF-8 where they can be, and so is what a shell hands over.
sub text {
    my ($bytes) = @_;
    utf8::decode($bytes);
    return $bytes;
}

# ---- options ----

# The options of the command line, and those of DPROF..._OPTS that it does not give; then the
# names behind them. Nothing where they are wrong, after a message.
sub parsed {
    my ($tool, $options, @args) = @_;
    my $words = env_words($tool, uc($tool) . '_OPTS') or return;
    my ($env, $env_names) = getopt($tool, $options, @$words) or return;
    my ($opt, $names) = getopt($tool, $options, @args) or return;
    return ({ %$env, %$opt }, @$names ? $names : $env_names);
}

# The words of such a variable: between blanks, in quotes with blanks. A backslash stands for itself, as always,
# but before a blank, a quote or another one.
sub env_words {
    my ($tool, $env_name) = @_;
    my $text = $ENV{$env_name} // '';
    return [split ' ', $text] if $text !~ /["'\\]/;
    require Text::ParseWords;
    local $Text::ParseWords::PERL_SINGLE_QUOTE = 1;
    $text =~ s/^\s+//;
    $text =~ s{(\\[\s"'\\])|\\}{$1 // "\\\\"}ge;
    my @words = Text::ParseWords::shellwords($text);
    return \@words if @words || $text eq '';
    usage($tool, "$env_name: a quote is not closed: $ENV{$env_name}");
    return;
}

sub getopt {
    my ($tool, $options, @args) = @_;
    my %opt;
    require Getopt::Long;
    my $parser = Getopt::Long::Parser->new(config => [qw(bundling auto_abbrev)]);
    my $message = '';
    local $SIG{__WARN__} = sub { $message .= $_[0] };
    return (\%opt, \@args) if $parser->getoptionsfromarray(\@args, \%opt, @$options);
    usage($tool, $message);
    return;
}

# What is wrong with a command line.
sub usage {
    my ($tool, $message) = @_;
    complain($_) for split /\n/, $message;
    print STDERR "Try '$tool -h' for help.\n";
    return USAGE;
}

# What -h, -H and -V print: the help, the manual in the command's own file, the version. Returns the
# exit status, or undef where none of them was given.
sub about {
    my ($tool, $opt, $help) = @_;
    if ($opt->{H} && !$opt->{h}) {
        require Pod::Usage;
        Pod::Usage::pod2usage(-verbose => 2, -noperldoc => 1, -input => $0, -exitval => 'NOEXIT');
        return OK;
    }
    return undef if !$opt->{h} && !$opt->{V};
    print $opt->{h} ? $help : "$tool version: $VERSION\n";
    return written($tool, \*STDOUT, 0);
}

# A list of names: separated by commas; file://NAME is a file with one on each line. Dies with what is wrong.
sub list_of {
    my ($option, $list) = @_;
    my @names;
    for my $item (split /,/, $list) {
        if ($item !~ s{^file://}{}) {
            push @names, text($item);
            next;
        }
        open my $in, '<:raw', $item or die "$option: cannot read $item: $!\n";
        while (defined(my $line = <$in>)) {
            $line =~ s/\r?\n\z//;
            push @names, text($line) if length $line && $line !~ /^#/;
        }
        close $in;
    }
    return @names;
}

sub pattern {
    my ($option, $re) = @_;
    $re = text($re);
    local $SIG{__WARN__} = sub { };
    return eval { qr/$re/ } // die "$option: not a regular expression: " . ($@ =~ s/ at \S+ line \d+\.\n\z//r) . "\n";
}

# ---- output ----

# Where a report goes: to a pager on a terminal, which shows what fits at once. Returns the handle, and
# whether somebody looks at it.
sub output {
    my ($pager, $is_text) = @_;
    return (\*STDOUT, 0) if !-t STDOUT;
    return (\*STDOUT, 1) if !$pager || !$is_text || ($ENV{TERM} // '') eq 'dumb';
    my $command = $ENV{DPROF_PAGER} // $ENV{PAGER} // 'less';
    return (\*STDOUT, 1) if $command eq '' || $command eq 'cat';
    local $ENV{LESS} = $ENV{LESS} // 'FRX';
    open my $out, '|-', $command or return (\*STDOUT, 1);
    $SIG{PIPE} = 'IGNORE';      # to the end: the report is still to be written. The pager has its own
    return ($out, 1);
}

# Output that did not arrive is an error, however it came about. A pager that was left early is none.
sub written {
    my ($tool, $out, $rc, $is_file) = @_;
    my $errno = $!;
    my $is_pager = !$is_file && fileno $out != fileno STDOUT;
    my $closed = close $out;
    return OK if $closed && $rc == 0 or $is_pager;
    print STDERR "$tool: the report could not be written: ", ($! || $errno), "\n";
    return FAILED;
}

# Opens the file that -o names. What is written takes the old file's place when placed() is called.
# Returns nothing, after a message, if the file cannot be written.
sub target {
    my ($path) = @_;
    require Devel::DProf::Write;
    my $file = Devel::DProf::Write->new($path);
    complain("$path could not be written: $!") if !$file;
    return $file;
}

# Puts what was written in its place. Returns false, after a message, if that cannot be done.
sub placed {
    my ($file, $path) = @_;
    my $why = $file->commit;
    complain("$path could not be written: $why") if defined $why;
    return !defined $why;
}

# Columns of the terminal that a report goes to; 0 where it goes elsewhere.
sub terminal_width {
    return 0 if !-t STDOUT;
    my $size = '';
    # TIOCGWINSZ, where it is known
    my %code = (linux => 0x5413, map { $_ => 0x40087468 } qw(darwin freebsd netbsd openbsd));
    if ($code{$^O} && ioctl(STDOUT, $code{$^O}, $size = "\0" x 8)) {
        my (undef, $columns) = unpack 'S2', $size;
        return $columns if $columns;
    }
    return ($ENV{COLUMNS} // '') =~ /^(\d+)$/ && $1 ? $1 : 80;
}

sub place {
    my ($o) = @_;
    return $o->{line} ? " (line $o->{line}, byte $o->{byte})" : '';
}

# Called now and then while a file is read; speaks to terminals only, and not
# before it has taken a second.
my $progress_shown;

sub progress {
    my ($path) = @_;
    return undef if !-t STDERR;
    my $name = Devel::DProf::Profile::escape($path);
    my $start = time;
    return sub {
        my ($done, $total) = @_;
        return if time - $start < 2;
        $progress_shown = 1;
        print STDERR "\r$name: ", $total ? int(100 * $done / $total) . ' %' : int($done / 1e6) . ' MB';
    };
}

sub end_progress {
    print STDERR "\r\e[K" if $progress_shown;
    $progress_shown = 0;
}

# The files to read: those named, or with `all' those of their whole runs. If the runs have files
# that are not named, one line says so, unless the tool is to be quiet.
my %told_runs;

sub of_runs {
    my ($all, $quiet, @names) = @_;
    # FILE.live and FILE.new hold what is not in FILE yet: the reader takes them with FILE.
    my %given = map { $_ => 1 } @names;
    @names = grep { my $stem = $_; !($stem =~ s/\.(?:live|new)\z//) || !$given{$stem} } @names;
    my %seen;
    return grep { !$seen{$_}++ } map { Devel::DProf::Profile::processes($_) } @names if $all;
    return @names if $quiet || $told_runs{ join "\0", @names }++;
    my $more = Devel::DProf::Profile::other_processes(@names);
    complain((@names == 1 ? "$names[0]: its run has " : "$names[0], ...: their runs have ")
        . ($more == 1 ? '1 more file, of another process or thread; --processes reads it, too'
            : "$more more files, of other processes and threads; --processes reads them, too"))
            if $more;
    return @names;
}

# What all tools say of an outcome other than 0. Returns what became of the file:
# 'cut' (short: what is there counts), 'none' (there is nothing), 'bad'.
sub told_of {
    my ($o, $quiet) = @_;
    my ($path, $code) = @$o{qw(path code)};
    if ($code == Devel::DProf::Profile::TRUNCATED) {
        my $calls = $o->{open_count} == 1 ? '1 call' : "$o->{open_count} calls";
        complain("$path: profile cut short: $o->{message}" . place($o)
            . ($o->{open_count} ? "; $calls had not ended" : '')) if !$quiet;
        return 'cut';
    }
    if ($code == Devel::DProf::Profile::CANNOT_READ && $o->{errno}) {
        local $! = $o->{errno};
        complain("Unable to open $path: $!" . (-e $path ? '' : missing($path)));
        return 'none';
    }
    if ($code == Devel::DProf::Profile::CANNOT_READ && -d $path) {
        complain("$path is a directory; name the profiles in it"
            . (-e "$path/tmon.out" ? ", such as $path/tmon.out" : ''));
        return 'none';
    }
    if ($code == Devel::DProf::Profile::NOTPROFILE) {
        complain($o->{message} =~ /^this is/ ? "$path: $o->{message}"
            : "Not a perl profile: $path" . ($o->{message} =~ /empty/ ? ' (it is empty)' : ''));
        return 'none';
    }
    if ($o->{message} =~ /^(?:Garbled|Bad) profile/) {     # the classic words stay in front
        complain("$o->{message} ($path, line $o->{line}, byte $o->{byte})");
    } else {
        complain("$path: $o->{message}" . place($o));
    }
    my ($first, @more) = @{ $o->{faults} };
    complain("$path: $_->{message}" . place($_)) for @more;
    my $rest = $o->{fault_count} - @{ $o->{faults} };
    complain("$path: ... and $rest more lines that cannot be read") if $rest;
    return 'bad';
}

# What to do about a profile that is not there; of those alone that the recorder would have named so.
sub missing {
    my ($path) = @_;
    return '; run perl -d:DProf PROGRAM first' if $path =~ m{(?:^|/)tmon\.out\z};
    return '; the recorder keeps the previous tmon.out there: run perl -d:DProf PROGRAM twice'
        if $path =~ m{(?:^|/)tmon\.out\.old\z};
    return '';
}

# What the header of a file has to say about how far it can be trusted.
sub run_loop {
    my ($path, $quiet, %header) = @_;
    return if !$header{dprof_runops_taken} || $quiet;
    complain("$path: another module took over perl's run loop: sort comparators may be missing, "
        . "and exits by die were seen late");
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool - what the command line tools share

=head1 DESCRIPTION

This module provides options, messages, progress and output. Each command has a module below this
one, such as Devel::DProf::Tool::Dprofpp, whose C<main(@ARGV)> does all the work and returns the
exit status, and whose C<option_rows> are its options as Getopt::Long takes them. All of this is
internal to this distribution.

=cut
