/* What lines of source cost, as rows. */
#ifndef DPROF_LINES_H
#define DPROF_LINES_H

#include "dprof/metric.h"
#include "dprof/profile.h"

enum { DP_LINE_NO_SUB = UINT32_MAX };

/* A line, as far as it is of one sub. Times are ticks of dp_prof_hz, or what the counter counts. */
struct dp_line_row {
    const char *file;           /* borrowed until the function returns; "": not known */
    size_t file_len;
    uint64_t line;
    uint32_t sub;               /* number of the sub, as dp_prof_sub counts; DP_LINE_NO_SUB: code
                                 * of the file that is in none */
    uint64_t count;             /* how often its statements ran */
    uint64_t self, incl;        /* incl: with the subs that it calls; recursion once */
    uint64_t calls;             /* made from it */
};

/* Calls of one sub from the line of the row before. */
struct dp_line_call_row {
    uint32_t sub;
    uint64_t calls;
    uint64_t incl;
};

/* Hands over the lines of a profile by file, line and sub, each followed by its calls, the longest
 * first. metric: a time, or DP_M_COUNTER: then the counter of that number, of lines but not of
 * calls. Returns 0, a negative DP_E, or what a callback returned that is not 0. */
int dp_line_rows(const struct dp_prof *prof, enum dp_metric metric, size_t counter,
                 int (*line)(void *ctx, const struct dp_line_row *row),
                 int (*call)(void *ctx, const struct dp_line_call_row *row), void *ctx);

/* What a source, by its name as a row has it, was when it was recorded. Returns 1; 0: that is not
 * known; -1: files of the profile had different ones. */
int dp_line_source(const struct dp_prof *prof, const char *file, size_t len, uint64_t *size,
                   uint32_t *crc);

/* Hands over the text of that source, where the profile has it (source=1) and it is whole. Returns
 * 1; 0: there is none; DP_E_NOMEM. */
int dp_line_text(const struct dp_prof *prof, const char *file, size_t len,
                 void (*text)(void *ctx, const char *ptr, size_t len), void *ctx);

/* Hands over the sources of which that is known. Returns 0, or what the callback returned that is
 * not 0. */
int dp_line_sources(const struct dp_prof *prof,
                    int (*fn)(void *ctx, const char *file, size_t len, uint64_t size, uint32_t crc),
                    void *ctx);

/* Tells the names of all files that places of the profile are in, each once. Returns as
 * dp_line_rows does. */
int dp_line_files(const struct dp_prof *prof,
                  int (*file)(void *ctx, const char *name, size_t len), void *ctx);

/* What is known of statements, as lines= of the recorder and $dprof_lines of a file have it:
 * nothing, but perhaps calls by line; counts; counts and times. Each one is more than the one
 * before, and the scripts of pages (share/) know them by their numbers. */
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
