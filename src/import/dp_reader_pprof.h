/* Inside the reader: pprof's profile.proto, which Go, Pyroscope and many others write. */
#ifndef DP_READER_PPROF_H
#define DP_READER_PPROF_H

#include "dp_import.h"

extern const struct dp_import_format dp_import_pprof;

#endif
