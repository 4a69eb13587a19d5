/* Reads what a killed process left beside its profile, or what a running process keeps there, into
 * memory. Format.pod, "The pieces", says what that is. */
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
    /* those in use, of all pieces of a kind */
    struct dp_buf names, marks, nodes, histograms, sites, lines;
    size_t kept;
    struct dp_err err;          /* why it is not all */
};

void dp_pieces_init(struct dp_pieces *p);
void dp_pieces_release(struct dp_pieces *p);

/* Reads all that there is; p is as dp_pieces_init left it. Returns 0 or DP_E_NOMEM. Any other error
 * goes to p->err, and what came before it is good. */
int dp_pieces_read(struct dp_pieces *p, struct dp_source *src);
/* Reads state, names and sites only. */
int dp_pieces_read_names(struct dp_pieces *p, struct dp_source *src);

/* Counters behind each mark, and in each node. */
size_t dp_pieces_counts(const struct dp_pieces *p);

/* Reads a number in a piece, which may stand at any address. */
uint64_t dp_pieces_word(const char *p);
uint32_t dp_pieces_half(const char *p);

#endif
