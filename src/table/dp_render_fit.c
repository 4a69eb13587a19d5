/* Text that must fit a terminal, and numbers for people. */
#include "dp_render.h"
#include "dp_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char dots[] = "...";

void dp_render_grouped(struct dp_buf *buf, uint64_t n)
{
    if (n >= 1000) {
        dp_render_grouped(buf, n / 1000);   /* six times at most */
        dp_buf_addf(buf, ",%03" PRIu64, n % 1000);
    } else {
        dp_buf_addu(buf, n);
    }
}

/* Ticks are multiplied before they are divided, and halves of the last digit are rounded here. The
 * products are exact, so machines that calculate with more digits print the same. */
void dp_render_human(struct dp_buf *buf, double value, uint64_t hz, bool is_time)
{
    static const double ten[] = { 1, 10, 100, 1000 };
    double by = hz ? (double)hz : 1;
    const struct dp_time_unit *unit = dp_render_time_unit(value == 0 ? by : fabs(value), by, 1);
    value *= is_time ? unit->per_second : 1;
    double v = value / by;
    int decimals = v == 0 || (!hz && v == floor(v)) ? 0 : fabs(v) < 10 ? 3 : fabs(v) < 100 ? 2 : 1;
    dp_render_real(buf, decimals ? round(value * ten[decimals] / by) / ten[decimals] : v, decimals,
                   false);
    if (is_time)
        dp_buf_addf(buf, " %s", unit->name);
}

/* Appends a number that a user gave, with as few decimals as it has, up to 6. */
void dp_render_given(struct dp_buf *buf, double value)
{
    unsigned decimals = 0;
    double whole = value;
    while (decimals < 6 && fabs(whole - floor(whole + 0.5)) > 1e-7) {
        decimals++;
        whole *= 10;
    }
    dp_render_real(buf, value, decimals, false);
}

/* The number of bytes at the beginning that take `columns` columns at most. Combining marks stay
 * with their characters. */
static size_t head_of(const char *ptr, size_t len, size_t columns)
{
    size_t at = 0, taken = 0;
    while (at < len) {
        size_t n = dp_text_char(ptr + at, len - at);
        n = n ? n : 1;
        size_t wide = dp_text_columns(ptr + at, n);
        if (taken + wide > columns)
            break;
        taken += wide;
        at += n;
    }
    return at;
}

void dp_render_cut(struct dp_buf *buf, const char *ptr, size_t len, size_t columns)
{
    size_t all = dp_text_columns(ptr, len),
           keep = columns > sizeof dots ? columns - (sizeof dots - 1) : 1;
    if (all <= columns) {
        dp_buf_add(buf, ptr, len);
        return;
    }
    size_t front = keep / 2, head = head_of(ptr, len, front);
    size_t tail = head_of(ptr, len, all - (keep - front));
    /* a wide character lies across the edge */
    if (dp_text_columns(ptr + tail, len - tail) > keep - front && tail < len) {
        size_t n = dp_text_char(ptr + tail, len - tail);
        tail += n ? n : 1;
    }
    dp_buf_add(buf, ptr, head);
    dp_buf_adds(buf, dots);
    dp_buf_add(buf, ptr + tail, len - tail);
}

/* Prints one line, and breaks it at blanks where it is too wide. See dp_render_wrapped. */
static void wrap_line(struct dp_sink *sink, const char *ptr, size_t len, size_t width,
                      const char *indent)
{
    size_t column = 0, margin = strlen(indent);
    struct dp_buf word;
    dp_buf_init(&word);
    for (size_t at = 0; at < len;) {
        size_t blanks = 0, n;
        while (at + blanks < len && ptr[at + blanks] == ' ')
            blanks++;
        for (n = 0; at + blanks + n < len && ptr[at + blanks + n] != ' ';)
            n++;
        word.len = 0;
        size_t wide = dp_text_columns(ptr + at + blanks, n);
        bool breaks = column > margin && column + blanks + wide > width;
        if (breaks) {
            dp_sink_adds(sink, "\n");
            dp_sink_adds(sink, indent);
            column = margin;
        } else {
            dp_sink_blanks(sink, blanks);
            column += blanks;
        }
        dp_render_cut(&word, ptr + at + blanks, n, width > column + 8 ? width - column : 8);
        dp_sink_add(sink, word.ptr, word.len);
        column += dp_text_columns(word.ptr, word.len);
        at += blanks + n;
    }
    dp_buf_release(&word);
}

void dp_render_wrapped(struct dp_sink *sink, const char *ptr, size_t len, size_t width,
                       const char *indent)
{
    while (len && width) {
        const char *nl = memchr(ptr, '\n', len);
        size_t n = nl ? (size_t)(nl - ptr) : len;
        wrap_line(sink, ptr, n, width, indent);
        if (nl)
            dp_sink_adds(sink, "\n");
        ptr += n + (nl != NULL);
        len -= n + (nl != NULL);
    }
    dp_sink_add(sink, ptr, len);
}
