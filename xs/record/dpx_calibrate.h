/* The cost of the hooks' own readings of the clock, which the program's time includes. */
#ifndef DPX_CALIBRATE_H
#define DPX_CALIBRATE_H

#include "dpx_clock.h"

/* Measures the cost, in about 0.3 ms and without allocating memory. Not in two threads at a
 * time. */
struct dpx_cost dpx_calibrate(struct dpx_clock *clock);

#endif
