/* Memory that outlives the process: a file of its own beside the profile's,
 * NAME.live, mapped. What a recorder keeps there is still there when the process was killed,
 * whatever killed it, without any handler or timer; readers of NAME look for it. It goes when the
 * recording ends in order. (Not in the profile's own file: whoever cuts off a mapped file kills who
 * maps it; and should somebody cut off this one, see dp_live_lose.)
 *
 * Where the file cannot be made or the disk is full, pieces are ordinary memory
 * and are lost with the process. */
#ifndef DP_LIVE_H
#define DP_LIVE_H

#include "dp_base.h"
#include "dp_fmt.h"

#include <sys/types.h>

#define DP_LIVE_MAGIC   DP_PIECE_MAGIC                  /* also tells the byte order */

enum dp_live_kind {
    DP_LIVE_STATE = DP_PIECE_STATE,     /* struct dp_live_state */
    DP_LIVE_MARKS,          /* raw marks up to the first 0 word */
    DP_LIVE_NAMES,          /* & lines up to the first NUL */
    DP_LIVE_NODES,          /* struct dp_cct_node, as many as have a parent */
    DP_LIVE_HISTOGRAMS,     /* struct dp_cct_histogram by id */
    DP_LIVE_SITES,          /* FILE:LINE lines in the order of their numbers, up to the first NUL */
    DP_LIVE_LINES           /* struct dp_line, as many as have a number */
};

/* At the start of each piece, which is a whole number of pages, each a multiple of
 * DP_PIECE_ALIGN. */
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
    char *path;             /* NULL: no file */
    dev_t dev;
    ino_t ino;
    uint64_t end;           /* size of the file */
    size_t page;            /* pieces are multiples of it */
    struct dp_live_piece *pieces;
    size_t count, cap;
    bool lost;              /* dp_live_lose was here: what the pieces held is gone */
};

/* Is there a file of that name, and may it be one of these: of any version, or empty? */
bool dp_live_is(const char *path);

/* profile: the absolute path of the profile, or NULL for ordinary memory. The
 * file is made with the first piece; one of that name is replaced if it is such a file. page: bytes
 * of a page of memory, a power of two; 0: the system's, which is 4 KB to 64 KB. */
void dp_live_init(struct dp_live *live, const char *profile, size_t page);

/* A new piece of at least size bytes, cleared; the bytes behind its head.
 * They stay where they are until dp_live_release. NULL when memory is short. */
void *dp_live_add(struct dp_live *live, enum dp_live_kind kind, size_t size);

/* For a handler of SIGBUS, which the kernel raises where a mapped file has become shorter than the
 * mapping; async-signal-safe. at: the address that was touched. If that is in a piece, all pieces
 * are ordinary memory from now on, cleared, so that the touch succeeds when it is done again.
 * False: it is not, or the kernel gives no memory. */
bool dp_live_lose(struct dp_live *live, const void *at);

/* Forgets all pieces. The file stays: in a forked child it is the parent's. */
void dp_live_release(struct dp_live *live);

/* Removes the file; the pieces go on as memory, and are lost with the process. Where it cannot be
 * removed it is made empty. */
void dp_live_remove(struct dp_live *live);

/* Takes that back: a new file with all pieces, which stay where they are. If there can be none,
 * they go on as memory. */
void dp_live_restore(struct dp_live *live, const char *profile);

/* Removes the file, and gives its room on the disk back at once. False: there was none. */
bool dp_live_detach(struct dp_live *live);

#endif
