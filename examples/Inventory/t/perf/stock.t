# What it costs stays what it was: calls, which are the same on each machine.
use strict;
use warnings;
use Test::DProf -pinned;
use Test::More;

use Inventory;

my @lines = map { "A$_ 2" } 1 .. 200;
my $p = profile_ok {
    my $stock = Inventory->new;
    $stock->deliver(@lines);
    $stock->order(@lines);
} '200 kinds of goods come and go';

calls_ok $p, 'Inventory::find', '==', 400, 'each line is looked up once';
no_regression_ok $p, baseline => 't/perf/stock.tmon', counters_only => 1, fail_if => 'calls > 0',
    name => 'same calls';
done_testing;
