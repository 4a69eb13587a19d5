package Devel::DProf::Store::ClickHouse::Trees;

# Tree files from rows of tables: the same bytes that became these rows.

use strict;
use warnings;

use Devel::DProf::Core;
use Devel::DProf::Store::ClickHouse::Rows;

our $VERSION = $Devel::DProf::Core::VERSION;

sub new { return bless { context => { 0 => [0, '', ''] }, is_ranked => 0 }, shift }

sub has { return exists $_[0]{context}{ $_[1] } }

# Tells of a context: what is above it, the sub's line, the place of the call.
sub context {
    my ($self, $ctx, $parent, $line, $at) = @_;
    return if exists $self->{context}{$ctx};
    $self->{context}{$ctx} = [$parent, $line, $at];
    $self->{is_ranked} = 0;
    return;
}

# Adds to each context its rank in the order of a tree, and its depth.
sub rank {
    my ($self) = @_;
    my $context = $self->{context};
    my %kids;
    push @{ $kids{ $context->{$_}[0] } }, $_ for grep { $_ } keys %$context;
    my ($rank, @todo) = (0, [0, 0]);
    while (my $next = pop @todo) {
        my ($ctx, $depth) = @$next;
        @{ $context->{$ctx} }[3, 4] = ($rank++, $depth);
        my $kids = delete $kids{$ctx} or next;
        # The first is to be taken first.
        push @todo, map { [$_, $depth + 1] } sort {
            my ($x, $y) = @$context{$a, $b};
            $y->[1] cmp $x->[1] || $y->[2] cmp $x->[2];
        } @$kids;
    }
    $self->{is_ranked} = 1;
    return;
}

# Returns the text of a tree of a hash: header; names, a list; samples, a list of [ctx, keys,
# numbers]; histograms, a list of [line, buckets, calls]; statements, a list of rows in their order
# (kind, text of the file, line number, line of the sub, numbers, keys). Undef if a context is
# missing.
sub text {
    my ($self, $tree) = @_;
    $self->rank if !$self->{is_ranked};
    my $context = $self->{context};
    my @samples = @{ $tree->{samples} };
    for my $sample (@samples) {
        my $c = $context->{ $sample->[0] };
        return undef if !$c || !defined $c->[3];
        push @$sample, $c;
    }
    @samples = sort { $a->[3][3] <=> $b->[3][3] } @samples;
    my %id = ('' => '0');
    $id{$_} = 1 for map({ $_->[3][1] } @samples), @{ $tree->{names} },
        map({ $_->[0] } @{ $tree->{histograms} }), map({ $_->[3] } @{ $tree->{statements} });
    my @lines = sort grep { length } keys %id;
    $id{''} = '0';
    $id{ $lines[$_] } = sprintf '%x', $_ + 1 for 0 .. $#lines;
    my $text = $tree->{header} . join '', map { "& $id{$_} $_\n" } @lines;
    for my $sample (@samples) {
        my ($more, $numbers, $c) = @$sample[1 .. 3];
        $text .= "= $c->[4] $id{ $c->[1] } $numbers" . (length $c->[2] ? " at=$c->[2]" : '')
            . "$more\n";
    }
    my %histogram = map { $_->[0] => $_ } @{ $tree->{histograms} };
    for my $row (map { $histogram{$_} // () } @lines) {
        my ($line, $buckets, $calls) = @$row;
        $text .= "h $id{$line} " . join(' ', map { "$buckets->[$_]:$calls->[$_]" } 0 .. $#$buckets)
            . "\n";
    }
    return $text . join '', map { statement($_, \%id) } @{ $tree->{statements} };
}

sub statement {
    my ($row, $id) = @_;
    my ($kind, $file, $number, $line, $numbers, $more) = @$row;
    return "#f $file\n" if $kind == Devel::DProf::Store::ClickHouse::Rows::FILE;
    # Of what was only counted there is no time.
    $numbers =~ s/ .*// if $kind == Devel::DProf::Store::ClickHouse::Rows::COUNTED;
    return "#l $number $id->{$line} $numbers$more\n";
}

1;
