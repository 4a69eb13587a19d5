package Inventory;

# What is in stock: deliveries come in, orders go out.

use strict;
use warnings;

our $VERSION = '1.00';

sub new {
    my ($class) = @_;
    return bless { items => [], by_code => {} }, $class;
}

# Lines such as `A17 4': what has come, and how many of it.
sub deliver {
    my ($self, @lines) = @_;
    for my $line (@lines) {
        my ($code, $count) = split ' ', $line;
        my $item = $self->find($code) // $self->shelve(Inventory::Item->new($code));
        $item->add($count);
    }
    return;
}

# The same lines: what is wanted. Returns those that cannot be had.
sub order {
    my ($self, @lines) = @_;
    my @short;
    for my $line (@lines) {
        my ($code, $count) = split ' ', $line;
        my $item = $self->find($code);
        if ($item && $item->count >= $count) { $item->add(-$count) }
        else { push @short, $line }
    }
    return @short;
}

sub shelve {
    my ($self, $item) = @_;
    push @{ $self->{items} }, $item;
    return $self->{by_code}{ $item->code } = $item;
}

sub find {
    my ($self, $code) = @_;
    return $self->{by_code}{$code};
}

package Inventory::Item;

sub new {
    my ($class, $code) = @_;
    return bless { code => $code, count => 0 }, $class;
}

sub code  { $_[0]{code} }
sub count { $_[0]{count} }

sub add {
    my ($self, $count) = @_;
    $self->{count} += $count;
    return;
}

1;
