/* Samples. No call is hooked: a thread beside the program (the ticker) sleeps, and at each tick
 * notes what the program runs and sets PL_sig_pending. perl looks at that flag at each statement
 * and branch, for the sake of signals, and calls PL_signalhook, which is ours: there all that the
 * context stack holds is alive, and the sample is taken. So between two samples the program runs no
 * instruction more than without a profiler, but for a jump where a sub ends and a test where an op
 * is freed; and it gets no signal.
 *
 * A sample is charged with all time and CPU time between its tick and the one before. But an op
 * that waited at its tick leaves the CPU time before it to others (dp_rec.h).
 *
 * The ticker notes four words: PL_curcop, PL_op, PL_comppad, PL_parser. The program sees the flag
 * only when the next statement has begun, so the first two show what really ran. The pad shows
 * whose statement that was: a sub that was entered since is left out. While perl enters or leaves a
 * sub, the pad is not that of the statement: then the statement counts. If the sub has returned,
 * its line is kept and the stack is what it is by then. To make that rare, the ops that end subs
 * check the flag, too, from a tick to its sample.
 *
 * The ticker never follows a pointer of perl's. The program does, and the words may be stale by
 * then: the statement may be freed (PL_opfreehook clears the word, or notes that PL_curcop leads to
 * what is freed), or may have stood on the C stack, where perl puts one while it folds constants.
 * So the word is followed only if the kernel can read what it points to and that looks like a
 * statement with the right function. The statement of the safe point stands in for those that fail.
 *
 * With the counting clock there is no ticker: every safe point reads that clock, and takes a sample
 * when one is due. So tests have the same samples each time.
 *
 * What this relies on, beside what dpx_hook.c does: perl looks at PL_sig_pending at each
 * statement and branch, and calls PL_signalhook then. PL_opfreehook is called for each op that
 * is freed, and pp_fork clears PL_sig_pending in the child. The code reads PL_psig_pend,
 * PL_comppad, blk_oldcop and blk_sub.olddepth. All of this is the same from perl 5.24 to 5.44. */
#include "dpx_sample.h"
#include "dpx_adopt.h"
#include "dpx_blocks.h"
#include "dpx_callee.h"
#include "dpx_control.h"
#include "dpx_ctx.h"
#include "dpx_frame.h"
#include "dpx_hook.h"
#include "dpx_life.h"
#include "dpx_listed.h"
#include "dpx_name.h"
#include "dpx_placed.h"
#include "dpx_stmt.h"
#include "dpx_ticker.h"
#include "dp_mem.h"
#include "dp_rec_sample.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    DEEPEST = 4096,             /* most frames of a stack; above, the innermost is kept */
    PAGE_LEAST = 4096,
    STACK_NEAR = 16 << 20       /* bytes: an address nearer to a variable may be on the C stack */
};

static Perl_ppaddr_t orig_leavesub, orig_leavesublv, orig_return, orig_fork;
static despatch_signals_proc_t orig_signalhook;
static runops_proc_t orig_runops;
static Perl_ophook_t orig_opfreehook;
static Perl_ppaddr_t nextstate, dbstate;        /* the functions of ops of these types */
static bool counting;           /* there is no ticker */

/* ---- the words of a tick ---- */

/* Can the kernel read this address? For a call in a way that does not exist, the kernel reads a set
 * of signals from there first: EINVAL says that it could, EFAULT that it could not. That takes a
 * ninth of the time of process_vm_readv, and any container allows it. (As Abseil's
 * address_is_readable.cc.) */
static bool is_readable(const char *at)
{
    enum { NO_SUCH_WAY = -1, SET = _NSIG / 8 };
    const char *aligned = INT2PTR(const char *, PTR2UV(at) & ~(UV)(SET - 1));
    return syscall(SYS_rt_sigprocmask, NO_SUCH_WAY, aligned, NULL, SET) < 0 && errno == EINVAL;
}

/* Is the address that the ticker noted still that of a statement? The statement may have been freed
 * since, or may have stood on the C stack. */
static bool is_statement(pTHX_ const struct dpx_tick *t, const COP *cop)
{
    char here;
    const char *near = &here, *at = (const char *)cop;
    if (!cop || cop == &PL_compiling || (const OP *)cop == t->dangling)
        return false;
    if (cop == PL_curcop)
        return dpx_stmt_is((const OP *)cop);
    if ((at > near ? at - near : near - at) < STACK_NEAR)
        return false;
    const char *end = at + sizeof *cop - 1;
    bool is_one_page = PTR2UV(at) / PAGE_LEAST == PTR2UV(end) / PAGE_LEAST;
    if (!is_readable(at) || (!is_one_page && !is_readable(end)))
        return false;
    return (cop->op_type == OP_NEXTSTATE && cop->op_ppaddr == nextstate)
           || (cop->op_type == OP_DBSTATE && cop->op_ppaddr == dbstate);
}

/* ---- a sample ---- */

static const COP *tick_cop(const struct dpx_tick *t)
{
    return __atomic_load_n(&t->ran->cop, __ATOMIC_RELAXED);
}

/* The code that ran at a tick. */
struct sampled {
    const struct dpx_running *stack;
    size_t n, in;               /* number of frames that run now; those of the tick begin at `in` */
    const COP *around, *cop;    /* the statement; a null one inside of it, or the same */
    U32 leaf;                   /* an XS sub or builtin that ran in it; 0: none */
    U32 span;                   /* of that; 0: none */
    U32 sub;                    /* id of the innermost sub around the statement; 0: none */
    U32 ended;                  /* id of a sub that ran then and has returned since, if it is known:
                                 * the innermost of what runs now called it. 0: none */
    bool returned;              /* the code that ran then has returned since */
};

/* ---- subs that have ended ----
 *
 * A tick may come while a sub ends: perl frees its variables then, and no safe point comes before
 * its caller goes on. The statement of the tick shows the sub, as it stands below the first op of
 * the sub's code, and most subs were the innermost at some sample before. */

struct dpx_body {
    const OP *root;
    U64 freed;                  /* tick.freed when it was found: root may be another op's address
                                 * later */
    U32 sub;
};

enum { BODIES = 256 };

static struct dpx_body *body_of(const struct dpx_tick *t, const OP *root)
{
    UV hash = PTR2UV(root) >> 3;
    return &t->bodies[(hash ^ hash >> 8) % BODIES];
}

/* Keeps which sub the code of a CV belongs to, for sub_that_ended. */
static void know_body(struct dpx_tick *t, const CV *cv, U32 sub)
{
    struct dpx_body *b = body_of(t, CvROOT(cv));
    *b = (struct dpx_body){ CvROOT(cv), t->freed, sub };
}

/* The first op of the code that a statement stands in. */
static const OP *root_of(const COP *cop)
{
    const OP *root = (const OP *)cop;
    for (const OP *up = root; up; up = op_parent((OP *)up))
        root = up;
    return root;
}

/* The sub around a statement; 0: unknown. */
static U32 sub_that_ended(const struct dpx_ctx *ctx, const COP *cop)
{
    U32 number = DPX_STMT_NUMBER(cop);
    if (dp_lines_is_known(&ctx->statements, number))
        return ctx->statements.places[number].sub;
    const OP *root = root_of(cop);
    const struct dpx_body *b = body_of(&ctx->tick, root);
    return b->root == root && b->freed == ctx->tick.freed ? b->sub : 0;
}

/* Did a sub only call another one, which has returned since? perl changes to the pad of the called
 * sub before it comes to a statement of it, and a tick may come between the two. Then the pad is
 * none of the calling sub, which may run still. */
static bool has_only_called(pTHX_ struct dpx_ctx *ctx, const struct sampled *of, U32 sub)
{
    for (size_t i = 0; i < of->n; i++)
        if (of->stack[i].cv && dpx_running_sub(aTHX_ ctx, &of->stack[i]) == sub)
            return !dpx_running_has_pad(of->stack[i].cv, ctx->tick.ran->pad);
    return false;
}

/* Is the statement one of the innermost code of the stack? The code of strings and of files has no
 * root that a context shows. */
static bool is_its_statement(pTHX_ struct dpx_ctx *ctx, const struct sampled *of, const COP *cop)
{
    const struct dpx_running *r = of->in < of->n ? &of->stack[of->in] : NULL;
    if (r && !r->cv)
        return r->span || cop != r->from;
    U32 number = DPX_STMT_NUMBER(cop);
    if (dp_lines_is_known(&ctx->statements, number)
        && ctx->statements.places[number].sub == (r ? dpx_running_sub(aTHX_ ctx, r) : 0))
        return true;
    return root_of(cop) == (r ? CvROOT(r->cv) : PL_main_root);
}

/* Did the program that perl is embedded in run at the tick, and not perl? An op alone does not say
 * so: PL_op is NULL between two calls of a sort's block, too. */
static bool was_outside(pTHX_ const struct dpx_tick *t)
{
    return !t->ran->compiles && tick_cop(t) == &PL_compiling;
}

/* Notes that the compiler ran at the tick, and no statement. The safe point is the first statement
 * after that: of the file or string that was compiled, or of a sub that perl itself has called
 * since, such as a BEGIN block. */
static void find_compiler(pTHX_ struct sampled *of)
{
    of->in = of->n && of->stack[0].cv && !of->stack[0].to;
    of->around = of->cop = &PL_compiling;
}

/* Did C code run at the tick that has a frame? */
static bool was_in_c(const struct dpx_tick *t)
{
    return t->ran->in_c.op && t->ran->in_c.op == t->ran->op;
}

/* Sets of->leaf to the XS sub or builtin that ran at the tick, and of->span to its span; 0:
 * none. */
static void find_leaf(pTHX_ struct dpx_ctx *ctx, struct sampled *of)
{
    const struct dpx_tick *t = &ctx->tick;
    bool is_known = was_in_c(t);
    /* This is the pad of the tick, except where perl entered a sub. */
    const PAD *pad = of->in < of->n ? of->stack[of->in].pad : dpx_running_main_pad(aTHX);
    of->leaf = is_known && t->ran->in_c.sub ? t->ran->in_c.sub
                                            : dpx_callee_leaf(aTHX_ ctx, t->ran->op, pad);
    of->span = is_known ? t->ran->in_c.span : 0;
}

/* Did the statement of the tick leave its sub for the innermost that runs now, with goto &sub? Then
 * the safe point is in the goto itself, or at the first statement of the other sub. An op may have
 * been freed since the tick, so it is searched for by its address first. */
static bool has_gone(pTHX_ struct dpx_ctx *ctx, const struct sampled *of, const COP *live)
{
    const OP *op = ctx->tick.ran->op;
    if (!of->n || of->in || !of->stack[0].cv || (const OP *)PL_curcop == ctx->tick.dangling)
        return false;
    bool begins = (const OP *)PL_curcop == of->stack[0].start
                  || !is_its_statement(aTHX_ ctx, of, PL_curcop);
    return begins && dpx_running_statement(aTHX_ live, op)
           && op->op_type == OP_GOTO && op->op_flags & OPf_STACKED;
}

/* The statement where the innermost code of the stack is now. It may be PL_compiling, or freed
 * (tick.dangling). */
static const COP *statement_now(pTHX_ const struct sampled *of)
{
    return of->in ? of->stack[of->in - 1].from : PL_curcop;
}

/* Is the statement one of the code that has called the innermost? That may have called it again
 * since, from another statement. */
static bool is_of_caller(pTHX_ struct dpx_ctx *ctx, const struct sampled *of, const COP *cop)
{
    struct sampled caller = *of;
    if (of->in == of->n || cop == of->stack[of->in].from)
        return of->in < of->n;
    caller.in++;
    return (caller.in == caller.n || caller.stack[caller.in].cv)
           && is_its_statement(aTHX_ ctx, &caller, cop);
}

/* Finds the activation of the tick by its pad. Returns false if that has returned since; then the
 * innermost of what runs now stands for it. live: the statement of the tick, or NULL. */
static bool find_activation(pTHX_ struct dpx_ctx *ctx, struct sampled *of, const COP *live)
{
    const PAD *pad = ctx->tick.ran->pad;
    for (of->in = 0; of->in < of->n && of->stack[of->in].pad != pad; of->in++)
        ;
    if (of->in == of->n && (!pad || pad != dpx_running_main_pad(aTHX))) {
        of->in = 0;
        of->ended = live ? sub_that_ended(ctx, live) : 0;
        if (of->ended && has_only_called(aTHX_ ctx, of, of->ended))
            of->ended = 0;
        of->in = of->ended && has_gone(aTHX_ ctx, of, live);
        return false;
    }
    if (!live || is_its_statement(aTHX_ ctx, of, live))
        return true;
    /* While perl enters a sub, the statement of the tick is still the caller's; while perl leaves a
     * sub, the pad is the caller's already. A sub that goes to another one with goto has ended, and
     * its caller is that of the other. */
    bool is_entered = is_of_caller(aTHX_ ctx, of, live);
    if (!is_entered)
        of->ended = sub_that_ended(ctx, live);
    of->in += is_entered || has_gone(aTHX_ ctx, of, live);
    return is_entered;
}

/* Finds the activation and the statement of the tick. */
static void find_statement(pTHX_ struct dpx_ctx *ctx, struct sampled *of)
{
    const struct dpx_tick *t = &ctx->tick;
    const COP *cop = tick_cop(t), *found = NULL;
    bool is_live = is_statement(aTHX_ t, cop);
    bool is_there = find_activation(aTHX_ ctx, of, is_live ? cop : NULL);
    of->returned = !is_there;
    if (!is_live || (!is_there && !of->ended && !DPX_STMT_NUMBER(cop)))
        cop = statement_now(aTHX_ of);
    else if (is_there && (found = dpx_running_statement(aTHX_ cop, t->ran->op)) != NULL)
        find_leaf(aTHX_ ctx, of);
    of->around = cop;
    of->cop = found ? found : cop;
}

/* Finds the place of the call of a sub that has ended: that of its last call from there, or the
 * statement where its caller is now. While die, next or last unwinds, perl goes on with a statement
 * only at the end. Until then, PL_curcop is in a sub that has ended, and shows no caller. Then this
 * returns false. */
static bool find_site_of_ended(pTHX_ struct dpx_ctx *ctx, const struct sampled *of,
                               const struct dp_cct_node *caller, U32 *site)
{
    const COP *now = statement_now(aTHX_ of);
    bool is_last = caller->last && caller->last->id == of->ended;
    const OP *o = (const OP *)now;
    bool is_known = o && o != ctx->tick.dangling && dpx_stmt_is(o);
    *site = is_last ? caller->last->site : is_known ? dpx_stmt_place(aTHX_ ctx, now, now) : 0;
    return is_last || !is_known || is_its_statement(aTHX_ ctx, of, now);
}

/* The context of the subs that ran. If the innermost is not recorded, its time belongs to the
 * statement that called it. */
static struct dp_cct_node *context_of(pTHX_ struct dpx_ctx *ctx, struct sampled *of)
{
    struct dpx_place at = dpx_placed_find(aTHX_ ctx, of->stack + of->in, of->n - of->in);
    of->sub = at.sub;
    if (at.left_out) {
        of->around = of->cop = at.left_out;
    } else if (of->ended) {
        U32 site;
        of->sub = of->ended;
        if (find_site_of_ended(aTHX_ ctx, of, at.node, &site))
            return dp_cct_child(&ctx->rec.cct, at.node, of->ended, site);
    } else if (of->in < of->n && of->stack[of->in].cv && at.sub) {
        know_body(&ctx->tick, of->stack[of->in].cv, at.sub);
    }
    return at.node;
}

/* The serial of the last span around what ran at the tick. If that was C code, its own span may go
 * on, as a step of a long match is a safe point, too. */
static UV last_outer(const struct dpx_tick *t)
{
    return was_in_c(t) ? t->ran->in_c.serial - 1 : t->ran->serial;
}

/* Lists the running code, with the spans up to that serial, the innermost first. Returns the number
 * of its frames. */
static size_t find_running(pTHX_ struct dpx_ctx *ctx, UV serial)
{
    struct dpx_tick *t = &ctx->tick;
    size_t n = dpx_running_find(aTHX_ t->stack, DEEPEST);
    if (DP_LIKELY(ctx->top == ctx->frames))
        return n;
    dpx_frame_reconcile(aTHX_ ctx, dpx_frame_arrive(ctx));
    return dpx_running_add_spans(aTHX_ ctx, serial, t->stack, n, DEEPEST);
}

/* Finds the context and the statement that ran at the tick; (program) if perl did not run. An XS
 * sub, a builtin or the compiler that ran has a context of its own. */
static struct dp_cct_node *find_context(pTHX_ struct dpx_ctx *ctx, struct sampled *of, U32 *line)
{
    U32 place = 0;
    bool outside = was_outside(aTHX_ &ctx->tick);
    *line = DP_LINE_REST;
    of->n = outside ? 0 : find_running(aTHX_ ctx, last_outer(&ctx->tick));
    if (!outside && tick_cop(&ctx->tick) == &PL_compiling)
        find_compiler(aTHX_ of);
    else if (!outside)
        find_statement(aTHX_ ctx, of);
    struct dp_cct_node *node = context_of(aTHX_ ctx, of);
    if (outside) {
        ;                       /* the time belongs to (program), and to no statement */
    } else if (!dpx_stmt_is((const OP *)of->around)) {
        of->leaf = dpx_name_compiling(aTHX_ ctx, CopFILE(PL_curcop));
    } else {
        *line = dpx_stmt_sampled(aTHX_ ctx, (COP *)of->cop, of->around, of->sub);
        place = !of->leaf ? 0 : dp_lines_is_known(&ctx->statements, *line)
                              ? ctx->statements.places[*line].site
                              : dpx_stmt_place(aTHX_ ctx, of->cop, of->around);
    }
    if (of->leaf)
        node = dp_cct_child(&ctx->rec.cct, node, of->leaf, place);
    return of->span ? dp_cct_child(&ctx->rec.cct, node, of->span, 0) : node;
}

/* Adds a sample, and the time that it stands for, to what ran at the tick. now: the stamp of the
 * safe point. */
static void take_sample(pTHX_ struct dpx_ctx *ctx, U64 now)
{
    struct sampled of = { .stack = ctx->tick.stack };
    U32 line;
    struct dp_cct_node *node = find_context(aTHX_ ctx, &of, &line);
    ctx->events.total[dpx_run.plan.samples_at]++;
    ctx->events.total[dpx_run.plan.returned_at] += of.returned;
    U64 own;                    /* ns of CPU time */
    if (dpx_ticker_waited(&ctx->tick, &own))
        dp_rec_sample_wait(&ctx->rec, node, line, now, own);
    else
        dp_rec_sample(&ctx->rec, node, line, now, dpx_ticker_late(&ctx->tick));
}

/* The sub around a statement, while calls are recorded; 0: none. */
static U32 sub_of(pTHX_ struct dpx_ctx *ctx, const struct sampled *of)
{
    if (of->ended)
        return of->ended;
    for (size_t i = of->in; i < of->n && !of->stack[i].is_file; i++) {
        U32 id = dpx_running_sub(aTHX_ ctx, &of->stack[i]);
        if (id && i == of->in && of->stack[i].cv)
            know_body(&ctx->tick, of->stack[i].cv, id);
        if (id)
            return id;
    }
    return 0;
}

/* Finds the number of the statement that ran at the tick, where calls are recorded in a tree and
 * only lines are sampled. */
static U32 find_line(pTHX_ struct dpx_ctx *ctx)
{
    struct sampled of = { .stack = ctx->tick.stack };
    if (was_outside(aTHX_ &ctx->tick) || tick_cop(&ctx->tick) == &PL_compiling)
        return DP_LINE_REST;
    of.n = dpx_running_find(aTHX_ ctx->tick.stack, DEEPEST);
    find_statement(aTHX_ ctx, &of);
    return !dpx_stmt_is((const OP *)of.around) ? DP_LINE_REST
           : dpx_stmt_sampled(aTHX_ ctx, (COP *)of.cop, of.around, sub_of(aTHX_ ctx, &of));
}

/* Charges the statement that ran at the tick, where calls are recorded in a tree and only lines are
 * sampled. */
static void take_line(pTHX_ struct dpx_ctx *ctx)
{
    dpx_frame_look(aTHX_ ctx);
    U64 now = dpx_frame_arrive(ctx);
    dp_rec_sample_line(&ctx->rec, find_line(aTHX_ ctx), now);
    dpx_frame_leave(ctx);
}

/* ---- the ends of subs ---- */

/* The functions that the hooks of the ops which end subs go on to: between a sample and the next
 * tick, the originals. */
#define EACH_END(X)  X(leavesub) X(leavesublv) X(return)
#define NOW(name)  static Perl_ppaddr_t name##_now;
EACH_END(NOW)
#undef NOW

static bool alone;              /* one interpreter records */

static void answer_tick(pTHX_ struct dpx_ctx *ctx);
static void answer_blocks(pTHX_ struct dpx_ctx *ctx);

/* Takes a sample where a sub ends. This is no safe point for the program's own signals, whose
 * handlers wait for the next one. The hook runs in every interpreter, including threads that were
 * already running when the program began to sample itself. Those have no place for DPX_CTX, so the
 * state is looked up. */
static DP_NOINLINE void sub_ends(pTHX)
{
    struct dpx_ctx *ctx = dpx_ctx_current(aTHX);
    if (ctx && dpx_blocks_waiting(ctx, 0))
        answer_blocks(aTHX_ ctx);
    if (ctx && __atomic_load_n(&ctx->tick.pending, __ATOMIC_ACQUIRE)) {
        answer_tick(aTHX_ ctx);
        dpx_ticker_wake();
    }
}

/* The hook is only a jump, because each call pays for it. */
#define ENDS(name) \
    static OP *name##_asked(pTHX) \
    { \
        if (DP_UNLIKELY(PL_sig_pending)) \
            sub_ends(aTHX); \
        return orig_##name(aTHX); \
    } \
    static OP *name##_hook(pTHX) \
    { \
        return __atomic_load_n(&name##_now, __ATOMIC_RELAXED)(aTHX); \
    }
EACH_END(ENDS)
#undef ENDS

/* Makes the ends of subs check for a sample, which the ticker is about to ask for. */
static void watch_ends(bool is_alone)
{
    __atomic_store_n(&alone, is_alone, __ATOMIC_RELAXED);
#define ASK(name)  __atomic_store_n(&name##_now, name##_asked, __ATOMIC_RELAXED);
    EACH_END(ASK)
#undef ASK
}

/* Makes the ends of subs run without that check again, as a sample has been taken. If there are
 * several interpreters, another may not have answered yet: then the hooks stay as they are. */
static void forget_ends(void)
{
    if (!__atomic_load_n(&alone, __ATOMIC_RELAXED))
        return;
#define SKIP(name)  __atomic_store_n(&name##_now, orig_##name, __ATOMIC_RELAXED);
    EACH_END(SKIP)
#undef SKIP
}

/* ---- safe points ---- */

/* Makes the arrays for the stack of a sample. Returns false if memory is short. */
static bool has_room(struct dpx_tick *t)
{
    if (!t->stack)
        t->stack = dp_mem_realloc(NULL, DEEPEST, sizeof *t->stack);
    if (!t->bodies)
        t->bodies = dp_mem_zalloc(BODIES * sizeof *t->bodies);
    return t->stack && t->bodies && dpx_placed_room(t, DEEPEST);
}

U32 dpx_sample_charged(pTHX_ struct dpx_ctx *ctx)
{
    if (!has_room(&ctx->tick))
        return 0;
    size_t n = find_running(aTHX_ ctx, (UV)ctx->serial);
    const struct dp_cct_node *node = dpx_placed_find(aTHX_ ctx, ctx->tick.stack, n).node;
    return node == dp_rec_base(&ctx->rec) ? 0 : node->id;
}

/* Finds the places of the blocks that were allocated since the last safe point. */
static void answer_blocks(pTHX_ struct dpx_ctx *ctx)
{
    int why = errno;
    U32 line;
    bool good = has_room(&ctx->tick) && !PL_dirty && dpx_life_event(ctx) && !ctx->rec.paused;
    for (size_t i = good ? dpx_blocks_to_place(ctx) : 0; i-- > 0;) {
        if ((ctx->tick.ran = dpx_blocks_waiting(ctx, i)) == NULL)
            break;              /* a slice has ended meanwhile, and none waits any more */
        struct sampled of = { .stack = ctx->tick.stack };
        struct dp_cct_node *node = NULL;
        if (dpx_run.only_samples)
            node = find_context(aTHX_ ctx, &of, &line);
        else
            line = find_line(aTHX_ ctx);
        dpx_blocks_place(ctx, i, node, line);
    }
    dpx_blocks_all_placed(ctx);
    errno = why;
}

/* Asks for a safe point, as a block waits for its place. */
static void ask_for_place(pTHX)
{
    PL_sig_pending = 1;
    if (!counting)
        watch_ends(false);
}

/* Takes a sample at a safe point where one is due. */
static void answer_tick(pTHX_ struct dpx_ctx *ctx)
{
    int why = errno;
    ctx->tick.ran = &ctx->tick.words;
    if (has_room(&ctx->tick) && !PL_dirty && dpx_life_event(ctx)) {
        if (ctx->stage != (int)PL_phase)
            dpx_control_stage(aTHX_ ctx);
        if (!ctx->rec.paused && !dpx_run.only_samples) {
            take_line(aTHX_ ctx);
        } else if (!ctx->rec.paused) {
            take_sample(aTHX_ ctx, dpx_ctx_arrive(ctx));
            dpx_ctx_leave(ctx);
        }
    }
    ctx->tick.dangling = NULL;
    forget_ends();
    __atomic_store_n(&ctx->tick.armed, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&ctx->tick.pending, 0, __ATOMIC_RELEASE);
    errno = why;
}

/* With the counting clock: returns whether a sample is due, of what runs now. */
static bool is_due(pTHX_ struct dpx_ctx *ctx)
{
    struct dpx_tick *t = &ctx->tick;
    U64 now = dpx_clock_read_slow(&ctx->clock);
    if (now < t->next)
        return false;
    t->next = now + 1000000000 / dpx_run.opt.sample;
    dpx_blocks_note_words(aTHX_ ctx, &t->words);
    return true;
}

/* Is a sample due at this statement? */
static bool is_wanted(pTHX_ struct dpx_ctx *ctx)
{
    if (counting)
        return is_due(aTHX_ ctx);
    if (!dpx_ticker_runs())     /* this is a forked child, and its first statement */
        dpx_ticker_start(watch_ends);
    return __atomic_load_n(&ctx->tick.pending, __ATOMIC_ACQUIRE);
}

/* ---- the hooks ---- */

/* Sets the flag again after perl cleared it. A tick that came after the sample and before the
 * clearing has lost its flag. The next tick would set it again, but after several ticks without an
 * answer the ticker waits and does not tick any more. */
static void restore_flag(pTHX)
{
    const struct dpx_ctx *ctx = dpx_ctx_current(aTHX);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (ctx && __atomic_load_n(&ctx->tick.pending, __ATOMIC_SEQ_CST))
        PL_sig_pending = 1;
}

/* The hook in place of perl's handling of signals: takes the sample that is due, and then lets perl
 * handle signals that have come. */
static void safe_point(pTHX)
{
    int why = errno;
    struct dpx_ctx *ctx = dpx_life_here(aTHX);
    if (ctx && dpx_blocks_waiting(ctx, 0))
        answer_blocks(aTHX_ ctx);
    if (ctx && is_wanted(aTHX_ ctx))
        answer_tick(aTHX_ ctx);
    dpx_ticker_wake();          /* this may be a new thread, while the others sleep */
    errno = why;
    /* Perl makes PL_psig_pend, its list of signals, with the first entry of %SIG, and follows the
     * pointer unchecked. So perl's own function is called only if there is a list; otherwise only
     * the flag is cleared, which that function does first. Another module's function is always
     * called. */
    if (PL_psig_pend || orig_signalhook != Perl_despatch_signals)
        orig_signalhook(aTHX);
    else
        PL_sig_pending = 0;
    if (counting)
        PL_sig_pending = 1;
    else
        restore_flag(aTHX);
}

/* The hook of fork: pp_fork clears PL_sig_pending in the child, after dpx_ticker_forked has set
 * it. */
static OP *fork_hook(pTHX)
{
    OP *next = orig_fork(aTHX);
    if ((counting || !dpx_ticker_runs()) && dpx_ctx_current(aTHX))
        PL_sig_pending = 1;
    return next;
}

/* Makes the tick forget an op. Called before perl frees an op: what the tick kept of it must not be
 * read any more. */
static void op_is_freed(pTHX_ OP *o)
{
    struct dpx_ctx *ctx = PL_dirty ? NULL : DPX_CTX;    /* perl frees its list of states first */
    if (ctx && ctx->thx == DPX_THX) {
        ctx->tick.freed++;
        if (DP_UNLIKELY(ctx->blocks != NULL))
            dpx_blocks_forget_op(ctx, o);
        if (DP_UNLIKELY((const OP *)PL_curcop == o))
            ctx->tick.dangling = o;
        if (__atomic_load_n(&ctx->tick.armed, __ATOMIC_SEQ_CST)
            && (const OP *)__atomic_load_n(&ctx->tick.words.cop, __ATOMIC_RELAXED) == o)
            __atomic_store_n(&ctx->tick.words.cop, NULL, __ATOMIC_RELAXED);
    }
    if (orig_opfreehook)
        orig_opfreehook(aTHX_ o);
}

/* Called in each new thread. The ticker ignores the thread until it has a state of its own, which
 * its first statement makes. */
static XS(is_cloned)
{
    dXSARGS;
    PERL_UNUSED_VAR(items);
    PL_sig_pending = 1;
    XSRETURN(0);
}

/* The run loop until the main program begins. A program may end before its first sample, so its
 * file is made now. From here on the run loop is again the one that perl or another module has
 * set. */
static int runops_until_main(pTHX)
{
    struct dpx_ctx *ctx = dpx_ctx_current(aTHX);
    if (ctx && ctx->stage != (int)PL_phase)
        dpx_control_stage(aTHX_ ctx);
    if (PL_phase >= PERL_PHASE_RUN && PL_runops == runops_until_main)
        PL_runops = orig_runops;
    return orig_runops(aTHX);
}

/* The function that perl had for an op before any of our hooks, by its type. */
static Perl_ppaddr_t original_function(Optype type)
{
    switch (type) {
    case OP_LEAVESUB: return orig_leavesub;
    case OP_LEAVESUBLV: return orig_leavesublv;
    case OP_RETURN: return orig_return;
    case OP_FORK: return orig_fork;
    case OP_ENTERSUB: case OP_GOTO: return dpx_listed_original(type);
    default: return dpx_hook_original(type);
    }
}

/* Hooks an op that ends subs. *now: what the hook goes on to, which is perl's function unless the
 * ticker has put the checking one there already. */
static void hook_end(Optype type, Perl_ppaddr_t *orig, Perl_ppaddr_t *now, Perl_ppaddr_t hook)
{
    Perl_ppaddr_t none = NULL;
    __atomic_compare_exchange_n(now, &none, PL_ppaddr[type], false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    dpx_adopt_type(type, orig, hook);
}

/* Hooks the ops once for the process: a thread that has recorded may end, and another one begin. */
static void hook_ops(void)
{
    nextstate = PL_ppaddr[OP_NEXTSTATE];
    dbstate = PL_ppaddr[OP_DBSTATE];
    if (orig_fork)
        return;
    hook_end(OP_LEAVESUB, &orig_leavesub, &leavesub_now, leavesub_hook);
    hook_end(OP_LEAVESUBLV, &orig_leavesublv, &leavesublv_now, leavesublv_hook);
    hook_end(OP_RETURN, &orig_return, &return_now, return_hook);
    dpx_adopt_type(OP_FORK, &orig_fork, fork_hook);
    if (dpx_run.only_samples && dpx_run.detail)
        dpx_listed_install();
}

bool dpx_sample_install(pTHX_ struct dpx_ctx *ctx, struct dp_err *err)
{
    counting = ctx->clock.kind == DPX_CLOCK_COUNTING;
    dpx_blocks_ask = ask_for_place;
    int rc = counting || dpx_ticker_runs() ? 0 : dpx_ticker_start(watch_ends);
    if (rc) {
        dp_err_set(err, DP_E_IO, "sample=%" UVuf " needs a thread, and there is none: %s",
                   (UV)dpx_run.opt.sample, strerror(rc));
        return false;
    }
    hook_ops();
    dpx_adopt(aTHX_ original_function);
    if (PL_signalhook != safe_point) {  /* else this thread has inherited them */
        if (!orig_signalhook) { /* later interpreters have the same */
            orig_signalhook = PL_signalhook;
            orig_opfreehook = PL_opfreehook;
        }
        PL_signalhook = safe_point;
        PL_opfreehook = op_is_freed;
        newXS("Devel::DProf::CLONE", is_cloned, __FILE__);
    }
    if (dpx_run.only_samples && PL_phase < PERL_PHASE_RUN && PL_runops != runops_until_main) {
        orig_runops = PL_runops;
        PL_runops = runops_until_main;
    }
    if (counting) {
        ctx->tick.next = ctx->rec.marks.left + 1000000000 / dpx_run.opt.sample;
        PL_sig_pending = 1;
    }
    return true;
}
