/* Inside the reader: the lines of a tree. */
#ifndef DP_READER_TREE_H
#define DP_READER_TREE_H

#include "dp_reader_private.h"

/* Reads the lines up to end, which follows a line's end. */
int dp_reader_tree_lines(struct dp_reader *r, const char *end);

/* Counts a context and its time, and hands it over. Returns the consumer's number. */
int64_t dp_reader_context(struct dp_reader *r, const struct dp_context *c);
/* Hands over a statement. Returns 0, or the error that ends the reading. */
int dp_reader_give_line(struct dp_reader *r, const struct dp_linedef *def);

/* Hands over a context without counting it or its time. */
int64_t dp_reader_give_context(struct dp_reader *r, const struct dp_context *c);

#endif
