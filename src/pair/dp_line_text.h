/* Two texts of a source, line by line. */
#ifndef DP_LINE_TEXT_H
#define DP_LINE_TEXT_H

#include "dp_base.h"
#include "dp_pool.h"
#include "dprof/line_pair.h"

/* A text cut into lines. Two lines have the same word if they are equal except for white space at
 * their ends: a statement with a new indentation remains the same. */
struct dp_words {
    uint32_t *words;
    size_t n;                   /* number of lines */
};

struct dp_two_texts {
    struct dp_pool pool;        /* words of both texts */
    struct dp_words old, new;
    uint32_t *to;               /* by line of new, from 0 up: the line of old that it is, from 0 up;
                                 * DP_ALIGN_NONE: it was inserted */
};

/* Pairs the lines of two texts. Returns 0 or DP_E_NOMEM; the caller releases *t in either case. */
int dp_two_texts_make(struct dp_two_texts *t, const char *old, size_t old_len, const char *new,
                      size_t new_len);
void dp_two_texts_release(struct dp_two_texts *t);

#endif
