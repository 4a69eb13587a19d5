/* The stack of a target's interpreter: one reading of it, checked against perl's own structure.
 *
 * The target may run while it is read, and even where it stands still, it may stand in the middle
 * of a call: perl pushes the context of a sub before it runs the sub's first statement, and pops it
 * before the caller's next one. So a reading may mix two stacks. But a statement stands in the tree
 * of ops of one sub, and each sub has one root. Hence a stack fits if the statement that runs
 * belongs to the topmost sub, and the statement that was current before each context belongs to the
 * sub below. A stack that does not fit is mended, by leaving out the contexts on top or taking in
 * those that were popped last, until it fits; or it is given up. */
#ifndef DP_STACK_H
#define DP_STACK_H

#include "dp_optree.h"

enum {
    DP_STACK_CONTEXTS = 4096,   /* most contexts; of a deeper stack, those in the middle are left
                                 * out */
    DP_STACK_INFOS = 64,        /* most stackinfos: perl makes one for a sort, a signal, ... */
    DP_STACK_POPPED = 6         /* contexts above the topmost, which were popped last */
};

/* A context. */
struct dp_stack_context {
    dp_addr oldcop;             /* the statement that was current before it */
    dp_addr cv, retop;          /* of a sub */
    unsigned type, flags;       /* CXt_SUB ...; the whole byte */
    unsigned u16;
    int32_t olddepth;
    bool is_gap;                /* contexts below it were left out */
};

struct dp_stack_info {          /* a stackinfo, as it was at the last reading */
    dp_addr at, contexts, prev;
    int32_t ix, max, type;
};

struct dp_stack {
    struct dp_optree *code;       /* borrowed */
    dp_addr interpreter;        /* see dp_perl.first */
    /* what was read */
    dp_addr op, sp, curpad, comppad, curcop, curstackinfo;
    dp_addr parser;             /* 0: perl does not compile */
    int32_t phase;
    struct dp_stack_context *contexts;  /* the outermost first */
    size_t n;                   /* contexts that count */
    size_t n_all;               /* with those that were popped last */
    int mended;                 /* contexts left out (negative) or taken in */
    struct dp_stack_info infos[DP_STACK_INFOS]; /* the innermost first */
    size_t n_infos;
    /* for the next reading */
    char *bytes;                /* room for contexts */
    struct dp_optree_check check;
    struct dp_stack_edge {
        dp_addr cop, root;
        uint32_t name;          /* of the sub */
    } *edges;                   /* calls that were seen in stacks that fitted */
    uint64_t guessed_wrong;
};

/* Begins to read the stacks of an interpreter. code is borrowed; interpreter: one that
 * dp_perl_is_interpreter accepts. Returns 0 or DP_E_NOMEM. */
int dp_stack_init(struct dp_stack *st, struct dp_optree *code, dp_addr interpreter);
void dp_stack_release(struct dp_stack *st);

/* Reads the stack, and checks and mends it. Begins a new look of the target. Returns 1; 0 if it
 * fits in no way; or DP_E_IO if the memory cannot be read. */
int dp_stack_read(struct dp_stack *st);

/* Is the context c of the stack a call of a sub? */
bool dp_stack_is_sub(const struct dp_stack *st, const struct dp_stack_context *c);
/* Is the context c a string eval, a require or a do FILE? An eval {} or try {} is not. */
bool dp_stack_is_code(const struct dp_stack *st, const struct dp_stack_context *c);
/* Is the context c a require or a do FILE? */
bool dp_stack_is_file(const struct dp_stack *st, const struct dp_stack_context *c);

/* The name (dp_optree.names) of the sub of context i, even if it was popped; DP_MAP_NONE: unknown.
 * cop: the statement that runs in it. */
uint32_t dp_stack_name(struct dp_stack *st, size_t i, dp_addr cop);

/* Does the program run that perl is embedded in, and no code of perl's? An op alone does not say
 * so: PL_op is NULL between two calls of a sort's block, too. */
bool dp_stack_is_outside(const struct dp_stack *st);

#endif
