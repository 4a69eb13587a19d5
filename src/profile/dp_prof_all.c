/* Reads files in parallel: profiles share nothing, so each thread takes the next one. */
#include "dp_prof.h"
#include "dp_prof_pack.h"

#include <pthread.h>
#include <signal.h>

enum { THREADS = 64 };

struct reading {
    const struct dp_read_job *jobs;
    size_t n, next;
    pthread_mutex_t lock;
};

struct reader {
    struct reading *all;
    const struct dp_host *host;
    int lost;                   /* 0, or DP_E_NOMEM: there was no memory for a file's outcome */
};

/* Assigns the jobs of the next profile to a thread: from *from up to the result. They are equal if
 * no jobs are left. */
static size_t take_jobs(struct reading *all, size_t *from)
{
    pthread_mutex_lock(&all->lock);
    size_t end = all->next;
    *from = end;
    while (end < all->n && (end == *from || all->jobs[end].prof == all->jobs[*from].prof))
        end++;
    all->next = end;
    pthread_mutex_unlock(&all->lock);
    return end;
}

/* Runs in each reading thread: reads profiles, one at a time, until no jobs are left. All files of
 * a profile are read by the same thread. Errors are kept with their files. */
static void *read_jobs(void *ctx)
{
    struct reader *r = ctx;
    size_t from, end;
    while ((end = take_jobs(r->all, &from)) > from) {
        for (size_t i = from; i < end; i++) {
            const struct dp_read_job *job = &r->all->jobs[i];
            size_t before = dp_prof_files(job->prof);
            int rc = dp_prof_add(job->prof, job->path, job->flags, r->host);
            if (dp_prof_files(job->prof) == before)
                r->lost = rc;
        }
        if (r->all->jobs[from].prof->waits)
            dp_prof_pack(r->all->jobs[from].prof);      /* without memory it stays unpacked */
    }
    return NULL;
}

int dp_prof_add_all(const struct dp_read_job *jobs, size_t n, unsigned threads,
                    const struct dp_host *host)
{
    struct reading all = { .jobs = jobs, .n = n, .lock = PTHREAD_MUTEX_INITIALIZER };
    struct reader own = { &all, host, 0 }, others[THREADS];
    pthread_t ids[THREADS];
    size_t started = 0, profiles = 0;
    sigset_t every, before;
    for (size_t i = 0; i < n; i++)
        profiles += !i || jobs[i].prof != jobs[i - 1].prof;
    /* signals belong to the host and its thread */
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    while (started + 1 < threads && started + 1 < profiles && started < THREADS) {
        others[started] = (struct reader){ &all, NULL, 0 };
        if (pthread_create(&ids[started], NULL, read_jobs, &others[started]) != 0)
            break;
        started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    read_jobs(&own);
    for (size_t i = 0; i < started; i++) {
        pthread_join(ids[i], NULL);
        own.lost = own.lost ? own.lost : others[i].lost;
    }
    return own.lost;
}
