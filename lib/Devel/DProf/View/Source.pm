package Devel::DProf::View::Source;

# The source of a profiled program: found, read, and compared with what was recorded.
#
# A profile may come from anybody, and may name any file of the user who reads it; what the tools
# print or put into a page may go to others. So a text is taken from a file only if one of three
# things vouches for it. The user has named a folder that the file lies below. Or the file is one of
# perl's own modules. Or the profile has the size and the CRC-32 of that very text: then its maker
# has had the text. The recorder notes both for each source that a profile names, but for perl's own
# modules, so that nobody needs a folder for profiles of their own. That a file belongs to the user,
# or that its header names this machine, would prove nothing: a download can have both. A secret key
# of the user's would prove it, but each program that is recorded would have to read the key.

use strict;
use warnings;

use Compress::Raw::Zlib ();
use Config;
use Hash::Util::FieldHash qw(fieldhash);
use Devel::DProf::Profile;
use Devel::DProf::Text qw(bytes shown);

our $VERSION = $Devel::DProf::Core::VERSION;

# A larger file is no source that anybody reads.
use constant MOST => 16 << 20;

# Finds a source by its name in profiles that are one side. folders: those that the user has named.
# What a profile itself has goes first, then a file that is as it was recorded, then the first one
# of that name.
sub find {
    my ($class, $file, $profiles, @folders) = @_;
    no warnings qw(newline syscalls);   # a profile may name what no file is called
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
        # What nothing can vouch for is not read.
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

sub new {
    my ($class, $state, $text) = @_;
    return bless { state => $state, text => $text }, $class;
}

sub state { return $_[0]{state} }
sub text { return $_[0]{text} }

# Whether the profiles tell what a source without a text was.
sub is_known { return $_[0]{is_known} }

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

# Returns the path of an existing file without links if that is below one of the folders.
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

# Returns the same path if the file is one of perl's own modules. Some systems have a part of them
# in a folder that %Config does not name; strict, which nobody installs from elsewhere, is there.
sub own_module {
    my ($path) = @_;
    return undef if $path !~ /\.p[lm]\z/;
    return below($path, grep { m{\A/} } @Config{qw(privlibexp archlibexp)},
        $INC{'strict.pm'} =~ s{/strict\.pm\z}{}r);
}

# Tells whether one of the profiles vouches for the text of a file, whose digests it has. The text
# has to be Perl: of a short secret, a stranger may guess the digest. And a stranger may guess once:
# a profile that has other digests for other names of the file vouches for one of them at the most.
fieldhash my %guesses;
sub is_vouched_for {
    my ($path, $text, $profiles) = @_;
    return 0 if !is_perl($path, $text);
    my $inode = join ':', (stat $path)[0, 1];
    my $digest = join ':', length $text, Compress::Raw::Zlib::crc32($text);
    return !grep { ($guesses{$_}{$inode} //= $digest) ne $digest } @$profiles;
}

# Tells whether a text looks like a Perl program's: by the file's name, by its first line, or by a
# statement.
sub is_perl {
    my ($path, $text) = @_;
    return 1 if $path =~ /\.(?:pl|pm|t|psgi|f?cgi|al|ph|plx|xs|ep)\z/i || $text =~ /\A#!.*perl/;
    return substr($text, 0, 1 << 16)
        =~ /^[ \t%]*(?:use|no|package|sub|my|our|require|BEGIN)\b[^\n]*[;{]/m;
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

Devel::DProf::View::Source - sources of a profiled program: found, read, compared with what was
recorded

=head1 DESCRIPTION

All tools that show sources have them from here. A profile with lines has the size and the CRC-32 of
each source, and perhaps its text. It is internal to this distribution.

=head1 METHODS

=over

=item find FILE, PROFILES, FOLDER, ...

A class method: the source that L<Devel::DProf::Profile>s of one side call FILE. The text comes from
a profile, if one has it (C<source=1>); else from FOLDER/FILE or FILE, whichever has the size and
the CRC-32 that were recorded; else from a file below a FOLDER whose path has the same end and which
has them; else from the first of FOLDER/FILE and FILE that can be read. A file that is not below a
FOLDER is taken only if it is one of perl's own modules, or if it is Perl and has the size and the
CRC-32 that the profile has; FOLDER is one that the user has named.

=item state

C<same>: it is as it was recorded. C<newer>: the profiles do not tell what it was, and it was
written to since. C<unknown>: they do not tell, and it was not. C<changed>: it is another than the
one that was recorded; it has a text only if it is below a FOLDER. Without a text: C<gone>;
C<generated>, which never was a file; and C<kept out>, for which neither a profile nor a FOLDER
vouches.

=item text, characters, lines

The text as bytes; as characters, Latin-1 where it is no UTF-8; its lines as bytes, without their
ends. Undef if there is none.

=item is_known

Of a source without a text: do the profiles tell what it was?

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

=item below PATH, FOLDER, ..., own_module PATH

=item is_vouched_for PATH, TEXT, PROFILES, is_perl PATH, TEXT

Parts of the above.

=back

=cut
