/* -d:DProf in an interpreter that is not the first one of its process.
 *
 * The switch -d:MODULE sets PERL5DB in the environment, and the program begins with the code in it.
 * But perl lets only the first interpreter of a process change the environment (my_setenv), and we
 * have removed PERL5DB from it, for the sake of child processes. So in other interpreters perl
 * finds nothing, and compiles `BEGIN { require 'perl5db.pl' }`: the program would wait for a user
 * at the prompt of the debugger. When perl compiles that require, the op gets a function of ours,
 * which does what the switch asks for.
 *
 * What this relies on: perl compiles `BEGIN { require 'perl5db.pl' }` where the switch -d is
 * given and PERL5DB is not set, and calls the checker of require (PL_check). my_setenv changes
 * nothing outside of the first interpreter. */
#include "dpx_perldb.h"
#include "dpx_ctx.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static Perl_check_t orig_check;

/* The options in a switch that is -d:DProf or -d:DProf=OPTIONS, perhaps behind other letters
 * (-wd:DProf); NULL: it is another switch. */
static const char *options_in(const char *word)
{
    static const char name[] = "DProf";
    word += *word == '-';
    while (isalnum((unsigned char)*word) && *word != 'd')
        word++;
    if (*word != 'd')
        return NULL;
    word += word[1] == 't' ? 2 : 1;
    if ((*word != ':' && *word != '=') || strncmp(word + 1, name, sizeof name - 1) != 0)
        return NULL;
    word += sizeof name;
    if (*word == '=')
        return word + 1;
    return !*word || isspace((unsigned char)*word) ? word : NULL;
}

/* Returns the text behind -d:DProf= in the environment's PERL5OPT. NULL: PERL5OPT has no
 * -d:DProf. */
static const char *inherited_options(void)
{
    const char *found = NULL, *words = getenv("PERL5OPT");
    while (words && !found) {
        words += strspn(words, " \t\n");
        found = options_in(words);
        words = strpbrk(words, " \t\n");
    }
    return found;
}

bool dpx_perldb_goes_on(void)
{
    return inherited_options() != NULL;
}

/* Returns the text behind -d:DProf= on the command line of this interpreter, or else in PERL5OPT.
 * NULL: neither has a -d:DProf. */
static const char *find_options(pTHX)
{
    const char *found = NULL;
    for (int i = 1; i < PL_origargc && !found; i++) {
        const char *word = PL_origargv[i];
        if (strEQ(word, "--"))
            break;
        if (*word == '-')
            found = options_in(word);
    }
    return found ? found : inherited_options();
}

/* Pushes a text on perl's stack. With a perl that counts references from its stack, values there
 * are not mortal. */
static void push_text(pTHX_ const char *ptr, size_t len)
{
#ifdef PERL_RC_STACK
    rpp_xpush_1(newSVpvn_flags(ptr, len, SVs_TEMP));
#else
    dSP;
    XPUSHs(newSVpvn_flags(ptr, len, SVs_TEMP));
    PUTBACK;
#endif
}

/* Does `use Devel::DProf split(/,/, OPTIONS)`. */
static void use_recorder(pTHX_ const char *options)
{
    const char *end = options + strcspn(options, " \t\n");
    load_module(PERL_LOADMOD_NOIMPORT, newSVpvs("Devel::DProf"), NULL);
    ENTER;
    SAVETMPS;
    PUSHMARK(PL_stack_sp);
    push_text(aTHX_ "Devel::DProf", 12);
    while (options < end) {
        size_t len = (size_t)(end - options), item = strcspn(options, ",");
        if (item > len)
            item = len;
        push_text(aTHX_ options, item);
        options += item + (item < len);
    }
    call_pv("Devel::DProf::import", G_VOID | G_DISCARD);
    FREETMPS;
    LEAVE;
}

/* Runs in place of `require 'perl5db.pl'`. Starts the recorder if there is a -d:DProf and this
 * interpreter has no recorder yet; otherwise runs perl's require. The recorder leaves the name on
 * the stack, which is as true as what require returns. */
static OP *require_debugger(pTHX)
{
    const char *options = dpx_ctx_has_joined(aTHX) ? NULL : find_options(aTHX);
    if (!options)
        return PL_ppaddr[OP_REQUIRE](aTHX);
    use_recorder(aTHX_ options);
    return NORMAL;
}

/* Gives an op that requires perl5db.pl, perl's debugger, the function require_debugger(). Returns
 * the op. */
static OP *check_require(pTHX_ OP *o)
{
    o = orig_check(aTHX_ o);
    const OP *name = o->op_type == OP_REQUIRE && o->op_flags & OPf_KIDS ? cUNOPo->op_first : NULL;
    if (PL_perldb && name && name->op_type == OP_CONST) {
        const SV *sv = cSVOPx_sv(name);
        if (SvPOK(sv) && strEQ(SvPVX_const(sv), "perl5db.pl"))
            o->op_ppaddr = require_debugger;
    }
    return o;
}

void dpx_perldb_install(pTHX) { wrap_op_checker(OP_REQUIRE, check_require, &orig_check); }
