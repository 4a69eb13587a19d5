package Devel::DProf::Store::Failure;

# The exception of stores: the reason for a failure, and whether to try again.

use strict;
use warnings;

use overload '""' => sub { return $_[0]{message} . "\n" }, bool => sub { return 1 },
    fallback => 1;
use Devel::DProf::Core;

our $VERSION = $Devel::DProf::Core::VERSION;

# Makes the exception. FIELDS: message; retry, whether another attempt later may succeed; answer,
# the text of a server's answer; after, seconds to wait.
sub new {
    my ($class, %field) = @_;
    $field{message} =~ s/\s+\z//;
    return bless { retry => 0, answer => '', %field }, $class;
}

sub message { return $_[0]{message} }
sub retry { return $_[0]{retry} }
sub answer { return $_[0]{answer} }
sub after { return $_[0]{after} }

# Returns an exception as a Failure. Exceptions of other classes become failures without retry.
sub of {
    my ($class, $caught) = @_;
    return ref $caught && eval { $caught->isa($class) } ? $caught
        : $class->new(message => "$caught");
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Store::Failure - the exception of stores

=head1 DESCRIPTION

This class is the exception of L<Devel::DProf::Store>. As a string it is its message and a newline.
It is internal to this distribution.

=head1 METHODS

=over

=item new NAME => VALUE, ...

message: a line for people. retry: true if the same request may succeed later, because the store was
not reached, was too busy, or had no room; then profiles stay where they are. It is false if the
store has refused the profile, which is then moved aside. answer: the whole answer of the store, if
there was one. after: the seconds after which the store asks for a repetition, if it does.

=item message, retry, answer, after

Return these fields.

=item of EXCEPTION

Returns an exception as such an object.

=back

=cut
