/* What dprof attach reads, from any bytes. The first byte says what the rest is: c: a core file; p:
 * a list of mappings; t: changes of the memory of a made-up perl (t/c/made.h), each of 8 bytes: the
 * reading before which it happens, its kind, its place (2 bytes), its value (4 bytes). Nothing may
 * crash, leak or take long, and what is written must be a profile. */
#include "../t/c/made.h"
#include "dp_core.h"
#include "dp_mem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Words for fuzz/mutate.c. */
extern const char *const fuzz_words[];
const char *const fuzz_words[] = {
    "\x7f" "ELF", "\xff\xff\xff\xff\xff\xff\xff\xff", "\xff\xff\xff\x7f", "\xfb\xff\xff\xff",
    "CORE", "ELIF", "PL_version", "/usr/bin/perl", "rw-p", "-", "\n", " 00:00 0 ",
    "ffffffffffffffff", NULL
};

enum { LOOKS = 3, CHANGE = 8, STARVED = 40, MOST_READINGS = 100000 };

#define CHECK(cond) \
    do { if (!(cond)) { fprintf(stderr, "not so: %s\n", #cond); abort(); } } while (0)

/* Text for people or for a profile: no control byte but newline. */
static void check_text(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        CHECK((unsigned char)text[i] >= ' ' || text[i] == '\n');
}

/* ---- memory ---- */

static struct made m;

/* The value of a change: a pointer into the memory, a small number, one of either sign, bytes. */
static uint64_t value_of(unsigned kind, uint32_t word)
{
    return kind == 0 ? MADE_BASE + word % MADE_SIZE : kind == 1 ? word % 64
           : kind == 2 ? (uint64_t)(int64_t)(int32_t)word : (uint64_t)word << 32 | word;
}

static void make(const uint8_t *data, size_t size)
{
    enum { KINDS = 4, SIZES = 4, FIRST = 26, SERIES = 10 };
    uint8_t how = size ? *data : 0;
    made_init(&m, FIRST + 2 * (how / 2u % SERIES), how & 1);
    for (size_t i = 1; i + CHANGE <= size; i += CHANGE) {
        const uint8_t *p = data + i;
        uint16_t place;
        uint32_t word;
        memcpy(&place, p + 2, sizeof place);
        memcpy(&word, p + 4, sizeof word);
        made_change(&m, p[0], MADE_BASE + place % MADE_SIZE, value_of(p[1] % KINDS, word),
                    (size_t)1 << p[1] / KINDS % SIZES);
    }
}

static void memory(const uint8_t *data, size_t size, long fail_after)
{
    struct dp_buf args, text;
    struct dp_sampled_head head = { "1", "r", "p.pl", "1", 1, 1, 0, 100, 0, 0 };
    dp_buf_init(&args);
    dp_buf_init(&text);
    make(data, size);
    dp_mem_fail_after(fail_after);
    int rc = made_open(&m);
    CHECK(rc == 0 || fail_after >= 0);
    for (int i = 0; i < LOOKS && rc == 0; i++) {
        uint64_t before = m.readings;
        int looked = made_look(&m, &args);
        CHECK(looked == 1 || looked == 0 || looked == DP_E_IO);
        CHECK(m.readings - before < MOST_READINGS);
        CHECK(m.stack.n <= DP_STACK_CONTEXTS + DP_STACK_POPPED);
    }
    if (rc == 0 && dp_sampled_write(&m.sampled, &head, &text) == 0) {
        CHECK(strstr(dp_buf_cstr(&text), "$dprof_complete=1;"));
        check_text(text.ptr, text.len);
        if (!args.err)
            check_text(dp_buf_cstr(&args), args.len);
    } else {
        CHECK(fail_after >= 0);
    }
    dp_mem_fail_after(-1);
    dp_buf_release(&args);
    dp_buf_release(&text);
    made_release(&m);
}

/* ---- files ---- */

/* Any mapping is the file itself. */
static int open_itself(void *from, const struct dp_regions *regions, const struct dp_region *region)
{
    (void)regions;
    (void)region;
    return dup(*(int *)from);
}

static void core(const uint8_t *data, size_t size, long fail_after)
{
    struct dp_core file;
    struct dp_err err;
    char path[64];
    int fd = memfd_create("core", 0);
    CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    dp_err_init(&err);
    dp_mem_fail_after(fail_after);
    int rc = dp_core_open(&file, path, &err);
    CHECK(rc == 0 || *err.message);
    struct dp_target target;
    struct dp_perl perl;
    if (rc == 0 && dp_target_init(&target, dp_core_read, &file) == 0) {
        dp_err_init(&err);
        rc = dp_perl_find(&perl, &target, &file.regions, open_itself, &fd, NULL, &err);
        CHECK(rc == 0 || rc == DP_E_IO || rc == DP_E_NOMEM || *err.message);
        dp_addr *in = calloc(file.threads.count + 1, sizeof *in);
        if (rc == 0)
            dp_perl_threads(&perl, &file.regions, open_itself, &fd, &file.threads, in);
        free(in);
        dp_perl_release(&perl);
        dp_target_release(&target);
    }
    dp_mem_fail_after(-1);
    dp_core_release(&file);
    close(fd);
}

static void mappings(const uint8_t *data, size_t size, long fail_after)
{
    struct dp_regions r;
    size_t lines = 0;
    dp_mem_fail_after(fail_after);
    dp_regions_init(&r);
    dp_regions_parse(&r, (const char *)data, size);
    dp_mem_fail_after(-1);
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    CHECK(r.count <= lines);
    for (size_t i = 0; i < r.count; i++)
        CHECK(!*dp_regions_path(&r, &r.at[i]) || *dp_regions_path(&r, &r.at[i]) == '/');
    dp_regions_release(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    void (*run)(const uint8_t *, size_t, long) = !size ? NULL : *data == 'c' ? core
        : *data == 'p' ? mappings : *data == 't' ? memory : NULL;
    if (!run)
        return 0;
    long before = dp_mem_live();
    run(data + 1, size - 1, -1);
    /* once more, with one of the allocations failing */
    run(data + 1, size - 1, data[size / 2] % STARVED);
    CHECK(dp_mem_live() == before);
    return 0;
}
