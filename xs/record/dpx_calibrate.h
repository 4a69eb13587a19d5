/* What the hooks' own readings of the clock add to the program's time. */
#ifndef DPX_CALIBRATE_H
#define DPX_CALIBRATE_H

#include "dpx_clock.h"

/* Measures it, in about 0.3 ms and without allocating memory. Not in two threads at a time. */
struct dpx_cost dpx_calibrate(struct dpx_clock *clock);

#endif
