/* The terms of an event, event=0x3c,umask=0x01, and the bits that a PMU's formats assign to
 * them. */
#ifndef DP_PMU_TERMS_H
#define DP_PMU_TERMS_H

#include "dp_base.h"

/* The bits of a term: config:0-7,32-35. */
struct dp_pmu_format {
    const char *name;
    unsigned config;                    /* 0, 1, 2: config, config1, config2; larger values come
                                         * from newer kernels */
    uint64_t bits;
};

/* Reads a file of the folder format/. Returns false if it has no format; `name` does not change. */
bool dp_pmu_format_parse(struct dp_pmu_format *format, const char *text);
/* The greatest value that fits in its bits. */
uint64_t dp_pmu_format_max(const struct dp_pmu_format *format);
/* Sets the bits of a format to the value, the lowest first, replacing their old values. Returns
 * false and sets nothing if the value is too large, or if config is above 2. */
bool dp_pmu_format_put(const struct dp_pmu_format *format, uint64_t value, uint64_t config[3]);

struct dp_pmu_term {
    const char *key, *value;            /* value: NULL without = */
    size_t key_len, value_len;          /* without blanks around both, and without quotes around the
                                         * value */
};

/* Finds the next term of *p up to end. Commas separate terms, but not within '...'. Moves *p on.
 * Returns false at the end. */
bool dp_pmu_term_next(const char **p, const char *end, struct dp_pmu_term *term);
bool dp_pmu_term_is(const struct dp_pmu_term *term, const char *key);

/* Reads the whole text as a number: decimal, or hexadecimal after 0x. */
bool dp_pmu_number(const char *text, size_t len, uint64_t *out);
/* Reads a raw code: r and hexadecimal digits, with 0x or without. */
bool dp_pmu_raw(const char *text, size_t len, uint64_t *out);

#endif
