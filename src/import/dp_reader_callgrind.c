/* Reads callgrind.out. Valgrind's manual describes the format ("Callgrind Format Specification").
 * Costs of functions and of calls are added up while the file is read; contexts are made at the
 * end. */
#include "dp_reader_callgrind.h"
#include "dp_callgraph.h"
#include "dp_linecosts.h"
#include "dp_buf.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_pool.h"

#include <string.h>

#define NONE UINT32_MAX

enum {
    POSITIONS = 3,              /* positions of a line: instr, line, bb */
    EVENTS = DP_IMPORT_VALUES - 1      /* calls are one more kind of value */
};

/* Names that appear once with a number, and later as the number alone. */
enum space { OBJECTS, FILES, FUNCTIONS, SPACES };

/* The meaning of a line with a cost. */
enum next { OWN_COST, CALL_COST, JUMP };

/* A function, defined by its file and name; without a file, by its object and name. */
struct known {
    uint32_t name, file;        /* in names */
    uint64_t line;
};

/* Lines with the sum of all costs. */
#define SUMS(X) X(TOTALS, "totals") X(SUMMARY, "summary")
enum {
    SUMS_NONE = -1,
#define NUMBER(name, key) name,
    SUMS(NUMBER)
#undef NUMBER
    SUMS_KINDS
};
static const char *const sums_keys[] = {
#define KEY(name, key) key,
    SUMS(KEY)
#undef KEY
};

/* The meaning of an event for people; both in names. */
struct description {
    uint32_t name, text;
};

struct callgrind {
    struct dp_pool names;
    struct description about[EVENTS];
    size_t n_about;
    struct dp_map numbers[SPACES];      /* to names */
    struct dp_map function_of;  /* file and name -> function */
    struct known *known;        /* by function of the graph */
    size_t known_cap;
    struct dp_callgraph graph;
    struct dp_linecosts lines;
    struct dp_buf events;       /* the line of the first part */
    size_t n_events;
    bool calls;                 /* cachegrind's files have no calls */
    size_t n_positions, line_at;        /* number of positions, and which one is the line */
    uint64_t position[POSITIONS];       /* in the previous line */
    uint32_t object, file, function_file;       /* file: differs for inlined code */
    uint32_t called_object, called_file, called_name;   /* NONE: the same as the caller's */
    uint32_t function;          /* NONE before the first function */
    enum next next;
    uint64_t n_calls;
    uint64_t called_line;
    int promised;               /* the kind of line with sums that the file's writer always
                                 * writes */
    bool has_sums[SUMS_KINDS];
    uint64_t told[SUMS_KINDS];  /* of the first event, over all parts: sum in the file; and the sum
                                 * that was read */
    uint64_t sum, n_costs;
};

static struct callgrind *state(const struct dp_reader *r) { return r->import.state; }

/* ---- words ---- */

/* Returns a text without its first n bytes, and without blanks at both ends. */
static struct dp_text text_after(struct dp_text t, size_t n)
{
    t.ptr += n;
    t.len -= n;
    while (t.len && dp_is_blank(*t.ptr))
        t.ptr++, t.len--;
    while (t.len && dp_is_blank(t.ptr[t.len - 1]))
        t.len--;
    return t;
}

static int bad_line(struct dp_reader *r, const char *what, struct dp_text line)
{
    return dp_import_bad(r, what, text_after(line, 0));
}

/* Returns the next word of a line, and removes it from the rest. */
static struct dp_text next_word(struct dp_text *rest)
{
    *rest = text_after(*rest, 0);
    struct dp_text w = { rest->ptr, 0 };
    while (w.len < rest->len && !dp_is_blank(w.ptr[w.len]))
        w.len++;
    rest->ptr += w.len;
    rest->len -= w.len;
    return w;
}

/* Reads decimal digits, or hexadecimal ones after 0x. */
static bool read_number(struct dp_text w, uint64_t *out)
{
    if (dp_import_begins(w, "0x"))
        return dp_num_hex(w.ptr + 2, w.len - 2, out);
    return dp_num_dec(w.ptr, w.len, out);
}

/* ---- the header ---- */

/* Splits a line KEY: VALUE of a header. Returns false if it is another line, or if key is given and
 * not the line's. *value: the text after the colon. */
static bool split_header_line(struct dp_text line, const char *key, struct dp_text *value)
{
    size_t n = 0;
    while (n < line.len && dp_is_lower(line.ptr[n]))
        n++;
    if (!n || n == line.len || line.ptr[n] != ':')
        return false;
    *value = text_after(line, n + 1);
    return !key || dp_import_is((struct dp_text){ line.ptr, n }, key);
}

/* Does the last word look like a count? Folded stacks end like this, and their first frame may be
 * any word. */
static bool ends_with_count(struct dp_text t)
{
    size_t n = t.len;
    while (n && !dp_is_blank(t.ptr[n - 1]))
        n--;
    return dp_num_is_like(t.ptr + n, t.len - n);
}

/* Recognizes the format. The format's first line may be missing, and so may all others except those
 * of the events. No event has a number as its name. A file that ends, or is damaged, before its
 * events is recognized by its creator. */
static bool is_callgrind(const char *ptr, size_t len)
{
    static const char *const heads[] = { "# callgrind format", "version:", "creator:", "pid:",
                                         "cmd:", "part:", "desc:", "positions:", "events:" };
    const char *end = ptr + len, *nl;
    struct dp_text value;
    bool head = false, created = false, stacks = true;
    if (dp_import_begins((struct dp_text){ ptr, len }, heads[0]))
        return true;
    for (size_t i = 0; i < DP_ARRAY_LEN(heads) && !head; i++)
        head = dp_import_begins((struct dp_text){ ptr, len }, heads[i]);
    for (; head && ptr < end; ptr = nl ? nl + 1 : end) {
        nl = memchr(ptr, '\n', (size_t)(end - ptr));
        struct dp_text line = text_after((struct dp_text){ ptr, (size_t)((nl ? nl : end) - ptr) },
                                         0);
        if (line.len && line.ptr[line.len - 1] == '\r')
            line.len--;
        if (!line.len || *line.ptr == '#')
            continue;
        if (split_header_line(line, "events", &value))
            return !ends_with_count(value);
        if (!split_header_line(line, NULL, &value) && ends_with_count(line))
            return false;
        if (split_header_line(line, "creator", &value)) {
            if (dp_import_begins(value, "xdebug "))
                return true;    /* its version looks like a count */
            created = true;
        }
        stacks = stacks && ends_with_count(line);
    }
    return created && !stacks;
}

/* Reads the line `positions:', which says which positions each line with costs begins with. Only
 * the source line is used. */
static int read_position_kinds(struct dp_reader *r, struct dp_text rest)
{
    struct callgrind *cg = state(r);
    struct dp_text w, line = rest;
    cg->n_positions = 0;
    cg->line_at = POSITIONS;
    while ((w = next_word(&rest)).len) {
        if (cg->n_positions == POSITIONS)
            return bad_line(r, "there are more than three positions", line);
        if (dp_import_is(w, "line"))
            cg->line_at = cg->n_positions;
        cg->n_positions++;
    }
    return cg->n_positions ? 0 : bad_line(r, "there is no position", line);
}

/* Splits "NAME (UNIT)" or "NAME_(UNIT)", such as Time_(10ns), into name and unit. The unit is empty
 * if the text does not end with a parenthesis. */
static void split_unit(struct dp_text t, struct dp_text *name, struct dp_text *unit)
{
    const char *paren = memchr(t.ptr, '(', t.len);
    *name = t;
    *unit = (struct dp_text){ "", 0 };
    if (!paren || paren == t.ptr || t.ptr[t.len - 1] != ')')
        return;
    size_t n = (size_t)(paren - t.ptr);
    *unit = (struct dp_text){ paren + 1, t.len - n - 2 };
    while (n > 1 && (dp_is_blank(t.ptr[n - 1]) || t.ptr[n - 1] == '_'))
        n--;
    name->len = n;
}

/* Notes an event's description, which precedes the line `events:'. */
static int describe_event(struct dp_reader *r, struct dp_text rest)
{
    struct callgrind *cg = state(r);
    struct dp_text name = next_word(&rest);
    const char *colon = NULL;
    for (size_t i = rest.len; i-- > 0 && !colon;)
        if (rest.ptr[i] == ':')
            colon = rest.ptr + i;
    if (!name.len || !colon || cg->n_about == EVENTS)
        return 0;
    rest = text_after(rest, (size_t)(colon - rest.ptr) + 1);
    struct description *about = &cg->about[cg->n_about++];
    about->name = dp_pool_intern(&cg->names, name.ptr, name.len);
    about->text = dp_pool_intern(&cg->names, rest.ptr, rest.len);
    bool full = about->name == DP_MAP_NONE || about->text == DP_MAP_NONE;
    return full ? dp_import_error(r, DP_E_NOMEM) : 0;
}

/* Adds an event. Its name is that of its column, unless its description is one word with a unit. */
static int add_event(struct dp_reader *r, struct dp_text column)
{
    struct callgrind *cg = state(r);
    struct dp_text name, unit;
    split_unit(column, &name, &unit);
    for (size_t i = 0; i < cg->n_about; i++) {
        struct dp_text of = dp_import_name(&cg->names, cg->about[i].name), word, in;
        split_unit(dp_import_name(&cg->names, cg->about[i].text), &word, &in);
        if (of.len == column.len && memcmp(of.ptr, column.ptr, of.len) == 0 && in.len
            && !memchr(word.ptr, ' ', word.len))
            name = word, unit = in;
    }
    return dp_import_value(r, name, unit);
}

/* Reads the kinds of values. Each part of a file repeats them. */
static int read_events(struct dp_reader *r, struct dp_text rest)
{
    struct callgrind *cg = state(r);
    struct dp_text w, line = rest;
    if (cg->n_events) {
        if (line.len != cg->events.len || memcmp(line.ptr, cg->events.ptr, line.len) != 0)
            return bad_line(r, "this part of the file has other events than the first one", line);
        return 0;
    }
    dp_buf_add(&cg->events, line.ptr, line.len);
    while ((w = next_word(&rest)).len) {
        if (cg->n_events == EVENTS)
            return bad_line(r, "there are too many events", line);
        int rc = add_event(r, w);
        if (rc < 0)
            return rc;
        cg->n_events++;
    }
    if (cg->events.err)
        return dp_import_error(r, DP_E_NOMEM);
    return cg->n_events ? 0 : bad_line(r, "there is no event", line);
}

/* Notes the writer of the file, and the sum of all costs. */
static void note_sums(struct callgrind *cg, struct dp_text key, struct dp_text value)
{
    uint64_t told;
    if (dp_import_is(key, "creator"))
        cg->promised = dp_import_begins(value, "callgrind") ? TOTALS
                       : dp_import_begins(value, "Devel::DProf") ? TOTALS
                       : dp_import_begins(value, "xdebug") ? SUMMARY : cg->promised;
    for (int i = 0; i < SUMS_KINDS; i++)
        if (dp_import_is(key, sums_keys[i]) && read_number(next_word(&value), &told)) {
            cg->has_sums[i] = true;
            cg->told[i] += told;
        }
}

/* Reads a line `KEY: VALUE', in a header or at the end. Returns 1; 0 for other lines; or a DP_E. */
static int read_key_line(struct dp_reader *r, struct dp_text line)
{
    struct callgrind *cg = state(r);
    struct dp_text value;
    if (!split_header_line(line, NULL, &value))
        return 0;
    const char *colon = memchr(line.ptr, ':', line.len);
    struct dp_text key = { line.ptr, (size_t)(colon - line.ptr) };
    int rc = dp_import_is(key, "events")      ? read_events(r, value)
             : dp_import_is(key, "event")     ? describe_event(r, value)
             : dp_import_is(key, "positions") ? read_position_kinds(r, value) : 0;
    note_sums(cg, key, value);
    cg->calls = cg->calls || dp_import_is(key, "version") || dp_import_is(key, "creator")
                || dp_import_is(key, "positions");
    return rc < 0 ? rc : 1;
}

/* Makes the reader's state. If there is no line `positions:', lines with costs begin with the
 * source line alone. */
static int new_state(struct dp_reader *r)
{
    struct callgrind *cg = r->import.state = dp_mem_zalloc(sizeof *cg);
    if (!cg)
        return dp_import_error(r, DP_E_NOMEM);
    dp_pool_init(&cg->names);
    for (int i = 0; i < SPACES; i++)
        dp_map_init(&cg->numbers[i]);
    dp_map_init(&cg->function_of);
    dp_callgraph_init(&cg->graph);
    dp_linecosts_init(&cg->lines);
    dp_buf_init(&cg->events);
    cg->n_positions = 1;
    cg->promised = SUMS_NONE;
    cg->object = cg->file = cg->function_file = dp_pool_intern(&cg->names, "", 0);
    cg->called_object = cg->called_file = cg->called_name = cg->function = NONE;
    return cg->object == DP_MAP_NONE ? dp_import_error(r, DP_E_NOMEM) : 0;
}

/* Reads the header, up to the line `events:', which no file lacks. Without events the kinds of
 * values are unknown. */
static int read_head(struct dp_reader *r)
{
    struct dp_text line, calls = { "calls", 5 }, none = { "", 0 };
    int rc = new_state(r), got = 0;
    struct callgrind *cg = state(r);
    while (rc >= 0 && !cg->n_events && (got = dp_import_line(r, &line)) > 0) {
        cg->calls = cg->calls || dp_import_begins(line, "# callgrind format");
        rc = line.len && *line.ptr != '#' ? read_key_line(r, line) : 1;
        if (rc == 0)
            rc = bad_line(r, "this is no line of a header, and there was no line `events:'", line);
    }
    if (rc < 0 || got < 0)
        return rc < 0 ? rc : got;
    if (!cg->n_events)
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "there is no line `events:'");
    rc = cg->calls ? dp_import_value(r, calls, none) : 0;
    cg->graph.width = cg->lines.width = r->import.n_values;
    return rc < 0 ? rc : dp_import_header(r, 0);
}

/* ---- functions ---- */

/* Reads a name of a space, which has its number, or the number alone where the name has come
 * before. *out: its number in cg->names. */
static int read_name(struct dp_reader *r, enum space space, struct dp_text t, uint32_t *out)
{
    struct callgrind *cg = state(r);
    struct dp_map_slot *slot = NULL;
    struct dp_text line = t;
    uint64_t id;
    size_t n = 1;
    while (n < t.len && dp_is_digit(t.ptr[n]))
        n++;
    if (n > 1 && n < t.len && *t.ptr == '(' && t.ptr[n] == ')') {
        if (!dp_num_dec(t.ptr + 1, n - 1, &id))
            return bad_line(r, "the number of this name is too large", line);
        t = text_after(t, n + 1);
        slot = t.len ? dp_map_put(&cg->numbers[space], id) : dp_map_find(&cg->numbers[space], id);
        if (!slot)
            return t.len ? dp_import_error(r, DP_E_NOMEM)
                    : bad_line(r, "no name was given for this number", line);
        if (!t.len)
            return *out = slot->value, 0;
        slot->value = 0;
    }
    *out = dp_pool_intern(&cg->names, t.ptr, t.len);
    if (slot)
        slot->value = *out;
    return *out == DP_MAP_NONE ? dp_import_error(r, DP_E_NOMEM) : 0;
}

static bool is_unknown(struct dp_text file)
{
    return !file.len || dp_import_is(file, "???");
}

/* The function of a file and a name. Objects distinguish functions without a file. */
static int64_t function_of(struct dp_reader *r, uint32_t object, uint32_t file, uint32_t name)
{
    struct callgrind *cg = state(r);
    if (is_unknown(dp_import_name(&cg->names, file)))
        file = object;
    struct dp_map_slot *slot = dp_map_put(&cg->function_of, (uint64_t)file << 32 | name);
    if (!slot)
        return dp_import_error(r, DP_E_NOMEM);
    if (slot->value != DP_MAP_NONE)
        return slot->value;
    slot->value = 0;
    int64_t n = dp_callgraph_function(&cg->graph);
    if (n < 0 || dp_mem_grow((void **)&cg->known, &cg->known_cap, (size_t)n + 1, sizeof *cg->known)
                     < 0)
        return dp_import_error(r, n < 0 ? (int)n : DP_E_NOMEM);
    slot->value = (uint32_t)n;
    cg->known[n] = (struct known){ name, file, 0 };
    return n;
}

/* Begins a function; the following costs belong to it. */
static int begin_function(struct dp_reader *r, struct dp_text t)
{
    struct callgrind *cg = state(r);
    uint32_t name;
    int rc = read_name(r, FUNCTIONS, t, &name);
    int64_t n = rc < 0 ? rc : function_of(r, cg->object, cg->function_file, name);
    if (n < 0)
        return (int)n;
    cg->function = (uint32_t)n;
    cg->file = cg->function_file;
    return 0;
}

/* ---- costs ---- */

/* Reads a position, which may be relative to that of the previous line. */
static bool read_position(struct dp_text w, uint64_t *at)
{
    uint64_t n;
    if (w.len == 1 && *w.ptr == '*')
        return true;
    bool plus = dp_import_begins(w, "+"), minus = dp_import_begins(w, "-");
    if (plus || minus)
        w.ptr++, w.len--;
    if (!read_number(w, &n))
        return false;
    *at = plus ? *at + n : minus ? *at - n : n;
    return true;
}

/* Reads the positions at the beginning of a line of costs, one for each kind that the header
 * names. */
static int read_positions(struct dp_reader *r, struct dp_text *rest, uint64_t *at)
{
    struct callgrind *cg = state(r);
    struct dp_text line = *rest;
    for (size_t i = 0; i < cg->n_positions; i++)
        if (!read_position(next_word(rest), &at[i]))
            return bad_line(r, "this is no position", line);
    return 0;
}

/* Reads the costs of all events; missing ones are 0. Xdebug has negative costs, for freed memory.
 * There are no such values here, so they become 0. */
static int read_costs(struct dp_reader *r, struct dp_text rest, uint64_t *values)
{
    struct callgrind *cg = state(r);
    struct dp_text w, line = rest;
    size_t n = 0;
    memset(values, 0, DP_IMPORT_VALUES * sizeof *values);
    while ((w = next_word(&rest)).len) {
        if (n == cg->n_events)
            return bad_line(r, "there are more costs than events", line);
        bool minus = *w.ptr == '-' && read_number((struct dp_text){ w.ptr + 1, w.len - 1 },
                                                  &values[n]);
        if (!minus && !read_number(w, &values[n]))
            return bad_line(r, "this is no cost", w);
        if (minus && values[n]) {
            values[n] = 0;
            dp_reader_leave_out(r, "a cost is below 0, and is left out", w.ptr, w.len);
        }
        n++;
    }
    return 0;
}

/* Adds the costs of a line to the sums at *to. Returns 0 or a DP_E with a message. */
static int add_costs(struct dp_reader *r, uint64_t *to, const uint64_t *values)
{
    int rc = dp_callgraph_add(&state(r)->graph, to, values);
    return rc < 0 ? dp_reader_fail(r, rc, 0, "the costs add up to more than fits") : 0;
}

/* Reads calls=COUNT POSITION; the next line has the cost of these calls. */
static int begin_calls(struct dp_reader *r, struct dp_text rest)
{
    struct callgrind *cg = state(r);
    struct dp_text line = rest;
    uint64_t at[POSITIONS];
    memcpy(at, cg->position, sizeof at);
    if (!read_number(next_word(&rest), &cg->n_calls))
        return bad_line(r, "this is no number of calls", line);
    if (cg->called_name == NONE)
        return bad_line(r, "there is no line `cfn=' before these calls", line);
    cg->next = CALL_COST;
    cg->called_line = 0;
    int rc = text_after(rest, 0).len ? read_positions(r, &rest, at) : 0;
    if (cg->line_at < cg->n_positions)
        cg->called_line = at[cg->line_at];
    return rc;
}

/* Adds the calls that a line calls= has begun to the edge from the current function. values: their
 * inclusive cost, from the next line. */
static int end_calls(struct dp_reader *r, uint64_t *values)
{
    struct callgrind *cg = state(r);
    int64_t to = function_of(r, cg->called_object == NONE ? cg->object : cg->called_object,
                             cg->called_file == NONE ? cg->file : cg->called_file,
                             cg->called_name);
    if (to < 0)
        return (int)to;
    int64_t edge = dp_callgraph_edge(&cg->graph, cg->function, (uint32_t)to);
    if (edge < 0)
        return dp_import_error(r, DP_E_NOMEM);
    if (cg->calls)
        values[cg->n_events] = cg->n_calls;
    if (!cg->known[to].line)
        cg->known[to].line = cg->called_line;
    cg->called_object = cg->called_file = cg->called_name = NONE;
    return add_costs(r, cg->graph.inclusive + (size_t)edge * cg->graph.width, values);
}

/* Adds a function's own values, on a line of the current file. */
static int add_own(struct dp_reader *r, const uint64_t *values)
{
    struct callgrind *cg = state(r);
    struct dp_linecost at = { cg->function, cg->file, 0 };
    if (cg->line_at < cg->n_positions && !is_unknown(dp_import_name(&cg->names, cg->file)))
        at.line = cg->position[cg->line_at];
    cg->sum += values[0];
    cg->n_costs++;
    int rc = add_costs(r, cg->graph.own + (size_t)cg->function * cg->graph.width, values);
    if (rc == 0 && (rc = dp_linecosts_add(&cg->lines, at, values)) < 0)
        dp_import_error(r, rc);
    return rc;
}

/* Reads a line that begins with a position. Code before the first function belongs to a function
 * without a name. */
static int read_cost_line(struct dp_reader *r, struct dp_text line)
{
    struct callgrind *cg = state(r);
    uint64_t values[DP_IMPORT_VALUES];
    enum next what = cg->next;
    cg->next = OWN_COST;
    int rc = read_positions(r, &line, cg->position);
    if (rc == 0 && what != JUMP)
        rc = read_costs(r, line, values);
    if (rc == 0 && cg->function == NONE && what != JUMP)
        rc = begin_function(r, (struct dp_text){ DP_FMT_NAMELESS, strlen(DP_FMT_NAMELESS) });
    if (rc < 0 || what == JUMP)
        return rc;
    return what == CALL_COST ? end_calls(r, values) : add_own(r, values);
}

/* ---- the body ---- */

/* Reads a line `KEY=VALUE'. Jumps are skipped, but their names are kept. */
static int read_name_line(struct dp_reader *r, struct dp_text line)
{
    struct callgrind *cg = state(r);
    uint32_t unused;
    const struct { const char *key; enum space space; uint32_t *to; } names[] = {
        { "fl", FILES, &cg->function_file },  { "fi", FILES, &cg->file },
        { "fe", FILES, &cg->file },           { "ob", OBJECTS, &cg->object },
        { "cfn", FUNCTIONS, &cg->called_name },
        { "cfi", FILES, &cg->called_file },   { "cfl", FILES, &cg->called_file },
        { "cob", OBJECTS, &cg->called_object },
        { "jfn", FUNCTIONS, &unused },        { "jfi", FILES, &unused },
        { "jfl", FILES, &unused },            { "job", OBJECTS, &unused },
    };
    const char *equals = memchr(line.ptr, '=', line.len);
    if (!equals)
        return bad_line(r, "this is no line of callgrind's format", line);
    size_t n = (size_t)(equals - line.ptr);
    struct dp_text key = { line.ptr, n }, value = text_after(line, n + 1);
    if (dp_import_is(key, "fn"))
        return begin_function(r, value);
    if (dp_import_is(key, "calls"))
        return begin_calls(r, value);
    if (dp_import_is(key, "jump") || dp_import_is(key, "jcnd"))
        return cg->next = JUMP, 0;
    for (size_t i = 0; i < DP_ARRAY_LEN(names); i++)
        if (dp_import_is(key, names[i].key)) {
            int rc = read_name(r, names[i].space, value, names[i].to);
            if (dp_import_is(key, "fl"))
                cg->file = cg->function_file;
            return rc;
        }
    return bad_line(r, "this is no line of callgrind's format", line);
}

/* Reads a line of the body. The line's first character decides whether it holds costs, a key or a
 * name. */
static int read_line(struct dp_reader *r, struct dp_text line)
{
    line = text_after(line, 0);
    if (!line.len || *line.ptr == '#')
        return 0;
    if (dp_is_digit(*line.ptr) || *line.ptr == '+' || *line.ptr == '-' || *line.ptr == '*')
        return read_cost_line(r, line);
    int rc = read_key_line(r, line);
    return rc == 0 ? read_name_line(r, line) : rc < 0 ? rc : 0;
}

/* Hands over the subs of the functions, with the place where they begin, if known. */
static int give_subs(struct dp_reader *r)
{
    struct callgrind *cg = state(r);
    for (size_t i = 0; i < cg->graph.n_functions; i++) {
        const struct known *k = &cg->known[i];
        int rc = dp_import_sub(r, dp_import_name(&cg->names, k->name),
                               dp_import_name(&cg->names, k->file),
                               k->line > INT32_MAX ? 0 : k->line, &cg->graph.functions[i].sub);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static uint32_t sub_of(const struct dp_reader *r, uint32_t function)
{
    return state(r)->graph.functions[function].sub;
}

static struct dp_text file_of(const struct dp_reader *r, uint32_t file)
{
    return dp_import_name(&state(r)->names, file);
}

/* Hands everything to the consumer once the file has been read: subs, then contexts, then lines. */
static int give_all(struct dp_reader *r)
{
    static const struct dp_linecosts_names names = { sub_of, file_of };
    int rc = give_subs(r);
    if (rc == 0)
        rc = dp_callgraph_contexts(r, &state(r)->graph);
    return rc < 0 ? rc : dp_linecosts_give(r, &state(r)->lines, &names);
}

/* Does the sum of costs equal the file's own? Its summary may be the sum of costs before each was
 * rounded. */
static int check_sums(struct dp_reader *r)
{
    const struct callgrind *cg = state(r);
    const uint64_t rounded[] = { [TOTALS] = 0, [SUMMARY] = cg->n_costs };
    for (int i = 0; i < SUMS_KINDS; i++)
        if (cg->told[i] > cg->sum && cg->told[i] - cg->sum > rounded[i])
            return dp_reader_fail(r, DP_E_TRUNCATED, 0,
                                  "a part is missing: the costs add up to %llu, and to %llu"
                                  " according to the line `%s:'", (unsigned long long)cg->sum,
                                  (unsigned long long)cg->told[i], sums_keys[i]);
    if (cg->promised != SUMS_NONE && !cg->has_sums[cg->promised])
        return dp_reader_fail(r, DP_E_TRUNCATED, 0, "the line `%s:' is missing, one of the last",
                              sums_keys[cg->promised]);
    return 0;
}

/* Reads all costs, then hands over subs, contexts and lines: only the whole file has the whole call
 * graph. */
static int read_body(struct dp_reader *r)
{
    struct dp_text line;
    int got, rc;
    while ((got = dp_import_line(r, &line)) > 0)
        if ((rc = read_line(r, line)) < 0)
            return rc;
    if (got == 0 && state(r)->next == CALL_COST && !r->in.cut)
        return dp_reader_fail(r, DP_E_TRUNCATED, 0, "the file ends before the cost of a call");
    rc = got < 0 ? got : give_all(r);
    rc = rc < 0 ? rc : dp_reader_left_out(r);
    return rc < 0 || r->in.cut ? rc : check_sums(r);
}

/* Frees what new_state has made (dp_import_format.release). */
static void release_state(void *of)
{
    struct callgrind *cg = of;
    if (!cg)
        return;
    dp_pool_release(&cg->names);
    for (int i = 0; i < SPACES; i++)
        dp_map_release(&cg->numbers[i]);
    dp_map_release(&cg->function_of);
    dp_mem_free(cg->known);
    dp_callgraph_release(&cg->graph);
    dp_linecosts_release(&cg->lines);
    dp_buf_release(&cg->events);
    dp_mem_free(cg);
}

const struct dp_import_format dp_import_callgrind = {
    "callgrind", is_callgrind, read_head, read_body, release_state
};
