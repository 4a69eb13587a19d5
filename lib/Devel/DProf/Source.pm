package Devel::DProf::Source;

# The source of a profiled program: found, read, and compared with what was recorded.

use strict;
use warnings;

use Compress::Raw::Zlib ();
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes shown);

our $VERSION = $Devel::DProf::Core::VERSION;

# A larger file is no source that anybody reads.
use constant MOST => 16 << 20;

# Finds a source by its name in profiles that are one side. folders: those of --symfs. What a
# profile itself has goes first, then a file that is as it was recorded, then the first one of that
# name.
sub find {
    my ($class, $file, $profiles, @folders) = @_;
    my ($kept) = grep { defined } map { $_->line_text($file) } @$profiles;
    return $class->new(same => $kept) if defined $kept;
    return $class->new('generated') if $file =~ /\A(?:\(eval \d+\)|-e\z|-\z)/;
    my @digests = grep { @$_ } map { [$_->line_source($file)] } @$profiles;
    my %is_named = map { $_ => 1 } my @named = named($file, @folders);
    # The end of a path alone is not enough to go by.
    my @others = @digests ? ending($file, @folders) : ();
    my $changed;
    for my $path (@named, @others) {
        my $text = contents($path) // next;
        return $class->new(state_of($path, $profiles, \@digests), $text)
            if has_digests($text, @digests);
        $changed //= $text if $is_named{$path};
    }
    return $class->new(defined $changed ? (changed => $changed) : 'gone');
}

sub new {
    my ($class, $state, $text) = @_;
    return bless { state => $state, text => $text }, $class;
}

sub state { return $_[0]{state} }
sub text { return $_[0]{text} }

sub characters { my ($self) = @_; return defined $self->{text} ? decoded($self->{text}) : undef }

sub lines {
    my ($self) = @_;
    return undef if !defined $self->{text};
    return $self->{lines} ||= [map { s/\r\z//r } split /\n/, $self->{text}];
}

# Decodes text; bytes that are not UTF-8 are taken for Latin-1.
sub decoded {
    my ($text) = @_;
    utf8::upgrade($text) if !utf8::decode($text);
    return $text;
}

# Makes a line one that may be shown: source may hold anything, and a terminal obeys some of it.
sub printable {
    my $line = decoded($_[0]);
    1 while $line =~ s/\A([^\t]*)\t/$1 . ' ' x (8 - length($1) % 8)/e;
    return shown($line);
}

# ---- where it is, and whether it is the one ----

# Returns where a file may be, by its name: below the folders, and where the name says.
sub named {
    my ($file, @folders) = map { bytes($_) } @_;
    return ((map { "$_/$file" } @folders), $file);
}

# Returns where else it may be: below the folders by the end of its path, the longest first.
sub ending {
    my ($file, @folders) = map { bytes($_) } @_;
    my @parts = grep { length && $_ ne '.' } split m{/}, $file;
    my @ends = map { join '/', @parts[$_ .. $#parts] } 1 .. $#parts;
    return map { my $folder = $_; map { "$folder/$_" } @ends } @folders;
}

# A profile may name what no file is called: perl would warn of a NUL, and of a newline at the end.
sub contents {
    my ($path) = @_;
    no warnings qw(newline syscalls);
    return undef if !-f $path || -s _ > MOST;
    open my $in, '<:raw', $path or return undef;
    return do { local $/; <$in> } // '';
}

# Tells whether a text has all these digests, [size, CRC-32] each.
sub has_digests {
    my ($text, @digests) = @_;
    my $crc = @digests ? Compress::Raw::Zlib::crc32($text) : 0;
    return !grep { $_->[0] != length $text || $_->[1] != $crc } @digests;
}

sub state_of {
    my ($path, $profiles, $digests) = @_;
    return 'same' if @$digests == @$profiles;
    return (grep { is_newer($path, $_) } @$profiles) ? 'newer' : 'unknown';
}

# Tells whether the file has been written to since the recording began.
sub is_newer {
    my ($path, $profile) = @_;
    my %header = $profile->files ? $profile->header(0) : ();
    my ($start) = ($header{dprof_start} // '') =~ /\A(\d{1,12})(?:\.\d*)?\z/ or return 0;
    return (stat $path)[9] > $start;
}

# ---- subs in it ----

# Returns the line where a sub begins. A sub is known by its first statement; the line with its name
# is above, perhaps far above, with comments between them. is_of_others: tells whether a line has
# statements of another sub.
sub beginning_of {
    my ($self, $label, $first, $is_of_others) = @_;
    my $lines = $self->lines or return $first;
    my ($name) = ($label // '') =~ /(\w+)\z/ or return $first;
    for my $line (grep { $_ > 0 } reverse $first - 60 .. $first) {
        return $line if ($lines->[ $line - 1 ] // '') =~ /\bsub\s+(?:\w+::)*$name\b/;
        last if $line < $first && $is_of_others->($line);
    }
    return $first;
}

# Returns the line where a sub ends. Its last statement is not its end: that is the next line with a
# brace no further to the right than its beginning. If other code runs before that line, the brace
# is after the last statement.
sub end_of {
    my ($self, $label, $first, $last, $is_of_others) = @_;
    my $lines = $self->lines;
    return $last if !$lines || !defined $label;
    my ($indent) = ($lines->[ $first - 1 ] // '') =~ /\A(\s*)/;
    for my $line ($last .. $last + 20) {
        my $text = $lines->[ $line - 1 ] // return $last;
        return $line if $text =~ /\A(\s*)\}/ && length $1 <= length $indent && $line > $first;
        last if $line > $last && ($text =~ /\A\s*sub\b/ || $is_of_others->($line));
    }
    return $last;
}

# ---- two sides ----

# Returns the sources that some of the sides do not have unchanged: side, file and text of each that
# is found. sides: a list of profiles each.
sub differing {
    my ($class, $sides, @folders) = @_;
    my (@sources, %sides_with);
    for my $side (0 .. $#$sides) {
        my %seen;
        for my $profile (@{ $sides->[$side] }) {
            for my $recorded (@{ $profile->line_sources }) {
                my ($file, @digest) = @$recorded;
                push @sources, [$side, $profile, $file, "@digest"] if !$seen{"@digest $file"}++;
                $sides_with{"@digest"}{$side} = 1;
            }
        }
    }
    my @found;
    for my $one (grep { keys %{ $sides_with{ $_->[3] } } < @$sides } @sources) {
        my ($side, $profile, $file) = @$one;
        my $source = $class->find($file, [$profile], @folders);
        push @found, $side, $file, $source->text if $source->state eq 'same';
    }
    return @found;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Source - the source of a profiled program

=head1 DESCRIPTION

All tools that show sources have them from here. A profile with lines has the size and the CRC-32 of
each source, and perhaps its text. It is internal to this distribution.

=head1 METHODS

=over

=item find FILE, PROFILES, FOLDER, ...

A class method: the source that L<Devel::DProf::Profile>s of one side call FILE. The text comes from
a profile, if one has it (C<source=1>); else from FOLDER/FILE or FILE, whichever has the size and
the CRC-32 that were recorded; else from a file below a FOLDER whose path has the same end and which
has them; else from the first of FOLDER/FILE and FILE that can be read.

=item state

C<same>: it is as it was recorded. C<newer>: the profiles do not tell what it was, and it was
written to since. C<unknown>: they do not tell, and it was not. C<changed>: it is another than the
one that was recorded. Without a text: C<gone>, and C<generated>, which never was a file.

=item text, characters, lines

The text as bytes; as characters, Latin-1 where it is no UTF-8; its lines as bytes, without their
ends. Undef if there is none.

=item beginning_of LABEL, FIRST, IS_OF_OTHERS, end_of LABEL, FIRST, LAST, IS_OF_OTHERS

The first and the last line of a sub that has statements from line FIRST to LAST. IS_OF_OTHERS is a
function: does a line have statements that are no part of the sub?

=item differing SIDES, FOLDER, ...

A class method. SIDES is a list of lists of L<Devel::DProf::Profile> objects. Returns the number of
the side, the name and the text of each source that is not the same on all sides and can be found as
it was recorded, one after the other.

=back

=head1 FUNCTIONS

=over

=item printable LINE

A line, as bytes, as it may be shown: characters, without tabs, and without anything that a terminal
would obey.

=item decoded BYTES

The characters of a text.

=item named FILE, FOLDER, ..., ending FILE, FOLDER, ...

=item new STATE, TEXT, contents PATH, has_digests TEXT, DIGEST, ...

=item state_of PATH, PROFILES, DIGESTS, is_newer PATH, PROFILE

Parts of the above.

=back

=cut
