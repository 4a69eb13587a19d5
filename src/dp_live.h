/* Memory that outlives the process: pieces of the profile's own file, mapped.
 * What a recorder keeps there stays in the file when the process is killed, whatever
 * kills it, without any handler or timer. Readers find the pieces
 * behind the text, each with a head that says what it holds.
 *
 * Where the file cannot be mapped (a pipe, a full disk, a size limit), pieces
 * are ordinary memory and are lost with the process. */
#ifndef DP_LIVE_H
#define DP_LIVE_H

#include "dp_base.h"
#include "dp_outfile.h"

#define DP_LIVE_MAGIC   UINT64_C(0x4c656e7544705201)    /* also tells the byte order */
#define DP_LIVE_ALIGN   4096

enum dp_live_kind {
    DP_LIVE_STATE = 1,      /* struct dp_live_state */
    DP_LIVE_MARKS,          /* raw marks up to the first 0 word */
    DP_LIVE_NAMES,          /* & lines up to the first NUL */
    DP_LIVE_NODES,          /* struct dp_cct_node, as many as have a parent */
    DP_LIVE_HISTOGRAMS      /* struct dp_cct_histogram by id */
};

/* At the start of each piece, which is a whole number of DP_LIVE_ALIGN bytes. */
struct dp_live_head {
    uint64_t magic;
    uint32_t kind;
    uint32_t number;        /* counts the pieces of a kind from 0 */
    uint64_t size;          /* of the piece, this head included */
};

struct dp_live_piece {
    void *ptr;              /* the head */
    size_t size;
    bool mapped;
};

struct dp_live {
    struct dp_outfile *of;  /* borrowed; NULL: no file */
    uint64_t start, end;    /* of the pieces in the file */
    struct dp_live_piece *pieces;
    size_t count, cap;
};

/* of: the file, or NULL for ordinary memory. room: so many bytes of text can
 * still be written before the pieces. */
void dp_live_init(struct dp_live *live, struct dp_outfile *of, uint64_t room);

/* A new piece of at least size bytes, cleared; the bytes behind its head.
 * They stay where they are until dp_live_release. NULL when memory is short. */
void *dp_live_add(struct dp_live *live, enum dp_live_kind kind, size_t size);

/* Makes all pieces ordinary memory, at their addresses; the file can be cut or
 * written over then. */
void dp_live_detach(struct dp_live *live);

/* Forgets all pieces. In the process that made them or, where the file's part
 * is the parent's, in a forked child. Never changes the file. */
void dp_live_release(struct dp_live *live);

/* Does at least one piece live in the file? */
bool dp_live_is_mapped(const struct dp_live *live);

#endif
