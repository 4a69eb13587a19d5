/* The bridge between the analyzers and perl: host callbacks, conversions. */
#ifndef DPX_HOST_H
#define DPX_HOST_H

#include "dpx_hash.h"
#include "dpx_compat.h"
#include "dprof/classic.h"

/* Callbacks that write to a handle and call a sub. It lives on the XSUB's stack; handle and sub are
 * the caller's. */
struct dpx_host {
    struct dp_host host;
    PerlIO *out;
    SV *progress;
    DPX_PERL_MEMBER
};

/* Makes a host that writes to a handle of Perl. progress: a reference to the sub that is called
 * meanwhile, or undef. */
void dpx_host_init(pTHX_ struct dpx_host *h, PerlIO *out, SV *progress);

/* The profile inside a blessed reference; croaks if it holds none. */
struct dp_prof *dpx_prof_of(pTHX_ SV *sv);
/* The profile inside a blessed reference, whose contexts may still be packed (dp_prof_waits). */
struct dp_prof *dpx_prof_waiting(pTHX_ SV *sv);
SV *dpx_prof_sv(pTHX_ const char *package, struct dp_prof *prof);

/* Take options from a hash, as src/dprof/ lists them. Memory that they point to is borrowed from
 * the hash, or lives as long as the statement. Croak if there is an unknown key. */
unsigned dpx_label_flags(pTHX_ HV *from);
/* Returns the names of the table's rows, which the caller frees. */
struct dp_names *dpx_classic(pTHX_ struct dp_classic *how, const struct dp_prof *prof, HV *from);

/* An outcome as a reference to a hash. */
SV *dpx_outcome_sv(pTHX_ const struct dp_outcome *o, const struct dp_names *names);

/* A stretch of time, [from, to, percent], where undef is no limit. Returns true, or croaks. */
bool dpx_range(pTHX_ struct dp_range *range, SV *from);

/* Fetches two elements of a list as texts. Returns false if one is undef. */
bool dpx_two_texts(pTHX_ AV *from, SSize_t at, const char **one, size_t *one_len,
                   const char **two, size_t *two_len);

#endif
