package Devel::DProf::Outcome;

# What became of a file that was read: a verdict in one word, and the messages about the file. Most
# files are fine, and do not need this module.

use strict;
use warnings;

use Devel::DProf::Profile;
use Devel::DProf::Text qw(plural meant);

our $VERSION = $Devel::DProf::Core::VERSION;

# Returns one word about a file that was read, from its outcome: fine; open: calls have not ended;
# cut: the end is missing; part: it was read up to damage; bad: nothing of the profile could be
# read; none: it is no profile.
sub verdict {
    my ($o) = @_;
    my $code = $o->{code};
    return $o->{open_count} ? 'open' : 'fine' if !$code;
    return 'cut' if $code == Devel::DProf::Profile::TRUNCATED;
    return 'none' if $code == Devel::DProf::Profile::NOTPROFILE;
    return 'none'
        if $code == Devel::DProf::Profile::CANNOT_READ && ($o->{sys_errno} || -d $o->{path});
    return $o->{marks} + $o->{contexts} > 0 ? 'part' : 'bad';
}

# Returns the messages of all tools about an outcome; ADVISES: with what to type instead.
sub lines {
    my ($o, $what, $advises) = @_;
    my $path = $o->{path};
    my $open = plural($o->{open_count}, 'call');
    return () if $what eq 'fine';
    return "$path: $open had not ended" if $what eq 'open';
    return (left_out($o), $o->{fault_count} && $o->{message} eq $o->{faults}[0]{message} ? ()
        : "$path: " . how_it_ended($o) . ($o->{open_count} ? "; $open had not ended" : ''))
        if $what eq 'cut';
    return no_profile($o, $advises) if $what eq 'none';
    # The classic words come first.
    my $first = $o->{message} =~ /^(?:Garbled|Bad) profile/
        ? "$o->{message} ($path, line $o->{line}, byte $o->{byte})"
        : "$path: $o->{message}" . place_in_file($o);
    my (undef, @more) = @{ $o->{faults} };
    my $rest = $o->{fault_count} - @{ $o->{faults} };
    $first .= '; record it again'
        if $advises && $what eq 'bad' && $first =~ /\b(?:damaged|break off)\b/;
    return ($first, (map { "$path: $_->{message}" . place_in_file($_) } @more),
        $rest ? "$path: ... and $rest more lines that cannot be read" : ());
}

# Returns why a profile has no end, after the words of the classic tools; or that its program still
# runs, which cuts nothing short.
sub how_it_ended {
    my ($o) = @_;
    my $cut = "profile cut short: $o->{message}" . place_in_file($o);
    return $cut if !has_no_end($o);
    my %header = Devel::DProf::Input::header_of($o->{path});
    return "profile cut short: the recorder could not write the rest: $header{dprof_unwritten}"
        if defined $header{dprof_unwritten};
    my $pid = writer_of($o->{path}, \%header) // return $cut;
    return $pid ? "process $pid still runs; the figures are those up to now"
        : 'profile cut short: the program was killed, or crashed';
}

# Returns whether the recording did not come to its end, in a file that can be read again.
sub has_no_end {
    my ($o) = @_;
    return 0 if $o->{foreign} || $o->{message} ne 'the recording did not come to its end'
        || !-f $o->{path};
    require Devel::DProf::Input;
    return 1;
}

# Returns the number of the process that still writes the profile, or 0.
sub running {
    my ($o) = @_;
    return 0 if !has_no_end($o);
    return writer_of($o->{path}, { Devel::DProf::Input::header_of($o->{path}) }) || 0;
}

# Returns the number of the process that writes a profile: that in the header, if the process has
# the file open. 0: that process is gone. Undef: /proc does not show it, for example because the
# process is another user's.
sub writer_of {
    my ($path, $header) = @_;
    return undef if !-d "/proc/$$/fd";
    my $pid = ($header->{dprof_pid} // '') =~ /\A([1-9]\d{0,9})\z/ ? $1 : return undef;
    return 0 if !-d "/proc/$pid";
    opendir my $in, "/proc/$pid/fd" or return undef;
    my @here = stat $path or return undef;
    for my $fd (grep { /\A\d+\z/ } readdir $in) {
        my @there = stat "/proc/$pid/fd/$fd" or next;
        return $pid if $there[0] == $here[0] && $there[1] == $here[1];
    }
    return 0;
}

# Returns a message for each line of a tree that was left out. The classic words come first.
sub left_out {
    my ($o) = @_;
    return map { "$_->{message} ($o->{path}, line $_->{line}, byte $_->{byte}); it is left out" }
        @{ $o->{faults} };
}

use constant EMPTY_NAME => 'a name of a file is empty; is a variable of the shell not set?';

# Returns the message for a path that could not be read at all, with what the user may have meant.
sub no_profile {
    my ($o, $advises) = @_;
    my $path = $o->{path};
    return EMPTY_NAME if !length $path;
    if ($o->{code} == Devel::DProf::Profile::NOTPROFILE) {
        return "$path: $o->{message}" if $o->{message} =~ /^this is/;
        return "Not a perl profile: $path" . (is_empty($o) ? ' (it is empty)' : '')
            . (!$advises ? '' : record($path =~ /\.(?:pl|pm|t|psgi)\z/i ? $path : 'PROGRAM'));
    }
    return of_folder($path) if !$o->{sys_errno};
    local $! = $o->{sys_errno};
    return "Unable to open $path: $!" . (!$advises ? '' : -e $path ? barred($path)
        : instead_of($path));
}

sub record { return "; dprof run -- perl $_[0] records one" }

# Returns the message for a folder in the place of a profile.
sub of_folder {
    my ($path) = @_;
    return "$path is a directory; name the profiles in it, such as $path/tmon.out"
        if -e "$path/tmon.out";
    opendir my $in, $path or return "$path is a directory; name a profile";
    my $has_files = grep { -f "$path/$_" } readdir $in;
    return "$path is a directory" . ($has_files ? "; name the profiles in it: $path/*"
        : ', and has no profiles' . record('PROGRAM'));
}

# Returns how a file that may not be read can be read.
sub barred {
    my ($path) = @_;
    return $!{EACCES} && !-r $path ? "; chmod a+r lets you read it: ask its owner" : '';
}

# Returns what to type in place of the name of a missing file.
sub instead_of {
    my ($path) = @_;
    return "; dprofattach $path samples that process" if $path =~ /\A[1-9]\d*\z/ && kill 0, $path;
    return how_to_record($path) || similar_file($path) || record('PROGRAM');
}

# Returns whether the file is empty: its process has recorded nothing.
sub is_empty { return $_[0]{message} =~ /empty/ ? 1 : 0 }

# Returns where in the file an error is, in parentheses, or ''. A file of another tool may have no
# lines. In a profile that was cut short, the byte at which it ends helps nobody.
sub place_in_file {
    my ($o) = @_;
    return $o->{line} ? " (line $o->{line}, byte $o->{byte})"
        : $o->{byte} && ($o->{foreign} || $o->{code} != Devel::DProf::Profile::TRUNCATED)
            ? " (byte $o->{byte})" : '';
}

# Returns the end of a message about a missing file: how to record it, if the recorder would give it
# that name.
sub how_to_record {
    my ($path) = @_;
    return '; run perl -d:DProf PROGRAM first' if $path =~ m{(?:^|/)tmon\.out\z};
    return '; run perl -d:DProf PROGRAM twice to get it'
        if $path =~ m{(?:^|/)tmon\.out\.old\z};
    return '';
}

# Returns the end of a message about a missing file: which file of the folder may have been meant,
# or ''.
sub similar_file {
    my ($path) = @_;
    my ($dir, $name) = $path =~ m{\A(.*/)?([^/]+)\z}s or return '';
    $dir //= './';
    opendir my $in, $dir or return '';
    my $meant = meant($name, grep { -f "$dir$_" } readdir $in);
    return length $meant ? "; $meant" : '';
}

# Returns why a file cannot be used, or not completely, for messages that name the file elsewhere.
sub reason {
    my ($o) = @_;
    if ($o->{code} == Devel::DProf::Profile::CANNOT_READ && $o->{sys_errno}) {
        local $! = $o->{sys_errno};
        return "$!";
    }
    my $is_cut = $o->{code} == Devel::DProf::Profile::TRUNCATED && !$o->{fault_count};
    return ($is_cut ? 'it was cut short: ' : '')
        . ($o->{message} || 'not a profile');
}

# Returns by how much CPU time exceeds the time that passed by the other clock, in percent of the
# recording's CPU time; undef if the header does not say, or the recording is too short. The clocks
# of threads and of forked children begin after these have used CPU time.
use constant TOO_SHORT => 1;           # second of CPU time

# Returns by how many percent more CPU time was counted than time has passed, or undef if the header
# does not show it: of a thread, a child, or a recording that is too short.
sub disagreement {
    my ($header) = @_;
    my ($user, $sys, $own, $lost) = map { $_ // 0 }
        @$header{qw(rrun_utime rrun_stime dprof_own_cpu dprof_dropped_cpu)};
    return undef if !defined $header->{dprof_own_cpu}
        || grep { !/\A\d{1,18}\z/ } $user, $sys, $own, $lost;
    my $all = $user + $sys + $own;
    return undef if $header->{dprof_tid} || $header->{dprof_inherited};
    my ($hz) = ($header->{hz} // '') =~ /\A([1-9]\d{0,11})\z/ or return undef;
    return $all >= TOO_SHORT * $hz ? 100 * $lost / $all : undef;
}

use constant { WORTH_SAYING => 3, MANY_GIVEN_UP => 1 };         # percent

# Returns the percentage of samples from outside that were given up, of all that were due in the
# time that the file has; or undef if it has no such samples.
sub given_up {
    my ($header) = @_;
    my ($lost, $hz, $real) = map { ($_ // '') =~ /\A(\d{1,18})\z/ ? $1 : 0 }
        @$header{qw(dprof_given_up hz rrun_rtime)};
    my ($rate) = ($header->{dprof_options} // '') =~ /\bsample=(\d{1,6})\b/;
    return $rate && $hz && $real ? 100 * $lost / ($rate * $real / $hz) : undef;
}

# Returns the reasons in a header to doubt the file's numbers, as texts for messages that name the
# file.
sub doubts {
    my (%header) = @_;
    my $off = disagreement(\%header) // 0;
    my $given_up = given_up(\%header) // 0;
    return ($header{dprof_runops_taken} ? "another module took over perl's run loop: sort "
        . 'comparators may be missing, and exits by die were seen late' : (),
        $off > WORTH_SAYING
        ? sprintf('user and system times are up to %.1f %% too small: the CPU clock counted that '
            . 'much more than the clock of real time; dproflist --clock says more', $off) : (),
        defined $header{dprof_left_out} ? 'there is no room for these counters: '
        . $header{dprof_left_out} : (),
        $given_up > MANY_GIVEN_UP
        ? sprintf('%.1f %% of the samples could not be read, and their time is in the next ones; '
            . 'dprofattach --pause loses fewer', $given_up) : ());
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Outcome - what became of a file, and the messages about it

=head1 DESCRIPTION

The messages of all tools and libraries of this distribution about files that are not as they should
be. L<Devel::DProf::Input/report_outcome> prints them. It is internal to this distribution.

=head1 FUNCTIONS

An OUTCOME is what L<Devel::DProf::Profile/outcome> returns.

=over

=item verdict OUTCOME

One word. C<fine>; C<open>: all was read, and calls had not ended; C<cut>: the file ends too early,
or lines of a tree were left out, and the rest counts; C<part>: something was read in spite of
faults; C<bad>: nothing was read; C<none>: there is no profile.

=item lines OUTCOME, WORD [, ADVISES]

The messages about a file with that verdict, as lines. With ADVISES, they say what to type instead.

=item instead_of PATH

What to type in place of the name of a file that is missing, for the end of a message.

=item of_folder PATH

The message about a folder in the place of a profile.

=item reason OUTCOME

Why a file cannot be used, or not completely: text without the file's name.

=item running OUTCOME

The number of the process that still writes the file, or 0.

=item is_empty OUTCOME

Whether the file is empty.

=item doubts HEADER

The doubts about a file's numbers that its header (names and values) gives rise to: texts without
the file's name.

=back

=cut
