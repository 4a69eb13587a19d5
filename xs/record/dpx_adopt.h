/* Gives the hooks to ops: to those that are compiled from now on, and to those of subs that were
 * compiled before there were hooks. */
#ifndef DPX_ADOPT_H
#define DPX_ADOPT_H

#include "dpx.h"

/* Has ops of this type that are compiled from now on run ours; orig: their function so far. */
DP_INLINE void dpx_adopt_type(Optype type, Perl_ppaddr_t *orig, Perl_ppaddr_t ours)
{
    *orig = PL_ppaddr[type];
    PL_ppaddr[type] = ours;
}

/* Goes through all code that the symbol table leads to: ops that ran original(type) run the hook
 * from now on. */
void dpx_adopt(pTHX_ Perl_ppaddr_t (*original)(Optype type));

#endif
