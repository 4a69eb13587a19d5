/* Blocks: stretches of a program that are looked at alone, by Test::DProf. */
#ifndef DPX_BLOCK_H
#define DPX_BLOCK_H

#include "dpx.h"

/* Begins a phase of this name, and recording if that does not go on already. Returns false if
 * nothing records here, or if a block has begun before. */
bool dpx_block_begin(pTHX_ const char *name, size_t len);

/* It ends: all is as before. */
void dpx_block_end(pTHX);

#endif
