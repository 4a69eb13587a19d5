package Devel::DProf::Source;

# The source of a program as it was when it was recorded.

use strict;
use warnings;

use Compress::Raw::Zlib ();
use Devel::DProf::Profile;

our $VERSION = $Devel::DProf::Core::VERSION;

# The bytes of a file of that size and CRC-32: of the file itself, or of one below the folders whose
# path has the same end. Undef: there is none.
sub text {
    my ($file, $size, $crc, @where) = @_;
    for my $path (places($file, @where)) {
        next if !-f $path || -s _ != $size;
        open my $in, '<:raw', $path or next;
        my $text = do { local $/; <$in> } // '';
        return $text if length $text == $size && Compress::Raw::Zlib::crc32($text) == $crc;
    }
    return undef;
}

# Where it may be: the folders before the place where it was.
sub places {
    my ($file, @where) = @_;
    my @parts = grep { length && $_ ne '.' } split m{/}, $file;
    my @ends = map { join '/', @parts[$_ .. $#parts] } 0 .. $#parts;
    return ((map { my $dir = $_; map { "$dir/$_" } @ends } @where), $file);
}

# The sources that some of the sides do not have as they are: side, file and text of each that is
# found. sides: a list of profiles each.
sub differing {
    my ($sides, @where) = @_;
    my (@files, %sides_with);
    for my $side (0 .. $#$sides) {
        my %seen;
        for my $source (map { @{ $_->line_sources } } @{ $sides->[$side] }) {
            next if $seen{ join ' ', @$source }++;
            push @files, [$side, @$source];
            $sides_with{"@$source[1, 2]"}{$side} = 1;
        }
    }
    my @found;
    for my $one (grep { keys %{ $sides_with{"@$_[2, 3]"} } < @$sides } @files) {
        my ($side, $file, $size, $crc) = @$one;
        my $text = text($file, $size, $crc, @where);
        push @found, $side, $file, $text if defined $text;
    }
    return @found;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Source - the source of a program as it was when it was recorded

=head1 DESCRIPTION

A profile with lines has the size and the CRC-32 of each source. This module finds the file that has
them. It is internal to this distribution.

=head1 FUNCTIONS

=over

=item text FILE, SIZE, CRC, FOLDER, ...

The bytes of the FILE, or of one whose path below a FOLDER has the same end, if they have that SIZE
and CRC; or undef.

=item differing SIDES, FOLDER, ...

SIDES is a list of lists of L<Devel::DProf::Profile> objects. Returns the number of the side, the
name and the text of each source that is not the same on all sides and can be found, one after the
other.

=item places FILE, FOLDER, ...

Part of the above.

=back

=cut
