#include "dp_notes.h"
#include "dp_fmt.h"

#include <string.h>

void dp_notes_look(struct dp_notes *notes, const char *ptr, size_t len)
{
    static const char begin[] = "BEGIN";
    size_t n = sizeof begin - 1, program = sizeof DP_FMT_PROGRAM - 1;
    if (len == program && memcmp(ptr, DP_FMT_PROGRAM, program) == 0)
        notes->program = true;
    for (size_t at = 0; at + n <= len && !notes->begin; at++)
        notes->begin = memcmp(ptr + at, begin, n) == 0 && (at == 0 || ptr[at - 1] == ':')
                       && (at + n == len || ptr[at + n] == '@' || ptr[at + n] == '#');
}

void dp_notes_add(struct dp_buf *to, const struct dp_notes *notes)
{
    if (notes->program)
        dp_buf_adds(to, DP_FMT_PROGRAM ": the code outside all subs.\n");
    if (notes->begin)
        dp_buf_adds(to, "BEGIN: a use or BEGIN block, which runs while perl loads the code;"
                        " @N is its line.\n");
}
