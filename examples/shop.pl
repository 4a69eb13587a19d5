#!/usr/bin/perl
# A shop over DBI and SQLite, whose list of customers executes two statements for each of them. The
# page of its profile says how many statements are equal.
#
#     perl -d:DProf=tree,detail=sql examples/shop.pl
use strict;
use warnings;

package Shop::Store;

use DBI;

use constant { CUSTOMERS => 40, ORDERS => 4000 };

sub open {
    my ($class) = @_;
    my $db = DBI->connect('dbi:SQLite:dbname=:memory:', '', '', { RaiseError => 1 });
    $db->do('CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT)');
    $db->do('CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER, cents INTEGER)');
    my $self = bless { db => $db }, $class;
    $self->fill;
    return $self;
}

sub fill {
    my ($self) = @_;
    my $db = $self->{db};
    $db->begin_work;
    my $customer = $db->prepare('INSERT INTO customers VALUES (?, ?)');
    $customer->execute($_, "Customer $_") for 1 .. CUSTOMERS;
    my $order = $db->prepare('INSERT INTO orders VALUES (?, ?, ?)');
    $order->execute($_, 1 + $_ % CUSTOMERS, $_ * 37 % 9973) for 1 .. ORDERS;
    $db->commit;
    return;
}

sub customers {
    my ($self) = @_;
    return @{ $self->{db}->selectcol_arrayref('SELECT id FROM customers ORDER BY name') };
}

sub name_of {
    my ($self, $id) = @_;
    return $self->{db}->selectrow_array('SELECT name FROM customers WHERE id = ?', undef, $id);
}

sub total_of {
    my ($self, $id) = @_;
    return $self->{db}->selectrow_array('SELECT sum(cents) FROM orders WHERE customer = ?', undef,
        $id);
}

sub best {
    my ($self, $most) = @_;
    return @{ $self->{db}->selectall_arrayref('SELECT c.name, sum(o.cents) AS total FROM orders o'
            . ' JOIN customers c ON c.id = o.customer GROUP BY c.id ORDER BY total DESC'
            . " LIMIT $most") };
}

package Shop::Page;

sub row { my ($name, $cents) = @_; return sprintf "%-20s %10.2f\n", $name, $cents / 100 }

# Asks the database twice for each customer. One statement with a join would do.
sub all_customers {
    my ($store) = @_;
    return join '', map { row($store->name_of($_), $store->total_of($_)) } $store->customers;
}

sub best_customers {
    my ($store) = @_;
    return join '', map { row(@$_) } $store->best(5);
}

package main;

use Devel::DProf::Control;

my $store = Shop::Store->open;
Devel::DProf::Control::mark('all customers');
print Shop::Page::all_customers($store), "\n";
Devel::DProf::Control::mark('best customers');
print Shop::Page::best_customers($store);
