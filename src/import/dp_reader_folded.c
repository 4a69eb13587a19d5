#include "dp_reader_folded.h"
#include "dp_char.h"
#include "dp_unreadable.h"
#include "dp_reader_tree.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <inttypes.h>
#include <string.h>

enum {
    DECIMALS = 9,               /* decimals of a count; further digits are rounded */
    SHOWN = 60,                 /* bytes of a line in a message */
    FIRST = 1000,               /* number of stacks that decide whether the file is sorted */
    SEEN = 1 << 14,             /* number of names in the cache; a power of two */
    EXPECTED = 4                /* number of frames of a stack that are expected to be new */
};

struct frame {
    uint32_t begin, end;        /* range of its name in the stack's text */
    uint32_t sub, node;         /* the consumer's numbers; DP_SUB_NONE: not known yet */
    uint64_t hash;              /* of the names down to here, if there is an index */
};

/* The stack of the next line. It is split before the current line is read, so its part of the index
 * is loaded from memory in the meantime. */
struct ahead {
    const char *line;           /* NULL: none */
    size_t len;                 /* of the stack */
    struct frame *frames;
    size_t count, cap;
};

/* The name of a new frame, and its sub: a direct-mapped cache in front of the pool of names. */
struct seen {
    uint64_t hash;              /* 0: none */
    uint32_t sub;
};

struct folded {
    bool calls;                 /* the counts are calls */
    bool pairs;                 /* with two counts on each line */
    uint64_t hz;                /* ticks per second, or per unit; finer if counts have decimals */
    unsigned decimals;          /* number of these decimals */
    struct dp_buf stack;        /* the previous stack */
    struct frame *frames;       /* its frames */
    size_t frame_count, frames_cap;
    const char *split_line;     /* the line whose frames have been split already; NULL: none */
    size_t split_len;           /* length of its stack */
    struct ahead ahead;
    uint64_t stacks, pushed;    /* number of stacks; number of frames that the previous stack
                                 * lacked */
    uint64_t deep;              /* number of frames of all stacks */
    bool indexed;               /* the stacks are not sorted, or there are few so far: contexts are
                                 * found by their names */
    bool is_whole;              /* the index has all contexts of the file */
    struct dp_index index;      /* hash of a frame -> node */
    struct seen *seen;          /* names of the last new frames; or NULL */
    uint64_t seed;              /* of the hash */
    bool by_bytes, by_frames;   /* the stacks so far are sorted by bytes; by frames, one by one */
    bool by_text;               /* each context has one text: no two texts are the same sub */
    uint32_t subs;              /* subs so far have smaller numbers */
};

DP_INLINE struct folded *state(const struct dp_reader *r) { return r->import.state; }

/* The longest line has fewer frames than a stack may have. */
typedef char deep_enough[DP_LIMIT_LINE / 2 <= DP_LIMIT_DEPTH ? 1 : -1];

/* The length of a line without white space at its end. */
static size_t trimmed_length(const char *p, size_t len)
{
    while (len && (dp_is_blank(p[len - 1]) || p[len - 1] == '\r'))
        len--;
    return len;
}

/* Is the line a comment? Sub names may begin with a #: a blank makes it a comment. */
static bool is_comment(const char *p, size_t len)
{
    return p[0] == '#' && (len == 1 || dp_is_blank(p[1]));
}

/* Returns where the last word of a trimmed line begins. */
static size_t last_word(const char *p, size_t len)
{
    while (len && !dp_is_blank(p[len - 1]))
        len--;
    return len;
}

/* ---- what kind of file it is ---- */

/* The number of counts, up to two, at the end of a line; 0 if nothing precedes them. */
static int counts_of(const char *p, size_t len)
{
    int n = 0;
    for (; n < 2; n++) {
        size_t at = last_word(p, len), stack = trimmed_length(p, at);
        if (!stack || !dp_num_is_like(p + at, len - at))
            break;
        len = stack;
    }
    return n;
}

/* Do most whole lines have a count? A text whose first line happens to end with a number is no
 * profile. */
static bool is_mostly_stacks(const char *p, const char *end, size_t least)
{
    size_t stacks = 0, others = 0;
    const char *nl;
    for (; p < end && (nl = memchr(p, '\n', (size_t)(end - p))) != NULL; p = nl + 1) {
        size_t n = trimmed_length(p, (size_t)(nl - p));
        bool counts = n && !is_comment(p, n) && counts_of(p, n);
        stacks += counts;
        others += n && !is_comment(p, n) && !counts;
    }
    return others <= stacks && stacks >= least;
}

/* A name may end with a number, which looks like a count; but two numbers at the end of all lines
 * are no coincidence. */
enum dp_folded_kind dp_reader_folded_kind(const char *ptr, size_t len, bool last)
{
    const char *p = ptr, *end = ptr + len;
    enum dp_folded_kind kind = DP_FOLDED_MORE;
    while (p < end) {
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        if (!nl && !last)
            break;
        size_t n = trimmed_length(p, (size_t)((nl ? nl : end) - p));
        if (n && !is_comment(p, n)) {
            int counts = counts_of(p, n);
            if (kind == DP_FOLDED_MORE && (!counts || memchr(p, '\0', n)))
                return !memchr(ptr, '\0', len) && is_mostly_stacks(ptr, end, 1) ? DP_FOLDED_BAD
                                                                                : DP_FOLDED_NOT;
            if (counts < 2)
                return is_mostly_stacks(ptr, end, 0) ? DP_FOLDED_ONE : DP_FOLDED_NOT;
            kind = DP_FOLDED_TWO;
        }
        p = nl ? nl + 1 : end;
    }
    return kind == DP_FOLDED_MORE && last ? DP_FOLDED_EMPTY : kind;
}

/* ---- the header ---- */

/* Fails with the line that makes the file DP_FOLDED_BAD. */
static int refuse_line(struct dp_reader *r)
{
    const char *p = r->in.buf + r->in.pos, *end = r->in.buf + r->in.end, *nl = p;
    size_t n = 0;
    uint64_t line = 0;
    for (; p < end; p = nl + 1) {
        nl = memchr(p, '\n', (size_t)(end - p));
        nl = nl ? nl : end;
        n = trimmed_length(p, (size_t)(nl - p));
        line++;
        if (n && !is_comment(p, n) && !counts_of(p, n))
            break;
    }
    return dp_reader_fail(r, DP_E_NOTPROFILE, 0,
                          "this is no profile: its lines look like folded stacks, but there is no"
                          " count at the end of line %" PRIu64 ": %.*s%s",
                          line, n > SHOWN ? SHOWN : (int)n, p, n > SHOWN ? " ..." : "");
}

/* Returns the error of a file of a kind, or 0. */
static int check_kind(struct dp_reader *r, enum dp_folded_kind kind)
{
    if (kind == DP_FOLDED_BAD)
        return refuse_line(r);
    if (kind == DP_FOLDED_NOT || (kind == DP_FOLDED_EMPTY && !r->head->may_be_empty))
        return dp_reader_fail(r, DP_E_NOTPROFILE, 0,
                              r->in.end ? "Not a perl profile" : "it is empty");
    if (kind == DP_FOLDED_TWO && !r->head->pairs)
        return dp_reader_fail(
            r, DP_E_ARG, 0,
            "these are folded stacks with two counts on each line,"
            " those of two profiles (difffolded.pl makes them); give the two that it was made of");
    return 0;
}

/* Makes the reader's state. In a chart, equal stacks are contexts of their own, one for each
 * stretch of time, so the reader does not find contexts by their names. */
static int make_state(struct dp_reader *r, enum dp_folded_kind kind)
{
    struct folded *in = r->import.state = dp_mem_zalloc(sizeof *in);
    if (!in)
        return dp_import_error(r, DP_E_NOMEM);
    dp_buf_init(&in->stack);
    dp_index_init(&in->index);
    in->seed = dp_map_any(r) | 1;
    in->pairs = kind == DP_FOLDED_TWO;
    in->indexed = in->is_whole = !r->head->chart;
    in->by_bytes = in->by_frames = in->by_text = !r->head->chart;
    return 0;
}

/* Makes the header, which the file lacks. The unit is the declared one. */
static int make_header(struct dp_reader *r)
{
    struct dp_header *head = r->head;
    uint64_t hz = 1;
    bool time = false;
    head->folded = head->ended = true;
    head->unit = "";
    if (head->declared) {
        if (!dp_header_unit(head->declared, &hz, &time))
            return dp_reader_fail(r, DP_E_ARG, 0, "this is no unit: %.40s", head->declared);
        head->unit = time ? "s" : head->declared;
    }
    if (state(r)->pairs) {
        head->counters[0] = (struct dp_var){ "", DP_FMT_BEFORE, strlen(DP_FMT_BEFORE) };
        head->n_counters = 1;
    }
    state(r)->calls = strcmp(head->unit, "calls") == 0;
    head->no_calls = !state(r)->calls;
    head->hz = state(r)->hz = hz;
    int rc = dp_header_add(head, "dprof_format", DP_FMT_FOLDED);
    if (rc == 0 && head->declared)
        rc = dp_header_add(head, "dprof_unit", head->declared);
    return rc < 0 ? dp_import_error(r, rc) : 0;
}

/* Recognizes the file by its first lines, and makes the header, which folded stacks lack. Returns 1
 * if these lines do not decide yet (dp_import_format.head). */
static int read_head(struct dp_reader *r)
{
    const char *other = r->in.base ? NULL : dp_unreadable(r->in.buf, r->in.end);
    if (other)
        return dp_reader_fail(r, DP_E_NOTPROFILE, 0, "%s", other);
    enum dp_folded_kind kind = dp_reader_folded_kind(r->in.buf + r->in.pos, r->in.end - r->in.pos,
                                                     r->in.at_end);
    if (kind == DP_FOLDED_MORE)
        return 1;
    int rc = check_kind(r, kind);
    rc = rc < 0 ? rc : make_state(r, kind);
    return rc < 0 ? rc : make_header(r);
}

/* ---- counts ---- */

/* Makes ticks finer by a power of ten, so that fractions are kept exactly. */
static int make_finer(struct dp_reader *r, unsigned decimals)
{
    uint64_t by = 1;
    for (; state(r)->decimals < decimals; state(r)->decimals++)
        by *= 10;
    for (int m = 0; m < DP_METRICS; m++) {
        if (r->passed[m] >= DP_LIMIT_TOTAL / by)
            return dp_reader_fail(r, DP_E_LIMIT, 0, "the counts add up to more than fits");
        r->passed[m] *= by;
    }
    state(r)->hz *= by;
    int rc = r->to->ticks ? r->to->ticks(r->to->ctx, state(r)->hz, r->err) : 0;
    if (rc < 0 && r->err->code == rc && !r->err->line) {
        r->err->line = r->in.line;
        r->err->byte = r->in.base + r->in.pos;
    }
    return rc < 0 ? dp_import_error(r, rc) : 0;
}

/* Appends a digit to a number. Returns a * 10 + d, at most DP_LIMIT_TOTAL. */
static uint64_t shift_in(uint64_t a, unsigned d)
{
    return a <= (DP_LIMIT_TOTAL - 1 - d) / 10 ? a * 10 + d : DP_LIMIT_TOTAL;
}

/* Reads a count that is more than a plain number of a few digits. Returns 1 and its ticks; 0 for a
 * bad count, which is noted; or a negative DP_E. */
static DP_NOINLINE int read_odd_count(struct dp_reader *r, const char *p, size_t len, uint64_t *out)
{
    size_t whole = 0, places;
    while (whole < len && dp_is_digit(p[whole]))
        whole++;
    const char *frac = p + whole + 1;
    size_t n = whole < len ? len - whole - 1 : 0;
    if (len > 1 && *p == '-' && dp_num_is_like(p, len))
        return dp_reader_leave_out(r, "the count is negative", p, len);
    if (whole == 0 || (whole < len && p[whole] != '.'))
        return dp_reader_leave_out(r, "the count is no decimal number", p, len);
    for (size_t i = 0; i < n; i++)
        if (!dp_is_digit(frac[i]))
            return dp_reader_leave_out(r, "the count is no decimal number", p, len);
    while (n && frac[n - 1] == '0')
        n--;
    if (n && state(r)->calls)
        return dp_reader_leave_out(r, "the count is no whole number of calls", p, len);
    unsigned most = DECIMALS;
    for (uint64_t hz = r->head->hz; hz > DP_LIMIT_HZ / 1000000000; hz /= 10)
        most--;
    places = n < most ? n : most;
    if (places > state(r)->decimals) {
        int rc = make_finer(r, (unsigned)places);
        if (rc < 0)
            return rc;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < whole; i++)
        v = shift_in(v, (unsigned)(p[i] - '0'));
    for (size_t i = 0; i < state(r)->decimals; i++)
        v = shift_in(v, i < n ? (unsigned)(frac[i] - '0') : 0);
    if (n > most && frac[most] >= '5' && v < DP_LIMIT_TOTAL)
        v++;
    if (v >= DP_LIMIT_TOTAL)
        return dp_reader_leave_out(r, "the count is too large", p, len);
    *out = v;
    return 1;
}

/* ---- stacks ---- */

/* The number of equal bytes at the beginnings of two texts. */
static size_t common_bytes(const char *a, const char *b, size_t n)
{
    size_t i = 0;
    uint64_t x, y;
    for (; i + 8 <= n; i += 8) {
        memcpy(&x, a + i, 8);
        memcpy(&y, b + i, 8);
        if (x != y)
            break;
    }
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

/* Checks whether this stack follows the previous one. The first different bytes decide: a stack
 * comes before all stacks that begin with it, and in the order of frames a `;` comes before all
 * other bytes. */
static void look_at_order(struct folded *in, const char *p, size_t len, size_t same)
{
    if (same == in->stack.len)
        return;
    unsigned char ours = same < len ? (unsigned char)p[same] : 0,
                  before = (unsigned char)in->stack.ptr[same];
    bool follows = same < len && ours > before;
    in->by_bytes = in->by_bytes && follows;
    in->by_frames = in->by_frames && same < len && ours != ';' && (follows || before == ';');
}

/* Keeps the common first frames of this stack and the previous one. Returns where the others start.
 * *equal: number of equal bytes. */
static size_t keep_shared(struct dp_reader *r, const char *p, size_t len, size_t *equal)
{
    const struct dp_buf *prev = &state(r)->stack;
    size_t n = state(r)->frame_count;
    size_t same = *equal = common_bytes(p, prev->ptr, len < prev->len ? len : prev->len);
    bool ends = (same == len || p[same] == ';') && (same == prev->len || prev->ptr[same] == ';');
    while (n && state(r)->frames[n - 1].end + !ends > same)
        n--;
    state(r)->frame_count = n;
    return n ? state(r)->frames[n - 1].end + 1 : 0;
}

/* Decodes a name. Bytes that would end a name or change it are written as %XX: `;`, `#`, `%` and
 * control bytes. Other profilers do not do this, so only necessary escapes are decoded. */
static int decode_name(struct dp_reader *r, struct dp_text *t)
{
    if (DP_LIKELY(!memchr(t->ptr, '%', t->len)))
        return 0;
    char *to = dp_buf_room(&r->ids.scratch, t->len);
    size_t n = 0;
    if (!to)
        return dp_import_error(r, DP_E_NOMEM);
    for (size_t i = 0; i < t->len; i++) {
        int hi = t->ptr[i] == '%' && i + 2 < t->len ? dp_num_hexdigit(t->ptr[i + 1]) : -1;
        int lo = hi >= 0 ? dp_num_hexdigit(t->ptr[i + 2]) : -1;
        int c = lo >= 0 ? hi << 4 | lo : -1;
        /* a blank that cannot end a line, or that would make a number after it a count */
        bool is_code_blank = c == ' '
                             && (i + 3 == t->len || dp_num_is_like(t->ptr + i + 3, t->len - i - 3));
        if (c >= 0
            && (c < 0x20 || c == 0x7f || c == ';' || c == '#' || c == '%' || is_code_blank)) {
            to[n++] = (char)c;
            i += 2;
        } else {
            to[n++] = t->ptr[i];
        }
    }
    state(r)->by_text = state(r)->by_text && n == t->len;
    *t = (struct dp_text){ to, n };
    return 0;
}

/* The last bytes of a name, fewer than eight. Readable bytes follow. */
DP_INLINE uint64_t tail_bytes(const char *p, size_t n)
{
    uint64_t x = 0;
#ifdef DP_NUM_SWAR
    memcpy(&x, p, 8);
    x &= (UINT64_C(1) << 8 * n) - 1;
#else
    memcpy(&x, p, n);
#endif
    return x;
}

/* A stack's hash, made from that of its callers. The hash replaces the stack in comparisons. It has
 * a factor that is unknown outside, so no file can be made whose stacks collide. */
static uint64_t hash_of(uint64_t factor, uint64_t h, const char *p, size_t n)
{
    uint64_t x;
    h ^= (n + 1) * UINT64_C(0xc2b2ae3d27d4eb4f);
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&x, p, 8);
        h = dp_num_mul_shift32(h ^ x, factor) + x;
    }
    x = tail_bytes(p, n);
    h = dp_num_mul_shift32(h ^ x, factor) + x;
    return h ^ h >> 32;
}

/* Finds or makes the context of a frame, without adding anything to it. fresh: it is certainly new,
 * so the consumer need not search for it. */
static int64_t enter_context(struct dp_reader *r, uint32_t parent, uint32_t sub, bool fresh)
{
    static const uint64_t nothing;
    struct dp_context c;
    memset(&c, 0, sizeof c);
    c.fresh = fresh;
    c.parent = parent;
    c.sub = sub;
    c.counters = &nothing;
    c.at.ptr = "";
    return dp_reader_give_context(r, &c);
}

/* Adds the frames of a stack from `from` on to the existing ones. An empty frame is skipped, and so
 * is the root at the beginning of a stack, because all stacks begin there. */
static int split_stack(struct dp_reader *r, const char *p, size_t len, size_t from)
{
    struct folded *in = r->import.state;
    for (size_t at = from; at < len;) {
        const char *semi = memchr(p + at, ';', len - at);
        size_t n = semi ? (size_t)(semi - p) - at : len - at;
        bool is_root = at == 0 && n == strlen(DP_FMT_PROGRAM) && memcmp(p, DP_FMT_PROGRAM, n) == 0;
        if (n && !is_root) {
            size_t k = in->frame_count;
            if (dp_mem_grow((void **)&in->frames, &in->frames_cap, k + 1, sizeof *in->frames) < 0)
                return dp_import_error(r, DP_E_NOMEM);
            uint64_t hash = in->indexed
                    ? hash_of(in->seed, k ? in->frames[k - 1].hash : 0, p + at, n) : 0;
            in->frames[in->frame_count++] = (struct frame){
                (uint32_t)at, (uint32_t)(at + n), DP_SUB_NONE, DP_SUB_NONE, hash
            };
            in->pushed++;
        } else if (!is_root || len > n) {
            in->by_bytes = in->by_frames = false;       /* another text may be the same stack */
        }
        at += n + 1;
    }
    return 0;
}

/* The cache entry for the name of a new frame; NULL without an index, or memory. As with contexts,
 * the hash replaces the name. */
static struct seen *seen_at(struct folded *in, const char *p, size_t len,
                                      uint64_t *hash)
{
    if (!in->indexed)
        return NULL;
    if (!in->seen)
        in->seen = dp_mem_zalloc(SEEN * sizeof *in->seen);
    *hash = hash_of(in->seed, 0, p, len) | 1;
    return in->seen ? &in->seen[*hash >> 32 & (SEEN - 1)] : NULL;
}

/* Finds the sub of a frame that has none yet, by the frame's name. p: the text of the stack. Also
 * notes whether two names turn out to be the same sub (by_text). */
static int find_sub_of_frame(struct dp_reader *r, const char *p, struct frame *frame)
{
    struct dp_text name = { p + frame->begin, frame->end - frame->begin };
    size_t known = r->ids.names.count;
    uint64_t hash = 0;
    if (frame->sub != DP_SUB_NONE)
        return 0;
    struct seen *seen = seen_at(state(r), name.ptr, name.len, &hash);
    if (seen && seen->hash == hash) {
        frame->sub = seen->sub;
        return 0;
    }
    int rc = decode_name(r, &name);
    if (rc == 0)
        rc = dp_reader_by_name(r, name, &frame->sub);
    if (rc == 0 && seen)
        *seen = (struct seen){ hash, frame->sub };
    if (rc == 0 && r->ids.names.count > known) {
        state(r)->by_text = state(r)->by_text && frame->sub >= state(r)->subs;
        state(r)->subs = frame->sub >= state(r)->subs ? frame->sub + 1 : state(r)->subs;
    }
    return rc;
}

/* The first frame whose contexts are certainly new, for a stack that follows all earlier ones in
 * order. A caller may have ended an earlier stack that precedes stacks with more bytes there, as
 * `a` before `a:b` before `a;b`. */
static size_t first_fresh(const struct dp_reader *r, size_t len, size_t kept, size_t same)
{
    const struct folded *in = r->import.state;
    if (in->by_frames)
        return kept;
    if (!in->by_bytes)
        return SIZE_MAX;
    return kept + (kept < in->frame_count && in->frames[kept].end == same && same < len
                   && same < in->stack.len);
}

/* Prefetches the index slots of the last frames of a stack. */
static void expect_frames(struct folded *in, const struct frame *frames,
                          size_t n)
{
    for (size_t k = n; k && k + EXPECTED > n; k--)
        dp_index_expect(&in->index, frames[k - 1].hash);
}

/* Finds the deepest frame of a stack that has a context, from the end, because most of a stack is
 * usually known. Returns the number of frames down to it. */
static size_t find_known(const struct folded *in, struct frame *frames,
                         size_t n)
{
    for (; n && frames[n - 1].node == DP_SUB_NONE; n--) {
        uint32_t node = in->indexed ? dp_index_find(&in->index, frames[n - 1].hash)
                                    : DP_INDEX_NONE;
        if (node == DP_INDEX_NONE)
            continue;
        frames[n - 1].node = node;
        break;
    }
    return n;
}

/* Makes contexts for all frames that have none; those from `fresh' on are new. In sorted text there
 * are few such frames. */
static int descend_stack(struct dp_reader *r, const char *p, size_t fresh)
{
    struct folded *in = r->import.state;
    size_t n = in->frame_count, i = find_known(in, in->frames, n);
    if (in->indexed && in->is_whole)
        fresh = i;
    if (in->indexed && dp_index_room(&in->index, n - i) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    for (; i < n; i++) {
        struct frame *frame = &in->frames[i];
        int rc = find_sub_of_frame(r, p, frame);
        int64_t node = rc < 0 ? rc : enter_context(r, i ? frame[-1].node : 0, frame->sub,
                                                   i >= fresh && in->by_text);
        if (node < 0)
            return (int)node;
        frame->node = (uint32_t)node;
        if (in->indexed)
            dp_index_add(&in->index, frame->hash, frame->node);
    }
    return 0;
}

/* Decides how stacks are found. Stacks that share little with the previous ones are found by 64-bit
 * hashes. Among ten million contexts, two hashes collide by chance once in 400,000 files. The first
 * stacks use hashes, too: if the file proves to be unsorted, the index has all of its contexts. */
static void look_at_stacks(struct dp_reader *r)
{
    struct folded *in = r->import.state;
    bool is_mixed = in->pushed >= 6 * ++in->stacks && !r->head->chart;
    if (in->stacks == FIRST && in->indexed && !is_mixed) {
        dp_index_release(&in->index);
        in->indexed = in->is_whole = false;
    } else if (in->stacks >= FIRST && !in->indexed && is_mixed) {
        in->indexed = true;
        in->by_bytes = in->by_frames = false;
        in->frame_count = 0;
        in->stack.len = 0;
    }
}

/* Remembers a stack, which the next one is compared with. */
static int remember_stack(struct dp_reader *r, const char *p, size_t len, size_t from)
{
    struct dp_buf *prev = &state(r)->stack;
    if (prev->len > from)
        prev->len = from;
    if (prev->len > len)
        prev->len = len;
    dp_buf_add(prev, p + prev->len, len - prev->len);
    return prev->err ? dp_import_error(r, DP_E_NOMEM) : 0;
}

/* Finds or makes the contexts of a stack, whose first frames may be those of the previous one. */
static int follow_stack(struct dp_reader *r, const char *p, size_t len)
{
    struct folded *in = r->import.state;
    size_t same, from = keep_shared(r, p, len, &same), kept = in->frame_count;
    look_at_order(in, p, len, same);
    int rc = split_stack(r, p, len, from);
    if (rc == 0 && in->indexed)
        expect_frames(in, in->frames, in->frame_count);
    if (rc == 0)
        rc = descend_stack(r, p, first_fresh(r, len, kept, same));
    return rc < 0 ? rc : remember_stack(r, p, len, from);
}

/* Exchanges the current frames with those ahead. */
static void swap_frames(struct folded *in)
{
    struct ahead *ahead = &in->ahead, before = *ahead;
    ahead->frames = in->frames;
    ahead->count = in->frame_count;
    ahead->cap = in->frames_cap;
    in->frames = before.frames;
    in->frame_count = before.count;
    in->frames_cap = before.cap;
}

/* Makes the stack ahead the current one. The previous stack is no longer available for
 * comparison. */
static void arrive_at_line(struct folded *in)
{
    in->split_line = in->ahead.line;
    in->split_len = in->ahead.len;
    in->ahead.line = NULL;
    if (!in->split_line)
        return;
    swap_frames(in);
    in->stack.len = 0;
}

/* Splits the stack of the next line, if its last word is a count; read_stack checks whether it gets
 * the same stack. */
static int look_ahead(struct dp_reader *r, const char *p, size_t len)
{
    struct folded *in = r->import.state;
    len = trimmed_length(p, len);
    if (!len || is_comment(p, len))
        return 0;
    len = trimmed_length(p, last_word(p, len));
    if (in->pairs)
        len = trimmed_length(p, last_word(p, len));
    swap_frames(in);
    in->frame_count = 0;
    int rc = split_stack(r, p, len, 0);
    swap_frames(in);
    expect_frames(in, in->ahead.frames, in->ahead.count);
    in->ahead.line = p;
    in->ahead.len = len;
    return rc;
}

/* Finds the context that the next line's stack continues: nothing else comes in between. */
static void find_ahead(struct dp_reader *r)
{
    struct ahead *ahead = &state(r)->ahead;
    size_t n = ahead->line ? find_known(state(r), ahead->frames, ahead->count) : 0;
    if (n && r->to->expect)
        r->to->expect(r->to->ctx, ahead->frames[n - 1].node);
}

/* Adds the counts of a line to the context of its stack. before: the first count of a line with
 * two; NULL: there is one count. */
static int read_stack(struct dp_reader *r, const char *p, size_t len, uint64_t ticks,
                      const uint64_t *before)
{
    struct folded *in = r->import.state;
    bool is_split = in->split_line == p && in->split_len == len;
    look_at_stacks(r);
    int rc = is_split ? descend_stack(r, p, SIZE_MAX) : follow_stack(r, p, len);
    if (rc < 0)
        return rc;
    in->deep += in->frame_count;
    struct dp_context c;
    memset(&c, 0, sizeof c);
    c.sub = DP_SUB_NONE;
    c.at.ptr = "";
    if (state(r)->frame_count) {
        c.again = true;
        c.node = state(r)->frames[state(r)->frame_count - 1].node;
    }
    c.t[DP_USER] = c.t[DP_REAL] = ticks;
    c.calls = state(r)->calls ? ticks : 0;
    c.counters = before;
    int64_t node = dp_reader_context(r, &c);
    return node < 0 ? (int)node : 0;
}

/* Is the text meant as a count, even a bad one? */
static bool is_count(const char *p, size_t len)
{
    size_t sign = *p == '-' || *p == '+';
    char start[4] = { 0 };
    for (size_t i = 0; i < 3 && sign + i < len; i++)
        start[i] = (char)(p[sign + i] | 0x20);
    return dp_is_digit(*p) || dp_num_is_like(p, len)
           || (len - sign == 3 && (strcmp(start, "inf") == 0 || strcmp(start, "nan") == 0));
}

/* Reads the count at the end of p..len. Returns 1; 0 for a bad count, which is noted; or a negative
 * DP_E. *n: number of bytes before the count. */
static DP_NOINLINE int read_any_count(struct dp_reader *r, const char *p, size_t len,
                                      uint64_t *ticks, size_t *n)
{
    size_t at = last_word(p, len);
    *n = trimmed_length(p, at);
    if (!is_count(p + at, len - at))
        return dp_reader_leave_out(r, "there is no count at the end of the line", p, len);
    if (!*n)
        return dp_reader_leave_out(r, "there is no stack before the count", p, len);
    return read_odd_count(r, p + at, len - at, ticks);
}

/* Reads a line with the counts of two profiles. A count with more decimals than any before makes
 * ticks finer, those of the other count included. */
static int line_of_two(struct dp_reader *r, const char *p, size_t len)
{
    uint64_t before, ticks;
    size_t first, n;
    unsigned decimals;
    do {
        decimals = state(r)->decimals;
        int rc = read_any_count(r, p, len, &ticks, &first);
        if (rc > 0) {
            size_t at = last_word(p, first);
            if (!is_count(p + at, first - at))
                return dp_reader_leave_out(r, "there is one count only at the end of the line", p,
                                           len);
            rc = read_any_count(r, p, first, &before, &n);
        }
        if (rc <= 0)
            return rc;
    } while (decimals != state(r)->decimals);
    return read_stack(r, p, n, ticks, &before);
}

/* Reads a line: a stack with its count, a comment, or nothing. Most counts are short whole numbers,
 * which need no call of read_any_count. */
static int read_line(struct dp_reader *r, const char *p, size_t len)
{
    len = trimmed_length(p, len);
    if (!len || is_comment(p, len))
        return 0;
    if (state(r)->pairs)
        return line_of_two(r, p, len);
    size_t at = last_word(p, len), n = trimmed_length(p, at);
    uint64_t ticks;
    /* the line's end and readable bytes follow the line */
    if (DP_UNLIKELY(!n || state(r)->decimals || dp_num_short(p + at, &ticks) != len - at)) {
        int rc = read_any_count(r, p, len, &ticks, &n);
        if (rc <= 0)
            return rc;
    }
    return read_stack(r, p, n, ticks, NULL);
}

/* Reads the lines up to end if stacks are found by hashes: each is split while the previous line is
 * read. */
static int mixed_lines(struct dp_reader *r, const char *end)
{
    struct folded *in = r->import.state;
    const char *p = r->in.buf + r->in.pos, *nl = memchr(p, '\n', (size_t)(end - p));
    int rc = 0;
    in->ahead.line = NULL;
    while (nl && rc == 0) {
        const char *next = nl + 1;
        const char *next_nl = next < end ? memchr(next, '\n', (size_t)(end - next)) : NULL;
        arrive_at_line(in);
        if (next_nl)
            rc = look_ahead(r, next, (size_t)(next_nl - next));
        if (rc == 0)
            rc = read_line(r, p, (size_t)(nl - p));
        if (rc < 0)
            break;
        find_ahead(r);
        p = next;
        nl = next_nl;
        r->in.pos = (size_t)(p - r->in.buf);
        r->in.line++;
    }
    in->split_line = NULL;
    return rc;
}

/* Reads the lines up to end, which follows a line's end. Unreadable lines are noted in r->info. */
static int read_stacks(struct dp_reader *r, const char *end)
{
    const struct folded *in = r->import.state;
    /* Stacks that share most frames with the previous one are read faster from there. */
    bool is_alone = in->pushed * 2 > in->deep;
    if (in->indexed && in->stacks > FIRST && is_alone && r->in.buf + r->in.pos < end)
        return mixed_lines(r, end);
    return dp_reader_each_line(r, end, read_line);
}

/* Reads all stacks, as far as there are whole lines in the buffer at a time. The file's last line
 * may lack its end. */
static int read_body(struct dp_reader *r)
{
    for (;;) {
        const char *last = r->in.buf + r->in.end;
        while (last > r->in.buf + r->in.pos && last[-1] != '\n')
            last--;
        int rc = read_stacks(r, last);
        long got = rc < 0 ? rc : dp_reader_refill(r);
        if (got < 0)
            return (int)got;
        if (got == 0)
            break;
    }
    if (!r->in.cut && r->in.pos < r->in.end) {
        r->in.buf[r->in.end++] = '\n';       /* there is room after the data */
        r->in.no_end = true;
        int rc = read_stacks(r, r->in.buf + r->in.end);
        if (rc < 0)
            return rc;
    }
    return dp_reader_left_out(r);
}

/* Frees what make_state has made (dp_import_format.release). */
static void release_state(void *all)
{
    struct folded *in = all;
    if (!in)
        return;
    dp_buf_release(&in->stack);
    dp_mem_free(in->frames);
    dp_mem_free(in->ahead.frames);
    dp_mem_free(in->seen);
    dp_index_release(&in->index);
    dp_mem_free(in);
}

/* Accepts every file, because any file may be folded stacks: no bytes at its beginning identify
 * them. */
static bool is_folded(const char *ptr, size_t len)
{
    (void)ptr, (void)len;
    return true;
}

const struct dp_import_format dp_import_folded = {
    DP_FMT_FOLDED, is_folded, read_head, read_body, release_state
};
