/* Fields of perl's hashes in the form that C needs, and C's texts and errors in the form that perl
 * needs. Values that are returned from a hash live as long as the statement. */
#ifndef DPX_HASH_H
#define DPX_HASH_H

#include "EXTERN.h"
#include "perl.h"

/* The field's value; NULL if there is none, or it is undef. */
SV *dpx_field(pTHX_ HV *from, const char *name);
/* A field that is a reference to an array, or NULL. */
AV *dpx_list(pTHX_ HV *from, const char *name);
/* The n-th element; NULL if there is none, or it is undef. */
SV *dpx_element(pTHX_ AV *av, SSize_t n);
HV *dpx_hash_of(pTHX_ SV *sv);
AV *dpx_list_of(pTHX_ SV *sv);

/* The bytes of a copy of a scalar: UTF-8 if it holds characters, else as they are. */
const char *dpx_text(pTHX_ SV *sv, STRLEN *len);

/* Makes n zeroed elements of `size` bytes, which are freed when the statement's scope ends. */
void *dpx_array(pTHX_ size_t n, size_t size);

/* A name as a perl string: characters if it is UTF-8, else bytes; undef for NULL. */
SV *dpx_name_sv(pTHX_ const char *ptr, STRLEN len);

const char *dpx_error_text(int code);
/* Croaks with the text of a negative code. */
void dpx_check(pTHX_ long code);

#endif
