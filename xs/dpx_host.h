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

/* The fields of a hash by their names in struct dp_classic. What it points to
 * is borrowed from the hash. */
void dpx_classic(pTHX_ struct dp_classic *how, HV *from, const struct dp_names *names);
unsigned dpx_label_flags(pTHX_ HV *from);

/* The fields of a hash by their names in struct dp_report, and profiles with what is told of
 * their files: [profile, flags, script, pid, thread] each. All lives as long as the arguments
 * and the statement. */
void dpx_report(pTHX_ struct dp_report *how, HV *from);
const struct dp_over_side *dpx_sides(pTHX_ AV *from);

void dpx_over(pTHX_ struct dp_over_how *how, HV *from);
const struct dp_report_fact *dpx_facts(pTHX_ HV *from, size_t *count);

/* Sides of runs of parts, and the fields of a hash by their names in struct dp_diff_how
 * (Devel::DProf::Diff has the layout). As long-lived as the above. */
const struct dp_diff_side *dpx_diff_sides(pTHX_ AV *from, SSize_t least);
void dpx_diff(pTHX_ struct dp_diff_how *how, HV *from);

/* The fields of a hash by their names in struct dp_stacks_how, struct dp_fold_how; how many
 * sides there are. */
void dpx_stacks(pTHX_ struct dp_stacks_how *how, HV *from, size_t n_sides);
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
void dpx_pairing(pTHX_ struct dp_pair_how *how, HV *from);

/* An outcome as a reference to a hash. */
SV *dpx_outcome_sv(pTHX_ const struct dp_outcome *o, const struct dp_names *names);

const char *dpx_error_text(int code);
/* The error of a negative code, with a text. */
void dpx_check(pTHX_ long code);

/* What is taken of a profile, and how it is written, from perl's data. */
void dpx_take(pTHX_ struct dp_take *take, HV *from);
void dpx_write_how(pTHX_ struct dp_write_how *how, HV *from);

#endif
