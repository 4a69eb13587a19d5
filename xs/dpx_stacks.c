/* The options of dproffold and dprofflame, from perl's data. */
#define PERL_NO_GET_CONTEXT
#include "dpx_hash.h"
#include "dpx_host.h"

/* columns: for each measure and side a hash of metric and counters. */
static void take_columns(pTHX_ struct dp_stacks_how *how, HV *from, size_t n_sides)
{
    AV *av = dpx_list(aTHX_ from, "columns");
    size_t n = av ? (size_t)(av_len(av) + 1) : 0;
    struct dp_stacks_column *columns = dpx_array(aTHX_ n, sizeof *columns);
    if (!n || n % n_sides)
        croak("%ld columns do not go with %ld sides", (long)n, (long)n_sides);
    for (size_t i = 0; i < n; i++) {
        HV *hv = dpx_hash_of(aTHX_ dpx_element(aTHX_ av, (SSize_t)i));
        if (!hv)
            croak("column %ld is none", (long)i);
        AV *counters = dpx_list(aTHX_ hv, "counters");
        SSize_t parts = counters ? av_len(counters) + 1 : 0;
        size_t *numbers = dpx_array(aTHX_ (size_t)parts, sizeof *numbers);
        for (SSize_t k = 0; k < parts; k++) {
            SV *sv = dpx_element(aTHX_ counters, k);
            numbers[k] = sv ? (size_t)SvUV(sv) : 0;
        }
        columns[i].metric = (int)dpx_number(aTHX_ hv, "metric", 0);
        columns[i].counters = counters ? numbers : NULL;
    }
    how->columns = columns;
    how->n_measures = n / n_sides;
}

void dpx_stacks(pTHX_ struct dp_stacks_how *how, HV *from, size_t n_sides)
{
    Zero(how, 1, struct dp_stacks_how);
    take_columns(aTHX_ how, from, n_sides);
    dpx_pairing(aTHX_ &how->pair, from);
    how->recursion = (size_t)dpx_number(aTHX_ from, "recursion", 0);
    how->no_program = dpx_number(aTHX_ from, "no_program", 0) != 0;
    how->strip_hex = dpx_number(aTHX_ from, "strip_hex", 0) != 0;
}

void dpx_fold(pTHX_ struct dp_fold_how *how, HV *from, size_t n_sides)
{
    Zero(how, 1, struct dp_fold_how);
    dpx_stacks(aTHX_ &how->stacks, from, n_sides);
    how->reverse = dpx_number(aTHX_ from, "reverse", 0) != 0;
    how->per = (uint64_t)dpx_number(aTHX_ from, "per", 1);
    how->whole = dpx_number(aTHX_ from, "whole", 0) != 0;
    how->normalize = dpx_number(aTHX_ from, "normalize", 0) != 0;
}
