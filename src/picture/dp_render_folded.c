/* Prints stacks as folded text. Each line has a stack's frames from the caller to the callee,
 * separated by semicolons, and the value of each side (FlameGraph's README describes the form). */
#include "dp_print_stacks.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_render.h"

#include <math.h>
#include <string.h>

struct folding {
    const struct dp_stacks *s;
    const struct dp_fold_how *how;
    struct dp_sink *sink;
    struct dp_buf path, line;
    size_t *ends;               /* by depth: length of the path in bytes down to there */
    size_t ends_cap;
    const struct dp_name *leaf; /* last frame of the path, and where it begins there */
    size_t begin;
    const double *factor;       /* by column */
    uint64_t *seen, *printed;   /* by column, whole numbers: ticks so far, and the part that was
                                 * printed */
    bool whole;                 /* how->whole, if the numbers fit */
    struct dp_stacks_ends deep; /* limits of deep stacks */
    bool cut;                   /* the current line is shortened */
    uint64_t lines, shortened;
};

/* The place of the blank before the number that ends a name; the name's length if there is none. */
static size_t before_number(const struct dp_name *name)
{
    size_t at = name->len;
    if (!at || !strchr("0123456789.+-", name->ptr[at - 1]))
        return at;
    while (at && name->ptr[at - 1] != ' ')
        at--;
    return at && dp_num_is_like(name->ptr + at, name->len - at) ? at - 1 : name->len;
}

/* Appends a name, escaping the bytes that a reader would misinterpret, as the reader decodes them
 * (Format.pod, "FOLDED STACKS"). number: from before_number, or the name's length. */
static void add_name(struct dp_buf *to, const struct dp_name *name, size_t number)
{
    static const char hex[] = "0123456789ABCDEF";
    for (size_t i = 0; i < name->len; i++) {
        unsigned char c = (unsigned char)name->ptr[i];
        bool is_code = c == '%' && i + 2 < name->len && dp_num_hexdigit(name->ptr[i + 1]) >= 0
                       && dp_num_hexdigit(name->ptr[i + 2]) >= 0;
        bool comment = c == '#' && !i && !to->len;
        bool blank = c == ' ' && (i + 1 == name->len || i == number);
        if (c < 0x20 || c == 0x7f || c == ';' || is_code || comment || blank) {
            char code[3] = { '%', hex[c >> 4], hex[c & 15] };
            dp_buf_add(to, code, 3);
        } else {
            dp_buf_addc(to, (char)c);
        }
    }
}

/* Removes trailing zeros of a number's decimals. */
static void trim_zeros(struct dp_buf *to, size_t from)
{
    if (to->err || !memchr(to->ptr + from, '.', to->len - from))
        return;
    while (to->ptr[to->len - 1] == '0')
        to->len--;
    if (to->ptr[to->len - 1] == '.')
        to->len--;
}

/* Appends a real number, with as many decimals as distinguish it from 0. */
static void add_real(struct dp_buf *to, double v)
{
    unsigned decimals = 6;
    for (double small = 1e-5; v > 0 && v < small && decimals < 18; small /= 10)
        decimals++;
    size_t from = to->len;
    dp_render_real(to, v, decimals, false);
    trim_zeros(to, from);
}

/* Appends the value of a column. Whole numbers are rounded so that the output adds up to the total:
 * a later line gets what one line lacks. Returns whether the value is not 0. */
static bool add_value(struct folding *f, size_t c, uint64_t ticks)
{
    const struct dp_fold_how *how = f->how;
    double factor = f->factor[c];
    dp_buf_addc(&f->line, ' ');
    if (factor != 1) {
        add_real(&f->line, (double)ticks * factor / (double)f->s->hz[c] * (double)how->per);
        return ticks != 0;
    }
    if (f->whole && f->s->hz[c] > 1) {
        uint64_t now = f->printed[c];
        f->seen[c] += ticks;
        /* no more than the total, which fits */
        (void)dp_num_scale(f->seen[c], how->per, f->s->hz[c], &now);
        uint64_t value = now > f->printed[c] ? now - f->printed[c] : 0;
        f->printed[c] += value;
        dp_buf_addu(&f->line, value);
        return value != 0;
    }
    /* fractions of seconds: ticks of the unit */
    char num[64];
    uint64_t hz = f->s->hz[c];
    size_t from = f->line.len;
    if (how->per > 1 && hz % how->per == 0) {
        dp_buf_add(&f->line, num, dp_render_seconds(num, ticks, hz / how->per));
    } else if (how->per > 1) {
        add_real(&f->line, (double)ticks / (double)hz * (double)how->per);
    } else {
        dp_buf_add(&f->line, num, dp_render_seconds(num, ticks, hz));
    }
    trim_zeros(&f->line, from);
    return ticks != 0;
}

/* Appends the path up to a byte of its last frame; for a deep stack, its two ends. */
static void add_path(struct folding *f, size_t depth, size_t end)
{
    if (depth <= f->deep.most) {
        dp_buf_add(&f->line, f->path.ptr, end);
        return;
    }
    size_t from = f->ends[depth - f->deep.tail];
    dp_buf_add(&f->line, f->path.ptr, f->ends[f->deep.head]);
    dp_buf_addf(&f->line, ";(%zu frames left out)", depth - f->deep.head - f->deep.tail);
    dp_buf_add(&f->line, f->path.ptr + from, end - from);
    f->cut = true;
}

/* Prints the stack in f->path with the values of its leaf, by column; depth 0: the program itself.
 * A line whose values are all 0, or become 0 by rounding, is left out. */
static int print_line(struct folding *f, size_t depth, const uint64_t *values)
{
    bool any = false;
    for (size_t c = 0; c < f->s->n_columns; c++)
        any = any || values[c];
    if (!any)
        return 0;
    f->line.len = 0;
    /* a reader would take one count after a number for two counts */
    size_t number = depth && f->s->n_columns == 1 ? before_number(f->leaf) : 0;
    if (depth && number < f->leaf->len && f->s->n_columns == 1) {
        add_path(f, depth, f->begin);
        add_name(&f->line, f->leaf, number);
    } else if (depth) {
        add_path(f, depth, f->ends[depth]);
    } else {
        dp_buf_adds(&f->line, DP_FMT_PROGRAM);
    }
    any = false;
    for (size_t c = 0; c < f->s->n_columns; c++)
        any |= add_value(f, c, values[c]);
    dp_buf_addc(&f->line, '\n');
    if (f->path.err || f->line.err)
        return DP_E_NOMEM;
    if (any) {
        dp_sink_add(f->sink, f->line.ptr, f->line.len);
        f->lines++;
        f->shortened += f->cut;
    }
    f->cut = false;
    return f->sink->err;
}

/* Replaces the frame of f->path at `depth`, and everything below it, by a frame of this name. Depth
 * 0 is the program, which has no frame in folded text. */
static int set_frame(struct folding *f, size_t depth, uint32_t name)
{
    if (dp_mem_grow((void **)&f->ends, &f->ends_cap, depth + 1, sizeof *f->ends) < 0)
        return DP_E_NOMEM;
    if (!depth) {
        f->ends[0] = 0;
        return 0;
    }
    f->path.len = f->ends[depth - 1];
    if (depth > 1)
        dp_buf_addc(&f->path, ';');
    f->leaf = &f->s->names[name].text;
    /* a reader would take a sub with the root's name for the root */
    if (depth == 1 && f->leaf->len == strlen(DP_FMT_PROGRAM)
        && memcmp(f->leaf->ptr, DP_FMT_PROGRAM, f->leaf->len) == 0)
        dp_buf_adds(&f->path, DP_FMT_PROGRAM ";");
    f->begin = f->path.len;
    add_name(&f->path, f->leaf, f->leaf->len);
    f->ends[depth] = f->path.len;
    return f->path.err;
}

/* Appends a frame that replaces n frames. */
static int skip_frames(struct folding *f, size_t depth, size_t n)
{
    if (dp_mem_grow((void **)&f->ends, &f->ends_cap, depth + 1, sizeof *f->ends) < 0)
        return DP_E_NOMEM;
    dp_buf_addf(&f->path, ";(%zu frames left out)", n);
    f->ends[depth] = f->path.len;
    f->cut = true;
    return f->path.err;
}

/* Prints stacks from their leaves up, in order. */
static int print_backward(struct folding *f, const uint32_t *depth)
{
    const struct dp_stacks *s = f->s;
    /* By frame: the frame itself or the one above it that is no deeper than the tail. */
    uint32_t *low = dp_mem_realloc(NULL, s->count + 1, sizeof *low), *who = NULL;
    size_t count = 0;
    int rc = low ? dp_stacks_by_leaf(s, &who, &count) : DP_E_NOMEM;
    if (rc == 0)
        rc = set_frame(f, 0, 0);
    if (rc == 0)
        rc = print_line(f, 0, s->self);
    for (uint32_t i = 0; i < s->count && rc == 0; i++)
        low[i] = depth[i] <= f->deep.tail ? i : low[s->frames[i].parent];
    for (size_t k = 0; k < count && rc == 0; k++) {
        uint32_t at = who[k], deep = depth[at];
        size_t d = 0;
        while (at && rc == 0) {
            rc = set_frame(f, ++d, s->frames[at].name);
            at = s->frames[at].parent;
            if (rc == 0 && d == f->deep.head && deep > f->deep.most) {
                rc = skip_frames(f, ++d, deep - f->deep.head - f->deep.tail);
                at = low[at];
            }
        }
        if (rc == 0)
            rc = print_line(f, d, &s->self[(size_t)who[k] * s->n_columns]);
    }
    dp_mem_free(low);
    dp_mem_free(who);
    return rc;
}

/* Prints stacks from their roots down, in the order of the tree. */
static int print_forward(struct folding *f)
{
    const struct dp_stacks *s = f->s;
    uint32_t *open = NULL;      /* by depth: the frame */
    size_t cap = 0, depth = 0;
    int rc = 0;
    for (uint32_t i = 0; i < s->count && rc == 0; i++) {
        while (i && s->frames[open[depth]].end <= i)
            depth--;
        depth += i != 0;
        if (dp_mem_grow((void **)&open, &cap, depth + 1, sizeof *open) < 0) {
            rc = DP_E_NOMEM;
            break;
        }
        open[depth] = i;
        rc = set_frame(f, depth, s->frames[i].name);
        if (rc == 0)
            rc = print_line(f, depth, &s->self[(size_t)i * s->n_columns]);
    }
    dp_mem_free(open);
    return rc;
}

/* Prints all stacks, and frees what that needs. Values are whole numbers only if the total of every
 * column fits; else they have decimals. */
static int fold_stacks(struct folding *f)
{
    size_t n = f->s->n_columns;
    f->seen = dp_mem_zalloc((n + 1) * sizeof *f->seen);
    f->printed = dp_mem_zalloc((n + 1) * sizeof *f->printed);
    uint32_t *depth = NULL;
    int rc = f->seen && f->printed ? dp_stacks_depths(f->s, &depth, &f->deep) : DP_E_NOMEM;
    if (rc == 0) {
        uint64_t all;
        f->whole = f->how->whole;
        for (size_t c = 0; c < n; c++)
            f->whole = f->whole && dp_num_scale(f->s->total[c], f->how->per, f->s->hz[c], &all);
    }
    if (rc == 0)
        rc = f->how->reverse ? print_backward(f, depth) : print_forward(f);
    dp_mem_free(f->seen);
    dp_mem_free(f->printed);
    dp_mem_free(depth);
    dp_mem_free(f->ends);
    dp_buf_release(&f->path);
    dp_buf_release(&f->line);
    return rc;
}

/* Prints the stacks as folded stacks: a line with the path and the value for each stack. Returns 0
 * or a DP_E. */
int dp_print_folded(const struct dp_stacks_printing *p)
{
    struct folding f = { .s = p->s, .how = p->job->fold, .sink = p->sink, .factor = p->factor };
    dp_buf_init(&f.path);
    dp_buf_init(&f.line);
    int rc = fold_stacks(&f);
    p->out->lines = f.lines;
    p->out->shortened = f.shortened;
    p->out->most = f.deep.most;
    return rc;
}
