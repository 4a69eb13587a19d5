/* Statements that perl gives no op of their own.
 *
 * In a block with one statement and no variables perl turns the nextstate into a null op, which is
 * never run: in `if (...) {`, work(), `}` the second line has no nextstate. The null op is still in
 * the tree of ops, and has its line. (Its file is freed, but was that of the statement around.)
 * perl does the same with the nextstate of an elsif's condition.
 *
 * An op that decides leads to such a block: and, or, dor, cond_expr, catch. So that op gets a
 * function of ours, after perl has optimized the sub. The function runs the op, and if the op goes
 * on into the block, reports that the statement begins. Neither the ops nor their order change: B
 * shows the same ops, as many ops are run, and PL_curcop stays what it was for caller, warn and
 * die.
 *
 * In `if (a or b) {` perl sends a true `a` straight into the block, past the op that decides. Then
 * that `or` gets a function of ours, too, which finds out whose block it leads to.
 *
 * Blocks to which no such op leads are not seen: those of sort, map, grep, and a plain do; nor are
 * blocks in which nothing happens. An op that has another function than perl's is left alone.
 *
 * What this relies on: PL_peepp sees each sub after perl has optimized it. A nextstate that perl
 * leaves out stays in the tree as an OP_NULL whose op_targ is its old type. The ops in
 * is_decision() are all that lead into a block; a new perl may have a new one. A child of
 * OP_COND_EXPR stands where right_arm() and else_arm() look for it. */
#include "dpx_revive.h"

static peep_t orig_peep;
static Perl_ppaddr_t before[MAXO];      /* the functions of the ops before ours */
static dpx_revive_tell *report_known;
static dpx_revive_first *report_first;

/* Is it an op that leads into a block or past it? */
static bool is_decision(const OP *o)
{
    return o->op_type == OP_AND || o->op_type == OP_OR || o->op_type == OP_DOR
#if PERL_VERSION >= 34
           || o->op_type == OP_CATCH
#endif
           || o->op_type == OP_COND_EXPR;
}

/* Is it an op of this type, or was it one before it became a null op? */
DP_INLINE bool is_or_was(const OP *o, Optype type)
{
    return o->op_type == type || (o->op_type == OP_NULL && (Optype)o->op_targ == type);
}

/* Is it a nextstate that has become a null op? */
DP_INLINE bool is_left(const OP *o)
{
    return o->op_type == OP_NULL && (o->op_targ == OP_NEXTSTATE || o->op_targ == OP_DBSTATE);
}

/* The null op that was the nextstate at the beginning of an arm; NULL: there is none, or the
 * nextstate itself is run, or the arm is `do {} while`, which is first entered without a
 * decision. */
DP_INLINE COP *first_of(OP *arm)
{
    bool is_list = false;
    while (!is_left(arm)) {
        if (!(arm->op_flags & OPf_KIDS)
            || !(arm->op_type == OP_NULL || is_or_was(arm, OP_SCOPE) || is_or_was(arm, OP_LINESEQ)
                 || is_decision(arm))
            || (is_list && arm->op_type == OP_NULL && arm->op_flags & OPf_SPECIAL))
            return NULL;
        is_list = is_or_was(arm, OP_LINESEQ);
        arm = cUNOPx(arm)->op_first;
    }
    return (COP *)arm;
}

/* The arm that op_other leads to, and the other arm of a cond_expr. */
DP_INLINE OP *right_arm(const OP *o) { return OpSIBLING(cLOGOPx(o)->op_first); }
DP_INLINE OP *else_arm(const OP *o) { return OpSIBLING(right_arm(o)); }

/* ---- running ---- */

/* Nothing else reads the null ops that lead to a statement, so they are seldom in the processor's
 * cache. So the number of the statement at the beginning of an arm is kept at hand, under the
 * address of the op and the arm: the lower bits of the address choose the word, which holds the
 * upper bits and the number. All threads share the words, as they share ops and numbers. An op that
 * gets a function of ours (take_op) may stand where another one stood: its words are cleared
 * then. */
enum { WORD_BITS = 14, NUMBER_BITS = 22 };
static UV numbers[1 << WORD_BITS];

enum arm { RIGHT, ELSE };

/* An op is longer than a pointer, so the address behind an op's is no other op's. */
DP_INLINE UV address_of(const OP *o, enum arm arm) { return PTR2UV(o) / sizeof(void *) + arm; }

DP_INLINE UV *word_of(UV at) { return &numbers[at & ((1 << WORD_BITS) - 1)]; }

/* Reports the statement at the beginning of an arm of op o to the recorder, if the table of numbers
 * has it. Returns true if the recorder took it. */
DP_INLINE bool report_if_kept(pTHX_ const OP *o, enum arm arm)
{
    UV at = address_of(o, arm), word = __atomic_load_n(word_of(at), __ATOMIC_RELAXED);
    return word >> NUMBER_BITS == at >> WORD_BITS
           && report_known(aTHX_ word & ((1 << NUMBER_BITS) - 1));
}

/* Reports the first statement of an arm of a condition, and notes in the op's word that this is
 * done. */
static DP_NOINLINE void report_arm(pTHX_ const OP *o, enum arm arm, COP *cop)
{
    U32 number = report_first(aTHX_ cop);
    UV at = address_of(o, arm);
    if (number && !(number >> NUMBER_BITS))
        __atomic_store_n(word_of(at), at >> WORD_BITS << NUMBER_BITS | number, __ATOMIC_RELAXED);
}

/* Forgets which arms of an op have reported their first statements. */
static void clear_words(const OP *o)
{
    for (int arm = RIGHT; arm <= ELSE; arm++)
        __atomic_store_n(word_of(address_of(o, (enum arm)arm)), 0, __ATOMIC_RELAXED);
}

/* Returns the first op in the block of an arm. Most such ops are of `if (...) {`, and the statement
 * is the first thing in the block. */
DP_INLINE COP *first_in_block(const OP *arm) { return (COP *)cUNOPx(arm)->op_first; }

DP_INLINE bool begins_block(const OP *arm)
{
    return arm->op_flags & OPf_KIDS && is_left((OP *)first_in_block(arm));
}

/* Runs an op such as && whose right arm is a block, and reports the first statement of that block
 * if it is entered. */
static OP *run_block(pTHX)
{
    const OP *o = PL_op;
    OP *next = before[o->op_type](aTHX);
    if (next == cLOGOPx(o)->op_other && !report_if_kept(aTHX_ o, RIGHT))
        report_arm(aTHX_ o, RIGHT, first_in_block(right_arm(o)));
    return next;
}

/* Returns the first statement in the condition of an elsif. Nearly all other arms are those of
 * `elsif`: a list, in it the op that decides next, in it the list of the condition, which begins
 * with the statement. */
DP_INLINE COP *first_in_elsif(const OP *arm)
{
    return first_in_block(cUNOPx(cUNOPx(arm)->op_first)->op_first);
}

/* Runs a condition whose else arm is an elsif, and reports the first statement of that arm if it is
 * entered. */
static OP *run_elsif(pTHX)
{
    const OP *o = PL_op;
    OP *next = before[OP_COND_EXPR](aTHX);
    if (next != cLOGOPx(o)->op_other && !report_if_kept(aTHX_ o, ELSE))
        report_arm(aTHX_ o, ELSE, first_in_elsif(else_arm(o)));
    return next;
}

/* Runs the condition of `if (...) { } elsif ...`, and reports the first statement of the arm that
 * is entered, as perl has left out its nextstate. */
static OP *run_block_elsif(pTHX)
{
    const OP *o = PL_op;
    OP *next = before[OP_COND_EXPR](aTHX);
    enum arm arm = next == cLOGOPx(o)->op_other ? RIGHT : ELSE;
    if (!report_if_kept(aTHX_ o, arm))
        report_arm(aTHX_ o, arm, arm == RIGHT ? first_in_block(right_arm(o))
                                              : first_in_elsif(else_arm(o)));
    return next;
}

/* Runs an op such as || with a right arm, and reports the first statement of that arm if it is
 * entered. */
static OP *run_right(pTHX)
{
    const OP *o = PL_op;
    OP *next = before[o->op_type](aTHX);
    if (next == cLOGOPx(o)->op_other && !report_if_kept(aTHX_ o, RIGHT))
        report_arm(aTHX_ o, RIGHT, first_of(right_arm(o)));
    return next;
}

/* Runs a cond_expr with a statement without an op in either arm, or in both, wherever it is, and
 * reports the one of the arm that is entered. */
static OP *run_either(pTHX)
{
    const OP *o = PL_op;
    OP *next = before[OP_COND_EXPR](aTHX);
    enum arm arm = next == cLOGOPx(o)->op_other ? RIGHT : ELSE;
    if (report_if_kept(aTHX_ o, arm))
        return next;
    COP *cop = first_of(arm == RIGHT ? right_arm(o) : else_arm(o));
    if (cop)
        report_arm(aTHX_ o, arm, cop);
    return next;
}

/* The op whose right arm begins at start, and in whose condition o is; NULL: there is none. */
static const OP *decision_of(OP *o, const OP *start)
{
    for (o = op_parent(o); o; o = op_parent(o))
        if (is_decision(o) && cLOGOPx(o)->op_other == start)
            break;
    return o;
}

/* Runs an op that may go on into the block of another, and reports the first statement of the block
 * that is entered. */
static OP *run_far(pTHX)
{
    OP *o = PL_op;
    OP *next = before[o->op_type](aTHX);
    const OP *of = next == cLOGOPx(o)->op_other ? o : decision_of(o, next);
    COP *cop = of ? first_of(right_arm(of)) : NULL;
    if (cop)
        report_first(aTHX_ cop);
    return next;
}

/* ---- finding them ---- */

static bool is_within(OP *o, const OP *tree)
{
    while (o && o != tree)
        o = op_parent(o);
    return o != NULL;
}

/* The op behind o in the tree below root, kids first; NULL: o was the last one. */
static OP *next_in(OP *root, OP *o)
{
    if (o->op_flags & OPf_KIDS)
        return cUNOPx(o)->op_first;
    while (o != root && !OpHAS_SIBLING(o))
        if (!(o = op_parent(o)))
            return NULL;
    return o == root ? NULL : OpSIBLING(o);
}

static bool is_free(const OP *o)
{
    return o->op_ppaddr == before[o->op_type];
}

/* Does an arm begin with a statement without an op, and is start, the first op run, within the
 * arm? */
static bool begins_at(OP *arm, OP *start)
{
    return arm && start && first_of(arm) && is_within(start, arm);
}

/* Gives functions to the ops within the condition of o that go straight to start. */
static void take_shortcuts(const OP *o, const OP *start)
{
    OP *root = cLOGOPx(o)->op_first;
    for (OP *p = root; p; p = next_in(root, p))
        if (is_decision(p) && p->op_type != OP_COND_EXPR && p->op_next == start
            && (is_free(p) || p->op_ppaddr == run_right || p->op_ppaddr == run_block))
            p->op_ppaddr = run_far;
}

/* Does an else arm begin with the condition of an elsif? */
static bool begins_elsif(const OP *arm)
{
    for (int n = 0; n < 2; n++)
        if (!(arm->op_flags & OPf_KIDS) || is_left(arm = cUNOPx(arm)->op_first))
            return false;
    return begins_block(arm);
}

/* The function of a cond_expr whose arms begin, or not, with a statement without an op. */
static Perl_ppaddr_t choose_function(const OP *o, bool has_right, bool has_else)
{
    bool block = has_right && begins_block(right_arm(o));
    bool elsif = has_else && begins_elsif(else_arm(o));
    return block && !has_else ? run_block
           : block && elsif ? run_block_elsif
           : elsif && !has_right ? run_elsif
           : run_either;
}

/* Gives an op that decides one of our functions if a statement without an op begins a block to
 * which it leads; and so to the ops in its condition that go straight into that block. */
static void take_op(OP *o)
{
    clear_words(o);
    OP *right = right_arm(o), *other = cLOGOPx(o)->op_other;
    bool has_right = right && other != o->op_next && begins_at(right, other);
    if (o->op_type == OP_COND_EXPR) {
        OP *otherwise = right ? OpSIBLING(right) : NULL;
        bool has_else = other != o->op_next && begins_at(otherwise, o->op_next);
        /* run_either reads both arms: it must not if one has a statement, but begins elsewhere. */
        if ((has_right || has_else) && (has_right || !right || !first_of(right))
            && (has_else || (otherwise && !first_of(otherwise))))
            o->op_ppaddr = choose_function(o, has_right, has_else);
    } else if (has_right) {
        if (is_free(o))
            o->op_ppaddr = begins_block(right) ? run_block : run_right;
        take_shortcuts(o, other);
    }
}

/* Lets perl optimize the ops from o on, and then gives functions to ops of the whole tree that o is
 * in. */
static void peep_hook(pTHX_ OP *o)
{
    orig_peep(aTHX_ o);
    OP *root = o;
    if (!o)
        return;
    for (OP *parent; (parent = op_parent(root)) != NULL;)
        root = parent;
    for (o = root; o; o = next_in(root, o))
        if (is_decision(o) && (o->op_flags & OPf_KIDS) && (is_free(o) || o->op_ppaddr == run_far))
            take_op(o);
}

void dpx_revive_install(pTHX_ dpx_revive_tell *known, dpx_revive_first *unknown)
{
    static const Optype types[] = {
        OP_AND, OP_OR, OP_DOR, OP_COND_EXPR,
#if PERL_VERSION >= 34
        OP_CATCH,
#endif
    };
    report_known = known;
    report_first = unknown;
    for (size_t i = 0; i < DP_ARRAY_LEN(types); i++)
        before[types[i]] = PL_ppaddr[types[i]];
    orig_peep = PL_peepp;
}

void dpx_revive_join(pTHX)
{
    if (PL_peepp == orig_peep)
        PL_peepp = peep_hook;
}
