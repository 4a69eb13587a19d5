/* Finds out whether this object and the perl that has loaded it belong together. */
#ifndef DPX_FIT_H
#define DPX_FIT_H

#include <stdbool.h>

/* Was this object built for a perl with the version and the options of this perl? */
bool dpx_fits(void) __attribute__((visibility("hidden")));

#endif
