#include "dp_export.h"
#include "dp_char.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

int dp_export_init(struct dp_export *e, const struct dp_stacks_printing *p)
{
    const struct dp_stacks *s = p->s;
    const struct dp_export_how *how = p->job->export;
    memset(e, 0, sizeof *e);
    e->p = p;
    e->end = (uint32_t)s->count;
    e->count = s->n_columns / s->n_sides;
    e->measures = dp_mem_zalloc((e->count + 1) * sizeof *e->measures);
    if (!e->measures)
        return DP_E_NOMEM;
    for (size_t k = 0; k < e->count; k++) {
        struct dp_export_measure *m = &e->measures[k];
        m->metric = &p->job->metrics[k];
        m->column = k * s->n_sides + how->side;
        m->is_time = dp_metric_is_time(how->stacks.columns[m->column].metric)
                     && strcmp(m->metric->unit, "s") == 0;
        m->is_bytes = strcmp(m->metric->unit, "bytes") == 0;
        m->hz = s->hz[m->column];
        m->per = m->is_time ? 1000000000 : 1;
        m->factor = p->factor[m->column];
    }
    return 0;
}

void dp_export_release(struct dp_export *e)
{
    dp_mem_free(e->measures);
    dp_mem_free(e->open);
    memset(e, 0, sizeof *e);
}

uint64_t dp_export_value(struct dp_export_measure *m, uint64_t ticks)
{
    uint64_t now = m->printed;
    m->seen = ticks < DP_LIMIT_COUNT - m->seen ? m->seen + ticks : DP_LIMIT_COUNT;
    if (m->factor < 1 || m->factor > 1)
        now = dp_num_round((double)m->seen * m->factor * (double)m->per / (double)m->hz);
    else if (!dp_num_scale(m->seen, m->per, m->hz, &now))
        now = DP_LIMIT_COUNT;
    uint64_t value = now > m->printed ? now - m->printed : 0;
    m->printed += value;
    return value;
}

uint64_t dp_export_self(struct dp_export *e, size_t measure, uint32_t frame)
{
    struct dp_export_measure *m = &e->measures[measure];
    return dp_export_value(m, dp_stacks_self(e->p->s, frame, m->column));
}

/* Leaves the frames that this one is not below. */
static void leave_frames(struct dp_export *e)
{
    const struct dp_stacks *s = e->p->s;
    while (e->n_open && s->frames[e->open[e->n_open - 1]].end <= e->frame) {
        unsigned char kind = s->names[s->frames[e->open[--e->n_open]].name].kind;
        if (kind == DP_KIND_PART)
            e->part = NULL;
        else if (kind == DP_KIND_PHASE)
            e->phase.len = 0;
        else
            e->level--;
    }
}

struct dp_name dp_export_bare(const struct dp_name *label)
{
    bool has = label->len > 2 && label->ptr[0] == '(' && label->ptr[label->len - 1] == ')';
    return has ? (struct dp_name){ label->ptr + 1, label->len - 2 } : *label;
}

const struct dp_export_part *dp_export_part_of(const struct dp_export *e, uint32_t lane)
{
    const struct dp_stacks *s = e->p->s;
    const struct dp_export_how *how = e->p->job->export;
    uint32_t n = s->frames[lane].name;
    return n >= s->n_names && n - s->n_names < how->n_parts ? &how->parts[n - s->n_names] : NULL;
}

int dp_export_next(struct dp_export *e)
{
    const struct dp_stacks *s = e->p->s;
    e->frame += e->begun;
    if (e->frame >= e->end)
        return 0;
    leave_frames(e);
    if (dp_mem_grow((void **)&e->open, &e->open_cap, e->n_open + 1, sizeof *e->open) < 0)
        return DP_E_NOMEM;
    e->open[e->n_open++] = e->frame;
    uint32_t n = s->frames[e->frame].name;
    const struct dp_stacks_name *name = &s->names[n];
    e->is_frame = name->kind != DP_KIND_PART && name->kind != DP_KIND_PHASE;
    e->level += e->is_frame && e->begun;
    if (name->kind == DP_KIND_PART)
        e->part = dp_export_part_of(e, e->frame);
    else if (name->kind == DP_KIND_PHASE)
        e->phase = dp_export_bare(&name->text);
    e->begun = true;
    return 1;
}

void dp_export_walk(struct dp_export *e, uint32_t frame)
{
    e->frame = frame;
    e->end = e->p->s->frames[frame].end;
    e->begun = false;
    e->level = e->n_open = 0;
    e->part = NULL;
    e->phase.len = 0;
    for (size_t k = 0; k < e->count; k++)
        e->measures[k].seen = e->measures[k].printed = 0;
}

bool dp_export_lane(const struct dp_export *e, uint32_t *frame)
{
    const struct dp_stacks *s = e->p->s;
    const struct dp_export_how *how = e->p->job->export;
    if (!how->stacks.by_part)
        return ++*frame == 0;
    uint32_t next = *frame == DP_STACKS_NONE ? 1 : s->frames[*frame].end;
    while (next < s->count
           && s->sources[s->frames[next].name - s->n_names].side != how->side)
        next = s->frames[next].end;
    *frame = next;
    return next < s->count;
}

void dp_export_word(struct dp_buf *to, const struct dp_export_measure *m)
{
    const char *key = strcmp(m->metric->key, "real") == 0 ? "wall" : m->metric->key;
    if (!*key || dp_is_digit(*key))
        dp_buf_addc(to, '_');
    for (; *key; key++) {
        bool taken = dp_is_letter(*key) || dp_is_digit(*key);
        dp_buf_addc(to, dp_is_upper(*key) ? (char)(*key | 0x20) : taken ? *key : '_');
    }
}

const char *dp_export_unit(const struct dp_export_measure *m)
{
    return m->is_time ? "nanoseconds" : m->is_bytes ? "bytes" : "count";
}
