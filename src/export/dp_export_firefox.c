/* Writes the Firefox Profiler's processed format, version 57: firefox-devtools/profiler,
 * src/types/profile.ts and docs-developer/CHANGELOG-formats.md. Each measure is a thread, and each
 * part a process. Tables consist of columns. A separate walk through the contexts writes each
 * column, so nothing of the size of a profile is in memory.
 *
 * A row of the table of stacks is a context: its frame, and the row above it. A frame that makes a
 * call has the line of the call, so its callees may be below several rows. For a trace, one more
 * thread has samples where the stack changes, in real time, and counters have a track. */
#include "dp_firefox.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <inttypes.h>
#include <string.h>

enum { FORMAT_VERSION = 57 };
enum { SHOWN_MAX = 30 };        /* number of threads that the page shows at first */

/* ---- values of columns ---- */

void dp_firefox_number(struct dp_firefox *x, uint64_t n)
{
    dp_jsonout_item(&x->json);
    dp_buf_addu(&x->json.line, n);
}

void dp_firefox_ms(struct dp_firefox *x, uint64_t ns)
{
    dp_jsonout_item(&x->json);
    dp_jsonout_ms(&x->json, ns);
}

void dp_firefox_word(struct dp_firefox *x, const char *word)
{
    dp_jsonout_item(&x->json);
    dp_buf_adds(&x->json.line, word);
}

void dp_firefox_columns(struct dp_firefox *x, const struct dp_firefox_values *columns, size_t count,
                        size_t rows)
{
    for (size_t c = 0; c < count; c++) {
        dp_jsonout_key(&x->json, columns[c].key);
        dp_jsonout_open(&x->json, '[');
        for (size_t k = 0; k < rows; k++)
            if (columns[c].put)
                columns[c].put(x, k);
            else
                dp_firefox_word(x, columns[c].same);
        dp_jsonout_close(&x->json, ']');
    }
}

/* Writes a string as its number in the table of strings. */
void dp_firefox_text(struct dp_firefox *x, const char *ptr, size_t len)
{
    uint32_t n = dp_pool_intern(&x->texts, len ? ptr : "", len);
    x->err = n == DP_MAP_NONE ? DP_E_NOMEM : x->err;
    dp_firefox_number(x, n);
}

/* ---- a thread ---- */

static void put_name(struct dp_firefox *x, const struct dp_export_part *part)
{
    struct dp_buf text;
    dp_buf_init(&text);
    dp_buf_adds(&text, x->e.measures[x->measure].metric->key);
    if (part && part->tid)
        dp_buf_addf(&text, ", tid %" PRIu64, part->tid);
    dp_jsonout_text(&x->json, "name", text.ptr, text.len);
    x->err = text.err ? text.err : x->err;
    dp_buf_release(&text);
}

/* Writes the process's number, which is a string in this format. */
static void put_pid(struct dp_firefox *x, uint64_t pid)
{
    dp_jsonout_key(&x->json, "pid");
    dp_buf_addc(&x->json.line, '"');
    dp_buf_addu(&x->json.line, pid);
    dp_buf_addc(&x->json.line, '"');
}

/* Writes the identity: the pid distinguishes processes, the tid threads. The tid is the number of
 * the thread in the file, because a measure is a thread, too. */
static void put_identity(struct dp_firefox *x)
{
    const struct dp_export_how *how = x->e.p->job->export;
    const struct dp_export_part *part = dp_export_part_of(&x->e, x->lane);
    uint64_t pid = part ? part->pid : 0;
    bool is_main = !x->in_time && (!x->threads || pid != x->pid);
    const char *script = dp_firefox_script(x);
    put_name(x, how->n_parts > 1 ? part : NULL);
    dp_jsonout_text(&x->json, "processName", script, strlen(script));
    dp_jsonout_raw(&x->json, "processType", "\"default\"");
    dp_jsonout_raw(&x->json, "isMainThread", is_main ? "true" : "false");
    put_pid(x, pid);
    dp_jsonout_number(&x->json, "tid", ++x->threads);
    dp_jsonout_number(&x->json, "registerTime", 0);
    dp_jsonout_raw(&x->json, "unregisterTime", "null");
    dp_jsonout_number(&x->json, "processStartupTime", 0);
    dp_jsonout_raw(&x->json, "processShutdownTime", "null");
    dp_jsonout_raw(&x->json, "pausedRanges", "[]");
    x->pid = pid;
}

/* Writes a thread: one measure of one lane. Frames and functions are numbered while the stacks are
 * written, so their tables come after them. */
static int put_thread(struct dp_firefox *x)
{
    dp_map_clear(&x->frame_of);
    x->n_frames = x->n_funcs = 0;
    dp_jsonout_row(&x->json);
    dp_jsonout_open(&x->json, '{');
    put_identity(x);
    int rc = dp_firefox_stacks(x);
    rc = rc < 0 ? rc : dp_firefox_samples(x);
    if (rc < 0 || x->err)
        return rc < 0 ? rc : x->err;
    dp_firefox_frames(x);
    dp_firefox_funcs(x);
    rc = dp_firefox_markers(x);
    if (rc < 0)
        return rc;
    dp_jsonout_raw(&x->json, "resourceTable",
                "{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]}");
    dp_jsonout_raw(&x->json, "nativeSymbols",
                "{\"length\":0,\"address\":[],\"functionSize\":[],\"libIndex\":[],\"name\":[]}");
    dp_jsonout_close(&x->json, '}');
    x->e.p->out->lines++;
    return x->err ? x->err : x->json.out->err;
}

/* ---- threads ---- */

/* The start of the first part, in nanoseconds since 1970; 0: unknown. */
static uint64_t first_start(const struct dp_export_how *how)
{
    uint64_t first = 0;
    for (size_t k = 0; k < how->n_parts; k++)
        if (how->parts[k].start && (!first || how->parts[k].start < first))
            first = how->parts[k].start;
    return first;
}

/* Moves to the next lane. Returns false after the last one. */
static bool next_lane(struct dp_firefox *x)
{
    if (!dp_export_lane(&x->e, &x->lane))
        return false;
    const struct dp_export_part *part = dp_export_part_of(&x->e, x->lane);
    bool has_start = x->in_time && part && part->start;
    x->offset = has_start ? part->start - first_start(x->e.p->job->export) : 0;
    return true;
}

/* Writes the threads of the stacks that x->e walks through. */
static int put_threads(struct dp_firefox *x)
{
    const size_t count = x->in_time ? 1 : x->e.count;
    int rc = 0;
    x->lane = DP_STACKS_NONE;
    while (rc == 0 && next_lane(x))
        for (x->measure = 0; x->measure < count && rc == 0; x->measure++)
            rc = put_thread(x);
    return rc;
}

/* ---- counters ---- */

/* Writes the track of the current measure in a lane. thread: the number, among all threads of the
 * file, of one that belongs to the lane's process. */
static int put_counter(struct dp_firefox *x, size_t thread)
{
    struct dp_jsonout *json = &x->json;
    const struct dp_flame_metric *metric = x->e.measures[x->measure].metric;
    const struct dp_export_part *part = dp_export_part_of(&x->e, x->lane);
    dp_jsonout_row(json);
    dp_jsonout_open(json, '{');
    dp_jsonout_text(json, "name", metric->key, strlen(metric->key));
    dp_jsonout_text(json, "category", "Perl", 4);
    dp_jsonout_text(json, "description", metric->label, strlen(metric->label));
    put_pid(x, part ? part->pid : 0);
    dp_jsonout_number(json, "mainThreadIndex", thread);
    dp_jsonout_key(json, "samples");
    dp_jsonout_open(json, '{');
    int rc = dp_firefox_walk(x, "time", COLUMN_COUNT_TIME);
    rc = rc < 0 ? rc : dp_firefox_walk(x, "count", COLUMN_COUNT);
    dp_jsonout_number(json, "length", x->n_samples + 1);
    dp_jsonout_close(json, '}');
    dp_jsonout_close(json, '}');
    return rc;
}

/* Writes the counters of the stacks in order of time; threads: of each lane of the others. */
static int put_counters(struct dp_firefox *x, const struct dp_stacks_printing *timeline,
                        size_t threads)
{
    int rc = dp_export_init(&x->e, timeline);
    dp_jsonout_key(&x->json, "counters");
    dp_jsonout_open(&x->json, '[');
    x->lane = DP_STACKS_NONE;
    for (size_t lane = 0; rc == 0 && next_lane(x); lane++)
        for (x->measure = 1; x->measure < x->e.count && rc == 0; x->measure++)
            rc = put_counter(x, lane * threads);
    dp_jsonout_close(&x->json, ']');
    dp_export_release(&x->e);
    return rc;
}

/* ---- the file ---- */

/* The length of the time axis in ns: the greatest total of a time; one second if there are only
 * counts. */
static uint64_t range_of(const struct dp_export *e)
{
    uint64_t range = 0, ns;
    for (size_t k = 0; k < e->count; k++) {
        const struct dp_export_measure *m = &e->measures[k];
        uint64_t total = e->p->s->total[m->column];
        if (m->is_time && dp_num_scale(total, DP_FIREFOX_SECOND, m->hz, &ns) && ns > range)
            range = ns;
    }
    return range ? range : DP_FIREFOX_SECOND;
}

/* Lists the threads to show at first. Without the list, the page considers threads with few samples
 * idle and hides them. If there are too many threads, the page chooses. */
static void put_shown(struct dp_jsonout *json, size_t threads)
{
    if (threads > SHOWN_MAX)
        return;
    dp_jsonout_key(json, "initialVisibleThreads");
    dp_jsonout_open(json, '[');
    for (size_t k = 0; k < threads; k++) {
        dp_jsonout_item(json);
        dp_buf_addu(&json->line, k);
    }
    dp_jsonout_close(json, ']');
}

/* Writes the facts about the whole file, whose keys are those of ProfileMeta in the page's source.
 * threads: how many the file has. */
static void put_meta(struct dp_jsonout *json, const struct dp_stacks_job *job, size_t threads)
{
    dp_jsonout_key(json, "meta");
    dp_jsonout_open(json, '{');
    dp_jsonout_number(json, "version", 30);
    dp_jsonout_number(json, "preprocessedProfileVersion", FORMAT_VERSION);
    dp_jsonout_raw(json, "interval", "0.001");  /* limit of zooming in: a microsecond */
    dp_jsonout_key(json, "startTime");
    dp_jsonout_ms(json, first_start(job->export));
    dp_jsonout_number(json, "processType", 0);
    dp_jsonout_text(json, "product", job->title, strlen(job->title));
    dp_jsonout_key(json, "importedFrom");
    dp_buf_adds(&json->line, "\"Devel::DProf ");
    dp_buf_adds(&json->line, job->version);
    dp_buf_addc(&json->line, '"');
    dp_jsonout_number(json, "stackwalk", 0);
    dp_jsonout_raw(json, "debug", "false");
    dp_jsonout_raw(json, "symbolicated", "true");
    dp_jsonout_raw(json, "initialSelectedThreads", "[0]");
    dp_jsonout_raw(json, "keepProfileThreadOrder", "true");
    put_shown(json, threads);
    dp_jsonout_raw(json, "usesOnlyOneStackType", "true");
    dp_jsonout_raw(json, "doesNotUseFrameImplementation", "true");
    dp_jsonout_raw(json, "sourceCodeIsNotOnSearchfox", "true");
    dp_firefox_categories(json);
    dp_jsonout_raw(json, "markerSchema",
                "[{\"name\":\"phase\",\"tooltipLabel\":\"{marker.name}\","
                "\"tableLabel\":\"phase of the program\",\"chartLabel\":\"{marker.name}\","
                "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
                "\"fields\":[]},"
                "{\"name\":\"span\",\"tooltipLabel\":\"{marker.name}\","
                "\"tableLabel\":\"{marker.name}\",\"chartLabel\":\"{marker.name}\","
                "\"display\":[\"marker-chart\",\"marker-table\"],"
                "\"fields\":[{\"key\":\"kind\",\"label\":\"Kind\",\"format\":\"string\"}]}]");
    dp_jsonout_close(json, '}');
}

/* Writes the threads of these stacks. */
static int put_stacks_of(struct dp_firefox *x, const struct dp_stacks_printing *p)
{
    int rc = dp_export_init(&x->e, p);
    x->range = rc == 0 ? range_of(&x->e) : 0;
    rc = rc < 0 ? rc : put_threads(x);
    dp_export_release(&x->e);
    return rc;
}

/* Writes the table of strings, after all threads, which add strings to it. */
static void put_strings(struct dp_firefox *x)
{
    dp_jsonout_key(&x->json, "shared");
    dp_jsonout_open(&x->json, '{');
    dp_jsonout_key(&x->json, "stringArray");
    dp_jsonout_open(&x->json, '[');
    for (uint32_t k = 0; k < x->texts.count; k++) {
        const struct dp_name *text = dp_pool_name(&x->texts, k);
        dp_jsonout_row(&x->json);
        dp_json_string(&x->json.line, text->ptr, text->len);
    }
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_close(&x->json, '}');
}

/* Writes the file: threads of the stacks, then those in order of time with their counters, if there
 * is a trace. */
static int put_file(struct dp_firefox *x, const struct dp_stacks_printing *p)
{
    struct dp_jsonout *json = &x->json;
    dp_jsonout_open(json, '{');
    dp_jsonout_raw(json, "libs", "[]");
    dp_jsonout_key(json, "threads");
    dp_jsonout_open(json, '[');
    int rc = put_stacks_of(x, p);
    if (p->timeline && rc == 0) {
        x->in_time = true;
        rc = put_stacks_of(x, p->timeline);
    }
    dp_jsonout_close(json, ']');
    if (x->in_time && rc == 0 && p->timeline->s->n_columns > 1)
        rc = put_counters(x, p->timeline, p->s->n_columns / p->s->n_sides);
    put_strings(x);
    put_meta(json, p->job, x->threads);
    dp_jsonout_close(json, '}');
    dp_buf_addc(&json->line, '\n');
    return rc;
}

/* Prints the stacks as a profile of Firefox's Profiler, in JSON. Returns 0 or a DP_E. */
int dp_print_firefox(const struct dp_stacks_printing *p)
{
    struct dp_firefox x;
    memset(&x, 0, sizeof x);
    dp_jsonout_init(&x.json, p->sink);
    dp_pool_init(&x.texts);
    dp_map_init(&x.frame_of);
    int rc = put_file(&x, p), ended = dp_jsonout_end(&x.json);
    dp_pool_release(&x.texts);
    dp_map_release(&x.frame_of);
    dp_mem_free(x.stack);
    dp_mem_free(x.frames);
    dp_mem_free(x.funcs);
    dp_mem_free(x.markers);
    return rc < 0 ? rc : ended;
}
