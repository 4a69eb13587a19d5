/* What the formats of flame graphs share. */
#ifndef DP_RENDER_FLAME_H
#define DP_RENDER_FLAME_H

#include "dp_base.h"
#include "dp_buf.h"
#include "dp_flame.h"
#include "dp_io.h"

/* " (1.234 s, 45.67%)", behind a name: what it has, and of a difference what it had, what was added
 * to it, and what that is of all changes. Plain text: it is still to be escaped. */
void dp_render_told(struct dp_buf *to, const struct dp_flame *flame, const struct dp_flame_how *how,
                    const struct dp_flame_box *box);

/* "+1.234 s", "-12 samples": a change, in ticks. */
void dp_render_change(struct dp_buf *to, const struct dp_flame *flame,
                      const struct dp_flame_how *how, double ticks);

/* "1,204 frames, 0.8 % not drawn". Returns 0 or a DP_E. */
int dp_render_hidden(char *to, size_t room, const struct dp_flame *flame);

/* With several runs, only what is significant is coloured. */
bool dp_flame_is_coloured(const struct dp_flame *flame, const struct dp_flame_how *how,
                          const struct dp_flame_box *box);

#endif
