/* The cost of the hooks' own readings of the clock, which the program's time includes.
 *
 * A reading takes 5 to 40 ns by itself, but the processor does other work beside it: between two
 * readings in a row there are 10 ns on an EPYC, and among the instructions of a program a reading
 * adds 1 ns to a gap. The cost depends on the processor and on the instructions. So it is measured
 * on the machine that records, in the code that records: a small interpreter, made like perl's (a
 * run loop that calls the function of each op, a stack of values, contexts of subs), runs a small
 * program, once with the recorder's inline code in its hooks and once without. The sum of the gaps
 * less the time of the plain run, over the number of gaps, is the cost of a gap.
 *
 * HACKING ("The clock's own cost") has the other methods that were tried, with figures. */
#include "dpx_calibrate.h"
#include "dp_rec_mark.h"

#include <string.h>

enum { TURNS = 80, ROUNDS = 8, SHAPES = 2, ADDS = 5, STATEMENTS = 5, EVENTS = 2 };
enum { MOST_STATEMENTS = STATEMENTS + SHAPES };
enum { IS_INT = 1, IS_MAGIC = 2, IS_SUB = 4 };

struct value {
    struct op *start;           /* of a sub */
    uint32_t refs, flags;
    int64_t n;
};

struct model;
/* Runs an op. Returns the next one; NULL ends the run. A value with IS_MAGIC would end it, too, but
 * there is none: the test costs time, as perl's does. */
typedef struct op *function(struct model *m);

struct op {
    function *run;
    struct op *next;
    struct value *value;
    uint32_t statement;
};

struct context {
    struct value **stack;
    struct op *statement, *back;
    struct dp_cct_call call;    /* the recorder's part of a context */
    uint64_t depth;
};

struct model {
    struct op *op, *statement;
    struct value **top, *stack[8];
    struct context *context, contexts[2];
    int turns;
    uint64_t ops, temporaries;
    function *enter, *leave;    /* the hooks of calls */
    function *volatile entersub, *volatile leavesub, *volatile nextstate, *volatile unstack;
    struct op program[40];
    size_t length;
    struct value values[MOST_STATEMENTS + 1], sub;
    struct dp_rec rec;
    struct dpx_clock *clock;
};

/* ---- the small interpreter ---- */

/* The model's op that pushes its value. */
static DP_NOINLINE struct op *run_value(struct model *m)
{
    struct value *v = m->op->value;
    if (v->flags & IS_MAGIC)
        return NULL;
    *++m->top = v;
    return m->op->next;
}

/* The model's op that adds two integers. */
static DP_NOINLINE struct op *run_add(struct model *m)
{
    const struct value *right = *m->top--, *left = *m->top;
    struct value *to = m->op->value;
    if (!(left->flags & right->flags & IS_INT) || (to->flags & IS_MAGIC))
        return NULL;
    to->n = (left->n + right->n) & 1023;
    *m->top = to;
    return m->op->next;
}

/* The model's op that assigns a value. */
static DP_NOINLINE struct op *run_assign(struct model *m)
{
    struct value *to = *m->top--;
    const struct value *from = *m->top--;
    if ((from->flags | to->flags) & IS_MAGIC)
        return NULL;
    to->n = from->n;
    to->flags = from->flags;
    return m->op->next;
}

static DP_NOINLINE struct op *run_nextstate(struct model *m)
{
    m->statement = m->op;
    m->top = m->context->stack;
    return m->temporaries ? NULL : m->op->next;
}

static DP_NOINLINE struct op *run_unstack(struct model *m)
{
    m->top = m->stack;
    return m->temporaries || --m->turns == 0 ? NULL : m->op->next;
}

/* The model's call of a sub: reads and writes about as much memory as perl's. Returns the first op
 * of the sub, or NULL if it is none. */
static DP_NOINLINE struct op *run_entersub(struct model *m)
{
    struct value *sub = *m->top--;
    if (!(sub->flags & IS_SUB))
        return NULL;
    struct context *c = ++m->context;
    c->stack = m->top;
    c->statement = m->statement;
    c->back = m->op->next;
    c->depth++;
    sub->refs++;
    return sub->start;
}

/* The model's op that returns from a sub. */
static DP_NOINLINE struct op *run_leavesub(struct model *m)
{
    struct value *result = *m->top;
    struct context *c = m->context--;
    if (result->flags & IS_MAGIC)
        return NULL;
    m->top = c->stack;
    *++m->top = result;
    m->statement = c->statement;
    return c->back;
}

static DP_NOINLINE void run_model(struct model *m)
{
    m->op = m->program;
    while ((m->op = m->op->run(m)) != NULL)
        m->ops++;
}

/* ---- the hooks ---- */

/* Does the work of a hook after a call, for the model of a program that is calibrated: reads the
 * clock, and notes the stamp. */
DP_INLINE void leave_hook(struct model *m, const int way, const bool is_counter)
{
    uint64_t now = dpx_stamp(m->clock, is_counter);
    if (is_counter && (way & DP_REC_LINES))
        dp_rec_leave(&m->rec, now);
    else
        m->rec.marks.left = now;
}

#define CALL_HOOKS(name, way, is_counter) \
    static DP_NOINLINE struct op *enter_##name(struct model *m) \
    { \
        struct op *next = m->entersub(m); \
        uint64_t now = dpx_stamp(m->clock, is_counter); \
        dp_rec_mark(&m->rec, DP_RAW_ENTER, 1, &m->context->call, now, way); \
        leave_hook(m, way, is_counter); \
        return next; \
    } \
    static DP_NOINLINE struct op *leave_##name(struct model *m) \
    { \
        struct context *c = m->context; \
        struct op *next = m->leavesub(m); \
        uint64_t now = dpx_stamp(m->clock, is_counter); \
        dp_rec_mark(&m->rec, DP_RAW_LEAVE, 1, &c->call, now, way); \
        leave_hook(m, way, is_counter); \
        return next; \
    }
CALL_HOOKS(tree, DP_REC_TREE, true)
CALL_HOOKS(lines, DP_REC_TREE | DP_REC_LINES, true)
CALL_HOOKS(slow, DP_REC_TREE, false)

/* The model's op of a statement with the recorder's hook in front of it. */
static DP_NOINLINE struct op *begin_statement(struct model *m)
{
    struct dp_stmt *line = m->rec.how.lines->at[m->op->statement];
    uint64_t now = dpx_counter();
    if (!dp_rec_statement(&m->rec, line, now, m->ops, DP_REC_TREE | DP_REC_LINES))
        return NULL;
    dp_rec_leave_statement(&m->rec, now);
    return m->nextstate(m);
}

/* The model's op at the end of a turn of the loop, with the recorder's hook behind it. */
static DP_NOINLINE struct op *end_turn(struct model *m)
{
    struct op *next = m->unstack(m);
    uint64_t now = dpx_counter();
    if (!dp_rec_charge_line(&m->rec, now, m->ops, DP_REC_TREE | DP_REC_LINES))
        return NULL;
    m->rec.marks.line = m->rec.how.lines->at[0];
    dp_rec_leave_statement(&m->rec, now);
    return next;
}

/* ---- the small programs ----
 *
 * Each comes in two shapes, so that a branch which the processor keeps predicting wrongly in one of
 * them spoils only that. */

/* Appends an op to the model's program. */
static struct op *add_op(struct model *m, function *run, struct value *value, size_t statement)
{
    struct op *op = &m->program[m->length++];
    *op = (struct op){ run, op + 1, value, (uint32_t)statement };
    return op;
}

/* Makes the ops of a program for calibration: $b = f($a) in a loop; sub f { $_[0] + $c + $c ... },
 * which takes some 60 ns: in gaps of fewer ops a reading adds more, in longer ones less. */
static void make_calls(struct model *m, size_t shape, function *enter, function *leave)
{
    m->length = 0;
    add_op(m, run_value, &m->values[0], 0);
    add_op(m, run_value, &m->sub, 0);
    add_op(m, enter, NULL, 0);
    add_op(m, run_value, &m->values[1], 0);
    add_op(m, run_assign, NULL, 0);
    add_op(m, run_unstack, NULL, 0)->next = m->program;
    m->sub.start = add_op(m, run_value, &m->values[0], 0);
    for (size_t i = 0; i < ADDS + shape; i++) {
        add_op(m, run_value, &m->values[2], 0);
        add_op(m, run_add, &m->values[3], 0);
    }
    add_op(m, leave, NULL, 0);
}

/* Makes the model of a loop of simple statements: $b = $a; $c = $b; ... */
static void make_statements(struct model *m, size_t shape, function *begin, function *end)
{
    m->length = 0;
    for (size_t i = 0; i < STATEMENTS + shape; i++) {
        add_op(m, begin, NULL, i);
        add_op(m, run_value, &m->values[i], 0);
        add_op(m, run_value, &m->values[i + 1], 0);
        add_op(m, run_assign, NULL, 0);
    }
    add_op(m, end, NULL, 0)->next = m->program;
}

/* ---- measuring ---- */

/* Runs the model's program, and returns how long that took, in stamps of the clock. */
static uint64_t time_of(struct model *m)
{
    bool is_counter = m->clock->kind == DPX_CLOCK_COUNTER;
    m->turns = TURNS;
    m->context = m->contexts;
    m->top = m->contexts[0].stack = m->stack;
    m->rec.marks.program = 0;
    uint64_t began = m->rec.marks.left = dpx_stamp(m->clock, is_counter);
    run_model(m);
    return dpx_stamp(m->clock, is_counter) - began;
}

/* The lower quartile of n values, which this sorts. An interrupt spoils the round that it hits, and
 * may leave the processor in a state in which the rounds behind it cost more. */
static double lower_quartile(double *values, size_t n)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && values[k - 1] > values[k]; k--) {
            double v = values[k];
            values[k] = values[k - 1];
            values[k - 1] = v;
        }
    return values[n / 4];
}

/* Stamps a gap in one round of the program: without hooks, and with them. */
struct round { double plain, hooked; };

/* Measures how long an event takes in a program of calls, without hooks and as the hooks see it. */
static struct round calls_round(struct model *m, size_t shape)
{
    struct round r;
    make_calls(m, shape, run_entersub, run_leavesub);
    r.plain = (double)time_of(m) / (EVENTS * TURNS);
    make_calls(m, shape, m->enter, m->leave);
    time_of(m);
    r.hooked = (double)m->rec.marks.program / (EVENTS * TURNS);
    return r;
}

/* Measures how long a statement takes, without hooks and as the hooks see it. */
static struct round statements_round(struct model *m, size_t shape)
{
    struct round r;
    double gaps = (double)((STATEMENTS + shape + 1) * TURNS);
    make_statements(m, shape, run_nextstate, run_unstack);
    r.plain = (double)time_of(m) / gaps;
    make_statements(m, shape, begin_statement, end_turn);
    time_of(m);
    r.hooked = (double)m->rec.marks.program / gaps;
    return r;
}

/* Returns the cost in whole stamps. A disturbance spoils one side of a round, so each side has its
 * own quartile. */
static uint64_t least_cost(struct model *m, struct round (*take)(struct model *m, size_t shape))
{
    double best = 0;
    for (size_t shape = 0; shape < SHAPES; shape++) {
        double plain[ROUNDS], hooked[ROUNDS];
        for (size_t i = 0; i < ROUNDS; i++) {
            struct round r = take(m, shape);
            plain[i] = r.plain;
            hooked[i] = r.hooked;
        }
        double cost = lower_quartile(hooked, ROUNDS) - lower_quartile(plain, ROUNDS);
        if (shape == 0 || cost < best)
            best = cost;
    }
    return best > 0 ? (uint64_t)(best + 0.5) : 0;
}

/* Room for structures that end in an array of counters, which is empty here. */
union node { struct dp_cct_node node; dp_any_word words[sizeof(struct dp_cct_node) / 8 + 1]; };
union stmt { struct dp_stmt stmt; dp_any_word words[sizeof(struct dp_stmt) / 8 + 1]; };

struct dpx_cost dpx_calibrate(struct dpx_clock *clock)
{
    static struct model m;      /* 20 KB, too much for the stack of some threads or coroutines */
    struct dpx_cost cost = { 0, 0, 0 };
    union node root, child;
    struct dp_cct_histogram spans;
    union stmt statements[MOST_STATEMENTS];
    struct dp_stmt *at[MOST_STATEMENTS];
    struct dp_lines lines;
    memset(&m, 0, sizeof m);
    m.entersub = run_entersub;
    m.leavesub = run_leavesub;
    m.nextstate = run_nextstate;
    m.unstack = run_unstack;
    m.clock = clock;
    memset(&root, 0, sizeof root);
    memset(&child, 0, sizeof child);
    memset(&spans, 0, sizeof spans);
    memset(statements, 0, sizeof statements);
    memset(&lines, 0, sizeof lines);
    for (size_t i = 0; i < MOST_STATEMENTS; i++)
        at[i] = &statements[i].stmt;
    for (size_t i = 0; i <= MOST_STATEMENTS; i++)
        m.values[i].flags = IS_INT;
    m.sub.flags = IS_SUB;
    child.node.id = 1;
    child.node.histogram = &spans;
    root.node.last = &child.node;
    lines.at = at;
    lines.n = MOST_STATEMENTS;
    m.rec.how.lines = &lines;
    m.rec.marks.cur = &root.node;
    m.rec.marks.line = at[0];
    m.rec.marks.ops = &m.ops;
    m.rec.marks.deadline = m.rec.marks.long_gap = UINT64_MAX;
    m.enter = clock->reads_once ? enter_lines : enter_tree;
    m.leave = clock->reads_once ? leave_lines : leave_tree;
    if (clock->kind != DPX_CLOCK_COUNTER) {
        m.enter = enter_slow;
        m.leave = leave_slow;
    }
    cost.call = least_cost(&m, calls_round);
    if (clock->reads_once)
        cost.statement = least_cost(&m, statements_round);
    return cost;
}
