#include "dp_region.h"
#include "dp_err.h"
#include "dp_mem.h"

void dp_regions_init(struct dp_regions *r)
{
    *r = (struct dp_regions){ NULL };
    dp_buf_init(&r->names);
    dp_buf_addc(&r->names, '\0');
}

void dp_regions_release(struct dp_regions *r)
{
    dp_mem_free(r->at);
    dp_buf_release(&r->names);
    r->at = NULL;
    r->count = r->cap = 0;
}

/* Neighbouring mappings are mostly parts of one file, and share its name. */
int dp_regions_add(struct dp_regions *r, const struct dp_region *region, const char *path,
                   size_t len)
{
    if (dp_mem_grow((void **)&r->at, &r->cap, r->count + 1, sizeof *r->at) < 0 || r->names.err)
        return DP_E_NOMEM;
    struct dp_region *to = &r->at[r->count], *last = r->count ? to - 1 : NULL;
    *to = *region;
    to->path = 0;
    const char *before = last ? dp_regions_path(r, last) : "";
    if (len && strlen(before) == len && memcmp(before, path, len) == 0) {
        to->path = last->path;
    } else if (len) {
        to->path = r->names.len;
        dp_buf_add(&r->names, path, len);
        dp_buf_addc(&r->names, '\0');
        if (r->names.err)
            return DP_E_NOMEM;
    }
    r->count++;
    return 0;
}

/* Reads digits of base 16, up to `end`; *p moves behind them. */
static uint64_t parse_hex(const char **p, const char *end)
{
    uint64_t v = 0;
    for (; *p < end; ++*p) {
        char c = **p;
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            break;
        v = v << 4 | (unsigned)digit;
    }
    return v;
}

/* Reads START-END PERMS OFFSET DEVICE INODE [PATH], proc_pid_maps(5). Returns 0 or DP_E_NOMEM;
 * ignores a line that is none. */
static int parse_line(struct dp_regions *r, const char *p, const char *end)
{
    enum { PERMS = 6 };         /* bytes, with the blanks around */
    struct dp_region region = { 0 };
    region.start = parse_hex(&p, end);
    if (p == end || *p++ != '-')
        return 0;
    region.end = parse_hex(&p, end);
    if (end - p < PERMS || *p != ' ')
        return 0;
    region.is_writable = p[2] == 'w';
    p += PERMS;
    region.offset = parse_hex(&p, end);
    for (int field = 0; field < 2; field++) {           /* device and inode */
        while (p < end && *p == ' ')
            p++;
        while (p < end && *p != ' ')
            p++;
    }
    while (p < end && *p == ' ')
        p++;
    bool has_file = p < end && *p == '/';
    return dp_regions_add(r, &region, p, has_file ? (size_t)(end - p) : 0);
}

int dp_regions_parse(struct dp_regions *r, const char *text, size_t len)
{
    const char *end = text + len;
    int rc = 0;
    while (rc == 0 && text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (!stop)
            break;              /* the text was cut */
        rc = parse_line(r, text, stop);
        text = stop + 1;
    }
    return rc;
}
