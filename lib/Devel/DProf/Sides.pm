package Devel::DProf::Sides;

# Which files a side is: what tools that compare share.

use strict;
use warnings;

use Exporter 'import';
use File::Glob ();
use Devel::DProf::Profile;
use Devel::DProf::Tool qw(complain bytes text list_of told_of run_loop of_runs);

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(side paths told windows renames);

# The side of that name: { name, runs => [[path, ...], ...] }. With `quiet' no message says that the
# runs have more files. Returns undef, after a message, if there are no such files.
sub side {
    my ($name, $processes, $quiet) = @_;
    my @paths = paths($name);
    of_runs(0, $quiet, @paths) if !$processes;
    return { name => text($name), runs => runs($processes, @paths) } if @paths;
    complain(length $name ? "$name: no files match" : 'an empty name is not a file');
    return undef;
}

# The files of a side: separated by commas, with wildcards; without what belongs to others of them.
sub paths {
    my ($name) = @_;
    return $name if $name eq '-' || (-e $name && !-d _);
    return grep { -f && !/\.(?:live|new)\z/ } File::Glob::bsd_glob(($name =~ s/([\\*?\[\]{}~])/\\$1/gr) . '/*') if -d $name;
    my %seen;
    my @paths = grep { !$seen{$_}++ } map { -e $_ || !/[*?\[{]/ ? $_ : File::Glob::bsd_glob($_) } grep { length } split /,(?![^{]*\})/, $name;
    return grep { my $stem = $_; !($stem =~ s/\.(?:live|new)\z//) || !-e $stem } @paths;
}

# Files of one run are one: those that have its id. A copy of a recording does not count twice.
sub runs {
    my ($processes, @paths) = @_;
    my (%run_of, @runs, %seen, %recording);
    for my $path (@paths) {
        next if $seen{$path};
        my %header = @paths > 1 && $path ne '-' && -f $path ? Devel::DProf::Profile::header_of($path) : ();
        my $id = $header{dprof_run} // '';
        my $recording = join ' ', map { $_ // '' } @header{qw(dprof_run dprof_pid dprof_tid)};
        if (length $id && !$header{dprof_merged} && defined $recording{$recording}) {
            complain("$path is the same recording as $recording{$recording}, and is left out");
            next;
        }
        $recording{$recording} = $path;
        my $run = length $id ? $run_of{$id} : undef;
        if (!$run) {
            push @runs, $run = [];
            $run_of{$id} = $run if length $id;
        }
        push @$run, grep { !$seen{$_}++ } $processes ? Devel::DProf::Profile::processes($path) : $path;
    }
    return \@runs;
}

# Says what is to be said of a file. Returns fine, cut or bad.
sub told {
    my ($force, $o, $header) = @_;
    run_loop($o->{path}, $force, %$header);
    my $frames = $o->{open_count} == 1 ? '1 call' : "$o->{open_count} calls";
    complain("$o->{path}: $frames had not ended") if !$o->{code} && $o->{open_count} && !$force;
    return 'fine' if !$o->{code};
    my $what = told_of($o, $force);
    return 'cut' if $what eq 'cut';
    return $force && $what eq 'bad' && $o->{marks} + $o->{contexts} > 0 ? 'cut' : 'bad';
}

# ---- options ----

# --time: for each side, behind a colon, ranges: START,STOP in seconds, either of them may be missing; or A%-B%, A%/N
# (the N-th slice of A %), several with commas.
sub windows {
    my ($text) = @_;
    return [map { length $_ ? ranges($_) : undef } split /:/, $text, -1];
}

sub ranges {
    my ($text) = @_;
    my $number = qr/\d+(?:\.\d*)?|\.\d+/;
    my @ranges;
    if ($text =~ /^($number)?,($number)?\z/ && (defined $1 || defined $2)) {
        @ranges = [$1 // 0, $2, 0];
    } else {
        for my $slice (split /,/, $text, -1) {
            if ($slice =~ /^($number)%-($number)%\z/) { push @ranges, [$1, $2, 1] }
            elsif ($slice =~ m{^($number)%/(\d+)\z} && $2) { push @ranges, [$1 * ($2 - 1), $1 * $2, 1] }
            else { die "--time: `$slice' is none of START,STOP (seconds), A%-B% and A%/N\n" }
        }
    }
    @ranges = sort { $a->[0] <=> $b->[0] } @ranges;
    for my $i (0 .. $#ranges) {
        my ($from, $to, $percent) = @{ $ranges[$i] };
        die "--time: $text: nothing lies between these times\n" if defined $to && $from >= $to;
        die "--time: $text: the file ends at 100 %\n" if $percent && $to > 100;
        die "--time: $text: slices overlap\n" if $i && $from < $ranges[ $i - 1 ][1];
    }
    return \@ranges;
}

# OLD=NEW, or file://NAME with one of them on each line.
sub renames {
    my ($text) = @_;
    my @lines = $text =~ m{^file://} ? list_of('--map', $text) : text($text);
    return map {
        my @pair = /^\s*([^=\s]+)\s*=\s*([^=\s]+)\s*\z/ or die "--map: `" . bytes($_) . "' is not OLD=NEW\n";
        die "--map: $_: a package ends in :: on both sides\n" if ($pair[0] =~ /::\z/) != ($pair[1] =~ /::\z/);
        @pair;
    } @lines;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Sides - the files of a side

=head1 DESCRIPTION

This module maps the names of sides to their files, and prints messages about these. L<dprofdiff>,
L<dproffold> and L<dprofflame> share it. It is internal to this distribution.

=cut
