#include "dpx_builtin_id.h"
#include "dpx_name.h"

typedef char fits_in_the_context[(int)DPX_BUILTIN_COUNT <= (int)DPX_BUILTINS ? 1 : -1];

static const struct {
    Optype type;
    char name[18];              /* no pointer, which the loader would have to move */
} builtins[DPX_BUILTIN_COUNT] = {
#define ROW(op, name) { OP_##op, name },
    DP_BUILTINS(ROW) DPX_BUILTINS_MORE(ROW)
#undef ROW
};

U32 dpx_builtin_named(pTHX_ struct dpx_ctx *ctx, unsigned n)
{
    ctx->names.builtins[n] = dpx_name_builtin(aTHX_ ctx, builtins[n].name) + 1;
    return ctx->names.builtins[n] - 1;
}

U32 dpx_builtin_id(pTHX_ struct dpx_ctx *ctx, Optype type)
{
    for (unsigned n = 0; n < DPX_BUILTIN_SLOW; n++)
        if (builtins[n].type == type)
            return dpx_builtin_number_id(aTHX_ ctx, n);
    return 0;
}
