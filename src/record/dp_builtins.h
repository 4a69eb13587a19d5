/* Slow builtins: system calls, and ops that may work on much data. Ops that keep a context of their
 * own (require, do FILE, eval, formats) are not among them, nor is exec. */
#ifndef DP_BUILTINS_H
#define DP_BUILTINS_H

/* The op as perl names it, in capitals, and the name that people write. */
#define DP_BUILTINS(X) \
    X(BACKTICK, "backtick") X(GLOB, "glob") X(READLINE, "readline") X(RCATLINE, "readline") \
    X(REGCOMP, "regcomp") X(MATCH, "match") X(SUBST, "subst") X(SUBSTCONT, "substcont") \
    X(SORT, "sort") X(PACK, "pack") X(UNPACK, "unpack") X(CRYPT, "crypt") \
    X(OPEN, "open") X(CLOSE, "close") X(PIPE_OP, "pipe") X(BINMODE, "binmode") \
    X(DBMOPEN, "dbmopen") X(DBMCLOSE, "dbmclose") X(SSELECT, "select") X(GETC, "getc") \
    X(READ, "read") X(PRTF, "printf") X(PRINT, "print") X(SAY, "say") X(SYSOPEN, "sysopen") \
    X(SYSSEEK, "sysseek") X(SYSREAD, "sysread") X(SYSWRITE, "syswrite") X(EOF, "eof") \
    X(SEEK, "seek") X(TRUNCATE, "truncate") X(FCNTL, "fcntl") X(IOCTL, "ioctl") X(FLOCK, "flock") \
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

#endif
