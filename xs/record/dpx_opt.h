/* The options of the recorder. A new option needs a row of DPX_OPTIONS, and the code that uses
 * it. */
#ifndef DPX_OPT_H
#define DPX_OPT_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dprof/lines.h"

enum { DPX_BUFFER = 1 << 14 };  /* marks in memory by default */

enum dpx_follow { DPX_HEAP_NO, DPX_HEAP_EXACT, DPX_HEAP_SAMPLE };
enum dpx_start { DPX_START_BEGIN, DPX_START_MAIN, DPX_START_MARK, DPX_START_NO };

/* The options, in the order of the help: X(KIND, field, name, help, fields of struct option ...).
 * The list makes the struct, the import list, the environment, the help, the suggestions for an
 * unknown option, the copies of texts and the line of the header. Numbers and sizes are from .least
 * to .most; sizes take K, M and G. The words of a CHOICE stand in the order of their numbers. An
 * option that is not given is .otherwise; a TEXT is NULL. */
#define DPX_OPTIONS(X) \
    X(CHOICE, tree, "mode", "every call, or sums by calling context", \
      .choices = "trace\0tree\0") \
    X(TEXT, out, "out", "file; %p: process, %t: thread, %n: program [tmon.out]", \
      .classic = "PERL_DPROF_OUT_FILE_NAME", .names = "FILE") \
    X(NUMBER, ticks, "ticks", "ticks a second in the file", \
      .least = 1, .most = 1000000000, .otherwise = DP_FMT_HZ_RECORDED) \
    X(NUMBER, buffer, "buffer", "marks kept in memory; 0 writes each at once", \
      .most = UINT64_C(1) << 27, .otherwise = DPX_BUFFER) \
    X(SIZE, limit, "limit", "bytes of a trace; it goes on as a tree", \
      .most = UINT64_MAX / 2, .otherwise = UINT64_C(1) << 30) \
    X(NUMBER, contexts, "contexts", "contexts of a tree; further ones are folded", \
      .least = 16, .most = UINT64_C(1) << 24, .otherwise = 1000000) \
    X(NUMBER, callsites, "callsites", "1: a tree tells callers apart by file and line", .most = 1) \
    X(CHOICE, lines, "lines", "a tree also has what each statement costs", \
      .choices = DP_LINES_LIST(DPX_OPTION_WORD), .bare = "time") \
    X(NUMBER, sample, "sample", "samples a second of what runs, in place of calls", \
      .most = 100000) \
    X(NUMBER, source, "source", "1: with lines, the sources' text, too", .most = 1) \
    X(NUMBER, ops, "ops", "0: a tree does not count the ops executed", \
      .most = 1, .otherwise = 1) \
    X(CHOICE, fork, "fork", "are forked children recorded, too?", \
      .choices = "no\0yes\0", .otherwise = 1) \
    X(CHOICE, threads, "threads", "are threads recorded, too?", \
      .choices = "no\0yes\0", .otherwise = 1) \
    X(CHOICE, start, "start", "at once, from main or a mark on, or when told", \
      .choices = "begin\0main\0mark\0no\0") \
    X(TEXT, only, "only", "a regex: subs that do not match are not recorded", .told = true) \
    X(TEXT, skip, "skip", "a regex: subs that match are not recorded", .told = true) \
    X(TEXT, events, "events", "counters: instructions+cache-misses; ops, svs, bytes") \
    X(CHOICE, heap, "heap", "memory by the place that took it: each value, or sampled blocks", \
      .choices = "no\0exact\0sample\0") \
    X(SIZE, heap_interval, "heap-interval", "heap=sample: bytes from one sample to the next", \
      .least = 1, .most = UINT64_C(1) << 30, .otherwise = UINT64_C(256) << 10) \
    X(NUMBER, heap_types, "heap-types", "1: heap= also says what the values are: HASH (Class)", \
      .most = 1) \
    X(NUMBER, heap_holders, "heap-holders", "heap=: who holds values of the N places that grow", \
      .most = 1000) \
    X(CHOICE, builtins, "builtins", "print, sort, match, system, ... as CORE:name", \
      .choices = "no\0slow\0") \
    X(TEXT, detail, "detail", "what calls are about: sql+http+template+command+file+regex", \
      .told = true, .bare = DPX_DETAIL_BARE) \
    X(NUMBER, span_texts, "span-texts", "texts of each kind of detail; further ones are `other`", \
      .least = 1, .most = 50000, .otherwise = 10000) \
    X(NUMBER, span_length, "span-length", "bytes of such a text; longer ones are cut", \
      .least = 16, .most = 16384, .otherwise = 2048) \
    X(NUMBER, compress, "compress", "gzip the file; 1 is fast, 9 small, 0 plain", .most = 9) \
    X(NUMBER, checkpoint, "checkpoint", "seconds after which a tree is written again", \
      .most = UINT64_C(1) << 31) \
    X(NUMBER, slice, "slice", "seconds of a tree in one file of the spool", \
      .most = UINT64_C(1) << 31, .places = true) \
    X(TEXT, spool, "spool", "directory of slices [tmon.spool, with slice=]", \
      .names = "DIRECTORY") \
    X(SIZE, spool_limit, "spool-limit", "bytes of the spool; the oldest slices go", \
      .most = UINT64_MAX / 2, .otherwise = UINT64_C(1) << 30, .places = true) \
    X(TEXT, signal, "signal", "USR1 or another: has a running process write its file") \
    X(TEXT, toggle, "toggle", "USR2 or another: stops recording, and starts it again") \
    X(NUMBER, layout, "layout", "for comparisons: each number has data lie elsewhere", \
      .most = UINT64_C(1) << 31) \
    X(TEXT, clock, "clock", "tsc, cntvct, monotonic; counting[:NS] is for tests")

/* The kinds of the bare option detail. */
#define DPX_DETAIL_BARE "sql+http+template+command"

/* Options that do not go together: X(when, message). */
#define DPX_CLASHES(X) \
    X(o->sample && o->tree && o->lines, \
      "lines looks at each statement, and sample= samples them; leave one out") \
    X(o->sample && !o->tree && o->builtins, \
      "sample= names builtins anyway; leave builtins= out") \
    X(o->lines && !(o->sample || o->tree || o->slice || o->spool), \
      "lines needs a tree: -d:DProf=tree,lines") \
    X(o->source && !(o->sample || o->lines), \
      "source=1 needs lines: -d:DProf=tree,lines,source=1") \
    X(o->heap == DPX_HEAP_EXACT && !o->tree, \
      "heap=exact needs a tree: -d:DProf=tree,heap=exact") \
    X(o->heap_types && !o->heap, \
      "heap-types=1 needs heap=: -d:DProf=tree,heap=sample,heap-types=1") \
    X(o->heap_holders && !o->heap, \
      "heap-holders=N needs heap=: -d:DProf=tree,heap=sample,heap-holders=10") \
    X(o->heap == DPX_HEAP_SAMPLE && !(o->tree || o->sample || o->slice || o->spool), \
      "heap=sample needs a tree or sample=: -d:DProf=tree,heap=sample") \
    X(o->heap == DPX_HEAP_EXACT && (o->slice || o->spool), \
      "heap=exact follows values from the beginning to the end; leave slice= and spool= out") \
    X(o->heap == DPX_HEAP_EXACT && o->sample, \
      "heap=exact looks at each op, and sample= does not; leave one out") \
    X(o->out && (o->slice || o->spool), \
      "out= and spool= both say where profiles go; leave one out")

#define DPX_OPTION_WORD(id, word) word "\0"
#define DPX_OPTION_NUMBER uint64_t
#define DPX_OPTION_SIZE uint64_t
#define DPX_OPTION_CHOICE uint64_t
#define DPX_OPTION_TEXT const char *
#define DPX_OPTION_FIELD(kind, field, ...) DPX_OPTION_##kind field;
struct dpx_options { DPX_OPTIONS(DPX_OPTION_FIELD) };

/* Sets the defaults. */
void dpx_options_init(struct dpx_options *opt);

/* Takes NAME=VALUE, or a bare word that says enough (tree, trace). The strings are borrowed.
 * Returns 0, or DP_E_ARG with a message that says what the user may have meant. */
int dpx_options_take(struct dpx_options *opt, const char *item, struct dp_err *err);

/* Takes the options of the environment: PERL_DPROF_NAME for each option, and the classic names.
 * safe: takes only those that cannot make a privileged program write elsewhere. Returns 0, or
 * DP_E_ARG with the reason in err. */
int dpx_options_environment(struct dpx_options *opt, bool safe, struct dp_err *err);

/* Returns why the options do not go together; NULL: they do. */
const char *dpx_options_clash(const struct dpx_options *opt);

/* Writes the list as a help for people. */
void dpx_options_help(struct dp_buf *to);

/* Copies the texts, for the life of the process. Returns 0 or DP_E_NOMEM. */
int dpx_options_keep(struct dpx_options *opt);

/* Writes the options in force as assignments of a header line: $dprof_options, which has no texts,
 * and those texts that say what was recorded. */
void dpx_options_header(const struct dpx_options *opt, struct dp_buf *to);

#endif
