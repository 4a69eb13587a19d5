/* The subs of a profile: records with equal package, name and place are one,
 * within a file and across files. Labels are the names that people see. */
#ifndef DP_SUBS_H
#define DP_SUBS_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_map.h"
#include "dp_pool.h"
#include "dp_reader.h"
#include "dprof/profile.h"

/* Strings are numbers in the table's pool. */
struct dp_sub {
    uint32_t package, name;
    uint32_t file;              /* the empty string: not known */
    uint32_t autoload, in;      /* as in struct dp_subdef */
    uint64_t line, seq, id;     /* of the first definition */
    uint32_t ordinal;           /* 1, 2 ... among subs of one name and place in one file */
    bool xs, builtin;           /* builtin: an op of perl's, in the package CORE */
    bool phase;                 /* no sub, but the name of a phase */
};

struct dp_subs {
    struct dp_pool strings;
    struct dp_pool keys;        /* a key's number is its sub's number */
    struct dp_sub *subs;
    size_t cap;
    /* of the file being read */
    struct dp_pool seen;        /* (place, seq or id) of nameless subs */
    uint32_t *seen_ordinal;
    size_t seen_cap;
    struct dp_pool places;
    uint32_t *place_count;
    size_t place_cap;
    uint32_t generation;        /* of ids */
    bool has_crowd;             /* some place has several */
    struct dp_map crowds;       /* package << 32 | name -> how many subs share it */
    struct dp_map crowd_files;  /* the same -> their file; DP_SUBS_FILES: there are several */
    struct dp_buf scratch;
    bool by_ordinal;            /* nameless subs without a place pair across files by their order */
    bool goes_on;               /* what is imported is a further part of the same recording, where
                                 * the order of compilation tells which sub is which */
};

#define DP_SUBS_FILES  (UINT32_MAX - 1)

void dp_subs_init(struct dp_subs *subs);
void dp_subs_release(struct dp_subs *subs);
/* A new file begins: ids and ordinals start anew. */
void dp_subs_next_file(struct dp_subs *subs);
/* Within a file ids begin anew, and mean other subs. Subs that tell the order of their compilation
 * go on. */
void dp_subs_ids_anew(struct dp_subs *subs);
/* To be called at the end of the only recording whose subs the table has. Subs of one place get
 * their ordinals in the order of their compilation (seq), if all of them tell it; until then they
 * have the order of the file. Subs keep their numbers, and a second reading of the file finds them.
 * Returns 0 or DP_E_NOMEM. */
int dp_subs_order(struct dp_subs *subs);
/* Forgets how subs and texts are found; nothing may be added until dp_subs_unpack, which returns 0
 * or DP_E_NOMEM (then it can be called again). */
void dp_subs_pack(struct dp_subs *subs);
int dp_subs_unpack(struct dp_subs *subs);
/* Adds a sub of another table. Returns its number here, or what dp_subs_add returns. Where two
 * records of one sub differ, the order in which they come does not matter. */
int64_t dp_subs_import(struct dp_subs *subs, const struct dp_subs *from, uint32_t n);
/* Does the same, as if the sub stood in another file. */
int64_t dp_subs_import_in(struct dp_subs *subs, const struct dp_subs *from, uint32_t n,
                          struct dp_text file);
/* The number of the sub, from 0 up; DP_E_NOMEM, DP_E_LIMIT. */
int64_t dp_subs_add(struct dp_subs *subs, const struct dp_subdef *def);
static inline size_t dp_subs_count(const struct dp_subs *subs) { return subs->keys.count; }

/* Is the sub's name one that many subs of a package have? */
bool dp_subs_is_shared(const struct dp_subs *subs, uint32_t n);
static inline const struct dp_name *dp_subs_text(const struct dp_subs *subs, uint32_t string)
{
    return dp_pool_name(&subs->strings, string);
}

/* Appends what stands behind a name that many subs share: `[FILE:LINE]` with `#N` for further subs
 * of that line, and `@LINE` behind BEGIN, because people look for the `use` of that line. The file
 * is added only where `files` says that the package has BEGINs in several files. */
void dp_subs_add_place(struct dp_buf *buf, const struct dp_name *name, const struct dp_name *file,
                       uint64_t line, uint32_t ordinal, bool files);

/* The label of sub n, appended to buf. flags: enum dp_label. */
void dp_subs_label(const struct dp_subs *subs, uint32_t n, unsigned flags, struct dp_buf *buf);

#endif
