/* The builtins that may have frames, by number, and their ids. */
#ifndef DPX_BUILTIN_ID_H
#define DPX_BUILTIN_ID_H

#include "dpx.h"
#include "dp_builtins.h"

/* Ops that are no slow builtins, because they keep a context or do not return, but may be spans. */
#define DPX_BUILTINS_MORE(X) X(EXEC, "exec") X(REQUIRE, "require") X(DOFILE, "do")

enum dpx_builtin {
#define DPX_NUMBER(op, name) DPX_BUILTIN_##op,
    DP_BUILTINS(DPX_NUMBER)
    DPX_BUILTIN_SLOW,           /* the number of slow ones; the others begin there */
    DPX_BUILTIN_BEFORE_MORE = DPX_BUILTIN_SLOW - 1,
    DPX_BUILTINS_MORE(DPX_NUMBER)
#undef DPX_NUMBER
    DPX_BUILTIN_COUNT
};

/* Names a builtin at its first call. Returns its id. */
U32 dpx_builtin_named(pTHX_ struct dpx_ctx *ctx, unsigned n) __attribute__((visibility("hidden")));

/* The id of builtin n; 0: it is not recorded. */
DP_INLINE U32 dpx_builtin_number_id(pTHX_ struct dpx_ctx *ctx, unsigned n)
{
    U32 next = ctx->names.builtins[n];
    return DP_LIKELY(next) ? next - 1 : dpx_builtin_named(aTHX_ ctx, n);
}

/* The id of the builtin that ops of a type run; 0: they run none, or it is not recorded. */
U32 dpx_builtin_id(pTHX_ struct dpx_ctx *ctx, Optype type);

#endif
