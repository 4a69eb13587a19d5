/* Slow builtins, recorded as calls: builtins=slow. */
#ifndef DPX_BUILTIN_H
#define DPX_BUILTIN_H

#include "dpx.h"

/* Hooks the slow builtins, once for the process. */
void dpx_builtin_install(void);

/* The id of the builtin that ops of a type run; 0: they run none, or it is not recorded. */
U32 dpx_builtin_id(pTHX_ struct dpx_ctx *ctx, Optype type);

/* The function that the ops of a type ran before; NULL: they are not hooked. */
Perl_ppaddr_t dpx_builtin_original(Optype type);

#endif
