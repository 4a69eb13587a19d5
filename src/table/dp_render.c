#include "dp_render.h"
#include "dp_err.h"
#include "dp_text.h"

#include <math.h>
#include <string.h>

enum { DECIMALS = 40 };

/* ---- numbers ---- */

static size_t put_whole(char *to, uint64_t n) { return (size_t)(dp_buf_putu(to, n) - to); }

static const uint64_t ten[] = {
    1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, UINT64_C(1000000000),
    UINT64_C(10000000000), UINT64_C(100000000000), UINT64_C(1000000000000)
};

/* Returns the number of decimals that seconds of hz ticks need. *exact: this number is exact; else
 * the decimals are rounded. */
static unsigned seconds_decimals(uint64_t hz, bool *exact)
{
    unsigned twos = 0, fives = 0, digits = 0;
    uint64_t n = hz;
    for (; n % 2 == 0; n /= 2)
        twos++;
    for (; n % 5 == 0; n /= 5)
        fives++;
    *exact = n == 1;
    if (*exact)
        return twos > fives ? twos : fives;
    for (n = hz - 1; n; n /= 10)
        digits++;
    return digits;
}

size_t dp_render_seconds(char *to, uint64_t ticks, uint64_t hz)
{
    bool exact;
    hz = hz ? hz : 1;
    size_t len = put_whole(to, ticks / hz);
    uint64_t rest = ticks % hz;
    unsigned decimals = seconds_decimals(hz, &exact);
    if (!decimals)
        return len;
    to[len++] = '.';
    if (exact && decimals <= 12) {              /* nearly always so, and needs no division for each
                                                 * digit */
        dp_buf_putd(to + len, rest * (ten[decimals] / hz), decimals);
        return len + decimals;
    }
    for (unsigned i = 0; i < decimals; i++) {
        rest *= 10;
        to[len++] = (char)('0' + rest / hz);
        rest %= hz;
    }
    /* the decimals are never all nines: that would be less than a tick from the next second */
    if (!exact && rest >= hz - rest) {
        size_t i = len - 1;
        for (; to[i] == '9'; i--)
            to[i] = '0';
        to[i]++;
    }
    return len;
}

/* Writes v, which is not negative, with the same digits as the C library, which rounds the double's
 * exact value. The library itself formats large numbers, and products that are too close to a half.
 * Returns the length. */
static size_t put_real(char *to, double v, unsigned decimals)
{
    if (decimals > 6 || v * (double)ten[decimals] >= 1e9)
        return dp_text_real(to, DP_NUMBER_MAX - 1, v, decimals < DECIMALS ? decimals : DECIMALS);
    double scaled = v * (double)ten[decimals];
    uint32_t n = (uint32_t)scaled;
    double over = scaled - n - 0.5;
    if (over > -1e-6 && over < 1e-6)
        return dp_text_real(to, DP_NUMBER_MAX - 1, v, decimals);
    n += over > 0;
    size_t len = put_whole(to, n / (uint32_t)ten[decimals]);
    if (decimals)
        to[len++] = '.';
    dp_buf_putd(to + len, n, decimals);
    return len + decimals;
}

/* Has the text of a number no digit but 0? */
static bool is_zero(const char *ptr, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (ptr[i] >= '1' && ptr[i] <= '9')
            return false;
    return true;
}

bool dp_render_has_value(const struct dp_cell *cell)
{
    if (cell->kind == DP_CELL_PERCENT || cell->kind == DP_CELL_REAL)
        return isfinite(cell->real);
    return cell->kind != DP_CELL_EMPTY && cell->kind != DP_CELL_JSON
           && (cell->kind != DP_CELL_TEXT || cell->len);
}

const struct dp_time_unit *dp_render_time_unit(double ticks, double hz, double least)
{
    static const struct dp_time_unit units[] = {
        { 1, "s" }, { 1e3, "ms" }, { 1e6, "us" }, { 1e9, "ns" }
    };
    const struct dp_time_unit *u = units;
    while (u + 1 < units + DP_ARRAY_LEN(units) && ticks * u->per_second / hz < least)
        u++;
    return u;
}

size_t dp_render_number(char to[DP_NUMBER_MAX], const struct dp_cell *cell, uint64_t hz,
                        bool people)
{
    bool real = cell->kind == DP_CELL_PERCENT || cell->kind == DP_CELL_REAL;
    bool negative = real ? cell->real < 0 : cell->negative;
    size_t len;
    if (cell->kind == DP_CELL_TEXT || !dp_render_has_value(cell))
        return 0;
    if (cell->kind == DP_CELL_WORDED) {
        len = cell->whole < DP_NUMBER_MAX ? (size_t)cell->whole : 0;
        memcpy(to, cell->ptr + cell->len, len);
        return len;
    }
    size_t sign = negative || (people && cell->sign);
    to[0] = negative ? '-' : '+';
    if (real)
        len = put_real(to + sign, fabs(cell->real),
                       cell->kind == DP_CELL_PERCENT ? 2 : cell->decimals);
    else if (cell->kind == DP_CELL_TICKS)
        len = dp_render_seconds(to + sign, cell->whole, hz);
    else
        len = put_whole(to + sign, cell->whole);
    if (sign && is_zero(to + sign, len))
        memmove(to, to + sign, len);
    else
        len += sign;
    if (people && cell->kind == DP_CELL_PERCENT)
        to[len++] = '%';
    return len;
}

void dp_render_real(struct dp_buf *buf, double value, unsigned decimals, bool sign)
{
    char num[DP_NUMBER_MAX];
    const struct dp_cell cell = {
        .kind = DP_CELL_REAL, .real = value, .decimals = decimals, .sign = sign
    };
    dp_buf_add(buf, num, dp_render_number(num, &cell, 0, true));
}

/* ---- cells ---- */

struct dp_name dp_render_text(const char *ptr, size_t len, struct dp_buf *text)
{
    struct dp_name out = { ptr, len };
    if (dp_text_plain(ptr, len) == len)
        return out;
    text->len = 0;              /* errors are kept for the end */
    dp_text_escape(text, ptr, len);
    out.ptr = text->ptr;
    out.len = text->err ? 0 : text->len;
    return out;
}

struct dp_name dp_render_cell(const struct dp_cell *cell, uint64_t hz, char num[DP_NUMBER_MAX],
                              struct dp_buf *text)
{
    if (cell->kind == DP_CELL_TEXT || cell->kind == DP_CELL_WORDED)
        return dp_render_text(cell->ptr, cell->len, text);
    struct dp_name out = { num, dp_render_number(num, cell, hz, true) };
    return out;
}

bool dp_render_has_levels(const struct dp_table *t)
{
    for (size_t r = 0; r < t->n_rows; r++)
        if (t->rows[r].indent)
            return true;
    return false;
}

size_t dp_render_indented(const struct dp_table *t)
{
    size_t c = 0;
    while (c < t->n_columns && !t->columns[c].left)
        c++;
    return c;
}

/* ---- formats ---- */

/* Prints the table in how->format. Returns DP_E_ARG for the formats that have no table. */
static int print_format(const struct dp_table *t, const struct dp_table_how *how,
                        struct dp_sink *sink)
{
    switch (how->format) {
    case DP_TEXT:
        return how->separator && *how->separator
                ? dp_render_separated(t, how, sink) : dp_render_columns(t, how, sink);
    case DP_CSV:
        return dp_render_csv(t, how, sink);
    case DP_JSON:
        return dp_render_json(t, how, sink);
    case DP_MARKDOWN:
        return dp_render_markdown(t, how, sink);
    case DP_HTML:
        return dp_render_html(t, how, sink);
    case DP_TAP: case DP_JUNIT: case DP_GITHUB:
        break;                  /* these formats print a gate's findings, and no table */
    }
    return DP_E_ARG;
}

int dp_table_print(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink)
{
    if (t->no_memory)
        return DP_E_NOMEM;
    int rc = print_format(t, how, sink);
    int flushed = dp_sink_flush(sink);
    return rc < 0 ? rc : flushed;
}
