/* Markers of a thread of the Firefox Profiler: stretches of time with a name beside the stacks. */
#include "dp_firefox.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_table.h"

/* A phase of the program, or a span. */
struct dp_firefox_marker {
    uint32_t name;
    uint64_t start, end;        /* nanoseconds on the time axis */
};

static int add_marker(struct dp_firefox *x, uint32_t frame, uint64_t start, uint64_t end)
{
    if (dp_mem_grow((void **)&x->markers, &x->markers_cap, x->n_markers + 1,
                    sizeof *x->markers) < 0)
        return DP_E_NOMEM;
    x->markers[x->n_markers++] =
        (struct dp_firefox_marker){ x->e.p->s->frames[frame].name, start, end };
    return 0;
}

/* ---- phases ---- */

/* The phase of the program at f or, if f is a frame next to phases, the next one; else the end. */
static uint32_t phase_from(const struct dp_firefox *x, uint32_t f)
{
    const struct dp_stacks *s = x->e.p->s;
    uint32_t end = s->frames[x->lane].end;
    while (f < end && s->names[s->frames[f].name].kind != DP_KIND_PHASE)
        f = s->frames[f].end;
    return f;
}

/* The start of a phase found by phase_from. A phase ends where the next one begins. */
static uint64_t phase_start(const struct dp_firefox *x, uint32_t f)
{
    const struct dp_stacks *s = x->e.p->s;
    uint64_t ticks = 0;
    if (f < s->frames[x->lane].end)
        return x->offset + dp_firefox_ns(x, s->start[f]);
    for (uint32_t k = x->lane; k < f; k++)
        ticks += dp_stacks_self(s, k, 0);
    return x->offset + dp_firefox_ns(x, ticks);
}

static int find_phases(struct dp_firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    const uint32_t end = s->frames[x->lane].end;
    int rc = 0;
    for (uint32_t f = phase_from(x, x->lane + 1), next; f < end && rc == 0; f = next) {
        next = phase_from(x, s->frames[f].end);
        rc = add_marker(x, f, phase_start(x, f), phase_start(x, next));
    }
    return rc;
}

/* ---- spans ---- */

static int find_spans(struct dp_firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    int rc = 0;
    for (uint32_t f = x->lane; f < s->frames[x->lane].end && rc == 0; f++) {
        uint64_t ticks = s->start[f];
        if (s->names[s->frames[f].name].kind != DP_KIND_SPAN)
            continue;
        for (uint32_t k = f; k < s->frames[f].end; k++)
            ticks += dp_stacks_self(s, k, 0);
        rc = add_marker(x, f, x->offset + dp_firefox_ns(x, s->start[f]),
                        x->offset + dp_firefox_ns(x, ticks));
    }
    return rc;
}

/* ---- the table ---- */

static const struct dp_stacks_name *name_of(const struct dp_firefox *x, size_t k)
{
    return &x->e.p->s->names[x->markers[k].name];
}

static void put_name(struct dp_firefox *x, size_t k)
{
    const struct dp_stacks_name *name = name_of(x, k);
    struct dp_name text = name->kind == DP_KIND_PHASE ? dp_export_bare(&name->text) : name->text;
    dp_firefox_text(x, text.ptr, text.len);
}

static void put_start(struct dp_firefox *x, size_t k) { dp_firefox_ms(x, x->markers[k].start); }

static void put_end(struct dp_firefox *x, size_t k) { dp_firefox_ms(x, x->markers[k].end); }

static void put_data(struct dp_firefox *x, size_t k)
{
    const struct dp_stacks_name *name = name_of(x, k);
    struct dp_name kind = dp_stacks_span(&name->text, name->kind);
    if (name->kind == DP_KIND_PHASE) {
        dp_firefox_word(x, "{\"type\":\"phase\"}");
        return;
    }
    dp_firefox_word(x, "{\"type\":\"span\",\"kind\":");
    dp_json_string(&x->json.line, kind.ptr, kind.len);
    dp_buf_addc(&x->json.line, '}');
}

int dp_firefox_markers(struct dp_firefox *x)
{
    static const struct dp_firefox_values columns[] = {
        { "name", put_name }, { "startTime", put_start }, { "endTime", put_end },
        { "phase", .same = "1" },       /* markers have a beginning and an end */
        { "category", .same = "0" }, { "data", put_data },
    };
    x->n_markers = 0;
    int rc = x->in_time ? find_phases(x) : 0;
    rc = rc == 0 && x->in_time ? find_spans(x) : rc;
    if (rc < 0)
        return rc;
    dp_jsonout_key(&x->json, "markers");
    dp_jsonout_open(&x->json, '{');
    dp_firefox_columns(x, columns, DP_ARRAY_LEN(columns), x->n_markers);
    dp_jsonout_number(&x->json, "length", x->n_markers);
    dp_jsonout_close(&x->json, '}');
    return 0;
}
