/* only= and skip=: which names are recorded. */
#ifndef DPX_FILTER_H
#define DPX_FILTER_H

#include "dpx.h"

/* Are the patterns in dpx_run.opt valid? If not, err has the reason. */
bool dpx_filter_check(pTHX_ struct dp_err *err);

/* Compiles the patterns for this interpreter. */
void dpx_filter_init(pTHX_ struct dpx_filter *f);
void dpx_filter_release(pTHX_ struct dpx_filter *f);

/* Is the sub or builtin of this & line (without & and id) recorded? */
bool dpx_filter_takes(pTHX_ struct dpx_filter *f, const char *line, size_t len);

#endif
