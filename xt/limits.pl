#!/usr/bin/perl
# What a machine may refuse, and how a process may be ended, at many points: kill -9 at random
# moments, disks of 4 kB to 1 MB that are full, and limits on address space, descriptors and the
# size of files in a forked child. The program has to say and return what it does without us, and
# the tools have to read what is left; of killed processes, all calls.
#
#   perl xt/limits.pl [--what kills|disks|limits] [--kills N]
#
# --kills: so many (200). Needs a built tree (make), util-linux, and root for the disks (tmpfs).
# Exit status 1 where a program has noticed, or a profile cannot be read.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Glob ':bsd_glob';
use File::Temp 'tempdir';
use Getopt::Long;
use Time::HiRes ();

my $top = abs_path(dirname(__FILE__) . '/..');
my ($kills, @what) = (200);
GetOptions('kills=i' => \$kills, 'what=s' => \@what) or die "see the top of $0\n";
@what = qw(kills disks limits) if !@what;
my $dir = tempdir('dprof-limits-XXXX', TMPDIR => 1, CLEANUP => 1);
my %way = (
    trace => 'mode=trace', tree => 'tree', compress => 'compress=6', packed => 'tree,compress=6',
    limit => 'limit=3000,buffer=50', events => 'events=?ops+svs', sites => 'tree,callsites=1',
);
my @blib = ("-I$top/blib/lib", "-I$top/blib/arch");
delete @ENV{ grep { /^PERL/ } keys %ENV };

sub spew {
    my ($path, $text) = @_;
    open my $out, '>', $path or die "$path: $!\n";
    print {$out} $text;
    close $out or die "$path: $!\n";
    return $path;
}

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or return '';
    local $/;
    return scalar <$in> // '';
}

# Runs a program in a folder: what it says and its status; what is said of us.
sub run {
    my ($where, @args) = @_;
    unlink glob "$where/*";
    my $status = system("cd '$where' && timeout 60 $^X @args"
        . " >'$dir/stdout' 2>'$dir/stderr' </dev/null");
    # D: of our line, where a file may have one byte
    my @err = grep { $_ ne 'D' } split /^/, slurp("$dir/stderr");
    return join('', slurp("$dir/stdout"), "status $status\n", grep { !/^DProf: / } @err),
        grep { /^DProf: / } @err;
}

# What is wrong with the profiles there; a FILE.live counts with its file.
sub unreadable {
    my ($where) = @_;
    my @wrong;
    for my $file (grep { !/\.live$/ } glob "$where/tmon.out*") {
        my $text = qx{'$^X' @blib '$top/blib/script/dprofpp' -O 1 '$file' 2>&1};
        push @wrong, "$file cannot be read: $text" if $? > 1 << 8 || $? & 127;
    }
    return @wrong;
}

my ($tried, $bad) = (0, 0);
sub judge {
    my ($what, @wrong) = @_;
    $tried++;
    $bad++, print "$what: ", map { s/^/  /mgr . "\n" } @wrong if @wrong;
    return;
}

my $work = 'use strict; my $n = 0; sub f { $n++ } sub g { f() for 1 .. 10; return } '
    . 'sub deep { my $d = shift; $d ? deep($d - 1) : g() } ';

sub kills {
    my @ways = sort keys %way;
    my $file = spew("$dir/killed.pl", "no warnings; $work" . <<'END');
open my $out, '>', 'count' or die; $| = 1;
while (1) {
    g(); deep(20); eval "sub of_eval$n { f() } of_eval$n()" if $n < 2000;
    sysseek $out, 0, 0; syswrite $out, sprintf '%12d', $n;
}
END
    mkdir "$dir/killed";
    for my $i (1 .. $kills) {
        my $way = $ways[$i % @ways];
        unlink glob "$dir/killed/*";
        my $pid = fork // die "fork: $!\n";
        if (!$pid) {
            chdir "$dir/killed" or die;
            open STDERR, '>', "$dir/stderr" or die;
            exec $^X, @blib, "-d:DProf=$way{$way}", $file or die;
        }
        Time::HiRes::sleep(0.01) until -s "$dir/killed/count" || waitpid $pid, 1;   # WNOHANG
        Time::HiRes::sleep(rand 0.2);
        kill KILL => $pid;
        waitpid $pid, 0;
        my @wrong = unreadable("$dir/killed");
        my $least = slurp("$dir/killed/count") || 0;
        my $calls = count_of("$dir/killed/tmon.out");
        push @wrong,
            "$calls calls of f, where the program counted $least and no more than 22 others"
            if $calls < $least || $calls > $least + 22;
        judge("kill $i, $way", @wrong);
    }
    return;
}

# How often main::f was called.
sub count_of {
    my ($file) = @_;
    my $code = 'my $p = Devel::DProf::Profile->new; $p->add(shift); '
        . 'print map { $_->[0] eq "main::f" ? $_->[1] : () } $p->rows({ rows => 1e6 })';
    return qx{'$^X' @blib -MDevel::DProf::Profile -e '$code' '$file'} || 0;
}

sub disks {
    return print "# not root: no disks\n" if $>;
    my $file = spew("$dir/disk.pl", $work
        . 'for (1 .. 400) { g(); deep(30); eval "sub of_eval$_ { f() } of_eval$_()" } '
        . 'my $pid = fork; if (!$pid) { g() for 1 .. 300; exit 7 } waitpid $pid, 0; '
        . 'print "$n ", $? >> 8, "\n"; exit 3');
    mkdir "$dir/disk";
    my ($plain) = run("$dir/disk", $file);
    for my $kb (4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024) {
        system("mount -t tmpfs -o size=${kb}k tmpfs '$dir/disk'") == 0
            or return print "# no tmpfs: no disks\n";
        for my $way (sort keys %way) {
            my ($got, @said) = run("$dir/disk", @blib, "-d:DProf=$way{$way}", $file);
            judge("disk of $kb kB, $way", $got eq $plain ? () : "plain:\n$plain  profiled:\n$got",
                @said > 4 ? "said: @said" : (), unreadable("$dir/disk"));
        }
        system("umount '$dir/disk'") == 0 or die "umount\n";
    }
    return;
}

sub limits {
    my $file = spew("$dir/limit.pl", $work . <<'END');
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
    mkdir "$dir/limit";
    my @cases = ((map { [as => $_ * 4096] } 0 .. 8, 16, 32, 64, 128, 256, 512, 1024, 4096),
        (map { [nofile => $_] } 0 .. 12),
        (map { [fsize => $_] } 0, 1, 100, 4096, 5000, 8192, 20_000, 65_536, 1e6));
    for my $case (@cases) {
        my ($plain) = run("$dir/limit", $file, @$case);
        if ($plain =~ /Out of memory/i) {
            print "# @$case: too little for the plain program\n";
            next;
        }
        for my $way (sort keys %way) {
            my ($got, @said) = run("$dir/limit", @blib, "-d:DProf=$way{$way}", $file, @$case);
            judge("limit @$case, $way", $got eq $plain ? () : "plain:\n$plain  profiled:\n$got",
                @said > 3 ? "said: @said" : (), unreadable("$dir/limit"));
        }
    }
    return;
}

for (@what) {
    ({ kills => \&kills, disks => \&disks, limits => \&limits }->{$_}
        or die "--what $_: kills, disks or limits\n")->();
    print "# $_: done, $tried tried so far\n";
}
print "$tried cases, $bad wrong\n";
exit($bad || !$tried ? 1 : 0);
