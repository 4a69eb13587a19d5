/* Inside the reader: makes events from the pieces that a killed process left. */
#ifndef DP_READER_PIECES_H
#define DP_READER_PIECES_H

#include "dp_pieces.h"
#include "dp_reader_private.h"

/* Continues with the pieces, if they belong to this profile. A reader calls it when the text has
 * ended too early. Returns 0 or an error; in both cases every readable piece has been used. */
int dp_reader_pieces(struct dp_reader *r, const struct dp_pieces *p);

/* Do the pieces contain a whole tree of this profile? It is newer than the tree that the text may
 * have. */
bool dp_reader_pieces_tree(const struct dp_reader *r, const struct dp_pieces *p);

#endif
