/* The order of a hash's keys: a fixed seed gives the program its plain order. With a fixed
 * PERL_HASH_SEED (and not 0), perl changes a number, PL_hash_rand_bits, at each key that it adds to
 * the symbol table, and at each collision of keys in any hash. This number determines the order of
 * keys. Switch -d and our own loading add keys, so the program's hashes would have another order
 * than in the plain run. */
#ifndef DPX_ORDER_H
#define DPX_ORDER_H

#include "dpx.h"

struct dpx_order {
    bool fixed;                 /* the seed determines the order */
    UV now;                     /* PL_hash_rand_bits when this was noted */
    bool splits;                /* -d:DProf=OPTIONS: perl compiled a pattern to split them */
    U32 mark;                   /* the low half of the number when perl had compiled the line that
                                 * loads us */
};

/* Notes the state before dpx_undebug. */
void dpx_order_note(pTHX_ struct dpx_order *order);

/* Restores the state that a plain run has when perl begins to read the program, and hides what we
 * have added to the symbol table and %INC. If that is impossible, the state is that of
 * dpx_order_note, which is the same in all modes. */
void dpx_order_restore(pTHX_ const struct dpx_order *order);

#endif
