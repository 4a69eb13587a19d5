/* Who holds a value: the chain of references from a variable to it. The whole heap is walked, when
 * that is asked for, and never otherwise. */
#ifndef DPX_HOLDERS_H
#define DPX_HOLDERS_H

#include "dpx.h"

/* The values of an interpreter, and which of them refers to which. */
struct dpx_holders;

/* Walks the heap from all variables and subs, which takes some 150 ns and 60 bytes a value, and
 * ends after that many seconds of the recording's clock: then values may have no known holder.
 * Changes nothing, and calls nothing of the program's. Returns NULL if memory is short. */
struct dpx_holders *dpx_holders_new(pTHX_ struct dpx_ctx *ctx, unsigned seconds);
void dpx_holders_free(struct dpx_holders *h);

/* Appends the chain to a value as one text, in UTF-8: the variable, and the types that lead to the
 * value, with the classes of objects: `@My::Cache::kept -> HASH (My::Item)`. If no variable leads
 * there, the text is the cycle of values that refer to each other, or says that no variable leads
 * to the value, or that the time is over. No key and no content of a value is in the
 * text. */
void dpx_holders_describe(pTHX_ struct dpx_holders *h, const SV *value, struct dp_buf *to);

#endif
