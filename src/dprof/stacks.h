/* Stacks: folded text and flame graphs. */
#ifndef DPROF_STACKS_H
#define DPROF_STACKS_H

#include "dprof/diff.h"

/* A column of values: a side's metric, which each of its parts has. */
#define DP_COLUMN_OPTIONS(X) \
    X(ENUM, metric, dp_metric) \
    X(SIZES, counters)          /* for a counter: its number by part of the side */
struct dp_stacks_column { DP_COLUMN_OPTIONS(DP_MEMBER) };

#define DP_STACKS_OPTIONS(X) \
    X(LIST, columns, dp_stacks_column)  /* for each measure, one for each side */ \
    /* several sides: how subs are paired. One side: only label_flags counts */ \
    X(PART, pair, dp_pair_how) \
    /* largest number of frames of one name in a row; further ones are merged with the last. 0: no \
     * limit; 1: direct recursion is folded */ \
    X(SIZE, recursion) \
    X(FLAG, no_program)         /* values outside of all subs are left out */ \
    X(FLAG, strip_hex)          /* 0x and hexadecimal digits in names become 0x... */ \
    X(FLAG, strip_words)        /* and so do addresses without 0x */ \
    /* of one profile with dp_prof_chart: frames are not added up, and in order of time */ \
    X(FLAG, chart) \
    /* subs with one name that begin at different places have separate frames */ \
    X(FLAG, by_sub) \
    X(FLAG, by_site)            /* calls from different lines have separate frames */ \
    /* each part is below a frame of its own, which has the own values of the part's program */ \
    X(FLAG, by_part) \
    /* with phases in profiles: they are not frames; or only frames if a program marks some \
     * besides the recorder's */ \
    X(FLAG, no_phases) \
    X(FLAG, marked_phases) \
    X(TEXT, phase)              /* of profiles with phases, only this one; NULL: all */
struct dp_stacks_how {
    DP_STACKS_OPTIONS(DP_MEMBER)
    int when;                   /* keep the order of first entry */
    const double *speed;        /* by run, of all sides in order: divisor of values. NULL: none */
};

#define DP_FOLD_OPTIONS(X) \
    X(PART, stacks, dp_stacks_how) \
    X(FLAG, reverse)            /* callees first */ \
    /* of a second, or of the counted unit: 1,000,000 prints microseconds */ \
    X(COUNT, per) \
    X(FLAG, whole)              /* times are whole numbers of these, which add up to the \
                                 * total */ \
    /* of two sides: the first as if it had the other's total, in real numbers */ \
    X(FLAG, normalize)
struct dp_fold_how { DP_FOLD_OPTIONS(DP_MEMBER) };

/* Colours of frames, by their names in options. */
#define DP_PALETTE_LIST(X) \
    X(DP_PALETTE_PACKAGE, "package") X(DP_PALETTE_HOT, "hot") X(DP_PALETTE_MEM, "mem") \
    X(DP_PALETTE_IO, "io") X(DP_PALETTE_WAKEUP, "wakeup") X(DP_PALETTE_CHAIN, "chain") \
    X(DP_PALETTE_JAVA, "java") X(DP_PALETTE_JS, "js") X(DP_PALETTE_RED, "red") \
    X(DP_PALETTE_GREEN, "green") X(DP_PALETTE_BLUE, "blue") X(DP_PALETTE_AQUA, "aqua") \
    X(DP_PALETTE_YELLOW, "yellow") X(DP_PALETTE_PURPLE, "purple") X(DP_PALETTE_ORANGE, "orange")
DP_ENUM(dp_palette, DP_PALETTE_LIST);

#define DP_FLAME_ORDER_LIST(X) \
    X(DP_FO_NAME, "name") X(DP_FO_WEIGHT, "weight") X(DP_FO_TIME, "time")
DP_ENUM(dp_flame_order, DP_FLAME_ORDER_LIST);
/* The value that the width of a frame shows, with two sides. Change: the sum of stacks' gains or
 * losses. */
#define DP_FLAME_WIDTH_LIST(X) \
    X(DP_FW_AFTER, "after") X(DP_FW_BEFORE, "before") X(DP_FW_UNION, "union") \
    X(DP_FW_CHANGE, "change")
DP_ENUM(dp_flame_width, DP_FLAME_WIDTH_LIST);

/* A metric of a graph, for people and for the page. */
#define DP_FLAME_METRIC_OPTIONS(X) \
    X(TEXT, key)                /* "cpu" */ \
    X(TEXT, label)              /* "user+system time" */ \
    X(TEXT, unit)               /* "s", or the unit of a count; "" if unknown */
struct dp_flame_metric { DP_FLAME_METRIC_OPTIONS(DP_MEMBER) };

struct dp_flame_fill {              /* a name's colour, or attributes, as given; UTF-8 */
    const char *name, *text;
    size_t name_len, text_len;
};

/* A source for a page. */
struct dp_flame_source {
    const char *file, *text;        /* UTF-8; file: as in the profile */
    size_t file_len, text_len;
    const char *state;              /* a word for the page's scripts */
    size_t side;
};

#define DP_FLAME_OPTIONS(X) \
    X(PART, stacks, dp_stacks_how) \
    X(LIST, metrics, dp_flame_metric)   /* for each measure; the first is drawn */ \
    X(FLAG, normalize)          /* the baseline has the other side's total */ \
    X(FLAG, reverse)            /* callees below callers */ \
    X(FLAG, inverted)           /* the root on top */ \
    X(ENUM, order, dp_flame_order) \
    X(ENUM, width_of, dp_flame_width) \
    /* coloured by the difference including callees; else by their own */ \
    X(FLAG, by_total) \
    /* coloured by the change including callees, as a share of all changes there: width_of is \
     * DP_FW_CHANGE */ \
    X(FLAG, hue) \
    X(FLAG, is_pair)            /* two counters of one profile, without before and after */ \
    X(REAL, total)              /* least value, in units, that is as wide as the picture */ \
    X(REAL, factor)             /* factor of printed counts */ \
    X(OWN, truth) \
    /* the picture: pixels, of all of it, and of a frame; narrower frames are not drawn */ \
    X(REAL, width) \
    X(REAL, height) \
    X(REAL, min_width) \
    X(FLAG, min_percent)        /* min_width is in percent of the total */ \
    /* NULL: none, or the usual */ \
    X(TEXT, title) \
    X(TEXT, subtitle) \
    X(TEXT, notes) \
    X(TEXT, nametype) \
    X(TEXT, countname) \
    X(TEXT, encoding) \
    X(TEXT, legend)             /* of two sides: which is which */ \
    X(TEXT, font) \
    X(REAL, font_size) \
    X(REAL, font_width) \
    X(ENUM, palette, dp_palette) \
    X(OWN, background) \
    X(FLAG, hash)               /* similar names get similar colours */ \
    X(COUNT, seed)              /* of random colours; 0: by name */ \
    X(LIST, fills, dp_flame_fill) \
    X(LIST, attributes, dp_flame_fill) \
    /* the page */ \
    X(TEXT, document)           /* its title in the browser's tab */ \
    X(TEXTS, notes_of_page)     /* label, text, ... */ \
    X(TEXT, options)            /* how it opens: a member of a JSON object, ready */ \
    /* of two sides: more members, about the difference */ \
    X(TEXT, difference) \
    X(LIST, sources, dp_flame_source) \
    X(TEXTS, traces)            /* paths of traces, which are read again for the time line */ \
    X(TEXTS, part_names)        /* with stacks.by_part: of each part, for people */ \
    X(TEXTS, side_names) \
    X(TEXT, version)
struct dp_flame_how {
    DP_FLAME_OPTIONS(DP_MEMBER)
    const struct dp_diff_how *truth;        /* several runs a side: only names with significant
                                             * changes are coloured. NULL: all */
    const char *background[2];  /* colours of its gradient; NULL: the palette's */
};

/* The facts about a part in formats of other tools. */
#define DP_EXPORT_PART_OPTIONS(X) \
    X(TEXT, name)               /* the program's */ \
    X(COUNT, pid)               /* 0: unknown, like all here */ \
    X(COUNT, tid) \
    X(COUNT, start)             /* nanoseconds since 1970 */ \
    X(COUNT, duration)          /* nanoseconds */
struct dp_export_part { DP_EXPORT_PART_OPTIONS(DP_MEMBER) };

struct dp_file_mem;
#define DP_EXPORT_OPTIONS(X) \
    X(PART, stacks, dp_stacks_how) \
    X(LIST, parts, dp_export_part)      /* of the printed side, in order */ \
    X(SIZE, side)               /* number of the printed side */ \
    /* labels of samples; they determine stacks.by_part and phases */ \
    X(FLAG, label_phase) \
    X(FLAG, label_pid) \
    X(FLAG, label_tid) \
    /* for a format with DP_STACKS_TRACE, which reads the files itself, with the first column's \
     * time: as in dp_prof_add, dp_prof_window and dp_prof_only_main */ \
    X(TEXTS, paths) \
    X(LIST, ranges, dp_range) \
    X(FLAG, main) \
    X(FLAG, force)
struct dp_export_how {
    DP_EXPORT_OPTIONS(DP_MEMBER)
    const struct dp_file_mem *texts;    /* by path: replacement of the file; NULL: files are read */
};

/* The purpose and needs of a format. X(NAME, word, bit) */
#define DP_STACKS_NEEDS(X) \
    X(VISUAL, "visual", 1)              /* it is for eyes, and has a struct dp_flame_how; others \
                                         * are for programs, and have a struct dp_fold_how */ \
    X(LAYOUT, "layout", 2)              /* boxes have places: too narrow ones are left out */ \
    X(METRICS, "metrics", 4)            /* it has all measures; others have only the first */ \
    X(EXPORT, "export", 8)              /* it is another tool's, and has a struct \
                                         * dp_export_how */ \
    X(APART, "apart", 16)               /* it shows processes and threads separately */ \
    X(LABELS, "labels", 32)             /* it has labels */ \
    X(BASE, "base", 64)                 /* its tools subtract one file from another */ \
    X(TIMELINE, "timeline", 128)        /* it shows the time line of traces */ \
    X(NO_SITES, "no_sites", 256)        /* it does not show which line of a frame made a call */ \
    X(CALLS, "calls", 512)              /* calls are always among its metrics */ \
    X(TRACE, "trace", 1024)             /* it shows each call of traces; it gets the files and no
                                         * profiles */
enum {
#define DP_STACKS_NEED(name, word, bit) DP_STACKS_##name = bit,
    DP_STACKS_NEEDS(DP_STACKS_NEED)
#undef DP_STACKS_NEED
};

/* A format that stacks are printed in. */
struct dp_stacks_printing;
#define DP_STACKS_FORMAT_FIELDS(X) \
    X(TEXT, name)               /* as in --format */ \
    X(TEXT, suffixes)           /* of files, with their dots, separated by blanks */
struct dp_stacks_format {
    DP_STACKS_FORMAT_FIELDS(DP_MEMBER)
    unsigned needs;
    int (*print)(const struct dp_stacks_printing *p);   /* for dp_stacks_print alone */
};
/* The k-th format, in the order of lists; the format with a name. NULL if there is none. */
const struct dp_stacks_format *dp_stacks_format(size_t k);
const struct dp_stacks_format *dp_stacks_format_named(const char *name);

/* A job: what is printed, and how. */
#define DP_STACKS_JOB_OPTIONS(X) \
    X(OWN, format) \
    /* for programs: the text that they show about it */ \
    X(TEXT, title) \
    X(TEXT, version) \
    X(LIST, metrics, dp_flame_metric)   /* for each measure */ \
    X(TEXTS, side_names) \
    X(OWN, timeline) \
    /* callbacks: see below, and struct dp_host */ \
    X(OWN, told) \
    X(OWN, shown) \
    X(OWN, progress)
struct dp_stacks_job {
    DP_STACKS_JOB_OPTIONS(DP_MEMBER)
    const struct dp_stacks_format *format;
    const struct dp_fold_how *fold;     /* one of them, as the format requires */
    const struct dp_flame_how *flame;
    const struct dp_export_how *export;
    /* For a format with a time line: the parts of the printed side again, with dp_prof_chart of
     * real time and dp_prof_phases; NULL: unknown. */
    const struct dp_diff_side *timeline;
    /* Receives the names that were drawn and their colours; may be NULL. */
    int (*colour)(void *ctx, const char *name, size_t len, const char *rgb);
    /* For a format with DP_STACKS_TRACE. told: receives the outcome of each file in turn, and
     * returns 0 to continue. shown: called once for each name of a sub: is it shown? NULL: all are.
     * Both return a negative number on failure. */
    int (*told)(void *ctx, const struct dp_outcome *outcome);
    int (*shown)(void *ctx, const char *name, size_t len);
    void *ctx;
};

#define DP_STACKS_OUTCOME_FIELDS(X) \
    X(FLAG, empty)              /* there is nothing to print */ \
    X(COUNT, recursion)         /* contexts folded because of the limit of `recursion` */ \
    /* for programs */ \
    X(COUNT, lines)             /* stacks printed; 0: none */ \
    X(COUNT, shortened)         /* stacks that lack frames in their middle, because all stacks \
                                 * together would be too long */ \
    X(COUNT, most)              /* frames printed of each of these, including the one with the \
                                 * number of missing ones */ \
    /* of pictures */ \
    X(COUNT, frames)            /* drawn */ \
    X(COUNT, hidden)            /* frames that are too narrow; in a reversed graph, those with a \
                                 * wide parent */ \
    X(REAL, hidden_percent)     /* their share of the total */ \
    X(COUNT, needed)            /* runs a side that could show significant changes; 0: these can, \
                                 * or a side has one run */ \
    X(FLAG, adjusted)           /* values are as if all runs had the same speed */ \
    X(FLAG, total_too_small)    /* flame->total was less than the real total */
struct dp_stacks_outcome { DP_STACKS_OUTCOME_FIELDS(DP_MEMBER) };

/* Prints the stacks of one side, or of two; in a format with DP_STACKS_TRACE, of none. The host
 * learns how much of a file was read in such a format, else how many bytes were written, with an
 * unknown total. Returns 0 or a DP_E. */
int dp_stacks_print(const struct dp_diff_side *sides, size_t n, const struct dp_stacks_job *job,
                    const struct dp_host *host, struct dp_stacks_outcome *out);

#endif
