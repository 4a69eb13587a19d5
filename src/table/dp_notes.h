/* Notes below a table, which explain names that are not in the program's source. */
#ifndef DP_NOTES_H
#define DP_NOTES_H

#include "dp_base.h"
#include "dp_buf.h"

struct dp_notes { bool program, begin; };   /* names of these kinds are in the table */

/* Looks at a name that the table shows. */
void dp_notes_look(struct dp_notes *notes, const char *ptr, size_t len);
/* Appends a line for each kind of name that was seen. */
void dp_notes_add(struct dp_buf *to, const struct dp_notes *notes);

#endif
