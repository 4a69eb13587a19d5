/* Slow builtins as calls: system calls, and what may work on much data. Only with
 * the option builtins=slow are their ops hooked at all.
 *
 * Each type of op gets a function of its own: some modules put an op's function
 * aside and call it from an op of another type. Ops that keep a context of their
 * own (require, do FILE, eval, formats) are not among them, nor is exec. */
#include "dpx.h"

/* The type, and the name that people write. */
#define EACH_BUILTIN(X) \
    X(BACKTICK, "backtick") X(GLOB, "glob") X(READLINE, "readline") X(RCATLINE, "readline") \
    X(REGCOMP, "regcomp") X(MATCH, "match") X(SUBST, "subst") X(SUBSTCONT, "substcont") \
    X(SORT, "sort") X(PACK, "pack") X(UNPACK, "unpack") X(CRYPT, "crypt") \
    X(OPEN, "open") X(CLOSE, "close") X(PIPE_OP, "pipe") X(BINMODE, "binmode") \
    X(DBMOPEN, "dbmopen") X(DBMCLOSE, "dbmclose") X(SSELECT, "select") X(GETC, "getc") X(READ, "read") \
    X(PRTF, "printf") X(PRINT, "print") X(SAY, "say") X(SYSOPEN, "sysopen") X(SYSSEEK, "sysseek") \
    X(SYSREAD, "sysread") X(SYSWRITE, "syswrite") X(EOF, "eof") X(SEEK, "seek") \
    X(TRUNCATE, "truncate") X(FCNTL, "fcntl") X(IOCTL, "ioctl") X(FLOCK, "flock") \
    X(SEND, "send") X(RECV, "recv") X(SOCKET, "socket") X(SOCKPAIR, "socketpair") X(BIND, "bind") \
    X(CONNECT, "connect") X(LISTEN, "listen") X(ACCEPT, "accept") X(SHUTDOWN, "shutdown") \
    X(GSOCKOPT, "getsockopt") X(SSOCKOPT, "setsockopt") X(GETSOCKNAME, "getsockname") \
    X(GETPEERNAME, "getpeername") \
    X(LSTAT, "lstat") X(STAT, "stat") X(FTRREAD, "-R") X(FTRWRITE, "-W") X(FTREXEC, "-X") \
    X(FTEREAD, "-r") X(FTEWRITE, "-w") X(FTEEXEC, "-x") X(FTIS, "-e") X(FTSIZE, "-s") \
    X(FTMTIME, "-M") X(FTATIME, "-A") X(FTCTIME, "-C") X(FTROWNED, "-O") X(FTEOWNED, "-o") \
    X(FTZERO, "-z") X(FTSOCK, "-S") X(FTCHR, "-c") X(FTBLK, "-b") X(FTFILE, "-f") X(FTDIR, "-d") \
    X(FTPIPE, "-p") X(FTSUID, "-u") X(FTSGID, "-g") X(FTSVTX, "-k") X(FTLINK, "-l") X(FTTTY, "-t") \
    X(FTTEXT, "-T") X(FTBINARY, "-B") \
    X(CHDIR, "chdir") X(CHOWN, "chown") X(CHROOT, "chroot") X(UNLINK, "unlink") X(CHMOD, "chmod") \
    X(UTIME, "utime") X(RENAME, "rename") X(LINK, "link") X(SYMLINK, "symlink") \
    X(READLINK, "readlink") X(MKDIR, "mkdir") X(RMDIR, "rmdir") X(OPEN_DIR, "opendir") \
    X(READDIR, "readdir") X(SEEKDIR, "seekdir") X(REWINDDIR, "rewinddir") X(CLOSEDIR, "closedir") \
    X(FORK, "fork") X(WAIT, "wait") X(WAITPID, "waitpid") X(SYSTEM, "system") X(SLEEP, "sleep") \
    X(SHMGET, "shmget") X(SHMCTL, "shmctl") X(SHMREAD, "shmread") X(SHMWRITE, "shmwrite") \
    X(MSGGET, "msgget") X(MSGCTL, "msgctl") X(MSGSND, "msgsnd") X(MSGRCV, "msgrcv") \
    X(SEMOP, "semop") X(SEMGET, "semget") X(SEMCTL, "semctl") X(SYSCALL, "syscall") \
    X(GHBYNAME, "gethostbyname") X(GHBYADDR, "gethostbyaddr") X(GHOSTENT, "gethostent") \
    X(GNBYNAME, "getnetbyname") X(GNBYADDR, "getnetbyaddr") X(GNETENT, "getnetent") \
    X(GPBYNAME, "getprotobyname") X(GPBYNUMBER, "getprotobynumber") X(GPROTOENT, "getprotoent") \
    X(GSBYNAME, "getservbyname") X(GSBYPORT, "getservbyport") X(GSERVENT, "getservent") \
    X(GPWNAM, "getpwnam") X(GPWUID, "getpwuid") X(GPWENT, "getpwent") \
    X(GGRNAM, "getgrnam") X(GGRGID, "getgrgid") X(GGRENT, "getgrent") X(GETLOGIN, "getlogin")

enum builtin {
#define NUMBER(op, name) B_##op,
    EACH_BUILTIN(NUMBER)
#undef NUMBER
    COUNT
};

typedef char fits_in_the_context[(int)COUNT <= (int)DPX_BUILTINS ? 1 : -1];

static Perl_ppaddr_t orig[COUNT];

#define HOOK(op, name) static OP *hook_##op(pTHX) { return dpx_hook_builtin(aTHX_ B_##op, orig[B_##op]); }
EACH_BUILTIN(HOOK)
#undef HOOK

static const struct {
    Optype type;
    const char *name;
    Perl_ppaddr_t hook;
} table[COUNT] = {
#define ROW(op, name) { OP_##op, name, hook_##op },
    EACH_BUILTIN(ROW)
#undef ROW
};

void dpx_builtin_install(void)
{
    for (unsigned n = 0; n < COUNT; n++) {
        orig[n] = PL_ppaddr[table[n].type];
        PL_ppaddr[table[n].type] = table[n].hook;
    }
}

Perl_ppaddr_t dpx_builtin_original(Optype type)
{
    for (unsigned n = 0; n < COUNT; n++)
        if (table[n].type == type)
            return orig[n];
    return NULL;
}

const char *dpx_builtin_name(unsigned n)
{
    return table[n].name;
}
