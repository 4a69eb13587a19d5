package Devel::DProf::Dir;

# A directory by its descriptor. Its entries are opened by single names, without following links,
# and must belong to this user or to root. So other users who can make names there cannot lead us to
# another file.

use strict;
use warnings;

use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;

sub CLONE_SKIP { 1 }

# The reason why the last failed call failed: "is a symbolic link".
my $Why = '';

# Returns the reason why the last failed call has failed, such as "is a symbolic link".
sub why { return $Why }

# Returns an object for a folder that is open as descriptor FD, or undef if FD is negative.
sub made {
    my ($class, $fd, $path) = @_;
    return $fd < 0 ? undef : bless { fd => $fd, path => $path }, $class;
}

# Opens a folder. Returns the object, or undef with the reason in why().
sub open {
    my ($class, $path) = @_;
    return $class->made(_open($path, 1, $Why), $path);
}

# Opens the folder NAME in this folder, and makes it first if make is true. Returns the object, or
# undef with the reason in why().
sub below {
    my ($self, $name, %how) = @_;
    return ref($self)->made(_below($self->{fd}, $name, $how{make} ? 1 : 0, $Why),
        "$self->{path}/$name");
}

sub DESTROY {
    my ($self) = @_;
    local $!;
    _close($self->{fd});
    return;
}

# Returns the path of this folder, or of NAME in it, for messages.
sub path { return $_[0]{path} . (@_ > 1 ? "/$_[1]" : '') }

# Returns a handle of a descriptor, or undef if FD is negative.
sub handle_of {
    my ($fd, $mode) = @_;
    return undef if $fd < 0;
    CORE::open(my $handle, $mode, $fd) or return undef;
    binmode $handle;
    return $handle;
}

# Opens the file NAME for reading. It must belong to this user, to root, or to one of the USERS.
# Returns the handle, or undef with the reason in why().
sub read {
    my ($self, $name, @users) = @_;
    return handle_of(_read($self->{fd}, $name, \@users, $Why), '<&=');
}

# Makes the new file NAME. Returns a handle for writing, or undef if the name exists or cannot be
# made.
sub create {
    my ($self, $name, $mode) = @_;
    return handle_of(_create($self->{fd}, $name, $mode, $Why), '>&=');
}

# Opens the file NAME for reading and writing, and makes it if it is missing. Returns the handle, or
# undef with the reason in why().
sub keep {
    my ($self, $name, $mode) = @_;
    return handle_of(_keep($self->{fd}, $name, $mode, $Why), '+<&=');
}

# Returns the names in this folder, without those of the folder itself and its parent, or nothing if
# it cannot be read.
sub names { return @{ _names($_[0]{fd}) // return } }

# Returns device, inode, mode, size and mtime of NAME, without following a link, or nothing.
sub stat { return _stat($_[0]{fd}, $_[1]) }

# Returns whether this folder has an entry NAME.
sub is_there {
    my ($self, $name) = @_;
    return _stat($self->{fd}, $name) ? 1 : 0;
}

# Removes NAME if it still is the file that the caller has seen. IS: the fields that stat returned
# for the handle that was read, or for the name. Returns whether it was removed.
sub remove {
    my ($self, $name, @is) = @_;
    return _remove($self->{fd}, $name, @is[0, 1], $Why) == 0;
}

# Gives NAME the name TO_NAME in the folder TO, another object. Returns whether that succeeded.
sub move {
    my ($self, $name, $to, $to_name) = @_;
    return _rename($self->{fd}, $name, $to->{fd}, $to_name, $Why) == 0;
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Dir - a directory by its descriptor, where others can make names

=head1 SYNOPSIS

    my $spool = Devel::DProf::Dir->open('/var/spool/dprof') or die "$!\n";
    my $in = $spool->read($name)
        or die $spool->path($name), ' ', Devel::DProf::Dir::why(), "\n";

=head1 DESCRIPTION

In a directory where other users can make names, a name may be a link to anything, and a path that
is looked up twice may be another file the second time. An object of this class opens an entry of a
directory by the directory's descriptor and a single name, and follows no links. It is internal to
this distribution.

=head1 METHODS

A method that fails returns undef, or false, and sets C<$!>. The function C<why> then says what is
wrong.

=over

=item open PATH

The directory that a person has named; it may be a link.

=item below NAME [, make => 1]

A directory below it, which must be this user's or root's.

=item path [NAME]

The path to show in messages.

=item read NAME, USER, ...

A handle for reading a regular file that has no other name and belongs to this user, to root, or to
one of the users with these numbers.

=item create NAME, MODE

A handle for writing a new file.

=item keep NAME, MODE

A handle for reading and writing a file of this user's or root's. The file is made if it does not
exist.

=item names

All names but C<.> and C<..>.

=item stat NAME

Device, inode, mode, size and time of the last change, as lstat has them; an empty list if there is
no such name.

=item is_there NAME

Whether there is anything of that name.

=item remove NAME, DEVICE, INODE

Removes a name if it still belongs to this file.

=item move NAME, DIRECTORY, NAME

Gives a file another name, perhaps in another directory.

=back

=cut
