#include "dp_pieces.h"
#include "dp_mem.h"

#include <string.h>

enum {
    BUF = 64 * 1024,
    ZEROS = 16384               /* pages without a head: 64 MB is more than most pieces have */
};

struct reading {
    struct dp_pieces *to;
    struct dp_source *src;
    bool names_only;
    unsigned skips;             /* number of pages before this one without a head */
    uint64_t base;              /* offset in the file of buf[0] */
    size_t pos, end;
    char buf[BUF];
};

void dp_pieces_init(struct dp_pieces *p)
{
    memset(p, 0, sizeof *p);
    dp_buf_init(&p->names);
    dp_buf_init(&p->marks);
    dp_buf_init(&p->nodes);
    dp_buf_init(&p->histograms);
    dp_buf_init(&p->sites);
    dp_buf_init(&p->lines);
    dp_err_init(&p->err);
}

void dp_pieces_release(struct dp_pieces *p)
{
    dp_buf_release(&p->names);
    dp_buf_release(&p->marks);
    dp_buf_release(&p->nodes);
    dp_buf_release(&p->histograms);
    dp_buf_release(&p->sites);
    dp_buf_release(&p->lines);
    dp_pieces_init(p);
}

uint64_t dp_pieces_word(const char *p)
{
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

size_t dp_pieces_counts(const struct dp_pieces *p)
{
    uint64_t n = p->has_state ? p->state[DP_PIECE_S_COUNTS] : 0;
    return n < DP_FMT_COUNTERS ? (size_t)n : DP_FMT_COUNTERS;
}

uint32_t dp_pieces_half(const char *p)
{
    uint32_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

/* Makes sure that n bytes can be read at r->pos; n is at most BUF. Returns 1; 0 if the file ends
 * before; or a negative DP_E, which is in r->to->err, too. */
static int need_bytes(struct reading *r, size_t n)
{
    while (r->end - r->pos < n) {
        memmove(r->buf, r->buf + r->pos, r->end - r->pos);
        r->base += r->pos;
        r->end -= r->pos;
        r->pos = 0;
        long got = dp_source_read(r->src, r->buf + r->end, BUF - r->end, &r->to->err);
        if (got < 0)
            return (int)got;
        if (got == 0)
            return 0;
        r->end += (size_t)got;
    }
    return 1;
}

/* The number of bytes that are at r->pos already, at most `most`. */
static size_t have_bytes(const struct reading *r, uint64_t most)
{
    size_t n = r->end - r->pos;
    return n < most ? n : (size_t)most;
}

/* Moves n bytes on in the file; n may be more than the buffer holds. Returns as need_bytes does. */
static int skip_bytes(struct reading *r, uint64_t n)
{
    while (n) {
        int rc = need_bytes(r, 1);
        if (rc <= 0)
            return rc;
        size_t part = have_bytes(r, n);
        r->pos += part;
        n -= part;
    }
    return 1;
}

/* Appends the next n bytes to a buffer of the caller's struct dp_pieces, and moves on behind them.
 * *left: the rest of the piece, which shrinks by n. A damaged file cannot make this take more than
 * DP_LIMIT_PIECES. */
static int keep_bytes(struct reading *r, struct dp_buf *buf, size_t n, uint64_t *left)
{
    struct dp_pieces *p = r->to;
    if (n > DP_LIMIT_PIECES - p->kept)
        return dp_err_set(&p->err, DP_E_LIMIT, "what the process left is more than %zu bytes",
                          DP_LIMIT_PIECES);
    p->kept += n;
    dp_buf_add(buf, r->buf + r->pos, n);
    if (buf->err)
        return dp_err_set(&p->err, buf->err, "%s", dp_err_text(buf->err));
    r->pos += n;
    *left -= n;
    return 1;
}

/* Keeps marks up to the first that is 0, which the process has not written yet. */
static int take_marks(struct reading *r, uint64_t *left)
{
    int rc = 1;
    size_t counts = 8 * dp_pieces_counts(r->to);
    while (*left >= 8 && (rc = need_bytes(r, 8)) == 1) {
        uint64_t word = dp_pieces_word(r->buf + r->pos);
        size_t size = 8;
        if (!word)
            break;
        if ((uint32_t)word >> DP_PIECE_ID_BITS == DP_RAW_CPU)
            size = 8 * DP_PIECE_CPU_WORDS;
        size += counts;
        if (*left < size)
            break;
        if ((rc = need_bytes(r, size)) == 1)
            rc = keep_bytes(r, &r->to->marks, size, left);
        if (rc <= 0)
            break;
    }
    return rc;
}

/* Keeps items of `size` bytes up to the first unused one, which begins with a 0 of `width`
 * bytes. */
static int take_items(struct reading *r, struct dp_buf *to, size_t size, size_t width,
                      uint64_t *left)
{
    static const char unused[8];
    int rc = 1;
    while (rc == 1 && *left >= size && (rc = need_bytes(r, size)) == 1) {
        if (memcmp(r->buf + r->pos, unused, width) == 0)
            break;
        rc = keep_bytes(r, to, size, left);
    }
    return rc;
}

/* Keeps text up to the first NUL byte: behind it, the process has not written yet. */
static int take_lines(struct reading *r, struct dp_buf *to, uint64_t *left)
{
    int rc = 1;
    while (rc == 1 && *left && (rc = need_bytes(r, 1)) == 1) {
        const char *p = r->buf + r->pos;
        size_t there = have_bytes(r, *left);
        const char *nul = memchr(p, '\0', there);
        rc = keep_bytes(r, to, nul ? (size_t)(nul - p) : there, left);
        if (nul)
            break;
    }
    return rc;
}

/* Keeps the recorder's state, one piece of each file: the run that the pieces belong to, and the
 * numbers DP_PIECE_S_*. */
static int take_state(struct reading *r, uint64_t *left)
{
    struct dp_pieces *p = r->to;
    const size_t size = DP_PIECE_RUN + sizeof p->state;
    int rc = need_bytes(r, size);
    if (rc == 1) {
        memcpy(p->run, r->buf + r->pos, DP_PIECE_RUN);
        memcpy(p->state, r->buf + r->pos + DP_PIECE_RUN, sizeof p->state);
        p->has_state = true;
        r->pos += size;
        *left -= size;
    }
    return rc;
}

/* Sets the error for bytes that are no head of a piece. A magic number of another version, or with
 * its bytes in the order of another machine, gets a message of its own. Returns the code. */
static int refuse_piece(struct reading *r)
{
    const char *p = r->buf + r->pos;
    uint64_t magic = dp_pieces_word(p);
    bool other = magic != DP_PIECE_MAGIC
                 && (magic >> 8 == DP_PIECE_MAGIC >> 8 || memcmp(p, "Len", 3) == 0
                     || memcmp(p + 5, "neL", 3) == 0);
    if (other)
        return dp_err_set(&r->to->err, DP_E_TRUNCATED,
                          "the recording did not come to its end; what it left was written by"
                          " another version, or on another kind of machine");
    return dp_err_set(&r->to->err, DP_E_SYNTAX,
                      "Bad profile: what the process left is damaged at byte %llu",
                      (unsigned long long)(r->base + r->pos));
}

/* Reads a piece: its head, and the used part of its body by kind. Unknown kinds are skipped.
 * Returns 1; 0 if the file, or its readable part, ends; or a negative DP_E. */
static int take_piece(struct reading *r)
{
    int rc = need_bytes(r, DP_PIECE_HEAD);
    if (rc <= 0)
        return rc;
    const char *p = r->buf + r->pos;
    if (!dp_pieces_word(p))             /* not begun: the writer stores the magic last */
        return ++r->skips > ZEROS ? 0 : skip_bytes(r, DP_PIECE_ALIGN);
    uint32_t kind = dp_pieces_half(p + 8);
    uint64_t size = dp_pieces_word(p + 16);
    /* A piece may be begun while the file is read: its head was still 0, and the following bytes
     * were written later. */
    if (dp_pieces_word(p) != DP_PIECE_MAGIC || size < DP_PIECE_ALIGN || size % DP_PIECE_ALIGN
        || size >> 40)
        return r->skips ? 0 : refuse_piece(r);
    r->skips = 0;
    r->pos += DP_PIECE_HEAD;
    size -= DP_PIECE_HEAD;
    switch (kind) {
    case DP_PIECE_STATE:
        rc = take_state(r, &size);
        break;
    case DP_PIECE_NAMES:
        rc = take_lines(r, &r->to->names, &size);
        break;
    case DP_PIECE_SITES:
        rc = take_lines(r, &r->to->sites, &size);
        break;
    case DP_PIECE_MARKS:
        if (!r->names_only)
            rc = take_marks(r, &size);
        break;
    case DP_PIECE_NODES:
        if (!r->names_only)
            rc = take_items(r, &r->to->nodes, DP_PIECE_N_COUNTS + 8 * dp_pieces_counts(r->to), 4,
                            &size);
        break;
    case DP_PIECE_HISTOGRAMS:
        if (!r->names_only)
            rc = take_items(r, &r->to->histograms, DP_PIECE_HISTOGRAM, 8, &size);
        break;
    case DP_PIECE_LINES:
        if (!r->names_only && (rc = skip_bytes(r, DP_PIECE_L_FIRST)) == 1) {
            size -= DP_PIECE_L_FIRST;
            rc = take_items(r, &r->to->lines, DP_PIECE_L_SIZE(dp_pieces_counts(r->to)), 4, &size);
        }
        break;
    }
    return rc <= 0 ? rc : skip_bytes(r, size);
}

/* Reads all pieces into p, up to the end or the first error. Errors stay in p->err, so that the
 * caller can use what was read before; only DP_E_NOMEM is returned. */
static int read_all(struct dp_pieces *p, struct dp_source *src, bool names_only)
{
    struct reading *r = dp_mem_alloc(sizeof *r);
    if (!r)
        return DP_E_NOMEM;
    memset(r, 0, offsetof(struct reading, buf));
    r->to = p;
    r->src = src;
    r->names_only = names_only;
    int rc;
    while ((rc = take_piece(r)) == 1)
        ;
    dp_mem_free(r);
    return rc == DP_E_NOMEM ? rc : 0;
}

int dp_pieces_read(struct dp_pieces *p, struct dp_source *src) { return read_all(p, src, false); }
int dp_pieces_read_names(struct dp_pieces *p, struct dp_source *src)
{
    return read_all(p, src, true);
}
