/* The formats of stacks, and printing in them, for perl. */
#ifndef DPX_FORMATS_H
#define DPX_FORMATS_H

#include "EXTERN.h"
#include "perl.h"

/* The formats in their order: an array of hashes of name, suffixes, and look, layout and metrics,
 * the flags DP_STACKS_... Mortal. */
AV *dpx_stacks_formats(pTHX);

/* Prints the stacks of the sides to a handle. how: the fields of struct dp_fold_how or dp_flame_how
 * and of struct dp_stacks_job, with format by its name. Returns the fields of struct
 * dp_stacks_outcome, code, and colours: the names that were drawn, each with its colour. Mortal.
 * Croaks if the data does not make sense. */
HV *dpx_print_stacks(pTHX_ PerlIO *out, AV *sides, HV *how);

#endif
