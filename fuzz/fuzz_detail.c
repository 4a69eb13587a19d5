/* Texts without values, of any bytes: SQL, paths, URLs and commands. The first byte says what the
 * rest is: u, s, m, l: SQL of a dialect; p: a path; h: a URL; c: a command. Nothing may crash, leak
 * or go out of bounds, and no string may remain. */
#include "dp_err.h"
#include "dp_mask_text.h"
#include "dp_mem.h"
#include "dp_sql_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Words for fuzz/mutate.c. */
extern const char *const fuzz_words[];
const char *const fuzz_words[] = {
    "'", "''", "\\'", "\"", "`", "[", "]", "$a$", "$1", "/*", "*/", "/*!", "--", "#", "\r", "\n",
    "E'", "U&'", "q'[", " IN (", " VALUES (", "), (", "?", "-1", ":a", "FROM ", "SELECT ", "://",
    "@", "%41", "%2F", "123e4567-e89b-12d3-a456-426614174000", "A=", "exec ", "env ", "$(", "-n ",
    NULL
};

#define CHECK(cond) \
    do { if (!(cond)) { fprintf(stderr, "not so: %s\n", #cond); abort(); } } while (0)

static void make(struct dp_buf *to, uint8_t what, const char *ptr, size_t len)
{
    static const char dialects[] = "usml";
    const char *dialect = strchr(dialects, what);
    if (what && dialect)
        dp_sql_text(to, ptr, len, (enum dp_sql_dialect)(dialect - dialects));
    else if (what == 'p')
        dp_mask_path(to, ptr, len);
    else if (what == 'h')
        dp_mask_url(to, ptr, len);
    else if (what == 'c')
        dp_command_name(to, ptr, len);
}

static bool holds(const struct dp_buf *text, const char *bytes)
{
    for (size_t i = 0; i < text->len; i++)
        if (text->ptr[i] && strchr(bytes, text->ptr[i]))
            return true;
    return false;
}

static void check_text(uint8_t what, const char *ptr, size_t len, const struct dp_buf *text)
{
    struct dp_buf again;
    CHECK(!text->err && text->len <= 3 * len + strlen("(shell)"));
    if (what == 'u' || what == 's' || what == 'm' || what == 'l')
        CHECK(!holds(text, "'") || memchr(ptr, '"', len) || memchr(ptr, '`', len)
              || memchr(ptr, '[', len));
    if (what == 'c')
        CHECK(text->len > 0 && !holds(text, "/"));
    if (what == 'p') {
        dp_buf_init(&again);
        make(&again, what, text->ptr, text->len);
        CHECK(again.len == text->len
              && (!again.len || memcmp(again.ptr, text->ptr, again.len) == 0));
        dp_buf_release(&again);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_buf text;
    long before = dp_mem_live();
    if (!size)
        return 0;
    const char *ptr = (const char *)data + 1;
    dp_buf_init(&text);
    make(&text, *data, ptr, size - 1);
    check_text(*data, ptr, size - 1, &text);
    dp_buf_release(&text);
    dp_mem_fail_after(data[size / 2] % 4);
    make(&text, *data, ptr, size - 1);
    dp_mem_fail_after(-1);
    CHECK(!text.err || text.err == DP_E_NOMEM);
    dp_buf_release(&text);
    CHECK(dp_mem_live() == before);
    return 0;
}
