/* Which code is a library's: what a program uses, and not what it is. */
#ifndef DP_LIBRARY_H
#define DP_LIBRARY_H

#include "dp_base.h"
#include "dp_subs.h"

/* Is this a file of perl's own library? Its folder has perl's version and is neither site's nor
 * vendor's. */
bool dp_library_is_core(const char *ptr, size_t len);

/* Is the sub between a program and a span: an XS sub, a builtin, another span, a sub of perl's own
 * library, or one of the libraries that databases, servers, templates and commands are used by? */
bool dp_library_has(const struct dp_subs *subs, uint32_t sub);

#endif
