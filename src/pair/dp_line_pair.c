#include "dp_line_pair.h"
#include "dp_buf.h"
#include "dp_checkout.h"
#include "dp_err.h"
#include "dp_line_align.h"
#include "dp_mem.h"
#include "dp_sort.h"
#include "dp_srclines.h"
#include "dp_text.h"

#include <inttypes.h>
#include <string.h>

enum { PASSES = 8 };            /* lines that have moved past others that have moved, and so on */

/* A line as a side has it. */
struct item {
    uint32_t file;
    uint32_t sub;               /* label of a sub that it stands in; 0: none */
    uint64_t number;
    uint64_t begin;             /* where that sub begins; 0: not known */
    uint64_t count;             /* how often it ran, in the first profile that has it */
    size_t prof;                /* that */
    uint32_t line;              /* DP_MAP_NONE */
};

/* What is known of a file of a side. */
struct version {
    uint64_t size;
    uint32_t crc;
    uint32_t name;              /* text: as the side's profiles have it */
    bool there;                 /* the side has it */
    bool known, unknown;        /* its size and CRC are; not all profiles of the side agree */
    const struct dp_source_text *text;
};

/* A file of all sides. */
struct file {
    uint32_t name;              /* text; DP_MAP_NONE: not a file of its own */
    bool guessed;               /* some lines were paired with the baseline's by their distances */
    bool told;                  /* lp->guessed has it */
};

struct making {
    struct dp_line_pairs *lp;
    const struct dp_pairs *subs;
    const struct dp_source_text *texts;
    size_t n_texts;
    struct dp_checkouts checkouts;
    uint32_t *file_of_text;     /* by source text: number of its checkouts' file */
    uint32_t **file_of_site;    /* by profile, by place */
    struct file *files;         /* by number of the checkouts' files */
    struct version *versions;   /* by side, by file */
    struct item *items;         /* of the side */
    size_t n_items, items_cap;
    struct dp_pool identities;  /* file and number: numbers are those of items */
    uint32_t *sub_of;           /* by line: label of its sub, as an item's */
    uint64_t *begin_of, *count_of;      /* likewise */
    size_t sub_of_cap, begin_of_cap, count_of_cap;
    struct dp_buf buf;
    bool no_memory;
};

static uint32_t text_of_buf(struct making *m)
{
    uint32_t n = m->buf.err ? DP_MAP_NONE
                            : dp_pool_intern(&m->lp->texts, m->buf.len ? m->buf.ptr : "",
                                             m->buf.len);
    m->no_memory = m->no_memory || n == DP_MAP_NONE;
    return n == DP_MAP_NONE ? 0 : n;
}

static void *room(struct making *m, size_t n, size_t size)
{
    void *ptr = dp_mem_zalloc((n + 1) * size);
    m->no_memory = m->no_memory || !ptr;
    return ptr;
}

/* ---- files ---- */

static uint32_t add_file(struct making *m, const char *file, size_t len, uint32_t side)
{
    return len ? dp_checkouts_add(&m->checkouts, file, len, side) : DP_MAP_NONE;
}

/* The files of all places, sides and texts. */
static void survey(struct making *m)
{
    m->file_of_site = room(m, m->lp->n_profs, sizeof *m->file_of_site);
    m->file_of_text = room(m, m->n_texts, sizeof *m->file_of_text);
    for (size_t k = 0; k < m->lp->n_profs && !m->no_memory; k++) {
        const struct dp_line_prof *of = &m->lp->profs[k];
        size_t n = of->prof->sites.count;
        uint32_t *files = m->file_of_site[k] = room(m, n, sizeof *files);
        for (uint32_t i = 1; i <= n && !m->no_memory; i++) {
            const char *file;
            size_t len;
            uint64_t line;
            dp_srclines_place(of->prof, i, &file, &len, &line);
            m->buf.len = 0;
            dp_fmt_unfield(&m->buf, file, len);
            files[i] = add_file(m, m->buf.ptr, m->buf.len, of->side);
            m->no_memory = m->no_memory || m->buf.err;
        }
    }
    for (size_t i = 0; i < m->n_texts && !m->no_memory; i++)
        m->file_of_text[i] = add_file(m, m->texts[i].file, m->texts[i].file_len,
                                      (uint32_t)m->texts[i].side);
    dp_checkouts_pair(&m->checkouts);
    m->no_memory = m->no_memory || m->checkouts.no_memory;
}

/* The file of a side's program, or DP_MAP_NONE. */
static uint32_t script_of(struct making *m, uint32_t side)
{
    for (size_t k = 0; k < m->lp->n_profs; k++) {
        const struct dp_prof *prof = m->lp->profs[k].prof;
        const char *script = m->lp->profs[k].side == side && prof->n_files
                ? dp_header_get(&prof->files[0].head, "dprof_script") : NULL;
        for (uint32_t i = 1; script && i <= prof->sites.count; i++) {
            const char *file;
            size_t len;
            uint64_t line;
            dp_srclines_place(prof, i, &file, &len, &line);
            m->buf.len = 0;
            dp_fmt_unfield(&m->buf, file, len);
            if (m->buf.len == strlen(script) && memcmp(m->buf.ptr, script, m->buf.len) == 0)
                return m->file_of_site[k][i];
        }
    }
    return DP_MAP_NONE;
}

static bool side_has(const struct making *m, uint32_t file, uint32_t side)
{
    uint64_t text = m->checkouts.files[file].text;
    return dp_map_find(&m->checkouts.has, text << 32 | side) != NULL;
}

/* The program's own file is that of the baseline, whatever its name, unless either is something
 * else on the other side. */
static void pair_scripts(struct making *m)
{
    struct dp_checkout_file *files = m->checkouts.files;
    uint32_t base = script_of(m, 0);
    for (uint32_t side = 1; side < m->lp->sides && base != DP_MAP_NONE; side++) {
        uint32_t own = script_of(m, side);
        if (own == DP_MAP_NONE || files[own].like != own || files[own].in_base
            || files[base].like != base || side_has(m, base, side))
            continue;
        files[own].like = base;
        m->files[base].name = files[own].text;
    }
}

static void name_files(struct making *m)
{
    m->files = room(m, m->checkouts.n_files, sizeof *m->files);
    for (size_t i = 0; i < m->checkouts.n_files && !m->no_memory; i++)
        m->files[i].name = DP_MAP_NONE;
    if (!m->no_memory)
        pair_scripts(m);
    for (uint32_t i = 0; i < m->checkouts.n_files && !m->no_memory; i++)
        if (m->checkouts.files[i].like == i && m->files[i].name == DP_MAP_NONE)
            m->files[i].name = dp_checkouts_text(&m->checkouts, i);
    m->no_memory = m->no_memory || m->checkouts.no_memory;
}

/* ---- versions ---- */

static void see_version(const struct dp_prof *prof, const char *file, size_t len,
                        struct version *v)
{
    uint32_t n = dp_pool_lookup(&prof->sources, file, len);
    const struct dp_prof_source *s = n == DP_MAP_NONE ? NULL : &prof->source[n];
    v->there = true;
    if (!s || s->differs || (v->known && (v->size != s->size || v->crc != s->crc))) {
        v->unknown = true;
        return;
    }
    v->known = true;
    v->size = s->size;
    v->crc = s->crc;
}

static struct version *version_of(const struct making *m, uint32_t file, uint32_t side)
{
    return &m->versions[side * m->checkouts.n_files + m->checkouts.files[file].like];
}

static void see_files(struct making *m, size_t k)
{
    const struct dp_line_prof *of = &m->lp->profs[k];
    for (uint32_t i = 1; i <= of->prof->sites.count; i++) {
        const char *file;
        size_t len;
        uint64_t line;
        if (m->file_of_site[k][i] == DP_MAP_NONE)
            continue;
        struct version *v = version_of(m, m->file_of_site[k][i], of->side);
        dp_srclines_place(of->prof, i, &file, &len, &line);
        if (!v->there) {
            m->buf.len = 0;
            dp_fmt_unfield(&m->buf, file, len);
            v->name = text_of_buf(m);
        }
        see_version(of->prof, file, len, v);
    }
}

static void see_versions(struct making *m)
{
    size_t n = m->lp->sides * m->checkouts.n_files;
    m->versions = room(m, n, sizeof *m->versions);
    for (size_t k = 0; k < m->lp->n_profs && !m->no_memory; k++)
        see_files(m, k);
    for (size_t i = 0; i < m->n_texts && !m->no_memory; i++)
        if (m->texts[i].side < m->lp->sides && m->file_of_text[i] != DP_MAP_NONE) {
            struct version *v = version_of(m, m->file_of_text[i], (uint32_t)m->texts[i].side);
            /* of several, such as string evals, no one is that of the lines */
            v->unknown = v->unknown || v->text;
            v->text = &m->texts[i];
        }
    for (size_t i = 0; i < n && !m->no_memory; i++) {
        struct version *v = &m->versions[i];
        v->known = v->known && !v->unknown;
        v->text = v->unknown ? NULL : v->text;
    }
}

static bool is_same(const struct version *a, const struct version *b)
{
    return a->known && b->known && a->size == b->size && a->crc == b->crc;
}

/* ---- the lines of a side ---- */

static struct item *item_of(struct making *m, uint32_t file, uint64_t number)
{
    const uint64_t identity[2] = { file, number };
    size_t before = m->identities.count;
    uint32_t n = dp_pool_intern(&m->identities, (const char *)identity, sizeof identity);
    if (n == DP_MAP_NONE
        || dp_mem_grow((void **)&m->items, &m->items_cap, m->n_items + 1, sizeof *m->items) < 0) {
        m->no_memory = true;
        return NULL;
    }
    if (n == before)
        m->items[m->n_items++] = (struct item){ .file = file, .number = number, .prof = SIZE_MAX,
                                                .line = DP_MAP_NONE };
    return &m->items[n];
}

/* A line of a profile, and the sub whose code it is. */
static void take_place(struct making *m, size_t k, uint32_t site, uint32_t sub, uint64_t count)
{
    const struct dp_line_prof *of = &m->lp->profs[k];
    const char *name;
    size_t len;
    uint64_t number;
    uint32_t file = site ? m->file_of_site[k][site] : DP_MAP_NONE;
    if (file == DP_MAP_NONE)
        return;
    dp_srclines_place(of->prof, site, &name, &len, &number);
    if (!number)
        return;
    struct item *item = item_of(m, m->checkouts.files[file].like, number);
    if (!item)
        return;
    of->line[site] = (uint32_t)(item - m->items);   /* until the side is done */
    item->prof = item->prof == SIZE_MAX ? k : item->prof;
    item->count += item->prof == k ? count : 0;
    if (sub == DP_PROF_NO_SUB || item->sub || of->prof->subs.subs[sub].phase)
        return;
    item->sub = m->subs->profs[k].label[sub];
    item->begin = of->prof->subs.subs[sub].line;
}

static int compare_items(const void *ctx, uint32_t x, uint32_t y)
{
    const struct item *a = &((const struct making *)ctx)->items[x],
                      *b = &((const struct making *)ctx)->items[y];
    int c = (a->file > b->file) - (a->file < b->file);
    c = c ? c : (a->sub > b->sub) - (a->sub < b->sub);
    return c ? c : (a->number > b->number) - (a->number < b->number);
}

/* The lines of a side, statements first: these tell the sub. */
static void take_places(struct making *m, uint32_t side)
{
    m->n_items = 0;
    dp_pool_release(&m->identities);
    for (int pass = 0; pass < 2; pass++)
        for (size_t k = 0; k < m->lp->n_profs; k++) {
            const struct dp_prof *prof = m->lp->profs[k].prof;
            if (m->lp->profs[k].side != side)
                continue;
            for (uint32_t i = 0; pass == 0 && i < prof->n_lines && !m->no_memory; i++)
                take_place(m, k, prof->lines[i].site, prof->lines[i].sub, prof->lines[i].count);
            for (uint32_t i = 1; pass == 1 && i < prof->count && !m->no_memory; i++)
                if (!prof->subs.subs[prof->nodes[i].sub].phase)
                    take_place(m, k, prof->nodes[i].site, dp_srclines_caller(prof, i), 0);
        }
}

/* ---- pairs ---- */

static uint64_t *number_of(struct making *m, uint32_t line, uint32_t side)
{
    return &m->lp->numbers[(size_t)line * m->lp->sides + side];
}

static void add_line(struct making *m, struct item *item, uint32_t side)
{
    struct dp_line_pairs *lp = m->lp;
    size_t n = lp->n_lines;
    if (dp_mem_grow((void **)&lp->lines, &lp->lines_cap, n + 1, sizeof *lp->lines) < 0
        || dp_mem_grow_cleared((void **)&lp->numbers, &lp->numbers_cap, (n + 1) * lp->sides,
                               sizeof *lp->numbers) < 0
        || dp_mem_grow((void **)&m->sub_of, &m->sub_of_cap, n + 1, sizeof *m->sub_of) < 0
        || dp_mem_grow((void **)&m->begin_of, &m->begin_of_cap, n + 1, sizeof *m->begin_of) < 0
        || dp_mem_grow((void **)&m->count_of, &m->count_of_cap, n + 1, sizeof *m->count_of) < 0) {
        m->no_memory = true;
        return;
    }
    lp->lines[n] = (struct dp_paired_line){ .file = item->file };
    m->sub_of[n] = item->sub;
    m->begin_of[n] = item->begin;
    m->count_of[n] = item->count;
    item->line = (uint32_t)n;
    lp->n_lines++;
    *number_of(m, (uint32_t)n, side) = item->number;
}

/* The item is the line from now on. */
static void pair(struct making *m, struct item *item, uint32_t line, uint32_t side)
{
    item->line = line;
    *number_of(m, line, side) = item->number;
    m->sub_of[line] = item->sub;
    m->begin_of[line] = item->begin;
    m->count_of[line] = item->count;
}

/* Lines of a file that an earlier side has and this one does not yet, and items that are no lines
 * yet, in order of subs and numbers. */
struct job {
    struct making *m;
    uint32_t file, side, before;
    uint32_t *lines, *items;
    size_t n_lines, n_items;
};

static int compare_known(const void *ctx, uint32_t x, uint32_t y)
{
    const struct job *j = ctx;
    uint32_t s = j->m->sub_of[x], t = j->m->sub_of[y];
    uint64_t a = *number_of(j->m, x, j->before), b = *number_of(j->m, y, j->before);
    int c = (s > t) - (s < t);
    return c ? c : (a > b) - (a < b);
}

/* By number: the source is the same, or `to` has, for each line of the side, the one that it was
 * before. */
static int pair_by_number(struct job *j, const uint32_t *to, size_t n_to)
{
    struct making *m = j->m;
    struct dp_map of;           /* number on the side before -> line */
    dp_map_init(&of);
    int rc = 0;
    for (size_t i = 0; i < j->n_lines && rc == 0; i++) {
        struct dp_map_slot *slot = dp_map_put(&of, *number_of(m, j->lines[i], j->before));
        rc = slot ? 0 : DP_E_NOMEM;
        if (slot)
            slot->value = j->lines[i];
    }
    for (size_t i = 0; i < j->n_items && rc == 0; i++) {
        struct item *item = &m->items[j->items[i]];
        uint64_t at = item->number - 1;
        uint64_t was = !to ? item->number
                     : at < n_to && to[at] != DP_ALIGN_NONE ? (uint64_t)to[at] + 1 : 0;
        struct dp_map_slot *slot = was ? dp_map_find(&of, was) : NULL;
        if (slot)
            pair(m, item, slot->value, j->side);
        else if (was) {
            /* the side before had it, and did not run it */
            add_line(m, item, j->side);
            if (item->line != DP_MAP_NONE)
                *number_of(m, item->line, j->before) = was;
        }
    }
    /* and what this side does not run */
    for (uint32_t i = 0; to && i < n_to && rc == 0; i++) {
        struct dp_map_slot *slot = to[i] == DP_ALIGN_NONE
                ? NULL : dp_map_find(&of, (uint64_t)to[i] + 1);
        if (slot)
            *number_of(m, slot->value, j->side) = i + 1;
    }
    for (size_t i = 0; !to && i < j->n_lines; i++)
        *number_of(m, j->lines[i], j->side) = *number_of(m, j->lines[i], j->before);
    dp_map_release(&of);
    return rc;
}

/* The next sub: lines from a to a_end, items from b to b_end. Where a or b stands, is its
 * beginning. Returns whether there is one. */
static bool next_sub(const struct job *j, size_t *a, size_t *a_end, size_t *b, size_t *b_end)
{
    const struct making *m = j->m;
    *a = *a_end;
    *b = *b_end;
    if (*a == j->n_lines && *b == j->n_items)
        return false;
    uint32_t x = *a < j->n_lines ? m->sub_of[j->lines[*a]] : UINT32_MAX,
             y = *b < j->n_items ? m->items[j->items[*b]].sub : UINT32_MAX;
    uint32_t sub = x < y ? x : y;
    while (*a_end < j->n_lines && m->sub_of[j->lines[*a_end]] == sub)
        ++*a_end;
    while (*b_end < j->n_items && m->items[j->items[*b_end]].sub == sub)
        ++*b_end;
    return true;
}

/* Statements of a sub that are gone here and new there, in the same words, have moved. Returns how
 * many have. */
static int64_t pair_moved(struct job *j, const struct dp_words *old, const struct dp_words *new,
                      size_t n_words)
{
    struct making *m = j->m;
    size_t a = 0, a_end = 0, b = 0, b_end = 0;
    int64_t rc = 0, moved = 0;
    uint32_t *space = dp_mem_realloc(NULL, 2 * j->n_lines + 3 * j->n_items + 1, sizeof *space);
    if (!space)
        return DP_E_NOMEM;
    uint32_t *gone = space, *gone_words = gone + j->n_lines, *fresh = gone_words + j->n_lines,
             *words = fresh + j->n_items, *to = words + j->n_items;
    while (rc == 0 && next_sub(j, &a, &a_end, &b, &b_end)) {
        size_t n = 0, k = 0;
        for (size_t i = a; i < a_end; i++) {
            uint64_t number = *number_of(m, j->lines[i], j->before);
            if (!*number_of(m, j->lines[i], j->side) && number <= old->n) {
                gone[n] = j->lines[i];
                gone_words[n++] = old->words[number - 1];
            }
        }
        for (size_t i = b; i < b_end; i++) {
            const struct item *item = &m->items[j->items[i]];
            if (item->line == DP_MAP_NONE && item->number - 1 < new->n) {
                fresh[k] = j->items[i];
                words[k++] = new->words[item->number - 1];
            }
        }
        rc = n && k ? dp_words_align(gone_words, n, words, k, n_words, to) : 0;
        for (size_t i = 0; n && k && i < k && rc == 0; i++)
            if (to[i] != DP_ALIGN_NONE) {
                pair(m, &m->items[fresh[i]], gone[to[i]], j->side);
                m->lp->lines[gone[to[i]]].fate = DP_FATE_MOVED;     /* unless it goes again */
                moved++;
            }
    }
    dp_mem_free(space);
    return rc < 0 ? rc : moved;
}

static int pair_by_text(struct job *j)
{
    const struct dp_source_text *a = version_of(j->m, j->file, j->before)->text,
                                *b = version_of(j->m, j->file, j->side)->text;
    struct dp_pool pool;
    struct dp_words old = { NULL, 0 }, new = { NULL, 0 };
    uint32_t *to = NULL;
    dp_pool_init(&pool);
    int rc = dp_words_make(&old, &pool, a->ptr, a->len);
    rc = rc < 0 ? rc : dp_words_make(&new, &pool, b->ptr, b->len);
    if (rc == 0 && !(to = dp_mem_realloc(NULL, new.n + 1, sizeof *to)))
        rc = DP_E_NOMEM;
    rc = rc < 0 ? rc : dp_words_align(old.words, old.n, new.words, new.n, pool.count, to);
    rc = rc < 0 ? rc : pair_by_number(j, to, new.n);
    /* of a sub that has moved, lines may have moved, too */
    int64_t moved = 1;
    for (int pass = 0; pass < PASSES && rc == 0 && moved > 0 && !j->m->no_memory; pass++) {
        moved = pair_moved(j, &old, &new, pool.count);
        rc = moved < 0 ? (int)moved : 0;
    }
    dp_words_release(&old);
    dp_words_release(&new);
    dp_mem_free(to);
    dp_pool_release(&pool);
    return rc;
}

/* Of a line that was in no sub's text, or before it, the number itself. */
static uint64_t from_begin(uint64_t number, uint64_t begin)
{
    return begin && begin <= number ? number - begin : number;
}

/* Did it pair every line with the one of its number? */
static bool differs(const struct job *j)
{
    bool same = j->n_items == j->n_lines;
    for (size_t i = 0; i < j->n_items && same; i++) {
        const struct item *item = &j->m->items[j->items[i]];
        same = item->line != DP_MAP_NONE
               && *number_of(j->m, item->line, j->before) == item->number;
    }
    return !same;
}

static int tell_guessed(struct making *m, struct file *file)
{
    struct dp_line_pairs *lp = m->lp;
    if (file->told)
        return 0;
    if (dp_mem_grow((void **)&lp->guessed, &lp->guessed_cap, lp->n_guessed + 1,
                    sizeof *lp->guessed) < 0)
        return DP_E_NOMEM;
    lp->guessed[lp->n_guessed++] = file->name;
    file->told = true;
    return 0;
}

/* Sub by sub, by what lines are from its beginning. */
static int pair_by_distance(struct job *j)
{
    struct making *m = j->m;
    size_t a = 0, a_end = 0, b = 0, b_end = 0;
    int rc = 0;
    struct dp_line_seen *old = dp_mem_realloc(NULL, j->n_lines + j->n_items + 1, sizeof *old),
                        *new = old ? old + j->n_lines : NULL;
    uint32_t *to = dp_mem_realloc(NULL, j->n_items + 1, sizeof *to);
    if (!old || !to)
        rc = DP_E_NOMEM;
    while (rc == 0 && next_sub(j, &a, &a_end, &b, &b_end)) {
        for (size_t i = a; i < a_end; i++)
            old[i - a] = (struct dp_line_seen){
                from_begin(*number_of(m, j->lines[i], j->before), m->begin_of[j->lines[a]]),
                m->count_of[j->lines[i]]
            };
        for (size_t i = b; i < b_end; i++)
            new[i - b] = (struct dp_line_seen){
                from_begin(m->items[j->items[i]].number, m->items[j->items[b]].begin),
                m->items[j->items[i]].count
            };
        rc = dp_lines_align(old, a_end - a, new, b_end - b, to);
        for (size_t i = b; i < b_end && rc == 0; i++)
            if (to[i - b] != DP_ALIGN_NONE)
                pair(m, &m->items[j->items[i]], j->lines[a + to[i - b]], j->side);
    }
    dp_mem_free(old);
    dp_mem_free(to);
    return rc < 0 || !differs(j) ? rc : tell_guessed(m, &m->files[j->file]);
}

/* A file that both sides have. */
static int pair_file(struct job *j)
{
    const struct version *old = version_of(j->m, j->file, j->before),
                         *new = version_of(j->m, j->file, j->side);
    if (is_same(old, new))
        return pair_by_number(j, NULL, 0);
    if (old->text && new->text)
        return pair_by_text(j);
    j->m->files[j->file].guessed = j->m->files[j->file].guessed || !j->before;
    return pair_by_distance(j);
}

/* By file, and within it as compare_known has it. */
static int compare_lines(const void *ctx, uint32_t x, uint32_t y)
{
    const struct job *j = ctx;
    uint32_t f = j->m->lp->lines[x].file, g = j->m->lp->lines[y].file;
    int c = (f > g) - (f < g);
    return c ? c : compare_known(j, x, y);
}

/* What is left of a side, with what an earlier one has and this one does not yet. items are in
 * order, and there is room for all lines. */
static void pair_sides(struct making *m, uint32_t side, uint32_t before, uint32_t *items,
                       size_t n_items, uint32_t *lines)
{
    struct job all = { .m = m, .side = side, .before = before };
    size_t n_lines = 0, a = 0;
    for (uint32_t i = 0; i < m->lp->n_lines; i++)
        if (*number_of(m, i, before) && !*number_of(m, i, side))
            lines[n_lines++] = i;
    dp_sort_u32(lines, n_lines, compare_lines, &all);
    for (size_t from = 0, end; from < n_items && !m->no_memory; from = end) {
        struct job j = all;
        j.file = m->items[items[from]].file;
        for (end = from; end < n_items && m->items[items[end]].file == j.file; end++)
            ;
        j.items = items + from;
        j.n_items = end - from;
        while (a < n_lines && m->lp->lines[lines[a]].file < j.file)
            a++;
        j.lines = lines + a;
        while (a < n_lines && m->lp->lines[lines[a]].file == j.file)
            a++, j.n_lines++;
        if (version_of(m, j.file, before)->there)
            m->no_memory = pair_file(&j) < 0 || m->no_memory;
    }
}

/* With the baseline first, which all sides are compared with; then with the latest one before. */
static void pair_side(struct making *m, uint32_t side)
{
    size_t n = m->n_items;
    uint32_t *items = room(m, n, sizeof *items);
    for (uint32_t i = 0; items && i < n; i++)
        items[i] = i;
    if (items)
        dp_sort_u32(items, n, compare_items, m);
    for (uint32_t k = 0; k < side && !m->no_memory; k++) {
        uint32_t *lines = room(m, m->lp->n_lines, sizeof *lines);
        if (lines)
            pair_sides(m, side, k ? side - k : 0, items, n, lines);
        dp_mem_free(lines);
        size_t left = 0;
        for (size_t i = 0; i < n; i++)
            if (m->items[items[i]].line == DP_MAP_NONE)
                items[left++] = items[i];
        n = left;
    }
    for (size_t i = 0; i < n && !m->no_memory; i++)
        add_line(m, &m->items[items[i]], side);
    dp_mem_free(items);
}

static void take_side(struct making *m, uint32_t side)
{
    take_places(m, side);
    pair_side(m, side);
    for (size_t k = 0; k < m->lp->n_profs && !m->no_memory; k++) {
        const struct dp_line_prof *of = &m->lp->profs[k];
        for (size_t i = 1; of->side == side && i <= of->prof->sites.count; i++)
            if (of->line[i] != DP_MAP_NONE)
                of->line[i] = m->items[of->line[i]].line;
    }
    for (uint32_t i = 0; i < m->checkouts.n_files && !m->no_memory; i++) {
        const struct version *v = version_of(m, i, side);
        struct dp_map_slot *slot = v->there && m->files[i].name != DP_MAP_NONE
            ? dp_map_put(&m->lp->side_names, (uint64_t)m->files[i].name << 32 | side) : NULL;
        m->no_memory = m->no_memory || (v->there && m->files[i].name != DP_MAP_NONE && !slot);
        if (slot)
            slot->value = v->name;
    }
}

/* Of a file that only one of the sides has, lines are not told to be inserted or deleted: it may
 * not have been loaded. */
static void tell_fates(struct making *m)
{
    uint32_t last = m->lp->sides ? m->lp->sides - 1 : 0;
    for (uint32_t i = 0; i < m->lp->n_lines; i++) {
        struct dp_paired_line *line = &m->lp->lines[i];
        bool is_known = !m->files[line->file].guessed && version_of(m, line->file, 0)->there
                        && version_of(m, line->file, last)->there;
        bool base = *number_of(m, i, 0), now = *number_of(m, i, last);
        line->fate = !is_known ? DP_FATE_UNKNOWN
                     : !base ? DP_FATE_INSERTED
                     : !now ? DP_FATE_DELETED
                     : line->fate == DP_FATE_MOVED ? DP_FATE_MOVED
                     : DP_FATE_KEPT;
    }
}

/* ---- labels ---- */

static bool is_taken(struct making *m, uint32_t label, uint32_t line)
{
    struct dp_map_slot *slot = dp_map_put(&m->lp->of_label, label);
    if (!slot)
        m->no_memory = true;
    if (!slot || slot->value != DP_MAP_NONE)
        return slot != NULL;
    slot->value = line;
    return false;
}

/* A line has its number on the last side for its name. One that is not there any more, though its
 * file is, has the number that it had, and a mark. */
static void label_line(struct making *m, uint32_t n, uint64_t number)
{
    struct dp_paired_line *line = &m->lp->lines[n];
    /* copied: the pool's array of names moves when it grows */
    const struct dp_name file = *dp_pool_name(&m->lp->texts, m->files[line->file].name);
    uint32_t last = m->lp->sides - 1;
    bool is_gone = !*number_of(m, n, last) && version_of(m, line->file, last)->there;
    for (unsigned k = is_gone; !m->no_memory; k++) {
        m->buf.len = 0;
        dp_buf_add(&m->buf, file.ptr, file.len);
        dp_buf_addf(&m->buf, k > 1 ? ":%" PRIu64 " (old %u)" : k ? ":%" PRIu64 " (old)"
                                                                 : ":%" PRIu64, number, k);
        line->label = text_of_buf(m);
        if (!is_taken(m, line->label, n))
            break;
    }
    uint64_t base = *number_of(m, n, 0);
    if (base && base != number) {
        m->buf.len = 0;
        dp_buf_add(&m->buf, file.ptr, file.len);
        dp_buf_addf(&m->buf, ":%" PRIu64, base);
        line->moved = text_of_buf(m);
    }
    const struct dp_name *sub = dp_pool_name(&m->subs->texts, m->sub_of[n]);
    m->buf.len = 0;
    dp_buf_add(&m->buf, sub->ptr, sub->len);
    line->sub = text_of_buf(m);
    line->file = m->files[line->file].name;
}

static void label_lines(struct making *m)
{
    struct dp_line_pairs *lp = m->lp;
    for (uint32_t side = lp->sides; side-- > 0;)
        for (uint32_t i = 0; i < lp->n_lines && !m->no_memory; i++) {
            bool later = false;
            for (uint32_t s = side + 1; s < lp->sides; s++)
                later = later || *number_of(m, i, s);
            if (!later && *number_of(m, i, side))
                label_line(m, i, *number_of(m, i, side));
        }
}

/* ---- all of it ---- */

static void begin(struct making *m)
{
    struct dp_line_pairs *lp = m->lp;
    lp->profs = room(m, m->subs->n_profs, sizeof *lp->profs);
    for (size_t k = 0; k < m->subs->n_profs && !m->no_memory; k++) {
        const struct dp_pair_prof *from = &m->subs->profs[k];
        struct dp_line_prof *to = &lp->profs[lp->n_profs++];
        *to = (struct dp_line_prof){ .prof = from->prof, .side = from->side };
        lp->sides = from->side >= lp->sides ? from->side + 1 : lp->sides;
        to->line = dp_mem_realloc(NULL, from->prof->sites.count + 1, sizeof *to->line);
        m->no_memory = m->no_memory || !to->line;
        for (size_t i = 0; to->line && i <= from->prof->sites.count; i++)
            to->line[i] = DP_MAP_NONE;
    }
    text_of_buf(m);             /* the empty one is 0 */
}

static void release(struct making *m)
{
    for (size_t k = 0; m->file_of_site && k < m->lp->n_profs; k++)
        dp_mem_free(m->file_of_site[k]);
    dp_mem_free(m->file_of_site);
    dp_mem_free(m->file_of_text);
    dp_checkouts_release(&m->checkouts);
    dp_mem_free(m->files);
    dp_mem_free(m->versions);
    dp_mem_free(m->items);
    dp_pool_release(&m->identities);
    dp_mem_free(m->sub_of);
    dp_mem_free(m->begin_of);
    dp_mem_free(m->count_of);
    dp_buf_release(&m->buf);
}

int dp_line_pairs_make(struct dp_line_pairs *lp, const struct dp_pairs *subs,
                       const struct dp_source_text *texts, size_t n_texts,
                       const struct dp_pair_how *how)
{
    struct making m = { .lp = lp, .subs = subs, .texts = texts, .n_texts = n_texts };
    memset(lp, 0, sizeof *lp);
    dp_pool_init(&lp->texts);
    dp_map_init(&lp->of_label);
    dp_map_init(&lp->side_names);
    dp_pool_init(&m.identities);
    dp_buf_init(&m.buf);
    dp_checkouts_init(&m.checkouts, &lp->texts, how->bases, how->n_bases);
    begin(&m);
    if (!m.no_memory)
        survey(&m);
    if (!m.no_memory)
        name_files(&m);
    if (!m.no_memory)
        see_versions(&m);
    for (uint32_t side = 0; side < lp->sides && !m.no_memory; side++)
        take_side(&m, side);
    if (!m.no_memory)
        tell_fates(&m);
    if (!m.no_memory)
        label_lines(&m);
    release(&m);
    if (m.no_memory)
        dp_line_pairs_release(lp);
    return m.no_memory ? DP_E_NOMEM : 0;
}

void dp_line_pairs_release(struct dp_line_pairs *lp)
{
    for (size_t k = 0; k < lp->n_profs; k++)
        dp_mem_free(lp->profs[k].line);
    dp_mem_free(lp->profs);
    dp_mem_free(lp->lines);
    dp_mem_free(lp->numbers);
    dp_mem_free(lp->guessed);
    dp_map_release(&lp->of_label);
    dp_map_release(&lp->side_names);
    dp_pool_release(&lp->texts);
    memset(lp, 0, sizeof *lp);
}

const struct dp_paired_line *dp_line_pairs_find(const struct dp_line_pairs *lp,
                                                const struct dp_name *label)
{
    uint32_t n = dp_pool_lookup(&lp->texts, label->ptr, label->len);
    const struct dp_map_slot *slot = n == DP_MAP_NONE ? NULL : dp_map_find(&lp->of_label, n);
    return slot ? &lp->lines[slot->value] : NULL;
}

const struct dp_name *dp_line_file(const struct dp_line_pairs *lp,
                                   const struct dp_paired_line *line, uint32_t side)
{
    const struct dp_map_slot *slot = dp_map_find(&lp->side_names,
                                                 (uint64_t)line->file << 32 | side);
    return slot ? dp_pool_name(&lp->texts, slot->value) : NULL;
}

/* ---- two texts ---- */

int dp_line_texts(const char *a, size_t a_len, const char *b, size_t b_len, uint32_t **to,
                  size_t *n)
{
    struct dp_pool pool;
    struct dp_words old = { NULL, 0 }, new = { NULL, 0 };
    dp_pool_init(&pool);
    *to = NULL;
    int rc = dp_words_make(&old, &pool, a, a_len);
    rc = rc < 0 ? rc : dp_words_make(&new, &pool, b, b_len);
    *n = new.n;
    if (rc == 0 && !(*to = dp_mem_realloc(NULL, new.n + 1, sizeof **to)))
        rc = DP_E_NOMEM;
    rc = rc < 0 ? rc : dp_words_align(old.words, old.n, new.words, new.n, pool.count, *to);
    for (size_t j = 0; j < new.n && rc == 0; j++)
        (*to)[j]++;             /* DP_ALIGN_NONE becomes 0 */
    if (rc < 0)
        dp_mem_free(*to);
    dp_words_release(&old);
    dp_words_release(&new);
    dp_pool_release(&pool);
    return rc;
}

void dp_line_texts_free(uint32_t *to) { dp_mem_free(to); }
