package Devel::DProf::Tool;

# What the command line tools share: messages and output.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes);

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(OK FAILED USAGE complain transient end_transient progress how_far output
                    written result saved text_width text_widths terminal_width terminal_size);

use constant { OK => 0, FAILED => 1, USAGE => 2 };

# Calls a command's main function and returns the exit status that it returns. If the function dies,
# which it should not, the status is 1: perl would exit with errno, but 2 and 3 have meanings here.
sub status {
    my ($tool, $main, @args) = @_;
    my $status = eval { $main->(@args) };
    return $status if defined $status;
    my $why = $@ =~ s/\s+\z//r =~ s/\s*\n\s*/; /gr;
    end_transient();
    complain("$tool: stopped by an unexpected error: $why");
    return FAILED;
}

# Prints a message on standard error, with characters escaped that a terminal would obey.
sub complain { end_transient(); print STDERR Devel::DProf::Profile::escape(bytes($_[0])), "\n" }

# ---- output ----

# Chooses the output of a report: on a terminal a pager, which exits at once if all fits. Returns
# the handle, and whether a person reads it. pager: whether one may be used; is_text: whether the
# report is text.
sub output {
    my ($pager, $is_text) = @_;
    return (\*STDOUT, 0) if !-t STDOUT;
    return (\*STDOUT, 1) if !$pager || !$is_text || ($ENV{TERM} // '') eq 'dumb';
    my $command = $ENV{DPROF_PAGER} // $ENV{PAGER} // 'less';
    return (\*STDOUT, 1) if $command eq '' || $command eq 'cat';
    local $ENV{LESS} = $ENV{LESS} // 'FRX';
    open my $out, '|-', $command or return (\*STDOUT, 1);
    # SIGPIPE stays ignored here, because the report has not been written yet. The pager has its own
    # handling.
    $SIG{PIPE} = 'IGNORE';
    return ($out, 1);
}

# Closes the handle of a report, and prints a message if the report could not be written. Returns
# the exit status. A pager that was left early is no error. unfinished: more output follows, and the
# handle stays open.
sub written {
    my ($tool, $out, $rc, %is) = @_;
    my $errno = $!;
    my $is_pager = !$is{file} && fileno $out != fileno STDOUT;
    my $is_out = $is{unfinished} ? $out->flush : close $out;
    return OK if $is_out && $rc == 0 or $is_pager;
    print STDERR "$tool: the report could not be written: ", ($! || $errno), "\n";
    return FAILED;
}

# Writes the result of a tool to the file that -o names, or to standard output: calls CODE with a
# handle. CODE returns 0, or anything else if it has failed, and whether the result is empty: such a
# result does not replace a file. Returns the exit status, after a message.
sub result {
    my ($tool, $path, $code) = @_;
    my ($out, $file) = (\*STDOUT);
    if (defined $path && $path ne '-') {
        if (is_profile($path)) {
            complain("$path is a profile, and is not overwritten; -o FILE names the output");
            return FAILED;
        }
        require Devel::DProf::Write;
        $file = Devel::DProf::Write->new($path) or return report_unwritten($path, $!);
        $out = $file->handle;
    }
    binmode $out;
    my ($rc, $is_nothing) = $code->($out);
    my $status = written($tool, $out, $rc, file => 1);
    return $status if !$file;
    $file->discard if $is_nothing || $status;
    my $why = $is_nothing || $status ? undef : $file->commit;
    return defined $why ? report_unwritten($path, $why) : $status;
}

# Writes a result that is a profile, as result() does, but whole or not at all, because programs
# read it. CODE returns 0, or anything else if it has failed.
sub saved {
    my ($tool, $path, $code) = @_;
    require Devel::DProf::Write;
    my $why = $path ne '-' ? Devel::DProf::Write::whole($path, $code)
        : Devel::DProf::Write::to(\*STDOUT, $code);
    return OK if !defined $why;
    return report_unwritten($path eq '-' ? 'the result' : $path, $why, $tool);
}

# Prints that a path could not be written, why, and what to do. Returns the exit status.
sub report_unwritten {
    my ($path, $why, $tool) = @_;
    complain((defined $tool ? "$tool: " : '') . "$path could not be written: $why"
        . Devel::DProf::Write::instead($path, '-o '));
    return FAILED;
}

use constant MAGIC => '#fOrTyTwO';

# Returns whether a file is a program of perl, by its name.
sub is_program { return -f $_[0] && $_[0] =~ /\.(?:pl|t|psgi)\z/i }

# Returns whether a file is a profile, which no picture or table should replace.
sub is_profile {
    my ($path) = @_;
    return 0 if !-f $path;
    open my $in, '<:raw', $path or return 0;
    my $begin = '';
    read $in, $begin, length MAGIC;
    return $begin eq MAGIC;
}

# Returns the width of text for people: COLUMNS, which is the user's choice, or the terminal's
# width. Returns 0 in a pipe, where lines may have any length.
sub text_width {
    my ($is_terminal) = @_;
    return !$is_terminal ? 0
        : ($ENV{COLUMNS} // '') =~ /^([1-9]\d*)\z/ ? $1 : terminal_width();
}

# Returns the widths of an answer: that of its lines, and, in a pipe, that of its rows, whose names
# are cut in the middle. wide: nothing is cut.
use constant PIPE_WIDTH => 132;

# Returns the options of C for the width of text, as pairs. wide: neither lines nor names are cut.
sub text_widths {
    my ($is_terminal, $wide) = @_;
    my $width = $wide ? 0 : text_width($is_terminal);
    return (width => $width, names_width => $wide || $width ? 0 : PIPE_WIDTH);
}

# Returns the columns of the terminal at the standard output, or 0 if that is no terminal.
sub terminal_width { return -t STDOUT ? (terminal_size())[0] : 0 }

# Returns columns and rows of the terminal at the standard output.
sub terminal_size {
    my $size = '';
    # This is TIOCGWINSZ, where it is known.
    my %code = (linux => 0x5413, map { $_ => 0x40087468 } qw(darwin freebsd netbsd openbsd));
    my ($rows, $columns) = $code{$^O} && ioctl(STDOUT, $code{$^O}, $size = "\0" x 8)
        ? unpack 'S2', $size : (0, 0);
    return ($columns || positive_number($ENV{COLUMNS}) || 80, $rows
        || positive_number($ENV{LINES}) || 24);
}

# Returns the number in a text, or 0.
sub positive_number { return ($_[0] // '') =~ /^(\d+)$/ ? $1 : 0 }

# ---- a transient line ----

my $is_shown;

use constant { TRANSIENT_COLUMNS => 79, QUIET_SECONDS => 1 };

# Shows a text on the terminal until the next message, in the place of the previous one.
sub transient {
    my ($text) = @_;
    $is_shown = 1;
    print STDERR "\r\e[K", substr $text, 0, TRANSIENT_COLUMNS;
    return;
}

# Returns a function that shows how far long work is, given the bytes done and the bytes in all (0:
# unknown), from the second second on. Returns undef if the standard error is no terminal.
sub progress {
    my ($name) = @_;
    return undef if !-t STDERR;
    my $shown = Devel::DProf::Profile::escape($name);
    my ($start, $last) = (time, 0);
    return sub {
        my ($done, $total) = @_;
        my $seconds = time - $start;
        # The clock may have been set back. A whole second has passed for certain when two are seen.
        return if $seconds <= QUIET_SECONDS || $seconds == $last;
        $last = $seconds;
        transient(how_far($shown, $done, $total, $seconds));
    };
}

# Returns the text of a progress message: bytes, share, rate, and the time that is left.
sub how_far {
    my ($name, $done, $total, $seconds) = @_;
    my $rate = $done / $seconds;
    return "$name: " . join ', ', $total ? sprintf('%d %%', 100 * $done / $total) : (),
        megabytes($done) . ($total ? ' of ' . megabytes($total) : ''), megabytes($rate) . '/s',
        $total && $rate ? time_left(($total - $done) / $rate) . ' left' : ();
}

# Returns bytes as text, in megabytes or gigabytes.
sub megabytes {
    my ($bytes) = @_;
    return $bytes < 1e9 ? sprintf $bytes < 9_950_000 ? '%.1f MB' : '%.0f MB', $bytes / 1e6
        : sprintf '%.1f GB', $bytes / 1e9;
}

# Returns seconds as text, in seconds or minutes.
sub time_left {
    my ($seconds) = @_;
    return $seconds < 120 ? sprintf('%.0f s', $seconds) : sprintf '%.0f min', $seconds / 60;
}

# Removes the text that transient() shows.
sub end_transient {
    print STDERR "\r\e[K" if $is_shown;
    $is_shown = 0;
    return;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Tool - what the command line tools share: messages, output

=head1 DESCRIPTION

This module provides messages and output. Each command has a module below this
one, such as Devel::DProf::Tool::Dprofpp, whose C<main(@ARGV)> does all the work and returns the
exit status (L<Devel::DProf::Tool::Options>, L<Devel::DProf::Tools>). All of this is internal to
this distribution.

=cut
