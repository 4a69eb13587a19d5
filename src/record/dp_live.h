/* Memory that outlives the process: a mapped file beside the profile's, NAME.live. Its contents
 * survive the process, whatever kills it, without any handler or timer; readers of NAME look for
 * it. When a recording ends in order, it removes the file. (The profile itself is not mapped:
 * truncating a mapped file kills the process. dp_live_lose handles a .live that somebody
 * truncates.)
 *
 * If the file cannot be made or the disk is full, pieces are ordinary memory and are lost with the
 * process. */
#ifndef DP_LIVE_H
#define DP_LIVE_H

#include "dp_base.h"
#include "dp_fmt.h"

#include <sys/types.h>

#define DP_LIVE_MAGIC   DP_PIECE_MAGIC                  /* also shows the byte order */

enum dp_live_kind {
    DP_LIVE_STATE = DP_PIECE_STATE,     /* struct dp_live_state */
    DP_LIVE_MARKS,          /* raw marks up to the first 0 word */
    DP_LIVE_NAMES,          /* & lines up to the first NUL */
    DP_LIVE_NODES,          /* struct dp_cct_node, as many as have a parent */
    DP_LIVE_HISTOGRAMS,     /* struct dp_cct_histogram by id */
    DP_LIVE_SITES,          /* FILE:LINE lines in the order of their numbers, up to the first NUL */
    DP_LIVE_LINES           /* struct dp_stmt, as many as have a number */
};

/* The start of each piece. A piece is a whole number of pages; a page is a multiple of
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
    bool unnamed_dir;       /* the file's directory must pass DP_DIR_UNNAMED; set after
                             * dp_live_init */
    struct dp_live_piece *pieces;
    size_t count, cap;
    bool lost;              /* dp_live_lose has cleared the pieces */
};

/* Is there a file of that name that may be a .live, of any version or empty? */
bool dp_live_is(const char *path);
bool dp_live_is_open(int fd);

/* Begins the file .live, or ordinary memory in its place. profile: the absolute path of the
 * profile, or NULL for ordinary memory. The file is made with the first piece; it replaces an
 * existing .live of that name. page: bytes of a page of memory, a power of two; 0: the system's,
 * which is 4 KB to 64 KB. */
void dp_live_init(struct dp_live *live, const char *profile, size_t page);

/* Makes a new piece of at least size bytes, cleared, and returns the bytes behind its head, which
 * stay where they are until dp_live_release; or NULL when memory is short. */
void *dp_live_add(struct dp_live *live, enum dp_live_kind kind, size_t size);

/* For a handler of SIGBUS, which the kernel raises where a mapped file has become shorter than the
 * mapping; async-signal-safe. at: the address that was touched. If the address is in a piece, all
 * pieces are ordinary memory from now on, cleared, so that the touch succeeds when it is repeated.
 * Returns false if the address is in no piece, or if the kernel gives no memory. */
bool dp_live_lose(struct dp_live *live, const void *at);

/* Releases all pieces. The file stays: in a forked child it is the parent's. */
void dp_live_release(struct dp_live *live);

/* Removes the file, unless its name has another file by now; a file that cannot be removed is made
 * empty. The pieces keep their contents and addresses, but are lost with the process, and so are
 * pieces that are added before dp_live_restore. */
void dp_live_remove(struct dp_live *live);

/* Undoes dp_live_remove: makes a new file with all pieces, which stay where they are. If there can
 * be no file, they stay ordinary memory. */
void dp_live_restore(struct dp_live *live, const char *profile);

/* Makes a new file with all pieces while the old file still exists, for example under another name.
 * Readers ignore the old file from now on, even if it was moved. */
void dp_live_move(struct dp_live *live, const char *profile);

/* Removes the file, and frees its disk space at once. Returns false if there was no file. */
bool dp_live_detach(struct dp_live *live);

#endif
