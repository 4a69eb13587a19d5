/* Looking up the sub, the place and the context of each frame of a stack would be most of the cost
 * of a sample, since none of that is in the processor's caches. But most frames stood at the same
 * place at the last sample, and most others were called in the same way at some sample before. Both
 * are kept: the latter under a hash of the path from the outermost frame, so that all entries for a
 * stack are known, and prefetched, before the first is read.
 *
 * Entries are found by addresses. Once an op is freed, its address may become another op's, so
 * entries are valid until an op is freed. Subs, their pads and their globs may come and go without
 * that, as closures do, but the same code under the same name is the same sub to us. */
#include "dpx_placed.h"
#include "dpx_callee.h"
#include "dpx_stmt.h"
#include "dp_mem.h"

enum {
    CALLED = 512,               /* calls whose places are kept */
    STEP_BITS = 13,             /* bits of a hash, for ... */
    STEPS = 1 << STEP_BITS,     /* ... contexts that are kept */
    LINE = 64                   /* bytes of a cache line */
};

/* ---- places of calls ---- */

/* May another call with the same addresses call another sub? */
static bool is_autoload(pTHX_ struct dpx_ctx *ctx, const struct dpx_running *r)
{
    return r->cv && dpx_callee_any(aTHX_ ctx, r->cv, r->start) & DPX_ID_AUTOLOAD;
}

/* A call whose place is known. */
struct dpx_called {
    const COP *from;
    const OP *to;
    const OP *start;            /* first op of the called sub, as a closure is another CV each
                                 * time */
    U64 freed;                  /* tick.freed when the place was found, plus 1; 0: none */
    U32 site;
};

/* Returns the place of the call of a sub, which it looks for in the ops of the caller. pad: that of
 * the calling sub. *is_fixed: whether each call with the same addresses has this place. */
static U32 find_site(pTHX_ struct dpx_ctx *ctx, const struct dpx_running *r, PAD *pad,
                     bool *is_fixed)
{
    *is_fixed = false;
    if (!r->from || !dpx_stmt_is((const OP *)r->from))  /* the compiler's line goes on */
        return dpx_name_site_of(aTHX_ ctx, r->from);
    const COP *around, *cop = dpx_running_call(aTHX_ r, pad, &around, is_fixed);
    return dpx_stmt_place(aTHX_ ctx, cop ? cop : around, around);
}

/* Returns the place of the call of a sub, from the cache if the call is known: finding its place
 * means walking the statement's ops, and making the place's text. A place that is fixed is kept in
 * the cache. pad, is_fixed: as for find_site. */
static U32 site_of(pTHX_ struct dpx_ctx *ctx, const struct dpx_running *r, PAD *pad,
                   bool *is_fixed)
{
    const struct dpx_tick *t = &ctx->tick;
    UV hash = PTR2UV(r->to) >> 3 ^ PTR2UV(r->from) >> 7 ^ PTR2UV(r->start) >> 5;
    struct dpx_called *k = &t->called[(hash ^ hash >> 9) % CALLED];
    *is_fixed = true;
    if (k->from == r->from && k->to == r->to && k->start == r->start && k->freed == t->freed + 1)
        return k->site;
    U32 site = find_site(aTHX_ ctx, r, pad, is_fixed);
    if (*is_fixed)
        *k = (struct dpx_called){ r->from, r->to, r->start, t->freed + 1, site };
    return site;
}

/* ---- names of subs ---- */

static const GV *glob_of(const CV *cv) { return ((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv; }

/* Does a sub with this address and glob have this name as long as no op is freed? A closure that
 * was given a name has a glob of its own, and the next closure of the same code may have the
 * addresses of both. The glob of other closures stands in their package. */
static bool is_lasting(pTHX_ const CV *cv)
{
    const GV *gv = glob_of(cv);
    if (!CvCVGV_RC(cv))
        return true;
    if (!gv || !isGV_with_GP(gv) || !GvSTASH(gv) || SvTYPE(GvSTASH(gv)) != SVt_PVHV
        || SvMAGICAL(GvSTASH(gv)) || SvREADONLY(GvSTASH(gv)))   /* perl might die */
        return false;
    const HEK *name = GvNAME_HEK(gv);
    I32 len = HEK_UTF8(name) ? -(I32)HEK_LEN(name) : (I32)HEK_LEN(name);
    SV **entry = hv_fetch(GvSTASH(gv), HEK_KEY(name), len, FALSE);
    return entry && *entry == (const SV *)gv;
}

/* The address of the glob, and whether the sub owns it. */
static UV glob_key(const CV *cv) { return PTR2UV(glob_of(cv)) | cBOOL(CvCVGV_RC(cv)); }

/* Returns the key that differs for subs of the same code: the address of the glob, or a hash of the
 * name. */
static UV name_key(pTHX_ CV *cv)
{
    return is_lasting(aTHX_ cv) ? glob_key(cv) : dpx_name_key(cv);
}

/* Is this key (name_key) that of the sub? For code that is no sub, it always is. */
static bool has_name(CV *cv, UV key)
{
    return !cv || key == glob_key(cv) || (CvCVGV_RC(cv) && key == dpx_name_key(cv));
}

/* ---- contexts ---- */

/* The place of running code in the tree. */
struct dpx_placed {
    struct dpx_running of;
    UV name;                    /* see name_key */
    struct dp_cct_node *node;
    U32 sub;                    /* id of the innermost recorded sub of the same file; 0: none */
    const COP *left_out;        /* the statement that called subs which are not recorded, or NULL */
    UV path;                    /* a hash of all frames that lead here */
};

/* Does a placed frame still run the same code as it did at the last sample? */
static bool is_same(const struct dpx_placed *p, const struct dpx_running *r)
{
    const struct dpx_running *of = &p->of;
    return of->cv == r->cv && of->start == r->start && of->from == r->from && of->to == r->to
           && of->pad == r->pad && of->is_file == r->is_file && of->span == r->span
           && has_name(r->cv, p->name);
}

/* A call of a recorded sub that is known to lead from one context to another. On 64 bits, this is a
 * cache line. */
struct dpx_step {
    const struct dp_cct_node *outer;
    const OP *start;            /* with the name, this tells the sub: a closure is another CV each
                                 * time */
    const COP *from;
    const OP *to;
    UV name;                    /* see name_key */
    struct dp_cct_node *node;
    U32 sub;
    U32 age;                    /* tick.age when it was kept; 0: unused */
    UV spare;
};

/* Returns the hash of a path of frames that is longer by the running code r. */
static UV path_on(UV path, const struct dpx_running *r)
{
    path = (path ^ PTR2UV(r->start) ^ PTR2UV(r->to) << 7 ^ r->span) * (UV)0x9E3779B97F4A7C15;
    return (path ^ path >> 29 ^ PTR2UV(r->from)) * (UV)0xBF58476D1CE4E5B9;
}

/* Returns the entry of the cache of steps for a path. */
static struct dpx_step *step_at(const struct dpx_tick *t, UV path)
{
    UV aligned = (PTR2UV(t->steps) + LINE - 1) & ~(UV)(LINE - 1);
    return INT2PTR(struct dpx_step *, aligned) + (path >> (8 * sizeof path - STEP_BITS));
}

/* Is a cached step the one from the node `outer' to this running code, and of the current age of
 * the cache? */
static bool is_step(const struct dpx_tick *t, const struct dpx_step *s,
                    const struct dp_cct_node *outer, const struct dpx_running *r)
{
    return s->age == t->age && s->outer == outer && s->start == r->start && s->from == r->from
           && s->to == r->to && has_name(r->cv, s->name);
}

/* Finds the place of code that was called from other code, adds its node to the tree if it is new,
 * and sets *to. A call of a sub that always leads there is kept in the cache of steps. Returns
 * whether each call with the same addresses and name has this place, too. */
static bool place_call(pTHX_ struct dpx_ctx *ctx, struct dpx_placed *to,
                       const struct dpx_placed *outer, const struct dpx_running *r, PAD *outer_pad)
{
    UV path = path_on(outer->path, r);
    struct dpx_step *step = step_at(&ctx->tick, path);
    if (r->cv && is_step(&ctx->tick, step, outer->node, r)) {
        *to = (struct dpx_placed){ *r, step->name, step->node, step->sub, NULL, path };
        return true;
    }
    *to = *outer;
    to->of = *r;
    to->name = r->cv ? name_key(aTHX_ r->cv) : 0;
    to->path = path;
    if (r->span) {
        to->node = dp_cct_child(&ctx->rec.cct, outer->node, r->span, 0);
        return true;
    }
    bool is_fixed = !is_autoload(aTHX_ ctx, r);
    U32 id = dpx_running_sub(aTHX_ ctx, r);
    if (id) {
        bool is_fixed_site;
        U32 site = site_of(aTHX_ ctx, r, outer_pad, &is_fixed_site);
        is_fixed = is_fixed && is_fixed_site;
        to->node = dp_cct_child(&ctx->rec.cct, outer->node, id, site);
        to->sub = id;
        to->left_out = NULL;
        if (is_fixed && to->node->up == outer->node && to->node->site == site)
            *step = (struct dpx_step){ outer->node, r->start, r->from, r->to, to->name, to->node,
                                       id, ctx->tick.age, 0 };
    } else if (r->cv && !outer->left_out) {
        to->left_out = r->from;
    }
    if (r->is_file)
        to->sub = 0;
    return is_fixed;
}

/* Prefetches the steps that the rest of the stack is likely to take. */
static void prefetch_steps(const struct dpx_tick *t, const struct dpx_running *stack, size_t n,
                           size_t k, UV path)
{
    for (; k < n; k++) {
        path = path_on(path, &stack[n - 1 - k]);
        __builtin_prefetch(step_at(t, path));
    }
}

struct dpx_place dpx_placed_find(pTHX_ struct dpx_ctx *ctx, const struct dpx_running *stack,
                                 size_t n)
{
    struct dpx_tick *t = &ctx->tick;
    struct dpx_placed base = { .node = NULL }, *at = &base;
    size_t k = 0;
    if (t->links != ctx->rec.relinks || t->placed_freed != t->freed)
        t->n_placed = 0;
    if (t->tree != ctx->rec.cct.serial || t->steps_freed != t->freed) {
        t->tree = ctx->rec.cct.serial;
        t->steps_freed = t->freed;
        t->age++;
    }
    while (k < n && k < t->n_placed && is_same(&t->placed[k], &stack[n - 1 - k]))
        at = &t->placed[k++];
    if (k < n)
        t->n_placed = k;
    if (!k)
        base.node = dp_rec_base(&ctx->rec);
    prefetch_steps(t, stack, n, k, at->path);
    for (bool is_kept = true; k < n; k++) {
        const struct dpx_running *r = &stack[n - 1 - k];
        PAD *pad = k ? r[1].pad : dpx_running_main_pad(aTHX);
        is_kept = place_call(aTHX_ ctx, &t->placed[k], at, r, pad) && is_kept;
        at = &t->placed[k];
        t->n_placed += is_kept;
    }
    t->links = ctx->rec.relinks;
    t->placed_freed = t->freed;
    return (struct dpx_place){ at->node, at->sub, at->left_out };
}

bool dpx_placed_room(struct dpx_tick *t, size_t n)
{
    if (!t->placed)
        t->placed = dp_mem_realloc(NULL, n, sizeof *t->placed);
    if (!t->called)
        t->called = dp_mem_zalloc(CALLED * sizeof *t->called);
    if (!t->steps)
        t->steps = dp_mem_zalloc(STEPS * sizeof *t->steps + LINE);
    return t->placed && t->called && t->steps;
}
