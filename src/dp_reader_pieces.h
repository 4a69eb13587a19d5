/* Inside the reader: what a killed process left behind the text of its profile.
 * Not for anybody else. */
#ifndef DP_READER_PIECES_H
#define DP_READER_PIECES_H

#include "dp_reader_text.h"

/* The pieces as the recorder has them in memory (src/dp_live.h, dp_cct.h, dp_rec.h,
 * dp_writer.h), which are of its side. t/c/21-tree.c compares. */
enum {
    DP_PIECE_ALIGN = 4096, DP_PIECE_HEAD = 24,
    DP_PIECE_STATE = 1, DP_PIECE_MARKS, DP_PIECE_NAMES, DP_PIECE_NODES, DP_PIECE_HISTOGRAMS,
    /* state: words */
    DP_PIECE_S_HZ = 0, DP_PIECE_S_RATE, DP_PIECE_S_MARKS, DP_PIECE_S_TREE, DP_PIECE_S_OPS, DP_PIECE_S_WORDS,
    /* a mark's word: gap << 32 | kind << 29 | id */
    DP_PIECE_ID_BITS = 29, DP_PIECE_CPU = 7,
    DP_PIECE_LONG_GAP = 1, DP_PIECE_LONG_WAIT, DP_PIECE_SHORT_SUM, DP_PIECE_SHORT_WAIT, DP_PIECE_CPU_WORDS,
    /* a node: byte offsets */
    DP_PIECE_N_NUMBER = 0, DP_PIECE_N_PARENT = 4, DP_PIECE_N_ID = 8, DP_PIECE_N_CALLS = 16, DP_PIECE_N_REAL = 24,
    DP_PIECE_N_WAIT = 32, DP_PIECE_N_SYS = 40, DP_PIECE_N_OPS = 48, DP_PIECE_N_LONGEST = 56,
    DP_PIECE_N_SHORTEST = 64, DP_PIECE_N_FOLDED = 96, DP_PIECE_NODE = 104,
    /* a histogram: the id, then the counts */
    DP_PIECE_HISTOGRAM = 8 * (1 + DP_FMT_BUCKETS)
};

#define DP_PIECE_MAGIC  UINT64_C(0x4c656e7544705201)

/* The text has ended with a NUL in the line at r->pos. Takes what pieces there are,
 * to the end of the file. Returns 0, or an error for what is no piece, or damaged:
 * all that could be taken was taken even so. */
int dp_reader_pieces(struct dp_reader *r);

#endif
