/* Reads nytprof.out. The file is a line with its version, then records: each has a byte for its
 * kind, and fields. After the record z everything is packed. Calls are reported when they return,
 * with their depth. Names, places and sums by place of the call come at the end. So the tree is
 * made first, and handed over when everything is known. Files recorded with calls=0 have only the
 * sums, which are a call graph. */
#include "dp_reader_nytprof.h"
#include "dp_callgraph.h"
#include "dp_nytprof_lines.h"
#include "dp_nytprof_name.h"
#include "dp_nytprof_record.h"
#include "dp_returns.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <math.h>
#include <string.h>

enum {
    MAJOR = 5                   /* version of the format */
};

static const char magic[] = "NYTProf ";

struct sub {
    uint32_t file;              /* 0: unknown */
    uint32_t line, last;
    bool defined, xs, called;
    uint32_t number;            /* the consumer's number if the sub is called; DP_SUB_NONE: the
                                 * program itself */
    uint32_t function;          /* in the call graph, from 1 up */
    int64_t own;                /* ticks, from the sums */
};

/* The values of contexts. */
enum { CALLS, TIME, KINDS };

struct nytprof {
    struct dp_pool names;       /* of subs */
    struct sub *subs;           /* by number of the name */
    size_t subs_cap;
    struct dp_pool files;
    struct dp_map file_of;      /* number of a file -> name + 1 */
    struct dp_returns calls;
    struct dp_callgraph graph;
    uint64_t returns, sums;     /* number of calls that returned, and of those in the sums by
                                 * place */
    uint64_t hz;
    bool cpu;                   /* the clock is the CPU's */
    bool swapped;               /* times have the other byte order */
    bool packed;
    double began, lasted;       /* seconds, of the processes */
    struct dp_nytprof_lines lines;
    int64_t statements;         /* ticks */
    bool has_statements;
    bool counted;               /* the next statement continues after a call */
    uint32_t alive, started;    /* number of processes */
    const char *cut;            /* where the file was cut; NULL: the file is complete */
    uint32_t *nodes;            /* the consumer's number, by ours */
};


/* Recognizes the format. The first line has the format's two numbers, and the next one is a comment
 * or an option. Otherwise it is a folded stack of a sub NYTProf, with one or two counts. */
static bool is_nytprof(const char *ptr, size_t len)
{
    size_t i = strlen(magic);
    if (len <= i || memcmp(ptr, magic, i) != 0 || !dp_is_digit(ptr[i]))
        return false;
    while (i < len && dp_is_digit(ptr[i]))
        i++;
    if (i + 1 >= len || ptr[i] != ' ' || !dp_is_digit(ptr[i + 1]))
        return false;
    const char *nl = memchr(ptr + i, '\n', len - i);
    size_t next = nl ? (size_t)(nl + 1 - ptr) : len;
    return next >= len || ptr[next] == '#' || ptr[next] == ':' || ptr[next] == '!';
}

/* ---- names and files ---- */

/* Finds or makes the sub with a name. *sub: its number. */
static int sub_of(struct dp_reader *r, struct nytprof *in, struct dp_text name, uint32_t *sub)
{
    *sub = dp_pool_intern(&in->names, name.ptr, name.len);
    if (*sub == DP_MAP_NONE
        || dp_mem_grow_cleared((void **)&in->subs, &in->subs_cap, (size_t)*sub + 1,
                               sizeof *in->subs) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    if (*sub >= DP_LIMIT_IDS)
        return dp_import_error(r, DP_E_LIMIT);
    return 0;
}

/* Keeps the name of a file under its number, by which other records refer to the file. */
static int read_file_record(struct dp_reader *r, struct nytprof *in,
                            const struct dp_nytprof_record *rec)
{
    uint32_t name = dp_pool_intern(&in->files, rec->s[0].ptr, rec->s[0].len);
    if (name == DP_MAP_NONE)
        return dp_import_error(r, DP_E_NOMEM);
    if (name >= DP_LIMIT_IDS)
        return dp_import_error(r, DP_E_LIMIT);
    struct dp_map_slot *slot = dp_map_put(&in->file_of, rec->u[0]);
    if (!slot)
        return dp_import_error(r, DP_E_NOMEM);
    slot->value = name + 1;
    return 0;
}

/* Reads a sub. Subs of string evals may come several times; the first file's place is kept, as in
 * NYTProf. */
static int read_sub_record(struct dp_reader *r, struct nytprof *in,
                           const struct dp_nytprof_record *rec)
{
    uint32_t n;
    int rc = sub_of(r, in, rec->s[0], &n);
    if (rc < 0)
        return rc;
    struct sub *sub = &in->subs[n];
    if (sub->defined && sub->file <= rec->u[0])
        return 0;
    sub->defined = true;
    sub->file = rec->u[0];
    sub->line = rec->u[1];
    sub->last = rec->u[2];
    return 0;
}

/* ---- calls ---- */

/* Rounds a time in ticks. Returns 0, or a DP_E if it is out of range. */
static int ticks_of(struct dp_reader *r, double v, int64_t *out)
{
    if (!(v < (double)DP_LIMIT_INTERVAL && v > -(double)DP_LIMIT_INTERVAL))
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "the time of a call is %g ticks", v);
    *out = (int64_t)floor(v + 0.5);
    return 0;
}

/* Adds a call that has returned. The record does not say who called: dp_returns finds callers by
 * the depth. */
static int read_return_record(struct dp_reader *r, struct nytprof *in,
                              const struct dp_nytprof_record *rec)
{
    uint32_t sub;
    int64_t ticks = 0;
    int rc = sub_of(r, in, rec->s[0], &sub);
    if (rc == 0)
        rc = ticks_of(r, rec->n[1], &ticks);
    if (rc == 0)
        rc = dp_returns_add(&in->calls, rec->u[0], sub, ticks);
    in->returns++;
    return rc < 0 ? dp_import_error(r, rc) : 0;
}

/* Finds or makes the function of a sub in the call graph. */
static int function_of(struct dp_reader *r, struct nytprof *in, uint32_t sub, uint32_t *out)
{
    if (!in->subs[sub].function) {
        int64_t n = dp_callgraph_function(&in->graph);
        if (n < 0)
            return dp_import_error(r, (int)n);
        in->subs[sub].function = (uint32_t)n + 1;
    }
    *out = in->subs[sub].function - 1;
    return 0;
}

/* Returns ticks as nanoseconds. */
static uint64_t ns_of(const struct nytprof *in, int64_t ticks)
{
    uint64_t ns;
    if (ticks <= 0)             /* NYTProf subtracts its own time, and sometimes more than that */
        return 0;
    return dp_num_scale((uint64_t)ticks, 1000000000, in->hz, &ns) ? ns : DP_LIMIT_TOTAL;
}

/* Adds calls and their inclusive time to the call graph, which replaces the tree if the file has no
 * single calls. */
static int add_edge(struct dp_reader *r, struct nytprof *in, uint32_t caller, uint32_t callee,
                    const uint64_t *values)
{
    uint32_t from, to;
    int rc = function_of(r, in, caller, &from);
    if (rc == 0)
        rc = function_of(r, in, callee, &to);
    if (rc < 0)
        return rc;
    int64_t edge = dp_callgraph_edge(&in->graph, from, to);
    if (edge < 0)
        return dp_import_error(r, DP_E_NOMEM);
    rc = dp_callgraph_add(&in->graph, in->graph.inclusive + (size_t)edge * KINDS, values);
    return rc < 0 ? dp_reader_fail(r, rc, 0, "the times add up to more than fits") : 0;
}

/* Reads the sums of calls from a place. A place without a file means that the sub is an XS sub.
 * Inclusive times of calls within calls of the same sub are separate in the file, and not
 * needed. */
static int read_sums_record(struct dp_reader *r, struct nytprof *in,
                            const struct dp_nytprof_record *rec)
{
    uint32_t caller = 0, callee = 0;
    int64_t inclusive = 0, own = 0;
    int rc = sub_of(r, in, rec->s[1], &callee);
    if (rc == 0 && !rec->u[0] && !rec->u[1])
        return in->subs[callee].xs = true, 0;
    if (rc == 0)
        rc = sub_of(r, in, rec->s[0], &caller);
    if (rc == 0)
        rc = ticks_of(r, rec->n[0] * (double)in->hz, &inclusive);
    if (rc == 0)
        rc = ticks_of(r, rec->n[1] * (double)in->hz, &own);
    if (rc < 0)
        return rc;
    in->sums = dp_count_add(in->sums, rec->u[2]);
    in->subs[callee].own += own;
    if (in->subs[callee].own >= (int64_t)DP_LIMIT_TOTAL
        || in->subs[callee].own <= -(int64_t)DP_LIMIT_TOTAL)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "the times add up to more than fits");
    uint64_t values[KINDS] = { [CALLS] = rec->u[2], [TIME] = ns_of(in, inclusive) };
    return add_edge(r, in, caller, callee, values);
}

/* Adds the time of a statement, which is negative if NYTProf has subtracted too much. */
static int read_time_record(struct dp_reader *r, struct nytprof *in,
                            const struct dp_nytprof_record *rec)
{
    in->has_statements = true;
    in->statements += (int32_t)rec->u[0];
    if (in->statements >= (int64_t)DP_LIMIT_TOTAL || in->statements <= -(int64_t)DP_LIMIT_TOTAL)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "the times add up to more than fits");
    int rc = dp_nytprof_lines_add(&in->lines, rec->u[1], rec->u[2], (int32_t)rec->u[0],
                                  in->counted);
    in->counted = false;
    return rc < 0 ? dp_import_error(r, rc) : 0;
}

/* ---- processes ---- */

static bool is_date(double v)
{
    return v > 1e8 && v < 1e11;
}

/* Notes that a process has begun or ended. The file is complete if all processes have ended. Their
 * durations are needed for a file without statements. */
static void read_process_record(struct nytprof *in, const struct dp_nytprof_record *rec)
{
    if (rec->tag == 'P') {
        in->began = rec->n[0];
        /* the first time shows the other byte order of another machine */
        if (!in->started && !is_date(in->began) && is_date(dp_nytprof_swapped(in->began))) {
            in->swapped = !in->swapped;
            in->began = dp_nytprof_swapped(in->began);
        }
        in->started++;
        in->alive++;
        return;
    }
    double seconds = rec->n[0] - in->began;
    if (seconds > 0 && seconds < 1e9)
        in->lasted += seconds;
    in->alive -= in->alive > 0;
}

/* ---- lines of text ---- */

/* Is the line KEY=VALUE with this key? Sets the value. */
static bool is_key(struct dp_text line, const char *key, struct dp_text *value)
{
    size_t n = strlen(key);
    if (line.len <= n || memcmp(line.ptr, key, n) != 0 || line.ptr[n] != '=')
        return false;
    *value = (struct dp_text){ line.ptr + n + 1, line.len - n - 1 };
    return true;
}

/* Adds a variable to the profile's header. Returns 0 or a DP_E. */
static int keep_variable(struct dp_reader *r, const char *name, struct dp_text value)
{
    dp_buf_clear(&r->ids.scratch);
    dp_buf_add(&r->ids.scratch, value.ptr, value.len);
    const char *str = dp_buf_cstr(&r->ids.scratch);
    int rc = r->ids.scratch.err ? DP_E_NOMEM : dp_header_add(r->head, name, str);
    return rc < 0 ? dp_import_error(r, DP_E_NOMEM) : 0;
}

/* Reads a clock's number, as clock_gettime(2) defines it. */
static int clock_id(struct dp_reader *r, struct nytprof *in, struct dp_text v)
{
    static const char *const names[] = { "realtime", "monotonic", "cpu", "cpu" };
    size_t n = v.len == 1 && *v.ptr >= '0' ? (size_t)(*v.ptr - '0') : DP_ARRAY_LEN(names);
    if (n >= DP_ARRAY_LEN(names))
        return 0;
    in->cpu = in->cpu || n >= 2;
    return keep_variable(r, "dprof_clock", (struct dp_text){ names[n], strlen(names[n]) });
}

/* Reads NAME=VALUE. Some attributes define the unit or the size of times; some become variables of
 * the header; the others are ignored. */
static int read_attribute(struct dp_reader *r, struct nytprof *in, struct dp_text line)
{
    struct dp_text v;
    uint64_t n;
    if (is_key(line, "ticks_per_sec", &v)) {
        if (!dp_num_dec(v.ptr, v.len, &in->hz) || !in->hz || in->hz > DP_LIMIT_HZ)
            return dp_reader_fail(r, DP_E_SYNTAX, 0, "this is no number of ticks per second: %.*s",
                                  v.len > 40 ? 40 : (int)v.len, v.ptr);
    } else if (is_key(line, "nv_size", &v)) {
        if (!dp_num_dec(v.ptr, v.len, &n) || n != sizeof(double))
            return dp_reader_fail(r, DP_E_VERSION, 0,
                                  "its times are numbers of %.*s bytes, as perls with long doubles"
                                  " write them; only those of 8 can be read",
                                  v.len > 9 ? 9 : (int)v.len, v.ptr);
    } else if (is_key(line, "clock_id", &v)) {
        return clock_id(r, in, v);
    } else if (is_key(line, "application", &v)) {
        return keep_variable(r, "dprof_script", v);
    } else if (is_key(line, "perl_version", &v)) {
        return keep_variable(r, "dprof_perl", v);
    } else if (is_key(line, "basetime", &v)) {
        return keep_variable(r, "dprof_start", v);
    }
    return 0;
}

/* Reads a record that is a line: `:NAME=VALUE`, `!OPTION=VALUE` or `#COMMENT`. Most are skipped.
 * Returns 0 or a DP_E. */
static int read_text_record(struct dp_reader *r, struct nytprof *in)
{
    long len = dp_reader_whole_line(r);
    if (len < 0)
        return len == -1 ? DP_E_TRUNCATED : r->err->code;
    const char *p = r->in.buf + r->in.pos;
    struct dp_text line = { p + 1, (size_t)len - 1 }, v;
    int rc = *p == ':' ? read_attribute(r, in, line) : 0;
    if (*p == '!' && is_key(line, "usecputime", &v))
        in->cpu = in->cpu || v.len != 1 || *v.ptr != '0';
    if (*p == '!' && is_key(line, "slowops", &v) && (v.len != 1 || *v.ptr != '0'))
        rc = keep_variable(r, "dprof_options", (struct dp_text){ "builtins=slow", 13 });
    r->in.pos += (size_t)len + 1;
    return rc;
}

/* Checks the first line. A file with another major version has other records, and is refused. */
static int read_version_line(struct dp_reader *r)
{
    long len = dp_reader_whole_line(r);
    if (len < -1)
        return r->err->code;
    const char *p = r->in.buf + r->in.pos + strlen(magic);
    const char *blank = len < 0 ? NULL : memchr(p, ' ', (size_t)len - strlen(magic));
    uint64_t major;
    if (!blank || !dp_num_dec(p, (size_t)(blank - p), &major))
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "this is no version of NYTProf's format");
    if (major != MAJOR)
        return dp_reader_fail(r, DP_E_VERSION, 0,
                              "this is version %llu of NYTProf's format; version %d can be read",
                              (unsigned long long)major, MAJOR);
    r->in.pos += (size_t)len + 1;
    return 0;
}

/* ---- the file ---- */

/* Unpacks everything that follows. */
static int unpack_rest(struct dp_reader *r, struct nytprof *in)
{
    if (in->packed)
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "packed records within packed records");
    in->packed = true;
    r->in.pos++;
    int rc = dp_source_zlib(r->in.src, r->in.buf + r->in.pos, r->in.end - r->in.pos, r->err);
    r->in.base += r->in.pos;
    r->in.pos = r->in.end = 0;
    r->in.at_end = r->in.cut = false;
    return rc;
}

/* Evaluates a record. Kinds of records that no view needs are ignored. */
static int evaluate_record(struct dp_reader *r, struct nytprof *in,
                           const struct dp_nytprof_record *rec)
{
    switch (rec->tag) {
    case '+':
    case '*':
        return read_time_record(r, in, rec);
    case '-':
        in->counted = true;
        return 0;
    case '@':
        return read_file_record(r, in, rec);
    case '<':
        return read_return_record(r, in, rec);
    case 's':
        return read_sub_record(r, in, rec);
    case 'c':
        return read_sums_record(r, in, rec);
    case 'P':
    case 'p':
        read_process_record(in, rec);
    }
    return 0;
}

/* Reads the next record, which may be a line of text. Returns DP_E_TRUNCATED, without moving on, if
 * the file ends within the record. */
static int read_record(struct dp_reader *r, struct nytprof *in)
{
    char tag = r->in.buf[r->in.pos];
    struct dp_nytprof_record rec;
    if (tag == ':' || tag == '!' || tag == '#')
        return read_text_record(r, in);
    if (tag == 'z')
        return unpack_rest(r, in);
    int rc = dp_nytprof_record(r, in->swapped, &rec);
    if (rc == 0)
        rc = evaluate_record(r, in, &rec);
    if (rc == 0)
        r->in.pos += rec.len;
    return rc;
}

/* Reads all records. A file that breaks off is no error here: in->cut says how it ends, and
 * read_body reports this after everything else was handed over. */
static int read_all_records(struct dp_reader *r, struct nytprof *in)
{
    int rc;
    r->in.line = 0;             /* there are bytes only */
    while ((rc = dp_nytprof_need(r, 1)) == 0)
        if ((rc = read_record(r, in)) < 0)
            break;
    if (rc != DP_E_TRUNCATED)
        return rc;
    if (r->in.cut)
        in->cut = "the compressed data break off";
    else if (r->in.end > r->in.pos)
        in->cut = "the file ends within a record";
    else if (in->alive || !in->started)
        in->cut = "the recording did not come to its end";
    r->in.cut = false;          /* reported after the contexts */
    return 0;
}

/* Reads the whole file, because the names of subs and the sums of calls come at its end. Then makes
 * the header: the kinds of values are calls, and times of the clock that was used. */
static int read_head(struct dp_reader *r)
{
    struct nytprof *in = r->import.state = dp_mem_zalloc(sizeof *in);
    if (!in)
        return dp_import_error(r, DP_E_NOMEM);
    dp_pool_init(&in->names);
    dp_pool_init(&in->files);
    dp_map_init(&in->file_of);
    dp_returns_init(&in->calls);
    dp_callgraph_init(&in->graph);
    dp_nytprof_lines_init(&in->lines);
    in->graph.width = KINDS;
    in->hz = 1000000;           /* older files lack it */
    int rc = read_version_line(r);
    if (rc == 0)
        rc = read_all_records(r, in);
    if (rc == 0 && (rc = dp_returns_end(&in->calls)) < 0)
        dp_import_error(r, rc);
    if (rc == 0)
        rc = dp_import_value(r, (struct dp_text){ "calls", 5 }, (struct dp_text){ "", 0 });
    if (rc == 0)
        rc = dp_import_value(r, (struct dp_text){ in->cpu ? "cpu" : "wall", in->cpu ? 3 : 4 },
                             (struct dp_text){ "ns", 2 });
    return rc < 0 ? rc : dp_import_header(r, 1);
}

/* ---- handing over ---- */

/* The name of a file's number; len 0: none. */
static struct dp_text file_name(const struct dp_reader *r, uint32_t number)
{
    const struct nytprof *in = r->import.state;
    const struct dp_map_slot *slot = number ? dp_map_find(&in->file_of, number) : NULL;
    return slot ? dp_nytprof_file(dp_import_name(&in->files, slot->value - 1))
                : (struct dp_text){ "", 0 };
}

/* Hands over sub n, and keeps its consumer's number. */
static int give_sub(struct dp_reader *r, struct nytprof *in, uint32_t n)
{
    const struct dp_name *name = dp_pool_name(&in->names, n);
    struct sub *sub = &in->subs[n];
    struct dp_text file = file_name(r, sub->file);
    struct dp_subdef def;
    dp_reader_subdef(&def, (struct dp_text){ "", 0 });
    if (file.len && sub->line) {
        def.file = file;
        def.line = sub->line;
    }
    def.xs = sub->xs;
    def.id = n + 1;
    dp_nytprof_name(&def, (struct dp_text){ name->ptr, name->len });
    return dp_reader_sub(r, &def, &sub->number);
}

/* Is this NYTProf's name for the main program as a caller? */
static bool is_main(const struct dp_name *name)
{
    static const char *const ends[] = { "::RUNTIME", "::NULL" };
    for (size_t i = 0; i < DP_ARRAY_LEN(ends); i++) {
        size_t n = strlen(ends[i]);
        if (name->len > n && memcmp(name->ptr + name->len - n, ends[i], n) == 0)
            return true;
    }
    return false;
}

/* Hands over subs in the order of their first return. It is the order of compilation where that
 * matters: for BEGIN blocks on one line. */
static int give_subs(struct dp_reader *r, struct nytprof *in, bool graph)
{
    int rc = 0;
    for (uint32_t n = 0; !graph && (n = dp_returns_next(&in->calls, n)) != 0;)
        in->subs[in->calls.nodes[n].sub].called = true;
    for (uint32_t n = 0; rc == 0 && n < in->names.count; n++) {
        struct sub *sub = &in->subs[n];
        if (!graph && !sub->called)
            continue;
        if (graph && !sub->function)
            continue;
        sub->number = DP_SUB_NONE;
        if (!graph || !is_main(dp_pool_name(&in->names, n)) || sub->own)
            rc = give_sub(r, in, n);
        if (graph)
            in->graph.functions[sub->function - 1].sub = sub->number;
    }
    return rc;
}

/* The program's own time: that of the statements or, if there are none, of the processes, minus
 * that of the subs. */
static int64_t own_ticks(const struct nytprof *in, bool graph)
{
    int64_t left = in->has_statements ? in->statements
            : (int64_t)floor(in->lasted * (double)in->hz + 0.5);
    for (uint32_t n = 0; !graph && (n = dp_returns_next(&in->calls, n)) != 0;)
        left -= in->calls.nodes[n].ticks;
    for (size_t n = 0; graph && n < in->names.count; n++)
        left -= in->subs[n].own;
    return left;
}

/* Hands a node of the tree of calls to the consumer: its sub, its calls and its time. */
static int give_context(struct dp_reader *r, struct nytprof *in, uint32_t n)
{
    const struct dp_returns_node *node = &in->calls.nodes[n];
    int64_t number = dp_import_enter(r, in->nodes[node->parent], in->subs[node->sub].number);
    if (number < 0)
        return (int)number;
    in->nodes[n] = (uint32_t)number;
    uint64_t values[KINDS] = { [CALLS] = node->calls, [TIME] = ns_of(in, node->ticks) };
    return dp_import_add(r, (uint32_t)number, values);
}

/* Hands over the contexts of the tree, callers before callees. */
static int give_tree(struct dp_reader *r, struct nytprof *in)
{
    int rc = 0;
    in->nodes = dp_mem_zalloc((in->calls.count + 1) * sizeof *in->nodes);
    if (!in->nodes)
        return dp_import_error(r, DP_E_NOMEM);
    for (uint32_t n = 0; rc == 0 && (n = dp_returns_next(&in->calls, n)) != 0;)
        rc = give_context(r, in, n);
    return rc;
}

/* Divides the graph of callers and callees into a tree, and hands that to the consumer. */
static int give_graph(struct dp_reader *r, struct nytprof *in)
{
    for (size_t n = 0; n < in->names.count; n++)
        if (in->subs[n].function)
            in->graph.own[(in->subs[n].function - 1) * KINDS + TIME] = ns_of(in, in->subs[n].own);
    return dp_callgraph_contexts(r, &in->graph);
}

/* Hands over the lines of the statements, each with the innermost sub around it. Only subs that the
 * consumer has, and whose lines are known, are found. graph: the consumer has the subs of the call
 * graph, else those of the tree. Returns 0 or a DP_E. */
static int give_lines(struct dp_reader *r, struct nytprof *in, bool graph)
{
    struct dp_nytprof_range *ranges = dp_mem_realloc(NULL, in->names.count + 1, sizeof *ranges);
    size_t n = 0;
    for (uint32_t i = 0; ranges && i < in->names.count; i++) {
        const struct sub *sub = &in->subs[i];
        bool given = (graph ? sub->function > 0 : sub->called) && sub->number != DP_SUB_NONE;
        if (given && sub->file && sub->line && sub->last >= sub->line)
            ranges[n++] = (struct dp_nytprof_range){ sub->file, sub->line, sub->last, sub->number };
    }
    int rc = ranges ? dp_nytprof_lines_subs(&in->lines, ranges, n) : DP_E_NOMEM;
    dp_mem_free(ranges);
    return rc < 0 ? dp_import_error(r, rc) : dp_nytprof_lines_give(r, &in->lines, file_name);
}

/* Hands over what read_head has read: as a tree or, if the sums have more calls than have returned
 * one by one, as a call graph. */
static int read_body(struct dp_reader *r)
{
    struct nytprof *in = r->import.state;
    bool graph = in->sums > in->returns;
    uint64_t own[KINDS] = { [TIME] = ns_of(in, own_ticks(in, graph)) };
    int rc = give_subs(r, in, graph);
    if (rc == 0)
        rc = dp_import_add(r, 0, own);
    if (rc == 0)
        rc = graph ? give_graph(r, in) : give_tree(r, in);
    if (rc == 0)
        rc = give_lines(r, in, graph);
    return rc == 0 && in->cut ? dp_reader_fail(r, DP_E_TRUNCATED, 0, "%s", in->cut) : rc;
}

/* Frees what read_head has made (dp_import_format.release). */
static void release_state(void *state)
{
    struct nytprof *in = state;
    if (!in)
        return;
    dp_pool_release(&in->names);
    dp_pool_release(&in->files);
    dp_map_release(&in->file_of);
    dp_returns_release(&in->calls);
    dp_callgraph_release(&in->graph);
    dp_nytprof_lines_release(&in->lines);
    dp_mem_free(in->subs);
    dp_mem_free(in->nodes);
    dp_mem_free(in);
}

const struct dp_import_format dp_import_nytprof = {
    "nytprof", is_nytprof, read_head, read_body, release_state
};
