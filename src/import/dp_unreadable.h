/* Files of other tools that cannot be read: recognizes by the first bytes which tool has written
 * them. */
#ifndef DP_UNREADABLE_H
#define DP_UNREADABLE_H

#include "dp_base.h"

/* The tool whose files begin with these bytes, and what to do with the file, as a part of a
 * sentence; NULL if no known tool makes such files. */
const char *dp_unreadable(const char *ptr, size_t len);

/* Do these bytes contain the text? */
bool dp_unreadable_has(const char *ptr, size_t len, const char *what);

#endif
