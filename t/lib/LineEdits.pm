package LineEdits;

# Random programs, random edits of them, and their made-up profiles. Each line has an identity, so
# that a test knows which line of one version is which of the other.

use strict;
use warnings;
use Exporter 'import';
use Compress::Zlib ();
use MadeUp;

our @EXPORT = qw(program edited text_of profile_of);

# Makes a program: a list of subs, [NAME, [IDENTITY, ...]]. The text of a line with an identity is
# unique.
my $identity = 0;
# Makes a program of this many subs, each with at most this many lines: [[NAME, [IDENTITY, ...]],
# ...].
sub program {
    my ($subs, $lines) = @_;
    return [map { my $sub = $_; ["f$sub", [map { ++$identity } 1 .. 2 + int rand $lines]] }
        1 .. $subs];
}

# Returns the program with insertions, deletions, subs in another order and, with move, lines that
# have moved within their sub.
sub edited {
    my ($program, %how) = @_;
    my @subs = map { [$_->[0], [@{ $_->[1] }]] } @$program;
    for my $sub (@subs) {
        my $lines = $sub->[1];
        for (1 .. int rand 4) {
            my $at = int rand @$lines;
            my $what = rand;
            if ($what < 0.5) { splice @$lines, $at, 0, ++$identity }
            elsif ($what < 0.8) { splice @$lines, $at, 1 if @$lines > 1 }
            elsif ($how{move}) {
                my ($moved) = splice @$lines, $at, 1;
                splice @$lines, int rand(@$lines + 1), 0, $moved;
            }
        }
    }
    if ($how{move} && @subs > 1 && rand() < 0.5) {
        my ($moved) = splice @subs, int rand @subs, 1;
        splice @subs, int rand(@subs + 1), 0, $moved;
    }
    return [@subs];
}

# Returns the text of a program, and the line of each identity as a hash. Every second version is
# indented in another way.
sub text_of {
    my ($program, $indent) = @_;
    my (@lines, %at);
    push @lines, '# ' . ('x' x rand 3) for 1 .. rand 3;
    for my $sub (@$program) {
        push @lines, "sub $sub->[0] {";
        for my $id (@{ $sub->[1] }) {
            push @lines, "$indent\$n += $id;";
            $at{$id} = @lines;
        }
        push @lines, '}', '';
    }
    return (join('', map { "$_\n" } @lines), \%at);
}

# Returns the text of a profile of a program whose file is `text`. cost: [COUNT, TICKS, OPS] by
# identity, for lines that ran.
sub profile_of {
    my ($program, $file, $text, $at, $cost, %how) = @_;
    my (@subs, @nodes, @lines, @root);
    my $id = 0;
    for my $sub (@$program) {
        my @ran = grep { $cost->{$_} } @{ $sub->[1] } or next;
        $id++;
        push @subs, "main $sub->[0] $file:$at->{ $ran[0] }";
        my @sum = map { my $k = $_; my $sum = 0; $sum += $cost->{$_}[$k] for @ran; $sum } 1, 2;
        push @nodes, sprintf '= 1 %x 1 %d 0 %d 0 0 %d', $id, @sum[0, 0, 1];
        push @lines, map { [$at->{$_}, $id, @{ $cost->{$_} }] } @ran;
    }
    my $crc = sprintf '%x', Compress::Zlib::crc32($text);
    my @known = $how{without_source} ? () : ('size=' . length $text, "crc=$crc");
    @lines = map {
        my ($line, $sub, $count, $ticks, $ops) = @$_;
        sprintf '#l %d %x %d%s', $line, $sub, $count,
            $how{counts} ? '' : " $ticks 0 $ticks $ops";
    } sort { $a->[0] <=> $b->[0] } @lines;
    return profile_text(format => 'tree', hz => 1000, version => '20261120.00', complete => 1,
        counters => 'ops:ops',
        header => "\$dprof_lines='" . ($how{counts} ? 'count' : 'time') . "';\n"
            . "\$dprof_hash_seed='0'; \$dprof_perturb_keys='0'; \$dprof_script='$file';",
        subs => \@subs,
        lines => ['= 0 0 1 0 0 0 0 0 0', @nodes, join(' ', "#f $file", @known), @lines]);
}

1;
