/* Inside the reader: what a killed process left, as events. Not for anybody else. */
#ifndef DP_READER_PIECES_H
#define DP_READER_PIECES_H

#include "dp_pieces.h"
#include "dp_reader_private.h"

/* Goes on with the pieces, if they belong to this profile. A reader calls it when the text has
 * ended too early. Returns 0, or an error; in both cases all that could be taken was taken. */
int dp_reader_pieces(struct dp_reader *r, const struct dp_pieces *p);

/* Do the pieces hold a whole tree of this profile? Then that is newer than the tree that the text
 * may have. */
bool dp_reader_pieces_tree(const struct dp_reader *r, const struct dp_pieces *p);

#endif
