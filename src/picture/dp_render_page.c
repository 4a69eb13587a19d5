/* A flame graph as a page, which the scripts in share/ draw. The page gets the tree as columns,
 * packed with gzip, in base64. A frame has these numbers, all as LEB128: levels up from the frame
 * before, number of the name, rank in time, and its own value for each metric and side. A frame
 * takes some 4 bytes; in folded text it takes 400.
 *
 * share/page/data/decode.mjs reads the output of this file: change both, and the number
 * `format`. */
#include "dp_page.h"
#include "dp_print_stacks.h"
#include "dp_err.h"
#include "dp_flame.h"
#include "dp_map.h"
#include "dp_mem.h"
#include "dp_palette.h"
#include "dp_render.h"
#include "dp_share.h"
#include "dp_sort.h"
#include "dp_table.h"
#include "dp_text.h"

#include <inttypes.h>
#include <string.h>

/* ---- facts ---- */

/* Appends the list of metrics. hz is the number of ticks in a unit, by which the page divides all
 * values of the metric. */
static void add_metrics(struct dp_page *p)
{
    dp_buf_adds(&p->out, ",\"metrics\":[");
    for (size_t m = 0; m < p->s->n_columns / p->s->n_sides; m++) {
        dp_buf_adds(&p->out, m ? ",{\"key\":" : "{\"key\":");
        dp_page_str(p, p->how->metrics[m].key);
        dp_buf_adds(&p->out, ",\"label\":");
        dp_page_str(p, p->how->metrics[m].label);
        dp_buf_adds(&p->out, ",\"unit\":");
        dp_page_str(p, m == 0 && p->how->countname && strcmp(p->how->metrics[0].unit, "s") != 0
                       ? p->how->countname : p->how->metrics[m].unit);
        dp_buf_adds(&p->out, ",\"hz\":");
        dp_render_real(&p->out, (double)p->s->hz[m * p->s->n_sides] / p->how->factor,
                       p->how->factor < 1 || p->how->factor > 1 ? 9 : 0, false);
        dp_buf_addc(&p->out, '}');
    }
    dp_buf_addc(&p->out, ']');
}

/* Adds names as people see them, unless two would become equal: the page's links and steps use
 * names. */
static int add_plain_names(struct dp_page *p)
{
    const struct dp_stacks *s = p->s;
    struct dp_pool pool;
    uint32_t *number = dp_mem_zalloc((s->n_names + 1) * sizeof *number);
    uint32_t *times = dp_mem_zalloc((s->n_names + 1) * sizeof *times);
    int rc = number && times ? 0 : DP_E_NOMEM;
    dp_pool_init(&pool);
    for (size_t i = 0; i < s->n_names && rc == 0; i++) {
        struct dp_name plain = dp_flame_plain(&s->names[i].text);
        number[i] = dp_pool_intern(&pool, plain.ptr, plain.len);
        if (number[i] == DP_MAP_NONE)
            rc = DP_E_NOMEM;
        else
            times[number[i]]++;
    }
    for (size_t i = 0; i < s->n_names && rc == 0; i++) {
        struct dp_name plain = dp_flame_plain(&s->names[i].text);
        const struct dp_name *text = times[number[i]] > 1 ? &s->names[i].text : &plain;
        if (i)
            dp_buf_addc(&p->out, ',');
        dp_page_text(p, text->ptr, text->len);
    }
    dp_pool_release(&pool);
    dp_mem_free(number);
    dp_mem_free(times);
    return rc;
}

/* Adds the names of parts' frames, which follow those of subs. */
static void add_parts(struct dp_page *p)
{
    dp_buf_adds(&p->out, "],\"parts\":[");
    for (size_t k = 0; k < (p->how->stacks.by_part ? p->s->n_sources : 0); k++) {
        dp_buf_adds(&p->out, k ? "," : "");
        dp_page_str(p, k < p->how->n_part_names ? p->how->part_names[k] : NULL);
    }
}

/* Appends the names, and lists that are parallel to it: kinds, hues and colours. "fills" is null if
 * the page can compute the colours from the hues. */
static int add_names(struct dp_page *p)
{
    const struct dp_stacks *s = p->s;
    dp_buf_adds(&p->out, ",\"names\":[");
    int rc = add_plain_names(p);
    add_parts(p);
    dp_buf_adds(&p->out, "],\"kinds\":[");
    for (size_t i = 0; i < s->n_names; i++)
        dp_buf_addf(&p->out, "%s%d", i ? "," : "", s->names[i].kind);
    dp_buf_adds(&p->out, "],\"hues\":[");
    for (size_t i = 0; i < s->n_names; i++)
        dp_buf_addf(&p->out, "%s%u", i ? "," : "",
                    dp_palette_oklch_hue(&s->names[i].text, s->names[i].kind));
    dp_buf_adds(&p->out, "],\"fills\":");
    if (p->how->palette == DP_PALETTE_PACKAGE && !p->how->seed && !p->how->hash) {
        dp_buf_adds(&p->out, "null");
        return rc;
    }
    dp_buf_addc(&p->out, '[');
    for (size_t i = 0; i < s->n_names; i++) {
        struct dp_rgb c = dp_palette_colour(p->how->palette, &s->names[i].text, s->names[i].kind,
                                            p->how->hash, p->how->seed);
        dp_buf_addf(&p->out, "%s\"#%02x%02x%02x\"", i ? "," : "", c.r, c.g, c.b);
    }
    dp_buf_addc(&p->out, ']');
    return rc;
}

/* Appends a place as [FILE, LINE], with the number of the file among `files`. */
static bool add_place(struct dp_buf *to, struct dp_pool *files, const struct dp_name *file,
                      uint64_t line)
{
    uint32_t number = dp_pool_intern(files, file->ptr, file->len);
    dp_buf_addf(to, "[%" PRIu32 ",%" PRIu64 "]", number, line);
    return number != DP_MAP_NONE;
}

/* Adds the places where subs begin, and `old`, by sub: where a sub of both sides begins in the
 * first one, if that is elsewhere. Files are numbered because many subs share one. */
static int add_places(struct dp_page *p)
{
    const struct dp_stacks *s = p->s;
    struct dp_pool files;
    bool ok = true;
    dp_pool_init(&files);
    struct dp_buf places, old;
    dp_buf_init(&places);
    dp_buf_init(&old);
    for (size_t i = 0; i < s->n_names && ok; i++) {
        const struct dp_stacks_name *name = &s->names[i];
        dp_buf_adds(&places, i ? "," : "");
        if (!name->file.len) {
            dp_buf_addc(&places, '0');
            continue;
        }
        ok = add_place(&places, &files, &name->file, name->line);
        if (name->old_file.len && (name->old_line != name->line
                                   || dp_name_compare(&name->old_file, &name->file) != 0)) {
            dp_buf_addf(&old, "%s\"%lu\":", old.len ? "," : "", (unsigned long)i);
            ok = ok && add_place(&old, &files, &name->old_file, name->old_line);
        }
    }
    dp_buf_adds(&p->out, ",\"files\":[");
    for (uint32_t i = 0; i < files.count; i++) {
        if (i)
            dp_buf_addc(&p->out, ',');
        dp_page_text(p, dp_pool_name(&files, i)->ptr, dp_pool_name(&files, i)->len);
    }
    dp_buf_adds(&p->out, "],\"places\":[");
    dp_buf_add(&p->out, places.ptr, places.len);
    dp_buf_addc(&p->out, ']');
    if (old.len) {
        dp_buf_adds(&p->out, ",\"old\":{");
        dp_buf_add(&p->out, old.ptr, old.len);
        dp_buf_addc(&p->out, '}');
    }
    int rc = places.err ? places.err : old.err ? old.err : ok ? 0 : DP_E_NOMEM;
    dp_buf_release(&places);
    dp_buf_release(&old);
    dp_pool_release(&files);
    return rc;
}

/* Appends the numbers of the names whose change is significant, by own (bit 1) or inclusive (bit 2)
 * values. */
static void add_significant(struct dp_page *p, const char *key, int bit)
{
    bool any = false;
    dp_buf_addf(&p->out, "\"%s\":[", key);
    for (size_t i = 0; i < p->s->n_names; i++)
        if (p->s->names[i].significant & bit) {
            dp_buf_addf(&p->out, "%s%lu", any ? "," : "", (unsigned long)i);
            any = true;
        }
    dp_buf_addc(&p->out, ']');
}

/* Appends what only a page of two sides has: factors that give both sides the same total, former
 * names of subs that moved, and significant changes. null: one side. */
static void add_difference(struct dp_page *p)
{
    const struct dp_stacks *s = p->s;
    bool any = false;
    if (s->n_sides < 2) {
        dp_buf_adds(&p->out, ",\"diff\":null");
        return;
    }
    dp_buf_adds(&p->out, ",\"diff\":{");
    dp_buf_adds(&p->out, p->how->difference);
    dp_buf_adds(&p->out, ",\"factor\":[");
    for (size_t k = 0; k < s->n_sides; k++) {
        dp_buf_adds(&p->out, k ? "," : "");
        dp_render_real(&p->out, p->factor[k], 15, false);
    }
    dp_buf_adds(&p->out, "],\"factors\":[");
    for (size_t m = 0; m < p->s->n_columns / p->s->n_sides; m++)
        for (size_t k = 0; k < s->n_sides; k++) {
            dp_buf_adds(&p->out, k ? "," : m ? "],[" : "[");
            dp_render_real(&p->out, p->factor[m * s->n_sides + k], 15, false);
        }
    dp_buf_adds(&p->out, "]],\"moved\":{");
    for (size_t i = 0; i < s->n_names; i++) {
        if (!s->names[i].moved.len)
            continue;
        dp_buf_addf(&p->out, "%s\"%lu\":", any ? "," : "", (unsigned long)i);
        dp_page_text(p, s->names[i].moved.ptr, s->names[i].moved.len);
        any = true;
    }
    dp_buf_adds(&p->out, "},\"significant\":");
    if (p->how->truth) {
        dp_buf_addc(&p->out, '{');
        add_significant(p, "self", 1);
        dp_buf_addc(&p->out, ',');
        add_significant(p, "total", 2);
        dp_buf_addc(&p->out, '}');
    } else {
        dp_buf_adds(&p->out, "null");
    }
    dp_buf_addc(&p->out, '}');
}

/* Writes the JSON at the beginning of the block, which has everything but the columns. */
static int write_facts(struct dp_page *p)
{
    dp_buf_adds(&p->out, "{\"format\":1,\"version\":");
    dp_page_str(p, p->how->version);
    dp_buf_adds(&p->out, ",\"title\":");
    dp_page_str(p, p->how->title);
    dp_buf_adds(&p->out, ",\"subtitle\":");
    dp_page_str(p, p->how->subtitle);
    dp_buf_addf(&p->out, ",\"frames\":%lu,\"sides\":[", (unsigned long)p->s->count);
    for (size_t k = 0; k < p->s->n_sides; k++) {
        if (k)
            dp_buf_addc(&p->out, ',');
        dp_page_str(p, p->how->side_names[k]);
    }
    dp_buf_addc(&p->out, ']');
    add_metrics(p);
    int rc = add_names(p);
    rc = rc < 0 ? rc : add_places(p);
    rc = rc < 0 ? rc : dp_page_spans(p);
    dp_buf_addc(&p->out, ',');
    dp_buf_adds(&p->out, p->how->options);
    dp_buf_adds(&p->out, ",\"notes\":[");
    for (size_t i = 0; i + 1 < p->how->n_notes_of_page; i += 2) {
        dp_buf_adds(&p->out, i ? ",[" : "[");
        dp_page_str(p, p->how->notes_of_page[i]);
        dp_buf_addc(&p->out, ',');
        dp_page_str(p, p->how->notes_of_page[i + 1]);
        dp_buf_addc(&p->out, ']');
    }
    dp_buf_addc(&p->out, ']');
    add_difference(p);
    dp_buf_addc(&p->out, '}');
    return rc < 0 ? rc : p->out.err;
}

/* ---- columns ---- */

/* Writes how many levels above the frame before it each frame's parent is. The order of the frames
 * is preorder, so this is the whole tree. */
static int column_up(struct dp_page *p)
{
    const struct dp_stacks *s = p->s;
    for (uint32_t i = 1; i < s->count; i++) {
        uint64_t up = 0;
        for (uint32_t at = i - 1; at != s->frames[i].parent; at = s->frames[at].parent)
            up++;
        dp_page_number(&p->out, up);
    }
    return dp_page_hand_over(p);
}

/* Writes a column of the page's frames: the number of each frame's name. */
static int column_names(struct dp_page *p)
{
    for (uint32_t i = 0; i < p->s->count; i++)
        dp_page_number(&p->out, p->s->frames[i].name);
    return dp_page_hand_over(p);
}

/* Orders frames by when they first ran. */
static int compare_when(const void *ctx, uint32_t a, uint32_t b)
{
    const struct dp_stacks *s = ctx;
    if (s->when[a] != s->when[b])
        return s->when[a] < s->when[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Gives each of the frames its rank in the order in which they first ran. */
static void rank_frames(const struct dp_stacks *s, uint32_t *frames, size_t n, uint32_t *rank)
{
    if (n > 1)
        dp_sort_u32(frames, n, compare_when, s);
    for (size_t k = 0; k < n; k++)
        rank[frames[k]] = (uint32_t)k;
}

/* Are parts or phases frames of their own, below the root? */
static bool has_lanes(const struct dp_stacks *s)
{
    for (uint32_t i = 1; i < s->count; i = s->frames[i].end)
        if (s->frames[i].name >= s->n_names || s->names[s->frames[i].name].kind == DP_KIND_PHASE)
            return true;
    return false;
}

/* Ranks among siblings, which take the least room; if the page joins parts and phases, ranks among
 * all frames. */
static int column_when(struct dp_page *p)
{
    const struct dp_stacks *s = p->s;
    uint32_t *rank = s->when ? dp_mem_zalloc((s->count + 1) * sizeof *rank) : NULL,
             *frames = s->when ? dp_mem_zalloc((s->count + 1) * sizeof *frames) : NULL;
    int rc = s->when && !(rank && frames) ? DP_E_NOMEM : 0;
    bool lanes = has_lanes(s);
    for (uint32_t i = 0; s->when && rc == 0 && i < (lanes ? 1 : s->count); i++) {
        size_t n = 0;
        for (uint32_t at = i + 1; at < s->frames[i].end; at = lanes ? at + 1 : s->frames[at].end)
            frames[n++] = at;
        rank_frames(s, frames, n, rank);
    }
    for (uint32_t i = 1; s->when && rc == 0 && i < s->count; i++)
        dp_page_number(&p->out, rank[i]);
    dp_mem_free(rank);
    dp_mem_free(frames);
    return rc < 0 ? rc : dp_page_hand_over(p);
}

/* Writes the page's main block: facts, then the columns of the tree. dp_page_block calls it. */
static int fill_data(void *ctx)
{
    struct dp_page *p = ctx;
    int rc = write_facts(p);
    rc = rc < 0 ? rc : dp_page_hand_over(p);
    rc = rc < 0 ? rc : column_up(p);
    rc = rc < 0 ? rc : column_names(p);
    rc = rc < 0 ? rc : column_when(p);
    for (size_t c = 0; c < p->s->n_columns && rc == 0; c++) {
        for (uint32_t i = 0; i < p->s->count; i++)
            dp_page_number(&p->out, dp_stacks_self(p->s, i, c));
        rc = dp_page_hand_over(p);
    }
    return rc;
}

/* ---- the template ---- */

static int add_html(struct dp_page *p, const char *str)
{
    dp_text_markup(dp_sink_write, p->sink, str, strlen(str), 0);
    return 0;
}

static int add_title(struct dp_page *p) { return add_html(p, p->how->title); }
static int add_document(struct dp_page *p)
{
    return add_html(p, p->how->document ? p->how->document : p->how->title);
}
static int add_data(struct dp_page *p) { return dp_page_block(p, fill_data, p); }

/* Writes the policy that lets the browser execute only this page's own style and script. */
static int add_policy(struct dp_page *p)
{
    dp_sink_addf(p->sink,
                 "default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; base-uri"
                 " 'none'; form-action 'none'",
                 dp_share_page_css.sha256, dp_share_page_js.sha256);
    return 0;
}

/* The replacements of {{MARK}} in the template: a file of share/, or the output of a function. */
static const struct {
    const char *mark;
    const struct dp_share *share;
    int (*add)(struct dp_page *p);
} marks[] = {
    { "TITLE", NULL, add_title }, { "DOCUMENT", NULL, add_document },
    { "STYLE", &dp_share_page_css, NULL }, { "SCRIPT", &dp_share_page_js, NULL },
    { "DATA", NULL, add_data }, { "SOURCES", NULL, dp_page_sources },
    { "TIMES", NULL, dp_page_times }, { "CSP", NULL, add_policy },
};

/* Writes what replaces a {{MARK}} of the template. An unknown mark becomes nothing. Returns 0 or a
 * DP_E. */
static int replace_mark(struct dp_page *p, const char *mark, size_t len)
{
    for (size_t k = 0; k < DP_ARRAY_LEN(marks); k++)
        if (len == strlen(marks[k].mark) && memcmp(mark, marks[k].mark, len) == 0) {
            if (marks[k].add)
                return marks[k].add(p);
            dp_sink_add(p->sink, marks[k].share->ptr, marks[k].share->len);
        }
    return 0;
}

/* Finds a character that stands twice, as at both ends of a {{MARK}}; NULL: there is none. */
static const char *find_two(const char *from, const char *end, char c)
{
    for (; from + 2 <= end; from++)
        if (from[0] == c && from[1] == c)
            return from;
    return NULL;
}

/* Prints the stacks as a page in HTML that shows a flame graph. Returns 0 or a DP_E. */
int dp_print_html(const struct dp_stacks_printing *printing)
{
    struct dp_page p;
    const char *at = dp_share_page_html.ptr, *end = at + dp_share_page_html.len;
    int rc = 0;
    memset(&p, 0, sizeof p);
    p.s = printing->s;
    p.how = printing->job->flame;
    p.factor = printing->factor;
    p.sink = printing->sink;
    dp_buf_init(&p.out);
    dp_buf_init(&p.text);
    while (at < end && rc == 0) {
        const char *mark = find_two(at, end, '{'), *stop = mark ? find_two(mark, end, '}') : NULL;
        dp_sink_add(p.sink, at, (size_t)((stop ? mark : end) - at));
        if (!stop)
            break;
        rc = replace_mark(&p, mark + 2, (size_t)(stop - mark) - 2);
        at = stop + 2;
    }
    rc = rc < 0 ? rc : p.text.err;
    dp_buf_release(&p.out);
    dp_buf_release(&p.text);
    return rc;
}
