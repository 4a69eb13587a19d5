#!/usr/bin/perl
# Tries what a machine may refuse, and how a process may be ended, at many points. It tries kill -9
# at random moments, full disks of 4 kB to 1 MB, and limits on address space, descriptors and the
# size of files in a forked child. The program must print and return what it does without the
# profiler, and the tools must read what is left; of killed processes, all calls.
#
#   perl xt/limits.pl [--what kills|disks|limits] [--kills N]
#
# --kills: so many (200). Needs a built tree (make), util-linux, and root for the disks (tmpfs).
# Exit status 1 where a program has noticed, or a profile cannot be read.
use strict;
use warnings;
use FindBin;
use Getopt::Long;
use lib "$FindBin::Bin/lib";
use Time::HiRes ();
use Unnoticed;
use RunReader 'calls_of';

my ($kills, @what) = (200);
GetOptions('kills=i' => \$kills, 'what=s' => \@what) or die "see the top of $0\n";
@what = qw(kills disks limits) if !@what;

my $work = 'use strict; my $n = 0; sub f { $n++ } sub g { f() for 1 .. 10; return } '
    . 'sub deep { my $d = shift; $d ? deep($d - 1) : g() } ';

sub kills {
    my @ways = sort keys %WAY;
    my $file = spew('killed.pl', "no warnings; $work" . <<'END');
open my $out, '>', 'count' or die; $| = 1;
while (1) {
    g(); deep(20); eval "sub of_eval$n { f() } of_eval$n()" if $n < 2000;
    sysseek $out, 0, 0; syswrite $out, sprintf '%12d', $n;
}
END
    my $dir = folder('killed');
    for my $i (1 .. $kills) {
        my $way = $ways[$i % @ways];
        unlink glob "$dir/*";
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            chdir $dir or die;
            open STDERR, '>', '/dev/null' or die;
            exec $^X, profiler($WAY{$way}), $file or die;
        }
        Time::HiRes::sleep(0.01) until -s "$dir/count" || waitpid $pid, 1;   # WNOHANG
        Time::HiRes::sleep(rand 0.2);
        kill KILL => $pid;
        waitpid $pid, 0;
        my @wrong = unreadable($dir);
        my $least = slurp("$dir/count") || 0;
        my ($all) = calls_of("$dir/tmon.out");
        my $calls = $all->{'main::f'} // 0;
        push @wrong,
            "$calls calls of f, where the program counted $least and no more than 22 others"
            if $calls < $least || $calls > $least + 22;
        judge("kill $i, $way", @wrong);
    }
    return;
}

sub disks {
    return print "# not root: no disks\n" if $>;
    my $file = spew('disk.pl', $work
        . 'for (1 .. 400) { g(); deep(30); eval "sub of_eval$_ { f() } of_eval$_()" } '
        . 'my $pid = fork; if (!$pid) { g() for 1 .. 300; exit 7 } waitpid $pid, 0; '
        . 'print "$n ", $? >> 8, "\n"; exit 3');
    my $dir = folder('disk');
    my ($plain) = run("$dir", $file);
    for my $kb (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024) {
        system("mount -t tmpfs -o size=${kb}k tmpfs '$dir'") == 0
            or return print "# no tmpfs: no disks\n";
        for my $way (sort keys %WAY) {
            my ($got, @said) = run("$dir", profiler($WAY{$way}), $file);
            judge("disk of $kb kB, $way", $got eq $plain ? () : "plain:\n$plain  profiled:\n$got",
                @said > 4 ? "said: @said" : (), unreadable($dir));
        }
        system("umount '$dir'") == 0 or die "umount\n";
    }
    return;
}

sub limits {
    my $file = spew('limit.pl', $work . <<'END');
my ($which, $more) = @ARGV;
sub limit { my $to = shift; system('prlimit', '--pid', $$, "--$which=$to:$to") == 0 or die }
my @spare = map { 'x' x 200 } 1 .. 20_000; my $pin = 'y' x 200;
g();
my $pid = fork // die;
if (!$pid) {
    @spare = ();
    my ($pages) = do { open my $in, '<', '/proc/self/statm' or die; <$in> =~ /^(\d+)/ };
    limit($which eq 'as' ? $pages * 4096 + $more : $more);
    $SIG{XFSZ} = sub { print "XFSZ\n" } if $which eq 'fsize';
    g() for 1 .. 500; deep(30); eval "sub of_eval$_ { f() } of_eval$_()" for 1 .. 50;
    print "child $n\n";
    exit 5;
}
waitpid $pid, 0;
print "$n ", $? >> 8, ' ', $? & 127, "\n";
exit 3;
END
    my $dir = folder('limit');
    my @cases = ((map { [as => $_ * 4096] } 0 .. 8, 16, 32, 64, 128, 256, 512, 1024, 4096),
        (map { [nofile => $_] } 0 .. 12),
        (map { [fsize => $_] } 0, 1, 100, 4096, 5000, 8192, 20_000, 65_536, 1e6));
    for my $case (@cases) {
        my ($plain) = run("$dir", $file, @$case);
        if ($plain =~ /Out of memory/i) {
            print "# @$case: too little for the plain program\n";
            next;
        }
        for my $way (sort keys %WAY) {
            my ($got, @said) = run("$dir", profiler($WAY{$way}), $file, @$case);
            judge("limit @$case, $way", $got eq $plain ? () : "plain:\n$plain  profiled:\n$got",
                @said > 3 ? "said: @said" : (), unreadable($dir));
        }
    }
    return;
}

for (@what) {
    ({ kills => \&kills, disks => \&disks, limits => \&limits }->{$_}
        or die "--what $_: kills, disks or limits\n")->();
    print "# $_: done\n";
}
exit ends('cases');
