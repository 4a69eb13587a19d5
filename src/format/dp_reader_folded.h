/* Inside the reader: folded stacks, the text that other profilers write. Not
 * for anybody else. */
#ifndef DP_READER_FOLDED_H
#define DP_READER_FOLDED_H

#include "dp_reader_text.h"

enum dp_folded_kind {
    DP_FOLDED_NOT,              /* a line of something else */
    DP_FOLDED_MORE,             /* says nothing: empty, a comment, or not whole yet */
    DP_FOLDED_ONE,              /* folded stacks */
    DP_FOLDED_TWO               /* with two counts on each line, of two profiles */
};

/* What a file without our magic begins as, by its first len bytes. last: there are no
 * more; the last line may lack its end. */
enum dp_folded_kind dp_reader_folded_kind(const char *ptr, size_t len, bool last);

/* The head of such a file, of which the unit alone is known: the one that was declared. */
int dp_reader_folded_head(struct dp_reader *r);

/* Takes the lines up to end, which is behind a line's end. What cannot be read is
 * noted in r->info. */
int dp_reader_folded_lines(struct dp_reader *r, const char *end);

/* After the last line: DP_E_SYNTAX where one could not be read. */
int dp_reader_folded_end(struct dp_reader *r);

#endif
