/* only= and skip=: which names are recorded.
 *
 * The patterns are perl's and run in perl's own engine, at any point of the program. Such a match
 * neither reads nor sets what the program's matches set ($1, @-, pos, the last pattern): ops do
 * that, and no op is run. The engine takes its memory above that of a match under way, and gives it
 * back. A pattern that could call the program, or make the engine die, is refused beforehand.
 *
 * What this relies on: the engine matches by pregexec without an op, and PL_curcop's hints,
 * PL_diehook and PL_signalhook are all that it reads of the program. Before 5.32 it asks Perl
 * code about properties and folding. RXf_PMf_CHARSET_SHIFT says where flags keep the character
 * set. */
#include "dpx_filter.h"
#include "dp_char.h"
#include "dp_fmt.h"

#include <string.h>

enum { VERDICTS_MAX = 1 << 16 };    /* beyond these, all verdicts are dropped */

/* ---- patterns ---- */

static bool starts_with(const char *p, const char *with)
{
    return strncmp(p, with, strlen(with)) == 0;
}

/* Is it \p{IsNAME} or \p{InNAME}, which may call a sub of the program? */
static bool may_be_sub(const char *p)
{
    const char *end = p + strcspn(p, "}");
    p += strspn(p, "{^ ");
    for (const char *q = p; q + 1 < end; q++)
        if (q[0] == ':' && q[1] == ':')
            p = q + 2;
    return starts_with(p, "Is") || starts_with(p, "In");
}

/* Before 5.32 the engine asks Perl code (utf8_heavy.pl) for the meaning of properties, whenever a
 * pattern is compiled, and for the folding of letters, once. Neither may happen inside a hook. */
#if PERL_VERSION < 32
#  define DPX_UNICODE_IN_PERL 1
#else
#  define DPX_UNICODE_IN_PERL 0
#endif

/* Is there an (?i) in the pattern, among other flags or not? */
static bool ignores_case(const char *p)
{
    while ((p = strstr(p, "(?")) != NULL) {
        p += 2;
        if (memchr(p, 'i', strspn(p, "^adilmnpsux")))
            return true;
    }
    return false;
}

/* Makes perl load the table of case folds now. Interpreters of new threads inherit it. */
static void learn_to_fold(pTHX)
{
    U8 folded[UTF8_MAXBYTES_CASE + 1];
    STRLEN len;
    toFOLD_uni(0x3b1, folded, &len);
    PERL_UNUSED_VAR(len);
}

/* Does it call a group within the pattern, which may recurse until the engine dies? */
static bool is_recursion(const char *p)
{
    if (*p == 'R' || *p == '&' || starts_with(p, "P>"))
        return true;
    p += *p == '+' || *p == '-';
    return dp_is_digit(*p);
}

/* Returns why a pattern is refused, or NULL. */
static const char *why_refused(const char *p)
{
    for (; *p; p++) {
        if (*p == '\\' && p[1]) {
            p++;
            if ((*p == 'p' || *p == 'P') && DPX_UNICODE_IN_PERL)
                return "perls before 5.32 look \\p{...} up in code of their own, which is not"
                       " called here;"
                       " there are [[:upper:]] and its kin";
            if ((*p == 'p' || *p == 'P') && may_be_sub(p + 1))
                return "\\p{Is...} and \\p{In...} may be subs of the program, which are not"
                       " called;"
                       " there are \\p{...} without Is, and \\p{Block=...}";
            if (*p == 'N' && p[1] == '{' && !starts_with(p + 2, "U+"))
                return "characters have no names here; there is \\x{...}";
        } else if (starts_with(p, "(?{") || starts_with(p, "(??{") || starts_with(p, "(*{")) {
            return "code in a pattern is not run";
        } else if (starts_with(p, "(?") && is_recursion(p + 2)) {
            return "a pattern that calls its own groups is not taken";
        }
    }
    return NULL;
}

/* Makes a COP without any pragma of the program: use bytes, use warnings, use locale. */
static void clear_pragmas(COP *cop)
{
    Zero(cop, 1, COP);
    cop->cop_warnings = pWARN_NONE;
}

/* The variables that perl makes when it compiles a pattern, in main::. */
static const char *const engine_vars[] = {
    "\022E_TRIE_MAXBUF", "\022E_COMPILE_RECURSION_LIMIT"
};
enum { ENGINE_VARS = C_ARRAY_LENGTH(engine_vars) };

/* Sets had[i] if the i-th of them exists. */
static void note_engine_vars(pTHX_ bool had[ENGINE_VARS])
{
    for (size_t i = 0; i < ENGINE_VARS; i++)
        had[i] = hv_exists(PL_defstash, engine_vars[i], (I32)strlen(engine_vars[i]));
}

/* Removes those that our pattern alone made, so that the program does not see them. */
static void drop_engine_vars(pTHX_ const bool had[ENGINE_VARS])
{
    for (size_t i = 0; i < ENGINE_VARS; i++)
        if (!had[i])
            (void)hv_delete(PL_defstash, engine_vars[i], (I32)strlen(engine_vars[i]), G_DISCARD);
}

/* Compiles a pattern as under no pragmas, and hides from the program the variables that perl makes
 * for it. Returns NULL for an empty pattern; dies if the pattern is wrong. */
static REGEXP *compile_pattern(pTHX_ const char *text)
{
    STRLEN len = strlen(text);
    COP cop, *before = PL_curcop;
    bool had[ENGINE_VARS];
    if (!text[0])
        return NULL;
    clear_pragmas(&cop);
    SV *sv = newSVpvn_flags(text, len, SVs_TEMP);
    if (is_utf8_string((const U8 *)text, len))
        SvUTF8_on(sv);
    PL_curcop = &cop;
    note_engine_vars(aTHX_ had);
    REGEXP *rx = re_compile(sv, (U32)REGEX_UNICODE_CHARSET << RXf_PMf_CHARSET_SHIFT_);
    drop_engine_vars(aTHX_ had);
    PL_curcop = before;
    return rx;
}

/* Compiles a pattern. It is an XSUB so that it can be called in an eval, which restores
 * PL_curcop. */
static void compile_xs(pTHX_ CV *cv)
{
    REGEXP **to = CvXSUBANY(cv).any_ptr;
    dXSARGS;
    SvGETMAGIC(ST(0));
    if (DPX_UNICODE_IN_PERL && ignores_case(SvPV_nolen(ST(0))))
        learn_to_fold(aTHX);
    *to = compile_pattern(aTHX_ SvPV_nolen(ST(0)));
    PERL_UNUSED_VAR(items);
    XSRETURN_EMPTY;
}

/* Checks the pattern of an option by compiling it; the program's $@ and $SIG{__DIE__} stay as they
 * were. Returns false, with err set, if the pattern is wrong or has code. NULL: no pattern. */
static bool try_compile(pTHX_ const char *option, const char *text, struct dp_err *err)
{
    REGEXP *rx = NULL;
    if (!text)
        return true;
    const char *why = why_refused(text);
    if (why) {
        dp_err_set(err, DP_E_ARG, "%s=%s: %s", option, text, why);
        return false;
    }
    ENTER;
    SAVETMPS;
    save_scalar(PL_errgv);
    SAVESPTR(PL_diehook);
    PL_diehook = NULL;
    CV *cv = newXS(NULL, compile_xs, __FILE__);
    sv_2mortal((SV *)cv);
    CvXSUBANY(cv).any_ptr = &rx;
    dSP;
    PUSHMARK(SP);
    mXPUSHp(text, strlen(text));
    PUTBACK;
    call_sv((SV *)cv, G_EVAL | G_VOID | G_DISCARD);
    if (SvTRUE(ERRSV)) {
        STRLEN len;
        why = SvPV(ERRSV, len);
        while (len && (why[len - 1] == '\n' || why[len - 1] == '.'))
            len--;
        dp_err_set(err, DP_E_ARG, "%s=%s: %.*s", option, text, (int)len, why);
    } else if (rx && RX_EXTFLAGS(rx) & RXf_EVAL_SEEN) {
        dp_err_set(err, DP_E_ARG, "%s=%s: code in a pattern is not run", option, text);
    }
    FREETMPS;
    LEAVE;
    if (rx)
        SvREFCNT_dec((SV *)rx);
    return err->code == 0;
}

bool dpx_filter_check(pTHX_ struct dp_err *err)
{
    return try_compile(aTHX_ "only", dpx_run.opt.only, err)
        && try_compile(aTHX_ "skip", dpx_run.opt.skip, err);
}

/* ---- one interpreter's ---- */

void dpx_filter_init(pTHX_ struct dpx_filter *f)
{
    if (!dpx_run.opt.only && !dpx_run.opt.skip)
        return;
    ENTER;
    SAVETMPS;
    f->only = dpx_run.opt.only ? compile_pattern(aTHX_ dpx_run.opt.only) : NULL;
    f->skip = dpx_run.opt.skip ? compile_pattern(aTHX_ dpx_run.opt.skip) : NULL;
    FREETMPS;
    LEAVE;
    f->subject = newSV(80);
    f->thx = DPX_THX;
}

void dpx_filter_release(pTHX_ struct dpx_filter *f)
{
    if (f->thx != DPX_THX)
        return;
    f->thx = NULL;
    SvREFCNT_dec((SV *)f->only);
    SvREFCNT_dec((SV *)f->skip);
    SvREFCNT_dec(f->subject);
    f->only = f->skip = NULL;
    f->subject = NULL;
}

/* ---- names ---- */

/* Adds a field of an & line with its escapes undone; a lone % is an empty field. Returns what
 * follows the field. */
static const char *add_field(struct dp_buf *to, const char *p, const char *end)
{
    const char *blank = memchr(p, ' ', (size_t)(end - p));
    dp_fmt_unfield(to, p, (size_t)((blank ? blank : end) - p));
    return blank ? blank + 1 : end;
}

/* Is this the line of a function of perl itself? */
static bool is_builtin(const char *line, size_t len)
{
    static const char kind[] = " kind=builtin";
    return len > sizeof kind && memcmp(line + len - (sizeof kind - 1), kind, sizeof kind - 1) == 0;
}

/* Makes the text that the patterns see of a line: PACKAGE::NAME, PACKAGE::__ANON__[FILE:LINE],
 * CORE:NAME. */
static void make_label(struct dp_buf *to, const char *line, size_t len)
{
    const char *end = line + len;
    dp_buf_clear(to);
    const char *p = add_field(to, line, end);
    dp_buf_adds(to, is_builtin(line, len) ? ":" : "::");
    bool anon = (size_t)(end - p) > 9 && memcmp(p, "__ANON__ ", 9) == 0;
    p = add_field(to, p, end);
    if (anon) {
        dp_buf_addc(to, '[');
        add_field(to, p, end);
        dp_buf_addc(to, ']');
    }
}

/* Makes a text the string to match. Names are UTF-8; a file's name may have other bytes, which
 * count as Latin-1. */
static void set_subject(pTHX_ SV *sv, const struct dp_buf *text)
{
    bool utf8 = is_utf8_string((const U8 *)text->ptr, text->len);
    char *to = SvGROW(sv, text->len * 2 + 1);
    STRLEN len = 0;
    for (size_t i = 0; i < text->len; i++) {
        unsigned char c = (unsigned char)text->ptr[i];
        if (utf8 || c < 0x80) {
            to[len++] = (char)c;
        } else {
            to[len++] = (char)(0xc0 | c >> 6);
            to[len++] = (char)(0x80 | (c & 0x3f));
        }
    }
    to[len] = '\0';
    SvCUR_set(sv, len);
    SvPOK_only(sv);
    SvUTF8_on(sv);
}

static void ignore_signals(pTHX) { PERL_UNUSED_CONTEXT; }

/* Returns whether a name matches a pattern. Perl checks for signals while it matches. Neither a
 * handler of the program nor a sample may run in the middle of a hook: PL_sig_pending stays set,
 * and the program's next safe point sees it. */
static bool pattern_matches(pTHX_ SV *sv, REGEXP *rx)
{
    COP cop, *before = PL_curcop;
    despatch_signals_proc_t signals = PL_signalhook;
    bool tainted = cBOOL(TAINT_get);
    char *ptr = SvPVX(sv);
    clear_pragmas(&cop);
    PL_curcop = &cop;
    PL_signalhook = ignore_signals;
    bool yes = cBOOL(pregexec(rx, ptr, ptr + SvCUR(sv), ptr, 0, sv, 1));
    PL_signalhook = signals;
    PL_curcop = before;
    TAINT_set(tainted);
    return yes;
}

/* Do only= and skip= let the sub of this line be recorded? Without memory it is recorded. */
static bool is_wanted(pTHX_ struct dpx_filter *f, const char *line, size_t len)
{
    make_label(&f->text, line, len);
    if (f->text.err)
        return true;
    set_subject(aTHX_ f->subject, &f->text);
    return (!f->only || pattern_matches(aTHX_ f->subject, f->only))
        && !(f->skip && pattern_matches(aTHX_ f->subject, f->skip));
}

/* Hashes a line, by FNV-1a. */
static U64 hash_line(const char *ptr, size_t len)
{
    U64 h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)ptr[i]) * UINT64_C(0x100000001b3);
    return dp_map_hash(h);
}

bool dpx_filter_takes(pTHX_ struct dpx_filter *f, const char *line, size_t len)
{
    if (f->thx != DPX_THX)
        return true;
    if (f->verdicts.used > VERDICTS_MAX)
        dp_map_clear(&f->verdicts);
    struct dp_map_slot *slot = dp_map_put(&f->verdicts, hash_line(line, len));
    if (slot && slot->value != DP_MAP_NONE && slot->check == (uint32_t)len)
        return slot->value;
    bool yes = is_wanted(aTHX_ f, line, len);
    if (slot) {
        slot->value = yes;
        slot->check = (uint32_t)len;
    }
    return yes;
}
