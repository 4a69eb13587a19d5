package Devel::DProf::OptionValues;

# Parsers of option values that several tools take: lists, patterns, slices of time, renames. Also
# the check whether options can be combined.

use strict;
use warnings;

use Exporter 'import';
use Devel::DProf::Core;
use Devel::DProf::Text qw(bytes text);

our $VERSION = $Devel::DProf::Core::VERSION;
our @EXPORT_OK = qw(list_of kind_pattern windows renames only_beside);

# Returns the items of an option such as --comms as a list: they are separated by commas, or one a
# line in a file given as file://PATH.
sub list_of {
    my ($option, $list) = @_;
    my @names;
    for my $item (split /,/, $list) {
        if ($item !~ s{^file://}{}) {
            push @names, text($item);
            next;
        }
        open my $in, '<:raw', $item or die "$option: cannot read $item: $!\n";
        while (defined(my $line = <$in>)) {
            $line =~ s/\r?\n\z//;
            push @names, text($line) if length $line && $line !~ /^#/;
        }
        close $in;
    }
    return @names;
}

# Returns the regular expression of an option, compiled. Dies with a message if it is none.
sub pattern {
    my ($option, $re) = @_;
    $re = text($re);
    local $SIG{__WARN__} = sub { };
    return eval { qr/$re/ } // die "$option: not a regular expression: "
        . ($@ =~ s/ at \S+ line \d+\.\n\z//r) . "\n";
}

# Returns a regular expression that the names of a kind of spans match, or, without a kind, those of
# all spans: they are KIND:TEXT. The name of a sub has two colons; that of a builtin begins with
# CORE.
sub kind_pattern {
    my ($kind) = @_;
    return defined $kind ? qr/\A\Q$kind\E:(?!:)/ : qr/\A(?!CORE:)[^:]+:(?!:)/;
}

# Returns the ranges of --time as a reference to a list: for each side, as colons separate them, its
# ranges, or undef if it has none.
sub windows {
    my ($text) = @_;
    return [map { length $_ ? ranges_of_side($_) : undef } split /:/, $text, -1];
}

# Returns the ranges of --time for a side, sorted, each as [FROM, TO, IS_PERCENT]; TO undef: up to
# the end. Dies with a message if they overlap or are empty.
sub ranges_of_side {
    my ($text) = @_;
    my $number = qr/\d+(?:\.\d*)?|\.\d+/;
    my @ranges;
    if ($text =~ /^($number)?,($number)?\z/ && (defined $1 || defined $2)) {
        @ranges = [$1 // 0, $2, 0];
    } else {
        for my $slice (split /,/, $text, -1) {
            if ($slice =~ /^($number)%-($number)%\z/) { push @ranges, [$1, $2, 1] }
            elsif ($slice =~ m{^($number)%/(\d+)\z} && $2) {
                push @ranges, [$1 * ($2 - 1), $1 * $2, 1];
            } else {
                die "--time: `$slice' is none of START,STOP (seconds), A%-B% and A%/N\n";
            }
        }
    }
    @ranges = sort { $a->[0] <=> $b->[0] } @ranges;
    for my $i (0 .. $#ranges) {
        my ($from, $to, $percent) = @{ $ranges[$i] };
        die "--time: $text: nothing lies between these times\n" if defined $to && $from >= $to;
        my $last = $from < 100 ? "; $from%-100% is its last part" : '';
        die "--time: $text: a profile ends at 100 %$last\n" if $percent && $to > 100;
        die "--time: $text: slices overlap\n" if $i && $from < $ranges[ $i - 1 ][1];
    }
    return \@ranges;
}

# Returns the names of --map in pairs, old and new, given as OLD=NEW or one a line in a file.
sub renames {
    my ($text) = @_;
    my @lines = $text =~ m{^file://} ? list_of('--map', $text) : text($text);
    return map {
        my @pair = /^\s*([^=\s]+)\s*=\s*([^=\s]+)\s*\z/
            or die "--map: `" . bytes($_) . "' is not OLD=NEW\n";
        die "--map: $_: a package ends in :: on both sides\n"
            if ($pair[0] =~ /::\z/) != ($pair[1] =~ /::\z/);
        @pair;
    } @lines;
}

# Dies with the first given option that cannot be combined with OPTION. FITS: the names of the
# options that can, OPTION among them.
sub only_beside {
    my ($opt, $option, @fits) = @_;
    my %fits = map { $_ => 1 } @fits;
    my ($name) = sort grep { !$fits{$_} } keys %$opt or return;
    die((length $name > 1 ? '--' : '-') . "$name does not go with $option\n");
}

1;

__END__

=encoding UTF-8

=head1 NAME

Devel::DProf::OptionValues - values of options: lists, patterns, slices of time, renames

=head1 DESCRIPTION

Parsers of the values of options that several tools take. It is internal to this distribution.

=head1 FUNCTIONS

They take bytes, return characters, and die with what is wrong.

=over

=item list_of OPTION, TEXT

A list of names, separated by commas; C<file://NAME> stands for a file with one name on each line.
Messages name OPTION.

=item pattern OPTION, TEXT

A regular expression.

=item kind_pattern KIND

The regular expression that the names of spans of this kind match.

=item windows TEXT

C<--time>: a list of one element for each side, with colons between. An element is undef, or a list
of [FROM, TO, PERCENT] (L<Devel::DProf::Profile/window>), in ascending order, of START,STOP in
seconds (either of them may be missing), or of A%-B% and A%/N (the N-th slice of A %), several with
commas.

=item renames TEXT

C<--map>: pairs of an old and a new name, from OLD=NEW, or from C<file://NAME> with one OLD=NEW on
each line.

=item only_beside OPTIONS, OPTION, NAME, ...

Dies with the first of the options that is not among these names: it cannot be combined with OPTION.

=back

=cut
