package Devel::DProf::View::Processes;

# The processes of a run, grouped by program: begin, duration and CPU time of each.

use strict;
use warnings;

use Devel::DProf::Core;
use Devel::DProf::Text qw(plural shown);
use Devel::DProf::View::Layout qw(middle);

our $VERSION = $Devel::DProf::Core::VERSION;

# Rows of processes, and the least columns for a program's name.
use constant { ROWS => 10, LEAST => 20 };

# Returns the processes of files with these headers. The files of threads and slices belong to their
# process; a program that another one has become by exec is a process of its own.
sub of_headers {
    my (%of, @all);
    for my $header (@_) {
        my $pid = $header->{dprof_pid} // '?';
        my $one = $of{ join "\0", $header->{dprof_run} // '', $pid } //= do {
            push @all, { pid => $pid, parent => $header->{dprof_ppid} // '?', cpu => 0,
                program => $header->{dprof_script} // '?' };
            $all[-1];
        };
        my ($user, $system, $real, $hz, $start)
            = map { ($_ // '') =~ /\A(\d+(?:\.\d+)?)\z/ ? $1 : 0 }
                @$header{qw(rrun_utime rrun_stime rrun_rtime hz dprof_start)};
        next if !$hz;
        $one->{cpu} += ($user + $system) / $hz;
        next if !$start;
        my $end = $start + $real / $hz;
        $one->{begin} = $start if !$one->{begin} || $start < $one->{begin};
        $one->{end} = $end if !$one->{end} || $end > $one->{end};
    }
    return @all;
}

# Returns the processes as text, those with the most CPU time first, ROWS at most. Processes of the
# same program stand together, below their number and sum. WIDTH: the columns of the text, or 0.
sub as_text {
    my ($width, @processes) = @_;
    my ($zero) = sort { $a <=> $b } map { $_->{begin} // () } @processes;
    my %group;
    push @{ $group{ $_->{program} } }, $_ for @processes;
    my %sum = map { my $name = $_; ($name => sum(@{ $group{$name} })) } keys %group;
    my @lines = (plural(scalar @processes, 'process', 'processes') . ':',
        '     CPU s    Begin s     Took s      PID   Parent  Program');
    my $left = ROWS;
    for my $name (sort { $sum{$b} <=> $sum{$a} || $a cmp $b } keys %group) {
        my @all = sort { $b->{cpu} <=> $a->{cpu} || $a->{pid} cmp $b->{pid} } @{ $group{$name} };
        my $is_group = @all > 1;
        last if !$left;
        push @lines, line($width, sprintf('%10.4f %21s %17s', $sum{$name}, @all . ' processes', ''),
            $name) if $is_group;
        my @shown = splice @all, 0, $left;
        $left -= @shown;
        push @lines, map { line($width, cells($_, $zero) . ($is_group ? '  ' : ''), $name) } @shown;
    }
    push @lines, '... and ' . (@processes - ROWS) . ' more' if @processes > ROWS;
    return join '', map { "$_\n" } @lines;
}

sub sum {
    my $sum = 0;
    $sum += $_->{cpu} for @_;
    return $sum;
}

# Returns the cells in front of a process's program; times count from ZERO, when the run began.
sub cells {
    my ($one, $zero) = @_;
    my @times = !$one->{begin} ? ('-', '-')
        : map { sprintf '%.4f', $_ } $one->{begin} - $zero, $one->{end} - $one->{begin};
    return sprintf '%10.4f %10s %10s %8s %8s', $one->{cpu}, @times, @$one{qw(pid parent)};
}

# Returns a line whose name is cut in the middle to the width.
sub line {
    my ($width, $cells, $name) = @_;
    my $room = $width - length($cells) - 2;
    my $text = shown($name);
    return "$cells  " . ($width ? middle($text, $room > LEAST ? $room : LEAST) : $text);
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::View::Processes - the processes of a run

=head1 DESCRIPTION

C<dprof run> and C<dprofreport --processes> list the processes of a run. Programs are named as
C<$dprof_script> names them: headers hold no arguments, which may be secrets. This module is
internal to this distribution.

=head1 FUNCTIONS

=over

=item of_headers HEADER, ...

The processes whose files have these headers, as hashes: pid, parent, program, cpu (seconds), begin
and end (seconds since 1970), if the headers say these.

=item as_text WIDTH, PROCESS, ...

The processes as lines of at most WIDTH characters, if that is not 0.

=back

=cut
