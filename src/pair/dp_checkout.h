/* Finds the names that, in several checkouts of a program, belong to the same file. */
#ifndef DP_CHECKOUT_H
#define DP_CHECKOUT_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_map.h"
#include "dp_pool.h"

/* The name of a file in some profile, without numbers of evals and without its base. */
struct dp_checkout_file {
    uint32_t text;
    uint32_t like;              /* file of the baseline that it is paired with, or itself */
    uint32_t next;              /* next file with the same last part; DP_MAP_NONE */
    uint32_t side;              /* the first side that has it */
    size_t tail;                /* number of bytes at the end that all files paired with it share */
    bool in_base;               /* side 0 has it */
};

struct dp_checkouts {
    struct dp_pool *texts;      /* borrowed */
    const char *const *bases;   /* folders that are removed from the beginning of names; borrowed */
    size_t n_bases;
    struct dp_checkout_file *files;
    size_t n_files, files_cap;
    struct dp_map file_of;      /* text -> file */
    struct dp_map tails;        /* last part of a name -> first file */
    struct dp_map has;          /* text << 32 | side */
    struct dp_buf buf;
    bool no_memory;             /* sticky */
};

/* Make an empty set of the sides' files, and free what a set holds. texts: names of files,
 * borrowed; bases: folders that are removed from the names. */
void dp_checkouts_init(struct dp_checkouts *c, struct dp_pool *texts, const char *const *bases,
                       size_t n_bases);
void dp_checkouts_release(struct dp_checkouts *c);

/* Adds a file of a side. Returns its number. */
uint32_t dp_checkouts_add(struct dp_checkouts *c, const char *ptr, size_t len, uint32_t side);
/* Call this when all files have been added. Pairs each file that the baseline lacks with the file
 * of the baseline that ends in the same folders and name. */
void dp_checkouts_pair(struct dp_checkouts *c);
/* The common name of all paired files, as a number in texts. */
uint32_t dp_checkouts_text(struct dp_checkouts *c, uint32_t file);

/* Appends a name without the parts that vary from run to run: the numbers of evals (`(eval 12)`
 * becomes `(eval)`), addresses (`0x55d0c8a2` becomes `0x...`), and words that are a digest or an
 * address. Such a word consists of 16 or more hexadecimal digits with a decimal one among them, or
 * of 12 or more decimal digits; `#` replaces it. */
void dp_checkout_plain(struct dp_buf *buf, const char *ptr, size_t len);

#endif
