/* A profile made of samples that were taken from outside: the same file that the recorder writes
 * with sample=. */
#ifndef DP_SAMPLED_H
#define DP_SAMPLED_H

#include "dp_cct.h"
#include "dp_leaf.h"
#include "dp_lines.h"
#include "dp_live.h"

#include <sys/types.h>

struct dp_sampled {
    struct dp_optree *code;             /* borrowed */
    struct dp_live live;
    struct dp_cct cct;
    struct dp_lines lines;
    struct dp_pool sites;               /* FILE:LINE, from site 1 up */
    struct dp_map site_of;              /* file and line -> site */
    struct dp_map line_of;              /* statement -> its number in lines */
    uint32_t next_line;
    uint32_t script;                    /* file of the outermost statement; DP_MAP_NONE: unknown */
    dp_any_word idle[sizeof(struct dp_cct_node) / 8 + 1];
    /* what the last sample was charged to */
    struct dp_cct_node *node;
    uint32_t line;
    uint64_t unassigned;                /* ns of CPU time that belong to the next sample that sees
                                         * the thread run */
    /* what happened */
    uint64_t samples, mended, given_up, unread;
    pid_t pid;                          /* sources are read as this process sees them; 0: not
                                         * read */
};

/* Begins a profile of samples. code is borrowed, and its names are the profile's. Returns 0 or
 * DP_E_NOMEM. */
int dp_sampled_init(struct dp_sampled *s, struct dp_optree *code, pid_t pid);
void dp_sampled_release(struct dp_sampled *s);

/* Begins an empty profile, for the next slice. Returns 0 or DP_E_NOMEM. */
int dp_sampled_renew(struct dp_sampled *s);

/* Charges the time since the sample before, in ns, to what the stack shows. leafs: NULL if that is
 * the same as at the last sample. runs: the thread runs at the moment; else its CPU time is left to
 * the next sample that sees it run. */
void dp_sampled_add(struct dp_sampled *s, struct dp_leafs *leafs, uint64_t real, uint64_t cpu,
                    bool runs);

/* What the header says of the recording. The texts are borrowed. */
struct dp_sampled_head {
    const char *version;                /* of the module */
    const char *run, *script, *start;   /* start: seconds since 1970, as text */
    long pid, ppid;
    unsigned tid;
    unsigned rate;                      /* samples a second */
    uint64_t behind;                    /* samples that came too late, and were left out */
    uint64_t slice;                     /* from 1 up; 0: the file is no slice */
};

/* Appends the whole text of the profile (Format.pod). Returns 0 or DP_E_NOMEM. */
int dp_sampled_write(struct dp_sampled *s, const struct dp_sampled_head *head,
                     struct dp_buf *out);

/* The file of the outermost statement of the main program that was sampled. Until there is one, the
 * first file that was seen; "" if there is none yet. */
const char *dp_sampled_script(const struct dp_sampled *s);

#endif
