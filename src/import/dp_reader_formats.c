#include "dp_reader_formats.h"
#include "dp_reader_callgrind.h"
#include "dp_reader_folded.h"
#include "dp_reader_nytprof.h"
#include "dp_reader_perf.h"
#include "dp_reader_pprof.h"
#include "dp_reader_speedscope.h"

/* The first that recognizes a file reads it. */
static const struct dp_foreign_format *const formats[] = {
    &dp_foreign_callgrind,
    &dp_foreign_nytprof,
    &dp_foreign_perf,
    &dp_foreign_pprof,
    &dp_foreign_speedscope,
    &dp_foreign_folded,         /* takes what no other does */
};

const struct dp_foreign_format *dp_foreign_find(const char *ptr, size_t len)
{
    size_t i = 0;
    while (!formats[i]->is(ptr, len))
        i++;
    return formats[i];
}
