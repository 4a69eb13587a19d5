/* A fuzzer for machines without clang's: mutates seeds blindly. Usage: mutate SECONDS SEED... An
 * input that crashes is left in build/last-input. FUZZ_SEED is a number; the same one makes the
 * same inputs again. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
/* The target's list of words for its inputs; ends with NULL. */
extern const char *const fuzz_words[];

#ifdef FUZZ_VIEWS
size_t fuzz_choose(uint8_t *data, size_t n, size_t max, uint64_t random);
#endif

/* Inputs are small: small ones show most bugs, and large ones take long. */
enum { MAX = 1 << 15, ROUND = 50 };

static uint64_t state = 1;

static uint32_t rnd(uint32_t n)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return n ? (uint32_t)((state >> 33) % n) : 0;
}

static size_t mutate(uint8_t *p, size_t n)
{
    uint32_t words = 0;
    while (fuzz_words[words])
        words++;
    for (uint32_t k = 1 + rnd(6); k > 0; k--) {
        uint32_t at = rnd((uint32_t)n + 1);
        switch (rnd(5)) {
        case 0:
            if (n)
                p[rnd((uint32_t)n)] = (uint8_t)rnd(256);
            break;
        case 1: {
            const char *s = fuzz_words[rnd(words)];
            size_t len = strlen(s);
            if (n + len <= MAX) {
                memmove(p + at + len, p + at, n - at);
                memcpy(p + at, s, len);
                n += len;
            }
            break;
        }
        case 2: {
            size_t len = rnd(40);
            if (at + len <= n) {
                memmove(p + at, p + at + len, n - at - len);
                n -= len;
            }
            break;
        }
        case 3: {
            uint32_t len = rnd(200), to = rnd((uint32_t)n + 1);
            if (at + len <= n && n + len <= MAX) {
                uint8_t tmp[200];
                memcpy(tmp, p + at, len);
                memmove(p + to + len, p + to, n - to);
                memcpy(p + to, tmp, len);
                n += len;
            }
            break;
        }
        case 4:
            if (rnd(4) == 0)
                n = at;
            break;
        }
    }
    return n;
}

struct seed {
    uint8_t *ptr;
    size_t len;
};

/* Reads a seed, once for all. */
static struct seed read_seed(const char *path)
{
    struct seed seed = { malloc(MAX), 0 };
    FILE *in = fopen(path, "rb");
    if (!in || !seed.ptr) {
        perror(path);
        exit(1);
    }
    seed.len = fread(seed.ptr, 1, MAX, in);
    fclose(in);
    return seed;
}

/* The input that is tried, in memory shared with the parent process, which outlives a crash. */
struct trial {
    size_t len;
    unsigned long runs;
    uint8_t bytes[MAX];
};

static void try_some(struct trial *now, const struct seed *seed)
{
    uint8_t buf[MAX];
    size_t n = seed->len;
    memcpy(buf, seed->ptr, n);
    alarm(ROUND);               /* a second for each is far too long */
    for (int i = 0; i < ROUND; i++, now->runs++) {
        n = mutate(buf, n);
#ifdef FUZZ_VIEWS
        n = fuzz_choose(buf, n, MAX, (uint64_t)rnd(UINT32_MAX) << 32 | rnd(UINT32_MAX));
#endif
        memcpy(now->bytes, buf, n);
        now->len = n;
        uint8_t *exact = malloc(n ? n : 1);
        memcpy(exact, buf, n);
        LLVMFuzzerTestOneInput(exact, n);
        free(exact);
        /* changes add up until most of the input is rubbish, so it begins again with the seed */
        if (i % 10 == 9)
            memcpy(buf, seed->ptr, n = seed->len);
    }
}

/* Leaves the input that the child died of. */
static int leave(const struct trial *now, int status)
{
    FILE *file = fopen("build/last-input", "wb");
    if (!file || fwrite(now->bytes, 1, now->len, file) != now->len || fclose(file) != 0)
        perror("build/last-input");
    fprintf(stderr, "run %lu: %s %d; the input is in build/last-input\n", now->runs,
            WIFSIGNALED(status) ? "signal" : "status",
            WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return 1;
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 10, count = argc - 2, status;
    const char *given = getenv("FUZZ_SEED");
    static struct seed *seeds;  /* kept until the end */
    seeds = count > 0 ? malloc((size_t)count * sizeof *seeds) : NULL;
    struct trial *now = mmap(NULL, sizeof *now, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                             -1, 0);
    if (!seeds || now == MAP_FAILED)
        return fprintf(stderr, "Usage: mutate SECONDS SEED...\n"), 1;
    for (int i = 0; i < count; i++)
        seeds[i] = read_seed(argv[i + 2]);
    state = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) | 1;
    pid_t child = fork();
    if (child == 0) {
        time_t end = time(NULL) + seconds;
        while (time(NULL) < end)
            try_some(now, &seeds[rnd((uint32_t)count)]);
        exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return perror("mutate"), 1;
    if (status != 0)
        return leave(now, status);
    printf("%lu runs\n", now->runs);
    return 0;
}
