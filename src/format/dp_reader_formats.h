/* Inside the reader: the table of other tools' formats that can be read. Not for anybody else. */
#ifndef DP_READER_FORMATS_H
#define DP_READER_FORMATS_H

#include "dp_reader_foreign.h"

/* The format of a file that begins so: folded stacks, if it is no other one. */
const struct dp_foreign_format *dp_foreign_find(const char *ptr, size_t len);

#endif
