/* Files of other tools that cannot be read. Their first bytes tell which tool has written them. */
#ifndef DP_FOREIGN_H
#define DP_FOREIGN_H

#include "dp_base.h"

/* Says whose file begins with these bytes, and what to do with the file, as a part of a sentence;
 * NULL if no known tool makes such files. */
const char *dp_foreign(const char *ptr, size_t len);

/* Is that text in these bytes? */
bool dp_foreign_has(const char *ptr, size_t len, const char *what);

#endif
