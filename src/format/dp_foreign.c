#include "dp_foreign.h"

#include <string.h>

static bool begins(const char *ptr, size_t len, const char *with)
{
    size_t n = strlen(with);
    return len >= n && memcmp(ptr, with, n) == 0;
}

/* Does one of the first lines begin with the text? */
static bool has_line(const char *ptr, size_t len, const char *with)
{
    const char *end = ptr + (len < 4096 ? len : 4096);
    while (ptr < end) {
        if (begins(ptr, (size_t)(end - ptr), with))
            return true;
        const char *nl = memchr(ptr, '\n', (size_t)(end - ptr));
        ptr = nl ? nl + 1 : end;
    }
    return false;
}

/* The format's first line may be left out, and so may all others but those of the events. */
static bool is_callgrind(const char *ptr, size_t len)
{
    static const char *const heads[] = { "version:", "creator:", "pid:",      "cmd:",
                                         "part:",    "desc:",    "positions:" };
    bool head = begins(ptr, len, "# callgrind format");
    for (size_t i = 0; i < DP_ARRAY_LEN(heads) && !head; i++)
        head = begins(ptr, len, heads[i]);
    return head && (has_line(ptr, len, "events:") || has_line(ptr, len, "creator:"));
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
    if (begins(ptr, len, "NYTProf "))
        return "this is a file of Devel::NYTProf: `nytprofcalls FILE > FOLDED' makes folded stacks"
               " of it, which can be read";
    if (begins(ptr, len, "PERFILE2") || begins(ptr, len, "2ELIFREP")
        || begins(ptr, len, "PERFFILE"))
        return "this is a file of perf: `perf script -i FILE | stackcollapse-perf.pl > FOLDED'"
               " makes folded stacks of it, which can be read";
    if (is_callgrind(ptr, len))
        return "this is a file of callgrind, or of what writes as it does: callgrind_annotate and"
               " kcachegrind show it";
    if (is_pprof(ptr, len) || is_old_pprof(ptr, len))
        return "this is a file of pprof: `pprof -raw FILE | stackcollapse-go.pl > FOLDED' makes"
               " folded stacks of it, which can be read";
    return NULL;
}
