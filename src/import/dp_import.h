/* Inside the reader: the functions that the readers of all formats of other tools share. */
#ifndef DP_IMPORT_H
#define DP_IMPORT_H

#include "dp_char.h"
#include "dp_reader_private.h"

/* ---- errors ---- */

/* Stores the standard message of a code. Returns code. */
int dp_import_error(struct dp_reader *r, int code);
/* Stores an error about a line, or a part of one, that cannot be parsed: what is wrong, and the
 * beginning of the line. Returns DP_E_SYNTAX. */
int dp_import_bad(struct dp_reader *r, const char *what, struct dp_text line);

/* ---- texts ---- */

DP_INLINE bool dp_import_is(struct dp_text t, const char *str)
{
    return t.len == strlen(str) && memcmp(t.ptr, str, t.len) == 0;
}
DP_INLINE bool dp_import_begins(struct dp_text t, const char *with)
{
    size_t n = strlen(with);
    return t.len >= n && memcmp(t.ptr, with, n) == 0;
}
/* The text of a name in a pool. */
DP_INLINE struct dp_text dp_import_name(const struct dp_pool *pool, uint32_t n)
{
    return (struct dp_text){ dp_pool_name(pool, n)->ptr, dp_pool_name(pool, n)->len };
}

/* ---- bytes ---- */

/* Reads the next line without its end (LF or CR LF; the last line may lack it). The line does not
 * move until the next call, and errors refer to it until then. Returns 1, 0 at the end of the file,
 * or a DP_E. */
int dp_import_line(struct dp_reader *r, struct dp_text *line);

/* Reads all bytes of the file, for a format whose beginning depends on its end. The bytes stay
 * until the reader ends. Later errors have no line, and their byte is r->in.base, which the reader
 * moves on. Returns 0, or a DP_E: there are more than DP_LIMIT_WHOLE. */
int dp_import_whole(struct dp_reader *r, struct dp_text *all);

/* ---- the header: the use of values ---- */

/* Adds a kind of value of the file, in the file's order. `cpu` or `wall` in a unit of time become
 * times, and `calls` without unit or in `count` the number of calls. dp_import_header decides about
 * other kinds. Returns 0, or a DP_E: there are more than DP_IMPORT_VALUES. */
int dp_import_value(struct dp_reader *r, struct dp_text name, struct dp_text unit);

/* Makes the header. A single time becomes both CPU time and real time. If there is no time, the
 * preferred kind replaces it, in its own unit. All other kinds become counters, as long as there
 * are columns for them (DP_FMT_COUNTERS). So does the preferred kind if its name differs from its
 * unit. The header's $dprof_left_out lists the kinds without a column, for messages. Returns 0 or a
 * DP_E. */
int dp_import_header(struct dp_reader *r, size_t preferred);

/* ---- contexts ---- */

/* Makes a sub. file may be empty, and line 0. A frame at the root with the name DP_FMT_PROGRAM is
 * no sub: dp_import_is_root recognizes it. This makes a new sub each time, so readers must remember
 * the number. */
int dp_import_sub(struct dp_reader *r, struct dp_text name, struct dp_text file, uint64_t line,
                  uint32_t *sub);
/* Makes a phase, which may be the first frame below the root, and is not a call. */
int dp_import_phase(struct dp_reader *r, struct dp_text name, uint32_t *sub);
bool dp_import_is_root(struct dp_text name);

/* Finds or makes the context of a sub that is called in a context. 0 is the root. For DP_SUB_NONE,
 * which is no sub, returns the caller's context. If the order of the file is the order of time
 * (head->ordered, which the format's head sets), call this for each sample, because the context
 * changes in a flame chart. Returns its number, or a DP_E. */
int64_t dp_import_enter(struct dp_reader *r, uint32_t parent, uint32_t sub);

/* Adds own values to a context: as many as there are kinds, in the same order. Returns 0 or a
 * DP_E. */
int dp_import_add(struct dp_reader *r, uint32_t node, const uint64_t *values);

/* Converts values to times, in ticks, and to counters, as many as in the header. t must be 0; no
 * time may be so large that its ticks do not fit. Returns false if all of them are 0. */
bool dp_import_values(const struct dp_reader *r, const uint64_t *values, uint64_t *t,
                      uint64_t *counters);

/* Makes the place of a line of source: FILE:LINE as in our own files; empty if the file's name is
 * empty or the line is 0. The text stays until the next call. Returns 0 or DP_E_NOMEM. */
int dp_import_place(struct dp_reader *r, struct dp_text file, uint64_t line,
                    struct dp_text *place);

#endif
