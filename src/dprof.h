/* The analyzers' public face: profiles read into a model, and what can be made
 * of them. Everything is opaque; no perl in sight. */
#ifndef DPROF_H
#define DPROF_H

#include <stddef.h>
#include <stdint.h>

struct dp_prof;
struct dp_names;
struct dp_trace;

/* What the core asks of its host. Each function returns 0, or a negative number
 * to stop. progress may be NULL. */
struct dp_host {
    void *ctx;
    int (*write)(void *ctx, const void *ptr, size_t len);
    int (*progress)(void *ctx, uint64_t done, uint64_t total);
};

enum { DP_FORCE = 1 };          /* exits without an entry are skipped, not refused */

/* ---- one file's outcome ---- */

/* A line of folded stacks that could not be read. */
struct dp_fault {
    const char *message;
    uint64_t line, byte;
};

enum { DP_FAULTS = 10 };

struct dp_outcome {
    const char *path;           /* borrowed, as all here: until the next file is added */
    int code;                   /* 0, or as dp_err.h lists them */
    int sys_errno;              /* where the file could not be opened */
    const char *message;        /* "" for 0 */
    uint64_t line, byte;        /* 0, 0: no place */
    uint64_t marks;
    uint64_t contexts;          /* lines of a tree, or folded stacks */
    int tree;                   /* all of it, or its end, is a tree */
    int folded;                 /* it is text of folded stacks */
    uint64_t faults;            /* lines of these that were skipped: code is that of the first */
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
 * chart. time: enum dp_time. */
void dp_prof_chart(struct dp_prof *prof, int time);
/* Before the first file: folded stacks may have two counts on each line, those of two profiles. The
 * second one is the count, and the first a counter of the name "before", in the same ticks. */
void dp_prof_pairs(struct dp_prof *prof);
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
/* What dp_prof_hz ticks make: "s" for a second; else what folded stacks count, "calls" or
 * "samples" or so, and "" where nobody declared it. All files have the same: one
 * that has not is DP_E_ARG. Of folded stacks the count is user and real time, both; where it is
 * calls, it is the number of calls, too. */
const char *dp_prof_unit(const struct dp_prof *prof);
/* Is there any folded text, whose stacks tell no calls? They count as 0. */
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
struct dp_take {
    const char *phase;          /* only what ran in this phase; NULL: all. Both profiles have
                                 * dp_prof_phases then */
    const char *below;          /* PACKAGE::NAME: of that, what was called by a call of this sub
                                 * there is one with the root, and what that called is below; frames
                                 * that ran when the phase began, and other subs on the way, are
                                 * left out. NULL: the phase is the root */
    const struct dp_base *bases;    /* of files, places and the script */
    size_t n_bases;
};
/* As dp_prof_merge, of a part: times and counters of what is left out are left out, and with
 * `phase` the histograms are, which know of no phases. DP_E_ARG where there is no such phase, or it
 * has no such sub. */
int dp_prof_take(struct dp_prof *prof, const struct dp_prof *from, const struct dp_take *what,
                 char *message);

/* Writes the profile, which has dp_prof_detail, as a tree file (Format.pod, "THE TREE"). The
 * bytes depend on what was added, and not on its order. */
enum dp_write_kind {
    DP_WRITE_ALL,
    DP_WRITE_BASELINE,          /* without what tells a recording from another one of the same: the
                                 * run, processes, when it was */
    DP_WRITE_COUNTERS           /* and without times: calls, and those counters that repeat */
};
struct dp_write_how {
    const char *version;        /* for $XS_VERSION */
    int gzip;
    int kind;                   /* enum dp_write_kind */
    const char *const *counters;    /* of DP_WRITE_COUNTERS: names, without units,
                                     * of those that repeat */
    size_t n_counters;
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

/* ---- names ---- */

/* How subs are told apart: DP_LABEL_ of dp_subs.h. Subs of one label are one
 * name. NULL when memory is short. The profile must outlive it. */
struct dp_names *dp_names_new(const struct dp_prof *prof, unsigned label_flags);
struct dp_names *dp_names_of_trace(const struct dp_trace *trace, unsigned label_flags);
void dp_names_free(struct dp_names *names);
size_t dp_names_count(const struct dp_names *names);
/* Borrowed. */
const char *dp_names_get(const struct dp_names *names, size_t n, size_t *len);
/* The number of a label, -1 where there is none. */
long dp_names_find(const struct dp_names *names, const char *ptr, size_t len);
/* The name of a sub. */
uint32_t dp_names_of_sub(const struct dp_names *names, uint32_t sub);

/* What a view does with a name. */
enum dp_role { DP_KEEP, DP_DROP, DP_GROUP, DP_OTHER };

/* ---- dprofpp's views ---- */

enum dp_time { DP_T_CPU, DP_T_USER, DP_T_SYSTEM, DP_T_REAL };
enum dp_order { DP_BY_TIME, DP_BY_CALLS, DP_BY_NAME, DP_BY_AVERAGE, DP_UNSORTED };

struct dp_classic {
    int time;                   /* enum dp_time */
    int order;                  /* enum dp_order */
    int reverse, inclusive, no_header, program;
    int human;                  /* times with the unit that suits each; else seconds, in the columns
                                 * that programs parse */
    int summed;                 /* the files are of processes of one run: says so
                                 * of their elapsed time */
    size_t rows;                /* at most so many */
    size_t width;               /* of the terminal; 0: do not wrap */
    long only;                  /* -g: a name, or -1 */
    const unsigned char *roles; /* enum dp_role by name; NULL: keep all */
    const char *group;          /* label of DP_GROUP; NULL: no grouping asked for */
    size_t group_len;
    size_t counter;             /* in place of the time: a counter's number, from 1 up; 0: none */
    const char *counter_label;  /* what it is called */
};

/* The table, and the merged tree of -S. Return 0 or a negative DP_E. */
int dp_classic_flat(const struct dp_prof *prof, const struct dp_names *names,
                    const struct dp_classic *how, const struct dp_host *host);
int dp_classic_merged(const struct dp_prof *prof, const struct dp_names *names,
                      const struct dp_classic *how, const struct dp_host *host);

/* One row of the table in ticks, for whoever wants numbers: fills at most max
 * rows in the table's order, returns how many there are in all, or a DP_E. */
struct dp_row {
    uint32_t name;              /* dp_names_count() and up: the group, the others, (program) */
    uint64_t calls, self, incl;
};
long dp_flat_rows(const struct dp_prof *prof, const struct dp_names *names,
                  const struct dp_classic *how, struct dp_row *rows, size_t max);
/* The total of the time, and the real one. */
uint64_t dp_prof_total(const struct dp_prof *prof, int time);
/* All calls; all that the k-th counter has counted. */
uint64_t dp_prof_calls(const struct dp_prof *prof);
uint64_t dp_prof_counted(const struct dp_prof *prof, size_t k);

/* ---- subs of several profiles that are the same ---- */

struct dp_pairs;

struct dp_pair_side {
    const struct dp_prof *prof;
    uint32_t side;              /* 0: the baseline */
};

/* A sub, or with `::` at its end a package with all that is below, that has another name in
 * later profiles. */
struct dp_rename {
    const char *from, *to;
    size_t from_len, to_len;
};

struct dp_pair_how {
    unsigned label_flags;       /* with DP_LABEL_SEPARATE, anonymous subs are paired one by one */
    const struct dp_rename *renames;
    size_t n_renames;
    const char *const *bases;   /* folders that file names are taken to be relative to */
    size_t n_bases;
};

/* Tells the paired labels, sub by sub, profile by profile: as dprofdiff shows them. fn returns 0,
 * or a negative number to stop. Returns 0 or a DP_E. */
typedef int dp_pair_label_fn(void *ctx, size_t side, const char *ptr, size_t len);
int dp_pair_labels(const struct dp_pair_side *sides, size_t n, const struct dp_pair_how *how,
                   dp_pair_label_fn *fn, void *ctx);

/* ---- dprofreport's view ---- */

/* What is counted: enum dp_time, or one of these. */
enum { DP_M_CALLS = 4, DP_M_COUNTER = 16 };      /* which counter, the side says: files
                                                  * differ in their order */

enum dp_key { DP_K_SUB, DP_K_PACKAGE, DP_K_SCRIPT, DP_K_PID, DP_K_THREAD, DP_K_SRCLINE, DP_K_PHASE,
              DP_K_CALLER,
              DP_K_PARENT, DP_KEYS };

/* By sub, and behind the last one for the time outside of all subs. */
enum {
    DP_F_SHOWN = 1,             /* passes the filters */
    DP_F_PARENT = 2,            /* matches --parent */
    DP_F_CUT = 4                /* --ignore-callees: what it calls is its own */
};

/* One profile, which has dp_prof_phases where the phase is asked for. All is borrowed. */
struct dp_over_side {
    const struct dp_prof *prof;
    const unsigned char *flags;     /* NULL: all are shown */
    const char *script, *pid, *thread;  /* of its file; UTF-8 */
    size_t counter;                 /* where the metric is a counter: its number in this profile */
    const struct dp_pairs *pairs;   /* names to go by, and which of its profiles this one
                                     * is; NULL: label_flags */
    size_t pair;
};

struct dp_over_how {
    int metric;
    unsigned label_flags;
    int keys[DP_KEYS];
    size_t n_keys;
    size_t max_stack;           /* frames; what is deeper counts for the last one. 0: no limit */
    int relative;               /* percent of what is shown: of its Self if by_self, else of
                                 * all that passed in it */
    int exclude_other;          /* only what --parent matches */
    int by_self;                /* sort by Self, not Children */
    uint64_t hz;                /* of all ticks: at least; 0: the finest of the sides' */
};

enum dp_field { DP_FIELD_CHILDREN, DP_FIELD_SELF, DP_FIELD_CALLS, DP_FIELD_CHILDREN_VALUE,
                DP_FIELD_SELF_VALUE,
                /* DP_FIELD_KEY + k: the k-th sort key */
                DP_FIELD_AVERAGE, DP_FIELD_MIN, DP_FIELD_MAX, DP_FIELD_KEY };

enum { DP_REPORT_FIELDS = 24 };

struct dp_report_fact {         /* what stands above the table: label for
                                 * people, key for machines */
    const char *label, *key, *text;
    size_t len;
};

enum dp_chain_type { DP_CHAIN_NONE, DP_CHAIN_GRAPH, DP_CHAIN_FRACTAL, DP_CHAIN_FLAT,
                     DP_CHAIN_FOLDED };
enum dp_chain_value { DP_CHAIN_PERCENT, DP_CHAIN_PERIOD, DP_CHAIN_COUNT };

struct dp_report {
    struct dp_over_how over;
    const char *metric;         /* for people: "user+system time" */
    int fields[DP_REPORT_FIELDS];   /* enum dp_field, in order */
    size_t n_fields;
    int no_children;            /* entries that have nothing themselves are left out */
    double percent_limit;       /* entries with less, of Children or else of Self, are left out */
    size_t rows;                /* at most so many; 0: all */
    int histogram;              /* below each entry: how many calls took how long */
    int hierarchy;              /* keys below one another */
    /* call chains */
    int chain;                  /* enum dp_chain_type */
    int chain_value;            /* enum dp_chain_value */
    int caller_order;
    double threshold;
    size_t print_limit;         /* frames that are printed; 0: no limit */
    /* --callers and --callees in place of the table: the sub; NULL: neither */
    const char *edges_of;
    size_t edges_of_len;
    int callees;
    /* output */
    int format;                 /* enum dp_format of dp_table.h */
    const char *separator;
    int quiet, colour;
    const char *title;
    const struct dp_report_fact *facts;
    size_t n_facts;
};

/* Prints the report. Returns how many rows there were, or a negative DP_E; DP_E_ARG where
 * there is no sub of the name edges_of. */
long dp_report_print(const struct dp_over_side *sides, size_t n, const struct dp_report *how,
                     const struct dp_host *host);

/* ---- dprofdiff's view ---- */

/* What is compared: a metric, which each part of each side has. */
struct dp_diff_measure {
    const char *name;               /* as a rule has it: "ops" */
    int metric;
    const size_t *counters;         /* by part, of all sides in order: where it is
                                     * a counter; else NULL */
    int exact;                      /* repeats from run to run, so that one run a side decides */
    double tolerance;               /* of an exact one: what differs by that share or
                                     * less is taken for equal */
};

/* One side: runs of one or more parts, which are files. The first side is the baseline. */
struct dp_diff_side {
    const char *name;               /* for people; UTF-8 */
    const struct dp_over_side *parts;
    const size_t *ends;             /* by run: behind its last part */
    size_t n_runs;
    int cut;                        /* a part is cut short */
};

enum dp_diff_compute { DP_C_DELTA, DP_C_DELTA_ABS, DP_C_RATIO, DP_C_WDIFF };
#define DP_DIFF_BY_CHANGE ((size_t)-1)
enum dp_diff_view { DP_V_FLAT, DP_V_TREE, DP_V_CALLERS, DP_V_CALLEES };

/* A rule of a gate: what must not be. */
enum dp_rule_kind { DP_RULE_GROWTH, DP_RULE_NEW, DP_RULE_GONE };
enum { DP_RULE_LIMITS = 2 };
struct dp_rule {
    const char *text;               /* as it was given */
    int kind;                       /* enum dp_rule_kind */
    long pattern;                   /* of host->match: only subs that match;
                                     * -1: all, and the total */
    size_t measure;                 /* of growth; or DP_RULE_CALLS */
    int incl;
    size_t n_limits;                /* all are to be exceeded */
    /* percent of the baseline; seconds; or so many */
    struct { double value; int percent; } limits[DP_RULE_LIMITS];
};
#define DP_RULE_CALLS ((size_t)-1)

struct dp_diff_how {
    struct dp_over_how over;        /* metric: of the first measure */
    const struct dp_diff_measure *measures;
    size_t n_measures;
    struct dp_pair_how pair;
    int children;                   /* values with what was called */
    int normalize;                  /* values as if all runs had the baseline's total */
    size_t work;                    /* of times of several runs: the measure that tells how much
                                     * each sub did, ops; values are then as if all runs had had the
                                     * same speed (dp_diff.h). 0: as they are */
    size_t beside;                  /* of times: the measure, ops, that is certain where
                                     * these are not. 0: none */
    int compute;                    /* enum dp_diff_compute */
    long weights[2];                /* of the baseline, of the other side */
    size_t order;                   /* rows by what was computed for this side; 0: by the baseline;
                                     * DP_DIFF_BY_CHANGE: by what was added to the value of the
                                     * first side, or taken off */
    int baseline_only;              /* only what the baseline and another side have */
    double floor;                   /* percent of the pooled total: what has less is not tested */
    double alpha;                   /* a difference is true when its p, corrected for the number of
                                     * tests, is no greater */
    int discoveries;                /* corrected after Benjamini and Hochberg,
                                     * not Holm: for pictures */
    double confidence;              /* of intervals */
    /* the gate */
    const struct dp_rule *rules;
    size_t n_rules;
    int strict;                     /* what cannot be decided fails */
    double time_floor[2];           /* seconds; percent of the greater total: with one run a side no
                                     * rule looks at a time that has changed by less than either */
    /* 1, 0, or negative to stop */
    int (*match)(void *ctx, size_t pattern, const char *ptr, size_t len);
    void *match_ctx;
    /* output */
    int view;                       /* enum dp_diff_view */
    const char *edges_of;           /* of callers and callees: the sub */
    size_t edges_of_len;
    double percent_limit;           /* what changes less of the total is left out; of the
                                     * tree, it is one line */
    size_t rows;                    /* at most so many; 0: all */
    int period, formula, verbose;   /* more columns: values; how it was computed; calls */
    int format;                     /* enum dp_format of dp_table.h */
    const char *separator, *title;
    int quiet, colour;
    size_t width;                   /* of the terminal that text is for; 0: as wide as it gets */
    const struct dp_report_fact *facts;
    size_t n_facts;
};

struct dp_diff_outcome {
    size_t rows;
    size_t failed, undecided;       /* of the gate: findings */
    size_t needed;                  /* runs a side that could decide; 0: these can */
    char *findings;                 /* the gate's, as lines of text; NULL:
                                     * there is no gate. Owned */
};
void dp_diff_outcome_release(struct dp_diff_outcome *out);

/* Compares and prints. Returns 0 or a negative DP_E; DP_E_ARG where there is no sub of
 * the name edges_of. */
int dp_diff_print(const struct dp_diff_side *sides, size_t n, const struct dp_diff_how *how,
                  const struct dp_host *host, struct dp_diff_outcome *out);

/* What that would tell of a flat table for people, without printing it: the gate's result. */
int dp_diff_check(const struct dp_diff_side *sides, size_t n, const struct dp_diff_how *how,
                  struct dp_diff_outcome *out);

/* ---- stacks: folded text, flame graphs ---- */

/* What a column of values holds: of a side, a metric, which each of its parts has. */
struct dp_stacks_column {
    int metric;
    const size_t *counters;         /* by part of its side: where it is a counter; else NULL */
};

struct dp_stacks_how {
    const struct dp_stacks_column *columns;     /* for each measure, one for each side */
    size_t n_measures;
    struct dp_pair_how pair;        /* several sides: how subs are paired. One:
                                     * label_flags alone counts */
    size_t recursion;               /* so many frames of one name in a row at most; those that a sub
                                     * has above it are one with the last. 0: no limit; 1: direct
                                     * recursion is folded */
    int no_program;                 /* what is outside of all subs is left out */
    int strip_hex;                  /* hexadecimal addresses in names are 0x... */
    int chart;                      /* of one profile that has dp_prof_chart: frames are not added
                                     * up, and in order of time */
    int when;                       /* keep the order of first entry */
    const double *speed;            /* by run, of all sides in order: values are divided by
                                     * it. NULL: as they are */
};

struct dp_fold_how {
    struct dp_stacks_how stacks;
    int reverse;                    /* callees first */
    uint64_t per;                   /* of a second, or of the unit that is counted: 1,000,000
                                     * prints microseconds */
    int whole;                      /* times are whole numbers of these, which
                                     * add up to the total */
    int normalize;                  /* of two sides: the first as if it had the other's
                                     * total, in real numbers */
};

/* The name of the k-th palette; NULL when there is none. */
const char *dp_palette_name(size_t k);

enum dp_flame_order { DP_FO_NAME, DP_FO_WEIGHT, DP_FO_TIME };
/* Of two sides: what is as wide as a frame. Change: the sum of what stacks gained or lost. */
enum dp_flame_width { DP_FW_AFTER, DP_FW_BEFORE, DP_FW_UNION, DP_FW_CHANGE };

/* A metric of a graph, for people and for the page. */
struct dp_flame_metric {
    const char *key, *label;        /* "cpu", "user+system time" */
    const char *unit;               /* "s", or what is counted; "" if nobody knows */
};

struct dp_flame_fill {              /* a name's colour, or attributes, as they are given; UTF-8 */
    const char *name, *text;
    size_t name_len, text_len;
};

struct dp_flame_how {
    struct dp_stacks_how stacks;
    const struct dp_flame_metric *metrics;      /* for each measure; the first is drawn */
    int normalize;                  /* the baseline has the other side's total */
    int reverse;                    /* callees below callers */
    int inverted;                   /* the root on top */
    int order;                      /* enum dp_flame_order */
    int width_of;                   /* enum dp_flame_width */
    int by_total;                   /* coloured by the difference with what was
                                     * called; else by its own */
    int hue;                        /* coloured by the change with what was called, of all changes
                                     * there: width_of is DP_FW_CHANGE */
    int is_pair;                    /* two counters of one profile: no before and after */
    double total;                   /* at least so much of the unit is as wide as the picture */
    double factor;                  /* printed counts are multiplied by it */
    const struct dp_diff_how *truth;        /* several runs a side: only names whose values differ
                                             * truly by this are coloured. NULL: all */
    /* the picture */
    double width, height, min_width;    /* pixels: the picture's, a frame's; what is
                                         * narrower is not drawn */
    int min_percent;                /* min_width is percent of the total */
    /* UTF-8; NULL: none, or the usual */
    const char *title, *subtitle, *notes, *nametype, *countname, *encoding;
    const char *legend;             /* of two sides: which is which */
    const char *font;
    double font_size, font_width;
    int palette;                    /* enum dp_palette of dp_palette.h */
    const char *background[2];      /* colours of its gradient; NULL: the palette's */
    int hash;                       /* similar names get similar colours */
    uint64_t seed;                  /* of colours by chance; 0: by name */
    const struct dp_flame_fill *fills, *attributes;
    size_t n_fills, n_attributes;
    /* the page */
    const char *const *facts;       /* label, text, ... */
    size_t n_facts;
    const char *options;            /* how it opens: a member of a JSON object, ready */
    const char *difference;         /* of two sides: more members, of what is
                                     * told of the difference */
    const char *const *side_names;
    const char *version;
};

/* What a format needs, and is for. */
enum {
    DP_STACKS_LOOK = 1,             /* it is looked at, and has a struct dp_flame_how; others are
                                     * for programs, and have a struct dp_fold_how */
    DP_STACKS_LAYOUT = 2,           /* boxes have places: those that are too narrow are left out */
    DP_STACKS_METRICS = 4           /* it has all measures; others have the first alone */
};

/* A format that stacks are printed in. */
struct dp_stacks_printing;
struct dp_stacks_format {
    const char *name;               /* as --format has it */
    const char *suffixes;           /* of files, with their dots, blanks between */
    unsigned needs;
    int (*print)(const struct dp_stacks_printing *p);   /* for dp_stacks_print alone */
};
/* The k-th one, in the order of lists; the one of that name. NULL where there is none. */
const struct dp_stacks_format *dp_stacks_format(size_t k);
const struct dp_stacks_format *dp_stacks_format_named(const char *name);

/* What is printed, and how. */
struct dp_stacks_job {
    const struct dp_stacks_format *format;
    const struct dp_fold_how *fold;     /* one of them, as the format needs it */
    const struct dp_flame_how *flame;
    /* for programs: what they tell of it; UTF-8 */
    const char *title, *version;
    const struct dp_flame_metric *metrics;      /* for each measure */
    const char *const *side_names;
    /* is told the names that were drawn and their colours; NULL: nobody is */
    int (*colour)(void *ctx, const char *name, size_t len, const char *rgb);
    void *ctx;
};

struct dp_stacks_outcome {
    int empty;                      /* there is nothing to print */
    uint64_t recursion;             /* contexts that were folded for the limit of `recursion` */
    /* for programs */
    uint64_t lines;                 /* stacks that were printed; 0: there is nothing */
    uint64_t shortened;             /* stacks that lack frames in their middle: all
                                     * together would be too long */
    uint64_t most;                  /* frames that are printed of each of these, with the one that
                                     * says how many are not */
    /* of pictures */
    uint64_t frames;                /* drawn */
    uint64_t hidden;                /* frames that are too narrow; of a reversed graph, the
                                     * first ones of these */
    double hidden_percent;          /* what they have of the total */
    uint64_t needed;                /* runs a side that could tell what differs truly; 0: these can,
                                     * or one has no second one */
    int adjusted;                   /* values are as if all runs had had the same speed */
    int total_too_small;            /* flame->total was less than there is */
};

/* Prints the stacks of one side, or of two. Returns 0 or a DP_E. */
int dp_stacks_print(const struct dp_diff_side *sides, size_t n, const struct dp_stacks_job *job,
                    const struct dp_host *host, struct dp_stacks_outcome *out);

/* ---- -T and -t: the calls one by one, straight from the file ---- */

struct dp_trace_how {
    int fold;                   /* -t */
    int phases;                 /* a line where a phase begins */
    unsigned label_flags;
    unsigned flags;             /* DP_FORCE */
    const char *only;           /* -g, or NULL */
    size_t only_len;
};

struct dp_trace *dp_trace_new(const struct dp_trace_how *how, const struct dp_host *host);
void dp_trace_free(struct dp_trace *trace);
/* Reads a file and prints its calls as it goes. Returns its outcome's code. */
int dp_trace_add(struct dp_trace *trace, const char *path);
int dp_trace_add_mem(struct dp_trace *trace, const char *path, const void *ptr, size_t len);
void dp_trace_outcome(const struct dp_trace *trace, struct dp_outcome *out);

/* ---- text for people ---- */

/* Prints a file's lines, unpacked, each with its number and the byte where it begins. Returns 0 or
 * a DP_E; message (of at least 240 bytes) may have the detail. */
int dp_dump(const char *path, const struct dp_host *host, char *message);

/* Bytes of a name as a terminal may see them: control bytes and broken UTF-8 as
 * \x1b. Returns the length; writes at most cap bytes. 4 bytes of room for each
 * of len are enough, 6 for C1 controls as \x{9b}. */
size_t dp_escape(const char *ptr, size_t len, char *to, size_t cap);

#endif
