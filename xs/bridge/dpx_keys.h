/* Turns perl's hashes into the option structs of src/dprof/: tables that are made of the lists
 * there, and the one function that reads the tables. */
#ifndef DPX_KEYS_H
#define DPX_KEYS_H

#include "EXTERN.h"
#include "perl.h"

enum dpx_kind {
    DPX_FLAG, DPX_CODE, DPX_INDEX, DPX_SIZE, DPX_COUNT, DPX_REAL, DPX_TEXT, DPX_NAME, DPX_ENUM,
    DPX_SEPARATE, DPX_AUTOLOAD,
    DPX_ENUMS, DPX_NUMBERS, DPX_PAIR, DPX_SIZES, DPX_TEXTS, DPX_LIST,
    DPX_PART,                   /* a struct inside, whose fields are in the same hash */
    DPX_OWN                     /* a known key, whose value the caller takes */
};

typedef const struct dpx_keys *dpx_keys_of(void);

/* The elements of a list, each made of `stride` perl scalars. If an element is a hash, its keys are
 * taken first. take, if any, returns false for an element that shall be left out. */
struct dpx_element {
    size_t size;
    SSize_t stride;
    dpx_keys_of *keys;
    bool (*take)(pTHX_ void *to, AV *from, SSize_t at);
};
#define DPX_ELEMENT(of, stride, keys, take) \
    const struct dpx_element dpx_element_##of = { sizeof(struct of), stride, keys, take }

struct dpx_key {
    const char *key;
    enum dpx_kind kind;
    size_t at;                  /* offset of the field */
    size_t beside;              /* offset of the field of its length, or of the number of
                                 * elements */
    size_t most;                /* number of constants of an enum, or of elements that fit an
                                 * array */
    const struct dpx_element *element;
    dpx_keys_of *part;
};

struct dpx_keys {
    const char *what;           /* for messages: "a report" */
    const struct dpx_key *rows;
    size_t n_rows;
};

/* A row for each entry of a list, for the struct DPX_STRUCT. */
#define DPX_ROW(type, ...) DPX_ROW_##type(__VA_ARGS__)
#define DPX_AT(field) offsetof(DPX_STRUCT, field)
/* The table reads and writes enums as int. */
#define DPX_COUNT_OF(of) (of##_count + 0 * sizeof(char[sizeof(enum of) == sizeof(int) ? 1 : -1]))
#define DPX_ROW_FLAG(f)  { #f, DPX_FLAG, DPX_AT(f), 0, 0, NULL, NULL },
#define DPX_ROW_CODE(f)  { #f, DPX_CODE, DPX_AT(f), 0, 0, NULL, NULL },
#define DPX_ROW_INDEX(f) { #f, DPX_INDEX, DPX_AT(f), 0, 0, NULL, NULL },
#define DPX_ROW_SIZE(f)  { #f, DPX_SIZE, DPX_AT(f), 0, 0, NULL, NULL },
#define DPX_ROW_COUNT(f) { #f, DPX_COUNT, DPX_AT(f), 0, 0, NULL, NULL },
#define DPX_ROW_REAL(f)  { #f, DPX_REAL, DPX_AT(f), 0, 0, NULL, NULL },
#define DPX_ROW_TEXT(f)  { #f, DPX_TEXT, DPX_AT(f), 0, 0, NULL, NULL },
#define DPX_ROW_OWNED(f) DPX_ROW_TEXT(f)
#define DPX_ROW_PAIR(f)  { #f, DPX_PAIR, DPX_AT(f), 0, 2, NULL, NULL },
#define DPX_ROW_SIZES(f) { #f, DPX_SIZES, DPX_AT(f), 0, 0, NULL, NULL },
#define DPX_ROW_OWN(f)   { #f, DPX_OWN, 0, 0, 0, NULL, NULL },
#define DPX_ROW_NAME(f)  { #f, DPX_NAME, DPX_AT(f), DPX_AT(f##_len), 0, NULL, NULL },
#define DPX_ROW_TEXTS(f) { #f, DPX_TEXTS, DPX_AT(f), DPX_AT(n_##f), 0, NULL, NULL },
#define DPX_ROW_ENUM(f, of)  { #f, DPX_ENUM, DPX_AT(f), 0, DPX_COUNT_OF(of), NULL, NULL },
#define DPX_ROW_ENUMS(f, of) \
    { #f, DPX_ENUMS, DPX_AT(f), DPX_AT(n_##f), DPX_COUNT_OF(of), NULL, NULL },
#define DPX_ROW_NUMBERS(f, most) { #f, DPX_NUMBERS, DPX_AT(f), DPX_AT(n_##f), most, NULL, NULL },
#define DPX_ROW_LIST(f, of) \
    { #f, DPX_LIST, DPX_AT(f), DPX_AT(n_##f), 0, &dpx_element_##of, NULL },
#define DPX_ROW_PART(f, of) { "", DPX_PART, DPX_AT(f), 0, 0, NULL, dpx_keys_##of },
#define DPX_ROW_LABELS(f) \
    { "separate", DPX_SEPARATE, DPX_AT(f), 0, 0, NULL, NULL }, \
    { "autoload", DPX_AUTOLOAD, DPX_AT(f), 0, 0, NULL, NULL },

/* The table of a struct, made of the same list as the struct. It is a function, since the rows need
 * the struct's name, which no list has. */
#define DPX_KEYS(of, LIST, text) \
    const struct dpx_keys *dpx_keys_##of(void) \
    { \
        typedef struct of DPX_STRUCT; \
        static const struct dpx_key rows[] = { LIST(DPX_ROW) }; \
        static const struct dpx_keys keys = { text, rows, C_ARRAY_LENGTH(rows) }; \
        return &keys; \
    }

/* Fills in the fields that the hash has; fields that it lacks, or has as undef, stay. Croaks with
 * the name of a key that is unknown, or has an impossible value. Memory that the fields point to
 * lives as long as the statement. */
void dpx_keys_take(pTHX_ void *to, const struct dpx_keys *what, HV *from);

/* Fills in the fields, like dpx_keys_take, from a hash that is an element of a list. */
void dpx_keys_take_at(pTHX_ void *to, const struct dpx_keys *what, AV *from, SSize_t at);

/* Does the reverse: stores the fields in a hash. Only fields of numbers and texts are possible;
 * NULL becomes undef. */
void dpx_keys_give(pTHX_ HV *to, const struct dpx_keys *what, const void *from);

/* Pushes the keys on a list, as strings. */
void dpx_keys_list(pTHX_ const struct dpx_keys *what, AV *to);

/* All tables: dpx_keys_dp_report() is that of struct dp_report. */
extern dpx_keys_of
    dpx_keys_dp_label_how, dpx_keys_dp_classic, dpx_keys_dpx_classic, dpx_keys_dp_take,
    dpx_keys_dp_write_how,
    dpx_keys_dp_trace_how, dpx_keys_dp_report_how, dpx_keys_dp_report, dpx_keys_dp_given_table,
    dpx_keys_dp_pair_how, dpx_keys_dp_diff_how,
    dpx_keys_dpx_fold, dpx_keys_dpx_flame, dpx_keys_dpx_export;
extern const struct dpx_element dpx_element_dp_report_fact;

#endif
