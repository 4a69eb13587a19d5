/* What the last lines of profiles say: the requests of a server, those of one name summed up over
 * all files; the server's own subs; and who holds values. */
#ifndef DP_PROF_REQUESTS_H
#define DP_PROF_REQUESTS_H

#include "dp_prof.h"
#include "dp_reader.h"

/* Callbacks of the consumer; ctx is the profile. */
int dp_prof_on_requests(void *ctx, struct dp_text name, const struct dp_requests *of);
int dp_prof_on_server(void *ctx, struct dp_text name);

int dp_prof_on_holder(void *ctx, struct dp_text line);

/* Adds the requests of another profile, all or those whose name is `phase`, and the other texts.
 * Returns 0 or DP_E_NOMEM. */
int dp_prof_take_requests(struct dp_prof *prof, const struct dp_prof *from, const char *phase);

void dp_prof_release_requests(struct dp_prof *prof);

#endif
