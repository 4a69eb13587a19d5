/* What this relies on: PERL_GET_CONTEXT is the interpreter of this thread, or NULL, wherever perl
 * calls the allocator. It may be a clone that is being made, whose fields are not set yet, so no
 * field is read before the interpreter is known to record. PL_body_arenas leads to a list of struct
 * arenas. What dpx_values.c relies on about arenas and heads is relied on here, too. */
#include "dpx_blocks.h"
#include "dpx_chains.h"
#include "dpx_ctx.h"
#include "dpx_heap.h"
#include "dpx_kind.h"
#include "dp_blocks.h"
#include "dp_held.h"
#include "dp_mem.h"
#include "dp_rec_mark.h"

#include <string.h>

/* Where blocks were allocated that live: a context and a statement of the recording. */
struct site {
    struct dp_cct_node *node;
    struct dp_stmt *line;       /* NULL: statements are not kept */
    uint32_t base;              /* of a type in a context: the context's site; 0: this is one */
    uint64_t live, live_bytes;
    uint64_t shown, shown_bytes;        /* what the counters have of these */
    uint64_t values, value_bytes;       /* of the last census: values, bytes of heads and bodies */
    uint64_t counted, counted_bytes;    /* what the counters have of these */
    uint64_t first_bytes;       /* all bytes at the first census */
    const SV *value;            /* of the last census: one that lives, an object if there is one */
    size_t path, depth;         /* between two slices: where the calls that lead to it stand */
    uint32_t number;            /* and the number of its statement */
};

/* What a recording has of its blocks. */
struct dpx_owner {
    struct dp_map site_of;      /* number of a node, number of a statement -> site */
    struct site *sites;         /* the n-th is site n + 1 */
    size_t n, cap;
    struct step { uint32_t id, place; } *steps;     /* between two slices: calls, the innermost
                                                     * first */
    size_t n_steps, steps_cap;
    struct dp_map kinds;        /* of the census that is taken: ids of types */
    struct waiting {            /* where samples are taken: blocks whose place is found at the next
                                 * safe point */
        struct dp_cct_node *node;       /* the context, where calls are recorded */
        struct dpx_words words;
        struct dp_block block;
    } *waiting;
    size_t n_waiting, waiting_cap;
    uint64_t censuses;
    bool over;                  /* no block is noted any more */
    bool moves;                 /* there is no tree, between two of them */
    bool places;                /* the places of the blocks that wait are being found */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;    /* guards all that follows, the hints
                                                             * and the counts of blocks */
static struct dp_blocks table;

static __thread struct dp_block_dice dice;

/* ---- sites ---- */

/* The site of a context and a statement; 0: nothing is recorded there, or memory is short. line:
 * NULL where statements are not kept. */
static uint32_t site_at(struct dpx_owner *o, struct dp_cct_node *node, struct dp_stmt *line)
{
    if (!node->number)
        return 0;
    struct dp_map_slot *slot = dp_map_put(&o->site_of, (uint64_t)node->number << 32
                                                           | (line ? line->number : 0));
    if (!slot)
        return 0;
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    slot->value = 0;
    if (dp_mem_grow((void **)&o->sites, &o->cap, o->n + 1, sizeof *o->sites) < 0)
        return 0;
    o->sites[o->n] = (struct site){ .node = node, .line = line };
    return slot->value = (uint32_t)++o->n;
}

/* The site of what a recording of calls and statements runs; 0: as for site_at. */
static uint32_t site_now(struct dpx_ctx *ctx)
{
    struct dp_lines *lines = ctx->rec.how.lines;
    struct dp_stmt *line = lines ? ctx->rec.marks.line : NULL;
    if (line && !line->number)
        line = lines->rest;
    return site_at(ctx->blocks, ctx->rec.marks.cur, line);
}

/* Adds to a counter of a site. The number may be negative, as counters count modulo 2^64. */
static void count(const struct site *site, size_t column, uint64_t n)
{
    size_t at = dpx_run.plan.heap_at + column;
    site->node->counts[at] += n;
    if (site->line)
        site->line->counts[at] += n;
}

/* Counts what lives in a site, and not yet in its context: the caller may be another thread, and
 * only the owner's thread may touch its tree. */
static void count_live(struct site *site, uint64_t blocks, uint64_t bytes)
{
    site->live += blocks;
    site->live_bytes += bytes;
}

/* Takes what lives in a site over to its context and statement. */
static void show_live(struct site *site)
{
    count(site, DPX_BLOCKS_LIVE, site->live - site->shown);
    count(site, DPX_BLOCKS_LIVE_BYTES, site->live_bytes - site->shown_bytes);
    site->shown = site->live;
    site->shown_bytes = site->live_bytes;
}

static void count_all(const struct site *site, uint64_t blocks, uint64_t bytes)
{
    count(site, DPX_BLOCKS_ALL, blocks);
    count(site, DPX_BLOCKS_ALL_BYTES, bytes);
}

/* ---- allocations ---- */

/* Can blocks be noted now? Not while recording is paused or a stretch is held back, not before the
 * first event of a child, and not while the recorder itself finds places, for which perl may
 * allocate. */
static bool is_counting(const struct dpx_ctx *ctx)
{
    return ctx->state == DPX_ON && ctx->blocks && !ctx->blocks->over && !ctx->blocks->moves
           && !ctx->blocks->places && !ctx->rec.over && !ctx->rec.paused && !ctx->rec.saving.trip
           && !ctx->rec.saving.held;
}

static struct dpx_ctx *find_owner(void)
{
    struct dpx_ctx *ctx = dpx_ctx_own();
    return ctx && is_counting(ctx) ? ctx : NULL;
}

/* The first numbers of a thread: with the counting clock, always the same. */
static void begin_dice(void)
{
    dice.state = dpx_run.clock.kind == DPX_CLOCK_COUNTING ? 1 : dp_map_any(&dice) | 1;
}

static void add_hint(const void *at)
{
    uint8_t *hint = dpx_heap_hint_of(at);
    *hint += *hint < UINT8_MAX;
}

static void take_hint(const void *at)
{
    uint8_t *hint = dpx_heap_hint_of(at);
    *hint -= *hint < UINT8_MAX;
}

/* Counts a noted block of that address as freed, if there is one. */
static void forget_block(const void *at)
{
    struct dp_block block;
    if (!*dpx_heap_hint_of(at) || !dp_blocks_take(&table, (uintptr_t)at, &block))
        return;
    const struct dpx_ctx *owner = block.owner;
    take_hint(at);
    if (block.site)
        count_live(&owner->blocks->sites[block.site - 1], -(uint64_t)block.blocks, -block.bytes);
}

/* Notes a block in what runs now. */
static void add_block(struct dpx_ctx *owner, struct dp_block *block)
{
    block->site = site_now(owner);
    if (!block->site || dp_blocks_add(&table, block) < 0)
        return;
    struct site *site = &owner->blocks->sites[block->site - 1];
    add_hint((const void *)block->at);
    count_all(site, block->blocks, block->bytes);
    count_live(site, block->blocks, block->bytes);
}

/* Notes a block whose statement, and perhaps context, are found later. */
static void wait_for_place(struct dpx_ctx *owner, const struct dp_block *block)
{
    DPX_DTHX(owner);
    struct dpx_owner *o = owner->blocks;
    if (dp_mem_grow((void **)&o->waiting, &o->waiting_cap, o->n_waiting + 1, sizeof *o->waiting) < 0
        || dp_blocks_add(&table, block) < 0)
        return;
    add_hint((const void *)block->at);
    struct waiting *w = &o->waiting[o->n_waiting++];
    w->block = *block;
    w->node = owner->rec.marks.cur;
    dpx_blocks_note_words(aTHX_ owner, &w->words);
    dpx_blocks_ask(aTHX);
}

/* The sampler's `allocated` (dpx_heap.h). */
static int64_t note_allocated(struct dpx_ctx *owner, void *at, size_t size)
{
    uint64_t interval = dpx_run.opt.heap_interval;
    if (DP_UNLIKELY(!dice.state)) {
        begin_dice();
        int64_t first = dp_block_distance(&dice, interval), n = (int64_t)(size & INT64_MAX);
        if (first > n)
            return first - n;
    }
    struct dp_block block = { .at = (uintptr_t)at, .owner = owner };
    if (!owner || !at || !size)
        return dp_block_distance(&dice, interval);
    int why = errno;
    dp_block_weigh(&block, &dice, size, interval);
    pthread_mutex_lock(&lock);
    forget_block(at);           /* if others than perl have freed one with that address */
    if (dpx_run.opt.sample)
        wait_for_place(owner, &block);
    else
        add_block(owner, &block);
    pthread_mutex_unlock(&lock);
    errno = why;
    return dp_block_distance(&dice, interval);
}

static void note_freed(void *at)
{
    int why = errno;
    pthread_mutex_lock(&lock);
    forget_block(at);
    pthread_mutex_unlock(&lock);
    errno = why;
}

/* ---- blocks that wait for their places ---- */

void (*dpx_blocks_ask)(pTHX);

void dpx_blocks_note_words(pTHX_ const struct dpx_ctx *ctx, struct dpx_words *words)
{
    words->cop = PL_curcop;
    words->op = PL_op;
    words->pad = PL_comppad;
    words->compiles = PL_parser != NULL;
    words->serial = (UV)ctx->serial;
    words->in_c = ctx->spans.in_c;
}

const struct dpx_words *dpx_blocks_waiting(const struct dpx_ctx *ctx, size_t n)
{
    const struct dpx_owner *o = ctx->blocks;
    return o && n < o->n_waiting ? &o->waiting[n].words : NULL;
}

void dpx_blocks_place(struct dpx_ctx *ctx, size_t n, struct dp_cct_node *node, U32 line)
{
    const struct dp_block *block = &ctx->blocks->waiting[n].block;
    struct dp_lines *lines = ctx->rec.how.lines;
    pthread_mutex_lock(&lock);
    if (!node)
        node = ctx->blocks->waiting[n].node;
    uint32_t number = site_at(ctx->blocks, node, lines ? dp_lines_get(lines, line) : NULL);
    struct dp_block *live = dp_blocks_find(&table, block->at);
    if (number) {
        struct site *site = &ctx->blocks->sites[number - 1];
        count_all(site, block->blocks, block->bytes);
        if (live && live->owner == ctx && !live->site) {
            live->site = number;
            count_live(site, live->blocks, live->bytes);
        }
    }
    pthread_mutex_unlock(&lock);
}

size_t dpx_blocks_to_place(struct dpx_ctx *ctx)
{
    ctx->blocks->places = true;
    return ctx->blocks->n_waiting;
}

void dpx_blocks_all_placed(struct dpx_ctx *ctx)
{
    if (!ctx->blocks)
        return;
    ctx->blocks->n_waiting = 0;
    ctx->blocks->places = false;
}

void dpx_blocks_forget_op(struct dpx_ctx *ctx, const OP *op)
{
    struct dpx_owner *o = ctx->blocks;
    for (size_t i = 0; i < o->n_waiting; i++)
        if ((const OP *)o->waiting[i].words.cop == op)
            o->waiting[i].words.cop = NULL;
}

/* ---- the census ---- */

/* The lists of arenas for bodies, as perl's sv.c has them. */
struct arenas {
    struct arenas *next;
    unsigned room, n;
    struct { char *arena; size_t size; svtype type; } at[];
};

/* Does not count a block that is an arena. */
static void leave_out(const struct dpx_ctx *ctx, const void *arena)
{
    struct dp_block block;
    if (!*dpx_heap_hint_of(arena))
        return;
    const struct dp_block *found = dp_blocks_find(&table, (uintptr_t)arena);
    if (!found || found->owner != ctx || !dp_blocks_take(&table, (uintptr_t)arena, &block))
        return;
    take_hint(arena);
    if (!block.site)
        return;
    struct site *site = &ctx->blocks->sites[block.site - 1];
    count_live(site, -(uint64_t)block.blocks, -block.bytes);
    count_all(site, -(uint64_t)block.blocks, -block.bytes);
}

static void leave_out_arenas(pTHX_ const struct dpx_ctx *ctx)
{
    for (const SV *arena = PL_sv_arenaroot; arena; arena = (const SV *)SvANY(arena))
        leave_out(ctx, arena);
#ifndef PURIFY
    for (const struct arenas *a = (const void *)PL_body_arenas; a; a = a->next)
        for (unsigned i = 0; i < a->n && i < a->room; i++)
            leave_out(ctx, a->at[i].arena);
#endif
}

/* The block with the string of a scalar, the elements of an array or the buckets of a hash; NULL:
 * the value has none. */
static const void *memory_of(SV *sv)
{
    STRLEN before = 0;
    switch (SvTYPE(sv)) {
    case SVt_PVAV: return AvALLOC((AV *)sv);
    case SVt_PVHV: return HvARRAY((HV *)sv);
    case SVt_PV: case SVt_PVIV: case SVt_PVNV: case SVt_PVMG: case SVt_PVLV:
        if (SvROK(sv) || isREGEXP(sv) || !SvLEN(sv))
            return NULL;
        if (SvOOK(sv))
            SvOOK_offset(sv, before);
        return SvPVX_const(sv) ? SvPVX_const(sv) - before : NULL;
    default: return NULL;
    }
}

/* Is that a scalar without memory of its own, held by nothing but one array or hash? */
static bool is_bare(SV *sv)
{
    return sv && SvREFCNT(sv) == 1 && SvTYPE(sv) <= SVt_PVMG && !memory_of(sv);
}

static void count_bare(SV *sv, uint64_t *n, uint64_t *bytes)
{
    if (is_bare(sv)) {
        ++*n;
        *bytes += dpx_kind_head_bytes(sv);
    }
}

/* Counts a value whose memory is a noted block, and the scalars that it holds. The table of shared
 * keys is a hash without values. */
static void count_value(pTHX_ struct site *site, SV *sv, uint64_t weight)
{
    uint64_t n = 1, bytes = dpx_kind_head_bytes(sv);
    if (SvTYPE(sv) == SVt_PVAV && AvREAL((AV *)sv)) {
        for (SSize_t i = 0; i <= AvFILLp((AV *)sv); i++)
            count_bare(AvARRAY((AV *)sv)[i], &n, &bytes);
    } else if (SvTYPE(sv) == SVt_PVHV && (HV *)sv != PL_strtab) {
        HE **at = HvARRAY((HV *)sv);
        for (STRLEN i = 0; i <= HvMAX((HV *)sv); i++)
            for (const HE *he = at[i]; he; he = HeNEXT(he)) {
                bytes += sizeof *he;
                count_bare(HeVAL(he), &n, &bytes);
            }
    }
    if (!site->value || SvOBJECT(sv))
        site->value = sv;
    site->values += n * weight;
    site->value_bytes += bytes * weight;
}

/* With heap-types: moves a block to the frame of its type. Returns false if memory is short. */
static bool move_to_type(pTHX_ struct dpx_ctx *ctx, struct dp_block *block, SV *sv)
{
    struct dpx_owner *o = ctx->blocks;
    U32 kind = dpx_kind_of(aTHX_ ctx, sv, &o->kinds), from = block->site;
    uint32_t base = o->sites[from - 1].base ? o->sites[from - 1].base : from;
    if (!kind)
        return false;
    struct dp_cct_node *node = dp_cct_resumed(dp_held_file_tree(&ctx->rec), o->sites[base - 1].node,
                                              kind, 0);
    uint32_t to = site_at(o, node, o->sites[base - 1].line);
    if (!to || to == from)
        return to;
    if (to != base)             /* beyond the limit of contexts, the frame is another one */
        o->sites[to - 1].base = base;
    count_live(&o->sites[from - 1], -(uint64_t)block->blocks, -block->bytes);
    count_live(&o->sites[to - 1], block->blocks, block->bytes);
    block->site = to;
    return true;
}

/* Counts all values of the interpreter whose memory is a noted block of this recording, in the
 * sites of the blocks. */
static void count_values(pTHX_ struct dpx_ctx *ctx)
{
    for (SV *arena = PL_sv_arenaroot; arena; arena = (SV *)SvANY(arena)) {
        const SV *end = arena + SvREFCNT(arena);
        for (SV *sv = arena + 1; sv < end; sv++) {
            const void *memory = SvTYPE(sv) == (svtype)SVTYPEMASK ? NULL : memory_of(sv);
            if (!memory || !*dpx_heap_hint_of(memory))
                continue;
            struct dp_block *block = dp_blocks_find(&table, (uintptr_t)memory);
            if (!block || block->owner != ctx || !block->site)
                continue;
            if (!dpx_run.opt.heap_types || move_to_type(aTHX_ ctx, block, sv))
                count_value(aTHX_ &ctx->blocks->sites[block->site - 1], sv, block->blocks);
        }
    }
}

/* Begins to count the values of all sites anew. The second census keeps the bytes that the first
 * has found: growth is counted from there. */
static void begin_census(struct dpx_owner *o)
{
    bool had_first = o->censuses++ == 1;
    for (size_t i = 0; i < o->n; i++) {
        struct site *site = &o->sites[i];
        if (had_first)
            site->first_bytes = site->shown_bytes + site->counted_bytes;
        site->values = site->value_bytes = 0;
        site->value = NULL;
    }
}

void dpx_blocks_count(pTHX_ struct dpx_ctx *ctx)
{
    struct dpx_owner *o = ctx->blocks;
    int why = errno;
    if (!o || o->over || ctx->rec.over || ctx->state == DPX_BORN)
        return;
    pthread_mutex_lock(&lock);
    leave_out_arenas(aTHX_ ctx);
    begin_census(o);
    count_values(aTHX_ ctx);
    dp_map_clear(&o->kinds);
    for (size_t i = 0; i < o->n; i++) {
        struct site *site = &o->sites[i];
        show_live(site);
        count(site, DPX_BLOCKS_VALUES, site->values - site->counted);
        count(site, DPX_BLOCKS_LIVE_BYTES, site->value_bytes - site->counted_bytes);
        site->counted = site->values;
        site->counted_bytes = site->value_bytes;
    }
    pthread_mutex_unlock(&lock);
    errno = why;
}

bool dpx_blocks_grown(const struct dpx_ctx *ctx, size_t n, struct dpx_grown *to)
{
    const struct dpx_owner *o = ctx->blocks;
    if (!o || o->over || n >= o->n)
        return false;
    const struct site *site = &o->sites[n];
    uint64_t bytes = site->live_bytes + site->value_bytes;
    const struct site *context = site->base ? &o->sites[site->base - 1] : site;
    *to = (struct dpx_grown){ context->node, site->line, site->value,
                              (int64_t)(bytes - site->first_bytes) };
    return true;
}

/* ---- the end ---- */

/* Begins the sites anew, without any block of the recording. */
static void forget(struct dpx_ctx *ctx)
{
    dp_blocks_disown(&table, ctx);
    dp_map_clear(&ctx->blocks->site_of);
    ctx->blocks->n = ctx->blocks->n_steps = ctx->blocks->n_waiting = 0;
}

static const struct dpx_heap_sampler sampler = { find_owner, note_allocated, note_freed };

bool dpx_blocks_begin(struct dpx_ctx *ctx)
{
    dpx_heap_sample(&sampler);
    if (!ctx->blocks)
        ctx->blocks = dp_mem_zalloc(sizeof *ctx->blocks);
    if (ctx->blocks)
        ctx->blocks->over = ctx->blocks->moves = false;
    return ctx->blocks != NULL;
}

void dpx_blocks_show(struct dpx_ctx *ctx)
{
    struct dpx_owner *o = ctx->blocks;
    if (!o || o->over || o->moves || ctx->rec.over)
        return;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < o->n; i++)
        show_live(&o->sites[i]);
    pthread_mutex_unlock(&lock);
}

void dpx_blocks_end(struct dpx_ctx *ctx)
{
    if (!ctx->blocks)
        return;
    pthread_mutex_lock(&lock);
    ctx->blocks->over = true;
    forget(ctx);
    pthread_mutex_unlock(&lock);
}

void dpx_blocks_free(struct dpx_ctx *ctx)
{
    struct dpx_owner *o = ctx->blocks;
    if (!o)
        return;
    dpx_blocks_end(ctx);
    dp_map_release(&o->site_of);
    dp_map_release(&o->kinds);
    dp_mem_free(o->sites);
    dp_mem_free(o->steps);
    dp_mem_free(o->waiting);
    dp_mem_free(o);
    ctx->blocks = NULL;
}

/* ---- slices ---- */

/* Notes the calls that lead to a site. Returns false if memory is short. */
static bool keep_path(struct dpx_owner *o, struct site *site)
{
    site->path = o->n_steps;
    site->number = site->line ? site->line->number : 0;
    for (const struct dp_cct_node *node = site->node; node->up; node = node->up) {
        if (dp_mem_grow((void **)&o->steps, &o->steps_cap, o->n_steps + 1, sizeof *o->steps) < 0)
            return false;
        o->steps[o->n_steps++] = (struct step){ node->id, node->site };
    }
    site->depth = o->n_steps - site->path;
    return true;
}

void dpx_blocks_keep(struct dpx_ctx *ctx)
{
    struct dpx_owner *o = ctx->blocks;
    if (!o)
        return;
    pthread_mutex_lock(&lock);
    o->moves = true;
    o->n_steps = o->n_waiting = 0;
    for (size_t i = 0; i < o->n; i++)
        if (!keep_path(o, &o->sites[i])) {
            forget(ctx);
            break;
        }
    pthread_mutex_unlock(&lock);
}

/* Leaves out the sites where nothing of any type lives, and renumbers the others. Returns false if
 * memory is short. */
static bool pack_sites(struct dpx_owner *o, const struct dpx_ctx *ctx)
{
    size_t n = 0;
    uint32_t *now = dp_mem_zalloc((o->n + 1) * sizeof *now);
    if (!now)
        return false;
    for (size_t i = 0; i < o->n; i++)
        if (o->sites[i].live || o->sites[i].live_bytes) {
            now[i + 1] = 1;
            now[o->sites[i].base] = o->sites[i].base != 0;
        }
    for (size_t i = 0; i < o->n; i++)
        if (now[i + 1]) {
            o->sites[n] = o->sites[i];
            now[i + 1] = (uint32_t)++n;
        }
    for (size_t i = 0; i < n; i++)
        o->sites[i].base = now[o->sites[i].base];
    dp_blocks_renumber(&table, ctx, now);
    dp_mem_free(now);
    o->n = n;
    return true;
}

/* Finds the context of a site in the new tree, and counts what lives. */
static void resume_site(struct dpx_ctx *ctx, struct site *site)
{
    const struct dpx_owner *o = ctx->blocks;
    struct dp_cct_node *node = ctx->rec.cct.root;
    for (size_t k = site->depth; k > 0; k--)
        node = dp_cct_resumed(&ctx->rec.cct, node, o->steps[site->path + k - 1].id,
                              o->steps[site->path + k - 1].place);
    site->node = node;
    if (site->line)
        site->line = dp_lines_get(ctx->rec.how.lines, site->number);
    site->counted = site->counted_bytes = 0;        /* a census comes before the slice is written */
    site->shown = site->shown_bytes = 0;
    show_live(site);
}

void dpx_blocks_resume(struct dpx_ctx *ctx)
{
    struct dpx_owner *o = ctx->blocks;
    if (!o)
        return;
    pthread_mutex_lock(&lock);
    dp_map_clear(&o->site_of);
    if (!pack_sites(o, ctx))
        forget(ctx);
    for (size_t i = 0; i < o->n; i++)
        resume_site(ctx, &o->sites[i]);
    o->moves = false;
    pthread_mutex_unlock(&lock);
}

/* ---- fork ---- */

void dpx_blocks_before_fork(void) { pthread_mutex_lock(&lock); }
void dpx_blocks_in_parent(void) { pthread_mutex_unlock(&lock); }

void dpx_blocks_in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    dp_blocks_clear(&table);
    memset(dpx_heap_hint, 0, sizeof dpx_heap_hint);
    for (struct dpx_ctx *ctx = dpx_run.all; ctx; ctx = ctx->next)
        if (ctx->blocks) {
            forget(ctx);
            ctx->blocks->moves = true;
        }
}
