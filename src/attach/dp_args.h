/* The arguments of a target's running subs, for people. They may be secrets: nothing shows them
 * unless it is asked to. */
#ifndef DP_ARGS_H
#define DP_ARGS_H

#include "dp_stack.h"

/* Appends the arguments of the sub of context i, as in ('text', 3, My::Item(0x55...), ...): its @_,
 * with what shift has taken off. Texts are cut after 60 bytes, lists after 8 arguments. Returns
 * false if the sub has no @_ of its own, or it cannot be read; then nothing is appended. */
bool dp_args_show(struct dp_stack *st, size_t i, struct dp_buf *to);

#endif
