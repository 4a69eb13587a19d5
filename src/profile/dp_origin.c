#include "dp_origin.h"
#include "dp_err.h"

#include <inttypes.h>
#include <string.h>

/* How a value is merged. SUM: ticks, which are scaled if the files' ticks differ. */
enum merge { ANY, SAME, SUM, COUNT, OWN };

static const struct {
    const char *name;
    enum merge merge;
    int kept;                   /* enum dp_write_kind */
} names[DP_ORIGIN_NAMES] = {
#define ROW(name, merge, kept) { "dprof_" #name, merge, DP_WRITE_##kept },
    DP_HEADER_NAMES(ROW)
#undef ROW
};

void dp_origin_init(struct dp_origin *o)
{
    memset(o, 0, sizeof *o);
    dp_pool_init(&o->pool);
}

void dp_origin_release(struct dp_origin *o)
{
    dp_pool_release(&o->pool);
    dp_origin_init(o);
}

/* Keeps a header's value k while all files have the same: the first file gives it, and a file that
 * lacks it (ptr NULL), or has another, removes it for good. Returns 0 or DP_E_NOMEM. */
static int keep_common(struct dp_origin *o, int k, const char *ptr, size_t len)
{
    struct dp_name *mine = &o->common[k];
    if (o->merged) {
        if (mine->ptr && (!ptr || mine->len != len || memcmp(mine->ptr, ptr, len) != 0))
            mine->ptr = NULL;
        return 0;
    }
    if (!ptr)
        return 0;
    char *to = dp_pool_alloc(&o->pool, len + 1);
    if (!to)
        return DP_E_NOMEM;
    memcpy(to, ptr, len);
    to[len] = '\0';
    mine->ptr = to;
    mine->len = len;
    return 0;
}

int dp_origin_merge(struct dp_origin *o, const struct dp_origin *from, uint64_t scale)
{
    if (!from->merged)
        return 0;
    for (int k = 0; k < DP_ORIGIN_NAMES; k++)
        if (names[k].merge == ANY)
            o->numbers[k] = o->numbers[k] || from->numbers[k];
        else if (names[k].merge == SUM)
            o->numbers[k] = dp_count_add(o->numbers[k], dp_count_scale(from->numbers[k], scale));
        else if (names[k].merge == COUNT)
            o->numbers[k] = dp_count_add(o->numbers[k], from->numbers[k]);
        else if (names[k].merge == SAME
                 && keep_common(o, k, from->common[k].ptr, from->common[k].len) < 0)
            return DP_E_NOMEM;
    o->merged = dp_count_add(o->merged, from->merged);
    o->slices = dp_count_add(o->slices, from->slices);
    o->cut = dp_count_add(o->cut, from->cut);
    return 0;
}

int dp_origin_add(struct dp_origin *o, const struct dp_header *head, uint64_t scale)
{
    struct dp_origin one;
    memset(&one, 0, sizeof one);
    uint64_t n;
    for (int k = 0; k < DP_ORIGIN_NAMES; k++) {
        for (size_t i = head->count; i-- > 0 && !one.common[k].ptr;)
            if (strcmp(head->vars[i].name, names[k].name) == 0)
                one.common[k] = (struct dp_name){ head->vars[i].value, head->vars[i].len };
        if (dp_header_number(head, names[k].name, &n))
            one.numbers[k] = n;
    }
    one.merged = 1;
    one.slices = dp_header_get(head, "dprof_slice") != NULL;
    one.cut = !head->ended;
    if (dp_header_number(head, "dprof_merged", &n) && n) {
        one.merged = n;
        one.cut = dp_header_number(head, "dprof_cut", &n) ? n : 0;
    }
    return dp_origin_merge(o, &one, scale);
}

/* Are all merged files slices of the same process and thread? */
static bool is_of_slices(const struct dp_origin *o)
{
    return o->slices == o->merged && o->common[DP_ORIGIN_run].ptr && o->common[DP_ORIGIN_pid].ptr
        && o->common[DP_ORIGIN_tid].ptr;
}

/* Have two files the same value of the header's field k? */
static bool agrees_on(const struct dp_origin *o, const struct dp_origin *from, int k)
{
    const struct dp_name *a = &o->common[k], *b = &from->common[k];
    return a->len == b->len && memcmp(a->ptr, b->ptr, a->len) == 0;
}

bool dp_origin_goes_on(const struct dp_origin *o, const struct dp_origin *from)
{
    if (!from->merged || !is_of_slices(from))
        return false;
    return !o->merged
        || (is_of_slices(o) && agrees_on(o, from, DP_ORIGIN_run)
            && agrees_on(o, from, DP_ORIGIN_pid) && agrees_on(o, from, DP_ORIGIN_tid));
}

void dp_origin_scale(struct dp_origin *o, uint64_t by)
{
    for (int k = 0; k < DP_ORIGIN_NAMES; k++)
        if (names[k].merge == SUM)
            o->numbers[k] = by ? dp_count_scale(o->numbers[k], by) : 0;
        else if (names[k].merge == COUNT && !by)
            o->numbers[k] = 0;
}

int dp_origin_rebase(struct dp_origin *o, const struct dp_base *bases, size_t n)
{
    struct dp_name *script = &o->common[DP_ORIGIN_script];
    struct dp_buf buf;
    const char *ptr;
    size_t len;
    if (!script->ptr)
        return 0;
    dp_buf_init(&buf);
    int rc = dp_rebase(bases, n, script->ptr, script->len, &buf, &ptr, &len);
    char *to = rc == 0 && ptr != script->ptr ? dp_pool_alloc(&o->pool, len + 1) : NULL;
    if (to) {
        memcpy(to, ptr, len);
        to[len] = '\0';
        *script = (struct dp_name){ to, len };
    } else if (rc == 0 && ptr != script->ptr) {
        rc = DP_E_NOMEM;
    }
    dp_buf_release(&buf);
    return rc;
}

/* Can a value be written without quotes? */
static bool is_number(const struct dp_name *v)
{
    size_t digits = strspn(v->ptr, "0123456789");
    if (!digits || digits > 15 || (v->ptr[0] == '0' && digits > 1))
        return false;
    if (digits < v->len && v->ptr[digits] == '.')
        digits += 1 + strspn(v->ptr + digits + 1, "0123456789");
    return digits == v->len && digits < 32 && v->ptr[digits - 1] != '.';
}

/* Writes the options that calls and contexts depend on. A baseline is compared with profiles of
 * other days, and of other ways to start the recorder, which may differ in the other options. */
static void put_options(struct dp_buf *buf, const struct dp_name *v)
{
    static const char *const kept[] = { "builtins=", "callsites=", "detail=", "lines=" };
    size_t n = 0;
    dp_buf_addc(buf, '\'');
    for (const char *p = v->ptr, *end = p + v->len; p < end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p));
        size_t len = (size_t)((comma ? comma : end) - p);
        for (size_t k = 0; k < DP_ARRAY_LEN(kept); k++)
            if (len > strlen(kept[k]) && memcmp(p, kept[k], strlen(kept[k])) == 0
                && !memchr(p, '\'', len) && !memchr(p, '\\', len)) {
                dp_buf_adds(buf, n++ ? "," : "");
                dp_buf_add(buf, p, len);
            }
        p += len + 1;
    }
    dp_buf_addc(buf, '\'');
}

/* Appends the value of a field to a header: a list of options, a number, or a quoted text. */
static void put_value(struct dp_buf *buf, const struct dp_name *v, bool part)
{
    if (part)
        put_options(buf, v);
    else if (is_number(v))
        dp_buf_add(buf, v->ptr, v->len);
    else
        dp_fmt_quote(buf, v->ptr, v->len);
}

void dp_origin_write(const struct dp_origin *o, int kind, struct dp_buf *buf)
{
    const bool counts = kind == DP_WRITE_COUNTERS;
    dp_buf_addf(buf, "$dprof_merged=%" PRIu64 ";\n", o->merged);
    if (o->cut)
        dp_buf_addf(buf, "$dprof_cut=%" PRIu64 ";\n", o->cut);
    for (int k = 0; k < DP_ORIGIN_NAMES; k++) {
        uint64_t n = o->numbers[k] || (counts && k == DP_ORIGIN_counters_only);
        n = names[k].merge == SUM || names[k].merge == COUNT ? o->numbers[k]
            : names[k].merge == ANY ? n : 0;
        bool same = names[k].merge == SAME && o->common[k].ptr;
        if (kind > names[k].kept || !(n || same))
            continue;
        dp_buf_addf(buf, "$%s=", names[k].name);
        if (same)
            put_value(buf, &o->common[k], counts && k == DP_ORIGIN_options);
        else
            dp_buf_addu(buf, n);
        dp_buf_adds(buf, ";\n");
    }
}
