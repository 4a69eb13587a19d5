#include "dp_writer.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

DP_CHECK(words_of_a_reading, (int)DP_RAW_CPU_WORDS == (int)DP_PIECE_CPU_WORDS);

enum {
    TEXT_SIZE = 128 * 1024,
    LINES_MAX = 512,            /* largest number of bytes of a mark and its @ line */
    FRACTION = 40               /* bits of a tick's fraction */
};

#define FRACTION_MASK   ((UINT64_C(1) << FRACTION) - 1)

int dp_writer_init(struct dp_writer *w, uint64_t hz,
                   int (*sink)(void *, const char *, size_t), void *sink_arg)
{
    memset(w, 0, sizeof *w);
    w->hz = hz;
    w->sink = sink;
    w->sink_arg = sink_arg;
    w->next_id = 1;
    dp_buf_init(&w->names);
    w->text = dp_mem_alloc(TEXT_SIZE);
    w->times = dp_mem_realloc(NULL, DP_TIME_LINES, sizeof *w->times);
    if (!w->text || !w->times
        || dp_mem_grow((void **)&w->ids, &w->ids_cap, 1, sizeof *w->ids) < 0
        || dp_mem_grow((void **)&w->id_names, &w->id_names_cap, 1, sizeof *w->id_names) < 0)
        return DP_E_NOMEM;
    /* A window that is lost while it is written (dp_live_lose) has marks without a sub. */
    memset(&w->ids[0], 0, sizeof w->ids[0]);
    w->id_names[0] = (struct dp_idname){ 0, true };
    for (unsigned n = 0; n < DP_TIME_LINES; n++) {
        char *p = w->times[n].text;
        *p++ = '@';
        *p++ = ' ';
        p = dp_buf_putu(p, n);
        memcpy(p, " 0 ", 3);
        p = dp_buf_putu(p + 3, n);
        *p++ = '\n';
        w->times[n].len = (uint8_t)(p - w->times[n].text);
    }
    return 0;
}

void dp_writer_release(struct dp_writer *w)
{
    dp_mem_free(w->text);
    dp_mem_free(w->ids);
    dp_mem_free(w->times);
    dp_mem_free(w->id_names);
    dp_buf_release(&w->names);
    memset(w, 0, sizeof *w);
}

void dp_writer_restart(struct dp_writer *w)
{
    w->names_done = w->names.len;
    w->lazy = true;
    for (uint32_t id = 1; id < w->next_id; id++)
        w->id_names[id].done = false;
    w->acc_real = w->acc_wait = w->acc_sys = 0;
    memset(&w->pending, 0, sizeof w->pending);
    memset(&w->sums, 0, sizeof w->sums);
    memset(w->pending_counts, 0, sizeof w->pending_counts);
    w->marks = 0;
    w->err = 0;
}

static int to_sink(struct dp_writer *w, const char *ptr, size_t len)
{
    if (len && !w->err)
        w->err = w->sink(w->sink_arg, ptr, len);
    return w->err;
}

static char *spill_text(struct dp_writer *w, char *out)
{
    to_sink(w, w->text, (size_t)(out - w->text));
    return w->text;
}

/* ---- names ---- */

/* Writes a number in hexadecimal, without leading zeros. Returns its length. */
static size_t hex_text(char *to, uint32_t n)
{
    static const char digits[] = "0123456789abcdef";
    size_t len = 1;
    while (len < 8 && n >> 4 * len)
        len++;
    for (size_t i = 0; i < len; i++)
        to[i] = digits[n >> 4 * (len - 1 - i) & 15];
    return len;
}

uint32_t dp_writer_name(struct dp_writer *w, const char *line, size_t len)
{
    uint32_t id = w->next_id;
    if (id > DP_RAW_ID_MAX
        || dp_mem_grow((void **)&w->ids, &w->ids_cap, (size_t)id + 1, sizeof *w->ids) < 0
        || dp_mem_grow((void **)&w->id_names, &w->id_names_cap, (size_t)id + 1, sizeof *w->id_names)
               < 0)
        return 0;
    struct dp_line *it = &w->ids[id];
    memset(it, 0, sizeof *it);
    memcpy(it->text, "+ ", 2);
    size_t n = hex_text(it->text + 2, id);
    size_t at = w->names.len;
    dp_buf_adds(&w->names, "& ");
    dp_buf_add(&w->names, it->text + 2, n);
    dp_buf_addc(&w->names, ' ');
    dp_buf_add(&w->names, line, len);
    dp_buf_addc(&w->names, '\n');
    if (w->names.err) {
        w->names.len = at;
        return 0;
    }
    w->id_names[id].at = at;
    w->id_names[id].done = false;
    it->text[n + 2] = '\n';
    it->len = (uint8_t)(n + 3);
    w->next_id++;
    return id;
}

/* Writes the & line of an id, unless the file has it already. Only a lazy writer calls this, so it
 * leaves out names that no mark needs. */
static void write_name(struct dp_writer *w, uint32_t id)
{
    struct dp_idname *name = &w->id_names[id];
    if (!name->done) {
        size_t end = id + 1 < w->next_id ? w->id_names[id + 1].at : w->names.len;
        to_sink(w, w->names.ptr + name->at, end - name->at);
        name->done = true;
    }
}

/* Writes the names that the marks of a window need. */
static void write_names(struct dp_writer *w, const uint64_t *raw, size_t n)
{
    if (!w->lazy) {
        to_sink(w, w->names.ptr + w->names_done, w->names.len - w->names_done);
        w->names_done = w->names.len;
        return;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t kind = (uint32_t)raw[i] >> DP_RAW_ID_BITS, id = (uint32_t)raw[i] & DP_RAW_ID_MAX;
        if (kind == DP_RAW_CPU)
            i += DP_RAW_CPU_WORDS - 1;
        i += w->n_counts;
        if (kind <= DP_RAW_PHASE)
            write_name(w, id);
    }
}

/* ---- marks ---- */

static const char pairs[] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
    "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
    "8081828384858687888990919293949596979899";

/* Writes a number in decimal, two digits at a time: the writer's speed depends on it. Returns the
 * end of the number. */
static char *put_number(char *out, uint64_t n)
{
    if (DP_LIKELY(n < 10)) {
        *out = (char)('0' + n);
        return out + 1;
    }
    if (DP_LIKELY(n < 100)) {
        memcpy(out, pairs + 2 * n, 2);
        return out + 2;
    }
    char tmp[20];
    char *p = tmp + sizeof tmp;
    while (n >= 100) {
        p -= 2;
        memcpy(p, pairs + 2 * (n % 100), 2);
        n /= 100;
    }
    if (n >= 10) {
        p -= 2;
        memcpy(p, pairs + 2 * n, 2);
    } else {
        *--p = (char)('0' + n);
    }
    size_t len = (size_t)(tmp + sizeof tmp - p);
    memcpy(out, p, len);
    return out + len;
}

/* Copies a line. Always 16 bytes: a copy of constant size is one instruction. */
DP_INLINE char *put_line(char *out, const struct dp_line *line)
{
    memcpy(out, line, sizeof *line);
    return out + line->len;
}

/* Writes an @ line with the ticks and counts since the line before, and resets them. Returns its
 * end. */
static char *put_time(struct dp_writer *w, char *out)
{
    struct dp_ticks *t = &w->pending;
    *out++ = '@';
    *out++ = ' ';
    out = put_number(out, t->user);
    *out++ = ' ';
    out = put_number(out, t->sys);
    *out++ = ' ';
    out = put_number(out, t->real);
    for (size_t i = 0; i < w->n_counts; i++) {
        *out++ = ' ';
        out = put_number(out, w->pending_counts[i]);
        w->pending_counts[i] = 0;
    }
    *out++ = '\n';
    t->user = t->sys = t->real = 0;
    return out;
}

/* Has any time passed that is on no line yet? */
static bool is_pending(const struct dp_writer *w)
{
    uint64_t any = w->pending.real | w->pending.user | w->pending.sys;
    for (size_t i = 0; i < w->n_counts; i++)
        any |= w->pending_counts[i];
    return any != 0;
}

/* Reads the counters after a mark or reading. Returns their end. */
static const uint64_t *take_counts(struct dp_writer *w, const uint64_t *raw)
{
    for (size_t i = 0; i < w->n_counts; i++)
        w->pending_counts[i] += *raw++;
    return raw;
}

/* Adds real ticks that passed; wait: how many of them passed without the CPU. */
static void pass_time(struct dp_writer *w, uint64_t real, uint64_t wait)
{
    uint64_t cpu = real - wait;
    w->acc_sys += cpu * w->sys_share;
    uint64_t sys = w->acc_sys >> 32;
    w->acc_sys &= UINT32_MAX;
    w->pending.real += real;
    w->pending.sys += sys;
    w->pending.user += cpu - sys;
    w->sums.real += real;
    w->sums.sys += sys;
    w->sums.user += cpu - sys;
}

/* Converts stamps into ticks. The product of a long gap has more than 64 bits. */
static uint64_t to_ticks(uint64_t *acc, uint64_t stamps, uint64_t mult)
{
    uint64_t hi = (stamps >> 24) * mult, lo = (stamps & 0xffffff) * mult;
    /* each unit of hi is 2^24 fractions */
    uint64_t ticks = hi >> (FRACTION - 24);
    uint64_t rest = (hi & ((UINT64_C(1) << (FRACTION - 24)) - 1)) << 24;
    *acc += rest;
    ticks += *acc >> FRACTION;
    *acc &= FRACTION_MASK;
    ticks += lo >> FRACTION;
    *acc += lo & FRACTION_MASK;
    ticks += *acc >> FRACTION;
    *acc &= FRACTION_MASK;
    return ticks;
}

/* The ticks of waiting that are due now; whole ticks that do not fit in the gap stay in acc. */
static uint64_t wait_ticks(struct dp_writer *w, uint64_t stamps, uint64_t mult, uint64_t real)
{
    uint64_t frac = w->acc_wait & FRACTION_MASK;
    uint64_t due = (w->acc_wait >> FRACTION) + to_ticks(&frac, stamps, mult);
    uint64_t now = due < real ? due : real;
    uint64_t rest = due - now;
    if (rest > (UINT64_C(1) << 20))     /* prevents overflow of acc */
        rest = UINT64_C(1) << 20;
    w->acc_wait = rest << FRACTION | frac;
    return now;
}

/* Writes a phase, a suspend or a resume as a comment, which the classic tool skips. Returns its
 * end. */
static char *put_note(char *out, uint32_t kind, uint32_t value)
{
#define WORD(name, word) "# " word " ",
    static const char *const words[] = { DP_RAW_EACH_NOTE(WORD) };
#undef WORD
    size_t len = strlen(words[kind - DP_RAW_NOTES]);
    memcpy(out, words[kind - DP_RAW_NOTES], len);
    out += len;
    if (kind == DP_RAW_PHASE)
        out += hex_text(out, value);
    else
        out = put_number(out, value);
    *out++ = '\n';
    return out;
}

struct short_wait {
    uint64_t sum, wait;         /* stamps of the short gaps, and how many of them were waits */
    uint64_t seen, given;
};

/* The stamps that a short gap waited. Only the sum of the waits of several gaps is known (the
 * stretch of *s), and is divided up in proportion to the gaps. */
static uint64_t short_share(struct short_wait *s, uint64_t gap)
{
    s->seen += gap;
    double due = (double)s->wait * ((double)s->seen / (double)s->sum);
    uint64_t total = s->seen >= s->sum ? s->wait : (uint64_t)due;
    uint64_t share = total > s->given ? total - s->given : 0;
    s->given += share;
    return share;
}

/* The first characters of calls' lines. */
static const char signs[] = {
#define SIGN(name, sign) sign,
    DP_RAW_EACH_CALL(SIGN)
#undef SIGN
};

/* Writes a window. counted: with counters; a constant, so windows without counters pay nothing. */
DP_INLINE int write_window(struct dp_writer *w, const uint64_t *raw, size_t n,
                           double ticks_per_stamp, double sys_share, const bool counted)
{
    struct short_wait shorts = { 0, 0, 0, 0 };
    const uint64_t *end = raw + n;
    const uint64_t mult = (uint64_t)(ticks_per_stamp * (double)(UINT64_C(1) << FRACTION) + 0.5);
    const struct dp_line *ids = w->ids, *times = w->times;
    w->sys_share = (uint64_t)(sys_share * 4294967295.0);

    write_names(w, raw, n);
    char *out = w->text;
    char *limit = w->text + TEXT_SIZE - LINES_MAX;
    uint64_t acc = w->acc_real, count = 0;
    /* Only pure user time of a short gap takes the fast way. */
    bool plain = false;

    while (raw < end) {
        uint64_t word = *raw;
        uint32_t kind = (uint32_t)word >> DP_RAW_ID_BITS;
        if (DP_UNLIKELY(kind == DP_RAW_CPU)) {
            uint64_t real = to_ticks(&acc, raw[DP_RAW_LONG_GAP], mult);
            pass_time(w, real, wait_ticks(w, raw[DP_RAW_LONG_WAIT], mult, real));
            shorts.sum = raw[DP_RAW_SHORT_SUM];
            shorts.wait = raw[DP_RAW_SHORT_WAIT];
            shorts.seen = shorts.given = 0;
            plain = false;
            raw += DP_RAW_CPU_WORDS;
            if (counted)
                raw = take_counts(w, raw);
            continue;
        }
        uint64_t gap = word >> 32;
        acc += gap * mult;
        uint64_t real = acc >> FRACTION;
        acc &= FRACTION_MASK;
        plain = plain && kind < DP_RAW_NOTES && !counted;
        if (counted)
            take_counts(w, raw + 1);
        if (DP_UNLIKELY(!plain)) {
            if (shorts.wait)
                pass_time(w, real, wait_ticks(w, short_share(&shorts, gap), mult, real));
            else if (real)
                pass_time(w, real, wait_ticks(w, 0, mult, real));
            if (counted ? is_pending(w) : (w->pending.real | w->pending.user | w->pending.sys) != 0)
                out = put_time(w, out);
            plain = !shorts.wait && !(w->acc_wait >> FRACTION);
        } else if (real) {
            uint64_t sum = w->acc_sys + real * w->sys_share;
            if (DP_LIKELY(sum >> 32 == 0 && real < DP_TIME_LINES)) {
                w->acc_sys = sum;
                w->sums.real += real;
                w->sums.user += real;
                out = put_line(out, &times[real]);
            } else {
                pass_time(w, real, 0);
                out = put_time(w, out);
            }
        }
        if (DP_UNLIKELY(kind >= DP_RAW_NOTES)) {
            out = put_note(out, kind, (uint32_t)word & DP_RAW_ID_MAX);
        } else {
            char *line = out;
            out = put_line(out, &ids[word & DP_RAW_ID_MAX]);
            *line = signs[kind];
            count++;
        }
        raw += counted ? 1 + w->n_counts : 1;
        if (DP_UNLIKELY(out > limit))
            out = spill_text(w, out);
    }
    w->acc_real = acc;
    w->marks += count;
    spill_text(w, out);
    return w->err;
}

int dp_writer_window(struct dp_writer *w, const uint64_t *raw, size_t n, double ticks_per_stamp,
                     double sys_share)
{
    return w->n_counts ? write_window(w, raw, n, ticks_per_stamp, sys_share, true)
                       : write_window(w, raw, n, ticks_per_stamp, sys_share, false);
}

int dp_writer_finish(struct dp_writer *w)
{
    if (is_pending(w))
        spill_text(w, put_time(w, w->text));
    return w->err;
}
