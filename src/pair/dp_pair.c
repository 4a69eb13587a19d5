#include "dp_pair.h"
#include "dp_align.h"
#include "dp_buf.h"
#include "dp_checkout.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_sort.h"

#include <inttypes.h>
#include <string.h>

#define MANY (UINT32_MAX - 1)

static const char anon[] = "__ANON__";

/* An anonymous sub of one side. */
struct item {
    uint32_t group, file, canon;
    struct dp_place place;
};

/* An anonymous sub after pairing: the items of all sides that are the same sub. */
struct canon {
    uint32_t first, last;       /* items; first: the baseline's, or DP_MAP_NONE */
    uint32_t label;
};

struct group {
    uint32_t name, in, file;    /* texts; file: used if there is no `in` */
};

struct making {
    struct dp_pairs *pairs;
    const struct dp_pair_how *how;
    struct dp_buf buf;
    uint32_t sides;
    struct dp_checkouts files;
    struct dp_map file_of_label;    /* label << 32 | side -> file of its anonymous subs, or MANY */
    struct dp_map has;          /* label << 32 | side, with the side's own labels */
    struct dp_pool groups, identities;  /* groups: struct group; identities: group and place, with
                                         * the numbers of a side's items */
    struct item *items;
    size_t n_items, items_cap, side_start;  /* side_start: first item of the side */
    struct canon *canons;
    size_t n_canons, canons_cap;
    uint32_t **item_of;         /* by profile, then by sub */
    uint32_t script;            /* stands for the program's own file, whatever its name */
    uint32_t nowhere;           /* target for values that cannot be noted */
    bool no_memory;
};

/* Returns the number of a text, 0 if memory is short. */
static uint32_t text_number(struct making *m, const char *ptr, size_t len)
{
    uint32_t n = dp_pool_intern(&m->pairs->texts, ptr, len);
    if (n == DP_MAP_NONE) {
        m->no_memory = true;
        return 0;
    }
    return n;
}

static const struct dp_name *name_of(const struct making *m, uint32_t n)
{
    return dp_pool_name(&m->pairs->texts, n);
}

/* Returns the number of the text in the buffer. */
static uint32_t text_of_buf(struct making *m)
{
    m->no_memory = m->no_memory || m->buf.err;
    return m->buf.err ? 0 : text_number(m, m->buf.len ? m->buf.ptr : "", m->buf.len);
}

/* Puts a key into a map. Returns whether the map had it. */
static bool note_key(struct making *m, struct dp_map *map, uint64_t key, uint32_t **value)
{
    struct dp_map_slot *slot = dp_map_put(map, key);
    if (!slot) {
        m->no_memory = true;
        *value = &m->nowhere;
        return true;
    }
    bool was = slot->value != DP_MAP_NONE;
    if (!was)
        slot->value = 0;
    *value = &slot->value;
    return was;
}

/* ---- the parts of a name ---- */

struct part {
    const char *file;
    size_t file_len;
    uint64_t line;
    uint32_t ordinal;
    bool shared;                /* its place distinguishes it */
    size_t cut;                 /* with other tools: number of bytes of its name that are its
                                 * place */
};

/* Is the name `__ANON__[FILE:LINE]`, perhaps followed by `#N`, as other tools print it? */
static bool placed_name(const struct dp_name *name, struct part *p)
{
    size_t n = sizeof anon - 1, end = name->len, colon;
    if (name->len < n + 5 || memcmp(name->ptr, anon, n) != 0 || name->ptr[n] != '[')
        return false;
    const char *hash = memchr(name->ptr + n, '#', name->len - n);
    uint64_t ordinal = 1;
    if (name->ptr[end - 1] != ']') {
        if (!hash || hash[-1] != ']'
            || !dp_num_dec(hash + 1, (size_t)(name->ptr + end - hash - 1), &ordinal)
            || ordinal > UINT32_MAX)
            return false;
        end = (size_t)(hash - name->ptr);
    }
    for (colon = end - 1; colon > n && name->ptr[colon] != ':'; colon--)
        ;
    if (colon == n || !dp_num_dec(name->ptr + colon + 1, end - colon - 2, &p->line))
        return false;
    p->file = name->ptr + n + 1;
    p->file_len = colon - n - 1;
    p->ordinal = (uint32_t)ordinal;
    p->cut = name->len - n;
    return true;
}

/* The place of sub n of a profile. `shared' is set if many subs may have the sub's name, or if the
 * name, from another tool, contains a place; that place then counts. */
static struct part part_of(const struct dp_prof *prof, uint32_t n)
{
    const struct dp_sub *sub = &prof->subs.subs[n];
    const struct dp_name *file = dp_subs_text(&prof->subs, sub->file),
                         *name = dp_subs_text(&prof->subs, sub->name);
    struct part p = {
        .file = file->ptr, .file_len = file->len, .line = sub->line, .ordinal = sub->ordinal
    };
    struct part placed = p;
    p.shared = dp_subs_is_shared(&prof->subs, n);
    if (p.shared || sub->phase || !placed_name(name, &placed)
        || (file->len
            && (file->len != placed.file_len || memcmp(file->ptr, placed.file, file->len) != 0)))
        return p;
    placed.shared = true;
    return placed;
}

/* ---- names ---- */

/* The number of a name after renaming. A name stays as it is if the side has the new name
 * itself. */
static uint32_t renamed_text(struct making *m, uint32_t t, uint32_t side)
{
    for (size_t i = 0; i < m->how->n_renames; i++) {
        const struct dp_rename *r = &m->how->renames[i];
        const struct dp_name *name = name_of(m, t);
        bool package = r->from_len > 2 && memcmp(r->from + r->from_len - 2, "::", 2) == 0;
        if (r->from_len > name->len || (!package && r->from_len != name->len)
            || memcmp(name->ptr, r->from, r->from_len) != 0)
            continue;
        m->buf.len = 0;
        dp_buf_add(&m->buf, r->to, r->to_len);
        dp_buf_add(&m->buf, name->ptr + r->from_len, name->len - r->from_len);
        uint32_t to = text_of_buf(m);
        return dp_map_find(&m->has, (uint64_t)to << 32 | side) ? t : to;
    }
    return t;
}

/* The label of a sub, without its place. */
static uint32_t plain_label(struct making *m, const struct dp_prof *prof, uint32_t sub,
                            const struct part *p)
{
    struct dp_buf label;
    dp_buf_init(&label);
    dp_subs_label(&prof->subs, sub, m->how->label_flags & ~(unsigned)DP_LABEL_SEPARATE, &label);
    m->buf.len = 0;
    if (!label.err)
        dp_checkout_plain(&m->buf, label.ptr, label.len - (p->cut < label.len ? p->cut : 0));
    m->no_memory = m->no_memory || label.err;
    dp_buf_release(&label);
    return text_of_buf(m);
}

static uint32_t plain_text(struct making *m, const struct dp_name *name)
{
    m->buf.len = 0;
    dp_checkout_plain(&m->buf, name->ptr, name->len);
    return text_of_buf(m);
}

/* Makes the first pass: collects the files and labels of each side. */
static void survey_names(struct making *m, struct dp_pair_prof *to)
{
    size_t n = dp_subs_count(&to->prof->subs);
    to->label = dp_mem_realloc(NULL, n + 1, sizeof *to->label);
    to->package = dp_mem_realloc(NULL, n + 1, sizeof *to->package);
    to->file = dp_mem_realloc(NULL, n + 1, sizeof *to->file);
    if (!to->label || !to->package || !to->file) {
        m->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < n && !m->no_memory; i++) {
        struct part p = part_of(to->prof, i);
        uint32_t *known;
        to->file[i] = p.file_len ? dp_checkouts_add(&m->files, p.file, p.file_len, to->side)
                                 : DP_MAP_NONE;
        to->label[i] = plain_label(m, to->prof, i, &p);
        to->package[i] = plain_text(m,
                                    dp_subs_text(&to->prof->subs, to->prof->subs.subs[i].package));
        note_key(m, &m->has, (uint64_t)to->label[i] << 32 | to->side, &known);
    }
}

/* Renames a sub's package if a renaming of names changes PACKAGE:: as a whole. */
static void rename_package(struct making *m, struct dp_pair_prof *to, uint32_t sub)
{
    const struct dp_name *package = name_of(m, to->package[sub]);
    if (!m->how->n_renames || !package->len)
        return;
    m->buf.len = 0;
    dp_buf_add(&m->buf, package->ptr, package->len);
    dp_buf_adds(&m->buf, "::");
    uint32_t t = renamed_text(m, text_of_buf(m), to->side);
    const struct dp_name *name = name_of(m, t);
    if (name->len > 2)
        to->package[sub] = text_number(m, name->ptr, name->len - 2);
}

/* ---- anonymous subs ---- */

/* Are the anonymous subs of a label in one file on every side that has any? Then they are paired
 * whatever that file is called on each side. */
static bool has_one_file(const struct making *m, uint32_t label)
{
    for (uint32_t side = 0; side < m->sides; side++) {
        const struct dp_map_slot *slot = dp_map_find(&m->file_of_label,
                                                     (uint64_t)label << 32 | side);
        if (slot && slot->value == MANY)
            return false;
    }
    return true;
}

/* Notes in which file the subs with a label are on a side, or MANY if there are several. */
static void note_file(struct making *m, const struct dp_pair_prof *of, uint32_t sub)
{
    uint32_t *file;
    bool was = note_key(m, &m->file_of_label, (uint64_t)of->label[sub] << 32 | of->side, &file);
    *file = !was || *file == of->file[sub] ? of->file[sub] : MANY;
}

/* Is the file of this part the program's script? */
static bool is_script(const struct dp_prof *prof, const struct part *p)
{
    const char *script = prof->n_files ? dp_header_get(&prof->files[0].head, "dprof_script") : NULL;
    return script && strlen(script) == p->file_len && memcmp(script, p->file, p->file_len) == 0;
}

/* Finds or makes the item of a sub of the current side whose name others share. Its group is that
 * of the subs that it may be paired with: of the same label, enclosing sub and, if that is needed,
 * file. Returns the item's number. Sets m->no_memory. */
static uint32_t add_item(struct making *m, const struct dp_pair_prof *of, uint32_t sub,
                         const struct part *p)
{
    const struct dp_name *in = dp_subs_text(&of->prof->subs, of->prof->subs.subs[sub].in);
    struct group group = { of->label[sub],
                           in->len ? renamed_text(m, plain_text(m, in), of->side) : 0, 0 };
    if (!in->len && !has_one_file(m, of->label[sub]))
        group.file = is_script(of->prof, p) ? m->script : of->file[sub];
    /* Make room first, so that the pool has no entry without its item if something fails. */
    bool room = dp_mem_grow((void **)&m->items, &m->items_cap, m->n_items + 1,
                            sizeof *m->items) == 0;
    uint32_t g = dp_pool_intern(&m->groups, (const char *)&group, sizeof group);
    const uint64_t place[4] = { g, of->file[sub], p->line, p->ordinal };
    size_t before = m->identities.count;
    uint32_t n = !room || g == DP_MAP_NONE ? DP_MAP_NONE
        : dp_pool_intern(&m->identities, (const char *)place, sizeof place);
    if (n == DP_MAP_NONE) {
        m->no_memory = true;
        return 0;
    }
    if (n < before)
        return (uint32_t)m->side_start + n;
    m->items[m->n_items] = (struct item){ g, of->file[sub], DP_MAP_NONE, { p->line, p->ordinal } };
    return (uint32_t)m->n_items++;
}

static int compare_numbers(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* Sorts subs by group, then by line, ordinal and file: members of a group are paired in this
 * order. */
static int compare_items(const void *ctx, uint32_t x, uint32_t y)
{
    const struct making *m = ctx;
    const struct item *a = &m->items[x], *b = &m->items[y];
    int c = compare_numbers(a->group, b->group);
    c = c ? c : compare_numbers(a->place.line, b->place.line);
    c = c ? c : compare_numbers(a->place.ordinal, b->place.ordinal);
    c = c ? c : compare_numbers(a->file, b->file);
    return c ? c : compare_numbers(x, y);
}

/* Pairs the side's items with the known ones; both lists are sorted, by group first. */
static void take_side(struct making *m, uint32_t side, const uint32_t *known, size_t n_known,
                      const uint32_t *items, size_t n, struct dp_place *places, uint32_t *to)
{
    size_t a = 0;
    for (size_t from = 0, end; from < n && !m->no_memory; from = end) {
        uint32_t group = m->items[items[from]].group;
        for (end = from; end < n && m->items[items[end]].group == group; end++)
            ;
        while (a < n_known && m->items[known[a]].group < group)
            a++;
        size_t old = a;
        while (a < n_known && m->items[known[a]].group == group)
            a++;
        for (size_t i = 0; i < a - old; i++)
            places[i] = m->items[known[old + i]].place;
        for (size_t i = 0; i < end - from; i++)
            places[a - old + i] = m->items[items[from + i]].place;
        dp_align(places, a - old, places + (a - old), end - from, to);
        for (size_t j = 0; j < end - from; j++) {
            struct item *item = &m->items[items[from + j]];
            item->canon = to[j] == DP_ALIGN_NONE
                    ? (uint32_t)m->n_canons : m->items[known[old + to[j]]].canon;
            if (item->canon == m->n_canons) {
                if (dp_mem_grow((void **)&m->canons, &m->canons_cap, m->n_canons + 1,
                                sizeof *m->canons)
                    < 0) {
                    m->no_memory = true;
                    return;
                }
                m->canons[m->n_canons++] = (struct canon){ .first = side
                        ? DP_MAP_NONE : items[from + j] };
            }
            m->canons[item->canon].last = items[from + j];
        }
    }
}

/* Sorts the side's items, and the newest items of the subs that are known from the sides before,
 * and pairs them. Sets m->no_memory. */
static void pair_items(struct making *m, uint32_t side)
{
    size_t n = m->n_items - m->side_start, before = m->n_canons;
    uint32_t *items = dp_mem_realloc(NULL, 2 * n + before + 1, sizeof *items);
    struct dp_place *places = dp_mem_realloc(NULL, n + before + 1, sizeof *places);
    if (!items || !places) {
        dp_mem_free(items);
        dp_mem_free(places);
        m->no_memory = true;
        return;
    }
    uint32_t *to = items + n, *known = to + n;
    for (size_t i = 0; i < n; i++)
        items[i] = (uint32_t)(m->side_start + i);
    for (size_t i = 0; i < before; i++)
        known[i] = m->canons[i].last;
    dp_sort_u32(items, n, compare_items, m);
    dp_sort_u32(known, before, compare_items, m);
    take_side(m, side, known, before, items, n, places, to);
    dp_mem_free(items);
    dp_mem_free(places);
}

/* Notes the files of anonymous subs without an enclosing named sub. */
static void note_files(struct making *m)
{
    for (size_t k = 0; k < m->pairs->n_profs && !m->no_memory; k++) {
        const struct dp_pair_prof *of = &m->pairs->profs[k];
        for (uint32_t i = 0; i < dp_subs_count(&of->prof->subs); i++) {
            struct part p = part_of(of->prof, i);
            if (p.shared && !dp_subs_text(&of->prof->subs, of->prof->subs.subs[i].in)->len)
                note_file(m, of, i);
        }
    }
}

/* Makes the items of a side's anonymous subs, from all of its profiles, and pairs them with those
 * of the sides before. Sets m->no_memory. */
static void take_items(struct making *m, uint32_t side)
{
    m->side_start = m->n_items;
    dp_pool_release(&m->identities);
    for (size_t k = 0; k < m->pairs->n_profs && !m->no_memory; k++) {
        struct dp_pair_prof *of = &m->pairs->profs[k];
        size_t n = dp_subs_count(&of->prof->subs);
        if (of->side != side)
            continue;
        m->item_of[k] = dp_mem_realloc(NULL, n + 1, sizeof **m->item_of);
        m->no_memory = m->no_memory || !m->item_of[k];
        for (uint32_t i = 0; i < n && !m->no_memory; i++) {
            struct part p = part_of(of->prof, i);
            m->item_of[k][i] = p.shared ? add_item(m, of, i, &p) : DP_MAP_NONE;
        }
    }
    if (!m->no_memory)
        pair_items(m, side);
}

/* ---- labels ---- */

/* Returns the number of the text "file:line" for a sub, or of an empty text. */
static uint32_t place_text(struct making *m, const struct item *item)
{
    const struct dp_name *file = name_of(m, item->file);
    m->buf.len = 0;
    if (file->len) {
        dp_buf_add(&m->buf, file->ptr, file->len);
        dp_buf_addf(&m->buf, ":%" PRIu64, item->place.line);
    }
    return text_of_buf(m);
}

static bool is_gone(const struct canon *c) { return c->first == c->last; }

/* Makes a label unique if another sub has it: first with the enclosing sub, because all string
 * evals have the same place; then with a number. */
static uint32_t *name_apart(struct making *m, struct dp_map *taken, struct canon *c,
                            const struct group *group)
{
    uint32_t *value;
    const struct dp_name *in = name_of(m, group->in);
    if (in->len) {
        dp_buf_adds(&m->buf, " in ");
        dp_buf_add(&m->buf, in->ptr, in->len);
    }
    size_t len = m->buf.len;
    for (unsigned n = 2; note_key(m, taken, c->label = text_of_buf(m), &value)
         && !m->no_memory; n++) {
        m->buf.len = len;
        dp_buf_addf(&m->buf, " (%u)", n);
    }
    return value;
}

/* Names a sub by its newest place. A sub that is gone may have been where another one is now. If
 * that other sub is new, both are the same sub: one side may not know the enclosing subs. Otherwise
 * the sub that is gone gets another label. */
static void label_canons(struct making *m)
{
    struct dp_map taken;
    dp_map_init(&taken);
    for (size_t i = m->n_canons; i-- > 0 && !m->no_memory;) {
        struct canon *c = &m->canons[i];
        const struct item *item = &m->items[c->last];
        struct group group;
        memcpy(&group, dp_pool_name(&m->groups, item->group)->ptr, sizeof group);
        uint32_t *value, place = place_text(m, item);
        const struct dp_name *name = name_of(m, group.name), *file = name_of(m, item->file);
        m->buf.len = 0;
        dp_buf_add(&m->buf, name->ptr, name->len);
        if (file->len)
            dp_subs_add_place(&m->buf, name, file, item->place.line, item->place.ordinal,
                              !has_one_file(m, group.name));
        else if (item->place.ordinal > 1)
            dp_buf_addf(&m->buf, "#%" PRIu32, item->place.ordinal);
        if (note_key(m, &taken, c->label = text_of_buf(m), &value) && !m->no_memory
            && !(is_gone(c) && m->canons[*value].first == DP_MAP_NONE))
            value = name_apart(m, &taken, c, &group);
        *value = (uint32_t)i;
        if (c->first == DP_MAP_NONE || m->no_memory)
            continue;
        uint32_t before = place_text(m, &m->items[c->first]);
        if (before != place && !note_key(m, &m->pairs->moved, c->label, &value))
            *value = before;
    }
    dp_map_release(&taken);
}

/* Pairs the files of all profiles first; then gives each sub the name of its paired file, and its
 * label and package as renamed. Sets m->no_memory. */
static void pair_all(struct making *m)
{
    struct dp_pairs *pairs = m->pairs;
    for (size_t k = 0; k < pairs->n_profs && !m->no_memory; k++)
        survey_names(m, &pairs->profs[k]);
    dp_checkouts_pair(&m->files);
    m->no_memory = m->no_memory || m->files.no_memory;
    for (size_t k = 0; k < pairs->n_profs && !m->no_memory; k++) {
        struct dp_pair_prof *p = &pairs->profs[k];
        for (uint32_t i = 0; i < dp_subs_count(&p->prof->subs) && !m->no_memory; i++) {
            p->file[i] = p->file[i] == DP_MAP_NONE ? 0 : dp_checkouts_text(&m->files, p->file[i]);
            p->label[i] = renamed_text(m, p->label[i], p->side);
            rename_package(m, p, i);
        }
    }
}

/* Pairs the subs that share their names with others, side by side, and gives each the label of its
 * pair. Sets m->no_memory. */
static void pair_anonymous(struct making *m)
{
    struct dp_pairs *pairs = m->pairs;
    m->item_of = dp_mem_zalloc((pairs->n_profs + 1) * sizeof *m->item_of);
    m->no_memory = m->no_memory || !m->item_of;
    note_files(m);
    for (uint32_t side = 0; side < m->sides && !m->no_memory; side++)
        take_items(m, side);
    if (!m->no_memory)
        label_canons(m);
    for (size_t k = 0; k < pairs->n_profs && !m->no_memory; k++)
        for (size_t i = 0; i < dp_subs_count(&pairs->profs[k].prof->subs); i++)
            if (m->item_of[k][i] != DP_MAP_NONE)
                pairs->profs[k].label[i] = m->canons[m->items[m->item_of[k][i]].canon].label;
}

/* Frees everything that was needed only to find the pairs. Takes over m->files.no_memory, for the
 * result of the whole. */
static void release_making(struct making *m)
{
    for (size_t k = 0; m->item_of && k < m->pairs->n_profs; k++)
        dp_mem_free(m->item_of[k]);
    dp_mem_free(m->item_of);
    m->no_memory = m->no_memory || m->files.no_memory;
    dp_checkouts_release(&m->files);
    dp_mem_free(m->items);
    dp_mem_free(m->canons);
    dp_map_release(&m->file_of_label);
    dp_map_release(&m->has);
    dp_pool_release(&m->groups);
    dp_pool_release(&m->identities);
    dp_buf_release(&m->buf);
}

int dp_pairs_make(struct dp_pairs *pairs, const struct dp_pair_side *sides, size_t n,
                  const struct dp_pair_how *how)
{
    struct making m = { .pairs = pairs, .how = how };
    memset(pairs, 0, sizeof *pairs);
    dp_pool_init(&pairs->texts);
    dp_map_init(&pairs->moved);
    dp_checkouts_init(&m.files, &pairs->texts, how->bases, how->n_bases);
    dp_map_init(&m.file_of_label);
    dp_map_init(&m.has);
    dp_pool_init(&m.groups);
    dp_pool_init(&m.identities);
    dp_buf_init(&m.buf);
    text_number(&m, "", 0);
    m.script = text_number(&m, "\0script", 7);      /* no file has this name */
    pairs->profs = dp_mem_zalloc((n + 1) * sizeof *pairs->profs);
    m.no_memory = m.no_memory || !pairs->profs;
    for (size_t i = 0; i < n && !m.no_memory; i++) {
        pairs->profs[i].prof = sides[i].prof;
        pairs->profs[i].side = sides[i].side;
        pairs->n_profs++;
        if (sides[i].side >= m.sides)
            m.sides = sides[i].side + 1;
    }
    if (!m.no_memory)
        pair_all(&m);
    if (!m.no_memory && how->label_flags & DP_LABEL_SEPARATE)
        pair_anonymous(&m);
    release_making(&m);
    if (m.no_memory)
        dp_pairs_release(pairs);
    return m.no_memory ? DP_E_NOMEM : 0;
}

void dp_pairs_release(struct dp_pairs *pairs)
{
    for (size_t k = 0; k < pairs->n_profs; k++) {
        dp_mem_free(pairs->profs[k].label);
        dp_mem_free(pairs->profs[k].package);
        dp_mem_free(pairs->profs[k].file);
    }
    dp_mem_free(pairs->profs);
    dp_map_release(&pairs->moved);
    dp_pool_release(&pairs->texts);
    memset(pairs, 0, sizeof *pairs);
}

const struct dp_name *dp_pairs_moved_from(const struct dp_pairs *pairs, const struct dp_name *label)
{
    uint32_t n = dp_pool_lookup(&pairs->texts, label->ptr, label->len);
    const struct dp_map_slot *slot = n == DP_MAP_NONE ? NULL : dp_map_find(&pairs->moved, n);
    return slot ? dp_pool_name(&pairs->texts, slot->value) : NULL;
}

int dp_pair_labels(const struct dp_pair_side *sides, size_t n, const struct dp_pair_how *how,
                   dp_pair_label_fn *fn, void *ctx)
{
    struct dp_pairs pairs;
    int rc = dp_pairs_make(&pairs, sides, n, how);
    if (rc < 0)
        return rc;
    for (size_t k = 0; k < n && rc == 0; k++)
        for (size_t i = 0; i < dp_subs_count(&sides[k].prof->subs) && rc == 0; i++) {
            const struct dp_name *label = dp_pool_name(&pairs.texts, pairs.profs[k].label[i]);
            rc = fn(ctx, k, label->ptr, label->len) < 0 ? DP_E_HOST : 0;
        }
    dp_pairs_release(&pairs);
    return rc;
}
