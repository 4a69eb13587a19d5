/* Inside the reader: the JSON of speedscope, which many profilers write. */
#ifndef DP_READER_SPEEDSCOPE_H
#define DP_READER_SPEEDSCOPE_H

#include "dp_reader_foreign.h"

extern const struct dp_foreign_format dp_foreign_speedscope;

#endif
