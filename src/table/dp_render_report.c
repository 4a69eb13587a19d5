/* dprofreport's table: columns from the view, call chains and histograms below the rows. */
#include "dp_chain_text.h"
#include "dp_edges.h"
#include "dp_err.h"
#include "dp_hot.h"
#include "dp_mem.h"
#include "dp_notes.h"
#include "dp_overhead.h"
#include "dp_sort.h"
#include "dp_table.h"
#include "dp_render.h"
#include "dp_text.h"
#include "dprof/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct level;

struct report {
    const struct dp_report *how;
    const struct dp_part *sides;
    struct dp_overhead over;
    struct dp_chains chains;
    struct dp_table table;
    struct dp_column columns[DP_REPORT_FIELDS];
    uint64_t hz;                /* of the metric; 0: counts */
    bool is_time;
    const char *unit;           /* shown after the totals; NULL: no unit */
    struct dp_buf *blocks;      /* the parts below the rows: text and JSON of each */
    size_t n_blocks;
    struct dp_hot *hot;         /* by entry of `over`; NULL: not asked for, or there are no lines */
    struct level *levels;       /* levels of a hierarchy, until it is printed */
    size_t n_levels;
    struct dp_pool texts;       /* texts of cells for people and programs */
    size_t left_out;            /* number of rows after the last shown one, and their Self */
    uint64_t left_out_self;
    struct dp_notes notes;
    char keys_title[160];
    long rows;
};

static double percent_of(const struct report *r, uint64_t value)
{
    return r->over.base ? 100.0 * (double)value / (double)r->over.base : 0.0;
}

enum { HOT = 5 };               /* percent */
static const double warm = 0.5;

static int tint_of(double pct)
{
    return pct >= HOT ? 2 : pct > warm ? 1 : 0;
}

/* The tint of a row: that of its greatest share, which is Children if that is shown. */
static int row_tint(const struct report *r, const struct dp_over_row *row)
{
    return tint_of(percent_of(r, r->how->over.no_children ? row->self : row->children));
}

/* Returns the cell of a row's share of the total. */
static struct dp_cell share_cell(const struct report *r, const struct dp_over_row *row,
                                 uint64_t value)
{
    struct dp_cell cell = dp_cell_percent(percent_of(r, value));
    cell.cool = row_tint(r, row) - tint_of(cell.real);
    return cell;
}

static struct dp_cell amount_cell(const struct report *r, uint64_t value)
{
    return r->hz ? dp_cell_ticks(value) : dp_cell_count(value);
}

/* ---- columns ---- */

/* Is an average in real time? The shortest and the longest call are known only in real time, so an
 * average next to them is in real time, too. */
static bool is_average_real(const struct report *r)
{
    bool beside = false;
    for (size_t i = 0; i < r->how->n_fields; i++)
        beside = beside || r->how->fields[i] == DP_FIELD_MIN || r->how->fields[i] == DP_FIELD_MAX;
    return beside && dp_metric_is_time(r->how->over.metric);
}

/* Makes the columns that the options ask for. Titles depend on what the values of this table
 * are. */
static void make_columns(struct report *r)
{
    static const struct dp_column fixed[] = {
#define FIELD(id, word, other, title, key, width) [id] = { title, key, width, id == DP_FIELD_HOT },
        DP_FIELD_LIST(FIELD)
#undef FIELD
    };
    static const struct dp_column keys[] = {
#define KEY(id, word, title, key, width) [id] = { title, key, width, true },
        DP_KEY_LIST(KEY)
#undef KEY
    };
    for (size_t i = 0; i < r->how->n_fields; i++) {
        int f = r->how->fields[i];
        r->columns[i] = f >= DP_FIELD_KEY ? keys[r->how->over.keys[f - DP_FIELD_KEY]] : fixed[f];
        if (f == DP_FIELD_HOT && r->how->hierarchy)
            r->columns[i].left = false;     /* only the keys are to be indented */
        if (f == DP_FIELD_CALLS && r->over.by_line)
            r->columns[i].title = "Count";      /* how often statements ran */
        if (f == DP_FIELD_SELF && r->how->over.no_children)
            r->columns[i].title = "Overhead";
        if (f == DP_FIELD_SELF_TIME && !r->is_time)
            r->columns[i].title = "Self value";
        if (f == DP_FIELD_CHILDREN_TIME && !r->is_time)
            r->columns[i].title = "Incl. value";
        if (f == DP_FIELD_CHILDREN && r->how->answer)
            r->columns[i].title = "Incl.";
        if (f == DP_FIELD_AVERAGE && is_average_real(r))
            r->columns[i].title = "Avg real s";
    }
}

/* Joins the keys of a hierarchy into the last column. Returns the number of columns that remain. */
static size_t join_key_columns(struct report *r)
{
    size_t n = r->how->n_fields - r->how->over.n_keys;
    struct dp_column all = { r->keys_title, "entry", 6, true };
    for (size_t k = 0; k < r->how->over.n_keys; k++)
        snprintf(r->keys_title + strlen(r->keys_title),
                 sizeof r->keys_title - strlen(r->keys_title), "%s%s", k ? " / " : "",
                 r->columns[n + k].title);
    r->columns[n] = all;
    return n + 1;
}

/* The cell of a row's inclusive value (real time beside Min and Max) per call, rounded. It is empty
 * without calls. */
static struct dp_cell average_cell(const struct report *r, const struct dp_over_row *row)
{
    if (!row->calls)
        return (struct dp_cell){ 0 };
    if (r->hz)
        return dp_cell_ticks(((is_average_real(r) ? row->real : row->children) + row->calls / 2)
                             / row->calls);
    return (struct dp_cell){ .kind = DP_CELL_REAL,
                             .decimals = 1,
                             .real = (double)row->children / (double)row->calls };
}

static struct dp_cell value_text(const struct report *r, uint32_t number)
{
    const struct dp_name *text = dp_pool_name(&r->over.values, number);
    return dp_cell_text(text->ptr, text->len);
}

/* The hottest line of the row's subs, or its share. */
static struct dp_cell hot_cell(const struct report *r, const struct dp_over_row *row, bool is_share)
{
    const struct dp_hot *line = r->hot ? &r->hot[row->entry] : NULL;
    if (!line || line->site == DP_REPORT_NONE)
        return (struct dp_cell){ 0 };
    if (!is_share)
        return value_text(r, line->site);
    struct dp_cell cell = dp_cell_percent(100.0 * (double)line->self / (double)line->whole);
    cell.cool = row_tint(r, row);
    return cell;
}

/* The cell of an amount with a text for people and a number for programs. */
static struct dp_cell worded_cell(struct report *r, uint64_t value)
{
    char num[DP_NUMBER_MAX];
    struct dp_cell cell = amount_cell(r, value);
    size_t whole = dp_render_number(num, &cell, r->hz, false);
    struct dp_buf text;
    dp_buf_init(&text);
    if (r->hz)
        dp_render_human(&text, (double)value, r->hz, r->is_time);
    else
        dp_render_grouped(&text, value);
    size_t len = text.len;
    dp_buf_add(&text, num, whole);
    uint32_t n = text.err ? DP_MAP_NONE : dp_pool_intern(&r->texts, text.ptr, text.len);
    dp_buf_release(&text);
    if (n == DP_MAP_NONE) {
        r->table.no_memory = true;
        return (struct dp_cell){ 0 };
    }
    return (struct dp_cell){ .kind = DP_CELL_WORDED, .ptr = dp_pool_name(&r->texts, n)->ptr,
                             .len = len, .whole = whole };
}

/* The cell of a column: field is an enum dp_field, or DP_FIELD_KEY plus the number of a sort
 * key. */
static struct dp_cell cell_of(struct report *r, const struct dp_over_row *row, int field)
{
    static const struct dp_cell empty;
    if (field >= DP_FIELD_KEY) {
        const struct dp_name *text = dp_overhead_text(&r->over, row->entry,
                                                      (size_t)(field - DP_FIELD_KEY));
        return dp_cell_text(text->ptr, text->len);
    }
    switch ((enum dp_field)field) {
    case DP_FIELD_CHILDREN: return share_cell(r, row, row->children);
    case DP_FIELD_SELF: return share_cell(r, row, row->self);
    case DP_FIELD_CALLS:
        return dp_prof_no_calls(r->sides[0].prof) ? empty : dp_cell_count(row->calls);
    case DP_FIELD_CHILDREN_VALUE: return amount_cell(r, row->children);
    case DP_FIELD_SELF_VALUE: return amount_cell(r, row->self);
    case DP_FIELD_SELF_TIME: return worded_cell(r, row->self);
    case DP_FIELD_CHILDREN_TIME: return worded_cell(r, row->children);
    case DP_FIELD_AVERAGE: return average_cell(r, row);
    case DP_FIELD_MIN: return row->shortest ? dp_cell_ticks(row->shortest - 1) : empty;
    case DP_FIELD_MAX: return row->shortest ? dp_cell_ticks(row->longest) : empty;
    case DP_FIELD_HOT_SHARE: return hot_cell(r, row, true);
    case DP_FIELD_HOT: return hot_cell(r, row, false);
    }
    return empty;
}

/* ---- below a row ---- */

/* Appends a histogram of the calls of the row's subs by their duration. */
static void add_histogram(const struct report *r, uint32_t entry, struct dp_buf *buf)
{
    uint64_t count[DP_FMT_BUCKETS] = { 0 }, most = 0;
    const struct dp_chains *c = &r->chains;
    uint32_t first = DP_FMT_BUCKETS, last = 0;
    struct dp_map seen;
    dp_map_init(&seen);
    for (uint32_t k = c->first[entry]; k < c->first[entry + 1]; k++) {
        const struct dp_report_node *n = &r->over.nodes[c->by_entry[k]];
        const struct dp_prof *prof = r->sides[n->side].prof;
        uint32_t sub = prof->nodes[n->node].sub;
        struct dp_map_slot *slot = dp_map_put(&seen, (uint64_t)n->side << 32 | sub);
        if (!slot)
            buf->err = DP_E_NOMEM;
        if (!slot || slot->value != DP_MAP_NONE || sub == DP_PROF_NO_SUB)
            continue;
        slot->value = 0;
        const uint64_t *h = dp_prof_histogram(prof, sub);
        for (int b = 0; h && b < DP_FMT_BUCKETS; b++)
            count[b] += h[b];
    }
    dp_map_release(&seen);
    for (uint32_t b = 0; b < DP_FMT_BUCKETS; b++) {
        if (!count[b])
            continue;
        most = count[b] > most ? count[b] : most;
        first = b < first ? b : first;
        last = b;
    }
    for (uint32_t b = first; b <= last && most; b++) {
        double ns = (double)(UINT64_C(1) << b);
        const struct dp_time_unit *unit = dp_render_time_unit(ns, 1e9, 1);
        int bar = (int)(40.0 * (double)count[b] / (double)most + 0.999);
        char from[48];
        snprintf(from, sizeof from, "%6.4g", b ? ns * unit->per_second / 1e9 : 0.0);
        dp_text_point(from);
        dp_buf_addf(buf, "            from %s %-2s %-40.*s %" PRIu64 "\n", from, unit->name,
                    bar, "########################################", count[b]);
    }
}

static bool is_text(const struct dp_report *how)
{
    return (how->format == DP_TEXT && !how->separator) || how->format == DP_HTML;
}

/* The value that chains divide up. */
static int chains_of(const struct dp_report *how)
{
    return how->chain_value == DP_CHAIN_COUNT ? DP_CHAIN_CALLS
           : how->over.no_children ? DP_CHAIN_SELF
           : DP_CHAIN_CHILDREN;
}

/* Adds the block below the newest row: its call chains and its histogram. r->blocks owns its
 * text. */
static int add_below(struct report *r, const struct dp_over_row *row)
{
    const struct dp_report *how = r->how;
    struct dp_buf *text = &r->blocks[2 * r->n_blocks], *json = text + 1;
    dp_buf_init(text);
    dp_buf_init(json);
    r->n_blocks++;
    if (how->chain) {
        struct dp_chain chain;
        struct dp_chain_how c = {
            .caller_order = how->caller_order,
            .of = chains_of(how),
            .fractal = how->chain == DP_CHAIN_FRACTAL,
            /* a branch left out would look like a chain that ends where the branch begins */
            .threshold = how->chain_value == DP_CHAIN_COUNT || how->chain > DP_CHAIN_FRACTAL
                             ? 0 : how->threshold,
        };
        int rc = dp_chain_make(&chain, &r->chains, row->entry, &c);
        if (rc < 0)
            return rc;
        uint64_t hz = how->chain_value == DP_CHAIN_COUNT ? 0 : r->hz;
        if (is_text(how))
            dp_chain_text(text, &chain, &r->over, how, r->over.base, hz);
        else if (how->format == DP_JSON)
            dp_chain_json(json, &chain, &r->over, hz);
        dp_chain_release(&chain);
    }
    if (how->histogram && is_text(how))
        add_histogram(r, row->entry, text);
    struct dp_row_of_table *to = dp_table_last(&r->table);
    to->block = (struct dp_block){ text->ptr, text->len, json->len ? json->ptr : NULL, json->len };
    return text->err ? text->err : json->err;
}

/* ---- rows ---- */

/* Is the row shown, and is its share large enough? */
static bool is_wanted(const struct report *r, const struct dp_over_row *row)
{
    const struct dp_report *how = r->how;
    if (!row->shown || (how->over.no_children && !row->self))
        return false;
    return percent_of(r, how->over.no_children ? row->self : row->children) >= how->percent_limit;
}

/* Adds a row of a table without hierarchy, with its block. */
static int add_row(struct report *r, const struct dp_over_row *row)
{
    struct dp_cell *cells = dp_table_row(&r->table);
    if (!cells)
        return DP_E_NOMEM;
    for (size_t i = 0; i < r->how->n_fields; i++)
        cells[i] = cell_of(r, row, r->how->fields[i]);
    dp_table_last(&r->table)->tint = row_tint(r, row);
    const struct dp_name *name = dp_overhead_text(&r->over, row->entry, 0);
    dp_notes_look(&r->notes, name->ptr, name->len);
    r->rows++;
    return r->how->chain || r->how->histogram ? add_below(r, row) : 0;
}

/* Adds the rows of a table without hierarchy, up to how->rows. Counts the other rows for
 * add_answer_tail. */
static int add_flat_rows(struct report *r)
{
    int rc = 0;
    for (size_t i = 0; i < r->over.n_rows && rc == 0; i++) {
        const struct dp_over_row *row = &r->over.rows[i];
        if (!is_wanted(r, row))
            continue;
        if (!r->how->rows || (size_t)r->rows < r->how->rows) {
            rc = add_row(r, row);
        } else {
            r->left_out++;
            r->left_out_self += row->self;
        }
    }
    return rc;
}

/* ---- keys below one another ---- */

/* A level of the hierarchy: entries by their first keys only, which are shown above the rows. */
struct level {
    struct dp_overhead over;
    struct dp_pool paths;       /* texts of the keys, joined */
    uint32_t *row_of;           /* by number of a path */
};

#define NO_ROW UINT32_MAX

struct hierarchy {
    struct report *r;
    struct level *levels;       /* the report's levels, which own the texts in its cells */
    size_t n;                   /* number of keys */
    uint32_t *ranks;            /* by row, n each: the rows above it, and itself; NO_ROW: none, as
                                 * for a statement in a sub without a context */
    uint32_t *order;
};

/* The number of an entry's first keys among the paths of a level. add: gives a new path its number.
 * Returns DP_MAP_NONE if the path is unknown, or without memory. */
static uint32_t path_of(struct level *l, const struct dp_overhead *over, uint32_t entry,
                        size_t keys, bool add, struct dp_buf *buf)
{
    dp_buf_clear(buf);
    for (size_t k = 0; k < keys; k++) {
        const struct dp_name *text = dp_overhead_text(over, entry, k);
        dp_buf_add(buf, text->ptr, text->len);
        dp_buf_addc(buf, '\0');
    }
    if (buf->err)
        return DP_MAP_NONE;
    return add ? dp_pool_intern(&l->paths, buf->ptr, buf->len)
               : dp_pool_lookup(&l->paths, buf->ptr, buf->len);
}

/* Computes the rows of a level, which are above those of the next one: the report by the first
 * `keys` keys alone. Their values are not sums of rows, because recursion counts once. */
static int make_level(struct hierarchy *h, size_t keys, size_t sides, struct dp_buf *buf)
{
    struct level *l = &h->levels[keys - 1];
    struct dp_report_how how = h->r->how->over;
    how.n_keys = keys;
    int rc = dp_overhead_make(&l->over, h->r->sides, sides, &how);
    if (rc < 0)
        return rc;
    l->row_of = dp_mem_realloc(NULL, l->over.n_rows + 1, sizeof *l->row_of);
    if (!l->row_of)
        return DP_E_NOMEM;
    for (uint32_t i = 0; i < l->over.n_rows; i++) {
        uint32_t path = path_of(l, &l->over, l->over.rows[i].entry, keys, true, buf);
        if (path == DP_MAP_NONE)
            return DP_E_NOMEM;
        l->row_of[path] = i;
    }
    return 0;
}

/* Orders rows so that each follows the rows above it in the hierarchy. */
static int compare_ranks(const void *ctx, uint32_t x, uint32_t y)
{
    const struct hierarchy *h = ctx;
    for (size_t k = 0; k < h->n; k++) {
        uint32_t a = h->ranks[x * h->n + k], b = h->ranks[y * h->n + k];
        if (a != b)
            return a < b ? -1 : 1;
    }
    return 0;
}

static bool is_hot(int field) { return field == DP_FIELD_HOT || field == DP_FIELD_HOT_SHARE; }

/* Finds the costliest line of each row, if a column shows it. Returns 0 or a DP_E. */
static int find_hot(struct report *r, size_t sides)
{
    bool wanted = false;
    for (size_t i = 0; i < r->how->n_fields; i++)
        wanted = wanted || is_hot(r->how->fields[i]);
    return wanted && !r->over.by_line
               ? dp_hot_make(&r->hot, &r->over, r->sides, sides, &r->how->over) : 0;
}

/* Adds a row of a hierarchy, which shows the key of its level only. The hottest line is known for
 * the last level alone. */
static int add_level_row(struct report *r, const struct dp_overhead *over,
                         const struct dp_over_row *row, size_t level)
{
    size_t n = r->how->n_fields - r->how->over.n_keys;
    const struct dp_name *text = dp_overhead_text(over, row->entry, level);
    struct dp_cell *cells = dp_table_row(&r->table);
    if (!cells)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (over == &r->over || !is_hot(r->how->fields[i]))
            cells[i] = cell_of(r, row, r->how->fields[i]);
    cells[n] = dp_cell_text(text->ptr, text->len);
    dp_table_last(&r->table)->indent = (unsigned)level;
    dp_table_last(&r->table)->tint = row_tint(r, row);
    r->rows++;
    return 0;
}

/* Adds the rows of all levels. A row of an upper level comes before the first row below it. */
static int add_levels(struct hierarchy *h)
{
    struct report *r = h->r;
    uint32_t last[dp_key_count];
    int rc = 0;
    memset(last, 0xff, sizeof last);
    for (size_t i = 0; i < r->over.n_rows && rc == 0; i++) {
        uint32_t row = h->order[i];
        if (!is_wanted(r, &r->over.rows[row]) || (r->how->rows && (size_t)r->rows >= r->how->rows))
            continue;
        const uint32_t *ranks = &h->ranks[row * h->n];
        for (size_t k = 0; k + 1 < h->n && rc == 0; k++) {
            if (last[k] == ranks[k] || ranks[k] == NO_ROW)
                continue;
            last[k] = ranks[k];
            memset(last + k + 1, 0xff, (h->n - k - 1) * sizeof *last);
            rc = add_level_row(r, &h->levels[k].over, &h->levels[k].over.rows[ranks[k]], k);
        }
        if (rc == 0)
            rc = add_level_row(r, &r->over, &r->over.rows[row], h->n - 1);
        if (rc == 0 && (r->how->chain || r->how->histogram))
            rc = add_below(r, &r->over.rows[row]);
    }
    return rc;
}

/* Adds the rows of a table whose keys are below one another. Each level keeps its own order: rows
 * are sorted by the ranks of the rows above them, then by their own. */
static int add_hierarchy(struct report *r, size_t sides)
{
    struct hierarchy h;
    struct dp_buf buf;
    memset(&h, 0, sizeof h);
    dp_buf_init(&buf);
    h.r = r;
    h.n = r->how->over.n_keys;
    h.ranks = dp_mem_realloc(NULL, (r->over.n_rows + 1) * h.n, sizeof *h.ranks);
    h.order = dp_mem_realloc(NULL, r->over.n_rows + 1, sizeof *h.order);
    h.levels = r->levels = dp_mem_zalloc(h.n * sizeof *h.levels);
    r->n_levels = r->levels ? h.n - 1 : 0;
    int rc = h.ranks && h.order && r->levels ? 0 : DP_E_NOMEM;
    for (size_t k = 0; k < r->n_levels; k++)
        dp_pool_init(&h.levels[k].paths);
    for (size_t k = 1; k < h.n && rc == 0; k++)
        rc = make_level(&h, k, sides, &buf);
    for (uint32_t i = 0; i < r->over.n_rows && rc == 0; i++) {
        h.order[i] = i;
        for (size_t k = 0; k + 1 < h.n; k++) {
            uint32_t path = path_of(&h.levels[k], &r->over, r->over.rows[i].entry, k + 1, false,
                                    &buf);
            h.ranks[i * h.n + k] = path == DP_MAP_NONE ? NO_ROW : h.levels[k].row_of[path];
        }
        h.ranks[i * h.n + h.n - 1] = i;
        rc = buf.err;
    }
    if (rc == 0) {
        dp_sort_u32(h.order, r->over.n_rows, compare_ranks, &h);
        rc = add_levels(&h);
    }
    dp_buf_release(&buf);
    dp_mem_free(h.ranks);
    dp_mem_free(h.order);
    return rc;
}

/* Frees the levels of --hierarchy. */
static void release_levels(struct report *r)
{
    for (size_t k = 0; r->levels && k < r->n_levels; k++) {
        dp_overhead_release(&r->levels[k].over);
        dp_pool_release(&r->levels[k].paths);
        dp_mem_free(r->levels[k].row_of);
    }
    dp_mem_free(r->levels);
}

/* ---- callers and callees ---- */

/* Columns of edges. For lines, there is also the sub that the user did not name. */
enum { EDGE_TOTAL, EDGE_TOTAL_VALUE, EDGE_SELF_VALUE, EDGE_CALLS, EDGE_SUB, EDGE_SITE, EDGE_OF,
       EDGE_COLUMNS };

/* Adds the row of a caller or callee. */
static int add_edge_row(struct report *r, const struct dp_edge *edge)
{
    struct dp_cell *cells = dp_table_row(&r->table);
    if (!cells)
        return DP_E_NOMEM;
    cells[EDGE_TOTAL] = dp_cell_percent(percent_of(r, edge->incl));
    cells[EDGE_TOTAL_VALUE] = amount_cell(r, edge->incl);
    cells[EDGE_SELF_VALUE] = amount_cell(r, edge->self);
    cells[EDGE_CALLS] = dp_cell_count(edge->calls);
    cells[EDGE_SUB] = value_text(r, edge->name);
    if (edge->site != DP_REPORT_NONE)
        cells[EDGE_SITE] = value_text(r, edge->site);
    if (r->how->n_edges_of_lines)
        cells[EDGE_OF] = value_text(r, edge->of);
    r->rows++;
    return 0;
}

/* Adds the callers or callees of the sub, or of the lines, that the user named. Returns 0, DP_E_ARG
 * if there is no such sub, or another DP_E. */
static int add_edges(struct report *r)
{
    const struct dp_report *how = r->how;
    struct dp_edges e;
    int rc = how->n_edges_of_lines
                 ? dp_edges_of_lines(&e, &r->over, r->sides, how->edges_of_lines,
                                     how->n_edges_of_lines, how->callees != 0)
                 : dp_edges_make(&e, &r->over, how->edges_of, how->edges_of_len,
                                 how->callees != 0);
    if (rc < 0)
        return rc;
    if (!e.found && !how->n_edges_of_lines)
        rc = DP_E_ARG;
    for (size_t i = 0; i < e.count && rc == 0 && (!how->rows || i < how->rows); i++)
        rc = add_edge_row(r, &e.edges[i]);
    dp_edges_release(&e);
    return rc;
}

/* Makes the columns of callers or callees. Returns their number: without known places of calls,
 * there is no column for them. */
static size_t edge_columns(struct report *r)
{
    static const struct dp_column fixed[] = {
        [EDGE_TOTAL] = { "Total", "total_pct", 8, false },
        [EDGE_TOTAL_VALUE] = { "Total value", "total", 12, false },
        [EDGE_SELF_VALUE] = { "Self value", "self", 12, false },
        [EDGE_CALLS] = { "Calls", "calls", 10, false },
        [EDGE_SITE] = { "Call site", "site", 9, true },
    };
    static const struct dp_column caller = { "Caller", "caller", 6, true },
                                  callee = { "Callee", "callee", 6, true };
    bool sites = false;
    memcpy(r->columns, fixed, sizeof fixed);
    r->columns[EDGE_SUB] = r->how->callees ? callee : caller;
    r->columns[EDGE_OF] = r->how->callees ? caller : callee;
    if (r->how->n_edges_of_lines)
        return EDGE_COLUMNS;
    for (size_t i = 0; i < r->over.n_nodes && !sites; i++)
        sites = r->over.nodes[i].site != DP_REPORT_NONE;
    return sites ? EDGE_OF : EDGE_SITE;
}

/* ---- the whole table ---- */

/* Adds the facts above the table, which an answer has as a text instead. */
static void add_facts(struct report *r)
{
    if (r->how->answer)
        return;                 /* add_answer_head has them */
    for (size_t i = 0; i < r->how->n_facts; i++) {
        const struct dp_report_fact *f = &r->how->facts[i];
        dp_table_fact(&r->table, f->label, f->key, dp_cell_text(f->text, f->len), NULL);
    }
    dp_table_fact(&r->table, "Total", "total", amount_cell(r, r->over.total), r->unit);
    if (r->over.base != r->over.total)
        dp_table_fact(&r->table, "Shown", "base", amount_cell(r, r->over.base), r->unit);
}

/* Makes the whole table: columns, facts and rows. Returns 0 or a DP_E. */
static int fill_table(struct report *r, size_t sides)
{
    const struct dp_report *how = r->how;
    int rc = 0;
    if (how->edges_of || how->n_edges_of_lines) {
        dp_table_init(&r->table, r->columns, edge_columns(r), r->over.hz);
        add_facts(r);
        return add_edges(r);
    }
    make_columns(r);
    rc = find_hot(r, sides);
    if (rc < 0)
        return rc;
    bool levels = how->hierarchy && how->over.n_keys > 1;
    size_t n = levels ? join_key_columns(r) : how->n_fields;
    dp_table_init(&r->table, r->columns, n, r->over.hz);
    add_facts(r);
    if (how->chain || how->histogram) {
        rc = dp_chains_init(&r->chains, &r->over, chains_of(how), how->over.max_stack);
        r->blocks = rc == 0 ? dp_mem_zalloc((r->over.n_rows + 1) * 2 * sizeof *r->blocks) : NULL;
        if (!r->blocks)
            return DP_E_NOMEM;
    }
    return levels ? add_hierarchy(r, sides) : add_flat_rows(r);
}

/* Returns the text of the fact with a key, or NULL. */
static const char *fact_of(const struct report *r, const char *key)
{
    for (size_t i = 0; i < r->how->n_facts; i++)
        if (strcmp(r->how->facts[i].key, key) == 0)
            return r->how->facts[i].text;
    return NULL;
}

/* Appends the text of a fact, if there is one, behind `before'. */
static void add_fact_text(struct dp_buf *to, const struct report *r, const char *before,
                          const char *key)
{
    const char *text = fact_of(r, key);
    if (!text)
        return;
    dp_buf_adds(to, before);
    dp_text_escape(to, text, strlen(text));
}

/* Appends what was recorded, and its total. */
static void add_answer_head(struct report *r, struct dp_buf *to)
{
    add_fact_text(to, r, "", "profile");
    add_fact_text(to, r, ": ", "script");
    dp_buf_adds(to, "\nTotal: ");
    if (r->hz)
        dp_render_human(to, (double)r->over.total, r->hz, r->is_time);
    else
        dp_render_grouped(to, r->over.total);
    add_fact_text(to, r, " ", "metric");
    add_fact_text(to, r, " so far: ", "running");
    if (r->over.base != r->over.total) {
        dp_buf_adds(to, "; shown: ");
        dp_render_real(to, 100 * (double)r->over.base / (double)r->over.total, 2, false);
        dp_buf_adds(to, "% of it");
    }
    add_fact_text(to, r, "\nProcesses: ", "processes");
    add_fact_text(to, r, "\nWaited: ", "waited");
    add_fact_text(to, r, "\nRequests: ", "requests");
    add_fact_text(to, r, "\nServer: ", "server");
    dp_buf_adds(to, "\n\n");
}

/* Appends how many subs are left out, their share of self time, and the option that shows more.
 * Always appends the legend, the notes, and the next command if the caller has one. */
static void add_answer_tail(struct report *r, struct dp_buf *to)
{
    dp_buf_adds(to, "\n");
    if (r->left_out) {
        dp_render_grouped(to, r->left_out);
        dp_buf_addf(to, " other sub%s: ", r->left_out == 1 ? "" : "s");
        dp_render_real(to, percent_of(r, r->left_out_self), 2, false);
        dp_buf_adds(to, "% self (--rows N shows more)\n");
    }
    dp_buf_adds(to, "Self: the sub alone. Incl.: with the subs that it calls.\n");
    dp_notes_add(to, &r->notes);
    if (r->how->next) {
        dp_text_escape(to, r->how->next, strlen(r->how->next));
        dp_buf_adds(to, "\n");
    }
}

/* Prints the lines that `add` appends, above or below the table of an answer; nothing for other
 * tables. */
static int print_answer_lines(struct report *r, struct dp_sink *sink,
                              void (*add)(struct report *r, struct dp_buf *to))
{
    struct dp_buf text;
    dp_buf_init(&text);
    if (r->how->answer && !r->how->quiet)
        add(r, &text);
    if (r->how->width)
        dp_render_wrapped(sink, text.ptr, text.len, r->how->width, "  ");
    else
        dp_sink_add(sink, text.ptr, text.len);
    int rc = text.err;
    dp_buf_release(&text);
    return rc;
}

/* Prints the table and, for an answer, the lines around it. */
static int print_table(struct report *r, const struct dp_host *host)
{
    struct dp_sink *sink = dp_sink_of_host(host);
    struct dp_table_how how = {
        .format = r->how->format,
        .separator = r->how->separator,
        .quiet = r->how->quiet != 0,
        .colour = r->how->colour != 0,
        .title = r->how->title,
    };
    if (!sink)
        return DP_E_NOMEM;
    how.width = r->how->width;
    how.names_width = r->how->names_width;
    int rc = r->table.no_memory ? DP_E_NOMEM : print_answer_lines(r, sink, add_answer_head);
    rc = rc == 0 ? dp_table_print(&r->table, &how, sink) : rc;
    rc = rc == 0 ? print_answer_lines(r, sink, add_answer_tail) : rc;
    int ended = dp_sink_end(sink);
    return rc < 0 ? rc : ended;
}

long dp_report_print(const struct dp_part *sides, size_t n, const struct dp_report *how,
                     const struct dp_host *host)
{
    struct report r;
    memset(&r, 0, sizeof r);
    r.how = how;
    r.sides = sides;
    dp_pool_init(&r.texts);
    int rc = dp_overhead_make(&r.over, sides, n, &how->over);
    if (rc < 0)
        return rc;
    const char *unit = dp_prof_unit(sides[0].prof);
    bool in_ticks = dp_metric_is_time(how->over.metric);
    r.is_time = in_ticks && strcmp(unit, "s") == 0;
    /* folded stacks: counts, perhaps with fractions */
    r.unit = r.is_time ? "s" : in_ticks && *unit ? unit : NULL;
    r.hz = r.is_time || (in_ticks && r.over.hz > 1) ? r.over.hz : 0;
    rc = fill_table(&r, n);
    if (rc == 0)
        rc = print_table(&r, host);
    for (size_t i = 0; i < 2 * r.n_blocks; i++)
        dp_buf_release(&r.blocks[i]);
    dp_mem_free(r.blocks);
    dp_chains_release(&r.chains);
    dp_mem_free(r.hot);
    release_levels(&r);
    dp_table_release(&r.table);
    dp_pool_release(&r.texts);
    dp_overhead_release(&r.over);
    return rc < 0 ? rc : r.rows;
}
