#include "dp_random.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Fills a block with random bytes by the system call getrandom. Returns false if that fails. glibc
 * has a function for this only since 2.25. */
static bool from_call(void *to, size_t len)
{
#ifdef SYS_getrandom
    enum { NONBLOCK = 1 };      /* GRND_NONBLOCK: soon after boot, the call would block */
    long n;
    do
        n = syscall(SYS_getrandom, to, len, NONBLOCK);
    while (n < 0 && errno == EINTR);
    return n == (long)len;
#else
    (void)to, (void)len;
    return false;
#endif
}

/* Fills a block with random bytes from /dev/urandom. Returns false if that fails. In a chroot, any
 * file may have the name of the device. */
static bool from_device(void *to, size_t len)
{
    struct stat st;
    ssize_t n = -1;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode))
        n = read(fd, to, len);
    close(fd);
    return n == (ssize_t)len;
}

bool dp_random(void *to, size_t len, unsigned from)
{
    return ((from & DP_RANDOM_CALL) && from_call(to, len))
           || ((from & DP_RANDOM_DEVICE) && from_device(to, len));
}
