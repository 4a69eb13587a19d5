/* Inside the reader: what the readers of all formats of other tools share. Not for anybody else. */
#ifndef DP_IMPORT_H
#define DP_IMPORT_H

#include "dp_char.h"
#include "dp_reader_private.h"

/* ---- errors ---- */

/* The error that the code's own words tell. Returns code. */
int dp_import_error(struct dp_reader *r, int code);
/* A line, or a part of one, that cannot be understood; its beginning is shown behind what is wrong
 * with it. Returns DP_E_SYNTAX. */
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
/* A name of a pool. */
DP_INLINE struct dp_text dp_import_name(const struct dp_pool *pool, uint32_t n)
{
    return (struct dp_text){ dp_pool_name(pool, n)->ptr, dp_pool_name(pool, n)->len };
}

/* ---- bytes ---- */

/* The next line without its end (LF or CR LF; that of the last line may be missing). It stays where
 * it is until the next call, and errors name its place until then. Returns 1, 0 at the end of the
 * file, or a DP_E. */
int dp_import_line(struct dp_reader *r, struct dp_text *line);

/* All bytes of the file, for a format whose beginning cannot be understood without its end. They
 * stay until the reader ends. From here on errors have no line, and the byte is r->in.base, which
 * the reader moves on. Returns 0, or a DP_E: there are more than DP_LIMIT_WHOLE. */
int dp_import_whole(struct dp_reader *r, struct dp_text *all);

/* ---- the header: what becomes of values ---- */

/* A kind of value that the file has, in the file's order: `cpu` or `wall` in a unit of time become
 * times, and `calls` in no unit or in `count` the number of calls. Of other kinds dp_import_header
 * decides. Returns 0, or a DP_E: there are more than DP_IMPORT_VALUES. */
int dp_import_value(struct dp_reader *r, struct dp_text name, struct dp_text unit);

/* Makes the header. If there is one time only, it is CPU time and real time, both. If there is
 * none, the preferred kind takes its place, in its own unit. All other kinds become counters, as
 * long as there are columns for them (DP_FMT_COUNTERS), and so does the preferred one if its name
 * is not that of its unit; the header's $dprof_left_out tells people for which there is none.
 * Returns 0 or a DP_E. */
int dp_import_header(struct dp_reader *r, size_t preferred);

/* ---- contexts ---- */

/* A sub. file and line may be empty and 0. A frame at the root that is called DP_FMT_PROGRAM is no
 * sub: dp_import_is_root tells it. Readers remember the number: this makes a new sub each time. */
int dp_import_sub(struct dp_reader *r, struct dp_text name, struct dp_text file, uint64_t line,
                  uint32_t *sub);
/* The same of a phase, which may be the first frame below the root, and is no call. */
int dp_import_phase(struct dp_reader *r, struct dp_text name, uint32_t *sub);
bool dp_import_is_root(struct dp_text name);

/* The context of a sub that is called in a context; made if there is none. 0 is the root. For
 * DP_SUB_NONE, which is no sub, that of the caller. Where the order of the file is that of time
 * (head->ordered, which the format's head sets), it is to be asked for again for each sample: in a
 * flame chart it has become another one. Returns its number, or a DP_E. */
int64_t dp_import_enter(struct dp_reader *r, uint32_t parent, uint32_t sub);

/* Adds own values to a context: as many as kinds were given, in that order. Returns 0 or a DP_E. */
int dp_import_add(struct dp_reader *r, uint32_t node, const uint64_t *values);

/* What becomes of values: times, in ticks, and counters, as many as the header has. t has been set
 * to 0, and no time is so great that its ticks do not fit. Returns false if all of them are 0. */
bool dp_import_values(const struct dp_reader *r, const uint64_t *values, uint64_t *t,
                      uint64_t *counters);

/* The place of a line of source, FILE:LINE as files of our own have it; empty if the file's name is
 * empty or the line 0. It stays until another one is asked for. Returns 0 or DP_E_NOMEM. */
int dp_import_place(struct dp_reader *r, struct dp_text file, uint64_t line,
                    struct dp_text *place);

#endif
