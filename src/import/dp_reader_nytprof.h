/* Inside the reader: nytprof.out, what Devel::NYTProf writes. */
#ifndef DP_READER_NYTPROF_H
#define DP_READER_NYTPROF_H

#include "dp_reader_foreign.h"

extern const struct dp_foreign_format dp_foreign_nytprof;

#endif
