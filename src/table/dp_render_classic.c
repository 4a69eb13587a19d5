/* dprofpp's outputs: the table and the merged tree. */
#include "dp_err.h"
#include "dp_flat.h"
#include "dp_mem.h"
#include "dp_notes.h"
#include "dp_render.h"
#include "dp_text.h"
#include "dp_tree.h"

#include <stdio.h>
#include <string.h>

enum { LEVELS = 200, LABEL_WIDTH = 18, TIME_WIDTH = 8, NAME_MIN = 34 };

static const char *const time_names[] = {
#define TITLE(id, word, text, title, ...) [id] = title,
    DP_METRIC_LIST(TITLE)
#undef TITLE
};

static double seconds_of(uint64_t ticks, uint64_t hz) { return (double)ticks / (double)hz; }

/* Prints v with at most so many decimals, and with fewer if it does not fit. Digits before the
 * point are never cut. */
static void fit_number(char to[48], double v, int decimals, size_t width)
{
    for (int d = decimals; d >= 0; d--) {
        if (dp_text_real(to, 48, v, (unsigned)d) <= width)
            return;
    }
}

static int count_digits(uint64_t n)
{
    int d = 1;
    while (n >= 10) {
        n /= 10;
        d++;
    }
    return d;
}

/* The scale of the values: ticks that make up seconds, or counts. Counts of folded stacks may have
 * fractions. */
struct scale {
    bool is_time;
    uint64_t hz;
    int decimals;               /* number of decimals that shows ticks exactly */
};

/* Returns how to print values: as times or counts, their ticks, and their decimals. */
static struct scale scale_of(const struct dp_prof *prof, const struct dp_classic *how)
{
    uint64_t hz = how->counter ? 1 : dp_prof_hz(prof);
    bool is_time = !how->counter && strcmp(dp_prof_unit(prof), "s") == 0;
    return (struct scale){ is_time, hz, hz == 1 && !is_time ? 0 : count_digits(hz - 1) };
}

/* Prints seconds for the head of the table, with as many decimals as ticks have and fit, without
 * trailing zeros. */
static void head_seconds(char to[48], uint64_t ticks, const struct scale *scale)
{
    fit_number(to, seconds_of(ticks, scale->hz), scale->decimals, TIME_WIDTH);
    if (!strchr(to, '.'))
        return;
    size_t n = strlen(to);
    while (to[n - 1] == '0')
        n--;
    if (to[n - 1] == '.')
        n--;
    to[n] = '\0';
}

/* ---- the table ---- */

enum { PCT, EXCL, CUMUL, CALLS, PER, CPER, COLUMNS };

static const struct {
    const char *head, *of_counts, *human;
    unsigned gap, width;
} columns[COLUMNS] = {
    { "%Time", "%All", "%Time", 1, 4 }, { "ExclSec", "Excl", "Excl", 3, 5 },
    { "CumulS", "Cumul", "Cumul", 1, 6 },
    { "#Calls", "#Calls", "#Calls", 1, 6 }, { "sec/call", "Excl/c", "Excl/call", 3, 6 },
    { "Csec/c", "Cuml/c", "Cumul/call", 1, 6 },
};

/* Widths of columns of times with a unit, `123.4 us`, and of their headings. */
enum { HUMAN_GAP = 2, HUMAN_WIDTH = 8, HUMAN_TOTAL = 9, HUMAN_AVERAGE = 10 };

static unsigned gap_of(int c, bool human) { return human && c > PCT ? HUMAN_GAP : columns[c].gap; }

/* Returns the width of a column. */
static unsigned width_of(int c, bool human)
{
    return !human || c == PCT || c == CALLS ? columns[c].width
           : c == PER ? HUMAN_TOTAL
           : c == CPER ? HUMAN_AVERAGE
           : HUMAN_WIDTH;
}

struct line { char cell[COLUMNS][48]; };

static int at_most(int n, int most) { return n < most ? n : most; }

/* Prints a time in the unit that leaves one to three digits before the point: four digits in
 * all. */
static void human_time(char to[48], double ticks, uint64_t hz)
{
    const struct dp_time_unit *unit = dp_render_time_unit(ticks, (double)hz, 0.9995);
    double v = ticks * unit->per_second / (double)hz;
    fit_number(to, v, v < 9.9995 ? 3 : v < 99.995 ? 2 : v < 999.95 ? 1 : 0, 16);
    size_t n = strlen(to);
    if (v > 0)
        snprintf(to + n, 48 - n, " %s", unit->name);
    else
        memcpy(to, "0", 2);
}

static bool is_human(const struct dp_prof *prof, const struct dp_classic *how)
{
    return how->human && scale_of(prof, how).is_time;
}

/* Makes the texts of a row's cells. A number that is too wide for its column loses decimals. `-`
 * stands for calls that are unknown, and for averages by them. */
static void make_cells(struct line *line, const struct dp_flat_row *row, uint64_t total,
                       const struct dp_prof *prof, const struct dp_classic *how)
{
    const struct scale scale = scale_of(prof, how);
    uint64_t hz = scale.hz;
    int exact = scale.is_time ? 3 : at_most(scale.decimals, 3);
    uint64_t part = how->inclusive ? row->incl : row->self;
    double calls = row->calls ? (double)row->calls : 1;
    fit_number(line->cell[PCT], total ? 100.0 * (double)part / (double)total : 0, 2,
               columns[PCT].width);
    fit_number(line->cell[EXCL], seconds_of(row->self, hz), exact, columns[EXCL].width);
    fit_number(line->cell[CUMUL], seconds_of(row->incl, hz), exact, columns[CUMUL].width);
    snprintf(line->cell[CALLS], 48, "%llu", (unsigned long long)row->calls);
    fit_number(line->cell[PER], seconds_of(row->self, hz) / calls, 4, columns[PER].width);
    fit_number(line->cell[CPER], seconds_of(row->incl, hz) / calls, 4, columns[CPER].width);
    if (is_human(prof, how)) {
        human_time(line->cell[EXCL], (double)row->self, hz);
        human_time(line->cell[CUMUL], (double)row->incl, hz);
        human_time(line->cell[PER], (double)row->self / calls, hz);
        human_time(line->cell[CPER], (double)row->incl / calls, hz);
    }
    for (int c = CALLS; c < COLUMNS; c++)
        if (dp_prof_no_calls(prof) && !row->calls)
            memcpy(line->cell[c], "-", 2);
}

/* Prints a name at the end of a row, which is `indent` columns long. A name that is too long for
 * `width` columns continues below itself; 0: there is no limit. */
static void print_name(struct dp_sink *sink, const struct dp_buf *name, size_t indent, size_t width)
{
    size_t room = width > indent + NAME_MIN ? width - indent : NAME_MIN;
    const char *p = name->ptr;
    size_t left = name->len;
    while (left) {
        size_t n = width ? dp_text_break(p, left, room) : left;
        dp_sink_add(sink, p, n);
        p += n;
        left -= n;
        if (left) {
            dp_sink_adds(sink, "\n");
            dp_sink_blanks(sink, indent);
        }
    }
    dp_sink_adds(sink, "\n");
}

/* Writes the name of a row, escaped for a terminal. Beyond the numbers of subs there are rows for
 * the group of -G, for all other subs, and for the program. */
static void write_row_name(struct dp_buf *to, const struct dp_flat_row *row,
                           const struct dp_names *names, const struct dp_classic *how)
{
    size_t n = dp_names_count(names);
    dp_buf_clear(to);
    if (row->name < n) {
        const struct dp_name *name = dp_pool_name(&names->pool, row->name);
        dp_text_escape(to, name->ptr, name->len);
    } else if (row->name == n) {
        dp_text_escape(to, how->group, how->group_len);
    } else {
        dp_buf_adds(to, row->name == n + 1 ? "other" : DP_FMT_PROGRAM);
    }
}

/* Prints a line of the head with a label, aligned at its end, and a total. */
static void print_counted(struct dp_sink *sink, const char *label, const char *total)
{
    size_t len = strlen(label);
    dp_sink_blanks(sink, len < LABEL_WIDTH ? LABEL_WIDTH - len : 0);
    dp_text_print(sink, label, len);
    dp_sink_addf(sink, " = %8s\n", total);
}

/* The number of files that contributed; a file that could not be read is in no sum. */
static size_t files_with_calls(const struct dp_prof *prof)
{
    size_t n = 0;
    for (size_t i = 0; i < dp_prof_files(prof); i++) {
        struct dp_outcome o;
        dp_prof_outcome(prof, i, &o);
        n += o.code == 0 || o.marks || o.contexts;
    }
    return n;
}

/* Prints what dprofpp shows above its rows: the time that passed, the total, the titles. width: by
 * column, as wide as its widest cell. */
static void print_head(struct dp_sink *sink, const struct dp_prof *prof, const struct dp_flat *flat,
                       const struct dp_classic *how, const size_t *width)
{
    static const struct dp_classic times;
    char num[48];
    const char *unit = dp_prof_unit(prof);
    const struct scale scale = scale_of(prof, how), elapsed = scale_of(prof, &times);
    bool time = scale.is_time;
    if (elapsed.is_time) {
        size_t files = how->summed ? files_with_calls(prof) : 1;
        head_seconds(num, dp_prof_total(prof, DP_T_REAL), &elapsed);
        dp_sink_addf(sink, "Total Elapsed Time = %8s Seconds", num);
        if (files > 1)          /* processes run side by side */
            dp_sink_addf(sink, " (sum of %zu files)", files);
        dp_sink_adds(sink, "\n");
    }
    head_seconds(num, flat->total, &scale);
    if (how->counter)
        print_counted(sink, how->counter_label, num);
    else if (time)
        dp_sink_addf(sink, "  %11s Time = %8s Seconds\n", time_names[how->time], num);
    else
        dp_sink_addf(sink, "Total = %s %s\n", num, *unit ? unit : "(unit unknown)");
    dp_sink_addf(sink, "%s %s\n", how->inclusive ? "Inclusive" : "Exclusive",
                 time ? "Times" : "Counts");
    bool people = is_human(prof, how);
    for (int c = 0; c < COLUMNS; c++)
        dp_sink_addf(sink, "%*s", (int)(gap_of(c, people) + width[c]),
                     people ? columns[c].human
                     : time ? columns[c].head
                            : columns[c].of_counts);
    dp_sink_adds(sink, "  Name\n");
}

/* Prints the sums of the group of -G, in the words of the classic dprofpp. */
static void print_group(struct dp_sink *sink, const struct dp_flat *flat,
                        const struct dp_classic *how)
{
    const char *const what[] = { "Calls", how->counter ? "Counts" : "Times",
                                 how->counter ? "IncCounts" : "IncTimes" };
    const uint64_t value[] = { flat->group.calls, flat->group.self, flat->group.incl };
    dp_sink_adds(sink, "Option G Grouping: [");
    dp_text_print(sink, how->group, how->group_len);
    dp_sink_adds(sink, "]\n");
    for (int i = 0; i < 3; i++) {
        dp_sink_adds(sink, "Grouping [");
        dp_text_print(sink, how->group, how->group_len);
        dp_sink_addf(sink, "] %s: [%llu]\n", what[i], (unsigned long long)value[i]);
    }
}

/* Explains the table to people. The classic layout has no such lines. */
static void print_notes(struct dp_sink *sink, const struct dp_flat *flat, size_t shown,
                        const struct dp_notes *seen, const struct dp_classic *how,
                        struct dp_buf *text)
{
    dp_buf_clear(text);
    dp_buf_adds(text, "\n");
    if (shown < flat->count)
        dp_buf_addf(text, "These are %zu of %zu subs; -O N shows N.\n", shown, flat->count);
    dp_buf_adds(text, "Excl: the sub alone. Cumul: with the subs that it calls. /call: divided by "
                      "#Calls.\n");
    dp_notes_add(text, seen);
    dp_buf_adds(text, "Next: dprofpp -S shows which subs call which, dprofreport --callers SUB who"
                      " calls a sub.\n");
    if (how->width)
        dp_render_wrapped(sink, text->ptr, text->len, how->width, "  ");
    else
        dp_sink_add(sink, text->ptr, text->len);
}

/* Prints the titles and rows. The first pass over the rows only finds how wide the columns must
 * be. */
static void print_table(struct dp_sink *sink, const struct dp_prof *prof,
                        const struct dp_flat *flat, const struct dp_names *names,
                        const struct dp_classic *how, struct dp_buf *name)
{
    size_t width[COLUMNS], indent = 2, n = flat->count < how->rows ? flat->count : how->rows;
    struct line line;
    struct dp_notes seen = { false, false };
    bool people = is_human(prof, how);
    for (int c = 0; c < COLUMNS; c++)
        width[c] = width_of(c, people);
    for (size_t i = 0; i < n; i++) {
        make_cells(&line, &flat->rows[i], flat->total, prof, how);
        for (int c = 0; c < COLUMNS; c++)
            if (strlen(line.cell[c]) > width[c])
                width[c] = strlen(line.cell[c]);
    }
    for (int c = 0; c < COLUMNS; c++)
        indent += gap_of(c, people) + width[c];
    if (!how->no_header)
        print_head(sink, prof, flat, how, width);
    for (size_t i = 0; i < n; i++) {
        make_cells(&line, &flat->rows[i], flat->total, prof, how);
        for (int c = 0; c < COLUMNS; c++)
            dp_sink_addf(sink, "%*s", (int)(gap_of(c, people) + width[c]), line.cell[c]);
        dp_sink_adds(sink, "  ");
        write_row_name(name, &flat->rows[i], names, how);
        dp_notes_look(&seen, name->ptr, name->len);
        print_name(sink, name, indent, how->width);
    }
    if (how->human && !how->no_header)
        print_notes(sink, flat, n, &seen, how, name);
}

int dp_classic_flat(const struct dp_prof *prof, const struct dp_names *names,
                    const struct dp_classic *how, const struct dp_host *host)
{
    struct dp_flat flat;
    struct dp_buf name;
    struct dp_sink *sink = dp_sink_of_host(host);
    int rc = sink ? dp_flat_make(&flat, prof, names, how) : DP_E_NOMEM;
    if (rc == 0) {
        dp_buf_init(&name);
        if (how->group)
            print_group(sink, &flat, how);
        print_table(sink, prof, &flat, names, how, &name);
        rc = name.err;
        dp_buf_release(&name);
        dp_flat_release(&flat);
    }
    int ended = dp_sink_end(sink);
    return rc < 0 ? rc : ended;
}

/* ---- -S ---- */

/* Has the node a kid left? The walk uses up first[]: first[n] is n's next kid in order. */
static bool has_kid(const struct dp_tree *tree, uint32_t n)
{
    uint32_t at = tree->first[n];
    return at < tree->count - 1 && tree->branches[tree->order[at]].parent == n;
}

/* Prints ticks as seconds with the decimals of the clock. */
static void put_seconds(struct dp_sink *sink, uint64_t ticks, const struct scale *scale)
{
    char text[48];
    fit_number(text, seconds_of(ticks, scale->hz), scale->decimals, sizeof text);
    dp_sink_adds(sink, text);
}

/* Prints the line of branch n: its name, its calls, and its inclusive time as the sum of its own
 * and that of its callees. */
static void print_branch(struct dp_sink *sink, const struct dp_tree *tree, uint32_t n, size_t level,
                         const struct dp_names *names, const struct dp_prof *prof,
                         const struct scale *scale)
{
    const struct dp_branch *b = &tree->branches[n];
    const char *unit = scale->is_time ? "s" : "";
    dp_sink_blanks(sink, 2 * (level < LEVELS ? level : LEVELS));
    if (level > LEVELS)
        dp_sink_addf(sink, "[%zu] ", level);
    if (n == 0) {
        dp_sink_adds(sink, DP_FMT_PROGRAM);
    } else {
        const struct dp_name *name = dp_pool_name(&names->pool, b->name);
        dp_text_print(sink, name->ptr, name->len);
    }
    if (!dp_prof_no_calls(prof) || b->calls)
        dp_sink_addf(sink, " x %llu", (unsigned long long)b->calls);
    dp_sink_adds(sink, "  \t");
    put_seconds(sink, b->incl, scale);
    dp_sink_adds(sink, unit);
    if (has_kid(tree, n)) {
        dp_sink_adds(sink, " = (");
        put_seconds(sink, b->self, scale);
        dp_sink_adds(sink, " + ");
        put_seconds(sink, b->incl - b->self, scale);
        dp_sink_adds(sink, ")");
        dp_sink_adds(sink, unit);
    }
    dp_sink_adds(sink, "\n");
}

/* Prints the merged tree depth first, without recursion. This uses up tree->first, so a tree is
 * printed once. */
static void print_tree(struct dp_sink *sink, const struct dp_tree *tree,
                       const struct dp_names *names, const struct dp_prof *prof,
                       const struct dp_classic *how)
{
    bool program = how->program && how->only < 0;
    const struct scale scale = scale_of(prof, how);
    size_t level = program;
    uint32_t at = 0;
    if (program)
        print_branch(sink, tree, 0, 0, names, prof, &scale);
    for (;;) {
        if (has_kid(tree, at)) {
            uint32_t kid = tree->order[tree->first[at]++];
            print_branch(sink, tree, kid, level, names, prof, &scale);
            at = kid;
            level++;
        } else if (at == 0) {
            return;
        } else {
            at = tree->branches[at].parent;
            level--;
        }
    }
}

int dp_classic_merged(const struct dp_prof *prof, const struct dp_names *names,
                      const struct dp_classic *how, const struct dp_host *host)
{
    struct dp_tree tree;
    struct dp_sink *sink = dp_sink_of_host(host);
    int rc = sink ? dp_tree_make(&tree, prof, names, how) : DP_E_NOMEM;
    if (rc == 0) {
        print_tree(sink, &tree, names, prof, how);
        dp_tree_release(&tree);
    }
    int ended = dp_sink_end(sink);
    return rc < 0 ? rc : ended;
}
