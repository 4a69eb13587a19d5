/* The table of other tools' formats that can be read. */
#ifndef DP_READER_FORMATS_H
#define DP_READER_FORMATS_H

#include "dp_reader.h"

/* Finds the format of a file with this beginning: folded stacks, if it is no other one. */
dp_reader_find_fn dp_import_find;

#endif
