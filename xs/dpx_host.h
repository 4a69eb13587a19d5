/* The bridge between the analyzers and perl: host callbacks, conversions. */
#ifndef DPX_HOST_H
#define DPX_HOST_H

#include "EXTERN.h"
#include "perl.h"
#include "dprof/classic.h"
#include "dprof/report.h"
#include "dprof/stacks.h"
#include "dprof/trace.h"

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

/* The options of a hash, as src/dprof/ lists them. What they point to is borrowed from the hash, or
 * lives as long as the statement; croaks where there is a key that nobody knows. */
unsigned dpx_label_flags(pTHX_ HV *from);
/* Returns the names that the table goes by: the caller's. */
struct dp_names *dpx_classic(pTHX_ struct dp_classic *how, const struct dp_prof *prof, HV *from);
void dpx_report(pTHX_ struct dp_report *how, HV *from);

/* Profiles with what is told of their files: [profile, flags, script, pid, thread] each. */
const struct dp_over_side *dpx_sides(pTHX_ AV *from);

/* Sides of runs of parts (Devel::DProf::Diff has the layout). As long-lived as the above. */
const struct dp_diff_side *dpx_diff_sides(pTHX_ AV *from, SSize_t least);
void dpx_diff(pTHX_ struct dp_diff_how *how, HV *from);

/* The names that were drawn, each with its colour. */
struct dpx_colours {
    AV *list;
#ifdef MULTIPLICITY
    PerlInterpreter *perl;
#endif
};
int dpx_take_colour(void *ctx, const char *name, size_t len, const char *rgb);
void dpx_flame(pTHX_ struct dp_flame_how *how, HV *from, size_t n_sides);
void dpx_fold(pTHX_ struct dp_fold_how *how, HV *from, size_t n_sides);

/* The names of subs as a difference shows them: for each [profile, side] a list, sub
 * by sub. Mortal. */
AV *dpx_paired_labels(pTHX_ AV *from, HV *options);

/* An outcome as a reference to a hash. */
SV *dpx_outcome_sv(pTHX_ const struct dp_outcome *o, const struct dp_names *names);

const char *dpx_error_text(int code);
/* The error of a negative code, with a text. */
void dpx_check(pTHX_ long code);

/* Two elements of a list as texts; false where one is undef. */
bool dpx_two_texts(pTHX_ AV *from, SSize_t at, const char **one, size_t *one_len,
                   const char **two, size_t *two_len);

#endif
