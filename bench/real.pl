#!/usr/bin/perl
# A real program, plain and profiled: CPU time of the whole run.
#     perl bench/real.pl [--rounds 9]
use strict;
use warnings;
use Config;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(sides rounds median table ours_version);
use Getopt::Long;

GetOptions('rounds=i' => \(my $rounds = 9)) or exit 2;
print ours_version(), "\n\n";

my ($pod) = grep { -e } map { ("$_/pod/perlfunc.pod", "$_/perlfunc.pod", "$_/pods/perlfunc.pod") }
    $Config{privlibexp}, @INC;
my ($tidy) = grep { -x } map { ("$_/perltidy") } split /:/, $ENV{PATH};
my ($big) = grep { -e } map { ("$_/perl5db.pl") } @INC;
my @programs;
push @programs, [ 'pod2text perlfunc.pod', "$FindBin::Bin/pod2text.pl", $pod ] if $pod;
push @programs, [ 'perltidy perl5db.pl', "$FindBin::Bin/perltidy.pl", $tidy, $big ]
    if $tidy && $big;
print "perlfunc.pod not found (Debian: perl-doc)\n" unless $pod;
print "perltidy not found (Debian: perltidy)\n" unless $tidy;

my @sides = sides('plain', 'DProf', 'DProf, tree', 'NYTProf, stmts=0', 'old DProf');
for my $program (@programs) {
    my ($title, @command) = @$program;
    my $all = rounds($rounds, \@sides, @command);
    print "$title: CPU seconds of the whole run, medians of $rounds interleaved rounds\n";
    table(
        [ '', 'CPU s', 'times plain' ],
        map {
            my $cpu = $all->{ $_->[0] }{cpu};
            my @r = map { $cpu->[$_] / $all->{plain}{cpu}[$_] } 0 .. $rounds - 1;
            [ $_->[0], sprintf('%.3f', median(@$cpu)), sprintf('%.2f', median(@r)) ]
        } @sides
    );
}
