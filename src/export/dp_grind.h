/* What files of callgrind and of cachegrind have in common: names of events, files and subs as
 * their readers take them, and own costs by line.
 *
 * Costs are whole units, and add up: those of a sub's lines are what its frames have, and those of
 * all frames are the total. So frames are rounded first, in order, and then the lines of each
 * sub. */
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
    uint64_t *value;            /* by measure: what the frame that e is at has itself; 0 at the
                                 * end */
    uint64_t *own, *total;      /* by name, then measure: what its frames have; all frames */
    uint32_t program;           /* its name */
    struct dp_pool files, texts;        /* names of files and subs, escaped */
    uint32_t *file, *text;      /* by name of the stacks: numbers in these */
    struct dp_pool events;      /* by measure: its name, of letters and figures */
    struct dp_buf buf;          /* what is sent next */
    struct dp_buf name;         /* scratch */
};

/* Returns 0 or DP_E_NOMEM; the caller releases it. */
int dp_grind_init(struct dp_grind *g, const struct dp_stacks_printing *p);
void dp_grind_release(struct dp_grind *g);

/* The number of a file's name among the files; that of one that is not known is "???", as these
 * tools call it. DP_MAP_NONE when memory is short. */
uint32_t dp_grind_file(struct dp_grind *g, const struct dp_name *file);

/* Goes to the next frame, as dp_export_next does, and takes its own values. */
int dp_grind_next(struct dp_grind *g);
/* The name that a frame's values belong to: what phases have is the program's. */
uint32_t dp_grind_name(const struct dp_grind *g);
/* Computes what lines cost, once the frames are at their end. Returns 0 or DP_E_NOMEM. */
int dp_grind_settle(struct dp_grind *g);
/* Does a line cost anything? Of several sides, another one's may. */
bool dp_grind_costs(const struct dp_grind *g, size_t line);

/* Each appends to g->buf: the names of all events, a blank before each; their numbers, likewise;
 * the program's name. */
void dp_grind_events(struct dp_grind *g);
void dp_grind_numbers(struct dp_grind *g, const uint64_t *numbers);
void dp_grind_script(struct dp_grind *g);
/* Sends g->buf, and clears it. Returns 0 or a DP_E. */
int dp_grind_send(struct dp_grind *g);

#endif
