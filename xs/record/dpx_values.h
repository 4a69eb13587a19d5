/* heap=exact: the values that are alive, by the context and the statement that made them. perl
 * gives out the heads of values from a list of free ones. A copy of that list is kept, and after
 * each op the run loop compares the two: heads that have left the list are values that the op has
 * made, and heads that are on it again are dead. dpx_values.c says what this does not see. */
#ifndef DPX_VALUES_H
#define DPX_VALUES_H

#include "dpx.h"

/* A free head of the copy has this count of references. perl sets the count when it gives a head
 * out or takes one back, so a head with it has not been touched since. */
enum { DPX_VALUES_FREE = 0x40000000 };

#define DPX_VALUES_MARKED   0x80000000u

struct dpx_values {
    SV *top;                    /* the first free head at the last look; NULL: none, or off */
    struct dp_cct_node *node;   /* the context ... */
    struct dp_stmt *line;       /* ... and the statement that ran then ... */
    U32 file_line;              /* ... with its line in the file, and ... */
    size_t tree;                /* ... the number of the tree with that context */
    size_t own_tree;            /* that of the recording: a stretch that is held back has another
                                 * one, which may be gone later */
    bool off;                   /* the values of this interpreter are not followed any more */
    bool is_last;               /* the census at the end of the program has been taken */
    SV **free;                  /* the copy of the list, the first head last */
    size_t n_free, free_cap;
    SV **freed;                 /* scratch: heads that are free since the last look */
    size_t freed_cap;
    void *arena;                /* the newest arena then */
    struct dp_map pages;        /* address >> 12 -> number of its cells in `cells` ... */
    uint32_t (**cells)[256];    /* ... which have the site of each value, 0: unknown, and `mark` */
    uint32_t mark;              /* of values that are made from now on: 0, or DPX_VALUES_MARKED */
    size_t n_cells, cells_cap;
    UV page;                    /* the page of the last cell, and ... */
    uint32_t *page_cells;       /* ... its cells; NULL: there was none */
    struct dp_map site_of;      /* number of a node, number of a statement or, where there are no
                                 * statements, of a line -> site */
    bool sizes_old;             /* a census adds up the bytes of values of no known place, too: */
    uint64_t old_bytes, old_before;     /* of the last census, and of the one before it */
    uint32_t censuses;          /* that files have */
    struct dpx_made_at {        /* the n-th is site n + 1 */
        struct dp_cct_node *node;
        struct dp_stmt *line;
        U32 file_line;
        uint64_t made, values, bytes;       /* what the counters have so far */
        uint64_t live, live_bytes;          /* of the last census */
        uint64_t before, before_bytes;      /* of the one before it, ... */
        uint64_t first_bytes;               /* ... and of the first one that a file has */
        const HV *class;                    /* of an object among them; NULL: there is none */
        SV *value;                          /* one that was made since the last mark, an object or
                                             * array or hash if there is one; NULL: none */
        uint64_t all;                       /* values that it has made */
    } *sites;
    size_t n_sites, sites_cap;
    struct dp_map kinds, typed_of;      /* with heap-types: ids of types in the census that is
                                         * taken; site, id of a type -> number in `typed' */
    struct dpx_typed {          /* the values of a site that have a type */
        uint32_t site, kind;
        uint64_t live, live_bytes;      /* of the last census */
        uint64_t values, bytes;         /* what the counters have */
    } *typed;
    size_t n_typed, typed_cap;
};

/* Begins to follow the values of this interpreter, also after an end. Those that it has already are
 * of no known place. Returns false if memory is short. */
bool dpx_values_begin(pTHX_ struct dpx_ctx *ctx);

/* The list of free heads has changed since the last look. */
void dpx_values_changed(pTHX_ struct dpx_ctx *ctx, struct dpx_values *v);

/* Looks at the list after an op, which is charged to the context and the statement before it. */
DP_INLINE void dpx_values_look(pTHX_ struct dpx_ctx *ctx, struct dpx_values *v)
{
    const SV *top = PL_sv_root;
    if (DP_UNLIKELY(top != v->top || !top || SvREFCNT(top) != DPX_VALUES_FREE))
        dpx_values_changed(aTHX_ ctx, v);
    v->node = ctx->rec.marks.cur;
    v->line = ctx->rec.marks.line;
    v->file_line = CopLINE(PL_curcop);
    v->tree = ctx->rec.cct.serial;
}

/* Counts what is alive, by site, and keeps the counts of the census before. */
void dpx_values_take_census(pTHX_ struct dpx_ctx *ctx);

/* Takes a census, of values or blocks, and gives the counts to the contexts and statements, in
 * place of those of the time before. */
void dpx_values_count(pTHX_ struct dpx_ctx *ctx);

/* Forgets the places of all values: the tree of contexts is gone. */
void dpx_values_forget(pTHX_ struct dpx_ctx *ctx);

/* Has the values counted where the main program ends, and its variables are still there; at the
 * latest before perl frees what still lives. Called when the main program begins. */
void dpx_values_watch_end(pTHX);

/* The main program ends: counts what is alive, once, values or blocks. */
void dpx_values_last(pTHX_ struct dpx_ctx *ctx);

/* Ends that, and gives perl's list back as it was. */
void dpx_values_end(pTHX_ struct dpx_ctx *ctx);

void dpx_values_free(struct dpx_ctx *ctx);

#endif
