/* The costs of each statement.
 *
 * perl runs an op before each statement, nextstate, which is the struct cop with its file and
 * line. In perls of 64 bits from 5.32 on four bytes behind the last field of that struct are
 * padding. The allocator of ops clears them, and nothing else uses them: they hold the statement's
 * number. So a statement is found by one load, and has no number yet if its memory was another's
 * before. Threads share ops, so a number is the same in all interpreters of the process; each has
 * counters of its own.
 *
 * A statement gets its number when it first runs: by file, line, the sub around it, and how many
 * statements follow it on that line. So code that a string eval compiles again and again is the
 * same statement each time.
 *
 * The running statement is rec->marks.line. nextstate charges that one with the costs so far, and
 * sets the next; the first one of a sub is set when the sub is entered.
 *
 * A call keeps the number of the statement that it was made from (struct dp_cct_call) and goes back
 * to it, so that `x(a(), b())` is charged with what passes between the calls. At the end of a
 * loop's turn (unstack) the loop's condition runs, which belongs to the statement of the loop;
 * after an eval or require (leavetry, leaveeval) runs the rest of its statement. Where die has
 * ended an eval, perl begins a new run loop, whose prologue sees that. No op tells of the end of
 * another block, such as do {}: the rest of its statement is charged to the last statement in the
 * block.
 *
 * perl leaves out the nextstate of some statements: dpx_revive.c finds those.
 *
 * The costs of a sub that is not recorded (skip=, only=) are charged to the statement that called
 * it, as its time is to the sub that called it. The time of an XS sub or a builtin is charged to
 * the statement that calls it.
 *
 * What this relies on: struct cop has four bytes of padding behind its last field, which the
 * allocator of ops clears (Makefile.PL looks at cop.h, and DP_CHECK below asks the compiler).
 * Each statement begins with a nextstate or dbstate, a loop's turn ends with unstack, an eval
 * ends with leavetry or leaveeval. A null op keeps its line and loses its file. */
#include "dpx_stmt.h"
#include "dpx_adopt.h"
#include "dpx_name.h"
#include "dpx_revive.h"

#ifdef DPX_COP_SPARE
DP_CHECK(padding, sizeof(COP) >= DPX_STMT_AT + sizeof(U32));
#endif

static Perl_ppaddr_t orig_nextstate, orig_dbstate, orig_unstack, orig_leaveeval, orig_leavetry;

/* The numbers of all interpreters: the n-th text has the number n + 2, as 0 is "none" and 1 is the
 * rest. dpx_run.lock guards them, so that a forked child never inherits them from the middle of
 * another thread's change. */
static struct dp_pool known;

enum { FIRST_NUMBER = DP_LINE_REST + 1, MOST_NUMBERS = 1 << 22 };

const char *dpx_stmt_trouble(void)
{
#ifdef DPX_COP_SPARE
    return NULL;
#else
    return "lines needs a perl of 5.32 or newer with 64 bits, and room in its struct cop";
#endif
}

/* A null op has lost its file, but not its line. */
U32 dpx_stmt_place(pTHX_ struct dpx_ctx *ctx, const COP *cop, const COP *around)
{
    COP at = *around;
    CopLINE_set(&at, CopLINE(cop));
    return dpx_name_site_of(aTHX_ ctx, &at);
}

#ifdef DPX_COP_SPARE

/* Returns the number of statements behind this one on its line. The number distinguishes the
 * statements of a line. */
static U32 count_later(const COP *cop)
{
    U32 n = 0;
    for (const OP *o = (const OP *)cop; OpHAS_SIBLING(o);) {
        o = OpSIBLING(o);
        if (!dpx_stmt_is(o))
            continue;
        if (CopLINE((const COP *)o) != CopLINE(cop))
            break;
        n++;
    }
    return n;
}

/* Finds the id of the sub whose code runs; 0: the code is a file's. Returns false if the sub is not
 * recorded. */
static bool find_sub(pTHX_ const struct dpx_ctx *ctx, U32 *id)
{
    const struct dpx_frame *top = ctx->top;
    *id = 0;
    for (const PERL_SI *si = PL_curstackinfo; si; si = si->si_prev) {
        for (I32 ix = si->si_cxix; ix >= 0; ix--) {
            const PERL_CONTEXT *cx = &si->si_cxstack[ix];
            if (CxTYPE(cx) == CXt_EVAL
                && (CxOLD_OP_TYPE(cx) == OP_REQUIRE || CxOLD_OP_TYPE(cx) == OP_DOFILE))
                return true;
            if (CxTYPE(cx) != CXt_SUB || (CXp_SUB_RE_FAKE && cx->cx_type & CXp_SUB_RE_FAKE))
                continue;
            *id = top->runs;
            return top->si == si && !DPX_KEY_IS_XS(top->key) && DPX_KEY_IX(top->key) == ix;
        }
    }
    return true;
}

static void put_number(COP *cop, U32 number)
{
    __atomic_store_n((U32 *)((char *)cop + DPX_STMT_AT), number, __ATOMIC_RELAXED);
}

/* The number of a place, the same in all interpreters; 0: no memory, or too many places. */
static U32 number_of(struct dpx_ctx *ctx, const struct dp_line_place *place)
{
    struct dp_buf *text = &ctx->names.line;
    dp_buf_clear(text);
    if (place->site) {
        const struct dp_name *at = dp_pool_name(&ctx->names.sites, place->site - 1);
        dp_buf_add(text, at->ptr, at->len);
    }
    dp_buf_addc(text, ' ');
    dp_buf_addu(text, place->later);
    dp_buf_addc(text, ' ');
    if (place->sub) {
        const struct dp_name *sub = dp_pool_name(&ctx->names.lines, place->sub - 1);
        dp_buf_add(text, sub->ptr, sub->len);
    }
    pthread_mutex_lock(&dpx_run.lock);
    uint32_t n = text->err || known.count >= MOST_NUMBERS
                 ? DP_MAP_NONE : dp_pool_intern(&known, text->ptr, text->len);
    pthread_mutex_unlock(&dpx_run.lock);
    return n == DP_MAP_NONE ? 0 : FIRST_NUMBER + n;
}

/* Notes from which path the file of a statement was loaded, so that its digest can be taken. */
static void see_file(struct dpx_ctx *ctx, U32 site, const char *path)
{
    const struct dp_name *at = dp_pool_name(&ctx->names.sites, site - 1);
    struct dp_fmt_place place = dp_fmt_place(at->ptr, at->len);
    if (place.len)
        dp_lines_see(&ctx->statements, place.file, place.len, path);
}


U32 dpx_stmt_sampled(pTHX_ struct dpx_ctx *ctx, COP *cop, const COP *around, U32 sub)
{
    struct dp_line_place place = { 0, sub, 0 };
    U32 number = DPX_STMT_NUMBER(cop);
    if (number && dp_lines_is_known(&ctx->statements, number))
        return number;
    place.site = dpx_stmt_place(aTHX_ ctx, cop, around);
    place.later = count_later(cop);
    if (!place.site)
        return DP_LINE_REST;
    see_file(ctx, place.site, CopFILE(around));
    if (!number)
        number = number_of(ctx, &place);
    if (!number || dp_lines_know(&ctx->statements, number, &place) < 0)
        return DP_LINE_REST;
    put_number(cop, number);
    return number;
}

/* The number of a statement that this interpreter has not seen, as in dpx_stmt_sampled. 0: the
 * statement is not recorded. */
static U32 learn_statement(pTHX_ struct dpx_ctx *ctx, COP *cop)
{
    U32 sub;
    ctx->rec.worked = true;
    const COP *around = cop->op_type == OP_NULL ? PL_curcop : cop;
    return find_sub(aTHX_ ctx, &sub) ? dpx_stmt_sampled(aTHX_ ctx, cop, around, sub) : 0;
}

/* Keeps a statement of a child that has no file yet. Returns whether it is kept; otherwise the
 * recorder must take it in. A child gets a file when it does something that is worth one, since
 * many only exec. While recording is stopped, only the running statement is kept. */
static bool is_early(struct dpx_ctx *ctx, U32 number, U64 now)
{
    struct dpx_child *child = &ctx->child;
    if (ctx->state == DPX_BORN && ctx->rec.paused) {
        ctx->rec.line_before = number;
        return true;
    }
    if (ctx->state != DPX_BORN || child->n_early == DP_ARRAY_LEN(child->early))
        return false;
    /* The recorder moves `left` on by its own time. */
    U64 passed = now > ctx->rec.marks.left ? now - ctx->rec.marks.left : 0;
    U64 before = child->n_early ? child->early[child->n_early - 1].passed : 0;
    child->early[child->n_early++] = (struct dp_rec_early){
        .number = number, .passed = passed > before ? passed : before, .ops = *ctx->rec.marks.ops,
    };
    return true;
}

void dpx_stmt_forked(struct dpx_ctx *ctx)
{
    dp_rec_take_early(&ctx->rec, ctx->child.early, ctx->child.n_early);
    ctx->child.n_early = 0;
}

/* Handles the beginning of statement cop while recording is paused. Returns false if this function
 * has done nothing, and the recorder must take in the statement. While recording is stopped it is
 * enough to keep the running statement: its rest may run when recording goes on. */
static bool is_idle(struct dpx_ctx *ctx, const COP *cop)
{
    U32 number = DPX_STMT_NUMBER(cop);
    if (!ctx->rec.paused || ctx->state != DPX_ON || !dp_lines_is_known(&ctx->statements, number))
        return false;
    ctx->rec.marks.line = dp_lines_get(&ctx->statements, number);
    return true;
}

/* Begins a statement in the slow way: one that this interpreter has not run before, or any while
 * recording is stopped, or one of a sub that is not recorded. */
static void begin_slowly(pTHX_ struct dpx_ctx *ctx, COP *cop, const bool times)
{
    int why = errno;
    U32 sub;
    if (is_idle(ctx, cop))
        return;
    dpx_frame_look(aTHX_ ctx);
    if (!DPX_STMT_NUMBER(cop) && !find_sub(aTHX_ ctx, &sub))
        return;
    U64 now = dpx_frame_arrive(ctx);
    U32 number = learn_statement(aTHX_ ctx, cop);
    bool counts = number && !is_early(ctx, number, now);
    if (counts && (times || ctx->state == DPX_BORN)) {
        dp_rec_statement_slow(&ctx->rec, number, now);
        dpx_frame_leave(ctx);
    } else {
        if (counts && !ctx->rec.paused)
            dp_lines_get(&ctx->statements, number)->count++;
        dpx_way.unmarked(ctx, now);
    }
    errno = why;
}

/* The function of nextstate if the counter is read once; else NULL, and begins_sub is not used:
 * never with samples, which know statements by their function (dpx_sample.c). */
static Perl_ppaddr_t timed;
static OP *begins_sub(pTHX);

void dpx_stmt_first(pTHX_ struct dpx_ctx *ctx, OP *o)
{
    int why = errno;
    if (o->op_ppaddr == timed)
        o->op_ppaddr = begins_sub;
    if (!ctx->rec.paused && !ctx->rec.over) {
        U32 number = learn_statement(aTHX_ ctx, (COP *)o);
        if (number)
            ctx->rec.marks.line = dp_lines_get(&ctx->statements, number);
    }
    errno = why;
}

/* Runs PL_op's function from before. It is found here, so that the hooks need not keep the
 * pointer. */
static OP *run_original(pTHX)
{
    return PL_op->op_type == OP_NEXTSTATE ? orig_nextstate(aTHX) : orig_dbstate(aTHX);
}

/* The op of a statement that is run for the first time, if statements have times: gives it a
 * number, and lets the hook for the next times take over. */
static DP_NOINLINE OP *begins_timed(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    if (ctx->thx == DPX_THX)
        begin_slowly(aTHX_ ctx, (COP *)PL_op, true);
    return run_original(aTHX);
}

/* The op of a statement that is run for the first time, if statements are only counted. */
static DP_NOINLINE OP *begins_counted(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    if (ctx->thx == DPX_THX)
        begin_slowly(aTHX_ ctx, (COP *)PL_op, false);
    return run_original(aTHX);
}

/* Charges the running statement and begins statement `number` by the slow function, after the fast
 * one has refused. now: the arrival stamp. Always returns true: the statement is known. */
static DP_NOINLINE bool is_late(struct dpx_ctx *ctx, U32 number, U64 now)
{
    int why = errno;
    dp_rec_statement_slow(&ctx->rec, number, now);
    dpx_frame_leave(ctx);
    errno = why;
    return true;
}

static DP_NOINLINE OP *begins_late(pTHX_ U64 now)
{
    is_late(DPX_CTX, DPX_STMT_NUMBER(PL_op), now);
    return run_original(aTHX);
}

/* ---- the hooks ---- */

/* Only trees with lines have these hooks: ways that differ in that alone are the same function. */
#define LINES(way)  ((way) | DPX_TREE | DPX_LINES)

/* Leaves one of these hooks, which arrived at stamp now. */
DP_INLINE void leave_hook(struct dpx_ctx *ctx, U64 now, const int way)
{
    if (DPX_READS_ONCE(way))
        dp_rec_leave_statement(&ctx->rec, now);
    else
        dpx_leave(ctx, way);
}

/* The state of interpreters that do not record knows no statements; and a new thread passes the run
 * loop's prologue, which gives it a state of its own, before its first statement. So these hooks do
 * not test whose state they see. Each hook is two functions: another interpreter than the first has
 * one that is jumped to, so that the first needs no register to keep what the jump would lose.
 *
 * They are macros, as the compiler jumps through a pointer that is named at the jump, but keeps an
 * argument in a register on the way: one instruction more. */
#define HOOK(name, body) \
    static DP_NOINLINE OP *name##_kept(pTHX) \
    { \
        struct dpx_ctx *ctx = dpx_ctx_kept(aTHX); \
        body \
    } \
    static OP *name(pTHX) \
    { \
        struct dpx_ctx *ctx = __atomic_load_n(&dpx_first, __ATOMIC_RELAXED); \
        if (DP_UNLIKELY(ctx->thx != DPX_THX)) \
            return name##_kept(aTHX); \
        body \
    }

#define TIMED_BODY(bits, orig) \
    const int way = LINES(bits); \
    struct dp_stmt *line = dp_lines_look(&ctx->statements, DPX_STMT_NUMBER(PL_op)); \
    if (DP_UNLIKELY(!line)) \
        return begins_timed(aTHX); \
    U64 now = dpx_arrive(ctx, way); \
    if (DP_UNLIKELY(!dp_rec_statement(&ctx->rec, line, now, ctx->ops, way & DPX_REC))) \
        return begins_late(aTHX_ now); \
    leave_hook(ctx, now, way); \
    return orig(aTHX);
#define TIMED(bits, name, orig)  HOOK(name##_##bits, TIMED_BODY(bits, orig))
DPX_EACH_WAY(TIMED, nextstate_hook, orig_nextstate)
DPX_EACH_WAY(TIMED, dbstate_hook, orig_dbstate)
#undef TIMED
#undef TIMED_BODY
static const Perl_ppaddr_t nextstate_hook[DPX_WAYS] = DPX_EACH_OF(nextstate_hook);
static const Perl_ppaddr_t dbstate_hook[DPX_WAYS] = DPX_EACH_OF(dbstate_hook);

/* Runs at the first statement of a sub. The costs since the sub was entered are this statement's
 * already (dpx_stmt_go_on), so the counter is not read again. A sub that does nothing but jump back
 * to its first statement reads no clock, as without lines. */
static OP *begins_sub(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    struct dp_stmt *line = dp_lines_look(&ctx->statements, DPX_STMT_NUMBER(PL_op));
    if (DP_UNLIKELY(!line || line != ctx->rec.marks.line))
        return timed(aTHX);
    line->count++;
    return orig_nextstate(aTHX);
}

#define COUNTED(name, orig) \
    HOOK(name, \
        struct dp_stmt *line = dp_lines_look(&ctx->statements, DPX_STMT_NUMBER(PL_op)); \
        if (DP_UNLIKELY(!line)) \
            return begins_counted(aTHX); \
        line->count++; \
        return orig(aTHX);)
COUNTED(nextstate_count, orig_nextstate)
COUNTED(dbstate_count, orig_dbstate)
#undef COUNTED

/* Marks the beginning of a statement without an op of its own (dpx_revive.c). Returns false if this
 * interpreter has not run the statement before. */
DP_INLINE bool mark_statement(pTHX_ U32 number, const int way)
{
    struct dpx_ctx *ctx = DPX_CTX;
    struct dp_stmt *line = dp_lines_look(&ctx->statements, number);
    if (DP_UNLIKELY(!line))
        return false;
    U64 now = dpx_arrive(ctx, way);
    if (DP_UNLIKELY(!dp_rec_statement(&ctx->rec, line, now, ctx->ops, way & DPX_REC)))
        return is_late(ctx, number, now);
    leave_hook(ctx, now, way);
    return true;
}

#define WAY(way, name) \
    static bool name##_##way(pTHX_ U32 number) { return mark_statement(aTHX_ number, LINES(way)); }
DPX_EACH_WAY(WAY, mark_statement)
#undef WAY
static dpx_revive_tell *const mark_ways[DPX_WAYS] = DPX_EACH_OF(mark_statement);

/* Counts a statement. Returns false if it is not known yet. */
static bool mark_count(pTHX_ U32 number)
{
    struct dp_stmt *line = dp_lines_look(&DPX_CTX->statements, number);
    if (DP_UNLIKELY(!line))
        return false;
    line->count++;
    return true;
}

/* Records the first statement of an arm, which perl would not run as an op of its own. Returns the
 * statement's number. */
static U32 mark_first(pTHX_ COP *cop)
{
    struct dpx_ctx *ctx = DPX_CTX;
    const bool times = dpx_run.opt.lines == DP_LINES_TIMES;
    if (!(times ? mark_ways[dpx_way_bits & ~(DPX_TREE | DPX_LINES)] : mark_count)(aTHX_
            DPX_STMT_NUMBER(cop)) && ctx->thx == DPX_THX)
        begin_slowly(aTHX_ ctx, cop, times);
    return DPX_STMT_NUMBER(cop);
}

/* Charges the statement that has run by the slow function, after the fast one has refused, and goes
 * on with statement `number`. now: the arrival stamp. Returns next. If a slice ends there, all
 * pointers to statements become invalid, so this one is known by its number. */
static DP_NOINLINE OP *back_late(struct dpx_ctx *ctx, U32 number, U64 now, OP *next)
{
    int why = errno;
    dp_rec_charge_all(&ctx->rec, now);
    if (!ctx->rec.over)
        ctx->rec.marks.line = dp_lines_get(&ctx->statements, number);
    dpx_frame_leave(ctx);
    errno = why;
    return next;
}

/* Goes on with the statement of cop, after others have run in between. Returns next, which the hook
 * returns. */
DP_INLINE OP *back_to(pTHX_ struct dpx_ctx *ctx, const COP *cop, OP *next, const int way)
{
    struct dp_stmt *line = dpx_stmt_of(ctx, (const OP *)cop);
    if (!line || line == ctx->rec.marks.line)
        return next;
    U64 now = dpx_arrive(ctx, way);
    if (DP_UNLIKELY(!dp_rec_charge_line(&ctx->rec, now, ctx->ops, way & DPX_REC)))
        return back_late(ctx, line->number, now, next);
    ctx->rec.marks.line = line;
    leave_hook(ctx, now, way);
    return next;
}

#define UNSTACK(way, name) \
    static DP_NOINLINE OP *name##_kept_##way(pTHX_ OP *next) \
    { \
        struct dpx_ctx *ctx = dpx_ctx_kept(aTHX); \
        return ctx->thx == DPX_THX \
            ? back_to(aTHX_ ctx, CX_CUR()->blk_oldcop, next, LINES(way)) : next; \
    } \
    static OP *name##_##way(pTHX) \
    { \
        OP *next = orig_unstack(aTHX); \
        struct dpx_ctx *ctx = __atomic_load_n(&dpx_first, __ATOMIC_RELAXED); \
        return DP_LIKELY(ctx->thx == DPX_THX) \
            ? back_to(aTHX_ ctx, CX_CUR()->blk_oldcop, next, LINES(way)) \
            : name##_kept_##way(aTHX_ next); \
    }
DPX_EACH_WAY(UNSTACK, unstack_hook)
#undef UNSTACK
static const Perl_ppaddr_t unstack_hook[DPX_WAYS] = DPX_EACH_OF(unstack_hook);

/* Runs perl's op that leaves a block, and then makes the statement around the block the current
 * one. */
DP_INLINE OP *leave_block(pTHX_ Perl_ppaddr_t orig, const int way)
{
    OP *next = orig(aTHX);
    struct dpx_ctx *ctx = DPX_CTX;
    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    return back_to(aTHX_ ctx, PL_curcop, next, way);
}

#define CALL(way) leave_block(aTHX_ orig_leaveeval, LINES(way))
DPX_HOOKS(OP *, leaveeval_hook, CALL)
#undef CALL
#define CALL(way) leave_block(aTHX_ orig_leavetry, LINES(way))
DPX_HOOKS(OP *, leavetry_hook, CALL)
#undef CALL

void dpx_stmt_restarted(pTHX_ struct dpx_ctx *ctx)
{
    struct dp_stmt *line = dpx_stmt_of(ctx, (const OP *)PL_curcop);
    U32 number = line ? line->number : 0;
    if (line && line != ctx->rec.marks.line)
        back_late(ctx, number, dpx_frame_arrive(ctx), NULL);
}

void dpx_stmt_install(pTHX_ int way, bool times)
{
    /* The compiler makes one function of equal ones, the first one; the others jump there. */
    way &= ~(DPX_TREE | DPX_LINES);
    dpx_revive_install(aTHX_ times ? mark_ways[way] : mark_count, mark_first);
    if (times && DPX_READS_ONCE(LINES(way)))
        timed = nextstate_hook[way];
    dpx_adopt_type(OP_NEXTSTATE, &orig_nextstate, times ? nextstate_hook[way] : nextstate_count);
    dpx_adopt_type(OP_DBSTATE, &orig_dbstate, times ? dbstate_hook[way] : dbstate_count);
    if (times) {
        dpx_adopt_type(OP_UNSTACK, &orig_unstack, unstack_hook[way]);
        dpx_adopt_type(OP_LEAVEEVAL, &orig_leaveeval, leaveeval_hook[way]);
        dpx_adopt_type(OP_LEAVETRY, &orig_leavetry, leavetry_hook[way]);
    }
}

void dpx_stmt_join(pTHX) { dpx_revive_join(aTHX); }

#else   /* refused before: dpx_stmt_trouble */

void dpx_stmt_join(pTHX) { PERL_UNUSED_CONTEXT; }

void dpx_stmt_install(pTHX_ int way, bool times)
{
    PERL_UNUSED_CONTEXT;
    PERL_UNUSED_VAR(way);
    PERL_UNUSED_VAR(times);
}

void dpx_stmt_forked(struct dpx_ctx *ctx)
{
    PERL_UNUSED_VAR(ctx);
}

void dpx_stmt_restarted(pTHX_ struct dpx_ctx *ctx)
{
    PERL_UNUSED_CONTEXT;
    PERL_UNUSED_VAR(ctx);
}

void dpx_stmt_first(pTHX_ struct dpx_ctx *ctx, OP *o)
{
    PERL_UNUSED_CONTEXT;
    PERL_UNUSED_VAR(ctx);
    PERL_UNUSED_VAR(o);
}

U32 dpx_stmt_sampled(pTHX_ struct dpx_ctx *ctx, COP *cop, const COP *around, U32 sub)
{
    PERL_UNUSED_CONTEXT;
    PERL_UNUSED_VAR(ctx);
    PERL_UNUSED_VAR(cop);
    PERL_UNUSED_VAR(around);
    PERL_UNUSED_VAR(sub);
    return DP_LINE_REST;
}

#endif

Perl_ppaddr_t dpx_stmt_original(Optype type)
{
    switch (type) {
    case OP_NEXTSTATE: return orig_nextstate;
    case OP_DBSTATE: return orig_dbstate;
    case OP_UNSTACK: return orig_unstack;
    case OP_LEAVEEVAL: return orig_leaveeval;
    case OP_LEAVETRY: return orig_leavetry;
    default: return NULL;
    }
}
