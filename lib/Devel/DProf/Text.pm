package Devel::DProf::Text;

# Text for people: bytes and characters, names as they may be shown, lists of words. It does not
# load the compiled part, so that tests can use it to skip where that cannot be loaded.

use strict;
use warnings;

use Exporter 'import';

our $VERSION = '20261120.00';
our @EXPORT_OK = qw(bytes text shown json_text plural few unknown instead meant);

# ---- names ----

# Returns text as UTF-8 in bytes; bytes stay as they are.
sub bytes {
    my ($text) = @_;
    utf8::encode($text) if utf8::is_utf8($text);
    return $text;
}

# Returns a name, or an argument of a shell, decoded from UTF-8 if it is valid UTF-8.
sub text {
    my ($bytes) = @_;
    utf8::decode($bytes);
    return $bytes;
}

# Returns a name with those characters escaped that could begin a new line or move a cursor.
sub shown {
    my ($name) = @_;
    require Devel::DProf::Profile;
    return text(Devel::DProf::Profile::escape(bytes("$name")));
}

# Returns data as JSON, in characters. Some control characters are escaped as well, and the marks
# that turn the direction of writing, because JSON::PP leaves them as they are.
sub json_text {
    my ($data, %how) = @_;
    require JSON::PP;
    my $json = JSON::PP->new->canonical->allow_nonref->pretty($how{pretty} ? 1 : 0)->encode($data);
    return $json =~ s/([\x7f-\x9f\x{2028}-\x{202e}\x{2066}-\x{2069}])/sprintf '\\u%04x', ord $1/ger;
}

# ---- numbers, lists ----

# Returns a number and its noun: the plural has an s at its end unless MORE is given.
sub plural {
    my ($n, $word, $more) = @_;
    return "$n " . ($n eq '1' ? $word : $more // "${word}s");
}

# ---- words that do not exist ----

# Returns a message about an unknown word: its kind, and the known words that may have been meant,
# or all known words.
sub unknown {
    my ($what, $word, @known) = @_;
    return "unknown $what $word; " . instead($word, @known);
}

# Returns the end of such a message.
sub instead {
    my ($word, @known) = @_;
    my $meant = meant($word, @known);
    return length $meant ? $meant : 'there are ' . join ', ', fitting(@known);
}

# Returns a list of words if it fits into a message; else the first ones, and how many more there
# are.
use constant { FITTING => 68, FIRST => 52 };            # columns

sub fitting {
    my (@words) = @_;
    return @words if length join(', ', @words) <= FITTING;
    my $n = @words - 1;
    $n-- while $n > 1 && length join(', ', @words[0 .. $n - 1]) > FIRST;
    return (@words[0 .. $n - 1], 'and ' . (@words - $n) . ' more');
}

# Returns "did you mean a, b or c?", or an empty text if no word is near.
sub meant { return question(near(@_)) }

# Returns "did you mean a, b or c?" for words, or '' without any.
sub question {
    my (@near) = @_;
    my $last = pop @near // return '';
    return 'did you mean ' . (@near ? join(', ', @near) . ' or ' : '') . "$last?";
}

# Returns the words, three at most, that are nearest to an unknown one.
sub near {
    my ($word, @known) = @_;
    my $lower = lc $word;
    my $length = length $word;
    my $most = $length < 4 ? 1 : $length < 8 ? 2 : int $length / 4;
    my (%far, %seen);
    for my $name (grep { defined && length && $_ ne $word && !$seen{$_}++ } @known) {
        my $far = $length >= 2 && index(lc $name, $lower) == 0 ? 0
            : distance($lower, lc $name, $most);
        $far{$name} = $far if $far <= $most && $far < $length;
    }
    my ($least) = sort { $a <=> $b } values %far;
    return grep { defined } (sort grep { $far{$_} == $least } keys %far)[0 .. 2];
}

# Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one
# word into the other, or any number above `most' if it exceeds that.
sub distance {
    my ($from, $to, $most) = @_;
    my @from = split //, $from;
    my @to = split //, $to;
    return $most + 1 if abs(@from - @to) > $most;
    my @rows = ([0 .. @to]);
    for my $i (1 .. @from) {
        my @row = ($i);
        for my $k (1 .. @to) {
            my $is_same = $from[$i - 1] eq $to[$k - 1];
            my @ways = ($rows[-1][$k] + 1, $row[$k - 1] + 1, $rows[-1][$k - 1] + !$is_same);
            push @ways, $rows[-2][$k - 2] + 1
                if $i > 1 && $k > 1 && $from[$i - 1] eq $to[$k - 2] && $from[$i - 2] eq $to[$k - 1];
            ($row[$k]) = sort { $a <=> $b } @ways;
        }
        push @rows, \@row;
    }
    return $rows[-1][-1];
}

# Returns the first three texts, and how many more there are.
sub few { return @_ > 3 ? (@_[0 .. 2], 'and ' . (@_ - 3) . ' more') : @_ }

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::Text - text for people: bytes and characters, names, lists of words

=head1 DESCRIPTION

All text that this distribution's Perl code shows to people goes through these functions, and lines
and columns through L<Devel::DProf::View::Layout>. It is internal to this distribution. No function
prints or dies.

=head1 FUNCTIONS

=over

=item bytes TEXT, text BYTES

Encode a text as UTF-8, and decode bytes that are valid UTF-8; other bytes stay unchanged.

=item shown NAME

A name as people may see it: decoded, with control characters made visible.

=item json_text DATA [, pretty => 1]

Data as JSON, as characters. The characters that C<shown> escapes are escaped in JSON's way.
C<pretty>: in lines.

=item plural NUMBER, WORD [, WORDS]

C<1 call>, C<2 calls>; the number may be grouped.

=item unknown WHAT, WORD, KNOWN, ...

The message about an unknown word: C<unknown format jsn; did you mean json?>, or all words if none
is near.

=item instead WORD, KNOWN, ...

The end of that message.

=item fitting ITEM, ...

A list if it fits into a message; else its first items, and how many more there are.

=item meant WORD, KNOWN, ...

C<did you mean a, b or c?>; empty if no word is near. A word is near if it begins like WORD, or if
few letters differ.

=item near WORD, KNOWN, ..., question NEAR, ...

The two halves of C<meant>: the nearest words, three at most; the question.

=item few ITEM, ...

The first three of a list, and how many more there are.

=back

=cut
