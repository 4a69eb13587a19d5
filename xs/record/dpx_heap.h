/* The bytes that perl has taken from the allocator and not given back. No allocator reports this
 * number cheaply, so perl's calls of the allocator are counted: the entries of malloc, calloc,
 * realloc and free in the table that perl's own calls go through (its global offset table) are
 * replaced. Calls of C libraries among themselves are not seen. */
#ifndef DPX_HEAP_H
#define DPX_HEAP_H

#include "dp_base.h"

/* Begins, in all threads, to count bytes, or to note blocks (dpx_blocks.h), or both; does nothing
 * if it has begun. Returns NULL, or why that is impossible. */
enum { DPX_HEAP_COUNTS = 1, DPX_HEAP_SAMPLES = 2 };
const char *dpx_heap_watch(int what);

/* Could counting begin? Returns what dpx_heap_watch would, and changes nothing. */
const char *dpx_heap_refusal(void);

/* Ends that. */
void dpx_heap_unwatch(void);

/* Returns the bytes taken less the bytes given back by this thread since the beginning. It may be
 * negative: a thread gives back what another one took. */
int64_t dpx_heap_in_use(void);

#endif
