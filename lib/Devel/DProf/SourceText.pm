package Devel::DProf::SourceText;

# The sources that a page shows are found, read, and compared with those that were recorded.

use strict;
use warnings;

use Devel::DProf::Lines;
use Devel::DProf::Text qw(bytes);

our $VERSION = $Devel::DProf::Core::VERSION;

# Returns, for profiles that are one side, [file, text, state] of each file that they have places
# in. where: folders that the files may be below.
sub of_profiles {
    my ($profiles, @where) = @_;
    my %of;
    for my $profile (@$profiles) {
        push @{ $of{$_} }, $profile for @{ $profile->line_files };
    }
    return map { [$_, read_one($_, $of{$_}, @where)] } sort keys %of;
}

# Returns the text, as characters, and its state: same, as recorded; newer, probably changed since;
# unknown, as nothing tells what was recorded. Without a text: changed, gone; generated, as it never
# was a file.
sub read_one {
    my ($file, $profiles, @where) = @_;
    my $name = bytes($file);
    my @folders = map { bytes($_) } @where;
    my ($kept) = grep { defined } map { $_->line_text($name) } @$profiles;
    return (characters($kept), 'same') if defined $kept;
    return ('', 'generated') if $name =~ /\A(?:\(eval \d+\)|-e\z|-\z)/;
    my ($text, $is_another, $path)
        = Devel::DProf::Lines::text_of($profiles->[0], $name, @folders) or return ('', 'gone');
    my @another = ($is_another, map { Devel::DProf::Lines::is_another($_, $name, $text) }
        @$profiles[1 .. $#$profiles]);
    return ('', 'changed') if grep { $_ } @another;
    my $state = !(grep { !defined } @another) ? 'same'
        : (grep { is_newer($path, $_) } @$profiles) ? 'newer' : 'unknown';
    return (characters($text), $state);
}

# Decodes text; bytes that are not UTF-8 are taken for Latin-1.
sub characters {
    my ($text) = @_;
    utf8::upgrade($text) if !utf8::decode($text);
    return $text;
}

# Whether the file has been written to since the recording began.
sub is_newer {
    my ($path, $profile) = @_;
    my %header = $profile->files ? $profile->header(0) : ();
    my ($start) = ($header{dprof_start} // '') =~ /\A(\d{1,12})(?:\.\d*)?\z/ or return 0;
    return (stat $path)[9] > $start;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::SourceText - the sources that a page shows

=head1 DESCRIPTION

What L<dprofflame> and L<dprofhtml> put into a page. It is internal to this distribution.

=head1 FUNCTIONS

=over

=item of_profiles PROFILES, FOLDER, ...

Of L<Devel::DProf::Profile>s that are one side: a list of [file, text, state], a row for each file
that the profiles have places in.

=item read_one FILE, PROFILES, FOLDER, ...

The text of one file, as characters, and its state: C<same>, as it was recorded; C<newer>, written
to since; C<unknown>, as the profile does not tell what the file was. Without a text: C<changed>,
C<gone>, C<generated>.

=item characters BYTES

The characters of a text.

=item is_newer PATH, PROFILE

Has a file been written to since the recording began?

=back

=cut
