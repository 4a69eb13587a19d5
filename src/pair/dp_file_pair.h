/* Pairs the files of several profiles, and notes the version of each file on a side. Files pair
 * like those of subs (dp_pair.h). The program's own file pairs with the baseline's, whatever its
 * name. */
#ifndef DP_FILE_PAIR_H
#define DP_FILE_PAIR_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_checkout.h"
#include "dp_pair.h"
#include "dprof/line_pair.h"

/* A side's version of a file. */
struct dp_file_version {
    uint64_t size;              /* bytes */
    uint32_t crc;               /* CRC-32 */
    uint32_t name;              /* the name in the side's profiles: number of a text */
    bool there;                 /* the side has the file */
    bool known, unknown;        /* known: size and crc are set; unknown: profiles of the side
                                 * disagree */
    const struct dp_source_text *text;  /* NULL: not given, or not the text of the lines */
};

struct dp_file_pairs {
    const struct dp_pairs *subs;        /* profiles and their sides; borrowed */
    const struct dp_source_text *sources;       /* borrowed */
    size_t n_sources;
    uint32_t sides;
    struct dp_checkouts checkouts;      /* its files have the same numbers here */
    uint32_t *of_source;        /* by source: number of its file, or DP_MAP_NONE */
    uint32_t **of_site;         /* by profile, then by place as in dp_line_prof: number of its file,
                                 * or DP_MAP_NONE */
    uint32_t *names;            /* by file: number of a text; DP_MAP_NONE: the file is paired with
                                 * another, which has the name of both */
    struct dp_file_version *versions;   /* by side, then by file */
    struct dp_buf buf;
    bool no_memory;
};

/* Pairs the files of profiles whose subs are paired, and of the given sources. texts: the pool for
 * names. Returns 0 or DP_E_NOMEM; the caller releases *fp in either case. */
int dp_file_pairs_make(struct dp_file_pairs *fp, struct dp_pool *texts,
                       const struct dp_pairs *subs, const struct dp_source_text *sources,
                       size_t n_sources, const struct dp_pair_how *how);
void dp_file_pairs_release(struct dp_file_pairs *fp);

/* The number, the same for all sides, of the file of a place in profile k; DP_MAP_NONE: the place
 * is in no file. */
static inline uint32_t dp_file_of_site(const struct dp_file_pairs *fp, size_t k, uint32_t site)
{
    uint32_t file = site ? fp->of_site[k][site] : DP_MAP_NONE;
    return file == DP_MAP_NONE ? file : fp->checkouts.files[file].like;
}

/* A side's version of a file. */
static inline struct dp_file_version *dp_file_version(const struct dp_file_pairs *fp,
                                                      uint32_t file, uint32_t side)
{
    return &fp->versions[(size_t)side * fp->checkouts.n_files + fp->checkouts.files[file].like];
}

/* Are both versions known to be the same? */
static inline bool dp_file_is_same(const struct dp_file_version *a,
                                   const struct dp_file_version *b)
{
    return a->known && b->known && a->size == b->size && a->crc == b->crc;
}

#endif
