/* A flame graph as an SVG picture: one file that needs no other, and that is readable even without
 * its script. */
#include "dp_render_flame.h"
#include "dp_err.h"
#include "dp_mem.h"
#include "dp_num.h"
#include "dp_palette.h"
#include "dp_print_stacks.h"
#include "dp_render.h"
#include "dp_share.h"
#include "dp_text.h"

#include <math.h>
#include <string.h>

enum { WIDE = 3 };              /* least width in pixels of a frame with an edge, as in the
                                 * script */
enum { SIDE = 10, LABEL = 6 };  /* SIDE: pixels left and right of the frames; LABEL: pixels on both
                                 * sides of a label together */
enum { TEXTURES = 32 };         /* most colours of spans that have a texture */

struct svg {
    const struct dp_flame *flame;
    const struct dp_flame_how *how;
    struct dp_sink *sink;
    struct dp_buf told_of, out;
    double top, bottom;         /* pixels above the frames, and below */
    double image_height, per_tick;
    struct dp_map fills, attributes;    /* by name: number plus 1 */
    int (*colour)(void *ctx, const char *name, size_t len, const char *rgb);
    void *ctx;
    unsigned char *told;        /* by name: its colour has been written */
    uint32_t kinds[DP_KINDS];   /* by kind: a name that is drawn, plus 1 */
    size_t n_kinds;             /* number of kinds that are drawn */
    struct dp_rgb textures[TEXTURES];   /* colours of the spans that are drawn */
    size_t n_textures;
};

/* ---- text ---- */

/* Appends text; if an encoding was asked for, characters outside of it become numbers. */
static void add_xml(struct svg *g, const char *ptr, size_t len)
{
    dp_text_markup(dp_buf_write, &g->out, ptr, len,
                   DP_MARKUP_XML | (g->how->encoding ? DP_MARKUP_ASCII : 0));
}

static void add_str(struct svg *g, const char *str)
{
    add_xml(g, str ? str : "", str ? strlen(str) : 0);
}

/* Appends a number of pixels with at most one decimal. */
static void add_px(struct dp_buf *to, double v)
{
    uint64_t tenths = v > 0 ? (uint64_t)(v * 10 + 0.5) : 0;
    dp_buf_addu(to, tenths / 10);
    if (tenths % 10) {
        dp_buf_addc(to, '.');
        dp_buf_addu(to, tenths % 10);
    }
}

/* Appends a place or width in units of the total, exactly if it is whole. */
static void add_exact(struct dp_buf *to, double v)
{
    if (v >= 0 && v < 9e15 && v == floor(v))
        dp_buf_addu(to, (uint64_t)v);
    else
        dp_render_real(to, v, 6, false);
}

/* Reads a colour #rrggbb. Returns `otherwise` if the text is NULL, or is no colour of this form. */
static struct dp_rgb parse_rgb(const char *text, struct dp_rgb otherwise)
{
    unsigned v[3];
    if (!text || text[0] != '#' || strlen(text) != 7)
        return otherwise;
    for (int k = 0; k < 3; k++) {
        int hi = dp_num_hexdigit(text[1 + 2 * k]), lo = dp_num_hexdigit(text[2 + 2 * k]);
        if (hi < 0 || lo < 0)
            return otherwise;
        v[k] = (unsigned)(hi << 4 | lo);
    }
    return (struct dp_rgb){ (unsigned char)v[0], (unsigned char)v[1], (unsigned char)v[2] };
}

static void flush_text(struct svg *g)
{
    dp_sink_add(g->sink, g->out.ptr, g->out.len);
    g->out.len = 0;
}

/* Appends a line of text at x, y, in pixels; the picture's script finds it by its id. */
static void add_line(struct svg *g, const char *id, const char *class, double x, double y,
                     const char *text)
{
    dp_buf_addf(&g->out, "<text id=\"%s\" class=\"%s\" x=\"", id, class);
    add_px(&g->out, x);
    dp_buf_adds(&g->out, "\" y=\"");
    add_px(&g->out, y);
    dp_buf_adds(&g->out, "\">");
    add_str(g, text);
    dp_buf_adds(&g->out, "</text>\n");
}

/* ---- around the frames ---- */

/* Appends the style sheet of share/, with the user's font and its size in place of the two
 * marks. */
static void add_style(struct svg *g)
{
    const char *p = dp_share_svg_css.ptr, *end = p + dp_share_svg_css.len;
    dp_buf_adds(&g->out, "<style>\n");
    while (p < end) {
        const char *mark = NULL;
        for (const char *q = p; q + 2 <= end && !mark; q++)
            if (q[0] == '{' && q[1] == '{')
                mark = q;
        dp_buf_add(&g->out, p, (size_t)((mark ? mark : end) - p));
        if (!mark)
            break;
        bool size = (size_t)(end - mark) > 12 && memcmp(mark, "{{FONTSIZE}}", 12) == 0;
        if (size) {
            dp_render_real(&g->out, g->how->font_size, 2, false);
        } else {
            /* a string of CSS, which no quote, backslash or line's end can leave */
            dp_buf_addc(&g->out, '\'');
            for (const char *f = g->how->font; *f; f++)
                if (*f != '\'' && *f != '\\' && *f != '<' && *f != '&' && (unsigned char)*f >= 0x20)
                    dp_buf_addc(&g->out, *f);
            dp_buf_addc(&g->out, '\'');
        }
        p = mark + (size ? 12 : 8);
    }
    dp_buf_adds(&g->out, "</style>\n");
}

/* Appends a colour as the value of `fill`. A span has a grid on its colour, so that it differs
 * without colours, too; a viewer without patterns takes the colour. */
static void add_fill(struct svg *g, struct dp_rgb c, bool is_span)
{
    dp_buf_adds(&g->out, " fill=\"");
    for (size_t i = 0; is_span && i < g->n_textures; i++)
        if (memcmp(&g->textures[i], &c, sizeof c) == 0)
            dp_buf_addf(&g->out, "url(#span%lu) ", (unsigned long)i);
    dp_buf_addf(&g->out, "rgb(%d,%d,%d)\"", c.r, c.g, c.b);
}

/* Appends the patterns of spans. */
static void add_textures(struct svg *g)
{
    for (size_t i = 0; i < g->n_textures; i++) {
        dp_buf_addf(&g->out, "<pattern id=\"span%lu\" width=\"8\" height=\"8\" "
                    "patternUnits=\"userSpaceOnUse\"><rect width=\"8\" height=\"8\"",
                    (unsigned long)i);
        add_fill(g, g->textures[i], false);
        dp_buf_adds(&g->out, "/><path d=\"M-1 9L9 -1M-1 -1L9 9\" stroke=\"#000\" "
                    "stroke-opacity=\".2\"/></pattern>");
    }
}

/* Appends the background, whose colour changes from top to bottom. Colours that the user did not
 * choose are left to the style sheet, which has others for dark screens. */
static void add_background(struct svg *g)
{
    struct dp_rgb usual[2];
    dp_palette_background(g->how->palette, usual);
    bool own = g->how->background[0] || g->how->palette != DP_PALETTE_PACKAGE;
    dp_buf_adds(&g->out,
                "<defs><linearGradient id=\"background\" x1=\"0\" y1=\"0\" x2=\"0\" y2=\"1\">");
    for (int k = 0; k < 2; k++) {
        struct dp_rgb c = parse_rgb(g->how->background[k], usual[k]);
        dp_buf_addf(&g->out, "<stop class=\"bg%d\" offset=\"%d%%\"", k + 1, k ? 95 : 5);
        if (own)
            dp_buf_addf(&g->out, " stop-color=\"#%02x%02x%02x\"", c.r, c.g, c.b);
        dp_buf_adds(&g->out, "/>");
    }
    dp_buf_adds(&g->out, "</linearGradient>");
    add_textures(g);
    dp_buf_adds(&g->out,
                "</defs>\n<rect class=\"background\" x=\"0\" y=\"0\" width=\"");
    add_px(&g->out, g->how->width);
    dp_buf_adds(&g->out, "\" height=\"");
    add_px(&g->out, g->image_height);
    dp_buf_adds(&g->out, "\"/>\n");
}

/* Appends the beginning of the picture. The attributes data-* are what its script needs to zoom and
 * search. */
static void add_head(struct svg *g)
{
    const struct dp_flame_how *how = g->how;
    dp_buf_addf(&g->out, "<?xml version=\"1.0\" encoding=\"");
    add_str(g, how->encoding ? how->encoding : "UTF-8");
    dp_buf_adds(&g->out, "\" standalone=\"no\"?>\n<svg version=\"1.1\" id=\"dprof\"");
    dp_buf_adds(&g->out, g->flame->two ? " class=\"two\" width=\"" : " width=\"");
    add_px(&g->out, how->width);
    dp_buf_adds(&g->out, "\" height=\"");
    add_px(&g->out, g->image_height);
    dp_buf_adds(&g->out, "\" viewBox=\"0 0 ");
    add_px(&g->out, how->width);
    dp_buf_addc(&g->out, ' ');
    add_px(&g->out, g->image_height);
    dp_buf_addf(&g->out,
                "\" xmlns=\"http://www.w3.org/2000/svg\" "
                "xmlns:xlink=\"http://www.w3.org/1999/xlink\" data-xpad=\"%d\" data-fontsize=\"",
                SIDE);
    dp_render_real(&g->out, how->font_size, 2, false);
    dp_buf_adds(&g->out, "\" data-fontwidth=\"");
    dp_render_real(&g->out, how->font_width, 3, false);
    dp_buf_adds(&g->out, "\" data-total=\"");
    add_exact(&g->out, g->flame->total);
    dp_buf_adds(&g->out, "\" data-unit=\"");
    add_str(g, how->metrics[0].unit);
    dp_buf_adds(&g->out, "\" data-nametype=\"");
    add_str(g, how->nametype);
    dp_buf_adds(&g->out, "\" role=\"img\" aria-label=\"");
    add_str(g, how->title);
    dp_buf_adds(&g->out, "\">\n");
    if (how->notes && *how->notes) {
        dp_buf_adds(&g->out, "<desc>");
        add_str(g, how->notes);
        dp_buf_adds(&g->out, "</desc>\n");
    }
    add_style(g);
    add_background(g);
}

/* Draws the legend of a difference: colours from the greatest loss to the greatest growth. */
static void add_legend(struct svg *g, double y)
{
    double size = g->how->font_size, x = SIDE;
    dp_buf_adds(&g->out, "<g id=\"legend\">");
    for (int k = -4; k <= 4; k++, x += size * 1.4) {
        struct dp_rgb c = dp_palette_change(k / 4.0);
        dp_buf_adds(&g->out, "<rect x=\"");
        add_px(&g->out, x);
        dp_buf_adds(&g->out, "\" y=\"");
        add_px(&g->out, y - size);
        dp_buf_addf(&g->out,
                    "\" width=\"%d\" height=\"%d\" fill=\"rgb(%d,%d,%d)\" stroke=\"#888\" "
                    "stroke-width=\".5\"/>",
                    (int)(size * 1.4), (int)(size * 1.1), c.r, c.g, c.b);
    }
    dp_buf_adds(&g->out, "</g>\n");
    struct dp_buf words;
    dp_buf_init(&words);
    if (!g->how->is_pair && !g->how->hue) {
        dp_render_change(&words, g->flame, g->how, -g->flame->greatest);
        dp_buf_adds(&words, " \xe2\x80\xa6 ");
        dp_render_change(&words, g->flame, g->how, g->flame->greatest);
        dp_buf_adds(&words, ", a step is ");
        dp_render_change(&words, g->flame, g->how, g->flame->greatest / 4);
        dp_buf_adds(&words, "; ");
    }
    dp_buf_adds(&words, g->how->legend ? g->how->legend : "");
    add_line(g, "sides", "quiet", x + 6, y, dp_buf_cstr(&words));
    g->out.err = g->out.err ? g->out.err : words.err;
    dp_buf_release(&words);
}

static const char *const kind_words[DP_KINDS] = {       /* NULL: not in the legend */
    [DP_KIND_PLAIN] = "Perl sub", [DP_KIND_CORE] = "core module", [DP_KIND_XS] = "XS",
    [DP_KIND_BUILTIN] = "builtin", [DP_KIND_ANON] = "anonymous", [DP_KIND_BEGIN] = "BEGIN time",
    [DP_KIND_SPAN] = "span",
};

static struct dp_rgb fill_of(struct svg *g, const struct dp_flame_box *box, double change);

/* Keeps the colour of a span, unless it has been kept. */
static void keep_texture(struct svg *g, const struct dp_flame_box *box)
{
    struct dp_rgb c = fill_of(g, box, 0);
    for (size_t i = 0; i < g->n_textures; i++)
        if (memcmp(&g->textures[i], &c, sizeof c) == 0)
            return;
    if (g->n_textures < TEXTURES)
        g->textures[g->n_textures++] = c;
}

/* Finds the kinds of names that are drawn, for the legend, if colours show kinds at all. */
static void find_kinds(struct svg *g)
{
    const struct dp_flame *f = g->flame;
    if (f->two || g->how->palette != DP_PALETTE_PACKAGE || g->how->hash || g->how->seed)
        return;
    for (size_t i = 0; i < f->count; i++) {
        uint32_t name = f->boxes[i].name;
        unsigned kind = f->s->names[name].kind;
        if (kind < DP_KINDS && kind_words[kind] && !g->kinds[kind]) {
            g->kinds[kind] = name + 1;
            g->n_kinds++;
        }
        if (kind == DP_KIND_SPAN)
            keep_texture(g, &f->boxes[i]);
    }
    /* Folded stacks of other tools have one kind, which needs no legend. */
    g->n_kinds = g->n_kinds > 1 ? g->n_kinds : 0;
}

/* Draws the legend of one side: the kinds that are drawn, in the hue of one package. */
static void legend_of_kinds(struct svg *g, double y)
{
    double size = g->how->font_size, x = SIDE;
    uint32_t of = g->kinds[DP_KIND_PLAIN];
    dp_buf_adds(&g->out, "<g id=\"legend\">");
    for (int kind = 0; kind < DP_KINDS; kind++) {
        if (!g->kinds[kind])
            continue;
        bool is_span = kind == DP_KIND_SPAN;
        const struct dp_stacks_name *name =
            &g->flame->s->names[(of && !is_span ? of : g->kinds[kind]) - 1];
        struct dp_rgb c = dp_palette_colour(g->how->palette, &name->text, kind, false, 0);
        dp_buf_adds(&g->out, "<rect x=\"");
        add_px(&g->out, x);
        dp_buf_adds(&g->out, "\" y=\"");
        add_px(&g->out, y - size * 0.9);
        dp_buf_addf(&g->out,
                    "\" width=\"%d\" height=\"%d\"",
                    (int)(size * 1.4), (int)(size * 1.1));
        add_fill(g, c, is_span);
        dp_buf_adds(&g->out, "/><text class=\"quiet\" x=\"");
        x += size * 1.4 + 4;
        add_px(&g->out, x);
        dp_buf_adds(&g->out, "\" y=\"");
        add_px(&g->out, y);
        dp_buf_addf(&g->out, "\">%s</text>", kind_words[kind]);
        x += (double)strlen(kind_words[kind]) * size * g->how->font_width + size * 1.5;
    }
    dp_buf_adds(&g->out, "<text class=\"quiet\" x=\"");
    add_px(&g->out, x);
    dp_buf_adds(&g->out, "\" y=\"");
    add_px(&g->out, y);
    dp_buf_adds(&g->out, "\">hue: by package</text></g>\n");
}

/* Draws title, subtitle, the lines for details and for frames that are not drawn, and the
 * controls. */
static void add_surroundings(struct svg *g)
{
    const struct dp_flame_how *how = g->how;
    double size = how->font_size, right = how->width - SIDE;
    double below = how->inverted ? g->image_height - size : g->image_height - g->bottom + size + 8;
    double details = how->inverted ? g->top - size - 4 : below;
    add_line(g, "title", "title", how->width / 2, size * 2, how->title);
    if (how->subtitle && *how->subtitle)
        add_line(g, "subtitle", "subtitle", how->width / 2, size * 4, how->subtitle);
    add_line(g, "details", "line", SIDE, details, " ");
    if (g->flame->hidden) {
        char hidden[200];
        if (dp_render_hidden(hidden, sizeof hidden, g->flame) < 0)
            g->out.err = DP_E_NOMEM;
        add_line(g, "hidden", "quiet", SIDE,
                 g->image_height - (how->inverted ? size * 0.6 : size * 0.6), hidden);
    }
    add_line(g, "unzoom", "control hide", SIDE, size * 2, "Reset zoom");
    add_line(g, "search", "control", right - 30, size * 2, "Search");
    add_line(g, "ignorecase", "control", right, size * 2, "ic");
    add_line(g, "matched", "line", right, details, " ");
    if (how->truth)
        add_line(g, "uncertain", "control", right, g->image_height - size * 2.4,
                 "Show uncertain changes");
    if (g->flame->two)
        add_legend(g, g->image_height - size * 2.4);
    else if (g->n_kinds)
        legend_of_kinds(g, g->image_height - size * (g->flame->hidden ? 2.4 : 0.9));
}

/* ---- frames ---- */

/* The place in a name where its last part begins, behind the package, or behind the kind of a span;
 * 0: it has one part. */
static size_t last_part(const struct dp_name *name, bool is_span)
{
    const char *colon = is_span ? memchr(name->ptr, ':', name->len) : NULL;
    if (is_span)
        return colon ? (size_t)(colon - name->ptr) + 1 : 0;
    size_t package = dp_text_package(name->ptr, name->len);
    return package && package + 2 < name->len ? package + 2 : 0;
}

/* The number of bytes of the escaped text that fit into so many columns: all of it, or a part that
 * leaves two columns for dots. */
static size_t fitting_bytes(const char *ptr, size_t len, size_t room, bool *whole)
{
    size_t at = 0, columns = 0, cut = 0;
    while (at < len) {
        size_t n = dp_text_char(ptr + at, len - at);
        n = n ? n : 1;
        columns += dp_text_columns(ptr + at, n);
        if (columns > room)
            break;
        at += n;
        if (columns <= room - 2)
            cut = at;
    }
    *whole = at >= len;
    return *whole ? len : cut;
}

/* Appends a name shortened to so many pixels: all of it, else without its package or kind, else the
 * beginning of that. Below three columns there is no name. The picture's script does the same. */
static void add_label(struct svg *g, const struct dp_name *name, bool is_span, double width,
                      const char *sign)
{
    double fits = width / (g->how->font_size * g->how->font_width);
    size_t room = fits > 1e6 ? 1000000 : (size_t)fits;
    struct dp_buf text;
    bool whole = false;
    size_t len = 0;
    if (*sign)
        room = room > 2 ? room - 2 : 0;
    if (room < 3)
        return;
    dp_buf_init(&text);
    for (size_t from = 0, part = last_part(name, is_span); !whole; from = part, part = 0) {
        size_t most = room * 8 + 64, n = name->len - from;
        bool clipped = n > most;        /* a combining mark takes no room and may follow */
        text.len = 0;
        dp_text_escape(&text, name->ptr + from, clipped ? most : n);
        len = fitting_bytes(text.len ? text.ptr : "", text.len, room, &whole);
        whole = whole && !clipped;
        if (!part)
            break;
    }
    add_str(g, sign);
    add_xml(g, text.len ? text.ptr : "", len);
    if (!whole)
        dp_buf_adds(&g->out, "..");
    g->out.err = g->out.err ? g->out.err : text.err;
    dp_buf_release(&text);
}

/* Returns the colour of a box: by its change if two sides are drawn, else the colour that the user
 * gave its name, else that of the palette. */
static struct dp_rgb fill_of(struct svg *g, const struct dp_flame_box *box, double change)
{
    const struct dp_stacks_name *name = &g->flame->s->names[box->name];
    struct dp_map_slot *slot = dp_map_find(&g->fills, box->name);
    if (g->flame->two)
        return box->depth || change < 0 || change > 0
                ? dp_palette_change(change) : (struct dp_rgb){ 235, 235, 235 };
    if (slot)
        return parse_rgb(g->how->fills[slot->value - 1].text, (struct dp_rgb){ 200, 200, 200 });
    return dp_palette_colour(g->how->palette, &name->text, name->kind, g->how->hash, g->how->seed);
}

/* Tells the host, once for each name, which colour it got, so that later pictures can use the
 * same. */
static int tell_colour(struct svg *g, uint32_t name, struct dp_rgb c)
{
    static const char hex[] = "0123456789abcdef";
    char text[8] = { '#',           hex[c.r >> 4], hex[c.r & 15], hex[c.g >> 4],
                     hex[c.g & 15], hex[c.b >> 4], hex[c.b & 15], 0 };
    if (!g->colour || g->told[name])
        return 0;
    g->told[name] = 1;
    return g->colour(g->ctx, g->flame->s->names[name].text.ptr, g->flame->s->names[name].text.len,
                     text);
}

/* The attributes of a name: those of its group; href and target are those of a link around it. */
static const struct dp_flame_fill *attributes_of(const struct svg *g, uint32_t name)
{
    struct dp_map_slot *slot = dp_map_find(&g->attributes, name);
    return slot ? &g->how->attributes[slot->value - 1] : NULL;
}

/* A field of a name's attributes: `key=value` between tabs. */
static struct dp_name attribute_of(const struct dp_flame_fill *from, const char *key)
{
    size_t n = strlen(key);
    const char *p = from ? from->text : "", *end = p + (from ? from->text_len : 0);
    while (p < end) {
        const char *tab = memchr(p, '\t', (size_t)(end - p));
        const char *stop = tab ? tab : end;
        if ((size_t)(stop - p) > n && memcmp(p, key, n) == 0 && p[n] == '=')
            return (struct dp_name){ p + n + 1, (size_t)(stop - p) - n - 1 };
        p = stop + 1;
    }
    return (struct dp_name){ NULL, 0 };
}

/* Appends an attribute to an element, unless it has no value. */
static void add_attribute(struct svg *g, const char *name, struct dp_name value)
{
    if (!value.ptr)
        return;
    dp_buf_addf(&g->out, " %s=\"", name);
    add_xml(g, value.ptr, value.len);
    dp_buf_addc(&g->out, '"');
}

/* Draws a frame's box with tooltip and label, in the user's colours, links and attributes if there
 * are any. Returns 0 or an error of the output. */
static int draw_box(struct svg *g, const struct dp_flame_box *box)
{
    const struct dp_flame *f = g->flame;
    struct dp_name name = dp_flame_plain(&f->s->names[box->name].text);
    double change = dp_flame_change(f, box);
    bool sure = dp_flame_is_coloured(f, g->how, box);
    double x = SIDE + box->x * g->per_tick, w = box->w * g->per_tick, height = g->how->height;
    double y = g->how->inverted ? g->top + box->depth * height
                                : g->image_height - g->bottom - (box->depth + 1) * height;
    struct dp_rgb c = fill_of(g, box, change);
    const struct dp_flame_fill *more = attributes_of(g, box->name);
    struct dp_name link = attribute_of(more, "href"), title = attribute_of(more, "title"),
                   raw = attribute_of(more, "g_extra"), class = attribute_of(more, "class");
    bool is_new = dp_flame_is_new(f, box) && box->depth && !g->how->is_pair,
         is_gone = dp_flame_is_gone(f, box) && !g->how->is_pair,
         is_span = f->s->names[box->name].kind == DP_KIND_SPAN;
    if (link.ptr) {
        struct dp_name target = attribute_of(more, "target"), extra = attribute_of(more, "a_extra");
        dp_buf_adds(&g->out, "<a");
        add_attribute(g, "xlink:href", link);
        add_attribute(g, "target", target.ptr ? target : (struct dp_name){ "_top", 4 });
        if (extra.ptr) {
            dp_buf_addc(&g->out, ' ');
            dp_buf_add(&g->out, extra.ptr, extra.len);
        }
        dp_buf_addc(&g->out, '>');
    }
    /* insignificant changes are white, unless the picture's toggle is used */
    dp_buf_addf(&g->out, "<g class=\"f%s%s%s%s", is_span ? " span" : "",
                is_new ? " new"
                : is_gone ? " gone"
                          : "",
                change > 0 ? " up"
                : change < 0 ? " down"
                             : "",
                !sure && (change < 0 || change > 0) ? " unsure" : "");
    if (class.len) {
        dp_buf_addc(&g->out, ' ');
        add_xml(g, class.ptr, class.len);
    }
    dp_buf_addc(&g->out, '"');
    add_attribute(g, "id", attribute_of(more, "id"));
    if (raw.ptr) {
        dp_buf_addc(&g->out, ' ');
        dp_buf_add(&g->out, raw.ptr, raw.len);
    }
    if (title.ptr)
        add_attribute(g, "data-name", name);
    dp_buf_adds(&g->out, " data-x=\"");
    add_exact(&g->out, box->x);
    dp_buf_adds(&g->out, "\" data-w=\"");
    add_exact(&g->out, box->w);
    dp_buf_adds(&g->out, "\"><title>");
    if (title.ptr) {
        add_xml(g, title.ptr, title.len);
    } else {
        add_xml(g, name.ptr, name.len);
        g->told_of.len = 0;
        dp_render_told(&g->told_of, f, g->how, box);
        add_xml(g, g->told_of.ptr, g->told_of.len);
    }
    dp_buf_adds(&g->out, "</title><rect x=\"");
    add_px(&g->out, x);
    dp_buf_adds(&g->out, "\" y=\"");
    add_px(&g->out, y);
    dp_buf_adds(&g->out, "\" width=\"");
    add_px(&g->out, floor((x + w) * 10 + 0.5) / 10 - floor(x * 10 + 0.5) / 10);
    dp_buf_adds(&g->out, "\" height=\"");
    add_px(&g->out, height - 1);
    dp_buf_addc(&g->out, '"');
    add_fill(g, c, is_span && w >= WIDE);
    dp_buf_adds(&g->out, w >= WIDE ? " class=\"wide\"/>" : "/>");
    if ((w - LABEL) / (g->how->font_size * g->how->font_width) >= 3) {
        dp_buf_adds(&g->out, "<text x=\"");
        add_px(&g->out, x + 3);
        dp_buf_adds(&g->out, "\" y=\"");
        add_px(&g->out, y + height / 2 + g->how->font_size * 0.32);
        dp_buf_adds(&g->out, "\">");
        add_label(g, &name, is_span, w - LABEL,
                  !sure ? ""
                  : change > 0 ? "\xe2\x96\xb2 "
                  : change < 0 ? "\xe2\x96\xbc "
                  : "");
        dp_buf_adds(&g->out, "</text>");
    }
    dp_buf_adds(&g->out, link.ptr ? "</g></a>\n" : "</g>\n");
    if (g->out.len > 16384)
        flush_text(g);
    return f->two ? g->out.err : tell_colour(g, box->name, c);
}

/* Makes an index of what the user gave for names (colours, attributes): name of the stacks ->
 * number plus 1. Names that are not drawn are left out. Returns 0 or DP_E_NOMEM. */
static int index_names(struct dp_map *map, const struct dp_stacks *s,
                       const struct dp_flame_fill *given, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t name = dp_stacks_find(s, given[i].name, given[i].name_len);
        struct dp_map_slot *slot = name == DP_STACKS_NONE ? NULL : dp_map_put(map, name);
        if (!slot && name != DP_STACKS_NONE)
            return DP_E_NOMEM;
        if (slot)
            slot->value = (uint32_t)i + 1;
    }
    return 0;
}

/* Writes the whole picture. The heights above and below the frames depend on which lines of text
 * are there. */
static int print_picture(struct svg *g)
{
    const struct dp_flame *f = g->flame;
    double size = g->how->font_size, inner = g->how->width - 2 * SIDE;
    int rc = index_names(&g->fills, f->s, g->how->fills, g->how->n_fills);
    if (rc == 0)
        rc = index_names(&g->attributes, f->s, g->how->attributes, g->how->n_attributes);
    g->told = dp_mem_zalloc(f->s->n_names + 1);
    if (rc < 0 || !g->told)
        return DP_E_NOMEM;
    find_kinds(g);
    g->top = size * 3 + (g->how->subtitle && *g->how->subtitle ? size * 2 : 0)
             + (g->how->inverted ? size * 2 : 0);
    g->bottom = (g->how->inverted ? 0 : size * 2 + 10) + (f->hidden ? size * 1.5 : 0)
                + (f->two ? size * 2.4 : g->n_kinds ? size * 1.8 : 0) + (g->how->inverted ? 10 : 0);
    g->image_height = (f->depth + 1) * g->how->height + g->top + g->bottom;
    g->per_tick = f->total > 0 ? inner / f->total : 0;
    add_head(g);
    add_surroundings(g);
    dp_buf_adds(&g->out, "<g id=\"frames\">\n");
    for (size_t i = 0; i < f->count && rc == 0; i++)
        rc = draw_box(g, &f->boxes[i]);
    dp_buf_adds(&g->out, "</g>\n<script><![CDATA[\n");
    dp_buf_add(&g->out, dp_share_svg_js.ptr, dp_share_svg_js.len);
    dp_buf_adds(&g->out, "]]></script>\n</svg>\n");
    flush_text(g);
    return rc < 0 ? rc : g->told_of.err ? g->told_of.err : g->out.err;
}

/* Prints the stacks as a flame graph in SVG. Returns 0 or a DP_E. */
int dp_print_svg(const struct dp_stacks_printing *p)
{
    struct svg g;
    memset(&g, 0, sizeof g);
    g.flame = p->layout;
    g.how = p->job->flame;
    g.sink = p->sink;
    g.colour = p->job->colour;
    g.ctx = p->job->ctx;
    dp_buf_init(&g.told_of);
    dp_buf_init(&g.out);
    dp_map_init(&g.fills);
    dp_map_init(&g.attributes);
    int rc = print_picture(&g);
    dp_buf_release(&g.told_of);
    dp_buf_release(&g.out);
    dp_map_release(&g.fills);
    dp_map_release(&g.attributes);
    dp_mem_free(g.told);
    return rc;
}
