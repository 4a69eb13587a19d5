/* What was found by attaching, as perl's data. */
#ifndef DPX_ATTACH_DATA_H
#define DPX_ATTACH_DATA_H

/* First: perl's headers have macros with the names of fields in struct dp_layout. */
#include "dpx_attach.h"
#include "dpx.h"

/* The target of an object; croaks if there is none. The object of another thread, or of the parent
 * of a fork, has none here. */
struct dpx_attach *dpx_attach_of(pTHX_ SV *self);
bool dpx_attach_is_here(pTHX_ SV *self);

/* Samples the targets, objects of Perl, by dpx_attach_run() for some seconds. rate: samples per
 * second and thread. Returns how many targets are left. Croaks if an object has no target. */
size_t dpx_attach_run_list(pTHX_ AV *targets, double rate, double seconds);

/* The stacks: a reference to a list of threads, each a hash of
 *   tid, number, state, op, leaf    leaf: the XS sub or builtin that runs
 *   outside                         true: the program around perl runs
 *   inside                          kinds of stackinfos, the innermost first: sort, signal ...
 *   failed                          true: no stack that fits was found
 *   frames                          the innermost first: hashes of kind (sub, eval, require, main),
 *                                   sub, file, line, args */
SV *dpx_attach_dump(pTHX_ struct dpx_attach *a, bool args);
SV *dpx_attach_counts(pTHX_ const struct dpx_attach *a);
SV *dpx_attach_profile(pTHX_ struct dpx_attach *a, size_t thread, HV *head);
void dpx_attach_renew(struct dpx_attach *a);
SV *dpx_attach_layout(pTHX_ bool own);

#endif
