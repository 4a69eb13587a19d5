/* Rows of views as perl's data. */
#ifndef DPX_ROWS_H
#define DPX_ROWS_H

#include "EXTERN.h"
#include "perl.h"
#include "dprof.h"

/* The edges at a sub: an array of [name, calls, self, inclusive, site or undef], mortal; NULL where
 * the profile has no such sub. Croaks when memory is short. how: the fields of struct dp_over_how,
 * and counter, callees. */
AV *dpx_edge_rows(pTHX_ const struct dp_prof *prof, SV *name, HV *how);

#endif
