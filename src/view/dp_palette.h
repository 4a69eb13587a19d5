/* Colours of frames: by package and kind, those of flamegraph.pl by their names, and those
 * of differences. */
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

/* Of a difference: share, from -1 (all that was lost) to 1 (all that was gained), of the greatest
 * one. White is none; the greater it is, the darker, so that it can be told in grey, too. */
struct dp_rgb dp_palette_change(double share);

#endif
