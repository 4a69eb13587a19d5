/* Edges and comparisons as rows of data. */
#include "dprof/rows.h"
#include "dp_buf.h"
#include "dp_compared.h"
#include "dp_edges.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

/* ---- edges ---- */

/* Gives an edge to the caller's function, as a row with texts that are valid during the call.
 * Returns what the function returns. */
static int give_edge(const struct dp_overhead *over, const struct dp_edge *edge,
                     dp_edge_row_fn *fn, void *ctx)
{
    const struct dp_name *name = dp_pool_name(&over->values, edge->name);
    struct dp_edge_row row = {
        .name = name->ptr, .name_len = name->len,
        .calls = edge->calls, .self = edge->self, .incl = edge->incl,
    };
    if (edge->site != DP_REPORT_NONE) {
        const struct dp_name *site = dp_pool_name(&over->values, edge->site);
        row.site = site->ptr;
        row.site_len = site->len;
    }
    return fn(ctx, &row);
}

int dp_edge_rows(const struct dp_part *sides, size_t n, const struct dp_report_how *how,
                 const char *name, size_t len, int callees, dp_edge_row_fn *fn, void *ctx)
{
    struct dp_overhead over;
    struct dp_edges edges;
    int rc = dp_overhead_make(&over, sides, n, how);
    if (rc < 0)
        return rc;
    rc = dp_edges_make(&edges, &over, name, len, callees != 0);
    if (rc == 0) {
        rc = edges.found ? 0 : DP_E_ARG;
        for (size_t i = 0; i < edges.count && rc == 0; i++)
            rc = give_edge(&over, &edges.edges[i], fn, ctx);
        dp_edges_release(&edges);
    }
    dp_overhead_release(&over);
    return rc;
}

/* ---- a comparison ---- */

int dp_compared_new(struct dp_compared **made, const struct dp_diff_side *sides, size_t n,
                    const struct dp_diff_how *how, int with_tree)
{
    struct dp_compared *c = *made = dp_mem_alloc(sizeof *c);
    if (!c)
        return DP_E_NOMEM;
    int rc = dp_compare(c, sides, n, how,
                        DP_COMPARE_ROWS | DP_COMPARE_CALLS | (with_tree ? DP_COMPARE_TREE : 0));
    if (rc < 0) {
        dp_compared_free(c);
        *made = NULL;
    }
    return rc;
}

void dp_compared_free(struct dp_compared *c)
{
    if (!c)
        return;
    dp_compared_release(c);
    dp_mem_free(c);
}

/* Returns the values of an entry as a change: before, after, and whether there is a value. */
static struct dp_change change_of(const struct dp_diff_values *v, uint64_t hz)
{
    return (struct dp_change){ .hz = hz, .base_there = v->base_there, .there = v->there,
                               .base = v->base, .value = v->value };
}

void dp_compared_total(const struct dp_compared *c, size_t side, struct dp_change *total)
{
    *total = change_of(&c->families[side].total, dp_diff_hz(&c->diff, 0));
    total->base_there = total->there = 1;
}

#define WORD(id, word) word,
static const char *const fates[] = { DP_FATE_LIST(WORD) };

/* Adds, for an entry that is a line of source, its place on both sides. */
static void tell_place(const struct dp_compared *c, uint32_t entry, size_t side,
                       struct dp_change_row *row)
{
    const struct dp_line_pairs *lp = &c->diff.lines;
    const struct dp_paired_line *line = dp_diff_line(&c->diff, entry);
    if (!line)
        return;
    uint32_t n = (uint32_t)(line - lp->lines);
    row->file = dp_pool_name(&lp->texts, line->file)->ptr;
    row->file_len = dp_pool_name(&lp->texts, line->file)->len;
    const struct dp_name *base = dp_line_file(lp, line, 0),
                         *own = dp_line_file(lp, line, (uint32_t)side);
    row->baseline_file = base ? base->ptr : NULL;
    row->baseline_file_len = base ? base->len : 0;
    row->own_file = own ? own->ptr : NULL;
    row->own_file_len = own ? own->len : 0;
    row->baseline_line = dp_line_number(lp, n, 0);
    row->line = dp_line_number(lp, n, (uint32_t)side);
    row->fate = fates[line->fate];
}

int dp_compared_rows(const struct dp_compared *c, size_t side, dp_change_row_fn *fn, void *ctx)
{
    uint64_t hz = dp_diff_hz(&c->diff, 0);
    int rc = 0;
    for (size_t i = 0; i < c->n_rows && rc == 0; i++) {
        uint32_t entry = c->rows[i].entry;
        const struct dp_name *name = dp_diff_text(&c->diff, entry, 0);
        struct dp_change_row row = {
            .name = name->ptr, .name_len = name->len,
            .change = change_of(dp_compared_of(c, entry, (uint32_t)side), hz),
        };
        row.change.base_calls = c->calls[side].values[entry].base;
        row.change.calls = c->calls[side].values[entry].value;
        if (c->how->over.n_keys > 1) {
            row.other = dp_diff_text(&c->diff, entry, 1)->ptr;
            row.other_len = dp_diff_text(&c->diff, entry, 1)->len;
        }
        tell_place(c, entry, side, &row);
        if (dp_compared_is_shown(c, &c->rows[i], true))
            rc = fn(ctx, &row);
    }
    return rc;
}

struct lines {
    size_t side;
    uint64_t hz;
    dp_change_row_fn *fn;
    void *ctx;
};

/* Passes a line of the tree of changes to the host. Returns the host's result. */
static int tell_line(void *ctx, const struct dp_diff_line *line)
{
    const struct lines *l = ctx;
    const struct dp_diff_amount *base = &line->amounts[0], *value = &line->amounts[l->side];
    struct dp_change_row row = {
        .name = line->name ? line->name->ptr : NULL,
        .name_len = line->name ? line->name->len : 0,
        .level = line->level, .more = line->more,
        .change = { .hz = l->hz, .base_there = 1, .there = 1, .base = base->incl,
                    .value = value->incl, .base_calls = base->calls, .calls = value->calls },
    };
    return l->fn(l->ctx, &row);
}

int dp_compared_lines(const struct dp_compared *c, size_t side, double least_percent,
                      dp_change_row_fn *fn, void *ctx)
{
    struct lines lines = { side, dp_diff_hz(&c->diff, 0), fn, ctx };
    return dp_diff_tree_walk(&c->tree, least_percent, tell_line, &lines);
}

int dp_compared_findings(const struct dp_compared *c, dp_finding_row_fn *fn, void *ctx)
{
    struct dp_buf name;
    int rc = 0;
    dp_buf_init(&name);
    for (size_t i = 0; i < c->gate.n && rc == 0; i++) {
        const struct dp_finding *f = &c->gate.findings[i];
        const struct dp_rule *rule = &c->how->rules[f->rule];
        bool growth = rule->kind == DP_RULE_GROWTH;
        name.len = 0;
        const struct dp_name *sub = dp_gate_sub(f);
        dp_gate_name(&name, f);
        struct dp_finding_row row = {
            .rule = rule->text, .rule_len = strlen(rule->text),
            .name = dp_buf_cstr(&name), .name_len = name.len,
            .sub = sub ? sub->ptr : NULL, .sub_len = sub ? sub->len : 0,
            .side = f->side, .undecided = f->undecided,
            .change = change_of(&f->values, growth ? dp_diff_hz(&c->diff, rule->measure) : 0),
        };
        row.change.base_there = row.change.there = growth;
        rc = name.err ? name.err : fn(ctx, &row);
    }
    dp_buf_release(&name);
    return rc;
}

void dp_compared_gate(const struct dp_compared *c, struct dp_gate_numbers *numbers)
{
    *numbers = (struct dp_gate_numbers){ c->gate.failed, c->gate.undecided, c->gate.needed };
}
