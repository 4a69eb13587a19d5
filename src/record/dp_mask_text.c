#include "dp_mask_text.h"
#include "dp_char.h"

#include <string.h>

enum { MIXED = 16, HEX = 8, UUID = 36 };

static bool is_hex(char c)
{
    return dp_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static unsigned hex_value(char c)
{
    return (unsigned)(dp_is_digit(c) ? c - '0' : dp_is_lower(c) ? c - 'a' + 10 : c - 'A' + 10);
}

static char lower(char c) { return dp_is_upper(c) ? (char)(c - 'A' + 'a') : c; }

/* ---- paths ---- */

/* The length in bytes of the token's character at ptr, and the byte that it means; 0: none. */
static size_t token_char(const char *ptr, size_t len, char *c)
{
    *c = *ptr;
    if (*ptr != '%')
        return dp_is_letter(*c) || dp_is_digit(*c) || (unsigned char)*c >= 0x80;
    if (len < 3 || !is_hex(ptr[1]) || !is_hex(ptr[2]))
        return 0;
    *c = (char)(hex_value(ptr[1]) << 4 | hex_value(ptr[2]));
    return 3;
}

/* What a run of characters consists of. */
struct run {
    size_t len, digits, hex;
};

static void count_char(struct run *run, char c)
{
    run->len++;
    run->digits += dp_is_digit(c);
    run->hex += is_hex(c);
}

/* Is a part of a token a value: a number, or HEX hexadecimal digits or more, some of them
 * decimal? */
static bool is_part_masked(const struct run *part)
{
    return part->digits && (part->digits == part->len
                            || (part->hex == part->len && part->len >= HEX));
}

/* The length of the token at ptr; *masked: whether it is a value. */
static size_t token_length(const char *ptr, size_t len, bool *masked)
{
    struct run all = { 0 }, part = { 0 };
    size_t at = 0, n, letters = 0;
    char c;
    *masked = false;
    while (at < len && (n = token_char(ptr + at, len - at, &c)) != 0) {
        bool letter = dp_is_letter(c) || (unsigned char)c >= 0x80;
        count_char(&all, c);
        letters += letter;
        if (letter || dp_is_digit(c)) {
            count_char(&part, c);
        } else {
            *masked = *masked || is_part_masked(&part);
            part = (struct run){ 0 };
        }
        at += n;
    }
    *masked = *masked || is_part_masked(&part) || (all.len >= MIXED && all.digits && letters);
    return at;
}

static bool is_uuid(const char *ptr, size_t len)
{
    char c;
    if (len < UUID || (len > UUID && token_char(ptr + UUID, len - UUID, &c)))
        return false;
    for (size_t i = 0; i < UUID; i++)
        if (i == 8 || i == 13 || i == 18 || i == 23 ? ptr[i] != '-' : !is_hex(ptr[i]))
            return false;
    return true;
}

void dp_mask_path(struct dp_buf *to, const char *path, size_t len)
{
    for (size_t at = 0, n; at < len; at += n) {
        bool masked = is_uuid(path + at, len - at);
        n = masked ? UUID : token_length(path + at, len - at, &masked);
        n = n ? n : 1;
        if (masked)
            dp_buf_addc(to, '*');
        else
            dp_buf_add(to, path + at, n);
    }
}

/* ---- URLs ---- */

/* The first place in ptr, from at up to end, of one of the bytes; end if there is none. */
static size_t find_byte(const char *ptr, size_t at, size_t end, const char *bytes)
{
    while (at < end && !(ptr[at] && strchr(bytes, ptr[at])))
        at++;
    return at;
}

/* The place behind the last @; 0 if there is none. */
static size_t behind_user(const char *ptr, size_t len)
{
    while (len && ptr[len - 1] != '@')
        len--;
    return len;
}

/* The length of a scheme with its ://; 0 if there is none. */
static size_t scheme_length(const char *url, size_t len)
{
    size_t at = 0;
    while (at < len && (dp_is_letter(url[at])
                        || (at && (dp_is_digit(url[at]) || strchr("+-.", url[at])) && url[at])))
        at++;
    return at && len - at >= 3 && memcmp(url + at, "://", 3) == 0 ? at + 3 : 0;
}

static bool is_host(const char *ptr, size_t len)
{
    bool address = len >= 2 && ptr[0] == '[' && ptr[len - 1] == ']';
    for (size_t i = address; i < len - address; i++) {
        char c = ptr[i];
        bool name = dp_is_word(c) || c == '-' || c == '.' || c == '~' || c == '%'
                    || (unsigned char)c >= 0x80;
        if (address ? !is_hex(c) && !(c && strchr(":.%", c)) : !name)
            return false;
    }
    return true;
}

/* Appends a host, and a port if there is one. False: it is no host, but perhaps a password with a
 * byte that has to be escaped; a * is appended for it. */
static bool add_host(struct dp_buf *to, const char *ptr, size_t len)
{
    size_t host = len;
    while (host && dp_is_digit(ptr[host - 1]))
        host--;
    bool port = host && ptr[host - 1] == ':';
    size_t name = port ? host - 1 : len;
    if (!is_host(ptr, name)) {
        dp_buf_addc(to, '*');
        return false;
    }
    for (size_t i = 0; i < name; i++)
        dp_buf_addc(to, lower(ptr[i]));
    if (port && host < len)
        dp_buf_add(to, ptr + name, len - name);
    return true;
}

void dp_mask_url(struct dp_buf *to, const char *url, size_t len)
{
    for (; len && (dp_is_space(*url) || *url == '\n'); len--)
        url++;
    size_t from = scheme_length(url, len), end = find_byte(url, from, len, "?#");
    if (from) {
        size_t path = find_byte(url, from, end, "/\\");
        size_t host = from + behind_user(url + from, path - from);
        for (size_t i = 0; i < from; i++)
            dp_buf_addc(to, lower(url[i]));
        from = add_host(to, url + host, path - host) ? path : end;
    } else {
        size_t user = behind_user(url, end);
        if (find_byte(url, 0, user, ":") < user)
            from = user;
    }
    dp_mask_path(to, url + from, end - from);
}
