/* The perl that a target runs: which one it is, where its variables are, and its interpreters. */
#ifndef DP_PERL_H
#define DP_PERL_H

#include "dp_err.h"
#include "dp_layout.h"
#include "dp_pool.h"
#include "dp_process.h"
#include "dp_region.h"
#include "dp_target.h"

/* The variables of perl that are looked up by name, as PL_name. Without MULTIPLICITY, those of the
 * interpreter are among them. */
#define DP_PERL_SYMBOLS(X) \
    X(curinterp) X(thr_key) X(op_name) X(version) X(subversion) \
    X(bincompat_options) DP_LAYOUT_INTERPRETER(X)

enum dp_perl_symbol {
#define DP_PERL_SYMBOL(name) DP_PERL_##name,
    DP_PERL_SYMBOLS(DP_PERL_SYMBOL)
#undef DP_PERL_SYMBOL
    DP_PERL_N_SYMBOLS
};

/* The types of ops that the reader of stacks distinguishes. Their numbers differ between perls. */
#define DP_PERL_OPS(X) \
    X(null) X(gv) X(rv2cv) X(entersub) X(leavesub) X(leavesublv) X(nextstate) X(dbstate) \
    X(leave) X(leaveeval) X(require) X(dofile)

struct dp_perl_ops {
#define DP_PERL_OP(name) unsigned op_##name;
    DP_PERL_OPS(DP_PERL_OP)
#undef DP_PERL_OP
};

struct dp_perl {
    struct dp_target *target;           /* borrowed */
    struct dp_layout at;
    struct dp_layout_of version;
    unsigned subversion;
    bool has_long_numbers;              /* numbers have 16 bytes */
    bool is_newer;                      /* the table of layouts has no perl as new as that */
    dp_addr symbols[DP_PERL_N_SYMBOLS]; /* 0: there is none */
    struct dp_perl_ops ops;
    struct dp_pool op_names;            /* by the op's number */
    dp_addr first;                      /* the interpreter that was made first; without
                                         * MULTIPLICITY 0, and it is the only one */
};

/* The perl that the caller was built for. */
struct dp_perl_own {
    struct dp_layout_of version;
    const char *options;        /* its PL_bincompat_options */
    struct dp_layout layout;
};

/* Finds the perl of a target by its mappings. own: its layout counts more than the table for a perl
 * of the same series and options; or NULL. Returns 0; DP_E_NOTPROFILE if the target runs no
 * perl, or its names were stripped; DP_E_VERSION if this perl cannot be read; DP_E_IO if the memory
 * cannot be read; DP_E_NOMEM. Release it in any case. */
int dp_perl_find(struct dp_perl *perl, struct dp_target *t, const struct dp_regions *regions,
                 dp_region_open_fn *open, void *from, const struct dp_perl_own *own,
                 struct dp_err *err);
void dp_perl_release(struct dp_perl *perl);

/* Is there an interpreter at this address, as far as its first pointers show? */
bool dp_perl_is_interpreter(struct dp_perl *perl, dp_addr at);

/* The address of an interpreter's variable. interpreter: see dp_perl.first. */
#define DP_PERL_VAR(perl, interpreter, name) \
    ((interpreter) ? (interpreter) + (perl)->at.name : (perl)->symbols[DP_PERL_##name])

/* Finds the interpreter of each thread of the target: in[i] becomes that of threads->at[i], or 0 if
 * the thread runs none or it cannot be found. The control block that the C library keeps for each
 * thread leads to the interpreter. The block is at threads->at[i].tls; if that is 0, it is searched
 * for at the ends of the mappings in regions, by the thread's number. Works for glibc, and for musl
 * 1.2 on x86-64. Returns how many were found. */
size_t dp_perl_threads(struct dp_perl *perl, const struct dp_regions *regions,
                       dp_region_open_fn *open, void *from, const struct dp_threads *threads,
                       dp_addr *in);

/* The type of an op: the number of its name. */
static inline unsigned dp_perl_op_type(const struct dp_perl *perl, const void *op)
{
    enum { TYPE_BITS = 0x1ff };
    return dp_target_u32_in(op, perl->at.op_bits) & TYPE_BITS;
}

#endif
