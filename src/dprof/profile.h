/* Profiles: files read into a model, which is opaque; what they hold, merged, written. */
#ifndef DPROF_PROFILE_H
#define DPROF_PROFILE_H

#include "dprof/error.h"
#include "dprof/list.h"
#include "dprof/metric.h"

struct dp_prof;
struct dp_names;

/* What the core asks of its host. Each function returns 0, or a negative number
 * to stop. progress may be NULL. */
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
    X(TEXT, path)               /* borrowed, as all here: until the next file is added */ \
    X(CODE, code)               /* 0, or as dp_err.h lists them */ \
    X(CODE, sys_errno)          /* where the file could not be opened */ \
    X(TEXT, message)            /* "" for 0 */ \
    X(COUNT, line) X(COUNT, byte)       /* 0, 0: no place */ \
    X(COUNT, marks) \
    X(COUNT, contexts)          /* lines of a tree, folded stacks, or others' samples */ \
    X(FLAG, tree)               /* all of it, or its end, is a tree */ \
    X(FLAG, folded)             /* it is text of folded stacks */ \
    X(FLAG, foreign)            /* it is another tool's file */
struct dp_outcome {
    DP_OUTCOME_FIELDS(DP_MEMBER)
    uint64_t faults;            /* lines or values that were left out: code is that of the first,
                                 * unless there is another error */
    struct dp_fault fault[DP_FAULTS];   /* as many as fit */
    uint64_t open;              /* frames that were still running at the end */
    const uint32_t *open_subs;  /* the first open_listed of them, outermost first */
    size_t open_listed;
    const uint32_t *odd;        /* pairs: the sub that an exit names, the one that it ended */
    size_t odd_pairs;
};

/* ---- profiles ---- */

/* NULL when memory is short. */
struct dp_prof *dp_prof_new(void);
void dp_prof_free(struct dp_prof *prof);
/* Before the first file: a trace, too, shall give longest and shortest calls and
 * histograms (which costs time), and the profile is to be merged or written. */
void dp_prof_detail(struct dp_prof *prof);
/* Before the first file: phases are to be told apart. Each is a kid of the root then, like a
 * sub of the name "(main)", and what ran in it is below. */
void dp_prof_phases(struct dp_prof *prof);
/* Before the first file: what ran in the phase BEGIN, before the main program, is left out: times,
 * calls, counters, and all histograms, which know of no phases. Files without phases are
 * taken as they are. */
void dp_prof_only_main(struct dp_prof *prof);
/* Before the first file: what the counts of folded stacks are, s, ms, us, ns, calls, or any other
 * word (letters, digits, _ and -) for what is counted. Returns 0, or DP_E_ARG: it
 * is no such word. */
int dp_prof_declare_unit(struct dp_prof *prof, const char *unit);
/* Before the first file: contexts are stretches of time, in order, and not added up: for a flame
 * chart of that time. */
void dp_prof_chart(struct dp_prof *prof, enum dp_metric time);
/* Before the first file: folded stacks may have two counts on each line, those of two profiles. The
 * second one is the count, and the first a counter of the name "before", in the same ticks. */
void dp_prof_pairs(struct dp_prof *prof);
/* Before the first file: a file without any line but comments is folded stacks, of which there are
 * none; otherwise it is refused. */
void dp_prof_may_be_empty(struct dp_prof *prof);
/* Reads a file ("-": standard input) and adds it to what is there. Returns its
 * outcome's code; whatever was readable is in the profile. DP_E_NOMEM without one more
 * file: there was no memory for the outcome itself. */
int dp_prof_add(struct dp_prof *prof, const char *path, unsigned flags, const struct dp_host *host);
/* The same from memory; path is for messages. */
int dp_prof_add_mem(struct dp_prof *prof, const char *path, const void *ptr, size_t len,
                    unsigned flags);
/* Before the first file: nothing but these stretches of each file is wanted, which must be a trace.
 * They are ascending and do not overlap. Returns 0 or DP_E_NOMEM. */
struct dp_range {
    double from, to;            /* seconds from the beginning of the file, or
                                 * percent of its real time */
    int percent;
};
int dp_prof_window(struct dp_prof *prof, const struct dp_range *ranges, size_t n);

/* Before the first file: dp_prof_add_all packs the contexts of the profile, which take a fifth of
 * the memory then. Comparisons of tables (dprof/diff.h) unpack those of one run at a time, and all
 * that tells of files, subs, units and counters works. For anything else dp_prof_unpack comes
 * first: it returns 0 or DP_E_NOMEM. */
void dp_prof_waits(struct dp_prof *prof);
int dp_prof_unpack(struct dp_prof *prof);

/* Reads files, each into a profile; those of one profile stand together, and are read in their
 * order. Up to `threads` threads share the work, the caller's among them, which alone calls
 * host->progress. The outcomes tell of errors. Returns 0, or DP_E_NOMEM where a file has none. */
struct dp_read_job {
    struct dp_prof *prof;
    const char *path;
    unsigned flags;
};
int dp_prof_add_all(const struct dp_read_job *jobs, size_t n, unsigned threads,
                    const struct dp_host *host);
size_t dp_prof_files(const struct dp_prof *prof);
void dp_prof_outcome(const struct dp_prof *prof, size_t file, struct dp_outcome *out);
/* The k-th variable of a file's header; 0 when there is none. */
int dp_prof_var(const struct dp_prof *prof, size_t file, size_t k,
                const char **name, const char **value, size_t *value_len);
/* Ticks per second of all times; those of files with other ticks were scaled. */
uint64_t dp_prof_hz(const struct dp_prof *prof);
/* What dp_prof_hz ticks make: "s" for a second; else what other profilers count, "calls" or
 * "samples" or so, and "" where nobody declared it. All files have the same: one
 * that has not is DP_E_ARG. Of folded stacks the count is user and real time, both; where it is
 * calls, it is the number of calls, too. */
const char *dp_prof_unit(const struct dp_prof *prof);
/* Is there any folded text, or other tools' file, that tells no calls? They count as 0. */
int dp_prof_no_calls(const struct dp_prof *prof);
size_t dp_prof_contexts(const struct dp_prof *prof);
/* Reads a file's header alone and adds it, as dp_prof_add does. */
int dp_prof_add_header(struct dp_prof *prof, const char *path);

/* Adds all of another profile; both with dp_prof_detail. Returns 0 or a DP_E;
 * message (of at least 240 bytes) has the detail. When memory ends, or contexts beyond their
 * limit, a part may have been added; else all or nothing. */
int dp_prof_merge(struct dp_prof *prof, const struct dp_prof *from, char *message);
/* Do the files count different things? What one of them lacks is given up. */
int dp_prof_counters_differ(const struct dp_prof *prof);

/* What is taken of a profile. */
struct dp_base {                /* a beginning of paths, and what stands in its place;
                                 * both with the slash */
    const char *from, *to;
    size_t from_len, to_len;
};
#define DP_TAKE_OPTIONS(X) \
    /* only what ran in this phase; NULL: all. Both profiles have dp_prof_phases then */ \
    X(TEXT, phase) \
    /* PACKAGE::NAME: of that, what was called by a call of this sub there is one with the root, \
     * and what that called is below; frames that ran when the phase began, and other subs on the \
     * way, are left out. NULL: the phase is the root */ \
    X(TEXT, below) \
    X(LIST, bases, dp_base)     /* of files, places and the script */
struct dp_take { DP_TAKE_OPTIONS(DP_MEMBER) };
/* As dp_prof_merge, of a part: times and counters of what is left out are left out, and with
 * `phase` the histograms are, which know of no phases. DP_E_ARG where there is no such phase, or it
 * has no such sub. */
int dp_prof_take(struct dp_prof *prof, const struct dp_prof *from, const struct dp_take *what,
                 char *message);

/* Writes the profile, which has dp_prof_detail, as a tree file (Format.pod, "THE TREE"). The
 * bytes depend on what was added, and not on its order. */
#define DP_WRITE_LIST(X) \
    X(DP_WRITE_ALL, "all") \
    /* without what tells a recording from another one of the same: the run, processes, time */ \
    X(DP_WRITE_BASELINE, "baseline") \
    /* and without times: calls, and those counters that repeat */ \
    X(DP_WRITE_COUNTERS, "counters")
DP_ENUM(dp_write_kind, DP_WRITE_LIST);

#define DP_WRITE_OPTIONS(X) \
    X(FLAG, gzip) \
    X(ENUM, kind, dp_write_kind) \
    X(TEXTS, counters)          /* of DP_WRITE_COUNTERS: names, without units */
struct dp_write_how {
    DP_WRITE_OPTIONS(DP_MEMBER)
    const char *version;        /* for $XS_VERSION */
};
int dp_prof_write(const struct dp_prof *prof, const struct dp_write_how *how,
                  const struct dp_host *host);

/* The k-th sub; 0 when there is none. Borrowed. A phase has an empty package. */
struct dp_sub_info {
    const char *package;
    size_t package_len;
    const char *file;           /* of its first statement; "" if that is not known */
    size_t file_len;
    uint64_t line;
    int phase;
};
int dp_prof_sub(const struct dp_prof *prof, size_t k, struct dp_sub_info *info);
/* The name of the k-th counter, NULL when there is none; `name` or `name:unit`, with the last colon
 * before the unit. */
const char *dp_prof_counter(const struct dp_prof *prof, size_t k, size_t *len);
/* Is there a file that does not have it? Then it tells nothing of all of them. */
int dp_prof_counter_lacks(const struct dp_prof *prof, size_t k);

/* The total of the time, and the real one. */
uint64_t dp_prof_total(const struct dp_prof *prof, enum dp_metric time);
/* All calls; all that the k-th counter has counted. */
uint64_t dp_prof_calls(const struct dp_prof *prof);
uint64_t dp_prof_counted(const struct dp_prof *prof, size_t k);

/* ---- names ---- */

/* How subs are told apart: flags. */
enum dp_label {
    DP_LABEL_SEPARATE = 1,      /* anonymous subs, BEGINs and ENDs with their place */
    DP_LABEL_AUTOLOAD = 2,      /* autoloaded subs as *::AUTOLOAD */
    DP_LABEL_CROWDED = 4        /* with their place where a package has several, and they tell it */
};
/* The same as perl has it: `separate` is one of these, `autoload` stands beside it. */
#define DP_SEPARATE_LIST(X) \
    X(DP_SEPARATE_NONE, "none") X(DP_SEPARATE_ALL, "all") X(DP_SEPARATE_CROWDED, "crowded")
DP_ENUM(dp_separate, DP_SEPARATE_LIST);
#define DP_LABEL_OPTIONS(X) X(LABELS, label_flags)
struct dp_label_how { DP_LABEL_OPTIONS(DP_MEMBER) };

/* Subs of one label are one name. NULL when memory is short. The profile must outlive it. */
struct dp_names *dp_names_new(const struct dp_prof *prof, unsigned label_flags);
void dp_names_free(struct dp_names *names);
size_t dp_names_count(const struct dp_names *names);
/* Borrowed. */
const char *dp_names_get(const struct dp_names *names, size_t n, size_t *len);
/* The number of a label, -1 where there is none. */
long dp_names_find(const struct dp_names *names, const char *ptr, size_t len);
/* The name of a sub. */
uint32_t dp_names_of_sub(const struct dp_names *names, uint32_t sub);

/* ---- text for people ---- */

/* Prints a file's lines, unpacked, each with its number and the byte where it begins. Returns 0 or
 * a DP_E; message (of at least 240 bytes) may have the detail. */
int dp_dump(const char *path, const struct dp_host *host, char *message);

/* Bytes of a name as a terminal may see them: control bytes and broken UTF-8 as
 * \x1b. Returns the length; writes at most cap bytes. 4 bytes of room for each
 * of len are enough, 6 for C1 controls as \x{9b}. */
size_t dp_escape(const char *ptr, size_t len, char *to, size_t cap);

#endif
