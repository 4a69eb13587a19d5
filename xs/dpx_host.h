/* The bridge between the analyzers and perl: host callbacks, conversions. */
#ifndef DPX_HOST_H
#define DPX_HOST_H

#include "EXTERN.h"
#include "perl.h"
#include "dprof.h"

/* Callbacks that write to a handle and call a sub. Lives on the XSUB's stack;
 * handle and sub are the caller's. */
struct dpx_host {
    struct dp_host host;
    PerlIO *out;
    SV *progress;
#ifdef MULTIPLICITY
    PerlInterpreter *perl;
#endif
};

void dpx_host_init(pTHX_ struct dpx_host *h, PerlIO *out, SV *progress);

/* The profile inside a blessed reference; croaks when it is none. */
struct dp_prof *dpx_prof_of(pTHX_ SV *sv);
SV *dpx_prof_sv(pTHX_ const char *package, struct dp_prof *prof);

/* A name as a perl string: characters where it is UTF-8, else bytes. */
SV *dpx_name_sv(pTHX_ const char *ptr, STRLEN len);

/* The fields of a hash by their names in struct dp_classic. What it points to
 * is borrowed from the hash. */
void dpx_classic(pTHX_ struct dp_classic *how, HV *from, const struct dp_names *names);
unsigned dpx_label_flags(pTHX_ HV *from);

/* An outcome as a reference to a hash. */
SV *dpx_outcome_sv(pTHX_ const struct dp_outcome *o, const struct dp_names *names);

const char *dpx_error_text(int code);
/* The error of a negative code, with a text. */
void dpx_check(pTHX_ long code);

/* What is taken of a profile, and how it is written, from perl's data. */
void dpx_take(pTHX_ struct dp_take *take, HV *from);
void dpx_write_how(pTHX_ struct dp_write_how *how, HV *from);

#endif
