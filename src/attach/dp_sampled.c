#include "dp_sampled.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dp_writer.h"

#include <stdio.h>

enum {
    CONTEXTS = 1000000,         /* the recorder's default */
    MOST_SITES = 1 << 16,
    HZ = DP_FMT_HZ_RECORDED,
    PHASE_RUN = 4, PHASE_END = 5        /* PERL_PHASE_RUN, PERL_PHASE_END of perl.h */
};

/* Makes the empty tree and the empty table of statements that samples are added to. */
static int open_tree(struct dp_sampled *s)
{
    dp_live_init(&s->live, NULL, 0);
    int rc = dp_cct_init(&s->cct, &s->live, (struct dp_cct_node *)s->idle, CONTEXTS, 1);
    s->node = s->cct.root;
    s->line = DP_LINE_REST;
    return rc < 0 ? rc : dp_lines_open(&s->lines, &s->live, 1);
}

int dp_sampled_init(struct dp_sampled *s, struct dp_optree *code, pid_t pid)
{
    *s = (struct dp_sampled){ .code = code, .pid = pid, .next_line = DP_LINE_REST + 1,
                              .script = DP_MAP_NONE };
    dp_pool_init(&s->sites);
    dp_map_init(&s->site_of);
    dp_map_init(&s->line_of);
    return open_tree(s);
}

void dp_sampled_release(struct dp_sampled *s)
{
    dp_cct_release(&s->cct);
    dp_lines_release(&s->lines);
    dp_live_remove(&s->live);
    dp_live_release(&s->live);
    dp_pool_release(&s->sites);
    dp_map_release(&s->site_of);
    dp_map_release(&s->line_of);
}

int dp_sampled_renew(struct dp_sampled *s)
{
    struct dp_live old = s->live;
    dp_live_init(&s->live, NULL, 0);
    int rc = dp_cct_renew(&s->cct);
    if (rc == 0)
        rc = dp_lines_renew(&s->lines);
    dp_live_release(&old);
    s->node = s->cct.root;
    s->line = DP_LINE_REST;
    s->samples = s->mended = s->given_up = s->unread = 0;
    return rc;
}

/* ---- places ---- */

/* The source as the target sees it: its names begin at its own root, or at the folder where it
 * is. */
static void see_source(struct dp_sampled *s, const struct dp_name *file)
{
    char path[8192];
    struct dp_buf field;
    if (!s->pid || !file->len || *file->ptr == '(')
        return;
    int n = snprintf(path, sizeof path, "/proc/%ld/%s%s", (long)s->pid,
                     *file->ptr == '/' ? "root" : "cwd/", file->ptr);
    if (n <= 0 || (size_t)n >= sizeof path)
        return;
    dp_buf_init(&field);
    dp_fmt_field(&field, file->ptr, file->len);
    if (!field.err)
        dp_lines_see(&s->lines, field.ptr, field.len, path);
    dp_buf_release(&field);
}

/* The place of a file and line, from 1 up; 0: there are too many. */
static uint32_t site_of(struct dp_sampled *s, uint32_t file, uint32_t line)
{
    struct dp_buf *text = &s->code->text;
    struct dp_map_slot *slot = dp_map_put(&s->site_of, (uint64_t)file << 32 | line);
    if (!slot || (slot->value == DP_MAP_NONE && s->sites.count >= MOST_SITES)) {
        if (slot)
            slot->value = 0;
        return 0;
    }
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    const struct dp_name *name = dp_pool_name(&s->code->files, file);
    dp_buf_clear(text);
    dp_fmt_field(text, name->ptr, name->len);
    dp_buf_addc(text, ':');
    dp_buf_addu(text, line);
    uint32_t n = text->err ? DP_MAP_NONE : dp_pool_intern(&s->sites, text->ptr, text->len);
    slot->value = n == DP_MAP_NONE ? 0 : n + 1;
    see_source(s, name);
    return slot->value;
}

/* The number of a statement in s->lines. */
static uint32_t number_of(struct dp_sampled *s, uint32_t site, uint32_t sub, uint32_t later)
{
    enum { LATER = 255 };
    struct dp_line_place place = { site, sub, later < LATER ? later : LATER };
    uint64_t key = ((uint64_t)site << 32 | sub) * (LATER + 1) ^ place.later;
    struct dp_map_slot *slot = site ? dp_map_put(&s->line_of, key) : NULL;
    if (!slot)
        return DP_LINE_REST;
    if (slot->value == DP_MAP_NONE) {
        slot->value = DP_LINE_REST;
        if (dp_lines_know(&s->lines, s->next_line, &place) == 0)
            slot->value = s->next_line++;
    }
    return slot->value;
}

/* ---- contexts ---- */

/* Returns the node of the phase of perl's life that was sampled: BEGIN, main or END. Returns the
 * root if memory is short. */
static struct dp_cct_node *phase_of(struct dp_sampled *s, int32_t phase)
{
    const char *line = phase < PHASE_RUN ? "% BEGIN - kind=phase"
                       : phase < PHASE_END ? "% main - kind=phase" : "% END - kind=phase";
    uint32_t n = dp_pool_intern(&s->code->names, line, strlen(line));
    if (n == DP_MAP_NONE)
        return s->cct.root;
    struct dp_cct_node *node = dp_cct_child(&s->cct, s->cct.root, n + 1, 0);
    node->calls = 1;
    return node;
}

/* The place of a call: the statement before the context, and where the call returns to. */
static uint32_t call_site(struct dp_sampled *s, struct dp_leafs *leafs,
                          const struct dp_stack_context *c)
{
    const struct dp_optree_cop *cop = dp_optree_cop(s->code, c->oldcop);
    if (!cop)
        return 0;
    uint32_t file = cop->file;
    const struct dp_leaf *leaf = dp_leaf_of(leafs, c->oldcop, c->retop, true);
    return site_of(s, file, leaf ? leaf->line : cop->line);
}

/* The statement that runs in the sub of context i. */
static dp_addr runs_in(const struct dp_stack *st, size_t i)
{
    for (size_t k = i + 1; k < st->n; k++)
        if (dp_stack_is_sub(st, &st->contexts[k]) || dp_stack_is_code(st, &st->contexts[k]))
            return st->contexts[k].oldcop;
    return st->curcop;
}

/* Goes down from the phase to the context of the innermost sub. sub: its id, for its statements; 0
 * if the innermost code is a file. */
static struct dp_cct_node *find_context(struct dp_sampled *s, struct dp_leafs *leafs, uint32_t *sub)
{
    struct dp_stack *st = leafs->stack;
    struct dp_cct_node *node = phase_of(s, st->phase);
    *sub = 0;
    for (size_t i = 0; i < st->n; i++) {
        const struct dp_stack_context *c = &st->contexts[i];
        if (dp_stack_is_file(st, c))
            *sub = 0;
        if (!dp_stack_is_sub(st, c))
            continue;
        uint32_t name = dp_stack_name(st, i, 0);
        if (name == DP_MAP_NONE)
            name = dp_stack_name(st, i, runs_in(st, i));
        if (name == DP_MAP_NONE)
            continue;
        *sub = name + 1;
        node = dp_cct_child(&s->cct, node, *sub, call_site(s, leafs, c));
    }
    return node;
}

/* Notes the file of the outermost statement while the main program runs. A first sample may run in
 * a module, whose file is then the first one that is read. What perl compiles has no place yet, and
 * a program that perl is embedded in calls subs from there. */
static void note_script(struct dp_sampled *s, const struct dp_stack *st)
{
    if (s->script != DP_MAP_NONE || st->phase != PHASE_RUN)
        return;
    for (size_t i = 0; i <= st->n; i++) {
        dp_addr at = i < st->n ? st->contexts[i].oldcop : st->curcop;
        const struct dp_optree_cop *cop =
            dp_optree_is_compiling(s->code, st->interpreter, at) ? NULL
                                                                 : dp_optree_cop(s->code, at);
        if (cop) {
            s->script = cop->file;
            return;
        }
    }
}

/* Finds what the next sample is charged to: s->node and s->line. */
static void find_charged(struct dp_sampled *s, struct dp_leafs *leafs)
{
    struct dp_stack *st = leafs->stack;
    uint32_t sub, site = 0, later = 0;
    note_script(s, st);
    s->node = find_context(s, leafs, &sub);
    s->line = DP_LINE_REST;
    uint32_t name = dp_leaf_name(leafs);
    const struct dp_optree_cop *cop = dp_optree_cop(s->code, st->curcop);
    bool is_compiling = dp_optree_is_compiling(s->code, st->interpreter, st->curcop);
    if (cop && !is_compiling) {
        uint32_t file = cop->file;
        const struct dp_leaf *leaf = dp_leaf_of(leafs, st->curcop, st->op, false);
        if (leaf) {
            site = site_of(s, file, leaf->line);
            later = leaf->later;
        }
        s->line = number_of(s, site, sub, later);
    }
    if (name != DP_MAP_NONE)
        s->node = dp_cct_child(&s->cct, s->node, name + 1, site);
}

/* Charges what runs with real time; wait is the part without a processor. */
static void charge(struct dp_sampled *s, uint64_t real, uint64_t wait, uint64_t samples)
{
    struct dp_stmt *line = dp_lines_get(&s->lines, s->line);
    s->node->real += real;
    s->node->wait += wait;
    s->node->counts[0] += samples;
    line->real += real;
    line->wait += wait;
    line->counts[0] += samples;
}

void dp_sampled_add(struct dp_sampled *s, struct dp_leafs *leafs, uint64_t real, uint64_t cpu,
                    bool runs)
{
    if (leafs)
        find_charged(s, leafs);
    /* The two clocks are read one after the other. */
    uint64_t used = cpu < real ? cpu : real;
    s->samples++;
    if (!runs) {
        s->unassigned += used;
        charge(s, real - used, real - used, 1);
        return;
    }
    charge(s, real + s->unassigned, real - used, 1);
    s->unassigned = 0;
}

const char *dp_sampled_script(const struct dp_sampled *s)
{
    uint32_t file = s->script != DP_MAP_NONE ? s->script : 0;
    return s->code->files.count ? dp_pool_name(&s->code->files, file)->ptr : "";
}

/* ---- the file ---- */

/* Appends the assignment "$name='value'; " with the value quoted for Perl. */
static void add_quoted(struct dp_buf *to, const char *name, const char *value)
{
    dp_buf_addf(to, "$%s=", name);
    dp_fmt_quote(to, value, strlen(value));
    dp_buf_adds(to, "; ");
}

/* Appends the lines of the tree file from the first one to PART3: where the samples come from, how
 * they were taken and their sums. */
static void add_header(const struct dp_sampled *s, const struct dp_sampled_head *head,
                       const struct dp_ticks *sums, struct dp_buf *to)
{
    const struct dp_perl *perl = s->code->perl;
    dp_buf_addf(to, DP_FMT_MAGIC "\n$hz=%d;\n$XS_VERSION='DProf %s';\n", HZ, head->version);
    dp_buf_adds(to, "# All values are given in HZ\n"
                    "$over_utime=0; $over_stime=0; $over_rtime=0;\n$over_tests=10000;\n");
    dp_buf_addf(to, "$dprof_format='%s %d'; ", DP_FMT_TREE, DP_FMT_TREE_VERSION);
    add_quoted(to, "dprof_run", head->run);
    dp_buf_addf(to, "$dprof_pid=%ld; $dprof_ppid=%ld; $dprof_tid=%u;\n", head->pid, head->ppid,
                head->tid);
    if (head->slice)
        dp_buf_addf(to, "$dprof_slice=%llu;\n", (unsigned long long)head->slice);
    dp_buf_addf(to, "$dprof_perl='5.%u.%u'; ", perl->version.series, perl->subversion);
    add_quoted(to, "dprof_script", head->script);
    dp_buf_addf(to, "$dprof_start=%s; $dprof_clock='monotonic';\n", head->start);
    dp_buf_addf(to, "$dprof_options='mode=tree,lines=time,sample=%u,ops=0'; $dprof_end=1;\n",
                head->rate);
    dp_buf_adds(to, "$dprof_lines='time';\n$dprof_unit='s';\n"
                    "$dprof_counters='samples:samples';\n");
    dp_buf_addf(to, "$dprof_attached=1; $dprof_mended=%llu; $dprof_given_up=%llu; "
                    "$dprof_behind=%llu;\n", (unsigned long long)s->mended,
                (unsigned long long)(s->given_up + s->unread), (unsigned long long)head->behind);
    dp_buf_addf(to, "$rrun_utime=%llu; $rrun_stime=%llu; $rrun_rtime=%llu; $total_marks=0; ",
                (unsigned long long)sums->user, (unsigned long long)sums->sys,
                (unsigned long long)sums->real);
    if (s->cct.folded)
        dp_buf_addf(to, "$dprof_folded=%llu; ", (unsigned long long)s->cct.folded);
    dp_buf_adds(to, "$dprof_complete=1;\n\n" DP_FMT_PART3 "\n");
}

int dp_sampled_write(struct dp_sampled *s, const struct dp_sampled_head *head, struct dp_buf *out)
{
    struct dp_cct_text how = {
        .ticks_per_stamp = HZ / 1e9,
        .names = &s->code->names,
        .sites = &s->sites,
        .lines = &s->lines,
        .line_times = true,
        .named = s->code->names.count,  /* only names that this profile uses */
    };
    struct dp_buf tree;
    /* no sample has seen the thread run since */
    charge(s, s->unassigned, 0, 0);
    s->unassigned = 0;
    dp_buf_init(&tree);
    int rc = dp_cct_write(&s->cct, &how, &tree);
    uint64_t all[DP_FMT_SUMS] = {
        [DP_FMT_SUM_CALLS] = how.calls, [DP_FMT_SUM_USER] = how.user,
        [DP_FMT_SUM_SYSTEM] = how.sys, [DP_FMT_SUM_REAL] = how.real,
    };
    if (rc == 0)
        rc = dp_lines_write_sources(&s->lines, SIZE_MAX, 0, &tree);
    if (rc == 0 && !tree.err) {
        struct dp_ticks sums = { how.user, how.sys, how.real };
        all[DP_FMT_SUM_LINES] = dp_fmt_lines(tree.ptr, tree.len);
        dp_fmt_end(&tree, all, true);
        add_header(s, head, &sums, out);
        dp_buf_add(out, tree.ptr, tree.len);
    }
    rc = rc < 0 ? rc : tree.err ? tree.err : out->err;
    dp_buf_release(&tree);
    return rc;
}
