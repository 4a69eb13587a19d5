#include "dp_names.h"
#include "dp_mem.h"
#include "dp_prof.h"

/* Gives each sub its label, by flags (enum dp_label). Subs with equal labels become one name.
 * Returns 0 or DP_E_NOMEM. */
static int fill_labels(struct dp_names *names, const struct dp_subs *subs, unsigned flags)
{
    struct dp_buf label;
    int rc = 0;
    dp_buf_init(&label);
    for (size_t i = 0; i < names->subs && rc == 0; i++) {
        dp_buf_clear(&label);
        dp_subs_label(subs, (uint32_t)i, flags, &label);
        names->of_sub[i] = dp_pool_intern(&names->pool, label.ptr, label.len);
        if (label.err || names->of_sub[i] == DP_MAP_NONE)
            rc = DP_E_NOMEM;
    }
    dp_buf_release(&label);
    return rc;
}

struct dp_names *dp_names_new_of(const struct dp_subs *subs, unsigned label_flags)
{
    struct dp_names *names = dp_mem_zalloc(sizeof *names);
    if (!names)
        return NULL;
    dp_pool_init(&names->pool);
    names->subs = dp_subs_count(subs);
    names->of_sub = dp_mem_realloc(NULL, names->subs, sizeof *names->of_sub);
    if (!names->of_sub || fill_labels(names, subs, label_flags) < 0) {
        dp_names_free(names);
        return NULL;
    }
    return names;
}

struct dp_names *dp_names_new(const struct dp_prof *prof, unsigned label_flags)
{
    return dp_names_new_of(&prof->subs, label_flags);
}

void dp_names_free(struct dp_names *names)
{
    if (!names)
        return;
    dp_pool_release(&names->pool);
    dp_mem_free(names->of_sub);
    dp_mem_free(names);
}

size_t dp_names_count(const struct dp_names *names) { return names->pool.count; }

const char *dp_names_get(const struct dp_names *names, size_t n, size_t *len)
{
    const struct dp_name *name = dp_pool_name(&names->pool, (uint32_t)n);
    *len = name->len;
    return name->ptr;
}

long dp_names_find(const struct dp_names *names, const char *ptr, size_t len)
{
    uint32_t n = dp_pool_lookup(&names->pool, ptr, len);
    return n == DP_MAP_NONE ? -1 : (long)n;
}

uint32_t dp_names_of_sub(const struct dp_names *names, uint32_t sub)
{
    return names->of_sub[sub];
}
