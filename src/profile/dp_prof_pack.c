/* Packs contexts into bytes. A comparison reads all its runs before it uses the first, and unpacks
 * the contexts of one run at a time. Most numbers are small, or differ little from others of their
 * context, so a packed context takes a fifth of its node. */
#include "dp_prof_pack.h"
#include "dp_buf.h"
#include "dp_err.h"
#include "dp_mem.h"

#include <string.h>

static void put_number(struct dp_buf *buf, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        dp_buf_addc(buf, (char)(v | 0x80));
    dp_buf_addc(buf, (char)v);
}

/* Reads a number of seven bits a byte, the lowest first, and moves *at behind it. */
static uint64_t get_number(const char **at)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = (unsigned char)*(*at)++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return v;
    }
}

/* Writes the difference of two 32-bit numbers, modulo 2^32. */
static void put_difference(struct dp_buf *buf, uint32_t v, uint32_t from)
{
    put_number(buf, (uint32_t)(v - from));
}

/* Reads what put_difference wrote. from: the same number as there. */
static uint32_t get_difference(const char **at, uint32_t from)
{
    return (uint32_t)get_number(at) + from;
}

/* Packs context n. Its numbers are written as differences from numbers that are mostly close, so
 * that they take few bytes. */
static void put_node(struct dp_buf *buf, const struct dp_node *node, uint32_t n)
{
    put_difference(buf, n, node->parent);
    put_difference(buf, node->sub, DP_PROF_NO_SUB);
    put_difference(buf, node->callee, node->sub);
    put_number(buf, node->site);
    put_number(buf, node->kid ? node->kid - n : 0);
    put_number(buf, node->sibling);
    put_number(buf, node->calls);
    for (int m = 0; m < DP_METRICS; m++)
        put_number(buf, node->self[m]);
}

/* Unpacks context n: reads the numbers in the order in which put_node writes them. The hints, which
 * only adding needs, become 0. */
static void get_node(const char **at, struct dp_node *node, uint32_t n)
{
    memset(node, 0, sizeof *node);
    node->parent = n - (uint32_t)get_number(at);
    node->sub = get_difference(at, DP_PROF_NO_SUB);
    node->callee = get_difference(at, node->sub);
    node->site = (uint32_t)get_number(at);
    uint32_t kid = (uint32_t)get_number(at);
    node->kid = kid ? n + kid : 0;
    node->sibling = (uint32_t)get_number(at);
    node->calls = get_number(at);
    for (int m = 0; m < DP_METRICS; m++)
        node->self[m] = get_number(at);
}

/* The number of an array's elements that belong to contexts. */
static size_t used_elements(size_t cap, size_t n) { return cap < n ? cap : n; }

/* Frees the contexts of a profile. */
static void release_contexts(struct dp_prof *prof)
{
    dp_mem_free(prof->nodes);
    dp_mem_free(prof->extra);
    dp_mem_free(prof->counts);
    prof->nodes = NULL;
    prof->extra = NULL;
    prof->counts = NULL;
    prof->cap = prof->extra_cap = prof->counts_cap = 0;
}

int dp_prof_pack(struct dp_prof *prof)
{
    struct dp_packed to = { .n_extra = used_elements(prof->extra_cap, prof->count),
                            .n_counts = used_elements(prof->counts_cap,
                                                      prof->count * prof->n_counters) };
    struct dp_buf buf;
    if (prof->packed || prof->chart || prof->n_lines)
        return 0;
    dp_buf_init(&buf);
    for (uint32_t n = 0; n < prof->count; n++)
        put_node(&buf, &prof->nodes[n], n);
    for (size_t i = 0; i < to.n_extra; i++) {
        put_number(&buf, prof->extra[i].longest);
        put_number(&buf, prof->extra[i].shortest);
        put_number(&buf, prof->extra[i].folded);
    }
    for (size_t i = 0; i < to.n_counts; i++)
        put_number(&buf, prof->counts[i]);
    prof->packed = buf.err ? NULL : dp_mem_alloc(sizeof to + buf.len);
    if (prof->packed) {
        char *bytes = (char *)(prof->packed + 1);
        memcpy(bytes, buf.ptr, buf.len);
        *prof->packed = to;
        prof->packed->at = bytes;
        release_contexts(prof);
        dp_map_release(&prof->kids);
        prof->mapped = 0;
        dp_subs_pack(&prof->subs);
    }
    dp_buf_release(&buf);
    return prof->packed ? 0 : DP_E_NOMEM;
}

int dp_prof_unpacked(struct dp_prof *copy, const struct dp_prof *prof)
{
    const struct dp_packed *from = prof->packed;
    const char *at = from->at;
    *copy = *prof;
    copy->nodes = dp_mem_realloc(NULL, prof->count, sizeof *copy->nodes);
    copy->extra = dp_mem_realloc(NULL, from->n_extra, sizeof *copy->extra);
    copy->counts = dp_mem_realloc(NULL, from->n_counts, sizeof *copy->counts);
    copy->packed = NULL;
    if (!copy->nodes || !copy->extra || !copy->counts) {
        release_contexts(copy);
        return DP_E_NOMEM;
    }
    copy->cap = prof->count;
    copy->extra_cap = from->n_extra;
    copy->counts_cap = from->n_counts;
    for (uint32_t n = 0; n < prof->count; n++)
        get_node(&at, &copy->nodes[n], n);
    for (size_t i = 0; i < from->n_extra; i++) {
        copy->extra[i].longest = get_number(&at);
        copy->extra[i].shortest = get_number(&at);
        copy->extra[i].folded = get_number(&at);
    }
    for (size_t i = 0; i < from->n_counts; i++)
        copy->counts[i] = get_number(&at);
    return 0;
}

void dp_prof_release_unpacked(struct dp_prof *copy) { release_contexts(copy); }

int dp_prof_unpack(struct dp_prof *prof)
{
    struct dp_prof copy;
    if (!prof->packed)
        return 0;
    int rc = dp_prof_unpacked(&copy, prof);
    if (rc == 0 && (rc = dp_subs_unpack(&prof->subs)) < 0)
        release_contexts(&copy);
    if (rc < 0)
        return rc;
    copy.subs = prof->subs;
    dp_mem_free(prof->packed);
    *prof = copy;
    return 0;
}
