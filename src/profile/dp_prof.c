#include "dp_prof.h"
#include "dp_prof_tree.h"
#include "dp_prof_lines.h"
#include "dp_prof_requests.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

struct dp_prof *dp_prof_new(void)
{
    struct dp_prof *prof = dp_mem_zalloc(sizeof *prof);
    if (!prof)
        return NULL;
    dp_subs_init(&prof->subs);
    dp_map_init(&prof->kids);
    dp_map_init(&prof->sited);
    dp_pool_init(&prof->sites);
    dp_pool_init(&prof->texts);
    dp_pool_init(&prof->request_names);
    dp_pool_init(&prof->server);
    dp_pool_init(&prof->held);
    dp_origin_init(&prof->origin);
    prof->in.scale = 1;
    if (dp_prof_new_node(prof, 0, DP_PROF_NO_SUB, DP_PROF_NO_SUB, 0) < 0
        || dp_mem_grow((void **)&prof->in.stack, &prof->in.stack_cap, 64, sizeof *prof->in.stack)
               < 0) {
        dp_prof_free(prof);
        return NULL;
    }
    prof->in.stack[0].node = 0;
    prof->in.stack[0].entered = DP_PROF_NO_SUB;
    return prof;
}

void dp_prof_free(struct dp_prof *prof)
{
    if (!prof)
        return;
    for (size_t i = 0; i < prof->n_files; i++)
        dp_file_release(&prof->files[i]);
    dp_mem_free(prof->files);
    dp_mem_free(prof->in.stack);
    dp_mem_free(prof->in.starts);
    dp_mem_free(prof->spans);
    dp_mem_free(prof->nodes);
    dp_mem_free(prof->packed);
    dp_prof_release_extra(prof);
    dp_prof_release_lines(prof);
    dp_prof_release_requests(prof);
    dp_window_free(prof->window);
    dp_map_release(&prof->kids);
    dp_subs_release(&prof->subs);
    dp_mem_free(prof);
}

void dp_prof_detail(struct dp_prof *prof)
{
    prof->detail = true;
    prof->subs.by_ordinal = true;
}

void dp_prof_phases(struct dp_prof *prof)
{
    prof->by_phase = true;
}

void dp_prof_only_main(struct dp_prof *prof) { prof->only_main = true; }

int dp_prof_window(struct dp_prof *prof, const struct dp_range *ranges, size_t n)
{
    struct dp_window *window = dp_window_new(ranges, n);
    dp_window_free(prof->window);
    prof->window = window;
    return window ? 0 : DP_E_NOMEM;
}

void dp_prof_chart(struct dp_prof *prof, enum dp_metric time)
{
    prof->chart = true;
    prof->chart_time = time;
}

void dp_prof_pairs(struct dp_prof *prof) { prof->pairs = true; }
void dp_prof_may_be_empty(struct dp_prof *prof) { prof->may_be_empty = true; }
void dp_prof_waits(struct dp_prof *prof) { prof->waits = true; }

int dp_prof_declare_unit(struct dp_prof *prof, const char *unit)
{
    uint64_t hz;
    bool time;
    if (!dp_header_unit(unit, &hz, &time))
        return DP_E_ARG;
    memcpy(prof->declared, unit, strlen(unit) + 1);
    prof->is_declared = true;
    return 0;
}

/* Lists the subs of frames that never ended in file->open_subs, and drops the frames. Their times
 * have been added already. */
static int list_open(struct dp_prof *prof, struct dp_file *file)
{
    size_t n = prof->in.depth < DP_FILE_LISTED ? prof->in.depth : DP_FILE_LISTED;
    file->open = prof->in.depth;
    prof->in.depth = 0;
    if (!n)
        return 0;
    file->open_subs = dp_mem_realloc(NULL, n, sizeof *file->open_subs);
    if (!file->open_subs)
        return DP_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        file->open_subs[i] = prof->nodes[prof->in.stack[i + 1].node].sub;
    file->open_listed = n;
    return 0;
}

/* Makes room for one more file. Most profiles have a single file, and the record of a file is
 * large. */
static int room_for_file(struct dp_prof *prof)
{
    if (prof->n_files < prof->files_cap)
        return 0;
    size_t cap = prof->files_cap ? prof->files_cap * 2 : 1;
    struct dp_file *files = dp_mem_realloc(prof->files, cap, sizeof *files);
    if (!files)
        return DP_E_NOMEM;
    prof->files = files;
    prof->files_cap = cap;
    return 0;
}

/* Adds the record of a file, which prof owns. NULL when memory is short. */
static struct dp_file *new_file(struct dp_prof *prof, const char *path, unsigned flags)
{
    if (room_for_file(prof) < 0)
        return NULL;
    struct dp_file *file = &prof->files[prof->n_files];
    if (dp_file_init(file, path, flags) < 0)
        return NULL;
    prof->n_files++;
    return file;
}

/* Is the file a slice of a recording that began in another one? */
static bool goes_on(const struct dp_prof *prof, const struct dp_file *file)
{
    uint64_t slice;
    return prof->in.has_head && dp_header_number(&file->head, "dprof_slice", &slice) && slice > 1;
}

/* Reads a file directly into this profile, which has no file yet, or is a chart, where a file
 * continues the one before. The record of the file is kept even after an error, with its code and
 * message. Returns 0 or a DP_E. */
static int read_file_into(struct dp_prof *prof, const char *path, const struct dp_file_mem *mem,
                          unsigned flags, const struct dp_host *host)
{
    struct dp_consumer to;
    struct dp_file *file = new_file(prof, path, flags);
    if (!file)
        return DP_E_NOMEM;
    prof->in.file = file;
    prof->in.host = host;
    prof->in.depth = 0;
    prof->in.has_cost = false;
    prof->in.has_head = false;
    prof->in.stack[0].node = 0;
    prof->in.now = prof->in.root_calls = prof->in.suspended = 0;
    dp_subs_next_file(&prof->subs);
    file->head.declared = prof->is_declared ? prof->declared : NULL;
    file->head.pairs = prof->pairs;
    file->head.chart = prof->chart;
    file->head.may_be_empty = prof->may_be_empty;
    dp_prof_consumer(prof, &to);
    int rc = dp_file_read(file, &to, mem);
    if (prof->in.has_head && dp_header_get(&file->head, "dprof_merged"))
        prof->nodes[0].calls += prof->in.root_calls;
    else if (file->info.marks || file->info.contexts || rc == 0)
        prof->nodes[0].calls += !goes_on(prof, file);
    if (prof->in.has_head && dp_origin_add(&prof->origin, &file->head, prof->in.scale) < 0
        && rc >= 0)
        rc = file->code = dp_err_set(&file->err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    if ((list_open(prof, file) < 0 || (prof->n_files == 1 && dp_subs_order(&prof->subs) < 0))
        && rc >= 0)
        rc = file->code = dp_err_set(&file->err, DP_E_NOMEM, "%s", dp_err_text(DP_E_NOMEM));
    prof->in.file = NULL;
    prof->in.host = NULL;
    return rc;
}

/* An empty profile with the options of this one. */
static struct dp_prof *new_like(const struct dp_prof *prof)
{
    struct dp_prof *own = dp_prof_new();
    if (!own)
        return NULL;
    own->detail = prof->detail;
    own->subs.by_ordinal = prof->subs.by_ordinal;
    own->by_phase = prof->by_phase;
    own->only_main = prof->only_main;
    own->pairs = prof->pairs;
    own->may_be_empty = prof->may_be_empty;
    own->is_declared = prof->is_declared;
    memcpy(own->declared, prof->declared, sizeof own->declared);
    if (prof->window && dp_prof_window(own, prof->window->ranges, prof->window->n) < 0) {
        dp_prof_free(own);
        return NULL;
    }
    return own;
}

/* Translates the numbers of a file's own subs, in what was noted about the file, to ours. */
static int renumber_subs(struct dp_prof *prof, const struct dp_prof *own, uint32_t *subs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t sub = subs[i] == DP_PROF_NO_SUB
                ? subs[i] : dp_subs_import(&prof->subs, &own->subs, subs[i]);
        if (sub < 0)
            return (int)sub;
        subs[i] = (uint32_t)sub;
    }
    return 0;
}

/* Reads a further file into a new profile, and adds that to prof. Only the end of a file shows
 * which of the file's nameless subs is which, so the file cannot be read into prof itself. */
static int add_further(struct dp_prof *prof, const char *path, const struct dp_file_mem *mem,
                       unsigned flags, const struct dp_host *host)
{
    struct dp_prof *own = new_like(prof);
    if (!own || room_for_file(prof) < 0) {
        dp_prof_free(own);
        return DP_E_NOMEM;
    }
    int rc = read_file_into(own, path, mem, flags, host);
    if (own->n_files) {
        struct dp_file *file = &prof->files[prof->n_files++];
        struct dp_err err;
        dp_err_init(&err);
        *file = own->files[--own->n_files];
        int taken = dp_prof_absorb(prof, own, &err);
        if (taken == 0)
            taken = renumber_subs(prof, own, file->open_subs, file->open_listed);
        if (taken == 0)
            taken = renumber_subs(prof, own, file->odd, 2 * file->odd_pairs);
        if (taken < 0 && (rc >= 0 || rc == DP_E_TRUNCATED)) {
            dp_err_init(&file->err);
            rc = file->code = dp_err_set(&file->err, taken, "%s",
                                         err.code ? err.message : dp_err_text(taken));
        }
    }
    dp_prof_free(own);
    return rc;
}

/* Reads a file into the profile. A further file is read into a profile of its own first, so that a
 * bad one adds nothing. */
static int add_file(struct dp_prof *prof, const char *path, const struct dp_file_mem *mem,
                    unsigned flags, const struct dp_host *host)
{
    /* in a chart, a file continues where the one before ended */
    return prof->n_files && !prof->chart
            ? add_further(prof, path, mem, flags, host)
            : read_file_into(prof, path, mem, flags, host);
}

int dp_prof_add(struct dp_prof *prof, const char *path, unsigned flags, const struct dp_host *host)
{
    return add_file(prof, path, NULL, flags, host);
}

int dp_prof_add_mem(struct dp_prof *prof, const char *path, const void *ptr, size_t len,
                    unsigned flags)
{
    struct dp_file_mem mem = { ptr, NULL, len, 0 };
    return add_file(prof, path, &mem, flags, NULL);
}

int dp_prof_add_left(struct dp_prof *prof, const char *path, const struct dp_file_mem *mem,
                     unsigned flags)
{
    return add_file(prof, path, mem, flags, NULL);
}

int dp_prof_add_header(struct dp_prof *prof, const char *path)
{
    struct dp_file *file = new_file(prof, path, 0);
    return file ? dp_file_read_header(file) : DP_E_NOMEM;
}

size_t dp_prof_files(const struct dp_prof *prof) { return prof->n_files; }
uint64_t dp_prof_hz(const struct dp_prof *prof) { return prof->hz ? prof->hz : DP_FMT_HZ_DEFAULT; }
const char *dp_prof_unit(const struct dp_prof *prof) { return prof->hz ? prof->unit : "s"; }
int dp_prof_no_calls(const struct dp_prof *prof) { return prof->no_calls; }
size_t dp_prof_contexts(const struct dp_prof *prof) { return prof->count; }

void dp_prof_outcome(const struct dp_prof *prof, size_t file, struct dp_outcome *out)
{
    dp_file_outcome(&prof->files[file], out);
}

int dp_prof_var(const struct dp_prof *prof, size_t file, size_t k,
                const char **name, const char **value, size_t *value_len)
{
    const struct dp_header *head = &prof->files[file].head;
    if (k >= head->count)
        return 0;
    *name = head->vars[k].name;
    *value = head->vars[k].value;
    *value_len = head->vars[k].len;
    return 1;
}

bool dp_prof_fits(const struct dp_prof *prof, uint64_t hz, uint64_t sum[DP_METRICS])
{
    for (int m = 0; m < DP_METRICS; m++) {
        uint64_t total;
        if (!dp_num_scale(prof->total[m], hz, dp_prof_hz(prof), &total)
            || total > DP_LIMIT_TOTAL || sum[m] > DP_LIMIT_TOTAL - total)
            return false;
        sum[m] += total;
    }
    return true;
}

uint64_t dp_prof_total(const struct dp_prof *prof, enum dp_metric time)
{
    return dp_prof_ticks(prof->total, time);
}

uint64_t dp_prof_calls(const struct dp_prof *prof)
{
    uint64_t sum = 0;
    for (uint32_t n = 1; n < prof->count; n++)
        sum += prof->nodes[n].calls;
    return sum;
}

uint64_t dp_prof_counted(const struct dp_prof *prof, size_t k)
{
    uint64_t sum = 0;
    for (uint32_t n = 0; n < prof->count && k < prof->n_counters; n++)
        sum += dp_prof_count(prof, n, k);
    return sum;
}

int dp_prof_sub(const struct dp_prof *prof, size_t k, struct dp_sub_info *info)
{
    if (k >= dp_subs_count(&prof->subs))
        return 0;
    const struct dp_sub *sub = &prof->subs.subs[k];
    const struct dp_name *package = dp_subs_text(&prof->subs, sub->package);
    info->package = package->ptr;
    info->package_len = package->len;
    const struct dp_name *file = dp_subs_text(&prof->subs, sub->file);
    info->file = file->ptr;
    info->file_len = file->len;
    info->line = sub->line;
    info->phase = sub->phase;
    return 1;
}

const char *dp_prof_counter(const struct dp_prof *prof, size_t k, size_t *len)
{
    if (k >= prof->n_counters)
        return NULL;
    *len = prof->counters[k].len;
    return prof->counters[k].name;
}

int dp_prof_counter_lacks(const struct dp_prof *prof, size_t k)
{
    return k < prof->n_counters && prof->counters[k].lacking;
}
