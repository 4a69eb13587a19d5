# What it does is right.
use strict;
use warnings;
use Test::More;

use Inventory;

my $stock = Inventory->new;
$stock->deliver('A1 4', 'B2 10', 'A1 2');
is($stock->find('A1')->count, 6, 'deliveries add up');
is_deeply([$stock->order('A1 5', 'B2 11', 'C3 1')], ['B2 11', 'C3 1'], 'what cannot be had');
is($stock->find('A1')->count, 1, 'what is left');

my @lines = map { "C$_ 3" } 1 .. 40;
$stock->deliver(@lines);
is_deeply([$stock->order(@lines, 'C7 1')], ['C7 1'], 'much comes, and goes');
done_testing;
