/* Inside the reader: reads the lines of a trace. */
#include "dp_reader_private.h"
#include "dp_char.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#if defined(DP_NUM_SWAR) && defined(__SSE2__)
#  include <emmintrin.h>
#  define DP_READER_WIDE 1
#endif

enum {
    FIELDS = 8 + DP_FMT_COUNTERS,
    SHOWN = 60                  /* bytes of a line in a message */
};

int dp_reader_fail(struct dp_reader *r, int code, size_t ahead, const char *fmt, ...)
{
    char text[sizeof r->err->message];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return dp_err_at(r->err, code, r->in.line, r->in.base + r->in.pos + ahead, "%s", text);
}

int dp_reader_bad_line(struct dp_reader *r, const char *ptr, size_t len)
{
    return dp_reader_fail(r, DP_E_SYNTAX, 0, "Bad profile: %.*s", len > 160 ? 160 : (int)len, ptr);
}

DP_COLD int dp_reader_leave_out(struct dp_reader *r, const char *what, const char *ptr, size_t len)
{
    struct dp_read_info *info = r->info;
    if (info->faults < DP_READER_FAULTS) {
        struct dp_err *err = &info->fault[info->faults];
        dp_err_init(err);
        dp_err_at(err, DP_E_SYNTAX, r->in.line, r->in.base + r->in.pos, "%s%s%.*s%s", what,
                  len ? ": " : "", len > SHOWN ? SHOWN : (int)len, ptr, len > SHOWN ? " ..." : "");
    }
    info->faults++;
    return 0;
}

int dp_reader_left_out(struct dp_reader *r)
{
    if (!r->info->faults)
        return 0;
    if (r->in.cut)
        dp_reader_leave_out(r, "the compressed data break off", "", 0);
    *r->err = r->info->fault[0];
    return r->err->code;
}

int dp_reader_skip_line(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_read_info *info = r->info;
    if (info->faults >= DP_READER_FAULTS)
        return dp_reader_bad_line(r, ptr, len);
    struct dp_err *err = &info->fault[info->faults++];
    dp_err_init(err);
    dp_err_at(err, DP_E_TRUNCATED, r->in.line, r->in.base + r->in.pos, "Bad profile: %.*s",
              len > 160 ? 160 : (int)len, ptr);
    return 0;
}

static int no_memory(struct dp_reader *r)
{
    return dp_reader_fail(r, DP_E_NOMEM, 0, "%s", dp_err_text(DP_E_NOMEM));
}

int dp_reader_flush(struct dp_reader *r)
{
    size_t n = r->n_events, bad = 0;
    if (!n)
        return 0;
    r->n_events = 0;
    int rc = r->to->events(r->to->ctx, r->events, r->counts, n, &bad, r->err);
    if (rc >= 0)
        return 0;
    dp_err_set(r->err, rc, "%s", dp_err_text(rc));
    /* batches never span a refill, so a refused line is still in the buffer */
    r->err->byte = r->events[bad].at;
    r->err->line = r->in.line;
    const char *from = r->in.buf + (r->events[bad].at - r->in.base), *to = r->in.buf + r->in.pos;
    for (; from < to; from++)
        r->err->line -= *from == '\n';
    return rc;
}

int dp_reader_columns(struct dp_reader *r)
{
    size_t n = r->head->n_counters;
    if (!n || r->head->folded)
        return 0;
    r->counts = dp_mem_realloc(NULL, n * DP_READER_BATCH, sizeof *r->counts);
    if (!r->counts)
        return no_memory(r);
    r->n_counts = n;
    return 0;
}

struct dp_event *dp_reader_event(struct dp_reader *r, int op, uint32_t sub, uint64_t at)
{
    for (size_t k = 0; k < r->n_counts; k++) {
        r->counts[r->n_events * r->n_counts + k] = r->c[k];
        r->c[k] = 0;
    }
    struct dp_event *ev = &r->events[r->n_events++];
    for (int m = 0; m < DP_METRICS; m++) {
        ev->t[m] = r->t[m];
        r->passed[m] += r->t[m];
        r->t[m] = 0;
    }
    ev->op = (uint32_t)op;
    ev->sub = sub;
    ev->at = at;
    return ev;
}

#ifdef DP_NUM_SWAR
/* The value of n (1 to 7) hexadecimal digits, with the first digit in the lowest byte. Other bytes
 * give an arbitrary value; the caller compares keys. */
DP_INLINE uint64_t id_value(uint64_t key, unsigned n)
{
    uint64_t x = key << (64 - 8 * n);
    x = (x & UINT64_C(0x0f0f0f0f0f0f0f0f)) + 9 * (x >> 6 & UINT64_C(0x0101010101010101));
    x = (x << 4 | x >> 8) & UINT64_C(0x00ff00ff00ff00ff);
    x = (x << 8 | x >> 16) & UINT64_C(0x0000ffff0000ffff);
    return (x << 16 | x >> 32) & UINT64_C(0xffffffff);
}
#endif

/* Reads the digits of an id as a key, and its value. Returns the number of digits before the line's
 * end; 0 unless they are 1 to 7. */
DP_INLINE unsigned short_id(const char *p, uint64_t *key, uint64_t *value)
{
    uint64_t w;
    unsigned n;
#ifdef DP_NUM_SWAR
    memcpy(&w, p, 8);
    uint64_t x = w ^ UINT64_C(0x0a0a0a0a0a0a0a0a);
    uint64_t nl = (x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080);
    if (DP_UNLIKELY(!nl))
        return 0;
    n = (unsigned)__builtin_ctzll(nl) >> 3;
    if (DP_UNLIKELY(!n))
        return 0;
    *key = w & ((UINT64_C(1) << 8 * n) - 1);
    *value = id_value(*key, n);
#else
    *value = w = 0;
    for (n = 0; n < 8 && p[n] != '\n'; n++) {
        int d = dp_num_hexdigit(p[n]);
        *value = *value << 4 | (uint64_t)(d < 0 ? 0 : d);
        w |= (uint64_t)(unsigned char)p[n] << 8 * n;
    }
    if (n == 0 || n > 7)
        return 0;
    *key = w;
#endif
    return n;
}

/* By the first character of a call's line. */
static const unsigned char op_of[256] = {
#define OP(name, sign) [sign] = DP_OP_##name,
    DP_RAW_EACH_CALL(OP)
#undef OP
};

/* ---- ids and names ---- */

/* Flag next to the number of a sub, which is below DP_LIMIT_IDS; also used in a key, whose digits
 * fill at most seven bytes. */
static const uint32_t far_phase = UINT32_C(1) << 30;
static const uint64_t phase_key = UINT64_C(1) << 63;

/* Names an id from DP_READER_NEAR up, which would make the array too large, in a hash. A phase has
 * a flag in the hash's value. Returns 0, DP_E_NOMEM, or DP_E_LIMIT. */
static int name_far_id(struct dp_reader *r, uint64_t id, uint32_t sub, bool phase)
{
    struct dp_map_slot *slot = dp_map_put(&r->ids.far, id);
    if (!slot)
        return DP_E_NOMEM;
    bool full = slot->value == DP_MAP_NONE && r->ids.count++ >= DP_LIMIT_IDS;
    slot->value = phase ? sub | far_phase : sub;
    return full ? DP_E_LIMIT : 0;
}

/* Remembers the sub, or phase, that an id of the file stands for. `field` has the id's digits: the
 * fast path compares lines with these bytes, and does not parse them. Returns 0 or a DP_E. */
static int name_id(struct dp_reader *r, const struct dp_text *field, uint64_t id, uint32_t sub,
                   bool phase)
{
    if (id > r->ids.max)
        r->ids.max = id;
    struct dp_reader_ids *ids = &r->ids;
    if (id >= DP_READER_NEAR)
        return name_far_id(r, id, sub, phase);
    if (id >= ids->near_cap
        && dp_mem_grow_cleared((void **)&ids->near, &ids->near_cap, (size_t)id + 1,
                               sizeof *ids->near) < 0)
        return DP_E_NOMEM;
    struct dp_reader_id *slot = &r->ids.near[id];
    slot->sub = sub;
    slot->phase = phase;
    slot->key = phase ? phase_key : 0;
    /* an id that does not fit into a key (it has leading zeros) is only found by the slow path */
    for (size_t i = 0; i < 7 && i < field->len; i++)
        slot->key |= (uint64_t)(unsigned char)field->ptr[i] << 8 * i;
    return 0;
}

bool dp_reader_find(const struct dp_reader *r, uint64_t id, uint32_t *sub)
{
    if (id < DP_READER_NEAR) {
        if (id >= r->ids.near_cap || !r->ids.near[id].key)
            return false;
        *sub = r->ids.near[id].sub;
        return true;
    }
    const struct dp_map_slot *slot = dp_map_find(&r->ids.far, id);
    if (slot)
        *sub = slot->value & ~far_phase;
    return slot != NULL;
}

bool dp_reader_is_phase(const struct dp_reader *r, uint64_t id)
{
    if (id < DP_READER_NEAR)
        return id < r->ids.near_cap && r->ids.near[id].phase;
    const struct dp_map_slot *slot = dp_map_find(&r->ids.far, id);
    return slot && slot->value & far_phase;
}

static struct dp_text text_of(const char *ptr, size_t len)
{
    struct dp_text t = { ptr, len };
    return t;
}

static bool starts_with(struct dp_text t, const char *with)
{
    size_t n = strlen(with);
    return t.len >= n && memcmp(t.ptr, with, n) == 0;
}

static bool is_same(struct dp_text t, const char *s)
{
    return t.len == strlen(s) && memcmp(t.ptr, s, t.len) == 0;
}

/* Decodes a field. Files of the classic recorder have no escapes. Room for all of a line's fields
 * was made before, so earlier results do not move. */
static struct dp_text decode_field(struct dp_reader *r, struct dp_text t)
{
    if (!r->head->version || !memchr(t.ptr, '%', t.len))
        return t;
    char *to = r->ids.scratch.ptr + r->ids.scratch.len;
    size_t n = dp_fmt_decode(to, t.ptr, t.len);
    r->ids.scratch.len += n;
    return text_of(to, n);
}

/* Splits FILE:LINE. A field without a file or a line leaves both unknown. */
static void split_place(struct dp_reader *r, struct dp_text t, struct dp_subdef *def)
{
    struct dp_fmt_place at = dp_fmt_place(t.ptr, t.len);
    if (at.len == 0 || at.len == t.len)         /* no file, or no line */
        return;
    def->line = at.line;
    def->file = decode_field(r, text_of(at.file, at.len));
    if (!def->file.len)
        def->line = 0;
}

/* Reads an optional field of an & line, KEY=VALUE. Keys of later versions are ignored. */
static void read_key_value(struct dp_reader *r, struct dp_text t, struct dp_subdef *def)
{
    if (starts_with(t, "kind=")) {
        def->xs = is_same(t, "kind=xs");
        def->builtin = is_same(t, "kind=builtin");
        def->phase = is_same(t, "kind=phase");
        def->span = is_same(t, "kind=span");
    } else if (starts_with(t, "autoload=")) {
        def->autoload = decode_field(r, text_of(t.ptr + 9, t.len - 9));
    } else if (starts_with(t, "in=")) {
        def->in = decode_field(r, text_of(t.ptr + 3, t.len - 3));
    } else if (starts_with(t, "seq=") && !dp_num_dec(t.ptr + 4, t.len - 4, &def->seq)) {
        def->seq = 0;
    }
}

int dp_reader_sub(struct dp_reader *r, const struct dp_subdef *def, uint32_t *sub)
{
    int64_t n = r->to->sub(r->to->ctx, def);
    if (n < 0)
        return dp_reader_fail(r, (int)n, 0, "%s", dp_err_text((int)n));
    *sub = (uint32_t)n;
    return 0;
}

/* Splits a line at blanks; fields beyond FIELDS are left out. Returns the number of fields. */
static int split_fields(const char *p, size_t len, struct dp_text f[FIELDS])
{
    const char *end = p + len;
    int n = 0;
    while (n < FIELDS) {
        while (p < end && dp_is_space(*p))
            p++;
        if (p == end)
            break;
        f[n].ptr = p;
        while (p < end && *p != ' ' && *p != '\t' && *p != '\r' && *p != '\f')
            p++;
        f[n].len = (size_t)(p - f[n].ptr);
        n++;
    }
    return n;
}

/* Handles an & line, which gives an id its sub: `& ID PACKAGE NAME FILE:LINE KEY=VALUE...`. f: its
 * n fields; ptr, len: the whole line, for messages. */
static int read_name_line(struct dp_reader *r, const struct dp_text *f, int n, const char *ptr,
                          size_t len)
{
    struct dp_subdef def;
    uint32_t sub;
    memset(&def, 0, sizeof def);
    if (n < 4 || !dp_num_hex(f[1].ptr, f[1].len, &def.id))
        return dp_reader_bad_line(r, ptr, len);
    dp_buf_clear(&r->ids.scratch);
    if (!dp_buf_room(&r->ids.scratch, len))
        return no_memory(r);
    def.package = decode_field(r, f[2]);
    def.name = decode_field(r, f[3]);
    def.file = def.autoload = def.in = text_of("", 0);
    if (n > 4)
        split_place(r, f[4], &def);
    for (int i = 5; i < n; i++)
        read_key_value(r, f[i], &def);
    int rc = dp_reader_sub(r, &def, &sub);
    if (rc < 0)
        return rc;
    rc = name_id(r, &f[1], def.id, sub, def.phase);
    return rc < 0 ? dp_reader_fail(r, rc, 0, "%s", dp_err_text(rc)) : 0;
}

int dp_reader_name(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_text f[FIELDS];
    int n = split_fields(ptr, len, f);
    if (n == 0 || !is_same(f[0], "&"))
        return dp_reader_bad_line(r, ptr, len);
    return read_name_line(r, f, n, ptr, len);
}

void dp_reader_forget_ids(struct dp_reader *r)
{
    if (r->ids.near)
        memset(r->ids.near, 0, r->ids.near_cap * sizeof *r->ids.near);
    dp_map_clear(&r->ids.far);
    r->ids.count = 0;
    r->ids.max = 0;
    if (r->to->ids_anew)
        r->to->ids_anew(r->to->ctx);
}

/* The number of bytes of the kind of span that begins the name; 0: it is no span's. `http::Request`
 * is a sub. */
static size_t span_kind(struct dp_text t)
{
    static const char *const kinds[] = {
#define KIND(word) word,
        DP_FMT_SPAN_KINDS(KIND)
#undef KIND
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = strlen(kinds[i]);
        if (starts_with(t, kinds[i]) && t.len > n + 1 && t.ptr[n] == ':' && t.ptr[n + 1] != ':')
            return n;
    }
    return 0;
}

/* Splits package and name. A colon separates the name of a builtin, or the text of a span. */
static void split_name(struct dp_text t, struct dp_subdef *def)
{
    size_t kind = span_kind(t);
    def->name = t;
    if (kind) {
        def->span = true;
        def->package = text_of(t.ptr, kind);
        def->name = text_of(t.ptr + kind + 1, t.len - kind - 1);
        return;
    }
    if (starts_with(t, "CORE:") && t.len > 5 && !memchr(t.ptr + 5, ':', t.len - 5)) {
        def->builtin = true;
        def->package = text_of(t.ptr, 4);
        def->name = text_of(t.ptr + 5, t.len - 5);
        return;
    }
    for (size_t i = t.len; i > 2; i--)
        if (t.ptr[i - 1] == ':' && t.ptr[i - 2] == ':') {
            def->package = text_of(t.ptr, i - 2);
            def->name = text_of(t.ptr + i, t.len - i);
            return;
        }
}

void dp_reader_subdef(struct dp_subdef *def, struct dp_text name)
{
    memset(def, 0, sizeof *def);
    def->file = def->autoload = def->in = def->package = text_of("", 0);
    split_name(name, def);
}

int dp_reader_by_name(struct dp_reader *r, struct dp_text t, uint32_t *sub)
{
    size_t before = r->ids.names.count;
    /* Make room first, so that each known name has an element even if something fails. */
    if (dp_mem_grow((void **)&r->ids.name_subs, &r->ids.name_subs_cap, before + 1,
                    sizeof *r->ids.name_subs) < 0)
        return no_memory(r);
    uint32_t n = dp_pool_intern(&r->ids.names, t.ptr, t.len);
    if (n == DP_MAP_NONE)
        return no_memory(r);
    if (n < before)
        return *sub = r->ids.name_subs[n], 0;
    if (r->ids.names.count > DP_LIMIT_IDS)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "%s", dp_err_text(DP_E_LIMIT));
    struct dp_subdef def;
    dp_reader_subdef(&def, t);
    int rc = dp_reader_sub(r, &def, sub);
    if (rc == 0)
        r->ids.name_subs[n] = *sub;
    return rc;
}

/* ---- times ---- */

/* Reads a time. A clock that was set back gives negative numbers: then no time has passed. */
static bool read_ticks(struct dp_text t, uint64_t *out)
{
    if (t.len > 1 && t.ptr[0] == '-') {
        bool ok = dp_num_dec(t.ptr + 1, t.len - 1, out);
        *out = 0;
        return ok;
    }
    return dp_num_dec(t.ptr, t.len, out);
}

/* Adds ticks that passed since the line before. They wait in r->t for the next mark; ticks within
 * the classic recorder's writing belong to no sub, and only count as passed. Returns false if the
 * sum is too large. */
static bool pass_time(struct dp_reader *r, const uint64_t t[DP_METRICS])
{
    for (int m = 0; m < DP_METRICS; m++) {
        if (t[m] >= DP_LIMIT_INTERVAL || r->t[m] + t[m] >= DP_LIMIT_INTERVAL)
            return false;
        if (r->trace.writing)
            r->passed[m] += t[m];
        else
            r->t[m] += t[m];
        if (r->trace.has_clock)
            r->trace.clock[m] += t[m];
    }
    return true;
}

/* Adds the counters that follow the times of a line. Missing columns are 0. Returns false if one is
 * no number, or the sum is too large. */
static bool read_columns(struct dp_reader *r, const struct dp_text *f, size_t n)
{
    for (size_t k = 0; k < n && k < r->n_counts; k++) {
        uint64_t count;
        if (!dp_num_dec(f[k].ptr, f[k].len, &count) || count >= DP_LIMIT_COUNT - r->c[k])
            return false;
        if (!r->trace.writing)
            r->c[k] += count;
    }
    return true;
}

/* Handles an old-style line's absolute times: adds the time since the clock was last set. */
static bool set_clock(struct dp_reader *r, const uint64_t now[DP_METRICS])
{
    uint64_t t[DP_METRICS];
    for (int m = 0; m < DP_METRICS; m++)
        t[m] = r->trace.has_clock && now[m] > r->trace.clock[m] ? now[m] - r->trace.clock[m] : 0;
    if (!pass_time(r, t))
        return false;
    memcpy(r->trace.clock, now, sizeof r->trace.clock);
    r->trace.has_clock = true;
    return true;
}

/* ---- lines ---- */

/* Handles a line of a mark in any of its forms: an id, a name after &, or the classic recorder's
 * old form with absolute times before the name. The bracket of DP_FMT_WRITE around the classic
 * recorder's own writing is no call. */
static int take_mark(struct dp_reader *r, int op, const struct dp_text *f, int n, const char *ptr,
                     size_t len)
{
    uint64_t t[DP_METRICS], id;
    uint32_t sub = DP_SUB_NONE;
    struct dp_text name = text_of("", 0);
    bool by_id = false;
    if (n >= 4 && f[1].ptr[0] != '&' && read_ticks(f[1], &t[0]) && read_ticks(f[2], &t[1])
        && read_ticks(f[3], &t[2])) {
        if (n > 4)
            name = f[4];
        if (!set_clock(r, t))
            return dp_reader_bad_line(r, ptr, len);
    } else if (n >= 3 && is_same(f[1], "&")) {
        name = f[2];
    } else if (n >= 2 && dp_num_hex(f[1].ptr, f[1].len, &id)) {
        by_id = true;
    } else {
        return dp_reader_bad_line(r, ptr, len);
    }
    if (!by_id && is_same(name, DP_FMT_WRITE) && (op == DP_OP_ENTER || op == DP_OP_LEAVE)) {
        r->trace.writing = op == DP_OP_ENTER;
        return 0;
    }
    if (by_id) {
        bool found = dp_reader_find(r, id, &sub);
        /* The frame on top ends, whatever the id is. */
        bool enters = op == DP_OP_ENTER || op == DP_OP_GOTO;
        if (enters && !found)
            return dp_reader_bad_line(r, ptr, len);
        if (enters && dp_reader_is_phase(r, id))
            return dp_reader_fail(r, DP_E_SYNTAX, 0,
                                  "Bad profile: a phase is no sub to be called: %.*s",
                                  len > 160 ? 160 : (int)len, ptr);
    } else {
        int rc = dp_reader_by_name(r, name, &sub);
        if (rc < 0)
            return rc;
    }
    r->info->marks++;
    dp_reader_event(r, op, sub, r->in.base + (uint64_t)(ptr - r->in.buf));
    return r->n_events == DP_READER_BATCH ? dp_reader_flush(r) : 0;
}

/* Handles comments with a meaning: phases, suspend and resume. Other comments, and such lines with
 * unexpected contents, are ignored. */
static int take_note(struct dp_reader *r, const struct dp_text *f, int n, const char *ptr)
{
    static const struct { const char *word; int op; } notes[] = {
#define NOTE(name, word) { word, DP_OP_##name },
        DP_RAW_EACH_NOTE(NOTE)
#undef NOTE
    };
    uint64_t number;
    uint32_t sub = 0;
    size_t k = 0;
    if (n != 3 || f[0].len != 1)
        return 0;
    while (k < DP_ARRAY_LEN(notes) && !is_same(f[1], notes[k].word))
        k++;
    if (k == DP_ARRAY_LEN(notes))
        return 0;
    bool is_phase = notes[k].op == DP_OP_PHASE;
    if (is_phase ? !dp_num_hex(f[2].ptr, f[2].len, &number) || !dp_reader_find(r, number, &sub)
                 : !dp_num_dec(f[2].ptr, f[2].len, &number) || number > DP_LIMIT_DEPTH)
        return 0;
    dp_reader_event(r, notes[k].op, is_phase ? sub : (uint32_t)number,
                    r->in.base + (uint64_t)(ptr - r->in.buf));
    return r->n_events == DP_READER_BATCH ? dp_reader_flush(r) : 0;
}

/* Handles a line of a trace in the slow way. The fast path below leaves it every line that is no
 * time or mark of the usual shape. */
static DP_NOINLINE int read_line(struct dp_reader *r, const char *ptr, size_t len)
{
    struct dp_text f[FIELDS];
    int n = split_fields(ptr, len, f);
    if (n == 0)
        return 0;
    if (f[0].ptr[0] == '#') {
        int rc = dp_reader_comment(r, ptr, len);
        return rc < 0 ? rc : take_note(r, f, n, ptr);
    }
    if (is_same(f[0], DP_FMT_PART3)) {
        int rc = dp_reader_flush(r);
        return rc < 0 ? rc : dp_reader_begin_tree(r);
    }
    if (f[0].len != 1)
        return dp_reader_bad_line(r, ptr, len);
    char c = f[0].ptr[0];
    if (c == '@') {
        uint64_t t[DP_METRICS];
        if (n < 4 || !read_ticks(f[1], &t[0]) || !read_ticks(f[2], &t[1])
            || !read_ticks(f[3], &t[2])
            || !pass_time(r, t) || !read_columns(r, f + 4, (size_t)n - 4))
            return dp_reader_bad_line(r, ptr, len);
        return 0;
    }
    if (c == '&')
        return read_name_line(r, f, n, ptr, len);
    if (op_of[(unsigned char)c])
        return take_mark(r, op_of[(unsigned char)c], f, n, ptr, len);
    return dp_reader_bad_line(r, ptr, len);
}

/* Reads a time line of the usual shape at p, 1 to 7 digits each. Returns the start of the next
 * line, or NULL. */
DP_INLINE const char *usual_time(const char *p, uint64_t t[DP_METRICS])
{
    unsigned n;
    if (p[1] != ' ')
        return NULL;
    p += 2;
    if (!(n = dp_num_short(p, &t[0])) || p[n] != ' ')
        return NULL;
    p += n + 1;
    if (!(n = dp_num_short(p, &t[1])) || p[n] != ' ')
        return NULL;
    p += n + 1;
    if (!(n = dp_num_short(p, &t[2])) || p[n] != '\n')
        return NULL;
    return p + n + 1;
}

/* Can the fast path add up the times of a mark? Not while times of lines before it wait for the
 * mark, and not with counters, brackets or absolute times. */
static bool is_plain(const struct dp_reader *r)
{
    return !r->n_counts && !r->trace.writing && !r->trace.has_clock
           && !(r->t[0] | r->t[1] | r->t[2]);
}

/* The places of a time line and a mark of the usual shape. */
struct pair {
    uint64_t key, value;        /* id of the mark */
    const char *mark;           /* line of the mark */
    const char *next;           /* end of the mark's line */
};

#ifdef DP_READER_WIDE
/* Loads two numbers as eight digits each, for numbers2: one of n characters that ends before p, and
 * one of m characters that ends before q. */
DP_INLINE __m128i digits2(const char *p, unsigned n, const char *q, unsigned m)
{
    static const uint64_t keep[8] = {
        0, UINT64_C(0xff) << 56, UINT64_C(0xffff) << 48, UINT64_C(0xffffff) << 40,
        UINT64_C(0xffffffff) << 32,
        UINT64_C(0xffffffffff) << 24, UINT64_C(0xffffffffffff) << 16,
        UINT64_C(0xffffffffffffff) << 8,
    };
    __m128i x = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)(p - 8)),
                                   _mm_loadl_epi64((const __m128i *)(q - 8)));
    __m128i mask = _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)&keep[n]),
                                      _mm_loadl_epi64((const __m128i *)&keep[m]));
    return _mm_and_si128(_mm_sub_epi8(x, _mm_set1_epi8('0')), mask);
}

/* Converts the two groups of eight digits that digits2 has loaded into two numbers. */
DP_INLINE __m128i numbers2(__m128i x)
{
    __m128i tens = _mm_mullo_epi16(_mm_and_si128(x, _mm_set1_epi16(0xff)), _mm_set1_epi16(10));
    x = _mm_add_epi16(tens, _mm_srli_epi16(x, 8));
    x = _mm_madd_epi16(x, _mm_set1_epi32(1 << 16 | 100));
    return _mm_add_epi64(_mm_mul_epu32(x, _mm_set1_epi32(10000)), _mm_srli_epi64(x, 32));
}

/* Finds the separators of both lines at once, so a long chain of loads becomes a short one. Puts
 * the times into t. Returns false if 32 bytes do not contain both lines; then t is not valid. */
DP_INLINE bool wide_pair(const char *p, struct pair *pair, uint64_t t[DP_METRICS])
{
    const __m128i sp = _mm_set1_epi8(' '), nl = _mm_set1_epi8('\n');
    __m128i lo = _mm_loadu_si128((const __m128i *)p);
    __m128i hi = _mm_loadu_si128((const __m128i *)(p + 16));
    uint32_t ends = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(lo, nl))
                  | (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(hi, nl)) << 16;
    uint32_t m = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(lo, sp))
               | (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(hi, sp)) << 16;
    uint32_t line1 = ends & (0 - ends);
    uint32_t rest = ends ^ line1, upto = rest ^ (rest - 1);     /* all bits up to the second end */
    m = (m | ends) & upto;
    /* "@ U S R\n+ ID\n" has six separators: at 1, two more, the end, two after it, the end; no two
     * are adjacent */
    uint32_t m2 = m & (m - 1), m3 = m2 & (m2 - 1), m4 = m3 & (m3 - 1);
    uint32_t m5 = m4 & (m4 - 1), m6 = m5 & (m5 - 1);
    if (DP_UNLIKELY((m & (m << 1)) || (m & 3) != 2 || !rest || (m4 & (0 - m4)) != line1
                    || (m5 ^ m6) != line1 << 2 || (m6 & (m6 - 1)) || !m6))
        return false;
    unsigned s2 = (unsigned)__builtin_ctz(m2), s3 = (unsigned)__builtin_ctz(m3);
    unsigned s4 = (unsigned)__builtin_ctz(line1), s6 = (unsigned)__builtin_ctz(m6);
    unsigned n0 = s2 - 2, n1 = s3 - s2 - 1, n2 = s4 - s3 - 1, id = s6 - s4 - 3;
    if (DP_UNLIKELY((n0 | n1 | n2 | id) > 7))
        return false;
    __m128i a = digits2(p + s2, n0, p + s3, n1), b = digits2(p + s4, n2, p + s4, 0);
    __m128i over = _mm_or_si128(_mm_subs_epu8(a, _mm_set1_epi8(9)),
                                _mm_subs_epu8(b, _mm_set1_epi8(9)));
    if (DP_UNLIKELY(_mm_movemask_epi8(_mm_cmpeq_epi8(over, _mm_setzero_si128())) != 0xffff))
        return false;
    _mm_storeu_si128((__m128i *)t, numbers2(a));
    _mm_storel_epi64((__m128i *)(t + 2), numbers2(b));
    uint64_t w;
    memcpy(&w, p + s4 + 3, 8);
    pair->key = w & ((UINT64_C(1) << 8 * id) - 1);
    pair->value = id_value(pair->key, id);
    pair->mark = p + s4 + 1;
    pair->next = p + s6 + 1;
    return true;
}
#else
#  define wide_pair(p, pair, t) false
#endif

/* Reads a time line and a mark of the usual shape, as wide_pair does, but one character at a time:
 * for numbers that wide_pair cannot read, or a mark without a time line. */
static bool any_pair(const char *p, const char *end, struct pair *pair, uint64_t t[DP_METRICS])
{
    t[0] = t[1] = t[2] = 0;
    pair->mark = p;
    if (*p == '@') {
        pair->mark = usual_time(p, t);
        if (!pair->mark || pair->mark >= end)
            return false;
    }
    unsigned n = pair->mark[1] == ' ' ? short_id(pair->mark + 2, &pair->key, &pair->value) : 0;
    pair->next = pair->mark + n + 3;
    return n != 0;
}

/* Reads as many lines of the usual shape as follow p, which are nearly all lines. Returns the place
 * where it stops. */
static const char *usual_lines(struct dp_reader *r, const char *p, const char *end)
{
    struct dp_event *ev = r->events + r->n_events;
    struct dp_event *const full = r->events + DP_READER_BATCH;
    const struct dp_reader_id *ids = r->ids.near;
    const size_t ids_cap = r->ids.near_cap;
    uint64_t p0 = 0, p1 = 0, p2 = 0, lines = 0;
    const uint64_t offset = r->in.base - (uint64_t)(uintptr_t)r->in.buf;
    struct pair pair;
    while (p < end && ev < full) {
        /* the padding after the data has old bytes: nothing beyond end counts */
        if (!(*p == '@' && wide_pair(p, &pair, ev->t) && pair.next <= end)
            && !any_pair(p, end, &pair, ev->t))
            break;
        unsigned op = op_of[(unsigned char)*pair.mark];
        if (DP_UNLIKELY(!op || pair.value >= ids_cap || ids[pair.value].key != pair.key))
            break;
        ev->sub = ids[pair.value].sub;
        ev->op = op;
        ev->at = (uint64_t)(uintptr_t)pair.mark + offset;
        p0 += ev->t[0];
        p1 += ev->t[1];
        p2 += ev->t[2];
        ev++;
        lines += 1 + (pair.mark != p);
        p = pair.next;
    }
    r->passed[0] += p0;
    r->passed[1] += p1;
    r->passed[2] += p2;
    r->in.line += lines;
    r->info->marks += (uint64_t)(ev - (r->events + r->n_events));
    r->n_events = (size_t)(ev - r->events);
    return p;
}

/* Can the fast path for lines with counters add up the times and counts? Not with brackets or
 * absolute times. */
static bool is_counted(const struct dp_reader *r)
{
    return r->n_counts && !r->trace.writing && !r->trace.has_clock;
}

/* Reads a number and moves *p after it. Returns false if there is none. A number with more than 15
 * digits ends after 15 of them: the caller must refuse a digit at *p, and leave the line to a
 * slower function. */
DP_INLINE bool plain_number(const char **p, uint64_t *out)
{
    uint64_t n = 0;
    const char *s = *p;
    while (dp_is_digit(*s) && s - *p < 15)
        n = n * 10 + (uint64_t)(*s++ - '0');
    *out = n;
    bool good = s != *p;
    *p = s;
    return good;
}

/* Reads "@ U S R C ...\n" at p and adds it up. Returns the start of the next line, or NULL if a
 * slower function must read the line: its shape is another, or a number is too large. */
static const char *counted_time(struct dp_reader *r, const char *p)
{
    uint64_t v[DP_METRICS + DP_FMT_COUNTERS];
    size_t n = DP_METRICS + r->n_counts;
    p++;
    for (size_t i = 0; i < n; i++) {
        if (*p++ != ' ' || !plain_number(&p, &v[i]) || v[i] >= DP_LIMIT_INTERVAL / 4)
            return NULL;
    }
    if (*p != '\n')
        return NULL;
    for (int m = 0; m < DP_METRICS; m++)
        if (r->t[m] + v[m] >= DP_LIMIT_INTERVAL)
            return NULL;
    for (size_t k = 0; k < r->n_counts; k++)
        if (v[DP_METRICS + k] >= DP_LIMIT_COUNT - r->c[k])
            return NULL;
    for (int m = 0; m < DP_METRICS; m++)
        r->t[m] += v[m];
    for (size_t k = 0; k < r->n_counts; k++)
        r->c[k] += v[DP_METRICS + k];
    return p + 1;
}

/* Reads marks like usual_lines, but for lines with counters. Returns the start of the first line
 * that it has not read. end follows a line's end, so nothing reads beyond it. */
static const char *counted_lines(struct dp_reader *r, const char *p, const char *end)
{
    while (p < end && r->n_events < DP_READER_BATCH) {
        uint64_t key, value;
        if (*p == '@') {
            const char *next = counted_time(r, p);
            if (!next)
                break;
            r->in.line++;
            p = next;
            continue;
        }
        unsigned op = op_of[(unsigned char)*p];
        unsigned n = op && p[1] == ' ' ? short_id(p + 2, &key, &value) : 0;
        if (!n || p + n + 3 > end || value >= r->ids.near_cap || r->ids.near[value].key != key)
            break;
        r->info->marks++;
        dp_reader_event(r, (int)op, r->ids.near[value].sub, r->in.base + (uint64_t)(p - r->in.buf));
        r->in.line++;
        p += n + 3;
    }
    return p;
}

int dp_reader_begin_tree(struct dp_reader *r)
{
    int rc = 0;
    bool counted = false;
    for (size_t k = 0; k < r->n_counts; k++)
        counted = counted || r->c[k];
    if (counted || (r->t[0] | r->t[1] | r->t[2])) {
        dp_reader_event(r, DP_OP_TIME, DP_SUB_NONE, r->in.base + r->in.pos);
        rc = dp_reader_flush(r);
    }
    if (rc < 0)
        return rc;
    memcpy(r->tree.before, r->passed, sizeof r->passed);
    r->tree.on = r->info->tree = true;
    return r->to->tree ? r->to->tree(r->to->ctx, r->err) : 0;
}

int dp_reader_lines(struct dp_reader *r, const char *end)
{
    const char *p = r->in.buf + r->in.pos;
    while (p < end && !r->tree.on) {
        if (is_plain(r) || is_counted(r)) {
            p = r->n_counts ? counted_lines(r, p, end) : usual_lines(r, p, end);
            r->in.pos = (size_t)(p - r->in.buf);
            if (r->n_events == DP_READER_BATCH) {
                int rc = dp_reader_flush(r);
                if (rc < 0)
                    return rc;
                continue;
            }
            if (p == end)
                break;
        }
        const char *nl = memchr(p, '\n', (size_t)(end - p));
        int rc = read_line(r, p, (size_t)(nl - p));
        if (rc < 0) {
            /* hands over the valid events before; if the consumer refuses one, that is the first
             * error */
            struct dp_err later = *r->err;
            dp_err_init(r->err);
            int before = dp_reader_flush(r);
            if (before == 0)
                *r->err = later;
            return before < 0 ? before : rc;
        }
        p = nl + 1;
        r->in.pos = (size_t)(p - r->in.buf);
        r->in.line++;
    }
    return 0;
}
