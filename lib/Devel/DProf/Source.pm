package Devel::DProf::Source;

# The source of a program as it was when it was recorded.

use strict;
use warnings;

use Compress::Raw::Zlib ();
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes);

our $VERSION = $Devel::DProf::Core::VERSION;

# Returns the bytes of a source as a profile recorded it: its own text, or that of a file of that
# size and CRC-32, which is the file itself, or one below the folders whose path has the same end.
# Undef: there is none.
sub text {
    my ($profile, $file, @where) = @_;
    my $kept = $profile->line_text($file);
    return $kept if defined $kept;
    my ($size, $crc) = $profile->line_source($file) or return undef;
    for my $path (places($file, @where)) {
        next if !-f $path || -s _ != $size;
        open my $in, '<:raw', $path or next;
        my $text = do { local $/; <$in> } // '';
        return $text if length $text == $size && Compress::Raw::Zlib::crc32($text) == $crc;
    }
    return undef;
}

# Returns where it may be: the folders come before the place where it was.
sub places {
    my ($file, @where) = map { bytes($_) } @_;
    my @parts = grep { length && $_ ne '.' } split m{/}, $file;
    my @ends = map { join '/', @parts[$_ .. $#parts] } 0 .. $#parts;
    return ((map { my $dir = $_; map { "$dir/$_" } @ends } @where), $file);
}

# Returns the sources that some of the sides do not have unchanged: side, file and text of each that
# is found. sides: a list of profiles each.
sub differing {
    my ($sides, @where) = @_;
    my (@files, %sides_with);
    for my $side (0 .. $#$sides) {
        my %seen;
        for my $profile (@{ $sides->[$side] }) {
            for my $source (@{ $profile->line_sources }) {
                my ($file, $size, $crc) = @$source;
                push @files, [$side, $profile, $file, "$size $crc"]
                    if !$seen{"$size $crc $file"}++;
                $sides_with{"$size $crc"}{$side} = 1;
            }
        }
    }
    my @found;
    for my $one (grep { keys %{ $sides_with{ $_->[3] } } < @$sides } @files) {
        my ($side, $profile, $file) = @$one;
        my $text = text($profile, $file, @where);
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

A profile with lines has the size and the CRC-32 of each source, and perhaps its text. This module
finds the text, or the file that has them. It is internal to this distribution.

=head1 FUNCTIONS

=over

=item text PROFILE, FILE, FOLDER, ...

The bytes of a source of a L<Devel::DProf::Profile>: what the profile itself has, or the contents of
the FILE, or of one whose path below a FOLDER has the same end, if they have the size and the CRC-32
that were recorded; or undef.

=item differing SIDES, FOLDER, ...

SIDES is a list of lists of L<Devel::DProf::Profile> objects. Returns the number of the side, the
name and the text of each source that is not the same on all sides and can be found, one after the
other.

=item places FILE, FOLDER, ...

Part of the above.

=back

=cut
