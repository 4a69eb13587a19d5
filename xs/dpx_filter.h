/* only= and skip=: which names are recorded. */
#ifndef DPX_FILTER_H
#define DPX_FILTER_H

#include "dpx.h"

/* Are the patterns in dpx_run.opt good? The reason, if not, in err. */
bool dpx_filter_check(pTHX_ struct dp_err *err);

/* Compiles them for this interpreter. */
void dpx_filter_init(pTHX_ struct dpx_filter *f);
void dpx_filter_release(pTHX_ struct dpx_filter *f);

/* Is the sub or builtin recorded that the & line (without & and id) is of? */
bool dpx_filter_takes(pTHX_ struct dpx_filter *f, const char *line, size_t len);

#endif
