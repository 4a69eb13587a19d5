/* What this relies on: PL_op is the entersub for as long as an XS sub runs; its last kid says what
 * is called. After a method call, or a call by reference, the CV is still above the top of perl's
 * stack, where pp_entersub has popped it. A nextstate that perl leaves out stays in the tree as an
 * op of type null, and keeps its line. */
#include "dp_leaf.h"
#include "dp_builtins.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_text.h"

#include <limits.h>

enum {
    OP_BYTES = 128,
    MOST_STEPS = 2000,          /* ops of a statement that are searched */
    MOST_DEPTH = 200,
    MOST_KIDS = 300,            /* arguments of a call */
    OPf_KIDS = 4                /* op.h */
};

int dp_leafs_init(struct dp_leafs *leafs, struct dp_stack *stack)
{
    leafs->stack = stack;
    leafs->kept = dp_mem_zalloc(DP_LEAFS * sizeof *leafs->kept);
    return leafs->kept ? 0 : DP_E_NOMEM;
}

void dp_leafs_release(struct dp_leafs *leafs) { dp_mem_free(leafs->kept); }

/* ---- ops ---- */

/* Reads an op, and what stands behind its common fields. */
static bool read_op(const struct dp_leafs *leafs, dp_addr op, char *bytes)
{
    const struct dp_optree *code = leafs->stack->code;
    size_t len = code->perl->at.op_size + sizeof(void *);
    return op && len <= OP_BYTES && dp_target_get(code->target, op, bytes, len);
}

static unsigned type_of(const struct dp_leafs *leafs, const char *bytes)
{
    return dp_perl_op_type(leafs->stack->code->perl, bytes);
}

static bool has_kids(const struct dp_leafs *leafs, const char *bytes)
{
    return bytes[leafs->stack->code->perl->at.op_flags] & OPf_KIDS;
}

/* The next sibling of an op; 0: there is none. */
static dp_addr sibling(const struct dp_leafs *leafs, const char *bytes)
{
    const struct dp_layout *at = &leafs->stack->code->perl->at;
    return dp_target_u32_in(bytes, at->op_bits) & at->op_moresib
           ? dp_target_pointer_in(bytes, at->op_sibparent) : 0;
}

static dp_addr first_kid(const struct dp_leafs *leafs, const char *bytes)
{
    return dp_target_pointer_in(bytes, leafs->stack->code->perl->at.op_first);
}

/* Is it a nextstate that runs? */
static bool is_statement(const struct dp_leafs *leafs, const char *bytes)
{
    const struct dp_perl_ops *ops = &leafs->stack->code->perl->ops;
    unsigned type = type_of(leafs, bytes);
    return type == ops->op_nextstate || type == ops->op_dbstate;
}

/* Is it a nextstate that was left out? */
static bool is_null_statement(const struct dp_leafs *leafs, const char *bytes)
{
    const struct dp_perl *perl = leafs->stack->code->perl;
    dp_addr was = dp_target_pointer_in(bytes, perl->at.op_targ);
    return type_of(leafs, bytes) == perl->ops.op_null
           && (was == perl->ops.op_nextstate || was == perl->ops.op_dbstate);
}

/* ---- lines ---- */

/* A search for an op in a statement, or for the call that returns to it. */
struct search {
    struct dp_leafs *leafs;
    dp_addr op;
    bool is_return;
    int steps;
    uint32_t line;              /* of what was found; 0: nothing yet */
    bool differs;               /* calls in several lines return there */
};

/* Searches an op and all below it, as closest_cop of perl's util.c does. line: that of the last
 * statement before it. Returns true if the search is over. */
static bool search_op(struct search *s, dp_addr op, uint32_t line, int depth)
{
    struct dp_leafs *leafs = s->leafs;
    const struct dp_layout *at = &leafs->stack->code->perl->at;
    char bytes[OP_BYTES];
    if (++s->steps > MOST_STEPS || depth > MOST_DEPTH || !read_op(leafs, op, bytes))
        return true;
    if (!s->is_return && op == s->op) {
        s->line = line;
        return true;
    }
    if (s->is_return && type_of(leafs, bytes) == leafs->stack->code->perl->ops.op_entersub
        && dp_target_pointer_in(bytes, at->op_next) == s->op) {
        s->differs = s->differs || (s->line && s->line != line);
        s->line = line;
    }
    if (!has_kids(leafs, bytes))
        return false;
    for (dp_addr kid = first_kid(leafs, bytes); kid; kid = sibling(leafs, bytes)) {
        if (!read_op(leafs, kid, bytes))
            return true;
        if (is_null_statement(leafs, bytes))
            line = dp_target_u32(leafs->stack->code->target, kid + at->cop_line);
        if (search_op(s, kid, line, depth + 1))
            return true;
    }
    return false;
}

/* The line of the op in the statement that begins at cop; the statement's own if it is not
 * found. */
static uint32_t find_line(struct dp_leafs *leafs, const struct dp_optree_cop *cop, dp_addr op,
                          bool is_return)
{
    struct search s = { .leafs = leafs, .op = op, .is_return = is_return };
    uint32_t line = cop->line;
    char bytes[OP_BYTES];
    dp_addr next = cop->at;
    while (read_op(leafs, next, bytes) && (next = sibling(leafs, bytes)) != 0) {
        if (!read_op(leafs, next, bytes) || is_statement(leafs, bytes)
            || search_op(&s, next, line, 0))
            break;
    }
    return s.line && !s.differs ? s.line : line;
}

/* ---- XS subs ---- */

/* The glob or reference by which an entersub names its sub; 0: it is a method, or a reference that
 * the code computes. */
static dp_addr find_glob(struct dp_leafs *leafs, const char *entersub)
{
    const struct dp_perl *perl = leafs->stack->code->perl;
    char bytes[OP_BYTES];
    if (!read_op(leafs, first_kid(leafs, entersub), bytes))
        return 0;
    if (!sibling(leafs, bytes) && !read_op(leafs, first_kid(leafs, bytes), bytes))
        return 0;               /* below a list that is null */
    for (int i = 0; i < MOST_KIDS && sibling(leafs, bytes); i++)
        if (!read_op(leafs, sibling(leafs, bytes), bytes))
            return 0;
    unsigned type = type_of(leafs, bytes);
    if ((type != perl->ops.op_null && type != perl->ops.op_rv2cv) || !has_kids(leafs, bytes)
        || !read_op(leafs, first_kid(leafs, bytes), bytes)
        || type_of(leafs, bytes) != perl->ops.op_gv)
        return 0;
    if (!perl->version.multiplicity)
        return dp_target_pointer_in(bytes, perl->at.op_sv);
    return dp_target_pointer(leafs->stack->code->target, leafs->stack->curpad
                             + sizeof(void *) * dp_target_pointer_in(bytes, perl->at.op_padix));
}

/* Does the glob of an entersub, or the reference in its place, still lead to the same CV? One
 * reading answers that, and whether the CV itself is the same. */
static bool leads_to_same(struct dp_stack *st, const struct dp_leaf *e)
{
    const struct dp_layout *at = &st->code->perl->at;
    struct dp_optree_check *check = &st->check;
    if (!e->cv)
        return false;
    dp_optree_check_begin(check);
    size_t value = dp_optree_check_word(check, e->glob + at->sv_u);
    size_t flags = dp_optree_check_word(check, e->glob + at->sv_flags);
    size_t cv = dp_optree_check_word(check, e->gp ? e->gp + at->gp_cv : e->glob + at->sv_u);
    dp_optree_check_sub(st->code, check, e->cv);
    return dp_optree_check_end(st->code, check)
           && !e->gp == !!(dp_target_u32_in(check->bytes[flags], 0) & at->SVf_ROK)
           && (!e->gp || dp_target_pointer_in(check->bytes[value], 0) == e->gp)
           && dp_target_pointer_in(check->bytes[cv], 0) == e->cv;
}

/* Finds the CV that the glob of an entersub, or the reference in its place, leads to; 0: none. */
static dp_addr find_cv(struct dp_stack *st, struct dp_leaf *e)
{
    const struct dp_layout *at = &st->code->perl->at;
    struct dp_target *t = st->code->target;
    char head[64];
    if (leads_to_same(st, e))
        return e->cv;
    e->gp = e->cv = 0;
    if (at->sv_size > sizeof head || !dp_target_get(t, e->glob, head, at->sv_size))
        return 0;
    dp_addr to = dp_target_pointer_in(head, at->sv_u);
    bool is_ref = dp_target_u32_in(head, at->sv_flags) & at->SVf_ROK;
    e->gp = is_ref ? 0 : to;
    e->cv = is_ref || !to ? to : dp_target_pointer(t, to + at->gp_cv);
    return e->cv;
}

/* ---- builtins, and the compiler ---- */

static const struct {
    const char *op, *name;
} builtins[] = {
#define BUILTIN(op, name) { #op, name },
    DP_BUILTINS(BUILTIN)
#undef BUILTIN
};

static uint32_t intern(struct dp_optree *code)
{
    return code->text.err ? DP_MAP_NONE
           : dp_pool_intern(&code->names, code->text.ptr, code->text.len);
}

/* The name of a slow builtin; DP_MAP_NONE: the op is none. */
static uint32_t builtin_name(struct dp_optree *code, unsigned type)
{
    if (type >= code->perl->op_names.count)
        return DP_MAP_NONE;
    const struct dp_name *op = dp_pool_name(&code->perl->op_names, type);
    for (size_t i = 0; i < DP_ARRAY_LEN(builtins); i++) {
        if (strlen(builtins[i].op) != op->len || !dp_text_alike(builtins[i].op, op->ptr, op->len))
            continue;
        dp_buf_clear(&code->text);
        dp_buf_addf(&code->text, "CORE %s - kind=builtin", builtins[i].name);
        return intern(code);
    }
    return DP_MAP_NONE;
}

/* The compiler of a file or of a string. */
static uint32_t compiler_name(struct dp_optree *code, dp_addr compiling)
{
    static const char before[] = "(compile) ", string[] = "(eval";
    const struct dp_optree_cop *cop = dp_optree_cop(code, compiling);
    if (!cop)
        return DP_MAP_NONE;
    const struct dp_name *file = dp_pool_name(&code->files, cop->file);
    bool is_string = strncmp(file->ptr, string, sizeof string - 1) == 0;
    dp_buf_clear(&code->text);
    dp_buf_adds(&code->text, "% ");
    dp_fmt_field(&code->text, before, sizeof before - 1);
    if (is_string)
        dp_buf_adds(&code->text, "(eval)");
    else
        dp_fmt_field(&code->text, file->ptr, file->len);
    dp_buf_adds(&code->text, " - kind=builtin");
    return intern(code);
}

/* ---- what runs ---- */

/* Returns the number of statements behind this one on its line. The number distinguishes the
 * statements of a line. */
static uint32_t count_later(struct dp_leafs *leafs, const struct dp_optree_cop *cop)
{
    const struct dp_layout *at = &leafs->stack->code->perl->at;
    char bytes[OP_BYTES];
    uint32_t n = 0;
    dp_addr next = cop->at;
    for (int i = 0; i < MOST_STEPS && read_op(leafs, next, bytes); i++) {
        next = sibling(leafs, bytes);
        if (!next || !read_op(leafs, next, bytes))
            break;
        if (!is_statement(leafs, bytes))
            continue;
        if (dp_target_u32(leafs->stack->code->target, next + at->cop_line) != cop->line)
            break;
        n++;
    }
    return n;
}

/* Finds out all about an op that the table lacks. */
static void find_leaf(struct dp_leafs *leafs, struct dp_leaf *e, const struct dp_optree_cop *cop,
                      dp_addr op, bool is_return)
{
    char bytes[OP_BYTES];
    if (op && cop->root)
        e->line = find_line(leafs, cop, op, is_return);
    e->later = is_return ? 0 : count_later(leafs, cop);
    if (is_return || !read_op(leafs, op, bytes))
        return;
    e->type = type_of(leafs, bytes);
    if (e->type == leafs->stack->code->perl->ops.op_entersub)
        e->glob = find_glob(leafs, bytes);
    else
        e->builtin = builtin_name(leafs->stack->code, e->type);
}

struct dp_leaf *dp_leaf_of(struct dp_leafs *leafs, dp_addr at, dp_addr op, bool is_return)
{
    const struct dp_optree_cop *cop = dp_optree_cop(leafs->stack->code, at);
    if (!cop)
        return NULL;
    dp_addr key = op << 1 | is_return;
    struct dp_leaf *e = &leafs->kept[dp_map_hash(at ^ key << 7) % DP_LEAFS];
    if (e->cop == at && e->op == key && e->serial == cop->serial)
        return e;
    *e = (struct dp_leaf){ at, key, cop->serial, cop->line, 0, UINT_MAX, DP_MAP_NONE, 0, 0, 0 };
    find_leaf(leafs, e, cop, op, is_return);
    return e;
}

/* The XS sub that an entersub runs; DP_MAP_NONE: it runs a sub of perl's. */
static uint32_t xs_name(struct dp_leafs *leafs, struct dp_leaf *e)
{
    struct dp_stack *st = leafs->stack;
    dp_addr cv = e->glob ? find_cv(st, e)
                 : dp_target_pointer(st->code->target, st->sp + sizeof(void *));
    const struct dp_optree_sub *sub = cv ? dp_optree_sub(st->code, cv) : NULL;
    return sub && sub->is_xs ? sub->name : DP_MAP_NONE;
}

uint32_t dp_leaf_name(struct dp_leafs *leafs)
{
    struct dp_stack *st = leafs->stack;
    if (dp_stack_is_outside(st))
        return DP_MAP_NONE;
    if (dp_optree_is_compiling(st->code, st->interpreter, st->curcop))
        return compiler_name(st->code, st->curcop);
    struct dp_leaf *e = st->op ? dp_leaf_of(leafs, st->curcop, st->op, false) : NULL;
    return !e ? DP_MAP_NONE
           : e->type == st->code->perl->ops.op_entersub ? xs_name(leafs, e) : e->builtin;
}

const char *dp_leaf_op(struct dp_leafs *leafs)
{
    const struct dp_perl *perl = leafs->stack->code->perl;
    char bytes[OP_BYTES];
    if (!read_op(leafs, leafs->stack->op, bytes))
        return "";
    unsigned type = type_of(leafs, bytes);
    return type < perl->op_names.count ? dp_pool_name(&perl->op_names, type)->ptr : "";
}
