#define PERL_NO_GET_CONTEXT
#include "dpx_keys.h"
#include "dpx_hash.h"
#include "dprof/profile.h"

#include <string.h>

/* Reads a constant of an enum, within its bounds. */
static int number_of(pTHX_ const struct dpx_keys *what, const struct dpx_key *row, SV *sv)
{
    IV n = sv ? SvIV(sv) : 0;
    if (n < 0 || (UV)n >= row->most)
        croak("%s %" IVdf " of %s: the values are 0 to %lu", row->key, n, what->what,
              (unsigned long)(row->most - 1));
    return (int)n;
}

/* Adds a key to the flags of labels: `separate` and `autoload` share one field. Returns the new
 * flags. */
static unsigned label_flags(pTHX_ unsigned flags, const struct dpx_key *row, SV *sv)
{
    static const unsigned apart[] = {
        [DP_SEPARATE_NONE] = 0, [DP_SEPARATE_ALL] = DP_LABEL_SEPARATE,
        [DP_SEPARATE_CROWDED] = DP_LABEL_CROWDED
    };
    if (row->kind == DPX_AUTOLOAD)
        return SvTRUE(sv) ? flags | DP_LABEL_AUTOLOAD : flags;
    UV n = SvUV(sv);
    if (n >= dp_separate_count)
        croak("%s %" UVuf ": the values are 0 to %d", row->key, n, dp_separate_count - 1);
    return flags | apart[n];
}

/* Stores a scalar in the field of its row, whose kind gives the field's C type. Texts are borrowed,
 * as dpx_keys_take says. */
static void take_scalar(pTHX_ const struct dpx_keys *what, const struct dpx_key *row,
                        char *to, SV *sv)
{
    void *field = to + row->at;
    STRLEN len;
    switch (row->kind) {
    case DPX_CODE:  *(int *)field = (int)SvIV(sv); break;
    case DPX_FLAG:  *(int *)field = SvTRUE(sv) ? 1 : 0; break;
    case DPX_INDEX: *(long *)field = (long)SvIV(sv); break;
    case DPX_SIZE:  *(size_t *)field = (size_t)SvIV(sv); break;
    case DPX_COUNT: *(uint64_t *)field = (uint64_t)SvIV(sv); break;
    case DPX_REAL:  *(double *)field = (double)SvNV(sv); break;
    case DPX_TEXT:  *(const char **)field = dpx_text(aTHX_ sv, &len); break;
    case DPX_NAME:
        *(const char **)field = dpx_text(aTHX_ sv, &len);
        *(size_t *)(to + row->beside) = len;
        break;
    case DPX_ENUM: {
        int n = number_of(aTHX_ what, row, sv);
        memcpy(field, &n, sizeof n);
        break;
    }
    case DPX_SEPARATE: case DPX_AUTOLOAD:
        *(unsigned *)field = label_flags(aTHX_ *(unsigned *)field, row, sv);
        break;
    default:
        break;
    }
}

/* Takes elements into an array of the struct itself: no more than fit. */
static void take_array(pTHX_ const struct dpx_keys *what, const struct dpx_key *row,
                       char *to, AV *from)
{
    SSize_t n = av_len(from) + 1;
    if ((size_t)n > row->most || (row->kind == DPX_PAIR && n != 2))
        croak("%s of %s: %ld are not what fits, %lu", row->key, what->what, (long)n,
              (unsigned long)row->most);
    for (SSize_t i = 0; i < n; i++) {
        SV *sv = dpx_element(aTHX_ from, i);
        if (row->kind == DPX_PAIR) {
            ((long *)(to + row->at))[i] = sv ? (long)SvIV(sv) : 0;
            continue;
        }
        int value = row->kind == DPX_ENUMS ? number_of(aTHX_ what, row, sv)
                                           : sv ? (int)SvIV(sv) : 0;
        memcpy(to + row->at + (size_t)i * sizeof value, &value, sizeof value);
    }
    if (row->kind != DPX_PAIR)
        *(size_t *)(to + row->beside) = (size_t)n;
}

/* Makes an element of a list from the scalars at `at`. Returns false if the element is to be left
 * out. */
static bool take_element(pTHX_ const struct dpx_element *element, void *to, AV *from, SSize_t at)
{
    if (element->keys)
        dpx_keys_take_at(aTHX_ to, element->keys(), from, at);
    return !element->take || element->take(aTHX_ to, from, at);
}

/* Takes elements into a new array, which the struct points to. */
static void take_list(pTHX_ const struct dpx_key *row, char *to, AV *from)
{
    SSize_t n = av_len(from) + 1;
    STRLEN len;
    size_t count = 0, size = row->kind == DPX_LIST ? row->element->size : sizeof(void *);
    char *list = dpx_array(aTHX_ (size_t)n, row->kind == DPX_SIZES ? sizeof(size_t) : size);
    if (row->kind == DPX_LIST) {
        for (SSize_t i = 0; i + row->element->stride <= n; i += row->element->stride)
            count += take_element(aTHX_ row->element, list + count * size, from, i);
    } else {
        for (; count < (size_t)n; count++) {
            SV *sv = dpx_element(aTHX_ from, (SSize_t)count);
            if (row->kind == DPX_SIZES)
                ((size_t *)list)[count] = sv ? (size_t)SvUV(sv) : 0;
            else
                ((const char **)list)[count] = sv ? dpx_text(aTHX_ sv, &len) : "";
        }
    }
    *(void **)(to + row->at) = list;
    if (row->kind != DPX_SIZES)
        *(size_t *)(to + row->beside) = count;
}

/* Stores a value in the field of its row, which may be a scalar or a list. */
static void take_value(pTHX_ const struct dpx_keys *what, const struct dpx_key *row, char *to,
                       SV *sv)
{
    switch (row->kind) {
    case DPX_ENUMS: case DPX_NUMBERS: case DPX_PAIR:
    case DPX_SIZES: case DPX_TEXTS: case DPX_LIST: {
        AV *av = dpx_list_of(aTHX_ sv);
        if (!av)
            croak("%s of %s is no reference to an array", row->key, what->what);
        if (row->kind == DPX_ENUMS || row->kind == DPX_NUMBERS || row->kind == DPX_PAIR)
            take_array(aTHX_ what, row, to, av);
        else
            take_list(aTHX_ row, to, av);
        break;
    }
    default:
        take_scalar(aTHX_ what, row, to, sv);
    }
}

/* Takes a key of a part, or of several parts inside it: separate and autoload are such keys.
 * Returns whether any part has the key. */
static bool take_key(pTHX_ const struct dpx_keys *what, const struct dpx_keys *part, char *to,
                     const char *key, STRLEN len, SV *sv)
{
    bool known = false;
    for (size_t i = 0; i < part->n_rows; i++) {
        const struct dpx_key *row = &part->rows[i];
        if (row->kind == DPX_PART) {
            known = take_key(aTHX_ what, row->part(), to + row->at, key, len, sv) || known;
        } else if (strlen(row->key) == len && memcmp(row->key, key, len) == 0) {
            known = true;
            if (SvOK(sv))
                take_value(aTHX_ what, row, to, sv);
        }
    }
    return known;
}

void dpx_keys_take(pTHX_ void *to, const struct dpx_keys *what, HV *from)
{
    HE *he;
    hv_iterinit(from);
    while ((he = hv_iternext(from))) {
        STRLEN len;
        const char *key = HePV(he, len);
        if (!take_key(aTHX_ what, what, to, key, len, HeVAL(he)))
            croak("unknown key '%s' for %s", key, what->what);
    }
}

void dpx_keys_take_at(pTHX_ void *to, const struct dpx_keys *what, AV *from, SSize_t at)
{
    HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ from, at));
    if (!hv)
        croak("%s, number %ld, is no reference to a hash", what->what, (long)at);
    dpx_keys_take(aTHX_ to, what, hv);
}

/* The value of a field as a new scalar. Lists have no scalar: rows of them are an error of the
 * programmer. */
static SV *field_sv(pTHX_ const struct dpx_key *row, const char *from)
{
    const void *field = from + row->at;
    switch (row->kind) {
    case DPX_FLAG: case DPX_CODE: return newSViv(*(const int *)field);
    case DPX_INDEX: return newSViv(*(const long *)field);
    case DPX_SIZE: return newSVuv(*(const size_t *)field);
    case DPX_COUNT: return newSVuv((UV)*(const uint64_t *)field);
    case DPX_REAL: return newSVnv(*(const double *)field);
    case DPX_TEXT: return newSVpv(*(const char *const *)field, 0);  /* undef for NULL */
    case DPX_NAME:
        return dpx_name_sv(aTHX_ *(const char *const *)field,
                           *(const size_t *)(const void *)(from + row->beside));
    default: croak("a field of kind %d has no scalar", (int)row->kind);
    }
}

void dpx_keys_give(pTHX_ HV *to, const struct dpx_keys *what, const void *from)
{
    for (size_t i = 0; i < what->n_rows; i++) {
        const struct dpx_key *row = &what->rows[i];
        (void)hv_store(to, row->key, (I32)strlen(row->key),
                       field_sv(aTHX_ row, from), 0);
    }
}

void dpx_keys_list(pTHX_ const struct dpx_keys *what, AV *to)
{
    for (size_t i = 0; i < what->n_rows; i++) {
        if (what->rows[i].kind == DPX_PART)
            dpx_keys_list(aTHX_ what->rows[i].part(), to);
        else
            av_push(to, newSVpv(what->rows[i].key, 0));
    }
}
