/* Names of subs, from their CVs: the id of each, with its & line in the file. */
#ifndef DPX_NAME_H
#define DPX_NAME_H

#include "dpx.h"

/* The id of a sub, with DPX_ID_... flags; if it is 0 except for flags, the sub is not recorded.
 * start: its first op, NULL for an XS sub. Calls and changes nothing of the program's. */
U32 dpx_name_find(pTHX_ struct dpx_ctx *ctx, CV *cv, UV name, const OP *start);

/* The package and the name of a CV; either may be NULL. */
void dpx_name_parts(CV *cv, const HEK **package, const HEK **name);

/* A number for package and name of a CV as they are now: of 64 bits, or of as many
 * as a pointer has. */
UV dpx_name_key(CV *cv);

/* The id for the sub in whose place AUTOLOAD cv, of this id, is called; 0: it is not recorded. */
U32 dpx_name_wanted(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, const OP *start);

/* The id of a builtin; 0: it is not recorded. */
U32 dpx_name_builtin(pTHX_ struct dpx_ctx *ctx, const char *name);

/* The id of the compilation of a file, `(compile) FILE`; all string evals have one, `(compile)
 * (eval)`. */
U32 dpx_name_compiling(pTHX_ struct dpx_ctx *ctx, const char *file);

/* The id of a phase's name. */
U32 dpx_name_phase(struct dpx_ctx *ctx, const char *name, size_t len);

/* The id of a span. Kind and text are UTF-8, or else Latin-1; place: FILE:LINE as in a
 * profile, or NULL. Returns 0
 * if memory is short, or if the span has no id yet and add is false. */
U32 dpx_name_span(struct dpx_ctx *ctx, const char *kind, size_t kind_len, const char *text,
                  size_t len, const char *place, bool add);

/* The number of the place of a statement; 0: it has none. */
uint32_t dpx_name_site_of(pTHX_ struct dpx_ctx *ctx, const COP *cop);

/* Returns PACKAGE::NAME or CORE:NAME of an id as the file has it, a new SV; undef for 0. */
SV *dpx_name_of(pTHX_ const struct dpx_ctx *ctx, U32 id);

/* Frees the names and the ids of subs. */
void dpx_name_release(struct dpx_names *names);

#endif
