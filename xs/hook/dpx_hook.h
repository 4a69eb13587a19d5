/* The hooks: how every entry and exit of a sub is seen. */
#ifndef DPX_HOOK_H
#define DPX_HOOK_H

#include "dpx.h"

/* Installs the hooks: those of the interpreter each time, those of the process once. */
void dpx_hook_install(pTHX_ const struct dpx_ctx *ctx);

/* The function that ops of this type had before; NULL if they are not hooked. */
Perl_ppaddr_t dpx_hook_original(Optype type);

#endif
