#include "dp_palette.h"
#include "dp_stacks.h"
#include "dp_text.h"

#include <math.h>
#include <string.h>

/* Returns the hash of a name: FNV-1a with 64 bits and a mixer, so that similar names differ
 * much. */
static uint64_t hash_of(const char *ptr, size_t len, uint64_t seed)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ seed;
    for (size_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)ptr[i]) * UINT64_C(0x100000001b3);
    return dp_map_hash(h);
}

/* The length of a name's package. A name without one has everything before the last `.`, `/` or `:`
 * instead, or the whole name, both without a `[` and what follows. */
static size_t package_of(const char *ptr, size_t len)
{
    size_t package = dp_text_package(ptr, len);
    const char *bracket = memchr(ptr, '[', len);
    size_t end = bracket && bracket > ptr ? (size_t)(bracket - ptr) : len;
    for (size_t i = end; !package && i > 1; i--)
        if (ptr[i - 1] == '.' || ptr[i - 1] == '/' || (ptr[i - 1] == ':' && i != end))
            package = i - 1;
    return package ? package : end;
}

/* The name that decides the hue: of a span its kind, because a text has no package. */
static struct dp_name hue_name(const struct dp_name *name, int kind)
{
    struct dp_name span = dp_stacks_span(name, kind);
    return span.len ? span : *name;
}

unsigned dp_palette_hue(const char *ptr, size_t len)
{
    return (unsigned)(hash_of(ptr, package_of(ptr, len), 0) % 360);
}

/* Returns a channel of a colour (CSS Color 3, 4.2.4). a, b: the colour's least and greatest
 * channel; hue: in degrees, and shifted for this channel. */
static unsigned char hsl_channel(double a, double b, double hue)
{
    hue = fmod(hue + 360, 360);
    double v = hue < 60 ? a + (b - a) * hue / 60
               : hue < 180 ? b
               : hue < 240 ? a + (b - a) * (240 - hue) / 60
                           : a;
    return (unsigned char)(v * 255 + 0.5);
}

/* Returns the colour with this hue (in degrees), saturation and lightness (0 to 1). */
static struct dp_rgb from_hsl(double hue, double s, double l)
{
    double b = l <= 0.5 ? l * (s + 1) : l + s - l * s, a = l * 2 - b;
    return (struct dp_rgb){ hsl_channel(a, b, hue + 120), hsl_channel(a, b, hue),
                            hsl_channel(a, b, hue - 120) };
}

static double linear_light(unsigned char c)
{
    double v = c / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
}

/* Returns the hue of a name's colour in OKLCH, in degrees. Source: Björn Ottosson, A perceptual
 * color space for image processing, 2020. */
unsigned dp_palette_oklch_hue(const struct dp_name *name, int kind)
{
    struct dp_name package = hue_name(name, kind);
    struct dp_rgb c = from_hsl(dp_palette_hue(package.ptr, package.len), 0.68, 0.70);
    double r = linear_light(c.r), g = linear_light(c.g), b = linear_light(c.b);
    double l = cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b),
           m = cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
    double s = cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
    double hue = atan2(0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
                       1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s);
    return (unsigned)(fmod(hue * 180 / 3.14159265358979 + 360.5, 360));
}

/* The colour of a sub: the hue shows its package, and the lightness its kind (DP_KIND_...). */
static struct dp_rgb colour_by_package(const struct dp_name *name, int kind)
{
    struct dp_name package = hue_name(name, kind);
    double hue = dp_palette_hue(package.ptr, package.len);
    /* yellows and greens look lighter than blues and reds of the same lightness */
    double even = 0.04 * cos((hue - 250) * 3.14159265358979 / 180);
    switch (kind) {
    case DP_KIND_PROGRAM: return from_hsl(40, 0.10, 0.80);
    case DP_KIND_BUILTIN: return from_hsl(hue, 0.04, 0.78);
    case DP_KIND_CORE:    return from_hsl(hue, 0.45, 0.79 + even);
    case DP_KIND_XS:      return from_hsl(hue, 0.55, 0.62 + even);
    case DP_KIND_ANON:    return from_hsl(hue, 0.80, 0.80 + even);
    case DP_KIND_BEGIN:   return from_hsl(275, 0.45, 0.82);
    case DP_KIND_SPAN:    return from_hsl(hue, 0.95, 0.68 + even);
    }
    return from_hsl(hue, 0.68, 0.70 + even);
}

/* Returns flamegraph.pl's hash of a name: names with similar beginnings get similar colours. */
static double name_hash(const struct dp_name *name, bool backwards)
{
    double vector = 0, weight = 1, max = 1;
    size_t from = 0;
    const char *tick = memchr(name->ptr, '`', name->len);
    if (tick)
        from = (size_t)(tick - name->ptr) + 1;
    for (unsigned mod = 10; mod <= 12; mod++) {
        size_t k = mod - 10;
        if (from + k >= name->len)
            break;
        unsigned char c = (unsigned char)(backwards
                ? name->ptr[name->len - 1 - k] : name->ptr[from + k]);
        vector += (double)(c % mod) / (double)mod * weight;
        max += weight;
        weight *= 0.7;
    }
    return 1 - vector / max;
}

static bool ends_with(const struct dp_name *name, const char *word)
{
    size_t n = strlen(word);
    return name->len >= n && memcmp(name->ptr + name->len - n, word, n) == 0;
}

/* Does a name begin with a package of Java, as in org/x/Y or Lorg/x/Y? */
static bool begins_with_package(const struct dp_name *name)
{
    static const char *const tops[] = { "java/", "javax/", "jdk/", "net/",
                                        "org/",  "com/",   "io/",  "sun/" };
    size_t at = name->len && name->ptr[0] == 'L';
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++)
        for (size_t from = 0; from <= at; from++)
            if (name->len >= from + strlen(tops[i])
                && memcmp(name->ptr + from, tops[i], strlen(tops[i])) == 0)
                return true;
    return false;
}

/* The plain palette for a name: palettes for several languages consist of plain ones. */
static enum dp_palette flat_palette(enum dp_palette palette, const struct dp_name *name)
{
    switch (palette) {
    case DP_PALETTE_WAKEUP: return DP_PALETTE_AQUA;
    case DP_PALETTE_CHAIN:  return ends_with(name, "_[w]") ? DP_PALETTE_AQUA : DP_PALETTE_BLUE;
    case DP_PALETTE_JAVA:
        if (ends_with(name, "_[j]") || (begins_with_package(name) && !ends_with(name, "_[i]")))
            return DP_PALETTE_GREEN;
        return ends_with(name, "_[i]") ? DP_PALETTE_AQUA
               : dp_text_holds(name->ptr, name->len, "::") ? DP_PALETTE_YELLOW
               : ends_with(name, "_[k]") ? DP_PALETTE_ORANGE
               : DP_PALETTE_RED;
    case DP_PALETTE_JS:
        if (ends_with(name, "_[j]"))
            return memchr(name->ptr, '/', name->len) ? DP_PALETTE_GREEN : DP_PALETTE_AQUA;
        return dp_text_holds(name->ptr, name->len, "::") ? DP_PALETTE_YELLOW
               : dp_text_holds(name->ptr, name->len, ".js") ? DP_PALETTE_GREEN
               : memchr(name->ptr, ':', name->len) ? DP_PALETTE_AQUA
               : ends_with(name, "_[k]") ? DP_PALETTE_ORANGE
               : DP_PALETTE_RED;
    default:
        return palette;
    }
}

static struct dp_rgb make_rgb(double r, double g, double b)
{
    return (struct dp_rgb){ (unsigned char)r, (unsigned char)g, (unsigned char)b };
}

struct dp_rgb dp_palette_colour(enum dp_palette palette, const struct dp_name *name, int kind,
                                bool hash, uint64_t seed)
{
    if ((name->len == 1 || name->len == 2) && name->ptr[0] == '-'
        && name->ptr[name->len - 1] == '-')
        return make_rgb(160, 160, 160);              /* a separator of stacks */
    if (palette == DP_PALETTE_PACKAGE && !seed && !hash)
        return colour_by_package(name, kind);
    uint64_t h = hash_of(name->ptr, name->len, seed);
    double u = (double)(h & 0xffff) / 65535, v = (double)(h >> 16 & 0xffff) / 65535,
           w = (double)(h >> 32 & 0xffff) / 65535;
    if (hash && !seed) {
        u = name_hash(name, false);
        v = w = name_hash(name, true);
    }
    switch (flat_palette(palette, name)) {
    case DP_PALETTE_PACKAGE: return from_hsl(u * 359, 0.55 + 0.2 * v, 0.66 + 0.1 * w);
    case DP_PALETTE_MEM:     return make_rgb(0, 190 + 50 * v, 210 * u);
    case DP_PALETTE_IO:      return make_rgb(80 + 60 * u, 80 + 60 * u, 190 + 55 * v);
    case DP_PALETTE_RED:     return make_rgb(200 + 55 * u, 50 + 80 * u, 50 + 80 * u);
    case DP_PALETTE_GREEN:   return make_rgb(50 + 60 * u, 200 + 55 * u, 50 + 60 * u);
    case DP_PALETTE_BLUE:    return make_rgb(80 + 60 * u, 80 + 60 * u, 205 + 50 * u);
    case DP_PALETTE_YELLOW:  return make_rgb(175 + 55 * u, 175 + 55 * u, 50 + 20 * u);
    case DP_PALETTE_PURPLE:  return make_rgb(190 + 65 * u, 80 + 60 * u, 190 + 65 * u);
    case DP_PALETTE_AQUA:    return make_rgb(50 + 60 * u, 165 + 55 * u, 165 + 55 * u);
    case DP_PALETTE_ORANGE:  return make_rgb(190 + 65 * u, 90 + 65 * u, 0);
    default:                 return make_rgb(205 + 50 * w, 230 * u, 55 * v);
    }
}

void dp_palette_background(enum dp_palette palette, struct dp_rgb to[2])
{
    to[0] = make_rgb(0xee, 0xee, 0xee);
    switch (palette) {
    case DP_PALETTE_PACKAGE:
        to[0] = make_rgb(0xff, 0xff, 0xff);
        to[1] = make_rgb(0xf4, 0xf4, 0xf2);
        break;
    case DP_PALETTE_MEM:
        to[0] = make_rgb(0xee, 0xf2, 0xee);
        to[1] = make_rgb(0xe0, 0xff, 0xe0);
        break;
    case DP_PALETTE_IO: case DP_PALETTE_WAKEUP: case DP_PALETTE_CHAIN:
        to[1] = make_rgb(0xe0, 0xe0, 0xff);
        break;
    case DP_PALETTE_RED:
    case DP_PALETTE_GREEN:
    case DP_PALETTE_BLUE:
    case DP_PALETTE_AQUA:
    case DP_PALETTE_YELLOW:
    case DP_PALETTE_PURPLE:
    case DP_PALETTE_ORANGE:
        to[0] = make_rgb(0xf8, 0xf8, 0xf8);
        to[1] = make_rgb(0xe8, 0xe8, 0xe8);
        break;
    default:
        to[1] = make_rgb(0xee, 0xee, 0xb0);
    }
}

struct dp_rgb dp_palette_change(double share)
{
    double t = share < 0 ? -share : share;
    t = t > 1 ? 1 : t;
    if (share > 0)
        return make_rgb(247 - 23 * t, 247 - 185 * t, 247 - 197 * t);
    return make_rgb(247 - 185 * t, 247 - 135 * t, 247 - 23 * t);
}
