#include "dp_header.h"
#include "dp_buf.h"
#include "dp_char.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void dp_header_init(struct dp_header *head)
{
    memset(head, 0, sizeof *head);
    dp_pool_init(&head->pool);
    head->hz = DP_FMT_HZ_DEFAULT;
    head->over_tests = 1;
}

void dp_header_release(struct dp_header *head)
{
    dp_pool_release(&head->pool);
    dp_mem_free(head->vars);
    dp_header_init(head);
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == ';'))
        p++;
    return p;
}

/* Returns a copy of a text with a NUL behind it, or NULL. */
static char *copy_text(struct dp_header *head, const char *ptr, size_t len)
{
    char *to = dp_pool_alloc(&head->pool, len + 1);
    if (to) {
        memcpy(to, ptr, len);
        to[len] = '\0';
    }
    return to;
}

/* Reads a quoted string after its opening quote. Returns the place after the closing quote, or NULL
 * if there is none. The value never grows. */
static const char *unquote_value(const char *p, const char *end, char *to, size_t *len)
{
    size_t n = 0;
    while (p < end && *p != '\'') {
        char c = *p++;
        if (c == '\\' && p < end && (*p == '\'' || *p == '\\')) {
            c = *p++;
        } else if (c == '%' && end - p >= 2) {
            int hi = dp_num_hexdigit(p[0]), lo = dp_num_hexdigit(p[1]);
            if (hi >= 0 && lo >= 0) {
                c = (char)(hi << 4 | lo);
                p += 2;
            }
        }
        to[n++] = c;
    }
    to[n] = '\0';
    *len = n;
    return p < end ? p + 1 : NULL;
}

/* Returns the end of the number at p, or NULL if there is none. */
static const char *number_end(const char *p, const char *end)
{
    const char *start = p;
    if (p < end && *p == '-')
        p++;
    const char *digits = p;
    while (p < end && (dp_is_digit(*p) || *p == '.'))
        p++;
    return p > digits && p - start < 40 ? p : NULL;
}

/* Appends a variable of the header; those beyond the limit are left out. Returns 0 or
 * DP_E_NOMEM. */
static int add_var(struct dp_header *head, struct dp_var var)
{
    if (head->count >= DP_LIMIT_VARS)
        return 0;
    if (dp_mem_grow((void **)&head->vars, &head->cap, head->count + 1, sizeof *head->vars) < 0)
        return DP_E_NOMEM;
    head->vars[head->count++] = var;
    return 0;
}

int dp_header_add(struct dp_header *head, const char *name, const char *value)
{
    struct dp_var var = { copy_text(head, name, strlen(name)),
                          copy_text(head, value, strlen(value)), strlen(value) };
    return var.name && var.value ? add_var(head, var) : DP_E_NOMEM;
}

bool dp_header_unit(const char *name, uint64_t *hz, bool *time)
{
    static const struct { const char *name; uint64_t hz; } times[] = {
        { "s", 1 }, { "ms", 1000 }, { "us", 1000000 }, { "\xc2\xb5s", 1000000 },
        { "\xce\xbcs", 1000000 },
        { "ns", 1000000000 },
    };
    *hz = 1;
    *time = false;
    for (size_t i = 0; i < DP_ARRAY_LEN(times); i++)
        if (strcmp(name, times[i].name) == 0) {
            *hz = times[i].hz;
            return *time = true;
        }
    size_t n = 0;
    while (dp_is_word(name[n]) || name[n] == '-')
        n++;
    return n && n <= DP_UNIT_MAX && !name[n] && !dp_is_digit(name[0])
           && name[0] != '-';
}

int dp_header_line(struct dp_header *head, const char *ptr, size_t len)
{
    const char *p = ptr, *end = ptr + len;
    for (;;) {
        p = skip_blanks(p, end);
        if (p == end || *p == '#')
            return 0;
        if (*p++ != '$')
            return DP_E_SYNTAX;
        const char *name = p;
        while (p < end && dp_is_word(*p))
            p++;
        size_t name_len = (size_t)(p - name);
        while (p < end && *p == ' ')
            p++;
        if (!name_len || p == end || *p++ != '=')
            return DP_E_SYNTAX;
        while (p < end && *p == ' ')
            p++;
        struct dp_var var = { NULL, NULL, 0 };
        if (p < end && *p == '\'') {
            char *to = dp_pool_alloc(&head->pool, (size_t)(end - p) + 1);
            if (!to)
                return DP_E_NOMEM;
            p = unquote_value(p + 1, end, to, &var.len);
            var.value = to;
        } else {
            const char *from = p;
            p = number_end(p, end);
            if (p) {
                var.len = (size_t)(p - from);
                if (!(var.value = copy_text(head, from, var.len)))
                    return DP_E_NOMEM;
            }
        }
        if (!p)
            return DP_E_SYNTAX;
        while (p < end && (*p == ' ' || *p == '\t' || *p == '\r'))
            p++;
        if (p < end && *p != ';' && *p != '#')
            return DP_E_SYNTAX;
        if (!(var.name = copy_text(head, name, name_len)) || add_var(head, var) < 0)
            return DP_E_NOMEM;
    }
}

const char *dp_header_get(const struct dp_header *head, const char *name)
{
    for (size_t i = head->count; i-- > 0;)
        if (strcmp(head->vars[i].name, name) == 0)
            return head->vars[i].value;
    return NULL;
}

/* A negative number (a clock set back) becomes 0, a fraction is cut. */
bool dp_header_number(const struct dp_header *head, const char *name, uint64_t *out)
{
    const char *s = dp_header_get(head, name);
    if (!s)
        return false;
    if (*s == '-') {
        *out = 0;
        return true;
    }
    return dp_num_dec(s, strcspn(s, "."), out);
}

/* The value is in seconds with a fraction. */
uint64_t dp_header_start(const struct dp_header *head)
{
    const uint64_t nano = 1000000000;
    const char *text = dp_header_get(head, "dprof_start");
    size_t whole = text ? strcspn(text, ".") : 0;
    uint64_t seconds, rest = 0, unit = nano;
    if (whole > 10 || !dp_num_dec(text, whole, &seconds))
        return 0;
    for (const char *p = text + whole + 1; text[whole] && dp_is_digit(*p) && unit > 1; p++)
        rest += (uint64_t)(*p - '0') * (unit /= 10);
    return seconds * nano + rest;
}

/* Sets head->tree and head->version from $dprof_format. Refuses a format that is neither a trace
 * nor a tree, and a newer version. The classic recorder wrote no such line: its files keep version
 * 0. Returns 0 or a DP_E. */
static int check_version(struct dp_header *head, struct dp_err *err)
{
    const char *format = dp_header_get(head, "dprof_format");
    if (!format)
        return 0;
    char kind[32];
    unsigned version;
    if (sscanf(format, "%31[a-z] %9u", kind, &version) != 2)
        return dp_err_set(err, DP_E_SYNTAX, "the format is not known: '%.60s'", format);
    head->tree = strcmp(kind, DP_FMT_TREE) == 0;
    if (!head->tree && strcmp(kind, DP_FMT_TRACE) != 0)
        return dp_err_set(
            err, DP_E_VERSION,
            "this is a file of the format '%s %u'; this version reads '%s %d' and '%s %d'", kind,
            version, DP_FMT_TRACE, DP_FMT_TRACE_VERSION, DP_FMT_TREE, DP_FMT_TREE_VERSION);
    int newest = head->tree ? DP_FMT_TREE_VERSION : DP_FMT_TRACE_VERSION;
    if (version > (unsigned)newest)
        return dp_err_set(
            err, DP_E_VERSION,
            "the format '%s %u' is newer than '%s %d', the newest that this version reads", kind,
            version, kind, newest);
    head->version = version;
    return 0;
}

/* Splits $dprof_counters at blanks; columns after the last one that fits are skipped. */
static void find_counters(struct dp_header *head)
{
    const char *p = dp_header_get(head, "dprof_counters");
    head->n_counters = 0;
    while (p && head->n_counters < DP_FMT_COUNTERS) {
        p += strspn(p, " ");
        size_t n = strcspn(p, " ");
        if (!n)
            return;
        head->counters[head->n_counters++] = (struct dp_var){ NULL, p, n };
        p += n;
    }
}

/* Reads $dprof_unit, the unit of values that are no times (bytes, cycles); a unit of time other
 * than the second is an error. Sets head->no_calls if nothing in the file counts calls. */
static int find_unit(struct dp_header *head, struct dp_err *err)
{
    uint64_t hz;
    bool time;
    head->unit = dp_header_get(head, "dprof_unit");
    head->no_calls = head->unit && strcmp(head->unit, "calls") != 0
                     && !dp_header_get(head, "dprof_calls");
    if (!head->unit || !*head->unit || strcmp(head->unit, "s") == 0)
        return 0;
    if (!dp_header_unit(head->unit, &hz, &time) || time)    /* another unit of time: other ticks */
        return dp_err_set(err, DP_E_SYNTAX, "$dprof_unit is no unit: %.40s", head->unit);
    return 0;
}

int dp_header_finish(struct dp_header *head, struct dp_err *err)
{
    static const char *const over[] = { "over_utime", "over_stime", "over_rtime" };
    static const char *const rrun[] = { "rrun_utime", "rrun_stime", "rrun_rtime" };
    int rc = check_version(head, err);
    if (rc < 0)
        return rc;
    if (dp_header_get(head, "hz")
        && (!dp_header_number(head, "hz", &head->hz) || head->hz == 0 || head->hz > DP_LIMIT_HZ))
        return dp_err_set(err, DP_E_SYNTAX, "$hz is not a number of ticks per second: %.40s",
                          dp_header_get(head, "hz"));
    if (!dp_header_number(head, "over_tests", &head->over_tests) || head->over_tests == 0)
        head->over_tests = 1;
    bool all = true;
    for (int m = 0; m < DP_METRICS; m++) {
        if (!dp_header_number(head, over[m], &head->over[m]))
            head->over[m] = 0;
        if (!dp_header_number(head, rrun[m], &head->rrun[m])) {
            head->rrun[m] = 0;
            all = false;
        }
        if (head->over[m] >= DP_LIMIT_INTERVAL
            || head->rrun[m] >= (head->tree ? DP_LIMIT_TOTAL : DP_LIMIT_INTERVAL)
            || head->over_tests >= DP_LIMIT_INTERVAL / 2)
            return dp_err_set(err, DP_E_LIMIT, "the header's times are too large to be true");
    }
    uint64_t saved;             /* the times belong to a moment before the end */
    head->ended = all && !(dp_header_number(head, "dprof_saved", &saved) && saved);
    head->has_marks = dp_header_number(head, "total_marks", &head->total_marks);
    if (!dp_header_number(head, "dprof_inherited", &head->inherited))
        head->inherited = 0;
    find_counters(head);
    return find_unit(head, err);
}
