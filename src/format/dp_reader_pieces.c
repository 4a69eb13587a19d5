#include "dp_reader_pieces.h"
#include "dp_reader_tree.h"
#include "dp_mem.h"
#include "dp_apportion.h"
#include "dprof/lines.h"

#include <string.h>

struct left {
    struct dp_reader *r;
    const struct dp_pieces *p;
    double f;                   /* ticks per stamp */
    bool late;                  /* there are marks or contexts of ids younger than the names */
    uint32_t nameless;          /* the sub of all other ids without a name */
    bool has_nameless;
    struct dp_text *sites;      /* by number - 1 */
    size_t site_count;
    int damage;                 /* the first error that does not stop the reader */
    /* stamps as ticks: the sum, and the part handed out so far */
    double real, cpu, sys;
    uint64_t done_real, done_cpu, done_sys;
    uint64_t counted[DP_FMT_COUNTERS];  /* sums over contexts */
};

/* Notes an error of syntax as damage that does not stop the reader. Returns 0, or rc if it is
 * another error, which ends the reading. */
static int note_damage(struct left *l, int rc)
{
    if (rc != DP_E_SYNTAX)
        return rc;
    if (!l->damage)
        l->damage = rc;
    return 0;
}

/* Hands the names of subs to the reader, as if they were lines of the text. Marks and contexts
 * refer to them by their ids. */
static int use_names(struct left *l)
{
    const char *p = l->p->names.ptr, *end = p + l->p->names.len;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl)                        /* an unfinished name */
            break;
        int rc = note_damage(l, dp_reader_name(l->r, p, (size_t)(nl - p)));
        if (rc < 0)
            return rc;
        p = nl + 1;
    }
    return 0;
}

/* Finds the sub of an id, or a phase if that is allowed. Returns 1 if the sub is known, or
 * nameless; 0 if the id is younger than the names. */
static int sub_of(struct left *l, uint64_t id, bool phase, uint32_t *sub)
{
    struct dp_reader *r = l->r;
    bool found = dp_reader_find(r, id, sub);
    if (found && (phase || !dp_reader_is_phase(r, id)))
        return 1;
    if (id > r->ids.max) {
        l->late = true;
        return 0;
    }
    if (!l->has_nameless) {
        struct dp_subdef def;
        memset(&def, 0, sizeof def);
        def.package = def.file = def.autoload = def.in = (struct dp_text){ "", 0 };
        def.name = (struct dp_text){ DP_FMT_NAMELESS, strlen(DP_FMT_NAMELESS) };
        int64_t n = r->to->sub(r->to->ctx, &def);
        if (n < 0)
            return dp_reader_fail(r, (int)n, 0, "%s", dp_err_text((int)n));
        l->nameless = (uint32_t)n;
        l->has_nameless = true;
    }
    if (!l->damage)
        l->damage = dp_reader_fail(r, DP_E_SYNTAX, 0,
                                   found ? "Bad profile: %llx is a phase, and no sub to be called"
                                         : "Bad profile: the sub %llx has no name",
                                   (unsigned long long)id);
    *sub = l->nameless;
    return 1;
}

/* The whole ticks of a running sum that have not been handed out, at most `most`. Fractions and the
 * rest are left for the next mark, so nothing is lost by rounding. */
static uint64_t due_ticks(double *sum, uint64_t *done, double ticks, uint64_t most)
{
    if (*sum + ticks < (double)DP_LIMIT_INTERVAL)
        *sum += ticks;
    uint64_t now = (uint64_t)*sum;
    uint64_t d = now > *done ? now - *done : 0;
    if (d > most)
        d = most;
    *done += d;
    return d;
}

/* Converts stamps of the recorder's clock into ticks of the file, t[]. wait: stamps without the
 * CPU; sys: stamps in the kernel. */
static void convert_stamps(struct left *l, double real, double wait, double sys,
                           uint64_t t[DP_METRICS])
{
    if (wait > real)
        wait = real;
    t[DP_REAL] = due_ticks(&l->real, &l->done_real, real * l->f, UINT64_MAX);
    uint64_t cpu = due_ticks(&l->cpu, &l->done_cpu, (real - wait) * l->f, t[DP_REAL]);
    t[DP_SYSTEM] = due_ticks(&l->sys, &l->done_sys, sys * l->f, cpu);
    t[DP_USER] = cpu - t[DP_SYSTEM];
}

/* Does a mark count in $total_marks? */
static bool is_mark(uint64_t word)
{
    return (uint32_t)word >> DP_PIECE_ID_BITS < DP_RAW_NOTES;
}

/* Hands the event of a mark to the reader. The mark's word has a kind and the id of a sub, or a
 * number for SUSPEND and RESUME. Returns 0; 1 if the id is younger than the names, so the rest
 * cannot be used; or a negative DP_E. */
static int take_mark(struct left *l, uint64_t word)
{
#define OP(name, line) DP_OP_##name,
    static const int ops[] = { DP_RAW_EACH_CALL(OP) DP_RAW_EACH_NOTE(OP) };
#undef OP
    struct dp_reader *r = l->r;
    unsigned kind = (uint32_t)word >> DP_PIECE_ID_BITS;
    uint32_t sub = DP_SUB_NONE;
    uint64_t id = word & ((UINT32_C(1) << DP_PIECE_ID_BITS) - 1);
    switch (kind) {
    case DP_RAW_ENTER:
    case DP_RAW_GOTO:
    case DP_RAW_PHASE: {
        int rc = sub_of(l, id, kind == DP_RAW_PHASE, &sub);
        if (rc <= 0)
            return rc < 0 ? rc : 1;
        break;
    }
    case DP_RAW_LEAVE:
    case DP_RAW_UNWIND:
        dp_reader_find(r, id, &sub);
        break;
    case DP_RAW_SUSPEND:
    case DP_RAW_RESUME:
        sub = (uint32_t)id;
        break;
    default:
        return note_damage(l, dp_reader_fail(r, DP_E_SYNTAX, 0, "Bad profile: a mark of kind %u",
                                             kind));
    }
    r->info->marks += is_mark(word);
    dp_reader_event(r, ops[kind], sub, r->in.base + r->in.pos);
    return r->n_events == DP_READER_BATCH ? dp_reader_flush(r) : 0;
}

/* Limits a count from a damaged file, so that sums of counts cannot overflow. */
static uint64_t bound_count(uint64_t n)
{
    return n < DP_LIMIT_COUNT ? n : DP_LIMIT_COUNT - 1;
}

static uint64_t count_at(const char *p)
{
    return bound_count(dp_pieces_word(p));
}

/* The number of marks that are in the text already, and must not be used again. If the process was
 * killed after it had written them to the text, the state does not count them yet. */
static uint64_t marks_in_text(const struct left *l)
{
    uint64_t before = l->p->state[DP_PIECE_S_MARKS], in_text = l->r->info->marks;
    return in_text > before ? in_text - before : 0;
}

/* Hands over the marks that were in memory when the process ended, each with the time since the
 * mark before. Marks with the times that the text has already are skipped. */
static int use_marks(struct left *l)
{
    struct dp_reader *r = l->r;
    uint64_t done = marks_in_text(l), t[DP_METRICS];
    const char *p = l->p->marks.ptr, *end = p + l->p->marks.len;
    /* of the short gaps up to the next reading of the CPU clock */
    double sum = 0, wait = 0;
    size_t counts = dp_pieces_counts(l->p);
    int rc = 0;
    /* Time whose mark is not in the text comes again here, or is in the state. */
    for (int m = 0; m < DP_METRICS; m++) {
        uint64_t pending = l->p->state[DP_PIECE_S_USER + m];
        r->t[m] = !done && pending < DP_LIMIT_INTERVAL ? pending : 0;
    }
    for (size_t k = 0; k < r->n_counts; k++)
        r->c[k] = !done && k < counts ? bound_count(l->p->state[DP_PIECE_S_PENDING + k]) : 0;
    while (p < end && rc == 0) {
        uint64_t word = dp_pieces_word(p);
        double gap = (double)(word >> 32);
        bool cpu = (uint32_t)word >> DP_PIECE_ID_BITS == DP_RAW_CPU;
        if (cpu) {
            sum = (double)dp_pieces_word(p + 8 * DP_PIECE_SHORT_SUM);
            wait = (double)dp_pieces_word(p + 8 * DP_PIECE_SHORT_WAIT);
            convert_stamps(l, (double)dp_pieces_word(p + 8 * DP_PIECE_LONG_GAP),
                           (double)dp_pieces_word(p + 8 * DP_PIECE_LONG_WAIT), 0, t);
        } else {
            convert_stamps(l, gap, sum > 0 ? wait * (gap / sum) : 0, 0, t);
        }
        for (int m = 0; m < DP_METRICS; m++)
            if (r->t[m] + t[m] < DP_LIMIT_INTERVAL)
                r->t[m] += t[m];
        p += cpu ? 8 * DP_PIECE_CPU_WORDS : 8;
        for (size_t k = 0; k < r->n_counts && k < counts; k++)
            r->c[k] = bound_count(r->c[k] + count_at(p + 8 * k));
        p += 8 * counts;
        if (!cpu && done) {
            memset(r->t, 0, sizeof r->t);
            memset(r->c, 0, sizeof r->c);
            done -= is_mark(word);
        } else if (!cpu) {
            rc = take_mark(l, word);
        }
    }
    if (rc > 0) {
        rc = 0;
        memset(r->t, 0, sizeof r->t);
        memset(r->c, 0, sizeof r->c);
    }
    return rc < 0 ? rc : dp_reader_flush(r);
}

/* Converts stamps to ticks, for the longest and shortest call. An impossible value becomes 0. */
static uint64_t stamps_to_ticks(const struct left *l, const char *p)
{
    double ticks = (double)dp_pieces_word(p) * l->f;
    return ticks < (double)DP_LIMIT_INTERVAL ? (uint64_t)ticks : 0;
}

/* Hands over a node. of[number - 1]: the consumer's number of a node, or UINT32_MAX. If the process
 * is running, nodes that it made during the reading may be missing. */
static int use_node(struct left *l, const char *p, uint32_t *of)
{
    struct dp_reader *r = l->r;
    uint32_t number = dp_pieces_half(p + DP_PIECE_N_NUMBER),
             parent = dp_pieces_half(p + DP_PIECE_N_PARENT);
    uint64_t counters[DP_FMT_COUNTERS] = { 0 };
    struct dp_context c;
    memset(&c, 0, sizeof c);
    c.sub = DP_SUB_NONE;
    c.at.ptr = "";
    if (number > DP_LIMIT_NODES || (number > 1 && (parent == 0 || parent >= number)))
        return note_damage(l, dp_reader_fail(r, DP_E_SYNTAX, 0,
                                             "Bad profile: the context %lu, in %lu",
                                             (unsigned long)number, (unsigned long)parent));
    if (number > 1) {
        int rc = sub_of(l, dp_pieces_half(p + DP_PIECE_N_ID), parent == 1, &c.sub);
        if (rc < 0)
            return rc;
        c.parent = of[parent - 1];
        l->late = l->late || c.parent == UINT32_MAX;
        if (rc == 0 || c.parent == UINT32_MAX)
            return 0;
    }
    uint32_t site = dp_pieces_half(p + DP_PIECE_N_SITE);
    if (number > 1 && site && site <= l->site_count)
        c.at = l->sites[site - 1];
    size_t n_counters = 0;
    if (l->p->state[DP_PIECE_S_OPS])
        counters[n_counters++] = count_at(p + DP_PIECE_N_OPS);
    for (size_t k = 0; k < dp_pieces_counts(l->p) && n_counters < DP_FMT_COUNTERS; k++)
        counters[n_counters++] = count_at(p + DP_PIECE_N_COUNTS + 8 * k);
    c.counters = counters;
    c.calls = count_at(p + DP_PIECE_N_CALLS);
    c.folded = count_at(p + DP_PIECE_N_FOLDED);
    if (c.calls) {          /* without calls, the calls that ended had begun elsewhere */
        c.longest = stamps_to_ticks(l, p + DP_PIECE_N_LONGEST);
        c.shortest = stamps_to_ticks(l, p + DP_PIECE_N_SHORTEST);
    }
    convert_stamps(l, (double)dp_pieces_word(p + DP_PIECE_N_REAL),
                   (double)dp_pieces_word(p + DP_PIECE_N_WAIT),
                   (double)dp_pieces_word(p + DP_PIECE_N_SYS), c.t);
    int64_t n = dp_reader_context(r, &c);
    if (n < 0)
        return (int)n;
    of[number - 1] = (uint32_t)n;
    for (size_t k = 0; k < n_counters; k++)
        l->counted[k] += counters[k];
    return 0;
}

/* The statements to hand over. */
struct taken {
    struct dp_linedef *defs;
    struct dp_apportion *times;
    uint64_t *counters;
    size_t n, n_counters;
};

/* Adds a statement of the pieces, at p, to *to. A statement is left out if its sub is younger than
 * the names or, where statements have no times, if its line is unknown. */
static int take_line(struct left *l, const char *p, bool times, struct taken *to)
{
    struct dp_linedef *def = &to->defs[to->n];
    memset(def, 0, sizeof *def);
    def->sub = DP_SUB_NONE;
    def->later = dp_pieces_half(p + DP_PIECE_L_LATER);
    def->count = count_at(p + DP_PIECE_L_COUNT);
    uint32_t id = dp_pieces_half(p + DP_PIECE_L_SUB), site = dp_pieces_half(p + DP_PIECE_L_SITE);
    int rc = id ? sub_of(l, id, false, &def->sub) : 1;
    if (rc <= 0)
        return rc;
    if (site && site <= l->site_count)
        def->at = l->sites[site - 1];
    if (!times && def->at.len == 0)
        return 0;
    if (times) {
        uint64_t *counters = to->counters + to->n * to->n_counters;
        double *stamps = to->times[to->n].stamps;
        double real = (double)dp_pieces_word(p + DP_PIECE_L_REAL),
               wait = (double)dp_pieces_word(p + DP_PIECE_L_WAIT);
        size_t ops = l->p->state[DP_PIECE_S_OPS] != 0;
        if (ops)
            counters[0] = count_at(p + DP_PIECE_L_OPS);
        for (size_t k = ops; k < to->n_counters; k++)
            counters[k] = count_at(p + DP_PIECE_L_COUNTS + 8 * (k - ops));
        stamps[DP_APPORTION_REAL] = real;
        stamps[DP_APPORTION_CPU] = wait < real ? real - wait : 0;
        stamps[DP_APPORTION_SYS] = (double)dp_pieces_word(p + DP_PIECE_L_SYS);
        def->has_times = true;
        def->counters = counters;
        def->n_counters = to->n_counters;
    }
    to->n++;
    return 0;
}

/* Adjusts a counter of the statements to its sum over contexts. Contexts get the count of a
 * statement later than the statement itself, so statements may have a few too many. These are
 * subtracted from the statement with the most. */
static void level_counter(struct taken *to, size_t k, uint64_t want)
{
    uint64_t have = 0;
    for (size_t i = 0; i < to->n; i++)
        have += to->counters[i * to->n_counters + k];
    while (to->n && have != want) {
        uint64_t *most = to->counters + k;
        for (size_t i = 1; i < to->n; i++)
            if (to->counters[i * to->n_counters + k] > *most)
                most = to->counters + i * to->n_counters + k;
        uint64_t less = have > want && have - want > *most ? *most : have - want;
        *most -= less;
        have -= less;
    }
}

/* Hands the statements to the consumer, after the contexts: their times and counters are first
 * adjusted so that they add up to those of the contexts. */
static int give_lines(struct left *l, struct taken *to)
{
    const uint64_t sums[DP_APPORTION_TIMES] = { l->done_real, l->done_cpu, l->done_sys };
    int rc = 0;
    dp_apportion(to->times, to->n, l->f, sums);
    for (size_t k = 0; k < to->n_counters; k++)
        level_counter(to, k, l->counted[k]);
    for (size_t i = 0; i < to->n && rc == 0; i++) {
        const uint64_t *t = to->times[i].t;
        to->defs[i].t[DP_REAL] = t[DP_APPORTION_REAL];
        to->defs[i].t[DP_SYSTEM] = t[DP_APPORTION_SYS];
        to->defs[i].t[DP_USER] = t[DP_APPORTION_CPU] - t[DP_APPORTION_SYS];
        rc = dp_reader_give_line(l->r, &to->defs[i]);
    }
    return rc;
}

/* Hands over the statements of a recording with lines. Their times, if recorded, are apportioned so
 * that they add up to those of the contexts; so this runs after the contexts. */
static int use_lines(struct left *l)
{
    const char *how = dp_header_get(l->r->head, "dprof_lines");
    size_t counts = dp_pieces_counts(l->p), size = DP_PIECE_L_SIZE(counts);
    size_t n = l->p->lines.len / size;
    bool times = !how || strcmp(how, dp_lines_word(DP_LINES_COUNTS)) != 0;
    if (!n)
        return 0;
    struct taken to = { .n_counters = counts + (l->p->state[DP_PIECE_S_OPS] != 0) };
    if (to.n_counters > DP_FMT_COUNTERS)
        to.n_counters = DP_FMT_COUNTERS;
    to.defs = dp_mem_realloc(NULL, n, sizeof *to.defs);
    to.times = dp_mem_realloc(NULL, n, sizeof *to.times);
    to.counters = dp_mem_realloc(NULL, n * (to.n_counters + 1), sizeof *to.counters);
    int rc = to.defs && to.times && to.counters ? 0 : DP_E_NOMEM;
    for (size_t i = 0; i < n && rc == 0; i++)
        rc = take_line(l, l->p->lines.ptr + i * size, times, &to);
    if (!times) {
        for (size_t i = 0; i < to.n && rc == 0; i++)
            rc = dp_reader_give_line(l->r, &to.defs[i]);
    } else if (rc == 0) {
        rc = give_lines(l, &to);
    }
    dp_mem_free(to.defs);
    dp_mem_free(to.times);
    dp_mem_free(to.counters);
    return rc;
}

/* Makes l->sites, the places of calls by number. Returns 0 or DP_E_NOMEM. */
static int find_sites(struct left *l)
{
    const char *p = l->p->sites.ptr, *end = p + l->p->sites.len, *nl;
    size_t cap = 0;
    for (; p < end && (nl = memchr(p, '\n', (size_t)(end - p))); p = nl + 1) {
        if (dp_mem_grow((void **)&l->sites, &cap, l->site_count + 1, sizeof *l->sites) < 0)
            return dp_reader_fail(l->r, DP_E_NOMEM, 0, "%s", dp_err_text(DP_E_NOMEM));
        l->sites[l->site_count++] = (struct dp_text){ p, (size_t)(nl - p) };
    }
    return 0;
}

/* Hands over the tree of contexts, then what refers to its subs: histograms of calls' durations,
 * and statements. If the text had contexts, it has all of this already. */
static int use_nodes(struct left *l)
{
    struct dp_reader *r = l->r;
    const size_t size = DP_PIECE_N_COUNTS + 8 * dp_pieces_counts(l->p);
    size_t nodes = l->p->nodes.len / size;
    uint32_t most = 0;
    int rc = 0;
    if (r->info->contexts || !nodes)    /* the text has the tree already */
        return 0;
    rc = find_sites(l);
    if (rc == 0 && !r->tree.on)
        rc = dp_reader_begin_tree(r);
    for (size_t i = 0; i < nodes; i++) {
        uint32_t number = dp_pieces_half(l->p->nodes.ptr + i * size);
        if (number > most && number <= DP_LIMIT_NODES)
            most = number;
    }
    uint32_t *of = dp_mem_realloc(NULL, (size_t)most + 1, sizeof *of);
    if (!of)
        return dp_reader_fail(r, DP_E_NOMEM, 0, "%s", dp_err_text(DP_E_NOMEM));
    memset(of, 0xff, ((size_t)most + 1) * sizeof *of);
    for (size_t i = 0; i < nodes && rc == 0; i++)
        rc = use_node(l, l->p->nodes.ptr + i * size, of);
    dp_mem_free(of);
    for (size_t at = 0; at < l->p->histograms.len && rc == 0 && r->to->histogram;
         at += DP_PIECE_HISTOGRAM) {
        const char *p = l->p->histograms.ptr + at;
        uint64_t counts[DP_FMT_BUCKETS];
        uint32_t sub;
        if (!dp_reader_find(r, dp_pieces_word(p), &sub))
            continue;
        for (int b = 0; b < DP_FMT_BUCKETS; b++)
            counts[b] = count_at(p + 8 * (b + 1));
        rc = r->to->histogram(r->to->ctx, sub, counts);
    }
    if (rc == 0)
        rc = use_lines(l);
    return rc < 0 ? dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc)) : 0;
}

/* Were the pieces written by the run, process and thread of this profile? */
static bool pieces_belong(const struct dp_reader *r, const struct dp_pieces *p)
{
    const char *run = dp_header_get(r->head, "dprof_run");
    uint64_t n;
    return run && p->has_state && strcmp(run, p->run) == 0
           && (!dp_header_number(r->head, "dprof_pid", &n) || n == p->state[DP_PIECE_S_PID])
           && (!dp_header_number(r->head, "dprof_tid", &n) || n == p->state[DP_PIECE_S_TID]);
}

bool dp_reader_pieces_tree(const struct dp_reader *r, const struct dp_pieces *p)
{
    return pieces_belong(r, p) && p->state[DP_PIECE_S_TREE] && p->nodes.len && !p->err.code;
}

int dp_reader_pieces(struct dp_reader *r, const struct dp_pieces *p)
{
    struct left l = { .r = r, .p = p };
    double rate;
    if (!pieces_belong(r, p)) {
        if (p->err.code == DP_E_TRUNCATED && !p->has_state)
            return dp_reader_fail(r, p->err.code, 0, "%s", p->err.message);
        return 0;
    }
    if (r->tree.on && !p->state[DP_PIECE_S_TREE])
        return 0;   /* the pieces were read before the recording became a tree: the text has all
                     * their marks */
    r->info->pieces = true;
    r->in.pos = r->in.end;                    /* the marks piece repeats an unfinished line */
    r->in.line = 0;                        /* later errors are not in the text */
    memcpy(&rate, &p->state[DP_PIECE_S_RATE], sizeof rate);
    if (!(rate > 1e-9 && rate < 1e9))
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "Bad profile: what the process left has no clock");
    l.f = (double)r->head->hz / 1e9 / rate;
    int rc = use_names(&l);
    if (rc == 0)
        rc = p->state[DP_PIECE_S_TREE] ? use_nodes(&l) : use_marks(&l);
    dp_mem_free(l.sites);
    if (rc < 0)
        return rc;
    if (l.damage)
        return l.damage;
    if (p->err.code)
        return dp_reader_fail(r, p->err.code, 0, "%s", p->err.message);
    return l.late ? dp_reader_fail(
               r, DP_E_TRUNCATED, 0,
               "the recording did not come to its end; some of what it did last is left out")
                  : 0;
}
