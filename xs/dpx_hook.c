/* The hooks: how every entry and exit of a sub is seen.
 *
 * The ops that enter and leave subs are hooked (PL_ppaddr), and the run loop
 * gets a prologue (PL_runops). The program's stacks are only looked at. Beside them
 * stands a stack of our own. Each frame on it says where its sub stands: on
 * which stack-info (PERL_SI) and at which index of that one's context stack.
 * Whether a frame is alive can then be told at any time from outside: its
 * stack-info is on the chain of current ones, its index is in use, and the context
 * there is a sub's. (An XS sub has no context: while it runs, the save stack is higher than
 * it found it.) So an exit that no hook saw costs nothing but the delay
 * until somebody looks.
 *
 * Entry. pp_entersub decides itself what is called (overloading, AUTOLOAD,
 * symbolic names, magic). Afterwards, a Perl sub was entered if and only if the
 * same context stack has one more context and that is a sub. An XS sub has come and gone
 * by then, so for it we look at what lies on the stack before, without
 * calling anything.
 *
 * Return. pp_leavesub, pp_leavesublv and pp_return run first and are recorded after, since
 * leaving runs destructors, which belong to the sub. pp_return calls the
 * other two directly and so needs its own hook.
 *
 * goto &sub keeps the context and changes the sub in it: seen after pp_goto by the op that
 * it returns, the first one of the new sub. An XS sub runs inside of pp_goto,
 * after the context is gone: the frame becomes that of an XS sub before.
 *
 * last, next, redo, goto LABEL may leave subs: afterwards, frames whose index is no longer
 * in use have ended. So have C calls on the same level: the program will
 * not return through them, though they are still on the C stack. For that reason the C
 * calls carry serials; on return a call ends its frame only if that is still there.
 *
 * die. Whoever catches it goes on with `PL_op = PL_restartop; CALLRUNOPS`. The
 * prologue sees that before the first op after the catch. One catch does not come by: call_sv(G_EVAL),
 * which has no op to go on with. For calls below such an eval context a
 * destructor is put on the save stack; it runs when the eval context is popped.
 *
 * exit unwinds everything and calls END blocks, whose entry notices.
 *
 * Sort comparators and blocks called by MULTICALL have no entersub; each
 * call starts a run loop on a stack-info of its own kind, with PL_op at the sub's start.
 * The prologue takes them in, and out again when the loop ends.
 *
 * Subs that were compiled before the hooks were set have the original ops; they
 * are found through the symbol table and given the hooks (dpx_adopt.c).
 *
 * fork. A handler (pthread_atfork, dpx_run.c) makes the child's next event take
 * the slow way, which starts a new file there.
 *
 * Coroutines. Another PL_mainstack is another coroutine: its frames are swapped in
 * (dpx_coro.c). Coro's functions that switch are wrapped where they have put themselves into ops.
 * What is destroyed with a coroutine runs on its stacks; the end of each such call is the end of that visit.
 *
 * Threads. A new interpreter starts with its parent's pointer to our state; the interpreter's
 * address in it does not match, and the first event makes a state of its own.
 *
 * What this relies on: perl 5.24's context stack; PL_ppaddr, PL_runops,
 * PL_mainstack, PL_curstackinfo, si_prev, si_cxix, si_cxstack, si_type, CxTYPE, blk_sub.cv,
 * blk_eval.retop, CvSTART, cop_seq. */
#include "dpx.h"
#include "dp_mem.h"

static Perl_ppaddr_t orig_entersub, orig_leavesub, orig_leavesublv, orig_return,
                     orig_goto, orig_next, orig_last, orig_redo, orig_exec;
static runops_proc_t orig_runops;
static runops_proc_t run;       /* orig_runops, or the one that counts */
static Perl_ppaddr_t our_entersub;
static runops_proc_t our_runops;
static int installed = -1;      /* which hooks; -1: none yet */

/* The hooks exist once for each way of recording, so that none asks which it
 * is. */
enum { COUNTER = 1, TREE = 2, HOWS = 4 };

/* ---- frames ---- */

static DP_COLD bool more_frames(struct dpx_ctx *ctx)
{
    size_t n = (size_t)(ctx->frames_end - ctx->frames);
    size_t top = (size_t)(ctx->top - ctx->frames);
    struct dpx_frame *frames = dp_mem_realloc(ctx->frames, n * 2, sizeof *frames);
    if (!frames)
        return false;
    ctx->frames = frames;
    ctx->frames_end = frames + n * 2;
    ctx->top = frames + top;
    return true;
}

/* The mark goes out only with the frame: both or none. */
DP_INLINE bool push(struct dpx_ctx *ctx, PERL_SI *si, I32 key, U32 id, U64 now, const int how)
{
    if (DP_UNLIKELY(ctx->top + 1 == ctx->frames_end) && !more_frames(ctx))
        return false;
    struct dpx_frame *f = ++ctx->top;
    f->si = si;
    f->key = key;
    f->id = f->runs = id;
    dp_rec_mark(&ctx->rec, DP_RAW_ENTER, id, &f->call, now, how & TREE);
    return true;
}

DP_INLINE void pop(struct dpx_ctx *ctx, enum dp_raw_kind kind, U64 now, const int how)
{
    struct dpx_frame *f = ctx->top--;
    dp_rec_mark(&ctx->rec, kind, f->id, &f->call, now, how & TREE);
}

/* A further mark of the same arrival: no time has passed in the program. */
DP_INLINE void same_arrival(struct dpx_ctx *ctx, U64 now)
{
    ctx->rec.left = now;
}

static void unwind_to(struct dpx_ctx *ctx, struct dpx_frame *keep, U64 now)
{
    while (ctx->top > keep) {
        pop(ctx, DP_RAW_UNWIND, now, installed);
        same_arrival(ctx, now);
    }
}

/* A C call has returned, whose frame was the at-th: ends that, with those above it. False: the frame has
 * gone before. */
DP_INLINE bool end_call(struct dpx_ctx *ctx, ptrdiff_t at, U64 serial, const int kind, U64 now, const int how)
{
    struct dpx_frame *f = ctx->frames + at;
    if (DP_UNLIKELY(ctx->top < f || f->serial != serial || DPX_KEY_KIND(f->key) != kind))
        return false;
    unwind_to(ctx, f, now);
    pop(ctx, DP_RAW_LEAVE, now, how);
    return true;
}

static bool on_chain(const PERL_SI *of, const PERL_SI *from)
{
    for (; from; from = from->si_prev)
        if (from == of)
            return true;
    return false;
}

/* CXt_NULL: Scope::Upper hides contexts in this way for a while. */
DP_INLINE bool is_sub_slot(const PERL_SI *si, I32 ix)
{
    U8 type = CxTYPE(&si->si_cxstack[ix]);
    return type == CXt_SUB || type == CXt_NULL;
}

/* How low the save stack was since the XS sub of f was called, as far as the
 * contexts above it tell. While a scope is being left, its destructors and defer
 * blocks run below that height. */
static I32 save_height(pTHX_ const struct dpx_frame *f)
{
    I32 ix = DPX_KEY_IX(f->key);
    if (f->si->si_cxix > ix)
        return f->si->si_cxstack[ix + 1].blk_oldsaveix;
    const PERL_SI *above = PL_curstackinfo;
    if (above == f->si)
        return PL_savestack_ix;
    while (above->si_prev != f->si)
        above = above->si_prev;
    return above->si_cxix >= 0 ? above->si_cxstack[0].blk_oldsaveix : PL_savestack_ix;
}

static bool is_alive(pTHX_ const struct dpx_frame *f)
{
    I32 ix = DPX_KEY_IX(f->key);
    if (!on_chain(f->si, PL_curstackinfo) || ix > f->si->si_cxix)
        return false;
    return DPX_KEY_IS_XS(f->key) ? f->saved < save_height(aTHX_ f) : is_sub_slot(f->si, ix);
}

/* Does another coroutine run than the one whose frames these are? */
DP_INLINE bool is_other_coro(pTHX_ const struct dpx_ctx *ctx)
{
    return DP_UNLIKELY(PL_mainstack != ctx->mainstack);
}

static DP_COLD void switch_coro(pTHX_ struct dpx_ctx *ctx, U64 now)
{
    dpx_coro_switch(aTHX_ ctx, PL_mainstack, now);
    /* One that begins may get a C stack of its own: see new_stack. */
    if (ctx->stage >= 0)
        ctx->stage = ~ctx->stage;
    /* Coro sets this to perl's own when it makes a coroutine: that which it was compiled for, even if
     * perl has assertions. A loop of somebody else is left alone. */
    if (PL_runops == orig_runops || PL_runops == Perl_runops_standard)
        PL_runops = our_runops;
}

void dpx_hook_reconcile(pTHX_ struct dpx_ctx *ctx, U64 now)
{
    if (is_other_coro(aTHX_ ctx))
        switch_coro(aTHX_ ctx, now);
    while (ctx->top > ctx->frames && !is_alive(aTHX_ ctx->top)) {
        pop(ctx, DP_RAW_UNWIND, now, installed);
        same_arrival(ctx, now);
    }
}

/* The same when a context beyond index ix of si has just been pushed: it may
 * stand where that of a dead frame stood. */
static DP_COLD void reconcile_below(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now)
{
    const struct dpx_frame *f;
    if (is_other_coro(aTHX_ ctx))
        switch_coro(aTHX_ ctx, now);
    while ((f = ctx->top) > ctx->frames
           && ((f->si == si && DPX_KEY_IX(f->key) > ix) || !is_alive(aTHX_ f))) {
        pop(ctx, DP_RAW_UNWIND, now, installed);
        same_arrival(ctx, now);
    }
}

void dpx_hook_unwind(struct dpx_ctx *ctx, U64 now)
{
    unwind_to(ctx, ctx->frames, now);
}

U32 dpx_hook_caller(const struct dpx_ctx *ctx)
{
    return ctx->top > ctx->frames + 1 ? ctx->top[-1].runs : 0;
}

/* Is the frame on top alive, as it nearly always is? ix: the current index. */
DP_INLINE bool top_is_fine(pTHX_ const struct dpx_frame *top, const PERL_SI *si, I32 ix)
{
    I32 at = DPX_KEY_IX(top->key);
    return top->si == si && at <= ix
        && (DPX_KEY_IS_XS(top->key) ? at == ix && top->saved < PL_savestack_ix : is_sub_slot(si, at));
}

DP_INLINE void check_top(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix, U64 now)
{
    if (DP_UNLIKELY(!top_is_fine(aTHX_ ctx->top, si, ix)) && (ctx->top != ctx->frames || is_other_coro(aTHX_ ctx)))
        reconcile_below(aTHX_ ctx, si, ix, now);
}

/* Nothing for dpx_hook_reconcile to do? */
DP_INLINE bool is_in_order(pTHX_ const struct dpx_ctx *ctx)
{
    return !is_other_coro(aTHX_ ctx) && (ctx->top == ctx->frames || is_alive(aTHX_ ctx->top));
}

static DP_COLD U64 slow_stamp(struct dpx_ctx *ctx)
{
    return dpx_stamp(&ctx->clock, installed & COUNTER);
}

/* Leaving a hook that made no mark since the arrival at stamp now: the gap goes on,
 * without the time that the hook took. */
DP_INLINE void leave_unmarked(struct dpx_ctx *ctx, U64 now, const int how)
{
    ctx->rec.left += dpx_stamp(&ctx->clock, how & COUNTER) - now;
}

/* Ends the frames that the program has left, if the one on top is among them. */
DP_INLINE void look(pTHX_ struct dpx_ctx *ctx)
{
    if (!is_in_order(aTHX_ ctx)) {
        dpx_hook_reconcile(aTHX_ ctx, slow_stamp(ctx));
        ctx->rec.left = slow_stamp(ctx);
    }
}

/* ---- who is called ---- */

DP_INLINE U32 find_id(pTHX_ struct dpx_ctx *ctx, CV *cv, UV code, UV name, U32 seq, const OP *start)
{
    const struct dpx_known *k = &ctx->cache[(code >> 4 ^ name >> 4) & (DPX_CACHE - 1)];
    if (DP_LIKELY(k->code == code && k->name == name && k->seq == seq))
        return k->id;
    return dpx_name_find(aTHX_ ctx, cv, start);
}

/* start: the sub's first op, about to run and so in the cache. */
DP_INLINE U32 perl_sub_id(pTHX_ struct dpx_ctx *ctx, CV *cv, const OP *start)
{
    UV name = PTR2UV(((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv);
    U32 seq = DP_LIKELY(start->op_type == OP_NEXTSTATE) ? cCOPx(start)->cop_seq
            : start->op_type == OP_DBSTATE ? cCOPx(start)->cop_seq : 0;
    U32 id = find_id(aTHX_ ctx, cv, PTR2UV(start), name, seq, start);
    if (DP_UNLIKELY(id & DPX_ID_AUTOLOAD))
        id = dpx_name_wanted(aTHX_ ctx, cv, id, start);
    return id;
}

DP_INLINE U32 xs_sub_id(pTHX_ struct dpx_ctx *ctx, CV *cv)
{
    UV name = PTR2UV(((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv) ^ PTR2UV(CvXSUB(cv));
    return find_id(aTHX_ ctx, cv, PTR2UV(cv), name, 0, NULL);
}

/* The rarer things an entersub may find on the stack. */
static DP_COLD CV *peek_odd(pTHX_ SV *sv)
{
    if (!sv)
        return NULL;
    if (SvTYPE(sv) == SVt_PVGV || SvTYPE(sv) == SVt_PVLV)
        return isGV_with_GP(sv) ? GvCVu((GV *)sv) : NULL;
    if (SvROK(sv)) {
        /* An overloaded object may stand for another sub, and only calling tells. */
        SV *rv = SvRV(sv);
        if (SvGMAGICAL(sv) || SvTYPE(rv) != SVt_PVCV || (SvOBJECT(rv) && HvAMAGIC(SvSTASH(rv))))
            return NULL;
        return (CV *)rv;
    }
    if (SvPOK(sv) && !SvGMAGICAL(sv))
        return get_cvn_flags(SvPVX_const(sv), SvCUR(sv), SvUTF8(sv));
    return NULL;
}

/* The XS sub that the entersub will call, or NULL. */
DP_INLINE CV *peek_xs(pTHX_ SV *sv)
{
    CV *cv = (CV *)sv;
    if (DP_LIKELY(sv != NULL)) {
        if ((SvFLAGS(sv) & (SVf_ROK | SVs_GMG)) == SVf_ROK)
            cv = (CV *)SvRV(sv);
        if (DP_LIKELY(SvTYPE(cv) == SVt_PVCV && !SvOBJECT(cv)))
            return DP_UNLIKELY(CvISXSUB(cv)) ? cv : NULL;
        if (DP_LIKELY(SvTYPE(sv) == SVt_PVGV && isGV_with_GP(sv))) {
            cv = GvCVu((GV *)sv);
            return cv && DP_UNLIKELY(CvISXSUB(cv)) ? cv : NULL;
        }
    }
    cv = peek_odd(aTHX_ sv);
    return cv && CvISXSUB(cv) ? cv : NULL;
}

/* ---- entry ---- */

/* Some XS modules change the op that called them, so that the next call goes
 * past pp_entersub: Class::XSAccessor and those it inspired. */
DP_INLINE void restore_op(pTHX_ OP *op)
{
    if (DP_UNLIKELY(PL_op == op && op->op_ppaddr != our_entersub) && op->op_type == OP_ENTERSUB)
        op->op_ppaddr = our_entersub;
}

/* Coro's functions that go on to another coroutine (cede, schedule, ...) put an op function of Coro's own
 * into the op that called them, pp_slf, and have the op run again. pp_slf returns in whatever coroutine goes on
 * then, perhaps on another C stack, and calls pp_entersub for what is no such function. It is wrapped, so
 * that calls count and switches show. */
enum { SLF_MAX = 64 };
static Perl_ppaddr_t orig_slf;
static OP *slf_hook(pTHX);
static void new_stage(pTHX_ struct dpx_ctx *ctx);

static bool is_slf(const struct dpx_ctx *ctx, const CV *cv)
{
    for (int i = 0; i < SLF_MAX && ctx->slf[i]; i++)
        if (ctx->slf[i] == cv)
            return true;
    return false;
}

/* Coro looks, and refuses calls by ops that have other functions than it knows. */
DP_INLINE void unwrap_slf(OP *op)
{
    if (DP_UNLIKELY(op->op_ppaddr == slf_hook))
        op->op_ppaddr = our_entersub;
}

/* An XS sub returned to another op, and changed the one that called it: one of those? */
static DP_COLD bool wraps_slf(pTHX_ struct dpx_ctx *ctx, OP *op, CV *cv)
{
    if (op->op_type != OP_ENTERSUB || op->op_ppaddr == our_entersub || !gv_stashpvs("Coro::State", 0))
        return false;
    if (!orig_slf)
        orig_slf = op->op_ppaddr;
    if (op->op_ppaddr != orig_slf)
        return false;
    for (int i = 0; i < SLF_MAX && !is_slf(ctx, cv); i++)
        if (!ctx->slf[i])
            ctx->slf[i] = cv;
    if (!is_slf(ctx, cv))
        return false;
    op->op_ppaddr = slf_hook;
    return true;
}

/* Then its frame, if it is there, waits for the op to be run again. */
static DP_COLD bool waits_for_slf(pTHX_ struct dpx_ctx *ctx, OP *op, ptrdiff_t at, U64 serial)
{
    struct dpx_frame *f = ctx->frames + at;
    if (ctx->top != f || f->serial != serial)
        return false;
    f->key = DPX_KEY(DPX_KEY_IX(f->key), DPX_SLF);
    f->serial = PTR2UV(op);
    f->saved = PL_savestack_ix - 1;                 /* nothing is saved above it */
    return true;
}

static bool top_is_slf(pTHX_ const struct dpx_ctx *ctx)
{
    const struct dpx_frame *f = ctx->top;
    return f > ctx->frames && DPX_KEY_KIND(f->key) == DPX_SLF
        && f->si == PL_curstackinfo && DPX_KEY_IX(f->key) == PL_curstackinfo->si_cxix;
}

static void before_slf(pTHX_ struct dpx_ctx *ctx)
{
    U64 now = slow_stamp(ctx);
    CV *cv = peek_xs(aTHX_ *PL_stack_sp);
    dpx_hook_reconcile(aTHX_ ctx, now);
    /* On a new C stack the op is run once more, with the frame in place. */
    U32 id = cv && is_slf(ctx, cv) && !(top_is_slf(aTHX_ ctx) && ctx->top->serial == PTR2UV(PL_op))
        ? xs_sub_id(aTHX_ ctx, cv) & DPX_ID_MASK : 0;
    if (id && push(ctx, PL_curstackinfo, DPX_KEY(PL_curstackinfo->si_cxix, DPX_SLF), id, now, installed)) {
        ctx->top->serial = PTR2UV(PL_op);
        ctx->top->saved = PL_savestack_ix - 1;
        ctx->rec.left = slow_stamp(ctx);
    } else {
        leave_unmarked(ctx, now, installed);
    }
}

static void after_slf(pTHX_ struct dpx_ctx *ctx)
{
    U64 now = slow_stamp(ctx);
    dpx_hook_reconcile(aTHX_ ctx, now);
    if (top_is_slf(aTHX_ ctx)) {
        pop(ctx, DP_RAW_LEAVE, now, installed);
        ctx->rec.left = slow_stamp(ctx);
    } else {
        leave_unmarked(ctx, now, installed);
    }
}

/* Coro tells by the height of the C stack whether a coroutine is within a call from C; if so, that one keeps
 * its C stack and cannot be cancelled safely. So pp_slf is always called from here, and never
 * from anywhere else. */
static DP_NOINLINE OP *slf_hook(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    if (ctx->thx == DPX_THX)
        before_slf(aTHX_ ctx);
    OP *next = orig_slf(aTHX);
    if (ctx->thx == DPX_THX)
        after_slf(aTHX_ ctx);
    return next;
}

/* A call of an XS sub that is not recorded. */
static DP_NOINLINE OP *call_unrecorded(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, U64 now)
{
    OP *op = PL_op;
    ptrdiff_t at = ctx->top - ctx->frames;
    if (DP_UNLIKELY(id & DPX_ID_LEAVES))
        dpx_run_end(aTHX_ ctx);
    leave_unmarked(ctx, now, installed);
    unwrap_slf(op);
    OP *next = orig_entersub(aTHX);
    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    if (DP_UNLIKELY(PL_op != op) && wraps_slf(aTHX_ ctx, op, cv))
        return next;
    if (DP_UNLIKELY(ctx->top - ctx->frames > at))
        look(aTHX_ ctx);
    restore_op(aTHX_ op);
    return next;
}

/* An XS sub returned, and its frame is not there. It has been left by a jump, or has run code in
 * another coroutine (Coro::State::call). */
static DP_COLD void back_from_xs(pTHX_ struct dpx_ctx *ctx, ptrdiff_t at, U64 serial, U64 now)
{
    if (is_other_coro(aTHX_ ctx)) {
        switch_coro(aTHX_ ctx, now);
        end_call(ctx, at, serial, DPX_XS, now, installed);
    }
    leave_unmarked(ctx, now, installed);
}

DP_INLINE OP *call_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, const int how)
{
    U64 now = dpx_stamp(&ctx->clock, how & COUNTER);
    PERL_SI *si = PL_curstackinfo;
    OP *op = PL_op;
    check_top(aTHX_ ctx, si, si->si_cxix, now);
    U32 id = xs_sub_id(aTHX_ ctx, cv);
    if (DP_UNLIKELY(!(id & DPX_ID_MASK))
        || !push(ctx, si, DPX_KEY(si->si_cxix, DPX_XS), id & DPX_ID_MASK, now, how))
        return call_unrecorded(aTHX_ ctx, cv, id, now);
    U64 serial = ctx->top->serial = ++ctx->serial;
    ctx->top->saved = PL_savestack_ix;
    ptrdiff_t at = ctx->top - ctx->frames;
    if (DP_UNLIKELY(id & DPX_ID_LEAVES))
        dpx_run_end(aTHX_ ctx);
    ctx->rec.left = dpx_stamp(&ctx->clock, how & COUNTER);

    unwrap_slf(op);
    OP *next = orig_entersub(aTHX);

    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    if (DP_UNLIKELY(PL_op != op) && wraps_slf(aTHX_ ctx, op, cv) && waits_for_slf(aTHX_ ctx, op, at, serial))
        return next;
    now = dpx_stamp(&ctx->clock, how & COUNTER);
    if (DP_LIKELY(end_call(ctx, at, serial, DPX_XS, now, how)))
        ctx->rec.left = dpx_stamp(&ctx->clock, how & COUNTER);
    else
        back_from_xs(aTHX_ ctx, at, serial, now);
    restore_op(aTHX_ op);
    return next;
}

/* Runs when the eval context of a call_sv(G_EVAL) is popped. */
static void eval_popped(pTHX_ void *arg)
{
    struct dpx_ctx *ctx = DPX_CTX;
    PERL_UNUSED_ARG(arg);
    if (ctx->thx == DPX_THX)
        look(aTHX_ ctx);
}

/* The call's scope is left: the coroutine that was at work goes on. */
static void visit_over(pTHX_ void *mainstack)
{
    struct dpx_ctx *ctx = DPX_CTX;
    if (ctx->thx != DPX_THX || ctx->mainstack != PL_mainstack)
        return;
    U64 now = slow_stamp(ctx);
    dpx_hook_reconcile(aTHX_ ctx, now);
    dpx_coro_switch(aTHX_ ctx, (AV *)mainstack, now);
    ctx->rec.left = slow_stamp(ctx);
}

/* A coroutine that is freed has its stacks put in place for a while, and what they hold is
 * destroyed there. Nobody would see the end of that. Only such calls are made in a scope of
 * their own. */
static DP_COLD void visits(pTHX_ struct dpx_ctx *ctx)
{
    I32 type = PL_curstackinfo->si_type;
    if (type == PERLSI_DESTROY || type == PERLSI_MAGIC)
        SAVEDESTRUCTOR_X(visit_over, ctx->mainstack);
}

/* A call from C, and not from an op. */
static DP_COLD void from_c(pTHX_ struct dpx_ctx *ctx)
{
    /* END blocks and what comes after them run with nothing of the program left, even
     * if it called exit below an XS sub, which has no context to show that. */
    if (PL_phase >= PERL_PHASE_END && !ctx->ended) {
        ctx->ended = true;
        dpx_hook_unwind(ctx, slow_stamp(ctx));
        ctx->rec.left = slow_stamp(ctx);
        new_stage(aTHX_ ctx);
    }
    if (is_other_coro(aTHX_ ctx))
        visits(aTHX_ ctx);
    if (cxstack_ix >= 0) {
        const PERL_CONTEXT *cx = CX_CUR();
        if (CxTYPE(cx) == CXt_EVAL && !cx->blk_eval.retop)
            SAVEDESTRUCTOR_X(eval_popped, NULL);
    }
}

/* This interpreter's state, if it is recording. */
DP_INLINE struct dpx_ctx *current(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    return DP_LIKELY(ctx->thx == DPX_THX) ? ctx : dpx_run_other(aTHX);
}

DP_INLINE OP *enter(pTHX_ const int how)
{
    struct dpx_ctx *ctx = current(aTHX);
    if (DP_UNLIKELY(!ctx)) {
        unwrap_slf(PL_op);
        return orig_entersub(aTHX);
    }
    if (DP_UNLIKELY(!PL_op->op_next))
        from_c(aTHX_ ctx);
    CV *xs = peek_xs(aTHX_ *PL_stack_sp);
    if (xs)
        return call_xs(aTHX_ ctx, xs, how);

    PERL_SI *si = PL_curstackinfo;
    I32 ix = si->si_cxix;
    OP *next = orig_entersub(aTHX);
    if (DP_UNLIKELY(PL_curstackinfo != si || si->si_cxix != ix + 1))
        return next;
    const PERL_CONTEXT *cx = &si->si_cxstack[ix + 1];
    if (DP_UNLIKELY(CxTYPE(cx) != CXt_SUB || ctx->thx != DPX_THX))
        return next;

    U64 now = dpx_stamp(&ctx->clock, how & COUNTER);
    check_top(aTHX_ ctx, si, ix, now);
    U32 id = perl_sub_id(aTHX_ ctx, cx->blk_sub.cv, next);
    if (DP_LIKELY(id) && push(ctx, si, DPX_KEY(ix + 1, DPX_PERL), id, now, how))
        ctx->rec.left = dpx_stamp(&ctx->clock, how & COUNTER);
    else
        leave_unmarked(ctx, now, how);
    return next;
}

/* One function for each way of recording, and a table of them. */
#define EACH_WAY(name, call) \
    static name##_t name##_0(pTHX) { return call(0); } \
    static name##_t name##_1(pTHX) { return call(COUNTER); } \
    static name##_t name##_2(pTHX) { return call(TREE); } \
    static name##_t name##_3(pTHX) { return call(COUNTER | TREE); } \
    static name##_t (*const name[HOWS])(pTHX) = { name##_0, name##_1, name##_2, name##_3 };

typedef OP *enter_hook_t, *leavesub_hook_t, *leavesublv_hook_t, *return_hook_t;
typedef int runops_hook_t;

#define CALL(how) enter(aTHX_ how)
EACH_WAY(enter_hook, CALL)
#undef CALL

/* ---- return ---- */

DP_INLINE bool top_stands_at(const struct dpx_frame *top, const PERL_SI *si, I32 ix)
{
    return top->si == si && top->key == DPX_KEY(ix, DPX_PERL);
}

DP_INLINE void left(pTHX_ struct dpx_ctx *ctx, ptrdiff_t at, const int how)
{
    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return;
    U64 now = dpx_stamp(&ctx->clock, how & COUNTER);
    struct dpx_frame *f = ctx->frames + at;
    /* Destructors may have left frames on top, or none may be left. */
    if (DP_UNLIKELY(ctx->top != f)) {
        if (ctx->top < f)
            return;
        unwind_to(ctx, f, now);
    }
    pop(ctx, DP_RAW_LEAVE, now, how);
    ctx->rec.left = dpx_stamp(&ctx->clock, how & COUNTER);
}

/* The frame on top is not the one that is being left. It may be a dead one
 * that nobody has noticed; then look again. True if the frame is there now. */
static DP_COLD bool look_again(pTHX_ struct dpx_ctx *ctx, const PERL_SI *si, I32 ix)
{
    if (is_in_order(aTHX_ ctx))
        return false;
    U64 now = slow_stamp(ctx);
    dpx_hook_reconcile(aTHX_ ctx, now);
    ctx->rec.left = slow_stamp(ctx);
    return top_stands_at(ctx->top, si, ix);
}

/* A leave of something else: of a sub that was not recorded, of an eval. */
static DP_NOINLINE OP *leave_other(pTHX_ struct dpx_ctx *ctx, Perl_ppaddr_t orig)
{
    OP *next = orig(aTHX);
    if (ctx->thx == DPX_THX)
        look(aTHX_ ctx);
    return next;
}

/* The original runs first: destructors of the sub's variables belong to it. */
DP_INLINE OP *leave(pTHX_ Perl_ppaddr_t orig, const bool is_return, const int how)
{
    struct dpx_ctx *ctx = current(aTHX);
    if (DP_UNLIKELY(!ctx))
        return orig(aTHX);
    const PERL_SI *si = PL_curstackinfo;
    I32 ix = is_return ? dpx_cursub(aTHX) : si->si_cxix;
    if (DP_UNLIKELY(!top_stands_at(ctx->top, si, ix)) && !look_again(aTHX_ ctx, si, ix))
        return leave_other(aTHX_ ctx, orig);
    ptrdiff_t at = ctx->top - ctx->frames;
    OP *next = orig(aTHX);
    left(aTHX_ ctx, at, how);
    return next;
}

#define CALL(how) leave(aTHX_ orig_leavesub, false, how)
EACH_WAY(leavesub_hook, CALL)
#undef CALL
#define CALL(how) leave(aTHX_ orig_leavesublv, false, how)
EACH_WAY(leavesublv_hook, CALL)
#undef CALL
#define CALL(how) leave(aTHX_ orig_return, true, how)
EACH_WAY(return_hook, CALL)
#undef CALL

/* ---- jumps ---- */

/* Ends the frames that a jump on this stack-info has left. C calls on the level that the
 * program is on now are not returned through. */
static DP_COLD void jumped(pTHX_ struct dpx_ctx *ctx)
{
    U64 now = slow_stamp(ctx);
    const PERL_SI *si = PL_curstackinfo;
    while (ctx->top > ctx->frames) {
        const struct dpx_frame *f = ctx->top;
        bool out = f->si == si && DPX_KEY_IS_XS(f->key)
            ? DPX_KEY_IX(f->key) >= si->si_cxix : !is_alive(aTHX_ f);
        if (!out)
            break;
        pop(ctx, DP_RAW_UNWIND, now, installed);
        same_arrival(ctx, now);
    }
    ctx->rec.left = slow_stamp(ctx);
}

DP_INLINE OP *jump(pTHX_ Perl_ppaddr_t orig)
{
    OP *next = orig(aTHX);
    struct dpx_ctx *ctx = DPX_CTX;
    if (DP_LIKELY(ctx->thx == DPX_THX)) {
        const struct dpx_frame *top = ctx->top;
        const PERL_SI *si = PL_curstackinfo;
        /* A C call on the level that runs now, too: its callback, which jumped, need not be recorded. */
        if (DP_UNLIKELY(top->si == si
                        && (DPX_KEY_IX(top->key) > si->si_cxix || top->key == DPX_KEY(si->si_cxix, DPX_XS))))
            jumped(aTHX_ ctx);
    }
    return next;
}

static OP *jump_next(pTHX) { return jump(aTHX_ orig_next); }
static OP *jump_last(pTHX) { return jump(aTHX_ orig_last); }
static OP *jump_redo(pTHX) { return jump(aTHX_ orig_redo); }

/* The sub that a goto names, or NULL if it is no `goto &sub`. */
static CV *goto_target(pTHX)
{
    if (!(PL_op->op_flags & OPf_STACKED))
        return NULL;
    SV *sv = *PL_stack_sp;
    return sv && SvROK(sv) && SvTYPE(SvRV(sv)) == SVt_PVCV ? (CV *)SvRV(sv) : NULL;
}

/* What a goto makes of the frame on top, which is (is_there) or would be that of the sub
 * it leaves: another sub runs in it, or it begins, or ends. False: there was and is none. */
static bool replace(struct dpx_ctx *ctx, bool is_there, PERL_SI *si, I32 key, U32 id, U64 now)
{
    const int how = installed;
    if (!id) {
        if (is_there)
            pop(ctx, DP_RAW_LEAVE, now, how);
        return is_there;
    }
    if (!is_there)
        return push(ctx, si, key, id, now, how);
    ctx->top->key = key;
    ctx->top->runs = id;
    dp_rec_mark(&ctx->rec, DP_RAW_GOTO, id, &ctx->top->call, now, how & TREE);
    return true;
}

/* goto from the sub at index ix to an XS sub: that runs inside of pp_goto, and is over
 * afterwards. */
static OP *goto_xs(pTHX_ struct dpx_ctx *ctx, CV *cv, PERL_SI *si, I32 ix)
{
    const int how = installed;
    U64 now = slow_stamp(ctx);
    dpx_hook_reconcile(aTHX_ ctx, now);
    U32 id = xs_sub_id(aTHX_ ctx, cv);
    bool is_there = top_stands_at(ctx->top, si, ix);
    bool marked = replace(ctx, is_there, si, DPX_KEY(ix - 1, DPX_XS), id & DPX_ID_MASK, now);
    if (!marked || !(id & DPX_ID_MASK)) {
        if (marked)
            ctx->rec.left = slow_stamp(ctx);
        else
            leave_unmarked(ctx, now, how);
        return orig_goto(aTHX);
    }
    ptrdiff_t at = ctx->top - ctx->frames;
    U64 serial = ctx->top->serial = ++ctx->serial;
    ctx->top->saved = -1;       /* pp_goto leaves the sub's scope first */
    ctx->rec.left = slow_stamp(ctx);

    OP *next = orig_goto(aTHX);

    if (ctx->thx != DPX_THX)
        return next;
    now = slow_stamp(ctx);
    end_call(ctx, at, serial, DPX_XS, now, how);
    ctx->rec.left = slow_stamp(ctx);
    return next;
}

static OP *goto_hook(pTHX)
{
    struct dpx_ctx *ctx = current(aTHX);
    CV *target = ctx ? goto_target(aTHX) : NULL;
    if (!target)
        return jump(aTHX_ orig_goto);

    /* goto leaves the innermost sub; from an eval it croaks. */
    PERL_SI *si = PL_curstackinfo;
    I32 ix = dpx_cursub(aTHX);
    if (CvISXSUB(target) && ix >= 0 && CxTYPE(&si->si_cxstack[ix]) == CXt_SUB && !CxMULTICALL(&si->si_cxstack[ix]))
        return goto_xs(aTHX_ ctx, target, si, ix);
    OP *next = orig_goto(aTHX);
    if (ctx->thx != DPX_THX || !next || PL_curstackinfo != si || si->si_cxix != ix || ix < 0)
        return next;
    const PERL_CONTEXT *cx = &si->si_cxstack[ix];
    if (CxTYPE(cx) != CXt_SUB || next != CvSTART(cx->blk_sub.cv))
        return next;
    U64 now = slow_stamp(ctx);
    dpx_hook_reconcile(aTHX_ ctx, now);
    U32 id = perl_sub_id(aTHX_ ctx, cx->blk_sub.cv, next);
    if (replace(ctx, top_stands_at(ctx->top, si, ix), si, DPX_KEY(ix, DPX_PERL), id, now))
        ctx->rec.left = slow_stamp(ctx);
    else
        leave_unmarked(ctx, now, installed);
    return next;
}

/* exec ends the program without a word, or fails and goes on. */
static OP *exec_hook(pTHX)
{
    struct dpx_ctx *ctx = DPX_CTX;
    if (ctx->thx != DPX_THX)
        return orig_exec(aTHX);
    dpx_run_before_exec(ctx);
    OP *next = orig_exec(aTHX);
    if (ctx->thx == DPX_THX)
        dpx_run_after_exec(ctx);
    return next;
}

/* ---- builtins ---- */

/* Like an XS sub; but perl makes no scope of its own for the op, so the save stack is not
 * higher than before while it runs. It need only not be lower. */
OP *dpx_hook_builtin(pTHX_ unsigned n, Perl_ppaddr_t orig)
{
    const int how = installed;
    struct dpx_ctx *ctx = current(aTHX);
    if (!ctx)
        return orig(aTHX);
    U64 now = slow_stamp(ctx);
    if (DP_UNLIKELY(!ctx->builtins[n]))
        ctx->builtins[n] = dpx_name_builtin(aTHX_ ctx, dpx_builtin_name(n)) + 1;
    U32 id = ctx->builtins[n] - 1;
    PERL_SI *si = PL_curstackinfo;
    check_top(aTHX_ ctx, si, si->si_cxix, now);
    if (!id || !push(ctx, si, DPX_KEY(si->si_cxix, DPX_XS), id, now, how)) {
        leave_unmarked(ctx, now, how);
        return orig(aTHX);
    }
    U64 serial = ctx->top->serial = ++ctx->serial;
    ctx->top->saved = PL_savestack_ix - 1;
    ptrdiff_t at = ctx->top - ctx->frames;
    ctx->rec.left = slow_stamp(ctx);

    OP *next = orig(aTHX);

    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return next;
    if (DP_UNLIKELY(ctx->newborn) && ctx->top == ctx->frames + at) {
        /* fork or open, in the child: it begins with its caller, and has no file if it only execs */
        ctx->top--;
        ctx->fork_depth = at - 1;
        return next;
    }
    now = slow_stamp(ctx);
    if (DP_LIKELY(end_call(ctx, at, serial, DPX_XS, now, how)))
        ctx->rec.left = slow_stamp(ctx);
    else
        leave_unmarked(ctx, now, how);
    return next;
}

/* ---- the run loop's prologue ---- */

/* The sub that this run loop is one call of, if it is a MULTICALL. */
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

/* Perl_runops_standard, which counts. A debugging perl's loop does more, and is
 * left alone. */
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

DP_INLINE int multicall(pTHX_ struct dpx_ctx *ctx, CV *cv, const int how)
{
    U64 now = dpx_stamp(&ctx->clock, how & COUNTER);
    U32 id = perl_sub_id(aTHX_ ctx, cv, PL_op);
    if (!id || !push(ctx, PL_curstackinfo, DPX_KEY(0, DPX_MULTICALL), id, now, how)) {
        leave_unmarked(ctx, now, how);
        return run(aTHX);
    }
    U64 serial = ctx->top->serial = ++ctx->serial;
    ptrdiff_t at = ctx->top - ctx->frames;
    ctx->rec.left = dpx_stamp(&ctx->clock, how & COUNTER);

    int rc = run(aTHX);

    if (DP_UNLIKELY(ctx->thx != DPX_THX))
        return rc;
    now = dpx_stamp(&ctx->clock, how & COUNTER);
    end_call(ctx, at, serial, DPX_MULTICALL, now, how);
    ctx->rec.left = dpx_stamp(&ctx->clock, how & COUNTER);
    return rc;
}

/* A run loop begins where frames have ended, or in another coroutine. */
static DP_COLD void begins_elsewhere(pTHX_ struct dpx_ctx *ctx)
{
    if (is_other_coro(aTHX_ ctx))
        visits(aTHX_ ctx);
    look(aTHX_ ctx);
}

/* Another phase, or perhaps a coroutine's first run loop on a C stack. That begins with an op of Coro's, which
 * measures the height that pp_slf is called at. */
static DP_COLD void new_stage(pTHX_ struct dpx_ctx *ctx)
{
    if (ctx->stage < 0) {
        ctx->stage = ~ctx->stage;
        if (orig_slf && PL_op && PL_op->op_ppaddr == orig_slf)
            PL_op->op_ppaddr = slf_hook;
    }
    if (ctx->stage != (int)PL_phase)
        dpx_control_stage(aTHX_ ctx);
}

DP_INLINE int runops(pTHX_ const int how)
{
    struct dpx_ctx *ctx = current(aTHX);
    if (DP_UNLIKELY(!ctx))
        return orig_runops(aTHX);
    if (!is_in_order(aTHX_ ctx))
        begins_elsewhere(aTHX_ ctx);
    if (DP_UNLIKELY(ctx->stage != (int)PL_phase))
        new_stage(aTHX_ ctx);
    CV *cv = multicall_sub(aTHX);
    return cv ? multicall(aTHX_ ctx, cv, how) : run(aTHX);
}

#define CALL(how) runops(aTHX_ how)
EACH_WAY(runops_hook, CALL)
#undef CALL

/* ---- installation ---- */

bool dpx_hook_intact(pTHX)
{
    return installed >= 0 && PL_runops == runops_hook[installed];
}

static void hook_op(Optype type, Perl_ppaddr_t *orig, Perl_ppaddr_t ours)
{
    *orig = PL_ppaddr[type];
    PL_ppaddr[type] = ours;
}

Perl_ppaddr_t dpx_hook_original(Optype type)
{
    switch (type) {
    case OP_ENTERSUB: return orig_entersub;
    case OP_LEAVESUB: return orig_leavesub;
    case OP_LEAVESUBLV: return orig_leavesublv;
    case OP_RETURN: return orig_return;
    case OP_GOTO: return orig_goto;
    case OP_NEXT: return orig_next;
    case OP_LAST: return orig_last;
    case OP_REDO: return orig_redo;
    default: return dpx_builtin_original(type);
    }
}

void dpx_hook_install(pTHX_ const struct dpx_ctx *ctx)
{
    int how = (ctx->clock.kind == DPX_CLOCK_COUNTER ? COUNTER : 0) | (ctx->rec.how.tree ? TREE : 0);
    if (installed < 0) {
        installed = how;
        our_entersub = enter_hook[how];
        run = orig_runops = PL_runops;
        if (ctx->rec.how.ops && orig_runops == Perl_runops_standard)
            run = run_and_count;
        hook_op(OP_LEAVESUB, &orig_leavesub, leavesub_hook[how]);
        hook_op(OP_LEAVESUBLV, &orig_leavesublv, leavesublv_hook[how]);
        hook_op(OP_RETURN, &orig_return, return_hook[how]);
        hook_op(OP_GOTO, &orig_goto, goto_hook);
        hook_op(OP_NEXT, &orig_next, jump_next);
        hook_op(OP_LAST, &orig_last, jump_last);
        hook_op(OP_REDO, &orig_redo, jump_redo);
        hook_op(OP_EXEC, &orig_exec, exec_hook);
        hook_op(OP_ENTERSUB, &orig_entersub, our_entersub);
        if (dpx_run.opt.builtins)
            dpx_builtin_install();
    }
    our_runops = runops_hook[installed];
    PL_runops = our_runops;
    dpx_adopt(aTHX);
}
