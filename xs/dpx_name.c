/* Names of subs, from their CVs.
 *
 * A CV says little by its address: closures have one each, and addresses are
 * used again. The code says more: closures share their first op, and an op of
 * kind NEXTSTATE carries a number that no other has (cop_seq). Two closures
 * of one piece of code may have been given different names (Sub::Util), so the
 * name's address is the third part of what identifies a sub.
 *
 * Only raw fields are read here. CvGV() of a sub that has only a name would
 * create a GV, and the program could see it. */
#include "dpx.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"

#include <string.h>

enum {
    FOLD_MAX = 1000,            /* evals of one name; names of one AUTOLOAD */
    KNOWN_MAX = 1 << 16         /* then the map starts over: names stay known */
};

static UV name_address(CV *cv)
{
    return PTR2UV(((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv);
}

static U32 seq_of(const OP *start)
{
    return start && (start->op_type == OP_NEXTSTATE || start->op_type == OP_DBSTATE)
        ? cCOPx(start)->cop_seq : 0;
}

/* Perl keeps names either as UTF-8 or as Latin-1; the file has UTF-8. */
static void add_name(struct dp_buf *to, const char *ptr, I32 len, bool is_utf8)
{
    if (len <= 0 || is_utf8) {
        dp_fmt_field(to, ptr, len > 0 ? (size_t)len : 0);
        return;
    }
    for (I32 i = 0; i < len; i++) {
        unsigned char c = (unsigned char)ptr[i];
        if (c < 0x80) {
            dp_fmt_field(to, ptr + i, 1);
        } else {
            dp_buf_addc(to, (char)(0xc0 | c >> 6));
            dp_buf_addc(to, (char)(0x80 | (c & 0x3f)));
        }
    }
}

static void add_hek(struct dp_buf *to, const HEK *hek, const char *otherwise)
{
    if (hek)
        add_name(to, HEK_KEY(hek), HEK_LEN(hek), cBOOL(HEK_UTF8(hek)));
    else
        dp_buf_adds(to, otherwise);
}

/* Package and name of a CV; either may be NULL. */
static void hek_of(CV *cv, const HEK **package, const HEK **name)
{
    HV *stash = NULL;
    *package = *name = NULL;
    if (CvNAMED(cv)) {
        *name = ((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_hek;
        stash = CvSTASH(cv);
    } else {
        GV *gv = ((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv;
        if (gv && SvTYPE(gv) == SVt_PVGV && isGV_with_GP(gv)) {
            *name = GvNAME_HEK(gv);
            stash = GvSTASH(gv);
        } else {
            stash = CvSTASH(cv);
        }
    }
    /* A deleted stash is freed or has lost its name. */
    if (stash && SvTYPE(stash) == SVt_PVHV && HvNAME_HEK(stash))
        *package = HvNAME_HEK(stash);
}

static bool hek_is(const HEK *hek, const char *str)
{
    return hek && (size_t)HEK_LEN(hek) == strlen(str) && memcmp(HEK_KEY(hek), str, strlen(str)) == 0;
}

/* FILE:LINE of the first statement. */
static void add_place(struct dp_buf *to, const OP *start)
{
    if (!seq_of(start)) {
        dp_buf_addc(to, '-');
        return;
    }
    const char *file = CopFILE(cCOPx(start));
    if (!file)
        file = "";
    dp_fmt_field(to, file, strlen(file));
    dp_buf_addf(to, ":%lu", (unsigned long)CopLINE(cCOPx(start)));
}

/* The named sub around an anonymous one. A closure does not know it; but it
 * shares its first op with its prototype, and that was seen in the pad of
 * the sub around when that was named. */
static void add_around(struct dpx_ctx *ctx, CV *cv, const OP *start)
{
    struct dp_buf *to = &ctx->line;
    const HEK *package, *name;
    CV *outer = CvOUTSIDE(cv);
    while (outer && (CvANON(outer) || CvUNIQUE(outer)))
        outer = CvOUTSIDE(outer);
    if (!outer) {
        const struct dp_map_slot *slot = dp_map_find(&ctx->owners, PTR2UV(start));
        if (slot && slot->check == seq_of(start)) {
            const struct dp_name *owner = dp_pool_name(&ctx->folds, slot->value);
            dp_buf_adds(to, " in=");
            dp_buf_add(to, owner->ptr, owner->len);
        }
        return;
    }
    hek_of(outer, &package, &name);
    if (!name)
        return;
    dp_buf_adds(to, " in=");
    add_hek(to, package, "main");
    dp_buf_adds(to, "::");
    add_hek(to, name, "");
}

/* Remembers whose the anonymous subs in the pad of cv are. */
static void remember_inner(struct dpx_ctx *ctx, CV *cv, uint32_t owner, int depth)
{
    PADLIST *list = CvPADLIST(cv);
    PAD *pad = list && PadlistMAX(list) > 0 ? PadlistARRAY(list)[1] : NULL;
    for (SSize_t i = 0; pad && depth < 20 && i <= AvFILLp(pad); i++) {
        CV *inner = (CV *)AvARRAY(pad)[i];
        if (!inner || SvTYPE(inner) != SVt_PVCV || !CvANON(inner) || CvISXSUB(inner) || !CvROOT(inner))
            continue;
        const OP *start = CvSTART(inner);
        struct dp_map_slot *slot = dp_map_put(&ctx->owners, PTR2UV(start));
        if (slot) {
            slot->value = owner;
            slot->check = seq_of(start);
        }
        remember_inner(ctx, inner, owner, depth + 1);
    }
}

/* package and name are those of cv. */
static void remember_owner(struct dpx_ctx *ctx, CV *cv, const HEK *package, const HEK *name)
{
    dp_buf_clear(&ctx->fold);
    add_hek(&ctx->fold, package, "main");
    dp_buf_adds(&ctx->fold, "::");
    add_hek(&ctx->fold, name, "");
    uint32_t owner = ctx->fold.err ? DP_MAP_NONE
        : dp_pool_intern(&ctx->folds, ctx->fold.ptr, ctx->fold.len);
    if (ctx->owners.used > KNOWN_MAX)
        dp_map_clear(&ctx->owners);
    if (owner != DP_MAP_NONE)
        remember_inner(ctx, cv, owner, 0);
}

/* Copies a line without what tells one eval from another. */
static void without_evals(struct dp_buf *to, const char *ptr, size_t len)
{
    static const char open[] = "(eval%20";
    const char *end = ptr + len;
    dp_buf_clear(to);
    while (ptr < end) {
        size_t n = sizeof open - 1;
        if ((size_t)(end - ptr) > n && memcmp(ptr, open, n) == 0) {
            dp_buf_adds(to, "(eval");
            ptr += n;
            while (ptr < end && *ptr >= '0' && *ptr <= '9')
                ptr++;
        } else {
            dp_buf_addc(to, *ptr++);
        }
    }
}

/* The id of the line in ctx->line: the known one, or a new one. */
static U32 id_of_line(struct dpx_ctx *ctx)
{
    const struct dp_buf *line = &ctx->line;
    if (line->err)
        return 0;
    uint32_t n = dp_pool_intern(&ctx->names, line->ptr, line->len);
    if (n == DP_MAP_NONE)
        return 0;
    if (n + 1 < ctx->writer.next_id)
        return n + 1;
    /* new, or short of memory when it was: numbers and ids keep step */
    U32 id = n + 1 == ctx->writer.next_id ? dp_writer_name(&ctx->writer, line->ptr, line->len) : 0;
    if (id)
        dpx_file_keep_name(ctx, id);
    return id;
}

/* Counts a line under the name in ctx->fold; true when there were too many. */
static bool too_many(struct dpx_ctx *ctx)
{
    size_t before = ctx->fold_cap;
    uint32_t n = ctx->fold.err ? DP_MAP_NONE
        : dp_pool_intern(&ctx->folds, ctx->fold.ptr, ctx->fold.len);
    if (n == DP_MAP_NONE
        || dp_mem_grow((void **)&ctx->fold_counts, &ctx->fold_cap, (size_t)n + 1, sizeof(uint32_t)) < 0)
        return true;
    memset(ctx->fold_counts + before, 0, (ctx->fold_cap - before) * sizeof(uint32_t));
    return ctx->fold_counts[n]++ >= FOLD_MAX;
}

/* The line of a CV, in ctx->line. For code that a program may compile over and over
 * the number of different lines is bounded. */
static U32 name_cv(pTHX_ struct dpx_ctx *ctx, CV *cv, const OP *start)
{
    const HEK *package, *name;
    struct dp_buf *line = &ctx->line;
    dp_buf_clear(line);
    hek_of(cv, &package, &name);
    add_hek(line, package, "main");
    dp_buf_addc(line, ' ');
    add_hek(line, name, "__ANON__");
    dp_buf_addc(line, ' ');
    add_place(line, start);
    if (CvISXSUB(cv))
        dp_buf_adds(line, " kind=xs");

    /* What tells us what to do is no part of the program. */
    if (CvISXSUB(cv) && hek_is(package, "Devel::DProf") && name && strnEQ(HEK_KEY(name), "_control_", 9))
        return 0;
    bool anon = CvANON(cv);
    size_t stable = line->len;
    if (anon) {
        add_around(ctx, cv, start);
        if (seq_of(start))
            dp_buf_addf(line, " seq=%lu", (unsigned long)seq_of(start));
    }
    const char *file = seq_of(start) ? CopFILE(cCOPx(start)) : NULL;
    if ((anon || (file && strncmp(file, "(eval", 5) == 0))
        && !line->err && dp_pool_lookup(&ctx->names, line->ptr, line->len) == DP_MAP_NONE) {
        without_evals(&ctx->fold, line->ptr, stable);
        if (too_many(ctx)) {
            dp_buf_clear(line);
            dp_buf_add(line, ctx->fold.ptr, ctx->fold.len);
        }
    }
    U32 id = id_of_line(ctx);
    if (!id)
        return 0;
    if (!anon && start && name)
        remember_owner(ctx, cv, package, name);
    if (start && hek_is(name, "AUTOLOAD"))
        id |= DPX_ID_AUTOLOAD;
    if (!start && hek_is(package, "POSIX") && hek_is(name, "_exit"))
        id |= DPX_ID_LEAVES;
    return id;
}

U32 dpx_name_find(pTHX_ struct dpx_ctx *ctx, CV *cv, const OP *start)
{
    UV code = start ? PTR2UV(start) : PTR2UV(cv);
    UV name = start ? name_address(cv) : name_address(cv) ^ PTR2UV(CvXSUB(cv));
    U32 seq = seq_of(start);
    int why = errno;

    if (ctx->known.used > KNOWN_MAX)
        dp_map_clear(&ctx->known);
    struct dp_map_slot *slot = dp_map_put(&ctx->known, dp_map_hash(code) ^ name);
    U32 id;
    if (slot && slot->value != DP_MAP_NONE && slot->check == seq) {
        id = slot->value;
    } else {
        id = name_cv(aTHX_ ctx, cv, start);
        if (slot) {
            slot->value = id;
            slot->check = seq;
        }
    }
    if (id) {
        struct dpx_known *k = &ctx->cache[(code >> 4 ^ name >> 4) & (DPX_CACHE - 1)];
        k->code = code;
        k->name = name;
        k->seq = seq;
        k->id = id;
    }
    errno = why;
    return id;
}

U32 dpx_name_wanted(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id)
{
    id &= DPX_ID_MASK;
    HV *stash = NULL;
    if (CvNAMED(cv)) {
        stash = CvSTASH(cv);
    } else {
        GV *gv = ((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv;
        if (gv && SvTYPE(gv) == SVt_PVGV && isGV_with_GP(gv))
            stash = GvSTASH(gv);
    }
    SV **gvp = stash ? hv_fetchs(stash, "AUTOLOAD", 0) : NULL;
    if (!gvp || !*gvp || SvTYPE(*gvp) != SVt_PVGV || !isGV_with_GP(*gvp))
        return id;
    SV *sv = GvSV((GV *)*gvp);
    if (!sv || !SvPOK(sv) || !SvCUR(sv))
        return id;

    /* PACKAGE NAME FILE:LINE autoload=PACKAGE::AUTOLOAD */
    const char *wanted = SvPVX_const(sv), *colon = NULL;
    STRLEN len = SvCUR(sv);
    for (STRLEN i = len; i >= 2 && !colon; i--)
        if (wanted[i - 1] == ':' && wanted[i - 2] == ':')
            colon = wanted + i;
    const struct dp_name *own = dp_pool_name(&ctx->names, id - 1);
    const char *place = memchr(own->ptr, ' ', own->len);
    const char *place2 = place ? memchr(place + 1, ' ', own->len - (size_t)(place + 1 - own->ptr)) : NULL;
    if (!place2)
        return id;
    int why = errno;
    dp_buf_clear(&ctx->line);
    if (colon)
        add_name(&ctx->line, wanted, (I32)(colon - 2 - wanted), cBOOL(SvUTF8(sv)));
    else
        dp_buf_adds(&ctx->line, "main");
    dp_buf_addc(&ctx->line, ' ');
    const char *base = colon ? colon : wanted;
    add_name(&ctx->line, base, (I32)(wanted + len - base), cBOOL(SvUTF8(sv)));
    dp_buf_add(&ctx->line, place2, own->len - (size_t)(place2 - own->ptr));
    dp_buf_adds(&ctx->line, " autoload=");
    dp_buf_add(&ctx->line, own->ptr, (size_t)(place - own->ptr));
    dp_buf_adds(&ctx->line, "::AUTOLOAD");

    U32 found = 0;
    if (!ctx->line.err && dp_pool_lookup(&ctx->names, ctx->line.ptr, ctx->line.len) == DP_MAP_NONE) {
        dp_buf_clear(&ctx->fold);
        dp_buf_add(&ctx->fold, own->ptr, own->len);
        if (too_many(ctx))
            found = id;
    }
    if (!found)
        found = id_of_line(ctx);
    errno = why;
    return found ? found : id;
}

U32 dpx_name_phase(struct dpx_ctx *ctx, const char *name, size_t len)
{
    dp_buf_clear(&ctx->line);
    dp_fmt_field(&ctx->line, "", 0);
    dp_buf_addc(&ctx->line, ' ');
    dp_fmt_field(&ctx->line, name, len);
    dp_buf_adds(&ctx->line, " - kind=phase");
    return id_of_line(ctx);
}

SV *dpx_name_of(pTHX_ const struct dpx_ctx *ctx, U32 id)
{
    if (!id || id > ctx->names.count)
        return newSV(0);
    const struct dp_name *line = dp_pool_name(&ctx->names, id - 1);
    const char *name = memchr(line->ptr, ' ', line->len);
    const char *end = name ? memchr(name + 1, ' ', line->len - (size_t)(name + 1 - line->ptr)) : NULL;
    if (!end)
        return newSV(0);
    SV *sv = newSVpvn(line->ptr, (STRLEN)(name - line->ptr));
    sv_catpvs(sv, "::");
    sv_catpvn(sv, name + 1, (STRLEN)(end - name - 1));
    SvUTF8_on(sv);
    return sv;
}

uint32_t dpx_name_site(void *arg)
{
    dTHX;
    struct dpx_ctx *ctx = (struct dpx_ctx *)((char *)arg - offsetof(struct dpx_ctx, clock));
    const char *file = PL_curcop ? CopFILE(PL_curcop) : NULL;
    int why = errno;
    if (!file)
        return 0;
    dp_buf_clear(&ctx->line);
    dp_fmt_field(&ctx->line, file, strlen(file));
    dp_buf_addf(&ctx->line, ":%lu", (unsigned long)CopLINE(PL_curcop));
    uint32_t n = ctx->line.err ? DP_MAP_NONE : dp_pool_intern(&ctx->sites, ctx->line.ptr, ctx->line.len);
    errno = why;
    return n == DP_MAP_NONE ? 0 : n + 1;
}
