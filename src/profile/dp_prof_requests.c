#include "dp_prof_requests.h"
#include "dp_err.h"
#include "dp_fmt.h"
#include "dp_mem.h"
#include "dprof/profile.h"

#include <string.h>

enum { NAMES_MAX = 1 << 16 };           /* names beyond these are left out */

/* Adds the counts of requests with one name to the profile's. Returns 0 or DP_E_NOMEM. */
static int add_requests(struct dp_prof *prof, const char *name, size_t len,
                        const struct dp_requests *of)
{
    size_t known = prof->request_names.count;
    if (known >= NAMES_MAX
        && dp_pool_lookup(&prof->request_names, name, len) == DP_MAP_NONE)
        return 0;
    if (dp_mem_grow_cleared((void **)&prof->requests, &prof->requests_cap, known + 1,
                            sizeof *prof->requests) < 0)
        return DP_E_NOMEM;
    uint32_t n = dp_pool_intern(&prof->request_names, name, len);
    if (n == DP_MAP_NONE)
        return DP_E_NOMEM;
    dp_requests_add(&prof->requests[n], of);
    return 0;
}

/* Adds a text to one of the lists. Returns 0 or DP_E_NOMEM. */
static int add_text(struct dp_pool *to, const char *text, size_t len)
{
    if (to->count >= NAMES_MAX)
        return 0;
    return dp_pool_intern(to, text, len) == DP_MAP_NONE ? DP_E_NOMEM : 0;
}

/* Adds the texts of another profile. Returns 0 or DP_E_NOMEM. */
static int add_texts(struct dp_pool *to, const struct dp_pool *from)
{
    int rc = 0;
    for (uint32_t i = 0; i < from->count && rc == 0; i++) {
        const struct dp_name *name = dp_pool_name(from, i);
        rc = add_text(to, name->ptr, name->len);
    }
    return rc;
}

int dp_prof_on_requests(void *ctx, struct dp_text name, const struct dp_requests *of)
{
    struct dp_buf plain;
    dp_buf_init(&plain);
    dp_fmt_unfield(&plain, name.ptr, name.len);
    int rc = plain.err ? plain.err : add_requests(ctx, plain.len ? plain.ptr : "", plain.len, of);
    dp_buf_release(&plain);
    return rc;
}

int dp_prof_on_server(void *ctx, struct dp_text name)
{
    struct dp_prof *prof = ctx;
    struct dp_buf plain;
    dp_buf_init(&plain);
    dp_fmt_unfield(&plain, name.ptr, name.len);
    int rc = plain.err ? plain.err : add_text(&prof->server, plain.len ? plain.ptr : "", plain.len);
    dp_buf_release(&plain);
    return rc;
}

int dp_prof_on_holder(void *ctx, struct dp_text line)
{
    struct dp_prof *prof = ctx;
    return add_text(&prof->held, line.ptr, line.len);
}

int dp_prof_take_requests(struct dp_prof *prof, const struct dp_prof *from, const char *phase)
{
    int rc = 0;
    for (uint32_t i = 0; i < from->request_names.count && rc == 0; i++) {
        const struct dp_name *name = dp_pool_name(&from->request_names, i);
        if (!phase || (strlen(phase) == name->len && memcmp(phase, name->ptr, name->len) == 0))
            rc = add_requests(prof, name->ptr, name->len, &from->requests[i]);
    }
    if (rc == 0)
        rc = add_texts(&prof->server, &from->server);
    return rc < 0 ? rc : add_texts(&prof->held, &from->held);
}

const char *dp_prof_server(const struct dp_prof *prof, size_t k, size_t *len)
{
    const struct dp_name *name = k < prof->server.count ? dp_pool_name(&prof->server, (uint32_t)k)
                                                        : NULL;
    *len = name ? name->len : 0;
    return name ? name->ptr : NULL;
}

const char *dp_prof_holder(const struct dp_prof *prof, size_t k, size_t *len)
{
    const struct dp_name *line = k < prof->held.count ? dp_pool_name(&prof->held, (uint32_t)k)
                                                      : NULL;
    *len = line ? line->len : 0;
    return line ? line->ptr : NULL;
}

int dp_prof_requests(const struct dp_prof *prof, size_t k, struct dp_requests_info *info)
{
    if (k >= prof->request_names.count)
        return 0;
    const struct dp_name *name = dp_pool_name(&prof->request_names, (uint32_t)k);
    const struct dp_requests *of = &prof->requests[k];
    *info = (struct dp_requests_info){
        .name = name->ptr, .name_len = name->len, .seen = of->seen, .kept = of->kept,
        .sum = of->ns, .longest = of->longest,
        .p50 = dp_requests_quantile(of, 0.5), .p95 = dp_requests_quantile(of, 0.95),
    };
    return 1;
}

void dp_prof_release_requests(struct dp_prof *prof)
{
    dp_pool_release(&prof->request_names);
    dp_pool_release(&prof->server);
    dp_pool_release(&prof->held);
    dp_mem_free(prof->requests);
}
