#include "dp_reader_formats.h"
#include "dp_reader_callgrind.h"
#include "dp_reader_folded.h"
#include "dp_reader_nytprof.h"
#include "dp_reader_perf.h"
#include "dp_reader_pprof.h"
#include "dp_reader_speedscope.h"

/* The first format that recognizes a file reads it. */
static const struct dp_import_format *const formats[] = {
    &dp_import_callgrind,
    &dp_import_nytprof,
    &dp_import_perf,
    &dp_import_pprof,
    &dp_import_speedscope,
    &dp_import_folded,         /* accepts everything else */
};

const struct dp_import_format *dp_import_find(const char *ptr, size_t len)
{
    size_t i = 0;
    while (!formats[i]->is(ptr, len))
        i++;
    return formats[i];
}
