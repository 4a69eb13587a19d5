/* Inside the fuzz target of profiles: the choice of a view, what views print and how that is
 * checked. */
#ifndef FUZZ_H
#define FUZZ_H

#include "dp_err.h"
#include "dp_prof.h"
#include "dprof/classic.h"
#include "dprof/report.h"
#include "dprof/stacks.h"
#include "dprof/trace.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which view an input is shown in, and how. An input may end with FUZZ_MARK and the bytes of a
 * choice, which are then no part of the profile: so a fuzzer can change either and keep the other.
 * For other inputs the choice is a hash of the input. */
#define FUZZ_MARK "#view"
enum { FUZZ_MORE = 10 };
struct fuzz_choice {
    uint8_t view;               /* which one */
    uint8_t kind;               /* what the view has the most choices of: its format, its order */
    uint8_t reading;            /* how the profile is read: fuzz_read */
    uint8_t starve;             /* below 16: an allocation fails; `more` says which */
    uint8_t more[FUZZ_MORE];    /* all other picks, in their order */
};

struct fuzz {
    const uint8_t *data;
    size_t size;
    struct fuzz_choice c;
    size_t asked;               /* bytes of c.more */
    uint64_t state;             /* the state of the generator that makes the picks after these */
    bool starved;               /* an allocation may fail, and so anything */
    bool several;               /* several profiles are merged, and their sums may exceed the
                                 * limit */
    const char *name;           /* the name of the view */
};

/* The first shows an input in the view that it has chosen, the second in all views, each in several
 * ways: for inputs that are kept. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
void fuzz_all(const uint8_t *data, size_t size);
/* Puts a choice behind an input of n bytes, or in place of the one it has. Returns its length. */
size_t fuzz_choose(uint8_t *data, size_t n, size_t max, uint64_t random);

/* A number below n. */
uint32_t fuzz_pick(struct fuzz *f, uint32_t n);
static inline bool fuzz_flip(struct fuzz *f) { return fuzz_pick(f, 2) != 0; }

/* ---- what must hold ---- */

void fuzz_not_so(const char *what, const char *file, int line);
#define CHECK(cond) do { if (!(cond)) fuzz_not_so(#cond, __FILE__, __LINE__); } while (0)
/* Checks what may fail only for want of memory; false if it has failed. */
#define GOOD(f, cond) fuzz_good((f), (cond), #cond, __FILE__, __LINE__)
bool fuzz_good(const struct fuzz *f, bool so, const char *what, const char *file, int line);

/* ---- profiles ---- */

/* The input's first bytes as a file: text that may be followed, from the first NUL on, by the
 * pieces that its process left. */
struct dp_file_mem fuzz_mem(const struct fuzz *f, size_t size);
/* A profile of the input's first bytes. what: phases and detail where the view needs them, in
 * addition to what the input has chosen. NULL when memory is short. */
enum { FUZZ_PHASES = 1, FUZZ_DETAIL = 2, FUZZ_PAIRS = 4, FUZZ_PLAIN = 8, FUZZ_CHART = 16 };
struct dp_prof *fuzz_read(struct fuzz *f, size_t size, unsigned what);
/* The name of a sub, as labels have it, or "x": in a buffer that the next call writes to. */
const char *fuzz_label(struct fuzz *f, const struct dp_prof *prof, unsigned label_flags,
                       size_t *len);
/* A metric that the profile has; *counter is which one where it is DP_M_COUNTER. */
enum dp_metric fuzz_metric(struct fuzz *f, const struct dp_prof *prof, size_t *counter);

/* ---- what is printed ---- */

/* A host that keeps all of it until the next view; for some choices it refuses to take more. */
struct dp_host fuzz_host(struct fuzz *f);
/* Has a view printed all, by what it returns? It has not where the host refused to take more, or
 * memory was short. */
#define PRINTED(f, rc) fuzz_printed((f), (rc), __FILE__, __LINE__)
bool fuzz_printed(const struct fuzz *f, long rc, const char *file, int line);
const char *fuzz_printed_text(size_t *len);

/* The text is UTF-8, without control bytes but newline and tab; colour: escapes of colours are
 * allowed. */
void fuzz_check_text(bool colour);
/* The text has no control byte of ASCII but newline; other bytes of names are as they were. */
void fuzz_check_bytes(void);
void fuzz_check_json(void);
void fuzz_check_csv(void);
/* Tags nest, and widths and heights are numbers that are not negative. */
void fuzz_check_markup(void);
/* Checks a format of enum dp_format. */
void fuzz_check_format(int format, bool colour, bool separator);

/* ---- the views, by file ---- */

void fuzz_flat(struct fuzz *f);
void fuzz_merged(struct fuzz *f);
void fuzz_trace(struct fuzz *f);
void fuzz_dump(struct fuzz *f);
void fuzz_report(struct fuzz *f);
void fuzz_edges(struct fuzz *f);
void fuzz_lines(struct fuzz *f);

void fuzz_diff(struct fuzz *f);
void fuzz_diff_same(struct fuzz *f);
void fuzz_diff_tree(struct fuzz *f);
void fuzz_gate(struct fuzz *f);
void fuzz_labels(struct fuzz *f);

void fuzz_fold(struct fuzz *f);
void fuzz_export(struct fuzz *f);
void fuzz_calls(struct fuzz *f);
void fuzz_stacks(struct fuzz *f);
void fuzz_svg(struct fuzz *f);
void fuzz_page(struct fuzz *f);
void fuzz_chart(struct fuzz *f);
void fuzz_layout(struct fuzz *f);

void fuzz_write(struct fuzz *f);
void fuzz_merge(struct fuzz *f);
void fuzz_take(struct fuzz *f);
void fuzz_files(struct fuzz *f);

#endif
