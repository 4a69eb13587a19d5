/* Names of subs, from their CVs.
 *
 * The address of a CV does not identify a sub: each closure has one of its own, and addresses are
 * used again. The code is better: closures share their first op, and an op of kind NEXTSTATE
 * carries a number that no other op has (cop_seq). Two closures of one piece of code may have been
 * given different names (Sub::Util), and one may be given another name at any time, so the name is
 * the third part of what identifies a sub: dpx_callee_name says how names are compared.
 *
 * Only raw fields are read here. CvGV() of a sub that has only a name would
 * create a GV, and the program could see it.
 *
 * What this relies on: closures share CvSTART, and cop_seq of a nextstate is a number that no
 * other has. CvNAMED and CvANON say how a CV is named. xcv_gv_u and CvSTASH are read as they
 * are. */
#include "dpx_name.h"
#include "dp_char.h"
#include "dpx_detail.h"
#include "dpx_file.h"
#include "dpx_filter.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"

#include <string.h>

enum {
    FOLD_MAX = 1000,            /* names that differ in numbers; names of one AUTOLOAD */
    NAMES_MAX = 1 << 16,        /* beyond these, new subs count by package */
    KNOWN_MAX = 1 << 16,        /* beyond these, the map starts over; names keep their ids */
    SOURCES_MAX = 1 << 14       /* files beyond these are not read */
};

/* Returns the number of the statement that a sub begins with in the order of compilation, or 0. */
static U32 seq_of(const OP *start)
{
    return start && (start->op_type == OP_NEXTSTATE || start->op_type == OP_DBSTATE)
        ? cCOPx(start)->cop_seq : 0;
}

/* Appends a name in UTF-8. Perl keeps names either as UTF-8 or as Latin-1; the file has UTF-8. */
static void add_name(struct dp_buf *to, const char *ptr, I32 len, bool is_utf8)
{
    if (len <= 0 || is_utf8) {
        dp_fmt_field(to, ptr, len > 0 ? (size_t)len : 0);
        return;
    }
    for (I32 i = 0; i < len;) {
        I32 from = i;
        while (i < len && (unsigned char)ptr[i] < 0x80)
            i++;
        if (i > from)
            dp_fmt_field(to, ptr + from, (size_t)(i - from));
        for (; i < len && (unsigned char)ptr[i] >= 0x80; i++) {
            unsigned char c = (unsigned char)ptr[i];
            dp_buf_addc(to, (char)(0xc0 | c >> 6));
            dp_buf_addc(to, (char)(0x80 | (c & 0x3f)));
        }
    }
}

/* Appends a name as perl's hashes keep it, or another text if there is none. */
static void add_hek(struct dp_buf *to, const HEK *hek, const char *otherwise)
{
    if (hek)
        add_name(to, HEK_KEY(hek), HEK_LEN(hek), cBOOL(HEK_UTF8(hek)));
    else
        dp_buf_adds(to, otherwise);
}

/* Sets *package and *name, each to NULL if the CV has none. Returns the stash of the package, or
 * NULL. */
static HV *hek_of(CV *cv, const HEK **package, const HEK **name)
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
    if (!stash || SvTYPE(stash) != SVt_PVHV || !HvNAME_HEK(stash))
        return NULL;
    *package = HvNAME_HEK(stash);
    return stash;
}

static bool hek_is(const HEK *hek, const char *str)
{
    return hek && (size_t)HEK_LEN(hek) == strlen(str)
           && memcmp(HEK_KEY(hek), str, strlen(str)) == 0;
}

/* Adds FILE:LINE of the first statement. */
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
    dp_buf_addc(to, ':');
    dp_buf_addu(to, CopLINE(cCOPx(start)));
}

/* Is it a file below the folder? The folder's name may end with a slash. */
static bool is_below(const char *file, const char *folder, size_t len)
{
    while (len && folder[len - 1] == '/')
        len--;
    return len && strncmp(file, folder, len) == 0 && file[len] == '/';
}

/* Is it one of perl's own modules? Some systems have a part of them in a folder that perl's
 * configuration does not name; XSLoader, which we have loaded, is there unless a newer one has been
 * installed. */
static bool is_perls_own(pTHX_ const char *file)
{
    static const char loader[] = "XSLoader.pm";
    SV **sv = hv_fetchs(GvHVn(PL_incgv), "XSLoader.pm", 0);
    STRLEN len = 0;
    const char *path = sv && *sv && SvPOK(*sv) ? SvPV_nomg_const(*sv, len) : "";
    return is_below(file, PRIVLIB_EXP, strlen(PRIVLIB_EXP))
           || is_below(file, ARCHLIB_EXP, strlen(ARCHLIB_EXP))
           || (len > sizeof loader && is_below(file, path, len - (sizeof loader - 1))
               && !is_below(path, SITELIB_EXP, strlen(SITELIB_EXP))
               && !is_below(path, SITEARCH_EXP, strlen(SITEARCH_EXP)));
}

/* Reads a source that the profile names, so that a reader can find out whether the source has
 * changed since, and that this program has run it. The text of a string eval is no file; a program
 * may give any number of names by #line; and perl's own modules, which are many, are no secret. */
static void see_source(pTHX_ struct dpx_ctx *ctx, const char *file)
{
    struct dp_buf *field = &ctx->names.own;
    if (!file || *file == '(' || ctx->statements.files.count >= SOURCES_MAX
        || is_perls_own(aTHX_ file))
        return;
    dp_buf_clear(field);
    dp_fmt_field(field, file, strlen(file));
    if (!field->err)
        dp_lines_see(&ctx->statements, field->ptr, field->len, file);
}

/* Adds the named sub around an anonymous one. A closure does not know that sub. But the closure
 * shares its first op with its prototype, which stood in that sub's pad when that sub was named. */
static void add_around(struct dpx_ctx *ctx, CV *cv, const OP *start)
{
    struct dp_buf *to = &ctx->names.line;
    const HEK *package, *name;
    CV *outer = CvOUTSIDE(cv);
    while (outer && (CvANON(outer) || CvUNIQUE(outer)))
        outer = CvOUTSIDE(outer);
    if (!outer) {
        const struct dp_map_slot *slot = dp_map_find(&ctx->names.owners, PTR2UV(start));
        if (slot && slot->check == seq_of(start)) {
            const struct dp_name *owner = dp_pool_name(&ctx->names.folds, slot->value);
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

/* Finds where package and name of a line end: its first two blanks. Returns false if it has
 * fewer. */
static bool two_blanks(const char *line, size_t len, const char **first, const char **second)
{
    *first = memchr(line, ' ', len);
    *second = *first ? memchr(*first + 1, ' ', len - (size_t)(*first + 1 - line)) : NULL;
    return *second != NULL;
}

/* The number in names.folds of the sub of the line in names.line, as an owner; DP_MAP_NONE: it
 * cannot be kept. Few subs have subs in them. */
static uint32_t owner_of_inner(struct dpx_ctx *ctx)
{
    const struct dp_buf *line = &ctx->names.line;
    const char *first, *second;
    if (!two_blanks(line->ptr, line->len, &first, &second))
        return DP_MAP_NONE;
    dp_buf_clear(&ctx->names.fold);
    dp_buf_add(&ctx->names.fold, line->ptr, (size_t)(first - line->ptr));
    dp_buf_adds(&ctx->names.fold, "::");
    dp_buf_add(&ctx->names.fold, first + 1, (size_t)(second - first - 1));
    return ctx->names.fold.err || ctx->names.folds.count >= 2 * NAMES_MAX ? DP_MAP_NONE
        : dp_pool_intern(&ctx->names.folds, ctx->names.fold.ptr, ctx->names.fold.len);
}

/* Remembers the owner of the anonymous subs in the pad of cv. */
static void remember_inner(struct dpx_ctx *ctx, CV *cv, uint32_t owner, int depth)
{
    PADLIST *list = CvPADLIST(cv);
    PAD *pad = list && PadlistMAX(list) > 0 ? PadlistARRAY(list)[1] : NULL;
    for (SSize_t i = 0; pad && depth < 20 && i <= AvFILLp(pad); i++) {
        CV *inner = (CV *)AvARRAY(pad)[i];
        if (!inner || SvTYPE(inner) != SVt_PVCV || !CvANON(inner) || CvISXSUB(inner)
            || !CvROOT(inner))
            continue;
        const OP *start = CvSTART(inner);
        if (owner == DP_MAP_NONE && (owner = owner_of_inner(ctx)) == DP_MAP_NONE)
            return;
        struct dp_map_slot *slot = dp_map_put(&ctx->names.owners, PTR2UV(start));
        if (slot) {
            slot->value = owner;
            slot->check = seq_of(start);
        }
        remember_inner(ctx, inner, owner, depth + 1);
    }
}

/* Remembers cv, whose line is in ctx->names.line, as the owner of the subs in its pad. */
static void remember_owner(struct dpx_ctx *ctx, CV *cv)
{
    if (ctx->names.owners.used > KNOWN_MAX)
        dp_map_clear(&ctx->names.owners);
    remember_inner(ctx, cv, DP_MAP_NONE, 0);
}

/* Returns the end of a number, decimal or hexadecimal, at ptr. */
static const char *skip_number(const char *ptr, const char *end)
{
    bool hex = end - ptr > 2 && ptr[0] == '0' && ptr[1] == 'x';
    for (ptr += hex ? 2 : 0; ptr < end; ptr++)
        if (!dp_is_digit(*ptr) && !(hex && *ptr >= 'a' && *ptr <= 'f'))
            break;
    return ptr;
}

/* The end of the text that is copied unchanged, one byte at least. fields: in how many more fields
 * numbers are left out. */
static const char *end_of_copy(const char *ptr, const char *end, int *fields)
{
    for (; *fields; *fields -= *ptr++ == ' ') {
        if (ptr == end)
            return end;
        const char *next = ptr + 1;
        if (next < end && (*next == '(' || *next == '%' || dp_is_digit(*next))) {
            *fields -= *ptr == ' ';
            return next;
        }
    }
    const char *open = ptr < end ? memchr(ptr + 1, '(', (size_t)(end - ptr - 1)) : NULL;
    return open ? open : end;
}

/* Copies a line, or a place, without the numbers that a program counts up: those of evals are left
 * out, and a # replaces those in package and name. */
static void without_numbers(struct dp_buf *to, const char *ptr, size_t len, bool is_line)
{
    static const char open[] = "(eval%20";
    const char *end = ptr + len;
    size_t n = sizeof open - 1;
    int fields = is_line ? 2 : 0;
    dp_buf_clear(to);
    while (ptr < end) {
        if (*ptr == '(' && (size_t)(end - ptr) > n && memcmp(ptr, open, n) == 0) {
            dp_buf_adds(to, "(eval");
            ptr = skip_number(ptr + n, end);
        } else if (fields && dp_is_digit(*ptr)) {
            dp_buf_addc(to, '#');
            ptr = skip_number(ptr, end);
        } else if (*ptr == '%' && end - ptr > 2) {
            dp_buf_add(to, ptr, 3);     /* a byte, and no number */
            ptr += 3;
        } else {
            const char *next = end_of_copy(ptr, end, &fields);
            dp_buf_add(to, ptr, (size_t)(next - ptr));
            ptr = next;
        }
    }
}

/* Returns whether without_numbers might leave anything out. For most lines it obviously would
 * not. */
static bool has_numbers(const char *ptr, size_t len)
{
    const char *end = ptr + len, *p = ptr;
    if (memchr(ptr, '(', len))
        return true;
    for (int blanks = 0; p < end && blanks < 2; p++) {
        if (dp_is_digit(*p))
            return true;
        blanks += *p == ' ';
    }
    return false;
}

/* The id of the line in ctx->names.line: the known one, or a new one. 0: memory is short. */
static U32 id_of_line(struct dpx_ctx *ctx)
{
    const struct dp_buf *line = &ctx->names.line;
    if (line->err)
        return 0;
    uint32_t n = dp_pool_intern(&ctx->names.lines, line->ptr, line->len);
    if (n == DP_MAP_NONE)
        return 0;
    if (n + 1 < ctx->writer.next_id)
        return n + 1;
    /* the line is new, or memory was short before: numbers and ids keep step */
    U32 id = n + 1 == ctx->writer.next_id ? dp_writer_name(&ctx->writer, line->ptr, line->len) : 0;
    if (id)
        dpx_file_keep_name(ctx, id);
    return id;
}

/* The number of lines that were counted under a name; NULL: the name is new, and is not or cannot
 * be added. */
static uint32_t *fold_count(struct dpx_ctx *ctx, const struct dp_buf *name, bool add)
{
    struct dpx_names *in = &ctx->names;
    uint32_t n = name->err ? DP_MAP_NONE
                 : add ? dp_pool_intern(&in->folds, name->ptr, name->len)
                           : dp_pool_lookup(&in->folds, name->ptr, name->len);
    if (n == DP_MAP_NONE
        || dp_mem_grow_cleared((void **)&in->fold_counts, &in->fold_cap, (size_t)n + 1,
                               sizeof *in->fold_counts) < 0)
        return NULL;
    return &in->fold_counts[n];
}

/* Counts a line under a name; returns true if there were too many. */
static bool too_many(struct dpx_ctx *ctx, const struct dp_buf *name)
{
    uint32_t *count = fold_count(ctx, name, true);
    return !count || (*count)++ >= FOLD_MAX;
}

/* Writes PACKAGE NAME FILE:LINE. */
static void add_line(struct dp_buf *line, const HEK *package, const HEK *name, const OP *start)
{
    dp_buf_clear(line);
    add_hek(line, package, "main");
    dp_buf_addc(line, ' ');
    add_hek(line, name, "__ANON__");
    dp_buf_addc(line, ' ');
    add_place(line, start);
}

/* Replaces the line of a new name if there are very many: by its package, without numbers, and if
 * there are too many packages, by one name for all. */
static void by_package(struct dpx_ctx *ctx)
{
    static const char others[] = " (others) -", all[] = "main (others) -";
    struct dp_buf *fold = &ctx->names.fold, *line = &ctx->names.line;
    const char *blank = memchr(fold->ptr, ' ', fold->len);
    dp_buf_clear(line);
    dp_buf_add(line, fold->ptr, blank ? (size_t)(blank - fold->ptr) : 0);
    dp_buf_adds(line, others);
    if (!blank || (ctx->names.lines.count >= NAMES_MAX + FOLD_MAX && !line->err
                   && dp_pool_lookup(&ctx->names.lines, line->ptr, line->len) == DP_MAP_NONE)) {
        dp_buf_clear(line);
        dp_buf_adds(line, all);
    }
}

static bool is_same(const struct dp_buf *a, const struct dp_buf *b)
{
    return a->len == b->len && memcmp(a->ptr, b->ptr, a->len) == 0;
}

static void replace_line(struct dp_buf *line, const struct dp_buf *instead)
{
    dp_buf_clear(line);
    dp_buf_add(line, instead->ptr, instead->len);
}

/* Counts a line under fold, the line without any number, and under plain, the line without the
 * numbers of evals; differs: plain is not the line. Returns the text that replaces the line, or
 * NULL. */
static const struct dp_buf *count_line(struct dpx_ctx *ctx, const struct dp_buf *fold,
                                       const struct dp_buf *plain, bool differs)
{
    /* The first ones of names that count up are kept, however often they come again. */
    bool counts_up = !is_same(fold, plain) && !fold_count(ctx, plain, false);
    if (counts_up && too_many(ctx, fold))
        return fold;
    return (counts_up || differs) && too_many(ctx, plain) ? plain : NULL;
}

/* The bytes of a line before the part that is new each time that its code is compiled; 0:
 * bound_line did not see the line. */
static size_t stable_bytes(const struct dp_name *line)
{
    static const char others[][16] = { " autoload=", " kind=phase", " kind=builtin", " kind=span" },
                      ends[][8] = { " in=", " seq=" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(line->ptr, others[i]))
            return 0;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *end = strstr(line->ptr, ends[i]);
        if (end)
            return (size_t)(end - line->ptr);
    }
    return line->len;
}

/* Counts, for each name without its changing digits, how many names there are so far. The first
 * FOLD_MAX names are all kept, so this begins only when there are that many. */
static void count_lines_so_far(struct dpx_ctx *ctx)
{
    ctx->names.counted = true;
    for (uint32_t n = 0; n < ctx->names.lines.count; n++) {
        const struct dp_name *line = dp_pool_name(&ctx->names.lines, n);
        size_t stable = stable_bytes(line);
        if (!stable || (stable == line->len && !has_numbers(line->ptr, stable)))
            continue;
        without_numbers(&ctx->names.fold, line->ptr, stable, true);
        without_numbers(&ctx->names.own, line->ptr, stable, false);
        if (!ctx->names.fold.err && !ctx->names.own.err)
            count_line(ctx, &ctx->names.fold, &ctx->names.own, ctx->names.own.len != line->len);
    }
}

/* A program may make subs for as long as it runs. If the line in ctx->names.line is a new one, this
 * bounds the number of lines: of one name that is compiled over and over, and of names that count
 * up. The part after the first `stable` bytes is new each time that the code is compiled. */
static void bound_line(struct dpx_ctx *ctx, size_t stable)
{
    struct dp_buf *line = &ctx->names.line, *fold = &ctx->names.fold, *plain = &ctx->names.own;
    bool whole = stable == line->len;
    if (ctx->names.lines.count < FOLD_MAX)
        return;
    if (!ctx->names.counted)
        count_lines_so_far(ctx);
    if (line->err
        || (whole && ctx->names.lines.count < NAMES_MAX && !has_numbers(line->ptr, stable))
        || dp_pool_lookup(&ctx->names.lines, line->ptr, line->len) != DP_MAP_NONE)
        return;
    without_numbers(fold, line->ptr, stable, true);
    if (whole && !memchr(line->ptr, '(', stable))
        plain = line;           /* nothing would be left out */
    else
        without_numbers(plain, line->ptr, stable, false);
    if (fold->err || plain->err)
        return;
    if (ctx->names.lines.count >= NAMES_MAX) {
        if (dp_pool_lookup(&ctx->names.lines, fold->ptr, fold->len) != DP_MAP_NONE)
            replace_line(line, fold);
        else
            by_package(ctx);
        return;
    }
    const struct dp_buf *instead = count_line(ctx, fold, plain, !is_same(plain, line));
    if (instead)
        replace_line(line, instead);
}

/* Replaces the place in ctx->names.line by one without numbers if there are too many such places:
 * evals and #line may make places without end. Returns false if there are too many. */
static bool bound_site(struct dpx_ctx *ctx)
{
    struct dp_buf *line = &ctx->names.line, *fold = &ctx->names.fold;
    if (line->err || dp_pool_lookup(&ctx->names.sites, line->ptr, line->len) != DP_MAP_NONE)
        return !line->err;
    without_numbers(fold, line->ptr, line->len, false);
    if (fold->err || ctx->names.sites.count >= NAMES_MAX)
        return false;
    if (!is_same(fold, line) && too_many(ctx, fold))
        replace_line(line, fold);
    return true;
}

/* Does a package stand around a program's code, to control the recorder? Then its callers call what
 * it calls. The package itself declares that by this variable, where it is compiled, so that there
 * is no list here, and nothing to load there. */
static bool is_around(pTHX_ HV *stash)
{
    return stash && hv_exists(stash, "DPROF_AROUND", sizeof "DPROF_AROUND" - 1);
}

/* Makes the line of a CV, in ctx->names.line. Returns its id and flags; an id of 0: the sub is not
 * recorded, or memory is short. */
static U32 name_cv(pTHX_ struct dpx_ctx *ctx, CV *cv, const OP *start)
{
    const HEK *package, *name;
    struct dp_buf *line = &ctx->names.line;
    HV *stash = hek_of(cv, &package, &name);
    add_line(line, package, name, start);
    if (CvISXSUB(cv))
        dp_buf_adds(line, " kind=xs");

    U32 flags = 0;
    if (start && hek_is(name, "AUTOLOAD"))
        flags |= DPX_ID_AUTOLOAD;
    if (!start && hek_is(name, "_exit")
        && (hek_is(package, "POSIX") || hek_is(package, "Coro::Util")))
        flags |= DPX_ID_LEAVES;
    /* The functions that control the recorder are no part of the program. */
    if (!start && hek_is(package, "Devel::DProf") && name && strnEQ(HEK_KEY(name), "_control_", 9))
        return 0;
    if (is_around(aTHX_ stash))
        return 0;
    bool anon = CvANON(cv);
    UV code = start ? PTR2UV(start) : PTR2UV(cv);
    bool block = !start && hek_is(package, "Devel::DProf") && hek_is(name, "_block");
    if (!block && !line->err && !dpx_filter_takes(aTHX_ &ctx->names.filter, line->ptr, line->len)) {
        if (!anon && start && name)
            remember_owner(ctx, cv);
        return flags | (dpx_detail_note(ctx, package, name, code, 0) ? DPX_ID_DETAILED(start) : 0);
    }
    size_t stable = line->len;
    if (anon) {
        add_around(ctx, cv, start);
        if (seq_of(start))
            dp_buf_addf(line, " seq=%lu", (unsigned long)seq_of(start));
    }
    bound_line(ctx, stable);
    U32 id = id_of_line(ctx);
    if (!id)
        return 0;
    if (seq_of(start))
        see_source(aTHX_ ctx, CopFILE(cCOPx(start)));
    if (!anon && start && name)
        remember_owner(ctx, cv);
    if (dpx_detail_note(ctx, package, name, code, id))
        return (start ? id : 0) | flags | DPX_ID_DETAILED(start);
    return id | flags;
}

void dpx_name_parts(CV *cv, const HEK **package, const HEK **name) { hek_of(cv, package, name); }

UV dpx_name_key(CV *cv)
{
    const HEK *package, *name;
    hek_of(cv, &package, &name);
    /* the halves of one hash are swapped, so that equal hashes do not cancel out */
    UV key = name ? (UV)HEK_HASH(name) : 1;
    return (key << (4 * sizeof key) | key >> (4 * sizeof key))
           ^ (package ? (UV)HEK_HASH(package) : 1);
}

U32 dpx_name_find(pTHX_ struct dpx_ctx *ctx, CV *cv, UV name, const OP *start)
{
    UV code = start ? PTR2UV(start) : PTR2UV(cv);
    U32 seq = seq_of(start);
    int why = errno;

    if (ctx->names.known.used > KNOWN_MAX)
        dp_map_clear(&ctx->names.known);
    struct dp_map_slot *slot = dp_map_put(&ctx->names.known, dp_map_hash(code) ^ name);
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
    struct dpx_known *k = &ctx->names.cache[(code >> 4 ^ name >> 4) & (DPX_CACHE - 1)];
    k->code = code;
    k->name = name;
    k->seq = seq;
    k->id = id;
    errno = why;
    return id;
}

/* The line of an AUTOLOAD, which itself may not be recorded and so have no id. */
static struct dp_name own_line(struct dpx_ctx *ctx, CV *cv, U32 id, const OP *start)
{
    const HEK *package, *name;
    if (id)
        return *dp_pool_name(&ctx->names.lines, id - 1);
    hek_of(cv, &package, &name);
    struct dp_buf *own = &ctx->names.own;
    add_line(own, package, name, start);
    return (struct dp_name){ own->err ? "" : own->ptr, own->err ? 0 : own->len };
}

/* The id of the AUTOLOAD's own name, after too many names have called it, even if the filter leaves
 * that out: calls that should be recorded are not lost. 0: memory is short. */
static U32 plain_autoload(struct dpx_ctx *ctx, const struct dp_name *own)
{
    dp_buf_clear(&ctx->names.line);
    dp_buf_add(&ctx->names.line, own->ptr, own->len);
    return id_of_line(ctx);
}

/* The $AUTOLOAD that belongs to an AUTOLOAD, or NULL if it is empty. */
static SV *autoload_of(pTHX_ CV *cv)
{
    HV *stash = NULL;
    if (CvNAMED(cv)) {
        stash = CvSTASH(cv);
    } else {
        GV *gv = ((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv;
        if (gv && SvTYPE(gv) == SVt_PVGV && isGV_with_GP(gv))
            stash = GvSTASH(gv);
    }
    bool is_there = stash && hv_exists(stash, "AUTOLOAD", 8);   /* perl dies if it may not be */
    SV **gvp = is_there ? hv_fetchs(stash, "AUTOLOAD", 0) : NULL;
    if (!gvp || !*gvp || SvTYPE(*gvp) != SVt_PVGV || !isGV_with_GP(*gvp))
        return NULL;
    SV *sv = GvSV((GV *)*gvp);
    return sv && SvPOK(sv) && SvCUR(sv) ? sv : NULL;
}

/* Writes PACKAGE NAME FILE:LINE autoload=PACKAGE::AUTOLOAD, from the name in sv and the AUTOLOAD's
 * own line. Returns false if `own` is no line with a place. */
static bool wanted_line(struct dp_buf *line, SV *sv, const struct dp_name *own)
{
    const char *wanted = SvPVX_const(sv), *colon = NULL, *first, *second;
    STRLEN len = SvCUR(sv);
    for (STRLEN i = len; i >= 2 && !colon; i--)
        if (wanted[i - 1] == ':' && wanted[i - 2] == ':')
            colon = wanted + i;
    if (!two_blanks(own->ptr, own->len, &first, &second))
        return false;
    dp_buf_clear(line);
    if (colon)
        add_name(line, wanted, (I32)(colon - 2 - wanted), cBOOL(SvUTF8(sv)));
    else
        dp_buf_adds(line, "main");
    dp_buf_addc(line, ' ');
    const char *base = colon ? colon : wanted;
    add_name(line, base, (I32)(wanted + len - base), cBOOL(SvUTF8(sv)));
    dp_buf_add(line, second, own->len - (size_t)(second - own->ptr));
    dp_buf_adds(line, " autoload=");
    dp_buf_add(line, own->ptr, (size_t)(first - own->ptr));
    dp_buf_adds(line, "::AUTOLOAD");
    return true;
}

/* The id of the line that wanted_line has made; the AUTOLOAD's own id if there are too many lines,
 * or memory is short; 0: the filters leave the name out. */
static U32 id_of_wanted(pTHX_ struct dpx_ctx *ctx, U32 id, const struct dp_name *own)
{
    const struct dp_buf *line = &ctx->names.line;
    U32 found = 0;
    if (!line->err && dp_pool_lookup(&ctx->names.lines, line->ptr, line->len) == DP_MAP_NONE) {
        if (!dpx_filter_takes(aTHX_ &ctx->names.filter, line->ptr, line->len))
            return 0;
        dp_buf_clear(&ctx->names.fold);
        dp_buf_add(&ctx->names.fold, own->ptr, own->len);
        if (ctx->names.lines.count >= NAMES_MAX || too_many(ctx, &ctx->names.fold))
            found = id ? id : plain_autoload(ctx, own);
    }
    if (!found)
        found = id_of_line(ctx);
    return found ? found : id;
}

U32 dpx_name_wanted(pTHX_ struct dpx_ctx *ctx, CV *cv, U32 id, const OP *start)
{
    SV *sv = id & DPX_ID_DETAIL ? NULL : autoload_of(aTHX_ cv);
    int why = errno;
    id &= DPX_ID_MASK;
    if (!sv)
        return id;
    struct dp_name own = own_line(ctx, cv, id, start);
    if (wanted_line(&ctx->names.line, sv, &own))
        id = id_of_wanted(aTHX_ ctx, id, &own);
    errno = why;
    return id;
}

U32 dpx_name_phase(struct dpx_ctx *ctx, const char *name, size_t len)
{
    dp_buf_clear(&ctx->names.line);
    dp_fmt_field(&ctx->names.line, "", 0);
    dp_buf_addc(&ctx->names.line, ' ');
    dp_fmt_field(&ctx->names.line, name, len);
    dp_buf_adds(&ctx->names.line, " - kind=phase");
    return id_of_line(ctx);
}

/* Returns the id of the function of perl whose name is in the line, or 0 if the filters leave it
 * out. Keeps errno. */
static U32 id_of_builtin(pTHX_ struct dpx_ctx *ctx)
{
    int why = errno;
    struct dp_buf *line = &ctx->names.line;
    dp_buf_adds(line, " - kind=builtin");
    U32 id = !line->err && dpx_filter_takes(aTHX_ &ctx->names.filter, line->ptr, line->len)
        ? id_of_line(ctx) : 0;
    errno = why;
    return id;
}

U32 dpx_name_builtin(pTHX_ struct dpx_ctx *ctx, const char *name)
{
    dp_buf_clear(&ctx->names.line);
    dp_buf_addf(&ctx->names.line, "CORE %s", name);
    return id_of_builtin(aTHX_ ctx);
}

U32 dpx_name_compiling(pTHX_ struct dpx_ctx *ctx, const char *file)
{
    static const char before[] = "(compile) ", string[] = "(eval";
    struct dp_buf *line = &ctx->names.line;
    bool is_string = strncmp(file, string, sizeof string - 1) == 0;
    dp_buf_clear(line);
    dp_fmt_field(line, "", 0);
    dp_buf_addc(line, ' ');
    dp_fmt_field(line, before, sizeof before - 1);
    if (is_string)
        dp_buf_adds(line, "(eval)");
    else
        dp_fmt_field(line, file, strlen(file));
    return id_of_builtin(aTHX_ ctx);
}

/* Adds a text of a program's: UTF-8 as it is, and Latin-1 otherwise. */
static void add_given(struct dp_buf *to, const char *text, size_t len)
{
    add_name(to, text, (I32)len, is_utf8_string((const U8 *)text, len));
}

U32 dpx_name_span(struct dpx_ctx *ctx, const char *kind, size_t kind_len, const char *text,
                  size_t len, const char *place, bool add)
{
    struct dp_buf *line = &ctx->names.line;
    dp_buf_clear(line);
    add_given(line, kind, kind_len);
    dp_buf_addc(line, ' ');
    add_given(line, text, len);
    dp_buf_addc(line, ' ');
    dp_buf_adds(line, place ? place : "-");
    dp_buf_adds(line, " kind=span");
    if (!add && dp_pool_lookup(&ctx->names.lines, line->ptr, line->len) == DP_MAP_NONE)
        return 0;
    return id_of_line(ctx);
}

void dpx_name_release(struct dpx_names *names)
{
    dp_pool_release(&names->lines);
    dp_pool_release(&names->sites);
    dp_pool_release(&names->folds);
    dp_map_release(&names->known);
    dp_map_release(&names->owners);
    dp_buf_release(&names->line);
    dp_buf_release(&names->fold);
    dp_buf_release(&names->own);
    dp_buf_release(&names->filter.text);
    dp_map_release(&names->filter.verdicts);
    dp_mem_free(names->fold_counts);
}

SV *dpx_name_of(pTHX_ const struct dpx_ctx *ctx, U32 id)
{
    if (!id || id > ctx->names.lines.count)
        return newSV(0);
    const struct dp_name *line = dp_pool_name(&ctx->names.lines, id - 1);
    const char *first, *second;
    if (!two_blanks(line->ptr, line->len, &first, &second))
        return newSV(0);
    SV *sv = newSVpvn(line->ptr, (STRLEN)(first - line->ptr));
    const char *end = line->ptr + line->len;
    sv_catpv(sv, (second[1] == '-' && memcmp(end - 8, "=builtin", 8) == 0)
                 || memcmp(end - 10, " kind=span", 10) == 0 ? ":" : "::");
    sv_catpvn(sv, first + 1, (STRLEN)(second - first - 1));
    SvUTF8_on(sv);
    return sv;
}

uint32_t dpx_name_site_of(pTHX_ struct dpx_ctx *ctx, const COP *cop)
{
    const char *file = cop ? CopFILE(cop) : NULL;
    int why = errno;
    if (!file)
        return 0;
    struct dp_buf *line = &ctx->names.line;
    struct dp_pool *sites = &ctx->names.sites;
    dp_buf_clear(line);
    dp_fmt_field(line, file, strlen(file));
    dp_buf_addc(line, ':');
    dp_buf_addu(line, CopLINE(cop));
    size_t known = sites->count;
    uint32_t n = bound_site(ctx) ? dp_pool_intern(sites, line->ptr, line->len) : DP_MAP_NONE;
    if (sites->count > known) {
        dpx_file_keep_site(ctx, n + 1);
        see_source(aTHX_ ctx, file);
    }
    errno = why;
    return n == DP_MAP_NONE ? 0 : n + 1;
}
