package Devel::DProf::View::Source;

# Finds and reads the source of a profiled program, and compares it with the recorded digest.
#
# A profile may come from a stranger and may name any file of the user who reads it. What the tools
# print or put into a page may go to strangers. So a text is taken from a file only in one of three
# cases. The user has named a folder that contains the file. Or the file is one of perl's own
# modules. Or the profile has the size and the CRC-32 of that very text, so its maker had the text.
# The recorder notes size and CRC-32 of each source except perl's own modules, so users need to name
# no folder for profiles of their own. The owner of a file, or a header that names this machine,
# would prove nothing: a download can have both. A secret key of the user would prove it, but each
# recorded program would have to read the key.

use strict;
use warnings;

use Compress::Raw::Zlib ();
use Config;
use Hash::Util::FieldHash qw(fieldhash);
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes shown);

our $VERSION = $Devel::DProf::Core::VERSION;

# Source files are smaller than this; larger files are not read.
use constant MOST => 16 << 20;

# Returns the source of a file that the profiles of one side name, an object of this class. A text
# in a profile comes first, then an unchanged file, then the first file of that name. folders: those
# that the user has named.
sub find {
    my ($class, $file, $profiles, @folders) = @_;
    no warnings qw(newline syscalls);   # a profile may contain names that no file can have
    my ($kept) = grep { defined } map { $_->line_text($file) } @$profiles;
    return $class->new(same => $kept) if defined $kept;
    return $class->new('generated') if $file =~ /\A(?:\(eval \d+\)|-e\z|-\z)/;
    my @digests = grep { @$_ } map { [$_->line_source($file)] } @$profiles;
    my %is_named = map { $_ => 1 } my @named = named($file, @folders);
    # The end of a path alone is not enough to go by.
    my @others = @digests ? ending($file, @folders) : ();
    my ($changed, $state);
    for my $path (@named, @others) {
        my $real = below($path, @folders) // own_module($path);
        # Without a folder or a digest, nothing can vouch for the file.
        if (!defined $real && !@digests) {
            $state //= 'kept out' if -f $path;
            next;
        }
        my $text = contents($real // $path) // next;
        my $is_same = has_digests($text, @digests);
        return $class->new(state_of($path, $profiles, \@digests), $text)
            if $is_same && (defined $real || is_vouched_for($path, $text, $profiles));
        next if !$is_named{$path};
        $changed //= $text if defined $real;
        $state //= $is_same ? 'kept out' : 'changed';
    }
    my $self = $class->new(defined $changed ? (changed => $changed) : $state // 'gone');
    $self->{is_known} = @digests > 0;
    return $self;
}

# Makes a source with a state (same, changed, gone, generated ...) and, if it is known, a text.
sub new {
    my ($class, $state, $text) = @_;
    return bless { state => $state, text => $text }, $class;
}

sub state { return $_[0]{state} }
sub text { return $_[0]{text} }

# Returns whether the profiles have the digest of a source without a text.
sub is_known { return $_[0]{is_known} }

# Returns the text decoded, or undef.
sub characters { my ($self) = @_; return defined $self->{text} ? decoded($self->{text}) : undef }

# Returns a reference to a list of the text's lines, in bytes without their ends, or undef if there
# is no text.
sub lines {
    my ($self) = @_;
    return undef if !defined $self->{text};
    return $self->{lines} ||= [map { s/\r\z//r } split /\n/, $self->{text}];
}

# Returns bytes decoded as UTF-8, or as Latin-1 if they are no UTF-8.
sub decoded {
    my ($text) = @_;
    utf8::upgrade($text) if !utf8::decode($text);
    return $text;
}

# Returns a line of source as it is shown: decoded, without tabs, and without control characters,
# which a terminal would obey.
sub printable {
    my $line = decoded($_[0]);
    1 while $line =~ s/\A([^\t]*)\t/$1 . ' ' x (8 - length($1) % 8)/e;
    return shown($line);
}

# ---- where the file is, and whether it is the recorded one ----

# Returns the paths that a file may have by its whole name: below each of the folders, and the name
# itself.
sub named {
    my ($file, @folders) = map { bytes($_) } @_;
    return ((map { "$_/$file" } @folders), $file);
}

# Returns more paths that a file may have: the ends of its name below each of the folders, longest
# first.
sub ending {
    my ($file, @folders) = map { bytes($_) } @_;
    my @parts = grep { length && $_ ne '.' } split m{/}, $file;
    my @ends = map { join '/', @parts[$_ .. $#parts] } 1 .. $#parts;
    return map { my $folder = $_; map { "$folder/$_" } @ends } @folders;
}

# Returns the path of an existing file without symbolic links, if that is below one of the folders.
sub below {
    my ($path, @folders) = @_;
    return undef if !@folders || $path =~ /\0/;
    require Cwd;
    my $real = Cwd::abs_path($path) // return undef;
    for my $folder (grep { defined } map { Cwd::abs_path(bytes($_)) } @folders) {
        my $begin = $folder =~ s{/*\z}{/}r;
        return $real if substr($real, 0, length $begin) eq $begin;
    }
    return undef;
}

# Returns that path if the file is one of perl's own modules. Some systems have a part of them in a
# folder that %Config does not name. That folder contains strict, which comes only with perl.
sub own_module {
    my ($path) = @_;
    return undef if $path !~ /\.p[lm]\z/;
    return below($path, grep { m{\A/} } @Config{qw(privlibexp archlibexp)},
        $INC{'strict.pm'} =~ s{/strict\.pm\z}{}r);
}

# The digest that a profile has first given for a file: {PROFILE}{DEVICE:INODE}.
fieldhash my %guesses;

# Returns whether the profiles, which have this text's digest, vouch for it. The text has to be
# Perl, because a stranger may guess the digest of a short secret. A stranger may guess only once:
# if a profile has several digests for a file under several names, only the first digest counts.
sub is_vouched_for {
    my ($path, $text, $profiles) = @_;
    return 0 if !is_perl($path, $text);
    my $inode = join ':', (stat $path)[0, 1];
    my $digest = join ':', length $text, Compress::Raw::Zlib::crc32($text);
    return !grep { ($guesses{$_}{$inode} //= $digest) ne $digest } @$profiles;
}

# Returns whether a text looks like Perl, by the file's name, its first line, or a statement.
sub is_perl {
    my ($path, $text) = @_;
    return 1 if $path =~ /\.(?:pl|pm|t|psgi|f?cgi|al|ph|plx|xs|ep)\z/i || $text =~ /\A#!.*perl/;
    return substr($text, 0, 1 << 16)
        =~ /^[ \t%]*(?:use|no|package|sub|my|our|require|BEGIN)\b[^\n]*[;{]/m;
}

# Returns the bytes of a file, or undef. A profile may contain names with a NUL or with a newline at
# the end, which perl would warn about.
sub contents {
    my ($path) = @_;
    no warnings qw(newline syscalls);
    return undef if !-f $path || -s _ > MOST;
    open my $in, '<:raw', $path or return undef;
    return do { local $/; <$in> } // '';
}

# Returns whether a text has all these digests, [size, CRC-32] each.
sub has_digests {
    my ($text, @digests) = @_;
    my $crc = @digests ? Compress::Raw::Zlib::crc32($text) : 0;
    return !grep { $_->[0] != length $text || $_->[1] != $crc } @digests;
}

# Returns the state of a file whose text has all known digests: same, or, if a profile has no
# digest, newer or unknown.
sub state_of {
    my ($path, $profiles, $digests) = @_;
    return 'same' if @$digests == @$profiles;
    return (grep { is_newer($path, $_) } @$profiles) ? 'newer' : 'unknown';
}

# Returns whether the file has been written to since the recording began.
sub is_newer {
    my ($path, $profile) = @_;
    my %header = $profile->files ? $profile->header(0) : ();
    my ($start) = ($header{dprof_start} // '') =~ /\A(\d{1,12})(?:\.\d*)?\z/ or return 0;
    return (stat $path)[9] > $start;
}

# ---- subs in it ----

# Returns the line where a sub begins. The profile has the line of its first statement; the line
# with its name is up to 60 lines above that. is_of_others returns whether a line has statements of
# another sub.
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

# Returns the line where a sub ends: the first line from its last statement on that closes its first
# brace, or that begins with a brace no further to the right than its first line. If other code
# comes before such a line, the sub ends with its last statement. In samples, the statements after
# the last one and those behind the sub may be unknown.
sub end_of {
    my ($self, $label, $first, $last, $is_of_others) = @_;
    my $lines = $self->lines;
    return $last if !$lines || !defined $label;
    my ($indent) = ($lines->[ $first - 1 ] // '') =~ /\A(\s*)/;
    my ($depth, $is_closed) = (0, 0);
    for my $line ($first .. $last + 20) {
        my $text = $lines->[ $line - 1 ] // return $last;
        my $brackets = brackets($text, $line == $first);
        $depth += $_ eq '{' ? 1 : -1 for split //, $brackets;
        my $closes = $depth <= 0 && $brackets =~ /\}/;
        return $line if $closes && $line >= $last && !$is_closed;
        $is_closed ||= $closes;         # text that looks like a brace has misled the count
        next if $line < $last;
        return $line if $text =~ /\A(\s*)\}/ && length $1 <= length $indent && $line > $first;
        last if $line > $last && ($text =~ /\A\s*sub\b/ || $is_of_others->($line));
    }
    return $last;
}

# Returns the braces of a line, without those of simple strings, of comments and behind backslashes.
# A sub's first line counts from `sub` on.
sub brackets {
    my ($text, $is_first) = @_;
    $text =~ s/\A.*?\bsub\b//s if $is_first;
    $text =~ s/\\.//gs;
    $text =~ s/"[^"]*"|'[^']*'//g;
    $text =~ s/(?:\A|\s)#.*//s;
    return $text =~ tr/{}//cdr;
}

# ---- two sides ----

# Returns the sources that differ between the sides: side, file and text of each that is found as it
# was recorded. sides: a list of profiles each.
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

Devel::DProf::View::Source - finds and reads the sources of a profiled program

=head1 DESCRIPTION

All tools that show sources get them from this module. A profile with lines has the size and the
CRC-32 of each source, and perhaps its text. The module is internal to this distribution.

=head1 METHODS

=over

=item find FILE, PROFILES, FOLDER, ...

A class method: returns the source that L<Devel::DProf::Profile>s of one side call FILE. The FOLDERs
are those that the user has named. The text comes from the first of these:

=over

=item a profile that contains it (C<source=1>)

=item FOLDER/FILE or FILE, if it has the recorded size and CRC-32

=item a file below a FOLDER whose path has the same end, if it has them

=item the first of FOLDER/FILE and FILE that can be read

=back

A file that is not below a FOLDER is taken only if it is one of perl's own modules, or if it is Perl
and has the recorded size and CRC-32.

=item state

Returns one of these words. C<same>: the source is as it was recorded. C<newer>: a profile has no
digest of it, and the file was written to since. C<unknown>: a profile has no digest of it, and the
file was not written to since. C<changed>: the file differs from the recorded one. It has a text
only if it is below a FOLDER. Without a text: C<gone>; C<generated>, which never was a file; and
C<kept out>, for which neither a profile nor a FOLDER vouches.

=item text, characters, lines

Return the text as bytes; as characters, decoded as Latin-1 if it is not UTF-8; and as lines of
bytes, without their ends. They return undef if there is no text.

=item is_known

Returns whether the profiles have the digest of a source without a text.

=item beginning_of LABEL, FIRST, IS_OF_OTHERS, end_of LABEL, FIRST, LAST, IS_OF_OTHERS

Return the first and the last line of a sub that has statements from line FIRST to LAST.
IS_OF_OTHERS is a function that returns whether a line has statements of other subs.

=item differing SIDES, FOLDER, ...

A class method. SIDES is a list of lists of L<Devel::DProf::Profile> objects. Returns the number of
the side, the name and the text of each source that is not the same on all sides and can be found as
it was recorded, one after the other.

=back

=head1 FUNCTIONS

=over

=item printable LINE

Returns a line, given as bytes, as characters without tabs and without control characters, which a
terminal would obey.

=item decoded BYTES

Returns the characters of a text.

=item brackets LINE, IS_FIRST

=item named FILE, FOLDER, ..., ending FILE, FOLDER, ...

=item new STATE, TEXT, contents PATH, has_digests TEXT, DIGEST, ...

=item state_of PATH, PROFILES, DIGESTS, is_newer PATH, PROFILE

=item below PATH, FOLDER, ..., own_module PATH

=item is_vouched_for PATH, TEXT, PROFILES, is_perl PATH, TEXT

These functions are parts of the above.

=back

=cut
