#include "dp_foreign.h"

#include <string.h>

static bool begins(const char *ptr, size_t len, const char *with)
{
    size_t n = strlen(with);
    return len >= n && memcmp(ptr, with, n) == 0;
}

/* A message of protocol buffers whose first field is a type of samples, which is a short message
 * that begins with the number of a string. All writers put that field first. */
static bool is_pprof(const char *ptr, size_t len)
{
    size_t n = len > 4 ? (unsigned char)ptr[1] : 0;
    return n >= 2 && n <= 6 && n + 2 < len && ptr[0] == '\x0a' && ptr[2] == '\x08'
           && (ptr[n + 2] & 7) == 2;
}

/* The older format begins with words of 4 or 8 bytes: 0, 3, 0, a period, 0. */
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
        return "this is a file of perf: `perf script -i FILE | stackcollapse-perf.pl > FOLDED'"
               " makes folded stacks of it, which can be read";
    if (is_pprof(ptr, len) || is_old_pprof(ptr, len))
        return "this is a file of pprof: `pprof -raw FILE | stackcollapse-go.pl > FOLDED' makes"
               " folded stacks of it, which can be read";
    return NULL;
}
