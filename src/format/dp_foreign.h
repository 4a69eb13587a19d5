/* Files that other tools make and that are no profiles of ours: told by how they begin. */
#ifndef DP_FOREIGN_H
#define DP_FOREIGN_H

#include "dp_base.h"

/* Whose file begins with these bytes, and what to do with it: a sentence part; NULL where
 * it is nobody's. */
const char *dp_foreign(const char *ptr, size_t len);

#endif
