/* The costs of lines of source, as rows. */
#ifndef DPROF_LINES_H
#define DPROF_LINES_H

#include "dprof/metric.h"
#include "dprof/profile.h"

enum { DP_LINE_NO_SUB = UINT32_MAX };

/* A line, as far as it belongs to one sub. Times are ticks of dp_prof_hz, or counts of the
 * counter. */
struct dp_line_row {
    const char *file;           /* borrowed until the function returns; "": unknown */
    size_t file_len;
    uint64_t line;
    uint32_t sub;               /* number of the sub, as in dp_prof_sub; DP_LINE_NO_SUB: code of the
                                 * file outside of subs */
    uint64_t count;             /* how often its statements ran */
    uint64_t self, incl;        /* incl: with callees; recursion counts once */
    uint64_t calls;             /* from the line */
};

/* Calls of one sub from the line of the preceding row. */
struct dp_line_call_row {
    uint32_t sub;
    uint64_t calls;
    uint64_t incl;
};

/* Hands over the lines of a profile by file, line and sub. Each is followed by its calls, the
 * longest first. metric: a time, or DP_M_COUNTER: then the counter with that number, for lines but
 * not for calls. Returns 0, a negative DP_E, or the callback's result if that is not 0. */
int dp_line_rows(const struct dp_prof *prof, enum dp_metric metric, size_t counter,
                 int (*line)(void *ctx, const struct dp_line_row *row),
                 int (*call)(void *ctx, const struct dp_line_call_row *row), void *ctx);

/* Finds the recorded state of a source, by its name in a row. Returns 1; 0: unknown; -1: files of
 * the profile had different ones. */
int dp_line_source(const struct dp_prof *prof, const char *file, size_t len, uint64_t *size,
                   uint32_t *crc);

/* Hands over the text of a source, if the profile has it (source=1) and it is complete. Returns 1;
 * 0: there is none; DP_E_NOMEM. */
int dp_line_text(const struct dp_prof *prof, const char *file, size_t len,
                 void (*text)(void *ctx, const char *ptr, size_t len), void *ctx);

/* Hands over the sources whose recorded state is known. Returns 0, or the callback's result if that
 * is not 0. */
int dp_line_sources(const struct dp_prof *prof,
                    int (*fn)(void *ctx, const char *file, size_t len, uint64_t size, uint32_t crc),
                    void *ctx);

/* Hands over the names of all files that contain places of the profile, each once. Returns like
 * dp_line_rows. */
int dp_line_files(const struct dp_prof *prof,
                  int (*file)(void *ctx, const char *name, size_t len), void *ctx);

/* The detail of statements, as in lines= of the recorder and in $dprof_lines of a file: none, but
 * perhaps calls by line; counts; counts and times. Each includes the one before, and the scripts of
 * pages (share/) use their numbers. */
#define DP_LINES_LIST(X) \
    X(DP_LINES_NONE, "no") X(DP_LINES_COUNTS, "count") X(DP_LINES_TIMES, "time")
DP_ENUM(dp_lines_known, DP_LINES_LIST);
static inline const char *dp_lines_word(enum dp_lines_known known)
{
#define DP_LINES_WORD(id, word) word,
    static const char *const words[] = { DP_LINES_LIST(DP_LINES_WORD) };
#undef DP_LINES_WORD
    return words[known];
}
enum dp_lines_known dp_line_detail(const struct dp_prof *prof);

#endif
