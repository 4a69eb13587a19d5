/* Perls before 5.36 mix addresses or keys into the number, so that no step can be taken back. There
 * perl takes no further steps, and the order follows from the seed alone.
 *
 * From 5.36 on each change is one step of a generator that can be run backwards. dpx_order_restore
 * counts the steps that perl took because of -d, and takes as many back:
 *
 *     init_debugger       8 keys in %DB::, when perl read its switches
 *     PERL5DB             one more key in %ENV
 *     the first line      "_<FILE" (with threads), BEGIN, and DB::postponed, whose step is known:
 *                         a symbol table remembers the number at its last change
 *
 * The number of steps of a key depends on the keys that were there before. So the keys are added
 * again, to hashes that are made for that, beside the keys that the symbol table has once ours are
 * hidden. A key of ours that is not hidden may share a bucket with one that is added again, which
 * then takes one more step than it took.
 *
 * What this relies on: PL_hash_rand_bits and its generator (PERL_XORSHIFT64_A from 5.38 on,
 * checked when this runs), xhv_rand of a symbol table, and the keys that init_debugger, PERL5DB
 * and the first line of a program add. A perl that adds another key there must be taught here;
 * t/118-hash-order.t notices. */
#include "dpx_order.h"
#include "dpx_undebug.h"

#include <stdlib.h>
#include <string.h>

#if defined(PERL_HASH_RANDOMIZE_KEYS) && PERL_VERSION >= 36 && IVSIZE == 8
#define CAN_RESTORE
#endif

#ifdef HvHasAUX
#define HAS_AUX(hv)     HvHasAUX(hv)
#else
#define HAS_AUX(hv)     SvOOK(hv)
#endif

#define LIMIT   "\022E_COMPILE_RECURSION_LIMIT"     /* a pattern makes this variable */
#define NESTED  "\015AX_NESTED_EVAL_BEGIN_BLOCKS"   /* a BEGIN block makes this one: perl 5.38 */

void dpx_order_note(pTHX_ struct dpx_order *order)
{
    *order = (struct dpx_order){ .fixed = false };
#ifdef PERL_HASH_RANDOMIZE_KEYS
    order->fixed = PL_HASH_RAND_BITS_ENABLED == 2 && dpx_undebug_began(aTHX);
    order->now = PL_hash_rand_bits;
    const char *line = getenv("PERL5DB");
    order->splits = line && strstr(line, " split(/")
                    && hv_exists(PL_defstash, LIMIT, sizeof LIMIT - 1);
    order->mark = PL_debstash && HAS_AUX(PL_debstash) ? HvAUX(PL_debstash)->xhv_rand : 0;
#endif
}

#ifdef CAN_RESTORE

#ifdef PERL_XORSHIFT64_A        /* perl 5.38 */
enum { RIGHT = 7, LEFT = 17 };
#else
enum { RIGHT = 17, LEFT = 5 };
#endif
enum { STEPS_MAX = 100000 };

/* Returns the next number of perl's generator, forwards and backwards. The steps below fail if this
 * perl has another generator. */
static UV step_forward(UV x)
{
    x ^= x << 13;
    x ^= x >> RIGHT;
    x ^= x << LEFT;
    return x;
}

/* Undoes `x ^= x << n`. */
static UV unshift_left(UV x, int n)
{
    UV y = x;
    for (int i = n; i < 64; i += n)
        y = x ^ (y << n);
    return y;
}

/* Undoes `x ^= x >> n`. */
static UV unshift_right(UV x, int n)
{
    UV y = x;
    for (int i = n; i < 64; i += n)
        y = x ^ (y >> n);
    return y;
}

/* Undoes a number of steps of perl's random number generator. */
static UV step_back(UV x, long steps)
{
    for (; steps > 0; steps--) {
        x = unshift_left(x, LEFT);
        x = unshift_right(x, RIGHT);
        x = unshift_left(x, 13);
    }
    return x;
}

/* Returns how many steps of perl's generator lead from one number to the other; -1: STEPS_MAX or
 * more, or none do. */
static long steps_between(UV from, UV to)
{
    for (long n = 0; n < STEPS_MAX; n++, from = step_forward(from))
        if (from == to)
            return n;
    return -1;
}

/* Returns the number of steps from a state of the generator until the lower 32 bits are `mark', or
 * -1. */
static long steps_to_mark(UV from, U32 mark)
{
    for (long n = 0; n < STEPS_MAX; n++, from = step_forward(from))
        if ((U32)from == mark)
            return n;
    return -1;
}

/* Goes back from a number to the last one that had this low half; 0: there is none. */
static UV back_to_mark(UV bits, U32 mark)
{
    for (long n = 0; n < STEPS_MAX; n++, bits = step_back(bits, 1))
        if ((U32)bits == mark)
            return bits;
    return 0;
}

/* A hash like a symbol table, which changes the number at each key. */
static HV *make_table(pTHX)
{
    HV *hv = (HV *)sv_2mortal((SV *)newHV());
    hv_iterinit(hv);
    return hv;
}

static void add_key(pTHX_ HV *hv, const char *key, I32 len)
{
    (void)hv_store(hv, key, len, newSV(0), 0);
}

/* The steps that one more key takes; -1: this perl has another generator. */
static long steps_of(pTHX_ HV *hv, const char *key, I32 len)
{
    UV before = PL_hash_rand_bits;
    add_key(aTHX_ hv, key, len);
    return steps_between(before, PL_hash_rand_bits);
}

/* The steps that %DB:: took up to the mark; -1: this perl has another generator. */
static long steps_of_debugger(pTHX)
{
    static const char *const names[] = {
        "args", "DB", "dbline", "sub", "single", "trace", "signal"
    };
    HV *hv = make_table(aTHX);
    long steps = 0;
    for (size_t i = 0; i < C_ARRAY_LENGTH(names); i++) {
        long more = steps_of(aTHX_ hv, names[i], (I32)strlen(names[i]));
        if (more < 0)
            return -1;
        steps += more;
    }
    UV before = PL_hash_rand_bits;
    add_key(aTHX_ hv, "postponed", 9);
    long last = steps_to_mark(before, HvAUX(hv)->xhv_rand);
    return last < 0 ? -1 : steps + last;
}

/* ---- hiding our entries ---- */

/* Halves the number of buckets of a hash. */
static void halve_buckets(HV *hv)
{
    STRLEN size = (HvMAX(hv) + 1) / 2;
    HE **at = HvARRAY(hv);
    for (STRLEN i = 0; i < size; i++) {
        HE **end = &at[i];
        while (*end)
            end = &HeNEXT(*end);
        *end = at[i + size];
        at[i + size] = NULL;
    }
    if (HAS_AUX(hv)) {      /* the aux struct lies behind the buckets */
        struct xpvhv_aux aux = *HvAUX(hv);
        HvMAX(hv) = size - 1;
        *HvAUX(hv) = aux;
    } else {
        HvMAX(hv) = size - 1;
    }
}

/* Would perl have given this many keys fewer buckets than there are? */
static bool is_split_by_ours(HV *hv)
{
    STRLEN keys = HvTOTALKEYS(hv);
    return HvMAX(hv) > PERL_HASH_DEFAULT_HvMAX && keys + keys / 2 <= HvMAX(hv) / 2;
}

/* Takes an entry out of a symbol table, as if it had never been there. Its value is kept: subs in
 * it are running, and a new thread gets a copy. */
static void hide_entry(pTHX_ HV *hv, const char *key, I32 len, AV *kept)
{
    HE *he = (HE *)hv_common(hv, NULL, key, len, 0, 0, NULL, 0);
    if (!he)
        return;
    HE **at = &HvARRAY(hv)[HeHASH(he) & HvMAX(hv)];
    while (*at != he)
        at = &HeNEXT(*at);
    *at = HeNEXT(he);
    ((XPVHV *)SvANY(hv))->xhv_keys--;
    av_push(kept, SvREFCNT_inc(HeVAL(he)));
    hv_free_ent(hv, he);
}

/* Makes perl search anew for the methods and the parents of a class. */
static void forget_methods(pTHX_ HV *stash)
{
    struct mro_meta *meta = HAS_AUX(stash) ? HvAUX(stash)->xhv_mro_meta : NULL;
    if (!meta || meta->mro_linear_all)
        return;
    SvREFCNT_dec(meta->mro_linear_current);
    SvREFCNT_dec((SV *)meta->isa);
    meta->mro_linear_current = NULL;
    meta->isa = NULL;
    meta->destroy_gen = 0;
}

static const MGVTBL keeps;

/* Was nothing loaded but our module, XSLoader and strict, which some XSLoaders use? */
static bool loaded_little(pTHX)
{
    HV *inc = GvHV(PL_incgv);
    STRLEN known = 1 + (hv_exists(inc, "XSLoader.pm", 11) ? 1 : 0)
                   + (hv_exists(inc, "strict.pm", 9) ? 1 : 0);
    return hv_exists(inc, "Devel/DProf.pm", 14) && HvTOTALKEYS(inc) == known;
}

/* Takes a module out of %INC, and the name of its file out of the symbol table, where perls without
 * threads have it. */
static void hide_module(pTHX_ const char *name, AV *kept)
{
    HV *inc = GvHV(PL_incgv);
    I32 len = (I32)strlen(name);
    SV **path = hv_fetch(inc, name, len, 0);
    if (!path)
        return;
    SV *file = sv_2mortal(newSVpvf("_<%" SVf, SVfARG(*path)));
    hide_entry(aTHX_ PL_defstash, SvPVX(file), (I32)SvCUR(file), kept);
    (void)hv_delete(inc, name, len, G_DISCARD);
}

/* Takes the entries that the profiler has added out of perl's symbol tables and %INC. Values of
 * symbol tables are kept with %ENV, as subs in them run. Halves the tables that grew for these
 * entries. */
static void hide_ours(pTHX)
{
    static const char *const ours[] = {
        "BEGIN", "Devel::", "XSLoader::", "strict::", "Carp::", LIMIT, NESTED,
        "\022E_TRIE_MAXBUF"
    };
    AV *kept = newAV();
    for (size_t i = 0; i < C_ARRAY_LENGTH(ours); i++)
        hide_entry(aTHX_ PL_defstash, ours[i], (I32)strlen(ours[i]), kept);
    hide_module(aTHX_ "Devel/DProf.pm", kept);
    hide_module(aTHX_ "XSLoader.pm", kept);
    hide_module(aTHX_ "strict.pm", kept);
    /* XSLoader has made the functions of DynaLoader. */
    static const char *const made[] = {
        "CLONE", "bootstrap_inherit", "dl_error", "dl_find_symbol", "dl_install_xsub",
        "dl_librefs", "dl_load_file", "dl_modules", "dl_require_symbols", "dl_shared_objects",
        "dl_undef_symbols", "dl_unload_file"
    };
    HV *loader = gv_stashpvs("DynaLoader", 0);
    for (size_t i = 0; loader && i < C_ARRAY_LENGTH(made); i++)
        hide_entry(aTHX_ loader, made[i], (I32)strlen(made[i]), kept);
    /* perl looked for a destructor of the versions that it compared. */
    HV *version = gv_stashpvs("version", 0);
    if (version) {
        hide_entry(aTHX_ version, "AUTOLOAD", 8, kept);
        forget_methods(aTHX_ version);
    }
    hv_clear(PL_stashcache);    /* after the last search for a package */
    HV *shrunk[] = {
        PL_defstash, PL_debstash, loader, version, PL_stashcache, GvHV(PL_incgv)
    };
    for (size_t i = 0; i < C_ARRAY_LENGTH(shrunk); i++)
        while (shrunk[i] && is_split_by_ours(shrunk[i]))
            halve_buckets(shrunk[i]);
    sv_magicext((SV *)PL_envgv, (SV *)kept, PERL_MAGIC_ext, &keeps, NULL, 0)->mg_flags
        |= MGf_REFCOUNTED;
    SvREFCNT_dec((SV *)kept);
}

/* The steps of the symbol table for the line that loads us; -1: this perl has another generator.
 * splits: the line has made the variable of a pattern. */
static long steps_of_line(pTHX_ bool splits)
{
    HV *hv = make_table(aTHX);
    hv_ksplit(hv, (IV)HvMAX(PL_defstash) + 1);
    while (HvMAX(hv) > HvMAX(PL_defstash))
        halve_buckets(hv);
    long steps = 0;
    for (STRLEN i = 0; i <= HvMAX(PL_defstash); i++)
        for (HE *he = HvARRAY(PL_defstash)[i]; he; he = HeNEXT(he))
            add_key(aTHX_ hv, HeKEY(he), HeKUTF8(he) ? -HeKLEN(he) : HeKLEN(he));
#ifdef USE_ITHREADS
    SV *file = sv_2mortal(newSVpvf("_<%s", CopFILE(&PL_compiling)));
    steps = steps_of(aTHX_ hv, SvPVX(file), (I32)SvCUR(file));
#endif
    long pattern = splits ? steps_of(aTHX_ hv, LIMIT, sizeof LIMIT - 1) : 0;
    long begin = steps_of(aTHX_ hv, "BEGIN", 5);
    return steps < 0 || pattern < 0 || begin < 0 ? -1 : steps + pattern + begin;
}

/* ---- %ENV ---- */

/* Returns a hash that is filled as perl fills %ENV; more: one more name, or NULL. */
static HV *fill_env(pTHX_ const char *more)
{
    HV *hv = (HV *)sv_2mortal((SV *)newHV());
    HV *from = GvHV(PL_envgv);
    IV count = more ? 1 : 0;
    for (char **env = environ; *env; env++)
        count++;
    if (count > PERL_HASH_DEFAULT_HvMAX)
        hv_ksplit(hv, count);
    for (char **env = environ; *env; env++) {
        const char *end = strchr(*env, '=');
        if (!end || end == *env)
            continue;
        I32 len = (I32)(end - *env);
        SV **value = hv_fetch(from, *env, len, 0);
        (void)hv_store(hv, *env, len, value ? SvREFCNT_inc(*value) : newSV(0), 0);
    }
    if (more)
        add_key(aTHX_ hv, more, (I32)strlen(more));
    return hv;
}

/* The steps that perl takes to fill %ENV; more: with this name, too. -1: this perl has another
 * generator. */
static long steps_of_fill(pTHX_ const char *more)
{
    UV before = PL_hash_rand_bits;
    fill_env(aTHX_ more);
    return steps_between(before, PL_hash_rand_bits);
}

/* Gives %ENV the order that it has when perl fills it from this number on. */
static void refill_env(pTHX_ UV bits)
{
    HV *env = GvHV(PL_envgv);
    PL_hash_rand_bits = bits;
    HV *hv = fill_env(aTHX_ NULL);
    if (HvTOTALKEYS(hv) != HvTOTALKEYS(env) || HAS_AUX(env))
        return;
    HE **at = HvARRAY(env);
    STRLEN max = HvMAX(env);
    HvARRAY(env) = HvARRAY(hv);
    HvMAX(env) = HvMAX(hv);
    HvARRAY(hv) = at;
    HvMAX(hv) = max;
}

/* Returns the number that a plain run has, and gives %ENV the order of such a run; 0: the steps
 * cannot be counted. */
static UV plain_bits(pTHX_ const struct dpx_order *order)
{
    UV mark = back_to_mark(order->now, order->mark);
    long debugger = steps_of_debugger(aTHX), line = steps_of_line(aTHX_ order->splits);
    long env = steps_of_fill(aTHX_ NULL), more = steps_of_fill(aTHX_ "PERL5DB");
    if (!mark || debugger < 0 || line < 0 || env < 0 || more < 0)
        return 0;
    UV bits = step_back(mark, debugger + line + more - env);
    refill_env(aTHX_ step_back(bits, env));
    return bits;
}

#endif

#if defined(PERL_HASH_RANDOMIZE_KEYS) && !defined(CAN_RESTORE)

/* Puts the names of a hash in again, in the order of a list that was sorted. */
static void refill_sorted(pTHX_ HV *hv)
{
    AV *names = (AV *)sv_2mortal((SV *)newAV());
    HV *from = newHVhv(hv);
    HE *he;
    sv_2mortal((SV *)from);
    hv_iterinit(from);
    while ((he = hv_iternext(from)) != NULL)
        av_push(names, SvREFCNT_inc(hv_iterkeysv(he)));
    sortsv(AvARRAY(names), (size_t)(av_len(names) + 1), Perl_sv_cmp);
    hv_clear(hv);
    for (SSize_t i = 0; i <= av_len(names); i++) {
        SV *name = *av_fetch(names, i, 0);
        (void)hv_store_ent(hv, name, newSVsv(HeVAL(hv_fetch_ent(from, name, 0, 0))), 0);
    }
}

#endif

void dpx_order_restore(pTHX_ const struct dpx_order *order)
{
    if (!order->fixed)
        return;
#ifdef CAN_RESTORE
    UV bits = 0;
    if (loaded_little(aTHX)) {
        ENTER;
        SAVETMPS;
        hide_ours(aTHX);
        bits = plain_bits(aTHX_ order);
        FREETMPS;
        LEAVE;
    }
    PL_hash_rand_bits = bits ? bits : order->now;
#elif defined(PERL_HASH_RANDOMIZE_KEYS)
    /* Options of -d: made perl take more steps before it loaded us, and steps depend on all names
     * that perl has. */
    (void)hv_deletes(PL_defstash, LIMIT, G_DISCARD);
#  ifdef USE_PERL_PERTURB_KEYS
    PL_HASH_RAND_BITS_ENABLED = 0;
#  endif
    PL_hash_rand_bits = 0;
    ENTER;
    SAVETMPS;
    refill_sorted(aTHX_ GvHV(PL_incgv));
    FREETMPS;
    LEAVE;
#endif
}
