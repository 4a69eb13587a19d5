/* The options, sides and rules of dprofdiff, from perl's data. */
#ifndef DPX_DIFF_H
#define DPX_DIFF_H

#include "EXTERN.h"
#include "perl.h"
#include "dprof/diff.h"

/* Convert sides, each made of runs, which are made of parts, and a hash with the fields of struct
 * dp_diff_how (Devel::DProf::Compare::Diff has the layout). The results live as long as the
 * arguments and the statement. waiting: profiles may be packed, as comparisons take them. */
const struct dp_diff_side *dpx_diff_sides(pTHX_ AV *from, SSize_t least, bool waiting);
void dpx_diff(pTHX_ struct dp_diff_how *how, HV *from);

/* The names of subs as a difference shows them: for each [profile, side] a list, sub
 * by sub. Mortal. */
AV *dpx_paired_labels(pTHX_ AV *from, HV *options);

#endif
