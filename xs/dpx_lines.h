/* Lines of source as perl's data. */
#ifndef DPX_LINES_H
#define DPX_LINES_H

#include "dpx_host.h"

/* [file, line, sub or undef, count, self, inclusive, calls, [[sub, calls, inclusive], ...]] each,
 * as dp_line_rows has them; times in ticks. Mortal. Croaks where there is no such metric. */
AV *dpx_line_rows(pTHX_ const struct dp_prof *prof, IV metric, UV counter);

/* The text of a source, as bytes, where the profile has it; else undef. The caller's. */
SV *dpx_line_text(pTHX_ const struct dp_prof *prof, SV *file);

/* The names of the files that it has places in. Mortal. */
AV *dpx_line_files(pTHX_ const struct dp_prof *prof);

#endif
