/* The constants of src/dprof/ and their words, as perl's data. */
#ifndef DPX_CONSTANTS_H
#define DPX_CONSTANTS_H

#include "EXTERN.h"
#include "perl.h"

/* Makes a constant sub of a package from the constant that has this name in C. Returns false if
 * there is no such constant. */
bool dpx_constants_make(pTHX_ const char *package, const char *name);

/* Pushes the words of a list, each followed by its number: text, 0, csv, 1 ... for `format`. With
 * others, the second words of the rows follow. Croaks if there is no list of that name. */
void dpx_constants_words(pTHX_ const char *list, bool others, AV *to);

/* Pushes the keys that the options of a view (`report`, `diff` ...) may have. Croaks if there is no
 * such view. */
void dpx_constants_keys(pTHX_ const char *view, AV *to);

#endif
