#!/usr/bin/perl
# Draws places in the sources where messages stand, at random: perl xt/comprehension/draw.pl SEED
# [COUNT]. Each line of its output is a place and the beginning of its statement.
use strict;
use warnings;
use File::Find qw(find);
use FindBin;

my ($seed, $count) = @ARGV;
die "usage: draw.pl SEED [COUNT]\n" if !defined $seed;
chdir "$FindBin::Bin/../.." or die $!;

my @places;
find({ no_chdir => 1, wanted => sub {
    return if !-f || !/\.(?:pm|c|xs|xsi)\z/;
    my $file = $_;
    open my $in, '<', $file or die "$file: $!\n";
    my $text = do { local $/; <$in> } =~ s/^__END__.*//msr;
    while ($text =~ /\b(?:complain|die|usage|dpx_say|dpx_croak|dp_err_set)\b[^;{}]*?["'][^;]*;/g) {
        my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
        push @places, [$file, $line, substr $& =~ s/\s+/ /gr, 0, 160];
    }
} }, 'lib', 'xs');
@places = sort { $a->[0] cmp $b->[0] || $a->[1] <=> $b->[1] } @places;
srand $seed;
for (1 .. $count // 16) {
    my ($place) = splice @places, int rand @places, 1;
    printf "%s:%d  %s\n", @$place;
}
