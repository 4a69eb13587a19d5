/* The signals that save the file (signal=), or switch recording (toggle=). */
#ifndef DPX_SIGNAL_H
#define DPX_SIGNAL_H

#include "dpx.h"

/* Finds the numbers of the signals that the options name; croaks where there is none. */
void dpx_signal_choose(pTHX);

/* Their handlers, which stay where the profile cannot be written: whoever has been told to send the
 * signal does, and it must not kill the program. The ones before, where that is not started. */
void dpx_signal_install(void);
void dpx_signal_restore(void);

/* This interpreter, and those cloned from it, follow toggle= from now on. */
void dpx_signal_follow(pTHX);

#endif
