#include "dp_unreadable.h"

#include <string.h>

#define SPEEDSCOPE "https://www.speedscope.app opens it, and exports JSON, which can be read"
#define FROM_PPROF "`pprof -proto PROGRAM FILE > NEW' makes one of it that can be read"

static bool begins_with(const char *ptr, size_t len, const char *with)
{
    size_t n = strlen(with);
    return len >= n && memcmp(ptr, with, n) == 0;
}

bool dp_unreadable_has(const char *ptr, size_t len, const char *what)
{
    size_t n = strlen(what);
    const char *p = ptr, *end = ptr + len;
    while ((p = memchr(p, *what, (size_t)(end - p))) != NULL && (size_t)(end - p) >= n) {
        if (memcmp(p, what, n) == 0)
            return true;
        p++;
    }
    return false;
}

/* Is this pprof's older format? It begins with words of 4 or 8 bytes: 0, 3, 0, a period, 0. */
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

/* Is this Go's output with ?debug=1, or a heap profile of gperftools or jemalloc? They begin with
 * "heap profile: */
static bool is_text_of_pprof(const char *ptr, size_t len)
{
    static const char *const heads[] = { "heap profile:", "heap_v2/", "--- heapz ", "--- growthz ",
                                         "--- contention", "--- mutex:", "--- threadz ",
                                         "--- symbol\n", "--- symbol\r" };
    if (!dp_unreadable_has(ptr, len, "@ 0x") && !dp_unreadable_has(ptr, len, "@ heap"))
        return false;
    for (size_t i = 0; i < DP_ARRAY_LEN(heads); i++)
        if (begins_with(ptr, len, heads[i]))
            return true;
    const char *nl = memchr(ptr, '\n', len), *blank = memchr(ptr, ' ', len);
    size_t line = nl ? (size_t)(nl - ptr) : len;
    return blank && blank < ptr + line
           && begins_with(blank, (size_t)(ptr + line - blank), " profile: total ");
}

/* Is this text with two bytes a character? A byte order mark is not enough: names of subs may begin
 * with it. */
static bool is_utf16(const char *ptr, size_t len)
{
    enum { LOOKED_AT = 16 };
    if (begins_with(ptr, len, "\xff\xfe") || begins_with(ptr, len, "\xfe\xff"))
        return memchr(ptr, '\0', len) != NULL;
    size_t text[2] = { 0, 0 };
    for (size_t i = 0; i + 1 < len && i < LOOKED_AT; i += 2)
        for (size_t k = 0; k < 2; k++)
            text[k] += !ptr[i + k] && ptr[i + 1 - k] >= ' ' && ptr[i + 1 - k] < '\x7f';
    return text[0] == LOOKED_AT / 2 || text[1] == LOOKED_AT / 2;
}

/* The advice for JSON of tools whose formats are not read; NULL for other JSON, which a reader may
 * know. */
static const char *advice_for_json(const char *ptr, size_t len)
{
    size_t at = 0;
    while (at < len && ptr[at] && strchr(" \t\r\n", ptr[at]))
        at++;
    bool object = at < len && ptr[at] == '{', array = at < len && ptr[at] == '[';
#define HAS(name) dp_unreadable_has(ptr, len, "\"" name "\"")
    if ((object && HAS("traceEvents")) || (array && HAS("ph") && HAS("ts")))
        return "this is a trace of Chrome, which is not read here: " SPEEDSCOPE;
    if (object && (HAS("callFrame") || (HAS("head") && HAS("functionName"))))
        return "this is a profile of Chrome or node (.cpuprofile), which is not read here: "
               SPEEDSCOPE;
    if (object && HAS("meta") && (HAS("libs") || HAS("frameTable") || HAS("threads")))
        return "this is a profile of Firefox or gecko, which is not read here: " SPEEDSCOPE;
#undef HAS
    return NULL;
}

const char *dp_unreadable(const char *ptr, size_t len)
{
    if (begins_with(ptr, len, "PERFILE2") || begins_with(ptr, len, "2ELIFREP")
        || begins_with(ptr, len, "PERFFILE"))
        return "this is a file of perf: `perf script -i FILE > TEXT' makes text of it, which can be"
               " read";
    if (is_old_pprof(ptr, len))
        return "this is a file of pprof in its older format: " FROM_PPROF;
    if (is_text_of_pprof(ptr, len))
        return "this is a text profile of Go, gperftools or jemalloc: " FROM_PPROF "; Go's server"
               " gives such a one without `debug=1'";
    if (len >= 4 && memcmp(ptr, "FLR", 4) == 0)
        return "this is a file of Java Flight Recorder (JFR), which is not read here: `jfrconv -o"
               " collapsed FILE NEW', of async-profiler, makes folded stacks of it, which can be"
               " read";
    if (is_utf16(ptr, len))
        return "this is text in UTF-16: `iconv -f UTF-16 -t UTF-8 FILE > NEW' makes text of it that"
               " can be read";
    return advice_for_json(ptr, len);
}
