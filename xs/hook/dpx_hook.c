/* The hooks: how every entry and exit of a sub is seen.
 *
 * The ops that enter and leave subs are hooked (PL_ppaddr), and the run loop gets a prologue
 * (PL_runops). The program's stacks are only read. Beside them stands a stack of our own
 * (dpx_frame.c). Each frame on it says where its sub stands: on which stack-info (PERL_SI) and at
 * which index of its context stack. So the hooks can check at any time whether a frame is alive:
 * its stack-info is on the chain of current ones, its index is in use, and the context there is a
 * sub's. (An XS sub has no context: while it runs, the save stack is higher than at its call.) An
 * exit that no hook saw is found a little later, by the next hook that checks.
 *
 * Entry. pp_entersub decides itself what is called (overloading, AUTOLOAD,
 * symbolic names, magic). Afterwards, a Perl sub was entered if and only if the
 * same context stack has one more context and that is a sub. An XS sub has already returned by
 * then, so the hook finds it before the call, by what lies on the stack, without calling anything.
 *
 * Return. pp_leavesub, pp_leavesublv and pp_return run first and are recorded after, since
 * leaving runs destructors, which belong to the sub. pp_return calls the
 * other two directly and so needs its own hook.
 *
 * goto &sub keeps the context and changes the sub in it: the hook sees that by the op that pp_goto
 * returns, the first one of the new sub. An XS sub runs inside of pp_goto, after the context is
 * gone: so the frame becomes that of an XS sub before pp_goto.
 *
 * last, next, redo, goto LABEL may leave subs: afterwards, frames whose index is no longer in use
 * have ended. So have C calls on the same level: the program will not return through them, though
 * they are still on the C stack. For that reason C calls have serial numbers: when a call returns,
 * it ends its frame only if the frame is still there.
 *
 * die. The code that catches it goes on with `PL_op = PL_restartop; CALLRUNOPS`. The prologue sees
 * that before the first op after the catch. The prologue does not see one catch: call_sv(G_EVAL),
 * which has no op to go on with. For calls below such an eval context a destructor is put on the
 * save stack; it runs when the eval context is popped.
 *
 * exit unwinds everything and calls END blocks; the entry of the first ends all frames.
 *
 * Sort comparators and blocks called by MULTICALL have no entersub; each
 * call starts a run loop on a stack-info of its own kind, with PL_op at the sub's start.
 * The prologue pushes a frame for each, and ends it when the loop ends.
 *
 * Subs that were compiled before the hooks were set have the original ops. dpx_adopt.c finds them
 * through the symbol table and gives them the hooks.
 *
 * fork. A handler (pthread_atfork, dpx_life.c) makes the child's next event take
 * the slow way, which starts a new file there.
 *
 * Coroutines. Another PL_mainstack is another coroutine: its frames are swapped in
 * (dpx_coro.c). Coro's functions that switch are wrapped where they have put themselves into ops.
 * Destructors of what a freed coroutine held run on its stacks; the end of each such call ends the
 * visit to them (both dpx_slf.c).
 *
 * Interpreters. The hooks belong to the process, and run also in interpreters that have not loaded
 * this module. A hook looks at one state, that of the first interpreter that records; if that is
 * another interpreter's, the hook finds its own in the list that perl_atexit keeps (dpx_ctx.c). An
 * interpreter without an entry there is left alone. A new thread is a clone, and has its parent's
 * entry: the interpreter's address in that state does not match, and the first event makes a state
 * of its own.
 *
 * What this relies on: perl keeps a context stack as since 5.24, and lets a module replace
 * PL_ppaddr and PL_runops. The code reads PL_exitlist, PL_mainstack, PL_curstackinfo, si_prev,
 * si_cxix, si_cxstack, si_type, CxTYPE, blk_sub.cv, blk_oldcop, blk_eval.retop, CvSTART and
 * cop_seq. Its own run loop does what perl's run loops do (Perl_runops_standard and
 * Perl_runops_debug in run.c and dump.c). */
#include "dpx_hook.h"
#include "dpx_adopt.h"
#include "dpx_builtin.h"
#include "dpx_callee.h"
#include "dpx_control.h"
#include "dpx_coro.h"
#include "dpx_ctx.h"
#include "dpx_detailed.h"
#include "dpx_events.h"
#include "dpx_frame.h"
#include "dpx_from.h"
#include "dpx_life.h"
#include "dpx_site.h"
#include "dpx_slf.h"
#include "dpx_stmt.h"
#include "dpx_values.h"

static Perl_ppaddr_t orig_entersub, orig_leavesub, orig_leavesublv, orig_return,
                     orig_goto, orig_next, orig_last, orig_redo, orig_exec, orig_exit;
static runops_proc_t orig_runops;
static runops_proc_t run_loop;  /* orig_runops, or a copy that counts ops */
static Perl_ppaddr_t our_entersub;
int dpx_way_bits = -1;

/* ---- entry ---- */

/* Gives an op of entersub our function back. Some XS modules change the op that called them, so
 * that the next call goes past pp_entersub: Class::XSAccessor and those it inspired. */
DP_INLINE void restore_op(pTHX_ OP *op)
{
    if (DP_UNLIKELY(PL_op == op && op->op_ppaddr != our_entersub) && op->op_type == OP_ENTERSUB)
        op->op_ppaddr = our_entersub;
}

/* Has an XS sub returned to another op, and changed the function of the op that called it? */
DP_INLINE bool is_taken(pTHX_ const OP *op)
{
    return DP_UNLIKELY(PL_op != op) && op->op_type == OP_ENTERSUB && op->op_ppaddr != our_entersub;
}

/* Gives an op whose function is dpx_slf_hook the function of entersub again. Coro checks the op
 * that calls it, and refuses one whose function it does not know. */
DP_INLINE void unwrap_slf(OP *op)
{
    if (DP_UNLIKELY(op->op_ppaddr == dpx_slf_hook))
        op->op_ppaddr = our_entersub;
}

/* Runs a call of an XS sub that is not recorded. */
DP_INLINE OP *call_unrecorded(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, U64 now, const int way)
{
    OP *op = PL_op;
    if (id & DPX_ID_DETAIL) {
        OP *next = dpx_detailed_xs(aTHX_ ctx, cv, now, orig_entersub);
        restore_op(aTHX_ op);
        return next;
    }
    ptrdiff_t at = ctx->top - ctx->frames;
    if (DP_UNLIKELY(id & DPX_ID_LEAVES))
        dpx_life_end_all();
    dpx_frame_unmarked(ctx, now, way);
    unwrap_slf(op);
    OP *next = orig_entersub(aTHX);
    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    if (is_taken(aTHX_ op) && dpx_slf_wraps(aTHX_ ctx, op, cv))
        return next;
    if (DP_UNLIKELY(ctx->top - ctx->frames > at))
        dpx_frame_look(aTHX_ ctx);
    restore_op(aTHX_ op);
    return next;
}

#define WAY(way, name) \
    static DP_NOINLINE OP *name##_##way(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, U64 now) \
    { return call_unrecorded(aTHX_ ctx, cv, id, now, way); }
DPX_EACH_WAY(WAY, unrecorded)
#undef WAY
static OP *(*const unrecorded[DPX_WAYS])(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, U64 now) =
    DPX_EACH_OF(unrecorded);

/* Pushes the frame of a call and makes its mark. is_from_c: the call comes from C, and the recorder
 * may be at another statement than caller names. Returns false if there is no memory. */
DP_INLINE bool push_frame(pTHX_ struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now,
                          const bool is_from_c, const int way)
{
    return is_from_c ? dpx_push_from(aTHX_ ctx, si, key, id, now, PL_curcop, way)
                     : dpx_frame_push(ctx, si, key, id, now, way);
}

/* An XS sub returned, and its frame is not there: a jump has left the frame, or the sub has run
 * code in another coroutine (Coro::State::call). */
static DP_COLD void back_from_xs(pTHX_ struct dpx_ctx *ctx, ptrdiff_t at, U64 serial, U64 now)
{
    if (dpx_coro_is_other(aTHX_ ctx)) {
        dpx_coro_notice(aTHX_ ctx, now);
        dpx_frame_end_call(ctx, at, serial, DPX_XS, now, dpx_way_bits);
    }
    dpx_way.unmarked(ctx, now);
}

/* Runs a call of an XS sub, with its frame: perl's entersub runs the whole sub, so the call has
 * ended when it returns, unless the sub died (then no code here runs) or waits in Coro. */
DP_INLINE OP *call_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, const bool is_from_c, const int way)
{
    U64 now = dpx_arrive(ctx, way);
    PERL_SI *si = PL_curstackinfo;
    OP *op = PL_op;
    dpx_frame_check_top(aTHX_ ctx, si, si->si_cxix, now);
    U32 id = dpx_callee_xs(aTHX_ ctx, cv);
    if (DP_UNLIKELY(!(id & DPX_ID_MASK))
        || !push_frame(aTHX_ ctx, si, DPX_KEY(si->si_cxix, DPX_XS), id & DPX_ID_MASK, now,
                       is_from_c, way))
        return unrecorded[way](aTHX_ ctx, cv, id, now);
    U64 serial = ctx->top->serial = ++ctx->serial;
    ctx->top->saved = PL_savestack_ix;
    ptrdiff_t at = ctx->top - ctx->frames;
    if (DP_UNLIKELY(id & DPX_ID_LEAVES))
        dpx_life_end_all();
    dpx_leave_to_c(ctx, way);

    unwrap_slf(op);
    OP *next = orig_entersub(aTHX);

    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    if (is_taken(aTHX_ op) && dpx_slf_wraps(aTHX_ ctx, op, cv)
        && dpx_slf_waits(aTHX_ ctx, op, at, serial))
        return next;
    now = dpx_arrive(ctx, way);
    if (DP_LIKELY(dpx_frame_end_call(ctx, at, serial, DPX_XS, now, way)))
        dpx_leave(ctx, way);
    else
        back_from_xs(aTHX_ ctx, at, serial, now);
    restore_op(aTHX_ op);
    return next;
}

/* Ends the frames that die has left, when the eval context of a call_sv(G_EVAL) is popped. */
static void eval_popped(pTHX_ void *arg)
{
    struct dpx_ctx *ctx = DPX_CTX;
    PERL_UNUSED_ARG(arg);
    if (ctx->thx == DPX_THX)
        dpx_frame_look(aTHX_ ctx);
}

/* Handles a change of PL_phase, or what may be a coroutine's first run loop on a C stack of its
 * own. */
static DP_COLD void new_stage(pTHX_ struct dpx_ctx *ctx)
{
    if (ctx->stage < 0) {
        ctx->stage = ~ctx->stage;
        dpx_slf_wrap_first(aTHX);
    }
    if (ctx->stage != (int)PL_phase)
        dpx_control_stage(aTHX_ ctx);
}

/* Ends all frames when END blocks begin. */
static DP_COLD void ends_begin(pTHX_ struct dpx_ctx *ctx)
{
    ctx->ended = true;
    dpx_frame_unwind(ctx, dpx_frame_arrive(ctx));
    dpx_frame_leave(ctx);
    new_stage(aTHX_ ctx);
}

/* Checks what a call from C, and not from an op, may show first: END blocks begin, another
 * coroutine runs, or an eval of call_sv is to be watched. */
static DP_NOINLINE void from_c(pTHX_ struct dpx_ctx *ctx)
{
    /* When END blocks and later code run, no sub of the program runs any more, even if it called
     * exit below an XS sub, whose end no context shows. */
    if (PL_phase >= PERL_PHASE_END && !ctx->ended)
        ends_begin(aTHX_ ctx);
    if (dpx_coro_is_other(aTHX_ ctx))
        dpx_slf_visit(aTHX_ ctx);
    if (cxstack_ix >= 0) {
        const PERL_CONTEXT *cx = CX_CUR();
        if (CxTYPE(cx) == CXt_EVAL && !cx->blk_eval.retop)
            SAVEDESTRUCTOR_X(eval_popped, NULL);
    }
}

/* Begins a sub that has been entered. next: its first op. */
DP_INLINE void begin_sub(pTHX_ struct dpx_ctx *ctx, OP *next, const int way)
{
    if (way & DPX_LINES)
        dpx_stmt_go_on(aTHX_ ctx, next);
    dpx_leave(ctx, way);
}

/* Records a Perl sub that has been entered. ix: the index of its context. */
DP_INLINE OP *enter_perl(pTHX_ struct dpx_ctx *ctx, PERL_SI *si, I32 ix, CV *cv, OP *next, U64 now,
                         const bool is_from_c, const int way)
{
    U32 id = dpx_callee_any(aTHX_ ctx, cv, next);
    if (DP_UNLIKELY(id & DPX_ID_AUTOLOAD))
        id = dpx_detailed_perl(aTHX_ ctx, cv, id, next, now);
    if (DP_LIKELY(id) && push_frame(aTHX_ ctx, si, DPX_KEY(ix, DPX_PERL), id, now, is_from_c, way))
        begin_sub(aTHX_ ctx, next, way);
    else
        dpx_frame_unmarked(ctx, now, way);
    return next;
}

/* Ends the dead frames on top. Returns true if there were any. */
DP_INLINE bool has_ended(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now)
{
    const struct dpx_frame *top = ctx->top;
    dpx_frame_check_top(aTHX_ ctx, si, ix, now);
    return ctx->top != top;
}

/* enter_perl for a call from C, after frames have ended whose end no hook has seen. */
#define WAY(way, name) \
    static DP_NOINLINE OP *name##_##way(pTHX_ struct dpx_ctx *ctx, I32 ix, OP *next, U64 now) \
    { \
        PERL_SI *si = PL_curstackinfo; \
        return enter_perl(aTHX_ ctx, si, ix, si->si_cxstack[ix].blk_sub.cv, next, now, \
                          ((way) & DPX_LINES) != 0, way); \
    }
DPX_EACH_WAY(WAY, entered_late)
#undef WAY
static OP *(*const entered_late[DPX_WAYS])(pTHX_ struct dpx_ctx *ctx, I32 ix, OP *next, U64 now) =
    DPX_EACH_OF(entered_late);

/* Runs entersub for the sub on top of perl's stack, and records the call. A Perl sub has only begun
 * then: a hook of another op ends it. */
DP_INLINE OP *call_sub(pTHX_ struct dpx_ctx *ctx, const bool is_from_c, const int way)
{
    CV *xs = dpx_callee_peek_xs(aTHX_ *PL_stack_sp);
    if (xs)
        return call_xs(aTHX_ ctx, xs, is_from_c, way);

    PERL_SI *si = PL_curstackinfo;
    I32 ix = si->si_cxix;
    OP *next = orig_entersub(aTHX);
    if (DP_UNLIKELY(PL_curstackinfo != si || si->si_cxix != ix + 1))
        return next;
    const PERL_CONTEXT *cx = &si->si_cxstack[ix + 1];
    if (DP_UNLIKELY(CxTYPE(cx) != CXt_SUB || ctx->thx != DPX_THX))
        return next;

    U64 now = dpx_arrive(ctx, way);
    if (!(way & DPX_LINES))
        dpx_frame_check_top(aTHX_ ctx, si, ix, now);
    else if (DP_UNLIKELY(!dpx_frame_is_fine(aTHX_ ctx->top, si, ix))
             && has_ended(aTHX_ ctx, si, ix, now) && !PL_op->op_next)
        return entered_late[way](aTHX_ ctx, ix + 1, next, now);
    return enter_perl(aTHX_ ctx, si, ix + 1, cx->blk_sub.cv, next, now, is_from_c, way);
}

/* A call from C when the recorder is at another statement than caller (dpx_push_from). */
#define WAY(way, name) \
    static DP_NOINLINE OP *name##_##way(pTHX_ struct dpx_ctx *ctx) \
    { return call_sub(aTHX_ ctx, ((way) & DPX_LINES) != 0, way); }
DPX_EACH_WAY(WAY, elsewhere)
#undef WAY
static OP *(*const elsewhere[DPX_WAYS])(pTHX_ struct dpx_ctx *ctx) = DPX_EACH_OF(elsewhere);

/* The hook of entersub, for the ways of recording in `way`. A call whose op has no successor comes
 * from C (call_sv). */
DP_INLINE OP *enter_sub(pTHX_ const int way)
{
    struct dpx_ctx *ctx = dpx_life_here(aTHX);
    if (DP_UNLIKELY(!ctx)) {
        unwrap_slf(PL_op);
        return orig_entersub(aTHX);
    }
    if (DP_UNLIKELY(!PL_op->op_next)) {
        from_c(aTHX_ ctx);
        if ((way & DPX_LINES) && DP_UNLIKELY(dpx_is_elsewhere(ctx, PL_curcop)))
            return elsewhere[way](aTHX_ ctx);
    }
    return call_sub(aTHX_ ctx, false, way);
}

#define CALL(way) enter_sub(aTHX_ way)
DPX_HOOKS(OP *, enter_hook, CALL)
#undef CALL

/* ---- return ---- */

/* Ends the call of the frame at index `at`, whose sub has returned. */
DP_INLINE void leave_recorded(pTHX_ struct dpx_ctx *ctx, ptrdiff_t at, const int way)
{
    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return;
    U64 now = dpx_arrive(ctx, way);
    struct dpx_frame *f = ctx->frames + at;
    /* Destructors may have left frames on top, or the frame may be gone. */
    if (DP_UNLIKELY(ctx->top != f)) {
        if (ctx->top < f)
            return;
        dpx_frame_unwind_to(ctx, f, now);
    }
    dpx_frame_pop(ctx, DP_RAW_LEAVE, now, way);
    dpx_leave(ctx, way);
}

/* The frame on top is not that of the sub that returns. It may be a dead one that no hook has
 * noticed, which ends now. Returns true if the frame of the sub is on top then. */
static DP_COLD bool look_again(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix)
{
    if (dpx_frame_in_order(aTHX_ ctx))
        return false;
    U64 now = dpx_frame_arrive(ctx);
    dpx_frame_reconcile(aTHX_ ctx, now);
    dpx_frame_leave(ctx);
    return dpx_frame_stands_at(ctx->top, si, ix);
}

/* Runs the op that leaves something without a frame: a sub that is not recorded, an eval. */
static DP_NOINLINE OP *leave_other(pTHX_ struct dpx_ctx *ctx, Perl_ppaddr_t orig)
{
    OP *next = orig(aTHX);
    if (ctx->thx == DPX_THX)
        dpx_frame_look(aTHX_ ctx);
    return next;
}

/* The hook of ops that leave a sub. The original runs first: destructors of the sub's variables
 * belong to it. */
DP_INLINE OP *leave_sub(pTHX_ Perl_ppaddr_t orig, const bool is_return, const int way)
{
    struct dpx_ctx *ctx = dpx_life_here(aTHX);
    if (DP_UNLIKELY(!ctx))
        return orig(aTHX);
    const PERL_SI *si = PL_curstackinfo;
    I32 ix = is_return ? dpx_cursub(aTHX) : si->si_cxix;
    if (DP_UNLIKELY(!dpx_frame_stands_at(ctx->top, si, ix)) && !look_again(aTHX_ ctx, si, ix))
        return leave_other(aTHX_ ctx, orig);
    ptrdiff_t at = ctx->top - ctx->frames;
    OP *next = orig(aTHX);
    leave_recorded(aTHX_ ctx, at, way);
    return next;
}

#define CALL(way) leave_sub(aTHX_ orig_leavesub, false, way)
DPX_HOOKS(OP *, leavesub_hook, CALL)
#undef CALL
#define CALL(way) leave_sub(aTHX_ orig_leavesublv, false, way)
DPX_HOOKS(OP *, leavesublv_hook, CALL)
#undef CALL
#define CALL(way) leave_sub(aTHX_ orig_return, true, way)
DPX_HOOKS(OP *, return_hook, CALL)
#undef CALL

/* ---- jumps ---- */

/* Ends the frames that a jump on this stack-info has left. The program will not return through C
 * calls on the level that it is on now. */
DP_INLINE void jumped(pTHX_ struct dpx_ctx *ctx, const int way)
{
    U64 now = dpx_arrive(ctx, way);
    const PERL_SI *si = PL_curstackinfo;
    while (ctx->top > ctx->frames) {
        const struct dpx_frame *f = ctx->top;
        bool out = f->si == si && DPX_KEY_IS_XS(f->key)
            ? DPX_KEY_IX(f->key) >= si->si_cxix : !dpx_frame_is_alive(aTHX_ f);
        if (!out)
            break;
        dpx_frame_pop(ctx, DP_RAW_UNWIND, now, way);
        dpx_frame_same_arrival(ctx, now);
    }
    dpx_leave(ctx, way);
}

#define WAY(way, name) \
    static DP_COLD void name##_##way(pTHX_ struct dpx_ctx *ctx) { jumped(aTHX_ ctx, way); }
DPX_EACH_WAY(WAY, jumped)
#undef WAY
static void (*const jumped_ways[DPX_WAYS])(pTHX_ struct dpx_ctx *ctx) = DPX_EACH_OF(jumped);
static void (*jumped_way)(pTHX_ struct dpx_ctx *ctx);

/* Runs next, last or redo, and ends the frames of subs that the jump has left. */
DP_INLINE OP *run_jump(pTHX_ Perl_ppaddr_t orig)
{
    OP *next = orig(aTHX);
    struct dpx_ctx *ctx = DPX_CTX;
    if (DP_LIKELY(ctx->thx == DPX_THX)) {
        const struct dpx_frame *top = ctx->top;
        const PERL_SI *si = PL_curstackinfo;
        /* A C call on the current level counts, too: the callback that jumped need not be
         * recorded. */
        if (DP_UNLIKELY(top->si == si
                        && (DPX_KEY_IX(top->key) > si->si_cxix
                            || top->key == DPX_KEY(si->si_cxix, DPX_XS))))
            jumped_way(aTHX_ ctx);
    }
    return next;
}

static OP *jump_next(pTHX) { return run_jump(aTHX_ orig_next); }
static OP *jump_last(pTHX) { return run_jump(aTHX_ orig_last); }
static OP *jump_redo(pTHX) { return run_jump(aTHX_ orig_redo); }

/* The sub that a goto names, or NULL if it is no `goto &sub`. */
static CV *goto_target(pTHX)
{
    if (!(PL_op->op_flags & OPf_STACKED))
        return NULL;
    SV *sv = *PL_stack_sp;
    return sv && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV ? (CV *)SvRV(sv) : NULL;
}

/* Changes the frame on top for a goto. is_there: that frame is the one of the sub that goto leaves.
 * Another sub runs in the frame, or the frame begins, or ends. Returns false if there was and is no
 * frame. */
DP_INLINE bool replace_frame(struct dpx_ctx *ctx, bool is_there, PERL_SI *si, I32 key, U32 id,
                             U64 now, const int way)
{
    if (!id) {
        if (is_there)
            dpx_frame_pop(ctx, DP_RAW_LEAVE, now, way);
        return is_there;
    }
    if (!is_there)
        return dpx_frame_push(ctx, si, key, id, now, way);
    ctx->top->key = key;
    ctx->top->runs = id;
    dp_rec_mark(&ctx->rec, DP_RAW_GOTO, id, &ctx->top->call, now, way & DPX_REC);
    return true;
}

/* Runs goto from the sub at index ix to an XS sub, which runs inside of pp_goto and has returned
 * afterwards. */
DP_INLINE OP *goto_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, PERL_SI *si, I32 ix, const int way)
{
    U64 now = dpx_arrive(ctx, way);
    dpx_way.settle(aTHX_ ctx, now);
    U32 id = dpx_callee_xs(aTHX_ ctx, cv);
    if (DP_UNLIKELY(!(id & DPX_ID_MASK))) {
        if (id & DPX_ID_DETAIL)
            return dpx_detailed_goto_xs(aTHX_ ctx, cv, ix, now, orig_goto);
        id = 0;
    }
    bool is_there = dpx_frame_stands_at(ctx->top, si, ix);
    bool marked = replace_frame(ctx, is_there, si, DPX_KEY(ix - 1, DPX_XS), id & DPX_ID_MASK, now,
                                way);
    if (!marked || !(id & DPX_ID_MASK)) {
        if (marked)
            dpx_leave(ctx, way);
        else
            dpx_frame_unmarked(ctx, now, way);
        return orig_goto(aTHX);
    }
    ptrdiff_t at = ctx->top - ctx->frames;
    U64 serial = ctx->top->serial = ++ctx->serial;
    /* pp_goto first leaves the sub's scope, which began at this height of the save stack. Code that
     * runs below that height belongs to a scope around it: the XS sub has died. */
    ctx->top->saved = si->si_cxstack[ix].blk_oldsaveix - 1;
    dpx_leave_to_c(ctx, way);

    OP *next = orig_goto(aTHX);

    if (ctx->thx != DPX_THX)
        return next;
    now = dpx_arrive(ctx, way);
    dpx_frame_end_call(ctx, at, serial, DPX_XS, now, way);
    dpx_leave(ctx, way);
    return next;
}

/* Runs goto. `goto &sub` replaces the running frame by that of the sub, which returns to the
 * caller; other gotos are jumps. */
DP_INLINE OP *goto_any(pTHX_ const int way)
{
    struct dpx_ctx *ctx = dpx_life_here(aTHX);
    CV *target = ctx ? goto_target(aTHX) : NULL;
    if (!target)
        return run_jump(aTHX_ orig_goto);

    /* goto leaves the innermost sub; from an eval it croaks. */
    PERL_SI *si = PL_curstackinfo;
    I32 ix = dpx_cursub(aTHX);
    if (CvISXSUB(target) && ix >= 0 && CxTYPE(&si->si_cxstack[ix]) == CXt_SUB
        && !CxMULTICALL(&si->si_cxstack[ix]))
        return goto_xs(aTHX_ ctx, target, si, ix, way);
    OP *next = orig_goto(aTHX);
    if (ctx->thx != DPX_THX || !next || PL_curstackinfo != si || si->si_cxix != ix || ix < 0)
        return next;
    const PERL_CONTEXT *cx = &si->si_cxstack[ix];
    if (CxTYPE(cx) != CXt_SUB || next != CvSTART(cx->blk_sub.cv))
        return next;
    U64 now = dpx_arrive(ctx, way);
    dpx_way.settle(aTHX_ ctx, now);
    U32 id = dpx_callee_any(aTHX_ ctx, cx->blk_sub.cv, next);
    if (DP_UNLIKELY(id & DPX_ID_AUTOLOAD))
        id = dpx_detailed_goto(aTHX_ ctx, ix, id, next, now);
    if (replace_frame(ctx, dpx_frame_stands_at(ctx->top, si, ix), si, DPX_KEY(ix, DPX_PERL), id,
                      now, way))
        begin_sub(aTHX_ ctx, next, way);
    else
        dpx_frame_unmarked(ctx, now, way);
    return next;
}

#define CALL(way) goto_any(aTHX_ way)
DPX_HOOKS(OP *, goto_hook, CALL)
#undef CALL

/* The hook of exec, which replaces the program without notice, or fails, and the program goes
 * on. */
static OP *exec_hook(pTHX)
{
    dpx_life_before_exec();
    OP *next = orig_exec(aTHX);
    struct dpx_ctx *ctx = dpx_ctx_current(aTHX);
    if (ctx)
        dpx_life_after_exec(ctx);
    return next;
}

/* Notes that the program itself has called exit. When perl gives up compiling, the end looks the
 * same. */
static OP *exit_hook(pTHX)
{
    struct dpx_ctx *ctx = dpx_ctx_current(aTHX);
    if (ctx) {
        ctx->exits = true;
        dpx_values_last(aTHX_ ctx);
    }
    return orig_exit(aTHX);
}

/* ---- the run loop's prologue ---- */

/* The sub of a MULTICALL that this run loop calls once; NULL for other run loops. */
DP_INLINE CV *multicall_sub(pTHX)
{
    const PERL_SI *si = PL_curstackinfo;
    if (si->si_cxix != 0 || (si->si_type != PERLSI_SORT && si->si_type != PERLSI_MULTICALL))
        return NULL;
    const PERL_CONTEXT *cx = &si->si_cxstack[0];
    if ((cx->cx_type & (CXTYPEMASK | CXp_SUB_RE | CXp_SUB_RE_FAKE)) != CXt_SUB)
        return NULL;
    CV *cv = cx->blk_sub.cv;
    return cv && !CvISXSUB(cv) && PL_op && PL_op == CvSTART(cv) ? cv : NULL;
}

/* Runs ops as Perl_runops_debug does, for perls with DEBUGGING, and counts them. As soon as one of
 * perl's -D flags is set, the original runs, and nothing is counted. This copy does not check that
 * ops extend the stack as they should, but keeps its high-water mark, which the caller of an XS sub
 * checks. */
static int debug_and_count(pTHX)
{
    U64 *count = &DPX_CTX->ops;
    if (!PL_op || PL_debug)
        return orig_runops(aTHX);
    while ((PL_op = PL_op->op_ppaddr(aTHX))) {
        ++*count;
#ifdef PERL_USE_HWM
        if (PL_curstackinfo->si_stack_hwm < PL_stack_sp - PL_stack_base)
            PL_curstackinfo->si_stack_hwm = PL_stack_sp - PL_stack_base;
#endif
        if (DP_UNLIKELY(PL_debug))
            return orig_runops(aTHX);
    }
    PERL_ASYNC_CHECK();
    TAINT_NOT;
    return 0;
}

/* Runs ops as Perl_runops_standard does, and counts them. */
static int run_and_count(pTHX)
{
    U64 *count = &DPX_CTX->ops;
    OP *op = PL_op;
    while ((PL_op = op = op->op_ppaddr(aTHX)))
        ++*count;
    PERL_ASYNC_CHECK();
    TAINT_NOT;
    return 0;
}

/* Runs ops as run_and_count does, and looks after each op at the values that it has made, if these
 * are followed. */
static int run_and_follow(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    struct dpx_values *values = ctx->values;
    if (!values || values->off)
        return run_and_count(aTHX);
    U64 *count = &ctx->ops;
    OP *op = PL_op;
    while ((PL_op = op = op->op_ppaddr(aTHX))) {
        ++*count;
        dpx_values_look(aTHX_ ctx, values);
    }
    dpx_values_look(aTHX_ ctx, values);
    PERL_ASYNC_CHECK();
    TAINT_NOT;
    return 0;
}

/* Runs a run loop that is one call of a sub from C, without entersub: the block of sort or first {
 * }. */
DP_INLINE int run_multicall(pTHX_ struct dpx_ctx *ctx, CV *cv, const int way)
{
    U64 now = dpx_arrive(ctx, way);
    U32 id = dpx_callee_perl(aTHX_ ctx, cv, PL_op);
    PERL_SI *si = PL_curstackinfo;
    if (!id || !dpx_push_from(aTHX_ ctx, si, DPX_KEY(0, DPX_MULTICALL), id, now,
                          si->si_cxstack[0].blk_oldcop, way)) {
        dpx_frame_unmarked(ctx, now, way);
        return run_loop(aTHX);
    }
    U64 serial = ctx->top->serial = ++ctx->serial;
    ptrdiff_t at = ctx->top - ctx->frames;
    begin_sub(aTHX_ ctx, PL_op, way);

    int rc = run_loop(aTHX);

    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return rc;
    now = dpx_arrive(ctx, way);
    dpx_frame_end_call(ctx, at, serial, DPX_MULTICALL, now, way);
    dpx_leave(ctx, way);
    return rc;
}

/* Ends dead frames for a run loop that begins after frames have ended unseen, or in another
 * coroutine. */
static DP_COLD void begins_elsewhere(pTHX_ struct dpx_ctx *ctx)
{
    if (dpx_coro_is_other(aTHX_ ctx))
        dpx_slf_visit(aTHX_ ctx);
    dpx_frame_look(aTHX_ ctx);
}

/* Has die ended an eval? Other run loops begin with a statement, or run a callback. */
DP_INLINE bool goes_on(pTHX)
{
    return PL_op && !dpx_stmt_is(PL_op) && PL_curstackinfo->si_type != PERLSI_SORT
           && PL_curstackinfo->si_type != PERLSI_MULTICALL;
}

/* Runs perl's run loop, after what only its beginning shows: a new phase of the program, a
 * coroutine, a call without entersub, or the end of an eval that died. */
DP_INLINE int runops(pTHX_ const int way)
{
    struct dpx_ctx *ctx = dpx_life_here(aTHX);
    if (DP_UNLIKELY(!ctx))
        return orig_runops(aTHX);
    if (!dpx_frame_in_order(aTHX_ ctx))
        begins_elsewhere(aTHX_ ctx);
    if (DP_UNLIKELY(ctx->stage != (int)PL_phase))
        new_stage(aTHX_ ctx);
    CV *cv = multicall_sub(aTHX);
    if (cv)
        return run_multicall(aTHX_ ctx, cv, way);
    if ((way & DP_REC_LINES) && goes_on(aTHX))
        dpx_stmt_restarted(aTHX_ ctx);
    return run_loop(aTHX);
}

#define CALL(way) runops(aTHX_ way)
DPX_HOOKS(int, runops_hook, CALL)
#undef CALL

/* ---- installation ---- */

Perl_ppaddr_t dpx_hook_original(Optype type)
{
    switch (type) {
    case OP_EXEC: return orig_exec;
    case OP_EXIT: return orig_exit;
    case OP_ENTERSUB: return orig_entersub;
    case OP_LEAVESUB: return orig_leavesub;
    case OP_LEAVESUBLV: return orig_leavesublv;
    case OP_RETURN: return orig_return;
    case OP_GOTO: return orig_goto;
    case OP_NEXT: return orig_next;
    case OP_LAST: return orig_last;
    case OP_REDO: return orig_redo;
    case OP_NEXTSTATE: case OP_DBSTATE: case OP_UNSTACK: case OP_LEAVEEVAL:
    case OP_LEAVETRY:
        return dpx_stmt_original(type);
    default: return dpx_builtin_original(type);
    }
}

/* Hooks calls, for all interpreters of the process. */
static void install_calls(pTHX_ const struct dpx_ctx *ctx, int way)
{
    run_loop = orig_runops = dpx_run.loop_before = PL_runops;
    if ((ctx->rec.how.ops || dpx_run.plan.ops) && dpx_events_may_count_ops(orig_runops))
        run_loop = orig_runops == Perl_runops_standard ? run_and_count : debug_and_count;
    if ((dpx_run.opt.heap == DPX_HEAP_EXACT || dpx_run.blocks_only) && run_loop == run_and_count)
        run_loop = run_and_follow;
    dpx_adopt_type(OP_LEAVESUB, &orig_leavesub, leavesub_hook[way]);
    dpx_adopt_type(OP_LEAVESUBLV, &orig_leavesublv, leavesublv_hook[way]);
    dpx_adopt_type(OP_RETURN, &orig_return, return_hook[way]);
    dpx_adopt_type(OP_GOTO, &orig_goto, goto_hook[way]);
    dpx_adopt_type(OP_NEXT, &orig_next, jump_next);
    dpx_adopt_type(OP_LAST, &orig_last, jump_last);
    dpx_adopt_type(OP_REDO, &orig_redo, jump_redo);
    dpx_adopt_type(OP_ENTERSUB, &orig_entersub, our_entersub);
    if (dpx_run.opt.builtins || dpx_run.detail)
        dpx_builtin_install();
    if (dpx_run.opt.lines && !dpx_line_samples())
        dpx_stmt_install(aTHX_ way, ctx->rec.how.line_times);
    dpx_run.loop = runops_hook[way];
}

void dpx_hook_install(pTHX_ const struct dpx_ctx *ctx)
{
    int way = (ctx->clock.kind == DPX_CLOCK_COUNTER ? DPX_COUNTER : 0)
              | (ctx->rec.how.tree ? DPX_TREE : 0) | (ctx->rec.how.n_counted ? DPX_COUNTS : 0)
              | (ctx->rec.how.line_times ? DPX_LINES : 0);
    if (dpx_way_bits < 0) {
        dpx_way_bits = way;
        dpx_way = dpx_run.only_samples ? dpx_unmarked_way : dpx_ways[way];
        jumped_way = jumped_ways[way];
        our_entersub = enter_hook[way];
        dpx_adopt_type(OP_EXEC, &orig_exec, exec_hook);
        dpx_adopt_type(OP_EXIT, &orig_exit, exit_hook);
        if (!dpx_run.only_samples)
            install_calls(aTHX_ ctx, way);
    }
    if (dpx_run.only_samples)
        return;
    if (dpx_run.opt.lines && !dpx_line_samples())
        dpx_stmt_join(aTHX);
    if (PL_runops == dpx_run.loop_before)       /* else another module has it */
        PL_runops = dpx_run.loop;
    dpx_adopt(aTHX_ dpx_hook_original);
}
