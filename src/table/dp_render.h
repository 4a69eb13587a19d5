/* What the formats of a table share: numbers as digits, texts as people may see them, and the
 * formats themselves. */
#ifndef DP_RENDER_H
#define DP_RENDER_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_io.h"
#include "dp_table.h"

enum { DP_NUMBER_MAX = 400 };   /* the longest double, its decimals, a sign and a % */

/* Writes ticks in seconds, as dp_table.h defines them, without a NUL. Returns the length, 64 at
 * most. hz is at most 10^12; 0 is treated as 1. */
size_t dp_render_seconds(char *to, uint64_t ticks, uint64_t hz);

/* Returns the first unit of s, ms, us and ns in which a time is at least `least`, or else ns. */
struct dp_time_unit {
    double per_second;
    const char *name;
};
const struct dp_time_unit *dp_render_time_unit(double ticks, double hz, double least);

/* Appends a value for people, with four digits and its unit: `12.34 ms`. hz: ticks per second or,
 * for counts of folded stacks with fractions, per unit; 0: a count. */
void dp_render_human(struct dp_buf *buf, double value, uint64_t hz, bool is_time);

/* Writes a number's digits, without a NUL and independent of the locale. A negative number has a
 * '-', unless all digits are 0. For people, a positive number has a '+' if cell->sign is set, and a
 * percentage has a '%'. The digits of a worded cell are the bytes that the caller has formatted for
 * machines, if they are fewer than DP_NUMBER_MAX. Returns the length; 0 for texts and for cells
 * without a value. */
size_t dp_render_number(char to[DP_NUMBER_MAX], const struct dp_cell *cell, uint64_t hz,
                        bool people);

/* Appends a real with so many decimals, independent of the locale. sign: a positive value gets a
 * +. */
void dp_render_real(struct dp_buf *buf, double value, unsigned decimals, bool sign);

/* Returns the bytes of a cell for people, borrowed from the cell, from num, or from text, which is
 * overwritten. They are empty for a cell without a value, and if memory is short (text->err). */
struct dp_name dp_render_cell(const struct dp_cell *cell, uint64_t hz, char num[DP_NUMBER_MAX],
                              struct dp_buf *text);

/* Returns the bytes of a text for people, a cell or a title: borrowed from ptr, or from text, which
 * is overwritten, if bytes had to be escaped. They are empty if memory is short (text->err). */
struct dp_name dp_render_text(const char *ptr, size_t len, struct dp_buf *text);

/* Appends a code span of Markdown for use outside of tables. */
void dp_render_markdown_code(struct dp_buf *buf, const char *ptr, size_t len);

/* Is a fact shown to people? Facts without a value are not. */
bool dp_render_has_value(const struct dp_cell *cell);

/* Does any row have a level? */
bool dp_render_has_levels(const struct dp_table *t);
/* The column that hierarchies indent; n_columns if there is none. */
size_t dp_render_indented(const struct dp_table *t);

/* The formats. Each returns 0 or a DP_E of its own; the sink keeps write errors. */
int dp_render_columns(const struct dp_table *t, const struct dp_table_how *how,
                      struct dp_sink *sink);
int dp_render_separated(const struct dp_table *t, const struct dp_table_how *how,
                        struct dp_sink *sink);
int dp_render_csv(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink);
int dp_render_json(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink);
int dp_render_markdown(const struct dp_table *t, const struct dp_table_how *how,
                       struct dp_sink *sink);
/* A whole page: the title as a heading, `Profile' if there is none; the facts, unless how->quiet is
 * set; the table, with a row's block of text below the row. */
int dp_render_html(const struct dp_table *t, const struct dp_table_how *how, struct dp_sink *sink);

/* Appends a whole number with commas between groups of three digits. */
void dp_render_grouped(struct dp_buf *buf, uint64_t n);
/* Appends a number that a user gave, with as few decimals as it has, up to 6. */
void dp_render_given(struct dp_buf *buf, double value);

/* Appends a text with its middle cut out, so that it takes `columns` columns at most. A shorter
 * text stays unchanged. */
void dp_render_cut(struct dp_buf *buf, const char *ptr, size_t len, size_t columns);
/* Breaks lines at blanks, so that none is wider than `width` columns (0: lines stay as they are),
 * with `indent` before continuation lines. The middle of a word that is too long is cut out. */
void dp_render_wrapped(struct dp_sink *sink, const char *ptr, size_t len, size_t width,
                       const char *indent);

#endif
