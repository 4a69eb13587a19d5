package Test::DProf::Growth;

# A test that code leaves nothing behind: no value that still lives when the code has returned.

use strict;
use warnings;

use Carp 'croak';
use Devel::DProf::Text qw(plural shown);
use Devel::DProf::View::Layout qw(grouped);

our $VERSION = '20261120.00';

our @CARP_NOT = ('Test::DProf');

# Most sites, and most subs of a path, in a diagnostic.
use constant { SITES => 5, PATH => 6 };

# Returns the checked options of no_growth_ok.
sub options {
    my (@how) = @_;
    croak 'no_growth_ok: options are NAME => VALUE' if @how % 2;
    my %how = (times => 100, warmup => 2, allow => '0 values', @how);
    my @bad = grep { !/\A(?:times|warmup|allow|name)\z/ } sort keys %how;
    croak "no_growth_ok: unknown option $bad[0]; the options are allow, name, times, warmup"
        if @bad;
    croak 'no_growth_ok: times must be a whole number, 1 or more'
        if $how{times} !~ /\A[1-9]\d{0,8}\z/a;
    croak 'no_growth_ok: warmup must be a whole number' if $how{warmup} !~ /\A\d{1,9}\z/a;
    @how{qw(most unit)} = $how{allow} =~ /\A(\d{1,15}) (values?|bytes?)\z/a
        or croak "no_growth_ok: allow is `$how{allow}'; give it as '0 values' or '1000 bytes'";
    $how{name} //= 'nothing is left behind by ' . plural($how{times}, 'call');
    return \%how;
}

# Returns whether the growth is allowed, and lines that say what has grown. ROWS is what
# Devel::DProf::_growth returns.
sub judge {
    my ($how, $rows) = @_;
    my ($values, $bytes) = (0, 0);
    for (@$rows) { $values += $_->[0]; $bytes += $_->[1] }
    my $is = $how->{unit} =~ /^value/ ? $values : $bytes;
    return 1 if $is <= $how->{most};
    my $by = $how->{unit} =~ /^value/ ? 0 : 1;
    my @grown = sort {
        $b->[$by] <=> $a->[$by] || $b->[ 1 - $by ] <=> $a->[ 1 - $by ] || path($a) cmp path($b)
    } grep { $_->[$by] > 0 } @$rows;
    my $more = @grown > SITES ? @grown - SITES : 0;
    splice @grown, SITES;
    return (0, plural($how->{times}, 'call') . ' left ' . grouped($values) . ' '
        . ($values == 1 ? 'value' : 'values') . ' behind (' . grouped($bytes) . ' bytes)'
        . ($how->{most} ? ", and $how->{allow} are allowed" : '') . ':',
        (map { lines_of($how, $_) } @grown),
        $more ? '  ... and ' . plural($more, 'further place') : ());
}

# Returns the lines for a site where values were made: how many, how many each call if the number
# divides evenly, the sub, the line and the class; then the callers; then what holds the values.
sub lines_of {
    my ($how, $row) = @_;
    my ($values, $bytes, $class, $line, $holder, @path) = @$row;
    return '  ' . grouped($bytes) . ' bytes more in values that were there before, such as strings '
        . 'that grow' if @$row == 2;
    $path[-1] = 'the block' if @path && $path[-1] =~ /::__ANON__\z/;
    my ($sub, @callers) = map { shown($_) } @path;
    my $each = $values % $how->{times} ? '' : ', ' . $values / $how->{times} . ' each call';
    splice @callers, PATH, @callers - PATH, '...' if @callers > PATH;
    my $what = $values > 0 ? grouped($values) . ($values == 1 ? ' value' : ' values') . $each
        : grouped($bytes) . ' bytes more in values';
    return "  $what, made in "
        . ($sub // 'perl') . ", line $line"
        . (defined $class ? ': objects of ' . shown($class) : ''),
        @callers ? '    called by ' . join(' < ', @callers) : (),
        defined $holder ? '    held by ' . shown($holder) : ();
}

sub path { return join ' ', map { $_ // '' } @{ $_[0] }[3, 5 .. $#{ $_[0] }] }

1;

__END__

=encoding UTF-8

=head1 NAME

Test::DProf::Growth - what code leaves behind, for no_growth_ok

=head1 DESCRIPTION

This module judges what C<no_growth_ok> of L<Test::DProf> has measured. It is internal to this
distribution.

=head1 FUNCTIONS

=over

=item options NAME => VALUE, ...

The options of C<no_growth_ok> as a reference to a hash, with C<most> and C<unit>, the parts of
C<allow>. Dies if one is wrong.

=item judge HOW, ROWS

Whether the growth is allowed, and the lines of the diagnostic. HOW is what C<options> returns. ROWS
refers to an array with an array for each place: the values and the bytes that it has more, a class
or undef, a line, who holds such a value or undef, and subs from the innermost up.

=back

=cut
