#include "dpx_detail.h"
#include "dp_mem.h"
#include "dp_pmu_near.h"

#include <string.h>

static const struct dpx_detail_sub subs[] = {
#define ROW(kind, package, name, of) { DPX_DETAIL_##kind, package, name, DPX_OF_##of },
    DPX_DETAIL_SUBS(ROW)
#undef ROW
};

static const struct { char word[10]; bool bare; } kinds[] = {
#define KIND(id, word, bare) { word, bare },
    DPX_DETAIL_KINDS(KIND)
#undef KIND
};

const char *dpx_detail_word(enum dpx_detail_kind kind) { return kinds[kind].word; }

/* The kinds that a word names, as bits; 0: none. */
static unsigned kinds_of(const char *word, size_t len)
{
    unsigned bits = 0;
    bool all = len == 3 && memcmp(word, "all", 3) == 0;
    for (unsigned k = 0; k < DPX_DETAIL_COUNT; k++)
        if (all || (strlen(kinds[k].word) == len && memcmp(kinds[k].word, word, len) == 0))
            bits |= 1u << k;
    return bits;
}

int dpx_detail_choose(const char *words, struct dp_err *err)
{
    dpx_run.detail = 0;
    while (words && *words) {
        size_t len = strcspn(words, "+");
        unsigned bits = kinds_of(words, len);
        if (!bits) {
            struct dp_pmu_near near;
            char meant[100];
            dp_pmu_near_init(&near, words, len);
            for (unsigned k = 0; k < DPX_DETAIL_COUNT; k++)
                dp_pmu_near_add(&near, kinds[k].word);
            dp_pmu_near_add(&near, "all");
            dp_pmu_near_write(&near, "; ", meant, sizeof meant);
            return dp_err_set(err, DP_E_ARG, "detail=%.*s: there is no such kind%s", (int)len,
                              words, *meant ? meant : "; the kinds are " DPX_DETAIL_BARE
                                                      "+file+regex, and all");
        }
        dpx_run.detail |= bits;
        words += len + (words[len] == '+');
    }
    return 0;
}

static bool is_hek(const HEK *hek, const char *str)
{
    return (size_t)HEK_LEN(hek) == strlen(str) && memcmp(HEK_KEY(hek), str, strlen(str)) == 0;
}

/* The row of a name, or NULL. */
static const struct dpx_detail_sub *row_of(const HEK *package, const HEK *name)
{
    for (size_t i = 0; package && name && i < DP_ARRAY_LEN(subs); i++)
        if ((dpx_run.detail & 1u << subs[i].kind) && is_hek(package, subs[i].package)
            && is_hek(name, subs[i].name))
            return &subs[i];
    return NULL;
}

/* The place of code in the list, or the place behind the last one. */
static size_t place_of(const struct dpx_spans *spans, UV code)
{
    size_t i = spans->last < spans->detailed_n && spans->detailed[spans->last].code == code
               ? spans->last : 0;
    while (i < spans->detailed_n && spans->detailed[i].code != code)
        i++;
    return i;
}

bool dpx_detail_has(const HEK *package, const HEK *name) { return row_of(package, name) != NULL; }

bool dpx_detail_note(struct dpx_ctx *ctx, const HEK *package, const HEK *name, UV code, U32 id)
{
    struct dpx_spans *spans = &ctx->spans;
    const struct dpx_detail_sub *row = dpx_run.detail ? row_of(package, name) : NULL;
    if (!row)
        return false;
    size_t i = place_of(spans, code);
    if (dp_mem_grow((void **)&spans->detailed, &spans->detailed_cap, i + 1,
                    sizeof *spans->detailed) < 0)
        return false;
    if (i == spans->detailed_n)
        spans->detailed_n++;
    spans->detailed[i] = (struct dpx_detailed){ code, id, (U32)(row - subs) };
    return true;
}

const struct dpx_detail_sub *dpx_detail_find(struct dpx_ctx *ctx, UV code, U32 *id)
{
    struct dpx_spans *spans = &ctx->spans;
    size_t i = place_of(spans, code);
    if (i == spans->detailed_n)
        return NULL;
    spans->last = i;
    *id = spans->detailed[i].id;
    return &subs[spans->detailed[i].row];
}
