/* Lines of source as perl's data. */
#ifndef DPX_LINES_H
#define DPX_LINES_H

#include "dpx_host.h"

/* [file, line, sub or undef, count, self, inclusive, calls, [[sub, calls, inclusive], ...]] each,
 * as dp_line_rows has them; times in ticks. Mortal. Croaks where there is no such metric. */
AV *dpx_line_rows(pTHX_ const struct dp_prof *prof, IV metric, UV counter);

/* Of each line of the later text the number of the one that it is of the older, from 1 up; 0: it
 * was inserted. Mortal. */
AV *dpx_aligned_texts(pTHX_ const char *old, size_t old_len, const char *later, size_t later_len);

/* [file, size, crc] each, of the sources of which these are known. Mortal. */
AV *dpx_line_sources(pTHX_ const struct dp_prof *prof);

/* The text of a source, as bytes, where the profile has it; else undef. The caller's. */
SV *dpx_line_text(pTHX_ const struct dp_prof *prof, SV *file);

/* The names of the files that it has places in. Mortal. */
AV *dpx_line_files(pTHX_ const struct dp_prof *prof);

#endif
