/* Statements: the costs of each of them (lines=count, lines=time). dpx_stmt.c explains how. */
#ifndef DPX_STMT_H
#define DPX_STMT_H

#include "dpx_frame.h"

/* Returns why this perl cannot distinguish statements, or NULL if it can. */
const char *dpx_stmt_trouble(void);

/* Hooks statements, once for the process. */
void dpx_stmt_install(pTHX_ int way, bool times);

/* Reports also statements of this interpreter that have no op of their own, from now on. */
void dpx_stmt_join(pTHX);

/* The function that the ops of a type had before; NULL: they are not hooked. */
Perl_ppaddr_t dpx_stmt_original(Optype type);

/* Counts the statements that a child ran before it had its own file. */
void dpx_stmt_forked(struct dpx_ctx *ctx);

/* For a run loop that begins with an op that is no statement: with lines=time, the rest of the
 * statement of PL_curcop runs. */
void dpx_stmt_restarted(pTHX_ struct dpx_ctx *ctx);

/* The number of a statement that a sample has found, in the sub of this id (0: in none);
 * DP_LINE_REST if there is none. Makes its place known. around: for a null op, the statement whose
 * file it is in; else the same. */
U32 dpx_stmt_sampled(pTHX_ struct dpx_ctx *ctx, COP *cop, const COP *around, U32 sub);

/* Returns the number of the place of a statement that a sample has found; around: as for
 * dpx_stmt_sampled(). */
U32 dpx_stmt_place(pTHX_ struct dpx_ctx *ctx, const COP *cop, const COP *around);

/* The number of a statement; 0: it has none. */
#ifdef DPX_COP_SPARE
enum { DPX_STMT_AT = offsetof(COP, cop_features) + sizeof(U32) };
#  define DPX_STMT_NUMBER(cop)  (*(const U32 *)((const char *)(cop) + DPX_STMT_AT))
#else
#  define DPX_STMT_NUMBER(cop)  ((void)(cop), (U32)0)
#endif

DP_INLINE bool dpx_stmt_is(const OP *o)
{
    return o->op_type == OP_NEXTSTATE || o->op_type == OP_DBSTATE;
}

/* The costs of a statement; NULL for other ops, and for statements that have not run here. */
DP_INLINE struct dp_stmt *dpx_stmt_of(const struct dpx_ctx *ctx, const OP *o)
{
    return dpx_stmt_is(o) ? dp_lines_look(&ctx->statements, DPX_STMT_NUMBER(o)) : NULL;
}

/* Does dpx_stmt_go_on for a statement that has no number yet, or is not known here, or while
 * recording is stopped. The op gets the function of a sub's first statement. */
void dpx_stmt_first(pTHX_ struct dpx_ctx *ctx, OP *o);

/* Goes on with o, the first op of a sub that has been entered: if o is a statement, it is charged
 * from now on. */
DP_INLINE void dpx_stmt_go_on(pTHX_ struct dpx_ctx *ctx, OP *o)
{
    if (!dpx_stmt_is(o))
        return;
    struct dp_stmt *line = dp_lines_look(&ctx->statements, DPX_STMT_NUMBER(o));
    if (DP_LIKELY(line != NULL))
        ctx->rec.marks.line = line;
    else
        dpx_stmt_first(aTHX_ ctx, o);
}

#endif
