/* The statements of DBI. A handle is a hash that is tied to an inner one, which has its attributes.
 *
 * What this relies on: the inner hash has `Statement` and `ImplementorClass`, as plain values. */
#include "dpx_subject_sql.h"
#include "dpx_frame.h"
#include "dpx_span.h"
#include "dp_sql_text.h"

#include <string.h>

/* The inner hash of a handle of DBI, which has its attributes; NULL: it is none. The outer hash, on
 * which programs call methods, is tied to it. */
static HV *inner_of(SV *handle)
{
    SV *hv = handle && SvROK(handle) ? SvRV(handle) : NULL;
    if (!hv || SvTYPE(hv) != SVt_PVHV)
        return NULL;
    const MAGIC *tie = SvRMAGICAL(hv) ? mg_find(hv, PERL_MAGIC_tied) : NULL;
    if (tie)
        hv = tie->mg_obj && SvROK(tie->mg_obj) ? SvRV(tie->mg_obj) : NULL;
    bool is_tied = hv && SvRMAGICAL(hv) && mg_find(hv, PERL_MAGIC_tied);
    return hv && SvTYPE(hv) == SVt_PVHV && !is_tied ? (HV *)hv : NULL;
}

/* How the database of a handle writes literals. */
static int dialect_of(pTHX_ HV *inner)
{
    static const struct { char package[16]; int dialect; } drivers[] = {
        { "DBD::Pg::", DP_SQL_STANDARD }, { "DBD::SQLite::", DP_SQL_SQLITE },
        { "DBD::mysql::", DP_SQL_MYSQL }, { "DBD::MariaDB::", DP_SQL_MYSQL },
    };
    STRLEN len;
    SV *name = dpx_subject_element(aTHX_ inner, "ImplementorClass");
    const char *class = dpx_subject_text(name, &len);
    for (size_t i = 0; class && i < DP_ARRAY_LEN(drivers); i++)
        if (strncmp(class, drivers[i].package, strlen(drivers[i].package)) == 0)
            return drivers[i].dialect;
    return DP_SQL_UNKNOWN;
}

enum { PREPARE = 1 << 8 };      /* beside the dialect */

/* Makes the text of a statement, or of its preparation. */
static void statement_text(struct dp_buf *to, const char *given, size_t len, int how)
{
    if (how & PREPARE)
        dp_buf_adds(to, "prepare: ");
    dp_sql_text(to, given, len, (enum dp_sql_dialect)(how & ~PREPARE));
}

/* The id of a statement whose text cannot be read, or of its preparation. That of a statement is
 * kept, for is_same. */
static U32 id_of_unreadable(struct dpx_ctx *ctx, bool prepares)
{
    const char *text = prepares ? "prepare: " DPX_SUBJECT_UNREADABLE : DPX_SUBJECT_UNREADABLE;
    U32 id = dpx_span_id(ctx, "sql", 3, text, strlen(text), NULL);
    if (!prepares)
        ctx->spans.unreadable = id;
    return id;
}

/* The id of a statement; 0: it is unknown. handle: what the method is called on. statement: a text
 * or a handle. */
static U32 id_of_statement(pTHX_ struct dpx_ctx *ctx, SV *handle, SV *statement, bool prepares)
{
    STRLEN len;
    HV *inner = inner_of(handle);
    HV *of = inner && statement && SvROK(statement) ? inner_of(statement) : NULL;
    if (of)
        statement = dpx_subject_element(aTHX_ of, "Statement");
    if (!inner || !statement)
        return 0;
    const char *text = dpx_subject_text(statement, &len);
    if (!text)
        return id_of_unreadable(ctx, prepares);
    int how = dialect_of(aTHX_ inner) | (prepares ? PREPARE : 0);
    return dpx_span_made(ctx, "sql", text, len, statement_text, how);
}

static bool is_same(const struct dpx_ctx *ctx, U32 id, U32 statement)
{
    return id && (id == statement || id == ctx->spans.unreadable);
}

/* Finds the call of DBI around the one that has died. */
static void find_around(struct dpx_ctx *ctx, U32 statement)
{
    const struct dpx_frame *f = ctx->top;
    while (f > ctx->frames && !(DPX_KEY_KIND(f->key) == DPX_XS && is_same(ctx, f->id, statement)))
        f--;
    ctx->spans.sql = (struct dpx_inside){ f - ctx->frames, f > ctx->frames ? f->serial : 0, f->id };
}

/* Is a call of DBI with this statement under way? If the text of that call's statement cannot be
 * read, it is taken for the same. */
static bool is_inside(struct dpx_ctx *ctx, U32 statement)
{
    struct dpx_inside *sql = &ctx->spans.sql;
    const struct dpx_frame *f = ctx->frames + sql->at;
    if (!sql->serial)
        return false;
    if (f > ctx->top || f->serial != sql->serial || DPX_KEY_KIND(f->key) != DPX_XS)
        find_around(ctx, statement);
    return sql->serial && is_same(ctx, sql->id, statement);
}

/* What DBI's methods of other methods call belongs to the same execution: select* calls prepare,
 * execute and fetch. */
struct dpx_subject dpx_subject_sql(pTHX_ struct dpx_ctx *ctx, const struct dpx_detail_sub *sub,
                                   const struct dpx_args *args)
{
    struct dpx_subject s = { 0, 0, false };
    SV *handle = dpx_subject_argument(args, 0);
    bool own = sub->of == DPX_OF_HANDLE || sub->of == DPX_OF_FETCH;
    if (sub->of == DPX_OF_NAME) {
        s.id = dpx_span_id(ctx, "sql", 3, sub->name, strlen(sub->name), NULL);
        return s;
    }
    SV *statement = own ? handle : dpx_subject_argument(args, 1);
    s.statement = id_of_statement(aTHX_ ctx, handle, statement, false);
    if (!s.statement || is_inside(ctx, s.statement))
        return s;
    s.id = sub->of == DPX_OF_PREPARE ? id_of_statement(aTHX_ ctx, handle, statement, true)
                                     : s.statement;
    s.is_again = sub->of == DPX_OF_FETCH;
    return s;
}

/* The number of elements of the array or hash that a value refers to. */
static U64 elements(pTHX_ SV *value)
{
    SV *of = value && SvROK(value) ? SvRV(value) : NULL;
    if (!of || SvRMAGICAL(of))
        return 0;
    return SvTYPE(of) == SVt_PVAV ? (U64)(AvFILLp((AV *)of) + 1)
           : SvTYPE(of) == SVt_PVHV ? (U64)HvUSEDKEYS((HV *)of) : 0;
}

bool dpx_subject_has_rows(const struct dpx_detail_sub *sub)
{
    return sub->of == DPX_OF_FETCH || (sub->of == DPX_OF_STATEMENT && strNE(sub->name, "do"));
}

U64 dpx_subject_rows(pTHX_ const struct dpx_detail_sub *sub, SV **values, SSize_t n, bool is_list)
{
    if (n < 1)
        return 0;
    if (strEQ(sub->name, "selectall_array"))
        return is_list ? (U64)n : 1;
    if (strstr(sub->name, "all_") || strstr(sub->name, "col_"))
        return elements(aTHX_ values[0]);
    return is_list || SvOK(values[0]);
}
