/* Attaching without memory: each allocation in turn fails. What was opened is released, and what is
 * written is whole or an error. */
#include "tap.h"
#include "dp_mem.h"
#include "made.h"

#include <fcntl.h>
#include <unistd.h>

static struct made m;

/* Opens, looks, and writes; returns the first error. */
static int all(struct dp_buf *text)
{
    struct dp_sampled_head head = { "1", "r", "p.pl", "1", 1, 1, 0, 100, 0, 0 };
    struct dp_buf args;
    int rc = made_open(&m);
    dp_buf_init(&args);
    for (int i = 0; i < 3 && rc == 0; i++) {
        int looked = made_look(&m, &args);
        rc = looked < 0 ? looked : 0;
        if (i == 1 && rc == 0)
            rc = dp_sampled_renew(&m.sampled);
    }
    rc = rc == 0 ? dp_sampled_write(&m.sampled, &head, text) : rc;
    dp_buf_release(&args);
    return rc;
}

static void sampling(void)
{
    bool good = true;
    long n = 0;
    int rc = DP_E_NOMEM, failed = 0;
    size_t whole = 0;
    for (; n < 2000; n++) {
        struct dp_buf text;
        made_init(&m, 36, n & 1);
        long before = dp_mem_live();
        dp_buf_init(&text);
        dp_mem_fail_after(n);
        rc = all(&text);
        dp_mem_fail_after(-1);
        failed += rc == DP_E_NOMEM;
        good = (rc == 0 || rc == DP_E_NOMEM || rc == DP_E_IO) && good;
        good = (rc != 0 || strstr(dp_buf_cstr(&text), "$dprof_complete=1;")) && good;
        whole = text.len;
        dp_buf_release(&text);
        dp_pool_release(&m.perl.op_names);
        dp_pool_init(&m.perl.op_names);
        made_release(&m);
        good = dp_mem_live() <= before && good;
        if (rc == 0 && n > 300)
            break;
    }
    ok(good, "%ld allocations of a sampler fail, one by one", n);
    ok(failed > 20 && whole > 500, "some are errors (%d), the last is a profile", failed);
}

/* Opening a core file, its mappings, and its perl. */
static void opening(void)
{
    struct dp_regions r;
    struct dp_region region = { 0x1000, 0x2000, 0, 0, false };
    bool good = true;
    for (long n = 0; n < 50; n++) {
        dp_mem_fail_after(n);
        dp_regions_init(&r);
        int rc = 0;
        for (int i = 0; i < 20 && rc == 0; i++)
            rc = dp_regions_add(&r, &region, i & 1 ? "/a/b" : "/c", i & 1 ? 4 : 2);
        dp_mem_fail_after(-1);
        good = (rc == 0 || rc == DP_E_NOMEM) && good;
        for (size_t i = 0; i < r.count; i++)
            good = dp_regions_path(&r, &r.at[i])[0] == '/' && good;
        dp_regions_release(&r);
    }
    ok(good, "mappings");
    good = true;
    for (long n = 0; n < 60; n++) {
        struct dp_process p;
        struct dp_threads threads = { NULL, 0, 0 };
        dp_process_init(&p, getpid());
        dp_mem_fail_after(n);
        dp_regions_init(&r);
        int rc = dp_process_regions(&p, &r), threads_rc = dp_process_threads(&p, &threads);
        dp_mem_fail_after(-1);
        good = (rc == 0 || rc == DP_E_NOMEM || rc == DP_E_IO)
               && (threads_rc == 0 ? threads.count == 1 : threads_rc == DP_E_NOMEM) && good;
        good = (rc != 0 || r.count > 3) && good;
        dp_mem_free(threads.at);
        dp_regions_release(&r);
        dp_process_release(&p);
    }
    ok(good, "a process");
}

int main(void)
{
    const uint16_t one = 1;
    if (sizeof(void *) != 8 || *(const char *)&one != 1)
        return tap_done();      /* the table of layouts is for others */
    sampling();
    opening();
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}
