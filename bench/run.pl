#!/usr/bin/perl
# Runs all benchmarks, one after the other: make bench.
use strict;
use warnings;
use FindBin;

my @all = qw(cost real lines sample slices distortion instructions start dprofpp dprofreport
    dprofdiff dprofdiff-runs dprofexport dprofexport-chrome dprofflame);
my $bad = 0;
for my $name (@ARGV ? @ARGV : @all) {
    next unless -e "$FindBin::Bin/$name.pl";
    print "== $name ==\n";
    $bad ||= system($^X, "$FindBin::Bin/$name.pl") != 0;
}
exit($bad ? 1 : 0);
