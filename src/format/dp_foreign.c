#include "dp_foreign.h"

#include <string.h>

static bool begins(const char *ptr, size_t len, const char *with)
{
    size_t n = strlen(with);
    return len >= n && memcmp(ptr, with, n) == 0;
}

/* pprof's older format begins with words of 4 or 8 bytes: 0, 3, 0, a period, 0. */
static bool is_old_pprof(const char *ptr, size_t len)
{
    for (size_t word = 4; word <= 8; word *= 2) {
        char head[24] = { 0 };
        head[word] = 3;
        bool little = len >= 5 * word && memcmp(ptr, head, 3 * word) == 0;
        head[word] = 0;
        head[2 * word - 1] = 3;
        if (little || (len >= 5 * word && memcmp(ptr, head, 3 * word) == 0))
            return true;
    }
    return false;
}

const char *dp_foreign(const char *ptr, size_t len)
{
    if (begins(ptr, len, "PERFILE2") || begins(ptr, len, "2ELIFREP")
        || begins(ptr, len, "PERFFILE"))
        return "this is a file of perf: `perf script -i FILE > TEXT' makes text of it, which can be"
               " read";
    if (is_old_pprof(ptr, len))
        return "this is a file of pprof in its older format: `pprof -proto PROGRAM FILE > NEW'"
               " makes one of it that can be read";
    return NULL;
}
