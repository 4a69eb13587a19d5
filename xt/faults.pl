#!/usr/bin/perl
# Memory that runs out: each single allocation of the recorder fails once, in the program itself or in a forked
# child, in each way of recording. The program has to say and return what it does without us, and the tools
# have to read what is left.
#
#   perl xt/faults.pl [--step N] [--way NAME ...] [--where parent|child]
#
# --step N: one allocation in N, beginning with the first; default 1, all of them. Needs a built tree (make), cc
# and LD_PRELOAD. Exit status 1 where a program has noticed.
use strict;
use warnings;
use Cwd 'abs_path';
use File::Basename 'dirname';
use File::Glob ':bsd_glob';
use File::Temp 'tempdir';
use Getopt::Long;

my $top = abs_path(dirname(__FILE__) . '/..');
my ($step, @ways, @where) = (1);
GetOptions('step=i' => \$step, 'way=s' => \@ways, 'where=s' => \@where) or die "see the top of $0\n";
my %way = (
    trace => '', tree => 'tree', compress => 'compress=6', packed => 'tree,compress=6', limit => 'limit=3000,buffer=50', buffer => 'buffer=0',
    events => 'events=?ops+svs', page => 'tree,events=?page-faults', sites => 'tree,callsites=1', signal => 'signal=USR1,toggle=USR2',
);
@ways = sort keys %way if !@ways;
@where = qw(parent child) if !@where;
my $dir = tempdir('dprof-faults-XXXX', TMPDIR => 1, CLEANUP => 1);

sub spew { my ($path, $text) = @_; open my $out, '>', $path or die "$path: $!\n"; print {$out} $text; close $out or die "$path: $!\n"; return $path }
sub slurp { my ($path) = @_; open my $in, '<:raw', $path or return ''; local $/; return scalar <$in> // '' }

# Counts the allocations that DProf.so asks for, and fails the one that FAULT_AT names.
my $shim = spew("$dir/shim.c", <<'END');
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
static unsigned long from, to;
static long left = -1;
static pid_t first;
static int child, busy;
static int look(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    if (!info->dlpi_name || !strstr(info->dlpi_name, "/DProf.so"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (info->dlpi_phdr[i].p_flags & PF_X)) {
            from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            to = from + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}
static int fails(void *caller)
{
    unsigned long at = (unsigned long)caller;
    if (busy)
        return 0;
    if (left == -1) {
        const char *n = getenv("FAULT_AT"), *in = getenv("FAULT_IN");
        left = n ? atol(n) : 0;
        child = in && strcmp(in, "child") == 0;
        first = getpid();
    }
    if (left <= 0)
        return 0;
    if (!from) {
        busy = 1;
        dl_iterate_phdr(look, NULL);
        busy = 0;
    }
    if (at < from || at >= to || (getpid() == first) == child || --left)
        return 0;
    int fd = open(getenv("FAULT_FIRED"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
    errno = ENOMEM;
    return 1;
}
#define REAL(name) static typeof(&name) real; if (!real) { busy++; real = (typeof(&name))dlsym(RTLD_NEXT, #name); busy--; }
static char early[4096];
static size_t used;
void *malloc(size_t n) { REAL(malloc) return fails(__builtin_return_address(0)) ? NULL : real(n); }
void *realloc(void *p, size_t n) { REAL(realloc) return fails(__builtin_return_address(0)) ? NULL : real(p, n); }
void *calloc(size_t n, size_t m)
{
    if (busy && used + n * m <= sizeof early) {     /* dlsym itself */
        used += n * m;
        return early + used - n * m;
    }
    REAL(calloc) return fails(__builtin_return_address(0)) ? NULL : real(n, m);
}
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t o) { REAL(mmap) return fails(__builtin_return_address(0)) ? MAP_FAILED : real(at, n, prot, flags, fd, o); }
void *mmap64(void *at, size_t n, int prot, int flags, int fd, off64_t o) { REAL(mmap64) return fails(__builtin_return_address(0)) ? MAP_FAILED : real(at, n, prot, flags, fd, o); }
END
system("cc -O1 -shared -fPIC -o $dir/shim.so $shim -ldl") == 0 or die "no shim\n";

my $program = spew("$dir/program.pl", <<'END');
use strict; use warnings; no warnings 'recursion';
sub f { my $n = shift; $n ? f($n - 1) : 1 } sub g { my @x = sort { h($a, $b) } 3, 1, 2; eval { die { n => f(3) } }; return scalar @x } sub h { $_[0] <=> $_[1] }
sub made { my $s = sub { g() }; return $s->() }
sub all { my ($n) = @_; my $sum = 0; $sum += g() + made() for 1 .. $n; eval "sub of_eval$_ { f($_) } \$sum += of_eval$_()" for 1 .. 40; f(300); kill USR1 => $$ if $ENV{SIGNALS}; return $sum }
$| = 1;
print "begins ", all(30), "\n";
my $pid = fork // die;
if (!$pid) { print "child ", all(20), "\n"; exit 7 }
waitpid $pid, 0;
print "child $? parent ", all(30), "\n";
exit 3;
END

# What it says, what is said of us, and how it ends.
sub run {
    my (@args) = @_;
    unlink glob "$dir/out/*";
    mkdir "$dir/out";
    my $status = system("cd '$dir/out' && timeout 60 $^X @args >'$dir/stdout' 2>'$dir/stderr' </dev/null");
    my @err = split /^/, slurp("$dir/stderr");
    return join('', slurp("$dir/stdout"), "status $status\n", grep { !/^DProf: / } @err), scalar(grep { /^DProf: / } @err);
}

delete @ENV{ grep { /^PERL/ } keys %ENV };
my ($plain) = run("$dir/program.pl");
my ($tried, $bad) = (0, 0);
for my $way (@ways) {
    for my $where (@where) {
        local $ENV{SIGNALS} = $way eq 'signal';
        for (my $n = 1;; $n += $step) {
            local @ENV{qw(LD_PRELOAD FAULT_AT FAULT_IN FAULT_FIRED)} = ("$dir/shim.so", $n, $where, "$dir/fired");
            unlink "$dir/fired";
            my ($got, $lines) = run("-I$top/blib/lib", "-I$top/blib/arch", "-d:DProf" . ($way{$way} ? "=$way{$way}" : ''), "$dir/program.pl");
            last if !-e "$dir/fired";
            $tried++;
            my @wrong;
            push @wrong, "plain:\n$plain  profiled:\n$got" if $got ne $plain;
            push @wrong, "$lines lines on the standard error: " . slurp("$dir/stderr") if $lines > 2;
            local @ENV{qw(LD_PRELOAD FAULT_AT)};
            delete @ENV{qw(LD_PRELOAD FAULT_AT)};
            for my $file (grep { !/\.live$/ } glob "$dir/out/tmon.out*") {
                my $text = qx{'$^X' '-I$top/blib/lib' '-I$top/blib/arch' '$top/blib/script/dprofpp' -O 1 '$file' 2>&1};
                push @wrong, "$file cannot be read: $text" if $? > 1 << 8 || $? & 127;
            }
            next if !@wrong;
            $bad++;
            print "$way, $where, allocation $n: ", map({ s/^/  /mgr . "\n" } @wrong);
        }
        print "# $way, $where: done, $tried tried so far\n";
    }
}
print "$tried failing allocations, $bad noticed\n";
exit($bad || !$tried ? 1 : 0);
