#include "dp_checkout.h"
#include "dp_char.h"
#include "dp_mem.h"
#include "dp_num.h"

#include <string.h>

enum { CHAIN = 200 };           /* largest number of files with one name that are compared */

static const char eval[] = "(eval ";

void dp_checkouts_init(struct dp_checkouts *c, struct dp_pool *texts, const char *const *bases,
                       size_t n_bases)
{
    memset(c, 0, sizeof *c);
    c->texts = texts;
    c->bases = bases;
    c->n_bases = n_bases;
    dp_map_init(&c->file_of);
    dp_map_init(&c->tails);
    dp_map_init(&c->has);
    dp_buf_init(&c->buf);
}

void dp_checkouts_release(struct dp_checkouts *c)
{
    dp_mem_free(c->files);
    dp_map_release(&c->file_of);
    dp_map_release(&c->tails);
    dp_map_release(&c->has);
    dp_buf_release(&c->buf);
}

static bool is_word(char c) { return dp_is_word(c) || (unsigned char)c >= 0x80; }

/* The length of `(eval 12` at ptr if a `)` follows, else 0. */
static size_t eval_at(const char *ptr, size_t len)
{
    const size_t n = sizeof eval - 1;
    size_t end = n;
    if (len <= n || memcmp(ptr, eval, n) != 0)
        return 0;
    while (end < len && dp_is_digit(ptr[end]))
        end++;
    return end > n && end < len && ptr[end] == ')' ? end : 0;
}

/* Is a word a digest or an address? */
static bool is_digest(const char *ptr, size_t len)
{
    size_t decimal = 0, hex = 0;
    for (; decimal < len && dp_is_digit(ptr[decimal]); decimal++)
        ;
    bool has_decimal = decimal > 0;
    for (; hex < len && dp_num_hexdigit(ptr[hex]) >= 0; hex++)
        has_decimal = has_decimal || dp_is_digit(ptr[hex]);
    return (decimal == len && len >= 12) || (hex == len && len >= 16 && has_decimal);
}

/* Is this part of a name an address in hexadecimal, which differs from run to run? */
static bool is_address(const char *ptr, size_t len)
{
    size_t n = 2;
    if (len < 8 || ptr[0] != '0' || ptr[1] != 'x')
        return false;
    while (n < len && dp_num_hexdigit(ptr[n]) >= 0)
        n++;
    return n == len;
}

void dp_checkout_plain(struct dp_buf *buf, const char *ptr, size_t len)
{
    for (size_t at = 0, end; at < len; at = end) {
        size_t number = ptr[at] == '(' ? eval_at(ptr + at, len - at) : 0;
        end = at + 1;
        if (number) {
            dp_buf_add(buf, eval, sizeof eval - 2);
            end = at + number;
        } else if (!is_word(ptr[at])) {
            while (end < len && !is_word(ptr[end]) && ptr[end] != '(')
                end++;
            dp_buf_add(buf, ptr + at, end - at);
        } else {
            while (end < len && is_word(ptr[end]))
                end++;
            if (is_address(ptr + at, end - at))
                dp_buf_adds(buf, "0x...");
            else if (is_digest(ptr + at, end - at))
                dp_buf_addc(buf, '#');
            else
                dp_buf_add(buf, ptr + at, end - at);
        }
    }
}

/* Returns the number of a text, 0 if memory is short. */
static uint32_t text_number(struct dp_checkouts *c, const char *ptr, size_t len)
{
    uint32_t n = c->buf.err ? DP_MAP_NONE : dp_pool_intern(c->texts, len ? ptr : "", len);
    c->no_memory = c->no_memory || n == DP_MAP_NONE;
    return n == DP_MAP_NONE ? 0 : n;
}

static const struct dp_name *name_of(const struct dp_checkouts *c, uint32_t n)
{
    return dp_pool_name(c->texts, n);
}

/* The length of the longest given base folder, or `./', with which a path begins, its slash
 * included; 0: none. */
static size_t base_of(const struct dp_checkouts *c, const char *ptr, size_t len)
{
    size_t most = len > 2 && ptr[0] == '.' && ptr[1] == '/' ? 2 : 0;
    for (size_t i = 0; i < c->n_bases; i++) {
        const char *base = c->bases[i];
        size_t n = strlen(base);
        while (n && base[n - 1] == '/')
            n--;
        if (n && n + 1 < len && memcmp(ptr, base, n) == 0 && ptr[n] == '/' && n + 1 > most)
            most = n + 1;
    }
    return most;
}

static size_t last_part(const struct dp_name *name)
{
    size_t n = 0;
    while (n < name->len && name->ptr[name->len - n - 1] != '/')
        n++;
    return n;
}

uint32_t dp_checkouts_add(struct dp_checkouts *c, const char *ptr, size_t len, uint32_t side)
{
    size_t base = base_of(c, ptr, len);
    c->buf.len = 0;
    dp_checkout_plain(&c->buf, ptr + base, len - base);
    uint32_t t = text_number(c, c->buf.ptr, c->buf.len);
    /* Make room first, so that the map has no entry without its file if something fails. */
    bool room = dp_mem_grow((void **)&c->files, &c->files_cap, c->n_files + 1,
                            sizeof *c->files) == 0;
    struct dp_map_slot *slot = room ? dp_map_put(&c->file_of, t) : NULL,
                       *has = slot ? dp_map_put(&c->has, (uint64_t)t << 32 | side) : NULL;
    if (!has) {
        c->no_memory = true;
        return 0;
    }
    has->value = 0;
    uint32_t number = slot->value;
    if (number == DP_MAP_NONE) {
        slot->value = number = (uint32_t)c->n_files++;
        c->files[number] = (struct dp_checkout_file){
            .text = t, .like = number, .next = DP_MAP_NONE, .side = side, .tail = name_of(c, t)->len
        };
    }
    c->files[number].in_base = c->files[number].in_base || side == 0;
    return number;
}

/* Puts a file first in the list of those with the same last part of the name. Sets c->no_memory. */
static void chain_file(struct dp_checkouts *c, uint32_t n)
{
    const struct dp_name *name = name_of(c, c->files[n].text);
    size_t tail = last_part(name);
    struct dp_map_slot *first = dp_map_put(&c->tails,
                                           text_number(c, name->ptr + name->len - tail, tail));
    if (!first) {
        c->no_memory = true;
        return;
    }
    c->files[n].next = first->value;
    first->value = n;
}

/* The number of bytes in the last folders and the name that both share. */
static size_t common_tail(const struct dp_name *a, const struct dp_name *b)
{
    size_t n = 0, whole = 0;
    while (n < a->len && n < b->len && a->ptr[a->len - n - 1] == b->ptr[b->len - n - 1]) {
        n++;
        if (a->ptr[a->len - n] == '/')
            whole = n - 1;
    }
    bool a_ends = n == a->len || a->ptr[a->len - n - 1] == '/',
         b_ends = n == b->len || b->ptr[b->len - n - 1] == '/';
    return a_ends && b_ends ? n : whole;
}

/* Pairs a file that the baseline lacks with the file of the baseline that ends in the most equal
 * folders and that the side lacks; with none if there are several such files. */
static void pair_file(struct dp_checkouts *c, uint32_t n)
{
    const struct dp_name *name = name_of(c, c->files[n].text);
    size_t part = last_part(name), most = 0;
    uint32_t t = dp_pool_lookup(c->texts, name->ptr + name->len - part, part), best = DP_MAP_NONE;
    const struct dp_map_slot *slot = t == DP_MAP_NONE ? NULL : dp_map_find(&c->tails, t);
    uint32_t at = slot ? slot->value : DP_MAP_NONE;
    for (int i = 0; i < CHAIN && at != DP_MAP_NONE; i++, at = c->files[at].next) {
        const struct dp_checkout_file *f = &c->files[at];
        size_t tail = common_tail(name, name_of(c, f->text));
        if (tail < part || tail < most
            || dp_map_find(&c->has, (uint64_t)f->text << 32 | c->files[n].side))
            continue;
        best = tail == most ? DP_MAP_NONE : at;
        most = tail;
    }
    if (best == DP_MAP_NONE)
        return;
    c->files[n].like = best;
    if (most < c->files[best].tail)
        c->files[best].tail = most;
}

void dp_checkouts_pair(struct dp_checkouts *c)
{
    for (uint32_t i = 0; i < c->n_files && !c->no_memory; i++)
        if (c->files[i].in_base)
            chain_file(c, i);
    for (uint32_t i = 0; i < c->n_files && !c->no_memory; i++)
        if (!c->files[i].in_base)
            pair_file(c, i);
}

uint32_t dp_checkouts_text(struct dp_checkouts *c, uint32_t file)
{
    const struct dp_checkout_file *f = &c->files[c->files[file].like];
    const struct dp_name *name = name_of(c, f->text);
    return f->tail == name->len ? f->text
            : text_number(c, name->ptr + name->len - f->tail, f->tail);
}
