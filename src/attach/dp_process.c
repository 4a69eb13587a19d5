#include "dp_process.h"
#include "dp_buf.h"
#include "dp_mem.h"
#include "dp_sysfile.h"

#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NAME = 512 };            /* bytes of a name below /proc */

void dp_process_init(struct dp_process *p, pid_t pid)
{
    *p = (struct dp_process){ .pid = pid, .mem = -1 };
}

void dp_process_release(struct dp_process *p)
{
    if (p->mem >= 0)
        close(p->mem);
    p->mem = -1;
}

/* ---- memory ---- */

/* Reads by way of /proc/PID/mem, part by part. */
static bool read_file(struct dp_process *p, const struct dp_target_part *parts, size_t n)
{
    char name[NAME];
    if (p->mem < 0) {
        snprintf(name, sizeof name, "/proc/%ld/mem", (long)p->pid);
        p->mem = open(name, O_RDONLY | O_CLOEXEC);
    }
    for (size_t i = 0; p->mem >= 0 && i < n; i++)
        if (pread(p->mem, parts[i].to, parts[i].len, (off_t)parts[i].at) != (ssize_t)parts[i].len)
            return false;
    return p->mem >= 0;
}

bool dp_process_read(void *from, const struct dp_target_part *parts, size_t n)
{
    struct dp_process *p = from;
    struct iovec here[DP_TARGET_PARTS], there[DP_TARGET_PARTS];
    ssize_t whole = 0;
    if (p->mem >= 0)
        return read_file(p, parts, n);
    for (size_t i = 0; i < n; i++) {
        here[i] = (struct iovec){ parts[i].to, parts[i].len };
        there[i] = (struct iovec){ (void *)(uintptr_t)parts[i].at, parts[i].len };
        whole += (ssize_t)parts[i].len;
    }
    ssize_t got = process_vm_readv(p->pid, here, n, there, n, 0);
    if (got == whole)
        return true;
    p->why = got < 0 ? errno : EFAULT;
    /* ENOSYS: an old kernel; a container's filter says EPERM for what it does not know */
    return (p->why == ENOSYS || p->why == EPERM) && read_file(p, parts, n);
}

/* ---- mappings ---- */

int dp_process_regions(struct dp_process *p, struct dp_regions *to)
{
    char name[NAME];
    struct dp_buf text;
    ssize_t n = 0;
    snprintf(name, sizeof name, "/proc/%ld/maps", (long)p->pid);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    dp_buf_init(&text);
    while (fd >= 0) {
        char *room = dp_buf_room(&text, 1 << 16);
        if (!room || (n = read(fd, room, 1 << 16)) <= 0)
            break;
        text.len += (size_t)n;
    }
    p->why = fd < 0 || n < 0 ? errno : text.len ? 0 : ESRCH;
    if (fd >= 0)
        close(fd);
    int rc = text.err ? text.err : p->why ? DP_E_IO : dp_regions_parse(to, text.ptr, text.len);
    dp_buf_release(&text);
    return rc;
}

/* The kernel's own link to what is mapped works in all cases, but asks for a capability. The path
 * as the process sees it works for files that are still there. */
int dp_process_open(void *process, const struct dp_regions *regions,
                    const struct dp_region *region)
{
    const struct dp_process *p = process;
    static const char gone[] = " (deleted)";
    char name[NAME + 4096];
    const char *path = dp_regions_path(regions, region);
    size_t len = strlen(path), n = sizeof gone - 1;
    snprintf(name, sizeof name, "/proc/%ld/map_files/%llx-%llx", (long)p->pid,
             (unsigned long long)region->start, (unsigned long long)region->end);
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        snprintf(name, sizeof name, "/proc/%ld/root%s", (long)p->pid, path);
        fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    }
    if (fd < 0 && len > n && strcmp(path + len - n, gone) == 0) {
        snprintf(name, sizeof name, "/proc/%ld/exe", (long)p->pid);
        fd = open(name, O_RDONLY | O_CLOEXEC);
    }
    return fd;
}

/* ---- threads ---- */

/* Returns the number that a thread has inside the process's own PID namespace: the last one of the
 * line NSpid. */
static pid_t inner_tid(const struct dp_process *p, pid_t tid)
{
    char text[8192];
    const char *line;
    long n = dp_sysfile_read(text, sizeof text, "/proc", "%ld/task/%ld/status", (long)p->pid,
                             (long)tid);
    if (n < 0 || !(line = strstr(text, "\nNSpid:")))
        return tid;
    size_t len = strcspn(line + 1, "\n");
    const char *last = line + 1 + len;
    while (last > line && last[-1] != '\t' && last[-1] != ' ')
        last--;
    return (pid_t)strtol(last, NULL, 10);
}

int dp_process_threads(const struct dp_process *p, struct dp_threads *to)
{
    char name[NAME];
    struct dirent *e;
    int rc = 0;
    snprintf(name, sizeof name, "/proc/%ld/task", (long)p->pid);
    DIR *dir = opendir(name);
    while (dir && rc == 0 && (e = readdir(dir)) != NULL) {
        pid_t tid = (pid_t)strtol(e->d_name, NULL, 10);
        if (tid <= 0)
            continue;
        rc = dp_mem_grow((void **)&to->at, &to->cap, to->count + 1, sizeof *to->at);
        if (rc == 0)
            to->at[to->count++] = (struct dp_thread){ tid, inner_tid(p, tid), 0 };
    }
    if (dir)
        closedir(dir);
    return rc;
}

/* ---- rights ---- */

/* Reads the value of Yama's restriction of ptrace: 0 none, 1 parents only, 2 root only, 3 nobody;
 * -1: the kernel has no Yama. */
static int yama_scope(void)
{
    char text[16];
    return dp_sysfile_read(text, sizeof text, "/proc", "sys/kernel/yama/ptrace_scope") > 0
           ? atoi(text) : -1;
}

/* What Yama forbids: memory, but not mappings. Scopes 1 and 2 refuse with EPERM. Scope 3 forbids
 * memory whatever else the kernel has refused before. NULL: it is not Yama. */
static const char *yama_advice(int why)
{
    int scope = yama_scope();
    if (scope == 3)
        return "kernel.yama.ptrace_scope is 3: nobody may until the next boot; record the program "
            "from its start: perl -d:DProf=sample=100 PROGRAM";
    if (why != EPERM || !geteuid())
        return NULL;
    if (scope == 2)
        return "kernel.yama.ptrace_scope is 2: only root may; try sudo";
    if (scope == 1)
        return "kernel.yama.ptrace_scope is 1: only root or a parent may; try sudo, start it "
            "by dprof attach -- COMMAND, or have it call Devel::DProf::Control::allow_attach";
    return NULL;
}

/* Returns who may read the process, and how, as the end of a message, where the kernel forbids it
 * to us. why: EACCES or EPERM. */
static const char *advice(bool is_ours, int why)
{
    const char *yama = yama_advice(why);
    if (yama)
        return yama;
    if (!geteuid())
        return "this container lacks CAP_SYS_PTRACE: start it with --cap-add SYS_PTRACE, or try on "
            "the host";
    return is_ours ? "it has changed its user, or forbids it by PR_SET_DUMPABLE; try sudo"
                   : "it is another user's; try sudo";
}

int dp_process_trouble(const struct dp_process *p, struct dp_err *err)
{
    char name[NAME];
    struct stat st;
    snprintf(name, sizeof name, "/proc/%ld", (long)p->pid);
    if (stat(name, &st) < 0 && kill(p->pid, 0) < 0 && errno == EPERM)
        return dp_err_set(err, DP_E_IO, "process %ld may not be read: %s", (long)p->pid,
                          advice(false, EACCES));
    if (stat(name, &st) < 0)
        return dp_err_set(err, DP_E_IO, "there is no process %ld", (long)p->pid);
    if (p->why == ESRCH)
        return dp_err_set(err, DP_E_IO, "process %ld has ended, or is the kernel's",
                          (long)p->pid);
    if (p->why == EACCES || p->why == EPERM)
        return dp_err_set(err, DP_E_IO, "process %ld may not be read: %s", (long)p->pid,
                          advice(st.st_uid == geteuid(), p->why));
    return dp_err_set(err, DP_E_IO, "process %ld cannot be read: %s", (long)p->pid,
                      strerror(p->why));
}
