/* Blocks: stretches of a program that Test::DProf measures alone. */
#ifndef DPX_BLOCK_H
#define DPX_BLOCK_H

#include "dpx.h"

/* Begins a phase of this name, and starts recording if it is stopped. Returns false if nothing
 * records here, or if a block has begun before. */
bool dpx_block_begin(pTHX_ const char *name, size_t len);

/* Ends the block: phase and recording become what they were before it. */
void dpx_block_end(pTHX);

#endif
