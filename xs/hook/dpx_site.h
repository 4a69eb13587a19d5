/* Places of calls: FILE:LINE. */
#ifndef DPX_SITE_H
#define DPX_SITE_H

#include "dpx.h"

/* The number of the place of the call that begins, for dp_rec; the argument is the clock of a
 * struct dpx_ctx. */
uint32_t dpx_site(void *arg);

/* The number of the place of a statement, or of the line that perl's compiler is at; 0: none. */
uint32_t dpx_site_of(pTHX_ struct dpx_ctx *ctx, const COP *cop);

#endif
