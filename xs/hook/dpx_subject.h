/* What a call of a library is about: the statement of DBI's execute, the address of a request. All
 * is read from the arguments as they are. No magic is called, and no code of the program's. */
#ifndef DPX_SUBJECT_H
#define DPX_SUBJECT_H

#include "dpx_detail.h"

/* The text of a span whose own text only code of the program could tell: that of a tied variable, or
 * of an object. */
#define DPX_SUBJECT_UNREADABLE "(unreadable)"

/* The arguments of a call. Elements may be NULL. */
struct dpx_args {
    SV **at;
    SSize_t n;
};

struct dpx_subject {
    U32 id;                     /* of the span; 0: the call is none */
    U32 statement;              /* for DBI: the id of the statement, also if the call is no span */
    bool is_again;              /* the call goes on with a statement, and is no execution */
};

/* Finds the subject of a call of a sub in the list. */
struct dpx_subject dpx_subject_find(pTHX_ struct dpx_ctx *ctx, const struct dpx_detail_sub *sub,
                                    const struct dpx_args *args);

/* The same for a call of DBI. */
struct dpx_subject dpx_subject_sql(pTHX_ struct dpx_ctx *ctx, const struct dpx_detail_sub *sub,
                                   const struct dpx_args *args);

/* The id of the span that a builtin is, by its op, PL_op, and what lies on perl's stack; 0: it is
 * none. */
U32 dpx_subject_op(pTHX_ struct dpx_ctx *ctx);

/* The kinds of detail= for which ops of a type are spans, as bits. */
unsigned dpx_subject_kinds(Optype type);

/* Appends the name of the program that a command starts. first: the command, or its first word, if
 * is_list. Returns false if it has no text. */
bool dpx_subject_command(struct dp_buf *to, SV *first, bool is_list);

/* The text of a value, without calling magic or code of the program; NULL: it has none. */
const char *dpx_subject_text(SV *sv, STRLEN *len);

/* Argument i, or NULL. */
SV *dpx_subject_argument(const struct dpx_args *args, SSize_t i);

/* The value under a key, or NULL. A hash with magic that calls code has none. */
SV *dpx_subject_element(pTHX_ HV *hv, const char *key);

/* Does a call of this method of DBI return rows? */
bool dpx_subject_has_rows(const struct dpx_detail_sub *sub);

/* Their number: n values were returned, in list context or not. */
U64 dpx_subject_rows(pTHX_ const struct dpx_detail_sub *sub, SV **values, SSize_t n, bool is_list);

#endif
