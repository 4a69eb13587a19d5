package Devel::DProf::Store::ClickHouse::Trees;

# Turns rows of tables back into tree files, byte for byte.

use strict;
use warnings;

use Devel::DProf::Core;
use Devel::DProf::Store::ClickHouse::Rows;

our $VERSION = $Devel::DProf::Core::VERSION;

# Makes the object that turns rows into trees. {context}{CTX} is [the parent context, the sub's
# line, the place of the call]. The rank of a context is its position in the tree; {depth}, {line}
# and {at} are lists by rank.
sub new { return bless { context => {}, rank => undef }, shift }

# Adds a context that the trees may have, from a row of dprof_contexts.
sub context {
    my ($self, $ctx, $parent, $line, $at) = @_;
    return if exists $self->{context}{$ctx};
    $self->{context}{$ctx} = [$parent, $line, $at];
    delete $self->{rank};
    return;
}

# Gives each context its rank. Must be called after the last context and before the first sample.
sub rank {
    my ($self) = @_;
    return if $self->{rank};
    my $context = $self->{context};
    my (%kids, %rank, @depth, @line, @at);
    push @{ $kids{ $context->{$_}[0] } }, $_ for keys %$context;
    my @todo = [0, 0];
    while (my $next = pop @todo) {
        my ($ctx, $depth) = @$next;
        my (undef, $line, $at) = @{ $context->{$ctx} || [0, '', ''] };
        $rank{$ctx} = @depth;
        push @depth, $depth;
        push @line, $line;
        push @at, length $at ? " at=$at" : '';
        # pop takes the last one first, so the order is reversed.
        push @todo, map { [$_, $depth + 1] } sort {
            my ($x, $y) = @$context{$a, $b};
            $y->[1] cmp $x->[1] || $y->[2] cmp $x->[2];
        } @{ delete $kids{$ctx} || [] };
    }
    @$self{qw(rank depth line at)} = (\%rank, \@depth, \@line, \@at);
    return;
}

# Returns the line of a context's sub, '' for the root or an unknown context.
sub line { return ($_[0]{context}{ $_[1] } // [0, ''])->[1] }

# Returns a context's parent, the line of its sub and the place of the call.
sub parts { return @{ $_[0]{context}{ $_[1] } } }

# Returns known contexts in the order of a tree.
sub in_order {
    my ($self, @ctx) = @_;
    my $rank = $self->{rank};
    return sort { $rank->{$a} <=> $rank->{$b} } grep { defined $rank->{$_} } @ctx;
}

# Adds the numbers and keys of a context to a tree. Samples of unknown contexts are left out.
sub sample {
    my ($self, $tree, $ctx, $numbers, $more) = @_;
    my $rank = $self->{rank}{$ctx};
    $tree->{samples}{$rank} = "$numbers$self->{at}[$rank]$more" if defined $rank;
    return;
}

# Returns the text of a tree. The hash has header; names, a list; ids, the IDs of the file, or '';
# samples; histograms, by line of the sub; and statements, a list of rows in their order (kind, text
# of the file, line number, line of the sub, numbers, keys).
sub text {
    my ($self, $tree) = @_;
    my ($depth, $line) = @$self{qw(depth line)};
    my ($samples, $histograms) = @$tree{qw(samples histograms)};
    my @ranks = sort { $a <=> $b } keys %$samples;
    my ($header, $rows, @server) = parts_of($tree->{header});
    my %id;
    @id{ @$line[@ranks], @{ $tree->{names} }, keys %$histograms, keys %$rows,
        map { $_->[3] } @{ $tree->{statements} } } = ();
    my @lines = sort grep { length } keys %id;
    $id{''} = '0';
    my @names = @lines;
    if (length($tree->{ids} // '')) { name_subs($tree->{ids}, \%id, \@names, @lines) }
    else { $id{ $lines[$_] } = sprintf '%x', $_ + 1 for 0 .. $#lines }
    my @text = ((map { "& $id{ $lines[$_] } $names[$_]\n" } 0 .. $#lines),
        (map { "= $depth->[$_] $id{ $line->[$_] } $samples->{$_}\n" } @ranks),
        (map { "h $id{$_} $histograms->{$_}\n" } grep { exists $histograms->{$_} } @lines),
        (map { statement_line($_, \%id) } @{ $tree->{statements} }),
        (map { "#s $id{$_} rows=$rows->{$_}\n" } grep { exists $rows->{$_} } @lines), @server);
    push @text, last_line(scalar @text, map { $samples->{$_} } @ranks)
        if $header =~ /(?:^|; )\$dprof_end=1;/m;
    return join '', $header, @text;
}

# Gives subs, whose lines are sorted, the IDs and numbers that the file had (Rows.pm: names). $id:
# the IDs by line; $names: the lines as the file had them.
sub name_subs {
    my ($codes, $id, $names, @lines) = @_;
    my ($last, @codes) = (0, split / /, $codes);
    for my $i (0 .. $#lines) {
        my ($gap, $form, $seq) = ($codes[$i] // 0) =~ /\A(\d+)(?:([:^])(\d+))?/;
        $last += 1 + $gap;
        $id->{ $lines[$i] } = sprintf '%x', $last;
        next if !defined $form;
        my ($place, $rest) = $lines[$i] =~ /\A(\S+ \S+ \S+)(.*)\z/s;
        $rest =~ s/ seq=\d+(?= |\z)//;
        $names->[$i] = $form eq ':' ? "$place$rest seq=$seq" : "$place seq=$seq$rest";
    }
    return;
}

# Takes out of a header the lines that Rows.pm has put there. Returns the header, the rows of spans
# by the lines of their names, and the lines about a server.
sub parts_of {
    my ($header) = @_;
    my (%rows, @server);
    $header =~ s/^#s (\d+) (.*)\n/$rows{$2} = $1; ''/gme;
    $header =~ s/^(#[ar] .*\n)/push @server, $1; ''/gme;
    return ($header, \%rows, @server);
}

# Returns the last line of a tree: the number of its lines, and the sums of its samples.
sub last_line {
    my ($lines, @samples) = @_;
    my @sums = (0) x 4;
    for my $sample (@samples) {
        my @numbers = split / /, $sample, 5;
        $sums[$_] += $numbers[$_] for 0 .. 3;
    }
    return sprintf "# end lines=%d calls=%d user=%d system=%d real=%d\n", $lines, @sums;
}

# Returns the line of a statement, or of the file that the following statements are in. $id: the ids
# of subs by the text of their lines.
sub statement_line {
    my ($row, $id) = @_;
    my ($kind, $file, $number, $line, $numbers, $more) = @$row;
    return "#f $file\n" if $kind == Devel::DProf::Store::ClickHouse::Rows::FILE;
    # Statements that were only counted have no times.
    $numbers =~ s/ .*// if $kind == Devel::DProf::Store::ClickHouse::Rows::COUNTED;
    return "#l $number $id->{$line} $numbers$more\n";
}

1;
