/* Reads pprof's profile.proto. The file is one message of protocol buffers (google/pprof,
 * proto/profile.proto). Its table of strings may come last, and samples before the messages that
 * they refer to, so the whole file is in memory. A first pass notes the places of messages, a
 * second one walks the samples. */
#include "dp_reader_pprof.h"
#include "dp_linecosts.h"
#include "dp_mem.h"

#include <stdio.h>
#include <string.h>

/* Numbers of fields. */
enum {
    F_SAMPLE_TYPE = 1, F_SAMPLE, F_MAPPING, F_LOCATION, F_FUNCTION, F_STRING,
    F_DROP, F_KEEP, F_TIME, F_DURATION, F_PERIOD_TYPE, F_PERIOD, F_COMMENT, F_DEFAULT_TYPE,
    F_LAST,                     /* a link to an explanation */
    TYPE_TYPE = 1, TYPE_UNIT,
    SAMPLE_LOCATION = 1, SAMPLE_VALUE, SAMPLE_LABEL,
    LABEL_KEY = 1, LABEL_STR,
    MAPPING_ID = 1, MAPPING_FILE = 5,
    LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE,
    LINE_FUNCTION = 1, LINE_NUMBER,
    FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM, FUNCTION_FILE, FUNCTION_LINE
};

enum wire { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

/* A field of a message. */
struct field {
    uint64_t number, value;     /* value: for wire types other than WIRE_BYTES */
    struct dp_text bytes;
    enum wire wire;
};

/* The place of a message: the file is smaller than 4 GiB. */
struct span { uint32_t at, len; };

struct function {
    uint64_t name, system, file, line;  /* strings by number; line: where it begins */
    uint32_t sub;
};

/* A place in the code, which represents a sub and the subs that it is inlined into. */
struct location {
    struct span message;
    uint32_t first, count;      /* in subs, callees first; first is UNKNOWN before its first use */
    struct dp_linecost line;    /* of the first sub; its function is a sub here, and its file the
                                 * number of the string */
};

#define UNKNOWN   UINT32_MAX
#define ROOT      (UINT32_C(1) << 31)   /* flag of a sub whose name is that of the root */
DP_CHECK(root_is_no_sub, DP_LIMIT_IDS < ROOT);

struct pprof {
    struct dp_text all;
    struct span *strings;
    size_t n_strings, strings_cap;
    struct span *types;
    size_t n_types, types_cap;
    uint64_t preferred;         /* a string: the default type; 0: none */
    struct function *functions;
    size_t n_functions, functions_cap;
    struct location *locations;
    size_t n_locations, locations_cap;
    uint64_t *files;            /* of mappings: strings */
    size_t n_files, files_cap;
    struct dp_map function_ids, location_ids, mapping_ids;      /* to indices */
    struct dp_map phases;       /* a string -> sub of the phase */
    uint32_t *subs;
    size_t n_subs, subs_cap;
    uint64_t *path;             /* of the sample: ids of locations, callees first */
    size_t depth, path_cap;
    uint64_t values[DP_IMPORT_VALUES];
    size_t n_values;
    struct dp_linecosts lines;
};

/* ---- the wire ---- */

/* Sets the place of errors to this byte. */
static void set_place(struct dp_reader *r, const char *ptr)
{
    r->in.base = (uint64_t)(ptr - r->import.whole.ptr);
}

/* Reads a varint of protocol buffers: seven bits a byte, the lowest bits first. Returns false if it
 * is cut off, or exceeds 64 bits. */
static bool read_varint(struct dp_text *rest, uint64_t *out)
{
    uint64_t v = 0;
    for (unsigned shift = 0; rest->len && shift < 70; shift += 7) {
        unsigned char c = (unsigned char)*rest->ptr++;
        rest->len--;
        if (shift == 63 && c > 1)
            return false;
        v |= (uint64_t)(c & 0x7f) << shift;
        if (c < 0x80)
            return *out = v, true;
    }
    return false;
}

/* Removes n bytes from the beginning of rest, and sets *out to them. Returns false, and removes
 * nothing, if there are fewer. */
static bool take_bytes(struct dp_text *rest, uint64_t n, struct dp_text *out)
{
    if (n > rest->len)
        return false;
    *out = (struct dp_text){ rest->ptr, (size_t)n };
    rest->ptr += n;
    rest->len -= (size_t)n;
    return true;
}

/* Reads a number of fixed size, with the lowest byte first. */
static uint64_t read_fixed(struct dp_text bytes)
{
    uint64_t v = 0;
    for (size_t i = bytes.len; i-- > 0;)
        v = v << 8 | (unsigned char)bytes.ptr[i];
    return v;
}

/* Reads the next field of a message. Returns false if there is no complete one. */
static bool read_field(struct dp_text *rest, struct field *f)
{
    uint64_t tag = 0, len = 0;
    if (!read_varint(rest, &tag) || tag >> 3 == 0 || tag >> 32)
        return false;
    *f = (struct field){ .number = tag >> 3, .bytes = { "", 0 } };
    f->wire = (enum wire)(tag & 7);
    if (f->wire == WIRE_VARINT)
        return read_varint(rest, &f->value);
    if (f->wire == WIRE_BYTES)
        return read_varint(rest, &len) && take_bytes(rest, len, &f->bytes);
    if ((f->wire != WIRE_64 && f->wire != WIRE_32)
        || !take_bytes(rest, f->wire == WIRE_64 ? 8 : 4, &f->bytes))
        return false;
    f->value = read_fixed(f->bytes);
    return true;
}

/* Reads the next field. Returns 1, 0 at the message's end, or a DP_E. */
static int next_field(struct dp_reader *r, struct dp_text *rest, struct field *f)
{
    const char *start = rest->ptr;
    if (!rest->len)
        return 0;
    if (read_field(rest, f))
        return 1;
    set_place(r, start);
    return dp_reader_fail(r, DP_E_SYNTAX, 0,
                          "it is cut off or damaged: this is no whole field of a pprof file");
}

/* Checks that the field is a message or a string. Returns 0, or DP_E_SYNTAX after a message. */
static int check_is_bytes(struct dp_reader *r, const struct field *f)
{
    return f->wire == WIRE_BYTES
               ? 0
               : dp_reader_fail(r, DP_E_SYNTAX, 0, "field %u of a pprof file is a number",
                                (unsigned)f->number);
}

static struct span span_of(const struct pprof *p, struct dp_text t)
{
    return (struct span){ (uint32_t)(t.ptr - p->all.ptr), (uint32_t)t.len };
}

static struct dp_text text_of(const struct pprof *p, struct span s)
{
    return (struct dp_text){ p->all.ptr + s.at, s.len };
}

/* ---- what kind of file it is ---- */

/* Does the message only have fields with numbers up to `last`, and with these wire types? */
static bool is_message(struct dp_text t, uint64_t last, bool bytes)
{
    struct field f;
    bool any = t.len > 0;
    while (t.len && any)
        any = read_field(&t, &f) && f.number <= last
              && (f.wire == WIRE_VARINT || (bytes && f.wire == WIRE_BYTES));
    return any;
}

/* Recognizes the format. The fields of a profile may come in any order. Numeric fields must be
 * numbers, up to a type of values, a sample, or the first string, which is empty. */
static bool is_pprof(const char *ptr, size_t len)
{
    static const unsigned numbers = 1u << F_DROP | 1u << F_KEEP | 1u << F_TIME | 1u << F_DURATION
                                    | 1u << F_PERIOD | 1u << F_COMMENT | 1u << F_DEFAULT_TYPE;
    struct dp_text t = { ptr, len };
    struct field f;
    while (read_field(&t, &f) && t.len && f.number <= F_LAST) {
        bool number = numbers >> f.number & 1;
        if (f.wire != (number ? WIRE_VARINT : WIRE_BYTES))
            return false;
        if (f.number == F_SAMPLE_TYPE)
            return is_message(f.bytes, TYPE_UNIT, false);
        if (f.number == F_SAMPLE)
            return is_message(f.bytes, SAMPLE_LABEL, true);
        if (f.number == F_STRING)
            return !f.bytes.len;
    }
    return false;
}

/* ---- the first pass ---- */

/* Notes the index of the message with an id. Returns 0 or a DP_E. */
static int keep_index(struct dp_reader *r, struct dp_map *map, uint64_t id, size_t index)
{
    struct dp_map_slot *slot = dp_map_put(map, id);
    if (!slot)
        return dp_import_error(r, DP_E_NOMEM);
    slot->value = (uint32_t)index;
    return 0;
}

/* Appends a part of the file to a list. Returns 0 or a DP_E. */
static int add_span(struct dp_reader *r, struct span **list, size_t *n, size_t *cap, struct span s)
{
    if (dp_mem_grow((void **)list, cap, *n + 1, sizeof **list) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    (*list)[(*n)++] = s;
    return 0;
}

/* Keeps the file of a mapping, a part of the program in memory. It is shown with code that has no
 * name. Returns 0 or a DP_E. */
static int add_mapping(struct dp_reader *r, struct pprof *p, struct dp_text t)
{
    struct field f;
    uint64_t id = 0, file = 0;
    int got;
    while ((got = next_field(r, &t, &f)) > 0)
        if (f.number == MAPPING_ID)
            id = f.value;
        else if (f.number == MAPPING_FILE)
            file = f.value;
    if (got < 0)
        return got;
    if (dp_mem_grow((void **)&p->files, &p->files_cap, p->n_files + 1, sizeof *p->files) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    p->files[p->n_files] = file;
    return keep_index(r, &p->mapping_ids, id, p->n_files++);
}

/* Keeps the id of a location and where its message is. A sample that uses it resolves it later,
 * because what the message refers to may follow in the file. Returns 0 or a DP_E. */
static int add_location(struct dp_reader *r, struct pprof *p, struct dp_text t)
{
    struct location loc = { .message = span_of(p, t), .first = UNKNOWN };
    struct field f = { 0 };
    uint64_t id = 0;
    int got;
    while ((got = next_field(r, &t, &f)) > 0)
        if (f.number == LOCATION_ID)
            id = f.value;
    if (got < 0)
        return got;
    if (dp_mem_grow((void **)&p->locations, &p->locations_cap, p->n_locations + 1,
                    sizeof *p->locations)
        < 0)
        return dp_import_error(r, DP_E_NOMEM);
    p->locations[p->n_locations] = loc;
    return keep_index(r, &p->location_ids, id, p->n_locations++);
}

/* Keeps a function, whose names are numbers of strings that may follow in the file. Returns 0 or a
 * DP_E. */
static int add_function(struct dp_reader *r, struct pprof *p, struct dp_text t)
{
    struct function fn = { .sub = DP_SUB_NONE };
    struct field f;
    uint64_t id = 0;
    int got;
    while ((got = next_field(r, &t, &f)) > 0) {
        uint64_t *to = f.number == FUNCTION_ID       ? &id
                       : f.number == FUNCTION_NAME   ? &fn.name
                       : f.number == FUNCTION_SYSTEM ? &fn.system
                       : f.number == FUNCTION_FILE   ? &fn.file
                       : f.number == FUNCTION_LINE   ? &fn.line : NULL;
        if (to && f.wire == WIRE_VARINT)
            *to = f.value;
    }
    if (got < 0)
        return got;
    if (dp_mem_grow((void **)&p->functions, &p->functions_cap, p->n_functions + 1,
                    sizeof *p->functions)
        < 0)
        return dp_import_error(r, DP_E_NOMEM);
    p->functions[p->n_functions] = fn;
    return keep_index(r, &p->function_ids, id, p->n_functions++);
}

/* Notes the place of a field of the profile, or keeps what it says. Returns 0 or a DP_E. */
static int note_field(struct dp_reader *r, struct pprof *p, const struct field *f)
{
    int rc = 0;
    if (f->number == F_DEFAULT_TYPE && f->wire == WIRE_VARINT)
        p->preferred = f->value;
    if (f->number > F_STRING)
        return 0;
    if ((rc = check_is_bytes(r, f)) < 0)
        return rc;
    struct span s = span_of(p, f->bytes);
    switch (f->number) {
    case F_SAMPLE_TYPE: return add_span(r, &p->types, &p->n_types, &p->types_cap, s);
    case F_STRING: return add_span(r, &p->strings, &p->n_strings, &p->strings_cap, s);
    case F_MAPPING: return add_mapping(r, p, f->bytes);
    case F_LOCATION: return add_location(r, p, f->bytes);
    case F_FUNCTION: return add_function(r, p, f->bytes);
    default: return 0;
    }
}

/* Finds a string by its number. 0 is the empty one, also in files without strings. Returns 0 or
 * DP_E_SYNTAX. */
static int string_at(struct dp_reader *r, const struct pprof *p, uint64_t n, struct dp_text *out)
{
    *out = (struct dp_text){ "", 0 };
    if (n >= p->n_strings && n)
        return dp_reader_fail(r, DP_E_SYNTAX, 0,
                              "it refers to string %llu, but it has %zu strings",
                              (unsigned long long)n, p->n_strings);
    if (n)
        *out = text_of(p, p->strings[n]);
    return 0;
}

/* Adds a kind of value. *preferred becomes its number, if it is the default type. Returns 0 or a
 * DP_E. */
static int add_type(struct dp_reader *r, const struct pprof *p, size_t n, size_t *preferred)
{
    struct dp_text t = text_of(p, p->types[n]), name, unit;
    struct field f;
    uint64_t type = 0, of = 0;
    int got, rc;
    set_place(r, t.ptr);
    while ((got = next_field(r, &t, &f)) > 0)
        if (f.wire == WIRE_VARINT && f.number == TYPE_TYPE)
            type = f.value;
        else if (f.wire == WIRE_VARINT && f.number == TYPE_UNIT)
            of = f.value;
    if (got < 0)
        return got;
    if ((rc = string_at(r, p, type, &name)) < 0 || (rc = string_at(r, p, of, &unit)) < 0)
        return rc;
    if (p->preferred && p->preferred == type)
        *preferred = n;
    return dp_import_value(r, name, unit);
}

/* Makes the first pass: reads everything but the samples. Then makes the header from the types of
 * values, whose names may be the last strings of the file. Returns 0 or a DP_E. */
static int read_head(struct dp_reader *r)
{
    struct pprof *p = r->import.state = dp_mem_zalloc(sizeof *p);
    struct dp_text rest;
    struct field f;
    if (!p)
        return dp_import_error(r, DP_E_NOMEM);
    dp_map_init(&p->function_ids);
    dp_map_init(&p->location_ids);
    dp_map_init(&p->mapping_ids);
    dp_map_init(&p->phases);
    dp_linecosts_init(&p->lines);
    int got = dp_import_whole(r, &p->all);
    if (got < 0)
        return got;
    if (r->in.cut)
        return dp_reader_fail(r, DP_E_SYNTAX, p->all.len, "the compressed data break off");
    rest = p->all;
    while ((got = next_field(r, &rest, &f)) > 0) {
        set_place(r, rest.ptr);
        if ((got = note_field(r, p, &f)) < 0)
            return got;
    }
    if (got < 0)
        return got;
    size_t preferred = p->n_types ? p->n_types - 1 : 0;
    for (size_t i = 0; i < p->n_types; i++)
        if ((got = add_type(r, p, i, &preferred)) < 0)
            return got;
    return dp_import_header(r, preferred);
}

/* ---- the second pass ---- */

/* Returns the index of an id; DP_E_SYNTAX, after a message, if there is none. */
static int64_t find_index(struct dp_reader *r, const struct dp_map *map, uint64_t id,
                          const char *what)
{
    const struct dp_map_slot *slot = dp_map_find(map, id);
    if (slot)
        return slot->value;
    return dp_reader_fail(r, DP_E_SYNTAX, 0, "it refers to %s %llu, which it does not have", what,
                          (unsigned long long)id);
}

/* Finds or makes the sub of a function, and sets the function and file of *line. A function without
 * a file has no line. Returns 0 or a DP_E. */
static int function_sub(struct dp_reader *r, struct pprof *p, uint64_t id, struct dp_linecost *line)
{
    struct dp_text name, file;
    int64_t n = find_index(r, &p->function_ids, id, "function");
    if (n < 0)
        return (int)n;
    struct function *fn = &p->functions[n];
    int rc = 0;
    if (fn->sub == DP_SUB_NONE
        && (rc = string_at(r, p, fn->name ? fn->name : fn->system, &name)) == 0
        && (rc = string_at(r, p, fn->file, &file)) == 0
        && (rc = dp_import_sub(r, name, file, fn->line > INT32_MAX ? 0 : fn->line, &fn->sub)) == 0
        && dp_import_is_root(name))
        fn->sub |= ROOT;
    line->function = fn->sub;
    line->file = (uint32_t)fn->file;
    if (!fn->file)
        line->line = 0;
    return rc;
}

/* Makes the sub of code without a name: its address is its name. Sets *sub. Returns 0 or a DP_E. */
static int address_sub(struct dp_reader *r, struct pprof *p, uint64_t mapping, uint64_t address,
                       uint32_t *sub)
{
    char name[24];
    struct dp_text file = { "", 0 };
    int64_t n = mapping ? find_index(r, &p->mapping_ids, mapping, "mapping") : -1;
    int rc = !mapping ? 0 : n < 0 ? (int)n : string_at(r, p, p->files[n], &file);
    if (rc < 0)
        return rc;
    int len = snprintf(name, sizeof name, "0x%llx", (unsigned long long)address);
    return dp_import_sub(r, (struct dp_text){ name, (size_t)len }, file, 0, sub);
}

/* Adds a sub to a location, whose own line is that of the first one. Returns 0 or a DP_E. */
static int add_sub(struct dp_reader *r, struct pprof *p, struct location *loc,
                   struct dp_linecost line)
{
    if (p->n_subs == loc->first)
        loc->line = line;
    if (dp_mem_grow((void **)&p->subs, &p->subs_cap, p->n_subs + 1, sizeof *p->subs) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    p->subs[p->n_subs++] = line.function;
    return 0;
}

/* Reads the function and the number of a line of a location: 0 if it has none. Returns 0 or a
 * DP_E. */
static int read_line(struct dp_reader *r, struct dp_text t, uint64_t *id, uint64_t *number)
{
    struct field f;
    int got;
    *id = *number = 0;
    while ((got = next_field(r, &t, &f)) > 0)
        if (f.number == LINE_FUNCTION && f.wire == WIRE_VARINT)
            *id = f.value;
        else if (f.number == LINE_NUMBER && f.wire == WIRE_VARINT)
            *number = f.value;
    return got;
}

/* Finds the subs of a location; a location without a function has one sub, which is named by the
 * address. Returns 0 or a DP_E. */
static int resolve_location(struct dp_reader *r, struct pprof *p, struct location *loc)
{
    struct dp_text t = text_of(p, loc->message);
    struct field f;
    uint64_t mapping = 0, address = 0, id;
    struct dp_linecost line = { DP_SUB_NONE, 0, 0 };
    int got, rc = 0;
    set_place(r, t.ptr);
    loc->first = (uint32_t)p->n_subs;
    while ((got = next_field(r, &t, &f)) > 0 && rc == 0)
        if (f.number == LOCATION_MAPPING) {
            mapping = f.value;
        } else if (f.number == LOCATION_ADDRESS) {
            address = f.value;
        } else if (f.number == LOCATION_LINE && (rc = check_is_bytes(r, &f)) == 0
                   && (rc = read_line(r, f.bytes, &id, &line.line)) == 0 && id
                   && (rc = function_sub(r, p, id, &line)) == 0) {
            rc = add_sub(r, p, loc, line);
        }
    if (got < 0 || rc < 0)
        return got < 0 ? got : rc;
    line.line = 0;
    if (p->n_subs == loc->first
        && (rc = address_sub(r, p, mapping, address, &line.function)) == 0)
        rc = add_sub(r, p, loc, line);
    loc->count = (uint32_t)(p->n_subs - loc->first);
    return rc;
}

/* Adds the id of a location to the stack of the sample (add_numbers). Returns 0 or a DP_E. */
static int add_id(struct dp_reader *r, struct pprof *p, uint64_t id)
{
    if (p->depth >= DP_LIMIT_DEPTH)
        return dp_reader_fail(r, DP_E_LIMIT, 0, "a stack has more than %lu frames",
                              (unsigned long)DP_LIMIT_DEPTH);
    if (dp_mem_grow((void **)&p->path, &p->path_cap, p->depth + 1, sizeof *p->path) < 0)
        return dp_import_error(r, DP_E_NOMEM);
    p->path[p->depth++] = id;
    return 0;
}

/* Adds a value to the sample (add_numbers); a negative one is an error. Surplus values are only
 * counted; add_sample reports them. Returns 0 or a DP_E. */
static int add_value(struct dp_reader *r, struct pprof *p, uint64_t value)
{
    if (value >> 63)
        return dp_reader_fail(r, DP_E_SYNTAX, 0,
                              "a sample's value is negative: this is the difference of two"
                              " profiles; give the two that it was made of");
    if (p->n_values < r->import.n_values)
        p->values[p->n_values] = value;
    p->n_values++;
    return 0;
}

/* Reads numbers of a sample: one, or several that are packed. Calls add for each. Returns 0 or a
 * DP_E. */
static int add_numbers(struct dp_reader *r, struct pprof *p, const struct field *f,
                       int (*add)(struct dp_reader *r, struct pprof *p, uint64_t number))
{
    struct dp_text t = f->bytes;
    uint64_t number;
    if (f->wire != WIRE_BYTES)
        return add(r, p, f->value);
    while (t.len) {
        set_place(r, t.ptr);
        if (!read_varint(&t, &number))
            return dp_reader_fail(r, DP_E_SYNTAX, 0, "a sample's numbers are damaged");
        int rc = add(r, p, number);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* Reads a label. A label `phase` names the phase of the program in which a sample was taken, and
 * sets *phase to the number of that string. Returns 0 or a DP_E. */
static int read_label(struct dp_reader *r, const struct pprof *p, const struct field *f,
                      uint64_t *phase)
{
    struct dp_text t = f->bytes, name;
    struct field of;
    uint64_t key = 0, str = 0;
    int got = check_is_bytes(r, f);
    if (got < 0)
        return got;
    while ((got = next_field(r, &t, &of)) > 0)
        if (of.wire == WIRE_VARINT && of.number == LABEL_KEY)
            key = of.value;
        else if (of.wire == WIRE_VARINT && of.number == LABEL_STR)
            str = of.value;
    if (got == 0)
        got = string_at(r, p, key, &name);
    if (got == 0 && str && dp_import_is(name, "phase"))
        *phase = str;
    return got;
}

/* Finds or makes the context of a phase. Returns its number or a DP_E. */
static int64_t enter_phase(struct dp_reader *r, struct pprof *p, uint64_t phase)
{
    struct dp_text name;
    int rc = string_at(r, p, phase, &name);
    struct dp_map_slot *slot = rc < 0 ? NULL : dp_map_put(&p->phases, phase);
    if (!slot)
        return rc < 0 ? rc : dp_import_error(r, DP_E_NOMEM);
    uint32_t sub = slot->value;
    if (sub == DP_MAP_NONE && (rc = dp_import_phase(r, name, &sub)) < 0)
        return rc;
    slot->value = sub;
    return dp_import_enter(r, 0, sub);
}

/* Goes down from the root to the place of the sample. Returns its context, or a DP_E, and sets
 * *line to the line where the stack ends. */
static int64_t descend_to(struct dp_reader *r, struct pprof *p, uint64_t phase,
                          struct dp_linecost *line)
{
    int64_t node = phase ? enter_phase(r, p, phase) : 0;
    bool below = false;
    *line = (struct dp_linecost){ DP_SUB_NONE, 0, 0 };
    for (size_t i = p->depth; i-- > 0 && node >= 0;) {
        int64_t n = find_index(r, &p->location_ids, p->path[i], "location");
        if (n < 0)
            return n;
        struct location *loc = &p->locations[n];
        const char *start = p->all.ptr + r->in.base;
        int rc = loc->first == UNKNOWN ? resolve_location(r, p, loc) : 0;
        if (rc < 0)
            return rc;
        set_place(r, start);
        for (uint32_t k = loc->count; k-- > 0 && node >= 0; below = true) {
            uint32_t sub = p->subs[loc->first + k];
            bool frame = below || !(sub & ROOT);
            if (frame)
                node = dp_import_enter(r, (uint32_t)node, sub & ~ROOT);
            *line = loc->line;
            line->function = frame ? sub & ~ROOT : DP_SUB_NONE;
        }
    }
    return node;
}

/* Adds a sample's values to the context of its stack, and to the line where the stack ends. Returns
 * 0 or a DP_E. */
static int add_sample(struct dp_reader *r, struct pprof *p, struct dp_text t)
{
    const char *start = t.ptr;
    struct field f;
    uint64_t phase = 0;
    int got;
    p->depth = p->n_values = 0;
    while ((got = next_field(r, &t, &f)) > 0) {
        set_place(r, start);
        if (f.number == SAMPLE_LOCATION)
            got = add_numbers(r, p, &f, add_id);
        else if (f.number == SAMPLE_VALUE)
            got = add_numbers(r, p, &f, add_value);
        else if (f.number == SAMPLE_LABEL)
            got = read_label(r, p, &f, &phase);
        if (got < 0)
            return got;
    }
    if (got < 0)
        return got;
    set_place(r, start);
    if (p->n_values != r->import.n_values)
        return dp_reader_fail(r, DP_E_SYNTAX, 0, "a sample has %zu values, and the file %zu kinds",
                              p->n_values, r->import.n_values);
    struct dp_linecost line;
    int64_t node = descend_to(r, p, phase, &line);
    int rc = node < 0 ? (int)node : dp_import_add(r, (uint32_t)node, p->values);
    if (rc == 0 && (rc = dp_linecosts_add(&p->lines, line, p->values)) < 0)
        dp_import_error(r, rc);
    return rc;
}

static uint32_t sub_of(const struct dp_reader *r, uint32_t function)
{
    (void)r;
    return function;
}

static struct dp_text file_of(const struct dp_reader *r, uint32_t file)
{
    const struct pprof *p = r->import.state;
    return text_of(p, p->strings[file]);
}

/* Makes the second pass: adds the samples, whose locations, functions and strings are known now.
 * Returns 0 or a DP_E. */
static int read_body(struct dp_reader *r)
{
    static const struct dp_linecosts_names names = { sub_of, file_of };
    struct pprof *p = r->import.state;
    struct dp_text rest = p->all;
    struct field f;
    int got, rc;
    p->lines.width = r->import.n_values;
    while ((got = next_field(r, &rest, &f)) > 0)
        if (f.number == F_SAMPLE && (rc = add_sample(r, p, f.bytes)) < 0)
            return rc;
    r->in.base = p->all.len;
    return got < 0 ? got : dp_linecosts_give(r, &p->lines, &names);
}

/* Frees what read_head has made (dp_import_format.release). */
static void release_state(void *state)
{
    struct pprof *p = state;
    if (!p)
        return;
    dp_mem_free(p->strings);
    dp_mem_free(p->types);
    dp_mem_free(p->functions);
    dp_mem_free(p->locations);
    dp_mem_free(p->files);
    dp_mem_free(p->subs);
    dp_mem_free(p->path);
    dp_map_release(&p->function_ids);
    dp_map_release(&p->location_ids);
    dp_map_release(&p->mapping_ids);
    dp_map_release(&p->phases);
    dp_linecosts_release(&p->lines);
    dp_mem_free(p);
}

const struct dp_import_format dp_import_pprof = { "pprof", is_pprof, read_head, read_body,
                                                 release_state };
