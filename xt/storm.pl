#!/usr/bin/perl
# Storms of children: each has its file, the sums are right, and no resource grows in the parent.
#
#   perl Makefile.PL && make
#   perl xt/storm.pl [CHILDREN [SEED]]
#
# 500 children of one program at most 40 at a time, in both modes; they end by exit, by
# POSIX::_exit, by a signal, by exec, or as parents of their own. Exit status 0: all was right.

use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../t/lib", "$FindBin::Bin/../blib/lib", "$FindBin::Bin/../blib/arch";
use DProfTest;
use RunReader;

my ($children, $seed) = @ARGV;
$children ||= 500;
$seed //= time;
print "# children $children, seed $seed\n";

my $file = spew(scratch() . '/storm.pl', <<'END');
use strict; use warnings; use POSIX ();
our ($children, $seed) = @ARGV;
srand $seed;
my (%sum, %kid);
sub f { 1 } sub g { f() for 1 .. 2 }
sub sizes {
    my ($rss) = do { open my $in, '<', '/proc/self/statm'; <$in> } =~ /^\d+ (\d+)/;
    my @fd = glob '/proc/self/fd/*';
    return (4 * $rss, scalar @fd);
}
sub ends {
    my $how = shift;
    POSIX::_exit(1) if $how == 1;
    kill TERM => $$ if $how == 2;
    kill KILL => $$ if $how == 3;
    exec 'true' if $how == 4;
    die "\n" if $how == 5;
    exit 0;
}
sub child {
    my ($n, $how) = @_;
    g() for 1 .. $n;
    if ($how == 6) { my $p = fork; g() for 1 .. $n; waitpid $p, 0 if $p }
    if ($how == 7) { eval "sub own$n { g() } own$n() for 1 .. $n" }
    ends($how);
}
sub reap { my $p = wait; delete $kid{$p} }
my @before;
for my $i (1 .. $children) {
    my ($n, $how) = (int rand(30), int rand(8));
    $sum{child}++;
    $sum{g} += $n * ($how == 6 ? 3 : $how == 7 ? 2 : 1);
    my $p = fork // die "fork: $!";
    child($n, $how) if !$p;
    $kid{$p} = 1;
    reap() while keys %kid > 40;
    @before = sizes() if $i == int $children / 3;
}
reap() while %kid;
my @after = sizes();
$sum{f} = 2 * $sum{g};
print "$_ $sum{$_}\n" for sort keys %sum;
print "kB: $before[0] $after[0]\nfds: $before[1] $after[1]\n";
END

my $bad = 0;
for (MODES) {
    my ($mode, $env) = @$_;
    my $run = profiled([$file, $children, $seed], env => $env, limit => 600);
    my %want = $run->{out} =~ /^(\w+) (\d+)$/mg;
    my ($calls, @outcomes) = calls_of_run($run->{profile});
    my @wrong = map { ($calls->{"main::$_"} // 0) == $want{$_} ? ()
        : "$_: " . ($calls->{"main::$_"} // 0) . ", not $want{$_}" } sort keys %want;
    my ($kb0, $kb1) = $run->{out} =~ /^kB: (\d+) (\d+)/m;
    my ($fd0, $fd1) = $run->{out} =~ /^fds: (\d+) (\d+)/m;
    push @wrong, "memory: $kb0 kB after a third, $kb1 at the end" if $kb1 > $kb0 + 300;
    push @wrong, "descriptors: $fd0 after a third, $fd1 at the end" if $fd0 != $fd1;
    push @wrong, "status $run->{raw}: $run->{err}" if $run->{raw} || $run->{err} =~ /\S/;
    my %code;
    $code{ $_->{code} }++ for @outcomes;
    my @odd = grep { $_->{code} && $_->{code} != Devel::DProf::Profile::TRUNCATED } @outcomes;
    push @wrong, map { "outcome $_->{code}: $_->{message}" } @odd;
    my $files = grep { !/live$/ } run_files($run);
    push @wrong, "files: $files, read " . @outcomes if $files != @outcomes;
    printf "%s %s: %d files, %d cut short, %d calls, %d kB\n", @wrong ? 'not ok' : 'ok', $mode,
        $files, $code{ +Devel::DProf::Profile::TRUNCATED } // 0, $want{f} + $want{g}, $kb1;
    print "  $_\n" for @wrong;
    $bad += @wrong;
}
exit($bad ? 1 : 0);
