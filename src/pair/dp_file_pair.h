/* Which files are the same in several profiles, and which version of each a side has. Files pair as
 * those of subs do (dp_pair.h), and the program's own file with the baseline's, whatever its
 * name. */
#ifndef DP_FILE_PAIR_H
#define DP_FILE_PAIR_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_checkout.h"
#include "dp_pair.h"
#include "dprof/line_pair.h"

/* What is known of a file of a side. */
struct dp_file_version {
    uint64_t size;              /* bytes */
    uint32_t crc;               /* CRC-32 */
    uint32_t name;              /* number of a text: as the side's profiles have it */
    bool there;                 /* the side has it */
    bool known, unknown;        /* its size and CRC are; not all profiles of the side agree */
    const struct dp_source_text *text;  /* NULL: not given, or not that of the lines */
};

struct dp_file_pairs {
    const struct dp_pairs *subs;        /* borrowed: the profiles, and their sides */
    const struct dp_source_text *sources;       /* borrowed */
    size_t n_sources;
    uint32_t sides;
    struct dp_checkouts checkouts;      /* its files are numbered here as there */
    uint32_t *of_source;        /* by source: number of its file; DP_MAP_NONE */
    uint32_t **of_site;         /* by profile, by place as dp_line_prof has it: likewise */
    uint32_t *names;            /* by file: number of a text; DP_MAP_NONE: it is paired with
                                 * another, which has the name of both */
    struct dp_file_version *versions;   /* by side, by file */
    struct dp_buf buf;
    bool no_memory;
};

/* The files of profiles whose subs are paired, and of the sources given. texts: where names go.
 * Returns 0 or DP_E_NOMEM; the caller releases it in either case. */
int dp_file_pairs_make(struct dp_file_pairs *fp, struct dp_pool *texts,
                       const struct dp_pairs *subs, const struct dp_source_text *sources,
                       size_t n_sources, const struct dp_pair_how *how);
void dp_file_pairs_release(struct dp_file_pairs *fp);

/* The number of the file that a place of profile k is in, the same for all sides; DP_MAP_NONE: it
 * is in none. */
static inline uint32_t dp_file_of_site(const struct dp_file_pairs *fp, size_t k, uint32_t site)
{
    uint32_t file = site ? fp->of_site[k][site] : DP_MAP_NONE;
    return file == DP_MAP_NONE ? file : fp->checkouts.files[file].like;
}

/* What a side has of a file. */
static inline struct dp_file_version *dp_file_version(const struct dp_file_pairs *fp,
                                                      uint32_t file, uint32_t side)
{
    return &fp->versions[(size_t)side * fp->checkouts.n_files + fp->checkouts.files[file].like];
}

/* Are they known to be the same? */
static inline bool dp_file_is_same(const struct dp_file_version *a,
                                   const struct dp_file_version *b)
{
    return a->known && b->known && a->size == b->size && a->crc == b->crc;
}

#endif
