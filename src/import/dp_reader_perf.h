/* Inside the reader: the text that `perf script' prints. */
#ifndef DP_READER_PERF_H
#define DP_READER_PERF_H

#include "dp_reader_foreign.h"

extern const struct dp_foreign_format dp_foreign_perf;

#endif
