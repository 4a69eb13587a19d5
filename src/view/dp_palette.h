/* Colours of frames: by package and kind, flamegraph.pl's colours by name, and colours of
 * differences.
 *
 * The hue is a hash of the package, so a package has the same colour in every picture. Saturation
 * and lightness show the kind of sub. share/page/draw/colours.mjs does the same for two colour
 * schemes. Differences are blue, white and red. Lightness decreases with the difference on both
 * sides, so a grey print shows how much a frame changed, and the signs show in which direction. */
#ifndef DP_PALETTE_H
#define DP_PALETTE_H

#include "dp_base.h"
#include "dp_pool.h"
#include "dprof/stacks.h"

struct dp_rgb {
    unsigned char r, g, b;
};

/* The hue of a name's package, in degrees: the same in every picture. The first function returns
 * HSL's hue; the second returns OKLCH's hue that looks the same, for the page, and knows from the
 * kind (enum dp_stacks_kind) that the package of a span is its own kind. */
unsigned dp_palette_hue(const char *ptr, size_t len);
unsigned dp_palette_oklch_hue(const struct dp_name *name, int kind);

/* A name's colour. kind: enum dp_stacks_kind. hash: similar names get similar colours; seed:
 * colours are random instead. */
struct dp_rgb dp_palette_colour(enum dp_palette palette, const struct dp_name *name, int kind,
                                bool hash, uint64_t seed);

/* The gradient behind the frames. */
void dp_palette_background(enum dp_palette palette, struct dp_rgb top_bottom[2]);

/* The colour of a difference. share: the difference divided by the greatest one, from -1 (greatest
 * loss) to 1 (greatest growth). No difference is white; colours darken in proportion to it. */
struct dp_rgb dp_palette_change(double share);

#endif
