/* Inside the reader: folded stacks, the text that other profilers write. */
#ifndef DP_READER_FOLDED_H
#define DP_READER_FOLDED_H

#include "dp_import.h"

enum dp_folded_kind {
    DP_FOLDED_NOT,              /* a line of something else */
    DP_FOLDED_BAD,              /* an unreadable line before lines that are mostly folded
                                 * stacks */
    DP_FOLDED_EMPTY,            /* there are only comments and white space */
    DP_FOLDED_MORE,             /* undecided so far: the text is empty, a comment, or incomplete */
    DP_FOLDED_ONE,              /* folded stacks */
    DP_FOLDED_TWO               /* folded stacks with two counts on each line, of two profiles */
};

/* Recognizes a file without our magic by its first len bytes. last: there are no more bytes, so the
 * last line may lack its end. */
enum dp_folded_kind dp_reader_folded_kind(const char *ptr, size_t len, bool last);

extern const struct dp_import_format dp_import_folded;

#endif
