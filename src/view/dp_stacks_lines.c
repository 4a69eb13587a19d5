#include "dp_stacks_lines.h"
#include "dp_err.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_prof_lines.h"
#include "dp_sort.h"
#include "dp_srclines.h"

#include <string.h>

/* The order in which lines of the program are reduced if they exceed its frames: the last rank goes
 * first. */
enum { OF_SCRIPT, OF_EVAL, OF_OTHERS, RANKS };

/* A line of a name. Site 0 is the first line of the sub. */
struct row {
    uint32_t name, site;
    unsigned char rank;
};

struct making {
    struct dp_stacks_lines *l;
    const struct dp_stacks *s;
    const struct dp_stacks_how *how;
    uint32_t program;           /* the program's name */
    struct row *rows;
    uint64_t *self;             /* by row, then column */
    size_t count, rows_cap, self_cap;
    struct dp_map of;           /* name << 32 | site -> row */
    uint64_t *own;              /* by name, then column: own values of its frames */
    uint32_t *order;            /* rows by name, file and line */
};

/* ---- rows ---- */

/* The rank of a program's line: in the script, in evaluated code, in files that the program or its
 * subs load. */
static unsigned char rank_of(const struct making *m, uint32_t name, uint32_t site,
                             const struct dp_stacks_source *src)
{
    if (name != m->program || !site)
        return OF_SCRIPT;
    const struct dp_name *file = &m->s->sites[site].file,
                         *script = &src->part->prof->origin.common[DP_ORIGIN_script];
    if (script->ptr && dp_name_compare(file, script) == 0)
        return OF_SCRIPT;
    return file->len > 6 && memcmp(file->ptr, "(eval ", 6) == 0 ? OF_EVAL : OF_OTHERS;
}

/* The row of a name and site, which is made if it is new. Returns its number or DP_E_NOMEM. */
static int64_t row_of(struct making *m, uint32_t name, uint32_t site, unsigned char rank)
{
    size_t n = m->count, columns = m->s->n_columns;
    if (dp_mem_grow((void **)&m->rows, &m->rows_cap, n + 1, sizeof *m->rows) < 0
        || dp_mem_grow_cleared((void **)&m->self, &m->self_cap, (n + 1) * columns,
                               sizeof *m->self) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&m->of, (uint64_t)name << 32 | site);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    slot->value = (uint32_t)n;
    m->rows[m->count++] = (struct row){ name, site, rank };
    return (int64_t)n;
}

/* ---- the values of statements ---- */

/* The own value of line n of a source in a column; 0 for calls, or if the source lacks the
 * counter. */
static uint64_t value_of(const struct dp_stacks_source *src, uint32_t n,
                         const struct dp_stacks_column *c)
{
    const struct dp_prof *prof = src->part->prof;
    const struct dp_prof_line *line = &prof->lines[n];
    uint64_t v = 0;
    if (dp_metric_is_counter(c->metric)) {
        const uint64_t *counts = dp_prof_line_counts(prof, n);
        v = counts ? counts[c->counters ? c->counters[src->index] : 0] : 0;
    } else if (dp_metric_is_time(c->metric)) {
        v = dp_prof_ticks(line->self, c->metric);
    }
    return dp_stacks_is_ticks(c, prof) ? dp_stacks_ticks(src, v) : v;
}

/* The name of a sub's lines; DP_STACKS_NONE: its frames are left out. */
static uint32_t name_of(const struct making *m, const struct dp_stacks_source *src, uint32_t sub)
{
    return sub == DP_PROF_NO_SUB ? m->program : src->name[sub];
}

/* Adds the statements of a source to the rows of their names and places. Statements of subs whose
 * frames are left out add nothing. Returns 0 or a DP_E. */
static int add_statements(struct making *m, const struct dp_stacks_source *src)
{
    const struct dp_prof *prof = src->part->prof;
    size_t columns = m->s->n_columns;
    for (uint32_t i = 0; i < prof->n_lines; i++) {
        uint32_t name = name_of(m, src, prof->lines[i].sub), site = src->site[prof->lines[i].site];
        if (name == DP_STACKS_NONE)
            continue;
        int64_t row = row_of(m, name, site, rank_of(m, name, site, src));
        if (row < 0)
            return (int)row;
        uint64_t *self = &m->self[(size_t)row * columns];
        for (size_t c = src->side; c < columns; c += m->s->n_sides)
            self[c] = dp_count_add(self[c], value_of(src, i, &m->how->columns[c]));
    }
    return 0;
}

/* Subtracts the value of an XS sub, builtin or span from the line that calls it. In a file that a
 * sub has loaded, that line is in no sub. */
static void subtract_call(struct making *m, const struct dp_stacks_source *src, uint32_t node)
{
    const struct dp_prof *prof = src->part->prof;
    uint32_t caller = name_of(m, src, dp_srclines_caller(prof, node)),
             site = src->site[prof->nodes[node].site];
    if (caller == DP_STACKS_NONE || src->name[prof->nodes[node].sub] == DP_STACKS_NONE)
        return;
    const struct dp_map_slot *slot = dp_map_find(&m->of, (uint64_t)caller << 32 | site);
    if (!slot)
        slot = dp_map_find(&m->of, (uint64_t)m->program << 32 | site);
    if (!slot)
        return;
    uint64_t *self = &m->self[(size_t)slot->value * m->s->n_columns];
    for (size_t c = src->side; c < m->s->n_columns; c += m->s->n_sides) {
        const struct dp_stacks_column *column = &m->how->columns[c];
        uint64_t v = column->metric == DP_M_CALLS ? 0 : dp_stacks_value(src, node, column);
        self[c] -= v < self[c] ? v : self[c];
    }
}

/* Adds the statements of all sources that have times of lines. Then subtracts the XS subs, builtins
 * and spans that they called, which have frames of their own. Returns 0 or a DP_E. */
static int take_statements(struct making *m)
{
    int rc = 0;
    for (size_t k = 0; k < m->s->n_sources && rc == 0; k++)
        if (m->s->sources[k].site && m->s->sources[k].part->prof->line_times)
            rc = add_statements(m, &m->s->sources[k]);
    for (size_t k = 0; k < m->s->n_sources && rc == 0; k++) {
        const struct dp_prof *prof = m->s->sources[k].part->prof;
        for (uint32_t i = 1; i < prof->count && prof->line_times && m->s->sources[k].site; i++) {
            if (dp_subs_has_no_lines(&prof->subs.subs[prof->nodes[i].sub]))
                subtract_call(m, &m->s->sources[k], i);
        }
    }
    return rc;
}

/* ---- the values of frames ---- */

/* Sums up the frames of each name, and finds the name of the program. A name with a value has a row
 * for its first line. Returns 0 or DP_E_NOMEM. */
static int take_frames(struct making *m)
{
    const struct dp_stacks *s = m->s;
    m->own = dp_mem_zalloc((s->n_names * s->n_columns + 1) * sizeof *m->own);
    if (!m->own)
        return DP_E_NOMEM;
    while (s->names[m->program].kind != DP_KIND_PROGRAM)
        m->program++;
    for (uint32_t i = 0; i < s->count; i++) {
        uint32_t name = s->frames[i].name;
        unsigned char kind = s->names[name].kind;
        bool any = false;
        if (kind == DP_KIND_PHASE || kind == DP_KIND_PART)
            name = m->program;
        for (size_t c = 0; c < s->n_columns; c++) {
            uint64_t v = dp_stacks_self(s, i, c), *own = &m->own[name * s->n_columns + c];
            any = any || v;
            *own = dp_count_add(*own, v);
        }
        if (any && row_of(m, name, 0, OF_SCRIPT) < 0)
            return DP_E_NOMEM;
    }
    return 0;
}

/* Adjusts the rows order[from..to) of one name to the values of its frames in a column. Rows of the
 * last rank are reduced first. What the rows lack goes to the first line of the sub, if there is a
 * row for it. */
static void settle_rows(struct making *m, size_t from, size_t to, size_t column)
{
    size_t columns = m->s->n_columns, first = to;
    uint64_t left = m->own[m->rows[m->order[from]].name * columns + column];
    for (unsigned char rank = 0; rank < RANKS; rank++) {
        uint64_t sum = 0, seen = 0, given = 0, most;
        for (size_t i = from; i < to; i++)
            if (m->rows[m->order[i]].rank == rank)
                sum = dp_count_add(sum, m->self[m->order[i] * columns + column]);
        most = sum < left ? sum : left;
        for (size_t i = from; i < to; i++) {
            uint64_t *self = &m->self[m->order[i] * columns + column];
            if (!m->rows[m->order[i]].site)
                first = m->order[i];
            if (m->rows[m->order[i]].rank != rank || !*self)
                continue;
            seen = dp_count_add(seen, *self);
            *self = dp_num_mul_div(most, seen, sum) - given;
            given += *self;
        }
        left -= most;
    }
    if (left && first < m->count)
        m->self[first * columns + column] += left;
}

/* ---- the lines ---- */

/* Returns the line of a row: the place of its statements, or else that of the sub. */
static struct dp_stacks_line line_of(const struct making *m, uint32_t row)
{
    const struct row *r = &m->rows[row];
    const struct dp_stacks_name *name = &m->s->names[r->name];
    const struct dp_stacks_site *site = r->site ? &m->s->sites[r->site] : NULL;
    return (struct dp_stacks_line){ r->name, site ? site->file : name->file,
                                    site ? site->line : name->line };
}

/* Compares lines by name, then by file and number. */
static int compare_lines(const struct dp_stacks_line *a, const struct dp_stacks_line *b)
{
    int c = (a->name > b->name) - (a->name < b->name);
    c = c ? c : dp_name_compare(&a->file, &b->file);
    return c ? c : (a->line > b->line) - (a->line < b->line);
}

/* Compares rows by their lines, then by number. */
static int compare_rows(const void *ctx, uint32_t a, uint32_t b)
{
    struct dp_stacks_line x = line_of(ctx, a), y = line_of(ctx, b);
    int c = compare_lines(&x, &y);
    return c ? c : (a > b) - (a < b);
}

/* Adds a row to the lines, unless all its values are 0. Rows come in the order of their lines, so a
 * row of the same line as the one before is added to the values of that line. */
static void put_row(struct making *m, uint32_t row)
{
    struct dp_stacks_lines *l = m->l;
    struct dp_stacks_line line = line_of(m, row);
    bool any = false;
    for (size_t c = 0; c < l->n_columns; c++)
        any = any || m->self[row * l->n_columns + c];
    if (!any)
        return;
    if (!l->count || compare_lines(&l->lines[l->count - 1], &line) != 0)
        l->lines[l->count++] = line;
    for (size_t c = 0; c < l->n_columns; c++)
        l->self[(l->count - 1) * l->n_columns + c] += m->self[row * l->n_columns + c];
}

/* Makes the lines from the rows: in order of name and place, each name's rows adjusted to the
 * values of its frames. Returns 0 or DP_E_NOMEM. */
static int put_all(struct making *m)
{
    struct dp_stacks_lines *l = m->l;
    m->order = dp_mem_realloc(NULL, m->count + 1, sizeof *m->order);
    l->lines = dp_mem_realloc(NULL, m->count + 1, sizeof *l->lines);
    l->self = dp_mem_zalloc((m->count * l->n_columns + 1) * sizeof *l->self);
    if (!m->order || !l->lines || !l->self)
        return DP_E_NOMEM;
    for (uint32_t i = 0; i < m->count; i++)
        m->order[i] = i;
    dp_sort_u32(m->order, m->count, compare_rows, m);
    for (size_t from = 0, to; from < m->count; from = to) {
        for (to = from; to < m->count; to++)
            if (m->rows[m->order[to]].name != m->rows[m->order[from]].name)
                break;
        for (size_t c = 0; c < l->n_columns; c++)
            settle_rows(m, from, to, c);
        for (size_t i = from; i < to; i++)
            put_row(m, m->order[i]);
    }
    return 0;
}

int dp_stacks_lines_make(struct dp_stacks_lines *l, const struct dp_stacks *s,
                         const struct dp_stacks_how *how, bool statements)
{
    struct making m = { .l = l, .s = s, .how = how };
    memset(l, 0, sizeof *l);
    l->n_columns = s->n_columns;
    dp_map_init(&m.of);
    int rc = take_frames(&m);
    if (rc == 0 && statements && !how->phase)
        rc = take_statements(&m);
    if (rc == 0)
        rc = put_all(&m);
    dp_map_release(&m.of);
    dp_mem_free(m.rows);
    dp_mem_free(m.self);
    dp_mem_free(m.own);
    dp_mem_free(m.order);
    if (rc < 0)
        dp_stacks_lines_release(l);
    return rc;
}

void dp_stacks_lines_release(struct dp_stacks_lines *l)
{
    dp_mem_free(l->lines);
    dp_mem_free(l->self);
    memset(l, 0, sizeof *l);
}
