package Devel::DProf::Store::Failure;

# Why a store did not do what it should, and whether to try again.

use strict;
use warnings;

use overload '""' => sub { return $_[0]{message} . "\n" }, bool => sub { return 1 },
    fallback => 1;
use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;

sub new {
    my ($class, %field) = @_;
    $field{message} =~ s/\s+\z//;
    return bless { retry => 0, answer => '', %field }, $class;
}

sub message { return $_[0]{message} }
sub retry { return $_[0]{retry} }
sub answer { return $_[0]{answer} }
sub after { return $_[0]{after} }

# Returns what was caught as a failure: any other exception is one that no repetition mends.
sub of {
    my ($class, $caught) = @_;
    return ref $caught && eval { $caught->isa($class) } ? $caught
        : $class->new(message => "$caught");
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Store::Failure - why a store did not do what it should

=head1 DESCRIPTION

The exception of L<Devel::DProf::Store>. As a string it is its message and a line's end. It is
internal to this distribution.

=head1 METHODS

=over

=item new NAME => VALUE, ...

message, a line for people. retry: true if the same may succeed later, because the store was not
reached, was too busy, or had no room; then what was to be kept stays where it is. False if the
store has refused it; then it is moved aside. answer: what the store said, whole, if it said
anything. after: the seconds after which it asks to be tried again, if it does.

=item message, retry, answer, after

These fields.

=item of EXCEPTION

What was caught, as such an object.

=back

=cut
