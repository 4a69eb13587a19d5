package Devel::DProf::Tool;

# What the command line tools share: messages, options, output.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Profile;

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(OK FAILED USAGE ABOUT env_words complain bytes text transient end_transient
                    parsed about list_of pattern output written target placed usage
                    terminal_width);

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
    end_transient();
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

# ---- a line that passes ----

my $is_shown;

# What a terminal shows until something else is to be said.
sub transient {
    my ($text) = @_;
    $is_shown = 1;
    print STDERR "\r$text";
    return;
}

sub end_transient {
    print STDERR "\r\e[K" if $is_shown;
    $is_shown = 0;
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool - what the command line tools share

=head1 DESCRIPTION

This module provides options, messages and output. Each command has a module below this
one, such as Devel::DProf::Tool::Dprofpp, whose C<main(@ARGV)> does all the work and returns the
exit status, and whose C<option_rows> are its options as Getopt::Long takes them. All of this is
internal to this distribution.

=cut
