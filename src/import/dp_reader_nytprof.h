/* Inside the reader: nytprof.out, which Devel::NYTProf writes. */
#ifndef DP_READER_NYTPROF_H
#define DP_READER_NYTPROF_H

#include "dp_import.h"

extern const struct dp_import_format dp_import_nytprof;

#endif
