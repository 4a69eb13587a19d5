/* What a call of a library is about: the statement of DBI's execute, the address of a request. All
 * is read from the arguments as they are. No magic is called, and no code of the program's. */
#ifndef DPX_SUBJECT_H
#define DPX_SUBJECT_H

#include "dpx_subject_value.h"

/* Finds the subject of a call of a sub in the list. */
struct dpx_subject dpx_subject_find(pTHX_ struct dpx_ctx *ctx, const struct dpx_detail_sub *sub,
                                    const struct dpx_args *args);

#endif
