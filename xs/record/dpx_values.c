/* What this does not see: a head that one op takes back and gives out again, as neither list shows
 * that. The new value keeps the place of the old one. perl's own ops rarely do so: they copy before
 * they free. And a value that C code makes while no op runs is charged to the op before it.
 *
 * The size of a value is that of its head, its body and its own memory: the string, the array of an
 * array or a hash, the entries and private keys of a hash. A string that several values share
 * (copy on write) is divided among them. Not counted: what the allocator adds, pads and ops of
 * code, shared keys.
 *
 * What this relies on: perl takes heads from PL_sv_root and puts them back there, linked by SvANY
 * (SvARENA_CHAIN); a free head has the type SVTYPEMASK; PL_sv_arenaroot links the arenas, whose
 * first head has the number of heads in place of a count. perl writes the count of references of a
 * head when it gives the head out, and when it takes it back. perl_destruct calls PL_threadhook
 * after the END blocks and before it frees values. */
#include "dpx_values.h"
#include "dpx_chains.h"
#include "dpx_blocks.h"
#include "dpx_ctx.h"
#include "dpx_kind.h"
#include "dp_mem.h"

#include <string.h>

/* ---- cells ---- */

enum { CELLS = 256 };           /* of a page: heads are 16 bytes or more */

/* The cell of a head, or NULL if memory is short. */
static uint32_t *cell_of(struct dpx_values *v, const SV *sv)
{
    UV at = PTR2UV(sv);
    if (DP_LIKELY(at >> 12 == v->page && v->page_cells))
        return &v->page_cells[at >> 4 & (CELLS - 1)];
    struct dp_map_slot *slot = dp_map_put(&v->pages, at >> 12);
    if (!slot)
        return NULL;
    if (slot->value == DP_MAP_NONE) {
        slot->value = 0;
        if (dp_mem_grow((void **)&v->cells, &v->cells_cap, v->n_cells + 1, sizeof *v->cells) < 0)
            return NULL;
        v->cells[v->n_cells] = dp_mem_zalloc(sizeof **v->cells);
        if (!v->cells[v->n_cells])
            return NULL;
        slot->value = (uint32_t)v->n_cells++ + 1;
    }
    if (!slot->value)
        return NULL;
    v->page = at >> 12;
    v->page_cells = *v->cells[slot->value - 1];
    return &v->page_cells[at >> 4 & (CELLS - 1)];
}

static void set_cell(struct dpx_values *v, const SV *sv, uint32_t site)
{
    uint32_t *cell = cell_of(v, sv);
    if (cell)
        *cell = site;
}

/* ---- sites ---- */

/* The site of the context and the statement of the last look; 0: nothing is recorded there, or
 * memory is short. Before the first statement of a child, none runs that the file has. */
static uint32_t site_of(const struct dpx_ctx *ctx, struct dpx_values *v)
{
    struct dp_cct_node *node = v->node;
    struct dp_stmt *line = v->line;
    if (v->tree != v->own_tree || !node || !node->number)
        return 0;
    if (ctx->rec.how.lines && !line->number)
        line = ctx->rec.how.lines->rest;
    uint32_t place = ctx->rec.how.lines ? line->number : v->file_line;
    struct dp_map_slot *slot = dp_map_put(&v->site_of, (uint64_t)node->number << 32 | place);
    if (!slot)
        return 0;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    slot->value = 0;
    if (dp_mem_grow((void **)&v->sites, &v->sites_cap, v->n_sites + 1, sizeof *v->sites) < 0)
        return 0;
    v->sites[v->n_sites] = (struct dpx_made_at){ node, line, v->file_line, 0 };
    return slot->value = (uint32_t)++v->n_sites;
}

/* ---- perl's list ---- */

static bool is_free(const SV *sv) { return SvTYPE(sv) == (svtype)SVTYPEMASK; }

static SV *next_free(const SV *sv) { return (SV *)SvANY(sv); }

/* Notes that a value was made at this site, if its head is in use and not free again. */
static void note_made(struct dpx_values *v, const SV *sv, uint32_t site)
{
    if (is_free(sv))
        return;
    set_cell(v, sv, site | v->mark);
    if (site)
        v->sites[site - 1].all++;
}

/* Notes the heads of arenas that are newer than the last look. perl leaves the counts of free heads
 * there as the allocator has given them, so they might look like those of the copy. */
static void note_arenas(pTHX_ struct dpx_values *v, uint32_t site)
{
    SV *arena = PL_sv_arenaroot;
    for (; arena && arena != v->arena; arena = next_free(arena)) {
        const SV *end = arena + SvREFCNT(arena);
        for (SV *sv = arena + 1; sv < end; sv++) {
            if (is_free(sv))
                SvREFCNT(sv) = 0;
            else
                note_made(v, sv, site);
        }
    }
    v->arena = PL_sv_arenaroot;
}

/* Stops following values, as memory is short. */
static void give_up(pTHX_ struct dpx_ctx *ctx)
{
    dpx_values_end(aTHX_ ctx);
}

/* Puts the heads that are free now and were not at the last look on the copy. Returns false if
 * memory is short. */
static bool keep_freed(struct dpx_values *v, size_t n)
{
    if (dp_mem_grow((void **)&v->free, &v->free_cap, v->n_free + n, sizeof *v->free) < 0)
        return false;
    while (n) {
        SV *sv = v->freed[--n];
        SvREFCNT(sv) = DPX_VALUES_FREE;
        set_cell(v, sv, 0);
        v->free[v->n_free++] = sv;
    }
    return true;
}

void dpx_values_changed(pTHX_ struct dpx_ctx *ctx, struct dpx_values *v)
{
    size_t n = 0;
    SV *sv = PL_sv_root;
    if (v->off)
        return;
    uint32_t site = site_of(ctx, v);
    if (v->arena != PL_sv_arenaroot)
        note_arenas(aTHX_ v, site);
    for (; sv && SvREFCNT(sv) != DPX_VALUES_FREE; sv = next_free(sv)) {
        if (dp_mem_grow((void **)&v->freed, &v->freed_cap, n + 1, sizeof *v->freed) < 0) {
            give_up(aTHX_ ctx);
            return;
        }
        v->freed[n++] = sv;
    }
    while (v->n_free && v->free[v->n_free - 1] != sv)
        note_made(v, v->free[--v->n_free], site);
    if (keep_freed(v, n))
        v->top = PL_sv_root;
    else
        give_up(aTHX_ ctx);
}

/* Takes all free heads into the copy. Returns false if memory is short. */
static bool copy_list(pTHX_ struct dpx_values *v)
{
    size_t n = 0;
    for (const SV *sv = PL_sv_root; sv; sv = next_free(sv))
        n++;
    if (dp_mem_grow((void **)&v->free, &v->free_cap, n + 1, sizeof *v->free) < 0)
        return false;
    v->n_free = n;
    for (SV *sv = PL_sv_root; sv; sv = next_free(sv)) {
        SvREFCNT(sv) = DPX_VALUES_FREE;
        v->free[--n] = sv;
    }
    v->top = PL_sv_root;
    v->arena = PL_sv_arenaroot;
    return true;
}

bool dpx_values_begin(pTHX_ struct dpx_ctx *ctx)
{
    struct dpx_values *v = ctx->values;
    if (!v)
        v = ctx->values = dp_mem_zalloc(sizeof *v);
    if (!v || !copy_list(aTHX_ v))
        return false;
    v->off = v->is_last = false;
    dpx_values_forget(aTHX_ ctx);
    return true;
}

void dpx_values_end(pTHX_ struct dpx_ctx *ctx)
{
    struct dpx_values *v = ctx->values;
    if (!v || v->off)
        return;
    for (SV *sv = PL_sv_root; sv; sv = next_free(sv))
        SvREFCNT(sv) = 0;
    v->off = true;
    v->top = NULL;
}

void dpx_values_forget(pTHX_ struct dpx_ctx *ctx)
{
    struct dpx_values *v = ctx->values;
    if (!v)
        return;
    for (size_t i = 0; i < v->n_cells; i++)
        memset(v->cells[i], 0, sizeof *v->cells[i]);
    dp_map_clear(&v->site_of);
    dp_map_clear(&v->typed_of);
    v->n_sites = v->n_typed = v->mark = v->censuses = 0;
    v->tree = v->own_tree = ctx->rec.cct.serial;
    v->node = ctx->rec.marks.cur;
    v->line = ctx->rec.marks.line;
}

void dpx_values_free(struct dpx_ctx *ctx)
{
    struct dpx_values *v = ctx->values;
    if (!v)
        return;
    for (size_t i = 0; i < v->n_cells; i++)
        dp_mem_free(v->cells[i]);
    dp_mem_free(v->cells);
    dp_mem_free(v->free);
    dp_mem_free(v->freed);
    dp_mem_free(v->sites);
    dp_map_release(&v->pages);
    dp_map_release(&v->site_of);
    dp_map_release(&v->kinds);
    dp_map_release(&v->typed_of);
    dp_mem_free(v->typed);
    dp_mem_free(v);
    ctx->values = NULL;
}

/* ---- the census ---- */

static size_t array_bytes(const AV *av)
{
    return AvALLOC(av) ? (size_t)(AvMAX(av) + 1 + (AvARRAY(av) - AvALLOC(av))) * sizeof(SV *) : 0;
}

/* The memory of a hash: its buckets, its entries, and the keys that it does not share. */
static size_t hash_bytes(HV *hv)
{
    size_t bytes = 0;
    HE **at = HvARRAY(hv);
    if (!at)
        return 0;
    bytes += (HvMAX(hv) + 1) * sizeof *at + (SvOOK(hv) ? sizeof(struct xpvhv_aux) : 0);
    for (STRLEN i = 0; i <= HvMAX(hv); i++)
        for (const HE *he = at[i]; he; he = HeNEXT(he))
            bytes += sizeof *he
                     + (HvSHAREKEYS(hv) ? 0 : STRUCT_OFFSET(HEK, hek_key) + (size_t)HeKLEN(he) + 2);
    return bytes;
}

/* The memory of a string: a part of it, if other values share it. */
static size_t string_bytes(SV *sv)
{
    STRLEN before = 0;
    if (!SvPVX_const(sv) || !SvLEN(sv))
        return 0;
    if (SvOOK(sv))
        SvOOK_offset(sv, before);
    size_t bytes = SvLEN(sv) + before;
    return SvIsCOW(sv) ? bytes / (CowREFCNT(sv) + 1u) : bytes;
}

/* The size of a value: its head, its body and its own memory. */
static size_t bytes_of(SV *sv)
{
    size_t bytes = dpx_kind_head_bytes(sv);
    switch (SvTYPE(sv)) {
    case SVt_PVAV: return bytes + array_bytes((AV *)sv);
    case SVt_PVHV: return bytes + hash_bytes((HV *)sv);
    case SVt_PV: case SVt_PVIV: case SVt_PVNV: case SVt_PVMG:
        return SvROK(sv) || isREGEXP(sv) ? bytes : bytes + string_bytes(sv);
    default: return bytes;
    }
}

/* With heap-types: counts a value by its type. */
static void count_type(pTHX_ struct dpx_ctx *ctx, struct dpx_values *v, uint32_t site, SV *sv)
{
    U32 kind = dpx_kind_of(aTHX_ ctx, sv, &v->kinds);
    struct dp_map_slot *slot = kind ? dp_map_put(&v->typed_of, (uint64_t)site << 32 | kind) : NULL;
    if (!slot)
        return;
    if (slot->value == DP_MAP_NONE) {
        slot->value = 0;
        if (dp_mem_grow((void **)&v->typed, &v->typed_cap, v->n_typed + 1, sizeof *v->typed) < 0)
            return;
        v->typed[v->n_typed] = (struct dpx_typed){ .site = site, .kind = kind };
        slot->value = (uint32_t)++v->n_typed;
    }
    if (slot->value) {
        v->typed[slot->value - 1].live++;
        v->typed[slot->value - 1].live_bytes += bytes_of(sv);
    }
}

/* Counts a value that lives. */
static void count_value(struct dpx_made_at *site, SV *sv, bool is_marked)
{
    site->live++;
    site->live_bytes += bytes_of(sv);
    if (SvOBJECT(sv))
        site->class = SvSTASH(sv);
    if (is_marked && (!site->value || SvOBJECT(sv)
                      || (SvTYPE(sv) >= SVt_PVAV && !SvOBJECT(site->value))))
        site->value = sv;
}

void dpx_values_take_census(pTHX_ struct dpx_ctx *ctx)
{
    struct dpx_values *v = ctx->values;
    dpx_values_look(aTHX_ ctx, v);
    for (size_t i = 0; i < v->n_sites; i++) {
        struct dpx_made_at *site = &v->sites[i];
        site->before = site->live;
        site->before_bytes = site->live_bytes;
        site->live = site->live_bytes = 0;
        site->class = NULL;
        site->value = NULL;
    }
    v->old_before = v->old_bytes;
    v->old_bytes = 0;
    for (size_t i = 0; i < v->n_typed; i++)
        v->typed[i].live = v->typed[i].live_bytes = 0;
    for (SV *arena = PL_sv_arenaroot; arena; arena = next_free(arena)) {
        SV *end = arena + SvREFCNT(arena);
        for (SV *sv = arena + 1; sv < end; sv++) {
            const uint32_t *cell = is_free(sv) ? NULL : cell_of(v, sv);
            uint32_t site = cell ? *cell & ~DPX_VALUES_MARKED : 0;
            if (!site || site > v->n_sites) {
                if (v->sizes_old && !is_free(sv))
                    v->old_bytes += bytes_of(sv);
                continue;
            }
            count_value(&v->sites[site - 1], sv, !v->mark || *cell & DPX_VALUES_MARKED);
            if (dpx_run.opt.heap_types)
                count_type(aTHX_ ctx, v, site, sv);
        }
    }
    dp_map_clear(&v->kinds);
}

/* Adds to a counter, of both a context and a statement, what it lacks; `has` is what it has. line:
 * NULL where statements are not kept. */
static void set_count(struct dp_cct_node *node, struct dp_stmt *line, size_t at, uint64_t now,
                      uint64_t *has)
{
    node->counts[at] += now - *has;
    if (line)
        line->counts[at] += now - *has;
    *has = now;
}

/* Takes a census, and gives the counts to contexts and statements. Before the second census, keeps
 * the bytes that the first has found: growth is counted from there. */
static void count_values(pTHX_ struct dpx_ctx *ctx, struct dpx_values *v)
{
    size_t at = dpx_run.plan.heap_at;
    bool lines = ctx->rec.how.lines != NULL;
    if (v->censuses++ == 1)
        for (size_t i = 0; i < v->n_sites; i++)
            v->sites[i].first_bytes = v->sites[i].live_bytes;
    dpx_values_take_census(aTHX_ ctx);
    for (size_t i = 0; i < v->n_sites; i++) {
        struct dpx_made_at *site = &v->sites[i];
        struct dp_stmt *line = lines ? site->line : NULL;
        set_count(site->node, line, at, site->all, &site->made);
        if (dpx_run.opt.heap_types)
            continue;
        set_count(site->node, line, at + 1, site->live, &site->values);
        set_count(site->node, line, at + 2, site->live_bytes, &site->bytes);
    }
    for (size_t i = 0; i < v->n_typed; i++) {
        struct dpx_typed *typed = &v->typed[i];
        const struct dpx_made_at *site = &v->sites[typed->site - 1];
        struct dp_cct_node *node = dp_cct_resumed(&ctx->rec.cct, site->node, typed->kind, 0);
        struct dp_stmt *line = lines ? site->line : NULL;
        set_count(node, line, at + 1, typed->live, &typed->values);
        set_count(node, line, at + 2, typed->live_bytes, &typed->bytes);
    }
    v->mark = DPX_VALUES_MARKED;
}

void dpx_values_count(pTHX_ struct dpx_ctx *ctx)
{
    int why = errno;
    dpx_blocks_count(aTHX_ ctx);
    if (ctx->values && !ctx->values->off && !ctx->rec.over)
        count_values(aTHX_ ctx, ctx->values);
    if (dpx_run.opt.heap_holders && !ctx->rec.over)
        dpx_chains_find(aTHX_ ctx);
    errno = why;
}

bool dpx_values_grown(const struct dpx_ctx *ctx, size_t n, struct dpx_grown *to)
{
    const struct dpx_values *v = ctx->values;
    if (!v || v->off || n >= v->n_sites)
        return false;
    const struct dpx_made_at *site = &v->sites[n];
    *to = (struct dpx_grown){
        site->node, ctx->rec.how.lines ? site->line : NULL, site->value,
        (int64_t)(site->live_bytes - site->first_bytes),
    };
    return true;
}

/* ---- the end ---- */

void dpx_values_last(pTHX_ struct dpx_ctx *ctx)
{
    dpx_blocks_count(aTHX_ ctx);
    dpx_blocks_end(ctx);
    if (!ctx->values || ctx->values->is_last)
        return;
    dpx_values_count(aTHX_ ctx);
    ctx->values->is_last = true;
}

static Perl_ppaddr_t orig_leave;
static thrhook_proc_t orig_threadhook;

/* The last op of the main program, which clears the variables of its file. */
static OP *main_leaves(pTHX)
{
    struct dpx_ctx *ctx = dpx_ctx_current(aTHX);
    if (ctx)
        dpx_values_last(aTHX_ ctx);
    return orig_leave(aTHX);
}

/* Takes the last census of an interpreter. perl calls this after the END blocks, before it frees
 * values. */
static int interpreter_ends(pTHX)
{
    struct dpx_ctx *ctx = dpx_ctx_current(aTHX);
    if (ctx) {
        dpx_values_last(aTHX_ ctx);
        dpx_values_end(aTHX_ ctx);
    }
    return orig_threadhook(aTHX);
}

void dpx_values_watch_end(pTHX)
{
    if (PL_main_root && PL_main_root->op_ppaddr != main_leaves) {
        orig_leave = PL_main_root->op_ppaddr;
        PL_main_root->op_ppaddr = main_leaves;
    }
    if (PL_threadhook != interpreter_ends) {
        orig_threadhook = PL_threadhook;
        PL_threadhook = interpreter_ends;
    }
}
