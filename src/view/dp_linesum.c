#include "dp_linesum.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_sort.h"
#include "dp_srclines.h"
#include "dprof/lines.h"

#include <string.h>

struct summing {
    struct dp_linesum *sum;
    struct dp_pool *files;
    const struct dp_stacks *s;
    const struct dp_stacks_how *how;
    const struct dp_stacks_source *src;
    struct dp_srclines *from;   /* lines of the source */
    struct dp_map of;           /* file << 32 | line -> line */
    struct dp_map edges;        /* line << 32 | name -> call */
    struct dp_buf file;
};

/* The index of a line, which is made if it is new; DP_E_NOMEM: memory is short. */
static int64_t line_of(struct summing *m, uint32_t file, uint32_t line)
{
    struct dp_linesum *sum = m->sum;
    /* Make room first, here and below, so that the map has no entry without its element if
     * something fails. */
    if (dp_mem_grow_cleared((void **)&sum->lines, &sum->cap, sum->count + 1, sizeof *sum->lines) < 0
        || dp_mem_grow_cleared((void **)&sum->values, &sum->values_cap,
                               (sum->count + 1) * 2 * sum->n_measures, sizeof *sum->values) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&m->of, (uint64_t)file << 32 | line);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    sum->lines[sum->count] = (struct dp_linesum_line){ file, line, 0, UINT32_MAX, 0 };
    slot->value = (uint32_t)sum->count;
    return (int64_t)sum->count++;
}

/* The index of the calls of a name from a line, which is made if it is new; DP_E_NOMEM: memory is
 * short. */
static int64_t call_of(struct summing *m, uint32_t line, uint32_t name)
{
    struct dp_linesum *sum = m->sum;
    if (dp_mem_grow_cleared((void **)&sum->calls, &sum->calls_cap, sum->n_calls + 1,
                            sizeof *sum->calls) < 0
        || dp_mem_grow_cleared((void **)&sum->call_values, &sum->call_values_cap,
                               (sum->n_calls + 1) * sum->n_measures, sizeof *sum->call_values) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&m->edges, (uint64_t)line << 32 | name);
    if (!slot)
        return DP_E_NOMEM;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    sum->calls[sum->n_calls] = (struct dp_linesum_call){ name, sum->lines[line].last_call, 0 };
    sum->lines[line].last_call = (uint32_t)sum->n_calls;
    sum->lines[line].n_calls++;
    slot->value = (uint32_t)sum->n_calls;
    return (int64_t)sum->n_calls++;
}

/* The column of a measure for the kind of the current source. */
static const struct dp_stacks_column *column_of(const struct summing *m, size_t measure)
{
    return &m->how->columns[measure * m->s->n_sides + m->src->side];
}

static size_t counter_of(const struct summing *m, const struct dp_stacks_column *c)
{
    return c->counters ? c->counters[m->src->index] : 0;
}

static void add_count(uint64_t *to, uint64_t v) { *to = dp_count_add(*to, v); }

/* Adds the values of line i of the current source, own and inclusive in turn for each measure. A
 * counter that the source lacks adds nothing. */
static void add_values(struct summing *m, uint64_t *to, size_t i)
{
    const struct dp_srcline *line = &m->from->lines[i];
    size_t n_counters = m->src->part->prof->n_counters;
    for (size_t k = 0; k < m->sum->n_measures; k++, to += 2) {
        const struct dp_stacks_column *c = column_of(m, k);
        if (dp_metric_is_time(c->metric)) {
            add_count(&to[0], dp_stacks_ticks(m->src, dp_prof_ticks(line->self, c->metric)));
            add_count(&to[1], dp_stacks_ticks(m->src, dp_prof_ticks(line->incl, c->metric)));
        } else if (dp_metric_is_counter(c->metric)) {
            size_t counter = counter_of(m, c);
            if (counter >= n_counters)
                continue;
            add_count(&to[0], m->from->counts[i * n_counters + counter]);
            add_count(&to[1], m->from->incl_counts[i * n_counters + counter]);
        } else {
            add_count(&to[0], line->calls);
            add_count(&to[1], line->calls);
        }
    }
}

/* Adds call i of the current source to call n of the sums: its number and, for each measure, its
 * inclusive value. */
static void add_call(struct summing *m, int64_t n, size_t i)
{
    const struct dp_srccall *call = &m->from->calls[i];
    uint64_t *to = &m->sum->call_values[(size_t)n * m->sum->n_measures];
    size_t n_counters = m->src->part->prof->n_counters;
    add_count(&m->sum->calls[n].calls, call->calls);
    for (size_t k = 0; k < m->sum->n_measures; k++) {
        const struct dp_stacks_column *c = column_of(m, k);
        if (dp_metric_is_time(c->metric))
            add_count(&to[k], dp_stacks_ticks(m->src, dp_prof_ticks(call->incl, c->metric)));
        else if (!dp_metric_is_counter(c->metric))
            add_count(&to[k], call->calls);
        else if (counter_of(m, c) < n_counters)
            add_count(&to[k], m->from->call_counts[i * n_counters + counter_of(m, c)]);
    }
}

/* Adds line i of the current source, with its calls, to the line of the same file and number in the
 * sums. Calls of subs that are not shown are left out. Returns 0 or a DP_E. */
static int add_line(struct summing *m, size_t i)
{
    const struct dp_srcline *line = &m->from->lines[i];
    const char *ptr;
    size_t len;
    uint64_t number;
    dp_srclines_place(m->src->part->prof, line->site, &ptr, &len, &number);
    dp_buf_clear(&m->file);
    dp_fmt_unfield(&m->file, ptr, len);
    uint32_t file = m->file.err ? DP_MAP_NONE
                    : dp_pool_intern(m->files, m->file.len ? m->file.ptr : "", m->file.len);
    int64_t to = file == DP_MAP_NONE ? DP_E_NOMEM
                 : line_of(m, file, number < UINT32_MAX ? (uint32_t)number : 0);
    if (to < 0)
        return (int)to;
    add_count(&m->sum->lines[to].count, line->count);
    add_values(m, &m->sum->values[(size_t)to * 2 * m->sum->n_measures], i);
    for (size_t k = line->first_call; k < line->first_call + line->n_calls; k++) {
        uint32_t name = m->src->name[m->from->calls[k].sub];
        int64_t call = name == DP_STACKS_NONE ? 0 : call_of(m, (uint32_t)to, name);
        if (call < 0)
            return (int)call;
        if (name != DP_STACKS_NONE)
            add_call(m, call, k);
    }
    return 0;
}

/* Adds all lines of the current source, and lowers the sums' detail to what its profile has.
 * Returns 0 or a DP_E. */
static int add_source(struct summing *m)
{
    struct dp_srclines lines;
    const struct dp_prof *prof = m->src->part->prof;
    int detail = dp_line_detail(prof);
    m->sum->detail = detail < m->sum->detail ? detail : m->sum->detail;
    if (!prof->sites.count && !prof->n_lines)
        return 0;
    int rc = dp_srclines_make(&lines, prof, false);
    if (rc < 0)
        return rc;
    m->from = &lines;
    for (size_t i = 0; i < lines.count && rc == 0; i++)
        rc = add_line(m, i);
    dp_srclines_release(&lines);
    return rc;
}

/* Compares two lines by the number of their file, then by line. */
static int compare_lines(const void *ctx, uint32_t x, uint32_t y)
{
    const struct dp_linesum *sum = ctx;
    const struct dp_linesum_line *a = &sum->lines[x], *b = &sum->lines[y];
    int c = (a->file > b->file) - (a->file < b->file);
    return c ? c : (a->line > b->line) - (a->line < b->line);
}

int dp_linesum_make(struct dp_linesum *sum, struct dp_pool *files, const struct dp_stacks *s,
                    size_t side, const struct dp_stacks_how *how)
{
    struct summing m = { .sum = sum, .files = files, .s = s, .how = how };
    int rc = 0;
    memset(sum, 0, sizeof *sum);
    sum->n_measures = s->n_columns / s->n_sides;
    sum->detail = 2;
    dp_map_init(&m.of);
    dp_map_init(&m.edges);
    dp_buf_init(&m.file);
    for (size_t k = 0; k < s->n_sources && rc == 0; k++)
        if (s->sources[k].side == side) {
            m.src = &s->sources[k];
            rc = add_source(&m);
        }
    if (rc == 0 && !(sum->order = dp_sort_order(sum->count, compare_lines, sum)))
        rc = DP_E_NOMEM;
    dp_map_release(&m.of);
    dp_map_release(&m.edges);
    dp_buf_release(&m.file);
    if (rc < 0)
        dp_linesum_release(sum);
    return rc;
}

void dp_linesum_release(struct dp_linesum *sum)
{
    dp_mem_free(sum->lines);
    dp_mem_free(sum->calls);
    dp_mem_free(sum->values);
    dp_mem_free(sum->call_values);
    dp_mem_free(sum->order);
    memset(sum, 0, sizeof *sum);
}
