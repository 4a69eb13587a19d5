/* Finds out whether this object and the perl that has loaded it belong together. */
#ifndef DPX_FIT_H
#define DPX_FIT_H

#include <stdbool.h>

bool dpx_fits(void) __attribute__((visibility("hidden")));

#endif
