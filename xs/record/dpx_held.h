/* Stretches that are held back until it is known whether they were slow (dp_held.h). Their numbers
 * are those of the process, from 1 up. */
#ifndef DPX_HELD_H
#define DPX_HELD_H

#include "dpx.h"

/* Begins a stretch that is kept if it takes this many seconds or more; the time that follows
 * belongs to it. Returns its number; 0: the time that follows is recorded as usual. */
U64 dpx_held_begin(struct dpx_ctx *ctx, NV seconds);

/* The number of the stretch that is recorded; 0: none. */
U64 dpx_held_number(const struct dpx_ctx *ctx);

/* Makes the time that follows belong to the stretch of this number; 0: to none. Returns the number
 * before. An unknown number changes nothing. */
U64 dpx_held_turn(struct dpx_ctx *ctx, U64 number);

/* Ends a stretch. Returns whether it is kept. */
bool dpx_held_end(struct dpx_ctx *ctx, U64 number);

/* Ends all stretches, because the process ends, or becomes another program. now: an arrival
 * stamp. */
void dpx_held_end_all(struct dpx_ctx *ctx, U64 now);

/* The number in an argument; 0 if it is no number, or reading it would run code of the program. */
NV dpx_held_plain(pTHX_ SV *sv);

#endif
