/* The signals that save the file (signal=), or switch recording (toggle=). */
#ifndef DPX_SIGNAL_H
#define DPX_SIGNAL_H

#include "dpx.h"

/* Finds the numbers of the signals that the options name; croaks if there is no such signal. */
void dpx_signal_choose(pTHX);

/* The first installs the handlers. They stay even if no profile can be written: somebody may send
 * the signal all the same, and it must not kill the program. The second restores the handlers
 * before, when the program does not start. */
void dpx_signal_install(void);
void dpx_signal_restore(void);

/* Makes this interpreter, and those cloned from it, follow toggle= from now on. */
void dpx_signal_follow(pTHX);

#endif
