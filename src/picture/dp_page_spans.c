/* What a page says about spans beside their frames: rows of statements, longest calls, which subs
 * are of libraries, and how often phases began. Where the graph has no phases, the statements of
 * each phase are added. */
#include "dp_page.h"
#include "dp_err.h"
#include "dp_library.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_prof.h"
#include "dp_render.h"

#include <string.h>

/* What is known of a name, over all files. */
struct known {
    uint64_t rows;              /* plus 1; 0: unknown */
    double longest;             /* seconds; 0: unknown */
    bool is_library;
};

static bool has_spans(const struct dp_stacks *s)
{
    for (size_t i = 0; i < s->n_names; i++)
        if (s->names[i].kind == DP_KIND_SPAN)
            return true;
    return false;
}

/* Adds what a file says about its subs to the names of these. */
static void learn_names(struct known *known, const struct dp_stacks_source *src)
{
    const struct dp_prof *prof = src->part->prof;
    for (uint32_t sub = 0; sub < dp_subs_count(&prof->subs); sub++) {
        uint32_t name = src->name[sub];
        if (name == DP_STACKS_NONE)
            continue;
        uint64_t rows = dp_prof_rows(prof, sub);
        if (rows)
            known[name].rows = dp_count_add(known[name].rows, known[name].rows ? rows - 1 : rows);
        known[name].is_library |= dp_library_has(&prof->subs, sub);
    }
    for (uint32_t i = 1; i < prof->count; i++) {
        uint32_t sub = prof->nodes[i].sub;
        if (!prof->subs.subs[sub].span || src->name[sub] == DP_STACKS_NONE)
            continue;
        double longest = (double)dp_prof_extra(prof, i).longest / (double)dp_prof_hz(prof);
        if (longest > known[src->name[sub]].longest)
            known[src->name[sub]].longest = longest;
    }
}

/* Appends an object of the names that have a value: name -> value. Two sides have none. */
static void add_values(struct dp_page *p, const struct known *known, bool of_rows)
{
    bool any = false;
    dp_buf_addf(&p->out, "\"%s\":{", of_rows ? "rows" : "longest");
    for (size_t i = 0; i < p->s->n_names && p->s->n_sides == 1; i++) {
        if (p->s->names[i].kind != DP_KIND_SPAN
            || !(of_rows ? known[i].rows > 0 : known[i].longest > 0))
            continue;
        dp_buf_addf(&p->out, "%s\"%lu\":", any ? "," : "", (unsigned long)i);
        if (of_rows)
            dp_buf_addu(&p->out, known[i].rows - 1);
        else
            dp_render_real(&p->out, known[i].longest, 9, false);
        any = true;
    }
    dp_buf_adds(&p->out, "},");
}

/* Appends the label of a phase as a member of an object; number 0: none. */
static void add_label(struct dp_page *p, const struct dp_prof *prof, uint32_t phase, bool any)
{
    struct dp_buf label;
    dp_buf_init(&label);
    if (phase)
        dp_subs_label(&prof->subs, prof->nodes[phase].sub, p->how->stacks.pair.label_flags, &label);
    dp_buf_adds(&p->out, any ? "," : "");
    dp_page_text(p, label.ptr ? label.ptr : "", label.len);
    dp_buf_addc(&p->out, ':');
    p->out.err = p->out.err ? p->out.err : label.err;
    dp_buf_release(&label);
}

/* Appends an object of the phases that a program has marked: name -> how often it began, or the
 * number of its requests that are in the profile. */
static void add_phases(struct dp_page *p, const struct dp_prof *prof)
{
    bool any = false;
    dp_buf_addc(&p->out, '{');
    for (uint32_t i = 1; i < prof->count; i++) {
        const struct dp_sub *sub = &prof->subs.subs[prof->nodes[i].sub];
        const struct dp_name *name = dp_subs_text(&prof->subs, sub->name);
        if (!sub->phase || prof->nodes[i].parent || dp_phase_is_of_perl(name))
            continue;
        uint32_t requests = dp_pool_lookup(&prof->request_names, name->ptr, name->len);
        uint64_t kept = requests == DP_MAP_NONE ? 0 : prof->requests[requests].kept;
        add_label(p, prof, i, any);
        dp_buf_addu(&p->out, kept ? kept : prof->nodes[i].calls);
        any = true;
    }
    dp_buf_addc(&p->out, '}');
}

/* Appends the side of each source. */
static void add_sides(struct dp_page *p)
{
    dp_buf_adds(&p->out, ",\"sides\":[");
    for (size_t k = 0; k < p->s->n_sources; k++)
        dp_buf_addf(&p->out, "%s%lu", k ? "," : "", (unsigned long)p->s->sources[k].side);
    dp_buf_addc(&p->out, ']');
}

/* The statements of SQL in a phase. */
struct statements {
    uint64_t calls;
    uint64_t equal;             /* the most calls of one statement from one path */
};

static bool is_statement(const struct dp_stacks_source *src, uint32_t sub)
{
    const struct dp_subs *subs = &src->part->prof->subs;
    const struct dp_name *kind = dp_subs_text(subs, subs->subs[sub].package);
    return subs->subs[sub].span && src->name[sub] != DP_STACKS_NONE && kind->len == 3
        && memcmp(kind->ptr, "sql", 3) == 0;
}

/* Sums up by phase, which is a context below the root; what ran in none counts for the root. phase:
 * room for the phases of contexts. */
static void sum_statements(const struct dp_stacks_source *src, struct statements *of,
                           uint32_t *phase)
{
    const struct dp_prof *prof = src->part->prof;
    for (uint32_t i = 1; i < prof->count; i++) {
        const struct dp_node *node = &prof->nodes[i];
        phase[i] = node->parent ? phase[node->parent]
            : prof->subs.subs[node->sub].phase ? i : 0;
        if (!is_statement(src, node->sub))
            continue;
        struct statements *sum = &of[phase[i]];
        sum->calls = dp_count_add(sum->calls, node->calls);
        if (node->calls > sum->equal)
            sum->equal = node->calls;
    }
}

/* Appends an object for a source: name of a phase -> the statements in it. */
static void add_statements(struct dp_page *p, const struct dp_stacks_source *src)
{
    const struct dp_prof *prof = src->part->prof;
    struct statements *of = dp_mem_zalloc((prof->count + 1) * sizeof *of);
    uint32_t *phase = dp_mem_zalloc((prof->count + 1) * sizeof *phase);
    bool any = false;
    dp_buf_addc(&p->out, '{');
    if (of && phase)
        sum_statements(src, of, phase);
    else
        p->out.err = DP_E_NOMEM;
    for (uint32_t i = 0; of && i < prof->count; i++) {
        if (!of[i].calls)
            continue;
        add_label(p, prof, i, any);
        dp_buf_addf(&p->out, "[%llu,%llu]", (unsigned long long)of[i].calls,
                    (unsigned long long)of[i].equal);
        any = true;
    }
    dp_buf_addc(&p->out, '}');
    dp_mem_free(of);
    dp_mem_free(phase);
}

static void add_all_statements(struct dp_page *p)
{
    dp_buf_adds(&p->out, ",\"statements\":[");
    for (size_t k = 0; k < p->s->n_sources; k++) {
        dp_buf_adds(&p->out, k ? "," : "");
        add_statements(p, &p->s->sources[k]);
    }
    dp_buf_addc(&p->out, ']');
}

int dp_page_spans(struct dp_page *p)
{
    const struct dp_stacks *s = p->s;
    if (!has_spans(s))
        return 0;
    struct known *known = dp_mem_zalloc((s->n_names + 1) * sizeof *known);
    if (!known)
        return DP_E_NOMEM;
    for (size_t k = 0; k < s->n_sources; k++)
        learn_names(known, &s->sources[k]);
    dp_buf_adds(&p->out, ",\"spans\":{");
    add_values(p, known, true);
    add_values(p, known, false);
    dp_buf_adds(&p->out, "\"library\":\"");
    for (size_t i = 0; i < s->n_names; i++)
        dp_buf_addc(&p->out, known[i].is_library ? '1' : '0');
    dp_buf_adds(&p->out, "\",\"begun\":[");
    for (size_t k = 0; k < s->n_sources; k++) {
        dp_buf_adds(&p->out, k ? "," : "");
        add_phases(p, s->sources[k].part->prof);
    }
    dp_buf_addc(&p->out, ']');
    if (s->n_sides > 1)
        add_sides(p);
    else if (p->how->stacks.no_phases)
        add_all_statements(p);
    dp_buf_addc(&p->out, '}');
    dp_mem_free(known);
    return p->out.err;
}
