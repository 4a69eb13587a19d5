#!/usr/bin/perl
# Memory runs out, and system calls fail. Each single allocation and each single call of the
# recorder fails once, in the program itself or in a forked child, in each way of recording. The
# program must print and return what it does without the profiler, and the tools must read what is
# left.
#
#   perl xt/faults.pl [--what memory|calls] [--step N] [--way NAME ...] [--where parent|child]
#
# --step N: one in N, beginning with the first; default 1, all of them. Needs a built tree (make),
# cc and LD_PRELOAD. Exit status 1 where a program has noticed.
use strict;
use warnings;
use FindBin;
use Getopt::Long;
use lib "$FindBin::Bin/lib";
use Unnoticed;

my ($step, @ways, @where, @what) = (1);
GetOptions('step=i' => \$step, 'way=s' => \@ways, 'where=s' => \@where, 'what=s' => \@what)
    or die "see the top of $0\n";
my %way = (
    %WAY, buffer => 'buffer=0', page => 'tree,events=?page-faults',
    signal => 'signal=USR1,toggle=USR2', slices => 'slice=1,spool=.,clock=counting:1000000,lines',
);
@ways = sort keys %way if !@ways;
@where = qw(parent child) if !@where;
@what = qw(memory calls) if !@what;
my $out = folder('out');

# Counts the allocations, or the system calls, that DProf.so asks for, and fails the one that
# FAULT_AT names.
my $shim = spew('shim.c', <<'END');
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
static unsigned long from, to;
static long left = -1;
static pid_t first;
static int child, busy, calls;
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
static int fails(int is_call, int why, const char *name, void *caller)
{
    unsigned long at = (unsigned long)caller;
    if (busy)
        return 0;
    if (left == -1) {
        const char *n = getenv("FAULT_AT"), *in = getenv("FAULT_IN"), *what = getenv("FAULT_OF");
        left = n ? atol(n) : 0;
        calls = what && strcmp(what, "calls") == 0;
        child = in && strcmp(in, "child") == 0;
        first = getpid();
    }
    if (left <= 0 || is_call != calls)
        return 0;
    if (!from) {
        busy = 1;
        dl_iterate_phdr(look, NULL);
        busy = 0;
    }
    if (at < from || at >= to || (getpid() == first) == child || --left)
        return 0;
    busy = 1;
    int fd = open(getenv("FAULT_FIRED"), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd >= 0) {
        if (write(fd, name, strlen(name)) < 0)
            abort();
        close(fd);
    }
    busy = 0;
    errno = why;
    return 1;
}
#define REAL(name) static typeof(&name) real; \
    if (!real) { busy++; real = (typeof(&name))dlsym(RTLD_NEXT, #name); busy--; }
#define NO_MEMORY       fails(0, ENOMEM, __func__, __builtin_return_address(0))
#define FAILS(why)      fails(1, why, __func__, __builtin_return_address(0))
static char early[4096];
static size_t used;
void *malloc(size_t n) { REAL(malloc) return NO_MEMORY ? NULL : real(n); }
void *realloc(void *p, size_t n) { REAL(realloc) return NO_MEMORY ? NULL : real(p, n); }
void *calloc(size_t n, size_t m)
{
    if (busy && used + n * m <= sizeof early) {     /* dlsym itself */
        used += n * m;
        return early + used - n * m;
    }
    REAL(calloc) return NO_MEMORY ? NULL : real(n, m);
}
void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t o)
{ REAL(mmap) return NO_MEMORY ? MAP_FAILED : real(at, n, prot, flags, fd, o); }
void *mmap64(void *at, size_t n, int prot, int flags, int fd, off64_t o)
{ REAL(mmap64) return NO_MEMORY ? MAP_FAILED : real(at, n, prot, flags, fd, o); }
/* What it is asked for is done, or is not, and in both cases it says that it failed. (Not
 * sigaction, which fails for a number that is no signal's, and for nothing else.) */
#define CALL(type, name, declared, args, why, failed) \
    type name declared { REAL(name) return FAILS(why) ? failed : real args; }
#define OPEN(name) int name(const char *path, int flags, ...) { \
    va_list ap; va_start(ap, flags); int mode = va_arg(ap, int); va_end(ap); \
    REAL(name) return FAILS(EMFILE) ? -1 : real(path, flags, mode); }
#define FCNTL(name) int name(int fd, int what, ...) { \
    va_list ap; va_start(ap, what); void *arg = va_arg(ap, void *); va_end(ap); \
    REAL(name) return FAILS(EINVAL) ? -1 : real(fd, what, arg); }
OPEN(open) OPEN(open64) FCNTL(fcntl) FCNTL(fcntl64) FCNTL(ioctl)
int close(int fd) { REAL(close) int rc = real(fd); return FAILS(EIO) ? -1 : rc; }
CALL(ssize_t, read, (int fd, void *p, size_t n), (fd, p, n), EIO, -1)
CALL(ssize_t, pread, (int fd, void *p, size_t n, off_t o), (fd, p, n, o), EIO, -1)
CALL(ssize_t, pread64, (int fd, void *p, size_t n, off64_t o), (fd, p, n, o), EIO, -1)
CALL(ssize_t, write, (int fd, const void *p, size_t n), (fd, p, n), ENOSPC, -1)
CALL(ssize_t, pwrite, (int fd, const void *p, size_t n, off_t o), (fd, p, n, o), ENOSPC, -1)
CALL(ssize_t, pwrite64, (int fd, const void *p, size_t n, off64_t o), (fd, p, n, o), ENOSPC, -1)
CALL(int, ftruncate, (int fd, off_t n), (fd, n), EIO, -1)
CALL(int, ftruncate64, (int fd, off64_t n), (fd, n), EIO, -1)
CALL(int, fstat, (int fd, struct stat *st), (fd, st), EIO, -1)
CALL(int, fstat64, (int fd, struct stat64 *st), (fd, st), EIO, -1)
CALL(int, stat, (const char *path, struct stat *st), (path, st), EACCES, -1)
CALL(int, stat64, (const char *path, struct stat64 *st), (path, st), EACCES, -1)
CALL(int, lstat, (const char *path, struct stat *st), (path, st), EACCES, -1)
CALL(int, lstat64, (const char *path, struct stat64 *st), (path, st), EACCES, -1)
CALL(int, posix_fallocate, (int fd, off_t o, off_t n), (fd, o, n), EIO, ENOSPC)
CALL(int, posix_fallocate64, (int fd, off64_t o, off64_t n), (fd, o, n), EIO, ENOSPC)
CALL(int, unlink, (const char *path), (path), EACCES, -1)
CALL(int, rename, (const char *from, const char *to), (from, to), EACCES, -1)
CALL(int, fchmod, (int fd, mode_t mode), (fd, mode), EPERM, -1)
CALL(int, fchown, (int fd, uid_t user, gid_t group), (fd, user, group), EPERM, -1)
CALL(int, flock, (int fd, int how), (fd, how), EWOULDBLOCK, -1)
CALL(int, access, (const char *path, int how), (path, how), EACCES, -1)
CALL(int, faccessat, (int fd, const char *path, int how, int flags), (fd, path, how, flags),
    EACCES, -1)
CALL(char *, getcwd, (char *p, size_t n), (p, n), ENOENT, NULL)
CALL(int, munmap, (void *p, size_t n), (p, n), EINVAL, -1)
CALL(int, mprotect, (void *p, size_t n, int how), (p, n, how), ENOMEM, -1)
CALL(DIR *, opendir, (const char *path), (path), EMFILE, NULL)
CALL(struct dirent *, readdir, (DIR *dir), (dir), EIO, NULL)
CALL(struct dirent64 *, readdir64, (DIR *dir), (dir), EIO, NULL)
CALL(FILE *, fopen, (const char *path, const char *how), (path, how), EMFILE, NULL)
CALL(FILE *, fopen64, (const char *path, const char *how), (path, how), EMFILE, NULL)
END
my $shared = $shim =~ s/c\z/so/r;
system("cc -w -O1 -shared -fPIC -o $shared $shim -ldl") == 0 or die "no shim\n";

my $program = spew('program.pl', <<'END');
use strict; use warnings; no warnings 'recursion';
sub f { my $n = shift; $n ? f($n - 1) : 1 }
sub g { my @x = sort { h($a, $b) } 3, 1, 2; eval { die { n => f(3) } }; return scalar @x }
sub h { $_[0] <=> $_[1] }
sub made { my $s = sub { g() }; return $s->() }
sub all {
    my ($n) = @_; my $sum = 0; $sum += g() + made() for 1 .. $n;
    eval "sub of_eval$_ { f($_) } \$sum += of_eval$_()" for 1 .. 40; f(300);
    kill USR1 => $$ if $ENV{SIGNALS}; return $sum;
}
$| = 1;
print "begins ", all(30), "\n";
my $pid = fork // die;
if (!$pid) { print "child ", all(20), "\n"; exit 7 }
waitpid $pid, 0;
print "child $? parent ", all(30), "\n";
exit 3;
END

my ($plain) = run($out, $program);
my $fired = "$out.fired";
for my $case (map { my $what = $_;
    map { my $way = $_; map { [$what, $way, $_] } @where } @ways } @what) {
    my ($what, $way, $where) = @$case;
    local $ENV{SIGNALS} = $way eq 'signal';
    # In these ways each mark is a write of its own, or reads its counter, so fewer failures are
    # tried.
    my $apart = $what eq 'calls' && $way =~ /^(?:buffer|page)\z/ ? 97 * $step : $step;
    for (my $n = 1;; $n += $apart) {
        unlink $fired;
        my ($got, @lines) = do {
            local @ENV{qw(LD_PRELOAD FAULT_AT FAULT_IN FAULT_OF FAULT_FIRED)}
                = ($shared, $n, $where, $what, $fired);
            run($out, profiler($way{$way}), $program);
        };
        last if !-e $fired;
        judge("$way, $where, $what $n, " . slurp($fired),
            $got eq $plain ? () : "plain:\n$plain  profiled:\n$got",
            @lines > 2 ? "lines on the standard error: @lines" : (), unreadable($out));
    }
    print "# $way, $where, $what: done\n";
}
exit ends('failures');
