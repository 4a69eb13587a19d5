/* Inside the reader: callgrind.out, which callgrind and other profilers write for KCachegrind. */
#ifndef DP_READER_CALLGRIND_H
#define DP_READER_CALLGRIND_H

#include "dp_import.h"

extern const struct dp_import_format dp_import_callgrind;

#endif
