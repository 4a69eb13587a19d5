#include "dp_stacks.h"
#include "dp_char.h"
#include "dp_err.h"
#include "dp_flat.h"
#include "dp_fmt.h"
#include "dp_library.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_sort.h"
#include "dp_text.h"

#include <string.h>

static const char program[] = DP_FMT_PROGRAM;

/* A context of a source, below a frame that exists. */
struct item {
    uint32_t name, source, node;
    uint32_t rank;              /* siblings with equal rank and site are one frame: the number of
                                 * the name or, in a chart, of the node */
    uint32_t site;              /* 0 if sites do not separate frames */
};

/* The contexts of one frame that will be made: items[from..to). */
struct group {
    uint32_t parent;
    size_t from, to;
};

struct making {
    struct dp_stacks *s;
    const struct dp_stacks_how *how;
    size_t n_sides;
    struct item *items, *kids;
    size_t n_items, items_cap, n_kids, kids_cap, names_cap;
    struct group *groups;
    size_t n_groups, groups_cap;
    struct dp_buf buf;
    bool no_phases;             /* phases are not frames */
};

/* ---- names ---- */

/* Appends a name with each hexadecimal number replaced by 0x...: numbers that begin with 0x, as
 * difffolded.pl does it. With `words`, also words of eight digits or more without 0x, if a decimal
 * digit is among them. */
static void strip_hex(struct dp_buf *to, const char *ptr, size_t len, bool words)
{
    for (size_t i = 0; i < len;) {
        size_t at = i, digits = 0;
        bool marked = i + 2 < len && ptr[i] == '0' && (ptr[i + 1] | 0x20) == 'x', figure = false;
        bool begins = !i || !dp_is_word(ptr[i - 1]);
        at += marked ? 2 : 0;
        while (at < len && dp_num_hexdigit(ptr[at]) >= 0) {
            figure = figure || dp_is_digit(ptr[at]);
            at++, digits++;
        }
        bool ends = at == len || !((ptr[at] | 0x20) >= 'g' && (ptr[at] | 0x20) <= 'z')
                    || ptr[at] == '_';
        bool is_word = digits >= 8 && figure && begins && ends && (at == len || ptr[at] != '_');
        if (digits && (marked || (words && is_word))) {
            dp_buf_adds(to, "0x...");
            i = at;
        } else {
            dp_buf_addc(to, ptr[i++]);
        }
    }
}

struct dp_name dp_stacks_stripped(const struct dp_stacks_how *how, struct dp_name name,
                                  struct dp_buf *room)
{
    if (!how->strip_hex && !how->strip_words)
        return name;
    dp_buf_clear(room);
    strip_hex(room, name.ptr, name.len, how->strip_words);
    return (struct dp_name){ room->len ? room->ptr : "", room->len };
}

/* The kind of a sub. Folded text has only its name. */
static unsigned char kind_of(const struct dp_subs *subs, uint32_t n, const struct dp_name *label)
{
    const struct dp_sub *sub = &subs->subs[n];
    const struct dp_name *file = dp_subs_text(subs, sub->file),
                         *name = dp_subs_text(subs, sub->name);
    if (sub->phase)
        return DP_KIND_PHASE;
    if (sub->span)
        return DP_KIND_SPAN;
    if (sub->builtin || (label->len > 5 && memcmp(label->ptr, "CORE:", 5) == 0))
        return DP_KIND_BUILTIN;
    if (name->len >= 5 && memcmp(name->ptr, "BEGIN", 5) == 0
        && (name->len == 5 || name->ptr[5] == '@' || name->ptr[5] == '['))
        return DP_KIND_BEGIN;
    if (dp_text_holds(label->ptr, label->len, "__ANON__"))
        return DP_KIND_ANON;
    if (sub->xs)
        return DP_KIND_XS;
    return dp_library_is_core(file->ptr, file->len) ? DP_KIND_CORE : DP_KIND_PLAIN;
}

/* The number of a text among the names, which are not sorted yet. The bytes after the first `shown'
 * ones distinguish names that look alike. DP_MAP_NONE: memory is short. */
static uint32_t name_of(struct making *m, const char *ptr, size_t len, size_t shown)
{
    struct dp_stacks *s = m->s;
    /* Make room first, so that the pool has no text without its name if something fails. */
    if (dp_mem_grow((void **)&s->names, &m->names_cap, s->n_names + 1, sizeof *s->names) < 0)
        return DP_MAP_NONE;
    uint32_t n = dp_pool_intern(&s->texts, ptr, len);
    if (n == DP_MAP_NONE || n < s->n_names)
        return n;
    s->names[n] = (struct dp_stacks_name){
        .text = { dp_pool_name(&s->texts, n)->ptr, shown }, .file = { "", 0 },
        .moved = { "", 0 }, .old_file = { "", 0 }
    };
    s->n_names = n + 1;
    return n;
}

/* Copies a name into the texts of the stacks. Returns false if memory is short. */
static bool keep_text(struct dp_stacks *s, struct dp_name *to, const struct dp_name *from)
{
    char *copy = dp_pool_alloc(&s->texts, from->len + 1);
    if (!copy)
        return false;
    memcpy(copy, from->ptr, from->len);
    copy[from->len] = '\0';
    *to = (struct dp_name){ copy, from->len };
    return true;
}

/* The number of a sub's name, which subs at other places do not share; DP_MAP_NONE: memory is
 * short. */
static uint32_t name_place(struct making *m, const struct dp_name *label,
                           const struct dp_name *file, uint64_t line)
{
    struct dp_buf key;
    dp_buf_init(&key);
    dp_buf_add(&key, label->ptr, label->len);
    dp_buf_addc(&key, '\0');
    dp_buf_add(&key, file->ptr, file->len);
    dp_buf_addf(&key, ":%llu", (unsigned long long)line);
    uint32_t name = key.err ? DP_MAP_NONE : name_of(m, key.ptr, key.len, label->len);
    dp_buf_release(&key);
    return name;
}

/* The number of a phase's name, which no sub shares; DP_MAP_NONE: memory is short. */
static uint32_t name_phase(struct making *m, const struct dp_name *label)
{
    static const char mark[] = "\0phase";
    struct dp_buf key;
    dp_buf_init(&key);
    dp_buf_add(&key, label->ptr, label->len);
    dp_buf_add(&key, mark, sizeof mark - 1);
    uint32_t name = key.err ? DP_MAP_NONE : name_of(m, key.ptr, key.len, label->len);
    dp_buf_release(&key);
    return name;
}

/* Sets src->name[n], the name of a sub's frames, or DP_STACKS_NONE if they are left out. A new name
 * gets its kind; the places of the sub, old and new, are kept with the name. pair: the source's
 * number among the paired profiles. Returns 0 or DP_E_NOMEM. */
static int name_sub(struct making *m, struct dp_stacks_source *src, size_t pair, uint32_t n)
{
    struct dp_stacks *s = m->s;
    const struct dp_subs *subs = &src->part->prof->subs;
    const struct dp_sub *sub = &subs->subs[n];
    struct dp_name label;
    if (sub->phase && m->no_phases) {
        src->name[n] = DP_STACKS_NONE;
        return 0;
    }
    dp_buf_clear(&m->buf);
    if (s->has_pairs) {
        label = *dp_pool_name(&s->pairs.texts, s->pairs.profs[pair].label[n]);
    } else {
        dp_subs_label(subs, n, m->how->pair.label_flags, &m->buf);
        if (m->buf.err)
            return DP_E_NOMEM;
        label = (struct dp_name){ m->buf.len ? m->buf.ptr : "", m->buf.len };
    }
    const struct dp_name *moved = s->has_pairs ? dp_pairs_moved_from(&s->pairs, &label) : NULL;
    struct dp_buf stripped;
    dp_buf_init(&stripped);
    label = dp_stacks_stripped(m->how, label, &stripped);
    const struct dp_name *file = dp_subs_text(subs, sub->file);
    size_t before = s->n_names;
    uint32_t name = stripped.err ? DP_MAP_NONE
                    : m->how->by_sub ? name_place(m, &label, file, sub->line)
                    : sub->phase && m->how->marked_phases ? name_phase(m, &label)
                    : name_of(m, label.ptr, label.len, label.len);
    bool ok = name != DP_MAP_NONE;
    if (ok && name >= before)
        s->names[name].kind = kind_of(subs, n, &label);
    dp_buf_release(&stripped);
    /* the newest side decides where the sub is */
    if (ok && file->len && sub->line && (!s->names[name].file.len || src->side)) {
        ok = keep_text(s, &s->names[name].file, file);
        s->names[name].line = sub->line;
    }
    if (ok && file->len && sub->line && src->side == 0) {
        ok = keep_text(s, &s->names[name].old_file, file);
        s->names[name].old_line = sub->line;
    }
    if (ok && moved && !s->names[name].moved.len)
        ok = keep_text(s, &s->names[name].moved, moved);
    if (!ok)
        return DP_E_NOMEM;
    /* which subs are shown does not decide about the phases that a page offers for choice */
    bool shown = (sub->phase && m->how->marked_phases) || !src->part->flags
                 || (src->part->flags[n] & DP_F_SHOWN);
    src->name[n] = shown ? name : DP_STACKS_NONE;
    return 0;
}

/* Compares names by text, then by place and kind. */
static int by_text(const void *ctx, uint32_t a, uint32_t b)
{
    const struct dp_stacks *s = ctx;
    const struct dp_stacks_name *x = &s->names[a], *y = &s->names[b];
    int c = dp_name_compare(&x->text, &y->text);
    if (c == 0)
        c = dp_name_compare(&x->file, &y->file);
    if (c == 0)
        c = (x->line > y->line) - (x->line < y->line);
    return c ? c : (x->kind > y->kind) - (x->kind < y->kind);
}

/* Renumbers names by order of text, so that siblings can be sorted by number. Behind them come the
 * names of parts, if parts are frames. Returns 0 or DP_E_NOMEM. */
static int sort_names(struct making *m)
{
    struct dp_stacks *s = m->s;
    uint32_t *order = dp_sort_order(s->n_names, by_text, s),
             *rank = dp_mem_realloc(NULL, s->n_names + 1, sizeof *rank);
    size_t parts = m->how->by_part ? s->n_sources : 0;
    int rc = order && rank
             ? dp_mem_grow((void **)&s->names, &m->names_cap, s->n_names + parts, sizeof *s->names)
             : DP_E_NOMEM;
    if (rc == 0)
        rc = dp_sort_arrange(s->names, order, s->n_names, sizeof *s->names);
    for (uint32_t i = 0; i < s->n_names && rc == 0; i++)
        rank[order[i]] = i;
    for (size_t k = 0; k < s->n_sources && rc == 0; k++)
        for (size_t i = 0; i < dp_subs_count(&s->sources[k].part->prof->subs); i++)
            if (s->sources[k].name[i] != DP_STACKS_NONE)
                s->sources[k].name[i] = rank[s->sources[k].name[i]];
    for (size_t k = 0; k < parts && rc == 0; k++) {
        static const struct dp_name none = { "", 0 };
        s->names[s->n_names + k] = (struct dp_stacks_name){
            .text = none, .kind = DP_KIND_PART, .file = none, .moved = none,
            .old_file = none
        };
    }
    dp_mem_free(order);
    dp_mem_free(rank);
    return rc;
}

/* Names the program and all subs of all sources, and sorts the names. Returns 0 or DP_E_NOMEM. */
static int name_all(struct making *m)
{
    size_t len = sizeof program - 1;
    uint32_t n = name_of(m, program, m->how->by_sub ? len + 1 : len, len);
    if (n == DP_MAP_NONE)
        return DP_E_NOMEM;
    m->s->names[n].kind = DP_KIND_PROGRAM;
    for (size_t k = 0; k < m->s->n_sources; k++) {
        struct dp_stacks_source *src = &m->s->sources[k];
        size_t subs = dp_subs_count(&src->part->prof->subs);
        src->name = dp_mem_realloc(NULL, subs + 1, sizeof *src->name);
        if (!src->name)
            return DP_E_NOMEM;
        for (uint32_t i = 0; i < subs; i++) {
            int rc = name_sub(m, src, k, i);
            if (rc < 0)
                return rc;
        }
    }
    return sort_names(m);
}

/* ---- places of calls ---- */

/* Appends a site for a place of a profile, FILE:LINE as a field. Returns 0 or DP_E_NOMEM. */
static int add_site(struct making *m, const struct dp_name *at)
{
    struct dp_stacks *s = m->s;
    struct dp_fmt_place place = dp_fmt_place(at->ptr, at->len);
    if (dp_mem_grow((void **)&s->sites, &s->sites_cap, s->n_sites + 1, sizeof *s->sites) < 0)
        return DP_E_NOMEM;
    struct dp_stacks_site *site = &s->sites[s->n_sites];
    dp_buf_clear(&m->buf);
    dp_fmt_unfield(&m->buf, place.file, place.len);
    struct dp_name file = { m->buf.len ? m->buf.ptr : "", m->buf.len };
    if (m->buf.err || !keep_text(s, &site->file, &file))
        return DP_E_NOMEM;
    site->line = place.line;
    s->n_sites++;
    return 0;
}

/* Makes the sites, and sets where each source has them; a place that several parts have is one
 * site. Returns 0 or DP_E_NOMEM. */
static int add_sites(struct making *m)
{
    struct dp_stacks *s = m->s;
    struct dp_pool all;
    int rc = add_site(m, &(struct dp_name){ "", 0 });
    dp_pool_init(&all);
    for (size_t k = 0; k < s->n_sources && rc == 0; k++) {
        struct dp_stacks_source *src = &s->sources[k];
        const struct dp_pool *sites = &src->part->prof->sites;
        size_t n = sites->count;
        src->site = dp_mem_zalloc((n + 2) * sizeof *src->site);
        rc = src->site ? 0 : DP_E_NOMEM;
        for (uint32_t i = 0; i < n && rc == 0; i++) {
            const struct dp_name *at = dp_pool_name(sites, i);
            uint32_t one = dp_pool_intern(&all, at->ptr, at->len);
            if (one == DP_MAP_NONE)
                rc = DP_E_NOMEM;
            else if (one + 1 == s->n_sites)
                rc = add_site(m, at);
            src->site[i + 1] = one + 1;
        }
    }
    dp_pool_release(&all);
    return rc;
}

/* ---- sources ---- */

/* Is the sub a phase of this name? */
static bool is_phase(const struct dp_prof *prof, uint32_t sub, const char *name)
{
    const struct dp_name *text = dp_subs_text(&prof->subs, prof->subs.subs[sub].name);
    return prof->subs.subs[sub].phase && text->len == strlen(name)
           && memcmp(text->ptr, name, text->len) == 0;
}

/* Does a program mark phases itself? */
static bool has_marked_phases(const struct dp_stacks *s)
{
    for (size_t k = 0; k < s->n_sources; k++) {
        const struct dp_prof *prof = s->sources[k].part->prof;
        for (uint32_t i = 0; i < dp_subs_count(&prof->subs); i++)
            if (prof->subs.subs[i].phase && !is_phase(prof, i, "BEGIN")
                && !is_phase(prof, i, "main") && !is_phase(prof, i, "END"))
                return true;
    }
    return false;
}

/* Pairs the subs of all sources. Returns 0 or a DP_E. */
static int pair_all(struct making *m)
{
    struct dp_pair_side *sides = dp_mem_realloc(NULL, m->s->n_sources + 1, sizeof *sides);
    if (!sides)
        return DP_E_NOMEM;
    for (size_t k = 0; k < m->s->n_sources; k++)
        sides[k] = (struct dp_pair_side){ m->s->sources[k].part->prof, m->s->sources[k].side };
    int rc = dp_pairs_make(&m->s->pairs, sides, m->s->n_sources, &m->how->pair);
    m->s->has_pairs = rc == 0;
    dp_mem_free(sides);
    return rc;
}

bool dp_stacks_is_ticks(const struct dp_stacks_column *c, const struct dp_prof *prof)
{
    return dp_metric_is_time(c->metric) || (dp_metric_is_counter(c->metric) && prof->paired);
}

/* Makes a source of each profile of the sides, run by run, and sets the columns' tick rates: times
 * are brought to the finest rate. Returns 0, DP_E_NOMEM, or DP_E_LIMIT if they do not fit. */
static int take_sources(struct making *m, const struct dp_diff_side *sides)
{
    struct dp_stacks *s = m->s;
    size_t n = 0, run = 0;
    uint64_t hz = 1;
    for (size_t i = 0; i < m->n_sides; i++)
        n += sides[i].ends[sides[i].n_runs - 1];
    m->s->sources = dp_mem_zalloc((n + 1) * sizeof *m->s->sources);
    if (!m->s->sources)
        return DP_E_NOMEM;
    for (size_t i = 0; i < m->n_sides; i++)
        for (size_t k = 0; k < sides[i].ends[sides[i].n_runs - 1]; k++)
            hz = dp_prof_hz(sides[i].parts[k].prof) > hz ? dp_prof_hz(sides[i].parts[k].prof) : hz;
    for (size_t i = 0; i < m->n_sides; i++) {
        uint64_t sum[DP_METRICS] = { 0 };
        for (size_t k = 0; k < sides[i].ends[sides[i].n_runs - 1]; k++)
            if (!dp_prof_fits(sides[i].parts[k].prof, hz, sum))
                return DP_E_LIMIT;
    }
    for (size_t i = 0; i < m->n_sides; i++)
        for (size_t r = 0, k = 0; r < sides[i].n_runs; r++, run++)
            for (; k < sides[i].ends[r]; k++) {
                struct dp_stacks_source *src = &m->s->sources[m->s->n_sources];
                src->part = &sides[i].parts[k];
                src->side = (uint32_t)i;
                src->index = (uint32_t)k;
                src->first = m->s->n_sources
                    ? src[-1].first + (uint32_t)src[-1].part->prof->count : 0;
                src->hz = dp_prof_hz(src->part->prof);
                src->to_hz = hz;
                src->speed = m->how->speed ? m->how->speed[run] : 1;
                m->s->n_sources++;
            }
    for (size_t c = 0; c < s->n_columns; c++)
        s->hz[c] = dp_stacks_is_ticks(&m->how->columns[c], sides[c % m->n_sides].parts[0].prof)
                       ? hz : 1;
    return 0;
}

uint64_t dp_stacks_ticks(const struct dp_stacks_source *src, uint64_t v)
{
    if (src->speed < 1 || src->speed > 1)
        return dp_num_round((double)v * (double)src->to_hz / (double)src->hz / src->speed);
    if (src->hz != src->to_hz && !dp_num_scale(v, src->to_hz, src->hz, &v))
        return DP_LIMIT_COUNT;
    return v;
}

uint64_t dp_stacks_value(const struct dp_stacks_source *src, uint32_t n,
                         const struct dp_stacks_column *c)
{
    const struct dp_prof *prof = src->part->prof;
    const struct dp_node *node = &prof->nodes[n];
    uint64_t v;
    if (dp_metric_is_counter(c->metric))
        v = dp_prof_count(prof, n, c->counters ? c->counters[src->index] : 0);
    else if (c->metric == DP_M_CALLS)   /* phases are never called */
        v = node->sub == DP_PROF_NO_SUB || prof->subs.subs[node->sub].phase ? 0 : node->calls;
    else
        v = dp_flat_value(node, c->metric);
    if (!dp_stacks_is_ticks(c, prof))
        return v;
    return dp_stacks_ticks(src, v);
}

/* ---- the tree ---- */

/* Adds a node's own values to a frame, and to the totals, in the columns of the source's side. The
 * frame keeps which of its nodes came first. */
static void add_values(struct making *m, uint32_t frame, const struct dp_stacks_source *src,
                       uint32_t node)
{
    struct dp_stacks *s = m->s;
    uint64_t *self = &s->self[(size_t)frame * s->n_columns];
    for (size_t c = src->side; c < s->n_columns; c += m->n_sides) {
        uint64_t v = dp_stacks_value(src, node, &m->how->columns[c]);
        self[c] = dp_count_add(self[c], v);
        s->total[c] = dp_count_add(s->total[c], v);
    }
    if (s->when && src->first + node < s->when[frame])
        s->when[frame] = src->first + node;
}

/* Makes room for n frames. Returns 0 or DP_E_NOMEM. */
static int make_room(struct making *m, size_t n)
{
    struct dp_stacks *s = m->s;
    return dp_mem_grow((void **)&s->frames, &s->cap, n, sizeof *s->frames) < 0
                   || dp_mem_grow((void **)&s->self, &s->self_cap, n * s->n_columns,
                                  sizeof *s->self) < 0
                   || (m->how->chart
                       && dp_mem_grow((void **)&s->start, &s->start_cap, n, sizeof *s->start) < 0)
                   || (m->how->when
                       && dp_mem_grow((void **)&s->when, &s->when_cap, n, sizeof *s->when) < 0)
                   || (m->how->by_site
                       && dp_mem_grow((void **)&s->site, &s->site_cap, n, sizeof *s->site) < 0)
               ? DP_E_NOMEM : 0;
}

/* Makes room for as many frames as the largest source has contexts, because most contexts become
 * frames. Arrays that grow alternately would free blocks that nothing can use. Returns 0 or
 * DP_E_NOMEM. */
static int reserve_frames(struct making *m)
{
    size_t most = 0;
    for (size_t k = 0; k < m->s->n_sources; k++)
        if (m->s->sources[k].part->prof->count > most)
            most = m->s->sources[k].part->prof->count;
    return make_room(m, most + 1);
}

/* Appends a frame without values and kids. Returns its number, DP_E_NOMEM or DP_E_LIMIT. */
static int64_t new_frame(struct making *m, uint32_t parent, uint32_t name)
{
    struct dp_stacks *s = m->s;
    size_t n = s->count;
    if (n >= DP_STACKS_NONE / 2)
        return DP_E_LIMIT;
    if (make_room(m, n + 1) < 0)
        return DP_E_NOMEM;
    s->frames[n] = (struct dp_stacks_frame){ name, parent, (uint32_t)n + 1 };
    memset(&s->self[n * s->n_columns], 0, s->n_columns * sizeof *s->self);
    if (s->when)
        s->when[n] = UINT32_MAX;
    if (s->start)
        s->start[n] = 0;
    if (s->site)
        s->site[n] = 0;
    s->count++;
    return (int64_t)n;
}

/* Do at least `limit` frames in a row, from this one up, have its name? */
static bool is_recursive(const struct dp_stacks *s, uint32_t frame, size_t limit)
{
    uint32_t name = s->frames[frame].name;
    size_t n = 0;
    for (; n < limit && frame && s->frames[frame].name == name; n++)
        frame = s->frames[frame].parent;
    return n == limit;
}

/* Are the context's values those outside of all subs? They are for phases that are joined with the
 * program. */
static bool is_programs(const struct making *m, const struct dp_prof *prof, uint32_t node)
{
    return !node
           || ((m->no_phases || m->how->marked_phases)
               && prof->subs.subs[prof->nodes[node].sub].phase);
}

/* Collects in m->kids the kids of a context that belong below a frame. A kid whose frame is left
 * out, or is the same frame again, gives its values to the frame, and its own kids take its place.
 * Returns 0 or DP_E_NOMEM. */
static int take_kids(struct making *m, uint32_t frame, uint32_t source, uint32_t node)
{
    const struct dp_stacks_source *src = &m->s->sources[source];
    const struct dp_prof *prof = src->part->prof;
    uint32_t top = node, at = prof->nodes[node].kid, own = m->s->frames[frame].name;
    uint32_t site = 0;          /* site of the frame's own code: callees of a frame that is left out
                                 * count as called from the site of that frame */
    int folds = -1;             /* does it absorb further frames of its name? -1: not known yet */
    while (at) {
        const struct dp_node *kid = &prof->nodes[at];
        if (src->site && kid->parent == top)
            site = src->site[kid->site];
        uint32_t name = src->name[kid->sub];
        bool again = name == own && frame && m->how->recursion;
        if (!node && m->how->phase && !is_phase(prof, kid->sub, m->how->phase)) {
            at = kid->sibling;
            continue;
        }
        if (again && folds < 0)
            folds = is_recursive(m->s, frame, m->how->recursion);
        if (name == DP_STACKS_NONE || (again && folds)) {
            m->s->folded += again;
            if (!(m->how->no_program && is_programs(m, prof, at)))
                add_values(m, frame, src, at);
            if (kid->kid) {
                at = kid->kid;
                continue;
            }
        } else {
            if (dp_mem_grow((void **)&m->kids, &m->kids_cap, m->n_kids + 1, sizeof *m->kids) < 0)
                return DP_E_NOMEM;
            DP_PREFETCH(&prof->nodes[kid->kid]);        /* needed with the kid's frame */
            m->kids[m->n_kids++] = (struct item){ name, source, at, m->how->chart ? at : name,
                                                  site };
        }
        while (at != top && !prof->nodes[at].sibling)
            at = prof->nodes[at].parent;
        at = at == top ? 0 : prof->nodes[at].sibling;
    }
    return 0;
}

/* Does an item come before another one in the tree: by name, then by site, source and node? */
static bool stands_before(const struct item *a, const struct item *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    if (a->site != b->site)
        return a->site < b->site;
    return a->source != b->source ? a->source < b->source : a->node < b->node;
}

/* Compares items, as stands_before does. */
static int by_name(const void *ctx, uint32_t a, uint32_t b)
{
    const struct item *items = ctx;
    return stands_before(&items[a], &items[b]) ? -1 : 1;
}

/* Sorts the kids. Most frames have few, which are sorted without taking memory. Returns 0 or
 * DP_E_NOMEM. */
static int sort_kids(struct making *m)
{
    struct item *k = m->kids;
    size_t n = m->n_kids;
    if (n <= 32) {
        for (size_t i = 1; i < n; i++) {
            struct item it = k[i];
            size_t j = i;
            for (; j && stands_before(&it, &k[j - 1]); j--)
                k[j] = k[j - 1];
            k[j] = it;
        }
        return 0;
    }
    return dp_sort_array(k, n, sizeof *k, by_name, k);
}

/* Pushes the collected kids as groups, with the first name on top. Returns 0 or DP_E_NOMEM. */
static int push_groups(struct making *m, uint32_t parent)
{
    size_t end = m->n_kids;
    if (sort_kids(m) < 0
        || dp_mem_grow((void **)&m->items, &m->items_cap, m->n_items + m->n_kids, sizeof *m->items)
               < 0)
        return DP_E_NOMEM;
    while (end) {
        size_t begin = end;
        while (begin && m->kids[begin - 1].rank == m->kids[end - 1].rank
               && m->kids[begin - 1].site == m->kids[end - 1].site)
            begin--;
        if (dp_mem_grow((void **)&m->groups, &m->groups_cap, m->n_groups + 1, sizeof *m->groups)
            < 0)
            return DP_E_NOMEM;
        memcpy(m->items + m->n_items, m->kids + begin, (end - begin) * sizeof *m->items);
        m->groups[m->n_groups++] = (struct group){ parent, m->n_items, m->n_items + (end - begin) };
        m->n_items += end - begin;
        end = begin;
    }
    m->n_kids = 0;
    return 0;
}

/* Makes a frame of these contexts, and collects its kids, which become frames later. Returns 0 or a
 * DP_E. */
static int make_frame(struct making *m, uint32_t parent, uint32_t name, const struct item *items,
                      size_t n)
{
    int64_t frame = new_frame(m, parent, name);
    int rc = frame < 0 ? (int)frame : 0;
    m->n_kids = 0;
    if (rc == 0 && m->s->start && n && items[0].node)
        m->s->start[frame] = m->s->sources[items[0].source].part->prof->spans[items[0].node].start;
    if (rc == 0 && m->s->site && n)
        m->s->site[frame] = items[0].site;
    for (size_t i = 0; i < n && rc == 0; i++) {
        const struct dp_stacks_source *src = &m->s->sources[items[i].source];
        if (!(m->how->no_program && is_programs(m, src->part->prof, items[i].node))
            && (items[i].node || !m->how->phase))
            add_values(m, (uint32_t)frame, src, items[i].node);
        rc = take_kids(m, (uint32_t)frame, items[i].source, items[i].node);
    }
    return rc < 0 ? rc : (int)(frame < INT32_MAX ? 0 : DP_E_LIMIT);
}

/* Makes the root of the contexts of all sources. If parts are frames, the root has no context
 * itself, but a frame for each source below it. Returns 0 or a DP_E. */
static int make_root(struct making *m)
{
    struct dp_stacks *s = m->s;
    struct item *roots = dp_mem_realloc(NULL, s->n_sources + 1, sizeof *roots);
    if (!roots)
        return DP_E_NOMEM;
    size_t n = 0;
    for (size_t k = 0; k < s->n_sources; k++)
        if (s->sources[k].part->prof->count)
            roots[n++] = (struct item){ (uint32_t)(s->n_names + k), (uint32_t)k, 0, (uint32_t)k,
                                        0 };
    uint32_t name = 0;
    while (s->names[name].kind != DP_KIND_PROGRAM)
        name++;
    int rc = make_frame(m, DP_STACKS_NONE, name, roots, m->how->by_part ? 0 : n);
    if (rc == 0 && m->how->by_part
        && dp_mem_grow((void **)&m->kids, &m->kids_cap, n + 1, sizeof *m->kids) < 0)
        rc = DP_E_NOMEM;
    if (rc == 0 && m->how->by_part) {
        memcpy(m->kids, roots, n * sizeof *roots);
        m->n_kids = n;
    }
    dp_mem_free(roots);
    return rc < 0 ? rc : push_groups(m, 0);
}

/* Makes the frames in preorder from the stack of groups, without recursion. Then sets where each
 * subtree ends. Returns 0 or a DP_E. */
static int make_tree(struct making *m)
{
    struct dp_stacks *s = m->s;
    int rc = reserve_frames(m);
    rc = rc < 0 ? rc : make_root(m);
    while (rc == 0 && m->n_groups) {
        struct group g = m->groups[--m->n_groups];
        uint32_t frame = (uint32_t)s->count;
        rc = make_frame(m, g.parent, m->items[g.from].name, m->items + g.from, g.to - g.from);
        m->n_items = g.from;
        if (rc == 0)
            rc = push_groups(m, frame);
    }
    for (size_t i = s->count; i-- > 1;) {
        struct dp_stacks_frame *up = &s->frames[s->frames[i].parent];
        up->end = s->frames[i].end > up->end ? s->frames[i].end : up->end;
    }
    return rc;
}

int dp_stacks_make(struct dp_stacks *s, const struct dp_diff_side *sides, size_t n,
                   const struct dp_stacks_how *how)
{
    struct making m = { .s = s, .how = how, .n_sides = n };
    memset(s, 0, sizeof *s);
    dp_pool_init(&s->texts);
    dp_buf_init(&m.buf);
    s->n_sides = n;
    s->n_columns = how->n_columns;
    s->hz = dp_mem_zalloc((s->n_columns + 1) * sizeof *s->hz);
    s->total = dp_mem_zalloc((s->n_columns + 1) * sizeof *s->total);
    int rc = s->hz && s->total ? take_sources(&m, sides) : DP_E_NOMEM;
    m.no_phases = how->no_phases || (rc == 0 && how->marked_phases && !has_marked_phases(s));
    if (rc == 0 && n > 1)
        rc = pair_all(&m);
    if (rc == 0)
        rc = name_all(&m);
    if (rc == 0 && how->by_site)
        rc = add_sites(&m);
    if (rc == 0)
        rc = make_tree(&m);
    dp_mem_free(m.items);
    dp_mem_free(m.kids);
    dp_mem_free(m.groups);
    dp_buf_release(&m.buf);
    if (rc < 0)
        dp_stacks_release(s);
    return rc;
}

uint32_t dp_stacks_find(const struct dp_stacks *s, const char *ptr, size_t len)
{
    struct dp_name wanted = { ptr, len };
    size_t low = 0, high = s->n_names;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int c = dp_name_compare(&s->names[mid].text, &wanted);
        if (c == 0)
            return (uint32_t)mid;
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return DP_STACKS_NONE;
}

void dp_stacks_factors(const struct dp_stacks *s, const struct dp_diff_side *sides, bool normalize,
                       double *factor)
{
    for (size_t c = 0; c < s->n_columns; c++) {
        size_t last = c - c % s->n_sides + s->n_sides - 1;
        double runs = (double)sides[c % s->n_sides].n_runs,
               last_runs = (double)sides[s->n_sides - 1].n_runs;
        /* in ticks of the measure's first column */
        factor[c] = 1 / runs * (double)s->hz[c - c % s->n_sides] / (double)s->hz[c];
        if (normalize && s->total[c] && s->total[last])
            factor[c] = (double)s->total[last] / last_runs / (double)s->total[c]
                        * (double)s->hz[c - c % s->n_sides] / (double)s->hz[last];
    }
}

void dp_stacks_release(struct dp_stacks *s)
{
    if (s->has_pairs)
        dp_pairs_release(&s->pairs);
    dp_pool_release(&s->texts);
    for (size_t k = 0; k < s->n_sources; k++) {
        dp_mem_free(s->sources[k].name);
        dp_mem_free(s->sources[k].site);
    }
    dp_mem_free(s->sources);
    dp_mem_free(s->names);
    dp_mem_free(s->frames);
    dp_mem_free(s->self);
    dp_mem_free(s->when);
    dp_mem_free(s->start);
    dp_mem_free(s->site);
    dp_mem_free(s->sites);
    dp_mem_free(s->total);
    dp_mem_free(s->hz);
    memset(s, 0, sizeof *s);
}
