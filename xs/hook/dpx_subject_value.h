/* The arguments of calls, and the values in them, read without calling magic or code of the
 * program. */
#ifndef DPX_SUBJECT_VALUE_H
#define DPX_SUBJECT_VALUE_H

#include "dpx_detail.h"

/* The text of a span whose own text only code of the program could tell: that of a tied variable,
 * or of an object. */
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

/* Appends the name of the program that a command starts. first: the command, or its first word, if
 * is_list. Returns false if it has no text. */
bool dpx_subject_command(struct dp_buf *to, SV *first, bool is_list);

/* The text of a value, without calling magic or code of the program; NULL: it has none. */
const char *dpx_subject_text(SV *sv, STRLEN *len);

/* Argument i, or NULL. */
SV *dpx_subject_argument(const struct dpx_args *args, SSize_t i);

/* The value under a key; NULL: there is none, or it is undefined. A hash with magic that calls code
 * has none. */
SV *dpx_subject_element(pTHX_ HV *hv, const char *key);

#endif
