/* Writes cachegrind's format: own costs of subs and lines, without calls, for cg_annotate and
 * cg_diff (cachegrind/docs/cg-manual.xml of valgrind). Lines are in a strict order. */
#include "dp_grind.h"
#include "dp_err.h"

/* Appends a line of the file: what, for example "fn=", and a name of the pool. */
static void put_name(struct dp_grind *g, const char *what, const struct dp_pool *pool, uint32_t n)
{
    const struct dp_name *text = dp_pool_name(pool, n);
    dp_buf_adds(&g->buf, what);
    dp_buf_add(&g->buf, text->ptr, text->len);
    dp_buf_addc(&g->buf, '\n');
}

/* Writes the costs of a line, i in g->lines. The format repeats neither file nor sub while they
 * stay the same; *name and *file are those written last. */
static int put_line(struct dp_grind *g, size_t i, uint32_t *name, uint32_t *file)
{
    const struct dp_stacks_line *line = &g->lines.lines[i];
    if (!dp_grind_costs(g, i))
        return 0;
    uint32_t its_file = line->file.len ? dp_grind_file(g, &line->file) : g->file[line->name];
    if (its_file == DP_MAP_NONE)
        return DP_E_NOMEM;
    if (line->name != *name || its_file != *file) {
        put_name(g, "fl=", &g->files, its_file);
        put_name(g, "fn=", &g->texts, g->text[line->name]);
        *name = line->name;
        *file = its_file;
    }
    dp_buf_addu(&g->buf, line->line);
    dp_grind_numbers(g, &g->cost[i * g->e.count]);
    dp_buf_addc(&g->buf, '\n');
    g->e.p->out->lines++;
    return dp_grind_send(g);
}

/* Writes the file: a walk over all frames first, because the costs of lines are shares of the sums
 * of their subs; then header, lines and total. */
static int put_all(struct dp_grind *g)
{
    uint32_t name = DP_STACKS_NONE, file = DP_MAP_NONE;
    int rc;
    while ((rc = dp_grind_next(g)) > 0)
        ;
    rc = rc < 0 ? rc : dp_grind_settle(g);
    if (rc < 0)
        return rc;
    dp_buf_addf(&g->buf, "desc: Devel::DProf %s\ncmd: ", g->e.p->job->version);
    dp_grind_script(g);
    dp_buf_adds(&g->buf, "\nevents:");
    dp_grind_events(g);
    dp_buf_addc(&g->buf, '\n');
    rc = dp_grind_send(g);
    for (size_t i = 0; i < g->lines.count && rc == 0; i++)
        rc = put_line(g, i, &name, &file);
    if (rc < 0)
        return rc;
    dp_buf_adds(&g->buf, "summary:");
    dp_grind_numbers(g, g->total);
    dp_buf_addc(&g->buf, '\n');
    return dp_grind_send(g);
}

/* Prints the stacks as a file of cachegrind, which has costs by line. Returns 0 or a DP_E. */
int dp_print_cachegrind(const struct dp_stacks_printing *p)
{
    struct dp_grind g;
    int rc = dp_grind_init(&g, p);
    if (rc == 0)
        rc = put_all(&g);
    dp_grind_release(&g);
    return rc;
}
