/* Reads the pieces that a killed process left with its profile, or that a running process
 * maintains, into memory. Format.pod, "The pieces", describes them. */
#ifndef DP_PIECES_H
#define DP_PIECES_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_io.h"

struct dp_pieces {
    bool has_state;
    char run[DP_PIECE_RUN + 1];
    uint64_t state[DP_PIECE_S_WORDS];
    /* used parts of all pieces of a kind */
    struct dp_buf names, marks, nodes, histograms, sites, lines;
    size_t kept;
    struct dp_err err;          /* why pieces are missing */
};

/* Make an empty set of pieces, and free what a set holds. */
void dp_pieces_init(struct dp_pieces *p);
void dp_pieces_release(struct dp_pieces *p);

/* Reads all pieces; p is as dp_pieces_init left it. Returns 0 or DP_E_NOMEM. Any other error goes
 * to p->err, and everything before it is valid. */
int dp_pieces_read(struct dp_pieces *p, struct dp_source *src);
/* Reads only state, names and sites. */
int dp_pieces_read_names(struct dp_pieces *p, struct dp_source *src);

/* Returns the number of counters after each mark, and in each node. */
size_t dp_pieces_counts(const struct dp_pieces *p);

/* Reads a number in a piece, at any alignment. */
uint64_t dp_pieces_word(const char *p);
uint32_t dp_pieces_half(const char *p);

#endif
