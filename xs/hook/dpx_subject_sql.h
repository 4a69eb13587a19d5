/* The statements that calls of DBI are about. */
#ifndef DPX_SUBJECT_SQL_H
#define DPX_SUBJECT_SQL_H

#include "dpx_subject_value.h"

/* Finds the statement of a call of a sub of DBI in the list. */
struct dpx_subject dpx_subject_sql(pTHX_ struct dpx_ctx *ctx, const struct dpx_detail_sub *sub,
                                   const struct dpx_args *args);

/* Does a call of this method of DBI return rows? */
bool dpx_subject_has_rows(const struct dpx_detail_sub *sub);

/* Their number: n values were returned, in list context or not. */
U64 dpx_subject_rows(pTHX_ const struct dpx_detail_sub *sub, SV **values, SSize_t n, bool is_list);

#endif
