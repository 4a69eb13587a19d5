package Test::DProf::Names;

# Makes messages about names of subs that a test has and the profile lacks.

use strict;
use warnings;

use Exporter 'import';

our $VERSION = '20261120.00';
our @EXPORT_OK = qw(misspelt doubtful_name);

# Returns a message, with similar names, if neither the profile of a block nor this process has a
# sub of this name. Otherwise returns nothing. Names in the profile of a script are not checked,
# because subs that were not called are unknown.
sub misspelt {
    my ($p, $sub) = @_;
    return if !$p->is_block || $p->knows($sub) || is_defined($sub) || $sub =~ /^\(|__ANON__|^CORE:/;
    my @near = nearest($p, $sub);
    return "there is no sub $sub, neither in the profile nor in the process"
        . (@near ? '; perhaps ' . join(', ', @near) : '');
}

# Returns a message, with similar names, if the profile of a script has no sub of this name. Returns
# nothing if it has one, and for the profile of a block, which misspelt() checks.
sub doubtful_name {
    my ($p, $sub) = @_;
    return if $p->is_block || $p->knows($sub);
    my @near = nearest($p, $sub);
    return "the profile has no sub $sub" . (@near ? '; it has ' . join(', ', @near) : '');
}

# Returns whether this process has a sub of this name.
sub is_defined {
    my ($sub) = @_;
    no strict 'refs';
    return $sub =~ /^\w+(?:(?:::|')\w+)*\z/ && defined &{$sub};
}

# Returns at most three subs whose names are similar to one that was not found, also such as are
# defined but were not called.
sub nearest {
    my ($p, $sub) = @_;
    my %names = map { $_ => 1 } $p->subs;
    if ($p->is_block && $sub =~ /^(.+)::/s) {
        no strict 'refs';
        my $package = $1;
        if ($package =~ /^\w+(?:::\w+)*\z/ && %{"${package}::"}) {
            $names{"${package}::$_"} = 1
                for grep { /^\w+\z/ && defined &{"${package}::$_"} } keys %{"${package}::"};
        }
    }
    my $own = $sub =~ s/.*:://sr;
    my %distance = map { $_ => (($_ =~ s/.*:://sr) eq $own ? 1 : distance($sub, $_)) }
        grep { !/__ANON__/ && abs(length($_) - length $sub) < 40 } keys %names;
    my $limit = 1 + length($sub) / 4;
    my @near = sort { $distance{$a} <=> $distance{$b} || $a cmp $b }
        grep { $distance{$_} <= $limit } keys %distance;
    return @near > 3 ? @near[0 .. 2] : @near;
}

# Returns the Levenshtein distance of two names.
sub distance {
    my ($x, $y) = @_;
    my @above = 0 .. length $y;
    for my $i (1 .. length $x) {
        my @row = $i;
        for my $j (1 .. length $y) {
            my $is_other = substr($x, $i - 1, 1) ne substr($y, $j - 1, 1);
            my ($least) = sort { $a <=> $b }
                $above[$j] + 1, $row[-1] + 1, $above[ $j - 1 ] + ($is_other ? 1 : 0);
            push @row, $least;
        }
        @above = @row;
    }
    return $above[-1];
}

1;

__END__

=encoding UTF-8

=head1 NAME

Test::DProf::Names - names of subs that a profile does not have

=head1 DESCRIPTION

This module makes the messages of L<Test::DProf> about such names. It is internal to this
distribution.

=head1 FUNCTIONS

=over

=item misspelt PROFILE, SUB

Returns a line with similar names if neither the L<Test::DProf::Profile> of a block nor the process
has the name. Returns nothing if there is such a sub.

=item doubtful_name PROFILE, SUB

Returns the same for a script's profile, after a test has failed. The name may still be right, as a
script's subs that were not called are unknown.

=item is_defined SUB, nearest PROFILE, SUB, distance NAME, NAME

These functions are parts of the above.

=back

=cut
