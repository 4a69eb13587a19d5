/* Inside the reader: folded stacks, the text that other profilers write. Not
 * for anybody else. */
#ifndef DP_READER_FOLDED_H
#define DP_READER_FOLDED_H

#include "dp_import.h"

enum dp_folded_kind {
    DP_FOLDED_NOT,              /* a line of something else */
    DP_FOLDED_BAD,              /* .. before lines most of which are folded stacks */
    DP_FOLDED_EMPTY,            /* there is no line but comments and white space */
    DP_FOLDED_MORE,             /* tells nothing yet: it is empty, a comment, or not whole */
    DP_FOLDED_ONE,              /* folded stacks */
    DP_FOLDED_TWO               /* with two counts on each line, of two profiles */
};

/* Finds out by the first len bytes of a file without our magic what it is. last: there are no more
 * bytes; then the last line may lack its end. */
enum dp_folded_kind dp_reader_folded_kind(const char *ptr, size_t len, bool last);

extern const struct dp_import_format dp_import_folded;

#endif
