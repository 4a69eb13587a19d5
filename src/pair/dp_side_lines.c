#include "dp_side_lines.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_srclines.h"

#include <string.h>

void dp_side_lines_init(struct dp_side_lines *s)
{
    memset(s, 0, sizeof *s);
    dp_pool_init(&s->identities);
}

void dp_side_lines_release(struct dp_side_lines *s)
{
    dp_mem_free(s->lines);
    dp_pool_release(&s->identities);
    dp_side_lines_init(s);
}

/* Finds or makes the line of a file and number. Returns NULL if memory is short. The pointer is
 * valid up to the next call. */
static struct dp_side_line *line_of(struct dp_side_lines *s, uint32_t file, uint64_t number)
{
    const uint64_t identity[2] = { file, number };
    /* Make room first, so that the pool has no identity without its line. */
    if (dp_mem_grow((void **)&s->lines, &s->cap, s->n + 1, sizeof *s->lines) < 0)
        return NULL;
    uint32_t n = dp_pool_intern(&s->identities, (const char *)identity, sizeof identity);
    if (n == DP_MAP_NONE)
        return NULL;
    if (n == s->n)
        s->lines[s->n++] = (struct dp_side_line){ .file = file, .number = number,
                                                  .prof = SIZE_MAX, .line = DP_MAP_NONE };
    return &s->lines[n];
}

/* Adds a line of profile k, and notes it in profs[k].line. The first profile that has the line
 * gives its count, and the first sub that is not a phase is the one that contains it. Returns 0,
 * also for a place without a file or line, or DP_E_NOMEM. */
static int take_place(struct dp_side_lines *s, const struct dp_file_pairs *files,
                      const struct dp_line_prof *profs, size_t k, uint32_t site, uint32_t sub,
                      uint64_t count)
{
    const struct dp_prof *prof = profs[k].prof;
    const char *name;
    size_t len;
    uint64_t number;
    uint32_t file = dp_file_of_site(files, k, site);
    if (file == DP_MAP_NONE)
        return 0;
    dp_srclines_place(prof, site, &name, &len, &number);
    if (!number)
        return 0;
    struct dp_side_line *line = line_of(s, file, number);
    if (!line)
        return DP_E_NOMEM;
    profs[k].line[site] = (uint32_t)(line - s->lines);
    line->prof = line->prof == SIZE_MAX ? k : line->prof;
    if (line->prof == k)
        line->count = dp_count_add(line->count, count);
    if (sub == DP_PROF_NO_SUB || line->sub || prof->subs.subs[sub].phase)
        return 0;
    line->sub = files->subs->profs[k].label[sub];
    line->begin = prof->subs.subs[sub].line;
    return 0;
}

/* Adds the lines of profile k whose statements ran, with their counts and subs. */
static int take_statements(struct dp_side_lines *s, const struct dp_file_pairs *files,
                           const struct dp_line_prof *profs, size_t k)
{
    const struct dp_prof *prof = profs[k].prof;
    int rc = 0;
    for (uint32_t i = 0; i < prof->n_lines && rc == 0; i++)
        rc = take_place(s, files, profs, k, prof->lines[i].site, prof->lines[i].sub,
                        prof->lines[i].count);
    return rc;
}

/* Adds the lines of profile k that call subs, each with the calling sub. A call adds nothing to a
 * line's count, which is that of its statements. */
static int take_calls(struct dp_side_lines *s, const struct dp_file_pairs *files,
                      const struct dp_line_prof *profs, size_t k)
{
    const struct dp_prof *prof = profs[k].prof;
    int rc = 0;
    for (uint32_t i = 1; i < prof->count && rc == 0; i++)
        if (!prof->subs.subs[prof->nodes[i].sub].phase)
            rc = take_place(s, files, profs, k, prof->nodes[i].site, dp_srclines_caller(prof, i),
                            0);
    return rc;
}

int dp_side_lines_take(struct dp_side_lines *s, const struct dp_file_pairs *files,
                       const struct dp_line_prof *profs, uint32_t side)
{
    size_t n = files->subs->n_profs;
    int rc = 0;
    s->n = 0;
    dp_pool_release(&s->identities);
    /* statements of all profiles first, because they know their sub */
    for (size_t k = 0; k < n && rc == 0; k++)
        rc = profs[k].side == side ? take_statements(s, files, profs, k) : 0;
    for (size_t k = 0; k < n && rc == 0; k++)
        rc = profs[k].side == side ? take_calls(s, files, profs, k) : 0;
    return rc;
}
