/* Frames and functions of a thread of the Firefox Profiler: assigns numbers when stacks need them,
 * and writes their tables. */
#include "dp_firefox.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

/* Categories, which give frames their colours. One of them must be grey. */
#define CATEGORIES(X) \
    X("Program", "grey") X("Perl", "yellow") X("XS", "orange") X("Builtin", "green") \
    X("Span", "blue")
enum { OF_PROGRAM, OF_PERL, OF_XS, OF_BUILTIN, OF_SPAN };

/* A frame of stacks: a sub, and the line of its call. */
struct dp_firefox_frame {
    uint32_t func;
    uint32_t site;              /* number in sites of the stacks; 0: its own code */
};

const char *dp_firefox_script(const struct dp_firefox *x)
{
    const struct dp_export_how *how = x->e.p->job->export;
    const struct dp_export_part *part = dp_export_part_of(&x->e, x->lane);
    return part ? part->name : how->n_parts ? how->parts[0].name : "";
}

struct dp_name dp_firefox_file(const struct dp_firefox *x, uint32_t name)
{
    const struct dp_stacks_name *n = &x->e.p->s->names[name];
    const char *script = dp_firefox_script(x);
    return n->kind == DP_KIND_PROGRAM ? (struct dp_name){ script, strlen(script) } : n->file;
}

/* The number of a key. A new key gets *next, and sets *is_new. */
static uint32_t number_of(struct dp_firefox *x, uint64_t key, size_t next, bool *is_new)
{
    struct dp_map_slot *slot = dp_map_put(&x->frame_of, key);
    *is_new = slot && slot->value == DP_MAP_NONE;
    if (*is_new)
        slot->value = (uint32_t)next;
    return slot ? slot->value : DP_MAP_NONE;
}

/* Returns the number of a name in the table of functions, which gets a new row if it lacks the
 * name. DP_MAP_NONE: memory is short. */
static uint32_t func_of(struct dp_firefox *x, uint32_t name)
{
    bool is_new;
    uint32_t n = number_of(x, (uint64_t)name << 32 | DP_MAP_NONE, x->n_funcs, &is_new);
    if (is_new && dp_mem_grow((void **)&x->funcs, &x->funcs_cap, n + 1, sizeof *x->funcs) < 0)
        return DP_MAP_NONE;
    if (is_new)
        x->funcs[x->n_funcs++] = name;
    return n;
}

uint32_t dp_firefox_frame(struct dp_firefox *x, uint32_t name, uint32_t site)
{
    bool is_new;
    uint32_t func = func_of(x, name);
    uint32_t n = number_of(x, (uint64_t)name << 32 | site, x->n_frames, &is_new);
    if (is_new && dp_mem_grow((void **)&x->frames, &x->frames_cap, n + 1, sizeof *x->frames) < 0)
        n = DP_MAP_NONE;
    else if (is_new)
        x->frames[x->n_frames++] = (struct dp_firefox_frame){ func, site };
    if (func == DP_MAP_NONE || n == DP_MAP_NONE)
        x->err = DP_E_NOMEM;
    return n;
}

void dp_firefox_categories(struct dp_jsonout *json)
{
#define CATEGORY(name, color) { name, color },
    static const char *const categories[][2] = { CATEGORIES(CATEGORY) };
#undef CATEGORY
    dp_jsonout_key(json, "categories");
    dp_jsonout_open(json, '[');
    for (size_t k = 0; k < DP_ARRAY_LEN(categories); k++) {
        dp_jsonout_item(json);
        dp_jsonout_open(json, '{');
        dp_jsonout_text(json, "name", categories[k][0], strlen(categories[k][0]));
        dp_jsonout_text(json, "color", categories[k][1], strlen(categories[k][1]));
        dp_jsonout_raw(json, "subcategories", "[\"Other\"]");
        dp_jsonout_close(json, '}');
    }
    dp_jsonout_close(json, ']');
}

/* Returns the category, and so the colour, of a name. */
static unsigned category_of(const struct dp_stacks_name *name)
{
    return name->kind == DP_KIND_PROGRAM ? OF_PROGRAM : name->kind == DP_KIND_XS ? OF_XS
           : name->kind == DP_KIND_BUILTIN ? OF_BUILTIN : name->kind == DP_KIND_SPAN ? OF_SPAN
           : OF_PERL;
}

/* Writes a table: its columns, and its number of rows. */
static void put_table(struct dp_firefox *x, const char *key,
                      const struct dp_firefox_values *columns, size_t count, size_t rows)
{
    dp_jsonout_key(&x->json, key);
    dp_jsonout_open(&x->json, '{');
    dp_firefox_columns(x, columns, count, rows);
    dp_jsonout_number(&x->json, "length", rows);
    dp_jsonout_close(&x->json, '}');
}

static const struct dp_stacks_name *name_of(const struct dp_firefox *x, size_t func)
{
    return &x->e.p->s->names[x->funcs[func]];
}

/* Writes a line of a source; 0: unknown. */
static void put_line(struct dp_firefox *x, uint64_t line)
{
    if (line)
        dp_firefox_number(x, line);
    else
        dp_firefox_word(x, "null");
}

/* ---- frames ---- */

static void put_func(struct dp_firefox *x, size_t frame)
{
    dp_firefox_number(x, x->frames[frame].func);
}

static void put_category(struct dp_firefox *x, size_t frame)
{
    dp_firefox_number(x, category_of(name_of(x, x->frames[frame].func)));
}

static void put_site(struct dp_firefox *x, size_t frame)
{
    uint32_t site = x->frames[frame].site;
    put_line(x, site ? x->e.p->s->sites[site].line : 0);
}

void dp_firefox_frames(struct dp_firefox *x)
{
    static const struct dp_firefox_values columns[] = {
        { "func", put_func }, { "category", put_category }, { "line", put_site },
        { "address", .same = "-1" }, { "inlineDepth", .same = "0" },
        { "subcategory", .same = "0" }, { "nativeSymbol", .same = "null" },
        { "innerWindowID", .same = "0" }, { "column", .same = "null" },
    };
    put_table(x, "frameTable", columns, DP_ARRAY_LEN(columns), x->n_frames);
}

/* ---- functions ---- */

static void put_name(struct dp_firefox *x, size_t func)
{
    const struct dp_name *text = &name_of(x, func)->text;
    dp_firefox_text(x, text->ptr, text->len);
}

/* Writes the file of a function as an index of strings, or null. */
static void put_file(struct dp_firefox *x, size_t func)
{
    struct dp_name file = dp_firefox_file(x, x->funcs[func]);
    if (file.len)
        dp_firefox_text(x, file.ptr, file.len);
    else
        dp_firefox_word(x, "null");
}

static void put_first_line(struct dp_firefox *x, size_t func)
{
    put_line(x, name_of(x, func)->line);
}

void dp_firefox_funcs(struct dp_firefox *x)
{
    static const struct dp_firefox_values columns[] = {
        { "name", put_name }, { "fileName", put_file }, { "lineNumber", put_first_line },
        { "isJS", .same = "false" }, { "relevantForJS", .same = "false" },
        { "resource", .same = "-1" }, { "columnNumber", .same = "null" },
    };
    put_table(x, "funcTable", columns, DP_ARRAY_LEN(columns), x->n_funcs);
}
