/* The options of dproffold and dprofflame, from perl's data. */
#ifndef DPX_STACKS_H
#define DPX_STACKS_H

#include "dpx_host.h"

/* The fields of a hash by their names in struct dp_stacks_how, struct dp_fold_how; how many
 * sides there are. */
void dpx_stacks(pTHX_ struct dp_stacks_how *how, HV *from, size_t n_sides);
void dpx_flame(pTHX_ struct dp_flame_how *how, HV *from, size_t n_sides);
void dpx_fold(pTHX_ struct dp_fold_how *how, HV *from, size_t n_sides);

#endif
