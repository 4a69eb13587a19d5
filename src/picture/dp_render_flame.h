/* What the formats of flame graphs share. */
#ifndef DP_RENDER_FLAME_H
#define DP_RENDER_FLAME_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_flame.h"
#include "dp_io.h"

/* Appends " (1.234 s, 45.67%)", for use after a name: the value; in a difference, also the old
 * value, the change, and its share of all changes. Plain text, not escaped yet. */
void dp_render_told(struct dp_buf *to, const struct dp_flame *flame, const struct dp_flame_how *how,
                    const struct dp_flame_box *box);

/* Appends a change, in ticks: "+1.234 s", "-12 samples". */
void dp_render_change(struct dp_buf *to, const struct dp_flame *flame,
                      const struct dp_flame_how *how, double ticks);

/* Writes "1,204 frames, 0.8 % not drawn". Returns 0 or a DP_E. */
int dp_render_hidden(char *to, size_t room, const struct dp_flame *flame);

/* Is a box coloured? With several runs, only significant changes are. */
bool dp_flame_is_coloured(const struct dp_flame *flame, const struct dp_flame_how *how,
                          const struct dp_flame_box *box);

#endif
