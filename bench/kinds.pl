# Runs six kinds of code in turn, each in lines of its own, which begin with `# kind: NAME` and end
# with the next such comment. Prints the CPU seconds of each, to be compared with a profile of
# lines.
use strict;
use warnings;
use Digest::MD5 'md5_hex';
use Time::HiRes qw(clock_gettime CLOCK_PROCESS_CPUTIME_ID);

my $slices = shift // 60;
my @numbers = map { $_ * 7919 % 1009 } 1 .. 1000;
my $text = join ' ', map { "the ${_}th of many words being looked at" } 1 .. 300;
my $bytes = 'x' x 200_000;

# kind: tiny statements
sub tiny {
    my ($x, $y, $z) = (1, 2, 3);
    my $i = 0;
    while ($i < 12_000) {
        $x = $y;
        $y = $z;
        $z = $x;
        $x = $z;
        $y = $x;
        $i++;
    }
    return $x;
}
# kind: sort, map, join
sub lists {
    my $n = 0;
    for my $turn (1 .. 6) {
        my @sorted = sort { $a <=> $b } @numbers;
        my $joined = join ',', map { $_ + $turn } @sorted;
        $n += length $joined;
    }
    return $n;
}
# kind: regex
sub matches {
    my $n = 0;
    for my $turn (1 .. 4) {
        $n++ while $text =~ /\b(\w+)ing\b/g;
    }
    return $n;
}
# kind: MD5 (XS)
sub digests {
    my $all = '';
    for my $turn (1 .. 5) {
        $all .= md5_hex($bytes);
    }
    return $all;
}
# kind: 250 tiny calls
sub calls {
    my $n = 0;
    for my $turn (1 .. 50) {
        $n = one_more($n) for 1 .. 250;
    }
    return $n;
}
sub one_more {
    return $_[0] + 1;
}
# kind: while (call)
sub loops {
    my ($n, $y) = (0, 0);
    while (is_less($n)) {
        $n++;
        $y += $n;
    }
    return $y;
}
sub is_less {
    my ($n) = @_;
    return $n < 10_000;
}
# kind:

my @kinds = (
    [ 'tiny statements' => \&tiny ], [ 'sort, map, join' => \&lists ], [ 'regex' => \&matches ],
    [ 'MD5 (XS)' => \&digests ], [ '250 tiny calls' => \&calls ], [ 'while (call)' => \&loops ],
);
my %cpu;
for (1 .. $slices) {
    for my $kind (@kinds) {
        my $before = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
        $kind->[1]->();
        $cpu{ $kind->[0] } += clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $before;
    }
}
# Bench.pm expects a name without blanks.
printf "=%s %.9f\n", $_->[0] =~ tr/ /_/r, $cpu{ $_->[0] } for @kinds;
