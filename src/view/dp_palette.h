/* Colours of frames: by package and kind, those of flamegraph.pl by their names, and those of
 * differences.
 *
 * The hue is a hash of the package, so that a package has its colour in every picture; the kind of
 * sub is saturation and lightness. share/page/draw/colours.mjs has the same for two schemes of
 * light. Differences are blue, white and red. Lightness falls with the difference on both sides, so
 * that a print in grey says how much a frame has changed, and the signs say which way. */
#ifndef DP_PALETTE_H
#define DP_PALETTE_H

#include "dp_base.h"
#include "dp_pool.h"
#include "dprof/stacks.h"

struct dp_rgb {
    unsigned char r, g, b;
};

/* The hue of a name's package, in degrees: the same in every picture. It is that of HSL; and of
 * OKLCH, for the page, the hue that looks the same. */
unsigned dp_palette_hue(const char *ptr, size_t len);
unsigned dp_palette_oklch_hue(const char *ptr, size_t len);

/* A name's colour. kind: enum dp_stacks_kind. hash: similar names get similar colours; seed: by
 * chance instead. */
struct dp_rgb dp_palette_colour(enum dp_palette palette, const struct dp_name *name, int kind,
                                bool hash, uint64_t seed);

/* The gradient behind the frames. */
void dp_palette_background(enum dp_palette palette, struct dp_rgb top_bottom[2]);

/* The colour of a difference. share: the difference as a share of the greatest one, from -1 (as
 * much was lost) to 1 (as much was gained). White is no difference; the greater the difference is,
 * the darker is its colour. */
struct dp_rgb dp_palette_change(double share);

#endif
