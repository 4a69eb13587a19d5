/* The options of dproffold and dprofflame, from perl's data. */
#ifndef DPX_STACKS_H
#define DPX_STACKS_H

#include "EXTERN.h"
#include "perl.h"
#include "dprof/stacks.h"

/* Takes the stacks to print from a hash: the fields of struct dp_stacks_job, with format by its
 * name and no callback for colours, and those of struct dp_fold_how or dp_flame_how, as the format
 * needs them, for n_sides sides. The result lives as long as the hash and the statement. */
struct dp_stacks_job *dpx_stacks_job(pTHX_ HV *from, size_t n_sides);

#endif
