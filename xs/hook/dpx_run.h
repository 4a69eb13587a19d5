/* The beginning of a recording: options, cleaning up after perl, the first interpreter. Blocks,
 * which Test::DProf measures alone, begin and end here, too. */
#ifndef DPX_RUN_H
#define DPX_RUN_H

#include "dpx.h"

/* Starts recording in this interpreter. items: the import list. Croaks if the user must correct
 * something. Returns false if nothing can be recorded but the program shall run. */
bool dpx_run_start(pTHX_ const char *const *items, size_t n);

/* Starts recording samples in this interpreter without -d, at any time. In a program that is
 * already running, the phase is `main`. The items have sample=. An existing recorder stays as it
 * is. */
void dpx_run_start_sampling(pTHX_ const char *const *items, size_t n);

/* Starts the recorder without -d, for blocks: nothing is recorded before the first block, the
 * program's environment is left as it is, and only the items are options. Croaks if blocks cannot
 * be recorded. */
void dpx_run_start_blocks(pTHX_ const char *const *items, size_t n);

/* Begins a phase of this name, and starts recording if it is stopped. Returns false if nothing
 * records here, or if a block has begun before. */
bool dpx_run_block_begin(pTHX_ const char *name, size_t len);

/* Ends the block: phase and recording become what they were before it. */
void dpx_run_block_end(pTHX);

#endif
