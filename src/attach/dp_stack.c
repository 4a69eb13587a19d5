/* What this relies on: PL_curstackinfo leads to the contexts that run, the innermost stackinfo
 * first; PERLSI_MAIN is the last of them. A context that was popped stays in memory above si_cxix
 * until the next one is pushed, but for the CV of a sub, which perl clears. Each context has the
 * statement that was current before it, but for CXt_SUBST, and a block's context the statement of
 * its own sub. */
#include "dp_stack.h"
#include "dp_err.h"
#include "dp_mem.h"

enum {
    SI_MAIN = 1,                /* PERLSI_MAIN */
    SI_BYTES = 64, CX_BYTES = 160,
    HEAD = 512,                 /* bytes of an interpreter, up to comppad */
    TRIES = 6,                  /* readings, until the guess where things are is right */
    ABOVE = 24,                 /* contexts that are read above the topmost of the last reading */
    SPARE = 2,                  /* of the popped contexts: room for the stack to grow unnoticed */
    MEND = 4,                   /* most contexts that mending leaves out or takes in */
    EDGES = 1 << 14,
    TOP_OF_DEEP = 16            /* of a deep stack: contexts on top that are kept */
};

int dp_stack_init(struct dp_stack *st, struct dp_optree *code, dp_addr interpreter)
{
    *st = (struct dp_stack){ .code = code, .interpreter = interpreter };
    size_t room = DP_STACK_CONTEXTS + ABOVE;
    st->contexts = dp_mem_realloc(NULL, room, sizeof *st->contexts);
    st->bytes = dp_mem_realloc(NULL, room, CX_BYTES);
    st->edges = dp_mem_zalloc(EDGES * sizeof *st->edges);
    st->check.bytes = dp_mem_realloc(NULL, DP_TARGET_PARTS, sizeof *st->check.bytes);
    return st->contexts && st->bytes && st->edges && st->check.bytes ? 0 : DP_E_NOMEM;
}

void dp_stack_release(struct dp_stack *st)
{
    dp_mem_free(st->contexts);
    dp_mem_free(st->bytes);
    dp_mem_free(st->edges);
    dp_mem_free(st->check.bytes);
}

/* ---- one reading ---- */

/* The parts of one reading, and where they go. */
struct reading {
    struct dp_target_part parts[16 + 3 * DP_STACK_INFOS];
    size_t n;
    char head[HEAD];
    char infos[DP_STACK_INFOS][SI_BYTES];
    size_t from[DP_STACK_INFOS], count[DP_STACK_INFOS]; /* its contexts in st->bytes */
    size_t gap[DP_STACK_INFOS]; /* the first context above those left out; 0: none */
    uintptr_t parser;
    int32_t phase;
};

static void add_part(struct reading *r, dp_addr at, void *to, size_t len)
{
    if (len)
        r->parts[r->n++] = (struct dp_target_part){ at, to, len };
}

/* The interpreter's variables. With MULTIPLICITY they are near each other, in one struct; without,
 * they are put to where the struct would have them. */
static void add_head(const struct dp_stack *st, struct reading *r)
{
    const struct dp_perl *perl = st->code->perl;
    const struct dp_layout *at = &perl->at;
    if (st->interpreter) {
        size_t len = at->comppad + sizeof(void *);
        add_part(r, st->interpreter, r->head, len < HEAD ? len : HEAD);
    } else {
        enum { STEP = sizeof(void *) };
#define ADD(name, i)  add_part(r, perl->symbols[DP_PERL_##name], r->head + (i) * STEP, STEP);
        ADD(stack_sp, 0) ADD(op, 1) ADD(curpad, 2) ADD(curcop, 3) ADD(curstackinfo, 4)
        ADD(comppad, 5)
#undef ADD
    }
    dp_addr parser = DP_PERL_VAR(perl, st->interpreter, parser);
    r->parser = 0;
    add_part(r, parser, &r->parser, parser ? sizeof r->parser : 0);
    add_part(r, DP_PERL_VAR(perl, st->interpreter, phase), &r->phase, sizeof r->phase);
}

/* Copies the interpreter's variables into the stack, out of a reading, where add_head had them
 * put. */
static void take_head(struct dp_stack *st, const struct reading *r)
{
    const struct dp_layout *at = &st->code->perl->at;
    bool is_struct = st->interpreter != 0;
#define TAKE(field, name, i) \
    st->field = dp_target_pointer_in(r->head, is_struct ? at->name : (i) * sizeof(void *));
    TAKE(sp, stack_sp, 0) TAKE(op, op, 1) TAKE(curpad, curpad, 2) TAKE(curcop, curcop, 3)
    TAKE(curstackinfo, curstackinfo, 4) TAKE(comppad, comppad, 5)
#undef TAKE
    st->parser = r->parser;
    st->phase = r->phase;
}

/* Adds the contexts of stackinfo k: all up to its top, and of the innermost those above, too. */
static void add_contexts(const struct dp_stack *st, struct reading *r, size_t k, size_t *used)
{
    const struct dp_stack_info *si = &st->infos[k];
    size_t size = st->code->perl->at.cx_size, room = DP_STACK_CONTEXTS + ABOVE - *used;
    size_t want = (size_t)(si->ix + 1), all = (size_t)si->max + 1;
    if (!k && want + ABOVE <= room)
        want = want + ABOVE < all ? want + ABOVE : all;
    r->from[k] = *used;
    r->gap[k] = 0;
    r->count[k] = want <= room ? want : room;
    if (want > room && room <= TOP_OF_DEEP)
        r->count[k] = 0;
    char *to = st->bytes + *used * size;
    size_t low = r->count[k] < want && r->count[k] ? r->count[k] - TOP_OF_DEEP : r->count[k];
    add_part(r, si->contexts, to, low * size);
    if (low < r->count[k]) {
        r->gap[k] = low;
        add_part(r, si->contexts + (want - TOP_OF_DEEP) * size, to + low * size,
                 TOP_OF_DEEP * size);
    }
    *used += r->count[k];
}

/* Compares where the stackinfos were guessed to be with where they are, and takes over their tops.
 * Returns 0 if the guess was right, 1 if a top has moved too far, 2 if a stackinfo is another. */
static int compare_infos(struct dp_stack *st, const struct reading *r)
{
    const struct dp_layout *at = &st->code->perl->at;
    int wrong = !st->n_infos || st->infos[0].at != st->curstackinfo ? 2 : 0;
    for (size_t k = 0; k < st->n_infos && wrong < 2; k++) {
        struct dp_stack_info *si = &st->infos[k];
        int32_t ix = (int32_t)dp_target_u32_in(r->infos[k], at->si_cxix);
        int32_t max = (int32_t)dp_target_u32_in(r->infos[k], at->si_cxmax);
        if (dp_target_pointer_in(r->infos[k], at->si_cxstack) != si->contexts || max != si->max
            || dp_target_pointer_in(r->infos[k], at->si_prev) != si->prev || ix < -1 || ix > max)
            wrong = 2;
        else if (k ? ix != si->ix : ix > si->ix + ABOVE - SPARE || r->gap[0])
            wrong = ix == si->ix ? wrong : 1;
        si->ix = wrong < 2 ? ix : si->ix;
    }
    return wrong;
}

/* Follows the stackinfos from the innermost on. Returns false if they are not to be believed. */
static bool find_infos(struct dp_stack *st)
{
    enum { MOST_CONTEXTS = 10000000 };
    const struct dp_layout *at = &st->code->perl->at;
    char bytes[SI_BYTES];
    dp_addr a = st->curstackinfo;
    for (st->n_infos = 0; a && st->n_infos < DP_STACK_INFOS; st->n_infos++) {
        struct dp_stack_info *si = &st->infos[st->n_infos];
        if (!dp_target_get(st->code->target, a, bytes, at->si_size))
            return false;
        *si = (struct dp_stack_info){
            a, dp_target_pointer_in(bytes, at->si_cxstack),
            dp_target_pointer_in(bytes, at->si_prev),
            (int32_t)dp_target_u32_in(bytes, at->si_cxix),
            (int32_t)dp_target_u32_in(bytes, at->si_cxmax),
            (int32_t)dp_target_u32_in(bytes, at->si_type),
        };
        if (si->ix < -1 || si->ix > si->max || si->max >= MOST_CONTEXTS)
            return false;
        a = si->type == SI_MAIN ? 0 : si->prev;
    }
    return !a && st->n_infos;   /* a circle, or more than perl would make */
}

/* Turns the contexts from..to-1 of stackinfo k from perl's bytes into struct dp_stack_context, and
 * appends them to st->contexts. */
static void take_contexts(struct dp_stack *st, const struct reading *r, size_t k, size_t from,
                          size_t to)
{
    const struct dp_layout *at = &st->code->perl->at;
    enum { TYPE = 0xf };
    for (size_t i = from; i < to && i < r->count[k]; i++) {
        const char *cx = st->bytes + (r->from[k] + i) * at->cx_size;
        unsigned flags = (unsigned char)cx[at->cx_type], type = flags & TYPE;
        struct dp_stack_context *c = &st->contexts[st->n_all++];
        *c = (struct dp_stack_context){ .type = type, .flags = flags,
                                        .is_gap = i && i == r->gap[k] };
        if (type == at->CXt_SUBST)
            continue;
        uint16_t u16;
        memcpy(&u16, cx + at->cx_u16, sizeof u16);
        c->u16 = u16;
        c->oldcop = dp_target_pointer_in(cx, at->cx_oldcop);
        c->cv = dp_target_pointer_in(cx, at->cx_cv);
        c->retop = dp_target_pointer_in(cx, at->cx_retop);
        c->olddepth = (int32_t)dp_target_u32_in(cx, at->cx_olddepth);
    }
}

/* Puts the contexts of all stackinfos in one row, the outermost first. */
static void take_all_contexts(struct dp_stack *st, const struct reading *r)
{
    const struct dp_stack_info *top = &st->infos[0];
    st->n_all = 0;
    for (size_t k = st->n_infos; k-- > 1;)
        take_contexts(st, r, k, 0, r->count[k]);
    size_t n = r->gap[0] ? r->count[0] : (size_t)(top->ix + 1);
    take_contexts(st, r, 0, 0, n);
    st->n = st->n_all;
    take_contexts(st, r, 0, n, n + DP_STACK_POPPED - SPARE);
}

/* Reads variables, stackinfos and contexts at one moment, if they are where they were before; else
 * finds where they are, and tries again. */
static bool read_once(struct dp_stack *st)
{
    struct reading r;
    const struct dp_layout *at = &st->code->perl->at;
    if (at->cx_size > CX_BYTES || at->si_size > SI_BYTES || at->comppad + sizeof(void *) > HEAD)
        return false;
    for (int i = 0; i < TRIES; i++) {
        size_t used = 0;
        r.n = 0;
        add_head(st, &r);
        for (size_t k = 0; k < st->n_infos; k++) {
            add_part(&r, st->infos[k].at, r.infos[k], at->si_size);
            add_contexts(st, &r, k, &used);
        }
        if (!dp_target_read(st->code->target, r.parts, r.n)) {
            if (!st->n_infos)
                return false;
            st->n_infos = 0;
            continue;
        }
        take_head(st, &r);
        int wrong = compare_infos(st, &r);
        if (!wrong) {
            take_all_contexts(st, &r);
            return true;
        }
        st->guessed_wrong++;
        dp_target_look(st->code->target);
        if (wrong == 2 && !find_infos(st))
            st->n_infos = 0;
    }
    return false;
}

/* ---- what contexts are ---- */

bool dp_stack_is_sub(const struct dp_stack *st, const struct dp_stack_context *c)
{
    const struct dp_layout *at = &st->code->perl->at;
    return (c->type == at->CXt_SUB && !(c->flags & at->CXp_SUB_RE_FAKE))
           || c->type == at->CXt_FORMAT;
}

bool dp_stack_is_code(const struct dp_stack *st, const struct dp_stack_context *c)
{
    const struct dp_layout *at = &st->code->perl->at;
    return c->type == at->CXt_EVAL && !(c->flags & (at->CXp_EVALBLOCK | at->CXp_TRY));
}

bool dp_stack_is_file(const struct dp_stack *st, const struct dp_stack_context *c)
{
    enum { OP_TYPE_AT = 7 };    /* CxOLD_OP_TYPE of cop.h */
    unsigned type = c->u16 >> OP_TYPE_AT;
    return dp_stack_is_code(st, c)
           && (type == st->code->perl->ops.op_require || type == st->code->perl->ops.op_dofile);
}

/* Has it no statement of its own? */
static bool is_passed_over(const struct dp_stack *st, const struct dp_stack_context *c)
{
    const struct dp_layout *at = &st->code->perl->at;
    return c->type == at->CXt_SUBST
           || (c->type == at->CXt_SUB && c->flags & at->CXp_SUB_RE_FAKE);
}

/* ---- does it fit? ---- */

static struct dp_stack_edge *edge_of(const struct dp_stack *st, dp_addr cop, dp_addr root)
{
    return &st->edges[dp_map_hash(cop ^ root << 1) % EDGES];
}

static bool is_edge(const struct dp_stack *st, dp_addr cop, dp_addr root)
{
    const struct dp_stack_edge *e = edge_of(st, cop, root);
    return e->cop == cop && e->root == root && cop;
}

/* The tree that the contexts above must belong to. is_any: it is not known, since it is being
 * compiled. */
struct expected {
    dp_addr root;
    unsigned type;
    bool is_any;
};

/* Fills in which code must be around the statement at address cop: the root of its optree, and the
 * root's type. Returns false if there is no statement at cop. */
static bool expect(struct dp_stack *st, dp_addr cop, struct expected *to)
{
    const struct dp_optree_cop *c = dp_optree_cop(st->code, cop);
    if (!c)
        return false;
    to->root = c->root;
    to->type = c->root_type;
    to->is_any = !c->root || dp_optree_is_compiling(st->code, st->interpreter, cop);
    return true;
}

/* Does a sub's context fit the statements above it? A popped one has no CV any more: it is believed
 * only if the same call was seen in a stack that fitted. */
static bool sub_fits(struct dp_stack *st, size_t i, const struct expected *e)
{
    const struct dp_stack_context *c = &st->contexts[i];
    if (i >= st->n || !c->cv)
        return !e->is_any && is_edge(st, c->oldcop, e->root);
    const struct dp_optree_sub *sub = dp_optree_sub(st->code, c->cv);
    return sub && (e->is_any || sub->root == e->root);
}

/* Do the lowest n contexts fit each other, and the statement that runs the topmost of them? */
static bool fits(struct dp_stack *st, dp_addr cop, size_t n)
{
    const struct dp_perl_ops *ops = &st->code->perl->ops;
    struct expected e, below;
    if (!expect(st, cop, &e))
        return false;
    for (size_t i = n; i-- > 0;) {
        const struct dp_stack_context *c = &st->contexts[i];
        bool is_sub = dp_stack_is_sub(st, c), is_code = dp_stack_is_code(st, c);
        if (is_passed_over(st, c))
            continue;
        if ((is_sub && !sub_fits(st, i, &e)) || !expect(st, c->oldcop, &below)
            || (is_code && !e.is_any && e.type != ops->op_leaveeval)
            || (!is_sub && !is_code && !e.is_any && !below.is_any && below.root != e.root))
            return false;
        if (is_sub || is_code)
            e = below;
        e.is_any = e.is_any || c->is_gap;
    }
    return e.is_any || e.type == ops->op_leave;         /* below all, the main program */
}

/* Remembers the calls of a stack that fits. */
static void learn_edges(struct dp_stack *st)
{
    for (size_t i = 0; i < st->n; i++) {
        const struct dp_stack_context *c = &st->contexts[i];
        const struct dp_optree_sub *sub = dp_stack_is_sub(st, c) && c->cv
                                        ? dp_optree_sub(st->code, c->cv) : NULL;
        if (sub && sub->root)
            *edge_of(st, c->oldcop, sub->root)
                = (struct dp_stack_edge){ c->oldcop, sub->root, sub->name };
    }
}

/* Takes the compiler's statement for the one that runs, if perl compiles and that fits. */
static bool mend_compiler(struct dp_stack *st)
{
    dp_addr compiling = DP_PERL_VAR(st->code->perl, st->interpreter, compiling);
    if (!compiling || !st->parser || !fits(st, compiling, st->n))
        return false;
    st->curcop = compiling;
    st->op = 0;
    return true;
}

/* Makes the stack fit by leaving out contexts on top, or taking in those popped last. */
static bool mend(struct dp_stack *st)
{
    size_t n = st->n;
    const struct dp_optree_cop *cop = dp_optree_cop(st->code, st->curcop);
    st->mended = 0;
    /* a statement whose tree is not complete does not run: the compiler looks at it */
    if (cop && !cop->root && mend_compiler(st))
        return true;
    for (size_t k = 0; k <= MEND; k++) {
        if (k <= n && fits(st, st->curcop, n - k)) {
            st->n = n - k;
            st->mended = -(int)k;
            learn_edges(st);
            return true;
        }
        if (k && n + k <= st->n_all && fits(st, st->curcop, n + k)) {
            st->n = n + k;
            st->mended = (int)k;
            return true;
        }
    }
    /* A sub at its very end has no CV any more: what runs is its caller's statement. */
    const struct dp_stack_context *top = n ? &st->contexts[n - 1] : NULL;
    if (!top || top->cv || !dp_stack_is_sub(st, top) || !fits(st, top->oldcop, n - 1))
        return mend_compiler(st);
    st->curcop = top->oldcop;
    st->op = 0;
    st->n = n - 1;
    st->mended = -1;
    return true;
}

/* Compares in one reading all statements and subs of the stack that are known. */
static void check_code(struct dp_stack *st)
{
    dp_optree_check_begin(&st->check);
    dp_optree_check_cop(st->code, &st->check, st->curcop);
    for (size_t i = 0; i < st->n_all; i++) {
        const struct dp_stack_context *c = &st->contexts[i];
        dp_optree_check_cop(st->code, &st->check, c->oldcop);
        if (dp_stack_is_sub(st, c))
            dp_optree_check_sub(st->code, &st->check, c->cv);
    }
    dp_optree_check_end(st->code, &st->check);
}

int dp_stack_read(struct dp_stack *st)
{
    dp_target_look(st->code->target);
    if (!read_once(st))
        return DP_E_IO;
    check_code(st);
    return mend(st);
}

uint32_t dp_stack_name(struct dp_stack *st, size_t i, dp_addr cop)
{
    const struct dp_stack_context *c = &st->contexts[i];
    bool is_popped = st->mended > 0 && i + (size_t)st->mended >= st->n;
    const struct dp_optree_sub *sub = is_popped || !c->cv ? NULL : dp_optree_sub(st->code, c->cv);
    if (sub)
        return sub->name;
    const struct dp_optree_cop *at = cop ? dp_optree_cop(st->code, cop) : NULL;
    return at && is_edge(st, c->oldcop, at->root) ? edge_of(st, c->oldcop, at->root)->name
                                                  : DP_MAP_NONE;
}

bool dp_stack_is_outside(const struct dp_stack *st)
{
    return !st->parser && dp_optree_is_compiling(st->code, st->interpreter, st->curcop);
}
