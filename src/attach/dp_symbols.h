/* The symbols of the files that a target has mapped, at their addresses in its memory. */
#ifndef DP_SYMBOLS_H
#define DP_SYMBOLS_H

#include "dp_region.h"

/* Calls fn with each symbol that the file behind mapping i defines. Returns false if the file
 * cannot be opened, or is no ELF file of this kind of machine. */
typedef void dp_symbol_fn(void *arg, const char *name, dp_addr at);
bool dp_symbols_of(const struct dp_regions *regions, size_t i, dp_region_open_fn *open, void *from,
                   dp_symbol_fn *fn, void *arg);

#endif
