/* Lines of source as perl's data. */
#ifndef DPX_LINES_H
#define DPX_LINES_H

#include "dpx_host.h"

/* Returns [file, line, sub or undef, count, self, inclusive, calls, [[sub, calls, inclusive], ...]]
 * for each row of dp_line_rows; times in ticks. Mortal. Croaks if there is no such metric. */
AV *dpx_line_rows(pTHX_ const struct dp_prof *prof, IV metric, UV counter);

/* Returns, for each line of the later text, the number of the same line in the older text, from 1
 * up; 0: the line was inserted. Mortal. */
AV *dpx_aligned_texts(pTHX_ const char *old, size_t old_len, const char *later, size_t later_len);

/* Returns [file, size, crc] of each source whose size and crc are known. Mortal. */
AV *dpx_line_sources(pTHX_ const struct dp_prof *prof);

/* The text of a source, as bytes, if the profile has it, else undef: a new SV. */
SV *dpx_line_text(pTHX_ const struct dp_prof *prof, SV *file);

/* The names of the files that the profile has places in. Mortal. */
AV *dpx_line_files(pTHX_ const struct dp_prof *prof);

#endif
