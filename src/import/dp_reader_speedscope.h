/* Inside the reader: the JSON of speedscope, which many profilers write. */
#ifndef DP_READER_SPEEDSCOPE_H
#define DP_READER_SPEEDSCOPE_H

#include "dp_import.h"

extern const struct dp_import_format dp_import_speedscope;

#endif
