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
sub why { return $Why }

sub made {
    my ($class, $fd, $path) = @_;
    return $fd < 0 ? undef : bless { fd => $fd, path => $path }, $class;
}

sub open {
    my ($class, $path) = @_;
    return $class->made(_open($path, 1, $Why), $path);
}

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

sub path { return $_[0]{path} . (@_ > 1 ? "/$_[1]" : '') }

# Returns a handle of a descriptor, or undef.
sub handle {
    my ($fd, $mode) = @_;
    return undef if $fd < 0;
    CORE::open(my $handle, $mode, $fd) or return undef;
    binmode $handle;
    return $handle;
}

sub read {
    my ($self, $name, @users) = @_;
    return handle(_read($self->{fd}, $name, \@users, $Why), '<&=');
}

sub create {
    my ($self, $name, $mode) = @_;
    return handle(_create($self->{fd}, $name, $mode, $Why), '>&=');
}

sub keep {
    my ($self, $name, $mode) = @_;
    return handle(_keep($self->{fd}, $name, $mode, $Why), '+<&=');
}

sub names { return @{ _names($_[0]{fd}) // return } }

sub stat { return _stat($_[0]{fd}, $_[1]) }

sub is_there {
    my ($self, $name) = @_;
    return _stat($self->{fd}, $name) ? 1 : 0;
}

# IS has the fields that stat returned, for the handle that was read or for the name.
sub remove {
    my ($self, $name, @is) = @_;
    return _remove($self->{fd}, $name, @is[0, 1], $Why) == 0;
}

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
