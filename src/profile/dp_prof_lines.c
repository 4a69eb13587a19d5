#include "dp_prof_lines.h"
#include "dp_mem.h"

#include <string.h>

const uint64_t *dp_prof_line_counts(const struct dp_prof *prof, uint32_t line)
{
    size_t at = (size_t)line * prof->n_counters;
    return prof->n_counters && at < prof->line_counts_cap ? prof->line_counts + at : NULL;
}

/* The values of all counters of a statement. There is at least one counter. */
static uint64_t *counts_of(struct dp_prof *prof, uint32_t line)
{
    size_t need = ((size_t)line + 1) * prof->n_counters;
    if (dp_mem_grow_cleared((void **)&prof->line_counts, &prof->line_counts_cap, need,
                            sizeof *prof->line_counts) < 0)
        return NULL;
    return prof->line_counts + need - prof->n_counters;
}

int64_t dp_prof_line(struct dp_prof *prof, uint32_t site, uint32_t sub, uint32_t later)
{
    /* Make room first, so that the map has no entry without its line if something fails. */
    size_t n = prof->n_lines;
    if (dp_mem_grow((void **)&prof->lines, &prof->lines_cap, n + 1, sizeof *prof->lines) < 0)
        return DP_E_NOMEM;
    struct dp_map_slot *slot = dp_map_put(&prof->lined, (uint64_t)site << 32 | sub);
    if (!slot)
        return DP_E_NOMEM;
    uint32_t first = slot->value;
    for (uint32_t i = first; i != DP_MAP_NONE; i = prof->lines[i].next)
        if (prof->lines[i].later == later)
            return i;
    if (n >= DP_LIMIT_LINES)
        return DP_E_LIMIT;
    prof->lines[n] = (struct dp_prof_line){ .site = site, .sub = sub, .later = later,
                                            .next = first };
    slot->value = (uint32_t)n;
    prof->n_lines = n + 1;
    return (int64_t)n;
}

static uint64_t scaled_ticks(uint64_t n, uint64_t by)
{
    return n <= DP_LIMIT_TOTAL / by ? n * by : DP_LIMIT_TOTAL;
}

/* Adds a count and times to a line; times are multiplied, because files may have different
 * ticks. */
static void add_cost(struct dp_prof_line *line, uint64_t count, const uint64_t *t, uint64_t by)
{
    line->count = dp_count_add(line->count, count);
    for (int m = 0; m < DP_METRICS; m++) {
        uint64_t sum = line->self[m] + scaled_ticks(t[m], by);
        line->self[m] = sum < DP_LIMIT_TOTAL ? sum : DP_LIMIT_TOTAL;
    }
}

int dp_prof_on_line(void *ctx, const struct dp_linedef *def, struct dp_err *err)
{
    struct dp_prof *prof = ctx;
    if (prof->only_main)        /* statements do not distinguish phases */
        return 0;
    uint32_t sub = def->sub == DP_SUB_NONE ? DP_PROF_NO_SUB : def->sub;
    int64_t site = dp_prof_site(prof, def->at.ptr, def->at.len);
    int64_t n = site < 0 ? site : dp_prof_line(prof, (uint32_t)site, sub, def->later);
    if (n == DP_E_LIMIT)
        return dp_err_set(err, DP_E_LIMIT, "there are more than %lu statements",
                          (unsigned long)DP_LIMIT_LINES);
    if (n < 0)
        return dp_err_set(err, (int)n, "%s", dp_err_text((int)n));
    add_cost(&prof->lines[n], def->count, def->t, prof->in.scale);
    prof->line_times = prof->line_times || def->has_times;
    uint64_t *to = prof->n_counters && def->n_counters ? counts_of(prof, (uint32_t)n) : NULL;
    if (prof->n_counters && def->n_counters && !to)
        return dp_err_set(err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    for (size_t k = 0; to && k < def->n_counters; k++)
        if (prof->in.column[k] != UINT32_MAX)
            to[prof->in.column[k]] = dp_count_add(to[prof->in.column[k]], def->counters[k]);
    return 0;
}

/* Keeps a text, unless there is one already. */
static int keep_text(struct dp_prof_source *source, const struct dp_text *packed)
{
    if (source->packed || !packed->len)
        return 0;
    source->packed = dp_mem_realloc(NULL, packed->len, 1);
    if (!source->packed)
        return DP_E_NOMEM;
    memcpy(source->packed, packed->ptr, packed->len);
    source->packed_len = packed->len;
    return 0;
}

int dp_prof_on_source(void *ctx, const struct dp_linefile *file)
{
    struct dp_prof *prof = ctx;
    size_t known = prof->sources.count;
    /* Make room first, so that each known file has an element even if something fails. */
    if (dp_mem_grow_cleared((void **)&prof->source, &prof->source_cap, known + 1,
                            sizeof *prof->source) < 0)
        return DP_E_NOMEM;
    uint32_t n = dp_pool_intern(&prof->sources, file->file.ptr, file->file.len);
    if (n == DP_MAP_NONE)
        return DP_E_NOMEM;
    struct dp_prof_source *source = &prof->source[n];
    if (n >= known)
        *source = (struct dp_prof_source){ .size = file->size, .crc = file->crc };
    source->differs = source->differs || source->size != file->size || source->crc != file->crc;
    return source->differs ? 0 : keep_text(source, &file->packed);
}

int dp_prof_add_line(struct dp_prof *prof, uint32_t site, uint32_t sub, const struct dp_prof *from,
                     uint32_t line, uint64_t scale)
{
    const uint64_t *counts = dp_prof_line_counts(from, line);
    int64_t n = dp_prof_line(prof, site, sub, from->lines[line].later);
    if (n < 0)
        return (int)n;
    add_cost(&prof->lines[n], from->lines[line].count, from->lines[line].self, scale);
    prof->line_times = prof->line_times || from->line_times;
    uint64_t *to = prof->n_counters && counts ? counts_of(prof, (uint32_t)n) : NULL;
    if (prof->n_counters && counts && !to)
        return DP_E_NOMEM;
    for (size_t k = 0; to && k < from->n_counters; k++)
        if (prof->in.column[k] != UINT32_MAX && !from->counters[k].lacking)
            to[prof->in.column[k]] = dp_count_add(to[prof->in.column[k]], counts[k]);
    return 0;
}

void dp_prof_scale_lines(struct dp_prof *prof, uint64_t by)
{
    for (size_t i = 0; i < prof->n_lines; i++)
        for (int m = 0; m < DP_METRICS; m++)
            prof->lines[i].self[m] = scaled_ticks(prof->lines[i].self[m], by);
}

void dp_prof_release_lines(struct dp_prof *prof)
{
    dp_mem_free(prof->lines);
    dp_mem_free(prof->line_counts);
    dp_map_release(&prof->lined);
    for (size_t i = 0; i < prof->sources.count; i++)
        dp_mem_free(prof->source[i].packed);
    dp_pool_release(&prof->sources);
    dp_mem_free(prof->source);
}
