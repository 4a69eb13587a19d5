/* Slow builtins, recorded as calls: builtins=slow. */
#ifndef DPX_BUILTIN_H
#define DPX_BUILTIN_H

#include "dpx.h"

/* Hooks the slow builtins, once for the process. */
void dpx_builtin_install(void);

/* The function that the ops of a type ran before; NULL: they are not hooked. */
Perl_ppaddr_t dpx_builtin_original(Optype type);

#endif
