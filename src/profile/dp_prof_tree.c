#include "dp_prof_tree.h"
#include "dp_char.h"
#include "dp_prof_lines.h"
#include "dp_prof_requests.h"
#include "dp_mem.h"
#include "dp_rebase.h"

#include <string.h>

/* ---- extras of nodes ---- */

/* Returns the place for a node's rare values, made if it is missing; NULL if memory is short. */
static struct dp_extra *extra_of(struct dp_prof *prof, uint32_t node)
{
    if (dp_mem_grow_cleared((void **)&prof->extra, &prof->extra_cap, (size_t)node + 1,
                            sizeof *prof->extra) < 0)
        return NULL;
    return &prof->extra[node];
}

/* The values of all counters of a node. There is at least one counter. */
static uint64_t *counts_of(struct dp_prof *prof, uint32_t node)
{
    size_t need = ((size_t)node + 1) * prof->n_counters;
    if (dp_mem_grow_cleared((void **)&prof->counts, &prof->counts_cap, need,
                            sizeof *prof->counts) < 0)
        return NULL;
    return prof->counts + need - prof->n_counters;
}

/* The histogram of a sub's call lengths, which is made if it is new: many subs have none. NULL when
 * memory is short. */
static uint64_t *histogram_of(struct dp_prof *prof, uint32_t sub)
{
    if (dp_mem_grow_cleared((void **)&prof->histogram_of, &prof->histogram_of_cap,
                            (size_t)sub + 1, sizeof *prof->histogram_of) < 0)
        return NULL;
    if (!prof->histogram_of[sub]) {
        size_t n = prof->histograms_count;
        if (dp_mem_grow((void **)&prof->histograms, &prof->histograms_cap, n + 1,
                        sizeof *prof->histograms)
            < 0)
            return NULL;
        memset(prof->histograms[n], 0, sizeof prof->histograms[n]);
        prof->histogram_of[sub] = (uint32_t)++prof->histograms_count;
    }
    return prof->histograms[prof->histogram_of[sub] - 1];
}

const uint64_t *dp_prof_histogram(const struct dp_prof *prof, uint32_t sub)
{
    uint32_t n = sub < prof->histogram_of_cap ? prof->histogram_of[sub] : 0;
    return n ? prof->histograms[n - 1] : NULL;
}

struct dp_extra dp_prof_extra(const struct dp_prof *prof, uint32_t node)
{
    static const struct dp_extra none;
    return node < prof->extra_cap ? prof->extra[node] : none;
}

void dp_prof_release_extra(struct dp_prof *prof)
{
    dp_mem_free(prof->extra);
    dp_mem_free(prof->counts);
    dp_mem_free(prof->histogram_of);
    dp_mem_free(prof->histograms);
    dp_mem_free(prof->rows);
    dp_pool_release(&prof->sites);
    dp_pool_release(&prof->texts);
    dp_map_release(&prof->sited);
    dp_origin_release(&prof->origin);
}

void dp_prof_scale_extra(struct dp_prof *prof, uint64_t by)
{
    for (size_t i = 0; i < prof->extra_cap; i++) {
        struct dp_extra *x = &prof->extra[i];
        x->longest = dp_count_scale(x->longest, by);
        if (x->shortest)
            x->shortest = dp_count_scale(x->shortest - 1, by) + 1;
    }
}

/* Merges the longest and shortest calls. A longest call of 0 means nothing: no call of the file
 * ended, or none lasted a tick. */
static void add_span(struct dp_extra *x, uint64_t longest, uint64_t shortest)
{
    if (!longest)
        return;
    if (!x->longest || !x->shortest || shortest + 1 < x->shortest)
        x->shortest = shortest + 1;
    if (longest > x->longest)
        x->longest = longest;
}

int dp_prof_ended(struct dp_prof *prof, uint32_t node, uint64_t ticks)
{
    struct dp_extra *x = extra_of(prof, node);
    uint64_t *h = histogram_of(prof, prof->nodes[node].sub);
    if (!x || !h)
        return DP_E_NOMEM;
    if (ticks > x->longest)
        x->longest = ticks;
    if (!x->shortest || ticks + 1 < x->shortest)
        x->shortest = ticks + 1;
    double ns = (double)ticks * 1e9 / (double)prof->hz;
    unsigned b = 0;
    while (b < DP_FMT_BUCKETS - 1 && ns >= 2)
        b++, ns /= 2;
    h[b] = dp_count_add(h[b], 1);
    return 0;
}

/* ---- counters ---- */

int dp_prof_take_counters(struct dp_prof *prof, const struct dp_var *counters, size_t n)
{
    for (size_t k = 0; k < DP_FMT_COUNTERS; k++)
        prof->in.column[k] = UINT32_MAX;
    if (!prof->has_counters) {
        prof->has_counters = true;
        for (size_t k = 0; k < n; k++) {
            uint32_t text = dp_pool_intern(&prof->texts, counters[k].value, counters[k].len);
            bool twice = false;
            if (text == DP_MAP_NONE)
                return DP_E_NOMEM;
            for (size_t i = 0; i < prof->n_counters; i++)
                twice = twice || prof->counters[i].name == dp_pool_name(&prof->texts, text)->ptr;
            if (twice)
                continue;
            const struct dp_name *name = dp_pool_name(&prof->texts, text);
            prof->in.column[k] = (uint32_t)prof->n_counters;
            prof->counters[prof->n_counters++] =
                (struct dp_counter){ name->ptr, name->len, false, 1000 };
        }
        return 0;
    }
    bool seen[DP_FMT_COUNTERS] = { false };
    for (size_t k = 0; k < n; k++) {
        bool known = false;
        for (size_t i = 0; i < prof->n_counters; i++) {
            struct dp_counter *c = &prof->counters[i];
            if (c->len != counters[k].len || memcmp(c->name, counters[k].value, c->len) != 0)
                continue;
            known = true;
            if (!seen[i])
                prof->in.column[k] = (uint32_t)i;
            seen[i] = true;
        }
        prof->counters_differ = prof->counters_differ || !known;
    }
    for (size_t i = 0; i < prof->n_counters; i++)
        if (!seen[i]) {
            prof->counters[i].lacking = true;
            prof->counters_differ = true;
        }
    return 0;
}

/* Reads a percentage such as 66.4 in tenths. Returns false if the text is no such number; 100 and
 * more do not matter. */
static bool read_tenths(const char **p, unsigned *out)
{
    const char *q = *p;
    unsigned n = 0;
    while (dp_is_digit(*q) && n < 100)
        n = 10 * n + (unsigned)(*q++ - '0');
    bool ok = q > *p;
    n *= 10;
    if (*q == '.' && dp_is_digit(q[1]))
        n += (unsigned)(q[1] - '0');
    q += strcspn(q, " ");
    *p = q + (*q == ' ');
    *out = n;
    return ok;
}

void dp_prof_take_shares(struct dp_prof *prof, const struct dp_header *head)
{
    const char *p = dp_header_get(head, "dprof_shares");
    unsigned share;
    for (size_t k = 0; p && *p && k < head->n_counters; k++) {
        bool ok = read_tenths(&p, &share);
        struct dp_counter *c = prof->in.column[k] == UINT32_MAX
                ? NULL : &prof->counters[prof->in.column[k]];
        if (ok && c && share < c->share)
            c->share = share;
    }
}

int dp_prof_add_counts(struct dp_prof *prof, uint32_t node, const uint64_t *counts)
{
    size_t n = prof->n_counters ? prof->in.file->head.n_counters : 0;
    uint64_t *to = n ? counts_of(prof, node) : NULL;
    if (n && !to)
        return DP_E_NOMEM;
    for (size_t k = 0; k < n; k++) {
        uint32_t column = prof->in.column[k];
        if (column != UINT32_MAX)
            to[column] = dp_count_add(to[column],
                                      dp_count_scale(counts[k], prof->paired ? prof->in.scale : 1));
    }
    return 0;
}

int dp_prof_counters_differ(const struct dp_prof *prof) { return prof->counters_differ; }

/* ---- a tree's lines ---- */

/* Merges values of calls into those of a node, which gets room for them only if it has some. */
static int add_extra(struct dp_prof *prof, uint32_t node, uint64_t longest, uint64_t shortest,
                     uint64_t folded)
{
    if (!longest && !folded)
        return 0;
    struct dp_extra *x = extra_of(prof, node);
    if (!x)
        return DP_E_NOMEM;
    add_span(x, longest, shortest);
    x->folded = dp_count_add(x->folded, folded);
    return 0;
}

int64_t dp_prof_site(struct dp_prof *prof, const char *ptr, size_t len)
{
    if (!len)
        return 0;
    uint32_t n = dp_pool_intern(&prof->sites, ptr, len);
    if (n == DP_MAP_NONE)
        return DP_E_NOMEM;
    return n < DP_LIMIT_SITES ? (int64_t)n + 1 : DP_E_LIMIT;
}

/* Sets the error of adding a context, with a message that says what the limit is. Returns the
 * code. */
static int too_many(struct dp_err *err, int code)
{
    if (code != DP_E_LIMIT)
        return dp_err_set(err, code, "%s", dp_err_text(code));
    return dp_err_set(err, code, "there are more than %lu calling contexts",
                      (unsigned long)DP_LIMIT_NODES);
}

static int no_room(struct dp_err *err)
{
    return dp_err_set(err, DP_E_LIMIT, "the times add up to more than fits");
}

/* Stands for the contexts of the start-up, which is left out. */
enum { STARTING = INT32_MAX };

/* Does the context belong to the start-up, which only_main leaves out? */
static bool in_startup(const struct dp_prof *prof, const struct dp_context *c)
{
    if (c->again || c->sub == DP_SUB_NONE)
        return c->again && c->node == STARTING;
    return c->parent == STARTING || (c->parent == 0 && dp_prof_is_startup(prof, c->sub));
}

void dp_prof_on_expect(void *ctx, uint32_t node)
{
    const struct dp_prof *prof = ctx;
    DP_PREFETCH(&prof->nodes[node]);
}

int64_t dp_prof_on_context(void *ctx, const struct dp_context *c, struct dp_err *err)
{
    struct dp_prof *prof = ctx;
    int64_t n = 0;
    if (prof->only_main && in_startup(prof, c))
        return STARTING;
    for (int m = 0; m < DP_METRICS; m++)
        if (c->t[m] >= DP_LIMIT_TOTAL / prof->in.scale
            || prof->total[m] + c->t[m] * prof->in.scale >= DP_LIMIT_TOTAL)
            return no_room(err);
    if (c->again) {
        n = c->node;
    } else if (c->fresh && prof->in.alone && !prof->chart && !c->at.len) {
        n = dp_prof_new_node(prof, c->parent, c->sub, c->sub, 0);
    } else if (c->sub != DP_SUB_NONE && prof->subs.subs[c->sub].phase && !prof->by_phase) {
        n = c->parent;
    } else if (c->sub != DP_SUB_NONE) {
        int64_t site = dp_prof_site(prof, c->at.ptr, c->at.len);
        n = site < 0 ? site : dp_prof_kid(prof, c->parent, c->sub, (uint32_t)site);
    }
    if (n < 0)
        return too_many(err, (int)n);
    bool is_phase = c->sub != DP_SUB_NONE && !c->fresh && prof->subs.subs[c->sub].phase;
    struct dp_node *node = &prof->nodes[n];
    for (int m = 0; m < DP_METRICS; m++) {
        node->self[m] += c->t[m] * prof->in.scale;
        prof->total[m] += c->t[m] * prof->in.scale;
    }
    prof->chart_now += prof->chart ? dp_prof_ticks(c->t, prof->chart_time) * prof->in.scale : 0;
    if (n == 0 && is_phase)
        ;                               /* its time goes to the root */
    else if (n == 0)
        prof->in.root_calls = dp_count_add(prof->in.root_calls, c->calls);
    else
        node->calls = dp_count_add(node->calls, c->calls);
    if (add_extra(prof, (uint32_t)n, dp_count_scale(c->longest, prof->in.scale),
                  dp_count_scale(c->shortest, prof->in.scale), c->folded)
        < 0)
        return too_many(err, DP_E_NOMEM);
    return dp_prof_add_counts(prof, (uint32_t)n, c->counters) < 0 ? too_many(err, DP_E_NOMEM) : n;
}

int dp_prof_on_histogram(void *ctx, uint32_t sub, const uint64_t *count)
{
    if (((struct dp_prof *)ctx)->only_main)
        return 0;
    uint64_t *h = histogram_of(ctx, sub);
    if (!h)
        return DP_E_NOMEM;
    for (int b = 0; b < DP_FMT_BUCKETS; b++)
        h[b] = dp_count_add(h[b], count[b]);
    return 0;
}

int dp_prof_on_rows(void *ctx, uint32_t sub, uint64_t rows)
{
    struct dp_prof *prof = ctx;
    if (prof->only_main)                /* as with histograms */
        return 0;
    if (dp_mem_grow_cleared((void **)&prof->rows, &prof->rows_cap, (size_t)sub + 1,
                            sizeof *prof->rows) < 0)
        return DP_E_NOMEM;
    uint64_t *to = &prof->rows[sub];
    *to = dp_count_add(*to ? *to - 1 : 0, rows) + 1;
    return 0;
}

/* ---- a profile into another one ---- */

struct taking {
    struct dp_prof *prof;
    const struct dp_prof *from;
    const struct dp_take *what;
    uint64_t scale;
    uint32_t *subs, *of;        /* from numbers there to numbers here; for nodes, DP_TAKE_... before
                                 * that */
    struct dp_buf buf;
};

/* Copies a path, or FILE:LINE, without its base. */
static int rebase_name(struct taking *t, const struct dp_name *name, struct dp_text *out)
{
    return dp_rebase(t->what->bases, t->what->n_bases, name->ptr, name->len, &t->buf, &out->ptr,
                     &out->len);
}

/* The number here of sub i of the other profile. The sub is added if it is new. */
static int64_t take_sub(struct taking *t, uint32_t i)
{
    struct dp_text file = { NULL, 0 };
    if (t->subs[i] != DP_MAP_NONE)
        return t->subs[i];
    if (rebase_name(t, dp_subs_text(&t->from->subs, t->from->subs.subs[i].file), &file) < 0)
        return DP_E_NOMEM;
    int64_t to = dp_subs_import_in(&t->prof->subs, &t->from->subs, i, file);
    if (to >= 0)
        t->subs[i] = (uint32_t)to;
    return to;
}

/* Finds or makes the context here of a context of the other profile, below the one here of its
 * caller. */
static int64_t take_kid(struct taking *t, const struct dp_node *node)
{
    uint32_t parent = t->of[node->parent];
    struct dp_text at = { NULL, 0 };
    int rc = node->site ? rebase_name(t, dp_pool_name(&t->from->sites, node->site - 1), &at) : 0;
    int64_t site = rc < 0 ? rc : dp_prof_site(t->prof, at.ptr, at.len);
    int64_t sub = site < 0 ? site : take_sub(t, node->sub);
    return sub < 0 ? sub
                   : dp_prof_kid(t->prof, parent >= DP_TAKE_ROOT ? 0 : parent, (uint32_t)sub,
                                 (uint32_t)site);
}

/* Adds context i of the other profile, with all its values, to the same context here, unless
 * dp_prof_choose has left it out. Its caller has been added before. */
static int take_node(struct taking *t, uint32_t i)
{
    struct dp_prof *prof = t->prof;
    const struct dp_node *node = &t->from->nodes[i];
    if (t->of[i] != DP_TAKE_ROOT && t->of[i] != DP_TAKE_KEEP)
        return 0;
    int64_t n = t->of[i] == DP_TAKE_ROOT ? 0 : take_kid(t, node);
    if (n < 0)
        return (int)n;
    t->of[i] = (uint32_t)n;
    struct dp_node *to = &prof->nodes[n];
    for (int m = 0; m < DP_METRICS; m++) {
        to->self[m] += node->self[m] * t->scale;
        prof->total[m] += node->self[m] * t->scale;
    }
    to->calls = dp_count_add(to->calls, node->calls);
    struct dp_extra x = dp_prof_extra(t->from, i);
    if (add_extra(prof, (uint32_t)n, dp_count_scale(x.longest, t->scale),
                  x.shortest ? dp_count_scale(x.shortest - 1, t->scale) : 0, x.folded)
        < 0)
        return DP_E_NOMEM;
    if (!prof->n_counters || !t->from->n_counters)
        return 0;
    uint64_t *counts = counts_of(prof, (uint32_t)n);
    if (!counts)
        return DP_E_NOMEM;
    for (size_t k = 0; k < t->from->n_counters; k++)
        if (prof->in.column[k] != UINT32_MAX && !t->from->counters[k].lacking) {
            uint64_t count = dp_count_scale(dp_prof_count(t->from, i, k),
                                            t->from->paired ? t->scale : 1);
            counts[prof->in.column[k]] = dp_count_add(counts[prof->in.column[k]], count);
        }
    return 0;
}

/* Matches the other profile's counters with ours by name. After this, prof->in.column has our
 * counter for each of the other's, and take_node uses it. */
static int merge_counters(struct dp_prof *prof, const struct dp_prof *from)
{
    struct dp_var counters[DP_FMT_COUNTERS];
    uint32_t column[DP_FMT_COUNTERS];
    size_t n = 0;
    for (size_t k = 0; k < from->n_counters; k++)
        if (!from->counters[k].lacking)
            counters[n++] = (struct dp_var){ NULL, from->counters[k].name, from->counters[k].len };
    int rc = dp_prof_take_counters(prof, counters, n);
    if (rc < 0)
        return rc;
    prof->counters_differ = prof->counters_differ || from->counters_differ;
    memcpy(column, prof->in.column, sizeof column);
    for (size_t k = 0, kept = 0; k < from->n_counters; k++)
        prof->in.column[k] = from->counters[k].lacking ? UINT32_MAX : column[kept++];
    for (size_t k = 0; k < from->n_counters; k++)
        if (prof->in.column[k] != UINT32_MAX
            && from->counters[k].share < prof->counters[prof->in.column[k]].share)
            prof->counters[prof->in.column[k]].share = from->counters[k].share;
    return 0;
}

/* Adds all subs of the other profile with their histograms and rows, also those without a context.
 * If only a phase is taken, this adds none: the contexts of the phase add theirs. */
static int take_subs(struct taking *t)
{
    size_t n = dp_subs_count(&t->from->subs);
    for (uint32_t i = 0; i < n; i++)
        t->subs[i] = DP_MAP_NONE;
    for (uint32_t i = 0; i < n && !t->what->phase; i++) {       /* with a phase, only the phase's
                                                                 * subs */
        int64_t to = take_sub(t, i);
        if (to < 0)
            return (int)to;
        const uint64_t *h = dp_prof_histogram(t->from, i);
        uint64_t rows = dp_prof_rows(t->from, i);
        if ((h && dp_prof_on_histogram(t->prof, t->subs[i], h) < 0)
            || (rows && dp_prof_on_rows(t->prof, t->subs[i], rows - 1) < 0))
            return DP_E_NOMEM;
    }
    return 0;
}

/* Adds the costs of statement i of the other profile to the same statement here. */
static int take_line(struct taking *t, uint32_t i)
{
    const struct dp_prof_line *line = &t->from->lines[i];
    struct dp_text at = { NULL, 0 };
    int rc = line->site ? rebase_name(t, dp_pool_name(&t->from->sites, line->site - 1), &at) : 0;
    int64_t site = rc < 0 ? rc : dp_prof_site(t->prof, at.ptr, at.len);
    int64_t sub = site < 0 ? site : line->sub == DP_PROF_NO_SUB ? DP_PROF_NO_SUB
                                                                : take_sub(t, line->sub);
    if (sub < 0)
        return (int)sub;
    return dp_prof_add_line(t->prof, (uint32_t)site, (uint32_t)sub, t->from, i, t->scale);
}

/* Adds what is known about source file i of the other profile, under its name without the base. */
static int take_source(struct taking *t, uint32_t i)
{
    const struct dp_prof_source *source = &t->from->source[i];
    struct dp_linefile file = {
        .size = source->size, .crc = source->crc,
        .packed = { source->packed, source->packed_len },
    };
    int rc = rebase_name(t, dp_pool_name(&t->from->sources, i), &file.file);
    rc = rc < 0 ? rc : dp_prof_on_source(t->prof, &file);
    if (rc == 0 && source->differs)
        t->prof->source[dp_pool_lookup(&t->prof->sources, file.file.ptr, file.file.len)].differs =
            true;
    return rc;
}

/* Adds everything that the other profile has, except for counters, which are matched already: subs,
 * contexts, sources, statements, and the origin. */
static int take_contents(struct taking *t)
{
    /* A slice alone cannot show which of the anonymous subs of a line it has: others may have run
     * before or later. */
    t->prof->subs.goes_on = dp_origin_goes_on(&t->prof->origin, &t->from->origin);
    int rc = take_subs(t);
    for (size_t i = 0; i < t->from->count && rc == 0; i++)
        rc = take_node(t, (uint32_t)i);
    for (uint32_t i = 0; i < t->from->sources.count && rc == 0; i++)
        rc = take_source(t, i);
    /* Statements do not distinguish phases. */
    for (size_t i = 0; i < t->from->n_lines && rc == 0 && !t->what->phase; i++)
        rc = take_line(t, (uint32_t)i);
    if (rc == 0)
        rc = dp_prof_take_requests(t->prof, t->from, t->what->phase);
    if (rc == 0 && t->prof->subs.goes_on)
        rc = dp_subs_order(&t->prof->subs);
    if (rc < 0)
        return rc;
    struct dp_origin origin = t->from->origin;
    if (t->what->phase) {
        dp_origin_scale(&origin, 0);   /* sums are of the whole process */
        origin.cut = 0;
    }
    rc = dp_origin_merge(&t->prof->origin, &origin, t->scale);
    return rc < 0 ? rc : dp_origin_rebase(&t->prof->origin, t->what->bases, t->what->n_bases);
}

/* Copies a profile. Both profiles have detail, or neither has. */
static int take_all(struct dp_prof *prof, const struct dp_prof *from, const struct dp_take *what,
                    struct dp_err *err)
{
    struct taking t = { .prof = prof, .from = from, .what = what };
    int rc = dp_prof_take_unit(prof, from->unit, from->no_calls, err);
    if (rc == 0)
        rc = dp_prof_common_hz(prof, from->hz, &t.scale, err);
    for (int m = 0; m < DP_METRICS && rc == 0; m++)
        if (from->total[m] >= DP_LIMIT_TOTAL / t.scale
            || prof->total[m] + from->total[m] * t.scale >= DP_LIMIT_TOTAL)
            rc = no_room(err);
    if (rc == 0) {
        t.subs = dp_mem_realloc(NULL, dp_subs_count(&from->subs) + 1, sizeof *t.subs);
        t.of = dp_mem_realloc(NULL, from->count, sizeof *t.of);
        dp_buf_init(&t.buf);
        rc = t.subs && t.of ? dp_prof_choose(from, what, t.of) : DP_E_NOMEM;
        if (rc == DP_E_ARG)
            dp_err_set(err, rc, "there is no such phase");
        if (rc == 0)
            rc = merge_counters(prof, from);
        if (rc == 0)
            rc = take_contents(&t);
        if (rc == DP_E_LIMIT)
            too_many(err, rc);
        dp_mem_free(t.subs);
        dp_mem_free(t.of);
        dp_buf_release(&t.buf);
    }
    if (rc < 0)
        dp_err_set(err, rc, "%s", dp_err_text(rc));
    return rc;
}

int dp_prof_absorb(struct dp_prof *prof, const struct dp_prof *from, struct dp_err *err)
{
    static const struct dp_take all;
    prof->paired = prof->paired || from->paired;
    /* without ticks, no part of the file was readable */
    return from->hz ? take_all(prof, from, &all, err) : 0;
}

int dp_prof_take(struct dp_prof *prof, const struct dp_prof *from, const struct dp_take *what,
                 char *message)
{
    struct dp_err err;
    dp_err_init(&err);
    int rc = !from->hz ? 0
             : prof->detail && from->detail ? take_all(prof, from, what, &err)
             : DP_E_ARG;
    if (rc < 0)
        dp_err_set(&err, rc, "%s", dp_err_text(rc));
    memcpy(message, err.message, sizeof err.message);
    return rc;
}

int dp_prof_merge(struct dp_prof *prof, const struct dp_prof *from, char *message)
{
    static const struct dp_take all;
    return dp_prof_take(prof, from, &all, message);
}
