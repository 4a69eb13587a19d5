package Devel::DProf::Write;

# Files that are written whole or not at all: the new one is made beside the old one, which stays
# unchanged until it is complete.

use strict;
use warnings;

use Cwd ();
use Errno ();
use Fcntl ();
use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;

use constant { TRIES => 100, MOST_LINKS => 40, LONGEST => 200 };

sub CLONE_SKIP { 1 }

# Calls CODE with a handle for the new contents. If CODE returns anything but 0, it has failed, and
# $! says why. Returns undef, or why the file could not be written.
sub whole {
    my ($path, $code, %how) = @_;
    my $file = __PACKAGE__->new($path, %how) or return "$!";
    my $rc = $code->($file->handle);
    my $errno = $!;
    if ($rc) {
        # An error while writing the last bytes is the better reason.
        close $file->handle and $! = $errno;
        my $why = length "$!" ? "$!" : 'not all of it was written';
        $file->discard;
        return $why;
    }
    return $file->commit;
}

# Returns what to do about a path that could not be written, as the end of a message, or ''. option:
# what stands before a path that is given in its place.
sub instead {
    my ($path, $option) = @_;
    my ($folder) = $path =~ m{\A(.*)/[^/]*\z}s;
    $folder = !defined $folder ? '.' : length $folder ? $folder : '/';
    return -d $path ? "; $option$path/FILE writes into that folder"
        : !-e $folder ? "; mkdir -p $folder makes the folder"
        : !-w $folder ? "; ${option}FILE names another place" : '';
}

# Calls CODE with an open handle, as whole() does, and closes the handle. Returns undef, or why the
# output is incomplete.
sub to {
    my ($out, $code) = @_;
    binmode $out;
    my $rc = $code->($out);
    my $errno = $!;
    my $is_closed = close $out;
    $! ||= $errno;
    return $rc || !$is_closed ? "$!" : undef;
}

# Opens a file that will become PATH. Returns undef, and sets $!, if that is impossible. FIELDS:
# replace says that no person has chosen the name, so that any file of this name is replaced, and no
# link is followed.
sub new {
    my ($class, $path, %fields) = @_;
    my $self = bless { pid => $$ }, $class;
    return $self->below($fields{dir}, $path) if $fields{dir};
    my $target = $fields{replace} ? $path : $self->target($path) // return undef;
    my @old = $fields{replace} ? lstat $target : $self->{direct} ? stat $path : lstat $target;
    # Write to a device or a pipe itself: a file that replaces it would be no device.
    my $is_direct = $self->{direct} || (@old && !$fields{replace} && !-f _ && !-l _);
    $self->{handle} = $is_direct ? open_in_place($target)
        : $self->beside($target, @old && -f _ ? @old : ());
    return undef if !$self->{handle};
    binmode $self->{handle};
    return $self;
}

sub handle { return $_[0]{handle} }

# Gives the file its name, after closing the handle if that is still open. Returns undef, or why
# that was impossible.
sub commit {
    my ($self) = @_;
    if ((defined fileno $self->{handle} && !close $self->{handle})
        || (defined $self->{temp} && !$self->rename)) {
        my $why = "$!";
        $self->discard;
        return $why;
    }
    undef $self->{temp};
    return undef;
}

# Removes the new file: the old file stays.
sub discard {
    my ($self) = @_;
    local $!;
    close $self->{handle} if $self->{handle} && defined fileno $self->{handle};
    my $temp = delete $self->{temp} // return;
    if (my $dir = $self->{dir}) { $dir->remove($temp, $dir->stat($temp)) }
    else { unlink $temp }
    return;
}

# Gives the finished file its name. Returns whether that succeeded.
sub rename {
    my ($self) = @_;
    my ($dir, $temp, $target) = @$self{qw(dir temp target)};
    return $dir ? $dir->move($temp, $dir, $target) : CORE::rename $temp, $target;
}

# Removes a file that was not committed. A child that was forked meanwhile leaves its parent's file
# alone.
sub DESTROY {
    my ($self) = @_;
    $self->discard if defined $self->{temp} && $self->{pid} == $$;
    return;
}

# ---- names and links ----

# Returns the name at the end of the links at PATH: the new file is made beside that one, so that
# the links stay. Returns undef, and sets $!, if they lead nowhere.
sub target {
    my ($self, $path) = @_;
    for (1 .. MOST_LINKS) {
        my @link = lstat $path or return $path;
        return $path if !-l _ || is_planted($path, $link[4]);
        my $folder = folder_of($path);
        # /dev/stdout stands for an open file, whose name may have gone to another file by now, or
        # may be gone.
        if ((Cwd::abs_path($folder) // '') =~ m{\A/proc/.+/fd\z}) {
            $self->{direct} = 1;
            return $path;
        }
        my $to = readlink $path // return undef;
        $path = $to =~ m{\A/} ? $to : "$folder/$to";
    }
    $! = Errno::ELOOP();
    return undef;
}

# Returns the folder of a path.
sub folder_of { return $_[0] =~ m{\A(.*/)[^/]+/*\z}s ? $1 =~ s{(?<=.)/+\z}{}r : '.' }

# Returns whether a link at PATH, with that owner, must not be followed. In a folder where all users
# can make names, a link is followed only if it is the user's own or that of the folder's owner, as
# Linux does with protected_symlinks: others may have put it there to make us write to a file that
# they may not write to.
sub is_planted {
    my ($path, $owner) = @_;
    my ($mode, $of_folder) = (stat folder_of($path))[2, 4];
    return defined $mode && $mode & 0002 && $owner != $> && $owner != $of_folder;
}

# ---- files ----

# Opens an existing file or device to write to it directly. Returns the handle, or undef.
sub open_in_place {
    my ($path) = @_;
    sysopen my $out, $path, Fcntl::O_WRONLY() or return undef;
    truncate $out, 0 if -f $out;
    return $out;
}

# Makes a new file in the folder of TARGET, by an unpredictable name: O_EXCL follows no link there.
# The file gets the mode and owner of the old one, as far as permissions allow. Returns the handle,
# or undef.
sub beside {
    my ($self, $target, @old) = @_;
    my ($folder, $name) = $target =~ m{\A(.*/)?([^/]*)\z}s;
    if (!length $name) {
        $! = Errno::ENOENT();
        return undef;
    }
    my $stem = ($folder // '') . substr $name, 0, LONGEST;
    my $how = Fcntl::O_WRONLY() | Fcntl::O_CREAT() | Fcntl::O_EXCL();
    for (1 .. TRIES) {
        my $temp = "$stem." . random_text() . '.new';
        if (sysopen my $out, $temp, $how, @old ? 0600 : 0666) {
            @$self{qw(temp target)} = ($temp, $target);
            if (@old) {
                chown @old[4, 5], $out if $old[4] != $> || $old[5] != (stat $out)[5];
                chmod $old[2] & 0777, $out;
            }
            return $out;
        }
        return undef if !$!{EEXIST};
    }
    return undef;
}

# Makes a new file NAME in a directory that is open, a Devel::DProf::Dir. Returns the object, or
# undef with the reason in $!.
sub below {
    my ($self, $dir, $name) = @_;
    for (1 .. TRIES) {
        my $temp = substr($name, 0, LONGEST) . '.' . random_text() . '.new';
        if ($self->{handle} = $dir->create($temp, 0666)) {
            @$self{qw(dir temp target)} = ($dir, $temp, $name);
            return $self;
        }
        return undef if !$!{EEXIST};
    }
    return undef;
}

# Returns 16 random hexadecimal digits. Perl's own rand belongs to the program, which may have
# seeded it.
sub random_text {
    my $bytes = '';
    if (open my $in, '<:raw', '/dev/urandom') {
        sysread $in, $bytes, 8;
        close $in;
    }
    return length $bytes == 8 ? unpack 'H*', $bytes : sprintf '%x%x%x', $$, time, ++our $Count;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Write - files that are written whole or not at all, through links and devices

=head1 SYNOPSIS

    use Devel::DProf::Write;

    my $why = Devel::DProf::Write::whole($path, sub { print { $_[0] } $text; return 0 });
    die "$path could not be written: $why\n" if defined $why;

=head1 DESCRIPTION

The tools use this module for each file that a person names. It writes a new file in the same
folder, which then takes the old one's place, with its mode and, where we may give it these, owner
and group; a new file has the mode that the umask leaves. After an error, the new file is removed,
and the old one stays unchanged. If the name is a symbolic link, the link stays, and its target is
replaced. But a link that another user has put into a folder where everybody may write is itself
replaced. A device or a pipe is opened and written to.

=head1 FUNCTIONS

=over

=item whole PATH, CODE [, HOW]

Calls CODE with a handle for bytes. CODE returns 0, or anything else if it has failed, with the
reason in C<$!>. Returns undef, or why the file could not be written. HOW is a list of names and
values: C<replace> says that no person has chosen the name, so that any file of this name is
replaced, and no link is followed; C<dir> says the same, and PATH is a name in this
L<Devel::DProf::Dir>.

=back

=head1 METHODS

=over

=item new PATH [, HOW]

Opens the file. Returns undef if that is impossible; C<$!> says why.

=item handle

Returns the handle to write to.

=item commit

Closes the handle and gives the file its name. Returns undef, or why that was impossible.

=item discard

Removes what was written. The object does this by itself, too, when it is destroyed.

=back

=cut
