/* Files of other tools that cannot be read. Their first bytes tell which tool has written them. */
#ifndef DP_UNREADABLE_H
#define DP_UNREADABLE_H

#include "dp_base.h"

/* Says whose file begins with these bytes, and what to do with the file, as a part of a sentence;
 * NULL if no known tool makes such files. */
const char *dp_unreadable(const char *ptr, size_t len);

/* Is that text in these bytes? */
bool dp_unreadable_has(const char *ptr, size_t len, const char *what);

#endif
