/* Frames and functions of a thread of the Firefox Profiler: numbers as stacks ask for them, then
 * their tables. */
#include "dp_firefox.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

/* Categories, which colour frames. There must be a grey one. */
#define CATEGORIES(X) \
    X("Program", "grey") X("Perl", "yellow") X("XS", "orange") X("Builtin", "green")
enum { OF_PROGRAM, OF_PERL, OF_XS, OF_BUILTIN };

/* A frame that stacks have: a sub, and the line that it called from. */
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

/* The number of a key, which becomes *next where it is new: then *is_new is set. */
static uint32_t number_of(struct dp_firefox *x, uint64_t key, size_t next, bool *is_new)
{
    struct dp_map_slot *slot = dp_map_put(&x->frame_of, key);
    *is_new = slot && slot->value == DP_MAP_NONE;
    if (*is_new)
        slot->value = (uint32_t)next;
    return slot ? slot->value : DP_MAP_NONE;
}

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

static unsigned category_of(const struct dp_stacks_name *name)
{
    return name->kind == DP_KIND_PROGRAM ? OF_PROGRAM : name->kind == DP_KIND_XS ? OF_XS
           : name->kind == DP_KIND_BUILTIN ? OF_BUILTIN : OF_PERL;
}

void dp_firefox_frames(struct dp_firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    dp_jsonout_key(&x->json, "frameTable");
    dp_jsonout_open(&x->json, '{');
    dp_jsonout_key(&x->json, "func");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_frames; k++)
        dp_firefox_number(x, x->frames[k].func);
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_key(&x->json, "category");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_frames; k++)
        dp_firefox_number(x, category_of(&s->names[x->funcs[x->frames[k].func]]));
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_key(&x->json, "line");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_frames; k++)
        if (x->frames[k].site)
            dp_firefox_number(x, s->sites[x->frames[k].site].line);
        else
            dp_firefox_word(x, "null");
    dp_jsonout_close(&x->json, ']');
    static const char *const same[][2] = {
        { "address", "-1" }, { "inlineDepth", "0" }, { "subcategory", "0" },
        { "nativeSymbol", "null" }, { "innerWindowID", "0" }, { "column", "null" },
    };
    for (size_t k = 0; k < DP_ARRAY_LEN(same); k++)
        dp_firefox_same(x, same[k][0], same[k][1], x->n_frames);
    dp_jsonout_number(&x->json, "length", x->n_frames);
    dp_jsonout_close(&x->json, '}');
}

void dp_firefox_funcs(struct dp_firefox *x)
{
    const struct dp_stacks *s = x->e.p->s;
    dp_jsonout_key(&x->json, "funcTable");
    dp_jsonout_open(&x->json, '{');
    dp_jsonout_key(&x->json, "name");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_funcs; k++)
        dp_firefox_text(x, s->names[x->funcs[k]].text.ptr, s->names[x->funcs[k]].text.len);
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_key(&x->json, "fileName");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_funcs; k++) {
        struct dp_name file = dp_firefox_file(x, x->funcs[k]);
        if (file.len)
            dp_firefox_text(x, file.ptr, file.len);
        else
            dp_firefox_word(x, "null");
    }
    dp_jsonout_close(&x->json, ']');
    dp_jsonout_key(&x->json, "lineNumber");
    dp_jsonout_open(&x->json, '[');
    for (size_t k = 0; k < x->n_funcs; k++)
        if (s->names[x->funcs[k]].line)
            dp_firefox_number(x, s->names[x->funcs[k]].line);
        else
            dp_firefox_word(x, "null");
    dp_jsonout_close(&x->json, ']');
    dp_firefox_same(x, "isJS", "false", x->n_funcs);
    dp_firefox_same(x, "relevantForJS", "false", x->n_funcs);
    dp_firefox_same(x, "resource", "-1", x->n_funcs);
    dp_firefox_same(x, "columnNumber", "null", x->n_funcs);
    dp_jsonout_number(&x->json, "length", x->n_funcs);
    dp_jsonout_close(&x->json, '}');
}
