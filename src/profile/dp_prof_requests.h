/* The requests of a server in a profile. Those of one name are summed up over all files. */
#ifndef DP_PROF_REQUESTS_H
#define DP_PROF_REQUESTS_H

#include "dp_prof.h"
#include "dp_reader.h"

/* Callbacks of the consumer; ctx is the profile. */
int dp_prof_on_requests(void *ctx, struct dp_text name, const struct dp_requests *of);
int dp_prof_on_server(void *ctx, struct dp_text name);

/* Adds the requests of another profile, all or those whose name is `phase`, and the server's subs.
 * Returns 0 or DP_E_NOMEM. */
int dp_prof_take_requests(struct dp_prof *prof, const struct dp_prof *from, const char *phase);

void dp_prof_release_requests(struct dp_prof *prof);

#endif
