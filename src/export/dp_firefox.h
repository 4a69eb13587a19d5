/* Inside the format of the Firefox Profiler: the state of the writer, columns and their values, and
 * the writer's parts. */
#ifndef DP_FIREFOX_H
#define DP_FIREFOX_H

#include "dp_export.h"
#include "dp_jsonout.h"
#include "dp_map.h"
#include "dp_pool.h"

enum { DP_FIREFOX_SECOND = 1000000000 };      /* in nanoseconds */

/* The column that a walk writes. */
enum dp_firefox_column { COLUMN_FRAME, COLUMN_PREFIX, COLUMN_STACK, COLUMN_TIME, COLUMN_WEIGHT,
                         COLUMN_COUNT_TIME, COLUMN_COUNT };

struct dp_firefox {
    struct dp_export e;         /* of the current stacks */
    struct dp_jsonout json;
    struct dp_pool texts;       /* the table of strings */
    bool in_time;
    uint64_t range;             /* nanoseconds on the time axis that sums represent */
    size_t threads;             /* number written so far */
    uint64_t pid;               /* of the previous thread */
    /* of the current thread */
    uint32_t lane;
    size_t measure;
    uint64_t offset;            /* in order of time: nanoseconds before its first sample */
    enum dp_firefox_column column;
    uint32_t n_rows;
    size_t n_samples;
    uint64_t sum;               /* for counters: sum since the previous sample */
    uint64_t held;              /* for counters: the sample to be written next */
    uint32_t last_row;          /* of the last sample written */
    uint64_t last_end;          /* its end: in order of time, in nanoseconds */
    struct dp_firefox_level *stack;
    size_t depth, stack_cap;
    struct dp_map frame_of;     /* name << 32 | site -> frame; name << 32 | NONE -> func */
    struct dp_firefox_frame *frames;
    uint32_t *funcs;            /* names */
    size_t n_frames, frames_cap, n_funcs, funcs_cap;
    struct dp_firefox_marker *markers;
    size_t n_markers, markers_cap;
    int err;
};

/* ---- values of columns; dp_export_firefox.c ---- */

void dp_firefox_number(struct dp_firefox *x, uint64_t n);
void dp_firefox_ms(struct dp_firefox *x, uint64_t ns);
void dp_firefox_word(struct dp_firefox *x, const char *word);
/* Writes a string as its number in the table of strings. */
void dp_firefox_text(struct dp_firefox *x, const char *ptr, size_t len);
/* A column of a table: `put` writes the value of each row, or each value is `same`. */
struct dp_firefox_values {
    const char *key;
    void (*put)(struct dp_firefox *x, size_t row);
    const char *same;
};
/* Writes columns, which have the same number of rows. */
void dp_firefox_columns(struct dp_firefox *x, const struct dp_firefox_values *columns, size_t count,
                        size_t rows);

/* ---- frames and functions; dp_firefox_frames.c ---- */

/* The program of the lane. */
const char *dp_firefox_script(const struct dp_firefox *x);
/* The file of a name's sub; the program's is its script. */
struct dp_name dp_firefox_file(const struct dp_firefox *x, uint32_t name);
/* The number of a frame of the thread; sets x->err when memory is short. */
uint32_t dp_firefox_frame(struct dp_firefox *x, uint32_t name, uint32_t site);
/* Writes the list of categories, which give frames their colours. */
void dp_firefox_categories(struct dp_jsonout *json);
/* Write the tables of numbered frames and functions. */
void dp_firefox_frames(struct dp_firefox *x);
void dp_firefox_funcs(struct dp_firefox *x);

/* ---- markers; dp_firefox_markers.c ---- */

/* Writes the markers of the thread, if it is in order of time: the phases of the program, and
 * spans. Returns 0 or DP_E_NOMEM. */
int dp_firefox_markers(struct dp_firefox *x);

/* ---- stacks and samples; dp_firefox_stacks.c ---- */

/* Converts ticks of the stacks in order of time. */
uint64_t dp_firefox_ns(const struct dp_firefox *x, uint64_t ticks);
/* Writes a column by a walk through the lane. This function and the following ones return 0 or a
 * DP_E. */
int dp_firefox_walk(struct dp_firefox *x, const char *key, enum dp_firefox_column column);
/* Write the tables of the thread. */
int dp_firefox_stacks(struct dp_firefox *x);
int dp_firefox_samples(struct dp_firefox *x);

#endif
