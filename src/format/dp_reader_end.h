/* Inside the reader: is the file whole? Not for anybody else. */
#ifndef DP_READER_END_H
#define DP_READER_END_H

#include "dp_reader_private.h"

/* Takes a comment of a trace or of a tree, without its end. If it is the line with the sums of all
 * lines (DP_FMT_END), they are compared with what was read. */
void dp_reader_sums(struct dp_reader *r, const char *ptr, size_t len);

/* All lines have been read. Returns 0, or DP_E_TRUNCATED if some are missing. */
int dp_reader_check_end(struct dp_reader *r);

#endif
