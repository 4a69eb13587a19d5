/* Profiles: reads files into an opaque model, and gives access to its contents; merges and writes
 * it. */
#ifndef DPROF_PROFILE_H
#define DPROF_PROFILE_H

#include "dprof/error.h"
#include "dprof/list.h"
#include "dprof/metric.h"

struct dp_prof;
struct dp_names;

/* Functions of the host that the core calls. Each returns 0, or a negative number to stop. progress
 * may be NULL. */
struct dp_host {
    void *ctx;
    int (*write)(void *ctx, const void *ptr, size_t len);
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
};

enum dp_read { DP_FORCE = 1 };  /* exits without an entry are skipped, not refused */

/* A line of folded stacks that could not be read. */
#define DP_FAULT_FIELDS(X) X(TEXT, message) X(COUNT, line) X(COUNT, byte)
struct dp_fault { DP_FAULT_FIELDS(DP_MEMBER) };

enum { DP_FAULTS = 10 };

#define DP_OUTCOME_FIELDS(X) \
    X(TEXT, path)               /* borrowed, like all here: until the next file is added */ \
    X(CODE, code)               /* 0, or a code of dp_err.h */ \
    X(CODE, sys_errno)          /* if the file could not be opened */ \
    X(TEXT, message)            /* "" for code 0 */ \
    X(COUNT, line) X(COUNT, byte)       /* 0, 0: no place */ \
    X(COUNT, marks) \
    X(COUNT, contexts)          /* lines of a tree, folded stacks, or samples of other tools */ \
    X(FLAG, tree)               /* the file, or its end, is a tree */ \
    X(FLAG, folded)             /* it is text of folded stacks */ \
    X(FLAG, when)               /* it is a tree of samples that says when they were taken */ \
    X(FLAG, slice)              /* it is a slice */ \
    X(FLAG, foreign)            /* it is another tool's file */ \
    X(COUNT, fault_count)       /* number of lines or values left out: code is that of the first, \
                                 * unless there is another error */ \
    X(COUNT, open_count)        /* number of frames that were still running at the end */
struct dp_outcome {
    DP_OUTCOME_FIELDS(DP_MEMBER)
    struct dp_fault fault[DP_FAULTS];   /* as many as fit */
    const uint32_t *open_subs;  /* the first open_listed of them, outermost first */
    size_t open_listed;
    const uint32_t *odd;        /* pairs: the sub that an exit names, and the sub that it ended */
    size_t odd_pairs;
};

/* ---- profiles ---- */

/* Makes an empty profile; NULL when memory is short. */
struct dp_prof *dp_prof_new(void);
void dp_prof_free(struct dp_prof *prof);
/* Before the first file: traces also provide longest and shortest calls and histograms (which costs
 * time), and the profile can be merged or written. */
void dp_prof_detail(struct dp_prof *prof);
/* Before the first file: separates phases. Each is a kid of the root, like a sub with the name
 * "(main)", and its contexts are below. */
void dp_prof_phases(struct dp_prof *prof);
/* Before the first file: leaves out the phase BEGIN, before the main program: times, calls,
 * counters, and all histograms, which have no phases. Files without phases are kept whole. */
void dp_prof_only_main(struct dp_prof *prof);
/* Before the first file: declares the unit of the counts of folded stacks: s, ms, us, ns, calls, or
 * any other word (letters, digits, _ and -) for a count. Returns 0, or DP_E_ARG: it is no such
 * word. */
int dp_prof_declare_unit(struct dp_prof *prof, const char *unit);
/* Before the first file: makes contexts stretches of time, in order, which are not added up: for a
 * flame chart of that time. */
void dp_prof_chart(struct dp_prof *prof, enum dp_metric time);
/* Before the first file: allows folded stacks with two counts on each line, those of two profiles.
 * The second one is the count, and the first a counter with the name "before", in the same
 * ticks. */
void dp_prof_pairs(struct dp_prof *prof);
/* Before the first file: lets a file with only comments count as folded stacks without any stack;
 * otherwise it is refused. */
void dp_prof_may_be_empty(struct dp_prof *prof);
/* Reads a file ("-": standard input) and adds it. Returns its outcome's code; the profile gets
 * everything readable. If memory was short for the outcome itself, returns DP_E_NOMEM, and there is
 * no further file. */
int dp_prof_add(struct dp_prof *prof, const char *path, unsigned flags, const struct dp_host *host);
/* Adds a file that is in memory; path is for messages. */
int dp_prof_add_mem(struct dp_prof *prof, const char *path, const void *ptr, size_t len,
                    unsigned flags);
/* Before the first file: selects stretches of each file, which must be a trace. They are ascending
 * and do not overlap. Returns 0 or DP_E_NOMEM. */
struct dp_range {
    double from, to;            /* seconds from the beginning of the file, or percent of its real
                                 * time */
    int percent;
};
int dp_prof_window(struct dp_prof *prof, const struct dp_range *ranges, size_t n);

/* Before the first file: makes dp_prof_add_all pack the contexts of the profile, which then take a
 * fifth of the memory. Comparisons of tables (dprof/diff.h) unpack those of one run at a time.
 * Functions about files, subs, units and counters work as before. Everything else needs
 * dp_prof_unpack first, which returns 0 or DP_E_NOMEM. */
void dp_prof_waits(struct dp_prof *prof);
int dp_prof_unpack(struct dp_prof *prof);

/* Reads files, each into a profile. Jobs of one profile are adjacent, and are read in their order.
 * Up to `threads` threads share the work, including the caller's, which alone calls host->progress.
 * The outcomes have the errors. Returns 0, or DP_E_NOMEM if a file has no outcome. */
struct dp_read_job {
    struct dp_prof *prof;
    const char *path;
    unsigned flags;
};
int dp_prof_add_all(const struct dp_read_job *jobs, size_t n, unsigned threads,
                    const struct dp_host *host);
size_t dp_prof_files(const struct dp_prof *prof);
void dp_prof_outcome(const struct dp_prof *prof, size_t file, struct dp_outcome *out);
/* The k-th variable of a file's header; returns 0 if there is none. */
int dp_prof_var(const struct dp_prof *prof, size_t file, size_t k,
                const char **name, const char **value, size_t *value_len);
/* Ticks per second of all times; times of files with other ticks were scaled. */
uint64_t dp_prof_hz(const struct dp_prof *prof);
/* The unit of dp_prof_hz ticks: "s" for a second; else what other profilers count, such as "calls"
 * or "samples", and "" if it is unknown. All files have the same unit: a file with another one is
 * DP_E_ARG. The count of folded stacks is both user and real time; if it is calls, it is the number
 * of calls, too. */
const char *dp_prof_unit(const struct dp_prof *prof);
/* Is there folded text, or another tool's file, without numbers of calls? They count as 0. */
int dp_prof_no_calls(const struct dp_prof *prof);
size_t dp_prof_contexts(const struct dp_prof *prof);
/* Reads only a file's header and adds it, like dp_prof_add. */
int dp_prof_add_header(struct dp_prof *prof, const char *path);

/* Adds another profile; both have dp_prof_detail. Returns 0 or a DP_E; message (of at least 240
 * bytes) gets the details. When memory ends, or the limit of contexts is reached, a part may have
 * been added; otherwise all or nothing. */
int dp_prof_merge(struct dp_prof *prof, const struct dp_prof *from, char *message);
/* Do the files count different events? Counters that a file lacks are dropped. */
int dp_prof_counters_differ(const struct dp_prof *prof);

/* The part to copy from a profile. */
struct dp_base {                /* a beginning of paths, and its replacement; both with the slash */
    const char *from, *to;
    size_t from_len, to_len;
};
#define DP_TAKE_OPTIONS(X) \
    /* only this phase; NULL: all. Both profiles must have dp_prof_phases */ \
    X(TEXT, phase) \
    /* PACKAGE::NAME: keeps only calls below this sub. A call of this sub is merged with the root, \
     * and its callees are below. Frames that ran when the phase began, and other subs on the way, \
     * are left out. NULL: the phase is the root */ \
    X(TEXT, below) \
    X(LIST, bases, dp_base)     /* for files, places and the script */
struct dp_take { DP_TAKE_OPTIONS(DP_MEMBER) };
/* Merges a part of a profile, as dp_prof_merge merges a whole one: times and counters outside of it
 * are left out. With `phase`, so are the histograms, which have no phases. DP_E_ARG if there is no
 * such phase, or it has no such sub. */
int dp_prof_take(struct dp_prof *prof, const struct dp_prof *from, const struct dp_take *what,
                 char *message);

/* Writes the profile, which has dp_prof_detail, as a tree file (Format.pod, "THE TREE"). The bytes
 * depend on the files that were added, and not on their order. */
#define DP_WRITE_LIST(X) \
    X(DP_WRITE_ALL, "all") \
    /* without values that differ between equal recordings: the run, processes, time */ \
    X(DP_WRITE_BASELINE, "baseline") \
    /* and without times: calls, and those counters that repeat */ \
    X(DP_WRITE_COUNTERS, "counters")
DP_ENUM(dp_write_kind, DP_WRITE_LIST);

#define DP_WRITE_OPTIONS(X) \
    X(FLAG, gzip) \
    X(ENUM, kind, dp_write_kind) \
    X(TEXTS, counters)          /* for DP_WRITE_COUNTERS: names, without units */
struct dp_write_how {
    DP_WRITE_OPTIONS(DP_MEMBER)
    const char *version;        /* for $XS_VERSION */
};

/* Writes the profile to the host's output. Returns 0 or a negative DP_E; DP_E_ARG without
 * dp_prof_detail. */
int dp_prof_write(const struct dp_prof *prof, const struct dp_write_how *how,
                  const struct dp_host *host);

/* The k-th sub; returns 0 if there is none. Borrowed. A phase has an empty package. */
struct dp_sub_info {
    const char *package;
    size_t package_len;
    const char *file;           /* of its first statement; "" if unknown */
    size_t file_len;
    uint64_t line;
    int phase;
};
int dp_prof_sub(const struct dp_prof *prof, size_t k, struct dp_sub_info *info);

/* The k-th kind of requests of a server; returns 0 if there is none. Times are in ns; quantiles are
 * wrong by 3 % at most. */
struct dp_requests_info {
    const char *name;           /* that of the requests' phase, in UTF-8 */
    size_t name_len;
    uint64_t seen, kept;        /* kept: the number whose calls are in the profile */
    uint64_t sum, longest, p50, p95;
};
int dp_prof_requests(const struct dp_prof *prof, size_t k, struct dp_requests_info *info);
/* The k-th sub of a server that called its application, PACKAGE::NAME in UTF-8; NULL if there is
 * none. */
const char *dp_prof_server(const struct dp_prof *prof, size_t k, size_t *len);
/* Who holds a value, the k-th such line; NULL if there is none: the place and the sub that made the
 * value, and the chain of references to it, as fields (Format.pod, #h). */
const char *dp_prof_holder(const struct dp_prof *prof, size_t k, size_t *len);
/* The name of the k-th counter, NULL if there is none; `name` or `name:unit`, with the last colon
 * before the unit. */
const char *dp_prof_counter(const struct dp_prof *prof, size_t k, size_t *len);
/* Does a file lack the counter? Then it has no value for the profile. */
int dp_prof_counter_lacks(const struct dp_prof *prof, size_t k);

/* The total of a time, and the real one. */
uint64_t dp_prof_total(const struct dp_prof *prof, enum dp_metric time);
/* Return the number of all calls, and the total of the k-th counter. */
uint64_t dp_prof_calls(const struct dp_prof *prof);
uint64_t dp_prof_counted(const struct dp_prof *prof, size_t k);

/* ---- names ---- */

/* How labels distinguish subs: flags. */
enum dp_label {
    DP_LABEL_SEPARATE = 1,      /* anonymous subs, BEGINs and ENDs with their place */
    DP_LABEL_AUTOLOAD = 2,      /* autoloaded subs as *::AUTOLOAD */
    DP_LABEL_CROWDED = 4        /* with their place if a package has several with known places */
};
/* How labels distinguish subs, as options of perl: `separate` is one of these numbers; `autoload`
 * is an option of its own. */
#define DP_SEPARATE_LIST(X) \
    X(DP_SEPARATE_NONE, "none") X(DP_SEPARATE_ALL, "all") X(DP_SEPARATE_CROWDED, "crowded")
DP_ENUM(dp_separate, DP_SEPARATE_LIST);
#define DP_LABEL_OPTIONS(X) X(LABELS, label_flags)
struct dp_label_how { DP_LABEL_OPTIONS(DP_MEMBER) };

/* Makes the names: subs with one label are one name. NULL when memory is short. The profile must
 * outlive it. */
struct dp_names *dp_names_new(const struct dp_prof *prof, unsigned label_flags);
void dp_names_free(struct dp_names *names);
size_t dp_names_count(const struct dp_names *names);
/* Returns name n of the list, which is borrowed; *len becomes its length. */
const char *dp_names_get(const struct dp_names *names, size_t n, size_t *len);
/* The number of a label, -1 if there is none. */
long dp_names_find(const struct dp_names *names, const char *ptr, size_t len);
/* The name of a sub. */
uint32_t dp_names_of_sub(const struct dp_names *names, uint32_t sub);

/* ---- text for people ---- */

/* Prints a file's lines, unpacked, each with its number and the byte where it begins. Returns 0 or
 * a DP_E; message (of at least 240 bytes) may get the details. */
int dp_dump(const char *path, const struct dp_host *host, char *message);

/* Escapes a name for a terminal: control bytes and invalid UTF-8 become \x1b. Returns the length;
 * writes at most cap bytes. 4 bytes of room for each of len are enough, 6 for C1 controls as
 * \x{9b}. */
size_t dp_escape(const char *ptr, size_t len, char *to, size_t cap);

#endif
