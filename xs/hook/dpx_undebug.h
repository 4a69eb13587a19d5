/* Undoes the changes of perl's switch -d in an interpreter. The profiler does not need them once it
 * has been loaded. */
#ifndef DPX_UNDEBUG_H
#define DPX_UNDEBUG_H

#include "dpx.h"

/* Did this interpreter begin with -d? */
bool dpx_undebug_began(pTHX);

/* Puts the interpreter back into the state that it has without -d: the flags, what C code sees
 * (PL_DBsub and its like), the package DB, the sources that perl kept, and PERL5DB_THREADED. A
 * debugger that has been loaded keeps its variables, but the flags are cleared. Code that was
 * compiled while the flags were set must not call anything after this. */
void dpx_undebug(pTHX);

/* For tests: returns all of that state, as names and numbers. */
HV *dpx_undebug_state(pTHX);

#endif
