/* Inside the reader: callgrind.out, what callgrind and other profilers write for KCachegrind. */
#ifndef DP_READER_CALLGRIND_H
#define DP_READER_CALLGRIND_H

#include "dp_reader_foreign.h"

extern const struct dp_foreign_format dp_foreign_callgrind;

#endif
