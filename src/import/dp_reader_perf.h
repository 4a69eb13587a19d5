/* Inside the reader: the text that `perf script' prints. */
#ifndef DP_READER_PERF_H
#define DP_READER_PERF_H

#include "dp_import.h"

extern const struct dp_import_format dp_import_perf;

#endif
