#include "dp_target.h"
#include "dp_err.h"
#include "dp_mem.h"

enum { PAGE = 4096, PAGES = 128 };      /* any page of memory is a multiple of 4 KB */

struct dp_target_page {
    dp_addr at;
    unsigned look;              /* the look that read it; 0: none */
    char bytes[PAGE];
};

int dp_target_init(struct dp_target *t, dp_target_read_fn *read, void *from)
{
    *t = (struct dp_target){ .read = read, .from = from, .look = 1 };
    t->pages = dp_mem_zalloc(PAGES * sizeof *t->pages);
    return t->pages ? 0 : DP_E_NOMEM;
}

void dp_target_release(struct dp_target *t)
{
    dp_mem_free(t->pages);
    t->pages = NULL;
}

void dp_target_look(struct dp_target *t)
{
    if (++t->look == 0)
        t->look = 1;
}

bool dp_target_read(struct dp_target *t, const struct dp_target_part *parts, size_t n)
{
    t->readings++;
    t->parts += n;
    return n <= DP_TARGET_PARTS && t->read(t->from, parts, n);
}

/* The page at an address, read at most once in a look; NULL: it cannot be read. */
static const struct dp_target_page *page_at(struct dp_target *t, dp_addr at)
{
    struct dp_target_page *page = &t->pages[at / PAGE % PAGES];
    struct dp_target_part part = { at, page->bytes, PAGE };
    if (page->at == at && page->look == t->look)
        return page;
    page->look = 0;
    if (at < PAGE || !dp_target_read(t, &part, 1))
        return NULL;
    page->at = at;
    page->look = t->look;
    return page;
}

bool dp_target_get(struct dp_target *t, dp_addr at, void *to, size_t len)
{
    char *dest = to;
    while (len) {
        size_t in = (size_t)(at % PAGE), n = PAGE - in < len ? PAGE - in : len;
        const struct dp_target_page *page = page_at(t, at - in);
        if (!page)
            return false;
        memcpy(dest, page->bytes + in, n);
        dest += n;
        at += n;
        len -= n;
    }
    return true;
}

dp_addr dp_target_pointer(struct dp_target *t, dp_addr at)
{
    uintptr_t v;
    return dp_target_get(t, at, &v, sizeof v) ? v : 0;
}

uint32_t dp_target_u32(struct dp_target *t, dp_addr at)
{
    uint32_t v;
    return dp_target_get(t, at, &v, sizeof v) ? v : 0;
}

bool dp_target_string(struct dp_target *t, dp_addr at, size_t most, struct dp_buf *to)
{
    size_t before = to->len;
    for (size_t i = 0; i < most; i++) {
        char c;
        if (!dp_target_get(t, at + i, &c, 1))
            break;
        if (!c)
            return true;
        dp_buf_addc(to, c);
    }
    to->len = before;
    return false;
}
