/* Shared by the files of callgrind and of cachegrind: names of events, files and subs in the form
 * that readers accept, and own costs by line.
 *
 * Costs are whole units, and add up: the costs of a sub's lines equal those of its frames, and the
 * costs of all frames equal the total. So frames are rounded first, in order, and then the lines of
 * each sub. */
#ifndef DP_GRIND_H
#define DP_GRIND_H

#include "dp_buf.h"
#include "dp_export.h"
#include "dp_pool.h"
#include "dp_stacks_lines.h"

struct dp_grind {
    struct dp_export e;
    struct dp_stacks_lines lines;
    uint64_t *cost;             /* by line, then measure: units; after dp_grind_settle */
    uint64_t *value;            /* by measure: own values of the current frame; 0 at the end */
    uint64_t *own, *total;      /* own: by name, then measure: sum over its frames; total: sum over
                                 * all frames */
    uint32_t program;           /* the program's name */
    struct dp_pool files, texts;        /* names of files and subs, escaped */
    uint32_t *file, *text;      /* by name of the stacks: numbers in files and texts */
    struct dp_pool events;      /* by measure: its name, of letters and digits */
    struct dp_buf buf;          /* the next output */
    struct dp_buf name;         /* scratch */
};

/* Starts. Returns 0 or DP_E_NOMEM; the caller releases *g. */
int dp_grind_init(struct dp_grind *g, const struct dp_stacks_printing *p);
void dp_grind_release(struct dp_grind *g);

/* The number of a file's name among the files. An unknown file is "???", as in these tools.
 * DP_MAP_NONE when memory is short. */
uint32_t dp_grind_file(struct dp_grind *g, const struct dp_name *file);

/* Moves to the next frame, like dp_export_next, and reads its own values. */
int dp_grind_next(struct dp_grind *g);
/* The name that a frame's values belong to: values of phases belong to the program. */
uint32_t dp_grind_name(const struct dp_grind *g);
/* Computes the costs of lines, after the last frame. Returns 0 or DP_E_NOMEM. */
int dp_grind_settle(struct dp_grind *g);
/* Does a line have a cost? With several sides, only another side may have it. */
bool dp_grind_costs(const struct dp_grind *g, size_t line);

/* Each function appends to g->buf: the names of all events, each after a blank; their numbers,
 * likewise; the program's name. */
void dp_grind_events(struct dp_grind *g);
void dp_grind_numbers(struct dp_grind *g, const uint64_t *numbers);
void dp_grind_script(struct dp_grind *g);
/* Sends g->buf, and clears it. Returns 0 or a DP_E. */
int dp_grind_send(struct dp_grind *g);

#endif
