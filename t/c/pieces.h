/* Images of what a killed process leaves: a text, and pieces beside it. Built with
 * the recorder's own structures. */
#ifndef PIECES_H
#define PIECES_H

#include "dp_buf.h"
#include "dp_cct.h"
#include "dp_live.h"
#include "dp_rec.h"
#include "dp_writer.h"

#include <string.h>

struct image {
    struct dp_buf text, left;
};

static inline void image_text(struct image *to, const char *text)
{
    dp_buf_clear(&to->text);
    dp_buf_clear(&to->left);
    dp_buf_adds(&to->text, text);
}

/* One piece with the bytes given, then NULs. */
static inline void image_piece(struct image *image, uint32_t kind, uint32_t number, const void *ptr,
                               size_t len)
{
    static const char zeros[DP_PIECE_ALIGN];
    struct dp_live_head head = { DP_LIVE_MAGIC, kind, number, 0 };
    struct dp_buf *to = &image->left;
    head.size = (sizeof head + len + DP_PIECE_ALIGN - 1) / DP_PIECE_ALIGN * DP_PIECE_ALIGN;
    dp_buf_add(to, &head, sizeof head);
    dp_buf_add(to, ptr, len);
    dp_buf_add(to, zeros, (size_t)(head.size - sizeof head - len));
}

/* A stamp is a ns. */
static inline void image_state(struct image *to, uint64_t marks, bool tree, bool ops)
{
    struct dp_live_state state = { .run = "1.2.3",
                                   .pid = 7,
                                   .hz = 1000000000,
                                   .rate = 1,
                                   .marks = marks,
                                   .tree = tree,
                                   .ops = ops };
    image_piece(to, DP_LIVE_STATE, 0, &state, sizeof state);
}

static inline uint64_t raw(uint64_t gap, unsigned kind, uint32_t id)
{
    return gap << 32 | DP_RAW_WORD(kind, id);
}

/* A node of a tree in ns. */
static inline struct dp_cct_node image_node(uint32_t number, uint32_t parent, uint32_t id,
                                            uint64_t calls, uint64_t real)
{
    struct dp_cct_node n;
    memset(&n, 0, sizeof n);
    n.number = number;
    n.parent = parent;
    n.id = id;
    n.calls = calls;
    n.real = real;
    n.ops = 10 * calls;
    n.longest = calls ? real : 0;
    n.shortest = calls ? 1 : 0;
    return n;
}

#define IMAGE_HEAD "#fOrTyTwO\n$hz=1000000000;\n" \
    "$dprof_format='trace 1'; $dprof_run='1.2.3'; $dprof_pid=7; $dprof_tid=0;\n" \
    "                \n\nPART2\n"
#define IMAGE_TREE "#fOrTyTwO\n$hz=1000000000;\n" \
    "$dprof_format='tree 1'; $dprof_counters='ops:ops'; $dprof_run='1.2.3'; $dprof_pid=7;\n" \
    "     \n\nPART3\n"

/* A trace with marks that are in the text and marks that are not. */
static inline void image_trace(struct image *to)
{
    uint64_t words[] = {
        /* 300 ns in short gaps, 30 of them waited */
        raw(0, DP_RAW_CPU, 0), 0, 0, 300, 30,
        raw(100, DP_RAW_ENTER, 2), raw(200, DP_RAW_ENTER, 3),
        raw(0, DP_RAW_CPU, 0), 5000, 4000, 0, 0,            /* slept in the sub of id 3 */
        raw(0, DP_RAW_LEAVE, 3), raw(50, DP_RAW_GOTO, 1), raw(7, DP_RAW_UNWIND, 2), 0,
        raw(9, DP_RAW_ENTER, 1),
    };
    image_text(to, IMAGE_HEAD "& 1 m a m.pl:1\n& 2 m b m.pl:2\n@ 10 0 10\n+ 1\n@ 20 0 2");
    image_state(to, 1, false, false);
    image_piece(to, DP_LIVE_NAMES, 0, "& 3 m c m.pl:3\n", 15);
    image_piece(to, DP_LIVE_MARKS, 0, words, sizeof words);
}

#define IMAGE_COUNTED "$dprof_counters='a:a b:b'; "

/* A trace with two counters behind each mark. */
static inline void image_counted(struct image *to)
{
    struct dp_live_state state = { .run = "1.2.3",
                                   .pid = 7,
                                   .hz = 1000000000,
                                   .rate = 1,
                                   .marks = 1,
                                   .n_counts = 2,
                                   .pending_counts = { 3, 4 } };
    uint64_t words[] = {
        raw(0, DP_RAW_CPU, 0), 0, 0, 0, 0, 10, 20,
        raw(100, DP_RAW_ENTER, 2), 1, 0, raw(200, DP_RAW_ENTER, 3), 0, 2,
        raw(0, DP_RAW_CPU, 0), 5000, 4000, 0, 0, 100, 0,
        raw(0, DP_RAW_LEAVE, 3), 0, 200, raw(50, DP_RAW_LEAVE, 2), 7, 7, 0, 0, 0,
    };
    image_text(to, "#fOrTyTwO\n$hz=1000000000;\n$dprof_format='trace 1'; " IMAGE_COUNTED
                   "$dprof_run='1.2.3'; $dprof_pid=7; $dprof_tid=0;\n\nPART2\n"
                   "& 1 m a m.pl:1\n& 2 m b m.pl:2\n@ 10 0 10 1000 2000\n+ 1\n@ 20 0 2");
    image_piece(to, DP_LIVE_STATE, 0, &state, sizeof state);
    image_piece(to, DP_LIVE_NAMES, 0, "& 3 m c m.pl:3\n", 15);
    image_piece(to, DP_LIVE_MARKS, 0, words, sizeof words);
}

/* A tree with two counters beside the ops. */
static inline void image_counted_tree(struct image *to)
{
    struct dp_live_state state = {
        .run = "1.2.3", .pid = 7, .hz = 1000000000, .rate = 1, .tree = 1, .ops = 1, .n_counts = 2
    };
    struct { struct dp_cct_node node; uint64_t counts[2]; } nodes[] = {
        { image_node(1, 0, 0, 0, 1000), { 1, 2 } }, { image_node(2, 1, 2, 3, 500), { 30, 40 } },
        { image_node(3, 2, 1, 4, 60), { 500, 600 } },
    };
    image_text(to, "#fOrTyTwO\n$hz=1000000000;\n$dprof_format='tree 1'; $dprof_counters='ops:ops"
                   " a:a b:b'; $dprof_run='1.2.3'; $dprof_pid=7;\n     \n\nPART3\n");
    image_piece(to, DP_LIVE_STATE, 0, &state, sizeof state);
    image_piece(to, DP_LIVE_NAMES, 0, "& 1 m a m.pl:1\n& 2 m b m.pl:2\n", 30);
    image_piece(to, DP_LIVE_NODES, 0, nodes, sizeof nodes);
}

static inline void image_tree(struct image *to)
{
    struct dp_cct_node nodes[] = {
        image_node(1, 0, 0, 0, 1000), image_node(2, 1, 2, 3, 500), image_node(3, 2, 1, 4, 60),
        image_node(4, 3, 2, 5, 7),
    };
    struct dp_cct_histogram h[2];
    nodes[1].wait = 100;
    nodes[1].sys = 40;
    nodes[3].folded = 9;
    memset(h, 0, sizeof h);
    h[0].id = 1;
    h[0].count[4] = 4;
    h[1].id = 2;
    h[1].count[0] = 5;
    h[1].count[9] = 3;
    image_text(to, IMAGE_TREE);
    image_state(to, 0, true, true);
    image_piece(to, DP_LIVE_NODES, 0, nodes, 3 * sizeof *nodes);
    image_piece(to, DP_LIVE_NAMES, 0, "& 1 m a m.pl:1\n& 2 m b m.pl:2\n", 30);
    image_piece(to, DP_LIVE_HISTOGRAMS, 0, h, sizeof h);
    image_piece(to, DP_LIVE_NODES, 1, nodes + 3, sizeof *nodes);
}

#endif
