/* What this relies on: init_debugger in perl.c makes the variables that clear_package removes,
 * and no others: PL_DBgv, PL_DBline, PL_DBsub, PL_DBsingle, PL_DBtrace, PL_DBsignal, PL_dbargs,
 * PL_DBcontrol. Lines of source stand in globs whose names begin with "_<". The switch -dt sets
 * PERL5DB_THREADED. */
#include "dpx_undebug.h"

#include <stdlib.h>
#include <string.h>

bool dpx_undebug_began(pTHX) { return PL_DBsub != NULL; }

/* Is there a debugger in Perl? It defines DB::DB or DB::sub. */
static bool has_debugger(pTHX)
{
    return (PL_DBgv && GvCV(PL_DBgv)) || (PL_DBsub && GvCV(PL_DBsub));
}

static void release_glob(pTHX_ GV **gv)
{
    GV *was = *gv;
    *gv = NULL;
    SvREFCNT_dec((SV *)was);
}

/* Removes the variables of the package DB, which perl has made itself: programs ask whether
 * $DB::single is defined to learn whether a debugger runs. */
static void clear_package(pTHX)
{
    PL_DBcv = NULL;
    PL_DBsingle = PL_DBtrace = PL_DBsignal = NULL;
    Zero(PL_DBcontrol, DBVARMG_COUNT, IV);
    PL_dbargs = NULL;
    release_glob(aTHX_ &PL_DBgv);
    release_glob(aTHX_ &PL_DBline);
    release_glob(aTHX_ &PL_DBsub);
    static const char *const names[] = {
        "DB", "args", "dbline", "postponed", "signal", "single", "sub", "trace"
    };
    for (size_t i = 0; i < C_ARRAY_LENGTH(names); i++)
        (void)hv_delete(PL_debstash, names[i], (I32)strlen(names[i]), G_DISCARD);
}

/* Frees the lines of a file. Without threads, ops point to the glob, which stays. */
static void forget_lines(pTHX_ GV *gv)
{
    SV *lines = (SV *)GvAV(gv), *breaks = (SV *)GvHV(gv);
    GvAV(gv) = NULL;
    GvHV(gv) = NULL;
    SvREFCNT_dec(lines);
    SvREFCNT_dec(breaks);
}

/* Frees the lines of source files that perl kept for the debugger. While the flags were set, perl
 * kept the lines of what it compiled: of our own modules, and of the line that loads them, which
 * belongs to the program's file. */
static void forget_sources(pTHX)
{
    HE *he;
    hv_iterinit(PL_defstash);
    while ((he = hv_iternext(PL_defstash))) {
        I32 len;
        const char *key = hv_iterkey(he, &len);
        SV *sv = HeVAL(he);
        if (len <= 2 || key[0] != '_' || key[1] != '<' || !isGV_with_GP(sv))
            continue;
        if (GvAV((GV *)sv))
            forget_lines(aTHX_ (GV *)sv);
#ifdef USE_ITHREADS
        (void)hv_delete(PL_defstash, key, len, G_DISCARD);
#endif
    }
}

/* Does a text have the switch -dt, or -dt:MODULE? */
static bool has_dt(const char *text)
{
    const char *at = text ? strstr(text, "-dt") : NULL;
    return at && !isWORDCHAR_A(at[3]);
}

/* Deletes PERL5DB_THREADED, which -dt sets for the debugger, from %ENV. Without -dt, the variable
 * is the user's own. */
static void forget_threaded(pTHX)
{
    bool ours = !TAINTING_get && has_dt(getenv("PERL5OPT"));
    for (int i = 1; i < PL_origargc && PL_origargv[i][0] == '-'; i++)
        ours |= has_dt(PL_origargv[i]);
    if (ours && GvHV(PL_envgv))
        (void)hv_deletes(GvHV(PL_envgv), "PERL5DB_THREADED", G_DISCARD);
}

void dpx_undebug(pTHX)
{
    bool began = dpx_undebug_began(aTHX);
    PL_perldb = 0;
    if (!began || has_debugger(aTHX))
        return;
    clear_package(aTHX);
    forget_sources(aTHX);
    (void)hv_deletes(PL_defstash, "\020", G_DISCARD);   /* $^P, which only our module mentions */
    forget_threaded(aTHX);
}

static void put_number(pTHX_ HV *to, const char *name, IV value)
{
    (void)hv_store(to, name, (I32)strlen(name), newSViv(value), 0);
}

HV *dpx_undebug_state(pTHX)
{
    HV *to = newHV();
    put_number(aTHX_ to, "PL_perldb", (IV)PL_perldb);
    put_number(aTHX_ to, "PL_DBgv", PL_DBgv != NULL);
    put_number(aTHX_ to, "PL_DBline", PL_DBline != NULL);
    put_number(aTHX_ to, "PL_DBsub", PL_DBsub != NULL);
    put_number(aTHX_ to, "PL_DBcv", PL_DBcv != NULL);
    put_number(aTHX_ to, "PL_DBsingle", PL_DBsingle != NULL);
    put_number(aTHX_ to, "PL_DBtrace", PL_DBtrace != NULL);
    put_number(aTHX_ to, "PL_DBsignal", PL_DBsignal != NULL);
    put_number(aTHX_ to, "PL_dbargs", PL_dbargs != NULL);
    put_number(aTHX_ to, "single", PL_DBcontrol[DBVARMG_SINGLE]);
    put_number(aTHX_ to, "trace", PL_DBcontrol[DBVARMG_TRACE]);
    put_number(aTHX_ to, "signal", PL_DBcontrol[DBVARMG_SIGNAL]);
#ifdef PERL_HASH_RANDOMIZE_KEYS
    put_number(aTHX_ to, "perturb", PL_HASH_RAND_BITS_ENABLED);
#endif
    return to;
}
