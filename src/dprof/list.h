/* Lists that are written once, for C and perl. A list is a macro whose rows are calls of another
 * macro: it becomes an enum or a struct here, and tables for perl's side in xs/. */
#ifndef DPROF_LIST_H
#define DPROF_LIST_H

#include <stddef.h>
#include <stdint.h>

/* Makes an enum from a list of X(CONSTANT, "word", ...), and its number of constants:
 * name_count. */
#define DP_ENUM(name, LIST) \
    enum name { LIST(DP_ENUM_ID) }; \
    enum { name##_count = 0 LIST(DP_ENUM_ONE) }
#define DP_ENUM_ID(id, ...) id,
#define DP_ENUM_ONE(...) + 1

/* Makes a struct's members from a list of X(TYPE, field) or X(TYPE, field, OF). Perl's hashes have
 * the names of the fields as keys, in both directions. A missing field keeps its value: 0, or the
 * default that xs/ sets. */
#define DP_MEMBER(type, ...) DP_MEMBER_##type(__VA_ARGS__)
#define DP_MEMBER_FLAG(field) int field;                        /* 0, 1 */
#define DP_MEMBER_CODE(field) int field;                        /* 0, or an error code */
#define DP_MEMBER_INDEX(field) long field;                      /* -1: none */
#define DP_MEMBER_SIZE(field) size_t field;
#define DP_MEMBER_COUNT(field) uint64_t field;
#define DP_MEMBER_REAL(field) double field;
#define DP_MEMBER_TEXT(field) const char *field;                /* UTF-8; NULL: none */
#define DP_MEMBER_OWNED(field) char *field;                     /* owned by the struct; NULL:
                                                                 * none */
#define DP_MEMBER_NAME(field) const char *field; size_t field##_len;
#define DP_MEMBER_ENUM(field, of) enum of field;
#define DP_MEMBER_ENUMS(field, of) enum of field[of##_count]; size_t n_##field;
#define DP_MEMBER_NUMBERS(field, most) int field[most]; size_t n_##field;
#define DP_MEMBER_PAIR(field) long field[2];
#define DP_MEMBER_SIZES(field) const size_t *field;             /* NULL: none */
#define DP_MEMBER_TEXTS(field) const char *const *field; size_t n_##field;
#define DP_MEMBER_LIST(field, of) const struct of *field; size_t n_##field;
#define DP_MEMBER_PART(field, of) struct of field;              /* its fields are keys of the hash,
                                                                 * too */
#define DP_MEMBER_LABELS(field) unsigned field;                 /* enum dp_label */
#define DP_MEMBER_OWN(field)                                    /* declared next to the list */

#endif
