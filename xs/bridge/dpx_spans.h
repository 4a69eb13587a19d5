/* Spans as perl's data. */
#ifndef DPX_SPANS_H
#define DPX_SPANS_H

#include "dpx_host.h"

/* The kinds, phases, rows and repeats of dp_spans_each, as lists of hashes, in a hash. sides: one
 * profile, as dpx_sides takes it. Mortal. */
HV *dpx_spans(pTHX_ AV *sides, HV *how);

#endif
