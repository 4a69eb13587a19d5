/* A fuzzer for machines without clang's: mutates the seeds it is given, blindly.
 * Usage: mutate SECONDS SEED... What crashes is in the file last-input. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
extern const char *const fuzz_words[];  /* the target's, what its inputs are made of; ends with NULL */

enum { MAX = 1 << 16 };

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

int main(int argc, char **argv)
{
    time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
    static uint8_t buf[MAX];
    unsigned long runs = 0;
    state = (uint64_t)time(NULL) | 1;
    while (argc > 2 && time(NULL) < end) {
        FILE *in = fopen(argv[2 + rnd((uint32_t)argc - 2)], "rb");
        if (!in)
            return 1;
        size_t n = fread(buf, 1, MAX, in);
        fclose(in);
        for (int i = 0; i < 20; i++, runs++) {
            n = mutate(buf, n);
            FILE *out = fopen("build/last-input", "wb");
            if (out) {
                fwrite(buf, 1, n, out);
                fclose(out);
            }
            uint8_t *exact = malloc(n ? n : 1);
            memcpy(exact, buf, n);
            LLVMFuzzerTestOneInput(exact, n);
            free(exact);
        }
    }
    printf("%lu runs\n", runs);
    return 0;
}
