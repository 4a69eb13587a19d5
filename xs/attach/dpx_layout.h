/* The layout of the perl that the module was built for. */
#ifndef DPX_LAYOUT_H
#define DPX_LAYOUT_H

#include "dp_perl.h"

/* Returns the layout, options and version of this perl. */
const struct dp_perl_own *dpx_layout_own(void);

#endif
