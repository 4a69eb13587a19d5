/* Files of other tools that cannot be read: the error names each, and how to make a readable file
 * of it. None of them passes for folded stacks, or for another format. */
#include "foreign.h"
#include "dp_unreadable.h"

#define BYTES(text) text, sizeof text - 1

static const struct {
    const char *what, *ptr;
    size_t len;
    const char *named;          /* a part of the message; NULL: it is not named */
} files[] = {
    { "Go's heap", BYTES("heap profile: 5: 80 [9: 144] @ heap/1048576\n1: 16 [1: 16] @ 0x45 0x46\n"
                         "#\t0x45\tmain.f+0x41\t/x.go:5\n"), "text profile of Go" },
    { "gperftools' heap", BYTES("heap profile:      1:      16 [     2:     32] @ heapprofile\n"
                                "     1:      16 [     1:      16] @ 0x7f 0x7e\n"
                                "\nMAPPED_LIBRARIES:\n00400000-00401000 r-xp 0 08:01 5 /x\n"),
      "pprof -proto" },
    { "jemalloc's", BYTES("heap_v2/524288\n  t*: 1: 2 [0: 0]\n@ 0x1 0x2\n  t*: 1: 2 [0: 0]\n"),
      "jemalloc" },
    { "goroutines", BYTES("goroutine profile: total 7\n2 @ 0x43 0x44\n"), "without `debug=1'" },
    { "threads", BYTES("threadcreate profile: total 7\n7 @ 0x1\n"), "text profile" },
    { "contention", BYTES("--- contention:\ncycles/second=1\n5 1 @ 0x1 0x2\n"), "text profile" },
    { "with symbols", BYTES("--- symbol\nbinary=/x\n0x45 f\n---\n--- heap\n1: 16 [1: 16] @ 0x45\n"),
      "text profile" },
    { "JFR", BYTES("FLR\0\0\2\0\1"), "jfrconv -o collapsed" },
    { "JFR's name is four bytes", BYTES("FLR;f 5\n"), NULL },
    { "UTF-16", BYTES("\xff\xfe" "a\0;\0b\0 \0002\0\n\0"), "UTF-16: `iconv" },
    { "UTF-16, the high byte first", BYTES("\xfe\xff\0a\0;\0b\0 \0002\0\n"), "UTF-16" },
    { "UTF-16 without a mark", BYTES("m\0a\0i\0n\0;\0b\0 \0002\0\r\0\n\0"), "UTF-16" },
    { "... the high byte first", BYTES("\0m\0a\0i\0n\0;\0b\0 \0002\0\n"), "UTF-16" },
    { "a name like a mark", BYTES("\xff\xfe;f 5\n"), NULL },
    { "a trace of Chrome", BYTES("{\"traceEvents\":[{\"ph\":\"B\",\"ts\":1}]}"),
      "trace of Chrome" },
    { "... with what a profile has", BYTES("{\"traceEvents\":[{\"shared\":{\"frames\":[]}}]}"),
      "trace of Chrome" },
    { "... as a list", BYTES(" [\n{\"name\":\"x\",\"ph\":\"B\",\"ts\":1}]"), "trace of Chrome" },
    { "cpuprofile", BYTES("{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"f\"}}]}"),
      "(.cpuprofile)" },
    { "... an old one", BYTES("{\"head\":{\"functionName\":\"f\"}}"), "(.cpuprofile)" },
    { "Firefox", BYTES("{\"meta\":{\"version\":1},\"libs\":[],\"threads\":[]}"), "Firefox" },
    { "... whose strings are shared", BYTES("{\"meta\":{},\"shared\":{},\"threads\":[]}"),
      "speedscope.app" },
    { "perf.data", BYTES("PERFILE2hello"), "perf script -i" },
    { "other JSON", BYTES("{\"meta\":1}"), NULL },
    { "a list", BYTES("[{\"ph\":1}]"), NULL },
    { "stacks of such words", BYTES("heap profile: 5\ngoroutine profile: total 7\n"), NULL },
    { "... which begin otherwise", BYTES("goroutine profile: total 7\nf 3\n"), NULL },
    { "stacks of other words", BYTES("profile: total 5\n"), NULL },
    { "short", BYTES("h\0e\0a\0p\0"), NULL },
};

int main(void)
{
    for (size_t i = 0; i < DP_ARRAY_LEN(files); i++) {
        const char *ptr = files[i].ptr, *named = files[i].named;
        const char *told_as = dp_unreadable(ptr, files[i].len);
        ok(named ? told_as && strstr(told_as, named) : !told_as, "%s: %s", files[i].what,
           told_as ? told_as : "nothing is told");
        read_file(ptr, files[i].len);
        if (named)
            is_s(out.message, told_as, "... and the reader says it");
        if (named)
            is_i(out.code, DP_E_NOTPROFILE, "... and reads nothing");
        for (size_t n = 0; n < files[i].len; n++) {
            char *copy = dp_mem_alloc(n + 1);   /* an end that sanitizers see */
            memcpy(copy, ptr, n);
            read_file(copy, n);
            dp_mem_free(copy);
        }
    }
    return foreign_done();
}
