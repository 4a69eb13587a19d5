/* How perl is found: by the names of its variables in the symbols of a mapped file. Debian's perl
 * and libperl.so export them all, since XS modules need them; so does every perl that loads XS
 * modules, except for one that was stripped and linked without -Wl,-E.
 *
 * What this relies on: PL_version, PL_op_name and PL_curinterp are exported. PL_thr_key exists with
 * MULTIPLICITY only; PL_curinterp also without. PL_op_name ends with "freed". */
#include "dp_perl.h"
#include "dp_symbols.h"

enum { OP_NAME = 40, OPS_MOST = 510 };

/* ---- symbols ---- */

static const char *const symbol_names[DP_PERL_N_SYMBOLS] = {
#define NAME(name) "PL_" #name,
    DP_PERL_SYMBOLS(NAME)
#undef NAME
};

/* Notes the address of one symbol of a file if it is one of perl's variables that are needed. */
static void take_symbol(void *arg, const char *name, dp_addr at)
{
    dp_addr *symbols = arg;
    if (name[0] != 'P' || name[1] != 'L' || name[2] != '_')
        return;
    for (size_t i = 0; i < DP_PERL_N_SYMBOLS; i++)
        if (!symbols[i] && strcmp(name, symbol_names[i]) == 0)
            symbols[i] = at;
}

/* Is it the name of perl's program or library? Those are looked at first. */
static bool is_perls(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    return strncmp(name, "perl", 4) == 0 || strncmp(name, "libperl.so", 10) == 0;
}

/* Looks for perl's symbols in the file of a mapping. */
static bool look_in(struct dp_perl *perl, const struct dp_regions *regions, size_t i,
                    dp_region_open_fn *open, void *from)
{
    const dp_addr *found = perl->symbols;
    memset(perl->symbols, 0, sizeof perl->symbols);
    return dp_symbols_of(regions, i, open, from, take_symbol, perl->symbols)
           && found[DP_PERL_version] && found[DP_PERL_op_name]
           && found[found[DP_PERL_thr_key] ? DP_PERL_curinterp : DP_PERL_curstackinfo];
}

/* Finds the addresses of perl's variables: looks first in mapped files that are named like perl,
 * then in all others. A file that is mapped several times is read once. Returns false if no file
 * has the symbols. */
static bool find_symbols(struct dp_perl *perl, const struct dp_regions *regions,
                         dp_region_open_fn *open, void *from)
{
    for (int others = 0; others < 2; others++) {
        size_t last = 0;
        for (size_t i = 0; i < regions->count; i++) {
            size_t path = regions->at[i].path;
            if (!path || path == last || is_perls(regions->names.ptr + path) == others)
                continue;
            last = path;
            if (look_in(perl, regions, i, open, from))
                return true;
        }
    }
    return false;
}

/* ---- types of ops ---- */

/* Reads the names of ops. Returns 0, DP_E_IO or DP_E_NOMEM. */
static int read_op_names(struct dp_perl *perl)
{
    struct dp_buf name;
    int rc = 0;
    dp_buf_init(&name);
    for (size_t i = 0; rc == 0 && i < OPS_MOST; i++) {
        dp_addr at = dp_target_pointer(perl->target, perl->symbols[DP_PERL_op_name]
                                                     + i * sizeof(void *));
        dp_buf_clear(&name);
        if (!at || !dp_target_string(perl->target, at, OP_NAME, &name))
            rc = DP_E_IO;
        else if (name.err || dp_pool_intern(&perl->op_names, name.ptr ? name.ptr : "", name.len)
                 == DP_MAP_NONE)
            rc = DP_E_NOMEM;
        else if (name.len == 5 && memcmp(name.ptr, "freed", 5) == 0)
            break;
    }
    dp_buf_release(&name);
    return rc;
}

/* Finds the numbers of the types of ops in DP_PERL_OPS. Returns false if one is missing: then the
 * process is no perl that the code below can read. */
static bool find_ops(struct dp_perl *perl)
{
#define FIND(name) \
    perl->ops.op_##name = dp_pool_lookup(&perl->op_names, #name, sizeof #name - 1); \
    if (perl->ops.op_##name == DP_MAP_NONE) \
        return false;
    DP_PERL_OPS(FIND)
#undef FIND
    return true;
}

/* ---- the interpreter ---- */

bool dp_perl_is_interpreter(struct dp_perl *perl, dp_addr in)
{
    enum { MOST_CONTEXTS = 10000000, SI_TYPES = 13, PHASES = 7 };
    const struct dp_layout *at = &perl->at;
    struct dp_target *t = perl->target;
    int32_t ix, max, type, phase;
    dp_addr si = dp_target_pointer(t, DP_PERL_VAR(perl, in, curstackinfo));
    dp_addr cv = dp_target_pointer(t, DP_PERL_VAR(perl, in, main_cv));
    if (!si || !dp_target_get(t, si + at->si_cxix, &ix, sizeof ix)
        || !dp_target_get(t, si + at->si_cxmax, &max, sizeof max)
        || !dp_target_get(t, si + at->si_type, &type, sizeof type)
        || !dp_target_get(t, DP_PERL_VAR(perl, in, phase), &phase, sizeof phase))
        return false;
    return ix >= -1 && ix <= max && max < MOST_CONTEXTS && type >= -1 && type < SI_TYPES
           && phase >= 0 && phase < PHASES
           && (!cv || (dp_target_u32(t, cv + at->sv_flags) & at->SVTYPEMASK) == at->SVt_PVCV);
}

/* Reads the options that change how a perl is laid out, as "HAS_TIMES MULTIPLICITY ...". */
static void read_options(struct dp_perl *perl, struct dp_buf *to)
{
    enum { MOST = 4096 };
    dp_addr at = perl->symbols[DP_PERL_bincompat_options];
    if (at)
        dp_target_string(perl->target, at, MOST, to);
}

/* Takes the layout of a perl with these options. Returns as dp_layout_find. */
static int layout_of(struct dp_perl *perl, const struct dp_perl_own *own, const char *options)
{
    const struct dp_layout_of *v = &perl->version;
    if (own && own->version.series == v->series && own->version.multiplicity == v->multiplicity
        && strcmp(own->options, options) == 0) {
        perl->at = own->layout;
        return 0;
    }
    int rc = dp_layout_find(&perl->at, v);
    /* Numbers of 16 bytes move what stands behind them in a body. */
    if (rc >= 0 && (strstr(options, "USE_LONG_DOUBLE") || strstr(options, "USE_QUADMATH"))) {
        perl->at.gv_stash += 8;
        perl->at.nv_nv += 8;
        perl->has_long_numbers = true;
    }
    return rc;
}

/* Reads which perl it is, and takes its layout. */
static int choose_layout(struct dp_perl *perl, const struct dp_perl_own *own, struct dp_err *err)
{
    struct dp_layout_of *v = &perl->version;
    struct dp_buf options;
    uint8_t series = 0, subversion = 0;
    if (!dp_target_get(perl->target, perl->symbols[DP_PERL_version], &series, 1))
        return DP_E_IO;
    if (perl->symbols[DP_PERL_subversion])
        dp_target_get(perl->target, perl->symbols[DP_PERL_subversion], &subversion, 1);
    v->series = series;
    v->multiplicity = perl->symbols[DP_PERL_thr_key] != 0;
    perl->subversion = subversion;
    dp_buf_init(&options);
    read_options(perl, &options);
    int rc = layout_of(perl, own, dp_buf_cstr(&options));
    dp_buf_release(&options);
    perl->is_newer = rc > 0;
    return rc >= 0 ? 0 : dp_err_set(err, rc, "it runs perl 5.%u.%u%s, which cannot be read; 5.26 "
                                             "and newer can", v->series, perl->subversion,
                                    v->multiplicity ? "" : " without threads");
}

/* Finds the first interpreter of the process, and checks that the memory there looks like one.
 * Returns 0 or a DP_E with a message. */
static int find_first(struct dp_perl *perl, struct dp_err *err)
{
    if (perl->version.multiplicity) {
        perl->first = dp_target_pointer(perl->target, perl->symbols[DP_PERL_curinterp]);
        if (!perl->first)
            return dp_err_set(err, DP_E_NOTPROFILE, "its perl has not begun, or has ended");
    }
    if (dp_perl_is_interpreter(perl, perl->first))
        return 0;
    return dp_err_set(err, DP_E_VERSION, "its perl 5.%u.%u is not laid out like any that is known",
                      perl->version.series, perl->subversion);
}

/* Can any memory be read? The kernel may show the mappings of a process, and protect its memory. */
static bool can_read(struct dp_target *t, const struct dp_regions *regions)
{
    char byte;
    for (size_t i = 0; i < regions->count; i++)
        if (dp_target_get(t, regions->at[i].start, &byte, 1))
            return true;
    return false;
}

int dp_perl_find(struct dp_perl *perl, struct dp_target *t, const struct dp_regions *regions,
                 dp_region_open_fn *open, void *from, const struct dp_perl_own *own,
                 struct dp_err *err)
{
    *perl = (struct dp_perl){ .target = t };
    dp_pool_init(&perl->op_names);
    if (!can_read(t, regions))
        return DP_E_IO;
    if (!find_symbols(perl, regions, open, from))
        return dp_err_set(err, DP_E_NOTPROFILE, "it runs no perl, or one without symbols; link "
                                                "that perl with -Wl,-E, or do not strip it");
    int rc = choose_layout(perl, own, err);
    if (rc == 0)
        rc = read_op_names(perl);
    if (rc == 0 && !find_ops(perl))
        rc = dp_err_set(err, DP_E_VERSION, "its perl lacks ops that are needed");
    return rc == 0 ? find_first(perl, err) : rc;
}

void dp_perl_release(struct dp_perl *perl) { dp_pool_release(&perl->op_names); }
