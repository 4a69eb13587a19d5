/* Messages to the user, and numbers in the form that files have. */
#ifndef DPX_SAY_H
#define DPX_SAY_H

#include "dpx.h"

/* Prints one line on the standard error, past all of perl's layers, because a tied STDERR belongs
 * to the program. Prints nothing if the program has opened something else as descriptor 2. */
void dpx_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Appends a number with a decimal point, in any locale. */
void dpx_say_real(struct dp_buf *to, double value, int decimals);

#endif
