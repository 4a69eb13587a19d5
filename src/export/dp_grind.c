#include "dp_grind.h"
#include "dp_char.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_text.h"

#include <string.h>

/* ---- names ---- */

/* Appends a name. A parenthesis and a digit would begin the number of another name, and blanks at
 * its ends would be lost. */
static void add_name(struct dp_buf *to, const char *ptr, size_t len)
{
    size_t begin = 0, end = len;
    while (begin < len && ptr[begin] == ' ')
        begin++;
    while (end > begin && ptr[end - 1] == ' ')
        end--;
    for (size_t i = 0; i < begin; i++)
        dp_buf_adds(to, "\\x20");
    if (end > begin + 1 && ptr[begin] == '(' && dp_is_digit(ptr[begin + 1])) {
        dp_buf_adds(to, "\\x28");
        begin++;
    }
    dp_text_escape(to, ptr + begin, end - begin);
    for (size_t i = end; i < len; i++)
        dp_buf_adds(to, "\\x20");
}

/* The number of a name, which is not empty, in a pool. */
static uint32_t number_of(struct dp_grind *g, struct dp_pool *pool, const char *ptr, size_t len)
{
    dp_buf_clear(&g->name);
    add_name(&g->name, ptr, len);
    return g->name.err ? DP_MAP_NONE : dp_pool_intern(pool, g->name.ptr, g->name.len);
}

uint32_t dp_grind_file(struct dp_grind *g, const struct dp_name *file)
{
    return file->len ? number_of(g, &g->files, file->ptr, file->len)
                     : number_of(g, &g->files, "???", 3);
}

/* The program's name, as the first part has it; "???" is these tools' word for unknown. */
static const char *script_of(const struct dp_grind *g)
{
    const struct dp_export_how *how = g->e.p->job->export;
    return how->n_parts && *how->parts[0].name ? how->parts[0].name : "???";
}

/* Numbers the files and texts of all names of the stacks. The program's file is its script. */
static int name_all(struct dp_grind *g)
{
    const struct dp_stacks *s = g->e.p->s;
    for (uint32_t i = 0; i < s->n_names; i++) {
        const struct dp_stacks_name *name = &s->names[i];
        struct dp_name file = name->file;
        if (name->kind == DP_KIND_PROGRAM) {
            g->program = i;
            file = (struct dp_name){ script_of(g), strlen(script_of(g)) };
        }
        g->file[i] = dp_grind_file(g, &file);
        g->text[i] = number_of(g, &g->texts, name->text.len ? name->text.ptr : "???",
                               name->text.len ? name->text.len : 3);
        if (g->file[i] == DP_MAP_NONE || g->text[i] == DP_MAP_NONE)
            return DP_E_NOMEM;
    }
    return 0;
}

/* Appends the name of an event: "page-faults" becomes PageFaults. */
static void add_event(struct dp_buf *to, const char *key)
{
    bool starts = true;
    if (!dp_is_letter(*key))
        dp_buf_adds(to, "Event");
    for (; *key; key++) {
        bool letter = dp_is_letter(*key), taken = letter || dp_is_digit(*key);
        if (taken)
            dp_buf_addc(to, letter && starts ? (char)(*key & ~0x20) : *key);
        starts = !taken;
    }
}

/* Gives the events different names, even if their metrics differ only in punctuation. */
static int name_events(struct dp_grind *g)
{
    for (size_t k = 0; k < g->e.count; k++) {
        const char *key = g->e.measures[k].metric->key;
        dp_buf_clear(&g->name);
        add_event(&g->name, strcmp(key, "real") == 0 ? "wall" : key);
        while (!g->name.err
               && dp_pool_lookup(&g->events, g->name.ptr, g->name.len) != DP_MAP_NONE)
            dp_buf_addc(&g->name, 'x');
        if (g->name.err
            || dp_pool_intern(&g->events, g->name.ptr, g->name.len) == DP_MAP_NONE)
            return DP_E_NOMEM;
    }
    return 0;
}

/* ---- values ---- */

int dp_grind_init(struct dp_grind *g, const struct dp_stacks_printing *p)
{
    const struct dp_stacks *s = p->s;
    memset(g, 0, sizeof *g);
    dp_buf_init(&g->buf);
    dp_buf_init(&g->name);
    dp_pool_init(&g->events);
    dp_pool_init(&g->files);
    dp_pool_init(&g->texts);
    int rc = dp_export_init(&g->e, p);
    size_t n = g->e.count + 1;
    g->value = dp_mem_zalloc(n * sizeof *g->value);
    g->total = dp_mem_zalloc(n * sizeof *g->total);
    g->own = dp_mem_zalloc((s->n_names + 1) * n * sizeof *g->own);
    g->file = dp_mem_zalloc((s->n_names + 1) * sizeof *g->file);
    g->text = dp_mem_zalloc((s->n_names + 1) * sizeof *g->text);
    if (rc == 0 && (!g->value || !g->total || !g->own || !g->file || !g->text))
        rc = DP_E_NOMEM;
    /* if two sides are compared, each sub has one place */
    if (rc == 0)
        rc = dp_stacks_lines_make(&g->lines, s, &p->job->export->stacks, s->n_sides == 1);
    rc = rc < 0 ? rc : name_events(g);
    return rc < 0 ? rc : name_all(g);
}

void dp_grind_release(struct dp_grind *g)
{
    dp_stacks_lines_release(&g->lines);
    dp_export_release(&g->e);
    dp_mem_free(g->cost);
    dp_mem_free(g->value);
    dp_mem_free(g->own);
    dp_mem_free(g->total);
    dp_mem_free(g->file);
    dp_mem_free(g->text);
    dp_pool_release(&g->files);
    dp_pool_release(&g->texts);
    dp_pool_release(&g->events);
    dp_buf_release(&g->buf);
    dp_buf_release(&g->name);
}

uint32_t dp_grind_name(const struct dp_grind *g)
{
    return g->e.is_frame ? g->e.p->s->frames[g->e.frame].name : g->program;
}

int dp_grind_next(struct dp_grind *g)
{
    int rc = dp_export_next(&g->e);
    memset(g->value, 0, g->e.count * sizeof *g->value);
    if (rc <= 0)
        return rc;
    uint64_t *own = &g->own[dp_grind_name(g) * g->e.count];
    for (size_t k = 0; k < g->e.count; k++) {
        g->value[k] = dp_export_self(&g->e, k, g->e.frame);
        own[k] = dp_count_add(own[k], g->value[k]);
        g->total[k] = dp_count_add(g->total[k], g->value[k]);
    }
    return rc;
}

/* Adjusts the costs of the lines from..to, which belong to one name, in a measure. */
static void settle_lines(struct dp_grind *g, size_t from, size_t to, size_t k)
{
    size_t column = g->e.measures[k].column;
    uint64_t own = g->own[g->lines.lines[from].name * g->e.count + k];
    uint64_t all = 0, seen = 0, given = 0;
    for (size_t i = from; i < to; i++)
        all = dp_count_add(all, dp_stacks_line_self(&g->lines, i, column));
    for (size_t i = from; i < to && all; i++) {
        seen = dp_count_add(seen, dp_stacks_line_self(&g->lines, i, column));
        uint64_t now = dp_num_mul_div(own, seen, all);
        g->cost[i * g->e.count + k] = now - given;
        given = now;
    }
}

int dp_grind_settle(struct dp_grind *g)
{
    const struct dp_stacks_lines *l = &g->lines;
    g->cost = dp_mem_zalloc((l->count * g->e.count + 1) * sizeof *g->cost);
    if (!g->cost)
        return DP_E_NOMEM;
    for (size_t from = 0, to; from < l->count; from = to) {
        for (to = from; to < l->count && l->lines[to].name == l->lines[from].name;)
            to++;
        for (size_t k = 0; k < g->e.count; k++)
            settle_lines(g, from, to, k);
    }
    return 0;
}

bool dp_grind_costs(const struct dp_grind *g, size_t line)
{
    for (size_t k = 0; k < g->e.count; k++)
        if (g->cost[line * g->e.count + k])
            return true;
    return false;
}

/* ---- output ---- */

void dp_grind_events(struct dp_grind *g)
{
    for (size_t k = 0; k < g->e.count; k++) {
        dp_buf_addc(&g->buf, ' ');
        const struct dp_name *event = dp_pool_name(&g->events, (uint32_t)k);
        dp_buf_add(&g->buf, event->ptr, event->len);
    }
}

void dp_grind_numbers(struct dp_grind *g, const uint64_t *numbers)
{
    for (size_t k = 0; k < g->e.count; k++) {
        dp_buf_addc(&g->buf, ' ');
        dp_buf_addu(&g->buf, numbers[k]);
    }
}

void dp_grind_script(struct dp_grind *g)
{
    const char *script = script_of(g);
    dp_text_escape(&g->buf, script, strlen(script));
}

int dp_grind_send(struct dp_grind *g)
{
    struct dp_sink *to = g->e.p->sink;
    if (g->buf.err)
        return g->buf.err;
    dp_sink_add(to, g->buf.ptr, g->buf.len);
    dp_buf_clear(&g->buf);
    return to->err;
}
