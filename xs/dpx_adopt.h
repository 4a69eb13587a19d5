/* Gives the hooks to subs that were compiled before there were any. */
#ifndef DPX_ADOPT_H
#define DPX_ADOPT_H

#include "dpx.h"

/* Goes through all code that the symbol table leads to: ops that ran original(type) run the hook
 * from then on. */
void dpx_adopt(pTHX_ Perl_ppaddr_t (*original)(Optype type));

#endif
