#include "dp_line_text.h"
#include "dp_char.h"
#include "dp_err.h"
#include "dp_line_align.h"
#include "dp_mem.h"

#include <string.h>


/* Splits a text into lines, and makes each of them, without the blanks around it, a word of the
 * pool. Returns 0 or DP_E_NOMEM. */
static int make_words(struct dp_words *w, struct dp_pool *pool, const char *ptr, size_t len)
{
    const char *end = ptr + len;
    size_t cap = 0;
    while (ptr < end) {
        const char *nl = memchr(ptr, '\n', (size_t)(end - ptr)), *to = nl ? nl : end;
        const char *next = nl ? nl + 1 : end;
        while (ptr < to && dp_is_space(*ptr))
            ptr++;
        while (to > ptr && dp_is_space(to[-1]))
            to--;
        uint32_t word = dp_pool_intern(pool, to > ptr ? ptr : "", (size_t)(to - ptr));
        if (word == DP_MAP_NONE
            || dp_mem_grow((void **)&w->words, &cap, w->n + 1, sizeof *w->words) < 0)
            return DP_E_NOMEM;
        w->words[w->n++] = word;
        ptr = next;
    }
    return 0;
}

int dp_two_texts_make(struct dp_two_texts *t, const char *old, size_t old_len, const char *new,
                      size_t new_len)
{
    memset(t, 0, sizeof *t);
    dp_pool_init(&t->pool);
    int rc = make_words(&t->old, &t->pool, old, old_len);
    rc = rc < 0 ? rc : make_words(&t->new, &t->pool, new, new_len);
    if (rc == 0 && !(t->to = dp_mem_realloc(NULL, t->new.n + 1, sizeof *t->to)))
        rc = DP_E_NOMEM;
    return rc < 0 ? rc : dp_words_align(t->old.words, t->old.n, t->new.words, t->new.n,
                                        t->pool.count, t->to);
}

void dp_two_texts_release(struct dp_two_texts *t)
{
    dp_mem_free(t->old.words);
    dp_mem_free(t->new.words);
    dp_mem_free(t->to);
    dp_pool_release(&t->pool);
    memset(t, 0, sizeof *t);
}

int dp_line_texts(const char *a, size_t a_len, const char *b, size_t b_len, uint32_t **to,
                  size_t *n)
{
    struct dp_two_texts t;
    int rc = dp_two_texts_make(&t, a, a_len, b, b_len);
    *to = NULL;
    *n = 0;
    if (rc == 0) {
        *to = t.to;
        *n = t.new.n;
        t.to = NULL;
        for (size_t j = 0; j < *n; j++)
            (*to)[j]++;         /* DP_ALIGN_NONE becomes 0 */
    }
    dp_two_texts_release(&t);
    return rc;
}

void dp_line_texts_free(uint32_t *to) { dp_mem_free(to); }
