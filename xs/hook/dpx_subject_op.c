/* What a builtin is about: the program of system, the file of open, the pattern of a match.
 *
 * What this relies on: the values of these ops lie on perl's stack before they run, above the mark
 * of those that take a list. The pattern of a match that is no constant is made by an op of type
 * regcomp below it. */
#include "dpx_subject_op.h"
#include "dpx_span.h"
#include "dp_fmt.h"
#include "dp_mask_text.h"
#include "dp_mem.h"

#include <string.h>

enum { PATTERN_MAX = 120, PATTERNS = 512 };     /* bytes of a pattern; places in the cache */

/* The id of the span of a match: by its op, and the number of the statement, which no other has. */
struct dpx_pattern {
    const OP *op;
    U32 seq, id;
};

static bool wants(enum dpx_detail_kind kind) { return dpx_run.detail & 1u << kind; }

/* The id of the span of a kind whose text is in ctx->spans.text; 0: `has` is not set, or memory is
 * short. */
static U32 id_of_text(struct dpx_ctx *ctx, enum dpx_detail_kind kind, bool has)
{
    const struct dp_buf *text = &ctx->spans.text;
    const char *word = dpx_detail_word(kind);
    return has && !text->err ? dpx_span_id(ctx, word, strlen(word), text->ptr, text->len, NULL) : 0;
}

/* ---- commands and files ---- */

/* The id of the span of a command; 0: none is wanted, or the command cannot be read. is_list: first
 * is the program, and not a line for the shell. */
static U32 id_of_command(struct dpx_ctx *ctx, SV *first, bool is_list)
{
    if (!wants(DPX_DETAIL_COMMAND))
        return 0;
    dp_buf_clear(&ctx->spans.text);
    return id_of_text(ctx, DPX_DETAIL_COMMAND,
                      dpx_subject_command(&ctx->spans.text, first, is_list));
}

/* The command `-` of a pipe is a fork. */
static bool is_fork(const char *command, STRLEN len) { return len == 1 && *command == '-'; }

/* The id of the span of a file; 0: none is wanted, or the name cannot be read. */
static U32 id_of_file(struct dpx_ctx *ctx, SV *path)
{
    STRLEN len;
    const char *text = wants(DPX_DETAIL_FILE) ? dpx_subject_text(path, &len) : NULL;
    if (!text)
        return 0;
    dp_buf_clear(&ctx->spans.text);
    dp_mask_path(&ctx->spans.text, text, len);
    return id_of_text(ctx, DPX_DETAIL_FILE, true);
}

/* Has a file been required before? Then perl only looks that up. */
static bool is_loaded(pTHX_ SV *path)
{
    STRLEN len;
    const char *text = dpx_subject_text(path, &len);
    return text && hv_exists(GvHVn(PL_incgv), text, SvUTF8(path) ? -(I32)len : (I32)len);
}

/* The id of the span of system or exec, with a list, or a block that gives the program and a list;
 * 0: none. */
static U32 id_of_system(pTHX_ struct dpx_ctx *ctx)
{
    SV **args = PL_stack_base + TOPMARK + 1;
    SSize_t n = PL_stack_sp - args + 1;
    return n > 0 ? id_of_command(ctx, args[0], n > 1 || (PL_op->op_flags & OPf_STACKED)) : 0;
}

/* Is a text, at its beginning or its end, the sign of a pipe? Then the other part is the
 * command. */
static bool is_pipe(const char **text, STRLEN *len)
{
    const char *end = *text + *len;
    while (*text < end && isSPACE(**text))
        ++*text;
    while (end > *text && isSPACE(end[-1]))
        end--;
    bool before = *text < end && **text == '|', after = !before && end > *text && end[-1] == '|';
    *text += before;
    *len = (STRLEN)(end - after - *text);
    return before || after;
}

/* The id of the span of open; 0: none, as for a fork. Its arguments are a handle; a mode and a
 * file, or a pipe and a command; or a mode and a file in one. */
static U32 id_of_open(pTHX_ struct dpx_ctx *ctx)
{
    SV **args = PL_stack_base + TOPMARK + 1;
    SSize_t n = PL_stack_sp - args + 1;
    STRLEN len;
    const char *mode = n > 1 ? dpx_subject_text(args[1], &len) : NULL;
    if (!mode)
        return 0;
    bool pipe = is_pipe(&mode, &len);
    if (n > 2) {
        const char *command = n == 3 && pipe ? dpx_subject_text(args[2], &len) : NULL;
        return !pipe ? id_of_file(ctx, args[2])
               : command && is_fork(command, len) ? 0 : id_of_command(ctx, args[2], n > 3);
    }
    dp_buf_clear(&ctx->spans.text);
    if (pipe && is_fork(mode, len))
        return 0;
    if (pipe) {
        dp_command_name(&ctx->spans.text, mode, len);
        return wants(DPX_DETAIL_COMMAND) ? id_of_text(ctx, DPX_DETAIL_COMMAND, true) : 0;
    }
    while (len && (strchr("<>+&= ", *mode) && *mode)) {
        mode++;
        len--;
    }
    dp_mask_path(&ctx->spans.text, mode, len);
    return wants(DPX_DETAIL_FILE) ? id_of_text(ctx, DPX_DETAIL_FILE, true) : 0;
}

/* ---- patterns ---- */

/* Appends FILE:LINE as a profile has it. */
static void add_place(struct dp_buf *to, const COP *cop)
{
    const char *file = CopFILE(cop);
    dp_fmt_field(to, file ? file : "", file ? strlen(file) : 0);
    dp_buf_addc(to, ':');
    dp_buf_addu(to, CopLINE(cop));
}

/* Is the pattern made when the program runs? Then it may have values of the program. */
static bool is_made(const OP *op)
{
    return (op->op_flags & OPf_KIDS) && cLISTOPx(op)->op_last
           && cLISTOPx(op)->op_last->op_type == OP_REGCOMP;
}

/* Finds the id of the span of a match; 0: memory is short. */
static U32 find_pattern(pTHX_ struct dpx_ctx *ctx, const PMOP *pm)
{
    static const char made[] = "(a pattern with variables)";
    const REGEXP *rx = PM_GETRE(pm);
    bool is_constant = rx && !is_made((const OP *)pm);
    const char *text = is_constant ? RX_PRECOMP_const(rx) : made;
    size_t len = is_constant ? (size_t)RX_PRELEN(rx) : sizeof made - 1;
    while (len > PATTERN_MAX && (len > PATTERN_MAX + 4 || UTF8_IS_CONTINUATION((U8)text[len])))
        len--;
    struct dp_buf *place = &ctx->spans.text;
    dp_buf_clear(place);
    add_place(place, PL_curcop);
    return place->err ? 0 : dpx_span_id(ctx, "regex", 5, text, len, dp_buf_cstr(place));
}

/* The id of the span of the match that PL_op is, from the cache or by find_pattern; 0: none is
 * wanted. */
static U32 id_of_pattern(pTHX_ struct dpx_ctx *ctx)
{
    struct dpx_spans *spans = &ctx->spans;
    U32 seq = PL_curcop->cop_seq;
    if (!wants(DPX_DETAIL_REGEX))
        return 0;
    if (!spans->patterns)
        spans->patterns = dp_mem_zalloc(PATTERNS * sizeof *spans->patterns);
    if (!spans->patterns)
        return find_pattern(aTHX_ ctx, cPMOP);
    struct dpx_pattern *p = &spans->patterns[(PTR2UV(PL_op) >> 4 ^ seq) % PATTERNS];
    if (p->op != PL_op || p->seq != seq)
        *p = (struct dpx_pattern){ PL_op, seq, find_pattern(aTHX_ ctx, cPMOP) };
    return p->id;
}

unsigned dpx_subject_kinds(Optype type)
{
    enum { COMMANDS = 1 << DPX_DETAIL_COMMAND, FILES = 1 << DPX_DETAIL_FILE };
    switch (type) {
    case OP_SYSTEM: case OP_EXEC: case OP_BACKTICK: return COMMANDS;
    case OP_OPEN: return COMMANDS | FILES;
    case OP_STAT: case OP_LSTAT: case OP_OPEN_DIR: case OP_REQUIRE: case OP_DOFILE: return FILES;
    case OP_MATCH: case OP_SUBST: return 1 << DPX_DETAIL_REGEX;
    default: return 0;
    }
}

U32 dpx_subject_op(pTHX_ struct dpx_ctx *ctx)
{
    switch (PL_op->op_type) {
    case OP_SYSTEM: case OP_EXEC:
        return id_of_system(aTHX_ ctx);
    case OP_BACKTICK:
        return id_of_command(ctx, *PL_stack_sp, false);
    case OP_OPEN:
        return id_of_open(aTHX_ ctx);
    case OP_STAT: case OP_LSTAT:
        return PL_op->op_flags & OPf_REF ? 0 : id_of_file(ctx, *PL_stack_sp);
    case OP_REQUIRE:
        return is_loaded(aTHX_ *PL_stack_sp) ? 0 : id_of_file(ctx, *PL_stack_sp);
    case OP_OPEN_DIR: case OP_DOFILE:
        return id_of_file(ctx, *PL_stack_sp);
    case OP_MATCH: case OP_SUBST:
        return id_of_pattern(aTHX_ ctx);
    default:
        return 0;
    }
}
