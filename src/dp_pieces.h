/* What a killed process left beside its profile, or a running one keeps there:
 * read into memory, as Format.pod, "The pieces", has it. */
#ifndef DP_PIECES_H
#define DP_PIECES_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_io.h"

/* The pieces as the recorder has them in memory (dp_live.h, dp_cct.h, dp_rec.h,
 * dp_writer.h), which are of its side. t/c/21-tree.c compares. */
enum {
    DP_PIECE_ALIGN = 4096, DP_PIECE_HEAD = 24,
    DP_PIECE_STATE = 1, DP_PIECE_MARKS, DP_PIECE_NAMES, DP_PIECE_NODES, DP_PIECE_HISTOGRAMS, DP_PIECE_SITES,
    /* state: a text, then words */
    DP_PIECE_RUN = 40,
    DP_PIECE_S_PID = 0, DP_PIECE_S_TID, DP_PIECE_S_HZ, DP_PIECE_S_RATE, DP_PIECE_S_MARKS, DP_PIECE_S_TREE,
    DP_PIECE_S_OPS, DP_PIECE_S_USER, DP_PIECE_S_SYSTEM, DP_PIECE_S_REAL, DP_PIECE_S_COUNTS, DP_PIECE_S_PENDING,
    DP_PIECE_S_WORDS = DP_PIECE_S_PENDING + DP_FMT_COUNTERS,
    /* a mark's word: gap << 32 | kind << 29 | id */
    DP_PIECE_ID_BITS = 29, DP_PIECE_NOTES = 4, DP_PIECE_CPU = 7,
    DP_PIECE_LONG_GAP = 1, DP_PIECE_LONG_WAIT, DP_PIECE_SHORT_SUM, DP_PIECE_SHORT_WAIT, DP_PIECE_CPU_WORDS,
    /* a node: byte offsets */
    DP_PIECE_N_NUMBER = 0, DP_PIECE_N_PARENT = 4, DP_PIECE_N_ID = 8, DP_PIECE_N_SITE = 12, DP_PIECE_N_CALLS = 16, DP_PIECE_N_REAL = 24,
    DP_PIECE_N_WAIT = 32, DP_PIECE_N_SYS = 40, DP_PIECE_N_OPS = 48, DP_PIECE_N_LONGEST = 56,
    DP_PIECE_N_SHORTEST = 64, DP_PIECE_N_FOLDED = 96, DP_PIECE_N_COUNTS = 104,    /* as many as the state says */
    /* a histogram: the id, then the counts */
    DP_PIECE_HISTOGRAM = 8 * (1 + DP_FMT_BUCKETS)
};

#define DP_PIECE_MAGIC  UINT64_C(0x4c656e7544705202)

struct dp_pieces {
    bool has_state;
    char run[DP_PIECE_RUN + 1];
    uint64_t state[DP_PIECE_S_WORDS];
    struct dp_buf names, marks, nodes, histograms, sites;   /* those in use, of all pieces of a kind */
    size_t kept;
    struct dp_err err;          /* why it is not all */
};

void dp_pieces_init(struct dp_pieces *p);
void dp_pieces_release(struct dp_pieces *p);

/* Reads all that there is; p is as dp_pieces_init left it. Returns 0 or DP_E_NOMEM;
 * what else is wrong goes to p->err: what came before it is good. */
int dp_pieces_read(struct dp_pieces *p, struct dp_source *src);
/* State, names and sites, only. */
int dp_pieces_read_names(struct dp_pieces *p, struct dp_source *src);

/* Counters behind each mark, and in each node. */
size_t dp_pieces_counts(const struct dp_pieces *p);

/* The numbers in them, which stand at any address. */
uint64_t dp_pieces_word(const char *p);
uint32_t dp_pieces_half(const char *p);

#endif
