/* Runs a shell command and prints its costs: user and system seconds of all its processes, elapsed
 * seconds, and the peak memory in KB of the largest process.
 * Usage: measure COMMAND; the numbers go to the standard output, the command's own to the null
 * device. The exit status is the command's. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec / 1e6; }

int main(int argc, char **argv)
{
    struct timeval start, end;
    struct rusage use;
    int status = 1;
    if (argc != 2)
        return 2;
    gettimeofday(&start, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr))
            execl("/bin/sh", "sh", "-c", argv[1], (char *)NULL);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || getrusage(RUSAGE_CHILDREN, &use) < 0)
        return 2;
    gettimeofday(&end, NULL);
    printf("%.3f %.3f %.3f %ld\n", seconds(use.ru_utime), seconds(use.ru_stime),
           seconds(end) - seconds(start), use.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
