/* The subs of a profile: records with equal package, name and place are one sub, within a file and
 * across files. Labels are the names that people see. */
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
    uint32_t file;              /* the empty string: unknown */
    uint32_t autoload, in;      /* as in struct dp_subdef */
    uint64_t line, seq, id;     /* of the first definition */
    uint32_t ordinal;           /* 1, 2 ... among subs of one name and place in one file */
    bool xs, builtin;           /* builtin: an op of perl's, in the package CORE */
    bool phase;                 /* not a sub, but the name of a phase */
    bool span;                  /* not a sub: package is its kind, name its text */
};

/* Is this the name of a phase that perl itself has? The program has not marked such a phase, and
 * returns to it after others: how often it began says nothing about what it repeats. */
bool dp_phase_is_of_perl(const struct dp_name *name);

/* Does the sub have no statements of its own? Its time belongs to the statement that called it. */
static inline bool dp_subs_has_no_lines(const struct dp_sub *sub)
{
    return sub->xs || sub->builtin || sub->span;
}

struct dp_subs {
    struct dp_pool strings;
    struct dp_pool keys;        /* the number of a key is that of its sub */
    struct dp_sub *subs;
    size_t cap;
    /* of the current file */
    struct dp_pool seen;        /* (place, seq or id) of nameless subs */
    uint32_t *seen_ordinal;
    size_t seen_cap;
    struct dp_pool places;
    uint32_t *place_count;
    size_t place_cap;
    uint32_t generation;        /* of ids */
    bool has_crowd;             /* some place has several subs */
    struct dp_map crowds;       /* package << 32 | name -> number of subs that share it */
    struct dp_map crowd_files;  /* package << 32 | name -> their file; DP_SUBS_FILES: several */
    struct dp_buf scratch;
    bool by_ordinal;            /* nameless subs without a place pair across files by their order */
    bool goes_on;               /* imported subs come from a further part of the same recording,
                                 * where the order of compilation identifies subs */
};

#define DP_SUBS_FILES  (UINT32_MAX - 1)

/* Make an empty table of subs, and free what a table holds. */
void dp_subs_init(struct dp_subs *subs);
void dp_subs_release(struct dp_subs *subs);
/* Begins a new file: ids and ordinals start again. */
void dp_subs_next_file(struct dp_subs *subs);
/* Lets ids start again within a file, with new meanings. Subs with an order of compilation keep
 * their identity. */
void dp_subs_ids_anew(struct dp_subs *subs);
/* Call this at the end of the only recording of the table. Subs of one place get their ordinals in
 * the order of their compilation (seq), if all of them have it; until then they have the order of
 * the file. Subs keep their numbers, and a second reading of the file finds them. Returns 0 or
 * DP_E_NOMEM. */
int dp_subs_order(struct dp_subs *subs);
/* Frees the indices of subs and texts. Nothing may be added until dp_subs_unpack, which returns 0
 * or DP_E_NOMEM (then it can be called again). */
void dp_subs_pack(struct dp_subs *subs);
int dp_subs_unpack(struct dp_subs *subs);
/* Adds a sub of another table. Returns its number here, or an error like dp_subs_add. If two
 * records of one sub differ, the result does not depend on their order. */
int64_t dp_subs_import(struct dp_subs *subs, const struct dp_subs *from, uint32_t n);
/* Adds a sub of another table like dp_subs_import, as if the sub were in the file `file`. */
int64_t dp_subs_import_in(struct dp_subs *subs, const struct dp_subs *from, uint32_t n,
                          struct dp_text file);
/* Adds a sub. Returns its number, from 0 up; DP_E_NOMEM, DP_E_LIMIT. */
int64_t dp_subs_add(struct dp_subs *subs, const struct dp_subdef *def);
static inline size_t dp_subs_count(const struct dp_subs *subs) { return subs->keys.count; }

/* Is the sub's name one that many subs of a package have? */
bool dp_subs_is_shared(const struct dp_subs *subs, uint32_t n);
static inline const struct dp_name *dp_subs_text(const struct dp_subs *subs, uint32_t string)
{
    return dp_pool_name(&subs->strings, string);
}

/* Appends the place that follows a name shared by many subs: `[FILE:LINE]`, with `#N` for further
 * subs of that line; `@LINE` after BEGIN, because people look for the `use` of that line. The file
 * is added only if `files` says that the package has BEGINs in several files. */
void dp_subs_add_place(struct dp_buf *buf, const struct dp_name *name, const struct dp_name *file,
                       uint64_t line, uint32_t ordinal, bool files);

/* Appends the label of sub n to buf. flags: enum dp_label. */
void dp_subs_label(const struct dp_subs *subs, uint32_t n, unsigned flags, struct dp_buf *buf);

#endif
