/* Inside the reader: what a killed process left, as events. Not for anybody else. */
#ifndef DP_READER_PIECES_H
#define DP_READER_PIECES_H

#include "dp_pieces.h"
#include "dp_reader_text.h"

/* The text has ended, and not as it should. Goes on with the pieces, if they are of
 * this profile. Returns 0, or an error: all that could be taken was taken even so. */
int dp_reader_pieces(struct dp_reader *r, const struct dp_pieces *p);

/* Do they hold a whole tree of this profile? Then it is newer than the one that
 * the text may have. */
bool dp_reader_pieces_tree(const struct dp_reader *r, const struct dp_pieces *p);

#endif
