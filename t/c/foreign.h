/* Tests of readers of other tools' files: what was read as text, and files that break off. */
#ifndef FOREIGN_H
#define FOREIGN_H

#include "tap.h"
#include "dp_mem.h"
#include "dp_prof.h"
#include "dp_prof_lines.h"
#include "dp_reader.h"

#include <inttypes.h>

static struct dp_buf told;
static struct dp_outcome out;
static struct dp_prof *prof;    /* the outcome of the last file is borrowed from it */

/* Every context as CALLER;SUB=TICKS in the order they came to be. Behind that: /REAL where real
 * time differs from CPU time, xCALLS, and counters in braces. */
static inline void tell(void)
{
    dp_buf_clear(&told);
    for (uint32_t i = 0; i < prof->count; i++) {
        uint32_t chain[64], n = 0;
        const struct dp_node *node = &prof->nodes[i];
        for (uint32_t at = i; at && n < 64; at = prof->nodes[at].parent)
            chain[n++] = at;
        dp_buf_addc(&told, '[');
        while (n--) {
            dp_subs_label(&prof->subs, prof->nodes[chain[n]].sub, 0, &told);
            dp_buf_adds(&told, n ? ";" : "");
        }
        dp_buf_addf(&told, "=%" PRIu64, node->self[DP_USER]);
        if (node->self[DP_REAL] != node->self[DP_USER])
            dp_buf_addf(&told, "/%" PRIu64, node->self[DP_REAL]);
        if (i && node->calls)
            dp_buf_addf(&told, "x%" PRIu64, node->calls);
        for (size_t k = 0; k < prof->n_counters; k++)
            dp_buf_addf(&told, "%s%" PRIu64 "%s", k ? " " : "{", dp_prof_count(prof, i, k),
                        k + 1 == prof->n_counters ? "}" : "");
        dp_buf_addc(&told, ']');
    }
}

/* Every line as FILE:LINE SUB=TICKS in the order they came to be, `-' where there is no place or no
 * sub; behind that as above, but /COUNT for how often it ran. */
static inline const char *told_lines(void)
{
    dp_buf_clear(&told);
    for (uint32_t i = 0; i < prof->n_lines; i++) {
        const struct dp_prof_line *line = &prof->lines[i];
        const struct dp_name none = { "-", 1 },
            *at = line->site ? dp_pool_name(&prof->sites, line->site - 1) : &none;
        const uint64_t *counts = dp_prof_line_counts(prof, i);
        dp_buf_addf(&told, "[%.*s ", (int)at->len, at->ptr);
        if (line->sub == DP_PROF_NO_SUB)
            dp_buf_addc(&told, '-');
        else
            dp_subs_label(&prof->subs, line->sub, 0, &told);
        dp_buf_addf(&told, "=%" PRIu64, line->self[DP_USER]);
        if (line->self[DP_REAL] != line->self[DP_USER])
            dp_buf_addf(&told, "/%" PRIu64, line->self[DP_REAL]);
        if (line->count)
            dp_buf_addf(&told, "x%" PRIu64, line->count);
        for (size_t k = 0; k < prof->n_counters; k++)
            dp_buf_addf(&told, "%s%" PRIu64 "%s", k ? " " : "{", counts ? counts[k] : 0,
                        k + 1 == prof->n_counters ? "}" : "");
        dp_buf_addc(&told, ']');
    }
    return dp_buf_cstr(&told);
}

/* What the header says of lines. */
static inline const char *lines_told(void)
{
    const char *name, *value;
    size_t len;
    for (size_t k = 0; dp_prof_var(prof, 0, k, &name, &value, &len); k++)
        if (strcmp(name, "dprof_lines") == 0)
            return value;
    return "none";
}

/* Where there are lines, they have what the contexts have, to the tick. */
static inline void lines_add_up(void)
{
    enum { SUMS = DP_METRICS + DP_FMT_COUNTERS };
    uint64_t sum[2][SUMS] = { { 0 } };
    for (uint32_t i = 0; i < prof->count; i++) {
        for (int m = 0; m < DP_METRICS; m++)
            sum[0][m] = dp_count_add(sum[0][m], prof->nodes[i].self[m]);
        for (size_t k = 0; k < prof->n_counters; k++)
            sum[0][DP_METRICS + k]
                = dp_count_add(sum[0][DP_METRICS + k], dp_prof_count(prof, i, k));
    }
    for (uint32_t i = 0; i < prof->n_lines; i++) {
        const uint64_t *counts = dp_prof_line_counts(prof, i);
        for (int m = 0; m < DP_METRICS; m++)
            sum[1][m] = dp_count_add(sum[1][m], prof->lines[i].self[m]);
        for (size_t k = 0; counts && k < prof->n_counters; k++)
            sum[1][DP_METRICS + k] = dp_count_add(sum[1][DP_METRICS + k], counts[k]);
    }
    if (prof->n_lines && memcmp(sum[0], sum[1], sizeof sum[0]) != 0)
        ok(false, "the lines have what the contexts have: %s", told_lines());
}

static inline void read_file(const void *ptr, size_t len)
{
    dp_prof_free(prof);
    prof = dp_prof_new();
    dp_prof_phases(prof);
    dp_prof_add_mem(prof, "x", ptr, len, 0);
    dp_prof_outcome(prof, 0, &out);
}

/* Contexts, then HZ/UNIT, no-calls, and the counters' names. */
static inline const char *told_of(const void *ptr, size_t len)
{
    read_file(ptr, len);
    if (out.code == 0)
        lines_add_up();
    tell();
    dp_buf_addf(&told, " %" PRIu64 "/%s%s", dp_prof_hz(prof), dp_prof_unit(prof),
                dp_prof_no_calls(prof) ? " no calls" : "");
    for (size_t k = 0; k < prof->n_counters; k++)
        dp_buf_addf(&told, " %.*s", (int)prof->counters[k].len, prof->counters[k].name);
    return dp_buf_cstr(&told);
}

static inline const char *told_of_text(const char *text) { return told_of(text, strlen(text)); }

/* The lines of a file. */
static inline const char *lines_of(const void *ptr, size_t len)
{
    told_of(ptr, len);
    return told_lines();
}

/* The n-th sub that is not the root's: FILE:LINE. */
static inline const char *place_of(uint32_t sub)
{
    struct dp_sub_info info;
    static char text[200];
    if (!dp_prof_sub(prof, sub, &info))
        return "no such sub";
    snprintf(text, sizeof text, "%s:%" PRIu64, info.file, info.line);
    return text;
}

/* What is wrong with a file: the whole message, and the place. */
static inline void fault_is(const void *ptr, size_t len, uint64_t line, uint64_t byte,
                            const char *message)
{
    told_of(ptr, len);
    ok(out.code < 0, "a fault");
    is_s(out.message, message, "its text");
    is_u(out.line, line, "its line: %s", message);
    is_u(out.byte, byte, "its byte: %s", message);
}

/* Files that end too early, at each byte: they are read or refused, and no more than that. */
static inline void cut_anywhere(const char *ptr, size_t len)
{
    size_t read = 0;
    for (size_t n = 0; n < len; n++) {
        char *copy = dp_mem_alloc(n + 1);       /* an end that sanitizers see */
        memcpy(copy, ptr, n);
        told_of(copy, n);
        read += out.code == 0;
        dp_mem_free(copy);
    }
    ok(read < len, "cut at each byte: %zu of %zu are read", read, len);
}

/* Each byte replaced by others. */
static inline void change_anywhere(const char *ptr, size_t len)
{
    static const unsigned char bytes[] = { 0, 1, 0x7f, 0x80, 0xff, '0', '9', '(', '\n' };
    char *copy = dp_mem_alloc(len);
    size_t read = 0, of = 0;
    for (size_t n = 0; n < len; n++)
        for (size_t k = 0; k < sizeof bytes; k++, of++) {
            memcpy(copy, ptr, len);
            copy[n] = (char)bytes[k];
            told_of(copy, len);
            read += out.code == 0;
        }
    dp_mem_free(copy);
    ok(read < of, "each byte changed: %zu of %zu are read", read, of);
}

/* Each allocation fails once. */
static inline void starve(const char *ptr, size_t len)
{
    long n = 0;
    bool done = false;
    for (; !done && n < 2000; n++) {
        dp_mem_fail_after(n);
        struct dp_prof *p = dp_prof_new();
        int rc = p ? dp_prof_add_mem(p, "x", ptr, len, 0) : DP_E_NOMEM;
        dp_mem_fail_after(-1);
        done = rc == 0;
        if (!done && rc != DP_E_NOMEM)
            ok(false, "allocation %ld: %d", n, rc);
        dp_prof_free(p);
    }
    ok(done && n > 10, "each allocation of %ld may fail", n);
}

static inline int foreign_done(void)
{
    dp_prof_free(prof);
    dp_buf_release(&told);
    is_i(dp_mem_live(), 0, "all memory is freed");
    return tap_done();
}

#endif
