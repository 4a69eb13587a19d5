/* What the innermost code of a target does at the moment: the line, and the XS sub or builtin that
 * runs in it; and the lines of its calls. */
#ifndef DP_LEAF_H
#define DP_LEAF_H

#include "dp_stack.h"

enum { DP_LEAFS = 1 << 14 };

/* Ops in their statements, as they were found before; a table of a fixed size. */
struct dp_leafs {
    struct dp_leaf {
        dp_addr cop, op;
        uint32_t serial;        /* of the statement */
        uint32_t line;
        uint32_t later;         /* statements behind it on its line */
        unsigned type;          /* of the op; UINT_MAX: unknown */
        uint32_t builtin;       /* its name, if it is a slow builtin; DP_MAP_NONE: it is none */
        dp_addr glob;           /* of an entersub: where its sub stands; 0: not in the code */
        dp_addr gp, cv;         /* where the glob has led to the last time */
    } *kept;
    struct dp_stack *stack;     /* borrowed */
};

/* Begins to find the lines and leaves of the stacks that `stack` reads; it is borrowed. Returns 0
 * or DP_E_NOMEM. */
int dp_leafs_init(struct dp_leafs *leafs, struct dp_stack *stack);
void dp_leafs_release(struct dp_leafs *leafs);

/* Finds the line of an op in a statement. The line may be that of a statement inside: perl leaves
 * out the first nextstate of a block, but keeps that nextstate's line. is_return: op is where a
 * call returns to, and the line is that of the call. NULL: cop is no statement. Valid until the
 * next call. */
struct dp_leaf *dp_leaf_of(struct dp_leafs *leafs, dp_addr cop, dp_addr op, bool is_return);

/* The name (dp_optree.names) of the XS sub or the slow builtin that runs in the topmost
 * statement of the stack, or of the compiler; DP_MAP_NONE: none of them. */
uint32_t dp_leaf_name(struct dp_leafs *leafs);

/* The name of the op that runs, as perl calls it; "" if there is none. */
const char *dp_leaf_op(struct dp_leafs *leafs);

#endif
