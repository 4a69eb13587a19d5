/* The view of lines of source, of any bytes. */
#include "fuzz.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dprof/lines.h"

#include <string.h>

struct seen {
    struct fuzz *f;
    const struct dp_prof *prof;
    size_t subs;
    size_t rows, calls;
    char file[256];             /* file name of the row before, as much as fits */
    size_t file_len;
    uint64_t line;
};

static size_t kept(const struct dp_line_row *row)
{
    return row->file_len < sizeof ((struct seen *)0)->file
           ? row->file_len : sizeof ((struct seen *)0)->file;
}

static int see_line(void *ctx, const struct dp_line_row *row)
{
    struct seen *s = ctx;
    CHECK(row->incl >= row->self || row->self > DP_LIMIT_TOTAL);
    CHECK(row->sub == DP_LINE_NO_SUB || row->sub < s->subs);
    if (s->rows && row->file_len == s->file_len && row->file_len < sizeof s->file
        && memcmp(row->file, s->file, row->file_len) == 0)
        CHECK(row->line >= s->line);
    s->file_len = row->file_len;
    memcpy(s->file, row->file, kept(row));
    s->line = row->line;
    s->rows++;
    return 0;
}

static int see_call(void *ctx, const struct dp_line_call_row *row)
{
    struct seen *s = ctx;
    CHECK(s->rows > 0);
    CHECK(row->sub < s->subs);
    s->calls++;
    return 0;
}

/* The text that is kept of a source is as long as the profile says. */
static void see_text(void *ctx, const char *ptr, size_t len)
{
    struct seen *s = ctx;
    uint64_t size;
    uint32_t crc;
    (void)ptr;
    CHECK(len <= DP_LIMIT_SOURCE);
    if (GOOD(s->f, dp_line_source(s->prof, s->file, s->file_len, &size, &crc) == 1))
        CHECK(size == len);
}

void fuzz_lines(struct fuzz *f)
{
    struct dp_prof *prof = fuzz_read(f, f->size, 0);
    if (!GOOD(f, prof))
        return;
    size_t counter;
    enum dp_metric metric = fuzz_metric(f, prof, &counter);
    struct seen s = { .f = f, .prof = prof, .subs = dp_subs_count(&prof->subs) };
    if (metric == DP_M_CALLS)           /* dp_line_rows has counts in a column of their own */
        metric = DP_T_CPU;
    int rc = dp_line_rows(prof, metric, counter, see_line, see_call, &s);
    GOOD(f, rc == 0);
    CHECK(dp_line_detail(prof) >= 0 && dp_line_detail(prof) <= 2);
    if (s.rows && s.file_len < sizeof s.file)
        GOOD(f, dp_line_text(prof, s.file, s.file_len, see_text, &s) >= 0);
    dp_prof_free(prof);
}
