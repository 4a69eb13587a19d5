/* Lines of source as rows, for a host that wants data instead of text. */
#include "dprof/lines.h"
#include "dp_base64.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_srclines.h"

#include <zlib.h>

struct handing {
    const struct dp_prof *prof;
    const struct dp_srclines *s;
    enum dp_metric metric;
    size_t counter;
    int (*line)(void *ctx, const struct dp_line_row *row);
    int (*call)(void *ctx, const struct dp_line_call_row *row);
    void *ctx;
    struct dp_buf file;
};

/* Passes line i to h->line, and then each of its calls to h->call. Returns the first result of them
 * that is not 0, or DP_E_NOMEM. */
static int hand_over(struct handing *h, size_t i)
{
    const struct dp_srcline *from = &h->s->lines[i];
    struct dp_line_row row = {
        .sub = from->sub == DP_PROF_NO_SUB ? DP_LINE_NO_SUB : from->sub,
        .count = from->count, .calls = from->calls,
    };
    const char *file;
    size_t len;
    dp_srclines_place(h->prof, from->site, &file, &len, &row.line);
    dp_buf_clear(&h->file);
    dp_fmt_unfield(&h->file, file, len);
    row.file = dp_buf_cstr(&h->file);
    row.file_len = h->file.len;
    if (dp_metric_is_time(h->metric)) {
        row.self = dp_prof_ticks(from->self, h->metric);
        row.incl = dp_prof_ticks(from->incl, h->metric);
    } else {
        size_t at = i * h->prof->n_counters + h->counter;
        row.self = h->s->counts[at];
        row.incl = h->s->incl_counts[at];
    }
    int rc = h->file.err ? h->file.err : h->line(h->ctx, &row);
    for (uint32_t k = 0; k < from->n_calls && rc == 0; k++) {
        const struct dp_srccall *c = &h->s->calls[from->first_call + k];
        struct dp_line_call_row call = {
            c->sub, c->calls, dp_metric_is_time(h->metric) ? dp_prof_ticks(c->incl, h->metric) : 0
        };
        rc = h->call(h->ctx, &call);
    }
    return rc;
}

int dp_line_rows(const struct dp_prof *prof, enum dp_metric metric, size_t counter,
                 int (*line)(void *ctx, const struct dp_line_row *row),
                 int (*call)(void *ctx, const struct dp_line_call_row *row), void *ctx)
{
    struct dp_srclines s;
    if (dp_metric_is_counter(metric) ? counter >= prof->n_counters : !dp_metric_is_time(metric))
        return DP_E_ARG;
    int rc = dp_srclines_make(&s, prof, true);
    if (rc < 0)
        return rc;
    struct handing h = { .prof = prof, .s = &s, .metric = metric, .counter = counter, .line = line,
                         .call = call, .ctx = ctx };
    dp_buf_init(&h.file);
    for (size_t i = 0; i < s.count && rc == 0; i++)
        rc = hand_over(&h, i);
    dp_buf_release(&h.file);
    dp_srclines_release(&s);
    return rc;
}

/* The recorded source of a file; NULL: nothing is known about it. */
static const struct dp_prof_source *source_of(const struct dp_prof *prof, const char *file,
                                              size_t len)
{
    struct dp_buf field;
    dp_buf_init(&field);
    dp_fmt_field(&field, file, len);
    uint32_t n = field.err ? DP_MAP_NONE : dp_pool_lookup(&prof->sources, field.ptr, field.len);
    dp_buf_release(&field);
    return n == DP_MAP_NONE ? NULL : &prof->source[n];
}

int dp_line_source(const struct dp_prof *prof, const char *file, size_t len, uint64_t *size,
                   uint32_t *crc)
{
    const struct dp_prof_source *source = source_of(prof, file, len);
    if (!source)
        return 0;
    *size = source->size;
    *crc = source->crc;
    return source->differs ? -1 : 1;
}

int dp_line_text(const struct dp_prof *prof, const char *file, size_t len,
                 void (*text)(void *ctx, const char *ptr, size_t len), void *ctx)
{
    const struct dp_prof_source *source = source_of(prof, file, len);
    struct dp_buf buf;
    if (!source || source->differs || !source->packed || source->size > DP_LIMIT_SOURCE)
        return 0;
    dp_buf_init(&buf);
    int rc = dp_packed_open(&buf, source->packed, source->packed_len, (size_t)source->size);
    bool whole = rc == 0 && buf.len == source->size
                 && crc32(0, (const Bytef *)buf.ptr, (uInt)buf.len) == source->crc;
    if (whole)
        text(ctx, buf.ptr, buf.len);
    dp_buf_release(&buf);
    return rc == DP_E_NOMEM ? rc : whole;
}

int dp_line_sources(const struct dp_prof *prof,
                    int (*fn)(void *ctx, const char *file, size_t len, uint64_t size, uint32_t crc),
                    void *ctx)
{
    struct dp_buf file;
    int rc = 0;
    dp_buf_init(&file);
    for (uint32_t i = 0; i < prof->sources.count && rc == 0; i++) {
        const struct dp_name *name = dp_pool_name(&prof->sources, i);
        file.len = 0;
        dp_fmt_unfield(&file, name->ptr, name->len);
        const char *text = dp_buf_cstr(&file);
        rc = file.err ? file.err
             : prof->source[i].differs ? 0
             : fn(ctx, text, file.len, prof->source[i].size, prof->source[i].crc);
    }
    dp_buf_release(&file);
    return rc;
}

/* Adds a file's name to the list, unless it is empty or known. Returns 0 or DP_E_NOMEM. */
static int intern_file(struct dp_pool *files, const char *ptr, size_t len)
{
    return len && dp_pool_intern(files, ptr, len) == DP_MAP_NONE ? DP_E_NOMEM : 0;
}

int dp_line_files(const struct dp_prof *prof,
                  int (*file)(void *ctx, const char *name, size_t len), void *ctx)
{
    struct dp_pool files;
    struct dp_buf name;
    int rc = 0;
    dp_pool_init(&files);
    dp_buf_init(&name);
    for (uint32_t i = 0; i < prof->sites.count && rc == 0; i++) {
        const char *ptr;
        size_t len;
        uint64_t line;
        dp_srclines_place(prof, i + 1, &ptr, &len, &line);
        dp_buf_clear(&name);
        dp_fmt_unfield(&name, ptr, len);
        rc = name.err ? name.err : intern_file(&files, dp_buf_cstr(&name), name.len);
    }
    for (uint32_t i = 0; i < dp_subs_count(&prof->subs) && rc == 0; i++) {
        const struct dp_name *of = dp_subs_text(&prof->subs, prof->subs.subs[i].file);
        rc = intern_file(&files, of->ptr, of->len);
    }
    for (uint32_t i = 0; i < files.count && rc == 0; i++)
        rc = file(ctx, dp_pool_name(&files, i)->ptr, dp_pool_name(&files, i)->len);
    dp_buf_release(&name);
    dp_pool_release(&files);
    return rc;
}

enum dp_lines_known dp_line_detail(const struct dp_prof *prof)
{
    return !prof->n_lines ? DP_LINES_NONE : prof->line_times ? DP_LINES_TIMES : DP_LINES_COUNTS;
}
