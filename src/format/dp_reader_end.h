/* Inside the reader: is the file complete? */
#ifndef DP_READER_END_H
#define DP_READER_END_H

#include "dp_reader_private.h"

/* Handles a comment of a trace or of a tree, without its end. If it has the sums of all lines
 * (DP_FMT_END), these are compared with the sums of the lines read. */
void dp_reader_sums(struct dp_reader *r, const char *ptr, size_t len);

/* Call this after all lines. Returns 0, or DP_E_TRUNCATED if some are missing. */
int dp_reader_check_end(struct dp_reader *r);

#endif
