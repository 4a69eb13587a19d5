/* The code of a target's perl: its statements (COPs) and subs (CVs), by their addresses.
 *
 * Reading them for each sample would be most of its cost, so they are kept. But the target frees
 * and reuses memory, so an address says nothing by itself: before a statement or a sub is used in a
 * new look, its bytes must be the same as when it was read. dp_optree_check compares all that a
 * stack needs in one reading; what it has not compared is read again when it is used.
 *
 * The tables have a fixed size, and a new entry takes the place of an old one. So the memory is
 * bounded, whatever the target does. */
#ifndef DP_OPTREE_H
#define DP_OPTREE_H

#include "dp_map.h"
#include "dp_perl.h"
#include "dp_pool.h"

/* A statement. */
struct dp_optree_cop {
    dp_addr at;                 /* 0: free */
    unsigned look;              /* the last look in which it was found unchanged */
    unsigned asked;             /* the last look in which a check has asked for it */
    uint32_t serial;            /* another one each time that it was read anew */
    uint32_t line;
    uint32_t file;              /* number in dp_optree.files */
    dp_addr root;               /* the op around all statements of its sub or file; 0: the code is
                                 * still being compiled */
    unsigned root_type;
    bool is_open;               /* a root may still come */
    char bytes[96];
};

/* A sub. */
struct dp_optree_sub {
    dp_addr at;                 /* 0: free */
    unsigned look, asked;       /* as above */
    uint32_t name;              /* number in dp_optree.names */
    bool is_xs;
    dp_addr body, root;
    char bytes[120];            /* of its body */
};

enum { DP_OPTREE_COPS = 1 << 14, DP_OPTREE_SUBS = 1 << 13 };

struct dp_optree {
    struct dp_perl *perl;       /* borrowed */
    struct dp_target *target;   /* the same one as perl's */
    struct dp_pool files;       /* names of files, as perl has them */
    struct dp_pool names;       /* subs as the & lines of profiles: PACKAGE NAME PLACE ... */
    struct dp_optree_cop *cops;
    struct dp_optree_sub *subs;
    uint32_t serial;
    struct dp_buf text;         /* scratch */
    uint64_t read_anew;         /* how often a statement or a sub had changed */
};

/* Begins to read the optrees of a perl. perl is borrowed, and its layout known. Returns 0 or
 * DP_E_NOMEM. Release it in any case. */
int dp_optree_init(struct dp_optree *code, struct dp_perl *perl);
void dp_optree_release(struct dp_optree *code);

/* The statement or sub at an address; NULL: there is none. Valid until the next call for one of its
 * kind. */
const struct dp_optree_cop *dp_optree_cop(struct dp_optree *code, dp_addr at);
const struct dp_optree_sub *dp_optree_sub(struct dp_optree *code, dp_addr at);

/* A reading that compares what is kept with what is there now: begin, add addresses and other
 * parts, end. */
struct dp_optree_check {
    struct dp_target_part parts[DP_TARGET_PARTS];
    char (*bytes)[128];         /* room for each part */
    struct { int kind; size_t entry; } of[DP_TARGET_PARTS];
    size_t n;
};
void dp_optree_check_begin(struct dp_optree_check *check);
void dp_optree_check_cop(struct dp_optree *code, struct dp_optree_check *check, dp_addr at);
void dp_optree_check_sub(struct dp_optree *code, struct dp_optree_check *check, dp_addr at);
/* Makes the check read a word as well. Returns the number of the word's part; the word is in
 * check->bytes after the check. SIZE_MAX: there is no room. */
size_t dp_optree_check_word(struct dp_optree_check *check, dp_addr at);
bool dp_optree_check_end(struct dp_optree *code, struct dp_optree_check *check);

/* Is it the statement of the compiler, PL_compiling? */
bool dp_optree_is_compiling(const struct dp_optree *code, dp_addr interpreter, dp_addr cop);

/* Appends the text of a HEK as UTF-8, as a field of a profile. Returns false if there is none. */
bool dp_optree_add_hek(struct dp_optree *code, dp_addr hek, struct dp_buf *to);
/* The HEK of a package's name; 0: it has none. */
dp_addr dp_optree_stash_name(struct dp_optree *code, dp_addr stash);

#endif
