package Devel::DProf::Sides;

# Values of options that tools that compare share.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Tool qw(bytes text list_of);

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(windows renames);

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
