package Devel::DProf::Text;

# Text for people: bytes and characters, names as they may be shown, lists of words. It loads
# nothing of the compiled part, for tests that are to be skipped where that cannot be loaded.

use strict;
use warnings;

use Exporter 'import';

our $VERSION = '20261120.00';
our @EXPORT_OK = qw(bytes text shown json_text plural few);

# ---- names ----

sub bytes {
    my ($text) = @_;
    utf8::encode($text) if utf8::is_utf8($text);
    return $text;
}

# Decodes a name: names are UTF-8 if they can be, and so are arguments of a shell.
sub text {
    my ($bytes) = @_;
    utf8::decode($bytes);
    return $bytes;
}

# Escapes what could begin a line of its own or move a cursor.
sub shown {
    my ($name) = @_;
    require Devel::DProf::Profile;
    return text(Devel::DProf::Profile::escape(bytes("$name")));
}

# JSON leaves some control characters as they are, and the marks that turn the direction of writing.
sub json_text {
    my ($data, %how) = @_;
    require JSON::PP;
    my $json = JSON::PP->new->canonical->allow_nonref->pretty($how{pretty} ? 1 : 0)->encode($data);
    return $json =~ s/([\x7f-\x9f\x{2028}-\x{202e}\x{2066}-\x{2069}])/sprintf '\\u%04x', ord $1/ger;
}

# ---- numbers, lists ----

sub plural {
    my ($n, $word, $more) = @_;
    return "$n " . ($n eq '1' ? $word : $more // "${word}s");
}

sub few { return @_ > 3 ? (@_[0 .. 2], 'and ' . (@_ - 3) . ' more') : @_ }

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Text - text for people: bytes and characters, names, lists of words

=head1 DESCRIPTION

What this distribution's Perl shows to people goes through these functions, and in lines and columns
through L<Devel::DProf::Layout>. It is internal to this distribution. No function prints or dies.

=head1 FUNCTIONS

=over

=item bytes TEXT, text BYTES

To UTF-8, and back where bytes are UTF-8; what is none stays as it is.

=item shown NAME

A name as people may see it: characters, control characters made visible.

=item json_text DATA [, pretty => 1]

Data as JSON, characters, with what C<shown> escapes escaped as JSON does it. C<pretty>: in lines.

=item plural NUMBER, WORD [, WORDS]

C<1 call>, C<2 calls>; the number may be grouped.

=item few ITEM, ...

The first three of a list, and how many more there are.

=back

=cut
