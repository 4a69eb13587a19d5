/* The walk is a search in breadth, so the chain that it finds is one of the shortest. First it
 * starts at what perl itself holds: the symbol table, the main program, subs that run. Then it
 * visits the values that were not reached, so that each of them has one that refers to it, if there
 * is any.
 *
 * What this relies on: the parts of arrays, hashes, globs, references, magic and subs that hold a
 * count of references to another value. Weak references, back references and names of methods do
 * not. */
#include "dpx_holders.h"
#include "dp_mem.h"

#include <string.h>

enum {
    CHAIN_MOST = 12,            /* values of a chain that are named */
    CYCLE_MOST = 100000,        /* values that are searched for a cycle */
    LOOKS = 4096                /* values from one look at the clock to the next */
};

struct holder {
    SV *sv;
    uint32_t by;                /* number of the value that refers to it, from 1 up; 0: a root */
};

struct dpx_holders {
    struct dp_map numbers;      /* address -> number */
    struct holder *list;        /* the n-th has the number n + 1 */
    size_t n, cap;
    size_t reached;             /* the first ones are reached from roots */
    struct dpx_clock *clock;
    uint64_t until;             /* the stamp at which the walk ends */
    bool late;                  /* that has passed */
    bool failed;
};

static uint64_t stamp_now(const struct dpx_holders *h)
{
    return dpx_clock_host(h->clock)->stamp(h->clock);
}

/* Adds a value to the list, unless it is there already: the value of number `by` refers to it. Sets
 * h->failed if memory is short. */
static void visit(struct dpx_holders *h, SV *sv, uint32_t by)
{
    if (!sv || SvTYPE(sv) == (svtype)SVTYPEMASK || SvREFCNT(sv) > (~(U32)0) / 2 || h->failed)
        return;                 /* free, or one of perl's own that never ends */
    struct dp_map_slot *slot = dp_map_put(&h->numbers, PTR2UV(sv));
    if (!slot || (slot->value == DP_MAP_NONE
                  && dp_mem_grow((void **)&h->list, &h->cap, h->n + 1, sizeof *h->list) < 0)) {
        h->failed = true;
        return;
    }
    if (slot->value != DP_MAP_NONE)
        return;
    h->list[h->n] = (struct holder){ sv, by };
    slot->value = (uint32_t)++h->n;
}

/* ---- what a value refers to ---- */

/* An array that is not real, such as perl's stack, holds no count of its elements. */
static void visit_array(struct dpx_holders *h, AV *av, uint32_t by)
{
    if (!AvREAL(av))
        return;
    for (SSize_t i = 0; AvARRAY(av) && i <= AvFILLp(av); i++)
        visit(h, AvARRAY(av)[i], by);
}

/* perl's table of shared strings has no values. */
static void visit_hash(pTHX_ struct dpx_holders *h, HV *hv, uint32_t by)
{
    HE **at = hv == PL_strtab ? NULL : HvARRAY(hv);
    for (STRLEN i = 0; at && i <= HvMAX(hv); i++)
        for (const HE *he = at[i]; he; he = HeNEXT(he))
            visit(h, HeVAL(he), by);
}

static void visit_glob(struct dpx_holders *h, GV *gv, uint32_t by)
{
    const GP *gp = isGV_with_GP(gv) ? GvGP(gv) : NULL;
    if (!gp)
        return;
    visit(h, gp->gp_sv, by);
    visit(h, (SV *)gp->gp_av, by);
    visit(h, (SV *)gp->gp_hv, by);
    visit(h, (SV *)gp->gp_cv, by);
    visit(h, (SV *)gp->gp_io, by);
    visit(h, (SV *)gp->gp_form, by);
}

/* The variables of a sub, of each depth of its recursion, and the sub around it. */
static void visit_sub(struct dpx_holders *h, CV *cv, uint32_t by)
{
    if (CvISXSUB(cv)) {
        if (CvCONST(cv))
            visit(h, (SV *)CvXSUBANY(cv).any_ptr, by);
        return;
    }
    PADLIST *list = CvPADLIST(cv);
    for (SSize_t i = 1; list && i <= PadlistMAX(list); i++)
        visit(h, (SV *)PadlistARRAY(list)[i], by);
    if (!CvWEAKOUTSIDE(cv))
        visit(h, (SV *)CvOUTSIDE(cv), by);
}

static void visit_magic(struct dpx_holders *h, const SV *sv, uint32_t by)
{
    for (const MAGIC *mg = SvMAGIC(sv); mg; mg = mg->mg_moremagic)
        if (mg->mg_obj && mg->mg_flags & MGf_REFCOUNTED && mg->mg_type != PERL_MAGIC_backref)
            visit(h, mg->mg_obj, by);
}

/* Visits the values that sv refers to, as far as these references are counted. */
static void visit_parts(pTHX_ struct dpx_holders *h, SV *sv, uint32_t by)
{
    svtype type = SvTYPE(sv);
    bool has_magic = type >= SVt_PVMG && type != SVt_PVGV && type != SVt_REGEXP
                     && type != SVt_INVLIST;
    if (has_magic && SvMAGIC(sv))
        visit_magic(h, sv, by);
    switch (type) {
    case SVt_PVAV: visit_array(h, (AV *)sv, by); break;
    case SVt_PVHV: visit_hash(aTHX_ h, (HV *)sv, by); break;
    case SVt_PVGV: visit_glob(h, (GV *)sv, by); break;
    case SVt_PVCV: case SVt_PVFM: visit_sub(h, (CV *)sv, by); break;
    case SVt_INVLIST: case SVt_REGEXP: case SVt_PVIO: break;
    case SVt_PVLV:
        if (LvTYPE(sv) != 't')  /* else its target is no value */
            visit(h, LvTARG(sv), by);
        /* FALLTHROUGH */
    default:
        if (SvROK(sv) && !SvWEAKREF(sv))
            visit(h, SvRV(sv), by);
    }
#ifdef ObjectFIELDS
    if (type == SVt_PVOBJ)
        for (SSize_t i = 0; i <= ObjectMAXFIELD(sv); i++)
            visit(h, ObjectFIELDS(sv)[i], by);
#endif
}

/* ---- the walk ---- */

/* Visits what perl itself holds: the symbol table, the main program, and the subs that run. */
static void visit_roots(pTHX_ struct dpx_holders *h)
{
    visit(h, (SV *)PL_defstash, 0);
    visit(h, (SV *)PL_main_cv, 0);
    visit(h, (SV *)PL_endav, 0);
    visit(h, PL_diehook, 0);
    visit(h, PL_warnhook, 0);
    for (const PERL_SI *si = PL_curstackinfo; si; si = si->si_prev)
        for (I32 ix = 0; ix <= si->si_cxix; ix++)
            if (CxTYPE(&si->si_cxstack[ix]) == CXt_SUB)
                visit(h, (SV *)si->si_cxstack[ix].blk_sub.cv, 0);
}

/* Visits what the values from list[from] on refer to, and so on for those added. Stops early if
 * memory or time is short. */
static void walk(pTHX_ struct dpx_holders *h, size_t from)
{
    for (size_t i = from; i < h->n && !h->failed && !h->late; i++) {
        visit_parts(aTHX_ h, h->list[i].sv, (uint32_t)i + 1);
        if (i % LOOKS == 0)
            h->late = stamp_now(h) > h->until;
    }
}

/* Visits what the roots do not lead to. A value that no other one refers to comes first. */
static void walk_the_rest(pTHX_ struct dpx_holders *h)
{
    for (SV *arena = PL_sv_arenaroot; arena && !h->failed && !h->late; arena = (SV *)SvANY(arena)) {
        SV *end = arena + SvREFCNT(arena);
        for (SV *sv = arena + 1; sv < end; sv++) {
            if (SvTYPE(sv) == (svtype)SVTYPEMASK || dp_map_find(&h->numbers, PTR2UV(sv))
                || (SvTYPE(sv) != SVt_PVHV && SvTYPE(sv) != SVt_PVAV && SvTYPE(sv) != SVt_PVCV))
                continue;
            size_t from = h->n;
            visit(h, sv, 0);
            walk(aTHX_ h, from);
        }
    }
}

struct dpx_holders *dpx_holders_new(pTHX_ struct dpx_ctx *ctx, unsigned seconds)
{
    struct dpx_holders *h = dp_mem_zalloc(sizeof *h);
    if (!h)
        return NULL;
    h->clock = &ctx->clock;
    h->until = stamp_now(h) + (uint64_t)(seconds * 1e9 * ctx->rec.clock.rate);
    visit_roots(aTHX_ h);
    walk(aTHX_ h, 0);
    h->reached = h->n;
    walk_the_rest(aTHX_ h);
    if (h->failed) {
        dpx_holders_free(h);
        return NULL;
    }
    return h;
}

void dpx_holders_free(struct dpx_holders *h)
{
    if (!h)
        return;
    dp_map_release(&h->numbers);
    dp_mem_free(h->list);
    dp_mem_free(h);
}

/* ---- the text ---- */

static uint32_t number_of(const struct dpx_holders *h, const SV *sv)
{
    const struct dp_map_slot *slot = dp_map_find(&h->numbers, PTR2UV(sv));
    return slot ? slot->value : 0;
}

/* Appends a name as perl keeps it. */
static void add_hek(struct dp_buf *to, const HEK *name)
{
    if (name)
        dp_buf_add(to, HEK_KEY(name), (size_t)HEK_LEN(name));
}

static void add_glob(struct dp_buf *to, const GV *gv, char sigil)
{
    const HV *stash = GvSTASH(gv);
    dp_buf_addc(to, sigil);
    if (stash && SvTYPE(stash) == SVt_PVHV && HvNAME_HEK(stash)) {
        add_hek(to, HvNAME_HEK(stash));
        dp_buf_adds(to, "::");
    }
    add_hek(to, GvNAME_HEK(gv));
}

static char sigil_of(const SV *sv)
{
    return SvTYPE(sv) == SVt_PVAV ? '@' : SvTYPE(sv) == SVt_PVHV ? '%'
           : SvTYPE(sv) == SVt_PVCV ? '&' : '$';
}

/* Appends the name of a sub, or what it is if it has none. */
static void add_sub(pTHX_ struct dp_buf *to, CV *cv)
{
    const GV *gv = CvNAMED(cv) ? NULL : ((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_gv;
    if (CvNAMED(cv)) {
        dp_buf_addc(to, '&');
        if (CvSTASH(cv) && HvNAME_HEK(CvSTASH(cv))) {
            add_hek(to, HvNAME_HEK(CvSTASH(cv)));
            dp_buf_adds(to, "::");
        }
        add_hek(to, ((XPVCV *)SvANY(cv))->xcv_gv_u.xcv_hek);
    } else if (CvUNIQUE(cv))
        dp_buf_adds(to, cv == PL_main_cv ? "the main program" : "a file");
    else if (gv && SvTYPE(gv) == SVt_PVGV && isGV_with_GP(gv))
        add_glob(to, gv, '&');
    else
        dp_buf_adds(to, "a sub");
}

/* The name of the sub's variable whose value in this pad is sv; NULL: none is. */
static const char *name_in_pad(const CV *cv, const AV *pad, const SV *sv)
{
    const PADNAMELIST *names = CvISXSUB(cv) || !CvPADLIST(cv) ? NULL : PadlistNAMES(CvPADLIST(cv));
    for (SSize_t i = 1; names && i <= AvFILLp(pad) && i <= PadnamelistMAX(names); i++) {
        const PADNAME *name = PadnamelistARRAY(names)[i];
        if (AvARRAY(pad)[i] == sv && name && PadnamePV(name) && PadnameLEN(name))
            return PadnamePV(name);
    }
    return NULL;
}

/* Appends the variable that a value is, if the one that refers to it is a glob, or has the
 * variables of a sub. Returns whether it is one. An anonymous sub is a value itself, which the
 * chain goes through. */
static bool add_variable(pTHX_ struct dp_buf *to, const struct dpx_holders *h, uint32_t number)
{
    const struct holder *of = &h->list[number - 1], *by = of->by ? &h->list[of->by - 1] : NULL;
    if (!by)
        return false;
    if (SvTYPE(by->sv) == SVt_PVGV && isGV_with_GP((GV *)by->sv)) {
        add_glob(to, (GV *)by->sv, sigil_of(of->sv));
        return true;
    }
    const struct holder *sub = SvTYPE(by->sv) == SVt_PVAV && by->by ? &h->list[by->by - 1] : NULL;
    if (!sub || SvTYPE(sub->sv) != SVt_PVCV || CvANON((CV *)sub->sv))
        return false;
    const char *name = name_in_pad((CV *)sub->sv, (AV *)by->sv, of->sv);
    dp_buf_adds(to, name ? "my " : "a temporary value");
    dp_buf_adds(to, name ? name : "");
    dp_buf_adds(to, " of ");
    add_sub(aTHX_ to, (CV *)sub->sv);
    return true;
}

/* Appends the type of a value, and its class if it is an object. */
static void add_type(pTHX_ struct dp_buf *to, const SV *sv)
{
    dp_buf_adds(to, sv_reftype((SV *)sv, 0));
    const HV *class = SvOBJECT(sv) ? SvSTASH(sv) : NULL;
    if (!class || !HvNAME_HEK(class))
        return;
    dp_buf_adds(to, " (");
    add_hek(to, HvNAME_HEK(class));
    dp_buf_addc(to, ')');
}

static bool is_reference(const SV *sv) { return SvTYPE(sv) < SVt_PVAV && SvROK(sv); }

/* Is it no value of a program, but the variables of a sub? before: the value that refers to it. */
static bool is_pad(const SV *sv, const SV *before)
{
    return SvTYPE(sv) == SVt_PVAV && before && SvTYPE(before) == SVt_PVCV;
}

/* Appends the type of the next value of a chain. Scalars that only refer to the next value, and
 * variables of subs, are left out. */
static void add_link(pTHX_ struct dp_buf *to, const SV *sv, const SV *before, const char *arrow)
{
    if (is_reference(sv) || is_pad(sv, before))
        return;
    dp_buf_adds(to, arrow);
    add_type(aTHX_ to, sv);
}

/* Appends the types from the last number in a chain to the first. before: the value that refers to
 * the last one, or NULL. */
static void add_chain(pTHX_ struct dp_buf *to, const struct dpx_holders *h, const uint32_t *chain,
                      size_t n, const SV *before)
{
    for (size_t i = n; i-- > 0;) {
        const SV *sv = h->list[chain[i] - 1].sv;
        add_link(aTHX_ to, sv, before, to->len ? " -> " : "");
        before = sv;
    }
}

/* Does a value refer to itself through others? Then this makes the text of the cycle. */
static bool add_cycle(pTHX_ struct dp_buf *to, SV *sv)
{
    struct dpx_holders around = { .n = 0 };
    uint32_t chain[CHAIN_MOST];
    size_t n = 0;
    visit_parts(aTHX_ &around, sv, 0);
    for (size_t i = 0; i < around.n && i < CYCLE_MOST && around.list[i].sv != sv; i++)
        visit_parts(aTHX_ &around, around.list[i].sv, (uint32_t)i + 1);
    uint32_t number = number_of(&around, sv);
    bool is_cycle = number != 0;
    if (is_cycle)
        number = around.list[number - 1].by;
    for (; number && n < CHAIN_MOST; number = around.list[number - 1].by)
        chain[n++] = number;
    if (is_cycle) {
        struct dp_buf links;
        dp_buf_init(&links);
        add_link(aTHX_ &links, sv, n ? around.list[chain[0] - 1].sv : NULL, "");
        add_chain(aTHX_ &links, &around, chain, n, sv);
        dp_buf_addf(to, "nothing but a cycle: %s -> the first", dp_buf_cstr(&links));
        dp_buf_release(&links);
    }
    dp_map_release(&around.numbers);
    dp_mem_free(around.list);
    return is_cycle;
}

/* Collects the numbers from a value up to a variable or a root, CHAIN_MOST at most. *is_named:
 * whether the last one is a variable. Returns how many there are. */
static size_t collect(pTHX_ const struct dpx_holders *h, uint32_t number, uint32_t *chain,
                      bool *is_named)
{
    struct dp_buf none;
    size_t n = 0;
    *is_named = false;
    dp_buf_init(&none);
    for (; number && n < CHAIN_MOST; number = h->list[number - 1].by) {
        chain[n++] = number;
        if (add_variable(aTHX_ &none, h, number)) {
            *is_named = true;
            break;
        }
    }
    dp_buf_release(&none);
    return n;
}

void dpx_holders_describe(pTHX_ struct dpx_holders *h, const SV *value, struct dp_buf *to)
{
    uint32_t chain[CHAIN_MOST], number = number_of(h, value);
    bool is_named = false;
    size_t n = number ? collect(aTHX_ h, number, chain, &is_named) : 0;
    PERL_UNUSED_CONTEXT;
    h->late = h->late || stamp_now(h) > h->until;
    if (is_named) {
        add_variable(aTHX_ to, h, chain[n - 1]);
        add_chain(aTHX_ to, h, chain, n - 1, NULL);
    } else if (h->late) {
        dp_buf_adds(to, "unknown: there are too many values to look at in that time");
    } else if (number > h->reached) {
        if (!add_cycle(aTHX_ to, h->list[chain[n - 1] - 1].sv)) {
            dp_buf_adds(to, "a value that no variable leads to");
            add_chain(aTHX_ to, h, chain, n, NULL);
        }
    } else {
        dp_buf_adds(to, "no variable");
    }
}
