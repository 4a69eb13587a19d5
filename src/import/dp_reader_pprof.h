/* Inside the reader: pprof's profile.proto, which Go, Pyroscope and many others write. */
#ifndef DP_READER_PPROF_H
#define DP_READER_PPROF_H

#include "dp_reader_foreign.h"

extern const struct dp_foreign_format dp_foreign_pprof;

#endif
