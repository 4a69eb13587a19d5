#!/usr/bin/perl
# What heap=exact and heap=sample cost: by kinds of statements, in whole programs, and in memory.
# Runs with and without them alternate; medians are printed.
#
#   perl Makefile.PL && make
#   perl bench/heap.pl [PAIRS [statements|programs|memory]]
#
# Statements: ns of a plain one, one that makes values, and a call, with heap=exact and heap=sample
# on a tree, and with heap=sample on sample=100. Programs: user and system CPU time of perltidy,
# pod2text and a server of Mojolicious. Memory: what heap=sample adds to a heap of 300 MB.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Bench qw(rounds programs median table scratch top);

my @sampled = (['tree', 'tree,heap=sample'], ['sample=100', 'sample=100,heap=sample']);
my ($pairs, $part) = (shift // 7, shift // '');
my %part = (statements => \&statements, programs => \&whole, memory => \&memory);
die "bench: there is no part $part\n" if $part && !$part{$part};
$part{$_}->() for $part || qw(statements programs memory);

# Returns a side, as Bench.pm has it, for options of the profiler.
sub side {
    my ($options) = @_;
    my $top = top();
    return [$options, ["-I$top/blib/lib", "-I$top/blib/arch", "-d:DProf=$options"],
        { PERL_DPROF_OUT_FILE_NAME => scratch() . '/out' }];
}

# Writes a program to the scratch folder. Returns its path.
sub written {
    my ($name, $text) = @_;
    my $path = scratch() . "/$name.pl";
    open my $out, '>', $path or die "bench: $path: $!\n";
    print {$out} $text;
    close $out or die "bench: $path: $!\n";
    return $path;
}

# Prints the medians of a number without and with options, and of the pairs' differences: as they
# are, or in percent.
sub compare {
    my ($title, $all, $name, $number, @pairs) = @_;
    print "$title, medians of $pairs pairs\n";
    table(['', 'without', 'with', 'more'], map {
        my ($was, $is) = map { $all->{$_}{$name} } @$_;
        my @more = map { $number eq '%' ? ($is->[$_] / $was->[$_] - 1) * 100
            : $is->[$_] - $was->[$_] } 0 .. $#$was;
        [$_->[1], sprintf('%.2f', median(@$was)), sprintf('%.2f', median(@$is)),
            sprintf('%+.1f%s', median(@more), $number)]
    } @pairs);
    print "\n";
    return;
}

sub statements {
    my @pairs = (['tree', 'tree,heap=exact'], @sampled);
    my $program = written('statements', <<'END');
sub f { my ($x) = @_; my $y = $x + 1; return $y }
sub ns {
    my ($name, $n, $code) = @_;
    my $began = (times)[0];
    $code->();
    printf "=%s %.3f\n", $name, ((times)[0] - $began) / $n * 1e9;
}
my ($x, $i, @kept);
ns(plain => 10e6,
    sub { $i = 0; while ($i < 2e6) { $x = $i; $x += 2; $x -= 1; $x = $x; $i++ } });
ns(makes => 1.8e6, sub { $i = 0; while ($i < 600_000) { $kept[$i & 1023] = { a => $i };
        my @list = ($i, $i, $i); $i++ } });
ns(call => 1e6, sub { $i = 0; while ($i < 1e6) { f($i); $i++ } });
END
    my %seen;
    my $all = rounds($pairs, [map { side($_) } grep { !$seen{$_}++ } map { @$_ } @pairs], $program);
    my %title = (plain => 'a plain statement', makes => 'a statement that makes values',
        call => 'a call');
    compare("$title{$_}, ns", $all, $_, '', @pairs) for qw(plain makes call);
    return;
}

sub whole {
    my @programs = programs();
    push @programs, ['a server of Mojolicious, 3,000 requests', "$FindBin::Bin/mojo.pl", 3000]
        if eval { require Mojolicious; 1 };
    for my $program (@programs) {
        my ($title, @command) = @$program;
        my $all = rounds($pairs, [map { side($_) } map { @$_ } @sampled], @command);
        compare("$title: CPU seconds", $all, 'cpu', '%', @sampled);
    }
    return;
}

# A program with a heap of some 300 MB, at its end.
sub memory {
    my $program = written('memory', <<'END');
my @kept;
sub keep { my ($n) = @_; push @kept, { id => $n, text => "text of $n", list => [1 .. 5] }; return }
keep($_) for 1 .. 470_000;
END {
    open my $in, '<', '/proc/self/status' or die "bench: /proc/self/status: $!\n";
    while (<$in>) { printf "=mb %.3f\n", $1 / 1024 if /^VmHWM:\s+(\d+)/ }
}
END
    my $all = rounds($pairs, [map { side($_) } map { @$_ } @sampled], $program);
    compare('peak memory in MB', $all, 'mb', '%', @sampled);
    return;
}
